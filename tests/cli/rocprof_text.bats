#!/usr/bin/env bats
# Raw texts of rocprof v1 and roctracer, and the text of rocprofv2: what is read of them, whole or
# broken, singly or as the folder they are in.
# shellcheck disable=SC2154 # bats sets status, output, stderr

load helper

TEXTS=$TOP/tests/fixtures/rocprof/texts
ROCPROF=$TOP/tests/fixtures/rocprof
GOLDEN=$SHARED/rocprof-v1/roctracer-golden

# Rows of a table, without the first column.
rows() { # table, input...
    local table=$1
    shift
    rm -rf out
    rocpd2csv -q -d out -o o "$@" || [ $? -eq 1 ]
    tail -n +2 "out/o_$table.csv" | sed 's/^"[^"]*",//'
}

same() {
    [ "$1" == "$2" ] || fail "$1 was expected to be $2"
}

@test "copies and kernels are told by their names, calls and work are joined by their number" {
    same "$(rows memory_copy_trace "$TEXTS/hcc_ops_trace.txt")" \
        '"MEMORY_COPY","CopyHostToDevice",,"","GPU 2",2,5000000006000,5000000008500'
    rows kernel_trace "$TEXTS" | grep -F '"ns::saxpy<int, 2>(float*, ns::pair<int, int>)",3,5000000011000,'
    grep -qF '"CopyMine(int*)"' out/o_kernel_trace.csv # a kernel, though it is called like a copy
    grep -qF '"hipLaunchKernel",4100,4101,3,5000000010000,5000000012000' out/o_hip_api_trace.csv
    # The same numbers in another process are others.
    link=$(grep -F '"hipLaunchKernel",4200' out/o_hip_api_trace.csv | cut -d, -f6)
    same "$(grep -F '"fill",' out/o_kernel_trace.csv | head -1 | cut -d, -f10)" "$link"
}

@test "arguments: strings, structs, the kernel, what was returned, the form of ROCm 3.5" {
    needs protoc
    cp -r "$TEXTS" texts
    echo '5000000200000:5000000201000 4100:4100 hipMemcpy(dst(0x10) src(0x20) sizeBytes(64)) :77' \
        >>texts/hip_api_trace.txt
    rocpd2pftrace -q -z 0 --args -o t.pftrace texts || [ $? -eq 1 ]
    decode t.pftrace >t
    for value in '{z=1, y=2, x=3}' 'ns::saxpy<int, 2>(float*, ns::pair<int, int>)' \
        '\"a, b) kernel=c.co\"' '{handle=5845728}' 4097 64; do
        grep -qF "string_value: \"$value\"" t || grep -qF "int_value: $value" t || fail "no $value"
    done
}

@test "ranges nest in their thread, or end by their number, or else with the latest" {
    same "$(rows marker_api_trace "$TEXTS/roctx_trace.txt" | cut -d, -f2-4,6-)" \
        '"outer ""quoted""",4100,4100,5000000000900,5000000031000
"a mark",4100,4100,5000000000950,5000000000950
"other thread",4100,4101,5000000001500,5000000030000
"inner",4100,4100,5000000002000,5000000003000
"a range without its id",4100,4100,5000000002500,5000000003500
"older",4200,4200,5000000100000,5000000109500'
    try 1 rocstats summary "$TEXTS/roctx_trace.txt"
    says "roctx_trace.txt:10: the end of a range that never began"
}

@test "ranges find their begin by their number, however many are open" {
    awk 'BEGIN {
        for (i = 0; i < 20000; i++)
            printf "%d 993231:993231 3:%d:\"r%d\"\n", 1000000 + i, i + 1, i
        for (i = 0; i < 20000; i++)
            printf "%d 993231:993231 4:%d:\"\"\n", 2000000 + i, i + 1
    }' >roctx_trace.txt
    for j in 1 2 7; do
        try 0 rocline query -q -j $j -f csv "SELECT count(*) AS n, min(duration) AS a, max(duration) AS b FROM marker" roctx_trace.txt
        same "$(tail -n 1 <<<"$output")" 20000,1000000,1000000
    done
}

