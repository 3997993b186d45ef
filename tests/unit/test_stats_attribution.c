/* The report on attribution against SQL on the same databases, and on databases of random events:
 * the ranges around the call of each piece of work are those that a join finds, put in order and
 * written as a path. Rows of the tree go into a table of the same form. */
#include "test_stats_sql.h"

/* Elements of a path: a letter for what it is, and the name. Copies have no name here. around: the
 * path of the range around the call. */
static const char *const stacks =
    "CREATE TABLE stack AS SELECT l.\"end\" - l.start AS ns, l.copy AS copy, (CASE WHEN %d THEN "
    "'r' || coalesce((SELECT h.rank FROM host h WHERE h.cap = l.cap AND h.pid = l.pid LIMIT 1), "
    "-1) || char(31) ELSE '' END) || (CASE WHEN l.call IS NULL THEN 'n' "
    "ELSE (SELECT group_concat(e, char(31)) FROM (SELECT CASE WHEN h.marker THEN 'm' ELSE 'c' END "
    "|| coalesce(h.name, '') AS e FROM host c JOIN host h ON h.cap = c.cap AND h.pid = c.pid AND "
    "h.tid = c.tid AND (h.start < c.start AND h.\"end\" > c.start OR h.start = c.start AND "
    "h.\"end\" >= c.\"end\") WHERE c.rowid = l.call ORDER BY h.start, h.\"end\" DESC, h.id)) END) "
    "AS outer, CASE WHEN l.copy THEN 'y' ELSE 'k' || l.name END AS leaf, l.call AS call FROM "
    "launched "
    "l; ALTER TABLE stack ADD COLUMN around TEXT; UPDATE stack SET around = rtrim(outer, "
    "replace(outer, char(31), '')) WHERE call IS NOT NULL; UPDATE stack SET around = "
    "substr(around, 1, length(around) - 1); UPDATE stack SET around = NULL WHERE around = '' OR %d "
    "AND NOT instr(around, char(31))";

/* ---- the other side ---- */

static char letter_of(const rocl_table *t, size_t row)
{
    const char *kind = cell(t, row, "kind")->text;
    if (!strcmp(kind, "no call"))
        return 'n';
    if (!strcmp(kind, "kernel"))
        return 'k';
    if (!strcmp(kind, "copy"))
        return 'y';
    return !strcmp(kind, "rank") ? 'r' : !strncmp(kind, "MARKER", 6) ? 'm' : 'c';
}

/* "rank 3" is "r3". */
static char *element_of(const rocl_table *t, size_t row)
{
    const char letter = letter_of(t, row), *name = cell(t, row, "name")->text;
    name = letter == 'r' ? name + strlen("rank ") : letter == 'n' || letter == 'y' ? "" : name;
    char *e = sqlite3_mprintf("%c%s", letter, name);
    assert_non_null(e);
    return e;
}

