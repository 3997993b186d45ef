/* rocline info: what a trace is. rocline check: what is broken in it. */
#include "common/answer.h"
#include "common/output.h"
#include "rocline/commands.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

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
     "pass, without names, arguments and other texts)"},
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

/* Where the output goes, for both commands. */
static int prepare_output(cli *c)
{
    rocl_table_options *o = &c->output.table;
    struct winsize size;
    if (c->format_name && !rocl_table_format_named(c->format_name, &o->format))
        return usage_error("--format: \"%s\" is not known", c->format_name);
    o->path = c->common.output_file ? c->common.output_file : "-";
    c->common.to_stdout = strcmp(o->path, "-") == 0;
    if (c->common.to_stdout && isatty(STDOUT_FILENO) &&
        ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        o->width = size.ws_col;
    const int code = output_check(&c->common, o->path);
    return code < 0 ? budget_check(&c->output) : code;
}

static int run_info(const program *p, int argc, char **argv)
{
    static cli c;
    int code = common_parse(p, &c.common, argc, argv);
    if (code < 0)
        code = prepare_output(&c);
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
    {"format", 0, OPT_STRING, offsetof(cli, format_name), "FORM", "text|json", 0, 0,
     "lines for people (text, the default), or JSON"},
    COMMON_END,
};
static const opt_group check_group = {"Output", check_options};
static const opt_group *const check_groups[] = {&input_group, &check_group, &run_group,
                                                &other_group, NULL};

/* What is found out about one input. */
typedef struct checked {
    const char *path;
    rocl_status status;
    rocl_trace *trace; /* NULL: it cannot be opened */
    rocl_error *err;
} checked;

/* Messages begin with the file that they are about; its name stands before them already. */
static const char *error_of(const checked *one)
{
    const char *text = rocl_error_text(one->err);
    const size_t n = strlen(one->path);
    return !strncmp(text, one->path, n) && !strncmp(text + n, ": ", 2) ? text + n + 2 : text;
}

/* Reads all that outputs and reports read: every kind, field and argument. */
static void check_input(const cli *c, checked *one)
{
    strings alone = {0};
    strings_add(&alone, one->path);
    one->status = common_open(&c->common, &alone, &one->trace, one->err);
    if (one->status <= ROCL_PARTIAL)
        one->status = rocl_trace_scan(one->trace, ROCL_ALL_KINDS | ROCL_BIT(ROCL_FLOW),
                                      ROCL_ALL_FIELDS, ignore_batch, NULL, one->err);
    free(alone.v);
}

static const char *outcome_word(const checked *one)
{
    return one->status == ROCL_OK        ? "intact"
           : one->status == ROCL_PARTIAL ? "has faults"
                                         : "cannot be read";
}

static uint64_t count_events(const rocl_trace *t)
{
    uint64_t sum = 0;
    for (rocl_kind k = 0; k < ROCL_KINDS; k++)
        sum += rocl_trace_events(t, k);
    return sum;
}

static void print_checked(const checked *one)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", one->path);
    path[rocl_hide_controls(path, strlen(path), false)] = '\0';
    printf("%s: %s", path, outcome_word(one));
    if (one->status > ROCL_PARTIAL) {
        printf(": %s\n", error_of(one));
        return;
    }
    const uint64_t events = count_events(one->trace);
    printf(", %" PRIu64 " event%s", events, events == 1 ? "" : "s");
    for (size_t i = 0; i < rocl_trace_inputs(one->trace); i++) {
        const char *format = rocl_trace_input(one->trace, i).format;
        bool again = false;
        for (size_t k = 0; k < i; k++)
            again |= !strcmp(format, rocl_trace_input(one->trace, k).format);
        if (!again)
            printf(", %s", format);
    }
    putchar('\n');
    for (rocl_fault f = 0; f < ROCL_FAULTS; f++) {
        const uint64_t n = rocl_trace_faults(one->trace, f);
        if (n)
            printf("  %" PRIu64 " record%s %s: %s\n", n, n == 1 ? "" : "s",
                   rocl_fault_drops(f) ? "left out" : "repaired", rocl_fault_text(f));
    }
}

