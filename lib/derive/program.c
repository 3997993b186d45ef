/* Evaluates the derived counters of one architecture.
 *
 * A value is one number, or one for each instance of a block. Of instances only their sum is always
 * known; their number, least and largest where the source of the operand had them, and each with
 * its place where that was stored. An operation that needs more than is known makes a value that
 * lacks its operand.
 *
 * What metrics have in common is evaluated once for each set of operands. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "derive/tree.h"

typedef enum value_state {
    VALUE_OK,
    VALUE_UNDEFINED, /* a division by zero */
    VALUE_LACKS,     /* an operand */
    VALUE_INSTANCES, /* the values of each instance of an operand */
    VALUE_DIMENSION, /* where in a dimension each instance of an operand is */
    VALUE_HARDWARE,  /* what only the hardware can do with an operand */
} value_state;

typedef struct value {
    uint8_t state, amd; /* amd: ROCL_AMD_SWAPS, ZERO: it happened */
    uint8_t dimension;  /* of VALUE_DIMENSION */
    bool range;         /* min and max are known */
    uint32_t instances; /* 1: a single number; 0: not known */
    uint32_t symbol;    /* an operand that it is made of; without a value: the missing one */
    double sum, min, max;
    const rocl_derive_instance *each; /* by place, each place once; NULL: not known */
} value;

typedef struct memo {
    uint64_t epoch;
    value v;
} memo;

struct rocl_derive_program {
    rocl_derive *d;
    uint32_t *definition; /* by symbol: index; ROCL_NONE */
    double *constant;     /* by symbol: NAN none */
    bool *single;         /* by symbol: a block of which there is one */
    uint32_t *metric_of;  /* by symbol: index of its metric; ROCL_NONE */
    memo (*memos)[2];     /* by symbol: by the mathematics, and AMD's way */
    uint64_t epoch, visit;
    uint64_t *visited;    /* by symbol */
    unsigned *may_differ; /* by metric: ROCL_AMD_ASSOCIATES, CUTS of all that it needs */
    rocl_metric *metrics;
    size_t symbols, metric_count;
    bool any;
    const rocl_operand *operands;
    rocl_arena scratch; /* of the operands at hand: instances of what is made of them */
};

/* ---- making one ------------------------------------------------------------------------------ */

/* Constants of rocprof, from the properties of agents. */
static const struct {
    const char *name, *above, *below, *instead;
} agent_constants[] = {{"MAX_WAVE_SIZE", "wave_front_size", NULL, NULL},
                       {"CU_NUM", "simd_count", "simd_per_cu", "cu_count"},
                       {"SIMD_NUM", "simd_count", NULL, NULL},
                       {"SE_NUM", "array_count", "simd_arrays_per_engine", "num_shader_banks"},
                       {"XCC_NUM", "num_xcc", NULL, NULL}};

static double constant_named(const rocl_derive_program *p, const char *name)
{
    uint32_t symbol = name ? rocl_derive_symbol(p->d, name, strlen(name)) : ROCL_NONE;
    return symbol < p->symbols ? p->constant[symbol] : NAN;
}

/* A GPU with one XCC has one of each of these blocks. GPUs of other architectures than these have
 * one XCC. */
static void find_single_blocks(rocl_derive_program *p, const char *arch)
{
    static const char *const blocks[] = {"GRBM", "CPC", "CPF"};
    static const char *const several[] = {"gfx94", "gfx95", "gfx125"};
    double count = constant_named(p, "num_xcc");
    if (isnan(count)) {
        count = 1;
        for (size_t i = 0; i < sizeof several / sizeof *several; i++)
            if (!strncmp(arch, several[i], strlen(several[i])))
                count = 0;
    }
    for (size_t s = 0; s < p->symbols && count == 1; s++)
        for (size_t i = 0; i < sizeof blocks / sizeof *blocks && p->definition[s] != ROCL_NONE; i++)
            p->single[s] |= !strcmp(
                rocl_derive_name(p->d, p->d->definitions[p->definition[s]].block), blocks[i]);
}

static const derive_expression *expression_of(const rocl_derive_program *p, uint32_t symbol)
{
    uint32_t def = symbol < p->symbols ? p->definition[symbol] : ROCL_NONE;
    uint32_t e = def == ROCL_NONE ? ROCL_NONE : p->d->definitions[def].expression;
    return e == ROCL_NONE ? NULL : &p->d->expressions[e];
}

