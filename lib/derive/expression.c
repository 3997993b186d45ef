/* Expressions of derived counters, in both grammars.
 *
 *     sum     := product {('+' | '-') product}
 *     product := factor {('*' | '/') factor}
 *     factor  := '(' sum ')' | NUMBER | NAME | call
 *     call    := ('sum' | 'avr' | 'min' | 'max') '(' NAME ',' N ')'                      rocprof
 *              | 'reduce' '(' sum ',' FOLD [',' '[' DIM {',' DIM} ']'] ')'             rocprofv3
 *              | 'select' '(' sum ',' '[' DIM '=' '[' N [':' N] ']' {',' ...} ']' ')'
 *              | 'accumulate' '(' NAME ',' ('NONE' | 'LOW_RES' | 'HIGH_RES') ')'
 *
 * The words of calls are names like others where no parenthesis follows. Blanks separate words. */
#include <stdlib.h>

#include "derive/tree.h"

const derive_grammar derive_rocprof = {
    .right_to_left = true, .names_are_sums = true, .calls_by_count = true};
const derive_grammar derive_rocprofv3 = {.decimals = true, .comments = true};

enum { ITEMS_MAX = 1024 }; /* instances of a block that a call may name */

typedef struct parser {
    rocl_derive *d;
    const derive_grammar *g;
    const char *at, *end, *begin;
    unsigned depth, amd;
    rocl_error *err;
    rocl_status st; /* of the first failure */
} parser;

static const struct {
    const char *name;
    derive_fold fold;
} folds[] = {{"sum", DERIVE_FOLD_SUM},
             {"avr", DERIVE_FOLD_AVR},
             {"min", DERIVE_FOLD_MIN},
             {"max", DERIVE_FOLD_MAX}};

