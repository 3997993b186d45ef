/* Database files for fuzz targets, written by code of ours and in microseconds: a world is read
 * once from SQL, a program of a few bytes changes rows, cells, columns and tables of it, and the
 * result is put on pages. So the fuzzer works on what a database says, not on how SQLite packs it;
 * damaged pages are a step of the program as well. */
#ifndef TESTS_FUZZ_IMAGE_H
#define TESTS_FUZZ_IMAGE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a target does to make its input is not what it looks for: no counters here. */
#ifdef __clang__
#pragma clang attribute push(__attribute__((no_sanitize("coverage", "address", "undefined"))),     \
                             apply_to = function)
#endif

enum { IMAGE_TABLES = 64, IMAGE_COLUMNS = 96, IMAGE_ROWS = 128, IMAGE_BYTES = 1 << 20 };

typedef struct image_cell {
    int type; /* SQLITE_NULL, SQLITE_INTEGER, ... */
    int64_t integer;
    double real;
    const void *bytes; /* of texts and blobs */
    size_t n;
} image_cell;

typedef struct image_row {
    int64_t id;
    image_cell *cells;
} image_row;

typedef struct image_column {
    const char *name, *type;
    bool is_key; /* INTEGER PRIMARY KEY: the id of the row, which is not in its record */
    bool is_dropped;
} image_column;

typedef struct image_table {
    const char *name;
    image_column *columns;
    image_row *rows;
    unsigned column_count, row_count, row_capacity;
    bool is_dropped, is_virtual; /* the latter: a view with the columns of the table */
} image_table;

typedef struct image_world {
    image_table tables[IMAGE_TABLES];
    unsigned count;
} image_world;

/* ---- memory of one execution -------------------------------------------------------------------
 */

static _Alignas(16) uint8_t image_arena[4 << 20];
static size_t image_used;

/* NULL when there is no more: the program ends there. */
static void *image_alloc(size_t n)
{
    n = (n + 15) & ~(size_t)15;
    if (n > sizeof image_arena - image_used)
        return NULL;
    image_used += n;
    return image_arena + image_used - n;
}

static void *image_copy(const void *p, size_t n)
{
    void *to = image_alloc(n);
    return to && n ? memcpy(to, p, n) : to;
}

/* ---- worlds from SQL ---------------------------------------------------------------------------
 */

static void *image_keep(const void *p, size_t n)
{
    void *to = malloc(n + 1);
    if (!to)
        abort();
    if (n)
        memcpy(to, p, n);
    ((char *)to)[n] = '\0';
    return to;
}

static void image_load_table(image_table *t, sqlite3 *db, const char *name)
{
    sqlite3_stmt *s;
    char *sql = sqlite3_mprintf("PRAGMA table_info(%Q)", name);
    t->name = image_keep(name, strlen(name));
    t->columns = calloc(IMAGE_COLUMNS, sizeof *t->columns);
    t->rows = calloc(IMAGE_ROWS, sizeof *t->rows);
    sqlite3_prepare_v2(db, sql, -1, &s, NULL);
    while (sqlite3_step(s) == SQLITE_ROW && t->column_count < IMAGE_COLUMNS) {
        const char *column = (const char *)sqlite3_column_text(s, 1);
        const char *type = (const char *)sqlite3_column_text(s, 2);
        t->columns[t->column_count++] =
            (image_column){.name = image_keep(column, strlen(column)),
                           .type = image_keep(type, strlen(type)),
                           .is_key = sqlite3_column_int(s, 5) && !strcmp(type, "INTEGER")};
    }
    sqlite3_finalize(s);
    sqlite3_free(sql);
    sql = sqlite3_mprintf("SELECT _rowid_, * FROM \"%w\" ORDER BY 1", name);
    sqlite3_prepare_v2(db, sql, -1, &s, NULL);
    while (sqlite3_step(s) == SQLITE_ROW && t->row_count < 100) {
        image_row *r = &t->rows[t->row_count++];
        r->id = sqlite3_column_int64(s, 0);
        r->cells = calloc(t->column_count, sizeof *r->cells);
        for (unsigned i = 0; i < t->column_count; i++) {
            const int at = (int)i + 1, type = sqlite3_column_type(s, at);
            r->cells[i] = (image_cell){.type = type,
                                       .integer = sqlite3_column_int64(s, at),
                                       .real = sqlite3_column_double(s, at)};
            if (type == SQLITE_TEXT || type == SQLITE_BLOB) {
                const void *p = sqlite3_column_blob(s, at);
                r->cells[i].n = (size_t)sqlite3_column_bytes(s, at);
                r->cells[i].bytes = image_keep(p, r->cells[i].n);
            }
        }
    }
    sqlite3_finalize(s);
    sqlite3_free(sql);
}

