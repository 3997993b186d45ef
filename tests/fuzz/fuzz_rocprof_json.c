/* Fuzz target: JSON of rocprof, with one worker and with two, which must say the same. The first
 * byte of the input chooses how small blocks are. */
#include "source/records/records.h"
#include "tests/fuzz/events.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* So that it is taken for a trace of rocprof. */
static const char head[] = "{ \"traceEvents\":[{}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    rocl_piece_bytes = data[0] & 2 ? 4096 : 1 + data[0];
    fuzz_read_after(data[0] & 1 ? "" : head, data + 1, size - 1);
    return 0;
}
