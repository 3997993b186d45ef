/* What a trace describes besides its events: tracks, processes, threads, GPUs, counters. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "model/identity.h"
#include "source/pftrace/pftrace.h"

static uint32_t keep_bytes(pfr_file *f, rocl_view v)
{
    const uint32_t id = v.n ? rocl_strings_put(f->bytes, v.p, v.n) : 0;
    f->failed |= id == ROCL_NONE;
    return id;
}

uint64_t pfr_process_key(uint32_t machine, int64_t pid)
{
    const uint64_t number = (uint64_t)machine << 32 | (uint32_t)pid;
    return machine ? ROCL_KEY_OF_TEXT | number : number;
}

bool pfr_sees_agent(const rocl_records_input *in, uint64_t process, uint64_t machine)
{
    (void)in;
    const bool first = !(process & ROCL_KEY_OF_TEXT) || process == ROCL_NO_KEY;
    return (first ? 0 : (process & ~ROCL_KEY_OF_TEXT) >> 32) == (machine & INT32_MAX);
}

/* ---- processes and threads ------------------------------------------------------------------- */

static pfr_process *open_process(pfr_file *f, uint32_t machine, int64_t pid)
{
    const uint64_t key = pfr_process_key(machine, pid);
    const uint32_t at = rocl_map_get(&f->process_ids, key, ROCL_NONE);
    if (at != ROCL_NONE)
        return &f->processes[at];
    if (!ROCL_GROW(f->processes, f->process_cap, f->process_count + 1) ||
        !rocl_map_put(&f->process_ids, key, (uint32_t)f->process_count)) {
        f->failed = true;
        return NULL;
    }
    pfr_process *p = &f->processes[f->process_count++];
    *p = (pfr_process){.machine = machine, .pid = pid, .rank = -1};
    return p;
}

/* Joins the words of a command line, a repeated field, with blanks. */
static uint32_t join_command(pfr_file *f, rocl_view message, uint32_t number)
{
    rocl_pb r = rocl_pb_of(message);
    rocl_view word;
    rocl_buf b = {0};
    while (pfr_next_bytes(&r, number, &word)) {
        if (b.len)
            rocl_buf_byte(&b, ' ');
        rocl_buf_put(&b, word.p, word.n);
    }
    const uint32_t id = keep_bytes(f, (rocl_view){(const char *)b.data, b.len});
    f->failed |= b.failed;
    rocl_buf_free(&b);
    return id;
}

static uint64_t thread_name_key(uint32_t machine, int64_t pid, int64_t tid)
{
    return rocl_mix64(pfr_process_key(machine, pid) ^ rocl_mix64((uint64_t)tid));
}

static void describe_tree(pfr_file *f, const pfr_packet *p)
{
    rocl_pb r = rocl_pb_of(p->body), inner;
    rocl_pb_field g, h;
    while (rocl_pb_next(&r, &g)) {
        int64_t pid = 0, tid = 0;
        uint32_t name = 0;
        if (g.kind != ROCL_PB_BYTES)
            continue;
        inner = rocl_pb_of(g.bytes);
        while (rocl_pb_next(&inner, &h)) {
            if (g.number == TREE_PROCESS && h.number == TREE_PID)
                pid = (int32_t)h.value;
            else if (g.number == TREE_THREAD && h.number == TREE_THREAD_PID)
                pid = (int32_t)h.value;
            else if (g.number == TREE_THREAD && h.number == TREE_THREAD_TID)
                tid = (int32_t)h.value;
            else if (g.number == TREE_THREAD && h.number == TREE_THREAD_NAME &&
                     h.kind == ROCL_PB_BYTES)
                name = keep_bytes(f, h.bytes);
        }
        if (g.number == TREE_PROCESS) {
            const uint32_t command = join_command(f, g.bytes, TREE_CMDLINE);
            pfr_process *process = command ? open_process(f, p->machine, pid) : NULL;
            if (process)
                process->command = command;
        } else if (name &&
                   !rocl_map_put(&f->thread_names, thread_name_key(p->machine, pid, tid), name)) {
            f->failed = true;
        }
    }
}

/* ---- tracks ---------------------------------------------------------------------------------- */

/* Concatenated traces may use a uuid for another track: from where it is described differently, all
 * uuids are new, which is a generation. */
static uint64_t track_key(uint32_t machine, uint64_t uuid, uint32_t generation)
{
    return !machine && !generation
               ? uuid
               : rocl_mix64(uuid ^ rocl_mix64((uint64_t)machine << 32 | generation));
}

