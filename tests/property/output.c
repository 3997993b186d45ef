/* What came out of a tool, counted by readers that share nothing with the writers. */
#include "tests/property/property.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const kind_names[KINDS] = {
#define KIND_ROW(kind, name) name,
    KIND_TABLE(KIND_ROW)
#undef KIND_ROW
};

void counts_forget(counts *c)
{
    *c = (counts){.events = -1, .work = -1, .sum = NAN};
    for (int k = 0; k < KINDS; k++)
        c->of[k] = -1;
}

void counts_clear(counts *c)
{
    *c = (counts){.work = -1, .sum = NAN};
}

void counts_add_up(counts *c)
{
    c->events = 0;
    for (int k = 0; k < KIND_COUNTER; k++)
        c->events += c->of[k] > 0 ? c->of[k] : 0;
}

static bool ends_with(const char *s, const char *end)
{
    const size_t n = strlen(s), m = strlen(end);
    return n >= m && !strcmp(s + n - m, end);
}

/* ---- CSV ---- */

/* Lines outside of quotes, without the first. */
static int64_t count_rows(const bytes *b)
{
    int64_t rows = -1;
    bool quoted = false;
    for (size_t i = 0; i < b->n; i++) {
        quoted ^= b->p[i] == '"';
        rows += b->p[i] == '\n' && !quoted;
    }
    return quoted ? -2 : rows;
}

/* The columns that matter, which the first line names; a name of made.c says how long it lasts. */
typedef struct csv_columns {
    long value, start, end;
    double sum;
    int64_t begin, duration; /* of the row; duration -1: no name says it */
    int64_t untrue;
} csv_columns;

static void read_field(csv_columns *c, long column, const char *text)
{
    long long name, duration;
    if (column == c->value)
        c->sum += strtod(text, NULL);
    if (column == c->start)
        c->begin = strtoll(text, NULL, 10);
    if (column == c->end)
        c->untrue += c->duration >= 0 && strtoll(text, NULL, 10) - c->begin != c->duration;
    if (*text == 'w' && sscanf(text, "w%lldz%lld", &name, &duration) == 2)
        c->duration = duration;
}

static csv_columns read_columns(const bytes *b)
{
    csv_columns c = {-1, -1, -1, .duration = -1};
    long at = 0;
    bool quoted = false, first = true;
    const char *field = b->p;
    for (const char *p = b->p; p < b->p + b->n; p++) {
        quoted ^= *p == '"';
        if (quoted || (*p != ',' && *p != '\n'))
            continue;
        const char *text = field + (*field == '"');
        if (!first)
            read_field(&c, at, text);
        else if (!strncmp(text, "Counter_Value", 13))
            c.value = at;
        else if (!strncmp(text, "Start_Timestamp", 15))
            c.start = at;
        else if (!strncmp(text, "End_Timestamp", 13))
            c.end = at;
        at = *p == ',' ? at + 1 : 0;
        first &= *p == ',';
        c.duration = *p == ',' ? c.duration : -1;
        field = p + 1;
    }
    return c;
}

typedef struct csv_reader {
    counts *c;
    char *why;
    size_t size;
} csv_reader;

static void count_csv_file(void *ctx, const char *path)
{
    static const struct {
        const char *end;
        int kind;
    } files[] = {{"_agent_info.csv", -1},
                 {"_spm_counter_collection_trace.csv", KIND_SAMPLE},
                 {"_counter_sample_trace.csv", KIND_SAMPLE},
                 {"_counter_collection.csv", KIND_COUNTER},
                 {"_counter_collection_trace.csv", KIND_COUNTER},
                 {"_kernel_trace.csv", KIND_KERNEL},
                 {"_memory_copy_trace.csv", KIND_COPY},
                 {"_memory_allocation_trace.csv", KIND_ALLOC},
                 {"_scratch_memory_trace.csv", KIND_SCRATCH},
                 {"_graph_launch_trace.csv", KIND_GRAPH},
                 {"_hip_event_trace.csv", KIND_HIP_EVENT},
                 {"_regions_trace.csv", KIND_CALL},
                 {"_instants_trace.csv", KIND_CALL},
                 {"_api_trace.csv", KIND_CALL}};
    csv_reader *r = ctx;
    bytes b;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (!ends_with(path, files[i].end))
            continue;
        int64_t n = bytes_read(&b, path) ? count_rows(&b) : -2;
        if (n >= 0) {
            const csv_columns columns = read_columns(&b);
            r->c->untrue += columns.untrue;
            r->c->sum += files[i].kind == KIND_COUNTER ? columns.sum : 0;
        }
        free(b.p);
        if (n < 0)
            snprintf(r->why, r->size, "%s is no CSV file", path);
        else if (files[i].kind >= 0)
            r->c->of[files[i].kind] += n;
        return;
    }
    snprintf(r->why, r->size, "%s: what is that?", path);
}

