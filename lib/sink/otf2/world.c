/* Machines, GPUs, processes and their locations. What has no events does not appear. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "sink/otf2/ot.h"

/* ---- the system tree ---- */

static uint32_t tree_new(ot_world *w, uint32_t name, uint32_t parent, OTF2_SystemTreeDomain domain)
{
    if (!ROCL_GROW(w->trees, w->tree_cap, w->tree_count + (size_t)1)) {
        w->defs->failed = true;
        return 0;
    }
    w->trees[w->tree_count] = (ot_tree){.name = name, .parent = parent, .domain = domain};
    return w->tree_count++;
}

static uint32_t machine_tree(ot_world *w)
{
    const rocl_capture *c = w->capture;
    uint32_t *tree = &w->machines[c->machine];
    char name[64];
    if (*tree != ROCL_NONE)
        return *tree;
    if (!w->tree_count)
        tree_new(w, ot_text(w->defs, "machine"), ROCL_NONE, OTF2_SYSTEM_TREE_DOMAIN_MACHINE);
    const rocl_node *node = c->node_count ? &c->nodes[0] : NULL;
    snprintf(name, sizeof name, "node %" PRIu32, c->machine);
    bool named = node && *rocl_str(w->trace, node->hostname);
    *tree = tree_new(w, named ? node->hostname : ot_text(w->defs, name), 0,
                     OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY);
    if (w->tree_count > *tree)
        w->trees[*tree].node = node;
    return *tree;
}

static uint32_t device_tree(ot_world *w, const rocl_gpu *g)
{
    uint32_t *tree = &w->devices[g - w->gpus.all];
    char name[256];
    if (*tree != ROCL_NONE)
        return *tree;
    rocl_gpu_label(w->trace, g, name, sizeof name);
    *tree = tree_new(w, ot_text(w->defs, name), machine_tree(w),
                     OTF2_SYSTEM_TREE_DOMAIN_ACCELERATOR_DEVICE);
    if (w->tree_count > *tree)
        w->trees[*tree].gpu = g;
    return *tree;
}

/* ---- locations ---- */

uint32_t ot_location_new(ot_world *w, uint32_t group, OTF2_LocationType type, const char *name)
{
    if (!ROCL_GROW(w->locations, w->location_cap, w->location_count + (size_t)1)) {
        w->defs->failed = true;
        return 0;
    }
    w->locations[w->location_count] = (ot_location){.number = ROCL_NONE,
                                                    .name = ot_text(w->defs, name),
                                                    .group = group,
                                                    .beside = w->location_count,
                                                    .rank = ROCL_NONE,
                                                    .table = ROCL_NONE,
                                                    .type = type};
    return w->location_count++;
}

uint32_t ot_location_beside(ot_world *w, uint32_t location, uint32_t number)
{
    char name[320];
    const ot_location *l = &w->locations[location];
    snprintf(name, sizeof name, "%.280s (%" PRIu32 ")", rocl_str(w->trace, l->name), number);
    uint32_t more = ot_location_new(w, l->group, l->type, name);
    w->locations[more].beside = location;
    return more;
}

bool ot_is_process(const ot_world *w, uint32_t group)
{
    return w->groups[group].creator == ROCL_NONE;
}

/* ---- processes ---- */

static uint32_t group_new(ot_world *w, uint32_t name, uint32_t tree, uint32_t creator)
{
    if (!ROCL_GROW(w->groups, w->group_cap, w->group_count + (size_t)1)) {
        w->defs->failed = true;
        return 0;
    }
    w->groups[w->group_count] = (ot_group){
        .name = name, .tree = tree, .creator = creator, .first = ROCL_NONE, .main = ROCL_NONE};
    return w->group_count++;
}

/* "rank 3: train (pid 4711)" */
static void process_label(const ot_world *w, const rocl_process *p, char *name, size_t size)
{
    char program[160], rank[32] = "";
    rocl_program_name(rocl_str(w->trace, p->command), program, sizeof program);
    if (p->rank >= 0)
        snprintf(rank, sizeof rank, "rank %" PRId32 ": ", p->rank);
    snprintf(name, size, "%s%s (pid %" PRId64 ")", rank, program[0] ? program : "process", p->pid);
}

