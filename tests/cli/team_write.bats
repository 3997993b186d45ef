#!/usr/bin/env bats
# Outputs that all ranks of a team write together: the bytes of one process, or nothing. SOAK=1: all
# inputs and sizes, and 50 kills; else a sample of them.
# shellcheck disable=SC2154 # bats sets status, output and stderr

load helper

requires() {
    # A launcher around these tests is not theirs.
    unset "${!OMPI_@}" "${!PMI_@}" "${!PMIX_@}" "${!SLURM_@}" ROCLINE_MPI
}

# Small databases of all versions on several nodes, one that is much larger, and one with all of
# their processes.
setup_file() {
    local gen first=0 schema
    BUILD=$(realpath "${BUILD:-$BATS_TEST_DIRNAME/../../build}")
    gen=$BUILD/tests/rocpd-gen
    cd "$BATS_FILE_TMPDIR" || return
    mkdir m
    for schema in 3.0.0 3.0.5 4.1.0 lz4; do
        "$gen" -o "m/rank%r.db" --rows 60 --kernels 4 --gpus 2 --threads 2 --schema "$schema" \
            --processes 8 --nodes 3 --first-rank $first --pid-step 0 --args
        first=$((first + 8))
    done
    "$gen" -o m/large.db --rows 20000 --kernels 20 --seed 99 --args
    "$gen" -o merged.db --merged --processes 5 --nodes 2 --rows 3000 --seed 7
}

