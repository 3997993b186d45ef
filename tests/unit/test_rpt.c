/* The report of rpt. Small logs with the reports that the script made of them; what the script
 * cannot do; large logs, whose blocks must not show; golden reports where they are at hand
 * (../shared/data or $ROCLINE_DATA). */
#include "test_csv_world.h"

#include "base/buf.h"
#include "base/deflate.h"
#include "base/out.h"
#include "legacy/python.h"
#include "test_rpt_cases.h"

#include <fcntl.h>
#include <unistd.h>

static char folder[64], report_path[96], json_path[96], log_path[96];
static char notices[1024];
static rocl_error *err;

static int enter(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/rocline-test-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    snprintf(report_path, sizeof report_path, "%s/report", folder);
    snprintf(json_path, sizeof json_path, "%s/json", folder);
    snprintf(log_path, sizeof log_path, "%s/log", folder);
    err = rocl_error_new();
    return 0;
}

static int leave(void **state)
{
    (void)state;
    rocl_error_free(err);
    unlink(report_path);
    unlink(json_path);
    unlink(log_path);
    return rmdir(folder);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void put_file(const char *path, const void *p, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(p, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* Frees what was there. */
static char *get_file(const char *path)
{
    static char *text;
    rocl_buf b = {0};
    int fd = open(path, O_RDONLY);
    free(text);
    assert_true(fd >= 0);
    for (ssize_t n = 1; n > 0; b.len += (size_t)n) {
        assert_true(rocl_buf_reserve(&b, 1 << 16));
        n = read(fd, b.data + b.len, 1 << 16);
        assert_true(n >= 0);
    }
    close(fd);
    rocl_buf_byte(&b, 0);
    return text = (char *)b.data;
}

static void strip_ends(char *s)
{
    char *to = s;
    for (const char *from = s; *from; *to++ = *from++)
        for (; *from == '\n' && to > s && strchr(" \t\r", to[-1]); to--)
            ;
    *to = '\0';
}

/* ---- ways to hand in a log ------------------------------------------------------------------- */

static rocl_status write_file(const char *log, size_t n, const rocl_rpt_options *o)
{
    put_file(log_path, log, n);
    return rocl_write_rpt(log_path, o, err);
}

static rocl_status write_gzip(const char *log, size_t n, const rocl_rpt_options *o)
{
    rocl_buf b = {0};
    assert_int_equal(rocl_gzip_member(&b, log, n / 2, 6, err), ROCL_OK);
    assert_int_equal(rocl_gzip_member(&b, log + n / 2, n - n / 2, 6, err), ROCL_OK);
    put_file(log_path, b.data, b.len);
    rocl_buf_free(&b);
    return rocl_write_rpt(log_path, o, err);
}

/* The log must fit into a pipe. */
static rocl_status write_stdin(const char *log, size_t n, const rocl_rpt_options *o)
{
    int ends[2], saved = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], log, n), (ssize_t)n);
    close(ends[1]);
    assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    close(ends[0]);
    rocl_status st = rocl_write_rpt("-", o, err);
    dup2(saved, STDIN_FILENO);
    close(saved);
    return st;
}

static rocl_rpt_options with_path(rocl_rpt_options o, unsigned jobs)
{
    o.path = report_path;
    o.jobs = jobs;
    return o;
}

/* ---- what the script can do ------------------------------------------------------------------ */

static void test_cases(void **state)
{
    rocl_status (*const ways[])(const char *, size_t,
                                const rocl_rpt_options *) = {write_file, write_gzip, write_stdin};
    (void)state;
    for (size_t i = 0; i < COUNT(rpt_cases) * COUNT(ways) * 2; i++) {
        const rpt_case *c = &rpt_cases[i / 2 / COUNT(ways)];
        rocl_rpt_options o = with_path(c->o, 1 + i % 2);
        rocl_status st = ways[i / 2 % COUNT(ways)](c->log, strlen(c->log), &o);
        char *got = get_file(report_path);
        strip_ends(got);
        if (st != c->status || strcmp(got, c->report))
            fail_msg("%s, way %zu: status %d %s\n%s", c->name, i / 2 % COUNT(ways), st,
                     rocl_error_text(err), got);
    }
}

#define LINE(name, start, stop)                                                                    \
    "profile: kernel; " name "; 1.0 us; " #start "; " #stop "; #0.0.1;\n"

