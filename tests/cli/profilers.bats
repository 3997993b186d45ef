#!/usr/bin/env bats
# Hosts, ranks, processes and GPUs of a job stay the same in what is written in the forms of AMD's
# profilers and read back: two hosts, whose processes have the same pids and whose GPUs have the same
# numbers.
# shellcheck disable=SC2154 # bats sets status, output, stderr

load helper

JOB=("$FIXTURES"/node-rank{0,1,2,3}.db)

# Who is who: GPUs that were used, with their processes.
who() { # input...
    rocline query -q --format csv "SELECT DISTINCT k.hostname, k.rank, k.pid, k.tid, k.agent,
        a.uuid, a.pci FROM kernel k LEFT JOIN agent a ON a.guid = k.guid AND a.label = k.agent
        AND a.rank = k.rank ORDER BY 1, 2, 4, 5" "$@"
}

hosts() { # input...
    rocline info --format json "$@" | jq -c '.trace.totals | [.hosts, .processes, .ranks]'
}

# Compares what was written with what it was written from.
same_who() { # input...
    diff <(who "${JOB[@]}") <(who "$@") || fail "$*: other processes or GPUs"
    [ "$(hosts "$@")" == "[2,4,4]" ] || fail "$*: $(hosts "$@")"
}

setup_file() {
    [ -e "$FIXTURES/node-rank0.db" ] || skip "no fixtures"
}

@test "the job has two hosts with the same pids and numbers of GPUs" {
    [ "$(who "${JOB[@]}" | cut -d, -f1-3 | sort -u | grep -c ',"*[0-3]"*,')" -eq 4 ]
    [ "$(who "${JOB[@]}" | tail -n +2 | cut -d, -f1 | sort -u | wc -l)" -eq 2 ]
    [ "$(who "${JOB[@]}" | tail -n +2 | cut -d, -f3 | sort -u | wc -l)" -eq 2 ]
}

@test "JSON of rocprofv3" {
    needs jq
    for j in 1 4; do
        rtg2json -q -j $j --layout rocprofv3 -o "v3-$j.json" "${JOB[@]}"
    done
    cmp v3-1.json v3-4.json
    same_who v3-1.json
    [ "$(jq -c '[.["rocprofiler-sdk-tool"][].metadata | [.node.hostname, .pid, .rocline.rank]]' v3-1.json)" == \
        '[["synth-node-0",4200,0],["synth-node-0",4300,1],["synth-node-1",4200,2],["synth-node-1",4300,3]]' ]
}

@test "JSON of rocprofv3: machines without a name stay apart, and together" {
    local two=("$TOP"/tests/fixtures/rocprof/{v1,v1-kern}.json)
    rtg2json -q --layout rocprofv3 -o two.json "${two[@]}"
    [ "$(hosts two.json)" == "$(hosts "${two[@]}")" ]
    rtg2json -q --layout rocprofv3 --same-host -o one.json "${two[@]}"
    [ "$(rocline info --format json one.json | jq .trace.totals.hosts)" -eq 1 ]
}

@test "JSON of rocprof v1" {
    needs jq
    for j in 1 4; do
        rtg2json -q -j $j --layout rocprof -o "v1-$j.json" "${JOB[@]}"
    done
    cmp v1-1.json v1-4.json
    jq -e . v1-1.json >/dev/null
    same_who v1-1.json
    diff <(rocline query -q --format csv "SELECT rank, name, call, duration FROM launch WHERE kind = 'dispatch' ORDER BY 1, 2, 3, 4" "${JOB[@]}") \
        <(rocline query -q --format csv "SELECT rank, name, call, duration FROM launch WHERE kind = 'dispatch' ORDER BY 1, 2, 3, 4" v1-1.json)
    # A row of the picture is a thread of one host, a section of GPUs one GPU.
    [ "$(jq -r '.traceEvents[] | select(.ph == "M") | .args.name' v1-1.json | grep -c '^GPU[0-9] on synth-node-')" -eq 8 ]
    # One process in a file needs no more than its list of processes.
    rtg2json -q --layout rocprof -o one.json "${JOB[2]}"
    grep -q '"guid"' one.json && fail "a single process has a guid"
    [ "$(hosts one.json)" == "[1,1,1]" ]
}

