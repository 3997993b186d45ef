/* What stands before the records of a process in rocprofv3's JSON: metadata, agents, counters,
 * names, code objects and symbols. Unknown values are those that the profiler writes if it does not
 * know them. */
#include "sink/rocprofv3/rocprofv3.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/json.h"
#include "model/identity.h"

/* ---- kinds and operations -------------------------------------------------------------------- */

/* The operations of kinds other than APIs have fixed numbers, from 0; those of an API are the ones
 * that the trace uses. */
enum { OPERATIONS_MAX = 6, MEMBERS_MAX = 64 };

static const struct {
    const char *name;
    rocl_domain domain; /* of the records that may be of this kind; ROCL_DOMAINS: none is */
    const char *operations[OPERATIONS_MAX];
} kinds[V3_KINDS] = {
    {"NONE", ROCL_DOMAINS, {0}},
    {"HSA_CORE_API", ROCL_DOMAIN_HSA, {0}},
    {"HSA_AMD_EXT_API", ROCL_DOMAIN_HSA, {0}},
    {"HSA_IMAGE_EXT_API", ROCL_DOMAIN_HSA, {0}},
    {"HSA_FINALIZE_EXT_API", ROCL_DOMAIN_HSA, {0}},
    {"HIP_RUNTIME_API", ROCL_DOMAIN_HIP, {0}},
    {"HIP_COMPILER_API", ROCL_DOMAIN_HIP, {0}},
    {"MARKER_CORE_API",
     ROCL_DOMAIN_MARKERS,
     {"roctxMarkA", "roctxRangePushA", "roctxRangePop", "roctxRangeStartA", "roctxRangeStop",
      "roctxGetThreadId"}},
    {"MARKER_CONTROL_API", ROCL_DOMAIN_MARKERS, {"roctxProfilerPause", "roctxProfilerResume"}},
    {"MARKER_NAME_API",
     ROCL_DOMAIN_MARKERS,
     {"roctxNameOsThread", "roctxNameHsaAgent", "roctxNameHipDevice", "roctxNameHipStream"}},
    {"MEMORY_COPY",
     ROCL_DOMAIN_MEMORY_COPIES,
     {"MEMORY_COPY_NONE", "MEMORY_COPY_HOST_TO_HOST", "MEMORY_COPY_HOST_TO_DEVICE",
      "MEMORY_COPY_DEVICE_TO_HOST", "MEMORY_COPY_DEVICE_TO_DEVICE"}},
    {"KERNEL_DISPATCH",
     ROCL_DOMAIN_KERNELS,
     {"KERNEL_DISPATCH_NONE", "KERNEL_DISPATCH_ENQUEUE", "KERNEL_DISPATCH_COMPLETE"}},
    {"SCRATCH_MEMORY",
     ROCL_DOMAIN_SCRATCH_MEMORY,
     {"SCRATCH_MEMORY_NONE", "SCRATCH_MEMORY_ALLOC", "SCRATCH_MEMORY_FREE",
      "SCRATCH_MEMORY_ASYNC_RECLAIM"}},
    {"CORRELATION_ID_RETIREMENT", ROCL_DOMAINS, {0}},
    {"RCCL_API", ROCL_DOMAIN_RCCL, {0}},
    {"OMPT", ROCL_DOMAINS, {0}},
    {"MEMORY_ALLOCATION",
     ROCL_DOMAIN_MEMORY_ALLOCATIONS,
     {"MEMORY_ALLOCATION_NONE", "MEMORY_ALLOCATION_ALLOCATE", "MEMORY_ALLOCATION_VMEM_ALLOCATE",
      "MEMORY_ALLOCATION_FREE", "MEMORY_ALLOCATION_VMEM_FREE"}},
    {"RUNTIME_INITIALIZATION", ROCL_DOMAINS, {0}},
    {"ROCDECODE_API", ROCL_DOMAIN_ROCDECODE, {0}},
    {"ROCJPEG_API", ROCL_DOMAIN_ROCJPEG, {0}},
    {"HIP_STREAM", ROCL_DOMAINS, {0}},
    {"HIP_RUNTIME_API_EXT", ROCL_DOMAIN_HIP, {0}},
    {"HIP_COMPILER_API_EXT", ROCL_DOMAIN_HIP, {0}},
    {"ROCDECODE_API_EXT", ROCL_DOMAIN_ROCDECODE, {0}},
    {"KFD_EVENT_PAGE_MIGRATE", ROCL_DOMAINS, {0}},
    {"KFD_EVENT_PAGE_FAULT", ROCL_DOMAINS, {0}},
    {"KFD_EVENT_QUEUE", ROCL_DOMAINS, {0}},
    {"KFD_EVENT_UNMAP_FROM_GPU", ROCL_DOMAINS, {0}},
    {"KFD_EVENT_DROPPED_EVENTS", ROCL_DOMAINS, {0}},
    {"KFD_PAGE_MIGRATE", ROCL_DOMAINS, {0}},
    {"KFD_PAGE_FAULT", ROCL_DOMAINS, {0}},
    {"KFD_QUEUE", ROCL_DOMAINS, {0}},
    {"MARKER_CORE_RANGE_API",
     ROCL_DOMAIN_MARKERS,
     {"roctxMarkA", "roctxThreadRangeA", "roctxProcessRangeA", "roctxGetThreadId"}},
};

