/* Lines of legacy text -> shapes. To add a case, add a row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "source/rtg/line.h"

#define HIP  "HIP: pid:7 tid:5 "
#define HSA  "HSA: pid:7 tid:5 "
#define Q    "queue:3 agent:9 signal:1"
#define DEPS " dep1:1 dep2:2 dep3:3 dep4:4 dep5:5"

/* name, start, stop, args, kernel: "" where there is none. */
static const struct {
    const char *line;
    rtg_shape shape;
    const char *name, *start, *stop, *args, *kernel;
} rows[] = {
    {"", RTG_TEXT, "", "", "", "", ""},
    {"hello HIP world", RTG_TEXT, "", "", "", "", ""},
    {HIP "hipFree ret=0 @1 +2", RTG_HIP, "hipFree", "1", "2", "", ""},
    {HIP "hipFree  ret=0 @1 +2", RTG_HIP, "hipFree ", "1", "2", "", ""},
    {HIP "hipMalloc(ptr=0, size=4) ret=0 @1 +2", RTG_HIP, "hipMalloc", "1", "2", "ptr=0, size=4",
     ""},
    {HIP "hipLaunchKernel(f=0) [_Z1fv] ret=0 @1 +2", RTG_HIP, "hipLaunchKernel", "1", "2", "f=0",
     "_Z1fv"},
    {HIP "hipLaunchKernel [f<int [4]>] ret=0 @1 +2", RTG_HIP, "hipLaunchKernel", "1", "2", "",
     "f<int [4]>"},
    {HIP "f ret=1 @2 +3 ret=4 @5 +6", RTG_HIP, "f ret=1 @2 +3", "5", "6", "", ""},
    {"before " HIP "hipFree ret=0 @1 +2 after", RTG_HIP, "hipFree", "1", "2", "", ""},
    {HIP "hipFree ret=0 @1 +", RTG_HIP_MISSED, "", "", "", "", ""},
    {HIP "hipFree ret=0 @-1 +2", RTG_HIP_MISSED, "", "", "", "", ""},
    {"HIP:", RTG_HIP_MISSED, "", "", "", "", ""},
    {HSA "hsa_init () ret=0 @1 +2", RTG_HSA, "hsa_init", "1", "2", "()", ""},
    {HSA "hsa_x (a, (b)) ret=0 @1 +2", RTG_HSA, "hsa_x (a,", "1", "2", "(b))", ""},
    {HSA "hsa_x(a) ret=0 @1 +2", RTG_HSA_MISSED, "", "", "", "", ""},
    {HSA "dispatch " Q " name:'k' tick:4 id:0 workgroup:{1,2,3} grid:{4,5,6}", RTG_HOST_DISPATCH,
     "k", "4", "", "", ""},
    {HSA "dispatch " Q " name:'k' start:4 stop:5 id:0", RTG_DISPATCH, "k", "4", "5", "", ""},
    {HSA "dispatch " Q " name:'it's' start:4 stop:5 id:0", RTG_DISPATCH, "it's", "4", "5", "", ""},
    {HSA "dispatch " Q " name:'' start:4 stop:5 id:0", RTG_DISPATCH, "", "4", "5", "", ""},
    {HSA "dispatch " Q " name:'k' start:4 stop:-5 id:0", RTG_HSA_MISSED, "", "", "", "", ""},
    {HSA "dispatch " Q " name:'k' tick:4 id:0 workgroup:{1,2,3} grid:{-4,5,6}", RTG_HSA_MISSED, "",
     "", "", "", ""},
    {HSA "barrier " Q DEPS " tick:4 id:0", RTG_HOST_BARRIER, "", "4", "", "", ""},
    {HSA "barrier " Q " start:4 stop:5" DEPS " id:0", RTG_BARRIER, "", "4", "5", "", ""},
    {HSA "copy agent:9 signal:1 start:4 stop:5" DEPS, RTG_COPY, "", "4", "5", "", ""},
    {HSA "vendor " Q " dep:1 tick:4 id:0", RTG_HOST_VENDOR, "", "4", "", "", ""},
    {HSA "vendor " Q " start:4 stop:5 dep:1 id:0", RTG_VENDOR, "", "4", "5", "", ""},
    {"RTX: pid:7 tid:5 a b @1 +2", RTG_RANGE, "a b", "1", "2", "", ""},
    {"RTX: pid:7 tid:5 a b @1", RTG_MARK, "a b", "1", "", "", ""},
    {"RTX: pid:7 tid:5 a b @1 ", RTG_TEXT, "", "", "", "", ""},
    {"profile:  kernel;\t k; 1.0 us;\t4;\t5;\t#1.2.3;", RTG_HCC, "k", "4", "5", "", ""},
    {"profile: barrier;\t   ;\t1.0 us;\t4;\t5;\t#1.2.3;", RTG_HCC, "", "4", "5", "", ""},
    {"profile: copy; c; 1.0 us; 3; 4; 5; #1.2.3; 8 bytes;", RTG_HCC, "c", "4", "5", "", ""},
    {"profile: kernel; k; 1.0 us; 4; 5;", RTG_HCC_TIMES, "k", "4", "5", "", ""},
    {"profile: kernel; k; 1.0 us; #1.2.3;", RTG_HCC_ID, "k", "", "", "", ""},
    {"profile: kernel; k; 1.0 us;", RTG_HCC_SPAN, "k", "", "", "", ""},
    {"profile: kernel; k; 1.0 ms;", RTG_HCC_MISSED, "", "", "", "", ""},
    {"1.5 read(3 <unfinished ...>", RTG_STRACE_UNFINISHED, "read(3", "1", "", "", ""},
    {"1.5 <... read resumed> \"\", 4) = 0 <0.1>", RTG_STRACE_RESUMED, "read", "1", "", "", ""},
    {"1.5 read(3) = -1 <0.1>", RTG_STRACE_COMPLETE, "read(3)", "1", "", "", ""},
    {"1.5 read(3) = -1 ENOENT (No) <0.1>", RTG_TEXT, "", "", "", "", ""},
};

