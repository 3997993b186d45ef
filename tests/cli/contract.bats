#!/usr/bin/env bats
# The contract for programs: the envelope of every command's JSON, its schema, ids of events,
# budgets, recipes.

load helper

db=$FIXTURES/everything.db

# Is there a validator of JSON Schema?
validator() {
    python3 -c 'import jsonschema; jsonschema.Draft7Validator' 2>/dev/null
}

valid() { # command, file...
    local command=$1
    shift
    rocline schema "$command" >schema.json
    python3 -W ignore - "$@" <<'PY'
import json, sys, jsonschema
# Debian 12 has drafts up to 7 at least: what is used of 2020-12 means the same there.
schema = json.load(open("schema.json"))
v = getattr(jsonschema, "Draft202012Validator", jsonschema.Draft7Validator)(schema)
bad = 0
for name in sys.argv[1:]:
    for e in v.iter_errors(json.load(open(name))):
        print(name, list(e.path), e.message[:200])
        bad += 1
sys.exit(bad > 0)
PY
}

envelope='(keys_unsorted | sort) == (["command","data","errors","exit_code","rocline","schema","trace"] +
    if .command == "compare" then ["trace_b"] else [] end + ["warnings"])
    and .schema == 1 and (.warnings | type) == "array" and (.errors | type) == "array"
    and ([.warnings[], .errors[] | keys == ["code","file","place","text"]] | all)'

@test "every command answers in the envelope, and says what it read" {
    id=$(rocline stats kernels --ids --format json "$db" | jq -r '.data.kernels.rows[0].longest_id')
    while read -r command; do
        # shellcheck disable=SC2086
        rocline $command --format json >out.json 2>/dev/null || [ $? -eq 1 ]
        jq -e "$envelope" out.json >/dev/null || fail "$command: no envelope"
        jq -e --arg c "${command%% *}" '.command == $c and (.data | type) == "object"' out.json >/dev/null
        [ "${command%% *}" = recipes ] && continue
        jq -e --arg f "$db" '.trace.files[0].path == $f and .trace.totals.gpus > 0' out.json >/dev/null
    done <<EOF
stats $db
stats all $db
compare $db $db
show $id $db
correlate $id $db
recipes
EOF
}

@test "events and the time range of the trace are those that were read" {
    rocline stats all --format json "$db" >out.json || [ $? -eq 1 ]
    jq -e '.trace | .totals.events == ([.kinds[].events] | add)' out.json
    jq -e '.trace.totals | .first_ns < .last_ns and .duration_ns == .last_ns - .first_ns' out.json
    [ "$(jq '.trace.kinds[] | select(.kind == "kernel") | .events' out.json)" -eq "$(
        rocstats --table domains --format json "$db" 2>/dev/null | jq '.tables[0].rows[] | select(.name == "KERNELS") | .calls')" ]
}

@test "answers are valid by the schemas of their commands" {
    validator || skip "no python3-jsonschema"
    n=0
    for file in "$db" "$FIXTURES"/{graph,nasty-3.0.5,nasty-sys,sampled,spm,rename,rank0}.db; do
        n=$((n + 1))
        rocline stats all --format json "$file" >"stats$n.json" 2>/dev/null || [ $? -eq 1 ]
        rocline stats all --by-rank --by-agent --by-stream --by-dims --ids --by-marker --top 2 \
            --budget 3000 --format json "$file" >"stats-by$n.json" 2>/dev/null || [ $? -eq 1 ]
    done
    valid stats stats*.json
    rocline compare --format json "$FIXTURES/rank0.db" "$FIXTURES/rank1.db" >compare.json
    valid compare compare.json
    for id in kernel:1 copy:1 region:1 alloc:1; do
        rocline show $id --format json "$db" >"show-${id%:*}.json" 2>/dev/null || true
        rocline correlate $id --format json "$db" >"correlate-${id%:*}.json" 2>/dev/null || true
    done
    valid show show-*.json
    valid correlate correlate-*.json
    rocline recipes --format json >recipes.json
    valid recipes recipes.json
    rocline check --format json "$db" missing.db "$FIXTURES/nasty-3.0.5.db" >check.json && false
    jq -e '.exit_code == 3 and (.errors | length) == 1 and .errors[0].file == "missing.db" and
        (.data.inputs.rows | length) == 3 and (.data.faults.rows | length) > 0' check.json
    valid check check.json
    rocline rpt -o rpt.txt --format json "$FIXTURES/rank0.db" >rpt.json
    valid rpt rpt.json
    try 3 rocline stats --format json missing.db
    printf %s "$output" >error.json
    valid stats error.json
}

