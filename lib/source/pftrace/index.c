/* The first walk through a trace collects what its packets depend on. */
#include <stdlib.h>

#include "base/order.h"
#include "base/pool.h"
#include "source/pftrace/pftrace.h"

/* ---- a packet -------------------------------------------------------------------------------- */

/* The bytes of plain entries, {iid, text}, are the text. */
bool pfr_interned_next(rocl_pb *r, unsigned *table, uint64_t *iid, rocl_view *bytes)
{
    rocl_pb_field f, g;
    while (rocl_pb_next(r, &f)) {
        if (f.kind != ROCL_PB_BYTES || f.number > UINT16_MAX)
            continue;
        rocl_pb entry = rocl_pb_of(f.bytes);
        const bool plain = f.number == INTERNED_NAMES || f.number == INTERNED_CATEGORIES ||
                           f.number == INTERNED_ANNOTATIONS || f.number == INTERNED_STRINGS ||
                           f.number == INTERNED_ARG_NAMES;
        const bool known = plain || f.number == INTERNED_CONTEXTS || f.number == INTERNED_SPECS ||
                           f.number == INTERNED_COUNTERS || f.number == INTERNED_KERNELS;
        if (!known)
            continue;
        *table = f.number;
        *iid = 0;
        *bytes = plain ? (rocl_view){"", 0} : f.bytes;
        while (rocl_pb_next(&entry, &g)) {
            if (g.number == IID)
                *iid = g.value;
            else if (plain && g.number == IID_NAME && g.kind == ROCL_PB_BYTES)
                *bytes = g.bytes;
        }
        return true;
    }
    return false;
}

/* Incremental counters: their sums must be known before a piece is read. Their tracks are described
 * before. */
static void add_increment(pfr_file *f, rocl_map *open, uint32_t sequence, const pfr_state *s,
                          const pfr_packet *p, uint32_t piece, uint64_t uuid, double value)
{
    const pfr_track *t = pfr_track_of(f, p->machine, uuid, p->at);
    if (!t || !t->incremental)
        return;
    const uint64_t key = (uint64_t)sequence << 32 | (uint64_t)(t - f->tracks);
    uint32_t at = rocl_map_get(open, key, ROCL_NONE);
    if (at == ROCL_NONE || f->sums[at].piece != piece) {
        pfr_sum fresh = at == ROCL_NONE ? (pfr_sum){.track = key} : f->sums[at];
        fresh.piece = piece;
        at = (uint32_t)f->sum_count;
        if (!ROCL_GROW(f->sums, f->sum_cap, f->sum_count + 1) || !rocl_map_put(open, key, at)) {
            f->failed = true;
            return;
        }
        f->sums[f->sum_count++] = fresh;
    }
    pfr_sum_add(&f->sums[at], s, value);
}

