/* Results of SQL as Parquet and Arrow. A column of SQLite may hold values of any type, but the type
 * of a column must be known when its first rows are encoded. So all rows are put aside first, as
 * groups of cells: in memory within the limit, in a temporary file beyond. Then a column is
 *
 *     text      if any value is a text or a blob (X'00FF'); numbers in it become texts
 *     real      if any value is real, else
 *     integer
 *
 * and without values what it was declared as. */
#include "query/columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/error.h"
#include "base/extsort.h"
#include "base/num.h"
#include "base/strings.h"
#include "base/text.h"
#include "sink/columnar/columnar.h"

enum {
    CELLS = 4 << 20,       /* of a group, at most */
    GROUP_TEXTS = 64 << 20 /* bytes of texts in a group, about */
};

/* Types of values that a column has: bits. */
enum { HAS_INTEGER = 1, HAS_REAL = 2, HAS_TEXT = 4 };

typedef struct cell_group {
    size_t rows;
    rocl_stored *cells; /* by column: 8 bytes a row */
    rocl_stored *types; /* by column: a byte a row, where values are of several types */
} cell_group;

typedef struct column_writer {
    size_t count; /* of columns; 0: no statement with columns has begun */
    rocl_relation_column *columns;
    uint8_t *seen; /* by column: HAS_... */
    rocl_strings *strings;
    rocl_sort_space *space;
    size_t group_rows; /* at most */
    /* The rows at hand: column after column. */
    int64_t *cells;
    uint8_t *types;
    size_t rows, texts;
    rocl_buf text;
    /* What was put aside. */
    cell_group *groups;
    size_t group_count, group_capacity;
    uint64_t all_rows;
    /* Reading it again. */
    size_t next_group;
    rocl_buf *loaded, loaded_types; /* by column */
} column_writer;

/* ---- rows as they come ----------------------------------------------------------------------- */

/* Columns of a file have different names: "id" and "id_1". */
static char *make_name(const column_writer *w, size_t before, const char *name)
{
    const size_t size = strlen(name) + 16;
    char *unique = malloc(size);
    if (unique)
        strcpy(unique, name);
    unsigned n = 1;
    for (size_t i = 0; unique && i < before;)
        if (!strcasecmp(w->columns[i].name, unique)) {
            snprintf(unique, size, "%s_%u", name, n++);
            i = 0;
        } else {
            i++;
        }
    return unique;
}

static rocl_status begin_columns(column_writer *w, const rocl_result_row *r, rocl_error *err)
{
    if (w->count)
        return rocl_fail(err, ROCL_USAGE,
                         "Parquet and Arrow hold the rows of one statement: this text has several");
    w->columns = calloc(r->count, sizeof *w->columns);
    w->seen = calloc(r->count, 1);
    w->loaded = calloc(r->count, sizeof *w->loaded);
    w->group_rows =
        CELLS / r->count < ROCL_COLUMNAR_GROUP_ROWS ? CELLS / r->count : ROCL_COLUMNAR_GROUP_ROWS;
    w->cells = malloc(w->group_rows * r->count * sizeof *w->cells);
    w->types = malloc(w->group_rows * r->count);
    if (!w->columns || !w->seen || !w->loaded || !w->cells || !w->types)
        return rocl_fail_memory(err);
    w->count = r->count;
    for (size_t i = 0; i < r->count; i++) {
        const char *type = r->types[i] ? r->types[i] : "";
        const bool text = strcasestr(type, "text") || strcasestr(type, "char");
        const bool real =
            strcasestr(type, "real") || strcasestr(type, "doub") || strcasestr(type, "floa");
        w->columns[i].type = text ? ROCL_CELL_TEXT : real ? ROCL_CELL_REAL : ROCL_CELL_INTEGER;
        if (!(w->columns[i].name = make_name(w, i, r->columns[i])))
            return rocl_fail_memory(err);
    }
    return ROCL_OK;
}

