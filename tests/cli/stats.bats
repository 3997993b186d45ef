#!/usr/bin/env bats
# rocstats: its command line and the forms of its output. What the numbers are is tested elsewhere.

load helper

requires() {
    needs "$FIXTURES/schema-3.0.0.db"
}

db=$FIXTURES/schema-3.0.0.db
reports=(summary kernels copies overlap gaps launch streams memory markers steps ranks counters
    roofline attribution critical-path doctor)

keys() { # argument of rocstats...
    rocstats --format json "$@" | jq -r '.tables[].key' | sort -u | xargs
}

@test "no report: the overview, on standard output" {
    try 0 rocstats "$db"
    [ -z "$stderr" ]
    [ -n "$output" ]
    overview=$(keys "$db")
    [ "$overview" = "communication concurrency copies copy_sizes domains findings gap_buckets gap_classes gaps kernels longest_gaps overlap rules" ] || fail "$overview"
    # First what was found, then where the time of each GPU went; its shares are 100 % in all.
    [ "$(rocstats --format json "$db" | jq -r '.tables[:2][].key' | xargs)" = "findings overlap" ]
    rocstats --table overlap --format json "$db" | jq -e '.tables[0].rows | length == 4 and all(
        .compute_percent + .exposed_communication_percent + .exposed_copy_percent + .idle_percent - 100 | . * . < 1e-12)'
    # Host times are in no sum with those of GPUs.
    rocstats --table domains --format json "$db" | jq -e '.tables[0].rows |
        (map(.percent // 0) | add - 100 | . * . < 1e-12) and (map(select(.percent == null).name) == ["MARKERS", "HIP", "HSA", "MEMORY_ALLOCATIONS"])'
}

@test "reports are named by the words before the first file, in any order" {
    for report in "${reports[@]}"; do
        try 0 rocstats "$report" "$db"
        [ -n "$output" ]
        table=${report/-/_}
        [[ " $(keys "$report" "$db") " == *" $table "* ]] || fail "$report"
    done
    [ "$(rocstats kernels copies "$db")" = "$(rocstats copies kernels kernels "$db")" ]
    [ "$(keys all "$db")" = "$(keys --findings "${reports[@]}" "$db")" ]
    [ "$(rocstats kernels -i "$db")" = "$(rocstats -i "$db" kernels)" ]
}

@test "old names of reports, and names of tables, are answered with the report that has the table" {
    for word in domains classes histogram timeline occupancy collectives queues graphs sequences samples; do
        try 2 rocstats "$word" "$db"
        says "\"$word\" is a table of the report "
        report=$(sed -n 's/.*of the report \([a-z-]*\): .*/\1/p' <<<"$stderr")
        try 0 rocstats "$report" --table "$word" --format csv -q "$db"
        [ "$output" = "$(rocstats --table "$word" --format csv -q "$db")" ] || fail "$word"
    done
    try 2 rocstats findings "$db"
    says '"findings" is a table, not a report: --table findings prints it'
    try 2 rocstats --table gap_bucket "$db"
    says '"gap_bucket" is not a table; did you mean gap_buckets?'
}

@test "CSV and TSV of a report hold the table of its name, and all on request" {
    needs jq
    for format in csv tsv; do
        [ "$(rocstats kernels --format $format "$db" | head -1 | tr '\t' ,)" = "$(rocstats --table kernels --format csv "$db" | head -1)" ]
        [ "$(rocstats kernels --table all --format $format "$db" | grep -c '^report')" -eq 3 ]
        [ "$(rocstats critical-path --format $format "$db" | head -1 | cut -c-5)" = class ]
    done
    [ "$(rocstats all --format csv "$db" | grep -c '^report')" -eq "$(rocstats all --format json "$db" | jq '.tables | length')" ]
}

@test "a file that is called like a report" {
    cp "$db" kernels
    cp "$db" all
    plain=$(rocstats copies "$db")
    [ "$(rocstats copies ./kernels)" = "$plain" ]
    [ "$(rocstats copies -i kernels)" = "$plain" ]
    [ "$(rocstats copies --input=all)" = "$plain" ]
    # After a file there are only files.
    [ "$(rocstats copies "$db" kernels)" = "$(rocstats copies "$db" ./kernels)" ]
    try 2 rocstats kernels
    says "no input is given"
    [ "$(rocstats copies -- ./all)" = "$plain" ]
}

@test "usage errors" {
    while read -r text args; do
        # shellcheck disable=SC2086
        try 2 rocstats $args
        [[ "$stderr" == "rocstats: "*"Try 'rocstats --help'." ]] || fail "$args"
        says "${text//_/ }"
    done <<'END'
no_input_is_given kernels summary
no_input_is_given --top 3
--format:_"xml"_is_not_one_of_text|csv|tsv|json|md --format xml x
--sort:_"size"_is_not_one_of_total|calls|average|max|name --sort size x
--top:_"-1"_is_not_a_number --top -1 x
--top:_"x"_is_not_a_number --top x x
--slices:_"0"_is_not_a_number --slices 0 x
--slices:_"100001"_is_not_a_number --slices 100001 x
--min-gap:_"5x"_is_not_a_duration --min-gap 5x x
--min-gap:_""_is_not_a_duration --min-gap= x
--min-gap:_"-5"_is_not_a_duration --min-gap -5 x
--min-gap:_"5w"_is_not_a_duration --min-gap 5w x
--min-gap:_"."_is_not_a_duration --min-gap . x
--min-gap:_"9223372036854775808"_is_not --min-gap 9223372036854775808 x
--min-gap:_"99999999999999999999999"_is_not --min-gap 99999999999999999999999 x
--min-gap:_"9999999999s"_is_not --min-gap 9999999999s x
END
}

@test "--min-gap takes what --min-duration takes" {
    for time in 0 5 5ns 1.5us .5ms 2s 1m 9223372036854775807 "' 5us '"; do
        run --separate-stderr bash -c "rocstats gaps --min-gap $time --min-duration $time '$db'"
        [ "$status" -eq 0 ] || fail "$time"
    done
    [ "$(rocstats gaps --min-gap 1.5us "$db")" = "$(rocstats gaps --min-gap 1500 "$db")" ]
}

@test "exit codes and the line about broken records are those of the converters" {
    try 3 rocstats missing.db
    one_line rocstats
    nasty=$FIXTURES/nasty-3.0.5.db
    try 1 rocstats "$nasty"
    [ "$(wc -l <<<"$stderr")" = 3 ] # the others are about texts that are not UTF-8, and a sum that is too large
    says "records left out: "
    [ -n "$output" ]
    try 1 rocstats -q "$nasty"
    [ -z "$stderr" ]
    try 3 rocstats --strict "$nasty"
    [ -z "$output" ]
    run bash -c "rocstats '$db' > /dev/full"
    [ "$status" -eq 4 ]
    try 4 rocstats -o no/such/folder/x "$db"
    run bash -c "set -o pipefail; rocstats all --format json '$db' | true; exit \${PIPESTATUS[0]}"
    [[ "$status" -eq 0 || "$status" -eq 4 ]]
    [ -z "$output" ]
}

@test "-o: a file that appears when it is complete" {
    try 0 rocstats all -o out.txt "$db"
    silent
    rocstats all "$db" | diff - out.txt
    rocstats all -o - "$db" | diff - out.txt
    try 3 rocstats -o none.txt missing.db
    [ ! -e none.txt ]
}

@test "JSON: one object, rows have every column" {
    needs jq
    rocstats all --format json "$db" >all.json
    jq -e '.rocline | test("^[0-9.]+$")' all.json
    jq -e '.tables | length > 0' all.json
    jq -e '.tables | all(has("key") and has("title") and has("note"))' all.json
    jq -e '[.tables[] | (.columns | map(.key)) as $keys | .rows[] | keys_unsorted == $keys] | all' \
        all.json
    jq -e '[.tables[] | .columns | map(.key) | (unique | length) == length] | all' all.json
    units='["bytes", "bytes/s", "count", "joules", "ns", "number", "percent", "text"]'
    jq -e "[.tables[].columns[].unit] | unique - $units | length == 0" all.json
    # Text is text or missing, numbers are numbers or missing.
    jq -e '[.tables[] | .columns[] as $c | .rows[][$c.key] |
        if . == null then true elif $c.unit == "text" then type == "string"
        else type == "number" end] | all' all.json
}

