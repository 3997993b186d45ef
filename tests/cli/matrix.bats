#!/usr/bin/env bats
# Every input to every output (the table in README.md): nothing crashes, and an output that is read
# again has as many kernels as its input, or somebody has said why not.

load helper
TEXTS=$TOP/tests/fixtures/rtg

make_inputs() {
    mkdir -p in
    cp "$FIXTURES/rank0.db" in/rocpd.db
    cp "$FIXTURES/rocprofv3-7.0.json" in/rocprofv3.json
    cp "$TOP/tests/fixtures/rocprof-csv/run_kernel_trace.csv" in/rocprofv3.csv
    cp "$TOP/tests/fixtures/rocprof/v1-kern.json" in/rocprof.json
    cp "$TOP/tests/fixtures/rocprof/v2.txt" in/rocprof.txt
    cp "$TOP/tests/fixtures/chrome/kineto.json" in/kineto.json
    cp "$TOP/tests/fixtures/chrome/general.json" in/chrome.json
    cp "$TEXTS/calls.txt" in/rtg.txt
    cp "$TEXTS/profile.txt" in/hcc.txt
    cp "$TOP/tests/fixtures/rocprof-csv/v1.csv" in/rocprof.csv
    cp "$TOP/tests/fixtures/chrome/xla.json" in/xla.json
    if command -v sqlite3 >/dev/null; then
        sqlite3 in/trace.rpd <"$TOP/tests/fixtures/rpd/v2.sql"
        sqlite3 in/results.db <"$TOP/tests/fixtures/rocprof/db.sql"
    fi
    rocpd2pftrace -q -o in/perfetto.pftrace in/rocpd.db
    rocrec -q -o in/recording.rocl -- "$BUILD/tests/traced" events 300 >/dev/null
}

kernels() { # input
    rocline info --format json "$1" 2>/dev/null | jq '[.data.kinds.rows[]? | select(.kind == "kernel").events] | add // 0'
}

copying() { # input
    rocline query -f csv "SELECT count(*) FROM memory_copy WHERE name LIKE '__amd_rocclr_%'" "$1" 2>/dev/null | tail -1
}

@test "every input to every output" {
    make_inputs
    for input in in/*; do
        name=$(basename "$input")
        expected=$(kernels "$input")
        for form in csv/ pftrace db otf2/ chrome.json rocprofv3.json kineto.json rocprof.json \
            stats rpt query jsonl parquet arrow arrows; do
            out=out/$name/$form
            mkdir -p "$(dirname "$out")"
            case $form in
            csv/) command=(rocline csv -d "$out" -o o) ;;
            pftrace) command=(rocline pftrace -o "$out.pftrace") out=$out.pftrace ;;
            db) command=(rocline merge -o "$out.db") out=$out.db ;;
            otf2/) command=(rocline otf2 -d "$out" -o o) out= ;;
            chrome.json) command=(rocline json --layout trace -o "$out") ;;
            rocprofv3.json | rocprof.json | kineto.json) command=(rocline json --layout "${form%.json}" -o "$out") ;;
            stats) command=(rocline stats all) out= ;;
            rpt) command=(rocline rpt) out= ;;
            query) command=(rocline query "SELECT count(*) FROM kernel") out= ;;
            jsonl) command=(rocline export -f jsonl --kinds kernel -o -) out= ;;
            parquet | arrow | arrows) command=(rocline export -f "$form" -d "$out" -o o) ;;
            esac
            run --separate-stderr "${command[@]}" "$input"
            # rpt reports GPU work only, and says so.
            [[ $form:$status:$stderr != rpt:3:*"to report"* ]] || continue
            [ "$status" -le 1 ] || fail "$name to $form: $status $stderr"
            [ "$form" != query ] || [[ "$output" == *"$expected"* ]]
            [ "$form" != jsonl ] || [ "$(grep -c . <<<"$output")" = "$expected" ] ||
                echo "$name to jsonl: $expected kernels, $(grep -c . <<<"$output") lines" >>differ
            [ -n "$out" ] || continue
            [ -e "$out" ] || [ -n "$stderr" ] || fail "$name: no $out, and nothing is said"
            [ -e "$out" ] || continue
            # Of the columnar formats tests/cli/export.bats reads every value.
            case $form in
            parquet | arrow | arrows)
                [ "$expected" = 0 ] || [ -s "$out/o_kernel.$form" ] || echo "$name to $form: no file of kernels" >>differ
                continue ;;
            esac
            # Very small Perfetto traces are not recognised as such.
            rocline info --brief -q "$out" >/dev/null 2>&1 || continue
            got=$(kernels "$out")
            # Chrome JSON has names only: kernels that copy are read as copies.
            [ "$form" != chrome.json ] || got=$((got + $(copying "$out")))
            [ "${got:-0}" = "$expected" ] || [ "$status" -eq 1 ] || [ -n "$stderr" ] ||
                echo "$name to $form: $expected kernels became $got" >>differ
        done
    done
    [ ! -e differ ] || fail "$(cat differ)"
}
