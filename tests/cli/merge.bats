#!/usr/bin/env bats
# rocmerge: what comes out holds what went in, by SQL and by what the other tools make of it.

load helper
load databases

requires() {
    needs sqlite3 jq "$FIXTURES/schema-3.0.0.db" "$BUILD/tests/rocpd-gen"
}

# One database of every schema and writer, no two of one process.
parts() {
    local seed=10 version
    for version in 3.0.0 3.0.1 3.0.2 3.0.3 3.0.4 3.0.5 4.1.0; do
        gen "v$version.db" $((seed++)) --schema $version --args
    done
    gen every.db 20 --schema 3.0.5 --spm --graph --hip-events --args --rename
    gen sys.db 21 --writer rocprof-sys --rows 1500
    gen sys4.db 22 --writer rocprof-sys --schema 4.1.0 --rows 1500
    gen sets.db 23 --merged --processes 3 --nodes 2
    PARTS=(every.db sets.db sys.db sys4.db v*.db)
}

@test "all schemas and writers in one: the tools see the same" {
    parts
    try 0 rocmerge -o m.db "${PARTS[@]}"
    [ "${#stderr_lines[@]}" -eq 2 ]
    says "these inputs are 2 runs: rank 0 is in each"
    says "2 of 13 processes are of schema 4"
    sound m.db
    same_to_tools -- m.db "${PARTS[@]}"
    # The header names the files, and so do hosts with one name; only several of them can be several runs.
    for of in a b; do
        [ $of = a ] || PARTS=(m.db)
        rocstats all -q --format json "${PARTS[@]}" |
            jq 'del(.trace) | .tables |= map(select(.key | IN("doctor", "findings", "rules") | not))' |
            sed 's/ ([a-z0-9.]*\.db)//' >$of
    done
    cmp a b
    parts
    rocpd2pftrace -q --args -o a.pftrace "${PARTS[@]}"
    rocpd2pftrace -q --args -o b.pftrace m.db
    cmp a.pftrace b.pftrace
}

@test "counts and sums of every table, in SQL" {
    parts
    rocmerge -q -o m.db "${PARTS[@]}"
    for table in region kernel_dispatch memory_copy memory_allocate; do
        sql="SELECT '$table', count(*), sum(\"end\" - start), sum(event_id), min(id) FROM rocpd_$table%S"
        diff <(per_set "$sql" "${PARTS[@]}" | sort) <(per_set "$sql" m.db | sort)
        [ "$(per_set "$sql" "${PARTS[@]}" | awk -F'|' '{ n += $2 } END { print n }')" = \
            "$(sqlite3 m.db "SELECT count(*) FROM rocpd_$table")" ]
    done
    for table in sample event arg pmc_event info_agent info_kernel_symbol info_pmc track; do
        sql="SELECT '$table', count(*), sum(id) FROM rocpd_$table%S"
        diff <(per_set "$sql" "${PARTS[@]}" | sort) <(per_set "$sql" m.db | sort)
    done
    sqlite3 m.db "SELECT DISTINCT value FROM rocpd_metadata WHERE tag = 'schema_version'" >versions
    [ "$(cat versions)" = 3 ]
}

@test "schema 4: tracks and categories in the terms of schema 3" {
    gen four.db 5 --schema 4.1.0
    rocmerge -q -o m.db four.db
    s=$(suffix four.db)
    sqlite3 four.db "SELECT r.id, t.nid, t.pid, t.tid, c.name FROM rocpd_region$s r
        JOIN rocpd_track$s t ON t.id = r.track_id JOIN rocpd_event$s e ON e.id = r.event_id
        JOIN rocpd_info_category$s c ON c.id = e.category_id ORDER BY 1" >a
    sqlite3 m.db "SELECT r.id, r.nid, r.pid, r.tid, c.string FROM rocpd_region r
        JOIN rocpd_event e ON e.id = r.event_id JOIN rocpd_string c ON c.id = e.category_id
        ORDER BY 1" >b
    [ -s a ]
    diff a b
    sqlite3 four.db "SELECT d.id, t.agent_id, t.queue_id, t.stream_id FROM rocpd_kernel_dispatch$s d
        JOIN rocpd_track$s t ON t.id = d.track_id ORDER BY 1" >a
    sqlite3 m.db "SELECT id, agent_id, queue_id, stream_id FROM rocpd_kernel_dispatch ORDER BY 1" >b
    [ -s a ]
    diff a b
}

@test "older schemas get the columns and tables of newer ones" {
    gen old.db 1 && gen new.db 2 --schema 3.0.5 --graph --spm --rows 3000
    rocmerge -q -o m.db old.db new.db
    s=$(suffix old.db)
    [ "$(sqlite3 m.db "SELECT DISTINCT graph_exec_id FROM rocpd_kernel_dispatch$s")" = 0 ]
    [ "$(sqlite3 m.db "SELECT count(*) FROM rocpd_graph_launch$s")" = 0 ]
    [ "$(sqlite3 m.db "SELECT count(*) FROM rocpd_graph_launch")" -gt 0 ]
    sqlite3 m.db "SELECT group_concat(name) FROM pragma_table_info('rocpd_kernel_dispatch$s')" >a
    sqlite3 m.db "SELECT group_concat(name) FROM pragma_table_info('rocpd_kernel_dispatch')" >b
    diff a b
}

@test "merged of merged, and once more: the same bytes" {
    parts
    rocmerge -q -o one.db sys.db sets.db
    rocmerge -q -o m.db one.db v3*.db
    rocmerge -q -o all.db sys.db sets.db v3*.db
    cmp m.db all.db
    rocmerge -q -o again.db m.db
    cmp m.db again.db
}

@test "--flat: one set of tables" {
    parts
    try 0 rocmerge --flat -q -o f.db "${PARTS[@]}"
    silent
    sound f.db
    [ "$(sqlite3 f.db "SELECT count(*) FROM rocpd_metadata WHERE tag = 'uuid'")" = 1 ]
    [ "$(sqlite3 f.db "SELECT count(*) FROM sqlite_master WHERE name LIKE 'rocpd_region%' AND
        type = 'table'")" = 1 ]
    for table in region kernel_dispatch memory_copy memory_allocate; do
        sql="SELECT count(*), sum(\"end\" - start) FROM rocpd_$table%S"
        per_set "$sql" "${PARTS[@]}" | awk -F'|' '{ n += $1; s += $2 } END { printf "%d|%d\n", n, s }' >a
        sqlite3 f.db "SELECT count(*), sum(\"end\" - start) FROM rocpd_$table" >b
        diff a b
    done
    for report in kernels copies domains; do
        diff <(rocstats $report "${PARTS[@]}") <(rocstats $report f.db)
    done
    # Arrows go where they went: no stack id of one process is one of another.
    [ "$(sqlite3 f.db "SELECT count(*) FROM (SELECT e.stack_id FROM rocpd_region r JOIN rocpd_event e
        ON e.id = r.event_id WHERE e.stack_id GROUP BY 1 HAVING count(DISTINCT r.pid) > 1)")" = 0 ]
    sql="SELECT count(*) FROM rocpd_kernel_dispatch%S k JOIN rocpd_event%S e ON e.id = k.event_id
        JOIN rocpd_event%S f ON f.stack_id = e.stack_id AND f.id <> e.id WHERE e.stack_id"
    [ "$(per_set "$sql" "${PARTS[@]}" | awk '{ n += $1 } END { print n }')" = "$(per_set "$sql" f.db)" ]
    # Names are the names they were.
    sql="SELECT s.string, count(*) FROM rocpd_region%S r JOIN rocpd_string%S s ON s.id = r.name_id
        GROUP BY 1 ORDER BY 1"
    diff <(per_set "$sql" "${PARTS[@]}" | awk -F'|' '{ n[$1] += $2 } END { for (k in n) print k "|" n[k] }' | LC_ALL=C sort) \
        <(per_set "$sql" f.db | LC_ALL=C sort)
    [ "$(sqlite3 f.db "SELECT count(DISTINCT json_extract(extdata, '\$.guid')) FROM rocpd_info_process")" = 13 ]
}

