#!/usr/bin/env bats
# Chrome's trace JSON and PyTorch's (Kineto): what is read of it, whole or broken.
# shellcheck disable=SC2154 # bats sets status, output, stderr

load helper

JSON=$TOP/tests/fixtures/chrome

# Name, calls and total time of everything, sorted.
totals() {
    rocstats summary -q --format csv "$@" | tail -n +2 | rev | cut -d, -f11- | rev | sort
}

@test "--min-duration: allocations without a duration pass" {
    json=$TOP/tests/fixtures/chrome/kineto.json
    try 0 rocstats --table domains --min-duration 4us --format csv "$json"
    [ "$(grep MEMORY_ALLOCATIONS <<<"$output")" = "$(rocstats --table domains --format csv "$json" | grep MEMORY_ALLOCATIONS)" ]
    [[ "$output" != *MEMORY_COPIES* ]]
}

@test "the number of workers changes nothing" {
    for j in 1 2 7; do
        try 0 rocpd2pftrace -q -j$j --args -o t$j.pftrace "$JSON/kineto.json"
        cmp t1.pftrace t$j.pftrace
    done
}

@test "no text of unknown members reaches an output" {
    try 0 rocpd2pftrace -q -z0 --args -o t.pftrace "$JSON/kineto.json"
    try 0 rtg2json -q -f --args -o t.json "$JSON/kineto.json"
    try 0 rocmerge -q -o t.db "$JSON/kineto.json"
    try 0 rocstats all -q --format html -o t.html "$JSON/kineto.json"
    ! grep -a -e SECRET_TOKEN -e do-not-copy -e /home/somebody t.pftrace t.json t.db t.html
}

@test "a file that ends early: what is whole is read, and the loss is told" {
    head -c 3500 "$JSON/kineto.json" >cut.json # behind an event
    try 1 rocstats summary cut.json
    says "cut.json: the file is truncated: only what is complete is read"
    try 3 rocstats summary --strict cut.json
    says "cut.json: the file is truncated"
    head -c 3300 "$JSON/kineto.json" >cut.json
    try 1 rocstats summary cut.json
    says "cut.json: the file is truncated: only what is complete is read"
    totals cut.json >cut || [ $? -eq 1 ]
    totals "$JSON/kineto.json" >whole
    [ -s cut ]
    [ -z "$(comm -23 cut whole)" ]
    # Only the closing brackets are missing: as Chrome itself leaves it.
    head -n 1 "$JSON/general.json" | head -c -2 >open.json
    printf ',\n{"ph":"X","name":"x","pid":1,"tid":1,"ts":1,"dur":2}' >>open.json
    try 0 rocstats summary open.json
}

@test "quotes without a backslash, as old builds wrote them" {
    sed 's/aten::linear \\"quoted\\"/aten::linear "quoted" (1)/' "$JSON/kineto.json" >quotes.json
    try 0 rocstats summary -q --format csv quotes.json
    [[ $output == *'"aten::linear ""quoted"" (1)",1,200125,'* ]]
}

@test "no traceEvents, and what is no JSON" {
    echo '{"traceEvents": 7}' >none.json
    try 3 rocstats none.json
    echo '{"traceEvents": [{"ph":"X"]}' >bad.json
    try 3 rocstats bad.json
    says "bad.json"
}

@test "numbers below 0 of processes and threads are names" {
    echo '[{"ph": "X", "pid": 1, "tid": -1, "name": "a", "ts": 1, "dur": 2},
        {"ph": "X", "pid": -7, "tid": -5, "name": "b", "ts": 1, "dur": 2},
        {"ph": "X", "pid": 1, "tid": "-1", "name": "c", "ts": 4, "dur": 2},
        {"ph": "X", "pid": 1, "tid": -2, "name": "d", "ts": 1, "dur": 2},
        {"ph": "M", "pid": 1, "tid": -2, "name": "thread_name", "args": {"name": "flusher"}},
        {"ph": "X", "pid": 1, "tid": 0, "name": "e", "ts": 1, "dur": 2}]' >below.json
    try 0 rocmerge -q -o m.db below.json
    [ "$(sqlite3 -readonly m.db "SELECT p.command, t.name, count(*) FROM rocpd_region r
        JOIN rocpd_info_thread t ON t.id = r.tid JOIN rocpd_info_process p ON p.id = r.pid
        GROUP BY t.id ORDER BY 1, 2")" == '||1
|-1|2
|flusher|1
-7|-5|1' ]
    [ "$(sqlite3 -readonly m.db 'SELECT count(*), count(DISTINCT tid), max(tid) < 10 FROM rocpd_info_thread')" == "4|4|1" ]
    try 0 rtg2json -q --layout trace -o t.json below.json
    jq -e '[.traceEvents[] | select(.name == "thread_name" or .name == "process_name") | .args.name] |
        contains(["-1", "-5", "-7", "flusher"])' t.json
    ! grep -q 92233720368547758 t.json
}

@test "an empty array is an empty trace" {
    echo '{"traceEvents": []}' >object.json
    try 0 rocpd2csv -d o object.json
    local notice=$stderr
    [[ "$notice" == *": nothing to convert: "* ]]
    for text in '[]' $' [\n ]\n' $'\xef\xbb\xbf[]'; do
        printf %s "$text" >array.json
        try 0 rocpd2csv -d o array.json
        [ "$stderr" == "$notice" ]
        try 0 rocmerge -q -o m.db - <array.json
        try 0 rocline check array.json
    done
    for text in '[' '[1]' '[] []'; do # none, or not JSON
        printf %s "$text" >array.json
        try 3 rocpd2csv -d o array.json
    done
}

@test "UTF-16 is called so, with what to do" {
    for encoding in UTF-16LE UTF-16BE; do
        printf '\ufeff[{"ph": "X", "pid": 1, "tid": 1, "name": "a", "ts": 1, "dur": 2}]' |
            iconv -f UTF-8 -t $encoding >wide.json
        try 3 rocstats wide.json
        one_line rocstats
        says "wide.json: this is text in UTF-16: convert it with \`iconv -f UTF-16 -t UTF-8\`"
        iconv -f UTF-16 -t UTF-8 wide.json >narrow.json
        try 0 rocstats -q narrow.json
    done
}

@test "what rtg2json writes is read back" {
    rtg2json -q -f --layout trace -o t.json "$FIXTURES/everything.db" || [ $? -eq 1 ]
    rocstats summary -q --format csv t.json >back || [ $? -eq 1 ]
    rocstats summary -q --format csv "$FIXTURES/everything.db" >there || [ $? -eq 1 ]
    # All calls and their times; the work of GPUs has no category that says so.
    for name in hipMemcpyAsync hipLaunchKernel; do
        [ "$(grep -o "\"$name\",[0-9]*,[0-9]*" back)" == "$(grep -o "\"$name\",[0-9]*,[0-9]*" there)" ]
    done
}

