#!/usr/bin/env bats
# rocstats ranks: which rank is late, and why, in traces of which the answer is known (ranks.py).

load helper

requires() {
    needs python3 jq
}

# The line above the table, of a new trace.
late() { # KEY=VALUE...
    rm -f ./*.json
    python3 "$BATS_TEST_DIRNAME/ranks.py" . "$@"
    rocstats ranks -q --table late_ranks --format json ./*.json >../late
    jq -r '.tables[0].note' ../late
}

row() { # KEY...
    local keys
    keys=$(printf ', .%s' "$@")
    jq -c ".tables[0].rows[] | [${keys:2}]" ../late
}

@test "a late rank is found, with its cause, by kernels, calls, MPI and steps" {
    local meeting cause names=(solve "Memcpy HtoD" hipLaunchKernel load) words by id
    for meeting in kernels mpi mpi-calls calls steps; do
        words=collectives by=1900000
        case $meeting in mpi*) words=MPI ;; calls) words="RCCL calls" ;; steps) words=steps by=2000000 ;; esac
        for i in 0 1 2 3; do
            cause=$(cut -d' ' -f$((i + 1)) <<<"kernels copies launches host")
            [[ "$(late meeting=$meeting cause="$cause")" == "rank 2 is late: last in 20 of 20 "*"the others wait 6 ms"*"; its $cause take"* ]] || fail "$meeting $cause: $(late meeting=$meeting cause="$cause")"
            [ "$meeting $cause" != "calls host" ] || by=2000000
            [ "$(row meeting rank last meetings late_ns gain_ns lost_ns cause cause_ns name)" = "[\"$words\",2,20,20,2000000,2000000,6000000,\"$cause\",$by,\"${names[i]}\"]" ] || fail "$(row name cause_ns)"
        done
        [[ "$(late meeting=$meeting cause=none)" == "no rank is late: none waits in 20 "* ]]
        [ -z "$(row rank)" ]
    done
    late cause=kernels >/dev/null
    [ "$(row lost_percent)" = "[83.33333333333333]" ]
    [ "$(row 'end_ns - .begin_ns')" = "[120000]" ]
    late meeting=mpi >/dev/null
    id=$(rocstats ranks -q --ids --table late_ranks --format json ./*.json | jq -r '.tables[0].rows[0].event')
    rocline show "$id" ./*.json >out
    grep -q '^  Name *MPI_Allreduce$' out
    grep -q '^  Rank *2$' out
}

@test "who leaves early has waited up to then only" {
    [[ "$(late meeting=bcast)" == "rank 2 is late: last in 20 of 20 collectives of MPI; the others wait 4.1 ms"* ]]
    [ "$(row gain_ns)" = "[2000000]" ]
}

@test "without anything of the host, it is not blamed" {
    late cause=host >/dev/null
    rocstats ranks -q --include kernel --table late_ranks --format json ./*.json >../late
    [ "$(row last lost_ns cause cause_ns name)" = "[20,6000000,null,null,null]" ]
    [[ "$(jq -r '.tables[0].note' ../late)" != *longer* ]]
}

@test "two late ranks: to gain, both must be faster" {
    late late=1,2 cause=host >/dev/null
    [ "$(row rank last gain_ns lost_ns cause)" = "$(printf '[%s,20,0,4000000,"host"]\n' 1 2)" ]
}

@test "a rank that is last by chance, seldom, or by little, is not late" {
    local seed
    for seed in 1 2 3 4 5; do
        [[ "$(late cause=none jitter=40 seed=$seed)" == "no rank is late: rank "*" is last in "*" % of their communication" ]]
    done
    [[ "$(late by=1)" == "no rank is late: rank 2 is last in 20 of 20 "* ]]
    [[ "$(late ranks=2 late=1 steps=9)" == "rank 1 may be late: last in 9 of 9 collectives, which may be chance; "* ]]
    [ -z "$(row rank)" ]
    [[ "$(late ranks=2 late=1 steps=10)" == "rank 1 is late: "* ]]
    late cause=none >/dev/null
    [ "$(rocstats ranks -q --table collective_waits ./*.json)" = "Collectives that were waited for longest: nothing" ]
    [ "$(rocstats ranks -q --format csv --table collective_ranks ./*.json | cut -d, -f5-8 | tail -n +2 | sort -u)" = "20,0,0,0" ]
    [ "$(late steps=4)" = "too few collectives to tell: 4" ]
    [ "$(late ranks=1 late=0)" = "fewer than two ranks meet" ]
    rm ./*.json
    python3 "$BATS_TEST_DIRNAME/ranks.py" . ranks=1 late=0
    [ "$(rocstats ranks -q --table late_ranks rank0.json)" = "Late ranks: fewer than two ranks meet" ]
}

@test "a meeting that one leaves before another comes is none: traces of ranks that begin at different times" {
    [[ "$(late meeting=mpi cut=1 cause=none)" == "fewer than two ranks meet" ]]
    [[ "$(late meeting=kernels cut=2 cause=host)" == "fewer than two ranks meet" ]]
}

@test "on clocks that are apart, durations tell, but not of those who leave early, or do not wait" {
    local meeting
    for meeting in kernels mpi; do
        [[ "$(late apart=5 meeting=$meeting)" == "rank 2 is late: last in 20 of 20 "*"; its kernels take 1.9 ms longer; by durations, as the clocks of nodes may be apart" ]]
        [ "$(row gain_ns lost_ns)" = "[2000000,6000000]" ]
        [ "$(row 'end_ns - .begin_ns')" = "[20000]" ]
    done
    for meeting in bcast calls; do
        [ "$(late apart=5 meeting=$meeting)" = "the clocks of nodes may be apart, and durations do not tell" ]
    done
    [[ "$(late apart=5 meeting=steps)" == "rank 2 is late: last in 20 of 20 steps; "*" longer" ]]
    late apart=5 >/dev/null
    rocstats ranks -q --align collectives --table late_ranks ./*.json >out
    grep -q 'Late ranks: rank 2 is late: .* its kernels take 1.9 ms longer$' out
}

@test "a wait is not work: communication, MPI and small differences have no straggler" {
    late cause=kernels meeting=mpi >/dev/null
    rocstats ranks -q --table ranks,rank_imbalance --format json ./*.json >out
    [ "$(jq -c '[.tables[1].rows[] | [.name, .straggler]]' out)" = '[["solve","rank 2"],["load",null],["MPI_Allreduce",null]]' ]
    late cause=kernels by=4 >/dev/null
    rocstats ranks -q --table ranks,rank_imbalance --format json ./*.json >out
    [ "$(jq -c '[.tables[1].rows[] | [.name, .straggler]]' out)" = '[["solve",null],["ncclDevKernel_AllReduce_Sum_f32(x)",null],["load",null]]' ]
    [ "$(jq -r '.tables[0].note' out)" = "kernel time without communication max / mean = 1.030, the most in rank 2" ]
}

@test "the same, whatever -j and --memory are" {
    local options
    late meeting=kernels jitter=40 >/dev/null
    rocstats ranks -q --ids --format json ./*.json >../expected
    for options in "-j1" "-j5 --memory 1m" "-j3"; do
        # shellcheck disable=SC2086
        rocstats ranks -q --ids --format json $options ./*.json | cmp - ../expected
    done
}

@test "real traces: two ranks of PyTorch; 16 ranks with MPI, of which one computes longer" {
    needs "$SHARED/kineto/two_ranks" "$SHARED/cases3"
    rocstats ranks -q --table late_ranks "$SHARED/kineto/two_ranks" >out
    grep -q '^Late ranks: rank 1 is late: last in 96 of 96 collectives; the others wait 285 ms, 96.1 % .*; its host takes' out
    rocstats ranks -q --table late_ranks "$SHARED/cases3/ranks/job16b" >out
    grep -q '^Late ranks: rank 11 is late: last in 12 of 12 collectives of MPI; .*; its kernels take' out
    rocstats ranks -q --table late_ranks "$SHARED"/cases3/identity/two_nodes_four_ranks >out || [ $? -eq 1 ]
    grep -q '^Late ranks: no rank is late: none waits' out
}
