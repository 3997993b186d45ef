/* Facts of each process: see facts.h. Workers add up a batch on their own and then join it to the
 * process, under one lock. */
#include "analysis/facts.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/calls.h"
#include "analysis/distribution.h"
#include "base/array.h"
#include "model/copies.h"

rocl_extent rocl_extent_of_all(const rocl_process_facts *p)
{
    rocl_extent all = {0};
    for (rocl_kind k = 0; k < ROCL_KINDS; k++)
        if (ROCL_BIT(k) & ~(uint32_t)ROCL_VALUE_KINDS)
            rocl_extent_join(&all, &p->kinds[k]);
    return all;
}

/* ---- what names say -------------------------------------------------------------------------- */

/* "hipLaunchKernel", "cudaLaunchKernel", "cuLaunchKernel"; no "hipblasCreate", no "cuda_graph". */
static const char *runtime_function(const char *name)
{
    static const char *const prefixes[] = {"hip", "cuda", "cu"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        const size_t n = strlen(prefixes[i]);
        if (!strncmp(name, prefixes[i], n) && name[n] >= 'A' && name[n] <= 'Z')
            return name + n;
    }
    return NULL;
}

rocl_call_class rocl_classify_call(const char *name)
{
    /* The first word that the name has counts. */
    static const struct {
        const char *word;
        rocl_call_class class;
    } rules[] = {
        {"CallConfiguration", ROCL_CALL_OTHER},
        {"GraphLaunch", ROCL_CALL_GRAPH},
        {"BeginCapture", ROCL_CALL_CAPTURE},
        {"EndCapture", ROCL_CALL_CAPTURE},
        {"GetCaptureInfo", ROCL_CALL_CAPTURE},
        {"GraphInstantiate", ROCL_CALL_CAPTURE},
        {"LaunchKernel", ROCL_CALL_LAUNCH},
        {"LaunchCooperative", ROCL_CALL_LAUNCH},
        {"LaunchMultiKernel", ROCL_CALL_LAUNCH},
        {"LaunchByPtr", ROCL_CALL_LAUNCH},
        {"MemcpyNode", ROCL_CALL_OTHER}, /* makes a node of a graph, copies nothing */
        {"Memcpy", ROCL_CALL_COPY},
        {"Malloc", ROCL_CALL_MEMORY},
        {"Free", ROCL_CALL_MEMORY},
    };
    const char *function = runtime_function(name);
    if (!function)
        return strncmp(name, "roctx", 5) != 0 ? ROCL_CALL_FOREIGN
               : strstr(name, "Range")        ? ROCL_CALL_RANGE
               : strstr(name, "Mark")         ? ROCL_CALL_MARK
                                              : ROCL_CALL_FOREIGN;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strstr(function, rules[i].word))
            return rules[i].class;
    return ROCL_CALL_OTHER;
}

