#!/usr/bin/env bats
# RPD files of rocmProfileData: what is read of every version.
# shellcheck disable=SC2154 # bats sets status, output, stderr

load helper

setup() {
    cd "$BATS_TEST_TMPDIR"
    for version in 1 2 3; do
        sqlite3 v$version.rpd <"$TOP/tests/fixtures/rpd/v$version.sql"
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
    rocpd2csv -q --bytes -d out -o o "$@" || [ $? -eq 1 ]
    sqlite3 -csv :memory: ".import out/o_$table.csv t" "SELECT $names FROM t" | tr -d '"'
}

@test "version 2: calls, markers, kernels and copies of two runs" {
    rocstats summary -q --format csv v2.rpd >s.csv || [ $? -eq 1 ]
    same "$(sqlite3 -csv :memory: ".import s.csv t" "SELECT domain, name, calls, total_ns FROM t")" 'KERNELS,"axpy(float*, int)",5,1500
KERNELS,reduce<16>(float*),2,500
HIP,hipMemcpy2DAsync,1,900
HIP,hipLaunchKernel,2,600
HIP,hipMemcpyAsync,1,600
HIP,hipGraphLaunch,1,400
HIP,hipExtModuleLaunchKernel,1,200
MARKERS,"step 0",1,5500
MARKERS,"aten::add, seq = 5, op_id = 12, sizes = [[2, 3]]",1,700
MARKERS,reached,1,0
MEMORY_COPIES,CopyDeviceToHost2D,1,500
MEMORY_COPIES,CopyHostToDevice,1,200
OTHER,OpTable::writeRows,1,6500
OTHER,"",1,100'
}

@test "operations are joined with the calls that launched them, and with what these asked for" {
    same "$(fields kernel_trace "Agent_Id, Queue_Id, Stream_Id, Thread_Id, Kernel_Name, Correlation_Id,
        Workgroup_Size_X, Grid_Size_X, Grid_Size_Y, LDS_Block_Size, Scratch_Size" v2.rpd)" \
        'GPU 2,0,0,71,axpy(float*, int),1,64,256,2,512,16
GPU 2,0,32512,71,reduce<16>(float*),3,0,0,0,0,0
GPU 2,0,32512,71,axpy(float*, int),3,0,0,0,0,0
GPU 3,0,32512,71,reduce<16>(float*),4,256,1024,1,0,0
GPU 2,0,,,axpy(float*, int),0,0,0,0,0,0
GPU 2,0,,,axpy(float*, int),0,0,0,0,0,0
GPU 0,0,0,80,axpy(float*, int),73014444033,32,96,1,0,0'
    same "$(fields memory_copy_trace "Direction, Source_Agent_Id, Destination_Agent_Id, Stream_Id, Correlation_Id, Bytes" \
        v2.rpd)" 'CopyHostToDevice,,GPU 2,0,2,4096
CopyDeviceToHost2D,GPU 3,,32512,5,640'
}

@test "arguments, also those of markers that rocpd.autograd found" {
    try 1 rtg2json -q -f --layout trace --args -o t.json v2.rpd
    same "$(jq -c '[.traceEvents[] | select(.name == "hipMemcpyAsync") | .args | {ptr, size}]' t.json)" \
        '[{"ptr":"0x10","size":"0x1000"}]'
    same "$(jq -c '[.traceEvents[] | select(.name == "hipGraphLaunch") | .args | {graphExec, stream}] | .[0]' t.json)" \
        '{"graphExec":"0x7f","stream":"0x0"}'
    same "$(jq -c '[.traceEvents[] | select(.name | startswith("aten::add")) | .args | {seq, op_id, sizes}] | .[0]' t.json)" \
        '{"seq":"5","op_id":"12","sizes":"[[2, 3]]"}'
    try 0 rtg2json -q -f --layout trace --args -o t.json v3.rpd
    same "$(jq -c '[.traceEvents[] | select(.name == "hipMemcpy") | .args | {dst, sizeBytes, dims}] | .[0]' t.json)" \
        '{"dst":"0x10","sizeBytes":"4096","dims":"{\"x\": 1, \"y\": [2, 3]}"}'
}

