/* The members before the records of a process: metadata, agents, counters, strings, code objects,
 * symbols. All are looked up by their id, never by position: holes are filled with zeros, and other
 * writers leave out what they do not need. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/text.h"
#include "source/rocprofv3/rocprofv3.h"

/* ---- values and flat objects ----------------------------------------------------------------- */

static uint32_t put_text(rocprofv3_run *run, const rocl_json_token *v)
{
    rocl_view s = v->text;
    if (v->kind != ROCL_JSON_STRING)
        return 0;
    if (v->escaped) {
        run->text.len = 0;
        rocl_json_unescape(&run->text, s);
        s = (rocl_view){(const char *)run->text.data, run->text.len};
    }
    return run->text.failed ? ROCL_NONE : rocl_strings_put(run->trace->strings, s.p, s.n);
}

/* A number, or an object {"handle": number}. */
static void read_handle(rocl_json *r, const rocl_json_token *v, uint64_t *to)
{
    static const rocl_view keys[] = {ROCL_JSON_KEY("handle")};
    rocl_json_token n;
    if (v->kind != ROCL_JSON_OBJECT)
        rocl_json_uint(v->text, to);
    else if (rocl_json_enter(r, ROCL_JSON_OBJECT))
        while (rocl_json_member(r, keys, 1, &n) >= 0)
            rocl_json_uint(n.text, to);
}

typedef enum field_type { FIELD_TEXT, FIELD_INT, FIELD_HANDLE, FIELD_AGENT_TYPE } field_type;

/* A member of an object and where it goes. */
typedef struct field {
    rocl_view key;
    field_type type;
    size_t to; /* offset */
} field;

enum { FIELDS_MAX = 12, KEY_MAX = 60 };

#define FIELD(type, kind, member, key)                                                             \
    {                                                                                              \
        ROCL_JSON_KEY(key), FIELD_##kind, offsetof(type, member)                                   \
    }
#define FIELDS(list) list, sizeof(list) / sizeof *(list)

static rocl_agent_type read_agent_type(const rocl_json_token *v)
{
    if (v->kind == ROCL_JSON_NUMBER)
        return rocl_view_is(v->text, "1")   ? ROCL_AGENT_CPU
               : rocl_view_is(v->text, "2") ? ROCL_AGENT_GPU
                                            : ROCL_AGENT_OTHER;
    return rocl_view_is(v->text, "CPU")   ? ROCL_AGENT_CPU
           : rocl_view_is(v->text, "GPU") ? ROCL_AGENT_GPU
           : rocl_view_is(v->text, "NIC") ? ROCL_AGENT_NIC
                                          : ROCL_AGENT_OTHER;
}

/* Reads the members of the object that was just returned; other values have none. */
static rocl_status read_object(rocprofv3_run *run, rocl_json *r, const field *fields, size_t n,
                               void *to, rocl_error *err)
{
    rocl_view keys[FIELDS_MAX];
    rocl_json_token v;
    rocl_status st = ROCL_OK;
    if (!rocl_json_enter(r, ROCL_JSON_OBJECT))
        return ROCL_OK;
    for (size_t i = 0; i < n; i++)
        keys[i] = fields[i].key;
    for (int k; st == ROCL_OK && (k = rocl_json_member(r, keys, (unsigned)n, &v)) >= 0;) {
        void *member = (char *)to + fields[k].to;
        switch (fields[k].type) {
        case FIELD_TEXT:
            *(uint32_t *)member = put_text(run, &v);
            if (*(uint32_t *)member == ROCL_NONE)
                st = rocl_fail_memory(err);
            break;
        case FIELD_INT:
            rocl_json_int(v.text, member);
            break;
        case FIELD_HANDLE:
            read_handle(r, &v, member);
            break;
        case FIELD_AGENT_TYPE:
            *(rocl_agent_type *)member = read_agent_type(&v);
            break;
        }
    }
    return st;
}

/* ---- walking over arrays --------------------------------------------------------------------- */

typedef rocl_status element_fn(rocprofv3_run *run, rocprofv3_process *p, rocl_json *r,
                               const rocl_json_token *v, void *to, rocl_error *err);

