/* Rank 0 of a team: who reads what, and what comes back.
 *
 * ROCL_TEAM_READ: trace, kinds, those that are sent, fields, whether arguments of all calls, or of
 * collectives, are read, how many captures; of each which path of the rank, which of its captures,
 * its number here, its guid, its clock. */
#include "trace/deal.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "base/pool.h"
#include "source/formats.h"
#include "source/source.h"
#include "team/wire.h"

/* A rank may have 1/LITTLE more to read, so that others have captures of whole machines. */
#define LITTLE 8

/* Events after which a worker seals its sorters. */
#define TASK_EVENTS 32768

/* Maps a rank's texts to ours. The holder of `receiving` grows it while others read what they have
 * seen of it, so old arrays stay until the end. */
typedef struct text_map {
    uint32_t *ids;
    size_t count, cap;
    void **former;
    size_t former_count, former_cap;
} text_map;

struct rocl_deal {
    rocl_team *team;
    unsigned number; /* of the trace */
    rocl_deal_place *captures;
    text_map *maps; /* by rank */
    uint32_t *told; /* by rank: number of inputs it was told to open */
};

/* ---- captures that outputs may join ---------------------------------------------------------- */

/* Captures below SMALL are joined with neighbours up to JOINED bytes. */
enum { SMALL = 1 << 20, JOINED = 4 << 20 };

bool rocl_deal_joins(uint64_t *joined, uint64_t bytes, uint64_t next)
{
    *joined += bytes;
    if (*joined < JOINED && bytes < SMALL && next < SMALL)
        return true;
    *joined = 0;
    return false;
}

/* A plain file that can be opened and read without any other. */
static bool may_be_dealt(const rocl_source *s)
{
    return s->opened && s->ops && (s->format->flags & ROCL_FORMAT_INDEPENDENT) && !s->joined &&
           !s->slice && !s->more_count && s->bytes && strcmp(s->path, "-") != 0;
}

/* About how much of its input is the capture's. Anything but a plain file counts as large. */
static uint64_t bytes_of(const rocl_model_capture *c)
{
    return c->source->bytes ? c->source->bytes / c->source->total : SMALL;
}

void rocl_deal_join_small(rocl_trace *t)
{
    uint64_t joined = 0;
    for (size_t i = 0; i + 1 < t->capture_count && !t->opt.team_inputs; i++) {
        rocl_model_capture *c = t->captures[i];
        const rocl_model_capture *next = t->captures[i + 1];
        const rocl_source *a = c->source, *b = next->source;
        /* A rank that reads one can read the other. */
        const bool may_join = may_be_dealt(a) == may_be_dealt(b) &&
                              (a->rank == b->rank || !(a->on_node || b->on_node));
        c->joins_next = rocl_deal_joins(&joined, bytes_of(c), bytes_of(next)) && may_join;
        joined = c->joins_next ? joined : 0;
    }
}

/* ---- who reads what -------------------------------------------------------------------------- */

/* Captures that outputs may join are dealt out together. */
typedef struct unit {
    size_t first, count; /* captures */
    uint64_t bytes;
    unsigned rank;
} unit;

static int compare_by_bytes(const void *a, const void *b)
{
    const unit *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return (x->first > y->first) - (x->first < y->first);
}

/* Is it one of several captures of an input, which other ranks than the one that opened it can
 * read? */
static bool is_one_of_several(const rocl_trace *t, const rocl_source *s)
{
    return s->total > 1 && !t->opt.team_inputs && may_be_dealt(s) && !s->on_node;
}

/* Lists units that need not be read by the rank that opened them: neighbours opened by several
 * ranks, and captures of an input with several. by_machine: captures of a machine, which use
 * the same GPUs, are one unit. */
