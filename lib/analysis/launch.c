/* From the call that launched a kernel to the kernel's end. Every kernel asks for its call; what is
 * kept of the answers are sums per group, and the delays for their percentiles. */
#include "analysis/launch.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

/* ---- taking kernels ---- */

/* Also those without a stack id, which no call has. */
static rocl_status add_kernel(launch *l, unsigned worker, const rocl_capture *c,
                              const rocl_dispatch *d, rocl_error *err)
{
    const rocl_event *e = &d->e;
    uint8_t payload[4 * ROCL_VARINT_MAX], *q = payload;
    const uint64_t key[4] = {rocl_process_word(c, e), e->stack_id, (uint64_t)e->start, e->id};
    q = rocl_varint_put(q, (uint64_t)e->end);
    q = rocl_varint_put(q, rocl_name_of(e));
    q = rocl_varint_put(q, d->agent < c->agent_count ? c->agents[d->agent].label : 0);
    q = rocl_varint_put(q, d->stream < c->stream_count ? c->streams[d->stream].label : 0);
    return rocl_sorter_add(l->kernels, worker, key, payload, (size_t)(q - payload), err);
}

static rocl_status take(void *self, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++)
        st = add_kernel(self, worker, b->capture, &b->dispatches[i], err);
    return st;
}

/* ---- answers ---- */

typedef struct kernel {
    int64_t start, end;
    launch_key key; /* in full, whatever groups are made of */
} kernel;

static kernel read_kernel(const launch *l, const rocl_sort_record *rec)
{
    const uint8_t *p = rec->data, *past = rec->data + rec->len;
    const rocl_capture *c = &l->c.trace->captures[rec->key[0] >> 32]->pub;
    uint64_t v[4] = {0};
    for (int i = 0; i < 4; i++)
        rocl_varint_get(&p, past, &v[i]);
    return (kernel){(int64_t)rec->key[2],
                    (int64_t)v[0],
                    {.name = (uint32_t)v[1],
                     .call = ROCL_NONE,
                     .agent = (uint32_t)v[2],
                     .rank = c->processes[(uint32_t)rec->key[0]].rank,
                     .stream = (uint32_t)v[3]}};
}

static launch_group *group_at(launch *l, uint32_t id)
{
    if (id >= l->group_count) {
        size_t n = l->group_count ? 2 * l->group_count : 64;
        while (n <= id)
            n *= 2;
        launch_group *more = realloc(l->groups, n * sizeof *more);
        if (!more)
            return NULL;
        memset(more + l->group_count, 0, (n - l->group_count) * sizeof *more);
        l->groups = more;
        l->group_count = n;
    }
    return &l->groups[id];
}

/* Its id; ROCL_NONE when memory is out. */
static uint32_t find_group(launch *l, launch_key key)
{
    if (!l->c.options->by_rank)
        key.rank = -1;
    if (!l->c.options->by_agent)
        key.agent = 0;
    if (!l->c.options->by_stream)
        key.stream = 0;
    uint32_t id = rocl_strings_put(l->keys, (const char *)&key, sizeof key);
    launch_group *g = id == ROCL_NONE ? NULL : group_at(l, id);
    if (!g)
        return ROCL_NONE;
    g->key = key;
    return id;
}

static bool is_longer(const launch_delay *a, const launch_delay *b)
{
    return a->delay != b->delay ? a->delay > b->delay : a->start < b->start;
}

static void remember_longest(launch *l, const launch_delay *d)
{
    unsigned at = l->longest_count;
    if (!d->delay || (at == LAUNCH_LONGEST && !is_longer(d, &l->longest[at - 1])))
        return;
    if (at < LAUNCH_LONGEST)
        l->longest_count++;
    else
        at--;
    for (; at > 0 && is_longer(d, &l->longest[at - 1]); at--)
        l->longest[at] = l->longest[at - 1];
    l->longest[at] = *d;
}

/* No time is below 0, also where the clocks of host and GPU are not quite the same. */
static rocl_status take_launch(launch *l, uint32_t id, const rocl_call *c, const kernel *k,
                               rocl_error *err)
{
    launch_group *g = &l->groups[id];
    int64_t delay = k->start > c->end ? k->start - c->end : 0;
    int64_t all = k->end > c->start ? k->end - c->start : 0;
    const launch_delay d = {k->key, k->start, delay};
    g->early += k->start < c->end;
    g->calls = rocl_add_saturated(g->calls, c->end - c->start);
    g->all = rocl_add_saturated(g->all, all);
    remember_longest(l, &d);
    return rocl_samples_add(l->delays, 0, id, delay, err);
}

static rocl_status take_answer(void *ctx, const rocl_sort_record *question, const rocl_call *call,
                               rocl_error *err)
{
    launch *l = ctx;
    kernel k = read_kernel(l, question);
    if (call)
        k.key.call = call->name;
    uint32_t id = find_group(l, k.key);
    if (id == ROCL_NONE)
        return rocl_fail_memory(err);
    l->groups[id].count++;
    l->groups[id].kernels = rocl_add_saturated(l->groups[id].kernels, k.end - k.start);
    l->unlinked += !call;
    return call ? take_launch(l, id, call, &k, err) : ROCL_OK;
}

static rocl_status ask(void *self, rocl_calls *calls, rocl_error *err)
{
    launch *l = self;
    return rocl_calls_ask(calls, l->kernels, take_answer, l, err);
}

/* ---- the end ---- */

static rocl_status fill_delays(launch *l, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < l->group_count && st == ROCL_OK; i++)
        st = rocl_samples_describe(l->delays, (uint32_t)i, &l->groups[i].delay, err);
    return st;
}

static rocl_status finish(void *self, rocl_tables *out, rocl_error *err)
{
    launch *l = self;
    rocl_status st = fill_delays(l, err);
    return st == ROCL_OK ? rocl_launch_tables(l, out, err) : st;
}

static void free_launch(void *self)
{
    launch *l = self;
    rocl_samples_free(l->delays);
    rocl_strings_free(l->keys);
    free(l->groups);
}

static rocl_status open_launch(void *self, rocl_error *err)
{
    launch *l = self;
    l->c.needs_calls = true;
    l->kernels = rocl_collector_sorter(&l->c, 4);
    l->delays = rocl_samples_new(l->c.trace->space, l->c.trace->opt.jobs);
    l->keys = rocl_strings_new();
    return l->kernels && l->delays && l->keys ? ROCL_OK : rocl_fail_memory(err);
}

const rocl_collector_def rocl_launch_collector = {
    .reports = 1u << ROCL_REPORT_LAUNCH,
    .kinds = ROCL_BIT(ROCL_DISPATCH),
    .size = sizeof(launch),
    .open = open_launch,
    .add_batch = take,
    .look_up_calls = ask,
    .finish = finish,
    .close = free_launch,
};
