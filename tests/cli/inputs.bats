#!/usr/bin/env bats
# Compressed inputs, pipes and standard input: the same for every format that is read.
# shellcheck disable=SC2154 # bats sets status, output, stderr

load helper

TEXTS=$TOP/tests/fixtures/rtg

requires() {
    needs gzip "$FIXTURES/everything.db"
}

needs_zstd() {
    needs zstd
    [[ $(rocpd2csv --version) == *zstd* ]] || skip "built without libzstd"
}

# One input of each format, in the current folder.
make_inputs() {
    cp "$FIXTURES/everything.db" t.db
    cp "$TEXTS/calls.txt" t.txt
    cp "$TOP/tests/fixtures/rocprof/v2.txt" v2.txt
    rocrec -q -o t.rocl -- "$BUILD/tests/traced" events 3000 >/dev/null
    cp "$FIXTURES/rocprofv3-7.0.json" t.json
    cp "$TOP/tests/fixtures/rocprof-csv/run_kernel_trace.csv" t.csv
    rocpd2pftrace -q --args -o t.pftrace t.db
    inputs=(t.db t.txt v2.txt t.rocl t.json t.csv t.pftrace)
}

# What the tools make of an input. A text is known by the name of its file, which stands for a guid.
results() { # input, folder for the output
    mkdir -p "$2"
    csv "$2" "$1"
    rocpd2pftrace -q --args -z 0 -j 3 -o "$2/t.pftrace" "$1" || [ $? -eq 1 ]
    rocstats all -q --format csv "$1" >"$2/stats" || [ $? -eq 1 ]
}

