/* A record in the two passes, from the parser to what is noted or emitted: see records.h. */
#include "source/records/records.h"

#include <math.h>
#include <stdlib.h>

#include "base/json.h"
#include "source/records/run.h"

/* ---- records --------------------------------------------------------------------------------- */

void rocl_record_begin(rocl_source_record *r, rocl_kind kind, uint64_t where)
{
    size_t size = sizeof *r;
    __asm__("" : "+r"(size)); /* hides the size from the compiler, whose inlined clearing is slow */
    memset(r, 0, size);
    r->kind = kind;
    r->where = where;
    r->process = r->thread = r->agent = r->queue = r->stream = r->kernel = ROCL_NO_KEY;
    r->src = r->dst = r->source_queue = ROCL_NO_KEY;
    r->link = r->parent = r->row = ROCL_NO_KEY;
    r->agent_type = r->src_type = r->dst_type = ROCL_AGENT_GPU;
}

bool rocl_records_want(const rocl_records *to, rocl_kind kind)
{
    return to->indexing || to->in->run->kinds & ROCL_BIT(kind);
}

bool rocl_records_want_args(const rocl_records *to)
{
    return !to->indexing && to->in->run->args;
}

bool rocl_records_want_only_handles(const rocl_records *to)
{
    return to->in->run->only_handles;
}

bool rocl_records_want_instances(const rocl_records *to)
{
    return !to->indexing && to->out.to->fields & ROCL_FIELD_INSTANCES;
}

uint32_t rocl_records_text(rocl_records *to, rocl_view s)
{
    return s.n ? rtg_intern_name(to->names, s) : 0;
}

void *rocl_records_state(const rocl_records *to)
{
    return to->state;
}

void *rocl_records_own(rocl_records *to, size_t size)
{
    if (!to->state)
        to->state = calloc(1, size);
    return to->state;
}

bool rocl_records_first_pass(const rocl_records *to)
{
    return to->indexing;
}

unsigned rocl_records_worker(const rocl_records *to)
{
    return to->number;
}

rocl_records_input *rocl_records_input_of(const rocl_records *to)
{
    return to->in;
}

const rocl_piece *rocl_records_piece(const rocl_records *to)
{
    return to->piece;
}

bool rocl_records_want_packets(const rocl_records *to)
{
    return !to->indexing && to->out.to->fields & ROCL_FIELD_PACKET;
}

void rocl_record_arg(rocl_records *to, rocl_view name, rocl_view value)
{
    rocl_record_typed_arg(to, (rocl_view){0}, name, value);
}

void rocl_record_typed_arg(rocl_records *to, rocl_view type, rocl_view name, rocl_view value)
{
    rocl_batcher *b = &to->out;
    char *copy = rocl_arena_dup(&b->arg_text, value.p, value.n);
    if (!copy || !ROCL_GROW(b->args, b->arg_cap, b->arg_count + 1)) {
        to->failed = true;
        return;
    }
    b->args[b->arg_count++] =
        (rocl_arg){rocl_records_text(to, type), rocl_records_text(to, name), copy, value.n};
    to->pending_args++;
}

rocl_status rocl_record_fault_at(rocl_records *to, uint64_t line, uint64_t where, rocl_fault fault,
                                 const char *why)
{
    if (to->indexing)
        rocl_bad_record_add(to, (uint64_t)(to->piece - to->in->pieces), line, where, fault, why);
    return ROCL_OK;
}

rocl_status rocl_record_fault(rocl_records *to, uint64_t where, rocl_fault fault, const char *why)
{
    return rocl_record_fault_at(to, to->line, where, fault, why);
}

uint64_t rocl_records_line_number(const rocl_records *to)
{
    return to->line;
}

const char *rocl_time_fault(rocl_view text, double ns)
{
    double v;
    if (!text.n)
        return "a time is missing";
    if (!rocl_json_double(text, &v) || isnan(v))
        return "a time is not a number";
    return v < 0              ? "a negative time"
           : v * ns >= 0x1p63 ? "a time is too large"
                              : "a time is not a number";
}