static void image_load(image_world *w, const char *path)
{
    sqlite3 *db;
    sqlite3_stmt *s;
    char *sql = NULL;
    size_t capacity = 0;
    FILE *f = fopen(path, "r");
    if (!f || getdelim(&sql, &capacity, '\0', f) < 0 || sqlite3_open(":memory:", &db) ||
        sqlite3_exec(db, sql, NULL, NULL, NULL)) {
        fprintf(stderr, "%s: no such world; targets run at the root of the project\n", path);
        abort();
    }
    fclose(f);
    free(sql);
    sqlite3_prepare_v2(db, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid", -1,
                       &s, NULL);
    while (sqlite3_step(s) == SQLITE_ROW && w->count < IMAGE_TABLES / 2)
        image_load_table(&w->tables[w->count++], db, (const char *)sqlite3_column_text(s, 0));
    sqlite3_finalize(s);
    sqlite3_close(db);
}

/* ---- the program -------------------------------------------------------------------------------
 */

/* A step: what to do, where, and two bytes that say how. */
enum { IMAGE_STEP = 6 };

#define TEXT(t)                                                                                    \
    {                                                                                              \
        .type = SQLITE_TEXT, .bytes = (t), .n = sizeof(t) - 1                                      \
    }
#define BLOB(t)                                                                                    \
    {                                                                                              \
        .type = SQLITE_BLOB, .bytes = (t), .n = sizeof(t) - 1                                      \
    }
#define REAL(r)                                                                                    \
    {                                                                                              \
        .type = SQLITE_FLOAT, .real = (r)                                                          \
    }

/* Values that nobody expects; numbers are made by steps of their own. */
static const image_cell image_values[] = {
    {.type = SQLITE_NULL},
    REAL(0.5),
    REAL(-1e300),
    REAL(__builtin_inf()),
    REAL(-__builtin_inf()),
    REAL(9223372036854775807.0),
    REAL(1e18),
    TEXT(""),
    TEXT("{}"),
    TEXT("[]"),
    TEXT("soon"),
    TEXT("12"),
    TEXT(" 7"),
    TEXT("0x10"),
    TEXT("-9223372036854775809"),
    TEXT("1e999"),
    TEXT("nan"),
    BLOB(""),
    BLOB("{}"),
    BLOB("\x00\xff"),
    BLOB("\x04\"M\x18`@\x00\x00\x00\x00"),
    TEXT("{\"message\":\"m\"}"),
    TEXT("{\"message\":\""),
    TEXT("{\"message\": \"\\ud800\"}"),
    TEXT("{\"flags\":-1}"),
    TEXT("{\"flags\":\"0x10\"}"),
    TEXT("{\"kind\":\"barrier\"}"),
    TEXT("{\"number\":9223372036854775807}"),
    TEXT("{\"RANK\":\"99999999999\"}"),
    TEXT("{\"RANK\":3}"),
    TEXT("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["),
    TEXT("GPU"),
    TEXT("CPU"),
    TEXT("NIC"),
    TEXT("ALLOC"),
    TEXT("FREE"),
    TEXT("REALLOC"),
    TEXT("RECLAIM"),
    TEXT("VIRTUAL"),
    TEXT("SCRATCH"),
    TEXT("MARKER_CORE_RANGE_API"),
    TEXT("MARKER_CORE_API"),
    TEXT("ABS"),
    TEXT("void a::b<c(d)>::e(f) [clone .kd]"),
    TEXT("Cijk_Ailk_Bljk_SB_MT64x64x16_MI16x16"),
    TEXT("=cmd|'/c calc'!A0"),
    TEXT("\x1b[2J\a"),
    TEXT("a\0b"),
    TEXT("\xc3\x28\xff"),
    TEXT("</script><b>\"'&,;\r\n\t"),
    TEXT("../../../tmp/x"),
    TEXT("4.1.0"),
    TEXT("3"),
    TEXT("2"),
    TEXT("schema_version"),
    TEXT("rocline_slice"),
    TEXT("1,3/4 0 10"),
    TEXT("KernelExecution"),
    TEXT("CopyDeviceToHost"),
    TEXT("hipLaunchKernel"),
    TEXT("hipGraphLaunch"),
    TEXT("'3400,4950,70,70,hipMemcpy,Direction=DtoH,SrcType=device,Size=4096,Async=0"),
};

