/* Baselines, rocline-baseline(5): written from one pass over a trace, with names in their order, so
 * that the same trace makes the same file; read straight into a side of a comparison. */
#include "analysis/baseline.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/baseline_order.h"
#include "analysis/baseline_text.h"
#include "analysis/causes.h"
#include "analysis/domains.h"
#include "base/array.h"
#include "base/file.h"
#include "base/json.h"
#include "base/out.h"
#include "base/text.h"

enum { VERSION = 1, MOST_BASELINES = 1000, FLUSH = 1 << 16, NAME_MAX_BYTES = 200 };
static const uint64_t most_bytes = UINT64_C(1) << 30;

#define DEFAULT_NAME "base"

/* ---- a file ---------------------------------------------------------------------------------- */

/* A baseline in a file. */
typedef struct entry {
    rocl_buf name;
    rocl_view text; /* its object */
} entry;

typedef struct file {
    char *path;
    rocl_buf bytes;
    entry *all;
    size_t count, cap;
} file;

struct rocl_baseline {
    file file;
    size_t which;
};

static void free_file(file *f)
{
    for (size_t i = 0; i < f->count; i++)
        rocl_buf_free(&f->all[i].name);
    free(f->all);
    free(f->path);
    rocl_buf_free(&f->bytes);
}

static bool is_name(const entry *e, const char *name)
{
    return rocl_view_is((rocl_view){(const char *)e->name.data, e->name.len}, name);
}

static rocl_status load_bytes(file *f, int fd, rocl_error *err)
{
    struct stat s;
    if (fstat(fd, &s))
        return rocl_fail_system(err, ROCL_INPUT, f->path, errno);
    if (!S_ISREG(s.st_mode))
        return rocl_fail(err, ROCL_INPUT, "%s: not a regular file: a baseline is one", f->path);
    if ((uint64_t)s.st_size > most_bytes)
        return rocl_fail(err, ROCL_INPUT, "%s: a baseline is 1 GiB at most", f->path);
    if (!rocl_buf_reserve(&f->bytes, (size_t)s.st_size + 1))
        return rocl_fail_memory(err);
    const ssize_t n = rocl_read_at(fd, f->bytes.data, (size_t)s.st_size, 0);
    if (n < 0)
        return rocl_fail_system(err, ROCL_INPUT, f->path, errno);
    f->bytes.len = (size_t)n;
    return ROCL_OK;
}

static rocl_status fail_at(const file *f, const rocl_json *r, const char *what, rocl_error *err)
{
    if (r->wrong)
        return rocl_json_fail(r, f->path, err);
    return rocl_fail(err, ROCL_INPUT, "%s: byte %" PRIu64 ": %s", f->path,
                     r->offset + (uint64_t)(r->at - r->begin), what);
}

static rocl_status index_baseline(file *f, rocl_json *r, const rocl_json_token *v, rocl_error *err)
{
    static const rocl_view keys[] = {ROCL_JSON_KEY("name")};
    rocl_json_token name;
    if (!rocl_json_enter(r, ROCL_JSON_OBJECT))
        return fail_at(f, r, "a baseline is an object", err);
    if (f->count == MOST_BASELINES)
        return fail_at(f, r, "more than 1000 baselines", err);
    if (!ROCL_GROW(f->all, f->cap, f->count + 1))
        return rocl_fail_memory(err);
    entry *e = &f->all[f->count++];
    *e = (entry){0};
    while (rocl_json_member(r, keys, 1, &name) >= 0) {
        e->name.len = 0;
        if (name.kind == ROCL_JSON_STRING && name.text.n <= 6 * NAME_MAX_BYTES)
            rocl_json_unescape(&e->name, name.text);
    }
    e->text = (rocl_view){v->text.p, (size_t)(r->at - v->text.p)};
    if (e->name.failed)
        return rocl_fail_memory(err);
    if (!r->wrong && (!e->name.len || e->name.len > NAME_MAX_BYTES))
        return fail_at(f, r, "a baseline without a name", err);
    return r->wrong ? fail_at(f, r, "", err) : ROCL_OK;
}