/* What is wrong with the times of a record; NULL: nothing. */
static const char *check_times(const rocl_source_record *r, rocl_fault *fault)
{
    const rocl_event *e = &r->as.e;
    *fault = ROCL_FAULT_BAD_TIME;
    if (e->start < 0 || e->end < 0)
        return "a negative time";
    if (r->half != ROCL_WHOLE)
        return NULL;
    *fault = ROCL_FAULT_NO_END;
    if (!e->end && e->start)
        return "the end is 0";
    *fault = ROCL_FAULT_END_BEFORE_START;
    return e->end < e->start ? "it ends before it starts" : NULL;
}

/* ---- records without views ------------------------------------------------------------------- */

static void make_plain(rocl_records *w, const rocl_source_record *r, rocl_plain_record *to)
{
    /* The first pass needs only names that are keys. */
    const bool names =
        !w->indexing || w->keeps || r->kind == ROCL_DISPATCH || r->kind == ROCL_COUNTER;
    to->process = r->process;
    to->thread = r->thread;
    to->agent = r->agent;
    to->queue = r->queue;
    to->stream = r->stream;
    to->kernel = r->kernel;
    to->src = r->src;
    to->dst = r->dst;
    to->source_queue = r->source_queue;
    to->pid = r->pid;
    to->name = names ? rocl_records_text(w, r->name) : 0;
    to->function = names ? rocl_records_text(w, r->function) : 0;
    to->counter = rocl_records_text(w, r->counter);
    to->label = r->label;
    to->kind = (uint8_t)r->kind;
    to->half = (uint8_t)r->half;
    to->once = r->once;
    to->agent_type = (uint8_t)r->agent_type;
    to->src_type = (uint8_t)r->src_type;
    to->dst_type = (uint8_t)r->dst_type;
    to->any = 1;
    to->ends_unknown = r->ends_unknown;
    to->scope = r->scope;
    to->id = r->id;
    to->at = r->at;
    to->where = r->where;
    to->row = r->row;
    to->link = r->link;
    to->parent = r->parent;
    memcpy(&to->as, &r->as, rocl_kind_infos[r->kind].size);
}

/* The word of a record that contains a member, as a set of words. */
#define WORD(member) ((uint64_t)1 << offsetof(rocl_plain_record, member) / 8)

/* Kernels without a number are identified by their name. */
static uint64_t kernel_number(const rocl_plain_record *r)
{
    return r->kernel == ROCL_NO_KEY && r->name ? r->name : r->kernel;
}

static bool is_half(const rocl_plain_record *r)
{
    return r->half == ROCL_BEGINS || r->half == ROCL_ENDS;
}

/* ---- the first pass -------------------------------------------------------------------------- */

static void note_key(rocl_records *w, const rocl_plain_record *r, rocl_key_of of, uint64_t agent,
                     uint64_t number, const rocl_key_facts *facts)
{
    const rocl_key key = {of == ROCL_KEY_PROCESS ? 0 : rocl_process_key(w, r), agent, number};
    if (number == ROCL_NO_KEY && of != ROCL_KEY_PROCESS)
        return;
    if (!rocl_registry_note(&w->keys[of], &key, (uint64_t)1 << 63 | rocl_place(w, r->where), facts))
        w->failed = true;
}

static void note_agent(rocl_records *w, const rocl_plain_record *r, uint64_t number, uint8_t type)
{
    note_key(w, r, ROCL_KEY_AGENT, 0, number, &(rocl_key_facts){.type = (rocl_agent_type)type});
}

/* Notes the keys that differ from those of the record before. */
static void note_keys(rocl_records *w, const rocl_plain_record *r, uint64_t changed,
                      const rocl_key_facts *symbol)
{
    const bool dispatch = r->kind == ROCL_DISPATCH || r->kind == ROCL_COUNTER;
    if (changed & (WORD(process) | WORD(pid) | WORD(kind)))
        changed = UINT64_MAX;
    if (changed & WORD(process))
        note_key(w, r, ROCL_KEY_PROCESS, 0, rocl_process_key(w, r),
                 &(rocl_key_facts){.pid = r->pid});
    if (changed & WORD(thread))
        note_key(w, r, ROCL_KEY_THREAD, 0, r->thread, NULL);
    if (changed & (WORD(agent) | WORD(src) | WORD(dst))) {
        note_agent(w, r, r->agent, r->agent_type);
        note_agent(w, r, r->src, r->src_type);
        note_agent(w, r, r->dst, r->dst_type);
    }
    if (changed & (WORD(agent) | WORD(queue) | WORD(source_queue))) {
        note_key(w, r, ROCL_KEY_QUEUE, r->agent, r->queue, NULL);
        note_key(w, r, ROCL_KEY_QUEUE, r->agent, r->source_queue, NULL);
    }
    if (changed & WORD(stream))
        note_key(w, r, ROCL_KEY_STREAM, 0, r->stream, NULL);
    if (dispatch && changed & (WORD(kernel) | WORD(name)) &&
        (r->name || r->kernel != ROCL_NO_KEY)) {
        rocl_key_facts facts = symbol ? *symbol : (rocl_key_facts){0};
        facts.name = r->name;
        note_key(w, r, ROCL_KEY_KERNEL, 0, kernel_number(r), &facts);
    }
    if (r->counter && changed & (WORD(agent) | WORD(counter)))
        note_key(w, r, ROCL_KEY_COUNTER, r->agent, r->counter,
                 &(rocl_key_facts){.name = r->counter});
}

