#include "merge/plan.h"

#include <stdlib.h>

#include "source/db/connection.h"
#include "source/formats.h"

/* Which of the sets found a capture is: the order of captures is not that of a file. */
static size_t index_in_file(const rocpd_found *found, const rocpd_set *set)
{
    rocpd_table t = 0;
    while (t + 1 < ROCPD_TABLES && !set->tables[t])
        t++;
    for (size_t i = 0; set->tables[t] && i < found->count; i++) {
        const char *name = rocpd_table_in(found, t, found->suffixes[i]);
        if (name && !strcmp(name, set->tables[t]))
            return i;
    }
    return found->count;
}

static rocl_status open_file(merge_reader *r, rocl_trace *t, const rocl_source *s, rocl_error *err)
{
    const rocpd_file *file = s->state;
    rocl_status st = rocl_source_connect(&r->db, t, s, &file->state, err);
    if (st == ROCL_OK)
        st = rocl_db_sqlite(r->db, err); /* which the set and the plan ask */
    if (st == ROCL_OK)
        st = rocpd_find(&r->found, r->db, s->path, err);
    if (st != ROCL_OK)
        return st;
    r->source = s;
    r->owners = merge_owners(&r->found);
    return r->owners ? ROCL_OK : rocl_fail_memory(err);
}

rocl_status merge_reader_to(merge_reader *r, rocl_trace *t, const rocl_capture *c, bool *file,
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
    merge_set_free(&r->set);
    if (st == ROCL_OK)
        index = index_in_file(&r->found, t->captures[c->index]->state);
    if (st == ROCL_OK && index == r->found.count)
        st = rocl_fail(err, ROCL_INPUT, "%s: the file changed while it was read", s->path);
    if (st == ROCL_OK)
        st = merge_set_read(&r->set, c, r->db, &r->found, r->owners, index, err);
    if (file)
        *file = other;
    return st;
}

rocl_status merge_reader_close(merge_reader *r, rocl_error *err)
{
    rocl_status st = r->source ? rocl_db_check_unchanged(r->db, err) : ROCL_OK;
    merge_set_free(&r->set);
    free(r->owners);
    if (r->db) {
        rocpd_found_free(&r->found);
        rocl_db_close(r->db);
    }
    *r = (merge_reader){0};
    return st;
}
