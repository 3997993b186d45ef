/* One pass over the trace for all tables that are wanted. */
#include <pthread.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdlib.h>
#include <string.h>

#include "analysis/domains.h"
#include "analysis/calls.h"
#include "analysis/event_id.h"
#include "analysis/keyed.h"
#include "base/array.h"
#include "base/pool.h"
#include "trace/pipeline.h"

/* In the order of their tables. Calls come first: others look them up. */
static const rocl_collector_def *const collectors[] = {
    &rocl_calls_collector,         &rocl_summary_collector,   &rocl_overlap_collector,
    &rocl_gaps_collector,          &rocl_lane_gaps_collector, &rocl_timeline_collector,
    &rocl_histogram_collector,     &rocl_launch_collector,    &rocl_markers_collector,
    &rocl_ranks_collector,         &rocl_memory_collector,    &rocl_counter_collector,
    &rocl_derived_collector,       &rocl_streams_collector,   &rocl_samples_collector,
    &rocl_energy_collector,        &rocl_occupancy_collector, &rocl_roofline_collector,
    &rocl_attribution_collector,   &rocl_doctor_collector,    &rocl_steps_collector,
    &rocl_queues_collector,        &rocl_graphs_collector,    &rocl_sequences_collector,
    &rocl_critical_path_collector,
};

enum { COLLECTORS = sizeof collectors / sizeof *collectors };

typedef struct stats {
    rocl_collector *collectors[COLLECTORS];
    rocl_collector *gathered[COLLECTORS]; /* by place in the list above: of all ranks of a team */
    bool gets[COLLECTORS];                /* it gets events of the current run */
    rocl_tables *tables[COLLECTORS];      /* by collector */
    unsigned order[COLLECTORS];           /* in which they are finished */
    bool with_calls[COLLECTORS];          /* it looks up calls, and is finished after these */
    unsigned count;
    enum { CALLS_OPEN, CALLS_RESOLVED, CALLS_FAILED } calls;
    pthread_mutex_t lock;  /* protects `calls` while collectors are finished */
    pthread_cond_t moved;  /* `calls` has changed */
    rocl_event_ids ids;    /* ids of the trace's events, if they are wanted */
    bool few;              /* events came */
    pthread_mutex_t large; /* held by the collector of that kind that is being finished */
} stats;

const rocl_table_def *rocl_report_table_def(size_t i)
{
    for (size_t c = 0; c < COLLECTORS; c++)
        for (const rocl_table_def *const *d = collectors[c]->tables; d && *d; d++)
            if (i-- == 0)
                return *d;
    return NULL;
}

const char *rocl_report_table(rocl_report r, size_t i)
{
    const rocl_table_def *d;
    for (size_t k = 0; (unsigned)r < ROCL_REPORTS && (d = rocl_report_table_def(k)); k++)
        if (d->tab == &rocl_report_defs[r].tab && i-- == 0)
            return d->key;
    return NULL;
}

/* ---- collectors ------------------------------------------------------------------------------ */

static bool is_wanted(const rocl_collector_def *def, const rocl_stats_options *o)
{
    bool wanted = false;
    for (const rocl_table_def *const *d = def->tables; d && *d && !wanted; d++)
        wanted = rocl_table_wanted(o, *d);
    /* Calls are collected where another looks them up. */
    for (size_t i = 0; i < COLLECTORS && def == &rocl_calls_collector && !wanted; i++)
        wanted = collectors[i]->look_up_calls && is_wanted(collectors[i], o);
    return wanted && (!def->by_stream || (o->by_stream && !o->brief)) &&
           (!def->with_derive || (o->derive && *o->derive));
}

/* Calls are collected wherever they are looked up. */
static bool is_gathered(const rocl_collector_def *def)
{
    return def->gather || def == &rocl_calls_collector;
}

bool rocl_stats_collects(const rocl_stats_options *o)
{
    bool all = true;
    for (size_t i = 0; i < COLLECTORS; i++)
        all &= !is_wanted(collectors[i], o) || is_gathered(collectors[i]);
    return all;
}

