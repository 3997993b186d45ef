/* Makes legacy text of any size: rtggen rtg|hcc LINES [SEED]. The grammar is that of rtg(5). The
 * same arguments give the same bytes. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

static uint64_t below(uint64_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % n;
}

static const char *const kernels[] = {
    "void gemm_tile<float, 128, 64, true>(float const*, float const*, float*, int, int)",
    "__amd_rocclr_fillBuffer.kd",
    "vecAdd(double const*, double const*, double*, int) [clone .kd]",
    "Cijk_Ailk_Bljk_SB_MT128x64x8_SE_APM1_AF0EM1_AF1EM1_AMAS0_ASEM1_BL1_DTL0.kd",
    "reduce<int>(int*)",
    "void scan::block<512u, scan::{lambda(int)#1}>(scan::{lambda(int)#1}, unsigned int*)",
};
static const char *const mangled[] = {"_Z9gemm_tileIfLi128ELi64ELb1EEvPKfS1_Pfii.kd",
                                      "__amd_rocclr_fillBuffer.kd", "_Z6vecAddPKdS0_Pdi.kd",
                                      "_Z6reduceIiEvPT_.kd", "_ZN4scan5blockILj512EEEvPj.kd"};

#define PICK(list) list[below(sizeof list / sizeof *list)]

enum { PID = 4711, THREADS = 4 };
static uint64_t now = 1811961275577532;
static uint64_t dispatches;

static uint64_t thread_id(void)
{
    return 140302773952640 - 8392704 * below(THREADS);
}

static void hip_line(void)
{
    uint64_t pointer = 0x7f1d40000000 + below(1 << 20) * 4096;
    printf("HIP: pid:%d tid:%" PRIu64 " ", PID, thread_id());
    switch (below(4)) {
    case 0:
        printf("hipMemcpyAsync(dst=0x%" PRIx64 ", src=0x%" PRIx64 ", sizeBytes=%" PRIu64
               ", kind=%d, stream=0x55d0c3a1e2b0)",
               pointer, pointer + 65536, below(1 << 20), (int)below(5));
        break;
    case 1:
        printf("hipLaunchKernel(function_address=0x%" PRIx64 ", numBlocks={%d,1,1}, "
               "dimBlocks={256,1,1}, args=0x%" PRIx64 ", sharedMemBytes=0, stream=0) [%s]",
               pointer, (int)below(4096), pointer + 8, PICK(kernels));
        break;
    case 2:
        printf("hipStreamSynchronize");
        break;
    default:
        printf("hipGetDevice(deviceId=0)");
    }
    printf(" ret=0 @%" PRIu64 " +%" PRIu64 "\n", now, below(40000));
}

static void hsa_line(void)
{
    printf("HSA: pid:%d tid:%" PRIu64 " ", PID, thread_id());
    if (below(2))
        printf("hsa_signal_store_screlease (signal_%" PRIu64 ", %d) ret=void",
               140301034576000 + below(1000) * 64, (int)below(100));
    else
        printf("hsa_agent_get_info (agent_%d, 17, 0x7ffd086dfebc) ret=0", 94179622);
    printf(" @%" PRIu64 " +%" PRIu64 "\n", now, below(9000));
}

static void queue_fields(const char *what, uint64_t tid, bool queue)
{
    printf("HSA: pid:%d tid:%" PRIu64 " %s ", PID, tid, what);
    if (queue)
        printf("queue:%d ", (int)below(4));
    printf("agent:%d signal:%" PRIu64, 94179622 + (int)below(2) * 94432,
           140301034576000 + below(1000) * 64);
}

static void deps(void)
{
    for (int i = 1; i <= 5; i++)
        printf(" dep%d:%" PRIu64, i, below(4) ? 0 : 140301034576000 + below(1000) * 64);
}

static void packet_lines(void)
{
    const char *name = PICK(kernels);
    uint64_t start = now + 2000 + below(60000), stop = start + 800 + below(90000);
    uint64_t waiter = 140302500000512, id = dispatches++;
    switch (below(8)) {
    case 0:
        queue_fields("copy", waiter, false);
        printf(" start:%" PRIu64 " stop:%" PRIu64, start, stop);
        deps();
        putchar('\n');
        break;
    case 1:
        queue_fields("barrier", waiter, true);
        printf(" start:%" PRIu64 " stop:%" PRIu64, start, stop);
        deps();
        printf(" id:%" PRIu64 "\n", id);
        break;
    case 2:
    case 3:
    case 4:
        queue_fields("dispatch", thread_id(), true);
        printf(" name:'%s' tick:%" PRIu64 " id:%" PRIu64 " workgroup:{256,1,1} grid:{%d,1,1}\n",
               name, now, id, 256 * (int)(1 + below(4096)));
        break;
    default:
        queue_fields("dispatch", waiter, true);
        printf(" name:'%s' start:%" PRIu64 " stop:%" PRIu64 " id:%" PRIu64 "\n", name, start, stop,
               id);
    }
}

static void rtg_line(void)
{
    uint64_t which = below(9);
    now += below(20000);
    if (which < 3)
        hip_line();
    else if (which < 6)
        hsa_line();
    else
        packet_lines();
}

static void hcc_line(uint64_t i)
{
    static const char *const types[] = {"kernel", "kernel", "kernel", "barrier", "copy"};
    const char *type = PICK(types);
    bool copy = *type == 'c', kernel = *type == 'k';
    uint64_t took = 1500 + below(200000), bytes = UINT64_C(4) << below(25);
    now += below(4) ? below(9000) : below(3000000);
    printf("profile: %7s;\t%40s;\t%6.1f us;\t%" PRIu64 ";\t%" PRIu64 ";\t#%d.%d.%" PRIu64 ";", type,
           kernel ? PICK(mangled)
           : copy ? "HostToDevice"
                  : "",
           (double)took / 1000, now, now + took, (int)below(2), (int)below(3), i);
    if (copy)
        printf("\t%" PRIu64 " bytes;\t%g MB;\t%g GB/s;", bytes, (double)bytes / 1048576,
               (double)bytes / (double)took * (1000.0 / 1024) * (1000.0 / 1024));
    putchar('\n');
    now += took;
}

int main(int argc, char **argv)
{
    if (argc < 3 || argc > 4) {
        fprintf(stderr, "usage: rtggen rtg|hcc LINES [SEED]\n");
        return 2;
    }
    uint64_t lines = strtoull(argv[2], NULL, 10);
    state = argc > 3 ? strtoull(argv[3], NULL, 10) * 2 + 1 : 88172645463325252;
    for (uint64_t i = 0; i < lines; i++) {
        if (strcmp(argv[1], "hcc") == 0)
            hcc_line(i);
        else
            rtg_line();
    }
    return fflush(stdout) || ferror(stdout) ? 4 : 0;
}
