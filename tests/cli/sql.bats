#!/usr/bin/env bats
# CSV files against SQL on the same database, row by row, and filters against their definitions.

load helper

DATABASES="schema-3.0.0 schema-3.0.3 schema-3.0.5 no-pmc rename"

requires() {
    needs sqlite3 "$FIXTURES/schema-3.0.0.db"
}

# The rows of a query as the tools write them: sqlite's own CSV quotes only where it must, so both
# sides are read back and printed in one form.
same_rows() { # db kind columns query
    rocpd2csv -o - --kinds "$2" "$1" >ours.csv
    sqlite3 :memory: '.mode csv' '.import ours.csv t' ".mode list" ".separator |" \
        "SELECT $3 FROM t" >ours
    s=$(suffix "$1")
    sqlite3 -readonly "$1" '.separator |' "${4//%S/$s}" >theirs
    [ -s theirs ]
    diff ours theirs
}

@test "kernel_trace" {
    for name in $DATABASES; do
        same_rows "$FIXTURES/$name.db" kernel \
            'Queue_Id, Stream_Id, Thread_Id, Dispatch_Id, Kernel_Id, Kernel_Name, Correlation_Id,
             Start_Timestamp, End_Timestamp, LDS_Block_Size, Scratch_Size, Workgroup_Size_X,
             Workgroup_Size_Y, Workgroup_Size_Z, Grid_Size_X, Grid_Size_Y, Grid_Size_Z' \
            'SELECT k.queue_id, k.stream_id, t.tid, k.dispatch_id, k.kernel_id, s.display_name,
                e.stack_id, k.start, k."end", k.group_segment_size, k.private_segment_size,
                workgroup_size_x, workgroup_size_y, workgroup_size_z,
                grid_size_x, grid_size_y, grid_size_z
             FROM rocpd_kernel_dispatch%S k
             LEFT JOIN rocpd_info_thread%S t ON t.id = k.tid
             LEFT JOIN rocpd_info_kernel_symbol%S s ON s.id = k.kernel_id
             LEFT JOIN rocpd_event%S e ON e.id = k.event_id
             ORDER BY k.start, k."end" DESC, k.id'
    done
}

@test "hip_api_trace" {
    for name in $DATABASES; do
        same_rows "$FIXTURES/$name.db" hip_api \
            'Domain, Function, Process_Id, Thread_Id, Correlation_Id, Start_Timestamp,
             End_Timestamp' \
            'SELECT c.string, n.string, p.pid, t.tid, e.stack_id, r.start, r."end"
             FROM rocpd_region%S r
             JOIN rocpd_event%S e ON e.id = r.event_id
             JOIN rocpd_string%S c ON c.id = e.category_id
             LEFT JOIN rocpd_string%S n ON n.id = r.name_id
             LEFT JOIN rocpd_info_process%S p ON p.id = r.pid
             LEFT JOIN rocpd_info_thread%S t ON t.id = r.tid
             WHERE c.string LIKE "HIP%"
             ORDER BY r.start, r."end" DESC, r.id'
    done
}

@test "memory_copy_trace" {
    for name in $DATABASES; do
        same_rows "$FIXTURES/$name.db" memory_copy \
            'Direction, Stream_Id, Source_Agent_Id, Destination_Agent_Id, Correlation_Id,
             Start_Timestamp, End_Timestamp' \
            'SELECT n.string, m.stream_id, "Agent " || a.logical_index, "Agent " || b.logical_index,
                e.stack_id, m.start, m."end"
             FROM rocpd_memory_copy%S m
             LEFT JOIN rocpd_string%S n ON n.id = m.name_id
             LEFT JOIN rocpd_info_agent%S a ON a.id = m.src_agent_id
             LEFT JOIN rocpd_info_agent%S b ON b.id = m.dst_agent_id
             LEFT JOIN rocpd_event%S e ON e.id = m.event_id
             ORDER BY m.start, m."end" DESC, m.id'
    done
}

@test "counter_collection: sums over instances, every dispatch and counter once" {
    db=$FIXTURES/schema-3.0.0.db
    rocpd2csv -o - --kinds counter_collection "$db" >ours.csv
    sqlite3 :memory: '.mode csv' '.import ours.csv t' '.mode list' \
        "SELECT Dispatch_Id, Counter_Name, printf('%.6g', Counter_Value) FROM t
            ORDER BY CAST(Dispatch_Id AS INTEGER), 2, 3" >ours
    s=$(suffix "$db")
    sqlite3 -readonly "$db" "SELECT k.dispatch_id, i.name, printf('%.6g', sum(p.value))
        FROM rocpd_pmc_event$s p JOIN rocpd_kernel_dispatch$s k ON k.event_id = p.event_id
        JOIN rocpd_info_pmc$s i ON i.id = p.pmc_id
        GROUP BY k.dispatch_id, i.name, i.agent_id ORDER BY 1, 2, 3" >theirs
    [ -s theirs ]
    diff ours theirs
}

