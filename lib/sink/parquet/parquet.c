/* Parquet. A file is "PAR1", row groups of a chunk for each column, the footer, its length, "PAR1".
 * A chunk is a page with a dictionary, if it has one, and a page with the values. The structs in
 * between are Thrift's compact protocol.
 *
 * All columns are optional, as anything may be unknown. Texts are dictionaries; of numbers columns
 * of few values are, too, others are differences (integers) or plain (doubles). */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/deflate.h"
#include "base/error.h"
#include "base/without.h"
#include "base/zstd.h"
#include "sink/columnar/columnar.h"
#include "sink/parquet/encode.h"
#include "trace/joint.h"

enum {
    FEW_VALUES = 256, /* of numbers, in a dictionary */
    SLOTS = 1024,     /* of the hash table over them */
    STATISTIC = 64,   /* bytes of a text that is the least or greatest, at most */
    ZSTD_LEVEL = 3,
    PAGE_MAX = 1 << 30,
    RUN_LEAST = 8, /* rows that are a run for themselves */
};

#define MAGIC "PAR1"
enum { MAGIC_SIZE = sizeof MAGIC - 1 };

enum { TYPE_INT64 = 2, TYPE_DOUBLE = 5, TYPE_BYTE_ARRAY = 6 };
enum { PLAIN = 0, RLE = 3, DELTA_BINARY_PACKED = 5, RLE_DICTIONARY = 8 };
enum { CODEC_NONE = 0, CODEC_GZIP = 2, CODEC_ZSTD = 6 };
enum { DATA_PAGE = 0, DICTIONARY_PAGE = 2 };

/* A column of a row group: what the footer says of it. */
typedef struct chunk {
    const struct rocl_columnar_file *file;
    rocl_cell_type type;
    size_t rows, nulls;
    bool has_dictionary, has_bounds;
    uint8_t encoding;
    uint64_t offset;          /* in the file, when all are known */
    uint64_t dictionary_size; /* of its page */
    uint64_t size, unpacked;  /* of all pages, with their headers */
    uint8_t least[STATISTIC], greatest[STATISTIC];
    uint32_t least_size, greatest_size;
} chunk;

typedef struct group {
    chunk **chunks; /* by column */
    size_t rows;
    bool sorted; /* by start */
} group;

typedef struct parquet_file {
    group *groups;
    size_t count, capacity;
} parquet_file;

typedef struct worker {
    alignas(ROCL_CACHE_LINE) rocl_dictionary texts;
    rocl_buf plain;  /* body of the dictionary */
    rocl_buf values; /* of the data */
    rocl_buf page;   /* one of them, packed */
    rocl_buf scratch;
    uint32_t *indexes; /* ROCL_COLUMNAR_GROUP_ROWS of each */
    int64_t *known;
} worker;

typedef struct parquet {
    rocl_columnar_run *run;
    worker *workers;
    unsigned count;
    int codec, level;
} parquet;

/* ---- Thrift ---------------------------------------------------------------------------------- */

enum { T_TRUE = 1, T_FALSE = 2, T_I32 = 5, T_I64 = 6, T_BINARY = 8, T_LIST = 9, T_STRUCT = 12 };

/* Fields ascend within a struct; `last` is the field before. */
static void put_field(rocl_buf *to, int *last, int field, int type)
{
    rocl_buf_byte(to, (uint8_t)((field - *last) << 4 | type));
    *last = field;
}

static void put_int(rocl_buf *to, int *last, int field, int type, int64_t v)
{
    put_field(to, last, field, type);
    rocl_buf_varint(to, rocl_zigzag(v));
}

static void put_binary(rocl_buf *to, const void *p, size_t n)
{
    rocl_buf_varint(to, n);
    rocl_buf_put(to, p, n);
}

static void put_text(rocl_buf *to, int *last, int field, const char *s)
{
    put_field(to, last, field, T_BINARY);
    put_binary(to, s, strlen(s));
}

static void put_list(rocl_buf *to, int *last, int field, int type, size_t n)
{
    put_field(to, last, field, T_LIST);
    rocl_buf_byte(to, (uint8_t)((n < 15 ? n : 15) << 4 | (unsigned)type));
    if (n >= 15)
        rocl_buf_varint(to, n);
}

