#include "source/inputs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/spool.h"
#include "base/view.h"
#include "format/chunk.h"
#include "source/formats.h"
#include "source/index_yaml.h"
#include "source/rocprof/csv.h"

/* An index has a line per file; this allows a million of them, but not a disk image by mistake. */
#define INDEX_SIZE_MAX ((size_t)256 << 20)

/* Identifies the file of a path. */
typedef struct identity {
    uint64_t device, inode;
    size_t index; /* in paths */
    size_t first; /* index of the first that is the same */
    size_t kept;  /* index among those that stay */
} identity;

typedef struct walk {
    rocl_inputs *in;
    rocl_guard *guard;   /* or NULL */
    bool databases_only; /* of directories */
    identity *ids;       /* as many as paths */
    size_t path_cap, file_cap, id_cap;
    rocl_error *err;
} walk;

static bool is_missing(int e)
{
    return e == ENOENT || e == ENOTDIR;
}

static rocl_status fail_access(walk *w, const char *path, const char *what)
{
    int e = errno;
    if (e == ENOMEM || is_missing(e))
        return rocl_fail_system(w->err, ROCL_INPUT, path, e);
    return rocl_fail(w->err, ROCL_INPUT, "%s: cannot %s: %s", path, what, strerror(e));
}

/* False: memory is out. */
static bool guard_file(walk *w, const char *path, const struct stat *file)
{
    return !w->guard || !S_ISREG(file->st_mode) ||
           rocl_guard_add(w->guard, path, file->st_dev, file->st_ino);
}

/* Counts a path, and keeps the first one. False: memory is out. */
static bool note_first(size_t *count, char **name, const char *path)
{
    return (*count)++ || (*name = strdup(path));
}

/* ---- lists of paths -------------------------------------------------------------------------- */

/* file NULL: standard input. */
static rocl_status add_path(walk *w, const char *path, const struct stat *file)
{
    rocl_inputs *in = w->in;
    if (!ROCL_GROW(in->paths, w->path_cap, in->count + 1) ||
        !ROCL_GROW(in->files, w->file_cap, in->count + 1) ||
        !ROCL_GROW(w->ids, w->id_cap, in->count + 1) || !w->ids)
        return rocl_fail_memory(w->err);
    rocl_input_file *f = &in->files[in->count];
    *f = (rocl_input_file){.device = UINT64_MAX, .inode = UINT64_MAX};
    if (file)
        *f = (rocl_input_file){.device = file->st_dev,
                               .inode = file->st_ino,
                               .bytes = S_ISREG(file->st_mode) ? (uint64_t)file->st_size : 0,
                               .modified = file->st_mtim.tv_sec,
                               .modified_ns = file->st_mtim.tv_nsec};
    w->ids[in->count] = (identity){.device = f->device, .inode = f->inode, .index = in->count};
    in->paths[in->count] = strdup(path);
    if (!in->paths[in->count])
        return rocl_fail_memory(w->err);
    in->count++;
    if (file && !guard_file(w, path, file))
        return rocl_fail_memory(w->err);
    return ROCL_OK;
}

/* dir/name; just name when dir is "" or name is absolute. NULL when memory is out. */
static char *join_path(const char *dir, const char *name)
{
    rocl_buf b = {0};
    size_t len = strlen(dir);
    if (len && *name != '/') {
        rocl_buf_str(&b, dir);
        if (dir[len - 1] != '/')
            rocl_buf_byte(&b, '/');
    }
    rocl_buf_str(&b, name);
    rocl_buf_byte(&b, 0);
    if (b.failed)
        rocl_buf_free(&b);
    return (char *)b.data;
}

