/* The kinds of events: names, sizes, faults. */
#include <stdio.h>

#include "model/trace.h"

static const struct {
    const char *name;
    size_t size;
} kinds[ROCL_KINDS] = {
    [ROCL_REGION] = {"region", sizeof(rocl_region)},
    [ROCL_MARKER] = {"marker", sizeof(rocl_region)},
    [ROCL_INSTANT] = {"instant", sizeof(rocl_region)},
    [ROCL_DISPATCH] = {"kernel", sizeof(rocl_dispatch)},
    [ROCL_COPY] = {"copy", sizeof(rocl_copy)},
    [ROCL_ALLOC] = {"alloc", sizeof(rocl_alloc)},
    [ROCL_SCRATCH] = {"scratch", sizeof(rocl_alloc)},
    [ROCL_COUNTER] = {"counter", sizeof(rocl_counter_value)},
    [ROCL_SPM] = {"spm", sizeof(rocl_sample_value)},
    [ROCL_SAMPLE] = {"sample", sizeof(rocl_sample_value)},
    [ROCL_GRAPH] = {"graph", sizeof(rocl_hip)},
    [ROCL_HIP_EVENT] = {"hip-event", sizeof(rocl_hip)},
    [ROCL_BARRIER] = {"barrier", sizeof(rocl_hip)},
};

const char *rocl_kind_name(rocl_kind k)
{
    return (unsigned)k < ROCL_KINDS ? kinds[k].name : "";
}

size_t rocl_kind_size(rocl_kind k)
{
    return (unsigned)k < ROCL_KINDS ? kinds[k].size : 0;
}

rocl_event *rocl_batch_event(const rocl_batch *b, size_t i)
{
    return (rocl_event *)((char *)b->any + i * kinds[b->kind].size);
}

size_t rocl_alloc_name(char *to, rocl_alloc_level level, rocl_alloc_op op)
{
    static const char *const prefix[] = {"MEMORY_ALLOCATION_", "MEMORY_ALLOCATION_",
                                         "MEMORY_ALLOCATION_VMEM_", "SCRATCH_MEMORY_"};
    static const char *const memory[] = {"NONE", "ALLOCATE", "FREE", "REALLOCATE", "RECLAIM"};
    static const char *const scratch[] = {"NONE", "ALLOC", "FREE", "REALLOC", "ASYNC_RECLAIM"};
    const char *const *ops = level == ROCL_LEVEL_SCRATCH ? scratch : memory;
    return (size_t)snprintf(to, ROCL_ALLOC_NAME_MAX, "%s%s", prefix[level], ops[op]);
}

static const struct {
    const char *text;
    bool drops;
} faults[ROCL_FAULTS] = {
    [ROCL_FAULT_END_BEFORE_START] = {"end before start", true},
    [ROCL_FAULT_NO_END] = {"no end", true},
    [ROCL_FAULT_BEFORE_PROCESS] = {"before the process began", true},
    [ROCL_FAULT_BAD_TIME] = {"no valid time", true},
    [ROCL_FAULT_DANGLING_NAME] = {"unknown name id", false},
    [ROCL_FAULT_DANGLING_PROCESS] = {"unknown process id", false},
    [ROCL_FAULT_DANGLING_THREAD] = {"unknown thread id", false},
    [ROCL_FAULT_DANGLING_AGENT] = {"unknown agent id", false},
    [ROCL_FAULT_DANGLING_QUEUE] = {"unknown queue id", false},
    [ROCL_FAULT_DANGLING_STREAM] = {"unknown stream id", false},
    [ROCL_FAULT_DANGLING_KERNEL] = {"unknown kernel id", false},
    [ROCL_FAULT_DANGLING_EVENT] = {"unknown event id", false},
    [ROCL_FAULT_DANGLING_TRACK] = {"unknown track id", false},
    [ROCL_FAULT_DANGLING_COUNTER] = {"unknown counter id", false},
    [ROCL_FAULT_ORPHAN_VALUE] = {"value of no event", true},
    [ROCL_FAULT_BAD_VALUE] = {"value of a wrong type", false},
    [ROCL_FAULT_NO_NUMBER] = {"counter value that is no finite number", true},
    [ROCL_FAULT_BAD_JSON] = {"broken JSON", false},
    [ROCL_FAULT_UNPAIRED_FREE] = {"free without allocation", false},
    [ROCL_FAULT_BAD_LINE] = {"malformed line", true},
    [ROCL_FAULT_DROPPED] = {"dropped while recording", true},
    [ROCL_FAULT_TORN] = {"in a damaged or missing chunk", true},
    [ROCL_FAULT_UNFINISHED] = {"open when the process ended", false},
};

const char *rocl_fault_text(rocl_fault f)
{
    return (unsigned)f < ROCL_FAULTS ? faults[f].text : "";
}

bool rocl_fault_drops(rocl_fault f)
{
    return (unsigned)f < ROCL_FAULTS && faults[f].drops;
}
