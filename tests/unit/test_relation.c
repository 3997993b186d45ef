/* The columns of relations hold what the CSV files show: every row of every file, of every fixture
 * that has such rows. Needs FIXTURES, the folder that make-fixtures.sh filled. */
#include <dirent.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/num.h"
#include "relation/relation.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* ---- lines that are compared in any order ---------------------------------------------------- */

typedef struct lines {
    char **all;
    size_t count, cap;
} lines;

static void add_line(lines *l, const rocl_buf *text)
{
    assert_false(text->failed);
    assert_true(ROCL_GROW(l->all, l->cap, l->count + 1));
    l->all[l->count] = strndup((const char *)text->data, text->len);
    assert_non_null(l->all[l->count++]);
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void free_lines(lines *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->all[i]);
    free(l->all);
}

static void assert_same_lines(const char *what, lines *ours, lines *csv)
{
    qsort(ours->all, ours->count, sizeof *ours->all, compare_lines);
    qsort(csv->all, csv->count, sizeof *csv->all, compare_lines);
    for (size_t i = 0; i < ours->count && i < csv->count; i++)
        if (strcmp(ours->all[i], csv->all[i]) != 0)
            fail_msg("%s, row %zu:\n  relation %s\n  CSV      %s", what, i, ours->all[i],
                     csv->all[i]);
    if (ours->count != csv->count)
        fail_msg("%s: %zu rows, %zu in CSV", what, ours->count, csv->count);
}

/* ---- which column stands for which ----------------------------------------------------------- */

typedef struct pair {
    const char *title, *column;
} pair;

#define REGISTERS                                                                                  \
    {"LDS_Block_Size", "lds_size"}, {"Scratch_Size", "scratch_size"},                              \
        {"VGPR_Count", "vgpr_count"}, {"Accum_VGPR_Count", "accum_vgpr_count"},                    \
    {                                                                                              \
        "SGPR_Count", "sgpr_count"                                                                 \
    }
#define TIMES                                                                                      \
    {"Start_Timestamp", "start"}, {"End_Timestamp", "end"},                                        \
    {                                                                                              \
        "Correlation_Id", "stack_id"                                                               \
    }

