/* Outputs that all ranks of a team write: parts of captures in temporary files, and their way into
 * the outputs. One thread at a time receives messages; each rank looks for them while it works. */
#include "trace/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/out_set.h"
#include "base/sync.h"
#include "base/unfinished.h"
#include "filter/filter.h"
#include "trace/deal.h"
#include "trace/remote.h"
#include "trace/world.h"

#define COPY_BYTES ((size_t)1 << 20)

/* What stands before all captures is the part of number 0, that of a capture of its number + 1,
 * what stands behind them all is of the number of captures + 1. */
typedef struct part {
    uint64_t number;
    uint64_t at; /* in the temporary file; of another rank's: where it belongs in the output */
    uint64_t length;
} part;

/* An output of this rank; on rank 0 also those that only others have. */
typedef struct output {
    struct rocl_parts *all;
    char *path;
    const rocl_out *out; /* that the sink has; NULL: it is written */
    part *parts;         /* in the order in which they were written */
    size_t count, cap;
} output;

/* What rank 0 has heard of another rank. */
typedef struct rank_state {
    bool asked; /* it was sent WRITE */
    bool read, written, placed, ended;
    bool answered; /* the last question, if there was any */
    output *outputs;
    size_t output_count;
    uint64_t *sums;
    size_t sum_count;
    rocl_buf facts;
    uint64_t bytes; /* that it has placed */
} rank_state;

typedef struct notice {
    uint64_t capture;
    char *text;
} notice;

struct rocl_parts {
    rocl_trace *trace;
    rocl_team *team;
    bool *own;
    pthread_mutex_t lock; /* of what workers share */
    int fd;               /* of the temporary file; -1: none yet */
    const char *folder;   /* of it, for messages */
    uint64_t end;
    output **outputs;
    size_t output_count, output_cap;
    atomic_uint_least64_t at;      /* the capture at hand */
    atomic_uint_least64_t number;  /* of the part that is written */
    atomic_uint_least64_t stop_at; /* captures from this one on need not be written */
    rocl_buf message;
    /* rank 0 */
    rank_state *ranks;     /* NULL: this is another rank's */
    bool started, waiting; /* all of its own is read */
    uint64_t done;         /* captures of others */
    rocl_status status;    /* of the first capture, in their order, that failed */
    uint64_t failed;
    rocl_error *err;
    rocl_parts_hear_fn *hear; /* of answers, while they are waited for */
    void *hear_ctx;
    rocl_notice_fn *notice; /* the user's: notices wait for their turn meanwhile */
    void *notice_ctx;
    notice *notices;
    size_t notice_count, notice_cap;
    char *all_folder; /* in which all ranks write files; NULL: none */
    rocl_buf request; /* what goes with WRITE, for sinks that write nothing; another rank: as it
                         came */
    /* another rank */
    rocl_buf place; /* PLACE or ASK that has come and is not done */
    bool named;
    rocl_unfinished shown; /* the output, or the folder, that rank 0 has shown */
};

/* ---- the sink's ------------------------------------------------------------------------------ */

static rocl_status open_parts(rocl_trace *t, rocl_team *team, bool *own, rocl_error *err)
{
    rocl_parts *p = t->parts = calloc(1, sizeof *p);
    if (!p) {
        free(own);
        return rocl_fail_memory(err);
    }
    p->trace = t;
    p->team = team;
    p->own = own;
    p->fd = -1;
    p->failed = UINT64_MAX;
    atomic_init(&p->stop_at, UINT64_MAX);
    pthread_mutex_init(&p->lock, NULL);
    p->err = rocl_error_new();
    return own && p->err ? ROCL_OK : rocl_fail_memory(err);
}

static bool is_plain_file(const char *path)
{
    struct stat file;
    return strcmp(path, "-") != 0 && (stat(path, &file) != 0 || S_ISREG(file.st_mode));
}

static void keep_notice(void *ctx, const char *text);

/* *leads false: rank 0 reads all. */
static rocl_status lead_parts(rocl_trace *t, bool *leads, rocl_error *err)
{
    bool *own = calloc(t->capture_count + 1, sizeof *own);
    *leads = !own;
    for (size_t i = 0; own && i < t->capture_count; i++) {
        own[i] = !rocl_is_dealt(t->deal, (uint32_t)i);
        *leads |= !own[i];
    }
    if (!*leads) {
        free(own);
        return ROCL_OK;
    }
    rocl_status st = open_parts(t, t->opt.team, own, err);
    if (st != ROCL_OK)
        return st;
    rocl_parts *p = t->parts;
    p->ranks = calloc(rocl_team_size(p->team), sizeof *p->ranks);
    p->notice = t->opt.notice;
    p->notice_ctx = t->opt.ctx;
    return p->ranks ? ROCL_OK : rocl_fail_memory(err);
}

static void note_shown(rocl_parts *p, const char *file);

rocl_status rocl_parts_open(rocl_trace *t, const char *path, rocl_error *err)
{
    bool leads;
    if (t->parts || !t->deal)
        return ROCL_OK;
    return !t->opt.team_writes || t->outputs || (path && !is_plain_file(path))
               ? rocl_remote_complete(t, err)
               : lead_parts(t, &leads, err);
}

rocl_status rocl_parts_join(rocl_trace *t, rocl_team *team, bool *own, rocl_team_reader *from,
                            rocl_error *err)
{
    char *folder = rocl_team_text(from);
    rocl_status st = open_parts(t, team, own, err);
    if (st == ROCL_OK && !folder)
        st = from->bad ? rocl_team_bad_message(err) : rocl_fail_memory(err);
    if (st != ROCL_OK || !*folder) {
        free(folder);
        return st;
    }
    t->parts->all_folder = folder;
    note_shown(t->parts, folder);
    return ROCL_OK;
}

