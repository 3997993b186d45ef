/* Fuzz target: legacy text, through the line parser and through the source with one worker and with
 * two, which must say the same. The first byte of the input chooses how small ranges and blocks
 * are. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "source/rtg/rtg.h"
#include "tests/fuzz/events.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* In memory of exactly its size. */
static void parse_whole(const uint8_t *data, size_t size)
{
    rtg_line l;
    rtg_parse_line(&l, (const char *)data, size, false);
    rtg_parse_newer_line(&l, (const char *)data, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    rtg_sizes_used = (rtg_sizes){.range = 1 + (data[0] & 15) * 16u,
                                 .block = 1 + (data[0] >> 4) * 24u,
                                 .line_max = 600,
                                 .batch_max = 4};
    data++;
    size--;
    parse_whole(data, size);
    fuzz_read_after("", data, size);
    return 0;
}
