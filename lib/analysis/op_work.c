/* Operators of PyTorch and what they compute, a row for each. Operators that only call others have
 * none, or the called ones count instead. */
#include "analysis/op_work.h"

#include <stdint.h>
#include <string.h>

#include "base/json.h"

const char *const rocl_number_type_names[ROCL_NUMBER_TYPES] = {"fp64", "fp32", "fp16",
                                                               "bf16", "fp8",  "int8"};

enum { INPUTS = 16, DIMS = 6 };

typedef struct shape {
    int rank; /* -1: no tensor */
    double size[DIMS];
} shape;

/* The facts of a call. */
typedef struct op_call {
    shape in[INPUTS];
    rocl_view concrete[INPUTS];
    unsigned count;
    double item; /* bytes of a number */
} op_call;

typedef struct op_model {
    const char *name;
    bool (*compute)(const op_call *c, const struct op_model *m, rocl_op_work *w);
    int first;     /* the first input that is multiplied */
    int bias;      /* the input that is added; -1: none */
    int at[5];     /* concrete inputs: see the functions */
    double factor; /* on the operations: a derivative is several products */
} op_model;

/* ---- reading --------------------------------------------------------------------------------- */

static void read_shapes(op_call *c, rocl_view dims)
{
    rocl_json r;
    rocl_json_token tensor, size;
    rocl_json_open(&r, dims.p, dims.n, 0, 0);
    if (!rocl_json_element(&r, &tensor) || !rocl_json_enter(&r, ROCL_JSON_ARRAY))
        return;
    while (c->count < INPUTS && rocl_json_element(&r, &tensor)) {
        shape *s = &c->in[c->count++];
        s->rank = -1;
        if (!rocl_json_enter(&r, ROCL_JSON_ARRAY))
            continue;
        s->rank = 0;
        while (rocl_json_element(&r, &size)) {
            double n = 0;
            if (s->rank < 0 || s->rank == DIMS || size.kind != ROCL_JSON_NUMBER ||
                !rocl_json_double(size.text, &n) || n < 0)
                s->rank = -1; /* a list of tensors, for example */
            else
                s->size[s->rank++] = n;
        }
    }
}

/* The type of the first tensors, which must have one. */
static bool read_type(op_call *c, rocl_view types, unsigned input, rocl_number_type *type)
{
    static const struct {
        const char *name;
        rocl_number_type type;
        double item;
    } known[] = {{"double", ROCL_FP64, 8},       {"float", ROCL_FP32, 4},
                 {"c10::Half", ROCL_FP16, 2},    {"c10::BFloat16", ROCL_BF16, 2},
                 {"c10::Float8", ROCL_FP8, 1},   {"signed char", ROCL_INT8, 1},
                 {"unsigned char", ROCL_INT8, 1}};
    rocl_json r;
    rocl_json_token t;
    rocl_json_open(&r, types.p, types.n, 0, 0);
    if (!rocl_json_element(&r, &t) || !rocl_json_enter(&r, ROCL_JSON_ARRAY))
        return false;
    for (unsigned i = 0; rocl_json_element(&r, &t); i++) {
        if (i < input || t.kind != ROCL_JSON_STRING)
            continue;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
            const size_t n = strlen(known[k].name);
            if (t.text.n < n || memcmp(t.text.p, known[k].name, n) != 0 ||
                (known[k].type != ROCL_FP8 && t.text.n != n))
                continue;
            *type = known[k].type;
            c->item = known[k].item;
            return true;
        }
        return false;
    }
    return false;
}

static void read_concrete(op_call *c, rocl_view concrete)
{
    rocl_json r;
    rocl_json_token t;
    rocl_json_open(&r, concrete.p, concrete.n, 0, 0);
    if (!rocl_json_element(&r, &t) || !rocl_json_enter(&r, ROCL_JSON_ARRAY))
        return;
    for (unsigned i = 0; i < INPUTS && rocl_json_element(&r, &t); i++)
        if (t.kind == ROCL_JSON_STRING)
            c->concrete[i] = t.text;
}

/* The numbers of a list such as "[1, 2]", the last one for those that it lacks; `none` if it has
 * none at all. */
static void read_list(rocl_view text, double none, double *to, unsigned n)
{
    rocl_json r;
    rocl_json_token t;
    unsigned i = 0;
    rocl_json_open(&r, text.p, text.n, 0, 0);
    if (text.n && rocl_json_element(&r, &t) && rocl_json_enter(&r, ROCL_JSON_ARRAY))
        while (i < n && rocl_json_element(&r, &t) && rocl_json_double(t.text, &to[i]))
            i++;
    for (; i < n; i++)
        to[i] = i ? to[i - 1] : none;
}

