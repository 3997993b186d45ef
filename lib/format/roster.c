/* Who is who, as JSON: see roster.h. */
#include "format/roster.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "base/text.h"

/* ---- members --------------------------------------------------------------------------------- */

typedef struct member {
    rocl_view key;
    size_t offset;
    bool is_text; /* a uint32_t; else an int64_t, -1: unknown */
} member;

enum { MEMBERS_MAX = 11 };

#define TEXT(of, key_, field)                                                                      \
    {                                                                                              \
        ROCL_JSON_KEY(key_), offsetof(of, field), true                                             \
    }
#define NUMBER(of, key_)                                                                           \
    {                                                                                              \
        ROCL_JSON_KEY(#key_), offsetof(of, key_), false                                            \
    }

static const member host_members[] = {
    TEXT(rocl_roster_host, "host", hostname),      TEXT(rocl_roster_host, "machine_id", machine_id),
    TEXT(rocl_roster_host, "system", system_name), TEXT(rocl_roster_host, "release", release),
    TEXT(rocl_roster_host, "version", version),    TEXT(rocl_roster_host, "hardware", hardware)};

static const member process_members[] = {
    NUMBER(rocl_roster_process, id), NUMBER(rocl_roster_process, pid),
    NUMBER(rocl_roster_process, rank), NUMBER(rocl_roster_process, on),
    TEXT(rocl_roster_process, "command", command)};

static const member gpu_members[] = {NUMBER(rocl_roster_gpu, id),
                                     NUMBER(rocl_roster_gpu, on),
                                     NUMBER(rocl_roster_gpu, number),
                                     NUMBER(rocl_roster_gpu, index),
                                     NUMBER(rocl_roster_gpu, ordinal),
                                     TEXT(rocl_roster_gpu, "label", label),
                                     TEXT(rocl_roster_gpu, "name", name),
                                     TEXT(rocl_roster_gpu, "vendor", vendor),
                                     TEXT(rocl_roster_gpu, "product", product),
                                     TEXT(rocl_roster_gpu, "uuid", uuid),
                                     TEXT(rocl_roster_gpu, "pci", pci)};

#define COUNT(a) (sizeof(a) / sizeof *(a))
_Static_assert(COUNT(gpu_members) == MEMBERS_MAX, "the most members that an object has");

/* ---- what a trace knows ---------------------------------------------------------------------- */

uint32_t *rocl_label_agents(rocl_trace *t)
{
    rocl_map times = {0}; /* machine and label -> GPUs that have it */
    uint32_t *labels = calloc(t->gpu_count + 1, sizeof *labels);
    bool ok = labels;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < t->gpu_count && ok; i++) {
            const rocl_gpu *g = &t->gpus[i];
            const uint64_t key = (uint64_t)g->machine << 32 | rocl_gpu_agent(t, g)->label;
            const uint32_t n = rocl_map_get(&times, key, 0);
            char own[32];
            const int len = snprintf(own, sizeof own, "GPU %" PRIu32, g->id);
            labels[i] = n > 1 ? rocl_strings_put(t->strings, own, (size_t)len) : (uint32_t)key;
            ok = labels[i] != ROCL_NONE && (pass || rocl_map_put(&times, key, n + 1));
        }
    rocl_map_free(&times);
    if (ok)
        return labels;
    free(labels);
    return NULL;
}

rocl_node rocl_node_of_machine(const rocl_trace *t, uint32_t machine)
{
    const rocl_machine *m = &t->machines[machine];
    const rocl_capture *c = &t->captures[m->first]->pub;
    rocl_node node = {0};
    for (uint32_t i = c->process_count; i-- > 0;)
        if (c->processes[i].machine == machine && c->processes[i].node < c->node_count)
            node = c->nodes[c->processes[i].node];
    if (c->node_count == 1 && c->machine == machine)
        node = c->nodes[0];
    node.hostname = m->hostname;
    node.machine_id = m->machine_id;
    return node;
}

static bool add_hosts(rocl_roster *roster, const rocl_trace *t)
{
    if (!ROCL_GROW(roster->hosts, roster->host_cap, t->machine_count))
        return false;
    for (uint32_t m = 0; m < t->machine_count; m++) {
        const rocl_node n = rocl_node_of_machine(t, m);
        roster->hosts[roster->host_count++] = (rocl_roster_host){
            n.hostname, n.machine_id, n.system_name, n.release, n.version, n.hardware};
    }
    return true;
}

