/* The tables of what ran at the same time. */
#include "analysis/busy.h"

static const rocl_table_column overlap_columns[] = {
    {"gpu", "GPU", ROCL_UNIT_TEXT},
    {"wall_ns", "Wall", ROCL_UNIT_NS},
    {"busy_ns", "Busy", ROCL_UNIT_NS},
    {"busy_percent", "Busy %", ROCL_UNIT_PERCENT},
    {"compute_ns", "Compute", ROCL_UNIT_NS},
    {"exposed_communication_ns", "Exposed comm.", ROCL_UNIT_NS},
    {"copy_ns", "Copy", ROCL_UNIT_NS},
    {"both_ns", "Both", ROCL_UNIT_NS},
    {"exposed_copy_ns", "Exposed copy", ROCL_UNIT_NS},
    {"hidden_copy_percent", "Hidden copy %", ROCL_UNIT_PERCENT},
    {"idle_ns", "Idle", ROCL_UNIT_NS},
    {"kernels", "Kernels", ROCL_UNIT_COUNT},
    {"copies", "Copies", ROCL_UNIT_COUNT},
};

static rocl_status overlap_row(const busy *b, rocl_tables *out, rocl_table *t, const sweep *s,
                               rocl_error *err)
{
    int64_t wall = s->last - s->first, compute = s->covers[C_COMPUTE].measure,
            kernels = s->covers[C_KERNELS].measure, copy = s->covers[C_COPY].measure,
            all = s->covers[C_ALL].measure;
    int64_t exposed_communication = kernels - compute, exposed_copy = all - kernels;
    int64_t both = copy - exposed_copy, idle = wall - all;
    if (idle < 0 || both < 0 || compute + exposed_communication + exposed_copy + idle != wall)
        return rocl_fail(err, ROCL_INTERNAL, "busy and idle time do not add up");
    rocl_datum *r = rocl_busy_row(b, out, t, s);
    if (!r)
        return rocl_fail_memory(err);
    r[1] = rocl_datum_int(wall);
    r[2] = rocl_datum_int(all);
    r[3] = rocl_cell_of_share(all, wall);
    r[4] = rocl_datum_int(compute);
    r[5] = rocl_datum_int(exposed_communication);
    r[6] = rocl_datum_int(copy);
    r[7] = rocl_datum_int(both);
    r[8] = rocl_datum_int(exposed_copy);
    r[9] = rocl_cell_of_share(both, copy);
    r[10] = rocl_datum_int(idle);
    r[11] = rocl_datum_int((int64_t)s->kernels);
    r[12] = rocl_datum_int((int64_t)s->copies);
    return ROCL_OK;
}

static const rocl_table_column communication_columns[] = {
    {"gpu", "GPU", ROCL_UNIT_TEXT},
    {"communication_ns", "Communication", ROCL_UNIT_NS},
    {"wall_percent", "Of wall %", ROCL_UNIT_PERCENT},
    {"exposed_ns", "Exposed", ROCL_UNIT_NS},
    {"exposed_percent", "Exposed %", ROCL_UNIT_PERCENT},
    {"hidden_ns", "Hidden", ROCL_UNIT_NS},
    {"hidden_percent", "Hidden %", ROCL_UNIT_PERCENT},
    {"kernels", "Kernels", ROCL_UNIT_COUNT},
};

/* What is in the union of all kernels, but not in that of compute, is communication alone. */
static rocl_status communication_row(const busy *b, rocl_tables *out, rocl_table *t, const sweep *s,
                                     rocl_error *err)
{
    int64_t wall = s->last - s->first, all = s->covers[C_COMMUNICATION].measure;
    int64_t exposed = s->covers[C_KERNELS].measure - s->covers[C_COMPUTE].measure;
    if (!s->communications)
        return ROCL_OK;
    if (exposed < 0 || exposed > all)
        return rocl_fail(err, ROCL_INTERNAL, "exposed communication is longer than all of it");
    rocl_datum *r = rocl_busy_row(b, out, t, s);
    if (!r)
        return rocl_fail_memory(err);
    r[1] = rocl_datum_int(all);
    r[2] = rocl_cell_of_share(all, wall);
    r[3] = rocl_datum_int(exposed);
    r[4] = rocl_cell_of_share(exposed, wall);
    r[5] = rocl_datum_int(all - exposed);
    r[6] = rocl_cell_of_share(all - exposed, all);
    r[7] = rocl_datum_int((int64_t)s->communications);
    return ROCL_OK;
}

static const rocl_table_column concurrency_columns[] = {
    {"gpu", "GPU", ROCL_UNIT_TEXT},
    {"kernels", "Kernels at once", ROCL_UNIT_COUNT},
    {"time_ns", "Time", ROCL_UNIT_NS},
    {"percent", "Of wall %", ROCL_UNIT_PERCENT},
};

static bool levels_add_up(const sweep *s)
{
    int64_t wall = s->last - s->first, sum = 0;
    for (unsigned i = 0; i <= LEVELS; i++)
        sum += s->levels.ns[i];
    return sum == wall && s->levels.ns[0] == wall - s->covers[C_KERNELS].measure;
}

static rocl_status concurrency_rows(const busy *b, rocl_tables *out, rocl_table *t, const sweep *s,
                                    rocl_error *err)
{
    if (!levels_add_up(s))
        return rocl_fail(err, ROCL_INTERNAL, "times of kernels at once do not add up");
    for (unsigned i = 0; i <= LEVELS; i++) {
        rocl_datum *r = s->levels.ns[i] ? rocl_busy_row(b, out, t, s) : NULL;
        if (!s->levels.ns[i])
            continue;
        if (!r)
            return rocl_fail_memory(err);
        r[1] = rocl_datum_int(i);
        r[2] = rocl_datum_int(s->levels.ns[i]);
        r[3] = rocl_cell_of_share(s->levels.ns[i], s->last - s->first);
        if (i == LEVELS)
            t->note = "64 stands for 64 and more";
    }
    return ROCL_OK;
}

rocl_status rocl_overlap_tables(busy *b, rocl_tables *out, rocl_error *err)
{
    rocl_status st = rocl_busy_table(b, out, "overlap", "Compute and copies per GPU",
                                     COLUMNS(overlap_columns), overlap_row, err);
    if (st == ROCL_OK && !b->c.options->brief)
        st = rocl_busy_table(b, out, "communication", "Communication per GPU",
                             COLUMNS(communication_columns), communication_row, err);
    if (st == ROCL_OK && !b->c.options->brief)
        st = rocl_busy_table(b, out, "concurrency", "Kernels at once per GPU",
                             COLUMNS(concurrency_columns), concurrency_rows, err);
    return st;
}
