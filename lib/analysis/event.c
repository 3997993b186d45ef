/* One event of a trace, and its relations to others: its fields, the ranges around it on the host,
 * the call that launched it, what it launched, its counters, its neighbours.
 *
 * The event is found by its id in one pass over its kind. Then two passes over its capture find the
 * others: of host calls first those around and inside, then the work that these launched; of GPU
 * work first its call, then the ranges around that. Each keeps a bounded number of events, whatever
 * the size of the trace. */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/event_id.h"
#include "analysis/report.h"
#include "base/array.h"
#include "base/map.h"
#include "trace/pipeline.h"

enum { AROUND = 64, NEAR = 64, NEIGHBOURS = 3, WORK = 20, VALUES = 256 };

/* The facts kept of an event. */
typedef struct related {
    rocl_kind kind;
    uint64_t id;
    int64_t start, end, duration;
    uint64_t stack_id;
    uint32_t name, process, thread, agent, queue, stream;
    uint32_t counter; /* of values */
    double value;
} related;

typedef struct related_list {
    related *all;
    unsigned count, most;
    uint64_t seen; /* also those that are not kept */
    int (*compare)(const void *a, const void *b);
} related_list;

/* Work of one name that an event has caused. */
typedef struct effect {
    rocl_kind kind;
    uint32_t name;
    uint64_t count;
    int64_t total;
    related longest;
} effect;

typedef struct argument {
    uint32_t name, type;
    char *value;
} argument;

typedef struct lookup {
    rocl_trace *trace;
    const rocl_capture *capture;
    rocl_event_ids ids;
    pthread_mutex_t lock; /* protects all below, in a pass */
    bool found, no_memory;
    rocl_any_record record;
    related event;
    argument *args;
    size_t arg_count, arg_cap;
    related call; /* that launched the event */
    bool has_call;
    related host; /* around which ranges are looked for */
    related_list around, before, after, work, values;
    rocl_idset launches; /* stack ids of the event and of the calls inside */
    rocl_map effect_index;
    effect *effects;
    size_t effect_count, effect_cap;
} lookup;

/* ---- events ---------------------------------------------------------------------------------- */

static related describe_related(const rocl_batch *b, size_t i)
{
    const rocl_event *e = rocl_batch_event(b, i);
    const rocl_work_place at = rocl_work_place_on_gpu(b->capture, b->kind, e);
    related r = {b->kind,    e->id,     e->start, e->end,   e->duration, e->stack_id, e->name,
                 e->process, e->thread, at.agent, at.queue, at.stream,   ROCL_NONE,   0};
    if (b->kind == ROCL_COUNTER) {
        r.counter = b->counters[i].counter;
        r.value = b->counters[i].value;
    } else if (rocl_kind_in(b->kind, ROCL_VALUE_KINDS)) {
        r.counter = b->samples[i].counter;
        r.value = b->samples[i].value;
    }
    return r;
}

static int compare_ids(const related *a, const related *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return (a->counter > b->counter) - (a->counter < b->counter);
}

static bool is_same(const related *a, const related *b)
{
    return a->kind == b->kind && a->id == b->id;
}

/* The earliest first; of those that begin together the longest. */
static int compare_starts(const void *a, const void *b)
{
    const related *x = a, *y = b;
    int by = rocl_number_order(x->start, y->start);
    by = by ? by : rocl_number_order(y->end, x->end);
    return by ? by : compare_ids(x, y);
}

/* The last first; of host calls, that is, by their end, and the outermost. */
static int compare_ends(const void *a, const void *b)
{
    const related *x = a, *y = b;
    int by = rocl_number_order(y->end, x->end);
    by = by ? by : rocl_number_order(x->start, y->start);
    return by ? by : compare_ids(x, y);
}

/* The innermost first: of a stack that is too deep its outer ranges are left. */
static int compare_inner(const void *a, const void *b)
{
    return compare_starts(b, a);
}

static void keep_related(related_list *l, const related *r)
{
    l->seen++;
    rocl_keep_first(l->all, &l->count, l->most, sizeof *r, r, l->compare);
}

/* ---- passes ---------------------------------------------------------------------------------- */

static rocl_status take_capture(void *self, const rocl_capture *c, bool *takes, rocl_error *err)
{
    const lookup *l = self;
    (void)err;
    *takes = c == l->capture;
    return ROCL_OK;
}

static rocl_status run_pass(lookup *l, uint32_t kinds,
                            rocl_status (*events)(void *, unsigned, rocl_batch *, rocl_error *),
                            rocl_error *err)
{
    const rocl_sink sink = {.self = l,
                            .kinds = kinds,
                            .fields = ROCL_ALL_FIELDS,
                            .takes = take_capture,
                            .events = events};
    rocl_status st = rocl_pipeline_run(l->trace, &sink, err);
    return st == ROCL_OK && l->no_memory ? rocl_fail_memory(err) : st;
}