/* Each text is looked at once by each worker. False: memory is out. */
static bool class_of(rocl_facts *f, rocl_facts_worker *w, uint32_t text, rocl_call_class *class)
{
    *class = ROCL_CALL_FOREIGN;
    if (text == ROCL_NONE)
        return true;
    if (!ROCL_GROW(w->classes, w->class_cap, (size_t)text + 1))
        return false;
    uint8_t *known = &w->classes[text];
    if (!*known)
        *known = (uint8_t)(rocl_classify_call(rocl_str(f->c->trace, text)) + 1);
    *class = (rocl_call_class)(*known - 1);
    return true;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Facts of the events of one process in a batch. */
typedef struct batch_facts {
    uint32_t process; /* among all */
    rocl_extent all, runtime;
    uint64_t calls[ROCL_CALL_CLASSES];
    int64_t memory_ns;
    bool finer_than_us;
    rocl_sighting odd[ROCL_ODDITIES];
} batch_facts;

bool rocl_event_precedes(const rocl_event_ref *a, const rocl_event_ref *b)
{
    return a->capture_plus1 != b->capture_plus1 ? a->capture_plus1 < b->capture_plus1
                                                : a->row < b->row;
}

/* The first of equal events in the trace counts, whichever worker saw it. */
static void join_sighting(rocl_sighting *to, const rocl_sighting *from)
{
    if (!from->count)
        return;
    if (!to->count || from->amount > to->amount ||
        (from->amount == to->amount && rocl_event_precedes(&from->event, &to->event))) {
        to->amount = from->amount;
        to->event = from->event;
    }
    to->count += from->count;
}

static void note_if(bool odd, rocl_sighting *to, int64_t amount, const rocl_batch *b,
                    const rocl_event *e)
{
    if (odd)
        join_sighting(to, &(rocl_sighting){
                              1, amount, {b->capture->index + 1, rocl_row_word(e->id, b->kind)}});
}

static void join_batch(rocl_facts *f, rocl_kind kind, const batch_facts *from)
{
    if (!from->all.count)
        return;
    rocl_process_facts *p = &f->processes[from->process];
    pthread_mutex_lock(&f->lock);
    rocl_extent_join(&p->kinds[kind], &from->all);
    rocl_extent_join(&p->runtime, &from->runtime);
    for (unsigned i = 0; i < ROCL_CALL_CLASSES; i++)
        p->calls[i] += from->calls[i];
    p->memory_ns = rocl_add_saturated(p->memory_ns, from->memory_ns);
    p->finer_than_us |= from->finer_than_us;
    for (unsigned i = 0; i < ROCL_ODDITIES; i++)
        join_sighting(&p->odd[i], &from->odd[i]);
    pthread_mutex_unlock(&f->lock);
}

/* ---- groups ---------------------------------------------------------------------------------- */

static void join_group(rocl_group *to, const rocl_group *from)
{
    const bool later = !to->all.count || from->all.last > to->all.last;
    if (later || from->all.last == to->all.last)
        to->at_last = (later ? 0 : to->at_last) + from->at_last;
    rocl_extent_join(&to->all, &from->all);
    to->total = rocl_add_saturated(to->total, from->total);
    join_sighting(&to->longest, &from->longest);
    to->logs += from->logs;
}

/* The worker's. NULL: memory is out. */
static rocl_group *find_group(rocl_facts *f, rocl_facts_worker *w, const rocl_group_key *k)
{
    const uint32_t at = (k->of[0] * 31 + k->of[1] * 17 + k->of[2] * 7 + k->of[3] + k->process * 3 +
                         (uint32_t)k->what * 101) %
                        ROCL_GROUP_CACHE;
    if (memcmp(&w->cache[at].key, k, sizeof *k) != 0) {
        const uint32_t id = rocl_strings_put(f->keys, (const char *)k, sizeof *k);
        if (id == ROCL_NONE || !ROCL_GROW(w->groups, w->group_cap, (size_t)id + 1))
            return NULL;
        w->cache[at].key = *k;
        w->cache[at].id = id;
    }
    return &w->groups[w->cache[at].id];
}

/* To the base 2, in 2^-16; between powers of 2 linear. Of 0 as of 1. */
static uint64_t logarithm_of(int64_t ns)
{
    const uint64_t n = ns > 0 ? (uint64_t)ns : 1;
    const unsigned digits = 63 - (unsigned)__builtin_clzll(n);
    return (uint64_t)digits << 16 | (n << (63 - digits) << 1) >> 48;
}

/* False: memory is out. */
static bool add_to_group(rocl_facts *f, rocl_facts_worker *w, const rocl_group_key *k,
                         const rocl_batch *b, const rocl_event *e)
{
    rocl_group *g = find_group(f, w, k);
    const int64_t ns = e->end - e->start;
    rocl_group one = {.all = {1, e->start, e->end}, .total = ns, .logs = logarithm_of(ns)};
    if (!g)
        return false;
    note_if(!g->longest.count || ns >= g->longest.amount, &one.longest, ns, b, e);
    join_group(g, &one);
    return true;
}

const rocl_group *rocl_facts_group(const rocl_facts *f, uint32_t id, rocl_group_key *key)
{
    memcpy(key, rocl_strings_get(f->keys, id, NULL), sizeof *key);
    return &f->workers[0].groups[id];
}

int64_t rocl_group_others(const rocl_group *g)
{
    const uint64_t mean = (g->logs - logarithm_of(g->longest.amount)) / (g->all.count - 1);
    const uint64_t digits = mean >> 16, n = (uint64_t)1 << 16 | (mean & 0xffff);
    return (int64_t)(digits < 16 ? n >> (16 - digits) : n << (digits - 16));
}

/* ---- events ---------------------------------------------------------------------------------- */

/* No GPU has larger workgroups, and none has faster memory. */
enum { WORKGROUP_MOST = 1024, RATE_MOST = 20000 /* GB/s */, RATE_BYTES = 1 << 20 };

static uint64_t multiply_sizes(const uint32_t n[3])
{
    return (uint64_t)n[0] * n[1] * n[2];
}

/* These note what is odd about an event, and add it to its groups. */
static bool look_at_kernel(rocl_facts *f, rocl_facts_worker *w, const rocl_batch *b,
                           const rocl_dispatch *d, batch_facts *to)
{
    const int64_t ns = d->e.end - d->e.start;
    const uint64_t items = multiply_sizes(d->workgroup), grid = multiply_sizes(d->grid);
    const uint32_t kind = d->graph_exec_id ? ROCL_GRAPH : ROCL_DISPATCH;
    const bool below = d->grid[0] < d->workgroup[0] || d->grid[1] < d->workgroup[1] ||
                       d->grid[2] < d->workgroup[2];
    const rocl_group_key keys[2] = {
        {ROCL_GROUP_PLACE, kind, to->process, {d->agent, d->agent, d->queue, d->stream}},
        {ROCL_GROUP_NAME,
         ROCL_DISPATCH,
         to->process,
         {rocl_name_of(&d->e), (uint32_t)grid, (uint32_t)(grid >> 32), 0}}};
    to->finer_than_us |= d->e.start % 1000 || ns % 1000;
    note_if(!ns, &to->odd[ROCL_ODD_ZERO], 0, b, &d->e);
    note_if(items > WORKGROUP_MOST, &to->odd[ROCL_ODD_WORKGROUP], (int64_t)items, b, &d->e);
    note_if(items && grid && below, &to->odd[ROCL_ODD_GRID], 0, b, &d->e);
    note_if(!d->e.stack_id, &to->odd[ROCL_ODD_UNLINKED], 0, b, &d->e);
    return add_to_group(f, w, &keys[0], b, &d->e) && add_to_group(f, w, &keys[1], b, &d->e);
}

static bool look_at_copy(rocl_facts *f, rocl_facts_worker *w, const rocl_batch *b,
                         const rocl_copy *c, batch_facts *to)
{
    const uint64_t ns = (uint64_t)(c->e.end - c->e.start), rate = c->size / (ns ? ns : 1);
    const unsigned digits = c->size ? 64 - (unsigned)__builtin_clzll(c->size) : 0;
    const rocl_group_key keys[2] = {
        {ROCL_GROUP_PLACE, ROCL_COPY, to->process, {c->src, c->dst, c->queue, c->stream}},
        {ROCL_GROUP_NAME, ROCL_COPY, to->process, {rocl_name_of(&c->e), digits, c->src, c->dst}}};
    note_if(c->size >= RATE_BYTES && rate > RATE_MOST, &to->odd[ROCL_ODD_RATE], 0, b, &c->e);
    return add_to_group(f, w, &keys[0], b, &c->e) && add_to_group(f, w, &keys[1], b, &c->e);
}

static bool look_at_call(rocl_facts *f, rocl_facts_worker *w, const rocl_batch *b,
                         const rocl_region *r, batch_facts *to)
{
    rocl_call_class class;
    const bool point = r->e.start == r->e.end;
    if (!class_of(f, w, r->function, &class))
        return false;
    const rocl_group_key thread = {ROCL_GROUP_THREAD, 0, to->process, {r->e.thread, 0, 0, 0}};
    rocl_group *g = find_group(f, w, &thread);
    if (!g)
        return false;
    join_group(g, &(rocl_group){{1, r->e.start, r->e.end}, .at_last = r->e.end > r->e.start});
    if (b->kind == ROCL_MARKER) {
        note_if(class == ROCL_CALL_MARK, &to->odd[ROCL_ODD_MARKS], 0, b, &r->e);
        note_if(point && class != ROCL_CALL_MARK, &to->odd[ROCL_ODD_POINTS], 0, b, &r->e);
        note_if(point && class == ROCL_CALL_RANGE, &to->odd[ROCL_ODD_RANGES], 0, b, &r->e);
        return true;
    }
    if (class >= ROCL_CALL_CLASSES)
        return true;
    to->calls[class]++;
    if (class == ROCL_CALL_MEMORY)
        to->memory_ns = rocl_add_saturated(to->memory_ns, r->e.end - r->e.start);
    rocl_extent_add(&to->runtime, r->e.start, r->e.end);
    const rocl_group_key name = {ROCL_GROUP_NAME, ROCL_REGION, to->process, {r->function, 0, 0, 0}};
    return (class != ROCL_CALL_LAUNCH && class != ROCL_CALL_GRAPH) ||
           add_to_group(f, w, &name, b, &r->e);
}

static void look_at_counter(rocl_facts *f, const rocl_batch *b, const rocl_counter_value *v)
{
    if (v->counter >= b->capture->counter_count)
        return;
    atomic_uchar *state = &f->counter_state[f->first_counter[b->capture->index] + v->counter];
    const unsigned char bits = ROCL_COUNTER_SEEN | (v->value != 0 ? ROCL_COUNTER_COUNTED : 0);
    if ((atomic_load_explicit(state, memory_order_relaxed) & bits) != bits)
        atomic_fetch_or_explicit(state, bits, memory_order_relaxed);
}

rocl_status rocl_facts_add_batch(rocl_facts *f, unsigned worker, const rocl_batch *b,
                                 rocl_error *err)
{
    const size_t size = rocl_kind_size(b->kind);
    rocl_facts_worker *w = &f->workers[worker];
    const uint32_t first = (uint32_t)f->first_process[b->capture->index];
    batch_facts facts = {0};
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        const rocl_event *e = rocl_event_at(b, size, i);
        bool ok = true;
        if (first + e->process != facts.process) {
            join_batch(f, b->kind, &facts);
            facts = (batch_facts){.process = first + e->process};
        }
        rocl_extent_add(&facts.all, e->start, e->end);
        if (b->kind == ROCL_DISPATCH)
            ok = look_at_kernel(f, w, b, &b->dispatches[i], &facts);
        else if (b->kind == ROCL_COPY)
            ok = look_at_copy(f, w, b, &b->copies[i], &facts);
        else if (b->kind == ROCL_REGION || b->kind == ROCL_MARKER)
            ok = look_at_call(f, w, b, &b->regions[i], &facts);
        else if (b->kind == ROCL_ALLOC)
            note_if(b->allocs[i].unpaired, &facts.odd[ROCL_ODD_UNPAIRED], 0, b, e);
        else if (b->kind == ROCL_COUNTER)
            look_at_counter(f, b, &b->counters[i]);
        if (!ok)
            return rocl_fail_memory(err);
        if (e->stack_id && rocl_kind_in(b->kind, ROCL_BIT(ROCL_MARKER) | ROCL_BIT(ROCL_INSTANT) |
                                                     ROCL_BIT(ROCL_DISPATCH) | ROCL_BIT(ROCL_COPY)))
            st = rocl_calls_ask(f->links, worker, b, e, NULL, 0, err);
    }
    join_batch(f, b->kind, &facts);
    return st;
}

