/* Which kernels were renamed: against a naive matching of random names, and names as generators
 * write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/similar_names.h"

enum { MOST = 14 };

/* ---- naive ---- */

/* The words of a name that only has letters in small, digits and "_": no hashes, no capitals. */
static size_t split(const char *name, char words[][32])
{
    size_t n = 0;
    for (const char *p = name; *p;) {
        const char *q = p;
        while (isdigit((unsigned char)*p) ? isdigit((unsigned char)*q) : isalpha((unsigned char)*q))
            q++;
        if (q > p)
            snprintf(words[n++], 32, "%.*s", (int)(q - p), p);
        p = q > p ? q : p + 1;
    }
    return n;
}

static int weight_of(const char *word)
{
    return isalpha((unsigned char)*word) && word[1] ? 3 : 1;
}

static unsigned naive_likeness(const rocl_lone_name *a, const rocl_lone_name *b)
{
    char x[64][32], y[64][32];
    const size_t n = split(a->name, x), m = split(b->name, y);
    bool used[64] = {false};
    int all = 0, shared = 0;
    for (size_t k = 0; k < m; k++)
        all += weight_of(y[k]);
    for (size_t i = 0; i < n; i++) {
        all += weight_of(x[i]);
        for (size_t k = 0; k < m; k++)
            if (!used[k] && !strcmp(x[i], y[k])) {
                used[k] = true;
                shared += weight_of(x[i]);
                break;
            }
    }
    if (a->class != b->class || !all)
        return 0;
    double words = 2.0 * shared / all;
    if (a->items > 0 && b->items > 0)
        words =
            0.9 * words + 0.1 * (a->items < b->items ? a->items / b->items : b->items / a->items);
    return (unsigned)(1e4 * words + 0.5);
}

/* The best of all that are free, as long as there is one; names that several are equally similar to
 * are put aside. */
static void match_naively(const rocl_lone_name *a, size_t n, const rocl_lone_name *b, size_t m,
                          size_t *partner)
{
    bool out_a[MOST] = {false}, out_b[MOST] = {false};
    memset(partner, 0, n * sizeof *partner);
    for (;;) {
        unsigned best = 0;
        size_t ways_a[MOST] = {0}, ways_b[MOST] = {0};
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < m; k++) {
                const unsigned is = naive_likeness(&a[i], &b[k]);
                best = !out_a[i] && !out_b[k] && is > best ? is : best;
            }
        if (best < ROCL_SIMILAR)
            return;
        for (int pass = 0; pass < 2; pass++)
            for (size_t i = 0; i < n; i++)
                for (size_t k = 0; k < m; k++) {
                    if (out_a[i] || out_b[k] || naive_likeness(&a[i], &b[k]) != best)
                        continue;
                    if (!pass) {
                        ways_a[i]++;
                        ways_b[k]++;
                    } else if (ways_a[i] == 1 && ways_b[k] == 1)
                        partner[i] = k + 1;
                }
        for (size_t i = 0; i < MOST; i++) {
            out_a[i] |= ways_a[i] > 0;
            out_b[i] |= ways_b[i] > 0;
        }
    }
}

/* ---- random names ---- */

static void random_name(char *to, unsigned *seed)
{
    static const char *const words[] = {"gemm", "add", "mul", "x", "tile", "half", "norm"};
    size_t len = 0;
    const int n = 1 + rand_r(seed) % 6;
    for (int i = 0; i < n; i++)
        len += (size_t)(rand_r(seed) % 3 ? sprintf(to + len, "_%s", words[rand_r(seed) % 7])
                                         : sprintf(to + len, "_%d", rand_r(seed) % 4 * 16));
}

static void test_random(void **state)
{
    unsigned seed = 3;
    size_t matched = 0, apart = 0;
    (void)state;
    for (int round = 0; round < 4000; round++) {
        rocl_lone_name names[2][MOST];
        char text[2][MOST][128];
        size_t partner[MOST], count[2];
        for (int s = 0; s < 2; s++) {
            count[s] = (size_t)rand_r(&seed) % (MOST + 1);
            for (size_t i = 0; i < count[s]; i++) {
                random_name(text[s][i], &seed);
                names[s][i] = (rocl_lone_name){.name = text[s][i],
                                               .len = strlen(text[s][i]),
                                               .class = rand_r(&seed) % 8 == 0,
                                               .items = round % 2 ? rand_r(&seed) % 4 * 64 : 0};
            }
        }
        match_naively(names[0], count[0], names[1], count[1], partner);
        assert_int_equal(rocl_match_names(names[0], count[0], names[1], count[1], NULL), ROCL_OK);
        for (size_t i = 0; i < count[0]; i++) {
            assert_int_equal(names[0][i].partner, partner[i]);
            apart += !partner[i];
            if (!partner[i])
                continue;
            matched++;
            assert_int_equal(names[1][partner[i] - 1].partner, i + 1);
            assert_int_equal(names[0][i].likeness,
                             naive_likeness(&names[0][i], &names[1][partner[i] - 1]));
        }
    }
    assert_true(matched > 1000 && apart > 1000);
}