/* Parts that follow each other in the file become one. */
static rocl_status note_part(output *o, uint64_t number, uint64_t at, uint64_t length,
                             rocl_error *err)
{
    part *last = o->count ? &o->parts[o->count - 1] : NULL;
    if (last && last->number == number && last->at + last->length == at) {
        last->length += length;
        return ROCL_OK;
    }
    if (!ROCL_GROW(o->parts, o->cap, o->count + 1))
        return rocl_fail_memory(err);
    o->parts[o->count++] = (part){number, at, length};
    return ROCL_OK;
}

static rocl_status append_part(output *o, uint64_t number, const void *bytes, size_t n,
                               rocl_error *err)
{
    rocl_parts *p = o->all;
    rocl_status st = ROCL_OK;
    pthread_mutex_lock(&p->lock);
    if (p->fd < 0)
        p->fd = rocl_temp_file(p->trace->opt.tmpdir, &p->folder);
    if (p->fd < 0 || !rocl_write_at(p->fd, bytes, n, p->end))
        st = rocl_fail(err, ROCL_OUTPUT, "temporary file in %s: %s", p->folder, strerror(errno));
    else
        st = note_part(o, number, p->end, n, err);
    p->end += n;
    pthread_mutex_unlock(&p->lock);
    return st;
}

static rocl_status write_part(void *ctx, const void *bytes, size_t n, rocl_error *err)
{
    output *o = ctx;
    const rocl_status st = rocl_parts_look(o->all, err);
    return st ? st : append_part(o, o->all->number, bytes, n, err);
}

/* NULL: memory is out. */
static output *add_output(rocl_parts *p, const char *path)
{
    output *o = calloc(1, sizeof *o);
    if (!o || !(o->path = strdup(path)) ||
        !ROCL_GROW(p->outputs, p->output_cap, p->output_count + 1)) {
        free(o ? o->path : NULL);
        free(o);
        return NULL;
    }
    p->outputs[p->output_count++] = o;
    return o;
}

rocl_status rocl_parts_out(rocl_trace *t, rocl_out **out, const char *path, rocl_error *err)
{
    rocl_parts *p = t->parts;
    *out = NULL;
    if (!p)
        return rocl_out_open(out, path, err);
    output *o = add_output(p, path);
    if (!o)
        return rocl_fail_memory(err);
    o->all = p;
    const rocl_status st = rocl_out_open_to(out, write_part, o, err);
    o->out = *out;
    return st;
}

rocl_status rocl_parts_head(rocl_trace *t, rocl_out *out, const void *bytes, size_t n,
                            rocl_error *err)
{
    rocl_parts *p = t->parts;
    for (size_t i = 0; p && i < p->output_count; i++)
        if (p->outputs[i]->out == out)
            return append_part(p->outputs[i], 0, bytes, n, err);
    return rocl_out_write(out, bytes, n, err);
}

void rocl_parts_front(rocl_parts *p)
{
    p->number = 0;
}

void rocl_parts_join_capture(rocl_parts *p, const rocl_capture *c)
{
    p->number = c->index + (uint64_t)1;
}

void rocl_parts_tail(rocl_parts *p)
{
    p->number = p->trace->capture_count + 1;
}

/* ---- failures, on rank 0 --------------------------------------------------------------------- */

static bool all_have(const rocl_parts *p, size_t flag)
{
    for (unsigned r = 1; r < rocl_team_size(p->team); r++)
        if (p->ranks[r].asked && !p->ranks[r].ended &&
            !*(const bool *)(const void *)((const char *)&p->ranks[r] + flag))
            return false;
    return true;
}

static void stop_ranks(rocl_parts *p, uint64_t from)
{
    uint8_t space[ROCL_TEAM_SHORT];
    const rocl_buf b = rocl_team_short(space, ROCL_TEAM_STOP, from);
    for (unsigned r = 1; r < rocl_team_size(p->team) && !p->team->broken; r++)
        if (p->ranks[r].asked && !p->ranks[r].ended)
            (void)rocl_team_send(p->team, r, &b, NULL);
}

/* Of what is no capture's fault, all is to end. Is it the first one, whose text counts? */
static bool note_status(rocl_parts *p, uint64_t capture, rocl_status st)
{
    if (p->status != ROCL_OK && capture >= p->failed)
        return false;
    p->status = st;
    p->failed = capture;
    if (capture < p->stop_at)
        p->stop_at = capture;
    stop_ranks(p, capture);
    return true;
}

static void note_failure(rocl_parts *p, uint64_t capture, rocl_status st, const rocl_error *err)
{
    if (note_status(p, capture, st))
        rocl_error_copy(p->err, err);
}

/* What the user is told. */
static rocl_status return_failure(const rocl_parts *p, rocl_error *err)
{
    if (p->status != ROCL_OK)
        rocl_error_copy(err, p->err);
    return p->status;
}

/* ---- notices, on rank 0 ---------------------------------------------------------------------- */

static void add_notice(rocl_parts *p, uint64_t capture, char *text)
{
    pthread_mutex_lock(&p->lock);
    if (text && ROCL_GROW(p->notices, p->notice_cap, p->notice_count + 1))
        p->notices[p->notice_count++] = (notice){capture, text};
    else
        free(text);
    pthread_mutex_unlock(&p->lock);
}

static void keep_notice(void *ctx, const char *text)
{
    rocl_parts *p = ctx;
    add_notice(p, p->at, strdup(text));
}