/* ---- calls and their kernels ----------------------------------------------------------------- */

/* Begins up to this much before their calls are what two clocks that were set by each other have.
 */
#define CLOCK_NS 1000

/* Ids that are further apart are numbers of another kind. */
enum { OTHER_IDS = 1 << 24 };

/* Did the launch of the stack that is complete launch something? */
static void end_stack(const rocl_stack *s)
{
    rocl_process_facts *p = s->facts;
    const bool graph = s->class == ROCL_CALL_GRAPH;
    if (!p || !s->called || (s->class != ROCL_CALL_LAUNCH && !graph))
        return;
    ++*(graph ? &p->graph_launches : &p->launches);
    if (!s->kernels)
        join_sighting(graph ? &p->lost_graphs : &p->lost, &(rocl_sighting){1, 0, s->call});
    p->lost_in_a_row = s->kernels ? 0 : p->lost_in_a_row + !graph;
}

static void enter_stack(rocl_facts *f, const uint64_t *key)
{
    rocl_stack *s = &f->stack;
    if (s->facts && key[0] == s->process && key[1] == s->id)
        return;
    end_stack(s);
    if (key[0] != s->process)
        f->ids = (rocl_id_run){0};
    *s = (rocl_stack){.facts = &f->processes[f->first_process[key[0] >> 32] + (uint32_t)key[0]],
                      .process = key[0],
                      .id = key[1]};
}

