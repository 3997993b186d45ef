/* An RPD file as records:
 *
 *     rocpd_api      calls, ranges and marks ("UserMarker"), and the tracer's own work
 *     rocpd_op       kernels and copies; rocpd_api_ops says which call launched which of them,
 *                    rocpd_kernelapi and rocpd_copyapi what that call asked for
 *     rocpd_counter  values of an operation
 *     rocpd_monitor  values of a device from one time to another
 *     rocpd_stackframe  where the program stood when it called
 *
 * The versions of the schema (1 of 2020, 2 of 2022, 3 of 2026) differ in columns: one that is
 * missing reads as NULL. Where nothing is known there is '' in columns of numbers. Every process
 * that is traced is a session of the file, whose number is in the upper 32 bits of its ids: those
 * of several sessions are mixed in one table.
 *
 * Tables are joined row by row: what an operation refers to lies near to what the one before it
 * refers to, so each worker keeps the rows around the last one that it looked up. Tables whose rows
 * have ids of their own are sorted by what they belong to when the file is opened; in the first
 * pass each of their rows is checked, so that those that belong to nothing are counted. */
#include "source/rpd/rpd.h"

#include <stdio.h>
#include <inttypes.h>
#include <stdlib.h>

#include "source/rpd/tables.h"

/* ---- rows that belong to records ------------------------------------------------------------- */

/* For a table whose rows belong to records: counts rows that belong to none. Their contents are put
 * with the records. */
static rocl_status check_row(const rpd_file *f, rocl_records *to, rpd_worker *w, rpd_table t,
                             unsigned i, rocl_error *err)
{
    const rocl_rows *rows = w->rows[t], *owners = NULL;
    const bool of_call = t == RPD_FRAME;
    const uint64_t where = rpd_place(t, (uint64_t)rows->id[i]);
    unsigned k = 0;
    bool bad = false;
    uint32_t text = 0;
    uint64_t first;
    double value;
    const uint64_t owner = rpd_read_key(rows,
                                        of_call            ? F_API
                                        : t == RPD_COUNTER ? V_OP
                                                           : L_OP,
                                        i, &bad);
    rocl_status st = rpd_find_row(f, w, of_call ? RPD_API : RPD_OP, owner, &owners, &k, err);
    if (st != ROCL_OK)
        return st;
    if (!owners)
        return rocl_record_fault(to, where, ROCL_FAULT_ORPHAN_VALUE,
                                 of_call ? "it belongs to no call" : "it belongs to no operation");
    switch (t) {
    case RPD_API_OPS: {
        const uint64_t api = first = rpd_read_key(rows, L_API, i, &bad);
        if (api == ROCL_NO_KEY)
            return rocl_record_fault(to, where, ROCL_FAULT_ORPHAN_VALUE, "it names no call");
        st = rocl_lookup_find(f->links, &w->links, (rocl_lookup_key){owner, 0}, &first, err);
        if (st == ROCL_OK && first != api)
            rocl_record_fault(to, where, ROCL_FAULT_ORPHAN_VALUE,
                              "another call launched its operation");
        return st;
    }
    case RPD_FRAME:
        st = rpd_find_frame_text(f, to, w, owner, rpd_read_key(rows, F_NAME, i, &bad), &text, err);
        break;
    default:
        st = rpd_find_text(f, to, w, rpd_read_key(owners, O_TYPE, k, &bad), &text, err);
        if (st == ROCL_OK && text != ROCL_NONE && text) {
            const char *type = rocl_str(rocl_records_input_of(to)->trace, text);
            if (rocprof_is_copy((rocl_view){type, strlen(type)}))
                return rocl_record_fault(to, where, ROCL_FAULT_ORPHAN_VALUE, "it is of a copy");
        }
        if (!rpd_read_real(rows, V_VALUE, i, &value))
            return rocl_record_fault(to, where, ROCL_FAULT_NO_NUMBER,
                                     "the value of a counter is not a number");
        if (st == ROCL_OK)
            st = rpd_find_text(f, to, w, rpd_read_key(rows, V_NAME, i, &bad), &text, err);
        if (st == ROCL_OK && text == ROCL_NONE)
            return rocl_record_fault(to, where, ROCL_FAULT_ORPHAN_VALUE, "its counter has no name");
    }
    if (st == ROCL_OK && text == ROCL_NONE)
        rocl_record_fault(to, where, ROCL_FAULT_DANGLING_NAME, "its name is not there");
    return st;
}

