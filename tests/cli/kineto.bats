#!/usr/bin/env bats
# rtg2json --layout kineto: JSON as PyTorch's profiler writes it, from any input.
# shellcheck disable=SC2154 # bats sets status, output, stderr

load helper

JSON=$TOP/tests/fixtures/chrome

totals() {
    rocstats summary -q --format csv "$@" | sort
}

# Category, name, duration and what PyTorch's tools read of each event.
events() {
    jq -r '.traceEvents[] | select(.ph == "X" and .cat != "Trace" and .cat != "gpu_user_annotation") |
        [.cat, .name, (.dur * 1000 | round), .args["External id"], .args.correlation, .args.stream, .args.bytes, (.args.grid | tostring),
         (.args["Input Dims"] | tostring), .args["Sequence number"]] | @tsv' "$1" | LC_ALL=C sort
}

@test "PyTorch's trace comes back: every event, its times and arguments" {
    command -v jq >/dev/null || skip "no jq"
    try 0 rtg2json -q --layout kineto -o t.json "$JSON/kineto.json"
    [ "$(totals t.json)" == "$(totals "$JSON/kineto.json")" ]
    # Again: nothing is lost on the way back either.
    try 0 rtg2json -q --layout kineto -o again.json t.json
    cmp t.json again.json
    [ "$(events t.json | cut -f1-3)" == "$(events "$JSON/kineto.json" | cut -f1-3)" ]
}

@test "a file of several processes: GPU work comes back as that of its process" {
    command -v jq >/dev/null || skip "no jq"
    { cat "$TOP/tests/fixtures/rtg/calls.txt" && sed 's/pid:100/pid:200/' "$TOP/tests/fixtures/rtg/calls.txt"; } >two.txt
    try 0 rtg2json -q --layout kineto -o t.json two.txt
    [ "$(jq -r '.traceEvents[] | select(.cat == "kernel") | .args.pid' t.json | sort | uniq -c | awk '{ print $1, $2 }')" = \
        $'2 100\n2 200' ]
    diff <(rocstats ranks --table ranks --format csv two.txt | cut -d, -f1-7) \
        <(rocstats ranks --table ranks --format csv t.json | cut -d, -f1-7)
    try 0 rtg2json -q --layout kineto -o again.json t.json
    diff <(jq -S '.traceEvents[] | select(.cat == "kernel") | .args.pid' t.json) \
        <(jq -S '.traceEvents[] | select(.cat == "kernel") | .args.pid' again.json)
    # Of one process PyTorch's own arguments say all.
    try 0 rtg2json -q --layout kineto -o one.json "$TOP/tests/fixtures/rtg/calls.txt"
    jq -e '[.traceEvents[] | select(.cat == "kernel") | .args.pid] | all(. == null)' one.json
}

@test "real traces come back" {
    needs "$SHARED/kineto/mi300_bert.json.gz"
    command -v jq >/dev/null || skip "no jq"
    for name in mi250_minitoy_train_ROCm6_2 mi210_gpu_only mi300_bert mi300_normalization_layers mi300_triton; do
        try 0 rtg2json -q --layout kineto -o t.json "$SHARED/kineto/$name.json.gz"
        [ "$(totals t.json)" == "$(totals "$SHARED/kineto/$name.json.gz")" ]
        gzip -dc "$SHARED/kineto/$name.json.gz" >there.json
        diff <(events t.json) <(events there.json)
        [ "$(grep -c gpu_user_annotation t.json)" == "$(grep -c gpu_user_annotation there.json)" ]
    done
}

@test "workers change nothing; gzip by the name" {
    for j in 1 2 5; do
        try 0 rtg2json -q -j$j --layout kineto -o t$j.json.gz "$FIXTURES/everything.db"
        cmp t1.json.gz t$j.json.gz
    done
    try 0 rtg2json -q --layout kineto -o - "$FIXTURES/everything.db"
    [ "$output" == "$(gzip -dc t1.json.gz)" ]
}

