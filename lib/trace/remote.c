/* Inputs opened by other ranks of a team: they send the definitions, and rank 0 has them as
 * sources. */
#include "trace/remote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>

#include "base/array.h"
#include "base/map.h"
#include "model/identity.h"
#include "source/formats.h"
#include "source/reader.h"
#include "trace/deal.h"
#include "trace/nodes.h"
#include "trace/outline.h"

/* ---- on another rank ------------------------------------------------------------------------- */

static void put_source(rocl_defs *d, rocl_trace *t, const rocl_opened *o, bool brief)
{
    const rocl_source *s = o->source;
    uint64_t captures = 0;
    for (size_t i = 0; i < t->capture_count; i++)
        captures += t->captures[i]->source == s;
    const char *texts[] = {s->format->name, s->version, s->writer ? s->writer : "",
                           o->remark ? o->remark : ""};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        rocl_team_put_text(&d->bytes, texts[i], strlen(texts[i]));
    rocl_buf_byte(&d->bytes, s->truncated);
    rocl_buf_varint(&d->bytes, captures);
    for (size_t i = 0; i < t->capture_count; i++) {
        rocl_model_capture *c = t->captures[i];
        int64_t times[2] = {0}; /* as the source has them, before any clock is set */
        bool any = false;
        if (c->source != s)
            continue;
        rocl_defs_put(d, c);
        if (!brief)
            rocl_defs_put_kernels(d, &c->pub);
        if (rocl_peeks_at_times(c) &&
            s->ops->peek_times(t, c, &times[0], &times[1], &any, NULL) != ROCL_OK)
            any = false;
        rocl_buf_byte(&d->bytes, any);
        rocl_buf_put(&d->bytes, times, sizeof times);
    }
}

static rocl_status put_agents_of(rocl_buf *b, rocl_trace *t, const rocl_capture *c, rocl_map *sent,
                                 uint32_t *count, rocl_error *err)
{
    for (uint32_t k = 0; k < c->agent_count; k++) {
        char *json;
        const rocl_status st = rocl_agent_json(t, c, k, &json, err);
        if (st != ROCL_OK)
            return st;
        const uint32_t text = rocl_strings_put(t->strings, json, strlen(json));
        const uint32_t number = rocl_map_get(sent, text, ROCL_NONE);
        rocl_buf_varint(b, number == ROCL_NONE ? *count : number);
        if (number == ROCL_NONE) {
            rocl_team_put_text(b, json, strlen(json));
            b->failed |= !rocl_map_put(sent, text, (*count)++);
        }
        free(json);
    }
    return ROCL_OK;
}

/* Properties of agents that reports read, each text once, as processes of a node have the same
 * agents. In the order of the sources and their captures. */
static rocl_status put_agents(rocl_buf *b, rocl_trace *t, rocl_error *err)
{
    rocl_map sent = {0};
    rocl_status st = ROCL_OK;
    uint32_t count = 0;
    for (size_t i = 0; i < t->source_count && !t->opt.team_writes; i++)
        for (size_t k = 0; k < t->capture_count && st == ROCL_OK; k++)
            if (t->captures[k]->source == t->sources[i])
                st = put_agents_of(b, t, &t->captures[k]->pub, &sent, &count, err);
    rocl_map_free(&sent);
    return st;
}

rocl_status rocl_send_definitions(rocl_team *team, rocl_trace *t, const rocl_opened *all,
                                  char *const *paths, size_t count, unsigned flags, rocl_error *err)
{
    rocl_buf b = {0}, agents = {0};
    rocl_defs d;
    rocl_error *why = rocl_error_new();
    /* What fails here, fails as that of the first input. */
    rocl_status of_agents = why ? put_agents(&agents, t, why) : rocl_fail_memory(err);
    rocl_defs_open(&d, t);
    for (size_t i = 0; i < count; i++) {
        const rocl_status st = of_agents != ROCL_OK ? of_agents : all[i].status;
        rocl_buf_varint(&d.bytes, st);
        if (st == ROCL_OK)
            put_source(&d, t, &all[i], flags & ROCL_OPEN_BRIEF);
        else
            rocl_nodes_put_message(&d.bytes, team, paths, flags & ROCL_OPEN_ON_NODE ? count : 0,
                                   of_agents != ROCL_OK ? rocl_error_text(why) : all[i].why);
    }
    if (of_agents == ROCL_OK)
        rocl_buf_put(&d.bytes, agents.data, agents.len);
    rocl_team_put_bad_texts(&d.bytes, t->strings);
    rocl_buf_byte(&b, ROCL_TEAM_DEFINED);
    rocl_defs_close(&d, &b);
    rocl_buf_free_into(&agents, &b);
    rocl_error_free(why);
    return rocl_team_reply(team, &b, err);
}

