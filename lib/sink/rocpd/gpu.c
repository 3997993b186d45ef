/* Work of GPUs but kernels -> rows. */
#include <inttypes.h>
#include <stdio.h>

#include "sink/rocpd/newset.h"

rocl_status newset_put_copy(void *ctx, const newset_event *e, rocl_error *err)
{
    newset *s = ctx;
    const rocl_copy *c = &e->r.copy;
    newset_cell row[16];
    rocl_status st;
    if ((st = newset_put_plain_event(s, &c->e, &row[15], err)) ||
        (st = newset_who(s, c->e.process, c->e.thread, &row[1], err)) ||
        (st = newset_string(s, c->e.name, &row[6], err)) ||
        (st = newset_must_ref(s, SCHEMA_AGENT, c->dst, &row[7], err)) ||
        (st = newset_must_ref(s, SCHEMA_AGENT, c->src, &row[9], err)) ||
        (st = newset_ref(s, SCHEMA_QUEUE, c->queue, &row[12], err)) ||
        (st = newset_ref(s, SCHEMA_STREAM, c->stream, &row[13], err)) ||
        (st = newset_string(s, 0, &row[14], err)))
        return st;
    row[0] = newset_int(++s->next[SCHEMA_COPY]);
    row[4] = newset_int(c->e.start);
    row[5] = newset_int(c->e.end);
    row[8] = newset_int((int64_t)c->dst_address);
    row[10] = newset_int((int64_t)c->src_address);
    row[11] = newset_int((int64_t)c->size);
    return newset_insert(s, SCHEMA_COPY, row, err);
}

/* As a number up to where all readers of JSON are exact. */
static newset_cell flags_of(const rocl_alloc *a, char *text, size_t size)
{
    const char *quote = a->flags >> 53 ? "\"" : "";
    int n = a->flags ? snprintf(text, size, "{\"flags\": %s%" PRIu64 "%s}", quote, a->flags, quote)
                     : snprintf(text, size, "{}");
    return newset_bytes(text, (size_t)n);
}

static newset_cell word(const char *const *words, unsigned i)
{
    return words[i] ? newset_bytes(words[i], strlen(words[i])) : newset_null();
}

rocl_status newset_put_alloc(void *ctx, const newset_event *e, rocl_error *err)
{
    static const char *const types[] = {NULL, "ALLOC", "FREE", "REALLOC", "RECLAIM"};
    static const char *const levels[] = {NULL, "REAL", "VIRTUAL", "SCRATCH"};
    newset *s = ctx;
    const rocl_alloc *a = &e->r.alloc;
    char flags[64], usual[ROCL_ALLOC_NAME_MAX];
    newset_cell row[15];
    rocl_alloc_name(usual, a->level, a->op);
    rocl_status st = strcmp(usual, rocl_str(s->trace, a->e.name)) == 0
                         ? newset_put_plain_event(s, &a->e, &row[13], err)
                         : newset_put_message(s, &a->e, &row[13], err);
    if (st || (st = newset_who(s, a->e.process, a->e.thread, &row[1], err)) ||
        (st = newset_ref(s, SCHEMA_AGENT, a->agent, &row[4], err)) ||
        (st = newset_ref(s, SCHEMA_QUEUE, a->queue, &row[11], err)) ||
        (st = newset_ref(s, SCHEMA_STREAM, a->stream, &row[12], err)))
        return st;
    row[0] = newset_int(++s->next[SCHEMA_ALLOCATE]);
    row[5] = word(types, a->op);
    row[6] = word(levels, a->level);
    row[7] = newset_int(a->e.start);
    row[8] = newset_int(a->e.end);
    row[9] = newset_int((int64_t)a->address);
    row[10] = newset_int((int64_t)a->size);
    row[14] = flags_of(a, flags, sizeof flags);
    return newset_insert(s, SCHEMA_ALLOCATE, row, err);
}

rocl_status newset_put_graph(void *ctx, const newset_event *e, rocl_error *err)
{
    newset *s = ctx;
    const rocl_hip *h = &e->r.hip;
    newset_cell row[13];
    rocl_status st;
    if ((st = newset_put_plain_event(s, &h->e, &row[12], err)) ||
        (st = newset_who(s, h->e.process, h->e.thread, &row[1], err)) ||
        (st = newset_ref(s, SCHEMA_AGENT, h->agent, &row[4], err)) ||
        (st = newset_ref(s, SCHEMA_QUEUE, h->queue, &row[5], err)) ||
        (st = newset_ref(s, SCHEMA_STREAM, h->stream, &row[6], err)) ||
        (st = newset_string(s, h->e.name, &row[9], err)) ||
        (st = newset_serial(s, SCHEMA_GRAPH_ID, h->graph_exec_id, &row[10], err)))
        return st;
    row[0] = newset_int(++s->next[SCHEMA_GRAPH]);
    row[7] = newset_int(h->e.start);
    row[8] = newset_int(h->e.end);
    row[11] = newset_int((int64_t)h->kernel_count);
    return newset_insert(s, SCHEMA_GRAPH, row, err);
}

rocl_status newset_put_hip(void *ctx, const newset_event *e, rocl_error *err)
{
    newset *s = ctx;
    const rocl_hip *h = &e->r.hip;
    newset_cell row[12];
    rocl_status st =
        e->kind == ROCL_BARRIER
            ? newset_put_event(s, &h->e, SCHEMA_BARRIER, sizeof SCHEMA_BARRIER - 1, &row[11], err)
            : newset_put_plain_event(s, &h->e, &row[11], err);
    if (st || (st = newset_who(s, h->e.process, h->e.thread, &row[1], err)) ||
        (st = newset_ref(s, SCHEMA_AGENT, h->agent, &row[4], err)) ||
        (st = newset_ref(s, SCHEMA_QUEUE, h->queue, &row[5], err)) ||
        (st = newset_ref(s, SCHEMA_QUEUE, h->source_queue, &row[6], err)) ||
        (st = newset_ref(s, SCHEMA_STREAM, h->stream, &row[7], err)) ||
        (st = newset_string(s, h->e.name, &row[10], err)))
        return st;
    row[0] = newset_int(++s->next[SCHEMA_HIP]);
    row[8] = newset_int(h->e.start);
    row[9] = newset_int(h->e.end);
    return newset_insert(s, SCHEMA_HIP, row, err);
}
