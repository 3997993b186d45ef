/* The system tree, location groups and locations. Made when a track first needs them: nothing
 * appears without events. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/text.h"
#include "sink/otf2/otf2.h"

/* ---- the system tree: machines and devices --------------------------------------------------- */

static uint32_t add_tree(ot_system *y, const ot_tree *tree)
{
    if (!ROCL_GROW(y->trees, y->tree_capacity, y->tree_count + (size_t)1)) {
        y->defs->failed = true;
        return 0;
    }
    y->trees[y->tree_count] = *tree;
    return y->tree_count++;
}

static uint32_t machine_tree(ot_system *y, uint32_t machine)
{
    uint32_t *tree = &y->machines[machine];
    if (*tree != ROCL_NONE)
        return *tree;
    if (!y->tree_count)
        add_tree(y, &(ot_tree){.name = ot_text(y->defs, "machine"),
                               .parent = ROCL_NONE,
                               .domain = OTF2_SYSTEM_TREE_DOMAIN_MACHINE});
    const uint32_t hostname = y->trace->machines[machine].hostname;
    char number[64];
    snprintf(number, sizeof number, "node %" PRIu32, machine);
    *tree = add_tree(y, &(ot_tree){.name = hostname ? hostname : ot_text(y->defs, number),
                                   .domain = OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY,
                                   .machine = machine});
    return *tree;
}

/* ---- locations ------------------------------------------------------------------------------- */

static uint32_t add_location(ot_system *y, uint32_t group, OTF2_LocationType type, const char *name)
{
    if (!ROCL_GROW(y->locations, y->location_capacity, y->location_count + (size_t)1)) {
        y->defs->failed = true;
        return 0;
    }
    y->locations[y->location_count] = (ot_location){.number = ROCL_NONE,
                                                    .name = ot_text(y->defs, name),
                                                    .group = group,
                                                    .base = y->location_count,
                                                    .rank = ROCL_NONE,
                                                    .mapping = ROCL_NONE,
                                                    .type = type};
    return y->location_count++;
}

uint32_t ot_lane_location(ot_system *y, uint32_t location, uint32_t lane)
{
    char name[320];
    const ot_location *l = &y->locations[location];
    rocl_label(name, sizeof name, "%s (%" PRIu32 ")", rocl_str(y->trace, l->name), lane + 1);
    uint32_t more = add_location(y, l->group, l->type, name);
    y->locations[more].base = location;
    return more;
}

bool ot_is_process(const ot_system *y, uint32_t group)
{
    return y->groups[group].creator == ROCL_NONE;
}

/* ---- processes and threads ------------------------------------------------------------------- */

static uint32_t add_group(ot_system *y, const ot_group *group)
{
    if (!ROCL_GROW(y->groups, y->group_capacity, y->group_count + (size_t)1)) {
        y->defs->failed = true;
        return 0;
    }
    y->groups[y->group_count] = *group;
    return y->group_count++;
}

static uint32_t add_thread(ot_system *y, uint32_t group, uint32_t process, uint32_t thread)
{
    char name[256] = "unknown thread";
    if (thread != ROCL_NONE) {
        const rocl_thread *t = &y->capture->threads[thread];
        char own[201];
        rocl_label(own, sizeof own, "%s", rocl_str(y->trace, t->name));
        const char *kind = t->tid == y->capture->processes[process].pid ? "Main thread" : "Thread";
        if (*own)
            snprintf(name, sizeof name, "%s %" PRId64 " (%s)", kind, t->tid, own);
        else
            snprintf(name, sizeof name, "%s %" PRId64, kind, t->tid);
    }
    return add_location(y, group, OTF2_LOCATION_TYPE_CPU_THREAD, name);
}

/* "rank 3: train (pid 4711)", with a thread, even if no thread is known. */
uint32_t ot_process_group(ot_system *y, uint32_t process)
{
    const rocl_capture *c = y->capture;
    const rocl_process *p = &c->processes[process];
    char name[256], program[160], rank[32] = "";
    if (y->processes[process] != ROCL_NONE)
        return y->processes[process];
    rocl_program_name(rocl_str(y->trace, p->command), program, sizeof program);
    if (p->rank >= 0)
        snprintf(rank, sizeof rank, "rank %" PRId32 ": ", p->rank);
    rocl_label(name, sizeof name, "%s%s (pid %" PRId64 ")", rank, program[0] ? program : "process",
               p->pid);
    /* Its own main thread, else the first one known of it. */
    uint32_t main = ROCL_NONE;
    for (uint32_t i = 0; i < c->thread_count; i++)
        if (c->threads[i].process == process &&
            (main == ROCL_NONE || (c->threads[i].tid == p->pid && c->threads[main].tid != p->pid)))
            main = i;
    uint32_t group = add_group(y, &(ot_group){.name = ot_text(y->defs, name),
                                              .tree = machine_tree(y, p->machine),
                                              .creator = ROCL_NONE,
                                              .main = main,
                                              .process = p});
    y->processes[process] = group;
    uint32_t first = add_thread(y, group, process, main);
    y->groups[group].first = first;
    return group;
}

/* ---- GPUs of a process ----------------------------------------------------------------------- */

bool ot_is_gpu(const ot_system *y, uint32_t agent)
{
    return rocl_gpu_of(y->capture, agent);
}