@test "results.txt: counters in the lines below their dispatch, with and without times" {
    same "$(rows counter_collection "$TEXTS/results.txt" | cut -d, -f6- | sort)" \
        '4100,4101,1048576,0,"void scale<int, float>(int*, ""x"", float const*)",256,512,16,8,4,16,"GRBM_COUNT",40539.25,5000000210000,5000000219000
4100,4101,1048576,0,"void scale<int, float>(int*, ""x"", float const*)",256,512,16,8,4,16,"SQ_WAVES",16384,5000000210000,5000000219000
4100,4101,1048576,0,"void scale<int, float>(int*, ""x"", float const*)",256,512,16,8,4,16,"TCC_HIT[3]",17,5000000210000,5000000219000
4100,4101,64,0,"tiny",64,0,0,8,0,16,"SQ_WAVES",1,5000000221000,5000000222000
4200,4200,64,0,"no times",64,0,0,8,0,16,"SQ_WAVES",1,0,0'
    try 1 rocstats summary "$TEXTS/results.txt"
    says "results.txt:9: the value of a counter is not a number"
    says "results.txt:10: a dispatch without times"
    says "results.txt:11: a record that is cut or damaged"
    says "results.txt:12: a counter whose dispatch cannot be read"
    says "4 records left out"
}

@test "a queue with a number above 2^63 is called by it" {
    mkdir big
    sed 's/queue-id(0)/queue-id(9223372036854775813)/' "$TEXTS/results.txt" >big/results.txt
    rocstats streams --table all -q --format csv big >s.csv || [ $? -eq 1 ]
    grep -q '"Queue 9223372036854775813"' s.csv
    run ! grep -q '"Queue -' s.csv
}

@test "numbers that are none are counted, in times, fields and grids" {
    local field file
    count() { (rocstats -q --format csv --table domains t | awk -F, '{ n += $2 } END { print n }') }
    cp -r "$TEXTS" t
    local before
    before=$(count)
    # A time that is no number: the line is one record less, and is said.
    for file in hip_api_trace hsa_api_trace hcc_ops_trace async_copy_trace roctx_trace; do
        for field in 1e300 -7 99999999999999999999; do
            rm -rf t
            cp -r "$TEXTS" t
            sed -i "1s/^[0-9]*/$field/" t/$file.txt
            [ "$(count)" -eq $((before - 1)) ] || fail "$file $field: $(count)"
            mkdir one
            cp t/$file.txt one
            try 1 rocstats --table domains one
            says "$file.txt:1: a record that is cut or damaged"
            rm -r one
        done
    done
    # A date of the program is none.
    sed -i '1i 2024-11-05 12:34 loss: 0.5' t/hcc_ops_trace.txt
    try 1 rocstats --table domains t
    [[ "$stderr" != *hcc_ops_trace* ]] || fail "$stderr"
    for field in 'gpu-id(1e300)' 'grd(9223372036854775808)' 'lds(9223372036854775808)' 'pid(-4)'; do
        cp "$TEXTS/results.txt" t
        sed -i "1s/${field%%(*}([0-9]*)/$field/" t/results.txt
        try 1 rocstats --table domains t
        says "results.txt:1: a field is not a number"
    done
}

@test "what a program writes between the lines is not counted, a record that is cut is" {
    try 1 rocstats summary --format csv "$ROCPROF/roctracer.txt"
    says "roctracer.txt:10: a record that is cut or damaged: '5000000010000:50000000'"
    says "1 record left out"
    same "$(cut -d, -f1-4 <<<"$output" | tail -n +2)" '"HIP","hipMalloc",1,3000
"MARKERS","mark",1,0
"MEMORY_COPIES","CopyHostToDevice",1,2500'
}

