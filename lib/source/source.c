/* Which source reads a path: told by its first bytes, never by its name. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/pool.h"
#include "source/chunk/chunk.h"
#include "source/formats.h"
#include "source/json.h"
#include "source/kernel_name.h"
#include "source/rocpd/rocpd.h"
#include "source/rtg/rtg.h"
#include "source/source.h"

static rocl_source *add_source(rocl_trace *t, const char *path, const rocl_source_ops *ops,
                               rocl_error *err)
{
    rocl_source *s = calloc(1, sizeof *s);
    rocl_source **more = realloc(t->sources, (t->source_count + 1) * sizeof *more);
    if (more)
        t->sources = more;
    if (!s || !more || !(s->path = strdup(path))) {
        free(s);
        rocl_fail_memory(err);
        return NULL;
    }
    s->ops = ops;
    t->sources[t->source_count++] = s;
    return s;
}

static rocl_status refuse_standard_input(rocl_error *err)
{
    return rocl_fail(err, ROCL_USAGE,
                     "-: a database cannot be read from standard input: name its file");
}

/* What is no text of ours: a database, which needs a file of its own, or a stranger. */
static rocl_status refuse(const char *path, const rocl_spool *spool, rocl_error *err)
{
    size_t n;
    bool whole;
    const char *head = rocl_spool_head(spool, &n, &whole);
    const rocl_format *f = rocl_format_of(head, n, whole);
    bool database = f && f->ops == &rocl_rocpd_ops;
    if (!database && f)
        return rocl_fail_foreign(path, head, n, whole, err);
    if (!strcmp(path, "-"))
        return refuse_standard_input(err);
    if (rocl_spool_is_pipe(spool))
        return rocl_fail(err, ROCL_INPUT,
                         "%s: not a regular file: a database cannot be read from a pipe or device",
                         path);
    if (database)
        return rocl_fail(err, ROCL_INPUT, "%s: this is a gzip file of a database: unpack it first",
                         path);
    return rocl_fail_foreign(path, head, n, whole, err);
}

/* Is it text that says things of its own before its first record? */
static rocl_status look_further(rocl_trace *t, rocl_spool *spool, bool *ours, rocl_error *err)
{
    enum { BLOCK = 1 << 20 };
    char *block = malloc(BLOCK);
    size_t got = 0;
    rocl_status st =
        block ? rocl_spool_fill(spool, &t->spooled, t->opt.tmpdir, err) : rocl_fail_memory(err);
    for (uint64_t at = 0; st == ROCL_OK && !*ours && at < rocl_spool_size(spool); at += got) {
        st = rocl_spool_read(spool, block, BLOCK, at, &got, err);
        const char *last = got == BLOCK ? memrchr(block, '\n', got) : NULL;
        got = last ? (size_t)(last - block) + 1 : got;
        *ours = st == ROCL_OK && rtg_recognise(block, got, true);
        if (!got)
            break;
    }
    free(block);
    return st;
}

static bool may_be_text(const char *head, size_t n)
{
    return n == ROCL_SPOOL_HEAD && !memchr(head, 0, n);
}

static rocl_status recognise(rocl_trace *t, const char *path, rocl_spool *spool, rocl_error *err)
{
    size_t n;
    bool whole, late = false;
    const char *head = rocl_spool_head(spool, &n, &whole);
    const rocl_format *f = rocl_format_of(head, n, whole);
    const rocl_source_ops *ops = f ? f->ops : NULL;
    bool plain = !rocl_spool_is_gzip(spool) && !rocl_spool_is_pipe(spool) && strcmp(path, "-") != 0;
    rocl_status st = ROCL_OK;
    if (!f && may_be_text(head, n)) { /* of the head nothing is left then */
        st = look_further(t, spool, &late, err);
        if (st == ROCL_OK && !late)
            st = rocl_fail_foreign(path, "text", 4, true, err);
        ops = &rocl_rtg_ops;
    } else if (!ops || (ops == &rocl_rocpd_ops && !plain)) {
        st = refuse(path, spool, err);
    }
    rocl_source *s = st == ROCL_OK ? add_source(t, path, ops, err) : NULL;
    if (s && ops != &rocl_rocpd_ops)
        s->spool = spool;
    else
        rocl_spool_close(spool);
    return st != ROCL_OK ? st : s ? ROCL_OK : ROCL_INTERNAL;
}

rocl_status rocl_source_recognise(rocl_trace *t, const char *path, rocl_error *err)
{
    rocl_spool *spool = NULL;
    if (!strcmp(path, "-") && isatty(STDIN_FILENO))
        return refuse_standard_input(err);
    rocl_status st = rocl_spool_open(&spool, path, err);
    return st == ROCL_OK ? recognise(t, path, spool, err) : st;
}

/* ---- opening --------------------------------------------------------------------------------- */

typedef struct opening {
    rocl_trace *trace;
    size_t first;
} opening;

static rocl_status open_one(void *ctx, unsigned worker, size_t index, rocl_error *err)
{
    opening *o = ctx;
    rocl_source *s = o->trace->sources[o->first + index];
    (void)worker;
    return s->ops->open(s, o->trace, err);
}