@test "copies that rtg2json writes come back with both of their ends" {
    local db=$FIXTURES/everything.db
    ends() { # database or JSON
        rocstats copies -q --table copies --format json "$1" |
            jq -r '.tables[0].rows[] | [.direction, .src, .dst, .calls, .bytes] | @tsv' | sort
    }
    cp "$db" d.db
    chmod +w d.db
    # From one GPU to another, of which the first does nothing else, and within the host.
    sqlite3 d.db "UPDATE rocpd_memory_copy$(suffix d.db) SET src_agent_id = iif(dst_agent_id = 5, 2, 1)
        WHERE src_agent_id <> 2"
    for f in "$db" d.db; do
        rtg2json -q -f --layout trace -o t.json "$f" || [ $? -eq 1 ]
        sqlite3 -readonly -separator $'\t' "$f" "
            SELECT s.string, a.type || ' ' || a.type_index, b.type || ' ' || b.type_index, count(*), sum(size)
            FROM rocpd_memory_copy c JOIN rocpd_string s ON s.id = c.name_id
                JOIN rocpd_info_agent a ON a.id = c.src_agent_id JOIN rocpd_info_agent b ON b.id = c.dst_agent_id
            GROUP BY 1, 2, 3" | sort >there
        [ -s there ]
        ends t.json | diff there -
    done
    # Older versions did not list GPUs, and called them by the numbers of agents: the one of the row is known.
    jq -c 'del(.rocline)' t.json |
        sed 's/"source":"GPU 0"/"source":"Agent 2"/; s/"destination":"GPU 3"/"destination":"Agent 5"/' >old.json
    ends old.json | grep -q $'DEVICE_TO_HOST\tGPU 0\tCPU 0'
}

@test "a folder of ranks is one trace" {
    mkdir job
    sed 's/"rank": 3/"rank": 0/' "$JSON/kineto.json" >job/a.json
    gzip -c "$JSON/kineto.json" >job/b.json.gz
    try 0 rocstats ranks --table all -q --format csv job
    [[ $output == *$'\nranks,0,'*$'\nranks,3,'* ]]
    try 0 rocstats summary -q --format csv job
    [[ $output == *'"gemm",2,101500,'* ]]
}

@test "a database made of it has the same statistics" {
    try 0 rocmerge -q -o t.db "$JSON/kineto.json"
    [ "$(sqlite3 t.db 'PRAGMA integrity_check')" == ok ]
    [ "$(totals t.db)" == "$(totals "$JSON/kineto.json")" ]
}

@test "PyTorch's own sums of two ranks" {
    needs "$SHARED/kineto/two_ranks/rank0.json.gz"
    command -v jq >/dev/null || skip "no jq"
    for rank in 0 1; do
        local trace=$SHARED/kineto/two_ranks/rank$rank.json.gz
        # Names of kernels and copies: count, and ns.
        gzip -dc "$trace" | jq -r '.traceEvents[] | select(.ph == "X" and (.cat == "kernel" or .cat == "gpu_memcpy" or .cat == "gpu_memset")) |
            [.name, (.dur * 1000 | round)] | @tsv' |
            awk -F'\t' '{ n[$1]++; t[$1] += $2 } END { for (k in n) print k "\t" n[k] "\t" t[k] }' | sort >expected
        rocstats --table summary -q --format json "$trace" | jq -r '.tables[0].rows[] |
            select(.domain == "KERNELS" or .domain == "MEMORY_COPIES") | [.name, .calls, .total_ns] | @tsv' | sort >got
        [ "$(wc -l <got)" -gt 20 ]
        diff expected got
    done
}

@test "arguments that are no JSON are counted" {
    echo '[{"ph":"C","name":"c","pid":1,"ts":1,"args":{"value":nope}},{"ph":"X","name":"x","pid":1,"tid":1,"ts":1,"dur":2}]' >args.json
    try 1 rocstats summary args.json
    says "arguments that are no JSON"
    echo '[{"ph":"X","name":"x","pid":1,"tid":1,"ts":1,"dur":2,"args":{"a":1,"b":nope}}]' >args.json
    rocpd2pftrace -q --args -o t.pftrace args.json || [ $? -eq 1 ]
}

@test "asynchronous events by id, also of old kinds; other phases are left out, which is told" {
    cat >phases.json <<'EOF'
{"traceEvents":[
{"ph":"S","cat":"net","name":"load","id":1,"pid":1,"tid":1,"ts":1},
{"ph":"S","cat":"net","name":"load","id":"0x2","pid":1,"tid":1,"ts":2},
{"ph":"T","cat":"net","name":"load","id":1,"pid":1,"tid":1,"ts":2,"args":{"step":"dns"}},
{"ph":"p","cat":"net","name":"load","id":1,"pid":1,"tid":1,"ts":3,"args":{"step":"tls"}},
{"ph":"F","cat":"net","name":"load","id":1,"pid":1,"tid":1,"ts":4},
{"ph":"S","cat":"net","name":"parse","id":1,"pid":1,"tid":1,"ts":4},
{"ph":"F","cat":"net","name":"load","id":"0x2","pid":1,"tid":2,"ts":7},
{"ph":"F","cat":"net","name":"parse","id":1,"pid":1,"tid":1,"ts":9},
{"ph":"b","cat":"gpu","name":"draw","id2":{"local":"0x1"},"pid":1,"tid":1,"ts":10},
{"ph":"b","cat":"gpu","name":"wait","id2":{"local":"0x2"},"pid":1,"tid":1,"ts":11},
{"ph":"e","cat":"gpu","name":"draw","id2":{"local":"0x1"},"pid":1,"tid":1,"ts":12},
{"ph":"e","cat":"gpu","name":"wait","id2":{"local":"0x2"},"pid":1,"tid":1,"ts":15},
{"ph":"P","cat":"cpu","name":"sample","pid":1,"tid":1,"ts":16},
{"ph":"N","name":"obj","id":1,"pid":1,"tid":1,"ts":1},
{"ph":"O","name":"obj","id":1,"pid":1,"tid":1,"ts":2,"args":{"snapshot":{}}},
{"ph":"D","name":"obj","id":1,"pid":1,"tid":1,"ts":3},
{"ph":"V","name":"dump","id":1,"pid":1,"tid":1,"ts":3},
{"ph":"v","name":"dump","id":1,"pid":1,"tid":1,"ts":3},
{"ph":"c","name":"clock_sync","pid":1,"tid":1,"ts":3},
{"ph":"(","name":"ctx","id":1,"pid":1,"tid":1,"ts":3},
{"ph":")","name":"ctx","id":1,"pid":1,"tid":1,"ts":3},
{"ph":"=","name":"l","id":1,"pid":1,"tid":1,"ts":3}
]}
EOF
    try 0 rocline query -q -f csv "SELECT name, kind, start, duration FROM event ORDER BY start, kind" phases.json
    [ "$output" == '"name","kind","start","duration"
"load","region",1000,3000
"load","instant",2000,0
"load","region",2000,5000
"load","instant",3000,0
"parse","region",4000,5000
"draw","region",10000,2000
"wait","region",11000,4000
"sample","instant",16000,0' ]
    try 0 rocline check phases.json
    [ "$output" == "phases.json: intact, 8 events, trace in Chrome's JSON" ]
    says "phases.json: events of other phases are left out: 3 of objects, 2 of memory dumps, 1 of clock synchronisation, 3 of contexts and links"
    # What has no other half, and what no profiler writes.
    echo '[{"ph":"S","name":"a","id":1,"pid":1,"tid":1,"ts":1},{"ph":"F","name":"a","id":2,"pid":1,"tid":1,"ts":4},{"ph":"?","name":"b","pid":1,"tid":1,"ts":1},
        {"ph":"X","name":"x","pid":1,"tid":1,"ts":1,"dur":2}]' >half.json
    try 1 rocline check half.json
    grep -q '1 record left out: no end' <<<"$output"
    grep -q '2 records left out: malformed line' <<<"$output"
}

