/* Records in order of start -> what they add up to: resources, names on them, gaps between. */
#include "legacy/rpt/rpt.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"

/* ---- classes of gaps ------------------------------------------------------------------------ */

rocl_status rpt_make_buckets(rpt *r, rocl_error *err)
{
    static const int64_t defaults[] = {10, 20, 50, 100, 1000, 10000, 100000};
    bool given = r->o.gaps && r->o.gap_count;
    size_t n = given ? r->o.gap_count : sizeof defaults / sizeof *defaults;
    int64_t *us = reallocarray(NULL, n, sizeof *us);
    r->buckets = reallocarray(NULL, n + 1, sizeof *r->buckets);
    bool ok = us && r->buckets;
    if (ok) {
        memcpy(us, given ? r->o.gaps : defaults, n * sizeof *us);
        qsort(us, n, sizeof *us, rocl_compare_i64);
        r->bucket_count = n + 1;
    }
    for (size_t i = 0; ok && i <= n; i++) {
        rpt_bucket *b = &r->buckets[i];
        char name[80];
        long long from = i ? us[i - 1] : 0, to = i < n ? us[i] : 0;
        int len = i == n ? snprintf(name, sizeof name, "gap >=%lldus", from)
                  : i    ? snprintf(name, sizeof name, "gap %lldus-%lldus", from, to)
                         : snprintf(name, sizeof name, "gap <%lldus", to);
        if (i == n)
            b->below = INT64_MAX;
        else if (__builtin_mul_overflow(us[i], 1000, &b->below))
            b->below = us[i] < 0 ? INT64_MIN : INT64_MAX;
        b->name = rocl_strings_put(r->strings, name, (size_t)len);
        ok = b->name != ROCL_NONE;
    }
    free(us);
    return ok ? ROCL_OK : rocl_fail_memory(err);
}

/* ---- resources ------------------------------------------------------------------------------ */

/* The resource of a record, made when it is the first. NULL: memory is out. */
static rpt_resource *find_resource(rpt *r, const rpt_record *record)
{
    rpt_resource_kind kind = rpt_kind_of(r, record->type);
    uint64_t device = (uint64_t)record->device;
    uint32_t *other = kind == RPT_DATA ? &r->data : &r->none;
    uint32_t at = kind == RPT_GPU ? rocl_map_get(&r->gpus, device, ROCL_NONE) : *other;
    if (at != ROCL_NONE)
        return &r->resources[at];
    at = (uint32_t)r->resource_count;
    if (!ROCL_GROW(r->resources, r->resource_cap, r->resource_count + 1))
        return NULL;
    char name[32];
    int n = kind == RPT_GPU ? snprintf(name, sizeof name, "GPU%lld", (long long)record->device)
                            : snprintf(name, sizeof name, kind == RPT_DATA ? "DATA" : "None");
    rpt_resource *res = &r->resources[r->resource_count++];
    *res = (rpt_resource){.kind = kind,
                          .device = record->device,
                          .name = rocl_strings_put(r->strings, name, (size_t)n)};
    if (kind != RPT_GPU)
        *other = at;
    else if (!rocl_map_put(&r->gpus, device, at))
        return NULL;
    return res->name == ROCL_NONE ? NULL : res;
}

static bool add_queue(rpt_resource *res, int64_t queue)
{
    if (rocl_map_get(&res->by_queue, (uint64_t)queue, ROCL_NONE) != ROCL_NONE)
        return true;
    if (!ROCL_GROW(res->queues, res->queue_cap, res->queue_count + 1) ||
        !rocl_map_put(&res->by_queue, (uint64_t)queue, (uint32_t)res->queue_count))
        return false;
    res->queues[res->queue_count++] = queue;
    return true;
}

/* Only artificial input gets this far. */
static int64_t add_saturated(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? (b < 0 ? INT64_MIN : INT64_MAX) : sum;
}

static bool add_to_summary(rpt_resource *res, uint32_t name, bool is_gap, int64_t ns)
{
    uint32_t at = rocl_map_get(&res->by_name, name, ROCL_NONE);
    if (at == ROCL_NONE) {
        at = (uint32_t)res->count;
        if (!ROCL_GROW(res->summaries, res->cap, res->count + 1) ||
            !rocl_map_put(&res->by_name, name, at))
            return false;
        res->summaries[res->count++] = (rpt_summary){.name = name};
    }
    rpt_summary *s = &res->summaries[at];
    s->min = !s->count || ns < s->min ? ns : s->min;
    s->max = ns > s->max ? ns : s->max; /* from 0 */
    s->is_gap = is_gap; /* a command may be called like a gap: the last one counts */
    s->total = add_saturated(s->total, ns);
    s->count++;
    return true;
}