/* Puts the rows at hand aside. */
static rocl_status store_group(column_writer *w, rocl_error *err)
{
    const size_t n = w->rows;
    rocl_status st = ROCL_OK;
    if (!n)
        return ROCL_OK;
    cell_group g = {n, calloc(w->count, sizeof *g.cells), calloc(w->count, sizeof *g.types)};
    if (!g.cells || !g.types || !ROCL_GROW(w->groups, w->group_capacity, w->group_count + 1)) {
        free(g.cells);
        free(g.types);
        return rocl_fail_memory(err);
    }
    w->groups[w->group_count++] = g;
    for (size_t i = 0; i < w->count && st == ROCL_OK; i++) {
        const uint8_t *types = w->types + i * w->group_rows;
        uint8_t has = 0;
        for (size_t row = 0; row < n; row++)
            has |= types[row];
        w->seen[i] |= has;
        st = rocl_space_store(w->space, &g.cells[i], w->cells + i * w->group_rows,
                              n * sizeof *w->cells, err);
        if (st == ROCL_OK && (has & (has - 1)))
            st = rocl_space_store(w->space, &g.types[i], types, n, err);
        else if (st == ROCL_OK) /* all known values are of one type */
            st = rocl_space_store(w->space, &g.types[i], &has, 1, err);
    }
    w->rows = w->texts = 0;
    return st;
}

static rocl_status put_text(column_writer *w, const char *p, size_t n, int64_t *cell,
                            rocl_error *err)
{
    const uint32_t id = rocl_strings_put(w->strings, p, n);
    *cell = id;
    w->texts += n;
    return id == ROCL_NONE ? rocl_fail_memory(err) : ROCL_OK;
}

static rocl_status put_value(column_writer *w, size_t column, const rocl_sql_value *v,
                             rocl_error *err)
{
    int64_t *cell = &w->cells[column * w->group_rows + w->rows];
    uint8_t *type = &w->types[column * w->group_rows + w->rows];
    *cell = ROCL_CELL_NULL;
    *type = 0;
    switch (v->type) {
    case ROCL_SQL_NULL:
        return ROCL_OK;
    case ROCL_SQL_INTEGER:
        *type = HAS_INTEGER;
        *cell = v->integer;
        return v->integer != ROCL_CELL_NULL
                   ? ROCL_OK
                   : rocl_fail(err, ROCL_OUTPUT,
                               "%s: %lld, the least integer there is, cannot be written here",
                               w->columns[column].name, (long long)v->integer);
    case ROCL_SQL_REAL:
        *type = HAS_REAL;
        *cell = rocl_real_cell(v->real);
        return ROCL_OK;
    case ROCL_SQL_TEXT:
        *type = HAS_TEXT;
        return put_text(w, v->text, v->len, cell, err);
    default:
        *type = HAS_TEXT;
        w->text.len = 0;
        rocl_blob_put(&w->text, v->text, v->len);
        return w->text.failed ? rocl_fail_memory(err)
                              : put_text(w, (const char *)w->text.data, w->text.len, cell, err);
    }
}

static rocl_status take_row(void *ctx, const rocl_result_row *r, rocl_error *err)
{
    column_writer *w = ctx;
    rocl_status st = ROCL_OK;
    if (!r->values)
        return begin_columns(w, r, err);
    for (size_t i = 0; i < r->count && st == ROCL_OK; i++)
        st = put_value(w, i, &r->values[i], err);
    w->rows++;
    w->all_rows++;
    if (st == ROCL_OK && (w->rows == w->group_rows || w->texts > GROUP_TEXTS))
        st = store_group(w, err);
    return st;
}

/* ---- and as they are written ----------------------------------------------------------------- */

/* Makes cells of several types, or of another one, those of the column. */
static rocl_status convert_cells(column_writer *w, rocl_cell_type to, int64_t *cells, size_t n,
                                 const uint8_t *types, bool several, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < n && st == ROCL_OK; i++) {
        const uint8_t type = types[several ? i : 0];
        char digits[ROCL_NUM_MAX];
        if (cells[i] == ROCL_CELL_NULL)
            continue;
        if (to == ROCL_CELL_REAL && type == HAS_INTEGER) {
            cells[i] = rocl_real_cell((double)cells[i]);
        } else if (to == ROCL_CELL_TEXT && type != HAS_TEXT) {
            const char *end = type == HAS_INTEGER
                                  ? rocl_put_i64(digits, cells[i])
                                  : rocl_put_double(digits, rocl_cell_real(cells[i]));
            st = put_text(w, digits, (size_t)(end - digits), &cells[i], err);
        }
    }
    return st;
}

