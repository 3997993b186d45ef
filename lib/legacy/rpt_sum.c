/* Records in order of start -> what they add up to: resources, names on them, gaps between. */
#include "legacy/rpt.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"

/* ---- classes of gaps ------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static int64_t us_to_ns(int64_t us)
{
    int64_t ns;
    return __builtin_mul_overflow(us, 1000, &ns) ? (us < 0 ? INT64_MIN : INT64_MAX) : ns;
}

static rocl_status name_buckets(rocl_rpt *r, const int64_t *us, size_t n, rocl_error *err)
{
    char name[80];
    for (size_t i = 0; i <= n; i++) {
        long long from = i ? us[i - 1] : 0, to = i < n ? us[i] : 0;
        int len = i == n ? snprintf(name, sizeof name, "gap >=%lldus", from)
                  : i    ? snprintf(name, sizeof name, "gap %lldus-%lldus", from, to)
                         : snprintf(name, sizeof name, "gap <%lldus", to);
        r->buckets[i].below = i < n ? us_to_ns(us[i]) : INT64_MAX;
        r->buckets[i].name = rocl_strings_put(r->strings, name, (size_t)len);
        if (r->buckets[i].name == ROCL_NONE)
            return rocl_fail_memory(err);
    }
    r->bucket_count = n + 1;
    return ROCL_OK;
}

rocl_status rocl_rpt_make_buckets(rocl_rpt *r, rocl_error *err)
{
    static const int64_t defaults[] = {10, 20, 50, 100, 1000, 10000, 100000};
    bool given = r->o.gaps && r->o.gap_count;
    size_t n = given ? r->o.gap_count : sizeof defaults / sizeof *defaults;
    int64_t *us = reallocarray(NULL, n, sizeof *us);
    r->buckets = reallocarray(NULL, n + 1, sizeof *r->buckets);
    rocl_status st = us && r->buckets ? ROCL_OK : rocl_fail_memory(err);
    if (st == ROCL_OK) {
        memcpy(us, given ? r->o.gaps : defaults, n * sizeof *us);
        qsort(us, n, sizeof *us, by_value);
        st = name_buckets(r, us, n, err);
    }
    free(us);
    return st;
}

static size_t bucket_of(const rocl_rpt *r, int64_t gap)
{
    size_t i = 0;
    while (i + 1 < r->bucket_count && gap >= r->buckets[i].below)
        i++;
    return i;
}

/* ---- finding and making ---------------------------------------------------------------------- */

static rocl_rpt_resource *new_resource(rocl_rpt *r, rocl_rpt_resource_kind kind, int64_t device)
{
    char name[32];
    if (!ROCL_GROW(r->resources, r->resource_cap, r->resource_count + 1))
        return NULL;
    rocl_rpt_resource *res = &r->resources[r->resource_count++];
    int n = kind == ROCL_RPT_GPU
                ? snprintf(name, sizeof name, "GPU%lld", (long long)device)
                : snprintf(name, sizeof name, kind == ROCL_RPT_DATA ? "DATA" : "None");
    *res = (rocl_rpt_resource){.kind = kind, .device = device};
    res->name = rocl_strings_put(r->strings, name, (size_t)n);
    return res->name == ROCL_NONE ? NULL : res;
}

static rocl_rpt_resource *find_resource(rocl_rpt *r, const rocl_rpt_record *record)
{
    rocl_rpt_resource_kind kind = rocl_rpt_kind(r, record->type);
    uint32_t *other = kind == ROCL_RPT_DATA ? &r->data : &r->none;
    uint32_t at =
        kind == ROCL_RPT_GPU ? rocl_map_get(&r->gpus, (uint64_t)record->device, ROCL_NONE) : *other;
    if (at != ROCL_NONE)
        return &r->resources[at];
    at = (uint32_t)r->resource_count;
    rocl_rpt_resource *res = new_resource(r, kind, record->device);
    if (kind != ROCL_RPT_GPU)
        *other = at;
    else if (res && !rocl_map_put(&r->gpus, (uint64_t)record->device, at))
        return NULL;
    return res;
}

static rocl_rpt_summary *find_summary(rocl_rpt_resource *res, uint32_t name)
{
    uint32_t at = rocl_map_get(&res->by_name, name, ROCL_NONE);
    if (at != ROCL_NONE)
        return &res->summaries[at];
    at = (uint32_t)res->count;
    if (!ROCL_GROW(res->summaries, res->cap, res->count + 1) ||
        !rocl_map_put(&res->by_name, name, at))
        return NULL;
    res->summaries[res->count++] = (rocl_rpt_summary){.name = name};
    return &res->summaries[at];
}

static bool note_queue(rocl_rpt_resource *res, int64_t queue)
{
    if (rocl_map_get(&res->by_queue, (uint64_t)queue, ROCL_NONE) != ROCL_NONE)
        return true;
    if (!ROCL_GROW(res->queues, res->queue_cap, res->queue_count + 1) ||
        !rocl_map_put(&res->by_queue, (uint64_t)queue, (uint32_t)res->queue_count))
        return false;
    res->queues[res->queue_count++] = queue;
    return true;
}

