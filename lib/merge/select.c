#include "merge/select.h"

#include <pthread.h>
#include <stdlib.h>

#include "model/identity.h"
#include "source/formats.h"
#include "source/rocpd/rocpd.h"
#include "trace/pipeline.h"

/* ---- sets of ids ---- */

bool merge_ids_add(merge_ids *ids, int64_t id)
{
    ids->first = ids->any && ids->first < id ? ids->first : id;
    ids->last = ids->any && ids->last > id ? ids->last : id;
    ids->any = true;
    return rocl_idset_add(&ids->set, (uint64_t)id);
}

void merge_ids_free(merge_ids *ids)
{
    rocl_idset_free(&ids->set);
    *ids = (merge_ids){0};
}

void merge_selection_free(merge_selection *s)
{
    for (size_t i = 0; i < SCHEMA_EVENT_TABLES; i++)
        merge_ids_free(&s->rows[i]);
    newset_events_free(s->fresh);
    rocl_idset_free(&s->counted);
    rocl_idset_free(&s->sampled);
    rocl_idset_free(&s->spm);
    rocl_idset_free(&s->shared);
    *s = (merge_selection){0};
}

/* ---- events into sets ---- */

typedef struct selector {
    rocl_trace *trace;
    const merge_way *way;
    const merge_slices *slices;
    bool args;                   /* the user's option */
    bool fresh;                  /* the capture that is read */
    bool plain;                  /* its rows are copied as they are, all of them */
    merge_selection *selections; /* of the capture that is read, one per slice */
    merge_selected_fn *done;
    void *ctx;
    pthread_mutex_t lock;
} selector;

static size_t slice_of(const merge_slices *s, int64_t start)
{
    if (s->count == 1)
        return 0;
    uint64_t i = ((uint64_t)start - (uint64_t)s->from) / s->width;
    return i < s->count ? (size_t)i : s->count - 1;
}

static rocl_status add_events(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    selector *s = self;
    schema_table table = schema_table_of_kind(b->kind);
    rocl_status st = ROCL_OK;
    bool ok = true;
    /* A sample that is no event of its own belongs to the event that it shares. */
    bool shared = b->kind == ROCL_REGION || b->kind == ROCL_MARKER || b->kind == ROCL_SAMPLE;
    if (s->plain)
        return ROCL_OK;
    for (size_t i = 0; i < b->count && s->fresh && st == ROCL_OK; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        const merge_selection *into = &s->selections[slice_of(s->slices, e->start)];
        st = newset_events_add(into->fresh, worker, b, e, err);
    }
    if (s->fresh)
        return st;
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < b->count && ok; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        merge_selection *into = &s->selections[slice_of(s->slices, e->start)];
        ok = merge_ids_add(&into->rows[table], (int64_t)e->id) &&
             (!shared || !e->event_id || rocl_idset_add(&into->shared, e->event_id));
        if (ok && b->kind == ROCL_COUNTER)
            ok = rocl_idset_add(&into->counted, e->event_id);
        else if (ok && (b->kind == ROCL_SAMPLE || b->kind == ROCL_SPM))
            ok = rocl_idset_add(b->kind == ROCL_SPM ? &into->spm : &into->sampled,
                                merge_value_key(b->capture,
                                                b->kind == ROCL_SPM ? e->id : e->event_id,
                                                b->samples[i].counter));
        into->events++;
    }
    pthread_mutex_unlock(&s->lock);
    return ok ? ROCL_OK : rocl_fail_memory(err);
}

static void free_selections(selector *s)
{
    for (size_t i = 0; i < s->slices->count; i++)
        merge_selection_free(&s->selections[i]);
}

bool merge_is_fresh(const rocl_trace *t, const rocl_capture *c, bool rebuild)
{
    return rebuild || rocl_is_renamed(c) ||
           !(t->captures[c->index]->source->format->flags & ROCL_FORMAT_TABLE_SETS);
}

static bool is_plain(const selector *s, const rocl_capture *c)
{
    return !s->trace->filter && !s->way->cut && !merge_is_fresh(s->trace, c, s->way->rebuild);
}

/* Without filters rows are copied as they are: only --strict wants a look at the events. */
static rocl_status wants_events(void *self, const rocl_capture *c, bool *takes, rocl_error *err)
{
    selector *s = self;
    *takes = s->trace->opt.strict || !is_plain(s, c);
    return *takes ? ROCL_OK : s->done(s->ctx, c, NULL, err);
}

