/* How evenly work is spread over ranks. Only sums are needed, so every worker adds up on its own,
 * one cell for each kind, name and rank: memory is bounded by those, whatever the number of events,
 * and sums of integers do not depend on who added them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"

typedef enum work { KERNEL, MARKER, API, WORKS } work;

/* A rank: all processes that say that they are it; or a process that says nothing. */
typedef struct place {
    int32_t rank; /* -1: none */
    uint32_t machine;
    int64_t pid;   /* -1: several */
    uint32_t host; /* text */
    uint32_t capture, process;
} place;

/* Compared byte by byte: without holes. */
typedef struct cell_key {
    uint32_t work, name, place;
} cell_key;

typedef struct sum {
    uint64_t calls;
    int64_t total;
} sum;

/* The sums of one worker by the id of their key. */
typedef struct sums {
    sum *by_key;
    uint32_t cap;
} sums;

typedef struct cell {
    cell_key key;
    sum sum;
} cell;

/* What is said of a name. */
typedef struct spread {
    uint32_t work, name, ranks;
    uint64_t min_calls, max_calls;
    int64_t min, max, total;
    uint32_t straggler; /* place */
} spread;

typedef struct ranks {
    rocl_trace *trace;
    const rocl_stats_options *options;
    place *places;       /* by rank, then by machine and pid */
    uint32_t **place_of; /* by capture and process */
    uint32_t place_count;
    rocl_strings *keys; /* as bytes */
    sums *sums;         /* by worker */
    cell *cells;
    size_t cell_count;
    sum (*totals)[WORKS]; /* by place */
} ranks;

/* ---- places ---- */

static int order_places(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->rank != y->rank) /* those without a rank last */
        return (uint32_t)x->rank < (uint32_t)y->rank ? -1 : 1;
    if (x->rank >= 0)
        return 0;
    if (x->machine != y->machine)
        return x->machine < y->machine ? -1 : 1;
    return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static place place_at(const rocl_capture *c, uint32_t process)
{
    const rocl_process *p = &c->processes[process];
    return (place){.rank = p->rank >= 0 ? p->rank : -1,
                   .machine = c->machine,
                   .pid = p->pid,
                   .host = p->node < c->node_count ? c->nodes[p->node].hostname : 0,
                   .capture = c->index,
                   .process = process};
}

/* Puts the processes of one rank together. */
static void merge_places(ranks *r, size_t n)
{
    uint32_t last = 0;
    for (size_t i = 0; i < n; i++) {
        const place p = r->places[i];
        place *q = &r->places[last];
        if (i && order_places(q, &p) == 0) {
            q->pid = q->pid == p.pid && q->machine == p.machine ? q->pid : -1;
            q->host = q->host == p.host ? q->host : 0;
        } else {
            last += i > 0;
            r->places[last] = p;
        }
        r->place_of[p.capture][p.process] = last;
    }
    r->place_count = n ? last + 1 : 0;
}

static rocl_status find_places(ranks *r, rocl_error *err)
{
    const rocl_trace *t = r->trace;
    size_t n = 0;
    r->place_of = calloc(t->capture_count + 1, sizeof *r->place_of);
    for (size_t i = 0; r->place_of && i < t->capture_count; i++) {
        uint32_t count = t->captures[i]->pub.process_count;
        r->place_of[i] = calloc((size_t)count + 1, sizeof **r->place_of);
        if (!r->place_of[i])
            return rocl_fail_memory(err);
        n += count;
    }
    r->places = calloc(n + 1, sizeof *r->places);
    if (!r->place_of || !r->places)
        return rocl_fail_memory(err);
    n = 0;
    for (size_t i = 0; i < t->capture_count; i++)
        for (uint32_t p = 0; p < t->captures[i]->pub.process_count; p++)
            r->places[n++] = place_at(&t->captures[i]->pub, p);
    qsort(r->places, n, sizeof *r->places, order_places);
    merge_places(r, n);
    return ROCL_OK;
}