@test "many blocks: workers change nothing, with and without gzip" {
    needs "$SHARED/kineto/two_ranks/rank0.json.gz"
    for j in 1 2 5; do
        try 0 rtg2json -q -f --args -j$j --layout kineto -o t$j.json "$SHARED/kineto/two_ranks/rank0.json.gz"
        cmp t1.json t$j.json
        try 0 rtg2json -q -f --args -j$j --layout kineto -o t$j.json.gz "$SHARED/kineto/two_ranks/rank0.json.gz"
        cmp t1.json.gz t$j.json.gz
    done
    gzip -dc t1.json.gz | cmp - t1.json
}

@test "a file for each rank" {
    sed 's/"rank": 3/"rank": 0/' "$JSON/kineto.json" >r0.json
    try 0 rtg2json --layout kineto -o out.json.gz r0.json "$JSON/kineto.json"
    [ "$(echo out*)" == "out_rank0.json.gz out_rank3.json.gz" ]
    gzip -dc out_rank3.json.gz | grep -q '"distributedInfo": {"backend": "nccl", "rank": 3}'
    [ "$(totals out_rank*)" == "$(totals r0.json "$JSON/kineto.json")" ]
    try 2 rtg2json --layout kineto -o - r0.json "$JSON/kineto.json"
    says "2 ranks are as many files: standard output is one"
}

@test "ranks that are in one set of tables are one file, which has no rank" {
    needs "$FIXTURES/rank0.db"
    rocmerge -q --flat -o flat.db "$FIXTURES/rank0.db" "$FIXTURES/rank1.db"
    try 0 rtg2json --layout kineto -o out.json flat.db
    says "several ranks share one set of tables, and are written to one file without a rank"
    [ "$(echo out*)" == out.json ]
    try 1 grep distributedInfo out.json
}

@test "from a database: calls, kernels, arrows, annotations" {
    try 0 rtg2json --layout kineto -o t.json "$FIXTURES/everything.db"
    says "left out: PyTorch's traces have no place for"
    rocpd2csv -q --style rocprofv3 -d . -o o "$FIXTURES/everything.db"
    [ "$(grep -c '"cat": "kernel"' t.json)" == "$(tail -q -n +2 o_*kernel_trace.csv | wc -l)" ]
    # Each work that has an arrow has one from a call.
    grep -o '"ph": "f".*"id": [0-9]*' t.json | grep -o '[0-9]*$' | sort -u >ends
    grep -o '"ph": "s".*"id": [0-9]*' t.json | grep -o '[0-9]*$' | sort -u >begins
    cmp begins ends
    grep -q '"cat": "gpu_user_annotation"' t.json
    grep -q '"name": "Memcpy HtoD (Host -> Device)"' t.json
}

@test "a database's kernels and copies are that again, whatever they are called" {
    sum() { # the layout has its own names of copies
        rocline query -q -f csv "SELECT name, count(*) AS n, sum(duration) AS ns FROM kernel GROUP BY name
            UNION ALL SELECT '', count(*), sum(duration) FROM event WHERE kind = 'copy'" "$1" | sort
    }
    "$BUILD/tests/rocpd-gen" -o gen.db --rows 3000
    for db in gen.db "$FIXTURES/everything.db" "$SHARED/rocpd/r9700_llama_bench.db"; do
        [ -e "$db" ] || continue
        try 0 rtg2json -q --layout kineto -o t.json "$db"
        diff <(sum "$db") <(sum t.json)
    done
    sum gen.db | grep -q '^"__amd_rocclr_copyBuffer",'
}

@test "no text of unknown members reaches the output" {
    try 0 rtg2json -q --layout kineto -o t.json "$JSON/kineto.json"
    ! grep -e SECRET_TOKEN -e do-not-copy -e /home/somebody t.json
}

