/* Who is who in files of rocprof: hosts, ranks and GPUs, as our outputs add them to AMD's forms,
 * and what rocminfo printed into the files of v1. */
#pragma once

#include "base/json.h"
#include "source/records/records.h"

typedef struct rocprof_who_process {
    uint64_t key;                  /* of the process */
    int64_t rank;                  /* -1 unknown */
    int64_t machine;               /* processes with the same number are on one; -1 unknown */
    uint32_t hostname, machine_id; /* texts; 0 unknown */
} rocprof_who_process;

typedef struct rocprof_who_gpu {
    uint64_t process; /* key */
    uint64_t number;  /* of its node */
    int64_t index;    /* among the GPUs; -1 unknown */
    uint32_t uuid, pci;
} rocprof_who_gpu;

/* An agent of rocminfo. */
typedef struct rocprof_who_info {
    bool is_gpu, has_node;
    uint64_t node;
    uint32_t uuid;
} rocprof_who_info;

typedef struct rocprof_who {
    rocprof_who_process *processes;
    rocprof_who_gpu *gpus;
    rocprof_who_info *infos; /* by the number of the agent */
    size_t process_count, process_cap, gpu_count, gpu_cap, info_count, info_cap;
} rocprof_who;

/* False: memory is out. */
bool rocprof_who_add_process(rocprof_who *w, const rocprof_who_process *p);
bool rocprof_who_add_gpu(rocprof_who *w, const rocprof_who_gpu *g);
/* Reads the object otherData of results.json, on which the reader stands. What is no such object
 * says nothing. False: memory is out. */
bool rocprof_who_read(rocprof_who *w, rocl_trace *t, rocl_json *r);
/* For `refine`: completes processes and agents. */
rocl_status rocprof_who_apply(const rocprof_who *w, rocl_records_input *in, rocl_error *err);
void rocprof_who_free(rocprof_who *w);
