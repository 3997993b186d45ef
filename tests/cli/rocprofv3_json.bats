#!/usr/bin/env bats
# JSON of rocprofv3, of every version: what is read of it, whole or broken.
# shellcheck disable=SC2154 # bats sets status, output, stderr

load helper

VERSIONS=(6.2 6.3 6.4 7.0 7.13)

requires() {
    needs awk "$FIXTURES/rocprofv3-7.0.json"
}

# A file with as many dispatches as one likes.
make_trace() { # version, dispatches, file
    awk -v version="$1" -v rows="$2" -v symbols=8 -f "$TOP/tests/fixtures/rocprofv3_json.awk" >"$3"
}

# Rows of a table, without the first column.
rows() { # table, input, option...
    local table=$1
    shift
    rm -rf out
    rocpd2csv -q -d out -o o "$@" || [ $? -eq 1 ]
    tail -n +2 "out/o_$table.csv" | sed 's/^"\{0,1\}rocprofv3-[^,]*,//'
}

same() {
    [ "$1" == "$2" ] || fail "$1 was expected to be $2"
}

calls() { # input
    rocstats summary -q --format csv "$1" | cut -d, -f1-4 | tail -n +2
}

@test "every array of every version becomes events" {
    local common='"KERNELS","void walk<int>(int)",4,2030
"KERNELS","scale",4,2026
"KERNELS","add(float*)",4,2022
"HIP","hipLaunchKernel",12,3600
"HSA","hsa_init",1,490
"MARKERS","step ""one""
é",1,16200,16200
"MARKERS","across",1,15250' old scratch allocations rccl samples
    old='"MARKERS","roctxGetThreadId",1,10
"MARKERS","roctxProfilerPause",1,10
"MARKERS","roctxRangePushA",1,10
"MARKERS","a mark",1,0
"MEMORY_COPIES","MEMORY_COPY_DEVICE_TO_HOST",2,500
"MEMORY_COPIES","MEMORY_COPY_HOST_TO_DEVICE",1,250'
    scratch='"SCRATCH_MEMORY","SCRATCH_MEMORY_ALLOC",1,100
"SCRATCH_MEMORY","SCRATCH_MEMORY_FREE",1,1'
    allocations='"MEMORY_ALLOCATIONS","MEMORY_ALLOCATION_ALLOCATE",1,50
"MEMORY_ALLOCATIONS","MEMORY_ALLOCATION_FREE",1,50
"MEMORY_ALLOCATIONS","MEMORY_ALLOCATION_VMEM_ALLOCATE",1,50
"MEMORY_ALLOCATIONS","MEMORY_ALLOCATION_VMEM_FREE",1,50'
    rccl='"RCCL","ncclAllReduce",1,50'
    samples='"OTHER","(not decoded)",1,0
"OTHER","v_add_f32 v0, v1",1'
    same "$(calls "$FIXTURES/rocprofv3-6.2.json")" "$common
$old
$scratch"
    same "$(calls "$FIXTURES/rocprofv3-6.3.json")" "$common
$old
$allocations
$scratch
$rccl
$samples"
    same "$(calls "$FIXTURES/rocprofv3-6.4.json")" "$(calls "$FIXTURES/rocprofv3-6.3.json")"
    same "$(calls "$FIXTURES/rocprofv3-7.0.json" | sort)" "$(
        {
            calls "$FIXTURES/rocprofv3-6.4.json" | sed 's/roctxRangePushA/roctxThreadRangeA/'
            echo '"OTHER","s_endpgm",1,0'
        } | sort
    )"
    same "$(calls "$FIXTURES/rocprofv3-7.13.json" | sort)" "$(
        {
            calls "$FIXTURES/rocprofv3-7.0.json"
            echo '"OTHER","rocshmem_put",1,10
"GRAPHS","HIP_GRAPH_EXEC_LAUNCH",1,290
"OTHER","KFD_PAGE_FAULT_READ_FAULT_MIGRATED",1,20
"OTHER","KFD_PAGE_MIGRATE_PAGEFAULT_GPU",1,10
"OTHER","KFD_QUEUE",1,24
"OTHER","KFD_EVENT_DROPPED_EVENTS",1,0
"OTHER","KFD_EVENT_UNMAP_FROM_GPU",1,0'
        } | sort
    )"
}