/* ---- names as they are ---- */

static void test_known(void **state)
{
    static const struct {
        const char *a, *b;
        bool match;
    } cases[] = {
        {"Cijk_Ailk_Bljk_HHS_BH_MT128x128x16_SE_K1", "Cijk_Ailk_Bljk_HHS_BH_MT256x64x32_SE_K1", 1},
        {"triton_poi_fused_add_3", "triton_poi_fused_add_17", 1},
        {"triton_poi_fused_add_3", "triton_poi_fused_mul_3", 0},
        {"void rotary_embedding_kernel<float, true>(long const*)",
         "void vllm::rotary_embedding_kernel<float, true>(long const*)", 1},
        {"my_kernel_9f8e7d6c5b4a", "my_kernel_0123456789abcdef", 1},
        {"my_kernel_deadbeef", "my_kernel_cafecafe", 0}, /* words */
        {"vectorizedKernel<4>", "VectorizedKernel<4>", 0},
        {"layerNormKernel<float, 8>", "layerNormKernelFast<float, 8>", 1},
        {"gemm", "gemm2", 1},
        {"gemm", "gemv", 0},
        {"", "", 0},
        {"___", "___1", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rocl_lone_name a = {.name = cases[i].a, .len = strlen(cases[i].a)};
        rocl_lone_name b = {.name = cases[i].b, .len = strlen(cases[i].b)};
        assert_int_equal(rocl_match_names(&a, 1, &b, 1, NULL), ROCL_OK);
        assert_int_equal(a.partner, cases[i].match);
        assert_int_equal(b.partner, cases[i].match);
    }
}

/* The example of rocstats-compare(7). */
static void test_manual(void **state)
{
    rocl_lone_name a = {.name = "gemm_bf16_MT128x64", .len = 18, .items = 1024};
    rocl_lone_name b = {.name = "gemm_bf16_MT256x64", .len = 18, .items = 2048};
    (void)state;
    assert_int_equal(rocl_match_names(&a, 1, &b, 1, NULL), ROCL_OK);
    assert_int_equal(a.likeness, 8808);
    a.items = 0;
    a.partner = b.partner = 0;
    assert_int_equal(rocl_match_names(&a, 1, &b, 1, NULL), ROCL_OK);
    assert_int_equal(a.likeness, 9231);
}

/* Several that are equally similar stay as they are; the size of the grid decides where it can. */
static void test_ambiguous(void **state)
{
    (void)state;
    for (int grids = 0; grids < 2; grids++) {
        rocl_lone_name a[] = {{.name = "fused_add_1", .len = 11, .items = grids ? 64 : 0},
                              {.name = "fused_add_2", .len = 11, .items = grids ? 4096 : 0}};
        rocl_lone_name b[] = {{.name = "fused_add_7", .len = 11, .items = grids ? 4096 : 0},
                              {.name = "fused_add_8", .len = 11, .items = grids ? 64 : 0}};
        assert_int_equal(rocl_match_names(a, 2, b, 2, NULL), ROCL_OK);
        assert_int_equal(a[0].partner, grids ? 2 : 0);
        assert_int_equal(a[1].partner, grids ? 1 : 0);
    }
}

/* More names than are looked at. */
static void test_many(void **state)
{
    enum { N = ROCL_SIMILAR_MOST + 5 };
    static rocl_lone_name a[N], b[N];
    static char text[2][N][48];
    (void)state;
    for (size_t i = 0; i < N; i++) {
        const int n = snprintf(text[0][i], 48, "kernel_%c%c%c_of_%zu", 'a' + (int)(i / 676),
                               'a' + (int)(i / 26 % 26), 'a' + (int)(i % 26), i);
        snprintf(text[1][i], 48, "%.10s_of_x", text[0][i]);
        a[i] = (rocl_lone_name){.name = text[0][i], .len = (size_t)n};
        b[i] = (rocl_lone_name){.name = text[1][i], .len = strlen(text[1][i])};
    }
    assert_int_equal(rocl_match_names(a, N, b, N, NULL), ROCL_OK);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(a[i].partner, i < ROCL_SIMILAR_MOST ? i + 1 : 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random), cmocka_unit_test(test_known),
        cmocka_unit_test(test_manual), cmocka_unit_test(test_ambiguous),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests_name("similar names", tests, NULL, NULL);
}
