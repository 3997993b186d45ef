/* Recognises an input by the table of formats, opens it with its reader, and asks for
 * properties. */
#include "source/source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/pool.h"
#include "model/identity.h"
#include "source/formats.h"
#include "source/index_yaml.h"
#include "source/reader.h"

/* ---- recognising ----------------------------------------------------------------------------- */

/* Searches all of a text for its first record: *f is its format, NULL without one. The head of the
 * spool is gone then. */
static rocl_status search_text(rocl_trace *t, rocl_spool *spool, const rocl_format **f,
                               rocl_error *err)
{
    enum { BLOCK = 1 << 20 };
    char *block = malloc(BLOCK);
    size_t got = 0;
    rocl_status st =
        block ? rocl_spool_fill(spool, &t->spooled, t->opt.tmpdir, err) : rocl_fail_memory(err);
    for (uint64_t at = 0; st == ROCL_OK && !*f && at < rocl_spool_size(spool); at += got) {
        st = rocl_spool_read(spool, block, BLOCK, at, &got, err);
        const char *last = got == BLOCK ? memrchr(block, '\n', got) : NULL;
        got = last ? (size_t)(last - block) + 1 : got;
        *f = st == ROCL_OK ? rocl_format_of(block, got, true) : NULL;
        if (*f && !((*f)->flags & ROCL_FORMAT_LATE_RECORDS))
            *f = NULL;
        if (!got)
            break;
    }
    free(block);
    return st;
}

rocl_status rocl_source_add(rocl_trace *t, rocl_source *s, rocl_error *err)
{
    rocl_source **more = realloc(t->sources, (t->source_count + 1) * sizeof *more);
    if (!more)
        return rocl_fail_memory(err);
    t->sources = more;
    t->sources[t->source_count++] = s;
    return ROCL_OK;
}

/* NULL: memory is out. */
static rocl_source *make_source(const char *path, const rocl_format *f, rocl_spool *spool)
{
    rocl_source *s = calloc(1, sizeof *s);
    if (!s || !(s->path = strdup(path))) {
        free(s);
        return NULL;
    }
    s->format = f;
    s->ops = f->ops;
    s->spool = spool;
    s->deferred = f->ops && f->ops->same_run;
    return s;
}

/* Adds a file to the source of its run, if there is one already. The files of a run are sorted by
 * name, whatever the order on the command line. */
static rocl_status join_run(rocl_trace *t, const char *path, const rocl_format *f,
                            rocl_spool *spool, bool *joined, rocl_error *err)
{
    *joined = false;
    for (size_t i = 0; f->ops && f->ops->same_run && i < t->source_count; i++) {
        rocl_source *s = t->sources[i];
        if (s->ops != f->ops || !f->ops->same_run(s->path, path))
            continue;
        size_t cap = rocl_array_cap(s->more_count);
        char *copy = strdup(path);
        if (!copy || !ROCL_GROW(s->more, cap, s->more_count + 1)) {
            free(copy);
            return rocl_fail_memory(err);
        }
        rocl_source_file file = {copy, spool};
        if (strcmp(copy, s->path) < 0) {
            file = (rocl_source_file){s->path, s->spool};
            s->path = copy;
            s->spool = spool;
        }
        size_t at = s->more_count++;
        for (; at && strcmp(file.path, s->more[at - 1].path) < 0; at--)
            s->more[at] = s->more[at - 1];
        s->more[at] = file;
        *joined = true;
        break;
    }
    return ROCL_OK;
}

