/* From the command line to the exit code. */
#include "common/common.h"

#include "common/answer.h"
#include "common/job.h"
#include "common/output.h"
#include "common/progress.h"
#include "common/signals.h"
#include "common/team.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static rocl_team *team; /* of this run; NULL: none */

static void tune_allocator(void)
{
#ifdef __GLIBC__
    /* The C library gives each thread its own heap, and memory freed in one is useless to the
     * others. Workers allocate rarely, so they can share a few. */
    mallopt(M_ARENA_MAX, 4);
    /* What a small input has freed is kept for the next one: to give it back and get it again takes
     * a fifth of its time. Large blocks are the system's when they are freed, always: where the
     * thresholds are not set they grow. The 4 MiB that libotf2 collects for each of its files are
     * kept for the next file: to get them from the system takes longer than to fill them. */
    mallopt(M_TOP_PAD, 256 << 10);
    mallopt(M_TRIM_THRESHOLD, 16 << 20);
    mallopt(M_MMAP_THRESHOLD, (4 << 20) + 4096);
#endif
    /* What SQLite has is counted under a lock, block by block, which takes a twentieth of the time
     * of a small input. Only a limit to it needs that. */
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

int common_end(int code)
{
    team_end(team, code);
    team = NULL;
    return code;
}

int common_share_name(char *name, size_t size)
{
    const rocl_status s = rocl_team_share(team, name, size, NULL);
    return s == ROCL_OK ? -1 : (int)s;
}

/* Moves what begins so from one list to another, without its begin. */
static void move_words(strings *from, const char *begin, strings *to)
{
    const strings all = *from;
    const size_t n = strlen(begin);
    *from = (strings){0};
    for (size_t i = 0; i < all.n; i++)
        if (strncmp(all.v[i], begin, n) == 0)
            strings_add(to, all.v[i] + n);
        else
            strings_add(from, all.v[i]);
    free(all.v);
}

/* Parts of lists that are lists of their own: what --rank says of the ranks of files, and names of
 * kernels, which are those of their counters as well. */
static void sort_filters(common *c)
{
    const strings ranks = c->ranks;
    c->ranks = (strings){0};
    for (size_t i = 0; i < ranks.n; i++)
        strings_add(strchr(ranks.v[i], '=') ? &c->rank_numbers : &c->ranks, ranks.v[i]);
    free(ranks.v);
    move_words(&c->names, "kernel:", &c->kernel_include);
    move_words(&c->exclude_names, "kernel:", &c->kernel_exclude);
}

int common_parse(const program *p, common *c, int argc, char **argv)
{
    /* A file that is opened must not become standard output because the caller closed that. A
     * command that is run finds them closed, as the caller has left them. */
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO)
        fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    tune_allocator();
    msg_init(p->called ? p->called : p->name);
    c->level = MSG_NORMAL;
    team_mute_others(p, argc, argv);
    int code = options_parse(p, c, argc, argv);
    if (code >= 0)
        return code;
    sort_filters(c);
    msg_set_level(c->level);
    rocl_sync_outputs(!c->no_sync);
    rocl_guard_formulas(c->csv_safe);
    options_report_unclear();
    if ((code = team_check(c)) >= 0)
        return code;
    if (c->inputs.n && (code = options_refuse_command(c->inputs.v[0])) >= 0)
        return code;
    if (c->job && (code = job_run(p, c)) >= 0)
        return code;
    /* Operands that are not just inputs are the tool's to sort out. */
    if (!p->alone && p->operands == offsetof(common, inputs) && !c->inputs.n)
        return usage_error("no input is given");
    if (!c->teams || c->checking)
        return -1;
    /* Before names of outputs are filled in, which are rank 0's, and before there are threads. */
    rocl_error *err = must_have(rocl_error_new());
    const rocl_status s = team_form(c, &team, err);
    msg_mute(rocl_team_rank(team));
    if (s != ROCL_OK && *rocl_error_text(err))
        msg_error("%s", rocl_error_text(err));
    rocl_error_free(err);
    return s == ROCL_OK ? -1 : (int)s;
}

bool common_is_other_rank(void)
{
    return rocl_team_rank(team) > 0;
}

static void on_notice(void *ctx, const char *text)
{
    (void)ctx;
    msg_notice("%s", text);
}