static void put_checked(cJSON *list, const checked *one)
{
    cJSON *o = must_have(cJSON_CreateObject()), *faults;
    must_have(cJSON_AddStringToObject(o, "input", one->path));
    must_have(cJSON_AddStringToObject(o, "outcome", outcome_word(one)));
    must_have(cJSON_AddNumberToObject(o, "exit_code", one->status));
    if (one->status > ROCL_PARTIAL) {
        must_have(cJSON_AddStringToObject(o, "error", error_of(one)));
    } else {
        must_have(cJSON_AddNumberToObject(o, "events", (double)count_events(one->trace)));
        faults = must_have(cJSON_AddArrayToObject(o, "faults"));
        for (rocl_fault f = 0; f < ROCL_FAULTS; f++) {
            const uint64_t n = rocl_trace_faults(one->trace, f);
            if (!n)
                continue;
            cJSON *row = must_have(cJSON_CreateObject());
            must_have(cJSON_AddStringToObject(row, "fault", rocl_fault_text(f)));
            must_have(cJSON_AddStringToObject(row, "outcome",
                                              rocl_fault_drops(f) ? "left out" : "repaired"));
            must_have(cJSON_AddNumberToObject(row, "records", (double)n));
            if (!cJSON_AddItemToArray(faults, row))
                must_have(NULL);
        }
    }
    if (!cJSON_AddItemToArray(list, o))
        must_have(NULL);
}

/* Inputs are checked one by one: one that cannot be read does not hide the faults of another. */
static int run_check(const program *p, int argc, char **argv)
{
    static cli c;
    strings failures = {0}; /* which errors of the answer repeat */
    rocl_status worst = ROCL_OK;
    int code = common_parse(p, &c.common, argc, argv);
    if (code < 0)
        code = prepare_output(&c);
    if (code >= 0)
        return code;
    answer_set_inputs(&c.common.inputs);
    c.common.args = true;
    cJSON *all = must_have(cJSON_CreateObject());
    cJSON *list = must_have(cJSON_AddArrayToObject(all, "inputs"));
    for (size_t i = 0; i < c.common.inputs.n; i++) {
        checked one = {.path = c.common.inputs.v[i], .err = must_have(rocl_error_new())};
        check_input(&c, &one);
        worst = one.status > worst ? one.status : worst;
        if (c.output.table.format == ROCL_TABLE_JSON)
            put_checked(list, &one);
        else
            print_checked(&one);
        if (one.status > ROCL_PARTIAL)
            strings_add(&failures, must_have(strdup(rocl_error_text(one.err))));
        rocl_trace_close(one.trace);
        rocl_error_free(one.err);
    }
    if (c.output.table.format == ROCL_TABLE_JSON) {
        char *text = must_have(cJSON_PrintUnformatted(all));
        rocl_answer *answer = NULL;
        rocl_error *err = must_have(rocl_error_new());
        rocl_status s = ROCL_OK;
        if (answer_is_wanted()) {
            s = answer_open("-", NULL, 0, &answer, err);
            if (s == ROCL_OK)
                s = rocl_answer_put_json(answer, text, strlen(text), err);
            for (size_t i = 0; i < failures.n && s == ROCL_OK; i++)
                rocl_answer_add_message(answer, true, worst, failures.v[i]);
        } else {
            puts(text);
        }
        worst = s == ROCL_OK ? worst : s;
        rocl_error_free(err);
        free(text);
    }
    cJSON_Delete(all);
    return finish_stdout() == ROCL_OK ? (int)worst : ROCL_OUTPUT;
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
                "  rocline check --format json run/ | jq '.data.inputs[].faults'\n",
    .operands = offsetof(common, inputs),
};
