/* Derived counters in the report "counters": expressions of files over the counters of each
 * dispatch.
 *
 * Values become records of (process, dispatch, counter). They come back dispatch by dispatch, in an
 * order that does not depend on the number of workers. A dispatch belongs to a group (kernel, kind
 * of GPU, agent) and to a plan: which counters were collected, hence which expressions have all
 * their operands. A block is a group with a plan; it has the values of each derived counter, and
 * the sums of the operands, with which each expression is evaluated once more at the end. */
#include "analysis/derived.h"
#include "analysis/gpu_kinds.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/map.h"
#include "derive/derive.h"

/* What is known of a kind of GPUs. */
typedef struct profile {
    const char *arch; /* "" unknown */
    rocl_derive_program *program;
    const rocl_metric *metrics;
    size_t metric_count;
    struct lack *lacks; /* by metric */
    unsigned *amd;      /* by metric: ROCL_AMD_*, in any dispatch */
    bool used;
} profile;

/* What the dispatches lack that have most of the operands of a metric. */
typedef struct lack {
    bool evaluated; /* none: there are values */
    unsigned count;
    const char *names; /* NULL: nothing is known yet */
} lack;

typedef struct group_key { /* interned: no holes */
    uint32_t kernel, profile;
    rocl_agent_key agent;
} group_key;

_Static_assert(sizeof(group_key) == 2 * 4 + sizeof(rocl_agent_key), "no holes");

typedef struct plan_item {
    uint32_t symbol, instances;
    uint32_t placed; /* dimensions in which the places of its instances are known, a bit each */
} plan_item;

typedef struct plan {
    uint32_t profile;
    plan_item *items; /* by symbol */
    size_t item_count;
    uint32_t *metrics; /* that can be evaluated, ascending */
    bool *collected;   /* by counter */
    size_t metric_count;
} plan;

typedef struct stat_values {
    uint64_t count, undefined;
    double min, max;
    rocl_sum total;
} stat_values;

typedef struct operand_sums {
    rocl_sum sum, min, max;
} operand_sums;

typedef struct block {
    uint32_t group, plan, next; /* next one of the group: index + 1 */
    stat_values *stats;         /* by metric of the plan */
    operand_sums *operands;     /* by item of the plan */
} block;

/* A row of the table. */
typedef struct derived_row {
    uint32_t kernel;
    rocl_agent_key agent;
    const char *name, *arch, *unit, *differs;
    stat_values values;
    double overall; /* made of the sums of the operands; NAN none */
    uint64_t collected;
} derived_row;

typedef struct dispatch_row {
    uint32_t kernel;
    rocl_agent_key agent;
    const char *name, *arch, *unit;
    uint64_t dispatch;
    int64_t pid;
    double value;
} dispatch_row;

typedef struct missing_row {
    const char *name, *arch, *missing, *expression;
    unsigned count;
} missing_row;

/* Its instances follow, if needed and known. */
typedef struct counter_record {
    uint32_t agent, kernel, instances;
    int32_t rank;
    uint64_t dispatch;
    int64_t pid;
    double min, max;
} counter_record;

/* The instances of an operand of the dispatch at hand. */
typedef struct instance_list {
    rocl_derive_instance *v;
    size_t count, cap;
} instance_list;

typedef struct derived {
    rocl_collector c;
    rocl_derive *definitions;
    uint32_t mentioned; /* symbols below this stand in the files */
    profile *profiles;
    size_t profile_count;
    rocl_gpu_kinds gpus; /* each has a profile */
    uint32_t **symbols;  /* by capture and counter */
    rocl_sorter *values;
    rocl_strings *groups;
    rocl_map blocks_by_key; /* group << 32 | plan */
    uint32_t *first_block;  /* by group: index + 1 */
    size_t first_cap;
    block *blocks;
    size_t block_count, block_cap;
    plan *plans;
    size_t plan_count, plan_cap;
    rocl_operand *operands; /* by symbol */
    instance_list *each;    /* by symbol */
    rocl_arena arena;
} derived;

/* ---- collecting ------------------------------------------------------------------------------ */

