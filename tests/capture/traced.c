/* Programs to record, one per mode: traced MODE [N [M]]. They say on standard output what a trace
 * of them must hold, and end with the exit code 7 when the recording has disturbed them. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/capture.h"

void roctxMarkA(const char *message);
int roctxRangePushA(const char *message);
int roctxRangePop(void);
uint64_t roctxRangeStartA(const char *message);
void roctxRangeStop(uint64_t id);
int roctxNameOsThread(const char *name);
int roctxNameHsaAgent(const char *name, const void *agent);
int roctxNameHipDevice(const char *name, int device);
int roctxNameHipStream(const char *name, const void *stream);
int roctxProfilerPause(uint64_t tid);
int roctxProfilerResume(uint64_t tid);
int roctxGetThreadId(uint64_t *tid);

static long arg_n, arg_m;

static void step(long i)
{
    char text[32];
    snprintf(text, sizeof text, "step %ld", i % 10);
    roctxRangePushA(text);
    roctxRangePop();
}

/* Every event is followed by a look at errno. */
static void must_be(int expected)
{
    if (errno == expected)
        return;
    fprintf(stderr, "errno was %d and is %d\n", expected, errno);
    exit(7);
}

static int events(void)
{
    errno = ERANGE;
    for (long i = 0; i < arg_n; i++) {
        step(i);
        must_be(ERANGE);
    }
    printf("%ld\n", arg_n);
    return 0;
}

static void *thread_of_events(void *arg)
{
    (void)arg;
    for (long i = 0; i < arg_m; i++)
        step(i);
    return NULL;
}

/* N threads at once with M ranges each. */
static int threads(void)
{
    pthread_t *all = calloc((size_t)arg_n, sizeof *all);
    for (long i = 0; i < arg_n; i++)
        if (pthread_create(&all[i], NULL, thread_of_events, NULL))
            return 7;
    for (long i = 0; i < arg_n; i++)
        pthread_join(all[i], NULL);
    free(all);
    printf("%ld\n", arg_n * arg_m);
    return 0;
}

/* N threads one after the other. */
static int churn(void)
{
    for (long i = 0; i < arg_n; i++) {
        pthread_t t;
        if (pthread_create(&t, NULL, thread_of_events, NULL))
            return 7;
        pthread_join(t, NULL);
    }
    printf("%ld\n", arg_n * arg_m);
    return 0;
}

/* N threads that are to be cancelled already when they record first, which they can: a call of
 * ROCTx is no point at which that happens. */
static void *cancelled_thread(void *arg)
{
    pthread_cancel(pthread_self());
    step(0);
    atomic_fetch_add((atomic_long *)arg, 1);
    pthread_testcancel();
    exit(7);
}

static int cancelled(void)
{
    atomic_long came = 0;
    for (long i = 0; i < arg_n; i++) {
        pthread_t t;
        if (pthread_create(&t, NULL, cancelled_thread, &came))
            return 7;
        pthread_join(t, NULL);
    }
    printf("%ld\n", arg_n);
    return came == arg_n ? 0 : 7;
}

/* N children, each with M ranges, while another thread records. */
static atomic_bool stop;
static atomic_long by_thread;

static void *keep_recording(void *arg)
{
    (void)arg;
    while (!stop) {
        step(0);
        by_thread++;
    }
    return NULL;
}

/* Without the C library; newer machines have no fork. */
static pid_t fork_by_number(void)
{
#ifdef SYS_fork
    return (pid_t)syscall(SYS_fork);
#else
    return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
#endif
}

static int forks(void)
{
    pthread_t t;
    int bad = 0;
    if (pthread_create(&t, NULL, keep_recording, NULL))
        return 7;
    for (long i = 0; i < arg_n; i++) {
        roctxRangePushA("around a fork");
        pid_t pid = i % 2 ? fork() : fork_by_number();
        if (pid == 0) {
            thread_of_events(NULL);
            _exit(3);
        }
        int status = 0;
        waitpid(pid, &status, 0);
        bad |= !WIFEXITED(status) || WEXITSTATUS(status) != 3;
        roctxRangePop();
    }
    stop = true;
    pthread_join(t, NULL);
    printf("%ld\n", arg_n * arg_m + arg_n + by_thread);
    return bad ? 7 : 0;
}