static rocl_options library_options(const common *c)
{
    return (rocl_options){
        .kernel_rename = c->kernel_rename,
        .kernel_names = c->kernel_names,
        .agent_index = c->agent_index,
        .kernel_classes = c->kernel_classes,
        .strict = c->strict,
        .hosts = c->hosts.v,
        .rank_numbers = c->rank_numbers.v,
        .same_host = c->same_host,
        .names_of_others = c->apart,
        .align = c->align.choice,
        .align_with = c->align.value,
        .start = c->start,
        .end = c->end,
        .start_marker = c->start_marker,
        .end_marker = c->end_marker,
        .window_mode = c->window_mode,
        .run = c->run,
        .ranks = c->ranks.v,
        .pids = c->pids.v,
        .agents = c->agents.v,
        .include = c->include.v,
        .exclude = c->exclude.v,
        .names = c->names.v,
        .exclude_names = c->exclude_names.v,
        .min_duration = c->min_duration,
        .kernel_include = c->kernel_include.v,
        .kernel_exclude = c->kernel_exclude.v,
        .kernel_iterations = c->kernel_iterations,
        .step_markers = c->step_markers,
        .steps = c->steps,
        .warmup = c->warmup,
        .periods = c->periods.v,
        .copy_packets = c->copy_packets,
        .args = c->args,
        .collectives = c->collectives || c->align.choice == ROCL_ALIGN_COLLECTIVES,
        .jobs = c->jobs,
        .memory = c->memory,
        .tmpdir = c->tmpdir,
        .reader = c->reader,
        .team = c->alone && !c->local ? NULL : team,
        .team_writes = c->team_writes,
        .team_inputs = c->team_inputs,
        .team_collects = c->team_collects != NULL,
        .local = c->local,
        .explain = c->level >= MSG_VERBOSE,
        .progress = progress_wanted(c) ? progress_update : NULL,
        .note_times = c->note_times || answer_is_wanted(),
        .notice = on_notice,
    };
}

/* ---- reports --------------------------------------------------------------------------------- */

static uint64_t count_faults(const rocl_trace *t, bool dropped)
{
    uint64_t sum = 0;
    for (rocl_fault f = 0; f < ROCL_FAULTS; f++)
        if (rocl_fault_drops(f) == dropped)
            sum += rocl_trace_faults(t, f);
    return sum;
}

size_t common_put_faults(char *to, size_t size, const rocl_trace *t, bool dropped, const char *what)
{
    uint64_t sum = count_faults(t, dropped);
    if (sum == 0)
        return 0;
    size_t n =
        (size_t)snprintf(to, size, "%" PRIu64 " record%s %s", sum, sum == 1 ? "" : "s", what);
    const char *between = ": ";
    for (rocl_fault f = 0; f < ROCL_FAULTS && n < size; f++) {
        uint64_t count = rocl_trace_faults(t, f);
        if (count == 0 || rocl_fault_drops(f) != dropped)
            continue;
        n += (size_t)snprintf(to + n, size - n, "%s%s (%" PRIu64 ")", between, rocl_fault_text(f),
                              count);
        between = ", ";
    }
    return n;
}

bool common_filters(const common *c)
{
    return c->run || c->start || c->end || c->start_marker || c->end_marker || c->min_duration ||
           c->kernel_iterations || c->steps || c->warmup ||
           c->kernel_include.n + c->kernel_exclude.n + c->periods.n + c->ranks.n + c->pids.n +
               c->agents.n + c->include.n + c->exclude.n + c->names.n + c->exclude_names.n;
}

/* A trace without events is not an error, but users should not have to guess why the output is
 * empty. "All records were left out" can only be said if all kinds were wanted: the broken ones may
 * be of another kind. */
static const char *why_no_events(const common *c, const rocl_trace *t)
{
    bool some = c->wanted == EVENTS_SOME, broken = count_faults(t, true) > 0;
    if (common_filters(c))
        return some ? "no event of the requested kinds passes the filters"
                    : "no event passes the filters";
    if (some)
        return broken ? "no events of the requested kinds, except records that were left out"
                      : "no events of the requested kinds";
    if (broken)
        return "nothing to convert: all records were left out";
    return "nothing to convert: the tables of regions, samples, kernels, copies, allocations, "
           "counters, graph launches and HIP events are all empty";
}