/* ---- taking events ---- */

static work work_of(rocl_domain d)
{
    switch (d) {
    case ROCL_DOMAIN_KERNELS:
        return KERNEL;
    case ROCL_DOMAIN_MARKERS:
        return MARKER;
    case ROCL_DOMAIN_HIP:
    case ROCL_DOMAIN_HSA:
    case ROCL_DOMAIN_RCCL:
    case ROCL_DOMAIN_ROCDECODE:
    case ROCL_DOMAIN_ROCJPEG:
        return API;
    default:
        return WORKS;
    }
}

static sum *sum_of(sums *s, uint32_t id)
{
    if (id >= s->cap) {
        uint32_t cap = s->cap ? s->cap : 256;
        while (cap <= id)
            cap *= 2;
        sum *more = realloc(s->by_key, cap * sizeof *more);
        if (!more)
            return NULL;
        memset(more + s->cap, 0, (cap - s->cap) * sizeof *more);
        s->by_key = more;
        s->cap = cap;
    }
    return &s->by_key[id];
}

static rocl_status take(void *self, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    ranks *r = self;
    for (size_t i = 0; i < b->count; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        work w = work_of(rocl_domain_of(r->trace, b->kind, e->category));
        if (w == WORKS)
            continue;
        const cell_key k = {w, w == API || e->name == ROCL_NONE ? 0 : e->name,
                            r->place_of[b->capture->index][e->process]};
        uint32_t id = rocl_strings_put(r->keys, (const char *)&k, sizeof k);
        sum *s = id == ROCL_NONE ? NULL : sum_of(&r->sums[worker], id);
        if (!s)
            return rocl_fail_memory(err);
        s->calls++;
        s->total = rocl_add_saturated(s->total, e->end - e->start);
    }
    return ROCL_OK;
}

static rocl_status end_task(void *self, unsigned worker, rocl_error *err)
{
    (void)self, (void)worker, (void)err;
    return ROCL_OK;
}

/* ---- adding up ---- */

static void add(sum *to, const sum *s)
{
    to->calls += s->calls;
    to->total = rocl_add_saturated(to->total, s->total);
}

