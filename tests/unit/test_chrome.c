/* The Chrome sink: what it writes is parsed, checked for what readers rely on, and compared with
 * the databases it comes from by SQL, which knows nothing of the library.
 *
 * Needs FIXTURES, the folder that make-fixtures.sh filled. */
#include "test_csv_world.h"

#include <math.h>
#include <sqlite3.h>
#include <unistd.h>
#include <zlib.h>

#include <cjson/cJSON.h>

#include "base/text.h"

static char folder[64];

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/test_chrome.XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    return rmdir(folder);
}

/* ---- a file that was written --------------------------------------------------------------- */

typedef struct written {
    char *text; /* unpacked */
    size_t size;
    cJSON *json;
    const cJSON *events;
    rocl_status status;
    rocl_written report;
} written;

/* Reads the file, unpacked, and removes it. */
static void take(written *w, const char *path)
{
    enum { MOST = 1 << 23 };
    gzFile f = gzopen(path, "rb");
    assert_non_null(f);
    w->text = malloc(MOST);
    assert_non_null(w->text);
    int n = gzread(f, w->text, MOST - 1);
    assert_true(n > 0 && n < MOST - 1);
    gzclose(f);
    unlink(path);
    w->size = (size_t)n;
    w->text[n] = '\0';
}

static void parse(written *w)
{
    const char *end = NULL;
    assert_true(rocl_utf8_valid(w->text, w->size));
    assert_memory_equal(w->text, "{\"traceEvents\":[", 16);
    w->json = cJSON_ParseWithLengthOpts(w->text, w->size + 1, &end, true);
    assert_non_null(w->json);
    w->events = cJSON_GetObjectItem(w->json, "traceEvents");
    assert_true(cJSON_IsArray(w->events));
}

static void drop(written *w)
{
    cJSON_Delete(w->json);
    free(w->text);
    *w = (written){0};
}

static written write_trace(rocl_trace *t, rocl_chrome_options o)
{
    char path[128];
    written w = {0};
    rocl_error *err = rocl_error_new();
    snprintf(path, sizeof path, "%s/out.json", folder);
    o.path = path;
    w.status = rocl_write_chrome(t, &o, &w.report, err);
    assert_string_equal(rocl_error_text(err), "");
    assert_true(w.status <= ROCL_PARTIAL);
    rocl_error_free(err);
    take(&w, path);
    parse(&w);
    return w;
}

/* Inputs: names of fixtures apart by spaces. */
static written convert(const char *names, rocl_options o, rocl_chrome_options c)
{
    char list[256], paths[8][512], *rest;
    const char *inputs[8], *fixtures = getenv("FIXTURES");
    size_t n = 0;
    snprintf(list, sizeof list, "%s", names);
    for (char *s = strtok_r(list, " ", &rest); s && n < 8; s = strtok_r(NULL, " ", &rest), n++) {
        snprintf(paths[n], sizeof paths[n], "%s/%s", fixtures ? fixtures : "build/fixtures", s);
        inputs[n] = paths[n];
    }
    rocl_error *err = rocl_error_new();
    rocl_trace *t = NULL;
    rocl_status st = rocl_trace_open(&t, inputs, n, &o, err);
    assert_string_equal(rocl_error_text(err), "");
    assert_true(st <= ROCL_PARTIAL);
    rocl_error_free(err);
    written w = write_trace(t, c);
    rocl_trace_close(t);
    return w;
}

static const char *word(const cJSON *e, const char *key)
{
    const char *s = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(e, key));
    return s ? s : "";
}

static double number(const cJSON *e, const char *key)
{
    return cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(e, key));
}

static int64_t ns(const cJSON *e, const char *key)
{
    const double v = number(e, key) * 1000; /* of the last times, a double is none of 64 bits */
    return v >= 0x1p62 ? INT64_MAX / 2 : llround(v);
}

static bool is_phase(const cJSON *e, const char *ph)
{
    return !strcmp(word(e, "ph"), ph);
}

