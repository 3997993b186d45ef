/* Arrow IPC, as a file (Feather V2) and as a stream: messages, each a flatbuffer and a body. First
 * the schema, then the dictionaries of all text columns, then batches of rows. Readers differ in
 * whether they take dictionaries that change or come late. So that all read ours, bodies of batches
 * are kept (in memory, and in a temporary file beyond its limit) until all texts are known: then
 * every dictionary stands once, whole, before the first batch.
 *
 *     message   ff ff ff ff | i32 bytes of the flatbuffer, padded | flatbuffer | body
 *     stream    messages | ff ff ff ff 00 00 00 00
 *     file      "ARROW1" 00 00 | stream | footer | i32 its bytes | "ARROW1"
 *
 * In a team the texts of a rank are those of its own batches first. Rank 0 is told them, capture by
 * capture, makes the dictionaries of the file, and says which index in them each text has. Then it
 * is known how long each batch is: ranks write theirs to their place in the file, and rank 0 all
 * that is around them. */
#include <limits.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/deflate.h"
#include "base/error.h"
#include "base/without.h"
#include "base/zstd.h"
#include "sink/arrow/flat.h"
#include "sink/columnar/columnar.h"
#include "trace/joint.h"

enum {
    ALIGN = 64, /* of buffers in a body, for readers that map the file */
    ZSTD_LEVEL = 3,
};

enum { VERSION_5 = 4 };
enum { SCHEMA = 1, DICTIONARY_BATCH = 2, RECORD_BATCH = 3 };
enum { TYPE_INT = 2, TYPE_FLOATING_POINT = 3, TYPE_UTF8 = 5 };
enum { VALIDITY, VALUES, BUFFERS };

/* Instead of a rank: batches of joined captures with few rows. */
#define JOINED UINT_MAX

/* Indexes in the dictionaries of the file, by index of a rank. */
typedef struct index_map {
    uint32_t *indexes;
    size_t count, capacity;
} index_map;

typedef struct array { /* a column of a batch */
    rocl_cell_type type;
    size_t rows, nulls;
    const index_map *map;  /* its values are indexes of this rank, + 1, or 0; NULL: they are not */
    size_t sizes[BUFFERS]; /* while it is a block */
    rocl_stored buffers[BUFFERS];
} array;

typedef struct batch {
    const struct arrow *arrow;
    const rocl_columnar_file *file;
    array *columns;
    size_t rows;
    const rocl_capture *last; /* that has rows in it */
} batch;

/* The lengths of a message, for the footer: messages follow each other. */
typedef struct message {
    uint32_t head;
    uint64_t body;
} message;

typedef struct messages {
    message *all;
    size_t count, capacity;
} messages;

/* Batches that follow each other in the file. */
typedef struct batches_of {
    unsigned rank;
    size_t count;
} batches_of;

typedef struct arrow_file {
    rocl_dictionary *texts; /* by column */
    batch *batches;
    size_t count, capacity;
    uint64_t begin; /* where the first dictionary is */
    messages dictionaries, records;
    /* in a team: */
    size_t *told; /* by column: texts that rank 0 knows */
    size_t told_batches;
    index_map *own;       /* by column: of this rank */
    rocl_dictionary *all; /* on rank 0: the texts of the file, by column */
    index_map *maps;      /* the same: by rank and column */
    messages *written;    /* the same: by rank, batches */
    batches_of *order;    /* the same: of the file */
    size_t order_count, order_capacity;
} arrow_file;

typedef struct arrow {
    rocl_columnar_run *run;
    bool is_stream;
    int level; /* of zstd; 0: none */
} arrow;

/* ---- columns of a batch, in workers ---------------------------------------------------------- */

/* Appends a buffer of a body; if compressed, after its length. */
static rocl_status put_buffer(const arrow *a, rocl_buf *to, const void *p, size_t n, size_t *size,
                              rocl_error *err)
{
    const size_t before = to->len;
    rocl_status st = ROCL_OK;
    if (a->level && n) {
        rocl_buf_le64(to, n);
        st = rocl_zstd_frame(to, p, n, a->level, err);
    } else {
        rocl_buf_put(to, p, n);
    }
    *size = to->len - before;
    return st;
}

static rocl_status put_validity(const arrow *a, rocl_buf *to, array *c, const int64_t *cells,
                                rocl_error *err)
{
    for (size_t i = 0; i < c->rows; i++)
        c->nulls += cells[i] == ROCL_CELL_NULL;
    if (!c->nulls)
        return ROCL_OK;
    uint8_t *valid = calloc(c->rows / 8 + 1, 1); /* one bit a row */
    if (!valid)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < c->rows; i++)
        valid[i / 8] |= (uint8_t)((cells[i] != ROCL_CELL_NULL) << i % 8);
    rocl_status st = put_buffer(a, to, valid, (c->rows + 7) / 8, &c->sizes[VALIDITY], err);
    free(valid);
    return st;
}

