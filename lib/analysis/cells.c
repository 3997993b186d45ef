/* Cells that several reports have. */
#include <stdio.h>
#include <string.h>

#include "analysis/analysis.h"

static const char *host_of(const rocl_trace *t, uint32_t machine)
{
    for (size_t i = 0; i < t->capture_count; i++) {
        const rocl_capture *c = &t->captures[i]->pub;
        if (c->machine == machine && c->node_count)
            return rocl_str(t, c->nodes[0].hostname);
    }
    return "?";
}

rocl_datum rocl_gpu_cell(const rocl_trace *t, rocl_tables *out, const rocl_gpu *g)
{
    char text[320];
    int n;
    if (t->machine_count > 1)
        n = snprintf(text, sizeof text, "GPU %u on %s", g->id, host_of(t, g->machine));
    else
        n = snprintf(text, sizeof text, "GPU %u", g->id);
    return rocl_datum_text(out, text, n < (int)sizeof text ? (size_t)n : sizeof text - 1);
}

rocl_datum rocl_name_cell(const rocl_trace *t, rocl_tables *out, uint32_t text)
{
    size_t n;
    const char *p = rocl_strings_get(t->strings, text, &n);
    return rocl_datum_text(out, p, n);
}

rocl_datum rocl_percent_cell(int64_t part, int64_t whole)
{
    return whole ? rocl_datum_real(100.0 * (double)part / (double)whole) : (rocl_datum){0};
}

bool rocl_is_communication(const char *kernel)
{
    return !strncmp(kernel, "rccl", 4) || strstr(kernel, "nccl");
}
