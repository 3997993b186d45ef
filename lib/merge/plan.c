#include "merge/plan.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/map.h"
#include "filter/filter.h"
#include "merge/select.h"
#include "source/db/connection.h"

/* Room for one more; NULL when memory is out. */
static void *grow(void *array_field, size_t count, size_t size)
{
    void **array = array_field;
    void *more = realloc(*array, (count + 1) * size);
    if (!more)
        return NULL;
    *array = more;
    memset((char *)more + count * size, 0, size);
    return (char *)more + count * size;
}

/* ---- tables and columns ---- */

static size_t find_column(const plan_table *t, const char *name)
{
    size_t i = 0;
    while (i < t->count && sqlite3_stricmp(t->columns[i].name, name) != 0)
        i++;
    return i;
}

static rocl_status insert_column(plan_table *t, size_t at, const char *name, const char *declared,
                                 rocl_error *err)
{
    if (!grow(&t->columns, t->count, sizeof *t->columns))
        return rocl_fail_memory(err);
    memmove(t->columns + at + 1, t->columns + at, (t->count - at) * sizeof *t->columns);
    t->count++;
    t->columns[at] = (plan_column){strdup(name), strdup(declared)};
    return t->columns[at].name && t->columns[at].declared ? ROCL_OK : rocl_fail_memory(err);
}

/* Before which column one that only some versions have goes: what follows it in the schema. */
static size_t place_of(const plan_table *t, const char *name)
{
    size_t n, i = 0;
    const schema_column *known = schema_columns_of(t->table, &n);
    while (i < n && strcmp(known[i].name, name) != 0)
        i++;
    for (i++; i < n; i++) {
        size_t at = find_column(t, known[i].name);
        if (at < t->count)
            return at;
    }
    return t->count;
}

static rocl_status add_column(plan_table *t, const merge_field *f, rocl_error *err)
{
    if (!f->is_declared || !sqlite3_stricmp(f->name, "id") || find_column(t, f->name) < t->count)
        return ROCL_OK;
    return insert_column(t, place_of(t, f->name), f->name, f->declared, err);
}

const plan_table *merge_plan_table(const merge_plan *p, const char *base)
{
    for (size_t i = 0; i < p->table_count; i++)
        if (!strcmp(p->tables[i].base, base))
            return &p->tables[i];
    return NULL;
}

static rocl_status add_base_columns(plan_table *t, rocl_error *err)
{
    size_t n;
    rocl_status st = ROCL_OK;
    const schema_column *known = schema_columns_of(t->table, &n);
    for (size_t i = 0; i < n && st == ROCL_OK; i++)
        if (known[i].base)
            st = insert_column(t, t->count, known[i].name, known[i].type, err);
    return st;
}

static rocl_status plan_table_of(merge_plan *p, const char *base, plan_table **table,
                                 rocl_error *err)
{
    for (size_t i = 0; i < p->table_count; i++)
        if (!strcmp(p->tables[i].base, base)) {
            *table = &p->tables[i];
            return ROCL_OK;
        }
    plan_table *t = grow(&p->tables, p->table_count, sizeof *t);
    if (!t || !(t->base = strdup(base)))
        return rocl_fail_memory(err);
    p->table_count++;
    t->table = schema_table_of(base);
    *table = t;
    return add_base_columns(t, err);
}

static rocl_status leave_out(merge_plan *p, const char *table, const char *path, rocl_error *err)
{
    if (p->left_out++)
        return ROCL_OK;
    p->left_name = strdup(table);
    p->left_path = strdup(path);
    return p->left_name && p->left_path ? ROCL_OK : rocl_fail_memory(err);
}

static rocl_status add_source(merge_plan *p, const merge_source *s, const char *path,
                              rocl_error *err)
{
    plan_table *t;
    if (s->table == SCHEMA_CATEGORY) /* its rows become strings */
        return ROCL_OK;
    if (p->flat && s->table == SCHEMA_OTHER) /* which of its numbers are ids nobody knows */
        return leave_out(p, s->name, path, err);
    rocl_status st = plan_table_of(p, s->base, &t, err);
    for (size_t i = 0; i < s->count && st == ROCL_OK; i++)
        if (!s->by_track || sqlite3_stricmp(s->fields[i].name, "track_id") != 0)
            st = add_column(t, &s->fields[i], err);
    return st;
}

