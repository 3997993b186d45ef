/* Kernels of two sides in their order, on sides that are made up: partners against the table of
 * longest common subsequences, what has moved and where they differ by counting, rows of the table
 * against all kernels; and which kernels are the same under another name by their places. */
#include "tests/unit/stats.h"

#include "analysis/alignment.h"
#include "analysis/causes.h"
#include "analysis/compare_renamed.h"
#include "analysis/compare_sequence.h"
#include "analysis/side_key.h"
#include "base/array.h"
#include "model/kernel_class.h"

enum { A, B, NAMES = 12 };

/* ---- sides ----------------------------------------------------------------------------------- */

typedef struct sides {
    rocl_strings *keys;
    rocl_side_steps of[2];
    uint32_t names[NAMES]; /* keys */
} sides;

static void begin_sides(sides *s)
{
    *s = (sides){.keys = rocl_strings_new()};
    for (unsigned i = 0; i < NAMES; i++) {
        char name[16];
        snprintf(name, sizeof name, "k%u", i);
        s->names[i] = rocl_side_key(s->keys, ROCL_DOMAIN_KERNELS, name, strlen(name));
    }
    for (unsigned k = A; k <= B; k++)
        s->of[k].chosen = SIZE_MAX;
}

static void end_sides(sides *s)
{
    rocl_side_steps_free(&s->of[A]);
    rocl_side_steps_free(&s->of[B]);
    rocl_strings_free(s->keys);
}

static void add_process(rocl_side_steps *s, int32_t rank)
{
    assert_true(ROCL_GROW(s->processes, s->process_cap, s->process_count + 1));
    s->processes[s->process_count++] = (rocl_side_process){rank, 100 + rank};
}

static void add_lane(rocl_side_steps *s, uint32_t process)
{
    char name[32];
    snprintf(name, sizeof name, "stream %zu", s->lane_count);
    assert_true(ROCL_GROW(s->lanes, s->lane_cap, s->lane_count + 1));
    s->lanes[s->lane_count++] = (rocl_side_lane){process, strdup(name)};
}

static void add_kernel(rocl_side_steps *s, uint32_t key, uint32_t lane, int64_t ns)
{
    assert_true(ROCL_GROW(s->kernels, s->kernel_cap, s->kernel_count + 1));
    s->kernels[s->kernel_count++] = (rocl_side_kernel){key, lane, ns};
}

/* B is A with some kernels gone, new, renamed or in other lanes; or has nothing to do with it. */
static void fill_random(sides *s, uint64_t *seed)
{
    const uint64_t names = 1 + draw_from(seed, NAMES), edits = draw_from(seed, 60);
    const uint64_t n = draw_from(seed, 80), processes = 1 + draw_from(seed, 3);
    for (unsigned k = A; k <= B; k++) {
        for (uint64_t p = 0; p < processes + (k == B && draw_from(seed, 4) == 0); p++) {
            add_process(&s->of[k], draw_from(seed, 4) ? (int32_t)p : -1);
            for (uint64_t l = draw_from(seed, 3); l < 3; l++)
                add_lane(&s->of[k], (uint32_t)p);
        }
    }
    for (uint64_t i = 0; i < n; i++) {
        const uint32_t key = s->names[draw_from(seed, names)];
        const uint32_t lane = (uint32_t)draw_from(seed, s->of[A].lane_count);
        const uint64_t edit = draw_from(seed, 100);
        add_kernel(&s->of[A], key, lane, (int64_t)draw_from(seed, 1000));
        if (edit < edits / 3)
            continue;
        if (edit < edits || lane >= s->of[B].lane_count)
            add_kernel(&s->of[B], s->names[draw_from(seed, NAMES)],
                       (uint32_t)draw_from(seed, s->of[B].lane_count),
                       (int64_t)draw_from(seed, 1000));
        if ((edit < edits / 2 || edit >= edits) && lane < s->of[B].lane_count)
            add_kernel(&s->of[B], key, lane, (int64_t)draw_from(seed, 1000));
    }
}

/* ---- partners -------------------------------------------------------------------------------- */

/* Names of a lane, in their order. */
static size_t text_of_lane(const rocl_side_steps *s, uint32_t lane, uint32_t *to)
{
    size_t n = 0;
    for (size_t i = 0; i < s->kernel_count; i++)
        if (s->kernels[i].lane == lane)
            to[n++] = s->kernels[i].key;
    return n;
}

