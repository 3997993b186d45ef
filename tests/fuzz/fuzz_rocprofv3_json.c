/* Fuzz target: JSON of rocprofv3, with one worker and with two, which must say the same. The first
 * byte of the input chooses how small blocks are. */
#include <stdlib.h>
#include <unistd.h>

#include "source/records/records.h"
#include "tests/fuzz/events.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* So that it is taken for JSON of rocprofv3. */
static const char head[] = "{\"rocprofiler-sdk-tool\":[{";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    fuzz_sum sum;
    if (!size)
        return 0;
    if (fd < 0)
        fd = fuzz_file();
    const size_t n = data[0] & 1 ? 0 : sizeof head - 1;
    rocl_piece_bytes = data[0] & 2 ? 16384 : 4 * (1 + (size_t)data[0]);
    if (ftruncate(fd, 0) || pwrite(fd, head, n, 0) != (ssize_t)n ||
        pwrite(fd, data + 1, size - 1, (off_t)n) != (ssize_t)(size - 1))
        abort();
    fuzz_read_twice(fuzz_path, &sum);
    return 0;
}