@test "with arguments, launches say their grid as it was written, copies their size and ends" {
    try 1 rtg2json -q -f --layout trace --args -o t.json v2.rpd
    same "$(jq -c '[.traceEvents[] | select(.name == "hipExtModuleLaunchKernel") | .args | {stream, gridX, workgroupX}] | .[0]' t.json)" \
        '{"stream":"0x7f00","gridX":"1024","workgroupX":"256"}'
    same "$(jq -c '[.traceEvents[] | select(.name == "hipMemcpy2DAsync") | .args | {width, height, kind, src, dst}] | .[0]' t.json)" \
        '{"width":"64","height":"10","kind":"2","src":"0x2","dst":"0x1"}'
}

@test "hipMalloc and hipFree are allocations, where their arguments are there" {
    sqlite3 v2.rpd "INSERT INTO rocpd_string VALUES (900, 'hipMalloc'), (901, 'hipFree'), (902, 'ptr=0x7f00 | size=0x100000'),
            (903, 'ptr=0x7f00'), (904, 'hipMallocAsync');
        INSERT INTO rocpd_api VALUES (900, 70, 71, 100, 200, 900, 902), (901, 70, 71, 300, 400, 901, 903),
            (902, 70, 71, 400, 450, 904, 1)"
    same "$(fields memory_allocation_trace "Operation, Allocation_Size, Address, Correlation_Id" v2.rpd)" \
        'MEMORY_ALLOCATION_ALLOCATE,1048576,0x0000000000007f00,900
MEMORY_ALLOCATION_FREE,0,0x0000000000007f00,901'
    same "$(fields hip_api_trace "count(*)" v2.rpd)" 9
}

@test "who wrote the file is told by arguments of launches, too; marks of the user are points" {
    sqlite3 v3.rpd "UPDATE rocpd_string SET string = 'CopyHostToDevice' WHERE id = 7"
    same "$(fields kernel_trace Grid_Size_X v3.rpd | paste -sd' ')" "262144 131072"
    sqlite3 v3.rpd "UPDATE rocpd_api SET args_id = 3 WHERE id = 1; UPDATE rocpd_api SET end = start WHERE id = 4"
    same "$(fields kernel_trace Grid_Size_X v3.rpd | paste -sd' ')" "1024 512"
    rocpd2pftrace -q -v -z0 -o t.pftrace v3.rpd
    rocmerge -q -o m.db v3.rpd
    same "$(rocpd2csv -q -d out -o o m.db && grep -c '"load"' out/o_other_api_trace.csv)" 1
    sqlite3 v3.rpd "DELETE FROM rocpd_ustring WHERE id = 2"
    try 1 rocstats summary v3.rpd
    says "rocpd_api: row 2: its text is not there"
}

@test "version 3: machines by stride, grids in work-items, domains of the user" {
    same "$(fields hip_api_trace "Process_Id, Function" v3.rpd | sort)" '77,hipLaunchKernel
77,hipLaunchKernel
77,hipMemcpy'
    same "$(fields kernel_trace "Agent_Id, Queue_Id, Grid_Size_X, Correlation_Id" v3.rpd)" 'GPU 0 (node 0),3,1024,1
GPU 1 (node 1),0,512,68719476741'
    same "$(fields memory_copy_trace "Direction, Source_Agent_Id, Destination_Agent_Id" v3.rpd)" \
        'MEMORY_COPY_HOST_TO_DEVICE,,GPU 0 (node 0)'
    same "$(fields marker_api_trace "Domain, Function" v3.rpd)" 'MARKER_CORE_RANGE_API,epoch 1'
    same "$(fields other_api_trace "Domain, Function" v3.rpd)" app,load
}

@test "a stream with an address above 2^63 is called by it" {
    sqlite3 v2.rpd "UPDATE rocpd_kernelapi SET stream = '0xffff800000001234' WHERE api_ptr_id = 3"
    rocstats streams --table all -q --format csv v2.rpd >s.csv || [ $? -eq 1 ]
    grep -q '"Stream 18446603336221200948"' s.csv
    run ! grep -q '"Stream -' s.csv
}

