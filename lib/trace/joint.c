/* Outputs that all ranks of a team make together: the run, messages and failures, and the parts of
 * captures in temporary files. One thread at a time receives messages; each rank looks for them
 * while it works. */
#include "trace/joint_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/map.h"
#include "filter/filter.h"
#include "trace/remote.h"
#include "trace/outline.h"

/* ---- the sink's ------------------------------------------------------------------------------ */

static rocl_status open_joint(rocl_trace *t, rocl_team *team, bool *own, rocl_error *err)
{
    rocl_joint *p = t->joint = calloc(1, sizeof *p);
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

/* *leads false: rank 0 reads all. */
static rocl_status lead_joint(rocl_trace *t, bool *leads, rocl_error *err)
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
    rocl_status st = open_joint(t, t->opt.team, own, err);
    if (st != ROCL_OK)
        return st;
    rocl_joint *p = t->joint;
    p->ranks = calloc(rocl_team_size(p->team), sizeof *p->ranks);
    p->front = 1;
    p->notice = t->opt.notice;
    p->notice_ctx = t->opt.ctx;
    return p->ranks ? ROCL_OK : rocl_fail_memory(err);
}

/* A file with a hidden name must not outlive a signal, or rank 0. */
void rocl_joint_note_shown(rocl_joint *p, const char *file)
{
    rocl_unfinished_drop(&p->shown);
    if (!strncmp(file, "/proc/", 6))
        return;
    rocl_unfinished_hold();
    rocl_unfinished_add(&p->shown, file);
    rocl_unfinished_release();
}

rocl_status rocl_joint_open(rocl_trace *t, const char *path, rocl_error *err)
{
    struct stat file;
    bool leads;
    if (t->joint || !t->deal)
        return ROCL_OK;
    const bool plain =
        !path || (strcmp(path, "-") != 0 && (stat(path, &file) != 0 || S_ISREG(file.st_mode)));
    return !t->opt.team_writes || t->outputs || !plain ? rocl_remote_complete(t, err)
                                                       : lead_joint(t, &leads, err);
}

bool rocl_joint_is_apart(const rocl_trace *t, const int32_t *numbers)
{
    rocl_map ranks = {0};
    bool apart = true;
    for (size_t i = 0; t->deal && i < t->capture_count && apart; i++) {
        const uint64_t key = (uint64_t)numbers[i] + ((uint64_t)1 << 32);
        const uint32_t rank = rocl_deal_place_of(t->deal, (uint32_t)i).rank;
        const uint32_t before = rocl_map_get(&ranks, key, ROCL_NONE);
        apart = before == ROCL_NONE ? rocl_map_put(&ranks, key, rank) : before == rank;
    }
    rocl_map_free(&ranks);
    return apart;
}

rocl_status rocl_joint_attend(rocl_trace *t, rocl_team *team, bool *own, rocl_byte_reader *from,
                              rocl_error *err)
{
    char *folder = rocl_team_text(from);
    rocl_status st = open_joint(t, team, own, err);
    if (st == ROCL_OK && !folder)
        st = from->bad ? rocl_team_bad_message(err) : rocl_fail_memory(err);
    if (st != ROCL_OK || !*folder) {
        free(folder);
        return st;
    }
    t->joint->all_folder = folder;
    rocl_joint_note_shown(t->joint, folder);
    return ROCL_OK;
}

/* What the user is told. */
static rocl_status return_failure(const rocl_joint *p, rocl_error *err)
{
    if (p->status != ROCL_OK)
        rocl_error_copy(err, p->err);
    return p->status;
}

static rocl_status append_part(output *o, uint64_t number, const void *bytes, size_t n,
                               rocl_error *err)
{
    rocl_joint *p = o->all;
    pthread_mutex_lock(&p->lock);
    rocl_status st = p->ranks ? ROCL_OK : return_failure(p, err);
    if (st == ROCL_OK)
        st = rocl_joint_append(o, number, bytes, n, err);
    pthread_mutex_unlock(&p->lock);
    return st;
}

