# One made-up run in the formats of the older profilers, for benchmarks: hip-csv and kernel-csv of
# rocprofv3; hip-txt, hsa-txt, ops-txt, roctx-txt, results-txt and json of rocprof; the rows of the
# tables HIP, OPS and KERN of its results.db as hip-table, ops-table, kern-table, separated by "|";
# kineto, a trace of PyTorch.
# Usage: awk -v format=FORMAT -v rows=ROWS -f profilers.awk
function call(i) { return i % 5 == 0 ? "hipLaunchKernel" : i % 5 == 1 ? "hipMemcpyAsync" : i % 5 == 2 ? "hipStreamSynchronize" : i % 5 == 3 ? "hipGetDevice" : "hipPointerGetAttributes" }
function hsa(i) { return i % 3 == 0 ? "hsa_signal_store_screlease" : i % 3 == 1 ? "hsa_queue_load_read_index_relaxed" : "hsa_amd_agents_allow_access" }
function kernel(i) { i = i * 7 % 60; return i % 3 ? "void scale_rows<float, " i ">(float*, float const*, int)" : i % 2 ? "reduce_" i "(float*, double*, int)" : "Cijk_Ailk_Bljk_SB_MT64x64x16_MI16x16x4x1_SN_1LDSB0_K" i }
function op(i) { return i % 5 == 1 ? "CopyHostToDevice" : kernel(i) }
function lane(i) { return 4242 + i % 4 }

function chrome(i, b) {
    if (i % 2 == 0)
        printf ",\n  {\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"%s\", \"pid\": 4242, \"tid\": %d,\n    \"ts\": %.3f, \"dur\": %.3f,\n    \"args\": {\n      \"External id\": %d,\"cbid\": %d, \"correlation\": %d\n    }\n  }", call(0), lane(i), b / 1000, (900 + i % 97) / 1000, i, i % 300, i / 2
    else
        printf ",\n  {\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"%s\", \"pid\": %d, \"tid\": %d,\n    \"ts\": %.3f, \"dur\": %.3f,\n    \"args\": {\n      \"External id\": %d, \"device\": %d, \"context\": 0, \"stream\": %d, \"correlation\": %d, \"kind\": \"Dispatch Kernel\", \"grid\": [%d, 1, 1], \"block\": [256, 1, 1]\n    }\n  }", kernel(i), i % 8, i % 3, b / 1000, (1900 + i % 997) / 1000, i, i % 8, i % 3, (i - 1) / 2, 1 + i % 64
}

function rocprof(i, b, e) {
    if (i % 2 == 0)
        printf ",{\"ph\":\"X\",\"name\":\"%s\",\"pid\":2,\"tid\":%d,\"ts\":\"%.0f\",\"dur\":\"%d\",\n  \"args\":{\n    \"BeginNs\":\"%.0f\",\n    \"EndNs\":\"%.0f\",\n    \"pid\":\"4242\",\n    \"tid\":\"%d\",\n    \"Name\":\"%s\",\n    \"args\":\"( kernel(%s) stream(%d))\",\n    \"Data\":\"\",\n    \"DurationNs\":\"%d\"\n  }\n}\n", call(0), lane(i), int(b / 1000), (e - b) / 1000, b, e, lane(i), call(0), kernel(i + 1), 1 + i % 3, e - b
    else
        printf ",{\"ph\":\"X\",\"name\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":\"%.0f\",\"dur\":\"%d\",\n  \"args\":{\n    \"BeginNs\":\"%.0f\",\n    \"EndNs\":\"%.0f\",\n    \"dev-id\":\"%d\",\n    \"queue-id\":\"0\",\n    \"Name\":\"%s\",\n    \"pid\":\"4242\",\n    \"tid\":\"%d\",\n    \"stream-id\":\"%d\",\n    \"Data\":\"\",\n    \"DurationNs\":\"%d\"\n  }\n}\n,{\"ts\":%.0f,\"ph\":\"s\",\"cat\":\"DataFlow\",\"id\":%d,\"pid\":2,\"tid\":%d,\"name\":\"dep\"}\n,{\"ts\":%.0f,\"ph\":\"t\",\"cat\":\"DataFlow\",\"id\":%d,\"pid\":%d,\"tid\":%d,\"name\":\"dep\"}\n", kernel(i), 6 + i % 8, 1 + i % 3, int(b / 1000), (e - b) / 1000, b, e, i % 8, kernel(i), lane(i - 1), 1 + i % 3, e - b, int((b - 2200) / 1000), i, lane(i - 1), int(b / 1000), i, 6 + i % 8, 1 + i % 3
}