static void end_struct(rocl_buf *to)
{
    rocl_buf_byte(to, 0);
}

/* ---- pages ----------------------------------------------------------------------------------- */

/* Appends the header and the body, packed, and adds to the sizes of the chunk. */
static rocl_status put_page(const parquet *q, worker *w, chunk *c, rocl_buf *to, int type,
                            size_t values, int encoding, const rocl_buf *body, rocl_error *err)
{
    const rocl_buf *packed = body;
    rocl_status st = ROCL_OK;
    int last = 0;
    if (body->len > PAGE_MAX)
        return rocl_fail(err, ROCL_OUTPUT,
                         "the texts of %s are too long for Parquet: more than 1 GiB in %zu rows",
                         c->file->relation->name, c->rows);
    w->page.len = 0;
    if (q->codec != CODEC_NONE) {
        st = q->codec == CODEC_ZSTD
                 ? rocl_zstd_frame(&w->page, body->data, body->len, q->level, err)
                 : rocl_gzip_member(&w->page, body->data, body->len, q->level, err);
        packed = &w->page;
    }
    const size_t before = to->len;
    put_int(to, &last, 1, T_I32, type);
    put_int(to, &last, 2, T_I32, (int64_t)body->len);
    put_int(to, &last, 3, T_I32, (int64_t)packed->len);
    put_field(to, &last, type == DATA_PAGE ? 5 : 7, T_STRUCT);
    last = 0;
    put_int(to, &last, 1, T_I32, (int64_t)values);
    put_int(to, &last, 2, T_I32, encoding);
    if (type == DATA_PAGE) {
        put_int(to, &last, 3, T_I32, RLE);
        put_int(to, &last, 4, T_I32, RLE);
    }
    end_struct(to);
    end_struct(to);
    c->unpacked += to->len - before + body->len;
    rocl_buf_put(to, packed->data, packed->len);
    c->size += to->len - before;
    return st;
}

/* Which rows are known: runs of 0 and 1, and their length before. */
static void put_levels(worker *w, const int64_t *cells, const chunk *c)
{
    rocl_buf *to = &w->values;
    to->len = 0;
    rocl_buf_put(to, "\0\0\0", 4);
    if (!c->nulls || (c->nulls == c->rows && c->rows >= RUN_LEAST)) {
        rocl_parquet_put_run(to, !c->nulls, c->rows, 1);
    } else {
        for (size_t i = 0; i < c->rows; i++)
            w->indexes[i] = cells[i] != ROCL_CELL_NULL;
        rocl_parquet_put_runs(to, w->indexes, c->rows, 1);
    }
    if (!to->failed)
        rocl_le32_set(to->data, (uint32_t)(to->len - 4));
}

/* ---- columns --------------------------------------------------------------------------------- */

/* Indexes of values, in the order in which they come, as long as there are few; else 0. */
static size_t index_values(const int64_t *values, size_t n, int64_t few[FEW_VALUES],
                           uint32_t *indexes)
{
    uint16_t slots[SLOTS] = {0};
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        if (i && values[i] == values[i - 1]) {
            indexes[i] = indexes[i - 1];
            continue;
        }
        size_t at = (size_t)((uint64_t)values[i] * 0x9e3779b97f4a7c15 >> 54) % SLOTS;
        while (slots[at] && few[slots[at] - 1] != values[i])
            at = (at + 1) % SLOTS;
        if (!slots[at]) {
            if (count == FEW_VALUES)
                return 0;
            few[count++] = values[i];
            slots[at] = (uint16_t)count;
        }
        indexes[i] = slots[at] - 1u;
    }
    return count;
}

static void set_bounds(chunk *c, const void *least, size_t least_size, const void *greatest,
                       size_t greatest_size)
{
    c->has_bounds = least_size <= STATISTIC && greatest_size <= STATISTIC;
    if (!c->has_bounds)
        return;
    c->least_size = (uint32_t)least_size;
    c->greatest_size = (uint32_t)greatest_size;
    memcpy(c->least, least, least_size);
    memcpy(c->greatest, greatest, greatest_size);
}

