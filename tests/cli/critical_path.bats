#!/usr/bin/env bats
# rocstats critical-path: traces of which the answer is known.

load helper

# Events, a line each, in microseconds: call|marker THREAD NAME BEGIN END CORRELATION, kernel|copy STREAM
# NAME BEGIN END CORRELATION; to a trace of the rank, of PyTorch's form. Behind a call may stand the
# stream, or - for none, and the event that it names.
trace() { # RANK
    awk -v rank="$1" '
        function common(cat, pid, tid) {
            printf "%s{\"ph\": \"X\", \"cat\": \"%s\", \"pid\": %s, \"tid\": %s, \"name\": \"%s\", \"ts\": %d, \"dur\": %d, \"args\": {",
                n++ ? ",\n" : "", cat, pid, tid, $3, $4, $5 - $4
        }
        BEGIN { printf "{\"schemaVersion\": 1, \"distributedInfo\": {\"rank\": %d}, \"traceEvents\": [\n", rank }
        $1 == "call" {
            common("cuda_runtime", 100 + rank, $2)
            if ($7 != "" && $7 != "-") printf "\"stream\": \"%s\", ", $7
            if ($8 != "") printf "\"event\": \"%s\", ", $8
            printf "\"correlation\": %d}}", $6
        }
        $1 == "marker" { common("user_annotation", 100 + rank, $2); printf "}}" }
        $1 == "kernel" { common("kernel", 0, $2); printf "\"device\": 0, \"stream\": %d, \"correlation\": %d}}", $2, $6 }
        $1 == "copy" { common("gpu_memcpy", 0, $2); printf "\"device\": 0, \"stream\": %d, \"correlation\": %d, \"bytes\": 8}}", $2, $6 }
        END { print "]}" }' >"rank$1.json"
}

# CLASS/NAME MICROSECONDS of each row, but those of 0.
path() { # argument of rocstats...
    rocstats critical-path -q --format json "$@" >path.json
    jq -r '.tables[] | select(.key == "critical_path_names").rows[] |
        "\(.class)/\(.name) \(.time_ns / 1000)"' path.json | sort | paste -sd'|'
    # The whole time is on the path once.
    jq -e '[.tables[] | select(.key == "critical_path_names").rows[].time_ns] as $ns |
        [.tables[] | select(.key == "critical_path").rows[].time_ns] | add == ($ns | add)' path.json >/dev/null
}

saves() { # NAME=2x FILE...: microseconds
    local what=$1
    shift
    rocstats critical-path -q --format json --what-if "$what" "$@" |
        jq -r '.tables[] | select(.key == "critical_path_what_if").rows[0].saved_ns / 1000'
}

@test "a chain: launches, two kernels behind each other, and the call that waits for them" {
    trace 0 <<'END'
call 1 hipLaunchKernel 0 10 1
call 1 hipLaunchKernel 12 20 2
kernel 7 first 15 115 1
kernel 7 second 118 168 2
call 1 hipDeviceSynchronize 25 175 0
END
    [ "$(path rank0.json)" = 'behind other work/second 3|kernels/first 100|kernels/second 50|launch/hipLaunchKernel 15|return from waiting/hipDeviceSynchronize 7' ]
    [ "$(saves first=2x rank0.json)" = 50 ]
    [ "$(saves second=2x rank0.json)" = 25 ]
    # A launch of 10 us, half of which is saved; the second one is not on the path.
    [ "$(saves hipLaunchKernel=2x rank0.json)" = 5 ]
    [ "$(saves '*d=4x' rank0.json)" = 37.5 ]
    # The host is done after 25 us: no kernel can be faster than that.
    [ "$(saves first=1000x rank0.json)" = 99.9 ]
}

@test "two streams: what runs beside the path saves nothing, and saves only up to the other stream" {
    trace 0 <<'END'
call 1 hipLaunchKernel 0 10 1
call 1 hipLaunchKernel 10 20 2
kernel 7 long 20 220 1
kernel 8 short 30 180 2
call 1 hipDeviceSynchronize 20 230 0
END
    [ "$(path rank0.json)" = 'kernels/long 200|launch/hipLaunchKernel 20|return from waiting/hipDeviceSynchronize 10' ]
    [ "$(saves short=2x rank0.json)" = 0 ]
    # 100 us less for `long`, but `short` ends 40 us before it.
    [ "$(saves long=2x rank0.json)" = 40 ]
    # Both: `long` alone ends 120 us after the begin, and the call 10 us later.
    [ "$(saves '*o[nr]*=2x' rank0.json)" = 100 ]
}

