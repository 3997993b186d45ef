# For tests of teams: inputs, comparisons with one process, ranks that are killed.
# shellcheck shell=bash disable=SC2034,SC2054,SC2154,SC2164

requires() {
    needs jq otf2-print
    # A launcher around these tests is not theirs.
    unset "${!OMPI_@}" "${!PMI_@}" "${!PMIX_@}" "${!SLURM_@}" ROCLINE_MPI
}

# make_inputs PROCESSES ROWS [OPTION...]: in m/, so many small databases of each version on several
# nodes, and one with that many rows, which is much larger.
make_inputs() {
    local gen first=0 schema processes=$1 rows=$2
    shift 2
    BUILD=$(realpath "${BUILD:-$BATS_TEST_DIRNAME/../../build}")
    gen=$BUILD/tests/rocpd-gen
    cd "$BATS_FILE_TMPDIR" || return
    mkdir m
    for schema in 3.0.0 3.0.5 4.1.0 lz4; do
        "$gen" -o "m/rank%r.db" --rows 60 --kernels 4 --gpus 2 --threads 2 --schema "$schema" \
            --processes "$processes" --nodes 3 --first-rank $first --args "$@"
        first=$((first + processes))
    done
    "$gen" -o m/large.db --rows "$rows" --kernels 20 --seed 99 --args
    "$gen" -o merged.db --merged --processes 5 --nodes 2 --rows 3000 --seed 7
}

# Archives of OTF2 in the current folder: their definitions, markers and anchors stay, to be the same
# bytes; of their events, what otf2-print reads. How many bytes they take depends on references,
# which each rank has its own of.
print_archives() {
    local a
    find . -name '*.otf2' >archives
    while read -r a; do
        otf2-print "$a" >"$a.events"
        ls "${a%.otf2}" >"$a.locations"
        rm -r "${a%.otf2}"
        [ ! -e err ] || sed -i 's/: [0-9]* bytes, /: /' err
    done <archives
    rm archives
}

# in_team SIZE|no TOOL ARGUMENT...: the disk is not what is compared.
in_team() {
    local size=$1 words=1
    shift
    [ "$1" != rocline ] || words=2 # rocline export
    set -- "${@:1:words}" --team "$size" "${@:words+1}"
    [ "$1" = rocstats ] || set -- "${@:1:words}" --no-sync "${@:words+1}"
    timeout 120 "$@"
}

# same SIZE... -- TOOL ARGUMENT...: the same output, files, messages and exit code for each size of a
# team. It is run in another folder: inputs have their whole names.
compared=0 failed=0
same() {
    local size sizes=() rc=0 other
    while [ "$1" != -- ]; do
        sizes+=("$1")
        shift
    done
    shift
    rm -rf one
    mkdir one
    (cd one && in_team no "$@" >out 2>err) || rc=$?
    (cd one && print_archives)
    for size in "${sizes[@]}"; do
        rm -rf other
        mkdir other
        other=0
        (cd other && in_team "$size" "$@" >out 2>err) || other=$?
        [ "$rc" -eq "$other" ] || fail "--team $size $*: exit code $other, not $rc: $(cat other/err)"
        (cd other && print_archives)
        diff -r one other || fail "--team $size $*"
    done
    [ "$rc" -le 1 ] || failed=$((failed + 1))
    compared=$((compared + ${#sizes[@]}))
}

# same_each SIZE... -- [INPUT...] <<lines of tools and arguments
same_each() {
    local line sizes=()
    while [ "$1" != -- ]; do
        sizes+=("$1")
        shift
    done
    shift
    while read -r line; do
        # shellcheck disable=SC2086 # words
        same "${sizes[@]}" -- $line "$@"
    done
}

# Copies of the large database, with damage that is met only when events are read.
make_damaged() { # name...
    local name at=0
    for name in "$@"; do
        cp "$BATS_FILE_TMPDIR/m/large.db" "$name"
        dd if=/dev/urandom of="$name" bs=4096 seek=$((400 + at++)) count=300 conv=notrunc 2>/dev/null
    done
}

# ms: a random pause.
pause() {
    sleep "0.$(printf %03d $((RANDOM % $1)))"
}

# kill_some ROUNDS TOOL ARGUMENT...: a rank is killed at a random moment. "@" in an argument is the
# folder of the output.
kill_some() {
    local rounds=$1 i pid victims rc killed=0 now tool=$2 began ms
    shift
    [ "$tool" != rocline ] || tool="rocline $2"
    rm -rf whole
    mkdir whole
    began=$(date +%s%N)
    "${@/@/whole}" -q --team no "$BATS_FILE_TMPDIR"/m/*.db
    ms=$((($(date +%s%N) - began) / 1000000 + 10))
    (cd whole && print_archives)
    for ((i = 0; i < rounds; i++)); do
        rm -rf out
        mkdir out
        "${@/@/out}" -q --team $((2 + i % 4)) "$BATS_FILE_TMPDIR"/m/*.db 2>messages 3>&- &
        pid=$!
        pause $((ms < 1000 ? ms : 1000))
        mapfile -t victims < <(pgrep -P "$pid")
        if [ "${#victims[@]}" -gt 0 ]; then
            kill -KILL "${victims[RANDOM % ${#victims[@]}]}" 2>/dev/null || true
        fi
        now=$SECONDS rc=0
        wait "$pid" || rc=$?
        [ $((SECONDS - now)) -le 10 ] || fail "it took $((SECONDS - now)) s"
        if [ "$rc" -eq 0 ]; then # the blow came when all was written
            (cd out && print_archives)
            diff -r whole out
        else
            killed=$((killed + 1))
            [ "$rc" -eq 5 ] || fail "exit code $rc: $(cat messages)"
            [ "$(wc -l <messages)" -eq 1 ] || fail "$(cat messages)"
            grep -q "^$tool: rank [1-9]* of the team was ended by signal 9" messages || fail "$(cat messages)"
            [ -z "$(ls -A out)" ] || fail "$(find out)"
        fi
        for pid in "${victims[@]}"; do
            ! kill -0 "$pid" 2>/dev/null || fail "process $pid is left"
        done
    done
    echo "# team: of $tool $killed of $rounds were killed in time" >&3
}

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
