#!/usr/bin/env bats
# What is in an OTF2 archive, against SQL on the database that it was made of. otf2dump reads it with
# libotf2's reader, resolves names and checks the rules of the format; otf2-print must agree.

load helper
load events

OTF2DUMP=$BUILD/tests/otf2dump
GEN=$BUILD/tests/rocpd-gen
MODES=("" --group-by-queue --args "--args --group-by-queue")

requires() {
    needs sqlite3 "$FIXTURES/schema-3.0.0.db" "$OTF2DUMP"
}

# convert [OPTION...] DATABASE...: t.otf2 and its events, one a line, in `events`.
convert() {
    run --separate-stderr rocpd2otf2 -q -o t.otf2 "$@"
    [ "$status" -le 1 ] || fail "$*"
    "$OTF2DUMP" t.otf2 >events 2>problems || fail "$* $(cat problems)"
    [ ! -s problems ] || fail "$* $(cat problems)"
}

# begin, end, pid, tid, category, name, stack id of what threads did
host() {
    awk -F'\t' -v OFS='\t' '$1 == "slice" && $6 ~ /hread [0-9]+/ {
        tid = $6; sub(/.*hread /, "", tid); sub(/ .*/, "", tid)
        print $2, $3, $4, tid, $7, $8, $9 }' events | LC_ALL=C sort
}

# begin, end, pid, name, stack id of GPU work
work() { # category
    awk -F'\t' -v OFS='\t' -v category="$1" '($1 == "stage" || $1 == "slice") && $7 == category {
        print $2, $3, $4, $8, $9 }' events | LC_ALL=C sort
}

marks="SELECT x.timestamp, x.timestamp, p.pid, h.tid, %C, coalesce(json_extract(e.extdata,
    '\$.message'), n.string), coalesce(e.stack_id, 0) FROM rocpd_sample%S x %J
    JOIN rocpd_track%S t ON t.id = x.track_id
    LEFT JOIN rocpd_info_process%S p ON p.id = t.pid LEFT JOIN rocpd_info_thread%S h ON h.id = t.tid
    LEFT JOIN rocpd_string%S n ON n.id = t.name_id" # 4.1: x.name_id

# ---- the form ------------------------------------------------------------------------------------

@test "rules of the format, in every mode" {
    for db in $(databases); do
        for mode in "${MODES[@]}"; do
            # shellcheck disable=SC2086
            convert $mode "$db"
        done
    done
}

@test "the programs of OTF2 read it without a word" {
    needs otf2-print otf2-marker otf2-snapshots
    for db in $(databases); do
        run rocpd2otf2 -q --args -o t.otf2 "$db"
        for program in "otf2-print -A" "otf2-print -G" "otf2-print -I" "otf2-print --show-all" \
            otf2-print otf2-marker otf2-snapshots; do
            # shellcheck disable=SC2086
            $program t.otf2 >text 2>problems || fail "$program: $db: $(cat problems)"
            [ ! -s problems ] || fail "$program: $db: $(cat problems)"
            [ -s text ]
        done
        rm -rf t t.*
    done
}

@test "otf2-print counts the same events" {
    needs otf2-print
    for name in "${SETS[@]}"; do
        convert "$FIXTURES/$name.db"
        otf2-print t.otf2 | awk '{ n[$1]++ } END { print n["ENTER"] + 0, n["LEAVE"] + 0,
            n["METRIC"] + 0, n["RMA_PUT"] + n["RMA_GET"], n["RMA_OP_COMPLETE_BLOCKING"] + 0 }' >theirs
        awk -F'\t' '{ n[$1]++ } END { s = n["slice"] + n["stage"]
            print s, s, n["value"] + 0, n["copy"] + 0, n["copy"] + 0 }' events >ours
        same ours theirs
        otf2-print -G t.otf2 | sed -n 's/^LOCATION  *\([0-9]*\) .*# Events: \([0-9]*\),.*/\1 \2/p' |
            sort >theirs
        awk -F'\t' '$1 == "location" { print $2, $8 }' events | sort >ours
        same ours theirs
    done
}

