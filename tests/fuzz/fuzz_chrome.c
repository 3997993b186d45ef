/* Fuzz target: Chrome's trace JSON and Kineto's, with one worker and with two, which must say the
 * same. The first byte of the input chooses what stands before the rest, so that it is taken for
 * such a trace. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source/records/records.h"
#include "tests/fuzz/events.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const heads[] = {"", "[{\"ph\":\"M\",\"ts\":0},", "{\"traceEvents\":[",
                                    "{\"deviceProperties\":[],\"baseTimeNanoseconds\":7,"
                                    "\"traceEvents\":["};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    fuzz_sum sum;
    if (!size)
        return 0;
    if (fd < 0)
        fd = fuzz_file();
    const char *head = heads[data[0] % (sizeof heads / sizeof *heads)];
    const size_t n = strlen(head);
    if (ftruncate(fd, 0) || pwrite(fd, head, n, 0) != (ssize_t)n ||
        pwrite(fd, data + 1, size - 1, (off_t)n) != (ssize_t)(size - 1))
        abort();
    fuzz_read_twice(fuzz_path, &sum);
    return 0;
}