/* After a failure there is no spool. */
static rocl_status open_spool(rocl_trace *t, const char *path, rocl_spool **spool,
                              const rocl_format **f, rocl_error *err)
{
    size_t n;
    bool whole;
    *spool = NULL;
    if (!strcmp(path, "-") && isatty(STDIN_FILENO))
        return rocl_fail(err, ROCL_USAGE, "-: standard input is a terminal: name a file");
    rocl_status st = rocl_spool_open(spool, path, err);
    if (st != ROCL_OK)
        return st;
    const char *head = rocl_spool_head(*spool, &n, &whole);
    *f = rocl_format_of(head, n, whole);
    if (!*f && n == ROCL_SPOOL_HEAD && !memchr(head, 0, n)) {
        st = search_text(t, *spool, f, err);
        if (st == ROCL_OK && !*f)
            st = rocl_fail_foreign(path, "text", 4, true, err);
    } else if (!*f || (*f)->advice) {
        st = rocl_fail_foreign(path, head, n, whole, err);
    }
    if (st == ROCL_OK && (*f)->flags & ROCL_FORMAT_DATABASE)
        st = rocl_spool_to_file(*spool, t->opt.tmpdir, err);
    if (st != ROCL_OK) {
        rocl_spool_close(*spool);
        *spool = NULL;
    }
    return st;
}

rocl_status rocl_source_recognise(rocl_trace *t, const char *path, rocl_error *err)
{
    rocl_spool *spool;
    const rocl_format *f;
    bool joined = false;
    rocl_status st = open_spool(t, path, &spool, &f, err);
    if (st != ROCL_OK)
        return st;
    if (f->ops && f->ops->same_run) {
        st = rocl_spool_fill(spool, &t->spooled, t->opt.tmpdir, err);
        if (st == ROCL_OK)
            rocl_spool_suspend(spool);
        if (st == ROCL_OK)
            st = join_run(t, path, f, spool, &joined, err);
    }
    rocl_source *s = st == ROCL_OK && !joined ? make_source(path, f, spool) : NULL;
    if (st == ROCL_OK && !joined)
        st = s ? rocl_source_add(t, s, err) : rocl_fail_memory(err);
    if (st != ROCL_OK && s)
        rocl_source_free(s);
    else if (st != ROCL_OK)
        rocl_spool_close(spool);
    return st;
}

/* ---- opening --------------------------------------------------------------------------------- */

typedef struct opening {
    rocl_trace *trace;
    size_t first;
} opening;

rocl_status rocl_source_explain(const rocl_source *s, rocl_status st, rocl_error *err)
{
    rocl_db_state now;
    if (st != ROCL_INPUT || !s->was.file[1])
        return st;
    rocl_db_state_read(s->path, &now);
    return memcmp(&now, &s->was, sizeof now) ? rocl_fail_changed(err, s->path) : st;
}

rocl_status rocl_sources_explain(const rocl_trace *t, rocl_status st, rocl_error *err)
{
    for (size_t i = 0; st == ROCL_INPUT && i < t->source_count; i++)
        rocl_source_explain(t->sources[i], st, err);
    return st;
}

static rocl_status open_source(rocl_source *s, rocl_trace *t, rocl_error *err)
{
    rocl_status st;
    if (s->deferred || s->opened)
        return ROCL_OK;
    if (!s->was.file[1])
        rocl_db_state_read(s->path, &s->was);
    if (s->format->flags & ROCL_FORMAT_DATABASE) { /* its tables tell the format */
        rocl_db_object *objects = NULL;
        size_t count = 0;
        st = rocl_source_connect(&s->db, t, s, NULL, err);
        if (st == ROCL_OK)
            st = rocl_db_objects(s->db, &objects, &count, err);
        if (st == ROCL_OK) {
            const bool first = !s->ops;
            s->format = rocl_format_of_tables(objects, count);
            s->ops = s->format->ops;
            s->deferred = first && s->ops && !(s->format->flags & ROCL_FORMAT_INDEPENDENT);
            if (!s->ops)
                st = rocl_fail_format(s->path, s->format, err);
            else if (!s->deferred) {
                if (rocl_db_log_truncated(s->db)) {
                    s->truncated = true;
                    s->remark = "the log beside it (-wal) ends in an incomplete transaction, which "
                                "is left out";
                }
                st = s->ops->open(s, t, err);
            }
            rocl_db_objects_free(objects, count);
        }
        rocl_db_close(s->db);
        s->db = NULL;
    } else {
        st = s->ops->open(s, t, err);
    }
    s->opened = !s->deferred;
    return rocl_source_explain(s, st, err);
}

