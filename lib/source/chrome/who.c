/* Who is who in files that we wrote: see who.h. */
#include "source/chrome/who.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

void chrome_who_close(chrome_who *w)
{
    rocl_roster_free(&w->roster);
    rocl_map_free(&w->processes);
    rocl_map_free(&w->gpus);
    rocl_map_free(&w->numbers);
}

/* Leaves out what names no host of the file, and numbers that occurred before. Defines the GPUs. */
static bool index_roster(chrome_who *w, rocl_records_input *in)
{
    const rocl_roster *all = &w->roster;
    bool ok = true;
    for (size_t i = 0; i < all->process_count && ok; i++) {
        const rocl_roster_process *p = &all->processes[i];
        if (p->id >= 0 && p->on >= 0 && (uint64_t)p->on < all->host_count &&
            rocl_map_get(&w->processes, (uint64_t)p->id, ROCL_NONE) == ROCL_NONE)
            ok = rocl_map_put(&w->processes, (uint64_t)p->id, (uint32_t)i);
    }
    for (size_t i = 0; i < all->gpu_count && ok; i++) {
        const rocl_roster_gpu *g = &all->gpus[i];
        const uint64_t on = (uint64_t)g->on, id = (uint64_t)g->id, key = rocl_mix_pair(on, id);
        if (g->id >= 0 && g->on >= 0 && on < all->host_count &&
            rocl_map_get(&w->gpus, key, ROCL_NONE) == ROCL_NONE)
            ok = rocl_map_put(&w->gpus, key, (uint32_t)i) &&
                 rocl_map_put(&w->numbers, rocl_mix_pair(on, (uint64_t)g->number), (uint32_t)i) &&
                 rocl_records_define(in, ROCL_KEY_AGENT, (rocl_key){ROCL_NO_KEY, on, id},
                                     &(rocl_key_facts){.type = ROCL_AGENT_GPU});
    }
    return ok;
}

rocl_status chrome_who_open(chrome_who *w, rocl_records_input *in, const rocl_json_index *x,
                            unsigned flags, rocl_error *err)
{
    const rocl_json_node *member = rocl_json_child(x, x->nodes, ROCL_ROSTER_MEMBER);
    rocl_buf b = {0};
    rocl_json r;
    rocl_json_token v;
    rocl_status st = ROCL_OK;
    if (rocl_json_load_node(&r, &v, &b, in->files[0].spool, member, flags, &st, err) &&
        !(rocl_roster_read(&w->roster, in->trace, &r) && index_roster(w, in)))
        st = rocl_fail_memory(err);
    rocl_buf_free(&b);
    return st;
}

static const rocl_roster_process *find_process(const chrome_who *w, uint64_t process)
{
    const uint32_t i = rocl_map_get(&w->processes, process, ROCL_NONE);
    return i == ROCL_NONE ? NULL : &w->roster.processes[i];
}

bool chrome_who_knows(const chrome_who *w, uint64_t process)
{
    return find_process(w, process);
}

bool chrome_who_sees(const chrome_who *w, uint64_t process, uint64_t host)
{
    const rocl_roster_process *p = find_process(w, process);
    return p && (uint64_t)p->on == host;
}

/* The GPU with a number of one of the maps on the host of a process, as far as hashes tell. */
static const rocl_roster_gpu *find_gpu(const chrome_who *w, const rocl_map *by, uint64_t process,
                                       uint64_t number)
{
    const rocl_roster_process *p = find_process(w, process);
    const uint32_t i =
        p ? rocl_map_get(by, rocl_mix_pair((uint64_t)p->on, number), ROCL_NONE) : ROCL_NONE;
    return i != ROCL_NONE && w->roster.gpus[i].on == p->on ? &w->roster.gpus[i] : NULL;
}

uint64_t chrome_who_find_gpu(const chrome_who *w, uint64_t process, uint32_t number)
{
    const rocl_roster_gpu *g = find_gpu(w, &w->numbers, process, number);
    return g && g->number == number ? (uint64_t)g->id : ROCL_NO_KEY;
}

/* ---- definitions ----------------------------------------------------------------------------- */