static void note_times(rocl_records *w, int64_t start, int64_t end)
{
    if (end > 0) {
        w->first = start < w->first ? start : w->first;
        w->last = end > w->last ? end : w->last;
    }
}

static rocl_status note_record(rocl_records *w, const rocl_recent *last,
                               const rocl_key_facts *symbol, rocl_error *err)
{
    const rocl_plain_record *r = &last->r;
    if (r->half == ROCL_WHOLE)
        note_times(w, r->as.e.start, r->as.e.end);
    w->allocs += r->kind == ROCL_ALLOC || r->kind == ROCL_SCRATCH;
    w->halves += r->half != ROCL_WHOLE;
    w->onces += r->once;
    w->untimed += r->kind == ROCL_COUNTER && !r->as.e.end;
    if (r->where < last->where_before) /* the first record of a key counts */
        note_keys(w, r, UINT64_MAX, symbol);
    else if (last->changed & ROCL_CHANGED_KEYS)
        note_keys(w, r, last->changed, symbol);
    if (w->failed || w->names->failed)
        return rocl_fail_memory(err);
    return is_half(r) ? rocl_half_add(w, r, NULL, err) : ROCL_OK;
}

rocl_status rocl_record_name(rocl_records *to, rocl_key_of of, const rocl_source_record *r,
                             rocl_view name, rocl_error *err)
{
    const rocl_key key = {of == ROCL_KEY_PROCESS ? 0 : r->process,
                          of == ROCL_KEY_QUEUE ? r->agent : 0,
                          of == ROCL_KEY_PROCESS  ? r->process
                          : of == ROCL_KEY_QUEUE  ? r->queue
                          : of == ROCL_KEY_STREAM ? r->stream
                                                  : r->thread};
    if (!to->indexing)
        return ROCL_OK;
    const rocl_key_facts facts = {.name = rocl_records_text(to, name)};
    return rocl_registry_note(&to->names_of[of], &key, rocl_place(to, r->where), &facts)
               ? ROCL_OK
               : rocl_fail_memory(err);
}

/* ---- the second pass ------------------------------------------------------------------------- */

static uint32_t resolve_key(const rocl_records *w, rocl_key_of of, uint64_t process, uint64_t agent,
                            uint64_t number)
{
    const rocl_key key = {process, agent, number};
    return number == ROCL_NO_KEY && of != ROCL_KEY_PROCESS ? ROCL_NONE
                                                           : rocl_records_find(w->in, of, key);
}

