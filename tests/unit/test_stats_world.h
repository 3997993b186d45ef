/* For the tests of the reports on GPUs: their work as SQL finds it in databases, and databases with
 * work that is made up. Needs FIXTURES, the folder that make-fixtures.sh filled. */
#ifndef TEST_STATS_WORLD_H
#define TEST_STATS_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/table.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(a)    (sizeof(a) / sizeof(a)[0])
#define BIT(report) (1u << (report))

typedef enum part { COMPUTE, COMMUNICATION, COPY } part;

typedef struct work {
    int64_t start, end;
    part part;
    uint32_t machine;
    int gpu; /* absolute index: in the fixtures GPUs have 2 and up */
    char name[64];
} work;

enum { WORK_MAX = 20000 };

typedef struct works {
    work *all; /* by machine, GPU, start, end */
    size_t count;
} works;

static char folder[64]; /* for what is written */

static inline int enter(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/rocline-test-XXXXXX");
    return !mkdtemp(folder);
}

static inline int leave(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* A fixture by its name, or a path. */
static inline void path_of(char *path, size_t size, const char *name)
{
    const char *fixtures = getenv("FIXTURES");
    if (!fixtures)
        skip();
    if (strchr(name, '/'))
        snprintf(path, size, "%s", name);
    else
        snprintf(path, size, "%s/%s.db", fixtures, name);
}

static inline rocl_trace *open_trace(const char *name, const rocl_options *o)
{
    char path[512];
    const char *const input = path;
    rocl_trace *t = NULL;
    rocl_error *err = rocl_error_new();
    path_of(path, sizeof path, name);
    if (rocl_trace_open(&t, &input, 1, o, err) != ROCL_OK)
        fail_msg("%s: %s", name, rocl_error_text(err));
    rocl_error_free(err);
    return t;
}

static inline rocl_tables *stats_of(rocl_trace *t, const rocl_stats_options *o)
{
    rocl_tables *tables = NULL;
    rocl_error *err = rocl_error_new();
    if (rocl_stats(t, o, &tables, err) > ROCL_PARTIAL)
        fail_msg("%s", rocl_error_text(err));
    rocl_error_free(err);
    return tables;
}

static inline const rocl_table *table_of(const rocl_tables *all, const char *key)
{
    for (size_t i = 0; i < all->count; i++)
        if (!strcmp(all->tables[i].key, key))
            return &all->tables[i];
    fail_msg("no table %s", key);
    return NULL;
}

static inline const rocl_datum *cell(const rocl_table *t, size_t row, const char *key)
{
    assert_true(row < t->row_count);
    for (size_t c = 0; c < t->column_count; c++)
        if (!strcmp(t->columns[c].key, key))
            return &t->cells[row * t->column_count + c];
    fail_msg("table %s has no column %s", t->key, key);
    return NULL;
}

static inline const char *text_of(const rocl_table *t, size_t row, const char *key)
{
    const rocl_datum *d = cell(t, row, key);
    assert_int_equal(d->is, ROCL_DATUM_TEXT);
    return d->text;
}

static inline void check_int(const rocl_table *t, size_t row, const char *key, int64_t expected)
{
    const rocl_datum *d = cell(t, row, key);
    assert_int_equal(d->is, ROCL_DATUM_INT);
    if (d->i != expected)
        fail_msg("table %s, row %zu, %s: %lld, expected %lld", t->key, row, key, (long long)d->i,
                 (long long)expected);
}

/* 100 * part / whole; no value where the whole is 0. */
static inline void check_percent(const rocl_table *t, size_t row, const char *key, int64_t of,
                                 int64_t whole)
{
    const rocl_datum *d = cell(t, row, key);
    assert_int_equal(d->is, whole ? ROCL_DATUM_REAL : ROCL_DATUM_NONE);
    if (whole && fabs(d->r - 100 * (double)of / (double)whole) > 1e-9)
        fail_msg("table %s, row %zu, %s: %.17g", t->key, row, key, d->r);
}

static inline void check_gpu(const rocl_table *t, size_t row, const work *w)
{
    char label[32];
    int n = snprintf(label, sizeof label, "GPU %d", w->gpu - 2);
    assert_memory_equal(text_of(t, row, "gpu"), label, (size_t)n);
}

/* ---- the other side ---- */

static inline void run_sql(sqlite3 *db, const char *sql)
{
    char *message = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s\n%s", message, sql);
}

static inline sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
        fail_msg("%s\n%s", sqlite3_errmsg(db), sql);
    return stmt;
}