static rocl_status write_part(void *ctx, const void *bytes, size_t n, rocl_error *err)
{
    output *o = ctx;
    const rocl_status st = rocl_joint_poll(o->all, err);
    return st ? st : append_part(o, o->all->number, bytes, n, err);
}

rocl_status rocl_joint_complete(rocl_joint *p, uint64_t passed, rocl_error *err)
{
    rocl_status st;
    if (!rocl_joint_is_ordered(p))
        return ROCL_OK;
    if (p->ranks) {
        pthread_mutex_lock(&p->team->receiving); /* its holder sends what follows from messages */
        pthread_mutex_lock(&p->lock);
        p->passed = passed;
        st = rocl_joint_advance(p, err);
        pthread_mutex_unlock(&p->lock);
        pthread_mutex_unlock(&p->team->receiving);
        return st;
    }
    rocl_buf b = {0};
    rocl_buf_byte(&b, ROCL_TEAM_NEWS);
    pthread_mutex_lock(&p->lock); /* until it is sent, so that news come in their order */
    rocl_joint_put_news(p, passed, &b);
    st = rocl_team_reply(p->team, &b, err);
    pthread_mutex_unlock(&p->lock);
    return st;
}

void rocl_joint_set_order(const rocl_trace *t, rocl_joint_order order)
{
    if (t->joint)
        t->joint->order = order;
}

rocl_status rocl_joint_make_dirs(const rocl_trace *t, const char *path, rocl_error *err)
{
    return t->joint && !t->joint->ranks ? ROCL_OK : rocl_make_dirs(path, err);
}

/* Rank 0 opens the file at once, to report a failure as early as a single process would. */
rocl_status rocl_joint_out(rocl_trace *t, rocl_out **out, const char *path, rocl_error *err)
{
    rocl_joint *p = t->joint;
    rocl_out *file = NULL;
    rocl_status st = ROCL_OK;
    *out = NULL;
    if (!p)
        return rocl_out_open(out, path, err);
    pthread_mutex_lock(&p->lock);
    output *o = rocl_joint_find_output(p->outputs, p->output_count, path);
    if (!o || o->all) /* else rank 0 knows of it from another rank */
        o = rocl_joint_add_output(p, path);
    if (!o) {
        st = rocl_fail_memory(err);
    } else if (p->ranks && !o->file) {
        st = rocl_out_open(&file, path, err);
        if (st == ROCL_OK && rocl_joint_is_ordered(p) && p->output_count <= OPEN_FILES &&
            !o->late) {
            o->file = file;
            st = rocl_out_reserve(file, 0, true, &o->shown, err);
        } else {
            rocl_out_discard(file);
        }
    }
    if (st == ROCL_OK)
        o->all = p;
    pthread_mutex_unlock(&p->lock);
    if (st == ROCL_OK)
        st = rocl_out_open_to(out, write_part, o, err);
    if (st == ROCL_OK)
        o->out = *out;
    return st ? st : rocl_joint_complete(p, p->passed, err);
}

static output *find_open_output(rocl_joint *p, const rocl_out *out)
{
    output *o = NULL;
    pthread_mutex_lock(&p->lock);
    for (size_t i = 0; i < p->output_count; i++)
        if (p->outputs[i]->out == out)
            o = p->outputs[i];
    pthread_mutex_unlock(&p->lock);
    return o;
}

rocl_status rocl_joint_head(rocl_trace *t, rocl_out *out, const void *bytes, size_t n,
                            rocl_error *err)
{
    output *o = t->joint ? find_open_output(t->joint, out) : NULL;
    return o ? append_part(o, 0, bytes, n, err) : rocl_out_write(out, bytes, n, err);
}