/* Kinds of callback records, in their order, by the numbers of buffer records. CODE_OBJECT is not
 * one of those. */
enum { CODE_OBJECT = V3_KINDS };
static const uint8_t callback_kinds[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  CODE_OBJECT,
                                         12, 11, 10, 14, 15, 16, 17, 18, 19, 20, 32};

v3_kind v3_kind_of(const char *name, rocl_domain domain, v3_kind otherwise)
{
    for (int i = 0; i < V3_KINDS; i++)
        if (kinds[i].domain == domain && !strcmp(name, kinds[i].name))
            return (v3_kind)i;
    return otherwise;
}

bool v3_names_add(v3_names *n, const rocl_trace *t, uint64_t key)
{
    if (rocl_map_get(&n->index, key, ROCL_NONE) != ROCL_NONE)
        return true;
    if (!ROCL_GROW(n->all, n->cap, n->count + 1) ||
        !rocl_map_put(&n->index, key, (uint32_t)n->count))
        return false;
    v3_name *name = &n->all[n->count++];
    name->key = key;
    name->text = rocl_text(t, (uint32_t)key, &name->len);
    return true;
}

static int compare_names(const void *a, const void *b)
{
    const v3_name *x = a, *y = b;
    const uint64_t of_x = x->key >> 32, of_y = y->key >> 32;
    if (of_x != of_y)
        return of_x < of_y ? -1 : 1;
    const int order = memcmp(x->text, y->text, x->len < y->len ? x->len : y->len);
    return order ? order : x->len < y->len ? -1 : x->len > y->len;
}

uint64_t v3_label_number(const char *text, size_t len)
{
    uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (uint8_t)text[i]) * 0x100000001b3;
    hash &= ((uint64_t)1 << 53) - 1; /* which a double holds */
    return hash ? hash : 1;
}

bool v3_names_number(v3_names *n)
{
    uint64_t next = 0;
    if (n->count)
        qsort(n->all, n->count, sizeof *n->all, compare_names);
    for (size_t i = 0; i < n->count; i++) {
        v3_name *name = &n->all[i];
        const unsigned kind = (unsigned)(name->key >> 32) & 63;
        const char *const *fixed = kind < V3_KINDS ? kinds[kind].operations : NULL;
        unsigned count = 0, at = OPERATIONS_MAX;
        for (; fixed && count < OPERATIONS_MAX && fixed[count]; count++)
            at = !strcmp(fixed[count], name->text) ? count : at;
        if (!i || name->key >> 32 != n->all[i - 1].key >> 32)
            next = count;
        name->number = kind == V3_LABEL      ? v3_label_number(name->text, name->len)
                       : at < OPERATIONS_MAX ? at
                                             : next++;
        if (!rocl_map_put(&n->index, name->key, (uint32_t)i))
            return false;
    }
    return true;
}

void v3_names_free(v3_names *n)
{
    rocl_map_free(&n->index);
    free(n->all);
}

uint64_t v3_number_of(const v3_names *n, uint64_t key)
{
    return n->all[rocl_map_get(&n->index, key, 0)].number;
}

/* The first name of a kind that an element uses, and behind the last. */
static const v3_name *first_name(const v3_element *e, unsigned kind, const v3_name **end)
{
    const v3_names *n = e->names;
    const uint64_t of = v3_name_key(e->index, (v3_kind)kind, 0) >> 32;
    size_t low = 0, high = n->count;
    *end = NULL;
    if (!n->count)
        return NULL;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (n->all[middle].key >> 32 < of)
            low = middle + 1;
        else
            high = middle;
    }
    for (high = low; high < n->count && n->all[high].key >> 32 == of;)
        high++;
    *end = n->all + high;
    return n->all + low;
}

static void put_kind(rocl_buf *b, const v3_element *e, unsigned kind)
{
    const v3_name *end, *name;
    const char *before = "";
    if (kind == CODE_OBJECT) {
        rocl_buf_str(b, "{\"kind\":\"CODE_OBJECT\",\"operations\":[\"CODE_OBJECT_NONE\","
                        "\"CODE_OBJECT_LOAD\",\"CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER\","
                        "\"CODE_OBJECT_HOST_KERNEL_SYMBOL_REGISTER\"]}");
        return;
    }
    v3_put_string(b, "{\"kind\":", kinds[kind].name, strlen(kinds[kind].name));
    rocl_buf_str(b, ",\"operations\":[");
    unsigned fixed = 0;
    for (; fixed < OPERATIONS_MAX && kinds[kind].operations[fixed]; fixed++, before = ",")
        v3_put_string(b, before, kinds[kind].operations[fixed],
                      strlen(kinds[kind].operations[fixed]));
    for (name = first_name(e, kind, &end); name < end; name++) {
        if (name->number < fixed)
            continue;
        v3_put_string(b, before, name->text, name->len);
        before = ",";
    }
    rocl_buf_str(b, "]}");
}

/* ---- numbers of definitions ------------------------------------------------------------------ */

