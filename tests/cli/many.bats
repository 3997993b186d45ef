#!/usr/bin/env bats
# Many inputs: 256 databases of all versions as one trace, against the sums of SQL over each of them;
# the order of inputs; processes that look alike; clocks of several nodes.

load helper

requires() {
    needs sqlite3 jq
}

# 256 ranks on 32 nodes, in m/; three small jobs, the last with pids that are all the same.
setup_file() {
    local first=0 schema gen=$BUILD/tests/rocpd-gen
    cd "$BATS_FILE_TMPDIR" || return
    mkdir m two one same
    for schema in 3.0.0 3.0.1 3.0.2 3.0.3 3.0.4 3.0.5 4.1.0 lz4; do
        "$gen" -o "m/rank%r.db" --rows 24 --kernels 4 --caches 0 --gpus 2 --threads 2 \
            --schema "$schema" --processes 32 --nodes 4 --first-rank $first
        first=$((first + 32))
    done
    "$gen" -o "two/r%r.db" --rows 300 --kernels 4 --caches 0 --processes 4 --nodes 2 \
        --clock-step 3600000000000
    "$gen" -o "one/r%r.db" --rows 300 --kernels 4 --caches 0 --processes 2
    "$gen" -o "same/r%r.db" --rows 100 --kernels 4 --caches 0 --processes 4 --nodes 2 --pid-step 0
}

# A query over each of some databases, on their views.
each_of() { # query database...
    local query=$1 db
    shift
    for db in "$@"; do
        printf '.open --readonly %s\n%s;\n' "$db" "$query"
    done | sqlite3 -batch
}

sum() {
    awk '{ s += $1 } END { printf "%d\n", s }'
}