static bool ends_in(const char *path, const char *suffix)
{
    size_t len = strlen(path), n = strlen(suffix);
    return len >= n && strcasecmp(path + len - n, suffix) == 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The first bytes of the file; -1 with errno: it cannot be read. */
static ssize_t read_head(const char *path, char *head, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = rocl_read_at(fd, head, size, 0);
    int why = errno;
    close(fd);
    errno = why;
    return n;
}

/* Does the file begin like a format that is taken from folders? A file without permission to read
 * does not; one that could not be read for other reasons may. */
static rocl_status begins_as_trace(walk *w, const char *path, bool *begins)
{
    char head[16];
    ssize_t n = read_head(path, head, sizeof head);
    const rocl_format *f = n > 0 ? rocl_format_of(head, (size_t)n, false) : NULL;
    *begins = f && f->flags & ROCL_FORMAT_IN_FOLDERS;
    return n < 0 && errno != EACCES && errno != EPERM ? fail_access(w, path, "read") : ROCL_OK;
}

/* Names of traces in a directory; for compressed files only the name decides. */
static bool has_trace_name(const char *path)
{
    static const char *const names[] = {".db",     ".rocl",    ".db.gz",
                                        ".db.zst", ".rocl.gz", ".rocl.zst"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (ends_in(path, names[i]))
            return true;
    return false;
}

/* The file of a process that was killed before its first chunk: it has room for that. */
static bool is_blank(const char *path)
{
    static const char zeros[8];
    char all[32768];
    ssize_t n = ends_in(path, ".rocl") ? read_head(path, all, sizeof all) : -1;
    if (n < 8 || n == (ssize_t)sizeof all)
        return n == 0;
    bool begun = !memcmp(all, zeros, 8) || !memcmp(all, ROCL_CHUNK_BEGUN, 8);
    return begun && !memmem(all, (size_t)n, ROCL_CHUNK_MAGIC, 8);
}

/* ---- globs ----------------------------------------------------------------------------------- */

rocl_status rocl_fail_unsearched(const rocl_inputs *in, rocl_error *err)
{
    return rocl_fail(err, ROCL_INPUT, "%s: cannot search: %s", in->unsearched_name,
                     strerror(EACCES));
}

/* The context of functions that glob() calls, which get none. */
static _Thread_local struct {
    walk *walk;
    char failed[PATH_MAX];
} globbing;

/* Missing folders hold nothing; in others something may be missed. */
static int is_failure(const char *folder, int why)
{
    rocl_inputs *in = globbing.walk->in;
    if (why == EACCES && note_first(&in->unsearched, &in->unsearched_name, folder))
        return 0;
    snprintf(globbing.failed, sizeof globbing.failed, "%s", folder);
    errno = why == EACCES ? ENOMEM : why;
    return !is_missing(why);
}

/* glob() reports a name without wildcards as missing if its folder may not be searched: so the
 * folders in the pattern after a wildcard and before a plain name are checked here. */
static rocl_status check_folders(walk *w, const char *pattern)
{
    rocl_status st = ROCL_OK;
    const char *wild = strpbrk(pattern, "*?[");
    for (const char *p = wild ? strchr(wild, '/') : NULL; p && st == ROCL_OK;
         p = strchr(p + 1, '/')) {
        const size_t name = strcspn(p + 1, "/");
        const char *next = strpbrk(p + 1, "*?[");
        if (!name || (next && next < p + 1 + name))
            continue;
        glob_t g;
        char *prefix = strndup(pattern, (size_t)(p - pattern));
        if (!prefix)
            return rocl_fail_memory(w->err);
        const int rc = glob(prefix, GLOB_NOSORT | GLOB_ONLYDIR, NULL, &g);
        bool ok = rc != GLOB_NOSPACE;
        for (size_t i = 0; rc == 0 && i < g.gl_pathc && ok; i++) {
            struct stat s;
            if (faccessat(AT_FDCWD, g.gl_pathv[i], X_OK, AT_EACCESS) != 0 && errno == EACCES &&
                stat(g.gl_pathv[i], &s) == 0 && S_ISDIR(s.st_mode))
                ok = note_first(&w->in->unsearched, &w->in->unsearched_name, g.gl_pathv[i]);
        }
        if (rc == 0)
            globfree(&g);
        free(prefix);
        st = ok ? ROCL_OK : rocl_fail_memory(w->err);
    }
    return st;
}

typedef rocl_status path_fn(walk *w, const char *path);

/* Sorts itself, as glob() sorts by locale. *matched false: nothing was added. */
static rocl_status add_glob(walk *w, const char *pattern, path_fn *add, bool *matched)
{
    glob_t g;
    const size_t before = w->in->unsearched;
    globbing.walk = w;
    int rc = glob(pattern, GLOB_NOSORT, is_failure, &g);
    *matched = rc == 0;
    if (rc != 0 && rc != GLOB_NOMATCH)
        return rc == GLOB_NOSPACE ? rocl_fail_memory(w->err)
                                  : fail_access(w, globbing.failed, "search");
    rocl_status st = check_folders(w, pattern);
    if (st == ROCL_OK && rc == GLOB_NOMATCH && w->in->unsearched > before)
        st = rocl_fail_unsearched(w->in, w->err);
    if (rc == GLOB_NOMATCH)
        return st;
    qsort(g.gl_pathv, g.gl_pathc, sizeof *g.gl_pathv, compare_names);
    for (size_t i = 0; i < g.gl_pathc && st == ROCL_OK; i++)
        st = add(w, g.gl_pathv[i]);
    globfree(&g);
    return st;
}

/* ---- index.yaml ------------------------------------------------------------------------------ */

/* A pipe or device that the user names is read. One that a pattern or an index matches is an
 * accident or a trap, which may block forever. */
static rocl_status refuse_streams(walk *w, const char *path, mode_t mode)
{
    return S_ISREG(mode) || S_ISDIR(mode)
               ? ROCL_OK
               : rocl_fail(w->err, ROCL_INPUT,
                           "%s: not a regular file: a pipe is read when it is named itself", path);
}

/* Adds a file, and only a file: an index within an index could go round in circles. */
static rocl_status add_listed(walk *w, const char *path)
{
    struct stat s;
    if (stat(path, &s) != 0)
        return fail_access(w, path, "open");
    if (S_ISDIR(s.st_mode))
        return rocl_fail_system(w->err, ROCL_INPUT, path, EISDIR);
    rocl_status st = refuse_streams(w, path, s.st_mode);
    return st == ROCL_OK ? add_path(w, path, &s) : st;
}

/* A literal name if there is such a file, else a glob. *found false: neither. */
static rocl_status try_listed(walk *w, const char *dir, const char *name, bool *found)
{
    struct stat s;
    char *path = join_path(dir, name);
    if (!path)
        return rocl_fail_memory(w->err);
    rocl_status st = ROCL_OK;
    *found = stat(path, &s) == 0;
    if (*found || !is_missing(errno))
        st = add_listed(w, path);
    else if (strpbrk(path, "*?["))
        st = add_glob(w, path, add_listed, found);
    free(path);
    return st;
}

static rocl_status read_whole(walk *w, const char *path, rocl_buf *b)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail_access(w, path, "open");
    struct stat s;
    rocl_status st = ROCL_OK;
    if (fstat(fd, &s) == 0 && s.st_size > (off_t)INDEX_SIZE_MAX)
        st = rocl_fail(w->err, ROCL_INPUT, "%s: too large for an index", path);
    else if (!guard_file(w, path, &s))
        st = rocl_fail_memory(w->err);
    for (ssize_t n = 1; n > 0 && st == ROCL_OK;) {
        if (!rocl_buf_reserve(b, 65536)) {
            st = rocl_fail_memory(w->err);
            break;
        }
        n = rocl_read_at(fd, b->data + b->len, 65536, b->len);
        if (n < 0)
            st = fail_access(w, path, "read");
        else
            b->len += (size_t)n;
        if (b->len > INDEX_SIZE_MAX)
            st = rocl_fail(w->err, ROCL_INPUT, "%s: too large for an index", path);
    }
    close(fd);
    return st;
}

static rocl_status add_index(walk *w, const char *path)
{
    rocl_buf text = {0};
    rocl_index x = {0};
    const char *slash = strrchr(path, '/');
    char *dir = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup("");
    rocl_status st = dir ? read_whole(w, path, &text) : rocl_fail_memory(w->err);
    if (st == ROCL_OK) {
        st = rocl_index_parse(&x, (const char *)text.data, text.len, w->err);
        if (st != ROCL_OK)
            rocl_wrap(w->err, "%s", path);
    }
    for (size_t i = 0; i < x.count && st == ROCL_OK; i++) {
        /* AMD's reader uses the folder of the index and ignores its `path`, so that a package can
         * be moved; a hand-written `path` is used only if the folder has no such file. */
        const char *name = x.files[i].name;
        bool found = false;
        st = try_listed(w, dir, name, &found);
        if (st == ROCL_OK && !found && x.path && *name != '/') {
            char *other = join_path(dir, x.path);
            st = other ? try_listed(w, other, name, &found) : rocl_fail_memory(w->err);
            free(other);
        }
        if (st == ROCL_OK && !found)
            st = rocl_fail_system(w->err, ROCL_INPUT, name, ENOENT);
        if (st != ROCL_OK)
            rocl_wrap(w->err, "%s: line %lu", path, x.files[i].line);
    }
    rocl_index_free(&x);
    rocl_buf_free(&text);
    free(dir);
    return st;
}

/* ---- directories ----------------------------------------------------------------------------- */

/* A *.db that is not a database is added, so that the source reports it: a file cut by a full disk
 * must not vanish silently. */
static rocl_status add_if_database(walk *w, const char *path)
{
    struct stat s;
    bool wanted = has_trace_name(path);
    if (stat(path, &s) != 0)
        return wanted || !is_missing(errno) ? fail_access(w, path, "open") : ROCL_OK;
    if (!S_ISREG(s.st_mode))
        return ROCL_OK;
    rocl_status st = wanted ? ROCL_OK : begins_as_trace(w, path, &wanted);
    if (st != ROCL_OK || !wanted)
        return st;
    if (!is_blank(path))
        return add_path(w, path, &s);
    return note_first(&w->in->blank, &w->in->blank_name, path) ? ROCL_OK : rocl_fail_memory(w->err);
}

/* A file of a directory that is not read, such as statistics of rocprof beside its traces. */
static rocl_status note_unneeded(walk *w, const char *path)
{
    rocl_inputs *in = w->in;
    const char *before = in->unneeded ? in->unneeded_names : "";
    char *names = NULL;
    if (in->unneeded++ >= ROCL_UNNEEDED_NAMED)
        return ROCL_OK;
    if (asprintf(&names, "%s%s%s", before, *before ? ", " : "", path) < 0)
        return rocl_fail_memory(w->err);
    free(in->unsearched_name);
    free(in->unneeded_names);
    in->unneeded_names = names;
    return ROCL_OK;
}

typedef struct name_list {
    char **names;
    size_t count, cap;
} name_list;

/* Finds t.db for t.db.gz among the paths taken from the same directory, which begin at `first`:
 * with both, processes would be read twice. A t.db that was not taken (a folder, a recording
 * without a chunk) does not count, or nothing would be read. The paths are sorted, and a name sorts
 * before all names that begin with it. */
static rocl_status find_uncompressed(walk *w, size_t first, const char *path, bool *found)
{
    *found = false;
    if (w->in->count == first || !has_trace_name(path) ||
        !(ends_in(path, ".gz") || ends_in(path, ".zst")))
        return ROCL_OK;
    char *key = strndup(path, (size_t)(strrchr(path, '.') - path));
    if (!key)
        return rocl_fail_memory(w->err);
    *found = bsearch(&key, w->in->paths + first, w->in->count - first, sizeof key, compare_names);
    free(key);
    return ROCL_OK;
}

/* ---- directories without databases ----------------------------------------------------------- */

/* A file of a run of rocprof. */
typedef struct run_file {
    char *path;
    unsigned kind; /* one of ROCL_FORMAT_RUN_FILES; lower ones are more complete */
    bool raw;      /* a text with rocprof's name: all that it wrote there */
    char *run;     /* the piece of its name that the files of its run share */
    struct stat file;
} run_file;

typedef struct run_files {
    run_file *all;
    size_t count, cap;
} run_files;

static bool take_off(rocl_view *name, const char *tail)
{
    const size_t n = strlen(tail);
    if (name->n < n || memcmp(name->p + name->n - n, tail, n) != 0)
        return false;
    name->n -= n;
    return true;
}

/* The name of the run in the name of a file: "run" of run_kernel_trace.csv, run_results.json,
 * hip_api_trace_run.csv and run_4242_output.json. */
static char *name_run(const char *path)
{
    const char *slash = strrchr(path, '/'), *p = slash ? slash + 1 : path;
    rocl_view name = {p, strlen(p)}, run;
    bool kind_first;
    if (!take_off(&name, ".gz"))
        take_off(&name, ".zst");
    const char *dot = name.n ? memrchr(name.p, '.', name.n) : NULL;
    name.n = dot ? (size_t)(dot - name.p) : name.n;
    if (take_off(&name, "_output")) {
        size_t n = name.n;
        while (n && name.p[n - 1] >= '0' && name.p[n - 1] <= '9')
            n--;
        name.n = n > 1 && name.p[n - 1] == '_' ? n - 1 : name.n;
        return strndup(name.p, name.n);
    }
    if (rocprof_csv_run(name, &run, &kind_first))
        name = run;
    else
        kind_first = !take_off(&name, "results");
    name.n -= !kind_first && name.n && name.p[name.n - 1] == '_';
    return strndup(name.p, name.n);
}

/* Adds a file to the list if it is a file of a run. */
static rocl_status add_if_run_file(walk *w, const char *path, run_files *files)
{
    struct stat s;
    rocl_spool *spool;
    size_t n;
    bool whole;
    if (stat(path, &s) != 0 || !S_ISREG(s.st_mode) || access(path, R_OK) != 0)
        return ROCL_OK;
    rocl_status st = rocl_spool_open(&spool, path, w->err);
    if (st != ROCL_OK)
        return st;
    const char *head = rocl_spool_head(spool, &n, &whole);
    const rocl_format *f = rocl_format_of(head, n, whole);
    rocl_spool_close(spool);
    if (!f || !(f->flags & ROCL_FORMAT_RUN_FILES))
        return note_unneeded(w, path);
    if (!ROCL_GROW(files->all, files->cap, files->count + 1))
        return rocl_fail_memory(w->err);
    files->all[files->count++] =
        (run_file){.path = strdup(path),
                   .kind = f->flags & ROCL_FORMAT_RUN_FILES,
                   .raw = f->flags & ROCL_FORMAT_V1_TEXT && f->ops->same_run(path, path),
                   .run = name_run(path),
                   .file = s};
    const run_file *file = &files->all[files->count - 1];
    return file->path && file->run ? ROCL_OK : rocl_fail_memory(w->err);
}

/* By run, the most complete first; then by name. */
static int compare_run_files(const void *a, const void *b)
{
    const run_file *x = a, *y = b;
    const int c = strcmp(x->run, y->run);
    return c ? c : x->kind != y->kind ? (x->kind < y->kind ? -1 : 1) : strcmp(x->path, y->path);
}

static rocl_status add_runs(walk *w, const char *dir, const name_list *l)
{
    run_files files = {0};
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < l->count && st == ROCL_OK; i++) {
        char *path = join_path(dir, l->names[i]);
        st = path ? add_if_run_file(w, path, &files) : rocl_fail_memory(w->err);
        free(path);
    }
    rocl_inputs *in = w->in;
    const run_file *best = NULL, *text = NULL; /* of the run, of the folder */
    if (files.count)
        qsort(files.all, files.count, sizeof *files.all, compare_run_files);
    for (size_t i = 0; i < files.count && !text; i++)
        text = files.all[i].raw ? &files.all[i] : NULL;
    for (size_t i = 0; i < files.count && st == ROCL_OK; i++) {
        const run_file *f = &files.all[i], *more = NULL;
        if (!best || strcmp(best->run, f->run) != 0)
            best = f;
        if (best->kind < f->kind && f->kind != ROCL_FORMAT_V1_TEXT)
            more = best;
        else if (text && f->kind > ROCL_FORMAT_V1_TEXT)
            more = text;
        size_t length = strlen(f->path), same = i;
        if (ends_in(f->path, ".gz") || ends_in(f->path, ".zst"))
            length = (size_t)(strrchr(f->path, '.') - f->path);
        while (same > 0 && (strncmp(files.all[same - 1].path, f->path, length) != 0 ||
                            files.all[same - 1].path[length]))
            same--;
        if (more) {
            if (in->less++ == 0 &&
                (!(in->less_name = strdup(f->path)) || !(in->more_name = strdup(more->path))))
                st = rocl_fail_memory(w->err);
        } else if (same && length < strlen(f->path)) {
            if (!note_first(&in->copies, &in->copy_name, f->path))
                st = rocl_fail_memory(w->err);
        } else {
            st = add_path(w, f->path, &f->file);
        }
    }
    for (size_t i = 0; i < files.count; i++) {
        free(files.all[i].path);
        free(files.all[i].run);
    }
    free(files.all);
    return st;
}

