/* Why GPUs were idle, against a look at everything for every gap, on databases of random events. */
#include "test_stats_sql.h"

enum { MOST = 2000, DISPATCH_NS = 10000, LONG_NS = 10000, OTHER_NS = 1000000 };

typedef struct event {
    int64_t id, start, end, stack, tid;
    int agent; /* of calls 0 */
    bool copy;
    char name[32];
} event;

typedef struct events {
    event *all;
    size_t count;
} events;

static events read_events(sqlite3 *db, const char *sql)
{
    events e = {calloc(MOST, sizeof *e.all), 0};
    sqlite3_stmt *stmt = prepare(db, sql);
    assert_non_null(e.all);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        assert_true(e.count < MOST);
        event *k = &e.all[e.count++];
        k->id = sqlite3_column_int64(stmt, 0);
        k->start = sqlite3_column_int64(stmt, 1);
        k->end = sqlite3_column_int64(stmt, 2);
        k->stack = sqlite3_column_int64(stmt, 3);
        k->tid = sqlite3_column_int64(stmt, 4);
        k->agent = sqlite3_column_int(stmt, 5);
        k->copy = sqlite3_column_int(stmt, 6);
        snprintf(k->name, sizeof k->name, "%s", (const char *)sqlite3_column_text(stmt, 7));
    }
    sqlite3_finalize(stmt);
    return e;
}

/* In order of start. */
static events work_of(sqlite3 *db)
{
    return read_events(
        db, "SELECT x.id, x.start, x.\"end\", e.stack_id, 0, x.agent_id, 0 AS copy, 'kernel' FROM "
            "rocpd_kernel_dispatch x JOIN rocpd_event e ON e.id = x.event_id UNION ALL SELECT "
            "x.id, x.start, x.\"end\", e.stack_id, 0, x.dst_agent_id, 1, 'copy' FROM "
            "rocpd_memory_copy x JOIN rocpd_event e ON e.id = x.event_id ORDER BY 2, 3, 1, 7");
}

static events calls_of(sqlite3 *db)
{
    return read_events(
        db, "SELECT x.id, x.start, x.\"end\", e.stack_id, x.tid, 0, 0, n.string FROM rocpd_region "
            "x JOIN rocpd_event e ON e.id = x.event_id AND e.category_id = 9000 JOIN "
            "rocpd_string n ON n.id = x.name_id ORDER BY x.start, x.id");
}

static const event *call_of(const events *calls, int64_t stack)
{
    for (size_t i = 0; i < calls->count; i++)
        if (stack && calls->all[i].stack == stack)
            return &calls->all[i];
    return NULL;
}

static bool waits(const event *call)
{
    return !strcmp(call->name, "hipTestSynchronize");
}

static int64_t min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Length of the union of some events between two times. */
static int64_t covered(const events *e, bool (*in)(const event *e, int64_t of), int64_t of,
                       int64_t from, int64_t to)
{
    int64_t sum = 0, until = from;
    for (size_t i = 0; i < e->count; i++) {
        int64_t start = max(e->all[i].start, until), end = min(e->all[i].end, to);
        if (!in(&e->all[i], of) || end <= start)
            continue;
        sum += end - start;
        until = end;
    }
    return sum;
}

static bool is_copy_on(const event *e, int64_t agent)
{
    return e->copy && e->agent == agent;
}

static bool waits_on(const event *e, int64_t tid)
{
    return e->tid == tid && waits(e);
}

/* ---- what we expect of a gap ---- */

typedef struct expected {
    int64_t start, length;
    const char *why, *call, *host;
    int64_t host_ns;
} expected;

static bool waits_at(const events *calls, int64_t tid, int64_t time)
{
    for (size_t i = 0; i < calls->count; i++) {
        const event *c = &calls->all[i];
        if (waits_on(c, tid) && c->start <= time && c->end > time)
            return true;
    }
    return false;
}

static void tell_host(expected *x, const events *calls, int64_t tid, int64_t to)
{
    int64_t last = INT64_MIN;
    x->host = NULL;
    x->host_ns = 0;
    for (size_t i = 0; i < calls->count; i++) {
        const event *c = &calls->all[i];
        bool before = c->start <= x->start;
        int64_t ns = min(c->end, to) - max(c->start, x->start);
        if (c->tid != tid || ns <= 0 || (!waits(c) && c->end - c->start < LONG_NS))
            continue;
        if (before ? c->end <= last : ns <= x->host_ns)
            continue;
        last = before ? c->end : last;
        x->host = c->name;
        x->host_ns = ns;
    }
}