/* Looks up the keys that differ from those of the record before. */
static void resolve_keys(const rocl_records *w, const rocl_plain_record *r, uint64_t changed,
                         rocl_record_indexes *to)
{
    const rocl_capture *c = &w->in->capture->pub;
    const uint64_t p = rocl_process_key(w, r);
    if (changed & (WORD(process) | WORD(kind)))
        changed = UINT64_MAX;
    if (changed & WORD(process))
        to->process = resolve_key(w, ROCL_KEY_PROCESS, 0, 0, p);
    if (changed & WORD(thread))
        to->thread = resolve_key(w, ROCL_KEY_THREAD, p, 0, r->thread);
    if (changed & WORD(agent))
        to->agent = resolve_key(w, ROCL_KEY_AGENT, p, 0, r->agent);
    if (changed & WORD(src))
        to->src = resolve_key(w, ROCL_KEY_AGENT, p, 0, r->src);
    if (changed & WORD(dst))
        to->dst = resolve_key(w, ROCL_KEY_AGENT, p, 0, r->dst);
    if (changed & (WORD(agent) | WORD(queue)))
        to->queue = resolve_key(w, ROCL_KEY_QUEUE, p, r->agent, r->queue);
    if (changed & (WORD(agent) | WORD(source_queue)))
        to->source_queue = resolve_key(w, ROCL_KEY_QUEUE, p, r->agent, r->source_queue);
    if (changed & WORD(stream))
        to->stream = resolve_key(w, ROCL_KEY_STREAM, p, 0, r->stream);
    if (changed & (WORD(agent) | WORD(counter)))
        to->counter = resolve_key(w, ROCL_KEY_COUNTER, p, r->agent, r->counter);
    if (!(changed & (WORD(kernel) | WORD(name) | WORD(label))))
        return;
    to->kernel = ROCL_NONE;
    if (r->kind == ROCL_DISPATCH || r->kind == ROCL_COUNTER)
        to->kernel = resolve_key(w, ROCL_KEY_KERNEL, p, 0, kernel_number(r));
    to->kernel_name = r->label && w->in->trace->opt.kernel_rename ? r->label
                      : to->kernel == ROCL_NONE                   ? 0
                                                                  : c->kernels[to->kernel].shown;
}

/* The id that links a call and the work that it launched; the file's numbers are per process. Those
 * of the only or first process stay as they are, except 0, which means none. Below 2^63, as
 * databases and CSV need. */
static uint64_t make_stack_id(const rocl_capture *c, uint32_t process, uint64_t link)
{
    const uint64_t zero = (uint64_t)1 << 35;
    if (link && c->process_count == 1)
        return link;
    if (link >= zero || process >> 24)
        return rocl_mix64(link ^ rocl_mix64(process)) >> 1 | 1;
    return (uint64_t)process << 36 | (link ? link : zero);
}

/* The event of a record: replaces keys by what they stand for. */
static void make_event(const rocl_records *w, const rocl_plain_record *r,
                       const rocl_record_indexes *at, rocl_any_record *as)
{
    const rocl_capture *c = &w->in->capture->pub;
    rocl_event *e = &as->e;
    memcpy(as, &r->as, rocl_kind_infos[r->kind].size);
    e->duration = e->end - e->start;
    e->process = at->process;
    e->thread = at->thread;
    e->id = 1 + (r->row >> 36 ? rocl_place(w, r->where) : (uint64_t)e->process << 36 | r->row);
    if (r->link != ROCL_NO_KEY)
        e->stack_id = make_stack_id(c, e->process, r->link);
    if (r->parent != ROCL_NO_KEY)
        e->parent_stack_id = make_stack_id(c, e->process, r->parent);
    if (r->name)
        e->name = r->name;
    switch ((rocl_kind)r->kind) {
    case ROCL_REGION:
    case ROCL_MARKER:
    case ROCL_INSTANT:
        if (r->function || !as->region.function)
            as->region.function = r->function ? r->function : e->name;
        break;
    case ROCL_DISPATCH:
    case ROCL_COUNTER: {
        rocl_dispatch *d = &as->dispatch; /* a counter value begins with its dispatch */
        d->agent = at->agent;
        d->queue = at->queue;
        d->stream = at->stream;
        d->kernel = at->kernel;
        d->region_name = r->label ? r->label : ROCL_NONE;
        e->name = at->kernel_name;
        if (r->kind == ROCL_COUNTER)
            as->counter.counter = at->counter;
        break;
    }
    case ROCL_COPY:
        as->copy.src = at->src;
        as->copy.dst = at->dst;
        as->copy.queue = at->queue;
        as->copy.stream = at->stream;
        break;
    case ROCL_ALLOC:
    case ROCL_SCRATCH:
        as->alloc.agent = as->alloc.owner = at->agent;
        as->alloc.queue = at->queue;
        as->alloc.stream = at->stream;
        break;
    case ROCL_FLOW:
        break;
    case ROCL_SPM:
    case ROCL_SAMPLE:
        as->sample.counter = at->counter;
        as->sample.agent = at->agent;
        e->name = r->counter;
        if (at->counter != ROCL_NONE) { /* the format may have learnt more of it */
            as->sample.agent = c->counters[at->counter].agent;
            e->name = c->counters[at->counter].name;
        }
        break;
    default:
        as->hip.agent = at->agent;
        as->hip.queue = at->queue;
        as->hip.stream = at->stream;
        as->hip.source_queue = at->source_queue;
    }
}

