#!/usr/bin/env bats
# results.db of rocprof v1: what is read of every version, and what rocprof makes of it.
# shellcheck disable=SC2154 # bats sets status, output, stderr

load helper

setup() {
    cd "$BATS_TEST_TMPDIR"
    for name in db db-old db-counters; do
        sqlite3 $name.db <"$TOP/tests/fixtures/rocprof/$name.sql"
    done
}

same() {
    [ "$1" == "$2" ] || fail "$1 was expected to be $2"
}

# Fields of the rows of a table that rocpd2csv writes.
fields() { # table, fields by name, input...
    local table=$1 names=$2
    shift 2
    rm -rf out
    rocpd2csv -q -d out -o o "$@" || [ $? -eq 1 ]
    sqlite3 -csv :memory: ".import out/o_$table.csv t" "SELECT $names FROM t"
}

@test "tables of ROCm 4.3 and later" {
    try 1 rocstats summary -q --format csv db.db
    same "$(cut -d, -f1-4 <<<"$output" | tail -n +2)" '"KERNELS","scale(float*)",2,300
"KERNELS","void ns::add<int>(int*, int)",1
"HIP","hipMemcpy",1,2000
"HIP","hipGraphLaunch",1,600
"HIP","hipLaunchKernel",1,500
"HIP","hipDeviceSynchronize",1,100
"HSA","hsa_queue_create",1,200
"HSA","hsa_iterate_agents",1,10
"HSA","hsa_dispatch",1,0
"MARKERS","started and stopped",1,9000
"MARKERS","inner ""loop""",1,7900
"MARKERS","a mark",1,0
"MEMORY_COPIES","CopyDeviceToHost",1,1400
"BARRIERS","<barrier packet>",1,1'
}

@test "a row that cannot be used is counted, with its table and row" {
    try 1 rocpd2csv -d . db.db
    says "db.db: OPS: row 5: it ends before it starts"
}

@test "calls and work are joined by Index, in each process" {
    fields kernel_trace "Agent_Id, Queue_Id, Stream_Id, Correlation_Id" db.db >work
    fields hip_api_trace "Process_Id, Function, Correlation_Id" db.db >calls
    launch=$(sed -n 's/70,hipLaunchKernel,//p' calls) graph=$(sed -n 's/80,hipGraphLaunch,//p' calls)
    same "$(tr -d '"' <work | sort)" "GPU 2,0,1,$launch
GPU 3,0,2,$graph
GPU 3,1,2,$graph"
    [ "$launch" != "$graph" ] || fail "one id in two processes"
    same "$(fields memory_copy_trace "Correlation_Id, Source_Agent_Id" db.db | tr -d '"')" \
        "$(sed -n 's/70,hipMemcpy,//p' calls),GPU 2"
}

@test "arguments are split and have the form that they had" {
    try 1 rtg2json -q -f --layout trace --args -o t.json db.db
    same "$(jq -c '[.traceEvents[] | select(.name == "hipLaunchKernel") | .args] | .[0] |
        {kernel, function_address, numBlocks, args, stream}' t.json)" \
        '{"kernel":"void ns::add<int>(int*, int)","function_address":"0x201010","numBlocks":"{z=1, y=2, x=256}","args":"0x7f","stream":"1"}'
    same "$(jq -c '[.traceEvents[] | select(.name == "hsa_iterate_agents") | .args | {arg0, ret}]' t.json)" \
        '[{"arg0":"1","ret":"4097"}]'
    same "$(jq -c '[.traceEvents[] | select(.name == "hipDeviceSynchronize") | .args.arg0]' t.json)" '[null]'
}

@test "older ones: pid is a part of results.json, tid a stream" {
    try 0 rocpd2csv -d out -o o db-old.db
    says "table MM"
    same "$(fields hip_api_trace "Function, Process_Id, Thread_Id" db-old.db)" "hipLaunchKernel,91,91
hipMemcpy,91,92"
    same "$(fields kernel_trace "Thread_Id, Stream_Id, Kernel_Name, Start_Timestamp" db-old.db)" \
        '"",1,add(int),2600'
    same "$(fields kernel_trace Correlation_Id db-old.db)" \
        "$(fields hip_api_trace Correlation_Id db-old.db | head -n 1)"
    same "$(fields marker_api_trace "Function, Process_Id, Start_Timestamp, End_Timestamp" db-old.db)" \
        '"a mark",91,1000,1000
loop,91,1100,9000'
}