static const char *const image_types[] = {"INTEGER",         "TEXT", "REAL", "BLOB", "", "INT",
                                          "UNSIGNED BIG INT"};

static unsigned image_word(const uint8_t *p)
{
    return (unsigned)p[0] | (unsigned)p[1] << 8;
}

/* A cell of its own for a step to change; NULL: there is none. */
static image_cell *image_own_cell(image_table *t, const uint8_t *p)
{
    if (!t->row_count || !t->column_count)
        return NULL;
    image_row *r = &t->rows[p[2] % t->row_count];
    image_cell *cells = image_copy(r->cells, t->column_count * sizeof *cells);
    r->cells = cells ? cells : r->cells;
    return cells ? &cells[p[3] % t->column_count] : NULL;
}

static void image_repeat_row(image_table *t, unsigned from, unsigned times, int64_t step)
{
    for (; t->row_count && times && t->row_count < IMAGE_ROWS; times--) {
        image_row r = t->rows[from % t->row_count];
        r.id = (int64_t)((uint64_t)t->rows[t->row_count - 1].id + (uint64_t)step);
        t->rows[t->row_count++] = r;
    }
}

/* Tables and columns are left as they are: steps that change them change a cell instead. */
static bool image_keeps_schemas;

/* Changes what the step says. Returns how many bytes that follow belong to it as well. */
static size_t image_run_step(image_world *w, const uint8_t *p, size_t rest)
{
    image_table *t = &w->tables[p[1] % w->count];
    const unsigned word = image_word(p + 4);
    image_cell *c = NULL;
    unsigned what = p[0] % 16;
    size_t n = 0;
    if (image_keeps_schemas && what >= 11 && what <= 14)
        what -= 11;
    switch (what) {
    case 0: /* a value of the list */
    case 1:
        if ((c = image_own_cell(t, p)))
            *c = image_values[word % (sizeof image_values / sizeof *image_values)];
        break;
    case 2: /* a small number */
    case 3:
        if ((c = image_own_cell(t, p)))
            *c = (image_cell){.type = SQLITE_INTEGER, .integer = (int16_t)word};
        break;
    case 4: /* a power of two, or near it, of either sign */
        if ((c = image_own_cell(t, p)))
            *c = (image_cell){.type = SQLITE_INTEGER,
                              .integer =
                                  (int64_t)((UINT64_C(1) << (p[4] & 63)) + (uint64_t)(int8_t)p[5])};
        break;
    case 5: /* more or less than it is */
        if ((c = image_own_cell(t, p)))
            c->integer = (int64_t)((uint64_t)c->integer + (uint64_t)(int64_t)(int16_t)word);
        break;
    case 6: /* as another cell of the table */
        if ((c = image_own_cell(t, p)))
            *c = t->rows[p[4] % t->row_count].cells[p[5] % t->column_count];
        break;
    case 7: /* bytes of the input, as a text or a blob */
        n = p[4] < rest ? p[4] : rest;
        if ((c = image_own_cell(t, p)))
            *c = (image_cell){.type = p[5] & 1 ? SQLITE_BLOB : SQLITE_TEXT,
                              .bytes = image_copy(p + IMAGE_STEP, n),
                              .n = n};
        if (c && !c->bytes)
            c->n = 0;
        if (c && p[5] & 2) /* many times: it fills pages of its own */
            c->n = (c->bytes = image_alloc((size_t)p[5] * 64))
                       ? (memset((void *)(uintptr_t)c->bytes, n ? p[IMAGE_STEP] : 'x',
                                 (size_t)p[5] * 64),
                          (size_t)p[5] * 64)
                       : 0;
        break;
    case 8:
        if (t->row_count)
            t->rows[p[2] % t->row_count].id = (p[3] & 1)   ? INT64_MAX - (int64_t)word
                                              : (p[3] & 2) ? INT64_MIN + (int64_t)word
                                                           : (int16_t)word;
        break;
    case 9:
        image_repeat_row(t, p[2], 1 + p[3] % 200u, p[4] ? (int64_t)p[5] : 1);
        break;
    case 10: /* without a row */
        if (t->row_count) {
            const unsigned at = p[2] % t->row_count;
            memmove(&t->rows[at], &t->rows[at + 1], (t->row_count - at - 1) * sizeof *t->rows);
            t->row_count--;
        }
        break;
    case 11:
        t->columns[p[3] % t->column_count].is_dropped = true;
        break;
    case 12:
        t->columns[p[3] % t->column_count].type =
            image_types[word % (sizeof image_types / sizeof *image_types)];
        if (p[2] & 1)
            t->columns[p[3] % t->column_count].is_key = false;
        break;
    case 13:
        t->is_dropped = true;
        break;
    case 14:
        t->is_virtual = true;
        break;
    default: /* all rows of a column */
        for (unsigned i = 0; i < t->row_count; i++) {
            const uint8_t step[IMAGE_STEP] = {p[2] & 1 ? 0 : 2, p[1], (uint8_t)i, p[3], p[4], p[5]};
            if (i < 256)
                image_run_step(w, step, 0);
        }
    }
    return n;
}

