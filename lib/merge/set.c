#include "merge/set.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/array.h"
#include "source/db/connection.h"
#include "source/formats.h"

#define DEFAULT_WORD " DEFAULT "

void merge_put_default(sqlite3_str *sql, const char *declared)
{
    const char *value = strstr(declared, DEFAULT_WORD);
    value = value ? value + strlen(DEFAULT_WORD) : "NULL";
    if (*value != '"') {
        sqlite3_str_appendall(sql, value);
        return;
    }
    /* SQLite takes a text in double quotes only where no column has that name. */
    sqlite3_str_appendchar(sql, 1, '\'');
    for (const char *p = value + 1; *p && p[1]; p++) {
        if (*p == '\'')
            sqlite3_str_appendchar(sql, 1, '\'');
        if (*p == '"')
            p++;
        sqlite3_str_appendchar(sql, 1, *p);
    }
    sqlite3_str_appendchar(sql, 1, '\'');
}

/* ---- declarations, as far as they can be repeated ---- */

/* A properly terminated text in quotes. */
static bool is_quoted(const char *s)
{
    char quote = *s;
    if (quote != '\'' && quote != '"')
        return false;
    for (s++; *s; s++)
        if (*s == quote && *++s != quote)
            return !*s;
    return false;
}

/* A type of words and at most a length can be said again without a second look, and so can a
 * default that is a number or a text. */
static char *make_declaration(const char *type, const char *value)
{
    rocl_buf b = {0};
    const char *end = type ? type : "";
    while (isalnum((unsigned char)*end) || (*end && strchr("_ (),", *end)))
        end++;
    if (type && !*end)
        rocl_buf_str(&b, type);
    const char *digits = value && (*value == '-' || *value == '+') ? value + 1 : value;
    bool number = value && *digits && !digits[strspn(digits, "0123456789.")];
    if (number || (value && is_quoted(value))) {
        rocl_buf_str(&b, DEFAULT_WORD);
        rocl_buf_str(&b, value);
    }
    rocl_buf_byte(&b, 0);
    if (b.failed)
        rocl_buf_free(&b);
    return (char *)b.data;
}

/* ---- tables ---- */

enum { HIDDEN = 1 }; /* what table_xinfo says of a column that a virtual table does not show */

static rocl_status read_table(merge_set *set, rocl_db *db, const char *table, size_t suffix,
                              rocl_error *err)
{
    static const char sql[] =
        "SELECT name, type, dflt_value, hidden FROM pragma_table_xinfo(?1, 'main')";
    size_t table_cap = rocl_array_cap(set->count);
    if (!ROCL_GROW(set->tables, table_cap, set->count + 1))
        return rocl_fail_memory(err);
    merge_source *s = &set->tables[set->count++];
    *s = (merge_source){.name = strdup(table), .base = strndup(table, strlen(table) - suffix)};
    if (!s->name || !s->base)
        return rocl_fail_memory(err);
    s->table = schema_table_of(s->base);
    sqlite3_stmt *row = NULL;
    size_t cap = 0;
    rocl_status st = ROCL_OK;
    int rc = sqlite3_prepare_v2(db->handle, sql, -1, &row, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_text(row, 1, s->name, -1, SQLITE_STATIC);
    while (rc == SQLITE_OK && st == ROCL_OK && (rc = sqlite3_step(row)) == SQLITE_ROW) {
        rc = SQLITE_OK;
        if (!ROCL_GROW(s->fields, cap, s->count + 1)) {
            st = rocl_fail_memory(err);
            break;
        }
        const char *name = (const char *)sqlite3_column_text(row, 0);
        merge_field *f = &s->fields[s->count++];
        *f = (merge_field){.name = strdup(name ? name : ""),
                           .declared = make_declaration((const char *)sqlite3_column_text(row, 1),
                                                        (const char *)sqlite3_column_text(row, 2)),
                           .is_declared = sqlite3_column_int(row, 3) != HIDDEN};
        st = f->name && f->declared ? ROCL_OK : rocl_fail_memory(err);
    }
    if (st == ROCL_OK && rc != SQLITE_DONE)
        st = rocl_sqlite_fail(db, s->name, err);
    sqlite3_finalize(row);
    /* Times of an event with their track; a sample has one in every schema. */
    s->by_track = st == ROCL_OK && schema_rule_of(s->table) == SCHEMA_SELECTED &&
                  s->table != SCHEMA_SAMPLE && merge_source_field(s, "track_id");
    set->by_track |= s->by_track;
    return st;
}

/* ---- the set ---- */

static rocl_status read_version(merge_set *set, rocl_db *db, rocl_error *err)
{
    static const char *const columns[] = {"tag", "value"};
    const merge_source *metadata = merge_set_table(set, schema_table_name(SCHEMA_METADATA));
    rocl_rows *rows;
    unsigned n = 0;
    if (!metadata)
        return ROCL_OK;
    rocl_status st = rocl_rows_open(&rows, db, metadata->name, columns, 2, err);
    if (st != ROCL_OK)
        return st;
    st = rocl_rows_seek(rows, INT64_MIN, INT64_MAX, err);
    while (st == ROCL_OK && (st = rocl_rows_next(rows, ROCL_ROWS_BATCH, &n, err)) == ROCL_OK && n)
        for (unsigned i = 0; i < n; i++) {
            size_t len;
            const char *tag = rocl_cell_text(rows, 0, i, &len);
            char **value = !strcmp(tag, "schema_version")   ? &set->version
                           : !strcmp(tag, SCHEMA_SLICE_TAG) ? &set->slice
                                                            : NULL;
            if (!value)
                continue;
            free(*value);
            *value = strdup(rocl_cell_text(rows, 1, i, &len));
        }
    rocl_rows_close(rows);
    return st;
}

static void free_tables(merge_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        merge_source *s = &set->tables[i];
        for (size_t k = 0; k < s->count; k++) {
            free(s->fields[k].name);
            free(s->fields[k].declared);
        }
        free(s->fields);
        free(s->name);
        free(s->base);
    }
    free(set->tables);
    free(set->version);
    free(set->slice);
    *set = (merge_set){0};
}