@test "samples whose times are cycles of a GPU: left out of a folder, refused alone" {
    mkdir run
    printf '0 %d 0x7f0011223344 kernel\n' 1234567890123 1234567890223 >run/pcs_trace.txt
    printf '5000000010000:5000000013000 7:7 hipMalloc(ptr=1) :1\n' >run/hip_api_trace.txt
    try 3 rocstats summary run/pcs_trace.txt
    says "run/pcs_trace.txt: samples of the program counter (rocprof), not a trace"
    says "name results.txt, hip_api_trace.txt"
    try 0 rocstats summary --format csv run
    says "the samples of pcs_trace.txt are left out"
    same "$(cut -d, -f1-4 <<<"$output" | tail -n +2)" '"HIP","hipMalloc",1,3000'
}

@test "records that come late in what a program wrote are found" {
    yes 'a line of the program' | head -n 20000 >late.txt
    cat "$ROCPROF/roctracer.txt" >>late.txt
    try 1 rocstats summary --format csv late.txt
    says "late.txt:20010: a record that is cut"
    yes 'a line of the program' | head -n 20000 >none.txt
    try 3 rocstats none.txt
}

@test "the text of rocprofv2: calls, work, marks and ranges, dispatches with counters" {
    rows kernel_trace "$ROCPROF/v2.txt" >kernels
    same "$(cut -d, -f2- kernels)" \
        '"GPU 4",1,,4400,1,0,"vectoradd(""float*, int"")",0,5000000010000,5000000020000,512,16,8,4,16,256,1,1,1048576,1,1
"GPU 4",1,,4400,2,0,"odd) (name",8,5000000030000,5000000040000,0,0,8,4,16,64,1,1,64,1,1'
    same "$(grep -o '"[A-Z_]*[]A-Z0-9[]*",[0-9.]*,50000' out/o_counter_collection.csv | tr '\n' ' ')" \
        '"GRBM_COUNT",40539.5,50000 "TCC_HIT[3]",17,50000 "GRBM_COUNT",1,50000 '
    same "$(tail -n +2 out/o_marker_api_trace.csv | cut -d, -f3-)" '"before (a), b",4400,,0,5000000000050,5000000000050
"pushed",4400,,0,5000000000060,5000000000080
"range with id",4400,,0,5000000000070,5000000000090'
    grep -qF '"hipLaunchKernel",4400,,7,5000000001000,5000000002000' out/o_hip_api_trace.csv
    grep -qF '"COPY",,"","",33,5000000001500,5000000001700' out/o_memory_copy_trace.csv
    try 1 rocstats "$ROCPROF/v2.txt"
    says "v2.txt:15: a record that is cut or damaged"
}

@test "any number of workers gives the same, also when a counter is in another piece" {
    for i in $(seq 60000); do
        printf 'dispatch[%d], gpu-id(%d), queue-id(0), pid(7), tid(7), grd(64), wgr(64), kernel-name("k%d"), time(1,%d,%d,9)\n  A (%d)\n  B (%d.5)\n' \
            "$i" $((i % 3)) $((i % 11)) $((5000000000 + i * 10)) $((5000000005 + i * 10)) "$i" "$i"
    done >results.txt
    [ "$(stat -c %s results.txt)" -gt 8400000 ] # some pieces
    for j in 1 2 7; do
        rocpd2csv -q -j $j -d j$j -o o results.txt
        rocstats all -q -j $j --format csv results.txt "$TEXTS" >j$j/stats || [ $? -eq 1 ]
        [ "$(wc -l <j$j/o_counter_collection.csv)" -eq 120001 ]
    done
    diff -r j1 j2
    diff -r j1 j7
}