@test "version 1: what was asked for is kept by operation" {
    same "$(fields kernel_trace "Grid_Size_X, Grid_Size_Y, Correlation_Id" v1.rpd)" 64,3,10
    same "$(fields memory_copy_trace "Source_Agent_Id, Bytes, Correlation_Id" v1.rpd)" 'GPU 0,8192,20'
}

@test "monitors are sampled counters" {
    try 1 rocstats counters --table all --format csv v2.rpd
    [[ "$output" == *'"sclk of gpu 0"'* ]] || fail "$output"
    sqlite3 v2.rpd "INSERT INTO rocpd_monitor (deviceType, deviceId, monitorType, start, end, value)
        VALUES ('gpu', 0, 'power', 1000, 6900, '95.5'), ('gpu', 0, 'power', 6900, 9500, 'nan')"
    same "$(fields counter_sample_trace "Counter_Name, Units, Counter_Value, Timestamp" v2.rpd | sort)" \
        'power of gpu 0,W,95.5,1000
sclk of gpu 0,MHz,1300,5000
sclk of gpu 0,MHz,1300,9000
sclk of gpu 0,MHz,2100,1000'
}

@test "times that are missing, ranges that were only popped, grids too large: counted, never guessed" {
    sqlite3 v1.rpd "INSERT INTO rocpd_op (id, gpuId, queueId, start, end, description_id, opType_id)
            SELECT 900, gpuId, -5, '', end, description_id, opType_id FROM rocpd_op WHERE id = 1;
        INSERT INTO rocpd_op (id, gpuId, queueId, start, end, description_id, opType_id)
            SELECT 901, gpuId, queueId, start, NULL, description_id, opType_id FROM rocpd_op WHERE id = 1;
        INSERT INTO rocpd_op (id, gpuId, queueId, start, end, description_id, opType_id)
            SELECT 902, gpuId, -5, start, end, description_id, opType_id FROM rocpd_op WHERE id = 1;
        INSERT INTO rocpd_string VALUES (900, 'UserMarker');
        INSERT INTO rocpd_api (id, pid, tid, start, end, apiName_id, args_id)
            SELECT 900, pid, tid, 0, end, 900, args_id FROM rocpd_api WHERE id = 10;
        INSERT INTO rocpd_api (id, pid, tid, start, end, apiName_id, args_id)
            SELECT 901, -1, tid, start, end, apiName_id, args_id FROM rocpd_api WHERE id = 10"
    try 1 rocstats summary v1.rpd
    says "rocpd_op: row 900: a time is missing"
    says "rocpd_op: row 901: a time is missing"
    says "rocpd_api: row 900: a range without a begin"
    says "rocpd_api: row 901: a field is not a number"
    says "3 records left out: no valid time (3); 1 record repaired: value of a wrong type (1)"
    [ "$(fields kernel_trace Queue_Id v1.rpd | sort -n | tail -n 1)" = 4294967291 ]
    sqlite3 v2.rpd "UPDATE rocpd_kernelapi SET gridX = 4294967295 WHERE api_ptr_id = 1"
    try 1 rocstats summary v2.rpd
    says "rocpd_op: row 1: a field is not a number"
    sqlite3 v2.rpd "UPDATE rocpd_kernelapi SET gridX = -5 WHERE api_ptr_id = 1"
    try 1 rocstats summary v2.rpd
    says "rocpd_op: row 1: a field is not a number"
}

@test "copies whose sizes the tracer lost: a notice" {
    try 1 rocstats summary v2.rpd
    [[ "$stderr" != *"no size"* ]] || fail "no size is lost"
    sqlite3 v2.rpd "UPDATE rocpd_copyapi SET size = '', width = ''"
    try 1 rocstats summary v2.rpd
    says "2 copies have no size: RPD loses those of 2 GiB and more"
    sqlite3 v2.rpd "UPDATE rocpd_copyapi SET size = 1e300"
    try 1 rocstats summary v2.rpd
    [[ "$stderr" != *"no size"* ]] || fail "what is no number was not lost by the tracer"
    says "a field is not a number"
}

