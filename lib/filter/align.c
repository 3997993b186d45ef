/* --align start, and --align marker: the first event, or the marker of every process, as workers
 * find them; the earliest of a machine counts. --align offsets: a file with a line "HOST OFFSET"
 * for every machine, and lines "host PID OFFSET" and "gpu PID OFFSET" for clocks of processes. */
#include "filter/align.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/lines.h"
#include "filter/stages.h"
#include "model/identity.h"

#define OPTION     "--align marker"
#define SIZE_LIMIT ((size_t)16 << 20) /* of a file of offsets */

struct rocl_aligner {
    rocl_trace *trace;
    pthread_mutex_t lock;
    int64_t *firsts;      /* by machine; INT64_MAX: nothing seen */
    rocl_marker *markers; /* by process of all captures, and for events of none in each */
    size_t *bases;        /* by capture: its first marker */
    size_t marker_count;
};

/* ---- making ---- */

rocl_status rocl_aligner_new(rocl_aligner **aligner, rocl_trace *t, rocl_error *err)
{
    bool marker = t->opt.align == ROCL_ALIGN_MARKER;
    if ((marker || t->opt.align == ROCL_ALIGN_OFFSETS) && !t->opt.align_with)
        return rocl_fail(err, ROCL_USAGE, "--align %s",
                         marker ? "marker: the name is missing" : "offsets: the file is missing");
    rocl_aligner *a = calloc(1, sizeof *a);
    if (!a)
        return rocl_fail_memory(err);
    a->trace = t;
    pthread_mutex_init(&a->lock, NULL);
    a->firsts = calloc(t->machine_count + 1, sizeof *a->firsts);
    for (size_t i = 0; a->firsts && i < t->machine_count; i++)
        a->firsts[i] = INT64_MAX;
    rocl_status st = a->firsts ? ROCL_OK : rocl_fail_memory(err);
    if (st == ROCL_OK && marker) {
        size_t n = 0;
        a->bases = calloc(t->capture_count + 1, sizeof *a->bases);
        for (size_t i = 0; a->bases && i < t->capture_count; i++) {
            a->bases[i] = n;
            n += (size_t)t->captures[i]->pub.process_count + 1;
        }
        a->markers = calloc(n + 1, sizeof *a->markers);
        st = a->bases && a->markers ? ROCL_OK : rocl_fail_memory(err);
        for (rocl_marker *m = a->markers; st == ROCL_OK && a->marker_count < n; a->marker_count++)
            st = rocl_marker_new(&m[a->marker_count], t, OPTION, t->opt.align_with, false, err);
    }
    if (st != ROCL_OK)
        rocl_aligner_free(a);
    else
        *aligner = a;
    return st;
}

void rocl_aligner_free(rocl_aligner *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < a->marker_count; i++)
        rocl_marker_free(&a->markers[i]);
    pthread_mutex_destroy(&a->lock);
    free(a->markers);
    free(a->bases);
    free(a->firsts);
    free(a);
}

/* ---- the events ---- */

uint32_t rocl_aligner_kinds(const rocl_aligner *a)
{
    const rocl_align align = a->trace->opt.align;
    return align == ROCL_ALIGN_START    ? ROCL_ALL_KINDS
           : align == ROCL_ALIGN_MARKER ? ROCL_BIT(ROCL_MARKER) | ROCL_BIT(ROCL_INSTANT)
                                        : 0;
}

static void note_first(rocl_aligner *a, uint32_t machine, int64_t first)
{
    if (first < a->firsts[machine])
        a->firsts[machine] = first;
}

/* A process that the capture does not have is that of events of none. */
static rocl_marker *marker_of(const rocl_aligner *a, const rocl_capture *c, uint32_t process)
{
    const uint32_t at = process < c->process_count ? process : c->process_count;
    return &a->markers[a->bases[c->index] + at];
}

rocl_status rocl_aligner_see(void *aligner, unsigned worker, rocl_batch *b, rocl_error *err)
{
    rocl_aligner *a = aligner;
    (void)worker;
    size_t size = rocl_kind_size(b->kind);
    bool ok = true;
    int64_t first = INT64_MAX;
    for (size_t i = 0; i < b->count; i++) {
        const rocl_event *e = rocl_event_at(b, size, i);
        first = e->start < first ? e->start : first;
        if (!a->markers)
            continue;
        rocl_marker *m = marker_of(a, b->capture, e->process);
        if (e->name == ROCL_NONE || (e->name != m->whole.name && e->name != m->numbered.name))
            continue; /* few have the name that is looked for */
        pthread_mutex_lock(&a->lock);
        ok &= rocl_marker_see(m, b, e);
        pthread_mutex_unlock(&a->lock);
    }
    if (!a->markers) {
        pthread_mutex_lock(&a->lock);
        note_first(a, rocl_clock_of(b->capture), first);
        pthread_mutex_unlock(&a->lock);
    }
    return ok ? ROCL_OK : rocl_fail_memory(err);
}

