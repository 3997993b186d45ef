#!/usr/bin/env bats
# Rows in = rows out + rows counted: one law for every tool, on inputs that are damaged anywhere.
#
# The sqlite3 shell says how many rows a damaged database holds. With exit code 0 all of them are in
# the output, with exit code 1 all but those that were counted; with another one there is no output.
# DAMAGES=1000 bats tests/cli/conservation.bats tries 1000 damages of each input.

load helper

DAMAGES=${DAMAGES:-8}

requires() {
    needs sqlite3 jq "$BUILD/tests/damage" "$FIXTURES/schema-3.0.0.db"
}

# Sums a query over all sets of tables; %S is the ending of their names. Fails where SQLite finds
# damage, and says nothing then.
sum_over_sets() { # database query
    local s set_sum sum=0 sets
    sets=$(sqlite3 -readonly "$1" "SELECT substr(name, 13) FROM sqlite_master WHERE type = 'table'
        AND name LIKE 'rocpd\_region%' ESCAPE '\'" 2>/dev/null) || return 1
    for s in $sets; do
        set_sum=$(sqlite3 -readonly "$1" "${2//%S/$s}" 2>/dev/null) || return 1
        sum=$((sum + set_sum))
    done
    echo "$sum"
}

# Events, read column by column. A sample is an event where no value and no region belongs to it.
rows_in() { # database
    local query="" t
    for t in region kernel_dispatch memory_copy memory_allocate graph_launch hip_event; do
        [ "$(sqlite3 -readonly "$1" "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND
            name LIKE 'rocpd_${t}_%'" 2>/dev/null)" != 0 ] || continue
        query+="(SELECT coalesce(sum(typeof(start) || typeof(\"end\") || typeof(event_id) <> ''), 0)
            FROM rocpd_$t%S NOT INDEXED) + "
    done
    sum_over_sets "$1" "SELECT $query (SELECT count(*) FROM rocpd_sample%S WHERE event_id IS NULL OR event_id NOT IN (
        SELECT event_id FROM rocpd_pmc_event%S WHERE event_id NOT NULL UNION
        SELECT event_id FROM rocpd_region%S WHERE event_id NOT NULL))"
}

# What a tool made of them, as something else than its own reader finds it.
rows_of_csv() {
    local f n=0 all="agent_info|counter_(collection|sample)"
    for f in out/*.csv; do
        [[ "$f" =~ ($all) ]] || n=$((n + $(sqlite3 :memory: '.mode csv' ".import $f t" \
            '.mode list' 'SELECT count(*) FROM t')))
    done
    echo $n
}
rows_of_pftrace() { "$BUILD/tests/pfdump" events t.pftrace | grep -cE '^(slice|instant|stage)'; }
rows_of_otf2() { "$BUILD/tests/otf2dump" t.otf2 | grep -cE '^(slice|stage)'; }
rows_of_json() { jq '[.traceEvents[] | select(.ph == "X" or .ph == "i")] | length' t.json; }
rows_of_stats() { jq '[.tables[] | select(.key == "domains").rows[].calls] | add // 0' s.json; }
rows_of_merged() { [ "$(sqlite3 m.db 'PRAGMA integrity_check')" = ok ] && rows_in m.db; }

# check_tool DAMAGE ROWS COUNT COMMAND...: ROWS is what SQLite found in the input, "" where it
# stumbled; COUNT is the function that counts in the output.
check_tool() {
    local damage=$1 rows=$2 count=$3 out left values n
    shift 3
    run --separate-stderr "$@"
    case $status in
    0 | 1)
        out=$($count) || fail "$damage: $*: the output cannot be read"
        left=$(sed -n 's/.*[ :]\([0-9]*\) records\{0,1\} left out.*/\1/p' <<<"$stderr" | head -1)
        values=0 # that were left out; they are no events
        for n in $(grep -oE '(value without an event|not a finite number) \([0-9]*' <<<"$stderr" | grep -oE '[0-9]*$'); do
            values=$((values + n))
        done
        [ "$status" -eq 0 ] || [ -n "$stderr" ] || fail "$damage: $*: exit code 1 without a word"
        # Where SQLite stumbles over what nobody needs, nothing may be missing.
        [ $((out + ${left:-0} - values)) -eq "${rows:-$intact}" ] ||
            fail "$damage: $*: ${rows:-$intact} rows in, $out out, ${left:-0} left out"
        ;;
    3)
        [ -n "$stderr" ] || fail "$damage: $*: no message"
        [ -z "$(find . -maxdepth 1 ! -name 'd.db*' ! -name .)" ] || fail "$damage: $*: something is left"
        ;;
    *)
        fail "$damage: $*"
        ;;
    esac
    rm -rf out t t.* s.json m.db*
}

