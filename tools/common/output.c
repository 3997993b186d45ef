/* Where outputs go: names and folders, inputs that are refused, and what there is to say of
 * success. */
#include "common/output.h"

#include "common/answer.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

const char *get_variable(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value && *value ? value : otherwise;
}

int name_too_long(void)
{
    return usage_error("the name of the output is too long");
}

rocl_status output_make_folder(const char *path)
{
    if (common_is_other_rank())
        return ROCL_OK;
    rocl_error *err = must_have(rocl_error_new());
    rocl_status s = rocl_make_dirs(path, err);
    if (s != ROCL_OK)
        msg_error("%s", rocl_error_text(err));
    rocl_error_free(err);
    return s;
}

rocl_status output_make_parent(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash || slash == path)
        return ROCL_OK;
    char *folder = must_have(strndup(path, (size_t)(slash - path)));
    rocl_status s = output_make_folder(folder);
    free(folder);
    return s;
}

/* The name below the folder; an absolute one as it is. NULL, and said: it is too long. */
static char *join_path(const char *folder, const char *name, const char *suffix, char *path,
                       size_t size)
{
    bool below = *folder && *name != '/';
    int n = snprintf(path, size, "%s%s%s%s", below ? folder : "", below ? "/" : "", name, suffix);
    return n >= 0 && (size_t)n < size ? path : (name_too_long(), NULL);
}

/* The folder of a file that is named as such: the current one unless a folder was named. */
static const char *folder_of_file(const common *c)
{
    return c->output_path || *get_variable("ROCPD_OUTPUT_PATH", "") ? output_folder(c) : "";
}

output_target output_look(const common *c, char *path, size_t size)
{
    struct stat st;
    if (!c->output_file || !join_path(folder_of_file(c), c->output_file, "", path, size) ||
        stat(path, &st) != 0 || S_ISDIR(st.st_mode))
        return OUTPUT_NEW;
    return S_ISREG(st.st_mode) ? OUTPUT_FILE : OUTPUT_DEVICE;
}

int output_files(const common *c, bool file, const char *suffix, char *path, size_t size)
{
    const char *folder = file ? folder_of_file(c) : output_folder(c);
    return join_path(folder, output_name(c), file ? "" : suffix, path, size) ? -1 : ROCL_USAGE;
}

int output_place(const common *c, bool file, const char *suffix, char *path, size_t size)
{
    bool is_there = output_look(c, path, size) != OUTPUT_NEW;
    return output_files(c, file || is_there, suffix, path, size);
}

int output_split(const common *c, char *name, const char **folder, const char **prefix)
{
    static char path[8192];
    char *slash = strrchr(name, '/');
    *folder = output_folder(c);
    *prefix = slash ? slash + 1 : name;
    if (!slash)
        return -1;
    const bool below = slash != name && name[0] != '/';
    const int n = snprintf(path, sizeof path, "%s%s%.*s", below ? *folder : "", below ? "/" : "",
                           slash == name ? 1 : (int)(slash - name), name);
    *folder = path;
    return n >= 0 && (size_t)n < sizeof path ? -1 : name_too_long();
}

const char *output_form(const char *path)
{
    static char form[16];
    const size_t n = strlen(path) - (ends_with(path, ".gz") ? 3 : 0);
    size_t dot = n;
    while (dot && path[dot - 1] != '.' && path[dot - 1] != '/')
        dot--;
    if (!dot || path[dot - 1] != '.')
        return NULL;
    snprintf(form, sizeof form, "%.*s", (int)(n - dot), path + dot);
    return strcmp(form, "txt") ? form : "text";
}

bool same_file(const char *a, const char *b)
{
    struct stat s, t;
    if (stat(a, &s) != 0 || stat(b, &t) != 0)
        return false;
    return S_ISREG(s.st_mode) && s.st_dev == t.st_dev && s.st_ino == t.st_ino;
}

unsigned output_width(const common *c)
{
    struct winsize size;
    const bool on_terminal = c->to_stdout && isatty(STDOUT_FILENO);
    return on_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int output_check(const common *c, const char *path)
{
    for (size_t i = 0; path && strcmp(path, "-") != 0 && i < c->inputs.n; i++)
        if (same_file(c->inputs.v[i], path))
            return usage_error("%s is an input: name another output", c->inputs.v[i]);
    return -1;
}

int compression_level(int z)
{
    enum { FAST = 10, SMALL }; /* the words of COMPRESS_OPTION */
    return z < 0        ? 0
           : z == 0     ? ROCL_UNCOMPRESSED
           : z == FAST  ? ROCL_FASTEST
           : z == SMALL ? ROCL_SMALLEST
                        : z;
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

static const char *const size_units[] = {" bytes", " kB", " MB", " GB", " TB", NULL};

void output_done(const char *path)
{
    char text[32];
    struct stat st;
    if (!path || stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return;
    msg_put_scaled(text, sizeof text, (double)st.st_size, size_units);
    msg_done("%s: %s", path, text);
    answer_add_output(path, 1, (uint64_t)st.st_size);
}

void output_files_done(const char *where, uint64_t files, const char *what, uint64_t bytes)
{
    char text[32];
    msg_put_scaled(text, sizeof text, (double)bytes, size_units);
    answer_add_output(where, files, bytes);
    msg_done("%s: %" PRIu64 " %s%s, %s", where, files, what, files == 1 ? "" : "s", text);
}

void output_report_moved(const rocl_written *r, const char *rows)
{
    if (r->moved)
        msg_verbose("%" PRIu64 " slices overlap without nesting: shown in %" PRIu64 " separate %s",
                    r->moved, r->lanes, rows);
}