rocl_status rocl_repeated_emit(rocl_records *w, rocl_error *err)
{
    rocl_sorter *sorter = w->in->run->unique;
    uint64_t process = 0, row = 0;
    rocl_sort_record rec;
    bool any = false;
    rocl_status st = rocl_sorter_start(sorter, err);
    while (rocl_sorter_take(sorter, &rec, &st, err)) {
        if (any && process == rec.key[0] && row == rec.key[1])
            continue;
        any = true;
        process = rec.key[0];
        row = rec.key[1];
        st = rocl_batcher_add(&w->out, ROCL_DISPATCH, rec.data, sizeof(rocl_dispatch), err);
    }
    return st;
}

static rocl_status emit_record(rocl_records *w, rocl_recent *last, const rocl_packet *packet,
                               rocl_error *err)
{
    const rocl_plain_record *r = &last->r;
    const rocl_kind kind = (rocl_kind)r->kind;
    const rocl_record_indexes *at = &last->at;
    rocl_status st = ROCL_OK;
    rocl_any_record event;
    rocl_plain_record completed;
    rocl_record_indexes completed_at;
    if (last->changed & ROCL_CHANGED_KEYS)
        resolve_keys(w, r, last->changed, &last->at);
    if (w->in->format->complete) {
        memcpy(&completed, r, offsetof(rocl_plain_record, as) + rocl_kind_infos[kind].size);
        if ((st = w->in->format->complete(w, &completed, err)) != ROCL_OK)
            return st;
        if (completed.agent != r->agent) {
            resolve_keys(w, &completed, UINT64_MAX, &completed_at);
            at = &completed_at;
        }
        r = &completed;
    }
    make_event(w, r, at, &event);
    if (kind == ROCL_COPY && !event.copy.size && r->link != ROCL_NO_KEY &&
        (st = rocl_size_find(w, r, at->agent, &event.copy, err)) != ROCL_OK)
        return st;
    if (is_half(r))
        return rocl_half_add(w, r, &event, err);
    if (r->once && r->half == ROCL_WHOLE) {
        /* Dispatches repeated by several records, as in a table of counter values whose rows repeat
         * the dispatch. They are sorted by process, row and place; the first of each row is
         * emitted. */
        const uint64_t key[3] = {event.dispatch.e.process, r->row, rocl_place(w, r->where)};
        return rocl_sorter_add(w->in->run->unique, w->number, key, &event.dispatch,
                               sizeof event.dispatch, err);
    }
    if (kind == ROCL_ALLOC || kind == ROCL_SCRATCH)
        return rocl_allocs_add(w->in->run->allocations, w->number, &event.alloc, err);
    if (rocl_kind_in(kind, ROCL_HOST_KINDS)) {
        event.region.arg_count = (uint32_t)w->pending_args;
        event.region.arg_first = (uint32_t)(w->out.arg_count - w->pending_args);
    } else if (kind == ROCL_DISPATCH) {
        event.dispatch.arg_count = (uint32_t)w->pending_args;
        event.dispatch.arg_first = (uint32_t)(w->out.arg_count - w->pending_args);
    }
    if (packet && !(event.dispatch.packet = rocl_batcher_packet(&w->out, packet)))
        return rocl_fail_memory(err);
    st = rocl_batcher_add(&w->out, kind, &event, rocl_kind_infos[kind].size, err);
    /* Batches are never full between records: the arguments of the next one come before it. */
    return st != ROCL_OK || w->out.out[kind].count < w->out.max ? st
                                                                : rocl_batcher_flush(&w->out, err);
}

static rocl_status put_plain(rocl_records *w, const rocl_plain_record *r,
                             const rocl_key_facts *symbol, const rocl_packet *packet,
                             rocl_error *err)
{
    rocl_recent *last = rocl_recent_put(w, r);
    w->latest = r->half == ROCL_WHOLE ? last : NULL;
    if (w->failed || w->names->failed)
        return rocl_fail_memory(err);
    return w->indexing ? note_record(w, last, symbol, err) : emit_record(w, last, packet, err);
}

/* ---- halves ---------------------------------------------------------------------------------- */