/* In the order in which one process would give them; those of a capture as they came. */
static void give_notices(rocl_parts *p)
{
    p->trace->opt.notice = p->notice;
    p->trace->opt.ctx = p->notice_ctx;
    for (size_t done = 0; done < p->notice_count; done++) {
        size_t first = SIZE_MAX;
        for (size_t i = 0; i < p->notice_count; i++)
            if (p->notices[i].text &&
                (first == SIZE_MAX || p->notices[i].capture < p->notices[first].capture))
                first = i;
        rocl_notice(p->trace, "%s", p->notices[first].text);
        free(p->notices[first].text);
        p->notices[first].text = NULL;
    }
    free(p->notices);
    p->notices = NULL;
    p->notice_count = p->notice_cap = 0;
}

/* ---- messages -------------------------------------------------------------------------------- */

static rocl_status send_counts(rocl_parts *p, rocl_error *err)
{
    const rocl_trace *t = p->trace;
    const int64_t times[] = {t->first, t->last};
    rocl_buf b = {0};
    rocl_buf_byte(&b, ROCL_TEAM_COUNTS);
    for (int f = 0; f < ROCL_FAULTS; f++)
        rocl_buf_varint(&b, t->faults[f]);
    for (int k = 0; k < ROCL_KINDS; k++)
        rocl_buf_varint(&b, t->events[k]);
    rocl_buf_put(&b, times, sizeof times);
    rocl_filter_put_hits(t->filter, &b);
    rocl_team_put_bad_texts(&b, t->strings);
    return rocl_team_reply(p->team, &b, err);
}

static rocl_status take_counts(rocl_parts *p, rocl_team_reader *r, rocl_error *err)
{
    rocl_trace *t = p->trace;
    int64_t times[2];
    for (int f = 0; f < ROCL_FAULTS; f++)
        t->faults[f] += rocl_team_number(r);
    for (int k = 0; k < ROCL_KINDS; k++)
        t->events[k] += rocl_team_number(r);
    const uint8_t *at = rocl_team_bytes(r, sizeof times);
    if (!at)
        return rocl_team_bad_message(err);
    memcpy(times, at, sizeof times);
    t->first = times[0] < t->first ? times[0] : t->first;
    t->last = times[1] > t->last ? times[1] : t->last;
    if (!rocl_filter_add_hits(t->filter, &r->p, r->end))
        return rocl_team_bad_message(err);
    rocl_team_take_bad_texts(t->strings, r);
    return r->bad ? rocl_team_bad_message(err) : ROCL_OK;
}

static void take_error(rocl_parts *p, rocl_team_reader *r)
{
    const uint64_t capture = rocl_team_number(r), status = rocl_team_number(r);
    const uint64_t n = rocl_team_number(r);
    const uint8_t *text = rocl_team_bytes(r, n);
    if (text && note_status(p, capture, (rocl_status)status))
        rocl_fail(p->err, (rocl_status)status, "%.*s", (int)n, (const char *)text);
}

static rocl_status take_parts(rank_state *s, rocl_team_reader *r, rocl_error *err)
{
    const uint64_t sums = rocl_team_number(r);
    s->sums = sums < 64 ? calloc(sums + 1, sizeof *s->sums) : NULL;
    for (uint64_t i = 0; s->sums && i < sums; i++)
        s->sums[s->sum_count++] = rocl_team_number(r);
    const uint64_t n = rocl_team_number(r);
    r->bad |= n > (uint64_t)(r->end - r->p);
    s->outputs = r->bad ? NULL : calloc(n + 1, sizeof *s->outputs);
    for (uint64_t i = 0; s->outputs && i < n && !r->bad; i++) {
        output *o = &s->outputs[s->output_count++];
        o->path = rocl_team_text(r);
        const uint64_t count = rocl_team_number(r);
        r->bad |= count > (uint64_t)(r->end - r->p);
        o->parts = r->bad ? NULL : calloc(count + 1, sizeof *o->parts);
        for (; o->parts && o->count < count && !r->bad; o->count++) {
            const uint64_t number = rocl_team_number(r);
            o->parts[o->count] = (part){.number = number, .length = rocl_team_number(r)};
        }
        if (!r->bad && (!o->parts || !o->path))
            return rocl_fail_memory(err);
    }
    if (r->bad)
        return rocl_team_bad_message(err);
    rocl_buf_put(&s->facts, r->p, (size_t)(r->end - r->p));
    r->p = r->end;
    s->written = true;
    return s->sums && s->outputs && !s->facts.failed ? ROCL_OK : rocl_fail_memory(err);
}

static rocl_status take_on_rank_0(rocl_parts *p, unsigned rank, rocl_team_reader *r,
                                  rocl_error *err)
{
    rank_state *s = &p->ranks[rank];
    uint64_t capture;
    switch ((rocl_team_message)p->message.data[0]) {
    case ROCL_TEAM_NOTICE:
        capture = rocl_team_number(r);
        add_notice(p, capture, rocl_team_text(r));
        return ROCL_OK;
    case ROCL_TEAM_DONE:
        p->done++;
        if (p->waiting)
            rocl_progress(p->trace, 1);
        return ROCL_OK;
    case ROCL_TEAM_COUNTS:
        s->read = true;
        return take_counts(p, r, err);
    case ROCL_TEAM_PARTS:
        return take_parts(s, r, err);
    case ROCL_TEAM_PLACED:
        s->placed = true;
        s->bytes = rocl_team_number(r);
        return ROCL_OK;
    case ROCL_TEAM_ANSWER:
        s->answered = r->p == r->end;
        return s->answered || !p->hear ? ROCL_OK : p->hear(p->hear_ctx, rank, r, err);
    case ROCL_TEAM_ERROR:
        take_error(p, r);
        return ROCL_OK;
    case ROCL_TEAM_END:
        s->ended = true;
        return ROCL_OK;
    default:
        return rocl_team_bad_message(err);
    }
}

