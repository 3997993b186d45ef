/* Machines, GPUs, processes and threads: numbers that do not collide, and their descriptors. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/roster.h"
#include "sink/pftrace/pf.h"
#include "trace/pipeline.h"

/* Descriptors go to a sequence of their own, with absolute times. */
#define DESCRIPTOR_SEQUENCE 1

/* Begins a descriptor's packet: what rocl_pb_end takes. */
static size_t begin_packet(rocl_buf *b, uint32_t machine_id)
{
    size_t packet = rocl_pb_begin(b, TRACE_PACKET);
    rocl_pb_uint(b, PKT_SEQUENCE_ID, DESCRIPTOR_SEQUENCE);
    if (machine_id)
        rocl_pb_uint(b, PKT_MACHINE, machine_id);
    return packet;
}

static size_t begin_packet_of(const pf_owners *w, rocl_buf *b, uint32_t process)
{
    return begin_packet(b, pf_machine_id(w, rocl_machine_of(w->capture, process)));
}

/* ---- machines and GPUs ---- */

static void put_fact(rocl_buf *b, const rocl_trace *t, const char *key, uint32_t text)
{
    const size_t extra = rocl_pb_begin(b, GPU_EXTRA);
    rocl_pb_str(b, EXTRA_NAME, key);
    pf_text(b, EXTRA_VALUE, t, text);
    rocl_pb_end(b, extra);
}

static void describe_gpu(pf_owners *w, rocl_buf *b, const rocl_gpu *g)
{
    const rocl_trace *t = w->trace;
    const rocl_agent *a = rocl_gpu_agent(t, g);
    const uint32_t machine_id = t->machines[g->machine].machine_id;
    const uint32_t uuid = g->uuid ? g->uuid : a->uuid, pci = g->pci ? g->pci : a->pci;
    uint8_t bytes[16];
    char name[256];
    rocl_gpu_label(t, g, name, sizeof name);
    size_t at = rocl_pb_begin(b, GPU_INFO_GPU);
    pf_string(b, GPU_NAME, name, strlen(name));
    pf_text(b, GPU_VENDOR, t, a->vendor);
    pf_text(b, GPU_MODEL, t, a->product);
    pf_text(b, GPU_ARCH, t, a->name);
    const bool plain = uuid && rocl_uuid_bytes(rocl_str(t, uuid), bytes);
    if (plain)
        rocl_pb_bytes(b, GPU_UUID, bytes, sizeof bytes);
    if (uuid && !(plain && rocl_uuid_text(w->trace, bytes) == uuid))
        put_fact(b, t, PF_GPU_UUID, uuid);
    put_fact(b, t, PF_GPU_AGENT, w->gpu_labels[g - t->gpus]);
    if (machine_id && g == &t->gpus[w->first_gpus[g->machine]])
        put_fact(b, t, PF_GPU_MACHINE, machine_id);
    if (g->ordinal && !w->crowded[g->machine])
        put_fact(b, t, PF_GPU_ORDINAL, 0);
    if (pci)
        pf_text(b, GPU_PCI, t, pci);
    rocl_pb_end(b, at);
}

static void describe_machine(pf_owners *w, uint32_t machine)
{
    const rocl_trace *t = w->trace;
    const rocl_node node = rocl_node_of_machine(t, machine);
    rocl_buf *b = rocl_piped_buf(w->file);
    const size_t first = w->first_gpus[machine], end = w->first_gpus[machine + 1];
    size_t packet, at;
    if (node.hostname) {
        packet = begin_packet(b, pf_machine_id(w, machine));
        at = rocl_pb_begin(b, PKT_SYSTEM_INFO);
        const uint32_t texts[][2] = {{UTSNAME_SYSTEM, node.system_name},
                                     {UTSNAME_VERSION, node.version},
                                     {UTSNAME_RELEASE, node.release},
                                     {UTSNAME_HARDWARE, node.hardware}};
        if (node.system_name || node.version || node.release || node.hardware) {
            const size_t names = rocl_pb_begin(b, SYSTEM_INFO_UTSNAME);
            for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
                if (texts[i][1])
                    pf_text(b, texts[i][0], w->trace, texts[i][1]);
            rocl_pb_end(b, names);
        }
        pf_text(b, SYSTEM_INFO_MACHINE_NAME, t, node.hostname);
        rocl_pb_end(b, at);
        rocl_pb_end(b, packet);
    }
    if (first == end)
        return;
    packet = begin_packet(b, pf_machine_id(w, machine));
    at = rocl_pb_begin(b, PKT_GPU_INFO);
    for (size_t i = first; i < end; i++)
        describe_gpu(w, b, &t->gpus[i]);
    rocl_pb_end(b, at);
    rocl_pb_end(b, packet);
}

