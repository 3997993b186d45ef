/* results.db of rocprof v1: one SQLite table for each kind of record, whose columns are those of
 * its CSV files. Counters are further columns of the table of dispatches. What "pid" and "tid" are
 * depends on the version:
 *
 *                          with a column __section (ROCm 4.3)      before
 *     KERN, A              process, thread                         process, thread
 *     HIP, HSA, KFD, rocTX process, thread                         part of results.json, thread
 *     OPS, COPY            process, thread; stream-id              part of results.json, stream;
 *                                                                  the process is proc-id
 *
 * "Index" of a call is that of the work on the GPU that it launched. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "source/db/connection.h"
#include "source/rocprof/rocprof.h"
#include "source/rocprof/row.h"

enum { COLUMNS_MAX = 2000, TABLES_MAX = 10, GROUP = ROCL_ROWS_COLUMNS_MAX };

/* Where rows of a table differ in their ids: below 2^44, with room for the table. */
enum { TABLE_SHIFT = 40 };

/* Columns that only databases have: sizes of copies, and the lane of results.json. */
enum { COLUMN_DATA = ROCPROF_ALL_COLUMNS, COLUMN_LANE };

typedef struct db_table {
    const char *name;
    rocprof_table kind;
    uint32_t category; /* of calls */
    bool links;        /* Index joins calls and work on GPUs */
    bool has_section;  /* pid is a process */
    bool has_range;    /* there is roctx-range */
    size_t count;      /* of columns */
    size_t basic;      /* of them that all need; then come those of packets */
    char **names;
    unsigned *columns; /* rocprof_column, or one of those above */
    uint64_t has;
} db_table;

typedef struct db_file {
    rocprof_words words;
    rocl_db_state state;
    db_table tables[TABLES_MAX];
    size_t count;
} db_file;

/* A worker's connection, and the cursors over the columns of the table that it read last. */
typedef struct db_worker {
    rocl_db *db;
    const db_table *table;
    size_t count; /* of its columns that are read */
    struct {
        rocl_rows *rows;
        unsigned at, count; /* in the batch at hand */
    } * groups;
    size_t group_count;
    rocprof_row row;
    rocprof_counter *counters;
} db_worker;

/* ---- rows ------------------------------------------------------------------------------------ */

static void close_groups(db_worker *w)
{
    for (size_t i = 0; i < w->group_count; i++)
        rocl_rows_close(w->groups[i].rows);
    free(w->groups);
    free(w->counters);
    w->groups = NULL;
    w->counters = NULL;
    w->group_count = 0;
    w->table = NULL;
}

static void free_worker(void *state)
{
    db_worker *w = state;
    close_groups(w);
    rocl_db_close(w->db);
    free(w);
}

/* A cursor has so many columns at most: tables with many counters take several side by side. */
static rocl_status open_groups(db_worker *w, const db_table *table, size_t count, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    close_groups(w);
    w->groups = calloc((count + GROUP - 1) / GROUP, sizeof *w->groups);
    w->counters = calloc(count + 1, sizeof *w->counters);
    if (!w->groups || !w->counters)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < count && st == ROCL_OK; i += GROUP) {
        const size_t left = count - i, n = left < GROUP ? left : GROUP;
        st = rocl_rows_open(&w->groups[w->group_count].rows, w->db, table->name,
                            (const char *const *)table->names + i, (unsigned)n, err);
        w->group_count += st == ROCL_OK;
    }
    w->table = st == ROCL_OK ? table : NULL;
    w->count = count;
    return st;
}

/* Sees to it that each cursor has rows, of which some hold less text than others at once. *n: how
 * many all have; 0 at the end. */
static rocl_status fill_groups(db_worker *w, unsigned *n, rocl_error *err)
{
    *n = UINT_MAX;
    for (size_t g = 0; g < w->group_count; g++) {
        if (w->groups[g].at == w->groups[g].count) {
            rocl_status st =
                rocl_rows_next(w->groups[g].rows, ROCL_ROWS_BATCH, &w->groups[g].count, err);
            if (st != ROCL_OK)
                return st;
            w->groups[g].at = 0;
        }
        const unsigned left = w->groups[g].count - w->groups[g].at;
        *n = left < *n ? left : *n;
    }
    return ROCL_OK;
}