@test "bound by the host: kernels are not on the path, however many there are" {
    for i in $(seq 0 9); do
        echo "call 1 hipMalloc $((i * 100)) $((i * 100 + 60)) 0"
        echo "call 1 hipLaunchKernel $((i * 100 + 70)) $((i * 100 + 90)) $((i + 1))"
        echo "kernel 7 short $((i * 100 + 85)) $((i * 100 + 95)) $((i + 1))"
    done | cat - <(echo "call 1 hipDeviceSynchronize 1000 1004 0") | trace 0
    [ "$(path rank0.json)" = 'host calls/hipDeviceSynchronize 4|host calls/hipLaunchKernel 200|host calls/hipMalloc 600|host outside of calls/(no range is open) 200' ]
    [ "$(saves short=2x rank0.json)" = 0 ]
    [ "$(saves hipMalloc=2x rank0.json)" = 300 ]
}

@test "bound by waiting: the host launches, waits, and goes on" {
    for i in 0 1 2; do
        echo "marker 1 step $((i * 100)) $((i * 100 + 100))"
        echo "call 1 hipLaunchKernel $((i * 100 + 5)) $((i * 100 + 10)) $((i + 1))"
        echo "kernel 7 work $((i * 100 + 20)) $((i * 100 + 80)) $((i + 1))"
        echo "call 1 hipStreamSynchronize $((i * 100 + 12)) $((i * 100 + 90)) 0"
    done | trace 0
    [ "$(path rank0.json)" = 'host outside of calls/step 45|kernels/work 180|launch/hipLaunchKernel 45|return from waiting/hipStreamSynchronize 30' ]
    [ "$(saves work=2x rank0.json)" = 90 ]
}

@test "copies and kernels: a copy on a stream of its own, and hipMemcpy, which waits for its copy" {
    trace 0 <<'END'
call 1 hipMemcpyAsync 0 10 1
copy 9 up 20 120 1
call 1 hipStreamWaitEvent 12 14 0
call 1 hipLaunchKernel 15 20 2
kernel 7 compute 125 225 2
call 1 hipMemcpy 30 290 3
copy 7 down 230 280 3
END
    [ "$(path rank0.json)" = 'behind other work/compute 5|behind other work/down 5|copies/down 50|copies/up 100|kernels/compute 100|launch/hipMemcpyAsync 20|return from waiting/hipMemcpy 10' ]
    [ "$(saves up=2x rank0.json)" = 50 ]
    # Without the call before the launch, nothing says that the kernel waited for the copy.
    sed -i /hipStreamWaitEvent/d rank0.json
    [[ "$(path rank0.json)" == *"launch/hipLaunchKernel 110"* ]]
    [ "$(saves up=2x rank0.json)" = 0 ]
}

@test "a call waits for the stream that it names; which one, is found by time where it does not say" {
    trace 0 <<'END'
call 1 hipLaunchKernel 0 10 1 0x7f
call 1 hipLaunchKernel 10 20 2 0x80
kernel 7 near 20 120 1
kernel 8 far 30 180 2
call 1 hipStreamSynchronize 20 190 0 0x7f
call 1 hipMalloc 190 290 0
END
    [ "$(path rank0.json)" = 'host calls/hipMalloc 100|kernels/near 100|launch/hipLaunchKernel 20|return from waiting/hipStreamSynchronize 70' ]
    [ "$(jq -r '.tables[] | select(.key == "critical_path").note' path.json)" = "0.000290 s from the first begin to the last end" ]
    # Of two that a broken call names, the first counts.
    sed 's/"stream": "0x7f", "correlation": 0/"stream": "0x7f", "stream": "0x80", "correlation": 0/' rank0.json >two.json
    run ! cmp -s rank0.json two.json
    [ "$(path rank0.json)" = "$(path two.json)" ]
    sed -i 's/"stream": "0x[0-9a-f]*", //' rank0.json
    [ "$(path rank0.json)" = 'host calls/hipLaunchKernel 10|host calls/hipMalloc 100|kernels/far 150|launch/hipLaunchKernel 20|return from waiting/hipStreamSynchronize 10' ]
    [[ "$(jq -r '.tables[] | select(.key == "critical_path").note' path.json)" == *"; 1 of 1 calls that wait for a stream or an event do not say for which" ]]
}