/* By vfork(), by clone3(), and by fork() in threads that do so at a time. */
static pid_t clone_plainly(void)
{
#ifdef SYS_clone3
    const uint64_t args[8] = {[4] = SIGCHLD}; /* struct clone_args: the signal at the end */
    const long pid = syscall(SYS_clone3, args, sizeof args);
    return pid < 0 ? fork() : (pid_t)pid; /* it is forbidden here */
#else
    return fork();
#endif
}

static bool ends_well(pid_t pid)
{
    int status = 1;
    return waitpid(pid, &status, 0) == pid && status == 0;
}

static void *fork_in_thread(void *failed)
{
    for (long i = 0; i < arg_n; i++) {
        step(i);
        const pid_t pid = fork();
        if (pid == 0) {
            step(i);
            _exit(0);
        }
        if (!ends_well(pid))
            *(atomic_bool *)failed = true;
    }
    return NULL;
}

static pid_t start_by_vfork(void)
{
    const pid_t pid = vfork();
    if (pid == 0) {
        execl("/bin/true", "true", (char *)NULL);
        _exit(1);
    }
    return pid;
}

static int children(void)
{
    enum { THREADS = 8 };
    pthread_t t[THREADS];
    atomic_bool failed = false;
    for (long i = 0; i < arg_n; i++) {
        step(i);
        if (!ends_well(start_by_vfork()))
            return 7;
        const pid_t pid = clone_plainly();
        if (pid == 0) {
            step(i);
            _exit(0);
        }
        if (!ends_well(pid))
            return 7;
    }
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&t[i], NULL, fork_in_thread, &failed))
            return 7;
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    printf("%ld\n", 2 * arg_n * (1 + THREADS));
    return failed ? 7 : 0;
}

/* Marks, as many as the number in a file says, which is shared memory: what was recorded before the
 * number went up must be in the trace, whenever this is killed. */
static int until_killed(void)
{
    int fd = open("count", O_RDWR | O_CREAT | O_TRUNC, 0666);
    if (fd < 0 || ftruncate(fd, sizeof(uint64_t)))
        return 7;
    _Atomic uint64_t *count = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (count == MAP_FAILED)
        return 7;
    for (;;) {
        roctxMarkA(*count & 1 ? "odd" : "even");
        ++*count;
    }
}

enum { ALARMS_MOST = 100000 };
static atomic_long handled;

/* Where a page fault takes longer than it is to the next alarm, the program gets no further: there
 * is an end of alarms. */
static void on_alarm(int signal_number)
{
    (void)signal_number;
    roctxMarkA("alarm");
    if (++handled == ALARMS_MOST)
        setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
}

/* A signal handler that records. */
static int signals(void)
{
    struct itimerval every = {{0, 50}, {0, 50}};
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &every, NULL);
    for (long i = 0; i < arg_n; i++)
        step(i);
    every = (struct itimerval){0};
    setitimer(ITIMER_REAL, &every, NULL);
    printf("%ld %ld\n", arg_n, (long)handled);
    return 0;
}

/* N ranges within each other, around M others. */
static int deep(void)
{
    static rocl_site site = ROCL_SITE("HIP_RUNTIME_API_EXT", "hipDeep");
    char text[32];
    for (long i = 0; i < arg_n; i++) {
        snprintf(text, sizeof text, "level %ld", i);
        if (roctxRangePushA(text) != i)
            return 7;
        rocl_cap_begin(&site);
    }
    for (long i = 0; i < arg_m; i++)
        step(i);
    for (long i = arg_n; i-- > 0;) {
        rocl_cap_end();
        if (roctxRangePop() != i)
            return 7;
    }
    printf("%ld\n", arg_n + arg_m);
    return roctxRangePop() == -1 ? 0 : 7;
}

/* N ranges within each other and nothing else, of which M are left open. */
static int nested(void)
{
    for (long i = 0; i < arg_n; i++)
        roctxRangePushA("level");
    for (long i = arg_n; i-- > arg_m;)
        roctxRangePop();
    printf("%ld\n", arg_n);
    return 0;
}

/* All that ROCTx can do. */
static void *stop_range(void *id)
{
    roctxNameOsThread("helper");
    roctxRangeStop(*(uint64_t *)id);
    return NULL;
}