/* Ids are missing only between runs: numbers that stand alone are of another kind. */
enum { LEAST_RUN = 10 };

static void count_id(rocl_stack *s, rocl_id_run *r)
{
    rocl_process_facts *p = s->facts;
    const uint64_t missing = r->last ? s->id - r->last - 1 : 0;
    if (s->counted)
        return;
    s->counted = true;
    p->ids++;
    p->steps_of_one += r->last && !missing;
    if (missing)
        *r = (rocl_id_run){.before = r->length >= LEAST_RUN && missing < OTHER_IDS ? missing : 0};
    if (++r->length == LEAST_RUN && r->before > p->hole)
        p->hole = r->before;
    r->last = s->id;
}

static void match_call(void *ctx, const uint64_t *key, const rocl_call *call)
{
    rocl_facts *f = ctx;
    rocl_stack *s = &f->stack;
    rocl_call_class class = ROCL_CALL_FOREIGN;
    enter_stack(f, key);
    count_id(s, &f->ids);
    f->failed |= !class_of(f, &f->workers[0], call->name, &class);
    s->facts->call_ids += !s->called;
    s->called = true;
    /* Calls within calls may share an id: one of them launches. */
    if (class == ROCL_CALL_LAUNCH || class == ROCL_CALL_GRAPH) {
        s->class = class;
        s->call =
            (rocl_event_ref){(uint32_t)(key[0] >> 32) + 1, rocl_row_word(key[3], ROCL_REGION)};
    }
}