/* Ids must be positive and distinct; else all are numbered from 1. */
static bool check_ids(uint64_t *ids, size_t count)
{
    rocl_map seen = {0};
    bool distinct = true, memory = true;
    for (size_t i = 0; i < count && distinct && memory; i++) {
        distinct = ids[i] && ids[i] <= INT64_MAX && !rocl_map_get(&seen, ids[i], 0);
        memory = rocl_map_put(&seen, ids[i], 1);
    }
    for (size_t i = 0; i < count && !distinct; i++)
        ids[i] = i + 1;
    rocl_map_free(&seen);
    return memory;
}

/* The handle that the profiler gave an agent; 0 where the input does not say. */
static uint64_t read_handle(const char *json)
{
    static const rocl_view ids[] = {ROCL_JSON_KEY("id")}, handles[] = {ROCL_JSON_KEY("handle")};
    rocl_json r;
    rocl_json_token v;
    uint64_t handle = 0;
    rocl_json_open(&r, json, strlen(json), 0, 0);
    if (rocl_json_element(&r, &v) && rocl_json_enter(&r, ROCL_JSON_OBJECT) &&
        rocl_json_member(&r, ids, 1, &v) >= 0 && rocl_json_enter(&r, ROCL_JSON_OBJECT) &&
        rocl_json_member(&r, handles, 1, &v) >= 0 && !rocl_json_uint(v.text, &handle))
        handle = 0;
    return handle;
}

/* Symbols and code objects are at the index of their id, with zeros between them: if that would be
 * mostly zeros, or processes share an id, they are numbered from 1. */
static bool number_densely(uint64_t *ids, size_t count, uint64_t *end)
{
    uint64_t last = 0;
    if (!check_ids(ids, count))
        return false;
    for (size_t i = 0; i < count; i++)
        last = ids[i] > last ? ids[i] : last;
    const bool dense = last <= 4 * (uint64_t)count + 1024;
    for (size_t i = 0; i < count && !dense; i++)
        ids[i] = i + 1;
    *end = (dense ? last : count) + 1;
    return true;
}

/* If an input has the agent of code, but no code objects, there is one for each agent. */
static bool number_code_objects(v3_ids *ids, const rocl_capture *c)
{
    uint64_t *of_agents = ids->code_objects + c->code_object_count;
    for (uint32_t i = 0; i < c->code_object_count; i++)
        ids->code_objects[i] = (uint64_t)c->code_objects[i].id;
    if (!number_densely(ids->code_objects, c->code_object_count, &ids->code_object_end))
        return false;
    for (uint32_t i = 0; i < c->kernel_count; i++)
        if (c->kernels[i].code_object >= c->code_object_count &&
            c->kernels[i].agent < c->agent_count)
            of_agents[c->kernels[i].agent] = 1;
    for (uint32_t i = 0; i < c->agent_count; i++)
        of_agents[i] = of_agents[i] ? ids->code_object_end++ : 0;
    return true;
}

rocl_status v3_ids_make(v3_ids *ids, rocl_trace *t, const rocl_capture *c, rocl_error *err)
{
    ids->agents = calloc(c->agent_count + 1, sizeof *ids->agents);
    ids->counters = calloc(c->counter_count + 1, sizeof *ids->counters);
    ids->kernels = calloc(c->kernel_count + 1, sizeof *ids->kernels);
    ids->code_objects =
        calloc((size_t)c->code_object_count + c->agent_count + 1, sizeof *ids->code_objects);
    if (!ids->agents || !ids->counters || !ids->kernels || !ids->code_objects)
        return rocl_fail_memory(err);
    for (uint32_t i = 0; i < c->agent_count; i++) {
        char *json = NULL;
        rocl_status st = rocl_agent_json(t, c, i, &json, err);
        if (st != ROCL_OK)
            return st;
        ids->agents[i] = read_handle(json);
        if (!ids->agents[i])
            ids->agents[i] = (uint64_t)c->agents[i].id;
        free(json);
    }
    for (uint32_t i = 0; i < c->counter_count; i++)
        ids->counters[i] = (uint64_t)c->counters[i].id;
    for (uint32_t i = 0; i < c->kernel_count; i++)
        ids->kernels[i] = (uint64_t)c->kernels[i].id;
    return check_ids(ids->agents, c->agent_count) && check_ids(ids->counters, c->counter_count) &&
                   number_densely(ids->kernels, c->kernel_count, &ids->kernel_end) &&
                   number_code_objects(ids, c)
               ? ROCL_OK
               : rocl_fail_memory(err);
}

void v3_ids_free(v3_ids *ids)
{
    free(ids->agents);
    free(ids->counters);
    free(ids->kernels);
    free(ids->code_objects);
}

/* ---- values out of JSON that the input keeps ------------------------------------------------- */

/* Takes the value that was just returned as it is written. False: it is not the kind of value
 * that is wanted, or no JSON. */