static bool truth(const cJSON *e, const char *key)
{
    return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(e, key));
}

static const cJSON *find(const written *w, const char *ph, const char *name)
{
    const cJSON *e;
    cJSON_ArrayForEach(e,
                       w->events) if (is_phase(e, ph) && !strcmp(word(e, "name"), name)) return e;
    fail_msg("no event \"%s\" of phase %s", name, ph);
    return NULL;
}

/* The name that metadata gives a process (tid 0) or a row. */
static const char *name_of(const written *w, double pid, double tid)
{
    const char *what = tid > 0 ? "thread_name" : "process_name";
    const cJSON *e;
    cJSON_ArrayForEach(e, w->events)
    {
        if (strcmp(word(e, "name"), what) || number(e, "pid") != pid ||
            (tid > 0 && number(e, "tid") != tid))
            continue;
        return word(cJSON_GetObjectItem(e, "args"), "name");
    }
    return "";
}

static const char *row_of(const written *w, const cJSON *e)
{
    return name_of(w, number(e, "pid"), number(e, "tid"));
}

/* ---- what readers rely on ------------------------------------------------------------------ */

typedef struct slice {
    double pid, tid;
    int64_t start, end;
    size_t place;
} slice;

static int by_row(const void *a, const void *b)
{
    const slice *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return x->place < y->place ? -1 : 1;
}

static slice *slices_of(const written *w, size_t *count)
{
    slice *all = calloc((size_t)cJSON_GetArraySize(w->events) + 1, sizeof *all);
    size_t n = 0, place = 0;
    const cJSON *e;
    assert_non_null(all);
    cJSON_ArrayForEach(e, w->events)
    {
        place++;
        if (!is_phase(e, "X"))
            continue;
        int64_t start = ns(e, "ts");
        all[n++] = (slice){number(e, "pid"), number(e, "tid"), start, start + ns(e, "dur"), place};
    }
    qsort(all, n, sizeof *all, by_row);
    *count = n;
    return all;
}

/* On a row slices come by time and lie in each other or apart. */
static void check_nesting(const written *w)
{
    size_t n, depth = 0;
    slice *s = slices_of(w, &n);
    int64_t *ends = calloc(n + 1, sizeof *ends);
    assert_non_null(ends);
    for (size_t i = 0; i < n; i++) {
        bool same = i && s[i].pid == s[i - 1].pid && s[i].tid == s[i - 1].tid;
        if (!same)
            depth = 0;
        assert_true(!same || s[i].start >= s[i - 1].start);
        while (depth && ends[depth - 1] <= s[i].start)
            depth--;
        assert_true(!depth || s[i].end <= ends[depth - 1]);
        ends[depth++] = s[i].end;
    }
    assert_int_equal(n, w->report.slices);
    free(ends);
    free(s);
}

/* Numbers are 32 bits, processes are named once, and what happens is in one that has a name. */
static void check_numbers(const written *w)
{
    const cJSON *e;
    unsigned counters = 0;
    cJSON_ArrayForEach(e, w->events)
    {
        double pid = number(e, "pid"), tid = number(e, "tid");
        assert_true(pid > 0 && pid <= UINT32_MAX);
        assert_true(isnan(tid) || (tid > 0 && tid <= UINT32_MAX));
        assert_string_not_equal(name_of(w, pid, 0), "");
        if (!is_phase(e, "M"))
            assert_true(ns(e, "ts") >= 0);
        counters += is_phase(e, "C");
    }
    assert_int_equal(counters, w->report.values);
}

/* An arrow begins once and ends where work begins no earlier. */
static void check_flow(const written *w, const cJSON *end)
{
    const cJSON *e;
    unsigned begins = 0;
    cJSON_ArrayForEach(e, w->events)
    {
        if (strcmp(word(e, "bind_id"), word(end, "bind_id")) || !truth(e, "flow_out"))
            continue;
        begins++;
        assert_true(ns(e, "ts") <= ns(end, "ts"));
    }
    assert_int_equal(begins, 1);
}

