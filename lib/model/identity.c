/* The machines and GPUs of a trace: see identity.h. */
#include "model/identity.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/map.h"
#include "base/order.h"
#include "base/text.h"

/* ---- machines -------------------------------------------------------------------------------- */

/* Nodes from one container image share a machine id, and many hosts are called "localhost": so all
 * that both have must agree, and they must have something in common. */
static bool is_same_machine(const rocl_machine *a, const rocl_node *b)
{
    const bool common = (a->hostname && b->hostname) || (a->machine_id && b->machine_id);
    const bool names_differ = a->hostname && b->hostname && a->hostname != b->hostname;
    const bool ids_differ = a->machine_id && b->machine_id && a->machine_id != b->machine_id;
    return common && !names_differ && !ids_differ;
}

/* What is collected while machines are numbered. */
typedef struct numbering {
    rocl_trace *trace;
    size_t machine_cap;
    rocl_map of_uuid;    /* uuid (text) of a GPU -> its machine, TWO_MACHINES if several have it */
    rocl_map of_process; /* rank and pid -> the machine without a name that such a process is on */
} numbering;

enum { TWO_MACHINES = ROCL_NONE - 1 };

static rocl_machine *add_machine(numbering *n, const rocl_machine *machine)
{
    rocl_trace *t = n->trace;
    if (!ROCL_GROW(t->machines, n->machine_cap, t->machine_count + 1))
        return NULL;
    t->machines[t->machine_count] = *machine;
    return &t->machines[t->machine_count++];
}

/* With --same-host there is one machine, with the first name that is known. */
static rocl_status number_named_node(numbering *n, const rocl_capture *c, const rocl_node *node,
                                     uint32_t *machine, rocl_error *err)
{
    rocl_trace *t = n->trace;
    rocl_machine *m = t->machines, *end = m + t->machine_count;
    while (m < end && !t->opt.same_host && !is_same_machine(m, node))
        m++;
    if (m == end && !(m = add_machine(n, &(rocl_machine){.first = c->index, .node = ROCL_NONE})))
        return rocl_fail_memory(err);
    if (!m->hostname && node->hostname)
        m->said_by = node->said_by;
    m->hostname = m->hostname ? m->hostname : node->hostname;
    m->machine_id = m->machine_id ? m->machine_id : node->machine_id;
    *machine = (uint32_t)(m - t->machines);
    return ROCL_OK;
}

/* The node of a GPU, or of the process that has it. */
static uint32_t node_of_agent(const rocl_capture *c, const rocl_agent *a)
{
    if (a->node < c->node_count || a->process >= c->process_count)
        return a->node;
    return c->processes[a->process].node;
}

/* A uuid or an address that another GPU has as well, which the same process sees, tells nothing:
 * parts of one device may share it, and tools that make traces up are careless. */
static bool is_own(const rocl_capture *c, const rocl_agent *a, uint32_t text, bool uuid)
{
    for (uint32_t i = 0; i < c->agent_count && text; i++) {
        const rocl_agent *b = &c->agents[i];
        if (b != a && b->type == ROCL_AGENT_GPU && b->process == a->process &&
            (uuid ? b->uuid : b->pci) == text)
            return false;
    }
    return text != 0;
}

static bool has_uuid(const rocl_capture *c, const rocl_agent *a)
{
    return a->type == ROCL_AGENT_GPU && is_own(c, a, a->uuid, true);
}

/* The machine that one of the GPUs of a node without a name is on; ROCL_NONE: unknown. */
static uint32_t machine_by_uuid(const numbering *n, const rocl_capture *c, uint32_t node)
{
    for (uint32_t i = 0; i < c->agent_count; i++) {
        const rocl_agent *a = &c->agents[i];
        const uint32_t m = has_uuid(c, a) && node_of_agent(c, a) == node
                               ? rocl_map_get(&n->of_uuid, a->uuid, ROCL_NONE)
                               : ROCL_NONE;
        if (m < TWO_MACHINES)
            return m;
    }
    return ROCL_NONE;
}