rocl_status rocl_joint_promise(rocl_joint *p, const rocl_out *out, const rocl_capture *c,
                               uint64_t n, rocl_joint_make_fn *make, void *ctx, rocl_error *err)
{
    output *o = find_open_output(p, out);
    const promise by = {make, ctx};
    if (!o)
        return rocl_fail(err, ROCL_INTERNAL, "a part of no output");
    pthread_mutex_lock(&p->lock);
    const rocl_status st = rocl_joint_note_promise(o, c->index + (uint64_t)1, n, &by, err);
    pthread_mutex_unlock(&p->lock);
    return st;
}

void rocl_joint_write_before_all(rocl_joint *p)
{
    p->number = 0;
}

void rocl_joint_write_to(rocl_joint *p, const rocl_capture *c)
{
    p->number = c->index + (uint64_t)1;
}

rocl_status rocl_joint_advance_to(rocl_joint *p, const rocl_capture *c, rocl_error *err)
{
    const uint64_t number = c->index + (uint64_t)1;
    const bool next = number > p->number;
    p->number = number;
    return next ? rocl_joint_complete(p, number, err) : ROCL_OK;
}

void rocl_joint_write_after_all(rocl_joint *p)
{
    p->number = p->trace->capture_count + 1;
}

/* ---- failures, on rank 0 --------------------------------------------------------------------- */

static bool all_have(const rocl_joint *p, size_t flag)
{
    for (unsigned r = 1; r < rocl_team_size(p->team); r++)
        if (p->ranks[r].asked && !p->ranks[r].ended &&
            !*(const bool *)(const void *)((const char *)&p->ranks[r] + flag))
            return false;
    return true;
}

void rocl_joint_send_all(const rocl_joint *p, rocl_team_message type, uint64_t number)
{
    uint8_t space[ROCL_TEAM_SHORT];
    const rocl_buf b = rocl_team_short(space, type, number);
    for (unsigned r = 1; r < rocl_team_size(p->team) && !p->team->broken; r++)
        if (p->ranks[r].asked && !p->ranks[r].ended)
            (void)rocl_team_send(p->team, r, &b, NULL);
}

/* A failure that belongs to no capture ends everything. Returns whether it is the first, whose text
 * counts. */
static bool note_status(rocl_joint *p, uint64_t capture, rocl_status st)
{
    if (p->status != ROCL_OK && capture >= p->failed)
        return false;
    p->status = st;
    p->failed = capture;
    if (capture < p->stop_at)
        p->stop_at = capture;
    rocl_joint_send_all(p, ROCL_TEAM_STOP, capture);
    return true;
}

void rocl_joint_note_failure(rocl_joint *p, uint64_t capture, rocl_status st, const rocl_error *err)
{
    if (note_status(p, capture, st))
        rocl_error_copy(p->err, err);
}

/* ---- notices, on rank 0 ---------------------------------------------------------------------- */

static void add_notice(rocl_joint *p, uint64_t capture, char *text)
{
    pthread_mutex_lock(&p->lock);
    rocl_notices_hold(&p->notices, capture, text);
    pthread_mutex_unlock(&p->lock);
}

static void keep_notice(void *ctx, const char *text)
{
    rocl_joint *p = ctx;
    add_notice(p, p->at, strdup(text));
}

static void give_notices(rocl_joint *p)
{
    p->trace->opt.notice = p->notice;
    p->trace->opt.ctx = p->notice_ctx;
    rocl_notices_give(&p->notices, p->trace);
}

/* ---- messages -------------------------------------------------------------------------------- */

static rocl_status send_counts(rocl_joint *p, rocl_error *err)
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

static rocl_status take_counts(rocl_joint *p, rocl_byte_reader *r, rocl_error *err)
{
    rocl_trace *t = p->trace;
    int64_t times[2];
    for (int f = 0; f < ROCL_FAULTS; f++)
        t->faults[f] += rocl_next_number(r);
    for (int k = 0; k < ROCL_KINDS; k++)
        t->events[k] += rocl_next_number(r);
    const uint8_t *at = rocl_next_bytes(r, sizeof times);
    if (!at)
        return rocl_team_bad_message(err);
    memcpy(times, at, sizeof times);
    t->first = times[0] < t->first ? times[0] : t->first;
    t->last = times[1] > t->last ? times[1] : t->last;
    rocl_filter_add_hits(t->filter, r);
    rocl_team_take_bad_texts(t->strings, r);
    return r->bad ? rocl_team_bad_message(err) : ROCL_OK;
}

