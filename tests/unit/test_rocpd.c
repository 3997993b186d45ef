/* The rocpd source against SQL on the same database. Every event that rocl_trace_scan hands out is
 * hashed, field by field; so is every row of a query of ours on the plain tables, which says in SQL
 * what the rules for broken records mean. Equal counts and equal sums of hashes: equal rows.
 *
 * Needs FIXTURES, the folder that make-fixtures.sh filled. */
#include <pthread.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rocline.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* ---- rows as hashes ---- */

typedef struct digest {
    uint64_t rows, start, end, hash; /* sums, modulo 2^64 */
} digest;

typedef struct row {
    uint64_t hash;
} row;

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static void put_int(row *r, int64_t v)
{
    r->hash = mix(r->hash ^ (uint64_t)v);
}

static void put_null(row *r)
{
    r->hash = mix(r->hash + 0x6e756c6c);
}

static void put_bytes(row *r, const char *p, size_t n)
{
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)p[i]) * 1099511628211u;
    put_int(r, (int64_t)h);
}

static void put_text(row *r, const rocl_trace *t, uint32_t text)
{
    size_t n;
    const char *p = rocl_text(t, text, &n);
    if (text == ROCL_NONE)
        put_null(r);
    else
        put_bytes(r, p, n);
}

/* Sums of instances may round differently. */
static void put_real(row *r, double v)
{
    float f = (float)v;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    put_int(r, bits);
}

static void add_row(digest *d, const row *r, int64_t start, int64_t end)
{
    d->rows++;
    d->start += (uint64_t)start;
    d->end += (uint64_t)end;
    d->hash += r->hash;
}

static void assert_same(const char *what, const digest *ours, const digest *sql)
{
    if (!memcmp(ours, sql, sizeof *ours))
        return;
    print_error("%s: %llu rows, start %llu, end %llu, hash %llx; by SQL %llu, %llu, %llu, %llx\n",
                what, (unsigned long long)ours->rows, (unsigned long long)ours->start,
                (unsigned long long)ours->end, (unsigned long long)ours->hash,
                (unsigned long long)sql->rows, (unsigned long long)sql->start,
                (unsigned long long)sql->end, (unsigned long long)sql->hash);
    fail();
}

/* ---- our side ---- */

#define CAPTURES_MAX 8

typedef struct sums {
    digest of[CAPTURES_MAX][ROCL_KINDS];
    digest names[CAPTURES_MAX][ROCL_KINDS]; /* of id and name shown */
    rocl_trace *trace;
    pthread_mutex_t lock;
} sums;

#define ID_OF(array, index) ((index) == ROCL_NONE ? put_null(r) : put_int(r, (array)[index].id))

static void put_event(row *r, const rocl_capture *c, const rocl_event *e)
{
    put_int(r, (int64_t)e->id);
    put_int(r, e->start);
    put_int(r, e->end);
    put_int(r, c->processes[e->process].pid);
    if (e->thread == ROCL_NONE)
        put_null(r);
    else
        put_int(r, c->threads[e->thread].tid);
    put_int(r, (int64_t)e->event_id);
    put_int(r, (int64_t)e->stack_id);
    put_int(r, (int64_t)e->parent_stack_id);
    put_int(r, e->correlation_id);
    put_text(r, c->trace, e->category);
}

static void put_dispatch(row *r, const rocl_capture *c, const rocl_dispatch *d)
{
    ID_OF(c->agents, d->agent);
    ID_OF(c->queues, d->queue);
    ID_OF(c->streams, d->stream);
    ID_OF(c->kernels, d->kernel);
    put_int(r, (int64_t)d->dispatch_id);
    put_int(r, d->private_segment);
    put_int(r, d->group_segment);
    for (unsigned i = 0; i < 3; i++) {
        put_int(r, d->workgroup[i]);
        put_int(r, d->grid[i]);
    }
    put_text(r, c->trace, d->region_name);
    put_int(r, (int64_t)d->graph_exec_id);
    put_int(r, (int64_t)d->graph_node_id);
}

static void put_copy(row *r, const rocl_capture *c, const rocl_copy *k)
{
    put_text(r, c->trace, k->e.name);
    ID_OF(c->agents, k->src);
    ID_OF(c->agents, k->dst);
    ID_OF(c->queues, k->queue);
    ID_OF(c->streams, k->stream);
    put_int(r, (int64_t)k->size);
    put_int(r, (int64_t)k->src_address);
    put_int(r, (int64_t)k->dst_address);
}

static void put_alloc(row *r, const rocl_capture *c, const rocl_alloc *a)
{
    ID_OF(c->agents, a->agent);
    ID_OF(c->queues, a->queue);
    ID_OF(c->streams, a->stream);
    put_int(r, a->op);
    put_int(r, a->level);
    put_int(r, (int64_t)a->size);
    put_int(r, (int64_t)a->address);
}

static void put_counter(row *r, const rocl_capture *c, uint32_t counter)
{
    const rocl_counter *k = counter == ROCL_NONE ? NULL : &c->counters[counter];
    put_text(r, c->trace, k ? k->name : ROCL_NONE);
    if (k)
        ID_OF(c->agents, k->agent);
    else
        put_null(r);
}

static void put_sample(row *r, const rocl_capture *c, const rocl_sample_value *v)
{
    const int64_t place[] = {v->xcc, v->shader_engine, v->instance, v->shader_array, v->wgp};
    put_counter(r, c, v->counter);
    put_real(r, v->value);
    for (size_t i = 0; i < COUNT(place); i++)
        put_int(r, place[i]);
}

static void put_hip(row *r, const rocl_capture *c, const rocl_hip *h)
{
    ID_OF(c->agents, h->agent);
    ID_OF(c->queues, h->queue);
    ID_OF(c->streams, h->stream);
    ID_OF(c->queues, h->source_queue);
    put_int(r, (int64_t)h->graph_exec_id);
    put_int(r, (int64_t)h->kernel_count);
}