/* "/opt/train --key s" -> "train": arguments may be secret. A single word, and "[TP00] 12", which
 * is a process of a merged file, are names. */
static uint32_t program_of(rocl_trace *t, uint32_t command)
{
    const char *text = command == ROCL_NONE ? "" : rocl_str(t, command);
    const size_t end = strcspn(text, " \t");
    if (!text[end] || *text == '[')
        return command == ROCL_NONE ? 0 : command;
    const char *slash = memrchr(text, '/', end), *name = slash ? slash + 1 : text;
    return rocl_strings_put(t->strings, name, (size_t)(text + end - name));
}

bool rocl_roster_make(rocl_roster *roster, rocl_trace *t)
{
    uint32_t *labels = rocl_label_agents(t);
    bool ok =
        labels && add_hosts(roster, t) && ROCL_GROW(roster->gpus, roster->gpu_cap, t->gpu_count);
    for (size_t i = 0; i < t->capture_count && ok; i++) {
        const rocl_capture *c = &t->captures[i]->pub;
        ok = ROCL_GROW(roster->processes, roster->process_cap,
                       roster->process_count + c->process_count);
        for (uint32_t k = 0; k < c->process_count && ok; k++) {
            const rocl_process *p = &c->processes[k];
            roster->processes[roster->process_count++] = (rocl_roster_process){
                p->pid, p->pid, p->rank, p->machine, program_of(t, p->command)};
        }
    }
    for (size_t i = 0; i < t->gpu_count && ok; i++) {
        const rocl_gpu *g = &t->gpus[i];
        const rocl_agent *a = rocl_gpu_agent(t, g);
        roster->gpus[roster->gpu_count++] = (rocl_roster_gpu){.id = g->id,
                                                              .on = g->machine,
                                                              .number = g->id,
                                                              .index = a->absolute_index,
                                                              .ordinal = g->ordinal ? 1 : -1,
                                                              .label = labels[i],
                                                              .name = a->name,
                                                              .vendor = a->vendor,
                                                              .product = a->product,
                                                              .uuid = g->uuid ? g->uuid : a->uuid,
                                                              .pci = g->pci ? g->pci : a->pci};
    }
    free(labels);
    return ok;
}

void rocl_roster_free(rocl_roster *roster)
{
    free(roster->hosts);
    free(roster->processes);
    free(roster->gpus);
    *roster = (rocl_roster){0};
}

/* ---- writing --------------------------------------------------------------------------------- */

static void put_item(rocl_buf *b, const rocl_trace *t, const void *item, const member *members,
                     size_t count, bool first)
{
    bool any = false;
    rocl_buf_str(b, first ? "\n{" : ",\n{");
    for (size_t i = 0; i < count; i++) {
        const char *at = (const char *)item + members[i].offset;
        uint32_t text = 0;
        int64_t number = -1;
        memcpy(members[i].is_text ? (void *)&text : (void *)&number, at,
               members[i].is_text ? sizeof text : sizeof number);
        if (members[i].is_text ? !text || text == ROCL_NONE : number == -1)
            continue;
        rocl_buf_printf(b, "%s\"%s\":", any ? "," : "", members[i].key.p);
        any = true;
        if (members[i].is_text) {
            size_t n;
            const char *bytes = rocl_strings_get(t->strings, text, &n);
            rocl_json_put_string(b, bytes, n);
        } else {
            rocl_buf_printf(b, "%" PRId64, number);
        }
    }
    rocl_buf_byte(b, '}');
}