@test "JSON of rocprof v1: uuids out of rocminfo, where the numbers of GPUs are not ambiguous" {
    gpu() { # dev-id
        cat <<END
{ "traceEvents":[{}
,{"ph":"X","name":"k","pid":6,"tid":0,"ts":"10","dur":"1",
  "args":{
    "BeginNs":"10000",
    "EndNs":"11000",
    "dev-id":"$1",
    "queue-id":"0",
    "Name":"k",
    "pid":"7",
    "tid":"7"
  }
}
],
"otherData": {
    "CMD": "rocminfo",
    "Agent1.Uuid": "CPU-XX",
    "Agent1.Node": "0",
    "Agent1.DeviceType": "CPU",
    "Agent2.Uuid": "GPU-0123456789abcdef",
    "Agent2.Node": "1",
    "Agent2.DeviceType": "GPU",
    "Agent3.Uuid": "GPU-fedcba9876543210",
    "Agent3.Node": "2",
    "Agent3.DeviceType": "GPU"
  }
}
END
    }
    uuid() { # dev-id
        gpu "$1" >t.json
        rocline query -q --format csv "SELECT uuid FROM agent" t.json | tail -n +2
    }
    [ "$(uuid 2)" == '"GPU-fedcba9876543210"' ] || [ "$(uuid 2)" == GPU-fedcba9876543210 ]
    [[ $(uuid 0) == *GPU-0123456789abcdef* ]]
    [[ $(uuid 1) != *GPU* ]]
}

@test "CSV of rocprofv3" {
    rocpd2csv -q --style rocprofv3 -d csv -o job "${JOB[@]}"
    [ "$(ls csv)" == $'synth-node-0\nsynth-node-1' ]
    same_who csv/*/*.csv
    # Without the other files beside them, each says of itself who it is.
    same_who csv/*/*_kernel_trace.csv
    [ "$(head -2 csv/synth-node-1/job_4300_process_info.csv | tail -1 | cut -d, -f1-3)" == '4300,3,"synth-node-1"' ]
    rocpd2csv -q -j 1 --style rocprofv3 -d one -o job "${JOB[@]}"
    diff -r csv one
}

@test "rocpd: rows copied, rebuilt, in one set of tables, and out of other forms" {
    local how
    for how in "" --rebuild --flat; do
        rm -f m.db
        # shellcheck disable=SC2086
        rocmerge -q --align none $how -o m.db "${JOB[@]}"
        same_who m.db
    done
    rtg2json -q --layout rocprofv3 -o v3.json "${JOB[@]}"
    rtg2json -q --layout rocprof -o v1.json "${JOB[@]}"
    for how in v3 v1; do
        rocmerge -q --align none -o $how.db $how.json
        same_who $how.db
    done
}

@test "tables for other tools: host, rank, GPU, uuid and PCI address are columns" {
    needs jq
    rocline export -q -f jsonl -o - --kinds agent,kernel,process "${JOB[@]}" >t.jsonl
    [ "$(jq -r 'select(.kind == "agent" and .type == "GPU") | [.hostname, .rank, .label, .uuid, .pci] | @csv' t.jsonl | sort -u | wc -l)" -eq 16 ]
    [ "$(jq -r 'select(.kind == "kernel") | .agent' t.jsonl | sort -u | wc -l)" -eq 8 ]
    # Gaps are those of a GPU, not of its number.
    [ "$(rocline query -q --format csv 'SELECT DISTINCT agent FROM gap' "${JOB[@]}" | wc -l)" -gt 8 ]
}

@test "results.csv of rocprof v1 has no place for hosts, which is said" {
    try 0 rocpd2csv --style rocprof -d out -o o "${JOB[@]}"
    says "results.csv of rocprof has no place for hosts: rows of 2 hosts differ by pid and number of the GPU only"
    try 0 rocpd2csv --style rocprof -d one -o o "${JOB[0]}"
    [[ $stderr != *"no place for hosts"* ]]
}

@test "RPD: the machines of a merged file are told apart" {
    needs sqlite3 jq
    sqlite3 v3.rpd <"$TOP/tests/fixtures/rpd/v3.sql"
    [ "$(rocline info --format json v3.rpd | jq -c '.trace.totals | [.hosts, .gpus, .processes]')" == "[2,2,2]" ]
    rtg2json -q --layout rocprofv3 -o v3.json v3.rpd
    [ "$(rocline info --format json v3.json | jq -c '.trace.totals | [.hosts, .gpus, .processes]')" == "[2,2,2]" ]
}
