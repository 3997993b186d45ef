/* Records of a SQLite 3 database, and its schema. */
#include "base/btree_record.h"

#include <stdlib.h>

#include "base/array.h"

/* As in SQLite: a longer header would belong to a table with more columns than are possible. */
#define HEADER_MAX 98307

/* Section 2.1: NULL, integers of 8 to 64 bits, a real, 0 and 1. */
static const rocl_value numbers[ROCL_TYPE_NUMBERS] = {
    {.type = 0},
    {.type = 1, .size = 1, .shift = 56, .stored = 1},
    {.type = 2, .size = 2, .shift = 48, .stored = 1},
    {.type = 3, .size = 3, .shift = 40, .stored = 1},
    {.type = 4, .size = 4, .shift = 32, .stored = 1},
    {.type = 5, .size = 6, .shift = 16, .stored = 1},
    {.type = 6, .size = 8, .stored = 1},
    {.type = 7, .size = 8, .stored = 1},
    {.type = 8, .constant = 0},
    {.type = 9, .constant = 1},
};

const char *rocl_record_parse(rocl_record *r, const rocl_record_plan *plan, const uint8_t *p,
                              uint32_t have, uint32_t size, uint32_t *need)
{
    uint64_t end = 0;
    *need = 0;
    uint32_t at = size ? rocl_be_varint(p, &end) : 0;
    if (!size || end < at || end > size || end > HEADER_MAX)
        return "the header of a row has an impossible size";
    if (end > have) {
        *need = (uint32_t)end;
        return NULL;
    }
    unsigned wanted = 0;
    uint32_t offset = (uint32_t)end;
    r->end = (uint32_t)end;
    for (unsigned column = 0; wanted < plan->count && at < end; column++) {
        uint64_t type;
        at += rocl_be_varint(p + at, &type);
        if (at > end)
            return "the header of a row goes beyond its end";
        if (type >= ROCL_TYPE_NUMBERS && type < ROCL_TYPE_BLOB)
            return "a row has a value of a reserved type";
        rocl_value v;
        if (type < ROCL_TYPE_NUMBERS) {
            v = numbers[type];
        } else {
            uint64_t bytes = (type - ROCL_TYPE_BLOB) / 2;
            v = (rocl_value){.type = (uint8_t)(ROCL_TYPE_BLOB + (type & 1)),
                             .size = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX};
        }
        if (v.size > size - offset)
            return "a row has a value that is longer than the row";
        v.offset = v.size ? offset : 0; /* so that equal values look the same */
        offset += v.size;
        for (; wanted < plan->count && plan->column[wanted] == column; wanted++) {
            r->values[wanted] = v;
            r->end = offset;
        }
    }
    for (; wanted < plan->count; wanted++)
        r->values[wanted] = (rocl_value){.type = ROCL_TYPE_MISSING};
    r->exact = at == end ? offset : 0;
    return r->exact && r->exact != size ? "a row is longer than its values" : NULL;
}

/* ---- headers that were seen ------------------------------------------------------------------ */

/* What is compared: the size of the header, and the types up to the last wanted column. */
void rocl_header_cache_init(rocl_header_cache *k)
{
    unsigned bytes = k->plan.count ? k->plan.column[k->plan.count - 1] + 2u : 0;
    uint8_t mask[8 * ROCL_HEADER_WORDS] = {0};
    k->words = bytes <= sizeof mask ? (bytes + 7) / 8 : 0;
    memset(mask, 0xff, k->words ? bytes : 0);
    memcpy(k->mask, mask, sizeof mask);
}

rocl_cached_header *rocl_cached_header_new(rocl_cached_header **entry)
{
    return *entry = calloc(1, sizeof **entry);
}

void rocl_header_cache_free(rocl_header_cache *k)
{
    for (unsigned i = 0; i < sizeof k->entries / sizeof *k->entries; i++)
        if (k->entries[i]) /* few are: freeing all takes longer than reading a small table */
            free(k->entries[i]);
}

