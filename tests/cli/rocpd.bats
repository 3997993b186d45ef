#!/usr/bin/env bats
# Databases that are made of events: rocrec, rocmerge with inputs that are none, rocmerge --rebuild.
# What is in them is judged by SQL, and by what the tools say of them and of the inputs.
# shellcheck disable=SC2154,SC2030,SC2031 # bats sets status, output, stderr and runs tests in subshells

load helper
load databases

TRACED=$BUILD/tests/traced
RTG=$TOP/tests/fixtures/rtg

requires() {
    needs sqlite3 "$BUILD/tests/rocpd-gen" "$TRACED"
    unset LD_PRELOAD LD_LIBRARY_PATH ROCLINE_OUTPUT ROCLINE_POLICY ROCLINE_LIMIT
}

capture() { # name mode argument...
    local name=$1
    shift
    rocrec -q -o "$name" -- "$TRACED" "$@" >/dev/null 2>&1
}

# All tools say the same of both: DATABASE INPUT... The agents of a text have no indexes but that of
# their type.
same_trace() {
    local made=$1 by=(--agent-index-value type-relative)
    shift
    rm -rf in-csv made-csv
    rocpd2csv -q "${by[@]}" -d in-csv "$@" || [ $? -eq 1 ]
    rocpd2csv -q "${by[@]}" -d made-csv "$made"
    diff -r in-csv made-csv
    # What the doctor says of faults and of recording again is of the input itself.
    rocstats all "${by[@]}" -q --format csv "$@" >in-stats || [ $? -eq 1 ]
    rocstats all "${by[@]}" --format csv "$made" >made-stats
    diff <(sed -E '/^(report,verdict|doctor,|findings,|rules,)/d' in-stats) <(sed -E '/^(report,verdict|doctor,|findings,|rules,)/d' made-stats)
    [ "$(wc -l <in-stats)" -gt 10 ]
}

same_pftrace() { # database input...
    local made=$1 by=(--agent-index-value type-relative)
    shift
    rocpd2pftrace -q "${by[@]}" --args -o in.pftrace "$@" || [ $? -eq 1 ]
    rocpd2pftrace -q "${by[@]}" --args -o made.pftrace "$made"
    cmp in.pftrace made.pftrace
}

rows() { # database table
    sqlite3 "$1" "SELECT count(*) FROM rocpd_$2"
}

# ---- what is in it ---------------------------------------------------------------------------------