@test "the same filters before and after the merge" {
    parts
    while read -r options; do
        # shellcheck disable=SC2086
        rocmerge -q $options -o x.db "${PARTS[@]}" || [ $? -eq 1 ]
        sound x.db
        # shellcheck disable=SC2086
        same_to_tools $options -- x.db "${PARTS[@]}"
    done <<'END'
--start 30% --end 60%
--start 30% --end 60% --overlap
--start 30% --end 60% --clip
--name gemm
--include kernel
--include marker,copy
--exclude hip
--exclude counter,sample
--agent 2
--min-duration 20us
--include sample --name power
END
}

@test "filtered: small, and nothing that refers to nothing" {
    gen a.db 1 --args --rows 20000
    rocmerge -o x.db --start 40% --end 41% a.db
    sound x.db
    [ "$(stat -c %s x.db)" -lt $(($(stat -c %s a.db) / 10)) ]
    [ "$(sqlite3 x.db "SELECT count(*) FROM rocpd_event WHERE id NOT IN (SELECT event_id FROM
        rocpd_region UNION ALL SELECT event_id FROM rocpd_kernel_dispatch UNION ALL SELECT event_id
        FROM rocpd_memory_copy UNION ALL SELECT event_id FROM rocpd_memory_allocate UNION ALL SELECT
        event_id FROM rocpd_sample)")" = 0 ]
    [ "$(sqlite3 x.db "SELECT count(*) FROM rocpd_arg WHERE event_id NOT IN (SELECT id FROM
        rocpd_event)")" = 0 ]
    [ "$(sqlite3 x.db "SELECT count(*) FROM rocpd_info_kernel_symbol WHERE id NOT IN (SELECT
        kernel_id FROM rocpd_kernel_dispatch)")" = 0 ]
    [ "$(sqlite3 x.db 'SELECT count(*) FROM rocpd_arg')" -gt 0 ]
}

@test "--rank takes processes" {
    gen "r%r.db" 1 --processes 3
    rocmerge -o x.db --rank 1 r*.db
    [ "$(sqlite3 x.db "SELECT count(*) FROM rocpd_metadata WHERE tag = 'guid'")" = 1 ]
    same_to_tools -- x.db r1.db
}

@test "--split: the union of slices is the whole, nothing twice" {
    gen a.db 1 --args --rows 2000
    gen b.db 2 --rows 2000
    for n in 1 2 7 1ms; do
        rm -f s-*.db
        try 0 rocmerge -o s.db --split $n a.db b.db
        for table in region kernel_dispatch memory_copy memory_allocate arg pmc_event event; do
            for db in a.db b.db; do
                s=$(suffix $db)
                for slice in s-*.db; do
                    sqlite3 $slice "SELECT * FROM rocpd_$table$s"
                done | sort >slices
                sqlite3 $db "SELECT * FROM rocpd_$table$s" | sort >whole
                diff whole slices
            done
        done
        for slice in s-*.db; do
            sound $slice
        done
    done
    [ "$(echo s-*.db | wc -w)" -gt 2 ]
}