static size_t list_units(const rocl_trace *t, bool by_machine, unit *units)
{
    size_t n = 0;
    for (size_t i = 0; i < t->capture_count;) {
        unit u = {.first = i};
        bool settled = true, more = true;
        while (more) {
            const rocl_model_capture *c = t->captures[i++];
            const rocl_source *s = c->source;
            const rocl_model_capture *next = i < t->capture_count ? t->captures[i] : NULL;
            settled &= s->rank == t->captures[u.first]->source->rank && !is_one_of_several(t, s);
            u.count++;
            u.bytes += s->bytes / s->total + 1;
            more = c->joins_next || (by_machine && next && next->pub.machine == c->pub.machine &&
                                     is_one_of_several(t, s) && is_one_of_several(t, next->source));
        }
        if (!settled)
            units[n++] = u;
    }
    return n;
}

/* The largest first, each to the rank with the least. If rank 0 has to receive what the others
 * read, it gets none. Returns the load of the rank with the most. */
static uint64_t choose_ranks(const rocl_trace *t, unit *units, size_t count, uint64_t *loads,
                             unsigned size)
{
    uint64_t most = 0;
    memset(loads, 0, size * sizeof *loads);
    for (size_t i = 0; i < t->source_count; i++)
        loads[t->sources[i]->rank] += t->sources[i]->bytes;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < units[i].count; k++) {
            const rocl_source *s = t->captures[units[i].first + k]->source;
            const uint64_t bytes = s->bytes / s->total;
            loads[s->rank] -= bytes < loads[s->rank] ? bytes : loads[s->rank];
        }
    if (count)
        qsort(units, count, sizeof *units, compare_by_bytes);
    for (size_t i = 0; i < count; i++) {
        bool here = t->opt.team_writes; /* rank 0 opens nothing that another has opened */
        for (size_t k = 0; k < units[i].count; k++)
            here &= t->captures[units[i].first + k]->source->rank == 0;
        unsigned least = here ? 0 : 1;
        for (unsigned r = least + 1; r < size; r++)
            least = loads[r] < loads[least] ? r : least;
        units[i].rank = least;
        loads[least] += units[i].bytes;
    }
    for (unsigned r = 0; r < size; r++)
        most = loads[r] > most ? loads[r] : most;
    return most;
}

/* The rank that opened an input reads its captures, except for these units. Statistics of a GPU
 * need everything that ran on it: if it costs little, one rank gets all captures of a machine. */
static rocl_status deal_captures(const rocl_trace *t, unsigned size, rocl_error *err)
{
    unit *units = calloc(2 * t->capture_count + 1, sizeof *units), *chosen = units;
    uint64_t *loads = calloc(size, sizeof *loads);
    if (!units || !loads) {
        free(units);
        free(loads);
        return rocl_fail_memory(err);
    }
    size_t n = list_units(t, false, units);
    const uint64_t most = choose_ranks(t, units, n, loads, size);
    if (n && t->opt.team_collects) {
        unit *machines = units + t->capture_count;
        const size_t count = list_units(t, true, machines);
        if (choose_ranks(t, machines, count, loads, size) <= most + most / LITTLE) {
            chosen = machines;
            n = count;
        }
    }
    for (size_t i = 0; i < t->capture_count; i++)
        t->deal->captures[i].rank = t->captures[i]->source->rank;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < chosen[i].count; k++)
            t->deal->captures[chosen[i].first + k].rank = chosen[i].rank;
    free(loads);
    free(units);
    return ROCL_OK;
}

/* Finds where captures are among the inputs of their ranks. paths: by rank; those that it has not
 * opened. The captures of an input come in the same order in every trace that has it. */
