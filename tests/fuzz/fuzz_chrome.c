/* Fuzz target: Chrome's trace JSON and Kineto's, with one worker and with two, which must say the
 * same. The first byte of the input chooses what stands before the rest, so that it is taken for
 * such a trace. */
#include "source/records/records.h"
#include "tests/fuzz/events.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const heads[] = {"", "[{\"ph\":\"M\",\"ts\":0},", "{\"traceEvents\":[",
                                    ("{\"deviceProperties\":[],\"baseTimeNanoseconds\":7,"
                                     "\"traceEvents\":[")};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    fuzz_read_after(heads[data[0] % (sizeof heads / sizeof *heads)], data + 1, size - 1);
    return 0;
}