@test "a schema is one for every command that is listed, and of the common part" {
    # Of one that does not exist as well.
    try 2 rocline stast --format json
    echo "$output" | jq -e "$envelope"' and .errors[0].code == "usage"' >/dev/null
    for command in stats compare show correlate recipes; do
        rocline schema $command | jq -e --arg c $command '.properties.command.const == $c and
            (.properties.data.properties | length) > 0' >/dev/null
    done
    rocline schema | jq -e '."$schema" == "https://json-schema.org/draft/2020-12/schema" and
        (.required | length) == 8' >/dev/null
    diff <(rocline schema doctor) <(rocline schema stats)
    try 2 rocline schema stast
    says 'did you mean stats?'
}

# What jq can check of a schema without a validator: all that is there is named in it.
@test "every table and column of the answers is in the schema" {
    rocline schema stats >schema.json
    rocline stats all --by-stream --by-rank --ids --format json "$db" >out.json 2>/dev/null || [ $? -eq 1 ]
    jq -e --slurpfile s schema.json '[.data | to_entries[] | .key as $t | .value.columns[].key |
        . as $c | $s[0].properties.data.properties[$t].properties.rows.items.properties | has($c)] | all' out.json
}

@test "errors are in the envelope, with their file and the exit code" {
    try 3 rocline stats --format json missing.db
    echo "$output" | jq -e '.data == null and .exit_code == 3 and .errors[0].code == "input" and
        .errors[0].file == "missing.db"'
    says 'missing.db: no such file'
    try 2 rocline stats --format json --nonsense "$db"
    echo "$output" | jq -e '.exit_code == 2 and .errors[0].code == "usage"'
    try 2 rocline show --format json kernel:99999999 "$db"
    echo "$output" | jq -e '.errors[0].text | contains("no such event")'
    try 1 rocline stats --format json "$FIXTURES/nasty-3.0.5.db"
    echo "$output" | jq -e '.exit_code == 1 and any(.warnings[]; .code == "partial") and .trace.totals.left_out > 0'
    # Help is help.
    try 0 rocline stats --format json --help
    [[ "$output" == "Usage: "* ]]
}

@test "an output that fails leaves the file as it was" {
    echo before >out.json
    rocline stats --format json -o out.json missing.db >errors.json 2>/dev/null && false
    [ "$(cat out.json)" = before ]
    jq -e '.errors | length == 1' errors.json
    rocline stats --format json -o out.json "$db" 2>/dev/null || [ $? -eq 1 ]
    jq -e "$envelope" out.json
}

@test "the JSON of rocstats stays what it was" {
    rocstats kernels --format json "$db" 2>/dev/null | jq -e 'keys == ["rocline", "tables", "trace"]'
    diff <(rocstats kernels --ids --format json "$db" 2>/dev/null | jq -S '.tables[0]') \
        <(rocline stats kernels --ids --format json "$db" 2>/dev/null | jq -S .data.kernels)
}

@test "ids in reports are of events that show finds" {
    rocline stats kernels summary gaps launch --ids --format json "$db" 2>/dev/null >out.json || [ $? -eq 1 ]
    jq -r '.data[].rows[] | .longest_id, .before_id, .after_id, .id | values' out.json | sort -u | head -40 >ids
    [ "$(wc -l <ids)" -gt 10 ]
    while read -r id; do
        rocline show "$id" --format json "$db" 2>/dev/null >show.json || [ $? -eq 1 ]
        jq -e --arg id "$id" '.data.event.rows[0].id == $id' show.json >/dev/null || fail "$id"
    done <ids
    # The longest is as long as the report says.
    jq -r '.data.kernels.rows[] | "\(.longest_id) \(.max_ns)"' out.json | while read -r id max; do
        [ "$(rocline show "$id" --format json "$db" 2>/dev/null | jq '.data.event.rows[0].duration_ns')" -eq "$max" ]
    done
}