const merge_source *merge_set_table(const merge_set *set, const char *base)
{
    for (size_t i = 0; i < set->count; i++)
        if (!strcmp(set->tables[i].base, base))
            return &set->tables[i];
    return NULL;
}

const merge_field *merge_source_field(const merge_source *s, const char *column)
{
    for (size_t i = 0; s && i < s->count; i++)
        if (s->fields[i].is_declared && !sqlite3_stricmp(s->fields[i].name, column))
            return &s->fields[i];
    return NULL;
}

/* ---- the file that is read ----------------------------------------------------------------- */

static rocl_status open_file(merge_reader *r, rocl_trace *t, const rocl_source *s, rocl_error *err)
{
    const rocpd_file *file = s->state;
    rocl_status st = rocl_source_connect(&r->db, t, s, &file->state, err);
    if (st == ROCL_OK)
        st = rocl_db_sqlite(r->db, err); /* the set and the plan query it */
    if (st == ROCL_OK)
        st = rocpd_find(&r->found, r->db, s->path, err);
    if (st != ROCL_OK)
        return st;
    r->source = s;
    const rocpd_found *found = &r->found;
    r->owners = malloc((found->object_count + 1) * sizeof *r->owners);
    if (!r->owners)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < found->object_count; i++) {
        const rocl_db_object *o = &found->objects[i];
        size_t best = found->count, len = strlen(o->name), longest = 0;
        for (size_t k = 0; k < found->count && !strncmp(o->name, "rocpd_", 6); k++) {
            size_t n = strlen(found->suffixes[k]);
            if (!o->is_view && n < len && !strcmp(o->name + len - n, found->suffixes[k]) &&
                (best == found->count || n > longest)) {
                best = k;
                longest = n;
            }
        }
        r->owners[i] = best;
    }
    return ROCL_OK;
}

/* Where there are more slices than readers, most of them keep theirs: giving up the one that was
 * used least recently would open every file every time. */
merge_reader *merge_reader_choose(merge_reader readers[MERGE_READERS], const rocl_source *s)
{
    const size_t last = MERGE_READERS - 1;
    size_t i = 0;
    while (i < last && readers[i].source != s)
        i++;
    if (i == last && s->slice && readers[last].source != s)
        for (i = 0; i < last && readers[i].source;)
            i++;
    return &readers[i];
}

rocl_status merge_reader_to(merge_reader *r, rocl_trace *t, const rocl_capture *c, bool *opened,
                            rocl_error *err)
{
    const rocl_source *s = t->captures[c->index]->source;
    rocl_status st = ROCL_OK;
    bool other = r->source != s;
    size_t index = 0;
    if (!(s->format->flags & ROCL_FORMAT_TABLE_SETS))
        return rocl_fail(err, ROCL_INPUT, "%s: not a rocpd database: only these can be merged",
                         s->path);
    if (other) {
        st = merge_reader_close(r, err);
        if (st == ROCL_OK)
            st = open_file(r, t, s, err);
    }
    free_tables(&r->set);
    if (st == ROCL_OK) {
        /* The set of the capture: captures are not in the order of a file. */
        const rocpd_set *set = t->captures[c->index]->state;
        const char *name = NULL;
        schema_table k = 0;
        while (k + 1 < SCHEMA_TABLES && !set->tables[k])
            k++;
        while (set->tables[k] && index < r->found.count &&
               !((name = rocpd_table_in(&r->found, k, r->found.suffixes[index])) &&
                 !strcmp(name, set->tables[k])))
            index++;
        if (!set->tables[k] || index == r->found.count)
            st = rocl_fail_changed(err, s->path);
    }
    if (st == ROCL_OK)
        r->set = (merge_set){.capture = c, .index = index};
    for (size_t i = 0; i < r->found.object_count && st == ROCL_OK; i++)
        if (r->owners[i] == index)
            st = read_table(&r->set, r->db, r->found.objects[i].name,
                            strlen(r->found.suffixes[index]), err);
    if (st == ROCL_OK)
        st = read_version(&r->set, r->db, err);
    if (opened)
        *opened = other;
    return st;
}

rocl_status merge_reader_close(merge_reader *r, rocl_error *err)
{
    rocl_status st = r->source ? rocl_db_check_unchanged(r->db, err) : ROCL_OK;
    free_tables(&r->set);
    free(r->owners);
    if (r->db) {
        rocpd_found_free(&r->found);
        rocl_db_close(r->db);
    }
    *r = (merge_reader){0};
    return st;
}
