#!/usr/bin/env bats
# rtg2json and rpt: what scripts that call them rely on. Their outputs are in golden/.

load helper

TEXTS=$TOP/tests/fixtures/rtg
RTG=$SHARED/rtg # golden cases of the original scripts

events() { # file filter: how many events pass a jq filter
    jq "[.traceEvents[] | select($2)] | length" "$1"
}

@test "without -o: out.json, and a hint" {
    try 0 rtg2json "$TEXTS/calls.txt"
    [ "${lines[0]}" = "Writing chrome://tracing output to 'out.json' (use -o to change name)" ]
    [ "${#lines[@]}" -eq 23 ]
    jq -e . out.json >/dev/null
}

@test "options in a cluster, after the input, behind --" {
    cp "$TEXTS/calls.txt" -- -in.txt
    try 0 rtg2json -pfo a.json -- -in.txt
    try 0 rtg2json "$TEXTS/calls.txt" -fpob.json
    cmp a.json b.json
    try 0 rtg2json -pf "$TEXTS/calls.txt"
    cmp a.json out.json
}

@test "standard output holds nothing but JSON" {
    rtg2json -f -o - "$TEXTS/calls.txt" >a.json 2>log
    rtg2json -q -f -o b.json "$TEXTS/calls.txt"
    cmp a.json b.json
    grep -q "api hip lines: 4" log
    try 0 rtg2json -q -o c.json "$TEXTS/calls.txt"
    silent
}

@test "standard input, pipes and gzip" {
    rtg2json -q -o plain.json "$TEXTS/calls.txt"
    rtg2json -q -o a.json - <"$TEXTS/calls.txt"
    gzip -c "$TEXTS/calls.txt" >calls.gz
    rtg2json -q -o b.json calls.gz
    mkfifo pipe
    cat calls.gz >pipe &
    rtg2json -q -o c.json pipe
    for f in a b c; do cmp plain.json $f.json; done
    head -c 300 calls.gz >cut.gz
    try 3 rtg2json -q -o d.json cut.gz
    says "cut.gz: gzip: the file is truncated"
    [ ! -e d.json ]
}

@test "gzip output is the same JSON" {
    rtg2json -q -o plain.json "$TEXTS/calls.txt"
    rtg2json -q -o a.json.gz "$TEXTS/calls.txt"
    rtg2json -q --gzip -o b "$TEXTS/calls.txt"
    gzip -dc a.json.gz | cmp - plain.json
    gzip -dc b.gz | cmp - plain.json
}

@test "many blocks: the same bytes for any number of workers" {
    "$BUILD/tests/rtggen" rtg 20000 7 >big.txt
    "$BUILD/tests/rtggen" hcc 5000 7 >>big.txt
    rtg2json -q -j1 -fgkp -o 1.json big.txt
    for j in 2 5; do
        rtg2json -q -j$j -fgkp -o $j.json big.txt
        cmp 1.json $j.json
    done
    rtg2json -q -j3 -fgkp -o z.json.gz big.txt
    gzip -dc z.json.gz | cmp - 1.json
    # Each line is an event, each packet one end of an arrow more.
    [ "$(events 1.json '.ph == "X" and .pid > -1000')" -eq 25000 ]
    [ "$(events 1.json '.ph == "s" or .ph == "f"')" -eq "$(grep -c 'dispatch queue\|barrier queue' big.txt)" ]
    rtg2json -q -fgkp -o cr.json <(tr '\n' '\r' <big.txt)
    cmp 1.json cr.json
    rtg2json -q -fgkp -o crlf.json <(sed 's/$/\r/' big.txt)
    cmp 1.json crlf.json
}

@test "several inputs go one after the other; the same twice counts twice" {
    rtg2json -q -o one.json "$TEXTS/calls.txt"
    rtg2json -q -o two.json "$TEXTS/calls.txt" "$TEXTS/calls.txt"
    [ "$(events two.json '.ph == "X"')" -eq $((2 * $(events one.json '.ph == "X"'))) ]
    [ "$(events two.json '.ph == "M"')" -eq "$(events one.json '.ph == "M"')" ]
}