static void put_record(row *r, const rocl_batch *b, size_t i)
{
    const rocl_capture *c = b->capture;
    if (b->kind != ROCL_COUNTER) /* a value has the event of its dispatch */
        put_event(r, c, rocl_batch_event(b, i));
    switch (b->kind) {
    case ROCL_DISPATCH:
        put_dispatch(r, c, &b->dispatches[i]);
        break;
    case ROCL_COPY:
        put_copy(r, c, &b->copies[i]);
        break;
    case ROCL_ALLOC:
    case ROCL_SCRATCH:
        put_alloc(r, c, &b->allocs[i]);
        break;
    case ROCL_COUNTER:
        put_int(r, (int64_t)b->counters[i].d.e.id);
        put_counter(r, c, b->counters[i].counter);
        put_real(r, b->counters[i].value);
        break;
    case ROCL_SPM:
    case ROCL_SAMPLE:
        put_sample(r, c, &b->samples[i]);
        break;
    case ROCL_GRAPH:
    case ROCL_HIP_EVENT:
        put_hip(r, c, &b->hips[i]);
        break;
    default:
        put_text(r, c->trace, b->regions[i].function);
    }
}

static rocl_status take_batch(void *ctx, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    sums *s = ctx;
    (void)worker;
    (void)err;
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < b->count; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        row r = {0}, name = {0};
        put_record(&r, b, i);
        add_row(&s->of[b->capture->index][b->kind], &r, e->start, e->end);
        put_int(&name, (int64_t)e->id);
        put_text(&name, s->trace, e->name);
        add_row(&s->names[b->capture->index][b->kind], &name, e->start, e->end);
    }
    pthread_mutex_unlock(&s->lock);
    return ROCL_OK;
}

static const char *folder(void)
{
    const char *f = getenv("FIXTURES");
    if (!f)
        skip();
    return f;
}

/* Opens inputs (names apart by spaces) of the fixtures' folder. */
static rocl_trace *open_trace(const char *names, const rocl_options *o)
{
    static char paths[CAPTURES_MAX][512];
    const char *inputs[CAPTURES_MAX];
    size_t n = 0;
    rocl_trace *t = NULL;
    rocl_error *err = rocl_error_new();
    for (const char *p = names; *p && n < CAPTURES_MAX; n++) {
        int len = (int)strcspn(p, " ");
        snprintf(paths[n], sizeof paths[n], "%s/%.*s.db", folder(), len, p);
        inputs[n] = paths[n];
        p += len + (p[len] == ' ');
    }
    if (rocl_trace_open(&t, inputs, n, o, err) != ROCL_OK) {
        print_error("%s\n", rocl_error_text(err));
        fail();
    }
    rocl_error_free(err);
    return t;
}

static rocl_trace *scan(const char *names, const rocl_options *o, sums *s)
{
    rocl_trace *t = open_trace(names, o);
    rocl_error *err = rocl_error_new();
    memset(s, 0, sizeof *s);
    pthread_mutex_init(&s->lock, NULL);
    s->trace = t;
    rocl_status st = rocl_trace_scan(t, take_batch, s, err);
    if (st > ROCL_PARTIAL) {
        print_error("%s: %s\n", names, rocl_error_text(err));
        fail();
    }
    pthread_mutex_destroy(&s->lock);
    rocl_error_free(err);
    return t;
}

/* ---- the other side ---- */

typedef struct base { /* of one capture */
    sqlite3 *db;
    char suffix[64];
    bool by_track, has_graph, has_spm, has_place, has_source;
    bool lz4;
} base;

static bool has_column(const base *b, const char *table, const char *column)
{
    char name[128];
    snprintf(name, sizeof name, "rocpd_%s%s", table, b->suffix);
    return sqlite3_table_column_metadata(b->db, NULL, name, column, NULL, NULL, NULL, NULL, NULL) ==
           SQLITE_OK;
}

static sqlite3_stmt *prepare(const base *b, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(b->db, sql, -1, &stmt, NULL) != SQLITE_OK) {
        print_error("%s\n%s\n", sqlite3_errmsg(b->db), sql);
        fail();
    }
    return stmt;
}

/* The suffix of the tables whose metadata hold this guid. */
static void find_suffix(base *b, const char *guid)
{
    sqlite3_stmt *list =
        prepare(b, "SELECT substr(name, 15) FROM sqlite_master WHERE type = 'table' "
                   "AND name LIKE 'rocpd_metadata%'");
    while (sqlite3_step(list) == SQLITE_ROW) {
        const char *suffix = (const char *)sqlite3_column_text(list, 0);
        char *sql =
            sqlite3_mprintf("SELECT 1 FROM \"rocpd_metadata%w\" WHERE tag = 'guid' AND value "
                            "= %Q",
                            suffix, guid);
        sqlite3_stmt *found = prepare(b, sql);
        if (sqlite3_step(found) == SQLITE_ROW)
            snprintf(b->suffix, sizeof b->suffix, "%s", suffix);
        sqlite3_finalize(found);
        sqlite3_free(sql);
    }
    sqlite3_finalize(list);
    assert_true(b->suffix[0]);
}

static void open_base(base *b, const rocl_trace *t, const rocl_capture *c)
{
    memset(b, 0, sizeof *b);
    char *uri = sqlite3_mprintf("file:%s?immutable=1", c->path);
    assert_int_equal(sqlite3_open_v2(uri, &b->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL),
                     SQLITE_OK);
    sqlite3_free(uri);
    find_suffix(b, rocl_text(t, c->guid, NULL));
    b->by_track = has_column(b, "region", "track_id");
    b->has_graph = has_column(b, "kernel_dispatch", "graph_exec_id");
    b->has_spm = has_column(b, "pmc_event", "sample_id");
    b->has_place = has_column(b, "pmc_event", "wgp");
    b->has_source = has_column(b, "hip_event", "source_queue_id");
}