/* Hands the elements of an array to a function. `node` may be NULL. */
static rocl_status each_element(rocprofv3_run *run, rocprofv3_process *p,
                                const rocl_json_node *node, element_fn *take, void *to,
                                rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; node && i < node->blocks && st == ROCL_OK; i++) {
        const rocl_json_block *b = &run->index.blocks[node->block + i];
        rocl_json r;
        rocl_json_token v;
        st = rocl_json_load(&r, &run->bytes, run->spool, b->begin, b->end,
                            ROCL_JSON_ELEMENTS | run->flags, err);
        while (st == ROCL_OK && rocl_json_element(&r, &v))
            st = take(run, p, &r, &v, to, err);
        if (st == ROCL_OK && r.wrong)
            st = rocl_json_fail(&r, run->path, err);
    }
    return st;
}

/* The member of an object, if it is one and has it. */
static const rocl_json_node *find_member(const rocprofv3_run *run, const rocl_json_node *of,
                                         const char *key)
{
    return of && of->kind == ROCL_JSON_OBJECT ? rocl_json_child(&run->index, of, key) : NULL;
}

/* ---- agents, counters, code objects, symbols ------------------------------------------------- */

static rocl_status take_agent(rocprofv3_run *run, rocprofv3_process *p, rocl_json *r,
                              const rocl_json_token *v, void *to, rocl_error *err)
{
    static const field fields[] = {
        FIELD(rocprofv3_agent, HANDLE, handle, "id"),
        FIELD(rocprofv3_agent, AGENT_TYPE, about.type, "type"),
        FIELD(rocprofv3_agent, TEXT, about.name, "name"),
        FIELD(rocprofv3_agent, TEXT, about.vendor, "vendor_name"),
        FIELD(rocprofv3_agent, TEXT, about.product, "product_name"),
        FIELD(rocprofv3_agent, TEXT, about.model, "model_name"),
        FIELD(rocprofv3_agent, INT, about.absolute_index, "node_id"),
        FIELD(rocprofv3_agent, INT, about.logical_index, "logical_node_id"),
        FIELD(rocprofv3_agent, INT, about.type_index, "logical_node_type_id"),
    };
    rocprofv3_agent a = {.handle = UINT64_MAX, .begin = rocl_json_offset(r, v)};
    a.about.absolute_index = a.about.logical_index = a.about.type_index = -1;
    (void)to;
    rocl_status st = read_object(run, r, FIELDS(fields), &a, err);
    a.end = r->offset + (uint64_t)(r->at - r->begin);
    if (st != ROCL_OK || a.handle == UINT64_MAX || r->wrong)
        return st;
    rocl_read_agent_place(run->trace, &a.about, v->text.p, (size_t)(r->at - v->text.p));
    if (!ROCL_GROW(p->agents, p->agent_cap, p->agent_count + 1) ||
        !rocl_ids_put(&p->agent_ids, a.handle, (uint32_t)p->agent_count))
        return rocl_fail_memory(err);
    p->agents[p->agent_count++] = a;
    return ROCL_OK;
}

static rocl_status take_counter(rocprofv3_run *run, rocprofv3_process *p, rocl_json *r,
                                const rocl_json_token *v, void *to, rocl_error *err)
{
    static const field fields[] = {
        FIELD(rocprofv3_counter, HANDLE, id, "id"),
        FIELD(rocprofv3_counter, TEXT, name, "name"),
        FIELD(rocprofv3_counter, TEXT, description, "description"),
        FIELD(rocprofv3_counter, TEXT, block, "block"),
    };
    rocprofv3_counter c = {.id = UINT64_MAX};
    (void)v, (void)to;
    rocl_status st = read_object(run, r, FIELDS(fields), &c, err);
    /* Each agent has them all, with the same ids. */
    if (st != ROCL_OK || !c.name || rocl_ids_get(&p->counter_ids, c.id) != ROCL_NONE)
        return st;
    if (!ROCL_GROW(p->counters, p->counter_cap, p->counter_count + 1) ||
        !rocl_ids_put(&p->counter_ids, c.id, (uint32_t)p->counter_count))
        return rocl_fail_memory(err);
    p->counters[p->counter_count++] = c;
    return ROCL_OK;
}