check_all_tools() { # database damage rows
    local reader
    for reader in auto sqlite; do
        check_tool "$2" "$3" rows_of_csv rocpd2csv --reader $reader -d out "$1"
    done
    check_tool "$2" "$3" rows_of_pftrace rocpd2pftrace -o t.pftrace "$1"
    check_tool "$2" "$3" rows_of_json rtg2json -o t.json "$1"
    check_tool "$2" "$3" rows_of_stats rocstats --format json -o s.json --table domains "$1"
    [ ! -x "$BUILD/tests/otf2dump" ] || check_tool "$2" "$3" rows_of_otf2 rocpd2otf2 -o t.otf2 "$1"
    check_tool "$2" "$3" rows_of_merged rocmerge -o m.db "$1"
    check_tool "$2" "$3" rows_of_merged rocmerge --flat -o m.db "$1"
}

check_damages() { # database
    local seed damage intact
    intact=$(rows_in "$1")
    [ "$intact" -gt 0 ]
    for ((seed = 0; seed < DAMAGES; seed++)); do
        damage=$("$BUILD/tests/damage" $seed "$1" d.db)
        [ ! -f "$1-wal" ] || cp "$1-wal" d.db-wal
        check_all_tools d.db "$damage" "$(rows_in d.db)"
        rm -f d.db*
    done
}

@test "rows are conserved: intact databases" {
    for name in schema-3.0.0 everything merged wal-live sampled; do
        cp "$FIXTURES/$name.db" d.db
        [ ! -f "$FIXTURES/$name.db-wal" ] || cp "$FIXTURES/$name.db-wal" d.db-wal
        check_all_tools d.db "$name" "$(rows_in d.db)"
        rm -f d.db*
    done
}

