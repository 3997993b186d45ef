/* Rows through prepared statements. */
#include "sink/rocpd/newset.h"

/* The columns that are written, in the order of the cells; the others have their defaults, the guid
 * among them. */
static const char *const columns[SCHEMA_TABLES] = {
    [SCHEMA_REGION] = "id, nid, pid, tid, start, \"end\", name_id, event_id",
    [SCHEMA_SAMPLE] = "id, track_id, timestamp, event_id",
    [SCHEMA_DISPATCH] = "id, nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, stream_id, "
                        "start, \"end\", private_segment_size, group_segment_size, "
                        "workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, "
                        "grid_size_y, grid_size_z, graph_exec_id, graph_node_id, region_name_id, "
                        "event_id",
    [SCHEMA_COPY] = "id, nid, pid, tid, start, \"end\", name_id, dst_agent_id, dst_address, "
                    "src_agent_id, src_address, size, queue_id, stream_id, region_name_id, "
                    "event_id",
    [SCHEMA_ALLOCATE] = "id, nid, pid, tid, agent_id, type, level, start, \"end\", address, size, "
                        "queue_id, stream_id, event_id, extdata",
    [SCHEMA_GRAPH] = "id, nid, pid, tid, agent_id, queue_id, stream_id, start, \"end\", name_id, "
                     "graph_exec_id, kernel_dispatch_count, event_id",
    [SCHEMA_HIP] = "id, nid, pid, tid, agent_id, queue_id, source_queue_id, stream_id, start, "
                   "\"end\", name_id, event_id",
    [SCHEMA_VALUE] = "id, event_id, pmc_id, sample_id, xcc, shader_engine, shader_array, wgp, "
                     "instance, value",
    [SCHEMA_ARG] = "id, event_id, position, type, name, value",
    [SCHEMA_EVENT] = "id, category_id, stack_id, parent_stack_id, correlation_id, call_stack, "
                     "line_info, extdata",
    [SCHEMA_TRACK] = "id, nid, pid, tid, name_id",
    [SCHEMA_KERNEL] = "id, nid, pid, code_object_id, kernel_name, display_name, kernel_object, "
                      "kernarg_segment_size, kernarg_segment_alignment, group_segment_size, "
                      "private_segment_size, sgpr_count, arch_vgpr_count, "
                      "accum_vgpr_count, extdata",
    [SCHEMA_CODE_OBJECT] = "id, nid, pid, agent_id, uri, load_base, load_size, load_delta, extdata",
    [SCHEMA_COUNTER] = "id, nid, pid, agent_id, target_arch, name, symbol, description, component, "
                       "units, value_type, block",
    [SCHEMA_QUEUE] = "id, nid, pid, name, extdata",
    [SCHEMA_STREAM] = "id, nid, pid, name, extdata",
    [SCHEMA_AGENT] = "id, nid, pid, type, absolute_index, logical_index, type_index, name, "
                     "model_name, vendor_name, product_name, user_name, extdata",
    [SCHEMA_THREAD] = "id, nid, ppid, pid, tid, name",
    [SCHEMA_PROCESS] = "id, nid, ppid, pid, init, fini, start, \"end\", command, environment, "
                       "extdata",
    [SCHEMA_NODE] = "id, hash, machine_id, system_name, hostname, release, version, hardware_name",
    [SCHEMA_STRING] = "id, string",
};

enum { MARKS_MAX = 64 };

static rocl_status fail_sqlite(newset *s, rocl_error *err)
{
    return rocl_new_db_fail(s->to->db, s->capture->path, err);
}

static rocl_status prepare_statement(newset *s, char *sql, sqlite3_stmt **stmt, rocl_error *err)
{
    if (!sql)
        return rocl_fail_memory(err);
    int rc = sqlite3_prepare_v2(rocl_new_db_handle(s->to->db), sql, -1, stmt, NULL);
    sqlite3_free(sql);
    return rc == SQLITE_OK ? ROCL_OK : fail_sqlite(s, err);
}

/* As many cells as the statement has marks. */
static int bind_cells(sqlite3_stmt *stmt, const newset_cell *cells)
{
    int rc = SQLITE_OK;
    for (int i = 1, n = sqlite3_bind_parameter_count(stmt); i <= n && rc == SQLITE_OK; i++) {
        const newset_cell *c = &cells[i - 1];
        rc = c->type == NEWSET_INT    ? sqlite3_bind_int64(stmt, i, c->i)
             : c->type == NEWSET_REAL ? sqlite3_bind_double(stmt, i, c->real)
             : c->type == NEWSET_TEXT
                 ? sqlite3_bind_text64(stmt, i, c->p, c->n, SQLITE_STATIC, SQLITE_UTF8)
                 : sqlite3_bind_null(stmt, i);
    }
    return rc;
}

