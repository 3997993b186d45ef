#!/usr/bin/env bats
# rocline convert: several formats in one reading, all of them or none.

load helper

# Every format alone, by its tool, in the folder `tools`.
by_tools() {
    rocpd2csv -q -o run -d tools "$@" || [ $? -eq 1 ]
    rocpd2pftrace -q -o run -d tools "$@" || [ $? -eq 1 ]
    rocpd2otf2 -q -o run -d tools "$@" || [ $? -eq 1 ]
    rtg2json -q --layout trace -o tools/run_results.json "$@" || [ $? -eq 1 ]
}

@test "several formats have the bytes that the tools write, for every -j" {
    for input in schema-3.0.0.db nasty-3.0.5.db schema-4.1.0.db "rank0.db rank1.db" rocprofv3-7.13.json; do
        # shellcheck disable=SC2086
        inputs=$(cd "$FIXTURES" && ls -d "$PWD"/* | grep -E "/(${input// /|})$")
        # shellcheck disable=SC2086
        by_tools $inputs
        for jobs in 1 2 5; do
            # shellcheck disable=SC2086
            rocline convert -q -j$jobs -f csv pftrace otf2 json -o run -d all $inputs || [ $? -eq 1 ]
            diff -r tools all
            rm -r all
        done
        rm -r tools
    done
}

@test "with filters, arguments, and little memory" {
    by_tools --start 20% --end 60% --clip --kernel-names short "$FIXTURES/everything.db"
    rocline convert -q -f csv,pftrace,otf2,json -o run -d all --memory 1m \
        --start 20% --end 60% --clip --kernel-names short "$FIXTURES/everything.db"
    diff -r tools all
}

@test "the codes and messages of the tools" {
    try 1 rocline convert -f csv pftrace -d out "$FIXTURES/nasty-3.0.0.db"
    says "records left out"
    try 3 rocline convert -f csv pftrace -d out missing.db
    says "rocline convert: missing.db"
    try 3 rocline convert -f csv pftrace -d other "$FIXTURES/corrupt.db"
    [ ! -e other ] || [ -z "$(ls -A other)" ]
}

@test "one output cannot be written: nothing of any stays" {
    for order in "csv pftrace otf2 json" "json otf2 pftrace csv"; do
        for blocked in run_results.otf2 run_results.pftrace run_results.json run_kernel_trace.csv; do
            mkdir -p "out/$blocked"
            for other in run_results.pftrace run_hip_api_trace.csv; do
                [ -d out/$other ] || echo old >out/$other
            done
            find out -type f | sort >before
            # shellcheck disable=SC2086
            try 4 rocline convert -f $order -o run -d out "$FIXTURES/schema-3.0.0.db"
            says "$blocked"
            find out -type f | sort | diff before -
            [ -d out/run_results.pftrace ] || [ "$(cat out/run_results.pftrace)" = old ]
            [ -z "$(find . -name '.rocline*')" ]
            rm -r out
        done
    done
}

@test "formats: by -f in any form, or by the name" {
    db=$FIXTURES/schema-3.0.0.db
    try 0 rocline convert -f csv -f json -d a "$db"
    [ -e a/out_results.json ]
    try 0 rocline convert --output-format=csv,json -d b "$db"
    diff -r a b
    try 0 rocline convert -i "$db" -f csv json -d c
    diff -r a c
    try 0 rocline convert -o x.pftrace "$db"
    try 0 rocpd2pftrace -o y.pftrace "$db"
    cmp x.pftrace y.pftrace
    rocline convert -f json -o - "$db" | jq -e .traceEvents >/dev/null
    try 2 rocline convert "$db"
    says "no format is given"
    try 2 rocline convert -f cvs "$db"
    says "did you mean csv?"
    try 2 rocline convert -f csv otf2 -o - "$db"
    says "standard output takes one format"
    try 2 rocline convert -f csv json -o x.json "$db"
    says "each has its own ending: -o x"
}
