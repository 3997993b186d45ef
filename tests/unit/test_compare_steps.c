/* Steps of two traces side by side against SQL on the same databases, on random events: which step
 * is which, how long both took and what their kernels took, and which one's kernels are aligned. */
#include "test_stats_sql.h"

/* ---- the other side -------------------------------------------------------------------------- */

enum { MOST = 64 };

/* A step as SQL has it. */
typedef struct other_step {
    int64_t start, wall, busy, kernels, kernel_ns;
} other_step;

typedef struct other_side {
    other_step steps[MOST];
    size_t count;
    int64_t total;              /* of all steps */
    int64_t kernels, kernel_ns; /* of the whole trace */
} other_side;

static other_side ask(const char *file, const char *marker)
{
    const rocl_options one = {.jobs = 1};
    rocl_trace *t = open_trace(file, &one);
    sqlite3 *db = events_of(t);
    other_side s = {.total = 0};
    char *sql = sqlite3_mprintf("'%q'", marker), *owners = sqlite3_mprintf(STEP_OWNERS, sql);
    run_sql(db, owners);
    sqlite3_stmt *row =
        prepare(db, "SELECT start, \"end\" - start, " UNION_OF(
                        "SELECT o.start AS b, o.\"end\" AS e FROM owned o WHERE o.owner = "
                        "s.host") ", "
                                  "(SELECT count(*) FROM owned o WHERE o.owner = s.host AND "
                                  "NOT copy), (SELECT "
                                  "coalesce(sum(\"end\" - start), 0) FROM owned o WHERE "
                                  "o.owner = s.host AND NOT copy) "
                                  "FROM step s ORDER BY start, tid, id");
    while (sqlite3_step(row) == SQLITE_ROW) {
        assert_true(s.count < MOST);
        other_step *p = &s.steps[s.count++];
        int64_t *const to[] = {&p->start, &p->wall, &p->busy, &p->kernels, &p->kernel_ns};
        for (int i = 0; i < (int)COUNT(to); i++)
            *to[i] = sqlite3_column_int64(row, i);
        s.total += p->wall;
    }
    sqlite3_finalize(row);
    s.kernels = number(db, "SELECT count(*) FROM work WHERE NOT copy");
    s.kernel_ns = number(db, "SELECT coalesce(sum(\"end\" - start), 0) FROM work WHERE NOT copy");
    sqlite3_free(sql);
    sqlite3_free(owners);
    sqlite3_close(db);
    rocl_trace_close(t);
    return s;
}

/* The one that as many of those with kernels are shorter than as are longer; SIZE_MAX: there is
 * none. */
static size_t median_step(const other_side *s)
{
    size_t with = 0;
    for (size_t i = 0; i < s->count; i++)
        with += s->steps[i].kernels > 0;
    for (size_t i = 0; i < s->count; i++) {
        size_t before = 0;
        for (size_t k = 0; k < s->count; k++)
            before += s->steps[k].kernels > 0 && (s->steps[k].wall < s->steps[i].wall ||
                                                  (s->steps[k].wall == s->steps[i].wall && k < i));
        if (s->steps[i].kernels > 0 && before == (with - 1) / 2)
            return i;
    }
    return SIZE_MAX;
}

/* ---- against it ------------------------------------------------------------------------------ */

static void check_step(const rocl_table *t, size_t row, char side, const other_step *p)
{
    const struct {
        const char *key;
        int64_t value;
    } cells[] = {{"wall_%c_ns", p ? p->wall : 0},
                 {"busy_%c_ns", p ? p->busy : 0},
                 {"kernel_%c_ns", p ? p->kernel_ns : 0},
                 {"kernels_%c", p ? p->kernels : 0}};
    for (size_t i = 0; i < COUNT(cells); i++) {
        char key[32];
        snprintf(key, sizeof key, cells[i].key, side);
        if (p)
            check_int(t, row, key, cells[i].value);
        else
            check_none(t, row, key);
    }
}

/* Markers without numbers count from 0: the same numbers in both. */
static void check_steps(const rocl_table *t, const other_side *a, const other_side *b)
{
    const size_t n = a->count > b->count ? a->count : b->count;
    assert_int_equal(t->row_count, n);
    for (size_t i = 0; i < n; i++) {
        const other_step *x = i < a->count ? &a->steps[i] : NULL;
        const other_step *y = i < b->count ? &b->steps[i] : NULL;
        check_step(t, i, 'a', x);
        check_step(t, i, 'b', y);
        check_text(t, i, "aligned", x && y ? "number" : NULL);
        if (x && y) {
            check_int(t, i, "wall_change_ns", y->wall - x->wall);
            check_int(t, i, "busy_change_ns", y->busy - x->busy);
            check_int(t, i, "kernel_change_ns", y->kernel_ns - x->kernel_ns);
        } else
            check_none(t, i, "wall_change_ns");
    }
}

