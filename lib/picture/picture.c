/* The tree of tracks: machines, processes, GPUs, and the tracks below them. */
#include "picture/picture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

/* ---- the tree -------------------------------------------------------------------------------- */

static uint64_t hash_bytes(const void *p, size_t n) /* n: a multiple of 8 */
{
    uint64_t h = n, word;
    for (size_t i = 0; i < n; i += sizeof word) {
        memcpy(&word, (const char *)p + i, sizeof word);
        h = rocl_mix64(h ^ word) + word;
    }
    return h;
}

/* The track of this key, or ROCL_NONE, and then the hash that it is to get. */
static uint32_t find_track(const rocl_picture *p, const picture_key *key, uint64_t *hash)
{
    uint32_t i;
    *hash = hash_bytes(key, sizeof *key);
    while ((i = rocl_map_get(&p->track_index, *hash, ROCL_NONE)) != ROCL_NONE &&
           memcmp(&p->tracks[i]->key, key, sizeof *key) != 0)
        ++*hash;
    return i;
}

static uint32_t add_track(rocl_picture *p, const picture_key *key, uint64_t hash, uint32_t capture,
                          uint64_t order, const char *label)
{
    picture_track *t = calloc(1, sizeof *t);
    if (!t || !(t->label = strdup(label)) ||
        !ROCL_GROW(p->tracks, p->track_cap, p->track_count + (size_t)1) ||
        !rocl_map_put(&p->track_index, hash, p->track_count)) {
        free(t ? t->label : NULL);
        free(t);
        return ROCL_NONE;
    }
    t->key = *key;
    t->kind = key->kind & 0xff;
    t->capture = capture;
    t->order = order;
    t->first_child = t->next_sibling = ROCL_NONE;
    if (key->parent != ROCL_NONE) {
        picture_track *parent = p->tracks[key->parent];
        t->next_sibling = parent->first_child;
        parent->first_child = p->track_count;
    }
    p->generation++;
    p->tracks[p->track_count] = t;
    return p->track_count++;
}

static uint32_t define_process(rocl_picture *p, const rocl_capture *c, uint32_t process)
{
    const uint32_t on = rocl_machine_of(c, process);
    picture_key key = {.parent = ROCL_NONE, .kind = ROCL_PICTURE_MACHINE, .id = on};
    uint64_t hash;
    uint32_t machine = find_track(p, &key, &hash);
    if (machine == ROCL_NONE)
        machine = add_track(p, &key, hash, ROCL_NONE, on, rocl_machine_name(p->trace, on));
    const uint32_t number = p->first_process[c->index] + process;
    key = (picture_key){.parent = machine, .kind = ROCL_PICTURE_PROCESS, .id = number};
    uint32_t track = machine == ROCL_NONE ? ROCL_NONE : find_track(p, &key, &hash);
    if (machine == ROCL_NONE || track != ROCL_NONE)
        return track;
    char program[256] = "process", details[320] = "", label[640];
    if (process < c->process_count) {
        const rocl_process *own = &c->processes[process];
        const char *command = rocl_str(p->trace, own->command);
        if (*command)
            rocl_program_name(command, program, sizeof program);
        rocl_process_details(details, sizeof details, own->rank, own->pid, "");
    }
    snprintf(label, sizeof label, "%s%s%s%s", program, *details ? " (" : "", details,
             *details ? ")" : "");
    return add_track(p, &key, hash, c->index, number, label);
}

static uint32_t define_gpu(rocl_picture *p, const rocl_capture *c, uint32_t process, uint32_t agent)
{
    const rocl_gpu *gpu = rocl_gpu_of(c, agent);
    if (!gpu || process == ROCL_NONE)
        return process;
    const picture_key key = {
        .parent = process, .kind = ROCL_PICTURE_GPU, .id = (uint32_t)(gpu - p->trace->gpus)};
    uint64_t hash;
    const uint32_t track = find_track(p, &key, &hash);
    char label[256];
    if (track != ROCL_NONE)
        return track;
    rocl_gpu_label(p->trace, gpu, label, sizeof label);
    return add_track(p, &key, hash, c->index, key.id, label);
}