static rocl_status index_file(file *f, rocl_error *err)
{
    enum { FORMAT, BASELINES, KEYS };
    static const rocl_view keys[KEYS] = {
        [FORMAT] = ROCL_JSON_KEY("rocline_baselines"), [BASELINES] = ROCL_JSON_KEY("baselines")};
    rocl_json r;
    rocl_json_token v;
    uint64_t version = 0;
    rocl_status st = ROCL_OK;
    rocl_json_open(&r, (const char *)f->bytes.data, f->bytes.len, 0, 0);
    if (!rocl_json_element(&r, &v) || !rocl_json_enter(&r, ROCL_JSON_OBJECT))
        return fail_at(f, &r, "not a file of baselines", err);
    for (int key; st == ROCL_OK && (key = rocl_json_member(&r, keys, KEYS, &v)) >= 0;) {
        if (key == FORMAT && (v.kind != ROCL_JSON_NUMBER || !rocl_json_uint(v.text, &version)))
            st = fail_at(f, &r, "rocline_baselines is not a number", err);
        if (st == ROCL_OK && version > VERSION)
            st = rocl_fail(err, ROCL_INPUT,
                           "%s: is a file of baselines of version %" PRIu64
                           ", which a newer rocline reads",
                           f->path, version);
        if (st != ROCL_OK || key != BASELINES)
            continue;
        if (!version)
            return fail_at(f, &r, "not a file of baselines: rocline_baselines must come first",
                           err);
        if (!rocl_json_enter(&r, ROCL_JSON_ARRAY))
            return fail_at(f, &r, "baselines is not an array", err);
        while (st == ROCL_OK && rocl_json_element(&r, &v))
            st = index_baseline(f, &r, &v, err);
    }
    if (st == ROCL_OK && r.wrong)
        st = fail_at(f, &r, "", err);
    if (st == ROCL_OK && !version)
        st = rocl_fail(err, ROCL_INPUT, "%s: not a file of baselines", f->path);
    return st;
}

/* Free it also after a failure. */
static rocl_status open_file(file *f, const char *path, bool may_lack, rocl_error *err)
{
    *f = (file){.path = strdup(path)};
    if (!f->path)
        return rocl_fail_memory(err);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return may_lack && errno == ENOENT ? ROCL_OK
                                           : rocl_fail_system(err, ROCL_INPUT, path, errno);
    rocl_status st = load_bytes(f, fd, err);
    close(fd);
    return st == ROCL_OK ? index_file(f, err) : st;
}

bool rocl_is_baseline(const char *path)
{
    char begin[64];
    struct stat s;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const ssize_t n = fd >= 0 && !fstat(fd, &s) && S_ISREG(s.st_mode)
                          ? rocl_read_at(fd, begin, sizeof begin - 1, 0)
                          : 0;
    if (fd >= 0)
        close(fd);
    begin[n > 0 ? n : 0] = '\0';
    const char *p = begin + strspn(begin, " \t\r\n");
    p += *p == '{';
    p += strspn(p, " \t\r\n");
    return p > begin && !strncmp(p, "\"rocline_baselines\"", 19);
}

/* ---- writing --------------------------------------------------------------------------------- */

typedef struct writer {
    rocl_out *out;
    rocl_buf text;
    rocl_status st;
    rocl_error *err;
} writer;

static void flush_text(writer *w, size_t above)
{
    if (w->st == ROCL_OK && w->text.failed)
        w->st = rocl_fail_memory(w->err);
    if (w->text.len <= above)
        return;
    if (w->st == ROCL_OK)
        w->st = rocl_out_write(w->out, w->text.data, w->text.len, w->err);
    w->text.len = 0;
}

/* The measures of GPUs, in the order in which they are written. */
enum { GPUS, WORK, BESIDE, WALL, IDLE, GPU_WALL, GPU_IDLE, TIMES };
static const rocl_view time_keys[TIMES] = {
    [GPUS] = ROCL_JSON_KEY("gpus"),           [WORK] = ROCL_JSON_KEY("work_ns"),
    [BESIDE] = ROCL_JSON_KEY("beside_ns"),    [WALL] = ROCL_JSON_KEY("wall_ns"),
    [IDLE] = ROCL_JSON_KEY("idle_ns"),        [GPU_WALL] = ROCL_JSON_KEY("gpu_wall_ns"),
    [GPU_IDLE] = ROCL_JSON_KEY("gpu_idle_ns")};

