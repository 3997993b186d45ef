/* Derived counters: expressions of both grammars, forms of files, what is missing. To add a case,
 * add a row; the values of operands are below. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "derive/derive.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

enum { V1 = 1, V3 = 2, BOTH = V1 | V3 };

/* Of two XCCs with two instances each. */
static const rocl_derive_instance p_instances[] = {{1, {0, -1, 0, -1, -1}},
                                                   {2, {0, -1, 1, -1, -1}},
                                                   {3, {1, -1, 0, -1, -1}},
                                                   {6, {1, -1, 1, -1, -1}}},
                                  q_instances[] = {{10, {0, -1, 0, -1, -1}},
                                                   {20, {0, -1, 1, -1, -1}},
                                                   {30, {1, -1, 0, -1, -1}},
                                                   {40, {1, -1, 1, -1, -1}}};

/* A, B, C: single values, as sums of an unknown number of instances. M: instances 1, 2, 3, 6. N:
 * 10, 20, 30, 40. P and Q: the same as M and N, with places. G: of GRBM, one instance of an unknown
 * number. X[0], X[1]: 5 and 9. Z: 0. */
static const struct {
    const char *name;
    rocl_operand is;
} operands[] = {
    {"A", {true, 0, 7, 0, 0, NULL}},         {"B", {true, 0, 3, 0, 0, NULL}},
    {"C", {true, 0, 2, 0, 0, NULL}},         {"M", {true, 4, 12, 1, 6, NULL}},
    {"N", {true, 4, 100, 10, 40, NULL}},     {"G", {true, 0, 50, 0, 0, NULL}},
    {"X[0]", {true, 0, 5, 0, 0, NULL}},      {"X[1]", {true, 0, 9, 0, 0, NULL}},
    {"Z", {true, 0, 0, 0, 0, NULL}},         {"Given", {true, 0, 11, 0, 0, NULL}},
    {"P", {true, 4, 12, 1, 6, p_instances}}, {"Q", {true, 4, 100, 10, 40, q_instances}},
};

static const struct {
    const char *name;
    double value;
} constants[] = {{"simd_count", 8},       {"simd_per_cu", 4},
                 {"array_count", 6},      {"simd_arrays_per_engine", 2},
                 {"wave_front_size", 64}, {"num_xcc", 1}};

