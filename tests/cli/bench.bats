#!/usr/bin/env bats
# What make bench says of times that were measured before, and the table of README.md. The times here are
# made up.

load helper

requires() {
    needs jq
}

# measured CPU-OF-YARDSTICK CPU-OF-CSV...: and as much wall time
measured() {
    local cpu
    mkdir -p b/bench
    printf 'run\tyardstick\t%s\t%s\t5000\n' "$1" "$1" >b/bench/run-1000000.tsv
    shift
    for cpu; do printf 'run\tcsv-j1\t%s\t%s\t9000\n' "$cpu" "$cpu"; done >>b/bench/run-1000000.tsv
}

compare() {
    STORE=last.json try 0 "$TOP/tests/bench/compare.sh" b
}

@test "bench: a change of more than 3 % and its noise is said, relative to the yardstick" {
    measured 1.00 0.500 0.505 0.510
    compare
    [[ $output == *"0 changed by more than 3 %"* ]] || fail "nothing was stored yet"
    # The machine is half as fast, and CSV takes 1.3 / 2 of what it took.
    measured 2.00 0.650 0.651 0.652
    compare
    [[ $output == *"run: the yardstick took +100 %"* ]] || fail
    [[ $output == *"run: csv-j1 "*" cpu "*"-35 %"*"1 %"* ]] || fail
}

@test "bench: what is within the noise of its runs is counted, not listed" {
    measured 1.00 0.500 0.600 0.700
    compare
    measured 1.00 0.550 0.551 0.552
    compare
    [[ $output != *"run: csv-j1"* ]] || fail
    [[ $output == *"0 changed by more than 3 % and their noise, 2 by more than 3 % within their noise"* ]] || fail
}

@test "bench: KEEP=1 leaves the run before, and other numbers of rows have runs of their own" {
    measured 1.00 0.500 0.500 0.500
    compare
    measured 1.00 0.700 0.700 0.700
    KEEP=1 compare
    compare
    [[ $output == *"+40 %"* ]] || fail "compared with what KEEP=1 measured"
    mv b/bench/run-1000000.tsv b/bench/run-77.tsv
    STORE=last.json try 0 "$TOP/tests/bench/compare.sh" b 77
    [[ $output == *"no run of this machine is stored"* ]] || fail
}

@test "bench-table prints the smallest wall times of the stored run" {
    mkdir -p b/bench
    {
        printf 'run\tcsv-floor\t0.40\t0.39\t5000\nrun\tcsv-floor\t0.39\t0.39\t5000\n'
        printf 'run\tcsv-j1\t0.294\t0.28\t9000\nrun\tcsv-j1\t12\t0.28\t9000\nrun\tcsv-j2\t0.17\t0.3\t9000\n'
        printf 'many\tpftrace, 256 inputs\t0.67\t0.6\t9\nmany\tpftrace-j2, 256 inputs\t1.04\t0.6\t9\n'
    } >b/bench/run-1000000.tsv
    compare
    STORE=last.json try 0 "$TOP/tests/bench/table.sh"
    [[ $output == *'| 10^6 rows to CSV | 0.39 s | 0.29 s | 0.17 s |'* ]] || fail
    [[ $output == *'| 10^6 rows in 256 databases to pftrace |  | 0.67 s | 1.0 s |'* ]] || fail
}
