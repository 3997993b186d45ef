/* rocline show and rocline correlate: the facts of one event. */
#include "common/answer.h"
#include "common/output.h"
#include "rocline/commands.h"

#include <string.h>
#include <unistd.h>

typedef struct cli {
    common common;
    strings operands; /* the id, then inputs */
    const char *id, *format_name;
    table_output output;
    rocl_status (*look_up)(rocl_trace *t, const char *id, rocl_tables **tables, rocl_error *err);
} cli;

_Static_assert(offsetof(cli, common) == 0, "the shared tables count from the struct's begin");

static const opt output_options[] = {
    {"format", 0, OPT_STRING, offsetof(cli, format_name), "FORM", "text|csv|tsv|json|md", 0, 0,
     "text for people (the default) or Markdown (md); CSV, TSV or JSON for programs, JSON as "
     "`rocline schema` describes it"},
    BUDGET_OPTION(offsetof(cli, output.budget)),
    {"output-file", 'o', OPT_STRING, offsetof(common, output_file), "FILE", NULL, 0, 0,
     "write to this file (default: \"-\", standard output)"},
    COMMON_END,
};

static const opt_group output_group = {"Output", output_options};
static const opt_group *const groups[] = {&input_group, &output_group, &names_group, &filter_group,
                                          &run_group,   &other_group,  NULL};

static rocl_status write_event(rocl_trace *t, void *ctx, rocl_error *err)
{
    cli *c = ctx;
    rocl_tables *tables = NULL;
    rocl_status s = c->look_up(t, c->id, &tables, err), written;
    if (s > ROCL_PARTIAL)
        return s;
    written = tables_write(&c->output, t, tables, err);
    rocl_tables_free(tables);
    if (written == ROCL_OK && !c->common.to_stdout)
        output_done(c->output.table.path);
    return written == ROCL_OK ? s : written;
}

static int run_look_up(cli *c, const program *p, int argc, char **argv)
{
    int code = common_parse(p, &c->common, argc, argv);
    if (code >= 0)
        return code;
    for (size_t i = 0; i < c->operands.n; i++) /* the id may stand anywhere */
        if (!c->id && strchr(c->operands.v[i], ':') && access(c->operands.v[i], F_OK) != 0)
            c->id = c->operands.v[i];
        else
            strings_add(&c->common.inputs, c->operands.v[i]);
    if (!c->id)
        code = usage_error("no id is given, such as kernel:00000096-88a3:12");
    else if (!c->common.inputs.n)
        code = usage_error("no input is given");
    else
        code = tables_prepare(&c->common, c->format_name, &c->output);
    c->common.wanted = EVENTS_NONE; /* each pass reads others */
    return code < 0 ? common_run(&c->common, write_event, c) : code;
}

static int run_show(const program *p, int argc, char **argv)
{
    static cli c = {.look_up = rocl_show_event};
    return run_look_up(&c, p, argc, argv);
}

static int run_correlate(const program *p, int argc, char **argv)
{
    static cli c = {.look_up = rocl_correlate_event};
    return run_look_up(&c, p, argc, argv);
}

const program show_program = {
    .name = "rocline show",
    .tool = "rocline-show",
    .run = run_show,
    .synopsis = "ID [OPTION]... INPUT...",
    .purpose = "Print what is known of one event: its fields and arguments, the ranges around it, "
               "the call\nthat launched it, what it launched, its counters and its neighbours. "
               "An ID is KIND:GUID:ROW,\nas `rocline stats --ids` and other commands print it.",
    .groups = groups,
    .examples = "  rocline stats kernels --ids --top 3 4711_results.db\n"
                "  rocline show kernel:00000096-88a3:12 4711_results.db\n"
                "  rocline show region:40 --format json 4711_results.db\n",
    .operands = offsetof(cli, operands),
};

const program correlate_program = {
    .name = "rocline correlate",
    .tool = "rocline-show",
    .run = run_correlate,
    .synopsis = "ID [OPTION]... INPUT...",
    .purpose =
        "Print causes and effects of one event, in their order: ranges on the host, the call, "
        "the GPU\nwork that it launched, counters; and all work that it launched, by name.",
    .groups = groups,
    .examples = "  rocline correlate kernel:00000096-88a3:12 4711_results.db\n"
                "  rocline correlate marker:7 --format json --budget 1000 4711_results.db\n",
    .operands = offsetof(cli, operands),
};