@test "ids: beginnings of a GUID, several processes, wrong ones" {
    files=("$FIXTURES"/rank0.db "$FIXTURES"/rank1.db)
    ids=$(rocline stats kernels --by-rank --ids --format json "${files[@]}" | jq -r '.data.kernels.rows[].longest_id')
    for id in $ids; do
        try 0 rocline show "$id" "${files[@]}"
        [[ "$output" == *"$id"* ]]
    done
    try 2 rocline show kernel:1 "${files[@]}"
    says 'of which process?'
    try 2 rocline show kernel:zz:1 "${files[@]}"
    says 'no process of this trace is called zz; an id is of the file that it was taken from'
    # Ids of a database that was copied stay; of one that was written from its events they do not.
    rocmerge -q -o copy.db "$db"
    rocmerge -q --rebuild -o new.db "$db"
    diff <(rocline show kernel:3 "$db" | grep -v '  File ') <(rocline show kernel:3 copy.db | grep -v '  File ')
    try 2 rocline show kernel:99999999 new.db
    says 'not of its conversions'
    try 2 rocline show kernle:1 "$db"
    says 'did you mean kernel?'
    try 2 rocline show "$db"
    says 'no id is given'
    # The same from any input format.
    rocpd2pftrace -q -o t.pftrace "$db" || [ $? -eq 1 ]
    id=$(rocline stats kernels --ids --format json t.pftrace 2>/dev/null | jq -r '.data.kernels.rows[0].longest_id')
    run rocline show "$id" t.pftrace
    [[ "$output" == *"Relation"* ]]
}

@test "show and correlate for people and for programs" {
    for format in text md csv tsv json; do
        rocline show kernel:1 --format $format "$db" >"out.$format" 2>/dev/null || [ $? -eq 1 ]
        [ -s "out.$format" ]
    done
    grep -q '^| Id | kernel:' out.md
    rocline correlate kernel:1 "$db" 2>/dev/null | grep -q '^  this '
}

@test "budgets hold, and sums stay" {
    rocline stats all --format json "$db" >all.json 2>/dev/null || [ $? -eq 1 ]
    for n in 1000 2000 5000 20000; do
        for format in json md; do
            rocline stats all --budget $n --format $format "$db" >out 2>/dev/null || [ $? -eq 1 ]
            [ "$(wc -c <out)" -le $((4 * n)) ] || fail "$format: $(wc -c <out) bytes for $n tokens"
            [ $format = md ] && continue
            jq -e --slurpfile all all.json '[.data | to_entries[] | .key as $t |
                ["calls", "total_ns", "count"][] as $c |
                select($t != "histogram" and $t != "leaks" and ($t | startswith("attribution") | not) and (.value.rows[0] | has($c))?) |
                {t: $t, a: ([.value.rows[][$c] | numbers] | add), b: ([$all[0].data[$t].rows[][$c] | numbers] | add)} |
                select(.a != .b)] | . == []' out >/dev/null || fail "$n: other sums"
        done
    done
    try 2 rocline stats --budget 1000 "$db"
    says '--budget is only for'
    # A budget that nothing fits is said.
    rocline stats kernels --budget 10 --format json "$db" 2>/dev/null | jq -e '[.warnings[].text] | any(contains("--budget"))'
}

@test "a budget keeps what to look at, then the first rows of all tables, then tables from the first on" {
    local file least n tables last
    while read -r file least; do
        file=$FIXTURES/$file
        rocline stats --format json "$file" >all.json 2>/dev/null
        last=0
        for n in 300 350 400 450 500 600 700 800 1000 1200 1500 2000 2500 3000 3500 4000 4500 5000 6000 8000 12000 20000; do
            rocline stats --budget $n --format json "$file" >out.json 2>/dev/null
            cmp out.json <(rocline stats --budget $n --format json "$file" 2>/dev/null)
            jq -e --slurpfile all all.json --argjson whole "$((n >= least))" '
                .data as $d | $all[0].data as $a |
                (if $whole == 1 or ($d | length) > 1 then $d.findings == $a.findings else true end) and
                ([$d | to_entries[] | .value.rows[0] == $a[.key].rows[0]] | all)' out.json >/dev/null || fail "$file, $n: rows"
            [ "$n" -lt "$least" ] || [ "$(wc -c <out.json)" -le $((4 * n)) ] || fail "$file, $n: $(wc -c <out.json) bytes"
            tables=$(jq '.data | length' out.json)
            [ "$tables" -ge "$last" ] || fail "$file, $n: $tables tables, with less $last"
            last=$tables
        done
        [ "$last" -eq "$(jq '.data | length' all.json)" ] || fail "$file: $last tables"
    done <<'END'
everything.db 1200
rank0.db 800
findings/host-bound.before.json 1000
findings/idle-gpu.before.json 700
END
    # Numbers of rows differ little, except of tables that have no more.
    rocline stats --format json "$FIXTURES/everything.db" >all.json 2>/dev/null
    rocline stats --budget 4500 --format json "$FIXTURES/everything.db" 2>/dev/null | jq -e --slurpfile all all.json '
        [.data | to_entries[] | select((.value.rows | length) < ($all[0].data[.key].rows | length)) | .value.rows | length] |
        length > 4 and max - min <= 3' >/dev/null
}