static rocl_status place_captures(const rocl_trace *t, rocl_buf *paths, rocl_error *err)
{
    uint32_t *seen = calloc(t->source_count + 1, sizeof *seen);
    rocl_map opened = {0}; /* by rank and source */
    bool good = seen != NULL;
    for (size_t i = 0; i < t->capture_count && good; i++) {
        const rocl_source *s = t->captures[i]->source;
        rocl_deal_place *d = &t->deal->captures[i];
        d->nth = seen[s->number]++;
        d->input = s->input;
        if (d->rank == s->rank)
            continue;
        const uint64_t key = (uint64_t)d->rank << 32 | s->number;
        d->input = rocl_map_get(&opened, key, ROCL_NONE);
        if (d->input != ROCL_NONE)
            continue;
        d->input = rocl_deal_tell(t->deal, d->rank);
        rocl_team_put_text(&paths[d->rank], s->path, strlen(s->path));
        good = rocl_map_put(&opened, key, d->input);
    }
    rocl_map_free(&opened);
    free(seen);
    return good ? ROCL_OK : rocl_fail_memory(err);
}

rocl_status rocl_deal_send_open(const rocl_trace *t, unsigned rank, const rocl_buf *paths,
                                unsigned flags, rocl_error *err)
{
    rocl_buf b = {0};
    if (!paths->len && !paths->failed)
        return ROCL_OK;
    rocl_buf_byte(&b, ROCL_TEAM_OPEN);
    rocl_buf_varint(&b, t->deal->number);
    rocl_buf_byte(&b, (uint8_t)flags);
    rocl_buf_put(&b, paths->data, paths->len);
    b.failed |= paths->failed;
    const rocl_status st = rocl_team_send(t->deal->team, rank, &b, err);
    rocl_buf_free(&b);
    return st;
}

rocl_status rocl_deal_open(rocl_trace *t, rocl_error *err)
{
    rocl_deal *d = t->deal = calloc(1, sizeof *d);
    if (!d)
        return rocl_fail_memory(err);
    d->team = t->opt.team;
    d->number = d->team->traces++;
    d->maps = calloc(rocl_team_size(d->team), sizeof *d->maps);
    d->told = calloc(rocl_team_size(d->team), sizeof *d->told);
    return d->maps && d->told ? ROCL_OK : rocl_fail_memory(err);
}

uint32_t rocl_deal_tell(rocl_deal *d, unsigned rank)
{
    return d->told[rank]++;
}

rocl_status rocl_deal_inputs(rocl_trace *t, rocl_error *err)
{
    const unsigned size = rocl_team_size(t->opt.team);
    if (!t->deal)
        return ROCL_OK;
    t->deal->captures = calloc(t->capture_count + 1, sizeof *t->deal->captures);
    if (!t->deal->captures)
        return rocl_fail_memory(err);
    rocl_buf *paths = calloc(size, sizeof *paths);
    rocl_status st = paths ? deal_captures(t, size, err) : rocl_fail_memory(err);
    if (st == ROCL_OK)
        st = place_captures(t, paths, err);
    for (unsigned r = 0; paths && r < size; r++) {
        if (st == ROCL_OK)
            st = rocl_deal_send_open(t, r, &paths[r], 0, err);
        rocl_buf_free(&paths[r]);
    }
    free(paths);
    return st;
}

void rocl_deal_free(rocl_deal *d)
{
    if (!d)
        return;
    uint8_t space[ROCL_TEAM_SHORT];
    const rocl_buf b = rocl_team_short(space, ROCL_TEAM_CLOSE, d->number);
    for (unsigned r = 0; d->maps && r < rocl_team_size(d->team); r++) {
        if (r && !d->team->broken)
            (void)rocl_team_send(d->team, r, &b, NULL);
        for (size_t i = 0; i < d->maps[r].former_count; i++)
            free(d->maps[r].former[i]);
        free(d->maps[r].former);
        free(d->maps[r].ids);
    }
    free(d->maps);
    free(d->told);
    free(d->captures);
    free(d);
}

bool rocl_is_dealt(const rocl_deal *d, uint32_t capture)
{
    return d && d->captures[capture].rank > 0;
}

rocl_deal_place rocl_deal_place_of(const rocl_deal *d, uint32_t capture)
{
    return d->captures[capture];
}

unsigned rocl_deal_number(const rocl_deal *d)
{
    return d->number;
}