/* The first that a thread, and then a child, records is the end of a range. */
static void *only_stop(void *id)
{
    roctxRangeStop(*(uint64_t *)id);
    return NULL;
}

static int stops(void)
{
    pthread_t t;
    int status = 0;
    uint64_t id = roctxRangeStartA("across");
    pthread_create(&t, NULL, only_stop, &id);
    pthread_join(t, NULL);
    if (fork() == 0) {
        roctxRangeStop(id);
        rocl_cap_end();
        rocl_cap_correlate();
        _exit(0);
    }
    wait(&status);
    puts("1");
    return status ? 7 : 0;
}

static int markers(void)
{
    pthread_t t;
    uint64_t tid, id;
    roctxGetThreadId(&tid);
    roctxNameOsThread("chief");
    roctxRangePushA("outer");
    id = roctxRangeStartA("across");
    roctxMarkA("a \"mark\", with\ttabs");
    roctxProfilerPause(0);
    roctxRangePushA("not recorded");
    roctxMarkA("nor this");
    roctxProfilerResume(0);
    roctxRangePop();
    roctxRangePushA("ends in a pause");
    roctxProfilerPause(tid);
    roctxRangePop();
    roctxMarkA("nor that");
    roctxProfilerResume(tid);
    roctxRangePushA("");
    roctxRangePop();
    pthread_create(&t, NULL, stop_range, &id);
    pthread_join(t, NULL);
    roctxRangePop();
    roctxRangePushA("never ended");
    roctxRangeStartA("never stopped");
    return tid == (uint64_t)syscall(SYS_gettid) ? 0 : 7;
}

/* What a front end for GPUs records: N kernels, each launched by a call. */
static int gpu(void)
{
    static rocl_site launch = ROCL_SITE("HIP_RUNTIME_API_EXT", "hipLaunchKernel");
    static rocl_site h2d = ROCL_SITE("MEMORY_COPY", "MEMORY_COPY_HOST_TO_DEVICE");
    static rocl_site allocate = ROCL_SITE("MEMORY_ALLOCATION", "ALLOCATE");
    static rocl_site barrier = ROCL_SITE("BARRIER_PACKET", "barrier");
    static rocl_parameters parameters;
    rocl_def *cpu = rocl_cap_define_agent(
        &(rocl_cap_agent){.handle = 1, .type = 1, .name = "cpu", .type_index = 0});
    rocl_def *gpu = rocl_cap_define_agent(&(rocl_cap_agent){.handle = 2,
                                                            .type = 2,
                                                            .absolute_index = 1,
                                                            .logical_index = 1,
                                                            .type_index = 0,
                                                            .name = "gfx942",
                                                            .product = "MI300X"});
    rocl_def *queue = rocl_cap_define_queue(5, NULL);
    rocl_def *stream = rocl_cap_define_stream(6, "compute");
    rocl_def *kernel = rocl_cap_define_kernel(&(rocl_cap_kernel_symbol){
        .id = 9, .agent = gpu, .name = "_Z4gemmPf.kd", .display = "gemm(float*)"});
    rocl_def *watts = rocl_cap_define_counter(
        &(rocl_cap_counter){.id = 3, .agent = gpu, .name = "power", .units = "W"});
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    uint64_t t = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    for (long i = 0; i < arg_n; i++, t += 20000) {
        rocl_cap_begin(&launch);
        rocl_cap_times times = {t, t + 7000, ROCL_CLOCK_BOOTTIME, rocl_cap_correlate(),
                                (uint32_t)syscall(SYS_gettid)};
        rocl_cap_args(
            &parameters,
            (rocl_cap_value[]){
                {.type = "int", .name = "blocks", .form = ROCL_FORM_SIGNED, .bits = (uint64_t)i},
                {.type = "size_t", .name = "no", .form = ROCL_FORM_NONE}},
            2);
        rocl_cap_arg("const char *", "label", "a \"b\"", 5);
        rocl_cap_end();
        rocl_cap_dispatched(&(rocl_cap_dispatch){.t = times,
                                                 .agent = gpu,
                                                 .queue = queue,
                                                 .stream = stream,
                                                 .kernel = kernel,
                                                 .dispatch_id = (uint64_t)i + 1,
                                                 .workgroup = {256, 1, 1},
                                                 .grid = {65536, 1, 1},
                                                 .group_segment = 1024});
        times.correlation = 0;
        rocl_cap_copied(&(rocl_cap_copy){.t = times,
                                         .name = &h2d,
                                         .src = cpu,
                                         .dst = gpu,
                                         .stream = stream,
                                         .size = 4096,
                                         .src_address = 0x1000,
                                         .dst_address = 0x2000});
    }
    rocl_cap_times once = {t, t + 100, ROCL_CLOCK_BOOTTIME, 0, 0};
    rocl_cap_allocated(&(rocl_cap_alloc){.t = once,
                                         .name = &allocate,
                                         .agent = gpu,
                                         .op = 1,
                                         .level = 1,
                                         .size = 65536,
                                         .address = 0x2000});
    rocl_cap_waited(&(rocl_cap_barrier){.t = once, .name = &barrier, .agent = gpu, .queue = queue});
    rocl_cap_sampled(watts, NULL, t, ROCL_CLOCK_BOOTTIME, 123.5);
    return gpu && kernel ? 0 : 7;
}