/* Rows of the tree, with the path of each. */
static void put_tree(sqlite3 *db, const rocl_table *t)
{
    enum { DEEPEST = 100 };
    char *path[DEEPEST] = {0};
    run_sql(db, "CREATE TABLE tree(path TEXT, leaf INT, count INT, kernels INT, copies INT, own "
                "INT, total INT, host_own INT, host_total INT)");
    sqlite3_stmt *add = prepare(db, "INSERT INTO tree VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    int64_t before = -1;
    for (size_t row = 0; row < t->row_count; row++) {
        static const char *const columns[] = {"count", "kernels", "copies", "own_ns", "total_ns"};
        const int64_t depth = int_of(t, row, "depth");
        assert_true(depth <= before + 1 && depth < DEEPEST);
        before = depth;
        char *e = element_of(t, row);
        sqlite3_free(path[depth]);
        path[depth] =
            depth ? sqlite3_mprintf("%s\x1f%s", path[depth - 1], e) : sqlite3_mprintf("%s", e);
        sqlite3_bind_text(add, 1, path[depth], -1, SQLITE_TRANSIENT);
        sqlite3_bind_int(add, 2, *e == 'k' || *e == 'y');
        for (size_t i = 0; i < COUNT(columns); i++)
            sqlite3_bind_int64(add, 3 + (int)i, int_of(t, row, columns[i]));
        sqlite3_bind_null(add, 8);
        sqlite3_bind_null(add, 9);
        if (cell(t, row, "host_total_ns")->type != ROCL_DATUM_NONE) {
            sqlite3_bind_int64(add, 8, int_of(t, row, "host_own_ns"));
            sqlite3_bind_int64(add, 9, int_of(t, row, "host_total_ns"));
        }
        assert_int_equal(sqlite3_step(add), SQLITE_DONE);
        sqlite3_reset(add);
        sqlite3_free(e);
    }
    for (size_t i = 0; i < DEEPEST; i++)
        sqlite3_free(path[i]);
    sqlite3_finalize(add);
}

/* The two have the same rows, each as often. */
static void check_equal(sqlite3 *db, const char *a, const char *b)
{
    for (unsigned i = 0; i < 2; i++) {
        char *sql = sqlite3_mprintf("SELECT count(*) FROM (%s EXCEPT %s)", i ? b : a, i ? a : b);
        assert_int_equal(number(db, sql), 0);
        sqlite3_free(sql);
    }
}

static void check_tree(sqlite3 *db, const rocl_table *t)
{
    put_tree(db, t);
    check_equal(
        db,
        "SELECT path, sum(count), sum(kernels), sum(copies), sum(own), sum(total) FROM tree "
        "WHERE leaf GROUP BY path",
        "SELECT outer || char(31) || leaf, count(*), sum(NOT copy), sum(copy), sum(ns), "
        "sum(ns) FROM stack GROUP BY outer, leaf");
    check_equal(
        db, "SELECT path, kernels, copies, total, own FROM tree WHERE NOT leaf",
        "SELECT path, sum(NOT copy), sum(copy), sum(ns), sum(CASE WHEN path IN (outer, around) "
        "THEN ns ELSE 0 END) FROM stack JOIN (SELECT DISTINCT path FROM tree WHERE NOT leaf) "
        "ON outer = path OR substr(outer, 1, length(path) + 1) = path || char(31) GROUP BY "
        "path");
    assert_int_equal(number(db, "SELECT count(*) - count(DISTINCT path) FROM tree WHERE NOT leaf"),
                     0);
}

/* ---- times on the host, nanosecond by nanosecond ---- */

enum { MOST_RANGES = 400, LAST_TICK = 200 };

typedef struct range {
    int64_t thread, start, end, rowid;
    char element[64], root[32];
} range;

/* A range with those around it: as long as they are the same, it has one path. */
typedef struct place {
    const range *stack[MOST_RANGES]; /* the outermost first */
    size_t depth;
} place;

static size_t read_ranges(sqlite3 *db, range *all, bool by_rank)
{
    sqlite3_stmt *stmt = prepare(
        db, "SELECT cap * 1000000000000 + pid * 1000000 + tid, start, \"end\", rowid, (CASE "
            "WHEN marker THEN 'm' ELSE 'c' END) || coalesce(name, ''), coalesce(rank, -1) "
            "FROM host ORDER BY 1, 2, 3 DESC, id");
    size_t n = 0;
    for (; n < MOST_RANGES && sqlite3_step(stmt) == SQLITE_ROW; n++) {
        range *r = &all[n];
        *r = (range){sqlite3_column_int64(stmt, 0),
                     sqlite3_column_int64(stmt, 1),
                     sqlite3_column_int64(stmt, 2),
                     sqlite3_column_int64(stmt, 3),
                     "",
                     ""};
        snprintf(r->element, sizeof r->element, "%s", (const char *)sqlite3_column_text(stmt, 4));
        if (by_rank)
            snprintf(r->root, sizeof r->root, "r%d\x1f", sqlite3_column_int(stmt, 5));
    }
    sqlite3_finalize(stmt);
    return n;
}

static bool is_same_place(const place *a, size_t depth, const place *b)
{
    return a->depth == depth && !memcmp(a->stack, b->stack, depth * sizeof *a->stack);
}

static void put_time(sqlite3_stmt *add, const place *p, size_t depth, bool own, bool total)
{
    char path[4096];
    size_t n = (size_t)snprintf(path, sizeof path, "%s", p->stack[0]->root);
    for (size_t i = 0; i < depth; i++)
        n += (size_t)snprintf(path + n, sizeof path - n, "%s%s", i ? "\x1f" : "",
                              p->stack[i]->element);
    sqlite3_bind_text(add, 1, path, -1, SQLITE_TRANSIENT);
    sqlite3_bind_int(add, 2, own);
    sqlite3_bind_int(add, 3, total);
    assert_int_equal(sqlite3_step(add), SQLITE_DONE);
    sqlite3_reset(add);
}

/* Ranges around each call, and with each place of them that launched work its time. */
static void check_host(sqlite3 *db, bool by_rank)
{
    range *all = calloc(MOST_RANGES, sizeof *all);
    place *launching = calloc(MOST_RANGES * 4, sizeof *launching), now;
    size_t count = 0;
    assert_true(all && launching);
    const size_t n = read_ranges(db, all, by_rank);
    run_sql(db, "CREATE TABLE hosts(path TEXT, own INT, total INT)");
    sqlite3_stmt *calls = prepare(db, "SELECT DISTINCT call FROM launched WHERE call IS NOT NULL");
    sqlite3_stmt *add = prepare(db, "INSERT INTO hosts VALUES (?, ?, ?)");
    while (sqlite3_step(calls) == SQLITE_ROW) {
        const range *c = all;
        while (c->rowid != sqlite3_column_int64(calls, 0))
            c++;
        now.depth = 0;
        for (size_t i = 0; i < n; i++) {
            const range *r = &all[i];
            if (r->thread == c->thread && ((r->start < c->start && r->end > c->start) ||
                                           (r->start == c->start && r->end >= c->end)))
                now.stack[now.depth++] = r;
        }
        for (size_t depth = 1; depth <= now.depth; depth++) {
            size_t k = 0;
            while (k < count && !is_same_place(&launching[k], depth, &now))
                k++;
            if (k < count)
                continue;
            assert_true(count < MOST_RANGES * 4);
            launching[count] = now;
            launching[count++].depth = depth;
            put_time(add, &now, depth, false, false);
        }
    }
    for (size_t first = 0, past; first < n; first = past) {
        for (past = first; past < n && all[past].thread == all[first].thread;)
            past++;
        for (int64_t tick = 0; tick < LAST_TICK; tick++) {
            size_t inner = 0;
            now.depth = 0;
            for (size_t i = first; i < past; i++)
                if (all[i].start <= tick && all[i].end > tick)
                    now.stack[now.depth++] = &all[i];
            for (size_t depth = now.depth; depth > 0; depth--) {
                size_t k = 0;
                while (k < count && !is_same_place(&launching[k], depth, &now))
                    k++;
                if (k < count)
                    put_time(add, &now, depth, !inner++, true);
            }
        }
    }
    sqlite3_finalize(calls);
    sqlite3_finalize(add);
    free(all);
    free(launching);
    check_equal(db,
                "SELECT path, host_own, host_total FROM tree WHERE host_total IS NOT NULL AND "
                "NOT leaf",
                "SELECT path, sum(own), sum(total) FROM hosts GROUP BY path");
}

/* ---- kernels by marker ---- */

static void check_markers(sqlite3 *db, const rocl_table *t)
{
    run_sql(db, "CREATE TABLE pairs(marker TEXT, name TEXT, calls INT, total INT, min INT, max "
                "INT)");
    sqlite3_stmt *add = prepare(db, "INSERT INTO pairs VALUES (?, ?, ?, ?, ?, ?)");
    for (size_t row = 0; row < t->row_count; row++) {
        static const char *const columns[] = {"calls", "total_ns", "min_ns", "max_ns"};
        sqlite3_bind_text(add, 1, text_of(t, row, "marker"), -1, SQLITE_STATIC);
        sqlite3_bind_text(add, 2, text_of(t, row, "name"), -1, SQLITE_STATIC);
        for (size_t i = 0; i < COUNT(columns); i++)
            sqlite3_bind_int64(add, 3 + (int)i, int_of(t, row, columns[i]));
        assert_int_equal(sqlite3_step(add), SQLITE_DONE);
        sqlite3_reset(add);
    }
    sqlite3_finalize(add);
    check_equal(
        db,
        "SELECT marker, name, sum(calls), sum(total), min(min), max(max) FROM pairs GROUP BY 1, 2",
        "SELECT name, kernel, count(*), sum(ns), min(ns), max(ns) FROM (SELECT DISTINCT l.rowid, "
        "h.name, l.name AS kernel, l.\"end\" - l.start AS ns FROM launched l JOIN host c ON "
        "c.rowid "
        "= l.call JOIN host h ON h.marker AND h.cap = c.cap AND h.pid = c.pid AND h.tid = c.tid "
        "AND "
        "(h.start < c.start AND h.\"end\" > c.start OR h.start = c.start AND h.\"end\" >= "
        "c.\"end\")"
        " WHERE NOT l.copy) GROUP BY 1, 2");
}

/* A row for each name of a range, however often it is in a path. */
static void check_list(sqlite3 *db, const rocl_table *t)
{
    run_sql(db, "CREATE TABLE list(element TEXT, kernels INT, copies INT, own INT, total INT)");
    sqlite3_stmt *add = prepare(db, "INSERT INTO list VALUES (?, ?, ?, ?, ?)");
    for (size_t row = 0; row < t->row_count; row++) {
        static const char *const columns[] = {"kernels", "copies", "own_ns", "total_ns"};
        char *e = element_of(t, row);
        sqlite3_bind_text(add, 1, e, -1, SQLITE_TRANSIENT);
        for (size_t i = 0; i < COUNT(columns); i++)
            sqlite3_bind_int64(add, 2 + (int)i, int_of(t, row, columns[i]));
        assert_int_equal(sqlite3_step(add), SQLITE_DONE);
        sqlite3_reset(add);
        sqlite3_free(e);
        if (row)
            assert_true(int_of(t, row - 1, "own_ns") >= int_of(t, row, "own_ns"));
    }
    sqlite3_finalize(add);
    check_equal(
        db, "SELECT element, kernels, copies, total FROM list",
        "SELECT element, sum(NOT copy), sum(copy), sum(ns) FROM stack JOIN (SELECT DISTINCT "
        "element FROM list) ON instr(char(31) || outer || char(31), char(31) || element || "
        "char(31)) GROUP BY element");
    /* Launched by it or by a call directly inside it: once if both are called the same. */
    check_equal(
        db, "SELECT element, own FROM list",
        "SELECT element, coalesce((SELECT sum(ns) FROM stack WHERE substr(char(31) || outer, "
        "-length(element) - 1) = char(31) || element OR substr(char(31) || around, "
        "-length(element) - 1) = char(31) || element), 0) FROM list");
}

static const char *const tables[] = {"attribution_tree", "attribution", "marker_kernels", NULL};
static rocl_stats_options options_of(bool by_rank)
{
    return (rocl_stats_options){.reports =
                                    1u << ROCL_REPORT_ATTRIBUTION | 1u << ROCL_REPORT_MARKERS,
                                .tables = tables,
                                .by_rank = by_rank};
}

static void check_trace(const char *names, bool by_rank)
{
    const rocl_options open = {.jobs = 2, .memory = (size_t)256 << 10};
    const rocl_stats_options o = options_of(by_rank);
    rocl_trace *t = open_trace(names, &open);
    sqlite3 *db = events_of(t);
    char *sql = sqlite3_mprintf(stacks, by_rank, by_rank);
    run_sql(db, sql);
    sqlite3_free(sql);
    rocl_tables *all = stats_of(t, &o);
    assert_int_equal(all->count, 3);
    check_tree(db, &all->tables[0]);
    check_list(db, &all->tables[1]);
    check_markers(db, &all->tables[2]);
    if (number(db, "SELECT coalesce(max(\"end\"), 0) FROM host") < LAST_TICK)
        check_host(db, by_rank);
    rocl_tables_free(all);
    sqlite3_close(db);
    rocl_trace_close(t);
}

/* ---- tests ---- */

static const char *const traces[] = {
    "schema-3.0.0", "schema-3.0.5", "schema-4.1.0",
    "merged",       "rank0 rank1",  "node-rank0 node-rank1 node-rank2 node-rank3",
    "graph",
};

static void test_fixtures(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(traces); i++)
        for (unsigned by = 0; by < 2; by++)
            check_trace(traces[i], by);
}