rocl_status rocl_send_kernels(rocl_team *team, const rocl_trace *t,
                              rocl_model_capture *const *opened, size_t count, rocl_error *err)
{
    rocl_buf b = {0};
    rocl_defs d;
    rocl_defs_open(&d, t);
    rocl_buf_varint(&d.bytes, count);
    for (size_t i = 0; i < count; i++) {
        uint32_t nth = 0;
        for (size_t k = 0; k < i; k++)
            nth += opened[k]->source == opened[i]->source;
        rocl_buf_varint(&d.bytes, opened[i]->source->input);
        rocl_buf_varint(&d.bytes, nth);
        rocl_defs_put_kernels(&d, &opened[i]->pub);
    }
    rocl_buf_byte(&b, ROCL_TEAM_KERNELS);
    rocl_defs_close(&d, &b);
    return rocl_team_reply(team, &b, err);
}

/* ---- sources of other ranks, on rank 0 ------------------------------------------------------- */

/* Facts of a capture that its rank has looked up. */
typedef struct peeked {
    int64_t first, last;
    bool any;
    uint32_t *agents; /* JSON of each (texts); NULL: nobody asks */
} peeked;

/* A visible input is opened on rank 0 after all if it must read it itself, for an output that it
 * writes alone. This is done under a lock; once a capture has begun, no lock is needed. */
static pthread_mutex_t opening_here = PTHREAD_MUTEX_INITIALIZER;

static void close_remote(rocl_source *s)
{
    if (s->state)
        rocl_source_free(s->state);
}

/* Which of the captures of the source it is. */
static rocl_model_capture *own_capture(const rocl_model_capture *c)
{
    const rocl_source *own = c->source->state;
    const rocl_trace *t = c->pub.trace;
    size_t nth = 0;
    for (size_t i = 0; t->captures[i] != c; i++)
        nth += t->captures[i]->source == c->source;
    return own->captures[nth];
}

/* Captures are as the trace has ordered them, and have their clocks. */
static rocl_status take_over(rocl_trace *t, rocl_source *s, rocl_source *own, rocl_error *err)
{
    s->state = own;
    if (own->capture_count != s->total)
        return rocl_fail_changed(err, s->path);
    rocl_captures_sort(own->captures, own->capture_count);
    for (size_t i = 0; i < t->capture_count; i++) {
        const rocl_model_capture *c = t->captures[i];
        if (c->source != s)
            continue;
        rocl_model_capture *mine = own_capture(c);
        if (mine->pub.guid != c->pub.guid)
            return rocl_fail_changed(err, s->path);
        mine->pub.index = c->pub.index;
        rocl_identity_copy(&mine->pub, &c->pub);
        mine->offset = c->offset;
        mine->drift = c->drift;
        mine->drift_from = c->drift_from;
        mine->clocks = c->clocks;
    }
    return ROCL_OK;
}

rocl_status rocl_refuse_remote(const rocl_source *s, rocl_error *err)
{
    return rocl_fail(err, ROCL_USAGE,
                     s->on_node ? "%s: is on its node, and this output is written by rank 0 alone: "
                                  "read it there, or from where all nodes see it"
                                : "%s: another rank has opened it, and this output is written by "
                                  "rank 0 alone: open the trace without a team",
                     s->path);
}

/* *own: the capture of rank 0's own. */
static rocl_status open_own(rocl_trace *t, const rocl_model_capture *c, rocl_model_capture **own,
                            rocl_error *err)
{
    rocl_source *s = c->source;
    rocl_opened o = {0};
    rocl_status st = ROCL_OK;
    if (s->on_node)
        return rocl_refuse_remote(s, err);
    pthread_mutex_lock(&opening_here);
    if (!s->state) {
        st = rocl_sources_open_alone(t, &s->path, 1, &o, err);
        if (st == ROCL_OK && o.status != ROCL_OK)
            st = rocl_fail(err, o.status, "%s", o.why);
        free(o.why);
        if (st == ROCL_OK)
            st = take_over(t, s, o.source, err);
    }
    pthread_mutex_unlock(&opening_here);
    if (st == ROCL_OK)
        *own = own_capture(c);
    return st;
}

/* Events of rank 0's own capture as those of the one that all know. */
typedef struct passing {
    const rocl_emitter *to;
    const rocl_capture *capture;
} passing;