@test "the same bytes with any number of jobs and any memory" {
    for name in everything nasty-3.0.5 nasty-4.1.0 merged sampled; do
        for mode in "" "--args --group-by-queue"; do
            # shellcheck disable=SC2086
            run rocpd2otf2 -q $mode -j1 -o one/t.otf2 -d . "$FIXTURES/$name.db"
            for how in -j2 -j3 "-j1 --memory 1M" "-j3 --memory 1M"; do
                # shellcheck disable=SC2086
                run rocpd2otf2 -q $mode $how -d other -o t.otf2 "$FIXTURES/$name.db"
                diff -r one other
            done
        done
    done
}

# Two processes with so many events that several threads write them.
large() {
    "$GEN" -o large0.db --rows 60000 --seed 7
    "$GEN" -o large1.db --rows 50000 --seed 8
}

@test "locations written side by side: every row, the same bytes with any number of jobs" {
    needs otf2-print "$GEN"
    large
    for mode in "--args" "--args --group-by-queue"; do
        # shellcheck disable=SC2086
        convert $mode -j2 large?.db
        # they number regions by themselves
        [ "$(wc -c t/*.def | awk '$2 != "total" && $1 > 60' | wc -l)" -gt 2 ] || fail "one part"
        host | awk -F'\t' '$1 "" != $2 ""' >ours
        ask "$HOST" large?.db | awk -F'\t' '$1 "" != $2 ""' >theirs
        same ours theirs
        work KERNEL_DISPATCH >ours
        ask "$kernels" large?.db >theirs
        same ours theirs
        work MEMORY_COPY >ours
        ask "$copies" large?.db >theirs
        same ours theirs
        # what overlaps is in locations of its own
        grep -q "^stage.*Stream [0-9]* (2)\|^stage.*Queue [0-9]* (2)" events
    done
    for mode in "" "--args --group-by-queue"; do
        # shellcheck disable=SC2086
        rocpd2otf2 -q $mode -j1 -o one/t.otf2 -d . large?.db
        for how in -j2 -j3 -j7 "-j2 --memory 1M"; do
            # shellcheck disable=SC2086
            rocpd2otf2 -q $mode $how -d other -o t.otf2 large?.db
            diff -rq one other
        done
    done
    otf2-print other/t.otf2 >text 2>problems
    [ ! -s problems ]
    # the names that it finds by these tables
    sed -n 's/^ENTER .*Region: "\(.*\)" <[0-9]*>.*/\1/p' text | LC_ALL=C sort | uniq -c >ours
    awk -F'\t' '$1 == "slice" || $1 == "stage" { print $8 }' events | LC_ALL=C sort | uniq -c >theirs
    same ours theirs
}