static size_t naive_common(const uint32_t *a, size_t n, const uint32_t *b, size_t m)
{
    static uint32_t length[201][201];
    memset(length, 0, sizeof length);
    for (size_t i = 1; i <= n; i++)
        for (size_t k = 1; k <= m; k++) {
            const uint32_t up = length[i - 1][k], left = length[i][k - 1];
            length[i][k] = a[i - 1] == b[k - 1] ? length[i - 1][k - 1] + 1 : up > left ? up : left;
        }
    return length[n][m];
}

static void check_lanes(const rocl_alignment *g)
{
    uint32_t a[200], b[200];
    for (uint32_t l = 0; l < g->side[A]->lane_count; l++) {
        const uint32_t other = g->lane_partner[A][l];
        size_t staying = 0, n = text_of_lane(g->side[A], l, a), m = 0;
        for (uint32_t i = g->lane_begin[A][l]; i < g->lane_begin[A][l + 1]; i++)
            staying += g->partner[A][i] && !g->moved[A][i];
        assert_int_equal(g->lane_begin[A][l + 1] - g->lane_begin[A][l], n);
        if (other != ROCL_NONE) {
            assert_int_equal(g->lane_partner[B][other], l);
            assert_int_equal(
                rocl_partner_process(g->side[A], g->side[A]->lanes[l].process, g->side[B]),
                g->side[B]->lanes[other].process);
            m = text_of_lane(g->side[B], other, b);
        }
        assert_int_equal(staying, naive_common(a, n, b, m));
    }
}

/* Kernels of a name in a process of A and its partner: those that stay, and of the others as many
 * as both have moved. */
static void check_moved(const rocl_alignment *g, const sides *s)
{
    for (uint32_t p = 0; p < s->of[A].process_count; p++)
        for (unsigned name = 0; name < NAMES; name++) {
            const uint32_t process[] = {p, rocl_partner_process(&s->of[A], p, &s->of[B])};
            size_t lone[2] = {0}, moved[2] = {0};
            for (unsigned k = A; k <= B; k++)
                for (uint32_t i = 0; i < s->of[k].kernel_count; i++) {
                    const rocl_side_kernel *x = rocl_aligned_kernel(g, k, i);
                    if (x->key != s->names[name] || s->of[k].lanes[x->lane].process != process[k])
                        continue;
                    lone[k] += !g->partner[k][i];
                    moved[k] += g->moved[k][i];
                }
            assert_int_equal(moved[A], process[B] == ROCL_NONE ? 0 : moved[B]);
            assert_true(process[B] == ROCL_NONE || !lone[A] || !lone[B]);
        }
}

/* Each kernel that does not stay is in one hunk; beside a hunk are kernels that stay. */
static void check_hunks(const rocl_alignment *g)
{
    for (unsigned k = A; k <= B; k++) {
        uint8_t in[400] = {0};
        for (size_t h = 0; h < g->hunk_count; h++) {
            const uint32_t from = g->hunks[h].begin[k], to = g->hunks[h].end[k];
            for (uint32_t i = from; i < to; i++)
                in[i]++;
            const uint32_t lane = from < to ? rocl_aligned_kernel(g, k, from)->lane : 0;
            if (from < to && from > g->lane_begin[k][lane])
                assert_true(g->partner[k][from - 1] && !g->moved[k][from - 1]);
            if (from < to && to < g->lane_begin[k][lane + 1])
                assert_true(g->partner[k][to] && !g->moved[k][to]);
        }
        for (uint32_t i = 0; i < g->side[k]->kernel_count; i++)
            assert_int_equal(in[i], !g->partner[k][i] || g->moved[k][i]);
    }
}

/* ---- the table ------------------------------------------------------------------------------- */

/* A row as it should be. */
typedef struct expected {
    char edit[16], a[300], b[300];
    int64_t times, kernels[2], ns[2];
    bool found;
} expected;

typedef struct expectations {
    expected all[500];
    size_t n;
} expectations;

static void name_of(const sides *s, uint32_t key, char *to)
{
    strcpy(to, rocl_strings_get(s->keys, key, NULL) + 1);
}

