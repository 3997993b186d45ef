/* Fuzz target: raw texts of rocprof and the text of rocprofv2, with one worker and with two, which
 * must say the same. The first byte of the input chooses how small pieces and blocks are. */
#include "source/rocprof/rocprof.h"
#include "source/rtg/rtg.h"
#include "tests/fuzz/events.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* So that it is taken for a text of rocprof. */
static const char head[] = "5000000001000:5000000004000 4100:4100 hipMalloc(size=1) :1\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    /* At most 64 pieces and some hundred reads: a byte at a time is 20 times slower and finds no
     * more. */
    const unsigned least = 1 + (unsigned)(size / 64);
    rocl_piece_bytes = least + (data[0] & 15) * 40u;
    rtg_sizes_used = (rtg_sizes){
        .range = 64, .block = least + (data[0] >> 4) * 24u, .line_max = 3000, .batch_max = 4};
    data++;
    size--;
    rocprof_is_text((const char *)data, size, true);
    fuzz_read_after(head, data, size);
    return 0;
}
