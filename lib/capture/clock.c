/* Clocks. The TSC is used where the kernel itself keeps time by it: then it goes at one speed and
 * is the same on all cores. */
#include <fcntl.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "capture/core.h"

/* What the kernel keeps time by; the name with a line end. */
static bool is_clock_source(const char *name)
{
    static const char path[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    char text[64] = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool is = fd >= 0 && read(fd, text, sizeof text - 1) > 0 && !strcmp(text, name);
    if (fd >= 0)
        close(fd);
    return is;
}

/* Those that programs can read by themselves (vDSO). */
bool rocl_clock_is_free(void)
{
    return rocl_set.tsc || (getauxval(AT_SYSINFO_EHDR) &&
                            (is_clock_source("tsc\n") || is_clock_source("kvm-clock\n") ||
                             is_clock_source("hyperv_clocksource_tsc_page\n") ||
                             is_clock_source("arch_sys_counter\n")));
}

#if defined(__x86_64__)
#include <cpuid.h>

bool rocl_tsc_is_good(void)
{
    unsigned a, b, c, d;
    const bool is_invariant = __get_cpuid(0x80000007u, &a, &b, &c, &d) && d & 1u << 8;
    return is_invariant && is_clock_source("tsc\n");
}
#else
bool rocl_tsc_is_good(void)
{
    return false;
}
#endif

/* Another clock less the monotonic one: read between two of that, the closest pair of some. */
static uint64_t offset_of(clockid_t clock)
{
    uint64_t best = UINT64_MAX, offset = 0;
    for (int i = 0; i < 2; i++) {
        uint64_t a = rocl_ns(CLOCK_MONOTONIC), x = rocl_ns(clock), b = rocl_ns(CLOCK_MONOTONIC);
        if (b - a < best) {
            best = b - a;
            offset = x - (a + best / 2);
        }
    }
    return offset;
}

void rocl_sync_read(rocl_chunk_sync *s)
{
    uint64_t best = UINT64_MAX;
    s->ticks = s->monotonic = 0;
    for (int i = 0; i < 2; i++) {
        uint64_t a = rocl_ticks(), ns = rocl_ns(CLOCK_MONOTONIC), b = rocl_ticks();
        if (b - a < best) {
            best = b - a;
            s->ticks = rocl_set.tsc ? a + best / 2 : ns;
            s->monotonic = ns;
        }
    }
    s->realtime = s->monotonic + offset_of(CLOCK_REALTIME);
    /* They differ by the time that the machine slept; a smaller difference is due to reading. */
    int64_t slept = (int64_t)offset_of(CLOCK_BOOTTIME);
    s->boottime = s->monotonic + (slept > 100000 ? (uint64_t)slept : 0);
}

uint64_t rocl_tick_hz(void)
{
    rocl_chunk_sync now;
    if (!rocl_set.tsc)
        return 1000000000u;
    while (rocl_ns(CLOCK_MONOTONIC) - rocl_set.loaded_ns < 200000)
        ;
    rocl_sync_read(&now);
    double ticks = (double)(now.ticks - rocl_set.loaded_ticks);
    return (uint64_t)(ticks * 1e9 / (double)(now.monotonic - rocl_set.loaded_ns));
}

uint64_t rocl_cap_now(void)
{
    return rocl_ticks();
}
