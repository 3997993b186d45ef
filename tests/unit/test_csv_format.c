/* Rows of the CSV sink: an event goes in, a line comes out. To add a case, add a row. */
#include "test_csv_world.h"

#include <locale.h>
#include <math.h>

/* The line of an event, without the newline. */
static char *line_of(world *w, const world_event *e, rocl_csv_file_id file, rocl_csv_style style,
                     char *line, size_t size)
{
    static rocl_csv_formatter f; /* its cache is large */
    rocl_csv_options o = {.style = style};
    rocl_buf in = {0}, out = {0};
    rocl_batch b = {.capture = &w->capture.pub, .kind = e->kind, .count = 1};
    uint64_t key[ROCL_SORT_KEYS_MAX];
    uint8_t record[CSV_RECORD_MAX];
    uint32_t ranks[3] = {0};
    rocl_csv_plan plan;
    world_event copy = *e;

    const uint32_t g = text(w, "g"), guids[] = {g, g, g};
    f = (rocl_csv_formatter){.out = &out, .capture = b.capture, .guids = guids};
    f.style = style;
    f.quotes.strings = w->trace.strings;
    f.quotes.make = rocl_csv_quote;
    b.any = &copy.as.e;
    rocl_csv_make_key(key, &b, &copy.as.e, &(rocl_csv_order){ranks, 3});
    uint8_t *end = rocl_csv_encode(record, &b, &copy.as.e, style == ROCL_CSV_ROCPD_1_1);
    rocl_buf_put(&in, key, CSV_TIMES);
    rocl_buf_put(&in, record, (size_t)(end - record));
    rocl_csv_make_plan(&plan, file, &o);
    assert_int_equal(rocl_csv_format_rows(&f, file, &plan, in.data, in.data + in.len, NULL),
                     ROCL_OK);
    assert_int_equal(out.data[out.len - 1], '\n');
    snprintf(line, size, "%.*s", (int)out.len - 1, (char *)out.data);
    rocl_buf_free(&in);
    rocl_buf_free(&out);
    rocl_text_cache_free(&f.quotes);
    return line;
}

static const struct {
    const char *text, *quoted;
} quotes[] = {
    {"plain", "\"plain\""},
    {"", "\"\""},
    {"say \"hi\", now", "\"say \"\"hi\"\", now\""},
    {"\"", "\"\"\"\""},
    {"a,b\nc", "\"a,b\nc\""},
    {"\xc3\xa9\xff", "\"\xc3\xa9\xef\xbf\xbd\""},
};

static void test_quoting(void **state)
{
    world *w = *state;
    char line[256], expected[256];
    for (size_t i = 0; i < COUNT(quotes); i++) {
        world_event e = {.kind = ROCL_COPY};
        e.as.copy.e = (rocl_event){.start = 1, .end = 2, .name = text(w, quotes[i].text)};
        snprintf(expected, sizeof expected,
                 "\"g\",\"MEMORY_COPY\",%s,9,\"Agent 0\",\"Agent 0\",0,1,2", quotes[i].quoted);
        /* twice: from the cache the second time */
        for (int n = 0; n < 2; n++)
            assert_string_equal(
                line_of(w, &e, CSV_FILE_COPY, ROCL_CSV_ROCPD_1_0, line, sizeof line), expected);
    }
}

/* Texts that share an entry of the cache take turns. */
static void test_cache_collisions(void **state)
{
    world *w = *state;
    static rocl_text_cache q;
    uint32_t ids[2 * ROCL_TEXT_CACHE_SIZE];
    q.strings = w->trace.strings;
    q.make = rocl_csv_quote;
    for (unsigned i = 0; i < COUNT(ids); i++) {
        char s[32];
        snprintf(s, sizeof s, i % 3 ? "t%u" : "t\"%u", i);
        ids[i] = text(w, s);
    }
    for (unsigned i = 0; i < COUNT(ids); i++) {
        char s[32];
        snprintf(s, sizeof s, i % 3 ? "t%u" : "\"t\"\"%u\"", i);
        const rocl_cached_text *e = rocl_text_cache_get(&q, ids[i]);
        assert_non_null(e);
        assert_int_equal(e->len, strlen(s));
        assert_memory_equal(e->bytes, s, e->len);
    }
    rocl_text_cache_free(&q);
}

/* A text much longer than the room that a row begins with. */
static void test_long_text(void **state)
{
    world *w = *state;
    enum { LONG = 300000 };
    char *s = malloc(LONG + 1), *line = malloc(3 * LONG);
    assert_non_null(s);
    assert_non_null(line);
    memset(s, 'x', LONG);
    s[LONG] = '\0';
    for (int n = 0; n < 2; n++) {
        world_event e = {.kind = ROCL_REGION};
        s[7] = n ? '"' : 'x';
        e.as.region.e = (rocl_event){.name = text(w, s), .category = text(w, s)};
        line_of(w, &e, CSV_FILE_HIP, ROCL_CSV_ROCPD_1_0, line, 3 * LONG);
        size_t quoted = LONG + 2 + (size_t)n;
        assert_int_equal(strlen(line), strlen("\"g\",,,11,111,0,0,0") + 2 * quoted);
        assert_string_equal(line + strlen(line) - strlen("\",11,111,0,0,0"), "\",11,111,0,0,0");
    }
    free(line);
    free(s);
}