# Values of a dispatch are summed over the instances of a counter, those that were streamed or sampled
# are rows of their own.
@test "every counter value once" {
    for db in "$FIXTURES"/{schema-3.0.0,everything,merged,sampled,sys,spm-3.0.5}.db \
        "$SHARED"/rocprof-sys/*.db; do
        [ -f "$db" ] || continue
        summed=true streamed=false
        if sqlite3 -readonly "$db" ".schema rocpd_pmc_event%" | grep -q sample_id; then
            summed="sample_id IS NULL" streamed="sample_id NOT NULL"
        fi
        values=$(sum_over_sets "$db" "SELECT count(*) FROM (
            SELECT 0 FROM rocpd_pmc_event%S WHERE $summed AND event_id IN (
                SELECT event_id FROM rocpd_kernel_dispatch%S) GROUP BY event_id, pmc_id
            UNION ALL
            SELECT id FROM rocpd_pmc_event%S WHERE $streamed OR event_id NOT IN (
                SELECT event_id FROM rocpd_kernel_dispatch%S))")
        rocpd2csv -q -d out "$db"
        n=0
        for f in out/*_counter_collection*.csv out/*_counter_sample*.csv; do
            [ ! -f "$f" ] || n=$((n + $(sqlite3 :memory: '.mode csv' ".import $f t" '.mode list' \
                'SELECT count(*) FROM t')))
        done
        [ "$n" -eq "$values" ] || fail "$db: $values values in, $n out"
        rm -rf out
    done
}

@test "counters of dispatches without times are there again after a merge" {
    local texts=$TOP/tests/fixtures/rocprof/texts
    values() { # folder
        sqlite3 -csv :memory: ".import $1/o_counter_collection.csv t" \
            "SELECT Counter_Name, Counter_Value, Start_Timestamp FROM t ORDER BY 1, 2"
    }
    rocpd2csv -q -d one -o o "$texts" || [ $? -eq 1 ]
    for way in "" --flat --rebuild; do
        rocmerge -q $way -o m.db "$texts" || [ $? -eq 1 ]
        run --separate-stderr rocpd2csv -d two -o o m.db
        [ "$status" -eq 1 ]
        says "1 record left out: no valid time (1)" # the dispatch itself
        diff <(values one) <(values two)
        rm -r m.db two
    done
}

# A clock may begin at 0, and only of dispatches does 0 mean that they were never timed.
@test "what is at time 0 is there again after a merge, or counted by it" {
    cat >zero.json <<'END'
{"traceEvents": [
{"ph": "C", "pid": 1, "tid": 1, "name": "memory", "ts": 0, "args": {"used": 5}},
{"ph": "C", "pid": 1, "tid": 1, "name": "memory", "ts": 1, "args": {"used": 6}},
{"ph": "i", "pid": 1, "tid": 1, "name": "mark", "ts": 0, "s": "t"},
{"ph": "X", "pid": 1, "tid": 1, "name": "short", "cat": "cpu_op", "ts": 0, "dur": 0},
{"ph": "X", "pid": 1, "tid": 1, "name": "long", "cat": "cpu_op", "ts": 0, "dur": 5},
{"ph": "X", "pid": 0, "tid": 7, "name": "Memcpy HtoD", "cat": "gpu_memcpy", "ts": 0, "dur": 0,
 "args": {"device": 0, "stream": 7, "bytes": 4}},
{"ph": "X", "pid": 0, "tid": 7, "name": "k", "cat": "kernel", "ts": 0, "dur": 2,
 "args": {"device": 0, "stream": 7}}]}
END
    try 0 rocpd2csv -q -d one -o o zero.json
    try 0 rocmerge -q -o m.db zero.json
    for reader in auto sqlite; do
        try 0 rocpd2csv --reader $reader -d two -o o m.db
        for f in one/*.csv; do
            [ "$(wc -l <"$f")" -eq "$(wc -l <"two/${f#one/}")" ] || fail "$f has other rows"
        done
        rm -r two
    done
    sed -i 's/"dur": 2/"dur": 0/' zero.json
    try 1 rocmerge -o m.db zero.json
    says "1 record left out: no valid time (1)"
    [ "$(sqlite3 -readonly m.db 'SELECT count(*) FROM rocpd_kernel_dispatch')" -eq 0 ]
    try 3 rocmerge --strict -o n.db zero.json
    says "no place for work from 0 to 0"
}

# A row without its event has nothing but the id in common with the others.
@test "rows that share a missing event still do in a flat database, and no others" {
    cp "$FIXTURES/sampled.db" d.db
    chmod +w d.db
    local s
    s=$(suffix d.db)
    sqlite3 d.db "DELETE FROM rocpd_event$s WHERE id % 2;
        INSERT INTO rocpd_sample$s (track_id, timestamp, event_id)
            SELECT track_id, timestamp + 1, 987654321 FROM rocpd_sample$s LIMIT 1;
        UPDATE rocpd_pmc_event$s SET event_id = '' WHERE id = 1;
        UPDATE rocpd_pmc_event$s SET event_id = 123456789 WHERE id = 2"
    run --separate-stderr rocpd2csv -d one -o o d.db
    [ "$status" -eq 1 ]
    rocmerge -q --flat -o m.db d.db
    faults=$stderr
    run --separate-stderr rocpd2csv -d two -o o m.db
    [ "$stderr" == "$faults" ]
    for f in one/*.csv; do
        [ "$(wc -l <"$f")" -eq "$(wc -l <"two/${f#one/}")" ] || fail "$f has other rows"
    done
}

@test "rows are conserved: damages of schema-3.0.0.db" {
    check_damages "$FIXTURES/schema-3.0.0.db"
}

@test "rows are conserved: damages of schema-4.1.0.db" {
    check_damages "$FIXTURES/schema-4.1.0.db"
}

@test "rows are conserved: damages of everything.db" {
    check_damages "$FIXTURES/everything.db"
}

@test "rows are conserved: damages of merged.db" {
    check_damages "$FIXTURES/merged.db"
}

@test "rows are conserved: damages of wal-clean.db" {
    check_damages "$FIXTURES/wal-clean.db"
}

@test "rows are conserved: damages of wal-live.db" {
    check_damages "$FIXTURES/wal-live.db"
}

@test "rows are conserved: damages of nasty-3.0.5.db" {
    check_damages "$FIXTURES/nasty-3.0.5.db"
}

# How many records a missing chunk held is not always known: then exit code 1 must say that it is so.
@test "rows are conserved: damages of a recording" {
    needs "$BUILD/tests/traced"
    rocrec -q -o x.rocl -- "$BUILD/tests/traced" threads 4 500
    for ((seed = 0; seed < 4 * DAMAGES; seed++)); do
        damage=$("$BUILD/tests/damage" $seed x.rocl d.rocl)
        run --separate-stderr rocpd2csv -d out d.rocl
        [ "$status" -ne 0 ] || [ "$(rows_of_csv)" -eq 2000 ] || fail "$damage: rows are missing"
        [ "$status" -eq 0 ] || [ "$status" -eq 1 ] || [ "$status" -eq 3 ] || fail "$damage"
        [ "$status" -eq 0 ] || [ -n "$stderr" ] || fail "$damage: not a word"
        rm -rf out
    done
}
