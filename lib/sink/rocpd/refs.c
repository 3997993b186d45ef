/* References to definitions, also to those that nobody knows. */
#include "sink/rocpd/newset.h"

/* ---- references ---------------------------------------------------------------------------- */

rocl_status newset_ref(newset *s, schema_table t, uint32_t index, newset_cell *id, rocl_error *err)
{
    newset_defs *d = &s->defs[t];
    rocl_status st = ROCL_OK;
    *id = newset_null();
    if (index >= d->count)
        return ROCL_OK;
    if (!d->written[index]) {
        d->written[index] = true;
        st = newset_def_write(s, t, index, err);
    }
    *id = newset_int(d->ids[index]); /* a flat set may have had it */
    return st;
}

/* A row that stands for none. */
static rocl_status write_nobody(newset *s, schema_table t, newset_cell id, rocl_error *err)
{
    newset_cell by[2] = {newset_null(), newset_null()}, name = newset_literal(SCHEMA_NOBODY);
    const newset_cell none = newset_null(), empty = newset_literal("");
    rocl_status st = t == SCHEMA_NODE ? ROCL_OK : newset_owner(s, 0, by, err);
    const newset_cell node[] = {id, newset_int(0), empty, empty, name, empty, empty, empty};
    const newset_cell thread[] = {id, by[0], none, by[1], newset_int(0), name};
    const newset_cell queue[] = {id, by[0], by[1], name, newset_literal("{}")};
    const newset_cell agent[] = {
        id,    by[0], by[1], newset_literal("CPU"), none, none, none, name, empty,
        empty, empty, empty, newset_literal("{}")};
    if (st != ROCL_OK)
        return st;
    return newset_insert(s, t,
                         t == SCHEMA_NODE     ? node
                         : t == SCHEMA_THREAD ? thread
                         : t == SCHEMA_QUEUE  ? queue
                                              : agent,
                         err);
}

rocl_status newset_must_ref(newset *s, schema_table t, uint32_t index, newset_cell *id,
                            rocl_error *err)
{
    newset_defs *d = &s->defs[t];
    rocl_status st = ROCL_OK;
    if (index < d->count)
        return newset_ref(s, t, index, id, err);
    if (!d->has_nobody) {
        d->has_nobody = true;
        d->nobody = ++d->last;
        st = write_nobody(s, t, newset_int(d->nobody), err);
    }
    *id = newset_int(d->nobody);
    return st;
}

rocl_status newset_who(newset *s, uint32_t process, uint32_t thread, newset_cell *cells,
                       rocl_error *err)
{
    rocl_status st = newset_owner(s, process, cells, err);
    return st ? st : newset_must_ref(s, SCHEMA_THREAD, thread, &cells[2], err);
}

/* ---- kernels of which only the name is known ------------------------------------------------ */

/* A number for what takes 64 bits of a key. */
static bool number_of(rocl_map *m, uint64_t key, uint32_t *number)
{
    *number = rocl_map_get(m, key, ROCL_NONE);
    if (*number != ROCL_NONE)
        return true;
    *number = (uint32_t)m->count;
    return rocl_map_put(m, key, *number);
}

static rocl_status write_unnamed(newset *s, const rocl_dispatch *d, newset_cell id, rocl_error *err)
{
    newset_cell by[2];
    const newset_cell none = newset_null();
    rocl_status st = newset_owner(s, d->e.process, by, err);
    const newset_cell row[] = {id,
                               by[0],
                               by[1],
                               none,
                               newset_literal(SCHEMA_NOBODY),
                               d->e.name == ROCL_NONE ? none : newset_text(s, d->e.name),
                               newset_int(d->kernel_id),
                               none,
                               none,
                               none,
                               none,
                               none,
                               newset_literal("{}")};
    return st ? st : newset_insert(s, SCHEMA_KERNEL, row, err);
}

rocl_status newset_kernel(newset *s, const rocl_dispatch *d, newset_cell *id, rocl_error *err)
{
    newset_defs *defs = &s->defs[SCHEMA_KERNEL];
    uint32_t own, at;
    if (d->kernel < defs->count)
        return newset_ref(s, SCHEMA_KERNEL, d->kernel, id, err);
    size_t before = s->unnamed.count;
    if (!number_of(&s->numbers, (uint64_t)d->kernel_id, &own) ||
        !number_of(&s->unnamed, (uint64_t)d->e.name << 32 | own, &at))
        return rocl_fail_memory(err);
    *id = newset_int(s->unnamed_after + 1 + at);
    if (s->unnamed.count == before)
        return ROCL_OK;
    defs->last = id->i;
    return write_unnamed(s, d, *id, err);
}

/* ---- tracks -------------------------------------------------------------------------------- */

rocl_status newset_track(newset *s, uint32_t process, uint32_t thread, uint32_t name,
                         newset_cell *id, rocl_error *err)
{
    size_t before = s->tracks.count;
    uint32_t place, at;
    newset_cell row[5];
    if (!number_of(&s->places, (uint64_t)process << 32 | thread, &place) ||
        !number_of(&s->tracks, (uint64_t)place << 32 | (name == ROCL_NONE ? 0 : name), &at))
        return rocl_fail_memory(err);
    *id = row[0] = newset_int(s->to->used[SCHEMA_TRACK] + 1 + at);
    if (s->tracks.count == before)
        return ROCL_OK;
    s->next[SCHEMA_TRACK] = id->i;
    rocl_status st = newset_who(s, process, thread, &row[1], err);
    if (st == ROCL_OK)
        st = newset_string(s, name, &row[4], err);
    return st ? st : newset_insert(s, SCHEMA_TRACK, row, err);
}
