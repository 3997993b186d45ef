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

#include "base/json.h"
#include "source/db/connection.h"
#include "source/rocprof/rocprof.h"
#include "source/rocprof/row.h"

enum { COLUMNS_MAX = 2000, TABLES_MAX = 10, GROUP = ROCL_ROWS_COLUMNS_MAX };

/* Ids of records are the row, below this bit, and the table; in all below 2^44. */
enum { TABLE_SHIFT = 40 };

/* A call whose Index counts dispatches. */
#define LAUNCH "hsa_dispatch"

/* Columns that only databases have: sizes of copies, and the lane of results.json. */
enum { COLUMN_DATA = ROCPROF_ALL_COLUMNS, COLUMN_LANE };

/* See known_row. */
enum { KNOWN_ROWS = 2048, KNOWN_NUMBERS = 10 };

typedef struct db_table {
    const char *name;
    rocprof_table kind;
    uint32_t category; /* of calls */
    bool links;        /* Index joins calls and work on GPUs */
    bool has_section;  /* pid is a process */
    bool has_range;    /* there is roctx-range */
    size_t count;      /* of columns */
    size_t basic;      /* the first ones, which are always needed; those of packets follow */
    bool repeats;      /* its rows mostly differ only in times and links: see known_row */
    struct {
        unsigned name, start, end, index, data, args; /* the column of the name if there is none */
        unsigned numbers[KNOWN_NUMBERS];              /* the other columns */
        unsigned count;
    } repeated;
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

/* Rows that differ from an earlier one but in times and Index are remembered by the numbers of
 * their other columns and their name. */
typedef struct known_row {
    uint64_t numbers[1 + KNOWN_NUMBERS];
    char *name;
    size_t length, cap;
    rocl_record_like record;
} known_row;

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
    rocl_buf args;               /* of the call at hand, where they are stored escaped */
    known_row known[KNOWN_ROWS]; /* of the table, by hash */
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
    for (size_t i = 0; i < KNOWN_ROWS; i++)
        free(w->known[i].name);
    rocl_buf_free(&w->args);
    free(w);
}

