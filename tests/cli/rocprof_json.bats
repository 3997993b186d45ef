#!/usr/bin/env bats
# JSON of rocprof v1 and v2: what is read of it, whole or broken.
# shellcheck disable=SC2154 # bats sets status, output, stderr

load helper

JSON=$TOP/tests/fixtures/rocprof

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

@test "every table of v1 is read, to the nanosecond" {
    try 0 rocstats summary -q --format csv "$JSON/v1.json"
    same "$(cut -d, -f1-4 <<<"$output" | tail -n +2)" '"KERNELS","add(float*)",2,4400
"KERNELS","scale(float*, int)",1
"HIP","hipMemcpy",1,10001
"HIP","hipGraphLaunch",1,6000
"HIP","hipLaunchKernel",1,4000
"HIP","hipMalloc",1,1250
"HIP","hipGetDeviceProperties",1,900
"HSA","hsa_amd_memory_async_copy",1,2000
"HSA","hsa_signal_create",1,391
"MARKERS","epoch 1",1,89500
"MARKERS","across threads",1,84999
"MARKERS","a mark",1,0
"MEMORY_COPIES","CopyHostToDevice",1,6650
"BARRIERS","<barrier packet>",1,100'
}

@test "arrows join calls and GPU work, also several of one graph" {
    rows kernel_trace "$JSON/v1.json" | awk -F, '{print $(NF - 13)}' >links
    rows hip_api_trace "$JSON/v1.json" | awk -F, '{print $2, $5}' >calls
    same "$(sed -n 1p links)" "$(awk '/hipLaunchKernel/ {print $2}' calls)"
    same "$(sed -n 2,3p links)" "$(awk '/hipGraphLaunch/ {print $2; print $2}' calls)"
}

@test "quotes without backslashes, sections in the place of processes, relative times" {
    try 0 rocpd2csv -q -d . -o o "$JSON/v1-quotes.json"
    grep -q '"say ""hello"", ""world""",100,101,0,5000000001000,5000000090500$' o_marker_api_trace.csv
    grep -q '"range of no thread",100,,0,5000000002000,5000000059999$' o_marker_api_trace.csv
    grep -q ',"GPU 0",0,1,,0,0,"scale(float\*, int)",[1-9][0-9]*,5000000026100,5000000029333,' \
        o_kernel_trace.csv
    same "$(wc -l <o_hip_api_trace.csv)" 4
}

@test "dispatches of the table KERN with their counters" {
    same "$(rows counter_collection "$JSON/v1-kern.json" | awk -F, '{print $(NF - 9), $(NF - 3), $(NF - 2)}')" \
        '256 "SQ_WAVES" 64
256 "TCC_HIT[0]" 17.5
256 "SQ_WAVES" 32
256 "TCC_HIT[0]" 3.25'
    same "$(rows kernel_trace "$JSON/v1-kern.json" | wc -l)" 2
}

# 60 dispatches with 5000 counters each, of 70,000 names in all; their times stand behind the counters.
many_names() {
    awk 'BEGIN {
        printf "{ \"traceEvents\":[{}\n"
        for (i = 0; i < 60; i++) {
            t = 1000000 + i * 100
            printf ",{\"ph\":\"X\",\"name\":\"k\",\"pid\":6,\"tid\":0,\"ts\":\"%d\",\"dur\":\"50\",\n  \"args\":{", t
            for (c = 0; c < 5000; c++)
                printf "\n    \"C%d\":\"%d\",", (i * 5000 + c) % 70000, c
            printf "\n    \"KernelName\":\"kern\",\n    \"gpu-id\":\"0\",\n    \"queue-id\":\"0\",\n    \"pid\":\"77\",\n    \"tid\":\"77\""
            printf ",\n    \"BeginNs\":\"%d111\",\n    \"EndNs\":\"%d222\"\n  }\n}\n", t, t + 50
        }
        printf "], \"otherData\":{}}\n"
    }'
}

@test "any number of counters, in a dispatch and of names: none is lost, with any number of workers" {
    many_names >plain.json
    sed 's/^  "args":{/  "args": {/' plain.json >blank.json # for the reader of any JSON
    for f in plain blank; do
        for j in 1 2 7; do
            try 0 rocline query -q -j $j -f csv "SELECT count(*) AS n, count(DISTINCT counter) AS names, sum(value) AS sum FROM counter" $f.json
            same "$(tail -n 1 <<<"$output")" 300000,70000,749850000
            try 0 rocline query -q -j $j -f csv "SELECT name, count(*) AS n, sum(duration) AS sum FROM kernel GROUP BY name" $f.json
            same "$(tail -n 1 <<<"$output")" '"kern",60,3006660'
        done
    done
    try 0 rtg2json -q --layout rocprof -o back.json plain.json
    try 0 rocline query -q -f csv "SELECT count(*) AS n, sum(value) AS sum FROM counter" back.json
    same "$(tail -n 1 <<<"$output")" 300000,749850000
}

