/* Tracks of a page, what they belong to (machine, process, GPU), and the last line of its data,
 * which names all of them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/text.h"
#include "model/kernel_class.h"
#include "page/page.h"

/* ---- texts ----------------------------------------------------------------------------------- */

/* Indexes in the order of their first use, which is the same for any number of workers. */
uint32_t page_text(page_sink *s, uint32_t text)
{
    text = text == ROCL_NONE ? 0 : text;
    uint32_t index = rocl_map_get(&s->text_index, text, ROCL_NONE);
    if (index != ROCL_NONE)
        return index;
    if (!ROCL_GROW(s->texts, s->text_cap, s->text_count + (size_t)1) ||
        !rocl_map_put(&s->text_index, text, s->text_count)) {
        s->status = s->status ? s->status : rocl_fail_memory(s->err);
        return 0;
    }
    s->texts[s->text_count] = text;
    return s->text_count++;
}

static uint32_t add_label(page_sink *s, const char *label)
{
    return page_text(s, rocl_strings_put(s->trace->strings, label, strlen(label)));
}

/* ---- groups ---------------------------------------------------------------------------------- */

enum { MACHINE_GROUP, PROCESS_GROUP, AGENT_GROUP };

/* The group of this key, made when it is new: *fresh, and the rest of it is to be set. */
static uint32_t find_group(page_sink *s, int kind, uint64_t a, uint64_t b, bool *fresh)
{
    const uint64_t key = rocl_mix64(rocl_mix64(a << 2 | (unsigned)kind) + b);
    const uint32_t at = rocl_map_get(&s->group_index, key, ROCL_NONE);
    *fresh = false;
    if (at != ROCL_NONE)
        return at;
    if (!ROCL_GROW(s->groups, s->group_cap, s->group_count + (size_t)1) ||
        !rocl_map_put(&s->group_index, key, s->group_count)) {
        s->status = s->status ? s->status : rocl_fail_memory(s->err);
        return ROCL_NONE;
    }
    *fresh = true;
    s->groups[s->group_count] = (page_group){.parent = ROCL_NONE};
    return s->group_count++;
}

static uint32_t find_process_group(page_sink *s, uint32_t process)
{
    const rocl_capture *c = s->timeline.capture;
    const rocl_process *p = process < c->process_count ? &c->processes[process] : NULL;
    const uint32_t machine = rocl_machine_of(c, process);
    const bool machines =
        s->trace->machine_count > 1 && rocl_machine_is_named(&s->trace->machines[machine]);
    uint32_t parent = ROCL_NONE;
    bool fresh;
    if (machines) {
        parent = find_group(s, MACHINE_GROUP, machine, 0, &fresh);
        if (fresh) {
            s->groups[parent].order = machine;
            s->groups[parent].label = add_label(s, rocl_machine_name(s->trace, machine));
        }
    }
    const uint32_t group = find_group(s, PROCESS_GROUP, c->index, process, &fresh);
    if (fresh) {
        char program[256] = "", more[320] = "", name[600];
        if (p) {
            rocl_program_name(rocl_str(s->trace, p->command), program, sizeof program);
            rocl_process_details(more, sizeof more, p->rank, p->pid,
                                 machines ? "" : rocl_process_host(c, p));
        }
        snprintf(name, sizeof name, "%s%s%s%s", program[0] ? program : "process",
                 more[0] ? " (" : "", more, more[0] ? ")" : "");
        s->groups[group] = (page_group){.parent = parent,
                                        .order = (uint64_t)c->index << 24 | process,
                                        .label = add_label(s, name)};
    }
    return group;
}

static uint32_t find_agent_group(page_sink *s, uint32_t process, uint32_t agent)
{
    const rocl_capture *c = s->timeline.capture;
    const uint32_t parent = find_process_group(s, process);
    const uint32_t known = agent < c->agent_count ? agent : c->agent_count;
    bool fresh;
    const uint32_t group =
        find_group(s, AGENT_GROUP, (uint64_t)c->index << 24 | process, known + (uint64_t)1, &fresh);
    if (fresh) {
        const rocl_gpu *gpu = rocl_gpu_of(c, agent);
        char name[256];
        if (gpu)
            rocl_gpu_label(s->trace, gpu, name, sizeof name);
        else
            rocl_agent_label(c, agent, name, sizeof name);
        s->groups[group] = (page_group){.parent = parent,
                                        .order = gpu ? gpu->id : (uint64_t)ROCL_NONE + known,
                                        .label = add_label(s, name)};
    }
    return group;
}