static void set_number_bounds(chunk *c, const int64_t *values, size_t n)
{
    int64_t least = values[0], greatest = values[0];
    double low = rocl_cell_real(least), high = low;
    for (size_t i = 1; c->type == ROCL_CELL_INTEGER && i < n; i++) {
        least = values[i] < least ? values[i] : least;
        greatest = values[i] > greatest ? values[i] : greatest;
    }
    if (c->type == ROCL_CELL_INTEGER) {
        rocl_le64_all(&least, 1);
        rocl_le64_all(&greatest, 1);
        set_bounds(c, &least, sizeof least, &greatest, sizeof greatest);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        const double v = rocl_cell_real(values[i]);
        low = v < low ? v : low;
        high = v > high ? v : high;
    }
    low = low == 0 ? -0.0 : low; /* the format wants them so, as zeros are equal */
    rocl_le64_all(&low, 1);
    rocl_le64_all(&high, 1);
    set_bounds(c, &low, sizeof low, &high, sizeof high);
}

/* The dictionary of texts as a page's body, and which of them come first and last by their bytes.
 */
static rocl_status put_texts(const parquet *q, worker *w, chunk *c, rocl_error *err)
{
    const char *least = "", *greatest = "";
    size_t least_size = 0, greatest_size = 0;
    w->page.len = w->plain.len = 0;
    for (size_t i = 0; i < w->texts.count; i++) {
        size_t n;
        const char *s = rocl_columnar_text(q->run->strings, w->texts.texts[i], &n, &w->scratch);
        if (w->plain.len + n > PAGE_MAX)
            return rocl_fail(
                err, ROCL_OUTPUT,
                "the texts of %s are too long for Parquet: more than 1 GiB in %zu rows",
                c->file->relation->name, c->rows);
        rocl_buf_le32(&w->plain, (uint32_t)n);
        rocl_buf_put(&w->plain, s, n);
        if (w->scratch.failed || w->plain.failed)
            return rocl_fail_memory(err);
    }
    /* Bounds only of texts that are as they are in the dictionary, which does not move any more. */
    for (size_t at = 0; at < w->plain.len;) {
        const uint32_t n = rocl_le32(w->plain.data + at);
        const char *s = (const char *)w->plain.data + at + sizeof n;
        const int low = at ? memcmp(s, least, n < least_size ? n : least_size) : -1;
        const int high = at ? memcmp(s, greatest, n < greatest_size ? n : greatest_size) : 1;
        if (low < 0 || (!low && n < least_size)) {
            least = s;
            least_size = n;
        }
        if (high > 0 || (!high && n > greatest_size)) {
            greatest = s;
            greatest_size = n;
        }
        at += sizeof n + n;
    }
    if (w->texts.count)
        set_bounds(c, least, least_size, greatest, greatest_size);
    return ROCL_OK;
}

/* Most columns of a group have one value: its process, host, domain. */
static bool are_equal(const int64_t *cells, size_t n)
{
    for (size_t i = 0; i < n;) {
        const size_t end = n - i < 512 ? n : i + 512;
        int64_t differences = 0;
        for (; i < end; i++)
            differences |= cells[i] ^ cells[0];
        if (differences)
            return false;
    }
    return true;
}

