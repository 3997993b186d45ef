/* For the tests of the reports on GPUs: their work as SQL finds it in databases, and databases with
 * work that is made up. Needs FIXTURES, the folder that make-fixtures.sh filled. */
#ifndef TEST_STATS_GPUS_H
#define TEST_STATS_GPUS_H

#include "tests/unit/stats_world.h"

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

/* 100 * part / whole; no value where the whole is 0. */
static inline void check_percent(const rocl_table *t, size_t row, const char *key, int64_t of,
                                 int64_t whole)
{
    const rocl_datum *d = cell(t, row, key);
    assert_int_equal(d->type, whole ? ROCL_DATUM_REAL : ROCL_DATUM_NONE);
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

/* With the kernels 9001 to 9004 and a name for copies. */
static inline void world_begin(world *w, uint64_t seed)
{
    static const char *const kernels[] = {"gemm", "ncclDevKernel_AllReduce", "void my_nccl<int>()",
                                          "rcclBarrier"};
    world_copy(w, seed);
    for (int i = 0; i < (int)COUNT(kernels); i++)
        world_symbol(w, 9001 + i, kernels[i]);
    world_sql(w, "INSERT INTO rocpd_string%%S(id, string) VALUES (9001, 'some copy')");
}

/* Kernel 0 is compute, 1 to 3 are communication. */
static inline void add_kernel(world *w, int agent, int kernel, int64_t start, int64_t end)
{
    world_sql(w,
              "INSERT INTO rocpd_kernel_dispatch%%S(nid, pid, agent_id, kernel_id, dispatch_id, "
              "queue_id, stream_id, start, \"end\", workgroup_size_x, workgroup_size_y, "
              "workgroup_size_z, grid_size_x, grid_size_y, grid_size_z) SELECT nid, id, %d, %d, 1, "
              "0, 0, %lld, %lld, 64, 1, 1, 64, 1, 1 FROM rocpd_info_process%%S",
              agent, 9001 + kernel, start, end);
}

static inline void add_copy(world *w, int src, int dst, int64_t start, int64_t end)
{
    world_sql(w,
              "INSERT INTO rocpd_memory_copy%%S(nid, pid, start, \"end\", name_id, src_agent_id, "
              "dst_agent_id, size) SELECT nid, id, %lld, %lld, 9001, %d, %d, 1 FROM "
              "rocpd_info_process%%S",
              start, end, src, dst);
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

/* The tables, and the pictures of them, are the same whoever works on them. */
static inline void check_same_bytes_of_gpus(rocl_stats_options s)
{
    world w;
    check_same_bytes("merged", &s);
    world_begin(&w, 3);
    add_random(&w, 5000, 1000000, 3000);
    world_end(&w);
    check_same_bytes(w.path, &s);
    s.pictures = true;
    check_same_bytes(w.path, &s);
}

#endif