static void test_random(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint64_t steps = seed % 3 ? 60 : 100000;
        world w;
        world_begin(&w, seed);
        for (int i = 0; i < 150; i++)
            add_random(&w, steps, steps / 10, 2 + seed * 3);
        check_trace(world_end(&w), seed % 2);
    }
}

/* The last row and the outermost of the others have it all. */
static void check_rest(const rocl_table *cut, size_t shown, const rocl_table *tree)
{
    int64_t sum = int_of(cut, shown, "total_ns");
    for (size_t i = 0; i < shown; i++)
        sum += int_of(cut, i, "depth") ? 0 : int_of(cut, i, "total_ns");
    for (size_t i = 0; i < tree->row_count; i++)
        sum -= int_of(tree, i, "depth") ? 0 : int_of(tree, i, "total_ns");
    assert_int_equal(sum, 0);
}

/* The rows that stay have the largest totals, and what is around them stays, too. */
static void test_top(void **state)
{
    const rocl_options open = {.jobs = 2};
    rocl_stats_options o = options_of(true);
    rocl_trace *t = open_trace("rank0 rank1", &open);
    rocl_tables *all = stats_of(t, &o);
    const rocl_table *tree = &all->tables[0];
    (void)state;
    for (o.top = 1; o.top < tree->row_count + 3; o.top += 3) {
        rocl_tables *few = stats_of(t, &o);
        const rocl_table *cut = &few->tables[0];
        const size_t shown = o.top < tree->row_count ? o.top : tree->row_count;
        int64_t least = INT64_MAX, depth = -1, larger = 0;
        assert_int_equal(cut->row_count, shown + (shown < tree->row_count));
        for (size_t i = 0; i < shown; i++) {
            const int64_t total = int_of(cut, i, "total_ns");
            assert_true(int_of(cut, i, "depth") <= depth + 1);
            depth = int_of(cut, i, "depth");
            least = total < least ? total : least;
        }
        for (size_t i = 0; i < tree->row_count; i++)
            larger += int_of(tree, i, "total_ns") > least;
        assert_true(larger < (int64_t)shown);
        if (shown < tree->row_count)
            check_rest(cut, shown, tree);
        rocl_tables_free(few);
    }
    rocl_tables_free(all);
    rocl_trace_close(t);
}