static rocl_status encode_chunk(void *ctx, unsigned number, rocl_block *block, rocl_error *err)
{
    parquet *q = ctx;
    worker *w = &q->workers[number];
    chunk *c = block->user;
    const int64_t *cells = (const int64_t *)(const void *)block->in.data, *values = cells;
    int64_t few[FEW_VALUES];
    size_t n = 0, distinct = 0;
    rocl_status st = ROCL_OK;
    if (!w->indexes) {
        w->indexes = malloc(ROCL_COLUMNAR_GROUP_ROWS * sizeof *w->indexes);
        w->known = malloc(ROCL_COLUMNAR_GROUP_ROWS * sizeof *w->known);
        if (!w->indexes || !w->known)
            return rocl_fail_memory(err);
    }
    const bool equal = c->rows >= RUN_LEAST && are_equal(cells, c->rows);
    if (equal)
        c->nulls = *cells == ROCL_CELL_NULL ? c->rows : 0;
    for (size_t i = 0; !equal && i < c->rows; i++)
        c->nulls += cells[i] == ROCL_CELL_NULL;
    put_levels(w, cells, c);
    n = c->rows - c->nulls;
    const size_t looked_at = equal && n ? 1 : n;
    if (c->nulls && n) {
        size_t at = 0;
        for (size_t i = 0; i < c->rows; i++) {
            w->known[at] = cells[i];
            at += cells[i] != ROCL_CELL_NULL; /* fewer than the rows: some are not known */
        }
        values = w->known;
    }
    if (c->type == ROCL_CELL_TEXT) {
        rocl_dictionary_clear(&w->texts);
        for (size_t i = 0; i < looked_at; i++) {
            if (i && values[i] == values[i - 1])
                w->indexes[i] = w->indexes[i - 1];
            else if (!rocl_dictionary_add(&w->texts, (uint32_t)values[i], &w->indexes[i]))
                return rocl_fail_memory(err);
        }
        distinct = w->texts.count;
        st = put_texts(q, w, c, err);
    } else if (n) {
        set_number_bounds(c, values, looked_at);
        distinct = index_values(values, looked_at, few, w->indexes);
        w->plain.len = 0;
        rocl_le64_all(few, distinct);
        rocl_buf_put(&w->plain, few, distinct * sizeof *few);
    }
    c->has_dictionary = c->type == ROCL_CELL_TEXT || distinct;
    if (st == ROCL_OK && c->has_dictionary) {
        st = put_page(q, w, c, &block->out, DICTIONARY_PAGE, distinct, PLAIN, &w->plain, err);
        c->dictionary_size = block->out.len;
        c->encoding = RLE_DICTIONARY;
        const unsigned width = rocl_parquet_width(distinct);
        rocl_buf_byte(&w->values, (uint8_t)width);
        if (equal && n)
            rocl_parquet_put_run(&w->values, 0, n, width);
        else
            rocl_parquet_put_runs(&w->values, w->indexes, n, width);
    } else if (c->type == ROCL_CELL_INTEGER) {
        c->encoding = DELTA_BINARY_PACKED;
        rocl_parquet_put_deltas(&w->values, values, n);
    } else {
        c->encoding = PLAIN;
        const size_t before = w->values.len;
        rocl_buf_put(&w->values, values, n * sizeof *values);
        if (!w->values.failed)
            rocl_le64_all(w->values.data + before, n);
    }
    if (st == ROCL_OK && (w->values.failed || w->plain.failed))
        st = rocl_fail_memory(err);
    if (st == ROCL_OK)
        st = put_page(q, w, c, &block->out, DATA_PAGE, c->rows, c->encoding, &w->values, err);
    return st;
}

static rocl_status write_chunk(void *ctx, rocl_block *block, rocl_error *err)
{
    const chunk *c = block->user;
    (void)ctx;
    return rocl_out_write(c->file->out, block->out.data, block->out.len, err);
}

/* ---- files ----------------------------------------------------------------------------------- */

static rocl_status begin_file(void *ctx, rocl_columnar_file *f, rocl_error *err)
{
    const parquet *q = ctx;
    parquet_file *p = calloc(1, sizeof *p);
    if (!p)
        return rocl_fail_memory(err);
    f->own = p;
    return rocl_joint_head(q->run->trace, f->out, MAGIC, MAGIC_SIZE, err);
}

/* Empty; NULL: memory is out. */
static group *add_group(rocl_columnar_file *f, size_t rows, bool sorted)
{
    parquet_file *p = f->own;
    chunk **chunks = calloc(f->column_count, sizeof *chunks);
    if (!chunks || !ROCL_GROW(p->groups, p->capacity, p->count + 1)) {
        free(chunks);
        return NULL;
    }
    group *g = &p->groups[p->count++];
    *g = (group){chunks, rows, sorted};
    for (unsigned i = 0; i < f->column_count; i++) {
        if (!(chunks[i] = calloc(1, sizeof **chunks)))
            return NULL;
        *chunks[i] = (chunk){.file = f, .type = f->columns[i]->type, .rows = rows};
    }
    return g;
}