typedef struct chain { /* of metrics, each needed by the one before */
    uint32_t symbols[DERIVE_NESTED_MAX];
    unsigned depth;
    rocl_error *err;
} chain;

/* Beside the ROCL_AMD_*: it depends on a counter. */
enum { OF_COUNTERS = 1 << 8 };

static rocl_status check_metric(rocl_derive_program *p, uint32_t symbol, chain *c, unsigned *amd);

static rocl_status check_node(rocl_derive_program *p, uint32_t at, chain *c, unsigned *amd)
{
    const derive_node *n = &p->d->nodes[at];
    rocl_status st = ROCL_OK;
    if (n->kind == DERIVE_FOLD || n->kind == DERIVE_ACCUMULATE)
        *amd |= OF_COUNTERS;
    if (n->kind == DERIVE_NAME || n->kind == DERIVE_FOLD)
        st = check_metric(p, n->symbol, c, amd);
    for (uint32_t i = n->first; i && st == ROCL_OK; i = p->d->nodes[i].next)
        st = check_node(p, i, c, amd);
    return st;
}

/* Finds circles, and adds what may differ to *amd, and OF_COUNTERS. */
static rocl_status check_metric(rocl_derive_program *p, uint32_t symbol, chain *c, unsigned *amd)
{
    const derive_expression *e = expression_of(p, symbol);
    if (!e && isnan(p->constant[symbol]))
        *amd |= OF_COUNTERS;
    if (!e)
        return ROCL_OK;
    if (p->visited[symbol] == p->visit) { /* done */
        *amd |= p->may_differ[p->metric_of[symbol]];
        return ROCL_OK;
    }
    unsigned at = 0;
    while (at < c->depth && c->symbols[at] != symbol)
        at++;
    if (at < c->depth) {
        rocl_buf text = {0};
        for (; at < c->depth; at++)
            rocl_buf_printf(&text, "%s -> ", rocl_derive_name(p->d, c->symbols[at]));
        rocl_buf_byte(&text, 0);
        rocl_status st =
            text.failed ? rocl_fail_memory(c->err)
                        : rocl_fail(c->err, ROCL_INPUT, "a derived counter depends on itself: %s%s",
                                    (char *)text.data, rocl_derive_name(p->d, symbol));
        rocl_buf_free(&text);
        return st;
    }
    if (c->depth == DERIVE_NESTED_MAX)
        return rocl_fail(c->err, ROCL_INPUT, "derived counters depend on each other too deeply: %s",
                         rocl_derive_name(p->d, symbol));
    unsigned own = e->amd;
    c->symbols[c->depth++] = symbol;
    rocl_status st = check_node(p, e->root, c, &own);
    c->depth--;
    p->visited[symbol] = p->visit;
    p->may_differ[p->metric_of[symbol]] = own;
    *amd |= own;
    return st;
}

static int compare_metrics(const void *a, const void *b, void *ctx)
{
    const rocl_metric *x = a, *y = b;
    return strcmp(rocl_derive_name(ctx, x->symbol), rocl_derive_name(ctx, y->symbol));
}

static rocl_status collect_metrics(rocl_derive_program *p, rocl_error *err)
{
    rocl_derive *d = p->d;
    size_t cap = 0;
    for (uint32_t s = 0; s < p->symbols; s++) {
        const derive_expression *e = expression_of(p, s);
        if (!e)
            continue;
        if (!ROCL_GROW(p->metrics, cap, p->metric_count + 1))
            return rocl_fail_memory(err);
        p->metrics[p->metric_count++] =
            (rocl_metric){s, d->definitions[p->definition[s]].unit, e->text};
    }
    if (p->metric_count)
        qsort_r(p->metrics, p->metric_count, sizeof *p->metrics, compare_metrics, d);
    for (size_t i = 0; i < p->metric_count; i++)
        p->metric_of[p->metrics[i].symbol] = (uint32_t)i;
    p->may_differ = calloc(p->metric_count + 1, sizeof *p->may_differ);
    if (!p->may_differ)
        return rocl_fail_memory(err);
    chain c = {.err = err};
    rocl_status st = ROCL_OK;
    p->visit++;
    for (size_t i = 0; i < p->metric_count && st == ROCL_OK; i++) {
        unsigned amd = 0;
        st = check_metric(p, p->metrics[i].symbol, &c, &amd);
    }
    /* What depends on constants only, such as CU_NUM, is an operand, and no result. */
    size_t n = 0;
    for (size_t i = 0; i < p->metric_count && st == ROCL_OK; i++)
        if (p->may_differ[i] & OF_COUNTERS) {
            p->metrics[n] = p->metrics[i];
            p->may_differ[n++] = p->may_differ[i] & ~(unsigned)OF_COUNTERS;
        }
    p->metric_count = n;
    return st;
}