@test "rocprofv2: microseconds, the process from the name of the file" {
    try 0 rocstats summary -q --format csv "$JSON/4242_output.json"
    same "$(cut -d, -f1-4 <<<"$output" | tail -n +2)" '"KERNELS","scale(float*, int)",1
"KERNELS","__amd_rocclr_fillBufferAligned",1,2000
"HIP","hipMemcpy",1,10000
"HIP","hipLaunchKernel",1,4000
"HIP","hipMalloc",1,2000
"HIP","hipMemset",1,2000
"HSA","hsa_signal_create",1,1000
"MARKERS","epoch 1",1,0
"MEMORY_COPIES","hipMemcpyHostToDevice",1,7000'
    [[ "$(rows hip_api_trace "$JSON/4242_output.json")" == *'"hipMalloc",4242,101,'*,5000000001000,* ]]
}

@test "a file that stops in the middle: what is complete is read, the loss is told" {
    local all n i
    all=$(stat -c %s "$JSON/v1.json")
    for i in 1 2 3 4 5 6 7 8 9; do
        n=$((all * i / 10))
        head -c $n "$JSON/v1.json" >cut.json
        run --separate-stderr rocstats summary --format csv cut.json
        if grep -q otherData cut.json; then
            [ "$status" -le 1 ] || fail "exit code 0 or 1 was expected"
            continue
        fi
        [ "$status" -eq 1 ] || fail "$n bytes: exit code 1 was expected"
        says "cut.json: the file is truncated: only what is complete is read"
    done
    head -c 2500 "$JSON/v1.json" >cut.json
    try 1 rocstats summary -q --format csv cut.json
    [[ "$output" == *'"epoch 1",1,89500'* ]]
    try 3 rocstats summary --strict cut.json
    says "cut.json: the file is truncated"
    head -c 40 "$JSON/v1.json" >cut.json
    try 1 rocstats summary cut.json
}

@test "an event that is no JSON is counted, the others are read" {
    sed 's/"hipMalloc","pid":2,/"hipMalloc","pid":,/' "$JSON/v1.json" >bad.json
    try 1 rocstats summary --format csv bad.json
    says "bad.json: byte "
    [[ "$output" == *hipMemcpy* && "$output" != *hipMalloc* ]]
    sed 's/"BeginNs":"5000000008000"/"BeginNs":"soon"/' "$JSON/v1.json" >bad.json
    try 1 rocstats summary --format csv bad.json
    says "a time is not a number"
    [[ "$output" == *hipMemcpy* && "$output" != *hipMalloc* ]]
}

@test "gzip, standard input, any number of workers: the same" {
    needs gzip
    local f
    for f in v1.json v1-quotes.json v1-kern.json 4242_output.json; do
        rocpd2pftrace -q -j1 -z0 --args -o one.pftrace "$JSON/$f"
        rocpd2pftrace -q -j4 -z0 --args -o four.pftrace "$JSON/$f"
        cmp one.pftrace four.pftrace
        gzip -c "$JSON/$f" >"$f"
        rocpd2pftrace -q -z0 --args -o gzip.pftrace "$f"
        cmp one.pftrace gzip.pftrace
    done
    rocstats summary --format csv - <"$JSON/v1.json" >a
    rocstats summary --format csv "$JSON/v1.json" >b
    cmp a b
}

@test "what the machine is called does not reach an output" {
    rocpd2csv -q -d . -o o "$JSON/v1.json"
    rocpd2pftrace -q -z0 --args -o t.pftrace "$JSON/v1.json"
    rtg2json -q --layout trace --args -o t.json "$JSON/v1.json"
    rocmerge -q -o t.db "$JSON/v1.json"
    ! grep -r Secret .
}

