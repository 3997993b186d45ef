/* Classes of kernels by their names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "model/kernel_class.h"

static void test_names(void **state)
{
    static const struct {
        const char *name;
        rocl_kernel_class class;
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
        if (rocl_classify_kernel(cases[i].name, strlen(cases[i].name)) != cases[i].class)
            fail_msg("%s", cases[i].name);
    for (unsigned c = 0; c < ROCL_CLASSES; c++)
        assert_true(*rocl_kernel_class_name((rocl_kernel_class)c));
}

/* A name ends where its length says, and only its begin counts. */
static void test_lengths(void **state)
{
    static char name[1 << 16];
    (void)state;
    memset(name, 'x', sizeof name);
    memcpy(name + 1020, "gemm", 4);
    assert_int_equal(rocl_classify_kernel(name, sizeof name), ROCL_CLASS_GEMM);
    memcpy(name + 1020, "xgemm", 5);
    assert_int_equal(rocl_classify_kernel(name, sizeof name), ROCL_CLASS_OTHER);
    assert_int_equal(rocl_classify_kernel("gemm", 3), ROCL_CLASS_OTHER);
    assert_int_equal(rocl_classify_kernel("a\0gemm", 6), ROCL_CLASS_GEMM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names),
                                       cmocka_unit_test(test_lengths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
