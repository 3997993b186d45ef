/* The second pass: a run of chunks of one writer -> events of the host. */
#include "source/chunk/chunk.h"

#include <stdlib.h>

#include "base/array.h"

/* ---- workers --------------------------------------------------------------------------------- */

enum { BATCH_MAX = 1024 };

chunk_worker *chunk_worker_get(chunk_process *p, unsigned number, const rocl_emitter *to,
                               rocl_error *err)
{
    chunk_worker *w = p->workers[number];
    if (!w && (w = p->workers[number] = calloc(1, sizeof *w))) {
        w->process = p;
        w->out.capture = &p->capture->pub;
        w->out.worker = number;
        w->out.max = BATCH_MAX;
    }
    if (!w) {
        rocl_fail_memory(err);
        return NULL;
    }
    w->out.to = to;
    w->st = ROCL_OK;
    w->err = err;
    return w;
}

static void forget_chunk(chunk_worker *w)
{
    rocl_map_free(&w->texts);
    rocl_map_free(&w->names);
    rocl_map_free(&w->defs);
    rocl_map_free(&w->lists);
    w->name_count = w->list_count = w->parameter_count = 0;
}

void chunk_workers_free(chunk_process *p)
{
    for (unsigned i = 0; p->workers && i < p->file->trace->opt.jobs; i++) {
        chunk_worker *w = p->workers[i];
        if (!w)
            continue;
        forget_chunk(w);
        rocl_batcher_free(&w->out);
        rocl_buf_free(&w->content);
        rocl_arena_free(&w->values);
        free(w->name_list);
        free(w->regions.all);
        free(w->ranges.all);
        free(w->args);
        free(w->lists_all);
        free(w->parameters);
        free(w);
    }
    free(p->workers);
    p->workers = NULL;
}

void chunk_out_of_memory(chunk_worker *w)
{
    if (w->st == ROCL_OK)
        w->st = rocl_fail_memory(w->err);
}

void chunk_fault(chunk_worker *w, rocl_fault f)
{
    const chunk_process *p = w->process;
    rocl_status st = rocl_fault_count(p->file->trace, f, w->err, "%s: chunk at byte %llu",
                                      p->file->path, (unsigned long long)w->chunk->offset);
    if (w->st == ROCL_OK)
        w->st = st;
}

/* ---- names ----------------------------------------------------------------------------------- */

uint32_t chunk_intern(chunk_worker *w, chunk_string s)
{
    uint32_t id = rocl_strings_put(w->process->file->trace->strings, s.s, s.n);
    if (id == ROCL_NONE)
        chunk_out_of_memory(w);
    return id;
}

static void take_text(chunk_worker *w, chunk_record *r)
{
    uint64_t id = chunk_number(r);
    if (!rocl_map_put(&w->texts, id, chunk_intern(w, chunk_rest(r))))
        chunk_out_of_memory(w);
}

static void take_name(chunk_worker *w, chunk_record *r)
{
    uint64_t id = chunk_number(r);
    uint32_t category = chunk_intern(w, chunk_text(r));
    uint32_t name = chunk_intern(w, chunk_rest(r));
    if (!ROCL_GROW(w->name_list, w->name_cap, w->name_count + 1) ||
        !rocl_map_put(&w->names, id, (uint32_t)w->name_count)) {
        chunk_out_of_memory(w);
        return;
    }
    w->name_list[w->name_count++] = (chunk_name){category, name};
}

chunk_name chunk_name_of(chunk_worker *w, uint64_t id)
{
    uint32_t at = rocl_map_get(&w->names, id, ROCL_NONE);
    if (at != ROCL_NONE)
        return w->name_list[at];
    chunk_fault(w, ROCL_FAULT_DANGLING_NAME);
    return (chunk_name){0, 0};
}

uint32_t chunk_text_of(chunk_worker *w, uint64_t id)
{
    uint32_t text = rocl_map_get(&w->texts, id, ROCL_NONE);
    if (text != ROCL_NONE)
        return text;
    chunk_fault(w, ROCL_FAULT_DANGLING_NAME);
    return 0;
}

static chunk_name marker_name(chunk_worker *w, uint64_t text)
{
    const uint32_t *words = w->process->file->words;
    return (chunk_name){words[CHUNK_W_RANGE_API], chunk_text_of(w, text)};
}

/* ---- events ---------------------------------------------------------------------------------- */

bool chunk_event_head(chunk_worker *w, rocl_kind kind, int64_t start, int64_t end, chunk_name name,
                      rocl_event *e)
{
    uint64_t id = w->next_id++;
    if (w->st != ROCL_OK || !(w->process->kinds & ROCL_BIT(kind)))
        return false;
    rocl_fault f = start < 0 || end < 0 ? ROCL_FAULT_BAD_TIME : ROCL_FAULT_END_BEFORE_START;
    if (start < 0 || end < start) {
        chunk_fault(w, f);
        return false;
    }
    *e = (rocl_event){.start = start,
                      .end = end,
                      .duration = end - start,
                      .id = id,
                      .process = 0,
                      .thread = w->thread,
                      .name = name.name,
                      .category = name.category};
    return true;
}