@test "the same as results.db of the run, call by call" {
    needs sqlite3 "$SHARED/rocprof-v1/kokkos-a/results.json"
    local run=$SHARED/rocprof-v1/kokkos-a
    rows hip_api_trace "$run/results.json" |
        awk -F, '{print $6 "|" $7 "|" $2 "|" $4}' | tr -d '"' | sort >got
    sqlite3 "file:$run/results.db?immutable=1" \
        'select BeginNs, EndNs, Name, tid from HIP' | sort >expected
    cmp expected got
    run=$SHARED/rocprof-v1/roctracer-golden/MatrixTranspose_sys_trace/out-r62
    rows kernel_trace "$run/results.json.gz" >kernels
    rows hip_api_trace "$run/results.json.gz" >calls
    # each kernel with the begin of the call that launched it
    awk -F, 'NR == FNR {begin[$5] = $6; next} {print $(NF - 12), begin[$(NF - 13)]}' \
        calls kernels | sort >got
    sqlite3 -separator ' ' "file:$run/results.db?immutable=1" 'select o.BeginNs, h.BeginNs
        from OPS o join HIP h on h."Index" = o."Index"' | sort >expected
    cmp expected got
}

# What is in both: the totals of everything that results.json has a place for.
totals() { # input
    rocstats summary -q --format csv "$1" |
        sed 's/MEMORY_COPY_HOST_TO_DEVICE/CopyHostToDevice/; s/MEMORY_COPY_DEVICE_TO_HOST/CopyDeviceToHost/
             s/MEMORY_COPY_DEVICE_TO_DEVICE/CopyDeviceToDevice/' |
        grep -Ev '^"(GRAPHS|HIP_EVENTS|MEMORY_ALLOCATIONS|SCRATCH_MEMORY)' | sort
}

@test "layout rocprof: valid JSON, which is read back as what it was made from" {
    needs jq "$FIXTURES/everything.db"
    local input
    for input in "$FIXTURES"/{everything,sys,rank0,schema-4.1.0}.db "$JSON"/{v1,v1-quotes,v1-kern}.json; do
        rtg2json -q --layout rocprof --args -o t.json "$input"
        jq -e '.traceEvents[1].ph == "M" and .otherData.generator != null' t.json >/dev/null ||
            fail "$input: no valid JSON"
        diff <(totals "$input") <(totals t.json) || fail "$input"
        rtg2json -q -j1 --layout rocprof --args -o one.json "$input"
        rtg2json -q -j4 --layout rocprof --args -o four.json "$input"
        cmp one.json four.json
        cmp one.json t.json
    done
}

@test "layout rocprof: every kernel keeps its call, and arguments stay what they were" {
    rtg2json -q --layout rocprof --args -o t.json "$JSON/v1.json"
    rtg2json -q --layout rocprof --args -o again.json t.json
    cmp t.json again.json
    rows kernel_trace t.json | awk -F, '{print $(NF - 13)}' >links
    rows hip_api_trace t.json | awk -F, '{print $2, $5}' >calls
    same "$(sed -n 1p links)" "$(awk '/hipLaunchKernel/ {print $2}' calls)"
    grep -qF '"args":"( kernel(scale(float*, int)) function_address(0x3) numBlocks({z(1) y(1) x(16}) ' t.json
    grep -qF '"args":"(0x1, {handle=2}, 0x3) = 0"' t.json
}

@test "layout rocprof: gzip, standard output, an output that cannot be written" {
    needs gzip
    rtg2json -q --layout rocprof -o t.json "$JSON/v1.json"
    rtg2json -q --layout rocprof -o t.json.gz "$JSON/v1.json"
    gzip -dc t.json.gz | cmp - t.json
    rtg2json -q --layout rocprof -o - "$JSON/v1.json" | cmp - t.json
    try 4 rtg2json -q --layout rocprof -o missing/t.json "$JSON/v1.json"
    [ ! -e missing ]
    try 2 rtg2json --layout rocpro -o x.json "$JSON/v1.json"
}

@test "layout rocprof: what has no place there is counted" {
    needs "$FIXTURES/everything.db"
    try 0 rtg2json --layout rocprof -o t.json "$FIXTURES/everything.db"
    says "events left out: results.json of rocprof has no place for allocations, samples, graphs"
}