static rocl_status take_on_other(rocl_parts *p, rocl_team_reader *r, rocl_error *err)
{
    uint64_t at;
    switch ((rocl_team_message)p->message.data[0]) {
    case ROCL_TEAM_STOP:
        at = rocl_team_number(r);
        if (at < p->stop_at)
            p->stop_at = at;
        return ROCL_OK;
    case ROCL_TEAM_ASK:
    case ROCL_TEAM_PLACE: {
        const rocl_buf done = p->place;
        p->place = p->message;
        p->message = done;
        return ROCL_OK;
    }
    case ROCL_TEAM_NAMED:
        p->named = true;
        return ROCL_OK;
    default:
        return rocl_team_bad_message(err);
    }
}

/* All messages that come within the time; holds team->receiving. */
static rocl_status take_messages(rocl_parts *p, int milliseconds, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    bool there = true;
    while (there && st == ROCL_OK) {
        unsigned from;
        st = rocl_team_receive(p->team, milliseconds, &p->message, &from, &there, err);
        if (st != ROCL_OK || !there)
            break;
        rocl_team_reader r = {p->message.data + 1, p->message.data + p->message.len, false};
        st = p->ranks ? take_on_rank_0(p, from, &r, err) : take_on_other(p, &r, err);
        if (st == ROCL_OK && r.bad)
            st = rocl_team_bad_message(err);
        milliseconds = 0;
    }
    if (st != ROCL_OK) {
        p->stop_at = 0;
        if (p->ranks)
            note_failure(p, 0, st, err);
    }
    return st;
}

static rocl_status wait_for_messages(rocl_parts *p, rocl_error *err)
{
    pthread_mutex_lock(&p->team->receiving);
    const rocl_status st = take_messages(p, 100, err);
    pthread_mutex_unlock(&p->team->receiving);
    return st;
}

/* On rank 0, until all others have done what the flag says, or have ended. */
static rocl_status wait_for_all(rocl_parts *p, size_t flag, rocl_error *err)
{
    rocl_status st = p->team->broken ? p->status : ROCL_OK;
    while (st == ROCL_OK && !all_have(p, flag))
        st = wait_for_messages(p, err);
    return return_failure(p, err);
}

/* ---- the run --------------------------------------------------------------------------------- */

const bool *rocl_parts_own(const rocl_parts *p)
{
    return p->own;
}

bool rocl_parts_leads(const rocl_parts *p)
{
    return p->ranks;
}

static rocl_status start_rank(rocl_parts *p, const rocl_buf *world, unsigned rank, rocl_error *err)
{
    const rocl_trace *t = p->trace;
    rocl_buf b = {0};
    bool any = false;
    for (size_t i = 0; i < t->capture_count && !any; i++)
        any = rocl_deal_place_of(t->deal, (uint32_t)i).rank == rank;
    if (!any)
        return ROCL_OK;
    rocl_buf_byte(&b, ROCL_TEAM_WRITE);
    rocl_buf_varint(&b, rocl_deal_number(t->deal));
    rocl_buf_byte(&b, t->opt.args);
    rocl_buf_byte(&b, t->opt.collectives);
    rocl_world_put(&b, world, t, rank);
    rocl_team_put_text(&b, p->all_folder ? p->all_folder : "",
                       p->all_folder ? strlen(p->all_folder) : 0);
    rocl_filter_put_state(t->filter, &b);
    rocl_buf_put(&b, p->request.data, p->request.len);
    const rocl_status st = rocl_team_send(p->team, rank, &b, err);
    p->ranks[rank].asked = st == ROCL_OK;
    p->ranks[rank].answered = true;
    rocl_buf_free(&b);
    return st;
}

rocl_status rocl_parts_start(rocl_parts *p, rocl_error *err)
{
    rocl_buf world = {0};
    rocl_status st = rocl_world_make(&world, p->trace, err);
    p->started = true;
    for (unsigned r = 1; r < rocl_team_size(p->team) && st == ROCL_OK; r++)
        st = start_rank(p, &world, r, err);
    rocl_buf_free(&world);
    p->trace->opt.notice = p->notice ? keep_notice : NULL;
    p->trace->opt.ctx = p;
    return st;
}

bool rocl_parts_started(const rocl_parts *p)
{
    return p->started;
}

void rocl_parts_begin(rocl_parts *p, const rocl_capture *c, bool *goes)
{
    p->at = c->index;
    p->number = p->at + 1;
    *goes = *goes && c->index < p->stop_at;
}

/* Rank 0 shows how far the others are. */
rocl_status rocl_parts_end(rocl_parts *p, const rocl_capture *c, rocl_error *err)
{
    uint8_t space[ROCL_TEAM_SHORT];
    rocl_buf b = rocl_team_short(space, ROCL_TEAM_DONE, c->index);
    return p->ranks ? ROCL_OK : rocl_team_reply(p->team, &b, err);
}

rocl_status rocl_parts_look(rocl_parts *p, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    if (pthread_mutex_trylock(&p->team->receiving) == 0) {
        st = p->team->broken ? ROCL_OK : take_messages(p, 0, err);
        pthread_mutex_unlock(&p->team->receiving);
    }
    return st == ROCL_OK && p->at >= p->stop_at
               ? rocl_fail(err, ROCL_INTERNAL, "another rank of the team has failed")
               : st;
}

/* From here on the progress is that of the other ranks. */
static void show_others(rocl_parts *p)
{
    uint64_t others = 0;
    for (size_t i = 0; i < p->trace->capture_count; i++)
        others +=
            !p->own[i] && rocl_filter_takes_capture(p->trace->filter, &p->trace->captures[i]->pub);
    rocl_progress_phase(p->trace, "other ranks", others);
    rocl_progress(p->trace, p->done);
    p->waiting = true;
}