static const struct {
    const char *file, *relation;
    uint32_t kinds; /* of the relation, those in the file */
    pair pairs[24];
} tables[] = {
    {"kernel_trace",
     "kernel",
     ROCL_ALL_KINDS,
     {{"Guid", "guid"},
      {"Agent_Id", "agent"},
      {"Queue_Id", "queue_id"},
      {"Stream_Id", "stream_id"},
      {"Thread_Id", "tid"},
      {"Dispatch_Id", "dispatch_id"},
      {"Kernel_Id", "kernel_id"},
      {"Kernel_Name", "name"},
      TIMES,
      {"Duration", "duration"},
      REGISTERS,
      {"Workgroup_Size_X", "workgroup_x"},
      {"Workgroup_Size_Y", "workgroup_y"},
      {"Workgroup_Size_Z", "workgroup_z"},
      {"Grid_Size_X", "grid_x"},
      {"Grid_Size_Y", "grid_y"},
      {"Grid_Size_Z", "grid_z"}}},
    {"memory_copy_trace",
     "memory_copy",
     ROCL_ALL_KINDS,
     {{"Guid", "guid"},
      {"Direction", "name"},
      {"Stream_Id", "stream_id"},
      {"Source_Agent_Id", "src_agent"},
      {"Destination_Agent_Id", "dst_agent"},
      TIMES,
      {"Duration", "duration"},
      {"Bytes", "size"}}},
    {"memory_allocation_trace",
     "memory_allocation",
     ROCL_ALL_KINDS,
     {{"Guid", "guid"},
      {"Operation", "name"},
      {"Agent_Id", "agent"},
      {"Allocation_Size", "size"},
      {"Address", "address"},
      TIMES,
      {"Duration", "duration"}}},
    {"scratch_memory_trace",
     "scratch",
     ROCL_ALL_KINDS,
     {{"Operation", "name"},
      {"Agent_Id", "agent"},
      {"Queue_Id", "queue_id"},
      {"Thread_Id", "tid"},
      {"Alloc_Flags", "flags"},
      {"Start_Timestamp", "start"},
      {"End_Timestamp", "end"}}},
    {"regions_trace",
     "_range",
     ROCL_ALL_KINDS,
     {{"Guid", "guid"},
      {"Domain", "category"},
      {"Function", "function"},
      {"Process_Id", "pid"},
      {"Thread_Id", "tid"},
      TIMES,
      {"Duration", "duration"}}},
    {"instants_trace",
     "_instant",
     ROCL_ALL_KINDS,
     {{"Guid", "guid"},
      {"Domain", "category"},
      {"Function", "name"},
      {"Process_Id", "pid"},
      {"Thread_Id", "tid"},
      TIMES}},
    {"counter_collection",
     "counter",
     ROCL_ALL_KINDS,
     {{"Correlation_Id", "stack_id"},
      {"Dispatch_Id", "dispatch_id"},
      {"Agent_Id", "agent"},
      {"Queue_Id", "queue_id"},
      {"Process_Id", "pid"},
      {"Thread_Id", "tid"},
      {"Kernel_Id", "kernel_id"},
      {"Kernel_Name", "name"},
      REGISTERS,
      {"Counter_Name", "counter"},
      {"Counter_Value", "value"},
      {"Start_Timestamp", "start"},
      {"End_Timestamp", "end"}}},
    {"spm_counter_collection_trace",
     "sample",
     ROCL_BIT(ROCL_SPM),
     {{"Guid", "guid"},
      {"Correlation_Id", "stack_id"},
      {"Agent_Id", "agent"},
      {"Process_Id", "pid"},
      {"Thread_Id", "tid"},
      {"Counter_Name", "counter"},
      {"Xcc", "xcc"},
      {"Shader_Engine", "shader_engine"},
      {"Shader_Array", "shader_array"},
      {"Wgp", "wgp"},
      {"Instance", "instance"},
      {"Counter_Value", "value"},
      {"Timestamp", "start"}}},
    {"counter_sample_trace",
     "sample",
     ROCL_BIT(ROCL_SAMPLE),
     {{"Guid", "guid"},
      {"Correlation_Id", "stack_id"},
      {"Agent_Id", "agent"},
      {"Process_Id", "pid"},
      {"Thread_Id", "tid"},
      {"Counter_Name", "counter"},
      {"Units", "units"},
      {"Counter_Value", "value"},
      {"Timestamp", "start"}}},
    {"graph_launch_trace",
     "graph",
     ROCL_ALL_KINDS,
     {{"Guid", "guid"},
      {"Agent_Id", "agent"},
      {"Queue_Id", "queue_id"},
      {"Thread_Id", "tid"},
      TIMES,
      {"Duration", "duration"},
      {"Kernel_Dispatch_Count", "kernel_count"}}},
    {"hip_event_trace",
     "hip_event",
     ROCL_ALL_KINDS,
     {{"Guid", "guid"},
      {"Operation", "name"},
      {"Agent_Id", "agent"},
      {"Queue_Id", "queue_id"},
      {"Stream_Id", "stream_id"},
      {"Thread_Id", "tid"},
      {"Source_Queue_Id", "source_queue_id"},
      TIMES,
      {"Duration", "duration"}}},
};

/* ---- rows of a relation ---------------------------------------------------------------------- */

typedef struct reading {
    rocl_trace *trace;
    size_t table;
    lines rows;
    pthread_mutex_t lock;
} reading;

static const rocl_relation_column *find_column(const rocl_relation *r, const char *name)
{
    for (unsigned i = 0; i < r->column_count; i++)
        if (!strcmp(r->columns[i].name, name))
            return &r->columns[i];
    fail_msg("%s has no column %s", r->name, name);
    return NULL;
}

/* What AMD's files call a device. */
static uint32_t label_of(const rocl_trace *t, uint32_t device)
{
    for (size_t i = 0; i < rocl_trace_captures(t); i++)
        for (uint32_t k = 0; k < rocl_trace_capture(t, i)->agent_count; k++)
            if (rocl_trace_capture(t, i)->agents[k].device == device)
                return rocl_trace_capture(t, i)->agents[k].label;
    return device;
}