static void test_bytes_at_line_ends(void **state)
{
    static const char log[] = LINE("a", 1000, 2000) LINE("b", 3000, 4000);
    rocl_rpt_options o = with_path((rocl_rpt_options){.topn = 20}, 1);
    (void)state;
    assert_int_equal(write_file(log, sizeof log - 1, &o), ROCL_OK);
    assert_non_null(strstr(get_file(report_path), ": a                              \n"));
    assert_non_null(strstr(get_file(report_path), "  Name                          \n"));
}

/* ---- what it cannot -------------------------------------------------------------------------- */

static void take_notice(void *ctx, const char *text)
{
    (void)ctx;
    strncat(notices, strrchr(text, ':') + 2, sizeof notices - strlen(notices) - 1);
    strcat(notices, ".");
}

static const struct error_case {
    const char *log, *roi_start, *roi_stop, *error;
    rocl_status status;
} errors[] = {
    {"", NULL, NULL, "the file is empty", ROCL_INPUT},
    {"text\n", NULL, NULL, "no HCC profile record (\"profile: ...\") in it", ROCL_INPUT},
    {LINE("a", 1, 2), "@2", NULL, "--roi-start: \"@2\": there is no command with this line",
     ROCL_USAGE},
    {LINE("a", 1, 2), NULL, "@x", "--roi-stop: \"@x\": not a line number", ROCL_USAGE},
    {LINE("a", 1, 2), "^0", NULL, "--roi-start: \"^0\": there is no command at this time",
     ROCL_USAGE},
    {LINE("a", 1, 2), "^5.5", NULL, "--roi-start: \"^5.5\": not a number of nanoseconds",
     ROCL_USAGE},
    {LINE("a", 1, 2), "55", NULL, "--roi-start: \"55\": no \"@LINE\", \"^NS\" or \"N%RE\"",
     ROCL_USAGE},
    {"x\n" LINE("a", 1, 2), "2%x", NULL,
     "--roi-start: \"2%x\": not found that many times before a command", ROCL_USAGE},
    {"x\n" LINE("a", 1, 2), "%y", NULL, "--roi-start: \"%y\": not found before a command",
     ROCL_USAGE},
    {LINE("a", 1, 2), "%(", NULL, "not an extended regular expression", ROCL_USAGE},
    {LINE("a", 1, 2) LINE("b", 3, 4), "@2", "@1", "starts at line 2, after it stops at line 1",
     ROCL_USAGE},
};

static void test_errors(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(errors); i++) {
        rocl_rpt_options o = with_path(
            (rocl_rpt_options){.roi_start = errors[i].roi_start, .roi_stop = errors[i].roi_stop},
            1);
        assert_int_equal(write_file(errors[i].log, strlen(errors[i].log), &o), errors[i].status);
        if (!strstr(rocl_error_text(err), errors[i].error))
            fail_msg("case %zu: %s", i, rocl_error_text(err));
        assert_int_equal(access(report_path, F_OK), -1);
    }
    rocl_rpt_options o = with_path((rocl_rpt_options){0}, 1);
    assert_int_equal(rocl_write_rpt("/nonexistent/log", &o, err), ROCL_INPUT);
    assert_int_equal(rocl_write_rpt(folder, &o, err), ROCL_INPUT);
    put_file(log_path, "\x1f\x8b\x08 this is no gzip", 20);
    assert_int_equal(rocl_write_rpt(log_path, &o, err), ROCL_INPUT);
    o.path = "/nonexistent/report";
    assert_int_equal(write_file("", 0, &o), ROCL_OUTPUT);
}

/* Where the script fails half-way and this does not. */
static void test_repairs(void **state)
{
    static const char log[] = "profile: kernel; a; 1.0 us; 1000; 3000; none\n" LINE("b", 2500, 2400)
        LINE("a", 9000, 3000) "profile: bad\n";
    static const char report[] =
        "warning: unknown opid tag= none\n"
        "warning: ignored unparsable profile line: profile: bad\n"
        "ROI_START: GPU0         0.000000:      +0.00 kernel  #0.0.0        1: a\n"
        "ROI_STOP : GPU0         0.008000:      +0.00 kernel  #0.0.1        3: a\n"
        "ROI_TIME=   0.000 secs\n"
        "\n"
        "Resource=GPU0 Showing 2/2 records  100.00% busy\n"
        "      Total(%)    Time(us)    Calls  Avg(us)  Min(us)  Max(us)  Name\n"
        "       100.00%        2.0        1      2.0      2.0      2.0  a\n"
        "         0.00%        0.0        1      0.0      0.0      0.0  b\n";
    rocl_rpt_options o = with_path((rocl_rpt_options){.topn = 20, .notice = take_notice}, 2);
    (void)state;
    notices[0] = '\0';
    assert_int_equal(write_file(log, sizeof log - 1, &o), ROCL_PARTIAL);
    char *got = get_file(report_path);
    strip_ends(got);
    assert_string_equal(got, report);
    assert_string_equal(notices, "1 profile line cannot be parsed and is read as text.1 profile "
                                 "line lacks its id or size.2 commands end before they start.");
}