/* Places next to each other, in order. */
static int order_cells(const void *a, const void *b)
{
    const cell_key *x = &((const cell *)a)->key, *y = &((const cell *)b)->key;
    if (x->work != y->work)
        return x->work < y->work ? -1 : 1;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static rocl_status add_up(ranks *r, rocl_error *err)
{
    size_t n = rocl_strings_count(r->keys);
    r->cells = calloc(n, sizeof *r->cells);
    r->totals = calloc((size_t)r->place_count + 1, sizeof *r->totals);
    if (!r->cells || !r->totals)
        return rocl_fail_memory(err);
    for (uint32_t i = 1; i < n; i++) { /* 0 is "", no key */
        cell *c = &r->cells[r->cell_count];
        memcpy(&c->key, rocl_strings_get(r->keys, i, NULL), sizeof c->key);
        for (unsigned w = 0; w < r->trace->opt.jobs; w++)
            if (i < r->sums[w].cap)
                add(&c->sum, &r->sums[w].by_key[i]);
        add(&r->totals[c->key.place][c->key.work], &c->sum);
        r->cell_count += c->sum.calls > 0;
    }
    qsort(r->cells, r->cell_count, sizeof *r->cells, order_cells);
    return ROCL_OK;
}

static bool has_events(const ranks *r, uint32_t p)
{
    return r->totals[p][KERNEL].calls + r->totals[p][MARKER].calls + r->totals[p][API].calls > 0;
}

static uint32_t count_places(const ranks *r)
{
    uint32_t n = 0;
    for (uint32_t p = 0; p < r->place_count; p++)
        n += has_events(r, p);
    return n;
}

static rocl_datum place_name(const ranks *r, rocl_tables *out, uint32_t p)
{
    char text[48];
    const place *q = &r->places[p];
    int n = q->rank >= 0 ? snprintf(text, sizeof text, "rank %d", q->rank)
                         : snprintf(text, sizeof text, "pid %lld", (long long)q->pid);
    return rocl_datum_text(out, text, (size_t)n);
}

/* ---- the table of ranks ---- */

static const char alone[] = "of one process only: nothing to compare it with";

static const rocl_table_column rank_columns[] = {
    {"rank", "Rank", ROCL_UNIT_COUNT},
    {"pid", "Process", ROCL_UNIT_COUNT},
    {"host", "Host", ROCL_UNIT_TEXT},
    {"kernels", "Kernels", ROCL_UNIT_COUNT},
    {"kernels_ns", "Kernel time", ROCL_UNIT_NS},
    {"percent", "%", ROCL_UNIT_PERCENT},
    {"api_ns", "API time", ROCL_UNIT_NS},
    {"markers_ns", "Marker time", ROCL_UNIT_NS},
};

static void total_cells(rocl_datum *cells, const sum *s, int64_t all)
{
    cells[3] = rocl_datum_int((int64_t)s[KERNEL].calls);
    cells[4] = rocl_datum_int(s[KERNEL].total);
    cells[5] = rocl_share(s[KERNEL].total, all);
    cells[6] = rocl_datum_int(s[API].total);
    cells[7] = rocl_datum_int(s[MARKER].total);
}

static void place_cells(const ranks *r, rocl_tables *out, rocl_datum *cells, uint32_t p,
                        int64_t all)
{
    const place *q = &r->places[p];
    if (q->rank >= 0)
        cells[0] = rocl_datum_int(q->rank);
    if (q->pid >= 0)
        cells[1] = rocl_datum_int(q->pid);
    if (q->host)
        cells[2] = rocl_text_datum(r->trace, out, q->host);
    total_cells(cells, r->totals[p], all);
}

/* Of the kernel time of all ranks: the one number that matters most. */
static const char *imbalance_note(const ranks *r, rocl_tables *out, uint32_t count)
{
    char text[96];
    int64_t all = 0, max = -1;
    uint32_t worst = 0;
    for (uint32_t p = 0; p < r->place_count; p++) {
        int64_t total = r->totals[p][KERNEL].total;
        all = rocl_add_saturated(all, total);
        worst = total > max ? p : worst;
        max = total > max ? total : max;
    }
    if (count < 2)
        return alone;
    if (all == 0)
        return NULL;
    rocl_datum name = place_name(r, out, worst);
    int n = snprintf(text, sizeof text, "kernel time max / mean = %.3f, the most in %s",
                     (double)max * count / (double)all, name.is ? name.text : "?");
    return rocl_arena_dup(&out->arena, text, (size_t)n);
}

static rocl_status rank_table(const ranks *r, rocl_tables *out, uint32_t count, rocl_error *err)
{
    rocl_table *t = rocl_tables_add(out, "ranks", "Ranks", rank_columns,
                                    sizeof rank_columns / sizeof *rank_columns);
    size_t top = r->options->top ? r->options->top : SIZE_MAX, rest = 0;
    sum others[WORKS] = {{0}};
    int64_t all = 0;
    if (!t)
        return rocl_fail_memory(err);
    t->note = imbalance_note(r, out, count);
    for (uint32_t p = 0; p < r->place_count; p++)
        all = rocl_add_saturated(all, r->totals[p][KERNEL].total);
    for (uint32_t p = 0; p < r->place_count; p++) {
        rocl_datum *cells;
        if (!has_events(r, p))
            continue;
        if (t->row_count == top) {
            rest++;
            for (int w = 0; w < WORKS; w++)
                add(&others[w], &r->totals[p][w]);
        } else if ((cells = rocl_table_row(t))) {
            place_cells(r, out, cells, p, all);
        } else {
            return rocl_fail_memory(err);
        }
    }
    if (!rest)
        return ROCL_OK;
    char text[64];
    int n = snprintf(text, sizeof text, "(%zu others)", rest);
    rocl_datum *cells = rocl_table_row(t);
    if (!cells)
        return rocl_fail_memory(err);
    cells[2] = rocl_datum_text(out, text, (size_t)n);
    total_cells(cells, others, all);
    return ROCL_OK;
}

/* ---- the table of names ---- */

static const rocl_table_column spread_columns[] = {
    {"domain", "Domain", ROCL_UNIT_TEXT},          {"name", "Name", ROCL_UNIT_TEXT},
    {"ranks", "Ranks", ROCL_UNIT_COUNT},           {"min_calls", "Calls min", ROCL_UNIT_COUNT},
    {"max_calls", "Calls max", ROCL_UNIT_COUNT},   {"min_total_ns", "Total min", ROCL_UNIT_NS},
    {"mean_total_ns", "Total mean", ROCL_UNIT_NS}, {"max_total_ns", "Total max", ROCL_UNIT_NS},
    {"excess_ns", "Max - mean", ROCL_UNIT_NS},     {"imbalance", "Max / mean", ROCL_UNIT_NUMBER},
    {"straggler", "Straggler", ROCL_UNIT_TEXT},
};

static double mean_of(const spread *s)
{
    return (double)s->total / (double)s->ranks;
}

static double excess_of(const spread *s)
{
    /* Not max - mean: equal times must give 0. */
    return ((double)s->max * s->ranks - (double)s->total) / (double)s->ranks;
}

static void take_cell(spread *s, const cell *c)
{
    const sum *v = &c->sum;
    bool first = s->ranks++ == 0;
    if (first || v->total > s->max) {
        s->max = v->total;
        s->straggler = c->key.place;
    }
    s->min = first || v->total < s->min ? v->total : s->min;
    s->min_calls = first || v->calls < s->min_calls ? v->calls : s->min_calls;
    s->max_calls = v->calls > s->max_calls ? v->calls : s->max_calls;
    s->total = rocl_add_saturated(s->total, v->total);
}

/* Of kernels and markers; free the array. */
static spread *find_spreads(const ranks *r, size_t *count)
{
    spread *list = calloc(r->cell_count + 1, sizeof *list);
    size_t n = 0;
    for (size_t i = 0; list && i < r->cell_count; i++) {
        const cell *c = &r->cells[i];
        if (c->key.work == API)
            continue;
        if (!n || list[n - 1].work != c->key.work || list[n - 1].name != c->key.name)
            list[n++] = (spread){.work = c->key.work, .name = c->key.name};
        take_cell(&list[n - 1], c);
    }
    *count = n;
    return list;
}

/* What evenness would gain most first; names by their bytes, never by ids. */
static int order_spreads(const void *a, const void *b, void *ctx)
{
    const ranks *r = ctx;
    const spread *x = a, *y = b;
    double p = excess_of(x), q = excess_of(y);
    if (x->work != y->work)
        return x->work < y->work ? -1 : 1;
    if (p != q && r->options->sort != ROCL_BY_NAME)
        return p > q ? -1 : 1;
    return rocl_text_order(r->trace, x->name, y->name);
}

static void spread_cells(const ranks *r, rocl_tables *out, rocl_datum *cells, const spread *s)
{
    cells[1] = rocl_text_datum(r->trace, out, s->name);
    cells[2] = rocl_datum_int(s->ranks);
    cells[3] = rocl_datum_int((int64_t)s->min_calls);
    cells[4] = rocl_datum_int((int64_t)s->max_calls);
    cells[5] = rocl_datum_int(s->min);
    cells[6] = rocl_datum_real(mean_of(s));
    cells[7] = rocl_datum_int(s->max);
    cells[8] = rocl_datum_real(excess_of(s));
    if (s->total > 0)
        cells[9] = rocl_datum_real((double)s->max * s->ranks / (double)s->total);
    cells[10] = place_name(r, out, s->straggler);
}

/* Minima and stragglers of several names mean nothing: the last row only says how many there are.
 */
static rocl_status spread_rows(const ranks *r, rocl_tables *out, rocl_table *t, const spread *list,
                               size_t n, rocl_error *err)
{
    const char *domain =
        rocl_domain_name(list->work == KERNEL ? ROCL_DOMAIN_KERNELS : ROCL_DOMAIN_MARKERS);
    size_t shown = r->options->top && r->options->top < n ? r->options->top : n;
    char text[64];
    int len = snprintf(text, sizeof text, "(%zu others)", n - shown);
    for (size_t i = 0; i < shown + (shown < n); i++) {
        rocl_datum *cells = rocl_table_row(t);
        if (!cells)
            return rocl_fail_memory(err);
        cells[0] = rocl_datum_text(out, domain, strlen(domain));
        if (i < shown)
            spread_cells(r, out, cells, &list[i]);
        else
            cells[1] = rocl_datum_text(out, text, (size_t)len);
    }
    return ROCL_OK;
}

static rocl_status spread_table(ranks *r, rocl_tables *out, uint32_t count, rocl_error *err)
{
    size_t n, m = 0;
    rocl_table *t = rocl_tables_add(out, "rank_imbalance", "Imbalance of ranks", spread_columns,
                                    sizeof spread_columns / sizeof *spread_columns);
    spread *list = t ? find_spreads(r, &n) : NULL;
    if (!list)
        return rocl_fail_memory(err);
    t->note = count < 2 ? alone : NULL;
    qsort_r(list, n, sizeof *list, order_spreads, r);
    while (m < n && list[m].work == KERNEL)
        m++;
    rocl_status st = m ? spread_rows(r, out, t, list, m, err) : ROCL_OK;
    if (st == ROCL_OK && m < n)
        st = spread_rows(r, out, t, list + m, n - m, err);
    free(list);
    return st;
}

/* ---- the collector ---- */

static rocl_status finish(void *self, rocl_tables *out, rocl_error *err)
{
    ranks *r = self;
    rocl_status st = add_up(r, err);
    uint32_t count = st == ROCL_OK ? count_places(r) : 0;
    if (st == ROCL_OK)
        st = rank_table(r, out, count, err);
    if (st == ROCL_OK)
        st = spread_table(r, out, count, err);
    return st;
}

static void free_ranks(void *self)
{
    ranks *r = self;
    for (size_t i = 0; r->place_of && i < r->trace->capture_count; i++)
        free(r->place_of[i]);
    for (unsigned w = 0; r->sums && w < r->trace->opt.jobs; w++)
        free(r->sums[w].by_key);
    rocl_strings_free(r->keys);
    free(r->place_of);
    free(r->places);
    free(r->sums);
    free(r->cells);
    free(r->totals);
    free(r);
}

rocl_status rocl_ranks_collector(rocl_collector *c, rocl_trace *t, const rocl_stats_options *o,
                                 rocl_error *err)
{
    ranks *r = calloc(1, sizeof *r);
    if (!r)
        return rocl_fail_memory(err);
    *c = (rocl_collector){.self = r,
                          .kinds = ROCL_BIT(ROCL_REGION) | ROCL_BIT(ROCL_MARKER) |
                                   ROCL_BIT(ROCL_DISPATCH),
                          .events = take,
                          .end_task = end_task,
                          .finish = finish,
                          .free = free_ranks};
    r->trace = t;
    r->options = o;
    r->keys = rocl_strings_new();
    r->sums = calloc(t->opt.jobs, sizeof *r->sums);
    return r->keys && r->sums ? find_places(r, err) : rocl_fail_memory(err);
}
