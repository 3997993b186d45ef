#!/usr/bin/env bats
# rocline info, rocline check; rocpd.

load helper

@test "info: what is in a database, as SQL counts it" {
    db=$FIXTURES/schema-3.0.0.db
    rocline info --format json "$db" >info.json
    jq -e '.data.totals' info.json >/dev/null
    for pair in kernel:kernel_dispatch copy:memory_copy; do
        table=$(sqlite3 "$db" "SELECT name FROM sqlite_master WHERE type = 'table' AND
                               name LIKE 'rocpd_${pair#*:}_%'")
        rows=$(sqlite3 "$db" "SELECT count(*) FROM \"$table\"")
        [ "$(jq --arg k "${pair%%:*}" '[.data.kinds.rows[] | select(.kind == $k).events] | add' info.json)" = "$rows" ]
    done
    jq -e --arg t "$(date -u -r "$db" +%FT%TZ)" --arg v "$(sqlite3 "$db" "SELECT value FROM rocpd_metadata
        WHERE tag = 'schema_version'")" '.data.files.rows[0] | .version == $v and .modified == $t and .writer == ""' info.json
    rocline info --brief --format json "$FIXTURES/sys.db" |
        jq -e '.data.files.rows[0].writer == "rocprofiler-systems"'
    try 0 rocline info "$db"
    [[ "$output" == *"Events by kind"* ]]
}

@test "info --brief reads no events" {
    try 0 rocline info --brief "$FIXTURES/schema-3.0.0.db"
    [[ "$output" == *"rocpd database"* ]]
    [[ "$output" == *"Events by kind: nothing"* ]]
}

@test "check: intact, with faults, unreadable; the worst is the exit code" {
    try 0 rocline check "$FIXTURES/schema-3.0.0.db"
    [[ "$output" == *"schema-3.0.0.db: intact, "*" events, rocpd database" ]]
    try 1 rocline check "$FIXTURES/nasty-3.0.0.db" "$FIXTURES/schema-3.0.0.db"
    [[ "$output" == *"has faults"*"left out: "*"intact"* ]]
    try 3 rocline check "$FIXTURES/corrupt.db" "$FIXTURES/nasty-3.0.0.db" missing.db
    [[ "$output" == *"corrupt.db: cannot be read: "*"has faults"*"missing.db: cannot be read"* ]]
}

@test "check --format json has the same" {
    run -3 --separate-stderr rocline check --format json "$FIXTURES/corrupt.db" "$FIXTURES/nasty-3.0.0.db"
    jq -e '.exit_code == 3 and (.data.inputs.rows | length == 2) and .data.inputs.rows[0].exit_code == 3
           and (.data.faults.rows | length > 3)' <<<"$output"
}

@test "check: tables for programs and people, within a budget" {
    run -3 --separate-stderr rocline check --format csv "$FIXTURES/nasty-3.0.0.db" missing.db
    [[ "$output" == *'"cannot be read",3,,,"no such file"'* && "$output" == *'"end before start","left out",4'* ]]
    [[ "$stderr" == *"missing.db: no such file"* ]]
    run -1 --separate-stderr rocline --format md check --budget 120 "$FIXTURES/nasty-3.0.0.db"
    [[ "$output" == "## Inputs"* && ${#output} -le 480 ]]
    try 2 rocline check --budget 100 "$FIXTURES/nasty-3.0.0.db"
}

@test "check and conversion count the same faults" {
    for db in nasty-3.0.0 nasty-3.0.5 nasty-4.1.0 nasty-sys; do
        left=$(rocline check --format json "$FIXTURES/$db.db" 2>/dev/null |
            jq '[.data.faults.rows[] | select(.outcome == "left out").records] | add')
        said=$(rocstats all "$FIXTURES/$db.db" 2>&1 >/dev/null | sed -n 's/^rocstats: \([0-9]*\) records left out.*/\1/p')
        [ "$left" = "$said" ] || fail "$db: $left, $said"
    done
}

@test "rocpd: the commands of AMD's program" {
    db=$FIXTURES/schema-3.0.0.db
    try 0 rocpd --help
    [[ "$output" == "Usage: rocpd COMMAND"*convert*merge*package*query*summary* ]]
    try 0 rocpd convert -i "$db" -f csv pftrace -o run -d out
    try 0 rocpd2csv -o run -d tools "$db"
    try 0 rocpd2pftrace -o run -d tools "$db"
    diff -r out tools
    diff <(rocpd summary -i "$db") <(rocstats --table summary --top 0 "$db")
    try 0 rocpd merge -i "$FIXTURES/rank0.db" "$FIXTURES/rank1.db" -o all -d merged
    [ -s merged/all.db ]
    try 0 rocpd summary --format csv -o run -d csv -i "$db"
    try 0 rocstats --style rocpd -o run -d style "$db"
    diff -r csv style
    # What AMD's help has as examples, and more of its options.
    cp "$FIXTURES/rank0.db" "$FIXTURES/rank1.db" .
    try 0 rocpd summary -i rank0.db rank1.db --summary-by-rank --format csv
    [ "$(head -1 rocpd-output-data/out_summary_by_rank.csv | cut -d, -f 1-2)" = '"Guid","Rank"' ] ||
        head -1 rocpd-output-data/out_summary_by_rank.csv
    try 0 rocpd summary -i rank0.db rank1.db --region-categories HIP MARKERS --domain-summary -f html -o pages
    [ -s rocpd-output-data/pages_summary.html ]
    try 0 rocpd summary -i rank0.db --region-categories NONE --format json -o -
    [ "$(echo "$output" | jq '[.tables[].rows[] | select(.domain == "HIP")] | length')" = 0 ]
    try 0 rocpd summary -i rank0.db --region-categories HIP MARKER --truncate-kernels --format json -o -
    [ "$(echo "$output" | jq '[.tables[].rows[] | select(.domain == "HIP")] | length')" -gt 0 ]
    try 0 rocpd summary --mangled-kernels -i rank0.db
    try 2 rocpd summary -o - --format csv rank0.db
    says 'cannot be written to standard output'
    try 0 rocpd convert -i rank0.db --output-format Perfetto CSV -d both --no-annotate-kfd
    [ -s both/out_results.pftrace ]
    [ -s both/out_kernel_trace.csv ]
    try 0 rocpd
    [[ "$output" == "Usage: rocpd "* ]]
    try 0 rocpd -v
    try 2 rocpd package
    says 'rocpd package: no input is given'
    try 2 rocpd sumary "$db"
    says 'did you mean summary?'
    cp "$FIXTURES/rank0.db" "$FIXTURES/rank1.db" .
    try 0 rocpd package -i rank0.db rank1.db
    [ -s index.yaml ]
}

@test "rocpd is installed where it is asked for" {
    make -s -C "$TOP" O="$BUILD" install-tools DESTDIR="$PWD/a" PREFIX=/usr >/dev/null || skip "other flags"
    [ ! -e a/usr/bin/rocpd ]
    [ ! -e a/usr/share/man/man1/rocpd.1 ]
    make -s -C "$TOP" O="$BUILD" install-tools ROCPD=1 DESTDIR="$PWD/b" PREFIX=/usr >/dev/null
    b/usr/bin/rocpd --version
    [ -s b/usr/share/man/man1/rocpd.1 ]
    [ -s b/usr/share/bash-completion/completions/rocpd ]
}

@test "a size that is not known is no size" {
    run -0 bash -c 'rocline info --format json - <"$1" | jq -c "[.. | objects | select(has(\"modified\")) | .bytes] | unique"' bash "$FIXTURES/rank0.db"
    [ "$output" = '[null]' ]
}

# What converters tell, and end with 1 for, is not called intact.
@test "check: texts that are not UTF-8" {
    cp "$FIXTURES/rank0.db" bad.db
    table=$(sqlite3 bad.db "select name from sqlite_master where name like 'rocpd_string%' and type = 'table'")
    sqlite3 bad.db "update $table set string = cast(x'61ff62' as text) where id = (select min(id) from $table where string like 'hip%')"
    try 1 rocline check bad.db
    [[ $output == *"bad.db: has faults, "*"1 text repaired: holds NUL or bytes that are not UTF-8" ]]
    [ "$(rocline check --format csv bad.db | tail -1)" = 'faults,"bad.db","holds NUL or bytes that are not UTF-8","repaired",1' ]
}