/* Maps indexes of a rank, + 1, to those of the file. */
static void map_indexes(const index_map *map, uint32_t *indexes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        indexes[i] =
            htole32(indexes[i] && indexes[i] <= map->count ? map->indexes[indexes[i] - 1] : 0);
}

/* The cell of a text is its index in the dictionary. */
static rocl_status encode_column(void *ctx, unsigned worker, rocl_block *block, rocl_error *err)
{
    const arrow *a = ctx;
    array *c = block->user;
    int64_t *cells = (int64_t *)(void *)block->in.data;
    (void)worker;
    if (c->map) {
        map_indexes(c->map, (uint32_t *)(void *)block->in.data, c->rows);
        return put_buffer(a, &block->out, block->in.data, block->in.len, &c->sizes[VALUES], err);
    }
    rocl_status st = put_validity(a, &block->out, c, cells, err);
    for (size_t i = 0; c->nulls && i < c->rows; i++)
        cells[i] = cells[i] == ROCL_CELL_NULL ? 0 : cells[i];
    size_t width = sizeof *cells;
    if (c->type == ROCL_CELL_TEXT) {
        /* Indexes are 32 bits: each goes to a place that has been read already. */
        for (size_t i = 0; i < c->rows; i++) {
            const uint32_t index = (uint32_t)cells[i];
            rocl_le32_set((char *)cells + i * sizeof index, index);
        }
        width = sizeof(uint32_t);
    } else {
        rocl_le64_all(cells, c->rows);
    }
    return st ? st : put_buffer(a, &block->out, cells, c->rows * width, &c->sizes[VALUES], err);
}

static rocl_status keep_column(void *ctx, rocl_block *block, rocl_error *err)
{
    const arrow *a = ctx;
    array *c = block->user;
    const uint8_t *p = block->out.data;
    rocl_status st = ROCL_OK;
    for (unsigned i = c->map ? VALUES : VALIDITY; i < BUFFERS && st == ROCL_OK; p += c->sizes[i++])
        st = rocl_space_store(a->run->space, &c->buffers[i], p, c->sizes[i], err);
    return st;
}

/* In a team the indexes in the file are unknown yet: keeps 32-bit indexes of this rank, + 1, or
 * 0. */
static rocl_status keep_indexes(const arrow *a, array *c, const int64_t *cells, rocl_error *err)
{
    rocl_buf valid = {0};
    uint32_t *indexes = malloc((c->rows + 1) * sizeof *indexes);
    rocl_status st = indexes ? put_validity(a, &valid, c, cells, err) : rocl_fail_memory(err);
    if (st == ROCL_OK && valid.failed)
        st = rocl_fail_memory(err);
    for (size_t i = 0; indexes && i < c->rows; i++)
        indexes[i] = cells[i] == ROCL_CELL_NULL ? 0 : (uint32_t)cells[i] + 1;
    if (st == ROCL_OK)
        st = rocl_space_store(a->run->space, &c->buffers[VALIDITY], valid.data, valid.len, err);
    if (st == ROCL_OK)
        st = rocl_space_store(a->run->space, &c->buffers[VALUES], indexes,
                              c->rows * sizeof *indexes, err);
    free(indexes);
    rocl_buf_free(&valid);
    return st;
}

static rocl_status index_texts(rocl_dictionary *d, int64_t *cells, size_t n, rocl_error *err)
{
    for (size_t row = 0; row < n; row++) {
        uint32_t index;
        if (cells[row] == ROCL_CELL_NULL)
            continue;
        if (!rocl_dictionary_add(d, (uint32_t)cells[row], &index))
            return rocl_fail_memory(err);
        cells[row] = index;
    }
    return ROCL_OK;
}

static rocl_status note_order(arrow_file *p, unsigned rank, size_t count, rocl_error *err)
{
    if (!ROCL_GROW(p->order, p->order_capacity, p->order_count + 1))
        return rocl_fail_memory(err);
    p->order[p->order_count++] = (batches_of){rank, count};
    return ROCL_OK;
}