rocl_status rocl_parts_read(rocl_parts *p, rocl_status st, rocl_error *err)
{
    if (!p->ranks) {
        p->trace->opt.notice = NULL; /* the rest is rank 0's to say */
        return st ? st : send_counts(p, err);
    }
    if (st != ROCL_OK && p->at < p->stop_at)
        note_failure(p, p->at, st, err);
    show_others(p);
    st = wait_for_all(p, offsetof(rank_state, read), err);
    give_notices(p);
    return st;
}

uint32_t rocl_parts_capture(const rocl_parts *p)
{
    return (uint32_t)p->at;
}

bool rocl_parts_stopped(const rocl_parts *p)
{
    return p->at >= p->stop_at || p->team->broken;
}

static void free_output(output *o)
{
    free(o->path);
    free(o->parts);
}

void rocl_parts_end_all(rocl_parts *p)
{
    if (!p || !p->ranks || !p->started)
        return;
    if (!all_have(p, offsetof(rank_state, ended)))
        stop_ranks(p, 0); /* no use to go on */
    while (!p->team->broken && !all_have(p, offsetof(rank_state, ended)))
        wait_for_messages(p, NULL);
    give_notices(p);
}

void rocl_parts_free(rocl_parts *p)
{
    if (!p)
        return;
    rocl_parts_end_all(p);
    for (unsigned r = 0; p->ranks && r < rocl_team_size(p->team); r++) {
        for (size_t i = 0; i < p->ranks[r].output_count; i++)
            free_output(&p->ranks[r].outputs[i]);
        free(p->ranks[r].outputs);
        free(p->ranks[r].sums);
        rocl_buf_free(&p->ranks[r].facts);
    }
    for (size_t i = 0; i < p->output_count; i++) {
        free_output(p->outputs[i]);
        free(p->outputs[i]);
    }
    if (p->fd >= 0)
        close(p->fd);
    if (p->shown.path && p->team->broken) /* rank 0 cannot remove it any more */
        rocl_unfinished_remove(p->shown.path);
    rocl_unfinished_drop(&p->shown);
    rocl_buf_free(&p->message);
    rocl_buf_free(&p->place);
    rocl_buf_free(&p->request);
    pthread_mutex_destroy(&p->lock);
    rocl_error_free(p->err);
    p->trace->parts = NULL;
    free(p->all_folder);
    free(p->outputs);
    free(p->ranks);
    free(p->own);
    free(p);
}

/* ---- into the outputs ------------------------------------------------------------------------ */

static int by_number(const void *a, const void *b)
{
    const part *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* Brings the pieces of a part together, in the order of the captures. */
static void sort_parts(output *o)
{
    if (o->count)
        qsort(o->parts, o->count, sizeof *o->parts, by_number);
}

/* By the kernel, which need not move the bytes twice; *n and the offsets are of what is left. Where
 * it cannot, nothing is. */
static void copy_in_kernel(int from, uint64_t *at, int to, uint64_t *offset, uint64_t *n)
{
    ssize_t done = 1;
    while (*n && done > 0) {
        off_t in = (off_t)*at, out = (off_t)*offset;
        done = copy_file_range(from, &in, to, &out, *n, 0);
        if (done <= 0)
            return;
        *at += (uint64_t)done;
        *offset += (uint64_t)done;
        *n -= (uint64_t)done;
    }
}

static bool copy_bytes(int from, uint64_t at, int to, uint64_t offset, uint64_t n, void *buffer)
{
    copy_in_kernel(from, &at, to, &offset, &n);
    while (n) {
        const size_t some = n < COPY_BYTES ? (size_t)n : COPY_BYTES;
        errno = EIO;
        if (rocl_read_at(from, buffer, some, at) != (ssize_t)some ||
            !rocl_write_at(to, buffer, some, offset))
            return false;
        at += some;
        offset += some;
        n -= some;
    }
    return true;
}

/* places: what rank 0 wants of this output, by number, and where. */
static rocl_status copy_parts(const rocl_parts *p, const output *o, const char *file, bool sync,
                              const part *places, size_t count, rocl_error *err)
{
    const int to = open(file, O_WRONLY | O_CLOEXEC);
    void *buffer = malloc(COPY_BYTES);
    bool done = to >= 0 && buffer;
    size_t k = 0;
    for (size_t i = 0; i < count && done; i++) {
        uint64_t offset = places[i].at;
        while (k < o->count && o->parts[k].number < places[i].number)
            k++;
        for (; k < o->count && o->parts[k].number == places[i].number && done; k++) {
            done = copy_bytes(p->fd, o->parts[k].at, to, offset, o->parts[k].length, buffer);
            offset += o->parts[k].length;
        }
    }
    done = done && (!sync || rocl_sync_file(to));
    const int why = errno;
    free(buffer);
    if (to >= 0 && close(to) != 0 && done)
        done = errno == EINTR;
    return done ? ROCL_OK : rocl_fail_write(err, o->path, why);
}

static output *find_output(output *const *all, size_t count, const char *path)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(all[i]->path, path))
            return all[i];
    return NULL;
}

/* ---- on another rank ---- */