/* NEWS, and PARTS, which begins with sums and ends with facts. */
static rocl_status take_news(rocl_joint *p, rank_state *s, rocl_byte_reader *r, rocl_error *err)
{
    const bool last = (rocl_team_message)p->message.data[0] == ROCL_TEAM_PARTS;
    pthread_mutex_lock(&p->lock);
    const uint64_t sums = last ? rocl_next_number(r) : 0;
    if (last)
        s->sums = sums < 64 ? calloc(sums + 1, sizeof *s->sums) : NULL;
    for (uint64_t i = 0; s->sums && i < sums; i++)
        s->sums[s->sum_count++] = rocl_next_number(r);
    rocl_status st = last && !s->sums ? rocl_fail_memory(err) : rocl_joint_take_news(p, s, r, err);
    if (st == ROCL_OK && last) {
        rocl_buf_put(&s->facts, r->p, (size_t)(r->end - r->p));
        r->p = r->end;
        s->written = true;
        st = s->facts.failed ? rocl_fail_memory(err) : ROCL_OK;
    }
    if (st == ROCL_OK)
        st = rocl_joint_advance(p, err);
    pthread_mutex_unlock(&p->lock);
    return st;
}

static rocl_status take_on_rank_0(rocl_joint *p, unsigned rank, rocl_byte_reader *r,
                                  rocl_error *err)
{
    rank_state *s = &p->ranks[rank];
    uint64_t capture, n;
    rocl_status status;
    const uint8_t *text;
    switch ((rocl_team_message)p->message.data[0]) {
    case ROCL_TEAM_NOTICE:
        capture = rocl_next_number(r);
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
    case ROCL_TEAM_NEWS:
    case ROCL_TEAM_PARTS:
        return take_news(p, s, r, err);
    case ROCL_TEAM_PLACED:
        s->placed = true;
        s->bytes = rocl_next_number(r);
        return ROCL_OK;
    case ROCL_TEAM_ANSWER:
        s->answered = r->p == r->end;
        return s->answered || !p->hear ? ROCL_OK : p->hear(p->hear_ctx, rank, r, err);
    case ROCL_TEAM_ERROR:
        capture = rocl_next_number(r);
        status = (rocl_status)rocl_next_number(r);
        n = rocl_next_number(r);
        text = rocl_next_bytes(r, n);
        if (text && note_status(p, capture, status))
            rocl_fail(p->err, status, "%.*s", (int)n, (const char *)text);
        return ROCL_OK;
    case ROCL_TEAM_END:
        s->ended = true;
        return ROCL_OK;
    default:
        return rocl_team_bad_message(err);
    }
}

static rocl_status take_on_other(rocl_joint *p, rocl_byte_reader *r, rocl_error *err)
{
    uint64_t at;
    switch ((rocl_team_message)p->message.data[0]) {
    case ROCL_TEAM_STOP:
        at = rocl_next_number(r);
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
    case ROCL_TEAM_ROOM:
        /* A failure counts for the current capture, and is reported when its bytes are written. */
        pthread_mutex_lock(&p->lock);
        if (p->status == ROCL_OK)
            p->status = rocl_joint_take_room(p, r, p->err);
        pthread_mutex_unlock(&p->lock);
        return ROCL_OK;
    case ROCL_TEAM_NAMED:
        p->named = true;
        return ROCL_OK;
    default:
        return rocl_team_bad_message(err);
    }
}

