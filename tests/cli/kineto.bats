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

@test "no text of unknown members reaches the output" {
    try 0 rtg2json -q --layout kineto -o t.json "$JSON/kineto.json"
    ! grep -e SECRET_TOKEN -e do-not-copy -e /home/somebody t.json
}
