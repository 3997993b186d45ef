/* Can the trace be trusted? Rules on facts of the recording: what one process lacks and others of
 * the same trace have, what is inconsistent, what was lost. Each gives its evidence, the likely
 * cause, and how to record it right. They are silent on sound traces: rocstats-doctor(1) has the
 * thresholds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/distribution.h"
#include "analysis/doctor.h"
#include "base/array.h"

/* ---- rules on the whole trace ---------------------------------------------------------------- */

static void check_records(rocl_doctor *d, uint64_t events)
{
    const rocl_trace *t = d->c.trace;
    uint64_t sums[2] = {0, 0};
    char texts[2][400] = {"", ""};
    for (rocl_fault f = 0; f < ROCL_FAULTS; f++) {
        const uint64_t n = rocl_trace_faults(t, f);
        const bool drops = rocl_fault_drops(f);
        const size_t len = strlen(texts[drops]);
        if (!n || f == ROCL_FAULT_UNPAIRED_FREE) /* of these another rule tells */
            continue;
        sums[drops] += n;
        snprintf(texts[drops] + len, sizeof texts[drops] - len, "%s%s (%llu)", len ? ", " : "",
                 rocl_fault_text(f), ROCL_N(n));
    }
    if (!events && !sums[true])
        rocl_doctor_find(d, ROCL_RULE_EMPTY, NULL, ROCL_TIMES(1), "%zu file%s without an event",
                         rocl_trace_inputs(t), rocl_trace_inputs(t) == 1 ? "" : "s");
    if (sums[true])
        rocl_doctor_find(d, sums[true] > events ? ROCL_RULE_MOSTLY_LEFT_OUT : ROCL_RULE_LEFT_OUT,
                         NULL, ROCL_TIMES(sums[true]), "%llu of %llu: %s", ROCL_N(sums[true]),
                         ROCL_N(sums[true] + events), texts[true]);
    if (sums[false])
        rocl_doctor_find(d, ROCL_RULE_REPAIRED, NULL, ROCL_TIMES(sums[false]), "%llu of %llu: %s",
                         ROCL_N(sums[false]), ROCL_N(events), texts[false]);
}

/* How long one of them begins after the other one has ended; 0: they touch, or one is empty. */
static int64_t time_between(const rocl_extent *a, const rocl_extent *b)
{
    if (!a->count || !b->count)
        return 0;
    return a->first > b->last ? a->first - b->last : b->first > a->last ? b->first - a->last : 0;
}

/* A host that has nothing in common with all others. */
static void check_hosts(rocl_doctor *d)
{
    const size_t n = d->c.trace->machine_count;
    struct {
        rocl_extent all;
        rocl_subject is;
    } *hosts = calloc(n + 1, sizeof *hosts);
    d->out->incomplete |= !hosts;
    for (size_t i = 0; hosts && i < d->facts.process_count; i++) {
        const rocl_extent all = rocl_extent_of_all(&d->facts.processes[i]);
        const rocl_capture *c = rocl_subject_of(d, i).capture;
        rocl_extent_join(&hosts[rocl_clock_of(c)].all, &all);
        hosts[rocl_clock_of(c)].is.capture = c;
    }
    for (size_t m = 0; hosts && m < n && d->c.trace->clock_count > 1; m++) {
        int64_t least = INT64_MAX;
        char text[32];
        for (size_t k = 0; k < n; k++) {
            const int64_t ns = time_between(&hosts[m].all, &hosts[k].all);
            least = k != m && hosts[k].all.count && ns < least ? ns : least;
        }
        if (least > 0 && least < INT64_MAX && hosts[m].all.count)
            rocl_doctor_find(d, ROCL_RULE_HOSTS_APART, &hosts[m].is, ROCL_TIMES(least),
                             "%s from the events of any other host", rocl_time_text(text, least));
    }
    free(hosts);
}

/* ---- rules on one process -------------------------------------------------------------------- */

/* Clocks that are apart differ by much more than a program waits before its first kernel. */
#define APART_NS 1000000000
#define LATE_NS  1000000
#define HOUR_NS  3600000000000
#define YEAR_NS  (365 * 24 * HOUR_NS)
enum { ROUND_LEAST = 4096, HOLE_LEAST = 100, OPEN_LEAST = 200, FEW = 10, FEW_CALLS = 20 };