@test "arrows that only end are counted, those of launches are not drawn twice" {
    try 0 rocstats summary -v "$JSON/kineto.json"
    says "kineto.json: 1 arrows end that begin nowhere"
    try 0 rocstats summary -v "$JSON/flows.json"
    says "flows.json: 2 arrows end that begin nowhere"
    try 0 rtg2json -q -f --layout trace -o t.json "$JSON/kineto.json"
    ! grep -q '"ph":"[stf]"' t.json || fail "arrows"
    # Without -f there are none at all.
    try 0 rtg2json -q --layout trace -o t.json "$JSON/flows.json"
    ! grep -q -e '"ph":"[stf]"' -e bind_id t.json
}

@test "PyTorch's arrows from forward to backward" {
    needs "$SHARED/kineto/two_ranks/rank0.json.gz"
    command -v jq >/dev/null || skip "no jq"
    for file in mi250_minitoy_train_ROCm6_2 mi300_normalization_layers two_ranks/rank0; do
        rtg2json -q -f --layout trace -o t.json "$SHARED/kineto/$file.json.gz"
        # Both ends of each arrow: phase and name of the slice that begins there.
        for f in t.json "$SHARED/kineto/$file.json.gz"; do
            (gzip -dcf "$f") | jq -r '.traceEvents[] | select(.cat == "fwdbwd") | .ph' | sort | uniq -c
        done | sort | uniq -c | awk '$1 != 2 { exit 1 }'
    done
}

@test "a graph: all its kernels have one correlation; kernels without a call are no launch" {
    {
        echo '{"schemaVersion":1,"traceEvents":['
        echo '{"ph":"X","cat":"cuda_runtime","name":"hipGraphLaunch","pid":9,"tid":9,"ts":10,"dur":5,"args":{"correlation":4}},'
        for i in 1 2 3; do
            echo "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k$i\",\"pid\":2,\"tid\":0,\"ts\":${i}0,\"dur\":5,\"args\":{\"device\":2,\"stream\":0,\"correlation\":4}},"
        done
        echo '{"ph":"X","cat":"kernel","name":"alone","pid":2,"tid":0,"ts":50,"dur":5,"args":{"device":2,"stream":0,"correlation":99}}]}'
    } >graph.json
    rocstats launch --table all -q --format csv graph.json >out
    [ "$(grep -c '^launch,"k.","hipGraphLaunch",1,' out)" == 3 ]
    grep -q '^launch,"alone",,1,' out
    rtg2json -q -f --layout trace -o t.json graph.json
    [ "$(grep -c '"flow_in":true' t.json)" == 3 ]
    [ "$(grep -c '"flow_out":true' t.json)" == 1 ]
}