static void check_span(const char *line, const char *what, rocl_view s, const char *expected)
{
    bool same = s.n == strlen(expected) && !memcmp(s.p, expected, s.n);
    if (!same)
        print_error("%s\n%s: '%.*s'\n", line, what, (int)s.n, s.p);
    assert_true(same);
}

static rtg_shape shape_of(rtg_line *l, const char *p, size_t n)
{
    rtg_parse_line(l, p, n, true);
    rtg_parse_newer_line(l, p, n);
    return l->shape;
}

static void test_shapes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t n = strlen(rows[i].line);
        char *exact = malloc(n ? n : 1); /* of its size, so that sanitizers see what is beyond */
        rtg_line l;
        memcpy(exact, rows[i].line, n);
        shape_of(&l, exact, n);
        if (l.shape != rows[i].shape)
            print_error("%s: shape %d\n", rows[i].line, (int)l.shape);
        assert_int_equal(l.shape, rows[i].shape);
        if (*rows[i].name)
            check_span(rows[i].line, "name", l.name, rows[i].name);
        if (*rows[i].start)
            check_span(rows[i].line, "start", l.start, rows[i].start);
        if (*rows[i].stop)
            check_span(rows[i].line, "stop", l.stop, rows[i].stop);
        assert_int_equal(l.has_args, *rows[i].args != 0);
        if (*rows[i].args)
            check_span(rows[i].line, "args", l.args, rows[i].args);
        assert_int_equal(l.has_kernel, *rows[i].kernel != 0);
        if (*rows[i].kernel)
            check_span(rows[i].line, "kernel", l.kernel, rows[i].kernel);
        free(exact);
    }
}

static void test_fields(void **state)
{
    static const char dispatch[] =
        HSA "dispatch queue:0x3 agent:9 signal:1 name:'k' tick:4 id:8 workgroup:{1,2,3} "
            "grid:{4,5,6}";
    static const char copy[] = "profile: copy; c; 1.0 us; 3; 4; 5; #1.2.3; 8 bytes;";
    rtg_line l;
    (void)state;
    shape_of(&l, dispatch, strlen(dispatch));
    check_span(dispatch, "pid", l.pid, "7");
    check_span(dispatch, "tid", l.tid, "5");
    check_span(dispatch, "queue", l.queue, "0x3");
    check_span(dispatch, "agent", l.agent, "9");
    check_span(dispatch, "id", l.id, "8");
    check_span(dispatch, "workgroup", l.workgroup[2], "3");
    check_span(dispatch, "grid", l.grid[0], "4");
    shape_of(&l, copy, strlen(copy));
    check_span(copy, "type", l.type, "copy");
    check_span(copy, "enqueue", l.enqueue, "3");
    check_span(copy, "device", l.device, "1");
    check_span(copy, "stream", l.stream, "2");
    check_span(copy, "sequence", l.sequence, "3");
    check_span(copy, "extra", l.extra, " 8 bytes;");
}