@test "CSV and TSV hold the same as JSON" {
    needs jq sqlite3
    for report in "${reports[@]}"; do
        rocstats --table "${report/-/_}" --format json "$db" >r.json
        rocstats "$report" --format csv "$db" >r.csv
        rocstats "$report" --format tsv "$db" >r.tsv
        head -1 r.csv | diff - <(jq -r '.tables[0].columns | map(.key) | join(",")' r.json)
        tr '\t' , <r.tsv | head -1 | diff - <(head -1 r.csv)
        tail -n +2 r.tsv | diff - <(jq -r '.tables[0] | (.columns | map(.key)) as $k | .rows[] |
            [.[$k[]]] | map(. // "" | tostring) | join("\t")' r.json) || fail "$report"
        sqlite3 :memory: -cmd '.mode csv' -cmd '.import r.csv t' 'SELECT count(*) FROM t' |
            diff - <(jq '.tables[0].rows | length' r.json)
    done
}

@test "CSV of several tables: a column says which, an empty line is between them" {
    rocstats kernels copies --format csv "$db" >two.csv
    [ "$(grep -c '^report,' two.csv)" -ge 2 ]
    [ "$(grep -c '^$' two.csv)" -eq $(($(grep -c '^report,' two.csv) - 1)) ]
    grep '^kernels,' two.csv | cut -d, -f2- |
        diff - <(rocstats kernels --format csv "$db" | tail -n +2)
}

@test "Markdown: every row of a table has as many cells as its header" {
    rocstats all --format md "$db" >all.md
    grep -q '^## ' all.md
    sed 's/\\|//g' all.md |
        awk -F '|' '/^\|/ { if (!n) n = NF; if (NF != n) exit 1 } !/^\|/ { n = 0 }'
}

@test "--top: so many rows, and one for the others; other formats have all" {
    needs jq
    all=$(rocstats kernels --format json "$db" | jq '.tables[0].rows | length')
    [ "$all" -gt 2 ] || skip "too few kernels"
    [ "$(rocstats kernels --top 2 --format json "$db" | jq '.tables[0].rows | length')" -eq 3 ]
    [ "$(rocstats kernels --top 0 --format json "$db" | jq '.tables[0].rows | length')" -eq "$all" ]
    [ "$(rocstats --table kernels --top 0 "$db" | wc -l)" -eq $((all + 2)) ]
}

@test "--top: what lists the longest has 20 rows at most, as --help says" {
    needs jq "$FIXTURES/rank0.db"
    rows() { rocstats launch -q --top "$1" --format json "$FIXTURES/rank0.db" |
        jq '.tables[] | select(.key == "launch_delays").rows | length'; }
    [ "$(rows 2) $(rows 0) $(rows 1000)" = "2 20 20" ]
    [[ "$(rocstats --help=all | tr -s ' \n' ' ')" == *"0 prints all, but only 20 in tables of the longest"* ]]
}

@test "launch: kernels whose call is left out are counted, markers: they need calls" {
    needs jq
    kernels=$(rocstats kernels --format json "$db" | jq '[.tables[0].rows[].calls] | add')
    rocstats launch --format json "$db" >all.json
    [ "$(jq '[.tables[0].rows[].launches] | add' all.json)" -eq "$kernels" ]
    [[ "$(jq -r '.tables[0].note' all.json)" != *"not in the trace"* ]]
    rocstats launch --exclude region --format json "$db" >none.json
    [ "$(jq '[.tables[0].rows[].launches] | add' none.json)" -eq "$kernels" ]
    [[ "$(jq -r '.tables[0].note' none.json)" == *" of $kernels kernels are not in the trace" ]]
    [ "$(jq '.tables[1].rows | length' none.json)" -eq 0 ]
    rocstats markers --format json "$db" >all.json
    [ "$(jq '[.tables[0].rows[].kernels] | add' all.json)" -gt 0 ]
    rocstats markers --exclude region --format json "$db" >none.json
    [ "$(jq '[.tables[0].rows[].kernels] | add' none.json)" -eq 0 ]
    diff <(jq '.tables[0].rows | map(.total_ns)' all.json) \
        <(jq '.tables[0].rows | map(.exposed_ns)' none.json)
}

@test "text has no trailing blanks; without a terminal names are whole" {
    rocstats all "$db" >all.txt
    run ! grep -q ' $' all.txt
    run ! grep -q $'\033' all.txt
}

@test "on a terminal rows are cut to its width" {
    needs_terminal
    script -qec "stty cols 60; rocstats kernels --kernel-names display '$db'" /dev/null |
        tr -d '\r' >narrow
    longest=$(awk '{ print length }' narrow | sort -n | tail -1)
    whole=$(rocstats kernels "$db" | awk '{ print length }' | sort -n | tail -1)
    [ "$longest" -le "$whole" ]
    [ "$whole" -le 60 ] || grep -q '\.\.\.' narrow
}

@test "the output does not depend on -j, --reader and --memory" {
    for format in text json; do
        rocstats all --format "$format" -j1 "$db" >one
        rocstats all --format "$format" -j4 "$db" | diff one -
        rocstats all --format "$format" -j2 --reader sqlite --memory 1m "$db" | diff one -
    done
}

@test "timeline: a line for people by their locale, rows for programs" {
    needs jq
    needs_terminal
    unset LC_ALL LC_CTYPE LANG
    for locale in LC_ALL=C.UTF-8 LC_CTYPE=de_DE.utf8 LANG=en_US.utf-8; do
        [[ "$(script -qec "env $locale rocstats --table timeline '$db'" /dev/null </dev/null)" == *█* ]] || fail "$locale"
        [[ "$(env "$locale" rocstats --table timeline --format md "$db")" == *█* ]] || fail "$locale"
        ! env "$locale" rocstats --table timeline "$db" | LC_ALL=C grep -q '[^ -~]' || fail "$locale"
    done
    for locale in LC_ALL=C "LANG=en_US.UTF-8 LC_CTYPE=C" "LC_CTYPE=C.UTF-8 LC_ALL=POSIX" LANG=; do
        # shellcheck disable=SC2086
        ! script -qec "env $locale rocstats --table timeline '$db'" /dev/null </dev/null | tr -d '\r' | grep -q '[^ -~]' || fail "$locale"
    done
    [ "$(LC_ALL= LANG=C.UTF-8 rocstats --table timeline "$db")" = "$(LC_ALL=C.UTF-8 rocstats --table timeline "$db")" ]
    [ "$(LC_ALL=C rocstats --table timeline --slices 17 "$db" | grep -c ' [0-9.]\{17\} ')" -ge 3 ]
    rocstats --table timeline --format json --slices 8 "$db" >t.json
    jq -e '.tables[0].rows | group_by(.gpu) | all(length == 8)' t.json
    [ "$(rocstats --table timeline --format csv "$db" | cut -d, -f2 | tail -n +2 | sort -u | wc -l)" -eq 1000 ]
}

@test "gaps --by-stream: streams and queues as well, on request" {
    needs jq
    [ "$(keys gaps "$db")" = "gap_buckets gap_classes gaps longest_gaps" ]
    [[ " $(keys gaps --by-stream "$db") " == *" lane_gaps "* ]]
    rocstats gaps --by-stream "$db" | grep -q ' queue '
    rocstats "$db" | grep -q 'by cause'
    rocstats --by-stream "$db" >overview
    run ! grep -q 'Idle gaps per stream' overview
    [ "$(rocstats gaps --by-stream --format json "$db" |
        jq -c '[.tables[] | select(.key | contains("lane")) | .columns[:4] | map(.key)] | unique')" = \
        '[["process","lane","name","gpu"]]' ]
}

@test "gaps: between kernels only, the time of copies is idle" {
    needs jq
    for work in all kernels copies; do
        rocstats gaps overlap --gaps-between $work --format json "$BATS_TEST_DIRNAME/../fixtures/demo.db" >$work.json
    done
    cmp <(jq '.tables[] | select(.key == "overlap")' all.json) \
        <(jq '.tables[] | select(.key == "overlap")' kernels.json)
    idle='[.tables[] | select(.key == "gaps").rows[].total_ns] | add'
    [ "$(jq "$idle" kernels.json)" -gt "$(jq "$idle" all.json)" ]
    jq -e '.tables[] | select(.key == "gap_classes").rows | any(.class == "copy")' kernels.json
    jq -e '.tables[] | select(.key == "gap_classes").rows | any(.class == "copy") | not' all.json
    # Of all work, gaps are what the overlap calls idle.
    jq -e '[.tables[] | select(.key == "overlap").rows[].idle_ns] ==
        [.tables[] | select(.key == "gaps").rows[].total_ns]' all.json
}

@test "completion offers the forms and keys" {
    rocstats --completion bash >completion
    for words in "--sort " "--sort = "; do
        run bash -c ". ./completion; COMP_WORDS=(rocstats $words '')
                     COMP_CWORD=\$((\${#COMP_WORDS[@]} - 1)); _rocstats; echo \${COMPREPLY[@]}"
        [ "$output" = "total calls average max name" ] || fail "$words"
    done
}

# "table column" of all that a run made.
columns() { # argument of rocstats...
    rocstats -q --format json "$@" | jq -r '.tables[] | .key as $k | .columns[] | "\($k) \(.key)"' || [ "${PIPESTATUS[0]}" -le 1 ]
}

# rocstats(5) says which page has a table. Columns that many tables have are in rocstats(5) itself.
@test "every table is in rocstats(5), and every column in the page of its report" {
    ranks=("$FIXTURES/rank0.db" "$FIXTURES/rank1.db")
    {
        columns all "$FIXTURES/everything.db"
        columns all --by-rank --by-agent --by-stream --by-dims "${ranks[@]}"
        columns all --by-stream "$FIXTURES"/node-rank[01].db
        columns memory --start 50% "$FIXTURES/everything.db"
        columns compare "${ranks[@]}"
    } | sort -u >made
    awk '/^\.It Xr rocstats-/ { page = $3 "." $4 } /^\.Li/ && page { for (i = 2; i <= NF; i += 2) print $i, page }' \
        "$BUILD/man/rocstats.5" >pages
    while read -r table column; do
        page=$(sed -n "s/^$table //p" pages)
        grep -h '^\..*Li ' "$BUILD/man/${page:-rocstats.5}" "$BUILD/man/rocstats.5" | grep -qw "$column" ||
            echo "$table $column ${page:-(no page)}"
    done <made | tee missing
    [ ! -s missing ]
}

@test "only some domains" {
    full=$(rocstats --table domains --format csv "$db")
    try 0 rocstats --table domains --format csv --domain kernels,Memory-Copies "$db"
    [ "$(cut -d, -f1 <<<"$output" | sed 1d | sort | xargs)" = "KERNELS MEMORY_COPIES" ]
    # The values stay, but for the share.
    [ "$(grep '"KERNELS"' <<<"$output" | cut -d, -f2,3)" = "$(grep '"KERNELS"' <<<"$full" | cut -d, -f2,3)" ]
    [ "$(awk -F, 'NR > 1 { s += $5 } END { printf "%.6f", s }' <<<"$output")" = 100.000000 ]
    try 0 rocstats summary --format csv --domain hip "$db"
    [ "$(cut -d, -f1 <<<"$output" | sed 1d | sort -u)" = '"HIP"' ]
    try 2 rocstats kernels --format csv --domain hip "$db"
    says '--domain is only for the report summary'
    try 2 rocstats --table domains --domain kernal "$db"
    says '"kernal" is not a domain; known: kernels, '
    # As rocpd summary names them.
    [ "$(rocstats --table domains --format csv --region-categories HIP,MARKER,kernel "$db")" = \
        "$(rocstats --table domains --format csv --domain hip,markers,kernels "$db")" ]
    rocstats --table domains --format csv --region-categories NONE "$db" >groups
    run ! grep -E '^"(HIP|HSA|MARKERS|RCCL)"' groups
    rocstats --table domains --format csv --region-categories NONE "$db" | grep -q KERNELS
}

@test "groups of domains in one table, as rocprofv3 names them" {
    needs jq
    try 0 rocstats summary --summary-groups 'KERNEL_DISPATCH|MEMORY_COPY' --summary-groups hip.* \
        --format json "$db"
    rows='.tables[] | select(.key == "summary_groups").rows'
    [ "$(jq -c "[$rows[].group] | unique" <<<"$output")" = '["KERNEL_DISPATCH|MEMORY_COPY","hip.*"]' ]
    jq -e "$rows | group_by(.group) | all(([.[].percent] | add) - 100 | fabs < 1e-6)" <<<"$output"
    try 0 rocstats summary --summary-groups 'KERNEL_DISPATCH|MEMORY_COPY' --format table "$db"
    [[ "$output" == *"ROCPROFV3 KERNEL_DISPATCH + MEMORY_COPY SUMMARY:"* ]]
    [ "$(rocstats summary --format table "$db")" = \
        "$(sed '/KERNEL_DISPATCH + MEMORY_COPY/,/^ROCPROFV3 SUMMARY/{/^ROCPROFV3 SUMMARY/!d}' <<<"$output")" ]
    try 2 rocstats summary --summary-groups 'nothing' "$db"
    says '"nothing" matches no domain'
    try 2 rocstats summary --summary-groups '(' "$db"
}

@test "a stream has one name, whichever report or picture shows it" {
    needs jq "$BUILD/tests/pfdump"
    s=$(suffix "$FIXTURES/schema-3.0.0.db")
    cp "$FIXTURES/schema-3.0.0.db" t.db
    # one name twice, none at all, and none with what would be the name of another
    sqlite3 t.db "UPDATE rocpd_info_stream$s SET name = 'work' WHERE id IN (1, 6);
        UPDATE rocpd_info_stream$s SET name = NULL WHERE id IN (3, 4);
        UPDATE rocpd_info_stream$s SET name = 'Stream 4' WHERE id = 5"
    expected=$(sqlite3 -readonly t.db "SELECT count(DISTINCT stream_id) FROM (SELECT stream_id FROM
        rocpd_kernel_dispatch$s UNION SELECT stream_id FROM rocpd_memory_copy$s)")
    rocstats streams --format json t.db | jq -r '.tables[] | select(.key == "streams") | .rows[].name' |
        sort >streams
    [ "$(wc -l <streams)" -eq "$expected" ]
    [ "$(sort -u streams | wc -l)" -eq "$expected" ]
    grep -qx 'work' streams
    grep -qx 'work \[6\]' streams
    grep -qx 'Stream 3' streams
    grep -qx 'Stream 4 \[5\]' streams
    for report in kernels copies summary launch; do
        rocstats "$report" --by-stream --format json t.db |
            jq -r '.tables[].rows[].stream | select(. != null)' | sort -u >shown
        [ -s shown ]
        [ -z "$(comm -13 streams shown)" ] || fail "$report: $(comm -13 streams shown)"
    done
    rocstats gaps --by-stream --format json t.db |
        jq -r '.tables[].rows[] | select(.lane == "stream") | .name' | sort -u >shown
    [ -s shown ]
    [ -z "$(comm -13 streams shown)" ]
    rocpd2pftrace -o t.pftrace t.db
    "$BUILD/tests/pfdump" events t.pftrace | awk -F'\t' '$1 == "stage" && $7 == "Kernel" { print $6 }' |
        sort -u >shown
    [ -s shown ]
    [ -z "$(comm -13 streams shown)" ] || fail "$(comm -13 streams shown)"
}

@test "text fits: the terminal, or 200 columns; --wide prints all" {
    needs "$FIXTURES/rank0.db"
    widest() { awk '{ gsub(/[\300-\377][\200-\277]+/, "x"); if (length($0) > n) n = length($0) } END { print n + 0 }'; }
    for report in "${reports[@]}"; do
        [ "$report" = doctor ] && continue # sentences are not cut
        n=$(rocstats "$report" "$FIXTURES/rank0.db" "$FIXTURES/rank1.db" | LC_ALL=C widest)
        [ "$n" -le 200 ] || fail "$report: $n"
    done
    [ "$(rocstats gaps --wide "$FIXTURES/rank0.db" | LC_ALL=C widest)" -gt 200 ]
    rocstats kernels --wide "$FIXTURES/rank0.db" "$FIXTURES/rank1.db" >wide
    grep -qF 'void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*, c10::BFloat16*, c10::BFloat16*, c10::BFloat16 const*, int, long, long, int, int, int)' wide
    needs_terminal
    script -qec "stty cols 80; rocstats kernels $FIXTURES/rank0.db" /dev/null </dev/null | tr -d '\r' >narrow
    [ "$(LC_ALL=C widest <narrow)" -le 80 ]
    grep -q '(--wide also prints: .*P90, P95.*)' narrow
    # Columns that are left out are in the other formats.
    rocstats kernels --format csv "$FIXTURES/rank0.db" | grep -q 'p90_ns,p95_ns'
}

@test "gaps without host calls say why they have no cause" {
    rocstats gaps --exclude region "$db" >without
    grep -q '^Idle gaps by cause: recorded without HIP calls: record with --hip-trace to see why' without
    rocstats gaps "$db" | grep -q '^Idle gaps by cause$'
}

@test "times: seconds since the begin for people, those of the clock for programs" {
    needs jq
    rocstats gaps --format json "$FIXTURES/everything.db" >a.json
    begin=$(jq .trace.begin_ns a.json)
    [ "$begin" -eq "$(jq -r '.trace | .begin_ns' a.json)" ]
    start=$(jq '.tables[] | select(.key == "longest_gaps").rows[0].start_ns' a.json)
    seconds=$(awk "BEGIN { printf \"%.6f s\", ($start - $begin) / 1e9 }")
    rocstats gaps "$FIXTURES/everything.db" | grep -A2 "^Longest idle gaps: 0 s is $begin ns" | grep -q " $seconds "
    rocstats gaps launch "$FIXTURES/everything.db" >a.txt # with a header
    grep -q "^  Begin, in ns  $begin$" a.txt
    run ! grep -q "0 s is" a.txt
    rocstats --table longest_gaps --format csv "$FIXTURES/everything.db" | grep -q ",$start,"
    rocstats compare --format json "$FIXTURES/rank0.db" "$FIXTURES/rank1.db" >c.json
    jq -e '.data | .trace_a.rows[0].files != .trace_b.rows[0].files and .trace_a.rows[0].begin_ns > 0' c.json
}

@test "without GPU work the overview is that of markers and calls" {
    try 0 rocstats --include marker "$FIXTURES/everything.db"
    [[ "$output" == *"Markers and the GPU work from inside"* ]]
    [[ "$output" != *": nothing"* ]] || fail "an empty table"
    try 0 rocstats --include region "$FIXTURES/everything.db"
    [[ "$output" == *"Time by domain and name"* && "$output" != *": nothing"* ]]
    # Programs get the tables that they asked for.
    [ "$(keys --include marker "$FIXTURES/everything.db")" = "$(keys "$FIXTURES/everything.db")" ]
}

@test "copies without a size have no bytes and no bandwidth, and are counted" {
    cat >c.json <<'END'
{"traceEvents": [
{"ph": "X", "pid": 0, "tid": 7, "name": "Memcpy HtoD", "cat": "gpu_memcpy", "ts": 1, "dur": 2,
 "args": {"device": 0, "stream": 7, "bytes": 4000}},
{"ph": "X", "pid": 0, "tid": 7, "name": "Memcpy HtoD", "cat": "gpu_memcpy", "ts": 5, "dur": 4,
 "args": {"device": 0, "stream": 7}},
{"ph": "X", "pid": 0, "tid": 7, "name": "Memcpy DtoH", "cat": "gpu_memcpy", "ts": 11, "dur": 2,
 "args": {"device": 0, "stream": 7}}]}
END
    try 0 rocstats copies --format json c.json
    jq -e '[.tables[] | .note] == [range(2) | "2 copies have no known size, and are not in bytes and bandwidths"]' \
        <<<"$output"
    jq -e '[.tables[0].rows[] | [.direction, .calls, .bytes, .bandwidth, .max_bandwidth, .unsized]] ==
        [["Memcpy HtoD", 2, 4000, 2e9, 2e9, 1], ["Memcpy DtoH", 1, null, null, null, 1]]' <<<"$output"
    jq -e '[.tables[1].rows[] | [.direction, .from_bytes, .to_bytes, .calls, .bytes]] ==
        [["Memcpy HtoD", null, null, 1, null], ["Memcpy DtoH", null, null, 1, null],
         ["Memcpy HtoD", 1024, 4096, 1, 4000]]' <<<"$output"
    try 0 rocstats copies --format csv --table copies c.json
    [[ "${lines[2]}" == *'"Memcpy DtoH",'*,1,,2000,2000,2000,2000,,,1 ]] || fail "no empty fields"
    try 0 rocstats copies --table copies --wide c.json
    [[ "$output" =~ "Memcpy DtoH  GPU 0"\ +1\ +-\ .*\ -\ +-\ +1$ ]] || fail "no dashes"
}

@test "findings: rules that do not apply say why" {
    needs jq
    rocstats all --format json "$FIXTURES/everything.db" >a.json
    jq -e '[.tables[] | select(.key == "rules").rows[]] | length == 25 and
        all(.threshold != null and (.outcome == "does not apply") == (.why != null))' a.json
    rocstats --include kernel --format json "$FIXTURES/everything.db" >a.json
    jq -e '.tables[] | select(.key == "rules").rows[] | select(.rule == "memory-transfers").why == "no copies were recorded"' a.json
    jq -e '.tables[0].note | startswith("the trace was not checked, as filters hide a part of it")' a.json
    rocstats --format json "$FIXTURES/findings/idle-gpu.before.json" | jq -e '.tables[0].rows[0].record ==
        "recorded without host calls: record with ProfilerActivity.CPU to see why"'
    # Sentences are wrapped, but never cut, in any width.
    COLUMNS=80 rocstats "$FIXTURES/everything.db" | sed -n '/^Findings/,/^$/p' >out
    run ! grep -E '^.{81}' out
}

@test "sequences --top: the last row sums up the others" {
    needs jq
    sums() { # ARGUMENT...
        rocstats --table sequences,sequence_kernels --format json "$@" "$FIXTURES/everything.db" |
            jq -c '.tables[] | select(.key == "sequences").rows | [length, ([.[].calls] | add), ([.[].total_ns] | add), ([.[].gaps_ns] | add)]'
    }
    local all top
    all=$(sums) top=$(sums --top 2)
    [ "${all#*,}" = "${top#*,}" ] && [[ $all == "[5,"* && $top == "[3,"* ]] || fail "$all $top"
    rocstats --table sequences,sequence_kernels --top 2 "$FIXTURES/everything.db" | grep -q '(3 others)'
}

@test "folded stacks hold all GPU time, one line for each path" {
    try 0 rocstats --format folded "$FIXTURES/schema-3.0.0.db"
    folded=$output
    run ! grep -vqE '^[^;]+(;[^;]+)* [0-9]+$' <<<"$folded"
    [ -z "$(sed 's/ [0-9]*$//' <<<"$folded" | sort | uniq -d)" ]
    wanted=$(rocstats attribution --format json "$FIXTURES/schema-3.0.0.db" |
        jq '[.tables[] | select(.key == "attribution_tree") | .rows[] | select(.depth == 0) | .total_ns] | add')
    work=$(rocstats --table summary --format json "$FIXTURES/schema-3.0.0.db" |
        jq '[.tables[0].rows[] | select(.domain == "KERNELS" or .domain == "MEMORY_COPIES") | .total_ns] | add')
    [ "$(awk '{ s += $NF } END { print s }' <<<"$folded")" -eq "$wanted" ]
    [ "$wanted" -eq "$work" ]
    # What --top cuts off stays a part of what is around it.
    [ "$(rocstats --format folded --top 3 "$FIXTURES/schema-3.0.0.db" | awk '{ s += $NF } END { print s }')" -eq "$wanted" ]
    try 2 rocstats kernels --format folded "$FIXTURES/schema-3.0.0.db"
    says 'format folded is only for the report attribution'
}

@test "occupancy: workgroups that fit, one by one, and the grid" {
    needs python3 sqlite3 "$FIXTURES/everything.db"
    # Kernels with few vector registers and many scalar ones.
    cp "$FIXTURES/schema-3.0.0.db" mi100.db
    local symbol=$(sqlite3 mi100.db "SELECT name FROM sqlite_master WHERE name GLOB 'rocpd_info_kernel_symbol_*'")
    sqlite3 mi100.db "UPDATE $symbol SET arch_vgpr_count = 8, accum_vgpr_count = 0, sgpr_count = 64 + 16 * (id % 4);
        UPDATE ${symbol/kernel_symbol/agent} SET name = 'gfx908' WHERE name = 'gfx942'"
    cp mi100.db mi300.db
    sqlite3 mi300.db "UPDATE ${symbol/kernel_symbol/agent} SET name = 'gfx942' WHERE name = 'gfx908'"
    for db in "$FIXTURES/everything.db" "$FIXTURES/schema-3.0.0.db" mi100.db mi300.db "$SHARED/rocpd/r9700_llama_bench.db"; do
        [ -e "$db" ] || continue
        rocstats --table occupancy --format json "$db" >o.json
        python3 - "$db" <<'END'
import json, math, sqlite3, sys
# Registers of a SIMD and their granule, waves of a SIMD, LDS and its granule, workgroups, wave, units of so many CUs.
GPUS = {'gfx942': (512, 8, 8, 65536, 512, 16, 64, 1), 'gfx90a': (512, 8, 8, 65536, 512, 16, 64, 1),
        'gfx908': (256, 4, 10, 65536, 512, 16, 64, 1), 'gfx1201': (1536, 24, 16, 131072, 512, 32, 32, 2)}
def scalar_waves(sgprs): # of a SIMD, as compilers count them
    return 10 if sgprs <= 80 else 9 if sgprs <= 88 else 8 if sgprs <= 100 else 7
db = sqlite3.connect('file:%s?mode=ro' % sys.argv[1], uri=True)
t = lambda name: next(r[0] for r in db.execute(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB ? || '*' ORDER BY length(name)", ['rocpd_' + name + '_']))
want = {}
for row in db.execute("""SELECT k.display_name, a.name, a.extdata, d.workgroup_size_x, d.workgroup_size_y, d.workgroup_size_z,
        k.arch_vgpr_count, k.accum_vgpr_count, k.sgpr_count, d.group_segment_size, d.private_segment_size,
        d.grid_size_x, d.grid_size_y, d.grid_size_z, d.end - d.start
        FROM %s d JOIN %s k ON k.id = d.kernel_id JOIN %s a ON a.id = d.agent_id"""
        % (t('kernel_dispatch'), t('info_kernel_symbol'), t('info_agent'))):
    name, arch, about, *group = row[:6]
    vgprs, accum, sgprs, lds, scratch = row[6:11]
    cus = json.loads(about or '{}').get('cu_count', 0)
    key = (name, arch, 'x'.join(map(str, group)) if any(group) else None, vgprs, accum, sgprs, lds, scratch, cus)
    w = want.setdefault(key, [0, 0, 0])
    w[0] += 1
    w[1] += row[14]
    w[2] += math.prod(-(-g // b) if b else 1 for g, b in zip(row[11:14], group))
total = sum(w[1] for w in want.values())
got = json.load(open('o.json'))['tables'][0]['rows']
assert sum(r['calls'] for r in got) == sum(w[0] for w in want.values()) and len(got) == len(want), (len(got), len(want))
seen = set()
for r in got:
    for key, (calls, ns, workgroups) in want.items():
        name, arch, group, vgprs, accum, sgprs, lds, scratch, cus = key
        if (key not in seen and (r['calls'], r['total_ns'], r['name'], r['arch'], r['workgroup']) == (calls, ns, name, arch, group)
                and (r['lds_bytes'], r['scratch_bytes']) == (lds, scratch) and r['vgprs'] == (vgprs or None)):
            break
    else:
        raise AssertionError(r)
    seen.add(key)
    assert abs(r['percent'] - 100 * ns / total) < 1e-9 and abs(r['workgroups'] - workgroups / calls) < 1e-9
    items = math.prod(map(int, group.split('x'))) if group else 0
    if arch not in GPUS or not vgprs or not 0 < items <= 1024:
        assert r['occupancy_percent'] is None and r['limit'] is None, r
        continue
    registers, granule, waves, memory, grain, most, wave, unit = GPUS[arch]
    of_group = -(-items // wave)
    a_wave = -(-(max(vgprs, accum) if arch == 'gfx908' else vgprs + (accum if arch[:4] == 'gfx9' else 0)) // granule) * granule
    scalar = 4 * scalar_waves(sgprs) if arch[:4] == 'gfx9' else 4 * waves
    # Put in one workgroup after the other, as long as all is there.
    slots, files, left, fit, stop = 4 * waves, 4 * (registers // a_wave), memory, 0, set()
    while True:
        stop = set()
        if (fit + 1) * of_group > slots: stop.add('none' if fit * of_group == slots else 'workgroup size')
        if (fit + 1) * of_group > files: stop.add('VGPRs')
        if (fit + 1) * of_group > scalar: stop.add('SGPRs')
        if lds and left < -(-lds // grain) * grain: stop.add('LDS')
        if of_group > 1 and fit == most: stop.add('workgroups')
        if stop: break
        fit += 1
        left -= -(-lds // grain) * grain if lds else 0
    assert (r['waves'], r['max_waves'], r['workgroup_waves']) == (fit * of_group, 4 * waves, of_group), (r, fit)
    assert abs(r['occupancy_percent'] - 100 * fit * of_group / slots) < 1e-9
    if cus and fit:
        rounds = workgroups / calls / (cus // unit * fit)
        assert abs(r['rounds'] - rounds) < 1e-9
        stop = {'grid'} if rounds < 1 else stop
    assert r['limit'] in stop, (r, stop)
END
    done
    rocstats --table occupancy --format json mi100.db mi300.db | jq -e '[.tables[0].rows[] | select(.limit == "SGPRs") | "\(.arch) \(.sgprs)"] | unique == ["gfx908 112", "gfx908 96", "gfx942 112"]'
    [ "$(rocstats --table occupancy -j1 --format json "$FIXTURES/everything.db")" = "$(rocstats --table occupancy -j7 --format json "$FIXTURES/everything.db")" ]
}

# Three steps of two ranks; the third of rank 1 launches from a thread of its own, and its kernel runs
# after it. The kernel "first" was launched before all steps.
make_steps() {
    for rank in 0 1; do
        cat >"rank$rank.json" <<END
{"schemaVersion": 1, "distributedInfo": {"rank": $rank}, "traceEvents": [
  {"ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel", "pid": 1$rank, "tid": 1, "ts": 10, "dur": 5, "args": {"correlation": 9}},
  {"ph": "X", "cat": "kernel", "name": "first", "pid": $rank, "tid": 7, "ts": 310, "dur": 50,
   "args": {"device": $rank, "stream": 7, "correlation": 9}},
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#7", "pid": 1$rank, "tid": 1, "ts": 100, "dur": 100},
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#8", "pid": 1$rank, "tid": 1, "ts": 300, "dur": 100},
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#9", "pid": 1$rank, "tid": 1, "ts": 500, "dur": $((100 + 300 * rank))},
  {"ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel", "pid": 1$rank, "tid": 1, "ts": 310, "dur": 5, "args": {"correlation": 1}},
  {"ph": "X", "cat": "kernel", "name": "gemm", "pid": $rank, "tid": 7, "ts": 380, "dur": 50,
   "args": {"device": $rank, "stream": 7, "correlation": 1}},
  {"ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel", "pid": 1$rank, "tid": 2, "ts": 510, "dur": 5, "args": {"correlation": 2}},
  {"ph": "X", "cat": "kernel", "name": "gemm", "pid": $rank, "tid": 7, "ts": 900, "dur": 70,
   "args": {"device": $rank, "stream": 7, "correlation": 2}}]}
END
    done
}

@test "steps: ranges that count, and the work that they launched" {
    make_steps
    rocstats steps --format json rank0.json rank1.json >s.json
    jq -e '[.tables[] | select(.key == "steps").rows[] | [.place, .step, .number, .wall_ns, .gpu_busy_ns, .no_gpu_ns, .kernels, .launches]] == [
        ["rank 0", "ProfilerStep#7", 7, 100000, 0, 100000, 0, 0], ["rank 0", "ProfilerStep#8", 8, 100000, 50000, 80000, 1, 1],
        ["rank 0", "ProfilerStep#9", 9, 100000, 70000, 100000, 1, 1],
        ["rank 1", "ProfilerStep#7", 7, 100000, 0, 100000, 0, 0], ["rank 1", "ProfilerStep#8", 8, 100000, 50000, 80000, 1, 1],
        ["rank 1", "ProfilerStep#9", 9, 400000, 70000, 400000, 1, 1]]' s.json
    jq -e '[.tables[] | select(.key == "step_ranks").rows[] | [.number, .ranks, .min_ns, .max_ns, .slowest]] == [
        [7, 2, 100000, 100000, "rank 0"], [8, 2, 100000, 100000, "rank 0"], [9, 2, 100000, 400000, "rank 1"]]' s.json
    jq -e '[.tables[] | select(.key == "step_kernels").rows[] | [.name, .steps, .calls, .total_ns, .median_ns, .max_step]] == [
        ["gemm", 4, 4, 240000, 60000, "ProfilerStep#9 on rank 0"]]' s.json
    jq -e '.tables[] | select(.key == "step_distribution").rows[] | select(.measure == "wall") |
        .outliers == 1 and .outlier_steps == "ProfilerStep#9 on rank 1 (4.00x)"' s.json
    try 0 rocstats steps --step-markers 'no such' rank0.json
    [[ $output == *"Steps: no marker has a name that --step-markers matches"* ]]
    try 0 rocstats steps "$FIXTURES/hip-events.db"
    [[ $output == *"Steps: no marker counts steps"* ]]
}

# Work without a call is left out of what is cut from a trace only where calls are there to be missed.
@test "steps: what is in a step of any series belongs to one" {
    awk 'BEGIN {
        print "{\"schemaVersion\": 1, \"traceEvents\": ["
        e = ", \"pid\": 9, \"tid\": 9, \"ts\": %d, \"dur\": %d, \"args\": {\"correlation\": %d}}"
        for (i = 0; i < 5; i++) {
            if (i < 4)
                printf "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"%s step:%d\"" e ",\n", (i % 2 ? "bwd" : "fwd"), i / 2, 100 * i, 90, 0
            printf "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"hipLaunchKernel\"" e ",\n", 100 * i + 10, 5, i + 1
            printf "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\"" e "%s\n", 100 * i + 20, 50, i + 1, i < 4 ? "," : "]}"
        }
    }' >two.json
    rocstats steps --format json two.json >out.json
    [ "$(jq -r '.tables[] | select(.key == "steps").note' out.json)" = "1 kernels and copies belong to no step" ] || fail "$(jq -c '.tables[] | .note' out.json)"
    [ "$(jq -r '.tables[] | select(.key == "step_domains").note' out.json)" = "1 other events than kernels and copies belong to no step" ]
}

@test "steps: a part of a trace without calls, beside one that has them" {
    make_steps
    jq '.traceEvents |= map(select(.cat != "cuda_runtime"))' rank1.json >alone.json
    rocstats steps -q --start 10% --format json alone.json >one.json
    rocstats steps -q --start 10% --format json rank0.json alone.json >two.json
    jq -e '[.tables[] | select(.key == "steps").rows[] | .kernels] | add > 0' one.json
    diff <(jq -c '.tables[] | select(.key == "steps").rows[] | [.place, .number, .kernels, .gpu_busy_ns]' one.json) \
        <(jq -c '.tables[] | select(.key == "steps").rows[] | select(.place == "rank 1") |
            [.place, .number, .kernels, .gpu_busy_ns]' two.json)
}

@test "all reports are made for a single step" {
    local train=$TOP/tests/fixtures/chrome/train
    rocstats all -q --steps 1 --format json "${train}0.json" "${train}1.json" >step.json
    jq -e '[.tables[] | {(.key): .rows}] | add |
        ([.kernels[].calls] | add) == 8 and [.steps[].number] == [1, 1] and
        ([.domains[] | select(.name == "HIP").calls] == [18]) and
        ([.step_domains[] | select(.domain == "HIP").events_max] == [9]) and
        ([.collectives[].count] | add) == 2 and (.critical_path_ranks | length) == 2' step.json
    # doctor is about whole traces.
    try 2 rocstats doctor --steps 1 "${train}0.json"
}

@test "--steps, --warmup: what begins in some steps" {
    make_steps
    try 0 rocstats kernels --format csv --steps 8 rank0.json rank1.json
    [ "$(cut -d, -f1-2 <<<"$output" | xargs)" = "name,calls first,2 gemm,2" ]
    says '4 of 6 steps (ProfilerStep#) are left out'
    try 0 rocstats kernels --format csv --steps 7,9 rank0.json rank1.json
    [ "$(wc -l <<<"$output")" -eq 1 ]
    # The last kernel begins after its step; what follows the warm-up has no end.
    try 0 rocstats kernels --format csv --warmup 2 rank0.json rank1.json
    [ "$(cut -d, -f1-2 <<<"$output" | xargs)" = "name,calls gemm,2" ]
    # A kernel that was launched before the first step that is left belongs to none.
    rocstats steps --format json --warmup 1 rank0.json rank1.json 2>/dev/null >s.json
    jq -e '[.tables[] | select(.key == "steps").rows[] | [.place, .number, .kernels]] == [
        ["rank 0", 8, 1], ["rank 0", 9, 1], ["rank 1", 8, 1], ["rank 1", 9, 1]]' s.json
    for j in 1 3; do
        rocpd2csv -q -j$j -o - --kinds marker --step-markers '#[78]$' --steps 7-8 rank0.json >"j$j"
    done
    cmp j1 j3
    [ "$(wc -l <j1)" -eq 3 ]
    try 2 rocstats kernels --steps 3 rank0.json
    says '--steps: no step is left; the numbers of steps (ProfilerStep#) are 7 to 9'
    try 2 rocstats kernels --warmup 3 rank0.json
    says '--warmup: no step is left'
    try 2 rocstats kernels --step-markers 'no such' --steps 1 rank0.json
    says '--steps: no marker has a name that --step-markers matches'
    try 2 rocstats kernels --steps x rank0.json
    says '--steps: "x" is not a list of numbers, from 0 on'
    try 2 rocstats kernels --step-markers '(' rank0.json
    says '--step-markers:'
}

@test "the architecture of a GPU is known from databases of all versions" {
    for of in 3.0.0 3.0.5 4.1.0 lz4; do
        try 0 rocstats --table occupancy --format json -o "$of.json" "$FIXTURES/schema-$of.db"
        jq -e '.tables[] | select(.key == "occupancy").rows | length > 0 and all(.arch == "gfx942" and .waves > 0)' \
            "$of.json"
        try 0 rocline query -f csv "SELECT DISTINCT agent_name FROM kernel" "$FIXTURES/schema-$of.db"
        [ "$output" = $'"agent_name"\n"gfx942"' ]
    done
}

@test "sums that are too large are said, and averages are those of the whole" {
    cp "$FIXTURES/rank0.db" d.db
    chmod +w d.db
    sqlite3 d.db "UPDATE rocpd_kernel_dispatch$(suffix d.db) SET start = 1000, \"end\" = 6000000000000001000 WHERE id < 4"
    try 1 rocstats kernels --format json -o s.json d.db
    says "table kernels: sums of more than 9223372036854775807 are cut to that"
    theirs=$(sqlite3 -readonly d.db "SELECT max(a) FROM (SELECT avg(\"end\" - start) a FROM rocpd_kernel_dispatch k
        JOIN rocpd_info_kernel_symbol s ON s.id = k.kernel_id GROUP BY s.display_name)")
    jq -e --argjson a "$theirs" '[.tables[] | select(.key == "kernels").rows[].average_ns] | max | (. - $a) / $a |
        fabs < 1e-9' s.json
    try 0 rocstats launch --format json -o l.json d.db
    theirs=$(sqlite3 -readonly d.db "SELECT total(\"end\" - start) FROM rocpd_kernel_dispatch")
    jq -e --argjson a "$theirs" '[.tables[] | select(.key == "launch").rows[] | .launches * .kernel_average_ns] |
        add | (. - $a) / $a | fabs < 1e-9' l.json
    cp "$FIXTURES/graph.db" g.db
    chmod +w g.db
    sqlite3 g.db "UPDATE rocpd_kernel_dispatch$(suffix g.db) SET start = 1000 + id, \"end\" = 6000000000000001000 + id"
    try 1 rocstats --table sequences,sequence_kernels --format json -o q.json g.db
    says "table sequences: sums of more than 9223372036854775807 are cut to that"
    jq -e '.tables[] | select(.key == "sequences").rows | length > 1 and
        all(.total_ns > 9.2e18 and (.average_ns / .length / 6e18 - 1 | fabs < 1e-9))' q.json
    jq -e '.tables[] | select(.key == "sequence_kernels").rows | length > 1 and
        all(.average_ns / 6e18 - 1 | fabs < 1e-9)' q.json
    try 1 rocstats --table graphs,graph_kernels --format json -o q.json g.db
    says "table graphs: sums of more than 9223372036854775807 are cut to that"
    jq -e '.tables[] | select(.key == "graph_kernels").rows | group_by(.graph)[] | map(.percent) |
        add - 100 | fabs < 1e-9' q.json
}