/* Files beside the databases and recordings of a directory: the paths of those begin at `first`, in
 * the order of the names. */
static rocl_status note_others(walk *w, const char *dir, const name_list *l, size_t first)
{
    size_t next = first;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < l->count && st == ROCL_OK; i++) {
        char *path = join_path(dir, l->names[i]);
        struct stat s;
        bool is_copy = false;
        if (path && next < w->in->count && !strcmp(w->in->paths[next], path))
            next++;
        else if (path && (st = find_uncompressed(w, first, path, &is_copy)) == ROCL_OK &&
                 !is_copy && stat(path, &s) == 0 && S_ISREG(s.st_mode) && !is_blank(path) &&
                 !ends_in(path, "-wal") && !ends_in(path, "-shm") && !ends_in(path, "-journal"))
            st = note_unneeded(w, path);
        st = path ? st : rocl_fail_memory(w->err);
        free(path);
    }
    return st;
}

static rocl_status add_databases(walk *w, const char *dir)
{
    name_list l = {0};
    size_t before = w->in->count;
    DIR *d = opendir(dir);
    if (!d)
        return fail_access(w, dir, "open");
    rocl_status st = ROCL_OK;
    errno = 0;
    for (struct dirent *e; st == ROCL_OK && (e = readdir(d)); errno = 0) {
        if (e->d_name[0] == '.')
            continue;
        if (ROCL_GROW(l.names, l.cap, l.count + 1) && (l.names[l.count] = strdup(e->d_name)))
            l.count++;
        else
            st = rocl_fail_memory(w->err);
    }
    if (st == ROCL_OK && errno)
        st = fail_access(w, dir, "read");
    closedir(d);
    if (l.count)
        qsort(l.names, l.count, sizeof *l.names, compare_names);
    for (size_t i = 0; i < l.count && st == ROCL_OK; i++) {
        char *path = join_path(dir, l.names[i]);
        bool is_copy = false;
        st = path ? find_uncompressed(w, before, path, &is_copy) : rocl_fail_memory(w->err);
        if (st == ROCL_OK && !is_copy)
            st = add_if_database(w, path);
        else if (st == ROCL_OK && !note_first(&w->in->copies, &w->in->copy_name, path))
            st = rocl_fail_memory(w->err);
        free(path);
    }
    if (st == ROCL_OK && w->in->count > before)
        st = note_others(w, dir, &l, before);
    else if (st == ROCL_OK && !w->databases_only)
        st = add_runs(w, dir, &l);
    for (size_t i = 0; i < l.count; i++)
        free(l.names[i]);
    free(l.names);
    if (st == ROCL_OK && w->in->count == before)
        st = rocl_fail(w->err, ROCL_INPUT,
                       "%s: no database in this directory (subdirectories are not searched)", dir);
    return st;
}

