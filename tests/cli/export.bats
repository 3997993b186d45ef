#!/usr/bin/env bats
# rocline export: Parquet, Arrow and JSON lines. What they hold is compared with the CSV files, and
# with what readers of others make of them where these are installed: in the folder
# ROCLINE_NODE_MODULES (npm install hyparquet apache-arrow @duckdb/node-api).
load helper

all_of() { # format, fixture, option...
    local format=$1 db=$2
    shift 2
    rocline export -q -f "$format" -d "$format" -o t "$@" "$db" || [ $? -eq 1 ]
}

@test "export: the same bytes for every number of workers" {
    for f in parquet arrow arrows jsonl; do
        for db in everything nasty-3.0.5 merged sys sampled; do
            for j in 1 2 5; do
                rocline export -q -j "$j" -f "$f" -d "j$j" -o "$db" "$FIXTURES/$db.db" || [ $? -eq 1 ]
            done
        done
        diff -r j1 j2
        diff -r j1 j5
    done
}

@test "export: in little memory the same, by way of a temporary file" {
    rocpd-gen -o big.db --rows 200000 2>/dev/null || "$BUILD/tests/rocpd-gen" -o big.db --rows 200000
    for f in parquet arrow; do
        rocline export -q -f "$f" -d wide -o t big.db
        rocline export -q -f "$f" -d narrow -o t --memory 1M big.db
        diff -r wide narrow
    done
}

@test "export: large groups, filled by one worker or several, also around a name that is very long" {
    "$BUILD/tests/rocpd-gen" -o big.db --rows 400000
    cp big.db long.db
    table=$(sqlite3 long.db "SELECT name FROM sqlite_master WHERE name LIKE 'rocpd_string_%'")
    sqlite3 long.db "UPDATE $table SET string = printf('%.*c', 5000, 'x') WHERE id = 3"
    for db in big long; do
        for f in parquet arrow; do
            for j in 1 2 5; do
                rocline export -q -j "$j" -f "$f" -d "j$j" -o "$db" $db.db
            done
            rocline export -q -j3 -f "$f" -d narrow -o $db --memory 1M $db.db
        done
    done
    for folder in j2 j5 narrow; do
        diff -r j1 $folder
    done
}