rocl_status newset_insert(newset *s, schema_table t, const newset_cell *row, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    if (!s->inserts[t]) {
        char marks[MARKS_MAX] = "?";
        for (const char *p = columns[t]; *p && strlen(marks) + 2 < sizeof marks; p++)
            if (*p == ',')
                strcat(marks, ",?");
        char *sql = sqlite3_mprintf("INSERT INTO main.\"%w%w\" (%s) VALUES (%s)",
                                    schema_table_name(t), s->to->suffix, columns[t], marks);
        st = prepare_statement(s, sql, &s->inserts[t], err);
    }
    if (st != ROCL_OK)
        return st;
    sqlite3_stmt *stmt = s->inserts[t];
    if (bind_cells(stmt, row) != SQLITE_OK || sqlite3_step(stmt) != SQLITE_DONE)
        st = fail_sqlite(s, err);
    sqlite3_reset(stmt);
    s->to->rows++;
    return st;
}

/* ---- what a flat set may hold already ---- */

/* The first column of the row that is found. */
static rocl_status look_up(newset *s, sqlite3_stmt *stmt, const newset_cell *cells, int64_t *id,
                           bool *found, rocl_error *err)
{
    int rc = bind_cells(stmt, cells);
    rc = rc == SQLITE_OK ? sqlite3_step(stmt) : rc;
    *found = rc == SQLITE_ROW;
    if (*found)
        *id = sqlite3_column_int64(stmt, 0);
    rocl_status st = *found || rc == SQLITE_DONE ? ROCL_OK : fail_sqlite(s, err);
    sqlite3_reset(stmt);
    return st;
}

rocl_status newset_find_node(newset *s, const newset_cell *row, int64_t *id, bool *found,
                             rocl_error *err)
{
    const newset_cell cells[] = {row[1], row[2], row[4]};
    rocl_status st = ROCL_OK;
    if (!s->find_node)
        st = prepare_statement(
            s,
            sqlite3_mprintf("SELECT id FROM main.\"%w%w\" WHERE hash IS ? AND machine_id "
                            "IS ? AND hostname IS ? LIMIT 1",
                            schema_table_name(SCHEMA_NODE), s->to->suffix),
            &s->find_node, err);
    return st ? st : look_up(s, s->find_node, cells, id, found, err);
}

/* ---- strings ---- */

rocl_status newset_string(newset *s, uint32_t text, newset_cell *cell, rocl_error *err)
{
    uint32_t known = rocl_map_get(&s->strings, text, ROCL_NONE);
    int64_t id = known;
    *cell = text == ROCL_NONE ? newset_null() : newset_int(id);
    if (known != ROCL_NONE || text == ROCL_NONE)
        return ROCL_OK;
    const newset_cell bytes = newset_text(s, text);
    bool found = false;
    rocl_status st = ROCL_OK;
    if (s->to->flat && !s->find_string)
        st = prepare_statement(s,
                               sqlite3_mprintf("SELECT id FROM main.\"%w%w\" WHERE string = ?",
                                               schema_table_name(SCHEMA_STRING), s->to->suffix),
                               &s->find_string, err);
    if (st == ROCL_OK && s->to->flat)
        st = look_up(s, s->find_string, &bytes, &id, &found, err);
    if (st == ROCL_OK && !found) {
        /* The strings of a flat set are in no series of ours: the next id is SQLite's to choose. */
        const newset_cell row[] = {
            s->to->flat ? newset_null() : newset_int(++s->next[SCHEMA_STRING]), bytes};
        st = newset_insert(s, SCHEMA_STRING, row, err);
        id = sqlite3_last_insert_rowid(rocl_new_db_handle(s->to->db));
    }
    if (st != ROCL_OK)
        return st;
    if (id >= ROCL_NONE)
        return rocl_fail(err, ROCL_OUTPUT, "%s: too many strings", s->capture->path);
    *cell = newset_int(id);
    return rocl_map_put(&s->strings, text, (uint32_t)id) ? ROCL_OK : rocl_fail_memory(err);
}

void newset_rows_free(newset *s)
{
    for (schema_table t = 0; t < SCHEMA_TABLES; t++)
        sqlite3_finalize(s->inserts[t]);
    sqlite3_finalize(s->find_string);
    sqlite3_finalize(s->find_node);
    rocl_map *maps[] = {&s->strings, &s->threads, &s->tracks, &s->numbers, &s->unnamed};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        rocl_map_free(maps[i]);
    rocl_buf_free(&s->text);
}