/* All messages that come within the time; holds team->receiving. */
static rocl_status take_messages(rocl_joint *p, int milliseconds, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    bool there = true;
    while (there && st == ROCL_OK) {
        unsigned from;
        st = rocl_team_receive(p->team, milliseconds, &p->message, &from, &there, err);
        if (st != ROCL_OK || !there)
            break;
        rocl_byte_reader r = {p->message.data + 1, p->message.data + p->message.len, false};
        st = p->ranks ? take_on_rank_0(p, from, &r, err) : take_on_other(p, &r, err);
        if (st == ROCL_OK && r.bad)
            st = rocl_team_bad_message(err);
        milliseconds = 0;
    }
    if (st != ROCL_OK) {
        p->stop_at = 0;
        if (p->ranks)
            rocl_joint_note_failure(p, 0, st, err);
    }
    return st;
}

rocl_status rocl_joint_wait(rocl_joint *p, rocl_error *err)
{
    pthread_mutex_lock(&p->team->receiving);
    const rocl_status st = take_messages(p, 100, err);
    pthread_mutex_unlock(&p->team->receiving);
    return st || p->ranks ? st : return_failure(p, err);
}

/* On rank 0, until all others have done what the flag says, or have ended. */
rocl_status rocl_joint_wait_for_all(rocl_joint *p, size_t flag, rocl_error *err)
{
    rocl_status st = p->team->broken ? p->status : ROCL_OK;
    while (st == ROCL_OK && !all_have(p, flag))
        st = rocl_joint_wait(p, err);
    return return_failure(p, err);
}

/* ---- the run --------------------------------------------------------------------------------- */

const bool *rocl_joint_own(const rocl_joint *p)
{
    return p->own;
}

bool rocl_joint_leads(const rocl_joint *p)
{
    return p->ranks;
}

rocl_status rocl_joint_start(rocl_joint *p, rocl_error *err)
{
    const rocl_trace *t = p->trace;
    const char *folder = p->all_folder ? p->all_folder : "";
    rocl_buf outline = {0};
    rocl_status st = rocl_outline_make(&outline, t, err);
    p->started = true;
    for (unsigned r = 1; r < rocl_team_size(p->team) && st == ROCL_OK; r++) {
        rocl_buf b = {0};
        bool any = false;
        for (size_t i = 0; i < t->capture_count && !any; i++)
            any = rocl_deal_place_of(t->deal, (uint32_t)i).rank == r;
        if (!any)
            continue;
        rocl_buf_byte(&b, ROCL_TEAM_WRITE);
        rocl_buf_varint(&b, rocl_deal_number(t->deal));
        rocl_buf_byte(&b, t->opt.args);
        rocl_buf_byte(&b, t->opt.collectives);
        rocl_outline_put(&b, &outline, t, r);
        rocl_team_put_text(&b, folder, strlen(folder));
        rocl_filter_put_state(t->filter, &b);
        rocl_buf_put(&b, p->request.data, p->request.len);
        st = rocl_team_send(p->team, r, &b, err);
        p->ranks[r].asked = st == ROCL_OK;
        p->ranks[r].answered = true;
        rocl_buf_free(&b);
    }
    rocl_buf_free(&outline);
    p->trace->opt.notice = p->notice ? keep_notice : NULL;
    p->trace->opt.ctx = p;
    return st ? st : rocl_joint_complete(p, p->passed, err);
}

bool rocl_joint_started(const rocl_joint *p)
{
    return p->started;
}

void rocl_joint_begin(rocl_joint *p, const rocl_capture *c, bool *goes)
{
    p->at = c->index;
    p->number = p->at + 1;
    *goes = *goes && c->index < p->stop_at;
}

/* Rank 0 shows how far the others are. */
rocl_status rocl_joint_end(rocl_joint *p, const rocl_capture *c, bool joins_next, rocl_error *err)
{
    uint8_t space[ROCL_TEAM_SHORT];
    rocl_buf b = rocl_team_short(space, ROCL_TEAM_DONE, c->index);
    rocl_status st = ROCL_OK;
    if (p->order == ROCL_JOINT_AS_READ && !joins_next)
        st = rocl_joint_complete(p, c->index + (uint64_t)2, err);
    return st || p->ranks ? st : rocl_team_reply(p->team, &b, err);
}

