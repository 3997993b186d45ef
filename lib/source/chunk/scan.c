/* The second pass: a run of chunks of one writer -> events of the host. */
#include "source/chunk/chunk.h"

#include "base/array.h"
#include "source/ranges.h"

/* ---- names ---------------------------------------------------------------------------------- */

static void add_name(chunk_worker *w, chunk_record *r)
{
    uint64_t id = chunk_read_number(r);
    uint32_t category = chunk_intern(w, chunk_read_text(r));
    uint32_t name = chunk_intern(w, chunk_read_rest(r));
    if (!ROCL_GROW(w->name_list, w->name_cap, w->name_count + 1) ||
        !rocl_map_put(&w->names, id, (uint32_t)w->name_count)) {
        chunk_fail_memory(w);
        return;
    }
    w->name_list[w->name_count++] = (chunk_name){category, name};
}

static chunk_name marker_name(chunk_worker *w, uint64_t text)
{
    const uint32_t *words = w->process->file->words;
    return (chunk_name){words[CHUNK_W_RANGE_API], chunk_find_text(w, text)};
}

/* ---- regions and markers of a thread -------------------------------------------------------- */

static int64_t ticks_to_ns(const chunk_worker *w, uint64_t ticks)
{
    return chunk_clock_to_ns(&w->process->clock, ROCL_CLOCK_TICKS, ticks);
}

static void push_open(chunk_worker *w, chunk_stack *s, chunk_open open)
{
    if (!ROCL_GROW(s->all, s->cap, s->depth + 1))
        chunk_fail_memory(w);
    else
        s->all[s->depth++] = open;
}

static void end_region(chunk_worker *w, uint64_t ticks)
{
    const chunk_open *o = &w->regions.all[--w->regions.depth];
    rocl_region *g =
        chunk_event(w, ROCL_REGION, ticks_to_ns(w, o->ticks), ticks_to_ns(w, ticks), o->name);
    if (g) {
        g->function = o->name.name;
        g->e.stack_id = o->correlation;
        g->e.parent_stack_id = w->regions.depth ? o[-1].correlation : 0;
    }
    chunk_move_args(w, w->regions.depth + 1, g);
}

static void end_range(chunk_worker *w, uint64_t ticks)
{
    const chunk_open *o = &w->ranges.all[--w->ranges.depth];
    rocl_region *g =
        chunk_event(w, ROCL_MARKER, ticks_to_ns(w, o->ticks), ticks_to_ns(w, ticks), o->name);
    if (g)
        g->function = w->process->file->words[CHUNK_W_PUSH];
}

static void add_mark(chunk_worker *w, const chunk_record *r)
{
    const uint32_t *words = w->process->file->words;
    int64_t at = ticks_to_ns(w, w->reader.now);
    chunk_name name = {words[CHUNK_W_MARK_API], chunk_find_text(w, r->a)};
    rocl_region *g = chunk_event(w, ROCL_INSTANT, at, at, name);
    if (g)
        g->function = words[CHUNK_W_MARK];
}

/* Everything open from this depth on has ended without a record. */
static void forget_open(chunk_worker *w, chunk_stack *s, size_t depth)
{
    if (s->depth <= depth)
        return;
    s->depth = depth;
    if (s == &w->regions)
        chunk_move_args(w, depth + 1, NULL);
}

/* Adds what was open at the begin of the chunk; known already if the chunk before was read, except
 * for ends dropped in between. */
static void add_open(chunk_worker *w, chunk_record *r, bool region)
{
    uint64_t ticks = w->chunk->h.base - chunk_read_number(r);
    uint64_t id = chunk_read_number(r);
    chunk_stack *s = region ? &w->regions : &w->ranges;
    size_t at = s->stated++;
    if (at < s->depth && s->all[at].ticks == ticks)
        return;
    forget_open(w, s, at);
    const uint64_t correlation = region ? chunk_read_number(r) : 0;
    push_open(
        w, s,
        (chunk_open){ticks, correlation, region ? chunk_find_name(w, id) : marker_name(w, id), 0});
}