static rocl_status adopt(rocl_trace *t, rocl_source *s, rocl_error *err)
{
    size_t n = t->capture_count + s->capture_count;
    rocl_model_capture **more = realloc(t->captures, (n + 1) * sizeof *more);
    if (!more)
        return rocl_fail_memory(err);
    t->captures = more;
    for (size_t i = 0; i < s->capture_count; i++) {
        s->captures[i]->pub.index = (uint32_t)t->capture_count;
        t->captures[t->capture_count++] = s->captures[i];
    }
    s->alone = s->capture_count == 1;
    s->capture_count = 0;
    if (s->remark)
        rocl_notice_defer(t, s->path, s->remark);
    s->remark = NULL;
    t->left_out += s->torn;
    return ROCL_OK;
}

rocl_status rocl_sources_open(rocl_trace *t, size_t first, size_t end, rocl_error *err)
{
    opening o = {t, first};
    rocl_status st = rocl_run_tasks(t->opt.jobs, end - first, open_one, &o, err);
    for (size_t i = first; i < end && st == ROCL_OK; i++)
        st = adopt(t, t->sources[i], err);
    return st;
}

/* ---- a look ---------------------------------------------------------------------------------- */

static bool is_index(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml"));
}

static bool has_profile_line(const char *p, size_t n)
{
    static const char tag[] = "profile:";
    const size_t m = sizeof tag - 1;
    for (const char *end = p + n; p && (size_t)(end - p) >= m;) {
        if (!memcmp(p, tag, m))
            return true;
        p = memchr(p, '\n', (size_t)(end - p));
        p = p ? p + 1 : NULL;
    }
    return false;
}

static rocl_look look_at_head(const char *head, size_t n, bool whole)
{
    const rocl_format *f = rocl_format_of(head, n, whole);
    if (f && f->ops == &rocl_rtg_ops)
        return has_profile_line(head, n) ? ROCL_LOOKS_HCC : ROCL_LOOKS_LEGACY;
    if (f)
        return f->ops ? ROCL_LOOKS_OTHER : ROCL_LOOKS_FOREIGN;
    return n && memchr(head, 0, n) ? ROCL_LOOKS_OTHER : ROCL_LOOKS_TEXT;
}

/* From its kind alone; ROCL_LOOKS_TEXT: it must be opened. */
static rocl_look look_at_kind(const char *path, mode_t mode)
{
    if (S_ISFIFO(mode) || S_ISCHR(mode))
        return ROCL_LOOKS_STREAM;
    if (S_ISDIR(mode))
        return ROCL_LOOKS_FOLDER;
    return !S_ISREG(mode) || is_index(path) ? ROCL_LOOKS_OTHER : ROCL_LOOKS_TEXT;
}

rocl_status rocl_input_look(const char *path, rocl_look *look, rocl_error *err)
{
    struct stat info;
    rocl_spool *spool;
    *look = !strcmp(path, "-") ? ROCL_LOOKS_STREAM : ROCL_LOOKS_MISSING;
    if (*look == ROCL_LOOKS_STREAM)
        return ROCL_OK;
    if (stat(path, &info) != 0)
        return errno == ENOENT || errno == ENOTDIR ? ROCL_OK
                                                   : rocl_fail_system(err, ROCL_INPUT, path, errno);
    *look = look_at_kind(path, info.st_mode);
    if (*look != ROCL_LOOKS_TEXT)
        return ROCL_OK;
    rocl_status st = rocl_spool_open(&spool, path, err);
    if (st != ROCL_OK)
        return st;
    size_t n;
    bool whole;
    const char *head = rocl_spool_head(spool, &n, &whole);
    *look = look_at_head(head, n, whole);
    rocl_spool_close(spool);
    return ROCL_OK;
}

static rocl_status properties(rocl_trace *t, const rocl_capture *c, rocl_property_of of,
                              uint32_t index, rocl_buf *json, rocl_error *err)
{
    rocl_model_capture *m = t->captures[c->index];
    if (!m->source->ops->properties)
        return ROCL_OK;
    return m->source->ops->properties(t, m, of, index, json, err);
}

rocl_status rocl_agent_json(rocl_trace *t, const rocl_capture *c, uint32_t agent, char **json,
                            rocl_error *err)
{
    rocl_buf b = {0};
    rocl_status st = properties(t, c, ROCL_PROPERTIES_OF_AGENT, agent, &b, err);
    if (st == ROCL_OK && !b.len)
        rocl_buf_str(&b, "{}");
    rocl_buf_byte(&b, 0);
    if (st == ROCL_OK && b.failed)
        st = rocl_fail_memory(err);
    if (st != ROCL_OK)
        rocl_buf_free(&b);
    *json = (char *)b.data;
    return st;
}

rocl_status rocl_kernel_json(rocl_trace *t, const rocl_capture *c, uint32_t kernel, rocl_buf *json,
                             rocl_error *err)
{
    return properties(t, c, ROCL_PROPERTIES_OF_KERNEL, kernel, json, err);
}

uint32_t rocl_kernel_demangled(rocl_trace *t, const rocl_capture *c, uint32_t kernel)
{
    rocl_buf json = {0};
    bool bad = false;
    uint32_t text = ROCL_NONE;
    rocl_status st = properties(t, c, ROCL_PROPERTIES_OF_KERNEL, kernel, &json, NULL);
    if (st == ROCL_INTERNAL)
        rocl_strings_note_lost(t->strings);
    if (st == ROCL_OK && json.len)
        text = rocl_json_text(t, (const char *)json.data, json.len, "demangled_kernel_name", &bad);
    rocl_buf_free(&json);
    return text == ROCL_NONE || text == 0 ? c->kernels[kernel].display
                                          : rocl_kernel_without_kd(t, text);
}