/* A kernel or a copy; or a marker or an instant, which launch nothing, but their ids are of the
 * same numbers. */
static rocl_status match_event(void *ctx, const rocl_sort_record *rec, const rocl_call *call,
                               rocl_error *err)
{
    rocl_facts *f = ctx;
    const rocl_kind kind = rocl_word_kind(rec->key[3]);
    rocl_sighting one = {1, 0, {(uint32_t)(rec->key[0] >> 32) + 1, rec->key[3]}};
    enter_stack(f, rec->key);
    rocl_process_facts *p = f->stack.facts;
    (void)err;
    f->stack.kernels += kind == ROCL_DISPATCH;
    if (kind != ROCL_DISPATCH && kind != ROCL_COPY) {
        count_id(&f->stack, &f->ids);
    } else if (call) {
        const int64_t delay = (int64_t)rec->key[2] - call->start;
        one.amount = -delay;
        p->least_delay = p->linked && p->least_delay < delay ? p->least_delay : delay;
        p->most_delay = p->linked && p->most_delay > delay ? p->most_delay : delay;
        p->linked++;
        if (one.amount > CLOCK_NS)
            join_sighting(&p->early, &one);
    } else if (kind == ROCL_DISPATCH) {
        join_sighting(p->call_ids ? &p->odd[ROCL_ODD_UNLINKED] : &p->unlinked_before, &one);
    }
    return ROCL_OK;
}

rocl_status rocl_facts_look_up(rocl_facts *f, rocl_calls *calls, rocl_error *err)
{
    const rocl_status st = rocl_calls_look_up(calls, f->links, match_event, f, err);
    rocl_calls_see_all(calls, match_call);
    return st;
}