static const struct row {
    int grammars;
    const char *expression;
    double value;
    unsigned amd;
    const char *missing; /* NULL: nothing; "": undefined */
} rows[] = {
    /* precedence, order, parentheses */
    {BOTH, "A", 7, 0, NULL},
    {BOTH, "2+3*4", 0, 0, "constant"},
    {V1, "A+B*C", 13, 0, NULL},
    {V1, "(A+B)*C", 20, 0, NULL},
    {V1, "A-B-C", 2, ROCL_AMD_ASSOCIATES, NULL},
    {V1, "A-B+C", 6, ROCL_AMD_ASSOCIATES, NULL},
    {V1, "A+B-C", 8, 0, NULL},
    {V1, "A-(B-C)", 6, 0, NULL},
    {V1, "A-B-Z", 4, 0, NULL}, /* both orders agree */
    {V1, "A/B/C", 7.0 / 3 / 2, 0, NULL},
    {V1, "A/B*C", 7.0 / 3 * 2, 0, NULL},
    {V1, "100*A/(A+B)", 70, 0, NULL},
    {V1, "((((A))))", 7, 0, NULL},
    {V1, "A-B*C-C", -1, ROCL_AMD_ASSOCIATES, NULL},
    {V3, "reduce(A,sum)-reduce(B,sum)-reduce(C,sum)", 2, 0, NULL},
    {V3, "reduce(A,sum)-reduce(B,sum)+reduce(C,sum)", 6, 0, NULL},
    {V3, " reduce( A , sum ) / 2 // half\n", 3.5, 0, NULL},
    {V3, "reduce(A,sum)*0.5", 3.5, ROCL_AMD_CUTS, NULL},
    {V3, "reduce(A,sum)*1e1", 70, ROCL_AMD_CUTS, NULL},
    {V3, "reduce(A,sum)*2.0", 14, 0, NULL},
    /* division by zero */
    {V1, "A/Z", 0, 0, ""},
    {V1, "A+B/Z", 0, 0, ""},
    {V3, "reduce(A,sum)/reduce(Z,sum)", 0, 0, ""},
    {V1, "Z/A", 0, 0, NULL},
    /* instances */
    {V3, "reduce(M,sum)", 12, 0, NULL},
    {V3, "reduce(M,max)", 6, 0, NULL},
    {V3, "reduce(M,min)", 1, 0, NULL},
    {V3, "reduce(M,avr)", 3, 0, NULL},
    {V3, "M", 12, 0, NULL},
    {V3, "M+1", 16, 0, NULL},
    {V3, "M-1", 8, 0, NULL},
    {V3, "1-M", -8, ROCL_AMD_SWAPS, NULL},
    {V3, "reduce(10-M,max)", 9, ROCL_AMD_SWAPS, NULL},
    {V3, "reduce(M*2,max)", 12, 0, NULL},
    {V3, "reduce(M*(1-2),max)", -1, 0, NULL},
    {V3, "M/2", 6, 0, NULL},
    {V3, "N+M", 112, 0, NULL},
    {V3, "reduce(N-M,avr)", 22, 0, NULL},
    {V3, "100/M", 0, 0, "each instance of M"},
    {V3, "N/M", 0, 0, "each instance of M"},
    {V3, "reduce(N-M,max)", 0, 0, "each instance of N"},
    {V3, "reduce(A,max)", 0, 0, "each instance of A"},
    {V3, "A+1", 0, 0, "each instance of A"},
    {V3, "A*2", 14, 0, NULL},
    {V3, "reduce(M,sum,[DIMENSION_XCC])", 12, 0, NULL},
    {V3, "reduce(M,max,[DIMENSION_XCC,DIMENSION_WGP])", 0, 0,
     "DIMENSION_XCC of each instance of M"},
    {V3, "reduce(select(M,[DIMENSION_XCC=[0:1]]),sum)", 0, 0,
     "DIMENSION_XCC of each instance of M"},
    {V3, "reduce(P,sum,[DIMENSION_XCC])", 12, 0, NULL},
    {V3, "reduce(reduce(P,sum,[DIMENSION_XCC]),max)", 8, 0, NULL},
    {V3, "reduce(reduce(P,max,[DIMENSION_INSTANCE]),sum)", 8, 0, NULL},
    {V3, "reduce(reduce(P,avr,[DIMENSION_INSTANCE]),max)", 4.5, 0, NULL},
    {V3, "reduce(reduce(P,min,[DIMENSION_INSTANCE])*2,avr)", 4, 0, NULL},
    {V3, "reduce(P,min,[DIMENSION_XCC,DIMENSION_INSTANCE])", 1, 0, NULL},
    {V3, "reduce(select(P,[DIMENSION_XCC=[1]]),sum)", 9, 0, NULL},
    {V3, "select(P,[DIMENSION_XCC=[1],DIMENSION_INSTANCE=[0]])", 3, 0, NULL},
    {V3, "reduce(select(P,[DIMENSION_INSTANCE=[0:1]]),max)", 6, 0, NULL},
    {V3, "reduce(select(Q,[DIMENSION_XCC=[0]])/select(P,[DIMENSION_XCC=[0]]),min)", 10, 0, NULL},
    {V3, "reduce(select(P,[DIMENSION_XCC=[7]]),sum)", 0, 0, ""},
    {V3, "reduce(P,max,[DIMENSION_WGP])", 0, 0, "DIMENSION_WGP of each instance of P"},
    {V3, "reduce(P,max,[DIMENSION_AID])", 0, 0, "DIMENSION_AID of each instance of P"},
    {V3, "select(P,[DIMENSION_AGENT=[0]])", 0, 0, "DIMENSION_AGENT of each instance of P"},
    {V3, "reduce(Q/P,max)", 10, 0, NULL},
    {V3, "reduce(Q*P,sum)", 380, 0, NULL},
    {V3, "reduce(Q-P,min)", 9, 0, NULL},
    {V3, "reduce(12/P,sum)", 24, ROCL_AMD_SWAPS, NULL},
    {V3, "reduce(P/(Q-10),sum)", 0, 0, ""},
    {V3, "reduce(Q/M,max)", 0, 0, "each instance of M"},
    {V3, "reduce(Q/reduce(P,sum,[DIMENSION_XCC]),max)", 0, 0, "each instance of P"},
    {V3, "reduce(accumulate(A,HIGH_RES),sum)", 0, 0,
     "accumulate(A), which only the hardware can do"},
    {V3, "reduce(G,max)", 50, 0, NULL}, /* its block is there once */
    {V3, "100*reduce(M,max)/reduce(G,max)", 12, 0, NULL},
    {V1, "M", 12, 0, NULL},
    {V1, "1-M", -11, 0, NULL},
    {V1, "N/M", 100.0 / 12, 0, NULL},
    {V1, "sum(M,4)", 12, 0, NULL},
    {V1, "max(M,4)", 6, 0, NULL},
    {V1, "min(M,4)", 1, 0, NULL},
    {V1, "avr(M,4)", 3, 0, NULL},
    {V1, "sum(X,2)", 14, 0, NULL},
    {V1, "max(X,2)*2", 18, 0, NULL},
    {V1, "min(X,2)", 5, 0, NULL},
    {V1, "avr(X,2)", 7, 0, NULL},
    {V1, "sum(X,3)", 0, 0, "X"},
    {V1, "sum(A,16)", 7, 0, NULL},
    {V1, "avr(A,2)", 3.5, 0, NULL},
    {V1, "max(A,16)", 0, 0, "each instance of A"},
    {V1, "sum+max", 0, 0, "max, sum"},
    /* constants, names of other derived counters, collected ones */
    {BOTH, "A*CU_NUM", 14, 0, NULL},
    {BOTH, "A*SE_NUM", 21, 0, NULL},
    {BOTH, "A*SIMD_NUM", 56, 0, NULL},
    {BOTH, "A*MAX_WAVE_SIZE", 448, 0, NULL},
    {BOTH, "A*XCC_NUM", 7, 0, NULL},
    {BOTH, "A*simd_per_cu", 28, 0, NULL},
    {V1, "Other*C", 20, 0, NULL},
    {V3, "Other3*2", 6, 0, NULL},
    {V3, "Given", 11, 0, NULL},
    {V3, "Given/2", 5.5, 0, NULL},
    {V3, "reduce(Given,max)", 11, 0, NULL},
    {BOTH, "A*No1", 0, 0, "No1"},
    {V1, "(No2+No1)/(No1+A)", 0, 0, "No1, No2"},
    /* what is no expression */
    {BOTH, "", 0, 0, "!ends early"},
    {BOTH, "A+", 0, 0, "!ends early"},
    {BOTH, "(A", 0, 0, "!\")\" is expected"},
    {BOTH, "A)", 0, 0, "!an operator is expected"},
    {BOTH, "-A", 0, 0, "!is expected"},
    {BOTH, "A$B", 0, 0, "!an operator is expected"},
    {V1, "A*0.5", 0, 0, "!numbers are integers"},
    {V1, "A*2x", 0, 0, "!numbers are integers"},
    {V1, "reduce(A,sum)", 0, 0, "!no such function"},
    {V1, "sum(A)", 0, 0, "!\",\" is expected"},
    {V1, "sum(A,x)", 0, 0, "!a number of instances"},
    {V1, "sum(A,99999999999)", 0, 0, "!a number of instances"},
    {V3, "sum(A,4)", 0, 0, "!no such function"},
    {V3, "reduce(A,mean)", 0, 0, "!sum, avr, min or max"},
    {V3, "reduce(A,sum,[])", 0, 0, "!name of a dimension"},
    {V3, "accumulate(A,FULL)", 0, 0, "!HIGH_RES"},
    {V3, "select(A,[DIMENSION_XCC])", 0, 0, "!\"=\" is expected"},
    {V3, "select(A,[DIMENSION_X=[0]])", 0, 0, "!column 11: the name of a dimension is expected"},
    {V3, "select(A,[DIMENSION_XCC=[99999999999]])", 0, 0, "!a number is expected"},
};