@test "all host calls are in one of the files" {
    db=$FIXTURES/schema-3.0.0.db
    s=$(suffix "$db")
    rocpd2csv -d out "$db"
    rows=$(cat out/*_api_trace.csv | grep -vc '^"Guid"')
    expected=$(sqlite3 -readonly "$db" "SELECT (SELECT count(*) FROM rocpd_region$s) +
        (SELECT count(*) FROM rocpd_sample$s x JOIN rocpd_event$s e ON e.id = x.event_id
         JOIN rocpd_string$s c ON c.id = e.category_id WHERE c.string LIKE 'MARKER%')")
    [ "$rows" -eq "$expected" ] || { echo "$rows rows, $expected expected"; false; }
}

# ---- filters -------------------------------------------------------------------------------------

kernels() { # options... -> "start end" of each
    rocpd2csv -q -o - --kinds kernel --kernel-names short "$@" >k.csv
    sqlite3 :memory: '.mode csv' '.import k.csv t' '.mode list' \
        'SELECT Start_Timestamp, End_Timestamp FROM t' 2>/dev/null
}

window() { # condition -> the same by SQL
    s=$(suffix "$db")
    sqlite3 -readonly "$db" "SELECT start, \"end\" FROM rocpd_kernel_dispatch$s WHERE $1
        ORDER BY start, \"end\" DESC, id"
}

@test "time windows: inside, overlapping, clipped" {
    db=$FIXTURES/schema-3.0.0.db
    s=$(suffix "$db")
    # Edges in the middle of kernels, so that the modes differ.
    from=$(sqlite3 -readonly "$db" "SELECT (start + \"end\") / 2 FROM rocpd_kernel_dispatch$s
        ORDER BY start LIMIT 1 OFFSET 5")
    to=$(sqlite3 -readonly "$db" "SELECT (start + \"end\") / 2 FROM rocpd_kernel_dispatch$s
        ORDER BY start LIMIT 1 OFFSET 20")
    window "start >= $from AND \"end\" <= $to" >inside
    window "start <= $to AND \"end\" >= $from" >touching
    [ -s inside ]
    run ! cmp -s inside touching
    diff inside <(kernels --start "$from" --end "$to" "$db")
    diff inside <(kernels --start "$from" --end "$to" --inclusive True "$db")
    diff touching <(kernels --start "$from" --end "$to" --inclusive False "$db")
    diff touching <(kernels --start "$from" --end "$to" --overlap "$db")
    kernels --start "$from" --end "$to" --clip "$db" >clipped
    [ "$(wc -l <clipped)" -eq "$(wc -l <touching)" ]
    awk -F'|' -v a="$from" -v b="$to" '$1 < a || $2 > b { bad = 1 } END { exit bad }' clipped
}

@test "shares and relative times" {
    db=$FIXTURES/schema-3.0.0.db
    kernels "$db" >all
    diff all <(kernels --start 0% --end 100% "$db")
    diff all <(kernels --start +0 --end -0 "$db")
    kernels --end 50% "$db" >first
    kernels --start 50% "$db" >second
    [ -s first ]
    [ -s second ]
    [ $(($(wc -l <first) + $(wc -l <second))) -le "$(wc -l <all)" ]
}

@test "names, durations and agents" {
    db=$FIXTURES/schema-3.0.0.db
    s=$(suffix "$db")
    kernels --min-duration 20us "$db" >ours
    window '"end" - start >= 20000' | diff ours -
    name=$(sqlite3 -readonly "$db" "SELECT substr(display_name, 1, instr(display_name || '<', '<') - 1)
        FROM rocpd_info_kernel_symbol$s k JOIN rocpd_kernel_dispatch$s d ON d.kernel_id = k.id
        WHERE display_name NOT LIKE '% %' LIMIT 1")
    like=$(sqlite3 -readonly "$db" "SELECT count(*) FROM rocpd_kernel_dispatch$s d
        JOIN rocpd_info_kernel_symbol$s k ON d.kernel_id = k.id WHERE instr(display_name, '$name')")
    [ "$like" -gt 0 ]
    [ "$(rocpd2csv -o - --kinds kernel --name "$name" "$db" | tail -n +2 | wc -l)" -eq "$like" ]
    all=$(kernels "$db" | wc -l)
    [ "$(rocpd2csv -o - --kinds kernel --exclude-name "$name" "$db" | tail -n +2 | wc -l)" -eq $((all - like)) ]
    agent=$(rocpd2csv -o - --kinds kernel "$db" | sed -n '2s/^[^,]*,[^,]*,"\([^"]*\)".*/\1/p')
    some=$(rocpd2csv -o - --kinds kernel "$db" | grep -c "^[^,]*,[^,]*,\"$agent\"")
    [ "$(kernels --agent "$agent" "$db" | wc -l)" -eq "$some" ]
}

@test "kinds and categories" {
    db=$FIXTURES/schema-3.0.0.db
    rocpd2csv -d out --include kernel,hip --exclude agent_info "$db" || true
    rm -rf out
    try 0 rocpd2csv -d out --include kernel,hip "$db"
    [ -s out/out_kernel_trace.csv ]
    [ -s out/out_hip_api_trace.csv ]
    [ ! -e out/out_hsa_api_trace.csv ]
    [ ! -e out/out_memory_copy_trace.csv ]
    try 0 rocpd2csv -d rest --exclude kernel,hip "$db"
    [ ! -e rest/out_kernel_trace.csv ]
    [ ! -e rest/out_hip_api_trace.csv ]
    [ -s rest/out_memory_copy_trace.csv ]
}

@test "ranks and processes" {
    try 0 rocpd2csv -d both -o x "$FIXTURES/rank0.db" "$FIXTURES/rank1.db"
    try 0 rocpd2csv -d one -o x "$FIXTURES/rank1.db"
    try 0 rocpd2csv -d filtered -o x --rank 1 --kinds kernel,hip_api,memory_copy \
        "$FIXTURES/rank0.db" "$FIXTURES/rank1.db"
    for file in filtered/*.csv; do
        cmp "$file" "one/$(basename "$file")"
    done
}

# ---- rocprofiler-systems -------------------------------------------------------------------------

# One event per tick, with a value and a sample for each counter.
@test "sampled counters: every value once, at the time of its event, on the thread of its track" {
    db=$FIXTURES/ticks.db
    s=$(suffix "$db")
    rocpd2csv -o - --kinds counter_sample "$db" |
        sqlite3 :memory: '.mode csv' '.import /dev/stdin t' '.mode list' 'SELECT Timestamp,
            Counter_Name, Units, printf("%.9g", Counter_Value), Thread_Id FROM t' | sort >ours
    # The first of two values of process_page_fault is the memory.
    sqlite3 -readonly "$db" "SELECT (SELECT min(timestamp) FROM rocpd_sample$s s
                WHERE s.event_id = v.event_id) AS time,
            CASE WHEN i.id = 901 AND n = 1 THEN 'process_page' ELSE i.name END,
            CASE WHEN i.id = 901 AND n = 2 THEN '' ELSE i.units END, printf('%.9g', v.value),
            CASE i.name WHEN 'thread_cpu_time_[1]' THEN 4207 WHEN 'kfd_pages' THEN 4210 END
        FROM (SELECT *, row_number() OVER (PARTITION BY event_id, pmc_id ORDER BY id) AS n
              FROM rocpd_pmc_event$s) v JOIN rocpd_info_pmc$s i ON i.id = v.pmc_id
        WHERE time NOT NULL" | sort >theirs
    [ "$(wc -l <theirs)" -eq 65 ]
    diff ours theirs
    for kinds in sample sample,region instant,sample; do
        [ "$(rocpd2csv -o - --kinds counter_sample --include "$kinds" "$db" | wc -l)" -eq 66 ]
    done
}

@test "a frame of a call stack is one event, though it is a region and a sample" {
    for name in ticks sys sys-4.1.0 sampled; do
        db=$FIXTURES/$name.db
        regions=$(sqlite3 -readonly "$db" "SELECT count(*) FROM rocpd_region$(suffix "$db")")
        marks=$(sqlite3 -readonly "$db" "SELECT count(*) FROM rocpd_sample$(suffix "$db") WHERE
            event_id NOT IN (SELECT event_id FROM rocpd_region$(suffix "$db")) AND event_id NOT IN
            (SELECT event_id FROM rocpd_pmc_event$(suffix "$db"))")
        for include in region,marker,instant instant; do
            rocstats summary --format csv --include "$include" "$db" >calls.csv || [ $? -eq 1 ]
            expected=0
            [[ $include != *region* ]] || expected=$regions
            [[ $include != *instant* ]] || expected=$((expected + marks))
            [ "$(sqlite3 :memory: '.mode csv' '.import calls.csv t' \
                'SELECT coalesce(sum(Calls), 0) FROM t')" -eq "$expected" ]
        done
    done
    rocpd2csv -o - --kinds other_api "$FIXTURES/ticks.db" >other.csv
    [ "$(grep -c '"timer_sampling"' other.csv)" -eq 24 ]
    run ! grep -q 'Thread 0 (S)' other.csv
}

@test "what is selected of a database keeps the samples of its events" {
    db=$FIXTURES/ticks.db
    s=$(suffix "$db")
    frames=$(sqlite3 -readonly "$db" "SELECT count(*) FROM rocpd_sample$s x
        JOIN rocpd_region$s USING (event_id)")
    rocmerge -o regions.db --include region "$db"
    [ "$(sqlite3 regions.db 'SELECT count(*) FROM rocpd_sample')" -eq "$frames" ]
    rocmerge -o values.db --include sample "$db"
    [ "$(sqlite3 values.db 'SELECT (SELECT count(*) FROM rocpd_sample),
        (SELECT count(*) FROM rocpd_pmc_event), (SELECT count(*) FROM rocpd_region)')" = "65|65|0" ]
    [ -z "$(sqlite3 values.db 'PRAGMA foreign_key_check')" ]
    for made in values.db "--rebuild"; do
        [ "$made" = values.db ] || { rocmerge -o new.db --rebuild "$db" && made=new.db; }
        rocstats counters --table all --format csv "$made" | grep ^samples >made.csv
        rocstats counters --table all --format csv "$db" | grep ^samples >theirs.csv
        [ "$(wc -l <made.csv)" -eq 17 ]
        diff made.csv theirs.csv
    done
}

# ---- values that are no numbers ------------------------------------------------------------------

@test "counter values that are no finite numbers are left out and counted, by every tool" {
    db=$FIXTURES/ticks.db
    s=$(suffix "$db")
    cp "$db" t.db
    # two sampled ones, two of dispatches (one of several instances), and a sum that is too large
    sqlite3 t.db "CREATE TEMP TABLE sampled AS SELECT id FROM rocpd_pmc_event$s WHERE event_id IN
            (SELECT event_id FROM rocpd_sample$s) ORDER BY id;
        CREATE TEMP TABLE counted AS SELECT v.event_id AS event, v.pmc_id AS pmc, i.name AS name,
            row_number() OVER (ORDER BY v.event_id, i.name) AS n
            FROM rocpd_pmc_event$s v JOIN rocpd_info_pmc$s i ON i.id = v.pmc_id
            WHERE v.event_id IN (SELECT event_id FROM rocpd_kernel_dispatch$s)
            GROUP BY v.event_id, i.name;
        UPDATE rocpd_pmc_event$s SET value = 9e999 WHERE id = (SELECT min(id) FROM sampled);
        UPDATE rocpd_pmc_event$s SET value = -9e999 WHERE id = (SELECT max(id) FROM sampled);
        UPDATE rocpd_pmc_event$s SET value = 9e999 WHERE id IN (SELECT min(v.id) FROM counted c
            JOIN rocpd_pmc_event$s v ON v.event_id = c.event AND v.pmc_id = c.pmc
            WHERE c.n IN (1, 6) GROUP BY c.n);
        INSERT INTO rocpd_pmc_event$s (event_id, pmc_id, value) SELECT event, pmc, 1.7e308
            FROM counted, (SELECT 1 UNION SELECT 2) WHERE n = 11;
        UPDATE rocpd_pmc_event$s SET value = NULL /* as SQLite keeps NaN */
            WHERE id = (SELECT min(id) FROM sampled WHERE id > (SELECT min(id) FROM sampled));"
    for command in "rocpd2csv -o o -d ." "rocpd2pftrace -o t.pftrace" "rocpd2pftrace --legacy-tracks -o t.pftrace" \
        "rocpd2otf2 -o t.otf2" "rtg2json -o t.json" \
        "rocstats counters" "rocstats counters --format json"; do
        command -v "${command%% *}" >/dev/null || continue
        # shellcheck disable=SC2086
        try 1 $command t.db
        says "6 records left out: counter value that is not a finite number (6)"
    done
    # A database keeps the values of the instances, of which only the sum is too large.
    try 1 rocmerge --rebuild -o new.db t.db
    says "5 records left out: counter value that is not a finite number (5)"
    run ! grep -rqiE '\b(inf|nan|infinity)\b' o_counter_collection.csv o_counter_sample_trace.csv t.json
    [ "$(sqlite3 new.db "SELECT count(*) FROM rocpd_pmc_event WHERE value IS NULL OR abs(value) > 1.7e308")" = 0 ]
    [ "$(wc -l <o_counter_sample_trace.csv)" -eq 63 ]
    try 3 rocpd2csv --strict -o o -d . t.db
    says "counter value that is not a finite number"
}