/* A cursor has a limited number of columns: tables with many counters need several cursors. */
static rocl_status open_groups(db_worker *w, const db_table *table, size_t count, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    close_groups(w);
    for (size_t i = 0; i < KNOWN_ROWS; i++)
        w->known[i].record.version = 0;
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

static void set_column(rocprof_row *row, rocprof_column to, rocprof_column from)
{
    if (!(row->has >> from & 1))
        return;
    row->value[to] = row->value[from];
    row->has |= (uint64_t)1 << to;
}

/* A cell that is not a plain number. *unlaned: it is the lane, and there is none. */
static void set_odd_cell(db_worker *w, const rocl_rows *rows, unsigned column, unsigned i,
                         size_t of_table, bool *unlaned)
{
    const db_table *t = w->table;
    const unsigned to = t->columns[of_table];
    rocprof_row *row = &w->row;
    rocprof_value value = {0};
    double real = 0;
    switch (rocl_cell_kind(rows, column, i)) {
    case ROCL_CELL_NULL:
        return;
    case ROCL_CELL_INT:
        value.number = rows->columns[column].num[i];
        real = (double)value.number;
        break;
    case ROCL_CELL_REAL:
        memcpy(&real, &rows->columns[column].num[i], sizeof real);
        value.number = (int64_t)(real > -9e18 && real < 9e18 ? real : 0);
        break;
    default:
        value.text.p = rocl_cell_text(rows, column, i, &value.text.n);
    }
    if (to == ROCPROF_ARGS && value.text.n && rocl_view_find(value.text, "\\\"")) {
        w->args.len = 0; /* since ROCm 5.4 quotes are escaped as for JSON */
        rocl_json_unescape(&w->args, value.text);
        if (!w->args.failed)
            value.text = (rocl_view){(const char *)w->args.data, w->args.len};
    }
    if (to == COLUMN_DATA) {
        /* "...,Size=4096,...", where rocprof was told to note it */
        const char *size = value.text.n ? rocl_view_find(value.text, "Size=") : NULL;
        if (size) {
            const rocl_view rest = rocl_view_between(size + 5, value.text.p + value.text.n);
            row->value[ROCPROF_SIZE] = (rocprof_value){.text = rocl_view_until(rest, ',')};
            row->has |= ROCPROF_BIT(SIZE);
        }
    } else if (to == COLUMN_LANE) {
        *unlaned = !value.text.p && !value.number;
    } else if (to != ROCPROF_OTHER) {
        rocprof_row_set(row, to, value);
    } else if (t->kind == ROCPROF_DISPATCHES) {
        w->counters[row->counter_count++] =
            (rocprof_counter){{t->names[of_table], strlen(t->names[of_table])}, value, real};
    }
}

/* A row that may differ from an earlier one only in times and Index. */
typedef struct repeated_row {
    uint64_t numbers[1 + KNOWN_NUMBERS]; /* the first one: a bit for each column present */
    rocl_view name;
    rocl_record_again record;
    known_row *known; /* where such rows are */
} repeated_row;

/* The hash treats words alike at all positions. */
static uint64_t hash_row(const repeated_row *r, size_t count)
{
    uint64_t sum = 0, factor = 0x9e3779b97f4a7c15u, word = 0;
    for (size_t i = 0; i <= count; i++, factor += 0xa0761d6478bd642eu)
        sum += r->numbers[i] * factor;
    for (size_t i = 0; i + 8 <= r->name.n; i += 8, factor += 0xa0761d6478bd642eu) {
        memcpy(&word, r->name.p + i, 8);
        sum += word * factor;
    }
    if (r->name.n >= 8)
        memcpy(&word, r->name.p + r->name.n - 8, 8);
    else
        memcpy(&word, r->name.p, r->name.n);
    return rocl_mix64(sum + (word ^ r->name.n) * factor);
}

/* Reads a row as a possible repetition. False: it needs the full treatment. */
static bool read_repeated(db_worker *w, repeated_row *r)
{
    const db_table *t = w->table;
    const rocl_column *columns = w->groups[0].rows->columns;
    const unsigned i = w->groups[0].at;
    const rocl_column *name = &columns[t->repeated.name], *start = &columns[t->repeated.start],
                      *end = &columns[t->repeated.end], *index = &columns[t->repeated.index],
                      *data = &columns[t->repeated.data], *args = &columns[t->repeated.args];
    if (start->type[i] != ROCL_CELL_INT || end->type[i] != ROCL_CELL_INT ||
        name->type[i] != ROCL_CELL_TEXT)
        return false;
    r->record =
        (rocl_record_again){.start = start->num[i], .end = end->num[i], .link = ROCL_NO_KEY};
    r->name.p = w->groups[0].rows->text + name->num[i];
    r->name.n = name->len[i];
    r->numbers[0] = 0;
    for (unsigned k = 0; k < t->repeated.count; k++) {
        const rocl_column *column = &columns[t->repeated.numbers[k]];
        const rocl_cell_type type = (rocl_cell_type)column->type[i];
        r->numbers[0] |= (uint64_t)type << 4 * k;
        r->numbers[1 + k] = type == ROCL_CELL_INT ? (uint64_t)column->num[i] : 0;
        if (type > ROCL_CELL_INT)
            return false;
    }
    if (index != name && index->type[i] == ROCL_CELL_INT && index->num[i] && t->links)
        r->record.link = (uint64_t)index->num[i];
    else if (index != name && index->type[i] > ROCL_CELL_INT)
        return false;
    if (data != name && data->type[i] != ROCL_CELL_NULL &&
        (data->type[i] != ROCL_CELL_TEXT || data->len[i]))
        return false;
    if (!r->name.n || rocl_view_is(r->name, LAUNCH))
        return false;
    if (args != name && rocprof_call_copies(r->name)) {
        if (args->type[i] == ROCL_CELL_TEXT)
            rocprof_read_copy(r->name,
                              (rocl_view){w->groups[0].rows->text + args->num[i], args->len[i]},
                              &r->record.bytes, &r->record.direction);
        else if (args->type[i] != ROCL_CELL_NULL)
            return false;
    }
    r->known = &w->known[hash_row(r, t->repeated.count) % KNOWN_ROWS];
    return true;
}

/* Remembers the record that was put of the row. */
static bool remember_row(rocl_records *to, const repeated_row *r, uint64_t where)
{
    known_row *k = r->known;
    k->record.version = 0;
    if (!ROCL_GROW(k->name, k->cap, r->name.n))
        return false;
    memcpy(k->numbers, r->numbers, sizeof k->numbers);
    memcpy(k->name, r->name.p, r->name.n);
    k->length = r->name.n;
    k->record = rocl_records_last(to, where);
    return true;
}

static rocl_status put_row(rocl_records *to, const db_file *f, db_worker *w, rocl_error *err)
{
    const db_table *t = w->table;
    rocprof_row *row = &w->row;
    bool unlaned = false;
    repeated_row again;
    row->where =
        (uint64_t)(t - f->tables) << TABLE_SHIFT |
        ((uint64_t)w->groups[0].rows->id[w->groups[0].at] & (((uint64_t)1 << TABLE_SHIFT) - 1));
    const bool repeats = t->repeats && !rocl_records_want_args(to) && read_repeated(w, &again);
    const known_row *known = repeats ? again.known : NULL;
    if (known && known->length == again.name.n &&
        !memcmp(known->name, again.name.p, again.name.n) &&
        !memcmp(known->numbers, again.numbers, (1 + t->repeated.count) * sizeof *known->numbers)) {
        bool done = false;
        again.record.like = known->record;
        again.record.where = row->where;
        const rocl_status put = rocl_record_put_again(to, &again.record, &done, err);
        if (done || put != ROCL_OK)
            return put;
    }
    row->has = row->has_packet = 0;
    row->of_v1 = true;
    row->counters = w->counters;
    row->counter_count = 0;
    for (size_t g = 0, at = 0; g < w->group_count; g++) {
        const rocl_rows *rows = w->groups[g].rows;
        const unsigned i = w->groups[g].at;
        for (unsigned c = 0; c < rows->column_count; c++, at++) {
            const rocl_column *column = &rows->columns[c];
            const unsigned into = t->columns[at];
            if (column->type[i] == ROCL_CELL_INT && into < ROCPROF_OTHER) {
                row->value[into] = (rocprof_value){.number = column->num[i]};
                row->has |= (uint64_t)1 << into;
            } else {
                set_odd_cell(w, rows, c, i, at, &unlaned);
            }
        }
    }
    /* Interprets columns whose meaning depends on version and table. */
    if (t->kind != ROCPROF_DISPATCHES) {
        if (!t->has_section) {
            row->has &= ~ROCPROF_BIT(PROCESS);
            if (t->kind == ROCPROF_OPS && t->has & ROCPROF_BIT(AGENT)) {
                set_column(row, ROCPROF_STREAM, ROCPROF_THREAD);
                row->has &= ~ROCPROF_BIT(THREAD);
            }
        }
        if (t->links &&
            !(row->has & ROCPROF_BIT(NAME) && rocl_view_is(row->value[ROCPROF_NAME].text, LAUNCH)))
            set_column(row, ROCPROF_LINK, ROCPROF_INDEX);
    }
    /* Before there were lanes it was on thread 0. */
    const rocprof_value *thread = &row->value[ROCPROF_THREAD];
    if (t->kind == ROCPROF_RANGES && !t->has_section && row->has & ROCPROF_BIT(THREAD) &&
        !thread->text.p && !thread->number) {
        unlaned = true;
        row->has &= ~ROCPROF_BIT(THREAD);
    }
    rocprof_value *end = &row->value[ROCPROF_END];
    row->started = unlaned;
    if (unlaned && row->has & ROCPROF_BIT(END) && !end->text.p && end->number > INT64_MIN)
        end->number--; /* so v1 writes what was started and stopped */
    rocl_status st = rocprof_row_put(to, &f->words, t->kind, row, t->category, err);
    return st != ROCL_OK || !repeats || remember_row(to, &again, row->where)
               ? st
               : rocl_fail_memory(err);
}

static rocl_status parse_piece(rocl_records_input *in, rocl_records *to, const rocl_piece *piece,
                               rocl_error *err)
{
    const db_file *f = in->state;
    const db_table *table = &f->tables[piece->section];
    db_worker *w = rocl_records_own(to, sizeof *w);
    rocl_status st = ROCL_OK;
    unsigned n = 1;
    if (!w)
        return rocl_fail_memory(err);
    if (!w->db)
        st = rocl_source_connect(&w->db, in->trace, in->source, &f->state, err);
    if (st == ROCL_OK)
        rocl_db_allow_rowids(w->db);
    const size_t count =
        rocl_records_want_fields(to, ROCL_FIELD_PACKET) ? table->count : table->basic;
    if (st == ROCL_OK && (w->table != table || w->count != count))
        st = open_groups(w, table, count, err);
    for (size_t g = 0; g < w->group_count && st == ROCL_OK; g++) {
        st = rocl_rows_seek(w->groups[g].rows, (int64_t)piece->first, (int64_t)piece->last, err);
        w->groups[g].at = w->groups[g].count = 0;
    }
    while (st == ROCL_OK && n) {
        n = UINT_MAX; /* rows that all cursors have; batches may differ in size */
        for (size_t g = 0; g < w->group_count && st == ROCL_OK; g++) {
            if (w->groups[g].at == w->groups[g].count) {
                st = rocl_rows_next(w->groups[g].rows, ROCL_ROWS_BATCH, &w->groups[g].count, err);
                w->groups[g].at = 0;
            }
            const unsigned left = w->groups[g].count - w->groups[g].at;
            n = left < n ? left : n;
        }
        for (unsigned i = 0; i < n && st == ROCL_OK; i++) {
            st = put_row(to, f, w, err);
            for (size_t g = 0; g < w->group_count; g++)
                w->groups[g].at++;
        }
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
    int rc = sqlite3_prepare_v2(db->handle, sql, -1, &stmt, NULL);
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
        /* Unused columns need not be read. */
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

/* Finds the columns that identify a row of calls or work. */
static void plan_repeated(db_table *t)
{
    enum { NONE = COLUMNS_MAX };
    unsigned name = NONE, start = NONE, end = NONE, index = NONE, data = NONE, args = NONE;
    bool plain = t->kind == ROCPROF_CALLS || t->kind == ROCPROF_OPS;
    t->repeated.count = 0;
    for (unsigned c = 0; c < t->count && plain; c++) {
        unsigned *of = t->columns[c] == ROCPROF_NAME    ? &name
                       : t->columns[c] == ROCPROF_START ? &start
                       : t->columns[c] == ROCPROF_END   ? &end
                       : t->columns[c] == ROCPROF_INDEX ? &index
                       : t->columns[c] == COLUMN_DATA   ? &data
                       : t->columns[c] == ROCPROF_ARGS  ? &args
                                                        : NULL;
        if (of) {
            plain = *of == NONE;
            *of = c;
        } else {
            plain = t->repeated.count < KNOWN_NUMBERS && t->columns[c] != ROCPROF_LINK;
            if (plain)
                t->repeated.numbers[t->repeated.count++] = c;
        }
    }
    t->repeats = plain && t->count <= GROUP && name != NONE && start != NONE && end != NONE;
    t->repeated.name = name;
    t->repeated.start = start;
    t->repeated.end = end;
    t->repeated.index = index == NONE ? name : index;
    t->repeated.data = data == NONE ? name : data;
    t->repeated.args = args == NONE ? name : args;
}

static const char *name_section(const rocl_records_input *in, const rocl_piece *piece)
{
    return ((const db_file *)in->state)->tables[piece->section].name;
}

static void close_file(rocl_records_input *in)
{
    db_file *f = in->state;
    for (size_t i = 0; i < f->count; i++) {
        for (size_t c = 0; c < f->tables[i].count; c++)
            free(f->tables[i].names[c]);
        free(f->tables[i].names);
        free(f->tables[i].columns);
    }
}

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
            plan_repeated(t);
            if (st == ROCL_OK)
                st = rocl_records_cut_table(in, db, t->name, (uint32_t)(f->count - 1), err);
        }
    rocl_db_objects_free(objects, count);
    return st;
}

/* Calls and work are joined by Index if it counts the same. Copies belong to HIP, or to HSA if they
 * do not name a device. Before ROCm 5.2, which introduced roctx-range, calls of HSA have their own
 * count. */
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

static rocl_status open_file(rocl_records_input *in, rocl_error *err)
{
    rocl_source *s = in->source;
    db_file *f = in->state;
    if (!rocprof_intern_words(&f->words, in->trace))
        return rocl_fail_memory(err);
    rocl_db_state_of(s->db, &f->state);
    rocl_db_allow_rowids(s->db);
    const rocl_status st = open_tables(in, s->db, err);
    choose_links(f);
    /* The version of ROCm before which it was recorded, as 10 * major + minor; 0: unknown. */
    int32_t end = 0;
    for (size_t i = 0; i < f->count && end != 43; i++) {
        const db_table *table = &f->tables[i];
        const bool ops = table->kind == ROCPROF_OPS && table->has & ROCPROF_BIT(AGENT);
        if (table->kind != ROCPROF_DISPATCHES && !table->has_section)
            end = 43;
        else if (ops && !table->has_range)
            end = 52;
    }
    in->capture->pub.rocm_end = end;
    return st;
}

static const rocl_record_format format = {.state_size = sizeof(db_file),
                                          .open = open_file,
                                          .places = ROCL_PLACES_ROWS,
                                          .keeps = true,
                                          .row_bits = TABLE_SHIFT,
                                          .parse = parse_piece,
                                          .free_worker = free_worker,
                                          .section_name = name_section,
                                          .close = close_file};

const rocl_source_ops rocl_rocprof_db_ops = {ROCL_RECORDS_OPS(format)};
