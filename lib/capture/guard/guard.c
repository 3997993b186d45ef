/* Calls by which a program limits what it can do later. Afterwards nothing is used that it gave up:
 *
 *     chroot, setuid ...  the file will be out of reach by its name, so it stays open from now on
 *     prctl, seccomp      system calls may end the process, so there are none from now on
 *
 * Part of the core and of what programs link with: it has to come before the C library. */
#include <dlfcn.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/capture.h"

/* ---- the functions of the C library ---------------------------------------------------------- */

enum { CHROOT, SETUID, SETEUID, SETREUID, SETRESUID, PRCTL, SYSCALL, CALLS };
static const char *const names[CALLS] = {"chroot",    "setuid", "seteuid", "setreuid",
                                         "setresuid", "prctl",  "syscall"};
static _Atomic(void *) found[CALLS];

static void *find_real(int i)
{
    void *f = atomic_load_explicit(&found[i], memory_order_acquire);
    if (!f && (f = dlsym(RTLD_NEXT, names[i])))
        atomic_store_explicit(&found[i], f, memory_order_release);
    return f;
}

/* All at once: later may be in a signal handler, or in the child of a process with threads. */
__attribute__((constructor)) static void find_all(void)
{
    int saved = errno;
    for (int i = 0; i < CALLS; i++)
        find_real(i);
    errno = saved;
}

#define REAL(number, name)                                                                         \
    __typeof__(name) *next = (__typeof__(name) *)(uintptr_t)find_real(number);                     \
    if (!next) {                                                                                   \
        errno = ENOSYS;                                                                            \
        return -1;                                                                                 \
    }

/* Allocators make system calls before anything is loaded, and looking up a name may allocate. */
#if defined(__x86_64__)
static long ask_kernel(long call, const long a[6])
{
    register long fourth __asm__("r10") = a[3];
    register long fifth __asm__("r8") = a[4];
    register long sixth __asm__("r9") = a[5];
    long rc;
    __asm__ volatile("syscall"
                     : "=a"(rc)
                     : "a"(call), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(fourth), "r"(fifth),
                       "r"(sixth)
                     : "rcx", "r11", "memory");
    if (rc >= 0 || rc < -4095)
        return rc;
    errno = (int)-rc;
    return -1;
}
#else
static long ask_kernel(long call, const long a[6])
{
    REAL(SYSCALL, syscall)
    return next(call, a[0], a[1], a[2], a[3], a[4], a[5]);
}
#endif

/* ---- rights ---------------------------------------------------------------------------------- */

static int after_keeping(bool kept, int rc)
{
    int saved = errno;
    if (kept && rc != 0)
        rocl_cap_let_go();
    errno = saved;
    return rc;
}

ROCL_CAP_API int chroot(const char *path)
{
    REAL(CHROOT, chroot)
    bool kept = rocl_cap_keep();
    return after_keeping(kept, next(path));
}

ROCL_CAP_API int setuid(uid_t id)
{
    REAL(SETUID, setuid)
    bool kept = rocl_cap_keep();
    return after_keeping(kept, next(id));
}

ROCL_CAP_API int seteuid(uid_t id)
{
    REAL(SETEUID, seteuid)
    bool kept = rocl_cap_keep();
    return after_keeping(kept, next(id));
}

ROCL_CAP_API int setreuid(uid_t real, uid_t effective)
{
    REAL(SETREUID, setreuid)
    bool kept = rocl_cap_keep();
    return after_keeping(kept, next(real, effective));
}

ROCL_CAP_API int setresuid(uid_t real, uid_t effective, uid_t saved)
{
    REAL(SETRESUID, setresuid)
    bool kept = rocl_cap_keep();
    return after_keeping(kept, next(real, effective, saved));
}

/* ---- filters of system calls ----------------------------------------------------------------- */

/* Seals where the call is to set a filter; the strict mode takes the processor's clock away, too.
 * false: nothing to undo. */
static bool seal_for_filter(long call, unsigned long first, unsigned long second)
{
    if (call == SYS_prctl && first == PR_SET_SECCOMP)
        return rocl_cap_seal(second != SECCOMP_MODE_STRICT);
    if (call == SYS_seccomp &&
        (first == SECCOMP_SET_MODE_STRICT || first == SECCOMP_SET_MODE_FILTER))
        return rocl_cap_seal(first == SECCOMP_SET_MODE_FILTER);
    return false;
}

ROCL_CAP_API int prctl(int option, ...)
{
    long a[6] = {option};
    va_list args;
    va_start(args, option);
    for (int i = 1; i < 5; i++)
        a[i] = va_arg(args, long);
    va_end(args);
    bool sealed = seal_for_filter(SYS_prctl, (unsigned long)option, (unsigned long)a[1]);
    void *f = atomic_load_explicit(&found[PRCTL], memory_order_acquire);
    __typeof__(prctl) *next = (__typeof__(prctl) *)(uintptr_t)f;
    int rc = next ? next(option, a[1], a[2], a[3], a[4]) : (int)ask_kernel(SYS_prctl, a);
    if (sealed && rc < 0)
        rocl_cap_unseal();
    return rc;
}

ROCL_CAP_API long syscall(long call, ...)
{
    long a[6];
    va_list args;
    va_start(args, call);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(args, long);
    va_end(args);
    bool sealed = seal_for_filter(call, (unsigned long)a[0], (unsigned long)a[1]);
    void *f = atomic_load_explicit(&found[SYSCALL], memory_order_acquire);
    __typeof__(syscall) *next = (__typeof__(syscall) *)(uintptr_t)f;
    long rc = next ? next(call, a[0], a[1], a[2], a[3], a[4], a[5]) : ask_kernel(call, a);
    if (sealed && rc < 0)
        rocl_cap_unseal();
    return rc;
}