/* A process without a name of its host that has a rank: in another file it is the same one. */
static bool find_rank(const rocl_capture *c, uint32_t node, uint64_t *key)
{
    for (uint32_t i = 0; i < c->process_count; i++) {
        const rocl_process *p = &c->processes[i];
        const uint32_t on = p->node < c->node_count ? p->node : c->node_count == 1 ? 0 : ROCL_NONE;
        if (on != node || p->rank < 0 || p->pid <= 1) /* 1: of any container */
            continue;
        *key = rocl_mix64((uint64_t)p->pid) ^ (uint64_t)(uint32_t)p->rank;
        return true;
    }
    return false;
}

static bool note_uuids(numbering *n, const rocl_capture *c, uint32_t node, uint32_t machine)
{
    for (uint32_t i = 0; i < c->agent_count; i++) {
        const rocl_agent *a = &c->agents[i];
        if (!has_uuid(c, a) || node_of_agent(c, a) != node)
            continue;
        const uint32_t m = rocl_map_get(&n->of_uuid, a->uuid, machine);
        if (!rocl_map_put(&n->of_uuid, a->uuid, m == machine ? machine : TWO_MACHINES))
            return false;
    }
    return true;
}

/* The machine of a node of a capture, or of what names no node: that is where its only node is. of:
 * by node, and for none, as far as they are decided. */
static rocl_status decide_machine(numbering *n, const rocl_capture *c, uint32_t node, uint32_t *of,
                                  uint32_t *machine, rocl_error *err)
{
    rocl_trace *t = n->trace;
    node = rocl_node_or_only(c, node);
    uint32_t *decided = &of[node == ROCL_NONE ? c->node_count : node];
    rocl_status st = ROCL_OK;
    if (*decided == ROCL_NONE) {
        const rocl_node *known = node == ROCL_NONE ? NULL : &c->nodes[node];
        uint64_t process = 0;
        const bool ranked = find_rank(c, node, &process);
        if (known && (known->hostname || known->machine_id))
            st = number_named_node(n, c, known, decided, err);
        else if (t->opt.same_host && t->machine_count)
            *decided = 0;
        else if ((*decided = machine_by_uuid(n, c, node)) == ROCL_NONE && ranked)
            *decided = rocl_map_get(&n->of_process, process, ROCL_NONE);
        if (st == ROCL_OK && *decided == ROCL_NONE) {
            *decided = (uint32_t)t->machine_count;
            if (!add_machine(n, &(rocl_machine){.first = c->index, .node = node}) ||
                (ranked && !rocl_map_put(&n->of_process, process, *decided)))
                st = rocl_fail_memory(err);
        }
        if (st == ROCL_OK && !note_uuids(n, c, node, *decided))
            st = rocl_fail_memory(err);
    }
    *machine = *decided;
    return st;
}

/* Named machines come first: captures are in the order of the names of their nodes. */
static rocl_status number_machines(numbering *n, rocl_capture *c, rocl_error *err)
{
    uint32_t *of = malloc((c->node_count + (size_t)1) * sizeof *of);
    rocl_status st = of ? ROCL_OK : rocl_fail_memory(err);
    for (uint32_t i = 0; of && i <= c->node_count; i++)
        of[i] = ROCL_NONE;
    for (uint32_t i = 0; i < c->process_count && st == ROCL_OK; i++) {
        rocl_process *p = (rocl_process *)(uintptr_t)&c->processes[i];
        st = decide_machine(n, c, p->node, of, &p->machine, err);
    }
    if (st == ROCL_OK && c->process_count)
        c->machine = c->processes[0].machine;
    else if (st == ROCL_OK)
        st = decide_machine(n, c, c->node_count ? 0 : ROCL_NONE, of, &c->machine, err);
    for (uint32_t i = 0; i < c->agent_count && st == ROCL_OK; i++) {
        rocl_agent *a = (rocl_agent *)(uintptr_t)&c->agents[i];
        const uint32_t node = rocl_node_or_only(c, node_of_agent(c, a));
        a->node = node < c->node_count ? node : a->node;
        if (node < c->node_count || a->process < c->process_count)
            st = decide_machine(n, c, node, of, &a->machine, err);
        else
            a->machine = c->machine;
    }
    free(of);
    return st;
}

