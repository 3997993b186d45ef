/* Fuzz target: Perfetto traces, as one piece by one worker and in pieces of some bytes by two: what
 * the index knows before a piece must be what the packets before it said. The file begins with a
 * small packet, so that it is taken for a trace. */
#include "source/records/records.h"
#include "tests/fuzz/events.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t head[] = {'\n', 2, 0x78, 0}; /* a packet with field 15, which is 0 */
    static int fd = -1;
    const size_t whole = rocl_piece_bytes;
    fuzz_sum one, pieces;
    if (fd < 0)
        fd = fuzz_file();
    if (ftruncate(fd, 0) || pwrite(fd, head, sizeof head, 0) != (ssize_t)sizeof head ||
        pwrite(fd, data, size, (off_t)sizeof head) != (ssize_t)size)
        abort();
    fuzz_read(fuzz_path, 1, &one);
    rocl_piece_bytes = 40;
    fuzz_read(fuzz_path, 2, &pieces);
    rocl_piece_bytes = whole;
    if (one.events != pieces.events || one.bits != pieces.bits || one.faults != pieces.faults)
        abort();
    return 0;
}