static inline int by_place_and_time(const void *a, const void *b)
{
    const work *x = a, *y = b;
    if (x->machine != y->machine)
        return x->machine < y->machine ? -1 : 1;
    if (x->gpu != y->gpu)
        return x->gpu < y->gpu ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

static inline uint32_t machine_of(const rocl_trace *t, const char *guid)
{
    for (size_t i = 0; i < rocl_trace_captures(t); i++)
        if (!strcmp(rocl_text(t, rocl_trace_capture(t, i)->guid, NULL), guid))
            return rocl_trace_capture(t, i)->machine;
    fail_msg("no capture %s", guid);
    return 0;
}

#define KERNELS                                                                                    \
    "SELECT x.start, x.\"end\", CASE WHEN instr(s.display_name, 'nccl') OR "                       \
    "substr(s.display_name, 1, 4) = 'rccl' THEN 1 ELSE 0 END, a.absolute_index, x.guid, "          \
    "s.display_name FROM rocpd_kernel_dispatch x JOIN rocpd_info_agent a ON a.id = x.agent_id "    \
    "AND a.guid = x.guid JOIN rocpd_info_kernel_symbol s ON s.id = x.kernel_id AND s.guid = "      \
    "x.guid WHERE a.type = 'GPU'"
/* One row for either end that is a GPU, and one where both are the same. */
#define COPIES                                                                                     \
    "SELECT x.start, x.\"end\", 2, a.absolute_index, x.guid, n.string FROM rocpd_memory_copy x "   \
    "JOIN rocpd_info_agent a ON a.id IN (x.src_agent_id, x.dst_agent_id) AND a.guid = x.guid "     \
    "JOIN rocpd_string n ON n.id = x.name_id AND n.guid = x.guid WHERE a.type = 'GPU'"

/* Of a database with the tables of schema 3. */
static inline works works_of(const rocl_trace *t)
{
    works w = {.all = calloc(WORK_MAX, sizeof *w.all)};
    sqlite3 *db;
    assert_non_null(w.all);
    assert_int_equal(sqlite3_open(rocl_trace_capture(t, 0)->path, &db), SQLITE_OK);
    sqlite3_stmt *stmt = prepare(db, KERNELS " UNION ALL " COPIES);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        assert_true(w.count < WORK_MAX);
        work *k = &w.all[w.count++];
        k->start = sqlite3_column_int64(stmt, 0);
        k->end = sqlite3_column_int64(stmt, 1);
        k->part = (part)sqlite3_column_int(stmt, 2);
        k->gpu = sqlite3_column_int(stmt, 3);
        k->machine = machine_of(t, (const char *)sqlite3_column_text(stmt, 4));
        snprintf(k->name, sizeof k->name, "%s", (const char *)sqlite3_column_text(stmt, 5));
    }
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    qsort(w.all, w.count, sizeof *w.all, by_place_and_time);
    return w;
}

/* How many works from `first` on are on the same GPU. */
static inline size_t same_gpu(const works *w, size_t first)
{
    size_t n = 0;
    while (first + n < w->count && w->all[first + n].gpu == w->all[first].gpu &&
           w->all[first + n].machine == w->all[first].machine)
        n++;
    return n;
}

/* Of works in order of start, those whose part is in the set: the length of their union between
 * two times. */
static inline int64_t union_between(const work *w, size_t n, unsigned parts, int64_t from,
                                    int64_t to)
{
    int64_t sum = 0, covered = from;
    for (size_t i = 0; i < n; i++) {
        int64_t start = w[i].start > covered ? w[i].start : covered;
        int64_t end = w[i].end < to ? w[i].end : to;
        if (!(parts >> w[i].part & 1) || end <= start)
            continue;
        sum += end - start;
        covered = end;
    }
    return sum;
}

/* ---- databases that are made up ---- */

typedef struct world {
    sqlite3 *db;
    char path[96], suffix[64];
    uint64_t random;
} world;

static inline uint64_t draw(world *w, uint64_t below)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return (w->random >> 11) % below;
}

/* Formats are those of sqlite3_mprintf. */
static inline void world_sql(world *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *sql = sqlite3_vmprintf(format, args);
    va_end(args);
    run_sql(w->db, sql);
    sqlite3_free(sql);
}

