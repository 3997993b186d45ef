/* Opens a rocpd file, makes captures of its table sets, cuts them into tasks, scans and closes
 * them. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/pool.h"
#include "base/without.h"
#include "source/rocpd/rocpd.h"

/* Rows a task should have: enough to make the seeks at its begin cheap, few enough to spread. */
#define TASK_ROWS 32768

/* Properties are asked for seldom, by one thread at a time. */
static pthread_mutex_t properties_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- open and close ---- */

static void free_capture(rocl_model_capture *c)
{
    rocpd_set *s = c->state;
    rocl_definitions_free(c);
    c->state = NULL;
    if (!s)
        return;
    if (s->tables[SCHEMA_CATEGORY]) /* else they are the strings, and freed with them */
        rocl_ids_free(&s->categories);
    for (int i = 0; i < SCHEMA_TABLES; i++)
        free(s->tables[i]);
    rocl_ids *maps[] = {&s->strings,  &s->nodes,  &s->processes,   &s->threads,
                        &s->agents,   &s->queues, &s->streams,     &s->kernels,
                        &s->counters, &s->tracks, &s->code_objects};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        rocl_ids_free(maps[i]);
    free(s->track_defs);
    free(s->unnamed);
    rocl_lz4_free(&s->unpacked);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static rocl_status refuse_unknown_schema(rocpd_set *s, rocl_db *db, rocl_error *err)
{
    static const schema_table timed[] = {SCHEMA_REGION, SCHEMA_DISPATCH, SCHEMA_COPY};
    static const char *const column = "start_id";
    for (size_t i = 0; i < sizeof timed / sizeof *timed; i++) {
        const char *table = s->tables[timed[i]];
        rocl_rows *rows;
        if (!table)
            continue;
        rocl_status st = rocl_rows_open(&rows, db, table, &column, 1, err);
        if (st != ROCL_OK)
            return st;
        bool has = rocl_rows_has(rows, 0);
        rocl_rows_close(rows);
        if (has)
            return rocl_fail(err, ROCL_INPUT,
                             "%s: table %s keeps its times in another table: a development schema "
                             "(4.0) that is not supported; 3.x and 4.1 are",
                             s->capture->pub.path, table);
    }
    return ROCL_OK;
}

static rocl_status open_set(rocl_source *src, rocl_trace *t, const rocpd_found *found, size_t i,
                            rocl_db *db, rocl_error *err)
{
    rocl_model_capture *c = rocl_trace_add_capture(t, src, err);
    rocpd_set *s = c ? calloc(1, sizeof *s) : NULL;
    if (s)
        pthread_mutex_init(&s->lock, NULL);
    if (!s)
        return rocl_fail_memory(err);
    c->state = s;
    s->trace = t;
    s->capture = c;
    for (int k = 0; k < SCHEMA_TABLES; k++) {
        const char *name = rocpd_table_in(found, (schema_table)k, found->suffixes[i]);
        if (name && !(s->tables[k] = strdup(name)))
            return rocl_fail_memory(err);
    }
    for (rocl_alloc_level level = 0; level <= ROCL_LEVEL_SCRATCH; level++)
        for (rocl_alloc_op op = 0; op <= ROCL_OP_RECLAIM; op++) {
            char name[ROCL_ALLOC_NAME_MAX];
            size_t n = rocl_alloc_name(name, level, op);
            s->alloc_names[level][op] = rocl_strings_put(t->strings, name, n);
        }
    rocl_status st = refuse_unknown_schema(s, db, err);
    if (st == ROCL_OK)
        st = rocpd_read_definitions(s, db, err);
    if (st == ROCL_OK &&
        !c->pub.guid) { /* only the suffix of the tables has it, not a process row */
        const char *suffix = found->suffixes[i];
        char guid[128];
        size_t n = 0;
        for (suffix += *suffix == '_'; *suffix && n < sizeof guid; suffix++)
            guid[n++] = *suffix == '_' ? '-' : *suffix;
        c->pub.guid = rocl_strings_put(t->strings, guid, n);
    }
    return st;
}

/* Files that stay open while they are not read: there may be thousands of inputs. */
enum { KEPT_OPEN = 16 };
static atomic_uint kept_open;

/* The first connection stays, open or suspended; the others are opened again when they are needed.
 */
static void rest_connections(rocpd_file *f)
{
    rocl_rows_close(f->properties.rows);
    f->properties.rows = NULL;
    for (unsigned i = 1; i < f->connection_count; i++) {
        rocl_db_close(f->connections[i]);
        f->connections[i] = NULL;
    }
    if (!f->connections[0])
        return;
    if (!f->kept_open && !(f->kept_open = atomic_fetch_add(&kept_open, 1) < KEPT_OPEN))
        atomic_fetch_sub(&kept_open, 1);
    if (!f->kept_open)
        rocl_db_suspend(f->connections[0]);
}

static rocl_status open_file(rocl_source *src, rocl_trace *t, rocl_error *err)
{
    rocpd_found found;
    rocpd_file *f = calloc(1, sizeof *f);
    src->state = f;
    if (!f || !(f->connections = calloc(t->opt.jobs, sizeof(rocl_db *))))
        return rocl_fail_memory(err);
    f->connection_count = t->opt.jobs;
    rocl_db_state_of(src->db, &f->state);
    rocl_status st = rocpd_find(&found, src->db, src->path, err);
    if (st != ROCL_OK)
        return st;
    if (found.compressed && !*rocl_lz4_version())
        src->remark = "its extdata is compressed with LZ4, and " ROCL_BUILT_WITHOUT("liblz4");
    for (size_t i = 0; i < found.count && st == ROCL_OK; i++)
        st = open_set(src, t, &found, i, src->db, err);
    src->slice = found.slice;
    memcpy(src->version, found.version, sizeof src->version);
    src->writer = found.systems ? "rocprofiler-systems" : NULL;
    rocpd_found_free(&found);
    if (st == ROCL_OK) {
        f->connections[0] = src->db;
        src->db = NULL;
        rest_connections(f);
    }
    return st;
}

static void close_file(rocl_source *src)
{
    rocpd_file *f = src->state;
    if (!f)
        return;
    rocl_rows_close(f->properties.rows);
    for (unsigned i = 0; f->connections && i < f->connection_count; i++)
        rocl_db_close(f->connections[i]);
    if (f->kept_open)
        atomic_fetch_sub(&kept_open, 1);
    free(f->connections);
    free(f);
}

/* ---- tasks ---- */

static rocl_status plan_table(rocpd_set *s, rocl_db *db, schema_table table, uint32_t kinds,
                              unsigned stage, rocl_plan *plan, rocl_error *err)
{
    rocl_db_range *ranges;
    size_t count;
    if (!s->tables[table])
        return ROCL_OK;
    rocl_status st = rocl_db_cut(db, s->tables[table], TASK_ROWS, 64 * (uint64_t)s->trace->opt.jobs,
                                 &ranges, &count, err);
    if (st != ROCL_OK || !count)
        return st;
    /* With -v: which tables SQLite reads, and why. Once, though a trace may be read twice. */
    if (s->trace->opt.explain && !(s->explained >> table & 1)) {
        const char *why = NULL;
        s->explained |= 1u << table;
        st = rocl_rows_why(db, s->tables[table], &why, err);
        if (st == ROCL_OK && why)
            rocl_notice(s->trace, "%s: %s: read through SQLite: %s", s->capture->source->path,
                        s->tables[table], why);
    }
    for (size_t i = 0; i < count && st == ROCL_OK; i++)
        st = rocl_plan_add(plan,
                           &(rocl_task){.kinds = kinds,
                                        .table = (unsigned)table,
                                        .stage = stage,
                                        .first = ranges[i].first,
                                        .last = ranges[i].last,
                                        .rows = ranges[i].rows},
                           err);
    free(ranges);
    return st;
}

static rocl_status plan_values(rocpd_set *s, rocl_db *db, const rocl_emitter *to, rocl_plan *plan,
                               rocl_error *err)
{
    const bool args =
        s->tables[SCHEMA_ARG] && (rocl_wants_args(s->trace, to) || s->trace->opt.collectives);
    const uint32_t regions = ROCL_BIT(ROCL_REGION) | ROCL_BIT(ROCL_MARKER);
    const uint32_t with_args = regions | ROCL_BIT(ROCL_DISPATCH);
    const uint32_t samples = s->tables[SCHEMA_SAMPLE] ? ROCL_BIT(ROCL_INSTANT) : 0;
    if (!(s->tables[SCHEMA_VALUE] && (s->kinds & (ROCL_VALUE_KINDS | samples))) && !args)
        return ROCL_OK;
    rocl_status st = rocpd_join_new(&s->join, s, err);
    if (st == ROCL_OK && (s->kinds & ~regions))
        st = plan_table(s, db, SCHEMA_VALUE, ROCL_BIT(ROCL_COUNTER), 0, plan, err);
    if (st == ROCL_OK && args && (s->kinds & with_args))
        st = plan_table(s, db, SCHEMA_ARG, with_args, 0, plan, err);
    if (st == ROCL_OK && !plan->count) { /* no values at all */
        rocpd_join_free(s->join);
        s->join = NULL;
    }
    return st;
}

static rocl_status open_connection(rocl_trace *t, const rocl_source *src, unsigned worker,
                                   rocl_db **db, rocl_error *err)
{
    rocpd_file *f = src->state;
    rocl_db **connection = &f->connections[worker];
    rocl_status st = *connection ? rocl_db_resume(*connection, err)
                                 : rocl_source_connect(connection, t, src, &f->state, err);
    *db = *connection;
    return st;
}

static rocl_status begin_scan(rocl_trace *t, rocl_model_capture *c, const rocl_emitter *to,
                              rocl_plan *plan, rocl_error *err)
{
    const uint32_t kinds = to->kinds;
    rocpd_set *s = c->state;
    rocl_db *db;
    s->kinds = kinds;
    s->workers = rocl_cache_line_calloc(t->opt.jobs, sizeof *s->workers);
    if (!s->workers)
        return rocl_fail_memory(err);
    rocl_status st = open_connection(t, c->source, 0, &db, err);
    if (st == ROCL_OK)
        st = plan_values(s, db, to, plan, err);
    if (st == ROCL_OK && (kinds & rocpd_table_kinds(SCHEMA_ALLOCATE)))
        st = rocl_allocs_new(&s->allocs, t, err);
    /* Samples come last: whether one is an event of its own is known only when all regions are
     * read. So regions are read even if only their event ids are needed. */
    int64_t first, last;
    s->paired = false;
    if (st == ROCL_OK && s->kinds & ROCL_BIT(ROCL_INSTANT) && s->tables[SCHEMA_SAMPLE])
        st = rocl_db_id_range(db, s->tables[SCHEMA_SAMPLE], &first, &last, &s->paired, err);
    for (int k = 0; k < SCHEMA_TABLES && st == ROCL_OK; k++) {
        uint32_t possible = rocpd_table_kinds((schema_table)k) & s->kinds;
        if (k != SCHEMA_SAMPLE && (possible || (k == SCHEMA_REGION && s->paired)))
            st = plan_table(s, db, (schema_table)k, possible, 1, plan, err);
    }
    const uint32_t samples = rocpd_table_kinds(SCHEMA_SAMPLE) & s->kinds;
    return st || !samples ? st : plan_table(s, db, SCHEMA_SAMPLE, samples, 2, plan, err);
}

static rocl_status ready_worker(rocpd_set *s, rocpd_worker *w, unsigned number,
                                const rocl_emitter *to, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    w->out.capture = &s->capture->pub;
    w->out.to = to;
    w->out.worker = number;
    w->out.max = ROCL_ROWS_BATCH;
    if (!w->db)
        st = open_connection(s->trace, s->capture->source, number, &w->db, err);
    if (st == ROCL_OK && !w->events)
        st = rocpd_events_open(&w->events, s, w->db, to->fields, err);
    if (st == ROCL_OK)
        rocpd_events_begin_task(w->events);
    return st;
}

static rocl_status scan_task(rocl_trace *t, rocl_model_capture *c, const rocl_task *task,
                             unsigned worker, const rocl_emitter *to, rocl_error *err)
{
    rocpd_set *s = c->state;
    rocpd_worker *w = &s->workers[worker];
    rocl_status st = ready_worker(s, w, worker, to, err);
    (void)t;
    if (st != ROCL_OK)
        return st;
    if (task->stage == 0)
        return rocpd_join_values(s->join, w, task, err);
    st = rocpd_scan_table(s, w, task, err);
    if (st == ROCL_OK && s->join)
        st = rocpd_join_seal(s->join, worker, err);
    if (st == ROCL_OK && task->table == SCHEMA_ALLOCATE)
        st = rocl_allocs_seal(s->allocs, worker, err);
    return st;
}

/* Frees what workers read tables with. */
static void free_readers(rocpd_set *s)
{
    for (unsigned i = 0; s->workers && i < s->trace->opt.jobs; i++) {
        rocpd_worker *w = &s->workers[i];
        rocl_batcher_free(&w->out);
        rocpd_events_close(w->events);
        w->events = NULL;
    }
}

/* Frees what the scan of a capture holds; each can be used again. */
static void free_scan(rocpd_set *s)
{
    free_readers(s);
    rocpd_join_free(s->join);
    s->join = NULL;
    rocl_allocs_free(s->allocs);
    s->allocs = NULL;
    for (unsigned i = 0; s->workers && i < s->trace->opt.jobs; i++) {
        rocpd_worker *w = &s->workers[i];
        rocl_idset_free(&w->region_events);
        rocl_lz4_free(&w->unpacked);
        memset(w, 0, sizeof *w);
    }
}

/* ---- what is known only when all tables are read ---- */

typedef struct last_tasks {
    rocpd_set *set;
    const rocl_emitter *to;
    bool allocs; /* there are allocations: they are the first task, before the ranges of the join */
} last_tasks;

static rocl_status emit_alloc(void *ctx, rocl_kind kind, const rocl_alloc *a, rocl_error *err)
{
    rocpd_worker *w = ctx;
    return w->out.to->kinds & ROCL_BIT(kind) ? rocl_batcher_add(&w->out, kind, a, sizeof *a, err)
                                             : ROCL_OK;
}

static rocl_status run_last_task(void *ctx, unsigned worker, size_t index, rocl_error *err)
{
    const last_tasks *l = ctx;
    rocpd_set *s = l->set;
    rocpd_worker *w = &s->workers[worker];
    rocl_status st = ready_worker(s, w, worker, l->to, err);
    if (st != ROCL_OK)
        return st;
    if (!l->allocs || index)
        return rocpd_join_range(s->join, index - l->allocs, w, err);
    st = rocl_allocs_finish(s->allocs, emit_alloc, w, err);
    return st ? st : rocl_batcher_flush(&w->out, err);
}

static rocl_status check_unchanged(rocl_trace *t, rocl_model_capture *c, rocl_error *err)
{
    const rocpd_file *f = c->source->state;
    rocl_status st = ROCL_OK;
    for (unsigned i = 0; i < t->opt.jobs && st == ROCL_OK; i++)
        if (f->connections[i])
            st = rocl_db_check_unchanged(f->connections[i], err);
    return st;
}

static rocl_status finish_scan(rocl_trace *t, rocl_model_capture *c, const rocl_emitter *to,
                               rocl_error *err)
{
    rocpd_set *s = c->state;
    last_tasks l = {s, to, s->allocs};
    unsigned jobs = to->quiet || to->few ? 1 : t->opt.jobs;
    size_t ranges = 0;
    free_readers(s); /* the tables are read: joining needs the memory */
    rocl_status st = s->join
                         ? rocpd_join_start(s->join, jobs > 1 ? 4 * (size_t)jobs : 1, &ranges, err)
                         : ROCL_OK;
    if (st == ROCL_OK)
        st = rocl_run_tasks(jobs, l.allocs + ranges, run_last_task, &l, err);
    free_scan(s); /* the sink now needs the memory of sorters and workers */
    return st == ROCL_OK ? check_unchanged(t, c, err) : st;
}

static void end_scan(rocl_trace *t, rocl_model_capture *c)
{
    rocpd_set *s = c->state;
    size_t next = (size_t)c->pub.index + 1;
    free_scan(s);
    free(s->workers);
    s->workers = NULL;
    rocl_idset_free(&s->region_events);
    if (next == t->capture_count || t->captures[next]->source != c->source)
        rest_connections(c->source->state);
}

/* ---- the rest ---- */

/* The first and the last row of every table that has times. */
static rocl_status peek_times(rocl_trace *t, rocl_model_capture *c, int64_t *first, int64_t *last,
                              bool *any, rocl_error *err)
{
    rocpd_set *s = c->state;
    rocl_db *db;
    *any = false;
    rocl_status st = open_connection(t, c->source, 0, &db, err);
    for (int k = 0; k < SCHEMA_TABLES && st == ROCL_OK; k++) {
        int64_t lo = 0, hi = 0;
        bool some = false, sample = k == SCHEMA_SAMPLE;
        if (!rocpd_table_kinds((schema_table)k) || !s->tables[k])
            continue;
        st = rocl_db_peek_times(db, s->tables[k], sample ? "timestamp" : "start",
                                sample ? "timestamp" : "end", &lo, &hi, &some, err);
        if (st == ROCL_OK && some) {
            *first = *any && *first < lo ? *first : lo;
            *last = *any && *last > hi ? *last : hi;
            *any = true;
        }
    }
    rest_connections(c->source->state);
    return st;
}

/* The extdata of a definition. One kernel after the other is asked for, so the cursor stays
 * open. */
static rocl_status read_properties(rocl_trace *t, rocl_model_capture *c, rocl_property_of of,
                                   uint32_t index, rocl_buf *json, rocl_error *err)
{
    static const char *const column = "extdata";
    const rocpd_set *s = c->state;
    rocpd_file *f = c->source->state;
    const bool agent = of == ROCL_PROPERTIES_OF_AGENT, kernel = of == ROCL_PROPERTIES_OF_KERNEL;
    const char *table = s->tables[agent    ? SCHEMA_AGENT
                                  : kernel ? SCHEMA_KERNEL
                                           : SCHEMA_CODE_OBJECT];
    const int64_t id = agent    ? c->pub.agents[index].id
                       : kernel ? c->pub.kernels[index].id
                                : c->pub.code_objects[index].id;
    unsigned n = 0;
    rocl_status st = ROCL_OK;
    if (!table)
        return ROCL_OK;
    pthread_mutex_lock(&properties_lock);
    /* Sinks ask only before or after scanning, when nobody else uses that connection. */
    rocl_db *db = f->connections[0];
    const bool suspended = rocl_db_is_suspended(db);
    st = open_connection(t, c->source, 0, &db, err);
    if (st == ROCL_OK && !(f->properties.rows && f->properties.table == table)) {
        rocl_rows_close(f->properties.rows);
        f->properties.rows = NULL;
        f->properties.table = table;
        st = rocl_rows_open(&f->properties.rows, db, table, &column, 1, err);
    }
    if (st == ROCL_OK)
        st = rocl_rows_seek(f->properties.rows, id, id, err);
    if (st == ROCL_OK)
        st = rocl_rows_next(f->properties.rows, 1, &n, err);
    if (st == ROCL_OK && n) {
        rocl_lz4 unpacked = {0};
        size_t len;
        const char *text = rocpd_read_json(&unpacked, f->properties.rows, 0, 0, &len);
        rocl_buf_put(json, text, len);
        json->failed |= unpacked.text.failed;
        rocl_lz4_free(&unpacked);
    }
    if (suspended)
        rest_connections(f);
    pthread_mutex_unlock(&properties_lock);
    return st;
}

const rocl_source_ops rocl_rocpd_ops = {
    .open = open_file,
    .close = close_file,
    .free_capture = free_capture,
    .begin = begin_scan,
    .scan = scan_task,
    .finish = finish_scan,
    .end = end_scan,
    .unchanged = check_unchanged,
    .peek_times = peek_times,
    .properties = read_properties,
};
