/* rocline info: describes a trace. rocline check: finds broken records in it. */
#include "common/answer.h"
#include "common/output.h"
#include "common/progress.h"
#include "rocline/commands.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct cli {
    common common;
    const char *format_name;
    table_output output;
    bool brief; /* info: events are not read */
} cli;

_Static_assert(offsetof(cli, common) == 0, "the shared tables count from the struct's begin");

static rocl_status ignore_batch(void *ctx, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    (void)ctx, (void)worker, (void)b, (void)err;
    return ROCL_OK;
}

/* ---- info ------------------------------------------------------------------------------------ */

static const opt info_options[] = {
    {"brief", 0, OPT_FLAG, offsetof(cli, brief), NULL, NULL, 0, 0,
     "read no events: files, hosts, GPUs and processes only (default: events are counted in one "
     "pass, without names, arguments and other text)"},
    {"format", 0, OPT_STRING, offsetof(cli, format_name), "FORM", "text|csv|tsv|json|md|html", 0, 0,
     "text for people (the default), Markdown (md) or HTML; CSV, TSV or JSON for programs"},
    BUDGET_OPTION(offsetof(cli, output.budget)),
    {"output-file", 'o', OPT_STRING, offsetof(common, output_file), "FILE", NULL, 0, 0,
     "write to this file (default: \"-\", standard output)"},
    COMMON_END,
};
static const opt_group info_group = {"Output", info_options};
static const opt_group *const info_groups[] = {&input_group, &info_group,  &filter_group,
                                               &run_group,   &other_group, NULL};

static rocl_status write_info(rocl_trace *t, void *ctx, rocl_error *err)
{
    cli *c = ctx;
    rocl_tables *tables = NULL;
    const uint32_t kinds = ROCL_ALL_KINDS | ROCL_BIT(ROCL_FLOW);
    rocl_status s = c->brief ? ROCL_OK : rocl_trace_scan(t, kinds, 0, ignore_batch, NULL, err);
    if (s > ROCL_PARTIAL)
        return s;
    rocl_status written = rocl_describe_trace(t, &tables, err);
    if (written == ROCL_OK)
        written = tables_write(&c->output, t, tables, err);
    rocl_tables_free(tables);
    if (written == ROCL_OK && !c->common.to_stdout)
        output_done(c->output.table.path);
    return written == ROCL_OK ? s : written;
}

static int run_info(const program *p, int argc, char **argv)
{
    static cli c;
    int code = common_parse(p, &c.common, argc, argv);
    if (code < 0)
        code = tables_prepare(&c.common, c.format_name, &c.output);
    c.common.note_times = true;
    c.common.wanted = EVENTS_NONE; /* a trace without events is described as well */
    return code < 0 ? common_run(&c.common, write_info, &c) : code;
}

const program info_program = {
    .name = "rocline info",
    .tool = "rocline-info",
    .run = run_info,
    .synopsis = "[OPTION]... INPUT...",
    .purpose = "Print what a trace is: files and formats, hosts, GPUs, processes, ranks, events by "
               "kind,\nthe time that it covers, and how many records are broken.",
    .groups = info_groups,
    .examples = "  rocline info 4711_results.db\n"
                "  rocline info --brief run/\n"
                "  rocline info --format json *.json.gz | jq .data.kinds.rows\n",
    .operands = offsetof(common, inputs),
};

/* ---- check ----------------------------------------------------------------------------------- */

static const opt check_options[] = {
    {"format", 0, OPT_STRING, offsetof(cli, format_name), "FORM", "text|csv|tsv|json|md|html", 0, 0,
     "a line for each input, and lines of its faults (text, the default), or tables, when all are "
     "read: Markdown (md) or HTML; CSV, TSV or JSON for programs"},
    BUDGET_OPTION(offsetof(cli, output.budget)),
    COMMON_END,
};
static const opt_group check_group = {"Output", check_options};
static const opt_group *const check_groups[] = {&input_group, &check_group, &run_group,
                                                &other_group, NULL};

/* The formats of all inputs, each once, with commas between them. */
static char *list_formats(const rocl_trace *t)
{
    char *text = must_have(strdup(""));
    for (size_t i = 0; i < rocl_trace_inputs(t); i++) {
        const char *format = rocl_trace_input(t, i).format;
        bool again = false;
        for (size_t k = 0; k < i && !again; k++)
            again = !strcmp(format, rocl_trace_input(t, k).format);
        char *more = NULL;
        if (!again && asprintf(&more, "%s%s%s", text, *text ? ", " : "", format) < 0)
            must_have(NULL);
        if (!again) {
            free(text);
            text = more;
        }
    }
    return text;
}

/* Reads all that outputs and reports read: every kind, field and argument. What the result points
 * to is never freed: the program ends with it. */