static expected explain(const events *work, const events *calls, int64_t from, const event *after)
{
    expected x = {.start = from, .length = after->start - from};
    int64_t copied = covered(work, is_copy_on, after->agent, from, after->start);
    const event *call = call_of(calls, after->stack);
    int64_t to = call && call->start > from ? min(call->start, after->start) : after->start;
    x.call = call ? call->name : NULL;
    if (call)
        tell_host(&x, calls, call->tid, to);
    if (2 * copied > x.length)
        x.why = "copy";
    else if (!call)
        x.why = "unknown";
    else if (call->end <= from && x.length > DISPATCH_NS)
        x.why = "dependency";
    else {
        const int64_t waited = covered(calls, waits_on, call->tid, from, to);
        const int64_t other = to - from - waited;
        x.why = 2 * max(call->start - from, 0) < x.length ? "launch" : "host";
        if (call->start > from && (waits_at(calls, call->tid, from) || 2 * waited >= to - from) &&
            !(other >= OTHER_NS && 2 * other > x.length))
            x.why = "sync";
    }
    return x;
}

static bool is_between(rocl_between between, const event *e)
{
    return between == ROCL_BETWEEN_ALL || (between == ROCL_BETWEEN_COPIES) == e->copy;
}

/* All gaps of a GPU; free the array. */
static expected *gaps_of(const events *work, const events *calls, int agent, rocl_between between,
                         size_t *count)
{
    expected *x = calloc(MOST, sizeof *x);
    int64_t last = INT64_MAX;
    *count = 0;
    assert_non_null(x);
    for (size_t i = 0; i < work->count; i++) {
        const event *e = &work->all[i];
        if (e->agent != agent || !is_between(between, e))
            continue;
        if (e->start > last)
            x[(*count)++] = explain(work, calls, last, e);
        last = last == INT64_MAX ? e->end : max(last, e->end);
    }
    return x;
}

/* ---- comparing ---- */

static const char *text_or_null(const rocl_table *t, size_t row, const char *key)
{
    const rocl_datum *d = cell(t, row, key);
    return d->type == ROCL_DATUM_TEXT ? d->text : NULL;
}

static void check_classes(const rocl_table *t, const char *gpu, const expected *x, size_t n)
{
    static const char *const names[] = {"host", "sync", "launch", "dependency", "copy", "unknown"};
    for (size_t k = 0; k < COUNT(names); k++) {
        int64_t count = 0, total = 0, rows = 0;
        for (size_t i = 0; i < n; i++) {
            bool in = !strcmp(x[i].why, names[k]);
            count += in;
            total += in ? x[i].length : 0;
        }
        for (size_t row = 0; row < t->row_count; row++) {
            if (strcmp(text_or_null(t, row, "gpu"), gpu) != 0 ||
                strcmp(text_or_null(t, row, "class"), names[k]) != 0)
                continue;
            check_int(t, row, "count", count);
            check_int(t, row, "total_ns", total);
            rows++;
        }
        assert_int_equal(rows, count > 0);
    }
}

static size_t check_longest(const rocl_table *t, const char *gpu, const expected *x, size_t n)
{
    size_t rows = 0;
    for (size_t row = 0; row < t->row_count; row++) {
        size_t i = 0;
        if (strcmp(text_or_null(t, row, "gpu"), gpu) != 0)
            continue;
        while (i < n && x[i].start != int_of(t, row, "start_ns"))
            i++;
        assert_true(i < n);
        check_int(t, row, "gap_ns", x[i].length);
        check_text(t, row, "class", x[i].why);
        check_text(t, row, "call", x[i].call);
        check_text(t, row, "host", x[i].host);
        if (x[i].host)
            check_int(t, row, "host_ns", x[i].host_ns);
        rows++;
    }
    return rows;
}