links() { # folder: its files by links in the current folder
    ln -s "$BATS_FILE_TMPDIR/$1"/*.db .
}

@test "256 databases of all versions: the rows of each are in the CSV" {
    links m
    rocpd2csv -q -d csv ./*.db
    each_of 'SELECT guid, dispatch_id, start, "end" FROM rocpd_kernel_dispatch' ./*.db | sort >theirs
    sqlite3 :memory: '.mode csv' '.import csv/out_kernel_trace.csv k' '.mode list' \
        'SELECT Guid, Dispatch_Id, Start_Timestamp, End_Timestamp FROM k' | sort >ours
    [ "$(wc -l <ours)" -gt 256 ]
    diff ours theirs
    each_of 'SELECT guid, start, "end", size FROM rocpd_memory_copy' ./*.db | sort >theirs
    sqlite3 :memory: '.mode csv' '.import csv/out_memory_copy_trace.csv k' '.mode list' \
        'SELECT Guid, Start_Timestamp, End_Timestamp FROM k' | sort >ours
    [ -s ours ]
    cut -d'|' -f1-3 theirs | diff ours -
    calls=$(each_of 'SELECT count(*) FROM rocpd_region' ./*.db | sum)
    marks=$(each_of 'SELECT count(*) FROM rocpd_sample' ./*.db | sum)
    [ "$(sed -s 1d csv/out_{hip,hsa,marker}_api_trace.csv | wc -l)" -eq $((calls + marks)) ]
}

@test "256 databases: the same in a trace, in JSON and in statistics" {
    links m
    needs "$BUILD/tests/pfdump"
    each_of 'SELECT start, "end" FROM rocpd_kernel_dispatch' ./*.db | sort >theirs
    rocpd2pftrace -q -o t.pftrace ./*.db
    "$BUILD/tests/pfdump" events t.pftrace >t.events
    awk -F'\t' '$1 == "stage" && $7 == "Kernel" { print $2 "|" $3 }' t.events | sort >ours
    diff ours theirs
    rtg2json -q -o t.json ./*.db
    jq -r '.traceEvents[] | select(.ph == "X" and .cat == "kernel") | .dur * 1000 | round' t.json |
        sort >ours
    awk -F'|' '{ print $2 - $1 }' theirs | sort | diff ours -
    rocstats kernels -q --format json -o s.json ./*.db
    [ "$(jq '[.tables[] | select(.key == "kernels").rows[].total_ns] | add' s.json)" = \
        "$(awk -F'|' '{ print $2 - $1 }' theirs | sum)" ]
    [ "$(jq '[.tables[] | select(.key == "kernels").rows[].calls] | add' s.json)" = "$(wc -l <theirs)" ]
}

@test "256 databases with 64 open files" {
    links m
    ulimit -n 64
    rocpd2csv -q -d csv ./*.db
    rocpd2csv -q --style rocprofv3 -d csv3 ./*.db
    [ "$(find csv3 -name '*_agent_info.csv' | wc -l)" -eq 256 ]
    [ -z "$(find csv3 -name '.*')" ]
    rocpd2pftrace -q -j4 -o t.pftrace ./*.db
    rocpd2pftrace -q --reader sqlite --memory 1m -o t2.pftrace ./*.db
    cmp t.pftrace t2.pftrace
    rtg2json -q -f --memory 1m -o t.json ./*.db
    rocstats all -q --format json -o s.json ./*.db
    rocpd2csv -q --align start --start 10% -d csv4 ./*.db
}

@test "an index of 256 files, a folder, globs: the same trace" {
    links m
    rocpd2pftrace -q -o a.pftrace ./*.db
    mkdir run.rpdb
    cp ./*.db run.rpdb
    (cd run.rpdb && printf 'rocprofiler-sdk:\n  rocpd:\n    files:\n' &&
        printf '      - "%s"\n' *.db | shuf --random-source=<(yes)) >index
    mv index run.rpdb/index.yaml
    for input in run.rpdb run.rpdb/index.yaml 'run.rpdb/*.db' .; do
        rocpd2pftrace -q -o b.pftrace "$input"
        cmp a.pftrace b.pftrace
    done
}

@test "the order of inputs does not matter" {
    links m
    some=(rank{0..20}.db rank2{20..40}.db)
    mapfile -t other < <(printf '%s\n' "${some[@]}" | shuf --random-source=<(yes 3))
    [ "${some[*]}" != "${other[*]}" ]
    for i in 1 2; do
        rocpd2csv -q -d csv$i -j$i "${some[@]}"
        rocpd2pftrace -q --args -o $i.pftrace -j$i "${some[@]}"
        rocpd2pftrace -q --legacy-tracks -o $i.legacy.pftrace -j$i "${some[@]}"
        rtg2json -q -f -o $i.json -j$i "${some[@]}"
        rocstats all -q --by-rank --format json -o $i.stats -j$i "${some[@]}"
        some=("${other[@]}")
    done
    diff -r csv1 csv2
    cmp 1.pftrace 2.pftrace
    cmp 1.legacy.pftrace 2.legacy.pftrace
    cmp 1.json 2.json
    cmp 1.stats 2.stats
}

@test "processes are in the order of nodes and ranks" {
    links m
    rtg2json -q -o t.json rank{100,20,3,0,19,255,8,99}.db
    jq -r '.traceEvents[] | select(.name == "process_name").args.name' t.json | grep ^train >names
    diff names - <<'END'
train (rank 0, pid 4200, synth-node-0)
train (rank 3, pid 4500, synth-node-0)
train (rank 8, pid 4200, synth-node-1)
train (rank 19, pid 4500, synth-node-2)
train (rank 20, pid 4600, synth-node-2)
train (rank 99, pid 4500, synth-node-12)
train (rank 100, pid 4600, synth-node-12)
train (rank 255, synth-node-31)
END
}

@test "text among databases, and the order of texts" {
    for pid in 9 10 100; do
        echo "HIP: pid:$pid tid:$pid hipMalloc(ptr=0) ret=0 @$((1000 * pid)) +10"
        echo "HSA: pid:$pid tid:$pid hsa_init () ret=0 @$((1000 * pid + 20)) +10"
    done >all
    for pid in 9 10 100; do
        grep "pid:$pid " all >trace.$pid
    done
    cp "$BATS_FILE_TMPDIR"/one/r0.db .
    rtg2json -q --layout trace -o a.json trace.9 r0.db trace.10 trace.100
    rtg2json -q --layout trace -o b.json trace.100 trace.10 r0.db trace.9
    cmp a.json b.json
    rtg2json -q -p -o a.json trace.100 trace.9
    rtg2json -q -p --start 0 -o b.json trace.100 trace.9
    diff <(jq -S .traceEvents a.json) <(jq -S .traceEvents b.json)
}

@test "256 texts with 64 open files, plain and gzip" {
    for i in $(seq 256); do
        sed "s/pid:100 /pid:$i /" "$TOP/tests/fixtures/rtg/calls.txt" >"trace.$i"
    done
    gzip -k trace.*
    ulimit -n 64
    for tool in "rtg2json -p" "rtg2json -p --start 0" "rtg2json --layout trace" rocpd2pftrace; do
        $tool -q -o plain.gz trace.?{,?,??}
        $tool -q -o packed.gz trace.*.gz
        gunzip -f plain.gz packed.gz
        # The pids are the same, not their order where that is of the inputs.
        [ "$(wc -c <plain)" -eq "$(wc -c <packed)" ]
        case $tool in
        *layout* | rocpd2pftrace) cmp plain packed ;;
        esac
    done
    rocpd2csv -q -d a trace.?{,?,??}
    rocpd2csv -q -d b trace.*.gz
    [ "$(cat a/*_hip_api_trace.csv | wc -l)" -gt 256 ]
    for f in a/*; do
        diff "$f" <(sed 's/\.gz"/"/' "b/${f#a/}")
    done
}

@test "one pid on two nodes and twice on one: separate tracks" {
    links same
    needs protoc
    rocpd2pftrace -q -z0 -o t.pftrace ./*.db
    decode t.pftrace >t.txt
    # machine, pid and name of each process
    awk '/^      pid:/ { pid = $2 } /process_name:/ { name = $0; sub(/.*process_name: /, "", name) }
         /^  machine_id:/ && name { print $2, pid, name; name = "" }' t.txt >processes
    [ "$(wc -l <processes)" -eq 4 ]
    [ "$(cut -d' ' -f1,2 processes | sort -u | wc -l)" -eq 4 ]
    [ "$(grep -c '4200 "train (rank [02], synth-node-[01])"' processes)" -eq 2 ]
    [ "$(grep -c '"train (rank [13], pid 4200, synth-node-[01])"' processes)" -eq 2 ]
    "$BUILD/tests/pfdump" events t.pftrace >/dev/null
    rtg2json -q -o t.json ./*.db
    jq -r '.traceEvents[] | select(.name == "process_name") | "\(.pid) \(.args.name)"' t.json |
        grep train >processes
    [ "$(cut -d' ' -f1 processes | sort -u | wc -l)" -eq 4 ]
    [ "$(cut -d' ' -f2- processes)" = "train (rank 0, pid 4200, synth-node-0)
train (rank 1, pid 4200, synth-node-0)
train (rank 2, pid 4200, synth-node-1)
train (rank 3, pid 4200, synth-node-1)" ]
    # No event of one is among those of another.
    for rank in 0 1 2 3; do
        pid=$(grep "rank $rank," processes | cut -d' ' -f1)
        [ "$(jq "[.traceEvents[] | select(.ph == \"X\" and .pid == $pid)] | length" t.json)" -eq \
            "$(each_of 'SELECT count(*) FROM rocpd_region' r$rank.db)" ]
    done
    rocstats ranks --format json ./*.db >s.json
    rocpd2csv -q --style rocprofv3 --kinds kernel_trace -d csv ./*.db
    for rank in 0 1 2 3; do
        file=csv/synth-node-$((rank / 2))/4200$( ((rank % 2 == 0)) || echo -2)_kernel_trace.csv
        each_of 'SELECT start FROM rocpd_kernel_dispatch ORDER BY 1' r$rank.db >theirs
        sqlite3 :memory: '.mode csv' ".import $file k" 'SELECT Start_Timestamp FROM k ORDER BY 1' |
            diff - theirs
    done
}

@test "a file that is named twice is read once" {
    links one
    for tool in rocpd2csv rocpd2pftrace; do
        try 0 "$tool" -d a r0.db r1.db
        silent
        ln -f "$BATS_FILE_TMPDIR/one/r0.db" hard.db
        for inputs in "r0.db r0.db r1.db" "r0.db ./r1.db r0.db" "r0.db ./*.db" ". r*.db" \
            "hard.db r1.db r0.db"; do
            # shellcheck disable=SC2086
            try 0 "$tool" -d b $inputs
            one_line "$tool"
            says ", read once"
            diff -r a b
            rm -r b
        done
        rm -r a hard.db
    done
    try 0 rocstats --table domains r0.db r0.db r1.db r1.db
    says "r0.db: named twice, read once, and 1 more such file"
    try 3 rocpd2csv -d c - - <r0.db
    says "-: named twice"
}

@test "a copy of a database is refused with both names" {
    links one
    cp "$BATS_FILE_TMPDIR/one/r1.db" copy.db
    for tool in "rocpd2csv -d a" "rocpd2pftrace -d a" "rtg2json -o a" "rocstats -o a"; do
        # shellcheck disable=SC2086
        try 3 $tool r0.db r1.db copy.db
        one_line "${tool%% *}"
        says "r1.db: holds the same process (guid "
        says "copy.db"
        [ ! -e a ] || [ -z "$(ls -A a)" ]
    done
}

@test "a missing or broken file in the middle" {
    links m
    cp "$FIXTURES/truncated.db" rank100x.db
    for tool in "rocpd2csv -d a" "rocpd2pftrace -d a" "rtg2json -o a" "rocstats -o a"; do
        # shellcheck disable=SC2086
        try 3 $tool ./*.db
        one_line "${tool%% *}"
        says rank100x.db
        # shellcheck disable=SC2086
        try 3 $tool rank1.db gone.db rank2.db
        says "gone.db: no such file"
        [ ! -e a ] || [ -z "$(ls -A a)" ]
    done
}

@test "256 databases: the same for every number of workers" {
    links m
    for j in 1 2 5; do
        rocpd2csv -q -j$j -d $j.csv ./*.db
        rocpd2pftrace -q -j$j -o $j.pftrace ./*.db
        rocpd2pftrace -q -j$j --args --start 10% -o $j.args.pftrace ./*.db
        rtg2json -q -f -j$j -o $j.json ./*.db
        rocstats all -q -j$j --format json -o $j.stats ./*.db
        rocstats summary -q -j$j --reader sqlite --rank 3,77,200 --format json -o $j.some ./*.db
        [ $j -eq 1 ] || for f in csv pftrace args.pftrace json stats some; do
            diff -r 1.$f $j.$f
        done
    done
}

# Of several processes the first one in the order of ranks is named, whoever reads it when.
@test "256 databases, some of which are broken or odd: the same words for every number of workers" {
    cp "$BATS_FILE_TMPDIR"/m/*.db .
    for rank in 20 70 71 150; do
        sqlite3 rank$rank.db "UPDATE rocpd_region$(suffix rank$rank.db) SET \"end\" = start - 1
            WHERE id = (SELECT min(id) FROM rocpd_region)"
    done
    for j in 1 2 5; do
        try 1 rocpd2pftrace -j$j -o $j.odd.pftrace ./*.db
        says "end before start (4)"
        try 3 rocpd2pftrace --strict -j$j -o x ./*.db
        says "rank20.db: table rocpd_region_"
        says ": end before start"
        try 3 rocstats summary --strict -j$j -o x rank1*.db
        says "rank150.db: table rocpd_region_"
        cmp 1.odd.pftrace $j.odd.pftrace
    done
    for rank in 30 31 151; do
        page=$(sqlite3 -readonly rank$rank.db "SELECT rootpage FROM sqlite_master
            WHERE name LIKE 'rocpd_region_%' AND type = 'table'")
        size=$(sqlite3 -readonly rank$rank.db 'PRAGMA page_size')
        printf '\377\377' | dd of=rank$rank.db bs=1 seek=$(((page - 1) * size)) conv=notrunc status=none
    done
    for j in 1 2 5; do
        for tool in "rocpd2csv -d a" "rocpd2pftrace -d a" "rtg2json -o a" "rocstats -o a"; do
            # shellcheck disable=SC2086
            try 3 $tool -j$j ./*.db
            says "rank30.db: table rocpd_region_"
            says "it is not a page of a table"
            # shellcheck disable=SC2086
            try 3 $tool -j$j rank15*.db
            one_line "${tool%% *}"
            says "rank151.db: table rocpd_region_"
            [ ! -e a ] || [ -z "$(ls -A a)" ]
            rm -rf a
        done
    done
}

@test "ranks out of every launcher's environment, and nothing else of it" {
    rank=7
    for variable in OMPI_COMM_WORLD_RANK PMIX_RANK PMI_RANK MV2_COMM_WORLD_RANK FLUX_TASK_RANK \
        PALS_RANKID SLURM_PROCID RANK; do
        cp "$BATS_FILE_TMPDIR/one/r0.db" r.db
        sqlite3 r.db "UPDATE rocpd_info_process$(suffix r.db) SET environment =
            json_object('SECRET_TOKEN', 'do-not-copy', '$variable', '$rank')"
        rocpd2pftrace -q -z0 -o t.pftrace r.db
        decode t.pftrace >t.txt
        grep -q "process_labels: \"rank $rank\"" t.txt
        rtg2json -q -o t.json r.db
        grep -q "rank $rank" t.json
        rocpd2csv -q -d csv r.db
        [ "$(grep -rl "do-not-copy\|SECRET_TOKEN" . --include='*.txt' --include='*.json' --include='*.csv' | wc -l)" -eq 0 ]
        rank=$((rank + 1))
    done
}

# ---- clocks ----------------------------------------------------------------------------------------

# First start and last end of the kernels of some guids in a CSV, and the sum of their starts.
times() { # folder host...
    local guids
    guids=$(each_of 'SELECT guid FROM rocpd_info_process' "${@:2}" | sed "s/.*/'&'/" | paste -sd,)
    sqlite3 :memory: '.mode csv' ".import $1/out_kernel_trace.csv k" '.mode list' \
        "SELECT min(Start_Timestamp + 0), max(End_Timestamp + 0), sum(Start_Timestamp - (SELECT
         min(Start_Timestamp + 0) FROM k WHERE Guid IN ($guids))) FROM k WHERE Guid IN ($guids)"
}

