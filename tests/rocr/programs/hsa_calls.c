/* Calls of the host that need no GPU. `again`: shut down and begin once more; `exit`: end without
 * shutting down; `fork`: a child that only exits. */
#include <sys/wait.h>
#include <unistd.h>

#include "hsa.h"

static void copy(const world *w)
{
    hsa_signal_t done = new_signal(1);
    char *a, *b;
    MUST(hsa_amd_memory_pool_allocate(w->pool, 4096, 0, (void **)&a));
    MUST(hsa_amd_memory_pool_allocate(w->pool, 4096, 0, (void **)&b));
    memset(a, 7, 4096);
    MUST(hsa_amd_memory_async_copy(b, w->cpu, a, w->cpu, 4096, 0, NULL, done));
    wait_for(done);
    must(!memcmp(a, b, 4096), "what was copied");
    MUST(hsa_amd_memory_pool_free(a));
    MUST(hsa_amd_memory_pool_free(b));
    MUST(hsa_signal_destroy(done));
}

static hsa_status_t meet_region(hsa_region_t region, void *data)
{
    bool allowed = false;
    hsa_region_get_info(region, HSA_REGION_INFO_RUNTIME_ALLOC_ALLOWED, &allowed);
    if (allowed)
        *(hsa_region_t *)data = region;
    return HSA_STATUS_SUCCESS;
}

/* As programs did before there were pools. One block stays. */
static void use_region(const world *w)
{
    hsa_region_t region = {0};
    void *a, *b;
    MUST(hsa_agent_iterate_regions(w->cpu, meet_region, &region));
    MUST(hsa_memory_allocate(region, 8192, &a));
    MUST(hsa_memory_allocate(region, 12288, &b));
    MUST(hsa_memory_free(a));
    MUST(hsa_memory_free(NULL));
}

static void fail(void)
{
    must(hsa_signal_destroy((hsa_signal_t){0}) != HSA_STATUS_SUCCESS, "an error");
}

static void fork_child(void)
{
    int status;
    pid_t child = fork();
    if (child == 0)
        exit(7);
    waitpid(child, &status, 0);
    must(WIFEXITED(status) && WEXITSTATUS(status) == 7, "exit code of the child");
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    for (int i = 0; i < (strcmp(what, "again") ? 1 : 2); i++) {
        world w = begin();
        copy(&w);
        use_region(&w);
        fail();
        if (!strcmp(what, "fork"))
            fork_child();
        if (!strcmp(what, "exit"))
            exit(3);
        MUST(hsa_shut_down());
    }
    return 0;
}
