/* SQL over a trace: a connection to an empty database in memory, with the tables of the trace, what
 * statements may do there, and the run of statements. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/sqlite.h"
#include "query/columns.h"
#include "query/rocpd.h"
#include "query/sql.h"
#include "query/views.h"

enum {
    LARGEST_VALUE = 256 << 20, /* bytes of a text that statements may make */
    CACHE_KIB = 64 << 10,      /* of SQLite's own temporary tables and sorters; then files */
    OPS_BETWEEN_LOOKS = 100000 /* steps of SQLite between looks at the clock */
};

#define DEFAULT_MEMORY ((size_t)256 << 20)

#define TEMP "TEMP "

typedef struct parameter {
    char *name, *text;
} parameter;

struct rocl_query {
    rocl_trace *trace;
    sqlite3 *db;
    rocl_scanner *scanner;
    rocl_table_host host;
    rocl_rocpd_tables *rocpd; /* NULL: no statement has named them so far */
    rocl_query_options options;
    parameter *parameters;
    size_t parameter_count, parameter_cap;
    rocl_status failed;    /* of the scan that ended the statement at hand */
    const char *denied;    /* the forbidden action of the current statement; NULL: none */
    int temp_offset;       /* where "TEMP " was inserted into the statement; 0: nowhere */
    long error_offset;     /* in the text of rocl_query_run() */
    struct timespec until; /* the time limit of the statement */
    bool late;             /* it is over */
    bool opening;          /* views of ours are being made */
    bool outer_views;      /* a statement may have made a view with an outer join */
};

/* ---- what statements may do ------------------------------------------------------------------ */

static bool is_harmless_pragma(const char *name)
{
    static const char *const names[] = {
        "table_info",     "table_xinfo",     "table_list",
        "function_list",  "module_list",     "pragma_list",
        "database_list",  "compile_options", "case_sensitive_like",
        "index_list",     "index_info",      "index_xinfo",
        "collation_list", "automatic_index", "reverse_unordered_selects",
        "data_version",   "user_version"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!sqlite3_stricmp(name, names[i]))
            return true;
    return false;
}

/* The database is in memory, so tables there are harmless; files and foreign code are not. */
static int check_access(void *ctx, int action, const char *first, const char *second,
                        const char *database, const char *view)
{
    rocl_query *q = ctx;
    (void)database, (void)view;
    if (q->opening)
        return SQLITE_OK;
    if (action == SQLITE_ATTACH && !q->options.attach)
        q->denied = "ATTACH and VACUUM INTO are not allowed here: files are only read as inputs";
    else if (action == SQLITE_DETACH && !q->options.attach)
        q->denied = "DETACH is not allowed here";
    else if (action == SQLITE_PRAGMA && !is_harmless_pragma(first))
        q->denied = "this PRAGMA is not allowed here";
    else if (action == SQLITE_FUNCTION && second && !sqlite3_stricmp(second, "load_extension"))
        q->denied = "load_extension() is not allowed here";
    else if (action == SQLITE_CREATE_VTABLE && second && sqlite3_stricmp(second, "fts5") &&
             sqlite3_stricmp(second, "rtree"))
        q->denied = "this virtual table is not allowed here";
    else
        return SQLITE_OK;
    return SQLITE_DENY;
}

/* Ends a statement that takes too long; also asked by scans that wait. */
static int check_time(void *ctx)
{
    rocl_query *q = ctx;
    struct timespec now;
    if (atomic_load(&q->scanner->interrupted))
        return 1;
    if (!q->options.seconds)
        return 0;
    clock_gettime(CLOCK_MONOTONIC, &now);
    q->late = now.tv_sec > q->until.tv_sec ||
              (now.tv_sec == q->until.tv_sec && now.tv_nsec >= q->until.tv_nsec);
    return q->late;
}