static rocl_status take_code_object(rocprofv3_run *run, rocprofv3_process *p, rocl_json *r,
                                    const rocl_json_token *v, void *to, rocl_error *err)
{
    static const field fields[] = {
        FIELD(rocprofv3_code_object, HANDLE, id, "code_object_id"),
        FIELD(rocprofv3_code_object, HANDLE, agent, "agent_id"),
        FIELD(rocprofv3_code_object, HANDLE, agent, "rocp_agent"),
    };
    rocprofv3_code_object c = {.begin = rocl_json_offset(r, v)};
    (void)to;
    rocl_status st = read_object(run, r, FIELDS(fields), &c, err);
    c.end = r->offset + (uint64_t)(r->at - r->begin);
    if (st != ROCL_OK || r->wrong || !c.id || c.id > INT64_MAX)
        return st;
    if (!ROCL_GROW(p->code_objects, p->code_object_cap, p->code_object_count + 1) ||
        !rocl_ids_put(&p->code_object_ids, c.id, (uint32_t)p->code_object_count))
        return rocl_fail_memory(err);
    p->code_objects[p->code_object_count++] = c;
    return ROCL_OK;
}

/* Notes the place of a symbol: there are thousands, with names of kilobytes, of which few are
 * used. */
static rocl_status take_symbol(rocprofv3_run *run, rocprofv3_process *p, rocl_json *r,
                               const rocl_json_token *v, void *to, rocl_error *err)
{
    static const field fields[] = {FIELD(rocprofv3_symbol, HANDLE, id, "kernel_id")};
    rocprofv3_symbol s = {.id = UINT64_MAX, .begin = rocl_json_offset(r, v)};
    (void)to;
    rocl_status st = read_object(run, r, FIELDS(fields), &s, err);
    s.end = r->offset + (uint64_t)(r->at - r->begin);
    if (st != ROCL_OK || r->wrong || !s.id || s.id == UINT64_MAX)
        return st;
    if (!ROCL_GROW(p->symbols, p->symbol_cap, p->symbol_count + 1) ||
        !rocl_ids_put(&p->symbol_ids, s.id, (uint32_t)p->symbol_count))
        return rocl_fail_memory(err);
    p->symbols[p->symbol_count++] = s;
    return ROCL_OK;
}

/* The name of a kernel on the host, for kernels without a symbol. */
static rocl_status take_host_function(rocprofv3_run *run, rocprofv3_process *p, rocl_json *r,
                                      const rocl_json_token *v, void *to, rocl_error *err)
{
    struct function {
        uint64_t kernel;
        uint32_t formatted, demangled, device;
    } f = {0};
    static const field fields[] = {
        FIELD(struct function, HANDLE, kernel, "kernel_id"),
        FIELD(struct function, TEXT, formatted, "formatted_host_function_name"),
        FIELD(struct function, TEXT, demangled, "demangled_host_function_name"),
        FIELD(struct function, TEXT, device, "device_function"),
    };
    (void)v, (void)to;
    rocl_status st = read_object(run, r, FIELDS(fields), &f, err);
    const uint32_t name = f.formatted ? f.formatted : f.demangled ? f.demangled : f.device;
    if (st != ROCL_OK || !f.kernel || !name)
        return st;
    return rocl_ids_put(&p->host_functions, f.kernel, name) ? ROCL_OK : rocl_fail_memory(err);
}