/* The same process cannot be in a trace twice: guids of the copy begin with another letter. */
static bool image_rename_guids(image_table *t)
{
    for (unsigned i = 0; i < t->row_count; i++)
        for (unsigned k = 0; k < t->column_count; k++) {
            const image_cell *c = &t->rows[i].cells[k];
            if (c->type != SQLITE_TEXT || c->n != 36 || ((const char *)c->bytes)[8] != '-')
                continue;
            image_cell *cells = image_copy(t->rows[i].cells, t->column_count * sizeof *cells);
            char *guid = image_copy(c->bytes, c->n);
            if (!cells || !guid)
                return false;
            guid[0] = 'f';
            cells[k].bytes = guid;
            t->rows[i].cells = cells;
        }
    return true;
}

/* The tables of a world with rows and columns of its own. False: memory is out. */
static bool image_begin(image_world *w, const image_world *of, bool twice)
{
    *w = *of;
    image_used = 0;
    for (unsigned i = 0; i < of->count; i++) {
        image_table *t = &w->tables[i];
        t->columns = image_copy(t->columns, t->column_count * sizeof *t->columns);
        image_row *rows = image_alloc(IMAGE_ROWS * sizeof *rows);
        if (!t->columns || !rows)
            return false;
        memcpy(rows, t->rows, t->row_count * sizeof *rows);
        t->rows = rows;
    }
    for (unsigned i = 0; twice && i < of->count; i++) { /* "_a" is a process, "_b" another one */
        image_table *t = &w->tables[w->count];
        const size_t n = strlen(w->tables[i].name);
        *t = w->tables[i];
        char *name = image_copy(t->name, n + 1);
        image_row *rows = image_alloc(IMAGE_ROWS * sizeof *rows);
        t->columns = image_copy(t->columns, t->column_count * sizeof *t->columns);
        if (!name || !rows || !t->columns)
            return false;
        name[n - 1]++;
        t->name = name;
        t->rows = memcpy(rows, t->rows, t->row_count * sizeof *rows);
        if (!image_rename_guids(t))
            return false;
        w->count++;
    }
    return true;
}

/* ---- pages -------------------------------------------------------------------------------------
 */

typedef struct image_pages {
    uint8_t *bytes;
    size_t page_size;
    unsigned count;
    bool full;
} image_pages;