static rocl_status send_parts(rocl_parts *p, const rocl_parts_sums *sums, const rocl_buf *facts,
                              rocl_error *err)
{
    rocl_buf b = {0};
    rocl_buf_byte(&b, ROCL_TEAM_PARTS);
    rocl_buf_varint(&b, sums->own_count);
    for (size_t i = 0; i < sums->own_count; i++)
        rocl_buf_varint(&b, sums->own[i]);
    rocl_buf_varint(&b, p->output_count);
    for (size_t i = 0; i < p->output_count; i++) {
        const output *o = p->outputs[i];
        rocl_team_put_text(&b, o->path, strlen(o->path));
        rocl_buf_varint(&b, o->count);
        for (size_t k = 0; k < o->count; k++) {
            rocl_buf_varint(&b, o->parts[k].number);
            rocl_buf_varint(&b, o->parts[k].length);
        }
    }
    if (facts)
        rocl_buf_put(&b, facts->data, facts->len);
    return rocl_team_reply(p->team, &b, err);
}

/* A file with a hidden name is not to outlive a signal, or rank 0. */
static void note_shown(rocl_parts *p, const char *file)
{
    rocl_unfinished_drop(&p->shown);
    if (!strncmp(file, "/proc/", 6))
        return;
    rocl_unfinished_hold();
    rocl_unfinished_add(&p->shown, file);
    rocl_unfinished_release();
}

static rocl_status send_placed(rocl_parts *p, uint64_t bytes, rocl_error *err)
{
    uint8_t space[ROCL_TEAM_SHORT];
    rocl_buf b = rocl_team_short(space, ROCL_TEAM_PLACED, bytes);
    return rocl_team_reply(p->team, &b, err);
}

static rocl_status do_place(rocl_parts *p, rocl_error *err)
{
    rocl_team_reader r = {p->place.data + 1, p->place.data + p->place.len, false};
    char *path = rocl_team_text(&r), *file = rocl_team_text(&r);
    const bool sync = rocl_team_number(&r);
    const uint64_t n = rocl_team_number(&r);
    output *o = path ? find_output(p->outputs, p->output_count, path) : NULL;
    part *places = r.bad || n > p->place.len ? NULL : calloc(n + 1, sizeof *places);
    for (uint64_t i = 0; places && i < n; i++) {
        places[i].number = rocl_team_number(&r);
        places[i].at = rocl_team_number(&r);
    }
    rocl_status st = ROCL_OK;
    if (r.bad || !o || !file || !places)
        st = rocl_team_bad_message(err);
    if (st == ROCL_OK) {
        note_shown(p, file);
        st = copy_parts(p, o, file, sync, places, n, err);
    }
    free(places);
    free(path);
    free(file);
    p->place.len = 0;
    return st ? st : send_placed(p, 0, err);
}

/* Until PLACE has come, or all is named. */
static rocl_status wait_for_rank_0(rocl_parts *p, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    while (st == ROCL_OK && !p->named && !p->place.len) {
        st = wait_for_messages(p, err);
        if (st == ROCL_OK && p->stop_at == 0)
            st = rocl_fail(err, ROCL_INTERNAL, "stopped");
    }
    return st;
}

static rocl_status commit_on_other(rocl_parts *p, const rocl_parts_sums *sums, rocl_error *err)
{
    for (size_t i = 0; i < p->output_count; i++)
        sort_parts(p->outputs[i]);
    p->place.len = 0; /* a question that was answered */
    rocl_status st = send_parts(p, sums, NULL, err);
    while (st == ROCL_OK && !p->named) {
        st = wait_for_rank_0(p, err);
        if (st == ROCL_OK && p->place.len)
            st = do_place(p, err);
    }
    return st;
}

/* ---- on rank 0 ---- */

/* A rank's parts of one output, and how far they are placed. */
typedef struct placing {
    const output *from;
    size_t next;
    part *places; /* of them: where they belong */
    size_t count;
} placing;

/* Where the parts of each rank belong: in the order of captures; of what stands before them all,
 * one is enough. Returns the bytes of all. */
static uint64_t place_parts(placing *ranks, unsigned size)
{
    uint64_t offset = 0;
    bool head = false;
    for (;;) {
        placing *least = NULL;
        for (unsigned r = 0; r < size; r++) {
            const placing *x = &ranks[r];
            if (x->from && x->next < x->from->count &&
                (!least || x->from->parts[x->next].number < least->from->parts[least->next].number))
                least = &ranks[r];
        }
        if (!least)
            return offset;
        const uint64_t number = least->from->parts[least->next].number;
        const bool wanted = number || !head;
        head |= !number;
        if (wanted)
            least->places[least->count++] = (part){.number = number, .at = offset};
        for (; least->next < least->from->count && least->from->parts[least->next].number == number;
             least->next++)
            offset += wanted ? least->from->parts[least->next].length : 0;
    }
}

static rocl_status send_place(rocl_parts *p, unsigned rank, const placing *x, const char *path,
                              const char *file, bool sync, rocl_error *err)
{
    rocl_buf b = {0};
    rocl_buf_byte(&b, ROCL_TEAM_PLACE);
    rocl_team_put_text(&b, path, strlen(path));
    rocl_team_put_text(&b, file, strlen(file));
    rocl_buf_varint(&b, sync);
    rocl_buf_varint(&b, x->count);
    for (size_t i = 0; i < x->count; i++) {
        rocl_buf_varint(&b, x->places[i].number);
        rocl_buf_varint(&b, x->places[i].at);
    }
    p->ranks[rank].placed = false;
    const rocl_status st = rocl_team_send(p->team, rank, &b, err);
    rocl_buf_free(&b);
    return st;
}

static const output *output_of_rank(const rocl_parts *p, unsigned rank, const char *path)
{
    const rank_state *s = &p->ranks[rank];
    if (!rank)
        return find_output(p->outputs, p->output_count, path);
    for (size_t i = 0; i < s->output_count; i++)
        if (!strcmp(s->outputs[i].path, path))
            return &s->outputs[i];
    return NULL;
}