static pfr_track *find_track(const pfr_file *f, uint32_t machine, uint64_t uuid,
                             uint32_t generation)
{
    const uint32_t at =
        rocl_map_get(&f->track_ids, track_key(machine, uuid, generation), ROCL_NONE);
    pfr_track *t = at == ROCL_NONE ? NULL : &f->tracks[at];
    const bool same = t && t->uuid == uuid && t->machine == machine && t->generation == generation;
    return same ? t : NULL;
}

const pfr_track *pfr_track_of(const pfr_file *f, uint32_t machine, uint64_t uuid, uint64_t at)
{
    uint32_t generation = 0;
    while (generation < f->generation_count && f->generations[generation] <= at)
        generation++;
    return find_track(f, machine, uuid, generation);
}

static void read_process(pfr_file *f, pfr_track *t, rocl_view message)
{
    rocl_pb r = rocl_pb_of(message);
    rocl_pb_field g;
    pfr_process p = {.rank = -1};
    char text[64];
    int64_t n;
    t->is_process = true;
    while (rocl_pb_next(&r, &g)) {
        if (g.number == PROCESS_PID)
            t->pid = (int32_t)g.value;
        else if (g.number == PROCESS_NAME && g.kind == ROCL_PB_BYTES)
            p.name = keep_bytes(f, g.bytes);
        else if (g.number == PROCESS_LABELS && g.kind == ROCL_PB_BYTES && g.bytes.n < sizeof text) {
            /* Our writer puts ranks, and numbers that it had to change, into labels. */
            snprintf(text, sizeof text, "%.*s", (int)g.bytes.n, g.bytes.p);
            if (sscanf(text, PF_LABEL_RANK "%" SCNd64, &n) == 1 && n >= 0 && n <= INT32_MAX)
                p.rank = (int32_t)n;
            else if (sscanf(text, PF_LABEL_PID "%" SCNd64, &n) == 1)
                p.real_pid = n;
        } else if (g.number == PROCESS_START && g.kind == ROCL_PB_VARINT && g.value <= INT64_MAX)
            p.start = (int64_t)g.value;
    }
    p.command = join_command(f, message, PROCESS_CMDLINE);
    pfr_process *to = open_process(f, t->machine, t->pid);
    if (!to)
        return;
    to->name = p.name ? p.name : to->name;
    to->command = p.command ? p.command : to->command;
    to->rank = p.rank >= 0 ? p.rank : to->rank;
    to->start = p.start ? p.start : to->start;
    to->real_pid = p.real_pid ? p.real_pid : to->real_pid;
}

static void read_thread(pfr_file *f, pfr_track *t, rocl_view message)
{
    rocl_pb r = rocl_pb_of(message);
    rocl_pb_field g;
    t->is_thread = true;
    while (rocl_pb_next(&r, &g)) {
        if (g.number == THREAD_PID)
            t->pid = (int32_t)g.value;
        else if (g.number == THREAD_TID)
            t->tid = (int64_t)g.value;
        else if (g.number == THREAD_NAME && g.kind == ROCL_PB_BYTES)
            t->thread_name = keep_bytes(f, g.bytes);
    }
}

static void read_counter(pfr_file *f, pfr_track *t, rocl_view message)
{
    rocl_pb r = rocl_pb_of(message);
    rocl_pb_field g;
    t->is_counter = true;
    while (rocl_pb_next(&r, &g)) {
        if (g.number == COUNTER_TYPE)
            t->counter_type = g.value <= COUNTER_IS_INSTRUCTIONS ? (uint8_t)g.value : 0;
        else if (g.number == COUNTER_UNIT)
            t->unit = g.value <= UNIT_BYTES ? (uint8_t)g.value : 0;
        else if (g.number == COUNTER_MULTIPLIER)
            t->multiplier = (int64_t)g.value;
        else if (g.number == COUNTER_INCREMENTAL)
            t->incremental = g.value;
        else if (g.number == COUNTER_UNIT_NAME && g.kind == ROCL_PB_BYTES)
            t->unit_name = keep_bytes(f, g.bytes);
    }
    f->incremental |= t->incremental;
}

static bool tracks_contradict(const pfr_track *old, const pfr_track *fresh)
{
    return (old->is_process && fresh->is_process && old->pid != fresh->pid) ||
           (old->is_thread && fresh->is_thread &&
            (old->pid != fresh->pid || old->tid != fresh->tid)) ||
           (old->has_parent && fresh->has_parent && old->parent != fresh->parent) ||
           ((old->is_process || old->is_thread) &&
            (fresh->has_parent && !fresh->is_process && !fresh->is_thread)) ||
           (old->has_parent && !old->is_process && !old->is_thread &&
            (fresh->is_process || fresh->is_thread)) ||
           (old->has_parent && fresh->has_parent && old->is_counter != fresh->is_counter);
}