@test "--split: an event is in the slice that it starts in" {
    gen a.db 1 --rows 2000
    rocmerge -o s.db --split 4 a.db
    all="SELECT start FROM rocpd_region UNION ALL SELECT start FROM rocpd_kernel_dispatch UNION ALL
        SELECT start FROM rocpd_memory_copy UNION ALL SELECT start FROM rocpd_memory_allocate UNION
        ALL SELECT timestamp FROM rocpd_sample"
    read -r first width < <(sqlite3 -separator ' ' a.db "SELECT min(start),
        (max(start) - min(start)) / 4 + 1 FROM ($all)")
    for i in 1 2 3 4; do
        [ "$(sqlite3 s-$i.db "SELECT count(*) FROM ($all) WHERE (start - $first) / $width <> $i - 1")" = 0 ]
        [ "$(sqlite3 s-$i.db "SELECT count(*) FROM ($all)")" -gt 0 ]
    done
}

@test "slices together are the whole again, in every tool" {
    gen a.db 1 --args --rows 2000 && gen b.db 2 --schema 4.1.0 --rows 2000 && gen c.db 3
    rocmerge -q --start 0 -o whole.db a.db b.db # slices hold what events refer to
    rocmerge -q -o s.db --split 3 a.db b.db
    try 0 rocmerge -q -o m.db s-3.db c.db s-1.db s-2.db
    silent
    sound m.db
    rocmerge -q -o ref.db whole.db c.db
    diff <(sqlite3 ref.db .dump) <(sqlite3 m.db .dump)
    rocpd2csv -q -d x whole.db
    rocpd2csv -q -d y s-?.db
    diff -r x y
    for report in kernels copies launch; do
        diff <(rocstats -q $report whole.db) <(rocstats -q $report s-?.db)
    done
    rocpd2pftrace -q -o x.pftrace whole.db
    rocpd2pftrace -q -o y.pftrace s-?.db
    cmp x.pftrace y.pftrace
    # Two of three are a part, to which the third can be added.
    rocmerge -q -o two.db s-1.db s-3.db
    rocmerge -q -o m.db two.db s-2.db
    diff <(sqlite3 whole.db .dump) <(sqlite3 m.db .dump)
    # Rows that overlap are the same rows; others are not put together.
    rocmerge -q -o t.db --split 2 whole.db
    rocmerge -q -o m.db s-1.db s-2.db t-2.db
    [ "$(per_set 'SELECT count(*), sum(id) FROM rocpd_region%S' m.db)" = \
        "$(per_set 'SELECT count(*), sum(id) FROM rocpd_region%S' whole.db)" ]
    s=$(suffix s-2.db)
    sqlite3 s-2.db "UPDATE rocpd_string$s SET string = 'other' WHERE id = (SELECT min(id) FROM rocpd_string$s)"
    rm m.db
    try 3 rocmerge -q -o m.db s-1.db s-2.db
    says "s-2.db: table rocpd_string"
    says "differs from that of an earlier slice"
    [ ! -e m.db ]
    try 3 rocpd2csv -d z s-1.db whole.db
    says "holds the same process"
    try 2 rocmerge --package -d p t-1.db t-2.db
    says "add --consolidate"
    # What has no name cannot be listed, but written.
    try 3 rocmerge --package -d q - <t-1.db
    says "there is no file that an index could list: add --consolidate"
    try 0 rocmerge -q -c -d q - <whole.db
    same_to_tools -- q.rpdb whole.db
    rocmerge -q -c -d p t-1.db t-2.db
    same_to_tools -- p.rpdb whole.db
}

@test "slices of many processes together are the whole again" {
    "$BUILD/tests/rocpd-gen" -o r%r.db --processes 33 --rows 60 --kernels 10 --caches 0
    rocmerge -q --start 0 -o whole.db r*.db
    rocmerge -q -o s.db --split 3 r*.db
    try 0 rocmerge -q -o m.db s-?.db
    silent
    sound m.db
    diff <(sqlite3 whole.db .dump) <(sqlite3 m.db .dump)
    try 0 rocpd2csv -q -d y s-?.db
    rocpd2csv -q -d x whole.db
    diff -r x y
}

@test "more slices than files stay open, with filters: as if never cut" {
    "$BUILD/tests/rocpd-gen" -o r%r.db --processes 5 --rows 200 --kernels 20 --caches 0
    rocmerge -q --start 0 -o whole.db r*.db
    rocmerge -q -o s.db --split 12 r*.db
    [ "$(echo s-*.db | wc -w)" = 12 ]
    for options in "" "--start 30% --end 60%" "--start 20% --clip" "--rank 1,3" "--name gemm" \
        "--include kernel,sample" "--flat --exclude hip"; do
        # shellcheck disable=SC2086
        try 0 rocmerge -q $options -o m.db s-*.db
        silent
        # shellcheck disable=SC2086
        rocmerge -q $options -o ref.db whole.db
        diff <(sqlite3 ref.db .dump) <(sqlite3 m.db .dump)
    done
}

@test "--split: slices of an earlier cut do not stay beside the new ones" {
    gen a.db 1 --rows 2000 && cp a.db s-9.db
    rocmerge -q -o s.db --split 12 a.db
    [ -e s-01.db ]
    try 0 rocmerge -o s.db --split 4 a.db
    says "12 slices of an earlier run removed"
    try 2 rocmerge -q -o s.db --split 2 s-1.db s-2.db s-3.db s-4.db
    says "is an input"
    try 0 rocmerge -q -o s.db --split 2 a.db
    [ "$(ls -A | paste -sd' ')" = "a.db s-1.db s-2.db s-9.db" ] # the last one is no slice
    rocmerge -q -o m.db s-1.db s-2.db
    same_to_tools -- m.db a.db
}

@test "--split: what it does not take" {
    gen a.db 1
    for n in 0 x -1 501 5parsec; do
        try 2 rocmerge -o s.db --split $n a.db
    done
    try 2 rocmerge -o s.db --split 1ns a.db
    says "too many"
    [ "$(ls)" = a.db ]
}

@test "--flat: behind the work of a GPU is the tail of the processes that used it" {
    local rank
    for rank in 0 1; do
        cat >"rank$rank.json" <<END
{"schemaVersion":1,"distributedInfo":{"rank":$rank},"traceEvents":[
{"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":10$rank,"tid":1,"ts":1,"dur":1,"args":{"correlation":1}},
{"ph":"X","cat":"kernel","name":"k","pid":$rank,"tid":1,"ts":10,"dur":10,"args":{"device":$rank,"stream":1,"correlation":1}},
{"ph":"X","cat":"cuda_runtime","name":"hipFree","pid":10$rank,"tid":1,"ts":30,"dur":$((40 - rank * 30)),"args":{"correlation":2}}]}
END
    done
    rocmerge -q --flat -o f.db rank?.json
    for j in "-j 1" "-j 4" "--team 2"; do
        # shellcheck disable=SC2086
        [ "$(rocstats gaps $j --table gap_classes --format json f.db | jq -c '.tables[].rows[] | [.gpu, .class, .total_ns]')" == \
            $'["GPU 0 of rank 0","tail",50000]\n["GPU 1 of rank 1","tail",20000]' ]
    done
}

@test "a pipe that nobody reads is refused like other special files" {
    gen a.db 1
    mkfifo pipe
    for options in "" "--flat" "--rebuild" "--start 0"; do
        # shellcheck disable=SC2086
        try 4 timeout 20 rocmerge $options -o pipe a.db
        one_line rocmerge
        says "pipe: a database can only be written to a regular file"
    done
}

@test "--flat: processes of several nodes are told, as readers take them to be of one" {
    gen "r%r.db" 1 --processes 4 --nodes 2
    try 0 rocmerge --flat --align none -o f.db r?.db
    one_line rocmerge
    says "processes of 2 nodes are in one set of tables"
    says "of synth-node-0; merge each node by itself, or without --flat"
    try 0 rocmerge --flat --align none --split 2 -o s.db r?.db
    one_line rocmerge
    for merged in "--flat -o f.db r0.db r1.db" "--flat --rank 2-3 -o f.db r?.db" "-o m.db r?.db"; do
        # shellcheck disable=SC2086
        try 0 rocmerge --align none $merged
        silent
    done
}

@test "--flat: a process of a flat database and the same process in another file are refused" {
    gen "r%r.db" 1 --processes 3
    guid=$(sqlite3 r1.db "SELECT guid FROM rocpd_info_process$(suffix r1.db)")
    for how in "" --rebuild; do
        # shellcheck disable=SC2086
        rocmerge --flat $how -o f.db r0.db r1.db
        rocmerge --flat -o g.db r1.db r2.db
        for others in r1.db g.db; do
            for tool in "rocmerge -o m.db" "rocpd2csv -d csv" "rocstats --team 2"; do
                # shellcheck disable=SC2086
                try 3 $tool f.db $others
                says "holds the same process (guid $guid) as "
            done
        done
        try 0 rocmerge -o m.db f.db r2.db
        silent
        rm m.db
        # The same of what is made of a flat database.
        for again in --flat --rebuild "--flat --rebuild"; do
            # shellcheck disable=SC2086
            rocmerge $again -o h.db f.db
            [ "$(sqlite3 h.db "SELECT json_extract(extdata, '\$.guid') FROM rocpd_info_process WHERE pid = 4300")" = "$guid" ]
            try 3 rocmerge -o m.db h.db r1.db
            says "holds the same process (guid $guid) as "
        done
    done
    [ ! -e csv ]
}

@test "--flat: CSV files of it have the guids that processes had before" {
    gen "r%r.db" 1 --processes 3
    rocmerge --flat -o f.db r?.db
    rocstats ranks --table ranks --format csv f.db | cut -d, -f2,4- >expected # without rank and host
    for style in rocpd-1.0 rocpd-1.1; do
        try 0 rocpd2csv -q --style $style -d $style f.db
        diff <(for db in r?.db; do
            sqlite3 $db "SELECT guid FROM rocpd_info_process$(suffix $db)"
        done | sort) <(cut -d'"' -f2 $style/out_kernel_trace.csv | sed 1d | sort -u)
        diff expected <(rocstats ranks --table ranks --format csv $style | cut -d, -f2,4-)
    done
}

@test "--flat: numbers that leave none for the next process" {
    gen "r%r.db" 1 --processes 2
    s=$(suffix r0.db)
    sqlite3 r0.db "UPDATE rocpd_event$s SET stack_id = 9223372036854775807 WHERE id = 1"
    for how in "" --rebuild; do
        # shellcheck disable=SC2086
        try 3 rocmerge --flat $how -o f.db r?.db
        one_line rocmerge
        says "r1.db: "
        says "a number that links events, behind those of the files before it, would be too large: merge without --flat"
        # shellcheck disable=SC2086
        try 0 rocmerge $how -o m.db r?.db
    done
    [ ! -e f.db ]
}

@test "the environment stays where it is, but for the rank" {
    gen "r%r.db" 1 --processes 2
    for db in r0.db r1.db; do
        s=$(suffix $db)
        sqlite3 $db "UPDATE rocpd_info_process$s SET environment = json_set(environment,
            '\$.SECRET_TOKEN', 'hunter2', '\$.RANK', 'hunter2')"
    done
    rocmerge -o m.db r0.db r1.db
    rocmerge --flat -o f.db r0.db r1.db
    rocmerge --include kernel -o k.db r0.db r1.db
    run ! grep -q hunter2 m.db f.db k.db
    diff <(rocstats kernels --by-rank r0.db r1.db) <(rocstats kernels --by-rank m.db)
    rocmerge --keep-environment -o e.db r0.db r1.db
    grep -q hunter2 e.db
}