static bool is_true(const op_call *c, int concrete)
{
    return concrete >= 0 && rocl_view_is(c->concrete[concrete], "True");
}

static double product_of(const shape *s, int from, int to)
{
    double n = 1;
    for (int i = from; i < to; i++)
        n *= s->size[i];
    return n;
}

static double count_elements(const shape *s)
{
    return s->rank < 0 ? 0 : product_of(s, 0, s->rank);
}

/* ---- models ---------------------------------------------------------------------------------- */

/* [M, K] by [K, N], or as many of them as the first dimension says. */
static bool compute_product(const op_call *c, const op_model *m, rocl_op_work *w)
{
    const shape *a = &c->in[m->first], *b = &c->in[m->first + 1];
    const int r = a->rank;
    if (r != b->rank || r < 2 || r > 3 || a->size[r - 1] != b->size[r - 2] ||
        (r == 3 && a->size[0] != b->size[0]))
        return false;
    const double out =
        count_elements(a) / (a->size[r - 1] > 0 ? a->size[r - 1] : 1) * b->size[r - 1];
    const double bias = m->bias < 0 ? 0 : count_elements(&c->in[m->bias]);
    w->flops = 2 * out * a->size[r - 1] + (m->bias < 0 ? 0 : out);
    w->bytes = c->item * (count_elements(a) + count_elements(b) + bias + out);
    return true;
}

/* [..., K] by [N, K], transposed. */
static bool compute_linear(const op_call *c, const op_model *m, rocl_op_work *w)
{
    const shape *a = &c->in[m->first], *b = &c->in[m->first + 1];
    if (a->rank < 1 || b->rank != 2 || a->size[a->rank - 1] != b->size[1])
        return false;
    const double out = product_of(a, 0, a->rank - 1) * b->size[0];
    const double bias = c->in[m->bias].rank > 0 ? count_elements(&c->in[m->bias]) : 0;
    w->flops = 2 * out * b->size[1] + (bias > 0 ? out : 0);
    w->bytes = c->item * (count_elements(a) + count_elements(b) + bias + out);
    return true;
}

/* Two products for each head: queries by keys, and what that gives by values. at: is_causal, where
 * half of it is left out; the dimensions of sequence and heads. */
static bool compute_attention(const op_call *c, const op_model *m, rocl_op_work *w)
{
    const shape *q = &c->in[m->first], *k = q + 1, *v = q + 2;
    const int sequence = m->at[1], heads = m->at[2];
    if (q->rank != 4 || k->rank != 4 || v->rank != 4)
        return false;
    const double pairs = q->size[0] * q->size[heads] * q->size[sequence] * k->size[sequence];
    const double out = product_of(q, 0, 3) * v->size[3];
    w->flops = m->factor * 2 * pairs * (q->size[3] + v->size[3]) / (is_true(c, m->at[0]) ? 2 : 1);
    w->bytes = c->item * (count_elements(q) + count_elements(k) + count_elements(v) + out);
    return true;
}

/* Input [N, C, ...] and weight [K, C / groups, ...]; of a derivative the gradient comes before
 * them. at: stride, padding, dilation, transposed, groups. */
static bool compute_convolution(const op_call *c, const op_model *m, rocl_op_work *w)
{
    const shape *in = &c->in[m->first], *weight = in + 1;
    const int space = in->rank - 2;
    const bool transposed = is_true(c, m->at[3]);
    double stride[DIMS], padding[DIMS], dilation[DIMS], groups = 1;
    if (in->rank != weight->rank || space < 1 || space > 3)
        return false;
    read_list(c->concrete[m->at[0]], 1, stride, (unsigned)space);
    read_list(c->concrete[m->at[1]], 0, padding, (unsigned)space);
    read_list(c->concrete[m->at[2]], 1, dilation, (unsigned)space);
    if (!rocl_json_double(c->concrete[m->at[4]], &groups) || groups < 1)
        groups = 1;
    double positions = 1;
    for (int i = 0; i < space; i++) {
        const double reach = dilation[i] * (weight->size[i + 2] - 1);
        const double size = in->size[i + 2];
        if (stride[i] < 1)
            return false;
        positions *= transposed
                         ? (size - 1) * stride[i] - 2 * padding[i] + reach + 1
                         : (double)(int64_t)((size + 2 * padding[i] - reach - 1) / stride[i]) + 1;
    }
    const double kernel = product_of(weight, 2, weight->rank);
    const double channels = transposed ? weight->size[1] * groups : weight->size[0];
    const double out = in->size[0] * channels * positions;
    if (out < 0)
        return false;
    /* Each number of the output, or of the input of a transposed one, is met by a kernel of all
     * channels of its group. */
    w->flops = m->factor * 2 * kernel *
               (transposed ? count_elements(in) * weight->size[1] : out * weight->size[1]);
    w->bytes = c->item * (count_elements(in) + count_elements(weight) + out);
    return true;
}

