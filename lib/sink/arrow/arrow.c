/* Arrow IPC, as a file (Feather V2) and as a stream: messages, each a flatbuffer and a body. First
 * the schema, then the dictionaries of all text columns, then batches of rows. Readers differ in
 * whether they take dictionaries that change or come late. So that all read ours, bodies of batches
 * are kept (in memory, and in a temporary file beyond its limit) until all texts are known: then
 * every dictionary stands once, whole, before the first batch.
 *
 *     message   ff ff ff ff | i32 bytes of the flatbuffer, padded | flatbuffer | body
 *     stream    messages | ff ff ff ff 00 00 00 00
 *     file      "ARROW1" 00 00 | stream | footer | i32 its bytes | "ARROW1" */
#include <stdlib.h>

#include "base/array.h"
#include "base/deflate.h"
#include "base/error.h"
#include "base/zstd.h"
#include "sink/arrow/flat.h"
#include "sink/columnar/columnar.h"

enum {
    ALIGN = 64, /* of buffers in a body, for readers that map the file */
    ZSTD_LEVEL = 3,
};

enum { VERSION_5 = 4 };
enum { SCHEMA = 1, DICTIONARY_BATCH = 2, RECORD_BATCH = 3 };
enum { TYPE_INT = 2, TYPE_FLOATING_POINT = 3, TYPE_UTF8 = 5 };
enum { VALIDITY, VALUES, BUFFERS };

typedef struct array { /* a column of a batch */
    rocl_columnar_file *file;
    rocl_cell_type type;
    size_t rows, nulls;
    size_t sizes[BUFFERS]; /* while it is a block */
    rocl_stored buffers[BUFFERS];
} array;

typedef struct batch {
    array *columns;
    size_t rows;
} batch;

/* Where a message is, for the footer. */
typedef struct message {
    uint64_t offset;
    uint32_t head;
    uint64_t body;
} message;

typedef struct messages {
    message *all;
    size_t count, capacity;
} messages;

typedef struct arrow_file {
    rocl_dictionary *texts; /* by column */
    batch *batches;
    size_t count, capacity;
    messages dictionaries, records;
} arrow_file;

typedef struct arrow {
    rocl_columnar_run *run;
    bool is_stream;
    int level; /* of zstd; 0: none */
} arrow;

/* ---- columns of a batch, in workers ---------------------------------------------------------- */

/* Appends a buffer as it stands in a body, compressed if that is wanted: behind its length. */
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

/* Of a text the cell is its index in the dictionary. */
static rocl_status encode_column(void *ctx, unsigned worker, rocl_block *block, rocl_error *err)
{
    const arrow *a = ctx;
    array *c = block->user;
    int64_t *cells = (int64_t *)(void *)block->in.data;
    uint8_t *valid = NULL;
    (void)worker;
    for (size_t i = 0; i < c->rows; i++)
        c->nulls += cells[i] == ROCL_CELL_NULL;
    if (c->nulls && !(valid = calloc(c->rows / 8 + 1, 1)))
        return rocl_fail_memory(err);
    for (size_t i = 0; c->nulls && i < c->rows; i++) {
        valid[i / 8] |= (uint8_t)((cells[i] != ROCL_CELL_NULL) << i % 8);
        cells[i] = cells[i] == ROCL_CELL_NULL ? 0 : cells[i];
    }
    rocl_status st =
        put_buffer(a, &block->out, valid, valid ? (c->rows + 7) / 8 : 0, &c->sizes[VALIDITY], err);
    free(valid);
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
    for (unsigned i = 0; i < BUFFERS && st == ROCL_OK; p += c->sizes[i++])
        st = rocl_space_store(a->run->space, &c->buffers[i], p, c->sizes[i], err);
    return st;
}