@test "values of a counter are summed for each dispatch; before 6.3 they have no times" {
    local version
    for version in "${VERSIONS[@]}"; do
        same "$(rows counter_collection "$FIXTURES/rocprofv3-$version.json" |
            awk -F, '$2 == 3 {print $1, $2, $3, $8, $(NF - 3), $(NF - 2), $NF}')" \
            "1003 3 \"Agent 1\" 4 \"STEPS\" 23 $([ "$version" = 6.2 ] && echo 0 || echo 5000000003900)
1003 3 \"Agent 1\" 4 \"WAVES\" 12 $([ "$version" = 6.2 ] && echo 0 || echo 5000000003900)"
    done
    same "$(rows spm_counter_collection_trace "$FIXTURES/rocprofv3-7.13.json")" \
        '0,"Agent 1",4242,,"WAVES",,,,,,5,5000000001500'
    try 1 rocpd2csv -d . -o o "$FIXTURES/rocprofv3-7.13.json"
    says "the time of a counter's value is its value"
}

@test "calls and dispatches are linked by the ids of the file, calls by those around them" {
    needs sqlite3
    rocmerge -q -o t.db "$FIXTURES/rocprofv3-7.0.json"
    same "$(sqlite3 t.db 'select count(*), min(e.stack_id), max(e.stack_id), max(e.parent_stack_id),
        max(e.correlation_id) from rocpd_event e join rocpd_kernel_dispatch k on k.event_id = e.id')" \
        "12|1001|1012|1012|77"
    same "$(sqlite3 t.db "select count(*), count(distinct e.parent_stack_id), max(e.parent_stack_id)
        from rocpd_event e join rocpd_region r on r.event_id = e.id join rocpd_string s on
        s.id = r.name_id where s.string = 'hipLaunchKernel' and r.start % 4000 = 0")" "3|1|902"
    same "$(rows hip_api_trace "$FIXTURES/rocprofv3-7.0.json" | cut -d, -f5 | sort -n | sed -n '1p;$p')" \
        "1001
1012"
}

@test "agents, node, process, streams and queues are those of the file" {
    needs sqlite3
    rocmerge -q -o t.db "$FIXTURES/rocprofv3-7.0.json"
    same "$(sqlite3 t.db 'select hostname, machine_id, system_name from rocpd_info_node')" \
        "hill|feedbeef|Linux"
    same "$(sqlite3 t.db 'select pid, init, fini, command from rocpd_info_process')" \
        "4242|5000000000000|5000000112000|./walk --far 7"
    same "$(sqlite3 t.db 'select type, absolute_index, logical_index, type_index, name, vendor_name,
        product_name, model_name from rocpd_info_agent')" \
        "CPU|0|0|0|Hill CPU|CPU|Hill 0|
GPU|1|1|0|gfx942|AMD|Hill 1|hill
GPU|2|2|1|gfx942|AMD|Hill 2|hill"
    same "$(rows kernel_trace "$FIXTURES/rocprofv3-7.0.json" --agent-index-value type-relative |
        cut -d, -f2-4 | sort | uniq -c | sed 's/^ *//')" \
        '4 "GPU 0",16,0
3 "GPU 0",16,1
3 "GPU 0",16,2
1 "GPU 1",17,1
1 "GPU 1",17,2'
    rows agent_info "$FIXTURES/rocprofv3-6.2.json" | grep -q '^1,1,"GPU",0,416,'
}

