/* Loaded before a program: each time it asks for the time, a second has passed. */
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *t)
{
    static _Atomic time_t asked;
    const int rc = (int)syscall(SYS_clock_gettime, clock, t);
    if (clock == CLOCK_MONOTONIC && rc == 0)
        t->tv_sec += ++asked;
    return rc;
}