static rocl_status open_derived(void *self, rocl_error *err)
{
    derived *s = self;
    const rocl_trace *t = s->c.trace;
    const char *const *files = s->c.options->derive;
    rocl_status st = ROCL_OK;
    s->definitions = rocl_derive_new();
    s->groups = rocl_strings_new();
    s->values = rocl_collector_sorter(&s->c, 4);
    if (!s->definitions || !s->groups || !s->values)
        return rocl_fail_memory(err);
    for (; *files && st == ROCL_OK; files++)
        st = rocl_derive_read(s->definitions, *files, err);
    s->mentioned = (uint32_t)rocl_derive_symbols(s->definitions);
    s->c.fields = (s->c.options->by_dispatch ? ROCL_FIELD_DISPATCH_ID : 0u) |
                  (rocl_derive_needs_instances(s->definitions) ? ROCL_FIELD_PLACES : 0u);
    if (st == ROCL_OK)
        st = rocl_gpu_kinds_find(&s->gpus, s->definitions, s->c.trace, s->c.options->derive_arch,
                                 err);
    s->profiles = calloc(s->gpus.count + 1, sizeof *s->profiles);
    s->symbols = calloc(t->capture_count + 1, sizeof *s->symbols);
    if (st == ROCL_OK && (!s->profiles || !s->symbols))
        st = rocl_fail_memory(err);
    for (; s->profile_count < s->gpus.count && st == ROCL_OK; s->profile_count++) {
        const rocl_gpu_kind *gpu = &s->gpus.kinds[s->profile_count];
        profile *p = &s->profiles[s->profile_count];
        p->arch = gpu->arch;
        st = rocl_derive_program_new(&p->program, s->definitions, p->arch, gpu->constants,
                                     gpu->constant_count, err);
        if (st != ROCL_OK)
            break;
        p->metrics = rocl_derive_metrics(p->program, &p->metric_count);
        p->lacks = calloc(p->metric_count + 1, sizeof *p->lacks);
        p->amd = calloc(p->metric_count + 1, sizeof *p->amd);
        if (!p->lacks || !p->amd)
            st = rocl_fail_memory(err);
    }
    for (size_t i = 0; i < t->capture_count && st == ROCL_OK; i++) {
        const rocl_capture *c = &t->captures[i]->pub;
        s->symbols[i] = calloc(c->counter_count + 1, sizeof **s->symbols);
        if (!s->symbols[i])
            st = rocl_fail_memory(err);
        for (uint32_t k = 0; k < c->counter_count && st == ROCL_OK; k++) {
            size_t n;
            const char *name = rocl_strings_get(t->strings, c->counters[k].name, &n);
            s->symbols[i][k] = rocl_derive_symbol(s->definitions, name, n);
            if (s->symbols[i][k] == ROCL_NONE)
                st = rocl_fail_memory(err);
        }
    }
    s->operands = calloc(rocl_derive_symbols(s->definitions), sizeof *s->operands);
    s->each = calloc(rocl_derive_symbols(s->definitions), sizeof *s->each);
    return st == ROCL_OK && (!s->operands || !s->each) ? rocl_fail_memory(err) : st;
}

static rocl_status add_derived_batch(void *self, unsigned worker, const rocl_batch *b,
                                     rocl_error *err)
{
    derived *s = self;
    const rocl_capture *c = b->capture;
    rocl_buf data = {0};
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        const rocl_counter_value *v = &b->counters[i];
        const rocl_dispatch *d = &v->d;
        if (v->counter >= c->counter_count)
            continue;
        const uint32_t symbol = s->symbols[c->index][v->counter];
        if (!symbol || symbol >= s->mentioned)
            continue;
        counter_record r;
        memset(&r, 0, sizeof r);
        r.agent = d->agent < c->agent_count ? d->agent : c->counters[v->counter].agent;
        r.kernel = d->e.name == ROCL_NONE ? 0 : d->e.name;
        r.instances = v->instances;
        r.rank = c->processes[d->e.process].rank;
        r.pid = c->processes[d->e.process].pid;
        r.dispatch = d->dispatch_id;
        r.min = v->min;
        r.max = v->max;
        const uint64_t key[4] = {(uint64_t)c->index << 32 | d->e.process,
                                 d->dispatch_id ? d->dispatch_id : d->e.id | UINT64_C(1) << 63,
                                 symbol, rocl_bits_of_value(v->value)};
        data.len = 0;
        rocl_buf_put(&data, &r, sizeof r);
        for (uint32_t k = 0; v->instance && k < v->instances; k++) {
            const rocl_instance *from = &b->instances[v->instance - 1 + k];
            const rocl_derive_instance one = {
                .value = from->value,
                .place = {[ROCL_DERIVE_XCC] = from->xcc,
                          [ROCL_DERIVE_SHADER_ENGINE] = from->shader_engine,
                          [ROCL_DERIVE_INSTANCE] = from->instance,
                          [ROCL_DERIVE_SHADER_ARRAY] = from->shader_array,
                          [ROCL_DERIVE_WGP] = from->wgp}};
            rocl_buf_put(&data, &one, sizeof one);
        }
        st = data.failed ? rocl_fail_memory(err)
                         : rocl_sorter_add(s->values, worker, key, data.data, data.len, err);
    }
    rocl_buf_free(&data);
    return st;
}

