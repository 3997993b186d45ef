/* Questions that people ask of a trace, and the command that answers each. tests/cli/contract.bats
 * runs all of them. */
#include "analysis/report.h"

typedef struct recipe {
    const char *topic, *question, *command, *look_at;
} recipe;

/* FILE stands for any inputs, A and B for two runs. */
static const recipe recipes[] = {
    {"trust", "Can this trace be trusted, or is something missing?", "rocline stats doctor FILE",
     "the verdict, then findings with their evidence and what helps"},
    {"time", "Where did the time go, and what stands out?", "rocline stats FILE",
     "the table findings: what could gain the most comes first"},
    {"time", "Which kernels take the time?", "rocline stats kernels --top 10 FILE",
     "percent, and calls: few long ones or many short ones"},
    {"time", "Which call of a kernel was the longest, and what was around it?",
     "rocline stats kernels --ids --top 1 FILE", "longest_id; rocline show ID FILE says the rest"},
    {"idle", "Is the GPU idle?", "rocline stats overlap FILE",
     "busy_percent and idle_ns of each GPU"},
    {"idle", "Why is the GPU idle?", "rocline stats gaps --ids --min-gap 5us FILE",
     "gap_classes: host and launch are the program, sync waits, dependency is other work; "
     "longest_gaps has the events on both sides"},
    {"idle", "Is launching kernels too slow?", "rocline stats launch FILE",
     "delay_ns against kernel_ns; early counts kernels that began before their call returned"},
    {"copies", "Are copies hidden behind kernels?", "rocline stats overlap copies FILE",
     "hidden_copy_percent, exposed_copy_ns"},
    {"copies", "Which copies are slow?", "rocline stats copies FILE",
     "the rate of each direction and size class"},
    {"streams", "Do streams run at the same time?", "rocline stats streams overlap FILE",
     "kernels at once; busy time of each stream"},
    {"memory", "How much GPU memory was allocated, and what was never freed?",
     "rocline stats memory FILE", "peak, and the table of leaks"},
    {"phases", "What does each phase (marker) of the program cost on the GPU?",
     "rocline stats markers FILE", "busy and span of the GPU work from inside each range"},
    {"phases", "What ran in the middle of the trace?",
     "rocline stats kernels --start 40% --end 60% FILE", "the same columns, of that time alone"},
    {"ranks", "Which rank is late?", "rocline stats ranks FILE",
     "the line of late_ranks: who is late, how long the others wait, and why"},
    {"runs", "What changed between two runs?", "rocline compare A B",
     "the largest change of total time first; significant ones are marked"},
    {"runs", "Which kernels of a step are new, gone, replaced or moved?",
     "rocline compare --table compare_sequence A B",
     "edits by their change, each with its place and neighbours"},
    {"counters", "What do the hardware counters say of each kernel?", "rocline stats counters FILE",
     "per kernel and counter: average and total"},
    {"sql", "Something else: which kernels ran longest in all, by SQL?",
     "rocline query \"SELECT name, count(*), sum(duration) AS ns FROM kernel GROUP BY name ORDER "
     "BY "
     "ns DESC\" FILE",
     "any SELECT; .tables and .schema in its shell list what there is"},
    {"programs", "How does a program read the answers?",
     "rocline stats kernels --format json --budget 2000 FILE",
     "data.kernels.rows; rocline schema stats describes it"},
};

static const rocl_table_tab tab = {"recipes", "Recipes"};

#define CELL(field) ROCL_ALWAYS, ROCL_CELL(recipe, field)
static const rocl_column columns[] = {
    {"topic", "Topic", ROCL_UNIT_TEXT, CELL(topic)},
    {"question", "Question", ROCL_UNIT_SENTENCE, CELL(question)},
    {"command", "Command", ROCL_UNIT_SENTENCE, CELL(command)},
    {"look_at", "Look at", ROCL_UNIT_SENTENCE, CELL(look_at)},
};
static const rocl_table_def table = {&tab, "recipes", "Recipes", ROCL_COLUMNS(columns)};

const rocl_table_def *const rocl_recipe_tables[] = {&table, NULL};

rocl_status rocl_recipes(rocl_tables **tables, rocl_error *err)
{
    const rocl_stats_options options = {0};
    const rocl_collector c = {.options = &options};
    rocl_tables *out = rocl_tables_new();
    if (!out)
        return rocl_fail_memory(err);
    rocl_report_rows r = rocl_begin_table(&c, out, &table, 0);
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++)
        rocl_add_row(&r, &recipes[i]);
    if (r.table)
        r.table->fields = true;
    if (out->incomplete) {
        rocl_tables_free(out);
        return rocl_fail_memory(err);
    }
    *tables = out;
    return ROCL_OK;
}
