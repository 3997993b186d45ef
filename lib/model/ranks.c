/* The ranks of a trace: see ranks.h. */
#include "model/ranks.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/order.h"

static int compare_ranks(const void *a, const void *b)
{
    const rocl_rank *x = a, *y = b;
    if (x->number != y->number) /* those without a rank last */
        return (uint32_t)x->number < (uint32_t)y->number ? -1 : 1;
    if (x->number >= 0)
        return 0;
    const int c = rocl_number_order(x->machine, y->machine);
    return c ? c : rocl_number_order(x->pid, y->pid);
}

rocl_status rocl_rank_list_make(rocl_rank_list *r, const rocl_trace *t, rocl_error *err)
{
    size_t n = 0;
    r->of = calloc(t->capture_count + 1, sizeof *r->of);
    r->captures = r->of ? t->capture_count : 0;
    for (size_t i = 0; i < r->captures; i++) {
        const uint32_t count = t->captures[i]->pub.process_count;
        r->of[i] = calloc((size_t)count + 1, sizeof **r->of);
        if (!r->of[i])
            return rocl_fail_memory(err);
        n += count;
    }
    r->all = calloc(n + 1, sizeof *r->all);
    if (!r->of || !r->all)
        return rocl_fail_memory(err);
    n = 0;
    for (size_t i = 0; i < t->capture_count; i++) {
        const rocl_capture *c = &t->captures[i]->pub;
        for (uint32_t k = 0; k < c->process_count; k++) {
            const rocl_process *p = &c->processes[k];
            r->all[n++] =
                (rocl_rank){.number = p->rank >= 0 ? p->rank : -1,
                            .machine = p->machine,
                            .pid = p->pid,
                            .host = p->node < c->node_count ? c->nodes[p->node].hostname : 0,
                            .capture = c->index,
                            .process = k};
        }
    }
    qsort(r->all, n, sizeof *r->all, compare_ranks);
    /* The processes of a rank become one. */
    for (size_t i = 0; i < n; i++) {
        const rocl_rank p = r->all[i];
        rocl_rank *q = r->count ? &r->all[r->count - 1] : NULL;
        if (q && compare_ranks(q, &p) == 0) {
            q->pid = q->pid == p.pid && q->machine == p.machine ? q->pid : -1;
            q->host = q->host == p.host ? q->host : 0;
        } else {
            r->all[r->count++] = p;
        }
        r->of[p.capture][p.process] = r->count - 1;
    }
    return ROCL_OK;
}

void rocl_rank_list_free(rocl_rank_list *r)
{
    for (size_t i = 0; i < r->captures; i++)
        free(r->of[i]);
    free(r->of);
    free(r->all);
}

const char *rocl_rank_name(const rocl_rank *r, char text[48])
{
    if (r->number >= 0)
        snprintf(text, 48, "rank %d", r->number);
    else
        snprintf(text, 48, "pid %lld", (long long)r->pid);
    return text;
}