/* What a process does on a GPU, "GPU 0 AMD Instinct MI300X" like the device in the system tree. */
uint32_t ot_agent_group(ot_system *y, uint32_t process, uint32_t agent)
{
    const rocl_gpu *g = rocl_gpu_of(y->capture, agent);
    uint32_t creator = ot_process_group(y, process);
    if (!g)
        return creator;
    uint64_t key = (uint64_t)process << 32 | agent;
    uint32_t group = rocl_map_get(&y->accelerators, key, ROCL_NONE);
    if (group != ROCL_NONE)
        return group;
    char name[256];
    rocl_gpu_label(y->trace, g, name, sizeof name);
    const uint32_t text = ot_text(y->defs, name);
    uint32_t *tree = &y->devices[g - y->trace->gpus];
    if (*tree == ROCL_NONE)
        *tree = add_tree(y, &(ot_tree){.name = text,
                                       .parent = machine_tree(y, g->machine),
                                       .domain = OTF2_SYSTEM_TREE_DOMAIN_ACCELERATOR_DEVICE,
                                       .gpu = g});
    group = add_group(y, &(ot_group){.name = text,
                                     .tree = *tree,
                                     .creator = creator,
                                     .first = ROCL_NONE,
                                     .main = ROCL_NONE});
    y->defs->failed |= !rocl_map_put(&y->accelerators, key, group);
    return group;
}

static uint32_t add_stream(ot_system *y, uint32_t group, const char *name)
{
    bool process = ot_is_process(y, group);
    uint32_t location = add_location(
        y, group, process ? OTF2_LOCATION_TYPE_CPU_THREAD : OTF2_LOCATION_TYPE_ACCELERATOR_STREAM,
        name);
    if (y->groups[group].first == ROCL_NONE)
        y->groups[group].first = location;
    return location;
}

uint32_t ot_group_location(ot_system *y, uint32_t group)
{
    uint32_t first = y->groups[group].first;
    return first != ROCL_NONE ? first : add_stream(y, group, "Device");
}

/* The group of a GPU in the process that its agent belongs to. */
static uint32_t find_counter_group(ot_system *y, uint32_t agent, uint32_t process)
{
    const rocl_capture *c = y->capture;
    if (agent >= c->agent_count)
        return ot_process_group(y, process);
    if (c->agents[agent].process != ROCL_NONE)
        process = c->agents[agent].process;
    return ot_agent_group(y, process, agent);
}

uint32_t ot_track_location(ot_system *y, const rocl_track *t)
{
    const rocl_capture *c = y->capture;
    const rocl_counter *k = t->id < c->counter_count ? &c->counters[t->id] : NULL;
    uint32_t group;
    char own[160], name[256];
    switch (t->kind) {
    case ROCL_TRACK_THREAD:
        group = ot_process_group(y, t->process);
        return y->groups[group].main == t->thread ? y->groups[group].first
                                                  : add_thread(y, group, t->process, t->thread);
    case ROCL_TRACK_ALLOCATED:
        return add_location(y, ot_process_group(y, t->process), OTF2_LOCATION_TYPE_METRIC,
                            "Allocated memory");
    case ROCL_TRACK_BANDWIDTH:
        return add_location(y, ot_process_group(y, t->process), OTF2_LOCATION_TYPE_METRIC,
                            "Copy bandwidth");
    case ROCL_TRACK_COUNTER: /* of all counters of an agent */
        return add_location(y, find_counter_group(y, t->id, t->process), OTF2_LOCATION_TYPE_METRIC,
                            "Counters");
    case ROCL_TRACK_SAMPLES:
        return add_location(y, find_counter_group(y, k ? k->agent : ROCL_NONE, t->process),
                            OTF2_LOCATION_TYPE_METRIC,
                            k ? rocl_str(y->trace, k->name) : "unknown counter");
    default: /* "Stream 1"; in a process "Copies of CPU 0", "Stream 1 of an unknown agent" */
        group = ot_agent_group(y, t->process, t->agent);
        rocl_work_label(y->trace, c, t, false, own, sizeof own);
        if (!ot_is_process(y, group))
            return add_stream(y, group, own);
        rocl_label(name, sizeof name, "%s of %s", own,
                   t->agent != ROCL_NONE ? rocl_str(y->trace, c->agents[t->agent].device)
                                         : "an unknown agent");
        return add_stream(y, group, name);
    }
}

void ot_rank_location(ot_system *y, uint32_t location)
{
    ot_location *l = &y->locations[location];
    uint32_t creator = y->groups[l->group].creator;
    if (l->rank == ROCL_NONE)
        l->rank = y->groups[creator == ROCL_NONE ? l->group : creator].ranks++;
}

/* ---- open, next capture, close --------------------------------------------------------------- */

static uint32_t *new_array_of_none(size_t count)
{
    uint32_t *all = reallocarray(NULL, count + 1, sizeof *all);
    if (all)
        memset(all, 0xff, (count + 1) * sizeof *all);
    return all;
}

rocl_status ot_system_open(ot_system *y, rocl_trace *t, ot_defs *d, rocl_error *err)
{
    *y = (ot_system){.trace = t, .defs = d};
    y->machines = new_array_of_none(t->machine_count);
    y->devices = new_array_of_none(y->trace->gpu_count);
    bool firsts = ROCL_GROW(y->trees, y->tree_capacity, 1) &&
                  ROCL_GROW(y->groups, y->group_capacity, 1) &&
                  ROCL_GROW(y->locations, y->location_capacity, 1);
    return y->machines && y->devices && firsts ? ROCL_OK : rocl_fail_memory(err);
}

void ot_system_close(ot_system *y)
{
    rocl_map_free(&y->accelerators);
    free(y->trees);
    free(y->groups);
    free(y->locations);
    free(y->machines);
    free(y->devices);
    free(y->processes);
}

rocl_status ot_system_begin_capture(ot_system *y, const rocl_capture *c, rocl_error *err)
{
    y->capture = c;
    rocl_map_free(&y->accelerators);
    y->accelerators = (rocl_map){0};
    free(y->processes);
    y->processes = new_array_of_none(c->process_count);
    return y->processes ? ROCL_OK : rocl_fail_memory(err);
}
