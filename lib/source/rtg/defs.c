/* What the first pass has found, as definitions of the capture: in order of first appearance. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "source/rtg/rtg.h"

static uint32_t intern_text(rtg_file *f, const char *s)
{
    return rocl_strings_put(f->trace->strings, s, strlen(s));
}

static uint32_t find_process(const rtg_file *f, const rtg_entry *e)
{
    const rtg_entry *p = rtg_table_find(&f->tables[RTG_PROCESSES], &(rtg_key){{e->key.w[0], 0, 0}});
    return p ? p->index : ROCL_NONE;
}

static bool define_processes(rtg_file *f, rtg_entry **list, size_t n)
{
    rocl_process *all = calloc(n + 1, sizeof *all);
    for (size_t i = 0; all && i < n; i++) {
        bool strace = list[i]->key.w[0] & RTG_STRACE_PROCESS;
        int64_t pid = strace ? 0 : (int64_t)list[i]->key.w[0];
        all[i] = (rocl_process){.id = pid,
                                .node = ROCL_NONE,
                                .pid = pid,
                                .command = strace ? intern_text(f, "strace") : 0,
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
                               .process = find_process(f, list[i]),
                               .tid = (int64_t)list[i]->key.w[1]};
    f->capture->pub.threads = all;
    f->capture->pub.thread_count = all ? (uint32_t)n : 0;
    return all;
}

static int64_t device_number(const rtg_entry *e)
{
    return (int64_t)(e->key.w[1] & INT32_MAX);
}

/* Numbers that agents of the tracer may have: behind those of all files before this one, and of the
 * devices in it. */
static int64_t find_free_gpu(const rocl_trace *t, const rocl_model_capture *own,
                             rtg_entry *const *list, size_t n)
{
    int64_t next = 0;
    for (size_t c = 0; c < t->capture_count; c++) {
        const rocl_capture *p = &t->captures[c]->pub;
        bool other_text = t->captures[c] != own && t->captures[c]->source->ops == own->source->ops;
        for (uint32_t i = 0; other_text && i < p->agent_count; i++)
            if (p->agents[i].absolute_index >= next)
                next = p->agents[i].absolute_index + 1;
    }
    for (size_t i = 0; i < n; i++)
        if (list[i]->key.w[2] && device_number(list[i]) >= next)
            next = device_number(list[i]) + 1;
    return next;
}

/* Devices of profile lines have numbers, and are the same GPU in every file. Agents of the tracer
 * have but handles, which do not say which of several files are one GPU: they are kept separate. */
static bool define_agents(rtg_file *f, rtg_entry **list, size_t n)
{
    rocl_agent *all = calloc(n + 1, sizeof *all);
    int64_t next = find_free_gpu(f->trace, f->capture, list, n);
    for (size_t i = 0; all && i < n; i++) {
        bool hcc = list[i]->key.w[2];
        int64_t index = hcc ? device_number(list[i]) : next++;
        char label[40];
        snprintf(label, sizeof label, "GPU %" PRId64, index);
        all[i] = (rocl_agent){.id = (int64_t)i,
                              .node = ROCL_NONE,
                              .process = find_process(f, list[i]),
                              .type = ROCL_AGENT_GPU,
                              .absolute_index = index,
                              .logical_index = index,
                              .type_index = index,
                              .type_name = intern_text(f, "GPU"),
                              .label = intern_text(f, label)};
    }
    f->capture->pub.agents = all;
    f->capture->pub.agent_count = all ? (uint32_t)n : 0;
    return all;
}

/* Queues have numbers, as a rule; one that has a name is numbered, too. */
static bool define_queues(rtg_file *f, rtg_entry **list, size_t n)
{
    rocl_queue *all = calloc(n + 1, sizeof *all);
    for (size_t i = 0; all && i < n; i++) {
        uint32_t text = (uint32_t)list[i]->key.w[2];
        uint64_t id = 0;
        rocl_view s;
        s.p = rocl_strings_get(f->trace->strings, text, &s.n);
        bool number = s.n > 0;
        for (size_t k = 0; k < s.n; k++)
            number &= s.p[k] >= '0' && s.p[k] <= '9';
        number = number && rtg_number(s, &id) && id <= INT64_MAX;
        all[i] = (rocl_queue){.id = number ? (int64_t)id : (int64_t)list[i]->index,
                              .process = find_process(f, list[i]),
                              .name = number ? 0 : text};
    }
    f->capture->pub.queues = all;
    f->capture->pub.queue_count = all ? (uint32_t)n : 0;
    return all;
}

rocl_status rtg_define(rtg_file *f, rocl_error *err)
{
    bool (*const define[RTG_TABLES])(rtg_file *, rtg_entry **, size_t) = {
        define_processes, define_threads, define_agents, define_queues};
    for (int t = 0; t < RTG_TABLES; t++) {
        size_t n = f->tables[t].count;
        if (n >= ROCL_NONE)
            return rocl_fail(err, ROCL_INPUT, "%s: too many threads or queues", f->path);
        rtg_entry **list = rtg_table_order(&f->tables[t]);
        bool ok = list && define[t](f, list, n);
        free(list);
        if (!ok)
            return rocl_fail_memory(err);
    }
    return ROCL_OK;
}

void rtg_definitions_free(rocl_model_capture *c)
{
    const void *arrays[] = {c->pub.processes, c->pub.threads, c->pub.agents, c->pub.queues};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free((void *)(uintptr_t)arrays[i]);
}