@test "an event is behind what was launched before it was recorded" {
    trace 0 <<'END'
call 1 hipLaunchKernel 0 4 1 a
call 1 hipEventRecord 4 6 0 a e
call 1 hipLaunchKernel 6 10 2 a
call 1 hipStreamWaitEvent 10 12 0 b e
call 1 hipLaunchKernel 12 16 3 b
call 1 hipLaunchKernel 16 20 4 c
kernel 7 first 20 120 1
kernel 7 second 120 300 2
kernel 8 third 125 325 3
kernel 9 other 22 323 4
call 1 hipDeviceSynchronize 20 330 0
END
    [ "$(path rank0.json)" = 'behind other work/third 5|kernels/first 100|kernels/third 200|launch/hipLaunchKernel 20|return from waiting/hipDeviceSynchronize 5' ]
    [ "$(saves first=2x rank0.json)" = 2 ] # then `other` ends last
    [ "$(saves second=2x rank0.json)" = 0 ]
    # Who waits for an event that was recorded later waits for more.
    sed -i 's/"ts": 4,/"ts": 7,/; s/"name": "third", "ts": 125, "dur": 200/"name": "third", "ts": 305, "dur": 20/' rank0.json
    [[ "$(path rank0.json)" == *'kernels/first 100|kernels/second 180|kernels/third 20|'* ]]
    # hipEventSynchronize waits for no more than that.
    trace 0 <<'END'
call 1 hipLaunchKernel 0 4 1 a
call 1 hipEventRecord 4 6 0 a e
call 1 hipLaunchKernel 6 10 2 a
kernel 7 first 20 120 1
kernel 7 second 120 128 2
call 1 hipEventSynchronize 20 130 0 - e
call 1 hipMalloc 130 230 0
END
    [ "$(path rank0.json)" = 'host calls/hipMalloc 100|kernels/first 100|launch/hipLaunchKernel 20|return from waiting/hipEventSynchronize 10' ]
}

@test "what began before the trace holds the first work back: from 100 us after its launch on" {
    trace 0 <<'END'
call 1 hipLaunchKernel 0 5 1
call 1 hipLaunchKernel 6 9 2
kernel 7 one 500 600 1
kernel 8 two 505 700 2
call 1 hipDeviceSynchronize 10 710 0
END
    [ "$(path rank0.json)" = 'before the trace/two 491|host calls/hipLaunchKernel 5|host outside of calls/(no range is open) 1|kernels/two 195|launch/hipLaunchKernel 8|return from waiting/hipDeviceSynchronize 10' ]
    [ "$(saves two=2x rank0.json)" = 97.5 ]
    # A launch takes up to 100 us.
    printf '%s\n' 'call 1 hipLaunchKernel 0 5 1' 'kernel 7 one 105 120 1' 'call 1 hipDeviceSynchronize 5 125 0' | trace 0
    [[ "$(path rank0.json)" == *'launch/hipLaunchKernel 105|'* ]]
    printf '%s\n' 'call 1 hipLaunchKernel 0 5 1' 'kernel 7 one 106 120 1' 'call 1 hipDeviceSynchronize 5 125 0' | trace 0
    [[ "$(path rank0.json)" == 'before the trace/one 101|'* ]]
    # A call that has not returned has not launched it.
    printf '%s\n' 'call 1 hipMemcpy 0 515 1' 'copy 7 one 500 510 1' | trace 0
    [[ "$(path rank0.json)" == *'launch/hipMemcpy 500|'* ]]
}

# PLACE WALL CLASS TIME... of each rank, in microseconds.
rank_paths() {
    jq -r '.tables[] | select(.key == "critical_path_ranks").rows[] | [.place, .wall_ns / 1000] +
        ([to_entries[] | select(.key != "wall_ns" and .key != "place" and .value > 0) | "\(.key) \(.value / 1000)"] | sort) | join(" ")' path.json
    jq -e 'all(.tables[] | select(.key == "critical_path_ranks").rows[]; .wall_ns == ([to_entries[] | select(.key | endswith("_ns") and . != "wall_ns").value] | add))' path.json >/dev/null
}