@test "machine, nodes, processes and GPUs" {
    needs otf2-print
    rocpd2otf2 -o t.otf2 "$FIXTURES"/node-rank?.db
    otf2-print -G t.otf2 >text
    [ "$(grep -c 'Domain: MACHINE$' text)" -eq 1 ]
    [ "$(grep -c 'Domain: SHARED_MEMORY$' text)" -eq \
        "$(ask 'SELECT hostname FROM rocpd_info_node%S' "$FIXTURES"/node-rank?.db | sort -u | wc -l)" ]
    [ "$(grep -c '^LOCATION_GROUP .*Type: PROCESS, Parent: "node::' text)" -eq 4 ]
    run ! grep -E '^LOCATION_GROUP .*Type: ACCELERATOR' <(grep -v 'Parent: "GPU::.*Creator: "rank' text)
    # as many devices as the machines have that did something, however many processes use them
    [ "$(grep -c 'Domain: ACCELERATOR_DEVICE$' text)" -le \
        "$(grep -c '^LOCATION_GROUP .*Type: ACCELERATOR' text)" ]
    [ "$(grep '^SYSTEM_TREE_NODE ' text | cut -d'"' -f2- | sort | uniq -d | wc -l)" -eq 0 ]
}

@test "names are defined once" {
    needs otf2-print
    rocpd2otf2 --args -o t.otf2 "$FIXTURES"/rank?.db
    otf2-print -G t.otf2 >text
    for what in STRING REGION ATTRIBUTE METRIC_MEMBER; do
        grep "^$what " text | sed "s/^$what *[0-9]* *//" | sort >all
        [ -s all ] || fail "no $what"
        [ -z "$(uniq -d all)" ] || fail "$what: $(uniq -d all | head -3)"
    done
    # all strings stand before what uses them
    awk '/^STRING / { if (other) exit 1 } /^(REGION|LOCATION|ATTRIBUTE|GROUP|METRIC)/ { other = 1 }' text
}

@test "paradigms and roles" {
    needs otf2-print
    rocpd2otf2 -o t.otf2 "$FIXTURES/everything.db"
    otf2-print -G t.otf2 >text
    role() {
        grep -qF "Name: \"$1\"" text || fail "no region $1"
        grep -F "Name: \"$1\"" text | grep -q "Role: $2, Paradigm: $3" || fail "$1 is no $2"
    }
    role hipMalloc ALLOCATE '"HIP"'
    role hipLaunchKernel FUNCTION '"HIP"'
    role hipMemcpyAsync DATA_TRANSFER '"HIP"'
    role mlp CODE USER
    role MEMORY_COPY_HOST_TO_DEVICE DATA_TRANSFER '"HIP"'
    role MEMORY_ALLOCATION_ALLOCATE ALLOCATE '"HIP"'
    grep -q '^GROUP .*Name: "KERNEL_DISPATCH".*Type: REGIONS' text
    rocpd2otf2 -o t.otf2 "$FIXTURES/schema-3.0.0.db"
    otf2-print -G t.otf2 >text
    role MEMORY_ALLOCATION_FREE DEALLOCATE '"HIP"'
}

# ---- events --------------------------------------------------------------------------------------

@test "host calls, markers and marks: every row, with thread, category, name and stack id" {
    for name in "${SETS[@]}"; do
        convert --args "$FIXTURES/$name.db"
        host >ours
        {
            ask "$HOST" "$FIXTURES/$name.db"
            # samples with values, and those of a region's event, are no instants
            query=$marks
            [[ $name != *4.1.0 ]] || query=${marks//t.name_id/x.name_id}
            ask "$query WHERE NOT EXISTS (SELECT 1 FROM rocpd_pmc_event%S v WHERE v.event_id =
                x.event_id) AND NOT EXISTS (SELECT 1 FROM rocpd_region%S r WHERE r.event_id =
                x.event_id) AND %C <> 'KERNEL_DISPATCH'" "$FIXTURES/$name.db"
        } | LC_ALL=C sort >theirs
        same ours theirs
    done
}

@test "several files: processes and nodes side by side" {
    for files in "$FIXTURES"/rank "$FIXTURES"/node-rank; do
        convert --args "$files"?.db
        host | awk -F'\t' '$1 "" != $2 ""' >ours
        ask "$HOST" "$files"?.db | awk -F'\t' '$1 "" != $2 ""' >theirs
        same ours theirs
        work KERNEL_DISPATCH >ours
        ask "$kernels" "$files"?.db >theirs
        same ours theirs
    done
}

@test "kernels and copies: every row" {
    for name in "${SETS[@]}" rename; do
        for mode in "" --group-by-queue; do
            # shellcheck disable=SC2086
            convert --args $mode "$FIXTURES/$name.db"
            work KERNEL_DISPATCH >ours
            ask "$kernels" "$FIXTURES/$name.db" >theirs
            same ours theirs
            work MEMORY_COPY >ours
            ask "$copies" "$FIXTURES/$name.db" >theirs
            same ours theirs
        done
    done
}

@test "graph launches and HIP events: every row" {
    convert --args "$FIXTURES/everything.db"
    work GRAPH_LAUNCH >ours
    ask "$graphs" "$FIXTURES/everything.db" >theirs
    cut -f4 ours | sort -u
    same ours theirs
    work HIP_EVENT >ours
    ask "$waits" "$FIXTURES/everything.db" >theirs
    same ours theirs
}

@test "allocations and scratch: every row" {
    for name in "${SETS[@]}"; do
        convert "$FIXTURES/$name.db"
        awk -F'\t' '$7 == "MEMORY_ALLOCATION" || $7 == "SCRATCH_MEMORY" { print $2 "\t" $3 }' \
            events | LC_ALL=C sort >ours
        ask 'SELECT start, "end" FROM rocpd_memory_allocate%S' "$FIXTURES/$name.db" >theirs
        same ours theirs
    done
}

@test "copies as RMA: bytes, direction and time of those between a GPU and something else" {
    for name in schema-3.0.0 schema-3.0.5 everything viewer sys; do
        convert "$FIXTURES/$name.db"
        lines copy 2,3,4,7,8 >ours
        # The GPU that the bytes go to gets them; where they go to no GPU, the one they come from puts.
        ask "SELECT x.start, x.\"end\", p.pid, CASE WHEN b.type = 'GPU' THEN 'get' ELSE 'put' END, x.size
            FROM rocpd_memory_copy%S x %J LEFT JOIN rocpd_info_process%S p ON p.id = %P
            JOIN rocpd_info_agent%S a ON a.id = x.src_agent_id
            JOIN rocpd_info_agent%S b ON b.id = x.dst_agent_id
            WHERE a.id <> b.id AND (a.type = 'GPU' OR b.type = 'GPU')" "$FIXTURES/$name.db" >theirs
        same ours theirs
    done
}

@test "windows of copies are defined in the order of their numbers, whichever process comes first" {
    copy() { # pid
        echo "HSA: pid:$1 tid:5 copy agent:9 signal:1 start:1000 stop:1100 dep1:0 dep2:0 dep3:0 dep4:0 dep5:0"
    }
    call() { # pid begin
        echo "HIP: pid:$1 tid:5 hipInit(flags=0) ret=0 @$2 +50"
    }
    { copy 100 && copy 101 && call 101 500 && call 100 700; } >order.txt
    convert order.txt
    [ "$(lines copy 2 | wc -l)" -eq 2 ]
}

@test "broken records: counts and durations by category, by the rules" {
    for db in "$FIXTURES"/nasty-*.db; do
        convert "$db"
        # by paradigm; points in time are left out on both sides
        cp events all
        awk -F'\t' '$1 == "slice" && $2 "" != $3 "" && $7 !~ /^(MEMORY_|SCRATCH_|KERNEL_)/' all >events
        totals slice 11 >ours
        mv all events
        ask "SELECT CASE WHEN %C LIKE 'HIP%' OR %C LIKE 'HSA%' THEN 23 ELSE 1 END, count(*),
            sum(x.\"end\" - x.start) FROM rocpd_region%S x %J WHERE %K AND x.\"end\" <> x.start
            GROUP BY 1" "$db" >theirs
        same ours theirs
        sed 's/^slice/stage/' events >all && mv all events
        totals stage 7 | grep -w KERNEL_DISPATCH >ours
        ask 'SELECT "KERNEL_DISPATCH", count(*), sum(x."end" - x.start) FROM rocpd_kernel_dispatch%S x
            %J WHERE %K' "$db" >theirs
        same ours theirs
        totals stage 7 | grep -w MEMORY_COPY >ours
        ask 'SELECT "MEMORY_COPY", count(*), sum(x."end" - x.start) FROM rocpd_memory_copy%S x %J WHERE %K' \
            "$db" >theirs
        same ours theirs
    done
}

@test "locations: one per agent and queue, or agent and stream" {
    for name in schema-3.0.0 schema-4.1.0; do
        db=$FIXTURES/$name.db
        for mode in "--group-by-queue %Q" " %R"; do
            # shellcheck disable=SC2086
            convert ${mode% *} "$db"
            # what overlaps has a number after the name
            ours=$(awk -F'\t' -v OFS='\t' '$7 == "KERNEL_DISPATCH" { sub(/ \([0-9]+\)$/, "", $6)
                print $5, $6 }' events | sort -u | wc -l)
            theirs=$(ask "SELECT DISTINCT %A, ${mode#* } FROM rocpd_kernel_dispatch%S x %J" "$db" | wc -l)
            [ "$ours" -eq "$theirs" ] || fail "$ours locations, $theirs by SQL"
        done
    done
}

@test "arguments and launches are attributes, with --args" {
    db=$FIXTURES/schema-3.0.0.db
    convert "$db"
    run ! grep -q workgroup_size= events
    convert --args "$db"
    awk -F'\t' '$7 == "KERNEL_DISPATCH" { print $2 "\t" $12 }' events |
        sed 's/\(\t.*\) queue=.*/\1/' | LC_ALL=C sort >ours
    ask "SELECT start, 'dispatch_id=' || dispatch_id || ' grid_size=' || grid_size_x || 'x' ||
        grid_size_y || 'x' || grid_size_z || ' workgroup_size=' || workgroup_size_x || 'x' ||
        workgroup_size_y || 'x' || workgroup_size_z || ' lds_bytes=' || group_segment_size ||
        ' scratch_bytes=' || private_segment_size FROM rocpd_kernel_dispatch%S" "$db" >theirs
    same ours theirs
    awk -F'\t' -v OFS='\t' '$1 == "slice" && $8 == "hipMemcpyAsync" { print $2, $12 }' events |
        grep -o '^[0-9]*\|sizeBytes=[0-9]*' | paste - - | LC_ALL=C sort >ours
    ask "SELECT x.start, 'sizeBytes=' || a.value FROM rocpd_region%S x JOIN rocpd_arg%S a
        ON a.event_id = x.event_id JOIN rocpd_string%S n ON n.id = x.name_id
        WHERE n.string = 'hipMemcpyAsync' AND a.name = 'sizeBytes'" "$db" >theirs
    same ours theirs
}

@test "an argument that is there twice is kept twice" {
    cp "$FIXTURES/schema-3.0.0.db" t.db
    chmod u+w t.db
    s=$(suffix t.db)
    sqlite3 t.db "UPDATE rocpd_arg$s SET name = 'same', type = 'int', value = position"
    convert --args t.db
    grep -q 'same=1 same (2)=2' events || grep -q 'same=0 same (2)=1' events
}

@test "markers: marks and ranges also as markers, with their text" {
    for name in schema-3.0.0 everything viewer; do
        db=$FIXTURES/$name.db
        convert "$db"
        lines mark 2,3,4,6 >ours
        {
            ask "SELECT x.start, x.\"end\", p.pid, coalesce(json_extract(e.extdata, '\$.message'),
                n.string) FROM rocpd_region%S x %J LEFT JOIN rocpd_info_process%S p ON p.id = %P
                LEFT JOIN rocpd_string%S n ON n.id = x.name_id WHERE %C LIKE 'MARKER%'" "$db"
            ask "$marks WHERE c.string LIKE 'MARKER%'" "$db" | cut -f1-3,6
        } | LC_ALL=C sort >theirs
        same ours theirs
    done
}

# ---- values --------------------------------------------------------------------------------------

@test "counters: the sum of each dispatch at its start, and zero after it" {
    for name in schema-3.0.0 schema-4.1.0 sys everything; do
        convert "$FIXTURES/$name.db"
        awk -F'\t' '$1 == "value" && $6 == "Counters" { printf "%s\t%s\t%.6g\n", $2, $7, $9 }' \
            events | LC_ALL=C sort >ours
        same_dispatch_counters "$FIXTURES/$name.db"
    done
}

@test "sampled and streaming counters: every value" {
    for name in sampled sampled-4.1.0 ticks; do
        convert "$FIXTURES/$name.db"
        values_of 'device_|cpu_freq|process_page|thread_cpu|kfd_pages' 7 9 >ours
        sampled "$FIXTURES/$name.db" >theirs
        same ours theirs
    done
    for name in spm spm-3.0.5; do
        convert "$FIXTURES/$name.db"
        values_of '^SPM' 7 9 >ours
        streamed "$FIXTURES/$name.db" >theirs
        same ours theirs
    done
}

@test "copy bandwidth ends at zero, allocated bytes at what is not freed" {
    db=$FIXTURES/schema-3.0.0.db
    convert "$db"
    awk -F'\t' '$1 == "value" && $7 ~ /^Copy bandwidth/ { last[$5 $7] = $9; n++ }
        END { for (t in last) if (last[t] != 0) exit 1; exit !n }' events
    awk -F'\t' '$1 == "value" && $7 ~ /^Allocated/ { last[$5 $7] = $9 }
        END { for (t in last) sum += last[t]; printf "%.0f\n", sum }' events >ours
    # The last ALLOC of an address is there unless a FREE of it begins later.
    ask 'SELECT sum(size) FROM rocpd_memory_allocate%S a WHERE type = "ALLOC" AND level <> "SCRATCH" AND
        NOT EXISTS (SELECT 1 FROM rocpd_memory_allocate%S b WHERE b.address = a.address AND
            b.level <> "SCRATCH" AND (b.type = "FREE" AND b.start >= a."end" OR
            b.type = "ALLOC" AND b."end" > a."end"))' "$db" >theirs
    same ours theirs
}

# ---- many ----------------------------------------------------------------------------------------

@test "many slices that overlap without nesting: each has its place, in little memory" {
    cp "$FIXTURES/schema-3.0.0.db" many.db
    chmod u+w many.db
    table=rocpd_region$(suffix many.db)
    sqlite3 many.db "DELETE FROM $table; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n
        WHERE i < 2000) INSERT INTO $table (id, nid, pid, tid, start, end, name_id) SELECT i,
        (SELECT id FROM rocpd_info_node), (SELECT id FROM rocpd_info_process),
        (SELECT min(id) FROM rocpd_info_thread), 259166480000000 + i, 259166480500000 + 2 * i, 1
        FROM n"
    convert --include region many.db
    [ "$(lines slice 2 | wc -l)" -eq 2000 ]
    [ "$(lines slice 6 | sort -u | wc -l)" -eq 2000 ]
    # 2000 writers of libotf2 at once would take 2 GiB
    grep -q asan <(nm -D "$BUILD/bin/rocpd2otf2" 2>/dev/null) ||
        (ulimit -v 600000 && rocpd2otf2 -q -j1 --include region -o t.otf2 many.db)
}

@test "slices that overlap in more memory than there is" {
    db=$FIXTURES/schema-3.0.0.db
    cp "$db" many.db
    chmod u+w many.db
    table=rocpd_kernel_dispatch$(suffix many.db)
    # each row 41 times, some ns apart
    columns=$(sqlite3 many.db "SELECT group_concat(name) FROM pragma_table_info('$table')
        WHERE name NOT IN ('id', 'start', 'end', 'guid')")
    sqlite3 many.db "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
        INSERT INTO $table (start, \"end\", $columns) SELECT start + i, \"end\" + i, $columns FROM $table, n"
    convert --include kernel --memory 1m -j2 many.db
    awk -F'\t' -v OFS='\t' '$7 == "KERNEL_DISPATCH" { print $2, $3 }' events | LC_ALL=C sort >ours
    ask 'SELECT start, "end" FROM rocpd_kernel_dispatch%S' many.db >theirs
    same ours theirs
}

# ---- files ---------------------------------------------------------------------------------------

@test "names of outputs" {
    db=$FIXTURES/schema-3.0.0.db
    try 0 rocpd2otf2 "$db"
    silent
    for file in out_results.otf2 out_results.def out_results.marker out_results/0.evt; do
        [ -s "rocpd-output-data/$file" ] || fail "no $file"
    done
    try 0 env ROCPD_OUTPUT_NAME=n ROCPD_OUTPUT_PATH=p/q rocpd2otf2 -o m "$db"
    [ -s p/q/m_results.otf2 ]
    try 0 rocpd2otf2 -o here.otf2 "$db"
    [ -s here.otf2 ]
    try 0 rocpd2otf2 -i "$db" -o there.otf2 -d d
    [ -s d/there.otf2 ]
    try 2 rocpd2otf2 -o - "$db"
    says "standard output"
}

@test "an archive replaces an archive, and nothing else" {
    db=$FIXTURES/schema-3.0.0.db
    rocpd2otf2 -o t.otf2 "$FIXTURES/everything.db"
    ls t >many
    rocpd2otf2 --include kernel -o t.otf2 "$db"
    ls t >few
    [ "$(wc -l <few)" -lt "$(wc -l <many)" ]
    [ ! -e t.marker ]
    "$OTF2DUMP" t.otf2 >events
    # a folder that holds anything else stays as it is
    mkdir data
    cp "$db" data/my.db
    try 4 rocpd2otf2 -o data.otf2 "$FIXTURES/everything.db"
    says "data: holds my.db"
    [ ! -e data.otf2 ]
    [ "$(ls data)" = my.db ]
    touch run
    try 4 rocpd2otf2 -o run.otf2 "$db"
    mkdir dir.otf2
    try 4 rocpd2otf2 -o dir.otf2 "$db"
    [ -z "$(find . -name '.rocline*')" ]
}

@test "no file of an archive replaces an input" {
    mkdir a
    cp "$FIXTURES/schema-3.0.0.db" a/0.def
    cp "$FIXTURES/schema-3.0.0.db" b.def
    for how in "-o a.otf2 a/0.def" "-o b.otf2 b.def" "-o b.otf2 ./b*"; do
        # shellcheck disable=SC2086
        try 2 rocpd2otf2 $how
        says "name another output"
    done
    cmp a/0.def "$FIXTURES/schema-3.0.0.db"
    cmp b.def "$FIXTURES/schema-3.0.0.db"
    [ "$(ls -A | paste -sd' ')" = "a b.def" ]
}

@test "a failure leaves the former archive and nothing else" {
    rocpd2otf2 -o t.otf2 "$FIXTURES/everything.db"
    cp -r . ../before
    try 3 rocpd2otf2 -o t.otf2 "$FIXTURES/corrupt.db"
    diff -r ../before .
    # the size limit stands for a full disk; libotf2 loses some bytes then
    code=0
    (ulimit -f 1 && trap '' XFSZ && ASAN_OPTIONS=detect_leaks=0 rocpd2otf2 -o t.otf2 \
        "$FIXTURES/viewer.db") 2>err || code=$?
    [ "$code" -eq 4 ]
    [ "$(wc -l <err)" -eq 1 ] || fail "$(cat err)"
    grep -q '^rocpd2otf2: t.otf2: cannot write' err || fail "$(cat err)"
    rm err
    diff -r ../before .
}

@test "sizes of chunks" {
    for size in 256k 16m; do
        convert --chunk-size $size "$FIXTURES/schema-3.0.0.db"
    done
    try 2 rocpd2otf2 --chunk-size 1k -o t.otf2 "$FIXTURES/schema-3.0.0.db"
    try 2 rocpd2otf2 --chunk-size 17m -o t.otf2 "$FIXTURES/schema-3.0.0.db"
}

@test "a trace without events" {
    convert "$FIXTURES/empty-tables.db"
    [ "$(lines location 2 | wc -l)" -eq 1 ]
}

@test "names that OTF2 cannot hold" {
    cp "$FIXTURES/schema-3.0.0.db" t.db
    chmod u+w t.db
    s=$(suffix t.db)
    sqlite3 t.db "UPDATE rocpd_string$s SET string = CAST(x'68c3ff61' AS TEXT) WHERE string = 'hipMalloc';
        UPDATE rocpd_string$s SET string = printf('%.*c', 5000000, 'x') WHERE string = 'hipFree'"
    try 1 rocpd2otf2 -o t.otf2 t.db
    one_line rocpd2otf2
    says "1 text longer than 1 MiB: truncated"
    convert t.db
    grep -q $'\th\xef\xbf\xbd\xef\xbf\xbda\t' events
    grep -q 'xxxxxxxx' events
}

@test "values of arguments that are not UTF-8 are counted as names are, by every output" {
    cp "$FIXTURES/schema-3.0.0.db" t.db
    chmod u+w t.db
    sqlite3 t.db "UPDATE rocpd_arg$(suffix t.db) SET value = CAST(x'3500c378' AS TEXT) WHERE id < 3"
    try 1 rocpd2otf2 --args -o t.otf2 t.db
    says "1 text holds NUL or bytes that are not UTF-8"
    otf2-print t.otf2 | grep -q $'STRING; "5\xef\xbf\xbd\xef\xbf\xbdx"'
    for layout in trace kineto rocprof rocprofv3; do
        try 1 rtg2json --args --layout $layout -o t.json t.db
        says "1 text holds NUL or bytes that are not UTF-8"
        grep -q $'5\xef\xbf\xbd\xef\xbf\xbdx' t.json
    done
    try 1 rtg2json -q --args --team 2 -o team.json t.db
    try 1 rocpd2pftrace --args -o t.pftrace t.db
    try 0 rtg2json -q -o t.json t.db
}

@test "long names are cut between characters, and are no fault" {
    name=$(printf '训练%.0s' {1..80})
    cat >long.json <<EOF
{"deviceProperties":[{"id":0,"name":"$name"}],"traceEvents":[
{"ph":"M","name":"process_name","pid":10,"args":{"name":"$name"}},
{"ph":"M","name":"thread_name","pid":10,"tid":11,"args":{"name":"$name"}},
{"ph":"X","cat":"cuda_runtime","name":"hipFree","pid":10,"tid":11,"ts":100,"dur":5,"args":{"$name":1,"$name":2}},
{"ph":"X","cat":"kernel","name":"$name","pid":0,"tid":7,"ts":110,"dur":2,"args":{"device":0,"stream":7}},
{"ph":"C","name":"$name","pid":10,"ts":101,"args":{"$name":1}}]}
EOF
    try 0 rocpd2otf2 --args -o t.otf2 long.json
    [ -z "$stderr" ]
    otf2-print -A t.otf2 >all
    grep -q "Thread 11 (训练" all
    run ! grep -q $'\xef\xbf\xbd' all
    try 0 rtg2json --args -o t.json long.json
    grep -q '"name":"训练' t.json
    run ! grep -q $'\xef\xbf\xbd' t.json
}

@test "a disk that is full in the middle of a location" {
    "$BUILD/tests/rocpd-gen" -o many.db --rows 200000 --threads 1
    mkdir out
    # libotf2 writes 4 MiB at a time: the limits are before, at, and behind that
    for kib in 100 4096 4200; do
        run --separate-stderr bash -c "ulimit -f $kib; ASAN_OPTIONS=detect_leaks=0 \
            exec rocpd2otf2 --args --chunk-size 300k -o out/t.otf2 many.db"
        [ "$status" -eq 4 ] || fail "$kib KiB: exit code 4 was expected"
        one_line rocpd2otf2
        says "out/t.otf2: cannot write"
        [ -z "$(ls -A out)" ] || fail "$kib KiB: $(ls -A out)"
    done
}

@test "a run that is ended by a signal leaves the former archive and nothing else" {
    "$BUILD/tests/rocpd-gen" -o many.db --rows 200000
    mkdir out
    rocpd2otf2 -o out/t.otf2 "$FIXTURES/everything.db"
    cp -r out before
    for signal in TERM HUP INT; do
        # a shell lets what it puts into the background ignore SIGINT; env undoes that
        env --default-signal=INT rocpd2otf2 --memory 1m -o out/t.otf2 many.db &
        until compgen -G 'out/.rocline-*' >/dev/null; do
            kill -0 $! || fail "it was too quick"
        done
        kill -s $signal $!
        code=0
        wait $! || code=$?
        [ "$code" -eq $((128 + $(kill -l $signal))) ] || fail "$signal: exit code $code"
        diff -r before out
    done
}