static rocl_status pass_on(void *ctx, unsigned worker, rocl_batch *b, rocl_error *err)
{
    const passing *p = ctx;
    b->capture = p->capture;
    return p->to->emit(p->to->ctx, worker, b, err);
}

static rocl_emitter make_emitter(const rocl_emitter *to, passing *p)
{
    rocl_emitter own = *to;
    own.emit = pass_on;
    own.ctx = p;
    return own;
}

static rocl_status begin_remote(rocl_trace *t, rocl_model_capture *c, const rocl_emitter *to,
                                rocl_plan *plan, rocl_error *err)
{
    rocl_model_capture *own;
    passing p = {to, &c->pub};
    const rocl_emitter emitter = make_emitter(to, &p);
    const rocl_status st = open_own(t, c, &own, err);
    return st == ROCL_OK ? own->source->ops->begin(t, own, &emitter, plan, err) : st;
}

static rocl_status scan_remote(rocl_trace *t, rocl_model_capture *c, const rocl_task *task,
                               unsigned worker, const rocl_emitter *to, rocl_error *err)
{
    rocl_model_capture *own = own_capture(c);
    passing p = {to, &c->pub};
    const rocl_emitter emitter = make_emitter(to, &p);
    return own->source->ops->scan(t, own, task, worker, &emitter, err);
}

static rocl_status finish_remote(rocl_trace *t, rocl_model_capture *c, const rocl_emitter *to,
                                 rocl_error *err)
{
    rocl_model_capture *own = own_capture(c);
    passing p = {to, &c->pub};
    const rocl_emitter emitter = make_emitter(to, &p);
    const rocl_status st = own->source->ops->finish(t, own, &emitter, err);
    return rocl_source_explain(own->source, st, err);
}

static void end_remote(rocl_trace *t, rocl_model_capture *c)
{
    if (!c->source->state)
        return;
    rocl_model_capture *own = own_capture(c);
    own->source->ops->end(t, own);
}

static rocl_status remote_unchanged(rocl_trace *t, rocl_model_capture *c, rocl_error *err)
{
    rocl_model_capture *own = own_capture(c);
    return own->source->ops->unchanged(t, own, err);
}

static void free_remote(rocl_model_capture *c)
{
    peeked *p = c->state;
    free(p ? p->agents : NULL);
    free(p);
}

static rocl_status remote_properties(rocl_trace *t, rocl_model_capture *c, rocl_property_of of,
                                     uint32_t index, rocl_buf *json, rocl_error *err)
{
    const peeked *p = c->state;
    rocl_model_capture *own;
    if (of == ROCL_PROPERTIES_OF_AGENT && p->agents) {
        rocl_buf_str(json, rocl_str(t, p->agents[index]));
        return ROCL_OK;
    }
    if (c->source->on_node)
        return ROCL_OK;
    const rocl_status st = open_own(t, c, &own, err);
    return st == ROCL_OK && own->source->ops->properties
               ? own->source->ops->properties(t, own, of, index, json, err)
               : st;
}

static rocl_status peek_remote(rocl_trace *t, rocl_model_capture *c, int64_t *first, int64_t *last,
                               bool *any, rocl_error *err)
{
    const peeked *p = c->state;
    rocl_model_capture *own;
    *any = false;
    if (p->any || c->source->on_node || rocl_peeks_at_times(c)) {
        *first = p->first;
        *last = p->last;
        *any = p->any;
        return ROCL_OK;
    }
    const rocl_status st = open_own(t, c, &own, err); /* its rank did not look */
    return st == ROCL_OK && own->source->ops->peek_times
               ? own->source->ops->peek_times(t, own, first, last, any, err)
               : st;
}

static const rocl_source_ops remote_ops = {.close = close_remote,
                                           .free_capture = free_remote,
                                           .begin = begin_remote,
                                           .scan = scan_remote,
                                           .finish = finish_remote,
                                           .end = end_remote,
                                           .unchanged = remote_unchanged,
                                           .peek_times = peek_remote,
                                           .properties = remote_properties};

bool rocl_is_remote(const rocl_source *s)
{
    return s->rank > 0;
}

static const char *keep_text(rocl_trace *t, rocl_byte_reader *r)
{
    return rocl_str(t, rocl_team_intern_text(t->strings, r));
}