rocl_status rocl_joint_poll(rocl_joint *p, rocl_error *err)
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

rocl_status rocl_joint_end_reading(rocl_joint *p, rocl_status st, rocl_error *err)
{
    rocl_trace *t = p->trace;
    uint64_t others = 0;
    if (!p->ranks) {
        t->opt.notice = NULL; /* rank 0 gives all further notices */
        return st ? st : send_counts(p, err);
    }
    if (st != ROCL_OK && p->at < p->stop_at)
        rocl_joint_note_failure(p, p->at, st, err);
    for (size_t i = 0; i < t->capture_count; i++)
        others += !p->own[i] && rocl_filter_takes_capture(t->filter, &t->captures[i]->pub);
    rocl_progress_phase(t, "other ranks", others); /* from here on the progress is theirs */
    rocl_progress(t, p->done);
    p->waiting = true;
    st = rocl_joint_wait_for_all(p, offsetof(rank_state, read), err);
    give_notices(p);
    return st;
}

uint32_t rocl_joint_capture(const rocl_joint *p)
{
    return (uint32_t)p->at;
}

bool rocl_joint_stopped(const rocl_joint *p)
{
    return p->at >= p->stop_at || p->team->broken;
}

void rocl_joint_end_all(rocl_joint *p)
{
    if (!p || !p->ranks || !p->started)
        return;
    if (!all_have(p, offsetof(rank_state, ended)))
        rocl_joint_send_all(p, ROCL_TEAM_STOP, 0); /* no use to go on */
    while (!p->team->broken && !all_have(p, offsetof(rank_state, ended)))
        rocl_joint_wait(p, NULL);
    give_notices(p);
}

void rocl_joint_free(rocl_joint *p)
{
    if (!p)
        return;
    rocl_joint_end_all(p);
    for (unsigned r = 0; p->ranks && r < rocl_team_size(p->team); r++) {
        for (size_t i = 0; i < p->ranks[r].output_count; i++)
            rocl_joint_free_output(p->ranks[r].outputs[i]);
        free(p->ranks[r].outputs);
        free(p->ranks[r].sums);
        rocl_buf_free(&p->ranks[r].facts);
    }
    for (size_t i = 0; i < p->output_count; i++)
        rocl_joint_free_output(p->outputs[i]);
    if (p->fd >= 0)
        close(p->fd);
    if (p->shown.path && p->team->broken) /* rank 0 can no longer remove it */
        rocl_unfinished_remove(p->shown.path);
    rocl_unfinished_drop(&p->shown);
    rocl_buf_free(&p->message);
    rocl_buf_free(&p->place);
    rocl_buf_free(&p->request);
    pthread_mutex_destroy(&p->lock);
    rocl_error_free(p->err);
    p->trace->joint = NULL;
    free(p->all_folder);
    free(p->outputs);
    free(p->ranks);
    free(p->own);
    free(p);
}

/* ---- what they collect ----------------------------------------------------------------------- */

rocl_status rocl_joint_collect(rocl_trace *t, rocl_buf *request, bool *leads, rocl_error *err)
{
    rocl_status st = request->failed ? rocl_fail_memory(err) : lead_joint(t, leads, err);
    if (st == ROCL_OK && *leads) {
        t->joint->request = *request;
        *request = (rocl_buf){0};
    }
    rocl_buf_free(request);
    return st;
}

void rocl_joint_set_request(rocl_joint *p, const uint8_t *bytes, size_t n)
{
    rocl_buf_put(&p->request, bytes, n);
}

rocl_byte_reader rocl_joint_request(const rocl_joint *p)
{
    return (rocl_byte_reader){p->request.data,
                              p->request.data ? p->request.data + p->request.len : NULL,
                              p->request.failed};
}

