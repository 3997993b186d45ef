#!/usr/bin/env bats
# rocstats baseline: files of baselines, and comparisons with them.

load helper

requires() {
    needs "$FIXTURES/rank1.db" sqlite3
}

a=$FIXTURES/rank0.db
b=$FIXTURES/rank1.db

@test "baseline: a comparison is that with the trace itself" {
    for pair in "$a $b" "$b $a" "$a $a" "$FIXTURES/node-rank2.db $a" "$FIXTURES/empty-tables.db $a" "$a $FIXTURES/empty-tables.db" \
        "$FIXTURES/schema-4.1.0.db $FIXTURES/sampled-4.1.0.db" "$FIXTURES/job.rpdb $a" \
        "$TOP/tests/fixtures/chrome/train0.json $TOP/tests/fixtures/chrome/train0-after.json"; do
        # shellcheck disable=SC2086
        set -- $pair
        rm -f base.json
        try 0 rocstats baseline -o base.json "$1"
        [ -z "$output" ]
        [[ -z "$stderr" || "$1" == */empty-tables.db ]]
        for format in text csv md html; do
            rocstats compare -q --format $format "$1" "$2" >with
            rocstats compare -q --format $format base.json "$2" | diff with -
        done
        # The answer describes the traces that were read.
        rocstats compare -q --format json "$1" "$2" | jq 'del(.trace, .warnings)' >with
        rocstats compare -q --format json --baseline base.json "$2" >option
        rocstats compare -q --format json base.json "$2" | diff option -
        jq -e '.trace == null and .trace_b.totals.files >= 1' option >/dev/null
        jq 'del(.trace, .warnings)' option | diff with -
    done
}

@test "baseline: names that are not UTF-8 are found again, and broken records are told when it is written" {
    nasty=$FIXTURES/nasty-3.0.5.db
    try 1 rocstats baseline -o base.json "$nasty"
    says "left out"
    rocstats compare -q --format json "$nasty" "$nasty" >with || true
    rocstats compare -q --format json base.json "$nasty" >without || true
    diff <(jq 'del(.trace, .warnings)' with) <(jq 'del(.trace, .warnings)' without)
    [ "$(jq '[.data.compare.rows[] | select(.status != "same")] | length' without)" -eq 0 ]
}