first_of() { # field database...: the first start of anything in them
    each_of 'SELECT min(t) FROM (SELECT min(start) t FROM rocpd_region UNION ALL
        SELECT min(start) FROM rocpd_kernel_dispatch UNION ALL SELECT min(start) FROM rocpd_memory_copy
        UNION ALL SELECT min(start) FROM rocpd_memory_allocate UNION ALL
        SELECT min(timestamp) FROM rocpd_sample)' "$@" | sort -n | head -1
}

# The trace of two/ with its clocks set is the one of the same with the times of node 1 changed.
shifted() { # ns what...
    local d=$1
    shift
    mkdir -p moved
    cp "$BATS_FILE_TMPDIR"/two/*.db moved
    for db in moved/r2.db moved/r3.db; do
        s=$(suffix $db)
        for t in region kernel_dispatch memory_copy memory_allocate; do
            echo "UPDATE rocpd_$t$s SET start = start + ($d), \"end\" = \"end\" + ($d);"
        done | cat - <(echo "UPDATE rocpd_sample$s SET timestamp = timestamp + ($d);
            UPDATE rocpd_info_process$s SET init = init + ($d), fini = fini + ($d),
                start = start + ($d), \"end\" = \"end\" + ($d);") | sqlite3 $db
    done
    rocpd2csv -q --align none -d csv.theirs moved
    rocpd2pftrace -q --align none -o theirs.pftrace moved
    rtg2json -q -f --align none -o theirs.json moved
    rocstats -q all --align none --format json -o theirs.stats moved
    rocpd2csv -q --align "$@" -d csv.ours ./*.db
    rocpd2pftrace -q --align "$@" -o ours.pftrace ./*.db
    rtg2json -q -f --align "$@" -o ours.json ./*.db
    rocstats -q all --align "$@" --format json -o ours.stats ./*.db
    diff -r csv.theirs csv.ours
    cmp theirs.pftrace ours.pftrace
    cmp theirs.json ours.json
    cmp theirs.stats ours.stats
}

@test "clocks: --align start" {
    links two
    d=$(($(first_of r0.db r1.db) - $(first_of r2.db r3.db)))
    [ "$d" -lt -3500000000000 ]
    shifted "$d" start
}

# The begin of the N-th marker of a name in the process that is first to begin it.
marker_of() { # name n database...
    local name=$1 n=$2
    shift 2
    for db in "$@"; do
        rocpd2csv -q -o - --kinds marker_api "$db" >marker.csv
        sqlite3 :memory: '.mode csv' '.import marker.csv m' '.mode list' "SELECT Start_Timestamp + 0
            FROM m WHERE Function = '$name' ORDER BY 1 LIMIT 1 OFFSET $((n - 1))"
    done | sort -n | head -1
}

# Names the first ranges of every process alike, each begun later on the first rank of a node.
name_markers() {
    for db in "$@"; do
        cp --remove-destination "$(realpath "$db")" "$db.new" && mv "$db.new" "$db"
        s=$(suffix "$db")
        sqlite3 "$db" "UPDATE rocpd_event$s SET extdata = json_object('message', 'step')
            WHERE id IN (SELECT event_id FROM rocpd_region$s r JOIN rocpd_event$s e ON e.id = r.event_id
            JOIN rocpd_string$s c ON c.id = e.category_id WHERE c.string LIKE 'MARKER%')"
    done
}

@test "clocks: --align marker" {
    links two
    name_markers ./*.db
    mkdir -p "$BATS_TEST_TMPDIR/keep"
    for n in 1 2; do
        d=$(($(marker_of step $n r0.db r1.db) - $(marker_of step $n r2.db r3.db)))
        [ "$d" -lt -3500000000000 ]
        rocpd2csv -q --align marker step:$n --kinds marker_api,kernel -d csv$n ./*.db
        rocpd2csv -q --align "marker=step:$n" --kinds marker_api,kernel -d csv$n.b ./*.db
        diff -r csv$n csv$n.b
        node0=$(times csv$n r0.db r1.db | cut -d'|' -f1)
        node1=$(times csv$n r2.db r3.db | cut -d'|' -f1)
        [ "$node0" -eq "$(each_of 'SELECT min(start) FROM rocpd_kernel_dispatch' r0.db r1.db | sort -n | head -1)" ]
        [ "$node1" -eq $(($(each_of 'SELECT min(start) FROM rocpd_kernel_dispatch' r2.db r3.db | sort -n | head -1) + d)) ]
    done
    rocpd2csv -q --align marker step --kinds marker_api,kernel -d csv ./*.db
    diff -r csv csv1
    try 2 rocpd2csv --align marker nothing -d x ./*.db
    says '--align marker: "nothing": no such marker on the node synth-node-0'
    try 2 rocpd2csv --align marker step:100000 -d x ./*.db
    says 'on the node synth-node-0 a process has '
    try 2 rocpd2csv --align marker step:0 -d x ./*.db
    says 'they count from 1'
    s=$(suffix r2.db)
    for db in r2.db r3.db; do
        s=$(suffix $db)
        sqlite3 $db "UPDATE rocpd_event$s SET extdata = '{}'"
    done
    try 2 rocpd2csv --align marker step -d x ./*.db
    says '"step": no such marker on the node synth-node-1'
    [ ! -e x ]
}

@test "clocks: --align offsets" {
    links two
    printf '# by ntp\n\nsynth-node-1\t-3600.000000001s # late\r\nanother +5\n synth-node-0 0' >offsets.txt
    shifted -3600000000001 offsets offsets.txt
    machine=$(sqlite3 -readonly r2.db "SELECT machine_id FROM rocpd_info_node")
    printf 'synth-node-0 0\n%s -3600000000001\n' "$machine" >machine.txt
    rocpd2pftrace -q --align=offsets=machine.txt -o b.pftrace ./*.db
    cmp ours.pftrace b.pftrace
}

@test "clocks: offsets that are wrong" {
    links two
    while IFS='|' read -r content text; do
        printf '%b' "$content" >o.txt
        try 3 rocpd2csv --align offsets o.txt -d x ./*.db
        one_line rocpd2csv
        says "$text"
    done <<'END'
synth-node-0 0\n|o.txt: no line for the node synth-node-1
synth-node-0 0\nsynth-node-1\n|o.txt:2: "synth-node-1": a line is
synth-node-0 0\nsynth-node-1 soon\n|o.txt:2: "soon": an offset is N (ns)
synth-node-0 0\nsynth-node-1 5 s 3\n|o.txt:2: "5 s 3": an offset is
synth-node-0 0\nsynth-node-1 9999999999999999999s\n|o.txt:2: "9999999999999999999s": an offset
synth-node-0 0\n\nsynth-node-0 1\n|o.txt:3: "synth-node-0": it is already in line 1
synth-node-0 \0000\n|o.txt:1: not text
|o.txt: no line for the node synth-node-0
END
    try 3 rocpd2csv --align offsets gone.txt -d x ./*.db
    says "gone.txt: no such file"
    try 3 rocpd2csv --align offsets . -d x ./*.db
    says ".: a directory, not a file"
    try 2 rocpd2csv -d x ./*.db --align offsets
    says "--align offsets needs a value"
    try 2 rocpd2csv --align sideways -d x ./*.db
    says '"sideways" is not one of none|start|marker NAME[:N]|offsets FILE'
    [ ! -e x ]
    # Two nodes of one name.
    s=$(suffix r2.db)
    cp --remove-destination "$(realpath r2.db)" q2.db
    rm r2.db r3.db
    sqlite3 q2.db "UPDATE rocpd_info_node$s SET hostname = 'synth-node-0'"
    printf 'synth-node-0 0\n' >o.txt
    try 3 rocpd2csv --align offsets o.txt -d x ./*.db
    says 'several nodes have this name: use their machine ids'
}

@test "clocks: events before time 0 are counted" {
    links two
    printf 'synth-node-0 0\nsynth-node-1 -10000000s\n' >o.txt
    try 1 rocpd2csv --align offsets o.txt --kinds kernel -d x ./*.db
    says "records left out: no valid time ("
    [ "$(wc -l <x/out_kernel_trace.csv)" -eq $(($(each_of 'SELECT count(*) FROM rocpd_kernel_dispatch' r0.db r1.db | sum) + 1)) ]
    try 3 rocpd2csv --strict --align offsets o.txt --kinds kernel -d y ./*.db
    says "with its clock aligned: no valid time"
}

@test "clocks: filters go by the clocks that are set" {
    links two
    first=$(first_of r0.db r1.db)
    rocpd2csv -q --align start --kinds kernel --end $((first + 2000000)) --overlap -d a ./*.db
    node1=$(first_of r2.db r3.db)
    for set in "r0.db r1.db:$first" "r2.db r3.db:$node1"; do
        # shellcheck disable=SC2086
        each_of "SELECT count(*) FROM rocpd_kernel_dispatch WHERE start <= ${set#*:} + 2000000" ${set%:*}
    done | sum >theirs
    [ "$(cat theirs)" -gt 0 ]
    [ "$(sed 1d a/out_kernel_trace.csv | wc -l)" -eq "$(cat theirs)" ]
    # The marks are set by the whole trace, also when a part is taken.
    rocpd2csv -q --align start --kinds kernel -d whole ./*.db
    rocpd2csv -q --align start --kinds kernel --rank 3 -d part ./*.db
    guid=$(sqlite3 -readonly r3.db 'SELECT guid FROM rocpd_info_process')
    diff <(sed 1d part/out_kernel_trace.csv) <(grep "$guid" whole/out_kernel_trace.csv)
}

@test "clocks: a notice when they seem to differ" {
    links two
    for tool in "rocpd2csv -d a" "rocpd2pftrace -d a" "rtg2json -o a.json" "rocstats --table domains"; do
        # shellcheck disable=SC2086
        try 0 $tool ./*.db
        one_line "${tool%% *}"
        says "the clocks of the nodes seem to differ: the times of synth-node-0 end 3"
        for quiet in "--align none" "--align start" "--rank 0,1" -q; do
            # shellcheck disable=SC2086
            try 0 $tool $quiet ./*.db
            [ -z "$stderr" ] || fail "no notice with $quiet"
        done
    done
    # Without the times of processes it is told from events.
    for db in ./*.db; do
        cp --remove-destination "$(realpath "$db")" x && mv x "$db"
        sqlite3 "$db" "UPDATE rocpd_info_process$(suffix "$db") SET init = 0, fini = 0"
    done
    try 0 rocstats --table domains ./*.db
    one_line rocstats
    says "seem to differ"
}

@test "clocks: with one node there is nothing to set, but a marker and a file must be there" {
    links one
    rocpd2pftrace -o a.pftrace ./*.db
    try 2 rocpd2pftrace --align marker nothing -o b.pftrace ./*.db
    says "no such marker"
    try 3 rocpd2pftrace --align offsets gone.txt -o b.pftrace ./*.db
    says "gone.txt: no such file"
    [ ! -e b.pftrace ]
    for db in ./*.db; do
        echo "$(sqlite3 "$db" "SELECT hostname FROM rocpd_info_node") 0"
    done | sort -u >offsets.txt
    for how in none start "offsets offsets.txt"; do
        # shellcheck disable=SC2086
        try 0 rocpd2pftrace --align $how -o b.pftrace ./*.db
        silent
        cmp a.pftrace b.pftrace
    done
}
