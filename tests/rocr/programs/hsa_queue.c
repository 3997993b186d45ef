/* Packets on a queue of the GPU, COUNT of each kind (default 10): kernels with and without a
 * completion signal, barriers that wait for them. `exit`: without destroying or shutting down;
 * `crash`: killed by a signal in the end; `threads`: four, each with a queue of its own; `pause`:
 * then COUNT kernels that end in a pause of ROCTx, and one that begins in it and ends after it;
 * `fork`: then a kernel that runs while a child exits; `undone`: then COUNT that nobody waits for;
 * `copies`: then two to the GPU, of which the program wants to know the times of the second. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hsa.h"

static void submit(hsa_queue_t *q, const void *packet, unsigned type)
{
    uint64_t index = hsa_queue_add_write_index_relaxed(q, 1);
    while (index - hsa_queue_load_read_index_scacquire(q) >= q->size)
        ;
    char *slot = (char *)q->base_address + index % q->size * 64;
    uint16_t header = (uint16_t)(type << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER |
                                 2 << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                                 2 << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
    memcpy(slot + 4, (const char *)packet + 4, 60);
    /* With the header comes what is beside it in the first word. */
    uint32_t word = header | (uint32_t)((const uint16_t *)packet)[1] << 16;
    __atomic_store_n((uint32_t *)slot, word, __ATOMIC_RELEASE);
    hsa_signal_store_screlease(q->doorbell_signal, (hsa_signal_value_t)index);
}

static void kernel(hsa_queue_t *q, hsa_signal_t done)
{
    hsa_kernel_dispatch_packet_t p = {.setup = 1,
                                      .workgroup_size_x = 64,
                                      .workgroup_size_y = 1,
                                      .workgroup_size_z = 1,
                                      .grid_size_x = 4096,
                                      .grid_size_y = 1,
                                      .grid_size_z = 1,
                                      .private_segment_size = 16,
                                      .group_segment_size = 32,
                                      .kernel_object = 0x1234,
                                      .completion_signal = done};
    submit(q, &p, HSA_PACKET_TYPE_KERNEL_DISPATCH);
}

static void barrier(hsa_queue_t *q, hsa_signal_t after, hsa_signal_t done)
{
    hsa_barrier_and_packet_t p = {.dep_signal = {after}, .completion_signal = done};
    submit(q, &p, HSA_PACKET_TYPE_BARRIER_AND);
}

/* Its completion is seen by the host, and its times by who asks for those of its signal. */
static void round_trip(const world *w, hsa_queue_t *q)
{
    hsa_signal_t first = new_signal(1), second = new_signal(1);
    hsa_amd_profiling_dispatch_time_t t;
    kernel(q, (hsa_signal_t){0});
    kernel(q, first);
    barrier(q, first, second);
    wait_for(second);
    must(hsa_signal_load_relaxed(first) == 0, "the kernel before the barrier");
    MUST(hsa_amd_profiling_get_dispatch_time(w->gpu, first, &t));
    must(t.start && t.end > t.start, "times of the kernel");
    MUST(hsa_signal_destroy(first));
    MUST(hsa_signal_destroy(second));
}

typedef struct job {
    const world *w;
    int count;
} job;

static hsa_queue_t *work(const job *j)
{
    hsa_queue_t *q;
    MUST(hsa_queue_create(j->w->gpu, 64, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, 0, 0, &q));
    MUST(hsa_amd_profiling_set_profiler_enabled(q, 1));
    for (int i = 0; i < j->count; i++)
        round_trip(j->w, q);
    return q;
}

static void *work_of_thread(void *arg)
{
    MUST(hsa_queue_destroy(work(arg)));
    return NULL;
}

static void run_threads(job *j)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        must(pthread_create(&threads[i], NULL, work_of_thread, j) == 0, "a thread");
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

static void call_roctx(const char *name)
{
    int (*f)(uint64_t) = (int (*)(uint64_t))dlsym(RTLD_DEFAULT, name);
    must(!f || f(0) == 0, name);
}

static void run_kernels(hsa_queue_t *q, int count, const char *meanwhile)
{
    hsa_signal_t done = new_signal(count);
    for (int i = 0; i < count; i++)
        kernel(q, done);
    call_roctx(meanwhile);
    wait_for(done);
    MUST(hsa_signal_destroy(done));
}

static void copy_to_gpu(const world *w, bool timed)
{
    hsa_signal_t done = new_signal(1);
    hsa_amd_profiling_async_copy_time_t t;
    void *a, *b;
    MUST(hsa_amd_memory_pool_allocate(w->pool, 4096, 0, &a));
    MUST(hsa_amd_memory_pool_allocate(w->pool, 4096, 0, &b));
    MUST(hsa_amd_agents_allow_access(1, &w->gpu, NULL, a));
    MUST(hsa_amd_agents_allow_access(1, &w->gpu, NULL, b));
    MUST(hsa_amd_profiling_async_copy_enable(timed));
    MUST(hsa_amd_memory_async_copy(b, w->gpu, a, w->cpu, 4096, 0, NULL, done));
    wait_for(done);
    must((hsa_amd_profiling_get_async_copy_time(done, &t) == HSA_STATUS_SUCCESS) == timed,
         "times of a copy if they are wanted");
    must(!timed || (t.start && t.end > t.start), "times of the copy");
    MUST(hsa_amd_memory_pool_free(a));
    MUST(hsa_amd_memory_pool_free(b));
    MUST(hsa_signal_destroy(done));
}

static void run_around_child(hsa_queue_t *q)
{
    int status;
    hsa_signal_t done = new_signal(1);
    kernel(q, done);
    pid_t child = fork();
    if (child == 0)
        exit(7);
    waitpid(child, &status, 0);
    must(WIFEXITED(status) && WEXITSTATUS(status) == 7, "exit code of the child");
    must(hsa_signal_load_relaxed(done) == 1, "a kernel that runs longer than a child");
    wait_for(done);
    MUST(hsa_signal_destroy(done));
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    world w = begin();
    job j = {&w, argc > 2 ? atoi(argv[2]) : 10};
    if (!strcmp(what, "threads"))
        run_threads(&j);
    hsa_queue_t *q = work(&j);
    if (!strcmp(what, "pause")) {
        run_kernels(q, j.count, "roctxProfilerPause");
        run_kernels(q, 1, "roctxProfilerResume");
    }
    if (!strcmp(what, "fork"))
        run_around_child(q);
    if (!strcmp(what, "copies")) {
        copy_to_gpu(&w, false);
        copy_to_gpu(&w, true);
    }
    if (!strcmp(what, "undone"))
        for (int i = 0; i < j.count; i++)
            kernel(q, (hsa_signal_t){0});
    if (!strcmp(what, "exit") || !strcmp(what, "undone"))
        exit(3);
    if (!strcmp(what, "crash"))
        raise(SIGKILL);
    MUST(hsa_queue_destroy(q));
    MUST(hsa_shut_down());
    return 0;
}