static rocl_status put_group(void *ctx, rocl_columnar_file *f, rocl_error *err)
{
    const arrow *a = ctx;
    arrow_file *p = f->own;
    const bool waits = a->run->trace->joint && !a->run->joins;
    rocl_dictionary *texts = a->run->joins ? p->all : p->texts;
    array *columns = calloc(f->column_count, sizeof *columns);
    if (!columns || !ROCL_GROW(p->batches, p->capacity, p->count + 1)) {
        free(columns);
        return rocl_fail_memory(err);
    }
    p->batches[p->count++] = (batch){a, f, columns, f->group_rows, f->last};
    rocl_status st = a->run->joins ? note_order(p, JOINED, 1, err) : ROCL_OK;
    for (unsigned i = 0; i < f->column_count && st == ROCL_OK; i++) {
        const bool text = f->columns[i]->type == ROCL_CELL_TEXT;
        columns[i] = (array){.type = f->columns[i]->type, .rows = f->group_rows};
        if (text)
            st = index_texts(&texts[i], f->cells[i], f->group_rows, err);
        if (st == ROCL_OK)
            st = text && waits ? keep_indexes(a, &columns[i], f->cells[i], err)
                               : rocl_columnar_put_column(a->run, f, i, &columns[i], err);
    }
    return st;
}

/* ---- messages -------------------------------------------------------------------------------- */

static void put_pairs(rocl_buf *b, size_t from)
{
    const char *key, *value;
    size_t n = 0;
    while (rocl_columnar_metadata((unsigned)n, &key, &value))
        n++;
    const size_t first = rocl_flat_put_vector(b, from, n, 4, 4);
    for (size_t i = 0; rocl_columnar_metadata((unsigned)i, &key, &value); i++) {
        const rocl_flat_table pair = rocl_flat_put_table(b, "44");
        rocl_flat_set(b, first + 4 * i, 4, (int64_t)(pair.at - (first + 4 * i)));
        rocl_flat_refer(b, pair.fields[0]);
        rocl_flat_put_text(b, key);
        rocl_flat_refer(b, pair.fields[1]);
        rocl_flat_put_text(b, value);
    }
}

/* A table that a field refers to. */
static rocl_flat_table put_child(rocl_buf *b, size_t from, const char *sizes)
{
    const rocl_flat_table t = rocl_flat_put_table(b, sizes);
    rocl_flat_set(b, from, 4, (int64_t)(t.at - from));
    return t;
}

static void put_int_type(rocl_buf *b, size_t from, int bits)
{
    const rocl_flat_table type = put_child(b, from, "41");
    rocl_flat_set(b, type.fields[0], 4, bits);
    rocl_flat_set(b, type.fields[1], 1, 1); /* signed */
}

static void put_schema(rocl_buf *b, size_t from, const rocl_columnar_file *f)
{
    const rocl_flat_table schema = put_child(b, from, "244"); /* endianness 0: little */
    const size_t first = rocl_flat_put_vector(b, schema.fields[1], f->column_count, 4, 4);
    for (unsigned i = 0; i < f->column_count; i++) {
        const rocl_cell_type type = f->columns[i]->type;
        const bool text = type == ROCL_CELL_TEXT;
        /* name, nullable, type, its table, dictionary, children */
        const rocl_flat_table field = rocl_flat_put_table(b, text ? "411444" : "411404");
        rocl_flat_set(b, first + 4 * i, 4, (int64_t)(field.at - (first + 4 * i)));
        rocl_flat_set(b, field.fields[1], 1, 1);
        rocl_flat_set(b, field.fields[2], 1,
                      text                     ? TYPE_UTF8
                      : type == ROCL_CELL_REAL ? TYPE_FLOATING_POINT
                                               : TYPE_INT);
        rocl_flat_refer(b, field.fields[0]);
        rocl_flat_put_text(b, f->columns[i]->name);
        if (text) {
            put_child(b, field.fields[3], "");
            const rocl_flat_table encoding = put_child(b, field.fields[4], "841");
            rocl_flat_set(b, encoding.fields[0], 8, i);
            put_int_type(b, encoding.fields[1], 32);
        } else if (type == ROCL_CELL_REAL) {
            const rocl_flat_table real = put_child(b, field.fields[3], "2");
            rocl_flat_set(b, real.fields[0], 2, 2); /* double */
        } else {
            put_int_type(b, field.fields[3], 64);
        }
        rocl_flat_put_vector(b, field.fields[5], 0, 4, 4);
    }
    put_pairs(b, schema.fields[2]);
}

/* A message whose header is to be put where `header` refers from. */
static size_t begin_message(rocl_buf *b, int type, uint64_t body)
{
    rocl_buf_put(b, "\0\0\0", 4);
    const rocl_flat_table m = rocl_flat_put_table(b, "2148");
    rocl_flat_set(b, 0, 4, (int64_t)m.at);
    rocl_flat_set(b, m.fields[0], 2, VERSION_5);
    rocl_flat_set(b, m.fields[1], 1, type);
    rocl_flat_set(b, m.fields[3], 8, (int64_t)body);
    return m.fields[2];
}