/* A program that closes all descriptors and uses their numbers itself. */
static int closes_all(void)
{
    step(0);
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    for (int i = 0; i < 300; i++)
        if (open("own", O_RDWR | O_CREAT, 0666) < 0)
            return 7;
    for (long i = 1; i < arg_n; i++)
        step(i);
    if (lseek(3, 0, SEEK_END) != 0)
        return 7;
    printf("%ld\n", arg_n);
    return 0;
}

/* Names of what nobody may know. */
static int gives_names(void)
{
    uint64_t agent = 77;
    bool ok = roctxNameHsaAgent("agent", &agent) == 0 && roctxNameHsaAgent("none", NULL) == -1;
    ok = ok && roctxNameHipDevice("device", 1) == 0 && roctxNameHipDevice("none", -1) == -1;
    ok = ok && roctxNameHipStream("default", NULL) == 0 && roctxNameHipStream("stream", &ok) == 0;
    ok = ok && roctxNameHipStream("renamed", &ok) == 0 && roctxNameHipStream(NULL, &agent) == 0;
    if (fork() == 0)
        _exit(roctxNameHipStream("of a child", &agent));
    int status = 1;
    wait(&status);
    return ok && !status ? 0 : 7;
}

static int in_chroot(void)
{
    step(0);
    if (mkdir("root", 0777) || chroot("root") || chdir("/"))
        return 77;
    for (long i = 1; i < arg_n; i++)
        step(i);
    if (fork() == 0) {
        step(0);
        _exit(0);
    }
    wait(NULL);
    printf("%ld\n", arg_n + 1);
    return 0;
}

/* Gives up its user: the file is of another one from then on. */
static int as_nobody(void)
{
    step(0);
    if (setgid(65534) || setuid(65534))
        return 77;
    for (long i = 1; i < arg_n; i++)
        step(i);
    printf("%ld\n", arg_n);
    return 0;
}

/* How many descriptors there are, before, while and after something is recorded. */
static int counts_descriptors(void)
{
    int before = 0, after = 0;
    for (int fd = 0; fd < 65536; fd++)
        before += fcntl(fd, F_GETFD) >= 0;
    for (long i = 0; i < arg_n; i++)
        step(i);
    for (int fd = 0; fd < 65536; fd++)
        after += fcntl(fd, F_GETFD) >= 0;
    printf("%d %d\n", before, after);
    return 0;
}

/* From now on nothing is allowed but to write and to end. */
static bool forbid_all(bool by_name)
{
    const unsigned calls[] = {SYS_write, SYS_exit, SYS_exit_group, SYS_futex, SYS_rt_sigreturn};
    enum { CALLS = sizeof calls / sizeof *calls };
    struct sock_filter code[2 * CALLS + 2];
    struct sock_fprog program = {2 * CALLS + 2, code};
    size_t n = 0;
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0);
    for (size_t i = 0; i < CALLS; i++) {
        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i], 0, 1);
        code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return false;
    return by_name ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0
                   : syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