static rocl_status put_group(void *ctx, rocl_columnar_file *f, rocl_error *err)
{
    arrow *a = ctx;
    arrow_file *p = f->own;
    array *columns = calloc(f->column_count, sizeof *columns);
    rocl_status st = ROCL_OK;
    if (!columns || !ROCL_GROW(p->batches, p->capacity, p->count + 1)) {
        free(columns);
        return rocl_fail_memory(err);
    }
    p->batches[p->count++] = (batch){columns, f->group_rows};
    for (unsigned i = 0; i < f->column_count && st == ROCL_OK; i++) {
        const bool text = f->columns[i]->type == ROCL_CELL_TEXT;
        rocl_block *block;
        for (size_t row = 0; text && row < f->group_rows; row++) {
            uint32_t index;
            if (f->cells[i][row] == ROCL_CELL_NULL)
                continue;
            if (!rocl_dictionary_add(&p->texts[i], (uint32_t)f->cells[i][row], &index))
                return rocl_fail_memory(err);
            f->cells[i][row] = index;
        }
        columns[i] = (array){.file = f, .type = f->columns[i]->type, .rows = f->group_rows};
        st = rocl_pipe_get(a->run->pipe, &block, err);
        if (st != ROCL_OK)
            break;
        block->user = &columns[i];
        rocl_columnar_take_cells(f, i, &block->in);
        st = rocl_pipe_put(a->run->pipe, block, err);
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

/* Writes the head of a message, and says where it is. Its body, if any, must follow. */
static rocl_status write_head(rocl_columnar_file *f, rocl_buf *head, messages *to, uint64_t body,
                              rocl_error *err)
{
    static const uint8_t zeros[ALIGN];
    const size_t prefix = 8, padded = padded_size(head->len + prefix) - prefix;
    const uint32_t marks[2] = {UINT32_MAX, htole32((uint32_t)padded)};
    if (head->failed || (to && !ROCL_GROW(to->all, to->capacity, to->count + 1)))
        return rocl_fail_memory(err);
    if (to)
        to->all[to->count++] = (message){rocl_out_bytes(f->out), (uint32_t)(padded + prefix), body};
    rocl_status st = rocl_out_write(f->out, marks, sizeof marks, err);
    if (st == ROCL_OK)
        st = rocl_out_write(f->out, head->data, head->len, err);
    return st ? st : rocl_out_write(f->out, zeros, padded - head->len, err);
}

static rocl_status write_buffer(rocl_columnar_file *f, const void *p, size_t n, rocl_error *err)
{
    static const uint8_t zeros[ALIGN];
    rocl_status st = rocl_out_write(f->out, p, n, err);
    return st ? st : rocl_out_write(f->out, zeros, padded_size(n) - n, err);
}

static rocl_status write_schema(rocl_columnar_file *f, rocl_error *err)
{
    rocl_buf head = {0};
    put_schema(&head, begin_message(&head, SCHEMA, 0), f);
    rocl_status st = write_head(f, &head, NULL, 0, err);
    rocl_buf_free(&head);
    return st;
}

static rocl_status write_dictionary(const arrow *a, rocl_columnar_file *f, unsigned column,
                                    rocl_error *err)
{
    arrow_file *p = f->own;
    const rocl_dictionary *d = &p->texts[column];
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
        st = write_head(f, &head, &p->dictionaries, length, err);
    }
    if (st == ROCL_OK)
        st = write_buffer(f, body.data, sizes[1], err);
    if (st == ROCL_OK)
        st = write_buffer(f, body.data + sizes[1], sizes[2], err);
    rocl_buf_free(&bytes);
    rocl_buf_free(&offsets);
    rocl_buf_free(&body);
    rocl_buf_free(&head);
    rocl_buf_free(&scratch);
    return st;
}

static rocl_status write_batch(const arrow *a, rocl_columnar_file *f, const batch *b,
                               rocl_error *err)
{
    arrow_file *p = f->own;
    size_t *nulls = calloc(f->column_count, sizeof *nulls);
    size_t *sizes = calloc((size_t)BUFFERS * f->column_count, sizeof *sizes);
    uint64_t body = 0;
    rocl_buf head = {0}, scratch = {0};
    if (!nulls || !sizes) {
        free(nulls);
        free(sizes);
        return rocl_fail_memory(err);
    }
    for (unsigned i = 0; i < f->column_count; i++) {
        nulls[i] = b->columns[i].nulls;
        for (unsigned k = 0; k < BUFFERS; k++) {
            sizes[BUFFERS * i + k] = b->columns[i].buffers[k].size;
            body += padded_size(b->columns[i].buffers[k].size);
        }
    }
    put_batch(&head, begin_message(&head, RECORD_BATCH, body), a, b->rows, nulls, f->column_count,
              sizes, (size_t)BUFFERS * f->column_count);
    rocl_status st = write_head(f, &head, &p->records, body, err);
    for (size_t i = 0; i < (size_t)BUFFERS * f->column_count && st == ROCL_OK; i++) {
        const rocl_stored *from = &b->columns[i / BUFFERS].buffers[i % BUFFERS];
        const uint8_t *bytes;
        st = rocl_space_load(a->run->space, from, &scratch, &bytes, err);
        if (st == ROCL_OK)
            st = write_buffer(f, bytes, from->size, err);
    }
    rocl_buf_free(&head);
    rocl_buf_free(&scratch);
    free(nulls);
    free(sizes);
    return st;
}

static void put_blocks(rocl_buf *b, size_t from, const messages *m)
{
    size_t at = rocl_flat_put_vector(b, from, m->count, 24, 8);
    for (size_t i = 0; i < m->count; i++, at += 24) {
        rocl_flat_set(b, at, 8, (int64_t)m->all[i].offset);
        rocl_flat_set(b, at + 8, 4, m->all[i].head);
        rocl_flat_set(b, at + 16, 8, (int64_t)m->all[i].body);
    }
}

static rocl_status write_footer(rocl_columnar_file *f, rocl_error *err)
{
    const arrow_file *p = f->own;
    rocl_buf b = {0};
    rocl_buf_put(&b, "\0\0\0", 4);
    const rocl_flat_table t = rocl_flat_put_table(&b, "2444");
    rocl_flat_set(&b, 0, 4, (int64_t)t.at);
    rocl_flat_set(&b, t.fields[0], 2, VERSION_5);
    put_schema(&b, t.fields[1], f);
    put_blocks(&b, t.fields[2], &p->dictionaries);
    put_blocks(&b, t.fields[3], &p->records);
    rocl_buf_le32(&b, (uint32_t)b.len);
    rocl_buf_str(&b, "ARROW1");
    rocl_status st = b.failed ? rocl_fail_memory(err) : rocl_out_write(f->out, b.data, b.len, err);
    rocl_buf_free(&b);
    return st;
}

/* ---- files ----------------------------------------------------------------------------------- */

static rocl_status begin_file(void *ctx, rocl_columnar_file *f, rocl_error *err)
{
    arrow_file *p = f->own = calloc(1, sizeof *p);
    (void)ctx;
    if (p)
        p->texts = calloc(f->column_count, sizeof *p->texts);
    return p && p->texts ? ROCL_OK : rocl_fail_memory(err);
}

static rocl_status end_file(void *ctx, rocl_columnar_file *f, rocl_error *err)
{
    const arrow *a = ctx;
    const arrow_file *p = f->own;
    const uint32_t end[2] = {UINT32_MAX, 0};
    rocl_status st = ROCL_OK;
    if (!a->is_stream) {
        static const char magic[ALIGN] = "ARROW1";
        st = rocl_out_write(f->out, magic, 8, err);
    }
    if (st == ROCL_OK)
        st = write_schema(f, err);
    for (unsigned i = 0; i < f->column_count && st == ROCL_OK; i++)
        if (f->columns[i]->type == ROCL_CELL_TEXT)
            st = write_dictionary(a, f, i, err);
    for (size_t i = 0; i < p->count && st == ROCL_OK; i++)
        st = write_batch(a, f, &p->batches[i], err);
    if (st == ROCL_OK)
        st = rocl_out_write(f->out, end, sizeof end, err);
    return st || a->is_stream ? st : write_footer(f, err);
}

static void free_file(void *ctx, rocl_columnar_file *f)
{
    const arrow *a = ctx;
    arrow_file *p = f->own;
    for (unsigned i = 0; p->texts && i < f->column_count; i++)
        rocl_dictionary_free(&p->texts[i]);
    for (size_t i = 0; i < p->count; i++) {
        for (size_t k = 0; k < (size_t)BUFFERS * f->column_count; k++)
            rocl_space_drop(a->run->space,
                            &p->batches[i].columns[k / BUFFERS].buffers[k % BUFFERS]);
        free(p->batches[i].columns);
    }
    free(p->texts);
    free(p->batches);
    free(p->dictionaries.all);
    free(p->records.all);
    free(p);
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
        return rocl_fail(err, ROCL_USAGE, "this build of rocline has no zstd");
    return ROCL_OK;
}

#define ARROW_FORMAT(name)                                                                         \
    {                                                                                              \
        .ending = name, .group_rows = ROCL_COLUMNAR_GROUP_ROWS,                                    \
        .pipe = {encode_column, keep_column}, .open = open_arrow, .close = free,                   \
        .begin_file = begin_file, .put_group = put_group, .end_file = end_file,                    \
        .free_file = free_file                                                                     \
    }

const rocl_columnar_format rocl_arrow_format = ARROW_FORMAT(".arrow");
const rocl_columnar_format rocl_arrows_format = ARROW_FORMAT(".arrows");