/* Some of all. */
static void find_part(rocl_doctor *d, rocl_rule r, const rocl_subject *s, rocl_sighting some,
                      uint64_t all, const char *what)
{
    if (some.count)
        rocl_doctor_find(d, r, s, some, "%llu of %llu %s", ROCL_N(some.count), ROCL_N(all), what);
}

static void check_launches(rocl_doctor *d, const rocl_subject *s, const rocl_process_facts *p)
{
    const uint64_t calls = p->calls[ROCL_CALL_LAUNCH] + p->calls[ROCL_CALL_GRAPH];
    const bool captures = p->calls[ROCL_CALL_CAPTURE] || p->calls[ROCL_CALL_GRAPH];
    const bool tail = p->lost_in_a_row == p->lost.count && p->lost.count < p->launches;
    if (calls && !p->kinds[ROCL_DISPATCH].count) {
        rocl_doctor_find(d, ROCL_RULE_PROCESS_WITHOUT_KERNELS, s,
                         (rocl_sighting){calls, 0, p->lost.event}, "%llu launch%s",
                         ROCL_PLURAL(calls, "es"));
        return;
    }
    if (captures || tail)
        find_part(d, captures ? ROCL_RULE_CAPTURED_LAUNCHES : ROCL_RULE_CUT_TAIL, s, p->lost,
                  p->launches, tail ? "launches, at the end" : "launches");
    else if (p->lost.count)
        rocl_doctor_find(d, ROCL_RULE_LAUNCHES_WITHOUT_KERNELS, s, p->lost,
                         "%llu of %llu launches, %llu of them at the end", ROCL_N(p->lost.count),
                         ROCL_N(p->launches), ROCL_N(p->lost_in_a_row));
    find_part(d, ROCL_RULE_GRAPHS_WITHOUT_KERNELS, s, p->lost_graphs, p->graph_launches,
              "launches of graphs");
}

static void check_calls(rocl_doctor *d, const rocl_subject *s, const rocl_process_facts *p)
{
    const uint64_t kernels = p->kinds[ROCL_DISPATCH].count, copies = p->calls[ROCL_CALL_COPY];
    char text[32];
    if (kernels && !p->kinds[ROCL_REGION].count) {
        rocl_doctor_find(d, ROCL_RULE_NO_CALLS, s, ROCL_TIMES(kernels), "%llu kernel%s",
                         ROCL_PLURAL(kernels, "s"));
        return;
    }
    if (kernels && !p->call_ids)
        rocl_doctor_find(d, ROCL_RULE_NO_LINKS, s, ROCL_TIMES(kernels),
                         "%llu kernel%s, no call with an id", ROCL_PLURAL(kernels, "s"));
    else
        find_part(d, ROCL_RULE_KERNELS_WITHOUT_CALLS, s, p->odd[ROCL_ODD_UNLINKED], kernels,
                  "kernels");
    if (p->call_ids)
        find_part(d, ROCL_RULE_LAUNCHED_BEFORE, s, p->unlinked_before, kernels, "kernels");
    if (p->early.count)
        rocl_doctor_find(d, ROCL_RULE_BEFORE_LAUNCH, s, p->early,
                         "%llu of %llu kernels and copies, by up to %s; gpu %lld %+lldns",
                         ROCL_N(p->early.count), ROCL_N(p->linked),
                         rocl_time_text(text, p->early.amount), (long long)s->process->pid,
                         (long long)p->early.amount);
    if (copies && !p->kinds[ROCL_COPY].count)
        rocl_doctor_find(d, ROCL_RULE_NO_COPIES, s, ROCL_TIMES(copies),
                         "%llu call%s to copy memory", ROCL_PLURAL(copies, "s"));
    if (p->ids > HOLE_LEAST && p->hole >= HOLE_LEAST &&
        p->steps_of_one + p->ids / 100 >= p->ids - 1)
        rocl_doctor_find(d, ROCL_RULE_MISSING_IDS, s, ROCL_TIMES(p->hole),
                         "%llu in a row, of %llu calls and markers whose ids follow each other",
                         ROCL_N(p->hole), ROCL_N(p->ids));
}

