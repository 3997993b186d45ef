/* Reads job files. libyaml reads JSON as well, which is a part of YAML, and knows lines and
 * columns. */
#include "common/job.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { DEPTH_MAX = 16 };

typedef struct reader {
    yaml_parser_t parser;
    yaml_event_t event; /* the current one */
    bool has_event;
    const char *text;
    size_t len;
    job_file *file;
    job_error *err;
} reader;

static bool fail_at(job_error *err, unsigned line, unsigned column, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

static bool fail_at(job_error *err, unsigned line, unsigned column, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    err->line = line;
    err->column = column;
    return false;
}

#define FAIL_HERE(r, ...)                                                                          \
    fail_at((r)->err, (unsigned)(r)->event.start_mark.line + 1,                                    \
            (unsigned)(r)->event.start_mark.column + 1, __VA_ARGS__)

/* ---- what is made ---------------------------------------------------------------------------- */

static job *add_job(job_file *f)
{
    f->jobs = must_have(realloc(f->jobs, (f->count + 1) * sizeof *f->jobs));
    f->jobs[f->count] = (job){0};
    return &f->jobs[f->count++];
}

static job_setting *add_setting(job *j, const job_key *key, unsigned line, unsigned column)
{
    j->settings = must_have(realloc(j->settings, (j->count + 1) * sizeof *j->settings));
    j->settings[j->count] = (job_setting){.key = key, .line = line, .column = column};
    return &j->settings[j->count++];
}

static void add_value(job_setting *s, const char *text, size_t len)
{
    strings_add(&s->values, must_have(strndup(text, len)));
}

void job_file_free(job_file *f)
{
    for (size_t i = 0; i < f->count; i++) {
        for (size_t k = 0; k < f->jobs[i].count; k++) {
            strings *values = &f->jobs[i].settings[k].values;
            for (size_t v = 0; v < values->n; v++)
                free((char *)values->v[v]);
            free(values->v);
        }
        free(f->jobs[i].settings);
    }
    free(f->jobs);
    *f = (job_file){0};
}

/* ---- YAML and JSON --------------------------------------------------------------------------- */

/* Faults of the encoding are known by their offset only. */
static bool fail_to_parse(reader *r)
{
    const yaml_parser_t *p = &r->parser;
    size_t line = p->problem_mark.line, column = p->problem_mark.column;
    if (p->error == YAML_READER_ERROR) {
        line = column = 0;
        for (size_t i = 0; i < p->problem_offset && i < r->len; i++) {
            column = r->text[i] == '\n' ? 0 : column + 1;
            line += r->text[i] == '\n';
        }
    }
    return fail_at(r->err, (unsigned)line + 1, (unsigned)column + 1, "%s",
                   p->error == YAML_MEMORY_ERROR ? "out of memory"
                   : p->problem                  ? p->problem
                                                 : "neither YAML nor JSON");
}

static bool next_event(reader *r)
{
    if (r->has_event)
        yaml_event_delete(&r->event);
    r->has_event = yaml_parser_parse(&r->parser, &r->event);
    if (!r->has_event)
        return fail_to_parse(r);
    if (r->event.type == YAML_ALIAS_EVENT)
        return FAIL_HERE(r, "aliases are not supported");
    return true;
}

/* The value that begins with the current event, to its end. */
static bool read_value(reader *r, job_setting *s, unsigned depth)
{
    const yaml_event_type_t type = r->event.type;
    if (type == YAML_SCALAR_EVENT) {
        const char *text = (const char *)r->event.data.scalar.value;
        const size_t len = r->event.data.scalar.length;
        if (memchr(text, '\0', len))
            return FAIL_HERE(r, "a value has a NUL byte");
        const bool null = r->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
                          (!*text || !strcmp(text, "~") || !strcmp(text, "null") ||
                           !strcmp(text, "Null") || !strcmp(text, "NULL"));
        if (!null)
            add_value(s, text, len);
        return true;
    }
    if (type == YAML_MAPPING_START_EVENT && s->key->form != JOB_COLLECTION)
        return FAIL_HERE(r, "%s is a value or a list of values", s->key->name);
    if (depth == DEPTH_MAX)
        return FAIL_HERE(r, "nested too deeply");
    for (;;) {
        if (!next_event(r))
            return false;
        if (r->event.type == YAML_SEQUENCE_END_EVENT || r->event.type == YAML_MAPPING_END_EVENT)
            return true;
        if (!read_value(r, s, depth + 1))
            return false;
    }
}

/* The key that is the current event, and its value. */
static bool read_setting(reader *r, job *j)
{
    if (r->event.type != YAML_SCALAR_EVENT)
        return FAIL_HERE(r, "a key is expected");
    const char *name = (const char *)r->event.data.scalar.value;
    const size_t len = r->event.data.scalar.length;
    const job_key *key = job_key_find(name, len);
    const char *near = key ? NULL : rocl_nearest_word(name, len, job_key_word, NULL);
    if (!key && strcmp(name, "rocprofiler-sdk") == 0)
        return FAIL_HERE(r, "this file defines counters, it holds no jobs");
    if (!key)
        return near ? FAIL_HERE(r, "unknown key \"%.60s\"; did you mean %s?", name, near)
                    : FAIL_HERE(r, "unknown key \"%.60s\"", name);
    for (size_t i = 0; i < j->count; i++)
        if (j->settings[i].key == key)
            return FAIL_HERE(r, "%s stands twice, first in line %u", key->name,
                             j->settings[i].line);
    job_setting *s = add_setting(j, key, (unsigned)r->event.start_mark.line + 1,
                                 (unsigned)r->event.start_mark.column + 1);
    return next_event(r) && read_value(r, s, 0);
}

static bool read_job(reader *r)
{
    if (r->event.type != YAML_MAPPING_START_EVENT)
        return FAIL_HERE(r, "a job is a list of keys with values");
    job *j = add_job(r->file);
    for (;;) {
        if (!next_event(r))
            return false;
        if (r->event.type == YAML_MAPPING_END_EVENT)
            return true;
        if (!read_setting(r, j))
            return false;
    }
}

/* The value of "jobs". */
static bool read_jobs(reader *r)
{
    if (!next_event(r))
        return false;
    if (r->event.type != YAML_SEQUENCE_START_EVENT)
        return FAIL_HERE(r, "jobs is a list");
    for (;;) {
        if (!next_event(r))
            return false;
        if (r->event.type == YAML_SEQUENCE_END_EVENT)
            return true;
        if (!read_job(r))
            return false;
    }
}

/* "jobs" and nothing else, or the keys of one job. */
static bool read_document(reader *r)
{
    bool list = false;
    if (r->event.type != YAML_MAPPING_START_EVENT)
        return FAIL_HERE(r, "expected: jobs, or the keys of one job");
    for (;;) {
        if (!next_event(r))
            return false;
        if (r->event.type == YAML_MAPPING_END_EVENT)
            return true;
        const bool is_list = r->event.type == YAML_SCALAR_EVENT &&
                             !strcmp((const char *)r->event.data.scalar.value, "jobs");
        if (list || (is_list && r->file->count))
            return FAIL_HERE(r, "jobs stands alone: other keys belong into its jobs");
        list = is_list;
        if (!is_list && !r->file->count)
            add_job(r->file);
        if (!(is_list ? read_jobs(r) : read_setting(r, &r->file->jobs[0])))
            return false;
    }
}

static bool parse_yaml(job_file *f, const char *text, size_t len, job_error *err)
{
    reader r = {.text = text, .len = len, .file = f, .err = err};
    /* JSON may have tabs where YAML may not; strings contain none. */
    char *copy = must_have(malloc(len + 1));
    memcpy(copy, text, len);
    for (size_t i = 0; f->format == JOB_JSON && i < len; i++)
        copy[i] = copy[i] == '\t' ? ' ' : copy[i];
    if (!yaml_parser_initialize(&r.parser))
        must_have(NULL);
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)copy, len);
    bool ok = next_event(&r) && next_event(&r); /* the begin of the stream, of a document */
    if (ok && r.event.type == YAML_DOCUMENT_START_EVENT)
        ok = next_event(&r) && read_document(&r) && next_event(&r) && next_event(&r);
    if (ok && r.event.type != YAML_STREAM_END_EVENT)
        ok = FAIL_HERE(&r, "a second document");
    if (r.has_event)
        yaml_event_delete(&r.event);
    yaml_parser_delete(&r.parser);
    free(copy);
    return ok;
}