/* All ranks copy at once. */
static rocl_status copy_all(rocl_parts *p, const placing *ranks, const char *path, const char *file,
                            rocl_error *err)
{
    const unsigned size = rocl_team_size(p->team);
    const bool sync = p->team->transport.local != size;
    rocl_status st = ROCL_OK;
    for (unsigned r = 0; r < size; r++)
        p->ranks[r].placed = true;
    for (unsigned r = 1; r < size && st == ROCL_OK; r++)
        if (ranks[r].count)
            st = send_place(p, r, &ranks[r], path, file, sync, err);
    if (st == ROCL_OK && ranks[0].count)
        st = copy_parts(p, ranks[0].from, file, sync, ranks[0].places, ranks[0].count, err);
    if (st != ROCL_OK)
        note_failure(p, 0, st, err);
    return wait_for_all(p, offsetof(rank_state, placed), err);
}

static rocl_status make_output(rocl_parts *p, const char *path, rocl_out **out, rocl_error *err)
{
    const unsigned size = rocl_team_size(p->team);
    placing *ranks = calloc(size, sizeof *ranks);
    rocl_status st = ranks ? ROCL_OK : rocl_fail_memory(err);
    for (unsigned r = 0; r < size && st == ROCL_OK; r++) {
        const output *o = output_of_rank(p, r, path);
        ranks[r].from = o;
        if (o && !(ranks[r].places = calloc(o->count + 1, sizeof *ranks[r].places)))
            st = rocl_fail_memory(err);
    }
    const char *slash = strrchr(path, '/');
    char *folder = slash && slash > path ? strndup(path, (size_t)(slash - path)) : NULL,
         *file = NULL;
    if (st == ROCL_OK && folder)
        st = rocl_make_dirs(folder, err);
    if (st == ROCL_OK)
        st = rocl_out_open(out, path, err);
    if (st == ROCL_OK)
        st = rocl_out_share(*out, place_parts(ranks, size), p->team->transport.local == size, &file,
                            err);
    if (st == ROCL_OK)
        st = copy_all(p, ranks, path, file, err);
    for (unsigned r = 0; ranks && r < size; r++)
        free(ranks[r].places);
    free(ranks);
    free(folder);
    free(file);
    return st;
}

/* Outputs that rank 0 has none of follow its own. */
static rocl_status list_outputs(rocl_parts *p, rocl_error *err)
{
    for (unsigned r = 1; r < rocl_team_size(p->team); r++)
        for (size_t i = 0; i < p->ranks[r].output_count; i++) {
            const char *path = p->ranks[r].outputs[i].path;
            if (find_output(p->outputs, p->output_count, path))
                continue;
            if (!add_output(p, path))
                return rocl_fail_memory(err);
        }
    return ROCL_OK;
}

/* So many files may wait for their names while they are open. */
enum { OPEN_FILES = 64 };

static rocl_status make_outputs(rocl_parts *p, rocl_parts_sums *sums, rocl_error *err)
{
    rocl_status st = list_outputs(p, err);
    const size_t n = p->output_count;
    rocl_out **outs = calloc(n + 1, sizeof *outs);
    if (st == ROCL_OK && !outs)
        st = rocl_fail_memory(err);
    for (size_t i = 0; i < n && st == ROCL_OK; i++) {
        sort_parts(p->outputs[i]);
        st = make_output(p, p->outputs[i]->path, &outs[i], err);
        if (st == ROCL_OK)
            sums->bytes += rocl_out_bytes(outs[i]);
        if (st == ROCL_OK && n > OPEN_FILES)
            st = rocl_out_seal(outs[i], true, err);
    }
    sums->files = n;
    if (st == ROCL_OK)
        st = rocl_out_set_add(p->trace->outputs, outs, n, err);
    for (size_t i = 0; outs && i < n; i++)
        rocl_out_discard(outs[i]);
    free(outs);
    return st;
}

static rocl_status wait_for_parts(rocl_parts *p, rocl_parts_sums *sums, rocl_error *err)
{
    const rocl_status st = wait_for_all(p, offsetof(rank_state, written), err);
    for (unsigned r = 1; r < rocl_team_size(p->team) && st == ROCL_OK; r++)
        for (size_t i = 0; i < sums->own_count && i < p->ranks[r].sum_count; i++)
            sums->own[i] += p->ranks[r].sums[i];
    return st;
}

static void send_named(rocl_parts *p)
{
    uint8_t space[ROCL_TEAM_SHORT];
    const rocl_buf b = rocl_team_short(space, ROCL_TEAM_NAMED, 0);
    for (unsigned r = 1; r < rocl_team_size(p->team) && !p->team->broken; r++)
        if (p->ranks[r].asked)
            (void)rocl_team_send(p->team, r, &b, NULL);
}

static rocl_status commit_on_rank_0(rocl_parts *p, rocl_parts_sums *sums, rocl_error *err)
{
    rocl_status st = wait_for_parts(p, sums, err);
    if (st == ROCL_OK)
        st = make_outputs(p, sums, err);
    if (st == ROCL_OK)
        send_named(p);
    else
        note_failure(p, 0, st, err);
    return st;
}

rocl_status rocl_parts_commit(rocl_trace *t, rocl_out **outs, size_t n, rocl_parts_sums *sums,
                              rocl_error *err)
{
    sums->files = n;
    sums->bytes = 0;
    if (!t->parts) {
        for (size_t i = 0; i < n; i++)
            sums->bytes += rocl_out_bytes(outs[i]);
        return rocl_out_set_add(t->outputs, outs, n, err);
    }
    for (size_t i = 0; i < n; i++) {
        rocl_out_discard(outs[i]);
        outs[i] = NULL;
    }
    for (size_t i = 0; i < t->parts->output_count; i++)
        t->parts->outputs[i]->out = NULL;
    sums->bytes = 0;
    return t->parts->ranks ? commit_on_rank_0(t->parts, sums, err)
                           : commit_on_other(t->parts, sums, err);
}

