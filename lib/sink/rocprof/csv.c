/* results.csv as rocprof v1 writes it: a row for each dispatch, a column for each counter. What is
 * in the header is known when everything was read: rows wait in a sorter. Key of a record:
 *
 *     word 0   63..32 pid   31..0 capture
 *     word 1   number of the dispatch
 *     word 2   start, of rows that are not in an order of their own
 *     word 3   63..1 id   0 the value of a counter of this dispatch, not the dispatch itself
 *
 * rocprof writes this file in two ways. Beside a results.db names and texts are in quotes, and
 * DurationNs is the last column; without one, which is where times are missing too, only names of
 * kernels are in quotes, and values of derived counters have ten decimals. */
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/deflate.h"
#include "base/error.h"
#include "base/json.h"
#include "base/map.h"
#include "base/num.h"
#include "base/text.h"
#include "sink/piped.h"
#include "sink/rocprof/rocprof.h"
#include "trace/pipeline.h"

enum { BLOCK_SIZE = 256 << 10 };

/* A dispatch, in the sorter. */
typedef struct v1_row {
    int64_t pid, tid, device, queue_id;
    int64_t grid, workgroup, lds, scratch, vgpr, accum_vgpr, sgpr;
    int64_t start, end; /* end 0: not known */
    uint64_t number;    /* of the dispatch in its process */
    rocl_packet packet;
    uint32_t name, queue; /* text, index */
    bool has_suffix;
    bool of_trace; /* of HIP: without what rocprof says of dispatches */
} v1_row;

/* A value; its dispatch is behind it where no record of its own may have it. */
typedef struct v1_value {
    double value;
    uint32_t name; /* of the counter: text */
} v1_value;

/* What a counter has: bits of the map `counters`. */
enum { COUNTER_USED = 1, COUNTER_FRACTIONS = 2 };

typedef struct v1_worker {
    alignas(ROCL_CACHE_LINE) rocl_map counters; /* by name */
    uint32_t any, all;                          /* ROCL_PACKET_* of the rows */
    bool rows, times;
} v1_worker;

typedef struct v1_csv {
    rocl_trace *trace;
    const rocl_csv_options *opt;
    rocl_sorter *rows;
    v1_worker *workers;
    uint32_t *wave_sizes;  /* by agent of the capture at hand; 0 unknown */
    atomic_bool *profiled; /* captures with dispatches that are not of_trace */
    v1_worker all;         /* what the workers have seen */
    uint32_t *columns;     /* texts: names of counters */
    rocl_map column_of;    /* by name */
    size_t column_count;
    bool without_db;
    rocl_map queue_counts; /* of dispatches, by capture and queue */
    rocl_piped file;
    uint64_t left_out_of_traces;
    rocl_written report;
} v1_csv;

/* ---- events -> records ----------------------------------------------------------------------- */

/* The size of a wave on each agent, as the input describes it. */
static rocl_status begin_capture(void *self, const rocl_capture *c, rocl_error *err)
{
    static const rocl_view keys[] = {ROCL_JSON_KEY("wave_front_size")};
    v1_csv *s = self;
    free(s->wave_sizes);
    s->wave_sizes = calloc(c->agent_count + 1, sizeof *s->wave_sizes);
    if (!s->wave_sizes)
        return rocl_fail_memory(err);
    for (uint32_t i = 0; i < c->agent_count; i++) {
        char *json = NULL;
        rocl_json r;
        rocl_json_token v;
        uint64_t size;
        rocl_status st = rocl_agent_json(s->trace, c, i, &json, err);
        if (st != ROCL_OK)
            return st;
        rocl_json_open(&r, json, strlen(json), 0, 0);
        if (rocl_json_element(&r, &v) && rocl_json_enter(&r, ROCL_JSON_OBJECT) &&
            rocl_json_member(&r, keys, 1, &v) >= 0 && rocl_json_uint(v.text, &size) &&
            size <= UINT32_MAX)
            s->wave_sizes[i] = (uint32_t)size;
        free(json);
    }
    return ROCL_OK;
}

