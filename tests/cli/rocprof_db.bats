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
    says "KERN: row 3: the value of a counter is not a number"
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

@test "many columns, and more text than is read at once" {
    # 60 counters, and names of 300 kB: the columns of a row are read by two cursors.
    local counters values
    counters=$(for i in $(seq 60); do printf ', "C%d" INTEGER' "$i"; done)
    values=$(for i in $(seq 60); do printf ', i * %d' "$i"; done)
    sqlite3 wide.db "CREATE TABLE KERN (\"Index\" INTEGER, \"KernelName\" TEXT, \"gpu-id\" INTEGER,
            \"queue-id\" INTEGER, \"pid\" INTEGER, \"tid\" INTEGER$counters, \"BeginNs\" INTEGER,
            \"EndNs\" INTEGER);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
        INSERT INTO KERN SELECT i - 1, '\"k' || i % 3 || replace(hex(zeroblob(150000)), '0', 'x') || '(int)\"', 0,
            0, 70, 71$values, 1000 * i, 1000 * i + 500 FROM n"
    for j in 1 4; do
        rocpd2csv -q -j $j --kinds counter -o - wide.db >counters.$j
    done
    cmp counters.1 counters.4
    [ "$(wc -l <counters.1)" -eq 6001 ]
    # of the last dispatch the first and the last counter
    tail -60 counters.1 | awk -F, '{ gsub(/"/, ""); s += $(NF - 2); n[$(NF - 3)] = $(NF - 2) }
        END { exit !(n["C1"] == 100 && n["C60"] == 6000 && s == 183000) }'
}

@test "rows that repeat others but in times and Index are what they are when each is read anew" {
    # One of 13 rows differs in something else; a column for correlation ids has every row read anew.
    sqlite3 odd.db "CREATE TABLE HIP (BeginNs, EndNs, pid, tid, Name, args, \"Index\", Data, __section);
        CREATE TABLE OPS (BeginNs, EndNs, \"dev-id\", \"queue-id\", Name, pid, tid, \"stream-id\",
            \"Index\", Data, __section);
        CREATE TABLE n (i, odd); CREATE TABLE odd (i, begin, end, pid, tid, name, args, number, data);
        WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 4000)
            INSERT INTO n SELECT i, CASE WHEN i % 13 = 0 THEN i / 13 % 22 ELSE 99 END FROM r;
        INSERT INTO odd SELECT i,
            CASE odd WHEN 0 THEN 0 WHEN 1 THEN NULL WHEN 2 THEN -5 WHEN 3 THEN '777' WHEN 4 THEN 1.5
                ELSE 1000 * i END,
            CASE odd WHEN 5 THEN 0 WHEN 6 THEN NULL WHEN 7 THEN 5 WHEN 0 THEN 0 ELSE 1000 * i + 400 END,
            CASE odd WHEN 8 THEN NULL WHEN 9 THEN 71 WHEN 10 THEN '70' WHEN 11 THEN 'x' ELSE 70 END,
            CASE odd WHEN 12 THEN NULL WHEN 13 THEN 7.0 ELSE 70 + i % 3 END,
            CASE odd WHEN 14 THEN NULL WHEN 15 THEN '' WHEN 16 THEN x'4142' WHEN 17 THEN 'hsa_dispatch'
                WHEN 18 THEN '{}' ELSE substr('hipMemcpyAsync hipMalloc hipFree', 1, 8 + i % 11) END,
            CASE i % 3 WHEN 0 THEN NULL WHEN 1 THEN '( sizeBytes(' || i || ') kind(2))' ELSE '' END,
            CASE odd WHEN 19 THEN NULL WHEN 20 THEN 0 WHEN 21 THEN '12' ELSE i END,
            CASE i % 17 WHEN 0 THEN 'Size=' || i WHEN 1 THEN NULL ELSE '' END FROM n;
        INSERT INTO HIP SELECT begin, end, pid, tid, name, args, number, data, 2 FROM odd;
        INSERT INTO OPS SELECT begin, end, i % 2, i % 5, CASE WHEN i % 7 = 0 THEN 'CopyHostToDevice'
            ELSE name END, pid, tid, CASE WHEN i % 11 THEN 1 END, number, data, 6 FROM odd;
        DROP TABLE n; DROP TABLE odd"
    cp odd.db anew.db
    sqlite3 anew.db 'ALTER TABLE HIP ADD "Correlation_Id"; ALTER TABLE OPS ADD "Correlation_Id"'
    for input in odd anew; do
        mkdir -p $input
        mv $input.db in.db
        rocpd2csv -j2 -d $input -o o in.db 2>$input/said || [ $? -eq 1 ]
        rocstats -q -j1 --memory 1 summary --format csv in.db >$input/stats || [ $? -eq 1 ]
    done
    diff -r odd anew
    [ "$(cat odd/*.csv | wc -l)" -gt 7000 ]
}

