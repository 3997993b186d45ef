/* A rank of a team that is not 0: it opens and reads what rank 0 deals to it, and sends the events
 * as they are, or writes its captures to an output, or collects from them; see team/team.h. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "source/source.h"
#include "team/wire.h"
#include "filter/filter.h"
#include "trace/deal.h"
#include "trace/nodes.h"
#include "trace/remote.h"
#include "trace/joint.h"
#include "trace/pipeline.h"
#include "trace/dealt.h"
#include "trace/outline.h"

/* What this rank opens of a trace that is open on rank 0. */
typedef struct dealt {
    unsigned number;
    rocl_trace *trace;
    rocl_status status; /* not ROCL_OK: it cannot be read */
    char *why;
    char **paths; /* by number of the input */
    size_t path_count, path_cap;
    rocl_model_capture **opened; /* as opened, even those that others read */
    uint32_t *inputs;            /* of each: which of the paths it is in */
    size_t opened_count;
    bool on_node;  /* messages say which that is */
    uint8_t *sent; /* by text: rank 0 has it */
    size_t sent_cap;
    rocl_wire_texts *texts; /* by worker: those known to be sent */
} dealt;

typedef struct server {
    rocl_team *team;
    rocl_options options;
    rocl_team_write_fn *write; /* NULL: there is nothing to write */
    void *write_ctx;
    dealt *all;
    size_t count, cap;
    rocl_buf message; /* that is received */
    /* the run */
    dealt *dealt;
    uint32_t *numbers; /* by capture: what rank 0 calls it */
    uint32_t capture;  /* that is read, by rank 0's number */
    uint64_t stop_at;  /* captures from this one on are not read */
    bool stopped;
    uint32_t sent;     /* kinds of which rank 0 wants the events */
    rocl_buf *batches; /* by worker */
} server;

/* ---- sending --------------------------------------------------------------------------------- */

/* With `sending` locked: does rank 0 want nothing of this capture any more? */
static rocl_status look_for_stop(server *s, uint32_t capture, rocl_error *err)
{
    unsigned from;
    bool there;
    rocl_status st = rocl_team_receive(s->team, 0, &s->message, &from, &there, err);
    if (st != ROCL_OK)
        return st;
    if (there) {
        rocl_byte_reader r = {s->message.data + 1, s->message.data + s->message.len, false};
        const uint64_t at = rocl_next_number(&r);
        if (s->message.data[0] != ROCL_TEAM_STOP || r.bad)
            return rocl_team_bad_message(err);
        s->stop_at = at < s->stop_at ? at : s->stop_at;
    }
    if (capture < s->stop_at)
        return ROCL_OK;
    s->stopped = true;
    return rocl_fail(err, ROCL_INTERNAL, "stopped");
}

/* Sends texts of a batch that rank 0 does not have, with `sending` locked. */
static rocl_status send_fresh_texts(server *s, const rocl_wire_texts *t, rocl_error *err)
{
    dealt *h = s->dealt;
    rocl_buf b = {0}, list = {0};
    uint64_t n = 0;
    for (size_t i = 0; i < t->fresh_count; i++) {
        const uint32_t text = t->fresh[i];
        if (!ROCL_GROW(h->sent, h->sent_cap, (size_t)text + 1)) {
            rocl_buf_free(&list);
            return rocl_fail_memory(err);
        }
        if (h->sent[text])
            continue;
        h->sent[text] = 1;
        rocl_buf_varint(&list, text);
        rocl_team_put_interned(&list, h->trace->strings, text);
        n++;
    }
    rocl_buf_byte(&b, ROCL_TEAM_TEXTS);
    rocl_buf_varint(&b, n);
    rocl_buf_put(&b, list.data, list.len);
    rocl_buf_free_into(&list, &b);
    const rocl_status st = n ? rocl_team_send(s->team, 0, &b, err) : ROCL_OK;
    rocl_buf_free(&b);
    return st;
}

