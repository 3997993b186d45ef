/* What a kernel computes, by its name: one table of rules. */
#include "model/kernel_class.h"

#include <stdbool.h>
#include <string.h>

static const char *const names[ROCL_CLASSES] = {
    [ROCL_CLASS_GEMM] = "GEMM",
    [ROCL_CLASS_ATTENTION] = "attention",
    [ROCL_CLASS_CONVOLUTION] = "convolution",
    [ROCL_CLASS_NORMALISATION] = "normalisation",
    [ROCL_CLASS_ELEMENTWISE] = "elementwise",
    [ROCL_CLASS_REDUCTION] = "reduction",
    [ROCL_CLASS_COMMUNICATION] = "communication",
    [ROCL_CLASS_COPY] = "copy",
    [ROCL_CLASS_TRITON] = "Triton",
    [ROCL_CLASS_OTHER] = "other",
};

#define GEMM          ROCL_CLASS_GEMM
#define ATTENTION     ROCL_CLASS_ATTENTION
#define CONVOLUTION   ROCL_CLASS_CONVOLUTION
#define NORMALISATION ROCL_CLASS_NORMALISATION
#define ELEMENTWISE   ROCL_CLASS_ELEMENTWISE
#define REDUCTION     ROCL_CLASS_REDUCTION
#define COMMUNICATION ROCL_CLASS_COMMUNICATION
#define COPY          ROCL_CLASS_COPY

static const rocl_class_rule rules[] = {
    /* Of fused kernels the name lists all operators: none of them is what it is. */
    {ROCL_CLASS_TRITON, "^triton_"},
    {COMMUNICATION, "nccl"},
    {COMMUNICATION, "^rccl"},
    {COMMUNICATION, "allreduce"},
    {COMMUNICATION, "all_reduce"},
    {COMMUNICATION, "cross_device_reduce"},
    {COMMUNICATION, "shmem_"},
    /* A cache of keys and values is filled for attention, but by copies. */
    {COPY, "reshape_and_cache"},
    {COPY, "kvcache"},
    {ATTENTION, "attention"},
    {ATTENTION, "attn"},
    {ATTENTION, "fmha"},
    {ATTENTION, "flash_fwd"},
    {ATTENTION, "flash_bwd"},
    {ATTENTION, "sdpa"},
    {ATTENTION, "compute_dot_do_o"},
    {CONVOLUTION, "convolution"},
    {CONVOLUTION, "conv1d"},
    {CONVOLUTION, "conv2d"},
    {CONVOLUTION, "conv3d"},
    {CONVOLUTION, "conv_"},
    {CONVOLUTION, "igemm_fwd"},
    {CONVOLUTION, "igemm_bwd"},
    {CONVOLUTION, "igemm_wrw"},
    {CONVOLUTION, "implicit_gemm"},
    {CONVOLUTION, "fprop"},
    {CONVOLUTION, "dgrad"},
    {CONVOLUTION, "wgrad"},
    {CONVOLUTION, "winograd"},
    {CONVOLUTION, "gcnasmconv"},
    {CONVOLUTION, "scudnn"},
    {CONVOLUTION, "im2col"},
    {CONVOLUTION, "col2im"},
    {GEMM, "gemm"},
    {GEMM, "cijk_"}, /* Tensile: rocBLAS and hipBLASLt */
    {GEMM, "matmul"},
    {GEMM, "mul_mat"},
    {GEMM, "gemv"},
    {GEMM, "nvjet"},
    {GEMM, "wvspltk"},
    {ELEMENTWISE, "rope_"},
    {ROCL_CLASS_OTHER, "fft"},
    {NORMALISATION, "layernorm"},
    {NORMALISATION, "layer_norm"},
    {NORMALISATION, "batchnorm"},
    {NORMALISATION, "batch_norm"},
    {NORMALISATION, "groupnorm"},
    {NORMALISATION, "group_norm"},
    {NORMALISATION, "instancenorm"},
    {NORMALISATION, "instance_norm"},
    {NORMALISATION, "rmsnorm"},
    {NORMALISATION, "rms_norm"},
    {NORMALISATION, "l2_norm"},
    {NORMALISATION, "gammabeta"},
    {NORMALISATION, "rowwisemoments"},
    {NORMALISATION, "softmax"},
    {NORMALISATION, "soft_max"},
    {COPY, "copy"},
    {COPY, "cpy_"},
    {COPY, "memcpy"},
    {COPY, "memset"},
    {COPY, "fillbuffer"},
    {COPY, "fillfunctor"},
    {COPY, "transpose"},
    {COPY, "nchwtonhwc"},
    {COPY, "concat"},
    {COPY, "gather"},
    {COPY, "index_kernel"},
    {COPY, "indexselect"},
    {COPY, "get_rows"},
    {COPY, "set_rows"},
    {REDUCTION, "reduce"},
    {REDUCTION, "reduction"},
    {REDUCTION, "argmax"},
    {REDUCTION, "argmin"},
    {REDUCTION, "topk"},
    {REDUCTION, "cumsum"},
    {REDUCTION, "sum_rows"},
    {REDUCTION, "scan"},
    {REDUCTION, "radixsort"},
    {REDUCTION, "radix_sort"},
    {REDUCTION, "histogram"},
    {ELEMENTWISE, "elementwise"},
    {ELEMENTWISE, "multi_tensor_apply"},
    {ELEMENTWISE, "unary"},
    {ELEMENTWISE, "bin_bcast"},
    {ELEMENTWISE, "rotary"},
    {ELEMENTWISE, "activation"},
    {ELEMENTWISE, "act_and_mul"},
    {ELEMENTWISE, "silu"},
    {ELEMENTWISE, "gelu"},
    {ELEMENTWISE, "relu"},
    {ELEMENTWISE, "swiglu"},
    {ELEMENTWISE, "dropout"},
    {ELEMENTWISE, "quant"},
    {ELEMENTWISE, "convert"},
    {ELEMENTWISE, "scale_"},
    {ELEMENTWISE, "tensorop"},
    {ELEMENTWISE, "triad"},
    {ELEMENTWISE, "axpy"},
    {ELEMENTWISE, "transform_kernel"},
    {ROCL_CLASS_TRITON, "triton"},
};

const char *rocl_kernel_class_name(rocl_kernel_class c)
{
    return names[c];
}

rocl_kernel_class rocl_classify_kernel(const char *name, size_t n)
{
    enum { TOLD_BY = 1024 }; /* bytes: what is behind them are types of arguments */
    char small[TOLD_BY];
    n = n < TOLD_BY ? n : TOLD_BY;
    for (size_t i = 0; i < n; i++)
        small[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] | 0x20 : name[i]);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const char *part = rules[i].part;
        const bool first = *part == '^';
        const size_t len = strlen(part += first);
        if (first ? n >= len && !memcmp(small, part, len) : memmem(small, n, part, len) != NULL)
            return rules[i].class;
    }
    return ROCL_CLASS_OTHER;
}