/* Sums over GPUs may be above 64 bits in absurd traces. */
static void put_wide(rocl_buf *to, rocl_i128 v)
{
    char digits[48];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + (int)(v % 10));
        v /= 10;
    } while (v > 0);
    rocl_buf_put(to, digits + at, sizeof digits - at);
}

typedef struct named_key {
    const char *key;
    size_t len;
    uint32_t id;
} named_key;

static int compare_keys(const void *a, const void *b)
{
    const named_key *x = a, *y = b;
    return rocl_compare_bytes(x->key, x->len, y->key, y->len);
}

/* Ids of keys depend on the number of workers: durations are sorted anew by the order of names. */
static rocl_status sort_by_name(const rocl_side *s, named_key *names, size_t n, rocl_sorter *to,
                                rocl_error *err)
{
    rocl_sort_record rec;
    uint32_t *rank = calloc(n + 1, sizeof *rank);
    rocl_status st = rank ? rocl_sorter_start(s->sorter, err) : rocl_fail_memory(err);
    for (uint32_t i = 0; i < n; i++) {
        names[i].key = rocl_strings_get(s->keys, i + 1, &names[i].len);
        names[i].id = i + 1;
    }
    qsort(names, n, sizeof *names, compare_keys);
    for (uint32_t i = 0; rank && i < n; i++)
        rank[names[i].id] = i;
    while (rocl_next_record(s->sorter, &rec, &st, err)) {
        const uint64_t key[2] = {rank[rec.key[0]], rec.key[1] >> 1};
        st = rocl_sorter_add(to, 0, key, NULL, 0, err);
    }
    free(rank);
    return st == ROCL_OK ? rocl_sorter_start(to, err) : st;
}

static void put_durations(writer *w, const rocl_side *s, const named_key *names,
                          rocl_sorter *sorted)
{
    rocl_sort_record rec;
    uint64_t at = UINT64_MAX, before = 0;
    rocl_buf_str(&w->text, ",\n\"names\":[");
    while (rocl_next_record(sorted, &rec, &w->st, w->err)) {
        const bool begins = rec.key[0] != at;
        if (begins) {
            const named_key *k = &names[rec.key[0]];
            rocl_buf_printf(&w->text, "%s{\"domain\":\"%s\",", at == UINT64_MAX ? "\n" : "]},\n",
                            rocl_domain_name(rocl_key_domain(k->key)));
            rocl_baseline_put_text(&w->text, "name", k->key + 1, k->len - 1);
            rocl_buf_printf(&w->text, ",\"items\":%" PRIu64 ",\"durations\":[",
                            rocl_side_name_of(s, k->id).items);
            before = 0;
        }
        at = rec.key[0];
        rocl_buf_printf(&w->text, "%s%" PRIu64, begins ? "" : ",", rec.key[1] - before);
        before = rec.key[1];
        flush_text(w, FLUSH);
    }
    rocl_buf_str(&w->text, at == UINT64_MAX ? "]" : "]}\n]");
}

/* number: by key, which name of the file it is. */
static void put_order(writer *w, const rocl_side *s, const named_key *names)
{
    const size_t n = rocl_strings_count(s->keys);
    uint32_t *number = calloc(n, sizeof *number), next = 0;
    if (!number) {
        w->text.failed = true;
        return;
    }
    for (size_t i = 0; i + 1 < n; i++)
        if (rocl_side_name_of(s, names[i].id).count)
            number[names[i].id] = next++;
    rocl_buf_str(&w->text, ",\n\"order\":");
    rocl_baseline_put_order(&w->text, &s->steps, number);
    free(number);
}