static void *late_steps(void *gate)
{
    while (!atomic_load((_Atomic int *)gate))
        ;
    for (long i = 0; i < arg_n; i++)
        step(i);
    atomic_fetch_add((_Atomic int *)gate, 1);
    return NULL;
}

/* A filter that forbids nothing here; then another program. */
static int sealed_exec(void)
{
    struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {1, &allow}, none = {0, NULL};
    char *const argv[] = {(char *)(uintptr_t) "traced", (char *)(uintptr_t) "events",
                          (char *)(uintptr_t) "10", NULL};
    step(0);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return 77;
    /* One that is refused changes nothing. */
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &none, 0, 0) == 0 || !getenv("ROCLINE_OUTPUT") ||
        !*getenv("ROCLINE_OUTPUT"))
        return 7;
    for (long i = 1; i < arg_n; i++)
        step(i);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0)
        return 77;
    execv("/proc/self/exe", argv);
    return 7;
}

static int sealed(void)
{
    _Atomic int gate = 0;
    pthread_t thread;
    char text[32];
    pthread_create(&thread, NULL, late_steps, &gate);
    step(0);
    if (!forbid_all(arg_m))
        return 77;
    atomic_store(&gate, 1);
    for (long i = 1; i < arg_n; i++)
        step(i);
    while (atomic_load(&gate) < 2)
        ;
    int n = snprintf(text, sizeof text, "%ld\n", 2 * arg_n);
    return write(1, text, (size_t)n) == n ? 0 : 7;
}

/* The filter comes before the first event. */
static int sealed_first(void)
{
    char text[32];
    if (!forbid_all(true))
        return 77;
    for (long i = 0; i < arg_n; i++)
        step(i);
    int n = snprintf(text, sizeof text, "%ld\n", arg_n);
    return write(1, text, (size_t)n) == n ? 0 : 7;
}

/* Reading the processor's clock is forbidden, too. */
static int sealed_strictly(void)
{
    char text[32];
    step(0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0) != 0)
        return 77;
    for (long i = 1; i < arg_n; i++)
        step(i);
    int n = snprintf(text, sizeof text, "%ld\n", arg_n);
    syscall(SYS_exit, write(1, text, (size_t)n) == n ? 0 : 7);
    return 7;
}

/* The child has the memory of its parent until it starts another program. */
static int sealed_child(void)
{
    struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {1, &allow};
    int status = 0;
    pid_t pid = vfork();
    if (pid == 0) {
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0)
            _exit(77);
        execlp("true", "true", (char *)NULL);
        _exit(7);
    }
    waitpid(pid, &status, 0);
    return status ? WEXITSTATUS(status) : events();
}

static _Atomic int begun, done;

static void *endless_steps(void *unused)
{
    (void)unused;
    atomic_fetch_add(&begun, 1);
    for (long i = 0; i < arg_n; i++)
        step(i);
    atomic_fetch_add(&done, 1);
    for (;;)
        ;
    return NULL;
}

/* All threads come under the filter while they record; one that begins makes system calls of the C
 * library. */
static int sealed_threads(void)
{
    enum { THREADS = 4 };
    pthread_t thread;
    const struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, (struct sock_filter *)(uintptr_t)code};
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread, NULL, endless_steps, NULL);
    while (atomic_load(&begun) < THREADS)
        usleep(10);
    usleep((useconds_t)arg_m);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
        _exit(77);
    while (atomic_load(&done) < THREADS)
        ;
    _exit(0);
}

static int crash(void)
{
    for (long i = 0; i < arg_n; i++)
        step(i);
    printf("%ld\n", arg_n);
    fflush(stdout);
    raise((int)arg_m);
    return 7;
}

static int limited(void)
{
    struct rlimit r = {(rlim_t)arg_m, (rlim_t)arg_m};
    setrlimit(RLIMIT_FSIZE, &r);
    return events();
}

/* A child that has no descriptor for a file of its own. */
static int unfiled(void)
{
    struct rlimit r = {3, 3};
    events();
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        setrlimit(RLIMIT_NOFILE, &r);
        for (long i = 0; i < arg_n; i++)
            step(i);
        exit(0);
    }
    waitpid(pid, NULL, 0);
    return 0;
}