/* The cell as a field; false: NULL. */
static bool take_cell(const rocl_rows *rows, unsigned column, unsigned i, rocprof_value *value,
                      double *real)
{
    size_t n;
    *real = 0;
    switch (rocl_cell_kind(rows, column, i)) {
    case ROCL_CELL_NULL:
        return false;
    case ROCL_CELL_INT:
        *value = (rocprof_value){.number = rows->columns[column].num[i]};
        *real = (double)value->number;
        return true;
    case ROCL_CELL_REAL:
        memcpy(real, &rows->columns[column].num[i], sizeof *real);
        *value = (rocprof_value){.number = (int64_t)(*real > -9e18 && *real < 9e18 ? *real : 0)};
        return true;
    default:
        value->text.p = rocl_cell_text(rows, column, i, &n);
        value->text.n = n;
        return true;
    }
}

static void set_column(rocprof_row *row, rocprof_column to, rocprof_column from)
{
    if (!(row->has >> from & 1))
        return;
    row->value[to] = row->value[from];
    row->has |= (uint64_t)1 << to;
}

/* "...,Size=4096,...", where rocprof was told to note it */
static void read_noted_size(rocprof_row *row, rocl_view data)
{
    static const char key[] = "Size=";
    const char *p = memmem(data.p, data.n, key, sizeof key - 1);
    if (!p)
        return;
    p += sizeof key - 1;
    const size_t left = (size_t)(data.p + data.n - p);
    const char *comma = memchr(p, ',', left);
    row->value[ROCPROF_SIZE] = (rocprof_value){.text = {p, comma ? (size_t)(comma - p) : left}};
    row->has |= ROCPROF_BIT(SIZE);
}

/* What columns mean that are called the same in all versions and tables. */
static void interpret_row(const db_table *t, rocprof_row *row)
{
    static const rocl_view launch = {"hsa_dispatch", 12}; /* its Index counts dispatches */
    if (t->kind == ROCPROF_DISPATCHES)
        return;
    if (!t->has_section) {
        row->has &= ~ROCPROF_BIT(PROCESS);
        if (t->kind == ROCPROF_OPS && t->has & ROCPROF_BIT(AGENT)) {
            set_column(row, ROCPROF_STREAM, ROCPROF_THREAD);
            row->has &= ~ROCPROF_BIT(THREAD);
        }
    }
    const rocl_view name = row->value[ROCPROF_NAME].text;
    if (t->links && !(row->has & ROCPROF_BIT(NAME) && name.n == launch.n &&
                      !memcmp(name.p, launch.p, launch.n)))
        set_column(row, ROCPROF_LINK, ROCPROF_INDEX);
}

static rocl_status put_row(rocl_records *to, const db_file *f, db_worker *w, rocl_error *err)
{
    const db_table *t = w->table;
    rocprof_row *row = &w->row;
    bool unlaned = false;
    row->has = row->has_packet = 0;
    row->of_v1 = true;
    row->counters = w->counters;
    row->counter_count = 0;
    row->where =
        (uint64_t)(t - f->tables) << TABLE_SHIFT |
        ((uint64_t)w->groups[0].rows->id[w->groups[0].at] & (((uint64_t)1 << TABLE_SHIFT) - 1));
    for (size_t c = 0; c < w->count; c++) {
        rocprof_value value = {0};
        double real;
        if (!take_cell(w->groups[c / GROUP].rows, (unsigned)(c % GROUP), w->groups[c / GROUP].at,
                       &value, &real))
            continue;
        if (t->columns[c] == COLUMN_DATA) {
            if (value.text.n)
                read_noted_size(row, value.text);
        } else if (t->columns[c] == COLUMN_LANE) {
            unlaned = !value.text.p && !value.number;
        } else if (t->columns[c] != ROCPROF_OTHER) {
            rocprof_row_set(row, t->columns[c], value);
        } else if (t->kind == ROCPROF_DISPATCHES) {
            w->counters[row->counter_count++] =
                (rocprof_counter){{t->names[c], strlen(t->names[c])}, value, real};
        }
    }
    interpret_row(t, row);
    /* Before there were lanes it was on thread 0. */
    const rocprof_value *thread = &row->value[ROCPROF_THREAD];
    if (t->kind == ROCPROF_RANGES && !t->has_section && row->has & ROCPROF_BIT(THREAD) &&
        !thread->text.p && !thread->number) {
        unlaned = true;
        row->has &= ~ROCPROF_BIT(THREAD);
    }
    rocprof_value *end = &row->value[ROCPROF_END];
    if (unlaned && row->has & ROCPROF_BIT(END) && !end->text.p)
        end->number--; /* so v1 writes what was started and stopped */
    return rocprof_row_put(to, &f->words, t->kind, row, t->category, err);
}

