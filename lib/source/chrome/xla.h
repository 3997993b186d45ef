/* Traces of XLA's profiler (JAX, TensorFlow: HOST.trace.json.gz). They have no categories: rows say
 * what their events are. A process "/device:GPU:0" is a GPU. Its rows "Stream #1(Compute)" are
 * work; its other rows ("XLA Ops", "XLA Modules", "Steps") are ranges derived from it. */
#pragma once

#include "base/json_index.h"
#include "base/map.h"
#include "model/trace.h"

/* A row of a GPU. */
typedef struct xla_row {
    bool work; /* else ranges */
    uint32_t device, stream;
    uint32_t name; /* text, of ranges: "GPU 0: XLA Ops" */
} xla_row;

typedef struct xla_rows {
    rocl_map devices; /* pid, mixed -> number of the GPU */
    rocl_map index;   /* pid and tid, mixed -> row */
    xla_row *all;
    size_t count, cap;
    uint64_t host; /* pid of "/host:CPU"; 0: there is none */
} xla_rows;

/* Reads the metadata, which come before all events. In a trace of another program it finds no
 * rows. */
rocl_status xla_rows_read(xla_rows *x, rocl_trace *t, const rocl_json_index *index,
                          const rocl_json_node *events, const rocl_spool *spool, unsigned flags,
                          rocl_error *err);
void xla_rows_free(xla_rows *x);

/* NULL: the row does not belong to a GPU. */
const xla_row *xla_find_row(const xla_rows *x, uint64_t pid, uint64_t tid);

/* The arguments of GPU work. */
typedef struct xla_details {
    uint32_t grid[3], block[3]; /* the grid in blocks; 0: unknown */
    int64_t group_segment, private_segment;
    uint64_t bytes;
    bool is_kernel, is_copy;
} xla_details;

/* " grid:16,1,1 block:512,1,1 private_mem:0 group_mem:0 occ_pct:0" */
void xla_read_kernel(xla_details *d, rocl_view text);
/* "kind_src:pageable kind_dst:device size:4096 dest:0 async:1" */
void xla_read_copy(xla_details *d, rocl_view text);