static void report_events(const common *c, const rocl_trace *t)
{
    uint64_t sum = 0;
    char kinds[512];
    size_t n = 0;
    kinds[0] = '\0';
    for (rocl_kind k = 0; k < ROCL_KINDS; k++) {
        uint64_t events = rocl_trace_events(t, k);
        sum += events;
        if (events && n < sizeof kinds)
            n += (size_t)snprintf(kinds + n, sizeof kinds - n, "%s%" PRIu64 " %s", n ? ", " : "",
                                  events, rocl_kind_name(k));
    }
    const size_t read = rocl_trace_captures(t) - (size_t)c->copied;
    if (sum && c->copied)
        msg_verbose("%zu process%s: %s; %" PRIu64 " process%s: %" PRIu64 " rows copied as they are",
                    read, read == 1 ? "" : "es", kinds, c->copied, c->copied == 1 ? "" : "es",
                    c->copied_rows);
    else if (sum)
        msg_verbose("%zu process%s: %s", read, read == 1 ? "" : "es", kinds);
    else if (c->wanted != EVENTS_NONE)
        msg_notice("%s", why_no_events(c, t));
}

/* `head` and other readers that have seen enough end a pipe: nothing to complain about. */
bool reader_is_gone(const common *c, const rocl_error *err)
{
    return c->to_stdout && rocl_error_status(err) == ROCL_OUTPUT &&
           strstr(rocl_error_text(err), strerror(EPIPE));
}

/* ---- the run --------------------------------------------------------------------------------- */

rocl_status common_open(const common *c, const strings *inputs, rocl_trace **t, rocl_error *err)
{
    rocl_options options = library_options(c);
    return rocl_trace_open(t, inputs->v, inputs->n, &options, err);
}

void common_report(const common *c, const rocl_trace *t)
{
    progress_end();
    report_events(c, t);
    char dropped[1024], kept[1024];
    bool some = common_put_faults(dropped, sizeof dropped, t, true, "left out") > 0;
    bool more = common_put_faults(kept, sizeof kept, t, false, "repaired") > 0;
    if (some || more)
        msg_partial("%s%s%s", some ? dropped : "", some && more ? "; " : "", more ? kept : "");
}

int common_run(const common *c, common_write_fn *write, void *ctx)
{
    if (c->checking)
        return ROCL_OK;
    if (answer_lists_outputs() && c->to_stdout)
        return usage_error("--format json: standard output is for the answer; name an output");
    rocl_error *err = must_have(rocl_error_new());
    rocl_status s = ROCL_OK;
    signals_prepare();
    if (rocl_team_rank(team)) {
        const rocl_options options = library_options(c);
        rocl_team_write_fn *const work = c->team_collects ? c->team_collects
                                         : c->team_writes ? write
                                                          : NULL;
        s = rocl_team_serve(team, &options, work, ctx, err);
        if (s > ROCL_PARTIAL)
            rocl_remove_empty_dirs();
        rocl_team_close(team);
        team = NULL;
        rocl_error_free(err);
        return (int)s; /* what there is to say, rank 0 says */
    }
    char ignored[512];
    for (size_t i = 0, n = 0; i < c->ignored.n && n < sizeof ignored; i++)
        n += (size_t)snprintf(ignored + n, sizeof ignored - n, "%s--%s", i ? ", " : "",
                              c->ignored.v[i]);
    answer_set_inputs(&c->inputs);
    if (c->ignored.n)
        msg_notice("%s: accepted, but without effect", ignored);
    if (c->step_markers && !c->steps && !c->warmup && !c->uses_steps)
        msg_notice("--step-markers alone filters nothing: --steps or --warmup chooses steps");
    rocl_trace *t = NULL;
    if (s == ROCL_OK)
        s = common_open(c, &c->inputs, &t, err);
    if (s <= ROCL_PARTIAL)
        s = write(t, ctx, err);
    if (s <= ROCL_PARTIAL && answer_lists_outputs()) {
        rocl_answer *answer;
        rocl_status opened = answer_open("-", t, 0, &answer, err);
        s = opened == ROCL_OK ? s : opened;
    }
    progress_end();
    if (s <= ROCL_PARTIAL && !c->reported)
        common_report(c, t);
    else if (s > ROCL_PARTIAL)
        rocl_remove_empty_dirs();
    rocl_trace_close(t);
    rocl_team_close(team);
    team = NULL;
    if (s > ROCL_PARTIAL && !reader_is_gone(c, err)) {
        if (*rocl_error_text(err)) /* else `write` has spoken */
            msg_error("%s", rocl_error_text(err));
        if (s == ROCL_USAGE)
            msg_plain("Try '%s --help'.", msg_program());
    }
    rocl_error_free(err);
    return (int)s;
}
