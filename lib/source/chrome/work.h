/* GPU work and memory as PyTorch writes it: kernels, copies, allocations. Some facts are known only
 * after all events: grids count groups, or work-items if the launching call does, and allocations
 * number GPUs from 0, while work has the numbers of the driver. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "base/map.h"
#include "source/chrome/event.h"

enum { CHROME_GPUS_MAX = 64 };

/* A device of which a process has memory. */
typedef struct chrome_device {
    uint64_t process; /* its key, or ROCL_NO_KEY */
    uint32_t number;  /* below CHROME_GPUS_MAX */
    int64_t since;    /* its first event, and where that is in the file */
    uint64_t where;
    uint64_t before; /* bytes that were in use before it */
    /* After the first pass: */
    uint32_t index; /* of the process */
    uint64_t gpu;   /* the number of its work; ROCL_NO_KEY: none */
} chrome_device;

typedef struct chrome_work {
    uint32_t kernel, copy, allocation; /* categories */
    struct {
        uint32_t name, properties; /* texts; the latter is JSON, as rocpd has it */
    } devices[CHROME_GPUS_MAX];    /* of deviceProperties */
    size_t device_count;
    uint32_t *properties;  /* by agent; NULL before the GPUs have names */
    bool in_work_items;    /* all grids count work-items */
    bool ordinal;          /* numbers of devices may count what a process sees */
    pthread_mutex_t lock;  /* of the rest, which is only read in the second pass */
    rocl_idset work_items; /* correlations of launches whose grid counts work-items */
    chrome_device *memory; /* devices with memory */
    size_t memory_count, memory_cap;
    rocl_map memory_index;  /* process and device, mixed -> device with memory */
    atomic_bool hip_memory; /* these devices are HIP's */
    const chrome_callers *callers;
} chrome_work;

void chrome_work_close(chrome_work *k);

/* Sets device and stream of GPU work, from the arguments, else from the row; for its process see
 * callers.h. */
void chrome_place_work(rocl_source_record *r, const chrome_event *e, const chrome_args *a);
void chrome_make_dispatch(rocl_source_record *r, const chrome_work *k, const chrome_event *e,
                          const chrome_args *a);
void chrome_make_copy(rocl_source_record *r, const chrome_work *k, const chrome_event *e,
                      const chrome_args *a);
/* PyTorch's allocator: bytes are negative if they are freed. False: memory is out. */
bool chrome_make_allocation(rocl_records *to, rocl_source_record *r, chrome_work *k,
                            const chrome_args *a);
/* The bytes that the allocator holds of a GPU: more than are allocated, as it keeps freed
 * memory. */
rocl_status chrome_put_reserved(rocl_records *to, const rocl_source_record *allocation,
                                const chrome_args *a, rocl_error *err);
/* In the first pass, for a call. False: memory is out. */
bool chrome_note_work_items(chrome_work *k, const rocl_source_record *call);

/* After the first pass: the numbers of the GPUs, their names, and units of counters. */
rocl_status chrome_name_gpus(chrome_work *k, rocl_records_input *in, rocl_error *err);
/* In the second pass: grids in work-items, GPUs of allocations. */
void chrome_complete_work(const chrome_work *k, rocl_plain_record *r);