static void test_same(void **state)
{
    const rocl_stats_options o = options_of(true);
    (void)state;
    check_same_bytes("schema-3.0.5", &o);
    check_same_bytes("rank0 rank1", &o);
    check_same_bytes("nasty-3.0.0", &o);
}

/* Which ranges are around a call: those that begin with it are if they do not end before it, those
 * that end when it begins are not; of nested ranges with one name each counts the work once. */
static void test_edges(void **state)
{
    const rocl_options open = {.jobs = 1};
    const rocl_stats_options o = options_of(false);
    world w;
    (void)state;
    world_begin(&w, 1);
    rocl_trace *t = open_trace(world_end(&w), &open);
    rocl_tables *all = stats_of(t, &o);
    assert_int_equal(all->tables[0].row_count + all->tables[1].row_count, 0);
    assert_int_equal(all->tables[2].row_count, 0);
    rocl_tables_free(all);
    rocl_trace_close(t);
    world_begin(&w, 2);
    for (int i = 0; i < 5; i++)
        add_host(&w, true, 0, 0, 10 + 10 * i, 1000);
    add_host(&w, true, 0, 0, 10, 100);
    add_host(&w, true, 0, 0, 100, 150);
    add_host(&w, true, 0, 0, 100, 140);
    add_host(&w, false, 0, 7, 100, 145);
    add_host(&w, false, 0, 8, 100, 100);
    add_host(&w, true, 0, 0, 100, 100);
    add_kernel(&w, 7, INT64_MAX - 5, INT64_MAX);
    add_kernel(&w, 8, 200, 203);
    add_kernel(&w, 9, 200, 204);
    (void)world_end(&w);
    check_trace(w.path, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixtures), cmocka_unit_test(test_random), cmocka_unit_test(test_top),
        cmocka_unit_test(test_same),     cmocka_unit_test(test_edges),
    };
    return cmocka_run_group_tests_name("stats_attribution", tests, enter, leave);
}