/* What a word in braces stands for, by schema. */
static const struct {
    const char *word;
    const char *v3, *v4;
} words[] = {
    {"pid", "x.pid", "k.pid"},
    {"tid", "x.tid", "k.tid"},
    {"agent", "x.agent_id", "k.agent_id"},
    {"queue", "x.queue_id", "k.queue_id"},
    {"stream", "x.stream_id", "k.stream_id"},
    {"track", "", "LEFT JOIN rocpd_track%S k ON k.id = x.track_id"},
    {"category", "LEFT JOIN rocpd_string%S c ON c.id = e.category_id",
     "LEFT JOIN (SELECT id, name AS string FROM rocpd_info_category%S) c ON c.id = e.category_id"},
};

/* Words that stand for the same in every schema; they may hold others. */
static const char *const parts[][2] = {
    {"head",
     "x.id, x.start, x.\"end\", coalesce(p.pid, (SELECT pid FROM rocpd_info_process%S ORDER BY "
     "id LIMIT 1)), h.tid, {event}"},
    {"event", "coalesce(x.event_id, 0), coalesce(e.stack_id, 0), coalesce(e.parent_stack_id, 0), "
              "coalesce(e.correlation_id, 0), c.string"},
    {"joins",
     "{track} LEFT JOIN rocpd_info_process%S p ON p.id = {pid} LEFT JOIN "
     "rocpd_info_thread%S h ON h.id = {tid} LEFT JOIN rocpd_event%S e ON e.id = x.event_id "
     "{category}"},
    {"sound",
     "typeof(x.start) = 'integer' AND typeof(x.\"end\") = 'integer' AND x.start >= 0 AND "
     "x.\"end\" > 0 AND x.\"end\" >= x.start AND x.\"end\" >= coalesce(p.init, (SELECT init "
     "FROM rocpd_info_process%S ORDER BY id LIMIT 1), 0)"},
    {"place",
     "(SELECT id FROM rocpd_info_agent%S WHERE id = {agent}), (SELECT id FROM "
     "rocpd_info_queue%S WHERE id = {queue}), (SELECT id FROM rocpd_info_stream%S WHERE id = "
     "{stream})"},
    /* A sample is in a track in every schema, and has one time. */
    {"sample",
     "x.id, x.timestamp, x.timestamp, coalesce(p.pid, (SELECT pid FROM rocpd_info_process%S "
     "ORDER BY id LIMIT 1)), h.tid, {event}"},
    {"sample-joins",
     "LEFT JOIN rocpd_track%S k ON k.id = x.track_id LEFT JOIN rocpd_info_process%S p "
     "ON p.id = k.pid LEFT JOIN rocpd_info_thread%S h ON h.id = k.tid LEFT JOIN "
     "rocpd_event%S e ON e.id = x.event_id {category}"},
    {"counter", "i.name, (SELECT id FROM rocpd_info_agent%S WHERE id = i.agent_id)"},
    {"number", "typeof(v.value) IN ('integer', 'real', 'null')"},
};

static void expand(const base *b, const char *sql, sqlite3_str *out);

static void expand_word(const base *b, const char *word, size_t n, sqlite3_str *out)
{
    for (size_t i = 0; i < COUNT(words); i++)
        if (strlen(words[i].word) == n && !memcmp(words[i].word, word, n)) {
            expand(b, b->by_track ? words[i].v4 : words[i].v3, out);
            return;
        }
    for (size_t i = 0; i < COUNT(parts); i++)
        if (strlen(parts[i][0]) == n && !memcmp(parts[i][0], word, n)) {
            expand(b, parts[i][1], out);
            return;
        }
    print_error("no word {%.*s}\n", (int)n, word);
    fail();
}

static void expand(const base *b, const char *sql, sqlite3_str *out)
{
    while (*sql) {
        size_t n = strcspn(sql, "{%");
        sqlite3_str_append(out, sql, (int)n);
        sql += n;
        if (sql[0] == '%' && sql[1] == 'S') {
            sqlite3_str_appendall(out, b->suffix);
            sql += 2;
        } else if (sql[0] == '{') {
            n = strcspn(sql, "}");
            expand_word(b, sql + 1, n - 1, out);
            sql += n + 1;
        } else if (*sql) {
            sqlite3_str_append(out, sql++, 1);
        }
    }
}

/* The digest of a query's rows. `timed`: the second and third column are start and end. */
static void query(const base *b, const char *sql, bool timed, digest *d)
{
    sqlite3_str *text = sqlite3_str_new(b->db);
    expand(b, sql, text);
    char *whole = sqlite3_str_finish(text);
    sqlite3_stmt *stmt = prepare(b, whole);
    int rc;
    memset(d, 0, sizeof *d);
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        row r = {0};
        for (int i = 0; i < sqlite3_column_count(stmt); i++) {
            switch (sqlite3_column_type(stmt, i)) {
            case SQLITE_NULL:
                put_null(&r);
                break;
            case SQLITE_INTEGER:
                put_int(&r, sqlite3_column_int64(stmt, i));
                break;
            case SQLITE_FLOAT:
                put_real(&r, sqlite3_column_double(stmt, i));
                break;
            default: /* the blob first: a text may not be UTF-8 */
                put_bytes(&r, sqlite3_column_blob(stmt, i), (size_t)sqlite3_column_bytes(stmt, i));
            }
        }
        add_row(d, &r, timed ? sqlite3_column_int64(stmt, 1) : 0,
                timed ? sqlite3_column_int64(stmt, 2) : 0);
    }
    assert_int_equal(rc, SQLITE_DONE);
    sqlite3_finalize(stmt);
    sqlite3_free(whole);
}

/* ---- every kind ---- */

#define SIZE(column)                                                                               \
    "CASE WHEN typeof(x." column ") = 'integer' AND x." column " >= 0 THEN x." column " ELSE 0 "   \
    "END"