rocl_status rocprofv3_read_symbol(rocprofv3_run *run, const rocprofv3_symbol *s, rocl_kernel *k,
                                  uint64_t *code_object, rocl_error *err)
{
    struct names {
        uint32_t mangled, formatted, demangled, truncated;
        uint64_t code_object;
        rocl_kernel about;
    } n = {.about = *k};
    static const field fields[] = {
        FIELD(struct names, HANDLE, code_object, "code_object_id"),
        FIELD(struct names, TEXT, mangled, "kernel_name"),
        FIELD(struct names, INT, about.group_segment, "group_segment_size"),
        FIELD(struct names, INT, about.private_segment, "private_segment_size"),
        FIELD(struct names, INT, about.sgpr, "sgpr_count"),
        FIELD(struct names, INT, about.arch_vgpr, "arch_vgpr_count"),
        FIELD(struct names, INT, about.accum_vgpr, "accum_vgpr_count"),
        FIELD(struct names, TEXT, formatted, "formatted_kernel_name"),
        FIELD(struct names, TEXT, demangled, "demangled_kernel_name"),
        FIELD(struct names, TEXT, truncated, "truncated_kernel_name"),
    };
    rocl_trace *t = run->trace;
    rocl_json r;
    rocl_json_token v;
    rocl_status st = rocl_json_load(&r, &run->bytes, run->spool, s->begin, s->end, run->flags, err);
    if (st == ROCL_OK && rocl_json_element(&r, &v))
        st = read_object(run, &r, FIELDS(fields), &n, err);
    if (st != ROCL_OK)
        return st;
    const uint32_t shown = n.formatted ? n.formatted : n.demangled ? n.demangled : n.mangled;
    *k = n.about;
    k->id = (int64_t)s->id;
    k->mangled = rocl_kernel_without_kd(t, n.mangled);
    k->display = rocl_kernel_without_kd(t, shown);
    k->shown = rocl_kernel_shown(t, k->mangled, k->display, n.truncated);
    *code_object = n.code_object;
    return ROCL_OK;
}

/* ---- properties of definitions ----------------------------------------------------------------
 */

/* The members of definitions that databases have, too, in the order of the profiler. */
static const char *const properties[] = {
    [ROCL_PROPERTIES_OF_AGENT] =
        "size id type cpu_cores_count simd_count mem_banks_count caches_count io_links_count "
        "cpu_core_id_base simd_id_base max_waves_per_simd lds_size_in_kb gds_size_in_kb num_gws "
        "wave_front_size num_xcc cu_count array_count num_shader_banks simd_arrays_per_engine "
        "cu_per_simd_array simd_per_cu max_slots_scratch_cu gfx_target_version vendor_id "
        "device_id location_id domain drm_render_minor num_sdma_engines num_sdma_xgmi_engines "
        "num_sdma_queues_per_engine num_cp_queues max_engine_clk_ccompute "
        "max_engine_clk_fcompute sdma_fw_version fw_version capability cu_per_engine "
        "max_waves_per_cu family_id workgroup_max_size grid_max_size local_mem_size hive_id "
        "gpu_id workgroup_max_dim grid_max_dim name vendor_name product_name model_name node_id "
        "logical_node_id logical_node_type_id runtime_visibility uuid mem_banks caches io_links "
        "gpu_index",
    [ROCL_PROPERTIES_OF_CODE_OBJECT] =
        "size code_object_id agent_id uri load_base load_size load_delta storage_type "
        "storage_file memory_base memory_size",
    [ROCL_PROPERTIES_OF_KERNEL] =
        "size kernel_id code_object_id kernel_name kernel_object kernarg_segment_size "
        "kernarg_segment_alignment group_segment_size private_segment_size sgpr_count "
        "arch_vgpr_count accum_vgpr_count kernel_code_entry_byte_offset kernel_address "
        "formatted_kernel_name demangled_kernel_name truncated_kernel_name",
};

/* A number of JSON: no nan. */
static bool is_plain_number(const rocl_json_token *v)
{
    return v->kind == ROCL_JSON_NUMBER && v->text.p[v->text.n - 1] <= '9';
}

