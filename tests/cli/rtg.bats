#!/usr/bin/env bats
# Legacy text as input of the converters: rtg_tracer, HCC_PROFILE=2, strace.

load helper

TEXTS=$TOP/tests/fixtures/rtg

column() { # file column-title: its values, a line each
    awk -F, -v title="\"$2\"" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == title) c = i; next }
        { gsub(/"/, "", $c); print $c }' "$1" | paste -sd ' '
}

@test "CSV files" {
    try 0 rocpd2csv -d out "$TEXTS/calls.txt"
    [ "$(ls out | paste -sd ' ')" = "out_agent_info.csv out_hip_api_trace.csv out_hsa_api_trace.csv out_kernel_trace.csv out_marker_api_trace.csv out_memory_copy_trace.csv" ]
    says "1 barrier left out: CSV has no place for them"
    [ "$(column out/out_hip_api_trace.csv Function)" = "hipMalloc hipMemcpy hipLaunchKernel hipDeviceSynchronize" ]
    [ "$(column out/out_hip_api_trace.csv Domain | cut -d' ' -f1)" = HIP_RUNTIME_API ]
    [ "$(column out/out_marker_api_trace.csv Function)" = "step 1 half way" ]
    grep -q '"HSA_AMD_EXT_API","hsa_amd_memory_pool_allocate",100,7001,0,1060000,1062000' out/out_hsa_api_trace.csv
    grep -q '"KERNEL_DISPATCH","GPU 0",1,,,0,0,"scale(float\*, float, int)",1,1120000,1150000,0,0,,,,256,1,1,4096,1,1' out/out_kernel_trace.csv
    grep -q '"KERNEL_DISPATCH","GPU 1",2,,,2,0,"__amd_rocclr_fillBuffer",3,1135000,1165000,0,0,,,,64,1,1,1024,2,1' out/out_kernel_trace.csv
    grep -q '"MEMORY_COPY","copy",,"","GPU 0",0,1080000,1095000' out/out_memory_copy_trace.csv
}

@test "CSV files: processes of one file have a Guid each, and come back" {
    { cat "$TEXTS/calls.txt" && sed 's/pid:100/pid:200/' "$TEXTS/calls.txt"; } >two.txt
    rocstats ranks --table ranks --format csv two.txt >expected
    [ "$(cut -d, -f2 expected | paste -sd ' ')" = "pid 100 200" ]
    for style in rocpd-1.0 rocpd-1.1; do
        try 0 rocpd2csv -q --style $style -d $style two.txt
        [ "$(column $style/out_kernel_trace.csv Guid | tr ' ' '\n' | sort | uniq -c | awk '{ print $1, $2 }')" = \
            $'2 two.txt-100\n2 two.txt-200' ]
        diff expected <(rocstats ranks --table ranks --format csv $style)
    done
}

@test "barriers that nobody asked for are not mentioned" {
    try 0 rocpd2csv -d out --kinds kernel "$TEXTS/calls.txt"
    silent
    try 0 rocpd2csv -d out2 --exclude barrier "$TEXTS/calls.txt"
    silent
}

@test "kernel names" {
    try 0 rocpd2csv -o - --kinds kernel --kernel-names short "$TEXTS/calls.txt"
    [[ "$output" == *'"scale",'* ]]
}

@test "a Perfetto trace: queues, barriers, links, arguments" {
    needs protoc
    try 0 rocpd2pftrace -z 0 --args -o t.pftrace "$TEXTS/calls.txt"
    decode t.pftrace >t.txt
    grep -q 'name: "Queue 1"' t.txt
    grep -q 'name: "Barrier"' t.txt
    grep -q 'string_value: "_Z5scalePffi"' t.txt
    # A link each for two kernels and a barrier: both lines of each say so.
    [ "$(grep -c render_stage_submission_event_ids t.txt)" -eq 3 ]
}

@test "a Perfetto trace of plain tracks" {
    needs protoc
    try 0 rocpd2pftrace -z 0 --legacy-tracks -o t.pftrace "$TEXTS/calls.txt"
    decode t.pftrace >t.txt
    grep -q 'name: "COMPUTE GPU \[0\] QUEUE \[1\] GPU"' t.txt
    grep -q 'name: "COPY to GPU \[0\]' t.txt
    grep -q 'name: "barrier"' t.txt
}

@test "statistics" {
    try 0 rocstats --table domains --format csv "$TEXTS/calls.txt"
    [[ "$output" == *'"BARRIERS",1,1000,'* ]]
    [[ "$output" == *'"KERNELS",2,60000,'* ]]
    try 0 rocstats copies --table all --format csv "$TEXTS/profile.txt"
    [[ "$output" == *'"HostToDevice_async_fast","","GPU 0",1,16384,78500,'* ]]
    [[ "$output" == *'"DeviceToHost_async_fast","GPU 0","",1,4004,12220,'* ]]
}

@test "strace" {
    try 0 rocpd2csv -o - --kinds other_api "$TEXTS/strace.txt"
    [[ "$output" == *'"STRACE","read",0,12,0,1555950992253210000,1555950992253386000'* ]]
    [[ "$output" == *'"STRACE","write",0,13,0,1555950992253296000,1555950992253363000'* ]]
}

@test "lines that are wrong are reported with their numbers" {
    try 1 rocpd2csv -d out "$TEXTS/broken.txt"
    says "broken.txt:2: a HIP line that cannot be parsed: 'HIP: pid:100 tid:7001 hipFree(ptr=0) ret=0 @2000'"
    says "broken.txt:3: ends before it starts: "
    says "broken.txt:4: a number that is too large: "
    says "3 records left out: end before start (1), malformed line (2)"
    [ "$(column out/out_kernel_trace.csv Kernel_Name)" = good ]
    try 3 rocpd2csv -d strict --strict "$TEXTS/broken.txt"
    one_line rocpd2csv
    says "broken.txt:2: a HIP line that cannot be parsed"
    [ ! -e strict ]
}

@test "a last line without its end is cut" {
    sed 's/$/00/; /^HIP/!d' "$TEXTS/calls.txt" >whole.txt
    head -c -2 whole.txt >cut.txt
    n=$(wc -l <whole.txt)
    try 1 rocstats --table domains --format csv cut.txt
    says "cut.txt:$n: the last line has no line end and may be cut; if it is whole, add one: 'HIP: pid:"
    says "1 record left out"
}

@test "a process by its number" {
    cp "$TEXTS/profile.txt" prof.out.4242
    try 0 rocpd2csv -o - --kinds kernel --pid 4242 prof.out.4242
    [ "${#lines[@]}" -eq 3 ]
    try 2 rocpd2csv -d out --pid 1 "$TEXTS/calls.txt"
    says "known: 100"
}

@test "gzip, standard input, a pipe" {
    try 0 rocstats -q summary "$TEXTS/calls.txt"
    expected=$output
    gzip -c "$TEXTS/calls.txt" >calls.gz
    try 0 rocstats -q summary calls.gz
    [ "$output" = "$expected" ]
    try 0 rocstats -q summary - <calls.gz
    [ "$output" = "$expected" ]
    try 0 rocstats -q summary - <"$TEXTS/calls.txt"
    [ "$output" = "$expected" ]
    output=$(rocstats -q summary <(cat "$TEXTS/calls.txt"))
    [ "$output" = "$expected" ]
}

@test "what is no trace keeps its own message" {
    needs "$FIXTURES/schema-3.0.0.db"
    echo "HIP: that was no trace" >t.txt
    try 3 rocpd2csv -d out t.txt
    says "text, not a rocpd database"
    head -c 100 "$FIXTURES/schema-3.0.0.db" | gzip | head -c 40 >cut.gz
    try 3 rocpd2csv -d out cut.gz
    says "gzip: "
}

@test "the same whatever the number of jobs" {
    cat "$TEXTS"/*.txt >all.txt
    for j in 1 2 7; do
        try 1 rocpd2csv -q -j $j -d out$j all.txt
        try 1 rocpd2pftrace -q -j $j --args -o $j.pftrace all.txt
    done
    diff -r out1 out2
    diff -r out1 out7
    cmp 1.pftrace 2.pftrace
    cmp 1.pftrace 7.pftrace
}

@test "several files are one trace, their GPUs apart" {
    cp "$TEXTS/calls.txt" a.txt
    sed 's/pid:100/pid:200/' a.txt >b.txt
    try 0 rocstats overlap --table all --format csv a.txt b.txt
    [ "$(grep -c ^overlap, <<<"$output")" -eq 4 ]
}

@test "large files: the same for every number of jobs" {
    needs "$SHARED/rtg"
    for input in "$SHARED"/rtg/[0-3]*/in/*; do
        run --separate-stderr rocpd2csv -q -j 1 -d one "$input"
        [ "$status" -le 1 ] || [ "$status" -eq 3 ] || fail "$input"
        was=$status
        run --separate-stderr rocpd2csv -q -j 3 -d three "$input"
        [ "$status" -eq "$was" ] || fail "$input"
        [ ! -d one ] || diff -r one three
        rm -rf one three
    done
}