@test "roofline: operations, bytes and GPU time of operators, against Python" {
    needs python3
    for file in "$JSON/kineto.json" "$SHARED"/kineto/{mi300_bert,mi300_triton,mi250_minitoy_train_ROCm6_2}.json.gz; do
        [ -e "$file" ] || continue
        rocstats --table roofline -q --peak MI300X --format json "$file" >r.json
        [ "$(rocstats --table roofline -q -j5 --peak MI300X --format json "$file")" = "$(cat r.json)" ]
        python3 - "$file" "$TOP/lib/analysis/op_work.c" <<'END'
import collections, gzip, json, re, sys
from decimal import Decimal
opened = gzip.open(sys.argv[1]) if sys.argv[1].endswith('.gz') else open(sys.argv[1])
trace = json.load(opened, parse_float=Decimal)
events = trace['traceEvents'] if isinstance(trace, dict) else trace
source = open(sys.argv[2]).read()
models = set(re.findall(r'"(aten::\w+)"', source)) | {'aten::' + n for n in re.findall(r'(?:PRODUCT|ELEMENTWISE)\("(\w+)"', source)}
sizes = {'double': 8, 'float': 4, 'c10::Half': 2, 'c10::BFloat16': 2, 'signed char': 1, 'unsigned char': 1}
ns = lambda us: int((Decimal(us) * 1000).to_integral_value())
ops, calls, work = collections.defaultdict(list), {}, []
for e in events:
    args, cat = e.get('args', {}), e.get('cat')
    if e.get('ph') != 'X':
        continue
    if cat == 'cpu_op' and e['name'] in models and 'Input Dims' in args:
        first = 1 if re.search(r'addmm|baddbmm|_backward', e['name']) else 0
        if len(args.get('Input type', [])) > first and args['Input type'][first] in sizes:
            ops[e['pid'], e['tid']].append((ns(e['ts']), ns(e['ts']) + ns(e['dur']), e, sizes[args['Input type'][first]]))
    elif cat in ('cuda_runtime', 'cuda_driver') and args.get('correlation'):
        c = (ns(e['ts']), e['pid'], e['tid'])
        calls[args['correlation']] = min(calls.get(args['correlation'], c), c)
    elif cat in ('kernel', 'gpu_memcpy', 'gpu_memset'):
        work.append((ns(e['ts']), ns(e['ts']) + ns(e['dur']), args.get('correlation')))
total = sum(b - a for a, b, _ in work)
of = collections.defaultdict(list)
for a, b, correlation in work:
    if correlation in calls:
        at, pid, tid = calls[correlation]
        inside = [o for o in ops[pid, tid] if o[0] <= at < o[1]]
        if inside:
            of[id(max(inside, key=lambda o: (o[0], -o[1]))[2])].append((a, b))
def union(pieces):
    time, until = 0, None
    for a, b in sorted(pieces):
        a = a if until is None else max(a, until)
        time += max(b - a, 0)
        until = b if until is None else max(b, until)
    return time
want = collections.defaultdict(lambda: [0, 0, 0])
amount = {}
for of_thread in ops.values():
    for _, _, e, item in of_thread:
        if id(e) not in of:
            continue
        dims = e['args']['Input Dims']
        shapes = json.dumps(dims, separators=(',', ':'))
        while shapes.endswith(',[]]'):
            shapes = shapes[:-4] + ']'
        w = want[e['name'], shapes]
        w[0] += 1; w[1] += len(of[id(e)]); w[2] += union(of[id(e)])
        name = e['name'][6:]
        if name in ('mm', 'addmm', 'bmm'):
            a, b = dims[1:3] if name == 'addmm' else dims[:2]
            batch, m, k, n = a[0] if name == 'bmm' else 1, a[-2], a[-1], b[-1]
            bias = 1
            for d in dims[0]: bias *= d
            amount[e['name'], shapes] = (2 * batch * m * k * n + (m * n if name == 'addmm' else 0),
                                         item * (batch * (m * k + k * n + m * n) + (bias if name == 'addmm' else 0)))
rows = json.load(open('r.json'))['tables'][0]['rows']
got = {(r['name'], r['shapes']): r for r in rows}
assert len(got) == len(rows)
assert {k: (r['calls'], r['kernels'], r['total_ns']) for k, r in got.items()} == {k: tuple(v) for k, v in want.items()}, (got, dict(want))
near = lambda a, b: abs(a - b) <= 1e-9 * max(abs(a), abs(b))
for k, r in got.items():
    assert near(r['percent'], 100 * r['total_ns'] / total)
    assert near(r['tflops_per_s'], r['flops'] / r['total_ns'] / 1e3) and near(r['bandwidth'], r['bytes'] * 1e9 / r['total_ns'])
    if k in amount:
        assert (r['flops'], r['bytes']) == tuple(x * r['calls'] for x in amount[k]), (r, amount[k])
    rate = {'fp64': 163.4e12, 'fp32': 163.4e12, 'fp16': 1307.4e12, 'bf16': 1307.4e12}[r['type']]
    least = max(r['flops'] / rate, r['bytes'] / 5300e9)
    assert r['peak_ns'] == int(least * 1e9) and near(r['peak_percent'], least * 1e11 / r['total_ns'])
    assert r['bound'] == ('compute' if r['flops'] / rate > r['bytes'] / 5300e9 else 'memory')
print(len(rows), 'rows')
END
    done
}

