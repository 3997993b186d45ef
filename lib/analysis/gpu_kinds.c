/* Kinds of GPUs: see gpu_kinds.h. */
#include "analysis/gpu_kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json.h"

/* Numbers among the properties of an agent, in lower case. */
static rocl_status read_constants(rocl_derive *definitions, const char *json, rocl_gpu_kind *p,
                                  rocl_error *err)
{
    rocl_json r;
    rocl_json_token t;
    size_t cap = 0;
    char key[64] = "";
    bool after_key = false;
    rocl_json_open(&r, json, strlen(json), 0, 0);
    for (rocl_json_kind k; (k = rocl_json_next(&r, &t)) != ROCL_JSON_NOTHING;) {
        const bool named = after_key && r.depth == 1;
        after_key = k == ROCL_JSON_KEY;
        if (k == ROCL_JSON_KEY) {
            size_t n = t.text.n < sizeof key ? t.text.n : 0;
            for (size_t i = 0; i < n; i++)
                key[i] = (char)(t.text.p[i] | (t.text.p[i] >= 'A' && t.text.p[i] <= 'Z' ? 32 : 0));
            key[n] = '\0';
        }
        double v;
        if (k != ROCL_JSON_NUMBER || !named || !*key || !rocl_json_double(t.text, &v) ||
            !isfinite(v))
            continue;
        if (!ROCL_GROW(p->constants, cap, p->constant_count + 1))
            return rocl_fail_memory(err);
        p->constants[p->constant_count] =
            (rocl_constant){rocl_derive_symbol(definitions, key, strlen(key)), v};
        if (p->constants[p->constant_count++].symbol == ROCL_NONE)
            return rocl_fail_memory(err);
    }
    return ROCL_OK;
}

/* Some properties are of the device, not of its kind: they do not tell kinds of GPUs apart. */
static bool same_kind(const rocl_derive *definitions, const rocl_gpu_kind *a,
                      const rocl_gpu_kind *b)
{
    static const char *const kinds[] = {
        "simd_count",         "wave_front_size",   "num_xcc",          "cu_count",
        "array_count",        "simd_per_cu",       "num_shader_banks", "simd_arrays_per_engine",
        "max_waves_per_simd", "cu_per_simd_array", "lds_size_in_kb",   "max_engine_clk_fcompute"};
    if (strcmp(a->arch, b->arch) != 0)
        return false;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        double of[2] = {-1, -1};
        const rocl_gpu_kind *const both[] = {a, b};
        for (unsigned i = 0; i < 2; i++)
            for (size_t j = 0; j < both[i]->constant_count; j++)
                if (!strcmp(rocl_derive_name(definitions, both[i]->constants[j].symbol), kinds[k]))
                    of[i] = both[i]->constants[j].value;
        if (of[0] != of[1])
            return false;
    }
    return true;
}

/* agent: ROCL_NONE for one of which nothing is known. */
static rocl_status find_kind(rocl_gpu_kinds *k, rocl_derive *definitions, rocl_trace *t,
                             const char *given, const rocl_capture *c, uint32_t agent,
                             uint32_t *index, rocl_error *err)
{
    rocl_gpu_kind kind = {.arch = agent == ROCL_NONE ? "" : rocl_str(t, c->agents[agent].name)};
    rocl_status st = ROCL_OK;
    if (strncmp(kind.arch, "gfx", 3) != 0)
        kind.arch = given ? given : "";
    if (agent != ROCL_NONE) {
        char *json = NULL;
        st = rocl_agent_json(t, c, agent, &json, err);
        if (st == ROCL_OK)
            st = read_constants(definitions, json, &kind, err);
        free(json);
    }
    for (*index = 0; *index < k->count; ++*index)
        if (same_kind(definitions, &kind, &k->kinds[*index]))
            break;
    if (st == ROCL_OK && *index == k->count) {
        if (ROCL_GROW(k->kinds, k->cap, k->count + 1)) {
            k->kinds[k->count++] = kind;
            return ROCL_OK;
        }
        st = rocl_fail_memory(err);
    }
    free(kind.constants);
    return st;
}

rocl_status rocl_gpu_kinds_find(rocl_gpu_kinds *k, rocl_derive *definitions, rocl_trace *t,
                                const char *arch, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    k->of = calloc(t->capture_count + 1, sizeof *k->of);
    if (!k->of)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < t->capture_count && st == ROCL_OK; i++) {
        const rocl_capture *c = &t->captures[i]->pub;
        if (!c->counter_count)
            continue;
        k->of[i] = calloc(c->agent_count + 1, sizeof **k->of);
        if (!k->of[i])
            return rocl_fail_memory(err);
        for (uint32_t a = 0; a < c->agent_count && st == ROCL_OK; a++)
            if (c->agents[a].type != ROCL_AGENT_CPU)
                st = find_kind(k, definitions, t, arch, c, a, &k->of[i][a], err);
        if (st == ROCL_OK)
            st = find_kind(k, definitions, t, arch, c, ROCL_NONE, &k->of[i][c->agent_count], err);
    }
    return st;
}

void rocl_gpu_kinds_free(rocl_gpu_kinds *k, const rocl_trace *t)
{
    for (size_t i = 0; i < k->count; i++)
        free(k->kinds[i].constants);
    for (size_t i = 0; k->of && i < t->capture_count; i++)
        free(k->of[i]);
    free(k->kinds);
    free(k->of);
}
