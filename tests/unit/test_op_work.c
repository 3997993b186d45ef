/* Operations and bytes of operators: against loops that count, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/op_work.h"
#include "analysis/peaks.h"
#include "base/error.h"

static rocl_view view(const char *text)
{
    return (rocl_view){text, strlen(text)};
}

static bool work_of(const char *name, const char *dims, const char *types, const char *concrete,
                    rocl_op_work *w)
{
    return rocl_op_work_of(view(name), view(dims), view(types), view(concrete), w);
}

static void test_shapes(void **state)
{
    static const struct {
        const char *name, *dims, *types, *concrete;
        double flops, bytes; /* 0, 0: nothing is known */
        rocl_number_type type;
    } cases[] = {
        {"aten::mm", "[[3,5],[5,7]]", "[\"float\",\"float\"]", "[]", 2 * 3 * 5 * 7,
         4 * (15 + 35 + 21), ROCL_FP32},
        {"aten::mm", " [ [3, 5],\n [5 ,7] ] ", "[\"double\",\"double\"]", "", 210, 8 * 71,
         ROCL_FP64},
        {"aten::addmm", "[[7],[3,5],[5,7],[],[]]", "[\"c10::Half\",\"c10::Half\",\"c10::Half\"]",
         "[]", 210 + 21, 2 * (7 + 71), ROCL_FP16},
        {"aten::bmm", "[[2,3,5],[2,5,7]]", "[\"c10::BFloat16\",\"c10::BFloat16\"]", "[]", 420,
         2 * 2 * 71, ROCL_BF16},
        {"aten::linear", "[[2,3,5],[7,5],[]]", "[\"float\",\"float\",\"\"]", "[]", 2 * 6 * 35,
         4 * (30 + 35 + 42), ROCL_FP32},
        {"aten::linear", "[[2,3,5],[7,5],[7]]", "[\"float\",\"float\",\"float\"]", "[]",
         2 * 6 * 35 + 42, 4 * (30 + 35 + 7 + 42), ROCL_FP32},
        {"aten::_scaled_mm", "[[3,5],[5,7]]", "[\"c10::Float8_e4m3fnuz\",\"c10::Float8_e4m3fnuz\"]",
         "[]", 210, 71, ROCL_FP8},
        {"aten::_scaled_dot_product_flash_attention", "[[2,4,6,8],[2,4,9,8],[2,4,9,8],[],[]]",
         "[\"float\",\"float\",\"float\"]", "[\"\",\"\",\"\",\"0.\",\"False\"]",
         2 * 2 * 4 * 6 * 9 * 16, 4 * (384 + 576 + 576 + 384), ROCL_FP32},
        {"aten::_scaled_dot_product_flash_attention", "[[2,4,6,8],[2,4,9,8],[2,4,9,8],[],[]]",
         "[\"float\",\"float\",\"float\"]", "[\"\",\"\",\"\",\"0.\",\"True\"]", 2 * 4 * 6 * 9 * 16,
         4 * (384 + 576 + 576 + 384), ROCL_FP32},
        {"aten::_flash_attention_forward", "[[2,6,4,8],[2,9,4,8],[2,9,4,8]]",
         "[\"float\",\"float\",\"float\"]", "[]", 2 * 2 * 4 * 6 * 9 * 16,
         4 * (384 + 576 + 576 + 384), ROCL_FP32},
        {"aten::add", "[[3,1,5],[7,1],[]]", "[\"float\",\"float\",\"Scalar\"]", "[]", 105,
         4 * (15 + 7 + 105), ROCL_FP32},
        {"aten::copy_", "[[3,5],[3,5],[]]", "[\"c10::Half\",\"c10::Half\"]", "[]", 0,
         2 * (15 + 15 + 15), ROCL_FP16},
        /* What does not fit, or is of another type, or is cut. */
        {"aten::mm", "[[3,5],[6,7]]", "[\"float\",\"float\"]", "[]", 0, 0, 0},
        {"aten::mm", "[[3,5]]", "[\"float\",\"float\"]", "[]", 0, 0, 0},
        {"aten::mm", "[[3,5],[[5,7]]]", "[\"float\",\"float\"]", "[]", 0, 0, 0},
        {"aten::mm", "[[3,5],[5,7]]", "[\"long int\",\"long int\"]", "[]", 0, 0, 0},
        {"aten::mm", "[[3,5],[5,7]]", "", "", 0, 0, 0},
        {"aten::mm", "[[3,5],[5,", "[\"float\"", "", 0, 0, 0},
        {"aten::mm", "", "[\"float\",\"float\"]", "", 0, 0, 0},
        {"aten::mm", "[[-3,5],[5,7]]", "[\"float\",\"float\"]", "", 0, 0, 0},
        {"aten::conv2d", "[[1,1,4,4],[1,1,3,3]]", "[\"float\",\"float\"]", "[]", 0, 0, 0},
        {"aten::convolution", "[[1,1,4,4],[1,1,3,3]]", "[\"float\",\"float\"]",
         "[\"\",\"\",\"\",\"[0, 0]\"]", 0, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rocl_op_work w = {0};
        const bool known =
            work_of(cases[i].name, cases[i].dims, cases[i].types, cases[i].concrete, &w);
        if (known != (cases[i].bytes > 0) ||
            (known &&
             (w.flops != cases[i].flops || w.bytes != cases[i].bytes || w.type != cases[i].type)))
            fail_msg("%zu, %s %s: %d %g %g", i, cases[i].name, cases[i].dims, known, w.flops,
                     w.bytes);
    }
    assert_false(rocl_op_is_known(view("aten::matmu")));
    assert_false(rocl_op_is_known(view("")));
    assert_true(rocl_op_is_known(view("aten::matmul")));
}

