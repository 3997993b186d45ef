/* The report "samples": values that were sampled over time, such as power, frequencies and memory.
 *
 * A track has the values of one counter: of a GPU, whichever processes read it, else of one
 * process. A value of a track lasts until the next one, and the last lasts no time. Two sorts:
 *
 *     values    (track, time, value): a walk over each track measures it, and cuts it into slices
 *     sweep     values, and begins and ends of marker ranges, by machine and time: with --by-marker
 *
 * In memory are the tracks, their slices, and for each marker and track a few sums. What energy
 * there is in power is in energy.c. */
#include "analysis/samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/derived.h"
#include "analysis/slices.h"
#include "base/array.h"
#include "timeline/timeline.h"

enum { LINE_SLICES = 32, DATA_SLICES = 200 };

/* Interned as bytes: no holes. */
typedef struct track_key {
    uint32_t machine, gpu;     /* gpu: of the trace; ROCL_NONE: of none */
    uint32_t capture, process; /* 0 of a GPU */
    uint32_t agent;            /* of the capture; ROCL_NONE: of none, or of a GPU */
    uint32_t counter, unit;    /* texts */
    uint16_t grows;            /* the value counts what happened since the begin */
    uint16_t minor;            /* one of many of its kind: of a core or a thread */
    int64_t place[5];          /* XCC and so on; -1 unknown */
} track_key;

_Static_assert(sizeof(track_key) == 8 * 4 + 5 * 8, "no holes");

/* Also a row of the first table. */
typedef struct track {
    track_key key; /* first */
    uint64_t count;
    double min, max, first, last;
    int64_t first_time, last_time;
    rocl_sum total;           /* sum of the values */
    rocl_sum weighted;        /* values by the ns that they lasted */
    double *slices;           /* mean of each, not a number where nothing is known; or NULL */
    const char *line;         /* the slices in characters */
    double watts;             /* per unit; 0: not a power */
    const struct track *self; /* for rows, which are copies */
    const rocl_gpu *gpu;      /* NULL: of none */
    int64_t pid;              /* -1: of a GPU */
    const char *name, *host;  /* name: with its place */
    const char *program;      /* that the process runs; NULL: of a GPU, or not known */
    /* While markers are swept: */
    bool any;
    double held, integral; /* the value, and values by ns up to held_since */
    int64_t held_since;
} track;

/* Interned as bytes. What GPUs do meanwhile is of the marker, whichever process has it; values of a
 * process are of its own. */
typedef struct marker_key {
    uint32_t name, machine;
    int64_t pid; /* -1: for GPUs */
} marker_key;

_Static_assert(sizeof(marker_key) == 2 * 4 + 8, "no holes");

/* A track while the ranges of a marker lasted. */
typedef struct marker_track {
    uint64_t count;
    int64_t ns;
    double min, max;
    bool any;
    double weighted, increase;
} marker_track;

typedef struct marker {
    marker_key key;
    uint64_t ranges, open;
    int64_t since; /* when the open ones began */
    int64_t total; /* ns in which any was open */
    marker_track *tracks;
} marker;

typedef struct sampled {
    rocl_collector c;
    rocl_strings *keys, *marker_keys;
    rocl_sorter *values, *sweep; /* sweep: NULL without --by-marker */
    rocl_extent *spans;          /* of samples, by worker and machine; in the end of all workers */
    track *tracks;               /* [0] is none */
    size_t track_count;
    uint32_t *order; /* tracks as they are printed */
    marker *markers; /* [0] is none */
    size_t marker_count;
    uint64_t slice_count;
    double *weighted, *known; /* by slice of the track at hand */
} sampled;

/* ---- what a counter is ----------------------------------------------------------------------- */

/* Counters that only grow, though rocprofiler-systems says "ABS" of them as of all others: names
 * in databases, and those of its tracks. */
static bool counter_grows(const rocl_trace *t, const rocl_counter *k, const char *name)
{
    static const char *const growing[] = {"process_page_fault",
                                          "process_context_switch",
                                          "process_user_cpu_time",
                                          "process_kernel_cpu_time",
                                          "thread_cpu_time",
                                          "thread_context_switch",
                                          "thread_page_fault",
                                          "CPU Page Faults",
                                          "CPU Context Switches",
                                          "CPU User Time",
                                          "CPU Kernel Time",
                                          "Thread CPU time",
                                          "Thread Context Switches",
                                          "Thread Page Faults",
                                          "MPI Comm",
                                          "RCCL Comm"};
    if (k && !strcmp(rocl_str(t, k->value_type), "ACCUM"))
        return true;
    for (size_t i = 0; i < sizeof growing / sizeof *growing; i++)
        if (!strncmp(name, growing[i], strlen(growing[i])))
            return true;
    return false;
}