/* Appends the object or array that was just returned: numbers, under keys that are words. */
static void copy_numbers(rocl_buf *b, rocl_json *r, rocl_json_kind kind)
{
    const unsigned depth = r->depth;
    rocl_json_token t, key = {0};
    bool first = true;
    rocl_json_enter(r, kind);
    rocl_buf_byte(b, kind == ROCL_JSON_OBJECT ? '{' : '[');
    while (r->depth > depth && rocl_json_next(r, &t)) {
        const bool opens = t.kind == ROCL_JSON_OBJECT || t.kind == ROCL_JSON_ARRAY;
        if (t.kind == ROCL_JSON_KEY) {
            key = t;
        } else if (t.kind == ROCL_JSON_OBJECT_END || t.kind == ROCL_JSON_ARRAY_END) {
            rocl_buf_byte(b, t.kind == ROCL_JSON_OBJECT_END ? '}' : ']');
            first = false;
        } else if (opens && (key.escaped || key.text.n > KEY_MAX)) {
            rocl_json_leave(r);
        } else if (opens || (is_plain_number(&t) && !key.escaped && key.text.n <= KEY_MAX)) {
            rocl_buf_str(b, first ? "" : ",");
            if (key.text.n)
                rocl_buf_printf(b, "\"%.*s\":", (int)key.text.n, key.text.p);
            rocl_buf_put(b, t.text.p, t.text.n);
            first = opens;
        }
        if (t.kind != ROCL_JSON_KEY)
            key = (rocl_json_token){0};
    }
}

rocl_status rocprofv3_copy_properties(const rocprofv3_run *run, rocl_property_of of, uint64_t begin,
                                      uint64_t end, rocl_buf *b, rocl_error *err)
{
    enum { KEYS_MAX = 64 };
    rocl_view keys[KEYS_MAX], left = {properties[of], strlen(properties[of])};
    unsigned count = 0;
    while (count < KEYS_MAX && rocl_view_take_word(&left, &keys[count]))
        count++;
    const size_t before_all = b->len;
    rocl_buf bytes = {0}, text = {0};
    rocl_json r;
    rocl_json_token v;
    rocl_status st = rocl_json_load(&r, &bytes, run->spool, begin, end, run->flags, err);
    if (st == ROCL_OK && rocl_json_element(&r, &v) && rocl_json_enter(&r, ROCL_JSON_OBJECT)) {
        const char *before = "{";
        for (int k; (k = rocl_json_member(&r, keys, count, &v)) >= 0; before = ",") {
            rocl_buf_printf(b, "%s\"%.*s\":", before, (int)keys[k].n, keys[k].p);
            if (v.kind == ROCL_JSON_OBJECT || v.kind == ROCL_JSON_ARRAY) {
                copy_numbers(b, &r, v.kind);
            } else if (v.kind == ROCL_JSON_STRING) {
                text.len = 0;
                rocl_json_unescape(&text, v.text);
                rocl_buf_byte(b, '"');
                rocl_json_put(b, (const char *)text.data, text.len);
                rocl_buf_byte(b, '"');
            } else if (v.kind != ROCL_JSON_NUMBER || is_plain_number(&v)) {
                rocl_buf_put(b, v.text.p, v.text.n);
            } else {
                rocl_buf_str(b, "null");
            }
        }
        rocl_buf_str(b, *before == '{' ? "{}" : "}");
        if (r.wrong)
            b->len = before_all;
    }
    if (st == ROCL_OK && text.failed)
        st = rocl_fail_memory(err);
    rocl_buf_free(&bytes);
    rocl_buf_free(&text);
    return st;
}

/* ---- strings --------------------------------------------------------------------------------- */

/* Appends a text to a list. */
static rocl_status take_text(rocprofv3_run *run, rocprofv3_process *p, rocl_json *r,
                             const rocl_json_token *v, void *to, rocl_error *err)
{
    rocprofv3_texts *list = to;
    (void)p, (void)r;
    const uint32_t text = put_text(run, v);
    if (text == ROCL_NONE || !ROCL_GROW(list->all, list->cap, list->count + 1))
        return rocl_fail_memory(err);
    list->all[list->count++] = text;
    return ROCL_OK;
}

typedef struct labelled_id {
    uint64_t key;
    uint32_t value;
} labelled_id;

/* {"key": id, "value": text} */
static rocl_status take_labelled_id(rocprofv3_run *run, rocprofv3_process *p, rocl_json *r,
                                    const rocl_json_token *v, void *to, rocl_error *err)
{
    static const field fields[] = {FIELD(labelled_id, HANDLE, key, "key"),
                                   FIELD(labelled_id, TEXT, value, "value")};
    labelled_id l = {.value = ROCL_NONE};
    (void)p, (void)v;
    rocl_status st = read_object(run, r, FIELDS(fields), &l, err);
    if (st != ROCL_OK || l.value == ROCL_NONE) /* "" is a message */
        return st;
    return rocl_ids_put(to, l.key, l.value) ? ROCL_OK : rocl_fail_memory(err);
}

