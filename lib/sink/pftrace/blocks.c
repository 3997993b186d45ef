/* Which memory is allocated: a free knows neither agent nor size, its allocation did. */
#include "sink/pftrace/pf.h"

bool pf_blocks_take(pf_blocks *h, uint64_t address, pf_block *b)
{
    pf_block *all = (pf_block *)(void *)h->entries.data;
    uint32_t n = rocl_map_get(&h->live, address, ROCL_NONE);
    if (n == ROCL_NONE)
        return false;
    *b = all[n];
    all[n].size = h->spare;
    h->spare = n + 1;
    rocl_map_del(&h->live, address);
    return true;
}

bool pf_blocks_put(pf_blocks *h, uint64_t address, const pf_block *b)
{
    pf_block *all = (pf_block *)(void *)h->entries.data;
    uint32_t n;
    if (h->spare) {
        n = h->spare - 1;
        h->spare = (uint32_t)all[n].size;
        all[n] = *b;
    } else {
        n = (uint32_t)(h->entries.len / sizeof *b);
        rocl_buf_put(&h->entries, b, sizeof *b);
    }
    return !h->entries.failed && rocl_map_put(&h->live, address, n);
}

void pf_blocks_free(pf_blocks *h)
{
    rocl_map_free(&h->live);
    rocl_buf_free(&h->entries);
    h->spare = 0;
}