static rocl_status add_directory(walk *w, const char *dir)
{
    struct stat s;
    char *index = join_path(dir, "index.yaml");
    if (!index)
        return rocl_fail_memory(w->err);
    rocl_status st = ROCL_OK;
    bool there = stat(index, &s) == 0;
    if (!there && !is_missing(errno))
        st = fail_access(w, index, "open");
    else if (there && (st = refuse_streams(w, index, s.st_mode)) == ROCL_OK && S_ISREG(s.st_mode))
        st = add_index(w, index);
    else if (st == ROCL_OK)
        st = add_databases(w, dir);
    free(index);
    return st;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Something that exists. */
static rocl_status add_named_path(walk *w, const char *path)
{
    struct stat s;
    if (stat(path, &s) != 0)
        return fail_access(w, path, "open");
    if (S_ISDIR(s.st_mode))
        return add_directory(w, path);
    bool yaml = rocl_is_index_name(path), other = false;
    rocl_status st = yaml && S_ISREG(s.st_mode) ? begins_as_trace(w, path, &other) : ROCL_OK;
    if (st != ROCL_OK)
        return st;
    return yaml && S_ISREG(s.st_mode) && !other ? add_index(w, path) : add_path(w, path, &s);
}

static rocl_status add_matched_path(walk *w, const char *path)
{
    struct stat s;
    if (stat(path, &s) != 0)
        return fail_access(w, path, "open");
    rocl_status st = refuse_streams(w, path, s.st_mode);
    return st == ROCL_OK ? add_named_path(w, path) : st;
}

static int compare_ids(const void *a, const void *b)
{
    const identity *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->inode != y->inode)
        return x->inode < y->inode ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static int compare_indexes(const void *a, const void *b)
{
    const identity *x = a, *y = b;
    return (x->index > y->index) - (x->index < y->index);
}

/* Drops repeated files, whose events would count twice: globs overlap, folders hold links. A file
 * stays where it was named first. */
static rocl_status drop_repeated(walk *w)
{
    rocl_inputs *in = w->in;
    const size_t count = in->count;
    rocl_status st = ROCL_OK;
    if (!w->ids)
        return ROCL_OK;
    qsort(w->ids, count, sizeof *w->ids, compare_ids);
    for (size_t i = 0; i < count; i++) {
        const identity *before = i ? &w->ids[i - 1] : NULL;
        bool same = i && before->device == w->ids[i].device && before->inode == w->ids[i].inode;
        w->ids[i].first = same ? before->first : w->ids[i].index;
    }
    qsort(w->ids, count, sizeof *w->ids, compare_indexes);
    in->count = 0;
    for (size_t i = 0; i < count; i++) {
        char *path = in->paths[i];
        if (w->ids[i].first == i) {
            w->ids[i].kept = in->count;
            in->files[in->count] = in->files[i];
            in->paths[in->count++] = path;
            continue;
        }
        if (strcmp(path, "-") == 0 && st == ROCL_OK)
            st = rocl_fail(w->err, ROCL_INPUT, "-: named twice");
        if (in->repeated++ == 0) {
            in->again = path; /* the first name as given is reported */
            in->first = strdup(in->paths[w->ids[w->ids[i].first].kept]);
            if (!in->first)
                st = rocl_fail_memory(w->err);
        } else {
            free(path);
        }
    }
    return st;
}

static rocl_status expand_names(rocl_inputs *in, rocl_guard *guard, const char *const *names,
                                size_t count, bool databases_only, rocl_error *err)
{
    walk w = {.in = in, .guard = guard, .databases_only = databases_only, .err = err};
    *in = (rocl_inputs){0};
    rocl_status st = count ? ROCL_OK : rocl_fail(err, ROCL_USAGE, "no input is given");
    for (size_t i = 0; i < count && st == ROCL_OK; i++) {
        const char *name = names[i];
        struct stat s;
        bool matched = true;
        if (!strcmp(name, "-"))
            st = add_path(&w, name, NULL);
        else if (!*name)
            st = rocl_fail(err, ROCL_INPUT, "the name of an input is empty");
        else if (!strpbrk(name, "*?[") || stat(name, &s) == 0 || !is_missing(errno))
            st = add_named_path(&w, name);
        else
            st = add_glob(&w, name, add_matched_path, &matched);
        if (st == ROCL_OK && !matched)
            st = rocl_fail_system(err, ROCL_INPUT, name, ENOENT);
    }
    if (st == ROCL_OK)
        st = drop_repeated(&w);
    free(w.ids);
    if (st != ROCL_OK)
        rocl_inputs_free(in);
    return st;
}

rocl_status rocl_inputs_expand(rocl_inputs *in, rocl_guard *guard, const char *const *names,
                               size_t count, rocl_error *err)
{
    return expand_names(in, guard, names, count, false, err);
}

rocl_status rocl_inputs_expand_databases(rocl_inputs *in, const char *const *names, size_t count,
                                         rocl_error *err)
{
    return expand_names(in, NULL, names, count, true, err);
}

void rocl_inputs_free(rocl_inputs *in)
{
    for (size_t i = 0; i < in->count; i++)
        free(in->paths[i]);
    free(in->paths);
    free(in->files);
    free(in->again);
    free(in->first);
    free(in->blank_name);
    free(in->copy_name);
    free(in->less_name);
    free(in->more_name);
    free(in->unsearched_name);
    free(in->unneeded_names);
    *in = (rocl_inputs){0};
}