/* "cpu_frequency [12]", "thread_cpu_time_[3]", "CPU Frequency [0] (S)": of a core or a thread. */
static bool has_number_in_brackets(const char *name)
{
    const char *open = strrchr(name, '[');
    return open && open[1] && open[1 + strspn(open + 1, "0123456789")] == ']';
}

/* ---- events ---------------------------------------------------------------------------------- */

/* The order of what has one time: what ends, what begins, values, and at last ends of ranges that
 * take no time. */
enum { RANGE_ENDS, RANGE_BEGINS, VALUE, EMPTY_RANGE_ENDS };

static rocl_status add_value(sampled *s, unsigned worker, const rocl_batch *b,
                             const rocl_sample_value *v, rocl_error *err)
{
    const rocl_capture *c = b->capture;
    const rocl_counter *k = v->counter < c->counter_count ? &c->counters[v->counter] : NULL;
    const uint32_t agent = v->agent == ROCL_NONE && k ? k->agent : v->agent;
    const rocl_gpu *gpu = rocl_gpu_of(c, agent);
    const uint32_t name = k ? k->name : v->e.name == ROCL_NONE ? 0 : v->e.name;
    const char *text = rocl_str(s->c.trace, name);
    const track_key key = {
        .machine = gpu ? gpu->machine : rocl_machine_of(c, v->e.process),
        .gpu = gpu ? (uint32_t)(gpu - s->c.trace->gpus) : ROCL_NONE,
        .capture = gpu ? 0 : c->index,
        .process = gpu ? 0 : v->e.process,
        .agent = gpu || agent >= c->agent_count ? ROCL_NONE : agent,
        .counter = name,
        .unit = k && k->units != ROCL_NONE ? k->units : 0,
        .grows = counter_grows(s->c.trace, k, text),
        .minor = !gpu && has_number_in_brackets(text),
        .place = {v->xcc, v->shader_engine, v->instance, v->shader_array, v->wgp}};
    const uint32_t id = rocl_strings_put(s->keys, (const char *)&key, sizeof key);
    if (id == ROCL_NONE)
        return rocl_fail_memory(err);
    rocl_extent_add(&s->spans[worker * s->c.trace->machine_count + key.machine], v->e.start,
                    v->e.start);
    /* Two values of one track and time, as two processes may read them: the larger one lasts. */
    const uint64_t bits = rocl_bits_of_value(v->value), number = id;
    const uint64_t word[3] = {id, (uint64_t)v->e.start, bits};
    rocl_status st = rocl_sorter_add(s->values, worker, word, NULL, 0, err);
    if (st != ROCL_OK || !s->sweep || key.minor)
        return st;
    const uint64_t moment[4] = {key.machine, (uint64_t)v->e.start, VALUE, bits};
    return rocl_add_numbers(s->sweep, worker, moment, &number, 1, err);
}

static rocl_status add_marker_range(sampled *s, unsigned worker, const rocl_capture *c,
                                    const rocl_event *e, int64_t pid, rocl_error *err)
{
    const uint32_t machine = rocl_machine_of(c, e->process);
    const marker_key group = {e->name == ROCL_NONE ? 0 : e->name, machine, pid};
    const uint32_t id = rocl_strings_put(s->marker_keys, (const char *)&group, sizeof group);
    if (id == ROCL_NONE)
        return rocl_fail_memory(err);
    const uint64_t number = id;
    const uint64_t begin[4] = {machine, (uint64_t)e->start, RANGE_BEGINS, 0};
    const uint64_t end[4] = {machine, (uint64_t)e->end,
                             e->end > e->start ? RANGE_ENDS : EMPTY_RANGE_ENDS, 0};
    rocl_status st = rocl_add_numbers(s->sweep, worker, begin, &number, 1, err);
    return st ? st : rocl_add_numbers(s->sweep, worker, end, &number, 1, err);
}

static rocl_status add_sampled_batch(void *self, unsigned worker, const rocl_batch *b,
                                     rocl_error *err)
{
    const rocl_capture *c = b->capture;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        if (b->kind == ROCL_SAMPLE) {
            st = add_value(self, worker, b, &b->samples[i], err);
            continue;
        }
        st = add_marker_range(self, worker, c, e, -1, err);
        if (st == ROCL_OK)
            st = add_marker_range(self, worker, c, e, c->processes[e->process].pid, err);
    }
    return st;
}