#define DIM(column)                                                                                \
    "CASE WHEN typeof(x." column ") = 'integer' AND x." column                                     \
    " BETWEEN 0 AND 4294967295 THEN x." column " ELSE 0 END"
#define DIMS(axis) DIM("workgroup_size_" axis) ", " DIM("grid_size_" axis)
#define OP                                                                                         \
    "CASE x.type WHEN 'ALLOC' THEN 1 WHEN 'FREE' THEN 2 WHEN 'REALLOC' THEN 3 WHEN 'RECLAIM' "     \
    "THEN 4 ELSE 0 END, CASE x.level WHEN 'REAL' THEN 1 WHEN 'VIRTUAL' THEN 2 WHEN 'SCRATCH' "     \
    "THEN 3 ELSE 0 END"
#define REGIONS                                                                                    \
    "SELECT {head}, n.string FROM rocpd_region%S x {joins} LEFT JOIN rocpd_string%S n ON n.id = "  \
    "x.name_id WHERE {sound} AND coalesce(CAST(c.string AS TEXT), '') "
#define DISPATCHES(graph)                                                                          \
    "SELECT {head}, {place}, s.id, x.dispatch_id, " SIZE("private_segment_size") ", " SIZE(        \
        "group_segment_size") ", " DIMS("x") ", " DIMS("y") ", " DIMS("z") ", r.string, " graph    \
                                                                           " FROM "                \
                                                                           "rocpd_kernel_"         \
                                                                           "dispatch%S x {joins} " \
                                                                           "LEFT JOIN "            \
                                                                           "rocpd_info_kernel_"    \
                                                                           "symbol%S s ON s.id = " \
                                                                           "x.kernel_id LEFT "     \
                                                                           "JOIN rocpd_string%S "  \
                                                                           "r ON r.id = "          \
                                                                           "x.region_name_id "     \
                                                                           "WHERE {sound}"
#define ALLOCS                                                                                     \
    "SELECT {head}, {place}, " OP                                                                  \
    ", " SIZE("size") ", coalesce(x.address, 0) FROM "                                             \
                      "rocpd_memory_allocate%S x {joins} WHERE {sound} AND coalesce(x.level, '') "
#define COPIES                                                                                     \
    "SELECT {head}, n.string, (SELECT id FROM rocpd_info_agent%S WHERE id = x.src_agent_id), "     \
    "(SELECT id FROM rocpd_info_agent%S WHERE id = x.dst_agent_id), (SELECT id FROM "              \
    "rocpd_info_queue%S WHERE id = {queue}), (SELECT id FROM rocpd_info_stream%S WHERE id = "      \
    "{stream}), " SIZE("size") ", coalesce(x.src_address, 0), coalesce(x.dst_address, 0) FROM "    \
                               "rocpd_memory_copy%S x {joins} LEFT JOIN rocpd_string%S n ON n.id " \
                               "= x.name_id WHERE {sound}"
#define INSTANTS(name, spm)                                                                        \
    "SELECT {sample}, n.string FROM rocpd_sample%S x {sample-joins} LEFT JOIN rocpd_string%S n "   \
    "ON "                                                                                          \
    "n.id = " name " WHERE x.timestamp > 0 AND NOT EXISTS (SELECT 1 FROM rocpd_pmc_event%S v "     \
    "WHERE {number} AND (" spm "v.event_id = x.event_id))"
#define VALUES(place, on)                                                                          \
    "SELECT {sample}, {counter}, CAST(coalesce(v.value, 0) AS REAL), " place " FROM "              \
    "rocpd_pmc_event%S v JOIN rocpd_sample%S x ON " on " {sample-joins} LEFT JOIN "                \
    "rocpd_info_pmc%S i ON i.id = v.pmc_id WHERE x.timestamp > 0 AND {number}"
#define COUNTERS(spm)                                                                              \
    "SELECT x.id, {counter}, CAST(total(v.value) AS REAL) FROM rocpd_pmc_event%S v JOIN "          \
    "rocpd_kernel_dispatch%S x ON x.event_id = v.event_id {joins} LEFT JOIN rocpd_info_pmc%S i "   \
    "ON "                                                                                          \
    "i.id = v.pmc_id WHERE {sound} AND {number} " spm " GROUP BY x.id, i.name, i.agent_id"
#define HIPS(queue, exec)                                                                          \
    "SELECT {head}, (SELECT id FROM rocpd_info_agent%S WHERE id = x.agent_id), (SELECT id FROM "   \
    "rocpd_info_queue%S WHERE id = x.queue_id), " queue ", " exec " FROM "

static void check_regions(const base *b, const digest *ours)
{
    digest d;
    query(b, REGIONS "NOT LIKE 'MARKER%'", true, &d);
    assert_same("regions", &ours[ROCL_REGION], &d);
    query(b, REGIONS "LIKE 'MARKER%'", true, &d);
    assert_same("markers", &ours[ROCL_MARKER], &d);
}

static void check_work(const base *b, const digest *ours)
{
    digest d;
    query(b, b->has_graph ? DISPATCHES("x.graph_exec_id, x.graph_node_id") : DISPATCHES("0, 0"),
          true, &d);
    assert_same("dispatches", &ours[ROCL_DISPATCH], &d);
    query(b, COPIES, true, &d);
    assert_same("copies", &ours[ROCL_COPY], &d);
    query(b, ALLOCS "<> 'SCRATCH'", true, &d);
    assert_same("allocations", &ours[ROCL_ALLOC], &d);
    query(b, ALLOCS "= 'SCRATCH'", true, &d);
    assert_same("scratch", &ours[ROCL_SCRATCH], &d);
}