@test "broken rows are copied without filters, and left out with them" {
    for name in nasty-3.0.0 nasty-3.0.5 nasty-4.1.0 nasty-lz4 nasty-sys; do
        db=$FIXTURES/$name.db
        try 0 rocmerge -q -o m.db "$db"
        silent
        [ "$(sqlite3 m.db 'PRAGMA integrity_check')" = ok ]
        same_to_tools -- m.db "$db"
        run --separate-stderr rocpd2csv -d a "$db"
        before=${stderr//"$db"/m.db}
        run --separate-stderr rocpd2csv -d b m.db
        # A track that is not there leaves columns empty, which refer to nothing any more.
        [ "$before" = "$stderr" ] || [ $name = nasty-4.1.0 ] || fail "other complaints than: $before"
        try 1 rocmerge -o x.db --start 0 "$db"
        says "left out"
        same_to_tools -- x.db "$db"
    done
}

# A row says that its text is longer than it is.
damage() { # database
    local at
    sqlite3 "$1" "UPDATE rocpd_string$(suffix "$1") SET string = 'GEMM_OF_THE_DAY' WHERE id = 5; VACUUM"
    at=$(grep -abo '[0-9a-f]\{12\}GEMM_OF_THE_DAY' "$1" | cut -d: -f1)
    printf '\x7f' | dd of="$1" bs=1 seek=$((at - 25)) conv=notrunc status=none
}

# One byte in 2,000 becomes 0x7f: some of them are in the headers of rows, many in values.
@test "damaged rows: what cannot be read is not copied, and what is copied is sound" {
    local size at refused=0 n=0 how
    gen a.db 1 --args
    size=$(stat -c %s a.db)
    for ((at = 5000; at < size; at += 1999)); do
        cp a.db x.db
        printf '\x7f' | dd of=x.db bs=1 seek=$at conv=notrunc status=none
        rm -rf o.db p.rpdb
        how=$((n++ % 4))
        case $how in
            0) run rocmerge -q -o o.db x.db ;;
            1) run rocmerge -q --flat -o o.db x.db ;;
            2) run rocmerge -q --reader sqlite -o o.db x.db ;;
            3) run rocmerge -q -c -d p x.db ;;
        esac
        if [ "$status" -eq 3 ]; then
            refused=$((refused + 1))
            [[ "$output" == "rocmerge: x.db: "* ]] || fail "$output"
            continue
        fi
        [ "$status" -eq 0 ] || fail "byte $at: exit code $status: $output"
        [ $how -eq 3 ] && mv p.rpdb/x.db o.db
        [ "$(sqlite3 o.db 'PRAGMA integrity_check')" = ok ] || fail "byte $at: the copy is damaged"
        [ $how -eq 2 ] || rocpd2csv -q -d csv x.db || [ $? -eq 1 ] || fail "byte $at: it was copied"
    done
    [ $refused -gt 10 ] || fail "only $refused were refused"
}