/* Values that have a type of one byte each and are in the leaf. */
bool rocl_cached_header_set(rocl_header_cache *k, rocl_cached_header *entry, const uint8_t *payload,
                            const rocl_btree_cell *c)
{
    const unsigned columns = k->plan.column[k->plan.count - 1] + 1u;
    uint32_t need;
    if (!k->words || payload[0] <= columns || payload[0] >= 0x80)
        return false;
    for (unsigned i = 0; i < columns; i++)
        if (payload[1 + i] >= 0x80)
            return false;
    entry->used = 0;
    if (rocl_record_parse(&entry->record, &k->plan, payload, c->local, c->size, &need) || need ||
        entry->record.end > c->local)
        return false;
    memcpy(entry->head, payload, 8 * k->words);
    for (unsigned i = 0; i < k->words; i++)
        entry->head[i] &= k->mask[i];
    return true;
}

/* ---- the schema ------------------------------------------------------------------------------ */

/* SQLite reads a larger schema: a merged file has thousands of tables. */
#define SCHEMA_TEXT_MAX (256u << 10)

enum { TYPE, NAME, TABLE, ROOT, SQL, COLUMNS };

static const rocl_record_plan whole_row = {.column = {TYPE, NAME, TABLE, ROOT, SQL},
                                           .count = COLUMNS};

void rocl_schema_free(rocl_schema *s)
{
    rocl_buf_free(&s->text);
    free(s->rows);
    *s = (rocl_schema){0};
}

static bool add_text(rocl_schema *s, const rocl_value *v, const uint8_t *p, uint32_t *offset)
{
    *offset = (uint32_t)s->text.len;
    if (v->type != ROCL_TYPE_TEXT || memchr(p + v->offset, 0, v->size))
        return false;
    rocl_buf_put(&s->text, p + v->offset, v->size);
    rocl_buf_byte(&s->text, 0);
    return s->text.len <= SCHEMA_TEXT_MAX;
}

/* `p` has slack behind its `size` bytes. */
static bool add_schema_row(rocl_schema *s, const uint8_t *p, uint32_t size)
{
    static const rocl_value no_text = {.type = ROCL_TYPE_TEXT};
    rocl_schema_row row;
    rocl_record r;
    uint32_t need;
    if (rocl_record_parse(&r, &whole_row, p, size, size, &need) || need || !r.exact)
        return false;
    const rocl_value *root = &r.values[ROOT], *sql = &r.values[SQL];
    int64_t number = rocl_value_number(root, p);
    if (root->type == ROCL_TYPE_NULL || root->type == ROCL_TYPE_REAL ||
        root->type >= ROCL_TYPE_NUMBERS || number < 0 || number > UINT32_MAX)
        return false;
    row.root = (uint32_t)number;
    if (!add_text(s, &r.values[TYPE], p, &row.type) ||
        !add_text(s, &r.values[NAME], p, &row.name) ||
        !add_text(s, &r.values[TABLE], p, &row.table) ||
        !add_text(s, sql->type == ROCL_TYPE_NULL ? &no_text : sql, p, &row.sql) ||
        !ROCL_GROW(s->rows, s->cap, s->count + 1))
        return false;
    s->rows[s->count++] = row;
    return !s->text.failed;
}

/* Without a message: SQLite then reads the schema, and reports what is wrong. */
bool rocl_btree_schema(rocl_schema *s, const rocl_btree_file *f)
{
    rocl_btree b;
    *s = (rocl_schema){0};
    bool ok = rocl_btree_open(&b, f, 1, NULL) == ROCL_OK &&
              rocl_btree_seek(&b, INT64_MIN, NULL) == ROCL_OK;
    while (ok && b.count) {
        for (unsigned i = 0; ok && i < b.count; i++) {
            const uint32_t size = b.cells[i].size;
            const uint8_t *payload;
            ok = size <= SCHEMA_TEXT_MAX &&
                 rocl_btree_payload(&b, i, size, &payload, NULL) == ROCL_OK &&
                 add_schema_row(s, payload, size);
        }
        ok = ok && rocl_btree_next(&b, NULL) == ROCL_OK;
    }
    rocl_btree_close(&b);
    if (!ok)
        rocl_schema_free(s);
    return ok;
}