static void label_thread(const rocl_capture *c, const rocl_track *t, char *label, size_t size)
{
    char buf[256];
    const rocl_thread *thread = t->thread < c->thread_count ? &c->threads[t->thread] : NULL;
    const rocl_process none = {0};
    const rocl_process *process = t->process < c->process_count ? &c->processes[t->process] : &none;
    const char *own = thread ? rocl_thread_label(c, thread, process, buf, sizeof buf) : "";
    if (!thread)
        snprintf(label, size, "unknown thread");
    else if (thread->tid == process->pid)
        snprintf(label, size, "main thread");
    else if (*own)
        snprintf(label, size, "%s (%" PRId64 ")", own, thread->tid);
    else
        snprintf(label, size, "thread %" PRId64, thread->tid);
}

/* "allocated", "SPM name xcc 0 (unit)"; of an agent that is no GPU with its label before it. */
static void label_values(const rocl_picture *p, const rocl_capture *c, const rocl_track *t,
                         bool of_gpu, char *label, size_t size)
{
    char agent[96] = "", place[ROCL_PLACE_LABEL_MAX] = "";
    const rocl_counter *k = t->id < c->counter_count ? &c->counters[t->id] : NULL;
    const char *name = t->kind == ROCL_TRACK_ALLOCATED   ? "allocated"
                       : t->kind == ROCL_TRACK_BANDWIDTH ? "copying"
                       : k                               ? rocl_str(p->trace, k->name)
                                                         : "unknown counter";
    const char *unit = t->kind == ROCL_TRACK_ALLOCATED   ? "bytes"
                       : t->kind == ROCL_TRACK_BANDWIDTH ? "bytes/s"
                       : k                               ? rocl_str(p->trace, k->units)
                                                         : "";
    if (!of_gpu && t->agent != ROCL_NONE)
        rocl_agent_label(c, t->agent, agent, sizeof agent);
    if (t->kind == ROCL_TRACK_SAMPLES)
        rocl_place_label(t->place, place);
    snprintf(label, size, "%s%s%s%s%s%s%s%s", t->spm ? "SPM " : "", agent, *agent ? " " : "", name,
             place, *unit ? " (" : "", unit, *unit ? ")" : "");
}

uint32_t picture_define_track(rocl_picture *p, const rocl_capture *c, const rocl_track *t)
{
    const uint32_t process = define_process(p, c, t->process);
    const bool of_thread = t->kind == ROCL_TRACK_THREAD, of_values = t->kind > ROCL_TRACK_THREAD;
    const uint32_t parent = of_thread ? process : define_gpu(p, c, process, t->agent);
    const rocl_picture_kind kind = of_thread   ? ROCL_PICTURE_THREAD
                                   : of_values ? ROCL_PICTURE_VALUES
                                               : ROCL_PICTURE_WORK;
    picture_key key = {.parent = parent,
                       .kind = (uint32_t)t->kind << 8 | kind,
                       .agent = t->agent,
                       .id = of_thread ? t->thread : t->id};
    for (unsigned i = 0; i < 5 && t->kind == ROCL_TRACK_SAMPLES; i++)
        key.place = rocl_mix64(key.place ^ (uint64_t)t->place[i]) + 1;
    uint64_t hash;
    if (parent == ROCL_NONE)
        return ROCL_NONE;
    const uint32_t track = find_track(p, &key, &hash);
    if (track != ROCL_NONE)
        return track;
    char label[768];
    if (of_thread)
        label_thread(c, t, label, sizeof label);
    else if (of_values)
        label_values(p, c, t, parent != process, label, sizeof label);
    else
        rocl_work_label(p->trace, c, t, parent == process, label, sizeof label);
    const uint64_t within = (uint64_t)t->kind << 40 | (uint64_t)(key.id + 1) << 8;
    /* In a process or GPU stand GPUs, then work that is on none, threads, values. */
    const uint64_t group = of_values ? 3 : of_thread ? 2 : 1;
    return add_track(p, &key, hash, c->index, group << 60 | within, label);
}

