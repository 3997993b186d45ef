/* Tables of rocpd: which sets of them a database holds, and the rows of one of them. */
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "source/rocpd/rocpd.h"

enum { JSON_MAX = 64 << 20 };

/* The name of a table of a set; separate from the lookup, so that a missing table is not taken for
 * missing memory. */
typedef struct table_name {
    const char *base, *suffix;
} table_name;

static int compare_pieces(const void *key, const void *object)
{
    const table_name *wanted = key;
    const char *name = ((const rocl_db_object *)object)->name;
    size_t n = strlen(wanted->base);
    int order = strncmp(wanted->base, name, n);
    return order ? order : strcmp(wanted->suffix, name + n);
}

const char *rocpd_table_in(const rocpd_found *f, schema_table table, const char *suffix)
{
    const table_name wanted = {schema_table_name(table), suffix};
    if (!f->object_count)
        return NULL;
    const rocl_db_object *o =
        bsearch(&wanted, f->objects, f->object_count, sizeof *f->objects, compare_pieces);
    return o && !o->is_view ? o->name : NULL;
}

/* A set is there when any of its event-like tables or its strings are. */
static bool set_exists(const rocpd_found *f, const char *suffix)
{
    static const schema_table signs[] = {SCHEMA_STRING, SCHEMA_REGION, SCHEMA_DISPATCH,
                                         SCHEMA_PROCESS};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (rocpd_table_in(f, signs[i], suffix))
            return true;
    return false;
}

static rocl_status add_suffix(rocpd_found *f, const char *suffix, rocl_error *err)
{
    for (size_t i = 0; i < f->count; i++)
        if (!strcmp(f->suffixes[i], suffix))
            return ROCL_OK;
    size_t cap = rocl_array_cap(f->count);
    if (!ROCL_GROW(f->suffixes, cap, f->count + 1))
        return rocl_fail_memory(err);
    f->suffixes[f->count] = strdup(suffix);
    return f->suffixes[f->count++] ? ROCL_OK : rocl_fail_memory(err);
}

/* Real files store the uuid with a leading '_', which is the suffix itself; others without. */
static rocl_status add_uuid(rocpd_found *f, const char *uuid, rocl_error *err)
{
    if (set_exists(f, uuid))
        return add_suffix(f, uuid, err);
    char *suffix = rocl_concat("_", uuid);
    if (!suffix)
        return rocl_fail_memory(err);
    rocl_status st = set_exists(f, suffix) ? add_suffix(f, suffix, err) : ROCL_OK;
    free(suffix);
    return st;
}

static rocl_status read_metadata(rocpd_found *f, rocl_db *db, const char *table, rocl_error *err)
{
    static const char *const columns[] = {"tag", "value"};
    rocl_rows *rows;
    unsigned n = 0;
    rocl_status st = rocl_rows_open(&rows, db, table, columns, 2, err);
    if (st != ROCL_OK)
        return st;
    st = rocl_rows_seek(rows, INT64_MIN, INT64_MAX, err);
    while (st == ROCL_OK && (st = rocl_rows_next(rows, ROCL_ROWS_BATCH, &n, err)) == ROCL_OK && n)
        for (unsigned i = 0; i < n && st == ROCL_OK; i++) {
            size_t len;
            const char *tag = rocl_cell_text(rows, 0, i, &len);
            const char *value = rocl_cell_text(rows, 1, i, &len);
            if (!strcmp(tag, "uuid"))
                st = add_uuid(f, value, err);
            else if (!strcmp(tag, "schema_version") && !*f->version)
                snprintf(f->version, sizeof f->version, "%s", value);
            else if (!strcmp(tag, "upid")) /* rocprofv3 has none */
                f->systems = true;
            else if (!strcmp(tag, "compression"))
                f->compressed = true;
            else if (!strcmp(tag, SCHEMA_SLICE_TAG))
                f->slice = true;
        }
    rocl_rows_close(rows);
    return st;
}

static int compare_objects(const void *a, const void *b)
{
    return strcmp(((const rocl_db_object *)a)->name, ((const rocl_db_object *)b)->name);
}