static rocl_status open_one(void *ctx, unsigned worker, size_t index, rocl_error *err)
{
    const opening *o = ctx;
    (void)worker;
    return open_source(o->trace->sources[o->first + index], o->trace, err);
}

rocl_status rocl_sources_open(rocl_trace *t, size_t first, size_t end, rocl_error *err)
{
    opening o = {t, first};
    rocl_status st = rocl_run_tasks(t->opt.jobs, end - first, open_one, &o, err);
    for (size_t i = first; i < end && st == ROCL_OK; i++) {
        rocl_source *s = t->sources[i];
        size_t n = t->capture_count + s->capture_count;
        rocl_model_capture **more = realloc(t->captures, (n + 1) * sizeof *more);
        if (!more)
            return rocl_fail_memory(err);
        t->captures = more;
        for (size_t k = 0; k < s->capture_count; k++) {
            s->captures[k]->pub.index = (uint32_t)t->capture_count;
            t->captures[t->capture_count++] = s->captures[k];
        }
        s->single = s->capture_count == 1;
        s->capture_count = 0;
        if (s->remark)
            rocl_notice_defer(t, s->path, s->remark);
        s->remark = NULL;
        t->left_out += s->truncated;
    }
    return st;
}

/* ---- one by one ---- */

typedef struct opening_alone {
    rocl_trace *trace;
    rocl_opened *all;
} opening_alone;

/* Notes a failure. */
static rocl_status refuse_opened(rocl_opened *o, rocl_status st, const rocl_error *why,
                                 rocl_error *err)
{
    if (o->source)
        rocl_source_free(o->source);
    o->source = NULL;
    o->status = st;
    return (o->why = strdup(rocl_error_text(why))) ? ROCL_OK : rocl_fail_memory(err);
}

static rocl_status open_alone(void *ctx, unsigned worker, size_t index, rocl_error *err)
{
    const opening_alone *all = ctx;
    rocl_opened *o = &all->all[index];
    rocl_source *s = o->source;
    (void)worker;
    if (!s)
        return ROCL_OK;
    rocl_error *why = rocl_error_new();
    if (!why)
        return rocl_fail_memory(err);
    rocl_status st =
        s->format->flags & ROCL_FORMAT_INDEPENDENT ? open_source(s, all->trace, why) : ROCL_OK;
    if (st == ROCL_OK && (!s->opened || s->slice))
        st = rocl_fail(why, ROCL_INPUT,
                       "%s: is %s%s: it can be read only where rank 0 is; on other nodes, "
                       "databases are",
                       s->path, s->format->name, s->slice ? ", and a slice of it" : "");
    s->single = s->capture_count == 1;
    o->remark = s->remark;
    if (st != ROCL_OK)
        st = refuse_opened(o, st, why, err);
    rocl_error_free(why);
    return st;
}

rocl_status rocl_sources_open_alone(rocl_trace *t, char *const *paths, size_t n, rocl_opened *all,
                                    rocl_error *err)
{
    rocl_error *why = rocl_error_new();
    rocl_status st = why ? ROCL_OK : rocl_fail_memory(err);
    for (size_t i = 0; i < n && st == ROCL_OK; i++) {
        rocl_spool *spool;
        const rocl_format *f;
        const rocl_status found = open_spool(t, paths[i], &spool, &f, why);
        if (found != ROCL_OK) {
            st = refuse_opened(&all[i], found, why, err);
        } else if (!(all[i].source = make_source(paths[i], f, spool))) {
            rocl_spool_close(spool);
            st = rocl_fail_memory(err);
        }
    }
    rocl_error_free(why);
    return st == ROCL_OK ? rocl_run_tasks(t->opt.jobs, n, open_alone, &(opening_alone){t, all}, err)
                         : st;
}

void rocl_capture_free(rocl_model_capture *c)
{
    const rocl_source_ops *ops = c->source ? c->source->ops : NULL;
    if (ops && ops->free_capture)
        ops->free_capture(c);
    rocl_arena_free(&c->arena);
    free(c);
}

