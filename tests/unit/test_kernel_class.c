/* Classes of kernels by their names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/kernel_class.h"

static rocl_kernel_classes *shipped;

static void test_names(void **state)
{
    static const struct {
        const char *name;
        unsigned class;
    } cases[] = {
        {"Cijk_Alik_Bljk_HHS_BH_MT64x64x16_SN", ROCL_CLASS_GEMM},
        {"void mul_mat_vec_q<(ggml_type)2, 1>(void const*)", ROCL_CLASS_GEMM},
        {"flash_fwd_kernel_bf16", ROCL_CLASS_ATTENTION},
        {"_ZN7ck_tile6kentryILi256ENS_13FmhaFwdKernelE", ROCL_CLASS_ATTENTION},
        {"vllm::reshape_and_cache_flash_kernel<float>(float*)", ROCL_CLASS_COPY},
        {"igemm_fwd_gtcx2_nhwc_bf16", ROCL_CLASS_CONVOLUTION},
        {"convert_unary<float, __half>(void const*)", ROCL_CLASS_ELEMENTWISE},
        {"MIOpenBatchNormFwdTrainSpatial", ROCL_CLASS_NORMALISATION},
        {"normal_and_transform", ROCL_CLASS_OTHER},
        {"rope_norm<true>(float const*)", ROCL_CLASS_ELEMENTWISE},
        {"void at::native::reduce_kernel<512, 1>(float)", ROCL_CLASS_REDUCTION},
        {"ncclDevKernel_AllReduce_Sum_bf16", ROCL_CLASS_COMMUNICATION},
        {"rcclMain", ROCL_CLASS_COMMUNICATION},
        {"my_rcclMain", ROCL_CLASS_OTHER},
        {"__amd_rocclr_fillBufferAligned", ROCL_CLASS_COPY},
        {"triton_poi_fused_convolution_relu_0", ROCL_CLASS_TRITON},
        {"create_indices_triton", ROCL_CLASS_TRITON},
        {"jacobi", ROCL_CLASS_OTHER},
        {"", ROCL_CLASS_OTHER},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (rocl_classify_kernel(shipped, cases[i].name, strlen(cases[i].name)) != cases[i].class)
            fail_msg("%s", cases[i].name);
    assert_int_equal(rocl_kernel_class_count(shipped), ROCL_SHIPPED_CLASSES);
    for (unsigned c = 0; c < ROCL_SHIPPED_CLASSES; c++)
        assert_true(*rocl_kernel_class_name(shipped, c));
}

/* A name ends where its length says, and only its begin counts. */
static void test_lengths(void **state)
{
    static char name[1 << 16];
    (void)state;
    memset(name, 'x', sizeof name);
    memcpy(name + 1020, "gemm", 4);
    assert_int_equal(rocl_classify_kernel(shipped, name, sizeof name), ROCL_CLASS_GEMM);
    memcpy(name + 1020, "xgemm", 5);
    assert_int_equal(rocl_classify_kernel(shipped, name, sizeof name), ROCL_CLASS_OTHER);
    assert_int_equal(rocl_classify_kernel(shipped, "gemm", 3), ROCL_CLASS_OTHER);
    assert_int_equal(rocl_classify_kernel(shipped, "a\0gemm", 6), ROCL_CLASS_GEMM);
}

/* NULL: the file is refused; what the error says is in `error`. Free it. */
static rocl_kernel_classes *read_rules(const char *text, char error[256])
{
    rocl_kernel_classes *k;
    rocl_error *err = rocl_error_new();
    char path[] = "/tmp/rocline-classes-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    rocl_status st = rocl_kernel_classes_new(&k, path, err);
    unlink(path);
    snprintf(error, 256, "%s", rocl_error_text(err) + (st == ROCL_OK ? 0 : strlen(path)));
    rocl_error_free(err);
    assert_true((st == ROCL_OK) == (k != NULL));
    return k;
}

/* The rules of a file come before those that are shipped. */
static void test_file(void **state)
{
    static const char rules[] = "# mine\r\n\r\n"
                                "MoE \t ^moe_.*(up|down)\r\n"
                                "gemm  ^moe_gate\n"
                                "  other rcclMain  \n"
                                "moe EXPERT"; /* the class from above; no line end */
    static const struct {
        const char *name, *class;
    } cases[] = {
        {"moe_proj_UP", "MoE"},
        {"my_moe_up", "other"},
        {"MOE_gate_up", "MoE"},
        {"moe_gate", "GEMM"},
        {"x_moe_gate", "other"},
        {"rcclMainKernel", "other"},
        {"ncclDevKernel", "communication"},
        {"an_Expert_gemm", "MoE"},
        {"cijk_a", "GEMM"},
    };
    char error[256];
    (void)state;
    rocl_kernel_classes *k = read_rules(rules, error);
    assert_non_null(k);
    assert_int_equal(rocl_kernel_class_count(k), ROCL_SHIPPED_CLASSES + 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(rocl_kernel_class_name(
                                k, rocl_classify_kernel(k, cases[i].name, strlen(cases[i].name))),
                            cases[i].class);
    rocl_kernel_classes_free(k);
}

static void test_wrong_files(void **state)
{
    static const struct {
        const char *rules, *error;
    } cases[] = {
        {"gemm mine\ngemm\n", ", line 2: a class and a regular expression are expected"},
        {"gemm (\n", ", line 1: rule: \"(\": not an extended regular expression"},
        {"a,b c\n", ", line 1: the name of a class has letters, digits and _-+./"},
        {"a23456789012345678901234567890123 c\n", ", line 1: the name of a class has at most 32"},
        {"c1 x\nc2 x\nc3 x\nc4 x\nc5 x\nc6 x\nC6 y\n\n# c\nc7 x\n",
         ", line 10: there are at most 6 classes beside those of rocstats-kernels(1)"},
    };
    char error[256];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_null(read_rules(cases[i].rules, error));
        if (strncmp(error, cases[i].error, strlen(cases[i].error)) != 0)
            fail_msg("\"%s\" instead of \"%s\"", error, cases[i].error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names), cmocka_unit_test(test_lengths),
                                       cmocka_unit_test(test_file),
                                       cmocka_unit_test(test_wrong_files)};
    rocl_error *err = rocl_error_new();
    if (rocl_kernel_classes_new(&shipped, NULL, err) != ROCL_OK)
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rocl_kernel_classes_free(shipped);
    rocl_error_free(err);
    return failed;
}