/* Takes the event itself, and its arguments: the texts are the batch's. */
static rocl_status find_event(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    lookup *l = self;
    const size_t size = rocl_kind_size(b->kind);
    rocl_status st = ROCL_OK;
    (void)worker;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        if (rocl_event_at(b, size, i)->id != l->event.id)
            continue;
        pthread_mutex_lock(&l->lock);
        const related r = describe_related(b, i);
        if (!l->found) {
            uint32_t count;
            const rocl_arg *args = rocl_event_args(b, rocl_event_at(b, size, i), &count);
            l->found = true;
            l->event = r;
            memcpy(&l->record, rocl_event_at(b, size, i), size);
            for (uint32_t k = 0; k < count && st == ROCL_OK; k++) {
                char *value = strndup(args[k].value, args[k].value_len);
                if (!value || !ROCL_GROW(l->args, l->arg_cap, l->arg_count + 1)) {
                    free(value);
                    st = rocl_fail_memory(err);
                } else {
                    l->args[l->arg_count++] = (argument){args[k].name, args[k].type, value};
                }
            }
        }
        if (rocl_kind_in(r.kind, ROCL_VALUE_KINDS))
            keep_related(&l->values, &r); /* several counters of a dispatch may have one id */
        pthread_mutex_unlock(&l->lock);
    }
    return st;
}

/* Is it on the same track of a GPU, or a value of the same counter? */
static bool shares_track(const related *e, const related *r)
{
    if (e->process != r->process || e->agent != r->agent)
        return false;
    if (rocl_kind_in(e->kind, ROCL_BIT(ROCL_SAMPLE) | ROCL_BIT(ROCL_SPM)))
        return r->kind == e->kind && r->counter == e->counter;
    const uint32_t memory = ROCL_BIT(ROCL_ALLOC) | ROCL_BIT(ROCL_SCRATCH) | ROCL_BIT(ROCL_GRAPH);
    if (rocl_kind_in(e->kind, memory) || rocl_kind_in(r->kind, memory) ||
        rocl_kind_in(r->kind, ROCL_VALUE_KINDS))
        return e->kind == r->kind;
    return e->stream != ROCL_NONE ? r->stream == e->stream
                                  : r->stream == ROCL_NONE && r->queue == e->queue;
}

static void add_neighbour(lookup *l, const related *r)
{
    const related *e = &l->event;
    const bool host = rocl_kind_in(e->kind, ROCL_HOST_KINDS);
    if (is_same(e, r))
        return;
    if (host ? r->end <= e->start : compare_starts(r, e) < 0)
        keep_related(&l->before, r);
    else if (!host || r->start >= e->end)
        keep_related(&l->after, r);
}

/* Several calls may have the stack id of the work: the first launched it, see timeline/links.h. */
static void add_call(related *call, bool *has, const related *r)
{
    const int rank = r->kind != ROCL_REGION, best = call->kind != ROCL_REGION;
    if (!*has || rank < best ||
        (rank == best && (r->start < call->start || (r->start == call->start && r->id < call->id))))
        *call = *r;
    *has = true;
}

/* Relates GPU work to its call, other work of that call, neighbours, counters. */
static rocl_status relate_work(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    lookup *l = self;
    const rocl_dispatch *own = l->event.kind == ROCL_DISPATCH ? &l->record.dispatch : NULL;
    (void)worker, (void)err;
    for (size_t i = 0; i < b->count; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        const bool caused =
            l->event.stack_id && e->stack_id == l->event.stack_id && e->process == l->event.process;
        const bool host = rocl_kind_in(b->kind, ROCL_HOST_KINDS);
        if (host && !caused)
            continue;
        const related r = describe_related(b, i);
        const bool near = !host && shares_track(&l->event, &r);
        const rocl_dispatch *d = b->kind == ROCL_COUNTER ? &b->counters[i].d : NULL;
        const bool counts = own && d && d->e.process == own->e.process && d->agent == own->agent &&
                            d->kernel == own->kernel && d->dispatch_id == own->dispatch_id &&
                            (d->e.start == own->e.start || !d->e.start);
        if (!caused && !near && !counts)
            continue;
        pthread_mutex_lock(&l->lock);
        if (host)
            add_call(&l->call, &l->has_call, &r);
        else if (caused && rocl_kind_in(b->kind, ROCL_WORK_KINDS) && !is_same(&r, &l->event))
            keep_related(&l->work, &r);
        if (counts)
            keep_related(&l->values, &r);
        if (near)
            add_neighbour(l, &r);
        pthread_mutex_unlock(&l->lock);
    }
    return ROCL_OK;
}

/* Host ranges that hold l->host, and of a host event those before, after and inside as well. */
static rocl_status relate_host(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    lookup *l = self;
    const related *h = &l->host;
    const bool own = is_same(h, &l->event);
    (void)worker, (void)err;
    for (size_t i = 0; i < b->count; i++) {
        const rocl_event *e = &b->regions[i].e;
        if ((e->process != h->process || e->thread != h->thread) &&
            (!own || !e->stack_id || e->stack_id != h->stack_id || e->process != h->process))
            continue;
        const related r = describe_related(b, i);
        if (is_same(&r, h))
            continue;
        pthread_mutex_lock(&l->lock);
        if (own && b->kind != ROCL_MARKER && h->stack_id && r.stack_id == h->stack_id)
            add_call(&l->call, &l->has_call, &r);
        const bool here = r.thread == h->thread;
        if (here && r.start <= h->start && r.end >= h->end && b->kind != ROCL_INSTANT &&
            compare_starts(&r, h) < 0)
            keep_related(&l->around, &r);
        else if (here && own && (r.start < h->start || r.end > h->end))
            add_neighbour(l, &r);
        else if (here && own && r.stack_id)
            l->no_memory |= !rocl_idset_add(&l->launches, r.stack_id);
        pthread_mutex_unlock(&l->lock);
    }
    return ROCL_OK;
}