static rocl_status take_source(rocl_defs_reader *d, rocl_source *s, rocl_error *err)
{
    rocl_trace *t = d->trace;
    rocl_byte_reader *r = d->from;
    s->format = rocl_format_named(keep_text(t, r));
    snprintf(s->version, sizeof s->version, "%s", keep_text(t, r));
    const char *writer = keep_text(t, r), *remark = keep_text(t, r);
    s->writer = *writer ? writer : NULL;
    s->remark = *remark ? remark : NULL;
    const uint8_t *truncated = rocl_next_bytes(r, 1);
    const uint64_t n = rocl_next_number(r);
    rocl_status st = ROCL_OK;
    if (r->bad || !s->format || n > (uint64_t)(r->end - r->p))
        return rocl_team_bad_message(err);
    s->ops = &remote_ops;
    s->truncated = *truncated;
    s->opened = true;
    for (uint64_t i = 0; i < n && st == ROCL_OK; i++) {
        rocl_model_capture *c = rocl_trace_add_capture(t, s, err);
        peeked *p = c ? c->state = calloc(1, sizeof *p) : NULL;
        if (!p)
            return rocl_fail_memory(err);
        st = rocl_defs_get(d, c, err);
        if (!t->brief)
            rocl_defs_get_kernels(d, &c->pub);
        const uint8_t *any = rocl_next_bytes(r, 1);
        const uint8_t *times = rocl_next_bytes(r, 2 * sizeof(int64_t));
        if (!times)
            return st == ROCL_OK ? rocl_team_bad_message(err) : st;
        p->any = *any;
        memcpy(&p->first, times, sizeof p->first);
        memcpy(&p->last, times + sizeof p->first, sizeof p->last);
    }
    return st;
}

static rocl_status take_agents_of(rocl_trace *t, rocl_model_capture *c, uint32_t **texts,
                                  size_t *count, size_t *cap, rocl_byte_reader *r, rocl_error *err)
{
    peeked *p = c->state;
    p->agents = calloc(c->pub.agent_count + (size_t)1, sizeof *p->agents);
    if (!p->agents)
        return rocl_fail_memory(err);
    for (uint32_t k = 0; k < c->pub.agent_count; k++) {
        const uint64_t number = rocl_next_number(r);
        if (number > *count || r->bad)
            return rocl_team_bad_message(err);
        if (number == *count) {
            if (!ROCL_GROW(*texts, *cap, *count + 1))
                return rocl_fail_memory(err);
            (*texts)[(*count)++] = rocl_team_intern_text(t->strings, r);
        }
        p->agents[k] = (*texts)[number];
    }
    return ROCL_OK;
}

static rocl_status take_defined(rocl_trace *t, unsigned rank, rocl_byte_reader *r, rocl_error *err)
{
    uint32_t *texts = NULL;
    size_t count = 0, cap = 0;
    rocl_defs_reader d;
    rocl_status st = rocl_defs_take(&d, t, r, err);
    for (size_t i = 0; i < t->node_source_count && st == ROCL_OK; i++) {
        rocl_source *s = t->node_sources[i];
        if (!s || s->rank != rank)
            continue;
        const rocl_status status = (rocl_status)rocl_next_number(r);
        if (status == ROCL_OK) {
            st = take_source(&d, s, err);
            continue;
        }
        /* Rank 0 tries it in its turn, if it sees it: it may depend on those before, and an error
         * is reported as by a single process. */
        s->refused = status;
        s->remark = keep_text(t, r);
        if (!s->on_node) {
            rocl_source_free(s);
            t->node_sources[i] = NULL;
        }
        st = r->bad ? rocl_team_bad_message(err) : ROCL_OK;
    }
    rocl_defs_free(&d);
    for (size_t i = 0; i < t->node_source_count && !t->opt.team_writes; i++) {
        const rocl_source *s = t->node_sources[i];
        for (size_t k = 0; s && s->rank == rank && k < s->capture_count && st == ROCL_OK; k++)
            st = take_agents_of(t, s->captures[k], &texts, &count, &cap, r, err);
    }
    free(texts);
    rocl_team_take_bad_texts(t->strings, r);
    return st == ROCL_OK && r->bad ? rocl_team_bad_message(err) : st;
}