/* Random convolutions: each position of the output, or of the input of a transposed one, is
 * visited, and what it multiplies is counted: beyond the edge there are zeros, which are
 * multiplied, too. */
static void test_convolutions(void **state)
{
    (void)state;
    srand(7);
    for (int round = 0; round < 500; round++) {
        const int groups = 1 + rand() % 3, n = 1 + rand() % 3, in = groups * (1 + rand() % 3);
        const int out = groups * (1 + rand() % 3), size = 4 + rand() % 7, kernel = 1 + rand() % 3;
        const int stride = 1 + rand() % 3, padding = rand() % 2, dilation = 1 + rand() % 2;
        const bool transposed = rand() % 2;
        const int reach = dilation * (kernel - 1) + 1;
        double products = 0, outputs = 0;
        if (transposed) {
            outputs = (double)n * out;
            for (int axis = 0; axis < 2; axis++)
                outputs *= (size - 1) * stride - 2 * padding + reach;
            for (int p = 0; p < n * in * size * size; p++)
                products += (double)kernel * kernel * out / groups;
        } else {
            for (int y = 0; y + reach <= size + 2 * padding; y += stride)
                for (int x = 0; x + reach <= size + 2 * padding; x += stride, outputs += n * out)
                    products += (double)n * out * kernel * kernel * in / groups;
        }
        if (size + 2 * padding < reach || outputs <= 0)
            continue;
        char dims[128], concrete[192];
        snprintf(dims, sizeof dims, "[[%d,%d,%d,%d],[%d,%d,%d,%d],[]]", n, in, size, size,
                 transposed ? in : out, (transposed ? out : in) / groups, kernel, kernel);
        snprintf(concrete, sizeof concrete,
                 "[\"\",\"\",\"\",\"[%d, %d]\",\"[%d]\",\"[%d, %d]\",\"%s\",\"[0, 0]\",\"%d\"]",
                 stride, stride, padding, dilation, dilation, transposed ? "True" : "False",
                 groups);
        rocl_op_work w;
        assert_true(work_of("aten::convolution", dims, "[\"float\",\"float\"]", concrete, &w));
        const double weights = (double)in * out / groups * kernel * kernel;
        if (w.flops != 2 * products ||
            w.bytes != 4 * ((double)n * in * size * size + weights + outputs))
            fail_msg("%s %s: %g is not %g, %g", dims, concrete, w.flops, 2 * products, w.bytes);
    }
}

static void test_peaks(void **state)
{
    rocl_peak p;
    rocl_error *err = rocl_error_new();
    char path[] = "/tmp/rocline-peaks-XXXXXX";
    const int fd = mkstemp(path);
    static const char text[] = "# ours\n\nMine bandwidth=2.5T fp16=0.5P\r\nmi300x bandwidth=1G\n";
    (void)state;
    assert_true(fd >= 0 && write(fd, text, sizeof text - 1) == sizeof text - 1);
    assert_int_equal(rocl_peak_find(&p, "MI300x", NULL, err), ROCL_OK);
    assert_true(p.bandwidth == 5300e9 && p.flops[ROCL_FP8] == 2614.9e12);
    assert_string_equal(p.name, "MI300X");
    rocl_peak_free(&p);
    assert_int_equal(rocl_peak_find(&p, "MI300X", path, err), ROCL_OK);
    assert_true(p.bandwidth == 1e9 && p.flops[ROCL_FP8] == 0);
    rocl_peak_free(&p);
    assert_int_equal(rocl_peak_find(&p, "mine", path, err), ROCL_OK);
    assert_true(p.bandwidth == 2.5e12 && p.flops[ROCL_FP16] == 0.5e15);
    rocl_peak_free(&p);
    assert_int_equal(rocl_peak_find(&p, "none", path, err), ROCL_USAGE);
    assert_non_null(strstr(rocl_error_text(err), "known: Mine, mi300x, MI100, MI210"));
    assert_int_equal(rocl_peak_find(&p, "gfx942", NULL, err), ROCL_USAGE);
    assert_non_null(strstr(rocl_error_text(err), "\"gfx942\": MI300A, MI300X, MI325X"));
    assert_int_equal(rocl_peak_find(&p, "gfx908", NULL, err), ROCL_OK);
    assert_string_equal(p.name, "MI100");
    rocl_peak_free(&p);
    assert_true(lseek(fd, 0, SEEK_SET) == 0);
    assert_true(ftruncate(fd, 0) == 0 && pwrite(fd, "a fp16=1\nb fp12=1\n", 18, 0) == 18);
    assert_int_equal(rocl_peak_find(&p, "a", path, err), ROCL_INPUT);
    assert_non_null(strstr(rocl_error_text(err), ", line 2: \"fp12=1\" is none of"));
    rocl_peak_free(&p);
    static const char *const wrong[] = {"fp16=-1", "cus=",         "id=xyz",
                                        "id=",     "id=123456789", "id=1 id=2 id=3 id=4 id=5"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_true(ftruncate(fd, 0) == 0 && dprintf(fd, "a %s\n", wrong[i]) > 0);
        assert_int_equal(rocl_peak_find(&p, "a", path, err), ROCL_INPUT);
        assert_true(lseek(fd, 0, SEEK_SET) == 0);
    }
    close(fd);
    unlink(path);
    rocl_error_free(err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shapes),
                                       cmocka_unit_test(test_convolutions),
                                       cmocka_unit_test(test_peaks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