/* ---- GPUs ------------------------------------------------------------------------------------ */

static bool is_gpu(const rocl_gpu *g, const rocl_gpu *a)
{
    if (g->machine != a->machine)
        return false;
    if (g->uuid && a->uuid)
        return g->uuid == a->uuid;
    if (g->pci && a->pci)
        return g->pci == a->pci;
    return g->number == a->number &&
           !((g->ordinal || a->ordinal) && g->rank >= 0 && a->rank >= 0 && g->rank != a->rank);
}

static rocl_status collect_gpus(rocl_trace *t, rocl_error *err)
{
    size_t cap = 0, before_cap = 0;
    /* last: the GPU of each machine that was met last; before: of each GPU the one before it on its
     * machine. Both are plus 1. */
    uint32_t *last = calloc(t->machine_count + 1, sizeof *last), *before = NULL;
    rocl_status st = last ? ROCL_OK : rocl_fail_memory(err);
    for (uint32_t i = 0; i < t->capture_count; i++) {
        const rocl_capture *c = &t->captures[i]->pub;
        for (uint32_t k = 0; k < c->agent_count && st == ROCL_OK; k++) {
            rocl_agent *a = (rocl_agent *)(uintptr_t)&c->agents[k];
            a->gpu = ROCL_NONE;
            if (a->type != ROCL_AGENT_GPU)
                continue;
            const rocl_gpu is = {
                .machine = a->machine,
                .uuid = has_uuid(c, a) ? a->uuid : 0,
                .pci = is_own(c, a, a->pci, false) ? a->pci : 0,
                .number = a->absolute_index >= 0 ? a->absolute_index : a->id,
                .ordinal = a->ordinal,
                .rank = a->process < c->process_count ? c->processes[a->process].rank : c->rank,
                .capture = i,
                .agent = k};
            uint32_t known = last[a->machine];
            while (known && !is_gpu(&t->gpus[known - 1], &is))
                known = before[known - 1];
            if (known) {
                rocl_gpu *g = &t->gpus[known - 1];
                g->uuid = g->uuid ? g->uuid : is.uuid;
                g->pci = g->pci ? g->pci : is.pci;
                a->gpu = known - 1;
            } else if (ROCL_GROW(t->gpus, cap, t->gpu_count + 1) &&
                       ROCL_GROW(before, before_cap, t->gpu_count + 1)) {
                a->gpu = (uint32_t)t->gpu_count;
                before[t->gpu_count] = last[a->machine];
                t->gpus[t->gpu_count++] = is;
                last[a->machine] = (uint32_t)t->gpu_count;
            } else {
                st = rocl_fail_memory(err);
            }
        }
    }
    free(last);
    free(before);
    return st;
}

static int compare_gpus(const void *a, const void *b)
{
    const rocl_gpu *x = a, *y = b;
    int by = rocl_number_order(x->machine, y->machine);
    by = by ? by : rocl_number_order(x->number, y->number);
    return by ? by : rocl_number_order(x->id, y->id);
}

/* By machine and number. Numbers that come from the source are kept as ids, if they are different
 * ones. */
