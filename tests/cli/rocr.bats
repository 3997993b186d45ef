#!/usr/bin/env bats
# HSA and HIP: the real runtimes, on a stand-in for the driver (tests/rocr), load our tools. What is
# recorded is what the program did, and the program does not notice.
# shellcheck disable=SC2154,SC2030,SC2031 # bats sets status, output, stderr and runs tests in subshells

load helper

ROCR=$BUILD/tests/rocr
LIBRARIES=$BUILD/lib/rocline
HSA=$LIBRARIES/librocline-hsa.so
HIP=$LIBRARIES/librocline-hip.so

requires() {
    needs "$ROCR/libhsakmt.so.1" "$ROCR/hsa_calls" "$HSA"
    unset LD_PRELOAD ROCLINE_OUTPUT ROCLINE_POLICY ROCLINE_LIMIT
    unset "${!RTG_@}" "${!HCC_@}" KMT_GPU
    ldd "$ROCR/hsa_calls" | grep -q libhsakmt || skip "the driver's library is built into the runtime"
    export LD_LIBRARY_PATH=$ROCR HSA_ENABLE_SDMA=0
}

# Runs a program with the tools; the text goes to t.PID.
with_text() { # STATUS VARIABLE=VALUE... PROGRAM ARGUMENT...
    local code=$1
    shift
    try "$code" timeout 60 env HSA_TOOLS_LIB="$HSA" RTG_FILENAME=t "$@"
    silent
}

with_chunks() { # STATUS VARIABLE=VALUE... PROGRAM ARGUMENT...
    local code=$1
    shift
    mkdir chunks
    try "$code" timeout 60 env HSA_TOOLS_LIB="$HSA" ROCLINE_OUTPUT="$PWD/chunks" "$@"
    silent
}

# A runtime that is none. One kernel cannot be watched.
with_mock() { # VARIABLE=VALUE...
    try 0 timeout 60 env "$@" "$ROCR/hsa_mock" "$HSA"
    one_line rocline
    says '1 dispatches or copies could not be watched: no memory, signal or handler'
}

lines() { # COUNT REGEX
    local n
    n=$(cat t.* | grep -cE "$2" || true)
    [ "$n" -eq "$1" ] || fail "$n lines, not $1, are like $2: $(cat t.*)"
}

# Every line is one that rtg2json knows.
understood() {
    try 0 rtg2json -o t.json t.*
    jq -e '.traceEvents | length' t.json >/dev/null
    ! grep -E 'skipped: [1-9]|missed [a-z]*: [1-9]' <<<"$output" || fail "lines are not understood"
}

rows() { # KIND
    rocpd2csv -o - --kinds "$1" chunks 2>/dev/null | tail -n +2
}

count() { # COUNT KIND [TEXT]
    local n
    n=$(rows "$2" | grep -c "${3:-}" || true)
    [ "$n" -eq "$1" ] || fail "$n rows of $2, not $1, have ${3:-anything}"
}

# ---- GPUs that are recorded and sampled -------------------------------------------------------------