/* No address space is left after the first event. */
static int starved(void)
{
    long pages = 0;
    step(0);
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld", &pages) != 1)
        return 7;
    fclose(f);
    struct rlimit r = {(rlim_t)pages * 4096, (rlim_t)pages * 4096};
    setrlimit(RLIMIT_AS, &r);
    time_t end = time(NULL) + 1;
    long i = 1;
    for (; time(NULL) <= end; i++)
        step(i);
    printf("%ld\n", i);
    return 0;
}

/* N marks with texts of several sizes, up to M bytes. */
static int texts(void)
{
    char *text = malloc((size_t)arg_m + 32);
    for (long i = 0; i < arg_n; i++) {
        int n = snprintf(text, 32, "text %ld ", i);
        memset(text + n, 'x', (size_t)arg_m);
        text[i * 7919 % arg_m + n] = '\0';
        roctxMarkA(text);
    }
    free(text);
    printf("%ld\n", arg_n);
    return 0;
}

/* N calls in a call, on a disk that is full until a file is removed, after half of them. */
static int refilled(void)
{
    static rocl_site outer = ROCL_SITE("HIP_RUNTIME_API_EXT", "hipOuter");
    static rocl_site inner = ROCL_SITE("HIP_RUNTIME_API_EXT", "hipInner");
    rocl_cap_begin(&outer);
    for (long i = 0; i < arg_n; i++) {
        rocl_cap_begin(&inner);
        step(i);
        rocl_cap_end();
        if (i == arg_n / 2 && unlink("fill"))
            return 7;
        if (i == arg_n / 2)
            usleep(50000);
    }
    rocl_cap_end();
    return 0;
}

/* N ranges in each other, of which M end while the file cannot grow. */
static int ends_lost(void)
{
    enum { MARKS = 50000, LATER = 10 };
    struct rlimit r;
    for (long i = 0; i < arg_n; i++)
        roctxRangePushA("outer");
    getrlimit(RLIMIT_FSIZE, &r);
    r.rlim_cur = 24576;
    setrlimit(RLIMIT_FSIZE, &r);
    for (int i = 0; i < MARKS; i++)
        roctxMarkA("fill");
    for (long i = 0; i < arg_m; i++)
        roctxRangePop();
    r.rlim_cur = r.rlim_max;
    setrlimit(RLIMIT_FSIZE, &r);
    usleep(50000);
    for (int i = 0; i < LATER; i++)
        step(0);
    for (long i = arg_m; i < arg_n; i++)
        roctxRangePop();
    printf("%ld\n", arg_n + MARKS + LATER);
    return 0;
}

/* Signal handlers record while the process exits. */
static int exits(void)
{
    struct itimerval every = {{0, 10}, {0, 10}};
    for (long i = 0; i < arg_n; i++)
        step(i);
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &every, NULL);
    return 0;
}

static int nothing(void)
{
    puts("nothing");
    return (int)arg_n;
}

static const struct {
    const char *name;
    int (*run)(void);
} modes[] = {
    {"events", events},
    {"threads", threads},
    {"churn", churn},
    {"cancelled", cancelled},
    {"forks", forks},
    {"children", children},
    {"count", until_killed},
    {"signals", signals},
    {"deep", deep},
    {"nested", nested},
    {"markers", markers},
    {"names", gives_names},
    {"gpu", gpu},
    {"closes", closes_all},
    {"chroot", in_chroot},
    {"sealed-first", sealed_first},
    {"sealed-strictly", sealed_strictly},
    {"sealed-child", sealed_child},
    {"sealed-threads", sealed_threads},
    {"crash", crash},
    {"limited", limited},
    {"unfiled", unfiled},
    {"nothing", nothing},
    {"starved", starved},
    {"texts", texts},
    {"exits", exits},
    {"refilled", refilled},
    {"ends-lost", ends_lost},
    {"stops", stops},
    {"nobody", as_nobody},
    {"sealed", sealed},
    {"sealed-exec", sealed_exec},
    {"descriptors", counts_descriptors},
};

int main(int argc, char **argv)
{
    arg_n = argc > 2 ? atol(argv[2]) : 0;
    arg_m = argc > 3 ? atol(argv[3]) : 0;
    for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof *modes; i++)
        if (!strcmp(modes[i].name, argv[1]))
            return modes[i].run();
    return 2;
}