/* ---- processes and threads ---- */

/* Readers take the command line from the process tree only. */
static void describe_command(pf_owners *w, uint32_t index, int64_t start)
{
    const rocl_process *p = &w->capture->processes[index];
    rocl_buf *b = rocl_piped_buf(w->file);
    size_t packet = begin_packet_of(w, b, index);
    rocl_pb_uint(b, PKT_TIMESTAMP, (uint64_t)start);
    rocl_pb_uint(b, PKT_CLOCK_ID, CLOCK_IS_BOOTTIME);
    size_t tree = rocl_pb_begin(b, PKT_PROCESS_TREE);
    size_t process = rocl_pb_begin(b, TREE_PROCESS);
    rocl_pb_int(b, TREE_PID, w->processes[index].pid);
    const char *command = rocl_str(w->trace, p->command);
    while (*command) {
        size_t n = strcspn(command, " ");
        if (n)
            pf_string(b, TREE_CMDLINE, command, n);
        command += n + (command[n] == ' ');
    }
    rocl_pb_end(b, process);
    rocl_pb_end(b, tree);
    rocl_pb_end(b, packet);
}

static void describe_process(pf_owners *w, uint32_t index)
{
    const rocl_process *p = &w->capture->processes[index];
    char name[600], label[64];
    int64_t start = p->init > 0 ? p->init : p->start > 0 ? p->start : 0;
    /* "train", or "train (rank 3, node1)" if there are several, as labels are not visible at once.
     */
    bool machines = w->trace->machine_count > 1, several = w->process_total > 1;
    char program[256], more[320];
    rocl_program_name(rocl_str(w->trace, p->command), program, sizeof program);
    rocl_process_details(more, sizeof more, several ? p->rank : -1,
                         w->processes[index].pid == p->pid ? 0 : p->pid,
                         machines ? rocl_process_host(w->capture, p) : "");
    if (more[0])
        snprintf(name, sizeof name, "%s (%s)", program[0] ? program : "process", more);
    else
        snprintf(name, sizeof name, "%s", program);
    describe_command(w, index, start);
    rocl_buf *b = rocl_piped_buf(w->file);
    size_t packet = begin_packet_of(w, b, index);
    rocl_pb_uint(b, PKT_TIMESTAMP, (uint64_t)start);
    rocl_pb_uint(b, PKT_CLOCK_ID, CLOCK_IS_BOOTTIME);
    size_t at = rocl_pb_begin(b, PKT_TRACK_DESCRIPTOR);
    rocl_pb_uint(b, TRACK_UUID, w->processes[index].uuid);
    size_t process = rocl_pb_begin(b, TRACK_PROCESS);
    rocl_pb_int(b, PROCESS_PID, w->processes[index].pid);
    if (name[0])
        pf_string(b, PROCESS_NAME, name, strlen(name));
    if (start)
        rocl_pb_int(b, PROCESS_START, start);
    if (p->rank >= 0) {
        snprintf(label, sizeof label, PF_LABEL_RANK "%" PRId32, p->rank);
        rocl_pb_str(b, PROCESS_LABELS, label);
    }
    if (w->processes[index].pid != p->pid) {
        snprintf(label, sizeof label, PF_LABEL_PID "%" PRId64, p->pid);
        rocl_pb_str(b, PROCESS_LABELS, label);
    }
    rocl_pb_end(b, process);
    rocl_pb_end(b, at);
    rocl_pb_end(b, packet);
}