void *chunk_event(chunk_worker *w, rocl_kind kind, int64_t start, int64_t end, chunk_name name)
{
    rocl_event head;
    if (!chunk_event_head(w, kind, start, end, name, &head))
        return NULL;
    rocl_event *e = rocl_batcher_next(&w->out, kind, &w->st, w->err);
    if (e)
        *e = head;
    return e;
}

static int64_t ns_of(const chunk_worker *w, uint64_t ticks)
{
    return chunk_clock_ns(&w->process->clock, ROCL_CLOCK_TICKS, ticks);
}

static void push(chunk_worker *w, chunk_stack *s, chunk_open open)
{
    if (!ROCL_GROW(s->all, s->cap, s->depth + 1))
        chunk_out_of_memory(w);
    else
        s->all[s->depth++] = open;
}

static void end_region(chunk_worker *w, uint64_t ticks)
{
    const chunk_open *o = &w->regions.all[--w->regions.depth];
    rocl_region *g = chunk_event(w, ROCL_REGION, ns_of(w, o->ticks), ns_of(w, ticks), o->name);
    if (g) {
        g->function = o->name.name;
        g->e.stack_id = o->correlation;
        g->e.parent_stack_id = w->regions.depth ? o[-1].correlation : 0;
    }
    chunk_args_move(w, w->regions.depth + 1, g);
}

static void end_range(chunk_worker *w, uint64_t ticks)
{
    const chunk_open *o = &w->ranges.all[--w->ranges.depth];
    rocl_region *g = chunk_event(w, ROCL_MARKER, ns_of(w, o->ticks), ns_of(w, ticks), o->name);
    if (g)
        g->function = w->process->file->words[CHUNK_W_PUSH];
}

/* An end without a begin: that was lost with a chunk, and has been counted with it. */
static void take_end(chunk_worker *w, uint64_t ticks, bool region)
{
    if ((region ? w->regions.depth : w->ranges.depth) == 0)
        w->next_id++;
    else if (region)
        end_region(w, ticks);
    else
        end_range(w, ticks);
}

static void take_mark(chunk_worker *w, const chunk_record *r)
{
    const uint32_t *words = w->process->file->words;
    int64_t at = ns_of(w, w->reader.now);
    chunk_name name = {words[CHUNK_W_MARK_API], chunk_text_of(w, r->a)};
    rocl_region *g = chunk_event(w, ROCL_INSTANT, at, at, name);
    if (g)
        g->function = words[CHUNK_W_MARK];
}

static void take_correlation(chunk_worker *w, chunk_record *r)
{
    uint64_t number = chunk_number(r), place = chunk_number(r);
    if (!place)
        place = w->regions.depth;
    if (place && place <= w->regions.depth)
        w->regions.all[place - 1].correlation = number;
}

/* What is open from this depth on has ended without being recorded. */
static void forget_open(chunk_worker *w, chunk_stack *s, size_t depth)
{
    if (s->depth <= depth)
        return;
    s->depth = depth;
    if (s == &w->regions)
        chunk_args_move(w, depth + 1, NULL);
}

/* What was open where the chunk begins; known already where the chunk before was read, but for ends
 * that were dropped in between. */
static void take_open(chunk_worker *w, chunk_record *r, bool region)
{
    uint64_t ticks = w->chunk->h.base - chunk_number(r), id = chunk_number(r);
    chunk_stack *s = region ? &w->regions : &w->ranges;
    size_t at = s->told++;
    if (at < s->depth && s->all[at].ticks == ticks)
        return;
    forget_open(w, s, at);
    if (region)
        push(w, s, (chunk_open){ticks, chunk_number(r), chunk_name_of(w, id), 0});
    else
        push(w, s, (chunk_open){ticks, 0, marker_name(w, id), 0});
}

/* Events were dropped before this chunk, ends among them: what it does not tell is not open. */
static void take_lost(chunk_worker *w)
{
    if (w->reader.now != w->chunk->h.base)
        return;
    chunk_stack *both[] = {&w->regions, &w->ranges};
    for (int i = 0; i < 2; i++)
        if (both[i]->told < ROCL_CHUNK_OPEN_MAX)
            forget_open(w, both[i], both[i]->told);
}