static bool take_value(rocl_json *r, const rocl_json_token *v, char begins_with, rocl_view *to)
{
    const char *from = v->kind == ROCL_JSON_STRING ? v->text.p - 1 : v->text.p;
    const bool number = begins_with >= '0' && begins_with <= '9';
    if (number ? v->kind != ROCL_JSON_NUMBER : *from != begins_with)
        return false;
    if (v->kind == ROCL_JSON_OBJECT || v->kind == ROCL_JSON_ARRAY) {
        rocl_json_token inner;
        const unsigned depth = r->depth;
        rocl_json_enter(r, v->kind);
        while (r->depth > depth && rocl_json_next(r, &inner) != ROCL_JSON_NOTHING)
            ;
        *to = (rocl_view){from, (size_t)(r->at - from)};
    } else {
        *to = (rocl_view){from, v->text.n + (v->kind == ROCL_JSON_STRING ? 2 : 0)};
    }
    return !r->wrong;
}

typedef struct member {
    rocl_view key;
    const char *neutral; /* the value where the input has none */
} member;

/* The values of some members of an object. */
static void read_members(const char *json, size_t len, const member *members, rocl_view *to,
                         unsigned count)
{
    rocl_view keys[MEMBERS_MAX];
    rocl_json r;
    rocl_json_token v;
    for (unsigned i = 0; i < count; i++) {
        keys[i] = members[i].key;
        to[i] = (rocl_view){members[i].neutral, strlen(members[i].neutral)};
    }
    rocl_json_open(&r, json, len, 0, 0);
    if (rocl_json_element(&r, &v) && rocl_json_enter(&r, ROCL_JSON_OBJECT))
        for (int k; (k = rocl_json_member(&r, keys, count, &v)) >= 0;) {
            rocl_view value;
            if (take_value(&r, &v, *members[k].neutral, &value))
                to[k] = value;
        }
}

static void put_value(rocl_buf *b, const member *m, rocl_view value)
{
    rocl_buf_str(b, ",\"");
    rocl_buf_put(b, m->key.p, m->key.n);
    rocl_buf_str(b, "\":");
    rocl_utf8_put(b, value.p, value.n);
}

/* ---- agents ---------------------------------------------------------------------------------- */

/* clang-format off */
#define CAPABILITY \
    "{\"HotPluggable\":0,\"HSAMMUPresent\":0,\"SharedWithGraphics\":0,\"QueueSizePowerOfTwo\":0," \
    "\"QueueSize32bit\":0,\"QueueIdleEvent\":0,\"VALimit\":0,\"WatchPointsSupported\":0," \
    "\"WatchPointsTotalBits\":0,\"DoorbellType\":0,\"AQLQueueDoubleMap\":0," \
    "\"DebugTrapSupported\":0,\"WaveLaunchTrapOverrideSupported\":0," \
    "\"WaveLaunchModeSupported\":0,\"PreciseMemoryOperationsSupported\":0," \
    "\"DEPRECATED_SRAM_EDCSupport\":0,\"Mem_EDCSupport\":0,\"RASEventNotify\":0," \
    "\"ASICRevision\":0,\"SRAM_EDCSupport\":0,\"SVMAPISupported\":0,\"CoherentHostAccess\":0," \
    "\"DebugSupportedFirmware\":0}"
#define UUID \
    "{\"bytes\":{\"value0\":0,\"value1\":0,\"value2\":0,\"value3\":0,\"value4\":0,\"value5\":0," \
    "\"value6\":0,\"value7\":0,\"value8\":0,\"value9\":0,\"value10\":0,\"value11\":0," \
    "\"value12\":0,\"value13\":0,\"value14\":0,\"value15\":0}}"

/* X(member, default). First those before `name`, in their order, then those after the names and
 * numbers that the trace itself has. */
#define AGENT_MEMBERS(X) \
    X("cpu_cores_count", "0") X("simd_count", "0") X("mem_banks_count", "0") \
    X("caches_count", "0") X("io_links_count", "0") X("cpu_core_id_base", "0") \
    X("simd_id_base", "0") X("max_waves_per_simd", "0") X("lds_size_in_kb", "0") \
    X("gds_size_in_kb", "0") X("num_gws", "0") X("wave_front_size", "0") X("num_xcc", "0") \
    X("cu_count", "0") X("array_count", "0") X("num_shader_banks", "0") \
    X("simd_arrays_per_engine", "0") X("cu_per_simd_array", "0") X("simd_per_cu", "0") \
    X("max_slots_scratch_cu", "0") X("gfx_target_version", "0") X("vendor_id", "0") \
    X("device_id", "0") X("location_id", "0") X("domain", "0") X("drm_render_minor", "0") \
    X("num_sdma_engines", "0") X("num_sdma_xgmi_engines", "0") \
    X("num_sdma_queues_per_engine", "0") X("num_cp_queues", "0") \
    X("max_engine_clk_ccompute", "0") X("max_engine_clk_fcompute", "0") \
    X("sdma_fw_version", "{\"uCodeSDMA\":0,\"uCodeRes\":0}") \
    X("fw_version", "{\"uCode\":0,\"Major\":0,\"Minor\":0,\"Stepping\":0}") \
    X("capability", CAPABILITY) X("cu_per_engine", "0") X("max_waves_per_cu", "0") \
    X("family_id", "0") X("workgroup_max_size", "0") X("grid_max_size", "0") \
    X("local_mem_size", "0") X("hive_id", "0") X("gpu_id", "0") \
    X("workgroup_max_dim", "{\"x\":0,\"y\":0,\"z\":0}") \
    X("grid_max_dim", "{\"x\":0,\"y\":0,\"z\":0}")