static size_t padded_size(size_t n)
{
    return (n + ALIGN - 1) / ALIGN * ALIGN;
}

/* A RecordBatch: its arrays have `buffers` buffers of these sizes, one after the other. */
static void put_batch(rocl_buf *b, size_t from, const arrow *a, size_t rows, const size_t *nulls,
                      size_t arrays, const size_t *sizes, size_t buffers)
{
    const rocl_flat_table t = put_child(b, from, a->level ? "8444" : "844");
    size_t offset = 0;
    rocl_flat_set(b, t.fields[0], 8, (int64_t)rows);
    size_t at = rocl_flat_put_vector(b, t.fields[1], arrays, 16, 8);
    for (size_t i = 0; i < arrays; i++, at += 16) {
        rocl_flat_set(b, at, 8, (int64_t)rows);
        rocl_flat_set(b, at + 8, 8, (int64_t)nulls[i]);
    }
    at = rocl_flat_put_vector(b, t.fields[2], buffers, 16, 8);
    for (size_t i = 0; i < buffers; i++, at += 16) {
        rocl_flat_set(b, at, 8, (int64_t)offset);
        rocl_flat_set(b, at + 8, 8, (int64_t)sizes[i]);
        offset += padded_size(sizes[i]);
    }
    if (a->level) {
        const rocl_flat_table codec = put_child(b, t.fields[3], "11");
        rocl_flat_set(b, codec.fields[0], 1, 1); /* zstd */
    }
}

static rocl_status add_message(messages *to, uint64_t head, uint64_t body, rocl_error *err)
{
    if (!ROCL_GROW(to->all, to->capacity, to->count + 1))
        return rocl_fail_memory(err);
    to->all[to->count++] = (message){(uint32_t)head, body};
    return ROCL_OK;
}

enum { PREFIX = 8 }; /* bytes before a flatbuffer */

static size_t head_size(const rocl_buf *head)
{
    return padded_size(head->len + PREFIX);
}

/* Writes the head of a message. Its body, if any, must follow. */
static rocl_status write_head(rocl_out *out, const rocl_buf *head, rocl_error *err)
{
    static const uint8_t zeros[ALIGN];
    const size_t padded = head_size(head) - PREFIX;
    const uint32_t marks[2] = {UINT32_MAX, htole32((uint32_t)padded)};
    rocl_status st = head->failed ? rocl_fail_memory(err) : ROCL_OK;
    if (st == ROCL_OK)
        st = rocl_out_write(out, marks, sizeof marks, err);
    if (st == ROCL_OK)
        st = rocl_out_write(out, head->data, head->len, err);
    return st ? st : rocl_out_write(out, zeros, padded - head->len, err);
}

static rocl_status write_buffer(rocl_out *out, const void *p, size_t n, rocl_error *err)
{
    static const uint8_t zeros[ALIGN];
    rocl_status st = rocl_out_write(out, p, n, err);
    return st ? st : rocl_out_write(out, zeros, padded_size(n) - n, err);
}

static rocl_status write_dictionary(const arrow *a, rocl_columnar_file *f, unsigned column,
                                    rocl_error *err)
{
    arrow_file *p = f->own;
    const rocl_dictionary *d = a->run->joins ? &p->all[column] : &p->texts[column];
    rocl_buf bytes = {0}, offsets = {0}, body = {0}, head = {0}, scratch = {0};
    size_t sizes[3] = {0}, none = 0;
    rocl_status st = ROCL_OK;
    rocl_buf_le32(&offsets, 0);
    for (size_t i = 0; i < d->count && st == ROCL_OK; i++) {
        size_t n;
        const char *s = rocl_columnar_text(a->run->strings, d->texts[i], &n, &scratch);
        rocl_buf_put(&bytes, s, n);
        if (bytes.len > INT32_MAX)
            st = rocl_fail(err, ROCL_OUTPUT, "the texts of %s.%s are too long for Arrow: 2 GiB",
                           f->relation->name, f->columns[column]->name);
        rocl_buf_le32(&offsets, (uint32_t)bytes.len);
    }
    if (st == ROCL_OK && (bytes.failed || offsets.failed || scratch.failed))
        st = rocl_fail_memory(err);
    if (st == ROCL_OK)
        st = put_buffer(a, &body, offsets.data, offsets.len, &sizes[1], err);
    if (st == ROCL_OK)
        st = put_buffer(a, &body, bytes.data, bytes.len, &sizes[2], err);
    if (st == ROCL_OK && body.failed)
        st = rocl_fail_memory(err);
    if (st == ROCL_OK) {
        const uint64_t length = padded_size(sizes[1]) + padded_size(sizes[2]);
        const rocl_flat_table t =
            put_child(&head, begin_message(&head, DICTIONARY_BATCH, length), "841");
        rocl_flat_set(&head, t.fields[0], 8, column);
        put_batch(&head, t.fields[1], a, d->count, &none, 1, sizes, 3);
        st = add_message(&p->dictionaries, head_size(&head), length, err);
    }
    if (st == ROCL_OK)
        st = write_head(f->out, &head, err);
    if (st == ROCL_OK)
        st = write_buffer(f->out, body.data, sizes[1], err);
    if (st == ROCL_OK)
        st = write_buffer(f->out, body.data + sizes[1], sizes[2], err);
    rocl_buf_free(&bytes);
    rocl_buf_free(&offsets);
    rocl_buf_free(&body);
    rocl_buf_free(&head);
    rocl_buf_free(&scratch);
    return st;
}