static void describe_track(pfr_file *f, const pfr_packet *p)
{
    rocl_pb r = rocl_pb_of(p->body);
    rocl_pb_field g;
    pfr_track t = {.machine = p->machine, .described = true, .multiplier = 1};
    rocl_view description = {0};
    while (rocl_pb_next(&r, &g)) {
        if (g.number == TRACK_UUID)
            t.uuid = g.value;
        else if (g.number == TRACK_PARENT) {
            t.parent = g.value;
            t.has_parent = true;
        } else if (g.kind != ROCL_PB_BYTES)
            continue;
        else if (g.number == TRACK_NAME || g.number == TRACK_STATIC_NAME ||
                 g.number == TRACK_ATRACE_NAME)
            t.name = keep_bytes(f, g.bytes);
        else if (g.number == TRACK_PROCESS)
            read_process(f, &t, g.bytes);
        else if (g.number == TRACK_THREAD)
            read_thread(f, &t, g.bytes);
        else if (g.number == TRACK_COUNTER)
            read_counter(f, &t, g.bytes);
        else if (g.number == TRACK_DESCRIPTION)
            description = g.bytes;
    }
    /* Our writer says a number that it had to change. */
    if (t.is_thread && rocl_view_begins(description, PF_REAL_TID) &&
        !rocl_map_put(&f->real_tids, thread_name_key(t.machine, t.pid, t.tid),
                      keep_bytes(f, description)))
        f->failed = true;
    t.multiplier = t.multiplier ? t.multiplier : 1;
    t.generation = (uint32_t)f->generation_count;
    pfr_track *old = find_track(f, t.machine, t.uuid, t.generation);
    if (old && tracks_contradict(old, &t)) {
        if (!ROCL_GROW(f->generations, f->generation_cap, f->generation_count + 1)) {
            f->failed = true;
            return;
        }
        f->generations[f->generation_count++] = p->at;
        t.generation++;
        old = NULL;
    }
    if (old) {
        t.name = t.name ? t.name : old->name;
        t.thread_name = t.thread_name ? t.thread_name : old->thread_name;
        t.has_parent |= old->has_parent;
        t.parent = t.parent ? t.parent : old->parent;
        if (!t.is_process && !t.is_thread) {
            t.pid = old->pid;
            t.tid = old->tid;
            t.is_process = old->is_process;
            t.is_thread = old->is_thread;
        }
        if (!t.is_counter && old->is_counter) {
            t.is_counter = true;
            t.counter_type = old->counter_type;
            t.unit = old->unit;
            t.unit_name = old->unit_name;
            t.multiplier = old->multiplier;
            t.incremental = old->incremental;
        }
        *old = t;
        return;
    }
    if (!ROCL_GROW(f->tracks, f->track_cap, f->track_count + 1) ||
        !rocl_map_put(&f->track_ids, track_key(t.machine, t.uuid, t.generation),
                      (uint32_t)f->track_count)) {
        f->failed = true;
        return;
    }
    f->tracks[f->track_count++] = t;
}

/* ---- GPUs and counters ----------------------------------------------------------------------- */

static bool read_agent(rocl_view text, pfr_agent *a)
{
    rocl_agent_type type;
    uint32_t number;
    if (!rocl_read_agent(text, &type, &number))
        return false;
    *a = (pfr_agent){(uint64_t)type << 32 | number, type};
    return true;
}

static void find_agent_type(const pfr_file *f, pfr_agent *a)
{
    if (a->type == ROCL_AGENT_OTHER)
        a->type = (rocl_agent_type)rocl_map_get(&f->agent_types, a->number, ROCL_AGENT_OTHER);
}

bool pfr_find_agent(const pfr_file *f, rocl_view text, pfr_agent *a)
{
    const bool found = read_agent(text, a);
    if (found)
        find_agent_type(f, a);
    return found;
}

/* "COPY BYTES to Agent [0] (CPU)", "COMPUTE Agent [2] QUEUE [0] GPU" */
static void note_agent_type(pfr_file *f, rocl_view name)
{
    static const struct {
        const char *text;
        rocl_agent_type type;
    } endings[] = {{"(GPU)", ROCL_AGENT_GPU}, {"] GPU", ROCL_AGENT_GPU}, {"(CPU)", ROCL_AGENT_CPU}};
    pfr_agent agent;
    size_t at = 0;
    while (at + 5 < name.n && strncasecmp(name.p + at, "Agent", 5) != 0)
        at++;
    if (at + 5 >= name.n || !read_agent((rocl_view){name.p + at, name.n - at}, &agent))
        return;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (!memcmp(name.p + name.n - 5, endings[i].text, 5) &&
            !rocl_map_put(&f->agent_types, agent.number, (uint32_t)endings[i].type))
            f->failed = true;
}