static void check_times(rocl_doctor *d, const rocl_subject *s, const rocl_process_facts *p)
{
    rocl_extent gpu = p->kinds[ROCL_DISPATCH];
    rocl_extent_join(&gpu, &p->kinds[ROCL_COPY]);
    const int64_t apart = time_between(&p->runtime, &gpu);
    const int64_t end = s->process->end ? s->process->end : s->process->fini;
    const rocl_extent all = rocl_extent_of_all(p);
    char text[32];
    /* Which no queue explains: all begin long after their calls, or most before them. */
    const bool late = p->linked >= FEW && p->least_delay > 2 * APART_NS;
    const bool early = p->linked >= FEW && p->least_delay < -APART_NS;
    if (all.last - all.first > YEAR_NS)
        rocl_doctor_find(d, ROCL_RULE_IMPOSSIBLE_TIMES, s, ROCL_TIMES(all.count),
                         "the first and the last by %s",
                         rocl_time_text(text, all.last - all.first));
    else if (late || (early && 2 * p->early.count > p->linked))
        rocl_doctor_find(
            d, ROCL_RULE_CLOCKS_APART, s, (rocl_sighting){gpu.count, 0, p->early.event},
            "%llu of %llu kernels and copies begin up to %s %s their calls; "
            "gpu %lld %+lldns",
            ROCL_N(late ? p->linked : p->early.count), ROCL_N(p->linked),
            rocl_time_text(text, late ? p->most_delay : -p->least_delay),
            late ? "behind" : "before", (long long)s->process->pid, (long long)-p->least_delay);
    else if (apart > APART_NS)
        rocl_doctor_find(d, ROCL_RULE_CLOCKS_APART, s, ROCL_TIMES(gpu.count),
                         "%s between the calls of the runtime and all GPU work; gpu %lld %+lldns",
                         rocl_time_text(text, apart), (long long)s->process->pid,
                         (long long)(gpu.first < p->runtime.first ? apart : -apart));
    else if (end > 0 && gpu.count && gpu.last - end > LATE_NS)
        rocl_doctor_find(d, ROCL_RULE_AFTER_END, s, ROCL_TIMES(gpu.count), "the last by %s",
                         rocl_time_text(text, gpu.last - end));
    find_part(d, p->finer_than_us ? ROCL_RULE_NO_DURATIONS : ROCL_RULE_WHOLE_US, s,
              p->odd[ROCL_ODD_ZERO], p->kinds[ROCL_DISPATCH].count, "kernels");
    if (p->longest.amount > HOUR_NS)
        rocl_doctor_find(d, ROCL_RULE_LONG_KERNELS, s,
                         (rocl_sighting){(uint64_t)p->longest.amount, 0, p->longest.event},
                         "the longest: %s", rocl_time_text(text, p->longest.amount));
}

/* What is odd about single events; of how many, at least, and of what share of their kind. */
static const struct {
    rocl_oddity odd;
    rocl_rule rule;
    rocl_kind kind;
    uint64_t least, share;
    const char *what;
} odd_values[] = {
    {ROCL_ODD_WORKGROUP, ROCL_RULE_IMPOSSIBLE_SIZES, ROCL_DISPATCH, 1, 0,
     "kernels have workgroups of more than 1024 work-items"},
    {ROCL_ODD_GRID, ROCL_RULE_IMPOSSIBLE_SIZES, ROCL_DISPATCH, 1, 0,
     "kernels have grids smaller than their workgroups"},
    {ROCL_ODD_RATE, ROCL_RULE_IMPOSSIBLE_RATES, ROCL_COPY, 1, 0, "copies, at over 20,000 GB/s"},
    {ROCL_ODD_DIRECTION, ROCL_RULE_COPY_DIRECTIONS, ROCL_COPY, 1, 0, "copies"},
    {ROCL_ODD_UNSIZED, ROCL_RULE_COPIES_WITHOUT_SIZE, ROCL_COPY, 4, 50, "copies"},
    {ROCL_ODD_UNPAIRED, ROCL_RULE_MEMORY_BEFORE, ROCL_ALLOC, 1, 0, "allocations and frees"},
};