static void put_side(writer *w, const rocl_side *s, const char *name, const named_key *names,
                     rocl_sorter *sorted)
{
    const rocl_gpu_sums *g = &s->gpu_time;
    const char *before = "";
    rocl_buf_str(&w->text, "{\"name\":");
    rocl_json_put_string(&w->text, name, strlen(name));
    rocl_buf_str(&w->text, ",\n\"header\":{");
    for (unsigned i = 0; i < ROCL_HEADER_FIELDS; i++) {
        const rocl_datum *d = &s->header[i];
        if (d->type != ROCL_DATUM_TEXT && d->type != ROCL_DATUM_INT)
            continue;
        rocl_buf_printf(&w->text, "%s\"%s\":", before, rocl_header_key(i));
        before = ",";
        if (d->type == ROCL_DATUM_TEXT)
            rocl_json_put_string(&w->text, d->text, d->len);
        else
            rocl_buf_printf(&w->text, "%" PRId64, d->i);
    }
    rocl_buf_str(&w->text, "},\n\"gpus\":");
    rocl_json_put_string(&w->text, (const char *)s->gpus.data, s->gpus.len);
    rocl_buf_printf(&w->text, ",\"processes\":%" PRIu64, s->processes);
    const rocl_i128 times[TIMES] = {g->gpus,
                                    g->work,
                                    g->beside,
                                    g->whole[ROCL_WALL_EVENTS],
                                    g->idle[ROCL_WALL_EVENTS],
                                    g->whole[ROCL_WALL_GPU],
                                    g->idle[ROCL_WALL_GPU]};
    for (unsigned i = 0; i < TIMES; i++) {
        rocl_buf_printf(&w->text, "%s\"%s\":", i ? "," : ",\n\"gpu_time\":{", time_keys[i].p);
        put_wide(&w->text, times[i]);
    }
    rocl_buf_byte(&w->text, '}');
    put_durations(w, s, names, sorted);
    put_order(w, s, names);
    rocl_buf_byte(&w->text, '}');
    flush_text(w, FLUSH);
}

/* The file with this baseline in the place of one of that name, or behind all others. */
static void put_file(writer *w, const file *old, const rocl_side *s, const char *name,
                     const named_key *names, rocl_sorter *sorted)
{
    bool put = false;
    rocl_buf_printf(&w->text, "{\"rocline_baselines\":%d,\n\"baselines\":[", VERSION);
    for (size_t i = 0; i < old->count || !put; i++) {
        rocl_buf_str(&w->text, i ? ",\n" : "\n");
        if (i < old->count && !is_name(&old->all[i], name)) {
            flush_text(w, 0);
            if (w->st == ROCL_OK)
                w->st = rocl_out_write(w->out, old->all[i].text.p, old->all[i].text.n, w->err);
            continue;
        }
        put = true;
        put_side(w, s, name, names, sorted);
    }
    rocl_buf_str(&w->text, "\n]}\n");
    flush_text(w, 0);
}

static rocl_status write_side(const rocl_side *s, const char *path, const char *name,
                              const file *old, rocl_sort_space *space, rocl_error *err)
{
    const size_t n = rocl_strings_count(s->keys) - 1;
    named_key *names = calloc(n + 1, sizeof *names);
    rocl_sorter *sorted = rocl_sorter_new(space, 2);
    writer w = {.err = err};
    w.st = names && sorted ? sort_by_name(s, names, n, sorted, err) : rocl_fail_memory(err);
    if (w.st == ROCL_OK)
        w.st = rocl_out_open(&w.out, path, err);
    if (w.st == ROCL_OK) {
        put_file(&w, old, s, name, names, sorted);
        w.st = rocl_out_end(w.out, w.st, err);
    }
    rocl_buf_free(&w.text);
    rocl_sorter_free(sorted);
    free(names);
    return w.st;
}

rocl_status rocl_baseline_write(rocl_trace *t, const char *path, const char *name, rocl_error *err)
{
    file old = {0};
    const char *is = name ? name : DEFAULT_NAME;
    if (!*is || strlen(is) > NAME_MAX_BYTES || !rocl_utf8_valid(is, strlen(is)) || strchr(is, ':'))
        return rocl_fail(err, ROCL_USAGE,
                         "the name of a baseline is a text of at most 200 bytes without a colon");
    rocl_status st = strcmp(path, "-") ? open_file(&old, path, true, err) : ROCL_OK;
    rocl_sort_space *space = rocl_sort_space_new(t->opt.memory, t->opt.jobs, t->opt.tmpdir);
    rocl_side side = {.keys = rocl_strings_new(),
                      .wants_steps = true,
                      .sorter = space ? rocl_sorter_new(space, 2) : NULL};
    if (st == ROCL_OK && (!side.keys || !side.sorter))
        st = rocl_fail_memory(err);
    if (st == ROCL_OK)
        st = rocl_side_read(&side, t, space, err);
    if (st == ROCL_OK)
        st = write_side(&side, path, is, &old, space, err);
    rocl_side_free(&side);
    rocl_sorter_free(side.sorter);
    rocl_strings_free(side.keys);
    rocl_sort_space_free(space);
    free_file(&old);
    return st == ROCL_OK ? rocl_trace_outcome(t) : st;
}