static void take_definition(chunk_worker *w, chunk_record *r)
{
    uint64_t id, key = chunk_def_key(r->type, r->p, (size_t)(r->end - r->p), &id);
    const chunk_process *p = w->process;
    const rocl_map *map = r->type == ROCL_REC_AGENT    ? &p->agents
                          : r->type == ROCL_REC_QUEUE  ? &p->queues
                          : r->type == ROCL_REC_STREAM ? &p->streams
                          : r->type == ROCL_REC_KERNEL ? &p->kernels
                                                       : &p->counters;
    uint32_t at = rocl_map_get(map, key, ROCL_NONE);
    if (!rocl_map_put(&w->defs, (uint64_t)r->type << 56 | (id & UINT64_MAX >> 8), at))
        chunk_out_of_memory(w);
}

static void take_sized(chunk_worker *w, chunk_record *r)
{
    switch (r->type) {
    case ROCL_REC_TEXT:
        take_text(w, r);
        break;
    case ROCL_REC_NAME:
        take_name(w, r);
        break;
    case ROCL_REC_AGENT:
    case ROCL_REC_QUEUE:
    case ROCL_REC_STREAM:
    case ROCL_REC_KERNEL:
    case ROCL_REC_COUNTER:
        take_definition(w, r);
        break;
    case ROCL_REC_OPEN_REGION:
    case ROCL_REC_OPEN_RANGE:
        take_open(w, r, r->type == ROCL_REC_OPEN_REGION);
        break;
    case ROCL_REC_LOST:
        take_lost(w);
        break;
    case ROCL_REC_CORRELATE:
        take_correlation(w, r);
        break;
    case ROCL_REC_ARG:
        chunk_take_arg(w, r);
        break;
    case ROCL_REC_PARAMETERS:
        chunk_take_parameters(w, r);
        break;
    case ROCL_REC_ARGS:
        chunk_take_args(w, r);
        break;
    default:
        if (!chunk_take_gpu(w, r) && chunk_is_event(r))
            w->next_id++; /* of a kind that is not known here */
    }
}

static void take(chunk_worker *w, chunk_record *r)
{
    uint64_t now = w->reader.now;
    switch (r->type) {
    case ROCL_REC_BEGIN:
        push(w, &w->regions, (chunk_open){now, 0, chunk_name_of(w, r->a), 0});
        break;
    case ROCL_REC_PUSH:
        push(w, &w->ranges, (chunk_open){now, 0, marker_name(w, r->a), 0});
        break;
    case ROCL_REC_END:
    case ROCL_REC_POP:
        take_end(w, now, r->type == ROCL_REC_END);
        break;
    case ROCL_REC_MARK:
        take_mark(w, r);
        break;
    case ROCL_REC_START:
    case ROCL_REC_STOP:
        chunk_take_range(w, r);
        break;
    default:
        take_sized(w, r);
    }
}

/* ---- runs ------------------------------------------------------------------------------------ */

static rocl_status flush(chunk_worker *w)
{
    if (w->st == ROCL_OK)
        w->st = rocl_batcher_flush(&w->out, w->err);
    /* Values of regions that are open still are needed. */
    if (!w->arg_count)
        rocl_arena_free(&w->values);
    return w->st;
}

/* The process ended first. Such a region is shown up to the last that is known of its thread. */
static void end_what_is_open(chunk_worker *w)
{
    while (w->st == ROCL_OK && w->regions.depth) {
        chunk_fault(w, ROCL_FAULT_UNFINISHED);
        end_region(w, w->reader.now);
    }
    while (w->st == ROCL_OK && w->ranges.depth) {
        chunk_fault(w, ROCL_FAULT_UNFINISHED);
        end_range(w, w->reader.now);
    }
}

static rocl_status scan_chunk(chunk_worker *w, const chunk_info *c)
{
    const chunk_process *p = w->process;
    chunk_record r;
    chunk_state state;
    size_t n = 0;
    w->chunk = c;
    w->thread = rocl_map_get(&p->threads, c->h.tid, ROCL_NONE);
    w->next_id = c->first_id;
    w->regions.told = w->ranges.told = 0;
    w->st = chunk_load(p->file->spool, c, &w->content, &n, &state, w->err);
    chunk_reader_begin(&w->reader, c, w->content.data, n);
    while (w->st == ROCL_OK && chunk_next(&w->reader, &r))
        take(w, &r);
    if (c->last)
        end_what_is_open(w);
    forget_chunk(w);
    return flush(w);
}

rocl_status chunk_scan(chunk_process *p, const rocl_task *task, unsigned worker,
                       const rocl_emitter *to, rocl_error *err)
{
    const chunk_run *run = &p->runs[task->first];
    chunk_worker *w = chunk_worker_get(p, worker, to, err);
    rocl_status st = w ? ROCL_OK : ROCL_INTERNAL;
    if (w)
        w->regions.depth = w->ranges.depth = w->arg_count = 0;
    for (size_t i = 0; i < run->count && st == ROCL_OK; i++)
        st = scan_chunk(w, p->chunks[run->first + i]);
    rocl_progress(p->file->trace, run->events);
    return st;
}