/* ---- files in a folder of all ---------------------------------------------------------------- */

rocl_status rocl_parts_set_folder(rocl_parts *p, const char *path, rocl_error *err)
{
    p->all_folder = strdup(path);
    return p->all_folder ? ROCL_OK : rocl_fail_memory(err);
}

const char *rocl_parts_folder(const rocl_parts *p)
{
    return p->all_folder;
}

unsigned rocl_parts_rank(const rocl_parts *p)
{
    return rocl_team_rank(p->team);
}

unsigned rocl_parts_size(const rocl_parts *p)
{
    return rocl_team_size(p->team);
}

bool rocl_parts_far(const rocl_parts *p)
{
    return p->team->transport.local != rocl_team_size(p->team);
}

rocl_status rocl_parts_tell(rocl_parts *p, const rocl_parts_sums *sums, const rocl_buf *facts,
                            rocl_team_reader *answer, rocl_error *err)
{
    rocl_status st = send_parts(p, sums, facts, err);
    if (st == ROCL_OK)
        st = wait_for_rank_0(p, err);
    if (st == ROCL_OK && !p->place.len)
        st = rocl_team_bad_message(err);
    if (st == ROCL_OK)
        *answer = (rocl_team_reader){p->place.data + 1, p->place.data + p->place.len, false};
    return st;
}

rocl_status rocl_parts_placed(rocl_parts *p, uint64_t bytes, rocl_error *err)
{
    rocl_unfinished_drop(&p->shown); /* from now on it is rank 0's alone */
    p->place.len = 0;
    const rocl_status st = send_placed(p, bytes, err);
    return st ? st : wait_for_rank_0(p, err);
}

rocl_status rocl_parts_gather(rocl_parts *p, rocl_parts_sums *sums, rocl_error *err)
{
    for (unsigned r = 0; r < rocl_team_size(p->team); r++)
        p->ranks[r].placed = true;
    return wait_for_parts(p, sums, err);
}

const rocl_buf *rocl_parts_facts(const rocl_parts *p, unsigned rank)
{
    return &p->ranks[rank].facts;
}

rocl_status rocl_parts_place(rocl_parts *p, unsigned rank, const rocl_buf *answer, rocl_error *err)
{
    rocl_buf b = {0};
    rocl_buf_byte(&b, ROCL_TEAM_PLACE);
    rocl_buf_put(&b, answer->data, answer->len);
    p->ranks[rank].placed = false;
    const rocl_status st = rocl_team_send(p->team, rank, &b, err);
    rocl_buf_free(&b);
    return st;
}

rocl_status rocl_parts_wait_placed(rocl_parts *p, uint64_t *bytes, rocl_error *err)
{
    const rocl_status st = wait_for_all(p, offsetof(rank_state, placed), err);
    for (unsigned r = 1; r < rocl_team_size(p->team); r++)
        *bytes += p->ranks[r].bytes;
    return st;
}

void rocl_parts_named(rocl_parts *p)
{
    send_named(p);
}

/* ---- what they collect ----------------------------------------------------------------------- */

rocl_status rocl_parts_collect(rocl_trace *t, rocl_buf *request, bool *leads, rocl_error *err)
{
    rocl_status st = request->failed ? rocl_fail_memory(err) : lead_parts(t, leads, err);
    if (st == ROCL_OK && *leads) {
        t->parts->request = *request;
        *request = (rocl_buf){0};
    }
    rocl_buf_free(request);
    return st;
}

void rocl_parts_set_request(rocl_parts *p, const uint8_t *bytes, size_t n)
{
    rocl_buf_put(&p->request, bytes, n);
}

rocl_team_reader rocl_parts_request(const rocl_parts *p)
{
    return (rocl_team_reader){p->request.data,
                              p->request.data ? p->request.data + p->request.len : NULL,
                              p->request.failed};
}

bool rocl_parts_reads(const rocl_parts *p, unsigned rank)
{
    return p->ranks[rank].asked;
}

rocl_status rocl_parts_ask(rocl_parts *p, unsigned rank, const rocl_buf *question, rocl_error *err)
{
    const rocl_status st = rocl_team_send(p->team, rank, question, err);
    p->ranks[rank].answered = false;
    if (st != ROCL_OK)
        note_failure(p, 0, st, err);
    return st;
}

void rocl_parts_listen(rocl_parts *p, rocl_parts_hear_fn *hear, void *ctx)
{
    p->hear = hear;
    p->hear_ctx = ctx;
}

rocl_status rocl_parts_hear(rocl_parts *p, rocl_parts_hear_fn *hear, void *ctx, rocl_error *err)
{
    rocl_parts_listen(p, hear, ctx);
    const rocl_status st = wait_for_all(p, offsetof(rank_state, answered), err);
    p->hear = NULL;
    return st;
}

rocl_status rocl_parts_question(rocl_parts *p, rocl_team_reader *question, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    p->place.len = 0;
    while (st == ROCL_OK && !p->place.len && p->stop_at)
        st = wait_for_messages(p, err);
    *question = (rocl_team_reader){NULL, NULL, false};
    if (st == ROCL_OK && p->place.len)
        *question = (rocl_team_reader){p->place.data + 1, p->place.data + p->place.len, false};
    return st;
}

rocl_status rocl_parts_answer(rocl_parts *p, rocl_buf *answer, rocl_error *err)
{
    return rocl_team_reply(p->team, answer, err);
}