@test "kernels have the sizes and names of their symbols" {
    local names
    same "$(rows kernel_trace "$FIXTURES/rocprofv3-6.4.json" | sed -n 2p)" \
        '"KERNEL_DISPATCH","Agent 1",16,,4242,2,2,"scale",1002,5000000002400,5000000002902,128,0,16,4,32,256,1,1,768,2,1'
    for names in mangled:_Z4walkIiEvT_ truncated:'void walk<int>(int)' short:walk; do
        rows kernel_trace "$FIXTURES/rocprofv3-6.4.json" --kernel-names "${names%%:*}" |
            grep -qF "\"${names#*:}\"" || fail "$names"
    done
}

@test "ranges around dispatches are their names with --kernel-rename" {
    same "$(rows kernel_trace "$FIXTURES/rocprofv3-6.3.json" --kernel-rename |
        awk -F, '{n[$8]++} END {print n["\"warm up\""]}')" 6
    same "$(rows kernel_trace "$FIXTURES/rocprofv3-6.3.json" | grep -c 'warm up')" 0
}

@test "arguments, 64-bit addresses, bytes of copies" {
    needs protoc
    rocpd2pftrace -q --args -z 0 -o t.pftrace "$FIXTURES/rocprofv3-7.0.json"
    decode t.pftrace >t.txt
    grep -qF '{z=1, x=7}' t.txt
    grep -qF 'string_value: "\"hi\""' t.txt
    grep -q 'walk.cpp:7' t.txt
    grep -q 'WAITCNT' t.txt
    rows memory_allocation_trace "$FIXTURES/rocprofv3-6.3.json" >allocations
    same "$(cut -d, -f3-5 allocations)" '"Agent 1",65536,"0x00007f0000001000"
"Agent 2",4096,"0xffffffffffff0000"
"",0,"0x00007f0000001000"
"",0,"0xffffffffffff0000"'
    same "$(rocstats copies --table all -q --format csv "$FIXTURES/rocprofv3-6.2.json" | sed -n 2,3p | cut -d, -f2-6)" \
        '"MEMORY_COPY_DEVICE_TO_HOST","GPU 0","CPU 0",2,16384
"MEMORY_COPY_HOST_TO_DEVICE","CPU 0","GPU 0",1,8192'
}

@test "what a call returned unless it is 0, and what driver, graphs and PC samples say" {
    needs sqlite3
    rocmerge -q -o t.db "$FIXTURES/rocprofv3-7.13.json" || [ $? -eq 1 ]
    args() { # kind of name
        sqlite3 -separator ' ' t.db "select s.string, a.type, a.name || '=' || a.value from rocpd_arg a
            join rocpd_region r on r.event_id = a.event_id join rocpd_string s on s.id = r.name_id
            where s.string like '$1' order by s.string, a.event_id, a.position"
    }
    same "$(args hipLaunchKernel | grep retval)" "hipLaunchKernel uint64_t retval=600"
    same "$(args KFD%)" 'KFD_PAGE_FAULT_READ_FAULT_MIGRATED  pid=77
KFD_PAGE_FAULT_READ_FAULT_MIGRATED  agent=Agent 1
KFD_PAGE_FAULT_READ_FAULT_MIGRATED  address=4096
KFD_PAGE_MIGRATE_PAGEFAULT_GPU  start_address=8192
KFD_PAGE_MIGRATE_PAGEFAULT_GPU  end_address=12288
KFD_PAGE_MIGRATE_PAGEFAULT_GPU  src_agent=Agent 0
KFD_PAGE_MIGRATE_PAGEFAULT_GPU  dst_agent=Agent 2
KFD_PAGE_MIGRATE_PAGEFAULT_GPU  error_code=0
KFD_QUEUE  agent=Agent 2'
    same "$(sqlite3 t.db 'select graph_exec_id, kernel_dispatch_count from rocpd_graph_launch')" "1|2"
}

@test "counters alone: their dispatches are made" {
    sed 's/"kernel_dispatch":\[.*\],"hip_api"/"kernel_dispatch":[],"hip_api"/' \
        "$FIXTURES/rocprofv3-7.0.json" >rocprofv3-alone.json
    same "$(calls rocprofv3-alone.json | grep KERNELS | sort)" '"KERNELS","add(float*)",2,1000
"KERNELS","scale",2,1000
"KERNELS","void walk<int>(int)",2,1000'
    same "$(rows counter_collection rocprofv3-alone.json)" "$(rows counter_collection "$FIXTURES/rocprofv3-7.0.json")"
}