/* ---- plans ----------------------------------------------------------------------------------- */

/* The plan of a dispatch with these operands. */
static rocl_status find_plan(derived *s, uint32_t index, const plan_item *items, size_t n,
                             uint32_t *found, rocl_error *err)
{
    for (size_t i = s->plan_count; i-- > 0;) {
        const plan *p = &s->plans[i];
        if (p->profile == index && p->item_count == n &&
            !memcmp(p->items, items, n * sizeof *items)) {
            *found = (uint32_t)i;
            return ROCL_OK;
        }
    }
    profile *of = &s->profiles[index];
    *found = (uint32_t)s->plan_count;
    if (!ROCL_GROW(s->plans, s->plan_cap, s->plan_count + 1))
        return rocl_fail_memory(err);
    plan *p = &s->plans[s->plan_count++];
    *p = (plan){.profile = index, .item_count = n};
    p->items = rocl_arena_alloc(&s->arena, (n + 1) * sizeof *items);
    p->metrics = rocl_arena_alloc(&s->arena, (of->metric_count + 1) * sizeof *p->metrics);
    p->collected = rocl_arena_alloc(&s->arena, (of->metric_count + 1) * sizeof *p->collected);
    bool good = p->items && p->metrics && p->collected;
    if (good)
        memcpy(p->items, items, n * sizeof *items);
    for (size_t m = 0; m < of->metric_count && good; m++) {
        lack *l = &of->lacks[m];
        if (rocl_derive_value(of->program, m).state != ROCL_DERIVED_MISSING) {
            l->evaluated = true;
            p->collected[p->metric_count] = s->operands[of->metrics[m].symbol].known;
            p->metrics[p->metric_count++] = (uint32_t)m;
            continue;
        }
        rocl_buf names = {0};
        const unsigned count = rocl_derive_missing(of->program, m, &names);
        if (!names.failed && (!l->names || count < l->count)) {
            l->count = count;
            l->names = rocl_arena_dup(&s->arena, names.len ? (char *)names.data : "", names.len);
        }
        good = !names.failed && l->names;
        rocl_buf_free(&names);
    }
    return good ? ROCL_OK : rocl_fail_memory(err);
}

static rocl_status find_block(derived *s, uint32_t group, uint32_t plan_index, block **found,
                              rocl_error *err)
{
    const uint64_t key = (uint64_t)group << 32 | plan_index;
    const plan *p = &s->plans[plan_index];
    uint32_t at = rocl_map_get(&s->blocks_by_key, key, ROCL_NONE);
    if (at == ROCL_NONE) {
        at = (uint32_t)s->block_count;
        if (!ROCL_GROW(s->blocks, s->block_cap, s->block_count + 1) ||
            !ROCL_GROW(s->first_block, s->first_cap, (size_t)group + 1) ||
            !rocl_map_put(&s->blocks_by_key, key, at))
            return rocl_fail_memory(err);
        block *b = &s->blocks[s->block_count++];
        const size_t stats = (p->metric_count + 1) * sizeof *b->stats;
        const size_t operands = (p->item_count + 1) * sizeof *b->operands;
        *b = (block){.group = group, .plan = plan_index, .next = s->first_block[group]};
        b->stats = rocl_arena_alloc(&s->arena, stats);
        b->operands = rocl_arena_alloc(&s->arena, operands);
        if (!b->stats || !b->operands)
            return rocl_fail_memory(err);
        memset(b->stats, 0, stats);
        memset(b->operands, 0, operands);
        s->first_block[group] = at + 1;
    }
    *found = &s->blocks[at];
    return ROCL_OK;
}

/* ---- dispatches ------------------------------------------------------------------------------ */

typedef struct dispatch {
    uint64_t key[2];
    counter_record of; /* record of its first counter */
    plan_item *items;
    size_t count, cap;
} dispatch;

static void add_stat(stat_values *to, const rocl_derived *v)
{
    if (v->state !=
        ROCL_DERIVED_VALUE) { /* also where instances are not those of other dispatches */
        to->undefined++;
        return;
    }
    if (!to->count || v->value < to->min)
        to->min = v->value;
    if (!to->count || v->value > to->max)
        to->max = v->value;
    to->count++;
    rocl_sum_add(&to->total, v->value);
}