/* The inputs that rank 0 opens itself. */
static rocl_status open_own_inputs(rocl_trace *t, rocl_error *err)
{
    const size_t n = t->node_source_count;
    char **paths = calloc(n + 1, sizeof *paths);
    rocl_opened *all = calloc(n + 1, sizeof *all);
    size_t count = 0;
    for (size_t i = 0; paths && i < n; i++)
        if (t->node_sources[i] && !t->node_sources[i]->rank)
            paths[count++] = t->node_sources[i]->path;
    rocl_status st =
        paths && all ? rocl_sources_open_alone(t, paths, count, all, err) : rocl_fail_memory(err);
    for (size_t i = 0, k = 0; all && k < count; i++) {
        rocl_source *s = t->node_sources[i], *own;
        if (!s || s->rank)
            continue;
        own = all[k].source;
        free(all[k++].why);
        if (own) {
            own->named = s->named;
            own->bytes = s->bytes;
            own->on_node = s->on_node;
        }
        rocl_source_free(s);
        t->node_sources[i] = own;
    }
    free(paths);
    free(all);
    return st;
}

rocl_status rocl_remote_open(rocl_trace *t, rocl_error *err)
{
    rocl_buf message = {0};
    rocl_byte_reader r;
    unsigned rank;
    rocl_status st = open_own_inputs(t, err);
    while (t->opt.team->owed && st == ROCL_OK) { /* in whatever order they come */
        st = rocl_team_take_owed(t->opt.team, ROCL_TEAM_DEFINED, &rank, &message, &r, err);
        if (st == ROCL_OK)
            st = take_defined(t, rank, &r, err);
    }
    rocl_buf_free(&message);
    return st;
}

/* ---- kernels, when they are needed ----------------------------------------------------------- */

static rocl_status ask_for_kernels(const rocl_trace *t, rocl_error *err)
{
    rocl_team *team = t->opt.team;
    bool *asked = calloc(rocl_team_size(team), sizeof *asked);
    rocl_buf b = {0};
    rocl_status st = asked ? ROCL_OK : rocl_fail_memory(err);
    rocl_buf_byte(&b, ROCL_TEAM_KERNELS);
    rocl_buf_varint(&b, rocl_deal_number(t->deal));
    for (size_t i = 0; i < t->source_count && st == ROCL_OK; i++) {
        const unsigned rank = t->sources[i]->rank;
        if (!rank || asked[rank])
            continue;
        asked[rank] = true;
        st = rocl_team_send(team, rank, &b, err);
        team->owed += st == ROCL_OK;
    }
    rocl_buf_free(&b);
    free(asked);
    return st;
}

rocl_status rocl_remote_complete(rocl_trace *t, rocl_error *err)
{
    rocl_map sources = {0};  /* by rank and input: the number of the source */
    rocl_map captures = {0}; /* by that and which of its captures it is */
    rocl_buf message = {0};
    rocl_byte_reader r;
    unsigned rank;
    if (!t->brief)
        return ROCL_OK;
    t->brief = false;
    uint32_t *seen = calloc(t->source_count + 1, sizeof *seen);
    bool good = seen;
    for (size_t i = 0; good && i < t->source_count; i++) {
        const rocl_source *s = t->sources[i];
        if (rocl_is_remote(s))
            good = rocl_map_put(&sources, (uint64_t)s->rank << 32 | s->input, (uint32_t)i);
    }
    for (size_t i = 0; good && i < t->capture_count; i++) {
        const size_t s = t->captures[i]->source->number;
        good = rocl_map_put(&captures, (uint64_t)s << 32 | seen[s]++, (uint32_t)i);
    }
    free(seen);
    rocl_status st = good ? ask_for_kernels(t, err) : rocl_fail_memory(err);
    while (t->opt.team->owed && st == ROCL_OK) {
        rocl_defs_reader d = {0};
        st = rocl_team_take_owed(t->opt.team, ROCL_TEAM_KERNELS, &rank, &message, &r, err);
        if (st == ROCL_OK)
            st = rocl_defs_take(&d, t, &r, err);
        for (uint64_t n = st == ROCL_OK ? rocl_next_number(&r) : 0; n && !r.bad; n--) {
            const uint64_t input = rocl_next_number(&r), nth = rocl_next_number(&r);
            const uint64_t s = rocl_map_get(&sources, (uint64_t)rank << 32 | input, ROCL_NONE);
            const uint32_t c = rocl_map_get(&captures, s << 32 | nth, ROCL_NONE);
            rocl_capture other; /* it was dealt to this rank, and opened by another */
            rocl_defs_get_kernels(&d,
                                  s == ROCL_NONE || c == ROCL_NONE ? &other : &t->captures[c]->pub);
        }
        rocl_defs_free(&d);
        if (st == ROCL_OK && r.bad)
            st = rocl_team_bad_message(err);
    }
    if (st != ROCL_OK)
        rocl_team_drain(t->opt.team);
    rocl_buf_free(&message);
    rocl_map_free(&sources);
    rocl_map_free(&captures);
    return st;
}
