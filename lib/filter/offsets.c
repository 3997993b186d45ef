/* --align offsets: a file with a line "HOST OFFSET" for every machine. */
#include <stdlib.h>
#include <string.h>

#include "base/lines.h"
#include "filter/stages.h"

#define SIZE_LIMIT ((size_t)16 << 20)

typedef struct reader {
    const rocl_trace *trace;
    const char *path;
    unsigned long line;
    int64_t *offsets;
    unsigned long *given; /* by machine: the line that gave it, 0: none yet */
} reader;

static rocl_status wrong(const reader *r, rocl_error *err, const char *what, const char *text,
                         size_t n)
{
    return rocl_fail(err, ROCL_INPUT, "%s:%lu: \"%.*s\": %s", r->path, r->line,
                     (int)(n < 100 ? n : 100), text, what);
}

static bool is_text(const rocl_trace *t, uint32_t text, const char *s, size_t n)
{
    size_t len;
    const char *p = rocl_text(t, text, &len);
    return text && len == n && !memcmp(p, s, n);
}

static bool is_named(const rocl_trace *t, const rocl_machine *m, const char *s, size_t n)
{
    if (!m->hostname && !m->machine_id)
        return n == 1 && *s == '-';
    return is_text(t, m->hostname, s, n) || is_text(t, m->machine_id, s, n);
}

/* A file may be about more machines than the trace has. */
static rocl_status set_offset(reader *r, const char *name, size_t n, int64_t offset,
                              rocl_error *err)
{
    const rocl_trace *t = r->trace;
    bool found = false;
    for (size_t m = 0; m < t->machine_count; m++) {
        if (!is_named(t, &t->machines[m], name, n))
            continue;
        if (found)
            return wrong(r, err, "several nodes have this name: use their machine ids", name, n);
        if (r->given[m])
            return rocl_fail(err, ROCL_INPUT, "%s:%lu: \"%.*s\": line %lu has it already", r->path,
                             r->line, (int)(n < 100 ? n : 100), name, r->given[m]);
        found = true;
        r->given[m] = r->line;
        r->offsets[m] = offset;
    }
    return ROCL_OK;
}

/* Text without blanks around it, NUL-terminated in place. */
static char *strip(char *s, char *end)
{
    while (end > s && strchr(" \t\r", end[-1]))
        end--;
    *end = '\0';
    return s + strspn(s, " \t");
}

static rocl_status read_line(reader *r, char *line, char *end, rocl_error *err)
{
    int64_t offset;
    r->line++;
    if (memchr(line, '\0', (size_t)(end - line)))
        return rocl_fail(err, ROCL_INPUT, "%s:%lu: no text", r->path, r->line);
    char *comment = memchr(line, '#', (size_t)(end - line));
    line = strip(line, comment ? comment : end);
    if (!*line)
        return ROCL_OK;
    size_t name = strcspn(line, " \t");
    const char *value = line + name + strspn(line + name, " \t");
    if (!*value)
        return wrong(r, err, "a line is a host or machine id and its offset", line, name);
    if (!rocl_offset_parse(&offset, value))
        return wrong(
            r, err,
            "an offset is N (ns) or N with one of ns, us, ms, s, min, h, d; it may have a sign",
            value, strlen(value));
    return set_offset(r, line, name, offset, err);
}

static rocl_status read_lines(reader *r, char *text, size_t n, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    char *end = text + n;
    for (char *at = text; at < end && st == ROCL_OK;) {
        char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        st = read_line(r, at, stop, err);
        at = stop + 1;
    }
    return st;
}

static rocl_status read_file(const char *path, rocl_buf *text, rocl_error *err)
{
    rocl_lines *lines = NULL;
    uint64_t read;
    rocl_status st = rocl_lines_open(&lines, path, err);
    for (size_t before = 1; st == ROCL_OK && text->len != before;) {
        before = text->len;
        st = rocl_lines_next(lines, text, &read, err);
        if (st == ROCL_OK && text->len > SIZE_LIMIT)
            st = rocl_fail(err, ROCL_INPUT, "%s: too large for a file of offsets", path);
    }
    rocl_lines_close(lines);
    rocl_buf_byte(text, 0);
    return st == ROCL_OK && text->failed ? rocl_fail_memory(err) : st;
}

static rocl_status check_all(const reader *r, rocl_error *err)
{
    for (uint32_t m = 0; m < r->trace->machine_count; m++)
        if (!r->given[m])
            return rocl_fail(err, ROCL_INPUT, "%s: no line for the node %s", r->path,
                             rocl_machine_name(r->trace, m));
    return ROCL_OK;
}

rocl_status rocl_offsets_read(const rocl_trace *t, const char *path, int64_t *offsets,
                              rocl_error *err)
{
    rocl_buf text = {0};
    reader r = {.trace = t, .path = path, .offsets = offsets};
    r.given = calloc(t->machine_count + 1, sizeof *r.given);
    rocl_status st = r.given ? read_file(path, &text, err) : rocl_fail_memory(err);
    if (st == ROCL_OK)
        st = read_lines(&r, (char *)text.data, text.len - 1, err);
    if (st == ROCL_OK)
        st = check_all(&r, err);
    rocl_buf_free(&text);
    free(r.given);
    return st;
}