static rocl_status put_group(void *ctx, rocl_columnar_file *f, rocl_error *err)
{
    parquet *q = ctx;
    const int64_t *start = NULL;
    for (unsigned i = 0; i < f->column_count && !start; i++)
        if (f->relation->kinds && !strcmp(f->columns[i]->name, "start"))
            start = f->cells[i];
    bool sorted = start;
    for (size_t i = 1; sorted && i < f->group_rows; i++)
        sorted = start[i] >= start[i - 1] && start[i - 1] != ROCL_CELL_NULL;
    const group *g = add_group(f, f->group_rows, sorted);
    rocl_status st = g ? ROCL_OK : rocl_fail_memory(err);
    for (unsigned i = 0; i < f->column_count && st == ROCL_OK; i++)
        st = rocl_columnar_put_column(q->run, f, i, g->chunks[i], err);
    return st;
}

static int type_of(rocl_cell_type type)
{
    return type == ROCL_CELL_INTEGER ? TYPE_INT64
           : type == ROCL_CELL_REAL  ? TYPE_DOUBLE
                                     : TYPE_BYTE_ARRAY;
}

static void put_chunk_metadata(rocl_buf *to, const parquet *q, const rocl_relation_column *column,
                               const chunk *c)
{
    int last = 0;
    put_int(to, &last, 2, T_I64, 0);
    put_field(to, &last, 3, T_STRUCT);
    last = 0;
    put_int(to, &last, 1, T_I32, type_of(column->type));
    put_list(to, &last, 2, T_I32, c->has_dictionary ? 3 : 2);
    rocl_buf_varint(to, rocl_zigzag(RLE));
    if (c->has_dictionary)
        rocl_buf_varint(to, rocl_zigzag(PLAIN));
    rocl_buf_varint(to, rocl_zigzag(c->encoding));
    put_list(to, &last, 3, T_BINARY, 1);
    put_binary(to, column->name, strlen(column->name));
    put_int(to, &last, 4, T_I32, q->codec);
    put_int(to, &last, 5, T_I64, (int64_t)c->rows);
    put_int(to, &last, 6, T_I64, (int64_t)c->unpacked);
    put_int(to, &last, 7, T_I64, (int64_t)c->size);
    put_int(to, &last, 9, T_I64, (int64_t)(c->offset + c->dictionary_size));
    if (c->has_dictionary)
        put_int(to, &last, 11, T_I64, (int64_t)c->offset);
    put_field(to, &last, 12, T_STRUCT);
    last = 0;
    put_int(to, &last, 3, T_I64, (int64_t)c->nulls);
    if (c->has_bounds) {
        put_field(to, &last, 5, T_BINARY);
        put_binary(to, c->greatest, c->greatest_size);
        put_field(to, &last, 6, T_BINARY);
        put_binary(to, c->least, c->least_size);
    }
    end_struct(to);
    end_struct(to);
    end_struct(to);
}

static void put_group_metadata(rocl_buf *to, const parquet *q, const rocl_columnar_file *f,
                               const group *g)
{
    int last = 0;
    uint64_t bytes = 0;
    put_list(to, &last, 1, T_STRUCT, f->column_count);
    for (unsigned i = 0; i < f->column_count; i++) {
        put_chunk_metadata(to, q, f->columns[i], g->chunks[i]);
        bytes += g->chunks[i]->unpacked;
    }
    put_int(to, &last, 2, T_I64, (int64_t)bytes);
    put_int(to, &last, 3, T_I64, (int64_t)g->rows);
    for (unsigned i = 0; g->sorted && i < f->column_count; i++) {
        if (strcmp(f->columns[i]->name, "start") != 0)
            continue;
        put_list(to, &last, 4, T_STRUCT, 1);
        last = 0;
        put_int(to, &last, 1, T_I32, i);
        put_field(to, &last, 2, T_FALSE); /* descending */
        put_field(to, &last, 3, T_FALSE); /* nulls first */
        end_struct(to);
        break;
    }
    end_struct(to);
}