static rocl_status send_batch(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    server *s = self;
    rocl_buf *to = &s->batches[worker];
    rocl_wire_texts *texts = &s->dealt->texts[worker];
    if (!(s->sent & ROCL_BIT(b->kind)))
        return ROCL_OK;
    to->len = 0;
    rocl_buf_byte(to, ROCL_TEAM_BATCH);
    rocl_buf_varint(to, s->numbers[b->capture->index]);
    rocl_wire_put_batch(to, b, texts);
    if (to->failed)
        return rocl_fail_memory(err);
    pthread_mutex_lock(&s->team->sending);
    rocl_status st = look_for_stop(s, s->numbers[b->capture->index], err);
    if (st == ROCL_OK)
        st = send_fresh_texts(s, texts, err);
    if (st == ROCL_OK)
        st = rocl_team_send(s->team, 0, to, err);
    pthread_mutex_unlock(&s->team->sending);
    return st;
}

static rocl_status begin_capture(void *self, const rocl_capture *c, rocl_error *err)
{
    server *s = self;
    pthread_mutex_lock(&s->team->sending);
    s->capture = s->numbers[c->index];
    const rocl_status st = look_for_stop(s, s->capture, err);
    pthread_mutex_unlock(&s->team->sending);
    return st;
}

static rocl_status end_capture(void *self, const rocl_capture *c, rocl_error *err)
{
    server *s = self;
    uint8_t space[ROCL_TEAM_SHORT];
    rocl_buf b = rocl_team_short(space, ROCL_TEAM_DONE, s->numbers[c->index]);
    return rocl_team_reply(s->team, &b, err);
}

static uint32_t capture_at_hand(const server *s)
{
    const rocl_trace *t = s->dealt->trace;
    return t && t->joint ? rocl_joint_capture(t->joint) : s->capture;
}

static void put_message(rocl_buf *b, const server *s, const char *text)
{
    const dealt *h = s->dealt;
    rocl_nodes_put_message(b, s->team, h->paths, h->on_node ? h->path_count : 0, text);
}

/* Drops notices from opening inputs, which rank 0 gives. */
static void send_notice(void *ctx, const char *text)
{
    server *s = ctx;
    rocl_buf b = {0};
    if (!s->dealt)
        return;
    rocl_buf_byte(&b, ROCL_TEAM_NOTICE);
    rocl_buf_varint(&b, capture_at_hand(s));
    put_message(&b, s, text);
    (void)rocl_team_reply(s->team, &b, NULL); /* on failure the next message fails, too */
}

static rocl_status send_error(server *s, rocl_status status, const char *text, rocl_error *err)
{
    uint8_t space[ROCL_ERROR_SIZE + 512]; /* the name of a host may stand before it */
    rocl_buf b = ROCL_BUF_IN(space);
    rocl_buf_byte(&b, ROCL_TEAM_ERROR);
    rocl_buf_varint(&b, capture_at_hand(s));
    rocl_buf_varint(&b, status);
    /* With several machines the message must say whose disk it was. */
    char any_file[] = "", *const files[] = {any_file};
    if (status == ROCL_OUTPUT && s->team->transport.local != rocl_team_size(s->team))
        rocl_nodes_put_message(&b, s->team, files, 1, text);
    else
        put_message(&b, s, text);
    return rocl_team_reply(s->team, &b, err);
}

/* ---- what rank 0 asks for -------------------------------------------------------------------- */

static void free_dealt(dealt *h)
{
    for (unsigned i = 0; h->trace && h->texts && i < h->trace->opt.jobs; i++)
        rocl_wire_texts_free(&h->texts[i]);
    free(h->texts);
    rocl_trace_close(h->trace);
    for (size_t i = 0; i < h->path_count; i++)
        free(h->paths[i]);
    free(h->paths);
    free(h->opened);
    free(h->inputs);
    free(h->sent);
    free(h->why);
    *h = (dealt){0};
}

static dealt *find_dealt(server *s, uint64_t number)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->all[i].number == number && s->all[i].trace)
            return &s->all[i];
    return NULL;
}

/* Inputs that cannot be opened independently are left to rank 0. Without an answer to send, an
 * error is reported when the trace is read. */