static void check_values(rocl_doctor *d, const rocl_subject *s, const rocl_process_facts *p)
{
    const uint64_t ranges = p->kinds[ROCL_MARKER].count - p->odd[ROCL_ODD_MARKS].count;
    for (size_t i = 0; i < sizeof odd_values / sizeof *odd_values; i++) {
        const rocl_sighting odd = p->odd[odd_values[i].odd];
        const uint64_t all = p->kinds[odd_values[i].kind].count;
        if (odd.count >= odd_values[i].least && odd.count > all * odd_values[i].share / 100)
            find_part(d, odd_values[i].rule, s, odd, all, odd_values[i].what);
    }
    if (p->odd[ROCL_ODD_POINTS].count == ranges &&
        (p->odd[ROCL_ODD_RANGES].count > 1 || ranges >= FEW))
        rocl_doctor_find(d, ROCL_RULE_RANGES_AS_POINTS, s, p->odd[ROCL_ODD_POINTS],
                         "all of %llu markers", ROCL_N(ranges));
}

/* ---- rules on groups of events of a process -------------------------------------------------- */

/* Do kernels of the place run one after the other? Those of a graph do not, which only calls tell;
 * and stream 0 of another queue may mean that the stream is not known. */
static bool is_in_order(const rocl_doctor *d, const rocl_group_key *place)
{
    const rocl_capture *c = rocl_subject_of(d, place->process).capture;
    const rocl_process_facts *p = &d->facts.processes[place->process];
    return p->runtime.count && !p->calls[ROCL_CALL_GRAPH] && place->of[3] < c->stream_count &&
           (c->streams[place->of[3]].id || place->of[2] >= c->queue_count ||
            !c->queues[place->of[2]].id);
}

/* Which rule finds something in a group, and how much of it; ROCL_RULES: none. */
static rocl_rule judge_group(const rocl_doctor *d, const rocl_group *g, const rocl_group_key *k,
                             int64_t *amount)
{
    const rocl_extent whole = rocl_extent_of_all(&d->facts.processes[k->process]);
    const int64_t longest = g->longest.amount, span = g->all.last - g->all.first;
    *amount = k->what == ROCL_GROUP_THREAD  ? (int64_t)g->at_last
              : k->what == ROCL_GROUP_PLACE ? g->total - span
                                            : longest;
    if (k->what == ROCL_GROUP_THREAD)
        return g->at_last >= OPEN_LEAST && g->at_last >= g->all.count / 20 ? ROCL_RULE_NEVER_CLOSED
                                                                           : ROCL_RULES;
    const bool unsized = k->what == ROCL_GROUP_NAME && k->kind == ROCL_COPY && !k->of[1];
    if (g->all.count < FEW_CALLS || unsized)
        return ROCL_RULES;
    const int64_t others = rocl_group_others(g);
    if (k->what == ROCL_GROUP_NAME)
        return longest / 1000 < others || longest < (whole.last - whole.first) / 10 ? ROCL_RULES
               : k->kind == ROCL_REGION ? ROCL_RULE_ONE_LONG_LAUNCH
                                        : ROCL_RULE_ONE_LONG_CALL;
    return k->kind == ROCL_DISPATCH && *amount > span / 10 && longest / 100 >= others &&
                   is_in_order(d, k)
               ? ROCL_RULE_OUTLASTS
               : ROCL_RULES;
}

typedef struct odd_group {
    rocl_rule rule;
    uint32_t process;
    int64_t amount;
    const rocl_group *g;
} odd_group;

/* Of one rule: the first in the trace counts of equal ones. */
static int compare_groups(const void *a, const void *b)
{
    const odd_group *x = a, *y = b;
    int c = rocl_number_order(x->process, y->process);
    if (!c)
        c = rocl_number_order(y->amount, x->amount);
    return c ? c : rocl_event_precedes(&x->g->longest.event, &y->g->longest.event) ? -1 : 1;
}

static void find_odd_group(rocl_doctor *d, const odd_group *o)
{
    const rocl_subject s = rocl_subject_of(d, o->process);
    const rocl_group *g = o->g;
    const rocl_sighting worst = {(uint64_t)o->amount, 0, g->longest.event};
    char text[4][32];
    if (o->rule == ROCL_RULE_NEVER_CLOSED) {
        rocl_doctor_find(d, o->rule, &s, worst,
                         "%llu of the %llu ranges of a thread end at once, with its last one",
                         ROCL_N(g->at_last), ROCL_N(g->all.count));
        return;
    }
    rocl_time_text(text[0], g->longest.amount);
    rocl_time_text(text[1], rocl_group_others(g));
    if (o->rule == ROCL_RULE_OUTLASTS)
        rocl_doctor_find(d, o->rule, &s, worst,
                         "%llu kernels of a stream take %s, but run within %s; the longest takes "
                         "%s, others typically %s",
                         ROCL_N(g->all.count), rocl_time_text(text[2], g->total),
                         rocl_time_text(text[3], g->all.last - g->all.first), text[0], text[1]);
    else
        rocl_doctor_find(d, o->rule, &s, worst,
                         "%s; the other %llu of its name and size typically take %s", text[0],
                         ROCL_N(g->all.count - 1), text[1]);
}

