/* Fuzz target: CSV files of rocprof, with one worker and with two, which must say the same. The
 * first byte of the input chooses the header that is put before the rest, and how small pieces are.
 */
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
    if (!size)
        return 0;
    rocl_piece_bytes = data[0] & 8 ? 4096 : 16 + (data[0] >> 4) * 8u;
    rtg_sizes_used.block = data[0] & 16 ? 4096 : 40;
    rtg_sizes_used.batch_max = 4;
    fuzz_read_after(headers[data[0] & 7], data + 1, size - 1);
    return 0;
}