@test "every cut of a text: what is complete is read, the loss is counted" {
    cat "$TEXTS"/{hip_api,hsa_api,hcc_ops}_trace.txt |
        grep -v 'hipFree$' >whole.txt
    lines=$(wc -l <whole.txt)
    [ "$lines" -ge 17 ]
    size=$(stat -c %s whole.txt)
    for n in $(seq 140 31 "$size"); do
        head -c "$n" whole.txt >cut.txt
        rm -f cut.db
        run --separate-stderr rocmerge -o cut.db cut.txt
        [ "$status" -le 1 ] || fail "$n bytes: exit code 0 or 1 was expected"
        read=$(sqlite3 cut.db "SELECT (SELECT count(*) FROM rocpd_region) +
            (SELECT count(*) FROM rocpd_kernel_dispatch) + (SELECT count(*) FROM rocpd_memory_copy)")
        lost=$(sed -n 's/.*: \([0-9]*\) records\{0,1\} left out: .*/\1/p' <<<"$stderr")
        barriers=$(grep -c ' Marker3:7:4100' cut.txt || true)
        [ $((read + ${lost:-0} + barriers)) -eq "$(grep -c '' cut.txt)" ] ||
            fail "$n bytes: $read read, ${lost:-0} lost"
    done
}

@test "a last line without its end is cut, wherever" {
    printf '%s\n' '5000000006000:5000000008500 2:0 fill:2:4100' \
        '5000000011000:5000000020000 2:0 scale(float*, ns::pair<int, int>):3:4100' >whole.txt
    size=$(stat -c %s whole.txt)
    for n in $(seq 80 5 $((size - 1))) $((size - 1)); do
        head -c "$n" whole.txt >cut.txt
        try 1 rocstats summary --format csv cut.txt
        says "cut.txt:2: "
        same "$(tail -n +2 <<<"$output" | cut -d, -f2)" '"fill"'
    done
    says "cut.txt:2: the last line has no line end and may be cut; if it is whole, add one: '50000000110"
    # One line alone says nothing, and other text is none of ours; lines of rocprofv2 say where they end.
    printf '5000000006000:5000000008500 2:0 fill:2:4100' >one.txt
    { cat whole.txt && printf done; } >other.txt
    { head -5 "$ROCPROF/v2.txt" && sed -n 6p "$ROCPROF/v2.txt" | tr -d '\n'; } >v2.txt
    for f in one.txt other.txt v2.txt; do
        try 0 rocstats summary --format csv $f
        [ -z "$stderr" ]
    done
}

# Counters follow the fields of a dispatch, so that nothing else tells that they are missing.
@test "a last line of rocprofv2 that is cut behind a field" {
    local text=$ROCPROF/v2.txt whole n
    for n in 4 13; do # a call, and a dispatch
        for last in 'End_Timestamp(5000000002000)' 'End_Timestamp(5000000020000),' 'GRBM_COUNT(40539.500000)'; do
            whole=$(sed -n ${n}p "$text")
            [[ $whole == *"$last"* ]] || continue
            { head -$((n - 1)) "$text" && printf %s "${whole%%"$last"*}$last"; } >v2.txt
            try 1 rocstats summary v2.txt
            says "v2.txt:$n: the last line has no line end and may be cut; if it is whole, add one"
            echo >>v2.txt
            try 0 rocstats summary v2.txt
        done
    done
    # As rocprofv2's own tests have them.
    for n in 4 6 12; do
        { head -$((n - 1)) "$text" && sed -n ${n}p "$text" | tr -d '\n'; } >v2.txt
        try 0 rocstats summary v2.txt
    done
}

@test "times that are too large, or turned round" {
    printf '%s\n' '18446744073709551615:18446744073709551616 1:1 hipA() :1' \
        '9999999999999999999:9999999999999999999 1:1 hipB() :1' \
        '5000000002000:5000000001000 1:1 hipC() :1' '5000000002000:0 1:1 hipD() :1' \
        '5000000002000:5000000003000 1:1 hipE() :1' '5000000002000:5000000003000 1:1 k:1:2:' \
        '5000000002000:5000000003000 1:1 k:1:99999999999999999999999999' >t.txt
    try 1 rocstats summary --format csv t.txt
    same "$(tail -n +2 <<<"$output" | cut -d, -f2)" '"hipE"'
}

# ---- folders -------------------------------------------------------------------------------------

@test "a folder of raw texts is one run, and its other files are left alone" {
    mkdir run
    cp "$TEXTS"/*.txt run
    echo 'rpl_run.sh: done' >run/log.txt
    echo '<trace name="HIP"></trace>' >run/input.xml
    : >run/kfd_api_trace.txt
    try 1 rocstats summary -q --format csv run
    expected=$output
    try 1 rocstats summary -q --format csv "$TEXTS"/*.txt
    same "$output" "$expected"
    try 1 rocstats summary -q --format csv "$TEXTS"
    same "$output" "$expected"
    gzip run/hip_api_trace.txt run/results.txt
    try 1 rocstats summary -q --format csv run
    same "$output" "$expected"
    rocmerge -q -o t.db run || [ $? -eq 1 ]
    [ "$(sqlite3 t.db "SELECT count(*) FROM rocpd_info_process")" -le 3 ]
}

@test "of several kinds of a run the best one is read" {
    csv='"Kind","Agent_Id","Queue_Id","Kernel_Name","Start_Timestamp","End_Timestamp"
"KERNEL_DISPATCH",1,1,"from csv",5000000000000,5000000001000'
    mkdir a b c d
    echo "$csv" >a/run_kernel_trace.csv
    echo '"Kind","Agent_Id","Queue_Id","Kernel_Name","Start_Timestamp","End_Timestamp"' >a/other_kernel_trace.csv
    echo '{"rocprofiler-sdk-tool": [{"metadata": {"pid": 1}, "buffer_records": {}}]}' >a/run_results.json
    try 0 rocstats a
    says "a/run_kernel_trace.csv: skipped, because a/run_results.json is of the same run and is read"
    [[ "$output" != *"from csv"* ]] || fail "the kernel is read twice"
    # Raw texts, and what rocprof made of them.
    cp "$TEXTS/hcc_ops_trace.txt" b
    cp "$ROCPROF/v1.json" b/results.json
    echo '"Index","KernelName","gpu-id","BeginNs","EndNs"' >b/results.csv
    try 0 rocstats b
    says "b/results.csv: skipped, because b/hcc_ops_trace.txt is of the same run and is read, and 1 more such file"
    # Only CSV and JSON of v1, of two runs; its sums are no trace.
    echo '"Index","KernelName","gpu-id","BeginNs","EndNs"
0,"from csv",1,5000000000000,5000000001000' | tee c/results.csv >c/input.csv
    cp "$ROCPROF/v1.json" c/results.json
    echo '"Name","Calls","TotalDurationNs","AverageNs","Percentage"' >c/results.stats.csv
    try 0 rocstats kernels --format csv c
    says "c/results.json: skipped, because c/results.csv is of the same run and is read"
    [[ "$output" == *'"from csv",2,2000,'* ]] || fail "two runs were expected"
    # What is no trace, or beside a database, is named at -v.
    echo a log >c/run.log
    try 0 rocstats -v kernels c
    says "not read, though the folder has them: c/results.stats.csv, c/run.log"
    # A database is all that is read, as before.
    cp "$FIXTURES/rank0.db" "$TEXTS/hcc_ops_trace.txt" a/run_kernel_trace.csv d
    try 0 rocstats kernels --format csv d
    [[ "$output" != *"from csv"* && "$output" != *saxpy* ]] || fail "only the database was expected"
    same "$stderr" ""
}

@test "a folder with nothing of a profiler" {
    mkdir empty
    echo 'some text' >empty/readme.txt
    mkfifo empty/pipe
    try 3 rocstats empty
    says "empty: no database in this directory"
}

# ---- real files ----------------------------------------------------------------------------------

# Count and sum of durations by name, from a table of AMD's own database of the same run.
amd_sums() { # database, table
    sqlite3 -readonly -separator , "$1" "SELECT '\"' || Name || '\"', count(*), sum(EndNs - BeginNs)
        FROM $2 WHERE Name != 'hsa_dispatch' GROUP BY Name" | LC_ALL=C sort
}

our_sums() { # domain
    tail -n +2 sums | grep "^\"$1\"," | sed 's/^"[^"]*",//' | awk -F, -v OFS=, '
        { name = $0; sub(/",.*/, "\"", name); rest = substr($0, length(name) + 2)
          split(rest, f, ","); print name, f[1], f[2] }' | LC_ALL=C sort
}