void rocl_deal_put_clock(rocl_buf *to, const rocl_model_capture *c)
{
    rocl_buf_put(to, &c->offset, sizeof c->offset);
    rocl_buf_put(to, &c->drift, sizeof c->drift);
    rocl_buf_put(to, &c->drift_from, sizeof c->drift_from);
    const size_t processes = c->clocks ? c->pub.process_count : 0;
    rocl_buf_varint(to, processes);
    rocl_buf_put(to, c->clocks, processes * sizeof *c->clocks);
}

/* ---- a run ----------------------------------------------------------------------------------- */

bool rocl_notices_hold(rocl_held_notices *h, uint64_t capture, char *text)
{
    if (!text || !ROCL_GROW(h->all, h->cap, h->count + 1)) {
        free(text);
        return false;
    }
    size_t i = h->count++;
    for (; i > 0 && h->all[i - 1].capture > capture; i--)
        h->all[i] = h->all[i - 1];
    h->all[i] = (struct rocl_held_notice){capture, text};
    return true;
}

void rocl_notices_give(rocl_held_notices *h, const rocl_trace *t)
{
    for (size_t i = 0; i < h->count; i++) {
        rocl_notice(t, "%s", h->all[i].text);
        free(h->all[i].text);
    }
    free(h->all);
    *h = (rocl_held_notices){0};
}

/* All workers have this one; lock team->receiving to read or write it. */
typedef struct run {
    rocl_trace *trace;
    rocl_deal *deal;
    const rocl_deal_read *read;
    bool *reads; /* by rank: it has not ended its run */
    unsigned left;
    bool stop;
    rocl_status status; /* of the first capture, in their order, that failed */
    uint64_t failed;
    rocl_error *err;
    rocl_held_notices notices;
} run;

static rocl_status begin_rank(run *r, unsigned rank, rocl_error *err)
{
    const rocl_trace *t = r->trace;
    rocl_buf b = {0}, list = {0};
    uint64_t n = 0;
    for (size_t i = 0; i < t->capture_count; i++) {
        const rocl_deal_place *dealt = &r->deal->captures[i];
        const rocl_model_capture *c = t->captures[i];
        if (dealt->rank != rank || !r->read->wanted[i])
            continue;
        rocl_buf_varint(&list, dealt->input);
        rocl_buf_varint(&list, dealt->nth);
        rocl_buf_varint(&list, i);
        rocl_team_put_interned(&list, t->strings, c->pub.guid);
        rocl_deal_put_clock(&list, c);
        n++;
    }
    rocl_buf_byte(&b, ROCL_TEAM_READ);
    rocl_buf_varint(&b, r->deal->number);
    rocl_buf_varint(&b, r->read->kinds);
    rocl_buf_varint(&b, r->read->sent);
    rocl_buf_varint(&b, r->read->fields);
    rocl_buf_byte(&b, t->opt.args);
    rocl_buf_byte(&b, t->opt.collectives);
    rocl_buf_varint(&b, n);
    rocl_buf_put(&b, list.data, list.len);
    rocl_buf_free_into(&list, &b);
    const rocl_status st = n ? rocl_team_send(r->deal->team, rank, &b, err) : ROCL_OK;
    r->reads[rank] = n && st == ROCL_OK;
    r->left += r->reads[rank];
    rocl_buf_free(&b);
    return st;
}

/* Captures from this one on need not be read any more. */
static void stop_ranks(run *r, uint64_t from)
{
    uint8_t space[ROCL_TEAM_SHORT];
    const rocl_buf b = rocl_team_short(space, ROCL_TEAM_STOP, from);
    for (unsigned k = 1; k < rocl_team_size(r->deal->team) && !r->deal->team->broken; k++)
        if (r->reads[k])
            (void)rocl_team_send(r->deal->team, k, &b, NULL);
}

/* Is it the first failed capture, in their order? Failures of rank 0 itself belong to no
 * capture. */