static void expect(expectations *x, const char *edit, const char *a, const char *b, int64_t n,
                   int64_t ns, int64_t m, int64_t other_ns)
{
    size_t i = 0;
    while (i < x->n &&
           (strcmp(x->all[i].edit, edit) || strcmp(x->all[i].a, a) || strcmp(x->all[i].b, b)))
        i++;
    assert_true(i < COUNT(x->all));
    expected *e = &x->all[i];
    if (i == x->n)
        *e = (expected){.times = 0};
    x->n += i == x->n;
    strcpy(e->edit, edit);
    strcpy(e->a, a);
    strcpy(e->b, b);
    e->times++;
    e->kernels[A] += n;
    e->kernels[B] += m;
    e->ns[A] += ns;
    e->ns[B] += other_ns;
}

static void expect_all(expectations *x, const rocl_alignment *g, const sides *s)
{
    char a[300], b[300];
    x->n = 0;
    for (uint32_t i = 0; i < s->of[A].kernel_count; i++) {
        if (!g->partner[A][i])
            continue;
        const rocl_side_kernel *p = rocl_aligned_kernel(g, A, i);
        const rocl_side_kernel *q = rocl_aligned_kernel(g, B, g->partner[A][i] - 1);
        const bool renamed = p->key != q->key && !g->moved[A][i];
        name_of(s, p->key, a);
        name_of(s, q->key, b);
        expect(x,
               g->moved[A][i] ? "moved"
               : renamed      ? "renamed"
                              : "same",
               a, renamed ? b : "", 1, p->ns, 1, q->ns);
    }
    for (size_t h = 0; h < g->hunk_count; h++) {
        char names[2][300] = {"", ""};
        int64_t n[2] = {0}, ns[2] = {0};
        for (unsigned k = A; k <= B; k++)
            for (uint32_t i = g->hunks[h].begin[k]; i < g->hunks[h].end[k]; i++) {
                if (g->moved[k][i])
                    continue;
                name_of(s, rocl_aligned_kernel(g, k, i)->key, a);
                if (n[k]++ < 8) {
                    strcat(names[k], n[k] > 1 ? " | " : "");
                    strcat(names[k], a);
                }
                ns[k] += rocl_aligned_kernel(g, k, i)->ns;
            }
        for (unsigned k = A; k <= B; k++)
            if (n[k] > 8)
                snprintf(names[k] + strlen(names[k]), 100, " | and %d more", (int)n[k] - 8);
        if (n[A] || n[B])
            expect(x,
                   !n[A]   ? "inserted"
                   : !n[B] ? "deleted"
                           : "replaced",
                   names[A], names[B], n[A], ns[A], n[B], ns[B]);
    }
}

static void check_rows(const rocl_table *t, expectations *x, const sides *s)
{
    int64_t total[2] = {s->of[A].left_ns, s->of[B].left_ns};
    const bool left_out = s->of[A].left_out || s->of[B].left_out;
    for (unsigned k = A; k <= B; k++)
        for (size_t i = 0; i < s->of[k].kernel_count; i++)
            total[k] += s->of[k].kernels[i].ns;
    check_int(t, 0, "total_a_ns", total[A]);
    check_int(t, 0, "total_b_ns", total[B]);
    check_int(t, 0, "change_ns", total[B] - total[A]);
    size_t left = 0;
    int64_t change = 0;
    for (size_t r = 1; r < t->row_count; r++) {
        change += int_of(t, r, "change_ns");
        check_int(t, r, "change_ns", int_of(t, r, "total_b_ns") - int_of(t, r, "total_a_ns"));
        if (!strcmp(text_of(t, r, "edit"), "not aligned")) {
            left++;
            check_int(t, r, "kernels_a", (int64_t)s->of[A].left_out);
            check_int(t, r, "total_b_ns", s->of[B].left_ns);
            continue;
        }
        size_t i = 0;
        /* Beyond eight names rows may look the same. */
        while (i < x->n &&
               (x->all[i].found || strcmp(x->all[i].edit, text_of(t, r, "edit")) ||
                strcmp(x->all[i].a, text_if_any(t, r, "name")) ||
                strcmp(x->all[i].b, text_if_any(t, r, "name_b")) ||
                (strstr(x->all[i].a, "more") == NULL && strstr(x->all[i].b, "more") == NULL &&
                 x->all[i].times != int_of(t, r, "times"))))
            i++;
        assert_true(i < x->n);
        expected *e = &x->all[i];
        e->found = true;
        if (strstr(e->a, "more") || strstr(e->b, "more"))
            continue;
        check_int(t, r, "kernels_a", e->kernels[A]);
        check_int(t, r, "kernels_b", e->kernels[B]);
        check_int(t, r, "total_a_ns", e->ns[A]);
        check_int(t, r, "total_b_ns", e->ns[B]);
    }
    assert_int_equal(left, left_out);
    assert_int_equal(change, total[B] - total[A]);
}