void pf_describe_host(pf_owners *w, uint32_t index)
{
    const rocl_capture *c = w->capture;
    uint32_t thread, process = rocl_host_process(c, index, &thread);
    const char *name = PF_UNKNOWN_THREAD;
    char real[32] = "";
    int64_t tid = (int64_t)2 * PF_PID_BEYOND + process; /* beyond every thread of the process */
    char buf[256];
    if (thread != ROCL_NONE) {
        const rocl_thread *t = &c->threads[thread];
        const rocl_process *p = &c->processes[process];
        name = rocl_thread_label(c, t, p, buf, sizeof buf);
        /* A process that had to change its number takes its main thread along. */
        tid = t->tid == p->pid ? w->processes[process].pid : t->tid;
        if (tid <= 0) {
            snprintf(real, sizeof real, PF_REAL_TID "%" PRId64, tid);
            tid = (int64_t)3 * PF_PID_BEYOND + thread;
        }
    }
    w->host_tracks[index] = w->at->first_host + index;
    rocl_buf *b = rocl_piped_buf(w->file);
    size_t packet = begin_packet_of(w, b, process);
    size_t at = rocl_pb_begin(b, PKT_TRACK_DESCRIPTOR);
    rocl_pb_uint(b, TRACK_UUID, w->host_tracks[index]);
    size_t descriptor = rocl_pb_begin(b, TRACK_THREAD);
    rocl_pb_int(b, THREAD_PID, w->processes[process].pid);
    rocl_pb_int(b, THREAD_TID, tid);
    if (*name)
        pf_string(b, THREAD_NAME, name, strlen(name));
    rocl_pb_end(b, descriptor);
    if (*real)
        rocl_pb_str(b, TRACK_DESCRIPTION, real);
    rocl_pb_end(b, at);
    rocl_pb_end(b, packet);
}

/* ---- further tracks ---- */

uint64_t pf_new_track(pf_drawing *p, uint64_t parent, const char *name, const pf_unit *unit)
{
    rocl_buf *b = p->seq.block;
    uint64_t uuid = pf_number(&p->uuids);
    size_t packet = begin_packet(b, p->seq.machine);
    size_t at = rocl_pb_begin(b, PKT_TRACK_DESCRIPTOR);
    rocl_pb_uint(b, TRACK_UUID, uuid);
    rocl_pb_uint(b, TRACK_PARENT, parent);
    pf_string(b, TRACK_NAME, name, strlen(name));
    if (unit) {
        size_t counter = rocl_pb_begin(b, TRACK_COUNTER);
        if (unit->unit)
            rocl_pb_uint(b, COUNTER_UNIT, unit->unit);
        else if (unit->name && *unit->name)
            pf_string(b, COUNTER_UNIT_NAME, unit->name, strlen(unit->name));
        rocl_pb_end(b, counter);
    }
    rocl_pb_end(b, at);
    rocl_pb_end(b, packet);
    return uuid;
}

/* ---- numbers ---- */

/* The pid itself, or, if it is taken on the machine, one beyond all pids. 0: memory is out. */
static int64_t take_unused_pid(rocl_map *taken, uint32_t machine, int64_t pid)
{
    const uint64_t of = (uint64_t)machine << 40;
    int64_t beyond = PF_PID_BEYOND + 1;
    if (pid <= 0 || pid > INT32_MAX)
        pid = beyond;
    while (rocl_map_get(taken, of | (uint64_t)pid, ROCL_NONE) != ROCL_NONE)
        pid = pid >= beyond ? pid + 1 : beyond;
    return rocl_map_put(taken, of | (uint64_t)pid, 1) ? pid : 0;
}

static uint64_t count_hosts(const rocl_capture *c)
{
    return (uint64_t)c->thread_count + c->process_count + 1;
}

/* For each capture the sums of those before it; the total comes last. */
static void number_captures(pf_owners *w)
{
    const rocl_trace *t = w->trace;
    pf_place sum = {.first_sequence = DESCRIPTOR_SEQUENCE + 1};
    for (size_t i = 0; i <= t->capture_count; i++) {
        w->places[i] = sum;
        if (i == t->capture_count || !rocl_trace_takes(t, &t->captures[i]->pub))
            continue;
        const rocl_capture *c = &t->captures[i]->pub;
        for (uint32_t k = 0; k < c->process_count; k++)
            if (!w->describers[c->processes[k].machine])
                w->describers[c->processes[k].machine] = sum.first_process + k + 1;
            else
                w->crowded[c->processes[k].machine] = true;
        sum.first_process += c->process_count;
        sum.first_host += count_hosts(c);
        sum.first_sequence += rocl_timeline_sequences_max(c);
        sum.first_piece += ROCL_DRAWN_AT_ONCE_MAX;
    }
    w->sequences = sum.first_sequence - w->places[0].first_sequence;
    /* Tracks of processes come first, then those of threads, then all others. */
    for (size_t i = 0; i <= t->capture_count; i++) {
        w->places[i].first_host += 1 + sum.first_process;
        w->places[i].first_piece += sum.first_sequence;
    }
    w->first_track = w->places[t->capture_count].first_host;
}