static void start_clock(rocl_query *q)
{
    clock_gettime(CLOCK_MONOTONIC, &q->until);
    q->until.tv_sec += (time_t)q->options.seconds;
}

/* ---- opening --------------------------------------------------------------------------------- */

static rocl_status find_scanner(void *ctx, const char *path, rocl_scanner **scanner,
                                rocl_error *err)
{
    (void)path, (void)err;
    *scanner = ((rocl_query *)ctx)->scanner;
    return ROCL_OK;
}

rocl_status rocl_query_open(rocl_query **query, rocl_trace *t, const rocl_query_options *o,
                            rocl_error *err)
{
    rocl_query *q = *query = calloc(1, sizeof *q);
    if (!q)
        return rocl_fail_memory(err);
    q->trace = t;
    q->options = o ? *o : (rocl_query_options){0};
    q->error_offset = -1;
    q->host = (rocl_table_host){.scanner = find_scanner, .ctx = q, .failed = &q->failed};
    rocl_status st = rocl_scanner_new(&q->scanner, t, rocl_query_memory(q), err);
    int rc = st == ROCL_OK ? sqlite3_open_v2(":memory:", &q->db,
                                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
                                                 SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_URI,
                                             NULL)
                           : SQLITE_OK;
    if (st == ROCL_OK && rc == SQLITE_OK) {
        q->scanner->stop = check_time;
        q->scanner->stop_ctx = q;
        if (q->options.heap)
            sqlite3_hard_heap_limit64((sqlite3_int64)q->options.heap);
        char *cache = sqlite3_mprintf("PRAGMA cache_size = -%d", CACHE_KIB);
        rc = cache ? sqlite3_exec(q->db, cache, NULL, NULL, NULL) : SQLITE_NOMEM;
        sqlite3_free(cache);
        sqlite3_limit(q->db, SQLITE_LIMIT_LENGTH, LARGEST_VALUE);
        rocl_sqlite_harden(q->db, true);
        sqlite3_set_authorizer(q->db, check_access, q);
        sqlite3_progress_handler(q->db, OPS_BETWEEN_LOOKS, check_time, q);
        rc = rc ? rc : rocl_add_tables(q->db, &q->host);
        rc = rc ? rc : rocl_add_functions(q->db);
        q->opening = true;
        for (size_t i = 0; i < rocl_query_view_count && rc == SQLITE_OK; i++) {
            const rocl_query_view *v = &rocl_query_views[i];
            char *sql = sqlite3_mprintf("CREATE TEMP VIEW \"%w\" AS %s", v->name, v->select);
            rc = sql ? sqlite3_exec(q->db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
            sqlite3_free(sql);
        }
        q->opening = false;
    }
    if (rc != SQLITE_OK)
        st = rocl_fail(err, ROCL_INTERNAL, "SQLite: %s",
                       q->db ? sqlite3_errmsg(q->db) : sqlite3_errstr(rc));
    if (st != ROCL_OK) {
        rocl_query_close(q);
        *query = NULL;
    }
    return st;
}

void rocl_query_close(rocl_query *q)
{
    if (!q)
        return;
    sqlite3_close(q->db);
    rocl_rocpd_free(q->rocpd);
    rocl_scanner_free(q->scanner);
    for (size_t i = 0; i < q->parameter_count; i++) {
        free(q->parameters[i].name);
        free(q->parameters[i].text);
    }
    free(q->parameters);
    free(q);
}

rocl_trace *rocl_query_trace(const rocl_query *q)
{
    return q->trace;
}

size_t rocl_query_memory(const rocl_query *q)
{
    return q->options.memory ? q->options.memory : DEFAULT_MEMORY;
}

void rocl_query_interrupt(rocl_query *q)
{
    atomic_store(&q->scanner->interrupted, true);
    sqlite3_interrupt(q->db);
}

/* ---- parameters ------------------------------------------------------------------------------ */

rocl_status rocl_query_bind(rocl_query *q, const char *name, const char *text, rocl_error *err)
{
    parameter p = {strdup(name), strdup(text)};
    if (p.name && p.text && ROCL_GROW(q->parameters, q->parameter_cap, q->parameter_count + 1)) {
        q->parameters[q->parameter_count++] = p;
        return ROCL_OK;
    }
    free(p.name);
    free(p.text);
    return rocl_fail_memory(err);
}

static int bind_text(sqlite3_stmt *s, int i, const char *text)
{
    char *end;
    if (!sqlite3_stricmp(text, "null"))
        return sqlite3_bind_null(s, i);
    const long long integer = strtoll(text, &end, 10);
    if (*text && !*end && strlen(text) < 19)
        return sqlite3_bind_int64(s, i, integer);
    const double real = strtod(text, &end);
    if (*text && !*end && strspn(text, "+-.0123456789eE") == strlen(text) && isfinite(real))
        return sqlite3_bind_double(s, i, real);
    return sqlite3_bind_text(s, i, text, -1, SQLITE_STATIC);
}

static rocl_status bind_parameters(const rocl_query *q, sqlite3_stmt *s, rocl_error *err)
{
    const int count = sqlite3_bind_parameter_count(s);
    for (int i = 1; i <= count; i++) {
        const char *name = sqlite3_bind_parameter_name(s, i);
        size_t at = q->parameter_count;
        while (name && at-- > 0)
            if (!strcmp(q->parameters[at].name, name + 1))
                break;
        if (!name || at == (size_t)-1 || at >= q->parameter_count)
            return rocl_fail(err, ROCL_USAGE, "the parameter %s has no value", name ? name : "?");
        if (bind_text(s, i, q->parameters[at].text) != SQLITE_OK)
            return rocl_fail_memory(err);
    }
    return ROCL_OK;
}

/* ---- statements ------------------------------------------------------------------------------ */

static bool is_name_character(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* Blanks, comments and empty statements. */
static const char *skip_blanks(const char *p)
{
    for (;;) {
        const char *end;
        p += strspn(p, " \t\r\n\f;");
        if (!strncmp(p, "--", 2))
            p += strcspn(p, "\n");
        else if (!strncmp(p, "/*", 2) && (end = strstr(p + 2, "*/")))
            p = end + 2;
        else
            return p;
    }
}

/* The text after the word, and blanks; NULL: there is another word. */
static const char *skip_word(const char *p, const char *word)
{
    const size_t n = strlen(word);
    return !sqlite3_strnicmp(p, word, (int)n) && !is_name_character(p[n]) ? skip_blanks(p + n)
                                                                          : NULL;
}

/* Where a statement that makes a view in the main database says VIEW; NULL: it does not. */
static const char *find_main_view(const char *sql)
{
    const char *view = skip_word(skip_blanks(sql), "create"), *name;
    if (!view || !(name = skip_word(view, "view")))
        return NULL;
    static const char *const words[] = {"if", "not", "exists"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *next = skip_word(name, words[i]);
        name = next ? next : name;
    }
    if (*name && strchr("\"`[", *name)) {
        const char *end = strchr(name + 1, *name == '[' ? ']' : *name);
        name = end ? end + 1 : name + 1;
    } else {
        while (is_name_character(*name))
            name++;
    }
    return *skip_blanks(name) == '.' ? NULL : view;
}

/* A view in the main database could not use those of ROCm's names, which are temporary: so views
 * are made as temporary ones. */
static int prepare_statement(rocl_query *q, const char *sql, sqlite3_stmt **s, const char **next)
{
    const char *const view = find_main_view(sql), *end = NULL;
    q->temp_offset = 0;
    if (!view)
        return sqlite3_prepare_v2(q->db, sql, -1, s, next);
    char *text = sqlite3_mprintf("%.*s" TEMP "%s", (int)(view - sql), sql, view);
    if (!text)
        return SQLITE_NOMEM;
    q->temp_offset = (int)(view - sql);
    const int rc = sqlite3_prepare_v2(q->db, text, -1, s, &end);
    *next = end ? sql + (end - text) - strlen(TEMP) : NULL;
    sqlite3_free(text);
    return rc;
}

/* Puts line and column before the message; *offset is the place of the statement in the text. */
static rocl_status fail_at(rocl_query *q, const char *sql, const char *statement, int rc,
                           rocl_error *err)
{
    int offset = sqlite3_error_offset(q->db);
    if (q->temp_offset && offset > q->temp_offset)
        offset -= (int)strlen(TEMP);
    const char *what = q->denied ? q->denied : sqlite3_errmsg(q->db);
    const char *p = offset >= 0 ? statement + offset : statement;
    unsigned line = 1;
    const char *begin = sql;
    if (offset < 0)
        p = skip_blanks(p);
    for (const char *c = sql; c < p && *c; c++) {
        if (*c == '\n') {
            line++;
            begin = c + 1;
        }
    }
    if (q->late)
        return rocl_fail(err, ROCL_INTERNAL, "the statement took longer than %u s",
                         q->options.seconds);
    if (rc == SQLITE_INTERRUPT)
        return rocl_fail(err, ROCL_INTERNAL, "interrupted");
    if (rc == SQLITE_NOMEM && q->options.heap)
        return rocl_fail(err, ROCL_INTERNAL, "the statement took more than %zu MiB of memory",
                         q->options.heap >> 20);
    if (rc == SQLITE_NOMEM)
        return rocl_fail_memory(err);
    if (q->failed > ROCL_PARTIAL) /* nothing is wrong with the statement */
        return rocl_fail(err, q->failed, "%s", what);
    q->error_offset = (long)(p - sql);
    return rocl_fail(err, ROCL_USAGE, "line %u, column %zu: %s", line, (size_t)(p - begin) + 1,
                     what);
}

static rocl_sql_value read_value(sqlite3_stmt *s, int i)
{
    rocl_sql_value v = {.type = ROCL_SQL_NULL};
    switch (sqlite3_column_type(s, i)) {
    case SQLITE_INTEGER:
        v.type = ROCL_SQL_INTEGER;
        v.integer = sqlite3_column_int64(s, i);
        break;
    case SQLITE_FLOAT:
        v.type = ROCL_SQL_REAL;
        v.real = sqlite3_column_double(s, i);
        break;
    case SQLITE_TEXT:
        v.type = ROCL_SQL_TEXT;
        v.text = (const char *)sqlite3_column_text(s, i);
        v.len = (size_t)sqlite3_column_bytes(s, i);
        break;
    case SQLITE_BLOB:
        v.type = ROCL_SQL_BLOB;
        v.text = sqlite3_column_blob(s, i);
        v.len = (size_t)sqlite3_column_bytes(s, i);
        break;
    default:
        break;
    }
    return v;
}

static bool has_word(const char *text, const char *const *words)
{
    for (const char *p = text; *p;) {
        const size_t n = strspn(p, ROCL_QUERY_LETTERS);
        for (const char *const *w = words; n && *w; w++)
            if (strlen(*w) == n && !sqlite3_strnicmp(p, *w, (int)n))
                return true;
        p += n ? n : 1;
    }
    return false;
}

/* Can there be an outer join in the text, or in a view that it uses? See rocl_table_host. */
static bool may_join_outside(rocl_query *q, const char *sql)
{
    static const char *const views[] = {"view", NULL};
    static const char *const words[] = {"left",   "right",     "full",    "outer",
                                        "launch", "processes", "threads", NULL}; /* views.c */
    const bool joins = has_word(sql, words);
    q->outer_views |= joins && has_word(sql, views);
    return joins || q->outer_views;
}

typedef struct statement_run {
    const char *sql, *at; /* the text, and the statement in it */
    size_t number;
    rocl_result_fn *fn;
    void *ctx;
} statement_run;

static rocl_status run_statement(rocl_query *q, sqlite3_stmt *s, statement_run *run,
                                 rocl_error *err)
{
    const int count = sqlite3_column_count(s);
    rocl_status st = bind_parameters(q, s, err);
    const char **names = calloc((size_t)count + 1, sizeof *names);
    const char **types = calloc((size_t)count + 1, sizeof *types);
    rocl_sql_value *values = calloc((size_t)count + 1, sizeof *values);
    rocl_result_row row = {run->number, (size_t)count, names, types, NULL};
    if (st == ROCL_OK && (!names || !types || !values))
        st = rocl_fail_memory(err);
    for (int i = 0; i < count && st == ROCL_OK; i++) {
        types[i] = sqlite3_column_decltype(s, i);
        if (!(names[i] = sqlite3_column_name(s, i)))
            st = rocl_fail_memory(err);
    }
    if (st == ROCL_OK && count) {
        st = run->fn(run->ctx, &row, err);
        run->number++;
    }
    start_clock(q);
    for (int rc; st == ROCL_OK;) {
        rc = sqlite3_step(s);
        if (rc == SQLITE_DONE)
            break;
        if (rc != SQLITE_ROW) {
            st = fail_at(q, run->sql, run->at, rc, err);
            break;
        }
        for (int i = 0; i < count; i++)
            values[i] = read_value(s, i);
        row.values = values;
        st = run->fn(run->ctx, &row, err);
    }
    free(names);
    free(types);
    free(values);
    return st;
}

rocl_status rocl_query_run(rocl_query *q, const char *sql, rocl_result_fn *fn, void *ctx,
                           rocl_error *err)
{
    statement_run run = {.sql = sql, .at = sql, .fn = fn, .ctx = ctx};
    rocl_status st = ROCL_OK;
    atomic_store(&q->scanner->interrupted, false);
    q->error_offset = -1;
    while (*run.at && st == ROCL_OK) {
        sqlite3_stmt *s = NULL;
        const char *next = NULL;
        q->denied = NULL;
        q->failed = ROCL_OK;
        q->late = false;
        q->host.patterns = !may_join_outside(q, run.at);
        start_clock(q);
        if (!q->rocpd && rocl_rocpd_is_named(q->trace, run.at)) {
            q->opening = true;
            st = rocl_rocpd_open(&q->rocpd, q->db, q->trace, err);
            q->opening = false;
            if (st != ROCL_OK)
                break;
        }
        const int rc = prepare_statement(q, run.at, &s, &next);
        if (rc != SQLITE_OK)
            st = fail_at(q, sql, run.at, rc, err);
        else if (s)
            st = run_statement(q, s, &run, err);
        sqlite3_finalize(s);
        run.at = next ? next : run.at + strlen(run.at);
    }
    st = rocl_rocpd_check(q->rocpd, q->trace, st, err);
    rocl_scanner_put_faults(q->scanner);
    return st ? st : rocl_trace_outcome_utf8(q->trace);
}

long rocl_query_error_offset(const rocl_query *q)
{
    return q->error_offset;
}

bool rocl_query_is_complete(const char *sql)
{
    return sqlite3_complete(sql) != 0;
}

bool rocl_sql_table_at(size_t i, rocl_sql_table *t)
{
    for (size_t k = 0; k < rocl_relation_count; k++) {
        const rocl_relation *q = &rocl_relations[k];
        *t = (rocl_sql_table){q->name, q->purpose, false};
        if (q->purpose && i-- == 0)
            return true;
    }
    if (i >= rocl_query_view_count)
        return false;
    *t = (rocl_sql_table){rocl_query_views[i].name, rocl_query_views[i].purpose, true};
    return true;
}

const char *rocl_sql_column_doc(const char *column)
{
    const char *doc = rocl_relation_column_doc(column);
    return doc ? doc : "";
}
