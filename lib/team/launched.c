/* A team of the processes that a launcher has started: which MPI it is of, its plugin, and whether
 * all of them were started for one task. */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/kinds.h"
#include "team/team.h"

/* What launchers tell the processes that they start. */
typedef struct launcher {
    const char *size, *rank; /* variables */
    const char *needs;       /* that is set as well; NULL: none */
    const char *plugin;      /* "librocline-mpi-PLUGIN.so" */
    const char *name;
} launcher;

static const launcher launchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", NULL, "openmpi", "Open MPI"},
    {"PMI_SIZE", "PMI_RANK", NULL, "mpich", "MPICH"},
    {"SLURM_NTASKS", "SLURM_PROCID", "PMIX_RANK", "openmpi", "srun --mpi=pmix"},
};

static const launcher *find_launcher(void)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const launcher *l = &launchers[i];
        const char *size = getenv(l->size);
        if (size && atoi(size) > 1 && (!l->needs || getenv(l->needs)))
            return l;
    }
    return NULL;
}

/* Has the launcher started this process itself? A script that it has started may run us on one rank
 * alone: to join there would wait for the others forever. */
static bool is_launched_itself(void)
{
    static const char *const names[] = {"mpirun", "mpiexec",    "orte", "prte",
                                        "hydra_", "slurmstepd", "pals"};
    char path[64], name[64] = "";
    snprintf(path, sizeof path, "/proc/%ld/comm", (long)getppid());
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    const bool known = fgets(name, sizeof name, f) != NULL;
    fclose(f);
    for (size_t i = 0; known && i < sizeof names / sizeof *names; i++)
        if (!strncmp(name, names[i], strlen(names[i])))
            return true;
    return false;
}

static int rank_of(const launcher *l)
{
    const char *rank = getenv(l->rank);
    return rank ? atoi(rank) : 0;
}

int rocl_launched_rank(bool asked)
{
    const launcher *l = find_launcher();
    return l && (asked || is_launched_itself()) ? rank_of(l) : -1;
}

/* ---- the plugin ---- */

#ifndef MULTIARCH
#define MULTIARCH ""
#endif

/* Beside the program or the library that this code is in, or where the linker looks. */
static void *load_plugin(const launcher *l, char *why, size_t size)
{
    static const char *const folders[] = {"rocline", "../lib/rocline", "../lib64/rocline",
                                          "../lib/" MULTIARCH "/rocline"};
    const char *own = getenv("ROCLINE_MPI");
    char path[4200], name[64];
    Dl_info self;
    if (own && *own) {
        void *library = dlopen(own, RTLD_NOW | RTLD_GLOBAL);
        if (!library)
            snprintf(why, size, "ROCLINE_MPI: %s", dlerror());
        return library;
    }
    snprintf(name, sizeof name, "librocline-mpi-%s.so", l->plugin);
    const bool known = dladdr((void *)(uintptr_t)load_plugin, &self) && self.dli_fname;
    const char *slash = known ? strrchr(self.dli_fname, '/') : NULL;
    char exe[4096];
    const ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[n > 0 ? n : 0] = '\0';
    const char *program = strrchr(exe, '/');
    for (size_t i = 0; i < 2 * sizeof folders / sizeof *folders; i++) {
        const char *from = i % 2 ? exe : known ? self.dli_fname : "";
        const char *end = i % 2 ? program : slash;
        if (!end || *from != '/')
            continue;
        snprintf(path, sizeof path, "%.*s/%s/%s", (int)(end - from), from, folders[i / 2], name);
        if (access(path, R_OK) != 0)
            continue;
        void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
        if (!library)
            snprintf(why, size, "%s", dlerror());
        return library;
    }
    void *library = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
    if (!library)
        snprintf(why, size, "%s is not installed (make mpi builds it)", name);
    return library;
}

/* ---- one task ---- */

enum { ALONE, TOGETHER, UNLIKE };

static bool has_left(const rocl_buf *message)
{
    return message->len && message->data[0] == ROCL_TEAM_GONE;
}

/* Receives the hello of the next rank. */
static rocl_status hear_rank(rocl_team *team, rocl_buf *message, rocl_error *err)
{
    unsigned from;
    bool there = false;
    rocl_status st = ROCL_OK;
    while (st == ROCL_OK && !there)
        st = rocl_team_receive(team, 1000, message, &from, &there, err);
    return st;
}