@test "dispatches with more counters than columns are read at once" {
    try 1 rocpd2csv -d out -o o db-counters.db
    says "KERN: row 3: the value of a counter is no number"
    same "$(sqlite3 -csv :memory: ".import out/o_counter_collection.csv t" \
        "SELECT count(*), sum(Counter_Value), min(VGPR_Count), min(Grid_Size) FROM t")" "121,23521.5,16,1024"
    same "$(sqlite3 -csv :memory: ".import out/o_counter_collection.csv t" \
        "SELECT Dispatch_Id, Kernel_Name, Counter_Value FROM t WHERE Counter_Name = 'TCC_HIT[39]'")" \
        '0,"void ns::add<int>(int*, int)",390
1,copyBuffer,391
2,"void ns::add<int>(int*, int)",392'
}

@test "the same for every reader and any number of workers, compressed and from a pipe" {
    for name in db db-old db-counters; do
        rocpd2csv -q -j1 -d a -o o $name.db || [ $? -eq 1 ]
        rocpd2csv -q -j3 --reader sqlite -d b -o o $name.db || [ $? -eq 1 ]
        gzip -c $name.db | rocpd2csv -q -d c -o o - || [ $? -eq 1 ]
        diff -r a b
        cut -d, -f2- a/o_*_trace.csv | sort >1
        cut -d, -f2- c/o_*_trace.csv | sort >2
        cmp 1 2
        rm -r a b c
    done
}

@test "a table whose rows have no number of their own is refused" {
    sqlite3 w.db 'CREATE TABLE HIP ("BeginNs" INTEGER PRIMARY KEY, "EndNs" INTEGER, Name TEXT) WITHOUT ROWID;
        INSERT INTO HIP VALUES (1, 2, '"'x'"')'
    try 3 rocpd2csv -d . w.db
    one_line rocpd2csv
    says "table HIP"
    sqlite3 k.db 'CREATE TABLE HIP ("BeginNs" INTEGER PRIMARY KEY, "EndNs" INTEGER, Name TEXT);
        INSERT INTO HIP VALUES (10, 20, '"'x'"'), (30, 40, '"'y'"')'
    same "$(fields hip_api_trace "Function, Start_Timestamp, End_Timestamp" k.db)" 'x,10,20
y,30,40'
    same "$(fields hip_api_trace "Function, Start_Timestamp, End_Timestamp" --reader sqlite k.db)" 'x,10,20
y,30,40'
}

@test "truncated databases are refused" {
    for n in 50 1000 5000 9000; do
        head -c $n db.db >cut.db
        try 3 rocstats cut.db
        one_line rocstats
    done
}

@test "a merged copy says the same" {
    for name in db db-old db-counters; do
        rocmerge -q -o m.db $name.db || [ $? -eq 1 ]
        rocstats summary -q --format csv $name.db >1 || [ $? -eq 1 ]
        rocstats summary -q --format csv m.db >2
        diff 1 2
        rm m.db
    done
}

# stats FOLDER: what rocprof wrote of the same run, and what is made of its database.
stats() {
    rm -rf out
    rocstats -q --style rocprof -d out -o results "$SHARED/rocprof-v1/$1/results.db"
    for file in "$SHARED/rocprof-v1/$1"/results*stats.csv; do
        diff "$file" "out/${file##*/}" || fail "$file"
    done
}

@test "statistics of real runs are those of rocprof to the byte" {
    needs "$SHARED/rocprof-v1/llama-stats/results.db"
    stats gunrock-stats
    stats llama-stats
    stats roctracer-golden/MatrixTranspose_sys_trace/out-r62
    stats roctracer-golden/MatrixTranspose_sys_hsa_trace/out-r62-no-start-stop
    stats roctracer-golden/copy_hsa_trace/out-r62
}

@test "the raw texts of a run and the database that rocprof made of them say the same" {
    run=$SHARED/rocprof-v1/roctracer-golden/MatrixTranspose_sys_trace
    needs "$run/in" "$run/out-r62/results.db"
    rocpd2csv -q -d texts -o o "$run/in"
    rocpd2csv -q -d db -o o "$run/out-r62/results.db"
    for table in hip_api_trace hsa_api_trace marker_api_trace kernel_trace memory_copy_trace; do
        for from in texts db; do # work has its stream and thread in the database only
            tail -n +2 $from/o_$table.csv | cut -d, -f2- | sort >$from.csv
        done
        case $table in
        kernel_trace) sed -i 's/^\([^,]*,[^,]*,[^,]*\),[^,]*,[^,]*,/\1,,,/' texts.csv db.csv ;;
        memory_copy_trace) sed -i 's/^\([^,]*,[^,]*\),[^,]*,/\1,,/' texts.csv db.csv ;;
        esac
        [ -s texts.csv ] || fail "no $table"
        diff texts.csv db.csv
    done
}