@test "export: JSON lines have the values of the CSV files" {
    needs jq
    for db in everything nasty-3.0.5 nasty-sys merged; do
        all_of jsonl "$FIXTURES/$db.db"
        rocpd2csv -q -d csv -o t --duration --bytes "$FIXTURES/$db.db" || [ $? -eq 1 ]
        # Rows in the same order, times and names; AMD's files number agents.
        jq -r --slurpfile agents jsonl/t_agent.jsonl '
            ($agents | map({key: (.guid + .label), value: "Agent \(.logical_index // .id)"}) | from_entries) as $names |
            [.guid, $names[.guid + (.agent // "")] // "", .name, .start, .end, .duration, .lds_size, .grid_x] | @csv' \
            jsonl/t_kernel.jsonl >ours
        awk -F, 'NR > 1' csv/t_kernel_trace.csv | wc -l >rows
        [ "$(wc -l <ours)" -eq "$(cat rows)" ] || [ "$db" != everything ]
        sqlite3 :memory: '.mode csv' '.import csv/t_kernel_trace.csv k' \
            'SELECT Guid, Agent_Id, Kernel_Name, Start_Timestamp, End_Timestamp, Duration,
                LDS_Block_Size, Grid_Size_X FROM k' |
            sed 's/\r$//' | jq -rR . >theirs.csv
        sqlite3 :memory: '.mode csv' 'CREATE TABLE o (a, b, c, d, e, f, g, h)' '.import ours o' \
            'SELECT * FROM o' | sed 's/\r$//' >ours.csv
        diff ours.csv theirs.csv
        rm -r csv jsonl
    done
}

@test "export: standard output takes one kind, JSON lines any" {
    try 0 rocline export -q --kinds kernel -o - "$FIXTURES/everything.db"
    for f in parquet arrow arrows jsonl; do
        rocline export -q -f "$f" --kinds kernel -o - "$FIXTURES/everything.db" >piped
        all_of "$f" "$FIXTURES/everything.db"
        [ "$f" = jsonl ] || cmp piped "$f/t_kernel.$f"
    done
    try 2 rocline export -o - "$FIXTURES/everything.db"
    says "standard output takes one kind: -o - --kinds kernel"
    rocline export -q -f jsonl -o - --kinds kernel,agent "$FIXTURES/everything.db" >both
    [ "$(grep -c '^{"kind":"agent",' both)" -gt 0 ]
    [ "$(grep -c '^{"kind":"kernel",' both)" -eq "$(wc -l <jsonl/t_kernel.jsonl)" ]
    # Of a kind without rows: a table without rows, and no line.
    rocline export -q -o - --kinds hip_event "$FIXTURES/rank0.db" | head -c 4 | grep PAR1
    [ -z "$(rocline export -q -f jsonl -o - --kinds hip_event "$FIXTURES/rank0.db")" ]
}

@test "export: words, codecs and columns" {
    try 2 rocline export --kinds kernels "$FIXTURES/rank0.db"
    says 'there is no kind "kernels"; did you mean kernel?'
    try 2 rocline export --kinds event "$FIXTURES/rank0.db"
    try 2 rocline export -f arrow --codec gzip "$FIXTURES/rank0.db"
    says "Arrow is compressed with zstd, or not at all"
    try 2 rocline export -f jsonl --codec zstd "$FIXTURES/rank0.db"
    says "JSON lines are compressed with gzip, or not at all"
    [ -z "$(ls)" ] || fail "a usage error must leave nothing"
    try 0 rocline export --help=columns
    [[ "$output" == *"  lds_size "*" INT64 "* ]] || fail "a column was expected"
    [[ "$output" != *agent_log_index* ]] || fail "no details were asked for"
    try 0 rocline export --help=all-columns
    [[ "$output" == *agent_log_index* ]] || fail "details were asked for"
    rocline export -q -f jsonl -z 6 -d out -o t.jsonl --kinds kernel "$FIXTURES/rank0.db"
    [ "$(gzip -dc out/t_kernel.jsonl.gz | wc -l)" -gt 0 ]
}

@test "export: filters, windows and names are those of every tool" {
    rocline export -q -f jsonl -o - --kinds kernel,region "$FIXTURES/everything.db" >all
    rocline export -q -f jsonl -o - --kinds kernel,region --include kernel "$FIXTURES/everything.db" >some
    grep '^{"kind":"kernel"' all | cmp - some
    rocline export -q -f jsonl -o - --kinds kernel --start 25% --end 75% "$FIXTURES/everything.db" >window
    [ "$(wc -l <window)" -lt "$(wc -l <some)" ]
    [ "$(wc -l <window)" -gt 0 ]
}

@test "export: broken inputs, files that cannot be written, nothing left behind" {
    for db in corrupt truncated empty no-tables; do
        run rocline export -q -d out "$FIXTURES/$db.db"
        [ "$status" -eq 3 ] || [ "$status" -eq 1 ] || fail "$db: exit code $status"
        [ "$status" -eq 1 ] || [ -z "$(ls -A out 2>/dev/null)" ] || fail "$db left something"
        rm -rf out
    done
    try 4 rocline export -q --kinds kernel -o /dev/full "$FIXTURES/rank0.db"
    mkdir -p out/t_kernel.parquet
    try 4 rocline export -q -d out -o t "$FIXTURES/rank0.db"
    [ "$(ls -A out)" = t_kernel.parquet ] || fail "something was left"
}

# ---- readers of others ----

read_with() { # reader file...
    node "$TOP/tests/export/read.mjs" "$@"
}

readers() {
    needs node
    [ -d "${ROCLINE_NODE_MODULES:-}/hyparquet" ] || skip "no ROCLINE_NODE_MODULES with hyparquet, apache-arrow, @duckdb/node-api"
}

@test "export: hyparquet, apache-arrow and DuckDB read what JSON lines say" {
    readers
    for db in everything nasty-3.0.5 nasty-sys merged spm sampled; do
        all_of jsonl "$FIXTURES/$db.db" --all-columns
        read_with jsonl jsonl/*.jsonl >expected
        all_of parquet "$FIXTURES/$db.db" --all-columns
        read_with duckdb parquet/*.parquet | cmp - expected
        all_of parquet "$FIXTURES/$db.db" --all-columns --codec gzip
        read_with hyparquet parquet/*.parquet | cmp - expected
        for f in arrow arrows; do
            all_of $f "$FIXTURES/$db.db" --all-columns
            read_with arrow $f/*.$f | cmp - expected
        done
        rm -r jsonl parquet arrow arrows
    done
}