@test "a kernel without a symbol is called as its host function, if there is one" {
    sed 's/"kernel_id":2,"dispatch_id":2,/"kernel_id":99,"dispatch_id":2,/g' \
        "$FIXTURES/rocprofv3-7.0.json" >host.json
    try 0 rocstats summary --format csv host.json
    [[ "$output" == *'"KERNELS","late(int)",1,'* ]]
}

@test "what others write in this form: texts for numbers, members that are missing" {
    try 1 rocstats summary --format csv "$FIXTURES/rocprofv3-other.json"
    says "a kernel without a symbol"
    same "$(cut -d, -f1-4 <<<"$output" | tail -n +2)" '"KERNELS","mix",8,4000
"KERNELS","kernel 10",4,2000
"HIP","hipMalloc",1,100
"MEMORY_COPIES","HOST_TO_DEVICE",1,100'
    echo '{"rocprofiler-sdk-tool":[{"metadata":{"pid":1}}]}' >empty.json
    try 0 rocstats summary empty.json
    echo '{"rocprofiler-sdk-tool": {"metadata": {"pid": 1}, "buffer_records": {"hip_api": [
        {"operation": "hipInit", "start_timestamp": 5, "end_timestamp": 9}]}}}' >object.json
    same "$(calls object.json)" '"HIP","hipInit",1,4'
    echo '{"rocprofiler-sdk-tool": 5}' >number.json
    try 3 rocstats summary number.json
    says "number.json: no list of processes"
}

@test "members in any order" {
    needs jq
    local version
    for version in "${VERSIONS[@]}"; do
        # jq has no number of 64 bits
        sed 's/18446744073709551615/1844/g; s/,"pc_sample_instructions":.*"walk.cpp:7"\]\(,"pc_s\)/\1/' \
            "$FIXTURES/rocprofv3-$version.json" >in.json
        jq 'walk(if type == "object" then to_entries | reverse | from_entries else . end)' \
            in.json >reversed.json
        mv reversed.json "rocprofv3-$version.json"
        cp in.json expected.json
        mkdir a b
        rocpd2csv -q -d a -o o expected.json || [ $? -eq 1 ]
        rocpd2csv -q -d b -o o "rocprofv3-$version.json" || [ $? -eq 1 ]
        for f in a/*; do
            diff <(sed 's/[^,]*,//' "$f" | sort) <(sed 's/[^,]*,//' "b/${f##*/}" | sort)
        done
        rm -r a b
    done
}

@test "values without times, as before 6.3, are of their dispatch in a database, too" {
    needs sqlite3
    rocmerge -q -o t.db "$FIXTURES/rocprofv3-6.2.json"
    same "$(sqlite3 t.db 'select count(*), min(start) > 0 from rocpd_kernel_dispatch')" "12|1"
    same "$(sqlite3 t.db 'select count(*), count(distinct k.dispatch_id) from rocpd_pmc_event v
        join rocpd_kernel_dispatch k on k.event_id = v.event_id')" "48|6"
}

@test "records that are not known are counted, once" {
    try 1 rocstats summary --format csv "$FIXTURES/rocprofv3-7.13.json"
    says "rocprofv3-7.13.json: 2 records of 'walks' are left out: not known"
    [[ "$stderr" != *hipfile* ]]
    sed 's/"walks":\[[^]]*\]/"walks":[]/; s/"timestamp":6}/"timestamp":5000000001600}/' \
        "$FIXTURES/rocprofv3-7.13.json" >t.json
    try 0 rocstats summary --format csv t.json
}