rocl_status rocl_derive_program_new(rocl_derive_program **to, rocl_derive *d, const char *arch,
                                    const rocl_constant *constants, size_t count, rocl_error *err)
{
    rocl_derive_program *p = *to = calloc(1, sizeof *p);
    /* What constants are made of; nothing else needs symbols of its own from here on. */
    for (size_t i = 0; i < sizeof agent_constants / sizeof *agent_constants; i++) {
        const char *names[] = {agent_constants[i].name, agent_constants[i].above,
                               agent_constants[i].below, agent_constants[i].instead};
        for (unsigned k = 0; k < 4; k++)
            if (names[k] && rocl_derive_symbol(d, names[k], strlen(names[k])) == ROCL_NONE)
                return rocl_fail_memory(err);
    }
    uint32_t of = rocl_derive_symbol(d, arch, strlen(arch));
    if (!p || of == ROCL_NONE)
        return rocl_fail_memory(err);
    p->d = d;
    p->symbols = rocl_derive_symbols(d);
    p->definition = malloc(p->symbols * sizeof *p->definition);
    p->metric_of = malloc(p->symbols * sizeof *p->metric_of);
    p->constant = malloc(p->symbols * sizeof *p->constant);
    p->single = calloc(p->symbols, sizeof *p->single);
    p->memos = calloc(p->symbols, sizeof *p->memos);
    p->visited = calloc(p->symbols, sizeof *p->visited);
    if (!p->definition || !p->metric_of || !p->constant || !p->single || !p->memos || !p->visited)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < p->symbols; i++) {
        p->definition[i] = p->metric_of[i] = ROCL_NONE;
        p->constant[i] = NAN;
    }
    for (size_t i = 0; i < d->definition_count; i++) {
        const derive_definition *def = &d->definitions[i];
        if (def->arch != 0 && def->arch != of)
            continue;
        p->definition[def->name] = (uint32_t)i;
        p->any = true;
    }
    for (size_t i = 0; i < count; i++)
        if (constants[i].symbol < p->symbols)
            p->constant[constants[i].symbol] = constants[i].value;
    /* Constants that are made of the properties of the agent. */
    for (size_t i = 0; i < sizeof agent_constants / sizeof *agent_constants; i++) {
        const char *name = agent_constants[i].name;
        uint32_t symbol = rocl_derive_symbol(p->d, name, strlen(name));
        double v = constant_named(p, agent_constants[i].above);
        if (agent_constants[i].below)
            v /= constant_named(p, agent_constants[i].below);
        if (!isfinite(v))
            v = constant_named(p, agent_constants[i].instead);
        if (symbol < p->symbols && isnan(p->constant[symbol]) && isfinite(v))
            p->constant[symbol] = v;
    }
    find_single_blocks(p, arch);
    return collect_metrics(p, err);
}

void rocl_derive_program_free(rocl_derive_program *p)
{
    if (!p)
        return;
    free(p->definition);
    free(p->metric_of);
    free(p->constant);
    free(p->single);
    free(p->memos);
    free(p->visited);
    free(p->may_differ);
    free(p->metrics);
    rocl_arena_free(&p->scratch);
    free(p);
}

const rocl_metric *rocl_derive_metrics(const rocl_derive_program *p, size_t *count)
{
    *count = p->metric_count;
    return p->metrics;
}

bool rocl_derive_is_derived(const rocl_derive_program *p, uint32_t symbol)
{
    return expression_of(p, symbol);
}

