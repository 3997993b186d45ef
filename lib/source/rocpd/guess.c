/* A file may lack an info table (older or other writers). The ids that its events use are all there
 * is then to tell threads, queues, streams and agents apart, so each id becomes a definition. */
#include "source/rocpd/rocpd.h"

static rocl_status guess_thread(rocpd_set *s, int64_t id, rocl_error *err)
{
    rocl_capture *c = &s->capture->pub;
    rocl_thread *t = rocpd_define(id, &c->threads, &c->thread_count, sizeof *t, &s->threads, err);
    if (!t)
        return ROCL_INTERNAL;
    *t = (rocl_thread){.id = id, .process = ROCL_NONE, .tid = id};
    return ROCL_OK;
}

static rocl_status guess_agent(rocpd_set *s, int64_t id, rocl_error *err)
{
    rocl_capture *c = &s->capture->pub;
    rocl_agent *a = rocpd_define(id, &c->agents, &c->agent_count, sizeof *a, &s->agents, err);
    if (!a)
        return ROCL_INTERNAL;
    *a = (rocl_agent){.id = id,
                      .node = ROCL_NONE,
                      .process = ROCL_NONE,
                      .absolute_index = -1,
                      .logical_index = -1,
                      .type_index = -1};
    rocl_label_agent(s->trace, a);
    return ROCL_OK;
}

static rocl_status guess_place(int64_t id, const void *array, uint32_t *count, rocl_ids *ids,
                               rocl_error *err)
{
    rocl_queue *q = rocpd_define(id, array, count, sizeof *q, ids, err);
    if (!q)
        return ROCL_INTERNAL;
    *q = (rocl_queue){.id = id, .process = ROCL_NONE};
    return ROCL_OK;
}

static rocl_status guess_queue(rocpd_set *s, int64_t id, rocl_error *err)
{
    rocl_capture *c = &s->capture->pub;
    return guess_place(id, &c->queues, &c->queue_count, &s->queues, err);
}

static rocl_status guess_stream(rocpd_set *s, int64_t id, rocl_error *err)
{
    rocl_capture *c = &s->capture->pub;
    return guess_place(id, &c->streams, &c->stream_count, &s->streams, err);
}

typedef rocl_status guess_fn(rocpd_set *s, int64_t id, rocl_error *err);

/* Columns of events that refer to an info table. */
static const struct {
    rocpd_table info, events;
    const char *column;
    guess_fn *guess;
} references[] = {
    {ROCPD_INFO_THREAD, ROCPD_REGION, "tid", guess_thread},
    {ROCPD_INFO_THREAD, ROCPD_KERNEL_DISPATCH, "tid", guess_thread},
    {ROCPD_INFO_THREAD, ROCPD_MEMORY_COPY, "tid", guess_thread},
    {ROCPD_INFO_THREAD, ROCPD_MEMORY_ALLOCATE, "tid", guess_thread},
    {ROCPD_INFO_THREAD, ROCPD_TRACK, "tid", guess_thread},
    {ROCPD_INFO_AGENT, ROCPD_KERNEL_DISPATCH, "agent_id", guess_agent},
    {ROCPD_INFO_AGENT, ROCPD_MEMORY_COPY, "src_agent_id", guess_agent},
    {ROCPD_INFO_AGENT, ROCPD_MEMORY_COPY, "dst_agent_id", guess_agent},
    {ROCPD_INFO_AGENT, ROCPD_MEMORY_ALLOCATE, "agent_id", guess_agent},
    {ROCPD_INFO_AGENT, ROCPD_TRACK, "agent_id", guess_agent},
    {ROCPD_INFO_QUEUE, ROCPD_KERNEL_DISPATCH, "queue_id", guess_queue},
    {ROCPD_INFO_QUEUE, ROCPD_MEMORY_COPY, "queue_id", guess_queue},
    {ROCPD_INFO_QUEUE, ROCPD_MEMORY_ALLOCATE, "queue_id", guess_queue},
    {ROCPD_INFO_QUEUE, ROCPD_TRACK, "queue_id", guess_queue},
    {ROCPD_INFO_STREAM, ROCPD_KERNEL_DISPATCH, "stream_id", guess_stream},
    {ROCPD_INFO_STREAM, ROCPD_MEMORY_COPY, "stream_id", guess_stream},
    {ROCPD_INFO_STREAM, ROCPD_MEMORY_ALLOCATE, "stream_id", guess_stream},
    {ROCPD_INFO_STREAM, ROCPD_TRACK, "stream_id", guess_stream},
};

static const rocl_ids *ids_of(const rocpd_set *s, rocpd_table info)
{
    switch (info) {
    case ROCPD_INFO_THREAD:
        return &s->threads;
    case ROCPD_INFO_AGENT:
        return &s->agents;
    case ROCPD_INFO_QUEUE:
        return &s->queues;
    default:
        return &s->streams;
    }
}

static rocl_status guess_from(rocpd_set *s, rocl_db *db, size_t n, rocl_error *err)
{
    const char *column = references[n].column;
    rocl_rows *rows;
    unsigned count = 0;
    rocl_status st = rocl_rows_open(&rows, db, s->tables[references[n].events], &column, 1, err);
    if (st != ROCL_OK)
        return st;
    st = rocl_rows_seek(rows, INT64_MIN, INT64_MAX, err);
    while (st == ROCL_OK && (st = rocl_rows_next(rows, ROCL_ROWS_BATCH, &count, err)) == ROCL_OK &&
           count)
        for (unsigned i = 0; i < count && st == ROCL_OK; i++) {
            bool bad = false;
            int64_t id;
            if (rocl_cell_int(rows, 0, i, &id, &bad) &&
                rocl_ids_get(ids_of(s, references[n].info), (uint64_t)id) == ROCL_NONE)
                st = references[n].guess(s, id, err);
        }
    rocl_rows_close(rows);
    return st;
}

rocl_status rocpd_guess_definitions(rocpd_set *s, rocl_db *db, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < sizeof references / sizeof *references && st == ROCL_OK; i++)
        if (!s->tables[references[i].info] && s->tables[references[i].events])
            st = guess_from(s, db, i, err);
    return st;
}