/* A fixture without events, with the kernels 9001 to 9004 and a name for copies. */
static inline void world_begin(world *w, uint64_t seed)
{
    static const char *const kernels[] = {"gemm", "ncclDevKernel_AllReduce", "void my_nccl<int>()",
                                          "rcclBarrier"};
    char from[512], command[800];
    *w = (world){.random = seed * 0x9e3779b97f4a7c15u + 1};
    path_of(from, sizeof from, "empty-tables");
    snprintf(w->path, sizeof w->path, "%s/world.db", folder);
    snprintf(command, sizeof command, "cp '%s' %s && chmod u+w %s", from, w->path, w->path);
    assert_int_equal(system(command), 0);
    assert_int_equal(sqlite3_open(w->path, &w->db), SQLITE_OK);
    sqlite3_stmt *stmt = prepare(w->db, "SELECT substr(name, 15) FROM sqlite_master WHERE type = "
                                        "'table' AND name LIKE 'rocpd_metadata%'");
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    snprintf(w->suffix, sizeof w->suffix, "%s", sqlite3_column_text(stmt, 0));
    sqlite3_finalize(stmt);
    run_sql(w->db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
    world_sql(w, "UPDATE rocpd_info_process%s SET init = 0", w->suffix);
    for (int i = 0; i < (int)COUNT(kernels); i++)
        world_sql(w,
                  "INSERT INTO rocpd_info_kernel_symbol%s(id, nid, pid, code_object_id, "
                  "kernel_name, display_name) SELECT %d, nid, pid, code_object_id, '%s', '%s' FROM "
                  "rocpd_info_kernel_symbol%s LIMIT 1",
                  w->suffix, 9001 + i, kernels[i], kernels[i], w->suffix);
    world_sql(w, "INSERT INTO rocpd_string%s(id, string) VALUES (9001, 'some copy')", w->suffix);
}

/* Agents 0 and 1 are CPUs, 2 to 5 GPUs. Kernel 0 is compute, 1 to 3 are communication. */
static inline void add_kernel(world *w, int agent, int kernel, int64_t start, int64_t end)
{
    world_sql(w,
              "INSERT INTO rocpd_kernel_dispatch%s(nid, pid, agent_id, kernel_id, dispatch_id, "
              "queue_id, stream_id, start, \"end\", workgroup_size_x, workgroup_size_y, "
              "workgroup_size_z, grid_size_x, grid_size_y, grid_size_z) SELECT nid, id, %d, %d, 1, "
              "0, 0, %lld, %lld, 64, 1, 1, 64, 1, 1 FROM rocpd_info_process%s",
              w->suffix, agent, 9001 + kernel, start, end, w->suffix);
}

static inline void add_copy(world *w, int src, int dst, int64_t start, int64_t end)
{
    world_sql(w,
              "INSERT INTO rocpd_memory_copy%s(nid, pid, start, \"end\", name_id, src_agent_id, "
              "dst_agent_id, size) SELECT nid, id, %lld, %lld, 9001, %d, %d, 1 FROM "
              "rocpd_info_process%s",
              w->suffix, start, end, src, dst, w->suffix);
}

static inline void world_end(world *w)
{
    run_sql(w->db, "COMMIT");
    sqlite3_close(w->db);
}

/* So many kernels and copies that begin within `steps` ns. */
static inline void add_random(world *w, uint64_t count, uint64_t steps, uint64_t longest)
{
    for (uint64_t i = 0; i < count; i++) {
        int64_t start = (int64_t)(1 + draw(w, steps)), end = start;
        int a = (int)draw(w, 4), b = (int)draw(w, 4);
        if (draw(w, 5))
            end += (int64_t)draw(w, longest + 1);
        if (draw(w, 10) < 7)
            add_kernel(w, a, draw(w, 3) ? 0 : (int)draw(w, 4), start, end);
        else
            add_copy(w, a, b, start, end);
    }
}

/* ---- the same bytes ---- */

static inline char *bytes_of(const rocl_tables *all, rocl_table_format format, size_t *len)
{
    char path[96];
    snprintf(path, sizeof path, "%s/tables", folder);
    const rocl_table_options o = {.path = path, .format = format};
    assert_int_equal(rocl_write_tables(all, &o, NULL), ROCL_OK);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    *len = (size_t)ftell(f);
    rewind(f);
    char *text = malloc(*len + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, *len, f), *len);
    text[*len] = 0;
    fclose(f);
    unlink(path);
    return text;
}

/* For one to four workers, with and without temporary files. */
static inline void check_same_bytes(const char *name, const rocl_stats_options *s)
{
    char *first = NULL;
    size_t len = 0;
    for (unsigned i = 0; i < 8; i++) {
        const rocl_options o = {.jobs = 1 + i % 4, .memory = i < 4 ? 0 : (size_t)256 << 10};
        rocl_trace *t = open_trace(name, &o);
        rocl_tables *all = stats_of(t, s);
        size_t n;
        char *text = bytes_of(all, ROCL_TABLE_JSON, &n);
        if (first)
            assert_string_equal(text, first);
        free(first);
        first = text;
        len = n;
        rocl_tables_free(all);
        rocl_trace_close(t);
    }
    assert_true(len > 0);
    free(first);
}

#endif