void rocl_source_free(rocl_source *s)
{
    for (size_t i = 0; i < s->capture_count; i++)
        rocl_capture_free(s->captures[i]);
    free(s->captures);
    if (s->ops)
        s->ops->close(s);
    rocl_spool_close(s->spool);
    for (size_t i = 0; i < s->more_count; i++) {
        rocl_spool_close(s->more[i].spool);
        free(s->more[i].path);
    }
    free(s->more);
    free(s->path);
    free(s);
}

/* ---- how an input looks ---------------------------------------------------------------------- */

rocl_status rocl_input_look(const char *path, rocl_look *look, rocl_error *err)
{
    struct stat info;
    rocl_spool *spool;
    size_t n;
    bool whole;
    *look = !strcmp(path, "-") ? ROCL_LOOKS_STREAM : ROCL_LOOKS_MISSING;
    if (*look == ROCL_LOOKS_STREAM)
        return ROCL_OK;
    if (stat(path, &info) != 0)
        return errno == ENOENT || errno == ENOTDIR ? ROCL_OK
                                                   : rocl_fail_system(err, ROCL_INPUT, path, errno);
    const mode_t mode = info.st_mode;
    *look = S_ISFIFO(mode) || S_ISCHR(mode)              ? ROCL_LOOKS_STREAM
            : S_ISDIR(mode)                              ? ROCL_LOOKS_FOLDER
            : !S_ISREG(mode) || rocl_is_index_name(path) ? ROCL_LOOKS_OTHER
                                                         : ROCL_LOOKS_TEXT;
    if (*look != ROCL_LOOKS_TEXT)
        return ROCL_OK;
    rocl_status st = rocl_spool_open(&spool, path, err);
    if (st != ROCL_OK)
        return st;
    const char *head = rocl_spool_head(spool, &n, &whole);
    const rocl_format *f = rocl_format_of(head, n, whole);
    if (!f)
        *look = n && memchr(head, 0, n) ? ROCL_LOOKS_OTHER : ROCL_LOOKS_TEXT;
    else if (f->flags & ROCL_FORMAT_SCRIPT_INPUT)
        *look = f->flags & ROCL_FORMAT_PROFILE_LINES ? ROCL_LOOKS_HCC : ROCL_LOOKS_LEGACY;
    else if (f->flags & ROCL_FORMAT_SCRIPT_OUTPUT)
        *look = ROCL_LOOKS_JSON;
    else
        *look = f->advice ? ROCL_LOOKS_FOREIGN : ROCL_LOOKS_OTHER;
    rocl_spool_close(spool);
    return ROCL_OK;
}

/* ---- properties ------------------------------------------------------------------------------ */

static rocl_status read_properties(rocl_trace *t, const rocl_capture *c, rocl_property_of of,
                                   uint32_t index, rocl_buf *json, rocl_error *err)
{
    rocl_model_capture *m = t->captures[c->index];
    if (!m->source || !m->source->ops->properties) /* none: read by another rank of a team */
        return ROCL_OK;
    const rocl_status st = m->source->ops->properties(t, m, of, index, json, err);
    return rocl_source_explain(m->source, st, err);
}