static void put_schema(rocl_buf *to, const rocl_columnar_file *f)
{
    int last = 0;
    put_text(to, &last, 4, f->relation->name);
    put_int(to, &last, 5, T_I32, f->column_count);
    end_struct(to);
    for (unsigned i = 0; i < f->column_count; i++) {
        last = 0;
        put_int(to, &last, 1, T_I32, type_of(f->columns[i]->type));
        put_int(to, &last, 3, T_I32, 1); /* optional */
        put_text(to, &last, 4, f->columns[i]->name);
        if (f->columns[i]->type == ROCL_CELL_TEXT) {
            put_int(to, &last, 6, T_I32, 0); /* UTF8 */
            put_field(to, &last, 10, T_STRUCT);
            last = 0;
            put_field(to, &last, 1, T_STRUCT); /* STRING */
            end_struct(to);
            end_struct(to);
        }
        end_struct(to);
    }
}

static rocl_status end_file(void *ctx, rocl_columnar_file *f, rocl_error *err)
{
    const parquet *q = ctx;
    const parquet_file *p = f->own;
    rocl_buf to = {0};
    const char *key, *value;
    unsigned pairs = 0;
    int last = 0;
    uint64_t at = MAGIC_SIZE;
    for (size_t i = 0; i < p->count; i++)
        for (unsigned c = 0; c < f->column_count; c++) { /* pages follow each other */
            p->groups[i].chunks[c]->offset = at;
            at += p->groups[i].chunks[c]->size;
        }
    put_int(&to, &last, 1, T_I32, 1);
    put_list(&to, &last, 2, T_STRUCT, f->column_count + 1);
    put_schema(&to, f);
    put_int(&to, &last, 3, T_I64, (int64_t)f->rows);
    put_list(&to, &last, 4, T_STRUCT, p->count);
    for (size_t i = 0; i < p->count; i++)
        put_group_metadata(&to, q, f, &p->groups[i]);
    while (rocl_columnar_metadata(pairs, &key, &value))
        pairs++;
    put_list(&to, &last, 5, T_STRUCT, pairs);
    for (unsigned i = 0; rocl_columnar_metadata(i, &key, &value); i++) {
        int of_pair = 0;
        put_text(&to, &of_pair, 1, key);
        put_text(&to, &of_pair, 2, value);
        end_struct(&to);
    }
    put_text(&to, &last, 6, "rocline version " ROCLINE_VERSION);
    /* Least and greatest values are by the order of the type: readers want to be told. */
    put_list(&to, &last, 7, T_STRUCT, f->column_count);
    for (unsigned i = 0; i < f->column_count; i++) {
        int of_order = 0;
        put_field(&to, &of_order, 1, T_STRUCT);
        end_struct(&to);
        end_struct(&to);
    }
    end_struct(&to);
    rocl_buf_le32(&to, (uint32_t)to.len);
    rocl_buf_str(&to, MAGIC);
    rocl_status st =
        to.failed ? rocl_fail_memory(err) : rocl_out_write(f->out, to.data, to.len, err);
    rocl_buf_free(&to);
    return st;
}

static void forget_groups(rocl_columnar_file *f)
{
    parquet_file *p = f->own;
    for (size_t i = 0; i < p->count; i++) {
        for (unsigned c = 0; c < f->column_count; c++)
            free(p->groups[i].chunks[c]);
        free(p->groups[i].chunks);
    }
    p->count = 0;
}

static void free_file(void *ctx, rocl_columnar_file *f)
{
    (void)ctx;
    parquet_file *p = f->own;
    forget_groups(f);
    free(p->groups);
    free(p);
}

/* ---- in a team ------------------------------------------------------------------------------- */

static uint32_t take_bound(rocl_byte_reader *r, uint8_t *to)
{
    const uint64_t n = rocl_next_number(r);
    const uint8_t *p = n <= STATISTIC ? rocl_next_bytes(r, n) : NULL;
    r->bad |= !p;
    if (p)
        memcpy(to, p, n);
    return p ? (uint32_t)n : 0;
}