static void fill_row(const v1_csv *s, const rocl_batch *b, const rocl_dispatch *d, v1_row *row)
{
    const rocl_capture *c = b->capture;
    const rocl_kernel *k = d->kernel < c->kernel_count ? &c->kernels[d->kernel] : NULL;
    const int64_t device = v1_device_of(c, d->agent);
    memset(row, 0, sizeof *row);
    row->pid = v1_pid_of(c, d->e.process);
    row->tid = d->e.thread < c->thread_count ? v1_tid_of(c, d->e.thread) : 0;
    row->device = device > 0 ? device : 0;
    row->queue = d->queue;
    row->queue_id = d->queue < c->queue_count ? c->queues[d->queue].id : 0;
    row->grid = v1_multiply_sizes(d->grid);
    row->workgroup = v1_multiply_sizes(d->workgroup);
    row->lds = d->group_segment;
    row->scratch = d->private_segment;
    if (k) {
        row->vgpr = k->arch_vgpr;
        row->accum_vgpr = k->accum_vgpr;
        row->sgpr = k->sgpr;
    }
    row->start = d->e.start;
    row->end = d->e.end;
    row->number = d->dispatch_id;
    row->name = d->e.name == ROCL_NONE ? 0 : d->e.name;
    row->has_suffix = *v1_kernel_suffix(s->trace, k, row->name);
    if (d->packet)
        row->packet = b->packets[d->packet - 1];
    row->of_trace = !d->packet && k && k->is_function;
    if (!(row->packet.known & ROCL_PACKET_WAVE_SIZE) && d->agent < c->agent_count)
        row->packet.wave_size = s->wave_sizes[d->agent];
}

static void make_key(uint64_t key[4], const rocl_capture *c, const v1_row *row, uint64_t id,
                     bool value)
{
    key[0] = (uint64_t)row->pid << 32 | c->index;
    key[1] = row->number;
    key[2] = row->packet.known & ROCL_PACKET_V1 ? 0 : (uint64_t)row->start;
    key[3] = id << 1 | value;
}

static void note_row(v1_worker *w, const v1_row *row)
{
    w->any |= row->packet.known;
    w->all = w->rows ? w->all & row->packet.known : row->packet.known;
    w->rows = true;
    w->times |= row->end != 0;
}

static rocl_status add_value(v1_csv *s, unsigned worker, const rocl_batch *b,
                             const rocl_counter_value *v, rocl_error *err)
{
    const rocl_capture *c = b->capture;
    v1_worker *w = &s->workers[worker];
    uint64_t key[4];
    struct {
        v1_value value;
        v1_row row;
    } record;
    memset(&record.value, 0, sizeof record.value);
    record.value.value = v->value;
    record.value.name = v->counter < c->counter_count ? c->counters[v->counter].name : v->d.e.name;
    fill_row(s, b, &v->d, &record.row);
    make_key(key, c, &record.row, v->d.e.id, true);
    const bool alone = !record.row.end;
    if (alone)
        note_row(w, &record.row);
    const bool fraction = record.row.packet.known & ROCL_PACKET_FRACTION ||
                          v->value != (double)(int64_t)fmax(-9e18, fmin(v->value, 9e18));
    const uint32_t known = rocl_map_get(&w->counters, record.value.name, 0),
                   seen = known | COUNTER_USED | (fraction ? COUNTER_FRACTIONS : 0);
    if (known != seen && !rocl_map_put(&w->counters, record.value.name, seen))
        return rocl_fail_memory(err);
    return rocl_sorter_add(s->rows, worker, key, &record,
                           alone ? sizeof record : sizeof record.value, err);
}