/* Adds the uuid and the address of a GPU in the profiler's form, where the object lacks them. */
static void put_agent_place(rocl_buf *b, const rocl_trace *t, const rocl_agent *a)
{
    enum { UUID, LOCATION, KEYS };
    static const rocl_view keys[KEYS] = {
        [UUID] = ROCL_JSON_KEY("uuid"), [LOCATION] = ROCL_JSON_KEY("location_id")};
    uint8_t uuid[16];
    uint64_t domain, location;
    rocl_json r;
    rocl_json_token v;
    bool lacks[KEYS] = {[UUID] = a->uuid && rocl_uuid_bytes(rocl_str(t, a->uuid), uuid),
                        [LOCATION] =
                            a->pci && rocl_pci_location(rocl_str(t, a->pci), &domain, &location)};
    if (!lacks[UUID] && !lacks[LOCATION])
        return;
    rocl_json_open(&r, (const char *)b->data, b->len, 0, 0);
    const bool object = rocl_json_element(&r, &v) && rocl_json_enter(&r, ROCL_JSON_OBJECT);
    bool any = false;
    for (int k; object && (lacks[UUID] || lacks[LOCATION]) &&
                (k = rocl_json_member(&r, keys, KEYS, &v)) >= 0;)
        lacks[k] = false;
    if (!object || r.wrong || !(lacks[UUID] || lacks[LOCATION]))
        return;
    while (b->len > 1 && b->data[b->len - 1] != '}')
        b->len--;
    b->len--;
    for (size_t i = b->len; i && !any && b->data[i - 1] != '{';)
        any = b->data[--i] > ' ';
    if (lacks[UUID]) {
        rocl_buf_str(b, any ? ",\"uuid\":{\"bytes\":{" : "\"uuid\":{\"bytes\":{");
        for (unsigned i = 0; i < sizeof uuid; i++)
            rocl_buf_printf(b, "%s\"value%u\":%u", i ? "," : "", i, uuid[i]);
        rocl_buf_str(b, "}}");
    }
    if (lacks[LOCATION])
        rocl_buf_printf(b, "%s\"location_id\":%" PRIu64 ",\"domain\":%" PRIu64,
                        any || lacks[UUID] ? "," : "", location, domain);
    rocl_buf_byte(b, '}');
}

rocl_status rocl_agent_json(rocl_trace *t, const rocl_capture *c, uint32_t agent, char **json,
                            rocl_error *err)
{
    rocl_buf b = {0};
    rocl_status st = read_properties(t, c, ROCL_PROPERTIES_OF_AGENT, agent, &b, err);
    if (st == ROCL_OK && !b.len)
        rocl_buf_str(&b, "{}");
    if (st == ROCL_OK && !b.failed)
        put_agent_place(&b, t, &c->agents[agent]);
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
    return read_properties(t, c, ROCL_PROPERTIES_OF_KERNEL, kernel, json, err);
}

rocl_status rocl_code_object_json(rocl_trace *t, const rocl_capture *c, uint32_t code_object,
                                  rocl_buf *json, rocl_error *err)
{
    return read_properties(t, c, ROCL_PROPERTIES_OF_CODE_OBJECT, code_object, json, err);
}

#define DEMANGLED "demangled_kernel_name"

uint32_t rocl_kernel_demangled(rocl_trace *t, const rocl_capture *c, uint32_t kernel)
{
    static const rocl_view keys[] = {ROCL_JSON_KEY(DEMANGLED)};
    rocl_json r;
    rocl_json_token v;
    rocl_buf json = {0};
    bool bad = false;
    uint32_t text = ROCL_NONE;
    rocl_status st = read_properties(t, c, ROCL_PROPERTIES_OF_KERNEL, kernel, &json, NULL);
    if (st == ROCL_INTERNAL)
        rocl_strings_note_lost(t->strings);
    if (st == ROCL_OK && json.len) {
        /* Without a tree of all properties, which would take ten times as long, where it is there
         * in the plain form. */
        rocl_json_open(&r, (const char *)json.data, json.len, 0, 0);
        const bool found = rocl_json_element(&r, &v) && rocl_json_enter(&r, ROCL_JSON_OBJECT) &&
                           rocl_json_member(&r, keys, 1, &v) == 0;
        if (found && v.kind == ROCL_JSON_STRING && !v.escaped)
            text = rocl_strings_put(t->strings, v.text.p, v.text.n);
        if (text == ROCL_NONE)
            text = rocl_json_text(t, (const char *)json.data, json.len, DEMANGLED, &bad);
    }
    rocl_buf_free(&json);
    return text == ROCL_NONE || text == 0 ? c->kernels[kernel].display
                                          : rocl_kernel_without_kd(t, text);
}