static void test_no_time(void **state)
{
    static const char log[] = LINE("z", 1000, 1000) LINE("z", 1000, 1000);
    rocl_rpt_options o = with_path((rocl_rpt_options){.no_gaps = true}, 1);
    (void)state;
    assert_int_equal(write_file(log, sizeof log - 1, &o), ROCL_OK);
    char *got = get_file(report_path);
    assert_non_null(strstr(got, "records    0.00% busy\n"));
    assert_non_null(strstr(got, "\n         0.00%        0.0        1      0.0 "));
}

/* ---- the file for a viewer ------------------------------------------------------------------- */

static void test_json(void **state)
{
    static const char log[] =
        LINE("a\"\\\x01\xff", 1500, 2999) "profile: copy; D2H; 1 us; 3000; "
                                          "4000; #1.8.2; 5 b;\n" LINE("b", -1, 5000)
                                              LINE("end", 9000, 9001);
    static const char json[] =
        "{\n"
        "\"traceEvents\": [\n"
        "{ \"pid\":1, \"tid\":0, \"ts\":-1, \"dur\":5, \"ph\":\"X\", \"name\":\"b\", "
        "\"args\":{\"dev.queue.op\":\"0.0.1\", \"stop\":5 } },\n"
        "{ \"pid\":1, \"tid\":0, \"ts\":1, \"dur\":1, \"ph\":\"X\", "
        "\"name\":\"a\\\"\\\\\\u0001\xef\xbf\xbd\", "
        "\"args\":{\"dev.queue.op\":\"0.0.1\", \"stop\":2 } },\n"
        "{ \"pid\":1, \"tid\":8, \"ts\":3, \"dur\":1, \"ph\":\"X\", \"name\":\"D2H_5_bytes\", "
        "\"args\":{\"dev.queue.op\":\"1.8.2\", \"stop\":4 } },\n"
        "{ \"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 1, \"tid\":0 ,\n"
        "  \"args\": { \"name\" : \"stream:0\" }\n"
        "},\n"
        "{ \"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 1, \"tid\":8 ,\n"
        "  \"args\": { \"name\" : \"stream:8\" }\n"
        "}\n"
        "],\n"
        "\"meta_name\":\"rpt\"\n"
        "}\n";
    rocl_rpt_options o = with_path((rocl_rpt_options){.topn = 20, .json = json_path}, 1);
    (void)state;
    assert_int_equal(write_file(log, sizeof log - 1, &o), ROCL_OK);
    assert_string_equal(get_file(json_path), json);
    assert_non_null(strstr(get_file(report_path), " secs\nQ= 0\nQ= 8\n\nResource=GPU0"));
}

/* ---- large logs ------------------------------------------------------------------------------ */

static void put_filler(rocl_buf *b, char c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        rocl_buf_byte(b, (uint8_t)c);
}

/* Text, records out of order, and lines of text and of profile that are longer than a block. */
static void make_large(rocl_buf *log, unsigned count)
{
    char line[200];
    for (unsigned i = 0; i < count; i++) {
        unsigned start = i * 100 + (i * 7919 % 1000) * 37;
        if (i % 5 == 0)
            rocl_buf_put(log, line, (size_t)sprintf(line, "step %u\n", i));
        rocl_buf_put(log, line,
                     (size_t)sprintf(line, "profile: %s; name%u; 1.0 us; %u; %u; #%u.%u.%u; 4 b;\n",
                                     i % 3 ? "kernel" : "copy", i * 31 % 97, start, start + i % 300,
                                     i % 3, i % 2, i));
        if (i == count / 3)
            put_filler(log, 't', 700 << 10);
        if (i == count / 2) {
            rocl_buf_str(log, "profile: kernel; ");
            put_filler(log, 'n', 900 << 10);
            rocl_buf_str(log, "; 1.0 us; 777; 888; #0.0.0\n");
        }
    }
    assert_false(log->failed);
}