void count_csv(counts *c, const char *folder, char *why, size_t size)
{
    csv_reader r = {c, why, size};
    counts_clear(c);
    c->sum = 0;
    if (is_folder(folder))
        list_folder(folder, count_csv_file, &r);
    counts_add_up(c);
    c->of[KIND_BARRIER] = -1; /* have no file */
    c->events = -1;
}

/* ---- Perfetto and OTF2: lines of pfdump and otf2dump ---- */

/* The n-th field of a line (from 0), cut at the next tab. */
static const char *field_of(const char *line, int n, size_t *size)
{
    for (; n > 0 && *line && *line != '\n'; line++)
        n -= *line == '\t';
    *size = strcspn(line, "\t\n");
    return line;
}

static bool is_field(const char *line, int n, const char *word)
{
    size_t size;
    const char *p = field_of(line, n, &size);
    return size == strlen(word) && !memcmp(p, word, size);
}

/* Fields of GPU work hold a word for its kind. */
static int kind_of_stage(const char *line, int field)
{
    static const struct {
        const char *word;
        int kind;
    } stages[] = {{"Kernel", KIND_KERNEL},      {"Copy", KIND_COPY},
                  {"Allocation", KIND_ALLOC},   {"Scratch", KIND_SCRATCH},
                  {"Graph launch", KIND_GRAPH}, {"HIP event", KIND_HIP_EVENT},
                  {"Barrier", KIND_BARRIER}};
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        if (is_field(line, field, stages[i].word))
            return stages[i].kind;
    return -1;
}

/* Runs a program that prints a line for each event, and says what is against the format. */
static bool dump_output(bytes *b, const char *tool, const char *mode, const char *path, char *why,
                        size_t size)
{
    char program[8192];
    snprintf(program, sizeof program, "%s/tests/%s", build_folder, tool);
    const char *const with_mode[] = {program, mode, path, NULL}, *const plain[] = {program, path,
                                                                                   NULL};
    int rc = run_program(mode ? with_mode : plain, "dump.out", "dump.err");
    if (rc != 0) {
        bytes err = {NULL, 0};
        bytes_read(&err, "dump.err");
        snprintf(why, size, "%.*s", err.p ? (int)strcspn(err.p, "\n") : 0, err.p ? err.p : "");
        if (!why[0])
            snprintf(why, size, "%s: exit code %d", tool, rc);
        free(err.p);
    }
    return bytes_read(b, "dump.out");
}

void count_pftrace(counts *c, const char *path, char *why, size_t size)
{
    bytes b;
    counts_clear(c);
    if (!dump_output(&b, "pfdump", "events", path, why, size))
        return;
    for (const char *p = b.p, *end; *p; p = end + 1) {
        end = strchr(p, '\n');
        if (!end)
            break;
        if (is_field(p, 0, "slice") || is_field(p, 0, "instant")) {
            c->of[KIND_CALL]++;
            c->instants += is_field(p, 0, "instant");
        } else if (is_field(p, 0, "stage")) {
            int kind = kind_of_stage(p, 6);
            if (kind >= 0)
                c->of[kind]++;
            else
                snprintf(why, size, "a stage of no known kind: %.*s", (int)(end - p), p);
        }
    }
    free(b.p);
    counts_add_up(c);
    c->of[KIND_COUNTER] = c->of[KIND_SAMPLE] = -1; /* values of several sorts */
}

