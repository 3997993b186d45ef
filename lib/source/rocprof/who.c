/* Hosts, ranks and GPUs of rocprof: see who.h. */
#include "source/rocprof/who.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "model/identity.h"
#include "source/reader.h"

enum { INFOS_MAX = 1024 };

bool rocprof_who_add_process(rocprof_who *w, const rocprof_who_process *p)
{
    if (!ROCL_GROW(w->processes, w->process_cap, w->process_count + 1))
        return false;
    w->processes[w->process_count++] = *p;
    return true;
}

bool rocprof_who_add_gpu(rocprof_who *w, const rocprof_who_gpu *g)
{
    if (!ROCL_GROW(w->gpus, w->gpu_cap, w->gpu_count + 1))
        return false;
    w->gpus[w->gpu_count++] = *g;
    return true;
}

void rocprof_who_free(rocprof_who *w)
{
    free(w->processes);
    free(w->gpus);
    free(w->infos);
}

/* ---- reading --------------------------------------------------------------------------------- */

static uint32_t put_text(rocl_trace *t, const rocl_json_token *v)
{
    rocl_buf text = {0};
    uint32_t id = 0;
    if (v->kind != ROCL_JSON_STRING)
        return 0;
    if (!v->escaped)
        return rocl_strings_put(t->strings, v->text.p, v->text.n);
    rocl_json_unescape(&text, v->text);
    if (!text.failed)
        id = rocl_strings_put(t->strings, (const char *)text.data, text.len);
    rocl_buf_free(&text);
    return id;
}

/* [{"id": 2, "uuid": "GPU-...", "pci": "0000:07:00.0"}, ...] of the process that is read; its key
 * is not yet known. */
static bool read_gpus(rocprof_who *w, rocl_trace *t, rocl_json *r)
{
    enum { ID, INDEX, UUID, PCI, KEYS };
    static const rocl_view keys[KEYS] = {[ID] = ROCL_JSON_KEY("id"),
                                         [INDEX] = ROCL_JSON_KEY("index"),
                                         [UUID] = ROCL_JSON_KEY("uuid"),
                                         [PCI] = ROCL_JSON_KEY("pci")};
    rocl_json_token v;
    bool ok = true;
    while (ok && rocl_json_element(r, &v)) {
        rocprof_who_gpu g = {.number = ROCL_NO_KEY, .index = -1};
        if (!rocl_json_enter(r, ROCL_JSON_OBJECT))
            continue;
        for (int k; (k = rocl_json_member(r, keys, KEYS, &v)) >= 0;) {
            if (k == ID)
                rocl_json_uint(v.text, &g.number);
            else if (k == INDEX)
                rocl_json_int(v.text, &g.index);
            else
                *(k == UUID ? &g.uuid : &g.pci) = put_text(t, &v);
        }
        ok = g.number > INT32_MAX || rocprof_who_add_gpu(w, &g);
    }
    return ok;
}

/* An object of the list of processes. */
static bool read_process(rocprof_who *w, rocl_trace *t, rocl_json *r)
{
    enum { PID, GUID, RANK, MACHINE, HOSTNAME, MACHINE_ID, GPUS, KEYS };
    static const rocl_view keys[KEYS] = {
        [PID] = ROCL_JSON_KEY("pid"),           [GUID] = ROCL_JSON_KEY("guid"),
        [RANK] = ROCL_JSON_KEY("rank"),         [MACHINE] = ROCL_JSON_KEY("machine"),
        [HOSTNAME] = ROCL_JSON_KEY("hostname"), [MACHINE_ID] = ROCL_JSON_KEY("machine_id"),
        [GPUS] = ROCL_JSON_KEY("gpus")};
    rocprof_who_process p = {.key = ROCL_NO_KEY, .rank = -1, .machine = -1};
    const size_t first_gpu = w->gpu_count;
    uint32_t guid = 0;
    rocl_json_token v;
    bool ok = true;
    for (int k; ok && (k = rocl_json_member(r, keys, KEYS, &v)) >= 0;) {
        if (k == PID)
            rocl_json_uint(v.text, &p.key);
        else if (k == GUID)
            guid = put_text(t, &v);
        else if (k == RANK || k == MACHINE)
            rocl_json_int(v.text, k == RANK ? &p.rank : &p.machine);
        else if (k == HOSTNAME || k == MACHINE_ID)
            *(k == HOSTNAME ? &p.hostname : &p.machine_id) = put_text(t, &v);
        else if (rocl_json_enter(r, ROCL_JSON_ARRAY))
            ok = read_gpus(w, t, r);
    }
    if (guid)
        p.key = ROCL_KEY_OF_TEXT | guid;
    for (size_t i = first_gpu; i < w->gpu_count; i++)
        w->gpus[i].process = p.key;
    return ok && rocprof_who_add_process(w, &p);
}