uint32_t picture_intern_detail(rocl_picture *p, const picture_detail *d)
{
    uint64_t hash = hash_bytes(d, sizeof *d);
    uint32_t i;
    while ((i = rocl_map_get(&p->detail_index, hash, ROCL_NONE)) != ROCL_NONE &&
           memcmp(&p->details[i], d, sizeof *d) != 0)
        hash++;
    if (i != ROCL_NONE)
        return i;
    if (!ROCL_GROW(p->details, p->detail_cap, p->detail_count + (size_t)1) ||
        !rocl_map_put(&p->detail_index, hash, p->detail_count))
        return ROCL_NONE;
    p->details[p->detail_count] = *d;
    return p->detail_count++;
}

/* ---- open and close -------------------------------------------------------------------------- */

rocl_status rocl_picture_open(rocl_picture **out, rocl_trace *t, const rocl_picture_options *o,
                              rocl_error *err)
{
    rocl_picture *p = *out = rocl_cache_line_calloc(1, sizeof *p);
    if (!p)
        return rocl_fail_memory(err);
    pthread_mutex_init(&p->lock, NULL);
    p->trace = t;
    p->first = INT64_MAX;
    p->last = INT64_MIN;
    p->timeline.by_queue = o->group_by_queue;
    p->timeline.link_calls = true;
    p->timeline.encoder.trace = t;
    rocl_status st = ROCL_OK;
    p->workers = rocl_cache_line_calloc(t->opt.jobs, sizeof *p->workers);
    p->first_process = calloc(t->capture_count + 1, sizeof *p->first_process);
    if (!p->workers || !p->first_process)
        st = rocl_fail_memory(err);
    for (unsigned w = 0; p->workers && w < t->opt.jobs; w++) {
        pthread_mutex_init(&p->workers[w].lock, NULL);
        p->workers[w].lo = p->workers[w].first = INT64_MAX;
        p->workers[w].hi = p->workers[w].last = INT64_MIN;
    }
    /* A process that events name and the definitions do not is the first. */
    for (size_t i = 0; st == ROCL_OK && i < t->capture_count; i++) {
        const uint32_t n = t->captures[i]->pub.process_count;
        p->first_process[i + 1] = p->first_process[i] + (n ? n : 1);
    }
    if (st == ROCL_OK)
        st = rocl_encoder_open(&p->timeline.encoder, err);
    if (st != ROCL_OK) {
        rocl_picture_close(p);
        *out = NULL;
    }
    return st;
}

void rocl_picture_close(rocl_picture *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; i < p->track_count; i++) {
        picture_track *t = p->tracks[i];
        for (uint32_t r = 0; r < t->row_count; r++)
            picture_free_row(t->rows[r]);
        free(t->rows);
        free(t->label);
        free(t);
    }
    for (unsigned w = 0; p->workers && w < p->trace->opt.jobs; w++) {
        for (uint32_t i = 0; i < p->workers[w].count; i++)
            free(p->workers[w].all[i]);
        free(p->workers[w].all);
        rocl_map_free(&p->workers[w].index);
        pthread_mutex_destroy(&p->workers[w].lock);
    }
    rocl_timeline_forget_capture(&p->timeline);
    rocl_encoder_close(&p->timeline.encoder);
    rocl_map_free(&p->track_index);
    rocl_map_free(&p->detail_index);
    free(p->tracks);
    free(p->details);
    free(p->workers);
    free(p->first_process);
    free(p->matches);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

void rocl_picture_cancel(rocl_picture *p)
{
    atomic_store(&p->cancelled, true);
}

/* ---- asking ---------------------------------------------------------------------------------- */

rocl_picture_state rocl_picture_look(rocl_picture *p)
{
    rocl_picture_state s = {.first = INT64_MAX, .last = INT64_MIN};
    pthread_mutex_lock(&p->lock);
    s.loaded = p->loaded;
    s.tracks = p->track_count;
    s.generation = p->generation;
    s.slices = p->counts.slices;
    s.instants = p->counts.instants;
    s.moved = p->counts.moved;
    s.first = p->first;
    s.last = p->last;
    pthread_mutex_unlock(&p->lock);
    for (unsigned w = 0; w < p->trace->opt.jobs; w++) {
        picture_worker *k = &p->workers[w];
        pthread_mutex_lock(&k->lock);
        s.events += k->events;
        s.first = k->first < s.first ? k->first : s.first;
        s.last = k->last > s.last ? k->last : s.last;
        pthread_mutex_unlock(&k->lock);
    }
    if (s.loaded)
        s.values = s.events - s.slices - s.instants;
    return s;
}

