#!/usr/bin/env bats
# rocstats compare and ranks: the command line. What the numbers are is tested elsewhere.

load helper

requires() {
    needs "$FIXTURES/rank1.db" sqlite3
}

a=$FIXTURES/rank0.db
b=$FIXTURES/rank1.db

# A copy of $a in which a kernel of ten calls takes twice as long.
slower() { # file
    local s
    cp "$a" "$1"
    chmod u+w "$1"
    s=$(suffix "$1")
    sqlite3 "$1" "UPDATE \"rocpd_kernel_dispatch$s\" SET \"end\" = 2 * \"end\" - start WHERE kernel_id
        IN (SELECT id FROM \"rocpd_info_kernel_symbol$s\" WHERE display_name LIKE 'Cijk_Ailk%')"
}

@test "compare: two inputs, in every form of output" {
    for format in text csv tsv json md; do
        try 0 rocstats compare --format "$format" "$a" "$b"
        [ -z "$stderr" ]
        [ -n "$output" ]
    done
    [ "$(rocstats compare "$a" "$b")" = "$(rocstats compare -i "$a" "$b")" ]
    [ "$(rocstats compare "$a" "$b")" != "$(rocstats compare "$b" "$a")" ]
    try 0 rocstats compare -o out.txt "$a" "$b"
    silent
    rocstats compare "$a" "$b" | diff - out.txt
}

@test "compare: several inputs on both sides of --" {
    folder=$FIXTURES/job.rpdb
    [ "$(rocstats compare "$a" -- "$b")" = "$(rocstats compare "$a" "$b")" ]
    [ "$(rocstats compare -- "$a" "$b")" = "$(rocstats compare "$a" "$b")" ]
    [ "$(rocstats compare --format csv "$a" "$b" -- "$b" "$a" | grep -vc ',"same",')" -eq 1 ]
    [ "$(rocstats compare --format csv "$folder" "$folder" | grep -vc ',"same",')" -eq 1 ]
    [ "$(rocstats compare --format csv "$a" -- "$a" "$b" | grep -c ',"removed",')" -eq 0 ]
}

@test "compare: filters are for both" {
    try 0 rocstats compare --format csv --include kernel --name '^Cijk' "$a" "$b"
    [ "${#lines[@]}" -eq 3 ]
    [ "$(tail -n +2 <<<"$output" | grep -c '^"\?KERNELS"\?,"Cijk')" -eq 2 ]
}

@test "compare: --fail-over" {
    slower b.db
    try 0 rocstats compare "$a" b.db
    try 6 rocstats compare --fail-over 50 "$a" b.db
    one_line rocstats
    says "1 name grew by more than 50 %; the worst: KERNELS Cijk_Ailk"
    says "grew by 100.0 % on average"
    [ -n "$output" ]
    try 6 rocstats compare -q --fail-over 99.5% "$a" b.db
    one_line rocstats
    for pair in "--fail-over 100 $a b.db" "--fail-over 0 b.db $a" "--fail-over 0 $a $a"; do
        # shellcheck disable=SC2086
        try 0 rocstats compare $pair
        [ -z "$stderr" ]
    done
    # Something new is more than any number of percent.
    try 6 rocstats compare --fail-over 1000000 --include kernel "$a" "$b"
    says "KERNELS ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>) is new"
}

# A copy of $a in which a kernel is called so often only; of it, then, one that takes ten times as long.
few() { # calls file slower
    local s
    cp "$a" "$2"
    chmod u+w "$2"
    s=$(suffix "$2")
    sqlite3 "$2" "CREATE TEMP TABLE k AS SELECT id, kernel_id FROM \"rocpd_kernel_dispatch$s\" WHERE
            kernel_id IN (SELECT id FROM \"rocpd_info_kernel_symbol$s\" WHERE display_name LIKE 'Cijk_Ailk%');
        DELETE FROM \"rocpd_kernel_dispatch$s\" WHERE id IN (SELECT id FROM k ORDER BY id LIMIT -1 OFFSET $1)"
    cp "$2" "$3"
    sqlite3 "$3" "UPDATE \"rocpd_kernel_dispatch$s\" SET \"end\" = 10 * \"end\" - 9 * start WHERE kernel_id
        IN (SELECT id FROM \"rocpd_info_kernel_symbol$s\" WHERE display_name LIKE 'Cijk_Ailk%')"
}

@test "compare: --fail-over counts exactly what five calls are worth, and says what four are not" {
    few 5 five.db slow5.db
    few 4 four.db slow4.db
    try 6 rocstats compare --fail-over 5 --include kernel five.db slow5.db
    one_line rocstats
    says "1 name grew by more than 5 %; the worst: KERNELS Cijk_Ailk"
    says "grew by 900.0 % on average"
    try 0 rocstats compare --fail-over 5 --include kernel four.db slow4.db
    one_line rocstats
    says "not tested: 1 name with too few calls, worst + 900 %: KERNELS Cijk_Ailk"
    says "; --fail-over-total looks at totals"
    [ "$(rocstats compare --format csv four.db slow4.db | grep -c 'changed.*,0.0285714[0-9]*,"\?no')" -eq 1 ]
    try 0 rocstats compare -q --fail-over 5 --include kernel four.db slow4.db
    [ -z "$stderr" ]
    # What does not grow needs no judge.
    for pair in "five.db five.db" "four.db four.db" "slow4.db four.db" "slow5.db five.db"; do
        # shellcheck disable=SC2086
        try 0 rocstats compare --fail-over 0 --fail-over-total 0 $pair
        [ -z "$stderr" ]
    done
    try 0 rocstats compare --fail-over 901 --fail-over-total 901 four.db slow4.db
    [ -z "$stderr" ]
}

@test "compare: --fail-over-total looks at names, domains and the trace" {
    few 4 four.db slow4.db
    try 6 rocstats compare -q --fail-over-total 5 --include kernel four.db slow4.db
    [ "${#stderr_lines[@]}" -eq 3 ]
    says "the total of 1 name grew by more than 5 %; the worst: KERNELS Cijk_Ailk"
    says "grew by 900.0 %"
    says "the total of 1 domain grew by more than 5 %; the worst: KERNELS grew by"
    says "the total of the trace grew by"
    # Every kernel twice as often: no duration differs.
    cp "$a" twice.db
    chmod u+w twice.db
    s=$(suffix twice.db)
    columns=$(sqlite3 twice.db "SELECT group_concat('\"' || name || '\"') FROM pragma_table_info('rocpd_kernel_dispatch$s')
        WHERE name <> 'id'")
    sqlite3 twice.db "INSERT INTO \"rocpd_kernel_dispatch$s\" ($columns) SELECT $columns FROM \"rocpd_kernel_dispatch$s\""
    try 6 rocstats compare --fail-over-total 99 --include kernel "$a" twice.db
    says "the worst: KERNELS grew by 100.0 %"
    says "the total of the trace grew by 100.0 %, more than 99 %"
    try 3 rocstats compare --fail-over-total 99 "$FIXTURES/empty-tables.db" "$a"
    says "nothing was tested: A has no kernels that compute"
    try 0 rocstats compare --fail-over-total 100 --include kernel "$a" twice.db
    [ -z "$stderr" ]
    try 0 rocstats compare --fail-over 5 "$a" twice.db
    one_line rocstats
    says "not tested: the total of 1 domain, worst + 100 %: KERNELS; --fail-over-total looks at totals"
}

@test "compare: what is new fails, what is gone does not, zero durations are no growth" {
    cp "$a" none.db
    cp "$a" zero.db
    chmod u+w none.db zero.db
    s=$(suffix none.db)
    is="kernel_id IN (SELECT id FROM \"rocpd_info_kernel_symbol$s\" WHERE display_name LIKE 'Cijk_Ailk%')"
    sqlite3 none.db "DELETE FROM \"rocpd_kernel_dispatch$s\" WHERE $is"
    sqlite3 zero.db "UPDATE \"rocpd_kernel_dispatch$s\" SET \"end\" = start WHERE $is"
    for rule in --fail-over --fail-over-total; do
        try 6 rocstats compare $rule 1000 none.db "$a"
        says "is new"
        try 6 rocstats compare $rule 1000 zero.db "$a"
        says "took no time before"
        for pair in "$a none.db" "$a zero.db" "none.db zero.db" "zero.db zero.db"; do
            # shellcheck disable=SC2086
            try 0 rocstats compare $rule 0 $pair
            [ -z "$stderr" ]
        done
    done
}

@test "compare: kernels that were renamed are one row, and no new names" {
    cp "$a" b.db
    chmod u+w b.db
    s=$(suffix b.db)
    sqlite3 b.db "UPDATE \"rocpd_info_kernel_symbol$s\" SET display_name = replace(display_name, 'MT64x64x16',
        'MT128x32x8') || '_v2' WHERE display_name LIKE 'Cijk_Ailk%'"
    try 0 rocstats compare --fail-over 0 --fail-over-total 0 "$a" b.db
    [ -z "$stderr" ]
    [[ "$output" == *"; 1 kernel is matched by similar names"* ]]
    [[ "$output" == *"  Cijk_Ailk"*"  renamed "*"  Cijk_Ailk"* ]]
    rocstats compare --format json --include kernel "$a" b.db >renamed.json
    rocstats compare --format json --include kernel "$a" "$a" >same.json
    # Besides the names it is the row of the kernel that was not renamed.
    row='[.data.compare.rows[] | select(.name | startswith("Cijk_Ailk"))] | length, (.[0] | del(.status, .name_b, .likeness))'
    diff <(jq "$row" renamed.json) <(jq "$row" same.json)
    [ "$(jq '[.data.compare.rows[] | select(.status == "renamed")] | length' renamed.json)" -eq 1 ]
    # A kernel of as many words, but of other ones, is none of them.
    sqlite3 b.db "UPDATE \"rocpd_info_kernel_symbol$s\" SET display_name = 'spmv_row_major_wave64' WHERE
        display_name LIKE 'Cijk_Ailk%'"
    try 6 rocstats compare --fail-over 5 "$a" b.db
    says "the worst: KERNELS spmv_row_major_wave64 is new"
}

@test "compare: causes have the difference as their sum" {
    needs jq
    rocstats compare --format json --include kernel,copy "$a" "$b" | jq -c '.data.compare_causes.rows
        | (.[0] | [.total_a_ns, .total_b_ns, .change_ns]), ([.[1:][].change_ns] | add),
        (.[1:] | group_by(.cause) | map({(.[0].cause): (map(.change_ns) | add)}) | add)' >out
    [ "$(cat out)" = '[3796532,3075104,-721428]
-721428
{"added kernels":843217,"copies":-97238,"idle":43821,"longer or shorter":-254569,"more or fewer calls":-2023053,"work at once":766394}' ]
}

@test "compare: a copy within the host is no GPU, and takes the time for which it runs" {
    needs jq
    cp "$TOP/tests/fixtures/demo.db" h.db
    chmod +w h.db
    sqlite3 h.db "DELETE FROM rocpd_memory_copy$(suffix h.db) WHERE src_agent_id = dst_agent_id"
    rocstats compare --format json h.db "$TOP/tests/fixtures/demo.db" | jq -c '
        .data.compare_causes | .note, (.rows[] | select(.change_ns != 0) | [.cause, .change_ns])' >out
    cat out
    [ "$(cat out)" = '"the wall time of 2 GPUs, added up, each from the first to the last event"
["all together",23171]
["copies",23171]' ]
}

@test "compare: JUnit XML has a case for each test, and what standard error says" {
    needs jq xmllint
    slower b.db
    xpath() {
        xmllint --xpath "$1" out.xml
    }
    try 6 rocstats compare --format junit -o out.xml --fail-over 50 --fail-over-total 30 "$a" b.db
    [ -z "$output" ]
    xmllint --noout out.xml
    rocstats compare -q --format json --fail-over 50 --fail-over-total 30 "$a" b.db >out.json 2>err || true
    jq -c '[.data.compare_limits.rows[]]' out.json >limits.json
    [ "$(xpath 'count(//testcase)')" -eq "$(jq length limits.json)" ]
    [ "$(xpath 'string(/testsuites/@tests)')" -eq "$(jq length limits.json)" ]
    for verdict in failed passed; do
        jq -r --arg v $verdict '.[] | select(.verdict == $v) | [.rule, .domain // empty] | join(".")' limits.json | sort >wanted
        [ $verdict = failed ] && is='failure' || is='not(*)'
        xpath "//testcase[$is]/@classname" | sed 's/.*="\(.*\)"/\1/' | sort | diff wanted -
    done
    [ "$(xpath 'string(/testsuites/@failures)')" -eq "$(xpath 'count(//failure)')" ]
    [ "$(xpath 'string(/testsuites/@skipped)')" -eq "$(xpath 'count(//skipped)')" ]
    [ "$(xpath 'count(//failure[@type="average"])')" -eq 1 ]
    [ "$(xpath 'string(//failure[@type="average"]/@message)')" = "average grew by 100.00 %, limit 50.00 %" ]
    grep -q "1 name grew by more than 50 %" err
    # Every kernel is judged once by each rule.
    for rule in average total; do
        [ "$(jq --arg r $rule '[.[] | select(.rule == $r and .name != null)] | length' limits.json)" -eq \
            "$(jq '[.data.compare.rows[] | select(.domain == "KERNELS")] | length' out.json)" ]
    done
    # Without a limit there is nothing to test.
    try 2 rocstats compare --format junit "$a" b.db
    try 2 rocstats kernels --format junit "$a"
    run ! jq -e '.data.compare_limits' <(rocstats compare --format json "$a" b.db)
}

@test "compare: verdicts of limits: new, gone, small, too few calls, not significant" {
    needs jq
    few 4 four.db slow4.db
    verdict() { # a b name
        rocstats compare -q --format json --fail-over 5 --include kernel "$1" "$2" 2>/dev/null |
            jq -r --arg n "$3" '.data.compare_limits.rows[] | select(.name | contains($n)) | .verdict + ": " + (.reason // "")'
    }
    [ "$(verdict four.db slow4.db Cijk_Ailk)" = "not tested: too few calls" ]
    [ "$(verdict four.db four.db Cijk_Ailk)" = "passed: " ]
    [ "$(verdict "$a" "$b" nccl)" = "failed: it is new" ]
    [ "$(verdict "$b" "$a" nccl)" = "ignored: it is not in B" ]
    slower b.db
    [ "$(verdict "$a" b.db Cijk_Ailk)" = "failed: " ]
}

@test "compare: names of any bytes are valid XML" {
    needs xmllint
    for file in nasty-3.0.5 everything; do
        rocstats compare -q --format junit --include kernel,marker --fail-over 5 --fail-over-total 5 "$a" "$FIXTURES/$file.db" >$file.xml 2>/dev/null || true
        xmllint --noout $file.xml
    done
    grep -q '&lt;script&gt;' nasty-3.0.5.xml
}

@test "compare: Markdown is a comment: verdict, totals, changes, and all tables folded" {
    slower b.db
    try 6 rocstats compare --format md --fail-over 50 "$a" b.db
    [ "${lines[0]}" = "## B takes as long as A: 966 us -\\> 966 us, wall time of the trace" ]
    [[ "${lines[1]}" == "**Failed**: 1 failed, "* ]]
    [[ "$output" == *"| Cijk_Ailk"*"| KERNELS | average | 83.6 us | 167 us | 100.00 | 50.00 |"* ]]
    [[ "$output" == *"What it comes from, the wall time of 4 GPUs, added up, "*"| longer or shorter | GEMM | 836 us |"* ]]
    [[ "$output" == *"Largest changes:"*"<details><summary>All tables</summary>"*"## Comparability"*"</details>" ]]
    [ "$(sed '/<details>/,$d' <<<"$output" | wc -l)" -lt 50 ]
    try 0 rocstats compare --format md --fail-over 50 "$a" "$a"
    [[ "${lines[1]}" == "**Passed**: "* ]]
    [[ "$output" == *"No name changed."* ]]
    try 0 rocstats compare --format md "$a" "$b"
    [[ "$output" != *"**"* ]]
}

train=$TOP/tests/fixtures/chrome/train0

# Rows of a table as JSON.
rows_of() { # key, arguments of compare
    local key=$1
    shift
    rocstats compare -q --format json "$@" | jq -c --arg k "$key" '[.data[$k].rows[]?]'
}

@test "compare: steps and the kernels of one, whose changes have the difference as their sum" {
    needs jq
    [ "$(rows_of compare_steps "$train".json "$train-after.json" |
        jq -c '.[] | [.number_a, .number_b, .aligned, .wall_change_ns, .kernel_a_ns, .kernel_b_ns]')" = \
        '[0,null,null,null,665000,null]
[1,1,"number",-20000,665000,565000]
[2,2,"number",-40000,665000,568000]
[null,3,null,null,null,571000]
[null,4,null,null,null,574000]' ]
    rows_of compare_sequence "$train".json "$train-after.json" >rows
    [ "$(jq -c '.[] | [.edit, .total_a_ns, .total_b_ns, .change_ns, .place_a, .place_b]' rows)" = \
        '["all together",665000,571000,-94000,null,null]
["deleted",65000,0,-65000,1,null]
["renamed",200000,153000,-47000,2,3]
["inserted",0,12000,12000,null,1]
["same",100000,113000,13000,2,1]
["same",300000,293000,-7000,1,2]' ]
    [ "$(rows_of compare "$train".json "$train-after.json" | jq -c '.[] | select(.status == "renamed") | .likeness')" = 70 ]
    [[ "$(rocstats compare "$train".json "$train-after.json")" == *"; 1 kernel is matched by place"* ]]
}

@test "compare: kernels of a step as a database has them, changed by hand" {
    needs jq
    cp "$a" b.db
    chmod u+w b.db
    s=$(suffix b.db)
    # Of a kernel that the step has eight times the last one is gone, and all last 7 ns longer.
    sqlite3 b.db "DELETE FROM \"rocpd_kernel_dispatch$s\" WHERE id = (SELECT max(x.id) FROM \"rocpd_kernel_dispatch$s\" x JOIN
        \"rocpd_info_kernel_symbol$s\" k ON k.id = x.kernel_id WHERE display_name LIKE 'Cijk_Ailk%');
        UPDATE \"rocpd_kernel_dispatch$s\" SET \"end\" = \"end\" + 7"
    rows_of compare_sequence "$a" b.db >rows
    gone=$(($(jq '.[0].kernels_a' rows) - $(jq '.[0].kernels_b' rows)))
    [ "$gone" -le 1 ]
    [ "$(jq '[.[1:][] | select(.edit == "same").change_ns] | add' rows)" = "$(jq '.[0].kernels_b * 7' rows)" ]
    [ "$(jq '[.[1:][].change_ns] | add' rows)" = "$(jq '.[0].change_ns' rows)" ]
    [ "$(jq -c '[.[1:][] | select(.edit != "same") | .edit, .times]' rows)" = "$([ "$gone" = 1 ] && echo '["deleted",1]' || echo '[]')" ]
}

@test "compare: two ranks of a training have the same kernels in the same order" {
    needs jq
    ranks=${ROCLINE_DATA:-$TOP/../shared/data}/kineto/two_ranks
    [ -f "$ranks/rank0.json.gz" ] || skip "no $ranks"
    for file in "$ranks"/rank[01].json.gz; do
        rocstats steps -q --format json "$file" | jq -c '[.tables[] | select(.key == "steps").rows[] | [.number, .wall_ns, .gpu_busy_ns, .kernels]]'
    done >steps
    rows_of compare_steps "$ranks"/rank[01].json.gz >rows
    for side in a b; do
        jq -c --arg s $side '[.[] | [.["number_" + $s], .["wall_" + $s + "_ns"], .["busy_" + $s + "_ns"], .["kernels_" + $s]]]' rows
    done | diff steps -
    rows_of compare_sequence "$ranks"/rank[01].json.gz >rows
    [ "$(jq -c '[.[1:][].edit] | unique' rows)" = '["same"]' ]
    [ "$(jq -c '.[0] | [.kernels_a, .kernels_b]' rows)" = '[581,581]' ]
    [ "$(jq '[.[1:][].change_ns] | add' rows)" = "$(jq '.[0].change_ns' rows)" ]
}

@test "compare: why there are no kernels in their order" {
    why() { # text, arguments
        local text=$1
        shift
        [[ "$(rocstats compare -q --table compare_sequence "$@" 2>/dev/null)" == *": $text" ]] || fail "$text"
        [[ "$(rocstats compare -q --format json --table compare_sequence "$@" 2>/dev/null | jq -r .data.compare_sequence.note)" == "$text" ]] || fail "$text"
    }
    needs jq
    why 'B has no steps "optimizer.step ", as A has; --step-markers REGEX says which markers are steps' "$a" "$train".json
    why "B has no kernels" --step-markers nothing "$a" "$FIXTURES/empty-tables.db"
    why "A has no kernels" "$FIXTURES/empty-tables.db" "$a"
    rocstats baseline -o new.json "$a"
    jq -c 'del(.baselines[].order)' new.json >old.json
    why "the baseline is of an older rocline, and has no order of kernels" old.json "$b"
    jq -c '.baselines[].order |= {lacks: "fewer kernels"}' new.json >many.json
    why "A has more than 65536 kernels, and no steps; --step-markers REGEX says which markers are steps" many.json "$b"
    jq -c '.baselines[].order |= {lacks: "fewer steps"}' new.json >many.json
    why "more than 100000 markers of A are steps; --step-markers REGEX says which of them are" many.json "$b"
    # Without markers there are no steps: all kernels.
    [[ "$(rocstats compare --include kernel "$a" "$a")" == *"in their order: without steps, of all kernels: 39 of 39 and 39 "* ]]
    # Nothing of the kind without kernels.
    [[ "$(rocstats compare --exclude kernel "$a" "$b")" != *"in their order"* ]]
}

@test "compare: of a step with very many kernels the first ones are aligned, and all are counted" {
    needs jq
    step() { # kernels, every so many is left out
        awk -v n="$1" -v skip="$2" 'BEGIN {
            print "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#1\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":" n * 10 + 10 ",\"args\":{}}"
            for (i = 1; i <= n; i++)
                if (i % skip)
                    printf ",{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k%d\",\"pid\":0,\"tid\":0,\"ts\":%d,\"dur\":3,\"args\":{\"device\":0,\"stream\":0,\"correlation\":%d}}\n", i * i % 97, i * 10, i
            print "]}"
        }'
    }
    step 66000 100000 >a.json
    step 66000 1000 >b.json
    rows_of compare_sequence a.json b.json >rows
    [ "$(jq -c '.[0] | [.kernels_a, .kernels_b, .total_a_ns, .total_b_ns]' rows)" = "[66000,65934,$((66000 * 3000)),$((65934 * 3000))]" ]
    [ "$(jq -c '[.[1:] | (map(.kernels_a) | add), (map(.kernels_b) | add), (map(.change_ns) | add)]' rows)" = "[66000,65934,$((-66 * 3000))]" ]
    [ "$(jq -c '.[] | select(.edit == "not aligned") | [.kernels_a, .kernels_b, .total_b_ns]' rows)" = "[464,398,$((398 * 3000))]" ]
    # 65 are gone among the first 65536, which makes room for as many at the end.
    [ "$(jq '[.[] | select(.edit == "same").times] | add' rows)" -eq $((65536 - 65)) ]
    # A baseline has the same.
    rocstats baseline -o base.json a.json
    rows_of compare_sequence base.json b.json | diff rows -
}

@test "compare: very many streams: those from the 64th on are one" {
    needs jq
    awk 'BEGIN {
        print "{\"traceEvents\":["
        for (i = 0; i < 300; i++)
            printf "%s{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k%d\",\"pid\":0,\"tid\":0,\"ts\":%d,\"dur\":1,\"args\":{\"device\":0,\"stream\":%d,\"correlation\":%d}}\n",
                i ? "," : "", i % 7, i, i % 100, i + 1
        print "]}"
    }' >a.json
    rocstats baseline -o base.json a.json
    [ "$(jq '.baselines[0].order.lanes | length' base.json)" -eq 64 ]
    [ "$(jq '.baselines[0].order.kernels | [.[range(1; 900; 3)] | select(. == 63)] | length' base.json)" -eq $((3 * 37)) ]
    rows_of compare_sequence a.json a.json >rows
    [ "$(jq -c '[.[1:][] | .edit] | unique' rows)" = '["same"]' ]
    [ "$(jq -c '.[0] | [.kernels_a, .kernels_b, .change_ns]' rows)" = '[300,300,0]' ]
}

@test "compare: steps with other numbers are no new names for limits" {
    needs jq
    for rule in fail-over fail-over-total; do
        try 6 rocstats compare --$rule 1000 "$train".json "$train-after.json"
        says "the worst: KERNELS vectorized_elementwise_kernel"
        [[ "$stderr" != *MARKERS* ]]
        try 0 rocstats compare --$rule 1000 --name ProfilerStep --name Alik "$train".json "$train-after.json"
    done
    rocstats compare -q --format json --include kernel,marker --fail-over 5 "$train".json "$train-after.json" >out.json 2>/dev/null || true
    [ "$(jq -c '[.data.compare_limits.rows[] | select(.name | startswith("ProfilerStep")) | .verdict + ": " + (.reason // "")] | unique' out.json)" = \
        '["ignored: a step, of which A has others","ignored: it is not in B","passed: "]' ]
    # The same of several runs.
    rocstats compare -q --format json --include marker --fail-over 5 --a "$train".json --a "$train".json --b "$train-after.json" >out.json 2>/dev/null || true
    [ "$(jq -c '[.data.compare_limits.rows[] | select(.name == "ProfilerStep#3").reason]' out.json)" = '["a step, of which A has others"]' ]
}

@test "compare: tables as CSV: one, some or all of them" {
    try 0 rocstats compare --format csv "$a" "$b"
    [[ "${lines[0]}" == domain,name,status,* ]]
    default=$output
    [ "$(rocstats compare --format csv --table compare "$a" "$b")" = "$default" ]
    try 0 rocstats compare --format csv --table all "$a" "$b"
    [ "$(grep '^report,' <<<"$output" | wc -l)" -eq 7 ]
    [ "$(sed -n 's/^compare,//p' <<<"$output")" = "$(tail -n +2 <<<"$default")" ]
    [ "$(grep -v '^report,' <<<"$output" | cut -d, -f1 | uniq | tr '\n' ' ')" = \
        "compare_change  comparability  compare_causes  compare  compare_classes  compare_steps  compare_sequence " ]
    for table in compare_causes compare_sequence; do
        rocstats compare --format csv --table $table "$a" "$b" >one.csv
        sed -n "s/^$table,//p" <<<"$output" | diff <(tail -n +2 one.csv) -
    done
    [ "$(rocstats compare --format tsv --table compare_steps,compare_classes "$a" "$b" | grep -c '^report	')" -eq 2 ]
    rocstats steps --format csv --table step_kernels "$a" | tail -n +2 | diff - <(rocstats steps --table all --format csv "$a" | sed -n 's/^step_kernels,//p')
    # What is not there is told.
    try 0 rocstats compare --table step_kernels,compare_causes "$a" "$b"
    one_line rocstats
    says "there is no table step_kernels"
    [[ "$output" == "What the difference comes from"* ]]
    try 2 rocstats compare --table compare_caus "$a" "$b"
    says '"compare_caus" is not a table; did you mean compare_causes?'
    try 2 rocstats summary --style rocpd --table summary "$a"
    try 2 rocstats baseline -o x.json --table compare "$a"
}

@test "compare: a name cannot move the cursor" {
    cp "$a" b.db
    chmod u+w b.db
    s=$(suffix b.db)
    sqlite3 b.db "UPDATE \"rocpd_info_kernel_symbol$s\" SET display_name = 'x' || char(10, 27, 155)
        || 'Cijk_' || id WHERE display_name LIKE 'Cijk%'"
    try 6 rocstats compare --fail-over 5 --include kernel "$a" b.db
    one_line rocstats
    says "the worst: KERNELS x???Cijk_"
}

@test "compare: broken records of either are told, and are exit code 1" {
    nasty=$FIXTURES/nasty-3.0.5.db
    try 1 rocstats compare "$a" "$nasty"
    [ "$(wc -l <<<"$stderr")" = 2 ] # the other is about texts that are not UTF-8
    says "left out"
    try 1 rocstats compare "$nasty" "$a"
    [ "$(wc -l <<<"$stderr")" = 2 ] # the other is about texts that are not UTF-8
    try 3 rocstats compare --strict "$a" "$nasty"
    [ -z "$output" ]
    try 3 rocstats compare "$a" missing.db
    one_line rocstats
    try 3 rocstats compare missing.db "$a"
    one_line rocstats
}

@test "compare: empty traces" {
    empty=$FIXTURES/empty-tables.db
    try 0 rocstats compare "$empty" "$empty"
    [[ "$output" == *": nothing" ]]
    try 0 rocstats compare --format csv "$a" "$empty"
    [ "$(tail -n +2 <<<"$output" | grep -vc ',"removed",')" -eq 0 ]
}

@test "compare: usage errors" {
    while read -r text args; do
        # shellcheck disable=SC2086
        try 2 rocstats $args
        [[ "$stderr" == "rocstats: "*"Try 'rocstats --help'." ]] || fail "$args"
        says "${text//_/ }"
    done <<'END'
no_input_is_given compare
compare_takes_two_inputs compare x
compare_takes_two_inputs compare x y z
--fail-over_is_only_for_compare kernels --fail-over 5 x
--fail-over-total_is_only_for_compare kernels --fail-over-total 5 x
--fail-over-total:_"x"_is_not_a_percentage compare --fail-over-total x x y
--fail-over:_"x"_is_not_a_percentage compare --fail-over x x y
--fail-over:_"5m"_is_not_a_percentage compare --fail-over 5m x y
--fail-over:_"%"_is_not_a_percentage compare --fail-over % x y
--fail-over:_"1.2.3"_is_not_a_percentage compare --fail-over 1.2.3 x y
--fail-over:_"99999999999999"_is_not compare --fail-over 99999999999999 x y
cannot_be_used_with_--by_and_--sort compare --by-rank x y
cannot_be_used_with_--by_and_--sort compare --sort name x y
END
}

@test "compare: an output that is an input is refused; a file that is called compare" {
    cp "$a" compare
    cp "$b" other
    try 2 rocstats compare -o other compare other
    says "is an input"
    cmp other "$b"
    [ "$(rocstats kernels ./compare)" = "$(rocstats kernels "$a")" ]
    [ "$(rocstats compare --format csv compare other)" = "$(rocstats compare --format csv "$a" "$b")" ]
}

@test "compare and ranks: the output does not depend on -j, --reader and --memory" {
    for report in compare ranks; do
        rocstats $report --format json -j1 "$a" "$b" >one
        rocstats $report --format json -j4 "$a" "$b" | diff one -
        rocstats $report --format json -j2 --reader sqlite --memory 1m "$a" "$b" | diff one -
    done
}

@test "ranks: says who is the straggler, or that there is nothing to compare" {
    try 0 rocstats ranks "$a" "$b"
    [ "${lines[0]}" = "Late ranks: fewer than two ranks meet" ] || fail late
    [[ "${lines[1]}" == "Ranks: kernel time without communication max / mean = "*", the most in rank "? ]] || fail note
    [[ "${lines[2]}" == *" API time "*" Marker time  Communication" ]] || fail titles
    try 0 rocstats ranks "$a"
    [[ "${lines[1]}" == *"of one process only"* ]] || fail note
    try 0 rocstats ranks --include kernel "$a" "$b"
    [[ "$output" != *MARKERS* ]]
    try 0 rocstats ranks --format csv --table ranks "$TOP"/tests/fixtures/chrome/train[01].json
    [ "$(cut -d, -f1,5,9 <<<"$output" | xargs)" = "rank,kernels_ns,communication_ns 0,1995000,495000 1,1935000,315000" ]
}

ci=$SHARED/cases3/ci # before; after, in which one kernel takes 12 % longer; empty; nasty

@test "compare: a gate: what is tested, and which exit code says what" {
    [ -f "$ci/before.db" ] || skip "no $ci"
    # The kernel that is slower, and not the call that waits for it.
    try 6 rocstats compare --fail-over 5 "$ci/before.db" "$ci/after12.db"
    one_line rocstats
    says "1 name grew by more than 5 %; the worst: KERNELS spmv_csr_kernel"
    try 6 rocstats compare -q --fail-over 5 --include hip "$ci/before.db" "$ci/after12.db"
    says "the worst: HIP hipDeviceSynchronize grew by 9.9 % on average"
    try 0 rocstats compare --fail-over 12.5 --fail-over-total 12.5 "$ci/before.db" "$ci/after12.db"
    [ -z "$stderr" ]
    # New markers, and waits: no failure.
    rocstats compare -q --format json --fail-over 5 "$a" "$b" 2>/dev/null |
        jq -e '.data.compare_limits.rows | map(.domain) | unique == ["KERNELS"]' >/dev/null
    [ "$(rocstats compare -q --format json --fail-over 5 "$a" "$b" 2>/dev/null | jq -r '.data.compare_limits.rows[] |
        select(.name | startswith("nccl")) | .verdict + ": " + .reason')" = "ignored: communication: --include kernel tests it" ]
    # Nothing tested is no success.
    few 4 four.db slow4.db
    while read -r text args; do
        # shellcheck disable=SC2086
        try 3 rocstats compare $args
        says "nothing was tested: ${text//_/ }"
        [ -n "$output" ]
    done <<END
B_has_no_kernels_that_compute --fail-over 5 $ci/before.db $ci/empty.db
B_has_no_kernels_that_compute --fail-over-total 5 $ci/before.db $ci/empty.db
A_has_no_kernels_that_compute --fail-over 5 $ci/empty.db $ci/before.db
A_and_B_have_no_kernels_that_compute_(among --fail-over 5 --name nosuch $ci/before.db $ci/after12.db
A_and_B_have_no_events --fail-over 5 --include copy $ci/before.db $ci/after12.db
A_and_B_have_no_kernels_that_compute;_--include_names --fail-over 5 --exclude kernel $ci/before.db $ci/after12.db
all_names_are_ignored,_or_have_too_few_calls --fail-over 5 --name Cijk_Ailk four.db slow4.db
B_has_no_kernels_that_compute --fail-over 5 --a $ci/before.db --a $ci/before.db --b $ci/empty.db
END
    # Damaged records are 1, a limit is 6, also of damaged records.
    try 1 rocstats compare --fail-over 5 "$ci/nasty.db" "$ci/nasty.db"
    try 6 rocstats compare --fail-over 5 "$ci/before.db" "$ci/nasty.db"
    says "20 records left out"
    rocstats compare -q --format json --fail-over 5 "$ci/before.db" "$ci/nasty.db" >both.json 2>/dev/null || true
    jq -e '.exit_code == 6 and ([.errors[].code] == ["limit"]) and any(.warnings[]; .code == "partial")' both.json >/dev/null
    rocstats compare -q --format json --fail-over 5 "$ci/nasty.db" "$ci/nasty.db" >damage.json 2>/dev/null || true
    jq -e '.exit_code == 1 and .errors == []' damage.json >/dev/null
    rocline compare -q --format json -o none.json --fail-over 5 "$ci/before.db" "$ci/empty.db" 2>/dev/null || true
    jq -e '.exit_code == 3 and .errors[0].text == "nothing was tested: B has no kernels that compute" and
        .data.compare_limits.note == .errors[0].text' none.json >/dev/null
}

@test "compare: the change of the whole comes first, in all forms, and within noise or not" {
    [ -f "$ci/before.db" ] || skip "no $ci"
    needs jq
    sentence='B is 8.3 % slower: 17.3 ms -> 18.7 ms, wall time of the trace; largest cause: longer or shorter (other), 1.58 ms'
    try 0 rocstats compare "$ci/before.db" "$ci/after12.db"
    [ "${lines[0]}" = "Change: $sentence" ]
    [ "$(rocstats compare --format md "$ci/before.db" "$ci/after12.db" | head -1)" = "## ${sentence/>/\\>}" ]
    rocstats compare --format json "$ci/before.db" "$ci/after12.db" >out.json
    [ "$(jq -r '.data | keys_unsorted[0], .compare_change.note' out.json | xargs)" = "compare_change $sentence" ]
    # The numbers are those of the traces, to the nanosecond.
    jq -e '.data.compare_change.rows[0] as $c | $c.total_a_ns == .trace.totals.duration_ns and
        $c.total_b_ns == .trace_b.totals.duration_ns and $c.change_ns == $c.total_b_ns - $c.total_a_ns and
        ([.data.compare_causes.rows[1:][] | select(.change_ns > 0)][0] | [.cause, .change_ns, .most]) ==
            [$c.cause, $c.cause_change_ns, $c.most]' out.json >/dev/null
    rocstats compare --format json "$ci/before.db" "$ci/after12.db" | cmp out.json -
    rocline compare --format json "$ci/before.db" "$ci/after12.db" | cmp out.json -
    rocstats compare --format html "$ci/before.db" "$ci/after12.db" | grep -A1 '<section role="tabpanel" id="panel-overview"' |
        grep -qF "$(sed 's/>/\&gt;/' <<<"$sentence")"
    [[ "$(rocstats compare "$ci/after12.db" "$ci/before.db" | head -1)" == "Change: B is 7.7 % faster: 18.7 ms -> 17.3 ms, "*", -1.58 ms" ]]
    [[ "$(rocstats compare "$ci/before.db" "$ci/before.db" | head -1)" == "Change: B takes as long as A: 17.3 ms -> 17.3 ms, wall time of the trace" ]]
    [[ "$(rocstats compare -q "$ci/before.db" "$ci/empty.db" | head -1)" == "Change: nothing to compare, as B has no events" ]]
    # Several runs: their noise.
    [[ "$(rocstats compare --a "$ci/before.db" --a "$ci/after12.db" --b "$ci/after12.db" --b "$ci/after12.db" | head -1)" == \
        "Change: B is 4.0 % slower: 18.0 ms -> 18.7 ms, wall time of the trace, means of 2 and 2 runs, within the noise between runs (p = 0.5)" ]]
    [[ "$(rocstats compare --a "$ci/before.db" --a "$ci/before.db" --b "$ci/after12.db" --b "$ci/after12.db" | head -1)" == *"more than the noise between runs (p = 0); largest cause: KERNELS (other), 1.58 ms" ]]
    rocstats compare --format html --a "$ci/before.db" --a "$ci/before.db" --b "$ci/after12.db" --b "$ci/after12.db" | grep -q '<h1>From A to B</h1>'
}

# A copy of $a in which a slower kernel has a name of all that forms could take for their own.
hostile() { # file
    local s
    slower "$1"
    s=$(suffix "$1")
    sqlite3 "$1" "UPDATE \"rocpd_info_kernel_symbol$s\" SET display_name = 'Cijk_Ailk_Bljk_SB' || char(13, 10) ||
        '::error title=x::100%,|<b a=\"&\">]]>*_\`[x](y)\\' || char(27, 233, 128640) WHERE display_name LIKE 'Cijk_Ailk%'"
}

@test "compare: names of any kind are themselves again in every form: judged by other parsers" {
    needs python3 jq
    hostile b.db
    for format in junit json github md html; do
        GITHUB_STEP_SUMMARY=$PWD/summary.md rocstats compare -q --fail-over 50 --format $format "$a" b.db >out.$format 2>err.$format || [ $? -eq 6 ]
        [ "$(wc -l <err.$format)" = 1 ]
    done
    python3 - <<'END'
import html.parser, json, re, xml.etree.ElementTree as ET
o = json.load(open('out.json'))
name = next(r['name'] for r in o['data']['compare_limits']['rows'] if r['verdict'] == 'failed')
assert name.startswith('Cijk_Ailk_Bljk_SB\r\n::error title=x::100%,|<b a="&">]]>*_`[x](y)\\\x1b\u00e9\U0001f680'), name
printed = re.sub('[\x00-\x1f]', '?', name)

suite = ET.parse('out.junit').getroot().find('testsuite')
failed = [c for c in suite.iter('testcase') if c.find('failure') is not None]
assert [c.get('name') for c in failed] == [printed], [c.get('name') for c in failed]
assert {p.get('name') for p in suite.iter('property')} == {'trace_a.files', 'trace_a.left_out', 'trace_b.files', 'trace_b.left_out', 'change'}
assert next(p.get('value') for p in suite.iter('property') if p.get('name') == 'change') == o['data']['compare_change']['note']

# As the runner of GitHub reads a line: "::command property=value,...::data".
commands = []
for line in open('out.github', newline='\n', encoding='utf-8').read().splitlines():
    command, properties, data = re.fullmatch(r'::(\w+) ([^:]*)::(.*)', line).groups()
    properties = dict(p.split('=', 1) for p in properties.split(','))
    def unescape(s, more):
        for code, c in [('%0D', '\r'), ('%0A', '\n')] + more + [('%25', '%')]:
            s = s.replace(code, c)
        return s
    commands.append((command, unescape(properties['title'], [('%3A', ':'), ('%2C', ',')]), unescape(data, [])))
assert commands[0] == ('notice', 'From A to B', o['data']['compare_change']['note']), commands[0]
errors = [c for c in commands if c[0] == 'error']
assert errors[0][1] == 'KERNELS ' + name.replace('\x1b', '?'), errors[0]
assert errors[0][2].startswith('average, limit 50.00 %: it is new; 0 ns -> 167 us'), errors[0]
assert errors[1][1:] == ('Limits', o['data']['compare_limits']['note'])

# Markdown: a backslash before all punctuation of the name that is markup, and as many cells in each row.
for file in 'out.md', 'summary.md':
    table = 0
    for line in open(file, encoding='utf-8').read().split('\n'):
        if not line.startswith('|'):
            table = 0
            continue
        cells = len(re.split(r'(?<!\\)(?:\\\\)*\|', line))
        assert table in (0, cells), (file, line)
        table = cells
        assert not re.search(r'(?<!\\)[<`\[]', line.replace('\\\\', '')), (file, line)
    assert 'Cijk\\_Ailk' in open(file).read() or 'Cijk_Ailk' in open(file).read()

class Page(html.parser.HTMLParser):
    cells, b = [], 0
    def handle_data(self, data): self.cells.append(data)
    def handle_starttag(self, tag, attributes): self.b += tag == 'b' and attributes != []
page = Page()
page.feed(open('out.html', encoding='utf-8').read())
assert printed in page.cells and not page.b
END
    # Nothing else than commands is on standard output, and no line of standard error begins with one.
    run ! grep -v '^::' out.github
    run ! grep -h '^::' err.*
}

@test "compare: --format github: a summary is added to the file, only there, and only for compare" {
    needs python3
    hostile b.db
    echo before >summary.md
    export GITHUB_STEP_SUMMARY=$PWD/summary.md
    try 0 rocstats compare --format github "$a" "$b"
    [[ "$output" == "::notice title=From A to B::B is "*" faster: "*"wall time of the trace"* ]]
    [ "$(head -1 summary.md)" = before ]
    grep -q '^## B is ' summary.md
    [ "$(grep -c '^## ' summary.md)" = 7 ]
    cp summary.md one.md
    try 6 rocstats compare -q --fail-over 5 --format github "$a" b.db
    cmp -n "$(wc -c <one.md)" one.md summary.md
    grep -q '^\*\*Failed\*\*: 1 failed' summary.md
    try 0 rocstats compare "$a" "$b"
    try 2 rocstats kernels --format github "$a"
    says "--format github is only for compare"
    GITHUB_STEP_SUMMARY=missing/x.md try 4 rocstats compare --format github "$a" "$b"
    one_line rocstats
    unset GITHUB_STEP_SUMMARY
    try 0 rocstats compare --format github "$a" "$b"
}

@test "compare: the workflow of examples/github" {
    needs python3
    python3 -c 'import yaml' || skip "no module yaml"
    python3 - "$TOP/examples/github/compare.yml" <<'END'
import sys, yaml
flow = yaml.safe_load(open(sys.argv[1]))
job = flow['jobs']['compare']
open('env.sh', 'w').write(''.join("export %s='%s'\n" % e for e in job['env'].items()))
for step in job['steps']:
    assert set(step) <= {'name', 'uses', 'with', 'if', 'run'} and ('uses' in step) != ('run' in step), step
    if 'run' in step:
        open(step['name'].split()[0] + '.sh', 'w').write(step['run'])
END
    . ./env.sh
    # What rocprofv3 would do is a copy.
    mkdir bin
    printf '#!/bin/sh\nmkdir -p runs && cp "$TRACE" "runs/$7_results.db"\n' >bin/rocprofv3
    chmod +x bin/rocprofv3
    export PATH=$PWD/bin:$PATH TRACE=$a
    bash -e ./Trace.sh
    [ "$(echo runs/*)" = "runs/1_results.db runs/2_results.db runs/3_results.db" ]
    try 0 bash -e ./Compare.sh
    [[ "$output" == "::notice title=GPU time::there is no baseline yet"* ]]
    bash -e ./Write.sh
    try 0 bash -e ./Compare.sh
    [[ "$output" == *"::B takes as long as A: "* ]]
    slower b.db
    TRACE=b.db bash -e ./Trace.sh
    try 6 bash -e ./Compare.sh
    [[ "$output" == *"::error title=KERNELS Cijk_Ailk"*"average grew by 100.00 %25"* ]]
    TRACE=$FIXTURES/empty-tables.db bash -e ./Trace.sh
    try 3 bash -e ./Compare.sh
    [[ "$output" == *"::error title=Limits::nothing was tested: B has no kernels that compute"* ]]
}