rocl_status rocpd_find(rocpd_found *f, rocl_db *db, const char *path, rocl_error *err)
{
    memset(f, 0, sizeof *f);
    rocl_status st = rocl_db_objects(db, &f->objects, &f->object_count, err);
    size_t count = 0;
    /* Sets in order of creation, so that a merged file gives the same as the files that it was made
     * of. The name of a metadata table says as much as the uuid in it, which may be missing or
     * damaged.
     * Names of metadata tables: sorting moves the objects, their names stay where they are. */
    const char **names = malloc((f->object_count + 1) * sizeof *names);
    if (!names)
        st = rocl_fail_memory(err);
    for (size_t i = 0; names && i < f->object_count; i++)
        if (!f->objects[i].is_view && !strncmp(f->objects[i].name, "rocpd_metadata", 14))
            names[count++] = f->objects[i].name;
    if (f->object_count)
        qsort(f->objects, f->object_count, sizeof *f->objects, compare_objects);
    for (size_t i = 0; i < count && st == ROCL_OK; i++) {
        const char *suffix = names[i] + strlen(schema_table_name(SCHEMA_METADATA));
        st = read_metadata(f, db, names[i], err);
        if (st == ROCL_OK && *suffix && set_exists(f, suffix))
            st = add_suffix(f, suffix, err);
    }
    free(names);
    if (st == ROCL_OK && !f->count && set_exists(f, ""))
        st = add_suffix(f, "", err); /* one flat set, as a merge may leave it */
    if (st == ROCL_OK && !f->count)
        st =
            f->object_count
                ? rocl_fail(err, ROCL_INPUT,
                            "%s: a SQLite database, but not a rocpd trace (no metadata with a uuid "
                            "and its tables)",
                            path)
                : rocl_fail(err, ROCL_INPUT, "%s: a SQLite database without any table", path);
    if (st != ROCL_OK)
        rocpd_found_free(f);
    return st;
}

void rocpd_found_free(rocpd_found *f)
{
    rocl_db_objects_free(f->objects, f->object_count);
    for (size_t i = 0; i < f->count; i++)
        free(f->suffixes[i]);
    free(f->suffixes);
    memset(f, 0, sizeof *f);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The rules for what a row may hold: references that lead somewhere, integers that are integers,
 * times that make sense. Every breach is counted; see rocline(7). */
rocl_status rocpd_each_batch(rocpd_row *r, rocl_db *db, const char *const *columns, unsigned count,
                             const rocl_task *task, rocpd_batch_fn *fn, void *ctx, rocl_error *err)
{
    rocl_rows *rows;
    unsigned n = 0;
    rocl_status st = rocl_rows_open(&rows, db, r->set->tables[r->table], columns, count, err);
    if (st != ROCL_OK)
        return st;
    r->rows = rows;
    st = rocl_rows_seek(rows, task ? task->first : INT64_MIN, task ? task->last : INT64_MAX, err);
    while (st == ROCL_OK && (st = rocl_rows_next(rows, ROCL_ROWS_BATCH, &n, err)) == ROCL_OK && n) {
        st = fn(r, n, ctx, err);
        if (r->progress)
            rocl_progress(r->set->trace, n);
    }
    rocl_rows_close(rows);
    return st;
}

typedef struct row_by_row {
    rocpd_row_fn *fn;
    void *ctx;
} row_by_row;

static rocl_status pass_rows(rocpd_row *r, unsigned n, void *ctx, rocl_error *err)
{
    const row_by_row *to = ctx;
    rocl_status st = ROCL_OK;
    for (r->row = 0; r->row < n && st == ROCL_OK; r->row++)
        st = to->fn(r, to->ctx, err);
    return st;
}

rocl_status rocpd_each_row(rocpd_row *r, rocl_db *db, const char *const *columns, unsigned count,
                           const rocl_task *task, rocpd_row_fn *fn, void *ctx, rocl_error *err)
{
    row_by_row to = {fn, ctx};
    return rocpd_each_batch(r, db, columns, count, task, pass_rows, &to, err);
}

rocl_status rocpd_count_fault(const rocpd_row *r, rocl_fault f, rocl_error *err)
{
    const rocpd_set *s = r->set;
    return rocl_fault_count(s->trace, f, err, "%s: table %s: id %lld", s->capture->pub.path,
                            s->tables[r->table], (long long)r->rows->id[r->row]);
}

rocl_status rocpd_read_ref_slow(const rocpd_row *r, unsigned col, const rocl_ids *ids,
                                rocl_fault dangling, uint32_t *index, rocl_error *err)
{
    int64_t id;
    bool bad = false;
    *index = ROCL_NONE;
    if (!rocl_cell_int(r->rows, col, r->row, &id, &bad))
        return bad ? rocpd_count_fault(r, ROCL_FAULT_BAD_VALUE, err) : ROCL_OK;
    uint32_t known = rocl_ids_get(ids, (uint64_t)id);
    if (known == ROCPD_NOBODY)
        return ROCL_OK;
    *index = known;
    return known == ROCL_NONE && !ids->absent ? rocpd_count_fault(r, dangling, err) : ROCL_OK;
}

/* One writer has bare frames, another one puts a word and their length before them. */
const char *rocpd_unpack_json(rocl_lz4 *unpacked, const char *p, size_t *n)
{
    rocl_buf *text = &unpacked->text;
    const size_t before = *n > 8 && !memcmp(p, "LZ4F", 4) ? 8 : 0;
    p += before;
    *n -= before;
    if (!rocl_lz4_unpack(unpacked, p, *n, JSON_MAX)) /* its reader finds that it is not JSON */
        return p;
    *n = text->len;
    rocl_buf_byte(text, 0);
    if (*n == 2 && !memcmp(text->data, "{}", 2))
        *n = 0;
    return text->failed ? "" : (const char *)text->data;
}