bool rocl_derive_has_definitions(const rocl_derive_program *p)
{
    return p->any;
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

static value single_value(double v)
{
    return (value){.range = true, .instances = 1, .sum = v, .min = v, .max = v};
}

static value failed_value(value_state state, uint32_t symbol)
{
    return (value){.state = (uint8_t)state, .symbol = symbol};
}

static double apply_op(double a, char op, double b)
{
    return op == '+' ? a + b : op == '-' ? a - b : op == '*' ? a * b : a / b;
}

/* One of them is a single number. */
static value join_with_single(const value *a, char op, const value *b)
{
    const bool left = a->instances == 1; /* the single one */
    const value *many = left ? b : a;
    const double x = left ? a->sum : b->sum;
    value r = *many;
    if (op == '/' && left && many->instances != 1)
        return failed_value(VALUE_INSTANCES, many->symbol);
    if ((op == '+' || op == '-') && many->instances == 0)
        return failed_value(VALUE_INSTANCES, many->symbol);
    /* The single number counts for each instance. */
    const double all = op == '+' || op == '-' ? x * many->instances : x;
    r.sum = left ? apply_op(all, op, many->sum) : apply_op(many->sum, op, all);
    r.min = left ? apply_op(x, op, many->min) : apply_op(many->min, op, x);
    r.max = left ? apply_op(x, op, many->max) : apply_op(many->max, op, x);
    if (r.min > r.max) {
        const double least = r.max;
        r.max = r.min;
        r.min = least;
    }
    if (left && op == '-' && many->instances > 1)
        r.amd |= ROCL_AMD_SWAPS;
    return r;
}

/* ---- each instance ---- */

int rocl_derive_compare_places(const void *a, const void *b)
{
    const rocl_derive_instance *x = a, *y = b;
    for (unsigned i = 0; i < ROCL_DERIVE_PLACES; i++)
        if (x->place[i] != y->place[i])
            return x->place[i] < y->place[i] ? -1 : 1;
    return 0;
}

static bool same_places(const value *a, const value *b)
{
    if (!a->each || !b->each || a->instances != b->instances)
        return false;
    for (uint32_t i = 0; i < a->instances; i++)
        if (rocl_derive_compare_places(&a->each[i], &b->each[i]) != 0)
            return false;
    return true;
}

/* The value that these instances are. */
static value value_of_each(const rocl_derive_instance *each, uint32_t n, uint32_t symbol)
{
    value v = single_value(each[0].value);
    v.instances = n;
    v.symbol = symbol;
    v.each = n > 1 ? each : NULL;
    for (uint32_t i = 1; i < n; i++) {
        v.sum += each[i].value;
        v.min = fmin(v.min, each[i].value);
        v.max = fmax(v.max, each[i].value);
    }
    return v;
}

static rocl_derive_instance *new_instances(rocl_derive_program *p, uint32_t n)
{
    return rocl_arena_alloc(&p->scratch, n * sizeof(rocl_derive_instance));
}

/* Both have the same instances, or one is a single number. */
static value join_each(rocl_derive_program *p, const value *a, char op, const value *b)
{
    const value *many = a->each ? a : b;
    rocl_derive_instance *to = new_instances(p, many->instances);
    if (!to)
        return failed_value(VALUE_INSTANCES, many->symbol);
    for (uint32_t i = 0; i < many->instances; i++) {
        const double x = a->each ? a->each[i].value : a->sum;
        const double y = b->each ? b->each[i].value : b->sum;
        if (op == '/' && y == 0) {
            value none = failed_value(VALUE_UNDEFINED, 0);
            none.amd = ROCL_AMD_ZERO;
            return none;
        }
        to[i] = many->each[i];
        to[i].value = apply_op(x, op, y);
    }
    value r = value_of_each(to, many->instances, many->symbol);
    if (!a->each && (op == '-' || op == '/'))
        r.amd |= ROCL_AMD_SWAPS;
    return r;
}

/* ---- both ---- */

static value join_values(rocl_derive_program *p, const value *a, char op, const value *b)
{
    value r;
    if (a->state > VALUE_UNDEFINED || (b->state <= VALUE_UNDEFINED && a->state))
        return *a;
    if (b->state)
        return *b;
    if (op == '/' && b->instances == 1 && b->sum == 0) {
        r = failed_value(VALUE_UNDEFINED, 0);
        r.amd = ROCL_AMD_ZERO;
        return r;
    }
    if ((a->each && b->instances == 1) || (b->each && a->instances == 1) || same_places(a, b)) {
        r = join_each(p, a, op, b);
    } else if (a->instances == 1 || b->instances == 1) {
        r = join_with_single(a, op, b);
    } else {
        if (op == '*' || op == '/' ||
            (a->instances && b->instances && a->instances != b->instances))
            return failed_value(VALUE_INSTANCES, b->symbol);
        r = (value){.instances = a->instances && b->instances ? a->instances : 0,
                    .symbol = a->symbol,
                    .sum = apply_op(a->sum, op, b->sum)};
    }
    r.amd |= a->amd | b->amd;
    return r;
}

/* ---- evaluation ------------------------------------------------------------------------------ */

typedef struct run {
    rocl_derive_program *p;
    const derive_grammar *grammar;
    bool amd;
} run;

static value evaluate_node(const run *r, uint32_t at);

static bool is_operand(const rocl_derive_program *p, uint32_t symbol)
{
    return symbol < p->symbols && p->operands[symbol].known;
}

static value evaluate_name(const run *r, uint32_t symbol)
{
    rocl_derive_program *p = r->p;
    const derive_expression *e = expression_of(p, symbol);
    value v;
    if (is_operand(p, symbol)) {
        const rocl_operand *o = &p->operands[symbol];
        v = !o->instances && (p->single[symbol] || e)
                ? single_value(o->sum)
                : (value){.range = o->instances > 0,
                          .instances = o->instances,
                          .symbol = symbol,
                          .sum = o->sum,
                          .min = o->min,
                          .max = o->max,
                          .each = o->instances > 1 ? o->each : NULL};
    } else if (e) {
        memo *m = &p->memos[symbol][r->amd];
        if (m->epoch != p->epoch) {
            const run inner = {p, e->grammar, r->amd};
            m->v = evaluate_node(&inner, e->root);
            m->epoch = p->epoch;
        }
        v = m->v;
    } else if (symbol < p->symbols && !isnan(p->constant[symbol])) {
        v = single_value(p->constant[symbol]);
    } else {
        return failed_value(VALUE_LACKS, symbol);
    }
    if (r->grammar->names_are_sums && v.state == VALUE_OK && v.instances != 1) {
        unsigned amd = v.amd;
        v = single_value(v.sum);
        v.amd = (uint8_t)amd;
    }
    return v;
}

static value evaluate_chain(const run *r, const derive_node *n)
{
    const derive_node *nodes = r->p->d->nodes;
    value v = evaluate_node(r, n->first);
    bool minus = false;
    for (uint32_t i = nodes[n->first].next; i; i = nodes[i].next) {
        char op = nodes[i].op;
        const value next = evaluate_node(r, i);
        if (r->amd && r->grammar->right_to_left && n->kind == DERIVE_SUM) {
            minus ^= op == '-'; /* a - (b + (c - d)) = a - b - c + d */
            op = minus ? '-' : '+';
        }
        v = join_values(r->p, &v, op, &next);
    }
    return v;
}

/* x over its instances. */
static value fold_value(value v, derive_fold fold, double instances)
{
    value r = v;
    switch (fold) {
    case DERIVE_FOLD_SUM:
        r = single_value(v.sum);
        break;
    case DERIVE_FOLD_AVR:
        r = instances > 0 ? single_value(v.sum / instances)
                          : failed_value(VALUE_INSTANCES, v.symbol);
        break;
    case DERIVE_FOLD_MIN:
    case DERIVE_FOLD_MAX:
        r = v.range ? single_value(fold == DERIVE_FOLD_MIN ? v.min : v.max)
                    : failed_value(VALUE_INSTANCES, v.symbol);
        break;
    }
    r.amd |= v.amd;
    return r;
}

/* Is it known where in a dimension each instance is? */
static bool has_dimension(const value *v, unsigned dimension)
{
    bool has = v->each && dimension < ROCL_DERIVE_PLACES;
    for (uint32_t i = 0; has && i < v->instances; i++)
        has = v->each[i].place[dimension] >= 0;
    return has;
}

static value lack_dimension(const value *v, unsigned dimension)
{
    value r = failed_value(VALUE_DIMENSION, v->symbol);
    r.dimension = (uint8_t)dimension;
    return r;
}

/* Some dimensions are folded away: what agrees in the others is one instance. */
static value reduce_dimensions(rocl_derive_program *p, const value *v, const derive_node *n)
{
    rocl_derive_instance *to = new_instances(p, v->instances);
    uint32_t count = 0, of = 0;
    if (!to)
        return failed_value(VALUE_INSTANCES, v->symbol);
    memcpy(to, v->each, v->instances * sizeof *to);
    for (uint32_t i = 0; i < v->instances; i++)
        for (unsigned d = 0; d < ROCL_DERIVE_PLACES; d++)
            to[i].place[d] = n->dimensions >> d & 1 ? -1 : to[i].place[d];
    qsort(to, v->instances, sizeof *to, rocl_derive_compare_places);
    for (uint32_t i = 0; i < v->instances; i += of) {
        for (of = 1; i + of < v->instances && !rocl_derive_compare_places(&to[i], &to[i + of]);)
            of++;
        const value group = value_of_each(&to[i], of, v->symbol);
        to[count] = to[i];
        to[count++].value = fold_value(group, (derive_fold)n->fold, of).sum;
    }
    value r = value_of_each(to, count, v->symbol);
    r.amd |= v->amd;
    return r;
}

static value evaluate_reduce(const run *r, const derive_node *n)
{
    value v = evaluate_node(r, n->first);
    if (v.state != VALUE_OK || v.instances == 1)
        return v;
    if (!n->dimensions)
        return fold_value(v, (derive_fold)n->fold, v.instances);
    for (unsigned d = 0; d < ROCL_DERIVE_DIMENSIONS; d++) {
        if (!(n->dimensions >> d & 1) || has_dimension(&v, d))
            continue;
        if (n->fold != DERIVE_FOLD_SUM)
            return lack_dimension(&v, d);
        v.instances = 0; /* their sum is still the same */
        v.range = false;
        v.each = NULL;
        return v;
    }
    return reduce_dimensions(r->p, &v, n);
}

static value evaluate_select(const run *r, const derive_node *n)
{
    const value v = evaluate_node(r, n->first);
    const uint32_t *picks = r->p->d->items + n->items;
    if (v.state != VALUE_OK)
        return v;
    for (uint32_t k = 0; k < n->count; k++)
        if (!has_dimension(&v, picks[k * DERIVE_PICK_WORDS + DERIVE_PICK_DIMENSION]))
            return lack_dimension(&v, picks[k * DERIVE_PICK_WORDS + DERIVE_PICK_DIMENSION]);
    rocl_derive_instance *to = new_instances(r->p, v.instances);
    uint32_t count = 0;
    if (!to)
        return failed_value(VALUE_INSTANCES, v.symbol);
    for (uint32_t i = 0; i < v.instances; i++) {
        bool picked = true;
        for (uint32_t k = 0; k < n->count && picked; k++) {
            const uint32_t *pick = picks + k * DERIVE_PICK_WORDS;
            const uint32_t at = (uint32_t)v.each[i].place[pick[DERIVE_PICK_DIMENSION]];
            picked = at >= pick[DERIVE_PICK_FROM] && at <= pick[DERIVE_PICK_TO];
        }
        if (picked)
            to[count++] = v.each[i];
    }
    if (!count)
        return failed_value(VALUE_UNDEFINED, 0);
    value picked = value_of_each(to, count, v.symbol);
    picked.amd |= v.amd;
    return picked;
}

/* sum(X,N): of X[0] to X[N-1], or of X, whose instances they are. */
static value evaluate_fold(const run *r, const derive_node *n)
{
    rocl_derive_program *p = r->p;
    const uint32_t *items = p->d->items + n->items;
    value v = {.range = true,
               .instances = n->count,
               .symbol = n->symbol,
               .min = INFINITY,
               .max = -INFINITY};
    uint32_t i = 0;
    for (; i < n->count && is_operand(p, items[i]); i++) {
        const double x = p->operands[items[i]].sum;
        v.sum += x;
        v.min = fmin(v.min, x);
        v.max = fmax(v.max, x);
    }
    if (i < n->count) {
        const run plain = {p, &derive_rocprofv3, r->amd};
        v = evaluate_name(&plain, n->symbol);
    }
    const double instances = v.instances > 1 ? v.instances : n->count;
    return v.state == VALUE_OK ? fold_value(v, (derive_fold)n->fold, instances) : v;
}

static value evaluate_node(const run *r, uint32_t at)
{
    const derive_node *n = &r->p->d->nodes[at];
    switch ((derive_node_kind)n->kind) {
    case DERIVE_NUMBER:
        return single_value(r->amd ? n->amd_number : n->number);
    case DERIVE_NAME:
        return evaluate_name(r, n->symbol);
    case DERIVE_SUM:
    case DERIVE_PRODUCT:
        return evaluate_chain(r, n);
    case DERIVE_REDUCE:
        return evaluate_reduce(r, n);
    case DERIVE_FOLD:
        return evaluate_fold(r, n);
    case DERIVE_SELECT:
        return evaluate_select(r, n);
    case DERIVE_ACCUMULATE:
        return failed_value(VALUE_HARDWARE, n->symbol);
    }
    return failed_value(VALUE_LACKS, 0);
}

void rocl_derive_values(rocl_derive_program *p, const rocl_operand *by_symbol)
{
    p->operands = by_symbol;
    rocl_arena_free(&p->scratch); /* what memos refer to */
    p->epoch++;
}

rocl_derived rocl_derive_value(rocl_derive_program *p, size_t metric)
{
    run r = {.p = p, .grammar = &derive_rocprofv3};
    const uint32_t symbol = p->metrics[metric].symbol;
    value v = evaluate_name(&r, symbol);
    rocl_derived to = {.state = ROCL_DERIVED_VALUE, .value = v.sum, .amd = v.amd};
    if (v.state == VALUE_UNDEFINED || (v.state == VALUE_OK && !isfinite(v.sum)))
        to.state = ROCL_DERIVED_UNDEFINED;
    else if (v.state != VALUE_OK)
        to.state = ROCL_DERIVED_MISSING;
    else if (p->may_differ[metric] && !is_operand(p, symbol)) {
        r.amd = true;
        const value other = evaluate_name(&r, symbol);
        const double scale = fmax(fabs(other.sum), fabs(v.sum));
        if (other.state != VALUE_OK || fabs(other.sum - v.sum) > 1e-9 * scale)
            to.amd |= p->may_differ[metric];
    }
    return to;
}

/* ---- what is missing ------------------------------------------------------------------------- */

static void add_missing(rocl_buf *to, unsigned *count, const char *format, const char *name)
{
    if ((*count)++)
        rocl_buf_str(to, ", ");
    rocl_buf_printf(to, format, name);
}

static void list_missing(rocl_derive_program *p, uint32_t symbol, rocl_buf *to, unsigned *count);

static void list_missing_of_node(rocl_derive_program *p, uint32_t at, rocl_buf *to, unsigned *count)
{
    const derive_node *n = &p->d->nodes[at];
    uint32_t i = 0;
    while (n->kind == DERIVE_FOLD && i < n->count && is_operand(p, p->d->items[n->items + i]))
        i++;
    if (n->kind == DERIVE_NAME || (n->kind == DERIVE_FOLD && i < n->count))
        list_missing(p, n->symbol, to, count);
    if (n->kind == DERIVE_ACCUMULATE)
        add_missing(to, count, "accumulate(%s), which only the hardware can do",
                    rocl_derive_name(p->d, n->symbol));
    for (i = n->first; i; i = p->d->nodes[i].next)
        list_missing_of_node(p, i, to, count);
}

static void list_missing(rocl_derive_program *p, uint32_t symbol, rocl_buf *to, unsigned *count)
{
    const derive_expression *e = expression_of(p, symbol);
    if (is_operand(p, symbol) || p->visited[symbol] == p->visit)
        return;
    p->visited[symbol] = p->visit;
    if (e)
        list_missing_of_node(p, e->root, to, count);
    else if (isnan(p->constant[symbol]))
        add_missing(to, count, "%s", rocl_derive_name(p->d, symbol));
}

unsigned rocl_derive_missing(rocl_derive_program *p, size_t metric, rocl_buf *text)
{
    unsigned count = 0;
    const uint32_t symbol = p->metrics[metric].symbol;
    p->visit++;
    list_missing(p, symbol, text, &count);
    const run r = {.p = p, .grammar = &derive_rocprofv3};
    value v = evaluate_name(&r, symbol);
    if (!count && v.state == VALUE_INSTANCES)
        add_missing(text, &count, "each instance of %s", rocl_derive_name(p->d, v.symbol));
    if (!count && v.state == VALUE_DIMENSION) {
        char format[64];
        snprintf(format, sizeof format, "%s of each instance of %%s",
                 derive_dimension_names[v.dimension]);
        add_missing(text, &count, format, rocl_derive_name(p->d, v.symbol));
    }
    return count;
}
