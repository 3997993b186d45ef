#include "timeline/labels.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"

void rocl_program_name(const char *command, char *name, size_t size)
{
    size_t n = strcspn(command, " \t"), from = n;
    while (from > 0 && command[from - 1] != '/')
        from--;
    snprintf(name, size, "%.*s", (int)(n - from), command + from);
}

const char *rocl_process_host(const rocl_capture *c, const rocl_process *p)
{
    return p->node < c->node_count ? rocl_str(c->trace, c->nodes[p->node].hostname) : "";
}

void rocl_process_details(char *s, size_t size, int32_t rank, int64_t pid, const char *host)
{
    char parts[3][96] = {"", "", ""};
    if (rank >= 0)
        snprintf(parts[0], sizeof parts[0], "rank %" PRId32, rank);
    if (pid)
        snprintf(parts[1], sizeof parts[1], "pid %" PRId64, pid);
    snprintf(parts[2], sizeof parts[2], "%s", host);
    s[0] = 0;
    for (unsigned i = 0; i < 3; i++) {
        size_t n = strlen(s);
        if (parts[i][0])
            snprintf(s + n, size - n, "%s%s", n ? ", " : "", parts[i]);
    }
}

const char *rocl_thread_label(const rocl_capture *c, const rocl_thread *t, const rocl_process *p,
                              char *buf, size_t size)
{
    if (t->name)
        return rocl_str(c->trace, t->name);
    buf[0] = 0;
    if (t->tid == p->pid)
        rocl_program_name(rocl_str(c->trace, p->command), buf, size);
    return buf;
}

void rocl_gpu_label(const rocl_trace *t, const rocl_gpu *g, char *name, size_t size)
{
    const rocl_agent *a = g->agent;
    const char *s = rocl_str(t, a->user_name ? a->user_name : a->product ? a->product : a->name);
    snprintf(name, size, "GPU %u%s%s", g->id, *s ? " " : "", s);
}

void rocl_agent_label(const rocl_gpus *g, const rocl_capture *c, uint32_t agent, char *s,
                      size_t size)
{
    const rocl_gpu *gpu = rocl_gpus_find(g, c, agent);
    if (gpu)
        snprintf(s, size, "GPU %" PRIu32, gpu->id);
    else if (agent < c->agent_count)
        snprintf(s, size, "%s", rocl_str(c->trace, c->agents[agent].label));
    else
        snprintf(s, size, "unknown agent");
}

void rocl_queue_label(const rocl_trace *t, const rocl_queue *q, const char *word, char *name,
                      size_t size)
{
    if (!q)
        snprintf(name, size, "No %s", word);
    else
        snprintf(name, size, "%s", rocl_str(t, q->label));
}