static void put_groups(void *ctx, rocl_columnar_file *f, rocl_buf *to)
{
    const parquet_file *p = f->own;
    (void)ctx;
    rocl_buf_varint(to, p->count);
    for (size_t i = 0; i < p->count; i++) {
        rocl_buf_varint(to, p->groups[i].rows);
        rocl_buf_byte(to, p->groups[i].sorted);
        for (unsigned k = 0; k < f->column_count; k++) {
            const chunk *c = p->groups[i].chunks[k];
            rocl_buf_varint(to, c->nulls);
            rocl_buf_byte(to, c->has_dictionary);
            rocl_buf_byte(to, c->has_bounds);
            rocl_buf_byte(to, c->encoding);
            rocl_buf_varint(to, c->dictionary_size);
            rocl_buf_varint(to, c->size);
            rocl_buf_varint(to, c->unpacked);
            put_binary(to, c->least, c->least_size);
            put_binary(to, c->greatest, c->greatest_size);
        }
    }
    forget_groups(f);
}

static rocl_status take_groups(void *ctx, rocl_columnar_file *f, unsigned rank,
                               rocl_byte_reader *from, rocl_error *err)
{
    (void)ctx, (void)rank;
    for (uint64_t n = rocl_next_number(from); n && !from->bad; n--) {
        const size_t rows = (size_t)rocl_next_number(from);
        const group *g = add_group(f, rows, rocl_next_number(from));
        if (!g)
            return rocl_fail_memory(err);
        for (unsigned k = 0; k < f->column_count; k++) {
            chunk *c = g->chunks[k];
            c->nulls = (size_t)rocl_next_number(from);
            c->has_dictionary = rocl_next_number(from);
            c->has_bounds = rocl_next_number(from);
            c->encoding = (uint8_t)rocl_next_number(from);
            c->dictionary_size = rocl_next_number(from);
            c->size = rocl_next_number(from);
            c->unpacked = rocl_next_number(from);
            c->least_size = take_bound(from, c->least);
            c->greatest_size = take_bound(from, c->greatest);
        }
    }
    return ROCL_OK;
}

/* ---- the run --------------------------------------------------------------------------------- */

static rocl_status open_parquet(void **ctx, rocl_columnar_run *run, rocl_error *err)
{
    const rocl_export_options *o = run->options;
    parquet *q = calloc(1, sizeof *q);
    if (!q)
        return rocl_fail_memory(err);
    *ctx = q;
    q->run = run;
    q->count = rocl_columnar_workers(run);
    if (o->level == ROCL_UNCOMPRESSED || o->codec == ROCL_CODEC_NONE)
        q->codec = CODEC_NONE;
    else if (o->codec == ROCL_CODEC_GZIP || (o->codec == ROCL_CODEC_DEFAULT && !rocl_has_zstd()))
        q->codec = CODEC_GZIP;
    else
        q->codec = CODEC_ZSTD;
    if (q->codec == CODEC_ZSTD && !rocl_has_zstd())
        return rocl_fail(err, ROCL_USAGE, ROCL_BUILT_WITHOUT("libzstd"));
    q->level = rocl_level_or(o->level, q->codec == CODEC_GZIP ? ROCL_GZIP_LEVEL : ZSTD_LEVEL);
    q->workers = rocl_cache_line_calloc(q->count, sizeof *q->workers);
    return q->workers ? ROCL_OK : rocl_fail_memory(err);
}

static void close_parquet(void *ctx)
{
    parquet *q = ctx;
    for (unsigned i = 0; q->workers && i < q->count; i++) {
        worker *w = &q->workers[i];
        rocl_dictionary_free(&w->texts);
        rocl_buf_free(&w->plain);
        rocl_buf_free(&w->values);
        rocl_buf_free(&w->page);
        rocl_buf_free(&w->scratch);
        free(w->indexes);
        free(w->known);
    }
    free(q->workers);
    free(q);
}

const rocl_columnar_format rocl_parquet_format = {
    .ending = ".parquet",
    .group_rows = ROCL_COLUMNAR_GROUP_ROWS,
    .pipe = {encode_chunk, write_chunk},
    .open = open_parquet,
    .close = close_parquet,
    .begin_file = begin_file,
    .put_group = put_group,
    .end_file = end_file,
    .free_file = free_file,
    .put_groups = put_groups,
    .take_groups = take_groups,
};