static rocl_tables *table(const sides *s, const uint32_t *same)
{
    const rocl_stats_options o = {.comparability = true};
    const rocl_collector c = {.options = &o};
    rocl_tables *all = rocl_tables_new();
    assert_int_equal(rocl_compare_sequence_put(&s->of[A], &s->of[B], s->keys, same, all, &c, NULL),
                     ROCL_OK);
    return all;
}

static void test_random(void **state)
{
    static expectations x;
    uint64_t seed = 99;
    (void)state;
    for (int round = 0; round < 3000; round++) {
        sides s;
        rocl_alignment g;
        begin_sides(&s);
        fill_random(&s, &seed);
        if (round % 10 == 0) {
            s.of[A].left_out = draw_from(&seed, 3);
            s.of[B].left_out = 2;
            s.of[A].left_ns = (int64_t)s.of[A].left_out * 7;
            s.of[B].left_ns = 5;
        }
        /* Some names are those of others. */
        uint32_t same[NAMES + 2];
        for (uint32_t i = 0; i < COUNT(same); i++)
            same[i] = i > 2 && round % 3 == 0 && i % 4 == 0 ? i - 1 : i;
        assert_int_equal(rocl_alignment_make(&g, &s.of[A], &s.of[B], round % 3 ? NULL : same, NULL),
                         ROCL_OK);
        assert_true(g.minimal);
        check_hunks(&g);
        if (round % 3) {
            check_lanes(&g);
            check_moved(&g, &s);
        }
        if (s.of[A].kernel_count && s.of[B].kernel_count) {
            rocl_tables *all = table(&s, round % 3 ? NULL : same);
            expect_all(&x, &g, &s);
            check_rows(table_of(all, "compare_sequence"), &x, &s);
            rocl_tables_free(all);
        }
        rocl_alignment_free(&g);
        end_sides(&s);
    }
}

/* ---- a step as people see it ----------------------------------------------------------------- */

/* Kernels by letter: "a b c"; each takes 10 ns, in B 11. */
static void fill_lane(sides *s, unsigned k, uint32_t lane, const char *letters)
{
    for (; *letters; letters++)
        if (*letters != ' ')
            add_kernel(&s->of[k], s->names[*letters - 'a'], lane, 10 + (int64_t)k);
}

static void begin_step(sides *s)
{
    begin_sides(s);
    for (unsigned k = A; k <= B; k++) {
        add_process(&s->of[k], 0);
        add_lane(&s->of[k], 0);
        add_lane(&s->of[k], 0);
    }
}

/* "EDIT NAMES > NAMES TIMES PLACE:PLACE PREVIOUS,NEXT" of each row that is not the same. */
static void check_edits(const char *a, const char *b, const char *expected_rows)
{
    sides s;
    char found[600] = "";
    begin_step(&s);
    fill_lane(&s, A, 0, a);
    fill_lane(&s, B, 0, b);
    rocl_tables *all = table(&s, NULL);
    const rocl_table *t = table_of(all, "compare_sequence");
    for (size_t r = 1; r < t->row_count; r++) {
        const size_t used = strlen(found);
        char place[2][8] = {"-", "-"};
        if (!strcmp(text_of(t, r, "edit"), "same"))
            continue;
        for (unsigned k = A; k <= B; k++)
            if (cell(t, r, k ? "place_b" : "place_a")->type == ROCL_DATUM_INT)
                snprintf(place[k], sizeof place[k], "%d",
                         (int)int_of(t, r, k ? "place_b" : "place_a"));
        snprintf(found + used, sizeof found - used, "%s%s %s > %s x%d %s:%s %s,%s",
                 used ? "\n" : "", text_of(t, r, "edit"), text_if_any(t, r, "name"),
                 text_if_any(t, r, "name_b"), (int)int_of(t, r, "times"), place[A], place[B],
                 text_if_any(t, r, "previous"), text_if_any(t, r, "next"));
    }
    assert_string_equal(found, expected_rows);
    rocl_tables_free(all);
    end_sides(&s);
}