/* Facts that only our writer knows. */
static void read_gpu_fact(pfr_file *f, pfr_gpu *gpu, rocl_view message)
{
    rocl_pb r = rocl_pb_of(message);
    rocl_pb_field g;
    rocl_view key = {"", 0}, value = {"", 0};
    while (rocl_pb_next(&r, &g))
        if (g.kind == ROCL_PB_BYTES)
            *(g.number == EXTRA_NAME ? &key : &value) = g.bytes;
    uint32_t *to = rocl_view_is(key, PF_GPU_AGENT)     ? &gpu->label
                   : rocl_view_is(key, PF_GPU_UUID)    ? &gpu->uuid
                   : rocl_view_is(key, PF_GPU_MACHINE) ? &gpu->machine_id
                                                       : NULL;
    gpu->ordinal |= rocl_view_is(key, PF_GPU_ORDINAL);
    if (to)
        *to = keep_bytes(f, value);
}

static void describe_gpus(pfr_file *f, const pfr_packet *p)
{
    rocl_pb r = rocl_pb_of(p->body), inner;
    rocl_pb_field h;
    rocl_view message;
    uint32_t id = 0;
    while (pfr_next_bytes(&r, GPU_INFO_GPU, &message)) {
        pfr_gpu gpu = {.machine = p->machine, .number = id, .id = id};
        const pfr_agent by_id = {(uint64_t)ROCL_AGENT_GPU << 32 | id++, ROCL_AGENT_GPU};
        inner = rocl_pb_of(message);
        while (rocl_pb_next(&inner, &h)) {
            uint32_t *to = h.number == GPU_NAME     ? &gpu.name
                           : h.number == GPU_VENDOR ? &gpu.vendor
                           : h.number == GPU_MODEL  ? &gpu.model
                           : h.number == GPU_ARCH   ? &gpu.arch
                           : h.number == GPU_PCI    ? &gpu.pci
                           : h.number == GPU_UUID   ? &gpu.uuid
                                                    : NULL;
            if (h.kind != ROCL_PB_BYTES || (to == &gpu.uuid && gpu.uuid)) /* our text says more */
                continue;
            if (to)
                *to = keep_bytes(f, h.bytes);
            else if (h.number == GPU_EXTRA)
                read_gpu_fact(f, &gpu, h.bytes);
        }
        /* Its agent is called as we wrote it, unless one of an earlier GPU of the machine is. */
        bool labelled = read_agent(pfr_bytes(f, gpu.label), &gpu.agent);
        for (size_t i = f->gpu_count; i-- > 0 && f->gpus[i].machine == gpu.machine;)
            labelled &= f->gpus[i].agent.number != gpu.agent.number;
        if (labelled) {
            gpu.agent.type = ROCL_AGENT_GPU;
            sscanf(pfr_bytes(f, gpu.name).p, "GPU %" SCNu32, &gpu.number);
        } else {
            gpu.agent = by_id;
            gpu.label = 0;
        }
        if (pfr_gpu_of(f, gpu.machine, gpu.id)) /* concatenated traces: the first one counts */
            continue;
        if (!ROCL_GROW(f->gpus, f->gpu_cap, f->gpu_count + 1)) {
            f->failed = true;
            return;
        }
        f->gpus[f->gpu_count++] = gpu;
    }
}

const pfr_gpu *pfr_gpu_of(const pfr_file *f, uint32_t machine, uint64_t id)
{
    for (size_t i = 0; i < f->gpu_count; i++)
        if (f->gpus[i].machine == machine && f->gpus[i].id == id)
            return &f->gpus[i];
    return NULL;
}

/* Splits the unit off the end of a description that we wrote. */
static rocl_view split_unit(rocl_view *description)
{
    const rocl_view d = *description;
    size_t at = d.n && d.p[d.n - 1] == ']' ? d.n - 1 : 0;
    while (at && d.p[at] != '[')
        at--;
    if (!d.n || d.p[at] != '[' || (at && d.p[at - 1] != ' '))
        return (rocl_view){"", 0};
    description->n = at ? at - 1 : 0;
    return (rocl_view){d.p + at + 1, d.n - at - 2};
}

