/* measure COMMAND...: runs it and prints "wall cpu peak" on file descriptor 3, or else on standard
 * error: seconds, seconds of user and system time, KiB. Exits as the command does. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void run(char **argv)
{
    execvp(argv[0], argv);
    fprintf(stderr, "measure: %s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: measure COMMAND...\n");
        return 2;
    }
    int report = fcntl(3, F_GETFD) >= 0 ? 3 : STDERR_FILENO;
    double begin = now();
    pid_t pid = fork();
    if (pid == 0)
        run(argv + 1);
    int status;
    struct rusage use;
    if (pid < 0 || wait4(pid, &status, 0, &use) != pid) {
        fprintf(stderr, "measure: %s\n", strerror(errno));
        return 5;
    }
    dprintf(report, "%.3f %.3f %ld\n", now() - begin, seconds(use.ru_utime) + seconds(use.ru_stime),
            use.ru_maxrss);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