static rocl_status add_events(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    v1_csv *s = self;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        if (b->kind == ROCL_COUNTER) {
            st = add_value(s, worker, b, &b->counters[i], err);
            continue;
        }
        const rocl_dispatch *d = &b->dispatches[i];
        uint64_t key[4];
        v1_row row;
        fill_row(s, b, d, &row);
        make_key(key, b->capture, &row, d->e.id, false);
        note_row(&s->workers[worker], &row);
        if (!row.of_trace)
            atomic_store_explicit(&s->profiled[b->capture->index], true, memory_order_relaxed);
        st = rocl_sorter_add(s->rows, worker, key, &row, sizeof row, err);
    }
    return st;
}

static rocl_status end_task(void *self, unsigned worker, rocl_error *err)
{
    v1_csv *s = self;
    return rocl_sorter_seal(s->rows, worker, err);
}

/* ---- columns --------------------------------------------------------------------------------- */

/* What is in the header: counters come in the order of their definitions. */
static rocl_status choose_columns(v1_csv *s, rocl_error *err)
{
    const rocl_trace *t = s->trace;
    v1_worker *all = &s->all;
    bool ok = true;
    for (unsigned i = 0; i < t->opt.jobs && ok; i++) {
        v1_worker *w = &s->workers[i];
        size_t at = 0;
        uint64_t name;
        uint32_t bits;
        if (w->rows) {
            all->any |= w->any;
            all->all = all->rows ? all->all & w->all : w->all;
            all->times |= w->times;
            all->rows = true;
        }
        while (ok && rocl_map_next(&w->counters, &at, &name, &bits))
            ok = rocl_map_put(&all->counters, name, bits | rocl_map_get(&all->counters, name, 0));
    }
    s->columns = calloc(all->counters.count + 1, sizeof *s->columns);
    ok = ok && s->columns;
    for (size_t k = 0; k < t->capture_count && ok; k++) {
        const rocl_capture *c = &t->captures[k]->pub;
        for (uint32_t i = 0; i < c->counter_count && ok; i++) {
            const uint32_t name = c->counters[i].name;
            if (!rocl_map_get(&all->counters, name, 0) ||
                rocl_map_get(&s->column_of, name, ROCL_NONE) != ROCL_NONE)
                continue;
            s->columns[s->column_count] = name;
            ok = rocl_map_put(&s->column_of, name, (uint32_t)s->column_count++);
        }
    }
    s->without_db = all->rows && (!all->times || all->all & ROCL_PACKET_WITHOUT_DB);
    return ok ? ROCL_OK : rocl_fail_memory(err);
}

static bool has_objects(const v1_csv *s)
{
    return !(s->all.any & ROCL_PACKET_REGISTERS) || s->all.any & ROCL_PACKET_OBJECT;
}

