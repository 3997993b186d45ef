/* What the output will hold: see copier.h. */
#include "merge/copier.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/map.h"
#include "base/text.h"
#include "filter/filter.h"
#include "source/db/connection.h"

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
    size_t cap = rocl_array_cap(t->count);
    if (!ROCL_GROW(t->columns, cap, t->count + 1))
        return rocl_fail_memory(err);
    memmove(t->columns + at + 1, t->columns + at, (t->count - at) * sizeof *t->columns);
    t->count++;
    t->columns[at] = (plan_column){strdup(name), strdup(declared)};
    return t->columns[at].name && t->columns[at].declared ? ROCL_OK : rocl_fail_memory(err);
}

/* A column that only some versions have goes before what follows it in the schema. */
static rocl_status add_column(plan_table *t, const char *name, const char *declared,
                              rocl_error *err)
{
    size_t n, i = 0, at = t->count;
    const schema_column *known = schema_columns_of(t->table, &n);
    if (!sqlite3_stricmp(name, "id") || find_column(t, name) < t->count)
        return ROCL_OK;
    while (i < n && strcmp(known[i].name, name) != 0)
        i++;
    for (i++; i < n && at == t->count; i++)
        at = find_column(t, known[i].name);
    return insert_column(t, at, name, declared, err);
}

const plan_table *merge_plan_table(const merge_plan *p, const char *base)
{
    for (size_t i = 0; i < p->table_count; i++)
        if (!strcmp(p->tables[i].base, base))
            return &p->tables[i];
    return NULL;
}

/* The table of that name, with the columns that every database has. */
static rocl_status add_table(merge_plan *p, const char *base, plan_table **table, rocl_error *err)
{
    *table = (plan_table *)(uintptr_t)merge_plan_table(p, base);
    if (*table)
        return ROCL_OK;
    size_t n, cap = rocl_array_cap(p->table_count);
    if (!ROCL_GROW(p->tables, cap, p->table_count + 1))
        return rocl_fail_memory(err);
    plan_table *t = *table = &p->tables[p->table_count];
    if (!(t->base = strdup(base)))
        return rocl_fail_memory(err);
    p->table_count++;
    t->table = schema_table_of(base);
    rocl_status st = ROCL_OK;
    const schema_column *known = schema_columns_of(t->table, &n);
    for (size_t i = 0; i < n && st == ROCL_OK; i++)
        if (known[i].base)
            st = insert_column(t, t->count, known[i].name, known[i].type, err);
    return st;
}

static rocl_status leave_out_table(merge_plan *p, const char *table, const char *path,
                                   rocl_error *err)
{
    if (p->left_out++)
        return ROCL_OK;
    p->left_name = strdup(table);
    p->left_path = strdup(path);
    return p->left_name && p->left_path ? ROCL_OK : rocl_fail_memory(err);
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
        size_t cap = rocl_array_cap(p->view_count);
        if (!ROCL_GROW(p->views, cap, p->view_count + 1))
            return rocl_fail_memory(err);
        v = &p->views[p->view_count++];
    }
    *v = (plan_view){strdup(name), strdup(sql), strdup(version)};
    return v->name && v->sql && v->version ? ROCL_OK : rocl_fail_memory(err);
}

static rocl_status add_file(merge_plan *p, const merge_reader *r, rocl_error *err)
{
    static const char sql[] = "SELECT name, sql FROM main.sqlite_master WHERE type = 'view' AND "
                              "name NOT LIKE 'rocpd\\_%' ESCAPE '\\' AND sql IS NOT NULL "
                              "ORDER BY rowid";
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < r->found.object_count && st == ROCL_OK; i++) {
        const rocl_db_object *o = &r->found.objects[i];
        if (!o->is_view && strncmp(o->name, "sqlite_", 7) != 0 && r->owners[i] == r->found.count)
            st = leave_out_table(p, o->name, r->source->path, err);
    }
    /* Views of schema 4 are about other columns, those of compressed files call functions that
     * nobody has. */
    if (st != ROCL_OK || r->set.by_track || r->found.compressed)
        return st;
    /* Views on the data, those of the newest schema: all sets have its columns now. */
    sqlite3_stmt *row = NULL;
    int rc = sqlite3_prepare_v2(r->db->handle, sql, -1, &row, NULL);
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