/* ---- reading --------------------------------------------------------------------------------- */

static rocl_status choose_baseline(rocl_baseline *b, const char *name, rocl_error *err)
{
    const file *f = &b->file;
    rocl_buf names = {0};
    size_t found = 0;
    for (size_t i = 0; i < f->count; i++)
        if (!name || is_name(&f->all[i], name)) {
            b->which = i;
            found++;
        }
    if (found == 1)
        return ROCL_OK;
    /* "base", "v1" and 2 more */
    for (size_t i = 0; i < f->count && i < 5; i++)
        rocl_buf_printf(&names, "%s%.*s", i ? ", " : "", (int)f->all[i].name.len,
                        (const char *)f->all[i].name.data);
    if (f->count > 5)
        rocl_buf_printf(&names, " and %zu more", f->count - 5);
    rocl_buf_byte(&names, '\0');
    const char *are = names.failed ? "" : (const char *)names.data;
    rocl_status st;
    if (!f->count)
        st = rocl_fail(err, ROCL_INPUT, "%s: has no baseline", f->path);
    else if (name)
        st = rocl_fail(err, ROCL_INPUT, "%s: has %s baseline \"%s\"; it has: %s", f->path,
                       found ? "more than one" : "no", name, are);
    else
        st = rocl_fail(err, ROCL_USAGE, "%s: has several baselines; name one as %s:NAME: %s",
                       f->path, f->path, are);
    rocl_buf_free(&names);
    return st;
}

rocl_status rocl_baseline_read(rocl_baseline **out, const char *path, const char *name,
                               rocl_error *err)
{
    rocl_baseline *b = calloc(1, sizeof *b);
    if (!b)
        return rocl_fail_memory(err);
    rocl_status st = open_file(&b->file, path, false, err);
    if (st == ROCL_OK)
        st = choose_baseline(b, name, err);
    if (st == ROCL_OK)
        *out = b;
    else
        rocl_baseline_free(b);
    return st;
}

void rocl_baseline_free(rocl_baseline *b)
{
    if (b)
        free_file(&b->file);
    free(b);
}

/* While it is read. */
typedef struct reader {
    const file *file;
    rocl_json json;
    rocl_side *side;
    rocl_buf text;
    uint32_t *ids; /* by number of a name: its key */
    size_t id_count, id_cap;
    rocl_i128 work; /* kernels and copies */
    bool has_times;
} reader;

static rocl_status fail_here(const reader *r, const char *what, rocl_error *err)
{
    return fail_at(r->file, &r->json, what, err);
}

static rocl_status read_header(reader *r, rocl_error *err)
{
    rocl_view keys[ROCL_HEADER_FIELDS];
    rocl_json_token v;
    if (!rocl_json_enter(&r->json, ROCL_JSON_OBJECT))
        return fail_here(r, "the header is not an object", err);
    for (unsigned i = 0; i < ROCL_HEADER_FIELDS; i++)
        keys[i] = (rocl_view){rocl_header_key(i), strlen(rocl_header_key(i))};
    for (int key; (key = rocl_json_member(&r->json, keys, ROCL_HEADER_FIELDS, &v)) >= 0;) {
        rocl_datum *d = &r->side->header[key];
        r->text.len = 0;
        if (v.kind == ROCL_JSON_STRING && rocl_header_is_text((unsigned)key)) {
            rocl_json_unescape(&r->text, v.text);
            *d = rocl_datum_text(r->side->header_texts, (const char *)r->text.data, r->text.len);
        } else if (v.kind == ROCL_JSON_NUMBER && !rocl_header_is_text((unsigned)key)) {
            *d = rocl_datum_int(0);
            if (!rocl_json_int(v.text, &d->i))
                return fail_here(r, "a number of the header is not valid", err);
        }
    }
    return ROCL_OK;
}

static bool read_wide(rocl_view digits, rocl_i128 *v)
{
    *v = 0;
    for (size_t i = 0; i < digits.n; i++) {
        if (digits.p[i] < '0' || digits.p[i] > '9' || i > 36)
            return false;
        *v = *v * 10 + (digits.p[i] - '0');
    }
    return digits.n > 0;
}