@test "before ROCm 4.3 ranges of thread 0 were started and stopped: the same as in JSON" {
    sqlite3 ranges.db 'CREATE TABLE rocTX ("BeginNs" INTEGER, "EndNs" INTEGER, "pid" INTEGER,
            "tid" INTEGER, "Name" TEXT, "Index" INTEGER);
        INSERT INTO rocTX VALUES (1000, 2000, 0, 71, '"'\"pushed\"', 0), (1500, 2501, 0, 0, '\"started\"', 1)"
    [ "$(rocpd2csv -q --kinds marker -o - ranges.db | tail -n +2 | cut -d, -f3,5,7-)" = \
        $'"pushed",71,1000,2000\n"started",,1500,2500' ]
    local run=$SHARED/rocprof-v1/roctracer-golden/roctx_test_trace
    needs "$run/out-r40/results.db"
    for version in r40 r62; do
        for from in db json; do
            rocpd2csv -q --kinds marker -o - "$run/out-$version/results.$from" | cut -d, -f2- >$from.csv
        done
        cmp db.csv json.csv || fail "$version"
    done
}

# copies FILE: of each copy its name, size and the GPUs between which it goes.
copies() {
    rocpd2csv -q --bytes --kinds memory_copy -o - "$1" |
        awk -F, 'NR > 1 { gsub(/"/, ""); print $3, $NF, $5 ">" $6 }'
}

@test "copies have the size of their call's arguments, and the direction if nothing else tells it" {
    sqlite3 copies.db 'CREATE TABLE HIP ("BeginNs" INTEGER, "EndNs" INTEGER, "pid" INTEGER,
            "tid" INTEGER, "Name" TEXT, "args" TEXT, "Index" INTEGER, "__section" INTEGER);
        CREATE TABLE COPY ("BeginNs" INTEGER, "EndNs" INTEGER, "dev-id" INTEGER, "queue-id" INTEGER,
            "Name" TEXT, "pid" INTEGER, "tid" INTEGER, "roctx-range" TEXT, "Index" INTEGER,
            "__section" INTEGER);'
    local i=0 name args copy
    while IFS='|' read -r name args copy; do
        i=$((i + 1))
        sqlite3 copies.db "INSERT INTO HIP VALUES (${i}000, ${i}900, 70, 70, '$name', '$args', $i, 2);
            INSERT INTO COPY VALUES (${i}100, ${i}800, 2, 0, '$copy', 70, 70, '', $i, 1)"
    done <<'END'
