/* Lanes: what a stream of a process did, or else a queue, as reports show it; work of neither is in
 * a lane of its process. */
#pragma once

#include "analysis/report.h"

typedef enum rocl_lane_kind { ROCL_LANE_STREAM, ROCL_LANE_QUEUE, ROCL_LANE_NONE } rocl_lane_kind;

/* Interned as bytes: no holes. */
typedef struct rocl_lane_key {
    uint32_t kind, capture, process;
    uint32_t index; /* which stream or queue; 0: none */
} rocl_lane_key;

/* What to call a lane; the first columns of a row. */
typedef struct rocl_lane_name {
    const char *host;
    uint32_t name; /* text; ROCL_NONE: of no stream and no queue */
    int32_t rank;
    int64_t pid, id;
} rocl_lane_name;

/* What a stream is called, or else a queue; 0: there is neither. */
static inline uint32_t rocl_lane_label(const rocl_capture *c, uint32_t stream, uint32_t queue)
{
    return stream < c->stream_count ? c->streams[stream].label
           : queue < c->queue_count ? c->queues[queue].label
                                    : 0;
}

/* The lane of a dispatch or a copy: its stream, else its queue. */
rocl_lane_key rocl_lane_of(const rocl_batch *b, size_t i);
rocl_lane_name rocl_name_lane(const rocl_trace *t, const rocl_lane_key *k);
/* By process, kind and number: never by what depends on -j. */
int rocl_compare_lanes(const rocl_lane_key *a, const rocl_lane_name *x, const rocl_lane_key *b,
                       const rocl_lane_name *y);

/* The conditions of rocl_begin_table() for these columns. */
static inline uint32_t rocl_lane_conditions(const rocl_trace *t)
{
    return t->machine_count > 1 && t->named_count ? ROCL_IF_OWN : 0;
}

/* The columns of a rocl_lane_name that is a member of a row; the host only of several machines. */
#define ROCL_LANE_COLUMNS(row, member, title)                                                      \
    {"pid", "Process", ROCL_UNIT_COUNT, ROCL_ALWAYS, ROCL_CELL(row, member.pid)},                  \
        {"host", "Host", ROCL_UNIT_TEXT, ROCL_IF_OWN, ROCL_CELL(row, member.host)},                \
        {"rank", "Rank", ROCL_UNIT_COUNT, ROCL_IF_RANK, ROCL_CELL(row, member.rank)},              \
    {                                                                                              \
        "name", title, ROCL_UNIT_TEXT, ROCL_OTHERS,                                                \
            ROCL_CELL_BY(rocl_field_text_or_none, row, member.name)                                \
    }