/* ---- tracks ---------------------------------------------------------------------------------- */

/* What a track of values is called, and the text of its unit. */
static void name_values(page_sink *s, const rocl_track *t, char *name, size_t size, uint32_t *unit)
{
    const rocl_capture *c = s->timeline.capture;
    const rocl_counter *k = t->id < c->counter_count ? &c->counters[t->id] : NULL;
    char place[ROCL_PLACE_LABEL_MAX] = "";
    if (t->kind == ROCL_TRACK_ALLOCATED || t->kind == ROCL_TRACK_BANDWIDTH) {
        const bool allocated = t->kind == ROCL_TRACK_ALLOCATED;
        snprintf(name, size, "%s", allocated ? "Allocated memory" : "Copy bandwidth");
        const char *word = allocated ? "bytes" : "bytes/s";
        *unit = rocl_strings_put(s->trace->strings, word, strlen(word));
        return;
    }
    if (t->kind == ROCL_TRACK_SAMPLES)
        rocl_place_label(t->place, place);
    snprintf(name, size, "%s%s%s", t->spm ? "SPM " : "",
             k ? rocl_str(s->trace, k->name) : "unknown counter", place);
    *unit = k ? k->units : 0;
}

rocl_status page_define_track(rocl_drawing *p, const rocl_track *t, uint64_t *id, rocl_error *err)
{
    page_sink *s = page_sink_of(p);
    const rocl_capture *c = s->timeline.capture;
    if (t->lane) { /* the page finds rows for slices that overlap itself */
        *id = t->base;
        return ROCL_OK;
    }
    if (!ROCL_GROW(s->tracks, s->track_cap, s->track_count + (size_t)1))
        return rocl_fail_memory(err);
    page_track fresh = {.capture = c->index,
                        .kind = t->kind,
                        .order = (uint64_t)t->kind << 40 | (t->id == ROCL_NONE ? 0 : t->id + 1u)};
    if (t->kind == ROCL_TRACK_THREAD) {
        const rocl_thread *thread = t->thread < c->thread_count ? &c->threads[t->thread] : NULL;
        char own[256], name[320] = "unknown thread";
        if (thread) {
            const rocl_process *process = &c->processes[t->process];
            const char *label = rocl_thread_label(c, thread, process, own, sizeof own);
            if (!strncmp(label, "thread ", 7)) /* PyTorch says it all */
                snprintf(name, sizeof name, "T%s", label + 1);
            else
                snprintf(name, sizeof name, "%s %" PRId64 "%s%s",
                         thread->tid == process->pid ? "Main thread" : "Thread", thread->tid,
                         *label ? " " : "", label);
            fresh.order |= thread->tid == process->pid ? 0 : t->thread + 1u;
        }
        fresh.group = find_process_group(s, t->process);
        fresh.label = add_label(s, name);
    } else if (t->kind < ROCL_TRACK_WORK_KINDS) {
        char name[160];
        rocl_work_label(s->trace, c, t, t->agent != ROCL_NONE && !t->gpu, name, sizeof name);
        fresh.group = find_agent_group(s, t->process, t->agent);
        fresh.label = add_label(s, name);
    } else {
        char name[384];
        uint32_t unit = 0;
        name_values(s, t, name, sizeof name, &unit);
        fresh.group = t->agent < c->agent_count ? find_agent_group(s, t->process, t->agent)
                                                : find_process_group(s, t->process);
        fresh.label = add_label(s, name);
        fresh.unit = page_text(s, unit);
    }
    *id = s->track_count;
    s->tracks[s->track_count++] = fresh;
    return s->status;
}

/* ---- the last line --------------------------------------------------------------------------- */

_Static_assert(ROCL_CLASSES <= 16, "a class is a hexadecimal digit");

