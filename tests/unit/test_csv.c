/* The CSV sink from batches to files: order, processes, agents, gzip, what is left after errors. */
#include "test_csv_world.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define HIP "HIP_RUNTIME_API"
#define CALL(id_, start_, end_)                                                                    \
    {                                                                                              \
        .kind = ROCL_REGION, .as.e = {                                                             \
            .id = (id_),                                                                           \
            .start = (start_),                                                                     \
            .end = (end_),                                                                         \
            .stack_id = (id_)                                                                      \
        }                                                                                          \
    }

/* ---- a folder to write to ------------------------------------------------------------------ */

static char folder[64];

static const char *in_folder(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static unsigned each_file(bool remove_them)
{
    unsigned n = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
            continue;
        n++;
        if (remove_them)
            unlink(in_folder(e->d_name));
    }
    if (d)
        closedir(d);
    return n;
}

/* The text of a file, unpacked; "" when there is none. Free it. */
static char *contents(const char *name)
{
    enum { MOST = 1 << 22 };
    char *s = malloc(MOST);
    assert_non_null(s);
    gzFile f = gzopen(in_folder(name), "rb");
    int n = f ? gzread(f, s, MOST - 1) : 0;
    if (f)
        gzclose(f);
    assert_true(n >= 0);
    s[n] = '\0';
    return s;
}

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/test_csv.XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    each_file(true);
    return rmdir(folder);
}

static rocl_status write_world(world *w, rocl_csv_options o, rocl_written *files)
{
    o.directory = folder;
    return rocl_write_csv(&w->trace, &o, files, NULL);
}

/* The values of a column, joined by spaces. */
static const char *column(const char *name, unsigned number)
{
    static char list[4096];
    char *text = contents(name), *line = strchr(text, '\n');
    size_t n = 0;
    list[0] = '\0';
    while (line && *++line) {
        char *p = line;
        for (unsigned i = 0; i < number; i++)
            p = strchr(p, ',') + 1;
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%.*s", n ? " " : "",
                              (int)strcspn(p, ",\n"), p);
        line = strchr(line, '\n');
    }
    free(text);
    return list;
}

static void name_all(world *w, world_event *events, size_t n, const char *category)
{
    for (size_t i = 0; i < n; i++) {
        events[i].as.e.category = text(w, category);
        events[i].as.e.name = text(w, "f");
    }
}

/* ---- tests --------------------------------------------------------------------------------- */

static void test_order(void **state)
{
    (void)state;
    world w;
    world_event events[] = {CALL(1, 50, 60), CALL(2, 10, 20),      CALL(3, 10, 90),
                            CALL(5, 10, 20), CALL(4, 10, 20),      CALL(6, -5, 1),
                            CALL(7, 50, 60), CALL(8, 0, INT64_MAX)};
    for (unsigned jobs = 1; jobs <= 4; jobs++) {
        rocl_written r = {0};
        world_open(&w, jobs, events, COUNT(events));
        w.tasks = jobs;
        name_all(&w, events, COUNT(events), HIP);
        assert_int_equal(
            write_world(&w, (rocl_csv_options){.prefix = "o", .kinds = LIST("hip")}, &r), ROCL_OK);
        assert_int_equal(r.files, 1);
        assert_int_equal(each_file(false), 1);
        assert_string_equal(column("o_hip_api_trace.csv", 5), "6 8 3 2 4 5 1 7");
        world_close(&w);
    }
}

static void test_marks_come_after_ranges(void **state)
{
    (void)state;
    world w;
    world_event events[] = {EVENT(ROCL_INSTANT, 1, 5, 5), EVENT(ROCL_MARKER, 3, 5, 5),
                            EVENT(ROCL_MARKER, 2, 5, 5), EVENT(ROCL_INSTANT, 9, 1, 1)};
    world_open(&w, 2, events, COUNT(events));
    name_all(&w, events, COUNT(events), "MARKER_CORE_RANGE_API");
    assert_int_equal(write_world(&w, (rocl_csv_options){0}, NULL), ROCL_OK);
    assert_string_equal(column("marker_api_trace.csv", 5), "9 2 3 1");
    world_close(&w);
}

/* By dispatch, then by name, then by agent; counter 2 is HITS of agent 0, counter 1 of agent 1. */
static void test_counters(void **state)
{
    (void)state;
    world w;
    world_event events[6] = {{.kind = ROCL_COUNTER}};
    for (unsigned i = 0; i < COUNT(events); i++) {
        events[i].kind = ROCL_COUNTER;
        events[i].as.counter = (rocl_counter_value){.counter = i % 3, .value = i};
        events[i].as.counter.d = (rocl_dispatch){.e = {.id = 9 - i / 3}, .dispatch_id = 8 - i / 3};
    }
    world_open(&w, 1, events, COUNT(events));
    assert_int_equal(write_world(&w, (rocl_csv_options){0}, NULL), ROCL_OK);
    assert_string_equal(column("counter_collection.csv", 17), "5 4 3 2 1 0");
    world_close(&w);
}

