/* Host calls, markers and marks, on the location of their thread. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/utf8.h"
#include "sink/otf2/ot.h"

static uint32_t process_at(const ot_sink *s, uint32_t *thread)
{
    const rocl_capture *c = s->world.capture;
    uint32_t index = s->event.index;
    *thread = ROCL_NONE;
    if (index >= c->thread_count)
        return index - c->thread_count;
    *thread = index;
    return c->threads[index].process != ROCL_NONE ? c->threads[index].process : 0;
}

uint32_t ot_host_location(ot_sink *s)
{
    uint32_t thread, process = process_at(s, &thread);
    return ot_thread_location(&s->world, process, thread);
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

static OTF2_RegionRef region_of(ot_sink *s, uint32_t name, const rocl_packed *e)
{
    OTF2_Paradigm paradigm =
        e->kind == ROCL_MARKER ? OTF2_PARADIGM_USER : paradigm_of(rocl_str(s->trace, e->category));
    OTF2_RegionRole role = paradigm == OTF2_PARADIGM_HIP ? role_of(rocl_str(s->trace, name))
                           : e->kind == ROCL_REGION      ? OTF2_REGION_ROLE_FUNCTION
                                                         : OTF2_REGION_ROLE_CODE;
    return ot_region_of(&s->defs, name, e->category, paradigm, role);
}

OTF2_RegionRef ot_host_region(ot_sink *s, const rocl_packed *e)
{
    uint32_t name = e->name == ROCL_NONE ? s->words[W_UNNAMED] : e->name;
    ot_call *call = &s->calls[name % OT_CALLS];
    if (!call->known || call->name != name || call->category != e->category ||
        call->kind != e->kind)
        *call = (ot_call){name, e->category, e->kind, region_of(s, name, e), !s->defs.failed};
    ot_note_category(s, call->region, e->category);
    return call->region;
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

static void note_arg(ot_sink *s, const rocl_packed_arg *a)
{
    int64_t v;
    if (is_number(a->value, a->len, &v)) {
        ot_note_int(s, a->name, v);
        return;
    }
    uint32_t text = rocl_strings_put(s->trace->strings, a->value, a->len);
    s->defs.failed |= text == ROCL_NONE;
    ot_note_text(s, a->name, text);
}

void ot_host_notes(ot_sink *s, rocl_packed *e)
{
    rocl_packed_arg arg;
    while (rocl_packed_next_arg(e, &arg))
        note_arg(s, &arg);
    if (s->trace->opt.args && e->stack_id)
        ot_note_uint(s, s->words[W_STACK_ID], e->stack_id);
}

/* ---- markers ---- */

/* Samples of call stacks are instants as well, but nobody set them as a mark. */
static bool is_mark(const ot_sink *s, const rocl_packed *e)
{
    if (e->kind != ROCL_INSTANT)
        return e->kind == ROCL_MARKER;
    const char *category = rocl_str(s->trace, e->category);
    return !strncasecmp(category, "MARKER", 6) || !strncasecmp(category, "KOKKOS", 6);
}

/* Markers stand apart from the events, with a text of their own. */
void ot_write_marker(ot_sink *s, const rocl_packed *e, uint32_t location)
{
    OTF2_MarkerWriter *w = is_mark(s, e) ? ot_archive_markers(s->archive) : NULL;
    if (!w)
        return;
    if (!s->marked)
        OTF2_MarkerWriter_WriteDefMarker(w, 0, "ROCTx", "Marks and ranges", OTF2_SEVERITY_NONE);
    s->marked = true;
    rocl_buf text = {0};
    ot_put_text(&text, &s->defs, e->name == ROCL_NONE ? s->words[W_UNNAMED] : e->name);
    s->defs.failed |= text.failed;
    if (!text.failed)
        OTF2_MarkerWriter_WriteMarker(w, ot_time(s, e->time), (uint64_t)(e->end - e->time), 0,
                                      OTF2_MARKER_SCOPE_LOCATION, location,
                                      (const char *)text.data);
    rocl_buf_free(&text);
}