/* All values of an event, of which any may be an increment. */
static void index_values(pfr_file *f, rocl_map *open, uint32_t sequence, const pfr_state *s,
                         const pfr_packet *p, uint32_t piece)
{
    uint64_t tracks[2][PFR_EXTRA_TRACKS], type = 0, uuid = pfr_track_unsaid(s);
    size_t count[2], at[2] = {0};
    rocl_pb r = rocl_pb_of(p->body);
    rocl_pb_field g;
    double value = 0;
    bool extra = false;
    while (rocl_pb_next(&r, &g)) {
        if (g.number == EV_TYPE)
            type = g.value;
        else if (g.number == EV_TRACK)
            uuid = g.value;
        else if (g.number == EV_COUNTER_VALUE)
            value = (double)(int64_t)g.value;
        else if (g.number == EV_DOUBLE_VALUE && g.kind == ROCL_PB_FIXED64)
            value = rocl_pb_double(&g);
        extra |= g.number == EV_EXTRA_VALUES || g.number == EV_EXTRA_DOUBLE_VALUES;
    }
    if (type == TYPE_COUNTER)
        add_increment(f, open, sequence, s, p, piece, uuid, value);
    if (!extra)
        return;
    pfr_extra_tracks(f, s, p->body, tracks, count);
    for (r = rocl_pb_of(p->body); rocl_pb_next(&r, &g);) {
        const int real = g.number == EV_EXTRA_DOUBLE_VALUES;
        if ((g.number == EV_EXTRA_VALUES || real) && at[real] < count[real])
            add_increment(f, open, sequence, s, p, piece, tracks[real][at[real]++],
                          real ? rocl_pb_double(&g) : (double)(int64_t)g.value);
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* The walk as it goes on. */
typedef struct index_walk {
    pfr_file *file;
    pfr_state *states; /* by sequence */
    size_t state_cap;
    uint32_t *touched; /* by sequence: checkpoint + 1 that is under construction */
    size_t touched_cap;
    rocl_map sums;
    uint32_t piece;
    uint64_t at;
    pfr_walk walk;
} index_walk;

/* The state of a packet's sequence; NULL: memory is out. */
static pfr_state *open_sequence(index_walk *x, const pfr_packet *p, uint32_t *sequence)
{
    pfr_file *f = x->file;
    *sequence = pfr_sequence(f, p);
    if (*sequence == ROCL_NONE) {
        *sequence = (uint32_t)f->sequence_count;
        if (!rocl_map_put(&f->sequence_ids, pfr_sequence_key(p), *sequence) ||
            !ROCL_GROW(f->sequences, f->sequence_cap, f->sequence_count + 1) ||
            !ROCL_GROW(x->states, x->state_cap, f->sequence_count + 1) ||
            !ROCL_GROW(x->touched, x->touched_cap, f->sequence_count + 1))
            return NULL;
        x->states[*sequence] = (pfr_state){0};
        x->touched[*sequence] = 0;
        f->sequences[f->sequence_count++] = pfr_sequence_key(p);
    }
    const uint32_t made = x->touched[*sequence];
    if (!made || f->checkpoints[made - 1].piece != x->piece) {
        if (!ROCL_GROW(f->checkpoints, f->checkpoint_cap, f->checkpoint_count + 1))
            return NULL;
        f->checkpoints[f->checkpoint_count++] =
            (pfr_checkpoint){.sequence = *sequence, .piece = x->piece};
        x->touched[*sequence] = (uint32_t)f->checkpoint_count;
    }
    return &x->states[*sequence];
}

void pfr_note_times(pfr_file *f, const pfr_packet *p, const pfr_moment *m)
{
    rocl_fault fault;
    int64_t end = m->time;
    rocl_pb_field g;
    if (!pfr_is_event(p) || pfr_packet_fault(p, m, &fault))
        return;
    for (rocl_pb r = rocl_pb_of(p->body); p->payload == PKT_GPU_STAGE && rocl_pb_next(&r, &g);)
        if (g.number == STAGE_DURATION && __builtin_add_overflow(m->time, (int64_t)g.value, &end))
            end = m->time;
    f->first = m->time < f->first ? m->time : f->first;
    f->last = end > f->last ? end : f->last;
}

static void index_packet(index_walk *x, const pfr_packet *p)
{
    pfr_file *f = x->file;
    uint32_t sequence;
    pfr_state *s = open_sequence(x, p, &sequence);
    if (!s) {
        f->failed = true;
        return;
    }
    if (p->payload == PKT_CLOCK_SNAPSHOT) {
        const uint32_t clock = f->clocks.trace;
        f->failed |= !pfr_clocks_learn(&f->clocks, p->machine, p->body);
        f->times_unsure |= clock != f->clocks.trace && f->first <= f->last;
    }
    pfr_moment m;
    pfr_state_step(s, &f->clocks, f->bytes, p, &m);
    const uint64_t key = m.converted ? (uint64_t)p->machine << 32 | m.clock : 0;
    if (pfr_is_event(p) && m.has_time && (!f->clocks_used.count || key != f->clock_last)) {
        f->clock_last = key;
        f->failed |= !rocl_map_put(&f->clocks_used, key, 1);
    }
    if (!f->looked_through) {
        pfr_note_times(f, p, &m);
        f->times_unsure |= m.has_time && m.converted;
    }
    unsigned table;
    uint64_t iid;
    rocl_view bytes;
    rocl_pb interned = rocl_pb_of(p->interned);
    while (p->interned.n && s->valid && pfr_interned_next(&interned, &table, &iid, &bytes)) {
        if (!ROCL_GROW(f->interned, f->interned_cap, f->interned_count + 1)) {
            f->failed = true;
            return;
        }
        const uint32_t id = rocl_strings_put(f->bytes, bytes.p, bytes.n);
        f->interned[f->interned_count++] =
            (pfr_interned){iid, p->at, sequence, id, (uint16_t)table};
        if (table == INTERNED_COUNTERS)
            pfr_definitions_counters(f, id, bytes);
    }
    if (p->payload == PKT_TRACK_EVENT) {
        if (f->incremental)
            index_values(f, &x->sums, sequence, s, p, x->piece);
        return;
    }
    /* Did the tracing service lose data, by its statistics? */
    rocl_pb stats = rocl_pb_of(p->body);
    rocl_pb_field g;
    while (p->payload == PKT_TRACE_STATS && pfr_next_bytes(&stats, STATS_BUFFER, &bytes))
        for (rocl_pb buffer = rocl_pb_of(bytes); rocl_pb_next(&buffer, &g);)
            if ((g.number == BUFFER_OVERWRITTEN || g.number == BUFFER_DISCARDED ||
                 g.number == BUFFER_LOST) &&
                g.kind == ROCL_PB_VARINT && g.value)
                f->lost_at = p->at + 1;
    if (p->payload && !pfr_definitions_describe(f, p))
        f->others[p->payload < 255 ? p->payload : 255]++;
}

rocl_status pfr_unpack_block(void *ctx, unsigned worker, rocl_block *b, rocl_error *err)
{
    pfr_walk w = {0};
    pfr_packet p;
    (void)ctx;
    (void)worker;
    if (!b->user)
        return ROCL_OK;
    pfr_walk_begin(&w, b->in.data, b->in.len, 0);
    w.copy = &b->out;
    while (pfr_walk_next(&w, &p))
        continue;
    const bool failed = w.failed || b->out.failed;
    pfr_walk_free(&w);
    return failed ? rocl_fail_memory(err) : ROCL_OK;
}

static rocl_status index_block(void *ctx, rocl_block *b, rocl_error *err)
{
    index_walk *x = ctx;
    pfr_file *f = x->file;
    const rocl_buf *bytes = b->user ? &b->out : &b->in;
    const size_t first = f->checkpoint_count;
    pfr_packet p;
    if (!ROCL_GROW(f->bases, f->base_cap, x->piece + (size_t)1))
        return rocl_fail_memory(err);
    f->bases[x->piece] = x->at;
    pfr_walk_begin(&x->walk, bytes->data, bytes->len, x->at);
    while (!f->failed && pfr_walk_next(&x->walk, &p))
        if (!p.why)
            index_packet(x, &p);
    for (size_t i = first; i < f->checkpoint_count; i++)
        f->checkpoints[i].state = x->states[f->checkpoints[i].sequence];
    x->at = x->walk.at;
    x->piece++;
    return f->failed || x->walk.failed ? rocl_fail_memory(err) : ROCL_OK;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* Assumed ratio of unpacked to compressed bytes: unpacked, pieces have some MiB. */
enum { UNPACKED_RATIO = 8, PIECES_MAX = 4096 };

typedef struct cutter {
    pfr_file *file;
    rocl_pipe *pipe;
    rocl_block *block;
    uint64_t first, weight, limit; /* of the piece under construction */
} cutter;

/* The piece ends at an offset. */
static rocl_status end_piece(cutter *c, uint64_t end, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    rocl_records_input *in = c->file->in;
    if (!c->block || !c->block->in.len)
        return ROCL_OK;
    if (!rocl_records_add_piece(in, &(rocl_piece){.section = (uint32_t)in->piece_count,
                                                  .first = c->first,
                                                  .last = end,
                                                  .rows = (end - c->first) / 64 + 1}))
        st = rocl_fail_memory(err);
    const rocl_status put = rocl_pipe_put(c->pipe, c->block, st ? NULL : err);
    c->block = NULL;
    c->weight = 0;
    c->first = end;
    return st ? st : put;
}

/* Takes a field of the file into the piece. */
static rocl_status add_field(cutter *c, const uint8_t *p, size_t n, uint64_t at, bool compressed,
                             rocl_error *err)
{
    rocl_status st = ROCL_OK;
    if (c->weight >= c->limit)
        st = end_piece(c, at, err);
    if (st == ROCL_OK && !c->block) {
        st = rocl_pipe_get(c->pipe, &c->block, err);
        c->first = at;
        if (c->block)
            c->block->user = NULL;
    }
    if (st != ROCL_OK)
        return st;
    if (compressed)
        c->block->user = c->file;
    c->file->packed |= compressed;
    c->weight += compressed ? UNPACKED_RATIO * (uint64_t)n : n;
    rocl_buf_put(&c->block->in, p, n);
    return ROCL_OK;
}

/* Notes that a part of the file is not read. */
static rocl_status leave_out(pfr_file *f, const char *why, rocl_error *err)
{
    rocl_source *s = f->in->source;
    if (f->in->trace->opt.strict)
        return rocl_fail(err, ROCL_INPUT, "%s: %s", s->path, why);
    s->truncated = true;
    s->remark = why;
    return ROCL_OK;
}

static rocl_status cut_file(cutter *c, rocl_error *err)
{
    pfr_file *f = c->file;
    const rocl_spool *spool = f->in->files[0].spool;
    const uint64_t size = rocl_spool_size(spool);
    size_t window = (size_t)1 << 20;
    rocl_buf buf = {0};
    rocl_status st = ROCL_OK;
    uint64_t at = 0;
    bool stop = false;
    while (st == ROCL_OK && at < size && !stop) {
        size_t got, used = 0;
        buf.len = 0;
        if (!rocl_buf_reserve(&buf, window)) {
            st = rocl_fail_memory(err);
            break;
        }
        st = rocl_spool_read(spool, buf.data, window, at, &got, err);
        while (st == ROCL_OK && used < got) {
            bool compressed;
            const uint64_t n = pfr_field_bytes(buf.data + used, got - used, &compressed);
            if (n == UINT64_MAX || n > size - at - used || (!n && at + got == size)) {
                st = n == UINT64_MAX
                         ? leave_out(f, "what follows the last packet is not a trace, and left out",
                                     err)
                         : rocl_source_truncated(f->in->source, f->in->trace, err);
                stop = true;
                break;
            }
            if (n > PFR_PACKET_MAX) {
                st = leave_out(f, "a packet of more than 256 MiB is left out", err);
                if (st == ROCL_OK)
                    st = end_piece(c, at + used, err);
                at += n;
                break;
            }
            if (!n || n > got - used) {
                window = n + 1024 > window ? (size_t)n + 1024 : window;
                break;
            }
            st = add_field(c, buf.data + used, (size_t)n, at + used, compressed, err);
            used += (size_t)n;
        }
        at += used;
    }
    if (st == ROCL_OK)
        st = end_piece(c, at, err);
    rocl_buf_free(&buf);
    return st;
}

/* ---- the index ------------------------------------------------------------------------------- */

static int compare_interned(const void *a, const void *b)
{
    const pfr_interned *x = a, *y = b;
    if (x->sequence != y->sequence)
        return x->sequence < y->sequence ? -1 : 1;
    if (x->table != y->table)
        return x->table < y->table ? -1 : 1;
    if (x->iid != y->iid)
        return x->iid < y->iid ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static int compare_checkpoints(const void *a, const void *b)
{
    const pfr_checkpoint *x = a, *y = b;
    if (x->sequence != y->sequence)
        return x->sequence < y->sequence ? -1 : 1;
    return (x->piece > y->piece) - (x->piece < y->piece);
}

static int compare_sums(const void *a, const void *b)
{
    const pfr_sum *x = a, *y = b;
    if (x->track != y->track)
        return x->track < y->track ? -1 : 1;
    return (x->piece > y->piece) - (x->piece < y->piece);
}

rocl_status pfr_index(pfr_file *f, rocl_error *err)
{
    static const rocl_pipe_ops ops = {pfr_unpack_block, index_block};
    index_walk x = {.file = f};
    const uint64_t size = rocl_spool_size(f->in->files[0].spool);
    cutter c = {.file = f, .limit = rocl_piece_bytes};
    if (c.limit < size / PIECES_MAX)
        c.limit = size / PIECES_MAX;
    rocl_status st = rocl_pipe_new(&c.pipe, f->in->trace->opt.jobs, &ops, &x, err);
    if (st != ROCL_OK)
        return st;
    st = cut_file(&c, err);
    if (c.block)
        rocl_pipe_put(c.pipe, c.block, NULL);
    if (st == ROCL_OK)
        st = rocl_pipe_finish(c.pipe, err);
    else
        rocl_pipe_abort(c.pipe);
    pfr_walk_free(&x.walk);
    free(x.states);
    free(x.touched);
    rocl_map_free(&x.sums);
    if (st == ROCL_OK && (!pfr_clocks_complete(&f->clocks) || !rocl_strings_complete(f->bytes)))
        st = rocl_fail_memory(err);
    if (f->interned_count)
        qsort(f->interned, f->interned_count, sizeof *f->interned, compare_interned);
    if (f->checkpoint_count)
        qsort(f->checkpoints, f->checkpoint_count, sizeof *f->checkpoints, compare_checkpoints);
    if (f->sum_count)
        qsort(f->sums, f->sum_count, sizeof *f->sums, compare_sums);
    return st;
}

void pfr_index_free(pfr_file *f)
{
    rocl_strings_free(f->bytes);
    free(f->bases);
    rocl_map_free(&f->sequence_ids);
    free(f->sequences);
    free(f->interned);
    free(f->checkpoints);
    free(f->sums);
    free(f->clocks.all);
    rocl_map_free(&f->clocks_used);
}

pfr_state pfr_state_before(const pfr_file *f, uint32_t sequence, uint32_t piece)
{
    const pfr_checkpoint key = {.sequence = sequence, .piece = piece};
    const size_t n = rocl_count_before(&key, f->checkpoints, f->checkpoint_count, sizeof key,
                                       compare_checkpoints);
    return n && f->checkpoints[n - 1].sequence == sequence ? f->checkpoints[n - 1].state
                                                           : (pfr_state){0};
}

uint32_t pfr_interned_before(const pfr_file *f, uint32_t sequence, unsigned table, uint64_t iid,
                             uint64_t before, uint64_t cleared)
{
    const pfr_interned key = {
        .iid = iid, .at = before, .sequence = sequence, .table = (uint16_t)table};
    const size_t n =
        rocl_count_before(&key, f->interned, f->interned_count, sizeof key, compare_interned);
    const pfr_interned *e = n ? &f->interned[n - 1] : NULL;
    const bool same =
        e && e->sequence == sequence && e->table == table && e->iid == iid && e->at + 1 >= cleared;
    return same ? e->bytes : ROCL_NONE;
}

pfr_sum pfr_sum_before(const pfr_file *f, uint64_t track, uint32_t piece)
{
    const pfr_sum key = {.track = track, .piece = piece};
    const size_t n = rocl_count_before(&key, f->sums, f->sum_count, sizeof key, compare_sums);
    return n && f->sums[n - 1].track == track ? f->sums[n - 1] : (pfr_sum){.track = track};
}

uint32_t pfr_counter_name(const pfr_file *f, uint32_t descriptor, uint64_t id)
{
    return id <= UINT32_MAX ? rocl_map_get(&f->counter_names, (uint64_t)descriptor << 32 | id, 0)
                            : 0;
}
