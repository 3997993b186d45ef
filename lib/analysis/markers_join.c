/* Which GPU work belongs to which range, in three sorts. A sweep over each thread by start finds
 * the ranges around each call; a join by stack id finds the work of the call; and a sweep over each
 * range's work by start measures it. What is kept in memory are the ranges that are open at a time
 * on a thread, and those around one call. */
#include "analysis/markers.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"

/* ---- ranges around calls ---- */

typedef struct open_range {
    int64_t end;
    uint64_t number;
} open_range;

typedef struct nest {
    uint64_t thread; /* first word of the key */
    open_range *open;
    size_t count, cap;
    uint64_t ranges; /* so far */
} nest;

/* Not only the innermost end: ranges that are started and stopped by hand may cross. */
static void close_ranges(nest *n, uint64_t thread, int64_t now)
{
    size_t kept = 0;
    for (size_t i = 0; i < n->count && n->thread == thread; i++)
        if (n->open[i].end >= now)
            n->open[kept++] = n->open[i];
    n->thread = thread;
    n->count = kept;
}

static bool push(nest *n, int64_t end)
{
    if (!ROCL_GROW(n->open, n->cap, n->count + 1))
        return false;
    n->open[n->count++] = (open_range){end, n->ranges};
    return true;
}

static rocl_status open_one(markers *m, nest *n, const rocl_sort_record *rec, rocl_error *err)
{
    uint8_t payload[ROCL_VARINT_MAX];
    const uint8_t *p = rec->data, *past = rec->data + rec->len;
    uint64_t end = 0, group = 0;
    rocl_varint_get(&p, past, &end);
    rocl_varint_get(&p, past, &group);
    const uint64_t key[3] = {++n->ranges, rec->key[1], end};
    size_t len = (size_t)(rocl_varint_put(payload, group) - payload);
    bool placed = (uint32_t)rec->key[0] != ROCL_NONE; /* else no call is known to be inside */
    if (placed && !push(n, (int64_t)end))
        return rocl_fail_memory(err);
    return rocl_sorter_add(m->ranges, 0, key, payload, len, err);
}

/* A call in no range is a link to range 0: it may be the one that its stack id stands for. */
static rocl_status link_call(markers *m, const nest *n, const rocl_sort_record *rec,
                             rocl_error *err)
{
    uint8_t payload[ROCL_VARINT_MAX];
    const uint8_t *p = rec->data, *past = rec->data + rec->len;
    uint64_t end = 0, process = 0, stack_id = 0, links = 0;
    rocl_varint_get(&p, past, &end);
    rocl_varint_get(&p, past, &process);
    rocl_varint_get(&p, past, &stack_id);
    const uint64_t key[4] = {rec->key[0] >> 32 << 32 | process, stack_id, rec->key[1], rec->key[3]};
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < n->count && st == ROCL_OK; i++) {
        if (n->open[i].end < (int64_t)end)
            continue;
        size_t len = (size_t)(rocl_varint_put(payload, n->open[i].number) - payload);
        st = rocl_sorter_add(m->links, 0, key, payload, len, err);
        links++;
    }
    return links || st != ROCL_OK ? st : rocl_sorter_add(m->links, 0, key, "\0", 1, err);
}

rocl_status rocl_markers_nest(markers *m, rocl_error *err)
{
    nest n = {.thread = UINT64_MAX};
    rocl_sort_record rec;
    bool more;
    rocl_status st = rocl_sorter_start(m->calls, err);
    while (st == ROCL_OK && (st = rocl_sorter_next(m->calls, &rec, &more, err)) == ROCL_OK &&
           more) {
        close_ranges(&n, rec.key[0], (int64_t)rec.key[1]);
        st = rec.key[2] ? link_call(m, &n, &rec, err) : open_one(m, &n, &rec, err);
    }
    free(n.open);
    rocl_sorter_free(m->calls); /* room for the others */
    m->calls = NULL;
    return st;
}

/* ---- the work of calls ---- */

/* The first call of a stack id, and the ranges around it. */
typedef struct linked {
    uint64_t call[4];
    uint64_t *ranges;
    size_t count, cap;
} linked;

static bool add_range(linked *l, const rocl_sort_record *rec)
{
    const uint8_t *p = rec->data;
    uint64_t range = 0;
    if (memcmp(l->call, rec->key, 2 * sizeof *rec->key) != 0) {
        memcpy(l->call, rec->key, sizeof l->call);
        l->count = 0;
    }
    rocl_varint_get(&p, rec->data + rec->len, &range);
    if (!range || memcmp(l->call, rec->key, sizeof l->call) != 0)
        return true;
    if (!ROCL_GROW(l->ranges, l->cap, l->count + 1))
        return false;
    l->ranges[l->count++] = range;
    return true;
}