@test "baseline: limits of growth hold with it" {
    cp "$a" slow.db
    chmod u+w slow.db
    s=$(suffix slow.db)
    sqlite3 slow.db "UPDATE \"rocpd_kernel_dispatch$s\" SET \"end\" = 2 * \"end\" - start WHERE kernel_id
        IN (SELECT id FROM \"rocpd_info_kernel_symbol$s\" WHERE display_name LIKE 'Cijk_Ailk%')"
    rocstats baseline -o base.json "$a"
    try 6 rocstats compare --fail-over 50 base.json slow.db
    says "1 name grew by more than 50 %; the worst: KERNELS Cijk_Ailk"
    try 0 rocstats compare --fail-over 50 base.json "$a"
}

@test "baseline: several of them in one file, by name" {
    rocstats baseline -o base.json --baseline-name one "$a"
    rocstats baseline -o base.json --baseline-name two "$b"
    rocstats baseline -o base.json --baseline-name three "$a" "$b"
    [ "$(jq -c '[.rocline_baselines, [.baselines[].name]]' base.json)" = '[1,["one","two","three"]]' ]
    rocstats compare --format json "$a" "$b" | jq .data >with
    rocstats compare --format json base.json:one "$b" | jq .data | diff with -
    rocstats compare --format json --baseline base.json:one "$b" | jq .data | diff with -
    [ "$(rocstats compare --format csv base.json:two "$b" | grep -vc ',"same",')" -eq 1 ]
    [ "$(rocstats compare --format csv base.json:three -- "$b" "$a" | grep -vc ',"same",')" -eq 1 ]
    # One is replaced where it stands; the others stay as they are.
    jq -c '.baselines[1:]' base.json >before
    rocstats baseline -o base.json --baseline-name one "$b"
    jq -c '.baselines[1:]' base.json | diff before -
    [ "$(jq -c '[.baselines[].name]' base.json)" = '["one","two","three"]' ]
    try 2 rocstats compare base.json "$b"
    says "base.json: has several baselines; name one as base.json:NAME: one, two, three"
    try 3 rocstats compare base.json:four "$b"
    one_line rocstats
    says "base.json: has no baseline \"four\"; it has: one, two, three"
    # A file whose name has a colon.
    cp base.json 'odd:one.json'
    try 2 rocstats compare 'odd:one.json' "$b"
    rocstats compare --format json 'odd:one.json:two' "$b" >/dev/null
}

@test "baseline: the same bytes for any number of workers; filters" {
    rocstats baseline -o - -j1 "$a" "$b" >one
    rocstats baseline -o - -j4 "$a" "$b" | cmp one -
    rocstats baseline -j3 --memory 1m --reader sqlite "$a" "$b" | cmp one -
    rocstats baseline --include kernel -o kernels.json "$a"
    [ "$(jq -c '[.baselines[].names[].domain] | unique' kernels.json)" = '["KERNELS"]' ]
    rocstats compare --include kernel --format json "$a" "$b" | jq .data >with
    rocstats compare --include kernel --format json kernels.json "$b" | jq .data | diff with -
}

@test "baseline: durations and GPU times are those of the database" {
    rocstats baseline -o base.json "$a"
    s=$(suffix "$a")
    sqlite3 "$a" "SELECT display_name, group_concat(d, ' ') FROM (SELECT k.display_name, \"end\" - start d FROM \"rocpd_kernel_dispatch$s\" x
        JOIN \"rocpd_info_kernel_symbol$s\" k ON k.id = x.kernel_id ORDER BY 1, 2) GROUP BY 1 ORDER BY 1" >sql
    jq -r '.baselines[0].names[] | select(.domain == "KERNELS") | .name + "|" +
        (reduce .durations[] as $d ({at: 0, all: []}; .at += $d | .all += [.at]) | .all | map(tostring) | join(" "))' base.json | diff sql -
    work=$(sqlite3 "$a" "SELECT (SELECT sum(\"end\" - start) FROM \"rocpd_kernel_dispatch$s\") + (SELECT sum(\"end\" - start) FROM \"rocpd_memory_copy$s\")")
    [ "$(jq .baselines[0].gpu_time.work_ns base.json)" = "$work" ]
}

@test "baseline: the example of rocline-baseline(5)" {
    sed -n '/^\.Bd -literal/,/^\.Ed/p' "$TOP/man/rocline-baseline.5" | sed '1d;$d' >base.json
    try 0 rocstats compare --include kernel --format json base.json "$a"
    [ "$(jq -c '[.data.compare.rows[] | select(.name == "gemm") | [.calls_a, .total_a_ns, .median_a_ns]]' <<<"$output")" = '[[3,1520,500]]' ]
}

@test "baseline: what is none, or broken, is one clear line" {
    rocstats baseline -o base.json "$a"
    breaks() { # jq filter, text
        jq -c "$1" base.json >broken.json
        try 3 rocstats compare broken.json "$b"
        one_line rocstats
        says "$2"
        [ -z "$output" ]
    }
    breaks '.rocline_baselines = 2' "is a file of baselines of version 2, which a newer rocline reads"
    breaks '.rocline_baselines = "x"' "rocline_baselines is not a number"
    breaks '.baselines = {}' "baselines is not an array"
    breaks '.baselines = []' "has no baseline"
    breaks '.baselines[0] = 1' "a baseline is an object"
    breaks '.baselines[0].name = ""' "a baseline without a name"
    breaks '.baselines[0].gpu_time.work_ns += 1' "the times of gpu_time do not add up"
    breaks '.baselines[0].gpu_time.idle_ns = -1' "a time of gpu_time is not valid"
    breaks 'del(.baselines[0].gpu_time)' "do not add up"
    breaks '.baselines[0].names = 3' "names is not an array"
    breaks '.baselines[0].names[0].domain = "GPU"' "durations without a domain and a name before them"
    breaks '.baselines[0].names[0].durations[0] = -1' "a duration is not valid"
    breaks '.baselines[0].names[0].durations = [9223372036854775807, 1]' "a duration is not valid"
    breaks '.baselines[0].names[0].items = "x"' "items is not a number"
    breaks '.baselines[0].processes = 1.5' "processes is not a number"
    breaks '.baselines[0].order = 1' "the order is not an object"
    breaks '.baselines[0].order.processes[0] = [-2, 1]' "a process of the order is not valid"
    breaks '.baselines[0].order.processes[0] = [1]' "a process of the order is not valid"
    breaks '.baselines[0].order.steps[0][0] = 1' "a step of the order is not valid"
    breaks '.baselines[0].order.steps[0][2] = -1' "a step of the order is not valid"
    breaks '.baselines[0].order.lanes[0] = [9, "x"]' "a lane of the order is not valid"
    breaks '.baselines[0].order.lanes[0] = [0, 1]' "a lane of the order is not valid"
    breaks '.baselines[0].order.lanes = [range(65) | [0, "x"]]' "a lane of the order is not valid"
    breaks '.baselines[0].order.kernels[0] = 1000000' "a kernel of the order is not valid"
    breaks '.baselines[0].order.kernels[1] = 64' "a kernel of the order is not valid"
    breaks '.baselines[0].order.kernels |= .[:-1]' "a kernel of the order is not valid"
    breaks '.baselines[0].order.kernels[2] += 1' "the order does not add up"
    breaks '.baselines[0].order.kernels |= .[:-3]' "the order does not add up"
    breaks '.baselines[0].order.chosen = 1' "the order does not add up"
    breaks '.baselines[0].order.chosen = -1' "a number of the order is not valid"
    breaks '.baselines[0].order.marker = 1' "the marker of the order is not valid"
    breaks 'del(.baselines[0].order.marker)' "the order does not add up"
    breaks '.baselines[0].order as $o | del(.baselines[0].order) | .baselines[0] = {order: $o} + .baselines[0] | .baselines[0] |= {name, order} + .' \
        "a kernel of the order is not valid"
    # Cut off anywhere.
    size=$(stat -c %s base.json)
    for ((n = 20; n < size - 4; n += size / 40)); do
        head -c $n base.json >cut.json
        try 3 rocstats compare cut.json "$b"
        one_line rocstats
    done
    try 3 rocstats compare --baseline "$b" "$b"
    one_line rocstats
    try 3 rocstats compare --baseline missing.json "$b"
    one_line rocstats
    # Another file is not written over.
    echo '{"mine": 1}' >mine.json
    try 3 rocstats baseline -o mine.json "$a"
    one_line rocstats
    [ "$(cat mine.json)" = '{"mine": 1}' ]
}

@test "baseline: usage errors" {
    rocstats baseline -o base.json "$a"
    while read -r text args; do
        # shellcheck disable=SC2086
        try 2 rocstats $args
        [[ "$stderr" == "rocstats: "*"Try 'rocstats --help'." ]] || fail "$args"
        says "${text//_/ }"
    done <<END
no_input_is_given baseline
takes_no_options_of_reports baseline --format json $a
takes_no_options_of_reports baseline --by-rank $a
--baseline-name_is_only_for_baseline kernels --baseline-name x $a
--baseline_is_only_for_compare kernels --baseline base.json $a
all_inputs_are_of_the_other_trace compare --baseline base.json $a -- $b
which_only_A_can_be compare $a base.json
is_an_input compare -o base.json base.json $a
is_an_input compare --baseline base.json -o base.json $a
END
    try 2 rocstats baseline --baseline-name a:b -o x.json "$a"
    says "without a colon"
}