static rocl_status open_inputs(server *s, dealt *h, size_t first, unsigned flags, rocl_error *err)
{
    const bool define = flags & ROCL_OPEN_DEFINES;
    const size_t n = h->path_count - first;
    rocl_opened *all = calloc(n + 1, sizeof *all);
    rocl_status st = all ? rocl_dealt_add(h->trace, h->paths + first, n, (uint32_t)first, all, err)
                         : rocl_fail_memory(err);
    free(h->opened);
    free(h->inputs);
    h->opened_count = h->trace->capture_count;
    h->opened = calloc(h->opened_count + 1, sizeof *h->opened);
    h->inputs = calloc(h->opened_count + 1, sizeof *h->inputs);
    if (st == ROCL_OK && (!h->opened || !h->inputs))
        st = rocl_fail_memory(err);
    for (size_t i = 0; st == ROCL_OK && i < h->opened_count; i++) {
        h->opened[i] = h->trace->captures[i];
        h->inputs[i] = h->opened[i]->source->input;
    }
    if (st == ROCL_OK && define)
        st = rocl_send_definitions(s->team, h->trace, all, h->paths + first, n, flags, err);
    for (size_t i = 0; all && i < n; i++) {
        if (!define && all[i].status != ROCL_OK && !h->why) {
            h->status = all[i].status;
            h->why = all[i].why;
            continue;
        }
        free(all[i].why);
    }
    free(all);
    return st;
}

static rocl_status open_dealt(server *s, rocl_byte_reader *r, rocl_error *err)
{
    const unsigned number = (unsigned)rocl_next_number(r);
    const uint8_t *flags = rocl_next_bytes(r, 1);
    dealt *h = find_dealt(s, number);
    if (!flags)
        return rocl_team_bad_message(err);
    if (!h) {
        if (!ROCL_GROW(s->all, s->cap, s->count + 1))
            return rocl_fail_memory(err);
        h = &s->all[s->count];
        *h = (dealt){.number = number};
        if (rocl_dealt_open(&h->trace, &s->options, err) != ROCL_OK)
            return ROCL_INTERNAL;
        s->count++;
        h->texts = calloc(h->trace->opt.jobs, sizeof *h->texts);
    }
    if (!h->texts)
        return rocl_fail_memory(err);
    const size_t first = h->path_count;
    h->on_node |= *flags & ROCL_OPEN_ON_NODE;
    while (!r->bad && r->p < r->end) {
        if (!ROCL_GROW(h->paths, h->path_cap, h->path_count + 1))
            return rocl_fail_memory(err);
        if (!(h->paths[h->path_count] = rocl_team_text(r)))
            return r->bad ? rocl_team_bad_message(err) : rocl_fail_memory(err);
        h->path_count++;
    }
    return open_inputs(s, h, first, *flags, err);
}

/* The capture that rank 0 means: the nth of an input. NULL: none. Once the outline is known,
 * captures that others read are gone. */
static rocl_model_capture *find_capture(const dealt *h, uint64_t input, uint64_t nth,
                                        const char *guid, size_t len)
{
    const rocl_trace *t = h->trace;
    for (size_t i = 0; i < h->opened_count; i++)
        if (h->inputs[i] == input && nth-- == 0) {
            size_t n;
            rocl_model_capture *c = h->opened[i];
            bool there = false;
            for (size_t k = 0; k < t->capture_count && !there; k++)
                there = t->captures[k] == c && c->source;
            const char *own = there ? rocl_strings_get(t->strings, c->pub.guid, &n) : NULL;
            return own && n == len && !memcmp(own, guid, n) ? c : NULL;
        }
    return NULL;
}