@test "calls of HSA come back as calls of HSA" {
    printf '%s\n' '1000:1010 7:8 hsa_signal_create(1, 0) = 0' '1020:1030 7:8 hsa_amd_pointer_info(1) = 0' >hsa_api_trace.txt
    rtg2json -q --layout kineto -o b.json hsa_api_trace.txt
    for input in hsa_api_trace.txt b.json; do
        rocstats -q summary --format csv $input >$input.summary
    done
    grep -q '^"HSA","hsa_signal_create",1,10,' hsa_api_trace.txt.summary
    diff hsa_api_trace.txt.summary b.json.summary
}

@test "arguments that are called like others of their event: keys of an object differ" {
    command -v jq >/dev/null || skip "no jq"
    cat >odd.json <<'EOF'
{"traceEvents":[
{"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":10,"tid":11,"ts":100,"dur":5,"args":{"correlation":7,"a":1,"b":2,"a":3}},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":110,"dur":2,"args":{"correlation":7,"device":0,"stream":7,"grid":[1,1,1],"block":[64,1,1],"workgroup":"w","queue":9,"a":4}}
]}
EOF
    for layout in trace kineto; do
        try 0 rtg2json -q --args --layout $layout -o t.json odd.json
        jq -e '.traceEvents[] | select(.name == "hipLaunchKernel").args | [.a, .b] | map(tonumber) == [1, 2]' t.json
        [ "$(grep -o '"a #[0-9]": *"*3' t.json | wc -l)" -eq 1 ]
        # jq takes the last of several: there must be one of each.
        jq -c --stream 'select(length == 2)[0]' t.json | sort | uniq -d >twice
        [ ! -s twice ]
    done
    rtg2json -q --args --layout trace -o t.json odd.json
    [ "$(jq -c '.traceEvents[] | select(.cat == "kernel").args | [.workgroup, .queue, .a]' t.json)" = '[[64,1,1],7,"4"]' ]
}

@test "roofline: the peak is that of the GPU in the trace, by its name, else by what is known of it" {
    needs python3
    python3 - >x.json <<'END'
import json
events = []
for i in range(3):  # 2.62 MB in 1 us
    at = {"pid": 1, "tid": 1, "ts": 1000 * i}
    events += [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", **at, "dur": 20, "args": {"Input Dims": [[512, 512], [512, 1024]], "Input type": ["c10::BFloat16"] * 2}},
               {"ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel", **at, "ts": 1000 * i + 5, "dur": 5, "args": {"correlation": i}},
               {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 0, "ts": 1000 * i + 30, "dur": 1, "args": {"device": 0, "stream": 0, "correlation": i}}]
print(json.dumps({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "AMD Instinct MI300X"}], "traceEvents": events}))
END
    rocmerge -q -o x.db x.json
    printf 'Odd-One gfx=gfx1234 bandwidth=1T bf16=1P\nMI210 bandwidth=2T bf16=1P\n' >peaks.txt
    local name product properties wanted options
    while IFS='|' read -r name product properties wanted options; do
        cp x.db y.db
        sqlite3 y.db "UPDATE $(sqlite3 y.db "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd_info_agent%'")
                      SET name = '$name', product_name = '$product', extdata = '{$properties}' WHERE type = 'GPU'"
        # shellcheck disable=SC2086 # words
        rocstats --table roofline -q --format md $options y.db >y.md
        grep -q "$wanted" y.md || fail "$name|$product|$properties: $(cat y.md)"
        [ "$(grep -c '; peak: ' y.md)" = "$(grep -c 'Of peak %' y.md)" ] || fail "$wanted: $(cat y.md)"
    done <<'END'