static rocl_status order_gpus(rocl_trace *t, rocl_error *err)
{
    uint32_t *to = malloc((t->gpu_count + 1) * sizeof *to);
    if (!to)
        return rocl_fail_memory(err);
    for (uint32_t i = 0; i < t->gpu_count; i++)
        t->gpus[i].id = i;
    if (t->gpu_count)
        qsort(t->gpus, t->gpu_count, sizeof *t->gpus, compare_gpus);
    for (uint32_t i = 0; i < t->gpu_count; i++)
        to[t->gpus[i].id] = i;
    for (size_t i = 0; i < t->capture_count; i++)
        for (uint32_t k = 0; k < t->captures[i]->pub.agent_count; k++) {
            rocl_agent *a = (rocl_agent *)(uintptr_t)&t->captures[i]->pub.agents[k];
            a->gpu = a->gpu == ROCL_NONE ? ROCL_NONE : to[a->gpu];
        }
    free(to);
    for (size_t first = 0, end; first < t->gpu_count; first = end) {
        bool given = true;
        for (end = first; end < t->gpu_count && t->gpus[end].machine == t->gpus[first].machine;
             end++) {
            const rocl_gpu *g = &t->gpus[end];
            given &= g->number == rocl_gpu_agent(t, g)->type_index && g->number <= INT32_MAX &&
                     (end == first || g->number != g[-1].number);
        }
        for (size_t k = first; k < end; k++)
            t->gpus[k].id = given ? (uint32_t)t->gpus[k].number : (uint32_t)(k - first);
    }
    /* A number that counts what a process sees becomes that of the machine, which tells GPUs apart
     * in outputs, too. */
    for (size_t i = 0; i < t->capture_count; i++)
        for (uint32_t k = 0; k < t->captures[i]->pub.agent_count; k++) {
            rocl_agent *a = (rocl_agent *)(uintptr_t)&t->captures[i]->pub.agents[k];
            if (a->ordinal && a->gpu != ROCL_NONE)
                a->absolute_index = t->gpus[a->gpu].id;
        }
    return ROCL_OK;
}

/* ---- labels ---------------------------------------------------------------------------------- */

/* Who is on a machine without a name: "rank 3" or "pid 4711" if that is one. */
typedef struct inhabitants {
    int64_t rank, pid; /* -1: none yet; -2: several */
} inhabitants;

static void note_inhabitant(int64_t *one, int64_t number)
{
    *one = *one == -1 || *one == number ? number : -2;
}

static uint32_t put_text(rocl_trace *t, const char *text)
{
    return rocl_strings_put(t->strings, text, strlen(text));
}

/* with_file: others would be called the same. */
static uint32_t name_place(rocl_trace *t, const rocl_machine *m, const inhabitants *in,
                           bool with_file)
{
    const uint32_t name = m->hostname ? m->hostname : m->machine_id;
    const rocl_capture *c = &t->captures[m->first]->pub;
    const char *slash = c->path ? strrchr(c->path, '/') : NULL;
    const char *file = !c->path ? "-" : slash && slash[1] ? slash + 1 : c->path;
    char text[320], *to = text;
    size_t room = sizeof text;
    if (name)
        rocl_label(text, sizeof text, " on %.100s", rocl_str(t, name));
    else if (in->rank >= 0)
        snprintf(text, sizeof text, " of rank %" PRId64, in->rank);
    else if (in->pid > 0)
        snprintf(text, sizeof text, " of pid %" PRId64, in->pid);
    else
        rocl_label(text, sizeof text, " of %.100s", file);
    to += strlen(text);
    room -= strlen(text);
    if (with_file && m->hostname && m->machine_id)
        rocl_label(to, room, " (%.40s)", rocl_str(t, m->machine_id));
    else if (with_file && m->node < c->node_count && c->node_count > 1)
        rocl_label(to, room, " (%.150s, node %" PRId64 ")", file, c->nodes[m->node].id);
    else if (with_file)
        rocl_label(to, room, " (%.150s)", file);
    return put_text(t, text);
}