@test "inputs that are none are skipped, and say so" {
    mkdir folder
    try 1 rtg2json -o a.json missing "$TEXTS/calls.txt" folder
    [ "${lines[1]}" = "Skipping 'missing': not a file" ]
    try 3 rtg2json -o b.json missing
    [ ! -e b.json ]
    try 0 rtg2json -o c.json
    [ "$(events c.json '.ph == "M"')" -eq 6 ]
}

@test "an output of before is no input, and no input is overwritten" {
    cp "$TEXTS/calls.txt" trace.txt
    rtg2json -q -o out.json trace.txt
    cp out.json first.json
    try 0 rtg2json -o out.json trace.txt out.json
    cmp out.json first.json
    for name in trace.txt ./trace.txt; do
        try 2 rtg2json -o "$name" trace.txt
        says "is an input"
        cmp trace.txt "$TEXTS/calls.txt"
    done
}

@test "patterns, old outputs, databases among the inputs" {
    cp "$TEXTS/calls.txt" a.txt
    cp "$TEXTS/profile.txt" b.txt
    try 1 rtg2json -q -o x.json '*.txt'
    try 1 rtg2json -q -o y.json a.txt b.txt
    cmp x.json y.json
    printf '1.5 getpid() = 55 <0.000001>\n' >s
    try 2 rtg2json -o s s
    try 3 rtg2json --strict -o z.json missing a.txt
    [ ! -e z.json ]
    try 3 rtg2json -q -o z.json missing
    says "none of the inputs is a file"
    [ ! -e z.json ]
    echo old >z.json
    try 3 rtg2json -o z.json missing too .
    [ "$(cat z.json)" = old ]
    rm z.json
    try 3 rtg2json --layout script -o w.json a.txt "$FIXTURES/rank0.db"
    says "rank0.db: not text"
    [ ! -e w.json ]
    try 0 rtg2json -z0 -o x.json.gz a.txt
    jq -e . x.json >/dev/null
    try 0 rtg2json --args -o x.json a.txt
    says "have no effect in the layout"
}

@test "GPUs are called the same everywhere" {
    printf 'profile:  kernel;  a;  1.0 us; 1000; 2000; #2.0.0;\n' >hcc.log
    printf 'profile:    copy;  HostToDevice;  1.0 us; 5000; 6000; #1.3.1; 40 bytes;\n' >>hcc.log
    rtg2json -q --layout trace -o a.json hcc.log
    [ "$(jq -c '[.traceEvents[] | select(.name == "process_name") | .args.name | select(startswith("GPU"))] | sort' a.json)" = '["GPU 1","GPU 2"]' ]
    [ "$(jq -r '.traceEvents[] | select(.cat == "copy") | .args.destination' a.json)" = "GPU 1" ]
    try 0 rocstats overlap --table all --format csv hcc.log
    [[ "$output" == *'"GPU 2"'* ]]
    try 0 rtg2json -q --layout trace --agent 'GPU 2' -o b.json hcc.log
    [ "$(events b.json '.ph == "X"')" -eq 1 ]
    # Agents of several files are kept apart, by the names that are shown.
    try 0 rtg2json -q --layout trace --agent 'GPU 2' -o c.json "$TEXTS/calls.txt" <(cat "$TEXTS/calls.txt")
    [ "$(events c.json '.cat == "kernel"')" -eq 1 ]
}

@test "inputs that turn out to be something else" {
    try 3 rtg2json -o a.json - <"$FIXTURES/rank0.db"
    says "a database, not text: choose --layout trace"
    [ ! -e a.json ]
    try 3 rtg2json -o a.json - <"$BATS_TEST_DIRNAME/../fixtures/chrome/kineto.json"
    says "not text of rtg_tracer, HCC_PROFILE or strace: choose --layout trace"
    [ ! -e a.json ]
    for input in "$FIXTURES/rank0.db" "$BATS_TEST_DIRNAME/../fixtures/chrome/kineto.json"; do
        rtg2json -q -o b.json "$input"
        try 0 rtg2json -q --layout trace -o a.json - <"$input"
        cmp a.json b.json
    done
    : >empty
    echo "application text" >app
    try 1 rocstats --table domains --format csv empty "$TEXTS/calls.txt" app
    says "app, empty: no records: skipped"
    try 3 rocstats --table domains empty app
    (seq -f 'epoch %g' 8000 && cat "$TEXTS/calls.txt") >late.log
    try 0 rocstats --table domains --format csv late.log
    first=$output
    try 0 rocstats --table domains --format csv - <late.log
    [ "$output" = "$first" ]
    try 3 rocstats --table domains - < <(seq -f 'epoch %g' 8000)
    says "text, not a rocpd database"
}

