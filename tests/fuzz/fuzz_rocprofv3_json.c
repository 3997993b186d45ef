/* Fuzz target: JSON of rocprofv3, with one worker and with two, which must say the same. The first
 * byte of the input chooses how small blocks are. */
#include "source/records/records.h"
#include "tests/fuzz/events.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* So that it is taken for JSON of rocprofv3. */
static const char head[] = "{\"rocprofiler-sdk-tool\":[{";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    rocl_piece_bytes = data[0] & 2 ? 16384 : 4 * (1 + (size_t)data[0]);
    fuzz_read_after(data[0] & 1 ? "" : head, data + 1, size - 1);
    return 0;
}