static void test_blocks(void **state)
{
    rocl_buf log = {0};
    char *first = NULL;
    (void)state;
    make_large(&log, 30000);
    for (unsigned i = 0; i < 4; i++) {
        rocl_rpt_options o = with_path((rocl_rpt_options){.text_trace = true, .topn = 20}, i + 1);
        o.memory = i == 2 ? 1 << 20 : 0;
        o.roi_start = "%^step 10$";
        o.roi_stop = "%step 29990";
        rocl_status st = (i == 3 ? write_gzip : write_file)((char *)log.data, log.len, &o);
        assert_string_equal(rocl_error_text(err), "");
        assert_int_equal(st, ROCL_OK);
        char *got = get_file(report_path);
        if (!first)
            first = strdup(got);
        assert_true(strcmp(got, first) == 0);
    }
    assert_non_null(strstr(first, "matched @13 'step 10'\n"));
    assert_non_null(strstr(first, "\n> step 29985\n"));
    free(first);
    rocl_buf_free(&log);
}

#define TRACE_EVENTS 5

/* An error of whoever writes a block is the report's error. */
static void test_full_disk(void **state)
{
    rocl_buf log = {0};
    (void)state;
    make_large(&log, 20000);
    for (unsigned i = 0; i < 4; i++) {
        rocl_rpt_options o = {.raw = i & 1, .text_trace = true, .jobs = 1 + i / 2};
        o.path = "/dev/full";
        assert_int_equal(write_file((char *)log.data, log.len, &o), ROCL_OUTPUT);
        assert_non_null(strstr(rocl_error_text(err), "/dev/full: cannot write: No space"));
    }
    rocl_buf_free(&log);
}

/* ---- traces ---------------------------------------------------------------------------------- */

/* Copies, kernels and a barrier, not in order, and what is none of them. */
static void open_world(world *w, world_event *events, unsigned jobs)
{
    static const world_event all[TRACE_EVENTS] = {
        {.kind = ROCL_DISPATCH,
         .as.dispatch = {.e = {.id = 1, .start = 5000, .end = 9000}, .agent = 1, .dispatch_id = 7}},
        {.kind = ROCL_COPY,
         .as.copy = {.e = {.id = 1, .start = 2000, .end = 3000}, .dst = 1, .size = 64}},
        {.kind = ROCL_BARRIER,
         .as.hip = {.e = {.id = 1, .start = 25000, .end = 25500}, .agent = 1}},
        {.kind = ROCL_REGION, .as.region = {.e = {.id = 1, .start = 1, .end = 2}}},
        {.kind = ROCL_DISPATCH,
         .as.dispatch = {.e = {.id = 2, .start = 40000, .end = 41000},
                         .agent = 1,
                         .dispatch_id = 8}},
    };
    static const char *const names[TRACE_EVENTS] = {"gemm", "H2D", "wait", "call", "gemm"};
    world_open(w, jobs, events, TRACE_EVENTS);
    w->tasks = 2;
    w->agents[1].type = ROCL_AGENT_GPU;
    for (size_t i = 0; i < TRACE_EVENTS; i++) {
        events[i] = all[i];
        events[i].as.e.name = text(w, names[i]);
    }
}

static void test_trace(void **state)
{
    static const char report[] =
        "ROI_START: DATA         0.000000:      +0.00 copy    #0.7.1        1: H2D_64_bytes\n"
        "ROI_STOP : GPU0         0.038000:      +0.00 kernel  #0.7.8        4: gemm\n"
        "ROI_TIME=   0.000 secs\n"
        "Resource        Start(ms) +Time(us)    Type #Dev.Q.Cmd    LineNum Name\n"
        "DATA         0.000000:      +1.00 copy    #0.7.1        1: H2D_64_bytes\n"
        "GPU0         0.003000:      +4.00 kernel  #0.7.7        2: gemm\n"
        "GPU0         0.007000:     +16.00 gap                ====\n"
        "GPU0         0.023000:      +0.50 barrier #0.7.3        3: wait\n"
        "\n"
        "Resource=GPU0 Showing 3/3 records   11.54% busy\n"
        "      Total(%)    Time(us)    Calls  Avg(us)  Min(us)  Max(us)  Name\n"
        "        41.03%       16.0        1     16.0     16.0     16.0  gap 10us-20us\n"
        "        10.26%        4.0        1      4.0      4.0      4.0  gemm\n"
        "         1.28%        0.5        1      0.5      0.5      0.5  wait\n"
        "\n"
        "Resource=DATA Showing 1/1 records    2.56% busy\n"
        "      Total(%)    Time(us)    Calls  Avg(us)  Min(us)  Max(us)  Name\n"
        "         2.56%        1.0        1      1.0      1.0      1.0  H2D_64_bytes\n";
    world_event events[TRACE_EVENTS];
    world w;
    (void)state;
    for (unsigned jobs = 1; jobs <= 2; jobs++) {
        rocl_rpt_options o = with_path((rocl_rpt_options){.text_trace = true, .topn = 20}, jobs);
        open_world(&w, events, jobs);
        assert_int_equal(rocl_write_rpt_trace(&w.trace, &o, err), ROCL_OK);
        char *got = get_file(report_path);
        strip_ends(got);
        assert_string_equal(got, report);
        world_close(&w);
    }
}