csv() { # folder for the output, input...
    rocpd2csv -q -d "$@" -o o || [ $? -eq 1 ]
    sed -i 's/^"\{0,1\}[^",]*"\{0,1\},//' "$1"/*.csv
}

same_results() { # input, input...
    local first=$1 other
    shift
    rm -rf expected
    results "$first" expected
    [ "$(cat expected/* | wc -c)" -gt 1000 ]
    for other in "$@"; do
        rm -rf got
        results "$other" got
        diff -r expected got || fail "$other is not read as $first"
    done
}

@test "gzip: every format reads as it does uncompressed" {
    make_inputs
    for f in "${inputs[@]}"; do
        mkdir one two
        gzip -c "$f" >"one/$f" # names do not matter
        { head -c 2000 "$f" | gzip && tail -c +2001 "$f" | gzip && head -c 700 /dev/zero; } >"two/$f"
        same_results "$f" "one/$f" "two/$f"
        rm -r one two
    done
}

@test "zstd: every format reads as it does uncompressed" {
    needs_zstd
    make_inputs
    for f in "${inputs[@]}"; do
        mkdir one two
        zstd -q -o "one/$f" "$f"
        { printf '\x50\x2a\x4d\x18\x04\0\0\0skip' && head -c 2000 "$f" | zstd -q && tail -c +2001 "$f" | zstd -q; } >"two/$f"
        same_results "$f" "one/$f" "two/$f"
        rm -r one two
    done
}

@test "pipes and standard input: every format, compressed or not" {
    make_inputs
    for f in "${inputs[@]}"; do
        gzip -k "$f"
        csv expected "$f"
        for from in "$f" "$f.gz"; do
            rm -rf a b c d
            csv a - <"$from"
            cat "$from" | csv b -
            csv c <(cat "$from")
            mkfifo pipe
            cat "$from" >pipe &
            csv d pipe
            rm pipe
            for got in a b c d; do diff -r expected $got; done
        done
        rm -r expected
    done
}

@test "no row is lost in a compressed database, by either reader, merged or rebuilt" {
    gzip -c "$FIXTURES/merged.db" >m.db.gz
    for reader in pages sqlite; do
        rocpd2csv -q --reader $reader -d a -o o "$FIXTURES/merged.db"
        rocpd2csv -q --reader $reader -d b -o o m.db.gz
        diff -r a b
        rm -r a b
    done
    for way in "" --flat --rebuild; do
        rocmerge -q $way -o a.db "$FIXTURES/merged.db"
        rocmerge -q $way -o b.db m.db.gz
        cmp a.db b.db
        cat m.db.gz | rocmerge -q $way -o c.db -
        cmp a.db c.db
        rm ./?.db
    done
}

@test "a compressed file in a folder is skipped where the uncompressed one is there" {
    make_inputs
    mkdir both
    cp t.db both/a.db
    gzip -c t.db >both/a.db.gz
    run --separate-stderr rocpd2csv -d one -o o both
    [ "$status" -le 1 ]
    [[ $stderr == *"both/a.db.gz: skipped, because the folder has the uncompressed file, too"* ]]
    rocpd2csv -q -d two -o o t.db || [ $? -eq 1 ]
    diff -r one two
    # Named one by one they are what they are: the same process twice.
    run rocpd2csv -q -d three -o o both/a.db both/a.db.gz
    [ "$status" -eq 3 ]
}

@test "many compressed databases, in a folder, in one trace" {
    mkdir d
    for i in 0 1 2 3; do gzip -c "$FIXTURES/node-rank$i.db" >d/$i.db.gz; done
    rocpd2csv -q -j 3 -d a -o o "$FIXTURES"/node-rank?.db
    rocpd2csv -q -j 3 -d b -o o d
    rocpd2csv -q -j 1 -d c -o o d/*
    diff -r a b
    diff -r a c
}

@test "a compressed file in a folder is read where the name without the ending is nothing to read" {
    make_inputs
    mkdir -p both/t.db
    gzip -c t.db >both/t.db.gz
    head -c 4096 /dev/zero >both/t.rocl # of a process that was killed before its first chunk
    gzip -c t.rocl >both/t.rocl.gz
    run --separate-stderr rocpd2csv -d one -o o both
    [ "$status" -le 1 ]
    [[ $stderr != *skipped* ]]
    rocpd2csv -q -d two -o o t.db t.rocl || [ $? -eq 1 ]
    diff -r one two
}

@test "compressed data that is cut off or damaged: code 3, the same words for every format" {
    make_inputs
    for f in "${inputs[@]}"; do
        gzip -k "$f"
        size=$(wc -c <"$f.gz")
        for part in 5 50 99; do
            head -c $((size * part / 100)) "$f.gz" >cut.gz
            try 3 rocpd2csv -d out cut.gz
            one_line rocpd2csv
            says "cut.gz: gzip: the file is truncated"
            try 3 rocpd2csv -d out - <cut.gz
            says "-: gzip: the file is truncated"
            [ ! -e out ]
        done
        { cat "$f.gz" && echo more; } >tail.gz
        try 3 rocpd2csv -d out tail.gz
        says "tail.gz: gzip: something else follows the compressed data"
        { head -c $((size / 2)) "$f.gz" && head -c 64 /dev/zero && tail -c +$((size / 2 + 65)) "$f.gz"; } >bad.gz
        try 3 rocpd2csv -d out bad.gz
        says "bad.gz: gzip: "
        [ ! -e out ]
    done
}

@test "the same of zstd" {
    needs_zstd
    make_inputs
    for f in "${inputs[@]}"; do
        zstd -q "$f"
        size=$(wc -c <"$f.zst")
        for part in 5 50 99; do
            head -c $((size * part / 100)) "$f.zst" >cut.zst
            try 3 rocpd2csv -d out cut.zst
            one_line rocpd2csv
            says "cut.zst: zstd: the file is truncated"
            [ ! -e out ]
        done
        { cat "$f.zst" && echo more; } >tail.zst
        try 3 rocpd2csv -d out tail.zst
        says "tail.zst: zstd: something else follows the compressed data"
        { head -c $((size / 2)) "$f.zst" && head -c 64 /dev/zero && tail -c +$((size / 2 + 65)) "$f.zst"; } >bad.zst
        try 3 rocpd2csv -d out bad.zst
        says "bad.zst: zstd: "
        [ ! -e out ]
    done
}

@test "rpt reads a log that is compressed, whole and as a pipe" {
    needs_zstd
    rpt -t "$TEXTS/profile.txt" | tail -n +2 >plain
    for packer in gzip zstd; do
        "$packer" -q -c "$TEXTS/profile.txt" >log.packed
        try 0 rpt -t log.packed
        tail -n +2 <<<"$output" | cmp - plain
        try 0 rpt -t - <log.packed
        tail -n +2 <<<"$output" | cmp - plain
    done
}

@test "a build without libzstd says so" {
    [[ $(rocpd2csv --version) != *zstd* ]] || skip "built with libzstd"
    printf '\x28\xb5\x2f\xfd whatever it holds' >t.zst
    try 3 rocpd2csv -d out t.zst
    says "t.zst: is compressed with zstd, and this rocline was built without libzstd: "
}

@test "messages have the name of the input, not that of its unpacked copy; nothing is left behind" {
    head -c 60000 "$FIXTURES/everything.db" | gzip >cut.db.gz
    mkdir tmp
    for reader in pages sqlite; do
        try 3 rocpd2csv --tmpdir tmp --reader $reader -d out cut.db.gz
        one_line rocpd2csv
        says "cut.db.gz: the database is truncated"
    done
    gzip -c "$FIXTURES/rocprof-compute.db" >compute.gz
    try 3 rocpd2csv --tmpdir tmp -d out compute.gz
    says "compute.gz: this is an analysis database of rocprof-compute"
    gzip -c "$FIXTURES/everything.db" >t.gz
    rocpd2csv -q --tmpdir tmp -d out t.gz || [ $? -eq 1 ]
    [ -z "$(ls -A tmp)" ]
    try 4 rocpd2csv --tmpdir missing -d out2 t.gz
    says "missing"
}

@test "the tools that stand in for scripts read zstd as well" {
    needs_zstd
    zstd -q -o calls.zst "$TEXTS/calls.txt"
    rtg2json -q -o a.json "$TEXTS/calls.txt"
    rtg2json -q -o b.json calls.zst
    rtg2json -q -o c.json - <calls.zst
    cmp a.json b.json
    cmp a.json c.json
    head -c 100 calls.zst >cut.zst
    try 3 rtg2json -q -o d.json cut.zst
    says "cut.zst: zstd: the file is truncated"
}

@test "numbers that 64 bits do not hold: counted, with the same words in every reader" {
    local n s
    cp "$TOP/tests/fixtures/rocprof-csv/run_memory_allocation_trace.csv" .
    cp "$FIXTURES/schema-3.0.0.db" t.db
    s=$(sqlite3 t.db "SELECT substr(name, 13) FROM sqlite_master WHERE name LIKE 'rocpd_region_%' LIMIT 1")
    for n in 1e300 -1e300 123456789012345678901234; do
        sqlite3 t.db "UPDATE rocpd_memory_copy$s SET size = $n WHERE id = (SELECT min(id) FROM rocpd_memory_copy$s)"
        try 1 rocstats summary t.db
        says "1 record repaired: value of a wrong type (1)"
        try 1 rocstats summary --reader sqlite t.db
        says "1 record repaired: value of a wrong type (1)"
        sed "s/\"bytes\":4096/\"bytes\":$n/" "$FIXTURES/rocprofv3-7.0.json" >t.json
        try 1 rocstats summary t.json
        says "a field is not a number"
        says "1 record repaired: value of a wrong type (1)"
        sed "2s/,4096,/,$n,/" run_memory_allocation_trace.csv >t_memory_allocation_trace.csv
        try 1 rocstats summary t_memory_allocation_trace.csv
        says "value of a wrong type (1)"
        cat >k.json <<END
{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "x"}], "traceEvents": [
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 100, "dur": 5, "args": {"device": 0, "stream": 7, "correlation": -1}},
{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 0, "tid": 7, "ts": 300, "dur": 2, "args": {"device": 0, "stream": 7, "bytes": $n}},
{"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": 310, "args": {"Addr": $n, "Bytes": -9223372036854775808, "Device Type": 1, "Device Id": 0}}]}
END
        try 1 rocstats summary k.json
        says "a field is not a number"
        says "value of a wrong type (2)"
        # As times they leave their record out.
        sed "s/\"dur\": 2/\"dur\": $n/" k.json >d.json
        try 1 rocstats summary d.json
        says "no valid time (1)"
        sed "s/\"start_timestamp\":5000000004000,\"end_timestamp\":5000000004250/\"start_timestamp\":$n,\"end_timestamp\":5000000004250/" "$FIXTURES/rocprofv3-7.0.json" >t.json
        try 1 rocstats summary t.json
        says "no valid time (1)"
        cp t.db u.db
        sqlite3 u.db "UPDATE rocpd_region$s SET start = $n WHERE id = (SELECT min(id) FROM rocpd_region$s)"
        try 1 rocstats summary u.db
        says "no valid time (1)"
    done
}

# SQLite's own limit for a path is 512 bytes.
@test "paths as long as the system takes them" {
    part=$(printf 'x%.0s' $(seq 200))
    mkdir -p "$part/$part/$part"
    cp "$FIXTURES/rank0.db" "$part/$part/$part/a.db"
    for reader in pages sqlite; do
        rocstats kernels --format csv --reader $reader "$PWD/$part/$part/$part/a.db" >there.csv
        rocstats kernels --format csv "$FIXTURES/rank0.db" | diff - there.csv
    done
    (cd "$part/$part/$part" && rocline query -q "SELECT count(*) FROM kernel JOIN rocpd_info_node" a.db >/dev/null)
}