# same SIZE... -- TOOL ARGUMENT...: the same files, messages and exit code for each size.
same() {
    local size sizes=() rc=0 other
    while [ "$1" != -- ]; do
        sizes+=("$1")
        shift
    done
    shift
    rm -rf one
    mkdir one
    set -- "$1" --no-sync "${@:2}" # the disk is not what is compared
    (cd one && "$@" --team no >out 2>err) || rc=$?
    for size in "${sizes[@]}"; do
        rm -rf other
        mkdir other
        other=0
        (cd other && timeout 120 "$@" --team "$size" >out 2>err) || other=$?
        [ "$rc" -eq "$other" ] || fail "--team $size $*: exit code $other, not $rc: $(cat other/err)"
        diff -r one other || fail "--team $size $*"
    done
    [ "$rc" -le 1 ] || failed=$((failed + 1))
    compared=$((compared + ${#sizes[@]}))
}

@test "every input beside a large one: the same bytes, whatever the size" {
    compared=0 failed=0
    local sizes=(2 3 7 16) i=0 input
    for input in "$FIXTURES"/*.db "$FIXTURES"/{job.rpdb,index.yaml}; do
        i=$((i + 1))
        # shellcheck disable=SC2046 # words
        set -- $([ -n "${SOAK:-}" ] && echo 1 "${sizes[@]}" || echo "${sizes[i / 6 % 4]}")
        [ -z "${SOAK:-}" ] && [ $((i % 6)) -ne 0 ] ||
            same "$@" -- rocpd2pftrace -v -j$((1 + i % 3)) --args "$BATS_FILE_TMPDIR/m/large.db" "$input"
        [ -z "${SOAK:-}" ] && [ $((i % 6)) -ne 3 ] ||
            same "$@" -- rocpd2csv -v "$BATS_FILE_TMPDIR/m/large.db" "$input" "$BATS_FILE_TMPDIR/m/rank5.db"
    done
    [ "$failed" -lt $((compared / 3)) ] # inputs that are broken
    echo "# team: $compared comparisons, $failed of inputs that cannot be read" >&3
}

@test "many inputs: the same with filters, clocks, layouts, and in gzip" {
    compared=0 failed=0
    local sizes=(3) args
    [ -z "${SOAK:-}" ] || sizes=(1 2 3 7 16)
    while read -r args; do
        # shellcheck disable=SC2086 # words
        same "${sizes[@]}" -- $args "$BATS_FILE_TMPDIR"/m/*.db
    done <<'END'
rocpd2pftrace -v -j2 --annotate-pmc
rocpd2pftrace --legacy-tracks --group-by-queue -z 0 --args
rocpd2pftrace -o t.gz --reader sqlite --memory 2m
rocpd2pftrace -v --start 20% --end 60% --clip
rocpd2pftrace --start-marker solve --end-marker forward:4
rocpd2pftrace -v --rank 3,5,7,20-30 --min-duration 1us
rocpd2pftrace --kernel-iterations 1,3 --steps solve --step 1-3
rocpd2pftrace --align start --include kernel,graph --name k
rocpd2pftrace --period 1ms:1ms:0
rocpd2csv --style rocpd-1.1 --name nonesuch
rocpd2csv --style rocprofv3 -z 4 --steps solve --warmup 1
rocpd2csv --style rocprof
rocpd2csv -v --kinds agent,kernel --duration
rocpd2csv --kinds kernel -o kernels.csv
rocpd2csv --kinds kernel -o -
END
    [ "$failed" -eq 0 ]
    # What is wrong with options, and with the trace, in the same words.
    same 3 -- rocpd2pftrace --start 10 --end 20 "$BATS_FILE_TMPDIR"/m/*.db
    same 3 -- rocpd2csv --include zzz "$BATS_FILE_TMPDIR"/m/*.db
    same 3 -- rocpd2csv --start-marker none "$BATS_FILE_TMPDIR"/m/*.db
    [ "$failed" -eq 3 ]
    compared=0 failed=0
    same 2 3 -- rocpd2pftrace -v "$BATS_FILE_TMPDIR/merged.db"
    same 4 -- rocpd2csv -v "$BATS_FILE_TMPDIR/merged.db" "$BATS_FILE_TMPDIR/m/large.db"
    [ "$failed" -eq 0 ]
}

@test "an input that is broken: the same words, whoever reads it" {
    compared=0 failed=0
    local m=$BATS_FILE_TMPDIR/m i
    same 2 3 7 -- rocpd2pftrace --strict "$m"/rank[1-4].db "$FIXTURES/nasty-sys.db"
    same 2 3 7 -- rocpd2csv --strict "$FIXTURES"/nasty-{3.0.5,lz4}.db "$m"/rank[1-4].db
    same 2 3 -- rocpd2csv "$m"/rank[1-4].db "$FIXTURES/truncated.db"
    # Damage that is met only when events are read, in two inputs: that of the first one is told.
    for i in 2 3; do
        cp "$m/large.db" "d$i.db"
        dd if=/dev/urandom of="d$i.db" bs=4096 seek=$((400 + i)) count=300 conv=notrunc 2>/dev/null
    done
    run --separate-stderr rocpd2pftrace --team 3 -o t.pftrace "$m"/rank[1-4].db d2.db
    [ "$status" -eq 3 ] || fail "damage was not noticed"
    one_line rocpd2pftrace
    says d2.db
    [ -z "$(find . -name '*.pftrace' -o -name '.rocline*')" ]
}

# ms: a random pause.
pause() {
    sleep "0.$(printf %03d $((RANDOM % $1)))"
}

# kill_some ROUNDS TOOL...
kill_some() {
    local rounds=$1 i pid victims rc killed=0 now
    shift
    rm -rf whole
    "$@" -q --team no -d whole "$BATS_FILE_TMPDIR"/m/*.db
    for ((i = 0; i < rounds; i++)); do
        rm -rf out
        mkdir out
        "$@" -q --team $((2 + i % 4)) -d out "$BATS_FILE_TMPDIR"/m/*.db 2>messages 3>&- &
        pid=$!
        pause 300
        mapfile -t victims < <(pgrep -P "$pid")
        if [ "${#victims[@]}" -gt 0 ]; then
            kill -KILL "${victims[RANDOM % ${#victims[@]}]}" 2>/dev/null || true
        fi
        now=$SECONDS rc=0
        wait "$pid" || rc=$?
        [ $((SECONDS - now)) -le 10 ] || fail "it took $((SECONDS - now)) s"
        if [ "$rc" -eq 0 ]; then # the blow came when all was written
            diff -r whole out
        else
            killed=$((killed + 1))
            [ "$rc" -eq 5 ] || fail "exit code $rc: $(cat messages)"
            [ "$(wc -l <messages)" -eq 1 ] || fail "$(cat messages)"
            grep -q 'rank [1-9]* of the team was ended by signal 9' messages || fail "$(cat messages)"
            [ -z "$(ls -A out)" ] || fail "$(find out)"
        fi
        for pid in "${victims[@]}"; do
            ! kill -0 "$pid" 2>/dev/null || fail "process $pid is left"
        done
    done
    echo "# team: $killed of $rounds were killed in time" >&3
}

@test "a rank that is killed ends the team with one line, and leaves nothing" {
    local rounds=4
    [ -z "${SOAK:-}" ] || rounds=50
    kill_some $rounds rocpd2pftrace
    kill_some $rounds rocpd2csv
}

@test "a disk that is full, of temporary files or of the output" {
    (ulimit -f 64 && trap '' XFSZ && exec rocpd2pftrace -q --team 3 -o t.pftrace "$BATS_FILE_TMPDIR"/m/*.db) \
        2>messages && fail "there is no limit"
    [ "$(wc -l <messages)" -eq 1 ]
    grep -q 'temporary file in .*: File too large' messages || fail "$(cat messages)"
    try 4 rocpd2csv -q --team 3 --tmpdir /nowhere -d . "$BATS_FILE_TMPDIR"/m/*.db
    one_line rocpd2csv
    says "temporary file in /nowhere"
    [ "$(id -u)" -eq 0 ] || skip "only root can mount a small file system"
    mkdir small
    mount -t tmpfs -o size=160k none small 2>/dev/null || skip "nothing can be mounted here"
    run --separate-stderr rocpd2pftrace -q --team 3 -o small/t.pftrace "$BATS_FILE_TMPDIR"/m/*.db
    local left
    left=$(ls -A small)
    umount small
    [ "$status" -eq 4 ] || fail "it was not full"
    one_line rocpd2pftrace
    says "small/t.pftrace: cannot write: No space left on device"
    [ -z "$left" ]
}

@test "a rank without inputs, one large input, and outputs that rank 0 alone can write" {
    compared=0 failed=0
    same 5 -- rocpd2pftrace "$BATS_FILE_TMPDIR/m/large.db" "$BATS_FILE_TMPDIR/m/rank1.db"
    same 2 -- rocpd2csv "$BATS_FILE_TMPDIR/m/large.db"
    gzip -c "$BATS_FILE_TMPDIR/m/rank1.db" >z.db.gz
    same 3 -- rocpd2pftrace "$PWD/z.db.gz" "$BATS_FILE_TMPDIR"/m/rank[4-7].db
    same 3 -- rocpd2pftrace -o - "$BATS_FILE_TMPDIR"/m/rank[4-7].db
    [ "$failed" -eq 0 ]
    mkfifo pipe
    rocpd2pftrace --team 3 -o pipe "$BATS_FILE_TMPDIR"/m/rank[4-7].db &
    cmp pipe one/out
    wait $!
}

# ---- MPI ---------------------------------------------------------------------------------------------

# with_mpi openmpi|mpich COMMAND...: the ranks of that MPI write the bytes of one process.
with_mpi() {
    needs "$BUILD/lib/rocline/librocline-mpi-$1.so" "$2"
    ! nm -D "$BUILD/bin/rocpd2csv" | grep -qE '__(asan|tsan)' || skip "sanitizers are on: the MPI is not made for them"
    shift
    "$@" 2 true >/dev/null 2>&1 || skip "$1 cannot start programs here"
    rocpd2pftrace -q -o one.pftrace "$BATS_FILE_TMPDIR"/m/*.db
    rocpd2csv -q -d one "$BATS_FILE_TMPDIR"/m/*.db
    timeout 100 "$@" 3 rocpd2pftrace -o other.pftrace "$BATS_FILE_TMPDIR"/m/*.db
    cmp one.pftrace other.pftrace
    timeout 100 "$@" 3 rocpd2csv -d other "$BATS_FILE_TMPDIR"/m/*.db
    diff -r one other
    [ -z "$(find . -name '.rocline*')" ]
}

@test "Open MPI: three ranks write the bytes of one" {
    with_mpi openmpi mpirun.openmpi --oversubscribe --allow-run-as-root --mca btl self,vader --mca plm isolated -q -n
}

@test "MPICH: three ranks write the bytes of one" {
    with_mpi mpich mpiexec.mpich -n
}