static unsigned check_flows(const written *w)
{
    const cJSON *e, *other;
    unsigned ends = 0;
    cJSON_ArrayForEach(e, w->events)
    {
        bool met = false;
        if (truth(e, "flow_in")) {
            check_flow(w, e);
            ends++;
        }
        if (!truth(e, "flow_out"))
            continue;
        cJSON_ArrayForEach(other, w->events) met |=
            truth(other, "flow_in") && !strcmp(word(other, "bind_id"), word(e, "bind_id"));
        assert_true(met);
    }
    return ends;
}

static void check_all(const written *w)
{
    check_nesting(w);
    check_numbers(w);
    check_flows(w);
}

/* ---- against SQL --------------------------------------------------------------------------- */

typedef struct tally {
    int64_t count, duration;
} tally;

static int64_t one_number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int64_t v = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return v;
}

/* A file holds a set of tables per process: all of those whose names begin so. */
static tally in_tables(sqlite3 *db, const char *begin)
{
    tally all = {0};
    char sql[512];
    sqlite3_stmt *s;
    snprintf(sql, sizeof sql,
             "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB '%s*'", begin);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    while (sqlite3_step(s) == SQLITE_ROW) {
        const char *table = (const char *)sqlite3_column_text(s, 0);
        snprintf(sql, sizeof sql, "SELECT count(*) FROM \"%s\"", table);
        all.count += one_number(db, sql);
        snprintf(sql, sizeof sql, "SELECT coalesce(sum(\"end\" - start), 0) FROM \"%s\"", table);
        all.duration += one_number(db, sql);
    }
    sqlite3_finalize(s);
    return all;
}

/* Of slices of a category; NULL: of host slices, which have none of those of GPU work. */
static tally in_file(const written *w, const char *category)
{
    static const char *const work[] = {"kernel", "copy",      "alloc",  "scratch",
                                       "graph",  "hip-event", "barrier"};
    tally all = {0};
    const cJSON *e;
    cJSON_ArrayForEach(e, w->events)
    {
        bool takes = category && !strcmp(word(e, "cat"), category);
        if (!category) {
            takes = true;
            for (size_t i = 0; i < COUNT(work); i++)
                takes &= strcmp(word(e, "cat"), work[i]) != 0;
        }
        if (!takes || !is_phase(e, "X"))
            continue;
        all.count++;
        all.duration += ns(e, "dur");
    }
    return all;
}

static void same_tally(tally ours, tally theirs)
{
    assert_int_equal(ours.count, theirs.count);
    assert_int_equal(ours.duration, theirs.duration);
}

static void compare_with_tables(const char *name)
{
    char path[512];
    const char *fixtures = getenv("FIXTURES");
    sqlite3 *db;
    written w = convert(name, (rocl_options){.jobs = 2}, (rocl_chrome_options){.flows = true});
    snprintf(path, sizeof path, "%s/%s", fixtures ? fixtures : "build/fixtures", name);
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    same_tally(in_file(&w, "kernel"), in_tables(db, "rocpd_kernel_dispatch"));
    same_tally(in_file(&w, "copy"), in_tables(db, "rocpd_memory_copy"));
    same_tally(in_file(&w, NULL), in_tables(db, "rocpd_region"));
    tally alloc = in_file(&w, "alloc"), scratch = in_file(&w, "scratch");
    alloc.count += scratch.count;
    alloc.duration += scratch.duration;
    same_tally(alloc, in_tables(db, "rocpd_memory_allocate"));
    sqlite3_close(db);
    check_all(&w);
    assert_true(check_flows(&w) > 10);
    drop(&w);
}

static void test_tables(void **state)
{
    static const char *const names[] = {"everything.db",   "merged.db",    "schema-3.0.0.db",
                                        "schema-4.1.0.db", "sampled.db",   "sys.db",
                                        "hip-events.db",   "wal-clean.db", "spm.db"};
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++)
        compare_with_tables(names[i]);
}