/* The head of a batch, and how long its body is. */
static rocl_status put_batch_head(const batch *b, rocl_buf *head, uint64_t *body, rocl_error *err)
{
    const unsigned n = b->file->column_count;
    size_t *nulls = calloc(n, sizeof *nulls);
    size_t *sizes = calloc((size_t)BUFFERS * n, sizeof *sizes);
    const bool memory = nulls && sizes;
    *body = 0;
    for (unsigned i = 0; memory && i < n; i++) {
        nulls[i] = b->columns[i].nulls;
        for (unsigned k = 0; k < BUFFERS; k++) {
            sizes[BUFFERS * i + k] = b->columns[i].buffers[k].size;
            *body += padded_size(b->columns[i].buffers[k].size);
        }
    }
    if (memory)
        put_batch(head, begin_message(head, RECORD_BATCH, *body), b->arrow, b->rows, nulls, n,
                  sizes, (size_t)BUFFERS * n);
    free(nulls);
    free(sizes);
    return memory && !head->failed ? ROCL_OK : rocl_fail_memory(err);
}

/* Uncompressed indexes of a rank become those of the file when they are written. */
static rocl_status write_values(const batch *b, const array *c, unsigned kind, rocl_buf *scratch,
                                rocl_out *out, rocl_error *err)
{
    const uint8_t *bytes;
    rocl_status st = rocl_space_load(b->arrow->run->space, &c->buffers[kind], scratch, &bytes, err);
    if (st == ROCL_OK && kind == VALUES && c->map && !b->arrow->level) {
        if (bytes != scratch->data) {
            scratch->len = 0;
            rocl_buf_put(scratch, bytes, c->buffers[kind].size);
            if (scratch->failed)
                return rocl_fail_memory(err);
        }
        map_indexes(c->map, (uint32_t *)(void *)scratch->data, c->rows);
        bytes = scratch->data;
    }
    return st ? st : write_buffer(out, bytes, c->buffers[kind].size, err);
}

static rocl_status write_batch(void *ctx, rocl_out *out, rocl_error *err)
{
    batch *b = ctx;
    uint64_t body;
    rocl_buf head = {0}, scratch = {0};
    rocl_status st = put_batch_head(b, &head, &body, err);
    if (st == ROCL_OK)
        st = write_head(out, &head, err);
    for (unsigned i = 0; i < b->file->column_count && st == ROCL_OK; i++)
        for (unsigned k = 0; k < BUFFERS && st == ROCL_OK; k++)
            st = write_values(b, &b->columns[i], k, &scratch, out, err);
    rocl_buf_free(&head);
    rocl_buf_free(&scratch);
    return st;
}

static void put_blocks(rocl_buf *b, size_t from, const messages *m, uint64_t *offset)
{
    size_t at = rocl_flat_put_vector(b, from, m->count, 24, 8);
    for (size_t i = 0; i < m->count; i++, at += 24) {
        rocl_flat_set(b, at, 8, (int64_t)*offset);
        *offset += m->all[i].head + m->all[i].body;
        rocl_flat_set(b, at + 8, 4, m->all[i].head);
        rocl_flat_set(b, at + 16, 8, (int64_t)m->all[i].body);
    }
}