static rocl_status read_times(reader *r, rocl_error *err)
{
    rocl_gpu_sums *g = &r->side->gpu_time;
    rocl_i128 times[TIMES] = {0};
    unsigned found = 0;
    rocl_json_token v;
    if (!rocl_json_enter(&r->json, ROCL_JSON_OBJECT))
        return fail_here(r, "gpu_time is not an object", err);
    for (int key; (key = rocl_json_member(&r->json, time_keys, TIMES, &v)) >= 0;) {
        if (v.kind != ROCL_JSON_NUMBER || !read_wide(v.text, &times[key]))
            return fail_here(r, "a time of gpu_time is not valid", err);
        found |= 1u << key;
    }
    *g = (rocl_gpu_sums){.whole = {times[WALL], times[GPU_WALL]},
                         .idle = {times[IDLE], times[GPU_IDLE]},
                         .work = times[WORK],
                         .beside = times[BESIDE],
                         .gpus = (uint64_t)times[GPUS]};
    r->has_times = found == (1u << TIMES) - 1;
    return ROCL_OK;
}

static rocl_status read_durations(reader *r, uint32_t id, rocl_domain d, rocl_error *err)
{
    rocl_side *s = r->side;
    rocl_json_token v;
    uint64_t ns = 0, more;
    rocl_status st = ROCL_OK;
    if (!rocl_json_enter(&r->json, ROCL_JSON_ARRAY))
        return fail_here(r, "durations is not an array", err);
    if (!ROCL_GROW(s->names, s->name_cap, (size_t)id + 1))
        return rocl_fail_memory(err);
    rocl_side_name *sum = &s->names[id];
    while (st == ROCL_OK && rocl_json_element(&r->json, &v)) {
        if (v.kind != ROCL_JSON_NUMBER || !rocl_json_uint(v.text, &more) ||
            more > (uint64_t)INT64_MAX - ns)
            return fail_here(r, "a duration is not valid", err);
        ns += more;
        sum->count++;
        sum->ns += ns;
        if (d == ROCL_DOMAIN_KERNELS || d == ROCL_DOMAIN_MEMORY_COPIES)
            r->work += (rocl_i128)ns;
        const uint64_t key[2] = {id, ns << 1 | s->bit};
        if (s->sorter)
            st = rocl_sorter_add(s->sorter, 0, key, NULL, 0, err);
    }
    return st;
}

static rocl_domain domain_named(rocl_view name)
{
    rocl_domain d = 0;
    while (d < ROCL_DOMAINS && !rocl_view_is(name, rocl_domain_name(d)))
        d++;
    return d;
}

static rocl_status read_name(reader *r, rocl_error *err)
{
    enum { DOMAIN, NAME, BYTES, ITEMS, DURATIONS, KEYS };
    static const rocl_view keys[KEYS] = {[DOMAIN] = ROCL_JSON_KEY("domain"),
                                         [NAME] = ROCL_JSON_KEY("name"),
                                         [BYTES] = ROCL_JSON_KEY("bytes"),
                                         [ITEMS] = ROCL_JSON_KEY("items"),
                                         [DURATIONS] = ROCL_JSON_KEY("durations")};
    rocl_json_token v;
    rocl_domain d = ROCL_DOMAINS;
    uint64_t items = 0;
    bool named = false;
    rocl_status st = ROCL_OK;
    if (!rocl_json_enter(&r->json, ROCL_JSON_OBJECT))
        return fail_here(r, "a name is not an object", err);
    for (int key; st == ROCL_OK && (key = rocl_json_member(&r->json, keys, KEYS, &v)) >= 0;) {
        if (key == NAME || key == BYTES) {
            r->text.len = 0;
            named = rocl_baseline_read_text(&r->text, &v, key == BYTES);
        } else if (key == DOMAIN) {
            d = v.kind == ROCL_JSON_STRING ? domain_named(v.text) : ROCL_DOMAINS;
        } else if (key == ITEMS) {
            if (v.kind != ROCL_JSON_NUMBER || !rocl_json_uint(v.text, &items))
                return fail_here(r, "items is not a number", err);
        } else {
            if (!named || d == ROCL_DOMAINS)
                return fail_here(r, "durations without a domain and a name before them", err);
            const uint32_t id =
                r->text.failed
                    ? ROCL_NONE
                    : rocl_side_key(r->side->keys, d, (const char *)r->text.data, r->text.len);
            st = id == ROCL_NONE || !ROCL_GROW(r->ids, r->id_cap, r->id_count + 1)
                     ? rocl_fail_memory(err)
                     : read_durations(r, id, d, err);
            if (st != ROCL_OK)
                break;
            r->ids[r->id_count++] = id;
            r->side->names[id].items += items;
        }
    }
    return st;
}

