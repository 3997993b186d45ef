/* Who is who, as JSON: what the layouts of Chrome and PyTorch have no place for. A member of the
 * file, which their viewers ignore, lists the hosts, processes and GPUs; the numbers that events
 * have are the `id`s there.
 *
 *     "rocline": {"hosts":[{"host":"node7",...}],
 *                 "processes":[{"id":12,"pid":4711,"rank":3,"on":0,...}],
 *                 "gpus":[{"id":4194305,"on":0,"number":0,"uuid":"GPU-...",...}]} */
#pragma once

#include "base/json.h"
#include "model/identity.h"

#define ROCL_ROSTER_MEMBER "rocline"

typedef struct rocl_roster_host {
    uint32_t hostname, machine_id, system_name, release, version, hardware; /* texts */
} rocl_roster_host;

typedef struct rocl_roster_process {
    int64_t id;            /* by which events name it; -1: it is not in the file */
    int64_t pid, rank, on; /* rank -1: unknown; on: index of its host */
    uint32_t command;      /* text */
} rocl_roster_process;

typedef struct rocl_roster_gpu {
    int64_t id; /* by which events of processes on its host name it; -1: it is not in the file */
    int64_t on;
    int64_t number;  /* see rocl_gpu.id */
    int64_t index;   /* absolute, see rocl_agent; -1: unknown */
    int64_t ordinal; /* 1: see rocl_agent; else -1. Written where its host has one process only */
    uint32_t label, name, vendor, product, uuid, pci; /* texts; the label is unique on its host */
} rocl_roster_gpu;

typedef struct rocl_roster {
    rocl_roster_host *hosts;
    rocl_roster_process *processes;
    rocl_roster_gpu *gpus;
    size_t host_count, process_count, gpu_count;
    size_t host_cap, process_cap, gpu_cap;
} rocl_roster;

/* All machines, processes (capture by capture) and GPUs of a trace, in their order, with ids as the
 * trace has them; the caller may set others. *roster must be zeroed. False: memory is out. */
bool rocl_roster_make(rocl_roster *roster, rocl_trace *t);
void rocl_roster_free(rocl_roster *roster);

/* Appends the object: what has an id, and the hosts where processes are. */
void rocl_roster_put(rocl_buf *b, const rocl_trace *t, const rocl_roster *roster);
/* Reads the object that a reader of JSON is at. False: memory is out. */
bool rocl_roster_read(rocl_roster *roster, rocl_trace *t, rocl_json *r);

/* The labels of all GPUs, malloced, by their index: those of their agents, but "GPU 1" by the
 * number on the machine where several there are called the same. NULL: memory is out. */
uint32_t *rocl_label_agents(rocl_trace *t);

/* What is known of the system of a machine; its names are those of the machine. */
rocl_node rocl_node_of_machine(const rocl_trace *t, uint32_t machine);