static void check_hip(const base *b, const digest *ours)
{
    digest d = {0};
    if (has_column(b, "graph_launch", "id"))
        query(
            b,
            HIPS("NULL, NULL", "x.graph_exec_id, x.kernel_dispatch_count") "rocpd_graph_launch%S x "
                                                                           "{joins} WHERE {sound}",
            true, &d);
    assert_same("graph launches", &ours[ROCL_GRAPH], &d);
    memset(&d, 0, sizeof d);
    if (b->has_source)
        query(b,
              HIPS("(SELECT id FROM rocpd_info_stream%S WHERE id = x.stream_id), (SELECT id FROM "
                   "rocpd_info_queue%S WHERE id = x.source_queue_id)",
                   "0, 0") "rocpd_hip_event%S x {joins} WHERE {sound}",
              true, &d);
    assert_same("HIP events", &ours[ROCL_HIP_EVENT], &d);
}

#define NO_PLACE "-1, -1, -1, -1, -1"
#define PLACE_303                                                                                  \
    "coalesce(v.xcc, -1), coalesce(v.shader_engine, -1), coalesce(v.instance, -1), -1, -1"
#define PLACE_305                                                                                  \
    "coalesce(v.xcc, -1), coalesce(v.shader_engine, -1), coalesce(v.instance, -1), "               \
    "coalesce(v.shader_array, -1), coalesce(v.wgp, -1)"
/* The sample of a streaming value may have the event of the dispatch. */
#define BY_EVENT_ONLY                                                                              \
    "v.event_id = x.event_id AND v.sample_id IS NULL AND NOT EXISTS (SELECT 1 FROM "               \
    "rocpd_pmc_event%S o WHERE o.sample_id = x.id)"
#define TRACK_NAME "k.name_id"
#define OWN_NAME   "coalesce((SELECT id FROM rocpd_string%S WHERE id = x.name_id), k.name_id)"

static void check_samples(const base *b, const digest *ours)
{
    digest d;
    const char *by_event = VALUES(NO_PLACE, "v.event_id = x.event_id");
    if (b->has_spm)
        by_event =
            b->has_place ? VALUES(PLACE_305, BY_EVENT_ONLY) : VALUES(PLACE_303, BY_EVENT_ONLY);
    if (b->by_track)
        query(b, INSTANTS(OWN_NAME, ""), true, &d);
    else
        query(b,
              b->has_spm ? INSTANTS(TRACK_NAME, "v.sample_id = x.id OR v.sample_id IS NULL AND ")
                         : INSTANTS(TRACK_NAME, ""),
              true, &d);
    assert_same("instants", &ours[ROCL_INSTANT], &d);
    query(b, by_event, true, &d);
    assert_same("sampled values", &ours[ROCL_SAMPLE], &d);
    memset(&d, 0, sizeof d);
    if (b->has_spm)
        query(b,
              b->has_place ? VALUES(PLACE_305, "v.sample_id = x.id")
                           : VALUES(PLACE_303, "v.sample_id = x.id"),
              true, &d);
    assert_same("SPM values", &ours[ROCL_SPM], &d);
}

static void check_counters(const base *b, const digest *ours)
{
    digest d, values = ours[ROCL_COUNTER];
    values.start = values.end = 0;
    query(b, b->has_spm ? COUNTERS("AND v.sample_id IS NULL") : COUNTERS(""), false, &d);
    assert_same("counters", &values, &d);
}

static void check_against_sql(const rocl_trace *t, const sums *s)
{
    for (size_t i = 0; i < rocl_trace_captures(t); i++) {
        base b;
        open_base(&b, t, rocl_trace_capture(t, i));
        check_regions(&b, s->of[i]);
        check_work(&b, s->of[i]);
        check_hip(&b, s->of[i]);
        check_samples(&b, s->of[i]);
        check_counters(&b, s->of[i]);
        sqlite3_close(b.db);
    }
}

/* ---- tests: every fixture ---- */

static const char *const clean[] = {
    "schema-3.0.0",
    "schema-3.0.1",
    "schema-3.0.2",
    "schema-3.0.3",
    "schema-3.0.4",
    "schema-3.0.5",
    "schema-4.1.0",
    "schema-lz4",
    "sys",
    "sys-4.1.0",
    "sampled",
    "sampled-4.1.0",
    "no-underscore",
    "merged",
    "merged-no-underscore",
    "rank0 rank1",
    "node-rank0 node-rank1 node-rank2 node-rank3",
    "spm",
    "spm-3.0.5",
    "graph",
    "hip-events",
    "rename",
    "nic",
    "everything",
    "no-pmc",
    "no-views",
    "viewer",
    "wal-clean",
};
static const char *const nasty[] = {"nasty-3.0.0", "nasty-3.0.5", "nasty-4.1.0", "nasty-lz4",
                                    "nasty-sys"};

static void test_rows(void **state)
{
    const char *names = *state;
    rocl_options o = {.jobs = 2, .args = true};
    sums s;
    rocl_trace *t = scan(names, &o, &s);
    check_against_sql(t, &s);
    for (size_t i = 0; i < COUNT(clean); i++)
        for (int f = 0; names == clean[i] && f < ROCL_FAULTS; f++)
            assert_int_equal(rocl_trace_faults(t, (rocl_fault)f), 0);
    rocl_trace_close(t);
}

/* The same events by any reader, with any number of workers and any memory. */
static void test_ways(void **state)
{
    static const rocl_options ways[] = {
        {.jobs = 1, .reader = ROCL_READER_SQLITE, .args = true},
        {.jobs = 1, .reader = ROCL_READER_AUTO, .args = true},
        {.jobs = 2, .reader = ROCL_READER_AUTO, .args = true},
        {.jobs = 3, .reader = ROCL_READER_SQLITE, .args = true, .memory = (size_t)1 << 20},
        {.jobs = 3, .reader = ROCL_READER_AUTO, .args = true, .memory = (size_t)1 << 20},
    };
    static sums first, s;
    uint64_t faults[ROCL_FAULTS];
    for (size_t i = 0; i < COUNT(ways); i++) {
        rocl_trace *t = scan(*state, &ways[i], &s);
        if (i == 0) {
            first = s;
            for (int f = 0; f < ROCL_FAULTS; f++)
                faults[f] = rocl_trace_faults(t, (rocl_fault)f);
        }
        assert_memory_equal(first.of, s.of, sizeof s.of);
        assert_memory_equal(first.names, s.names, sizeof s.names);
        for (int f = 0; f < ROCL_FAULTS; f++)
            assert_int_equal(rocl_trace_faults(t, (rocl_fault)f), faults[f]);
        rocl_trace_close(t);
    }
}