/* Gives an operand its instances, if those are known and each has a place of its own. */
static void complete_operand(const derived *s, plan_item *item)
{
    rocl_operand *x = &s->operands[item->symbol];
    const instance_list *list = &s->each[item->symbol];
    item->instances = x->instances;
    item->placed = 0;
    if (!list->count || list->count != x->instances)
        return;
    qsort(list->v, list->count, sizeof *list->v, rocl_derive_compare_places);
    for (size_t i = 1; i < list->count; i++)
        if (!rocl_derive_compare_places(&list->v[i - 1], &list->v[i]))
            return;
    x->each = list->v;
    item->placed = (1u << ROCL_DERIVE_PLACES) - 1;
    for (size_t i = 0; i < list->count; i++)
        for (unsigned d = 0; d < ROCL_DERIVE_PLACES; d++)
            item->placed &= ~((uint32_t)(list->v[i].place[d] < 0) << d);
}

/* All its counters have come: they are the operands. */
static rocl_status end_dispatch(derived *s, dispatch *d, const rocl_report_rows *rows,
                                rocl_error *err)
{
    const rocl_capture *c = &s->c.trace->captures[d->key[0] >> 32]->pub;
    const rocl_stats_options *o = s->c.options;
    const uint32_t agent = d->of.agent < c->agent_count ? d->of.agent : ROCL_NONE;
    const uint32_t index = s->gpus.of[c->index][agent == ROCL_NONE ? c->agent_count : agent];
    profile *p = &s->profiles[index];
    const int32_t rank = o->by_rank ? d->of.rank : -1;
    const rocl_agent_key any = {.type = ROCL_NONE, .id = -1, .rank = rank};
    const rocl_agent_key own = o->by_agent || rows ? rocl_agent_key_of(c, agent, rank) : any;
    const group_key k = {
        .kernel = d->of.kernel, .profile = index, .agent = o->by_agent ? own : any};
    dispatch_row row = {.kernel = d->of.kernel,
                        .agent = own,
                        .arch = p->arch,
                        .dispatch = d->of.dispatch,
                        .pid = d->of.pid};
    p->used = true;
    for (size_t i = 0; i < d->count; i++)
        complete_operand(s, &d->items[i]);
    rocl_derive_values(p->program, s->operands);
    uint32_t plan_index;
    const uint32_t group = rocl_strings_put(s->groups, (const char *)&k, sizeof k);
    block *b = NULL;
    rocl_status st = group == ROCL_NONE ? rocl_fail_memory(err)
                                        : find_plan(s, index, d->items, d->count, &plan_index, err);
    if (st == ROCL_OK)
        st = find_block(s, group, plan_index, &b, err);
    if (st != ROCL_OK)
        return st;
    const plan *of = &s->plans[plan_index];
    for (size_t i = 0; i < of->metric_count; i++) {
        const uint32_t m = of->metrics[i];
        const rocl_derived v = rocl_derive_value(p->program, m);
        add_stat(&b->stats[i], &v);
        p->amd[m] |= v.amd;
        if (rows && v.state == ROCL_DERIVED_VALUE) {
            row.name = rocl_derive_name(s->definitions, p->metrics[m].symbol);
            row.unit = *p->metrics[m].unit ? p->metrics[m].unit : NULL;
            row.value = v.value;
            rocl_add_row(rows, &row);
        }
    }
    for (size_t i = 0; i < d->count; i++) {
        rocl_operand *x = &s->operands[d->items[i].symbol];
        rocl_sum_add(&b->operands[i].sum, x->sum);
        rocl_sum_add(&b->operands[i].min, x->min);
        rocl_sum_add(&b->operands[i].max, x->max);
        *x = (rocl_operand){0};
        s->each[d->items[i].symbol].count = 0;
    }
    d->count = 0;
    return ROCL_OK;
}

