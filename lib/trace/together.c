/* Several outputs of one reading.
 *
 * Every writer runs as it would alone, in a thread of its own, but only one of them at a time: a
 * turn is handed to a writer, and comes back when it calls rocl_pipeline_run() or returns. When
 * each waits there with its sink, the trace is read once, with a sink that hands every batch to all
 * of them. Then each has a turn to finish. So writers need not know of each other, and have no more
 * state in common than when they run one after the other.
 *
 * What they finish goes into one set of outputs, and gets its names when all have succeeded. */
#include <pthread.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/out_set.h"
#include "base/pool.h"
#include "model/trace.h"
#include "trace/pipeline.h"

/* Sinks that ask for these fields get other events, in a reading of their own. */
#define OTHER_EVENTS (ROCL_FIELD_INSTANCES | ROCL_FIELD_PLACES | ROCL_FIELD_HANDLES)

struct together;

typedef struct writer {
    struct together *all;
    const rocl_writer *def;
    const rocl_sink *sink; /* set while it waits for the reading, NULL before and after */
    rocl_status read;      /* the outcome of the reading, or why there is none */
    rocl_status status;    /* of the writer, once it has ended */
    rocl_error *err;
    pthread_t thread;
    bool started, waiting, ended, has_read;
    bool takes; /* the capture that is read */
} writer;

typedef struct together {
    rocl_trace *trace;
    writer *writers;
    size_t count;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    writer *turn;     /* who runs; NULL: the thread that called */
    uint32_t group;   /* OTHER_EVENTS of the sinks that are read for now */
    rocl_buf *copies; /* of the batch, for each worker */
} together;

/* ---- turns ---- */

/* Lets a writer run until it waits or ends; called by the one that has the turn now. */
static void pass_turn(together *a, writer *to, writer *self)
{
    pthread_mutex_lock(&a->lock);
    a->turn = to;
    pthread_cond_broadcast(&a->changed);
    while (a->turn != self && !(self && self->ended))
        pthread_cond_wait(&a->changed, &a->lock);
    pthread_mutex_unlock(&a->lock);
}

/* In the place of rocl_pipeline_run(): the writer that has the turn waits for the reading. */
static rocl_status wait_for_reading(void *ctx, const rocl_sink *sink, rocl_error *err)
{
    together *a = ctx;
    writer *w = a->turn;
    if (w->has_read) { /* it wants to read again, which it does alone */
        a->trace->run_sink = NULL;
        rocl_status st = rocl_pipeline_run(a->trace, sink, err);
        a->trace->run_sink = wait_for_reading;
        return st;
    }
    w->sink = sink;
    w->waiting = true;
    pass_turn(a, NULL, w);
    w->sink = NULL;
    w->has_read = true;
    return w->read ? rocl_fail(err, w->read, "another output failed") : ROCL_OK;
}

static void *run_writer(void *arg)
{
    writer *w = arg;
    together *a = w->all;
    pthread_mutex_lock(&a->lock);
    while (a->turn != w)
        pthread_cond_wait(&a->changed, &a->lock);
    pthread_mutex_unlock(&a->lock);
    w->status = w->def->write(a->trace, w->def->ctx, w->err);
    w->ended = true;
    pass_turn(a, NULL, w);
    return NULL;
}

/* ---- one reading: a sink that hands everything on ---- */

static bool is_in_group(const together *a, const writer *w)
{
    return w->sink && (w->sink->fields & OTHER_EVENTS) == a->group;
}

static rocl_status take_capture(void *self, const rocl_capture *c, bool *takes, rocl_error *err)
{
    together *a = self;
    rocl_status st = ROCL_OK;
    *takes = false;
    for (size_t i = 0; i < a->count && st == ROCL_OK; i++) {
        writer *w = &a->writers[i];
        w->takes = is_in_group(a, w);
        if (w->takes && w->sink->takes)
            st = w->sink->takes(w->sink->self, c, &w->takes, err);
        *takes |= w->takes;
    }
    return st;
}

