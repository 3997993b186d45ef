/* Facts of each process: see facts.h. Workers add up a batch on their own and then join it to the
 * process, under one lock. */
#include "analysis/facts.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/calls.h"
#include "analysis/distribution.h"
#include "base/array.h"

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
        return ROCL_CALL_FOREIGN;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strstr(function, rules[i].word))
            return rules[i].class;
    return ROCL_CALL_OTHER;
}

/* Each text is looked at once by each worker. False: memory is out. */
static bool class_of(rocl_facts *f, unsigned worker, uint32_t text, rocl_call_class *class)
{
    *class = ROCL_CALL_FOREIGN;
    if (text == ROCL_NONE)
        return true;
    if (!ROCL_GROW(f->classes[worker], f->class_caps[worker], (size_t)text + 1))
        return false;
    uint8_t *known = &f->classes[worker][text];
    if (!*known)
        *known = (uint8_t)(rocl_classify_call(rocl_str(f->c->trace, text)) + 1);
    *class = (rocl_call_class)(*known - 1);
    return true;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Facts of the events of one process in a batch. */
typedef struct batch_facts {
    uint32_t process;
    rocl_extent all, runtime;
    uint64_t calls[ROCL_CALL_CLASSES];
    int64_t memory_ns;
    bool finer_than_us;
    rocl_sighting zero, longest;
} batch_facts;

/* The first of equal events in the trace counts, whichever worker saw it. */
static bool precedes_event(const rocl_event_ref *a, const rocl_event_ref *b)
{
    return a->capture_plus1 != b->capture_plus1 ? a->capture_plus1 < b->capture_plus1
                                                : a->row < b->row;
}

static void join_sighting(rocl_sighting *to, const rocl_sighting *from)
{
    if (!from->count)
        return;
    if (!to->count || from->amount > to->amount ||
        (from->amount == to->amount && precedes_event(&from->event, &to->event))) {
        to->amount = from->amount;
        to->event = from->event;
    }
    to->count += from->count;
}

static void join_batch(rocl_facts *f, const rocl_batch *b, const batch_facts *from)
{
    if (!from->all.count)
        return;
    rocl_process_facts *p = &f->processes[f->first_process[b->capture->index] + from->process];
    pthread_mutex_lock(&f->lock);
    rocl_extent_join(&p->kinds[b->kind], &from->all);
    rocl_extent_join(&p->runtime, &from->runtime);
    for (unsigned i = 0; i < ROCL_CALL_CLASSES; i++)
        p->calls[i] += from->calls[i];
    p->memory_ns = rocl_add_saturated(p->memory_ns, from->memory_ns);
    p->finer_than_us |= from->finer_than_us;
    join_sighting(&p->zero, &from->zero);
    join_sighting(&p->longest, &from->longest);
    pthread_mutex_unlock(&f->lock);
}

/* A call, a marker, a kernel or a copy, to be matched by stack ids. Calls and markers come first,
 * by their start; markers launch nothing, but their ids are of the same numbers. */
enum { WORK_BIT = 63, CLASS_OF_MARKERS = ROCL_CALL_FOREIGN + 1 };

static rocl_status add_link(rocl_facts *f, unsigned worker, const rocl_batch *b,
                            const rocl_event *e, unsigned class, rocl_error *err)
{
    const bool work = b->kind == ROCL_DISPATCH || b->kind == ROCL_COPY;
    const uint64_t key[4] = {rocl_process_word(b->capture, e), e->stack_id,
                             (uint64_t)e->start | (uint64_t)work << WORK_BIT, e->id};
    const uint64_t number = work ? (uint64_t)b->kind : (uint64_t) class;
    return rocl_add_numbers(f->links, worker, key, &number, 1, err);
}

rocl_status rocl_facts_add_batch(rocl_facts *f, unsigned worker, const rocl_batch *b,
                                 rocl_error *err)
{
    const size_t size = rocl_kind_size(b->kind);
    batch_facts facts = {0};
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        const rocl_event *e = rocl_event_at(b, size, i);
        if (e->process != facts.process) {
            join_batch(f, b, &facts);
            facts = (batch_facts){.process = e->process};
        }
        rocl_extent_add(&facts.all, e->start, e->end);
        if (b->kind == ROCL_DISPATCH) {
            const rocl_dispatch *d = &b->dispatches[i];
            const int64_t ns = d->e.end - d->e.start;
            const rocl_sighting one = {
                1, ns, {b->capture->index + 1, rocl_row_word(d->e.id, b->kind)}};
            facts.finer_than_us |= d->e.start % 1000 || ns % 1000;
            join_sighting(&facts.longest, &one);
            if (!ns)
                join_sighting(&facts.zero, &one);
            st = add_link(f, worker, b, e, ROCL_CALL_FOREIGN, err);
        } else if (b->kind == ROCL_COPY && e->stack_id) {
            st = add_link(f, worker, b, e, ROCL_CALL_FOREIGN, err);
        } else if (b->kind == ROCL_COUNTER) {
            const rocl_counter_value *v = &b->counters[i];
            if (v->counter >= b->capture->counter_count)
                continue;
            atomic_uchar *state =
                &f->counter_state[f->first_counter[b->capture->index] + v->counter];
            const unsigned char bits =
                ROCL_COUNTER_SEEN | (v->value != 0 ? ROCL_COUNTER_COUNTED : 0);
            if ((atomic_load_explicit(state, memory_order_relaxed) & bits) != bits)
                atomic_fetch_or_explicit(state, bits, memory_order_relaxed);
        } else if (b->kind == ROCL_REGION) {
            rocl_call_class class;
            if (!class_of(f, worker, b->regions[i].function, &class))
                return rocl_fail_memory(err);
            if (class != ROCL_CALL_FOREIGN) {
                facts.calls[class]++;
                if (class == ROCL_CALL_MEMORY)
                    facts.memory_ns = rocl_add_saturated(facts.memory_ns, e->end - e->start);
                rocl_extent_add(&facts.runtime, e->start, e->end);
            }
            if (e->stack_id)
                st = add_link(f, worker, b, e, class, err);
        } else if ((b->kind == ROCL_MARKER || b->kind == ROCL_INSTANT) && e->stack_id) {
            st = add_link(f, worker, b, e, CLASS_OF_MARKERS, err);
        }
    }
    join_batch(f, b, &facts);
    return st;
}

