/* Collectives: the operator that PyTorch writes around one has what it sends, and to whom. Kernels
 * of NCCL and RCCL without these arguments, as in older traces, get them by the operator's
 * number. */
#pragma once

#include <pthread.h>

#include "base/map.h"
#include "source/chrome/event.h"

typedef struct chrome_collective {
    uint64_t where; /* of the operator */
    uint32_t args;  /* text: an object of JSON */
} chrome_collective;

typedef struct chrome_collectives {
    pthread_mutex_t lock; /* of the rest, which is only read in the second pass */
    rocl_map index;       /* number of an operator, mixed -> collective */
    chrome_collective *all;
    size_t count, cap;
    const chrome_callers *callers; /* numbers of operators are those of their processes */
} chrome_collectives;

void chrome_collectives_close(chrome_collectives *c);

/* Are the arguments of collectives wanted, alone or with all others? */
bool chrome_want_collectives(const rocl_records *to);
/* In the first pass: notes an operator record_param_comms, whose arguments the worker has. */
rocl_status chrome_note_collective(rocl_records *to, chrome_collectives *c, const chrome_worker *w,
                                   const rocl_source_record *call, rocl_error *err);
/* Puts a record with its arguments, if wanted, and those of its collective. */
rocl_status chrome_put_with_args(rocl_records *to, rocl_source_record *r,
                                 const chrome_collectives *c, chrome_worker *w,
                                 const chrome_event *e, rocl_error *err);