/* Do the agents of copies differ from what their name says? */
static bool is_contrary(const rocl_capture *c, const rocl_group_key *name)
{
    bool on_gpu[2], contrary = false;
    rocl_view text;
    text.p = rocl_strings_get(c->trace->strings, name->of[0], &text.n);
    const unsigned told = rocl_copy_ends(text, &on_gpu[0], &on_gpu[1]);
    for (unsigned i = 0; i < told; i++) {
        const uint32_t agent = name->of[2 + i];
        contrary |= agent < c->agent_count &&
                    c->agents[agent].type == (on_gpu[i] ? ROCL_AGENT_CPU : ROCL_AGENT_GPU);
    }
    return contrary;
}

/* What a group says of its process. */
static void note_group(rocl_facts *f, uint32_t id)
{
    rocl_group_key key;
    const rocl_group *g = rocl_facts_group(f, id, &key);
    rocl_process_facts *p = &f->processes[key.process];
    const rocl_sighting all = {g->all.count, 0, g->longest.event};
    if (key.what == ROCL_GROUP_PLACE && key.kind != ROCL_COPY)
        join_sighting(&p->longest, &g->longest);
    if (key.what != ROCL_GROUP_NAME || key.kind != ROCL_COPY)
        return;
    if (!key.of[1])
        join_sighting(&p->odd[ROCL_ODD_UNSIZED], &all);
    if (is_contrary(&f->c->trace->captures[all.event.capture_plus1 - 1]->pub, &key))
        join_sighting(&p->odd[ROCL_ODD_DIRECTION], &all);
}

rocl_status rocl_facts_join(rocl_facts *f, rocl_error *err)
{
    const size_t groups = rocl_strings_count(f->keys);
    end_stack(&f->stack);
    if (f->failed || !ROCL_GROW(f->workers[0].groups, f->workers[0].group_cap, groups))
        return rocl_fail_memory(err);
    for (unsigned i = 1; i < f->c->trace->opt.jobs; i++)
        for (size_t k = 1; k < groups && k < f->workers[i].group_cap; k++)
            if (f->workers[i].groups[k].all.count)
                join_group(&f->workers[0].groups[k], &f->workers[i].groups[k]);
    for (uint32_t k = 1; k < groups; k++)
        note_group(f, k);
    return ROCL_OK;
}

/* ---- both ends ------------------------------------------------------------------------------- */

rocl_status rocl_facts_open(rocl_facts *f, rocl_collector *c, rocl_error *err)
{
    const rocl_trace *t = c->trace;
    const size_t captures = t->capture_count + 1;
    size_t counters = 0;
    *f = (rocl_facts){.c = c};
    pthread_mutex_init(&f->lock, NULL);
    f->first_process = calloc(captures, sizeof *f->first_process);
    f->first_counter = calloc(captures, sizeof *f->first_counter);
    f->workers = rocl_cache_line_calloc(t->opt.jobs, sizeof *f->workers);
    f->keys = rocl_strings_new();
    f->links = rocl_collector_sorter(c, 4);
    if (!f->first_process || !f->first_counter || !f->workers || !f->keys || !f->links)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < t->capture_count; i++) {
        f->first_process[i] = f->process_count;
        f->first_counter[i] = counters;
        f->process_count += t->captures[i]->pub.process_count;
        counters += t->captures[i]->pub.counter_count;
    }
    f->processes = calloc(f->process_count + 1, sizeof *f->processes);
    f->counter_state = calloc(counters + 1, sizeof *f->counter_state);
    return f->processes && f->counter_state ? ROCL_OK : rocl_fail_memory(err);
}

void rocl_facts_free(rocl_facts *f)
{
    for (unsigned i = 0; f->workers && i < f->c->trace->opt.jobs; i++) {
        free(f->workers[i].classes);
        free(f->workers[i].groups);
    }
    free(f->workers);
    rocl_strings_free(f->keys);
    free(f->first_process);
    free(f->first_counter);
    free(f->processes);
    free(f->counter_state);
    pthread_mutex_destroy(&f->lock);
}