void count_otf2(counts *c, const char *path, char *why, size_t size)
{
    bytes b;
    counts_forget(c);
    if (!dump_output(&b, "otf2dump", NULL, path, why, size))
        return;
    c->events = 0;
    for (const char *p = b.p, *end; *p; p = end + 1) {
        end = strchr(p, '\n');
        if (!end)
            break;
        /* Work that no GPU did is on tracks like those of threads. */
        c->events += is_field(p, 0, "slice") || is_field(p, 0, "stage");
    }
    free(b.p);
}

/* ---- JSON ---- */

typedef struct json_text {
    const char *p, *end;
} json_text;

static void skip_space(json_text *t)
{
    while (t->p < t->end && (*t->p == ' ' || *t->p == '\n' || *t->p == '\r' || *t->p == '\t'))
        t->p++;
}

static bool read_string(json_text *t, char word[JSON_WORD])
{
    size_t n = 0;
    if (t->p >= t->end || *t->p != '"')
        return false;
    for (t->p++; t->p < t->end && *t->p != '"'; t->p++) {
        if ((unsigned char)*t->p < 0x20)
            return false;
        if (*t->p == '\\' && ++t->p >= t->end)
            return false;
        if (n < JSON_WORD - 1)
            word[n++] = *t->p;
    }
    word[n] = '\0';
    return t->p++ < t->end;
}

bool json_walk(const char *text, size_t n, void (*fn)(void *ctx, const json_event *e), void *ctx)
{
    json_text t = {text, text + n};
    json_event e = {0};
    char kinds[1024], skipped[JSON_WORD];
    for (bool value = true;;) {
        skip_space(&t);
        if (value && t.p < t.end && (*t.p == '{' || *t.p == '[')) {
            if (e.depth == sizeof kinds)
                return false;
            e.object = *t.p == '{';
            e.value[0] = '\0';
            if (e.object && e.depth <= JSON_DEPTH)
                fn(ctx, &e);
            kinds[e.depth] = *t.p++;
            if (e.depth < JSON_DEPTH)
                e.keys[e.depth][0] = '\0';
            e.depth++;
            skip_space(&t);
            if (t.p < t.end && (*t.p == '}' || *t.p == ']')) {
                value = false;
            } else if (kinds[e.depth - 1] == '{') {
                goto key;
            }
            continue;
        }
        if (value) {
            e.object = false;
            if (t.p < t.end && *t.p == '"') {
                if (!read_string(&t, e.value))
                    return false;
            } else {
                size_t m = strspn(t.p, "+-.0123456789abcdefghijklmnopqrstuvwxyzEINT");
                if (m == 0)
                    return false;
                snprintf(e.value, sizeof e.value, "%.*s", (int)m, t.p);
                t.p += m;
            }
            if (e.depth <= JSON_DEPTH)
                fn(ctx, &e);
            value = false;
            continue;
        }
        if (e.depth == 0)
            return t.p == t.end;
        if (t.p >= t.end)
            return false;
        const char c = *t.p++;
        if (c == ',' && kinds[e.depth - 1] == '[') {
            value = true;
            continue;
        }
        if (c == ',') {
            skip_space(&t);
        key:
            if (!read_string(&t, e.depth <= JSON_DEPTH ? e.keys[e.depth - 1] : skipped))
                return false;
            skip_space(&t);
            if (t.p >= t.end || *t.p++ != ':')
                return false;
            value = true;
            continue;
        }
        if (c != (kinds[e.depth - 1] == '{' ? '}' : ']'))
            return false;
        e.depth--;
    }
}

static void walk_file(const char *path, void (*fn)(void *ctx, const json_event *e), void *ctx,
                      char *why, size_t size)
{
    bytes b = {NULL, 0};
    if (!bytes_read(&b, path) || !json_walk(b.p, b.n, fn, ctx))
        snprintf(why, size, "%s is no JSON", path);
    free(b.p);
}

typedef struct chrome_reader {
    counts *c;
    char phase, category[JSON_WORD];
} chrome_reader;