/* All that the newest schema 3 has, for rows that are made of events. */
static rocl_status add_newest(merge_plan *p, rocl_error *err)
{
    plan_table *t;
    rocl_status st = ROCL_OK;
    for (schema_table i = 0; i < SCHEMA_TABLES && st == ROCL_OK; i++) {
        size_t n;
        const schema_column *known = schema_columns_of(i, &n);
        st = n ? plan_table_of(p, schema_table_name(i), &t, err) : ROCL_OK;
        for (size_t k = 0; k < n && st == ROCL_OK; k++) {
            const merge_field f = {(char *)(uintptr_t)known[k].name,
                                   (char *)(uintptr_t)known[k].type, true};
            st = known[k].four ? ROCL_OK : add_column(t, &f, err);
        }
    }
    return st;
}

/* ---- what a file holds beside its sets ---- */

static rocl_status add_view(merge_plan *p, const char *name, const char *sql, const char *version,
                            rocl_error *err)
{
    plan_view *v = NULL;
    for (size_t i = 0; i < p->view_count; i++)
        if (!strcmp(p->views[i].name, name))
            v = &p->views[i];
    if (v && strverscmp(v->version, version) >= 0)
        return ROCL_OK;
    if (v) {
        free(v->name);
        free(v->sql);
        free(v->version);
    } else {
        v = grow(&p->views, p->view_count, sizeof *v);
        if (!v)
            return rocl_fail_memory(err);
        p->view_count++;
    }
    *v = (plan_view){strdup(name), strdup(sql), strdup(version)};
    return v->name && v->sql && v->version ? ROCL_OK : rocl_fail_memory(err);
}

/* Views on the data, those of the newest schema: all sets have its columns now. */
static rocl_status add_views(merge_plan *p, const merge_reader *r, rocl_error *err)
{
    static const char sql[] = "SELECT name, sql FROM main.sqlite_master WHERE type = 'view' AND "
                              "name NOT LIKE 'rocpd\\_%' ESCAPE '\\' AND sql IS NOT NULL "
                              "ORDER BY rowid";
    sqlite3_stmt *row = NULL;
    rocl_status st = ROCL_OK;
    int rc = sqlite3_prepare_v2(rocl_db_handle(r->db), sql, -1, &row, NULL);
    while (rc == SQLITE_OK && st == ROCL_OK && (rc = sqlite3_step(row)) == SQLITE_ROW) {
        st = add_view(p, (const char *)sqlite3_column_text(row, 0),
                      (const char *)sqlite3_column_text(row, 1),
                      r->set.version ? r->set.version : "", err);
        rc = SQLITE_OK;
    }
    if (st == ROCL_OK && rc != SQLITE_DONE)
        st = rocl_sqlite_fail(r->db, "sqlite_master", err);
    sqlite3_finalize(row);
    return st;
}

static rocl_status add_file(merge_plan *p, const merge_reader *r, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < r->found.object_count && st == ROCL_OK; i++) {
        const rocl_db_object *o = &r->found.objects[i];
        if (!o->is_view && strncmp(o->name, "sqlite_", 7) != 0 && r->owners[i] == r->found.count)
            st = leave_out(p, o->name, r->source->path, err);
    }
    /* Those of schema 4 are about other columns, those of compressed files call functions that
     * nobody has. */
    if (st == ROCL_OK && !r->set.by_track && !r->found.compressed)
        st = add_views(p, r, err);
    return st;
}

/* ---- names of sets ---- */

/* Texts of several folders may be called alike, and ids are unique within a guid. */
static char *free_guid(const merge_plan *p, const char *guid)
{
    char *name = strdup(guid);
    for (unsigned n = 2; name; n++) {
        size_t i = 0;
        while (i + 1 < p->set_count && strcmp(p->sets[i].guid, name) != 0)
            i++;
        if (i + 1 >= p->set_count)
            break;
        free(name);
        if (asprintf(&name, "%s-%u", guid, n) < 0)
            name = NULL;
    }
    return name;
}

static bool suffix_is_free(const merge_plan *p, const char *suffix)
{
    for (size_t i = 0; i + 1 < p->set_count; i++)
        if (!sqlite3_stricmp(p->sets[i].suffix, suffix))
            return false;
    return true;
}

static char *suffix_of_guid(const char *guid, unsigned attempt)
{
    char *suffix = NULL;
    int n = attempt ? asprintf(&suffix, "_%s_%u", guid, attempt) : asprintf(&suffix, "_%s", guid);
    for (char *p = suffix; n > 0 && *p; p++)
        if (!isalnum((unsigned char)*p))
            *p = '_';
    return n > 0 ? suffix : NULL;
}