/* A constant number of operations for each element of the output, whose shape is the largest in
 * each dimension. */
static bool compute_elementwise(const op_call *c, const op_model *m, rocl_op_work *w)
{
    shape out = {0};
    double in = 0;
    for (unsigned i = 0; i < c->count && i < 3; i++) {
        const shape *s = &c->in[i];
        if (s->rank < 1)
            continue;
        in += count_elements(s);
        for (int k = 0; k < s->rank; k++) {
            double *size = &out.size[DIMS - 1 - k];
            const double own = s->size[s->rank - 1 - k];
            *size = own > *size ? own : *size;
        }
        out.rank = s->rank > out.rank ? s->rank : out.rank;
    }
    if (!out.rank)
        return false;
    const double n = product_of(&out, DIMS - out.rank, DIMS);
    w->flops = m->factor * n;
    w->bytes = c->item * (in + n);
    return true;
}

#define PRODUCT(name, first, bias)                                                                 \
    {                                                                                              \
        "aten::" name, compute_product, first, bias, {0}, 1                                        \
    }
#define ELEMENTWISE(name, operations)                                                              \
    {                                                                                              \
        "aten::" name, compute_elementwise, 0, -1, {0}, operations                                 \
    }

static const op_model models[] = {
    PRODUCT("mm", 0, -1),
    PRODUCT("addmm", 1, 0),
    PRODUCT("bmm", 0, -1),
    PRODUCT("baddbmm", 1, 0),
    PRODUCT("matmul", 0, -1),
    {"aten::_scaled_mm", compute_product, 0, -1, {0}, 1},
    {"aten::linear", compute_linear, 0, 2, {0}, 1},
    {"aten::_scaled_dot_product_flash_attention", compute_attention, 0, -1, {4, 2, 1}, 1},
    {"aten::_scaled_dot_product_efficient_attention", compute_attention, 0, -1, {6, 2, 1}, 1},
    {"aten::_flash_attention_forward", compute_attention, 0, -1, {8, 1, 2}, 1},
    {"aten::_scaled_dot_product_flash_attention_backward",
     compute_attention,
     1,
     -1,
     {11, 2, 1},
     2.5},
    {"aten::_flash_attention_backward", compute_attention, 1, -1, {11, 1, 2}, 2.5},
    {"aten::convolution", compute_convolution, 0, 2, {3, 4, 5, 6, 8}, 1},
    {"aten::_convolution", compute_convolution, 0, 2, {3, 4, 5, 6, 8}, 1},
    {"aten::miopen_convolution", compute_convolution, 0, 2, {4, 3, 5, -1, 6}, 1},
    {"aten::cudnn_convolution", compute_convolution, 0, -1, {3, 2, 4, -1, 5}, 1},
    {"aten::convolution_backward", compute_convolution, 1, -1, {4, 5, 6, 7, 9}, 2},
    ELEMENTWISE("add", 1),
    ELEMENTWISE("add_", 1),
    ELEMENTWISE("sub", 1),
    ELEMENTWISE("mul", 1),
    ELEMENTWISE("mul_", 1),
    ELEMENTWISE("div", 1),
    ELEMENTWISE("div_", 1),
    ELEMENTWISE("relu", 1),
    ELEMENTWISE("clamp_min", 1),
    ELEMENTWISE("clamp_min_", 1),
    ELEMENTWISE("neg", 1),
    ELEMENTWISE("copy_", 0),
};

static const op_model *find_model(rocl_view name)
{
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (rocl_view_is(name, models[i].name))
            return &models[i];
    return NULL;
}

bool rocl_op_is_known(rocl_view name)
{
    return name.n > 6 && !memcmp(name.p, "aten::", 6) && find_model(name);
}

bool rocl_op_work_of(rocl_view name, rocl_view dims, rocl_view types, rocl_view concrete,
                     rocl_op_work *w)
{
    const op_model *m = find_model(name);
    op_call c = {.count = 0};
    for (unsigned i = 0; i < INPUTS; i++)
        c.in[i].rank = -1;
    if (!m || !read_type(&c, types, (unsigned)m->first, &w->type))
        return false;
    read_shapes(&c, dims);
    read_concrete(&c, concrete);
    return m->compute(&c, m, w) && w->bytes > 0;
}