static bool note_status(run *r, uint64_t capture, rocl_status st)
{
    if (r->status != ROCL_OK && capture >= r->failed)
        return false;
    r->status = st;
    r->failed = capture;
    stop_ranks(r, capture);
    return true;
}

static rocl_status take_texts(run *r, unsigned rank, rocl_byte_reader *from, rocl_error *err)
{
    text_map *m = &r->deal->maps[rank];
    for (uint64_t n = rocl_next_number(from); n && !from->bad; n--) {
        const uint64_t id = rocl_next_number(from), len = rocl_next_number(from);
        const uint8_t *p = rocl_next_bytes(from, len);
        if (!p || id >= ROCL_NONE)
            break;
        if (id >= m->cap) {
            const size_t cap = 2 * (size_t)id + 1024;
            uint32_t *more = calloc(cap, sizeof *more);
            if (!more || !ROCL_GROW(m->former, m->former_cap, m->former_count + 1)) {
                free(more);
                return rocl_fail_memory(err);
            }
            if (m->count)
                memcpy(more, m->ids, m->count * sizeof *more);
            m->former[m->former_count++] = m->ids;
            m->ids = more;
            m->cap = cap;
        }
        m->ids[id] = rocl_strings_put(r->trace->strings, (const char *)p, len);
        m->count = id >= m->count ? (size_t)id + 1 : m->count;
    }
    return from->bad ? rocl_team_bad_message(err) : ROCL_OK;
}

/* All messages but batches, in the order in which they come. */
static rocl_status take_message(run *r, unsigned rank, rocl_team_message type,
                                rocl_byte_reader *from, rocl_error *err)
{
    uint64_t capture, n;
    rocl_status status;
    const uint8_t *error;
    char *text;
    switch (type) {
    case ROCL_TEAM_TEXTS:
        return take_texts(r, rank, from, err);
    case ROCL_TEAM_NOTICE:
        capture = rocl_next_number(from);
        text = rocl_team_text(from);
        if (rocl_notices_hold(&r->notices, (uint32_t)capture, text))
            return ROCL_OK;
        return from->bad ? rocl_team_bad_message(err) : rocl_fail_memory(err);
    case ROCL_TEAM_ERROR:
        capture = rocl_next_number(from);
        status = (rocl_status)rocl_next_number(from);
        n = rocl_next_number(from);
        error = rocl_next_bytes(from, n);
        if (!error)
            return rocl_team_bad_message(err);
        if (note_status(r, capture, status))
            rocl_fail(r->err, status, "%.*s", (int)n, (const char *)error);
        return ROCL_OK;
    case ROCL_TEAM_END:
        for (int f = 0; f < ROCL_FAULTS; f++)
            atomic_fetch_add_explicit(&r->trace->faults[f], rocl_next_number(from),
                                      memory_order_relaxed);
        rocl_team_take_bad_texts(r->trace->strings, from);
        r->left -= r->reads[rank];
        r->reads[rank] = false;
        return from->bad ? rocl_team_bad_message(err) : ROCL_OK;
    case ROCL_TEAM_DONE:
        rocl_progress(r->trace, 1);
        return ROCL_OK;
    default:
        return rocl_team_bad_message(err);
    }
}

typedef struct receiver {
    rocl_buf message;
    rocl_wire_batch batch;
    size_t events; /* since its sorters were sealed */
} receiver;