static void end_chrome_event(chrome_reader *r)
{
    static const struct {
        const char *word;
        int kind;
    } words[] = {{"kernel", KIND_KERNEL},   {"copy", KIND_COPY},   {"alloc", KIND_ALLOC},
                 {"scratch", KIND_SCRATCH}, {"graph", KIND_GRAPH}, {"hip-event", KIND_HIP_EVENT},
                 {"barrier", KIND_BARRIER}};
    int kind = KIND_CALL;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(r->category, words[i].word))
            kind = words[i].kind;
    if (r->phase == 'X' || r->phase == 'i')
        r->c->of[kind]++;
    r->phase = '\0';
    r->category[0] = '\0';
}

static void read_chrome(void *ctx, const json_event *e)
{
    chrome_reader *r = ctx;
    if (strcmp(e->keys[0], "traceEvents") != 0)
        return;
    if (e->depth == 2 && e->object)
        end_chrome_event(r);
    else if (e->depth == 3 && !strcmp(e->keys[2], "ph"))
        r->phase = e->value[0];
    else if (e->depth == 3 && !strcmp(e->keys[2], "cat"))
        memcpy(r->category, e->value, sizeof r->category);
}

void count_chrome(counts *c, const char *path, char *why, size_t size)
{
    chrome_reader r = {.c = c};
    counts_clear(c);
    walk_file(path, read_chrome, &r, why, size);
    end_chrome_event(&r);
    counts_add_up(c);
    c->of[KIND_COUNTER] = c->of[KIND_SAMPLE] = -1;
}

static void read_rocprofv3(void *ctx, const json_event *e)
{
    counts *c = ctx;
    if (!e->object || e->depth != 5 || strcmp(e->keys[0], "rocprofiler-sdk-tool") != 0 ||
        strcmp(e->keys[2], "buffer_records") != 0)
        return;
    const char *list = e->keys[3];
    const int kind = !strcmp(list, "kernel_dispatch")     ? KIND_KERNEL
                     : !strcmp(list, "memory_copy")       ? KIND_COPY
                     : !strcmp(list, "memory_allocation") ? KIND_ALLOC
                     : !strcmp(list, "scratch_memory")    ? KIND_SCRATCH
                                                          : KIND_CALL;
    c->of[kind]++;
}

void count_rocprofv3(counts *c, const char *path, char *why, size_t size)
{
    counts_clear(c);
    walk_file(path, read_rocprofv3, c, why, size);
    counts_add_up(c);
    /* Others than these have no place; how many is said. */
    c->of[KIND_CALL] = c->of[KIND_GRAPH] = c->of[KIND_HIP_EVENT] = c->of[KIND_BARRIER] = -1;
    c->of[KIND_COUNTER] = c->of[KIND_SAMPLE] = -1;
}

void count_query(counts *c, const char *path, char *why, size_t size)
{
    static const struct {
        const char *word;
        int kind;
    } words[] = {{"region", KIND_CALL},     {"marker", KIND_CALL}, {"instant", KIND_CALL},
                 {"kernel", KIND_KERNEL},   {"copy", KIND_COPY},   {"alloc", KIND_ALLOC},
                 {"scratch", KIND_SCRATCH}, {"graph", KIND_GRAPH}, {"hip-event", KIND_HIP_EVENT},
                 {"barrier", KIND_BARRIER}};
    bytes b = {NULL, 0};
    counts_clear(c);
    if (!bytes_read(&b, path) || !strchr(b.p, '\n'))
        snprintf(why, size, "%s has no first line", path);
    for (char *line = b.p ? strtok(b.p, "\n") : NULL; !why[0] && (line = strtok(NULL, "\n"));) {
        char word[32];
        long long n;
        size_t i = 0;
        const bool is_row = sscanf(line, "\"%31[^\"]\",%lld", word, &n) == 2;
        while (is_row && i < sizeof words / sizeof *words && strcmp(word, words[i].word) != 0)
            i++;
        if (!is_row || i == sizeof words / sizeof *words)
            snprintf(why, size, "%s: what is %.60s?", path, line);
        else
            c->of[words[i].kind] += n;
    }
    free(b.p);
    counts_add_up(c);
    c->of[KIND_COUNTER] = c->of[KIND_SAMPLE] = -1;
}

typedef struct statistics_reader {
    counts *c;
    char table[JSON_WORD], name[JSON_WORD];
} statistics_reader;

