/* Fuzz target: CSV files of rocprof, with one worker and with two, which must say the same. The
 * first byte of the input chooses the header that is put before the rest, and how small pieces are.
 */
#include <stdlib.h>
#include <unistd.h>

#include "source/records/records.h"
#include "source/rtg/rtg.h"
#include "tests/fuzz/events.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const headers[] = {
    "", /* the input has its own */
    "Kind,Agent_Id,Queue_Id,Thread_Id,Dispatch_Id,Kernel_Name,Start_Timestamp,End_Timestamp\n",
    "Domain,Function,Process_Id,Thread_Id,Correlation_Id,Start_Timestamp,End_Timestamp\n",
    "Dispatch_Id,Process_Id,Kernel_Name,Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp\n",
    "Guid,Kind,Operation,Agent_Id,Allocation_Size,Address,Start_Timestamp,End_Timestamp\n",
    "Index,KernelName,gpu-id,pid,SQ_WAVES,BeginNs,EndNs\n",
    "Domain,ROCTX_ID,Message,Timestamp\n",
    "Kind,Direction,Source_Agent_Id,Destination_Agent_Id,Start_Timestamp,End_Timestamp\n",
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    fuzz_sum sum;
    if (!size)
        return 0;
    if (fd < 0)
        fd = fuzz_file();
    const char *header = headers[data[0] & 7];
    const size_t n = strlen(header);
    rocl_piece_bytes = data[0] & 8 ? 4096 : 16 + (data[0] >> 4) * 8u;
    rtg_sizes_used.block = data[0] & 16 ? 4096 : 40;
    rtg_sizes_used.batch_max = 4;
    if (ftruncate(fd, 0) || pwrite(fd, header, n, 0) != (ssize_t)n ||
        pwrite(fd, data + 1, size - 1, (off_t)n) != (ssize_t)(size - 1))
        abort();
    fuzz_read_twice(fuzz_path, &sum);
    return 0;
}
