#include "common/output.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static const char *variable(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value && *value ? value : otherwise;
}

const char *output_name(const common *c)
{
    return c->output_file ? c->output_file : variable("ROCPD_OUTPUT_NAME", "out");
}

static int name_too_long(void)
{
    return usage_error("the name of the output is too long");
}

/* ---- placeholders ---------------------------------------------------------------------------- */

static const char *rank_of_job(void)
{
    static const char *const names[] = {"SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK",
                                        "PMIX_RANK", "FLUX_TASK_RANK"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (*variable(names[i], ""))
            return getenv(names[i]);
    return "0";
}

static const char *own_id(long id, char *room, size_t size)
{
    snprintf(room, size, "%ld", id);
    return room;
}

/* The text for "%key%"; NULL: not a placeholder of ours. */
static const char *placeholder(const char *key, size_t len, char *room, size_t size)
{
    char name[128];
    if (len >= sizeof name)
        return NULL;
    memcpy(name, key, len);
    name[len] = '\0';
    if (strcmp(name, "rank") == 0)
        return rank_of_job();
    if (strcmp(name, "job") == 0)
        return variable("SLURM_JOB_ID", "0");
    if (strcmp(name, "pid") == 0)
        return own_id(getpid(), room, size);
    if (strcmp(name, "hostname") == 0)
        return gethostname(room, size) == 0 ? room : "localhost";
    if (strncmp(name, "env{", 4) == 0 && name[len - 1] == '}') {
        name[len - 1] = '\0';
        return variable(name + 4, "");
    }
    return NULL;
}

/* Values are names, not paths, as AMD's are: no slash or blank, and no "..". */
static size_t put_safely(char *to, size_t size, const char *value)
{
    size_t n = 0;
    for (; value[n] && n < size; n++) {
        unsigned char c = (unsigned char)value[n];
        bool bad = c <= ' ' || c == 127 || c == '/' || (c == '.' && n == 0);
        to[n] = bad ? '_' : value[n];
    }
    return n;
}

const char *output_folder(const common *c)
{
    static char path[PATH_MAX];
    char room[256];
    const char *from =
        c->output_path ? c->output_path : variable("ROCPD_OUTPUT_PATH", "rocpd-output-data");
    size_t n = 0;
    while (*from && n < sizeof path) {
        const char *end = *from == '%' ? strchr(from + 1, '%') : NULL;
        const char *text =
            end ? placeholder(from + 1, (size_t)(end - from - 1), room, sizeof room) : NULL;
        if (text && !*text) {
            usage_error("--output-path: %.*s is empty or not set", (int)(end + 1 - from), from);
            return NULL;
        } else if (text) {
            n += put_safely(path + n, sizeof path - n, text);
            from = end + 1;
        } else {
            path[n++] = *from++;
        }
    }
    if (n >= sizeof path) {
        name_too_long();
        return NULL;
    }
    path[n] = '\0';
    return path;
}

rocl_status output_make_folder(const char *path)
{
    rocl_error *err = must_have(rocl_error_new());
    rocl_status s = rocl_make_dirs(path, err);
    if (s != ROCL_OK)
        msg_error("%s", rocl_error_text(err));
    rocl_error_free(err);
    return s;
}

rocl_status output_make_parent(char *path)
{
    char *slash = strrchr(path, '/');
    if (!slash || slash == path)
        return ROCL_OK;
    *slash = '\0';
    rocl_status s = output_make_folder(path);
    *slash = '/';
    return s;
}

/* The name below the folder; an absolute one as it is. NULL, and said: it is too long. */
static char *join(const char *folder, const char *name, const char *suffix, char *path, size_t size)
{
    bool below = *folder && *name != '/';
    int n = snprintf(path, size, "%s%s%s%s", below ? folder : "", below ? "/" : "", name, suffix);
    return n >= 0 && (size_t)n < size ? path : (name_too_long(), NULL);
}

/* Of a file that is named as such: the current one unless a folder was named. */
static const char *folder_of_file(const common *c)
{
    return c->output_path || *variable("ROCPD_OUTPUT_PATH", "") ? output_folder(c) : "";
}

output_target output_look(const common *c, char *path, size_t size)
{
    struct stat st;
    const char *folder = c->output_file ? folder_of_file(c) : NULL;
    if (!folder || !join(folder, c->output_file, "", path, size) || stat(path, &st) != 0 ||
        S_ISDIR(st.st_mode))
        return OUTPUT_NEW;
    return S_ISREG(st.st_mode) ? OUTPUT_FILE : OUTPUT_DEVICE;
}

int output_files(const common *c, bool file, const char *suffix, char *path, size_t size)
{
    const char *folder = file ? folder_of_file(c) : output_folder(c);
    bool good = folder && join(folder, output_name(c), file ? "" : suffix, path, size);
    return good ? -1 : ROCL_USAGE;
}

int output_place(const common *c, bool file, const char *suffix, char *path, size_t size)
{
    bool is_there = output_look(c, path, size) != OUTPUT_NEW;
    return output_files(c, file || is_there, suffix, path, size);
}

bool same_file(const char *a, const char *b)
{
    struct stat s, t;
    if (stat(a, &s) != 0 || stat(b, &t) != 0)
        return false;
    return S_ISREG(s.st_mode) && s.st_dev == t.st_dev && s.st_ino == t.st_ino;
}

int output_check(const common *c, const char *path)
{
    for (size_t i = 0; path && strcmp(path, "-") != 0 && i < c->inputs.n; i++)
        if (same_file(c->inputs.v[i], path))
            return usage_error("%s is an input: name another output", c->inputs.v[i]);
    return -1;
}

bool output_is_packed(bool gzip, int level, char *path, size_t size)
{
    struct stat st;
    bool named = ends_with(path, ".gz");
    bool packed = level < 0 ? gzip || named : level > 0;
    bool fixed = !strcmp(path, "-") || (stat(path, &st) == 0 && !S_ISREG(st.st_mode));
    size_t n = strlen(path);
    if (packed && !named && !fixed)
        snprintf(path + n, size - n, ".gz");
    else if (!packed && named && !fixed && n > 3 && path[n - 4] != '/')
        path[n - 3] = '\0';
    return packed;
}

/* ---- success --------------------------------------------------------------------------------- */

static void put_size(char *to, size_t size, uint64_t bytes)
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
    double n = (double)bytes;
    size_t u = 0;
    for (; n >= 999.5 && u + 1 < sizeof units / sizeof *units; u++)
        n /= 1000;
    snprintf(to, size, "%.*f %s", !u || n >= 99.95 ? 0 : n >= 9.995 ? 1 : 2, n, units[u]);
}

void output_done(const char *path)
{
    char text[32];
    struct stat st;
    if (!path || stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return;
    put_size(text, sizeof text, (uint64_t)st.st_size);
    msg_done("%s: %s", path, text);
}

void output_files_done(const char *where, uint64_t files, const char *what, uint64_t bytes)
{
    char text[32];
    put_size(text, sizeof text, bytes);
    msg_done("%s: %" PRIu64 " %s%s, %s", where, files, what, files == 1 ? "" : "s", text);
}