static void test_a_file_set_per_process(void **state)
{
    (void)state;
    world w;
    world_event events[] = {CALL(1, 5, 6), CALL(2, 1, 2), CALL(3, 3, 4), CALL(4, 0, 9)};
    events[1].as.e.process = 1;
    events[3].as.e.process = ROCL_NONE;
    world_open(&w, 2, events, COUNT(events));
    name_all(&w, events, COUNT(events), HIP);
    rocl_written r;
    rocl_csv_options o = {.style = ROCL_CSV_ROCPROFV3, .prefix = ""};
    assert_int_equal(write_world(&w, o, &r), ROCL_OK);
    assert_int_equal(r.files, 6); /* with process_info.csv of both */
    assert_string_equal(column("11_hip_api_trace.csv", 4), "4 3 1");
    assert_string_equal(column("22_hip_api_trace.csv", 4), "2");
    assert_string_equal(column("11_agent_info.csv", 2), "\"CPU\"");
    assert_string_equal(column("22_agent_info.csv", 2), "\"GPU\"");
    world_close(&w);
}

static void test_captures_follow_each_other(void **state)
{
    (void)state;
    world w;
    world_event events[] = {CALL(1, 5, 6), CALL(2, 1, 2)};
    world_open(&w, 2, events, COUNT(events));
    name_all(&w, events, COUNT(events), "OMPT");
    w.trace.capture_count = 2;
    assert_int_equal(write_world(&w, (rocl_csv_options){.prefix = "x"}, NULL), ROCL_OK);
    assert_string_equal(column("x_other_api_trace.csv", 0), "\"g-1-1\" \"g-1-1\" \"g-2\" \"g-2\"");
    assert_string_equal(column("x_other_api_trace.csv", 5), "2 1 2 1");
    world_close(&w);
}

/* Some thousand rows: many chunks and members, the same bytes for all workers and memories. */
static void test_workers_leave_no_trace(void **state)
{
    (void)state;
    enum { MANY = 5000 };
    world w;
    world_event *events = calloc(MANY, sizeof *events);
    char *one = NULL;
    for (unsigned jobs = 1; jobs <= 3; jobs++) {
        world_open(&w, jobs, events, MANY);
        for (unsigned i = 0; i < MANY; i++) {
            char name[32];
            snprintf(name, sizeof name, "say \"%u\"", (i * 7919 + jobs) % 3000);
            events[i] = (world_event)CALL(i, i * 31 % 1000, 2000);
            /* other ids for the same texts in every round */
            text(&w, name);
            snprintf(name, sizeof name, "say \"%u\"", i % 1500);
            events[i].as.e.name = text(&w, name);
            events[i].as.e.category = text(&w, HIP);
        }
        w.tasks = jobs;
        rocl_csv_options o = {.prefix = "m", .gzip = true, .level = 1, .kinds = LIST("hip")};
        assert_int_equal(write_world(&w, o, NULL), ROCL_OK);
        char raw[64];
        snprintf(raw, sizeof raw, "packed%u", jobs);
        char from[512];
        snprintf(from, sizeof from, "%s", in_folder("m_hip_api_trace.csv.gz"));
        char *now = contents("m_hip_api_trace.csv.gz");
        assert_int_equal(rename(from, in_folder(raw)), 0);
        if (one)
            assert_string_equal(one, now);
        free(one);
        one = now;
        world_close(&w);
    }
    free(one);
    free(events);
    struct stat a, b;
    assert_int_equal(stat(in_folder("packed1"), &a), 0);
    assert_int_equal(stat(in_folder("packed3"), &b), 0);
    assert_int_equal(a.st_size, b.st_size);
}

static void test_nothing(void **state)
{
    (void)state;
    world w;
    rocl_written r = {.files = 7, .bytes = 7};
    world_open(&w, 1, NULL, 0);
    assert_int_equal(write_world(&w, (rocl_csv_options){.kinds = LIST("hip", "copy")}, &r),
                     ROCL_OK);
    assert_int_equal(r.files, 0);
    assert_int_equal(each_file(false), 0);
    world_close(&w);
}

/* A failure late in the run: nothing is left, also of files that were complete. */
static void test_failure(void **state)
{
    (void)state;
    world w;
    world_event events[] = {CALL(1, 5, 6)};
    world_open(&w, 2, events, COUNT(events));
    name_all(&w, events, COUNT(events), HIP);
    w.fail = ROCL_INPUT;
    assert_int_equal(write_world(&w, (rocl_csv_options){0}, NULL), ROCL_INPUT);
    assert_int_equal(each_file(false), 0);
    world_close(&w);
}