void rocl_roster_put(rocl_buf *b, const rocl_trace *t, const rocl_roster *roster)
{
    int64_t *places = calloc(roster->host_count + 1, sizeof *places); /* in the file, from 1 */
    bool *alone = calloc(roster->host_count + 1, sizeof *alone);      /* one process is there */
    int64_t hosts = 0;
    bool first = true;
    b->failed |= !places || !alone;
    for (size_t i = 0; i < roster->process_count && !b->failed; i++)
        if (roster->processes[i].id != -1)
            places[roster->processes[i].on]++;
    rocl_buf_str(b, "{\"hosts\":[");
    for (size_t i = 0; i < roster->host_count && !b->failed; i++)
        if (places[i]) {
            put_item(b, t, &roster->hosts[i], host_members, COUNT(host_members), !hosts);
            alone[i] = places[i] == 1;
            places[i] = ++hosts;
        }
    rocl_buf_str(b, "],\"processes\":[");
    for (size_t i = 0; i < roster->process_count && !b->failed; i++) {
        rocl_roster_process p = roster->processes[i];
        if (p.id == -1)
            continue;
        p.on = places[p.on] - 1;
        put_item(b, t, &p, process_members, COUNT(process_members), first);
        first = false;
    }
    rocl_buf_str(b, "],\"gpus\":[");
    first = true;
    for (size_t i = 0; i < roster->gpu_count && !b->failed; i++) {
        rocl_roster_gpu g = roster->gpus[i];
        if (g.id == -1 || !places[g.on])
            continue;
        if (g.ordinal == 1 && !alone[g.on]) /* its number on the host tells it from others */
            g.index = g.ordinal = -1;
        g.on = places[g.on] - 1;
        put_item(b, t, &g, gpu_members, COUNT(gpu_members), first);
        first = false;
    }
    rocl_buf_str(b, "]}");
    free(places);
    free(alone);
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool read_item(rocl_json *r, rocl_trace *t, void *item, const member *members, size_t count)
{
    rocl_view keys[MEMBERS_MAX];
    rocl_json_token v;
    rocl_buf text = {0};
    bool ok = true;
    for (size_t i = 0; i < count; i++)
        keys[i] = members[i].key;
    for (int key; (key = rocl_json_member(r, keys, (unsigned)count, &v)) >= 0 && ok;) {
        char *to = (char *)item + members[key].offset;
        int64_t number;
        if (members[key].is_text && v.kind == ROCL_JSON_STRING) {
            text.len = 0;
            rocl_json_unescape(&text, v.text);
            const uint32_t id = rocl_strings_put(t->strings, (const char *)text.data, text.len);
            ok = id != ROCL_NONE && !text.failed;
            memcpy(to, &id, sizeof id);
        } else if (!members[key].is_text && rocl_json_int(v.text, &number)) {
            memcpy(to, &number, sizeof number);
        }
    }
    rocl_buf_free(&text);
    return ok;
}

static bool read_list(rocl_roster *roster, rocl_trace *t, rocl_json *r, int list)
{
    rocl_json_token v;
    bool ok = true;
    if (!rocl_json_enter(r, ROCL_JSON_ARRAY))
        return true;
    while (ok && rocl_json_element(r, &v)) {
        if (!rocl_json_enter(r, ROCL_JSON_OBJECT))
            continue;
        if (list == 0) {
            rocl_roster_host h = {0};
            ok = read_item(r, t, &h, host_members, COUNT(host_members)) &&
                 ROCL_GROW(roster->hosts, roster->host_cap, roster->host_count + 1);
            if (ok)
                roster->hosts[roster->host_count++] = h;
        } else if (list == 1) {
            rocl_roster_process p = {-1, -1, -1, -1, 0};
            ok = read_item(r, t, &p, process_members, COUNT(process_members)) &&
                 ROCL_GROW(roster->processes, roster->process_cap, roster->process_count + 1);
            if (ok)
                roster->processes[roster->process_count++] = p;
        } else {
            rocl_roster_gpu g = {.id = -1, .on = -1, .number = -1, .index = -1, .ordinal = -1};
            ok = read_item(r, t, &g, gpu_members, COUNT(gpu_members)) &&
                 ROCL_GROW(roster->gpus, roster->gpu_cap, roster->gpu_count + 1);
            if (ok)
                roster->gpus[roster->gpu_count++] = g;
        }
    }
    return ok;
}

bool rocl_roster_read(rocl_roster *roster, rocl_trace *t, rocl_json *r)
{
    static const rocl_view keys[] = {ROCL_JSON_KEY("hosts"), ROCL_JSON_KEY("processes"),
                                     ROCL_JSON_KEY("gpus")};
    rocl_json_token v;
    bool ok = true;
    if (!rocl_json_enter(r, ROCL_JSON_OBJECT))
        return true;
    for (int key; ok && (key = rocl_json_member(r, keys, 3, &v)) >= 0;)
        ok = read_list(roster, t, r, key);
    return ok;
}