/* The message is a GpuCounterDescriptor, or, if it has an iid, contains one as field 2. */
void pfr_definitions_counters(pfr_file *f, uint32_t descriptor, rocl_view message)
{
    rocl_pb r = rocl_pb_of(message);
    rocl_pb_field h;
    rocl_view body;
    if (descriptor < pfr_plain_descriptor(0))
        pfr_next_bytes(&r, INTERNED_COUNTER_BODY, &message);
    r = rocl_pb_of(message);
    while (pfr_next_bytes(&r, COUNTER_SPECS, &body)) {
        uint64_t id = 0, unit = 0;
        unsigned units = 0;
        rocl_view name = {"", 0}, description = {"", 0}, unit_name;
        rocl_pb spec = rocl_pb_of(body);
        while (rocl_pb_next(&spec, &h)) {
            if (h.number == CSPEC_ID)
                id = h.value;
            else if (h.number == CSPEC_NAME && h.kind == ROCL_PB_BYTES)
                name = h.bytes;
            else if (h.number == CSPEC_DESCRIPTION && h.kind == ROCL_PB_BYTES)
                description = h.bytes;
            else if (h.number == CSPEC_UNIT && h.kind == ROCL_PB_VARINT) {
                unit = h.value;
                units++;
            }
        }
        const char *known = units == 1 ? rocl_perfetto_unit_text(unit) : "";
        unit_name = (rocl_view){known, strlen(known)};
        if (!units)
            unit_name = split_unit(&description);
        const uint32_t text = keep_bytes(f, name), about = keep_bytes(f, description);
        if (id > UINT32_MAX || !text)
            continue;
        if (!rocl_map_put(&f->counter_names, (uint64_t)descriptor << 32 | id, text) ||
            !rocl_map_put(&f->of_kernels, text, 1) ||
            (unit_name.n && !rocl_map_put(&f->units, text, keep_bytes(f, unit_name))) ||
            (about && !rocl_map_put(&f->descriptions, text, about)))
            f->failed = true;
    }
}

/* ---- machines -------------------------------------------------------------------------------- */

static void describe_host(pfr_file *f, const pfr_packet *p)
{
    rocl_pb r = rocl_pb_of(p->body), inner;
    rocl_pb_field g, h;
    pfr_host host = {.machine = p->machine};
    while (rocl_pb_next(&r, &g)) {
        if (g.kind != ROCL_PB_BYTES)
            continue;
        if (g.number == SYSTEM_INFO_MACHINE_NAME)
            host.name = keep_bytes(f, g.bytes);
        inner = rocl_pb_of(g.bytes);
        while (g.number == SYSTEM_INFO_UTSNAME && rocl_pb_next(&inner, &h)) {
            uint32_t *to = h.number == UTSNAME_SYSTEM     ? &host.system
                           : h.number == UTSNAME_RELEASE  ? &host.release
                           : h.number == UTSNAME_VERSION  ? &host.version
                           : h.number == UTSNAME_HARDWARE ? &host.hardware
                                                          : NULL;
            if (to && h.kind == ROCL_PB_BYTES)
                *to = keep_bytes(f, h.bytes);
        }
    }
    if (!host.name)
        return;
    const uint32_t known = rocl_map_get(&f->host_ids, p->machine, ROCL_NONE);
    if (known != ROCL_NONE)
        f->hosts[known] = host;
    else if (ROCL_GROW(f->hosts, f->host_cap, f->host_count + 1) &&
             rocl_map_put(&f->host_ids, p->machine, (uint32_t)f->host_count))
        f->hosts[f->host_count++] = host;
    else
        f->failed = true;
}

bool pfr_definitions_describe(pfr_file *f, const pfr_packet *p)
{
    rocl_pb r = rocl_pb_of(p->body);
    rocl_view descriptor;
    switch (p->payload) {
    case PKT_TRACK_DESCRIPTOR:
        describe_track(f, p);
        return true;
    case PKT_PROCESS_TREE:
        describe_tree(f, p);
        return true;
    case PKT_GPU_INFO:
        describe_gpus(f, p);
        return true;
    case PKT_GPU_COUNTER:
        while (pfr_next_bytes(&r, GPU_COUNTER_DESCRIPTOR, &descriptor))
            pfr_definitions_counters(f, pfr_plain_descriptor(pfr_sequence(f, p)), descriptor);
        return true;
    case PKT_SYSTEM_INFO:
        describe_host(f, p);
        return true;
    default:
        return p->payload == PKT_CLOCK_SNAPSHOT || p->payload == PKT_GPU_STAGE;
    }
}

/* ---- what tracks are ------------------------------------------------------------------------- */