/* "Agent3.Uuid": "GPU-b1fb27fd8857c0d3" */
static bool read_info(rocprof_who *w, rocl_trace *t, rocl_view key, const rocl_json_token *v)
{
    const char *p = key.p + 5, *end = key.p + key.n;
    size_t number = 0;
    while (p < end && *p >= '0' && *p <= '9' && number < INFOS_MAX)
        number = number * 10 + (size_t)(*p++ - '0');
    const rocl_view of = rocl_view_between(p, end);
    if (v->kind != ROCL_JSON_STRING || v->escaped || number >= INFOS_MAX)
        return true;
    if (number >= w->info_count) {
        if (!ROCL_GROW(w->infos, w->info_cap, number + 1))
            return false;
        memset(w->infos + w->info_count, 0, (number + 1 - w->info_count) * sizeof *w->infos);
        w->info_count = number + 1;
    }
    rocprof_who_info *info = &w->infos[number];
    if (rocl_view_is(of, ".Uuid"))
        info->uuid = put_text(t, v);
    else if (rocl_view_is(of, ".Node"))
        info->has_node = rocl_json_uint(v->text, &info->node);
    else if (rocl_view_is(of, ".DeviceType"))
        info->is_gpu = rocl_view_is(v->text, "GPU");
    return true;
}

bool rocprof_who_read(rocprof_who *w, rocl_trace *t, rocl_json *r)
{
    static const rocl_view list[] = {ROCL_JSON_KEY("processes")};
    rocl_json_token key, v;
    bool ok = true;
    if (!rocl_json_element(r, &v) || !rocl_json_enter(r, ROCL_JSON_OBJECT))
        return true;
    while (ok && rocl_json_next(r, &key) == ROCL_JSON_KEY && rocl_json_element(r, &v)) {
        if (rocl_view_is(key.text, "rocline") && rocl_json_enter(r, ROCL_JSON_OBJECT)) {
            while (ok && rocl_json_member(r, list, 1, &v) >= 0)
                if (rocl_json_enter(r, ROCL_JSON_ARRAY))
                    while (ok && rocl_json_element(r, &v))
                        ok = !rocl_json_enter(r, ROCL_JSON_OBJECT) || read_process(w, t, r);
        } else if (v.kind == ROCL_JSON_OBJECT || v.kind == ROCL_JSON_ARRAY) {
            rocl_json_skip(r);
        } else if (key.text.n > 5 && !memcmp(key.text.p, "Agent", 5)) {
            ok = read_info(w, t, key.text, &v);
        }
    }
    return ok;
}

/* ---- applying -------------------------------------------------------------------------------- */

static uint64_t make_gpu_key(uint32_t process, uint64_t number)
{
    return (uint64_t)process << 32 | number;
}

static bool apply_processes(const rocprof_who *w, rocl_records_input *in)
{
    rocl_capture *c = &in->capture->pub;
    rocl_map nodes = {0};
    bool ok = true;
    for (size_t i = 0; i < w->process_count && ok; i++) {
        const rocprof_who_process *from = &w->processes[i];
        const uint32_t at = rocl_records_find(in, ROCL_KEY_PROCESS, (rocl_key){0, 0, from->key});
        bool fresh = true;
        if (at == ROCL_NONE)
            continue;
        rocl_process *p = rocl_definition_at(c, ROCL_DEFINE_PROCESS, at);
        p->rank = from->rank >= 0 && from->rank <= INT32_MAX ? (int32_t)from->rank : -1;
        if (from->machine < 0 && !from->hostname && !from->machine_id)
            continue;
        rocl_node *node = from->machine < 0 ? rocl_define(c, ROCL_DEFINE_NODE)
                                            : rocl_define_once(c, ROCL_DEFINE_NODE, &nodes,
                                                               (uint64_t)from->machine, &fresh);
        ok = node;
        if (ok && fresh)
            *node = (rocl_node){.hostname = from->hostname, .machine_id = from->machine_id};
        p->node = ok ? (uint32_t)(node - c->nodes) : ROCL_NONE;
    }
    rocl_map_free(&nodes);
    return ok;
}