@test "no tool writes over its input" {
    cp "$FIXTURES/rank0.db" q.pftrace
    try 2 rocpd2pftrace -o q.pftrace q.pftrace
    try 2 rocstats -o q.pftrace ./q.pftrace
    try 2 rtg2json -o q.pftrace q.pftrace
    cmp q.pftrace "$FIXTURES/rank0.db"
    try 2 rpt -g - "$TEXTS/profile.txt"
}

@test "text without a record: an error, or a warning beside others" {
    seq -f 'epoch %g' 7 >app.txt
    for tool in rtg2json "rtg2json --layout script"; do
        # shellcheck disable=SC2086 # words
        try 3 $tool -q -o a.json app.txt
        [ "$stderr" = "rtg2json: app.txt: text, not a rocpd database: it has no record of\
 rtg_tracer, HCC_PROFILE or strace" ] || fail "the message"
        [ ! -e a.json ]
    done
    : >empty
    try 3 rtg2json -q -o a.json empty app.txt
    says "empty: the file is empty"
    printf '\n  {\n    "schemaVersion": 1,\n    "deviceProperties": [],\n "traceEvents": []\n}\n' >k.json
    gzip -k k.json
    for name in k.json k.json.gz; do
        try 3 rtg2json --layout script -o a.json $name
        says "$name: this is a trace of the PyTorch profiler"
        [ ! -e a.json ]
        try 0 rtg2json -q -o k.out $name # alone it is an input like others
    done
    rtg2json -q -o whole.json "$TEXTS/calls.txt"
    try 1 rtg2json -o a.json k.json "$TEXTS/calls.txt" app.txt
    says "2 of 3 inputs without a record, left out: k.json: this is a trace of the PyTorch profiler"
    cmp a.json whole.json
    try 1 rtg2json -o a.json "$TEXTS/calls.txt" app.txt
    says "an input without a record, left out: app.txt: text"
    try 1 rtg2json -q --layout trace -o a.json "$TEXTS/calls.txt" app.txt
    try 3 rtg2json -q --layout trace --strict -o b.json "$TEXTS/calls.txt" app.txt
    says "app.txt: text, not a rocpd database"
    [ ! -e b.json ]
}

@test "broken lines are left out, with their numbers" {
    try 1 rtg2json -o a.json "$TEXTS/broken.txt"
    [ "${stderr_lines[0]}" = "rtg2json: $TEXTS/broken.txt:2: a HIP line that cannot be parsed: left out" ]
    [ "${stderr_lines[-1]}" = "rtg2json: 2 records left out" ]
    jq -e . a.json >/dev/null
    try 3 rtg2json --strict -o b.json "$TEXTS/broken.txt"
    says "broken.txt:2: "
    [ ! -e b.json ]
}

@test "hostile text is valid JSON" {
    {
        printf 'HIP: pid:1 tid:2 hipA(s="q\\t\001") [k"\\\t\x7f] ret=0 @1000 +2\n'
        printf 'HIP: pid:1 tid:2 hipB [\xff\xfe\xc3\xa9] ret=0 @1000 +2\n'
        printf 'HIP: pid:1 tid:2 hipC [a\0b] ret=0 @1000 +2\n'
        printf "HSA: pid:007 tid:2 dispatch queue:1 agent:2 signal:3 name:'x' start:1 stop:2 id:007\n"
        printf 'profile:  kernel;  x;  1.0 us; 5; 6; #00.03.01; "q"\n'
        printf '1.5 <... bar resumed> ) = 0 <0.1>\n1.2 x = y <alpha>\n'
    } >bad.txt
    try 1 rtg2json -fkp -o a.json bad.txt
    [ "$(events a.json '.ph == "X"')" -eq 5 ]
    [ "$(jq -r '.traceEvents[1].name' a.json)" = "$(printf '\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9')" ]
    [ "$(jq -c '[.traceEvents[] | select(.id) | .id] | unique' a.json)" = "[7]" ]
    says "2 texts hold NUL or bytes that are not UTF-8"
    says "bad.txt:6: a call is resumed that never began"
    says "bad.txt:7: the duration of the call is not a number"
}