static void test_regions_of_traces(void **state)
{
    static const char *const ends[][4] = {
        {"@2", "^30000", "  2: gemm ", "  4: gemm "},
        {"%^ge", "2%ge", "  2: gemm ", "  4: gemm "},
        {"^20000", NULL, "  3: wait ", "  4: gemm "},
        {"^0", "%\\bwait", "  1: H2D_64_bytes ", "  3: wait "},
    };
    world_event events[TRACE_EVENTS];
    world w;
    (void)state;
    for (size_t i = 0; i < COUNT(ends); i++) {
        rocl_rpt_options o = with_path(
            (rocl_rpt_options){.topn = 20, .roi_start = ends[i][0], .roi_stop = ends[i][1]}, 1);
        open_world(&w, events, 1);
        assert_int_equal(rocl_write_rpt_trace(&w.trace, &o, err), ROCL_OK);
        char *got = get_file(report_path), *stop = strstr(got, "ROI_STOP");
        assert_true(strstr(got, ends[i][2]) < stop);
        assert_non_null(strstr(stop, ends[i][3]));
        world_close(&w);
    }
    open_world(&w, events, 1);
    w.count = 0;
    rocl_rpt_options o = with_path((rocl_rpt_options){0}, 1);
    assert_int_equal(rocl_write_rpt_trace(&w.trace, &o, err), ROCL_INPUT);
    world_close(&w);
}

/* ---- dictionaries and numbers ---------------------------------------------------------------- */

static uint32_t checksum_of_order(const uint64_t *hashes, size_t n)
{
    uint32_t *order = calloc(n, sizeof *order), sum = 0;
    assert_non_null(order);
    assert_true(rocl_py_dict_order(hashes, n, order));
    for (size_t i = 0; i < n; i++)
        sum = sum * 31 + order[i];
    free(order);
    return sum;
}

/* The sums are those of a dict of Python 2.7 with the same keys. */
static void test_dict(void **state)
{
    uint64_t *hashes = calloc(120000, sizeof *hashes);
    char key[16];
    (void)state;
    assert_non_null(hashes);
    for (int i = 0; i < 120000; i++)
        hashes[i] = rocl_py_hash(key, (size_t)sprintf(key, "k%d", i));
    assert_int_equal(checksum_of_order(hashes, 30000), 4215823998);
    assert_int_equal(checksum_of_order(hashes, 120000), 866623458);
    for (int i = 0; i < 1000; i++)
        hashes[i] = rocl_py_hash_int((int64_t)i * 7919 % 100003 - 5);
    assert_int_equal(checksum_of_order(hashes, 1000), 1740922280);
    assert_int_equal(rocl_py_hash("", 0), 0);
    free(hashes);
}