/* ---- each track ------------------------------------------------------------------------------ */

static rocl_slices slices_of(const sampled *s, const track *t)
{
    const rocl_extent *all = &s->spans[t->key.machine];
    return rocl_slices_of(all->first, all->last, s->slice_count);
}

/* Puts a value that lasted from .. to into the slices of the track at hand. */
static void fill_slices(sampled *s, const rocl_slices *time, double v, int64_t from, int64_t to)
{
    for (uint64_t i = rocl_slice_at(time, from); from < to && i < time->count; i++) {
        const int64_t next = rocl_slice_begin(time, i + 1), end = next < to ? next : to;
        s->weighted[i] += v * (double)(end - from);
        s->known[i] += (double)(end - from);
        from = end;
    }
}

/* A character for each slice: from the smallest to the largest mean of all. */
static const char *draw_line(const sampled *s, rocl_tables *out, const double *means,
                             uint64_t count)
{
    static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const digits[] = {"0", "1", "2", "3", "4", "5", "6", "7"};
    enum { LEVELS = 8 };
    double least = INFINITY, most = -INFINITY;
    char *line = malloc(count * 3 + 1), *end = line;
    out->incomplete |= !line;
    if (!line)
        return "";
    for (uint64_t i = 0; i < count; i++) {
        least = fmin(least, means[i]);
        most = fmax(most, means[i]);
    }
    for (uint64_t i = 0; i < count; i++) {
        /* Means of one value differ by how they are rounded. */
        const bool flat = !(most - least > 1e-9 * fmax(fabs(most), fabs(least)));
        const double share = flat ? 0 : (means[i] - least) / (most - least);
        const unsigned level = share >= 1 ? LEVELS - 1 : (unsigned)(fmax(share, 0) * LEVELS);
        end = stpcpy(end, isnan(means[i])       ? (s->c.options->ascii ? "." : "·")
                          : s->c.options->ascii ? digits[level]
                                                : blocks[level]);
    }
    const char *text = rocl_tables_text(out, line, (size_t)(end - line));
    free(line);
    return text;
}

/* Stores the filled slices as those of the track, and clears them. */
static rocl_status keep_slices(sampled *s, rocl_tables *out, track *t, rocl_error *err)
{
    const rocl_slices time = slices_of(s, t);
    if (t->key.minor && !s->c.options->pictures)
        return ROCL_OK;
    t->slices = malloc(s->slice_count * sizeof *t->slices);
    if (!t->slices)
        return rocl_fail_memory(err);
    for (uint64_t i = 0; i < time.count; i++)
        t->slices[i] = s->known[i] > 0 ? s->weighted[i] / s->known[i] : NAN;
    memset(s->weighted, 0, s->slice_count * sizeof *s->weighted);
    memset(s->known, 0, s->slice_count * sizeof *s->known);
    if (!s->c.options->pictures)
        return ROCL_OK;
    t->line = draw_line(s, out, t->slices, time.count);
    free(t->slices);
    t->slices = NULL;
    return ROCL_OK;
}

static void name_track(const sampled *s, rocl_tables *out, track *t)
{
    const rocl_trace *trace = s->c.trace;
    char place[ROCL_PLACE_LABEL_MAX];
    rocl_buf name = {0};
    rocl_place_label(t->key.place, place);
    rocl_buf_str(&name, rocl_str(trace, t->key.counter));
    rocl_buf_str(&name, place);
    out->incomplete |= name.failed;
    t->name = name.failed ? "" : rocl_tables_text(out, (const char *)name.data, name.len);
    rocl_buf_free(&name);
    t->watts = rocl_watts_of_unit(rocl_str(trace, t->key.unit));
    t->host = rocl_machine_name(trace, t->key.machine);
    t->self = t;
    t->pid = -1;
    t->program = NULL;
    if (t->key.gpu != ROCL_NONE) {
        t->gpu = &s->c.trace->gpus[t->key.gpu];
        return;
    }
    const rocl_capture *c = &trace->captures[t->key.capture]->pub;
    if (t->key.process < c->process_count) {
        const rocl_process *p = &c->processes[t->key.process];
        char program[64];
        rocl_program_name(rocl_str(trace, p->command), program, sizeof program);
        t->pid = p->pid;
        if (*program)
            t->program = rocl_tables_text(out, program, strlen(program));
    }
}