static void image_put16(uint8_t *p, size_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static void image_put32(uint8_t *p, size_t v)
{
    image_put16(p, v >> 16);
    image_put16(p + 2, v);
}

static size_t image_varint(uint8_t *p, uint64_t v)
{
    uint8_t reversed[10];
    size_t n = 0;
    if (v >> 56) { /* the ninth byte has eight bits */
        for (size_t i = 0; i < 8; i++)
            p[i] = (uint8_t)(v >> (8 + 7 * (7 - i)) | 0x80);
        p[8] = (uint8_t)v;
        return 9;
    }
    do
        reversed[n++] = (uint8_t)(v & 0x7f);
    while (v >>= 7);
    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)(reversed[n - 1 - i] | (i + 1 < n ? 0x80 : 0));
    return n;
}

/* The number of a new page, 0: there is no more space. */
static unsigned image_new_page(image_pages *f)
{
    if ((f->count + 1) * f->page_size > IMAGE_BYTES) {
        f->full = true;
        return 0;
    }
    memset(f->bytes + f->count * f->page_size, 0, f->page_size);
    return ++f->count;
}

/* A page of a b-tree that is being filled: cells from its end, their offsets from its begin. */
typedef struct image_page {
    uint8_t *at;
    size_t head, cells, top; /* where its header begins; how many cells; where the last begins */
} image_page;

static image_page image_open_page(const image_pages *f, unsigned number, uint8_t type)
{
    image_page p = {f->bytes + (number - 1) * f->page_size, number == 1 ? 100 : 0, 0, f->page_size};
    p.at[p.head] = type;
    image_put16(p.at + p.head + 5, p.top);
    return p;
}

static bool image_add_cell(image_page *p, const uint8_t *cell, size_t n)
{
    const size_t begin = p->head + (p->at[p->head] == 5 ? 12 : 8);
    if (begin + 2 * (p->cells + 1) + n > p->top)
        return false;
    p->top -= n;
    memcpy(p->at + p->top, cell, n);
    image_put16(p->at + begin + 2 * p->cells++, p->top);
    image_put16(p->at + p->head + 3, p->cells);
    image_put16(p->at + p->head + 5, p->top);
    return true;
}

/* The record of a row. Returns its size, 0: there is no space for it. */
static size_t image_record(uint8_t *to, size_t capacity, const image_table *t, const image_row *r)
{
    uint8_t types[IMAGE_COLUMNS * 9];
    size_t head = 0, body = 0, at;
    for (int pass = 0; pass < 2; pass++) {
        at = 0;
        if (pass) {
            const size_t size = head + (head + 1 < 128 ? 1 : 2);
            if (size + body > capacity)
                return 0;
            at = image_varint(to, size);
            memcpy(to + at, types, head);
            at += head;
        }
        for (unsigned i = 0; i < t->column_count; i++) {
            static const unsigned sizes[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};
            const image_cell *c = &r->cells[i];
            uint64_t type = 0, bits = (uint64_t)c->integer;
            if (t->columns[i].is_dropped)
                continue;
            if (c->type == SQLITE_FLOAT) {
                type = 7;
                memcpy(&bits, &c->real, sizeof bits);
            } else if (c->type == SQLITE_INTEGER && !t->columns[i].is_key) {
                for (type = 1; type < 6; type++) {
                    const unsigned shift = 64 - 8 * sizes[type];
                    if ((int64_t)(bits << shift) >> shift == c->integer)
                        break;
                }
            } else if (c->type == SQLITE_TEXT || c->type == SQLITE_BLOB) {
                type = 12 + 2 * (uint64_t)c->n + (c->type == SQLITE_TEXT);
            }
            const size_t n = type >= 12 ? c->n : sizes[type];
            if (!pass) {
                head += image_varint(types + head, type);
                body += n;
            } else if (type >= 12 && n) {
                memcpy(to + at, c->bytes, n);
            } else {
                for (size_t k = 0; k < n; k++)
                    to[at + k] = (uint8_t)(bits >> 8 * (n - 1 - k));
            }
            at += pass ? n : 0;
        }
    }
    return at;
}

