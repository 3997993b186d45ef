/* GPU work and memory as PyTorch writes it: kernels, copies, allocations. Some of it is known only
 * when all events were seen: grids count groups, or work-items where the launching call does, and
 * allocations count GPUs from 0, while work has their numbers in the driver. */
#ifndef ROCL_SOURCE_CHROME_WORK_H
#define ROCL_SOURCE_CHROME_WORK_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/map.h"
#include "source/chrome/event.h"

enum { CHROME_GPUS_MAX = 64 };

typedef struct chrome_work {
    uint32_t kernel, copy, allocation;      /* categories */
    uint32_t device_names[CHROME_GPUS_MAX]; /* of deviceProperties */
    size_t devices;
    bool in_work_items;              /* all grids are */
    pthread_mutex_t lock;            /* of work_items, which is only read in the second pass */
    rocl_idset work_items;           /* correlations of launches whose grid counts work-items */
    atomic_uint_fast64_t allocating; /* devices with memory, a bit each */
    atomic_bool hip_memory;          /* they are HIP's */
    /* After the first pass: */
    uint64_t gpus[CHROME_GPUS_MAX]; /* numbers of the GPUs, ascending */
    size_t gpu_count;
    uint64_t gpu_of_device[CHROME_GPUS_MAX]; /* of a device of memory; ROCL_NO_KEY */
} chrome_work;

void chrome_work_open(chrome_work *k);
void chrome_work_close(chrome_work *k);

/* Device and stream of GPU work, out of the arguments or else of the row; for its process see
 * callers.h. */
void chrome_place_work(rocl_source_record *r, const chrome_event *e, const chrome_args *a);
void chrome_make_dispatch(rocl_source_record *r, const chrome_work *k, const chrome_event *e,
                          const chrome_args *a);
void chrome_make_copy(rocl_source_record *r, const chrome_work *k, const chrome_event *e,
                      const chrome_args *a);
/* PyTorch's allocator: bytes are negative where they are given back. */
void chrome_make_allocation(rocl_source_record *r, chrome_work *k, const chrome_args *a);
/* What the allocator has of a GPU then: more than is allocated, as it keeps what is given back. */
rocl_status chrome_put_reserved(rocl_records *to, const rocl_source_record *allocation,
                                const chrome_args *a, rocl_error *err);
/* In the first pass, of a call. False: memory is out. */
bool chrome_note_work_items(chrome_work *k, rocl_view call, uint64_t correlation);

/* Behind the first pass: the numbers of the GPUs, their names, and units of counters. */
rocl_status chrome_name_gpus(chrome_work *k, rocl_trace *t, rocl_capture *c, rocl_error *err);
/* In the second pass: grids in work-items, GPUs of allocations. */
void chrome_complete_work(const chrome_work *k, rocl_plain_record *r);

#endif