static rocl_status walk_tracks(sampled *s, rocl_tables *out, rocl_error *err)
{
    rocl_slices time = {0};
    uint64_t at = 0; /* the track at hand */
    rocl_sort_record rec;
    rocl_status st = rocl_sorter_start(s->values, err);
    while (rocl_next_record(s->values, &rec, &st, err)) {
        track *t = &s->tracks[rec.key[0]];
        const int64_t now = (int64_t)rec.key[1];
        const double v = rocl_value_of_bits(rec.key[2]);
        if (rec.key[0] != at) {
            if (at && (st = keep_slices(s, out, &s->tracks[at], err)) != ROCL_OK)
                break;
            at = rec.key[0];
            time = slices_of(s, t);
            t->first = t->min = t->max = v;
            t->first_time = now;
        } else {
            rocl_sum_add(&t->weighted, t->last * (double)(now - t->last_time));
            if (!t->key.minor || s->c.options->pictures)
                fill_slices(s, &time, t->last, t->last_time, now);
        }
        t->count++;
        t->min = v < t->min ? v : t->min;
        t->max = v > t->max ? v : t->max;
        t->last = v;
        t->last_time = now;
        rocl_sum_add(&t->total, v);
    }
    if (st == ROCL_OK && at)
        st = keep_slices(s, out, &s->tracks[at], err);
    rocl_collector_free_sorter(&s->c, &s->values);
    return st;
}

/* ---- while markers last ---------------------------------------------------------------------- */

/* Values by ns from the first value to a time. The last value lasts no time. */
static double integral_at(const track *t, int64_t time)
{
    const int64_t until = time < t->last_time ? time : t->last_time;
    return t->any && until > t->held_since ? t->integral + t->held * (double)(until - t->held_since)
                                           : t->integral;
}

/* A value that lasted from `since` to `until`, if that is any time. */
static void note_value(marker_track *m, double v, int64_t since, int64_t until)
{
    if (until <= since)
        return;
    m->min = !m->any || v < m->min ? v : m->min;
    m->max = !m->any || v > m->max ? v : m->max;
    m->any = true;
}

/* Is a track shown for a marker? */
static bool track_belongs(const marker *m, const track *t)
{
    return t->key.machine == m->key.machine && t->pid == m->key.pid && !t->key.minor;
}