rocl_kind rocprofv3_call_kind(const char *category, const char *function)
{
    if (strncmp(category, "MARKER", 6) != 0 ||
        !rocl_roctx_call_marks((rocl_view){category, strlen(category)},
                               (rocl_view){function, strlen(function)}))
        return ROCL_REGION;
    return strstr(function, "Mark") ? ROCL_INSTANT : ROCL_MARKER;
}

/* {"kind": name, "operations": [name, ...]}; its position is the number of the kind. */
static rocl_status take_kind(rocprofv3_run *run, rocprofv3_process *p, rocl_json *r,
                             const rocl_json_token *v, void *to, rocl_error *err)
{
    static const rocl_view keys[] = {ROCL_JSON_KEY("kind"), ROCL_JSON_KEY("operations")};
    const rocl_strings *strings = run->trace->strings;
    rocl_json_token member, name;
    (void)v, (void)to;
    if (!ROCL_GROW(p->kinds, p->kind_cap, p->kind_count + 1))
        return rocl_fail_memory(err);
    rocprofv3_kind *k = &p->kinds[p->kind_count++];
    if (!rocl_json_enter(r, ROCL_JSON_OBJECT))
        return ROCL_OK;
    for (int key; (key = rocl_json_member(r, keys, 2, &member)) >= 0;) {
        if (key == 0 && (k->name = put_text(run, &member)) == ROCL_NONE)
            return rocl_fail_memory(err);
        if (key == 0 || k->count || !rocl_json_enter(r, ROCL_JSON_ARRAY))
            continue;
        while (rocl_json_element(r, &name)) {
            const uint32_t text = put_text(run, &name);
            if (text == ROCL_NONE || !ROCL_GROW(k->operations, k->cap, k->count + 1))
                return rocl_fail_memory(err);
            k->operations[k->count++] = (rocprofv3_operation){text, ROCL_REGION};
        }
    }
    for (size_t i = 0; i < k->count; i++)
        k->operations[i].call =
            rocprofv3_call_kind(rocl_strings_get(strings, k->name, NULL),
                                rocl_strings_get(strings, k->operations[i].name, NULL));
    return ROCL_OK;
}

/* ---- metadata -------------------------------------------------------------------------------- */

static rocl_status read_command(rocprofv3_run *run, const rocl_json_node *metadata, uint32_t *to,
                                rocl_error *err)
{
    rocl_buf command = {0};
    rocprofv3_texts words = {0};
    rocl_status st =
        each_element(run, NULL, find_member(run, metadata, "command"), take_text, &words, err);
    for (size_t i = 0; i < words.count && st == ROCL_OK; i++) {
        if (i)
            rocl_buf_byte(&command, ' ');
        rocl_buf_str(&command, rocl_str(run->trace, words.all[i]));
    }
    if (st == ROCL_OK && command.len)
        *to = rocl_strings_put(run->trace->strings, (const char *)command.data, command.len);
    if (command.failed || *to == ROCL_NONE)
        st = rocl_fail_memory(err);
    free(words.all);
    rocl_buf_free(&command);
    return st;
}

