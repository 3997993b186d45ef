/* What the tables of several reports say in the same way. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/analysis.h"

rocl_datum rocl_cell_of_text(const rocl_trace *t, rocl_tables *out, uint32_t text)
{
    size_t n;
    const char *p = rocl_strings_get(t->strings, text, &n);
    return rocl_datum_text(out, p, n);
}

rocl_datum rocl_cell_of_string(rocl_tables *out, const char *s)
{
    return rocl_datum_text(out, s, strlen(s));
}

rocl_datum rocl_cell_of_share(int64_t part, int64_t whole)
{
    return whole > 0 ? rocl_datum_real(100.0 * (double)part / (double)whole) : (rocl_datum){0};
}

rocl_datum rocl_cell_of_number(double v)
{
    if (v == floor(v) && fabs(v) <= 0x1p53)
        return rocl_datum_int((int64_t)v);
    return isfinite(v) ? rocl_datum_real(v) : (rocl_datum){0};
}

static const char *host_of(const rocl_trace *t, uint32_t machine)
{
    for (size_t i = 0; i < t->capture_count; i++) {
        const rocl_capture *c = &t->captures[i]->pub;
        if (c->machine == machine && c->node_count)
            return rocl_str(t, c->nodes[0].hostname);
    }
    return "?";
}

rocl_datum rocl_cell_of_host(const rocl_trace *t, rocl_tables *out, uint32_t machine)
{
    return rocl_cell_of_string(out, host_of(t, machine));
}

rocl_datum rocl_cell_on_machine(const rocl_trace *t, rocl_tables *out, const char *what,
                                uint32_t machine)
{
    char text[320];
    int n;
    if (t->machine_count > 1)
        n = snprintf(text, sizeof text, "%s on %s", what, host_of(t, machine));
    else
        n = snprintf(text, sizeof text, "%s", what);
    return rocl_datum_text(out, text, n < (int)sizeof text ? (size_t)n : sizeof text - 1);
}

rocl_datum rocl_cell_of_gpu(const rocl_trace *t, rocl_tables *out, const rocl_gpu *g)
{
    char text[32];
    snprintf(text, sizeof text, "GPU %u", g->id);
    return rocl_cell_on_machine(t, out, text, g->machine);
}

int rocl_compare_texts(const rocl_trace *t, uint32_t a, uint32_t b)
{
    size_t n, m;
    const char *p = rocl_strings_get(t->strings, a, &n), *q = rocl_strings_get(t->strings, b, &m);
    int c = memcmp(p, q, n < m ? n : m);
    return c ? c : n < m ? -1 : n > m;
}

/* ---- agents across processes ---- */

rocl_agent_key rocl_agent_key_of(const rocl_capture *c, uint32_t agent, int32_t rank)
{
    rocl_agent_key k = {.machine = c->machine, .type = ROCL_NONE, .rank = rank, .id = -1};
    if (agent < c->agent_count) {
        const rocl_agent *a = &c->agents[agent];
        k.type = a->type;
        k.id = a->absolute_index >= 0 ? a->absolute_index : a->id;
    }
    return k;
}

int rocl_compare_agents(const rocl_agent_key *a, const rocl_agent_key *b)
{
    if (a->machine != b->machine)
        return a->machine < b->machine ? -1 : 1;
    if (a->id != b->id) /* unknown last */
        return (uint64_t)a->id < (uint64_t)b->id ? -1 : 1;
    if (a->type != b->type)
        return a->type < b->type ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

rocl_datum rocl_cell_of_agent(const rocl_trace *t, rocl_tables *out, const rocl_agent_key *k)
{
    for (size_t i = 0; i < t->capture_count && k->type != ROCL_NONE; i++) {
        const rocl_capture *c = &t->captures[i]->pub;
        for (uint32_t n = 0; c->machine == k->machine && n < c->agent_count; n++) {
            rocl_agent_key other = rocl_agent_key_of(c, n, (int32_t)k->rank);
            if (!rocl_compare_agents(k, &other))
                return rocl_cell_on_machine(t, out, rocl_str(t, c->agents[n].label), k->machine);
        }
    }
    return rocl_cell_on_machine(t, out, "unknown", k->machine);
}

/* ---- columns ---- */

rocl_table *rocl_tables_add_some(rocl_tables *out, const char *key, const char *title,
                                 const rocl_table_column *columns, size_t count, uint64_t shown)
{
    rocl_table_column *some = rocl_arena_alloc(&out->arena, count * sizeof *some);
    size_t n = 0;
    for (size_t i = 0; some && i < count; i++)
        if (shown >> i & 1)
            some[n++] = columns[i];
    return some ? rocl_tables_add(out, key, title, some, n) : NULL;
}

bool rocl_table_row_some(rocl_table *t, const rocl_datum *cells, size_t count, uint64_t shown)
{
    rocl_datum *r = rocl_table_row(t);
    for (size_t i = 0; r && i < count; i++)
        if (shown >> i & 1)
            *r++ = cells[i];
    return r != NULL;
}

bool rocl_is_communication(const char *kernel)
{
    return !strncmp(kernel, "rccl", 4) || strstr(kernel, "nccl");
}