static void test_hostile(void **state)
{
    static const char *const names[] = {"nasty-3.0.0.db", "nasty-3.0.5.db", "nasty-4.1.0.db",
                                        "nasty-lz4.db", "nasty-sys.db"};
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        written w = convert(names[i], (rocl_options){.jobs = 2, .args = true},
                            (rocl_chrome_options){.flows = true, .group_by_queue = i % 2});
        assert_int_equal(w.status, ROCL_PARTIAL);
        check_all(&w);
        drop(&w);
    }
}

static void test_window(void **state)
{
    (void)state;
    rocl_options o = {.jobs = 2, .start = "30%", .end = "60%"};
    for (o.window_mode = ROCL_WINDOW_INSIDE; o.window_mode <= ROCL_WINDOW_CLIP; o.window_mode++) {
        written w = convert("sampled.db", o, (rocl_chrome_options){.flows = true});
        assert_true(w.report.slices > 10);
        check_all(&w);
        drop(&w);
    }
}

static void test_several_processes(void **state)
{
    (void)state;
    written w = convert("node-rank0.db node-rank1.db node-rank2.db node-rank3.db",
                        (rocl_options){.jobs = 2}, (rocl_chrome_options){.flows = true});
    const cJSON *e;
    unsigned processes = 0, gpus = 0;
    check_all(&w);
    cJSON_ArrayForEach(e, w.events)
    {
        if (strcmp(word(e, "name"), "process_name"))
            continue;
        const char *name = word(cJSON_GetObjectItem(e, "args"), "name");
        processes += !strncmp(name, "train (rank ", 12) && strstr(name, "synth-node-");
        gpus += !strncmp(name, "GPU ", 4);
    }
    assert_int_equal(processes, 4);
    assert_int_equal(gpus, 8);
    drop(&w);
}

/* ---- bytes --------------------------------------------------------------------------------- */

static void test_jobs(void **state)
{
    static const char *const names[] = {"rank0.db rank1.db", "everything.db", "nasty-4.1.0.db",
                                        "sampled.db"};
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        rocl_chrome_options o = {.flows = true};
        written one = convert(names[i], (rocl_options){.jobs = 1, .args = true}, o);
        for (unsigned jobs = 2; jobs <= 4; jobs += 2) {
            o.gzip = jobs == 4;
            written more =
                convert(names[i], (rocl_options){.jobs = jobs, .memory = 1 << 16, .args = true}, o);
            assert_int_equal(one.size, more.size);
            assert_memory_equal(one.text, more.text, one.size);
            if (o.gzip)
                assert_true(more.report.bytes < one.size);
            else
                assert_int_equal(more.report.bytes, one.size);
            drop(&more);
        }
        drop(&one);
    }
}

static void test_lines(void **state)
{
    (void)state;
    written w = convert("everything.db", (rocl_options){.jobs = 1}, (rocl_chrome_options){0});
    int lines = 0;
    const char *end = strstr(w.text, "\"rocline\":"); /* hosts, processes and GPUs follow */
    assert_non_null(end);
    for (const char *p = w.text; (p = strchr(p, '\n')) && p < end; p++)
        lines++;
    assert_int_equal(lines, cJSON_GetArraySize(w.events) + 1);
    assert_int_equal(check_flows(&w), 0);
    assert_null(strstr(w.text, "correlation"));
    drop(&w);
}

static void test_empty(void **state)
{
    (void)state;
    world w;
    world_open(&w, 2, NULL, 0);
    w.capture.pub.process_count = 0;
    written out = write_trace(&w.trace, (rocl_chrome_options){.flows = true});
    assert_int_equal(cJSON_GetArraySize(out.events), 0);
    assert_string_equal(word(out.json, "displayTimeUnit"), "ns");
    assert_string_equal(word(cJSON_GetObjectItem(out.json, "otherData"), "timeBaseNanoseconds"),
                        "0");
    drop(&out);
    out =
        convert("empty-tables.db", (rocl_options){.jobs = 1}, (rocl_chrome_options){.gzip = true});
    assert_int_equal(out.report.slices, 0);
    drop(&out);
    world_close(&w);
}

