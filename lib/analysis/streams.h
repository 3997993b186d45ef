/* Inside the report on streams: what is collected (streams.c) for the tables (streams_tables.c). */
#ifndef ROCL_ANALYSIS_STREAMS_H
#define ROCL_ANALYSIS_STREAMS_H

#include "analysis/analysis.h"

typedef enum lane_kind { OF_STREAM, OF_QUEUE, OF_NONE } lane_kind;

/* Interned as bytes: no holes. */
typedef struct lane_key {
    uint32_t table; /* 0: streams, 1: queues */
    uint32_t kind, capture, process;
    uint32_t index; /* of the stream or queue */
} lane_key;

/* Of what was covered until now: the piece that may still grow. */
typedef struct piece {
    int64_t start, end;
    bool open;
} piece;

typedef struct lane {
    lane_key key;
    uint64_t kernels, copies;
    int64_t first, last, busy, gap;
} lane;

typedef struct activity {
    uint64_t active, most;
    int64_t first, last, busy; /* some lane was active */
    int64_t until, at;         /* counted up to here; when `most` was reached first */
    double sum;                /* of the lanes' times; exact below 2^53 ns */
    bool any;
} activity;

typedef struct streams {
    rocl_collector c;
    rocl_gpus gpus;
    rocl_strings *keys; /* lanes' keys; their ids are the lanes */
    rocl_sorter *sorter, *edges;
    lane *lanes;
    size_t lane_count;
    piece *pieces; /* by GPU, of the lane that is swept */
    activity *activities;
    int64_t first; /* of all work */
} streams;

/* Puts the lanes in order first. */
rocl_status rocl_streams_tables(streams *s, rocl_tables *out, rocl_error *err);

#endif