static void test_edits(void **state)
{
    (void)state;
    check_edits("abc", "abc", "");
    check_edits("abc", "ac", "deleted k1 >  x1 2:- k0,k2");
    check_edits("ac", "abc", "inserted  > k1 x1 -:2 k0,k2");
    check_edits("abc", "adc", "replaced k1 > k3 x1 2:2 k0,k2");
    check_edits("abcd", "ad", "deleted k1 | k2 >  x1 2:- k0,k3");
    check_edits("abcd", "aed", "replaced k1 | k2 > k4 x1 2:2 k0,k3");
    check_edits("bac", "acb", "moved k1 >  x1 1:3 ,");
    /* A layer that is there three times. */
    check_edits("abc abc abc", "ac ac ac", "deleted k1 >  x3 2:- k0,k2");
    check_edits("abc abc abc", "abd abd abd", "replaced k2 > k3 x3 3:3 k1,k0");
    /* At the ends there is nothing beside. */
    check_edits("ab", "cab", "inserted  > k2 x1 -:1 ,k0");
    check_edits("ab", "abc", "inserted  > k2 x1 -:3 k1,");
    /* What has moved is no part of what replaces. */
    check_edits("abcd", "aecbd", "inserted  > k4 x1 -:2 k0,k2\nmoved k1 >  x1 2:4 ,");
}

/* Each stream on its own: it does not matter what others did meanwhile, nor what they are called.
 */
static void test_streams(void **state)
{
    sides s;
    (void)state;
    begin_step(&s);
    fill_lane(&s, A, 0, "ab");
    fill_lane(&s, A, 1, "cd");
    fill_lane(&s, A, 0, "ab");
    fill_lane(&s, B, 0, "c");
    fill_lane(&s, B, 1, "abab");
    fill_lane(&s, B, 0, "d");
    rocl_tables *all = table(&s, NULL);
    const rocl_table *t = table_of(all, "compare_sequence");
    for (size_t r = 1; r < t->row_count; r++)
        check_text(t, r, "edit", "same");
    assert_non_null(strstr(t->note, "6 of 6 and 6 "));
    rocl_tables_free(all);
    end_sides(&s);
}

/* ---- names and places ------------------------------------------------------------------------ */

#define GEMM_A  "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI16x16x1_SN_K1"
#define GEMM_B  "Cijk_Ailk_Bljk_HHS_BH_Bias_UserArgs_MT256x96x64_MI32x32x1_ISA942_GSU4"
#define GEMM_A2 "Cijk_Alik_Bljk_HHS_BH_MT128x128x32_MI16x16x1_SN_K1"
#define GEMM_B2 "Cijk_Alik_Bljk_HHS_BH_Bias_UserArgs_MT256x96x64_MI32x32x1_ISA942_GSU4"
#define MUL     "triton_poi_fused_mul_3"
#define ADD     "triton_poi_fused_add_3"

/* A step of kernels by name; empty at the end. */
typedef const char *const *step;
#define STEP(...) ((const char *const[]){__VA_ARGS__, NULL})

static uint64_t count_name(step of, const char *name)
{
    uint64_t n = 0;
    for (; *of; of++)
        n += !strcmp(*of, name);
    return n;
}

/* Which name of B is that of A's, or NULL. times: how many steps each side has, all like this one
 * but for `more` further calls of each kernel of A. */
static const char *partner_of(step a, step b, const char *name, const int times[2], uint64_t more)
{
    const step of[] = {a, b};
    const char *found = NULL;
    rocl_kernel_classes *classes;
    rocl_renamed *renamed;
    size_t count;
    rocl_strings *keys = rocl_strings_new();
    rocl_side side[2] = {{.keys = keys}, {.keys = keys}};
    assert_int_equal(rocl_kernel_classes_new(&classes, NULL, NULL), ROCL_OK);
    for (unsigned k = A; k <= B; k++)
        for (step s = of[k]; *s; s++)
            rocl_side_key(keys, ROCL_DOMAIN_KERNELS, *s, strlen(*s));
    for (unsigned k = A; k <= B; k++) {
        rocl_side_steps *steps = &side[k].steps;
        assert_true(ROCL_GROW(side[k].names, side[k].name_cap, rocl_strings_count(keys)));
        add_process(steps, 0);
        add_lane(steps, 0);
        steps->marker = strdup("step ");
        steps->marker_len = 5;
        for (int i = 0; i < times[k]; i++) {
            assert_true(ROCL_GROW(steps->steps, steps->step_cap, steps->step_count + 1));
            steps->steps[steps->step_count++] = (rocl_side_step){.kernels = 1};
        }
        for (step s = of[k]; *s; s++) {
            const uint32_t key = rocl_side_key(keys, ROCL_DOMAIN_KERNELS, *s, strlen(*s));
            add_kernel(steps, key, 0, 10);
            side[k].names[key] = (rocl_side_name){
                .count = count_name(of[k], *s) * (uint64_t)times[k] + (k == A ? more : 0),
                .ns = 10,
                .items = 64};
        }
    }
    assert_int_equal(rocl_find_renamed(&renamed, &count, side, classes, NULL), ROCL_OK);
    const uint32_t key = rocl_side_key(keys, ROCL_DOMAIN_KERNELS, name, strlen(name));
    if (renamed[key].partner) {
        static char text[200];
        snprintf(text, sizeof text, "%s", rocl_strings_get(keys, renamed[key].partner, NULL) + 1);
        found = text;
    }
    free(renamed);
    rocl_kernel_classes_free(classes);
    for (unsigned k = A; k <= B; k++) {
        free(side[k].names);
        rocl_side_steps_free(&side[k].steps);
    }
    rocl_strings_free(keys);
    return found;
}