static rocl_status parse_piece(rocl_records_input *in, rocl_records *to, const rocl_piece *piece,
                               rocl_error *err)
{
    const db_file *f = in->state;
    const db_table *table = &f->tables[piece->part];
    void **state = rocl_records_state(to);
    db_worker *w = *state ? *state : calloc(1, sizeof *w);
    rocl_status st = ROCL_OK;
    unsigned n = 1;
    *state = w;
    if (!w)
        return rocl_fail_memory(err);
    if (!w->db)
        st = rocl_source_connect(&w->db, in->trace, in->source, &f->state, err);
    if (st == ROCL_OK)
        rocl_db_allow_rowids(w->db);
    const size_t count = rocl_records_want_packets(to) ? table->count : table->basic;
    if (st == ROCL_OK && (w->table != table || w->count != count))
        st = open_groups(w, table, count, err);
    for (size_t g = 0; g < w->group_count && st == ROCL_OK; g++) {
        st = rocl_rows_seek(w->groups[g].rows, (int64_t)piece->first, (int64_t)piece->last, err);
        w->groups[g].at = w->groups[g].count = 0;
    }
    while (st == ROCL_OK && n && (st = fill_groups(w, &n, err)) == ROCL_OK)
        for (unsigned i = 0; i < n && st == ROCL_OK; i++) {
            st = put_row(to, f, w, err);
            for (size_t g = 0; g < w->group_count; g++)
                w->groups[g].at++;
        }
    return st ? st : rocl_db_check_unchanged(w->db, err);
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* The columns of a table, as SQLite names them. */
static rocl_status read_columns(db_table *t, rocl_db *db, rocl_error *err)
{
    sqlite3_stmt *stmt = NULL;
    char sql[64];
    rocl_status st = rocl_db_sqlite(db, err);
    if (st != ROCL_OK)
        return st;
    snprintf(sql, sizeof sql, "PRAGMA table_info(\"%s\")", t->name);
    t->names = calloc(COLUMNS_MAX, sizeof *t->names);
    t->columns = calloc(COLUMNS_MAX, sizeof *t->columns);
    if (!t->names || !t->columns)
        return rocl_fail_memory(err);
    int rc = sqlite3_prepare_v2(rocl_db_handle(db), sql, -1, &stmt, NULL);
    while (rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW && t->count < COLUMNS_MAX) {
        const char *name = (const char *)sqlite3_column_text(stmt, 1);
        char *copy = strdup(name ? name : "");
        if (!copy) {
            sqlite3_finalize(stmt);
            return rocl_fail_memory(err);
        }
        t->has_section |= !strcmp(copy, "__section");
        t->has_range |= !strcmp(copy, "roctx-range");
        unsigned c = rocprof_column_of((rocl_view){copy, strlen(copy)});
        if (!strcmp(copy, "__lane") && t->kind == ROCPROF_RANGES)
            c = COLUMN_LANE;
        if (!strcmp(copy, "Data") && t->kind == ROCPROF_OPS)
            c = COLUMN_DATA;
        const bool of_packet = c > ROCPROF_OTHER && c < ROCPROF_ALL_COLUMNS;
        /* What nobody looks at need not be read. */
        if (c == ROCPROF_IGNORED ||
            (t->kind != ROCPROF_DISPATCHES && (c == ROCPROF_OTHER || of_packet))) {
            free(copy);
        } else {
            /* One of a packet makes place for one of the others. */
            const size_t at = of_packet ? t->count : t->basic++;
            t->columns[t->count] = t->columns[at];
            t->names[t->count++] = t->names[at];
            t->columns[at] = c;
            t->names[at] = copy;
            t->has |= c >= ROCPROF_OTHER ? 0 : (uint64_t)1 << c;
        }
        rc = SQLITE_OK;
    }
    if (rc != SQLITE_DONE && rc != SQLITE_ROW)
        st = rocl_sqlite_fail(db, t->name, err);
    sqlite3_finalize(stmt);
    return st;
}

static const char *name_part(const rocl_records_input *in, const rocl_piece *piece)
{
    return ((const db_file *)in->state)->tables[piece->part].name;
}

static void close_file(rocl_records_input *in)
{
    db_file *f = in->state;
    for (size_t i = 0; f && i < f->count; i++) {
        for (size_t c = 0; c < f->tables[i].count; c++)
            free(f->tables[i].names[c]);
        free(f->tables[i].names);
        free(f->tables[i].columns);
    }
    free(f);
}

static const rocl_record_format format = {.places = ROCL_PLACES_ROWS,
                                          .keeps = true,
                                          .row_bits = TABLE_SHIFT,
                                          .parse = parse_piece,
                                          .free_worker = free_worker,
                                          .part_name = name_part,
                                          .close = close_file};

static rocl_status open_tables(rocl_records_input *in, rocl_db *db, rocl_error *err)
{
    static const struct {
        const char *name;
        rocprof_table kind;
        const char *category;
    } known[] = {{"HIP", ROCPROF_CALLS, "HIP_RUNTIME_API"},
                 {"HSA", ROCPROF_CALLS, "HSA_CORE_API"},
                 {"KFD", ROCPROF_CALLS, "KFD_API"},
                 {"KERN", ROCPROF_DISPATCHES, NULL},
                 {"A", ROCPROF_DISPATCHES, NULL},
                 {"OPS", ROCPROF_OPS, NULL},
                 {"COPY", ROCPROF_OPS, NULL},
                 {"rocTX", ROCPROF_RANGES, NULL}};
    db_file *f = in->state;
    rocl_db_object *objects = NULL;
    size_t count = 0;
    rocl_status st = rocl_db_objects(db, &objects, &count, err);
    for (size_t i = 0; i < count; i++)
        if (!strcmp(objects[i].name, "MM"))
            in->source->remark = "its table MM is left out";
    for (size_t k = 0; k < sizeof known / sizeof *known && st == ROCL_OK; k++)
        for (size_t i = 0; i < count && st == ROCL_OK; i++) {
            if (objects[i].is_view || strcmp(objects[i].name, known[k].name) != 0)
                continue;
            db_table *t = &f->tables[f->count++];
            t->name = known[k].name;
            t->kind = known[k].kind;
            if (known[k].category)
                t->category = rocl_strings_put(in->trace->strings, known[k].category,
                                               strlen(known[k].category));
            st = read_columns(t, db, err);
            if (st == ROCL_OK)
                st = rocl_records_cut_table(in, db, t->name, (uint32_t)(f->count - 1), err);
        }
    rocl_db_objects_free(objects, count);
    return st;
}

/* Calls and work are joined by Index where it counts the same. Copies are of HIP, or of HSA, when
 * they do not say on which device. Before ROCm 5.2, the first to write roctx-range, calls of HSA
 * are counted on their own. */
static void choose_links(db_file *f)
{
    const db_table *copies = NULL, *ops = NULL;
    for (size_t i = 0; i < f->count; i++) {
        copies = strcmp(f->tables[i].name, "COPY") ? copies : &f->tables[i];
        ops = strcmp(f->tables[i].name, "OPS") ? ops : &f->tables[i];
    }
    const bool of_hsa = copies && !(copies->has & ROCPROF_BIT(AGENT));
    const bool one_count = (!copies || copies->has_range) && (!ops || ops->has_range);
    for (size_t i = 0; i < f->count; i++) {
        db_table *t = &f->tables[i];
        const bool hsa = !strcmp(t->name, "HSA");
        t->links = t == copies || t == ops ||
                   (t->kind == ROCPROF_CALLS && (hsa ? of_hsa || one_count : !of_hsa));
    }
}

/* Before which version of ROCm it was recorded, as 10 * major + minor; 0: that is not told. */
static int32_t find_rocm_end(const db_file *f)
{
    int32_t end = 0;
    for (size_t i = 0; i < f->count; i++) {
        const db_table *t = &f->tables[i];
        const bool ops = t->kind == ROCPROF_OPS && t->has & ROCPROF_BIT(AGENT);
        if (t->kind == ROCPROF_DISPATCHES)
            continue;
        if (!t->has_section)
            return 43;
        end = ops && !t->has_range ? 52 : end;
    }
    return end;
}

static rocl_status open_file(rocl_source *s, rocl_trace *t, rocl_error *err)
{
    rocl_records_input *in;
    rocl_status st = rocl_records_open(&in, s, t, &format, err);
    if (st != ROCL_OK)
        return st;
    db_file *f = in->state = calloc(1, sizeof *f);
    if (!f || !rocprof_intern_words(&f->words, t))
        return rocl_fail_memory(err);
    rocl_db_state_of(s->db, &f->state);
    rocl_db_allow_rowids(s->db);
    s->truncated = rocl_db_log_truncated(s->db);
    if (s->truncated)
        s->remark = "the log beside it (-wal) ends in an incomplete transaction, which is left out";
    st = open_tables(in, s->db, err);
    choose_links(f);
    in->capture->pub.rocm_end = find_rocm_end(f);
    return st ? st : rocl_records_index(in, err);
}

const rocl_source_ops rocl_rocprof_db_ops = {ROCL_RECORDS_OPS(open_file)};