#define AGENT_MEMBERS_AFTER(X) \
    X("runtime_visibility", "{\"hsa\":1,\"hip\":1,\"rccl\":1,\"rocdecode\":1}") X("uuid", UUID) \
    X("mem_banks", "[]") X("caches", "[]") X("io_links", "[]")
#define ONE(...) +1
#define MEMBER(key, neutral) {ROCL_JSON_KEY(key), neutral},
/* clang-format on */

enum { BEFORE_NAMES = 0 AGENT_MEMBERS(ONE), AGENT_KEYS = BEFORE_NAMES AGENT_MEMBERS_AFTER(ONE) };
_Static_assert((int)AGENT_KEYS <= (int)MEMBERS_MAX, "agents have the most members");

static void put_index(rocl_buf *b, const char *before, int64_t index)
{
    rocl_buf_str_i64(b, before, index < 0 ? 0 : index);
}

static rocl_status put_agent(rocl_buf *b, const v3_element *e, uint32_t at, rocl_error *err)
{
    static const member members[] = {AGENT_MEMBERS(MEMBER) AGENT_MEMBERS_AFTER(MEMBER)};
    const rocl_agent *a = &e->capture->agents[at];
    rocl_view values[AGENT_KEYS];
    char *json = NULL;
    rocl_status st = rocl_agent_json(e->trace, e->capture, at, &json, err);
    if (st != ROCL_OK)
        return st;
    read_members(json, strlen(json), members, values, AGENT_KEYS);
    rocl_buf_str_u64(b, "{\"size\":312,\"id\":{\"handle\":", e->ids->agents[at]);
    rocl_buf_str_u64(b, "},\"type\":",
                     a->type == ROCL_AGENT_GPU   ? 2
                     : a->type == ROCL_AGENT_CPU ? 1
                                                 : 0);
    for (unsigned i = 0; i < BEFORE_NAMES; i++)
        put_value(b, &members[i], values[i]);
    v3_put_text(b, ",\"name\":", e->trace, a->name);
    v3_put_text(b, ",\"vendor_name\":", e->trace, a->vendor);
    v3_put_text(b, ",\"product_name\":", e->trace, a->product);
    v3_put_text(b, ",\"model_name\":", e->trace, a->model);
    put_index(b, ",\"node_id\":", a->absolute_index);
    put_index(b, ",\"logical_node_id\":", a->logical_index);
    put_index(b, ",\"logical_node_type_id\":", a->type_index);
    for (unsigned i = BEFORE_NAMES; i < AGENT_KEYS; i++)
        put_value(b, &members[i], values[i]);
    /* Its number among the GPUs. */
    rocl_buf_str_i64(b, ",\"gpu_index\":", a->type == ROCL_AGENT_GPU ? a->type_index : -1);
    rocl_buf_byte(b, '}');
    free(json);
    return ROCL_OK;
}

/* ---- metadata, counters ---------------------------------------------------------------------- */

static void put_metadata(rocl_buf *b, const v3_element *e)
{
    const rocl_capture *c = e->capture;
    const rocl_trace *t = e->trace;
    const rocl_process none = {.node = ROCL_NONE, .rank = -1};
    const rocl_process *p = e->process < c->process_count ? &c->processes[e->process] : &none;
    const rocl_node nowhere = {0};
    const uint32_t at = rocl_node_or_only(c, p->node);
    const rocl_node *node = at < c->node_count ? &c->nodes[at] : &nowhere;
    const rocl_machine *m = rocl_machine_at(c, e->process);
    rocl_buf_str_i64(b, "{\"metadata\":{\"node\":{\"id\":", node->id);
    v3_put_text(b, ",\"hash\":0,\"machine_id\":", t,
                node->machine_id || !m ? node->machine_id : m->machine_id);
    v3_put_text(b, ",\"system_name\":", t, node->system_name);
    v3_put_text(b, ",\"hostname\":", t, node->hostname || !m ? node->hostname : m->hostname);
    v3_put_text(b, ",\"release\":", t, node->release);
    v3_put_text(b, ",\"version\":", t, node->version);
    v3_put_text(b, ",\"hardware_name\":", t, node->hardware);
    rocl_buf_str_i64(b, ",\"domain_name\":\"(none)\"},\"pid\":", p->pid);
    rocl_buf_str_i64(b, ",\"init_time\":", p->init ? p->init : p->start);
    rocl_buf_str_i64(b, ",\"fini_time\":", p->fini ? p->fini : p->end);
    rocl_buf_str(b, ",\"command\":[");
    const char *word = rocl_text(t, p->command, NULL), *before = "";
    while (*(word += strspn(word, " "))) {
        const size_t n = strcspn(word, " ");
        v3_put_string(b, before, word, n);
        before = ",";
        word += n;
    }
    rocl_buf_str(b, "],\"config\":{\"output_path\":\"\",\"output_file\":\"\","
                    "\"tmp_directory\":\"\",\"raw_output_path\":\"\",\"raw_output_file\":\"\","
                    "\"raw_tmp_directory\":\"\",\"perfetto_shmem_size_hint\":64,"
                    "\"perfetto_buffer_size\":1048576,"
                    "\"perfetto_buffer_fill_policy\":\"discard\","
                    "\"perfetto_backend\":\"inprocess\",\"summary\":false,"
                    "\"summary_per_domain\":false,\"summary_groups\":[],"
                    "\"summary_unit\":\"nsec\",\"summary_file\":\"stderr\","
                    "\"csv_output\":false,\"json_output\":true,\"pftrace_output\":false,"
                    "\"otf2_output\":false,\"summary_output\":false,\"rocpd_output\":false,"
                    "\"kernel_rename\":");
    rocl_buf_str(b, t->opt.kernel_rename ? "true" : "false");
    rocl_buf_str(b, ",\"group_by_queue\":false}");
    /* AMD's format has no place for the rank, and none for a machine without a name. */
    const bool numbered = e->shared && m && !rocl_machine_is_named(m);
    if (p->rank >= 0 || numbered) {
        rocl_buf_str(b, ",\"rocline\":{");
        if (p->rank >= 0)
            rocl_buf_str_i64(b, "\"rank\":", p->rank);
        if (numbered)
            rocl_buf_str_i64(b, p->rank >= 0 ? ",\"machine\":" : "\"machine\":", m - t->machines);
        rocl_buf_byte(b, '}');
    }
    rocl_buf_byte(b, '}');
}

