/* The ranks of a trace: processes with the same rank number are one; a process without a number
 * stands for itself. */
#pragma once

#include "model/trace.h"

typedef struct rocl_rank {
    int32_t number; /* -1: none */
    uint32_t machine;
    int64_t pid;               /* -1: several */
    uint32_t host;             /* text; 0: several */
    uint32_t capture, process; /* the first */
} rocl_rank;

typedef struct rocl_rank_list {
    rocl_rank *all; /* by number, then those without a number, by machine and pid */
    uint32_t **of;  /* by capture and process: index in all */
    uint32_t count;
    size_t captures; /* of `of` */
} rocl_rank_list;

/* *r is zeroed before; rocl_rank_list_free() also where it fails. */
rocl_status rocl_rank_list_make(rocl_rank_list *r, const rocl_trace *t, rocl_error *err);
void rocl_rank_list_free(rocl_rank_list *r);

/* "rank 3", or "pid 4711". */
const char *rocl_rank_name(const rocl_rank *r, char text[48]);