static rocl_status evaluate_dispatches(derived *s, const rocl_report_rows *rows, rocl_error *err)
{
    dispatch d = {.count = 0};
    rocl_sort_record rec;
    rocl_status st = rocl_sorter_start(s->values, err);
    while (rocl_next_record(s->values, &rec, &st, err)) {
        counter_record r;
        memcpy(&r, rec.data, sizeof r);
        if (d.count && memcmp(d.key, rec.key, sizeof d.key) != 0)
            st = end_dispatch(s, &d, rows, err);
        if (!d.count) {
            memcpy(d.key, rec.key, sizeof d.key);
            d.of = r;
        }
        instance_list *each = &s->each[rec.key[2]];
        const size_t instances = (rec.len - sizeof r) / sizeof *each->v;
        if (st == ROCL_OK && (!ROCL_GROW(d.items, d.cap, d.count + 1) ||
                              !ROCL_GROW(each->v, each->cap, each->count + instances + 1)))
            st = rocl_fail_memory(err);
        if (st != ROCL_OK)
            break;
        /* Several values of one counter are of its instances. */
        rocl_operand *x = &s->operands[rec.key[2]];
        const double value = rocl_value_of_bits(rec.key[3]);
        const double min = r.instances ? r.min : value, max = r.instances ? r.max : value;
        if (!x->known) {
            d.items[d.count++] = (plan_item){.symbol = (uint32_t)rec.key[2]};
            *x = (rocl_operand){
                .known = true, .instances = r.instances, .sum = value, .min = min, .max = max};
        } else {
            x->instances = (x->instances ? x->instances : 1) + (r.instances ? r.instances : 1);
            x->sum += value;
            x->min = fmin(x->min, min);
            x->max = fmax(x->max, max);
        }
        memcpy(each->v + each->count, rec.data + sizeof r, instances * sizeof *each->v);
        each->count += instances;
    }
    if (st == ROCL_OK && d.count)
        st = end_dispatch(s, &d, rows, err);
    free(d.items);
    return st;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static rocl_datum field_total_mean(const rocl_report_rows *r, const void *field)
{
    const stat_values *v = field;
    double mean = v->count ? rocl_sum_value(&v->total) / (double)v->count : NAN;
    return rocl_field_real(r, &mean);
}

static rocl_datum field_least(const rocl_report_rows *r, const void *field)
{
    const stat_values *v = field;
    double x = v->count ? v->min : NAN;
    return rocl_field_real(r, &x);
}

static rocl_datum field_most(const rocl_report_rows *r, const void *field)
{
    const stat_values *v = field;
    double x = v->count ? v->max : NAN;
    return rocl_field_real(r, &x);
}

#define IN_REST(row, field) ROCL_IN_REST, ROCL_CELL(row, field)
#define VALUE(fn)           ROCL_IN_REST, ROCL_CELL_BY(fn, derived_row, values)
#define DERIVED_RANK(row)   ROCL_IF_RANK, ROCL_CELL_BY(rocl_field_known, row, agent.rank)

static const rocl_column derived_columns[] = {
    {"counter", "Derived counter", ROCL_UNIT_TEXT, IN_REST(derived_row, name)},
    {"kernel", "Kernel", ROCL_UNIT_TEXT, ROCL_OTHERS, ROCL_CELL(derived_row, kernel)},
    {"architecture", "Architecture", ROCL_UNIT_TEXT, IN_REST(derived_row, arch)},
    {"agent", "Agent", ROCL_UNIT_TEXT, ROCL_IF_AGENT, ROCL_CELL(derived_row, agent)},
    {"rank", "Rank", ROCL_UNIT_COUNT, DERIVED_RANK(derived_row)},
    {"unit", "Unit", ROCL_UNIT_TEXT, IN_REST(derived_row, unit)},
    {"dispatches", "Dispatches", ROCL_UNIT_COUNT, IN_REST(derived_row, values.count)},
    {"overall", "Overall", ROCL_UNIT_NUMBER, ROCL_ALWAYS, ROCL_CELL(derived_row, overall)},
    {"mean", "Mean", ROCL_UNIT_NUMBER, VALUE(field_total_mean)},
    {"min", "Min", ROCL_UNIT_NUMBER, VALUE(field_least)},
    {"max", "Max", ROCL_UNIT_NUMBER, VALUE(field_most)},
    {"collected", "Collected", ROCL_UNIT_COUNT, IN_REST(derived_row, collected)},
    {"undefined", "Undefined", ROCL_UNIT_COUNT, IN_REST(derived_row, values.undefined)},
    {"differs", "Other in AMD's tools", ROCL_UNIT_TEXT, IN_REST(derived_row, differs)},
};

static const rocl_column dispatch_columns[] = {
    {"counter", "Derived counter", ROCL_UNIT_TEXT, ROCL_ALWAYS, ROCL_CELL(dispatch_row, name)},
    {"kernel", "Kernel", ROCL_UNIT_TEXT, ROCL_OTHERS, ROCL_CELL(dispatch_row, kernel)},
    {"architecture", "Architecture", ROCL_UNIT_TEXT, ROCL_ALWAYS, ROCL_CELL(dispatch_row, arch)},
    {"agent", "Agent", ROCL_UNIT_TEXT, ROCL_ALWAYS, ROCL_CELL(dispatch_row, agent)},
    {"rank", "Rank", ROCL_UNIT_COUNT, DERIVED_RANK(dispatch_row)},
    {"pid", "Process", ROCL_UNIT_COUNT, ROCL_ALWAYS, ROCL_CELL(dispatch_row, pid)},
    {"dispatch", "Dispatch", ROCL_UNIT_COUNT, ROCL_ALWAYS, ROCL_CELL(dispatch_row, dispatch)},
    {"unit", "Unit", ROCL_UNIT_TEXT, ROCL_ALWAYS, ROCL_CELL(dispatch_row, unit)},
    {"value", "Value", ROCL_UNIT_NUMBER, ROCL_ALWAYS, ROCL_CELL(dispatch_row, value)},
};

static const rocl_column missing_columns[] = {
    {"counter", "Derived counter", ROCL_UNIT_TEXT, ROCL_OTHERS, ROCL_CELL(missing_row, name)},
    {"architecture", "Architecture", ROCL_UNIT_TEXT, ROCL_ALWAYS, ROCL_CELL(missing_row, arch)},
    {"missing", "Missing", ROCL_UNIT_SENTENCE, ROCL_ALWAYS, ROCL_CELL(missing_row, missing)},
    {"expression", "Expression", ROCL_UNIT_SENTENCE, ROCL_ALWAYS,
     ROCL_CELL(missing_row, expression)},
};

const rocl_table_def rocl_derived_table = {ROCL_TAB(COUNTERS), "derived", "Derived counters",
                                           ROCL_COLUMNS(derived_columns)};
const rocl_table_def rocl_derived_dispatch_table = {ROCL_TAB(COUNTERS), "derived_dispatches",
                                                    "Derived counters of dispatches",
                                                    ROCL_COLUMNS(dispatch_columns)};
const rocl_table_def rocl_derived_missing_table = {ROCL_TAB(COUNTERS), "derived_missing",
                                                   "Derived counters that lack operands",
                                                   ROCL_COLUMNS(missing_columns)};

static const struct {
    unsigned bit;
    const char *word, *sentence;
} differences[] = {
    {ROCL_AMD_ASSOCIATES, "order of + and -", "a - b + c is computed as a - (b + c)"},
    {ROCL_AMD_SWAPS, "operands swapped", "c - X and c / X of several instances as X - c and X / c"},
    {ROCL_AMD_CUTS, "decimals cut", "decimals of constants are cut off"},
    {ROCL_AMD_ZERO, "division by zero", "a division by zero gives 0"},
};

enum { DIFFERENCES = sizeof differences / sizeof *differences };

/* The line above the table: in which derived counters AMD's tools differ, and why. */
static void note_differences(const derived *s, const rocl_report_rows *r)
{
    rocl_buf text = {0};
    for (size_t k = 0; k < DIFFERENCES; k++) {
        unsigned count = 0;
        for (size_t i = 0; i < s->profile_count; i++)
            for (size_t m = 0; m < s->profiles[i].metric_count; m++) {
                if (!(s->profiles[i].amd[m] & differences[k].bit))
                    continue;
                if (!count++)
                    rocl_buf_printf(&text, "%s%s: ", text.len ? "; " : "AMD's tools differ: ",
                                    differences[k].sentence);
                else if (count <= 4)
                    rocl_buf_str(&text, ", ");
                if (count <= 4)
                    rocl_buf_str(
                        &text, rocl_derive_name(s->definitions, s->profiles[i].metrics[m].symbol));
            }
        if (count > 4)
            rocl_buf_printf(&text, " and %u more", count - 4);
    }
    r->out->incomplete |= text.failed;
    if (r->table && text.len && !text.failed)
        r->table->note = rocl_tables_text(r->out, (const char *)text.data, text.len);
    rocl_buf_free(&text);
}

/* ---- rows by kernel -------------------------------------------------------------------------- */

static void merge_stats(stat_values *a, const stat_values *b)
{
    if (b->count && (!a->count || b->min < a->min))
        a->min = b->min;
    if (b->count && (!a->count || b->max > a->max))
        a->max = b->max;
    a->count += b->count;
    a->undefined += b->undefined;
    rocl_sum_add(&a->total, rocl_sum_value(&b->total));
}

static void merge_rows(void *into, const void *from)
{
    derived_row *a = into;
    const derived_row *b = from;
    merge_stats(&a->values, &b->values);
    a->collected += b->collected;
    a->differs = a->differs ? a->differs : b->differs;
}

static size_t find_in_plan(const plan *p, uint32_t metric)
{
    size_t low = 0, high = p->metric_count;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (p->metrics[mid] < metric)
            low = mid + 1;
        else
            high = mid;
    }
    return low < p->metric_count && p->metrics[low] == metric ? low : p->metric_count;
}