static void check_sequence(const rocl_table *t, int64_t n, int64_t ns, int64_t m, int64_t other_ns)
{
    int64_t sums[5] = {0};
    static const char *const keys[] = {"kernels_a", "kernels_b", "total_a_ns", "total_b_ns",
                                       "change_ns"};
    check_int(t, 0, "kernels_a", n);
    check_int(t, 0, "kernels_b", m);
    check_int(t, 0, "total_a_ns", ns);
    check_int(t, 0, "total_b_ns", other_ns);
    check_int(t, 0, "change_ns", other_ns - ns);
    for (size_t r = 1; r < t->row_count; r++)
        for (size_t i = 0; i < COUNT(keys); i++)
            sums[i] += int_of(t, r, keys[i]);
    for (size_t i = 0; i < COUNT(keys); i++)
        check_int(t, 0, keys[i], sums[i]);
}

static rocl_tables *compare(const char *a, const char *b, const rocl_options *o)
{
    const rocl_stats_options so = {.comparability = true};
    rocl_tables *all = NULL;
    rocl_trace *ta = open_trace(a, o), *tb = open_trace(b, o);
    assert_true(rocl_compare(ta, tb, &so, NULL, &all, NULL) <= ROCL_PARTIAL);
    rocl_trace_close(ta);
    rocl_trace_close(tb);
    return all;
}

/* A random trace; every second one has few events. */
static void make_world(uint64_t seed, const char *to)
{
    world w;
    char command[300];
    const uint64_t span = seed % 3 ? 60 : 100000;
    world_begin(&w, seed);
    for (int i = 0; i < (seed % 2 ? 150 : 20); i++)
        add_random(&w, span, span / 10, 2 + seed % 50 * 3);
    snprintf(command, sizeof command, "mv %s %s", world_end(&w), to);
    assert_int_equal(system(command), 0);
}

static void check_worlds(const char *const file[2], const char *marker)
{
    char pattern[32];
    snprintf(pattern, sizeof pattern, "^%s$", marker);
    const rocl_options o = {.jobs = 2, .memory = (size_t)256 << 10, .step_markers = pattern};
    const other_side a = ask(file[0], marker), b = ask(file[1], marker);
    rocl_tables *all = compare(file[0], file[1], &o);
    const rocl_table *steps = rocl_tables_find(all, "compare_steps");
    const rocl_table *order = rocl_tables_find(all, "compare_sequence");
    const size_t x = median_step(&a), y = median_step(&b);
    assert_int_equal(steps != NULL, a.count && b.count);
    if (steps)
        check_steps(steps, &a, &b);
    assert_int_equal(order != NULL, a.kernels || b.kernels);
    if (order && a.count && x != SIZE_MAX && y != SIZE_MAX)
        check_sequence(order, a.steps[x].kernels, a.steps[x].kernel_ns, b.steps[y].kernels,
                       b.steps[y].kernel_ns);
    else if (order && !a.count && a.kernels && b.kernels) /* without steps, of all kernels */
        check_sequence(order, a.kernels, a.kernel_ns, b.kernels, b.kernel_ns);
    else if (order) {
        assert_int_equal(order->row_count, 0);
        assert_non_null(order->why_empty);
    }
    rocl_tables_free(all);
}

static void test_random(void **state)
{
    char file[2][96];
    const char *const files[2] = {file[0], file[1]};
    (void)state;
    for (unsigned k = 0; k < 2; k++)
        snprintf(file[k], sizeof file[k], "%s/random-%u.db", folder, k);
    for (uint64_t seed = 1; seed <= 40; seed++) {
        make_world(2 * seed + (seed & 1), file[0]);
        make_world(2 * seed + 1 + (seed & 2), file[1]);
        check_worlds(files, seed % 5 ? "one" : "none of them");
    }
}

/* ---- which step is which --------------------------------------------------------------------- */