static rocl_checked check_input(const cli *c, const char *input, rocl_error *err)
{
    rocl_checked to = {.input = input};
    rocl_trace *t = NULL;
    strings alone = {0};
    strings_add(&alone, input);
    to.status = common_open(&c->common, &alone, &t, err);
    if (to.status <= ROCL_PARTIAL) {
        to.formats = list_formats(t);
        to.status = rocl_trace_scan(t, ROCL_ALL_KINDS | ROCL_BIT(ROCL_FLOW), ROCL_ALL_FIELDS,
                                    ignore_batch, NULL, err);
    }
    if (to.status > ROCL_PARTIAL) { /* the name of the file is already printed before its message */
        const char *text = rocl_error_text(err);
        const size_t n = strlen(input);
        to.error = must_have(
            strdup(!strncmp(text, input, n) && !strncmp(text + n, ": ", 2) ? text + n + 2 : text));
    }
    for (rocl_kind k = 0; k < ROCL_KINDS && !to.error; k++)
        to.events += rocl_trace_events(t, k);
    for (rocl_fault f = 0; f < ROCL_FAULTS && !to.error; f++)
        to.faults[f] = rocl_trace_faults(t, f);
    to.texts = to.error ? 0 : rocl_trace_bad_texts(t);
    if (to.texts && to.status == ROCL_OK)
        to.status = ROCL_PARTIAL;
    rocl_trace_close(t);
    free(alone.v);
    return to;
}

static void print_checked(const rocl_checked *one)
{
    char input[PATH_MAX];
    snprintf(input, sizeof input, "%s", one->input);
    input[rocl_hide_controls(input, strlen(input), false)] = '\0';
    printf("%s: %s", input, rocl_checked_outcome(one));
    if (one->error) {
        printf(": %s\n", one->error);
        return;
    }
    printf(", %" PRIu64 " event%s, %s\n", one->events, one->events == 1 ? "" : "s", one->formats);
    for (rocl_fault f = 0; f < ROCL_FAULTS; f++)
        if (one->faults[f])
            printf("  %" PRIu64 " record%s %s: %s\n", one->faults[f],
                   one->faults[f] == 1 ? "" : "s", rocl_fault_drops(f) ? "left out" : "repaired",
                   rocl_fault_text(f));
    if (one->texts)
        printf("  %" PRIu64 " text%s repaired: %s\n", one->texts, one->texts == 1 ? "" : "s",
               ROCL_BAD_TEXT);
}

/* Inputs are checked one by one: one that cannot be read does not hide the faults of another. */
static int run_check(const program *p, int argc, char **argv)
{
    static cli c;
    int code = common_parse(p, &c.common, argc, argv);
    if (code < 0)
        code = tables_prepare(&c.common, c.format_name, &c.output);
    if (code >= 0)
        return code;
    const bool lines = c.output.table.format == ROCL_TABLE_TEXT;
    const size_t n = c.common.inputs.n;
    rocl_checked *checks = must_have(calloc(n, sizeof *checks));
    rocl_status worst = ROCL_OK, s = ROCL_OK;
    answer_set_inputs(&c.common.inputs);
    c.common.args = c.common.apart = true;
    for (size_t i = 0; i < n; i++) {
        rocl_error *err = must_have(rocl_error_new());
        checks[i] = check_input(&c, c.common.inputs.v[i], err);
        worst = checks[i].status > worst ? checks[i].status : worst;
        if (lines)
            print_checked(&checks[i]);
        else if (checks[i].error)
            msg_error("%s", rocl_error_text(err));
        rocl_error_free(err);
    }
    progress_end();
    if (!lines) {
        rocl_tables *tables = NULL;
        rocl_error *err = must_have(rocl_error_new());
        s = rocl_describe_checks(checks, n, &tables, err);
        if (s == ROCL_OK)
            s = tables_write(&c.output, NULL, tables, err);
        if (s > ROCL_PARTIAL)
            msg_error("%s", rocl_error_text(err));
        rocl_tables_free(tables);
        rocl_error_free(err);
    }
    free(checks);
    s = s == ROCL_OK ? worst : s;
    return finish_stdout() == ROCL_OK ? (int)s : ROCL_OUTPUT;
}

const program check_program = {
    .name = "rocline check",
    .tool = "rocline-info",
    .run = run_check,
    .synopsis = "[OPTION]... INPUT...",
    .purpose =
        "Read all of every input, and print what is broken. Each input is checked by itself.",
    .groups = check_groups,
    .examples = "  rocline check *.db && echo all are intact\n"
                "  rocline check --format json run/ | jq '.data.faults.rows'\n",
    .operands = offsetof(common, inputs),
};