static void test_bad_options(void **state)
{
    (void)state;
    world w;
    world_open(&w, 1, NULL, 0);
    rocl_error *err = rocl_error_new();
    rocl_chrome_options o = {.path = "/nonexistent/x.json", .level = ROCL_FASTEST + 1};
    assert_int_equal(rocl_write_chrome(&w.trace, &o, NULL, err), ROCL_USAGE);
    o.level = 0;
    assert_int_equal(rocl_write_chrome(&w.trace, &o, NULL, err), ROCL_OUTPUT);
    o.path = "/dev/full";
    assert_int_equal(rocl_write_chrome(&w.trace, &o, NULL, err), ROCL_OUTPUT);
    rocl_error_free(err);
    world_close(&w);
}

/* ---- made traces --------------------------------------------------------------------------- */

#define EPOCH 1700000000123456789

static void expect_base(const world_event *events, size_t n, const char *base)
{
    world w;
    world_open(&w, 1, events, n);
    written out = write_trace(&w.trace, (rocl_chrome_options){0});
    const char *text = word(cJSON_GetObjectItem(out.json, "otherData"), "timeBaseNanoseconds");
    const cJSON *e;
    size_t i = 0;
    assert_string_equal(text, base);
    cJSON_ArrayForEach(e, out.events)
    {
        if (!is_phase(e, "X"))
            continue;
        assert_int_equal(strtoll(text, NULL, 10) + ns(e, "ts"), events[i].as.e.start);
        assert_int_equal(ns(e, "dur"), events[i].as.e.end - events[i].as.e.start);
        i++;
    }
    assert_int_equal(i, n);
    drop(&out);
    world_close(&w);
}

static void test_time_base(void **state)
{
    (void)state;
    const int64_t day = 86400000000000;
    const world_event late[] = {EVENT(ROCL_REGION, 1, EPOCH, EPOCH + 1),
                                EVENT(ROCL_REGION, 2, EPOCH + 1, EPOCH + 1000),
                                EVENT(ROCL_REGION, 3, EPOCH + 9 * day + 7, EPOCH + 9 * day + 1008)};
    const world_event early[] = {EVENT(ROCL_REGION, 1, 1, 2),
                                 EVENT(ROCL_REGION, 2, 26 * day + 1, 26 * day + 999)};
    const world_event between[] = {EVENT(ROCL_REGION, 1, 40 * day + 1, 40 * day + 2)};
    expect_base(late, COUNT(late), "1700000000000000000");
    expect_base(early, COUNT(early), "0");
    expect_base(between, COUNT(between), "3456000000000000");
}

/* A trace with a GPU, and a second capture of the same pids. */
static void open_twice(world *w, const world_event *events, size_t n, bool twice)
{
    world_open(w, 1, events, n);
    w->agents[1].type = ROCL_AGENT_GPU;
    w->second.pub = w->capture.pub;
    w->second.pub.index = 1;
    w->trace.capture_count = twice ? 2 : 1;
    assert_int_equal(rocl_identity_make(&w->trace, NULL), ROCL_OK);
}

static void test_same_pids(void **state)
{
    (void)state;
    world w;
    const world_event events[] = {EVENT(ROCL_REGION, 1, 10, 20)};
    open_twice(&w, events, 1, true);
    written out = write_trace(&w.trace, (rocl_chrome_options){0});
    const cJSON *e;
    double pids[2] = {0};
    unsigned n = 0;
    check_all(&out);
    cJSON_ArrayForEach(e, out.events) if (is_phase(e, "X"))
    {
        assert_true(n < 2);
        pids[n++] = number(e, "pid");
        assert_string_equal(name_of(&out, number(e, "pid"), 0), "process (rank 0, pid 11)");
    }
    assert_int_equal(n, 2);
    assert_true(pids[0] > 4194304 && pids[1] > pids[0]);
    drop(&out);
    world_close(&w);
}