/* ---- names of sets ---- */

static bool is_free(const merge_plan *p, const char *guid, const char *suffix)
{
    for (size_t i = 0; i + 1 < p->set_count; i++)
        if (guid ? !strcmp(p->sets[i].guid, guid) : !sqlite3_stricmp(p->sets[i].suffix, suffix))
            return false;
    return true;
}

static char *make_suffix(const char *guid, unsigned attempt)
{
    char *suffix = attempt ? rocl_new_text("_%s_%u", guid, attempt) : rocl_new_text("_%s", guid);
    for (char *p = suffix; p && *p; p++)
        if (!isalnum((unsigned char)*p))
            *p = '_';
    return suffix;
}

/* A set keeps its suffix, unless it has none or another has the same: then it is made of the guid.
 * Slices of a process have its guid; sets without a guid have nothing in common. */
static rocl_status name_set(merge_plan *p, plan_set *s, const char *suffix, rocl_error *err)
{
    const char *guid = rocl_str(p->trace, s->capture->guid);
    s->first = (size_t)(s - p->sets);
    for (size_t i = 0; !s->fresh && *guid && i < s->first; i++)
        if (!p->sets[i].fresh && !strcmp(p->sets[i].guid, guid))
            s->first = p->sets[i].first;
    if (&p->sets[s->first] != s) {
        s->guid = strdup(guid);
        s->suffix = strdup(p->sets[s->first].suffix);
        return s->guid && s->suffix ? ROCL_OK : rocl_fail_memory(err);
    }
    s->guid = strdup(guid);
    /* Ids are unique within a guid, and texts of several folders may be called alike. */
    for (unsigned n = 2; s->guid && s->fresh && !is_free(p, s->guid, NULL); n++) {
        free(s->guid);
        s->guid = rocl_new_text("%s-%u", guid, n);
    }
    s->suffix = s->guid && *suffix && is_free(p, NULL, suffix) ? strdup(suffix) : NULL;
    for (unsigned i = 0; s->guid && !s->suffix; i++) {
        s->suffix = make_suffix(s->guid, i);
        if (!s->suffix)
            break;
        if (!is_free(p, NULL, s->suffix)) {
            free(s->suffix);
            s->suffix = NULL;
        }
    }
    return s->guid && s->suffix ? ROCL_OK : rocl_fail_memory(err);
}

/* The guid of a flat set: made of the guids of its sets, so that the same inputs give the same
 * file. */
static rocl_status name_flat_set(merge_plan *p, rocl_error *err)
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
        s->suffix = make_suffix(guid, 0);
        if (!s->guid || !s->suffix)
            return rocl_fail_memory(err);
    }
    return ROCL_OK;
}

/* ---- the plan ---- */

static rocl_status raise_version(merge_plan *p, const char *version, rocl_error *err)
{
    if (*version > '3') /* schema 3 with compressed texts: a number of its own */
        version = "3";
    if (p->version && strverscmp(p->version, version) >= 0)
        return ROCL_OK;
    free(p->version);
    p->version = strdup(version);
    return p->version ? ROCL_OK : rocl_fail_memory(err);
}

/* Slices of another cut are left out. */
static rocl_status add_slice(plan_set *first, const char *slice, rocl_error *err)
{
    const char *old = first->slices ? strchr(first->slices, '/') : NULL, *of = strchr(slice, '/');
    if (!of || (first->slices && (!old || strcmp(old, of) != 0)))
        return ROCL_OK;
    char *both = first->slices
                     ? rocl_new_text("%.*s,%s", (int)(old - first->slices), first->slices, slice)
                     : strdup(slice);
    if (!both)
        return rocl_fail_memory(err);
    free(first->slices);
    first->slices = both;
    return ROCL_OK;
}