@test "each rank on its own waits for the one that comes last" {
    local i
    # Compute until 120, 270 and 180; the collective until 330; then 30, 10 and 20 more.
    for i in 0:120:30 1:270:10 2:180:20; do
        IFS=: read -r rank compute more <<<"$i"
        trace "$rank" <<END
call 1 hipLaunchKernel 0 10 1
kernel 7 compute 20 $compute 1
call 1 hipLaunchKernel 12 16 2
kernel 7 ncclDevKernel_AllReduce $((compute + 5)) 330 2
call 1 hipLaunchKernel 17 20 3
kernel 7 more 330 $((330 + more)) 3
call 1 hipDeviceSynchronize 20 $((335 + more)) 0
END
    done
    [ "$(path rank0.json rank1.json rank2.json)" = 'behind other work/ncclDevKernel_AllReduce 5|communication/ncclDevKernel_AllReduce 55|kernels/compute 250|kernels/more 30|launch/hipLaunchKernel 20|return from waiting/hipDeviceSynchronize 5' ]
    [ "$(rank_paths)" = "$(printf '%s\n' \
        'rank 0 365 communication_ns 55 elsewhere_ns 150 kernel_ns 130 launch_ns 20 queue_ns 5 return_ns 5' \
        'rank 1 345 communication_ns 55 kernel_ns 260 launch_ns 20 queue_ns 5 return_ns 5' \
        'rank 2 355 communication_ns 55 elsewhere_ns 90 kernel_ns 180 launch_ns 20 queue_ns 5 return_ns 5')" ]
    [ "$(jq -c '[.tables[] | select(.key == "critical_path_waits").rows[] | [.place, .waits_for, .count, .time_ns]]' path.json)" = '[["rank 0","rank 1",1,150000],["rank 2","rank 1",1,90000]]' ]
    # Of one rank there is nothing to compare.
    path rank0.json
    jq -e '[.tables[].key] | index("critical_path_ranks") == null' path.json
    rocstats critical-path -q --format html -o a.html rank?.json
    grep -q 'waiting for another rank: 41.1 %' a.html
}

@test "random ranks wait as long as their collectives say" {
    needs python3
    python3 - <<'END' >expected
import json, random
random.seed(7)
ranks, collectives = 5, 40
begin = [1000] * ranks
events = [[] for _ in range(ranks)]
waits = {}
for c in range(collectives):
    start = []
    for r in range(ranks):
        compute = random.randrange(1, 400)
        events[r].append(("compute", begin[r], compute))
        start.append(begin[r] + compute + random.randrange(0, 3))
    last = max(start)
    late = start.index(last)
    for r in range(ranks):
        end = last + 20 + random.randrange(0, 5)
        events[r].append(("ncclDevKernel_AllReduce", start[r], end - start[r]))
        begin[r] = end
        if start[r] < last:
            n, ns = waits.get((r, late), (0, 0))
            waits[r, late] = n + 1, ns + last - start[r]
for r in range(ranks):
    out = []
    for i, (name, ts, dur) in enumerate(events[r]):
        out.append({"ph": "X", "cat": "cuda_runtime", "pid": r, "tid": 1, "name": "hipLaunchKernel", "ts": 5 * i, "dur": 4, "args": {"correlation": i + 1}})
        out.append({"ph": "X", "cat": "kernel", "pid": 0, "tid": 7, "name": name, "ts": ts, "dur": dur, "args": {"device": 0, "stream": 7, "correlation": i + 1}})
    json.dump({"schemaVersion": 1, "distributedInfo": {"rank": r}, "traceEvents": out}, open(f"rank{r}.json", "w"))
rows = [[f"rank {r}", f"rank {late}", n, 1000 * ns] for (r, late), (n, ns) in waits.items()]
print(json.dumps(sorted(rows, key=lambda x: (x[0], -x[3], x[1]))))
END
    path rank?.json >/dev/null
    jq -c '[.tables[] | select(.key == "critical_path_waits").rows[] | [.place, .waits_for, .count, .time_ns]]' path.json >got
    [ "$(jq -c . expected)" = "$(cat got)" ]
    [ "$(jq length got)" -gt 12 ]
    rank_paths >/dev/null
    jq -e '([.tables[] | select(.key == "critical_path_ranks").rows[].elsewhere_ns] | add) == ([.tables[] | select(.key == "critical_path_waits").rows[].time_ns] | add)' path.json
    [ "$(rocstats critical-path --table all -j1 --memory 1m --format csv rank?.json)" = "$(rocstats critical-path --table all -j5 --format csv rank?.json)" ]
}