/* A command that starts before an earlier one has stopped counts from there. One that stops before
 * it starts counts less than nothing, as it does in the script; where it also starts before an
 * earlier one stopped, the script gives up, and it counts nothing here. */
rocl_status rpt_sum_record(rpt *r, const rpt_record *record, rpt_timing *timing, rocl_error *err)
{
    rpt_resource *res = find_resource(r, record);
    if (!res)
        return rocl_fail_memory(err);
    rpt_timing s = {.critical = record->stop - record->start};
    if (res->any && record->start < res->latest)
        s.critical = record->stop > res->latest ? record->stop - res->latest : 0;
    else if (res->any)
        s.gap = record->start - res->latest;
    while (s.gap && s.bucket + 1 < r->bucket_count && s.gap >= r->buckets[s.bucket].below)
        s.bucket++;
    if (!res->any || record->stop > res->latest)
        res->latest = record->stop;
    res->any = true;
    res->busy = add_saturated(res->busy, s.critical);
    bool ok = add_to_summary(res, record->name, record->type == r->gap, s.critical) &&
              (!s.gap || add_to_summary(res, r->buckets[s.bucket].name, true, s.gap)) &&
              (!r->json || add_queue(res, record->queue));
    *timing = s;
    return ok ? ROCL_OK : rocl_fail_memory(err);
}

/* ---- orders --------------------------------------------------------------------------------- */

static uint64_t *new_hashes(size_t n)
{
    return reallocarray(NULL, n ? n : 1, sizeof(uint64_t));
}

/* Turns hashes into an order and frees them. */
static uint32_t *order_by_hashes(uint64_t *hashes, size_t n)
{
    uint32_t *order = hashes ? reallocarray(NULL, n ? n : 1, sizeof *order) : NULL;
    if (order && !rocl_py_dict_order(hashes, n, order)) {
        free(order);
        order = NULL;
    }
    free(hashes);
    return order;
}

static uint64_t hash_text(const rpt *r, uint32_t text)
{
    size_t n;
    const char *p = rocl_strings_get(r->strings, text, &n);
    return rocl_py_hash(p, n);
}

uint32_t *rpt_resource_order(const rpt *r)
{
    uint64_t *hashes = new_hashes(r->resource_count);
    for (size_t i = 0; hashes && i < r->resource_count; i++)
        hashes[i] = r->resources[i].kind == RPT_NONE ? ROCL_PY_HASH_NONE
                                                     : hash_text(r, r->resources[i].name);
    return order_by_hashes(hashes, r->resource_count);
}

uint32_t *rpt_queue_order(const rpt_resource *res)
{
    uint64_t *hashes = new_hashes(res->queue_count);
    for (size_t i = 0; hashes && i < res->queue_count; i++)
        hashes[i] = rocl_py_hash_int(res->queues[i]);
    return order_by_hashes(hashes, res->queue_count);
}

typedef struct ranked {
    int64_t total;
    uint32_t in_dict, summary;
} ranked;

static int compare_totals(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->total != y->total)
        return x->total > y->total ? -1 : 1;
    return (x->in_dict > y->in_dict) - (x->in_dict < y->in_dict);
}

uint32_t *rpt_summary_order(const rpt *r, const rpt_resource *res)
{
    uint64_t *hashes = new_hashes(res->count);
    for (size_t i = 0; hashes && i < res->count; i++)
        hashes[i] = hash_text(r, res->summaries[i].name);
    uint32_t *order = order_by_hashes(hashes, res->count);
    ranked *all = order ? reallocarray(NULL, res->count, sizeof *all) : NULL;
    if (!all) {
        free(order);
        return NULL;
    }
    for (uint32_t i = 0; i < res->count; i++)
        all[i] = (ranked){res->summaries[order[i]].total, i, order[i]};
    qsort(all, res->count, sizeof *all, compare_totals);
    for (size_t i = 0; i < res->count; i++)
        order[i] = all[i].summary;
    free(all);
    return order;
}

void rpt_sums_free(rpt *r)
{
    for (size_t i = 0; i < r->resource_count; i++) {
        rocl_map_free(&r->resources[i].by_name);
        rocl_map_free(&r->resources[i].by_queue);
        free(r->resources[i].summaries);
        free(r->resources[i].queues);
    }
    free(r->resources);
    free(r->buckets);
    rocl_map_free(&r->gpus);
}