static rocl_status fill_group(void *ctx, rocl_columnar_file *f, rocl_error *err)
{
    column_writer *w = ctx;
    rocl_status st = ROCL_OK;
    f->group_rows = 0;
    if (w->next_group == w->group_count)
        return ROCL_OK;
    cell_group *g = &w->groups[w->next_group++];
    for (size_t i = 0; i < w->count && st == ROCL_OK; i++) {
        static const uint8_t of_type[] = {[ROCL_CELL_INTEGER] = HAS_INTEGER,
                                          [ROCL_CELL_REAL] = HAS_REAL,
                                          [ROCL_CELL_TEXT] = HAS_TEXT};
        const rocl_cell_type type = w->columns[i].type;
        const uint8_t *bytes, *types;
        st = rocl_space_load(w->space, &g->cells[i], &w->loaded[i], &bytes, err);
        if (st == ROCL_OK)
            st = rocl_space_load(w->space, &g->types[i], &w->loaded_types, &types, err);
        if (st != ROCL_OK)
            break;
        f->cells[i] = (int64_t *)(uintptr_t)bytes; /* ours to change */
        if (g->types[i].size > 1 || types[0] != of_type[type])
            st = convert_cells(w, type, f->cells[i], g->rows, types, g->types[i].size > 1, err);
    }
    if (w->next_group > 1) { /* the one before is written */
        cell_group *before = &w->groups[w->next_group - 2];
        for (size_t i = 0; i < w->count; i++)
            rocl_space_drop(w->space, &before->cells[i]);
    }
    f->group_rows = g->rows;
    return st;
}

static rocl_status write_columns(column_writer *w, rocl_query *q, const rocl_rows_options *o,
                                 rocl_error *err)
{
    const rocl_export_options options = {.format =
                                             o->format == ROCL_ROWS_PARQUET ? ROCL_EXPORT_PARQUET
                                             : o->format == ROCL_ROWS_ARROW ? ROCL_EXPORT_ARROW
                                                                            : ROCL_EXPORT_ARROWS,
                                         .path = o->path ? o->path : "-"};
    rocl_columnar_run run = {.trace = rocl_query_trace(q),
                             .options = &options,
                             .strings = w->strings,
                             .space = w->space};
    const rocl_relation relation = {
        .name = "result", .columns = w->columns, .column_count = (unsigned)w->count};
    rocl_status st = store_group(w, err);
    if (st == ROCL_OK && !w->count)
        st = rocl_fail(err, ROCL_USAGE, "no statement has a result that could be written");
    free(w->cells);
    free(w->types);
    w->cells = NULL;
    w->types = NULL;
    for (size_t i = 0; i < w->count; i++)
        if (w->seen[i])
            w->columns[i].type = w->seen[i] & HAS_TEXT   ? ROCL_CELL_TEXT
                                 : w->seen[i] & HAS_REAL ? ROCL_CELL_REAL
                                                         : ROCL_CELL_INTEGER;
    return st ? st
              : rocl_columnar_write_rows(&run, rocl_columnar_format_of(options.format), &relation,
                                         fill_group, w, err);
}

rocl_status rocl_query_write_columns(rocl_query *q, const char *sql, const rocl_rows_options *o,
                                     uint64_t *rows, rocl_error *err)
{
    column_writer w = {
        .strings = rocl_strings_new(),
        .space = rocl_sort_space_new(rocl_query_memory(q), 1, rocl_query_trace(q)->opt.tmpdir)};
    rocl_status st = w.strings && w.space ? ROCL_OK : rocl_fail_memory(err);
    if (st == ROCL_OK)
        st = rocl_query_run(q, sql, take_row, &w, err);
    if (st <= ROCL_PARTIAL) {
        const rocl_status written = write_columns(&w, q, o, err);
        const rocl_status changed =
            rocl_trace_outcome_texts(rocl_query_trace(q), rocl_strings_not_utf8(w.strings));
        st = written ? written : st ? st : changed;
    }
    if (rows)
        *rows = w.all_rows;
    for (size_t g = 0; g < w.group_count; g++) {
        for (size_t i = 0; i < w.count; i++) {
            rocl_space_drop(w.space, &w.groups[g].cells[i]);
            rocl_space_drop(w.space, &w.groups[g].types[i]);
        }
        free(w.groups[g].cells);
        free(w.groups[g].types);
    }
    for (size_t i = 0; i < w.count; i++) {
        free((char *)(uintptr_t)w.columns[i].name);
        rocl_buf_free(&w.loaded[i]);
    }
    rocl_buf_free(&w.loaded_types);
    rocl_buf_free(&w.text);
    free(w.groups);
    free(w.columns);
    free(w.seen);
    free(w.loaded);
    free(w.cells);
    free(w.types);
    rocl_strings_free(w.strings);
    rocl_sort_space_free(w.space);
    return st;
}
