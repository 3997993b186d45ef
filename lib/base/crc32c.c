/* CRC-32C, by the instruction for it where the processor has one. */
#include "base/crc32c.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* A table of 16 entries, for half a byte at a time, needs no initialization. */
static uint32_t in_software(uint32_t c, const uint8_t *p, size_t n)
{
    static const uint32_t table[16] = {
        0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
        0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
        0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
    };
    for (; n; n--) {
        c ^= *p++;
        c = c >> 4 ^ table[c & 15];
        c = c >> 4 ^ table[c & 15];
    }
    return c;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t in_hardware(uint32_t c, const uint8_t *p,
                                                              size_t n)
{
    uint64_t sum = c, word;
    for (; n >= 8; n -= 8, p += 8) {
        memcpy(&word, p, 8);
        sum = __builtin_ia32_crc32di(sum, word);
    }
    for (; n; n--)
        sum = __builtin_ia32_crc32qi((uint32_t)sum, *p++);
    return (uint32_t)sum;
}

/* __builtin_cpu_supports() would query all features of the processor at the start of every program:
 * on a virtual machine that takes longer than starting a thread. */
static bool has_crc32(void)
{
    static atomic_int known; /* 0: not asked yet, 1: no, 2: yes */
    int is = atomic_load_explicit(&known, memory_order_relaxed);
    if (!is) {
        unsigned a, b, c = 0, d;
        is = __get_cpuid(1, &a, &b, &c, &d) && c & bit_SSE4_2 ? 2 : 1;
        atomic_store_explicit(&known, is, memory_order_relaxed);
    }
    return is == 2;
}
#endif

uint32_t rocl_crc32c(uint32_t crc, const void *p, size_t n)
{
#if defined(__x86_64__)
    if (has_crc32())
        return ~in_hardware(~crc, p, n);
#endif
    return ~in_software(~crc, p, n);
}