uint32_t pf_agent_label(const pf_owners *w, uint32_t agent)
{
    const rocl_gpu *g = rocl_gpu_of(w->capture, agent);
    return g                                 ? w->gpu_labels[g - w->trace->gpus]
           : agent < w->capture->agent_count ? w->capture->agents[agent].label
                                             : 0;
}

/* ---- open, next capture, close ---- */

rocl_status pf_owners_open(pf_owners *w, rocl_trace *t, rocl_piped *file, rocl_error *err)
{
    *w = (pf_owners){.trace = t, .file = file};
    for (size_t i = 0; i < t->capture_count; i++)
        w->process_total += t->captures[i]->pub.process_count;
    w->describers = calloc(t->machine_count + 1, sizeof *w->describers);
    w->crowded = calloc(t->machine_count + 1, sizeof *w->crowded);
    w->first_gpus = calloc(t->machine_count + 1, sizeof *w->first_gpus);
    w->gpu_labels = rocl_label_agents(t);
    w->places = calloc(t->capture_count + 1, sizeof *w->places);
    if (!w->describers || !w->crowded || !w->first_gpus || !w->gpu_labels || !w->places)
        return rocl_fail_memory(err);
    number_captures(w);
    for (size_t m = 0, i = 0; m < t->machine_count; m++) {
        while (i < t->gpu_count && t->gpus[i].machine == m)
            i++;
        w->first_gpus[m + 1] = i;
    }
    if (w->places[t->capture_count].first_piece > UINT32_MAX)
        return rocl_fail(err, ROCL_INPUT,
                         "more threads, GPUs and counters than Perfetto has "
                         "numbers for: choose ranks");
    rocl_map taken = {0};
    rocl_status st = ROCL_OK;
    w->pids = calloc(w->places[t->capture_count].first_process + 1, sizeof *w->pids);
    for (size_t i = 0; w->pids && i < t->capture_count; i++) {
        const rocl_capture *c = &t->captures[i]->pub;
        int64_t *pids = w->pids + w->places[i].first_process;
        for (uint32_t k = 0; st == ROCL_OK && rocl_trace_takes(t, c) && k < c->process_count; k++)
            if (!(pids[k] = take_unused_pid(&taken, c->processes[k].machine, c->processes[k].pid)))
                st = rocl_fail_memory(err);
    }
    rocl_map_free(&taken);
    return w->pids ? st : rocl_fail_memory(err);
}

static void forget_capture(pf_owners *w)
{
    free(w->processes);
    free(w->host_tracks);
    w->processes = NULL;
    w->host_tracks = NULL;
}

void pf_owners_close(pf_owners *w)
{
    forget_capture(w);
    free(w->describers);
    free(w->crowded);
    free(w->first_gpus);
    free(w->gpu_labels);
    free(w->places);
    free(w->pids);
}

rocl_status pf_owners_capture(pf_owners *w, const rocl_capture *c, rocl_error *err)
{
    forget_capture(w);
    w->capture = c;
    w->at = &w->places[c->index];
    w->processes = calloc(c->process_count + 1, sizeof *w->processes);
    w->host_tracks = calloc(count_hosts(c), sizeof *w->host_tracks);
    if (!w->processes || !w->host_tracks)
        return rocl_fail_memory(err);
    for (uint32_t i = 0; i < c->process_count; i++) {
        const uint64_t number = 1 + w->at->first_process + i;
        w->processes[i] = (pf_process){
            .uuid = number, .pid = w->pids[w->at->first_process + i], .context = (uint32_t)number};
        describe_process(w, i);
        if (w->describers[c->processes[i].machine] == number)
            describe_machine(w, c->processes[i].machine);
    }
    return ROCL_OK;
}