static const char xml_form[] = "# invented\n"
                               "<gfx1>\n"
                               "  <metric name=\"G\" block=GRBM event=2 descr=\"a > b\"></metric>\n"
                               "</gfx1>\n"
                               "<gfx1_expr>\n"
                               "  <metric name=\"Other\" expr=A+B ></metric>\n"
                               "  <metric name=\"T\" expr=\"%s\" descr=\"Unit: cycles\"/>\n"
                               "</gfx1_expr>\n";

static const char yaml_form[] =
    "rocprofiler-sdk:\n"
    "  counters:\n"
    "  - name: G\n"
    "    definitions: [{architectures: [gfx0, gfx1], block: GRBM, event: 2}]\n"
    "  - {name: Other3, definitions: [{architectures: [gfx1], expression: 'reduce(B,sum)'}]}\n"
    "  - {name: Given, definitions: [{architectures: [gfx1], expression: 'reduce(No1,sum)'}]}\n"
    "  - name: T\n"
    "    description: 'Unit: cycles'\n"
    "    definitions:\n"
    "    - architectures: [gfx1]\n"
    "      expression: \"%s\"\n";

/* A program of the definitions in a text, and operands. */
typedef struct world {
    rocl_derive *d;
    rocl_derive_program *p;
    rocl_operand *values;
    rocl_error *err;
} world;

