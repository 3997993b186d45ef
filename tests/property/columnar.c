/* Rows of Parquet, Arrow and JSON lines, counted by walks that know nothing of the writers: of
 * Parquet every page says how many values it has, of Arrow every batch how many rows.
 *
 * https://parquet.apache.org/docs/file-format, https://github.com/apache/thrift/blob/master/doc/
 * specs/thrift-compact-protocol.md, https://arrow.apache.org/docs/format/Columnar.html,
 * https://flatbuffers.dev/internals */
#include "tests/property/property.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Little-endian, 0 beyond the end. */
static uint64_t number_at(const bytes *b, uint64_t at, unsigned size)
{
    uint64_t v = 0;
    if (at > b->n || size > b->n - at)
        return 0;
    for (unsigned i = size; i > 0; i--)
        v = v << 8 | (unsigned char)b->p[at + i - 1];
    return v;
}

/* ---- Thrift, as Parquet uses it -------------------------------------------------------------- */

enum { THRIFT_DEPTH = 12 };

typedef struct thrift {
    const unsigned char *p, *end;
    bool bad;
    unsigned depth;
    int path[THRIFT_DEPTH]; /* ids of the fields that are open */
    /* For each number, and, with is_end, for the end of each struct, whose path it has. */
    void (*fn)(void *ctx, const struct thrift *t, int64_t value, bool is_end);
    void *ctx;
} thrift;

static uint64_t read_varint(thrift *t)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (t->p >= t->end)
            break;
        const unsigned char c = *t->p++;
        v |= (uint64_t)(c & 127) << shift;
        if (c < 128)
            return v;
    }
    t->bad = true;
    return 0;
}