static void put_cell(rocl_buf *to, const rocl_trace *t, const pair *p, rocl_cell_type type,
                     int64_t cell)
{
    char text[ROCL_NUM_MAX + 1];
    size_t n;
    const char *s;
    if (cell == ROCL_CELL_NULL)
        return;
    switch (type) {
    case ROCL_CELL_TEXT:
        s = rocl_text(
            t, strstr(p->title, "Agent_Id") ? label_of(t, (uint32_t)cell) : (uint32_t)cell, &n);
        rocl_buf_put(to, s, n);
        break;
    case ROCL_CELL_REAL:
        n = (size_t)(rocl_put_double(text, rocl_cell_real(cell)) - text);
        rocl_buf_put(to, text, n);
        break;
    case ROCL_CELL_INTEGER:
        if (!strcmp(p->column, "address"))
            rocl_buf_printf(to, "0x%016llx", (unsigned long long)cell);
        else if (!strcmp(p->column, "size"))
            rocl_buf_printf(to, "%llu", (unsigned long long)cell);
        else
            rocl_buf_printf(to, "%lld", (long long)cell);
    }
}

/* Column by column, in pieces of some rows, as exports read them. */
static rocl_status add_rows(void *ctx, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    enum { PIECE = 5 };
    reading *r = ctx;
    const rocl_relation *relation = rocl_relation_named(tables[r->table].relation);
    (void)worker, (void)err;
    pthread_mutex_lock(&r->lock);
    for (size_t first = 0; first < b->count; first += PIECE) {
        const size_t n = b->count - first < PIECE ? b->count - first : PIECE;
        rocl_buf row[PIECE] = {0};
        for (const pair *p = tables[r->table].pairs; p->title; p++) {
            const rocl_relation_column *c = find_column(relation, p->column);
            int64_t cells[PIECE];
            c->fill(r->trace, b, first, n, cells);
            for (size_t i = 0; i < n; i++) {
                put_cell(&row[i], r->trace, p, c->type, cells[i]);
                rocl_buf_byte(&row[i], '|');
            }
        }
        for (size_t i = 0; i < n; i++) {
            add_line(&r->rows, &row[i]);
            rocl_buf_free(&row[i]);
        }
    }
    pthread_mutex_unlock(&r->lock);
    return ROCL_OK;
}

/* ---- rows of a file -------------------------------------------------------------------------- */

/* The next field, without its quotes; false behind the last one of the text. *ends: of its row. */
static bool read_field(const char **p, rocl_buf *field, bool *ends)
{
    const char *s = *p;
    field->len = 0;
    if (!*s)
        return false;
    if (*s == '"') {
        for (s++; *s && (*s != '"' || s[1] == '"'); s++) {
            s += *s == '"';
            rocl_buf_byte(field, (uint8_t)*s);
        }
        s++;
    }
    for (; *s && *s != ',' && *s != '\n'; s++)
        rocl_buf_byte(field, (uint8_t)*s);
    *ends = *s != ',';
    *p = *s ? s + 1 : s;
    return true;
}