/* Rank 0 hears from all others, and decides: if one leaves, all do. */
static rocl_status compare_tasks(rocl_team *team, const rocl_buf *own, const char *task, int *what,
                                 rocl_error *err)
{
    /* the status that an own message has */
    rocl_status left = has_left(own) ? (rocl_status)own->data[1] : ROCL_OK, st = ROCL_OK;
    /* versions and layouts; behind them the task with its length */
    const size_t head = own->len - strlen(task) - rocl_varint_size(strlen(task));
    rocl_buf b = {0};
    *what = TOGETHER;
    for (unsigned n = 1; st == ROCL_OK && n < rocl_team_size(team); n++) {
        const rocl_status one = hear_rank(team, &b, left ? NULL : err);
        if (one != ROCL_OK && has_left(&b)) {
            team->broken = false; /* it waits for the answer */
            left = left ? left : one;
            continue;
        }
        st = one;
        if (st != ROCL_OK || left || (b.len == own->len && !memcmp(b.data, own->data, b.len)))
            continue;
        *what = b.len < head || memcmp(b.data, own->data, head) ? UNLIKE
                : *what == TOGETHER                             ? ALONE
                                                                : *what;
    }
    b.len = 0;
    if (left) {
        rocl_team_put_gone(&b, left, "");
    } else {
        const uint8_t answer[2] = {ROCL_TEAM_FORMED, (uint8_t)*what};
        rocl_buf_put(&b, answer, sizeof answer);
    }
    for (unsigned r = 1; st == ROCL_OK && r < rocl_team_size(team); r++)
        st = rocl_team_send(team, r, &b, err);
    rocl_buf_free(&b);
    return st ? st : left;
}

static rocl_status ask_rank_0(rocl_team *team, const rocl_buf *own, int *what, rocl_error *err)
{
    rocl_buf b = {0};
    rocl_status st = rocl_team_send(team, 0, own, err);
    if (st == ROCL_OK)
        st = hear_rank(team, &b, err);
    if (st != ROCL_OK && has_left(&b))
        team->broken = false;
    else if (st == ROCL_OK && (b.len != 2 || b.data[0] != ROCL_TEAM_FORMED))
        st = rocl_team_bad_message(err);
    *what = st == ROCL_OK ? b.data[1] : UNLIKE;
    rocl_buf_free(&b);
    return st;
}

/* A team only if all do the same: processes started for each rank alone stay alone. Frees hello. */
static rocl_status form_team(rocl_team **team, rocl_buf *hello, const char *task, rocl_error *err)
{
    int what = ALONE;
    rocl_status st = hello->failed ? rocl_fail_memory(err) : ROCL_OK;
    if (st == ROCL_OK)
        st = rocl_team_rank(*team) ? ask_rank_0(*team, hello, &what, err)
                                   : compare_tasks(*team, hello, task, &what, err);
    rocl_buf_free(hello);
    if (st == ROCL_OK && what == UNLIKE)
        st = rocl_fail(err, ROCL_INTERNAL, "the ranks of the team are of different versions");
    if (st == ROCL_OK && what == TOGETHER)
        return ROCL_OK;
    rocl_team_free(*team); /* the others end it themselves */
    *team = NULL;
    return st;
}

/* *team NULL: there is only this process. */
static rocl_status connect_all(rocl_team **team, const launcher *l, rocl_error *err)
{
    char why[512] = "";
    /* Threads that an MPI starts must not take signals of the program. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    rocl_transport t = {0};
    void *library = load_plugin(l, why, sizeof why);
    const rocl_transport_plugin *plugin = library ? dlsym(library, ROCL_TRANSPORT_PLUGIN) : NULL;
    if (library && (!plugin || plugin->version != ROCL_TRANSPORT_VERSION))
        snprintf(why, sizeof why, "the plugin for its MPI is of another version");
    else if (plugin && plugin->join(&t, why, sizeof why) != 0)
        plugin = NULL;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!plugin || *why) {
        if (!rank_of(l)) /* the others need not say the same */
            rocl_fail(err, ROCL_INTERNAL, "no team of the ranks of %s: %s", l->name, why);
        return ROCL_INTERNAL;
    }
    if (t.size < 2) {
        t.close(t.self, 0);
        return ROCL_OK;
    }
    *team = rocl_team_new(&t, plugin->name);
    return *team ? ROCL_OK : rocl_fail_memory(err);
}

rocl_status rocl_team_join(rocl_team **team, const char *task, bool asked, rocl_error *err)
{
    *team = NULL;
    if (rocl_launched_rank(asked) < 0)
        return ROCL_OK;
    const rocl_status st = connect_all(team, find_launcher(), err);
    rocl_buf hello = {0};
    if (st != ROCL_OK || !*team)
        return st;
    /* What both ends of a message must have in common comes before the task. */
    rocl_buf_byte(&hello, ROCL_TEAM_HELLO);
    rocl_team_put_text(&hello, ROCLINE_VERSION, strlen(ROCLINE_VERSION));
    for (rocl_kind k = 0; k < ROCL_KINDS; k++)
        rocl_buf_varint(&hello, rocl_kind_size(k));
    rocl_buf_varint(&hello, ROCL_FAULTS);
    rocl_team_put_text(&hello, task, strlen(task));
    return form_team(team, &hello, task, err);
}

bool rocl_team_refuse(rocl_status why, const char *text, bool asked)
{
    rocl_team *team = NULL;
    rocl_buf b = {0};
    if (rocl_launched_rank(asked) < 0 || connect_all(&team, find_launcher(), NULL) != ROCL_OK ||
        !team)
        return false;
    rocl_team_put_gone(&b, why, text);
    (void)form_team(&team, &b, "", NULL);
    return true;
}
