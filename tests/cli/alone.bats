#!/usr/bin/env bats
# What reports say of a GPU among several inputs, in numbers. tests/property/alone.sh compares all
# reports of several inputs with those of each.

load helper

# Work of PyTorch's profiler: lines "AT DURATION NAME DEVICE STREAM", in us -> a file for a rank.
write_rank() { # file rank ranks
    awk -v rank="$2" -v ranks="$3" 'BEGIN {
            printf "{\"schemaVersion\": 1, \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": %d, \"world_size\": %d}, \"traceEvents\": [", rank, ranks }
        { printf "%s\n{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"hipLaunchKernel\", \"pid\": %d, \"tid\": 1, \"ts\": %d, \"dur\": 5, \"args\": {\"correlation\": %d}}", (NR > 1 ? "," : ""), 1000 + rank, $1 - 20, NR
          printf ",\n{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"%s\", \"pid\": %d, \"tid\": %d, \"ts\": %d, \"dur\": %d, \"args\": {\"device\": %d, \"stream\": %d, \"correlation\": %d}}", $3, $4, $5, $1, $2, $4, $5, NR }
        END { print "\n]}" }' >"$1"
}

# Steps of 1 ms: a kernel that computes, then one that communicates.
steps() { # device, length of the first, length of the second
    awk -v device="$1" -v first="$2" -v second="$3" 'BEGIN { for (i = 1; i <= 10; i++) {
        print 1000 * i, first, "gemm", device, 0
        print 1000 * i + first, second, "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", device, 1 } }'
}

# The cells of some columns of a table, a row a line.
cells() { # report table columns input...
    local report=$1 table=$2 columns=$3
    shift 3
    rocstats -q --format json "$report" "$@" | jq -r --arg columns "$columns" --arg table "$table" \
        '.tables[] | select(.key == $table).rows[] | [.[$columns | split(" ")[]] |
        if type == "number" then (. * 1000 | round / 1000) else . end] | @tsv' | tr '\t' ' ' | sort
}

shows() { # expected lines, then cells...
    local expected=$1
    shift
    run cells "$@"
    [ "$output" = "$expected" ] || fail "expected:
$expected"
}

BUSY_OF_FOUR="52.632 4500000
52.632 4500000
52.632 4500000
52.632 4500000"

@test "four ranks of two hosts with equal device numbers are four GPUs" {
    for rank in 0 1 2 3; do
        steps $((rank % 2)) 400 100 | write_rank "node$((rank / 2))_100$rank.17000000000.pt.trace.json" "$rank" 4
    done
    shows "$BUSY_OF_FOUR" overlap overlap "busy_percent idle_ns" ./*.json
    shows "GPU 0 on node0 1000000
GPU 0 on node1 1000000
GPU 1 on node0 1000000
GPU 1 on node1 1000000" overlap communication "gpu exposed_ns" ./*.json
    shows "GPU 0 on node0 9
GPU 0 on node1 9
GPU 1 on node0 9
GPU 1 on node1 9" gaps gaps "gpu gaps" ./*.json
}

@test "a rank that calls its GPU 0, as another does, hides nothing of the other" {
    steps 0 300 400 | write_rank rank0.json 0 2
    steps 0 550 150 | write_rank rank1.json 1 2
    shows "GPU 0 of rank 0 4000000 0 10
GPU 0 of rank 1 1500000 0 10" overlap communication "gpu exposed_ns hidden_percent kernels" rank0.json rank1.json
    for rank in 0 1; do
        cells overlap overlap "wall_ns busy_ns compute_ns exposed_communication_ns idle_ns" rank$rank.json
    done | sort >alone
    cells overlap overlap "wall_ns busy_ns compute_ns exposed_communication_ns idle_ns" rank0.json rank1.json |
        diff alone -
}

@test "ranks of different containers with one host name do not share a GPU" {
    needs sqlite3
    "$BUILD/tests/rocpd-gen" -o 'one%r.db' --processes 2 --nodes 2 --gpus 1 --pid-step 0 --rows 200 \
        --hostname localhost --caches 0
    for rank in 0 1; do
        cells overlap overlap "wall_ns busy_ns kernels" one$rank.db
    done | sort >alone
    cells overlap overlap "wall_ns busy_ns kernels" one0.db one1.db | diff alone -
}

@test "two processes that see one GPU share it" {
    needs sqlite3
    "$BUILD/tests/rocpd-gen" -o 'one%r.db' --processes 2 --gpus 1 --rows 200 --caches 0
    run cells overlap overlap "gpu kernels" one0.db one1.db
    kernels=$(($(cells overlap overlap kernels one0.db) + $(cells overlap overlap kernels one1.db)))
    [ "$output" = "GPU 0 $kernels" ] || fail "$kernels kernels"
}

@test "real traces: two nodes, four ranks" {
    needs "$SHARED/cases3/identity/two_nodes_four_ranks"
    shows "$BUSY_OF_FOUR" overlap overlap "busy_percent idle_ns" "$SHARED"/cases3/identity/two_nodes_four_ranks/*.json
}

@test "real traces: all-reduce of vLLM hides nothing" {
    needs "$SHARED/cases3/identity/car_rank0.json"
    shows "GPU 0 of rank 0 4200000 0
GPU 0 of rank 1 200000 0" overlap communication "gpu exposed_ns hidden_percent" "$SHARED"/cases3/identity/car_rank[01].json
}

@test "real traces: exposed communication does not depend on the number of a device" {
    needs "$SHARED/kineto/two_ranks/rank0.json.gz"
    expected="9988828 18.535 2272727
208568096 29.709 88154529"
    gunzip -c "$SHARED/kineto/two_ranks/rank0.json.gz" >rank0.json
    gunzip -c "$SHARED/kineto/two_ranks/rank1.json.gz" |
        sed 's/"device": 1,/"device": 0,/; s/"device": 1$/"device": 0/; s/"pid": 1,/"pid": 0,/' >rank1.json
    [ "$(grep -c '"device": 1\b' rank1.json)" -eq 0 ]
    run cells overlap communication "exposed_ns hidden_percent hidden_ns" rank0.json rank1.json
    [ "$(sort -n <<<"$output")" = "$expected" ] || fail "expected: $expected"
}
