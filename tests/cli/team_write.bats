#!/usr/bin/env bats
# Outputs that all ranks of a team write together: the bytes of one process, or nothing. SOAK=1: all
# inputs and sizes, and 50 kills; else a sample of them.
# shellcheck disable=SC2154 # bats sets status, output and stderr

load helper
load teams

setup_file() {
    make_inputs 8 20000 --pid-step 0
}

@test "every input beside a large one: the same bytes, whatever the size" {
    local sizes=(2 3 7 16) forms=(parquet arrow arrows parquet) i=0 input
    for input in "$FIXTURES"/*.db "$FIXTURES"/{job.rpdb,index.yaml}; do
        i=$((i + 1))
        # shellcheck disable=SC2046 # words
        set -- $([ -n "${SOAK:-}" ] && echo 1 "${sizes[@]}" || echo "${sizes[i / 6 % 4]}")
        [ -z "${SOAK:-}" ] && [ $((i % 6)) -ne 0 ] ||
            same "$@" -- rocpd2pftrace -v -j$((1 + i % 3)) --args "$BATS_FILE_TMPDIR/m/large.db" "$input"
        [ -z "${SOAK:-}" ] && [ $((i % 6)) -ne 3 ] ||
            same "$@" -- rocpd2csv -v "$BATS_FILE_TMPDIR/m/large.db" "$input" "$BATS_FILE_TMPDIR/m/rank5.db"
        [ -z "${SOAK:-}" ] && [ $((i % 6)) -ne 5 ] ||
            same "$@" -- rocpd2otf2 -v -j$((1 + i % 3)) --args "$BATS_FILE_TMPDIR/m/large.db" "$input" "$BATS_FILE_TMPDIR/m/rank5.db"
        [ -z "${SOAK:-}" ] && [ $((i % 6)) -ne 2 ] ||
            same "$@" -- rocline export -f "${forms[i / 6 % 4]}" -v -j$((1 + i % 3)) --all-columns "$BATS_FILE_TMPDIR"/m/{rank6,large}.db "$input" "$BATS_FILE_TMPDIR/m/rank5.db"
        [ -z "${SOAK:-}" ] && [ $((i % 6)) -ne 4 ] ||
            same "$@" -- rtg2json --layout trace -v -j$((1 + i % 3)) -f --args "$BATS_FILE_TMPDIR"/m/{rank6,large}.db "$input" "$BATS_FILE_TMPDIR/m/rank5.db"
        [ -z "${SOAK:-}" ] && [ $((i % 6)) -ne 1 ] ||
            same "$@" -- rocmerge --consolidate -v -d p "$BATS_FILE_TMPDIR"/m/{rank6,large}.db "$input" "$BATS_FILE_TMPDIR/m/rank5.db"
    done
    [ "$failed" -lt $((compared / 3)) ] # inputs that are broken
    echo "# team: $compared comparisons, $failed of inputs that cannot be read" >&3
}

@test "many inputs: the same with filters, clocks, layouts, and in gzip" {
    local sizes=(3)
    [ -z "${SOAK:-}" ] || sizes=(1 2 3 7 16)
    printf 'gpu 4200 +1.5s\nhost 4200 +1s\n' >clocks.txt
    same_each "${sizes[@]}" -- "$BATS_FILE_TMPDIR"/m/*.db <<'END'
rocpd2csv --align offsets ../clocks.txt -d x
rocpd2pftrace -v -j2 --annotate-pmc
rocpd2pftrace --legacy-tracks --group-by-queue -z 0 --args
rocpd2pftrace -o t.gz --reader sqlite --memory 2m
rocpd2pftrace -v --start 20% --end 60% --clip
rocpd2pftrace --start-marker solve --end-marker forward:4
rocpd2pftrace -v --rank 3,5,7,20-30 --min-duration 1us
rocpd2pftrace --kernel-iterations 1,3 --step-markers solve --steps 1-3
rocpd2pftrace --align start --include kernel,graph --name k
rocpd2pftrace --period 1ms:1ms:0
rocpd2csv --style rocpd-1.1 --name nonesuch
rocpd2csv --style rocprofv3 -z 4 --step-markers solve --warmup 1
rocpd2csv --style rocprof
rocpd2csv -v --kinds agent,kernel --duration
rocpd2csv --kinds kernel -o kernels.csv
rocpd2csv --kinds kernel -o -
rocpd2otf2 -v -j2 --args
rocpd2otf2 -v -j1 --group-by-queue --start 20% --end 60% --clip
rocpd2otf2 --rank 3,5,7,20-30 --min-duration 1us --memory 2m
rocpd2otf2 --align start --include marker,copy
rocline export -v -f jsonl -j2
rocline export -f jsonl --codec gzip --all-columns --start 20% --end 60% --clip
rocline export -f jsonl -o x.jsonl --kinds kernel,process
rocline export -v -f parquet -j2 --all-columns
rocline export -f parquet --codec gzip --start 20% --end 60% --clip --memory 1m
rocline export -f parquet --kinds kernel,process --rank 3,5,7,20-30 --reader sqlite
rocline export -o x.parquet --kinds kernel
rocline export -o x.parquet --kinds kernel --name nonesuch
rocline export -v -f arrow -j2 --all-columns
rocline export -f arrow -j2 --codec zstd --memory 1m
rocline export -f arrows --codec zstd --start 20% --end 60% --clip --memory 1m
rocline export -f arrow -o - --kinds kernel
rtg2json -v -j2 -f --args
rtg2json -z 1 --group-by-queue --memory 1m
rtg2json -o t.json.gz --start 20% --end 60% --rank 3,5,7,20-30
rtg2json -o - --include kernel --align start
rtg2json --layout kineto --rank 3
rtg2json --layout kineto -v -j2
rtg2json --layout kineto -o t.json.gz --memory 1m --start 20% --end 60% --align start
rocmerge --consolidate -d p -v --start 20% --end 60% --clip
rocmerge --consolidate -d p --rank 3,5,7,20-30 --align start --keep-environment
END
    [ "$failed" -eq 0 ]
    # What is wrong with options, and with the trace, in the same words.
    same 3 -- rocpd2pftrace --start 10 --end 20 "$BATS_FILE_TMPDIR"/m/*.db
    same 3 -- rocpd2csv --include zzz "$BATS_FILE_TMPDIR"/m/*.db
    same 3 -- rocpd2csv --start-marker none "$BATS_FILE_TMPDIR"/m/*.db
    same 3 -- rtg2json -o none/x.json "$BATS_FILE_TMPDIR"/m/*.db
    [ "$failed" -eq 4 ]
    same 2 3 -- rocpd2pftrace -v "$BATS_FILE_TMPDIR/merged.db"
    same 4 -- rocpd2csv -v "$BATS_FILE_TMPDIR/merged.db" "$BATS_FILE_TMPDIR/m/large.db"
    same 2 3 -- rocpd2otf2 -v "$BATS_FILE_TMPDIR/merged.db"
    same 4 -- rocpd2otf2 -v "$BATS_FILE_TMPDIR/merged.db" "$BATS_FILE_TMPDIR/m/large.db"
    same 2 3 -- rocline export -v "$BATS_FILE_TMPDIR/merged.db"
    same 4 -- rocline export -v "$BATS_FILE_TMPDIR/merged.db" "$BATS_FILE_TMPDIR/m/large.db"
    same 2 4 -- rocmerge --consolidate -d p -v "$BATS_FILE_TMPDIR/merged.db" "$BATS_FILE_TMPDIR/m/large.db"
    same 2 4 -- rtg2json -v "$BATS_FILE_TMPDIR/merged.db" "$BATS_FILE_TMPDIR/m/large.db"
    same 2 4 -- rocline export -v -f arrow "$BATS_FILE_TMPDIR/merged.db" "$BATS_FILE_TMPDIR/m/large.db"
    [ "$failed" -eq 4 ]
}

# Small neighbours are put in one block, whoever has opened them; files that no rank can open by itself
# come back to rank 0; and of what rank 0 writes alone, it opens again what others have opened.
@test "names in another order than processes, files that belong together, and what rank 0 writes alone" {
    local i=0 f d=$PWD/all
    mkdir "$d"
    for f in "$BATS_FILE_TMPDIR"/m/rank*.db; do
        i=$(((i * 7 + 5) % 101))
        ln "$f" "$d/$i-${f##*/}"
    done
    rocmerge -q -o "$d/part.db" --split 3 "$BATS_FILE_TMPDIR/merged.db"
    gzip -c "$d/5-rank0.db" >"$d/zipped.db.gz"
    rm "$d/5-rank0.db"
    cp "$TOP/tests/fixtures/rtg/calls.txt" "$d"
    same 2 7 -- rocpd2pftrace -v "$d"/*
    same 3 -- rocpd2csv -v "$d"/*
    same 16 -- rocpd2pftrace -v "$d"/[0-9]*
    same 3 -- rocpd2pftrace -o - "$d"/[0-9]*
    same 2 -- rocpd2csv --kinds kernel -o - "$d"/* "$BATS_FILE_TMPDIR/m/large.db"
    same 3 -- rocline export -f jsonl --kinds kernel_symbol,kernel -o - "$d"/[0-9]*
    [ "$failed" -eq 0 ]
}

@test "an input that is broken: the same words, whoever reads it" {
    local m=$BATS_FILE_TMPDIR/m
    same 2 3 7 -- rocpd2pftrace --strict "$m"/rank[1-4].db "$FIXTURES/nasty-sys.db"
    same 2 3 7 -- rocpd2csv --strict "$FIXTURES"/nasty-{3.0.5,lz4}.db "$m"/rank[1-4].db
    same 2 3 -- rocpd2csv "$m"/rank[1-4].db "$FIXTURES/truncated.db"
    same 2 3 7 -- rocpd2otf2 --strict "$m"/rank[1-4].db "$FIXTURES/nasty-sys.db"
    # In two inputs: that of the first one is told.
    make_damaged d2.db d3.db
    local tool
    for tool in "rocpd2pftrace -o t.pftrace" "rocpd2otf2 -o t.otf2" "rocline export -o t" "rtg2json -o t.json" \
        "rocmerge --start 0 -c -d t"; do
        # shellcheck disable=SC2086 # words
        run --separate-stderr $tool --team 3 "$m"/rank[1-4].db d2.db d3.db
        [ "$status" -eq 3 ] || fail "damage was not noticed"
        one_line "${tool%% -*}"
        says d2.db
        [ -z "$(find . -name 't*' -o -name '.rocline*')" ]
    done
}

@test "a rank that is killed ends the team with one line, and leaves nothing" {
    local rounds=4
    [ -z "${SOAK:-}" ] || rounds=50
    kill_some $rounds rocpd2pftrace -d @
    kill_some $rounds rocpd2csv -d @
    kill_some $rounds rocpd2otf2 -d @
    kill_some $rounds rocline export -d @
    kill_some $rounds rocline export -f arrow -d @
    kill_some $rounds rtg2json -o @/out.json
    kill_some $rounds rtg2json --layout kineto -o @/out.json
    kill_some $rounds rocmerge -c -d @/p
}

@test "a disk that is full, of temporary files or of the output" {
    local tool
    for tool in "rocpd2pftrace -o t.pftrace" "rocline export --codec none -d t"; do
        # shellcheck disable=SC2086 # words
        (ulimit -f 64 && trap '' XFSZ && exec $tool -q --team 3 "$BATS_FILE_TMPDIR"/m/*.db) 2>messages &&
            fail "there is no limit"
        [ "$(wc -l <messages)" -eq 1 ]
        # What is written in its place needs no temporary file.
        grep -qE '(temporary file in .*|t.pftrace: cannot write): File too large' messages || fail "$(cat messages)"
    done
    grep -q 'temporary file' messages || fail "$(cat messages)"
    [ -z "$(find . -name 't*' -o -name '.rocline*')" ]
    try 4 rocpd2csv -q --team 3 --tmpdir /nowhere -d . "$BATS_FILE_TMPDIR"/m/*.db
    one_line rocpd2csv
    says "temporary file in /nowhere"
    [ "$(id -u)" -eq 0 ] || skip "only root can mount a small file system"
    mkdir small
    mount -t tmpfs -o size=160k none small 2>/dev/null || skip "nothing can be mounted here"
    for tool in "rocpd2pftrace -o small/t.pftrace" "rocpd2otf2 -o small/t.otf2" \
        "rocline export --codec none -d small" "rocline export -f arrow -d small" \
        "rtg2json -o small/t.json" "rtg2json --layout kineto -o small/t.json" "rocmerge -c -d small/p"; do
        # shellcheck disable=SC2086 # words
        run --separate-stderr $tool -q --team 3 "$BATS_FILE_TMPDIR"/m/*.db
        [ -z "$(ls -A small)" ] || { umount small; fail "something is left"; }
        [ "$status" -eq 4 ] || { umount small; fail "it was not full"; }
        one_line "${tool%% -*}"
        tool=${tool##* }
        says "${tool%.json}" # and the rank, of kineto
        says ": cannot write: "
    done
    umount small
}

# Temporary files are for what cannot be placed yet, and are used anew.
@test "what comes first is written in its place" {
    [ "$(id -u)" -eq 0 ] || skip "only root can mount a small file system"
    mkdir small
    mount -t tmpfs -o size=64k none small 2>/dev/null || skip "nothing can be mounted here"
    local tool
    for tool in "rocpd2csv -d other" "rocpd2pftrace -d other -z 0" "rocline export -f jsonl -d other" \
        "rocline export -f arrow --kinds region -d other" "rtg2json --layout kineto -o other/t.json" "rtg2json -o other/t.json"; do
        rm -rf one other
        mkdir one other
        # shellcheck disable=SC2086 # words
        ${tool/other/one} -q --no-sync "$BATS_FILE_TMPDIR"/m/{large,rank1}.db
        # shellcheck disable=SC2086 # words
        run --separate-stderr $tool -q --no-sync --team 2 --tmpdir "$PWD/small" "$BATS_FILE_TMPDIR"/m/{large,rank1}.db
        [ "$status" -eq 0 ] || { umount small; fail "$tool: $stderr"; }
        diff -r one other || { umount small; fail "$tool"; }
        [ "$(du -sk other | cut -f1)" -gt 1024 ] || { umount small; fail "$tool: it is small"; }
    done
    umount small
}

@test "a rank without inputs, one large input, and outputs that rank 0 alone can write" {
    same 5 -- rocpd2pftrace "$BATS_FILE_TMPDIR/m/large.db" "$BATS_FILE_TMPDIR/m/rank1.db"
    same 2 -- rocpd2csv "$BATS_FILE_TMPDIR/m/large.db"
    same 5 -- rocpd2otf2 "$BATS_FILE_TMPDIR/m/large.db" "$BATS_FILE_TMPDIR/m/rank1.db"
    same 2 -- rocpd2otf2 "$BATS_FILE_TMPDIR/m/large.db"
    gzip -c "$BATS_FILE_TMPDIR/m/rank1.db" >z.db.gz
    same 3 -- rocpd2pftrace "$PWD/z.db.gz" "$BATS_FILE_TMPDIR"/m/rank[4-7].db
    same 3 -- rocpd2otf2 "$PWD/z.db.gz" "$BATS_FILE_TMPDIR"/m/rank[4-7].db
    same 3 -- rocpd2pftrace -o - "$BATS_FILE_TMPDIR"/m/rank[4-7].db
    [ "$failed" -eq 0 ]
    mkfifo pipe
    rocpd2pftrace --team 3 -o pipe "$BATS_FILE_TMPDIR"/m/rank[4-7].db &
    cmp pipe one/out
    wait $!
}

# Of a rank that is in two inputs there is one file, which rank 0 writes where several ranks read it.
@test "kineto: the file of a rank is written by who reads it" {
    local m=$BATS_FILE_TMPDIR/m
    "$BUILD/tests/rocpd-gen" -o 'p%r.db' --rows 40 --processes 80 --nodes 3 --seed 3 # more than are open at once
    same 1 2 3 7 -- rtg2json --layout kineto -v "$PWD"/p*.db
    same 1 2 3 7 -- rtg2json --layout kineto -v -j3 "$BATS_FILE_TMPDIR/merged.db"
    same 1 2 3 7 -- rtg2json --layout kineto -v "$m"/{large,rank1,rank2}.db
    same 2 3 -- rtg2json --layout kineto -v "$m"/{large,rank0,rank1}.db
    same 2 -- rtg2json --layout kineto -v --rank 1000 "$m"/rank[1-4].db
    same 2 -- rtg2json --layout kineto -o - "$m"/rank[1-4].db
    same 3 -- rtg2json --layout kineto -o - --rank 2 "$m"/rank[1-4].db
    [ "$failed" -eq 2 ]
}

@test "rocmerge: a package that is there, and what has one writer" {
    local m=$BATS_FILE_TMPDIR/m
    rocmerge -q -c -d one "$m"/rank[1-6].db
    rocmerge -q -c -d other "$m"/rank[1-4].db
    rocmerge -q -c --team 3 -d other "$m"/rank[4-6].db
    diff <(sort one.rpdb/index.yaml) <(sort other.rpdb/index.yaml)
    try 0 rocmerge -q -c --team 3 -d one "$m/rank7.db" "$FIXTURES/nasty-3.0.5.db"
    [ "$(find one.rpdb -name '*.db' | wc -l)" -eq 8 ]
    [ -z "$(find . -name '.rocline*')" ]
    try 0 rocmerge --team 3 -d . -o all "$m"/rank[1-4].db
    says "a database has one writer"
    rocmerge -q -d . -o whole "$m"/rank[1-4].db
    cmp all.db whole.db
}

# ---- MPI ---------------------------------------------------------------------------------------------

# with_mpi openmpi|mpich: three ranks of that MPI write the bytes of one process.
with_mpi() {
    needs_mpi "$1"
    local tool
    for tool in rocpd2pftrace rocpd2csv rocpd2otf2 "rocline export" "rocline export -f arrow"; do
        # shellcheck disable=SC2086 # words
        $tool -q -d one "$BATS_FILE_TMPDIR"/m/*.db
        # shellcheck disable=SC2086 # words
        "${start[@]}" 3 $tool -q -d other "$BATS_FILE_TMPDIR"/m/*.db
    done
    rtg2json -q -o one/t.json "$BATS_FILE_TMPDIR"/m/*.db
    "${start[@]}" 3 rtg2json -q -o other/t.json "$BATS_FILE_TMPDIR"/m/*.db
    rocmerge -q -c -d one/p "$BATS_FILE_TMPDIR"/m/*.db
    "${start[@]}" 3 rocmerge -q -c -d other/p "$BATS_FILE_TMPDIR"/m/*.db
    (cd one && print_archives)
    (cd other && print_archives)
    diff -r one other
    [ -z "$(find . -name '.rocline*')" ]
}

@test "Open MPI: three ranks write the bytes of one" {
    with_mpi openmpi
}

@test "MPICH: three ranks write the bytes of one" {
    with_mpi mpich
}

# Ranks of two tools, with the same arguments: each of them does what it was started for.
two_tools() {
    needs_mpi "$1"
    "${start[@]}" 1 rocpd2csv -q -d both "$BATS_FILE_TMPDIR"/m/rank[1-4].db : -n 1 rocpd2pftrace -q -d both "$BATS_FILE_TMPDIR"/m/rank[1-4].db
    rocpd2csv -q -d one "$BATS_FILE_TMPDIR"/m/rank[1-4].db
    rocpd2pftrace -q -d one "$BATS_FILE_TMPDIR"/m/rank[1-4].db
    diff -r one both
}

@test "Open MPI: ranks of two tools are no team" {
    two_tools openmpi
}

@test "MPICH: ranks of two tools are no team" {
    two_tools mpich
}

@test "the disk of one rank is full: one line, its exit code, and nothing left" {
    needs_mpi mpich
    [ "$(id -u)" -eq 0 ] || skip "only root can mount a small file system"
    mkdir small
    mount -t tmpfs -o size=40k none small 2>/dev/null || skip "nothing can be mounted here"
    local tool rc
    for tool in rocpd2csv rocpd2pftrace; do
        rc=0
        # shellcheck disable=SC2016 # the shell of each rank
        "${start[@]}" 3 sh -c '[ "$PMI_RANK" != 1 ] || export TMPDIR=$PWD/small
            tool=$1; shift; exec "$tool" -q --team mpi -d out "$@"' - $tool "$BATS_FILE_TMPDIR"/m/*.db 2>messages || rc=$?
        [ "$rc" -eq 4 ] && [ "$(grep -c "^$tool: temporary file in .*small: No space left" messages)" -eq 1 ] || break
        [ ! -e out ] && [ -z "$(find . -name '.rocline*')" ] || break
        rc=0
    done
    umount small
    [ "$rc" -eq 0 ] || fail "$tool: exit code $rc: $(cat messages)"
}