static rocl_status read_dealt(server *s, rocl_byte_reader *r, rocl_error *err)
{
    const dealt *h = s->dealt;
    rocl_trace *t = h->trace;
    rocl_sink sink = {.self = s,
                      .begin_capture = begin_capture,
                      .events = send_batch,
                      .end_capture = end_capture};
    sink.kinds = (uint32_t)rocl_next_number(r);
    s->sent = (uint32_t)rocl_next_number(r);
    sink.fields = (uint32_t)rocl_next_number(r);
    const uint8_t *flags = rocl_next_bytes(r, 2);
    bool *wanted = calloc(t->capture_count + 1, sizeof *wanted);
    s->numbers = calloc(t->capture_count + 1, sizeof *s->numbers);
    s->batches = calloc(t->opt.jobs, sizeof *s->batches);
    s->stop_at = UINT64_MAX;
    s->stopped = false;
    rocl_status st = wanted && s->numbers && s->batches ? ROCL_OK : rocl_fail_memory(err);
    for (uint64_t n = flags ? rocl_next_number(r) : 0; n && !r->bad && st == ROCL_OK; n--) {
        const uint64_t input = rocl_next_number(r), nth = rocl_next_number(r);
        const uint64_t number = rocl_next_number(r), len = rocl_next_number(r);
        const uint8_t *guid = rocl_next_bytes(r, len);
        if (r->bad)
            break;
        s->capture = (uint32_t)number;
        rocl_model_capture *c = find_capture(h, input, nth, (const char *)guid, len);
        if (!c) {
            st = rocl_fail_changed(err, h->paths[input < h->path_count ? input : 0]);
            break;
        }
        rocl_outline_take_clock(c, r);
        wanted[c->pub.index] = true;
        s->numbers[c->pub.index] = (uint32_t)number;
    }
    if (st == ROCL_OK && r->bad)
        st = rocl_team_bad_message(err);
    if (st == ROCL_OK) {
        t->opt.args = flags[0];
        t->opt.collectives = flags[1];
        st = rocl_pipeline_read(t, wanted, &sink, err);
    }
    for (unsigned i = 0; s->batches && i < t->opt.jobs; i++)
        rocl_buf_free(&s->batches[i]);
    free(s->batches);
    free(s->numbers);
    free(wanted);
    return st;
}

/* ---- what all write ---- */

static rocl_model_capture *find_own(void *ctx, uint64_t input, uint64_t nth, const char *guid,
                                    size_t len)
{
    return find_capture(((const server *)ctx)->dealt, input, nth, guid, len);
}

/* The trace becomes rank 0's, as far as it is known here, and has rank 0's filter. */
static rocl_status take_outline(server *s, rocl_byte_reader *r, rocl_error *err)
{
    rocl_trace *t = s->dealt->trace;
    bool *own;
    const uint8_t *flags = rocl_next_bytes(r, 2);
    if (!flags)
        return rocl_team_bad_message(err);
    t->opt.args = flags[0];
    t->opt.collectives = flags[1];
    t->opt.notice = NULL; /* rank 0 has given the notices about options */
    atomic_store(&t->utf8_reported, true);
    rocl_status st = rocl_outline_take(t, r, find_own, s, &own, err);
    if (st == ROCL_OK)
        st = rocl_joint_attend(t, s->team, own, r, err);
    rocl_filter_free(t->filter); /* of a former run */
    t->filter = NULL;
    if (st == ROCL_OK)
        st = rocl_filter_new(&t->filter, t, err);
    if (st == ROCL_OK)
        st = rocl_filter_take_state(t->filter, r, err);
    if (st == ROCL_OK)
        rocl_joint_set_request(t->joint, r->p, (size_t)(r->end - r->p));
    t->opt.notice = send_notice;
    return st;
}

/* A run: reads for rank 0, or writes. Rank 0 reports the failures of this rank; a status is
 * returned only if rank 0 cannot be told. */