static void add_effect(lookup *l, const related *r)
{
    const uint64_t key = (uint64_t)r->kind << 32 | r->name;
    uint32_t at = rocl_map_get(&l->effect_index, key, ROCL_NONE);
    if (at == ROCL_NONE) {
        at = (uint32_t)l->effect_count;
        if (!ROCL_GROW(l->effects, l->effect_cap, l->effect_count + 1) ||
            !rocl_map_put(&l->effect_index, key, at)) {
            l->no_memory = true;
            return;
        }
        l->effects[l->effect_count++] = (effect){.kind = r->kind, .name = r->name, .longest = *r};
    }
    effect *e = &l->effects[at];
    e->count++;
    e->total += r->duration;
    if (r->duration > e->longest.duration ||
        (r->duration == e->longest.duration && compare_starts(r, &e->longest) < 0))
        e->longest = *r;
}

/* What a host event, or the calls inside it, launched. */
static rocl_status relate_launched(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    lookup *l = self;
    (void)worker, (void)err;
    for (size_t i = 0; i < b->count; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        if (e->process != l->event.process || !e->stack_id ||
            !rocl_idset_has(&l->launches, e->stack_id))
            continue;
        const related r = describe_related(b, i);
        pthread_mutex_lock(&l->lock);
        if (b->kind == ROCL_COUNTER) {
            keep_related(&l->values, &r);
        } else {
            keep_related(&l->work, &r);
            add_effect(l, &r);
        }
        pthread_mutex_unlock(&l->lock);
    }
    return ROCL_OK;
}