static const struct {
    const char *json, *v1_0, *v1_1; /* Node_Id, Cu_Count, Hive_Id, Name */
} agents[] = {
    {"", "3|0|0|\"epyc\"", "3|\"\"|\"\"|\"epyc\""},
    {"{}", "3|0|0|\"epyc\"", "3|\"\"|\"\"|\"epyc\""},
    {"{\"node_id\":8,\"cu_count\":304,\"hive_id\":7769668503827098756,\"name\":\"a \\\"b\\\"\"}",
     "8|304|7769668503827098756|\"a \"\"b\"\"\"", "8|304|7769668503827098756|\"a \"\"b\"\"\""},
    {"{\"caches\":[{\"x\":[1,\"]\\\"\"]}],\"cu_count\":12.5,\"hive_id\":true,\"node_id\":null}",
     "3|12.5|1|\"epyc\"", "3|12.5|1|\"epyc\""},
    {"{\"cu_count\":", "3|0|0|\"epyc\"", "3|\"\"|\"\"|\"epyc\""},
    {"[[[[", "3|0|0|\"epyc\"", "3|\"\"|\"\"|\"epyc\""},
    {"{\"cu_count\":\"", "3|0|0|\"epyc\"", "3|\"\"|\"\"|\"epyc\""},
};

/* The fields of a title in the first row, of a table whose texts hold no commas. */
static const char *field(const rocl_buf *header, const rocl_buf *row, const char *title)
{
    static char value[128];
    const char *h = (const char *)header->data, *r = (const char *)row->data;
    while (strncmp(h + 1, title, strlen(title)) || h[1 + strlen(title)] != '"') {
        h = strchr(h, ',') + 1;
        r = strchr(r, ',') + 1;
    }
    snprintf(value, sizeof value, "%.*s", (int)strcspn(r, ",\n"), r);
    return value;
}

static void agent_fields(const world *w, const char *json, rocl_csv_style style, char *fields,
                         size_t size)
{
    static const char *const titles[] = {"Node_Id", "Cu_Count", "Hive_Id", "Name"};
    rocl_buf header = {0}, row = {0};
    size_t n = 0;
    rocl_csv_agent_header(&header, style);
    assert_int_equal(rocl_csv_agent_row(&row, &w->capture.pub, &w->agents[0], w->capture.pub.guid,
                                        json, style, NULL),
                     ROCL_OK);
    rocl_buf_byte(&header, '\0');
    rocl_buf_byte(&row, '\0');
    for (unsigned i = 0; i < COUNT(titles); i++)
        n += (size_t)snprintf(fields + n, size - n, "%s%s", n ? "|" : "",
                              field(&header, &row, titles[i]));
    rocl_buf_free(&header);
    rocl_buf_free(&row);
}

static void test_agents(void **state)
{
    (void)state;
    world w;
    char fields[256];
    world_open(&w, 1, NULL, 0);
    for (size_t i = 0; i < COUNT(agents); i++) {
        agent_fields(&w, agents[i].json, ROCL_CSV_ROCPD_1_0, fields, sizeof fields);
        assert_string_equal(fields, agents[i].v1_0);
        agent_fields(&w, agents[i].json, ROCL_CSV_ROCPD_1_1, fields, sizeof fields);
        assert_string_equal(fields, agents[i].v1_1);
    }
    world_close(&w);
}

static void test_capability_bits(void **state)
{
    (void)state;
    world w;
    rocl_buf header = {0}, row = {0};
    world_open(&w, 1, NULL, 0);
    const char *json =
        "{\"capability\":{\"WatchPointsSupported\":1,\"WatchPointsTotalBits\":2,"
        "\"DoorbellType\":2,\"DebugTrapSupported\":1,\"WaveLaunchTrapOverrideSupported\":1,"
        "\"WaveLaunchModeSupported\":1,\"Mem_EDCSupport\":1,\"RASEventNotify\":1,"
        "\"ASICRevision\":1,\"SVMAPISupported\":1,\"DebugSupportedFirmware\":1}}";
    rocl_csv_agent_header(&header, ROCL_CSV_ROCPD_1_0);
    rocl_csv_agent_row(&row, &w.capture.pub, &w.agents[0], w.capture.pub.guid, json,
                       ROCL_CSV_ROCPD_1_0, NULL);
    rocl_buf_byte(&header, '\0');
    rocl_buf_byte(&row, '\0');
    assert_string_equal(field(&header, &row, "Capability"),
                        "678666880"); /* a Radeon AI PRO R9700 */
    rocl_buf_free(&header);
    rocl_buf_free(&row);
    world_close(&w);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_order),
        TEST(test_marks_come_after_ranges),
        TEST(test_counters),
        TEST(test_a_file_set_per_process),
        TEST(test_captures_follow_each_other),
        TEST(test_workers_leave_no_trace),
        TEST(test_nothing),
        TEST(test_failure),
        TEST(test_agents),
        TEST(test_capability_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