/* A set keeps its suffix, unless it has none or another has the same: then the guid tells it. */
static rocl_status name_set(merge_plan *p, plan_set *s, const char *suffix, rocl_error *err)
{
    const char *guid = rocl_str(p->trace, s->capture->guid);
    s->first = (size_t)(s - p->sets);
    for (size_t i = 0; !s->fresh && i < s->first; i++)
        if (!p->sets[i].fresh && !strcmp(p->sets[i].guid, guid))
            s->first = p->sets[i].first;
    if (&p->sets[s->first] != s) {
        s->guid = strdup(guid);
        s->suffix = strdup(p->sets[s->first].suffix);
        return s->guid && s->suffix ? ROCL_OK : rocl_fail_memory(err);
    }
    s->guid = s->fresh ? free_guid(p, guid) : strdup(guid);
    s->suffix = s->guid && *suffix && suffix_is_free(p, suffix) ? strdup(suffix) : NULL;
    for (unsigned i = 0; s->guid && !s->suffix; i++) {
        s->suffix = suffix_of_guid(s->guid, i);
        if (!s->suffix)
            break;
        if (!suffix_is_free(p, s->suffix)) {
            free(s->suffix);
            s->suffix = NULL;
        }
    }
    return s->guid && s->suffix ? ROCL_OK : rocl_fail_memory(err);
}

/* The guid of a flat set: made of those of its parts, so that the same inputs give the same file.
 */
static rocl_status name_flat(merge_plan *p, rocl_error *err)
{
    uint64_t a = 0, b = 1;
    char guid[40];
    for (size_t i = 0; i < p->set_count; i++)
        for (const char *g = p->sets[i].guid; *g; g++) {
            a = rocl_mix64(a + (uint8_t)*g);
            b = rocl_mix64(b ^ a);
        }
    snprintf(guid, sizeof guid, "%08x-%04x-8%03x-8%03x-%012llx", (unsigned)(a >> 32),
             (unsigned)(a >> 16) & 0xffff, (unsigned)a & 0xfff, (unsigned)(b >> 48) & 0xfff,
             (unsigned long long)b & 0xffffffffffff);
    for (size_t i = 0; i < p->set_count; i++) {
        plan_set *s = &p->sets[i];
        free(s->guid);
        free(s->suffix);
        s->guid = strdup(guid);
        s->suffix = suffix_of_guid(guid, 0);
        if (!s->guid || !s->suffix)
            return rocl_fail_memory(err);
    }
    return ROCL_OK;
}

/* ---- the plan ---- */

static rocl_status count_rows(merge_plan *p, const merge_reader *r, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < r->set.count && st == ROCL_OK; i++) {
        const merge_source *s = &r->set.tables[i];
        int64_t first, last;
        bool any = false;
        if (s->table <= SCHEMA_EVENT && s->table != SCHEMA_OTHER)
            st = rocl_db_id_range(r->db, s->name, &first, &last, &any, err);
        if (any)
            p->rows += (uint64_t)last - (uint64_t)first + 1;
    }
    return st;
}

static rocl_status take_version(merge_plan *p, const char *version, rocl_error *err)
{
    if (*version > '3') /* schema 3 with compressed texts: a number of its own */
        version = "3";
    if (p->version && strverscmp(p->version, version) >= 0)
        return ROCL_OK;
    free(p->version);
    p->version = strdup(version);
    return p->version ? ROCL_OK : rocl_fail_memory(err);
}

/* Those of another cut are left out. */
static rocl_status note_slice(plan_set *first, const char *slice, rocl_error *err)
{
    const char *old = first->slices ? strchr(first->slices, '/') : NULL, *of = strchr(slice, '/');
    if (!of || (first->slices && (!old || strcmp(old, of) != 0)))
        return ROCL_OK;
    char *both = NULL;
    if (!first->slices)
        both = strdup(slice);
    else if (asprintf(&both, "%.*s,%s", (int)(old - first->slices), first->slices, slice) < 0)
        both = NULL;
    if (!both)
        return rocl_fail_memory(err);
    free(first->slices);
    first->slices = both;
    return ROCL_OK;
}