static rocl_status take_work(markers *m, const linked *l, const rocl_sort_record *rec,
                             rocl_error *err)
{
    const uint8_t *p = rec->data, *past = rec->data + rec->len;
    uint64_t end = 0, kind = 0;
    rocl_status st = ROCL_OK;
    if (memcmp(l->call, rec->key, 2 * sizeof *rec->key) != 0)
        return ROCL_OK;
    rocl_varint_get(&p, past, &end);
    rocl_varint_get(&p, past, &kind);
    for (size_t i = 0; i < l->count && st == ROCL_OK; i++) {
        const uint64_t key[3] = {l->ranges[i], rec->key[2], end};
        uint8_t payload = (uint8_t)kind;
        st = rocl_sorter_add(m->ranges, 0, key, &payload, 1, err);
    }
    return st;
}

rocl_status rocl_markers_link(markers *m, rocl_error *err)
{
    linked l = {0};
    rocl_sort_record rec;
    bool more;
    rocl_status st = rocl_sorter_start(m->links, err);
    while (st == ROCL_OK && (st = rocl_sorter_next(m->links, &rec, &more, err)) == ROCL_OK &&
           more) {
        if (rec.key[2] & MARKERS_WORK)
            st = take_work(m, &l, &rec, err);
        else if (!add_range(&l, &rec))
            st = rocl_fail_memory(err);
    }
    free(l.ranges);
    rocl_sorter_free(m->links);
    m->links = NULL;
    return st;
}

/* ---- measuring ---- */

/* A range while its work is swept. */
typedef struct sweep {
    marker_group *group; /* NULL: none yet */
    int64_t start, end;
    int64_t first, until; /* of its work; covered up to there */
    int64_t busy, hidden; /* hidden: while the range lasted */
    uint64_t kernels, copies;
} sweep;

static int64_t common(int64_t start, int64_t end, const sweep *s)
{
    int64_t from = start > s->start ? start : s->start, to = end < s->end ? end : s->end;
    return to > from ? to - from : 0;
}

/* Only what the work before it does not cover counts. */
static void cover(sweep *s, int64_t start, int64_t end, rocl_kind kind)
{
    if (!(s->kernels + s->copies))
        s->first = s->until = start;
    int64_t from = start > s->until ? start : s->until;
    if (end > from) {
        s->busy += end - from;
        s->hidden += common(from, end, s);
    }
    if (end > s->until) /* also of no length */
        s->until = end;
    s->kernels += kind == ROCL_DISPATCH;
    s->copies += kind == ROCL_COPY;
}

static void end_sweep(const sweep *s)
{
    marker_group *g = s->group;
    int64_t host = s->end - s->start;
    if (!g)
        return;
    g->min = g->count && g->min < host ? g->min : host;
    g->max = g->count && g->max > host ? g->max : host;
    g->count++;
    g->total = rocl_add_saturated(g->total, host);
    g->span = rocl_add_saturated(g->span, s->until - s->first);
    g->busy = rocl_add_saturated(g->busy, s->busy);
    g->exposed = rocl_add_saturated(g->exposed, host - s->hidden);
    g->kernels += s->kernels;
    g->copies += s->copies;
}

static sweep begin_sweep(const markers *m, const rocl_sort_record *rec)
{
    const uint8_t *p = rec->data;
    uint64_t group = 0;
    rocl_varint_get(&p, rec->data + rec->len, &group);
    return (sweep){
        .group = &m->groups[group], .start = (int64_t)rec->key[1], .end = (int64_t)rec->key[2]};
}

rocl_status rocl_markers_measure(markers *m, rocl_error *err)
{
    sweep s = {0};
    rocl_sort_record rec;
    bool more;
    rocl_status st = rocl_sorter_start(m->ranges, err);
    while (st == ROCL_OK && (st = rocl_sorter_next(m->ranges, &rec, &more, err)) == ROCL_OK &&
           more) {
        if (rec.key[1] & MARKERS_WORK) {
            cover(&s, (int64_t)(rec.key[1] & ~MARKERS_WORK), (int64_t)rec.key[2],
                  (rocl_kind)rec.data[0]);
            continue;
        }
        end_sweep(&s);
        s = begin_sweep(m, &rec);
    }
    end_sweep(&s);
    return st;
}