/* Its own main thread, else the first one known of it. */
static uint32_t main_thread(const ot_world *w, uint32_t process)
{
    const rocl_capture *c = w->capture;
    uint32_t first = ROCL_NONE;
    for (uint32_t i = 0; i < c->thread_count; i++) {
        if (c->threads[i].process != process)
            continue;
        if (c->threads[i].tid == c->processes[process].pid)
            return i;
        if (first == ROCL_NONE)
            first = i;
    }
    return first;
}

static void thread_label(const ot_world *w, uint32_t process, uint32_t thread, char *name,
                         size_t size)
{
    const rocl_capture *c = w->capture;
    if (thread == ROCL_NONE) {
        snprintf(name, size, "unknown thread");
        return;
    }
    const rocl_thread *t = &c->threads[thread];
    const char *own = rocl_str(w->trace, t->name);
    const char *kind = t->tid == c->processes[process].pid ? "Main thread" : "Thread";
    if (*own)
        snprintf(name, size, "%s %" PRId64 " (%.200s)", kind, t->tid, own);
    else
        snprintf(name, size, "%s %" PRId64, kind, t->tid);
}

/* A process has a thread, also when nothing is known of what it did. */
uint32_t ot_process_group(ot_world *w, uint32_t process)
{
    const rocl_process *p = &w->capture->processes[process];
    uint32_t group = w->processes[process];
    char name[256];
    if (group != ROCL_NONE)
        return group;
    process_label(w, p, name, sizeof name);
    group = group_new(w, ot_text(w->defs, name), machine_tree(w), ROCL_NONE);
    w->processes[process] = group;
    uint32_t main = main_thread(w, process);
    thread_label(w, process, main, name, sizeof name);
    uint32_t first = ot_location_new(w, group, OTF2_LOCATION_TYPE_CPU_THREAD, name);
    ot_group *g = &w->groups[group];
    g->process = p;
    g->main = main;
    g->first = first;
    return group;
}

uint32_t ot_thread_location(ot_world *w, uint32_t process, uint32_t thread)
{
    uint32_t group = ot_process_group(w, process);
    char name[256];
    if (w->groups[group].main == thread)
        return w->groups[group].first;
    thread_label(w, process, thread, name, sizeof name);
    return ot_location_new(w, group, OTF2_LOCATION_TYPE_CPU_THREAD, name);
}

/* ---- GPUs of a process ---- */

/* "Agent 4 AMD Instinct MI300X": called as --agent-index-value says; the device in the system tree
 * has the number that is the same for all processes. */
static uint32_t accelerator_name(ot_world *w, const rocl_agent *a)
{
    char name[256];
    const char *label = rocl_str(w->trace, a->label);
    const char *product = rocl_str(w->trace, a->product ? a->product : a->name);
    snprintf(name, sizeof name, "%s%s%s", label, *product ? " " : "", product);
    return ot_text(w->defs, name);
}

bool ot_is_gpu(const ot_world *w, uint32_t agent)
{
    return rocl_gpus_find(&w->gpus, w->capture, agent);
}

uint32_t ot_agent_group(ot_world *w, uint32_t process, uint32_t agent)
{
    const rocl_gpu *g = rocl_gpus_find(&w->gpus, w->capture, agent);
    uint32_t creator = ot_process_group(w, process);
    if (!g)
        return creator;
    uint64_t key = (uint64_t)process << 32 | agent;
    uint32_t group = rocl_map_get(&w->accelerators, key, ROCL_NONE);
    if (group != ROCL_NONE)
        return group;
    group =
        group_new(w, accelerator_name(w, &w->capture->agents[agent]), device_tree(w, g), creator);
    w->defs->failed |= !rocl_map_put(&w->accelerators, key, group);
    return group;
}

