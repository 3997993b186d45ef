/* Between the files of the collector that finds out what each GPU did when: busy.c sweeps,
 * overlap.c and gaps.c make tables of it. */
#ifndef ROCL_ANALYSIS_BUSY_H
#define ROCL_ANALYSIS_BUSY_H

#include "analysis/analysis.h"
#include "base/ids.h"

typedef enum part { COMPUTE, COMMUNICATION, COPY, PARTS } part;

/* Unions that are measured, as sets of parts. */
enum {
    U_COMPUTE = 1 << COMPUTE,
    U_COMMUNICATION = 1 << COMMUNICATION,
    U_KERNELS = 1 << COMPUTE | 1 << COMMUNICATION,
    U_COPY = 1 << COPY,
    U_ALL = (1 << PARTS) - 1,
};

enum { C_COMPUTE, C_KERNELS, C_COPY, C_ALL, C_COMMUNICATION, COVERS };

typedef struct cover {
    uint32_t parts;
    int64_t until; /* covered up to here */
    int64_t measure;
} cover;

/* How long how many kernels ran at once. */
#define LEVELS 64 /* so many, or more, are the last level */

typedef struct levels {
    int64_t now, time; /* that run, since when */
    int64_t ns[LEVELS + 1];
} levels;

#define LONGEST 20

typedef struct gap {
    int64_t start, length;
    uint32_t before, after; /* texts */
} gap;

/* A GPU, or a lane, while it is swept. */
typedef struct sweep {
    uint64_t place;
    cover covers[COVERS];
    levels levels;
    int64_t first, last;
    uint64_t kernels, copies, communications;
    uint32_t last_name; /* of the event that ends last so far */
    gap longest[LONGEST];
    unsigned longest_count;
    uint64_t gap_count;
    int64_t gap_total;
    uint64_t bucket_count[8];
    int64_t bucket_total[8];
} sweep;

typedef struct busy {
    rocl_trace *trace;
    const rocl_stats_options *options;
    rocl_gpus gpus;
    bool lanes;                           /* sweeps are of streams and queues, not of GPUs */
    uint64_t *first_stream, *first_queue; /* by capture: number of its first one */
    rocl_sorter *sorter, *gaps;           /* events by place and start; gap lengths by sweep */
    rocl_sorter *ends;                    /* of kernels, by place; NULL: levels are not counted */
    uint64_t end[2];                      /* place and time of the end that comes next */
    bool more_ends;
    rocl_ids *parts; /* by worker: the part of a kernel's name */
    sweep *sweeps;   /* of places that did anything, in their order */
    size_t sweep_count, sweep_cap;
} busy;

/* ---- places.c ---- */

#define ROCL_NO_PLACE UINT64_MAX
enum { LANE_COLUMNS = 3 }; /* before that of the GPU */

rocl_status rocl_busy_number_lanes(busy *b, rocl_error *err);
uint64_t rocl_busy_stream(const busy *b, uint64_t gpu, const rocl_capture *c, uint32_t stream);
uint64_t rocl_busy_queue(const busy *b, uint64_t gpu, const rocl_capture *c, uint32_t queue);
/* A new row that says where; it begins with the cell of the GPU, others are before it. */
rocl_datum *rocl_busy_row(const busy *b, rocl_tables *out, rocl_table *t, const sweep *s);

/* ---- tables ---- */

/* Both fail with INTERNAL when times do not add up. */
rocl_status rocl_overlap_tables(busy *b, rocl_tables *out, rocl_error *err);
rocl_status rocl_gap_tables(busy *b, rocl_tables *out, rocl_error *err);

/* A table with the rows that a function adds for each sweep. */
typedef rocl_status rocl_busy_rows(const busy *b, rocl_tables *out, rocl_table *t, const sweep *s,
                                   rocl_error *err);
rocl_status rocl_busy_table(busy *b, rocl_tables *out, const char *key, const char *title,
                            const rocl_table_column *columns, size_t count, rocl_busy_rows *rows,
                            rocl_error *err);

#define COLUMNS(c) (c), sizeof(c) / sizeof *(c)

#endif