/* The cell of a leaf: what does not fit into it is in a chain of pages. */
static size_t image_leaf_cell(image_pages *f, uint8_t *to, const uint8_t *record, size_t n,
                              int64_t id)
{
    const size_t size = f->page_size, most = size - 35, least = (size - 12) * 32 / 255 - 23;
    size_t local = n, at = image_varint(to, n);
    if (n > most) {
        local = least + (n - least) % (size - 4);
        local = local <= most ? local : least;
    }
    at += image_varint(to + at, (uint64_t)id);
    memcpy(to + at, record, local);
    at += local;
    uint8_t *link = to + at;
    if (local < n)
        at += 4;
    for (size_t from = local; from < n;) {
        const size_t part = n - from < size - 4 ? n - from : size - 4;
        const unsigned page = image_new_page(f);
        image_put32(link, page);
        if (!page)
            break;
        link = f->bytes + (page - 1) * size;
        memcpy(link + 4, record + from, part);
        from += part;
    }
    return at;
}

typedef struct image_child {
    unsigned page;
    int64_t last;
} image_child;

/* Puts a table on pages; returns its root. `root` 1 if that has to be the first page, else 0. */
static unsigned image_put_table(image_pages *f, const image_table *t, unsigned root)
{
    static uint8_t record[1 << 17], cell[(1 << 16) + 32];
    static image_child children[IMAGE_BYTES / 512];
    unsigned count = 0;
    unsigned page = root ? root : image_new_page(f);
    if (!page)
        return 0;
    image_page leaf = image_open_page(f, page, 13);
    for (unsigned i = 0; i < t->row_count && !f->full; i++) {
        const size_t n = image_record(record, sizeof record, t, &t->rows[i]);
        const size_t size = image_leaf_cell(f, cell, record, n, t->rows[i].id);
        if (image_add_cell(&leaf, cell, size))
            continue;
        if (page == 1) { /* the root moves up: its rows go on a page of their own */
            const unsigned moved = image_new_page(f);
            if (!moved)
                break;
            leaf = image_open_page(f, page = moved, 13);
            memset(f->bytes + 100, 0, f->page_size - 100);
            i = UINT32_MAX; /* from the first row on; chains that were made are lost pages */
            continue;
        }
        children[count++] = (image_child){page, i ? t->rows[i - 1].id : 0};
        if (!(page = image_new_page(f)))
            break;
        leaf = image_open_page(f, page, 13);
        image_add_cell(&leaf, cell, size);
    }
    children[count++] = (image_child){page, INT64_MAX};
    while ((count > 1 || (root && children[0].page != root)) && !f->full) {
        unsigned above = 0;
        /* One page holds them where they are few: the root. */
        const bool top = root && count * 15 < f->page_size - 120;
        page = top ? root : image_new_page(f);
        if (!page)
            break;
        image_page inner = image_open_page(f, page, 5);
        for (unsigned i = 0; i < count; i++) {
            image_put32(cell, children[i].page);
            const size_t n = 4 + image_varint(cell + 4, (uint64_t)children[i].last);
            if (i + 1 < count && image_add_cell(&inner, cell, n))
                continue;
            image_put32(inner.at + inner.head + 8, children[i].page);
            children[above++] = (image_child){page, children[i].last};
            if (i + 1 == count || !(page = image_new_page(f)))
                break;
            inner = image_open_page(f, page, 5);
        }
        count = above;
    }
    return children[0].page;
}