static void check_partner(step a, step b, const char *name, const char *expected_name)
{
    const char *found = partner_of(a, b, name, (const int[]){1, 1}, 0);
    if (expected_name)
        assert_string_equal(found ? found : "none", expected_name);
    else
        assert_null(found);
}

static void test_places(void **state)
{
    (void)state;
    /* In the same place, with names that alone would not do. */
    check_partner(STEP("norm", GEMM_A, "add"), STEP("norm", GEMM_B, "add"), GEMM_A, GEMM_B);
    check_partner(STEP("norm", GEMM_A, "add", "norm", GEMM_A, "add"),
                  STEP("norm", GEMM_B, "add", "norm", GEMM_B, "add"), GEMM_A, GEMM_B);
    /* Two layouts of a GEMM: the place tells which is which. */
    check_partner(STEP("norm", GEMM_A, "add", GEMM_A2, "mul"),
                  STEP("norm", GEMM_B, "add", GEMM_B2, "mul"), GEMM_A, GEMM_B);
    check_partner(STEP("norm", GEMM_A, "add", GEMM_A2, "mul"),
                  STEP("norm", GEMM_B, "add", GEMM_B2, "mul"), GEMM_A2, GEMM_B2);
    /* Another layout at another place: similar names, but not the same kernel. */
    check_partner(STEP("norm", GEMM_A, "add", "softmax", "mul"),
                  STEP("norm", "add", "softmax", GEMM_A2, "mul"), GEMM_A, NULL);
    check_partner(STEP("norm", GEMM_A, "add", "softmax"), STEP("norm", GEMM_A2, "add", "softmax"),
                  GEMM_A, GEMM_A2);
    /* Names that say what is computed stay two, though they are at one place. */
    check_partner(STEP("norm", MUL, "add"), STEP("norm", ADD, "add"), MUL, NULL);
    /* Two kernels became one, or one of several places has another. */
    check_partner(STEP("norm", GEMM_A, "relu", "add"), STEP("norm", GEMM_B, "add"), GEMM_A, NULL);
    check_partner(STEP("norm", GEMM_A, "add", "mul", GEMM_A, "exp"),
                  STEP("norm", GEMM_B, "add", "mul", "my_gemm", "exp"), GEMM_A, NULL);
    /* A layer less is no contradiction. */
    check_partner(STEP("norm", GEMM_A, "add", "norm", GEMM_A, "add", "norm", GEMM_A, "add"),
                  STEP("norm", GEMM_B, "add", "norm", GEMM_B, "add"), GEMM_A, GEMM_B);
    /* As long runs of new kernels tell nothing. */
    check_partner(STEP("norm", "p", "q", GEMM_A, "r", "s", "add"),
                  STEP("norm", "t", "u", GEMM_B, "v", "w", "add"), GEMM_A, NULL);
}

/* The aligned step must have a kernel as often as all others. */
static void test_all_steps(void **state)
{
    const step a = STEP("norm", GEMM_A, "add"), b = STEP("norm", GEMM_B, "add");
    (void)state;
    assert_non_null(partner_of(a, b, GEMM_A, (const int[]){5, 7}, 0));
    assert_null(partner_of(a, b, GEMM_A, (const int[]){5, 7}, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),    cmocka_unit_test(test_edits),
        cmocka_unit_test(test_streams),   cmocka_unit_test(test_places),
        cmocka_unit_test(test_all_steps),
    };
    return cmocka_run_group_tests_name("compare_sequence", tests, NULL, NULL);
}