@test "samples of a card are of the GPU that the runtime has at this node of the driver" {
    local card=sys/class/drm/card0/device nodes=sys/class/kfd/kfd/topology/nodes
    mkdir -p $card/drm/renderD128 $card/hwmon/hwmon0 $nodes/0 $nodes/1
    echo 0x1002 >$card/vendor
    echo 250000000 >$card/hwmon/hwmon0/power1_average
    echo 'drm_render_minor 0' >$nodes/0/properties
    echo 'drm_render_minor 128' >$nodes/1/properties
    # shellcheck disable=SC2016 # the inner shell's
    try 0 timeout 60 env KMT_GPU=1 rocrec -q --sample=200 --sample-sysfs sys -o t.rocl -- \
        sh -c '"$1" >out; sleep 0.1; "$1" >out; sleep 0.1' sh "$ROCR/hsa_queue"
    [ -z "$stderr" ] || fail "nothing should be said"
    # One GPU, which has kernels and power: 250 W as long as they ran.
    [ "$(rocstats overlap --table all --format csv t.rocl | grep -c '^overlap,"GPU')" = 1 ]
    rocstats --table sample_tracks,sample_timeline,energy,kernel_energy --format csv t.rocl | awk -F, '
        $1 == "energy" && $2 ~ /GPU/ { gpus++; all = $8 }
        $1 == "kernel_energy" && $4 > 0 { sum += $5; ns += $4 * $12 / 100 }
        END { d = sum - ns * 250e-9; exit !(gpus == 1 && sum > 0 && d * d < 1e-12 && all - sum < 1e-9) }' ||
        fail "$(rocstats --table sample_tracks,sample_timeline,energy,kernel_energy t.rocl)"
}

# ---- the program does not notice -------------------------------------------------------------------

@test "exit codes are those without tools: shut down, twice, exit, fork" {
    local mode
    for mode in '' again exit fork; do
        rm -f t.*
        with_text "$([ "$mode" = exit ] && echo 3 || echo 0)" RTG_HSA_API_FILTER=all \
            "$ROCR/hsa_calls" $mode
        cat t.* | grep -q . || fail "no text"
    done
}

@test "a folder that is missing or cannot be written: one line, and the program runs" {
    local out
    mkdir closed
    chmod 500 closed
    for out in missing closed; do
        [ "$out" = missing ] || [ "$(id -u)" -ne 0 ] || continue
        try 0 env HSA_TOOLS_LIB="$HSA" ROCLINE_OUTPUT="$PWD/$out" "$ROCR/hsa_calls"
        one_line rocline
    done
    try 0 env HSA_TOOLS_LIB="$HSA" RTG_FILENAME=missing/t "$ROCR/hsa_calls"
    one_line rocline
    try 0 env LD_PRELOAD="$HIP" RTG_FILENAME=missing/t "$ROCR/hip_calls"
    one_line rocline
}

@test "a disk that is full: one line, and the program runs" {
    [ -w /dev/full ] || skip "no /dev/full"
    # The name of the file ends with the number of the process, which the shell keeps by exec.
    # shellcheck disable=SC2016
    try 0 sh -c 'ln -s /dev/full t.$$ && exec "$@"' sh env HSA_TOOLS_LIB="$HSA" RTG_FILENAME=t \
        RTG_HSA_API_FILTER=all "$ROCR/hsa_calls"
    one_line rocline
}

@test "nothing is in the way when nothing is asked for" {
    with_text 0 RTG_PROFILE=0 RTG_PROFILE_COPY=0 "$ROCR/hsa_calls"
    ! ls t.* 2>/dev/null || fail "a file without lines"
}

# ---- calls of HSA ----------------------------------------------------------------------------------

@test "calls of HSA, as strace would have them: names, arguments, results" {
    with_text 0 RTG_HSA_API_FILTER=all RTG_PROFILE_COPY=0 "$ROCR/hsa_calls"
    lines 1 'hsa_iterate_agents \(0x[0-9a-f]+, 0x[0-9a-f]+\) ret=0 @[0-9]+ \+[0-9]+$'
    lines 2 'hsa_amd_memory_pool_allocate \(amd_memory_pool_[0-9]+, 4096, 0, 0x[0-9a-f]+\) ret=0 '
    lines 1 'hsa_signal_create \(1, 0, 0, 0x[0-9a-f]+\) ret=0 '
    lines 1 'hsa_amd_memory_async_copy \(0x[^,]*, agent_[0-9]+, 0x[^,]*, agent_[0-9]+, 4096, 0, 0, signal_[0-9]+\) ret=0 '
    lines 1 'hsa_signal_destroy \(signal_0\) ret=4097 '
    lines 1 'hsa_shut_down \(\) ret=0 '
    lines 0 ' copy agent'
    understood
}

@test "filters: none, core, ext, parts of names, and what is left out of them" {
    local filter
    with_text 0 RTG_HSA_API_FILTER= "$ROCR/hsa_calls"
    lines 0 ' ret='
    for filter in core ext signal,pool '*'; do
        rm -f t.*
        with_text 0 RTG_HSA_API_FILTER="$filter" RTG_HSA_API_FILTER_OUT=destroy "$ROCR/hsa_calls"
        lines 0 destroy
        case $filter in
        core) lines 0 hsa_amd_; lines 1 hsa_signal_create ;;
        ext) lines 0 hsa_signal; lines 2 pool_allocate ;;
        signal,pool) lines 1 hsa_signal_create; lines 2 pool_allocate; lines 0 shut_down ;;
        *) lines 1 hsa_shut_down; lines 2 pool_allocate ;;
        esac
    done
    rm -f t.*
    with_text 0 RTG_HSA_API_FILTER_OUT=signal "$ROCR/hsa_calls"
    lines 1 hsa_shut_down
    lines 0 hsa_signal
}