/* Steps that are called and last so, one after the other. */
static void make_steps(const char *to, const char *const *names, const int *length, size_t n)
{
    world w;
    char command[300];
    int64_t start = 1000;
    world_begin(&w, 1);
    for (size_t i = 0; i < n; i++) {
        world_sql(&w, "INSERT OR IGNORE INTO rocpd_string%%S(id, string) VALUES (%d, %Q)",
                  9100 + (int)i, names[i]);
        world_event(&w, 0, 9009);
        world_sql(&w,
                  "INSERT INTO rocpd_region%%S(nid, pid, tid, start, \"end\", name_id, event_id) "
                  "SELECT nid, p.id, 4200, %lld, %lld, s.id, last_insert_rowid() FROM "
                  "rocpd_info_process%%S p JOIN rocpd_string%%S s ON s.string = %Q",
                  (long long)start, (long long)start + length[i], names[i]);
        add_kernel(&w, 0, start + 1, start + 2);
        start += length[i] + 10;
    }
    snprintf(command, sizeof command, "mv %s %s", world_end(&w), to);
    assert_int_equal(system(command), 0);
}

static const int lengths[] = {100, 200, 300, 400, 500, 600};

static void check_pairs(const char *const *a, size_t n, const char *const *b, size_t m,
                        const char *expected)
{
    char file[2][96], found[300] = "";
    const rocl_options o = {.jobs = 1};
    for (unsigned k = 0; k < 2; k++)
        snprintf(file[k], sizeof file[k], "%s/steps-%u.db", folder, k);
    make_steps(file[0], a, lengths, n);
    make_steps(file[1], b, lengths, m);
    rocl_tables *all = compare(file[0], file[1], &o);
    const rocl_table *t = rocl_tables_find(all, "compare_steps");
    for (size_t r = 0; t && r < t->row_count; r++) {
        char row[64], x[24] = "-", y[24] = "-";
        if (cell(t, r, "number_a")->type == ROCL_DATUM_INT)
            snprintf(x, sizeof x, "%d", (int)int_of(t, r, "number_a"));
        if (cell(t, r, "number_b")->type == ROCL_DATUM_INT)
            snprintf(y, sizeof y, "%d", (int)int_of(t, r, "number_b"));
        snprintf(row, sizeof row, "%s%s:%s%s", r ? " " : "", x, y,
                 !strcmp(text_if_any(t, r, "aligned"), "order") ? "o" : "");
        strcat(found, row);
    }
    assert_string_equal(found, expected);
    rocl_tables_free(all);
}

#define LIST(...) ((const char *const[]){__VA_ARGS__}), COUNT(((const char *const[]){__VA_ARGS__}))

static void test_numbers(void **state)
{
    (void)state;
    check_pairs(LIST("step 1", "step 2", "step 3"), LIST("step 2", "step 3", "step 4"),
                "1:- 2:2 3:3 -:4");
    /* None agrees: by order. */
    check_pairs(LIST("step 1", "step 2", "step 3"), LIST("step 7", "step 8"), "1:7o 2:8o 3:-");
    /* Too few agree. */
    check_pairs(LIST("step 1", "step 2", "step 3"), LIST("step 3", "step 4", "step 5"),
                "1:3o 2:4o 3:5o");
    /* Numbers that begin anew: the second of them with the second. */
    check_pairs(LIST("step 1", "step 2", "step 1", "step 2"), LIST("step 1", "step 2", "step 1"),
                "1:1 2:2 1:1 2:-");
    check_pairs(LIST("step 1", "step 5"), LIST("step 1", "step 2", "step 3", "step 5"),
                "1:1 -:2 -:3 5:5");
    /* Others are no steps of A. */
    check_pairs(LIST("step 1", "step 2"), LIST("batch 1", "batch 2"), "");
}

/* The median of an even number is the shorter one in the middle; steps without kernels do not
 * count.
 */
static void test_median(void **state)
{
    char file[96];
    const rocl_options o = {.jobs = 1};
    (void)state;
    snprintf(file, sizeof file, "%s/steps-0.db", folder);
    make_steps(file, (const char *const[]){"step 4", "step 5", "step 6", "step 7"},
               (const int[]){500, 100, 300, 200}, 4);
    rocl_tables *all = compare(file, file, &o);
    assert_non_null(strstr(table_of(all, "compare_sequence")->note, "step 7 of "));
    rocl_tables_free(all);
    const rocl_options warm = {.jobs = 1, .warmup = 2};
    all = compare(file, file, &warm);
    assert_int_equal(table_of(all, "compare_steps")->row_count, 2);
    rocl_tables_free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_median),
    };
    return cmocka_run_group_tests_name("compare_steps", tests, enter, leave);
}
