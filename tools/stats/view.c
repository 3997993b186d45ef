/* rocstats view: a trace to look at, on the terminal or (-o) as a page. */
#include "stats/view.h"

#include "common/output.h"
#include "common/page.h"
#include "common/programs.h"

#include <limits.h>
#include <stdint.h>

typedef struct cli {
    common common;
    browse_options browse;
    page_choice page; /* rocstats reads these options again */
} cli;

_Static_assert(offsetof(cli, common) == 0, "the shared tables count from the struct's begin");

static const opt view_options[] = {
    {"output-file", 'o', OPT_STRING, offsetof(common, output_file), "FILE", NULL, 0, 0,
     "write a page with a timeline, all reports and charts, for a browser, in the place of showing "
     "the trace"},
    PAGE_OPTIONS("-o", cli, page),
    {"group-by-queue", 0, OPT_FLAG, offsetof(cli, browse.group_by_queue), NULL, NULL, 0, 0,
     "show GPU work by queue, not by stream"},
    COMMON_END,
};

static const opt_group view_group = {"View", view_options};
static const opt_group *const groups[] = {&input_group, &view_group,  &names_group, &filter_group,
                                          &run_group,   &other_group, NULL};

#ifdef ROCL_NCURSES
static rocl_status show_trace(rocl_trace *t, void *ctx, rocl_error *err)
{
    cli *c = ctx;
    return browse(t, &c->common, &c->browse, err);
}
#endif

/* The page is that of the reports, which opens with the timeline. */
static int write_page(const program *p, int argc, char **argv)
{
    static strings words;
    program stats = rocstats_program;
    stats.name = p->name;
    strings_add(&words, argv[0]);
    strings_add(&words, "--format=html");
    strings_add(&words, "--timeline=first");
    for (int i = 1; i < argc; i++)
        strings_add(&words, argv[i]);
    return stats.run(&stats, (int)words.n, (char **)(uintptr_t)words.v);
}

static int run_view(const program *p, int argc, char **argv)
{
    static cli c;
    int code = common_parse(p, &c.common, argc, argv);
    if (code >= 0)
        return code;
    if (c.common.output_file && c.browse.group_by_queue)
        return usage_error("--group-by-queue is for the terminal, not for -o");
    if (c.common.output_file)
        return write_page(p, argc, argv);
#ifdef ROCL_NCURSES
    code = browse_check();
    c.common.wanted = EVENTS_NONE; /* it says so itself */
    return code < 0 ? common_run(&c.common, show_trace, &c) : code;
#else
    return usage_error(
        "this rocline was built without ncurses, which the browser needs: build it again with "
        "libncurses-dev, or write a page with -o FILE");
#endif
}

const program view_program = {
    .name = "rocstats view",
    .tool = "rocstats",
    .run = run_view,
    .synopsis = "[OPTION]... INPUT...",
    .purpose =
        "Show a trace on the terminal: tracks with their slices, zoom, search, details, tables of\n"
        "names; ? shows the keys. With -o, write a page for a browser.",
    .groups = groups,
    .examples = "  rocstats view 4711_results.db\n"
                "  rocstats view --rank 0,1 rank*/*.db\n"
                "  rocstats view -o page.html 4711_results.db\n",
    .operands = offsetof(cli, common.inputs),
};