static rocl_status open_world(world *w, const char *text, const char *arch)
{
    rocl_constant known[COUNT(constants)];
    *w = (world){.d = rocl_derive_new(), .err = rocl_error_new()};
    assert_non_null(w->d);
    rocl_status st = rocl_derive_parse(w->d, "file", text, strlen(text), w->err);
    for (size_t i = 0; i < COUNT(constants); i++)
        known[i] =
            (rocl_constant){rocl_derive_symbol(w->d, constants[i].name, strlen(constants[i].name)),
                            constants[i].value};
    uint32_t symbols[COUNT(operands)];
    for (size_t i = 0; i < COUNT(operands); i++)
        symbols[i] = rocl_derive_symbol(w->d, operands[i].name, strlen(operands[i].name));
    if (st == ROCL_OK)
        st = rocl_derive_program_new(&w->p, w->d, arch, known, COUNT(known), w->err);
    w->values = calloc(rocl_derive_symbols(w->d), sizeof *w->values);
    assert_non_null(w->values);
    for (size_t i = 0; i < COUNT(operands); i++)
        w->values[symbols[i]] = operands[i].is;
    if (st == ROCL_OK)
        rocl_derive_values(w->p, w->values);
    return st;
}

static void close_world(world *w)
{
    rocl_derive_program_free(w->p);
    rocl_derive_free(w->d);
    rocl_error_free(w->err);
    free(w->values);
}

/* Its index; the number of metrics: there is none. */
static size_t find_metric(const world *w, const char *name)
{
    size_t n, i = 0;
    const rocl_metric *all = rocl_derive_metrics(w->p, &n);
    while (i < n && strcmp(rocl_derive_name(w->d, all[i].symbol), name) != 0)
        i++;
    return i;
}