/* ---- names ---- */

#define NAMES(name)                                                                                \
    "SELECT x.id, CAST(" name " AS TEXT) FROM rocpd_kernel_dispatch%S x LEFT JOIN "                \
    "rocpd_info_kernel_symbol%S s ON s.id = x.kernel_id LEFT JOIN rocpd_string%S r ON r.id = "     \
    "x.region_name_id"

static void check_names(const char *file, rocl_options o, rocl_kind kind, const char *sql)
{
    sums s;
    base b;
    digest d;
    rocl_trace *t = scan(file, &o, &s);
    open_base(&b, t, rocl_trace_capture(t, 0));
    query(&b, sql, false, &d);
    s.names[0][kind].start = s.names[0][kind].end = 0;
    assert_same(file, &s.names[0][kind], &d);
    sqlite3_close(b.db);
    rocl_trace_close(t);
}

static void test_names(void **state)
{
    const rocl_options display = {.jobs = 1};
    const rocl_options mangled = {.jobs = 1, .kernel_names = ROCL_NAMES_MANGLED};
    const rocl_options truncated = {.jobs = 1, .kernel_names = ROCL_NAMES_TRUNCATED};
    const rocl_options renamed = {.jobs = 1, .kernel_rename = true};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const char *file = i ? "schema-4.1.0" : "schema-3.0.0";
        check_names(file, display, ROCL_DISPATCH, NAMES("s.display_name"));
        check_names(file, mangled, ROCL_DISPATCH,
                    NAMES("replace(s.kernel_name || '$', '.kd$', '')"));
        check_names(file, truncated, ROCL_DISPATCH,
                    NAMES("json_extract(s.extdata, '$.truncated_kernel_name')"));
    }
    check_names(
        "rename", renamed, ROCL_DISPATCH,
        NAMES("CASE WHEN coalesce(r.string, '') <> '' THEN r.string ELSE s.display_name END"));
    check_names(
        "schema-3.0.0", display, ROCL_MARKER,
        "SELECT x.id, CAST(coalesce(json_extract(e.extdata, '$.message'), n.string) AS TEXT) FROM "
        "rocpd_region%S x JOIN rocpd_event%S e ON e.id = x.event_id {category} LEFT JOIN "
        "rocpd_string%S n ON n.id = x.name_id WHERE c.string LIKE 'MARKER%'");
}

static rocl_status see_short(void *ctx, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    size_t *seen = ctx;
    (void)worker;
    (void)err;
    for (size_t i = 0; b->kind == ROCL_DISPATCH && i < b->count; i++, ++*seen) {
        const rocl_kernel *k = &b->capture->kernels[b->dispatches[i].kernel];
        const char *name = rocl_text(b->capture->trace, k->shown, NULL);
        assert_non_null(strstr(rocl_text(b->capture->trace, k->display, NULL), name));
        assert_true(*name && !strpbrk(name, "(<:"));
    }
    return ROCL_OK;
}

static void test_short_names(void **state)
{
    const rocl_options o = {.jobs = 1, .kernel_names = ROCL_NAMES_SHORT};
    rocl_trace *t = open_trace("schema-3.0.0", &o);
    size_t seen = 0;
    (void)state;
    assert_int_equal(rocl_trace_scan(t, see_short, &seen, NULL), ROCL_OK);
    assert_true(seen > 0);
    rocl_trace_close(t);
}

/* ---- arguments ---- */

static rocl_status see_args(void *ctx, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    digest *d = ctx;
    (void)worker;
    (void)err;
    if (b->kind != ROCL_REGION && b->kind != ROCL_MARKER)
        return ROCL_OK;
    for (size_t i = 0; i < b->count; i++)
        for (uint32_t k = 0; k < b->regions[i].arg_count; k++) {
            const rocl_arg *a = &b->args[b->regions[i].arg_first + k];
            row r = {0};
            put_int(&r, (int64_t)b->regions[i].e.id);
            put_int(&r, k);
            put_text(&r, b->capture->trace, a->type);
            put_text(&r, b->capture->trace, a->name);
            put_bytes(&r, a->value, a->value_len);
            add_row(d, &r, 0, 0);
        }
    return ROCL_OK;
}

static void check_args(const char *file)
{
    const rocl_options o = {.jobs = 1, .args = true};
    rocl_trace *t = open_trace(file, &o);
    digest ours = {0}, d;
    base b;
    assert_int_equal(rocl_trace_scan(t, see_args, &ours, NULL), ROCL_OK);
    open_base(&b, t, rocl_trace_capture(t, 0));
    query(&b,
          "SELECT x.id, row_number() OVER (PARTITION BY x.id ORDER BY coalesce(a.position, 0), "
          "a.id) - 1, a.type, a.name, a.value FROM rocpd_region%S x JOIN rocpd_arg%S a ON "
          "a.event_id = x.event_id",
          false, &d);
    assert_same(file, &ours, &d);
    assert_true(d.rows > 0);
    sqlite3_close(b.db);
    rocl_trace_close(t);
}

static void test_args(void **state)
{
    (void)state;
    check_args("schema-3.0.0");
    check_args("args-order");
}

/* ---- filters ---- */