static void check_groups(rocl_doctor *d)
{
    const size_t n = rocl_strings_count(d->facts.keys);
    odd_group *odd = NULL;
    size_t count = 0, cap = 0;
    for (uint32_t i = 1; i < n; i++) {
        rocl_group_key k;
        const rocl_group *g = rocl_facts_group(&d->facts, i, &k);
        odd_group one = {.process = k.process, .g = g};
        one.rule = judge_group(d, g, &k, &one.amount);
        if (one.rule == ROCL_RULES)
            continue;
        if (ROCL_GROW(odd, cap, count + 1))
            odd[count++] = one;
        else
            d->out->incomplete = true;
    }
    if (count)
        qsort(odd, count, sizeof *odd, compare_groups);
    for (size_t i = 0; i < count; i++)
        find_odd_group(d, &odd[i]);
    free(odd);
}

/* ---- rules on numbers of events -------------------------------------------------------------- */

/* A power of two, or whole hundred thousands. */
static bool is_round(uint64_t n)
{
    return n >= ROUND_LEAST && ((n & (n - 1)) == 0 || n % 100000 == 0);
}

static void check_numbers(rocl_doctor *d, const rocl_subject *s, const rocl_process_facts *p)
{
    const rocl_extent all = rocl_extent_of_all(p);
    for (rocl_kind k = 0; k < ROCL_KINDS; k++) {
        const rocl_extent *e = &p->kinds[k];
        const int64_t after = all.last - e->last;
        char text[32];
        if (is_round(e->count) && after > LATE_NS && after > (all.last - all.first) / 100)
            rocl_doctor_find(d, ROCL_RULE_ROUND_NUMBER, s, ROCL_TIMES(e->count),
                             "exactly %llu of kind %s, and %s of other events behind them",
                             ROCL_N(e->count), rocl_kind_name(k), rocl_time_text(text, after));
    }
}

static void check_counters(rocl_doctor *d, const rocl_subject *s)
{
    const rocl_capture *c = s->capture;
    const rocl_process_facts *p = &d->facts.processes[d->facts.first_process[c->index]];
    uint64_t values = 0;
    uint32_t seen = 0, zero = 0, first = 0;
    for (uint32_t k = 0; k < c->process_count; k++)
        values += p[k].kinds[ROCL_COUNTER].count;
    for (uint32_t k = 0; k < c->counter_count; k++) {
        const unsigned state = d->facts.counter_state[d->facts.first_counter[c->index] + k];
        seen += state != 0;
        if (state == ROCL_COUNTER_SEEN)
            first = zero++ ? first : k;
    }
    if (!zero || values < FEW)
        return;
    const char *name = rocl_str(d->c.trace, c->counters[first].name);
    rocl_doctor_find(d, zero == seen ? ROCL_RULE_COUNTERS_ZERO : ROCL_RULE_COUNTER_ZERO, s,
                     ROCL_TIMES(zero), "%u of %u counters, the first: %.*s", zero, seen,
                     rocl_name_prefix(name, 100), name);
}