@test "any number of workers, any order of rocpd_api_ops, compressed: the same" {
    rocpd2pftrace -q -z0 --args -o a.pftrace v2.rpd || [ $? -eq 1 ]
    sqlite3 v2.rpd "CREATE TABLE l AS SELECT api_id, op_id FROM rocpd_api_ops ORDER BY op_id % 3, op_id DESC;
        DELETE FROM rocpd_api_ops; INSERT INTO rocpd_api_ops (api_id, op_id) SELECT api_id, op_id FROM l; DROP TABLE l"
    for j in 1 5; do
        rocpd2pftrace -q -z0 --args -j$j -o b.pftrace v2.rpd || [ $? -eq 1 ]
        cmp a.pftrace b.pftrace
    done
    gzip v2.rpd
    rocpd2pftrace -q -z0 --args -o b.pftrace v2.rpd.gz || [ $? -eq 1 ]
    cmp a.pftrace b.pftrace
}

@test "rows that belong to nothing are counted: links, frames, values of counters" {
    sqlite3 v2.rpd "DELETE FROM rocpd_api WHERE id IN (7, 8); DELETE FROM rocpd_op WHERE id IN (8, 9);
        DELETE FROM rocpd_api_ops WHERE id = 8"
    for how in "-j1" "-j3" "--reader sqlite"; do
        try 1 rocstats summary $how v2.rpd
        says "rocpd_api_ops: row 9: it belongs to no operation"
        says "value without an event (1)"
    done
    sqlite3 v3.rpd "INSERT INTO rocpd_api_ops (id, api_id, op_id) VALUES (801, NULL, 1), (802, 1, ''), (803, 3, 1), (804, 1, 1);
        CREATE TABLE rocpd_stackframe (id INTEGER PRIMARY KEY, api_ptr_id INTEGER, depth INTEGER, name_id INTEGER);
        CREATE TABLE rocpd_counter (id INTEGER PRIMARY KEY, value REAL, op_id INTEGER, name_id INTEGER);
        INSERT INTO rocpd_stackframe VALUES (1, 1, 0, 2), (2, 900, 0, 2), (3, 1, 1, 900);
        INSERT INTO rocpd_counter VALUES (1, 2.0, 1, 2), (2, 2.0, 900, 2), (3, 'much', 1, 2), (4, 1, 1, 900);
        INSERT INTO rocpd_counter SELECT 5, 1, o.id, 2 FROM rocpd_op o JOIN rocpd_string s ON s.id = opType_id
            WHERE s.string LIKE '%COPY%' LIMIT 1"
    try 1 rocstats --table domains v3.rpd
    says "value without an event (7), counter value that is not a finite number (1)"
    says "unknown name id (1)"
    sqlite3 v3.rpd "DELETE FROM rocpd_counter WHERE id > 1; DELETE FROM rocpd_api_ops WHERE id > 800"
    try 1 rocstats --table domains v3.rpd
    says "rocpd_stackframe: row 2: it belongs to no call"
    says "rocpd_stackframe: row 3: its name is not there"
    says "1 record left out: value without an event (1); 1 record repaired: unknown name id (1)"
}