rocl_picture_track rocl_picture_track_at(rocl_picture *p, uint32_t track)
{
    rocl_picture_track out = {.parent = ROCL_NONE, .label = ""};
    pthread_mutex_lock(&p->lock);
    if (track < p->track_count) {
        const picture_track *t = p->tracks[track];
        out = (rocl_picture_track){.kind = t->kind,
                                   .parent = t->key.parent,
                                   .order = t->order,
                                   .label = t->label,
                                   .rows = t->loaded ? t->row_count : 0,
                                   .slices = t->loaded ? t->slices : 0,
                                   .loaded = t->loaded || p->loaded};
    }
    pthread_mutex_unlock(&p->lock);
    return out;
}

/* With the lock held. */
static void fill_subtree(rocl_picture *p, uint32_t track, int64_t from, int64_t to, size_t n,
                         rocl_cell *cells, rocl_cell *scratch)
{
    const picture_track *t = p->tracks[track];
    for (uint32_t r = 0; t->loaded && t->kind != ROCL_PICTURE_VALUES && r < t->row_count; r++)
        if (t->rows[r]->depth == 0)
            picture_fill_cells(t->rows[r], track, r, from, to, n, cells);
    if (!t->loaded && !p->loaded) {
        memset(scratch, 0, n * sizeof *scratch);
        /* The densities of a track, from all workers. */
        for (unsigned w = 0; w < p->trace->opt.jobs; w++) {
            picture_worker *k = &p->workers[w];
            pthread_mutex_lock(&k->lock);
            const uint32_t at = rocl_map_get(&k->index, track, ROCL_NONE);
            const double width = (double)((uint64_t)1 << k->shift);
            const double cell = ((double)to - (double)from) / (double)n;
            for (size_t i = 0; at != ROCL_NONE && i < n; i++) {
                const double a = (double)from + cell * (double)i, b = a + cell;
                double busy = 0;
                int64_t first = (int64_t)(a / width), last = (int64_t)(b / width);
                first = first < k->lo ? k->lo : first;
                last = last > k->hi ? k->hi : last;
                for (int64_t j = first; j <= last; j++) {
                    const double begin = (double)j * width, end = begin + width;
                    const double common = (b < end ? b : end) - (a > begin ? a : begin);
                    if (common > 0)
                        busy +=
                            (double)k->all[at]->busy[j & (PICTURE_BUCKETS - 1)] * common / width;
                }
                scratch[i].busy += (uint64_t)busy;
                scratch[i].count += busy > 0;
            }
            pthread_mutex_unlock(&k->lock);
        }
        for (size_t i = 0; i < n; i++) {
            cells[i].busy = scratch[i].busy > cells[i].busy ? scratch[i].busy : cells[i].busy;
            cells[i].count += scratch[i].count;
        }
    }
    for (uint32_t c = t->first_child; c != ROCL_NONE; c = p->tracks[c]->next_sibling)
        fill_subtree(p, c, from, to, n, cells, scratch);
}

void rocl_picture_cells(rocl_picture *p, uint32_t track, uint32_t row, int64_t from, int64_t to,
                        size_t n, rocl_cell *cells)
{
    memset(cells, 0, n * sizeof *cells);
    for (size_t i = 0; i < n; i++)
        cells[i].longest.index = ROCL_NONE;
    pthread_mutex_lock(&p->lock);
    if (track < p->track_count && row == ROCL_NONE) {
        rocl_cell *scratch = malloc((n + 1) * sizeof *scratch);
        if (scratch)
            fill_subtree(p, track, from, to, n, cells, scratch);
        free(scratch);
    } else if (track < p->track_count && p->tracks[track]->loaded &&
               row < p->tracks[track]->row_count) {
        picture_fill_cells(p->tracks[track]->rows[row], track, row, from, to, n, cells);
    }
    pthread_mutex_unlock(&p->lock);
}