/* A number that had to be changed stands in the name: "worker (tid 12)", "thread 12". */
static bool read_real_tid(rocl_trace *t, rocl_thread *thread)
{
    const char *name = rocl_str(t, thread->name), *said = strstr(name, " (tid ");
    long long tid;
    int end = 0;
    if (thread->tid <= 1 << 22)
        return true;
    if (said && sscanf(said, " (tid %lld)%n", &tid, &end) == 1 && end && !said[end])
        thread->name = rocl_strings_put(t->strings, name, (size_t)(said - name));
    else if (sscanf(name, "thread %lld%n", &tid, &end) == 1 && !name[end])
        thread->name = 0;
    else
        return true;
    thread->tid = tid;
    return thread->name != ROCL_NONE;
}

rocl_status chrome_who_refine(const chrome_who *w, rocl_records_input *in, rocl_error *err)
{
    rocl_capture *c = &in->capture->pub;
    const uint32_t nodes = c->node_count;
    const rocl_roster *all = &w->roster;
    if (!all->process_count)
        return ROCL_OK;
    /* The nodes of the capture are then the hosts of the file, unless it says nothing of the only
     * one. */
    const bool any = all->host_count > 1 ||
                     (all->host_count && (all->hosts[0].hostname || all->hosts[0].machine_id));
    for (size_t i = 0; i < all->host_count && any; i++) {
        const rocl_roster_host *h = &all->hosts[i];
        rocl_node *n = rocl_define(c, ROCL_DEFINE_NODE);
        if (!n)
            return rocl_fail_memory(err);
        *n = (rocl_node){.id = (int64_t)i + 1,
                         .hostname = h->hostname,
                         .machine_id = h->machine_id,
                         .system_name = h->system_name,
                         .release = h->release,
                         .version = h->version,
                         .hardware = h->hardware};
    }
    for (uint32_t i = 0; i < c->agent_count; i++) { /* by the numbers of the file */
        rocl_agent *a = rocl_definition_at(c, ROCL_DEFINE_AGENT, i);
        const rocl_process *p = a->process < c->process_count ? &c->processes[a->process] : NULL;
        const rocl_roster_process *known = p ? find_process(w, (uint64_t)p->id) : NULL;
        const rocl_roster_gpu *g =
            known ? find_gpu(w, &w->gpus, (uint64_t)p->id, (uint64_t)a->id) : NULL;
        a->node = known && any ? nodes + (uint32_t)known->on : a->node;
        if (g && g->id == a->id) {
            a->id = a->absolute_index = g->index >= 0 ? g->index : g->number;
            a->logical_index = a->type_index = g->number;
            a->ordinal = g->ordinal == 1;
            a->label = g->label ? g->label : a->label;
            a->name = g->name;
            a->vendor = g->vendor;
            a->product = g->product;
            a->uuid = g->uuid;
            a->pci = g->pci;
        }
    }
    for (uint32_t i = 0; i < c->thread_count; i++) {
        rocl_thread *t = rocl_definition_at(c, ROCL_DEFINE_THREAD, i);
        const rocl_process *p = t->process < c->process_count ? &c->processes[t->process] : NULL;
        const rocl_roster_process *known = p ? find_process(w, (uint64_t)p->id) : NULL;
        if (known && t->tid == known->id)
            t->tid = known->pid;
        else if (known && !read_real_tid(in->trace, t))
            return rocl_fail_memory(err);
    }
    for (uint32_t i = 0; i < c->process_count; i++) {
        rocl_process *p = rocl_definition_at(c, ROCL_DEFINE_PROCESS, i);
        const rocl_roster_process *known = find_process(w, (uint64_t)p->id);
        if (!known)
            continue;
        p->pid = known->pid;
        p->node = any ? nodes + (uint32_t)known->on : p->node;
        p->rank = known->rank >= 0 && known->rank <= INT32_MAX ? (int32_t)known->rank : p->rank;
        p->command = known->command ? known->command : p->command;
    }
    c->rank = c->process_count ? c->processes[0].rank : c->rank;
    return ROCL_OK;
}
