/* The texts of /proc and /sys. They come from the kernel, but names of processes and variables are
 * anybody's, and a file may be no such file at all. */
#include "capture/sample/sample.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A number without sign at *at, which moves behind it. */
static bool read_number(const char **at, uint64_t *v)
{
    const char *p = *at;
    uint64_t n = 0;
    if (*p < '0' || *p > '9')
        return false;
    for (; *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(n, 10, &n) ||
            __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n))
            return false;
    *at = p;
    *v = n;
    return true;
}

bool sample_parse_number(const char *text, int64_t *v)
{
    const bool negative = *text == '-';
    const char *at = text + negative;
    uint64_t n;
    if (!read_number(&at, &n) || n > INT64_MAX || (*at && *at != '\n'))
        return false;
    *v = negative ? -(int64_t)n : (int64_t)n;
    return true;
}

/* "PID (NAME) S PPID ...": the fields are counted from the last bracket. */
bool sample_parse_stat(const char *text, sample_stat *s)
{
    enum {
        STATE = 3,
        PPID,
        FLAGS = 9,
        MINFLT = 10,
        MAJFLT = 12,
        UTIME = 14,
        STIME,
        START = 22,
        ARGUMENTS = 48,
        KTHREAD = 0x00200000 /* PF_KTHREAD of include/linux/sched.h */
    };
    const char *at = strrchr(text, ')');
    const char *name = strchr(text, '(');
    uint64_t field[ARGUMENTS + 1] = {0};
    if (!at || !name || name > at || at[1] != ' ' || !isalpha((unsigned char)at[2]))
        return false;
    size_t n = (size_t)(at - name) - 1;
    n = n < sizeof s->name ? n : sizeof s->name - 1;
    memcpy(s->name, name + 1, n);
    s->name[n] = '\0';
    s->state = at[2];
    at += 3;
    for (int i = PPID; i <= ARGUMENTS; i++) {
        if (*at != ' ' && i > START) /* old kernels tell no more */
            break;
        if (*at != ' ')
            return false;
        at += 1 + (at[1] == '-'); /* some may be negative; none of those that are read */
        if (!read_number(&at, &field[i]))
            return false;
    }
    s->ppid = (uint32_t)field[PPID];
    s->kernel = field[FLAGS] & KTHREAD;
    s->faults = field[MINFLT] + field[MAJFLT];
    s->user = field[UTIME];
    s->system = field[STIME];
    s->start = field[START];
    s->arguments = field[ARGUMENTS];
    return true;
}

bool sample_parse_statm(const char *text, uint64_t *virtual_pages, uint64_t *resident_pages)
{
    const char *at = text;
    return read_number(&at, virtual_pages) && *at++ == ' ' && read_number(&at, resident_pages);
}

bool sample_parse_field(const char *text, const char *key, uint64_t *v)
{
    const size_t n = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, n) != 0 || (line[n] != ':' && line[n] != ' '))
            continue;
        const char *at = line + n;
        at += *at == ':';
        at += strspn(at, " \t");
        return read_number(&at, v);
    }
    return false;
}

bool sample_parse_cpuinfo(const char **at, double *mhz)
{
    static const char key[] = "cpu MHz";
    for (const char *p = *at; (p = strstr(p, key)); p++) {
        const char *value = p + sizeof key - 1;
        uint64_t whole, digits = 0;
        if (p != *at && p[-1] != '\n')
            continue;
        value += strspn(value, " \t");
        if (*value++ != ':')
            continue;
        value += strspn(value, " \t");
        if (!read_number(&value, &whole))
            continue;
        double scale = 1;
        if (*value == '.')
            for (value++; *value >= '0' && *value <= '9'; value++) {
                digits = scale < 1e9 ? digits * 10 + (uint64_t)(*value - '0') : digits;
                scale = scale < 1e9 ? scale * 10 : scale;
            }
        *mhz = (double)whole + (double)digits / scale;
        *at = value;
        return true;
    }
    return false;
}

bool sample_has_variable(const char *environment, size_t len, const char *variable)
{
    for (const char *p = environment, *end = p + len; p < end; p += strlen(p) + 1)
        if (!strcmp(p, variable))
            return true;
    return false;
}