@test "a late rank before collectives of MPI: the path leads to what made it late, by its markers" {
    # Rank 1 computes for 400 us, rank 0 for 100; both leave MPI_Allreduce at once. Bcast's counts differ.
    local r i t
    for r in 0 1; do
        for i in 0 1 2; do
            t=$((1000 * i))
            echo "call 1 hipLaunchKernel $t $((t + 10)) $((i + 1))"
            echo "kernel 1 solve $((t + 10)) $((t + 110 + 300 * r)) $((i + 1))"
            echo "call 1 hipDeviceSynchronize $((t + 10)) $((t + 120 + 300 * r)) 0"
            echo "marker 1 MPI_Allreduce $((t + 120 + 300 * r)) $((t + 450)) 0"
        done
        echo "marker 1 MPI_Bcast 2460 2470 0"
        [ "$r" = 0 ] || echo "marker 1 MPI_Bcast 2480 2490 0"
    done >both
    sed -n '1,/2460/p' both | trace 0
    sed '1,/2460/d' both | trace 1
    run path --table critical_path,critical_path_names rank0.json
    [[ "$output" == *"kernels/solve 300|"* ]] || fail "alone"
    run path --by rank --table critical_path,critical_path_names rank[01].json
    [[ "$output" == *"kernels/solve 1200|"* && "$output" == *"host outside of calls/MPI_Allreduce 90|"* ]] || fail "both"
    rocstats critical-path -q --format csv --table critical_path_waits rank[01].json >waits
    grep -q '^"rank 0","rank 1",3,900000,' waits
    [ "$(wc -l <waits)" -eq 2 ]
}

@test "in a collective of MPI, what the last rank does inside it is on the path" {
    printf '%s\n' 'marker 1 MPI_Allreduce 100 400 0' 'call 1 hipMemcpy 310 390 1' | trace 0
    printf '%s\n' 'marker 1 MPI_Allreduce 300 410 0' 'call 1 hipMemcpy 310 390 1' | trace 1
    run path --by rank --table critical_path,critical_path_names,critical_path_ranks rank[01].json
    [ "$output" = "host calls/hipMemcpy 80|host outside of calls/MPI_Allreduce 30|not explained/(before the thread's first range) 200" ] || fail path
    [ "$(rank_paths | cut -d' ' -f1-6)" = "$(printf '%s\n' 'rank 0 300 elsewhere_ns 200 outside_ns' 'rank 1 310 host_ns 80 outside_ns')" ]
}

@test "job16b: nearly all of the path is in the rank that computes longest, through MPI's markers" {
    needs "$SHARED/cases3/ranks/job16b"
    rocstats critical-path -q --by rank --format json "$SHARED/cases3/ranks/job16b" >path.json
    jq -e '[.tables[] | select(.key == "critical_path").rows[]] |
        (map(select(.rank == 11).time_ns) | add) > 0.99 * (map(.time_ns) | add)' path.json
}

@test "two ranks, one of them late: the path leads to what made it late" {
    trace 0 <<'END'
call 1 hipLaunchKernel 0 10 1
kernel 7 compute 20 120 1
call 1 hipLaunchKernel 12 16 2
kernel 7 ncclDevKernel_AllReduce 122 330 2
call 1 hipDeviceSynchronize 20 335 0
END
    trace 1 <<'END'
call 1 hipLaunchKernel 0 10 1
kernel 7 compute 20 270 1
call 1 hipLaunchKernel 12 16 2
kernel 7 ncclDevKernel_AllReduce 275 325 2
call 1 hipDeviceSynchronize 20 328 0
END
    all='behind other work/ncclDevKernel_AllReduce 5|communication/ncclDevKernel_AllReduce 55|kernels/compute 250|launch/hipLaunchKernel 20|return from waiting/hipDeviceSynchronize 5'
    [ "$(path rank0.json rank1.json)" = "$all" ]
    path --by-rank rank0.json rank1.json
    jq -e '[.tables[] | select(.key == "critical_path_names").rows[] | select(.class == "kernels") | [.rank, .time_ns]] == [[1, 250000]]' path.json
    # Alone, rank 0 waits in its kernel for nobody knows whom.
    [[ "$(path rank0.json)" == *"communication/ncclDevKernel_AllReduce 208"* ]]
    # Both ranks compute in half of the time: the late one comes 125 us earlier.
    [ "$(saves compute=2x rank0.json rank1.json)" = 125 ]
    [ "$(rocstats critical-path --table all -j1 --format csv rank0.json rank1.json)" = "$(rocstats critical-path --table all -j5 --format csv rank1.json rank0.json)" ]
}

