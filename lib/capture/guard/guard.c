/* Calls by which a program limits what it can do later. It is asked for nothing that it gives up:
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

/* The next function of that name, looked up once. */
static void *real_function(_Atomic(void *) *known, const char *name)
{
    void *f = atomic_load_explicit(known, memory_order_acquire);
    if (!f && (f = dlsym(RTLD_NEXT, name)))
        atomic_store_explicit(known, f, memory_order_release);
    return f;
}

#define REAL(name)                                                                                 \
    static _Atomic(void *) real_##name;                                                            \
    __typeof__(name) *next = (__typeof__(name) *)(uintptr_t)real_function(&real_##name, #name);    \
    if (!next) {                                                                                   \
        errno = ENOSYS;                                                                            \
        return -1;                                                                                 \
    }

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
    REAL(chroot)
    bool kept = rocl_cap_keep();
    return after_keeping(kept, next(path));
}

ROCL_CAP_API int setuid(uid_t id)
{
    REAL(setuid)
    bool kept = rocl_cap_keep();
    return after_keeping(kept, next(id));
}

ROCL_CAP_API int seteuid(uid_t id)
{
    REAL(seteuid)
    bool kept = rocl_cap_keep();
    return after_keeping(kept, next(id));
}

ROCL_CAP_API int setreuid(uid_t real, uid_t effective)
{
    REAL(setreuid)
    bool kept = rocl_cap_keep();
    return after_keeping(kept, next(real, effective));
}

ROCL_CAP_API int setresuid(uid_t real, uid_t effective, uid_t saved)
{
    REAL(setresuid)
    bool kept = rocl_cap_keep();
    return after_keeping(kept, next(real, effective, saved));
}

/* ---- filters of system calls ----------------------------------------------------------------- */

static bool sets_filter(long call, unsigned long first)
{
    return (call == SYS_prctl && first == PR_SET_SECCOMP) ||
           (call == SYS_seccomp &&
            (first == SECCOMP_SET_MODE_STRICT || first == SECCOMP_SET_MODE_FILTER));
}

ROCL_CAP_API int prctl(int option, ...)
{
    unsigned long a[4];
    va_list args;
    va_start(args, option);
    for (int i = 0; i < 4; i++)
        a[i] = va_arg(args, unsigned long);
    va_end(args);
    REAL(prctl)
    bool sealed = option == PR_SET_SECCOMP && rocl_cap_seal();
    int rc = next(option, a[0], a[1], a[2], a[3]);
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
    REAL(syscall)
    bool sealed = sets_filter(call, (unsigned long)a[0]) && rocl_cap_seal();
    long rc = next(call, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (sealed && rc < 0)
        rocl_cap_unseal();
    return rc;
}