@test "damaged rows: the same words as from other tools" {
    gen a.db 1
    damage a.db
    try 3 rocpd2csv -d csv a.db
    says "table rocpd_string"
    said=${stderr#rocpd2csv}
    for options in "-o o.db" "--flat -o o.db" "--start 0 -o o.db" "--split 2 -o o.db" "-c -d p" \
        "-j 1 -o o.db"; do
        # shellcheck disable=SC2086
        try 3 rocmerge $options a.db
        [ "$stderr" = "rocmerge$said" ] || fail "$options: $stderr"
    done
}

@test "write-ahead logs, missing tables, no views, odd suffixes" {
    for name in wal-live wal-clean few-tables no-views no-underscore merged-no-underscore empty-tables spm \
        hip-events graph nic rename; do
        try 0 rocmerge -q -o m.db "$FIXTURES/$name.db"
        silent
        sound m.db
        same_to_tools -- m.db "$FIXTURES/$name.db"
    done
}

@test "two sets with one suffix, and a guid that is no word" {
    gen a.db 1 --no-underscore && gen b.db 2 --no-underscore
    s=$(suffix b.db)
    sqlite3 b.db "UPDATE rocpd_info_process$s SET guid = 'it''s \"odd\"; DROP %s'"
    rocmerge -o m.db a.db b.db
    sound m.db
    [ "$(sqlite3 m.db "SELECT count(*) FROM rocpd_region")" = \
        "$(($(per_set 'SELECT count(*) FROM rocpd_region%S' a.db b.db | paste -sd+)))" ]
    same_to_tools -- m.db a.db b.db
}

# Tables without a suffix, and no guid anywhere.
without_guid() { # database
    local s
    s=$(suffix "$1")
    sqlite3 "$1" "SELECT 'DROP VIEW \"' || name || '\";' FROM sqlite_master WHERE type = 'view'
        UNION ALL SELECT 'ALTER TABLE \"' || name || '\" RENAME TO \"' || replace(name, '$s', '') || '\";'
        FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd%'" >rename.sql
    sqlite3 "$1" <rename.sql
    sqlite3 "$1" "UPDATE rocpd_info_process SET guid = '';
        DELETE FROM rocpd_metadata WHERE tag IN ('uuid', 'guid')"
    [ -z "$(suffix "$1")" ]
}

@test "databases without a guid are no slices of one process" {
    gen a.db 1 && gen b.db 2
    without_guid a.db
    without_guid b.db
    for options in "" "--start 30% --end 60%" "--include kernel" "--flat" "--flat --start 30%"; do
        # shellcheck disable=SC2086
        try 0 rocmerge -q $options -o m.db a.db b.db
        silent
        sound m.db
        [ "$(sqlite3 m.db "SELECT count(*) FROM rocpd_metadata WHERE tag = 'uuid'")" = \
            "$([[ $options == *flat* ]] && echo 1 || echo 2)" ]
        # shellcheck disable=SC2086
        rocstats -q --format csv --table kernels,copies,copy_sizes,domains ${options#--flat} a.db b.db >before
        diff before <(rocstats -q --format csv --table kernels,copies,copy_sizes,domains m.db)
    done
}

@test "columns and tables that nobody knows" {
    gen a.db 1 && gen b.db 2
    s=$(suffix a.db)
    sqlite3 a.db "ALTER TABLE rocpd_region$s ADD COLUMN mood TEXT DEFAULT 'it''s fine';
        CREATE TABLE rocpd_weather$s (id INTEGER PRIMARY KEY, guid TEXT, \"odd \"\" name\" TEXT);
        INSERT INTO rocpd_weather$s VALUES (7, 'g', 'rain');
        CREATE TABLE notes (x); INSERT INTO notes VALUES (1)"
    sqlite3 b.db "ALTER TABLE rocpd_string$(suffix b.db) ADD COLUMN size AS (length(string))"
    try 0 rocmerge -o m.db a.db b.db
    one_line rocmerge
    says "notes"
    sound m.db
    [ "$(sqlite3 m.db "SELECT DISTINCT mood FROM rocpd_region")" = "it's fine" ]
    [ "$(sqlite3 m.db "SELECT * FROM rocpd_weather")" = "7|g|rain" ]
    [ "$(sqlite3 m.db "SELECT count(*) FROM rocpd_string WHERE size = length(string)")" -gt 0 ]
    same_to_tools -- m.db a.db b.db
    rocmerge -q --flat -o f.db a.db b.db
    sound f.db
}

# takes COMMAND...: done, perhaps with losses; without an id, or the metadata, it is refused.
takes() {
    run --separate-stderr "$@"
    [ "$status" -le 1 ] && return
    [ "$status" -eq 3 ] || fail "$gone is gone: $*"
    [[ "$stderr" == *'has no column "id"' || "$stderr" == *"not a rocpd trace"* ]] ||
        fail "$gone is gone: $*"
}

@test "each table and each column is missing in turn, in every tool" {
    local n=0 gone version table column s others
    others=("rocpd2csv -q -d o/csv" "rocpd2pftrace -q --args -o o/t" "rocpd2otf2 -q -o o/otf2"
        "rtg2json -q -o o/t.json" "rocstats -q all" "rocmerge -q --split 2 -o o/s.db"
        "rocmerge -q --rebuild -o o/r.db" "rocmerge -q -o o/m.db" "rocmerge -q -c -d o/p"
        "rocmerge -q --flat -o o/f.db" "rocmerge -q --start 0 -o o/x.db")
    mkdir o
    for version in 3.0.5 4.1.0; do
        gen $version.db 1 --schema $version --rows 60 --args
        s=$(suffix $version.db)
        sqlite3 -separator ' ' $version.db "SELECT t.name, c.name FROM sqlite_master t,
            pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name LIKE 'rocpd%'
            UNION ALL SELECT name, '' FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd%'" >all
        while read -r table column; do
            gone="${table%"$s"} $column"
            cp $version.db x.db
            sqlite3 x.db "PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON;
                ALTER TABLE $table RENAME ${column:+COLUMN \"$column\"} TO gone"
            takes rocmerge -q --flat --start 0 -o o/f.db x.db
            # shellcheck disable=SC2086
            takes ${others[n++ % 11]} x.db
        done <all
    done
    [ $n -gt 250 ]
}

@test "inputs are not touched, also when they cannot be written" {
    mkdir in
    gen in/a.db 1 && gen in/b.db 2
    chmod 444 in/* && chmod 555 in
    before=$(cd in && stat -c '%n %s %Y %Z' . * && md5sum *)
    rocmerge -o m.db in
    rocmerge -o s.db --split 2 in
    [ "$before" = "$(cd in && stat -c '%n %s %Y %Z' . * && md5sum *)" ]
    chmod 755 in
}

@test "the same process twice is refused" {
    gen a.db 1 && cp a.db b.db
    try 3 rocmerge -o m.db a.db b.db
    one_line rocmerge
    says "b.db: holds the same process"
    says "as a.db"
    [ ! -e m.db ]
}

@test "what is no trace is refused" {
    gen a.db 1
    echo nothing >a.txt
    try 3 rocmerge -o m.db a.db a.txt
    try 3 rocmerge --package a.db "$TOP/tests/fixtures/rtg/calls.txt"
    says "calls.txt: not a rocpd database"
    try 3 rocmerge -o m.db "$FIXTURES/corrupt.db"
    [ ! -e m.db ]
}

@test "an output that is an input is refused" {
    mkdir in
    gen in/a.db 1
    before=$(md5sum in/a.db)
    try 2 rocmerge -o in/a.db in/a.db
    try 2 rocmerge -o in/a.db in
    says "is an input"
    try 2 rocmerge -o - in
    [ "$before" = "$(md5sum in/a.db)" ]
}

@test "outputs that cannot be written: the old one stays, nothing is left" {
    gen a.db 1 --rows 3000
    echo old >m.db
    ln -s /dev/full full.db
    try 4 rocmerge -o full.db a.db
    run bash -c 'ulimit -f 64; trap "" XFSZ; rocmerge -q -o m.db a.db'
    [ "$status" -eq 4 ] || fail "exit code 4 was expected"
    [[ "$output" == *"m.db: cannot write: File too large"* ]]
    [ "$(cat m.db)" = old ]
    run bash -c 'ulimit -f 64; trap "" XFSZ; rocmerge -q --split 3 -o s.db a.db'
    [ "$status" -eq 4 ]
    [ "$(ls -A | paste -sd' ')" = "a.db full.db m.db" ]
}

@test "logs of an older output go with it" {
    local name
    gen a.db 1 && mkdir d
    rocmerge -q -o ref.db a.db
    cp "$FIXTURES/wal-live.db" d/o.db && cp "$FIXTURES/wal-live.db-wal" d/o.db-wal
    cp "$FIXTURES/wal-live.db-wal" d/p.db-wal # of nothing
    printf '\xd9\xd5\x05\xf9\x20\xa1\x63\xd7 of a writer that is gone' >d/q.db-journal
    cp a.db d/q.db && echo >d/o.db-shm
    cp "$FIXTURES/wal-live.db-wal" d/s-2.db-wal
    for name in o p q; do
        try 0 rocmerge -q -o d/$name.db a.db
        cmp ref.db d/$name.db
        sound d/$name.db
    done
    rocmerge -q --split 2 -d d -o s.db a.db
    sound d/s-2.db
    [ "$(ls -A d | paste -sd' ')" = "o.db p.db q.db s-1.db s-2.db" ]
    rocmerge -q -c -d p a.db
    cp "$FIXTURES/wal-live.db-wal" p.rpdb/new.db-wal
    cp "$FIXTURES/rank1.db" new.db
    rocmerge -q -c -d p new.db
    sound p.rpdb/new.db
    sqlite3 p.rpdb/a.db "PRAGMA journal_mode = wal; CREATE TABLE t (x)" ".shell cp p.rpdb/a.db-wal log" >/dev/null
    cp log p.rpdb/a.db-wal
    rocmerge -q -c -d p a.db
    [ "$(ls -A p.rpdb | paste -sd' ')" = "a.db index.yaml new.db" ]
    sound p.rpdb/a.db
    cp "$FIXTURES/wal-live.db-wal" d/t.db-wal
    rocrec -q -o d/t.db "$BUILD/tests/traced" events 10 >/dev/null
    sound d/t.db
    # An output that fails leaves all as it was.
    cp "$FIXTURES/wal-live.db" d/o.db && cp "$FIXTURES/wal-live.db-wal" d/o.db-wal
    before=$(cat d/o.db*)
    try 3 rocmerge -q -o d/o.db a.db "$FIXTURES/corrupt.db"
    [ "$before" = "$(cat d/o.db*)" ]
}

@test "an output that a program has open is refused" {
    local mode
    gen a.db 1
    for mode in wal delete; do
        rm -f o.db* ready go
        sqlite3 o.db "PRAGMA journal_mode = $mode; CREATE TABLE t (x); INSERT INTO t VALUES (1)" >/dev/null
        mkfifo go
        sqlite3 o.db >/dev/null <<END &
PRAGMA journal_mode = $mode;
BEGIN IMMEDIATE;
INSERT INTO t VALUES (2);
.shell echo >ready
.shell cat go
COMMIT;
END
        while [ ! -e ready ]; do
            sleep 0.02
        done
        run --separate-stderr rocmerge -q -o o.db a.db
        echo >go
        wait
        [ "$status" -eq 4 ] || fail "$mode: exit code 4 was expected"
        says "o.db: another program has this database open"
        [ "$(sqlite3 o.db 'SELECT sum(x) FROM t; PRAGMA integrity_check' | paste -sd' ')" = "3 ok" ]
        rocmerge -q -o o.db a.db
        sound o.db
    done
}

@test "slices and files of a package that a program has open are refused" {
    local file command
    gen a.db 1
    rocmerge -q --split 2 -o s.db a.db
    rocmerge -q -c -d p a.db
    for file in s-2.db p.rpdb/a.db; do
        rm -f ready go
        mkfifo go
        sqlite3 $file >/dev/null <<END &
PRAGMA journal_mode = wal;
CREATE TABLE t (x);
.shell echo >ready
.shell cat go
END
        while [ ! -e ready ]; do
            sleep 0.02
        done
        command="--split 2 -o s.db"
        [ $file = s-2.db ] || command="-c -d p"
        # shellcheck disable=SC2086
        run --separate-stderr rocmerge -q $command a.db
        echo >go
        wait
        [ "$status" -eq 4 ] || fail "$file: exit code 4 was expected"
        says "$file: another program has this database open"
        [ "$(sqlite3 $file "SELECT count(*) FROM sqlite_master WHERE name = 't'")" = 1 ]
    done
    [ -z "$(ls -Ad .rocline* p.rpdb/.rocline* 2>/dev/null)" ]
}

@test "options of names are filters, as --help says" {
    needs "$FIXTURES/rename.db"
    for how in "" --rebuild; do
        # shellcheck disable=SC2086
        rocmerge -q $how -o plain.db "$FIXTURES/rename.db"
        for option in --kernel-rename --csv-safe "--kernel-names short" "--agent-index-value type-relative"; do
            # shellcheck disable=SC2086
            rocmerge -q $how $option -o named.db "$FIXTURES/rename.db"
            cmp plain.db named.db
        done
    done
    rocmerge -q -o short.db --kernel-names short "$TOP/tests/fixtures/rtg/calls.txt"
    [ "$(sqlite3 short.db "SELECT display_name FROM rocpd_info_kernel_symbol WHERE display_name LIKE 'scale%'")" = scale ]
    help=$(rocmerge --help=all | tr -s ' \n' ' ')
    [[ "$help" == *"--kernel-rename name kernels after the ROCTx range in which they were launched (merge: only for filters)"* ]]
}

@test "errors name the output, also while it has a hidden name" {
    local command
    needs prlimit
    gen a.db 1
    for command in "-c -d d/p" "--split 2 -o d/s.db" "-o d/o.db"; do
        # shellcheck disable=SC2086
        try 4 prlimit --fsize=65536 rocmerge -q $command a.db
        [[ "$stderr" =~ ^"rocmerge: d/"(p.rpdb/a|s-1|o)".db: cannot write: File too large"$ ]] || fail "$command"
        [ ! -e d ] || fail "something is left"
    done
}

@test "--strict: a broken record of what is copied as it is is an error" {
    try 3 rocmerge --strict -o o.db "$FIXTURES/nasty-3.0.0.db"
    says "nasty-3.0.0.db: "
    try 3 rocmerge --strict -c -d p "$FIXTURES/rank0.db" "$FIXTURES/nasty-3.0.0.db"
    try 3 rocmerge --strict --flat -o o.db "$FIXTURES/nasty-3.0.0.db"
    [ -z "$(ls -A)" ]
    try 0 rocmerge --strict -o o.db "$FIXTURES/everything.db"
    rocmerge -o p.db "$FIXTURES/everything.db"
    cmp o.db p.db
}

@test "a kill leaves nothing" {
    gen a.db 1 --rows 200000
    survives_kills a.db
}

@test "where the output goes" {
    gen a.db 1
    rocmerge a.db
    [ -s rocpd-output-data/merged.db ]
    rocmerge -o x -d d a.db
    [ -s d/x.db ]
    rocmerge -o y.db -d d a.db
    [ -s d/y.db ]
    rocmerge -o z.db a.db
    [ -s z.db ]
    ROCPD_OUTPUT_NAME=n ROCPD_OUTPUT_PATH=p rocmerge a.db
    [ -s p/n.db ]
    rm -rf rocpd-output-data
}

@test "--align: the same as when the parts are read with it" {
    gen r%r.db 1 --processes 4 --nodes 2 --schema 3.0.5 --spm --graph --hip-events --clock-step 3600000000000
    gen s.db 2 --schema 4.1.0 --first-rank 3
    gen t%r.db 3 --writer rocprof-sys --rows 1000 --first-rank 4 --processes 2 --nodes 2
    printf 'synth-node-0 +1ms\nsynth-node-1 -3600s\nsynth-node-2 5\nsynth-node-3 0\nsynth-node-4 0\nsynth-node-5 0\n' >clocks.txt
    for how in start "offsets clocks.txt"; do
        for form in "" "--end 50%" "--start 20% --end 60% --clip" "--exclude hsa"; do
            # shellcheck disable=SC2086
            rocmerge -q --align $how $form -o m.db [rst]*.db
            sound m.db
            rm -rf parts-csv merged-csv
            # shellcheck disable=SC2086
            rocpd2csv -q --align $how $form -d parts-csv [rst]*.db
            rocpd2csv -q --align none -d merged-csv m.db
            diff -rq parts-csv merged-csv || fail "$how $form"
        done
        # shellcheck disable=SC2086
        rocmerge -q --align $how --flat -o f.db [rst]*.db
        # shellcheck disable=SC2086
        rocmerge -q --align $how -o m.db [rst]*.db
        sound f.db
        for what in 'start), sum("end" - start) FROM rocpd_region' 'start), sum("end") FROM rocpd_kernel_dispatch' \
            'timestamp) FROM rocpd_sample' 'init), sum(fini) FROM rocpd_info_process'; do
            [ "$(sqlite3 f.db "SELECT count(*), sum($what")" = "$(sqlite3 m.db "SELECT count(*), sum($what")" ] ||
                fail "--flat: $what"
        done
    done
}

@test "--align: times of processes, and what is unknown" {
    gen r%r.db 1 --processes 2 --nodes 2 --clock-step 3600000000000
    s=$(suffix r1.db)
    sqlite3 r1.db "UPDATE rocpd_info_process$s SET fini = 0; UPDATE rocpd_info_thread$s SET start = 7, \"end\" = NULL"
    printf 'synth-node-0 0\nsynth-node-1 +1000\n' >clocks.txt
    rocmerge -q --align offsets clocks.txt -o m.db r?.db
    init=$(sqlite3 r1.db "SELECT init + 1000 FROM rocpd_info_process$s")
    [ "$(sqlite3 m.db "SELECT init, fini FROM rocpd_info_process$s")" = "$init|0" ]
    [ "$(sqlite3 m.db "SELECT DISTINCT start, \"end\" IS NULL FROM rocpd_info_thread$s")" = "1007|1" ]
    s=$(suffix r0.db)
    [ "$(sqlite3 m.db "SELECT * FROM rocpd_info_process$s" | cut -d'|' -f1-9)" = \
        "$(sqlite3 r0.db "SELECT * FROM rocpd_info_process$s" | cut -d'|' -f1-9)" ]
}

@test "--align: slices, packages, times before time 0" {
    gen r%r.db 1 --processes 2 --nodes 2 --clock-step 3600000000000
    mkdir whole
    rocmerge -q --align start -o whole/m.db r?.db
    mkdir slices
    try 0 rocmerge -q --align start --split 60m -o slices/s.db r?.db
    [ "$(ls slices)" = s-1.db ]
    try 2 rocmerge --align start --package -d x r?.db
    says "add --consolidate"
    rocmerge -q --align start -c -d x r?.db
    rocpd2csv -q --align start -d parts-csv r?.db
    for merged in whole/m.db slices/s-1.db x.rpdb; do
        rm -rf merged-csv
        rocpd2csv -q -d merged-csv $merged
        diff -r parts-csv merged-csv
    done
    printf 'synth-node-0 -1000000s\nsynth-node-1 0\n' >clocks.txt
    try 1 rocmerge --align offsets clocks.txt -o early.db r?.db
    says "times are before time 0 or out of range on the aligned clocks: written as -1"
    run --separate-stderr rocpd2csv -q --align offsets clocks.txt -d parts r?.db
    [ "$status" -eq 1 ]
    run --separate-stderr rocpd2csv -q -d merged early.db
    [ "$status" -eq 1 ]
    diff -r parts merged
    # a merge says, as the others do, when clocks seem to differ; with one of these options it is quiet
    try 0 rocmerge -o m.db r?.db
    says "seem to differ"
    try 0 rocmerge --align none -o m.db r?.db
    silent
}

@test "--package: an index of inputs" {
    mkdir in
    gen "in/r %r.db" 1 --processes 2
    rocmerge --package in
    [ "$(grep -c 'in/r ' index.yaml)" = 2 ]
    diff <(rocpd2csv -o - --kinds kernel in) <(rocpd2csv -o - --kinds kernel index.yaml)
    rocmerge --package -d far/job in
    diff <(rocpd2csv -o - --kinds kernel in) <(rocpd2csv -o - --kinds kernel far/job.rpdb)
    try 2 rocmerge --package --start 10% in
    try 2 rocmerge --package --flat in
    [ "$(ls far/job.rpdb)" = index.yaml ]
}

@test "--consolidate: a folder with everything" {
    mkdir in in/x in/y
    gen in/x/a.db 1 && gen in/y/a.db 2 --schema 4.1.0 && gen in/y/b.db 3
    rocmerge -q --consolidate --copy -d job in/x in/y
    [ "$(ls job.rpdb | paste -sd' ')" = "a-2.db a.db b.db index.yaml" ]
    [ "$(ls in/x in/y | grep -c db)" = 3 ]
    same_to_tools -- job.rpdb in/x in/y
    rocmerge -q -c -d part --include kernel in/x in/y
    same_to_tools --include kernel -- part.rpdb in/x in/y
    rocmerge -q -c in/x
    [ -s rocpd-*.rpdb/index.yaml ]
}

@test "--consolidate: what is in a package stays, and what is new is added" {
    gen a.db 1 && gen b.db 2 && gen c.db 3 && mkdir in && gen in/a.db 4
    rocmerge -q -c -d job a.db
    before=$(md5sum <job.rpdb/a.db)
    rocmerge -q -c -d job -i job.rpdb b.db
    same_to_tools -- job.rpdb a.db b.db
    rocmerge -q -c -d job -i c.db
    same_to_tools -- job.rpdb a.db b.db c.db
    rocmerge -q -c -d job -i in/a.db
    [ "$(ls -A job.rpdb | paste -sd' ')" = "a-2.db a.db b.db c.db index.yaml" ]
    same_to_tools -- job.rpdb a.db b.db c.db in/a.db
    rocmerge -q -c -d job.rpdb -i a.db b.db # the same once more
    same_to_tools -- job.rpdb a.db b.db c.db in/a.db
    [ "$before" = "$(md5sum <job.rpdb/a.db)" ]
    before=$(cat job.rpdb/* | md5sum)
    cp b.db other.db
    try 3 rocmerge -q -c -d job other.db
    says "other.db: holds the same process"
    gen d.db 5
    try 2 rocmerge -q -c -d job --include kernel -i job.rpdb d.db
    says "is already in the package"
    [ "$before" = "$(cat job.rpdb/* | md5sum)" ]
    [ "$(ls -A | paste -sd' ')" = "a.db b.db c.db d.db in job.rpdb merged-csv other.db parts-csv" ]
}

@test "--consolidate: whole or not at all" {
    gen "r%r.db" 1 --processes 3
    rocmerge -q -c -d one --rank 1 r?.db
    [ "$(ls -A one.rpdb | paste -sd' ')" = "index.yaml r1.db" ]
    same_to_tools -- one.rpdb r1.db
    cp r2.db bad.db # it is found out when the others are written
    damage bad.db
    try 3 rocmerge -q -c -d job -i r0.db r1.db bad.db
    [ ! -e job.rpdb ]
    try 3 rocmerge -q -c -d one -i r0.db bad.db
    [ "$(ls -A one.rpdb | paste -sd' ')" = "index.yaml r1.db" ]
    run bash -c 'ulimit -f 64; trap "" XFSZ; rocmerge -q -c -d job r?.db'
    [ "$status" -eq 4 ]
    gen big.db 9 --rows 200000
    for delay in 0.05 0.1; do
        timeout -s TERM $delay rocmerge -q -c -d job big.db r0.db && break
        [ ! -e job.rpdb ] || fail "a part of it has the name of the whole"
    done
    rm -rf job.rpdb
    [ "$(ls -A | paste -sd' ')" = "bad.db big.db merged-csv one.rpdb parts-csv r0.db r1.db r2.db" ]
}

@test "hundreds of sets: views nest" {
    mkdir in
    "$BUILD/tests/rocpd-gen" -o "in/%r.db" --rows 4 --kernels 4 --caches 0 --gpus 1 --threads 1 \
        --no-pmc --processes 420 --nodes 5
    (ulimit -n 64 && rocmerge -o m.db in)
    [ "$(sqlite3 m.db "SELECT count(*) FROM rocpd_info_process")" = 420 ]
    [ "$(sqlite3 m.db "SELECT count(*) FROM rocpd_metadata WHERE tag = 'guid'")" = 420 ]
    sound m.db
    rocmerge -o again.db m.db
    cmp m.db again.db
}

@test "views on the data are those of the newest schema" {
    gen a.db 1 && gen b.db 2 --schema 3.0.2
    for db in a b; do
        s=$(suffix $db.db)
        sqlite3 $db.db "CREATE VIEW shown AS SELECT '$db' AS db, count(*) AS n FROM rocpd_region;
            CREATE VIEW only_$db AS SELECT count(*) FROM rocpd_kernel_dispatch"
    done
    sqlite3 b.db "UPDATE rocpd_metadata$(suffix b.db) SET value = '3.0.2' WHERE tag = 'schema_version'"
    rocmerge -o m.db a.db b.db
    [ "$(sqlite3 m.db 'SELECT * FROM shown')" = "b|$(sqlite3 m.db 'SELECT count(*) FROM rocpd_region')" ]
    [ "$(sqlite3 m.db 'SELECT * FROM only_a')" = "$(sqlite3 m.db 'SELECT * FROM only_b')" ]
    [ "$(sqlite3 m.db "SELECT DISTINCT value FROM rocpd_metadata WHERE tag = 'schema_version'")" = 3.0.2 ]
}

@test "databases of AMD's tools: their views count the same" {
    data=$SHARED/amd
    needs "$data/e4.db" "$data/rank1_5001_results.db" "$SHARED/rocpd/gfx1250_gemm.db"
    inputs=("$data/e4.db" "$data/rank1_5001_results.db" "$SHARED/rocpd"/*.db)
    rocmerge -o m.db "${inputs[@]}"
    rocmerge --flat -o f.db "${inputs[@]}"
    sound m.db
    sound f.db
    for view in kernels regions samples memory_copies memory_allocations counters_collection processes; do
        n=$(for db in "${inputs[@]}"; do
            sqlite3 "file:$db?immutable=1" "SELECT count(*) FROM $view"
        done | paste -sd+)
        [ "$(sqlite3 m.db "SELECT count(*) FROM $view")" = $((n)) ]
        [ "$(sqlite3 f.db "SELECT count(*) FROM $view")" = $((n)) ]
    done
    same_to_tools -- m.db "${inputs[@]}"
}

@test "a counter table without its values: left out after a merge as before it, and no zeros" {
    cp "$FIXTURES/schema-3.0.0.db" a.db
    s=$(sqlite3 a.db "SELECT value FROM rocpd_metadata WHERE tag = 'uuid'")
    for view in $(sqlite3 a.db "SELECT name FROM sqlite_master WHERE type = 'view'"); do
        sqlite3 a.db "DROP VIEW $view"
    done
    sqlite3 a.db "ALTER TABLE rocpd_pmc_event$s RENAME COLUMN value TO renamed"
    try 1 rocpd2csv -d a a.db
    says "counter value that is not a finite number (40)"
    for how in "" --flat; do
        rocmerge -q $how -o m.db a.db
        try 1 rocpd2csv -d m m.db
        says "counter value that is not a finite number (40)"
    done
}

@test "-v: what was read, and what was copied as it is" {
    echo '[{"ph": "X", "pid": 1, "tid": 1, "name": "a", "ts": 1, "dur": 2},
        {"ph": "X", "pid": 1, "tid": 1, "name": "b", "ts": 4, "dur": 2}]' >c.json
    rows() { # database: metadata are not counted
        local t n=0
        for t in $(sqlite3 -readonly "$1" "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd_%'
            AND name NOT LIKE 'rocpd_metadata%'"); do
            n=$((n + $(sqlite3 -readonly "$1" "SELECT count(*) FROM \"$t\"")))
        done
        echo $n
    }
    try 0 rocmerge -v -o one.db c.json
    [[ "${stderr_lines[-1]}" == "rocmerge: 1 process: 2 region" ]]
    try 0 rocmerge -v -o m.db c.json "$FIXTURES/everything.db"
    [[ "${stderr_lines[-1]}" == "rocmerge: 1 process: 2 region; 1 process: $(($(rows m.db) - $(rows one.db))) rows copied as they are" ]]
    try 0 rocmerge -v --rebuild -o r.db c.json "$FIXTURES/everything.db"
    [[ "${stderr_lines[-1]}" == "rocmerge: 2 processes: 240 region,"* && "$stderr" != *copied* ]]
}

@test "an instance of a counter that is infinite is left out, the others are not" {
    cp "$FIXTURES/hip-events.db" t.db
    s=$(sqlite3 t.db "SELECT value FROM rocpd_metadata WHERE tag = 'uuid'")
    # One of several instances of a counter in a dispatch.
    row=$(sqlite3 t.db "SELECT max(id) FROM rocpd_pmc_event$s GROUP BY event_id, pmc_id HAVING count(*) > 1 LIMIT 1")
    [ -n "$row" ]
    try 0 rocpd2csv -d whole t.db
    sqlite3 t.db "UPDATE rocpd_pmc_event$s SET value = 1e999 WHERE id = $row"
    try 1 rocpd2csv -d one t.db
    says "1 record left out: counter value that is not a finite number (1)"
    [ "$(wc -l <one/out_counter_collection.csv)" == "$(wc -l <whole/out_counter_collection.csv)" ]
    try 1 rocmerge --rebuild -o rebuilt.db t.db
    try 0 rocpd2csv -d two rebuilt.db
    cmp one/out_counter_collection.csv two/out_counter_collection.csv
}
