/* Host calls, markers and marks, on the location of their thread. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/utf8.h"
#include "sink/otf2/ot.h"

static uint32_t process_at(const rocl_capture *c, uint32_t index, uint32_t *thread)
{
    *thread = ROCL_NONE;
    if (index >= c->thread_count)
        return index - c->thread_count;
    *thread = index;
    return c->threads[index].process != ROCL_NONE ? c->threads[index].process : 0;
}

uint32_t ot_host_process(const ot_part *p)
{
    uint32_t thread;
    return process_at(p->sink->world.capture, p->event.index, &thread);
}

uint32_t ot_host_location(ot_world *w, const ot_found *f)
{
    uint32_t thread, process = process_at(w->capture, f->index, &thread);
    return ot_thread_location(w, process, thread);
}

/* ---- regions ---- */

static OTF2_Paradigm paradigm_of(const char *category)
{
    static const struct {
        const char *prefix;
        OTF2_Paradigm paradigm;
    } table[] = {
        {"HIP", OTF2_PARADIGM_HIP},         {"HSA", OTF2_PARADIGM_HIP},
        {"RCCL", OTF2_PARADIGM_HIP},        {"ROCDECODE", OTF2_PARADIGM_HIP},
        {"ROCJPEG", OTF2_PARADIGM_HIP},     {"KOKKOS", OTF2_PARADIGM_KOKKOS},
        {"MPI", OTF2_PARADIGM_MPI},         {"OMP", OTF2_PARADIGM_OPENMP},
        {"PTHREAD", OTF2_PARADIGM_PTHREAD},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!strncasecmp(category, table[i].prefix, strlen(table[i].prefix)))
            return table[i].paradigm;
    return OTF2_PARADIGM_USER;
}

static bool begins_with_any(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (!strncmp(name, *list, strlen(*list)))
            return true;
    return false;
}

/* What calls of the runtimes do to memory, from their names. */
static OTF2_RegionRole role_of(const char *name)
{
    static const char *const copies[] = {
        "hipMemcpy",       "hipMemset",           "hsa_amd_memory_async_copy",
        "hsa_memory_copy", "hsa_amd_memory_fill", NULL};
    static const char *const allocations[] = {"hipMalloc",
                                              "hipExtMalloc",
                                              "hipHostMalloc",
                                              "hipHostAlloc",
                                              "hipMemAlloc",
                                              "hsa_memory_allocate",
                                              "hsa_amd_memory_pool_allocate",
                                              NULL};
    static const char *const frees[] = {
        "hipFree", "hipHostFree", "hipMemFree", "hsa_memory_free", "hsa_amd_memory_pool_free",
        NULL};
    if (begins_with_any(name, copies))
        return OTF2_REGION_ROLE_DATA_TRANSFER;
    if (begins_with_any(name, allocations))
        return OTF2_REGION_ROLE_ALLOCATE;
    return begins_with_any(name, frees) ? OTF2_REGION_ROLE_DEALLOCATE : OTF2_REGION_ROLE_FUNCTION;
}

ot_region ot_host_region(const ot_part *p, const rocl_track_event *e)
{
    const ot_sink *s = p->sink;
    ot_region r = {.name = e->name == ROCL_NONE ? s->words[W_UNNAMED] : e->name,
                   .category = e->category == ROCL_NONE ? 0 : e->category,
                   .paradigm = OTF2_PARADIGM_USER,
                   .role = OTF2_REGION_ROLE_CODE};
    if (e->kind != ROCL_MARKER)
        r.paradigm = paradigm_of(rocl_str(s->trace, e->category));
    if (r.paradigm == OTF2_PARADIGM_HIP)
        r.role = role_of(rocl_str(s->trace, r.name));
    else if (e->kind == ROCL_REGION)
        r.role = OTF2_REGION_ROLE_FUNCTION;
    return r;
}

/* ---- attributes ---- */

/* Numbers are kept as numbers where that gives the same digits back. */
static bool is_number(const char *p, size_t n, int64_t *v)
{
    char text[24], back[24];
    if (!n || n > 20)
        return false;
    memcpy(text, p, n);
    text[n] = '\0';
    *v = strtoll(text, NULL, 10);
    snprintf(back, sizeof back, "%" PRId64, *v);
    return strcmp(text, back) == 0;
}

static void note_arg(ot_part *p, const rocl_track_arg *a)
{
    int64_t v;
    if (is_number(a->value, a->len, &v)) {
        ot_note_int(p, a->name, v);
        return;
    }
    uint32_t text = rocl_strings_put(p->sink->trace->strings, a->value, a->len);
    p->defs->failed |= text == ROCL_NONE;
    ot_note_text(p, a->name, text);
}

void ot_host_notes(ot_part *p, rocl_track_event *e)
{
    const ot_sink *s = p->sink;
    rocl_track_arg arg;
    while (rocl_track_event_next_arg(e, &arg))
        note_arg(p, &arg);
    if (s->trace->opt.args && e->stack_id)
        ot_note_uint(p, s->words[W_STACK_ID], e->stack_id);
}
