/* The two passes over an input of records: see records.h. */
#include "source/records/records.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/pool.h"
#include "source/records/run.h"

size_t rocl_piece_bytes = (size_t)4 << 20;

enum { TABLE_PIECE_ROWS = 30000, TABLE_PIECES_MAX = 1024 };

/* ---- records --------------------------------------------------------------------------------- */

void rocl_record_begin(rocl_source_record *r, rocl_kind kind, uint64_t where)
{
    size_t size = sizeof *r;
    __asm__("" : "+r"(size)); /* a size that the compiler knows is cleared in place, slowly */
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

bool rocl_records_want_instances(const rocl_records *to)
{
    return !to->indexing && to->out.to->fields & ROCL_FIELD_INSTANCES;
}

uint32_t rocl_records_text(rocl_records *to, rocl_view s)
{
    return s.n ? rtg_intern_name(to->names, s) : 0;
}

void **rocl_records_state(rocl_records *to)
{
    return &to->state;
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
                                 const char *why, rocl_error *err)
{
    (void)err;
    if (to->indexing)
        rocl_bad_record_add(to, (uint64_t)(to->piece - to->in->pieces), line, where, fault, why);
    return ROCL_OK;
}

rocl_status rocl_record_fault(rocl_records *to, uint64_t where, rocl_fault fault, const char *why,
                              rocl_error *err)
{
    return rocl_record_fault_at(to, to->line, where, fault, why, err);
}

uint64_t rocl_records_line_number(const rocl_records *to)
{
    return to->line;
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
    /* The first pass needs but names that are keys. */
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

/* The word of a record that has a member, as a set of words. */
#define WORD(member) ((uint64_t)1 << offsetof(rocl_plain_record, member) / 8)

/* Kernels without a number are known by their name. */
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

/* Notes those keys of which a word is other than in the record before. */
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
    if (w->failed)
        return rocl_fail_memory(err);
    return is_half(r) ? rocl_half_add(w, r, NULL, err) : ROCL_OK;
}

rocl_status rocl_record_name(rocl_records *to, rocl_key_of of, const rocl_source_record *r,
                             rocl_view name, rocl_error *err)
{
    const rocl_key key = {of == ROCL_KEY_PROCESS ? 0 : r->process, 0,
                          of == ROCL_KEY_PROCESS  ? r->process
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

/* Looks those keys up of which a word is other than in the record before. */
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

/* What links a call and the work that it launched: numbers count in each process. Those of the
 * only or first process stay as they are, but for 0, which would be none. */
static uint64_t make_stack_id(const rocl_capture *c, uint32_t process, uint64_t link)
{
    const uint64_t zero = (uint64_t)1 << 35;
    if (link && c->process_count == 1)
        return link;
    if (link >= zero || process >> 24)
        return rocl_mix64(link ^ rocl_mix64(process)) | 1;
    return (uint64_t)process << 36 | (link ? link : zero);
}

/* The event of a record: all that is known now stands in place of what its keys are. */
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
        as->sample.agent = at->agent;
        as->sample.counter = at->counter;
        e->name = r->counter;
        break;
    default:
        as->hip.agent = at->agent;
        as->hip.queue = at->queue;
        as->hip.stream = at->stream;
        as->hip.source_queue = at->source_queue;
    }
}

/* Dispatches that several records hold, as those of a table of counter values do: each row is a
 * value and repeats the dispatch. They are sorted by process, row and place; the first of each row
 * goes out. */
static rocl_status add_repeated(rocl_records *w, const rocl_plain_record *r,
                                const rocl_dispatch *event, rocl_error *err)
{
    const uint64_t key[3] = {event->e.process, r->row, rocl_place(w, r->where)};
    return rocl_sorter_add(w->in->run->unique, w->number, key, event, sizeof *event, err);
}

static rocl_status emit_repeated(rocl_records *w, rocl_error *err)
{
    rocl_sorter *sorter = w->in->run->unique;
    uint64_t process = 0, row = 0;
    rocl_sort_record rec;
    bool more, any = false;
    rocl_status st = rocl_sorter_start(sorter, err);
    while (st == ROCL_OK && (st = rocl_sorter_next(sorter, &rec, &more, err)) == ROCL_OK && more) {
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
    if (r->once && r->half == ROCL_WHOLE)
        return add_repeated(w, r, &event.dispatch, err);
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
    /* Never full between records: the arguments of the next one come before it. */
    return st != ROCL_OK || w->out.out[kind].count < w->out.max ? st
                                                                : rocl_batcher_flush(&w->out, err);
}

/* Halves are joined, then left out. */
static bool is_wanted(const rocl_records *w, const rocl_plain_record *r)
{
    return is_half(r) || rocl_records_want(w, (rocl_kind)r->kind);
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

/* Puts the open begins of a scope as what they are: their ends, if any, are to be found by the
 * sorter. */
static rocl_status put_open(rocl_records *w, rocl_scope *s, rocl_error *err)
{
    const size_t pending = w->pending_args;
    const uint64_t line = w->line;
    rocl_status st = ROCL_OK;
    while (s->top && st == ROCL_OK) {
        rocl_open_half *h = s->top;
        s->top = h->below;
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

/* Puts a begin that waits for its end. */
static rocl_status put_begin(rocl_records *w, rocl_scope *s, const rocl_source_record *r,
                             rocl_error *err)
{
    rocl_open_half *h = rocl_scope_open(&w->scopes, s);
    if (!h)
        return rocl_fail_memory(err);
    h->line = w->line;
    h->arg_count = (uint32_t)w->pending_args;
    make_plain(w, r, &h->r);
    if (w->indexing && r->symbol)
        note_keys(w, &h->r, UINT64_MAX, r->symbol);
    return rocl_args_put_aside(w, &h->args) && !w->failed ? ROCL_OK : rocl_fail_memory(err);
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

/* Puts what a begin and its end are together. */
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

/* A half of a scope that is in order so far is joined here, others by the sorter. */
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
    if (!s->deferred && r->half == ROCL_BEGINS)
        return put_begin(w, s, r, err);
    if (!s->deferred && s->top) {
        rocl_open_half *h = rocl_scope_take(s, r->id);
        if (h) {
            st = put_joined(w, s, h, r, time, err);
            rocl_scope_done(&w->scopes, h);
            return st;
        }
        st = put_open(w, s, err); /* its begin may be in another piece, or the last one is it */
    }
    if (st != ROCL_OK)
        return st;
    make_plain(w, r, &plain);
    return put_plain(w, &plain, r->symbol, r->packet, err);
}

/* The piece at hand is parsed: what is open goes to the sorter. */
static rocl_status end_scopes(rocl_records *w, rocl_error *err)
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
        st = rocl_record_fault(to, r->where, fault, why, err);
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

/* Emits the records of the piece at hand as the first pass kept them. */
static rocl_status emit_kept(rocl_records *w, const rocl_kept_piece *kept, rocl_error *err)
{
    const uint8_t *p;
    rocl_status st = rocl_kept_load(w, kept, &p, err);
    for (const uint8_t *end = p + kept->size; st == ROCL_OK && p < end;) {
        rocl_recent *last = rocl_kept_next(w, &p);
        if (is_wanted(w, &last->r))
            st = emit_record(w, last, NULL, err);
    }
    return st;
}

/* ---- definitions ----------------------------------------------------------------------------- */

static uint32_t intern_text(rocl_trace *t, const char *s)
{
    return rocl_strings_put(t->strings, s, strlen(s));
}

/* Records that name no process are of the only process that others name, if there is one; else of
 * that which is likely. */
static bool adopt_unknown_process(rocl_records_input *in)
{
    rocl_records_run *run = in->run;
    rocl_registry *processes = &run->keys[ROCL_KEY_PROCESS];
    const rocl_key unknown = {0, 0, ROCL_NO_KEY};
    uint64_t only = 0, others = 0;
    if (!rocl_registry_find(processes, &unknown))
        return true;
    for (size_t i = 0; i < processes->cap; i++)
        if (processes->slots[i].used && processes->slots[i].key.number != ROCL_NO_KEY) {
            only = processes->slots[i].key.number;
            others++;
        }
    in->only_process = others == 1 ? only : in->likely_process;
    for (int of = 0; of < ROCL_KEYS; of++) {
        rocl_registry renamed = {0}, *old = &run->keys[of];
        bool ok = true;
        for (size_t i = 0; i < old->cap && ok; i++) {
            rocl_key_entry *e = &old->slots[i];
            uint64_t *process = of == ROCL_KEY_PROCESS ? &e->key.number : &e->key.process;
            if (e->used && *process == ROCL_NO_KEY)
                *process = in->only_process;
            ok = !e->used || rocl_registry_note(&renamed, &e->key, e->first, &e->facts);
        }
        rocl_registry_free(old);
        *old = renamed;
        if (!ok)
            return false;
    }
    return true;
}

/* Agents that were defined for every process become agents of each. */
static bool give_agents_to_all(rocl_records_input *in)
{
    rocl_registry given = {0}, *agents = &in->run->keys[ROCL_KEY_AGENT];
    const rocl_registry *processes = &in->run->keys[ROCL_KEY_PROCESS];
    bool ok = true;
    for (size_t i = 0; i < agents->cap && ok; i++) {
        rocl_key_entry *e = &agents->slots[i];
        if (!e->used || e->key.process != ROCL_NO_KEY)
            ok = !e->used || rocl_registry_note(&given, &e->key, e->first, &e->facts);
        for (size_t k = 0; k < processes->cap && ok && e->used && e->key.process == ROCL_NO_KEY;
             k++) {
            const rocl_key key = {processes->slots[k].key.number, 0, e->key.number};
            ok = !processes->slots[k].used || rocl_registry_note(&given, &key, e->first, &e->facts);
        }
    }
    rocl_registry_free(agents);
    *agents = given;
    return ok;
}

static uint32_t process_of(const rocl_records_input *in, const rocl_key_entry *e)
{
    return rocl_records_find(in, ROCL_KEY_PROCESS, (rocl_key){0, 0, e->key.process});
}

/* The name that a record gave a process or thread; 0: none. */
static uint32_t name_of_key(const rocl_records_input *in, rocl_key_of of, const rocl_key_entry *e)
{
    const rocl_key_entry *name = rocl_registry_find(&in->run->names_of[of], &e->key);
    if (!name && of == ROCL_KEY_THREAD && e->key.process == in->only_process) {
        const rocl_key unknown = {ROCL_NO_KEY, 0, e->key.number}; /* it named no process */
        name = rocl_registry_find(&in->run->names_of[of], &unknown);
    }
    return name ? name->facts.name : 0;
}

/* The number of a process or thread; those that have but a name are counted. */
static int64_t number_of_key(const rocl_key_entry *e)
{
    return e->key.number & ROCL_KEY_OF_TEXT ? (int64_t)e->index : (int64_t)e->key.number;
}

static void define_process(rocl_records_input *in, const rocl_key_entry *e, void *to)
{
    const bool by_text = e->key.number & ROCL_KEY_OF_TEXT;
    *(rocl_process *)to =
        (rocl_process){.id = number_of_key(e),
                       .node = ROCL_NONE,
                       .pid = by_text || e->facts.pid ? (int64_t)e->facts.pid : number_of_key(e),
                       .command = name_of_key(in, ROCL_KEY_PROCESS, e),
                       .rank = -1};
}

static void define_thread(rocl_records_input *in, const rocl_key_entry *e, void *to)
{
    *(rocl_thread *)to = (rocl_thread){.id = number_of_key(e),
                                       .process = process_of(in, e),
                                       .tid = number_of_key(e),
                                       .name = name_of_key(in, ROCL_KEY_THREAD, e)};
}

/* The number of a device is all there is: the same GPU in every process of the input. */
static void define_agent(rocl_records_input *in, const rocl_key_entry *e, void *to)
{
    static const char *const types[] = {[ROCL_AGENT_OTHER] = "Agent",
                                        [ROCL_AGENT_CPU] = "CPU",
                                        [ROCL_AGENT_GPU] = "GPU",
                                        [ROCL_AGENT_NIC] = "NIC"};
    const bool typed = e->facts.type && e->key.number >> 32 == (uint64_t)e->facts.type;
    const int64_t number = (int64_t)(typed ? e->key.number & UINT32_MAX : e->key.number);
    const char *type = types[e->facts.type];
    char label[40];
    snprintf(label, sizeof label, "%s %" PRId64, type, number);
    *(rocl_agent *)to = (rocl_agent){.id = (int64_t)e->key.number,
                                     .node = ROCL_NONE,
                                     .process = process_of(in, e),
                                     .type = e->facts.type,
                                     .absolute_index = number,
                                     .logical_index = number,
                                     .type_index = number,
                                     .type_name = intern_text(in->trace, type),
                                     .label = intern_text(in->trace, label)};
}

static void define_queue(rocl_records_input *in, const rocl_key_entry *e, void *to)
{
    *(rocl_queue *)to = (rocl_queue){.id = (int64_t)e->key.number, .process = process_of(in, e)};
}

static void define_stream(rocl_records_input *in, const rocl_key_entry *e, void *to)
{
    define_queue(in, e, to);
    ((rocl_stream *)to)->name = name_of_key(in, ROCL_KEY_STREAM, e);
}

static void define_kernel(rocl_records_input *in, const rocl_key_entry *e, void *to)
{
    rocl_trace *t = in->trace;
    const rocl_key_facts *f = &e->facts;
    const uint32_t name = rocl_kernel_without_kd(t, f->name);
    const uint32_t mangled = f->mangled                             ? f->mangled
                             : !strncmp(rocl_str(t, name), "_Z", 2) ? name
                                                                    : 0;
    *(rocl_kernel *)to = (rocl_kernel){.id = f->id ? f->id : (int64_t)e->index + 1,
                                       .process = process_of(in, e),
                                       .agent = ROCL_NONE,
                                       .code_object = ROCL_NONE,
                                       .mangled = mangled,
                                       .display = name,
                                       .shown = rocl_kernel_shown(t, mangled, name, 0),
                                       .is_function = f->is_function,
                                       .group_segment = f->group_segment,
                                       .private_segment = f->private_segment,
                                       .sgpr = f->sgpr,
                                       .arch_vgpr = f->arch_vgpr,
                                       .accum_vgpr = f->accum_vgpr};
}

static void define_counter(rocl_records_input *in, const rocl_key_entry *e, void *to)
{
    *(rocl_counter *)to = (rocl_counter){
        .id = (int64_t)e->index + 1,
        .process = process_of(in, e),
        .agent = rocl_records_find(in, ROCL_KEY_AGENT, (rocl_key){e->key.process, 0, e->key.agent}),
        .name = e->facts.name,
        .symbol = e->facts.name};
}

/* How each kind of key becomes a definition, in an order in which all refer to those before. */
static const struct {
    rocl_definition kind;
    void (*fill)(rocl_records_input *in, const rocl_key_entry *e, void *to);
} definitions[ROCL_KEYS] = {
    [ROCL_KEY_PROCESS] = {ROCL_DEFINE_PROCESS, define_process},
    [ROCL_KEY_THREAD] = {ROCL_DEFINE_THREAD, define_thread},
    [ROCL_KEY_AGENT] = {ROCL_DEFINE_AGENT, define_agent},
    [ROCL_KEY_QUEUE] = {ROCL_DEFINE_QUEUE, define_queue},
    [ROCL_KEY_STREAM] = {ROCL_DEFINE_STREAM, define_stream},
    [ROCL_KEY_KERNEL] = {ROCL_DEFINE_KERNEL, define_kernel},
    [ROCL_KEY_COUNTER] = {ROCL_DEFINE_COUNTER, define_counter},
};

static rocl_status make_definitions(rocl_records_input *in, rocl_error *err)
{
    rocl_records_run *run = in->run;
    rocl_registry *processes = &run->keys[ROCL_KEY_PROCESS];
    bool ok = adopt_unknown_process(in);
    if (ok && !processes->count) { /* there is always one */
        in->only_process = in->only_process == ROCL_NO_KEY ? in->likely_process : in->only_process;
        ok = rocl_registry_note(processes, &(rocl_key){0, 0, in->only_process}, 0, NULL);
    }
    ok = ok && give_agents_to_all(in);
    for (int of = 0; of < ROCL_KEYS && ok; of++) {
        rocl_registry *r = &run->keys[of];
        if (r->count >= ROCL_NONE)
            return rocl_fail(err, ROCL_INPUT, "%s: too many threads, queues or kernels",
                             in->source->path);
        rocl_key_entry **list = rocl_registry_order(r);
        ok = list;
        for (size_t i = 0; ok && i < r->count; i++) {
            void *to = rocl_define(&in->capture->pub, definitions[of].kind);
            ok = to;
            if (ok)
                definitions[of].fill(in, list[i], to);
        }
        free(list);
    }
    if (!ok)
        return rocl_fail_memory(err);
    return in->format->refine ? in->format->refine(in, err) : ROCL_OK;
}

uint32_t rocl_records_find(const rocl_records_input *in, rocl_key_of of, rocl_key key)
{
    const rocl_key_entry *e = rocl_registry_find(&in->run->keys[of], &key);
    return e ? e->index : ROCL_NONE;
}

bool rocl_records_define(rocl_records_input *in, rocl_key_of of, rocl_key key,
                         const rocl_key_facts *facts)
{
    return rocl_registry_note(&in->run->keys[of], &key, in->run->defined++, facts);
}

/* ---- workers --------------------------------------------------------------------------------- */

static rocl_status start_workers(rocl_records_input *in, bool indexing, rocl_error *err)
{
    rocl_records_run *run = in->run;
    const unsigned jobs = in->trace->opt.jobs;
    run->workers = rocl_cache_line_calloc(jobs, sizeof *run->workers);
    run->joining = rocl_sorter_new(in->trace->space, 4);
    if (indexing) {
        run->noted_sizes = rocl_sorter_new(in->trace->space, 3);
        run->spans = rocl_sorter_new(in->trace->space, 4);
    }
    if (!run->workers || !run->joining || (indexing && (!run->noted_sizes || !run->spans)))
        return rocl_fail_memory(err);
    for (unsigned i = 0; i < jobs; i++) {
        rocl_records *w = &run->workers[i];
        w->in = in;
        w->number = w->out.worker = i;
        w->indexing = indexing;
        w->out.capture = &in->capture->pub;
        w->out.max = rtg_sizes_used.batch_max;
        w->first = INT64_MAX;
        w->last = INT64_MIN;
    }
    return ROCL_OK;
}

static void stop_workers(rocl_records_input *in)
{
    rocl_records_run *run = in->run;
    for (unsigned i = 0; run->workers && i < in->trace->opt.jobs; i++) {
        rocl_records *w = &run->workers[i];
        for (int of = 0; of < ROCL_KEYS; of++)
            rocl_registry_free(&w->keys[of]);
        for (int of = 0; of < ROCL_KEYS; of++)
            rocl_registry_free(&w->names_of[of]);
        rocl_batcher_free(&w->out);
        rtg_names_free(w->names);
        free(w->size_pages.entries);
        rtg_reader_free(&w->reader);
        rocl_buf_free(&w->kept);
        rocl_buf_free(&w->half);
        rocl_scopes_free(&w->scopes);
        free(w->recent);
        if (w->state && in->format->free_worker)
            in->format->free_worker(w->state);
    }
    free(run->workers);
    run->workers = NULL;
    rocl_sorter_free(run->joining);
    rocl_sorter_free(run->unique);
    rocl_sorter_free(run->noted_sizes);
    rocl_sorter_free(run->spans);
    run->joining = run->unique = run->noted_sizes = run->spans = NULL;
    rocl_allocs_free(run->allocations);
    run->allocations = NULL;
}

/* What a worker needs for its first piece, and for each. */
static rocl_status begin_piece(rocl_records *w, const rocl_piece *piece, rocl_error *err)
{
    if (!w->names)
        w->names = rtg_names_new(w->in->trace);
    if (!w->recent)
        w->recent = calloc(ROCL_RECENT, sizeof *w->recent);
    w->piece = piece;
    w->line = 0;
    w->pending_args = 0;
    return w->names && w->recent ? ROCL_OK : rocl_fail_memory(err);
}

/* ---- the first pass, for all pieces ---------------------------------------------------------- */

static rocl_status index_piece(void *ctx, unsigned number, size_t index, rocl_error *err)
{
    rocl_records_input *in = ctx;
    rocl_records *w = &in->run->workers[number];
    const rocl_piece *piece = &in->pieces[index];
    rocl_status st = begin_piece(w, piece, err);
    rocl_kept_begin(w);
    if (st == ROCL_OK && (st = in->format->parse(in, w, piece, err)) == ROCL_OK &&
        (st = end_scopes(w, err)) == ROCL_OK)
        rocl_kept_end(w);
    in->run->lines[index] = w->line;
    rocl_progress(in->trace, piece->rows);
    return st;
}

static rocl_status merge_workers(rocl_records_input *in, rocl_error *err)
{
    rocl_records_run *run = in->run;
    for (unsigned i = 0; i < in->trace->opt.jobs; i++) {
        rocl_records *w = &run->workers[i];
        run->first = w->first < run->first ? w->first : run->first;
        run->last = w->last > run->last ? w->last : run->last;
        run->halves += w->halves;
        run->allocs += w->allocs;
        run->onces += w->onces;
        in->capture->has_untimed_values |= w->untimed > 0;
        for (int of = 0; of < ROCL_KEYS; of++)
            if (!rocl_registry_merge(&run->keys[of], &w->keys[of]) ||
                !rocl_registry_merge(&run->names_of[of], &w->names_of[of]))
                return rocl_fail_memory(err);
    }
    return ROCL_OK;
}

/* From how many lines each piece has to the number of its first one. */
static void number_lines(rocl_records_input *in)
{
    uint64_t next = 1;
    for (size_t i = 0; i < in->piece_count; i++) {
        if (i && in->pieces[i].file != in->pieces[i - 1].file)
            next = 1;
        const uint64_t lines = in->run->lines[i];
        in->run->lines[i] = next;
        next += lines;
    }
}

static void free_pieces(rocl_records_input *in, rocl_kept_piece **pieces)
{
    for (size_t i = 0; *pieces && i < in->piece_count; i++)
        rocl_kept_free(in, &(*pieces)[i]);
    free(*pieces);
    *pieces = NULL;
}

void rocl_records_suspend(rocl_records_input *in)
{
    for (size_t i = 0; i < in->file_count; i++)
        if (in->files[i].spool)
            rocl_spool_suspend(in->files[i].spool);
}

/* All pieces, by all workers, who still have what they noted. */
static rocl_status index_pieces(rocl_records_input *in, rocl_error *err)
{
    rocl_records_run *run = in->run;
    rocl_progress_phase(in->trace, "looking through", 0);
    run->lines = calloc(in->piece_count + 1, sizeof *run->lines);
    run->logs = calloc(in->piece_count + 1, sizeof *run->logs);
    if (in->format->keeps && !in->trace->opt.args) /* which are not kept */
        run->kept = calloc(in->piece_count + 1, sizeof *run->kept);
    rocl_status st = run->lines && run->logs ? start_workers(in, true, err) : rocl_fail_memory(err);
    return st ? st : rocl_run_tasks(in->trace->opt.jobs, in->piece_count, index_piece, in, err);
}

static void forget_pieces(rocl_records_input *in)
{
    rocl_records_run *run = in->run;
    free_pieces(in, &run->logs);
    free_pieces(in, &run->kept);
    stop_workers(in);
    free(run->lines);
    run->lines = NULL;
    atomic_store(&run->full, false);
    memset(run->faults, 0, sizeof run->faults);
    run->bad_count = 0;
}

rocl_status rocl_records_index(rocl_records_input *in, rocl_error *err)
{
    rocl_records_run *run = in->run;
    bool again = false;
    rocl_status st;
    do {
        if (again)
            forget_pieces(in);
        again = false;
        st = index_pieces(in, err);
        if (st == ROCL_OK && in->format->passed)
            st = in->format->passed(in, &again, err);
    } while (st == ROCL_OK && again);
    if (st == ROCL_OK)
        st = merge_workers(in, err);
    if (st == ROCL_OK)
        number_lines(in);
    if (st == ROCL_OK && run->halves && (st = rocl_scopes_check(in, err)) == ROCL_OK)
        st = rocl_halves_join(&run->workers[0], err);
    if (st == ROCL_OK)
        st = rocl_sizes_join(in, err);
    free_pieces(in, &run->logs);
    if (run->disordered_count || run->all_disordered) /* pairs of them are kept */
        free_pieces(in, &run->kept);
    stop_workers(in);
    if (st == ROCL_OK && in->trace->opt.strict)
        st = rocl_bad_records_refuse(in, err);
    if (st == ROCL_OK)
        st = make_definitions(in, err);
    rocl_records_suspend(in);
    return st;
}

/* ---- the input ------------------------------------------------------------------------------- */

rocl_status rocl_records_open(rocl_records_input **out, rocl_source *s, rocl_trace *t,
                              const rocl_record_format *format, rocl_error *err)
{
    const char *slash = strrchr(s->path, '/');
    rocl_records_input *in = calloc(1, sizeof *in);
    s->state = *out = in;
    if (!in || !(in->run = calloc(1, sizeof *in->run)))
        return rocl_fail_memory(err);
    pthread_mutex_init(&in->run->lock, NULL);
    in->run->first = INT64_MAX;
    in->run->last = INT64_MIN;
    in->format = format;
    in->trace = t;
    in->source = s;
    in->only_process = ROCL_NO_KEY;
    in->capture = rocl_trace_add_capture(t, s, err);
    in->files = calloc(1 + s->more_count, sizeof *in->files);
    if (!in->capture || !in->files)
        return rocl_fail_memory(err);
    in->capture->state = in;
    in->capture->pub.guid = intern_text(t, slash ? slash + 1 : s->path);
    in->files[in->file_count++] = (rocl_records_file){s->path, s->db ? NULL : s->spool};
    for (size_t i = 0; i < s->more_count; i++)
        in->files[in->file_count++] = (rocl_records_file){s->more[i].path, s->more[i].spool};
    for (size_t i = 0; i < in->file_count; i++) {
        rocl_spool *spool = in->files[i].spool;
        rocl_status st = ROCL_OK;
        if (spool && s->ops->same_run) /* it was filled when it was recognised */
            st = rocl_spool_resume(spool, err);
        else if (spool)
            st = rocl_spool_fill(spool, &t->spooled, t->opt.tmpdir, err);
        if (st != ROCL_OK)
            return st;
    }
    return ROCL_OK;
}

bool rocl_records_add_piece(rocl_records_input *in, const rocl_piece *piece)
{
    if (!ROCL_GROW(in->pieces, in->piece_cap, in->piece_count + 1))
        return false;
    in->pieces[in->piece_count++] = *piece;
    return true;
}

bool rocl_records_cut(rocl_records_input *in, uint32_t file, uint32_t part, uint64_t from)
{
    const uint64_t size = rocl_spool_size(in->files[file].spool);
    bool ok = true;
    while (from < size && ok) {
        const uint64_t to = size - from > rocl_piece_bytes ? from + rocl_piece_bytes : size;
        ok = rocl_records_add_piece(in, &(rocl_piece){file, part, from, to, (to - from) / 128});
        from = to;
    }
    return ok;
}

rocl_status rocl_records_cut_table(rocl_records_input *in, rocl_db *db, const char *table,
                                   uint32_t part, rocl_error *err)
{
    int64_t first, *ends;
    size_t count;
    rocl_status st =
        rocl_db_cut(db, table, TABLE_PIECE_ROWS, TABLE_PIECES_MAX, &first, &ends, &count, err);
    for (size_t i = 0; i < count && st == ROCL_OK; i++) {
        const bool is_last = i + 1 == count;
        const rocl_piece piece = {.part = part,
                                  .first = (uint64_t)(i ? first : INT64_MIN),
                                  .last = (uint64_t)(is_last ? INT64_MAX : ends[i]),
                                  .rows = (uint64_t)ends[i] - (uint64_t)first + 1};
        if (!rocl_records_add_piece(in, &piece))
            st = rocl_fail_memory(err);
        if (!is_last)
            first = ends[i] + 1;
    }
    free(ends);
    return st;
}

void rocl_records_close(rocl_source *s)
{
    rocl_records_input *in = s->state;
    if (!in)
        return;
    if (in->format && in->format->close)
        in->format->close(in);
    if (in->run) {
        for (int of = 0; of < ROCL_KEYS; of++)
            rocl_registry_free(&in->run->keys[of]);
        for (int of = 0; of < ROCL_KEYS; of++)
            rocl_registry_free(&in->run->names_of[of]);
        free_pieces(in, &in->run->kept);
        free_pieces(in, &in->run->logs);
        free(in->run->disordered);
        rocl_lookup_free(in->run->sizes);
        pthread_mutex_destroy(&in->run->lock);
        free(in->run->lines);
    }
    free(in->run);
    free(in->files);
    free(in->pieces);
    free(in);
    s->state = NULL;
}

/* ---- open files ------------------------------------------------------------------------------ */

rocl_status rocl_records_hold_files(rocl_records_input *in, rocl_error *err)
{
    rocl_records_run *run = in->run;
    rocl_status st = ROCL_OK;
    pthread_mutex_lock(&run->lock);
    for (size_t i = 0; i < in->file_count && st == ROCL_OK; i++)
        if (in->files[i].spool)
            st = rocl_spool_resume(in->files[i].spool, err);
    run->file_users += st == ROCL_OK;
    pthread_mutex_unlock(&run->lock);
    return st;
}

void rocl_records_release_files(rocl_records_input *in)
{
    rocl_records_run *run = in->run;
    pthread_mutex_lock(&run->lock);
    run->file_users--;
    for (size_t i = 0; i < in->file_count && !run->file_users; i++)
        if (in->files[i].spool)
            rocl_spool_suspend(in->files[i].spool);
    pthread_mutex_unlock(&run->lock);
}

void rocl_records_count_faults(rocl_records_input *in)
{
    for (int i = 0; i < ROCL_FAULTS; i++)
        atomic_fetch_add(&in->trace->faults[i], in->run->faults[i]);
    rocl_bad_records_report(in);
}

/* ---- the second pass, as a source ------------------------------------------------------------ */

rocl_status rocl_records_begin(rocl_trace *t, rocl_model_capture *c, uint32_t kinds,
                               rocl_plan *plan, rocl_error *err)
{
    rocl_records_input *in = c->state;
    rocl_records_run *run = in->run;
    rocl_status st = ROCL_OK;
    st = rocl_records_hold_files(in, err);
    run->holds_files = st == ROCL_OK;
    if (st != ROCL_OK || (st = start_workers(in, false, err)) != ROCL_OK)
        return st;
    run->kinds = kinds;
    run->args = t->opt.args;
    if (run->onces && !(run->unique = rocl_sorter_new(t->space, 3)))
        return rocl_fail_memory(err);
    if (run->allocs && kinds & (ROCL_BIT(ROCL_ALLOC) | ROCL_BIT(ROCL_SCRATCH)))
        st = rocl_allocs_new(&run->allocations, t, err);
    if (st != ROCL_OK)
        return st;
    rocl_records_count_faults(in); /* the first pass has found them all */
    for (size_t i = 0; i < in->piece_count && st == ROCL_OK; i++)
        st = rocl_plan_add(plan,
                           &(rocl_task){.kinds = kinds,
                                        .first = (int64_t)i,
                                        .last = (int64_t)i,
                                        .rows = in->pieces[i].rows},
                           err);
    return st;
}

rocl_status rocl_records_scan(rocl_trace *t, rocl_model_capture *c, const rocl_task *task,
                              unsigned worker, const rocl_emitter *to, rocl_error *err)
{
    rocl_records_input *in = c->state;
    rocl_records_run *run = in->run;
    rocl_records *w = &run->workers[worker];
    (void)t;
    w->out.to = to;
    const size_t index = (size_t)task->first;
    /* Neither arguments nor packets and instances are kept. */
    const bool kept = run->kept && run->kept[index].size && !run->args &&
                      !(to->fields & (ROCL_FIELD_PACKET | ROCL_FIELD_INSTANCES));
    rocl_status st = begin_piece(w, &in->pieces[index], err);
    if (st == ROCL_OK)
        st = kept ? emit_kept(w, &run->kept[index], err)
                  : in->format->parse(in, w, &in->pieces[index], err);
    if (run->kept)
        rocl_kept_free(in, &run->kept[index]);
    if (st == ROCL_OK)
        st = end_scopes(w, err);
    if (st == ROCL_OK)
        st = rocl_batcher_flush(&w->out, err);
    if (st == ROCL_OK && run->halves)
        st = rocl_sorter_seal(run->joining, worker, err);
    if (st == ROCL_OK && run->unique)
        st = rocl_sorter_seal(run->unique, worker, err);
    if (st == ROCL_OK && run->allocations)
        st = rocl_allocs_seal(run->allocations, worker, err);
    return st;
}

typedef struct alloc_end {
    rocl_records *w;
    uint32_t kinds;
} alloc_end;

static rocl_status emit_alloc(void *ctx, rocl_kind kind, const rocl_alloc *a, rocl_error *err)
{
    const alloc_end *to = ctx;
    return rocl_kind_in(kind, to->kinds) ? rocl_batcher_add(&to->w->out, kind, a, sizeof *a, err)
                                         : ROCL_OK;
}

rocl_status rocl_records_finish(rocl_trace *t, rocl_model_capture *c, const rocl_emitter *to,
                                rocl_error *err)
{
    rocl_records_input *in = c->state;
    rocl_records *w = &in->run->workers[0];
    rocl_status st = ROCL_OK;
    (void)t;
    w->out.to = to;
    if (in->run->halves)
        st = rocl_halves_join(w, err);
    if (st == ROCL_OK && in->run->unique)
        st = emit_repeated(w, err);
    if (st == ROCL_OK && in->run->allocations)
        st = rocl_allocs_finish(in->run->allocations, emit_alloc, &(alloc_end){w, in->run->kinds},
                                err);
    return st ? st : rocl_batcher_flush(&w->out, err);
}

void rocl_records_end(rocl_trace *t, rocl_model_capture *c)
{
    rocl_records_input *in = c->state;
    (void)t;
    stop_workers(in);
    if (in->run->holds_files)
        rocl_records_release_files(in);
    in->run->holds_files = false;
}

rocl_status rocl_records_peek_times(rocl_trace *t, rocl_model_capture *c, int64_t *first,
                                    int64_t *last, bool *any, rocl_error *err)
{
    const rocl_records_run *run = ((rocl_records_input *)c->state)->run;
    (void)t;
    (void)err;
    *first = run->first;
    *last = run->last;
    *any = run->first <= run->last;
    return ROCL_OK;
}

/* ---- lines ----------------------------------------------------------------------------------- */

rocl_status rocl_records_lines(rocl_records *to, rocl_record_line_fn *line,
                               rocl_line_continues_fn *continues, rocl_error *err)
{
    const rocl_piece *p = to->piece;
    rtg_reader *r = &to->reader;
    rocl_status st = ROCL_OK;
    uint64_t beyond = 0;                    /* lines behind the piece */
    bool skips = continues && p->first > 0; /* what continues the record of the piece before */
    bool more;
    rtg_reader_begin(r, to->in->files[p->file].spool, p->first, continues ? UINT64_MAX : p->last);
    while (st == ROCL_OK && (st = rtg_reader_fill(r, &more, err)) == ROCL_OK && more) {
        rtg_text text;
        while (st == ROCL_OK && rtg_reader_line(r, &text)) {
            const bool goes_on = continues && !text.too_long && continues(text.p, text.n);
            if (text.offset >= p->last) {
                if (!goes_on)
                    goto done;
                beyond++;
            }
            skips = skips && goes_on;
            if (text.too_long)
                st = rocl_record_fault(to, text.offset, ROCL_FAULT_BAD_LINE,
                                       "a line of more than 64 MiB", err);
            else if (!skips)
                st = line(to, text.p, text.n, text.offset, err);
            to->line++;
        }
    }
done:
    to->line -= beyond;
    return st;
}
