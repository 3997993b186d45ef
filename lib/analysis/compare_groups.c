/* The events of two traces by domain and name. Those of both go through one external sort by name,
 * duration and trace: what comes out is the merge of two sorted samples, from which percentiles and
 * Mann and Whitney's U follow exactly, in bounded memory. */
#include <stdlib.h>
#include <string.h>

#include "analysis/compare.h"
#include "base/array.h"
#include "base/map.h"
#include "trace/pipeline.h"

/* Events by id of their key, of one worker: percentiles need the number of values beforehand. */
typedef struct counts {
    uint64_t *by_key;
    size_t cap;
} counts;

/* One of the traces while it is read. */
typedef struct side {
    rocl_trace *trace;
    rocl_strings *keys; /* a byte for the domain, then the name; the same ids for both traces */
    rocl_sorter *sorter;
    unsigned which;
    counts *counts;  /* by worker */
    rocl_map *known; /* by worker: ids of keys by the trace's own text and domain */
} side;

/* ---- counts ---- */

static bool count(counts *c, uint32_t id)
{
    if (!ROCL_GROW(c->by_key, c->cap, (size_t)id + 1))
        return false;
    c->by_key[id]++;
    return true;
}

static uint64_t sum_of_counts(const counts *c, unsigned workers, uint32_t id)
{
    uint64_t n = 0;
    for (unsigned w = 0; w < workers; w++)
        n += id < c[w].cap ? c[w].by_key[id] : 0;
    return n;
}

static void free_counts(counts *c, unsigned workers)
{
    for (unsigned w = 0; c && w < workers; w++)
        free(c[w].by_key);
    free(c);
}

/* ---- taking events ---- */

/* ROCL_NONE: memory is out. */
static uint32_t new_key(const side *s, rocl_domain d, uint32_t name)
{
    size_t n;
    const char *p = rocl_strings_get(s->trace->strings, name, &n);
    char *key = malloc(n + 1);
    if (!key)
        return ROCL_NONE;
    key[0] = (char)d;
    memcpy(key + 1, p, n);
    uint32_t id = rocl_strings_put(s->keys, key, n + 1);
    free(key);
    return id;
}

static uint32_t key_of(side *s, unsigned worker, rocl_domain d, uint32_t name)
{
    uint64_t own = (uint64_t)name << 8 | d;
    uint32_t id = rocl_map_get(&s->known[worker], own, ROCL_NONE);
    if (id != ROCL_NONE)
        return id;
    id = new_key(s, d, name);
    return id != ROCL_NONE && rocl_map_put(&s->known[worker], own, id) ? id : ROCL_NONE;
}

static rocl_status take(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    side *s = self;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        rocl_domain d = rocl_domain_of(s->trace, b->kind, e->category);
        uint32_t id = key_of(s, worker, d, e->name == ROCL_NONE ? 0 : e->name);
        if (id == ROCL_NONE || !count(&s->counts[worker], id))
            return rocl_fail_memory(err);
        const uint64_t key[2] = {id, (uint64_t)(e->end - e->start) << 1 | s->which};
        st = rocl_sorter_add(s->sorter, worker, key, NULL, 0, err);
    }
    return st;
}

static rocl_status end_task(void *self, unsigned worker, rocl_error *err)
{
    side *s = self;
    return rocl_sorter_seal(s->sorter, worker, err);
}

static rocl_status read_side(side *s, rocl_error *err)
{
    const rocl_sink sink = {
        .self = s, .kinds = ROCL_TIMED_KINDS, .events = take, .end_task = end_task};
    s->counts = calloc(s->trace->opt.jobs, sizeof *s->counts);
    s->known = calloc(s->trace->opt.jobs, sizeof *s->known);
    if (!s->counts || !s->known)
        return rocl_fail_memory(err);
    return rocl_pipeline_run(s->trace, &sink, err);
}

static void free_side(side *s)
{
    free_counts(s->counts, s->trace->opt.jobs);
    for (unsigned w = 0; s->known && w < s->trace->opt.jobs; w++)
        rocl_map_free(&s->known[w]);
    free(s->known);
}

/* ---- pairs ---- */