/* Takes one message. *more false: all ranks have ended their run, or it has failed. */
static rocl_status receive_one(run *r, receiver *v, unsigned worker, bool *more, rocl_error *err)
{
    rocl_team *team = r->deal->team;
    rocl_wire_map texts = {0};
    rocl_byte_reader from = {0};
    unsigned rank = 0;
    bool batch = false, there = false;
    rocl_status st = ROCL_OK;
    pthread_mutex_lock(&team->receiving);
    *more = r->left > 0 && !r->stop;
    if (*more)
        st = rocl_team_receive(team, 100, &v->message, &rank, &there, err);
    if (there && st == ROCL_OK) {
        const rocl_team_message type = (rocl_team_message)v->message.data[0];
        from = (rocl_byte_reader){v->message.data + 1, v->message.data + v->message.len, false};
        batch = type == ROCL_TEAM_BATCH;
        texts = (rocl_wire_map){r->deal->maps[rank].ids, r->deal->maps[rank].count};
        if (!batch)
            st = take_message(r, rank, type, &from, err);
    }
    pthread_mutex_unlock(&team->receiving);
    if (batch) {
        rocl_batch *b = &v->batch.b;
        const uint64_t capture = rocl_next_number(&from);
        st = from.bad || capture >= r->trace->capture_count
                 ? rocl_team_bad_message(err)
                 : rocl_wire_get_batch(&v->batch, &from, &texts, err);
        if (st == ROCL_OK && b->count) {
            b->capture = &r->trace->captures[capture]->pub;
            v->events += b->count;
            st = r->read->batch(r->read->ctx, worker, b, err);
        }
        if (st == ROCL_OK && v->events >= TASK_EVENTS && r->read->end_task) {
            v->events = 0;
            st = r->read->end_task(r->read->ctx, worker, err);
        }
    }
    if (st != ROCL_OK) {
        pthread_mutex_lock(&team->receiving);
        if (note_status(r, 0, st))
            rocl_error_copy(r->err, err);
        r->stop = true;
        pthread_mutex_unlock(&team->receiving);
    }
    return st;
}

/* One for each worker: it takes messages of all ranks. */
static rocl_status run_receiver(void *ctx, unsigned worker, size_t index, rocl_error *err)
{
    run *r = ctx;
    receiver v = {0};
    bool more = true;
    rocl_status st = ROCL_OK;
    (void)index;
    while (more && st == ROCL_OK)
        st = receive_one(r, &v, worker, &more, err);
    if (st == ROCL_OK && r->read->end_task)
        st = r->read->end_task(r->read->ctx, worker, err);
    rocl_wire_batch_free(&v.batch);
    rocl_buf_free(&v.message);
    return st;
}

rocl_status rocl_deal_run(rocl_trace *t, const rocl_deal_read *read, rocl_error *err)
{
    rocl_team *team = t->deal->team;
    const unsigned size = rocl_team_size(team);
    run r = {.trace = t, .deal = t->deal, .read = read, .err = err, .failed = UINT64_MAX};
    rocl_buf message = {0};
    uint64_t captures = 0;
    r.reads = calloc(size, sizeof *r.reads);
    if (!r.reads)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < t->capture_count; i++)
        captures += read->wanted[i] && rocl_is_dealt(t->deal, (uint32_t)i);
    pthread_mutex_lock(&team->run);
    rocl_progress_phase(t, "reading", captures);
    rocl_status st = ROCL_OK;
    for (unsigned rank = 1; rank < size && st == ROCL_OK; rank++)
        st = begin_rank(&r, rank, err);
    if (st != ROCL_OK) {
        r.status = st;
        stop_ranks(&r, 0);
    } else {
        rocl_error *of_worker = rocl_error_new(); /* r.err has it, too */
        st = rocl_run_tasks(t->opt.jobs, t->opt.jobs, run_receiver, &r, of_worker);
        if (st != ROCL_OK && r.status == ROCL_OK) {
            rocl_error_copy(err, of_worker);
            r.status = st;
        }
        rocl_error_free(of_worker);
    }
    bool gone = false; /* after a failure what the ranks still send is dropped */
    while (r.left && !team->broken && !gone) {
        unsigned rank;
        bool there;
        gone = rocl_team_receive(team, 100, &message, &rank, &there, NULL) != ROCL_OK;
        if (there && !gone && message.data[0] == ROCL_TEAM_END) {
            r.left -= r.reads[rank];
            r.reads[rank] = false;
        }
    }
    rocl_buf_free(&message);
    pthread_mutex_unlock(&team->run);
    rocl_notices_give(&r.notices, t);
    free(r.reads);
    return r.status;
}