static rocl_status read_metadata(rocprofv3_run *run, rocprofv3_process *p,
                                 const rocl_json_node *metadata, rocl_error *err)
{
    static const field fields[] = {
        FIELD(rocl_node, INT, id, "id"),
        FIELD(rocl_node, TEXT, machine_id, "machine_id"),
        FIELD(rocl_node, TEXT, system_name, "system_name"),
        FIELD(rocl_node, TEXT, hostname, "hostname"),
        FIELD(rocl_node, TEXT, release, "release"),
        FIELD(rocl_node, TEXT, version, "version"),
        FIELD(rocl_node, TEXT, hardware, "hardware_name"),
    };
    const struct {
        const char *key;
        int64_t *to;
    } numbers[] = {{"pid", &p->about.pid},
                   {"ppid", &p->about.ppid},
                   {"init_time", &p->about.init},
                   {"fini_time", &p->about.fini}};
    rocl_json r;
    rocl_json_token v;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (rocl_json_load_node(&r, &v, &run->bytes, run->spool,
                                find_member(run, metadata, numbers[i].key), run->flags, &st, err))
            rocl_json_int(v.text, numbers[i].to);
    const rocl_json_node *node = find_member(run, metadata, "node");
    p->has_node = rocl_json_load_node(&r, &v, &run->bytes, run->spool, node, run->flags, &st, err);
    if (p->has_node)
        st = read_object(run, &r, FIELDS(fields), &p->node, err);
    struct ours {
        int64_t rank, machine;
    } ours = {-1, -1};
    static const field our_fields[] = {FIELD(struct ours, INT, rank, "rank"),
                                       FIELD(struct ours, INT, machine, "machine")};
    if (rocl_json_load_node(&r, &v, &run->bytes, run->spool, find_member(run, metadata, "rocline"),
                            run->flags, &st, err))
        st = read_object(run, &r, FIELDS(our_fields), &ours, err);
    p->about.rank = ours.rank >= 0 && ours.rank <= INT32_MAX ? (int32_t)ours.rank : -1;
    p->machine = ours.machine;
    return st ? st : read_command(run, metadata, &p->about.command, err);
}

/* ---- all of it ------------------------------------------------------------------------------- */

rocl_status rocprofv3_read_tables(rocprofv3_run *run, rocprofv3_process *p,
                                  const rocl_json_node *node, rocl_error *err)
{
    const rocl_json_node *strings = find_member(run, node, "strings"),
                         *correlation = find_member(run, strings, "correlation_id");
    const struct {
        const rocl_json_node *of;
        const char *key;
        element_fn *take;
        void *to;
    } arrays[] = {
        {node, "agents", take_agent, NULL}, /* before those that refer to them */
        {node, "counters", take_counter, NULL},
        {node, "code_objects", take_code_object, NULL},
        {node, "kernel_symbols", take_symbol, NULL},
        {node, "host_functions", take_host_function, NULL},
        {strings, "buffer_records", take_kind, NULL},
        {strings, "marker_api", take_labelled_id, &p->messages},
        {correlation, "external", take_labelled_id, &p->labels},
        {strings, "pc_sample_instructions", take_text, &p->instructions},
        {strings, "pc_sample_comments", take_text, &p->comments},
    };
    const rocl_json_node *att = find_member(run, strings, "att_filenames");
    if (att && att->elements && run->trace->opt.explain)
        rocl_notice(run->trace, "%s: thread traces (%" PRIu64 " files) are not read", run->path,
                    att->elements);
    rocl_status st = read_metadata(run, p, find_member(run, node, "metadata"), err);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays && st == ROCL_OK; i++)
        st = each_element(run, p, find_member(run, arrays[i].of, arrays[i].key), arrays[i].take,
                          arrays[i].to, err);
    /* Before 6.4 agents have no number among those of their type: they are numbered in order of
     * nodes. */
    for (size_t i = 0; i < p->agent_count; i++) {
        rocl_agent *a = &p->agents[i].about;
        int64_t before = 0;
        for (size_t k = 0; k < p->agent_count; k++) {
            const rocl_agent *b = &p->agents[k].about;
            before += b->type == a->type && (b->absolute_index != a->absolute_index
                                                 ? b->absolute_index < a->absolute_index
                                                 : k < i);
        }
        if (a->type_index < 0)
            a->type_index = before;
    }
    return st;
}

void rocprofv3_free_tables(rocprofv3_process *p)
{
    for (size_t i = 0; i < p->kind_count; i++)
        free(p->kinds[i].operations);
    free(p->kinds);
    free(p->agents);
    free(p->code_objects);
    free(p->symbols);
    free(p->counters);
    free(p->instructions.all);
    free(p->comments.all);
    rocl_ids_free(&p->agent_ids);
    rocl_ids_free(&p->symbol_ids);
    rocl_ids_free(&p->counter_ids);
    rocl_ids_free(&p->code_object_ids);
    rocl_ids_free(&p->messages);
    rocl_ids_free(&p->labels);
    rocl_ids_free(&p->host_functions);
}