/* Puts the open begins of a scope as halves: the sorter finds their ends, if any. */
static rocl_status put_open(rocl_records *w, rocl_scope *s, rocl_error *err)
{
    const size_t pending = w->pending_args;
    const uint64_t line = w->line;
    rocl_status st = ROCL_OK;
    rocl_open_half *h;
    while (st == ROCL_OK && (h = rocl_scope_pop(s))) {
        if (!rocl_args_add(w, h->args.data, h->arg_count))
            st = rocl_fail_memory(err);
        w->pending_args = h->arg_count;
        w->line = h->line;
        if (st == ROCL_OK)
            st = put_plain(w, &h->r, NULL, NULL, err);
        rocl_scope_done(&w->scopes, h);
    }
    w->pending_args = pending;
    w->line = line;
    return st;
}

/* Do both halves have the same keys? */
static bool has_keys_of(const rocl_source_record *end, const rocl_plain_record *begin)
{
    return end->process == begin->process && end->thread == begin->thread &&
           end->agent == begin->agent && end->queue == begin->queue &&
           end->stream == begin->stream && end->src == begin->src && end->dst == begin->dst &&
           end->source_queue == begin->source_queue && end->pid == begin->pid &&
           end->agent_type == begin->agent_type && (rocl_kind)begin->kind == end->kind &&
           end->kind != ROCL_DISPATCH && end->kind != ROCL_COUNTER;
}

/* Puts the record of a begin and its end. */
static rocl_status put_joined(rocl_records *w, const rocl_scope *s, rocl_open_half *h,
                              const rocl_source_record *end, uint64_t time, rocl_error *err)
{
    rocl_plain_record *r = &h->r;
    const size_t own = w->pending_args;
    if (w->indexing) {
        const rocl_pair pair = {
            {(uint64_t)(r->at > 0 ? r->at : r->as.e.start), r->where, h->line, r->id},
            {time, end->where, w->line, end->id}};
        rocl_scopes_log(&w->scopes, s, &pair);
        if (!has_keys_of(end, r)) {
            rocl_plain_record plain;
            make_plain(w, end, &plain);
            note_keys(w, &plain, UINT64_MAX, end->symbol);
        }
    } else if (!rocl_records_want(w, (rocl_kind)r->kind)) {
        return ROCL_OK;
    }
    if (h->arg_count) { /* the arguments of the begin go before those of the end */
        rocl_arg *at;
        if (!rocl_args_add(w, h->args.data, h->arg_count))
            return rocl_fail_memory(err);
        at = &w->out.args[w->out.arg_count - h->arg_count - own];
        for (size_t i = 0; i < own; i++) {
            const rocl_arg first = *at;
            memmove(at, at + 1, (h->arg_count + own - 1) * sizeof *at);
            at[h->arg_count + own - 1] = first;
        }
        w->pending_args += h->arg_count;
    }
    if (r->at <= 0)
        r->as.e.end = (int64_t)time;
    r->half = ROCL_JOINED;
    return put_plain(w, r, NULL, NULL, err);
}

/* Halves of a scope that is in order so far are joined here, others by the sorter. */
static rocl_status put_half(rocl_records *w, const rocl_source_record *r, rocl_error *err)
{
    const uint64_t time = (uint64_t)(r->at > 0 ? r->at : r->as.e.start);
    const uint64_t place = rocl_place(w, r->where);
    bool fresh;
    rocl_plain_record plain;
    rocl_status st = ROCL_OK;
    rocl_scope *s = rocl_scope_find(&w->scopes, r->process, r->scope, &fresh);
    if (!s)
        return rocl_fail_memory(err);
    if (w->indexing)
        note_times(w, r->as.e.start, r->as.e.start);
    if (fresh) {
        s->first_time = time;
        s->first_place = place;
        s->deferred = !w->indexing && rocl_scope_is_disordered(w->in->run, r->process, r->scope);
    } else if (time < s->last_time || (time == s->last_time && place < s->last_place)) {
        s->deferred = true;
        st = put_open(w, s, err);
    }
    s->last_time = time;
    s->last_place = place;
    if (!s->deferred && r->half == ROCL_BEGINS) {
        /* Puts a begin that waits for its end. */
        rocl_open_half *h = rocl_scope_open(&w->scopes, s, r->id);
        if (!h)
            return rocl_fail_memory(err);
        h->line = w->line;
        h->arg_count = (uint32_t)w->pending_args;
        make_plain(w, r, &h->r);
        if (w->indexing && r->symbol)
            note_keys(w, &h->r, UINT64_MAX, r->symbol);
        return rocl_args_put_aside(w, &h->args) && !w->failed ? ROCL_OK : rocl_fail_memory(err);
    }
    if (!s->deferred && s->open.top) {
        rocl_open_half *h = rocl_scope_take(s, r->id);
        if (h) {
            st = put_joined(w, s, h, r, time, err);
            rocl_scope_done(&w->scopes, h);
            return st;
        }
        st = put_open(w, s, err); /* its begin may be in another piece, or be the last one */
    }
    if (st != ROCL_OK)
        return st;
    make_plain(w, r, &plain);
    return put_plain(w, &plain, r->symbol, r->packet, err);
}