static rocl_status write_footer(rocl_columnar_file *f, rocl_error *err)
{
    const arrow_file *p = f->own;
    uint64_t offset = p->begin;
    rocl_buf b = {0};
    rocl_buf_put(&b, "\0\0\0", 4);
    const rocl_flat_table t = rocl_flat_put_table(&b, "2444");
    rocl_flat_set(&b, 0, 4, (int64_t)t.at);
    rocl_flat_set(&b, t.fields[0], 2, VERSION_5);
    put_schema(&b, t.fields[1], f);
    put_blocks(&b, t.fields[2], &p->dictionaries, &offset);
    put_blocks(&b, t.fields[3], &p->records, &offset);
    rocl_buf_le32(&b, (uint32_t)b.len);
    rocl_buf_str(&b, "ARROW1");
    rocl_status st = b.failed ? rocl_fail_memory(err) : rocl_out_write(f->out, b.data, b.len, err);
    rocl_buf_free(&b);
    return st;
}

/* ---- files ----------------------------------------------------------------------------------- */

static rocl_status begin_file(void *ctx, rocl_columnar_file *f, rocl_error *err)
{
    const arrow *a = ctx;
    const rocl_joint *joint = a->run->trace->joint;
    const size_t ranks = joint ? rocl_joint_size(joint) : 0;
    arrow_file *p = f->own = calloc(1, sizeof *p);
    if (!p)
        return rocl_fail_memory(err);
    p->texts = calloc(f->column_count, sizeof *p->texts);
    p->told = calloc(f->column_count, sizeof *p->told);
    p->own = calloc(f->column_count, sizeof *p->own);
    p->all = calloc(f->column_count, sizeof *p->all);
    p->maps = calloc(ranks * f->column_count + 1, sizeof *p->maps);
    p->written = calloc(ranks + 1, sizeof *p->written);
    return p->texts && p->told && p->own && p->all && p->maps && p->written ? ROCL_OK
                                                                            : rocl_fail_memory(err);
}

/* Writes a batch now, or in a team later, at its place. */
static rocl_status put_batch_into(const arrow *a, const rocl_columnar_file *f, batch *b,
                                  messages *to, rocl_error *err)
{
    uint64_t body;
    rocl_buf head = {0};
    rocl_status st = put_batch_head(b, &head, &body, err);
    const size_t size = head_size(&head);
    rocl_buf_free(&head);
    if (st == ROCL_OK)
        st = add_message(to, size, body, err);
    if (st != ROCL_OK)
        return st;
    rocl_joint *joint = a->run->trace->joint;
    return joint ? rocl_joint_promise(joint, f->out, b->last, size + body, write_batch, b, err)
                 : write_batch(b, f->out, err);
}

/* All batches in the order of the file. */
static rocl_status order_batches(const arrow *a, const rocl_columnar_file *f, rocl_error *err)
{
    arrow_file *p = f->own;
    const unsigned ranks = rocl_joint_size(a->run->trace->joint);
    size_t *next = calloc(ranks + (size_t)1, sizeof *next);
    rocl_status st = next ? ROCL_OK : rocl_fail_memory(err);
    for (size_t i = 0; i < p->order_count && st == ROCL_OK; i++) {
        const unsigned from = p->order[i].rank == JOINED ? ranks : p->order[i].rank;
        for (size_t k = 0; k < p->order[i].count && st == ROCL_OK; k++) {
            const message *m = &p->written[from].all[next[from]];
            st = next[from]++ < p->written[from].count
                     ? add_message(&p->records, m->head, m->body, err)
                     : rocl_team_bad_message(err);
        }
    }
    free(next);
    return st;
}

static rocl_status end_file(void *ctx, rocl_columnar_file *f, rocl_error *err)
{
    const arrow *a = ctx;
    arrow_file *p = f->own;
    const uint32_t end[2] = {UINT32_MAX, 0};
    rocl_status st = ROCL_OK;
    if (a->run->joins)
        rocl_joint_write_before_all(a->run->trace->joint);
    if (!a->is_stream) {
        static const char magic[ALIGN] = "ARROW1";
        p->begin = 8;
        st = rocl_out_write(f->out, magic, 8, err);
    }
    if (st == ROCL_OK) {
        rocl_buf head = {0};
        put_schema(&head, begin_message(&head, SCHEMA, 0), f);
        p->begin += head_size(&head);
        st = write_head(f->out, &head, err);
        rocl_buf_free(&head);
    }
    for (unsigned i = 0; i < f->column_count && st == ROCL_OK; i++)
        if (f->columns[i]->type == ROCL_CELL_TEXT)
            st = write_dictionary(a, f, i, err);
    /* In a team these are rank 0's, of captures that are joined. */
    messages *to = a->run->joins ? &p->written[rocl_joint_size(a->run->trace->joint)] : &p->records;
    for (size_t i = p->told_batches; i < p->count && st == ROCL_OK; i++)
        st = put_batch_into(a, f, &p->batches[i], to, err);
    if (st == ROCL_OK && a->run->joins) {
        rocl_joint_write_after_all(a->run->trace->joint);
        st = order_batches(a, f, err);
    }
    if (st == ROCL_OK)
        st = rocl_out_write(f->out, end, sizeof end, err);
    return st || a->is_stream ? st : write_footer(f, err);
}