static rocl_status begin_capture(void *self, const rocl_capture *c, rocl_error *err)
{
    together *a = self;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < a->count && st == ROCL_OK; i++) {
        const writer *w = &a->writers[i];
        if (w->takes && w->sink->begin_capture)
            st = w->sink->begin_capture(w->sink->self, c, err);
    }
    return st;
}

static rocl_status end_capture(void *self, const rocl_capture *c, rocl_error *err)
{
    together *a = self;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < a->count && st == ROCL_OK; i++) {
        const writer *w = &a->writers[i];
        if (w->takes && w->sink->end_capture)
            st = w->sink->end_capture(w->sink->self, c, err);
    }
    return st;
}

static rocl_status end_task(void *self, unsigned worker, rocl_error *err)
{
    together *a = self;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < a->count && st == ROCL_OK; i++) {
        const writer *w = &a->writers[i];
        if (w->takes && w->sink->end_task)
            st = w->sink->end_task(w->sink->self, worker, err);
    }
    return st;
}

/* Every sink may change its batch: all but the last get a copy. */
static rocl_status hand_on_batch(together *a, unsigned worker, rocl_batch *b, bool history,
                                 rocl_error *err)
{
    const size_t size = b->count * rocl_kind_size(b->kind);
    rocl_buf *copy = &a->copies[worker];
    const writer *last = NULL;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < a->count; i++) {
        const writer *w = &a->writers[i];
        const uint32_t kinds = !w->takes ? 0 : history ? w->sink->history_kinds : w->sink->kinds;
        if (kinds & ROCL_BIT(b->kind))
            last = w;
    }
    for (size_t i = 0; last && st == ROCL_OK; i++) {
        const writer *w = &a->writers[i];
        const uint32_t kinds = !w->takes ? 0 : history ? w->sink->history_kinds : w->sink->kinds;
        rocl_batch own = *b;
        if (!(kinds & ROCL_BIT(b->kind)))
            continue;
        if (w != last) {
            copy->len = 0;
            rocl_buf_put(copy, b->any, size);
            if (copy->failed)
                return rocl_fail_memory(err);
            own.any = (void *)copy->data;
        }
        st = history ? w->sink->history(w->sink->self, worker, &own, err)
                     : w->sink->events(w->sink->self, worker, &own, err);
        if (w == last)
            break;
    }
    return st;
}

static rocl_status hand_on_events(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    return hand_on_batch(self, worker, b, false, err);
}

static rocl_status hand_on_history(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    return hand_on_batch(self, worker, b, true, err);
}

/* Reads for all sinks that wait and are handed the same events. */
static rocl_status read_for_group(together *a, rocl_error *err)
{
    rocl_sink sink = {.self = a, .events = hand_on_events, .history = hand_on_history};
    const rocl_sink *only = NULL;
    size_t members = 0;
    for (size_t i = 0; i < a->count; i++) {
        writer *w = &a->writers[i];
        w->takes = is_in_group(a, w);
        if (!w->takes)
            continue;
        only = w->sink;
        members++;
        sink.kinds |= w->sink->kinds;
        sink.kinds |= w->sink->no_place_for;
        sink.fields |= w->sink->fields;
        sink.history_kinds |= w->sink->history_kinds;
        sink.takes = w->sink->takes ? take_capture : sink.takes;
        sink.begin_capture = w->sink->begin_capture ? begin_capture : sink.begin_capture;
        sink.end_capture = w->sink->end_capture ? end_capture : sink.end_capture;
        sink.end_task = w->sink->end_task ? end_task : sink.end_task;
    }
    if (members == 1)
        return rocl_pipeline_run(a->trace, only, err);
    const rocl_status st = rocl_pipeline_run(a->trace, &sink, err);
    for (size_t i = 0; st == ROCL_OK && i < a->count; i++)
        if (a->writers[i].takes)
            rocl_pipeline_note_left_out(a->trace, a->writers[i].sink);
    return st;
}