static bool apply_gpus(const rocprof_who *w, rocl_records_input *in)
{
    rocl_capture *c = &in->capture->pub;
    rocl_map known = {0};
    bool ok = true;
    for (size_t i = 0; i < w->gpu_count && ok; i++) {
        const uint32_t process =
            rocl_records_find(in, ROCL_KEY_PROCESS, (rocl_key){0, 0, w->gpus[i].process});
        if (process != ROCL_NONE)
            ok = rocl_map_put(&known, make_gpu_key(process, w->gpus[i].number), (uint32_t)i);
    }
    for (uint32_t i = 0; i < c->agent_count && ok; i++) {
        rocl_agent *a = rocl_definition_at(c, ROCL_DEFINE_AGENT, i);
        const uint32_t process =
            a->process < c->process_count || c->process_count != 1 ? a->process : 0;
        const uint32_t at =
            a->type != ROCL_AGENT_GPU || a->absolute_index < 0 || a->absolute_index > INT32_MAX
                ? ROCL_NONE
                : rocl_map_get(&known, make_gpu_key(process, (uint64_t)a->absolute_index),
                               ROCL_NONE);
        if (at == ROCL_NONE)
            continue;
        a->uuid = w->gpus[at].uuid ? w->gpus[at].uuid : a->uuid;
        a->pci = w->gpus[at].pci ? w->gpus[at].pci : a->pci;
        if (w->gpus[at].index >= 0 && w->gpus[at].index <= INT32_MAX) {
            a->type_index = w->gpus[at].index;
            rocl_label_agent(in->trace, a);
        }
    }
    rocl_map_free(&known);
    return ok;
}

/* The GPU of rocminfo whose node is a number, or which is the n-th GPU; NULL: none. */
static const rocprof_who_info *find_info(const rocprof_who *w, int64_t number, bool by_node)
{
    int64_t nth = 0;
    for (size_t i = 0; i < w->info_count; i++) {
        const rocprof_who_info *info = &w->infos[i];
        if (info->is_gpu &&
            (by_node ? info->has_node && (int64_t)info->node == number : nth == number))
            return info;
        nth += info->is_gpu;
    }
    return NULL;
}

/* Until ROCm 5.5 the numbers of GPUs count them from 0, since then they are those of their nodes.
 * Where all numbers may be either, it is unknown which GPUs they are. */
static void apply_infos(const rocprof_who *w, rocl_capture *c)
{
    uint32_t gpus = 0, nodes = 0, counted = 0;
    for (uint32_t i = 0; i < c->agent_count; i++) {
        const rocl_agent *a = &c->agents[i];
        gpus += a->type == ROCL_AGENT_GPU;
        nodes += a->type == ROCL_AGENT_GPU && find_info(w, a->absolute_index, true);
        counted += a->type == ROCL_AGENT_GPU && find_info(w, a->absolute_index, false);
    }
    for (uint32_t i = 0; i < c->agent_count && (nodes == gpus) != (counted == gpus); i++) {
        rocl_agent *a = rocl_definition_at(c, ROCL_DEFINE_AGENT, i);
        const rocprof_who_info *info =
            a->type == ROCL_AGENT_GPU ? find_info(w, a->absolute_index, nodes == gpus) : NULL;
        uint8_t bytes[16];
        if (info && rocl_uuid_bytes(rocl_str(c->trace, info->uuid), bytes)) /* not "GPU-XX" */
            a->uuid = info->uuid;
    }
}

rocl_status rocprof_who_apply(const rocprof_who *w, rocl_records_input *in, rocl_error *err)
{
    if (w->info_count && !w->process_count)
        apply_infos(w, &in->capture->pub);
    return apply_processes(w, in) && apply_gpus(w, in) ? ROCL_OK : rocl_fail_memory(err);
}
