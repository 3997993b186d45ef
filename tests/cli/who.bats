#!/usr/bin/env bats
# Hosts, ranks, processes and GPUs of a job come back from every format that keeps them.

load helper
load who

requires() {
    needs sqlite3 jq protoc "${JOB[0]}"
}

# The facts of the job, once.
setup_file() {
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true
}

same_who() { # INPUT...
    [ -s there ] || who "${JOB[@]}" >there
    who "$@" >here
    diff there here || fail "$*"
}

@test "the job has two hosts, equal pids and equal numbers of GPUs" {
    who "${JOB[@]}" >there
    [ "$(awk -F'\t' '$1 == "process" { print $2 }' there | sort -u | wc -l)" = 2 ]
    [ "$(awk -F'\t' '$1 == "process" { print $4 }' there | sort | uniq -d | wc -l)" = 2 ]
    [ "$(grep -c ' uuid: ' there)" = 8 ]
    # The uuids that the databases have: bytes of agents that are GPUs, in the order of Perfetto.
    for i in 0 2; do
        sqlite3 "${JOB[i]}" "SELECT group_concat(value, ' ') FROM rocpd_info_agent AS a,
            json_each(json_extract(a.extdata, '\$.uuid.bytes')) WHERE a.type = 'GPU' GROUP BY a.id ORDER BY a.absolute_index"
    done >theirs
    [ "$(wc -l <theirs)" = 8 ]
}

@test "pftrace, in both layouts" {
    for layout in "" --legacy-tracks; do
        # shellcheck disable=SC2086 # options
        try 0 rocpd2pftrace -q $layout -o t.pftrace "${JOB[@]}"
        same_who t.pftrace
        # Now all processes are in one file: again.
        # shellcheck disable=SC2086
        try 0 rocpd2pftrace -q $layout -o again.pftrace t.pftrace
        same_who again.pftrace
        rm t.pftrace again.pftrace
    done
    try 0 rocpd2pftrace -q -z0 -o t.pftrace "${JOB[@]}"
    [ "$(gpus t.pftrace | grep -c ^host)" = 2 ]
    [ "$(gpus t.pftrace | grep -c pci_bdf)" = 8 ]
}

@test "a single host has its name, on the packets of every viewer's own machine" {
    try 0 rocpd2pftrace -q -z0 -o t.pftrace "${JOB[0]}" "${JOB[1]}"
    [ "$(gpus t.pftrace | grep ^host)" = 'host 0 "synth-node-0"' ]
    who "${JOB[0]}" "${JOB[1]}" >there
    same_who t.pftrace
}

@test "JSON of Chrome" {
    try 0 rtg2json -q --layout trace -o t.json "${JOB[@]}"
    same_who t.json
    try 0 rtg2json -q --layout trace -o again.json t.json
    same_who again.json
    # By jq: what events name is in the list.
    [ "$(jq -c '[.rocline.processes[] | [.rank, .pid, .on]]' t.json)" = '[[0,4200,0],[1,4300,0],[2,4200,1],[3,4300,1]]' ]
    jq -e '([.rocline.processes[].id, .rocline.gpus[].id] | unique) as $known |
        [.traceEvents[] | select(.ph == "X") | .pid] | unique - $known == []' t.json
    for j in 1 3; do
        try 0 rtg2json -q -j$j --layout trace -o j$j.json "${JOB[@]}"
        cmp t.json j$j.json
    done
}

@test "JSON of PyTorch, a file for each rank" {
    try 0 rtg2json -q --layout kineto -o t.json "${JOB[@]}"
    same_who t_rank?.json
    [ "$(jq -r .host_name t_rank?.json)" = $'synth-node-0\nsynth-node-0\nsynth-node-1\nsynth-node-1' ]
    [ "$(jq -r '.rocline.hosts | length' t_rank?.json | sort -u)" = 1 ]
}

@test "JSON of PyTorch, all ranks in one file" {
    try 0 rocpd2pftrace -q -o all.pftrace "${JOB[@]}"
    try 0 rtg2json --layout kineto -o t.json all.pftrace
    says "several ranks share one set of tables"
    says "GPUs of different hosts share rows where their numbers are equal"
    same_who t.json
    [ "$(jq '[.rocline.processes[].id] | unique | length' t.json)" = 4 ]
    jq -e 'has("host_name") | not' t.json
}

@test "OTF2: every process and GPU is on its node" {
    needs otf2-print
    try 0 rocpd2pftrace -q -o all.pftrace "${JOB[@]}"
    for input in "${JOB[*]}" all.pftrace; do
        rm -rf t t.otf2 t.def t.marker
        # shellcheck disable=SC2086 # files
        try 0 rocpd2otf2 -q -o t.otf2 $input
        otf2-print -G t.otf2 >defs
        [ "$(awk '$1 == "SYSTEM_TREE_NODE" && /Class: "node"/' defs | grep -o 'Name: "[^"]*"' | tr '\n' ' ')" = \
            'Name: "synth-node-0" Name: "synth-node-1" ' ]
        [ "$(awk '$1 == "SYSTEM_TREE_NODE_PROPERTY"' defs | grep -c 'Name: "uuid".*"GPU-[0-9a-f]\{16\}"')" -ge 4 ]
        grep 'Name: "PCI address"' defs
        [ "$(awk '$1 == "LOCATION_GROUP" && /Type: PROCESS/' defs |
            sed 's/.*Name: "\([^"]*\)".*Parent: "node::\([^"]*\)".*/\2 \1/; t; s/.*Name: "\([^"]*\)".*"node::\([^"]*\)".*/\2 \1/')" = \
            $'synth-node-0 rank 0: train (pid 4200)\nsynth-node-0 rank 1: train (pid 4300)\nsynth-node-1 rank 2: train (pid 4200)\nsynth-node-1 rank 3: train (pid 4300)' ]
    done
}

@test "unknown hosts stay different, and GPUs that a process numbers itself" {
    for rank in 0 1 2; do
        jq --argjson rank $rank '.distributedInfo.rank = $rank | del(.host_name)' \
            "$TOP/tests/fixtures/chrome/kineto.json" >rank$rank.json
    done
    totals() { rocline info --format json "$@" | jq -c '.trace.totals | [.gpus, .processes, .ranks]'; }
    for how in "" --same-host; do
        # shellcheck disable=SC2086 # options
        there=$(totals $how rank?.json)
        # shellcheck disable=SC2086
        rocpd2pftrace -q $how -o t.pftrace rank?.json
        # shellcheck disable=SC2086
        rtg2json -q $how -o t.json rank?.json
        [ "$(totals t.pftrace)" = "$there" ]
        [ "$(totals t.json)" = "$there" ]
    done
}