/* From the last work on a GPU to the end of everything. */
static void check_tail(const rocl_table *t, const char *gpu, int64_t wanted)
{
    int64_t tail = 0;
    for (size_t row = 0; row < t->row_count; row++)
        if (!strcmp(text_or_null(t, row, "gpu"), gpu) &&
            !strcmp(text_or_null(t, row, "class"), "tail"))
            tail = int_of(t, row, "total_ns");
    assert_int_equal(tail, wanted);
}

static int64_t last_of(const events *e, int agent, rocl_between between)
{
    int64_t last = INT64_MIN;
    for (size_t i = 0; i < e->count; i++)
        if (agent < 0 || (e->all[i].agent == agent && is_between(between, &e->all[i])))
            last = max(last, e->all[i].end);
    return last;
}

static void check_world(const char *path, rocl_between between, bool seen[6])
{
    static const char *const names[] = {"host", "sync", "launch", "dependency", "copy", "unknown"};
    const rocl_options open = {.jobs = 2, .memory = (size_t)256 << 10};
    const rocl_stats_options o = {.reports = 1u << ROCL_REPORT_GAPS, .gaps_between = between};
    rocl_trace *t = open_trace(path, &open);
    rocl_tables *all = stats_of(t, &o);
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    events work = work_of(db), calls = calls_of(db);
    for (int agent = 2; agent < 4; agent++) {
        const char *gpu = agent == 2 ? "GPU 0" : "GPU 1";
        size_t n;
        expected *x = gaps_of(&work, &calls, agent, between, &n);
        const rocl_table *classes = table_of(all, "gap_classes");
        check_classes(classes, gpu, x, n);
        assert_int_equal(check_longest(table_of(all, "longest_gaps"), gpu, x, n), n < 20 ? n : 20);
        int64_t last = last_of(&work, agent, between);
        if (last != INT64_MIN)
            check_tail(classes, gpu,
                       max(last_of(&work, -1, between), last_of(&calls, -1, between)) - last);
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < COUNT(names); k++)
                seen[k] |= !strcmp(x[i].why, names[k]);
        free(x);
    }
    free(work.all);
    free(calls.all);
    sqlite3_close(db);
    rocl_tables_free(all);
    rocl_trace_close(t);
}

/* Short and long times, so that every class occurs; a third of the calls wait. */
static void test_random(void **state)
{
    static const struct {
        uint64_t steps, longest, stacks;
    } sizes[] = {{400000, 12000, 120}, {4000000, 60000, 60}, {300, 6, 90}, {20000000, 900000, 200}};
    bool seen[6] = {false};
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        size_t k = seed % COUNT(sizes);
        world w;
        world_begin(&w, seed);
        world_sql(&w, "UPDATE rocpd_string%%S SET string = 'hipTestSynchronize' WHERE id = 9002");
        for (int i = 0; i < 260; i++)
            add_random(&w, sizes[k].steps, sizes[k].longest, sizes[k].stacks);
        check_world(world_end(&w), (rocl_between)(seed % 3), seen);
    }
    for (size_t i = 0; i < COUNT(seen); i++)
        assert_true(seen[i]);
}

static void test_same(void **state)
{
    const rocl_stats_options o = {.reports = 1u << ROCL_REPORT_GAPS, .by_stream = true};
    (void)state;
    check_same_bytes("everything", &o);
    check_same_bytes("rank0 rank1", &o);
}

/* Without host calls nothing is known of causes. */
static void test_no_calls(void **state)
{
    const char *const kinds[] = {"kernel", "copy", NULL};
    const rocl_options open = {.include = kinds};
    const rocl_stats_options o = {.reports = 1u << ROCL_REPORT_GAPS};
    rocl_trace *t = open_trace("everything", &open);
    rocl_tables *all = stats_of(t, &o);
    const rocl_table *classes = table_of(all, "gap_classes");
    size_t unknown = 0;
    (void)state;
    for (size_t row = 0; row < classes->row_count; row++) {
        const char *name = text_or_null(classes, row, "class");
        unknown += !strcmp(name, "unknown");
        assert_true(!strcmp(name, "unknown") || !strcmp(name, "tail"));
    }
    assert_true(unknown > 0);
    rocl_tables_free(all);
    rocl_trace_close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_random, enter, leave),
        cmocka_unit_test_setup_teardown(test_same, enter, leave),
        cmocka_unit_test(test_no_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