rocl_status v3_put_begin(rocl_buf *b, const v3_element *e, rocl_error *err)
{
    const rocl_capture *c = e->capture;
    const char *before = "";
    rocl_status st = ROCL_OK;
    put_metadata(b, e);
    rocl_buf_str(b, ",\"agents\":[");
    for (uint32_t i = 0; i < c->agent_count && st == ROCL_OK; i++) {
        /* Agents of no process belong to the processes of their machine, or to all if that is
         * unknown. */
        const rocl_agent *a = &c->agents[i];
        if (v3_is_of(c, a->process, e->process) &&
            (a->process < c->process_count || a->node >= c->node_count ||
             a->machine == rocl_machine_of(c, e->process))) {
            rocl_buf_str(b, before);
            st = put_agent(b, e, i, err);
            before = ",";
        }
    }
    rocl_buf_str(b, "],\"counters\":[");
    before = "";
    for (uint32_t i = 0; i < c->counter_count; i++)
        if (v3_is_of(c, c->counters[i].process, e->process)) {
            rocl_buf_str(b, before);
            const rocl_counter *k = &c->counters[i];
            rocl_buf_str_u64(b, "{\"agent_id\":{\"handle\":",
                             k->agent < c->agent_count ? e->ids->agents[k->agent] : 0);
            rocl_buf_str_u64(b, "},\"id\":{\"handle\":", e->ids->counters[i]);
            v3_put_text(b, "},\"is_constant\":0,\"is_derived\":0,\"name\":", e->trace, k->name);
            v3_put_text(b, ",\"description\":", e->trace, k->description);
            v3_put_text(b, ",\"block\":", e->trace, k->block);
            rocl_buf_str(b, ",\"expression\":\"\",\"dimensions\":[],\"instances\":[]}");
            before = ",";
        }
    rocl_buf_str(b, "],\"strings\":{\"callback_records\":[");
    for (size_t i = 0; i < sizeof callback_kinds; i++) {
        rocl_buf_str(b, i ? "," : "");
        put_kind(b, e, callback_kinds[i]);
    }
    rocl_buf_str(b, "],\"buffer_records\":[");
    for (unsigned i = 0; i < V3_KINDS; i++) {
        rocl_buf_str(b, i ? "," : "");
        put_kind(b, e, i);
    }
    rocl_buf_str(b, "],\"marker_api\":[");
    return st;
}

/* ---- code objects and symbols ---------------------------------------------------------------- */

enum { URI, LOAD_BASE, LOAD_SIZE, LOAD_DELTA, STORAGE, FILE_OF_CODE, MEMORY_BASE, MEMORY_SIZE };
enum { CODE_KEYS = MEMORY_SIZE + 1 };

/* A code object, with the properties from its input; a hole has id and agent 0. */
static void put_code_object(rocl_buf *b, uint64_t id, uint64_t agent, const rocl_buf *json)
{
    static const member members[CODE_KEYS] = {
        [URI] = {ROCL_JSON_KEY("uri"), "\"\""},
        [LOAD_BASE] = {ROCL_JSON_KEY("load_base"), "0"},
        [LOAD_SIZE] = {ROCL_JSON_KEY("load_size"), "0"},
        [LOAD_DELTA] = {ROCL_JSON_KEY("load_delta"), "0"},
        [STORAGE] = {ROCL_JSON_KEY("storage_type"), "0"},
        [FILE_OF_CODE] = {ROCL_JSON_KEY("storage_file"), "0"},
        [MEMORY_BASE] = {ROCL_JSON_KEY("memory_base"), "0"},
        [MEMORY_SIZE] = {ROCL_JSON_KEY("memory_size"), "0"},
    };
    rocl_view values[CODE_KEYS];
    read_members((const char *)json->data, json->len, members, values, CODE_KEYS);
    rocl_buf_str_u64(
        b, id ? "{\"size\":88,\"code_object_id\":" : "{\"size\":0,\"code_object_id\":", id);
    rocl_buf_str_u64(b, ",\"agent_id\":{\"handle\":", agent);
    rocl_buf_byte(b, '}');
    for (unsigned i = URI; i <= STORAGE; i++)
        put_value(b, &members[i], values[i]);
    if (rocl_view_is(values[STORAGE], "1"))
        put_value(b, &members[FILE_OF_CODE], values[FILE_OF_CODE]);
    for (unsigned i = MEMORY_BASE; i <= MEMORY_SIZE && rocl_view_is(values[STORAGE], "2"); i++)
        put_value(b, &members[i], values[i]);
    rocl_buf_byte(b, '}');
}