/* Were the same derived counters collected? Their sums cannot be combined with sums of their
 * operands. */
static bool same_collected(const rocl_derive_program *p, const plan *a, const plan *b)
{
    size_t i = 0, k = 0;
    for (;; i++, k++) {
        while (i < a->item_count && !rocl_derive_is_derived(p, a->items[i].symbol))
            i++;
        while (k < b->item_count && !rocl_derive_is_derived(p, b->items[k].symbol))
            k++;
        if (i == a->item_count || k == b->item_count)
            return i == a->item_count && k == b->item_count;
        if (a->items[i].symbol != b->items[k].symbol)
            return false;
    }
}

/* A derived counter in a group: false where no dispatch of it has its operands. */
static bool make_row(derived *s, uint32_t group, uint32_t metric, derived_row *row)
{
    group_key k;
    memcpy(&k, rocl_strings_get(s->groups, group, NULL), sizeof k);
    const profile *p = &s->profiles[k.profile];
    const plan *first = NULL;
    bool sums = true;
    *row = (derived_row){.kernel = k.kernel, .agent = k.agent, .arch = p->arch, .overall = NAN};
    row->name = rocl_derive_name(s->definitions, p->metrics[metric].symbol);
    row->unit = *p->metrics[metric].unit ? p->metrics[metric].unit : NULL;
    memset(s->operands, 0, rocl_derive_symbols(s->definitions) * sizeof *s->operands);
    for (uint32_t i = s->first_block[group]; i; i = s->blocks[i - 1].next) {
        const block *b = &s->blocks[i - 1];
        const plan *of = &s->plans[b->plan];
        const size_t at = find_in_plan(of, metric);
        if (at == of->metric_count)
            continue;
        merge_stats(&row->values, &b->stats[at]);
        row->collected += of->collected[at] ? b->stats[at].count : 0;
        for (size_t j = 0; j < of->item_count; j++) {
            rocl_operand *x = &s->operands[of->items[j].symbol];
            const uint32_t n = of->items[j].instances;
            x->instances = !x->known || x->instances == n ? n : 0;
            x->known = true;
            x->sum += rocl_sum_value(&b->operands[j].sum);
            x->min += rocl_sum_value(&b->operands[j].min);
            x->max += rocl_sum_value(&b->operands[j].max);
        }
        first = first ? first : of;
        sums = sums && same_collected(p->program, first, of);
    }
    if (first && sums && !row->collected) {
        rocl_derive_values(p->program, s->operands);
        const rocl_derived v = rocl_derive_value(p->program, metric);
        row->overall = v.state == ROCL_DERIVED_VALUE ? v.value : NAN;
    }
    return first;
}