/* Numbers may be beyond what JavaScript's hold: times of the clock are texts. */
void page_put_index(page_sink *s, rocl_buf *to)
{
    const rocl_trace *t = s->trace;
    uint64_t faults = 0;
    for (int f = 0; f < ROCL_FAULTS; f++)
        faults += atomic_load(&t->faults[f]);
    rocl_buf_printf(to,
                    "\"generator\":\"rocline " ROCLINE_VERSION "\",\"base\":\"%" PRId64
                    "\",\"span\":%" PRIu64 ",\"cell\":%" PRId64 ",\"cells\":%d,\"busy\":%d,",
                    s->first, s->last < s->first ? 0 : (uint64_t)s->last - (uint64_t)s->first,
                    s->cell_ns, PAGE_CELLS, PAGE_BUSY);
    if (s->windowed)
        rocl_buf_printf(to, "\"window\":[%" PRIu64 ",%" PRIu64 "],",
                        (uint64_t)s->from - (uint64_t)s->first,
                        (uint64_t)s->to - (uint64_t)s->first);
    rocl_buf_printf(to,
                    "\"events\":%" PRIu64 ",\"values\":%" PRIu64 ",\"eventDetails\":%" PRIu64
                    ",\"valueDetails\":%" PRIu64 ",\"faults\":%" PRIu64 ",\"kinds\":[",
                    s->counts.events, s->counts.values, s->counts.event_details,
                    s->counts.value_details, faults);
    for (int k = 0; k < ROCL_KINDS; k++)
        rocl_buf_printf(to, "%s\"%s\"", k ? "," : "", rocl_kind_name((rocl_kind)k));
    rocl_buf_str(to, "],\n\"captures\":[");
    for (size_t i = 0; i < t->capture_count; i++) {
        const char *guid = rocl_str(t, t->captures[i]->pub.guid);
        const char *path = t->captures[i]->pub.path, *slash = path ? strrchr(path, '/') : NULL;
        const char *file = slash ? slash + 1 : path ? path : "";
        rocl_buf_str(to, i ? ",[" : "[");
        rocl_json_put_string(to, file, strlen(file));
        rocl_buf_byte(to, ',');
        rocl_json_put_string(to, guid, strlen(guid));
        rocl_buf_byte(to, ']');
    }
    rocl_buf_str(to, "],\n\"groups\":[");
    for (uint32_t i = 0; i < s->group_count; i++)
        rocl_buf_printf(to, "%s[%" PRId64 ",%" PRIu32 ",%" PRIu64 "]", i ? "," : "",
                        s->groups[i].parent == ROCL_NONE ? -1 : (int64_t)s->groups[i].parent,
                        s->groups[i].label, s->groups[i].order);
    rocl_buf_str(to, "],\n\"tracks\":[");
    for (uint32_t i = 0; i < s->track_count; i++) {
        const page_track *k = &s->tracks[i];
        rocl_buf_printf(to, "%s[%d,%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu32 "]",
                        i ? "," : "", (int)k->kind, k->group, k->label, k->capture, k->order,
                        k->unit);
    }
    rocl_buf_str(to, "],\n\"classes\":{\"names\":[");
    for (unsigned k = 0; k < rocl_kernel_class_count(t->classes); k++)
        rocl_buf_printf(to, "%s\"%s\"", k ? "," : "", rocl_kernel_class_name(t->classes, k));
    rocl_buf_str(to, "],\"of\":\"");
    for (uint32_t i = 0; i < s->text_count; i++) {
        size_t n;
        const char *p = rocl_strings_get(t->strings, s->texts[i], &n);
        rocl_buf_byte(to, (uint8_t) "0123456789abcdef"[rocl_classify_kernel(t->classes, p, n)]);
    }
    rocl_buf_str(to, "\"},\n\"texts\":[");
    for (uint32_t i = 0; i < s->text_count; i++) {
        size_t n;
        const char *p = rocl_strings_get(t->strings, s->texts[i], &n);
        if (i)
            rocl_buf_byte(to, ',');
        rocl_json_put_string(to, p, n);
    }
    rocl_buf_str(to, "]}");
}
