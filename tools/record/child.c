/* Runs the command: finds the front ends, sets its environment, forwards signals to it. */
#include "record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

/* A row for each folder of lib/capture. */
const front_end front_ends[] = {
    {"roctx", "libroctx64.so.4", BY_PRELOAD},
    {"hip", "librocline-hip.so", BY_PRELOAD},
    {"hsa", "librocline-hsa.so", BY_HSA_TOOLS},
    {NULL, NULL, BY_PRELOAD},
};

/* ---- where the front ends are ---------------------------------------------------------------- */

const front_end *find_front_end(const char *name)
{
    const front_end *f = front_ends;
    while (f->name && strcmp(f->name, name) != 0)
        f++;
    return f->name ? f : NULL;
}

bool has_front_end(const front_end *f, const char *libraries)
{
    char path[8192];
    snprintf(path, sizeof path, "%s/%s", libraries, f->file);
    return access(path, R_OK) == 0;
}

const char *library_folder(void)
{
    static const char *const folders[] = {"lib", "lib64", ("lib/" MULTIARCH)};
    static char folder[4200];
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
    for (int i = 0; i < 2; i++) { /* "/bin/rocrec" */
        char *slash = strrchr(self, '/');
        if (!slash)
            return NULL;
        *slash = '\0';
    }
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(folder, sizeof folder, "%s/%s/rocline", self, folders[i]);
        for (const front_end *f = front_ends; f->name; f++)
            if (has_front_end(f, folder))
                return folder;
    }
    return NULL;
}

/* ---- the environment ------------------------------------------------------------------------- */

/* These functions return false when memory is out: the command would run unrecorded. */

static bool set_variable(const char *name, const char *text)
{
    return setenv(name, text, 1) == 0;
}

/* Puts a word before what the variable holds. */
static bool put_before(const char *variable, const char *word, char between)
{
    const char *old = getenv(variable);
    char *text = NULL;
    if (!old || !*old)
        return set_variable(variable, word);
    const bool set =
        asprintf(&text, "%s%c%s", word, between, old) >= 0 && set_variable(variable, text);
    free(text);
    return set;
}

static bool load_front_ends(const cli *c, const char *libraries)
{
    char path[8192];
    bool set = true;
    /* The core comes before the C library: it has to see some calls (lib/capture/guard). */
    snprintf(path, sizeof path, "%s/librocline-capture.so.%d", libraries, atoi(ROCLINE_VERSION));
    if (access(path, R_OK) == 0)
        set = put_before("LD_PRELOAD", path, ':');
    for (const front_end *f = front_ends; f->name; f++) {
        bool used = !c->use.n;
        for (size_t i = 0; i < c->use.n; i++)
            used |= !strcmp(c->use.v[i], f->name);
        if (!used || !has_front_end(f, libraries))
            continue;
        snprintf(path, sizeof path, "%s/%s", libraries, f->file);
        set &= f->how == BY_PRELOAD ? put_before("LD_PRELOAD", path, ':')
                                    : put_before("HSA_TOOLS_LIB", path, ' ');
    }
    /* AddressSanitizer ends programs in which it is not the first library. What it replaces is not
     * replaced here, so that this does no harm. */
    set &= put_before("ASAN_OPTIONS", "verify_asan_link_order=0", ':');
    /* For programs that open such a library by its name while they run. */
    return put_before("LD_LIBRARY_PATH", libraries, ':') && set;
}

static bool put_number(const char *name, size_t n, const char *unit)
{
    char text[32];
    snprintf(text, sizeof text, "%zu%s", n, unit);
    return set_variable(name, text);
}

bool set_recording(const cli *c)
{
    static const char *const policies[] = {"drop", "block", "ring"};
    char session[2 * sizeof c->session + 1];
    for (size_t i = 0; i < sizeof c->session; i++)
        snprintf(session + 2 * i, 3, "%02x", c->session[i]);
    /* By its whole name: the command may change its folder before it starts others. */
    char *whole = realpath(c->folder, NULL);
    const bool set = set_variable("ROCLINE_OUTPUT", whole ? whole : c->folder);
    free(whole);
    return set && set_variable("ROCLINE_SESSION", session) &&
           set_variable("ROCLINE_POLICY", policies[c->policy]) &&
           (!c->limit || put_number("ROCLINE_LIMIT", c->limit, "b")) &&
           (!c->chunk || put_number("ROCLINE_CHUNK", (c->chunk + 1023) >> 10, "")) &&
           (!c->monotonic || set_variable("ROCLINE_CLOCK", "monotonic"));
}

/* ---- programs that load nothing -------------------------------------------------------------- */

/* Opens a program as execvp() finds it; -1: it does not. */
static int open_program(const char *name)
{
    char path[8192];
    const char *folders = strchr(name, '/') ? "" : getenv("PATH");
    while (folders) {
        const int n = (int)strcspn(folders, ":");
        snprintf(path, sizeof path, "%.*s%s%s", n, folders, n ? "/" : "", name);
        const int fd = access(path, X_OK) == 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        if (fd >= 0)
            return fd;
        folders = folders[n] ? folders + n + 1 : NULL;
    }
    return -1;
}