static void read_file(const char *path, const pair *pairs, lines *to)
{
    enum { FIELDS = 40 };
    rocl_buf text = {0}, fields[FIELDS] = {0}, line = {0};
    size_t column[24], n = 0;
    FILE *f = fopen(path, "r");
    if (!f)
        return;
    for (int c; (c = fgetc(f)) != EOF;)
        rocl_buf_byte(&text, (uint8_t)c);
    fclose(f);
    rocl_buf_byte(&text, 0);
    const char *p = (const char *)text.data;
    for (size_t row = 0;; row++) {
        bool ends = false;
        for (n = 0; !ends && n < FIELDS && read_field(&p, &fields[n], &ends);)
            n++;
        if (!n)
            break;
        line.len = 0;
        for (size_t i = 0; pairs[i].title; i++) {
            if (!row) {
                for (column[i] = 0; column[i] < n; column[i]++)
                    if (fields[column[i]].len == strlen(pairs[i].title) &&
                        !memcmp(fields[column[i]].data, pairs[i].title, fields[column[i]].len))
                        break;
                if (column[i] == n)
                    fail_msg("%s has no column %s", path, pairs[i].title);
                continue;
            }
            rocl_buf_put(&line, fields[column[i]].data, fields[column[i]].len);
            rocl_buf_byte(&line, '|');
        }
        if (row)
            add_line(to, &line);
    }
    for (size_t i = 0; i < FIELDS; i++)
        rocl_buf_free(&fields[i]);
    rocl_buf_free(&line);
    rocl_buf_free(&text);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void compare_with_csv(const char *fixture)
{
    char folder[] = "/tmp/test_relation.XXXXXX", path[512];
    rocl_trace *t;
    const char *fixtures = getenv("FIXTURES");
    if (!fixtures)
        skip();
    snprintf(path, sizeof path, "%s/%s.db", fixtures, fixture);
    assert_non_null(mkdtemp(folder));
    const rocl_options o = {.jobs = 2};
    rocl_error *err = rocl_error_new();
    if (rocl_trace_open(&t, (const char *[]){path}, 1, &o, err) > ROCL_PARTIAL)
        fail_msg("%s", rocl_error_text(err));
    rocl_error_free(err);
    for (size_t i = 0; i < COUNT(tables); i++) {
        const bool of_1_1 = strstr("regions_trace instants_trace", tables[i].file) != NULL;
        const rocl_csv_options csv = {.style = of_1_1 ? ROCL_CSV_ROCPD_1_1 : ROCL_CSV_ROCPD_1_0,
                                      .directory = folder,
                                      .prefix = "t",
                                      .duration = true,
                                      .bytes = true,
                                      .kinds = (const char *[]){tables[i].file, NULL}};
        lines expected = {0};
        reading r = {.trace = t, .table = i, .lock = PTHREAD_MUTEX_INITIALIZER};
        assert_true(rocl_write_csv(t, &csv, NULL, NULL) <= ROCL_PARTIAL);
        snprintf(path, sizeof path, "%s/t_%s.csv", folder, tables[i].file);
        read_file(path, tables[i].pairs, &expected);
        unlink(path);
        const rocl_relation *relation = rocl_relation_named(tables[i].relation);
        assert_non_null(relation);
        assert_true(rocl_trace_scan(t, relation->kinds & tables[i].kinds, ROCL_ALL_FIELDS, add_rows,
                                    &r, NULL) <= ROCL_PARTIAL);
        snprintf(path, sizeof path, "%s: %s", fixture, tables[i].file);
        assert_same_lines(path, &r.rows, &expected);
        free_lines(&r.rows);
        free_lines(&expected);
    }
    rocl_trace_close(t);
    assert_int_equal(rmdir(folder), 0);
}

static void test_values(void **state)
{
    static const char *const fixtures[] = {"everything", "nasty-3.0.5", "nasty-4.1.0", "nasty-sys",
                                           "spm-3.0.5",  "sampled",     "sys",         "graph",
                                           "hip-events", "few-tables",  "merged"};
    (void)state;
    for (size_t i = 0; i < COUNT(fixtures); i++)
        compare_with_csv(fixtures[i]);
}

/* Names can be used in SQL as they are, but for `end`; no two are the same; all are explained. */
static void test_names(void **state)
{
    (void)state;
    for (size_t r = 0; r < rocl_relation_count; r++) {
        const rocl_relation *a = &rocl_relations[r];
        assert_ptr_equal(rocl_relation_named(a->name), a);
        assert_true(a->purpose || a->name[0] == '_');
        assert_true(!a->kinds == !!a->list);
        for (unsigned i = 0; i < a->column_count; i++) {
            const char *name = a->columns[i].name;
            assert_true(name[strspn(name, "abcdefghijklmnopqrstuvwxyz_")] == '\0');
            if (!*rocl_relation_column_doc(name))
                fail_msg("nothing is said of %s.%s", a->name, name);
            for (unsigned k = 0; k < i; k++)
                assert_string_not_equal(a->columns[k].name, name);
        }
    }
    assert_null(rocl_relation_named("kernels"));
    assert_string_equal(rocl_relation_column_doc("kernels"), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