/* here: only those that are gathered from ranks. */
static rocl_status open_collectors(stats *s, rocl_trace *t, const rocl_stats_options *o, bool here,
                                   rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < COLLECTORS && st == ROCL_OK; i++) {
        const rocl_collector_def *def = collectors[i];
        if (!is_wanted(def, o) || (here && !is_gathered(def)))
            continue;
        rocl_collector *c = calloc(1, def->size);
        if (!c)
            return rocl_fail_memory(err);
        *c = (rocl_collector){.def = def,
                              .trace = t,
                              .options = o,
                              .ids = o->ids ? &s->ids : NULL,
                              .kinds = def->kinds};
        s->gathered[i] = def->gather ? c : NULL;
        s->gets[s->count] = true;
        s->collectors[s->count++] = c;
        if (def->open)
            st = def->open(c, err);
        s->with_calls[s->count - 1] = c->needs_calls;
    }
    return st;
}

static void free_locks(stats *s)
{
    pthread_mutex_destroy(&s->large);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->moved);
}

static void close_collector(stats *s, unsigned i)
{
    rocl_collector *c = s->collectors[i];
    if (!c)
        return;
    if (c->def->close)
        c->def->close(c);
    for (unsigned k = 0; k < ROCL_COLLECTOR_SORTERS; k++)
        rocl_sorter_free(c->sorters[k]);
    for (unsigned k = 0; k < c->keyed_count; k++)
        rocl_keyed_close(c->keyed[k], c->trace->opt.jobs);
    free(c);
    s->collectors[i] = NULL;
}

/* ---- the pass -------------------------------------------------------------------------------- */

static rocl_status add_collected_batch(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    stats *s = self;
    rocl_status st = ROCL_OK;
    for (unsigned i = 0; i < s->count && st == ROCL_OK; i++) {
        rocl_collector *c = s->collectors[i];
        if (s->gets[i] && (c->kinds & ROCL_BIT(b->kind)))
            st = c->def->add_batch(c, worker, b, err);
    }
    return st;
}

static rocl_status add_collected_history(void *self, unsigned worker, rocl_batch *b,
                                         rocl_error *err)
{
    stats *s = self;
    rocl_status st = ROCL_OK;
    for (unsigned i = 0; i < s->count && st == ROCL_OK; i++) {
        rocl_collector *c = s->collectors[i];
        if (s->gets[i] && (c->def->history_kinds & ROCL_BIT(b->kind)))
            st = c->def->add_history(c, worker, b, err);
    }
    return st;
}