@test "chunks hold the calls and their arguments" {
    with_chunks 0 RTG_HSA_API_FILTER=all "$ROCR/hsa_calls"
    count 1 hsa '"hsa_signal_create"'
    count 2 hsa '"HSA_AMD_EXT_API","hsa_amd_memory_pool_allocate"'
    count 1 memory_copy MEMORY_COPY_HOST_TO_HOST
    ! ls rtg* 2>/dev/null || fail "text that nobody asked for"
}

@test "memory: what is allocated and freed, where, and by which call" {
    with_chunks 0 RTG_HSA_API_FILTER=all "$ROCR/hsa_calls"
    count 4 memory_allocation MEMORY_ALLOCATION_ALLOCATE
    count 3 memory_allocation MEMORY_ALLOCATION_FREE
    [ "$(rows memory_allocation | awk -F, '/ALLOCATE/ { print $4 $5 }' | paste -s -d' ')" = \
        '"Agent 0"4096 "Agent 0"4096 "Agent 0"8192 "Agent 0"12288' ] || fail "$(rows memory_allocation)"
    [ "$(rows memory_allocation | cut -d, -f 7 | sort)" = \
        "$(rows hsa | awk -F, '/(allocate|free)"/ && $6 { print $6 }' | sort)" ] || fail "$(rows hsa)"
    rocstats memory --format json chunks |
        jq -e '[.tables[] | select(.key == "memory") | .rows[]] | length == 1 and
            (.[0] | .allocations == 4 and .frees == 3 and .leaks == 1 and .leaked_bytes == 12288 and
                .unpaired_frees == 0)' >/dev/null ||
        fail "$(rocstats memory --format json chunks)"
    rm -r chunks
    needs "$HIP"
    with_chunks 0 KMT_GPU=1 LD_PRELOAD="$HIP" "$ROCR/hip_calls"
    call=$(rows hip | sed -n 's/.*"hipMalloc",[0-9]*,[0-9]*,\([0-9]*\),.*/\1/p')
    count 1 memory_allocation "\"Agent 1\",4096,.*,$call,"
}

@test "a child has a file of its own" {
    with_chunks 0 RTG_FILENAME=t RTG_HSA_API_FILTER=all "$ROCR/hsa_calls" fork
    set -- t.*
    [ $# -eq 1 ] || fail "the child wrote text, but called nothing"
}

# ---- packets ---------------------------------------------------------------------------------------

@test "kernels and barriers in order, with their own times, on the host and on the GPU" {
    with_text 0 KMT_GPU=1 RTG_HSA_HOST_DISPATCH=1 "$ROCR/hsa_queue" run 50
    lines 100 'dispatch .* start:'
    lines 100 'dispatch .* tick:.*workgroup:\{64,1,1\} grid:\{4096,1,1\}$'
    lines 50 'barrier .* start:'
    lines 50 'barrier .* dep1:[1-9].* tick:'
    understood
    # Ids count up without a gap; what is done is done in order and takes time.
    sed -n 's/.* start:\([0-9]*\) stop:\([0-9]*\).* id:\([0-9]*\)$/\3 \1 \2/p' t.* | sort -n |
        awk '$1 != n++ || $2 < last || $3 < $2 { exit 1 } { last = $3 } END { exit n != 150 }' ||
        fail "$(cat t.*)"
}

@test "four threads and one, each with a queue: nothing is lost, and no id is given twice" {
    with_chunks 0 KMT_GPU=1 RTG_FILENAME=t "$ROCR/hsa_queue" threads 50
    count 500 kernel
    lines 500 'dispatch .* start:'
    sed -n 's/.* id:\([0-9]*\)$/\1/p' t.* | sort -n | uniq -d | grep . && fail "ids that are not unique"
    [ "$(sed -n 's/.* id:\([0-9]*\)$/\1/p' t.* | sort -n | tail -n 1)" -eq 749 ] || fail "the last id"
    [ "$(rows kernel | cut -d, -f 4 | sort -u | wc -l)" -eq 5 ] || fail "not five queues"
}

@test "packets in chunks: sizes, the agent, the queue, the thread" {
    with_chunks 0 KMT_GPU=1 "$ROCR/hsa_queue" run 20
    count 40 kernel
    rocpd2csv -d csv --kinds kernel --style rocpd-1.0 chunks
    csv=$(tail -n 1 csv/*kernel_trace.csv)
    # The thread has no chunk of its own: it recorded nothing but work.
    [[ $csv =~ '"Agent 1",1,,'[1-9][0-9]*,.*',32,16,'.*',64,1,1,4096,1,1'$ ]] || fail "$csv"
}

@test "exit without an end, or by SIGKILL, keeps what was done before" {
    with_chunks 3 KMT_GPU=1 RTG_FILENAME=t "$ROCR/hsa_queue" exit 20
    count 40 kernel
    lines 40 'dispatch .* start:'
    rm -r chunks t.*
    mkdir chunks
    run env HSA_TOOLS_LIB="$HSA" ROCLINE_OUTPUT="$PWD/chunks" KMT_GPU=1 "$ROCR/hsa_queue" crash 20
    [ "$status" -eq 137 ] || fail "killed"
    # The last one may be on its way to the file.
    [ "$(rows kernel | wc -l)" -ge 39 ] || fail "$(rows kernel | wc -l) of 40"
}

@test "a pause: work that was submitted before it is recorded, work that was submitted in it is not" {
    try 0 env KMT_GPU=1 KMT_KERNEL_US=20000 rocrec -q -o chunks -- "$ROCR/hsa_queue" pause 4
    count $((2 * 4 + 4)) kernel
    # Text of rtg_tracer knows no pauses.
    try 0 env KMT_GPU=1 RTG_FILENAME=t rocrec -q -o chunks -- "$ROCR/hsa_queue" pause 4
    lines $((2 * 4 + 5)) 'dispatch .* start:'
}

@test "a child has none of the work of its parent, and does not wait for it" {
    with_chunks 0 KMT_GPU=1 KMT_KERNEL_US=500000 "$ROCR/hsa_queue" fork 1
    count 3 kernel
}

@test "a process ends when it exits, or behind its last event, also if that is of the GPU" {
    local mode
    for mode in run crash; do
        rm -rf chunks
        mkdir chunks
        env HSA_TOOLS_LIB="$HSA" ROCLINE_OUTPUT="$PWD/chunks" KMT_GPU=1 "$ROCR/hsa_queue" $mode 50 || true
        rocstats doctor --format json chunks >t.json
        jq -e '[.. | strings | select(. == "after-end")] == []' t.json || fail "$mode: $(cat t.json)"
        rocmerge -q --no-sync -o t.db chunks
        [ "$(sqlite3 t.db 'SELECT (SELECT max(end) FROM kernels) <= end FROM rocpd_info_process')" -eq 1 ] ||
            fail "$mode: $(rocline info chunks)"
        rm t.db
    done
}

@test "work that is not done when the program exits is said, and counted as dropped" {
    try 3 env KMT_GPU=1 KMT_KERNEL_US=600000 rocrec -o chunks -- "$ROCR/hsa_queue" undone 1
    says 'rocline: 1 dispatches or copies were not done at the end'
    [[ $stderr =~ :\ ([0-9]+)\ events.*,\ 1\ dropped ]] || fail "not dropped"
    [ "${BASH_REMATCH[1]}" -eq 3 ] || fail "${BASH_REMATCH[1]} events"
    run rocpd2csv -o - --kinds kernel chunks
    [ "$status" -eq 1 ] || fail "status"
}

@test "the program finds the times of its copies on its own signals, if it wants them" {
    try 0 env KMT_GPU=1 "$ROCR/hsa_queue" copies 1
    with_chunks 0 KMT_GPU=1 "$ROCR/hsa_queue" copies 1
    count 2 memory_copy MEMORY_COPY_HOST_TO_DEVICE
}

@test "RTG_PROFILE=0 leaves queues alone" {
    with_text 0 KMT_GPU=1 RTG_PROFILE=0 RTG_HSA_HOST_DISPATCH=1 "$ROCR/hsa_queue"
    ! ls t.* 2>/dev/null || fail "a file without lines"
}

@test "HCC_PROFILE: profile lines only, which rpt reads" {
    with_text 0 KMT_GPU=1 HCC_PROFILE=2 RTG_HSA_API_FILTER=all "$ROCR/hsa_queue" run 5
    lines 15 '^profile: '
    lines 0 'SA: '
    lines 10 '^profile:  kernel;	 {33}unknown;	 *[0-9]+\.[0-9] us;	[0-9]+;	[0-9]+;	#0\.0\.[0-9]+;$'
    try 0 rpt t.*
    [[ $output == *'Resource=GPU0'* ]] || fail "rpt"
    rm t.*
    with_text 0 HCC_PROFILE=2 "$ROCR/hsa_calls"
    lines 1 '^profile:    copy;	 {30}HostToHost;.*	#0\.0\.0;	4096 bytes;	0.00390625 MB;	.* GB/s;$'
}

@test "times in ticks, names, order, failures and other tables, with a runtime that is none" {
    # What takes names of C++ apart is in every process that has the real runtime.
    with_mock RTG_FILENAME=t LD_PRELOAD=libstdc++.so.6
    lines 1 "name:'vecAdd\\(double const\\*, double const\\*, double\\*, int\\)' start:10000 stop:70000 id:0$"
    lines 1 "name:'gemm' start:50000 stop:60000 id:1$"
    lines 1 ' barrier .* start:100010 stop:100020 dep1:'
    lines 68 'dispatch .* start:100[0-9]{3} stop:.* id:'
    lines 1 'copy agent:2 .* start:200000 stop:201000 dep1:0'
    understood
    rm t.*
    with_mock RTG_FILENAME=t HCC_PROFILE=2
    lines 1 '^profile:  kernel;	 {19}_Z6vecAddPKdS0_Pdi.kd;	  60.0 us;	10000;	70000;	#0.0.0;$'
    lines 1 '^profile: barrier;	 {40};	   0.0 us;	100010;	100020;	#0.0.3;$'
    lines 1 '^profile:    copy;	 {28}HostToDevice;	   1.0 us;	200000;	201000;	#0.1.0;	3145728 bytes;	3 MB;	3000 GB/s;$'
}

@test "times in ticks, in chunks" {
    mkdir chunks
    with_mock ROCLINE_OUTPUT="$PWD/chunks"
    run rocrec -q --dump chunks
    [[ $output == *'dropped 1'$'\n'* ]] || fail "the kernel that could not be watched is not counted"
    count 70 kernel
    count 1 kernel '"gemm"'
    count 1 memory_copy MEMORY_COPY_HOST_TO_DEVICE
    # Registers are not known: 0.
    rows kernel | grep -q '"gemm",.*,0,0,0,256,' || fail "$(rows kernel | grep gemm)"
    try 1 rocpd2csv -d csv --kinds kernel --duration chunks
    grep '"gemm' csv/*kernel* | grep -q ',10000,\|,10000$' || fail "$(grep '"gemm' csv/*kernel*)"
}

# ---- HIP -------------------------------------------------------------------------------------------

@test "calls of HIP, with and without arguments" {
    needs "$HIP"
    with_text 0 LD_PRELOAD="$HIP" "$ROCR/hip_calls"
    lines 1 '^HIP: pid:[0-9]+ tid:[0-9]+ hipInit ret=0 @[0-9]+ \+[0-9]+$'
    lines 1 ' hipGetDeviceCount ret=100 '
    rm t.*
    with_text 0 LD_PRELOAD="$HIP" RTG_HIP_API_ARGS=1 "$ROCR/hip_calls"
    lines 1 ' hipInit\(flags=0\) ret=0 '
    lines 1 ' hipGetErrorName\(hip_error=100\) ret=0 '
    rm t.*
    with_text 0 LD_PRELOAD="$HIP" RTG_HIP_API_FILTER=Get RTG_HIP_API_FILTER_OUT=Count "$ROCR/hip_calls"
    lines 0 'hipInit|Count'
    lines 1 hipGetErrorName
}

@test "HIP on a GPU: calls, what they set, kernels and copies of the runtime" {
    needs "$HIP"
    with_text 0 KMT_GPU=1 LD_PRELOAD="$HIP" RTG_HIP_API_ARGS=1 "$ROCR/hip_calls"
    lines 1 ' hipMalloc\(ptr=0x[0-9a-f]+, size=4096\) ret=0 '
    lines 1 ' hipEventElapsedTime\(ms=[0-9.e-]+, start=0x'
    lines 1 ' hipMemcpyAsync\(dst=0x[0-9a-f]+, src=0x[0-9a-f]+, sizeBytes=4096, kind=1, stream=0x'
    lines 1 "dispatch .* name:'__amd_rocclr_fillBufferAligned' start:"
    lines 1 ' copy agent:'
    understood
}

@test "GPU work has the call of HIP that caused it" {
    needs "$HIP"
    with_chunks 0 KMT_GPU=1 LD_PRELOAD="$HIP" RTG_HIP_API_ARGS=1 "$ROCR/hip_calls"
    count 1 hip '"HIP_RUNTIME_API_EXT","hipMalloc"'
    count 1 kernel '"__amd_rocclr_fillBufferAligned"'
    count 1 memory_copy MEMORY_COPY_DEVICE_TO_HOST
    kernel=$(rows kernel | sed 's/.*"__amd_rocclr_fillBufferAligned",\([0-9]*\),.*/\1/')
    [ "$kernel" -gt 0 ] || fail "no correlation"
    rows hip | grep "\"hipMemsetAsync\",[0-9]*,[0-9]*,$kernel," || fail "not $kernel: $(rows hip)"
}

@test "launches: of a module, by the call of C++, by a pointer, each with its kernel and its work" {
    needs "$HIP"
    run env KMT_GPU=1 timeout 120 "$ROCR/hip_launch" 0
    [ "$status" -ne 77 ] || skip "HIP compiles no kernels here"
    with_text 0 KMT_GPU=1 LD_PRELOAD="$HIP" "$ROCR/hip_launch" 5
    lines 5 ' hipModuleLaunchKernel \[_Z5scalePdd\] ret=0 '
    lines 1 ' hipExtModuleLaunchKernel \[_Z5scalePdd\] ret=0 '
    lines 1 ' hipLaunchKernel \[_Z5scalePdd\] ret=0 '
    lines 7 "dispatch .* name:'scale\\(double\\*, double\\)' start:"
    understood
    with_chunks 0 KMT_GPU=1 LD_PRELOAD="$HIP" "$ROCR/hip_launch" 5
    count 7 kernel '"scale(double\*, double)"'
    # Each was caused by one launch, and by another one.
    rows kernel | sed 's/.*double)",\([0-9]*\),.*/\1/' | sort -u >caused
    rows hip | sed -n 's/.*LaunchKernel",[0-9]*,[0-9]*,\([0-9]*\),.*/\1/p' | sort -u >causes
    [ "$(wc -l <caused)" -eq 7 ] && cmp caused causes || fail "$(cat caused) $(cat causes)"
}

@test "with calls of HSA traced as well, GPU work is tied to the call of HIP" {
    needs "$HIP"
    with_chunks 0 KMT_GPU=1 LD_PRELOAD="$HIP" RTG_HSA_API_FILTER=all "$ROCR/hip_calls"
    count 1 hsa '"hsa_amd_memory_async_copy"'
    rows hip | sed -n 's/.*"\(hipMem[a-z]*Async\|hipMemcpy\)",[0-9]*,[0-9]*,\([0-9]*\),.*/\1 \2/p' >calls
    kernel=$(rows kernel | sed 's/.*"__amd_rocclr_fillBufferAligned",\([0-9]*\),.*/\1/')
    grep -qx "hipMemsetAsync $kernel" calls || fail "kernel $kernel: $(cat calls)"
    copy=$(rows memory_copy | cut -d, -f 7)
    grep -qx "hipMemcpy $copy" calls || fail "copy $copy: $(cat calls)"
    # Nothing of HSA has a number of its own.
    rows hsa | awk -F, '$6 != 0' | grep . && fail "the work is of two calls"
    rocstats launch chunks >launch
    grep -q '__amd_rocclr_fillBufferAligned .*hipMemsetAsync' launch || fail "$(cat launch)"
}

@test "arguments in chunks: numbers, addresses, what calls set, sizes, texts, handles" {
    needs "$HIP"
    with_chunks 0 KMT_GPU=1 LD_PRELOAD="$HIP" RTG_HIP_API_ARGS=1 RTG_HSA_API_FILTER=all \
        "$ROCR/hip_calls"
    try 0 rtg2json --args -o t.json chunks
    has() { # CALL FILTER
        jq -e --arg call "$1" '[.traceEvents[] | select(.name == $call and .ph == "X") | .args |
            select('"$2"')] | length > 0' t.json >/dev/null ||
            fail "$1: $(jq -c --arg call "$1" '.traceEvents[] | select(.name == $call) | .args' t.json)"
    }
    has hipMalloc '(.ptr | test("^0x7[0-9a-f]+$")) and .size == "4096" and .return == "0"'
    has hipEventElapsedTime '(.ms | test("^[0-9.e-]+$")) and (.start | test("^0x[0-9a-f]+$"))'
    has hipGetDeviceCount '.count == "1"'
    has hipMemcpyAsync '.kind == "1" and .sizeBytes == "4096" and (.stream | test("^0x"))'
    has hsa_amd_memory_async_copy '.src_agent | test("^agent_[0-9]+$")'
    has hsa_signal_create '.initial_value == "1" and .num_consumers == "0"'
    has hsa_executable_get_symbol_by_name '.symbol_name | test("rocclr")'
}

@test "streams: of the call, the default one, of a thread, a handle that is used again" {
    needs "$HIP"
    try 0 env KMT_GPU=1 rocrec -q -o chunks -- "$ROCR/hip_streams"
    silent
    # Stream:kernels. The second stream of a handle is another one.
    [ "$(rows kernel | sed 's/.*",[0-9]*,\([0-9]*\),[0-9]*,[0-9]*,[0-9]*,"__amd.*/\1/' | sort | uniq -c |
        awk '{ print $2 ":" $1 }' | xargs)" = "0:2 1:2 2:3 3:4 4:5" ] || fail "$(rows kernel)"
    rows memory_copy | cut -d, -f 4 | grep -qx 0 || fail "$(rows memory_copy)"
    # Calls of HIP that are not traced say nothing, also where their handle is used again.
    mkdir raw
    KMT_GPU=1 HSA_TOOLS_LIB=$HSA LD_PRELOAD=$HIP ROCLINE_OUTPUT=$PWD/raw RTG_HIP_API_FILTER=Memset \
        "$ROCR/hip_streams"
    [ "$(rocrec --dump raw | sed -n 's/^  stream [0-9]* \([0-9]*\) .*/\1/p' | sort -u | xargs)" = "0 1 2 3 4" ] ||
        fail "$(rocrec --dump raw | grep '^  stream')"
    # Without HIP nothing is known of streams.
    rm -r raw
    mkdir raw
    KMT_GPU=1 HSA_TOOLS_LIB=$HSA ROCLINE_OUTPUT=$PWD/raw "$ROCR/hip_streams"
    rocpd2csv -q -o - --kinds memory_copy raw | tail -n 1 | cut -d, -f 4 | grep -qx '' ||
        fail "a stream that nobody knows"
}

@test "names of streams, devices and agents are in all outputs" {
    needs "$HIP"
    local host='Agent 0 (the host)' gpu='Agent 1 (train, "er")'
    try 0 env KMT_GPU=1 rocrec -q -o chunks -- "$ROCR/hip_streams"
    rows memory_copy | grep -q '"Agent 1 (train, ""er"")","Agent 0 (the host)"' || fail "csv"
    rocstats streams --table all --format csv chunks | grep -q 'compute ""1""' || fail "rocstats"
    rocstats copies --format json chunks | jq -e --arg gpu "$gpu" '[.. | strings | select(contains($gpu))] |
        length > 0' >/dev/null || fail "rocstats of agents"
    rtg2json --layout trace -f -o t.json chunks
    for name in 'compute "1"' late 'GPU 0 train, "er"'; do
        jq -e --arg name "$name" '[.traceEvents[] | select(.ph == "M") | .args.name // "" |
            select(contains($name))] | length > 0' t.json >/dev/null || fail "$name is not in the JSON"
    done
    rocpd2pftrace -q -z 0 -o t.pftrace chunks
    for name in 'compute "1"' late 'train, "er"'; do
        grep -qaF "$name" t.pftrace || fail "$name is not in the trace"
    done
    # --agent takes the old name and the new one.
    for name in 'Agent 0' 'the host' "$host"; do
        try 0 rocpd2csv -q -o - --kinds memory_copy --agent "$name" chunks
    done
    # A device is one of a list, where the program was given one.
    try 0 env KMT_GPU=1 HIP_VISIBLE_DEVICES=0 rocrec -q -o list.rocl -- "$ROCR/hip_streams"
    rocrec --dump list.rocl | grep -q '^  label 2 0 "train' || fail "device 0 of a list of one"
}

@test "what the library exports is what it can hand on, with the names of the library" {
    needs "$HIP" nm
    nm -D --defined-only "$HIP" | awk '{ sub(/@.*/, "", $3); print $3 }' | sort >ours
    ldd "$ROCR/hip_calls" | awk '/libamdhip64/ { print $3 }' >library
    nm -D --defined-only "$(cat library)" | awk '{ sub(/@.*/, "", $3); print $3 }' | sort -u >theirs
    [ "$(wc -l <ours)" -gt 300 ] || fail "$(wc -l <ours) functions"
    [ -z "$(comm -23 ours theirs)" ] || fail "not in the library: $(comm -23 ours theirs)"
}

@test "rocrec uses both" {
    needs "$HIP"
    try 0 env KMT_GPU=1 rocrec -q -o chunks -- "$ROCR/hip_calls"
    count 1 hip '"hipMalloc"'
    count 1 kernel
}

@test "rocrec: --hsa-calls and --args" {
    rocrec_rows() { # KIND OPTION...
        local kind=$1
        shift
        try 0 timeout 60 rocrec -q -o t.rocl "$@" -- "$ROCR/hsa_calls" basic
        rocpd2csv -o - --kinds "$kind" t.rocl 2>/dev/null | tail -n +2 | wc -l
    }
    [ "$(rocrec_rows hsa_api)" -eq 0 ]
    [ "$(rocrec_rows hsa_api --hsa-calls)" -gt 20 ]
    local some
    some=$(rocrec_rows hsa_api --hsa-calls=hsa_agent_get_info,hsa_memory)
    [ "$some" -gt 0 ]
    [ "$some" -lt "$(rocrec_rows hsa_api --hsa-calls=core)" ]
    needs "$ROCR/hip_calls" "$HIP"
    for with in "" --args; do
        # shellcheck disable=SC2086
        try 0 timeout 60 env KMT_GPU=1 rocrec -q -o t.json $with -- "$ROCR/hip_calls"
        n=$(jq '[.traceEvents[] | select(.name == "hipMalloc" and (.args | tostring | contains("4096")))] | length' t.json)
        [ "${with:+1}" = "$([ "$n" -gt 0 ] && echo 1)" ] || fail "$with: $n calls have arguments"
    done
}