/* What is there to be copied. *suffix is the set's. */
static rocl_status add_copied(merge_plan *p, merge_reader *r, const rocl_capture *c,
                              const char **suffix, rocl_error *err)
{
    bool file;
    rocl_status st = merge_reader_to(r, p->trace, c, &file, err);
    if (st == ROCL_OK && file)
        st = add_file(p, r, err);
    for (size_t i = 0; i < r->set.count && st == ROCL_OK; i++)
        st = add_source(p, &r->set.tables[i], c->path, err);
    if (st != ROCL_OK)
        return st;
    bool four = r->set.by_track;
    p->by_track += four;
    st = take_version(p, four || !r->set.version ? "3" : r->set.version, err);
    *suffix = r->found.suffixes[r->set.index];
    return st ? st : count_rows(p, r, err);
}

/* Rows that are made of events come without views: they get those that ROCm's tools know. Where an
 * input has one of that name, that is taken. */
static rocl_status add_known_views(merge_plan *p, rocl_error *err)
{
    size_t n;
    const schema_view *known = schema_views(&n);
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < n && st == ROCL_OK; i++) {
        rocl_buf sql = {0};
        rocl_buf_str(&sql, "CREATE VIEW ");
        rocl_buf_str(&sql, known[i].name);
        rocl_buf_str(&sql, " AS ");
        rocl_buf_str(&sql, known[i].query);
        rocl_buf_byte(&sql, 0);
        st = sql.failed ? rocl_fail_memory(err)
                        : add_view(p, known[i].name, (const char *)sql.data, "", err);
        rocl_buf_free(&sql);
    }
    return st;
}

static rocl_status add_fresh(merge_plan *p, rocl_error *err)
{
    rocl_status st = add_newest(p, err);
    if (st == ROCL_OK)
        st = add_known_views(p, err);
    return st ? st : take_version(p, "3", err);
}

static rocl_status add_capture(merge_plan *p, merge_reader *r, const rocl_capture *c,
                               rocl_error *err)
{
    const char *suffix = "";
    bool fresh = merge_is_fresh(p->trace, c, p->rebuild);
    rocl_status st = fresh ? add_fresh(p, err) : add_copied(p, r, c, &suffix, err);
    if (st != ROCL_OK)
        return st;
    plan_set *s = grow(&p->sets, p->set_count, sizeof *s);
    if (!s)
        return rocl_fail_memory(err);
    p->set_count++;
    s->capture = c;
    s->fresh = fresh;
    st = name_set(p, s, suffix, err);
    return st || fresh || !r->set.slice ? st : note_slice(&p->sets[s->first], r->set.slice, err);
}

static rocl_status add_base_tables(merge_plan *p, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    plan_table *table;
    for (schema_table t = 0; t < SCHEMA_TABLES && st == ROCL_OK; t++)
        if (schema_is_base(t))
            st = plan_table_of(p, schema_table_name(t), &table, err);
    return st;
}

rocl_status merge_plan_make(merge_plan *p, rocl_trace *t, const rocl_source *source, bool flat,
                            bool rebuild, rocl_error *err)
{
    merge_reader r = {0};
    *p = (merge_plan){.trace = t, .flat = flat, .rebuild = rebuild};
    rocl_status st = add_base_tables(p, err);
    for (size_t i = 0; i < t->capture_count && st == ROCL_OK; i++) {
        const rocl_capture *c = &t->captures[i]->pub;
        if ((!source || t->captures[i]->source == source) &&
            rocl_filter_takes_capture(t->filter, c))
            st = add_capture(p, &r, c, err);
    }
    rocl_status closed = merge_reader_close(&r, st == ROCL_OK ? err : NULL);
    st = st ? st : closed;
    return st == ROCL_OK && flat ? name_flat(p, err) : st;
}

void merge_plan_free(merge_plan *p)
{
    for (size_t i = 0; i < p->table_count; i++) {
        for (size_t k = 0; k < p->tables[i].count; k++) {
            free(p->tables[i].columns[k].name);
            free(p->tables[i].columns[k].declared);
        }
        free(p->tables[i].columns);
        free(p->tables[i].base);
    }
    for (size_t i = 0; i < p->set_count; i++) {
        free(p->sets[i].suffix);
        free(p->sets[i].guid);
        free(p->sets[i].slices);
    }
    for (size_t i = 0; i < p->view_count; i++) {
        free(p->views[i].name);
        free(p->views[i].sql);
        free(p->views[i].version);
    }
    free(p->tables);
    free(p->sets);
    free(p->views);
    free(p->version);
    free(p->left_name);
    free(p->left_path);
    *p = (merge_plan){0};
}