const char *why_not_loaded(const char *name)
{
    ElfW(Ehdr) head;
    ElfW(Phdr) part;
    struct stat info;
    const char *why = NULL;
    const int fd = open_program(name);
    const bool is_elf = fd >= 0 && fstat(fd, &info) == 0 &&
                        pread(fd, &head, sizeof head, 0) == sizeof head &&
                        !memcmp(head.e_ident, ELFMAG, SELFMAG);
    bool loads = !is_elf; /* of a script its interpreter may load something */
    for (unsigned i = 0; !loads && i < head.e_phnum; i++) {
        const off_t at = (off_t)head.e_phoff + (off_t)i * head.e_phentsize;
        if (pread(fd, &part, sizeof part, at) != sizeof part)
            break;
        loads = part.p_type == PT_INTERP;
    }
    if (is_elf && ((info.st_mode & S_ISUID && info.st_uid != geteuid()) ||
                   (info.st_mode & S_ISGID && info.st_gid != getegid()) ||
                   (geteuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0)))
        why = "has more rights than its user, and nothing is loaded into such programs";
    else if (is_elf && head.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
        why = "is of another kind of machine than the libraries that record";
    else if (!loads)
        why = "is linked statically, and nothing can be loaded into it";
    if (fd >= 0)
        close(fd);
    return why;
}

/* ---- the process --------------------------------------------------------------------------------
 */

static volatile sig_atomic_t child;

static void forward_signal(int signal, siginfo_t *info, void *context)
{
    /* What comes from the terminal reaches the command by itself. */
    bool by_terminal = (signal == SIGINT || signal == SIGQUIT) && info->si_code > 0;
    (void)context;
    if (child > 0 && !by_terminal)
        kill((pid_t)child, signal);
}

static const int forwarded[] = {SIGINT,  SIGQUIT, SIGTERM, SIGHUP,
                                SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU};
enum { FORWARDED = sizeof forwarded / sizeof *forwarded };
static struct sigaction were[FORWARDED], child_was;

static void restore_signals(void)
{
    for (size_t i = 0; i < FORWARDED; i++)
        sigaction(forwarded[i], &were[i], NULL);
    sigaction(SIGCHLD, &child_was, NULL);
}

/* A signal in between waits until it is known, in both of them, what to do with it. */
static pid_t fork_with_signals(void)
{
    struct sigaction pass = {.sa_sigaction = forward_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigset_t all, mask;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask);
    /* If it is ignored, waiting is impossible. */
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &child_was);
    for (size_t i = 0; i < FORWARDED; i++)
        sigaction(forwarded[i], &pass, &were[i]);
    pid_t pid = fork();
    if (pid == 0)
        restore_signals();
    else
        child = pid;
    sigprocmask(SIG_SETMASK, &mask, NULL);
    return pid;
}

/* In the child. errno goes through the pipe when there is no such program. */
static void exec_command(const cli *c, const char *libraries, int report)
{
    int e = ENOMEM;
    if (set_recording(c) &&
        (!c->hsa_calls ||
         set_variable("RTG_HSA_API_FILTER", *c->hsa_calls ? c->hsa_calls : "all")) &&
        (!c->common.args || set_variable("RTG_HIP_API_ARGS", "1")) &&
        load_front_ends(c, libraries)) {
        execvp(c->command.v[0], (char **)(uintptr_t)c->command.v);
        e = errno;
    }
    if (write(report, &e, sizeof e) < 0)
        _exit(126);
    _exit(127);
}

int run_command(cli *c, const char *libraries)
{
    int ends[2], e = 0;
    if (getrandom(c->session, sizeof c->session, 0) < 0)
        memcpy(c->session, &(pid_t){getpid()}, sizeof(pid_t));
    if (pipe2(ends, O_CLOEXEC) != 0) {
        msg_error("cannot run the command: %s", strerror(errno));
        return ROCL_INTERNAL;
    }
    pid_t pid = fork_with_signals();
    if (pid == 0)
        exec_command(c, libraries, ends[1]);
    close(ends[1]);
    bool failed = pid < 0 || read(ends[0], &e, sizeof e) == (ssize_t)sizeof e;
    e = pid < 0 ? errno : e;
    close(ends[0]);
    if (!failed)
        start_sampling(c, libraries, pid);
    while (pid > 0 && waitpid(pid, &c->status, 0) < 0 && errno == EINTR)
        ;
    child = 0;
    restore_signals();
    stop_sampling();
    if (!failed)
        return -1;
    msg_error("%s: %s", c->command.v[0], strerror(e));
    return e == ENOENT ? 127 : e == ENOMEM ? ROCL_INTERNAL : 126;
}

int pass_on(int status)
{
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    int signal_number = WTERMSIG(status);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}); /* one core file is enough */
    signal(signal_number, SIG_DFL);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal_number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    raise(signal_number);
    return 128 + signal_number;
}