/* The current piece has been parsed: gives what is open to the sorter. */
rocl_status rocl_scopes_put_open(rocl_records *w, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < w->scopes.count && st == ROCL_OK; i++)
        st = put_open(w, &w->scopes.all[i], err);
    if (st == ROCL_OK && w->indexing && w->scopes.count) {
        st = rocl_scopes_note(w, err);
        if (st == ROCL_OK && !rocl_scopes_end_log(&w->scopes))
            st = rocl_fail_memory(err);
        if (st == ROCL_OK && w->scopes.log.len)
            st = rocl_kept_store(w->in, &w->scopes.log, &w->in->run->logs[w->piece - w->in->pieces],
                                 err);
    }
    if (st == ROCL_OK)
        rocl_scopes_clear(&w->scopes);
    return st;
}

/* ---- records --------------------------------------------------------------------------------- */

rocl_status rocl_record_put(rocl_records *to, const rocl_source_record *r, rocl_error *err)
{
    rocl_fault fault;
    rocl_plain_record plain;
    rocl_status st = ROCL_OK;
    const char *why = check_times(r, &fault);
    to->latest = NULL;
    if (why) {
        rocl_record_fault(to, r->where, fault, why);
    } else if (r->half != ROCL_WHOLE) {
        st = put_half(to, r, err);
    } else if (rocl_records_want(to, r->kind)) {
        make_plain(to, r, &plain);
        st = put_plain(to, &plain, r->symbol, r->packet, err);
    }
    const bool copy = r->kind == ROCL_COPY;
    if (st == ROCL_OK && to->indexing && !why && (r->bytes || copy))
        st = rocl_size_note(to, r->process, r->link, copy, copy ? r->as.copy.size : r->bytes,
                            r->direction, err);
    to->pending_args = 0;
    return st;
}

rocl_record_like rocl_records_last(const rocl_records *to, uint64_t where)
{
    const rocl_recent *e = to->latest;
    return e && e->r.where == where ? (rocl_record_like){(size_t)(e - to->recent), e->version}
                                    : (rocl_record_like){0, 0};
}

rocl_status rocl_record_put_again(rocl_records *to, const rocl_record_again *r, bool *done,
                                  rocl_error *err)
{
    rocl_status st;
    rocl_recent *e =
        r->start > 0 && r->end >= r->start && r->like.version ? rocl_recent_again(to, r) : NULL;
    *done = e;
    if (!e)
        return ROCL_OK;
    const bool copy = e->r.kind == ROCL_COPY;
    st = to->indexing ? note_record(to, e, NULL, err) : emit_record(to, e, NULL, err);
    if (st == ROCL_OK && to->indexing && (r->bytes || copy))
        st = rocl_size_note(to, e->r.process, r->link, copy, copy ? e->r.as.copy.size : r->bytes,
                            r->direction, err);
    to->pending_args = 0;
    return st;
}

/* Emits the records of the current piece as the first pass kept them. */
rocl_status rocl_kept_emit(rocl_records *w, const rocl_stored *kept, rocl_error *err)
{
    const uint8_t *p, *end;
    rocl_status st = rocl_kept_load(w, kept, &p, &end, err);
    while (st == ROCL_OK && p < end) {
        rocl_recent *last = rocl_kept_next(w, &p);
        /* Halves are joined, then left out. */
        if (is_half(&last->r) || rocl_records_want(w, (rocl_kind)last->r.kind))
            st = emit_record(w, last, NULL, err);
    }
    return st;
}