static double sort_value(const derived_row *r, rocl_sort_by by)
{
    const double sum = rocl_sum_value(&r->values.total), n = (double)r->values.count;
    return by == ROCL_BY_TOTAL     ? sum
           : by == ROCL_BY_CALLS   ? n
           : by == ROCL_BY_AVERAGE ? (n > 0 ? sum / n : 0)
           : by == ROCL_BY_MAX     ? r->values.max
                                   : 0;
}

/* Values of different derived counters say nothing about each other: the order is within one. */
static int compare_rows(const void *a, const void *b, void *ctx)
{
    const derived *s = ctx;
    const derived_row *x = a, *y = b;
    int c = strcmp(x->name, y->name);
    if (!c)
        c = strcmp(x->arch, y->arch);
    const double v = sort_value(x, s->c.options->sort), w = sort_value(y, s->c.options->sort);
    if (!c)
        c = v < w ? 1 : v > w ? -1 : 0;
    if (!c)
        c = rocl_compare_texts(s->c.trace, x->kernel, y->kernel);
    return c ? c : rocl_compare_agents(&x->agent, &y->agent);
}

static rocl_status add_derived_rows(derived *s, rocl_tables *out, rocl_error *err)
{
    derived_row *rows = NULL, row;
    size_t n = 0, cap = 0, next;
    rocl_report_rows r = rocl_begin_table(&s->c, out, &rocl_derived_table, 0);
    note_differences(s, &r);
    for (uint32_t g = 1; g < rocl_strings_count(s->groups); g++) {
        group_key k;
        memcpy(&k, rocl_strings_get(s->groups, g, NULL), sizeof k);
        const profile *p = &s->profiles[k.profile];
        for (uint32_t m = 0; m < p->metric_count; m++) {
            if (!p->lacks[m].evaluated || !make_row(s, g, m, &row))
                continue;
            if (!ROCL_GROW(rows, cap, n + 1)) {
                free(rows);
                return rocl_fail_memory(err);
            }
            char text[128] = ""; /* "order of + and -, division by zero" */
            size_t len = 0;
            for (size_t i = 0; i < DIFFERENCES; i++)
                if (p->amd[m] & differences[i].bit)
                    len += (size_t)snprintf(text + len, sizeof text - len, "%s%s", len ? ", " : "",
                                            differences[i].word);
            row.differs = len ? rocl_tables_text(out, text, len) : NULL;
            rows[n++] = row;
        }
    }
    if (n)
        qsort_r(rows, n, sizeof *rows, compare_rows, s);
    for (size_t i = 0; i < n; i = next) {
        for (next = i + 1; next < n && !strcmp(rows[next].name, rows[i].name) &&
                           !strcmp(rows[next].arch, rows[i].arch);)
            next++;
        rocl_add_top_rows(&r, &rows[i], next - i, sizeof *rows, merge_rows);
    }
    free(rows);
    return ROCL_OK;
}