/* Rows that are copied bring their arguments along; those of others have to be read. */
static rocl_status begin_capture(void *self, const rocl_capture *c, rocl_error *err)
{
    selector *s = self;
    rocl_status st = ROCL_OK;
    s->fresh = merge_is_fresh(s->trace, c, s->way->rebuild);
    s->plain = is_plain(s, c);
    s->trace->opt.args = s->fresh || s->args;
    for (size_t i = 0; i < s->slices->count && s->fresh && st == ROCL_OK; i++)
        st = newset_events_new(&s->selections[i].fresh, s->trace, c, err);
    s->selections[0].whole = !s->way->cut;
    return st;
}

static rocl_status end_task(void *self, unsigned worker, rocl_error *err)
{
    selector *s = self;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < s->slices->count && s->fresh && st == ROCL_OK; i++)
        st = newset_events_seal(s->selections[i].fresh, worker, err);
    return st;
}

static rocl_status end_capture(void *self, const rocl_capture *c, rocl_error *err)
{
    selector *s = self;
    for (size_t i = 0; i < s->slices->count && s->fresh; i++)
        s->selections[i].events = newset_events_count(s->selections[i].fresh);
    rocl_status st = s->done(s->ctx, c, s->plain ? NULL : s->selections, err);
    free_selections(s);
    return st;
}

rocl_status merge_select(rocl_trace *t, const merge_way *way, merge_selected_fn *done, void *ctx,
                         rocl_error *err)
{
    bool fields = t->opt.strict;
    for (size_t i = 0; i < t->capture_count; i++) /* others may be another rank's */
        fields |= t->captures[i]->source && merge_is_fresh(t, &t->captures[i]->pub, way->rebuild);
    selector s = {.trace = t,
                  .way = way,
                  .slices = &way->slices,
                  .args = t->opt.args,
                  .done = done,
                  .ctx = ctx};
    rocl_sink sink = {.self = &s,
                      .kinds = ROCL_ALL_KINDS,
                      .fields = fields ? ROCL_ALL_FIELDS | ROCL_FIELD_INSTANCES : 0,
                      .no_place_for = ROCL_BIT(ROCL_FLOW),
                      .output = "a database",
                      .takes = wants_events,
                      .begin_capture = begin_capture,
                      .events = add_events,
                      .end_task = end_task,
                      .end_capture = end_capture};
    s.selections = calloc(way->slices.count, sizeof *s.selections);
    if (!s.selections)
        return rocl_fail_memory(err);
    pthread_mutex_init(&s.lock, NULL);
    rocl_status st = rocl_pipeline_run(t, &sink, err);
    t->opt.args = s.args;
    pthread_mutex_destroy(&s.lock);
    free_selections(&s);
    free(s.selections);
    return st;
}

/* ---- bounds ---- */

typedef struct bounds {
    pthread_mutex_t lock;
    int64_t first, last;
    bool any;
} bounds;

static rocl_status widen_bounds(void *self, unsigned worker, rocl_batch *batch, rocl_error *err)
{
    bounds *b = self;
    (void)worker;
    (void)err;
    pthread_mutex_lock(&b->lock);
    for (size_t i = 0; i < batch->count; i++) {
        int64_t start = rocl_batch_event(batch, i)->start;
        b->first = b->any && b->first < start ? b->first : start;
        b->last = b->any && b->last > start ? b->last : start;
        b->any = true;
    }
    pthread_mutex_unlock(&b->lock);
    return ROCL_OK;
}

rocl_status merge_select_bounds(rocl_trace *t, int64_t *first, int64_t *last, bool *any,
                                rocl_error *err)
{
    bounds b = {.first = 0};
    rocl_sink sink = {.self = &b, .kinds = ROCL_ALL_KINDS, .events = widen_bounds};
    rocl_notice_fn *notice = t->opt.notice;
    pthread_mutex_init(&b.lock, NULL);
    t->opt.notice = NULL; /* what there is to say will be said in the run that counts */
    rocl_status st = rocl_pipeline_run(t, &sink, err);
    t->opt.notice = notice;
    pthread_mutex_destroy(&b.lock);
    *first = b.first;
    *last = b.last;
    *any = b.any;
    return st;
}