/* Names in alphabetical order, so that rows do not depend on how the tree is walked. */
static void check_missing(world *w, size_t metric, const char *want)
{
    rocl_buf got = {0};
    rocl_derive_missing(w->p, metric, &got);
    rocl_buf_byte(&got, 0);
    char copy[256], *rest = copy;
    snprintf(copy, sizeof copy, "%s", want);
    assert_int_equal(strlen((char *)got.data), strlen(want));
    for (char *name; (name = strsep(&rest, ","));)
        assert_non_null(strstr((char *)got.data, name + (*name == ' ')));
    rocl_buf_free(&got);
}

static void check_row(const struct row *row, bool xml)
{
    char text[2048];
    world w;
    snprintf(text, sizeof text, xml ? xml_form : yaml_form, row->expression);
    for (char *c = text; !xml && *c; c++) /* an escape, in quotes */
        if (*c == '\n' && strstr(row->expression, "//") && strstr(text, "// half") &&
            c == strstr(text, "// half") + 7)
            *c = ' ';
    rocl_status st = open_world(&w, text, "gfx1");
    print_message("%s\n", row->expression);
    if (row->missing && *row->missing == '!') {
        assert_int_equal(st, ROCL_INPUT);
        if (!strstr(rocl_error_text(w.err), row->missing + 1))
            fail_msg("%s", rocl_error_text(w.err));
        assert_non_null(strstr(rocl_error_text(w.err), "file: line "));
        close_world(&w);
        return;
    }
    if (st != ROCL_OK)
        fail_msg("%s", rocl_error_text(w.err));
    size_t n, t = find_metric(&w, "T");
    const rocl_metric *all = rocl_derive_metrics(w.p, &n);
    if (row->missing && !strcmp(row->missing, "constant")) {
        assert_int_equal(t, n);
        close_world(&w);
        return;
    }
    assert_in_range(t, 0, n - 1);
    assert_string_equal(all[t].unit, "cycles");
    const rocl_derived v = rocl_derive_value(w.p, t);
    if (!row->missing) {
        assert_int_equal(v.state, ROCL_DERIVED_VALUE);
        assert_true(fabs(v.value - row->value) <= 1e-12);
        assert_int_equal(v.amd, row->amd);
    } else if (!*row->missing) {
        assert_int_equal(v.state, ROCL_DERIVED_UNDEFINED);
        /* of nothing that was selected, or a division by zero */
        assert_int_equal(v.amd, strstr(row->expression, "select") ? 0 : ROCL_AMD_ZERO);
    } else {
        assert_int_equal(v.state, ROCL_DERIVED_MISSING);
        check_missing(&w, t, row->missing);
    }
    close_world(&w);
}

static void test_expressions(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (rows[i].grammars & V1)
            check_row(&rows[i], true);
        if (rows[i].grammars & V3)
            check_row(&rows[i], false);
    }
}