static rocl_status name_places(rocl_trace *t, rocl_error *err)
{
    inhabitants *in = malloc((t->machine_count + 1) * sizeof *in);
    rocl_map seen = {0};
    bool ok = in;
    for (size_t m = 0; in && m < t->machine_count; m++)
        in[m] = (inhabitants){-1, -1};
    for (size_t i = 0; in && i < t->capture_count; i++)
        for (uint32_t k = 0; k < t->captures[i]->pub.process_count; k++) {
            const rocl_process *p = &t->captures[i]->pub.processes[k];
            note_inhabitant(&in[p->machine].rank, p->rank >= 0 ? p->rank : -2);
            note_inhabitant(&in[p->machine].pid, p->pid > 0 ? p->pid : -2);
        }
    for (uint32_t m = 0; m < t->machine_count && ok; m++) {
        t->machines[m].place = name_place(t, &t->machines[m], &in[m], false);
        const uint32_t other = rocl_map_get(&seen, t->machines[m].place, ROCL_NONE);
        ok = rocl_map_put(&seen, t->machines[m].place, other == ROCL_NONE ? m : ROCL_NONE - 1);
    }
    for (uint32_t m = 0; m < t->machine_count && ok; m++) {
        uint32_t *place = &t->machines[m].place;
        if (rocl_map_get(&seen, *place, ROCL_NONE) == m)
            continue;
        *place = name_place(t, &t->machines[m], &in[m], true);
        /* One file may have several machines of which it says nothing else. */
        if (rocl_map_get(&seen, *place, ROCL_NONE) != ROCL_NONE) {
            char text[340];
            snprintf(text, sizeof text, "%.310s #%" PRIu32, rocl_str(t, *place), m);
            *place = put_text(t, text);
        }
        ok = rocl_map_put(&seen, *place, m);
    }
    rocl_map_free(&seen);
    free(in);
    return ok ? ROCL_OK : rocl_fail_memory(err);
}

const char *rocl_machine_name(const rocl_trace *t, uint32_t machine)
{
    const rocl_machine *m = machine < t->machine_count ? &t->machines[machine] : NULL;
    const uint32_t text = !m ? 0 : m->hostname ? m->hostname : m->machine_id;
    return text ? rocl_str(t, text) : "-";
}

const char *rocl_machine_place(const rocl_trace *t, uint32_t machine)
{
    return t->machine_count > 1 && machine < t->machine_count
               ? rocl_str(t, t->machines[machine].place)
               : "";
}

/* A device that is no GPU has its type and number, or the label that AMD's tools give it. */
static rocl_status name_devices(rocl_trace *t, rocl_capture *c, rocl_error *err)
{
    char text[360];
    for (uint32_t i = 0; i < c->agent_count; i++) {
        rocl_agent *a = (rocl_agent *)(uintptr_t)&c->agents[i];
        const char *place = rocl_machine_place(t, a->machine), *type = rocl_str(t, a->type_name);
        if (a->gpu != ROCL_NONE) {
            a->device = t->gpus[a->gpu].label;
            continue;
        }
        if (a->type != ROCL_AGENT_OTHER && a->type_index >= 0 && *type)
            rocl_label(text, sizeof text, "%s %" PRId64 "%s", type, a->type_index, place);
        else
            rocl_label(text, sizeof text, "%.100s%s", rocl_str(t, a->label), place);
        a->device = put_text(t, text);
        if (a->device == ROCL_NONE)
            return rocl_fail_memory(err);
    }
    return ROCL_OK;
}

/* ---- all of it ------------------------------------------------------------------------------- */

rocl_status rocl_identity_make(rocl_trace *t, rocl_error *err)
{
    numbering n = {.trace = t};
    rocl_status st = ROCL_OK;
    free(t->machines);
    free(t->gpus);
    t->machines = NULL;
    t->gpus = NULL;
    t->machine_count = t->gpu_count = 0;
    for (size_t i = 0; i < t->capture_count && st == ROCL_OK; i++)
        st = number_machines(&n, &t->captures[i]->pub, err);
    rocl_map_free(&n.of_uuid);
    rocl_map_free(&n.of_process);
    uint32_t unnamed = ROCL_NONE; /* the first machine without a name: they share a clock */
    t->clock_count = t->named_count = 0;
    for (uint32_t m = 0; m < t->machine_count; m++) {
        const bool named = rocl_machine_is_named(&t->machines[m]);
        unnamed = !named && unnamed == ROCL_NONE ? m : unnamed;
        t->machines[m].clock = named ? m : unnamed;
        t->clock_count += t->machines[m].clock == m;
        t->named_count += named;
    }
    if (st == ROCL_OK)
        st = collect_gpus(t, err);
    if (st == ROCL_OK)
        st = order_gpus(t, err);
    if (st == ROCL_OK)
        st = name_places(t, err);
    for (size_t i = 0; i < t->gpu_count && st == ROCL_OK; i++) {
        rocl_gpu *g = &t->gpus[i];
        char text[360];
        rocl_label(text, sizeof text, "GPU %" PRIu32 "%s", g->id,
                   rocl_machine_place(t, g->machine));
        g->label = put_text(t, text);
        st = g->label == ROCL_NONE ? rocl_fail_memory(err) : ROCL_OK;
    }
    for (size_t i = 0; i < t->capture_count && st == ROCL_OK; i++)
        st = name_devices(t, &t->captures[i]->pub, err);
    return st;
}

