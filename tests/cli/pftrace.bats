#!/usr/bin/env bats
# What is in a Perfetto trace, against SQL on the database that it was made of. pfdump resolves
# names and times (and checks the rules of the format); protoc must agree on the counts.

load helper
load events

PFDUMP=$BUILD/tests/pfdump
MODES=("" --legacy-tracks --group-by-queue "--legacy-tracks --group-by-queue" --args
    "--legacy-tracks --args")

setup_file() {
    needs sqlite3 "$FIXTURES/schema-3.0.0.db" "$BUILD/tests/pfdump"
}

# convert DATABASE... [-- OPTIONS]: t.pftrace and its events, one a line, in `events`.
convert() {
    run --separate-stderr rocpd2pftrace -q -o t.pftrace "$@"
    [ "$status" -le 1 ] || fail "$*"
    "$PFDUMP" events t.pftrace >events
}

# ---- the form ------------------------------------------------------------------------------------

@test "rules of the format, in every mode" {
    for db in $(databases); do
        for mode in "${MODES[@]}"; do
            # shellcheck disable=SC2086
            convert $mode "$db" || fail "$mode $db"
        done
    done
}

@test "protoc knows every field and counts the same events" {
    needs protoc
    for db in $(databases); do
        for mode in --args "--legacy-tracks --args"; do
            # shellcheck disable=SC2086
            convert $mode "$db"
            "$PFDUMP" plain t.pftrace >plain
            decode plain >text
            run ! grep -qE '^ *[0-9]+[ :]' text
            awk '/^  }?track_event|^    type: TYPE_SLICE_BEGIN/ { begin += /BEGIN/ }
                /^    type: TYPE_SLICE_END/ { end++ }
                /^    type: TYPE_INSTANT/ { instant++ }
                /^    type: TYPE_COUNTER/ { value++ }
                /^  gpu_render_stage_event {/ { stage++ }
                /^  gpu_counter_event {/ { inside = 1 }
                /^  }/ { inside = 0 }
                inside && /^    counters {/ { value++ }
                END { print begin + 0, end + 0, instant + 0, stage + 0, value + 0 }' text >theirs
            awk -F'\t' '{ n[$1]++ } END { print n["slice"] + 0, n["slice"] + 0, n["instant"] + 0,
                n["stage"] + 0, n["value"] + 0 }' events >ours
            same ours theirs
        done
    done
}

@test "compression changes the bytes only" {
    for db in "$FIXTURES/everything.db" "$FIXTURES/merged.db"; do
        rocpd2pftrace -z0 -o plain.pftrace "$db"
        for option in -z1 -z9 -zfast --compress=small ""; do
            # shellcheck disable=SC2086
            rocpd2pftrace $option -o t.pftrace "$db"
            "$PFDUMP" plain t.pftrace | cmp - plain.pftrace
            rocpd2pftrace ${option:--z0} -o t.pftrace.gz "$db"
            gzip -t t.pftrace.gz
            "$PFDUMP" plain t.pftrace.gz | cmp - plain.pftrace
        done
    done
}

@test "the same bytes with any number of jobs and any memory" {
    for name in everything nasty-3.0.5 nasty-4.1.0 merged sampled; do
        for mode in "${MODES[@]}"; do
            # shellcheck disable=SC2086
            run rocpd2pftrace -q $mode -j1 -o one.pftrace "$FIXTURES/$name.db"
            for how in -j2 -j3 "-j1 --memory 1M" "-j3 --memory 1M"; do
                # shellcheck disable=SC2086
                run rocpd2pftrace -q $mode $how -o t.pftrace "$FIXTURES/$name.db"
                cmp one.pftrace t.pftrace
            done
        done
    done
}

@test "the grid of a kernel is in workgroups, AMD's in work-items" {
    needs protoc
    s=$(suffix "$FIXTURES/schema-3.0.0.db")
    sqlite3 "$FIXTURES/schema-3.0.0.db" "SELECT id FROM rocpd_kernel_dispatch$s ORDER BY start LIMIT 6" >ids
    cp "$FIXTURES/schema-3.0.0.db" t.db
    # full, not full, nothing known of the workgroup, of the grid, one size of 0, too large to count
    paste ids - <<'SIZES' | while read -r id gx gy gz wx wy wz; do
4096 64 2 256 4 1
1000 3 1 256 2 1
1000 1 1 0 0 0
0 0 0 64 1 1
512 0 1 64 1 1
4294967295 4294967295 4294967295 1 1 1
SIZES
        echo "UPDATE rocpd_kernel_dispatch$s SET grid_size_x = $gx, grid_size_y = $gy,
            grid_size_z = $gz, workgroup_size_x = $wx, workgroup_size_y = $wy,
            workgroup_size_z = $wz WHERE id = $id;"
    done | sqlite3 t.db
    sqlite3 t.db "DELETE FROM rocpd_kernel_dispatch$s WHERE id NOT IN ($(paste -sd, ids));"
    rocpd2pftrace -z0 --include kernel -o t.pftrace t.db
    decode t.pftrace >text
    # names of arguments by number, then the launches with their values
    awk '/compute_arg_names|InternedComputeArgName/ { inside = 1 }
        inside && /iid:/ { iid = $2 } inside && /name:/ { gsub(/"/, "", $2); names[iid] = $2; inside = 0 }
        /^    launch {/ { launch = 1; line = "" }
        launch && /(grid|workgroup)_size {/ { line = line " " $1; dims = 1 }
        launch && dims && /[xyz]:/ { line = line " " $2 } launch && /^      }/ { dims = 0 }
        launch && /name_iid:/ { arg = names[$2] }
        launch && /int_value:/ && arg ~ /grid_size|workgroup_size|thread_count/ { line = line " " arg "=" $2 }
        /^    }/ { if (launch) print line; launch = 0 }' text >launches
    diff launches - <<'EXPECTED'
 grid_size 16 16 2 workgroup_size 256 4 1 workgroup_size=1024 grid_size=512 thread_count=524288
 grid_size 4 2 1 workgroup_size 256 2 1 workgroup_size=512 grid_size=8 thread_count=3000
 thread_count=1000
 workgroup_size 64 1 1 workgroup_size=64
 workgroup_size 64 1 1 workgroup_size=64
 workgroup_size 1 1 1 workgroup_size=1
EXPECTED
    rocpd2pftrace -z0 --legacy-tracks --include kernel -o t.pftrace t.db
    decode t.pftrace >text
    grep -q '"(1000, 3, 1)"' text
}

@test "demangled names of kernels are those of their properties, as jq reads them" {
    cp "$FIXTURES/rank0.db" t.db
    s=$(suffix t.db)
    {
        echo '{"a":{"demangled_kernel_name":"inner"},"demangled_kernel_name":"plain(int)","b":[1]}'
        echo '{"demangled_kernel_name":"a \"quoted\" name"}'
        echo '{"demangled\u005fkernel_name":"by an escaped key"}'
        echo '  { "x" : "\"demangled_kernel_name\":" , "demangled_kernel_name" : "blanks" }  '
        echo '{"demangled_kernel_name":""}'
        echo '{"demangled_kernel_name":7}'
        echo '{}'
    } >json
    n=0
    while IFS= read -r line; do
        n=$((n + 1))
        echo "UPDATE rocpd_info_kernel_symbol$s SET extdata = '${line//\'/\'\'}', display_name = 'display $n'
            WHERE id = (SELECT kernel_id FROM rocpd_kernel_dispatch$s GROUP BY 1 LIMIT 1 OFFSET $((n - 1)));"
    done <json | sqlite3 t.db
    rocpd2pftrace -z0 -o t.pftrace t.db
    decode t.pftrace | sed -n 's/^ *demangled_name: "\(.*\)"$/\1/p' | sed 's/\\"/"/g' | sort -u >got
    n=0
    while IFS= read -r line; do
        n=$((n + 1))
        want=$(jq -r '.demangled_kernel_name | strings' <<<"$line")
        grep -qxF -- "${want:-display $n}" got || fail "of $line: $(cat got)"
    done <json
}

@test "a small trace is written by one thread" {
    needs strace
    strace -o /dev/null true 2>/dev/null || skip "strace may not trace here"
    for command in "rocpd2pftrace -o t.pftrace" "rocpd2csv -d csv" "rocstats -o s.txt"; do
        # shellcheck disable=SC2086
        strace -f -e trace=clone,clone3 -o calls $command -q -j8 "$FIXTURES/rank0.db"
        # The one waits for signals.
        [ "$(grep -c '^[0-9]* *clone' calls)" -le 1 ] || fail "$command: $(cat calls)"
    done
}

# ---- slices --------------------------------------------------------------------------------------

@test "host calls and markers: every row, with thread, category, name and stack id" {
    for name in "${SETS[@]}"; do
        convert "$FIXTURES/$name.db"
        lines slice 2,3,4,5,7,8,9 >ours
        ask "$HOST" "$FIXTURES/$name.db" >theirs
        same ours theirs
    done
}

@test "a large trace is written in parts: the same bytes with any number of jobs, every row" {
    "$BUILD/tests/rocpd-gen" -o big.db --schema 3.0.5 --rows 300000 --spm --hip-events --graph
    for mode in "" -z0 --legacy-tracks; do
        # shellcheck disable=SC2086
        rocpd2pftrace $mode -j1 -o one.pftrace big.db
        for how in -j2 -j5 "-j3 --memory 4M"; do
            # shellcheck disable=SC2086
            rocpd2pftrace $mode $how -o t.pftrace big.db
            cmp one.pftrace t.pftrace
        done
    done
    convert big.db
    # of several sequences, each goes on when others have begun
    "$PFDUMP" sequences t.pftrace >order
    [ "$(uniq order | wc -l)" -gt "$(sort -u order | wc -l)" ]
    lines slice 2,3,4,5,7,8,9 >ours
    ask "$HOST" big.db >theirs
    same ours theirs
    stages Kernel >ours
    ask "$kernels" big.db >theirs
    same ours theirs
    stages Copy >ours
    ask "$copies" big.db >theirs
    same ours theirs
    awk -F'\t' '$1 == "value" && $4 == -1 && $8 != 0' events | wc -l >ours
    ask 'SELECT DISTINCT event_id, pmc_id FROM rocpd_pmc_event%S WHERE sample_id IS NULL AND value <> 0' \
        big.db | wc -l >theirs
    same ours theirs
}

@test "a thread with nearly all calls, or GPU work, is written in pieces: the same bytes with any number of jobs, every row" {
    "$BUILD/tests/rocpd-gen" -o thread.db --rows 300000 --threads 1 --gpus 1 --no-pmc
    for mode in "" "-z0 --args" --legacy-tracks; do
        # shellcheck disable=SC2086
        rocpd2pftrace $mode -j1 -o one.pftrace thread.db
        for how in -j2 -j7 "-j3 --memory 4M"; do
            # shellcheck disable=SC2086
            rocpd2pftrace $mode $how -o t.pftrace thread.db
            cmp one.pftrace t.pftrace
        done
    done
    convert thread.db # pfdump finds slices that are open at both sides of a cut
    "$PFDUMP" sequences t.pftrace >order
    [ "$(sort order | uniq -c | awk '$1 > 10000' | wc -l)" -ge 6 ]
    lines slice 2,3,4,5,7,8,9 >ours
    ask "$HOST" thread.db >theirs
    same ours theirs
    stages Kernel >ours
    ask "$kernels" thread.db >theirs
    same ours theirs
    # the reader draws a row for each iid and name: all pieces of GPU work have the same ones
    "$PFDUMP" specs t.pftrace >specs
    awk -F'\t' '!seen[$2, $3]++ { all[$3]++ }
        ++here[$1, $3] > most[$3] { most[$3] = here[$1, $3] }
        $3 == "Kernel" { pieces++ }
        END { for (name in all) if (all[name] != most[name]) exit 1; exit pieces < 2 }' specs ||
        fail "$(sort specs)"
}

@test "-v tells how many slices and values there are" {
    for mode in "${MODES[@]}"; do
        # shellcheck disable=SC2086
        convert $mode "$FIXTURES/everything.db"
        # shellcheck disable=SC2086
        said=$(rocpd2pftrace -v $mode -o t.pftrace "$FIXTURES/everything.db" 2>&1 |
            sed -n 's/.* \([0-9]* slices, [0-9]* counter values\).*/\1/p')
        [ "$said" = "$(awk -F'\t' '$1 == "slice" || $1 == "stage" { n++ } $1 == "value" { v++ }
            END { print n " slices, " v " counter values" }' events)" ] || fail "$mode: $said"
    done
}

@test "the write-ahead log is read" {
    convert "$FIXTURES/wal-live.db"
    [ "$(lines slice 2 | wc -l)" -eq $(($(ask 'SELECT 1 FROM rocpd_region%S' "$FIXTURES/schema-3.0.0.db" |
        wc -l) + 5)) ]
}

@test "several files: processes and nodes side by side" {
    nodes=("$FIXTURES"/node-rank?.db)
    convert "${nodes[@]}"
    lines slice 2,3,4,5,7,8,9 >ours
    ask "$HOST" "${nodes[@]}" >theirs
    same ours theirs
    ranks=("$FIXTURES"/rank?.db)
    convert "${ranks[@]}"
    lines slice 2,3,4,5,7,8,9 >ours
    ask "$HOST" "${ranks[@]}" >theirs
    same ours theirs
}

stages() { # stage -> begin end pid name stack; the process is above bit 40 of the id
    awk -F'\t' -v OFS='\t' -v stage="$1" '
        $1 == "stage" && $7 == stage { print $2, $3, $4, $8, $9 % 1099511627776 }' events | LC_ALL=C sort
}

@test "kernels and copies: every row, typed" {
    for name in "${SETS[@]}" rename; do
        for mode in "" --group-by-queue; do
            # shellcheck disable=SC2086
            convert $mode "$FIXTURES/$name.db"
            stages Kernel >ours
            ask "$kernels" "$FIXTURES/$name.db" >theirs
            same ours theirs
            stages Copy >ours
            ask "$copies" "$FIXTURES/$name.db" >theirs
            same ours theirs
        done
    done
}

@test "kernels and copies: every row, as plain tracks" {
    for name in "${SETS[@]}"; do
        for mode in "" --group-by-queue; do
            # shellcheck disable=SC2086
            convert --legacy-tracks $mode "$FIXTURES/$name.db"
            awk -F'\t' -v OFS='\t' '$1 == "slice" && ($6 ~ /^(STREAM|COMPUTE|COPY)/) {
                print $2, $3, $4, $8, $9 }' events | LC_ALL=C sort >ours
            {
                ask "$kernels" "$FIXTURES/$name.db"
                ask "$copies" "$FIXTURES/$name.db"
                [ $name != everything ] || ask "$graphs" "$FIXTURES/$name.db"
                [ $name != everything ] || ask "$waits" "$FIXTURES/$name.db"
            } | LC_ALL=C sort >theirs
            same ours theirs
        done
    done
}

@test "allocations and scratch: every row, with the size and agent of what is freed" {
    for name in "${SETS[@]}"; do
        convert "$FIXTURES/$name.db"
        awk -F'\t' '$1 == "stage" && ($7 == "Allocation" || $7 == "Scratch") { print $2 "\t" $3 }' \
            events | LC_ALL=C sort >ours
        ask 'SELECT start, "end" FROM rocpd_memory_allocate%S' "$FIXTURES/$name.db" >theirs
        same ours theirs
    done
}

@test "broken records: counts and durations by category, by the rules" {
    for db in "$FIXTURES"/nasty-*.db; do
        convert "$db"
        totals slice 7 >ours
        ask "SELECT coalesce(%C, ''), count(*), sum(x.\"end\" - x.start) FROM rocpd_region%S x %J
            WHERE %K GROUP BY 1" "$db" >theirs
        same ours theirs
        totals stage 7 | grep -w Kernel >ours
        ask 'SELECT "Kernel", count(*), sum(x."end" - x.start) FROM rocpd_kernel_dispatch%S x %J WHERE %K' \
            "$db" >theirs
        same ours theirs
        totals stage 7 | grep -w Copy >ours
        ask 'SELECT "Copy", count(*), sum(x."end" - x.start) FROM rocpd_memory_copy%S x %J WHERE %K' \
            "$db" >theirs
        same ours theirs
    done
}

@test "queues: one per agent and queue, or agent and stream" {
    for name in schema-3.0.0 schema-4.1.0; do
        db=$FIXTURES/$name.db
        convert --group-by-queue "$db"
        ours=$(awk -F'\t' '$1 == "stage" && $7 == "Kernel" { print $5, $6 }' events | sort -u | wc -l)
        theirs=$(ask 'SELECT DISTINCT %A, %Q FROM rocpd_kernel_dispatch%S x %J' "$db" | wc -l)
        [ "$ours" -eq "$theirs" ] || fail "$ours queues, $theirs by SQL"
        convert "$db"
        ours=$(awk -F'\t' '$1 == "stage" && $7 == "Kernel" { print $5, $6 }' events | sort -u | wc -l)
        theirs=$(ask 'SELECT DISTINCT %A, %R FROM rocpd_kernel_dispatch%S x %J' "$db" | wc -l)
        [ "$ours" -eq "$theirs" ] || fail "$ours streams, $theirs by SQL"
    done
}

# ---- links ---------------------------------------------------------------------------------------

@test "host calls are linked to their GPU work, and to nothing else" {
    for name in "${SETS[@]}"; do
        db=$FIXTURES/$name.db
        convert "$db"
        # Every correlation of a call is the id of some work, and the other way round.
        awk -F'\t' '$1 == "slice" && $10 { print $10 }' events | sort -u >calls
        awk -F'\t' '$1 == "stage" && $9 { print $9 }' events | sort -u >work
        [ -z "$(comm -23 calls work)" ] || fail "$name: calls linked to no work"
        linked=$(awk -F'\t' '$1 == "slice" && $10' events | wc -l)
        hip=
        [ "$name" != everything ] || hip="UNION SELECT event_id FROM rocpd_graph_launch%S UNION SELECT
            event_id FROM rocpd_hip_event%S"
        ask "SELECT count(*) FROM rocpd_region%S x %J WHERE coalesce(%C, '') NOT LIKE 'MARKER%' AND
            e.stack_id IN (SELECT stack_id FROM rocpd_event%S WHERE stack_id > 0 AND id IN (
            SELECT event_id FROM rocpd_kernel_dispatch%S UNION SELECT event_id FROM rocpd_memory_copy%S
            UNION SELECT event_id FROM rocpd_memory_allocate%S $hip))" "$db" |
            awk '{ n += $1 } END { print n + 0 }' >theirs
        echo "$linked" >ours
        same ours theirs
    done
}

@test "links of different processes do not meet" {
    convert "$FIXTURES"/rank?.db
    awk -F'\t' '($1 == "slice" && $10) { print $10, $4 } ($1 == "stage" && $9) { print $9, $4 }' events |
        sort -u >links
    [ -s links ]
    [ "$(cut -d' ' -f1 links | sort | uniq -d | wc -l)" -eq 0 ] || fail "an id in two processes"
    convert --legacy-tracks "$FIXTURES"/rank?.db
    awk -F'\t' '$1 == "slice" && $10 { print $10, $4 }' events | sort -u >links
    [ -s links ]
    [ "$(cut -d' ' -f1 links | sort | uniq -d | wc -l)" -eq 0 ] || fail "a flow in two processes"
}

# ---- counters ------------------------------------------------------------------------------------

@test "counters: the sum of each dispatch at its start, and zero after it" {
    for name in schema-3.0.0 schema-4.1.0 sys everything; do
        convert "$FIXTURES/$name.db"
        awk -F'\t' -v OFS='\t' '$1 == "value" && $4 == -1 { printf "%s\t%s\t%.6g\n", $2, $6, $8 }' \
            events | LC_ALL=C sort >ours
        same_dispatch_counters "$FIXTURES/$name.db"
    done
}

@test "sampled and streaming counters: every value" {
    for name in sampled sampled-4.1.0 ticks; do
        convert "$FIXTURES/$name.db"
        values_of 'device_|cpu_freq|process_page|thread_cpu|kfd_pages' 6 8 >ours
        sampled "$FIXTURES/$name.db" >theirs
        same ours theirs
    done
    for name in spm spm-3.0.5; do
        convert "$FIXTURES/$name.db"
        values_of '^SPM' 6 8 >ours
        streamed "$FIXTURES/$name.db" >theirs
        same ours theirs
    done
}

@test "copy bandwidth ends at zero, allocated bytes at what is not freed" {
    db=$FIXTURES/schema-3.0.0.db
    convert "$db"
    awk -F'\t' '$1 == "value" && $6 ~ /copy bandwidth/ { last[$6] = $8; n++ }
        END { for (t in last) if (last[t] != 0) exit 1; exit !n }' events
    awk -F'\t' '$1 == "value" && $6 ~ /allocated/ { last[$6] = $8 }
        END { for (t in last) sum += last[t]; printf "%.0f\n", sum }' events >ours
    # The last ALLOC of an address is there unless a FREE of it begins later.
    ask 'SELECT sum(size) FROM rocpd_memory_allocate%S a WHERE type = "ALLOC" AND level <> "SCRATCH" AND
        NOT EXISTS (SELECT 1 FROM rocpd_memory_allocate%S b WHERE b.address = a.address AND
            b.level <> "SCRATCH" AND (b.type = "FREE" AND b.start >= a."end" OR
            b.type = "ALLOC" AND b."end" > a."end"))' "$db" >theirs
    same ours theirs
}

# ---- filters -------------------------------------------------------------------------------------

@test "a filter that leaves out the first process keeps the names of its GPUs" {
    needs protoc
    rocpd2pftrace -z0 --rank 1 -o t.pftrace "$FIXTURES"/rank?.db
    decode t.pftrace >text
    grep -q '^  gpu_info {' text
    rocpd2pftrace -z0 --rank 3 -o t.pftrace "$FIXTURES"/node-rank?.db
    decode t.pftrace >text
    [ "$(grep -c 'machine_name:' text)" -eq 1 ]
}

@test "a filter makes no faults: what it leaves out is not missed" {
    for name in schema-3.0.0 schema-3.0.5 sampled everything; do
        marker=$(sqlite3 -readonly "$FIXTURES/$name.db" "SELECT json_extract(extdata, '\$.message') FROM
            rocpd_event$(suffix "$FIXTURES/$name.db") WHERE extdata LIKE '{\"message%' LIMIT 1")
        for filter in --start=20% --start=60% --end=40% --min-duration=2us --include=kernel \
            --exclude=kernel --exclude=kernel,counter --include=alloc "--start-marker=$marker"; do
            try 0 rocpd2pftrace -q --strict "$filter" -o t.pftrace "$FIXTURES/$name.db"
            try 0 rocpd2csv -q --strict "$filter" -d out "$FIXTURES/$name.db"
        done
    done
}

@test "many slices that overlap without nesting: each has its place, in good time" {
    cp "$FIXTURES/schema-3.0.0.db" many.db
    chmod u+w many.db
    table=rocpd_region$(suffix many.db)
    sqlite3 many.db "DELETE FROM $table; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n
        WHERE i < 50000) INSERT INTO $table (id, nid, pid, tid, start, end, name_id) SELECT i,
        (SELECT id FROM rocpd_info_node), (SELECT id FROM rocpd_info_process),
        (SELECT min(id) FROM rocpd_info_thread), 259166480000000 + i, 259166480500000 + 2 * i, 1
        FROM n"
    # first fit over a list takes minutes for these
    run -0 timeout 60 "$BUILD/bin/rocpd2pftrace" -v --include region -o t.pftrace many.db
    [[ $output == *" 50000 slices"* && $output == *"49999 slices overlap"* ]]
}

@test "an allocation outside the time window counts for what is live in it" {
    needs protoc
    db=$FIXTURES/schema-3.0.0.db
    table=rocpd_memory_allocate$(suffix "$db")
    # in the middle between two operations: the sum of what was made and not freed by then
    from=$(sqlite3 -readonly "$db" "SELECT end + 1 FROM $table WHERE level = 'REAL' ORDER BY start LIMIT 1 OFFSET 3")
    live=$(sqlite3 -readonly "$db" "SELECT sum(size) FROM $table a WHERE type = 'ALLOC' AND level = 'REAL'
        AND end < $from AND NOT EXISTS (SELECT 1 FROM $table f WHERE f.type = 'FREE' AND
        f.address = a.address AND f.start > a.end AND f.start < $from)")
    rocpd2pftrace -z0 --include alloc --start "$from" -o t.pftrace "$db"
    decode t.pftrace >text
    # the values at the begin of the window
    shown=$(awk '/^  timestamp:/ { at = $2 } /counter_value:/ { value = $2 }
        /^}/ { if (value != "" && at == 0) n += value; value = ""; at = "" } END { print n + 0 }' text)
    echo "live $live, shown first $shown"
    [ "$shown" -eq "$live" ]
}