static rocl_status seal_sorters(void *self, unsigned worker, rocl_error *err)
{
    stats *s = self;
    rocl_status st = ROCL_OK;
    for (unsigned i = 0; i < s->count; i++)
        for (unsigned k = 0; k < ROCL_COLLECTOR_SORTERS && st == ROCL_OK; k++)
            if (s->collectors[i]->sorters[k])
                st = rocl_sorter_seal(s->collectors[i]->sorters[k], worker, err);
    return st;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Memory that workers needed for reading is free, but scattered: gives whole free pages back to the
 * system. */
static void give_memory_back(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

/* Closes it, too, to free its memory for the next one. */
static rocl_status finish_collector(stats *s, unsigned i, rocl_error *err)
{
    rocl_collector *c = s->collectors[i];
    const bool large = c->def->large;
    rocl_status st = ROCL_OK;
    s->tables[i] = rocl_tables_new();
    if (!s->tables[i])
        return rocl_fail_memory(err);
    if (large) {
        pthread_mutex_lock(&s->large);
        if (!s->few)
            give_memory_back();
    }
    if (c->def->finish)
        st = c->def->finish(c, s->tables[i], err);
    close_collector(s, i);
    if (large)
        pthread_mutex_unlock(&s->large);
    if (!s->few)
        give_memory_back();
    return st;
}

/* All that look up calls do so, and these are resolved. */
static rocl_status look_up_calls(void *ctx, rocl_error *err)
{
    stats *s = ctx;
    rocl_calls *calls = NULL;
    rocl_status st = ROCL_OK;
    for (unsigned i = 0; i < s->count && st == ROCL_OK; i++)
        if (s->with_calls[i]) {
            calls = (rocl_calls *)s->collectors[0];
            st = s->collectors[i]->def->look_up_calls(s->collectors[i], calls, err);
        }
    return st == ROCL_OK && calls ? rocl_calls_resolve(calls, err) : st;
}

/* One task for each collector. They are independent except for calls: the first collector, if it is
 * that of calls, resolves them; those that look them up come last, and wait for it. Within each
 * kind the slow ones come first. */
static void order_tasks(stats *s)
{
    unsigned n = 0;
    s->order[n++] = 0;
    for (int with_calls = 0; with_calls <= 1; with_calls++)
        for (int slow = 1; slow >= 0; slow--)
            for (unsigned k = 1; k < s->count; k++) {
                const unsigned i = slow ? s->count - k : k;
                if (s->with_calls[i] == with_calls && s->collectors[i]->def->slow == slow)
                    s->order[n++] = i;
            }
}

/* False: they cannot be, which is the failure of another task. */
static bool await_calls(stats *s)
{
    pthread_mutex_lock(&s->lock);
    while (s->calls == CALLS_OPEN)
        pthread_cond_wait(&s->moved, &s->lock);
    const bool resolved = s->calls == CALLS_RESOLVED;
    pthread_mutex_unlock(&s->lock);
    return resolved;
}

static rocl_status finish_task(void *ctx, unsigned worker, size_t task, rocl_error *err)
{
    stats *s = ctx;
    const unsigned i = s->order[task];
    rocl_status st = ROCL_OK;
    (void)worker;
    if (!i && s->calls != CALLS_RESOLVED) {
        st = look_up_calls(s, err);
        pthread_mutex_lock(&s->lock);
        s->calls = st == ROCL_OK ? CALLS_RESOLVED : CALLS_FAILED;
        pthread_cond_broadcast(&s->moved);
        pthread_mutex_unlock(&s->lock);
    }
    if (st != ROCL_OK || (s->with_calls[i] && !await_calls(s)))
        return st;
    return finish_collector(s, i, err);
}

/* Waking another worker takes longer than making tables of this many events. */
#define FEW_EVENTS 4096

/* Concurrent functions of a sink for all collectors that get events. */
static rocl_sink make_sink(stats *s)
{
    rocl_sink sink = {.self = s,
                      .events = add_collected_batch,
                      .history = add_collected_history,
                      .end_task = seal_sorters};
    for (unsigned i = 0; i < s->count; i++)
        if (s->gets[i]) {
            sink.kinds |= s->collectors[i]->kinds;
            sink.fields |= s->collectors[i]->fields;
            sink.history_kinds |= s->collectors[i]->def->history_kinds;
        }
    return sink;
}

/* ---- a team ---------------------------------------------------------------------------------- */

/* The options that are lists of texts, and those that are texts. */
#define OPTION_LISTS(X) X(tables) X(domains) X(summary_groups) X(derive) X(what_if)
#define OPTION_TEXTS(X) X(derive_arch) X(peak) X(peaks)

static void put_text(rocl_buf *to, const char *text)
{
    rocl_buf_byte(to, text != NULL);
    if (text)
        rocl_buf_put(to, text, strlen(text) + 1);
}

/* The request to the other ranks: the options, and what to read. */
static void put_request(rocl_buf *to, const rocl_stats_options *o, const rocl_sink *sink)
{
    rocl_buf_put(to, o, sizeof *o);
    rocl_buf_varint(to, sink->kinds);
    rocl_buf_varint(to, sink->fields);
#define PUT_TEXT(field) put_text(to, o->field);
    OPTION_TEXTS(PUT_TEXT)
#undef PUT_TEXT
#define PUT_LIST(field)                                                                            \
    for (const char *const *p = o->field; p && *p; p++)                                            \
        put_text(to, *p);                                                                          \
    put_text(to, NULL);
    OPTION_LISTS(PUT_LIST)
#undef PUT_LIST
}

/* It stays in the message. */
static const char *take_text(rocl_byte_reader *from)
{
    const uint8_t *there = rocl_next_bytes(from, 1);
    if (!there || !*there)
        return NULL;
    const uint8_t *past = memchr(from->p, 0, (size_t)(from->end - from->p));
    return (const char *)rocl_next_bytes(from, past ? (size_t)(past - from->p) + 1
                                                    : (uint64_t)(from->end - from->p) + 1);
}

static const char *const *take_list(rocl_byte_reader *from, const char *const *list,
                                    rocl_arena *arena)
{
    const size_t most = (size_t)(from->end - from->p) + 1;
    const char **made = list ? rocl_arena_alloc(arena, most * sizeof *made) : NULL;
    size_t n = 0;
    for (const char *text; (text = take_text(from));)
        if (made)
            made[n++] = text;
    if (made)
        made[n] = NULL;
    from->bad |= list && !made;
    return made;
}

static bool take_request(rocl_byte_reader *from, rocl_stats_options *o, rocl_sink *sink,
                         rocl_arena *arena)
{
    const uint8_t *p = rocl_next_bytes(from, sizeof *o);
    if (p)
        memcpy(o, p, sizeof *o);
    sink->kinds = (uint32_t)rocl_next_number(from);
    sink->fields = (uint32_t)rocl_next_number(from);
#define TAKE_TEXT(field) o->field = take_text(from);
    OPTION_TEXTS(TAKE_TEXT)
#undef TAKE_TEXT
#define TAKE_LIST(field) o->field = take_list(from, from->bad ? NULL : o->field, arena);
    OPTION_LISTS(TAKE_LIST)
#undef TAKE_LIST
    return !from->bad;
}

rocl_status rocl_stats_rank(rocl_trace *t, void *ctx, rocl_error *err)
{
    stats s = {.large = PTHREAD_MUTEX_INITIALIZER,
               .lock = PTHREAD_MUTEX_INITIALIZER,
               .moved = PTHREAD_COND_INITIALIZER};
    rocl_stats_options o;
    rocl_arena arena = {0};
    rocl_gather *g = NULL;
    rocl_sink sink = {0};
    rocl_byte_reader request = rocl_joint_request(t->joint);
    (void)ctx;
    rocl_status st = take_request(&request, &o, &sink, &arena)
                         ? open_collectors(&s, t, &o, true, err)
                         : rocl_team_bad_message(err);
    const uint32_t kinds = sink.kinds, fields = sink.fields;
    t->opt.note_times |= st == ROCL_OK && o.findings;
    sink = make_sink(&s);
    sink.kinds = kinds;
    sink.fields = fields;
    if (st == ROCL_OK)
        st = rocl_pipeline_run(t, &sink, err);
    if (st == ROCL_OK)
        st = rocl_gather_new(&g, t, s.gathered, COLLECTORS, err);
    if (st == ROCL_OK)
        st = rocl_gather_answer(g, look_up_calls, &s, err);
    rocl_gather_free(g);
    for (unsigned i = 0; i < s.count; i++)
        close_collector(&s, i);
    free_locks(&s);
    rocl_arena_free(&arena);
    return st;
}

/* Chooses which collectors get the events of a run: those that the ranks collect for, or the
 * others. Calls go with the first run that looks them up. False: there are none. */
static bool choose_collectors(stats *s, bool gathered)
{
    bool some = false, plain_calls = false;
    for (unsigned i = 0; i < s->count; i++)
        plain_calls |= s->with_calls[i] && !s->collectors[i]->def->gather;
    for (unsigned i = 0; i < s->count; i++) {
        const bool calls = s->collectors[i]->def == &rocl_calls_collector;
        s->gets[i] = (calls ? !plain_calls : s->collectors[i]->def->gather != NULL) == gathered;
        some |= s->gets[i] && !calls;
    }
    return some;
}

/* All ranks collect; for collectors that cannot, events come in a run before that. Both runs read
 * the same kinds, so that the first failure is that of a single process, and the counts of the last
 * run are right. */
static rocl_status collect_with_team(stats *s, rocl_trace *t, const rocl_stats_options *o,
                                     rocl_error *err)
{
    const rocl_sink all = make_sink(s);
    rocl_buf request = {0};
    bool leads = false;
    rocl_status st = ROCL_OK;
    put_request(&request, o, &all);
    if (choose_collectors(s, false)) {
        const rocl_sink sink = make_sink(s);
        st = rocl_pipeline_run_first(t, &sink, all.kinds, err);
    }
    if (st == ROCL_OK)
        st = rocl_joint_collect(t, &request, &leads, err);
    choose_collectors(s, true);
    rocl_sink sink = make_sink(s);
    sink.kinds = all.kinds;
    sink.fields = all.fields;
    if (st == ROCL_OK)
        st = rocl_pipeline_run(t, &sink, err);
    if (st == ROCL_OK && leads) { /* what other ranks have collected comes here */
        rocl_gather *g;
        st = rocl_gather_new(&g, t, s->gathered, COLLECTORS, err);
        if (st == ROCL_OK)
            st = rocl_gather_run(g, look_up_calls, s, err);
        s->calls = st == ROCL_OK ? CALLS_RESOLVED : CALLS_FAILED;
        rocl_gather_free(g);
    }
    if (leads)
        rocl_joint_free(t->joint);
    rocl_buf_free(&request);
    return st;
}

/* With --strict the first fault is that of one process only where all is read at once. */
static bool may_collect(const stats *s, const rocl_trace *t, const rocl_stats_options *o)
{
    bool any = false;
    for (unsigned i = 0; i < COLLECTORS; i++)
        any |= s->gathered[i] != NULL;
    return any && t->opt.team_collects && t->deal && !t->joint && !t->run_sink && !t->outputs &&
           (!t->opt.strict || rocl_stats_collects(o));
}

/* ---- the reports ----------------------------------------------------------------------------- */

rocl_status rocl_stats(rocl_trace *t, const rocl_stats_options *o, rocl_tables **tables,
                       rocl_error *err)
{
    stats s = {.large = PTHREAD_MUTEX_INITIALIZER,
               .lock = PTHREAD_MUTEX_INITIALIZER,
               .moved = PTHREAD_COND_INITIALIZER};
    uint32_t domains;
    const bool args = t->opt.args, times = t->opt.note_times;
    rocl_tables *out = rocl_tables_new();
    if (!out)
        return rocl_fail_memory(err);
    /* Options are checked before anything is read. */
    rocl_status st = rocl_domains_check(o->domains, err);
    for (const char *const *key = o->tables; key && *key && st == ROCL_OK; key++) {
        const rocl_table_def *def;
        size_t i = 0, k = 0;
        while ((def = rocl_report_table_def(i)) && strcmp(def->key, *key) != 0)
            i++;
        while (!def && rocl_finding_tables[k] && strcmp(rocl_finding_tables[k]->key, *key) != 0)
            k++;
        if (!def && !rocl_finding_tables[k])
            st = rocl_fail(err, ROCL_USAGE, "\"%s\" is not a table of a report", *key);
    }
    for (const char *const *g = o->summary_groups; g && *g && st == ROCL_OK; g++)
        st = rocl_domains_matching(*g, &domains, err);
    if (st == ROCL_OK && o->ids)
        st = rocl_event_ids_open(&s.ids, t, err);
    /* Where all is collected by the ranks, no event comes here. */
    if (st == ROCL_OK && !(t->opt.team_collects && rocl_stats_collects(o) && !t->run_sink))
        st = rocl_pipeline_complete(t, err);
    if (st == ROCL_OK)
        st = open_collectors(&s, t, o, false, err);
    for (unsigned i = 0; i < s.count; i++)
        t->opt.args |= s.collectors[i]->needs_args;
    t->opt.note_times |= o->findings; /* gains are shares of all of the time */
    const rocl_sink sink = make_sink(&s);
    if (st == ROCL_OK)
        st = may_collect(&s, t, o) ? collect_with_team(&s, t, o, err)
                                   : rocl_pipeline_run(t, &sink, err);
    /* Events also come when all tasks have ended, from what a source knows only then. */
    for (unsigned w = 0; w < t->opt.jobs && st == ROCL_OK; w++)
        st = seal_sorters(&s, w, err);
    t->opt.args = args;
    uint64_t events = 0;
    for (int i = 0; i < ROCL_KINDS; i++)
        events += atomic_load_explicit(&t->events[i], memory_order_relaxed);
    s.few = events <= FEW_EVENTS;
    if (st == ROCL_OK && o->header)
        st = rocl_put_header(out, t, ROCL_HEADER, err);
    if (st == ROCL_OK)
        order_tasks(&s);
    if (st == ROCL_OK)
        st = rocl_run_tasks(s.few ? 1 : t->opt.jobs, s.count, finish_task, &s, err);
    for (unsigned i = 0; i < s.count; i++) {
        if (st == ROCL_OK && !rocl_tables_join(out, s.tables[i]))
            st = rocl_fail_memory(err);
        rocl_tables_free(s.tables[i]);
    }
    int64_t first, last;
    const bool timed = rocl_trace_times(t, &first, &last);
    if (st == ROCL_OK)
        st = rocl_put_findings(out, t, timed ? last - first : 0, o, err);
    t->opt.note_times = times;
    if (st == ROCL_OK)
        st = rocl_check_complete(out, t, err);
    for (unsigned i = 0; i < s.count; i++)
        close_collector(&s, i);
    free_locks(&s);
    rocl_event_ids_free(&s.ids);
    if (st != ROCL_OK) {
        rocl_tables_free(out);
        return st;
    }
    *tables = out;
    return rocl_report_outcome(out, t);
}