@test "stack frames are an argument of the call, innermost first; values of counters are of their kernel" {
    sqlite3 v3.rpd "CREATE TABLE rocpd_stackframe (id INTEGER PRIMARY KEY, api_ptr_id INTEGER, depth INTEGER, name_id INTEGER);
        CREATE TABLE rocpd_counter (id INTEGER PRIMARY KEY, value REAL, op_id INTEGER, name_id INTEGER);
        INSERT INTO rocpd_string VALUES (700, '#0 0x7f in hipLaunchKernel() at lib.so'), (701, '#1 0x20 in main at app.hip:17:5'),
            (702, 'SQ_WAVES'), (703, 'GRBM_COUNT'), (4294967296 + 704, '#0 0x33 in hipLaunchKernel() at other.so');
        INSERT INTO rocpd_stackframe VALUES (1, 1, 1, 701), (2, 1, 0, 700), (3, 4294967301, 0, 704);
        INSERT INTO rocpd_counter VALUES (1, 64.5, 1, 702), (2, '7', 1, 703);
        UPDATE rocpd_api SET id = 4294967301 WHERE id = 5; UPDATE rocpd_api_ops SET api_id = 4294967301 WHERE api_id = 5"
    for how in "-j1" "-j3" "--reader sqlite"; do
        try 0 rtg2json -q -f --layout trace --args $how -o t.json v3.rpd
        same "$(jq -c '[.traceEvents[] | select(.args.call_stack) | .args.call_stack] | unique' t.json)" \
            '["#0 0x33 in hipLaunchKernel() at other.so","#0 0x7f in hipLaunchKernel() at lib.so\n#1 0x20 in main at app.hip:17:5"]'
        rm -rf out
        rocpd2csv -q $how -d out -o o v3.rpd
        same "$(sqlite3 -csv :memory: ".import out/o_counter_collection.csv t" \
            "SELECT Kernel_Name, Dispatch_Id, Counter_Name, Counter_Value FROM t ORDER BY 3" | tr -d '"')" \
            'axpy(float*, int),1,GRBM_COUNT,7
axpy(float*, int),1,SQ_WAVES,64.5'
    done
    rocmerge -q -o m.db v3.rpd
    same "$(sqlite3 m.db "SELECT count(*), sum(value) FROM rocpd_pmc_event")" "2|71.5"
}

@test "who wrote it is told of each session, and whose monitors they are" {
    # the second session gets copies as rocprofiler-sdk calls them: its grid counts work-items
    sqlite3 v2.rpd "INSERT INTO rocpd_string VALUES (4294967310, 'MEMORY_COPY_HOST_TO_DEVICE')"
    same "$(fields kernel_trace "Thread_Id, Grid_Size_X" v2.rpd | sort -u | paste -sd' ')" \
        ",0 71,0 71,1024 71,256 80,3"
    # a value belongs to the session that ran at the time; the first of several; the last one behind all
    sqlite3 v2.rpd "DELETE FROM rocpd_monitor; INSERT INTO rocpd_monitor (deviceType, deviceId, monitorType, start, end, value)
        VALUES ('gpu', 0, 'sclk', 10, 400, '1'), ('gpu', 0, 'sclk', 400, 7000, '2'), ('gpu', 0, 'sclk', 20050, 30000, '3'),
            ('gpu', 0, 'sclk', 30000, 40000, '4')"
    same "$(fields counter_sample_trace "Process_Id, Counter_Value, Timestamp" v2.rpd | sort | paste -sd' ')" \
        "70,1,10 70,2,400 70,2,7000 80,3,20050 80,4,30000 80,4,40000"
}

@test "tables that are not there, and none at all" {
    for table in kernelapi copyapi api_ops string monitor; do
        cp v2.rpd cut.rpd
        sqlite3 cut.rpd "DROP TABLE rocpd_$table"
        try 1 rocpd2csv -q -d out cut.rpd
    done
    sqlite3 v3.rpd "DELETE FROM rocpd_api; DELETE FROM rocpd_op; DELETE FROM rocpd_api_ops"
    try 0 rocpd2csv -d out2 v3.rpd
}

@test "damaged and truncated files: an error or counted rows, never more" {
    size=$(stat -c %s v2.rpd)
    for n in 50 1000 5000 9000 $((size - 4096)); do
        head -c "$n" v2.rpd >cut.rpd
        try 3 rocstats cut.rpd
        one_line rocstats
    done
    for ((at = 4096; at < size; at += 4096)); do
        cp v2.rpd bad.rpd
        printf '\377\377\377\377\377\377\377\377\377' | dd of=bad.rpd bs=1 seek=$((at + 2)) conv=notrunc status=none
        run rocstats all -q -o p.html bad.rpd
        [ "$status" -lt 4 ] || fail "damage at $at"
    done
}