static uint32_t fail_parse(parser *p, const char *what)
{
    if (p->st == ROCL_OK)
        p->st = rocl_fail(p->err, ROCL_INPUT, "expression \"%.*s\": column %zu: %s",
                          (int)(p->end - p->begin < 200 ? p->end - p->begin : 200), p->begin,
                          (size_t)(p->at - p->begin) + 1, what);
    return 0;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name(char c)
{
    return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The next character other than blanks, 0 at the end. */
static char peek_char(parser *p)
{
    for (;;) {
        while (p->at < p->end && derive_is_blank(*p->at))
            p->at++;
        if (!p->g->comments || p->end - p->at < 2 || p->at[0] != '/' || p->at[1] != '/')
            return p->at < p->end ? *p->at : '\0';
        while (p->at < p->end && *p->at != '\n')
            p->at++;
    }
}

static bool skip_char(parser *p, char c)
{
    bool is = peek_char(p) == c && p->at < p->end;
    p->at += is;
    return is;
}

static bool expect_char(parser *p, char c)
{
    if (p->st == ROCL_OK && skip_char(p, c))
        return true;
    char what[] = "\"?\" is expected here";
    what[1] = c;
    fail_parse(p, what);
    return false;
}

static rocl_view read_word(parser *p)
{
    peek_char(p);
    const char *from = p->at;
    while (p->at < p->end && is_name(*p->at))
        p->at++;
    return rocl_view_between(from, p->at);
}

static uint32_t add_node(parser *p, const derive_node *n)
{
    rocl_derive *d = p->d;
    if (p->st != ROCL_OK || !ROCL_GROW(d->nodes, d->node_cap, d->node_count + 1)) {
        p->st = p->st == ROCL_OK ? rocl_fail_memory(p->err) : p->st;
        return 0;
    }
    d->nodes[d->node_count] = *n;
    return (uint32_t)d->node_count++;
}

static uint32_t name_symbol(parser *p, rocl_view name)
{
    uint32_t symbol = rocl_derive_symbol(p->d, name.p, name.n);
    if (symbol == ROCL_NONE && p->st == ROCL_OK)
        p->st = rocl_fail_memory(p->err);
    return symbol;
}

static uint32_t parse_number(parser *p)
{
    char text[64];
    const char *from = p->at;
    while (p->at < p->end && is_digit(*p->at))
        p->at++;
    bool whole = true;
    if (p->g->decimals) {
        if (p->at < p->end && *p->at == '.')
            for (whole = false, p->at++; p->at < p->end && is_digit(*p->at);)
                p->at++;
        const char *e = p->at;
        if (e < p->end && (*e == 'e' || *e == 'E')) {
            e += e + 1 < p->end && (e[1] == '-' || e[1] == '+') ? 2 : 1;
            if (e < p->end && is_digit(*e)) {
                for (whole = false; e < p->end && is_digit(*e);)
                    e++;
                p->at = e;
            }
        }
    }
    size_t n = (size_t)(p->at - from);
    if (n >= sizeof text)
        return fail_parse(p, "a number is too long");
    if (p->at < p->end && (is_name(*p->at) || *p->at == '.'))
        return fail_parse(p, p->g->decimals ? "no number" : "numbers are integers here");
    memcpy(text, from, n);
    text[n] = '\0';
    derive_node node = {.kind = DERIVE_NUMBER, .number = strtod(text, NULL)};
    node.amd_number = whole ? node.number : (double)strtol(text, NULL, 10);
    p->amd |= node.amd_number == node.number ? 0u : (unsigned)ROCL_AMD_CUTS;
    return add_node(p, &node);
}

static uint32_t parse_sum(parser *p);

/* NAME ',' */
static bool parse_counter(parser *p, rocl_view *name, uint32_t *symbol)
{
    *name = read_word(p);
    if (!name->n || is_digit(name->p[0]))
        return fail_parse(p, "the name of a counter is expected here");
    *symbol = name_symbol(p, *name);
    return expect_char(p, ',');
}

/* NAME ',' N ')' */
static uint32_t parse_fold(parser *p, derive_fold fold)
{
    rocl_derive *d = p->d;
    derive_node n = {.kind = DERIVE_FOLD, .fold = (uint8_t)fold};
    rocl_view name;
    if (!parse_counter(p, &name, &n.symbol))
        return 0;
    rocl_view digits = read_word(p);
    for (size_t i = 0; i < digits.n; i++)
        n.count = !is_digit(digits.p[i]) || n.count > ITEMS_MAX
                      ? ITEMS_MAX + 1
                      : n.count * 10 + (uint32_t)(digits.p[i] - '0');
    if (!n.count || n.count > ITEMS_MAX)
        return fail_parse(p, "a number of instances is expected here, 1024 at most");
    n.items = (uint32_t)d->item_count;
    if (!ROCL_GROW(d->items, d->item_cap, d->item_count + n.count)) {
        p->st = rocl_fail_memory(p->err);
        return 0;
    }
    rocl_buf item = {0};
    for (uint32_t i = 0; i < n.count && p->st == ROCL_OK; i++) {
        item.len = 0;
        rocl_buf_printf(&item, "%.*s[%u]", (int)name.n, name.p, i);
        if (item.failed)
            p->st = rocl_fail_memory(p->err);
        else
            d->items[d->item_count++] = name_symbol(p, (rocl_view){(char *)item.data, item.len});
    }
    rocl_buf_free(&item);
    return expect_char(p, ')') ? add_node(p, &n) : 0;
}

const char *const derive_dimension_names[ROCL_DERIVE_DIMENSIONS] = {
    [ROCL_DERIVE_XCC] = "DIMENSION_XCC",
    [ROCL_DERIVE_SHADER_ENGINE] = "DIMENSION_SHADER_ENGINE",
    [ROCL_DERIVE_INSTANCE] = "DIMENSION_INSTANCE",
    [ROCL_DERIVE_SHADER_ARRAY] = "DIMENSION_SHADER_ARRAY",
    [ROCL_DERIVE_WGP] = "DIMENSION_WGP",
    [ROCL_DERIVE_AID] = "DIMENSION_AID",
    [ROCL_DERIVE_AGENT] = "DIMENSION_AGENT"};

static uint32_t parse_dimension(parser *p)
{
    rocl_view name = read_word(p);
    for (uint32_t i = 0; i < ROCL_DERIVE_DIMENSIONS; i++)
        if (rocl_view_is(name, derive_dimension_names[i]))
            return i;
    p->at = name.p;
    return fail_parse(p, "the name of a dimension is expected here, such as DIMENSION_XCC");
}

static uint32_t parse_place(parser *p)
{
    rocl_view digits = read_word(p);
    uint32_t n = 0;
    for (size_t i = 0; i < digits.n; i++) {
        if (!is_digit(digits.p[i]) || n > INT32_MAX / 10 - 1)
            return fail_parse(p, "a number is expected here");
        n = n * 10 + (uint32_t)(digits.p[i] - '0');
    }
    return digits.n ? n : fail_parse(p, "a number is expected here");
}

/* sum ',' FOLD [',' '[' DIMENSION {',' DIMENSION} ']'] ')' */
static uint32_t parse_reduce(parser *p)
{
    derive_node n = {.kind = DERIVE_REDUCE, .first = parse_sum(p)};
    size_t i = 0;
    if (!expect_char(p, ','))
        return 0;
    rocl_view word = read_word(p);
    while (i < sizeof folds / sizeof *folds && !rocl_view_is(word, folds[i].name))
        i++;
    if (i == sizeof folds / sizeof *folds)
        return fail_parse(p, "sum, avr, min or max is expected here");
    n.fold = (uint8_t)folds[i].fold;
    if (skip_char(p, ',')) {
        expect_char(p, '[');
        do
            n.dimensions |= (uint8_t)(1u << parse_dimension(p));
        while (p->st == ROCL_OK && skip_char(p, ','));
        expect_char(p, ']');
    }
    p->d->needs_instances |=
        n.dimensions || (p->st == ROCL_OK && p->d->nodes[n.first].kind != DERIVE_NAME);
    return expect_char(p, ')') ? add_node(p, &n) : 0;
}

/* sum ',' '[' DIMENSION '=' '[' N [':' N] ']' {',' ...} ']' ')' */
static uint32_t parse_select(parser *p)
{
    rocl_derive *d = p->d;
    derive_node n = {.kind = DERIVE_SELECT, .first = parse_sum(p)};
    n.items = (uint32_t)d->item_count;
    if (!expect_char(p, ','))
        return 0;
    expect_char(p, '[');
    do {
        uint32_t pick[DERIVE_PICK_WORDS] = {[DERIVE_PICK_DIMENSION] = parse_dimension(p)};
        expect_char(p, '=');
        expect_char(p, '[');
        pick[DERIVE_PICK_FROM] = pick[DERIVE_PICK_TO] = parse_place(p);
        if (p->st == ROCL_OK && skip_char(p, ':'))
            pick[DERIVE_PICK_TO] = parse_place(p);
        if (!expect_char(p, ']'))
            return 0;
        if (!ROCL_GROW(d->items, d->item_cap, d->item_count + DERIVE_PICK_WORDS)) {
            p->st = rocl_fail_memory(p->err);
            return 0;
        }
        memcpy(d->items + d->item_count, pick, sizeof pick);
        d->item_count += DERIVE_PICK_WORDS;
        n.count++;
    } while (skip_char(p, ','));
    d->needs_instances = true;
    return expect_char(p, ']') && expect_char(p, ')') ? add_node(p, &n) : 0;
}

static uint32_t parse_accumulate(parser *p)
{
    derive_node n = {.kind = DERIVE_ACCUMULATE};
    rocl_view name;
    if (!parse_counter(p, &name, &n.symbol))
        return 0;
    rocl_view word = read_word(p);
    if (!rocl_view_is(word, "NONE") && !rocl_view_is(word, "LOW_RES") &&
        !rocl_view_is(word, "HIGH_RES"))
        return fail_parse(p, "NONE, LOW_RES or HIGH_RES is expected here");
    return expect_char(p, ')') ? add_node(p, &n) : 0;
}

static uint32_t parse_factor(parser *p)
{
    char c = peek_char(p);
    if (skip_char(p, '(')) {
        if (++p->depth > DERIVE_NESTED_MAX)
            return fail_parse(p, "nested too deeply");
        uint32_t inner = parse_sum(p);
        p->depth--;
        return expect_char(p, ')') ? inner : 0;
    }
    if (is_digit(c) || (c == '.' && p->g->decimals))
        return parse_number(p);
    rocl_view name = read_word(p);
    if (!name.n)
        return fail_parse(p, c ? "a number, a name or \"(\" is expected here" : "it ends early");
    if (skip_char(p, '(')) {
        uint32_t call = 0;
        if (++p->depth > DERIVE_NESTED_MAX)
            return fail_parse(p, "nested too deeply");
        if (!p->g->calls_by_count && rocl_view_is(name, "reduce"))
            call = parse_reduce(p);
        else if (!p->g->calls_by_count && rocl_view_is(name, "select"))
            call = parse_select(p);
        else if (!p->g->calls_by_count && rocl_view_is(name, "accumulate"))
            call = parse_accumulate(p);
        else {
            size_t i = 0;
            while (i < sizeof folds / sizeof *folds && !rocl_view_is(name, folds[i].name))
                i++;
            call = p->g->calls_by_count && i < sizeof folds / sizeof *folds
                       ? parse_fold(p, folds[i].fold)
                       : fail_parse(p, "no such function");
        }
        p->depth--;
        return call;
    }
    return add_node(p, &(derive_node){.kind = DERIVE_NAME, .symbol = name_symbol(p, name)});
}

/* What the operators join; a single one stays as it is. */
static uint32_t parse_chain(parser *p, derive_node_kind kind, const char *operators,
                            uint32_t (*parse)(parser *))
{
    uint32_t first = parse(p), last = first, count = 1;
    bool subtracts = false; /* an operator that is not the last */
    for (char c; p->st == ROCL_OK && (c = peek_char(p)) && strchr(operators, c); count++) {
        if (subtracts && p->g->right_to_left && kind == DERIVE_SUM)
            p->amd |= ROCL_AMD_ASSOCIATES;
        subtracts |= c == '-';
        p->at++;
        uint32_t next = parse(p);
        if (!next)
            return 0;
        if (count == 1) { /* now it is a child */
            first = last = add_node(p, &(derive_node){.kind = (uint8_t)kind, .first = first});
            last = p->d->nodes[first].first;
        }
        p->d->nodes[next].op = c;
        p->d->nodes[last].next = next;
        last = next;
    }
    return p->st == ROCL_OK ? first : 0;
}

static uint32_t parse_product(parser *p)
{
    return parse_chain(p, DERIVE_PRODUCT, "*/", parse_factor);
}

static uint32_t parse_sum(parser *p)
{
    return parse_chain(p, DERIVE_SUM, "+-", parse_product);
}

rocl_status derive_parse_expression(rocl_derive *d, const derive_grammar *g, rocl_view text,
                                    uint32_t *expression, rocl_error *err)
{
    parser p = {.d = d, .g = g, .at = text.p, .begin = text.p, .end = text.p + text.n, .err = err};
    uint32_t root = parse_sum(&p);
    if (p.st == ROCL_OK && p.at < p.end && peek_char(&p) && p.at < p.end)
        fail_parse(&p, "an operator is expected here");
    if (p.st == ROCL_OK && p.at < p.end)
        fail_parse(&p, "a NUL byte");
    if (p.st != ROCL_OK)
        return p.st;
    char *copy = rocl_arena_dup(&d->arena, text.p, text.n);
    if (!copy || !ROCL_GROW(d->expressions, d->expression_cap, d->expression_count + 1))
        return rocl_fail_memory(err);
    *expression = (uint32_t)d->expression_count;
    d->expressions[d->expression_count++] =
        (derive_expression){.grammar = g, .text = copy, .root = root, .amd = p.amd};
    return ROCL_OK;
}