hipMemcpy|( dst(0x10) src(0x20) sizeBytes(4096) kind(1))|CopyHostToDevice
hipMemcpyAsync|( dst(0x10) src(0x20) sizeBytes(64) kind(2) stream(1))|hipMemcpyAsync
hipMemcpy2D|( dst(0x10) dpitch(64) src(0x20) spitch(32) width(32) height(8) kind(3))|hipMemcpy2D
hipMemset|( dst(0x10) value(0) sizeBytes(100))|FillBuffer
hipMemcpy|( dst(0x10) src(0x20) sizeBytes(x) kind(9))|CopyDeviceToHost
hipMemcpy|( dst(0x10) src(0x20) sizeBytes(99999999999999999999) kind(0))|hipMemcpy
hipMemcpy|( dst(0x10) src(0x20) sizeBytes(18446744073709551615))|CopyDeviceToHost
hipMemcpy|( dst(sizeBytes(8) mysizeBytes(7|CopyDeviceToHost
hipLaunchKernel|( sizeBytes(5))|CopyDeviceToHost
hipMemcpy|( dst(0x10) src(0x20) sizeBytes(16) kind(0))|CopyHostToHost
END
    # A call that made two copies does not say how large each is.
    sqlite3 copies.db "INSERT INTO HIP VALUES (20000, 20900, 70, 70, 'hipMemcpy', '( sizeBytes(8))', 20, 2);
        INSERT INTO COPY VALUES (20100, 20200, 2, 0, 'CopyHostToDevice', 70, 70, '', 20, 1),
                                (20300, 20400, 2, 0, 'CopyHostToDevice', 70, 70, '', 20, 1);"
    cat >expected <<'END'
CopyHostToDevice 4096 >GPU 2
hipMemcpyAsync 64 GPU 2>
hipMemcpy2D 256 GPU 2>GPU 2
FillBuffer 100 >GPU 2
CopyDeviceToHost 0 GPU 2>
hipMemcpy 0 >GPU 2
CopyDeviceToHost 0 GPU 2>
CopyDeviceToHost 8 GPU 2>
CopyDeviceToHost 0 GPU 2>
CopyHostToHost 16 >
CopyHostToDevice 0 >GPU 2
CopyHostToDevice 0 >GPU 2
END
    diff expected <(copies copies.db)
    for j in 1 3; do
        diff <(rocpd2csv -q -j $j --bytes -o - --kinds memory_copy copies.db) \
            <(rocpd2csv -q --bytes -o - --kinds memory_copy copies.db)
    done
    # Filters of calls do not take the size away.
    [ "$(rocpd2csv -q --bytes --include copy -o - --kinds memory_copy copies.db | grep -c ,4096)" -eq 1 ]
    # The same in raw texts.
    mkdir raw
    cat >raw/hip_api_trace.txt <<'END'
1000000001000:1000000001900 70:70 hipMemcpy(dst=0x10, src=0x20, sizeBytes=4096, kind=1) :1
1000000002000:1000000002900 70:70 hipMemcpyAsync(dst=0x10, src=0x20, sizeBytes=64, kind=2, stream=0x9) :2
END
    cat >raw/hcc_ops_trace.txt <<'END'
1000000001100:1000000001800 2:0 CopyHostToDevice:1:70
1000000002100:1000000002800 2:0 CopyDeviceToHost:2:70
END
    cat >raw/hsa_api_trace.txt <<'END'
1000000003000:1000000003900 70:70 hsa_amd_memory_async_copy(0x10, {handle=3}, 0x20, {handle=4}, 77, 0, 0, {handle=9}) = 0 :3
END
    echo "1000000003100:1000000003200 async-copy:3:70" >raw/async_copy_trace.txt
    printf '%s\n' "CopyHostToDevice 4096 >GPU 2" "CopyDeviceToHost 64 GPU 2>" "async-copy 77 >" |
        diff - <(copies raw)
    # Where calls of HSA have no numbers, those of copies count on their own.
    sed -i 's/ :3$//' raw/hsa_api_trace.txt
    sed -i 's/:3:70/:1:70/' raw/async_copy_trace.txt
    [ "$(copies raw | tail -1)" = "async-copy 0 >" ]
    # In JSON an arrow says which call it was.
    cat >copy.json <<'END'
{ "traceEvents":[{}
,{"ph":"X","name":"CopyHostToDevice","pid":1,"tid":0,"ts":"5000","dur":"2",
  "args":{
    "BeginNs":"5000000",
    "EndNs":"5002000",
    "dev-id":"2",
    "queue-id":"0",
    "Name":"CopyHostToDevice",
    "pid":"70",
    "tid":"70"
  }
}
,{"ph":"X","name":"hipMemcpy","pid":2,"tid":70,"ts":"4000","dur":"10",
  "args":{
    "BeginNs":"4000000",
    "EndNs":"4010000",
    "pid":"70",
    "tid":"70",
    "Name":"hipMemcpy",
    "args":"( dst(0x10) src(0x20) sizeBytes(4096) kind(1))"
  }
}
,{"ts":4005,"ph":"s","cat":"DataFlow","id":0,"pid":2,"tid":70,"name":"dep"}
,{"ts":5000,"ph":"t","cat":"DataFlow","id":0,"pid":1,"tid":0,"name":"dep"}
],
"otherData": {
  }
}
END
    [ "$(copies copy.json)" = "CopyHostToDevice 4096 >GPU 2" ]
}

# stats FOLDER: what rocprof wrote of the same run, and what is made of its database.
stats() {
    rm -rf out
    rocstats -q --style rocprof -d out -o results "$SHARED/rocprof-v1/$1/results.db"
    for file in "$SHARED/rocprof-v1/$1"/results*stats.csv; do
        diff "$file" "out/${file##*/}" || fail "$file"
    done
}

# domains INPUT...: calls and nanoseconds of each.
domains() {
    rocstats --table domains -q --format csv "$@" | tr -d '"' | awk -F, 'NR > 1 { print $1, $2, $3 }'
}

@test "statistics: calls of the driver, quotes as the version has them, ends of names by kernel" {
    sqlite3 old.db 'CREATE TABLE KFD ("BeginNs" INTEGER, "EndNs" INTEGER, "pid" INTEGER, "tid" INTEGER,
            "Name" TEXT, "args" TEXT, "Index" INTEGER);
        CREATE TABLE OPS ("BeginNs" INTEGER, "EndNs" INTEGER, "dev-id" INTEGER, "queue-id" INTEGER,
            "Name" TEXT, "pid" INTEGER, "tid" INTEGER, "Index" INTEGER, "proc-id" INTEGER);
        CREATE TABLE A ("Index" INTEGER, "KernelName" TEXT, "gpu-id" INTEGER, "queue-id" INTEGER,
            "queue-index" INTEGER, "pid" INTEGER, "tid" INTEGER, "BeginNs" INTEGER, "EndNs" INTEGER);
        INSERT INTO KFD VALUES (1000, 2000, 4, 71, '"'hsaKmtAllocMemory', '(1)', 1"'),
                               (3000, 3500, 4, 71, '"'hsaKmtFreeMemory', '(2)', 2"');
        INSERT INTO OPS VALUES (4000, 4500, 0, 0, '"'add<int, 2>(int*)', 6, 0, 3, 70"');
        INSERT INTO A VALUES (0, '"'\"mul(int, int) [clone .kd]\"', 0, 0, 0, 70, 71, 5000, 7000"');'
    try 0 rocstats -q --style rocprof -d old old.db
    diff - old/results.kfd_stats.csv <<'END'
"Name","Calls","TotalDurationNs","AverageNs","Percentage"
hsaKmtAllocMemory,1,1000,1000,66.66666666666667
hsaKmtFreeMemory,1,500,500,33.333333333333336
END
    diff - old/results.stats.csv <<'END'
"Name","Calls","TotalDurationNs","AverageNs","Percentage"
"mul(int, int) [clone .kd]",1,2000,2000,80.0
add<int, 2>(int*),1,500,500,20.0
END
    [ "$(domains old.db | sort | tr '\n' ' ')" = "KERNELS 2 2500 KFD 2 1500 " ] || fail "$(domains old.db)"
    try 0 rocstats -q --domain kfd summary --format csv old.db
    [[ "$output" == *hsaKmtFreeMemory* && "$output" != *mul* ]]
    # Newer tables, and any input beside them that is newer: all names are in quotes.
    sqlite3 old.db 'ALTER TABLE KFD ADD COLUMN "__section"; ALTER TABLE OPS ADD COLUMN "__section";
        ALTER TABLE OPS ADD COLUMN "roctx-range"'
    try 0 rocstats -q --style rocprof -d new old.db
    grep -q '^"hsaKmtFreeMemory",' new/results.kfd_stats.csv
    grep -q '^"add<int, 2>(int\*)",' new/results.stats.csv
    # The JSON that is made of it has them where rocprof had them.
    rtg2json --layout rocprof -o kfd.json old.db
    grep -q '"name":"CPU KFD API"' kfd.json
    [ "$(domains kfd.json | grep KFD)" = "KFD 2 1500" ]
}

@test "statistics of real runs are those of rocprof to the byte" {
    needs "$SHARED/rocprof-v1/llama-stats/results.db"
    stats gunrock-stats
    stats kokkos-a # before ROCm 5.2: without quotes
    stats llama-stats
    stats roctracer-golden/MatrixTranspose_sys_trace/out-r62
    stats roctracer-golden/MatrixTranspose_sys_hsa_trace/out-r62-no-start-stop
    stats roctracer-golden/copy_hsa_trace/out-r62
}

@test "the raw texts of a run and the database that rocprof made of them say the same" {
    run=$SHARED/rocprof-v1/roctracer-golden/MatrixTranspose_sys_trace
    needs "$run/in" "$run/out-r62/results.db"
    rocpd2csv -q --bytes -d texts -o o "$run/in"
    rocpd2csv -q --bytes -d db -o o "$run/out-r62/results.db"
    [ "$(copies "$run/in" | grep -c " 4194304 ")" -eq 200 ]
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