@test "ROCm 7.1: copies with the category of kernels, and kernels that copy; grids in groups or work-items; processes without events" {
    {
        echo '{"schemaVersion":1,"traceEvents":['
        for pid in 0 1 2 3 4; do
            echo "{\"ph\":\"M\",\"name\":\"process_labels\",\"pid\":$pid,\"tid\":0,\"ts\":0,\"args\":{\"labels\":\"GPU $pid\"}},"
        done
        i=0
        for name in MEMORY_COPY_HOST_TO_DEVICE __amd_rocclr_copyBuffer __amd_rocclr_copyBufferRectAligned __amd_rocclr_fillBufferAligned gemm; do
            echo "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"$name\",\"pid\":3,\"tid\":1,\"ts\":$((i += 10)),\"dur\":5,\"args\":{\"device\":3,\"stream\":1,\"correlation\":$i,\"grid\":[8,1,1],\"block\":[4,1,1]}},"
        done
        echo '{"ph":"X","cat":"gpu_memcpy","name":"Memcpy DtoH (Device -> Host)","pid":3,"tid":1,"ts":90,"dur":0,"args":{"device":3,"stream":1,"correlation":60,"bytes":1}}]}'
    } >gpu.json
    try 0 rocpd2csv -q --bytes -d out -o o gpu.json
    [ "$(sqlite3 -csv :memory: ".import out/o_kernel_trace.csv t" "SELECT Agent_Id, Queue_Id, Kernel_Name, Grid_Size_X FROM t")" == \
        '"GPU 3",1,__amd_rocclr_copyBuffer,32
"GPU 3",1,__amd_rocclr_copyBufferRectAligned,32
"GPU 3",1,__amd_rocclr_fillBufferAligned,32
"GPU 3",1,gemm,32' ]
    [ "$(sqlite3 -csv :memory: ".import out/o_memory_copy_trace.csv t" "SELECT Direction, Source_Agent_Id, Destination_Agent_Id, Bytes FROM t")" == \
        'MEMORY_COPY_HOST_TO_DEVICE,"","GPU 3",0
"Memcpy DtoH (Device -> Host)","GPU 3","",1' ]
}

@test "a copy within host memory is work of no GPU" {
    echo '{"schemaVersion":1,"traceEvents":[
        {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":1,"ts":10,"dur":5,"args":{"device":0,"stream":1,"correlation":1}},
        {"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoH (Host -> Host)","pid":0,"tid":1,"ts":20,"dur":5,"args":{"device":0,"stream":1,"correlation":2,"bytes":8}},
        {"ph":"X","cat":"gpu_memcpy","name":"MEMORY_COPY_HOST_TO_HOST","pid":0,"tid":1,"ts":30,"dur":5,"args":{"device":0,"stream":1,"correlation":3,"bytes":8}}]}' >gpu.json
    try 0 rocline query --format csv "SELECT name, src_agent, dst_agent FROM memory_copy ORDER BY start" gpu.json
    [ "$(tail -n +2 <<<"$output")" == '"Memcpy HtoH (Host -> Host)",,
"MEMORY_COPY_HOST_TO_HOST",,' ]
    try 0 rocstats overlap --table overlap --format json gpu.json
    [ "$(jq -c '.tables[].rows[] | [.gpu, .busy_ns, .copies]' <<<"$output")" == '["GPU 0",5000,0]' ]
}

# A runtime call, and work on a GPU.
call() { # pid, correlation, time
    echo "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"hipLaunchKernel\",\"pid\":$1,\"tid\":$1,\"ts\":$3,\"dur\":5,\"args\":{\"correlation\":$2}},"
}
work() { # row, device, correlation, time, name
    echo "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"$5\",\"pid\":$1,\"tid\":0,\"ts\":$4,\"dur\":5,\"args\":{\"device\":$2,\"stream\":0,\"correlation\":$3}},"
}

# Kernels: pid of their process, name, how many calls of that process have launched them.
kernels_of() {
    rm -f m.db
    rocmerge -q "$@" -o m.db
    sqlite3 -csv m.db "SELECT p.pid, s.display_name, (SELECT count(*) FROM rocpd_region r JOIN rocpd_event c ON c.id = r.event_id
            WHERE c.stack_id = e.stack_id AND r.pid = k.pid)
        FROM rocpd_kernel_dispatch k JOIN rocpd_event e ON e.id = k.event_id JOIN rocpd_info_process p ON p.id = k.pid
            JOIN rocpd_info_kernel_symbol s ON s.id = k.kernel_id ORDER BY k.start"
}

@test "several processes: GPU work is of the one that called it" {
    {
        echo '{"schemaVersion":1,"traceEvents":['
        echo '{"ph":"X","cat":"user_annotation","name":"outer","pid":70,"tid":70,"ts":1,"dur":90},'
        call 7 1 10
        work 0 0 1 20 axpy
        echo '{"ph":"X","cat":"cpu_op","name":"op","pid":7,"tid":7,"ts":9,"dur":9}]}'
    } >one.json
    [ "$(kernels_of one.json)" == 7,axpy,1 ]
    # As tools make one file of several ranks; here 2 is a correlation of both, and 90 of no call.
    {
        echo '{"schemaVersion":1,"traceEvents":['
        call 7 1 10
        call 7 2 11
        call 8 2 12
        call 8 3 13
        work 100 0 1 20 a
        work 100 0 2 30 b
        work 101 0 2 40 c
        work 101 0 3 50 d
        work 101 0 90 60 e
        work 102 1 91 70 f
        echo '{"ph":"X","cat":"cpu_op","name":"op","pid":7,"tid":7,"ts":9,"dur":9}]}'
    } >several.json
    for how in -j1 -j3; do
        [ "$(kernels_of $how several.json)" == "7,a,1
7,b,1
8,c,1
8,d,1
8,e,0
0,f,0" ]
    done
    try 0 rtg2json -q --layout trace --args -o t1.json several.json
    try 0 rtg2json -q --layout trace --args -j3 -o t3.json several.json
    cmp t1.json t3.json
    echo '{"ph":"X","name":"x"' >>several.json
    try 3 rocstats several.json
}

# Of each kernel: name, pid, rank and how many calls it is linked with; and all GPUs.
links_of() {
    {
        rocline query -q -f csv "SELECT k.name, k.pid, k.rank, count(r.id) FROM kernel k LEFT JOIN region r
            ON r.stack_id = k.stack_id AND r.pid = k.pid AND r.name = 'hipLaunchKernel' GROUP BY k.guid, k.id ORDER BY k.name" "$@" | tail -n +2
        rocstats overlap -q --table overlap --format csv "$@" | tail -n +2 | cut -d, -f1
    } | tr -d '"' | paste -sd';'
}

# What SGLang's profile_merger writes of two ranks: all their numbers but those of processes are equal.
merge_by_text() { # prefix, prefix, device, device
    {
        echo '{"schemaVersion":1,"distributedInfo":{"backend":"nccl","rank":0},"host_name":"a1","deviceProperties":[],"traceEvents":['
        for i in 0 1; do
            [ $i == 0 ] && prefix=$1 device=$3 || prefix=$2 device=$4
            echo "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":\"$prefix 8$i\",\"tid\":0,\"args\":{\"name\":\"python3\"}},"
            echo "{\"ph\":\"i\",\"s\":\"g\",\"name\":\"Iteration Start: PyTorch Profiler\",\"pid\":\"$prefix Traces\",\"tid\":\"Trace\",\"ts\":1},"
            echo "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op$i\",\"pid\":\"$prefix 8$i\",\"tid\":7,\"ts\":1$i,\"dur\":20,\"args\":{\"External id\":5}},"
            echo "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"frame$i\",\"pid\":\"$prefix -1\",\"tid\":7,\"ts\":50,\"dur\":1},"
            call "\"$prefix 8$i\"" 1 1$((i + 2)) | sed 's/"tid":"[^"]*"/"tid":7/'
            work "\"$prefix $device\"" $device 1 40 k$i
            echo "{\"ph\":\"s\",\"cat\":\"fwdbwd\",\"name\":\"fwdbwd\",\"id\":1,\"pid\":\"$prefix 8$i\",\"tid\":7,\"ts\":1$i},"
            echo "{\"ph\":\"f\",\"cat\":\"fwdbwd\",\"name\":\"fwdbwd\",\"id\":1,\"pid\":\"$prefix 8$i\",\"tid\":7,\"ts\":2$i,\"bp\":\"e\"},"
            echo "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":\"$prefix 8$i\",\"tid\":7,\"ts\":12,\"args\":{\"Addr\":4096,\"Bytes\":8,\"Device Id\":0,\"Device Type\":6}},"
        done
        echo '{}]}'
    } >merged.json
}

@test "a file of ranks whose pids are texts: all is joined within its prefix" {
    merge_by_text "[TP00]" "[TP01]" 0 0
    for how in -j1 -j3; do
        [ "$(links_of $how merged.json)" == "k0,80,0,1;k1,81,1,1;GPU 0 of rank 0;GPU 0 of rank 1" ] ||
            fail "$(links_of merged.json)"
    done
    [ "$(rocline query -q -f csv "SELECT pid, rank, command FROM process ORDER BY pid" merged.json | tail -n +2)" == \
        $'80,0,"[TP00] 80"\n81,1,"[TP01] 81"' ]
    [ "$(rocline query -q -f csv "SELECT name, pid FROM region WHERE name NOT LIKE 'hip%' ORDER BY name" merged.json |
        tail -n +2 | paste -sd' ')" == '"frame0",80 "frame1",81 "op0",80 "op1",81' ]
    # The host is that of the first file only, memory is of the GPU of its rank, and arrows stay within a rank.
    [ "$(rocline query -q -f csv "SELECT count(*), max(length(hostname)) FROM node" merged.json | tail -n 1)" == 2,0 ]
    [ "$(rocline export -f jsonl --kinds memory_allocation -o - merged.json | grep -o '"owner":[^,]*' | sort | uniq -c |
        awk '{ print $1 }' | paste -sd' ')" == "1 1" ]
    try 0 rtg2json -q -f --layout trace -o t.json merged.json
    [ "$(grep '"cat":"fwdbwd"' t.json | grep -o '"id":[^,]*' | sort | uniq -c | awk '{ print $1 }' | paste -sd' ')" == "2 2" ]
    # Ranks of several kinds of parallelism have no known number, but are as distinct.
    merge_by_text "[TP00-DP00-PP00-EP01]" "[TP00-DP01-PP00-EP01]" 2 3
    [ "$(links_of merged.json)" == "k0,80,0,1;k1,81,,1;GPU 2 of rank 0;GPU 3 of pid 81" ] || fail "$(links_of merged.json)"
    # One group: its members are its own.
    grep -v -e 'TP01' -e DP01 merged.json >single.json
    [ "$(links_of single.json)" == "k0,80,0,1;GPU 2" ] || fail "$(links_of single.json)"
    [ "$(rocline query -q -f csv "SELECT hostname FROM node" single.json | tail -n 1)" == '"a1"' ]
}

@test "a rank without calls in a file of several keeps its GPU work to itself" {
    merge_by_text "[TP00]" "[TP01]" 0 0
    grep -v 'cuda_runtime.*TP01' merged.json >lone.json
    [ "$(links_of lone.json)" == "k0,80,0,1;k1,0,1,0;GPU 0 of rank 0;GPU 0 of rank 1" ] || fail "$(links_of lone.json)"
}

@test "a file of ranks that only equal correlations show: each process has its GPU" {
    {
        echo '{"schemaVersion":1,"traceEvents":['
        for i in 1 2 3; do
            call 100 $i $((1000 * i))
            call 101 $i $((1000 * i + 300))
            call 102 $i $((1000 * i + 600))
            work 0 0 $i $((1000 * i + 20)) a
            work 1 1 $i $((1000 * i + 320)) b
            work 2 1 $i $((1000 * i + 620)) c
        done
        echo '{}]}'
    } >equal.json
    [ "$(rocline query -q -f csv "SELECT name, pid, count(*) FROM kernel GROUP BY 1, 2 ORDER BY 1" equal.json |
        tail -n +2 | tr -d '"' | paste -sd' ')" == "a,100,3 b,101,3 c,102,3" ]
    [ "$(links_of equal.json | grep -o 'GPU.*')" == "GPU 0 of pid 100;GPU 1 of pid 101;GPU 1 of pid 102" ]
    # Calls at the same time tell nothing: which kernel is whose stays open.
    sed -e 's/"ts":\(.\)[36]00,/"ts":\1000,/' equal.json >same.json
    [ "$(rocline query -q -f csv "SELECT DISTINCT pid FROM kernel" same.json | tail -n +2)" == 0 ]
}

@test "a file of TraceLens: ranks and pids as they were, numbers that two ranks share" {
    {
        echo '{"traceEvents":['
        for r in 0 1; do
            pid=$((4711 + r)) row=$((2 + r * 100000))
            echo "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":$((pid + r * 100000)),\"tid\":0,\"args\":{\"name\":\"python\",\"rank\":$r,\"pid_raw\":$pid}},"
            echo "{\"ph\":\"i\",\"s\":\"g\",\"name\":\"Record Window End\",\"pid\":\"Traces\",\"tid\":\"Trace\",\"ts\":90,\"args\":{\"rank\":$r,\"pid_raw\":\"Traces\"}},"
            call $((pid + r * 100000)) 1 1$r | sed "s/\"args\":{/&\"rank\":$r,\"pid_raw\":$pid,/"
            work $row 2 1 20 k$r | sed "s/\"args\":{/&\"rank\":$r,\"pid_raw\":2,/"
            echo "{\"ph\":\"s\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":1,\"pid\":$((pid + r * 100000)),\"tid\":$pid,\"ts\":1$r,\"args\":{\"rank\":$r}},"
        done
        echo '{}]}'
    } >fused.json
    [ "$(links_of fused.json)" == "k0,4711,0,1;k1,4712,1,1;GPU 2 of rank 0;GPU 2 of rank 1" ] || fail "$(links_of fused.json)"
    [ "$(rocline query -q -f csv "SELECT pid, command FROM process ORDER BY pid" fused.json | tail -n +2)" == \
        $'4711,"python"\n4712,"python"' ]
    try 0 rtg2json -q -f --layout trace -o t.json fused.json
    ! grep -e Window -e Traces t.json
}

@test "threads whose numbers are texts" {
    {
        echo '{"schemaVersion":1,"traceEvents":['
        call 5 1 20 | sed 's/"tid":5/"tid":"main"/'
        call 5 2 20 | sed 's/"tid":5/"tid":"worker"/'
        work 0 0 1 40 k1
        work 0 0 2 50 k2
        echo '{"ph":"X","cat":"cpu_op","name":"op","pid":5,"tid":"worker","ts":10,"dur":9}]}'
    } >threads.json
    [ "$(rocline query -q -f csv "SELECT thread, count(*) FROM region GROUP BY 1 ORDER BY 1" threads.json |
         tail -n +2 | paste -sd' ')" == '"main",1 "worker",2' ]
    [ "$(links_of threads.json)" == "k1,5,,1;k2,5,,1;GPU 0" ]
}

@test "ranks that each see but GPU 0 of one host have two GPUs; memory of the host is of its CPU" {
    for r in 0 1; do
        {
            echo "{\"schemaVersion\":1,\"host_name\":\"a1\",\"distributedInfo\":{\"rank\":$r},\"traceEvents\":["
            call 7$r 1 10
            work 0 0 1 20 k$r
            echo "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":7$r,\"tid\":7$r,\"ts\":12,\"args\":{\"Addr\":4096,\"Bytes\":8,\"Total Reserved\":0,\"Device Id\":-1,\"Device Type\":0}},"
            echo "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":7$r,\"tid\":7$r,\"ts\":13,\"args\":{\"Addr\":8192,\"Bytes\":16,\"Total Reserved\":64,\"Device Id\":0,\"Device Type\":6}}]}"
        } | sed 's/"device":0/"device":2/' >r$r.json
    done
    [ "$(rocline query -q -f csv "SELECT hostname FROM node" r0.json r1.json | tail -n +2 | sort -u)" == '"a1"' ]
    [ "$(links_of r0.json r1.json)" == "k0,70,0,1;k1,71,1,1;GPU 0;GPU 1" ] || fail "$(links_of r0.json r1.json)"
    rocstats memory --table all -q --format csv r0.json >memory.csv
    [ "$(sed -n 2,3p memory.csv | cut -d, -f2 | paste -sd' ')" == '"CPU 0" "GPU 2"' ] || fail "$(cat memory.csv)"
    rocpd2csv -q -d out -o o r0.json
    [ "$(tail -n 1 out/o_counter_sample_trace.csv | cut -d, -f3,6,7,8)" == '"GPU 2","Total Reserved","bytes",64' ]
}

@test "memory: what the allocator has reserved; allocations without an address" {
    sed 's/"Total Allocated": \([0-9]*\)/&, "Total Reserved": 20971\1/' "$JSON/kineto.json" >memory.json
    try 0 rocpd2csv -q -d out -o o memory.json
    [ "$(sqlite3 -csv :memory: ".import out/o_counter_sample_trace.csv t" \
        "SELECT Counter_Name, Units, Counter_Value FROM t ORDER BY Timestamp")" == \
        '"Total Reserved",bytes,209712048
"Total Reserved",bytes,209710' ]
    {
        echo '{"schemaVersion":1,"traceEvents":['
        t=0
        for bytes in 100 200 -100 400 -200 -400; do
            echo "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":7,\"tid\":7,\"ts\":$((t += 10)),\"args\":{\"Bytes\":$bytes,\"Device Id\":0,\"Device Type\":1}},"
        done
        echo '{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":0,"ts":5,"dur":1,"args":{"device":0,"stream":0,"correlation":1}}]}'
    } >live.json
    try 0 rtg2json -q --layout kineto -o t.json live.json
    [ "$(grep -o '"Total Allocated": [0-9]*' t.json | grep -o '[0-9]*$' | paste -sd' ')" == "100 300 200 600 400 0" ]
    try 0 rocpd2pftrace -q -z0 -o t.pftrace live.json
    rocstats memory --table all -q --format csv live.json | head -n 2 >memory.csv
    [ "$(sqlite3 :memory: ".import --csv memory.csv t" "SELECT allocations, frees, allocated_bytes, freed_bytes, peak_bytes, unpaired_frees FROM t")" \
        == "3|3|700|700|600|0" ] || fail "$(cat memory.csv)"
}

@test "categories of PyTorch before 1.13" {
    cat >old.json <<'END'
{"schemaVersion": 1, "deviceProperties": [], "traceEvents": [
{"ph": "X", "cat": "Runtime", "name": "hipLaunchKernel", "pid": 9, "tid": 9, "ts": 10, "dur": 2, "args": {"correlation": 7}},
{"ph": "X", "cat": "Kernel", "name": "axpy", "pid": 0, "tid": 3, "ts": 13, "dur": 4, "args": {"device": 0, "stream": 3, "correlation": 7}},
{"ph": "s", "id": 7, "cat": "async_gpu", "name": "async_gpu", "pid": 9, "tid": 9, "ts": 10},
{"ph": "f", "id": 7, "cat": "async_gpu", "name": "async_gpu", "pid": 0, "tid": 3, "ts": 13, "bp": "e"}
]}
END
    try 0 rocstats launch kernels --table all --format csv old.json
    [[ "$output" == *'"axpy",1,4000'* ]] || fail "$output"
    # 1.9: arrows and memory
    sed -e 's/"cat": "async_gpu", "name": "async_gpu"/"cat": "async", "name": "launch"/' \
        -e '/"f", "id"/a ,{"ph": "i", "s": "t", "name": "[memory]", "pid": 9, "tid": 9, "ts": 11, "args": {"Device Type": 1, "Device Id": 0, "Bytes": 512}},\n{"name": "Record Window End", "ph": "i", "s": "g", "pid": "", "tid": "", "ts": 90}' old.json >older.json
    try 0 rtg2json -q -f --layout trace -o t.json older.json
    ! grep '"ph":"[stf]"' t.json || fail "arrows"
    try 0 rocmerge -q -o older.db older.json
    [ "$(sqlite3 older.db "SELECT type, size FROM rocpd_memory_allocate")" == "ALLOC|512" ]
}

@test "what a collective sends is with its kernel" {
    needs "$SHARED/kineto/two_ranks/rank0.json.gz"
    rtg2json -q --args --layout trace -o t.json "$SHARED/kineto/two_ranks/rank0.json.gz"
    [ "$(grep '"cat":"kernel"' t.json | grep -c '"Collective name":"allreduce"')" == \
        "$(gzip -dc "$SHARED/kineto/two_ranks/rank0.json.gz" | grep -A12 '"cat": "kernel"' | grep -c '"Collective name": "allreduce"')" ]
}

@test "memory of HIP devices is that of a GPU" {
    sed 's/"Device Type": 1/"Device Type": 6/' "$JSON/kineto.json" >hip.json
    [ "$(rocstats memory --table all -q --format csv hip.json)" == "$(rocstats memory --table all -q --format csv "$JSON/kineto.json")" ]
}

# Memory of the devices $2... of the type $1, and kernels on GPUs 4 and 5: the GPUs of the allocations.
gpus_of_memory() {
    local type=$1 device
    shift
    {
        echo '{"schemaVersion":1,"traceEvents":['
        for device; do
            echo "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":7,\"tid\":7,\"ts\":$((10 + device)),\"args\":{\"Addr\":$((4096 + device)),\"Bytes\":8,\"Device Id\":$device,\"Device Type\":$type}},"
        done
        for device in 5 4; do
            echo "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":$device,\"tid\":0,\"ts\":5,\"dur\":1,\"args\":{\"device\":$device,\"stream\":0,\"correlation\":$device}},"
        done
        echo '{}]}'
    } >memory.json
    rocline export -f jsonl --kinds memory_allocation -o - memory.json | grep -o '"owner":[^,]*' | cut -d: -f2 | paste -sd' '
}

@test "which GPU memory is of: HIP counts devices from 0, work has the numbers of the driver" {
    [ "$(gpus_of_memory 6 0 1)" == '"GPU 4" "GPU 5"' ] || fail "$(gpus_of_memory 6 0 1)"
    [ "$(gpus_of_memory 6 2 3)" == '"GPU 4" "GPU 5"' ] || fail "a rank with the third and fourth GPU"
    [ "$(gpus_of_memory 6 1)" == '"GPU 5"' ]
    [ "$(gpus_of_memory 6 4)" == 'null' ] || fail "which one cannot be told"
    [ "$(gpus_of_memory 1 4 5)" == '"GPU 4" "GPU 5"' ] || fail "CUDA has one number for both"
    [ "$(gpus_of_memory 1 5)" == '"GPU 5"' ]
    [ "$(gpus_of_memory 1 0 1)" == '"GPU 4" "GPU 5"' ]
}

@test "kernels of a collective that do not say what they send: their operator does" {
    {
        echo '{"schemaVersion":1,"traceEvents":['
        echo '{"ph":"X","cat":"cpu_op","name":"record_param_comms","pid":9,"tid":9,"ts":10,"dur":5,"args":{"External id":7,"Collective name":"allreduce","In msg nelems": 64,"Process Group Ranks":"[0, 1]","Input Dims":[[64]]}},'
        echo '{"ph":"X","cat":"kernel","name":"ncclDevKernel_Generic","pid":2,"tid":0,"ts":20,"dur":5,"args":{"External id":7,"device":2,"stream":0,"correlation":4}},'
        echo '{"ph":"X","cat":"kernel","name":"gemm","pid":2,"tid":0,"ts":30,"dur":5,"args":{"External id":7,"device":2,"stream":0,"correlation":5}}]}'
    } >comm.json
    try 0 rtg2json -q --layout kineto -o t.json comm.json
    grep -q '"name": "ncclDevKernel_Generic".*"Collective name": "allreduce", "In msg nelems": 64, "Process Group Ranks": "\[0, 1\]"' t.json
    ! grep '"name": "gemm"' t.json | grep Collective
}

@test "an event that says neither what it is nor when is counted, an empty element is none" {
    echo '[{},{"name":"x","pid":1},{"ph":"","name":"y"},{"ph":"i","name":"z","ts":1}]' >none.json
    try 1 rocpd2csv -d out none.json
    says "2 records left out: malformed line (2)"
}

@test "an object with several arrays of events: all are read" {
    local events='"traceEvents":[{"ph":"X","cat":"kernel","name":"%s","pid":0,"tid":7,"ts":100,"dur":2,"args":{"device":0,"stream":7}}]'
    local jobs
    # shellcheck disable=SC2059 # formats
    printf "{$events,\"otherData\":{},$events,\"traceEvents\":[],$events}" a b c >several.json
    for jobs in 1 4; do
        try 0 rocstats kernels -j$jobs --format csv several.json
        [ "$(tail -n +2 <<<"$output" | cut -d, -f1-3 | paste -sd' ')" = '"a",1,2000 "b",1,2000 "c",1,2000' ]
    done
    # shellcheck disable=SC2059
    printf "{$events,\"traceEvents\":{}}" a >none.json
    try 3 rocstats kernels none.json
    says "none.json: JSON, but it has no array traceEvents"
    # Of rocprof v1 as well.
    event() { # name
        echo ",{\"ts\":\"$1\", \"ph\":\"X\", \"pid\":\"2\", \"tid\":\"1\", \"name\":\"hipFree\", \"dur\":\"1\", \"args\":{\"BeginNs\":\"${1}000\", \"EndNs\":\"${1}500\"}}"
    }
    echo "{ \"traceEvents\":[{} $(event 1) $(event 2)], \"traceEvents\":[{} $(event 3)]}" >results.json
    try 0 rocstats --table domains --format csv results.json
    [[ "$output" == *'"HIP",3,1500,'* ]]
}

@test "what rtg2json wrote comes back: work, markers, GPUs, processes" {
    local name jobs
    for name in everything schema-3.0.0 sampled merged; do
        for jobs in 1 4; do
            rtg2json -q --args -j$jobs -o t.json "$FIXTURES/$name.db"
            rocstats --table domains,kernels -q --format csv "$FIXTURES/$name.db" >a
            rocstats --table domains,kernels -q -j$jobs --format csv t.json >b
            diff a b || fail "$name"
        done
    done
    # Of copies between GPUs only the one that they are drawn on is known.
    rtg2json -q -o t.json "$FIXTURES/everything.db"
    for report in overlap copies; do
        rocstats $report -q --format csv "$FIXTURES/everything.db" >a
        rocstats $report -q --format csv t.json >b
        [ $report = copies ] || diff a b
        [ "$(wc -l <a)" -eq "$(wc -l <b)" ]
    done
    local per_process="SELECT count(*), sum(duration) FROM kernels GROUP BY pid ORDER BY 1"
    local dispatch="SELECT name, grid_x, workgroup_x, lds_size, stream_id, queue_id, agent_type_index, start FROM kernels ORDER BY start, name"
    diff <(rocline query --format csv "$FIXTURES/everything.db" "$dispatch") <(rocline query --format csv t.json "$dispatch")
    rtg2json -q -o t.json "$FIXTURES/rank0.db" "$FIXTURES/rank1.db"
    diff <(rocline query --format csv "$FIXTURES/rank0.db" "$FIXTURES/rank1.db" "$per_process") <(rocline query --format csv t.json "$per_process")
    # Again from there: the same events.
    rtg2json -q -o u.json t.json
    diff <(rocstats --table domains -q --format csv t.json) <(rocstats --table domains -q --format csv u.json)
    # Categories of somebody else mean what they did.
    sed 's/"generator":"rocline/"generator":"other/' t.json >other.json
    rocstats --table domains -q --format csv other.json | grep -q OTHER
}

@test "a merged database has the arguments of kernels: collectives are as they were" {
    rocstats -q --table collectives,collective_ranks,collective_waits,communicators "$JSON"/train[01].json >expected
    grep -q "MiB" expected || grep -q "KiB" expected
    for way in "" --flat --rebuild; do
        try 0 rocmerge -q $way -o t.db "$JSON"/train[01].json
        [ "$(sqlite3 t.db "PRAGMA integrity_check")" = ok ]
        rocstats -q --table collectives,collective_ranks,collective_waits,communicators t.db | diff expected -
        for j in 1 3; do
            rocpd2pftrace -q -z0 -j$j --args -o t$j.pftrace t.db
        done
        cmp t1.pftrace t3.pftrace
        [ "$(rtg2json -q -f --args -o - t.db | grep -c '"Collective name"')" = \
            "$(rtg2json -q -f --args -o - "$JSON"/train[01].json | grep -c '"Collective name"')" ]
    done
}

@test "whole numbers with a decimal point, as pandas writes them, are these numbers" {
    integers='{"schemaVersion":1,"traceEvents":[
{"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":7,"tid":3,"ts":5,"dur":2,"args":{"correlation":12}},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":4,"ts":8,"dur":2,"args":{"device":0,"stream":4,"correlation":12,"grid":[1,2,3],"block":[64,5,6]}},
{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Host -> Device)","pid":0,"tid":4,"ts":18,"dur":2,"args":{"device":0,"stream":4,"correlation":13,"bytes":4096}}]}'
    mkdir integers floats
    echo "$integers" >integers/t.json
    sed -E 's/([0-9])([],}])/\1.0\2/g' integers/t.json >floats/t.json
    grep -q '"pid":7.0,.*"correlation":12.0' floats/t.json
    for d in integers floats; do
        (cd $d && rocline export -q -f jsonl --all-columns -o - t.json | sed -E 's/"id":[0-9]+,//; s/"args_id":[0-9]+,//' >out)
    done
    grep -q '"kind":"kernel".*"grid_x":64,"grid_y":10' integers/out
    cmp integers/out floats/out
}

@test "threads that have but a name get no number that another thread has" {
    echo '[{"ph":"X","name":"a","pid":1,"tid":"io","ts":1,"dur":4},
{"ph":"X","name":"b","pid":1,"tid":0,"ts":2,"dur":4},{"ph":"X","name":"c","pid":1,"tid":1,"ts":3,"dur":4},
{"ph":"X","name":"d","pid":1,"tid":"net","ts":4,"dur":4},{"ph":"X","name":"e","pid":1,"tid":3,"ts":5,"dur":4}]' >t.json
    rocline export -q -f jsonl --kinds thread -o - t.json | jq .tid | sort -u >tids
    [ "$(wc -l <tids)" == 5 ]
    # Rows of a database keep them apart, and so do those that are made of it.
    rocmerge -q -o t.db t.json
    rtg2json -q --layout trace -o again.json t.db
    [ "$(jq '[.traceEvents[] | select(.ph == "X") | .tid] | unique | length' again.json)" == 5 ]
}

@test "outputs that have no place for arrows between calls say so" {
    ends=$(rocline info --format json "$JSON/flows.json" 2>/dev/null | jq '.trace.kinds[] | select(.kind == "flow").events')
    [ "$ends" -gt 0 ]
    told() { grep -q "$ends ends of arrows between calls left out: $1 has no place for them" err; }
    rocmerge -o t.db "$JSON/flows.json" 2>err
    told "a database"
    rocpd2csv -d csv "$JSON/flows.json" 2>err >out
    told CSV
    rocpd2otf2 -d otf2 "$JSON/flows.json" 2>err
    told OTF2
    rocline export -o t.parquet "$JSON/flows.json" 2>err
    told "an export"
    for layout in rocprof rocprofv3; do
        rtg2json --layout $layout -o t.json "$JSON/flows.json" 2>err
        told "$layout's JSON"
    done
    # Each of several says it for itself; those that draw them do not.
    rocline convert -f csv,otf2,pftrace,html -d all "$JSON/flows.json" 2>err
    [ "$(grep -c "$ends ends of arrows" err)" == 3 ]
    # Nothing is said where there are none, or none that were asked for.
    rocpd2pftrace -d pftrace "$JSON/flows.json" 2>>quiet
    rocpd2csv -d again t.db 2>>quiet >out
    rocline export --kinds kernel -o k.parquet "$JSON/flows.json" 2>>quiet
    run ! grep arrows quiet
}

@test "a byte order mark before the JSON, as editors put it there, is no fault" {
    mkdir with without
    cp "$JSON/kineto.json" without/t.json
    { printf '\xef\xbb\xbf'; cat "$JSON/kineto.json"; } >with/t.json
    for d in with without; do
        (cd $d && rocpd2csv -o - --kinds kernel t.json >out 2>err) || true
    done
    [ -s with/out ]
    cmp with/out without/out
}

@test "layout trace: a thread that has nearly all calls is drawn in pieces, and has each row once" {
    # A call every 30 us, every 10th of which goes on when the next one has begun; in the last fifth
    # three do, one after the other.
    awk 'BEGIN {
        print "["
        for (i = 0; i < 60000; i++) {
            over = i % 10 < 5 || i % 10 > (i < 48000 ? 5 : 7) ? -5 : i < 48000 ? 15 : 45
            printf "%s{\"ph\":\"X\",\"name\":\"call_%d\",\"cat\":\"cpu_op\",\"pid\":1,\"tid\":7,\"ts\":%d,\"dur\":%d}\n",
                i ? "," : "", i % 7, i * 30, 30 + over
        }
        print "]"
    }' >t.json
    for j in 1 2 5; do
        rtg2json -q -j$j --layout trace -o $j.json t.json
        rtg2json -q -j$j --layout trace -o $j.json.gz t.json
    done
    cmp 1.json 2.json
    cmp 1.json 5.json
    cmp 1.json.gz 5.json.gz
    zcat 1.json.gz | cmp - 1.json
    jq -c '.traceEvents[] | select(.ph == "X") | [.name, .ts, .dur]' 1.json | sort >out
    jq -c '.[] | [.name, .ts, .dur]' t.json | sed 's/\.0\b//g' | sort >in
    sed -i 's/\.000//g' out
    cmp in out
    # The pieces take turns: else the file would be in order of time.
    run ! jq -e '[.traceEvents[] | select(.ph == "X" and .tid == 7).ts] | . == sort' 1.json
    # What overlaps is in rows of its own, each described once.
    jq -r '.traceEvents[] | select(.name == "thread_name") | .args.name' 1.json | sort >names
    printf '%s\n' 'overlapping calls of 7 (2)' 'overlapping calls of 7 (3)' | diff - names
    jq -e '.traceEvents | map(select(.ph == "X")) | group_by(.tid) | length == 3 and
        all(.[]; sort_by(.ts) as $e | all(range(1; $e | length); $e[. - 1].ts + $e[. - 1].dur <= $e[.].ts))' 1.json
}

# What overlaps on a thread is drawn on rows of its own, which are no threads.
@test "layout trace: calls that overlap come back on their thread, and markers have their kernels" {
    cat >a.json <<'J'
{"traceEvents":[
 {"ph":"X","cat":"user_annotation","name":"step","pid":7,"tid":8,"ts":10,"dur":50},
 {"ph":"X","cat":"user_annotation","name":"late","pid":7,"tid":8,"ts":30,"dur":70},
 {"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":7,"tid":8,"ts":40,"dur":30,"args":{"correlation":1}},
 {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":80,"dur":10,"args":{"device":0,"stream":7,"correlation":1}}
]}
J
    rtg2json -q --layout trace --args -o b.json a.json
    grep -q '"overlapping calls of 8 (2)"' b.json
    for input in a.json b.json; do
        rocline query -q -f csv -o $input.csv "SELECT name, tid, start, \"end\" FROM event WHERE kind <> 'kernel' ORDER BY start" $input
        rocstats -q markers --format csv $input >$input.markers
    done
    diff a.json.csv b.json.csv
    diff a.json.markers b.json.markers
}

@test "names may be empty: Perfetto traces and layout trace give them back" {
    cat >a.json <<'J'
{"traceEvents":[
 {"ph":"X","cat":"cpu_op","name":"","pid":7,"tid":8,"ts":10,"dur":50},
 {"ph":"X","cat":"user_annotation","name":"","pid":7,"tid":8,"ts":20,"dur":5},
 {"ph":"X","cat":"kernel","name":"","pid":0,"tid":7,"ts":80,"dur":10,"args":{"device":0,"stream":7}}
]}
J
    rocpd2pftrace -q -o a.pftrace a.json
    rtg2json -q --layout trace -o b.json a.json
    for input in a.json a.pftrace b.json; do
        rocline query -q -f csv -o $input.csv 'SELECT kind, name, start, "end" FROM event ORDER BY start' $input
        diff a.json.csv $input.csv
    done
    grep -q '"kernel","",80000,90000' a.json.csv
}

@test "numbers that link calls and work of several processes can be read back, however large" {
    for pid in 1 2; do
        printf '{"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":%d,"tid":%d,"ts":%d,"dur":2,"args":{"correlation":109951162777%d}},\n' $pid $pid $pid $pid
        printf '{"ph":"X","cat":"kernel","name":"k%d","pid":%d,"tid":7,"ts":%d,"dur":5,"args":{"device":%d,"stream":7,"correlation":109951162777%d}},\n' $pid $((pid - 1)) $((10 * pid)) $((pid - 1)) $pid
    done >events
    { echo '{"deviceProperties":[],"traceEvents":['; sed '$s/,$//' events; echo ']}'; } >t.json
    try 0 rocpd2csv -d csv t.json
    rocmerge -q -o t.db t.json
    for f in t.json csv t.db; do
        try 0 rocstats launch --table all --format csv $f
        [ -z "$stderr" ]
        tail -n +2 <<<"$output" | cut -d, -f1-3 >$f.launch
        cmp t.json.launch $f.launch
    done
    grep -q "hipLaunchKernel" t.json.launch
}

@test "layout trace: a process with the largest number leaves numbers for GPUs and rows" {
    echo '[{"ph":"X","name":"a","pid":2147483647,"tid":2147483646,"ts":1,"dur":4},
{"ph":"X","name":"b","pid":2147483647,"tid":2147483646,"ts":2,"dur":6}]' >t.json
    try 0 rtg2json --layout trace -o again.json t.json
    jq -e '[.traceEvents[] | select(.ph == "X") | [.pid, .tid]] | unique | length == 2' again.json
    try 0 rtg2json --layout trace -o third.json again.json
}

@test "arrays that are no trace are called JSON, lines that begin with brackets text" {
    for content in '[' '[1]' ' ["a", 2]' '[[1], 2]'; do
        printf '%s\n' "$content" >a.json
        try 3 rocstats summary a.json
        says "a.json: this is JSON, but not that of a trace"
    done
    for content in '[1] done' '[1,0]<stdout>: a [1]'; do
        printf '%s\n' "$content" >a.json
        try 3 rocstats summary a.json
        says "a.json: text, not a rocpd database"
    done
}

@test "the words of a copy's direction, of PyTorch, rocprof and rocprofv3" {
    for name in "Memcpy DtoH (Device -> Host)" CopyDeviceToHost MEMORY_COPY_DEVICE_TO_HOST; do
        printf '[{"ph":"X","cat":"gpu_memcpy","name":"%s","pid":0,"tid":7,"ts":10,"dur":5,
            "args":{"device":0,"stream":7,"bytes":100}}]' "$name" >a.json
        [ "$(rocline query -q -f csv 'SELECT src_agent, dst_agent FROM memory_copy' a.json | tail -1)" == '"GPU 0",' ]
    done
}