/* The readings that the waiting writers need; no reading when one has failed already. */
static rocl_status read_for_all(together *a, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < a->count; i++)
        if (a->writers[i].ended && a->writers[i].status > ROCL_PARTIAL)
            st = a->writers[i].status;
    if (st != ROCL_OK)
        return rocl_fail(err, st, "another output failed");
    for (size_t i = 0; i < a->count && st == ROCL_OK; i++) {
        bool again = !a->writers[i].sink;
        a->group = again ? 0 : a->writers[i].sink->fields & OTHER_EVENTS;
        for (size_t k = 0; k < i; k++)
            again |= is_in_group(a, &a->writers[k]);
        if (!again)
            st = read_for_group(a, err);
    }
    return st;
}

/* ---- the whole ---- */

static rocl_status open_writers(together *a, const rocl_writer *writers, rocl_error *err)
{
    const unsigned jobs = a->trace->opt.jobs;
    a->writers = calloc(a->count, sizeof *a->writers);
    a->copies = rocl_cache_line_calloc(jobs, sizeof *a->copies);
    if (!a->writers || !a->copies)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < a->count; i++) {
        writer *w = &a->writers[i];
        *w = (writer){.all = a, .def = &writers[i], .err = rocl_error_new()};
        if (!w->err)
            return rocl_fail_memory(err);
    }
    for (size_t i = 0; i < a->count; i++) {
        writer *w = &a->writers[i];
        w->started = pthread_create(&w->thread, NULL, run_writer, w) == 0;
        if (!w->started)
            return rocl_fail(err, ROCL_INTERNAL, "cannot start a thread");
        pass_turn(a, w, NULL); /* up to where it wants to read */
        if (w->ended && w->status > ROCL_PARTIAL)
            return rocl_fail(err, w->status, "%s", rocl_error_text(w->err));
    }
    return ROCL_OK;
}

/* Tells waiting writers the outcome, and gives each a turn to its end. */
static rocl_status end_writers(together *a, rocl_status st, rocl_error *err)
{
    rocl_status worst = st;
    for (size_t i = 0; a->writers && i < a->count; i++) {
        writer *w = &a->writers[i];
        if (!w->started)
            continue;
        if (!w->ended) {
            w->read = worst > ROCL_PARTIAL ? worst : ROCL_OK;
            pass_turn(a, w, NULL);
        }
        pthread_join(w->thread, NULL);
        if (worst <= ROCL_PARTIAL && w->status > ROCL_PARTIAL)
            rocl_error_copy(err, w->err);
        worst = w->status > worst && worst <= ROCL_PARTIAL ? w->status : worst;
    }
    return worst;
}

rocl_status rocl_write_together(rocl_trace *t, const rocl_writer *writers, size_t count,
                                rocl_error *err)
{
    together a = {.trace = t, .count = count};
    rocl_out_set set = {0};
    pthread_mutex_init(&a.lock, NULL);
    pthread_cond_init(&a.changed, NULL);
    t->run_sink = wait_for_reading;
    t->run_sink_ctx = &a;
    t->outputs = &set;
    rocl_status st = open_writers(&a, writers, err);
    if (st == ROCL_OK) {
        t->run_sink = NULL;
        st = read_for_all(&a, err);
        t->run_sink = wait_for_reading;
    }
    st = end_writers(&a, st, err);
    t->run_sink = NULL;
    t->outputs = NULL;
    if (st <= ROCL_PARTIAL) {
        const rocl_status named = rocl_out_set_commit(&set, err);
        st = named == ROCL_OK ? st : named;
    }
    rocl_out_set_discard(&set);
    for (size_t i = 0; a.writers && i < count; i++)
        rocl_error_free(a.writers[i].err);
    for (unsigned i = 0; a.copies && i < t->opt.jobs; i++)
        rocl_buf_free(&a.copies[i]);
    free(a.copies);
    free(a.writers);
    pthread_cond_destroy(&a.changed);
    pthread_mutex_destroy(&a.lock);
    return st;
}