@test "filters take single lines out" {
    rtg2json -q -f -o all.json "$TEXTS/calls.txt"
    rtg2json -q -f --include kernel -o k.json "$TEXTS/calls.txt"
    [ "$(events k.json '.ph == "X"')" -eq 2 ]
    rtg2json -q -f --exclude kernel -o rest.json "$TEXTS/calls.txt"
    [ $((2 + $(events rest.json '.ph == "X"'))) -eq "$(events all.json '.ph == "X"')" ]
    rtg2json -q --name '^hipM' -o n.json - <"$TEXTS/calls.txt"
    [ "$(jq -c '[.traceEvents[] | select(.ph == "X") | .name]' n.json)" = '["hipMalloc","hipMemcpy"]' ]
    try 0 rtg2json --start 100% --end 100% -o none.json "$TEXTS/calls.txt"
    says "no event passes the filters"
}

@test "any trace, in rows of its own" {
    needs "$FIXTURES/rank0.db"
    try 0 rtg2json -f -o a.json "$FIXTURES/rank0.db" "$FIXTURES/rank1.db" "$TEXTS/calls.txt"
    one_line rtg2json
    says "the clocks of the nodes seem to differ"
    try 0 rtg2json -f --align none -o a.json "$FIXTURES/rank0.db" "$FIXTURES/rank1.db" "$TEXTS/calls.txt"
    silent
    kernels=0
    for db in rank0 rank1; do
        kernels=$((kernels + $(sqlite3 "$FIXTURES/$db.db" "SELECT count(*) FROM rocpd_kernel_dispatch$(suffix "$FIXTURES/$db.db")")))
    done
    [ "$(events a.json '.ph == "X" and .cat == "kernel"')" -eq $((kernels + 2)) ]
    try 2 rtg2json -o b.json --layout trace
    says "no input is given"
    try 0 rtg2json -gk -o b.json "$FIXTURES/rank0.db"
    says "-g, -k, -p and -w have no effect"
}

@test "rpt: by its name, by --rpt, with underscores, of any trace" {
    try 0 rpt "$TEXTS/profile.txt" --hide_app_text --text_trace --gaps 5 100
    first=$output
    try 0 rtg2json --rpt -t --hide-app-text --gaps 5 --gaps 100 "$TEXTS/profile.txt"
    [ "$output" = "$first" ]
    try 0 rpt --gaps 5 100 "$TEXTS/profile.txt" --hide_app -t
    [ "$output" = "$first" ]
    try 0 rpt
    [[ "$output" == "Usage: rpt "* ]]
    try 0 rpt "$TEXTS/calls.txt"
    [[ "$output" == *"Resource=GPU0 "* ]]
    try 2 rpt -r '%no such text' "$TEXTS/profile.txt"
    one_line rpt
}

@test "rpt: names that the trace does not have" {
    for version in 3.0.0 3.0.5 4.1.0; do
        needs "$FIXTURES/nasty-$version.db"
        try 1 rpt -t "$FIXTURES/nasty-$version.db"
        [[ "$output" == *"ROI_TIME="* ]]
        says "left out"
    done
}

@test "what the original scripts made of their inputs" {
    needs "$RTG/check.py" python3
    run python3 "$RTG/check.py" "$BUILD/bin/rtg2json" "$RTG"
    [ "$status" -eq 0 ] || fail "differs"
    [[ "$output" == *" golden runs agree" ]]
}