bool rocl_joint_reads(const rocl_joint *p, unsigned rank)
{
    return p->ranks[rank].asked;
}

rocl_status rocl_joint_ask(rocl_joint *p, unsigned rank, const rocl_buf *question, rocl_error *err)
{
    const rocl_status st = rocl_team_send(p->team, rank, question, err);
    p->ranks[rank].answered = false;
    if (st != ROCL_OK)
        rocl_joint_note_failure(p, 0, st, err);
    return st;
}

rocl_status rocl_joint_ask_all(rocl_joint *p, const rocl_buf *question, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (unsigned r = 1; r < rocl_team_size(p->team) && st == ROCL_OK; r++)
        if (rocl_joint_reads(p, r))
            st = rocl_joint_ask(p, r, question, err);
    return st;
}

void rocl_joint_listen(rocl_joint *p, rocl_joint_hear_fn *hear, void *ctx)
{
    p->hear = hear;
    p->hear_ctx = ctx;
}

rocl_status rocl_joint_hear(rocl_joint *p, rocl_joint_hear_fn *hear, void *ctx, rocl_error *err)
{
    rocl_joint_listen(p, hear, ctx);
    const rocl_status st = rocl_joint_wait_for_all(p, offsetof(rank_state, answered), err);
    p->hear = NULL;
    return st;
}

rocl_status rocl_joint_question(rocl_joint *p, rocl_byte_reader *question, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    p->place.len = 0;
    while (st == ROCL_OK && !p->place.len && p->stop_at)
        st = rocl_joint_wait(p, err);
    *question = (rocl_byte_reader){NULL, NULL, false};
    if (st == ROCL_OK && p->place.len)
        *question = (rocl_byte_reader){p->place.data + 1, p->place.data + p->place.len, false};
    return st;
}

rocl_status rocl_joint_next_question(rocl_joint *p, rocl_byte_reader *question, rocl_error *err)
{
    const rocl_status st = rocl_joint_question(p, question, err);
    return st == ROCL_OK && !question->p ? rocl_fail(err, ROCL_INTERNAL, "stopped") : st;
}

rocl_status rocl_joint_end_answer(rocl_joint *p, rocl_error *err)
{
    uint8_t space[1];
    rocl_buf b = ROCL_BUF_IN(space);
    rocl_buf_byte(&b, ROCL_TEAM_ANSWER);
    return rocl_joint_answer(p, &b, err);
}

rocl_status rocl_joint_answer(rocl_joint *p, rocl_buf *answer, rocl_error *err)
{
    return rocl_team_reply(p->team, answer, err);
}

rocl_status rocl_joint_agree(rocl_joint *p, const rocl_joint_talk *talk, void *ctx, rocl_error *err)
{
    rocl_buf b = {0};
    rocl_byte_reader r = {0};
    rocl_status st = ROCL_OK;
    if (!p || rocl_joint_leads(p)) {
        rocl_buf_byte(&b, ROCL_TEAM_ASK);
        if (p)
            st = rocl_joint_ask_all(p, &b, err);
        if (st == ROCL_OK && p)
            st = rocl_joint_hear(p, talk->hear, ctx, err);
        if (st == ROCL_OK)
            talk->decide(ctx, &b);
        if (st == ROCL_OK && p)
            st = rocl_joint_ask_all(p, &b, err);
        rocl_buf_free(&b);
        return st;
    }
    st = rocl_joint_next_question(p, &r, err);
    if (st == ROCL_OK) {
        rocl_buf_byte(&b, ROCL_TEAM_ANSWER);
        talk->tell(ctx, &b);
        st = rocl_joint_answer(p, &b, err);
    }
    if (st == ROCL_OK)
        st = rocl_joint_end_answer(p, err);
    if (st == ROCL_OK)
        st = rocl_joint_next_question(p, &r, err);
    if (st == ROCL_OK)
        talk->take(ctx, &r);
    return st == ROCL_OK && r.bad ? rocl_team_bad_message(err) : st;
}