/* ---- definitions ----------------------------------------------------------------------------- */

/* The node of a number that counts the things of all machines; false: memory is out. */
static bool define_node(rocl_capture *c, rocl_map *nodes, uint64_t machine, uint32_t *index)
{
    bool fresh;
    rocl_node *n = rocl_define_once(c, ROCL_DEFINE_NODE, nodes, machine, &fresh);
    if (n && fresh)
        n->id = (int64_t)machine;
    *index = n ? (uint32_t)(n - c->nodes) : ROCL_NONE;
    return n;
}

/* Lost sizes are not a fault of a row, but affect all sums of bytes: a remark says so. */
static rocl_status remark_on_sizes(rpd_file *f, rocl_records_input *in, rocl_error *err)
{
    const unsigned long long n = atomic_load(&f->sizeless);
    const char *before = in->source->remark;
    rocl_buf text = {0};
    if (!n)
        return ROCL_OK;
    rocl_buf_printf(&text, "%s%s%llu %s no size: RPD loses those of 2 GiB and more",
                    before ? before : "", before ? "; " : "", n,
                    n == 1 ? "copy has" : "copies have");
    const uint32_t id =
        text.failed ? ROCL_NONE
                    : rocl_strings_put(in->trace->strings, (const char *)text.data, text.len);
    rocl_buf_free(&text);
    if (id == ROCL_NONE)
        return rocl_fail_memory(err);
    in->source->remark = rocl_str(in->trace, id);
    return ROCL_OK;
}

static rocl_status refine_definitions(rocl_records_input *in, rocl_error *err)
{
    rpd_file *f = in->state;
    rocl_capture *c = &in->capture->pub;
    /* GPUs of several machines, whose names are unknown, are labelled by both numbers:
     * "GPU 2 (node 1)". */
    rocl_map nodes = {0};
    bool several = false, ok = true;
    for (uint32_t i = 0; f->gpu_stride && i < c->agent_count; i++)
        several |= (uint64_t)c->agents[i].id >= f->gpu_stride;
    for (uint32_t i = 0; f->pid_stride && i < c->process_count; i++)
        several |= (uint64_t)c->processes[i].id >= f->pid_stride;
    for (uint32_t i = 0; several && f->pid_stride && i < c->process_count && ok; i++) {
        rocl_process *p = rocl_definition_at(c, ROCL_DEFINE_PROCESS, i);
        ok = define_node(c, &nodes, (uint64_t)p->id / f->pid_stride, &p->node);
    }
    for (uint32_t i = 0; several && f->gpu_stride && i < c->agent_count && ok; i++) {
        rocl_agent *a = rocl_definition_at(c, ROCL_DEFINE_AGENT, i);
        const uint64_t number = (uint64_t)a->id, own = number % f->gpu_stride;
        char label[64];
        const int n = snprintf(label, sizeof label, "GPU %llu (node %llu)", (unsigned long long)own,
                               (unsigned long long)(number / f->gpu_stride));
        ok = define_node(c, &nodes, number / f->gpu_stride, &a->node);
        a->label = rocl_strings_put(in->trace->strings, label, (size_t)n);
        a->absolute_index = a->logical_index = a->type_index = (int64_t)own;
        ok = ok && a->label != ROCL_NONE;
    }
    rocl_map_free(&nodes);
    rocl_status st = ok ? ROCL_OK : rocl_fail_memory(err);
    if (st == ROCL_OK)
        st = rpd_name_units(in->trace, c, err);
    return st ? st : remark_on_sizes(f, in, err);
}

/* ---- the input ------------------------------------------------------------------------------- */