uint32_t ot_stream_location(ot_world *w, uint32_t group, const char *name)
{
    ot_group *g = &w->groups[group];
    if (ot_is_process(w, group))
        return ot_location_new(w, group, OTF2_LOCATION_TYPE_CPU_THREAD, name);
    uint32_t location = ot_location_new(w, group, OTF2_LOCATION_TYPE_ACCELERATOR_STREAM, name);
    if (g->first == ROCL_NONE)
        g->first = location;
    return location;
}

uint32_t ot_group_location(ot_world *w, uint32_t group)
{
    uint32_t first = w->groups[group].first;
    return first != ROCL_NONE ? first : ot_stream_location(w, group, "Device");
}

/* ---- ranks ---- */

static ot_group *process_of(const ot_world *w, uint32_t location)
{
    uint32_t group = w->locations[location].group;
    return &w->groups[ot_is_process(w, group) ? group : w->groups[group].creator];
}

void ot_rank_new(ot_world *w, uint32_t location)
{
    ot_location *l = &w->locations[location];
    if (l->rank == ROCL_NONE)
        l->rank = process_of(w, location)->ranks++;
}

/* ---- open, next capture, close ---- */

static uint32_t *all_none(size_t count)
{
    uint32_t *all = malloc((count + 1) * sizeof *all);
    for (size_t i = 0; all && i <= count; i++)
        all[i] = ROCL_NONE;
    return all;
}

rocl_status ot_world_open(ot_world *w, rocl_trace *t, ot_defs *d, rocl_error *err)
{
    *w = (ot_world){.trace = t, .defs = d};
    rocl_status st = rocl_gpus_collect(&w->gpus, t, err);
    if (st != ROCL_OK)
        return st;
    w->machines = all_none(t->machine_count);
    w->devices = all_none(w->gpus.count);
    bool firsts = ROCL_GROW(w->trees, w->tree_cap, 1) && ROCL_GROW(w->groups, w->group_cap, 1) &&
                  ROCL_GROW(w->locations, w->location_cap, 1);
    return w->machines && w->devices && firsts ? ROCL_OK : rocl_fail_memory(err);
}

void ot_world_close(ot_world *w)
{
    rocl_gpus_free(&w->gpus);
    rocl_map_free(&w->accelerators);
    free(w->trees);
    free(w->groups);
    free(w->locations);
    free(w->machines);
    free(w->devices);
    free(w->processes);
    free(w->labels);
}

/* Each process has its share of the encoder's indexes, in which its places have one of their own as
 * long as there are enough. */
static void share_indexes(ot_world *w)
{
    const rocl_capture *c = w->capture;
    uint64_t places =
        ((uint64_t)c->agent_count + 1) * ((uint64_t)c->stream_count + c->queue_count + OT_PLACES);
    uint32_t share = ROCL_SEQUENCE_INDEXES / (c->process_count ? c->process_count : 1);
    w->indexes = places < share ? (uint32_t)places : share;
    w->fold = (uint32_t)((places + w->indexes - 1) / w->indexes);
}

/* Events that carry arguments name their queue and stream: each label is made once. */
static bool label_queues(ot_world *w)
{
    const rocl_capture *c = w->capture;
    size_t count = (size_t)c->queue_count + c->stream_count;
    char name[160];
    free(w->labels);
    w->labels = NULL;
    if (!w->trace->opt.args)
        return true;
    w->labels = reallocarray(NULL, count + 1, sizeof *w->labels);
    for (size_t i = 0; w->labels && i < count; i++) {
        bool queue = i < c->queue_count;
        rocl_queue_label(w->trace, queue ? &c->queues[i] : &c->streams[i - c->queue_count],
                         queue ? "Queue" : "Stream", name, sizeof name);
        w->labels[i] = ot_text(w->defs, name);
    }
    return w->labels;
}

rocl_status ot_world_capture(ot_world *w, const rocl_capture *c, rocl_error *err)
{
    w->capture = c;
    rocl_map_free(&w->accelerators);
    w->accelerators = (rocl_map){0};
    free(w->processes);
    w->processes = all_none(c->process_count);
    share_indexes(w);
    return w->processes && label_queues(w) ? ROCL_OK : rocl_fail_memory(err);
}