||"cu_count":304|no peak is known of the GPU; --peak
|AMD Instinct MI300X||peak: MI300X;
|AMD Instinct MI300X VF||peak: MI300X;
|AMD Instinct MI300X HF||no peak is known of AMD Instinct MI300X HF; --peak
gfx942|AMD Instinct MI300X|"cu_count":304,"device_id":29857|peak: MI300X;
gfx942|AMD Instinct MI300X|"cu_count":38|no peak is known of AMD Instinct MI300X; --peak
gfx942|||no peak is known of gfx942, which may be MI300A, MI300X, MI325X; --peak
gfx942||"cu_count":228|peak: MI300A;
gfx942||"cu_count":304|which may be MI300X, MI325X;
gfx942||"cu_count":304,"mem_banks":[{"size_in_bytes":206141652992}]|peak: MI300X;
gfx942||"cu_count":304,"mem_banks":[{"size_in_bytes":274877906944}]|peak: MI325X;
gfx942|AMD Radeon Graphics|"cu_count":304,"device_id":29861|peak: MI325X;
gfx950|AMD Instinct MI355X||peak: MI355X;
gfx950||"device_id":30112|peak: MI350X;
gfx950|AMD Radeon Graphics|"cu_count":256|may be MI350X, MI355X;
gfx90a|AMD Instinct MI210||peak: MI210;
gfx90a|AMD Instinct MI250X / MI250|"cu_count":110|peak: MI250X;
gfx90a||"cu_count":104|peak: MI210;
gfx90a|||may be MI210, MI250, MI250X;
gfx908|||peak: MI100;
gfx1100|AMD Radeon RX 7900 XT||peak: RX-7900-XT;
gfx1100|Radeon RX 7900 XTX||peak: RX-7900-XTX;
gfx1100||"cu_count":96|peak: RX-7900-XTX;
gfx1201|AMD Radeon RX 9070 GRE|"cu_count":48|no peak is known of AMD Radeon RX 9070 GRE; --peak
gfx1201|AMD Radeon RX 9070 XT|"cu_count":64|peak: RX-9070-XT;
gfx1234|||no peak is known of gfx1234; --peak
gfx1234|||peak: Odd-One;|--peaks peaks.txt
gfx90a|AMD Instinct MI210|"cu_count":104|peak: MI210;|--peaks peaks.txt
gfx90a|AMD Instinct MI210|"cu_count":104|peak: MI355X;|--peak MI355X
gfx942|AMD Instinct MI300X|"cu_count":304|peak: Odd-One;|--peak peaks.txt:Odd-One
END
    # The file decides first: three times 2.62 MB take 3.93 us at 2 TB/s. A row that is above its peak says so.
    [ "$(rocstats --table roofline -q --format json --peaks peaks.txt --peak MI210 x.db | jq -c '.tables[0].rows[0] | [.peak_ns, .bound, .peak_percent > 100]')" = '[3932,"doubtful",true]' ]
    rocstats --table roofline -q --peak MI210 x.db | grep -q '1 above the peak: the shapes or the peak are wrong'
    [ "$(rocstats --table roofline -q --format json x.db | jq -c '.tables[0].rows[0].bound')" = '"memory"' ]
    rocstats -q x.db | grep -q '1 x AMD Instinct MI300X'
}