static rocl_status parse_piece(rocl_records_input *in, rocl_records *to, const rocl_piece *piece,
                               rocl_error *err)
{
    rpd_file *f = in->state;
    rpd_worker *w = rocl_records_own(to, sizeof *w);
    const rpd_table t = piece->section;
    const bool checks = t == RPD_API_OPS || t == RPD_FRAME || t == RPD_COUNTER;
    rocl_status st = ROCL_OK;
    unsigned n = 1;
    if (!w)
        return rocl_fail_memory(err);
    if (checks && !rocl_records_first_pass(to))
        return ROCL_OK;
    if (!w->db)
        st = rocl_source_connect(&w->db, in->trace, in->source, &f->state, err);
    if (st == ROCL_OK)
        rocl_db_allow_rowids(w->db);
    if (st == ROCL_OK)
        st = rpd_open_rows(f, w->db, t, &w->rows[t], err);
    if (st == ROCL_OK)
        st = rocl_rows_seek(w->rows[t], (int64_t)piece->first, (int64_t)piece->last, err);
    while (st == ROCL_OK && n) {
        st = rocl_rows_next(w->rows[t], ROCL_ROWS_BATCH, &n, err);
        for (unsigned i = 0; i < n && st == ROCL_OK; i++)
            st = t == RPD_OP        ? rpd_put_op(f, to, w, i, err)
                 : t == RPD_MONITOR ? rpd_put_monitor(f, to, w, i, err)
                 : checks           ? check_row(f, to, w, t, i, err)
                                    : rpd_put_call(f, to, w, t, i, err);
    }
    return st ? st : rocl_db_check_unchanged(w->db, err);
}

static const char *name_section(const rocl_records_input *in, const rocl_piece *piece)
{
    return ((const rpd_file *)in->state)->names[piece->section];
}

static void close_file(rocl_records_input *in)
{
    rpd_file *f = in->state;
    rocl_lookup_free(f->links);
    rocl_lookup_free(f->frames);
    rocl_lookup_free(f->counters);
    rocl_idset_free(&f->item_sessions);
    free(f->sessions);
    rocl_map_free(&f->last_monitored);
}

static rocl_status open_file(rocl_records_input *in, rocl_error *err)
{
    rocl_source *s = in->source;
    rocl_trace *t = in->trace;
    rpd_file *f = in->state;
    rocl_status st;
    if (!rocprof_intern_words(&f->words, t))
        return rocl_fail_memory(err);
    f->tracer = rocl_strings_put(t->strings, "RPD_TRACER", 10);
    f->cuda = rocl_strings_put(t->strings, "CUDA_API", 8);
    f->user = rocl_strings_put(t->strings, "USER_API", 8);
    if (f->tracer == ROCL_NONE || f->cuda == ROCL_NONE || f->user == ROCL_NONE)
        return rocl_fail_memory(err);
    rocl_db_state_of(s->db, &f->state);
    rocl_db_allow_rowids(s->db);
    if ((st = rpd_find_tables(f, s->db, err)) != ROCL_OK ||
        (st = rpd_read_sessions(f, s->db, err)) != ROCL_OK ||
        (st = rpd_sort_table(f, t, s->db, RPD_API_OPS, L_OP, L_API, L_API, &f->links, err)) ||
        (st = rpd_sort_table(f, t, s->db, RPD_FRAME, F_API, F_DEPTH, F_NAME, &f->frames, err)) ||
        (st = rpd_sort_table(f, t, s->db, RPD_COUNTER, V_OP, -1, -1, &f->counters, err)))
        return st;
    if (f->schema)
        snprintf(s->version, sizeof s->version, "%" PRIu64, f->schema);
    st = rpd_find_last_monitored(f, t, s->db, err);
    for (uint32_t k = 0; k < RPD_RECORDS && st == ROCL_OK; k++)
        if (f->names[k])
            st = rocl_records_cut_table(in, s->db, f->names[k], k, err);
    return st;
}

static const rocl_record_format format = {.state_size = sizeof(rpd_file),
                                          .open = open_file,
                                          .places = ROCL_PLACES_ROWS,
                                          .row_bits = RPD_TABLE_SHIFT,
                                          .keeps = true,
                                          .parse = parse_piece,
                                          .free_worker = rpd_free_worker,
                                          .section_name = name_section,
                                          .refine = refine_definitions,
                                          .close = close_file};

const rocl_source_ops rocl_rpd_ops = {ROCL_RECORDS_OPS(format)};