/* What a capture has in common for all its processes, told of the first. */
static void check_capture(rocl_doctor *d, const rocl_subject *s)
{
    const rocl_model_capture *c = d->c.trace->captures[s->capture->index];
    if (c->overwritten)
        rocl_doctor_find(d, ROCL_RULE_OVERWRITTEN, s, ROCL_TIMES(c->overwritten),
                         "%llu record%s lost", ROCL_PLURAL(c->overwritten, "s"));
    if (c->memory_before)
        rocl_doctor_find(d, ROCL_RULE_MEMORY_BEFORE, s, ROCL_TIMES(c->memory_before),
                         "%llu byte%s in use, says the first event",
                         ROCL_PLURAL(c->memory_before, "s"));
    check_counters(d, s);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static const char *const verdicts[ROCL_LEVELS] = {"sound", "doubts", "unusable"};

typedef struct verdict_row {
    const char *verdict;
    uint64_t levels[ROCL_LEVELS], processes, events;
} verdict_row;

#define CELL(field) ROCL_ALWAYS, ROCL_CELL(verdict_row, field)

static const rocl_column verdict_columns[] = {
    {"verdict", "Verdict", ROCL_UNIT_TEXT, CELL(verdict)},
    {"unusable", "Unusable", ROCL_UNIT_COUNT, CELL(levels[ROCL_UNUSABLE])},
    {"doubts", "Doubts", ROCL_UNIT_COUNT, CELL(levels[ROCL_DOUBT])},
    {"notes", "Notes", ROCL_UNIT_COUNT, CELL(levels[ROCL_NOTE])},
    {"processes", "Processes", ROCL_UNIT_COUNT, CELL(processes)},
    {"events", "Events", ROCL_UNIT_COUNT, CELL(events)},
};

#undef CELL
#define CELL(field) ROCL_ALWAYS, ROCL_CELL(rocl_finding, field)

static const rocl_column finding_columns[] = {
    {"level", "Level", ROCL_UNIT_TEXT, CELL(level)},
    {"finding", "Finding", ROCL_UNIT_SENTENCE, CELL(finding)},
    {"evidence", "Evidence", ROCL_UNIT_SENTENCE, CELL(evidence)},
    {"where", "Where", ROCL_UNIT_TEXT, CELL(where)},
    {"places", "Affected", ROCL_UNIT_COUNT, ROCL_ALWAYS,
     ROCL_CELL_BY(rocl_field_known, rocl_finding, places)},
    {"event", "Event", ROCL_UNIT_TEXT, ROCL_IF_IDS, ROCL_CELL(rocl_finding, event)},
    {"cause", "Likely cause", ROCL_UNIT_SENTENCE, CELL(cause)},
    {"record", "What helps", ROCL_UNIT_SENTENCE, CELL(record)},
    {"rule", "Rule", ROCL_UNIT_TEXT, CELL(key)},
    {"events", "Events", ROCL_UNIT_COUNT, CELL(events)},
};

static const rocl_table_def verdict_table = {
    ROCL_TAB(DOCTOR), "doctor", "Can the trace be trusted?", ROCL_COLUMNS(verdict_columns)};
/* Evidence for the table of findings, which has them first (findings.c). */
static const rocl_table_def finding_table = {NULL, "doctor_findings", "",
                                             ROCL_COLUMNS(finding_columns)};

typedef struct memory_row {
    uint64_t calls, processes;
    int64_t total;
} memory_row;

static const rocl_column memory_columns[] = {
    {"calls", "", ROCL_UNIT_COUNT, ROCL_ALWAYS, ROCL_CELL(memory_row, calls)},
    {"total_ns", "", ROCL_UNIT_NS, ROCL_ALWAYS, ROCL_CELL(memory_row, total)},
    {"processes", "", ROCL_UNIT_COUNT, ROCL_ALWAYS, ROCL_CELL(memory_row, processes)},
};
static const rocl_table_def memory_table = {NULL, "memory_calls", "", ROCL_COLUMNS(memory_columns)};

static rocl_status finish_doctor(void *self, rocl_tables *out, rocl_error *err)
{
    rocl_doctor *d = self;
    const rocl_trace *t = d->c.trace;
    const rocl_facts *f = &d->facts;
    d->out = out;
    rocl_report_rows verdict = rocl_begin_table(&d->c, out, &verdict_table, 0);
    if (t->filter) {
        rocl_set_note(&verdict, "not checked, as filters hide a part of it");
        return ROCL_OK;
    }
    rocl_status st = rocl_facts_join(&d->facts, err);
    if (st != ROCL_OK)
        return st;
    verdict_row row = {.processes = f->process_count};
    memory_row memory = {0};
    uint64_t launches = 0, kernels = 0;
    for (rocl_kind k = 0; k < ROCL_KINDS; k++)
        row.events += rocl_trace_events(t, k);
    for (size_t i = 0; i < f->process_count; i++) {
        const rocl_process_facts *p = &f->processes[i];
        const rocl_subject s = rocl_subject_of(d, i);
        check_launches(d, &s, p);
        check_calls(d, &s, p);
        check_times(d, &s, p);
        check_values(d, &s, p);
        check_numbers(d, &s, p);
        if (s.process == s.capture->processes)
            check_capture(d, &s);
        launches += p->calls[ROCL_CALL_LAUNCH] + p->calls[ROCL_CALL_GRAPH];
        kernels += p->kinds[ROCL_DISPATCH].count;
        memory.calls += p->calls[ROCL_CALL_MEMORY];
        memory.total = rocl_add_saturated(memory.total, p->memory_ns);
        memory.processes += p->calls[ROCL_CALL_MEMORY] > 0;
    }
    check_records(d, row.events);
    check_hosts(d);
    if (t->run_count > 1)
        rocl_doctor_find(d, ROCL_RULE_SEVERAL_RUNS, NULL, ROCL_TIMES(t->run_count),
                         "%u, which have ranks in common, at times that do not overlap",
                         t->run_count);
    check_groups(d);
    rocl_check_ranks(d);
    rocl_check_steps(d);
    rocl_check_recordings(d);
    if (launches && !kernels) {
        d->found[ROCL_RULE_PROCESS_WITHOUT_KERNELS].events = 0;
        rocl_doctor_find(d, ROCL_RULE_NO_GPU_WORK, NULL, ROCL_TIMES(launches), "%llu launch%s",
                         ROCL_PLURAL(launches, "es"));
    }
    for (unsigned i = 0; i < ROCL_RULES; i++)
        row.levels[d->found[i].of_level] += d->found[i].events > 0;
    row.verdict = verdicts[row.levels[ROCL_UNUSABLE] ? ROCL_UNUSABLE : row.levels[ROCL_DOUBT] > 0];
    if (verdict.table)
        verdict.table->fields = verdict.table->essential = true;
    rocl_add_row(&verdict, &row);
    rocl_report_rows r = rocl_begin_table(&d->c, out, &finding_table, 0);
    for (unsigned i = 0; i < ROCL_RULES; i++)
        if (d->found[i].events)
            rocl_add_row(&r, &d->found[i]);
    r = rocl_begin_table(&d->c, out, &memory_table, 0);
    rocl_add_row(&r, &memory);
    return ROCL_OK;
}

rocl_trust rocl_tables_trust(const rocl_tables *tables)
{
    const rocl_table *t = rocl_tables_find(tables, "doctor");
    for (size_t i = 0; t && t->row_count && i < ROCL_LEVELS; i++)
        if (!strcmp(rocl_datum_str(rocl_table_find_cell(t, 0, "verdict")), verdicts[i]))
            return (rocl_trust)i;
    return ROCL_TRUST_SOUND;
}

/* ---- the collector --------------------------------------------------------------------------- */

static rocl_status open_doctor(void *self, rocl_error *err)
{
    rocl_doctor *d = self;
    d->c.needs_calls = !d->c.trace->filter;
    d->noted = rocl_strings_new();
    d->places = rocl_strings_new();
    d->workers = rocl_cache_line_calloc(d->c.trace->opt.jobs, sizeof *d->workers);
    const rocl_status st = rocl_facts_open(&d->facts, &d->c, err);
    return d->noted && d->places && d->workers ? st : rocl_fail_memory(err);
}

static rocl_status add_doctor_batch(void *self, unsigned worker, const rocl_batch *b,
                                    rocl_error *err)
{
    rocl_doctor *d = self;
    if (d->c.trace->filter)
        return ROCL_OK;
    rocl_status st = rocl_facts_add_batch(&d->facts, worker, b, err);
    return st == ROCL_OK ? rocl_note_batch(d, worker, b, err) : st;
}

static rocl_status look_up_calls(void *self, rocl_calls *calls, rocl_error *err)
{
    rocl_doctor *d = self;
    return rocl_facts_look_up(&d->facts, calls, err);
}

static void close_doctor(void *self)
{
    rocl_doctor *d = self;
    for (unsigned w = 0; d->workers && w < d->c.trace->opt.jobs; w++)
        free(d->workers[w].known);
    free(d->workers);
    rocl_strings_free(d->noted);
    rocl_strings_free(d->places);
    rocl_facts_free(&d->facts);
}

const rocl_collector_def rocl_doctor_collector = {
    .tables = (const rocl_table_def *const[]){&verdict_table, NULL},
    .kinds = ROCL_ALL_KINDS,
    .size = sizeof(rocl_doctor),
    .slow = true,
    .open = open_doctor,
    .add_batch = add_doctor_batch,
    .look_up_calls = look_up_calls,
    .finish = finish_doctor,
    .close = close_doctor,
};