/* The tables of a capture that are copied. *suffix is the set's. */
static rocl_status add_copied_set(merge_plan *p, merge_reader *r, const rocl_capture *c,
                                  const char **suffix, rocl_error *err)
{
    bool opened;
    rocl_status st = merge_reader_to(r, p->trace, c, &opened, err);
    if (st == ROCL_OK && opened)
        st = add_file(p, r, err);
    for (size_t i = 0; i < r->set.count && st == ROCL_OK; i++) {
        const merge_source *s = &r->set.tables[i];
        plan_table *t;
        int64_t first, last;
        bool any = false;
        if (s->table == SCHEMA_CATEGORY) /* its rows become strings */
            continue;
        if (p->flat && s->table == SCHEMA_OTHER) { /* which of its numbers are ids nobody knows */
            st = leave_out_table(p, s->name, c->path, err);
            continue;
        }
        st = add_table(p, s->base, &t, err);
        for (size_t k = 0; k < s->count && st == ROCL_OK; k++) {
            const merge_field *f = &s->fields[k];
            if (f->is_declared && (!s->by_track || sqlite3_stricmp(f->name, "track_id") != 0))
                st = add_column(t, f->name, f->declared, err);
        }
        if (st == ROCL_OK && s->table <= SCHEMA_EVENT && s->table != SCHEMA_OTHER)
            st = rocl_db_id_range(r->db, s->name, &first, &last, &any, err);
        if (any)
            p->rows += (uint64_t)last - (uint64_t)first + 1;
    }
    if (st != ROCL_OK)
        return st;
    bool four = r->set.by_track;
    p->by_track += four;
    *suffix = r->found.suffixes[r->set.index];
    return raise_version(p, four || !r->set.version ? "3" : r->set.version, err);
}

/* Rows that are made of events have all that the newest schema 3 has. They come without views: they
 * get those that ROCm's tools know, unless an input has one of that name. */
static rocl_status add_fresh_set(merge_plan *p, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    plan_table *t;
    size_t n;
    for (schema_table i = 0; i < SCHEMA_TABLES && st == ROCL_OK; i++) {
        const schema_column *known = schema_columns_of(i, &n);
        st = n ? add_table(p, schema_table_name(i), &t, err) : ROCL_OK;
        for (size_t k = 0; k < n && st == ROCL_OK; k++)
            if (!known[k].four)
                st = add_column(t, known[k].name, known[k].type, err);
    }
    const schema_view *views = schema_views(&n);
    for (size_t i = 0; i < n && st == ROCL_OK; i++) {
        char *sql = sqlite3_mprintf("CREATE VIEW %s AS %s", views[i].name, views[i].query);
        st = sql ? add_view(p, views[i].name, sql, "", err) : rocl_fail_memory(err);
        sqlite3_free(sql);
    }
    return st ? st : raise_version(p, "3", err);
}

rocl_status merge_plan_make(merge_plan *p, rocl_trace *t, const rocl_source *source, bool flat,
                            bool rebuild, rocl_error *err)
{
    merge_reader readers[MERGE_READERS] = {0};
    *p = (merge_plan){.trace = t, .flat = flat, .rebuild = rebuild};
    rocl_status st = ROCL_OK;
    plan_table *table;
    for (schema_table i = 0; i < SCHEMA_TABLES && st == ROCL_OK; i++)
        if (schema_is_base(i))
            st = add_table(p, schema_table_name(i), &table, err);
    for (size_t i = 0; i < t->capture_count && st == ROCL_OK; i++) {
        const rocl_capture *c = &t->captures[i]->pub;
        const rocl_source *from = t->captures[i]->source;
        if ((source && from != source) || !rocl_filter_takes_capture(t->filter, c))
            continue;
        const char *suffix = "";
        merge_reader *r = merge_reader_choose(readers, from);
        const bool fresh = merge_is_fresh(t, c, rebuild);
        st = fresh ? add_fresh_set(p, err) : add_copied_set(p, r, c, &suffix, err);
        if (st != ROCL_OK)
            break;
        size_t cap = rocl_array_cap(p->set_count);
        if (!ROCL_GROW(p->sets, cap, p->set_count + 1)) {
            st = rocl_fail_memory(err);
            break;
        }
        plan_set *s = &p->sets[p->set_count++];
        s->capture = c;
        s->fresh = fresh;
        st = name_set(p, s, suffix, err);
        if (st == ROCL_OK && !fresh && r->set.slice)
            st = add_slice(&p->sets[s->first], r->set.slice, err);
    }
    for (size_t i = 0; i < MERGE_READERS; i++) {
        rocl_status closed = merge_reader_close(&readers[i], st == ROCL_OK ? err : NULL);
        st = st ? st : closed;
    }
    return st == ROCL_OK && flat ? name_flat_set(p, err) : st;
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
