/* Between the files of the collector that finds out what each GPU did when: busy.c sweeps,
 * levels.c and gaps.c look on, gap_causes.c and host.c find out why it was idle, and overlap.c and
 * gaps_tables.c make tables of it. */
#ifndef ROCL_ANALYSIS_BUSY_H
#define ROCL_ANALYSIS_BUSY_H

#include "analysis/calls.h"
#include "analysis/samples.h"
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

/* Why a GPU was idle; see rocstats(1) for the rules. */
typedef enum gap_class {
    GAP_HOST,       /* the call that ended it came late */
    GAP_SYNC,       /* the same, and its thread waited when the gap began */
    GAP_LAUNCH,     /* the call was made in time, or took most of the gap until its work began */
    GAP_DEPENDENCY, /* the work had been given long before */
    GAP_COPY,       /* of gaps between kernels: copies ran */
    GAP_UNKNOWN,    /* the call is not in the trace */
    GAP_CLASSES
} gap_class;

#define LONGEST 20

typedef struct gap {
    int64_t start, length;
    uint32_t before, after; /* texts */
    gap_class why;
    uint32_t call; /* text: that ended it; ROCL_NONE: not in the trace */
    uint32_t host; /* text: what its thread did meanwhile; ROCL_NONE: nothing in the trace */
    int64_t host_ns;
} gap;

#define BUCKETS 8

/* The gaps between pieces of work. */
typedef struct idleness {
    bool any;
    int64_t first, last; /* of the work between which they are */
    uint32_t last_name;  /* of the piece that ends last so far */
    bool marked;         /* `copied` is known */
    int64_t copied;      /* time in which copies ran, up to `last` */
    int64_t program_end; /* of everything in the processes that gave it work */
    gap longest[LONGEST];
    unsigned longest_count;
    uint64_t count;
    int64_t total;
    uint64_t bucket_count[BUCKETS], class_count[GAP_CLASSES];
    int64_t bucket_total[BUCKETS], class_total[GAP_CLASSES];
} idleness;

/* A GPU, or a lane, while it is swept. */
typedef struct sweep {
    uint64_t place;
    cover covers[COVERS];
    levels levels;
    int64_t first, last;
    uint64_t kernels, copies, communications;
    idleness idle;
} sweep;

/* A piece of work as the sweep meets it. */
typedef struct piece {
    part part;
    int64_t start, end;
    uint32_t name;
    uint64_t process, stack_id; /* only where causes are looked for */
} piece;

typedef struct busy {
    rocl_collector c;
    rocl_gpus gpus;
    bool lanes;                           /* sweeps are of streams and queues, not of GPUs */
    uint64_t *first_stream, *first_queue; /* by capture: number of its first one */
    rocl_sorter *sorter;                  /* events by place and start */
    rocl_samples *lengths;                /* of gaps, by sweep */
    rocl_sorter *ends;                    /* of kernels, by place; NULL: levels are not counted */
    uint64_t end[2];                      /* place and time of the end that comes next */
    bool more_ends;
    rocl_ids *parts; /* by worker: the part of a kernel's name */
    sweep *sweeps;   /* of places that did anything, in their order */
    size_t sweep_count, sweep_cap;
    struct gap_causes *causes; /* NULL: nobody asked for gaps */
} busy;

/* ---- levels.c ---- */

rocl_status rocl_levels_begin(busy *b, rocl_error *err); /* before the first sweep */
rocl_status rocl_levels_take(busy *b, sweep *s, const piece *p, rocl_error *err);
rocl_status rocl_levels_end(busy *b, sweep *s, rocl_error *err); /* of a sweep */

/* ---- gaps.c ---- */

/* Before the covers of the sweep take the piece. */
rocl_status rocl_gaps_take(busy *b, sweep *s, const piece *p, rocl_error *err);
/* How much of the time up to `t` is covered, where no later piece was taken. */
int64_t rocl_cover_before(const cover *c, int64_t t);

/* ---- gap_causes.c ---- */

rocl_status rocl_gap_causes_new(busy *b, rocl_error *err);
void rocl_gap_causes_free(struct gap_causes *c);
/* While events come in: calls, and the ends of all. */
rocl_status rocl_gap_causes_see(busy *b, unsigned worker, const rocl_batch *batch, rocl_error *err);
void rocl_gap_causes_settle(busy *b);                         /* when all have come */
int64_t rocl_gap_causes_end(const busy *b, uint64_t process); /* of the process's capture */
/* A gap, and the piece that ended it; `copied` of it copies ran. */
rocl_status rocl_gap_causes_add(busy *b, const sweep *s, const gap *g, const piece *p,
                                int64_t copied, rocl_error *err);
rocl_status rocl_gap_causes_ask(busy *b, rocl_calls *calls, rocl_error *err);
/* When calls are known: what threads did. */
rocl_status rocl_gap_causes_finish(busy *b, rocl_error *err);
const char *rocl_gap_class_name(gap_class c);

/* ---- host.c ---- */

/* What a thread of a process did in a time. */
typedef struct host_time {
    uint64_t process, thread;
    int64_t from, to;
    int64_t gap;   /* the asker's: length of the gap that `waited` decides on; 0: of none */
    bool whole;    /* asked is for `name` as well */
    bool waited;   /* for the GPU: at `from`, or for half of the time */
    uint32_t name; /* text: of the call that took most of the time; ROCL_NONE: of none */
    int64_t ns;    /* of it */
} host_time;

typedef struct host host;
typedef rocl_status host_fn(void *ctx, uint64_t which, const host_time *told, rocl_error *err);

host *rocl_host_new(rocl_collector *c); /* its sorters are those of the collector */
void rocl_host_free(host *h);
/* Concurrent. */
rocl_status rocl_host_see(host *h, unsigned worker, const rocl_capture *c, const rocl_event *call,
                          rocl_error *err);
/* About a gap of a sweep, which begins at t->from. */
rocl_status rocl_host_ask(host *h, uint64_t which, const host_time *t, rocl_error *err);
/* Tells all, each once. */
rocl_status rocl_host_answer(host *h, host_fn *fn, void *ctx, rocl_error *err);

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