@test "every recipe runs" {
    rocline recipes --format json | jq -r '.data.recipes.rows[].command' >commands
    [ "$(wc -l <commands)" -ge 12 ]
    cp "$FIXTURES/rank0.db" A
    cp "$FIXTURES/rank1.db" B
    while read -r command; do
        bash -c "${command//FILE/A B}" >out 2>err || [ $? -eq 1 ] || fail "$command: $(cat err)"
        [ -s out ] || fail "$command"
        grep -q 'nothing$' out && [ "$(grep -c . out)" -lt 2 ] && fail "$command: nothing"
        true
    done <commands
    rocline recipes | grep -q '^ *[0-9]*\. Which kernels take the time? (time)$'
}

@test "every option of these commands is in rocline-show(1), or in rocline(7)" {
    for command in show correlate recipes schema; do
        rocline $command --help=all | sed -n 's/^  *\(-[A-Za-z], \)\{0,1\}--\([a-z-]*\).*/\2/p'
    done | sort -u >options
    [ "$(wc -l <options)" -gt 10 ]
    while read -r option; do
        grep -q "^\.It.*Fl Fl $option" "$BUILD"/man/rocline-show.1 "$BUILD"/man/rocline.7 || fail "--$option"
    done <options
}

@test "commands that write files say in the envelope what they have written" {
    while read -r command; do
        # shellcheck disable=SC2086
        try 0 rocline $command --format json "$FIXTURES/schema-3.0.0.db"
        echo "$output" | jq -e "$envelope"' and .exit_code == 0 and (.data.outputs | length > 0) and
            all(.data.outputs[]; .files > 0 and .bytes > 0) and .trace.totals.files == 1' >/dev/null ||
            fail "$command"
    done <<EOF
csv -d out -o t
pftrace -o t.pftrace
json -o t.json
merge -o t.db
export -o t
EOF
    cmp <(rocpd2pftrace -q -o - "$FIXTURES/schema-3.0.0.db") t.pftrace
    try 2 rocline pftrace -o - --format json "$FIXTURES/schema-3.0.0.db"
    echo "$output" | jq -e '.errors[0].text | contains("standard output is for the answer")' >/dev/null
    try 3 rocline csv -d out --format=json missing.db
    echo "$output" | jq -e '.errors[0].file == "missing.db" and .data == null' >/dev/null
    # What belongs to a program that is run is not touched.
    try 0 rocline record -o r -- echo --format json
    [ "$output" = "--format json" ]
}

@test "query answers in the envelope, within its budget" {
    sql="SELECT name, start, duration FROM kernel; SELECT 1 AS a, 'x\"y' AS b, NULL AS c"
    rocline query --format json "$sql" "$db" >q.json
    jq -e "$envelope"' and (.data.results | length) == 2 and .data.results[1].rows == [[1, "x\"y", null]]
        and (.data.results[0].rows | length) > 10 and .data.results[0].left_out == 0' q.json
    if validator; then valid query q.json; fi
    n=$(jq '.data.results[0].rows | length' q.json)
    rocline query -f json --budget 600 "SELECT name, start, duration FROM kernel" "$db" >q.json
    [ "$(wc -c <q.json)" -le 2400 ]
    jq -e --argjson n "$n" '.data.results[0] | .left_out > 0 and (.rows | length) + .left_out == $n' q.json
    rocline query -f md --budget 100 "SELECT name, start, duration FROM kernel" "$db" >q.md
    [ "$(wc -c <q.md)" -le 400 ]
    grep -q '^[0-9]* more rows$' q.md
    run rocline query --format json "SELECT nonsense FROM kernel" "$db"
    [ "$status" -gt 1 ]
    # Lines of objects have no envelope.
    rocline query -f jsonl "SELECT 1 AS a" "$db" | jq -e '. == {a: 1}'
}
