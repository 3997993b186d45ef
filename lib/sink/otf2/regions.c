/* Events in OTF2: the region of a host call, a marker or GPU work, and the attributes of its
 * Enter. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/text.h"
#include "sink/otf2/otf2.h"

/* ---- regions --------------------------------------------------------------------------------- */

static OTF2_Paradigm category_paradigm(const char *category)
{
    static const struct {
        const char *prefix;
        OTF2_Paradigm paradigm;
    } others[] = {
        {"KOKKOS", OTF2_PARADIGM_KOKKOS},
        {"MPI", OTF2_PARADIGM_MPI},
        {"OMP", OTF2_PARADIGM_OPENMP},
        {"PTHREAD", OTF2_PARADIGM_PTHREAD},
    };
    const rocl_call_group *g = rocl_call_group_of(category);
    if (g && g->domain != ROCL_DOMAIN_OTHER && g->domain != ROCL_DOMAIN_MARKERS)
        return OTF2_PARADIGM_HIP;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strncasecmp(category, others[i].prefix, strlen(others[i].prefix)))
            return others[i].paradigm;
    return OTF2_PARADIGM_USER;
}

/* The role of calls of the runtimes that handle memory, by their names. */
static OTF2_RegionRole call_role(const char *name)
{
    static const struct {
        OTF2_RegionRole role;
        const char *prefixes[8];
    } table[] = {
        {OTF2_REGION_ROLE_DATA_TRANSFER,
         {"hipMemcpy", "hipMemset", "hsa_amd_memory_async_copy", "hsa_memory_copy",
          "hsa_amd_memory_fill"}},
        {OTF2_REGION_ROLE_ALLOCATE,
         {"hipMalloc", "hipExtMalloc", "hipHostMalloc", "hipHostAlloc", "hipMemAlloc",
          "hsa_memory_allocate", "hsa_amd_memory_pool_allocate"}},
        {OTF2_REGION_ROLE_DEALLOCATE,
         {"hipFree", "hipHostFree", "hipMemFree", "hsa_memory_free", "hsa_amd_memory_pool_free"}},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        for (const char *const *p = table[i].prefixes; *p; p++)
            if (!strncmp(name, *p, strlen(*p)))
                return table[i].role;
    return OTF2_REGION_ROLE_FUNCTION;
}

static ot_region host_region(const ot_sink *s, const rocl_track_event *e)
{
    ot_region r = {.name = e->name == ROCL_NONE ? s->words[W_UNNAMED] : e->name,
                   .category = e->category == ROCL_NONE ? 0 : e->category,
                   .paradigm = OTF2_PARADIGM_USER,
                   .role = OTF2_REGION_ROLE_CODE};
    if (e->kind != ROCL_MARKER)
        r.paradigm = category_paradigm(rocl_str(s->trace, e->category));
    if (r.paradigm == OTF2_PARADIGM_HIP)
        r.role = call_role(rocl_str(s->trace, r.name));
    else if (e->kind == ROCL_REGION)
        r.role = OTF2_REGION_ROLE_FUNCTION;
    return r;
}

static ot_region gpu_region(const ot_sink *s, const rocl_track_event *e)
{
    static const struct {
        ot_word category;
        OTF2_RegionRole role;
    } kinds[ROCL_KINDS] = {
        [ROCL_DISPATCH] = {W_KERNEL_DISPATCH, OTF2_REGION_ROLE_FUNCTION},
        [ROCL_COPY] = {W_MEMORY_COPY, OTF2_REGION_ROLE_DATA_TRANSFER},
        [ROCL_ALLOC] = {W_MEMORY_ALLOCATION, OTF2_REGION_ROLE_ALLOCATE},
        [ROCL_SCRATCH] = {W_SCRATCH_MEMORY, OTF2_REGION_ROLE_ALLOCATE},
        [ROCL_GRAPH] = {W_GRAPH_LAUNCH, OTF2_REGION_ROLE_TASK},
        [ROCL_HIP_EVENT] = {W_HIP_EVENT, OTF2_REGION_ROLE_FUNCTION},
        [ROCL_BARRIER] = {W_BARRIER, OTF2_REGION_ROLE_BARRIER},
    };
    ot_region r = {.name = e->name == ROCL_NONE ? s->words[W_UNNAMED] : e->name,
                   .category = s->words[kinds[e->kind].category],
                   .paradigm = OTF2_PARADIGM_HIP,
                   .role = kinds[e->kind].role};
    const char *name = rocl_str(s->trace, r.name);
    if (r.role != OTF2_REGION_ROLE_ALLOCATE)
        return r;
    if (strcasestr(name, "realloc"))
        r.role = OTF2_REGION_ROLE_REALLOCATE;
    else if (strcasestr(name, "free") || strcasestr(name, "reclaim"))
        r.role = OTF2_REGION_ROLE_DEALLOCATE;
    return r;
}

static bool is_host(const rocl_track_event *e)
{
    return e->kind <= ROCL_INSTANT;
}

OTF2_RegionRef ot_event_region(ot_drawing *p)
{
    const rocl_track_event *e = &p->drawing.event;
    uint32_t category = is_host(e) ? e->category : ROCL_NONE;
    ot_recent_region *r = &p->recent[e->name % OT_RECENT_REGIONS];
    if (r->known && r->name == e->name && r->category == category && r->kind == e->kind)
        return r->region;
    ot_region region = is_host(e) ? host_region(p->sink, e) : gpu_region(p->sink, e);
    *r = (ot_recent_region){e->name, category, e->kind, ot_region_ref(p->defs, &region),
                            !p->defs->failed};
    return r->region;
}

/* ---- attributes: names are texts ------------------------------------------------------------- */

/* An event has each attribute once: a second argument of a name is called "name (2)". */
static OTF2_AttributeRef unused_attribute(ot_drawing *p, uint32_t name, OTF2_Type type)
{
    OTF2_AttributeRef ref = ot_attribute_ref(p->defs, name, type);
    for (unsigned n = 2; OTF2_AttributeList_TestAttributeByID(p->attributes, ref); n++) {
        char start[201], numbered[256];
        rocl_label(start, sizeof start, "%s", rocl_str(p->sink->trace, name));
        snprintf(numbered, sizeof numbered, "%s (%u)", start, n);
        ref = ot_attribute_ref(p->defs, ot_text(p->defs, numbered), type);
        if (p->defs->failed)
            break;
    }
    return ref;
}

static void add_uint(ot_drawing *p, uint32_t name, uint64_t v)
{
    OTF2_AttributeList_AddUint64(p->attributes, unused_attribute(p, name, OTF2_TYPE_UINT64), v);
}

static void add_text(ot_drawing *p, uint32_t name, uint32_t text)
{
    OTF2_AttributeList_AddStringRef(p->attributes, unused_attribute(p, name, OTF2_TYPE_STRING),
                                    ot_string(p->defs, text));
}

/* Stored as a number if that gives back the same digits. */
static void add_arg(ot_drawing *p, const rocl_track_arg *arg)
{
    if (arg->len && arg->len <= 20) {
        char text[24], back[24];
        memcpy(text, arg->value, arg->len);
        text[arg->len] = '\0';
        int64_t v = strtoll(text, NULL, 10);
        const int n = snprintf(back, sizeof back, "%" PRId64, v);
        if ((size_t)n == arg->len && !memcmp(text, back, arg->len)) {
            OTF2_AttributeList_AddInt64(p->attributes,
                                        unused_attribute(p, arg->name, OTF2_TYPE_INT64), v);
            return;
        }
    }
    uint32_t text = rocl_strings_put(p->sink->trace->strings, arg->value, arg->len);
    p->defs->failed |= text == ROCL_NONE;
    add_text(p, arg->name, text);
}

static void add_agent(ot_drawing *p, ot_word name, uint32_t agent)
{
    if (agent != ROCL_NONE)
        add_text(p, p->sink->words[name], p->sink->system.capture->agents[agent].device);
}

static void add_size(ot_drawing *p, ot_word name, const uint32_t size[3])
{
    char text[48];
    snprintf(text, sizeof text, "%" PRIu32 "x%" PRIu32 "x%" PRIu32, size[0], size[1], size[2]);
    add_text(p, p->sink->words[name], ot_text(p->defs, text));
}

static void add_gpu_attributes(ot_drawing *p, const rocl_track_event *e)
{
    const ot_sink *s = p->sink;
    const uint32_t *words = s->words;
    if (e->kind == ROCL_COPY || e->kind == ROCL_ALLOC || e->kind == ROCL_SCRATCH)
        add_uint(p, words[W_BYTES], e->size);
    if (e->kind == ROCL_COPY) {
        add_agent(p, W_SOURCE, e->op ? e->other_agent : e->agent);
        add_agent(p, W_DESTINATION, e->op ? e->agent : e->other_agent);
    }
    if (!s->trace->opt.args)
        return;
    if (e->kind == ROCL_DISPATCH) {
        add_uint(p, words[W_DISPATCH_ID], e->dispatch_id);
        add_size(p, W_GRID, e->grid);
        add_size(p, W_WORKGROUP, e->workgroup);
        add_uint(p, words[W_LDS], (uint64_t)e->group_segment);
        add_uint(p, words[W_SCRATCH], (uint64_t)e->private_segment);
    }
    if (e->kind == ROCL_GRAPH)
        add_uint(p, words[W_KERNELS], e->size);
    if (e->queue != ROCL_NONE)
        add_text(p, words[W_QUEUE], s->labels[e->queue]);
    if (e->stream != ROCL_NONE)
        add_text(p, words[W_STREAM], s->labels[s->system.capture->queue_count + e->stream]);
}

OTF2_AttributeList *ot_event_attributes(ot_drawing *p)
{
    const ot_sink *s = p->sink;
    rocl_track_event *e = &p->drawing.event;
    rocl_track_arg arg;
    if (!is_host(e))
        add_gpu_attributes(p, e);
    if (is_host(e) || e->kind == ROCL_DISPATCH)
        while (rocl_track_event_next_arg(e, &arg))
            add_arg(p, &arg);
    if (s->trace->opt.args && e->stack_id)
        add_uint(p, s->words[W_STACK_ID], e->stack_id);
    return OTF2_AttributeList_GetNumberOfElements(p->attributes) ? p->attributes : NULL;
}