static const struct {
    double value;
    const char *v1_0, *v1_1, *v3;
} values[] = {
    {0, "0", "0.0", "0.000000"},
    {1757738, "1757738", "1757738.0", "1757738.000000"},
    {40.62811724337926, "40.62811724337926", "40.62811724337926", "40.628117"},
    {-2.5, "-2.5", "-2.5", "-2.500000"},
    {-3, "-3", "-3.0", "-3.000000"},
    {0.1, "0.1", "0.1", "0.100000"},
    {1234567890123456., "1234567890123456", "1234567890123456.0", "1234567890123456.000000"},
    {-12345678901234568., "-12345678901234568", "-1.2345678901234568e+16",
     "-12345678901234568.000000"},
    {1e16, "1e+16", "1e+16", "10000000000000000.000000"},
    {INFINITY, "inf", "inf", "inf"},
    {NAN, "nan", "\"\"", "nan"},
};

static void test_values(void **state)
{
    world *w = *state;
    char line[512], end[64];
    setlocale(LC_ALL, "de_DE.UTF-8"); /* where there is one: its comma must not show */
    for (size_t i = 0; i < COUNT(values); i++) {
        const char *forms[] = {values[i].v1_0, values[i].v1_1, values[i].v3};
        world_event e = {.kind = ROCL_SAMPLE};
        e.as.sample.value = values[i].value;
        e.as.sample.e = (rocl_event){.start = 5, .end = 5};
        for (unsigned s = 0; s < 3; s++) {
            line_of(w, &e, CSV_FILE_SAMPLE, (rocl_csv_style)s, line, sizeof line);
            snprintf(end, sizeof end, "\"WAVES\",\"waves\",%s,5", forms[s]);
            assert_true(strlen(line) > strlen(end));
            assert_string_equal(line + strlen(line) - strlen(end), end);
        }
    }
    setlocale(LC_ALL, "C");
}

#define WHEN(s, e_) .start = (s), .end = (e_)
#define NOBODY      .process = ROCL_NONE, .thread = ROCL_NONE

static const struct {
    rocl_csv_file_id file;
    rocl_csv_style style;
    world_event event;
    const char *line;
} lines[] = {
    {CSV_FILE_KERNEL,
     ROCL_CSV_ROCPD_1_0,
     {.kind = ROCL_DISPATCH,
      .as.dispatch = {.e = {WHEN(10, 30), .stack_id = 5},
                      .agent = 1,
                      .dispatch_id = 77,
                      .kernel_id = 3,
                      .private_segment = 16,
                      .group_segment = 512,
                      .workgroup = {256, 2, 1},
                      .grid = {4096, 4, 1}}},
     "\"g\",\"KERNEL_DISPATCH\",\"Agent 1\",7,9,111,77,3,\"\",5,10,30,512,16,64,4,32,256,2,1,"
     "4096,4,1"},
    {CSV_FILE_KERNEL,
     ROCL_CSV_ROCPD_1_1,
     {.kind = ROCL_DISPATCH,
      .as.dispatch = {.e = {WHEN(-10, 30), NOBODY, .name = ROCL_NONE},
                      .agent = ROCL_NONE,
                      .queue = ROCL_NONE,
                      .stream = 1,
                      .kernel = ROCL_NONE,
                      .kernel_id = -1}},
     "\"g\",\"KERNEL_DISPATCH\",\"\",,,,0,-1,\"\",0,-10,30,40,0,0,,,,0,0,0,0,0,0"},
    {CSV_FILE_ALLOC,
     ROCL_CSV_ROCPD_1_0,
     {.kind = ROCL_ALLOC,
      .as.alloc = {.e = {WHEN(1, 2)}, .agent = ROCL_NONE, .address = 0x7f1000abcdef, .size = 8}},
     "\"g\",\"MEMORY_ALLOCATION\",\"\",\"\",8,\"0x00007f1000abcdef\",0,1,2"},
    {CSV_FILE_ALLOC,
     ROCL_CSV_ROCPD_1_1,
     {.kind = ROCL_ALLOC, .as.alloc = {.e = {WHEN(1, 2)}, .address = UINT64_MAX}},
     "\"g\",\"MEMORY_ALLOCATION\",\"\",\"Agent 0\",0,\"0xFFFFFFFFFFFFFFFF\",0,1,2"},
    {CSV_FILE_SCRATCH,
     ROCL_CSV_ROCPD_1_0,
     {.kind = ROCL_SCRATCH, .as.alloc = {.e = {WHEN(1, 2)}, .flags = 3}},
     "\"SCRATCH_MEMORY\",\"\",\"Agent 0\",7,111,3,1,2"},
    {CSV_FILE_SCRATCH,
     ROCL_CSV_ROCPD_1_1,
     {.kind = ROCL_SCRATCH, .as.alloc = {.e = {WHEN(1, 2)}, .flags = 3}},
     "\"g\",\"SCRATCH_MEMORY\",\"\",\"Agent 0\",7,111,\"3\",1,2"},
    {CSV_FILE_COUNTER,
     ROCL_CSV_ROCPD_1_0,
     {.kind = ROCL_COUNTER,
      .as.counter = {.d = {.e = {WHEN(1, 2), .stack_id = 4},
                           .dispatch_id = 6,
                           .workgroup = {UINT32_MAX, 2, 1},
                           .grid = {10, 20, 30}},
                     .counter = 1,
                     .value = 0.5}},
     "g,4,6,\"Agent 0\",7,11,111,6000,0,\"\",8589934590,0,0,64,4,32,\"HITS\",0.5,1,2"},
    {CSV_FILE_SPM,
     ROCL_CSV_ROCPD_1_0,
     {.kind = ROCL_SPM,
      .as.sample = {.e = {WHEN(3, 3), NOBODY},
                    .agent = 1,
                    .value = 7,
                    .xcc = 2,
                    .shader_engine = 1,
                    .instance = 0,
                    .shader_array = -1,
                    .wgp = -1}},
     "\"g\",0,\"Agent 1\",,,\"WAVES\",2,1,,,0,7,3"},
    {CSV_FILE_GRAPH,
     ROCL_CSV_ROCPROFV3,
     {.kind = ROCL_GRAPH, .as.hip = {.e = {WHEN(3, 8)}, .graph_exec_id = 2, .kernel_count = 9}},
     "\"Graph Launch\",\"Agent 0\",7,111,0,3,8,5,2,9"},
    {CSV_FILE_HIP_EVENT,
     ROCL_CSV_ROCPD_1_0,
     {.kind = ROCL_HIP_EVENT, .as.hip = {.e = {WHEN(3, 8)}, .source_queue = ROCL_NONE}},
     "\"g\",\"HIP_EVENT\",\"\",\"Agent 0\",7,9,111,,0,3,8,5"},
    {CSV_FILE_OTHER,
     ROCL_CSV_ROCPD_1_0,
     {.kind = ROCL_INSTANT,
      .as.region = {.e = {WHEN(INT64_MIN, INT64_MAX), .stack_id = UINT64_MAX, .thread = 1}}},
     "\"g\",\"\",\"\",11,222,18446744073709551615,-9223372036854775808,9223372036854775807"},
};