static int64_t later_time(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* sign 1: the marker begins, -1: it ends. The sum of a track in between is the difference of its
 * sums at both times. */
static void turn_marker(sampled *s, marker *m, int64_t now, int sign)
{
    for (size_t i = 1; i < s->track_count; i++) {
        const track *t = &s->tracks[i];
        marker_track *of = &m->tracks[i];
        const int64_t until = now < t->last_time ? now : t->last_time;
        if (!track_belongs(m, t) || !t->count)
            continue;
        of->weighted -= sign * integral_at(t, now);
        of->ns -= sign * (until > t->first_time ? until - t->first_time : 0);
        of->increase -= sign * (t->any ? t->held : t->first);
        if (sign < 0 && t->any)
            note_value(of, t->held, later_time(t->held_since, m->since), until);
    }
    m->total -= sign * now;
    m->since = now;
}

static rocl_status sweep_markers(sampled *s, rocl_error *err)
{
    uint32_t *open = NULL; /* markers that last */
    size_t count = 0, cap = 0;
    rocl_sort_record rec;
    rocl_status st = rocl_sorter_start(s->sweep, err);
    while (rocl_next_record(s->sweep, &rec, &st, err)) {
        const int64_t now = (int64_t)rec.key[1];
        uint64_t id;
        rocl_read_numbers(&rec, &id, 1);
        if (rec.key[2] == VALUE) {
            track *t = &s->tracks[id];
            const double v = rocl_value_of_bits(rec.key[3]);
            for (size_t i = 0; i < count; i++) {
                const marker *m = &s->markers[open[i]];
                marker_track *of = &m->tracks[id];
                if (!track_belongs(m, t))
                    continue;
                of->count++;
                if (t->any)
                    note_value(of, t->held, later_time(t->held_since, m->since), now);
                note_value(of, v, now, now + 1);
            }
            t->integral = integral_at(t, now);
            t->held = v;
            t->held_since = now;
            t->any = true;
            continue;
        }
        marker *m = &s->markers[id];
        if (!m->tracks && !(m->tracks = calloc(s->track_count, sizeof *m->tracks)))
            st = rocl_fail_memory(err);
        if (st == ROCL_OK && rec.key[2] == RANGE_BEGINS) {
            m->ranges++;
            if (m->open++ == 0) {
                if (!ROCL_GROW(open, cap, count + 1)) {
                    st = rocl_fail_memory(err);
                    break;
                }
                open[count++] = (uint32_t)id;
                turn_marker(s, m, now, 1);
            }
        } else if (st == ROCL_OK && --m->open == 0) {
            size_t i = 0;
            while (open[i] != id)
                i++;
            open[i] = open[--count];
            turn_marker(s, m, now, -1);
        }
    }
    free(open);
    return st;
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Weighted by the time that each value lasted. If none lasted, as with a single value, all weigh
 * the same. For growing counters a mean is meaningless. */
static rocl_datum field_track_mean(const rocl_report_rows *r, const void *row)
{
    (void)r;
    const track *t = row;
    const double ns = (double)(t->last_time - t->first_time);
    if (t->key.grows)
        return (rocl_datum){0};
    return rocl_datum_if_finite(ns > 0 ? rocl_sum_value(&t->weighted) / ns
                                       : rocl_sum_value(&t->total) / (double)t->count);
}

static rocl_datum field_increase(const rocl_report_rows *r, const void *row)
{
    const track *t = row;
    const double v = t->key.grows ? t->last - t->first : NAN;
    return rocl_field_number(r, &v);
}

static rocl_datum field_per_second(const rocl_report_rows *r, const void *row)
{
    (void)r;
    const track *t = row;
    const double ns = (double)(t->last_time - t->first_time);
    return rocl_datum_if_finite(t->key.grows && ns > 0 ? (t->last - t->first) / ns * 1e9 : NAN);
}

static rocl_datum field_track_joules(const rocl_report_rows *r, const void *row)
{
    (void)r;
    const track *t = row;
    return rocl_datum_if_finite(t->watts > 0 ? rocl_sum_value(&t->weighted) * t->watts / 1e9 : NAN);
}

static rocl_datum field_agent(const rocl_report_rows *r, const void *field)
{
    const track *t = *(const track *const *)field;
    if (t->gpu)
        return rocl_field_gpu(r, &t->gpu);
    if (t->key.agent == ROCL_NONE)
        return (rocl_datum){0};
    const rocl_capture *c = &r->c->trace->captures[t->key.capture]->pub;
    return rocl_field_text(r, &c->agents[t->key.agent].device);
}

static rocl_datum field_pid(const rocl_report_rows *r, const void *field)
{
    return rocl_field_known(r, &(*(const track *const *)field)->pid);
}

static rocl_datum field_program(const rocl_report_rows *r, const void *field)
{
    return rocl_field_string(r, &(*(const track *const *)field)->program);
}

static rocl_datum field_host(const rocl_report_rows *r, const void *field)
{
    return rocl_field_string(r, &(*(const track *const *)field)->host);
}

static rocl_datum field_name(const rocl_report_rows *r, const void *field)
{
    return rocl_field_string(r, &(*(const track *const *)field)->name);
}

static rocl_datum field_unit(const rocl_report_rows *r, const void *field)
{
    return rocl_field_label(r, &(*(const track *const *)field)->key.unit);
}

/* What a track is; `of` points to it. */
#define TRACK_COLUMNS(row, of, others)                                                             \
    {"agent", "Agent", ROCL_UNIT_TEXT, ROCL_ALWAYS, ROCL_CELL_BY(field_agent, row, of)},           \
        {"host", "Host", ROCL_UNIT_TEXT, ROCL_IF_OWN, ROCL_CELL_BY(field_host, row, of)},          \
        {"pid", "Process", ROCL_UNIT_COUNT, ROCL_ALWAYS, ROCL_CELL_BY(field_pid, row, of)},        \
        {"program", "Program", ROCL_UNIT_TEXT, ROCL_ALWAYS, ROCL_CELL_BY(field_program, row, of)}, \
        {"counter", "Counter", ROCL_UNIT_TEXT, others, ROCL_CELL_BY(field_name, row, of)},         \
    {                                                                                              \
        "unit", "Unit", ROCL_UNIT_TEXT, ROCL_ALWAYS, ROCL_CELL_BY(field_unit, row, of)             \
    }

#define CELL(field)   ROCL_ALWAYS, ROCL_CELL(track, field)
#define BY(fn, field) ROCL_ALWAYS, ROCL_CELL_BY(fn, track, field)

static const rocl_column track_columns[] = {
    TRACK_COLUMNS(track, self, ROCL_OTHERS),
    {"samples", "Samples", ROCL_UNIT_COUNT, ROCL_IN_REST, ROCL_CELL(track, count)},
    {"min", "Min", ROCL_UNIT_NUMBER, BY(rocl_field_number, min)},
    {"mean", "Mean", ROCL_UNIT_NUMBER, ROCL_ALWAYS, field_track_mean, 0},
    {"max", "Max", ROCL_UNIT_NUMBER, BY(rocl_field_number, max)},
    {"increase", "Increase", ROCL_UNIT_NUMBER, ROCL_ALWAYS, field_increase, 0},
    {"per_second", "Per second", ROCL_UNIT_NUMBER, ROCL_ALWAYS, field_per_second, 0},
    {"joules", "Energy", ROCL_UNIT_JOULES, ROCL_ALWAYS, field_track_joules, 0},
    {"line", "Over time", ROCL_UNIT_TEXT, ROCL_IF_PICTURES, ROCL_CELL(track, line)},
};

/* Slices begin with what a chart is called. */
typedef struct slice_row {
    const track *of;
    const char *label;
    uint64_t slice;
    int64_t start, end;
    double mean;
} slice_row;

#undef CELL
#define CELL(field) ROCL_ALWAYS, ROCL_CELL(slice_row, field)

static const rocl_column slice_columns[] = {
    {"track", "Track", ROCL_UNIT_TEXT, CELL(label)},
    {"unit", "Unit", ROCL_UNIT_TEXT, ROCL_ALWAYS, ROCL_CELL_BY(field_unit, slice_row, of)},
    {"slice", "Slice", ROCL_UNIT_COUNT, CELL(slice)},
    {"start_ns", "Start", ROCL_UNIT_TIME, CELL(start)},
    {"end_ns", "End", ROCL_UNIT_TIME, CELL(end)},
    {"mean", "Mean", ROCL_UNIT_NUMBER, CELL(mean)},
};

typedef struct marker_row {
    const track *of;
    uint32_t name;
    uint64_t ranges, count;
    int64_t total;
    double min, mean, max, increase, joules;
} marker_row;

#undef CELL
#define CELL(field) ROCL_ALWAYS, ROCL_CELL(marker_row, field)
#undef BY
#define BY(fn, field) ROCL_ALWAYS, ROCL_CELL_BY(fn, marker_row, field)

static const rocl_column marker_columns[] = {
    {"name", "Marker", ROCL_UNIT_TEXT, CELL(name)},
    {"ranges", "Ranges", ROCL_UNIT_COUNT, CELL(ranges)},
    {"total_ns", "Time", ROCL_UNIT_NS, CELL(total)},
    TRACK_COLUMNS(marker_row, of, ROCL_ALWAYS),
    {"samples", "Samples", ROCL_UNIT_COUNT, CELL(count)},
    {"min", "Min", ROCL_UNIT_NUMBER, BY(rocl_field_number, min)},
    {"mean", "Mean", ROCL_UNIT_NUMBER, CELL(mean)},
    {"max", "Max", ROCL_UNIT_NUMBER, BY(rocl_field_number, max)},
    {"increase", "Increase", ROCL_UNIT_NUMBER, BY(rocl_field_number, increase)},
    {"joules", "Energy", ROCL_UNIT_JOULES, CELL(joules)},
};

static const rocl_table_def track_table = {ROCL_TAB(COUNTERS), "sample_tracks", "Samples",
                                           ROCL_COLUMNS(track_columns)};
static const rocl_table_def slice_table = {ROCL_TAB(COUNTERS), "sample_timeline",
                                           "Samples over time", ROCL_COLUMNS(slice_columns)};
static const rocl_table_def marker_table = {ROCL_TAB(COUNTERS), "sample_markers",
                                            "Samples while markers lasted",
                                            ROCL_COLUMNS(marker_columns)};

/* GPUs first, then processes; counters by name, [2] before [10]. */
static int compare_tracks(const void *a, const void *b, void *ctx)
{
    const sampled *s = ctx;
    const track *x = &s->tracks[*(const uint32_t *)a], *y = &s->tracks[*(const uint32_t *)b];
    int c = rocl_number_order(x->key.machine, y->key.machine);
    if (!c)
        c = rocl_number_order(x->key.gpu, y->key.gpu);
    if (!c)
        c = rocl_number_order(x->key.capture, y->key.capture);
    if (!c)
        c = rocl_number_order(x->key.process, y->key.process);
    if (!c)
        c = rocl_number_order(x->key.agent, y->key.agent);
    if (!c)
        c = rocl_number_order(x->key.minor, y->key.minor);
    if (!c)
        c = strverscmp(x->name, y->name);
    if (!c)
        c = rocl_compare_texts(s->c.trace, x->key.unit, y->key.unit);
    return c ? c : rocl_number_order(x->key.grows, y->key.grows);
}

static void add_track(void *sum, const void *row)
{
    ((track *)sum)->count += ((const track *)row)->count;
}

/* "GPU 0 device_power", "process 4200 train process_page": on HOST where there are several. */
static const char *label_track(const sampled *s, rocl_tables *out, const track *t)
{
    const char *place = rocl_machine_place(s->c.trace, t->key.machine);
    rocl_buf of = {0};
    if (t->gpu)
        rocl_buf_printf(&of, "GPU %u ", t->gpu->id);
    else
        rocl_buf_printf(&of, "process %lld ", (long long)t->pid);
    if (t->program) /* one that runs another program is two processes of one number */
        rocl_buf_printf(&of, "%s ", t->program);
    if (*place)
        rocl_buf_printf(&of, "%s ", place + 1);
    rocl_buf_str(&of, t->name);
    out->incomplete |= of.failed;
    const char *label = of.failed ? "" : rocl_tables_text(out, (const char *)of.data, of.len);
    rocl_buf_free(&of);
    return label;
}

static void put_slices(const sampled *s, rocl_tables *out)
{
    rocl_report_rows r = rocl_begin_table(&s->c, out, &slice_table, 0);
    for (size_t k = 0; k + 1 < s->track_count; k++) {
        const track *t = &s->tracks[s->order[k]];
        const rocl_slices time = slices_of(s, t);
        const bool shown = t->slices && t->last_time > t->first_time;
        const char *label = shown ? label_track(s, out, t) : NULL;
        for (uint64_t i = 0; label && i < time.count; i++)
            rocl_add_row(&r, &(slice_row){t, label, i, rocl_slice_begin(&time, i),
                                          rocl_slice_begin(&time, i + 1), t->slices[i]});
    }
}

/* Markers for GPUs come first, then process by process. */
static int compare_markers(const void *a, const void *b, void *ctx)
{
    const sampled *s = ctx;
    const marker *x = &s->markers[*(const uint32_t *)a], *y = &s->markers[*(const uint32_t *)b];
    const rocl_sort_values v = {x->total, x->total, x->ranges, rocl_mean(x->total, x->ranges)},
                           w = {y->total, y->total, y->ranges, rocl_mean(y->total, y->ranges)};
    int c = rocl_number_order(x->key.pid >= 0, y->key.pid >= 0);
    if (!c)
        c = rocl_number_order(x->key.machine, y->key.machine);
    if (!c)
        c = rocl_number_order(x->key.pid, y->key.pid);
    if (!c)
        c = rocl_compare_values(s->c.options->sort, &v, &w);
    return c ? c : strverscmp(rocl_str(s->c.trace, x->key.name), rocl_str(s->c.trace, y->key.name));
}

/* --top counts for GPUs, and for each process. */
static rocl_status put_markers(sampled *s, rocl_tables *out, uint32_t conditions, rocl_error *err)
{
    uint32_t *order = malloc(s->marker_count * sizeof *order);
    const size_t most = rocl_rows_shown(s->c.options, s->marker_count);
    size_t n = 0, nth = 0, cut = 0;
    if (!order)
        return rocl_fail_memory(err);
    for (uint32_t i = 1; i < s->marker_count; i++) {
        bool any = false;
        for (size_t k = 1; s->markers[i].tracks && k < s->track_count; k++)
            any |= s->markers[i].tracks[k].any;
        if (any)
            order[n++] = i;
    }
    qsort_r(order, n, sizeof *order, compare_markers, s);
    rocl_report_rows r = rocl_begin_table(&s->c, out, &marker_table, conditions);
    for (size_t i = 0; i < n; i++) {
        const marker *m = &s->markers[order[i]], *before = i ? &s->markers[order[i - 1]] : NULL;
        const bool same = before && before->key.pid == m->key.pid &&
                          (m->key.pid < 0 || before->key.machine == m->key.machine);
        nth = same ? nth + 1 : 0;
        cut += nth >= most;
        for (size_t k = 0; nth < most && k + 1 < s->track_count; k++) {
            const track *t = &s->tracks[s->order[k]];
            const marker_track *of = &m->tracks[s->order[k]];
            if (!of->any)
                continue;
            /* A difference of sums may be slightly outside of the range of values. */
            double mean = t->key.grows ? NAN : rocl_ratio(of->weighted, (double)of->ns);
            if (!isnan(mean))
                mean = fmin(fmax(mean, of->min), of->max);
            rocl_add_row(
                &r, &(marker_row){.of = t,
                                  .name = m->key.name,
                                  .ranges = m->ranges,
                                  .count = of->count,
                                  .total = m->total,
                                  .min = of->min,
                                  .mean = mean,
                                  .max = of->max,
                                  .increase = t->key.grows ? of->increase : NAN,
                                  .joules = t->watts > 0 ? of->weighted * t->watts / 1e9 : NAN});
        }
    }
    if (cut)
        rocl_set_note(&r, "the first %zu markers for GPUs and each process; %zu more are left out",
                      most, cut);
    free(order);
    return ROCL_OK;
}

/* ---- the collector --------------------------------------------------------------------------- */

static rocl_status open_sampled(void *self, rocl_error *err)
{
    sampled *s = self;
    const rocl_trace *t = s->c.trace;
    const rocl_stats_options *o = s->c.options;
    const size_t spans = t->machine_count * t->opt.jobs + 1;
    s->slice_count = o->pictures ? LINE_SLICES : o->slices ? o->slices : DATA_SLICES;
    s->keys = rocl_strings_new();
    s->values = rocl_collector_sorter(&s->c, 3);
    s->spans = calloc(spans, sizeof *s->spans);
    s->weighted = calloc(s->slice_count, sizeof *s->weighted);
    s->known = calloc(s->slice_count, sizeof *s->known);
    if (!s->keys || !s->values || !s->spans || !s->weighted || !s->known)
        return rocl_fail_memory(err);
    s->c.kinds = ROCL_BIT(ROCL_SAMPLE);
    if (o->by_marker) {
        s->c.kinds |= ROCL_BIT(ROCL_MARKER);
        s->marker_keys = rocl_strings_new();
        s->sweep = rocl_collector_sorter(&s->c, 4);
        if (!s->marker_keys || !s->sweep)
            return rocl_fail_memory(err);
    }
    return ROCL_OK;
}

static rocl_status finish_sampled(void *self, rocl_tables *out, rocl_error *err)
{
    sampled *s = self;
    const size_t machines = s->c.trace->machine_count;
    const uint32_t conditions = machines > 1 ? ROCL_IF_OWN : 0;
    rocl_extents_join(s->spans, machines, s->c.trace->opt.jobs);
    s->tracks = rocl_groups_new(s->keys, sizeof(track_key), sizeof *s->tracks, &s->track_count);
    s->order = s->tracks ? malloc(s->track_count * sizeof *s->order) : NULL;
    if (!s->order)
        return rocl_fail_memory(err);
    for (uint32_t i = 1; i < s->track_count; i++) {
        name_track(s, out, &s->tracks[i]);
        s->order[i - 1] = i;
    }
    qsort_r(s->order, s->track_count - 1, sizeof *s->order, compare_tracks, s);
    track *rows = malloc(s->track_count * sizeof *rows);
    rocl_status st = walk_tracks(s, out, err);
    if (st == ROCL_OK)
        st = rows ? ROCL_OK : rocl_fail_memory(err);
    if (st == ROCL_OK) {
        const rocl_report_rows r = rocl_begin_table(&s->c, out, &track_table, conditions);
        for (size_t i = 0; i + 1 < s->track_count; i++)
            rows[i] = s->tracks[s->order[i]];
        rocl_add_top_rows(&r, rows, s->track_count - 1, sizeof *rows, add_track);
    }
    free(rows);
    if (st == ROCL_OK && !s->c.options->pictures)
        put_slices(s, out);
    if (st != ROCL_OK || !s->sweep)
        return st;
    s->markers =
        rocl_groups_new(s->marker_keys, sizeof(marker_key), sizeof *s->markers, &s->marker_count);
    st = s->markers ? sweep_markers(s, err) : rocl_fail_memory(err);
    return st == ROCL_OK ? put_markers(s, out, conditions, err) : st;
}

static void close_sampled(void *self)
{
    sampled *s = self;
    rocl_strings_free(s->keys);
    rocl_strings_free(s->marker_keys);
    for (size_t i = 0; s->tracks && i < s->track_count; i++)
        free(s->tracks[i].slices);
    for (size_t i = 0; s->markers && i < s->marker_count; i++)
        free(s->markers[i].tracks);
    free(s->tracks);
    free(s->markers);
    free(s->order);
    free(s->spans);
    free(s->weighted);
    free(s->known);
}

const rocl_collector_def rocl_samples_collector = {
    .tables = (const rocl_table_def *const[]){&track_table, &slice_table, &marker_table, NULL},
    .kinds = ROCL_BIT(ROCL_SAMPLE) | ROCL_BIT(ROCL_MARKER),
    .size = sizeof(sampled),
    .open = open_sampled,
    .add_batch = add_sampled_batch,
    .finish = finish_sampled,
    .close = close_sampled,
};