/* ---- calls and their kernels ----------------------------------------------------------------- */

/* Begins up to this much before their calls are what two clocks that were set by each other have.
 */
#define CLOCK_NS 1000

/* Ids that are further apart are numbers of another kind. */
enum { OTHER_IDS = 1 << 24 };

/* All with one stack id of one process. */
typedef struct stack {
    rocl_process_facts *facts; /* NULL: none has come */
    uint64_t process, id, kernels;
    bool called, counted; /* counted: as an id of a call or marker */
    int64_t start;        /* start of its first call */
    rocl_call_class class;
    rocl_event_ref call;
} stack;

/* Did the launch of the stack that is complete launch something? */
static void end_stack(const stack *s)
{
    rocl_process_facts *p = s->facts;
    if (!p || !s->called || (s->class != ROCL_CALL_LAUNCH && s->class != ROCL_CALL_GRAPH))
        return;
    const rocl_sighting one = {1, 0, s->call};
    ++*(s->class == ROCL_CALL_GRAPH ? &p->graph_launches : &p->launches);
    if (s->kernels)
        p->lost_in_a_row = 0;
    else if (s->class == ROCL_CALL_GRAPH)
        join_sighting(&p->lost_graphs, &one);
    else {
        join_sighting(&p->lost, &one);
        p->lost_in_a_row++;
    }
}

/* Calls and markers of a process whose ids follow each other are a run. */
typedef struct id_run {
    uint64_t last, length;
    uint64_t before; /* how many are missing before it, and the run before that was long enough */
} id_run;

/* Ids are missing only between runs: numbers that stand alone are of another kind. */
enum { LEAST_RUN = 10 };