@test "a file that stops in the middle: what is complete is read, the loss is told" {
    local all n i last=0 now
    make_trace 7.0 200 whole.json
    all=$(stat -c %s whole.json)
    calls whole.json | sed 's/,[^,]*,[^,]*$//' | sort >expected
    for i in 1 2 3 4 5 6 7 8 9; do
        n=$((all * i / 10))
        head -c $n whole.json >cut.json
        try 1 rocstats summary --format csv cut.json
        says "cut.json: the file is truncated: only what is complete is read"
        calls cut.json | sed 's/,[^,]*,[^,]*$//' | sort | comm -23 - expected >extra
        [ ! -s extra ] || fail "$n bytes: $(cat extra)"
        now=$(calls cut.json | awk -F, '{n += $(NF - 1)} END {print n + 0}')
        [ "$now" -ge "$last" ] || fail "$n bytes: $now of $last"
        last=$now
    done
    [ "$last" -gt 300 ]
    try 3 rocstats summary --strict cut.json
    says "cut.json: the file is truncated"
    head -c 30 whole.json >cut.json
    try 1 rocstats summary cut.json
}

@test "records that are wrong are counted, the others are read" {
    sed '0,/"end_timestamp":5000000003903/s//"end_timestamp":"soon"/' "$FIXTURES/rocprofv3-7.0.json" >bad.json
    try 1 rocstats summary --format csv bad.json
    says "bad.json: byte "
    says "a time is not a number"
    [[ "$output" == *'"void walk<int>(int)",3,'* ]]
    sed 's/"end_timestamp":5000000003903/"end_timestamp":5/' "$FIXTURES/rocprofv3-7.0.json" >bad.json
    try 1 rocstats summary --format csv bad.json
    says "it ends before it starts"
    sed 's/"dispatch_id":3,/"dispatch_id":3.5,/' "$FIXTURES/rocprofv3-7.0.json" >bad.json
    try 1 rocstats summary --format csv bad.json
    says "a field is not a number"
    [[ "$output" == *'"void walk<int>(int)",4,'* ]]
    sed 's/"grid_size":{"x":1024,/"grid_size":{"x":"many","w":[{}],/' "$FIXTURES/rocprofv3-7.0.json" >bad.json
    try 1 rocstats summary --format csv bad.json
    says "a field is not a number"
    [[ "$output" == *'"void walk<int>(int)",4,'* ]]
    # A block that is no JSON: the records behind are counted, too.
    sed 's/"dispatch_id":3,/"dispatch_id":3 3,/g' "$FIXTURES/rocprofv3-7.0.json" >bad.json
    try 1 rocstats summary --format csv bad.json
    says "a comma or a closing bracket was expected"
    says "malformed line (14)" # 10 of 12 dispatches and the counters of 4 of 6
    same "${#stderr_lines[@]}" 3
    [[ "$output" == *'"scale",1,'* ]]
}

@test "gzip, standard input, any number of workers: the same" {
    needs gzip
    make_trace 7.13 20000 big.json
    rocpd2pftrace -q -j1 -z0 --args -o one.pftrace big.json || [ $? -eq 1 ]
    rocpd2pftrace -q -j4 -z0 --args -o four.pftrace big.json || [ $? -eq 1 ]
    cmp one.pftrace four.pftrace
    mkdir packed
    gzip -c big.json >packed/big.json
    rocpd2pftrace -q -z0 --args -o gzip.pftrace packed/big.json || [ $? -eq 1 ]
    cmp one.pftrace gzip.pftrace
    rocstats all -q --format csv - <big.json >a || [ $? -eq 1 ]
    rocstats all -q --format csv -j3 big.json >b || [ $? -eq 1 ]
    cmp a b
}

@test "what else the file says does not reach an output" {
    rocpd2csv -q -d . -o o "$FIXTURES/rocprofv3-7.0.json"
    rocpd2pftrace -q -z0 --args -o t.pftrace "$FIXTURES/rocprofv3-7.0.json"
    rtg2json -q --layout trace --args -o t.json "$FIXTURES/rocprofv3-7.0.json"
    rocmerge -q -o t.db "$FIXTURES/rocprofv3-7.0.json"
    ! grep -rE 'secret|do-not-show' .
}