@test "layout rocprof: the events of AMD's own file of the same raw texts, in its order" {
    needs jq "$SHARED/rocprof-v1/roctracer-golden"
    local run=$SHARED/rocprof-v1/roctracer-golden/MatrixTranspose_sys_trace
    rtg2json -q --layout rocprof --args -o t.json "$run"/in/*_trace.txt
    list() {
        jq -c '.traceEvents[] | select(.ph == "X" or .ph == "M") |
            [.ph, .pid, .name, .ts, .dur, .args.BeginNs, .args.EndNs, .args.DurationNs, .args.name]'
    }
    gzip -dc "$run/out-r62/results.json.gz" >amd.json
    list <amd.json >expected
    list <t.json >got
    cmp expected got
    # Of its database and of its JSON: all that it says.
    all() { jq -cS '.traceEvents[] | select(.ph == "X")' | sort; }
    for run in "$run" "$SHARED"/rocprof-v1/roctracer-golden/{MatrixTranspose_sys_hsa_trace/out-r62-no-start-stop,roctx_test_trace}; do
        [ -d "$run/out-r62" ] && run=$run/out-r62
        gzip -dcf "$run"/results.json* >amd.json
        all <amd.json >expected
        for input in "$run/results.db" amd.json; do
            rtg2json -q -f --layout rocprof --args -o t.json "$input"
            all <t.json >got
            cmp expected got || fail "$input"
        done
    done
}

# Domains and names may be like words and lines of other formats: they are the table's last word.
@test "layout rocprof: it is read back as that, whatever its calls are of and called" {
    cat >a.json <<'J'
{"traceEvents":[
 {"ph":"X","cat":"cpu_op","name":"aten::add","pid":7,"tid":7,"ts":10.001,"dur":5.002},
 {"ph":"X","cat":"user_annotation","name":"HIP: pid:7 tid:2 inner ret=0 @3 +4","pid":7,"tid":7,"ts":20.003,"dur":1.001},
 {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":30.007,"dur":10.011,"args":{"device":0,"stream":7}}
]}
J
    sed -i 's/"ph"/\n&/g' a.json
    rtg2json -q --layout rocprof -o b.json a.json
    for input in a.json b.json; do
        rocline query -q -f csv -o $input.csv 'SELECT kind, name, category, start, "end" FROM event ORDER BY start' $input
    done
    [ "$(wc -l <a.json.csv)" = 4 ]
    diff a.json.csv b.json.csv
}

@test "layout rocprof: copies keep their GPU whatever they are called, marks of no known thread stay marks" {
    printf '%s\n' 'profile:  kernel;  k;  1.0 us; 1000; 2000; #1.0.0;' \
        'profile:    copy;  UnknownCopy;  1.0 us; 3000; 4000; #1.0.1; 40 bytes;' \
        'profile:    copy;  DeviceToHost;  1.0 us; 5000; 6000; #1.0.2; 40 bytes;' >hcc.log
    cat >a.json <<'J'
{"traceEvents":[
 {"ph":"X","cat":"kernel","name":"k","pid":1,"tid":7,"ts":1,"dur":1,"args":{"device":1,"stream":7}},
 {"ph":"X","cat":"gpu_memcpy","name":"Memcpy DtoH (Device -> Pageable)","pid":1,"tid":7,"ts":3,"dur":1,"args":{"device":1,"stream":7}},
 {"ph":"X","cat":"gpu_memset","name":"Memset (Device)","pid":1,"tid":7,"ts":5,"dur":1,"args":{"device":1,"stream":7}},
 {"ph":"X","cat":"gpu_memcpy","name":"Memcpy PtoP (Device -> Device)","pid":1,"tid":7,"ts":7,"dur":1,"args":{"device":1,"stream":7}}
]}
J
    for input in hcc.log a.json; do
        rtg2json -q --layout rocprof -o b.json $input
        for file in $input b.json; do
            rocstats -q overlap --table overlap --format csv $file | cut -d, -f2- >$file.overlap
            rocline query -q -f csv -o $file.ends 'SELECT name, src_device IS NULL, dst_device IS NULL FROM memory_copies ORDER BY start' $file
        done
        diff $input.overlap b.json.overlap
        diff $input.ends b.json.ends
    done
    [[ "$(cat b.json.ends)" == *'"Memcpy DtoH (Device -> Pageable)",0,1'* ]]
    [[ "$(cat b.json.ends)" == *'"Memcpy PtoP (Device -> Device)",0,1'* ]] # to which GPU is not said
    printf '%s\n' 'Domain(ROCTX_DOMAIN), Timestamp(1005), ROCTX_ID(0), ROCTX_Message(ROCTX-MARK: m)' \
        'Domain(ROCTX_DOMAIN), Timestamp(2000), ROCTX_ID(0), ROCTX_Message(ROCTX-RANGE: r)' \
        'Domain(ROCTX_DOMAIN), Timestamp(2007), ROCTX_ID(0),' >marks.txt
    rtg2json -q --layout rocprof -o b.json marks.txt
    try 0 rocline query -q -f csv 'SELECT kind, name, start, "end" FROM event ORDER BY start' b.json
    same "$(tail -n +2 <<<"$output")" '"instant","m",1005,1005
"marker","r",2000,2007'
}

# Files are cut into pieces of some MiB between events, which may be those of the two ends of an arrow.
@test "layout rocprof: kernels that are called like copies stay kernels" {
    needs jq
    cat >t.json <<'END'
{"traceEvents":[
{"ph":"X","cat":"kernel","name":"Memcpy HtoD","pid":0,"tid":7,"ts":1,"dur":2,"args":{"device":0,"stream":7,"correlation":1}},
{"ph":"X","cat":"kernel","name":"CopyHostToDevice","pid":0,"tid":7,"ts":5,"dur":2,"args":{"device":0,"stream":7,"correlation":2}},
{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Host -> Device)","pid":0,"tid":7,"ts":9,"dur":2,"args":{"device":0,"stream":7,"correlation":3}}
]}
END
    rtg2json --layout rocprof -o out.json t.json
    names() { # FILE
        rocstats summary --format csv "$1" | cut -d, -f1-3
    }
    names t.json >expected
    names out.json | diff expected -
    # Before ROCm 4.3, when the pid of a row was its section, sections of GPUs also have copies.
    sed 's/"pid":"0"/"pid":"6"/; s/"pid":1,"tid":7/"pid":6,"tid":7/' out.json >old.json
    [ "$(names old.json | grep '^"MEMORY_COPIES"' | cut -d, -f2 | paste -s -d" ")" = '"CopyHostToDevice" "Memcpy HtoD"' ]
}

@test "kernels that AMD's script takes for copies, by Copy or Fill in their names, are kernels" {
    {
        printf '{ "traceEvents":[{}\n,{"args":{"name":"COPY"},"ph":"M","pid":1,"name":"process_name","sort_index":0}\n'
        local name begin=1000
        for name in CatArrayBatchedCopy vectorized_FillFunctor CopyHostToDevice FillBuffer async-copy; do
            printf ',{"ph":"X","name":"%s","pid":1,"tid":1,"ts":"%d","dur":"2",\n  "args":{\n' $name $((begin / 1000))
            printf '    "BeginNs":"%d",\n    "EndNs":"%d",\n    "dev-id":"0",\n    "queue-id":"1",\n' $begin $((begin + 2000))
            printf '    "Name":"%s",\n    "pid":"4242",\n    "tid":"4243",\n    "stream-id":"1",\n' $name
            printf '    "Data":"",\n    "DurationNs":"2000"\n  }\n}\n'
            begin=$((begin + 9000))
        done
        printf '],\n"otherData": {\n  }\n}'
    } >a.json
    try 0 rocstats summary --format csv --sort name a.json
    [ "$(tail -n +2 <<<"$output" | cut -d, -f1,2 | sort | paste -s -d' ')" = '"KERNELS","CatArrayBatchedCopy" "KERNELS","vectorized_FillFunctor" "MEMORY_COPIES","CopyHostToDevice" "MEMORY_COPIES","FillBuffer" "MEMORY_COPIES","async-copy"' ]
}

@test "an arrow whose ends are in different pieces of the file joins call and work" {
    for pad in "" xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; do
        awk -v pad="$pad" 'BEGIN {
            print "{ \"traceEvents\":[{}"
            form = ",{\"ph\":\"X\",\"name\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":\"%d\",\"dur\":\"2\",\n  \"args\":{\n    \"BeginNs\":\"%d000\",\n    \"EndNs\":\"%d000\",\n    \"pid\":\"7\",\n    \"tid\":\"7\"\n  }\n}\n"
            for (i = 10; i < 30010; i++) {
                printf form, i == 30009 ? "hipLaunchKernel" pad : "hipLaunchKernel", 2, 7, 10 * i, 10 * i, 10 * i + 2
                printf form, "k", 6, 0, 10 * i + 5, 10 * i + 5, 10 * i + 7
            }
            for (i = 10; i < 30010; i++) {
                printf ",{\"ts\":%d,\"ph\":\"s\",\"cat\":\"DataFlow\",\"id\":%d,\"pid\":2,\"tid\":7,\"name\":\"dep\"}\n", 10 * i + 1, i
                printf ",{\"ts\":%d,\"ph\":\"t\",\"cat\":\"DataFlow\",\"id\":%d,\"pid\":6,\"tid\":0,\"name\":\"dep\"}\n", 10 * i + 5, i
            }
            print "]}"
        }' >a.json
        try 0 rocline query -q -f csv "SELECT COUNT(*) FROM event JOIN event AS call ON call.stack_id = event.stack_id
            AND call.kind = 'region' WHERE event.kind = 'kernel'" a.json
        same "$(tail -n 1 <<<"$output")" 30000
    done
}