/* Both forms, and what is wrong with them. */
static const struct {
    const char *text, *arch, *metrics, *error; /* names with blanks between, or what is wrong */
} files[] = {
    {"<gfx1><metric name=A block=SQ/></gfx1><gfx1_expr><metric name=B expr=A/2/></gfx1_expr>",
     "gfx1", "B ", NULL},
    {"<gfx1><metric name=A block=SQ/></gfx1><gfx1_expr><metric name=B expr=A/2/></gfx1_expr>",
     "gfx10", "", NULL},
    {"<a_expr>\n<metric name='B' expr='A/2'></metric>\n</a_expr>\n<b_expr base=a_expr></b_expr>",
     "b", "B ", NULL},
    {"<a_expr><metric name=B expr=A/></a_expr><b_expr base=a_expr><metric name=B expr=C/>"
     "<metric name=D expr=C/></b_expr>",
     "b", "B D ", NULL},
    {"<?xml version=1?><!-- <x> --><global><metric name=B expr=A/></global>", "any", "B ", NULL},
    {"<a_expr base=b></a_expr>", "a", NULL, "line 1: the base is not a tag"},
    {"<a_expr base=a_expr></a_expr>", "a", NULL, "line 1: a tag is its own base"},
    {"<a>\n<b></b></a>", "a", NULL, "line 2: a tag in the tag"},
    {"<a>\n</b>", "a", NULL, "line 2: ends a tag that is not open"},
    {"<a>\n", "a", NULL, "line 2: the tag of an architecture does not end"},
    {"<metric name=A/>", "a", NULL, "outside of the tag"},
    {"<a><metric block=B/></a>", "a", NULL, "a metric without a name"},
    {"<a><metric name=\"B", "a", NULL, "a quote does not end"},
    {"<a><metric name", "a", NULL, "NAME=VALUE is expected"},
    {"<a\n", "a", NULL, "line 2: the file ends in a tag"},
    {"<!-- <a>", "a", NULL, "a comment does not end"},
    {"<>", "a", NULL, "a tag without a name"},
    {"<a></a> text", "a", NULL, "a tag is expected here"},
    {"#include \"/does/not/exist.xml\"\n", "a", NULL, "/does/not/exist.xml"},
    {"#include \n<a></a>", "a", NULL, "no name in quotes behind #include"},
    {"<a_expr><metric name=B expr=C/><metric name=C expr=D+1/><metric name=D expr=B/></a_expr>",
     "a", NULL, "a derived counter depends on itself: B -> C -> D -> B"},
    {"<a_expr><metric name=B expr=B/></a_expr>", "a", NULL, "itself: B -> B"},
    {"<a_expr><metric name=B expr=B/></a_expr>", "other", "", NULL},
    {"B: {architectures: {a/b: {expression: A*2, description: x}, c: {block: SQ}}}", "b", "B ",
     NULL},
    {"# comment\nB: {architectures: {a/b: {expression: A*2}}}", "c", "", NULL},
    {"rocprofiler-sdk: {counters: []}", "a", "", NULL},
    {"rocprofiler-sdk: {counters: [{name: B, definitions: [{architectures: [a], expression: A},"
     "{architectures: [b], expression: A}]}]}",
     "b", "B ", NULL},
    {"rocprofiler-sdk: {counters: [\n{name: B}]}", "a", NULL, "line 2: a counter without a list"},
    {"rocprofiler-sdk: {counters: [{definitions: [{architectures: [a]}]}]}", "a", NULL,
     "a counter without a name"},
    {"rocprofiler-sdk: {counters: [{name: B, definitions: [{expression: A}]}]}", "a", NULL,
     "a definition without architectures"},
    {"rocprofiler-sdk: {counters: [{name: B, definitions: [{architectures: [a],\n"
     "expression: A+}]}]}",
     "a", NULL, "line 2: B: expression \"A+\": column 3: it ends early"},
    {"rocprofiler-sdk: {counters: [{name: B, definitions: [{architectures: [a], expression: [A]}]"
     "}]}",
     "a", NULL, "an expression is not a string"},
    {"", "a", NULL, "no definitions of counters"},
    {"text", "a", NULL, "no definitions of counters"},
    {"a: b", "a", NULL, "no definitions of counters"},
    {"a: [b", "a", NULL, "did not find expected"},
};

static void test_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(files); i++) {
        world w;
        rocl_status st = open_world(&w, files[i].text, files[i].arch);
        print_message("%s\n", files[i].text);
        if (files[i].error) {
            assert_int_equal(st, ROCL_INPUT);
            if (!strstr(rocl_error_text(w.err), files[i].error))
                fail_msg("%s", rocl_error_text(w.err));
            close_world(&w);
            continue;
        }
        if (st != ROCL_OK)
            fail_msg("%s", rocl_error_text(w.err));
        size_t n;
        char names[256] = "";
        const rocl_metric *all = rocl_derive_metrics(w.p, &n);
        for (size_t m = 0; m < n; m++)
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s ",
                     rocl_derive_name(w.d, all[m].symbol));
        assert_string_equal(names, files[i].metrics);
        close_world(&w);
    }
}