static rocl_status serve_run(server *s, rocl_team_message type, rocl_byte_reader *r,
                             rocl_error *err)
{
    dealt *h = find_dealt(s, rocl_next_number(r));
    const bool writes = type == ROCL_TEAM_WRITE;
    if (!h || (writes && !s->write))
        return rocl_team_bad_message(err);
    rocl_error *why = rocl_error_new();
    s->capture = 0;
    s->stopped = false;
    s->dealt = h;
    rocl_status st = h->status, told = ROCL_OK;
    if (st == ROCL_OK)
        st = writes ? take_outline(s, r, why) : read_dealt(s, r, why);
    if (st == ROCL_OK && writes)
        st = s->write(h->trace, s->write_ctx, why);
    const rocl_joint *joint = h->trace->joint;
    const bool stopped =
        writes ? joint && rocl_joint_stopped(joint) : s->stopped || s->team->broken;
    if (st > ROCL_PARTIAL && !stopped)
        told = send_error(s, st, h->status == ROCL_OK ? rocl_error_text(why) : h->why, err);
    if (s->team->broken && told == ROCL_OK) { /* it can no longer send or receive */
        if (st > ROCL_PARTIAL)
            rocl_error_copy(err, why);
        told = st > ROCL_PARTIAL
                   ? st
                   : rocl_fail(err, ROCL_INTERNAL, "a rank of the team has lost the others");
    } else if (told == ROCL_OK) {
        uint8_t space[1 + ROCL_FAULTS * ROCL_VARINT_MAX];
        rocl_buf b =
            writes ? rocl_team_short(space, ROCL_TEAM_END, 0) : (rocl_buf)ROCL_BUF_IN(space);
        if (!writes) {
            rocl_buf_byte(&b, ROCL_TEAM_END);
            for (int f = 0; f < ROCL_FAULTS; f++)
                rocl_buf_varint(&b, h->trace->faults[f]);
            rocl_team_put_bad_texts(&b, h->trace->strings);
        }
        told = rocl_team_reply(s->team, &b, err);
    }
    rocl_joint_free(h->trace->joint);
    s->dealt = NULL;
    rocl_error_free(why);
    return told;
}

static rocl_status serve_message(server *s, bool *bye, rocl_error *err)
{
    rocl_byte_reader r = {s->message.data + 1, s->message.data + s->message.len, false};
    dealt *h;
    switch ((rocl_team_message)s->message.data[0]) {
    case ROCL_TEAM_OPEN:
        return open_dealt(s, &r, err);
    case ROCL_TEAM_READ:
    case ROCL_TEAM_WRITE: {
        rocl_buf own = s->message; /* others are received meanwhile */
        s->message = (rocl_buf){0};
        const rocl_status st = serve_run(s, (rocl_team_message)own.data[0], &r, err);
        rocl_buf_free(&own);
        return st;
    }
    case ROCL_TEAM_KERNELS:
        h = find_dealt(s, rocl_next_number(&r));
        return h ? rocl_send_kernels(s->team, h->trace, h->opened, h->opened_count, err)
                 : rocl_team_bad_message(err);
    case ROCL_TEAM_FIND:
        return rocl_nodes_serve_find(s->team, &r, err);
    case ROCL_TEAM_CLOSE:
        if ((h = find_dealt(s, rocl_next_number(&r))))
            free_dealt(h);
        return ROCL_OK;
    case ROCL_TEAM_STOP: /* they crossed the end of the run */
    case ROCL_TEAM_ROOM:
        return ROCL_OK;
    case ROCL_TEAM_BYE:
        *bye = true;
        return ROCL_OK;
    default:
        return rocl_team_bad_message(err);
    }
}

rocl_status rocl_team_serve(rocl_team *team, const rocl_options *options, rocl_team_write_fn *write,
                            void *ctx, rocl_error *err)
{
    server s = {.team = team, .options = *options, .write = write, .write_ctx = ctx};
    rocl_status st = ROCL_OK;
    bool bye = false;
    s.options.team = NULL;
    s.options.jobs = options->jobs ? options->jobs : rocl_team_jobs(team);
    s.options.align = ROCL_ALIGN_NONE;
    s.options.progress = NULL;
    s.options.notice = send_notice;
    s.options.ctx = &s;
    while (!bye && st == ROCL_OK) {
        unsigned from;
        bool there;
        st = rocl_team_receive(team, 60000, &s.message, &from, &there, err);
        if (st == ROCL_OK && there)
            st = serve_message(&s, &bye, err);
    }
    if (st != ROCL_OK)
        rocl_team_say_gone(team, st, rocl_error_text(err));
    for (size_t i = 0; i < s.count; i++)
        free_dealt(&s.all[i]);
    free(s.all);
    rocl_buf_free(&s.message);
    return st;
}