@test "the same sums as jq finds in a real file" {
    local real=$SHARED/rocprofv3-json/tracelens_908_cut.json
    needs jq "$real"
    jq -r '.["rocprofiler-sdk-tool"][0] | (.kernel_symbols | map({key: (.kernel_id | tostring),
        value: .formatted_kernel_name}) | from_entries) as $name | .buffer_records.kernel_dispatch |
        group_by(.dispatch_info.kernel_id)[] | ["KERNELS",
        $name[.[0].dispatch_info.kernel_id | tostring], length,
        (map(.end_timestamp - .start_timestamp) | add)] | @csv' "$real" | sort >expected
    rocstats summary -q --format json "$real" | jq -r '.tables[] | select(.key == "summary").rows[] |
        [.domain, .name, .calls, .total_ns] | @csv' | sort >got
    cmp expected got
}

# Kernels that begin at one time in several processes, and whose counters end at another time.
@test "a database has each dispatch once, with the values of its counters" {
    for pid in 1 2 3; do
        awk -v version=7.0 -v rows=12 -f "$TOP/tests/fixtures/rocprofv3_json.awk" |
            sed "s/\"pid\":4242/\"pid\":$pid/; s/^{\"rocprofiler-sdk-tool\":\[//; s/\]}\$//" >$pid.json
    done
    printf '{"rocprofiler-sdk-tool":[%s,%s,%s]}' "$(<1.json)" "$(<2.json)" "$(<3.json)" >all.json
    try 0 rocmerge -q -o t.db all.json
    [ "$(sqlite3 t.db 'select count(*) from kernels')" -eq 36 ]
    diff <(rocstats counters --table all -q --format csv all.json) <(rocstats counters --table all -q --format csv t.db)
}

@test "arguments that are no JSON are left out and counted, the calls behind them stay" {
    needs sqlite3 "$FIXTURES/rocprofv3-7.13.json"
    sed 's/"type":"dim3","name":"numBlocks"/"type":"dim3me":"numBlocks"/' "$FIXTURES/rocprofv3-7.13.json" >broken.json
    run ! cmp -s broken.json "$FIXTURES/rocprofv3-7.13.json"
    for f in broken.json "$FIXTURES/rocprofv3-7.13.json"; do
        rocmerge -o m.db "$f" 2>err || [ $? -eq 1 ]
        sqlite3 m.db "SELECT r.start, r.end, s.string FROM rocpd_region r JOIN rocpd_string s ON s.id = r.name_id ORDER BY 1, 2, 3" >"regions-${f##*/}"
        rm m.db
        [ "$f" != broken.json ] || grep -q 'repaired: broken JSON' err
    done
    [ -s regions-broken.json ]
    diff regions-broken.json regions-rocprofv3-7.13.json
}

@test "calls of rocTX that mark nothing are calls, in databases and CSV files of the trace as well" {
    local version input kinds="SELECT kind, count(*) FROM (SELECT 'marker' AS kind, category FROM marker
        UNION ALL SELECT 'call', category FROM region) WHERE category LIKE 'MARKER%' GROUP BY kind"
    for version in 6.4 7.13; do
        rocmerge -q -o m.db "$FIXTURES/rocprofv3-$version.json" || [ $? -eq 1 ]
        rocpd2csv -q -d csv -o o "$FIXTURES/rocprofv3-$version.json" || [ $? -eq 1 ]
        for input in "$FIXTURES/rocprofv3-$version.json" m.db csv/o_marker_api_trace.csv; do
            same "$(rocline query -q --format csv "$input" "$kinds" | tail -n 2)" '"call",2
"marker",4'
        done
        rocstats markers -q --format csv "$FIXTURES/rocprofv3-$version.json" >a || [ $? -eq 1 ]
        rocstats markers -q --format csv m.db >b
        cmp a b
        rm -r m.db csv
    done
}