/* What would take forever, or all of the stack. */
static void test_hostile(void **state)
{
    (void)state;
    rocl_buf text = {0};
    world w;
    /* B63 needs B62 twice, and so on. */
    rocl_buf_str(&text, "<a_expr><metric name=B0 expr=A/>");
    for (int i = 1; i < 60; i++)
        rocl_buf_printf(&text, "<metric name=B%d expr=B%d+B%d/>", i, i - 1, i - 1);
    rocl_buf_put(&text, "</a_expr>", 10);
    assert_int_equal(open_world(&w, (char *)text.data, "a"), ROCL_OK);
    const rocl_derived v = rocl_derive_value(w.p, find_metric(&w, "B59"));
    assert_true(fabs(v.value - 7.0 * (double)(1LL << 59)) <= 1);
    close_world(&w);
    /* too deep: of names, of parentheses */
    text.len = 0;
    rocl_buf_str(&text, "<a_expr><metric name=B0 expr=A/>");
    for (int i = 5000; i > 0; i--)
        rocl_buf_printf(&text, "<metric name=B%d expr=B%d/>", i, i - 1);
    rocl_buf_put(&text, "</a_expr>", 10);
    assert_int_equal(open_world(&w, (char *)text.data, "a"), ROCL_INPUT);
    close_world(&w);
    text.len = 0;
    rocl_buf_str(&text, "<a_expr><metric name=B expr=");
    for (int i = 0; i < 100000; i++)
        rocl_buf_byte(&text, '(');
    rocl_buf_put(&text, "/></a_expr>", 12);
    assert_int_equal(open_world(&w, (char *)text.data, "a"), ROCL_INPUT);
    close_world(&w);
    /* copies of copies */
    text.len = 0;
    rocl_buf_str(&text, "<a><metric name=A block=B/></a>");
    for (int i = 0; i < 40; i++)
        rocl_buf_str(&text, "<b base=a></b><a base=b></a>");
    rocl_buf_byte(&text, 0);
    assert_int_equal(open_world(&w, (char *)text.data, "a"), ROCL_INPUT);
    assert_non_null(strstr(rocl_error_text(w.err), "more than a million definitions"));
    close_world(&w);
    rocl_buf_free(&text);
}

/* AMD's own files, where they are at hand. */
static void test_shared_files(void **state)
{
    (void)state;
    static const struct {
        const char *file, *arch;
    } shared[] = {{"rocprof-v1/metrics/metrics.xml.gz", "gfx90a"},
                  {"rocprof-v1/metrics/metrics.xml.gz", "gfx1100"},
                  {"rocprofv3-json/counter_defs.yaml", "gfx942"},
                  {"rocprofv3-json/counter_defs.yaml", "gfx1201"}};
    const char *folder = getenv("ROCLINE_DATA");
    for (size_t i = 0; folder && i < COUNT(shared); i++) {
        char path[4096];
        rocl_derive *d = rocl_derive_new();
        rocl_error *err = rocl_error_new();
        rocl_derive_program *p = NULL;
        size_t n = 0;
        snprintf(path, sizeof path, "%s/%s", folder, shared[i].file);
        FILE *f = fopen(path, "rb");
        if (f) {
            fclose(f);
            if (rocl_derive_read(d, path, err) != ROCL_OK ||
                rocl_derive_program_new(&p, d, shared[i].arch, NULL, 0, err) != ROCL_OK)
                fail_msg("%s", rocl_error_text(err));
            rocl_derive_metrics(p, &n);
            assert_in_range(n, 20, 1000);
        }
        rocl_derive_program_free(p);
        rocl_derive_free(d);
        rocl_error_free(err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expressions),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_shared_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