static int image_by_id(const void *a, const void *b)
{
    const image_row *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* The row of the schema for a table. */
static void image_put_schema(image_cell *cells, const image_table *t, unsigned root, size_t number)
{
    enum { SQL = 1 << 13 };
    char *sql = image_alloc(SQL);
    size_t n = 0;
    if (sql && t->is_virtual)
        n = (size_t)snprintf(sql, SQL, "CREATE VIEW \"%s\" AS SELECT 1 AS id%zu", t->name, number);
    else if (sql) {
        const char *comma = "";
        n = (size_t)snprintf(sql, SQL, "CREATE TABLE \"%s\"(", t->name);
        for (unsigned i = 0; i < t->column_count && n < SQL - 200; i++) {
            const image_column *c = &t->columns[i];
            if (c->is_dropped)
                continue;
            n += (size_t)snprintf(sql + n, SQL - n, "%s\"%s\" %s", comma, c->name,
                                  c->is_key ? "INTEGER PRIMARY KEY" : c->type);
            comma = ",";
        }
        sql[n++] = ')';
    }
    const char *type = t->is_virtual ? "view" : "table";
    const image_cell name = {.type = SQLITE_TEXT, .bytes = t->name, .n = strlen(t->name)};
    cells[0] = (image_cell){.type = SQLITE_TEXT, .bytes = type, .n = strlen(type)};
    cells[1] = cells[2] = name;
    cells[3] = (image_cell){.type = SQLITE_INTEGER, .integer = t->is_virtual ? 0 : root};
    cells[4] = (image_cell){.type = SQLITE_TEXT, .bytes = sql, .n = n};
}

/* All tables as a file of pages, in `to` of IMAGE_BYTES. Returns its size. */
static size_t image_write(image_world *w, uint8_t *to, size_t page_size, bool sorted)
{
    static image_column columns[5];
    static image_row rows[IMAGE_TABLES];
    static image_cell cells[IMAGE_TABLES][5];
    image_pages f = {.bytes = to, .page_size = page_size};
    image_table schema = {.columns = columns, .rows = rows, .column_count = 5};
    image_new_page(&f);
    for (unsigned i = 0; i < w->count; i++) {
        image_table *t = &w->tables[i];
        if (t->is_dropped)
            continue;
        if (sorted)
            qsort(t->rows, t->row_count, sizeof *t->rows, image_by_id);
        const unsigned root = t->is_virtual ? 0 : image_put_table(&f, t, 0);
        image_put_schema(cells[schema.row_count], t, root, i);
        rows[schema.row_count] = (image_row){schema.row_count + 1, cells[schema.row_count]};
        schema.row_count++;
    }
    image_put_table(&f, &schema, 1);
    memcpy(to, "SQLite format 3", 16);
    image_put16(to + 16, page_size);
    to[18] = to[19] = 1; /* no log */
    to[21] = 64, to[22] = to[23] = 32;
    image_put32(to + 24, 1);
    image_put32(to + 28, f.count);
    image_put32(to + 40, 1);
    image_put32(to + 44, 4);
    image_put32(to + 56, 1);
    image_put32(to + 92, 1);
    image_put32(to + 96, 3040001);
    return f.count * page_size;
}

/* Bits of a program's first byte. */
enum { IMAGE_PAGES = 3, IMAGE_UNSORTED = 4, IMAGE_TWICE = 8 };

/* Runs a program on a world, and writes what comes out. Its first byte says how pages are made, and
 * how many of the last steps damage them: a place, and what is put there. Returns the size. */
static size_t image_make(const image_world *of, const uint8_t *steps, size_t n, uint8_t *to)
{
    static image_world w;
    const unsigned how = n ? steps[0] : 0;
    const unsigned patches = (how >> 4 & 1) * (1 + (how >> 5));
    size_t at = 1, end = n;
    if (!image_begin(&w, of, how & IMAGE_TWICE))
        return 0;
    if (n > 1 + patches * IMAGE_STEP)
        end -= patches * IMAGE_STEP;
    for (; at + IMAGE_STEP <= end; at += IMAGE_STEP)
        at += image_run_step(&w, steps + at, end - at - IMAGE_STEP);
    size_t size = image_write(&w, to, (size_t)512 << (how & IMAGE_PAGES), !(how & IMAGE_UNSORTED));
    for (at = end; at + IMAGE_STEP <= n && size; at += IMAGE_STEP) {
        const uint8_t *p = steps + at;
        const size_t where = ((size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3]) % size;
        if (p[0] & 1)
            to[where] = p[4];
        else if (p[0] & 2) /* a page at its begin: kind, cells, offsets */
            to[where / ((size_t)512 << (how & 3)) * ((size_t)512 << (how & 3)) + p[5] % 16] = p[4];
        else if (where)
            size = where;
    }
    return size;
}

#ifdef __clang__
#pragma clang attribute pop
#endif

#endif