static void test_threads(void **state)
{
    static const struct {
        int64_t tid;
        const char *name, *shown;
        bool own;
    } threads[] = {{111, "", "", true},
                   {111, "io", "io", true},
                   {11, "", "train", true},
                   {0x7f0012345678, "", "thread 139638282147448", false},
                   {-1, "io", "io (tid -1)", false}};
    (void)state;
    for (size_t i = 0; i < COUNT(threads); i++) {
        world w;
        const world_event events[] = {EVENT(ROCL_REGION, 1, 10, 20)};
        world_open(&w, 1, events, 1);
        w.processes[0].command = text(&w, "/bin/train -x");
        w.threads[0].tid = threads[i].tid;
        w.threads[0].name = text(&w, threads[i].name);
        written out = write_trace(&w.trace, (rocl_chrome_options){0});
        const cJSON *e = find(&out, "X", "(unnamed)");
        assert_string_equal(row_of(&out, e), threads[i].shown);
        assert_int_equal(number(e, "tid") == (double)threads[i].tid, threads[i].own);
        drop(&out);
        world_close(&w);
    }
}

static void test_rows(void **state)
{
    (void)state;
    world w;
    const world_event events[] = {
        {.kind = ROCL_DISPATCH,
         .as.dispatch = {.e = {.id = 1, .start = 10, .end = 30}, .agent = 1}},
        {.kind = ROCL_DISPATCH,
         .as.dispatch = {.e = {.id = 2, .start = 20, .end = 40}, .agent = 1}},
        {.kind = ROCL_BARRIER,
         .as.hip = {.e = {.id = 1, .start = 20, .end = 60}, .agent = 1, .stream = ROCL_NONE}},
        {.kind = ROCL_COPY,
         .as.copy = {.e = {.id = 1, .start = 40, .end = 60, .duration = 20},
                     .src = 1,
                     .queue = ROCL_NONE,
                     .stream = ROCL_NONE,
                     .size = 50}},
    };
    open_twice(&w, events, COUNT(events), false);
    w.trace.captures[0]->pub.process_count = 1;
    written out = write_trace(&w.trace, (rocl_chrome_options){0});
    const cJSON *e;
    const char *rows[4];
    unsigned n = 0;
    check_all(&out);
    cJSON_ArrayForEach(e, out.events) if (is_phase(e, "X") && n < 4) rows[n++] = row_of(&out, e);
    assert_int_equal(n, 4);
    assert_string_equal(rows[0], "Stream 9");
    assert_string_equal(rows[1], "Queue 7");
    assert_string_equal(rows[2], "Stream 9 (2)");
    assert_string_equal(rows[3], "Copies");
    assert_int_equal(out.report.moved, 1);
    assert_non_null(strstr(out.text, "\"bytes\":50,\"GB/s\":2.500"));
    assert_null(strstr(out.text, "\"grid\":[0,0,0]")); /* nobody knows it */
    drop(&out);
    world_close(&w);
}

/* Work before its call has no arrow; a call has one for all its work, and so has a mark. */
static void test_flows(void **state)
{
    (void)state;
    world w;
    const world_event events[] = {
        EVENT(ROCL_REGION, 1, 10, 20),
        EVENT(ROCL_REGION, 2, 30, 40),
        EVENT(ROCL_REGION, 3, 50, 60),
        {.kind = ROCL_DISPATCH, .as.e = {.id = 1, .start = 15, .end = 16, .stack_id = 1}},
        {.kind = ROCL_DISPATCH, .as.e = {.id = 2, .start = 17, .end = 18, .stack_id = 1}},
        {.kind = ROCL_DISPATCH, .as.e = {.id = 3, .start = 29, .end = 31, .stack_id = 2}},
        {.kind = ROCL_DISPATCH, .as.e = {.id = 4, .start = 35, .end = 36, .stack_id = 9}},
        {.kind = ROCL_INSTANT, .as.e = {.id = 1, .start = 30, .end = 30, .stack_id = 7}},
        {.kind = ROCL_DISPATCH, .as.e = {.id = 5, .start = 30, .end = 36, .stack_id = 7}},
        {.kind = ROCL_INSTANT, .as.e = {.id = 2, .start = 30, .end = 30, .stack_id = 8}},
    };
    open_twice(&w, events, COUNT(events), true);
    written out = write_trace(&w.trace, (rocl_chrome_options){.flows = true});
    check_all(&out);
    assert_int_equal(check_flows(&out), 6);
    drop(&out);
    world_close(&w);
}