static void test_lines(void **state)
{
    char line[1024];
    for (size_t i = 0; i < COUNT(lines); i++)
        assert_string_equal(
            line_of(*state, &lines[i].event, lines[i].file, lines[i].style, line, sizeof line),
            lines[i].line);
}

/* 1.1 shows the function of a marker, the others its message. */
static void test_messages(void **state)
{
    world *w = *state;
    char line[256];
    world_event e = {.kind = ROCL_MARKER};
    e.as.region.e = (rocl_event){.name = text(w, "step 1"), .category = text(w, "M")};
    e.as.region.function = text(w, "roctxRangePushA");
    line_of(w, &e, CSV_FILE_MARKER, ROCL_CSV_ROCPD_1_0, line, sizeof line);
    assert_string_equal(line, "\"g\",\"M\",\"step 1\",11,111,0,0,0");
    line_of(w, &e, CSV_FILE_REGIONS, ROCL_CSV_ROCPD_1_1, line, sizeof line);
    assert_string_equal(line, "\"g\",\"M\",\"roctxRangePushA\",11,111,0,0,0");
}

static void test_cut_records(void **state)
{
    world *w = *state;
    static rocl_csv_formatter f;
    rocl_buf out = {0};
    rocl_csv_options o = {0};
    rocl_csv_plan plan;
    uint8_t record[CSV_TIMES + CSV_REGION_FIELDS] = {0};
    rocl_csv_make_plan(&plan, CSV_FILE_HIP, &o);
    const uint32_t g = text(w, "g"), guids[] = {g, g, g};
    f = (rocl_csv_formatter){.out = &out, .capture = &w->capture.pub, .guids = guids};
    f.quotes.strings = w->trace.strings;
    f.quotes.make = rocl_csv_quote;
    size_t whole = CSV_TIMES + CSV_REGION_FIELDS - CSV_F_NAME;
    for (size_t n = 1; n < whole; n++)
        assert_int_equal(rocl_csv_format_rows(&f, CSV_FILE_HIP, &plan, record, record + n, NULL),
                         ROCL_INTERNAL);
    assert_int_equal(rocl_csv_format_rows(&f, CSV_FILE_HIP, &plan, record, record + whole, NULL),
                     ROCL_OK);
    rocl_buf_free(&out);
    rocl_text_cache_free(&f.quotes);
}

static int set_up(void **state)
{
    static world w;
    world_open(&w, 1, NULL, 0);
    *state = &w;
    return 0;
}

static int tear_down(void **state)
{
    world_close(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quoting),     cmocka_unit_test(test_cache_collisions),
        cmocka_unit_test(test_long_text),   cmocka_unit_test(test_values),
        cmocka_unit_test(test_lines),       cmocka_unit_test(test_messages),
        cmocka_unit_test(test_cut_records),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