/* Else causes would not sum to the whole. */
static rocl_status check_sums(const reader *r, rocl_error *err)
{
    const rocl_gpu_sums *g = &r->side->gpu_time;
    bool good = r->has_times && g->work == r->work;
    for (rocl_wall w = 0; w < ROCL_WALLS; w++)
        good &= g->whole[w] == g->work - g->beside + g->idle[w];
    return good ? ROCL_OK
                : rocl_fail(err, ROCL_INPUT, "%s: the times of gpu_time do not add up",
                            r->file->path);
}

static rocl_status read_members(reader *r, rocl_error *err)
{
    enum { HEADER, GPUS_TEXT, PROCESSES, TIMES_KEY, NAMES, ORDER, KEYS };
    static const rocl_view keys[KEYS] = {
        [HEADER] = ROCL_JSON_KEY("header"),       [GPUS_TEXT] = ROCL_JSON_KEY("gpus"),
        [PROCESSES] = ROCL_JSON_KEY("processes"), [TIMES_KEY] = ROCL_JSON_KEY("gpu_time"),
        [NAMES] = ROCL_JSON_KEY("names"),         [ORDER] = ROCL_JSON_KEY("order")};
    rocl_json_token v;
    const char *what;
    rocl_status st = ROCL_OK;
    for (int key; st == ROCL_OK && (key = rocl_json_member(&r->json, keys, KEYS, &v)) >= 0;)
        if (key == HEADER) {
            st = read_header(r, err);
        } else if (key == TIMES_KEY) {
            st = read_times(r, err);
        } else if (key == GPUS_TEXT) {
            r->side->gpus.len = 0;
            if (v.kind == ROCL_JSON_STRING)
                rocl_json_unescape(&r->side->gpus, v.text);
        } else if (key == PROCESSES) {
            if (v.kind != ROCL_JSON_NUMBER || !rocl_json_uint(v.text, &r->side->processes))
                st = fail_here(r, "processes is not a number", err);
        } else if (key == NAMES) {
            if (!rocl_json_enter(&r->json, ROCL_JSON_ARRAY))
                return fail_here(r, "names is not an array", err);
            while (st == ROCL_OK && rocl_json_element(&r->json, &v))
                st = read_name(r, err);
        } else if (r->side->wants_steps) { /* ORDER */
            st = rocl_baseline_read_order(&r->json, &r->side->steps, r->ids, r->id_count, &what,
                                          err);
            st = what ? fail_here(r, what, err) : st;
        }
    return st;
}

rocl_status rocl_side_read_baseline(rocl_side *s, const rocl_baseline *b, rocl_error *err)
{
    const rocl_view text = b->file.all[b->which].text;
    const char *begin = (const char *)b->file.bytes.data;
    reader r = {.file = &b->file, .side = s};
    rocl_json_token v;
    s->header_texts = rocl_tables_new();
    s->steps = (rocl_side_steps){.chosen = SIZE_MAX, .lack = ROCL_LACKS_MEMBERS};
    rocl_status st = s->header_texts ? ROCL_OK : rocl_fail_memory(err);
    rocl_json_open(&r.json, text.p, text.n, (uint64_t)(text.p - begin), 0);
    if (st == ROCL_OK &&
        (!rocl_json_element(&r.json, &v) || !rocl_json_enter(&r.json, ROCL_JSON_OBJECT)))
        st = fail_here(&r, "a baseline is an object", err);
    if (st == ROCL_OK)
        st = read_members(&r, err);
    if (st == ROCL_OK && r.json.wrong)
        st = fail_here(&r, "", err);
    if (st == ROCL_OK)
        st = check_sums(&r, err);
    if (st == ROCL_OK && (r.text.failed || s->gpus.failed || s->header_texts->incomplete))
        st = rocl_fail_memory(err);
    rocl_buf_free(&r.text);
    free(r.ids);
    return st == ROCL_OK && s->sorter ? rocl_sorter_seal(s->sorter, 0, err) : st;
}