static void put_title(rocl_buf *b, const v1_csv *s, const char *title)
{
    if (b->len)
        rocl_buf_byte(b, ',');
    rocl_buf_str(b, s->without_db ? "" : "\"");
    rocl_csv_put_bare(b, title, strlen(title));
    rocl_buf_str(b, s->without_db ? "" : "\"");
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void put_number(rocl_buf *b, int64_t v)
{
    rocl_buf_byte(b, ',');
    rocl_buf_i64(b, v);
}

/* Handles are texts, which the scripts put in quotes since ROCm 5.2. */
static void put_handle(rocl_buf *b, const v1_csv *s, uint64_t v)
{
    const bool quoted = !s->without_db &&
                        (s->all.any & ROCL_PACKET_QUOTES || !(s->all.any & ROCL_PACKET_REGISTERS));
    rocl_buf_str(b, quoted ? ",\"0x" : ",0x");
    rocl_buf_hex(b, v, 1);
    rocl_buf_str(b, quoted ? "\"" : "");
}

/* A row; values by column, of which `has` says which there are. */
static void put_row(rocl_buf *b, const v1_csv *s, const v1_row *r, uint64_t index,
                    const double *values, const bool *has)
{
    const rocl_packet *p = &r->packet;
    const bool old = s->all.any & ROCL_PACKET_REGISTERS;
    size_t n;
    const char *name = rocl_text(s->trace, r->name, &n);
    rocl_buf_u64(b, index);
    rocl_buf_str(b, ",\"");
    rocl_csv_put_bare(b, name, n);
    if (r->has_suffix)
        rocl_buf_str(b, memchr(name, '(', n) ? " [clone .kd]" : ".kd");
    rocl_buf_byte(b, '"');
    const int64_t launch[] = {r->device,    r->queue_id, (int64_t)p->queue_index,
                              r->pid,       r->tid,      r->grid,
                              r->workgroup, r->lds,      r->scratch,
                              r->vgpr};
    for (size_t i = 0; i < sizeof launch / sizeof *launch; i++)
        put_number(b, launch[i]);
    if (!old)
        put_number(b, r->accum_vgpr);
    put_number(b, r->sgpr);
    put_number(b, old ? 0 : p->wave_size); /* fbar is always 0 */
    put_handle(b, s, p->signal);
    if (has_objects(s))
        put_handle(b, s, p->object);
    for (size_t i = 0; i < s->column_count; i++)
        if (has[i]) {
            /* SQLite makes integers of what is one; Python prints the others. */
            const bool whole = fabs(values[i]) < 9e18 && values[i] == (double)(int64_t)values[i];
            char text[400];
            if (s->without_db &&
                (rocl_map_get(&s->all.counters, s->columns[i], 0) & COUNTER_FRACTIONS) &&
                isfinite(values[i])) {
                const int len = snprintf(text, sizeof text, ",%.10f", values[i]);
                text[len - 11] = '.'; /* whatever the locale has */
                rocl_buf_put(b, text, (size_t)len);
            } else if (whole) {
                put_number(b, (int64_t)values[i]);
            } else if (isfinite(values[i])) {
                rocl_buf_byte(b, ',');
                rocl_repr_put(b, values[i]);
            } else {
                rocl_buf_str(b, isnan(values[i]) ? ",nan" : values[i] < 0 ? ",-inf" : ",inf");
            }
        } else
            rocl_buf_str(b, ",None");
    const bool known = p->known & ROCL_PACKET_TIMES;
    const int64_t times[] = {
        known ? (int64_t)((uint64_t)r->start - (uint64_t)p->before) : 0, r->start, r->end,
        known ? (int64_t)((uint64_t)r->end + (uint64_t)p->after) : 0, r->end - r->start};
    const bool duration = !s->without_db || (s->opt->duration && s->all.times);
    for (size_t i = 0; i < (s->all.times || !s->without_db ? 4 + (size_t)duration : 0); i++)
        if (r->end)
            put_number(b, times[i]);
        else
            rocl_buf_str(b, ",None");
    rocl_buf_byte(b, '\n');
}

/* The row at hand, whose values are still coming. */
typedef struct pending_row {
    v1_row row;
    uint64_t key[4];
    bool any;
    uint64_t process, index; /* word 0 of the row before, how many rows it has */
    double *values;
    bool *has;
} pending_row;

/* Writes the row at hand. Where the input does not number its dispatches they are counted, in each
 * process and queue. */
static rocl_status end_row(v1_csv *s, pending_row *p, rocl_error *err)
{
    v1_row *r = &p->row;
    if (!p->any)
        return ROCL_OK;
    p->any = false;
    if (r->of_trace && atomic_load(&s->profiled[p->key[0] & UINT32_MAX])) {
        s->left_out_of_traces++;
        return ROCL_OK;
    }
    p->index = p->process == p->key[0] ? p->index : 0;
    p->process = p->key[0];
    if (!(r->packet.known & ROCL_PACKET_INDEX)) {
        const uint64_t queue = (p->key[0] & UINT32_MAX) << 32 | r->queue;
        const uint32_t count = rocl_map_get(&s->queue_counts, queue, 0);
        r->packet.queue_index = count;
        if (!rocl_map_put(&s->queue_counts, queue, count + 1))
            return rocl_fail_memory(err);
    }
    rocl_buf *b = rocl_piped_buf(&s->file);
    const bool numbered = r->packet.known & ROCL_PACKET_NUMBER;
    put_row(b, s, r, numbered ? r->number : p->index, p->values, p->has);
    p->index++;
    s->report.rows++;
    if (s->column_count)
        memset(p->has, 0, s->column_count * sizeof *p->has);
    rocl_progress(s->trace, 1);
    return b->len >= BLOCK_SIZE ? rocl_piped_put(&s->file, err) : ROCL_OK;
}

/* Values whose dispatch did not pass the filters are left out with it. */
static rocl_status take_record(v1_csv *s, pending_row *p, const rocl_sort_record *rec,
                               rocl_error *err)
{
    const uint64_t key[4] = {rec->key[0], rec->key[1], rec->key[2], rec->key[3] & ~(uint64_t)1};
    const bool is_value = rec->key[3] & 1, same = p->any && !memcmp(key, p->key, sizeof key);
    v1_value value;
    rocl_status st = ROCL_OK;
    if (!same && (!is_value || rec->len > sizeof value)) {
        st = end_row(s, p, err);
        memcpy(&p->row, rec->data + (is_value ? sizeof value : 0), sizeof p->row);
        memcpy(p->key, key, sizeof key);
        p->any = true;
    } else if (!same) {
        s->report.left_out++;
        return ROCL_OK;
    }
    if (is_value && st == ROCL_OK) {
        memcpy(&value, rec->data, sizeof value);
        const uint32_t column = rocl_map_get(&s->column_of, value.name, ROCL_NONE);
        if (column == ROCL_NONE)
            return ROCL_OK;
        p->values[column] = (p->has[column] ? p->values[column] : 0) + value.value;
        p->has[column] = true;
        s->report.values++;
    }
    return st;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Opens PREFIX.csv, or what the caller names. */
static rocl_status open_file(v1_csv *s, rocl_error *err)
{
    const rocl_csv_options *o = s->opt;
    const char *directory = o->directory && *o->directory ? o->directory : ".";
    const char *prefix = o->prefix && *o->prefix ? o->prefix : "results";
    char *path = NULL;
    rocl_status st = o->path ? ROCL_OK : rocl_make_dirs(directory, err);
    if (st == ROCL_OK && !o->path &&
        asprintf(&path, "%s/%s.csv%s", directory, prefix, o->gzip ? ".gz" : "") < 0) {
        path = NULL;
        st = rocl_fail_memory(err);
    }
    if (st == ROCL_OK)
        st = rocl_piped_open_text(&s->file, path ? path : o->path, o->gzip, o->level,
                                  s->trace->opt.jobs, err);
    free(path);
    return st;
}

static rocl_status write_rows(v1_csv *s, rocl_error *err)
{
    pending_row p = {.process = UINT64_MAX};
    rocl_sort_record rec;
    rocl_progress_phase(s->trace, "writing", rocl_sorter_count(s->rows));
    p.values = calloc(s->column_count + 1, sizeof *p.values);
    p.has = calloc(s->column_count + 1, sizeof *p.has);
    rocl_status st = p.values && p.has ? open_file(s, err) : rocl_fail_memory(err);
    if (st == ROCL_OK) {
        rocl_buf *b = rocl_piped_buf(&s->file);
        static const char *const launch[] = {"Index",       "KernelName", "gpu-id", "queue-id",
                                             "queue-index", "pid",        "tid",    "grd",
                                             "wgr",         "lds",        "scr"};
        static const char *const registers[] = {"arch_vgpr", "accum_vgpr", "sgpr", "wave_size"};
        static const char *const old_registers[] = {"vgpr", "sgpr", "fbar"};
        static const char *const times[] = {"DispatchNs", "BeginNs", "EndNs", "CompleteNs"};
        const bool old = s->all.any & ROCL_PACKET_REGISTERS;
        for (size_t i = 0; i < sizeof launch / sizeof *launch; i++)
            put_title(b, s, launch[i]);
        for (size_t i = 0; i < (old ? 3 : 4); i++)
            put_title(b, s, old ? old_registers[i] : registers[i]);
        put_title(b, s, "sig");
        if (has_objects(s))
            put_title(b, s, "obj");
        for (size_t i = 0; i < s->column_count; i++)
            put_title(b, s, rocl_str(s->trace, s->columns[i]));
        for (size_t i = 0; i < 4 && (s->all.times || !s->without_db); i++)
            put_title(b, s, times[i]);
        if (!s->without_db || (s->opt->duration && s->all.times))
            put_title(b, s, "DurationNs");
        rocl_buf_byte(b, '\n');
    }
    if (st == ROCL_OK)
        st = rocl_sorter_start(s->rows, err);
    while (rocl_sorter_take(s->rows, &rec, &st, err))
        st = take_record(s, &p, &rec, err);
    if (st == ROCL_OK)
        st = end_row(s, &p, err);
    free(p.values);
    free(p.has);
    s->report.files = 1;
    return st ? st : rocl_piped_commit(&s->file, s->trace, &s->report.bytes, err);
}

rocl_status rocl_write_rocprof_csv(rocl_trace *t, const rocl_csv_options *o, rocl_written *report,
                                   rocl_error *err)
{
    v1_csv s = {.trace = t, .opt = o};
    const rocl_sink sink = {.self = &s,
                            .kinds = ROCL_BIT(ROCL_DISPATCH) | ROCL_BIT(ROCL_COUNTER),
                            .fields = ROCL_FIELD_DISPATCH_ID | ROCL_FIELD_PACKET,
                            .begin_capture = begin_capture,
                            .events = add_events,
                            .end_task = end_task};
    rocl_status st = rocl_check_level(o->level, err);
    s.rows = rocl_sorter_new(t->space, 4);
    s.workers = rocl_cache_line_calloc(t->opt.jobs, sizeof *s.workers);
    s.profiled = calloc(t->capture_count + 1, sizeof *s.profiled);
    if (st == ROCL_OK && (!s.rows || !s.workers || !s.profiled))
        st = rocl_fail_memory(err);
    if (st == ROCL_OK)
        st = rocl_pipeline_run(t, &sink, err);
    if (st == ROCL_OK)
        st = choose_columns(&s, err);
    if (st == ROCL_OK && (s.all.rows || o->path)) /* standard output has at least the header */
        st = write_rows(&s, err);
    if (st == ROCL_OK && s.report.left_out)
        rocl_notice(t, "%" PRIu64 " value%s of counters left out: their dispatches are",
                    s.report.left_out, s.report.left_out == 1 ? "" : "s");
    if (st == ROCL_OK && s.left_out_of_traces)
        rocl_notice(t,
                    "%" PRIu64 " kernel%s of HIP traces left out: results.csv has the dispatches "
                    "that rocprof profiled in the same run",
                    s.left_out_of_traces, s.left_out_of_traces == 1 ? "" : "s");
    if (st == ROCL_OK && t->named_count > 1)
        rocl_notice(
            t,
            "results.csv of rocprof has no place for hosts: rows of %zu hosts differ by pid "
            "and number of the GPU only",
            t->machine_count);
    if (report)
        *report = s.report;
    for (unsigned i = 0; s.workers && i < t->opt.jobs; i++)
        rocl_map_free(&s.workers[i].counters);
    free(s.workers);
    free(s.wave_sizes);
    free(s.profiled);
    free(s.columns);
    rocl_map_free(&s.all.counters);
    rocl_map_free(&s.column_of);
    rocl_map_free(&s.queue_counts);
    rocl_sorter_free(s.rows);
    rocl_piped_discard(&s.file);
    return st ? st : rocl_trace_outcome_utf8(t);
}
