#!/usr/bin/env bats
# Teams: several processes, forks of one or started by an MPI, make the same bytes as one; and when
# one of them is killed or fails, nothing. SOAK=1: all cases, and 50 kills; else a sample of them.
# shellcheck disable=SC2154 # bats sets status, output and stderr

load helper

requires() {
    needs jq
    # A launcher around these tests is not theirs.
    unset "${!OMPI_@}" "${!PMI_@}" "${!PMIX_@}" "${!SLURM_@}" ROCLINE_MPI
}

# Small databases of all versions on several nodes, and one that is much larger.
setup_file() {
    local gen first=0 schema
    BUILD=$(realpath "${BUILD:-$BATS_TEST_DIRNAME/../../build}")
    gen=$BUILD/tests/rocpd-gen
    cd "$BATS_FILE_TMPDIR" || return
    mkdir m
    for schema in 3.0.0 3.0.5 4.1.0 lz4; do
        "$gen" -o "m/rank%r.db" --rows 60 --kernels 4 --gpus 2 --threads 2 --schema "$schema" \
            --processes 12 --nodes 3 --first-rank $first --args
        first=$((first + 12))
    done
    "$gen" -o m/large.db --rows 40000 --kernels 20 --seed 99 --args
}

# same SIZE... -- ARGUMENT...: rocstats prints the same, and has the same exit code, for each size.
same() {
    local size sizes=() rc=0 other
    while [ "$1" != -- ]; do
        sizes+=("$1")
        shift
    done
    shift
    rocstats --team no "$@" >one.out 2>one.err || rc=$?
    for size in "${sizes[@]}"; do
        other=0
        timeout 120 rocstats --team "$size" "$@" >other.out 2>other.err || other=$?
        [ "$rc" -eq "$other" ] || fail "--team $size $*: exit code $other, not $rc: $(cat other.err)"
        cmp one.out other.out || fail "--team $size $*"
        diff one.err other.err || fail "--team $size $*"
    done
    [ "$rc" -le 1 ] || failed=$((failed + 1))
    compared=$((compared + ${#sizes[@]}))
}

@test "every input: the same bytes of all reports in every form, whatever the size" {
    compared=0 failed=0
    local sizes=(2 3 7 16) formats=(text csv json html md) i=0 input format
    for input in "$FIXTURES"/*.db "$FIXTURES"/*.json "$FIXTURES"/{job.rpdb,index.yaml} \
        "$TOP"/tests/fixtures/rtg/calls.txt "$TOP"/tests/fixtures/chrome/kineto.json; do
        for format in "${formats[@]}"; do
            i=$((i + 1))
            [ -n "${SOAK:-}" ] || [ $((i % 3)) -eq 0 ] || continue
            # shellcheck disable=SC2046 # words
            same $([ -n "${SOAK:-}" ] && echo 1 "${sizes[@]}" || echo "${sizes[i / 3 % 4]}") -- \
                all --format "$format" --ids -j$((1 + i % 3)) "$input"
        done
        same 2 -- "$input"
        same 3 -- doctor "$input"
    done
    [ "$failed" -lt $((compared / 3)) ] # inputs that are broken
    echo "# team: $compared comparisons, $failed of inputs that cannot be read" >&3
}

@test "many inputs of all versions and a large one: the same with filters, clocks, by rank" {
    compared=0 failed=0
    local sizes=(3 16) args
    [ -z "${SOAK:-}" ] || sizes=(1 2 3 7 16)
    while read -r args; do
        # shellcheck disable=SC2086 # words
        same "${sizes[@]}" -- $args "$BATS_FILE_TMPDIR"/m/*.db
    done <<'END'
all --format json -j2
all --format json -j1 --reader sqlite
all --format csv --by-rank --by-agent --by-stream --ids
all --format html --align start
all --format json --start 20% --end 60% --clip
all --format json --kernel-iterations 1,3 --rank 0-20
all --format json --include kernel,copy --name k --min-duration 1us
collectives steps overlap --format json --memory 2m
-v
doctor --format json
END
    same 7 -- compare --format json "$BATS_FILE_TMPDIR"/m/rank[0-3].db -- "$BATS_FILE_TMPDIR"/m/rank1[0-3].db
    [ "$failed" -eq 0 ]
}

@test "inputs that only rank 0 can read, beside those that others read" {
    compared=0 failed=0
    gzip -c "$BATS_FILE_TMPDIR/m/rank1.db" >z.db.gz
    rocpd2pftrace -q -o t.pftrace "$BATS_FILE_TMPDIR/m/rank2.db"
    same 3 -- all --format json z.db.gz t.pftrace "$BATS_FILE_TMPDIR"/m/rank[4-7].db
    rocstats all --format json --team no "$BATS_FILE_TMPDIR/m/rank1.db" >one
    rocstats all --format json --team 3 - <"$BATS_FILE_TMPDIR/m/rank1.db" >other
    diff <(jq .tables one) <(jq .tables other)
    [ "$failed" -eq 0 ]
}

@test "an input that is broken: the same words, whoever reads it" {
    compared=0 failed=0
    same 2 3 7 -- all --strict "$BATS_FILE_TMPDIR"/m/rank[1-4].db "$FIXTURES/nasty-sys.db"
    same 2 3 7 -- all "$BATS_FILE_TMPDIR"/m/rank[1-4].db "$FIXTURES/truncated.db"
    same 3 -- all "$BATS_FILE_TMPDIR"/m/rank[1-4].db missing.db
    same 3 -- all "$BATS_FILE_TMPDIR"/m/rank[1-4].db "$BATS_FILE_TMPDIR"/m/rank1.db
    # Damage that is met only when events are read, in two inputs: that of the first one is told.
    local i
    for i in 2 3; do
        cp "$BATS_FILE_TMPDIR/m/large.db" "d$i.db"
        dd if=/dev/urandom of="d$i.db" bs=4096 seek=$((400 + i)) count=300 conv=notrunc 2>/dev/null
    done
    run --separate-stderr rocstats --team 3 d2.db "$BATS_FILE_TMPDIR"/m/rank[1-4].db
    [ "$status" -eq 3 ] || fail "damage was not noticed"
    one_line rocstats
    says d2.db
}

# ---- ranks that are gone -----------------------------------------------------------------------------

# ms: a random pause.
pause() {
    sleep "0.$(printf %03d $((RANDOM % $1)))"
}

@test "a rank that is killed ends the team with one line, and leaves nothing" {
    local rounds=12 i pid victims rc killed=0 now
    [ -z "${SOAK:-}" ] || rounds=50
    rocstats all -q --format json --team no "$BATS_FILE_TMPDIR"/m/*.db >whole
    for ((i = 0; i < rounds; i++)); do
        rm -f out.json
        rocstats all -q --format json --team $((2 + i % 4)) -o out.json "$BATS_FILE_TMPDIR"/m/*.db \
            2>messages 3>&- &
        pid=$!
        pause 400
        mapfile -t victims < <(pgrep -P "$pid")
        if [ "${#victims[@]}" -gt 0 ]; then
            kill -KILL "${victims[RANDOM % ${#victims[@]}]}" 2>/dev/null || true
        fi
        now=$SECONDS rc=0
        wait "$pid" || rc=$?
        [ $((SECONDS - now)) -le 10 ] || fail "it took $((SECONDS - now)) s"
        if [ "$rc" -eq 0 ]; then # the blow came when it had read all
            cmp out.json whole
        else
            killed=$((killed + 1))
            [ "$rc" -eq 5 ] || fail "exit code $rc: $(cat messages)"
            [ "$(wc -l <messages)" -eq 1 ] || fail "$(cat messages)"
            grep -q '^rocstats: rank [1-9]* of the team was ended by signal 9' messages || fail "$(cat messages)"
            [ ! -e out.json ]
        fi
        [ -z "$(find . -name '.*' ! -name .)" ] || fail "$(find . -name '.*')"
        for pid in "${victims[@]}"; do
            ! kill -0 "$pid" 2>/dev/null || fail "process $pid is left"
        done
    done
    echo "# team: $killed of $rounds were killed in time" >&3
}

@test "when rank 0 is killed or interrupted, the others end" {
    local signal pid others i
    for signal in KILL TERM INT; do
        (trap - INT && exec rocstats all --format json --team 4 -o out.json "$BATS_FILE_TMPDIR"/m/*.db) \
            2>messages 3>&- &
        pid=$!
        sleep 0.1
        mapfile -t others < <(pgrep -P "$pid")
        kill -$signal "$pid" 2>/dev/null || true
        wait "$pid" || true
        for ((i = 0; i < 100; i++)); do
            kill -0 "${others[@]}" 2>/dev/null || break
            sleep 0.1
        done
        [ "$i" -lt 100 ] || fail "after $signal: $(ps "${others[@]}")"
        rm -f out.json .out.json*
    done
}

@test "a rank that cannot write its temporary files, a disk that is full" {
    # As many events as sorting takes to files, on every rank.
    run --separate-stderr rocstats attribution -q --team 3 --memory 1m --tmpdir /nowhere -o out "$BATS_FILE_TMPDIR"/m/*.db
    [ "$status" -ne 0 ] || skip "nothing was written to temporary files"
    one_line rocstats
    [ ! -e out ]
    (ulimit -f 16 && trap '' XFSZ && exec rocstats attribution -q --team 3 --memory 1m -o out \
        "$BATS_FILE_TMPDIR"/m/*.db) 2>messages && fail "there is no limit"
    [ "$(wc -l <messages)" -eq 1 ]
    [ "$(find . -name '*out*' | wc -l)" -eq 0 ]
}

@test "--team: what it takes, and tools that have it not" {
    local value
    for value in 0 257 x -1 3x ''; do
        try 2 rocstats --team "$value" "$FIXTURES/schema-3.0.0.db"
        says "--team: \"$value\" is not known"
    done
    try 2 rocpd2otf2 --team 2 "$FIXTURES/schema-3.0.0.db"
    try 2 rocstats view --team 2 "$FIXTURES/schema-3.0.0.db"
    [ "$(rocstats --team mpi "$FIXTURES/schema-3.0.0.db" 2>err)" = "$(rocstats "$FIXTURES/schema-3.0.0.db")" ]
    grep -q 'no other rank was started with this one' err
    # Standard output is written once, also what was in a buffer before.
    [ "$(rocstats --team 3 "$FIXTURES/schema-3.0.0.db")" = "$(rocstats "$FIXTURES/schema-3.0.0.db")" ]
}

# ---- MPI ---------------------------------------------------------------------------------------------

# needs_mpi openmpi|mpich: sets `start`, the command before a number of ranks.
needs_mpi() {
    needs "$BUILD/lib/rocline/librocline-mpi-$1.so"
    ! nm -D "$BUILD/bin/rocstats" | grep -qE '__(asan|tsan)' || skip "sanitizers are on: the MPI is not made for them"
    case $1 in
    openmpi)
        needs mpirun.openmpi
        start=(timeout -k 1 100 mpirun.openmpi --oversubscribe --allow-run-as-root --mca btl self,vader --mca
            plm isolated -q -n)
        ;;
    mpich)
        needs mpiexec.mpich
        start=(timeout -k 1 100 mpiexec.mpich -n)
        ;;
    esac
    "${start[@]}" 2 true >/dev/null 2>&1 || skip "$1 cannot start programs here"
}

ranks_of_mpi() {
    local n args name=$1
    for n in 2 3; do
        while read -r args; do
            # shellcheck disable=SC2086 # words
            rocstats $args "$BATS_FILE_TMPDIR"/m/*.db >one.out 2>one.err
            # shellcheck disable=SC2086 # words
            "${start[@]}" $n rocstats $args "$BATS_FILE_TMPDIR"/m/*.db >other.out 2>other.err ||
                fail "$n ranks: $(cat other.err)"
            cmp one.out other.out || fail "$n ranks: $args"
            [ "$(grep -c "^rocstats: a team of $n ranks ($name)" other.err)" -eq 1 ] || fail "$(cat other.err)"
            diff one.err <(sed '/^rocstats: a team of/d' other.err) || fail "$n ranks: $args"
        done <<'END'
all --format json -j2
-j2
all --format html --align start -j1
END
    done
    # What each is started for alone stays so.
    # shellcheck disable=SC2016 # the shell of each rank
    "${start[@]}" 2 sh -c 'rocstats -j1 --format csv kernels -o r${OMPI_COMM_WORLD_RANK:-$PMI_RANK}.csv "$1"/m/rank${OMPI_COMM_WORLD_RANK:-$PMI_RANK}.db' \
        - "$BATS_FILE_TMPDIR" 2>other.err
    for n in 0 1; do
        cmp r$n.csv <(rocstats --format csv kernels "$BATS_FILE_TMPDIR/m/rank$n.db")
    done
    # One rank alone, by a script: nobody is waited for.
    # shellcheck disable=SC2016 # the shell of each rank
    "${start[@]}" 2 sh -c 'if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ]; then rocstats -o alone "$1"; fi' \
        - "$BATS_FILE_TMPDIR/m/rank1.db" 2>other.err
    cmp alone <(rocstats "$BATS_FILE_TMPDIR/m/rank1.db")
    # One message, of one rank, and its exit code.
    "${start[@]}" 3 rocstats -o out missing.db >other.out 2>other.err && fail "it is missing"
    [ "$(grep -c '^rocstats: missing.db' other.err)" -eq 1 ] || fail "$(cat other.err)"
    "${start[@]}" 3 rocstats --no-such-option >other.out 2>other.err && fail "there is none"
    [ "$(grep -c 'no-such-option' other.err)" -eq 1 ] || fail "$(cat other.err)"
    [ ! -e out ]
}

# A rank is killed: the launcher ends the others, and there is no output.
kill_rank_of_mpi() {
    local pid victim i rc=0
    # shellcheck disable=SC2016 # the shell of each rank
    "${start[@]}" 3 sh -c 'echo $$ >pid.${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; exec rocstats all --format json -j1 -o out.json "$1"/m/*.db' \
        - "$BATS_FILE_TMPDIR" >/dev/null 2>&1 3>&- &
    pid=$!
    for ((i = 0; i < 200; i++)); do
        [ ! -s pid.1 ] || break
        sleep 0.05
    done
    kill -KILL "$(cat pid.1)"
    i=$SECONDS
    wait "$pid" || rc=$?
    [ "$rc" -ne 0 ]
    [ $((SECONDS - i)) -le 10 ]
    [ ! -e out.json ]
}

@test "Open MPI: two and three ranks make the bytes of one" {
    needs_mpi openmpi
    ranks_of_mpi "Open MPI"
    kill_rank_of_mpi
}

@test "MPICH: two and three ranks make the bytes of one" {
    needs_mpi mpich
    ranks_of_mpi MPICH
    kill_rank_of_mpi
}

@test "a launcher whose plugin is not there is told plainly, and each rank works as without" {
    db=$FIXTURES/schema-3.0.0.db
    export OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 ROCLINE_MPI=$PWD/none.so
    # Who is started by something else than a launcher is not looked after.
    try 0 rocstats "$db"
    [ -z "$stderr" ]
    plain=$output
    # The name of a process that runs a script is that of the script.
    printf '#!/bin/sh\n"$@"\nexit $?\n' >mpirun
    chmod +x mpirun
    try 0 ./mpirun rocstats "$db"
    one_line rocstats
    says "no team of the ranks of Open MPI: ROCLINE_MPI: $PWD/none.so: cannot open shared object file"
    [ "$output" = "$plain" ]
    try 5 rocstats --team mpi "$db"
    one_line rocstats
    try 0 ./mpirun rocstats --team no "$db"
    [ -z "$stderr" ]
    [ "$(OMPI_COMM_WORLD_RANK=1 ./mpirun rocstats "$db" 2>&1)" = "$plain" ] # rank 0 has said it
    try 2 ./mpirun rocstats --no-such-option
    OMPI_COMM_WORLD_RANK=1 try 2 ./mpirun rocstats --no-such-option
    silent
    mkdir -p bin
    cp -L "$BUILD/bin/rocstats" bin
    unset ROCLINE_MPI
    try 0 ./mpirun bin/rocstats "$db"
    says "librocline-mpi-openmpi.so is not installed"
}