/* ---- offsets from the events ---- */

/* Which of the two meanings of NAME:N counts is decided for the whole trace. */
static bool means_whole_name(const rocl_aligner *a)
{
    for (size_t i = 0; i < a->marker_count; i++)
        if (a->markers[i].whole.total)
            return true;
    return false;
}

static rocl_status fail_no_marker(const rocl_aligner *a, uint32_t machine, rocl_error *err)
{
    const char *name = rocl_machine_name(a->trace, machine), *text = a->trace->opt.align_with;
    uint64_t most = 0; /* occurrences in a process */
    for (size_t i = 0; i < a->trace->capture_count; i++) {
        const rocl_capture *c = &a->trace->captures[i]->pub;
        for (uint32_t p = 0; rocl_clock_of(c) == machine && p <= c->process_count; p++) {
            uint64_t n = marker_of(a, c, p)->numbered.total;
            most = n > most ? n : most;
        }
    }
    if (!most || means_whole_name(a))
        return rocl_fail(err, ROCL_USAGE, OPTION ": \"%.100s\": no such marker on the node %s",
                         text, name);
    return rocl_fail(err, ROCL_USAGE,
                     OPTION ": \"%.100s\": on the node %s a process has %" PRIu64
                            " of these markers at most; they count from 1",
                     text, name, most);
}

/* ---- offsets from a file ---- */

typedef struct reader {
    const rocl_trace *trace;
    const char *path;
    unsigned long line;
    int64_t *offsets;
    unsigned long *given;     /* by machine: the line that gave it, 0: none yet */
    bool named, of_processes; /* there are lines of machines, of processes */
} reader;

static rocl_status fail_at(const reader *r, rocl_error *err, const char *what, const char *text,
                           size_t n)
{
    return rocl_fail(err, ROCL_INPUT, "%s:%lu: \"%.*s\": %s", r->path, r->line,
                     (int)(n < 100 ? n : 100), text, what);
}

static bool is_named(const rocl_trace *t, const rocl_machine *m, const char *s, size_t n)
{
    const uint32_t texts[] = {m->hostname, m->machine_id};
    for (int i = 0; i < 2; i++) {
        size_t len;
        const char *text = rocl_text(t, texts[i], &len);
        if (texts[i] && len == n && !memcmp(text, s, n))
            return true;
    }
    return !m->hostname && !m->machine_id && n == 1 && *s == '-';
}

/* Where the offset of a line "host PID OFFSET" or "gpu PID OFFSET" is; NULL: it is another line. */
static const char *find_process_offset(const char *line, int64_t *pid)
{
    const size_t n = !strncmp(line, "gpu", 3) ? 3 : !strncmp(line, "host", 4) ? 4 : 0;
    char *end;
    if (!n || !line[n] || !strchr(" \t", line[n]))
        return NULL;
    *pid = strtoll(line + n, &end, 10);
    const char *value = end + strspn(end, " \t");
    return end == line + n || value == end || !*value ? NULL : value;
}

/* Of all processes with this number, the clock that the line names. */
static rocl_status shift_process(reader *r, const char *line, int64_t pid, int64_t offset,
                                 rocl_error *err)
{
    r->of_processes = true;
    bool found = false;
    for (size_t i = 0; i < r->trace->capture_count; i++) {
        rocl_model_capture *c = r->trace->captures[i];
        for (uint32_t p = 0; p < c->pub.process_count; p++) {
            if (c->pub.processes[p].pid != pid)
                continue;
            const size_t size = c->pub.process_count * sizeof *c->clocks;
            if (!c->clocks && (c->clocks = rocl_arena_alloc(&c->arena, size)))
                memset(c->clocks, 0, size);
            if (!c->clocks)
                return rocl_fail_memory(err);
            *(*line == 'g' ? &c->clocks[p].gpu : &c->clocks[p].host) = offset;
            found = true;
        }
    }
    return found ? ROCL_OK : fail_at(r, err, "no process has this number", line, strlen(line));
}

/* A file may be about more machines than the trace has. */
static rocl_status shift_machine(reader *r, const char *line, size_t n, int64_t offset,
                                 rocl_error *err)
{
    const rocl_trace *t = r->trace;
    bool seen = false;
    r->named = true;
    for (size_t m = 0; m < t->machine_count; m++) {
        if (t->machines[m].clock != m || !is_named(t, &t->machines[m], line, n))
            continue;
        if (seen)
            return fail_at(r, err, "several nodes have this name: use their machine ids", line, n);
        if (r->given[m])
            return rocl_fail(err, ROCL_INPUT, "%s:%lu: \"%.*s\": it is already in line %lu",
                             r->path, r->line, (int)(n < 100 ? n : 100), line, r->given[m]);
        seen = true;
        r->given[m] = r->line;
        r->offsets[m] = offset;
    }
    return ROCL_OK;
}