static void free_file(void *ctx, rocl_columnar_file *f)
{
    const arrow *a = ctx;
    arrow_file *p = f->own;
    const size_t ranks = a->run->trace->joint ? rocl_joint_size(a->run->trace->joint) : 0;
    for (unsigned i = 0; p->texts && i < f->column_count; i++)
        rocl_dictionary_free(&p->texts[i]);
    for (unsigned i = 0; p->all && i < f->column_count; i++)
        rocl_dictionary_free(&p->all[i]);
    for (unsigned i = 0; p->own && i < f->column_count; i++)
        free(p->own[i].indexes);
    for (size_t i = 0; p->maps && i < ranks * f->column_count; i++)
        free(p->maps[i].indexes);
    for (size_t i = 0; p->written && i <= ranks; i++)
        free(p->written[i].all);
    for (size_t i = 0; i < p->count; i++)
        for (size_t k = 0; k < (size_t)BUFFERS * f->column_count; k++)
            rocl_space_drop(a->run->space,
                            &p->batches[i].columns[k / BUFFERS].buffers[k % BUFFERS]);
    for (size_t i = 0; i < p->count; i++)
        free(p->batches[i].columns);
    free(p->texts);
    free(p->told);
    free(p->own);
    free(p->all);
    free(p->maps);
    free(p->written);
    free(p->order);
    free(p->batches);
    free(p->dictionaries.all);
    free(p->records.all);
    free(p);
}

/* ---- in a team ------------------------------------------------------------------------------- */

/* Sends the number of batches, and the new texts of each column. */
static void put_groups(void *ctx, rocl_columnar_file *f, rocl_buf *to)
{
    const arrow *a = ctx;
    arrow_file *p = f->own;
    rocl_buf_varint(to, p->count - p->told_batches);
    p->told_batches = p->count;
    for (unsigned i = 0; i < f->column_count; i++) {
        rocl_buf_varint(to, p->texts[i].count - p->told[i]);
        for (; p->told[i] < p->texts[i].count; p->told[i]++) {
            size_t n;
            const char *text = rocl_strings_get(a->run->strings, p->texts[i].texts[p->told[i]], &n);
            rocl_team_put_text(to, text, n);
        }
    }
}

static rocl_status take_groups(void *ctx, rocl_columnar_file *f, unsigned rank,
                               rocl_byte_reader *from, rocl_error *err)
{
    const arrow *a = ctx;
    arrow_file *p = f->own;
    rocl_status st = note_order(p, rank, (size_t)rocl_next_number(from), err);
    for (unsigned i = 0; i < f->column_count && st == ROCL_OK; i++) {
        index_map *map = &p->maps[rank * f->column_count + i];
        for (uint64_t n = rocl_next_number(from); n && !from->bad; n--) {
            const uint32_t id = rocl_team_intern_text(a->run->trace->strings, from);
            if (from->bad)
                break;
            if (id == ROCL_NONE || !ROCL_GROW(map->indexes, map->capacity, map->count + 1) ||
                !rocl_dictionary_add(&p->all[i], id, &map->indexes[map->count]))
                return rocl_fail_memory(err);
            map->count++;
        }
    }
    return st;
}

/* Sends the indexes in the file for each column. */
static void put_others(void *ctx, rocl_columnar_file *f, unsigned rank, rocl_buf *to)
{
    const arrow_file *p = f->own;
    size_t batches = 0;
    (void)ctx;
    for (size_t i = 0; i < p->order_count; i++)
        batches += p->order[i].rank == rank ? p->order[i].count : 0;
    for (unsigned i = 0; batches && i < f->column_count; i++) {
        const index_map *map = &p->maps[rank * f->column_count + i];
        rocl_buf_varint(to, map->count);
        for (size_t k = 0; k < map->count; k++)
            rocl_buf_varint(to, map->indexes[k]);
    }
}

static rocl_status take_map(rocl_byte_reader *from, index_map *map, rocl_error *err)
{
    const uint64_t n = rocl_next_number(from);
    if (from->bad || n > (uint64_t)(from->end - from->p))
        return rocl_team_bad_message(err);
    free(map->indexes);
    *map = (index_map){.indexes = malloc((n + 1) * sizeof *map->indexes)};
    if (!map->indexes)
        return rocl_fail_memory(err);
    while (map->count < n)
        map->indexes[map->count++] = (uint32_t)rocl_next_number(from);
    return ROCL_OK;
}