@test "real raw texts say what AMD's own database of the same run says" {
    needs "$GOLDEN/MatrixTranspose_sys_trace/in" sqlite3
    for run in MatrixTranspose_sys_trace/out-r62 copy_hsa_trace/out-r62 roctx_test_trace/out-r62; do
        db=$GOLDEN/$run/results.db
        try 0 rocstats summary --format csv "$GOLDEN/${run%/*}/in"
        echo "$output" >sums
        for table in HIP:HIP HSA:HSA OPS:KERNELS COPY:MEMORY_COPIES rocTX:MARKERS; do
            sqlite3 -readonly "$db" .tables | grep -qw "${table%:*}" || continue
            amd_sums "$db" "${table%:*}" >amd
            our_sums "${table#*:}" >ours
            # AMD's marks have 1 ns, its ranges that end by their number 1 ns more.
            [ "${table%:*}" != rocTX ] || { awk -F, -v OFS=, '/before|after/ { $3 = 0 }
                / range"|StartStop/ { $3 -= $2 } { print $1, $2, sprintf("%.0f", $3) }' amd >x && mv x amd; }
            diff amd ours || fail "$run ${table%:*}"
        done
    done
}

@test "real text of rocprofv2: as many events of each name, with the same times" {
    needs "$SHARED/rocprof-v1/rocprofv2"
    for f in "$SHARED"/rocprof-v1/rocprofv2/*.txt; do
        try 0 rocstats summary --format csv "$f"
        echo "$output" >sums
        sed -n 's/.*Function(\([^)]*\)), Start_Timestamp(\([0-9]*\)), End_Timestamp(\([0-9]*\)).*/\1 \2 \3/p' "$f" |
            awk '{ n[$1]++; t[$1] += $3 - $2 } END { for (k in n) printf "\"%s\",%d,%.0f\n", k, n[k], t[k] }' |
            LC_ALL=C sort >amd
        { our_sums HIP && our_sums HSA; } | LC_ALL=C sort >ours
        diff amd ours
        sed -n 's/.*Kernel_Name("\([^"]*\)"), Begin_Timestamp(\([0-9]*\)), End_Timestamp(\([0-9]*\)).*/\1 \2 \3/p' "$f" |
            awk '{ n[$1]++; t[$1] += $3 - $2 } END { for (k in n) printf "\"%s\",%d,%.0f\n", k, n[k], t[k] }' |
            LC_ALL=C sort >amd
        our_sums KERNELS >ours
        diff amd ours
    done
}

@test "rocprofv2: a dispatch may have any number of counters" {
    {
        printf 'Dispatch_ID(1), GPU_ID(1), Queue_ID(1), PID(70), TID(71), Kernel_Name("k"), '
        printf 'Start_Timestamp(5000000001000), End_Timestamp(5000000002000), Correlation_ID(1)'
        printf ', c%dx(1.000000)' $(seq 1500)
        echo
    } >many.txt
    try 0 rocpd2csv -q -d out many.txt
    [ "$(wc -l <out/out_counter_collection.csv)" -eq 1501 ]
}

@test "--by-stream: kernels whose line says but a queue are told apart by it" {
    local at=5000000200000 i
    for i in 0 1 2; do
        echo "dispatch[$i], gpu-id(2), queue-id($((i / 2 + 5))), queue-index(0), pid(4100), tid(4101), grd(64), wgr(64), lds(0), scr(0), arch_vgpr(8), accum_vgpr(4), sgpr(16), wave_size(64), sig(0x0), obj(0x0), kernel-name(\"k\"), time($at,$at,$((at + 9)),$((at + 9)))"
    done >results.txt
    for report in kernels summary; do
        try 0 rocstats --table "$report" -q --by-stream --format json results.txt
        jq -e '[.tables[0].rows[] | [.stream, .calls]] | sort == [["Queue 5", 2], ["Queue 6", 1]]' <<<"$output"
    done
    try 0 rocstats launch -q --by-stream --format json results.txt
    jq -e '[.tables[] | .rows[].stream | select(.)] | unique == ["Queue 5", "Queue 6"]' <<<"$output"
}
