/* The calls that can be made fail; by these names FAULT_CALL knows them. Related functions of the C
 * library count as one call. */
#ifndef TESTS_PRELOAD_FAULTS_H
#define TESTS_PRELOAD_FAULTS_H

#include <stdint.h>

enum {
    FAULT_OPEN,
    FAULT_READ,
    FAULT_PREAD,
    FAULT_WRITE,
    FAULT_PWRITE,
    FAULT_COPY,
    FAULT_CLOSE,
    FAULT_RENAME,
    FAULT_LINK,
    FAULT_UNLINK,
    FAULT_MKDIR,
    FAULT_STAT,
    FAULT_READDIR,
    FAULT_MMAP,
    FAULT_SEEK,
    FAULT_FTRUNCATE,
    FAULT_FSYNC,
    FAULT_THREAD,
    FAULT_MALLOC,
    FAULT_CALLS
};

static const char *const fault_calls[FAULT_CALLS] = {
    [FAULT_OPEN] = "open",
    [FAULT_READ] = "read",
    [FAULT_PREAD] = "pread",
    [FAULT_WRITE] = "write",
    [FAULT_PWRITE] = "pwrite",
    [FAULT_COPY] = "copy",
    [FAULT_CLOSE] = "close",
    [FAULT_RENAME] = "rename",
    [FAULT_LINK] = "link",
    [FAULT_UNLINK] = "unlink",
    [FAULT_MKDIR] = "mkdir",
    [FAULT_STAT] = "stat",
    [FAULT_READDIR] = "readdir",
    [FAULT_MMAP] = "mmap",
    [FAULT_SEEK] = "lseek",
    [FAULT_FTRUNCATE] = "ftruncate",
    [FAULT_FSYNC] = "fsync",
    [FAULT_THREAD] = "pthread_create",
    [FAULT_MALLOC] = "malloc",
};

/* A call and the functions that it was reached through: what FAULT_SITES collects, a table of
 * FAULT_SITES that is open to the hash. Entries without a hash are free. */
typedef struct fault_site {
    _Atomic uint64_t hash, call, first, last; /* the numbers of its calls, as FAULT_AT has them */
} fault_site;

enum { FAULT_SITES = 1 << 15 };

#endif
