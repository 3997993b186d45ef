#include "tests/unit/stats.h"

char folder[64];

int enter(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/rocline-test-XXXXXX");
    return !mkdtemp(folder);
}

int leave(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

uint64_t draw_from(uint64_t *seed, uint64_t n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (*seed >> 33) % n;
}

/* ---- traces and their tables ----------------------------------------------------------------- */

void path_of(char *path, size_t size, const char *name)
{
    const char *fixtures = getenv("FIXTURES");
    if (!fixtures)
        skip();
    if (!strcmp(name, "demo"))
        snprintf(path, size, "tests/fixtures/demo.db");
    else if (strchr(name, '/'))
        snprintf(path, size, "%s", name);
    else
        snprintf(path, size, "%s/%s.db", fixtures, name);
}

rocl_trace *open_trace(const char *names, const rocl_options *o)
{
    char paths[8][512], name[512];
    const char *inputs[COUNT(paths)];
    size_t n = 0;
    rocl_trace *t = NULL;
    rocl_error *err = rocl_error_new();
    for (const char *p = names; *p && n < COUNT(paths); n++) {
        int len = (int)strcspn(p, " ");
        snprintf(name, sizeof name, "%.*s", len, p);
        path_of(paths[n], sizeof paths[n], name);
        inputs[n] = paths[n];
        p += len + (p[len] == ' ');
    }
    if (rocl_trace_open(&t, inputs, n, o, err) != ROCL_OK)
        fail_msg("%s: %s", names, rocl_error_text(err));
    rocl_error_free(err);
    return t;
}

rocl_tables *stats_of(rocl_trace *t, const rocl_stats_options *o)
{
    rocl_tables *tables = NULL;
    rocl_error *err = rocl_error_new();
    if (rocl_stats(t, o, &tables, err) > ROCL_PARTIAL)
        fail_msg("%s", rocl_error_text(err));
    rocl_error_free(err);
    assert_non_null(tables);
    return tables;
}

rocl_tables *all_stats_of(rocl_trace *t, rocl_stats_options o)
{
    if (!o.reports)
        o.reports = ALL_REPORTS;
    return stats_of(t, &o);
}

rocl_tables *stats_of_inputs(const char *names, const rocl_options *o, rocl_stats_options so)
{
    rocl_trace *t = open_trace(names, o);
    rocl_tables *tables = stats_of(t, &so);
    rocl_trace_close(t);
    return tables;
}

const rocl_table *table_of(const rocl_tables *all, const char *key)
{
    for (size_t i = 0; i < all->count; i++)
        if (!strcmp(all->tables[i].key, key))
            return &all->tables[i];
    fail_msg("no table %s", key);
    return NULL;
}

size_t find_row(const rocl_table *t, const char *domain, const char *name)
{
    size_t row = 0;
    while (row < t->row_count && (strcmp(text_of(t, row, "name"), name) != 0 ||
                                  (domain && strcmp(text_of(t, row, "domain"), domain) != 0)))
        row++;
    return row;
}

char *bytes_of(const rocl_tables *all, rocl_table_format format)
{
    char path[] = "/tmp/rocline-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    const rocl_table_options o = {.path = path, .format = format};
    assert_int_equal(rocl_write_tables(all, &o, NULL), ROCL_OK);
    close(fd);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    char *text = NULL;
    size_t size = 0;
    ssize_t n = getdelim(&text, &size, '\0', f);
    assert_true(n > 0);
    fclose(f);
    unlink(path);
    return text;
}

void check_same_bytes(const char *names, const rocl_stats_options *s)
{
    char *first = NULL;
    for (unsigned i = 0; i < 8; i++) {
        const rocl_options o = {.jobs = 1 + i % 4, .memory = i < 4 ? 0 : (size_t)64 << 10};
        rocl_trace *t = open_trace(names, &o);
        rocl_tables *all = stats_of(t, s);
        char *text = bytes_of(all, ROCL_TABLE_JSON);
        if (first)
            assert_string_equal(text, first);
        free(first);
        first = text;
        rocl_tables_free(all);
        rocl_trace_close(t);
    }
    free(first);
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* Its number; column_count: none. */
static size_t column_of(const rocl_table *t, const char *key)
{
    size_t c = 0;
    while (c < t->column_count && strcmp(t->columns[c].key, key) != 0)
        c++;
    return c;
}

bool has_column(const rocl_table *t, const char *key)
{
    return column_of(t, key) < t->column_count;
}

const rocl_datum *find_cell(const rocl_table *t, size_t row, const char *key)
{
    size_t c = column_of(t, key);
    assert_true(row < t->row_count);
    return c < t->column_count ? &t->cells[row * t->column_count + c] : NULL;
}

const rocl_datum *cell(const rocl_table *t, size_t row, const char *key)
{
    const rocl_datum *d = find_cell(t, row, key);
    if (!d)
        fail_msg("table %s has no column %s", t->key, key);
    return d;
}

int64_t int_of(const rocl_table *t, size_t row, const char *key)
{
    const rocl_datum *d = cell(t, row, key);
    assert_int_equal(d->type, ROCL_DATUM_INT);
    return d->i;
}

double real_of(const rocl_table *t, size_t row, const char *key)
{
    const rocl_datum *d = cell(t, row, key);
    assert_int_equal(d->type, ROCL_DATUM_REAL);
    return d->r;
}

const char *text_of(const rocl_table *t, size_t row, const char *key)
{
    const rocl_datum *d = cell(t, row, key);
    assert_int_equal(d->type, ROCL_DATUM_TEXT);
    return d->text;
}

const char *text_if_any(const rocl_table *t, size_t row, const char *key)
{
    return cell(t, row, key)->type == ROCL_DATUM_NONE ? "" : text_of(t, row, key);
}

void check_int(const rocl_table *t, size_t row, const char *key, int64_t expected)
{
    int64_t ours = int_of(t, row, key);
    if (ours != expected)
        fail_msg("table %s, row %zu, %s: %lld, expected %lld", t->key, row, key, (long long)ours,
                 (long long)expected);
}

void check_real(const rocl_table *t, size_t row, const char *key, double expected)
{
    const rocl_datum *d = cell(t, row, key);
    double ours = d->type == ROCL_DATUM_REAL  ? d->r
                  : d->type == ROCL_DATUM_INT ? (double)d->i
                                              : (double)NAN;
    if (isnan(expected) ? d->type != ROCL_DATUM_NONE
                        : !(fabs(ours - expected) <= 1e-9 * fmax(fabs(expected), 1e-6)))
        fail_msg("table %s, row %zu, %s: %.17g, expected %.17g", t->key, row, key, ours, expected);
}

void check_text(const rocl_table *t, size_t row, const char *key, const char *expected)
{
    if (expected)
        assert_string_equal(text_of(t, row, key), expected);
    else
        check_none(t, row, key);
}

void check_none(const rocl_table *t, size_t row, const char *key)
{
    assert_int_equal(cell(t, row, key)->type, ROCL_DATUM_NONE);
}

/* ---- SQL ------------------------------------------------------------------------------------- */

void run_sql(sqlite3 *db, const char *sql)
{
    char *message = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s\n%s", message, sql);
}

sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
        fail_msg("%s\n%s", sqlite3_errmsg(db), sql);
    return stmt;
}

int64_t number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt = prepare(db, sql);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    int64_t v = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return v;
}