static rocl_status put_code_objects(rocl_buf *b, const v3_element *e, rocl_error *err)
{
    const rocl_capture *c = e->capture;
    const uint64_t end = e->ids->code_object_end, *ids = e->ids->code_objects;
    const uint32_t all = c->code_object_count + c->agent_count;
    uint32_t *at = malloc(end * sizeof *at);
    rocl_buf json = {0};
    uint64_t last = 0;
    rocl_status st = ROCL_OK;
    if (!at)
        return rocl_fail_memory(err);
    memset(at, 0xff, end * sizeof *at); /* ROCL_NONE */
    for (uint32_t i = 0; i < all; i++) {
        const uint32_t owner = i < c->code_object_count
                                   ? c->code_objects[i].process
                                   : c->agents[i - c->code_object_count].process;
        if (!ids[i] || !v3_is_of(c, owner, e->process))
            continue;
        at[ids[i]] = i;
        last = ids[i] > last ? ids[i] : last;
    }
    for (uint64_t id = 0; id <= last && st == ROCL_OK; id++) {
        const uint32_t i = at[id];
        const uint32_t agent = i == ROCL_NONE             ? ROCL_NONE
                               : i < c->code_object_count ? c->code_objects[i].agent
                                                          : i - c->code_object_count;
        json.len = 0;
        if (i < c->code_object_count)
            st = rocl_code_object_json(e->trace, c, i, &json, err);
        rocl_buf_str(b, id ? "," : "");
        put_code_object(b, i == ROCL_NONE ? 0 : id,
                        agent < c->agent_count ? e->ids->agents[agent] : 0, &json);
    }
    if (st == ROCL_OK && json.failed)
        st = rocl_fail_memory(err);
    rocl_buf_free(&json);
    free(at);
    return st;
}

enum {
    KERNEL_OBJECT,
    KERNARG_SIZE,
    KERNARG_ALIGNMENT,
    KERNEL_ENTRY,
    KERNEL_ADDRESS,
    DEMANGLED,
    TRUNCATED,
    SYMBOL_KEYS
};

static const member symbol_members[SYMBOL_KEYS] = {
    [KERNEL_OBJECT] = {ROCL_JSON_KEY("kernel_object"), "0"},
    [KERNARG_SIZE] = {ROCL_JSON_KEY("kernarg_segment_size"), "0"},
    [KERNARG_ALIGNMENT] = {ROCL_JSON_KEY("kernarg_segment_alignment"), "0"},
    [KERNEL_ENTRY] = {ROCL_JSON_KEY("kernel_code_entry_byte_offset"), "0"},
    [KERNEL_ADDRESS] = {ROCL_JSON_KEY("kernel_address"), "{\"handle\":0}"},
    [DEMANGLED] = {ROCL_JSON_KEY("demangled_kernel_name"), "\"\""},
    [TRUNCATED] = {ROCL_JSON_KEY("truncated_kernel_name"), "\"\""},
};