@test "every output, either reader, any number of workers, beside other inputs: the same" {
    for f in v1.rpd v2.rpd v3.rpd; do
        for tool in "rocpd2csv -d . -o o" "rocpd2pftrace --args -z 0 -o t.pftrace" \
            "rtg2json -f --args --layout trace -o t.json" "rocstats all --format json -o s.json"; do
            for how in "-j1" "-j3" "-j2 --reader sqlite"; do
                mkdir run && cd run
                $tool -q $how ../$f >/dev/null || [ $? -eq 1 ]
                cd ..
                if [ -d first ]; then diff -r first run && rm -r run; else mv run first; fi
            done
            rm -r first
        done
    done
    rocpd2csv -q -d a -o o v3.rpd "$FIXTURES/schema-3.0.5.db"
    rocpd2csv -q -d b -o o -j3 "$FIXTURES/schema-3.0.5.db" v3.rpd
    for table in a/*.csv; do cmp <(sort "$table") <(sort "b/${table#a/}"); done
    [ -x "$BUILD/bin/rocpd2otf2" ] || return 0
    for j in 1 3; do rocpd2otf2 -q -j$j --args -o $j/t.otf2 v3.rpd; done
    diff -r 1 3
}

@test "merged into a database it reads as before" {
    try 1 rocmerge -q -o m.db v2.rpd
    same "$(sqlite3 m.db "PRAGMA integrity_check")" ok
    diff <(rocstats summary -q --format csv v2.rpd) <(rocstats summary -q --format csv m.db)
}

@test "JSON that rpd2tracing.py makes of it: numbers are strings" {
    cat >t.json <<'END'
[ {}
,{"name": "process_name", "ph": "M", "pid":"2","args":{"name":"GPU2"}}
,{"name":"thread_name","ph":"M","pid":"70","tid":"71","args":{"name":"Hip 71"}}
,{"pid":"2","tid":"0","name":"axpy(float*, int)","ts":"1.6","dur":"1","ph":"X","args":{"desc":"KernelExecution"}}
,{"pid":"70","tid":"71","name":"hipLaunchKernel","ts":"1.0","dur":"0.5","ph":"X","args":{"desc":""}}
,{"pid":"70","tid":"71","cat":"api_op","name":"api_op","ts":"1.6","id":"1","ph":"s"}
,{"pid":"2","tid":"0","cat":"api_op","name":"api_op","ts":"1.6","id":"1","ph":"f","bp":"e"}
,{"pid":"2","name":"QueueDepth","ph":"C","ts":1.0,"args":{"depth":1}}
]
END
    try 0 rocpd2csv -v -d out t.json
    says "2 region, 1 sample"
    grep -q '"hipLaunchKernel",70,71,.*,1000,1500$' out/*_other_api_trace.csv
}

@test "real files: calls and time of every name as SQL counts them" {
    needs "$SHARED/rpd/mytrace.rpd.gz"
    zcat "$SHARED/rpd/mytrace.rpd.gz" >mytrace.rpd
    for f in mytrace.rpd "$SHARED/rpd/matmul_result.rpd"; do
        try 0 rocstats summary -q --format csv "$f"
        printf '%s\n' "$output" >got.csv
        sqlite3 -csv :memory: ".import got.csv t" \
            "SELECT name, SUM(calls), SUM(total_ns) FROM t WHERE domain <> 'MEMORY_ALLOCATIONS'
                GROUP BY 1 ORDER BY 1" >got
        sqlite3 -csv -readonly "$f" "SELECT name, COUNT(*), SUM(duration) FROM (
            SELECT CASE n.string WHEN 'UserMarker' THEN a.string ELSE n.string END AS name, end - start AS duration
            FROM rocpd_api JOIN rocpd_string n ON n.id = apiName_id JOIN rocpd_string a ON a.id = args_id
            UNION ALL SELECT CASE d.string WHEN '' THEN t.string ELSE d.string END, end - start
            FROM rocpd_op JOIN rocpd_string d ON d.id = description_id JOIN rocpd_string t ON t.id = opType_id)
            GROUP BY 1 ORDER BY 1" >expected
        diff expected got
    done
}

@test "real files: time on GPUs as the view busy says, calls, grids and threads of kernels as SQL joins them" {
    needs "$SHARED/rpd/mytrace.rpd.gz"
    zcat "$SHARED/rpd/mytrace.rpd.gz" >mytrace.rpd
    for f in "$SHARED/rpd/matmul_result.rpd" mytrace.rpd; do
        rocpd2csv -q -d out -o o "$f"
        same "$(sqlite3 :memory: ".import --csv out/o_kernel_trace.csv k" ".import --csv out/o_memory_copy_trace.csv c" \
            "SELECT sum(e - s) FROM (SELECT Start_Timestamp s, End_Timestamp e FROM k
                UNION ALL SELECT Start_Timestamp, End_Timestamp FROM c)")" \
            "$(sqlite3 -readonly "$f" "SELECT sum(GpuTime) FROM busy")"
        sqlite3 -readonly "$f" "SELECT o.id, l.api_id, a.tid, ifnull(k.groupSegmentSize, 0),
            ifnull(k.gridX * CASE n.string WHEN 'hipExtModuleLaunchKernel' THEN 1 ELSE k.workgroupX END, 0)
            FROM rocpd_op o JOIN rocpd_api_ops l ON l.op_id = o.id JOIN rocpd_api a ON a.id = l.api_id
            JOIN rocpd_string n ON n.id = a.apiName_id LEFT JOIN rocpd_kernelapi k ON k.api_ptr_id = a.id
            JOIN rocpd_string t ON t.id = o.opType_id AND t.string IN ('KernelExecution', 'Task')" | sort >expected
        sqlite3 :memory: ".import --csv out/o_kernel_trace.csv k" \
            "SELECT Dispatch_Id, Correlation_Id, Thread_Id, LDS_Block_Size, Grid_Size_X FROM k" | sort >got
        [ "$(wc -l <got)" -gt 20 ]
        diff expected got
    done
}

@test "real files: the views top and busy of RPD say the same" {
    needs jq "$SHARED/rpd/mytrace.rpd.gz"
    zcat "$SHARED/rpd/mytrace.rpd.gz" >mytrace.rpd
    for f in "$SHARED/rpd/matmul_result.rpd" mytrace.rpd; do
        sqlite3 -readonly "$f" "SELECT json_array(Name, TotalCalls, TotalDuration) FROM top" | LC_ALL=C sort >expected
        rocstats --table summary -q --top 0 --format json "$f" | jq -c '.tables[0].rows[] |
            select(.domain == "KERNELS" or .domain == "MEMORY_COPIES") |
            [.name, .calls, (.total_ns / 1000 | floor)]' | LC_ALL=C sort >got
        [ "$(wc -l <got)" -gt 15 ]
        diff expected got
        same "$(rocstats overlap -q --format json "$f" | jq -r '[.tables[0].rows[] | .wall_ns] | add')" \
            "$(sqlite3 -readonly "$f" "SELECT WallTime FROM busy")"
    done
}

@test "ids that are not the key of their table, or no numbers" {
    local of
    for of in 1 2 3; do
        rocstats summary doctor -q --format json v$of.rpd >expected || [ $? -eq 1 ]
        sqlite3 v$of.rpd 'CREATE TABLE copy AS SELECT * FROM rocpd_api; DROP TABLE rocpd_api;
            ALTER TABLE copy RENAME TO rocpd_api'
        rocstats summary doctor -q --format json v$of.rpd >got || [ $? -eq 1 ]
        diff expected got
    done
    # Each would be looked for again and again.
    sqlite3 v3.rpd "UPDATE rocpd_api SET id = 'x' || id"
    timeout 20 rocstats summary -q v3.rpd >/dev/null || [ $? -eq 1 ]
}