static void count_id(stack *s, id_run *r)
{
    rocl_process_facts *p = s->facts;
    const uint64_t missing = r->last ? s->id - r->last - 1 : 0;
    s->counted = true;
    p->ids++;
    p->steps_of_one += r->last && !missing;
    if (missing)
        *r = (id_run){.before = r->length >= LEAST_RUN && missing < OTHER_IDS ? missing : 0};
    if (++r->length == LEAST_RUN && r->before > p->hole)
        p->hole = r->before;
    r->last = s->id;
}

static void match_call(stack *s, const rocl_sort_record *rec)
{
    uint64_t class;
    rocl_read_numbers(rec, &class, 1);
    if (class == CLASS_OF_MARKERS)
        return;
    s->facts->call_ids += !s->called;
    if (!s->called) {
        s->called = true;
        s->start = (int64_t)rec->key[2];
        s->class = ROCL_CALL_FOREIGN;
    }
    /* Calls within calls may share an id: one of them launches. */
    if (class == ROCL_CALL_LAUNCH || class == ROCL_CALL_GRAPH) {
        s->class = (rocl_call_class) class;
        s->call = (rocl_event_ref){(uint32_t)(rec->key[0] >> 32) + 1,
                                   rocl_row_word(rec->key[3], ROCL_REGION)};
    }
}

static void match_work(stack *s, const rocl_sort_record *rec)
{
    rocl_process_facts *p = s->facts;
    const int64_t start = (int64_t)(rec->key[2] & ~((uint64_t)1 << WORK_BIT));
    uint64_t kind;
    rocl_read_numbers(rec, &kind, 1);
    rocl_sighting one = {
        1, 0, {(uint32_t)(rec->key[0] >> 32) + 1, rocl_row_word(rec->key[3], (rocl_kind)kind)}};
    s->kernels += kind == ROCL_DISPATCH;
    if (s->called) {
        p->linked++;
        one.amount = s->start - start;
        if (one.amount > CLOCK_NS)
            join_sighting(&p->early, &one);
    } else if (kind == ROCL_DISPATCH) {
        join_sighting(s->id && !p->call_ids ? &p->unlinked_before : &p->unlinked, &one);
    }
}

rocl_status rocl_facts_match(rocl_facts *f, rocl_error *err)
{
    rocl_sort_record rec;
    stack s = {0};
    id_run ids = {0};
    rocl_status st = rocl_sorter_start(f->links, err);
    while (rocl_next_record(f->links, &rec, &st, err)) {
        if (!s.facts || rec.key[0] != s.process || rec.key[1] != s.id) {
            end_stack(&s);
            if (rec.key[0] != s.process)
                ids = (id_run){0};
            s = (stack){
                .facts = &f->processes[f->first_process[rec.key[0] >> 32] + (uint32_t)rec.key[0]],
                .process = rec.key[0],
                .id = rec.key[1]};
        }
        if (rec.key[2] >> WORK_BIT) {
            match_work(&s, &rec);
            continue;
        }
        if (!s.counted)
            count_id(&s, &ids);
        match_call(&s, &rec);
    }
    end_stack(&s);
    return st;
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
    f->classes = calloc(t->opt.jobs, sizeof *f->classes);
    f->class_caps = calloc(t->opt.jobs, sizeof *f->class_caps);
    f->links = rocl_collector_sorter(c, 4);
    if (!f->first_process || !f->first_counter || !f->classes || !f->class_caps || !f->links)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < captures; i++) {
        f->first_process[i] = f->process_count;
        f->first_counter[i] = counters;
        if (i == t->capture_count)
            break;
        const rocl_capture *capture = &t->captures[i]->pub;
        f->process_count += capture->process_count;
        counters += capture->counter_count;
    }
    f->processes = calloc(f->process_count + 1, sizeof *f->processes);
    f->counter_state = calloc(counters + 1, sizeof *f->counter_state);
    return f->processes && f->counter_state ? ROCL_OK : rocl_fail_memory(err);
}

void rocl_facts_free(rocl_facts *f)
{
    for (unsigned w = 0; f->classes && w < f->c->trace->opt.jobs; w++)
        free(f->classes[w]);
    free(f->classes);
    free(f->class_caps);
    free(f->first_process);
    free(f->first_counter);
    free(f->processes);
    free(f->counter_state);
    pthread_mutex_destroy(&f->lock);
}