/* ---- input.txt ------------------------------------------------------------------------------- */

/* Each line with "pmc:" is a job; '#' begins a comment. rocprofv3 skips all other lines. */
static void parse_lines(job_file *f, const char *text, size_t len)
{
    static const char blanks[] = " \t\r";
    unsigned line = 0;
    for (const char *at = text, *end; at < text + len; at = end + 1) {
        end = memchr(at, '\n', (size_t)(text + len - at));
        end = end ? end : text + len;
        line++;
        const char *comment = memchr(at, '#', (size_t)(end - at));
        const char *stop = comment ? comment : end;
        const char *found = memmem(at, (size_t)(stop - at), "pmc:", 4);
        if (!found)
            continue;
        job_setting *s =
            add_setting(add_job(f), job_key_find("pmc", 3), line, (unsigned)(found - at) + 1);
        for (const char *p = found + 4; p < stop;) {
            const char *word = p;
            while (p < stop && !memchr(blanks, *p, sizeof blanks))
                p++;
            if (p > word)
                add_value(s, word, (size_t)(p - word));
            p += p < stop;
        }
    }
}

bool job_file_parse(job_file *f, job_format format, const char *text, size_t len, job_error *err)
{
    *f = (job_file){.format = format};
    if (format == JOB_LINES)
        parse_lines(f, text, len);
    else if (!parse_yaml(f, text, len, err))
        return false;
    return f->count || fail_at(err, 0, 0, "there is no job in it");
}