static void test_not_finite(void **state)
{
    (void)state;
    world w;
    const world_event events[] = {
        {.kind = ROCL_SAMPLE, .as.sample = {.e = {.id = 1, .start = 1, .end = 1}, .value = NAN}},
        {.kind = ROCL_SAMPLE,
         .as.sample = {.e = {.id = 2, .start = 2, .end = 2}, .value = -INFINITY}},
        {.kind = ROCL_SAMPLE, .as.sample = {.e = {.id = 3, .start = 3, .end = 3}, .value = -0.25}},
    };
    world_open(&w, 1, events, COUNT(events));
    written out = write_trace(&w.trace, (rocl_chrome_options){0});
    assert_int_equal(rocl_trace_faults(&w.trace, ROCL_FAULT_NO_NUMBER), 2);
    assert_int_equal(out.report.values, 1);
    const cJSON *e = NULL, *c = NULL;
    cJSON_ArrayForEach(e, out.events) if (is_phase(e, "C")) c = e;
    assert_non_null(c);
    assert_non_null(strstr(word(c, "name"), "WAVES"));
    assert_non_null(strstr(word(c, "name"), "(waves)"));
    assert_true(number(cJSON_GetObjectItem(c, "args"), "value") == -0.25);
    drop(&out);
    world_close(&w);
}

static void test_names(void **state)
{
    static const struct {
        const char *name, *read;
    } names[] = {{"plain", "plain"},
                 {"a\"b\\c\n\t\x01/", "a\"b\\c\n\t\x01/"},
                 {"\xc3\xa9\xff\"\xe2\x82", "\xc3\xa9\xef\xbf\xbd\"\xef\xbf\xbd\xef\xbf\xbd"},
                 {"", "(unnamed)"},
                 {"\\", "\\"}};
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        world w;
        world_event events[] = {EVENT(ROCL_REGION, 1, 10, 20)};
        world_open(&w, 1, events, 1);
        events[0].as.e.name = events[0].as.e.category = text(&w, names[i].name);
        w.threads[0].name = w.processes[0].command = text(&w, names[i].name);
        written out = write_trace(&w.trace, (rocl_chrome_options){0});
        const cJSON *e = find(&out, "X", names[i].read);
        assert_string_equal(word(e, "cat"), names[i].name[0] ? names[i].read : "region");
        if (names[i].name[0])
            assert_string_equal(row_of(&out, e), names[i].read);
        drop(&out);
        world_close(&w);
    }
}

static void test_arguments(void **state)
{
    (void)state;
    written w =
        convert("args-order.db", (rocl_options){.jobs = 1, .args = true}, (rocl_chrome_options){0});
    const cJSON *e, *arg, *other;
    unsigned calls = 0;
    cJSON_ArrayForEach(e, w.events)
    {
        const cJSON *args = cJSON_GetObjectItem(e, "args");
        calls += is_phase(e, "X") && cJSON_GetArraySize(args) > 2;
        cJSON_ArrayForEach(arg, args) for (other = arg->next; other; other = other->next)
            assert_string_not_equal(arg->string, other->string);
    }
    assert_true(calls > 10);
    drop(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),    cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_window),    cmocka_unit_test(test_several_processes),
        cmocka_unit_test(test_jobs),      cmocka_unit_test(test_lines),
        cmocka_unit_test(test_empty),     cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_time_base), cmocka_unit_test(test_same_pids),
        cmocka_unit_test(test_threads),   cmocka_unit_test(test_rows),
        cmocka_unit_test(test_flows),     cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_names),     cmocka_unit_test(test_arguments),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