static uint64_t number(const base *b, const char *sql)
{
    sqlite3_str *text = sqlite3_str_new(b->db);
    expand(b, sql, text);
    char *whole = sqlite3_str_finish(text);
    sqlite3_stmt *stmt = prepare(b, whole);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    uint64_t v = (uint64_t)sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    sqlite3_free(whole);
    return v;
}

/* Kernels in a window whose edges lie in the middle of two of them. */
static void check_window(const char *file, rocl_window_mode mode, const char *condition)
{
    rocl_options o = {.jobs = 2, .window_mode = mode};
    char start[24], end[24], sql[512];
    const char *edge =
        "SELECT (start + \"end\") / 2 FROM rocpd_kernel_dispatch%%S ORDER BY start LIMIT "
        "1 OFFSET %d";
    base b;
    sums s;
    rocl_trace *t = open_trace(file, &o);
    open_base(&b, t, rocl_trace_capture(t, 0));
    rocl_trace_close(t);
    snprintf(sql, sizeof sql, edge, 5);
    snprintf(start, sizeof start, "%llu", (unsigned long long)number(&b, sql));
    snprintf(sql, sizeof sql, edge, 20);
    snprintf(end, sizeof end, "%llu", (unsigned long long)number(&b, sql));
    sqlite3_close(b.db);
    o.start = start;
    o.end = end;
    t = scan(file, &o, &s);
    open_base(&b, t, rocl_trace_capture(t, 0));
    const char *const sums_of[] = {"count(*)", "sum(max(start, low))", "sum(min(\"end\", high))"};
    const uint64_t ours[] = {s.of[0][ROCL_DISPATCH].rows, s.of[0][ROCL_DISPATCH].start,
                             s.of[0][ROCL_DISPATCH].end};
    for (size_t i = 0; i < COUNT(ours); i++) {
        bool clip = mode == ROCL_WINDOW_CLIP;
        snprintf(sql, sizeof sql,
                 "WITH w(f, t, low, high) AS (SELECT %s, %s, %s, %s) SELECT %s FROM w, "
                 "rocpd_kernel_dispatch%%S WHERE %s",
                 start, end, clip ? start : "0", clip ? end : "9223372036854775807", sums_of[i],
                 condition);
        assert_int_equal(ours[i], number(&b, sql));
    }
    sqlite3_close(b.db);
    rocl_trace_close(t);
}

static void test_windows(void **state)
{
    (void)state;
    check_window("schema-3.0.0", ROCL_WINDOW_INSIDE, "start >= f AND \"end\" <= t");
    check_window("schema-3.0.0", ROCL_WINDOW_OVERLAP, "start <= t AND \"end\" >= f");
    check_window("schema-3.0.0", ROCL_WINDOW_CLIP, "start <= t AND \"end\" >= f");
    check_window("schema-4.1.0", ROCL_WINDOW_INSIDE, "start >= f AND \"end\" <= t");
}

/* Bounds in percent are those of the sound records: faults do not stretch them. */
static void test_bounds(void **state)
{
    rocl_options o = {.jobs = 1, .start = "0%", .end = "100%"};
    const rocl_options all = {.jobs = 1};
    sums s, t;
    (void)state;
    for (size_t i = 0; i < COUNT(nasty); i++) {
        rocl_trace *a = scan(nasty[i], &o, &s), *b = scan(nasty[i], &all, &t);
        assert_int_equal(s.of[0][ROCL_DISPATCH].rows, t.of[0][ROCL_DISPATCH].rows);
        assert_int_equal(s.of[0][ROCL_REGION].rows, t.of[0][ROCL_REGION].rows);
        rocl_trace_close(a);
        rocl_trace_close(b);
    }
}

static void test_kinds(void **state)
{
    static const struct {
        const char *include, *exclude;
    } cases[] = {{"kernel", NULL},
                 {"copy", NULL},
                 {"region,sample", NULL},
                 {NULL, "kernel,counter"},
                 {NULL, "sample"},
                 {"counter", NULL},
                 {NULL, "spm"}};
    rocl_options all = {.jobs = 1};
    static sums s, whole;
    (void)state;
    rocl_trace *w = scan("everything", &all, &whole);
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *const in[] = {cases[i].include, NULL}, *const out[] = {cases[i].exclude, NULL};
        rocl_options o = {.jobs = 2, .strict = true};
        if (cases[i].include)
            o.include = in;
        if (cases[i].exclude)
            o.exclude = out;
        rocl_trace *t = scan("everything", &o, &s);
        uint64_t passed = 0;
        for (int k = 0; k < ROCL_KINDS; k++) {
            passed += s.of[0][k].rows;
            if (s.of[0][k].rows)
                assert_memory_equal(&s.of[0][k], &whole.of[0][k], sizeof(digest));
        }
        assert_true(passed > 0);
        rocl_trace_close(t);
    }
    rocl_trace_close(w);
}

/* ---- faults ---- */