static void read_statistics(void *ctx, const json_event *e)
{
    static const struct {
        const char *word;
        int kind;
    } domains[] = {{"KERNELS", KIND_KERNEL},
                   {"MEMORY_COPIES", KIND_COPY},
                   {"MEMORY_ALLOCATIONS", KIND_ALLOC},
                   {"SCRATCH_MEMORY", KIND_SCRATCH},
                   {"GRAPHS", KIND_GRAPH},
                   {"HIP_EVENTS", KIND_HIP_EVENT},
                   {"BARRIERS", KIND_BARRIER}};
    statistics_reader *r = ctx;
    if (e->object || strcmp(e->keys[0], "tables") != 0)
        return;
    if (e->depth == 3 && !strcmp(e->keys[2], "key"))
        memcpy(r->table, e->value, sizeof r->table);
    if (e->depth != 5 || strcmp(e->keys[2], "rows") != 0)
        return;
    const char *column = e->keys[4];
    if (!strcmp(r->table, "domains") && !strcmp(column, "name"))
        memcpy(r->name, e->value, sizeof r->name);
    if (!strcmp(r->table, "domains") && !strcmp(column, "calls")) {
        int kind = KIND_CALL;
        for (size_t i = 0; i < sizeof domains / sizeof *domains; i++)
            if (!strcmp(r->name, domains[i].word))
                kind = domains[i].kind;
        r->c->of[kind] += strtoll(e->value, NULL, 10);
    }
    if (!strcmp(r->table, "samples") && !strcmp(column, "samples"))
        r->c->of[KIND_SAMPLE] += strtoll(e->value, NULL, 10);
}

void count_statistics(counts *c, const char *path, char *why, size_t size)
{
    statistics_reader r = {.c = c};
    counts_clear(c);
    walk_file(path, read_statistics, &r, why, size);
    counts_add_up(c);
    c->of[KIND_COUNTER] = -1;
    c->of[KIND_SAMPLE] = -1;
}

/* ---- databases ---- */

void count_database(counts *c, const char *path, char *why, size_t size)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *s = NULL;
    counts_forget(c);
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &s, NULL) != SQLITE_OK ||
        sqlite3_step(s) != SQLITE_ROW || strcmp((const char *)sqlite3_column_text(s, 0), "ok") != 0)
        snprintf(why, size, "%s is no database: %s", path, sqlite3_errmsg(db));
    sqlite3_finalize(s);
    sqlite3_close(db);
    if (!why[0] && !count_input(c, path))
        snprintf(why, size, "%s cannot be counted", path);
    c->of[KIND_HIP_EVENT] = -1; /* barriers are among them */
}

/* ---- several formats ------------------------------------------------------------------------- */

static void move_and_count(counts *c, const char *folder, const char *name,
                           void (*count)(counts *c, const char *path, char *why, size_t size),
                           char *why, size_t size)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    rename(path, name);
    count(c, name, why, size);
    unlink(name);
}

void count_converted(counts *c, const char *folder, char *why, size_t size)
{
    counts pictures, json;
    move_and_count(&pictures, folder, "o_results.pftrace", count_pftrace, why, size);
    move_and_count(&json, folder, "o_results.json", count_chrome, why, size);
    count_csv(c, folder, why, size); /* what is left in it */
    /* An arrow may end at an instant of its own. */
    const int64_t more = pictures.of[KIND_CALL] - c->of[KIND_CALL];
    if (more > 0 && more <= pictures.instants)
        pictures.of[KIND_CALL] -= more;
    for (int k = 0; k < KINDS; k++)
        if (!why[0] && c->of[k] >= 0 && pictures.of[k] >= 0 && c->of[k] != pictures.of[k])
            snprintf(why, size, "%s: %lld in CSV, %lld in the pftrace", kind_names[k],
                     (long long)c->of[k], (long long)pictures.of[k]);
    /* Calls of JSON inputs may have the categories of work; barriers have no CSV file. */
    counts all = *c;
    counts_add_up(&all);
    const int64_t events = json.events - pictures.of[KIND_BARRIER];
    if (!why[0] && json.events != all.events && events != all.events)
        snprintf(why, size, "events: %lld in CSV, %lld in the JSON", (long long)all.events,
                 (long long)json.events);
}