/* A counter's name without its agent: "GPU 0 NAME" of ours, "Agent [2] PMC NAME" of AMD's. */
static void name_counter(pfr_file *f, pfr_track *t)
{
    const rocl_view name = pfr_bytes(f, t->name);
    pfr_agent agent;
    size_t at = 0;
    t->counter = t->name;
    for (const char *word = " " PF_ALLOCATED; word;
         word = strcmp(word, " " PF_BANDWIDTH) ? " " PF_BANDWIDTH : NULL) {
        const size_t n = strlen(word);
        t->derived |= name.n > n && !memcmp(name.p + name.n - n, word, n) &&
                      (read_agent(name, &agent) ||
                       rocl_view_is((rocl_view){name.p, name.n - n}, ROCL_UNKNOWN_AGENT));
    }
    t->derived |= name.n > strlen(PF_LEGACY_COPIED) &&
                  !memcmp(name.p, PF_LEGACY_COPIED, strlen(PF_LEGACY_COPIED));
    if (!read_agent(name, &agent))
        return;
    while (at < name.n && name.p[at] != ' ' && name.p[at] != '[') /* the word */
        at++;
    while (at < name.n && strchr(" []0123456789", name.p[at]))
        at++;
    if (agent.type == ROCL_AGENT_GPU) { /* ours: the number is that of a described GPU */
        size_t i = 0;
        while (i < f->gpu_count && (f->gpus[i].machine != t->machine ||
                                    f->gpus[i].number != (agent.number & UINT32_MAX)))
            i++;
        if (i == f->gpu_count)
            return;
        agent = f->gpus[i].agent;
    }
    if (name.n - at > 4 && !memcmp(name.p + at, "PMC ", 4)) {
        t->of_kernels = true;
        at += 4;
    }
    if (at >= name.n || name.p[at - 1] != ' ')
        return;
    t->agent = agent;
    t->counter = keep_bytes(f, (rocl_view){name.p + at, name.n - at});
}

/* The number behind a word. */
static bool number_behind(const char *name, const char *word, uint64_t *number)
{
    const char *p = strstr(name, word);
    if (!p)
        return false;
    p += strlen(word);
    p += strspn(p, " [");
    if (*p < '0' || *p > '9')
        return false;
    *number = strtoull(p, NULL, 10) & (((uint64_t)1 << 44) - 1);
    return true;
}

/* GPU work is drawn on tracks named after their stream or queue. */
static void place_track(const pfr_file *f, pfr_track *t)
{
    const rocl_view view = pfr_bytes(f, t->name);
    const char *name = view.p, *agent = NULL;
    uint64_t device;
    if (!strncmp(name, "STREAM", 6) && number_behind(name, "STREAM", &t->number)) {
        t->place = PFR_STREAM;
    } else if (!strncmp(name, "HIP Activity Stream ", 20) &&
               number_behind(name, "Stream", &t->number)) {
        t->place = PFR_STREAM;
    } else if (!strncmp(name, "COMPUTE ", 8) && number_behind(name, "QUEUE", &t->number)) {
        t->place = PFR_QUEUE;
        agent = name + 8;
    } else if (!strncmp(name, "GPU Kernel Dispatch [", 21) &&
               number_behind(name, "Queue", &t->number)) {
        t->place = PFR_QUEUE;
    } else if (!strncmp(name, "COPY to ", 8)) {
        t->place = PFR_COPIES;
        agent = name + 8;
    } else if (!strncmp(name, "GPU Memory Copy to Agent [", 26)) {
        t->place = PFR_COPIES;
    }
    if (agent)
        read_agent((rocl_view){agent, view.n - (size_t)(agent - name)}, &t->agent);
    else if (t->place && number_behind(name, "Dispatch [", &device))
        t->agent = (pfr_agent){(uint64_t)ROCL_AGENT_GPU << 32 | (uint32_t)device, ROCL_AGENT_GPU};
    else if (t->place && number_behind(name, "Agent [", &device))
        t->agent = (pfr_agent){(uint32_t)device, ROCL_AGENT_OTHER};
}

static void resolve_track(pfr_file *f, pfr_track *t)
{
    const pfr_track *up = t, *thread = NULL;
    t->process = t->thread = t->agent.number = ROCL_NO_KEY;
    for (int depth = 0; up && depth < 100; depth++) {
        if (up->is_thread && !thread)
            thread = up;
        if (up->is_process || up->is_thread) {
            t->process = pfr_process_key(t->machine, up->pid);
            break;
        }
        up = up->has_parent ? find_track(f, t->machine, up->parent, t->generation) : NULL;
    }
    const rocl_view name = pfr_bytes(f, t->name);
    note_agent_type(f, name);
    if (t->is_counter) {
        static const char *const known[] = {"", "thread_time", "thread_instruction_count"};
        static const char *const units[] = {"", "ns", "", "bytes"};
        if (!t->name)
            t->name =
                keep_bytes(f, (rocl_view){known[t->counter_type], strlen(known[t->counter_type])});
        if (!t->unit && t->counter_type == COUNTER_IS_THREAD_TIME)
            t->unit = UNIT_NS;
        name_counter(f, t);
        const uint32_t unit =
            t->unit_name ? t->unit_name
                         : keep_bytes(f, (rocl_view){units[t->unit], strlen(units[t->unit])});
        if (unit && !rocl_map_put(&f->units, t->counter, unit))
            f->failed = true;
        return;
    }
    place_track(f, t);
    if (thread == t || (thread && rocl_view_begins(name, PF_OVERLAPPING_CALLS))) {
        const bool unknown = thread->tid > PF_PID_BEYOND &&
                             rocl_view_is(pfr_bytes(f, thread->thread_name), PF_UNKNOWN_THREAD);
        t->thread = unknown ? ROCL_NO_KEY : (uint64_t)thread->tid & (ROCL_KEY_OF_TEXT - 1);
        t->thread_name = thread->thread_name ? thread->thread_name : thread->name;
        if (!t->thread_name)
            t->thread_name = rocl_map_get(&f->thread_names,
                                          thread_name_key(t->machine, thread->pid, thread->tid), 0);
    } else if (t->name) { /* rows with the same name are one */
        t->thread = ROCL_KEY_OF_TEXT | t->name;
        t->thread_name = t->name;
    } else if (!t->is_process) {
        t->thread = ROCL_KEY_OF_TEXT | (uint64_t)1 << 40 | (uint64_t)(t - f->tracks);
    } else {
        t->thread = ROCL_KEY_OF_TEXT | (uint64_t)1 << 41;
    }
}