@test "a recording: every kind of event, counted in SQL" {
    capture t.rocl gpu 2000
    try 0 rocmerge -q -o t.db t.rocl
    silent
    sound t.db
    same_trace t.db t.rocl
    rocpd2csv -q -d csv t.rocl
    for kind in kernel_dispatch:kernel memory_copy:memory_copy region:hip_api; do
        [ "$(rows t.db "${kind%:*}")" = "$(tail -n +2 "csv/out_${kind#*:}_trace.csv" | wc -l)" ]
    done
    [ "$(rows t.db region)|$(rows t.db arg)|$(rows t.db memory_allocate)|$(rows t.db sample)" = \
        "2000|4000|1|1" ]
    # Kernels are tied to the calls that launched them, times and places are those of the recording.
    sqlite3 t.db "SELECT k.start || ',' || k.\"end\" || ',' || k.grid_size_x || ',' || t.tid || ',' ||
        s.display_name FROM rocpd_kernel_dispatch k JOIN rocpd_event e ON e.id = k.event_id JOIN
        rocpd_event f ON f.stack_id = e.stack_id JOIN rocpd_region r ON r.event_id = f.id JOIN
        rocpd_info_thread t ON t.id = k.tid JOIN rocpd_info_kernel_symbol s ON s.id = k.kernel_id
        ORDER BY k.start" >sql
    tail -n +2 csv/out_kernel_trace.csv | sed 's/"//g' | awk -F, -v OFS=, '{ print $11, $12, $21, $6, $9 }' >tool
    [ "$(wc -l <sql)" = 2000 ]
    diff sql tool
    [ "$(sqlite3 t.db "SELECT DISTINCT type, name FROM rocpd_arg ORDER BY 1" | paste -sd' ')" = \
        "const char *|label int|blocks" ]
    [ "$(sqlite3 t.db "SELECT i.name, i.units, v.value FROM rocpd_pmc_event v JOIN rocpd_info_pmc i ON
        i.id = v.pmc_id JOIN rocpd_sample s ON s.event_id = v.event_id")" = "power|W|123.5" ]
}

@test "a barrier is an event of HIP, and a barrier again" {
    capture t.rocl gpu 20
    rocmerge -q -o t.db t.rocl
    [ "$(sqlite3 t.db "SELECT s.string, e.extdata FROM rocpd_hip_event h JOIN rocpd_event e ON e.id =
        h.event_id JOIN rocpd_string s ON s.id = h.name_id")" = 'barrier|{"kind":"barrier"}' ]
    rocstats --table domains --format csv t.db | grep -q '"BARRIERS",1,'
    rocmerge -q -o again.db t.db
    diff <(rocstats --table domains t.db) <(rocstats --table domains again.db)
    rocmerge -q --include barrier -o b.db t.db
    [ "$(rows b.db hip_event)|$(rows b.db kernel_dispatch)" = "1|0" ]
}

@test "markers: texts, threads with names, marks" {
    capture t.rocl markers || true
    try 1 rocmerge -o t.db t.rocl
    says "2 records repaired: open when the process ended (2)"
    sound t.db
    same_trace t.db t.rocl
    same_pftrace t.db t.rocl
    [ "$(sqlite3 t.db "SELECT json_extract(e.extdata, '\$.message'), n.string FROM rocpd_sample s JOIN
        rocpd_event e ON e.id = s.event_id JOIN rocpd_track t ON t.id = s.track_id JOIN rocpd_string n
        ON n.id = t.name_id")" = "$(printf 'a "mark", with\ttabs|roctxMarkA')" ]
    [ "$(sqlite3 t.db "SELECT name FROM rocpd_info_thread WHERE tid = (SELECT pid FROM
        rocpd_info_process)")" = chief ]
    [ "$(sqlite3 t.db "SELECT count(*) FROM (SELECT 1 FROM rocpd_string GROUP BY string HAVING count(*) > 1)")" = 0 ]
}

@test "text of older tracers: the tools see the same" {
    for text in calls profile strace broken; do
        rocmerge -q -o t.db "$RTG/$text.txt" || [ $text = broken ]
        sound t.db
        same_trace t.db "$RTG/$text.txt"
        same_pftrace t.db "$RTG/$text.txt"
    done
}

@test "text: what it does not know has rows that stand for it, which are nothing to the tools" {
    rocmerge -q -o t.db "$RTG/calls.txt"
    [ "$(sqlite3 t.db "SELECT count(*) FROM rocpd_info_thread WHERE name = 'unknown (rocline)'")" = 1 ]
    [ "$(sqlite3 t.db "SELECT count(*) FROM rocpd_kernel_dispatch k LEFT JOIN rocpd_info_thread t ON
        t.id = k.tid LEFT JOIN rocpd_info_queue q ON q.id = k.queue_id LEFT JOIN rocpd_info_agent a ON
        a.id = k.agent_id LEFT JOIN rocpd_info_kernel_symbol s ON s.id = k.kernel_id WHERE t.id IS NULL
        OR q.id IS NULL OR a.id IS NULL OR s.display_name IS NULL")" = 0 ]
    # Copies of the rows are nothing as well, also when they are numbered anew.
    rocmerge -q --flat -o flat.db t.db
    rocpd2csv -q -o - --kinds kernel t.db | cut -d, -f 2- >a
    rocpd2csv -q -o - --kinds kernel flat.db | cut -d, -f 2- >b
    [ "$(wc -l <a)" -gt 1 ]
    diff <(cut -d, -f 1-3,5,8- a) <(cut -d, -f 1-3,5,8- b)
}

@test "text: queues with one number on two devices keep it" {
    try 0 rocmerge -o t.db "$RTG/profile.txt"
    silent
    same_trace t.db "$RTG/profile.txt"
    [ "$(sqlite3 t.db "SELECT count(*) FROM rocpd_info_queue WHERE extdata LIKE '{\"number\":%'")" = 1 ]
}

# ---- databases, rebuilt ----------------------------------------------------------------------------

@test "--rebuild: the same trace, of every schema and writer" {
    for name in schema-3.0.0 schema-3.0.5 schema-4.1.0 sys sys-4.1.0 sampled merged everything spm-3.0.5 \
        hip-events graph rename nic wal-live few-tables empty-tables args-order; do
        needs "$FIXTURES/$name.db"
        try 0 rocmerge -q --rebuild -o t.db "$FIXTURES/$name.db"
        silent
        sound t.db
        [ $name = empty-tables ] || same_trace t.db "$FIXTURES/$name.db"
        same_pftrace t.db "$FIXTURES/$name.db"
    done
}

@test "databases of one process: their schema is one of those that SQLite need not explain" {
    needs "$BUILD/tests/test_usual_schemas"
    gen a.db 1 --rows 100
    try 0 rocmerge --rebuild -o t.db a.db
    try 0 "$BUILD/tests/test_usual_schemas" t.db
    entry=$(head -1 <<<"$output")
    [ ${#entry} -gt 20 ]
    grep -qF "$entry" "$TOP/lib/source/db/usual_schemas.inc" ||
        fail "lib/source/db/usual_schemas.inc has to follow the schema that is written"
}

@test "--rebuild: what is broken is left out, what cannot be written is said" {
    try 1 rocmerge --rebuild -o t.db "$FIXTURES/nasty-3.0.5.db"
    says "records left out"
    says "2 texts hold NUL or bytes that are not UTF-8: these become U+FFFD"
    sound t.db
    # Nothing is wrong with it any more, but that two frees have no allocation.
    for command in "rocpd2csv -d csv" "rocmerge --rebuild -o again.db"; do
        try 1 $command t.db
        says ": 2 records repaired: free without allocation (2)"
    done
    cmp t.db again.db
}

@test "--rebuild: rows in order of time, ids from one, once each" {
    gen a.db 1 --args --rows 3000
    rocmerge -q --rebuild -o t.db a.db
    for table in region kernel_dispatch memory_copy memory_allocate; do
        [ "$(sqlite3 t.db "SELECT count(*) FROM (SELECT id, row_number() OVER (ORDER BY start, \"end\" DESC,
            id) AS n FROM rocpd_$table) WHERE id <> n")" = 0 ]
        [ "$(sqlite3 t.db "SELECT sum(start), sum(\"end\"), count(*) FROM rocpd_$table")" = \
            "$(sqlite3 a.db "SELECT sum(start), sum(\"end\"), count(*) FROM rocpd_$table")" ]
    done
    for sum in 'round(sum(value)) FROM rocpd_pmc_event' 'count(*) FROM rocpd_arg' 'count(*) FROM rocpd_event' \
        'sum(stack_id), sum(parent_stack_id), sum(correlation_id) FROM rocpd_event'; do
        [ "$(sqlite3 t.db "SELECT $sum")" = "$(sqlite3 a.db "SELECT $sum")" ] || fail "$sum"
    done
}

@test "--rebuild: nothing of the environment but the rank" {
    gen "r%r.db" 1 --processes 2
    s=$(suffix r1.db)
    sqlite3 r1.db "UPDATE rocpd_info_process$s SET environment = json_set(environment, '\$.TOKEN', 'hunter2')"
    rocmerge -q --rebuild -o t.db r0.db r1.db
    run ! grep -q hunter2 t.db
    diff <(rocstats kernels --by-rank r0.db r1.db) <(rocstats kernels --by-rank t.db)
}

@test "values of counters without their kernels bring these along" {
    gen a.db 1 --rows 2000
    rocmerge -q --rebuild --include counter -o t.db a.db
    sound t.db
    [ "$(rows t.db region)" = 0 ]
    [ "$(rows t.db pmc_event)" -gt 0 ]
    [ "$(sqlite3 t.db "SELECT count(*) FROM rocpd_kernel_dispatch WHERE event_id NOT IN (SELECT event_id
        FROM rocpd_pmc_event)")" = 0 ]
    diff <(rocpd2csv -q -o - --kinds counter a.db) <(rocpd2csv -q -o - --kinds counter t.db)
}

# ---- together, in part -----------------------------------------------------------------------------

mixed() {
    gen a.db 1 --args && gen four.db 2 --schema 4.1.0
    capture t.rocl gpu 300
    cp "$RTG/calls.txt" rtg_trace.txt.4905
    MIXED=(a.db four.db t.rocl rtg_trace.txt.4905)
}

@test "databases, recordings and text in one" {
    mixed
    try 0 rocmerge -q -o m.db "${MIXED[@]}"
    sound m.db
    [ "$(sqlite3 m.db "SELECT count(*) FROM rocpd_metadata WHERE tag = 'guid'")" = 4 ]
    same_trace m.db "${MIXED[@]}"
    # What was there as rows is there as it was.
    s=$(suffix a.db)
    diff <(sqlite3 a.db "SELECT * FROM rocpd_arg$s") <(sqlite3 m.db "SELECT * FROM rocpd_arg$s")
    rocmerge -q -o m.db a.db t.rocl rtg_trace.txt.4905
    rocmerge -q -o again.db m.db
    diff <(sqlite3 m.db .dump) <(sqlite3 again.db .dump)
}

@test "the same filters before and after" {
    capture t.rocl gpu 300
    while read -r options; do
        for input in t.rocl "$RTG/calls.txt" "$RTG/profile.txt"; do
            # shellcheck disable=SC2086
            rocmerge -q $options -o x.db "$input"
            sound x.db
            rm -rf a b
            # shellcheck disable=SC2086
            rocpd2csv -q --agent-index-value type-relative $options -d a "$input"
            rocpd2csv -q --agent-index-value type-relative -d b x.db
            diff -r a b || fail "$options"
        done
    done <<'END'
--start 30% --end 60%
--start 30% --end 60% --overlap
--start 30% --end 60% --clip
--name gemm
--include kernel
--exclude hip
--min-duration 6us
END
}

@test "filtered: only what events refer to" {
    gen a.db 1 --rows 3000
    rocmerge -q --rebuild --include kernel --start 40% --end 41% -o x.db a.db
    sound x.db
    for what in kernel_symbol:kernel queue:queue stream:stream thread:t; do
        column=${what#*:}_id
        [ "$column" = t_id ] && column=tid
        [ "$(sqlite3 x.db "SELECT count(*) FROM rocpd_info_${what%:*} WHERE id NOT IN (SELECT $column FROM
            rocpd_kernel_dispatch)")" = 0 ]
    done
    [ "$(rows x.db info_agent)" = "$(rows a.db info_agent)" ]
}

@test "--split: the union of slices is the whole" {
    mixed
    rocmerge -q -o m.db t.rocl a.db
    try 0 rocmerge -q -o s.db --split 5 t.rocl a.db
    for table in region kernel_dispatch memory_copy; do
        [ "$(for s in s-*.db; do sqlite3 $s "SELECT count(*), sum(\"end\" - start) FROM rocpd_$table"; done |
            awk -F'|' '{ n += $1; s += $2 } END { printf "%d|%d\n", n, s }')" = \
            "$(sqlite3 m.db "SELECT count(*), sum(\"end\" - start) FROM rocpd_$table")" ]
    done
    for s in s-*.db; do
        sound $s
    done
}

@test "--flat: ids of events and databases do not meet" {
    mixed
    try 0 rocmerge -q --flat -o f.db "${MIXED[@]}"
    sound f.db
    rocmerge -q -o m.db "${MIXED[@]}"
    for table in region kernel_dispatch memory_copy memory_allocate arg event pmc_event sample; do
        [ "$(rows f.db $table)" = "$(rows m.db $table)" ]
    done
    [ "$(sqlite3 f.db "SELECT count(*) FROM (SELECT e.stack_id FROM rocpd_region r JOIN rocpd_event e
        ON e.id = r.event_id WHERE e.stack_id GROUP BY 1 HAVING count(DISTINCT r.pid) > 1)")" = 0 ]
    sql="SELECT s.string, count(*), sum(\"end\" - start) FROM rocpd_region%S r JOIN rocpd_string%S s ON
        s.id = r.name_id GROUP BY 1 ORDER BY 1"
    diff <(per_set "$sql" m.db | awk -F'|' '{ n[$1] += $2; t[$1] += $3 } END { for (k in n) print k "|" n[k] "|" t[k] }' | LC_ALL=C sort) \
        <(per_set "$sql" f.db | LC_ALL=C sort)
    [ "$(sqlite3 f.db "SELECT count(DISTINCT json_extract(extdata, '\$.guid')) FROM rocpd_info_process")" = 4 ]
    diff <(rocstats kernels "${MIXED[@]}") <(rocstats kernels f.db)
}

@test "the same bytes for any number of workers and any memory" {
    mixed
    capture threads.rocl threads 8 2000
    gen big.db 3 --args --rows 30000
    for input in "t.rocl threads.rocl rtg_trace.txt.4905" "--rebuild a.db four.db big.db"; do
        # shellcheck disable=SC2086
        rocmerge -q -j1 -o 1.db $input
        for options in -j2 -j7 "-j3 --memory 1m"; do
            # shellcheck disable=SC2086
            rocmerge -q $options -o n.db $input
            cmp 1.db n.db
        done
    done
}

@test "the same process twice is refused" {
    capture t.rocl events 100
    rocmerge -q -o t.db t.rocl
    cp t.rocl again.rocl
    for other in t.db again.rocl; do
        try 3 rocmerge -o m.db t.rocl $other
        says "holds the same process"
    done
    [ ! -e m.db ]
}

@test "texts of one name from two folders" {
    mkdir a b
    cp "$RTG/calls.txt" a/trace.txt
    TEXTS=(a/trace.txt b/trace.txt)
    sed 's/pid:100 /pid:200 /' "$RTG/calls.txt" >b/trace.txt
    rocmerge -q -o m.db "${TEXTS[@]}"
    sound m.db
    [ "$(sqlite3 m.db "SELECT value FROM rocpd_metadata WHERE tag = 'guid'" | paste -sd' ')" = "trace.txt trace.txt-2" ]
    diff <(rocstats kernels "${TEXTS[@]}") <(rocstats kernels m.db)
}

# ---- how it appears --------------------------------------------------------------------------------

@test "outputs that cannot be written: the old one stays, nothing is left" {
    capture t.rocl gpu 2000
    echo old >m.db
    run bash -c 'ulimit -f 64; trap "" XFSZ; rocmerge -q -o m.db t.rocl'
    [ "$status" -eq 4 ] || fail "exit code 4 was expected"
    [[ "$output" == *"m.db: cannot write: File too large"* ]]
    [ "$(cat m.db)" = old ]
    [ "$(ls -A | paste -sd' ')" = "m.db t.rocl" ]
    try 2 rocmerge -o t.rocl/x.db t.rocl || [ "$status" -eq 4 ]
}

@test "a kill leaves nothing" {
    capture t.rocl gpu 30000
    survives_kills t.rocl
}

@test "rocrec -o trace.db" {
    try 0 rocrec -o t.db -- "$TRACED" gpu 500
    says "t.db: 1503 events of 1 process, 0 dropped"
    sound t.db
    [ "$(ls -A)" = t.db ]
    [ "$(rows t.db kernel_dispatch)" = 500 ]
    try 0 rocrec -q --format rocpd -o other -- "$TRACED" forks 10 5
    sound other
    [ "$(sqlite3 other "SELECT count(*) FROM rocpd_metadata WHERE tag = 'guid'")" -gt 5 ]
    [ "$(rocpd2csv -q -o - --kinds marker other | tail -n +2 | wc -l)" = "$output" ]
}

# ---- others ----------------------------------------------------------------------------------------

# ROCm's views, put over a database.
with_views() { # database
    sqlite3 "file:$SHARED/amd/e4.db?immutable=1" "SELECT 'DROP VIEW IF EXISTS \"' || name || '\"; ' || sql ||
        ';' FROM sqlite_master WHERE type = 'view' AND name NOT LIKE 'rocpd_%' ORDER BY rowid" | sqlite3 "$1"
}

@test "ROCm's views show every row" {
    needs "$SHARED/amd/e4.db"
    mixed
    for input in "${MIXED[@]}" "$RTG/profile.txt" "$SHARED/amd/e4.db" "$SHARED/amd/rank1_5001_results.db"; do
        rocmerge -q --rebuild -o v.db "$input"
        with_views v.db
        for view in kernels:kernel_dispatch regions:region samples:sample memory_copies:memory_copy \
            memory_allocations:memory_allocate processes:info_process kernel_symbols:info_kernel_symbol; do
            [ "$(sqlite3 v.db "SELECT count(*) FROM ${view%:*}")" = "$(rows v.db "${view#*:}")" ] ||
                fail "$input: $view"
        done
    done
    # and the same as the database that ROCm's tools wrote
    rocmerge -q --rebuild -o v.db "$SHARED/amd/e4.db"
    with_views v.db
    for sql in "name, count(*), sum(duration), sum(stack_id) FROM kernels GROUP BY 1" \
        "category, name, count(*), sum(duration), sum(tid) FROM regions GROUP BY 1, 2" \
        "name, count(*), sum(size), sum(duration) FROM memory_copies GROUP BY 1" \
        "type, level, count(*), sum(size), sum(address) FROM memory_allocations GROUP BY 1, 2" \
        "category, count(*), sum(timestamp) FROM samples GROUP BY 1" \
        "counter_name, count(*), sum(value) FROM counters_collection GROUP BY 1" \
        "* FROM top_kernels ORDER BY 1"; do
        diff <(sqlite3 "file:$SHARED/amd/e4.db?immutable=1" "SELECT $sql") <(sqlite3 v.db "SELECT $sql") ||
            fail "$sql"
    done
}