static int compare_missing(const void *a, const void *b)
{
    const missing_row *x = a, *y = b;
    int c = x->count < y->count ? -1 : x->count > y->count;
    if (!c)
        c = strcmp(x->name, y->name);
    return c ? c : strcmp(x->arch, y->arch);
}

static void ignore_row(void *sum, const void *row)
{
    (void)sum;
    (void)row;
}

static rocl_status add_missing_rows(derived *s, rocl_tables *out, rocl_error *err)
{
    missing_row *rows = NULL;
    size_t n = 0, cap = 0;
    rocl_report_rows r = rocl_begin_table(&s->c, out, &rocl_derived_missing_table, 0);
    for (size_t i = 0; i < s->profile_count; i++) {
        const profile *p = &s->profiles[i];
        for (size_t m = 0; m < p->metric_count && p->used; m++) {
            if (p->lacks[m].evaluated)
                continue;
            if (!ROCL_GROW(rows, cap, n + 1)) {
                free(rows);
                return rocl_fail_memory(err);
            }
            rows[n++] =
                (missing_row){rocl_derive_name(s->definitions, p->metrics[m].symbol), p->arch,
                              p->lacks[m].names, p->metrics[m].expression, p->lacks[m].count};
        }
    }
    if (n)
        qsort(rows, n, sizeof *rows, compare_missing);
    rocl_add_top_rows(&r, rows, n, sizeof *rows, ignore_row);
    free(rows);
    return ROCL_OK;
}

static rocl_status finish_derived(void *self, rocl_tables *out, rocl_error *err)
{
    derived *s = self;
    rocl_report_rows rows = {0};
    rocl_tables *dispatches = NULL;
    if (s->c.options->by_dispatch) {
        dispatches = rocl_tables_new();
        if (!dispatches)
            return rocl_fail_memory(err);
        rows = rocl_begin_table(&s->c, dispatches, &rocl_derived_dispatch_table, 0);
    }
    rocl_status st = evaluate_dispatches(s, dispatches ? &rows : NULL, err);
    if (st == ROCL_OK)
        st = add_derived_rows(s, out, err);
    if (st == ROCL_OK && dispatches && !rocl_tables_join(out, dispatches))
        st = rocl_fail_memory(err);
    rocl_tables_free(dispatches);
    if (st == ROCL_OK)
        st = add_missing_rows(s, out, err);
    for (size_t i = 0; i < s->profile_count && st == ROCL_OK; i++) {
        const profile *p = &s->profiles[i];
        if (p->used && !*p->arch)
            rocl_notice(s->c.trace, "derived counters: the architecture of a GPU is not known; "
                                    "--derive-arch names it");
        else if (p->used && !rocl_derive_has_definitions(p->program))
            rocl_notice(s->c.trace, "derived counters: no definitions for the architecture %s",
                        p->arch);
    }
    return st;
}

static void close_derived(void *self)
{
    derived *s = self;
    for (size_t i = 0; i < s->profile_count; i++) {
        rocl_derive_program_free(s->profiles[i].program);
        free(s->profiles[i].lacks);
        free(s->profiles[i].amd);
    }
    for (size_t i = 0; s->symbols && i < s->c.trace->capture_count; i++)
        free(s->symbols[i]);
    rocl_gpu_kinds_free(&s->gpus, s->c.trace);
    free(s->profiles);
    free(s->symbols);
    free(s->first_block);
    free(s->blocks);
    free(s->plans);
    free(s->operands);
    for (size_t i = 0; s->each && i < rocl_derive_symbols(s->definitions); i++)
        free(s->each[i].v);
    free(s->each);
    rocl_map_free(&s->blocks_by_key);
    rocl_strings_free(s->groups);
    rocl_arena_free(&s->arena);
    rocl_derive_free(s->definitions);
}

const rocl_collector_def rocl_derived_collector = {
    .tables = (const rocl_table_def *const[]){&rocl_derived_table, &rocl_derived_dispatch_table,
                                              &rocl_derived_missing_table, NULL},
    .kinds = ROCL_BIT(ROCL_COUNTER),
    .size = sizeof(derived),
    .with_derive = true,
    .open = open_derived,
    .add_batch = add_derived_batch,
    .finish = finish_derived,
    .close = close_derived,
};
