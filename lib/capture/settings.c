/* What is known when the library is loaded: the environment, the folder, the node, the command. It
 * is read then because later the process may have changed its root, user or environment. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "capture/core.h"
#include "format/ranks.h"

rocl_settings rocl_set;
_Atomic bool rocl_paused, rocl_sealed;

static uint64_t read_number(const char *name, uint64_t otherwise, uint64_t max)
{
    const char *s = secure_getenv(name);
    char *end;
    if (!s || *s < '0' || *s > '9')
        return otherwise;
    unsigned long long n = strtoull(s, &end, 10);
    return *end ? otherwise : n > max ? max : n;
}

/* In MiB, or by the letter after it. */
static uint64_t parse_limit(const char *s, uint64_t otherwise)
{
    static const struct {
        const char *name;
        unsigned shift;
    } units[] = {{"", 20}, {"b", 0}, {"k", 10}, {"m", 20}, {"g", 30}};
    char *end;
    if (!s || *s < '0' || *s > '9')
        return otherwise;
    unsigned long long n = strtoull(s, &end, 10);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(end, units[i].name))
            return n > UINT64_MAX >> units[i].shift ? otherwise : n << units[i].shift;
    return otherwise;
}

static bool parse_session(const char *s)
{
    if (!s || strlen(s) != 32 || strspn(s, "0123456789abcdefABCDEF") != 32)
        return false;
    for (int i = 0; i < 16; i++) {
        unsigned byte = 0;
        sscanf(s + 2 * i, "%2x", &byte);
        rocl_set.session[i] = (uint8_t)byte;
    }
    return true;
}

/* Reads a small file; returns its length, without a line end behind it. */
static size_t read_small(const char *path, char *to, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, to, size);
    if (fd >= 0)
        close(fd);
    while (n > 0 && (to[n - 1] == '\n' || to[n - 1] == '\0'))
        n--;
    return n > 0 ? (size_t)n : 0;
}

static void describe_node(void)
{
    struct utsname u = {0};
    char machine_id[64], body[sizeof rocl_set.node - 16];
    uint8_t *p = (uint8_t *)body;
    size_t n = read_small("/etc/machine-id", machine_id, sizeof machine_id);
    uname(&u);
    p = rocl_put_string(p, machine_id, n);
    const char *texts[] = {u.nodename, u.sysname, u.release, u.version, u.machine};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        p = rocl_put_string(p, texts[i], strlen(texts[i]));
    n = (size_t)(p - (uint8_t *)body);
    p = rocl_put_record(rocl_set.node, ROCL_REC_NODE, body, n);
    rocl_set.node_len = (size_t)(p - rocl_set.node);
    snprintf(rocl_set.host, sizeof rocl_set.host, "%.64s", *u.nodename ? u.nodename : "host");
    for (char *c = rocl_set.host; *c; c++)
        *c = *c == '/' ? '_' : *c;
}

__attribute__((constructor)) void rocl_read_settings(void)
{
    int saved = errno, cancel = rocl_keep_thread();
    const char *clock = secure_getenv("ROCLINE_CLOCK"), *output = secure_getenv("ROCLINE_OUTPUT");
    struct stat s;
    rocl_set.folder_fd = -1;
    /* No descriptor is kept: device and inode recognise the folder later. */
    rocl_set.on = output && realpath(output, rocl_set.folder) && stat(rocl_set.folder, &s) == 0 &&
                  S_ISDIR(s.st_mode);
    if (rocl_set.on) {
        rocl_set.folder_dev = s.st_dev;
        rocl_set.folder_ino = s.st_ino;
        rocl_set.tsc = !(clock && !strcmp(clock, "monotonic")) && rocl_tsc_is_good();
        rocl_set.loaded_ns = rocl_ns(CLOCK_MONOTONIC);
        rocl_set.loaded_ticks = rocl_ticks();
        if (!parse_session(secure_getenv("ROCLINE_SESSION")) &&
            getrandom(rocl_set.session, sizeof rocl_set.session, GRND_NONBLOCK) < 0)
            memcpy(rocl_set.session, &rocl_set.loaded_ns, sizeof rocl_set.loaded_ns);
        long page = sysconf(_SC_PAGESIZE);
        rocl_set.page = page > 0 ? (size_t)page : 4096;
        const char *policy = secure_getenv("ROCLINE_POLICY");
        rocl_set.policy = policy && !strcmp(policy, "block")  ? ROCL_BLOCK
                          : policy && !strcmp(policy, "ring") ? ROCL_RING
                                                              : ROCL_DROP;
        uint64_t otherwise = rocl_set.policy == ROCL_RING ? 64 << 20 : 0;
        rocl_set.limit = parse_limit(secure_getenv("ROCLINE_LIMIT"), otherwise);
        if (!rocl_set.limit)
            rocl_set.limit = otherwise;
        rocl_set.chunk = (size_t)read_number("ROCLINE_CHUNK", 1024, 512 << 10) << 10;
        if (rocl_set.chunk < ROCL_FIRST)
            rocl_set.chunk = ROCL_FIRST;
        char *c = rocl_set.command;
        size_t n = read_small("/proc/self/cmdline", c, sizeof rocl_set.command - 1);
        if (!n)
            n = (size_t)snprintf(c, sizeof rocl_set.command, "%.255s", program_invocation_name);
        for (size_t i = 0; i < n; i++)
            c[i] = c[i] ? c[i] : ' ';
        rocl_set.command_len = n;
        describe_node();
        rocl_set.rank = 0;
        for (size_t i = 0; !rocl_set.rank && i < ROCL_RANK_VARIABLES; i++)
            rocl_set.rank =
                (uint32_t)(read_number(rocl_rank_variables[i], UINT64_MAX, INT32_MAX) + 1);
        rocl_core_prepare();
    }
    rocl_release_thread(cancel);
    errno = saved;
}

bool rocl_cap_on(void)
{
    return rocl_set.on;
}