@test "PyTorch: the backward pass is on a thread of its own, between what its caller does" {
    for i in 0 1; do
        echo "marker 1 step$i $((i * 200)) $((i * 200 + 190))"
        echo "call 1 hipLaunchKernel $((i * 200 + 10)) $((i * 200 + 40)) $((2 * i + 1))"
        echo "kernel 7 forward $((i * 200 + 30)) $((i * 200 + 50)) $((2 * i + 1))"
        echo "call 2 autograd::engine::evaluate_function:first $((i * 200 + 50)) $((i * 200 + 80)) 0"
        echo "call 2 autograd::engine::evaluate_function:second $((i * 200 + 85)) $((i * 200 + 140)) 0"
        echo "call 2 hipLaunchKernel $((i * 200 + 100)) $((i * 200 + 130)) $((2 * i + 2))"
        echo "kernel 7 backward $((i * 200 + 125)) $((i * 200 + 128)) $((2 * i + 2))"
        echo "call 1 optimizer $((i * 200 + 150)) $((i * 200 + 180)) 0"
    done | trace 0
    [ "$(path rank0.json)" = 'host calls/autograd::engine::evaluate_function:first 60|host calls/autograd::engine::evaluate_function:second 50|host calls/hipLaunchKernel 120|host calls/optimizer 60|host outside of calls/(no range is open) 20|host outside of calls/step0 40|host outside of calls/step1 40' ]
    [ "$(saves '*:second=2x' rank0.json)" = 25 ]
    [ "$(saves 'optimizer=2x' rank0.json)" = 30 ]
}

@test "a thread that asks now and then has no part in the end; the time without a call is not explained" {
    trace 0 <<'END'
call 1 hipLaunchKernel 50 60 1
kernel 7 compute 70 170 1
kernel 7 unknown 200 210 99
call 2 hipEventQuery 0 1 0
call 2 hipEventQuery 500 501 0
END
    [ "$(path rank0.json)" = 'kernels/compute 100|kernels/unknown 10|launch/hipLaunchKernel 20|not explained/(before the thread'"'"'s first range) 50|not explained/(before work without a call) 30' ]
}

@test "HTA's example: the copies, launches and waits that it found, to the nanosecond" {
    file=$ROCLINE_DATA/kineto/hta_critical_path_simple_add.json.gz
    [ -n "${ROCLINE_DATA-}" ] && [ -e "$file" ] || skip "needs ROCLINE_DATA"
    rocstats critical-path -q --format json "$file" >path.json
    # From HTA's overlaid trace of this input: its 16 copies, from the begins of their calls to theirs,
    # from their ends to those of cudaStreamSynchronize, and the union of operators and calls outside
    # these. The last launches, whose kernels end 235 us before the host calls cudaDeviceSynchronize,
    # are on its path and not on ours.
    jq -e '[.tables[] | select(.key == "critical_path").rows[] | {key: .class, value: [.count, .time_ns]}] | from_entries |
        .copies == [16, 39080000] and .launch[1] == 1555000 and .["return from waiting"] == [16, 105000] and
        .["host calls"][1] == 41394449000 and .kernels == [0, 0]' path.json
}

@test "--what-if: what it takes" {
    trace 0 <<<'call 1 hipMalloc 0 10 0'
    for bad in hipMalloc hipMalloc=2 =2x hipMalloc=x hipMalloc=0x hipMalloc=-1x hipMalloc=2xx hipMalloc=nanx hipMalloc=1e10x; do
        try 2 rocstats critical-path --what-if "$bad" rank0.json
        says "--what-if: \"$bad\" is not of the form NAME=2x, with a factor from 0.01 to 1e9"
    done
    try 2 rocstats kernels --what-if hipMalloc=2x rank0.json
    says '--what-if is only for the report critical-path'
    try 0 rocstats --what-if hipMalloc=2x --what-if none=3x rank0.json
    [[ $output == *"1 of the names are not in the trace"* ]]
    mapfile -t many < <(seq -f '--what-if=n%g=2x' 33)
    try 2 rocstats critical-path "${many[@]}" rank0.json
    says '--what-if: more than 32 are given'
}

@test "times over the path count from the begin of the trace, as elsewhere" {
    local train=$TOP/tests/fixtures/chrome/train
    rocstats critical-path -q --format html -o a.html "${train}0.json" "${train}1.json"
    grep -q '<table id="critical_path_longest">' a.html
    run ! grep -qE '>[0-9]{6,}[0-9.]* s<' a.html
}
