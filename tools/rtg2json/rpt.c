/* In the place of rpt: its options, and its report of any trace. */
#include "rtg2json/rtg2json.h"

#include "common/output.h"
#include "common/programs.h"
#include "common/signals.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct rpt_cli {
    common common;
    rocl_rpt_options rpt;
    strings gap_texts;
    int64_t *gaps;
    int topn;
} rpt_cli;

_Static_assert(offsetof(rpt_cli, common) == 0, "the shared tables count from the struct's begin");

#define FLAG(name, letter, field, help)                                                            \
    {                                                                                              \
        name, letter, OPT_FLAG, offsetof(rpt_cli, field), NULL, NULL, 0, 0, help                   \
    }

static const opt report_options[] = {
    FLAG("text-trace", 't', rpt.text_trace, NULL),
    {"gui-trace", 'g', OPT_STRING, offsetof(rpt_cli, rpt.json), "FILE", NULL, 0, 0, NULL},
    {"roi-start", 'r', OPT_STRING, offsetof(rpt_cli, rpt.roi_start), "POINT", NULL, 0, 0, NULL},
    {"roi-stop", 'R', OPT_STRING, offsetof(rpt_cli, rpt.roi_stop), "POINT", NULL, 0, 0, NULL},
    FLAG("info", 0, rpt.info, NULL),
    FLAG("hide-app-text", 0, rpt.hide_app_text, NULL),
    FLAG("no-gaps", 0, rpt.no_gaps, NULL),
    FLAG("ignore-barriers", 0, rpt.ignore_barriers, NULL),
    {"gaps", 0, OPT_LIST, offsetof(rpt_cli, gap_texts), "US...", NULL, 0, 0, NULL},
    {"top", 0, OPT_NUMBER, offsetof(rpt_cli, topn), "N", NULL, -1, INT_MAX,
     "rows for each resource (default: 20; 0 or -1: all)"},
    FLAG("db", 0, rpt.raw, NULL),
    COMMON_OUTPUT_FILE("the report (default: standard output)"),
    COMMON_END,
};

static const opt_group report_group = {"Report", report_options};
static const opt_group *const groups[] = {&report_group, &names_group, &filter_group,
                                          &run_group,    &other_group, NULL};

/* ---- --gaps takes all numbers that follow ---------------------------------------------------- */

/* "--gaps 5 10 log" as "--gaps 5 --gaps 10 log". */
static char **spread_gaps(int *argc, char **argv)
{
    static char gaps[] = "--gaps";
    char **v = must_have(malloc((2 * (size_t)*argc + 1) * sizeof *v));
    int n = 0;
    bool in_gaps = false;
    for (int i = 0; i < *argc; i++) {
        size_t digits = strspn(argv[i], "0123456789");
        bool number = in_gaps && digits && !argv[i][digits];
        if (number && strcmp(v[n - 1], gaps) != 0)
            v[n++] = gaps;
        v[n++] = argv[i];
        in_gaps = number || !strcmp(argv[i], gaps);
    }
    v[n] = NULL;
    *argc = n;
    return v;
}

static int parse_gaps(rpt_cli *c)
{
    c->gaps = must_have(calloc(c->gap_texts.n + 1, sizeof *c->gaps));
    for (size_t i = 0; i < c->gap_texts.n; i++) {
        char *end;
        c->gaps[i] = strtoll(c->gap_texts.v[i], &end, 10);
        if (!*c->gap_texts.v[i] || *end || c->gaps[i] < 0 || c->gaps[i] > INT64_MAX / 1000)
            return usage_error("--gaps: \"%s\" is not a number of microseconds", c->gap_texts.v[i]);
    }
    return -1;
}

/* ---- the report ------------------------------------------------------------------------------ */

static rocl_status report_outputs(const rpt_cli *c, rocl_status s)
{
    if (s <= ROCL_PARTIAL) {
        output_done(c->common.to_stdout ? NULL : c->common.output_file);
        output_done(c->rpt.json);
    }
    return s;
}

static rocl_status report_trace(rocl_trace *t, void *ctx, rocl_error *err)
{
    const rpt_cli *c = ctx;
    return report_outputs(c, rocl_write_rpt_trace(t, &c->rpt, err));
}

static int report_log(rpt_cli *c)
{
    rocl_error *err = must_have(rocl_error_new());
    signals_prepare();
    rocl_status s = rocl_write_rpt(c->common.inputs.v[0], &c->rpt, err);
    if (s > ROCL_PARTIAL && !reader_is_gone(&c->common, err))
        msg_error("%s", rocl_error_text(err));
    rocl_error_free(err);
    report_outputs(c, s);
    return (int)s;
}

static int run_rpt(const program *p, int argc, char **argv)
{
    static rpt_cli c = {.topn = 20};
    bool log = false;
    if (argc <= 1) {
        msg_init(p->name);
        return print_help(p, NULL);
    }
    char **words = spread_gaps(&argc, argv);
    int code = common_parse(p, &c.common, argc, words);
    if (code < 0)
        code = parse_gaps(&c);
    if (code < 0)
        code = output_fill_name(&c.common, NULL, "--output-file", &c.common.output_file);
    if (code < 0)
        code = output_fill_name(&c.common, NULL, "--gui-trace", &c.rpt.json);
    if (code < 0)
        code = output_check(&c.common, c.common.output_file);
    if (code < 0)
        code = output_check(&c.common, c.rpt.json);
    if (code < 0 && c.rpt.json && !strcmp(c.rpt.json, "-"))
        code = usage_error("--gui-trace: the report goes to standard output; name a file");
    c.rpt.gaps = c.gaps;
    c.rpt.gap_count = c.gap_texts.n;
    c.rpt.topn = c.topn;
    c.rpt.path = c.common.output_file ? c.common.output_file : "-";
    c.rpt.memory = c.common.memory;
    c.rpt.tmpdir = c.common.tmpdir;
    c.rpt.jobs = c.common.jobs;
    c.rpt.notice = on_notice;
    c.common.to_stdout = !c.common.output_file || !strcmp(c.common.output_file, "-");
    /* One log of profile lines is read as rpt reads it; all else goes through a trace. */
    if (code < 0 && c.common.inputs.n == 1 && !common_filters(&c.common) && !c.common.strict) {
        rocl_look look = ROCL_LOOKS_OTHER;
        code = input_look(c.common.inputs.v[0], &look);
        log = look == ROCL_LOOKS_HCC || look == ROCL_LOOKS_TEXT || look == ROCL_LOOKS_STREAM;
    }
    if (code < 0)
        code = log ? report_log(&c) : common_run(&c.common, report_trace, &c);
    free(c.gaps);
    free(words);
    return code;
}

const program rpt_program = {
    .name = "rpt",
    .tool = "rpt",
    .run = run_rpt,
    .synopsis = "[OPTION]... INPUT...",
    .purpose =
        "Report on the commands in an HCC_PROFILE log, or in any other trace. The options of AMD's "
        "rpt\n"
        "are accepted, with - or _: -t, -g FILE, -r POINT, -R POINT, ...: see rpt --help=aliases.",
    .groups = groups,
    .examples = "  rpt hcc.log\n"
                "  rpt -t --top 5 -r '%epoch 1 begins' -R '%epoch 1 ends' hcc.log\n"
                "  rpt -g trace.json hcc.log\n"
                "  rpt 4711_results.db\n",
    .operands = offsetof(common, inputs),
};