static void resolve_definition(chunk_worker *w, chunk_record *r)
{
    const rocl_definition kind = r->type == ROCL_REC_AGENT     ? ROCL_DEFINE_AGENT
                                 : r->type == ROCL_REC_QUEUE   ? ROCL_DEFINE_QUEUE
                                 : r->type == ROCL_REC_STREAM  ? ROCL_DEFINE_STREAM
                                 : r->type == ROCL_REC_KERNEL  ? ROCL_DEFINE_KERNEL
                                 : r->type == ROCL_REC_SUBJECT ? ROCL_DEFINE_PROCESS
                                                               : ROCL_DEFINE_COUNTER;
    uint64_t id = chunk_read_number(r);
    uint64_t key = chunk_read_number(r);
    uint32_t at = rocl_map_get(&w->process->indexes[kind], key, ROCL_NONE);
    if (!rocl_map_put(&w->defs, chunk_def_key(r->type, id), at))
        chunk_fail_memory(w);
}

/* ---- ranges of the process ------------------------------------------------------------------ */

/* Ranges may end on another thread than they began on, so perhaps in another run. Sorting by their
 * numbers brings begin and end together. If a number begins again before its end, the former range
 * never ended. */

/* What the sorter keeps of a half. */
typedef struct range_half {
    uint64_t ticks, id;
    uint32_t thread, text;
    bool stops;
} range_half;

static void add_range_half(chunk_worker *w, const chunk_record *rec)
{
    chunk_process *p = w->process;
    bool stop = rec->type == ROCL_REC_STOP;
    range_half h = {.ticks = w->reader.now, .id = w->next_id++, .thread = w->thread, .stops = stop};
    uint64_t number = stop ? rec->a : rec->b;
    if (!p->ranges || w->st != ROCL_OK)
        return;
    if (!stop) {
        h.text = rocl_map_get(&w->texts, rec->a, ROCL_NONE);
        if (h.text == ROCL_NONE)
            chunk_count_fault(w, ROCL_FAULT_DANGLING_NAME);
    }
    const uint64_t key[] = {number, h.ticks, h.id << 1 | stop};
    if (w->st == ROCL_OK)
        w->st = rocl_sorter_add(p->ranges, w->out.worker, key, &h, sizeof h, w->err);
}

static rocl_range_half read_range_half(const uint8_t *data)
{
    range_half h;
    memcpy(&h, data, sizeof h);
    return (rocl_range_half){.begins = !h.stops};
}

/* An end alone belongs to a range that began while nothing was recorded. */
static rocl_status put_range(void *ctx, const uint8_t *begin_data, const rocl_sort_record *end_data,
                             rocl_error *err)
{
    chunk_worker *w = ctx;
    const chunk_process *p = w->process;
    const uint32_t *words = p->file->words;
    range_half begin, end = {.ticks = p->last_times[ROCL_CLOCK_TICKS]};
    (void)err;
    if (!begin_data)
        return w->st;
    memcpy(&begin, begin_data, sizeof begin);
    if (end_data)
        memcpy(&end, end_data->data, sizeof end);
    else
        chunk_count_fault(w, ROCL_FAULT_UNFINISHED);
    chunk_name name = {words[CHUNK_W_RANGE_API], begin.text == ROCL_NONE ? 0 : begin.text};
    w->thread = begin.thread;
    w->next_id = begin.id;
    rocl_region *g =
        chunk_event(w, ROCL_MARKER, ticks_to_ns(w, begin.ticks), ticks_to_ns(w, end.ticks), name);
    if (g)
        g->function = words[CHUNK_W_START];
    return w->st;
}

rocl_status chunk_emit_ranges(chunk_process *p, const rocl_emitter *to, rocl_error *err)
{
    static const rocl_range_format format = {1, ROCL_RANGES_REPLACE, read_range_half, put_range};
    if (!p->ranges || !p->count)
        return ROCL_OK;
    chunk_worker *w = chunk_worker_get(p, 0, to, err);
    if (!w)
        return ROCL_INTERNAL;
    w->chunk = p->chunks[0];
    rocl_status st = rocl_ranges_join(p->ranges, &format, w, err);
    return st == ROCL_OK ? rocl_batcher_flush(&w->out, err) : st;
}

/* ---- records -------------------------------------------------------------------------------- */