/* Now that the indexes of a batch are known, compresses them, which tells their size. */
static rocl_status compress_indexes(const arrow *a, const rocl_columnar_file *f, const batch *b,
                                    rocl_error *err)
{
    const arrow_file *p = f->own;
    rocl_buf scratch = {0};
    rocl_status st = ROCL_OK;
    for (unsigned i = 0; i < f->column_count && st == ROCL_OK; i++) {
        array *c = &b->columns[i];
        const uint8_t *bytes;
        rocl_block *block;
        if (c->type != ROCL_CELL_TEXT)
            continue;
        c->map = &p->own[i];
        if (!a->level || !c->rows)
            continue;
        st = rocl_space_load(a->run->space, &c->buffers[VALUES], &scratch, &bytes, err);
        if (st != ROCL_OK || (st = rocl_pipe_get(a->run->pipe, &block, err)) != ROCL_OK)
            break;
        block->user = c;
        rocl_buf_put(&block->in, bytes, c->buffers[VALUES].size);
        rocl_space_drop(a->run->space, &c->buffers[VALUES]);
        st = rocl_pipe_put(a->run->pipe, block, err);
    }
    rocl_buf_free(&scratch);
    return st;
}

static rocl_status write_groups(void *ctx, rocl_columnar_file *f, rocl_byte_reader *others,
                                rocl_buf *to, rocl_error *err)
{
    const arrow *a = ctx;
    arrow_file *p = f->own;
    messages written = {0};
    rocl_status st = ROCL_OK;
    for (unsigned i = 0; i < f->column_count && st == ROCL_OK; i++)
        st = take_map(others, &p->own[i], err);
    for (size_t i = 0; i < p->told_batches && st == ROCL_OK; i++)
        st = compress_indexes(a, f, &p->batches[i], err);
    if (st == ROCL_OK)
        st = rocl_pipe_drain(a->run->pipe, err);
    for (size_t i = 0; i < p->told_batches && st == ROCL_OK; i++)
        st = put_batch_into(a, f, &p->batches[i], &written, err);
    rocl_buf_varint(to, written.count);
    for (size_t i = 0; i < written.count; i++) {
        rocl_buf_varint(to, written.all[i].head);
        rocl_buf_varint(to, written.all[i].body);
    }
    free(written.all);
    return st;
}

static rocl_status take_written(void *ctx, rocl_columnar_file *f, unsigned rank,
                                rocl_byte_reader *from, rocl_error *err)
{
    arrow_file *p = f->own;
    rocl_status st = ROCL_OK;
    (void)ctx;
    for (uint64_t n = rocl_next_number(from); n && !from->bad && st == ROCL_OK; n--) {
        const uint64_t head = rocl_next_number(from), body = rocl_next_number(from);
        st = add_message(&p->written[rank], head, body, err);
    }
    return st;
}

/* ---- the run --------------------------------------------------------------------------------- */

static rocl_status open_arrow(void **ctx, rocl_columnar_run *run, rocl_error *err)
{
    const rocl_export_options *o = run->options;
    arrow *a = calloc(1, sizeof *a);
    if (!a)
        return rocl_fail_memory(err);
    *ctx = a;
    a->run = run;
    a->is_stream = o->format == ROCL_EXPORT_ARROWS;
    if (o->codec == ROCL_CODEC_GZIP)
        return rocl_fail(err, ROCL_USAGE, "Arrow is compressed with zstd, or not at all");
    if (o->codec == ROCL_CODEC_ZSTD)
        a->level = rocl_level_or(o->level, ZSTD_LEVEL);
    if (a->level && !rocl_has_zstd())
        return rocl_fail(err, ROCL_USAGE, ROCL_BUILT_WITHOUT("libzstd"));
    return ROCL_OK;
}

#define ARROW_FORMAT(name)                                                                         \
    {                                                                                              \
        .ending = name, .group_rows = ROCL_COLUMNAR_GROUP_ROWS,                                    \
        .pipe = {encode_column, keep_column}, .open = open_arrow, .close = free,                   \
        .begin_file = begin_file, .put_group = put_group, .end_file = end_file,                    \
        .free_file = free_file, .put_groups = put_groups, .take_groups = take_groups,              \
        .put_others = put_others, .write_groups = write_groups, .take_written = take_written       \
    }

const rocl_columnar_format rocl_arrow_format = ARROW_FORMAT(".arrow");
const rocl_columnar_format rocl_arrows_format = ARROW_FORMAT(".arrows");