void rocl_identity_copy(rocl_capture *to, const rocl_capture *from)
{
    to->machine = from->machine;
    for (uint32_t i = 0; i < to->process_count && i < from->process_count; i++)
        ((rocl_process *)(uintptr_t)&to->processes[i])->machine = from->processes[i].machine;
    for (uint32_t i = 0; i < to->agent_count && i < from->agent_count; i++) {
        rocl_agent *a = (rocl_agent *)(uintptr_t)&to->agents[i];
        a->machine = from->agents[i].machine;
        a->gpu = from->agents[i].gpu;
        a->device = from->agents[i].device;
    }
}

bool rocl_is_renamed(const rocl_capture *c)
{
    bool renamed = false;
    for (uint32_t i = 0; i < c->node_count; i++)
        renamed |= c->nodes[i].said_by == ROCL_SAID_BY_OPTION;
    for (uint32_t i = 0; i < c->process_count; i++)
        renamed |= c->processes[i].said_by == ROCL_SAID_BY_OPTION;
    return renamed;
}

/* ---- uuids and addresses --------------------------------------------------------------------- */

uint32_t rocl_uuid_text(rocl_trace *t, const uint8_t bytes[16])
{
    static const uint8_t none[16];
    char text[40] = "GPU-";
    size_t n = 4;
    /* The driver has eight bytes, of which the last one is written first. */
    const bool is_short = !memcmp(bytes + 8, none, 8);
    if (!memcmp(bytes, none, 16))
        return 0;
    for (unsigned i = 0; i < (is_short ? 8 : 16); i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%02x", bytes[is_short ? 7 - i : i]);
    return rocl_strings_put(t->strings, text, n);
}

bool rocl_uuid_bytes(const char *text, uint8_t bytes[16])
{
    size_t n = 0;
    memset(bytes, 0, 16);
    if (strncasecmp(text, "GPU-", 4) != 0)
        return false;
    for (text += 4; *text; text++) {
        static const char digits[] = "0123456789abcdef";
        const char *digit = strchr(digits, tolower((unsigned char)*text));
        if (*text == '-')
            continue;
        if (!digit || n == 32)
            return false;
        bytes[n / 2] = (uint8_t)(bytes[n / 2] << 4 | (digit - digits));
        n++;
    }
    for (unsigned i = 0; i < 4 && n == 16; i++) {
        const uint8_t b = bytes[i];
        bytes[i] = bytes[7 - i];
        bytes[7 - i] = b;
    }
    return n == 16 || n == 32;
}

uint32_t rocl_pci_text(rocl_trace *t, uint64_t domain, uint64_t location)
{
    char text[40];
    const int n = snprintf(text, sizeof text, "%04x:%02x:%02x.%x", (unsigned)(domain & 0xffff),
                           (unsigned)(location >> 8 & 0xff), (unsigned)(location >> 3 & 31),
                           (unsigned)(location & 7));
    return rocl_strings_put(t->strings, text, (size_t)n);
}

bool rocl_pci_location(const char *text, uint64_t *domain, uint64_t *location)
{
    unsigned of, bus, device, function;
    int n = 0;
    if (sscanf(text, "%4x:%2x:%2x.%1x%n", &of, &bus, &device, &function, &n) != 4 || text[n] ||
        device > 31 || function > 7)
        return false;
    *domain = of;
    *location = bus << 8 | device << 3 | function;
    return true;
}
