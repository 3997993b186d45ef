/* A walk over the pages of the schema. It need not read every database, only those that are as
 * most are, hence no message says what is wrong. */
#include "base/btree_schema.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/btree_record.h"

/* What is larger is of no use to whoever asks: a merged file has thousands of tables. */
#define TEXT_MAX  (256u << 10)
#define PAGES_MAX 512
#define DEPTH_MAX 4

enum { INTERIOR = ROCL_INTERIOR, LEAF = 13, HEAD_OF_FILE = 100 };
enum { TYPE, NAME, TABLE, ROOT, SQL, COLUMNS };

static const rocl_record_plan whole_row = {.column = {TYPE, NAME, TABLE, ROOT, SQL},
                                           .count = COLUMNS};

typedef struct walk {
    rocl_schema *schema;
    const rocl_btree_file *file;
    rocl_buf payload; /* of a row that is in pieces */
    int64_t last;     /* rowid */
    unsigned pages;   /* read so far */
} walk;

void rocl_schema_free(rocl_schema *s)
{
    rocl_buf_free(&s->text);
    free(s->rows);
    *s = (rocl_schema){0};
}

static bool read_page(walk *w, uint32_t number, uint8_t *page)
{
    const rocl_btree_file *f = w->file;
    return w->pages++ < PAGES_MAX && (number == 1 || rocl_page_valid(f, number)) &&
           pread(f->fd, page, f->page_size, (off_t)(number - 1) * f->page_size) ==
               (ssize_t)f->page_size;
}

/* ---- rows ---- */

static bool take_text(rocl_schema *s, const rocl_value *v, const uint8_t *p, uint32_t *offset)
{
    *offset = (uint32_t)s->text.len;
    if (v->type != ROCL_TYPE_TEXT || memchr(p + v->offset, 0, v->size))
        return false;
    rocl_buf_put(&s->text, p + v->offset, v->size);
    rocl_buf_byte(&s->text, 0);
    return s->text.len <= TEXT_MAX;
}

static bool take_sql(rocl_schema *s, const rocl_value *v, const uint8_t *p, uint32_t *offset)
{
    const rocl_value none = {.type = ROCL_TYPE_TEXT};
    return take_text(s, v->type == ROCL_TYPE_NULL ? &none : v, p, offset);
}

static bool take_root(const rocl_value *v, const uint8_t *p, uint32_t *root)
{
    int64_t number = rocl_value_number(v, p);
    *root = (uint32_t)number;
    return v->type != ROCL_TYPE_NULL && v->type != ROCL_TYPE_REAL && v->type < ROCL_TYPE_NUMBERS &&
           number >= 0 && number <= UINT32_MAX;
}

/* `p` has slack behind its `size` bytes. */
static bool take_row(rocl_schema *s, const uint8_t *p, uint32_t size)
{
    rocl_schema_row row;
    rocl_record r;
    uint32_t need;
    if (rocl_record_parse(&r, &whole_row, p, size, size, &need) || need || !r.exact)
        return false;
    if (!take_root(&r.values[ROOT], p, &row.root) || !take_text(s, &r.values[TYPE], p, &row.type) ||
        !take_text(s, &r.values[NAME], p, &row.name) ||
        !take_text(s, &r.values[TABLE], p, &row.table) ||
        !take_sql(s, &r.values[SQL], p, &row.sql) || !ROCL_GROW(s->rows, s->cap, s->count + 1))
        return false;
    s->rows[s->count++] = row;
    return !s->text.failed;
}

/* Section 1.6: a chain of pages, of which each begins with the number of the next. */
static bool take_overflow(walk *w, uint32_t next, uint32_t missing, uint8_t *page)
{
    while (missing) {
        uint32_t n = missing < w->file->usable - 4 ? missing : w->file->usable - 4;
        if (!read_page(w, next, page))
            return false;
        rocl_buf_put(&w->payload, page + 4, n);
        next = rocl_be32(page);
        missing -= n;
    }
    return !w->payload.failed;
}

static bool take_pieces(walk *w, const uint8_t *p, uint32_t local, uint32_t size)
{
    static const uint8_t slack[ROCL_BTREE_SLACK];
    uint8_t *page = malloc(w->file->page_size);
    w->payload.len = 0;
    rocl_buf_put(&w->payload, p, local);
    bool ok = page && take_overflow(w, rocl_be32(p + local), size - local, page);
    free(page);
    rocl_buf_put(&w->payload, slack, sizeof slack);
    return ok && !w->payload.failed && take_row(w->schema, w->payload.data, size);
}

static bool take_cell(walk *w, const uint8_t *page, uint32_t at)
{
    uint64_t size, rowid;
    at += rocl_be_varint(page + at, &size); /* the page has slack */
    at += rocl_be_varint(page + at, &rowid);
    if (size > TEXT_MAX || (int64_t)rowid <= w->last)
        return false;
    w->last = (int64_t)rowid;
    uint32_t local = rocl_payload_local(w->file, (uint32_t)size);
    bool pieces = local < size;
    if (at + local + (pieces ? 4 : 0) > w->file->usable)
        return false;
    return pieces ? take_pieces(w, page + at, local, (uint32_t)size)
                  : take_row(w->schema, page + at, (uint32_t)size);
}

/* ---- pages ---- */

static bool take_page(walk *w, uint32_t number, unsigned depth);

static bool take_cells(walk *w, const uint8_t *page, uint32_t head, unsigned depth)
{
    const bool leaf = page[head] == LEAF;
    const uint32_t count = rocl_be16(page + head + 3), array = head + (leaf ? 8 : 12);
    if (array + 2 * count > w->file->usable)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = rocl_be16(page + array + 2 * i);
        if (at < array + 2 * count || at + 4 > w->file->usable)
            return false;
        if (leaf ? !take_cell(w, page, at) : !take_page(w, rocl_be32(page + at), depth + 1))
            return false;
    }
    return leaf || take_page(w, rocl_be32(page + head + 8), depth + 1);
}

static bool take_page(walk *w, uint32_t number, unsigned depth)
{
    const uint32_t head = number == 1 ? HEAD_OF_FILE : 0;
    uint8_t *page = depth < DEPTH_MAX ? calloc(1, w->file->page_size + ROCL_BTREE_SLACK) : NULL;
    bool ok = page && (depth == 0) == (number == 1) && read_page(w, number, page) &&
              (page[head] == LEAF || page[head] == INTERIOR) && take_cells(w, page, head, depth);
    free(page);
    return ok;
}

bool rocl_btree_schema(rocl_schema *s, const rocl_btree_file *f)
{
    walk w = {.schema = s, .file = f, .last = INT64_MIN};
    *s = (rocl_schema){0};
    bool ok = take_page(&w, 1, 0);
    rocl_buf_free(&w.payload);
    if (!ok)
        rocl_schema_free(s);
    return ok;
}