void pfr_definitions_resolve(pfr_file *f)
{
    for (size_t i = 0; i < f->track_count; i++) {
        pfr_track *t = &f->tracks[i];
        resolve_track(f, t);
        if (t->of_kernels && !rocl_map_put(&f->of_kernels, t->counter, 1))
            f->failed = true;
    }
    for (size_t i = 0; i < f->interned_count; i++) {
        const pfr_interned *e = &f->interned[i];
        if ((e->table == INTERNED_ANNOTATIONS || e->table == INTERNED_ARG_NAMES) &&
            rocl_map_get(&f->of_kernels, e->bytes, 0))
            rocl_map_replace(&f->of_kernels, e->bytes, 2);
    }
    for (size_t i = 0; i < f->track_count; i++) {
        pfr_track *t = &f->tracks[i];
        t->derived |= t->of_kernels && rocl_map_get(&f->of_kernels, t->counter, 0) == 2;
        if (t->agent.number != ROCL_NO_KEY)
            find_agent_type(f, &t->agent);
    }
}

/* ---- definitions ----------------------------------------------------------------------------- */

bool pfr_definitions_define(pfr_file *f)
{
    bool ok = true;
    for (size_t i = 0; i < f->gpu_count && ok; i++)
        ok = rocl_records_define(
            f->in, ROCL_KEY_AGENT,
            (rocl_key){ROCL_NO_KEY, f->gpus[i].machine, f->gpus[i].agent.number},
            &(rocl_key_facts){.type = ROCL_AGENT_GPU});
    return ok;
}

static uint32_t text_of(const pfr_file *f, uint32_t bytes)
{
    const rocl_view v = pfr_bytes(f, bytes);
    return rocl_strings_put(f->in->trace->strings, v.p, v.n);
}

/* The node of a machine. A file of a single machine without a name says nothing of it. */
static bool place_process(pfr_file *f, rocl_capture *c, rocl_map *nodes, uint32_t machine,
                          bool several, rocl_process *p)
{
    const uint32_t known = rocl_map_get(&f->host_ids, machine, ROCL_NONE);
    bool fresh;
    if (known == ROCL_NONE && !several)
        return true;
    rocl_node *n = rocl_define_once(c, ROCL_DEFINE_NODE, nodes, machine, &fresh);
    if (!n)
        return false;
    p->node = (uint32_t)(n - c->nodes);
    if (!fresh)
        return true;
    n->id = machine;
    if (known != ROCL_NONE) {
        const pfr_host *host = &f->hosts[known];
        n->hostname = text_of(f, host->name);
        n->system_name = text_of(f, host->system);
        n->release = text_of(f, host->release);
        n->version = text_of(f, host->version);
        n->hardware = text_of(f, host->hardware);
    }
    for (size_t i = 0; i < f->gpu_count && !n->machine_id; i++)
        if (f->gpus[i].machine == machine)
            n->machine_id = text_of(f, f->gpus[i].machine_id);
    return true;
}