static void add_record(chunk_worker *w, chunk_record *r)
{
    uint64_t now = w->reader.now, id, depth;
    switch (r->type) {
    case ROCL_REC_BEGIN:
        push_open(w, &w->regions, (chunk_open){now, 0, chunk_find_name(w, r->a), 0});
        break;
    case ROCL_REC_PUSH:
        push_open(w, &w->ranges, (chunk_open){now, 0, marker_name(w, r->a), 0});
        break;
    /* An end without a begin, which was lost with a chunk and counted there. */
    case ROCL_REC_END:
        if (w->regions.depth)
            end_region(w, now);
        else
            w->next_id++;
        break;
    case ROCL_REC_POP:
        if (w->ranges.depth)
            end_range(w, now);
        else
            w->next_id++;
        break;
    case ROCL_REC_MARK:
        add_mark(w, r);
        break;
    case ROCL_REC_START:
    case ROCL_REC_STOP:
        add_range_half(w, r);
        break;
    case ROCL_REC_TEXT:
        id = chunk_read_number(r);
        if (!rocl_map_put(&w->texts, id, chunk_intern(w, chunk_read_rest(r))))
            chunk_fail_memory(w);
        break;
    case ROCL_REC_NAME:
        add_name(w, r);
        break;
    case ROCL_REC_AGENT:
    case ROCL_REC_QUEUE:
    case ROCL_REC_STREAM:
    case ROCL_REC_KERNEL:
    case ROCL_REC_COUNTER:
    case ROCL_REC_SUBJECT:
        resolve_definition(w, r);
        break;
    case ROCL_REC_OPEN_REGION:
    case ROCL_REC_OPEN_RANGE:
        add_open(w, r, r->type == ROCL_REC_OPEN_REGION);
        break;
    case ROCL_REC_CORRELATE:
        id = chunk_read_number(r);
        depth = chunk_read_number(r);
        if (!depth)
            depth = w->regions.depth;
        if (depth && depth <= w->regions.depth)
            w->regions.all[depth - 1].correlation = id;
        break;
    case ROCL_REC_ARG:
        chunk_add_arg(w, r);
        break;
    case ROCL_REC_PARAMETERS:
        chunk_add_parameters(w, r);
        break;
    case ROCL_REC_ARGS:
        chunk_add_args(w, r);
        break;
    default:
        if (!chunk_add_gpu_work(w, r) && chunk_is_event(r))
            w->next_id++; /* of an unknown kind */
    }
}

/* ---- runs ----------------------------------------------------------------------------------- */

rocl_status chunk_scan(rocl_trace *t, rocl_model_capture *c, const rocl_task *task, unsigned worker,
                       const rocl_emitter *to, rocl_error *err)
{
    chunk_process *p = c->state;
    const chunk_run *run = &p->runs[task->first];
    chunk_worker *w = chunk_worker_get(p, worker, to, err);
    if (!w)
        return ROCL_INTERNAL;
    w->regions.depth = w->ranges.depth = w->arg_count = 0;
    for (size_t i = 0; i < run->count && w->st == ROCL_OK; i++) {
        const chunk_info *k = p->chunks[run->first + i];
        chunk_record r;
        chunk_state state;
        size_t n = 0;
        w->chunk = k;
        w->thread = rocl_map_get(&p->indexes[ROCL_DEFINE_THREAD], k->h.tid, ROCL_NONE);
        w->next_id = k->first_id;
        w->regions.stated = w->ranges.stated = 0;
        /* What the chunk does not list has ended among dropped events, which index.c counts. */
        if (k->open_regions < ROCL_CHUNK_OPEN_MAX)
            forget_open(w, &w->regions, k->open_regions);
        if (k->open_ranges < ROCL_CHUNK_OPEN_MAX)
            forget_open(w, &w->ranges, k->open_ranges);
        w->st = chunk_load(p->file->spool, k, &w->content, &n, &state, w->err);
        chunk_reader_begin(&w->reader, k, w->content.data, n);
        while (w->st == ROCL_OK && chunk_read_record(&w->reader, &r))
            add_record(w, &r);
        /* The process ended first: what is open ends with the last event of its thread. */
        while (k->last && w->st == ROCL_OK && w->regions.depth + w->ranges.depth) {
            chunk_count_fault(w, ROCL_FAULT_UNFINISHED);
            (w->regions.depth ? end_region : end_range)(w, w->reader.now);
        }
        chunk_worker_forget(w);
        if (w->st == ROCL_OK)
            w->st = rocl_batcher_flush(&w->out, w->err);
        /* Values of open regions are still needed. */
        if (!w->arg_count)
            rocl_arena_free(&w->values);
    }
    rocl_progress(t, run->events);
    return w->st;
}