@test "a merged trace of PyTorch: what it says twice of all its events is taken once, and told" {
    cat >a.json <<'J'
{"deviceProperties": [{"id": 0, "name": "A"}], "distributedInfo": {"rank": 2}, "traceEvents": [
 {"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":10,"dur":5,"args":{"device":0,"stream":7}}],
"deviceProperties": [{"id": 0, "name": "B"}], "distributedInfo": {"rank": 3}, "traceEvents": [
 {"ph":"X","cat":"kernel","name":"b","pid":0,"tid":7,"ts":10,"dur":5,"args":{"device":0,"stream":7}}]}
J
    try 0 rocstats summary --format csv a.json
    says 'a.json: "distributedInfo" occurs several times: the first is used'
    says 'a.json: "deviceProperties" occurs several times: the first is used'
    [ "$(grep -c KERNELS <<<"$output")" = 2 ]
}

# Merged of two ranks: the numbers say nothing, but work does not begin before its call.
@test "GPU work whose correlation calls of two processes have is of the one that called before it" {
    cat >a.json <<'J'
{"deviceProperties": [], "traceEvents": [
 {"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":100,"tid":1,"ts":10,"dur":2,"args":{"correlation":3}},
 {"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":100,"tid":1,"ts":40,"dur":2,"args":{"correlation":4}},
 {"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":200,"tid":2,"ts":5,"dur":2,"args":{"correlation":4}},
 {"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":200,"tid":2,"ts":50,"dur":2,"args":{"correlation":3}},
 {"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":20,"dur":5,"args":{"device":0,"stream":7,"correlation":3}},
 {"ph":"X","cat":"kernel","name":"b","pid":0,"tid":7,"ts":45,"dur":5,"args":{"device":0,"stream":7,"correlation":4}},
 {"ph":"X","cat":"kernel","name":"c","pid":1,"tid":7,"ts":60,"dur":5,"args":{"device":1,"stream":7,"correlation":3}},
 {"ph":"X","cat":"kernel","name":"d","pid":1,"tid":7,"ts":8,"dur":1,"args":{"device":1,"stream":7,"correlation":4}},
 {"ph":"X","cat":"kernel","name":"e","pid":2,"tid":7,"ts":70,"dur":1,"args":{"device":2,"stream":7,"correlation":4}}]}
J
    try 0 rocline query -q -f csv "SELECT name, pid FROM kernels ORDER BY name" a.json
    [ "$(tail -n +2 <<<"$output" | tr -d '"' | tr '\n' ' ')" == "a,100 b,100 c,200 d,200 e,0 " ]
    rocstats launch --table all -q --format csv a.json | grep -q '"d","hipLaunchKernel",1,0'
}