static bool refine_processes(pfr_file *f, const pfr_process *const *known)
{
    rocl_capture *c = &f->in->capture->pub;
    rocl_map nodes = {0};
    bool several = false, ok = true;
    for (uint32_t i = 0; i < c->process_count; i++)
        several |= known[i] && known[i]->machine;
    for (uint32_t i = 0; i < c->process_count && ok; i++) {
        rocl_process *p = rocl_definition_at(c, ROCL_DEFINE_PROCESS, i);
        if (known[i]) {
            p->pid = known[i]->real_pid ? known[i]->real_pid : known[i]->pid;
            p->rank = known[i]->rank;
            p->init = known[i]->start;
            p->command = text_of(f, known[i]->command ? known[i]->command : known[i]->name);
        }
        ok = place_process(f, c, &nodes, known[i] ? known[i]->machine : 0, several, p);
    }
    rocl_map_free(&nodes);
    /* A main thread has the number of its process. */
    for (uint32_t i = 0; i < c->thread_count; i++) {
        rocl_thread *t = rocl_definition_at(c, ROCL_DEFINE_THREAD, i);
        const pfr_process *p = t->process < c->process_count ? known[t->process] : NULL;
        if (p && p->real_pid && t->tid == p->pid)
            t->tid = p->real_pid;
        else if (p) {
            char text[40];
            int64_t real;
            const rocl_view v = pfr_bytes(
                f, rocl_map_get(&f->real_tids, thread_name_key(p->machine, p->pid, t->tid), 0));
            snprintf(text, sizeof text, "%.*s", (int)(v.n < sizeof text ? v.n : 0), v.p);
            t->tid = sscanf(text, PF_REAL_TID "%" SCNd64, &real) == 1 ? real : t->tid;
        }
    }
    if (c->process_count)
        c->rank = c->processes[0].rank;
    return ok;
}

rocl_status pfr_definitions_refine(rocl_records_input *in, rocl_error *err)
{
    pfr_file *f = in->state;
    rocl_capture *c = &in->capture->pub;
    /* What the file says of each process of the capture, by index; NULL: nothing. */
    const pfr_process **known = calloc(c->process_count + (size_t)1, sizeof *known);
    for (size_t i = 0; known && i < f->process_count; i++) {
        const pfr_process *p = &f->processes[i];
        const rocl_key key = {0, 0, pfr_process_key(p->machine, p->pid)};
        const uint32_t process = rocl_records_find(in, ROCL_KEY_PROCESS, key);
        if (process < c->process_count)
            known[process] = p;
    }
    char label[40];
    bool ok = known && refine_processes(f, known);
    for (uint32_t i = 0; ok && i < c->agent_count; i++) {
        rocl_agent *a = rocl_definition_at(c, ROCL_DEFINE_AGENT, i);
        const pfr_process *p = a->process < c->process_count ? known[a->process] : NULL;
        if (a->process < c->process_count)
            a->node = c->processes[a->process].node;
        if (!((uint64_t)a->id >> 32)) { /* it was named by its number among all agents */
            snprintf(label, sizeof label, "Agent %" PRId64, a->id);
            a->label = rocl_strings_put(in->trace->strings, label, strlen(label));
        }
        for (size_t k = 0; k < f->gpu_count; k++) {
            const pfr_gpu *g = &f->gpus[k];
            if (g->machine != (p ? p->machine : 0) || g->agent.number != (uint64_t)a->id)
                continue;
            const rocl_view uuid = pfr_bytes(f, g->uuid);
            a->logical_index = a->type_index = g->number;
            a->name = text_of(f, g->arch);
            a->vendor = text_of(f, g->vendor);
            a->product = text_of(f, g->model);
            a->label = g->label ? text_of(f, g->label) : a->label;
            a->ordinal = g->ordinal;
            a->uuid = uuid.n == 16 ? rocl_uuid_text(in->trace, (const uint8_t *)uuid.p)
                                   : text_of(f, g->uuid);
            a->pci = text_of(f, g->pci);
        }
    }
    free(known);
    if (!ok)
        return rocl_fail_memory(err);
    for (uint32_t i = 0; i < c->counter_count; i++) {
        rocl_counter *k = rocl_definition_at(c, ROCL_DEFINE_COUNTER, i);
        size_t n;
        const char *name = rocl_strings_get(in->trace->strings, k->name, &n);
        const uint32_t bytes = rocl_strings_put(f->bytes, name, n);
        k->units = text_of(f, rocl_map_get(&f->units, bytes, 0));
        k->description = text_of(f, rocl_map_get(&f->descriptions, bytes, 0));
    }
    return ROCL_OK;
}

void pfr_definitions_free(pfr_file *f)
{
    free(f->processes);
    rocl_map_free(&f->process_ids);
    free(f->tracks);
    rocl_map_free(&f->track_ids);
    rocl_map_free(&f->thread_names);
    rocl_map_free(&f->real_tids);
    free(f->gpus);
    rocl_map_free(&f->host_ids);
    free(f->hosts);
    rocl_map_free(&f->counter_names);
    rocl_map_free(&f->units);
    rocl_map_free(&f->of_kernels);
    rocl_map_free(&f->descriptions);
    rocl_map_free(&f->agent_types);
    free(f->generations);
}