static int64_t read_zigzag(thrift *t)
{
    const uint64_t v = read_varint(t);
    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

static void skip_bytes(thrift *t, uint64_t n)
{
    t->bad |= n > (uint64_t)(t->end - t->p);
    t->p += t->bad ? 0 : n;
}

static void read_struct(thrift *t);

static void read_value(thrift *t, unsigned type)
{
    uint64_t n;
    switch (type) {
    case 1: /* true and false, as fields */
    case 2:
        break;
    case 3:
        skip_bytes(t, 1);
        break;
    case 4:
    case 5:
    case 6:
        t->fn(t->ctx, t, read_zigzag(t), false);
        break;
    case 7:
        skip_bytes(t, 8);
        break;
    case 8:
        skip_bytes(t, read_varint(t));
        break;
    case 9: /* lists and sets: elements have the path of the field */
    case 10:
        n = t->p < t->end ? *t->p : 0;
        skip_bytes(t, 1);
        type = n & 15;
        n = n >> 4 == 15 ? read_varint(t) : n >> 4;
        for (; n && !t->bad; n--) {
            if (type == 1 || type == 2)
                skip_bytes(t, 1);
            else
                read_value(t, type);
        }
        break;
    case 12:
        read_struct(t);
        break;
    default: /* Parquet has no maps */
        t->bad = true;
    }
}

static void read_struct(thrift *t)
{
    int id = 0;
    if (t->depth == THRIFT_DEPTH)
        t->bad = true;
    while (!t->bad && t->p < t->end && *t->p) {
        const unsigned head = *t->p++;
        id = head >> 4 ? id + (int)(head >> 4) : (int)read_zigzag(t);
        t->path[t->depth++] = id;
        read_value(t, head & 15);
        t->depth--;
    }
    skip_bytes(t, 1);
    if (!t->bad)
        t->fn(t->ctx, t, 0, true);
}

static bool is_at(const thrift *t, unsigned depth, const int *path)
{
    return t->depth == depth && !memcmp(t->path, path, depth * sizeof *path);
}
#define IS_AT(t, ...)                                                                              \
    is_at(t, sizeof((int[]){__VA_ARGS__}) / sizeof(int), (const int[]){__VA_ARGS__})

/* ---- Parquet --------------------------------------------------------------------------------- */

typedef struct page_header {
    int64_t type, size, values;
} page_header;

static void read_page_field(void *ctx, const thrift *t, int64_t value, bool is_end)
{
    page_header *h = ctx;
    if (is_end)
        return;
    if (IS_AT(t, 1))
        h->type = value;
    else if (IS_AT(t, 3))
        h->size = value;
    else if (IS_AT(t, 5, 1) || IS_AT(t, 8, 1)) /* of a data page of either version */
        h->values = value;
}

typedef struct parquet_reader {
    const bytes *b;
    int64_t rows, grouped;                  /* what the file says, and its row groups */
    int64_t group_rows, group_values;       /* of the first column of a group, by its pages */
    int64_t values, size, data, dictionary; /* of a column in a group */
    unsigned column;
    bool bad;
} parquet_reader;

/* Values of a column chunk, page by page. */
static int64_t count_page_values(parquet_reader *r)
{
    const int64_t first = r->dictionary > 0 ? r->dictionary : r->data;
    int64_t values = 0;
    if (first < 4 || r->size < 0 || (uint64_t)first + (uint64_t)r->size > r->b->n)
        return -1;
    const unsigned char *p = (const unsigned char *)r->b->p + first, *const end = p + r->size;
    while (p < end) {
        page_header h = {0};
        thrift t = {.p = p, .end = end, .fn = read_page_field, .ctx = &h};
        read_struct(&t);
        if (t.bad || h.size < 0 || h.size > end - t.p)
            return -1;
        values += h.type == 2 ? 0 : h.values; /* 2: a dictionary */
        p = t.p + h.size;
    }
    return values;
}

static void read_footer_field(void *ctx, const thrift *t, int64_t value, bool is_end)
{
    parquet_reader *r = ctx;
    if (is_end && IS_AT(t, 4, 1, 3)) { /* a column of a group is described */
        const int64_t values = count_page_values(r);
        r->bad |= values != r->values;
        if (!r->column++)
            r->group_values = values;
        r->data = r->dictionary = 0;
    } else if (is_end && IS_AT(t, 4)) {
        r->bad |= r->group_values != r->group_rows;
        r->grouped += r->group_values;
        r->column = 0;
    } else if (is_end) {
        return;
    } else if (IS_AT(t, 3)) {
        r->rows = value;
    } else if (IS_AT(t, 4, 3)) {
        r->group_rows = value;
    } else if (IS_AT(t, 4, 1, 3, 5)) {
        r->values = value;
    } else if (IS_AT(t, 4, 1, 3, 7)) {
        r->size = value;
    } else if (IS_AT(t, 4, 1, 3, 9)) {
        r->data = value;
    } else if (IS_AT(t, 4, 1, 3, 11)) {
        r->dictionary = value;
    }
}

/* -1: it is no sound file. */
static int64_t count_parquet_rows(const bytes *b)
{
    parquet_reader r = {.b = b};
    if (b->n < 12 || memcmp(b->p, "PAR1", 4) != 0 || memcmp(b->p + b->n - 4, "PAR1", 4) != 0)
        return -1;
    const uint64_t size = number_at(b, b->n - 8, 4);
    if (size > b->n - 12)
        return -1;
    const unsigned char *end = (const unsigned char *)b->p + b->n - 8;
    thrift t = {.p = end - size, .end = end, .fn = read_footer_field, .ctx = &r};
    read_struct(&t);
    return t.bad || r.bad || t.p != end || r.rows != r.grouped ? -1 : r.rows;
}

/* ---- Arrow ----------------------------------------------------------------------------------- */

/* Where a field of a table begins; 0: it has none. */
static uint64_t flat_field(const bytes *b, uint64_t table, unsigned field)
{
    const uint64_t vtable = table - (uint64_t)(int64_t)(int32_t)number_at(b, table, 4);
    const uint64_t at = 4 + 2 * (uint64_t)field;
    const uint64_t offset = at < number_at(b, vtable, 2) ? number_at(b, vtable + at, 2) : 0;
    return offset ? table + offset : 0;
}

/* The messages of a file one after the other; the footer behind them must know as many batches. */
static int64_t count_arrow_rows(const bytes *b)
{
    enum { RECORD_BATCH = 3, MAGIC = 6 };
    int64_t rows = 0;
    uint64_t at = 8, batches = 0;
    if (b->n < 32 || memcmp(b->p, "ARROW1", MAGIC) != 0 ||
        memcmp(b->p + b->n - MAGIC, "ARROW1", MAGIC) != 0)
        return -1;
    for (;; at += 8) {
        const uint64_t size = number_at(b, at + 4, 4), message = at + 8;
        if (number_at(b, at, 4) != UINT32_MAX || size > b->n - message)
            return -1;
        if (!size)
            break;
        const uint64_t table = message + number_at(b, message, 4);
        const uint64_t type = flat_field(b, table, 1), head = flat_field(b, table, 2),
                       body = flat_field(b, table, 3);
        if (type && number_at(b, type, 1) == RECORD_BATCH) {
            const uint64_t batch = head + number_at(b, head, 4);
            const uint64_t length = flat_field(b, batch, 0);
            rows += length ? (int64_t)number_at(b, length, 8) : 0;
            batches++;
        }
        const uint64_t bytes_behind = body ? number_at(b, body, 8) : 0;
        if (bytes_behind > b->n - message - size)
            return -1;
        at += size + bytes_behind;
    }
    const uint64_t footer = b->n - MAGIC - 4 - number_at(b, b->n - MAGIC - 4, 4);
    const uint64_t table = footer + number_at(b, footer, 4), list = flat_field(b, table, 3);
    const uint64_t known = list ? number_at(b, list + number_at(b, list, 4), 4) : 0;
    return known == batches ? rows : -1;
}

/* ---- JSON lines ------------------------------------------------------------------------------ */

static void ignore_event(void *ctx, const json_event *e)
{
    (void)ctx, (void)e;
}

static int64_t count_json_lines(const bytes *b)
{
    int64_t rows = 0;
    for (const char *p = b->p, *end; p < b->p + b->n; p = end + 1, rows++) {
        end = memchr(p, '\n', (size_t)(b->p + b->n - p));
        if (!end || !json_walk(p, (size_t)(end - p), ignore_event, NULL))
            return -1;
    }
    return rows;
}

/* ---- a folder of files, one for each kind ---------------------------------------------------- */

typedef struct export_reader {
    counts *c;
    char *why;
    size_t size;
} export_reader;

static void count_export_file(void *ctx, const char *path)
{
    static const struct {
        const char *ending;
        int64_t (*count)(const bytes *b);
    } formats[] = {{".parquet", count_parquet_rows},
                   {".arrow", count_arrow_rows},
                   {".jsonl", count_json_lines}};
    /* -1: definitions. */
    static const struct {
        const char *name;
        int kind;
    } tables[] = {{"o_kernel.", KIND_KERNEL},
                  {"o_region.", KIND_CALL},
                  {"o_marker.", KIND_CALL},
                  {"o_memory_copy.", KIND_COPY},
                  {"o_memory_allocation.", KIND_ALLOC},
                  {"o_scratch.", KIND_SCRATCH},
                  {"o_graph.", KIND_GRAPH},
                  {"o_hip_event.", KIND_HIP_EVENT},
                  {"o_barrier.", KIND_BARRIER},
                  {"o_counter.", KIND_COUNTER},
                  {"o_sample.", KIND_SAMPLE},
                  {"o_node.", -1},
                  {"o_process.", -1},
                  {"o_thread.", -1},
                  {"o_agent.", -1},
                  {"o_queue.", -1},
                  {"o_stream.", -1},
                  {"o_kernel_symbol.", -1},
                  {"o_counter_info.", -1}};
    export_reader *r = ctx;
    const char *name = strrchr(path, '/') + 1, *ending = strrchr(name, '.');
    for (size_t i = 0; ending && i < sizeof tables / sizeof *tables; i++)
        for (size_t k = 0; k < sizeof formats / sizeof *formats; k++) {
            bytes b = {NULL, 0};
            if (strncmp(name, tables[i].name, strlen(tables[i].name)) != 0 ||
                strcmp(ending, formats[k].ending) != 0)
                continue;
            const int64_t n = bytes_read(&b, path) ? formats[k].count(&b) : -1;
            free(b.p);
            if (n < 0)
                snprintf(r->why, r->size, "%s is no sound file", path);
            else if (tables[i].kind >= 0)
                r->c->of[tables[i].kind] += n;
            return;
        }
    snprintf(r->why, r->size, "%s: what is that?", path);
}

void count_export(counts *c, const char *folder, char *why, size_t size)
{
    export_reader r = {c, why, size};
    counts_clear(c);
    if (is_folder(folder))
        list_folder(folder, count_export_file, &r);
    counts_add_up(c);
}