BEGIN {
    if (format == "hip-csv")
        print "\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\""
    if (format == "kernel-csv")
        print "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\",\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\",\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\",\"SGPR_Count\",\"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\""
    if (format == "json")
        printf "{ \"traceEvents\":[{}\n,{\"args\":{\"name\":\"CPU HIP API\"},\"ph\":\"M\",\"pid\":2,\"name\":\"process_name\",\"sort_index\":1}\n"
    if (format == "kineto")
        printf "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [],\n  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": 0,\n  \"traceEvents\": [\n  {\n    \"name\": \"process_name\", \"ph\": \"M\", \"ts\": 0, \"pid\": 4242, \"tid\": 0,\n    \"args\": {\n      \"name\": \"python3\"\n    }\n  }"
    for (i = 0; i < rows; i++) {
        b = 612345678901234 + i * 2217
        e = b + 900 + i % 997
        if (format == "hip-csv")
            printf "\"HIP_RUNTIME_API\",\"%s\",4242,%d,%d,%.0f,%.0f\n", call(i), lane(i), i + 1, b, e
        else if (format == "kernel-csv")
            printf "\"KERNEL_DISPATCH\",\"Agent %d\",%d,%d,%d,%d,%d,\"%s\",%d,%.0f,%.0f,0,0,%d,0,%d,256,1,1,%d,%d,1\n", 1 + i % 8, 1 + i % 4, i % 3, lane(i), i + 1, i * 7 % 60 + 1, kernel(i), i + 1, b, e, 8 * (1 + i % 8), 16 * (1 + i % 4), 1024 * (1 + i % 16), 1 + i % 3
        else if (format == "hip-txt")
            printf "%.0f:%.0f 4242:%d %s(stream=0x%x, size=%d, flags=0) :%d\n", b, e, lane(i), call(i), 32768 * (1 + i % 3), 4096 * (i % 64), i + 1
        else if (format == "hsa-txt")
            printf "%.0f:%.0f 4242:%d %s({handle=%d}, %d, 0x7ffd%08x) = 0 :%d\n", b, e, lane(i), hsa(i), 14000000 + i % 64, i % 32, i, i + 1
        else if (format == "ops-txt")
            printf "%.0f:%.0f %d:%d %s:%d:4242\n", b, e, i % 8, i % 2, op(i), i + 1
        else if (format == "roctx-txt" && i % 2 == 0)
            printf "%.0f 4242:%d 1:0:\"step %d\"\n", b, lane(i / 2), i % 256
        else if (format == "roctx-txt")
            printf "%.0f 4242:%d 2:0:\"\"\n", b, lane((i - 1) / 2)
        else if (format == "results-txt")
            printf "dispatch[%d], gpu-id(%d), queue-id(%d), queue-index(%d), pid(4242), tid(%d), grd(%d), wgr(256), lds(0), scr(0), arch_vgpr(%d), accum_vgpr(0), sgpr(%d), wave_size(64), sig(0x7f31%08x), obj(0x7f2a00c04e40), kernel-name(\"%s [clone .kd]\"), time(%.0f,%.0f,%.0f,%.0f)\n", i, i % 8, i % 2, i, lane(i), 1024 * (1 + i % 64), 8 * (1 + i % 8), 16 * (1 + i % 4), i * 64, kernel(i), b - 500, b, e, e + 700
        else if (format == "hip-table")
            printf "%.0f|%.0f|4242|%d|%s|( stream(1) size(%d) flags(0))|%d||2|%d|%d\n", b, e, lane(i), call(i), 4096 * (i % 64), i + 1, lane(i), e - b
        else if (format == "ops-table")
            printf "%.0f|%.0f|%d|%d|%s|4242|%d|%s|%d|%d||%d|%d|%d\n", b + 1100, e + 1100, i % 8, i % 2, op(i), lane(i), op(i), 1 + i % 3, i + 1, 6 + i % 8, 1 + i % 3, e - b
        else if (format == "kern-table")
            printf "%d|%s [clone .kd]|%d|%d|%d|4242|%d|%d|256|0|0|%d|0|%d|64|0x7f31%08x|0x7f2a00c04e40|%.0f|%.0f|%.0f|%.0f|%d\n", i, kernel(i), i % 8, i % 2, i, lane(i), 1024 * (1 + i % 64), 8 * (1 + i % 8), 16 * (1 + i % 4), i * 64, b - 500, b, e, e + 700, e - b
        else if (format == "json")
            rocprof(i, b, e)
        else if (format == "kineto")
            chrome(i, b)
    }
    if (format == "json")
        printf "],\n\"otherData\": {\n    \"CMD\": \"rocminfo\"\n  }\n}"
    if (format == "kineto")
        printf "\n  ]\n}\n"
}