/* A symbol; for a hole `name` is rocprofv3's placeholder, and k is NULL. */
static rocl_status put_symbol(rocl_buf *b, const v3_element *e, uint64_t id, uint32_t at,
                              const char *name, size_t name_len, rocl_error *err)
{
    const rocl_kernel zero = {.agent = ROCL_NONE, .code_object = ROCL_NONE};
    const rocl_capture *c = e->capture;
    const rocl_kernel *k = at == ROCL_NONE ? &zero : &c->kernels[at];
    const uint64_t *objects = e->ids->code_objects;
    const bool real = at != ROCL_NONE || id;
    rocl_buf json = {0};
    rocl_view values[SYMBOL_KEYS];
    rocl_status st = ROCL_OK;
    if (at != ROCL_NONE) {
        st = rocl_kernel_json(e->trace, c, at, &json, err);
        const uint32_t shown = k->shown && k->shown != ROCL_NONE ? k->shown : k->display;
        name = rocl_text(e->trace, shown, &name_len);
    }
    read_members((const char *)json.data, json.len, symbol_members, values, SYMBOL_KEYS);
    rocl_buf_str_u64(b, real ? "{\"size\":88,\"kernel_id\":" : "{\"size\":0,\"kernel_id\":", id);
    rocl_buf_str_u64(b, ",\"code_object_id\":",
                     k->code_object < c->code_object_count ? objects[k->code_object]
                     : k->agent < c->agent_count ? objects[c->code_object_count + k->agent]
                                                 : 0);
    rocl_buf_str(b, ",\"kernel_name\":\"");
    size_t n = 0;
    const char *mangled = rocl_text(e->trace, k->mangled, &n);
    if (n) {
        rocl_json_put(b, mangled, n);
        rocl_buf_str(b, ".kd");
    } else if (real) {
        rocl_json_put(b, name, name_len);
    }
    rocl_buf_byte(b, '"');
    for (unsigned i = KERNEL_OBJECT; i <= KERNARG_ALIGNMENT; i++)
        put_value(b, &symbol_members[i], values[i]);
    rocl_buf_str_i64(b, ",\"group_segment_size\":", k->group_segment);
    rocl_buf_str_i64(b, ",\"private_segment_size\":", k->private_segment);
    rocl_buf_str_i64(b, ",\"sgpr_count\":", k->sgpr);
    rocl_buf_str_i64(b, ",\"arch_vgpr_count\":", k->arch_vgpr);
    rocl_buf_str_i64(b, ",\"accum_vgpr_count\":", k->accum_vgpr);
    for (unsigned i = KERNEL_ENTRY; i <= KERNEL_ADDRESS; i++)
        put_value(b, &symbol_members[i], values[i]);
    v3_put_string(b, ",\"formatted_kernel_name\":", name, name_len);
    for (unsigned i = DEMANGLED; i <= TRUNCATED; i++)
        if (values[i].n > 2) {
            put_value(b, &symbol_members[i], values[i]);
        } else {
            v3_put_string(
                b, i == DEMANGLED ? ",\"demangled_kernel_name\":" : ",\"truncated_kernel_name\":",
                name, name_len);
        }
    rocl_buf_byte(b, '}');
    rocl_buf_free(&json);
    return st;
}

/* Symbols at the indexes of their ids, then those of kernels that only have a name. */
static rocl_status put_symbols(rocl_buf *b, const v3_element *e, rocl_error *err)
{
    const rocl_capture *c = e->capture;
    const uint64_t end = e->ids->kernel_end;
    uint32_t *at = malloc(end * sizeof *at);
    if (!at)
        return rocl_fail_memory(err);
    uint64_t last = 0;
    memset(at, 0xff, end * sizeof *at); /* ROCL_NONE */
    for (uint32_t i = 0; i < c->kernel_count; i++)
        if (v3_is_of(c, c->kernels[i].process, e->process)) {
            at[e->ids->kernels[i]] = i;
            last = e->ids->kernels[i] > last ? e->ids->kernels[i] : last;
        }
    const v3_name *names_end, *name = first_name(e, V3_NAMED_KERNEL, &names_end);
    if (name < names_end)
        last = end - 1;
    rocl_status st = put_symbol(b, e, 0, ROCL_NONE, "0", 1, err);
    for (uint64_t i = 1; i <= last && st == ROCL_OK; i++) {
        rocl_buf_byte(b, ',');
        st = put_symbol(b, e, at[i] == ROCL_NONE ? 0 : i, at[i], "", 0, err);
    }
    for (; name < names_end && st == ROCL_OK; name++) {
        rocl_buf_byte(b, ',');
        st = put_symbol(b, e, end + name->number, ROCL_NONE, name->text, name->len, err);
    }
    free(at);
    return st;
}

/* clang-format off */
/* The first of the list, as the profiler always writes it. */
#define NO_XYZ "{\"x\":0,\"y\":0,\"z\":0}"
#define NO_HOST_FUNCTION \
    "{\"size\":0,\"host_function_id\":0,\"kernel_id\":0,\"code_object_id\":0," \
    "\"host_function\":{\"handle\":0},\"modules\":{\"handle\":0},\"device_function\":\"\"," \
    "\"thread_limit\":0,\"thread_ids\":" NO_XYZ ",\"block_ids\":" NO_XYZ ",\"block_dims\":" NO_XYZ \
    ",\"grid_dims\":" NO_XYZ ",\"workgroup_size\":0,\"formatted_host_function_name\":\"\"," \
    "\"demangled_host_function_name\":\"\",\"truncated_host_function_name\":\"\"}"
/* clang-format on */

rocl_status v3_put_middle(rocl_buf *b, const v3_element *e, rocl_error *err)
{
    const v3_name *end, *first = first_name(e, V3_LABEL, &end);
    for (const v3_name *name = first; name < end; name++) {
        rocl_buf_str_u64(b, name > first ? ",{\"key\":" : "{\"key\":", name->number);
        v3_put_string(b, ",\"value\":", name->text, name->len);
        rocl_buf_byte(b, '}');
    }
    rocl_buf_str(b, "]},\"counters\":{\"dimension_ids\":[]},\"pc_sample_instructions\":[],"
                    "\"pc_sample_comments\":[],\"att_filenames\":[],"
                    "\"code_object_snapshot_filenames\":[]},\"code_objects\":[");
    rocl_status st = put_code_objects(b, e, err);
    rocl_buf_str(b, "],\"kernel_symbols\":[");
    if (st == ROCL_OK)
        st = put_symbols(b, e, err);
    rocl_buf_str(b, "],\"host_functions\":[" NO_HOST_FUNCTION "],\"summary\":[],"
                    "\"callback_records\":{\"counter_collection\":[");
    return st;
}