static rocl_status open_pairs(rocl_pairs *p, const side *sides, rocl_error *err)
{
    size_t n = rocl_strings_count(p->keys);
    p->all = calloc(n, sizeof *p->all);
    if (!p->all)
        return rocl_fail_memory(err);
    for (uint32_t i = 1; i < n; i++) { /* 0 is "", no key */
        rocl_pair *pair = &p->all[i - 1];
        const char *key = rocl_strings_get(p->keys, i, &pair->name_len);
        pair->domain = (rocl_domain)key[0];
        pair->name = key + 1;
        pair->name_len--;
        for (unsigned k = ROCL_A; k <= ROCL_B; k++)
            rocl_distribution_begin(&pair->of[k],
                                    sum_of_counts(sides[k].counts, sides[k].trace->opt.jobs, i));
    }
    p->count = n - 1;
    return ROCL_OK;
}

/* How often a duration of a name is there in A and in B. */
typedef struct run {
    rocl_pair *pair; /* NULL at first */
    int64_t ns;
    uint64_t n[2];
} run;

static void end_run(run *r, rocl_mann_whitney *test)
{
    if (!r->pair)
        return;
    r->pair->differ |= r->n[ROCL_A] != r->n[ROCL_B];
    rocl_mann_whitney_take(test, r->n[ROCL_A], r->n[ROCL_B]);
}

/* Nothing needs to be computed of equal samples. */
static void end_pair(rocl_pair *pair, rocl_mann_whitney *test)
{
    if (!pair)
        return;
    if (!pair->differ)
        test->m = 0;
    pair->test = rocl_mann_whitney_end(test);
}

static rocl_status fill_pairs(rocl_pairs *p, rocl_sorter *sorter, rocl_error *err)
{
    rocl_sort_record rec;
    bool more;
    run r = {0};
    rocl_mann_whitney *test = calloc(1, sizeof *test);
    rocl_status st = test ? rocl_sorter_start(sorter, err) : rocl_fail_memory(err);
    while (st == ROCL_OK && (st = rocl_sorter_next(sorter, &rec, &more, err)) == ROCL_OK && more) {
        rocl_pair *pair = &p->all[rec.key[0] - 1];
        int64_t ns = (int64_t)(rec.key[1] >> 1);
        unsigned which = rec.key[1] & 1;
        if (pair != r.pair || ns != r.ns) {
            end_run(&r, test);
            if (pair != r.pair)
                end_pair(r.pair, test);
            r = (run){.pair = pair, .ns = ns};
        }
        r.n[which]++;
        rocl_distribution_take(&pair->of[which], ns);
    }
    if (st == ROCL_OK) {
        end_run(&r, test);
        end_pair(r.pair, test);
    }
    free(test);
    return st;
}

rocl_status rocl_pairs_collect(rocl_pairs *p, rocl_trace *a, rocl_trace *b, rocl_error *err)
{
    unsigned jobs = a->opt.jobs > b->opt.jobs ? a->opt.jobs : b->opt.jobs;
    /* Not the traces' own spaces: those are laid out for their own numbers of workers. */
    rocl_sort_space *space = rocl_sort_space_new(a->opt.memory, jobs, a->opt.tmpdir);
    rocl_sorter *sorter = space ? rocl_sorter_new(space, 2) : NULL;
    p->keys = rocl_strings_new();
    side sides[2] = {{.trace = a, .keys = p->keys, .sorter = sorter, .which = ROCL_A},
                     {.trace = b, .keys = p->keys, .sorter = sorter, .which = ROCL_B}};
    rocl_status st = sorter && p->keys ? ROCL_OK : rocl_fail_memory(err);
    for (unsigned k = ROCL_A; k <= ROCL_B && st == ROCL_OK; k++)
        st = read_side(&sides[k], err);
    if (st == ROCL_OK)
        st = open_pairs(p, sides, err);
    if (st == ROCL_OK)
        st = fill_pairs(p, sorter, err);
    free_side(&sides[ROCL_A]);
    free_side(&sides[ROCL_B]);
    rocl_sorter_free(sorter);
    rocl_sort_space_free(space);
    return st;
}

void rocl_pairs_free(rocl_pairs *p)
{
    free(p->all);
    rocl_strings_free(p->keys);
}