/* What each broken row of the generator counts as; those that are not here are no faults. */
static const struct {
    const char *name;
    rocl_fault fault;
    unsigned times; /* a row */
} expected[] = {
    {"region_end_before_start", ROCL_FAULT_END_BEFORE_START, 1},
    {"region_end_zero", ROCL_FAULT_NO_END, 1},
    {"region_before_process", ROCL_FAULT_BEFORE_PROCESS, 1},
    {"region_dangling_name", ROCL_FAULT_DANGLING_NAME, 1},
    {"region_dangling_thread", ROCL_FAULT_DANGLING_THREAD, 1},
    {"region_dangling_process", ROCL_FAULT_DANGLING_PROCESS, 1},
    {"region_dangling_track", ROCL_FAULT_DANGLING_TRACK, 1},
    {"region_dangling_event", ROCL_FAULT_DANGLING_EVENT, 1},
    {"region_longest", ROCL_FAULT_BAD_TIME, 1},
    {"region_negative_time", ROCL_FAULT_BAD_TIME, 1},
    {"region_text_start", ROCL_FAULT_BAD_TIME, 1},
    {"region_real_start", ROCL_FAULT_BAD_TIME, 1},
    {"region_blob_end", ROCL_FAULT_BAD_TIME, 1},
    {"event_dangling_category", ROCL_FAULT_DANGLING_NAME, 1},
    {"event_extdata_not_json", ROCL_FAULT_BAD_JSON, 1},
    {"event_extdata_cut", ROCL_FAULT_BAD_JSON, 1},
    {"message_lone_surrogate", ROCL_FAULT_BAD_JSON, 1},
    {"sample_dangling_track", ROCL_FAULT_DANGLING_TRACK, 1},
    {"sample_dangling_event", ROCL_FAULT_DANGLING_EVENT, 1},
    {"sample_time_zero", ROCL_FAULT_NO_END, 1},
    {"kernel_end_before_start", ROCL_FAULT_END_BEFORE_START, 1},
    {"kernel_end_zero", ROCL_FAULT_NO_END, 1},
    {"kernel_both_zero", ROCL_FAULT_NO_END, 1},
    {"kernel_before_process", ROCL_FAULT_BEFORE_PROCESS, 1},
    {"kernel_dangling_agent", ROCL_FAULT_DANGLING_AGENT, 1},
    {"kernel_text_agent", ROCL_FAULT_BAD_VALUE, 1},
    {"kernel_dangling_thread", ROCL_FAULT_DANGLING_THREAD, 1},
    {"kernel_dangling_queue", ROCL_FAULT_DANGLING_QUEUE, 1},
    {"kernel_dangling_stream", ROCL_FAULT_DANGLING_STREAM, 1},
    {"kernel_dangling_track", ROCL_FAULT_DANGLING_TRACK, 1},
    {"kernel_dangling_symbol", ROCL_FAULT_DANGLING_KERNEL, 1},
    {"kernel_dangling_region_name", ROCL_FAULT_DANGLING_NAME, 1},
    {"kernel_dangling_event", ROCL_FAULT_DANGLING_EVENT, 1},
    {"kernel_huge_grid", ROCL_FAULT_BAD_VALUE, 2},
    {"kernel_negative_sizes", ROCL_FAULT_BAD_VALUE, 2},
    {"copy_dangling_agents", ROCL_FAULT_DANGLING_AGENT, 2},
    {"copy_dangling_name", ROCL_FAULT_DANGLING_NAME, 1},
    {"copy_size_negative", ROCL_FAULT_BAD_VALUE, 1},
    {"alloc_dangling_agent", ROCL_FAULT_DANGLING_AGENT, 1},
    /* Its event is as unknown as that of kernel_dangling_event, so it is that kernel's value. */
    {"pmc_dangling_event", ROCL_FAULT_ORPHAN_VALUE, 0},
    {"pmc_null_event", ROCL_FAULT_ORPHAN_VALUE, 1},
    {"pmc_dangling_counter", ROCL_FAULT_DANGLING_COUNTER, 1},
    {"pmc_dangling_counter", ROCL_FAULT_ORPHAN_VALUE, 1}, /* of an event of nothing */
    {"pmc_text_value", ROCL_FAULT_BAD_VALUE, 1},
};

static void expect(const char *file, uint64_t *faults)
{
    char path[512], line[256], name[128];
    unsigned rows;
    snprintf(path, sizeof path, "%s/%s.tsv", folder(), file);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "%127s %u", name, &rows) == 2)
            for (size_t i = 0; i < COUNT(expected); i++)
                if (!strcmp(name, expected[i].name))
                    faults[expected[i].fault] += (uint64_t)rows * expected[i].times;
    fclose(f);
}

static void test_faults(void **state)
{
    const char *file = *state;
    rocl_options o = {.jobs = 2};
    uint64_t faults[ROCL_FAULTS] = {0};
    bool same = true;
    sums s;
    expect(file, faults);
    rocl_trace *t = scan(file, &o, &s);
    if (strstr(file, "sys")) /* does not know when the process began */
        faults[ROCL_FAULT_BEFORE_PROCESS] = 0;
    if (strstr(file, "lz4")) /* extdata is in frames, which are not read */
        faults[ROCL_FAULT_BAD_JSON] = 0;
    for (int f = 0; f < ROCL_FAULTS; f++)
        if (rocl_trace_faults(t, (rocl_fault)f) != faults[f]) {
            print_error("%s: %s: %llu, expected %llu\n", file, rocl_fault_text((rocl_fault)f),
                        (unsigned long long)rocl_trace_faults(t, (rocl_fault)f),
                        (unsigned long long)faults[f]);
            same = false;
        }
    rocl_trace_close(t);
    assert_true(same);
}

int main(void)
{
    static struct CMUnitTest tests[3 * (COUNT(clean) + COUNT(nasty)) + 8];
    const struct CMUnitTest others[] = {
        cmocka_unit_test(test_names),  cmocka_unit_test(test_short_names),
        cmocka_unit_test(test_args),   cmocka_unit_test(test_windows),
        cmocka_unit_test(test_bounds), cmocka_unit_test(test_kinds)};
    size_t n = 0;
    for (size_t i = 0; i < COUNT(clean) + COUNT(nasty); i++) {
        const char *name = i < COUNT(clean) ? clean[i] : nasty[i - COUNT(clean)];
        void *state = (void *)(uintptr_t)name;
        tests[n++] = (struct CMUnitTest){name, test_rows, NULL, NULL, state};
        tests[n++] = (struct CMUnitTest){name, test_ways, NULL, NULL, state};
        if (i >= COUNT(clean))
            tests[n++] = (struct CMUnitTest){name, test_faults, NULL, NULL, state};
    }
    memcpy(tests + n, others, sizeof others);
    n += COUNT(others);
    return _cmocka_run_group_tests("rocpd", tests, n, NULL, NULL);
}