static void test_numbers(void **state)
{
    static const struct {
        const char *text;
        bool is_int;
        int64_t value;
        bool is_float;
    } cases[] = {
        {"0", true, 0, true},
        {" 12\t", true, 12, true},
        {"+7", true, 7, true},
        {"- 5", true, -5, false},
        {"-\t5", true, -5, false},
        {"-+5", false, 0, false},
        {"007", true, 7, true},
        {"0000000000000000000000042", true, 42, true},
        {"9223372036854775807", true, INT64_MAX, true},
        {"-9223372036854775808", true, INT64_MIN, true},
        {"9223372036854775808", false, 0, true},
        {"5L", false, 0, false},
        {"1_0", false, 0, false},
        {"0x10", false, 0, false},
        {"", false, 0, false},
        {"-", false, 0, false},
        {".", false, 0, false},
        {"1.", false, 0, true},
        {".5e-3", false, 0, true},
        {"1e", false, 0, false},
        {"1e+", false, 0, false},
        {"-Inf", false, 0, true},
        {"infinity", false, 0, true},
        {"infin", false, 0, false},
        {"nan", false, 0, true},
        {"1 2", false, 0, false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t v = 0;
        rocl_view s = {cases[i].text, strlen(cases[i].text)};
        if (rocl_py_int(s, &v) != cases[i].is_int || v != cases[i].value ||
            rocl_py_float(s) != cases[i].is_float)
            fail_msg("\"%s\": %lld", cases[i].text, (long long)v);
    }
}

/* ---- golden reports -------------------------------------------------------------------------- */

static const struct golden {
    const char *options; /* as in the manifest */
    rocl_rpt_options o;
} goldens[] = {
    {"", {.topn = 20}},
    {" -t", {.topn = 20, .text_trace = true}},
    {" -t --info", {.topn = 20, .text_trace = true, .info = true}},
    {" -t --hide_app_text", {.topn = 20, .text_trace = true, .hide_app_text = true}},
    {" --no_gaps", {.topn = 20, .no_gaps = true}},
    {" -t --ignore_barriers", {.topn = 20, .text_trace = true, .ignore_barriers = true}},
    {" --gaps 5 100 1000000",
     {.topn = 20, .gaps = (const int64_t[]){5, 100, 1000000}, .gap_count = 3}},
    {" -t --gaps 1000 7",
     {.topn = 20, .text_trace = true, .gaps = (const int64_t[]){1000, 7}, .gap_count = 2}},
    {" --topn 3", {.topn = 3}},
    {" --topn 0", {.topn = 0}},
    {" --topn -1", {.topn = -1}},
    {" --db", {.topn = 20, .raw = true}},
    {" -r '@5' -R '@15'", {.topn = 20, .roi_start = "@5", .roi_stop = "@15"}},
    {" -r 'Epoch@3'", {.topn = 20, .roi_start = "Epoch@3"}},
};

static const char *data(void)
{
    const char *s = getenv("ROCLINE_DATA");
    return s && *s ? s : "../shared/data";
}

/* The file with the report for these options, false when the script made none. */
static bool find_golden(const char *dir, const char *options, char *path, size_t size)
{
    char wanted[256], manifest[512], ref[64] = "";
    snprintf(manifest, sizeof manifest, "%s/manifest.tsv", dir);
    snprintf(wanted, sizeof wanted, "\tpy2\tsrc/rpt hcc.log%s\t-\t-\t0\t", options);
    const char *row = strstr(get_file(manifest), wanted);
    if (!row || sscanf(row + strlen(wanted), "%63[^\t]", ref) != 1)
        return false;
    snprintf(path, size, "%s/%s", dir, ref);
    return true;
}

static void test_golden(void **state)
{
    static const char *const names[] = {"31_rpt_rtg", "33_rpt_enq", "36_rpt_ties", "38_rpt_roi"};
    char dir[256], input[512], path[512];
    size_t compared = 0;
    (void)state;
    for (size_t i = 0; i < COUNT(names) * COUNT(goldens); i++) {
        const struct golden *g = &goldens[i % COUNT(goldens)];
        snprintf(dir, sizeof dir, "%s/rtg/%s", data(), names[i / COUNT(goldens)]);
        snprintf(input, sizeof input, "%s/in/hcc.log", dir);
        if (access(input, R_OK))
            skip();
        if (!find_golden(dir, g->options, path, sizeof path))
            continue;
        rocl_rpt_options o = with_path(g->o, 1 + i % 2);
        assert_true(rocl_write_rpt(input, &o, err) <= ROCL_PARTIAL);
        char *ours = strdup(get_file(report_path));
        assert_string_equal(ours, get_file(path));
        free(ours);
        compared++;
    }
    assert_true(compared > 40);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_cases),   TEST(test_bytes_at_line_ends),
                                       TEST(test_errors),  TEST(test_repairs),
                                       TEST(test_no_time), TEST(test_json),
                                       TEST(test_blocks),  TEST(test_full_disk),
                                       TEST(test_trace),   TEST(test_regions_of_traces),
                                       TEST(test_dict),    TEST(test_numbers),
                                       TEST(test_golden)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