/* ---- adding up ------------------------------------------------------------------------------- */

/* Only what was put together on purpose gets this far. */
static int64_t add(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? (b < 0 ? INT64_MIN : INT64_MAX) : sum;
}

static bool add_to(rocl_rpt_resource *res, uint32_t name, bool is_gap, int64_t ns)
{
    rocl_rpt_summary *s = find_summary(res, name);
    if (!s)
        return false;
    s->min = !s->count || ns < s->min ? ns : s->min;
    s->max = ns > s->max ? ns : s->max; /* from 0 */
    s->is_gap = is_gap; /* a command may be called like a gap: the last one counts */
    s->total = add(s->total, ns);
    s->count++;
    return true;
}

/* A command that starts before an earlier one has stopped counts from there. One that stops before
 * it starts counts less than nothing, as it does in the script; where it also starts before an
 * earlier one stopped, the script gives up, and it counts nothing here. */
static rocl_rpt_share share_of(const rocl_rpt *r, const rocl_rpt_resource *res,
                               const rocl_rpt_record *record)
{
    rocl_rpt_share s = {.critical = record->stop - record->start};
    if (res->any && record->start < res->latest)
        s.critical = record->stop > res->latest ? record->stop - res->latest : 0;
    else if (res->any)
        s.gap = record->start - res->latest;
    if (s.gap)
        s.bucket = bucket_of(r, s.gap);
    return s;
}

rocl_status rocl_rpt_take(rocl_rpt *r, const rocl_rpt_record *record, rocl_rpt_share *share,
                          rocl_error *err)
{
    rocl_rpt_resource *res = find_resource(r, record);
    if (!res)
        return rocl_fail_memory(err);
    *share = share_of(r, res, record);
    if (!res->any || record->stop > res->latest)
        res->latest = record->stop;
    res->any = true;
    res->busy = add(res->busy, share->critical);
    bool ok = add_to(res, record->name, record->type == r->gap, share->critical) &&
              (!share->gap || add_to(res, r->buckets[share->bucket].name, true, share->gap)) &&
              (!r->json || note_queue(res, record->queue));
    return ok ? ROCL_OK : rocl_fail_memory(err);
}

/* ---- orders ---------------------------------------------------------------------------------- */

/* Turns hashes into an order and frees them. */
static uint32_t *dict_order(uint64_t *hashes, size_t n)
{
    uint32_t *order = hashes ? reallocarray(NULL, n ? n : 1, sizeof *order) : NULL;
    if (order && !rocl_py_dict_order(hashes, n, order)) {
        free(order);
        order = NULL;
    }
    free(hashes);
    return order;
}

static uint64_t *new_hashes(size_t n)
{
    return reallocarray(NULL, n ? n : 1, sizeof(uint64_t));
}

static uint64_t hash_text(const rocl_rpt *r, uint32_t text)
{
    size_t n;
    const char *p = rocl_strings_get(r->strings, text, &n);
    return rocl_py_hash(p, n);
}

uint32_t *rocl_rpt_resource_order(const rocl_rpt *r)
{
    uint64_t *hashes = new_hashes(r->resource_count);
    for (size_t i = 0; hashes && i < r->resource_count; i++)
        hashes[i] = r->resources[i].kind == ROCL_RPT_NONE ? ROCL_PY_HASH_NONE
                                                          : hash_text(r, r->resources[i].name);
    return dict_order(hashes, r->resource_count);
}

uint32_t *rocl_rpt_queue_order(const rocl_rpt_resource *res)
{
    uint64_t *hashes = new_hashes(res->queue_count);
    for (size_t i = 0; hashes && i < res->queue_count; i++)
        hashes[i] = rocl_py_hash_int(res->queues[i]);
    return dict_order(hashes, res->queue_count);
}

typedef struct place {
    int64_t total;
    uint32_t in_dict, summary;
} place;

static int by_total(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->total != y->total)
        return x->total > y->total ? -1 : 1;
    return (x->in_dict > y->in_dict) - (x->in_dict < y->in_dict);
}

uint32_t *rocl_rpt_summary_order(const rocl_rpt *r, const rocl_rpt_resource *res)
{
    uint64_t *hashes = new_hashes(res->count);
    for (size_t i = 0; hashes && i < res->count; i++)
        hashes[i] = hash_text(r, res->summaries[i].name);
    uint32_t *order = dict_order(hashes, res->count);
    place *places = order ? reallocarray(NULL, res->count, sizeof *places) : NULL;
    if (!places) {
        free(order);
        return NULL;
    }
    for (uint32_t i = 0; i < res->count; i++)
        places[i] = (place){res->summaries[order[i]].total, i, order[i]};
    qsort(places, res->count, sizeof *places, by_total);
    for (size_t i = 0; i < res->count; i++)
        order[i] = places[i].summary;
    free(places);
    return order;
}

void rocl_rpt_sum_free(rocl_rpt *r)
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