/* Every line cut off at every byte, and with every byte replaced: never out of bounds. */
static void test_damaged(void **state)
{
    static const char bytes[] = " '@+=:;()[]<>{}#.0a\0\x80";
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t n = strlen(rows[i].line);
        for (size_t cut = 0; cut <= n; cut++) {
            char *exact = malloc(cut ? cut : 1);
            rtg_line l;
            memcpy(exact, rows[i].line, cut);
            shape_of(&l, exact, cut);
            rtg_parse_line(&l, exact, cut, false);
            for (size_t b = 0; cut && b < sizeof bytes - 1; b++) {
                exact[cut - 1] = bytes[b];
                shape_of(&l, exact, cut);
            }
            free(exact);
        }
    }
}

/* ---- time in proportion to the line ---- */

/* Sanitizers look at all that a search backwards may read, however soon it ends. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif
#ifdef SANITIZED
#define LONG ((size_t)256 << 10)
#else
#define LONG ((size_t)4 << 20)
#endif

static const struct {
    const char *begin, *again, *end;
} long_lines[] = {
    {HSA "f", " (x) ret=", ""},
    {HSA "f", " (x) ret=1 @2 +3", ""},
    {HSA, " (x) ret=1 @2 +", ""},
    {HSA "dispatch " Q " name:'", "' start:", ""},
    {HSA "dispatch " Q " name:'", "' start:1 stop:2 id:", ""},
    {HSA "dispatch " Q " name:'", "' tick:1 id:2 workgroup:{1,2,", ""},
    {HSA "dispatch ", "agent:1 signal:2 name:'", ""},
    {HSA "barrier ", " agent:1 signal:1 start:1 stop:", ""},
    {HSA "vendor ", " agent:1 signal:1 dep:1 start:1 stop:", ""},
    {"", HSA "copy agent:9 signal:1 start:4 ", ""},
    {"", HSA, ""},
    {"", HIP, ""},
    {HIP "f", " ret=1 @2 ", ""},
    {HIP "f", " ret=1 @2 +3", "x"},
    {HIP "f", " [a(", " ret=0 @1 +2"},
    {"", "RTX: pid:1 tid:2 @", ""},
    {"", "profile: ", ""},
    {"profile: ", " ", ""},
    {"profile: kernel; k;", " 1 us;", ""},
    {"profile: kernel; k;", " 1 us; 1; 2; #1.", ""},
    {"profile: kernel; k", ";", " us;"},
    {"", "profile: k; t; 1 us; ", ""},
    {"", "1.", " <a> = b <c>"},
    {"", "1.1 ", " = 1 <1>"},
    {"1.1 f", " = 1 <", ">"},
    {"1.1 ", "<... f resumed> ", " = 1 <1>"},
    {"", "1.1 <... f resumed> ", "= 1 <1>"},
    {"1.1 f", " <unfinished ...", "<>"},
    {"", "1", ".1 f <unfinished ...>"},
    {"", ".", ">"},
    {"", "1 ", "1.1 f <unfinished ...>"},
};

static void test_linear(void **state)
{
    const size_t size = LONG;
    char *line = malloc(size + 256);
    (void)state;
    for (size_t i = 0; i < sizeof long_lines / sizeof *long_lines; i++) {
        size_t n = strlen(long_lines[i].begin), m = strlen(long_lines[i].again);
        memcpy(line, long_lines[i].begin, n);
        for (; n + m <= size; n += m)
            memcpy(line + n, long_lines[i].again, m);
        memcpy(line + n, long_lines[i].end, strlen(long_lines[i].end));
        n += strlen(long_lines[i].end);
        rtg_line l;
        alarm(600); /* milliseconds where it is linear; where it is not, it does not end */
        shape_of(&l, line, n);
        alarm(0);
    }
    free(line);
}

static void test_numbers(void **state)
{
    static const struct {
        const char *text;
        bool ok;
        uint64_t value;
    } numbers[] = {
        {"0", true, 0},
        {"42", true, 42},
        {"00000000000000000000000000042", true, 42},
        {"9999999999999999999", true, 9999999999999999999u},
        {"18446744073709551615", true, UINT64_MAX},
        {"18446744073709551616", false, 0},
        {"99999999999999999999999", false, 0},
        {"", false, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        uint64_t v = 0;
        rocl_view s = {numbers[i].text, strlen(numbers[i].text)};
        assert_int_equal(rtg_number(s, &v), numbers[i].ok);
        if (numbers[i].ok)
            assert_true(v == numbers[i].value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),  cmocka_unit_test(test_fields),
        cmocka_unit_test(test_damaged), cmocka_unit_test(test_linear),
        cmocka_unit_test(test_numbers),
    };
    return cmocka_run_group_tests_name("rtg_line", tests, NULL, NULL);
}