static rocl_status find_related(lookup *l, rocl_error *err)
{
    const uint32_t host = ROCL_HOST_KINDS, work = ROCL_WORK_KINDS;
    rocl_status st;
    if (rocl_kind_in(l->event.kind, host)) {
        l->host = l->event;
        st = run_pass(l, host, relate_host, err);
        if (st != ROCL_OK)
            return st;
        if (l->event.stack_id && l->event.kind != ROCL_MARKER) {
            add_call(&l->call, &l->has_call, &l->event);
            if (is_same(&l->call, &l->event) && !rocl_idset_add(&l->launches, l->event.stack_id))
                return rocl_fail_memory(err);
        }
        l->has_call = false;
        return run_pass(l, work | ROCL_BIT(ROCL_COUNTER), relate_launched, err);
    }
    const uint32_t calls = ROCL_BIT(ROCL_REGION) | ROCL_BIT(ROCL_INSTANT);
    const uint32_t values =
        ROCL_BIT(ROCL_COUNTER) |
        (rocl_kind_in(l->event.kind, ROCL_VALUE_KINDS) ? ROCL_BIT(l->event.kind) : 0);
    st = run_pass(l, calls | work | values, relate_work, err);
    if (st != ROCL_OK || !l->has_call)
        return st;
    l->host = l->call;
    return run_pass(l, host, relate_host, err);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Every field that an event of some kind has; -1, NULL and ROCL_NONE: this one has not. */
typedef struct event_row {
    const char *id, *kind;
    uint32_t name, function, category;
    int64_t start, end, duration, pid, rank, tid;
    uint32_t thread, agent, queue, stream; /* texts */
    const char *grid, *workgroup;
    uint32_t kernel, from, to, counter; /* texts */
    int64_t dispatch_id, scratch, lds, arch_vgpr, accum_vgpr, sgpr;
    int64_t bytes, live_bytes;
    double rate, value;
    const char *operation, *address;
    int64_t graph, graph_node, stack, parent_stack, correlation;
    const char *host, *file;
    uint32_t guid;
} event_row;

#define TEXT(field)         ROCL_ALWAYS, ROCL_CELL_BY(rocl_field_text_or_none, event_row, field)
#define LABEL(field)        ROCL_ALWAYS, ROCL_CELL_BY(label_or_none, event_row, field)
#define KNOWN(field)        ROCL_ALWAYS, ROCL_CELL_BY(rocl_field_known, event_row, field)
#define CELL(field)         CELL_OF(event_row, field)
#define CELL_OF(row, field) ROCL_ALWAYS, ROCL_CELL(row, field)

/* Neither ROCL_NONE nor "" is a text. */
static rocl_datum label_or_none(const rocl_report_rows *r, const void *field)
{
    const uint32_t text = *(const uint32_t *)field;
    return text != ROCL_NONE && *rocl_str(r->c->trace, text) ? rocl_field_text(r, field)
                                                             : (rocl_datum){0};
}

static const rocl_column event_columns[] = {
    {"id", "Id", ROCL_UNIT_TEXT, CELL(id)},
    {"kind", "Kind", ROCL_UNIT_TEXT, CELL(kind)},
    {"name", "Name", ROCL_UNIT_TEXT, TEXT(name)},
    {"function", "Function", ROCL_UNIT_TEXT, LABEL(function)},
    {"category", "Category", ROCL_UNIT_TEXT, LABEL(category)},
    {"start_ns", "Start", ROCL_UNIT_COUNT, CELL(start)},
    {"end_ns", "End", ROCL_UNIT_COUNT, CELL(end)},
    {"duration_ns", "Duration", ROCL_UNIT_NS, KNOWN(duration)},
    {"host", "Host", ROCL_UNIT_TEXT, CELL(host)},
    {"pid", "Process", ROCL_UNIT_COUNT, KNOWN(pid)},
    {"rank", "Rank", ROCL_UNIT_COUNT, KNOWN(rank)},
    {"tid", "Thread", ROCL_UNIT_COUNT, KNOWN(tid)},
    {"thread", "Thread name", ROCL_UNIT_TEXT, LABEL(thread)},
    {"agent", "Agent", ROCL_UNIT_TEXT, LABEL(agent)},
    {"queue", "Queue", ROCL_UNIT_TEXT, LABEL(queue)},
    {"stream", "Stream", ROCL_UNIT_TEXT, LABEL(stream)},
    {"grid", "Grid", ROCL_UNIT_TEXT, CELL(grid)},
    {"workgroup", "Workgroup", ROCL_UNIT_TEXT, CELL(workgroup)},
    {"kernel", "Symbol", ROCL_UNIT_TEXT, LABEL(kernel)},
    {"dispatch_id", "Dispatch id", ROCL_UNIT_COUNT, KNOWN(dispatch_id)},
    {"scratch_bytes", "Scratch", ROCL_UNIT_BYTES, KNOWN(scratch)},
    {"lds_bytes", "LDS", ROCL_UNIT_BYTES, KNOWN(lds)},
    {"arch_vgpr", "VGPRs", ROCL_UNIT_COUNT, KNOWN(arch_vgpr)},
    {"accum_vgpr", "Accum. VGPRs", ROCL_UNIT_COUNT, KNOWN(accum_vgpr)},
    {"sgpr", "SGPRs", ROCL_UNIT_COUNT, KNOWN(sgpr)},
    {"src", "From", ROCL_UNIT_TEXT, LABEL(from)},
    {"dst", "To", ROCL_UNIT_TEXT, LABEL(to)},
    {"bytes", "Size", ROCL_UNIT_BYTES, KNOWN(bytes)},
    {"bytes_per_s", "Rate", ROCL_UNIT_RATE, CELL(rate)},
    {"operation", "Operation", ROCL_UNIT_TEXT, CELL(operation)},
    {"address", "Address", ROCL_UNIT_TEXT, CELL(address)},
    {"live_bytes", "Block", ROCL_UNIT_BYTES, KNOWN(live_bytes)},
    {"counter", "Counter", ROCL_UNIT_TEXT, LABEL(counter)},
    {"value", "Value", ROCL_UNIT_NUMBER, CELL(value)},
    {"graph_exec_id", "Graph", ROCL_UNIT_COUNT, KNOWN(graph)},
    {"graph_node_id", "Graph node", ROCL_UNIT_COUNT, KNOWN(graph_node)},
    {"stack_id", "Stack id", ROCL_UNIT_COUNT, KNOWN(stack)},
    {"parent_stack_id", "Parent stack id", ROCL_UNIT_COUNT, KNOWN(parent_stack)},
    {"correlation_id", "Correlation id", ROCL_UNIT_COUNT, KNOWN(correlation)},
    {"guid", "GUID", ROCL_UNIT_TEXT, LABEL(guid)},
    {"file", "File", ROCL_UNIT_TEXT, CELL(file)},
};

typedef struct argument_row {
    uint32_t name, type; /* texts */
    const char *value;
} argument_row;

static const rocl_column argument_columns[] = {
    {"name", "Argument", ROCL_UNIT_TEXT, CELL_OF(argument_row, name)},
    {"type", "Type", ROCL_UNIT_TEXT, CELL_OF(argument_row, type)},
    {"value", "Value", ROCL_UNIT_TEXT, CELL_OF(argument_row, value)},
};

typedef struct chain_row {
    const char *relation, *id, *kind;
    uint32_t name; /* text */
    const char *track;
    int64_t start, duration;
    int64_t after; /* start of the call, or of the first row */
    double value;
} chain_row;

static const rocl_column chain_columns[] = {
    {"relation", "Relation", ROCL_UNIT_TEXT, CELL_OF(chain_row, relation)},
    {"id", "Id", ROCL_UNIT_TEXT, CELL_OF(chain_row, id)},
    {"kind", "Kind", ROCL_UNIT_TEXT, CELL_OF(chain_row, kind)},
    {"name", "Name", ROCL_UNIT_TEXT, ROCL_OTHERS,
     ROCL_CELL_BY(rocl_field_text_or_none, chain_row, name)},
    {"track", "Track", ROCL_UNIT_TEXT, CELL_OF(chain_row, track)},
    {"start_ns", "Start", ROCL_UNIT_COUNT, CELL_OF(chain_row, start)},
    {"duration_ns", "Duration", ROCL_UNIT_NS, CELL_OF(chain_row, duration)},
    {"after_ns", "After", ROCL_UNIT_NS, CELL_OF(chain_row, after)},
    {"value", "Value", ROCL_UNIT_NUMBER, CELL_OF(chain_row, value)},
};

typedef struct effect_row {
    const char *kind;
    uint32_t name; /* text */
    uint64_t count;
    int64_t total;
    double percent;
    int64_t longest;
    const char *id;
} effect_row;

#define SUM(field) ROCL_SUM, ROCL_CELL(effect_row, field)
static const rocl_column effect_columns[] = {
    {"kind", "Kind", ROCL_UNIT_TEXT, CELL_OF(effect_row, kind)},
    {"name", "Name", ROCL_UNIT_TEXT, ROCL_OTHERS,
     ROCL_CELL_BY(rocl_field_text_or_none, effect_row, name)},
    {"count", "Count", ROCL_UNIT_COUNT, SUM(count)},
    {"total_ns", "Total", ROCL_UNIT_NS, SUM(total)},
    {"percent", "Of effects %", ROCL_UNIT_PERCENT, SUM(percent)},
    {"longest_ns", "Longest", ROCL_UNIT_NS, CELL_OF(effect_row, longest)},
    {"longest_id", "Its id", ROCL_UNIT_TEXT, CELL_OF(effect_row, id)},
};

typedef struct neighbour_row {
    int64_t position;
    const char *id, *kind;
    uint32_t name; /* text */
    int64_t start, duration, gap;
} neighbour_row;

static const rocl_column neighbour_columns[] = {
    {"position", "Position", ROCL_UNIT_COUNT, CELL_OF(neighbour_row, position)},
    {"id", "Id", ROCL_UNIT_TEXT, CELL_OF(neighbour_row, id)},
    {"kind", "Kind", ROCL_UNIT_TEXT, CELL_OF(neighbour_row, kind)},
    {"name", "Name", ROCL_UNIT_TEXT, ROCL_OTHERS,
     ROCL_CELL_BY(rocl_field_text_or_none, neighbour_row, name)},
    {"start_ns", "Start", ROCL_UNIT_COUNT, CELL_OF(neighbour_row, start)},
    {"duration_ns", "Duration", ROCL_UNIT_NS, CELL_OF(neighbour_row, duration)},
    {"gap_ns", "Gap", ROCL_UNIT_NS, CELL_OF(neighbour_row, gap)},
};

static const rocl_table_tab tab = {"event", "Event"};
enum { EVENT, ARGUMENTS, CHAIN, EFFECTS, NEIGHBOUR };
static const rocl_table_def defs[] = {
    [EVENT] = {&tab, "event", "Event", ROCL_COLUMNS(event_columns)},
    [ARGUMENTS] = {&tab, "arguments", "Arguments", ROCL_COLUMNS(argument_columns)},
    [CHAIN] = {&tab, "chain", "Causes and effects", ROCL_COLUMNS(chain_columns)},
    [EFFECTS] = {&tab, "effects", "GPU work that it launched", ROCL_COLUMNS(effect_columns)},
    [NEIGHBOUR] = {&tab, "neighbours", "Neighbours on its track", ROCL_COLUMNS(neighbour_columns)},
};

const rocl_table_def *const rocl_show_tables[] = {&defs[EVENT],   &defs[ARGUMENTS], &defs[CHAIN],
                                                  &defs[EFFECTS], &defs[NEIGHBOUR], NULL};
const rocl_table_def *const rocl_correlate_tables[] = {&defs[CHAIN], &defs[EFFECTS], NULL};

/* ---- tables ---------------------------------------------------------------------------------- */

enum { ID_SIZE = 192, TRACK_SIZE = 192 };

static const char *id_text(const lookup *l, const related *r, char *to)
{
    rocl_buf b = {.data = (uint8_t *)to, .cap = ID_SIZE - 1, .fixed = true};
    rocl_event_id_put(&b, &l->ids, l->capture, r->kind, r->id);
    to[b.failed ? b.cap - 1 : b.len] = '\0'; /* a very long one is cut */
    return to;
}

/* The name of a value is that of its counter. */
static uint32_t name_text(const lookup *l, const related *r)
{
    const rocl_capture *c = l->capture;
    return rocl_kind_in(r->kind, ROCL_VALUE_KINDS) && r->counter < c->counter_count
               ? c->counters[r->counter].name
               : r->name;
}

static const char *track_text(const lookup *l, const related *r, char *to)
{
    const rocl_capture *c = l->capture;
    const rocl_trace *t = l->trace;
    *to = '\0';
    if (rocl_kind_in(r->kind, ROCL_HOST_KINDS)) {
        if (r->thread >= c->thread_count)
            return NULL;
        const rocl_thread *thread = &c->threads[r->thread];
        const char *name = rocl_str(t, thread->name);
        char number[32];
        snprintf(number, sizeof number, "%" PRId64, thread->tid);
        if (strstr(name, number)) /* many names have it */
            snprintf(to, TRACK_SIZE, "%s", name);
        else
            snprintf(to, TRACK_SIZE, "thread %s%s%s", number, *name ? ", " : "", name);
        return to;
    }
    const char *agent = r->agent < c->agent_count ? rocl_str(t, c->agents[r->agent].device) : "";
    const char *lane = r->stream < c->stream_count ? rocl_str(t, c->streams[r->stream].label)
                       : r->queue < c->queue_count ? rocl_str(t, c->queues[r->queue].label)
                                                   : "";
    snprintf(to, TRACK_SIZE, "%s%s%s", agent, *agent && *lane ? ", " : "", lane);
    return *to ? to : NULL;
}

/* For a number that is 0 if unknown. */
static int64_t positive_or_unknown(uint64_t n)
{
    return n && n <= INT64_MAX ? (int64_t)n : -1;
}

/* The row of the event as far as it does not depend on its kind. id: space for its text. */
static event_row make_event_row(const lookup *l, char id[ID_SIZE])
{
    const rocl_capture *c = l->capture;
    const related *e = &l->event;
    const rocl_event *event = &l->record.e;
    const bool value = rocl_kind_in(e->kind, ROCL_VALUE_KINDS);
    const char *host = rocl_machine_name(l->trace, rocl_machine_of(c, e->process));
    event_row row = {
        .id = id_text(l, e, id),
        .kind = rocl_kind_name(e->kind),
        .name = name_text(l, e),
        .function = ROCL_NONE,
        .category = event->category,
        .start = e->start,
        .end = e->end,
        .duration = rocl_kind_in(e->kind, ROCL_POINT_KINDS) ? -1 : e->duration,
        .pid = -1,
        .rank = -1,
        .tid = e->thread < c->thread_count ? c->threads[e->thread].tid : -1,
        .thread = e->thread < c->thread_count ? c->threads[e->thread].name : ROCL_NONE,
        .agent = rocl_device_of(c, e->agent),
        .queue = e->queue < c->queue_count ? c->queues[e->queue].label : ROCL_NONE,
        .stream = e->stream < c->stream_count ? c->streams[e->stream].label : ROCL_NONE,
        .kernel = ROCL_NONE,
        .from = ROCL_NONE,
        .to = ROCL_NONE,
        .counter =
            value && e->counter < c->counter_count ? c->counters[e->counter].name : ROCL_NONE,
        .dispatch_id = -1,
        .scratch = -1,
        .lds = -1,
        .arch_vgpr = -1,
        .accum_vgpr = -1,
        .sgpr = -1,
        .bytes = -1,
        .live_bytes = -1,
        .rate = NAN,
        .value = value ? e->value : NAN,
        .graph = -1,
        .graph_node = -1,
        .stack = positive_or_unknown(event->stack_id),
        .parent_stack = positive_or_unknown(event->parent_stack_id),
        .correlation = event->correlation_id ? event->correlation_id : -1,
        .host = strcmp(host, "-") != 0 ? host : NULL,
        .file = c->path,
        .guid = c->guid,
    };
    if (e->process < c->process_count) {
        row.pid = positive_or_unknown((uint64_t)c->processes[e->process].pid);
        row.rank = c->processes[e->process].rank;
    }
    return row;
}

static void put_event(const lookup *l, const rocl_report_rows *r)
{
    static const char *const operations[] = {[ROCL_OP_ALLOC] = "allocate",
                                             [ROCL_OP_FREE] = "free",
                                             [ROCL_OP_REALLOC] = "reallocate",
                                             [ROCL_OP_RECLAIM] = "reclaim"};
    const rocl_capture *c = l->capture;
    const related *e = &l->event;
    char id[ID_SIZE], grid[64], workgroup[64], address[32];
    event_row row = make_event_row(l, id);
    switch (e->kind) {
    case ROCL_REGION:
    case ROCL_MARKER:
    case ROCL_INSTANT:
        row.function = l->record.region.function;
        break;
    case ROCL_DISPATCH:
    case ROCL_COUNTER: {
        const rocl_dispatch *d = &l->record.dispatch;
        row.dispatch_id = positive_or_unknown(d->dispatch_id);
        row.scratch = d->private_segment;
        row.lds = d->group_segment;
        row.graph = positive_or_unknown(d->graph_exec_id);
        row.graph_node = positive_or_unknown(d->graph_node_id);
        snprintf(grid, sizeof grid, "%ux%ux%u", d->grid[0], d->grid[1], d->grid[2]);
        snprintf(workgroup, sizeof workgroup, "%ux%ux%u", d->workgroup[0], d->workgroup[1],
                 d->workgroup[2]);
        row.grid = d->grid[0] ? grid : NULL;
        row.workgroup = d->workgroup[0] ? workgroup : NULL;
        if (d->kernel >= c->kernel_count)
            break;
        const rocl_kernel *k = &c->kernels[d->kernel];
        row.kernel = k->mangled;
        if (k->arch_vgpr | k->accum_vgpr | k->sgpr) { /* else they are not known */
            row.arch_vgpr = k->arch_vgpr;
            row.accum_vgpr = k->accum_vgpr;
            row.sgpr = k->sgpr;
        }
        break;
    }
    case ROCL_COPY:
        row.from = rocl_device_of(c, l->record.copy.src);
        row.to = rocl_device_of(c, l->record.copy.dst);
        row.bytes = positive_or_unknown(l->record.copy.size);
        if (e->duration > 0 && l->record.copy.size)
            row.rate = (double)l->record.copy.size * 1e9 / (double)e->duration;
        break;
    case ROCL_ALLOC:
    case ROCL_SCRATCH:
        row.bytes = positive_or_unknown(l->record.alloc.size);
        row.live_bytes = positive_or_unknown(l->record.alloc.block);
        row.operation = operations[l->record.alloc.op];
        snprintf(address, sizeof address, "0x%" PRIx64, l->record.alloc.address);
        row.address = l->record.alloc.address ? address : NULL;
        break;
    case ROCL_GRAPH:
        row.graph = positive_or_unknown(l->record.hip.graph_exec_id);
        break;
    default:
        break;
    }
    rocl_add_row(r, &row);
    if (r->table)
        r->table->fields = true;
}

/* from: times are after this one. */
static void put_link(const lookup *l, const rocl_report_rows *rows, int64_t from,
                     const char *relation, const related *e)
{
    char id[ID_SIZE], track[TRACK_SIZE];
    const bool value = rocl_kind_in(e->kind, ROCL_VALUE_KINDS);
    rocl_add_row(rows, &(chain_row){relation, id_text(l, e, id), rocl_kind_name(e->kind),
                                    name_text(l, e), track_text(l, e, track), e->start, e->duration,
                                    e->start - from, value ? e->value : NAN});
}

/* From the outermost range on the host to the counters: in this order one led to the other. */
static void put_chain(lookup *l, const rocl_report_rows *r)
{
    const bool host = rocl_kind_in(l->event.kind, ROCL_HOST_KINDS);
    const bool value = rocl_kind_in(l->event.kind, ROCL_VALUE_KINDS);
    const int64_t from = l->has_call ? l->call.start : l->event.start;
    for (unsigned i = l->around.count; i-- > 0;)
        put_link(l, r, from, "around", &l->around.all[i]);
    if (l->has_call)
        put_link(l, r, from, "call", &l->call);
    if (!value)
        put_link(l, r, from, "this", &l->event);
    for (unsigned i = 0; i < l->work.count; i++)
        put_link(l, r, from, host || value ? "work" : "sibling", &l->work.all[i]);
    for (unsigned i = 0; i < l->values.count; i++)
        put_link(l, r, from, value && is_same(&l->event, &l->values.all[i]) ? "this" : "counter",
                 &l->values.all[i]);
    if (l->work.seen > l->work.count)
        rocl_set_note(r, "the first %u of %" PRIu64 " pieces of GPU work", l->work.count,
                      l->work.seen);
    else if (!host && !l->has_call)
        rocl_set_note(r, l->event.stack_id ? "the call that launched it is not in the trace"
                                           : "the trace does not say which call launched it");
    else if (host && !l->work.count)
        rocl_set_note(r, "it launched no GPU work");
}

static int compare_effects(const void *a, const void *b, void *lookup_)
{
    const lookup *l = lookup_;
    const effect *x = a, *y = b;
    int by = rocl_number_order(y->total, x->total);
    by = by ? by : rocl_number_order((int64_t)x->kind, (int64_t)y->kind);
    return by ? by : rocl_compare_texts(l->trace, x->name, y->name);
}

/* Those that lie in another one of the list are not on the event's level. */
static unsigned drop_nested(related *all, unsigned count)
{
    unsigned n = 0;
    for (unsigned i = 0; i < count; i++) {
        bool inside = false;
        for (unsigned k = 0; k < count && !inside; k++)
            inside = k != i && all[k].start <= all[i].start && all[k].end >= all[i].end &&
                     compare_starts(&all[k], &all[i]) < 0;
        if (!inside)
            all[n++] = all[i];
    }
    return n;
}

static void put_neighbours(lookup *l, const rocl_report_rows *r)
{
    const related *e = &l->event;
    char id[ID_SIZE], track[TRACK_SIZE];
    if (rocl_kind_in(e->kind, ROCL_HOST_KINDS)) {
        l->before.count = drop_nested(l->before.all, l->before.count);
        l->after.count = drop_nested(l->after.all, l->after.count);
    }
    const int before = l->before.count < NEIGHBOURS ? (int)l->before.count : NEIGHBOURS;
    const int after = l->after.count < NEIGHBOURS ? (int)l->after.count : NEIGHBOURS;
    for (int i = -before; i <= after; i++) {
        if (!i) /* the event itself */
            continue;
        const related *n = i < 0 ? &l->before.all[-i - 1] : &l->after.all[i - 1];
        rocl_add_row(r, &(neighbour_row){i, id_text(l, n, id), rocl_kind_name(n->kind),
                                         name_text(l, n), n->start, n->duration,
                                         i < 0 ? e->start - n->end : n->start - e->end});
    }
    if (track_text(l, e, track))
        rocl_set_note(r, "%s", track);
}

static rocl_status put_tables(lookup *l, bool whole, rocl_tables *out, rocl_error *err)
{
    const rocl_stats_options options = {0};
    const rocl_collector c = {.trace = l->trace, .options = &options};
    rocl_report_rows r;
    if (whole) {
        r = rocl_begin_table(&c, out, &defs[EVENT], 0);
        put_event(l, &r);
    }
    if (whole && l->arg_count) {
        r = rocl_begin_table(&c, out, &defs[ARGUMENTS], 0);
        for (size_t i = 0; i < l->arg_count; i++)
            rocl_add_row(&r, &(argument_row){l->args[i].name, l->args[i].type, l->args[i].value});
    }
    r = rocl_begin_table(&c, out, &defs[CHAIN], 0);
    put_chain(l, &r);
    if (l->effect_count > 1 || (!whole && l->effect_count)) {
        int64_t all = 0;
        char id[ID_SIZE];
        r = rocl_begin_table(&c, out, &defs[EFFECTS], 0);
        qsort_r(l->effects, l->effect_count, sizeof *l->effects, compare_effects, l);
        for (size_t i = 0; i < l->effect_count; i++)
            all += l->effects[i].total;
        for (size_t i = 0; i < l->effect_count; i++) {
            const effect *e = &l->effects[i];
            rocl_add_row(&r, &(effect_row){rocl_kind_name(e->kind), e->name, e->count, e->total,
                                           rocl_percent(e->total, all), e->longest.duration,
                                           id_text(l, &e->longest, id)});
        }
    }
    if (whole) {
        r = rocl_begin_table(&c, out, &defs[NEIGHBOUR], 0);
        put_neighbours(l, &r);
    }
    return rocl_check_complete(out, l->trace, err);
}

/* ---- begin and end --------------------------------------------------------------------------- */

static bool open_list(related_list *l, unsigned most, int (*compare)(const void *, const void *))
{
    *l = (related_list){.all = calloc(most, sizeof *l->all), .most = most, .compare = compare};
    return l->all != NULL;
}

static rocl_status look_up_event(rocl_trace *t, const char *id, bool whole, rocl_tables **tables,
                                 rocl_error *err)
{
    lookup l = {.trace = t};
    const bool args = t->opt.args;
    rocl_tables *out = rocl_tables_new();
    rocl_status st = rocl_event_ids_open(&l.ids, t, err);
    pthread_mutex_init(&l.lock, NULL);
    if (st == ROCL_OK)
        st = rocl_event_id_read(&l.ids, id, &l.capture, &l.event.kind, &l.event.id, err);
    const bool host = rocl_kind_in(l.event.kind, ROCL_HOST_KINDS);
    if (st == ROCL_OK &&
        !(open_list(&l.around, AROUND, compare_inner) &&
          open_list(&l.before, NEAR, host ? compare_ends : compare_inner) &&
          open_list(&l.after, NEAR, compare_starts) && open_list(&l.work, WORK, compare_starts) &&
          open_list(&l.values, VALUES, compare_starts)))
        st = rocl_fail_memory(err);
    if (st == ROCL_OK && !out)
        st = rocl_fail_memory(err);
    if (st == ROCL_OK) {
        t->opt.args = whole;
        st = run_pass(&l, ROCL_BIT(l.event.kind), find_event, err);
        t->opt.args = false;
    }
    if (st == ROCL_OK && !l.found)
        st = rocl_fail(err, ROCL_USAGE,
                       "\"%s\": the trace has no such event%s; an id is of the file that it was "
                       "taken from, not of its conversions",
                       id, t->filter ? ", or the filters leave it out" : "");
    if (st == ROCL_OK)
        st = find_related(&l, err);
    t->opt.args = args;
    if (st == ROCL_OK)
        st = put_tables(&l, whole, out, err);
    related_list *const lists[] = {&l.around, &l.before, &l.after, &l.work, &l.values};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        free(lists[i]->all);
    for (size_t i = 0; i < l.arg_count; i++)
        free(l.args[i].value);
    free(l.args);
    rocl_idset_free(&l.launches);
    rocl_map_free(&l.effect_index);
    free(l.effects);
    rocl_event_ids_free(&l.ids);
    pthread_mutex_destroy(&l.lock);
    if (st != ROCL_OK) {
        rocl_tables_free(out);
        return st;
    }
    *tables = out;
    return rocl_trace_outcome_utf8(t);
}

rocl_status rocl_show_event(rocl_trace *t, const char *id, rocl_tables **tables, rocl_error *err)
{
    return look_up_event(t, id, true, tables, err);
}

rocl_status rocl_correlate_event(rocl_trace *t, const char *id, rocl_tables **tables,
                                 rocl_error *err)
{
    return look_up_event(t, id, false, tables, err);
}