/* Reads a line "HOST OFFSET # COMMENT", or one of a process. */
static rocl_status read_line(reader *r, char *line, char *end, rocl_error *err)
{
    int64_t offset, pid;
    r->line++;
    if (memchr(line, '\0', (size_t)(end - line)))
        return rocl_fail(err, ROCL_INPUT, "%s:%lu: not text", r->path, r->line);
    char *comment = memchr(line, '#', (size_t)(end - line));
    end = comment ? comment : end;
    while (end > line && strchr(" \t\r", end[-1]))
        end--;
    *end = '\0';
    line += strspn(line, " \t");
    if (!*line)
        return ROCL_OK;
    const char *of_process = find_process_offset(line, &pid);
    const size_t n = strcspn(line, " \t");
    const char *value = of_process ? of_process : line + n + strspn(line + n, " \t");
    if (!*value)
        return fail_at(r, err, "a line is a host or machine id and its offset", line, n);
    if (!rocl_offset_parse(&offset, value))
        return fail_at(r, err,
                       "an offset is N (ns) or N with one of ns, us, ms, s, min, h, d; it may "
                       "have a sign",
                       value, strlen(value));
    return of_process ? shift_process(r, line, pid, offset, err)
                      : shift_machine(r, line, n, offset, err);
}

/* What the file says of every machine of the trace, ns. ROCL_INPUT "FILE:LINE: ..." */
static rocl_status read_offsets(const rocl_trace *t, const char *path, int64_t *offsets,
                                rocl_error *err)
{
    rocl_buf text = {0};
    rocl_lines *lines = NULL;
    uint64_t read;
    reader r = {.trace = t, .path = path, .offsets = offsets};
    r.given = calloc(t->machine_count + 1, sizeof *r.given);
    rocl_status st = r.given ? rocl_lines_open(&lines, path, err) : rocl_fail_memory(err);
    for (size_t before = 1; st == ROCL_OK && text.len != before;) {
        before = text.len;
        st = rocl_lines_next(lines, &text, &read, err);
        if (st == ROCL_OK && text.len > SIZE_LIMIT)
            st = rocl_fail(err, ROCL_INPUT, "%s: too large for a file of offsets", path);
    }
    rocl_lines_close(lines);
    rocl_buf_byte(&text, 0);
    if (st == ROCL_OK && text.failed)
        st = rocl_fail_memory(err);
    char *at = (char *)text.data, *end = st == ROCL_OK ? at + text.len - 1 : at;
    while (at < end && st == ROCL_OK) {
        char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        st = read_line(&r, at, stop, err);
        at = stop + 1;
    }
    /* A file on clocks of processes alone is complete. */
    for (uint32_t m = 0; m < t->machine_count && st == ROCL_OK && (r.named || !r.of_processes); m++)
        if (!r.given[m] && t->machines[m].clock == m)
            st = rocl_fail(err, ROCL_INPUT, "%s: no line for the node %s", path,
                           rocl_machine_name(t, m));
    rocl_buf_free(&text);
    free(r.given);
    return st;
}

rocl_status rocl_aligner_offsets(rocl_aligner *a, int64_t *offsets, rocl_error *err)
{
    const rocl_trace *t = a->trace;
    int64_t reference = INT64_MAX;
    if (t->opt.align == ROCL_ALIGN_OFFSETS)
        return read_offsets(t, t->opt.align_with, offsets, err);
    const bool whole = means_whole_name(a);
    for (size_t i = 0; a->markers && i < t->capture_count; i++) {
        const rocl_capture *c = &t->captures[i]->pub;
        for (uint32_t p = 0; p <= c->process_count; p++) {
            const rocl_marker *m = marker_of(a, c, p);
            const rocl_occurrence *o = rocl_marker_seen(m);
            if (o && (!whole || m->whole.total))
                note_first(a, rocl_clock_of(c), o->start);
        }
    }
    for (uint32_t m = 0; m < t->machine_count; m++) {
        if (t->machines[m].clock != m)
            continue;
        if (a->markers && a->firsts[m] == INT64_MAX)
            return fail_no_marker(a, m, err);
        /* A node without events has nothing to align, and none to align others to. */
        if (reference == INT64_MAX)
            reference = a->firsts[m];
        offsets[m] = a->firsts[m] == INT64_MAX ? 0 : reference - a->firsts[m];
    }
    return ROCL_OK;
}
