/* What the first pass has found, as definitions of the capture: in order of first appearance. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "source/rtg/rtg.h"

static uint32_t text_of(rtg_file *f, const char *s)
{
    return rocl_strings_put(f->trace->strings, s, strlen(s));
}

static int64_t pid_of(uint64_t process)
{
    return process & RTG_STRACE_PROCESS ? 0 : (int64_t)process;
}

static uint32_t process_of(const rtg_file *f, const rtg_entry *e)
{
    const rtg_entry *p = rtg_table_find(&f->world.processes, &(rtg_key){{e->key.w[0], 0, 0}});
    return p ? p->index : ROCL_NONE;
}

static bool define_processes(rtg_file *f, rtg_entry **list, size_t n)
{
    rocl_process *all = calloc(n + 1, sizeof *all);
    for (size_t i = 0; all && i < n; i++) {
        bool strace = list[i]->key.w[0] & RTG_STRACE_PROCESS;
        all[i] = (rocl_process){.id = pid_of(list[i]->key.w[0]),
                                .node = ROCL_NONE,
                                .pid = pid_of(list[i]->key.w[0]),
                                .command = strace ? text_of(f, "strace") : 0,
                                .rank = -1};
    }
    f->capture->pub.processes = all;
    f->capture->pub.process_count = all ? (uint32_t)n : 0;
    return all;
}

static bool define_threads(rtg_file *f, rtg_entry **list, size_t n)
{
    rocl_thread *all = calloc(n + 1, sizeof *all);
    for (size_t i = 0; all && i < n; i++)
        all[i] = (rocl_thread){.id = (int64_t)list[i]->key.w[1],
                               .process = process_of(f, list[i]),
                               .tid = (int64_t)list[i]->key.w[1]};
    f->capture->pub.threads = all;
    f->capture->pub.thread_count = all ? (uint32_t)n : 0;
    return all;
}

static int64_t device_of(const rtg_entry *e)
{
    return (int64_t)(e->key.w[1] & INT32_MAX);
}

/* Numbers that agents of the tracer may have: behind those of all files before this one, and of the
 * devices in it. */
static int64_t first_free_gpu(const rocl_trace *t, const rocl_model_capture *own,
                              rtg_entry *const *list, size_t n)
{
    int64_t next = 0;
    for (size_t c = 0; c < t->capture_count; c++) {
        const rocl_capture *p = &t->captures[c]->pub;
        for (uint32_t i = 0; t->captures[c] != own && i < p->agent_count; i++)
            if (t->captures[c]->source->ops == &rocl_rtg_ops && p->agents[i].absolute_index >= next)
                next = p->agents[i].absolute_index + 1;
    }
    for (size_t i = 0; i < n; i++)
        if (list[i]->key.w[2] && device_of(list[i]) >= next)
            next = device_of(list[i]) + 1;
    return next;
}

static void label_agent(rtg_file *f, rocl_agent *a)
{
    char label[40];
    snprintf(label, sizeof label, "GPU %" PRId64, a->type_index);
    a->label = text_of(f, label);
}

/* Devices of profile lines have numbers, and are the same GPU in every file. Agents of the tracer
 * have but handles, which do not say which of several files are one GPU: they are kept apart. */
static bool define_agents(rtg_file *f, rtg_entry **list, size_t n)
{
    rocl_agent *all = calloc(n + 1, sizeof *all);
    int64_t next = first_free_gpu(f->trace, f->capture, list, n);
    for (size_t i = 0; all && i < n; i++) {
        bool hcc = list[i]->key.w[2];
        int64_t index = hcc ? device_of(list[i]) : next++;
        all[i] = (rocl_agent){.id = (int64_t)i,
                              .node = ROCL_NONE,
                              .process = process_of(f, list[i]),
                              .type = ROCL_AGENT_GPU,
                              .absolute_index = index,
                              .logical_index = index,
                              .type_index = index,
                              .type_name = text_of(f, "GPU")};
        label_agent(f, &all[i]);
    }
    f->capture->pub.agents = all;
    f->capture->pub.agent_count = all ? (uint32_t)n : 0;
    return all;
}

/* Queues have numbers, as a rule; one that has a name is numbered, too. */
static void define_queue(rtg_file *f, rocl_queue *q, const rtg_entry *e)
{
    uint32_t text = (uint32_t)e->key.w[2];
    size_t n;
    const char *s = rocl_strings_get(f->trace->strings, text, &n);
    uint64_t id = 0;
    bool number = n > 0;
    for (size_t i = 0; i < n; i++)
        number &= s[i] >= '0' && s[i] <= '9';
    number = number && rtg_number((rocl_view){s, n}, &id) && id <= INT64_MAX;
    *q = (rocl_queue){.id = number ? (int64_t)id : (int64_t)e->index,
                      .process = process_of(f, e),
                      .name = number ? 0 : text};
}

static bool define_queues(rtg_file *f, rtg_entry **list, size_t n)
{
    rocl_queue *all = calloc(n + 1, sizeof *all);
    for (size_t i = 0; all && i < n; i++)
        define_queue(f, &all[i], list[i]);
    f->capture->pub.queues = all;
    f->capture->pub.queue_count = all ? (uint32_t)n : 0;
    return all;
}

static rocl_status define(rtg_file *f, rtg_table *t, bool (*make)(rtg_file *, rtg_entry **, size_t),
                          rocl_error *err)
{
    if (t->count >= ROCL_NONE)
        return rocl_fail(err, ROCL_INPUT, "%s: too many threads or queues", f->path);
    rtg_entry **list = rtg_table_order(t);
    bool ok = list && make(f, list, t->count);
    free(list);
    return ok ? ROCL_OK : rocl_fail_memory(err);
}

rocl_status rtg_define(rtg_file *f, rocl_error *err)
{
    rocl_status st = define(f, &f->world.processes, define_processes, err);
    if (st == ROCL_OK)
        st = define(f, &f->world.threads, define_threads, err);
    if (st == ROCL_OK)
        st = define(f, &f->world.agents, define_agents, err);
    if (st == ROCL_OK)
        st = define(f, &f->world.queues, define_queues, err);
    return st;
}

void rtg_definitions_free(rocl_model_capture *c)
{
    const void *arrays[] = {c->pub.processes, c->pub.threads, c->pub.agents, c->pub.queues};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free((void *)(uintptr_t)arrays[i]);
}
