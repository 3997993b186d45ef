/* The tables of kinds and domains, and the questions that are answered from them. */
#include "model/kinds.h"

#include <stdio.h>
#include <strings.h>

#include "model/trace.h"

/* ---- domains ---- */

const rocl_domain_info rocl_domain_infos[ROCL_DOMAINS] = {
#define ROW(domain, word, profiler, file, calls)                                                   \
    [ROCL_DOMAIN_##domain] = {#domain, word, profiler, file, calls},
    ROCL_DOMAIN_TABLE(ROW)
#undef ROW
};

const rocl_call_group rocl_call_groups[ROCL_CALL_GROUPS] = {
    {"hip", ROCL_DOMAIN_HIP},         {"hsa", ROCL_DOMAIN_HSA},
    {"rccl", ROCL_DOMAIN_RCCL},       {"nccl", ROCL_DOMAIN_OTHER},
    {"marker", ROCL_DOMAIN_MARKERS},  {"rocdecode", ROCL_DOMAIN_ROCDECODE},
    {"rocjpeg", ROCL_DOMAIN_ROCJPEG}, {"ompt", ROCL_DOMAIN_OTHER},
    {"mpi", ROCL_DOMAIN_OTHER},       {"kfd_api", ROCL_DOMAIN_KFD},
};

const rocl_call_group *rocl_call_group_of(const char *category)
{
    for (size_t i = 0; i < ROCL_CALL_GROUPS; i++) {
        const char *s = category, *word = rocl_call_groups[i].word;
        while (*word && ((*s | 0x20) == *word || *s == *word)) /* ignoring case */
            s++, word++;
        if (!*word && (!*s || *s == '_'))
            return &rocl_call_groups[i];
    }
    return NULL;
}

const char *rocl_bare_category(const char *category)
{
    return strncasecmp(category, "rocm_", 5) == 0 ? category + 5 : category;
}

rocl_domain rocl_domain_of(const rocl_trace *t, rocl_kind kind, uint32_t category)
{
    if (kind != ROCL_REGION && kind != ROCL_INSTANT)
        return (rocl_domain)rocl_kind_infos[kind].domain;
    const rocl_call_group *g = rocl_call_group_of(rocl_str(t, category));
    return g ? g->domain : ROCL_DOMAIN_OTHER;
}

bool rocl_roctx_call_marks(rocl_view category, rocl_view function)
{
    static const char *const others[] = {"roctxRangePop", "roctxRangeStop", "roctxGetThreadId"};
    bool marks =
        !rocl_view_is(category, "MARKER_CONTROL_API") && !rocl_view_is(category, "MARKER_NAME_API");
    for (size_t i = 0; marks && i < sizeof others / sizeof *others; i++)
        marks = !rocl_view_is(function, others[i]);
    return marks;
}

/* ---- kinds ---- */

const rocl_kind_info rocl_kind_infos[ROCL_KINDS] = {
#define ROW(kind, name, record, domain, traits, first, second, queue)                              \
    [ROCL_##kind] = {name,                                                                         \
                     sizeof(record),                                                               \
                     {offsetof(record, first), offsetof(record, second)},                          \
                     offsetof(record, queue),                                                      \
                     ROCL_DOMAIN_##domain,                                                         \
                     traits},
    ROCL_KIND_TABLE(ROW)
#undef ROW
};

/* The rows are those of the public enum, in its order. */
enum {
#define ROW(kind, ...) ROW_##kind,
    ROCL_KIND_TABLE(ROW)
#undef ROW
        ROWS
};
#define ROW(kind, ...)                                                                             \
    _Static_assert((int)ROW_##kind == (int)ROCL_##kind, "kinds in another order than rocl_kind");
ROCL_KIND_TABLE(ROW)
#undef ROW
_Static_assert((int)ROWS == (int)ROCL_KINDS, "a kind without a row");

/* Every record begins with its event: that is what rocl_batch_event() relies on, and why the offset
 * of an agent is never 0. */
_Static_assert(sizeof(rocl_event) == 80 && offsetof(rocl_region, e) == 0 &&
                   offsetof(rocl_dispatch, e) == 0 && offsetof(rocl_copy, e) == 0 &&
                   offsetof(rocl_alloc, e) == 0 && offsetof(rocl_counter_value, d.e) == 0 &&
                   offsetof(rocl_sample_value, e) == 0 && offsetof(rocl_hip, e) == 0 &&
                   offsetof(rocl_flow, e) == 0,
               "a record must begin with its event");
_Static_assert(offsetof(rocl_dispatch, stream) == offsetof(rocl_dispatch, queue) + 4 &&
                   offsetof(rocl_copy, stream) == offsetof(rocl_copy, queue) + 4 &&
                   offsetof(rocl_alloc, stream) == offsetof(rocl_alloc, queue) + 4 &&
                   offsetof(rocl_hip, stream) == offsetof(rocl_hip, queue) + 4,
               "a stream must follow its queue");

const char *rocl_kind_name(rocl_kind k)
{
    return (unsigned)k < ROCL_KINDS ? rocl_kind_infos[k].name : "";
}

size_t rocl_kind_size(rocl_kind k)
{
    return (unsigned)k < ROCL_KINDS ? rocl_kind_infos[k].size : 0;
}

rocl_event *rocl_batch_event(const rocl_batch *b, size_t i)
{
    return rocl_event_at(b, rocl_kind_infos[b->kind].size, i);
}

const rocl_arg *rocl_event_args(const rocl_batch *b, const rocl_event *e, uint32_t *count)
{
    const rocl_any_record *r = (const rocl_any_record *)(const void *)e;
    uint32_t first = 0;
    *count = 0;
    if (rocl_kind_in(b->kind, ROCL_HOST_KINDS)) {
        first = r->region.arg_first;
        *count = r->region.arg_count;
    } else if (b->kind == ROCL_DISPATCH) {
        first = r->dispatch.arg_first;
        *count = r->dispatch.arg_count;
    }
    return *count ? b->args + first : NULL;
}

size_t rocl_alloc_name(char *to, rocl_alloc_level level, rocl_alloc_op op)
{
    static const char *const prefix[] = {"MEMORY_ALLOCATION_", "MEMORY_ALLOCATION_",
                                         "MEMORY_ALLOCATION_VMEM_", "SCRATCH_MEMORY_"};
    static const char *const memory[] = {"NONE", "ALLOCATE", "FREE", "REALLOCATE", "RECLAIM"};
    static const char *const scratch[] = {"NONE", "ALLOC", "FREE", "REALLOC", "ASYNC_RECLAIM"};
    const char *const *ops = level == ROCL_LEVEL_SCRATCH ? scratch : memory;
    return (size_t)snprintf(to, ROCL_ALLOC_NAME_MAX, "%s%s", prefix[level], ops[op]);
}
