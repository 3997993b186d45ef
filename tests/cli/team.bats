#!/usr/bin/env bats
# Teams: several processes, forks of one or started by an MPI, make the same bytes as one; and when
# one of them is killed or fails, nothing. SOAK=1: all cases, and 50 kills; else a sample of them.
# shellcheck disable=SC2154 # bats sets status, output and stderr

load helper
load teams

setup_file() {
    make_inputs 12 40000
}

@test "every input: the same bytes of all reports in every form, whatever the size" {
    local sizes=(2 3 7 16) formats=(text csv json html md) i=0 input format
    for input in "$FIXTURES"/*.db "$FIXTURES"/*.json "$FIXTURES"/{job.rpdb,index.yaml} \
        "$TOP"/tests/fixtures/rtg/calls.txt "$TOP"/tests/fixtures/chrome/kineto.json; do
        for format in "${formats[@]}"; do
            i=$((i + 1))
            [ -n "${SOAK:-}" ] || [ $((i % 3)) -eq 0 ] || continue
            # shellcheck disable=SC2046 # words
            same $([ -n "${SOAK:-}" ] && echo 1 "${sizes[@]}" || echo "${sizes[i / 3 % 4]}") -- \
                rocstats all --format "$format" --ids -j$((1 + i % 3)) "$input"
        done
        same 2 -- rocstats "$input"
        same 3 -- rocstats doctor "$input"
        same "${sizes[i % 4]}" -- rocstats summary kernels copies overlap gaps launch markers ranks \
            --format "${formats[i % 5]}" --ids "$input"
    done
    [ "$failed" -lt $((compared / 3)) ] # inputs that are broken
    echo "# team: $compared comparisons, $failed of inputs that cannot be read" >&3
}

@test "many inputs of all versions and a large one: the same with filters, clocks, by rank" {
    local sizes=(3 16)
    [ -z "${SOAK:-}" ] || sizes=(1 2 3 7 16)
    echo '<gfx942_expr><metric name="Twice" expr=2*GRBM_GUI_ACTIVE></metric></gfx942_expr>' >defs.xml
    printf 'gpu 4200 +1.5s\nhost 4200 +1s\n' >clocks.txt
    same_each "${sizes[@]}" -- "$BATS_FILE_TMPDIR"/m/*.db <<'END'
rocstats all --format json -j2
rocstats all --format json -j1 --reader sqlite
rocstats all --format csv --by-rank --by-agent --by-stream --ids
rocstats all --format html --align start
rocstats launch gaps kernels --format json --align offsets ../clocks.txt
rocstats all --format json --start 20% --end 60% --clip
rocstats all --format json --kernel-iterations 1,3 --rank 0-20
rocstats all --format json --include kernel,copy --name k --min-duration 1us
rocstats ranks steps overlap --format json --memory 2m
rocstats -v
rocstats doctor --format json
rocstats doctor counters roofline --format csv --ids --by-rank --by-agent -j2
rocstats counters --format html --start 20% --end 60%
rocstats counters --format json --derive ../defs.xml
rocstats summary kernels copies overlap gaps launch markers ranks --format json --ids
rocstats summary kernels copies overlap gaps launch markers ranks --format html -j2
rocstats summary copies launch ranks markers --format csv --by-rank --by-agent --by-stream --by-dims --ids
rocstats overlap gaps --format json --by-stream --ids --min-gap 2us
rocstats gaps --gaps-between kernels --format json --start 20% --end 60% --memory 2m -j2
rocstats overlap kernels --format csv --rank 3-9 --align start
rocstats summary kernels --format text --sort average --top 3
rocstats memory kernels --format json --top 5 --slices 37 -j2
rocstats attribution launch --format json --by-rank --start 20% --ids
rocstats attribution steps --table all --format csv --top 7 -j2
rocstats steps --format json --ids
rocstats steps --format csv --by-rank --step-markers forward|norm -j2
rocstats steps --format html --start 20% --end 70%
rocstats memory --format csv --by-rank --start 20% --end 60% --clip
rocstats memory --format html --period 1ms:1ms:0 --rank 0-20
END
    same 7 -- rocstats compare --format json "$BATS_FILE_TMPDIR"/m/rank[0-3].db -- "$BATS_FILE_TMPDIR"/m/rank1[0-3].db
    [ "$failed" -eq 0 ]
}

# Databases whose processes share their GPUs, and more ranks than inputs.
@test "ranks that collect: GPUs of one rank or of several, ranks without inputs, strict" {
    local sizes=(2 5) args
    [ -z "${SOAK:-}" ] || sizes=(1 2 3 5 7 16)
    while read -r args; do
        # shellcheck disable=SC2086 # words
        same "${sizes[@]}" -- rocstats $args --format json "$BATS_FILE_TMPDIR"/m/rank[0-7].db
        # shellcheck disable=SC2086 # words
        same 16 -- rocstats $args --format json "$BATS_FILE_TMPDIR"/m/rank[0-2].db "$BATS_FILE_TMPDIR"/m/large.db
    done <<'END'
overlap
gaps --ids
overlap gaps --strict --by-stream
memory
memory --top 3 --strict
summary launch --strict
END
    # Trees, graphs, operators and steps of ranks; two processes have the same, and another has none.
    for args in --by-rank "--top 3 --peak MI300X" "--ids --sort calls --memory 2m"; do
        # shellcheck disable=SC2086 # words
        same "${sizes[@]}" -- rocstats attribution launch roofline steps $args --format json \
            "$FIXTURES"/findings/{far-from-peak,graph-gaps}.*.json "$FIXTURES"/findings/late-rank.*.json
    done
    # Traces without kernels and code objects, alone and beside others.
    rocmerge -q --rebuild -o host.db --include region,marker "$BATS_FILE_TMPDIR"/m/rank1.db
    same "${sizes[@]}" -- rocstats all --format json "$PWD/host.db"
    same "${sizes[@]}" -- rocstats all --format json "$PWD/host.db" "$BATS_FILE_TMPDIR"/m/rank[2-3].db
    # A trace without GPU work is read for two overviews, one after the other.
    same 3 -- rocstats --include marker,region "$BATS_FILE_TMPDIR"/m/rank[0-7].db
    same 3 -- rocstats --include hip "$BATS_FILE_TMPDIR"/m/rank[0-7].db
    [ "$failed" -eq 0 ]
}

@test "a thousand databases of 128 nodes" {
    [ -n "${SOAK:-}" ] || skip "SOAK=1 runs it"
    compared=0 failed=0
    mkdir k
    "$BUILD/tests/rocpd-gen" -o k/rank%r.db --rows 100 --kernels 10 --gpus 8 --processes 1024 --nodes 128
    same 2 16 64 -- rocstats -j1 "$PWD/k"
    same 16 -- rocstats summary launch gaps overlap ranks --format json -j1 "$PWD/k"
    rm -r k
    [ "$failed" -eq 0 ]
}

@test "inputs that only rank 0 can read, beside those that others read" {
    gzip -c "$BATS_FILE_TMPDIR/m/rank1.db" >z.db.gz
    rocpd2pftrace -q -o t.pftrace "$BATS_FILE_TMPDIR/m/rank2.db"
    same 3 -- rocstats all --format json "$PWD/z.db.gz" "$PWD/t.pftrace" "$BATS_FILE_TMPDIR"/m/rank[4-7].db
    rocstats all --format json --team no "$BATS_FILE_TMPDIR/m/rank1.db" >one.json
    rocstats all --format json --team 3 - <"$BATS_FILE_TMPDIR/m/rank1.db" >other.json
    diff <(jq .tables one.json) <(jq .tables other.json)
    [ "$failed" -eq 0 ]
}

@test "an input that is broken: the same words, whoever reads it" {
    same 2 3 7 -- rocstats all --strict "$BATS_FILE_TMPDIR"/m/rank[1-4].db "$FIXTURES/nasty-sys.db"
    same 2 3 7 -- rocstats all "$BATS_FILE_TMPDIR"/m/rank[1-4].db "$FIXTURES/truncated.db"
    same 3 -- rocstats all "$BATS_FILE_TMPDIR"/m/rank[1-4].db missing.db
    same 3 -- rocstats all "$BATS_FILE_TMPDIR"/m/rank[1-4].db "$BATS_FILE_TMPDIR"/m/rank1.db
    # In two inputs: that of the first one is told.
    make_damaged d2.db d3.db
    run --separate-stderr rocstats --team 3 d2.db d3.db "$BATS_FILE_TMPDIR"/m/rank[1-4].db
    [ "$status" -eq 3 ] || fail "damage was not noticed"
    one_line rocstats
    says d2.db
}

# ---- ranks that are gone -----------------------------------------------------------------------------

@test "a rank that is killed ends the team with one line, and leaves nothing" {
    local rounds=12
    [ -z "${SOAK:-}" ] || rounds=50
    kill_some $((rounds / 2)) rocstats all --format json -o @/out.json
    kill_some $((rounds / 2)) rocstats summary overlap gaps launch ranks --format json -o @/out.json
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
    try 2 rocline convert --team 2 "$FIXTURES/schema-3.0.0.db"
    try 2 rocstats view --team 2 "$FIXTURES/schema-3.0.0.db"
    [ "$(rocstats --team mpi "$FIXTURES/schema-3.0.0.db" 2>err)" = "$(rocstats "$FIXTURES/schema-3.0.0.db")" ]
    grep -q 'no other rank was started with this one' err
    # Standard output is written once, also what was in a buffer before.
    [ "$(rocstats --team 3 "$FIXTURES/schema-3.0.0.db")" = "$(rocstats "$FIXTURES/schema-3.0.0.db")" ]
}

# ---- MPI ---------------------------------------------------------------------------------------------

ranks_of_mpi() {
    local n args name=$1
    for n in 2 3 ${SOAK:+7 16}; do
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
summary kernels overlap gaps launch ranks markers --by-stream --ids --format json
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

# Has it ended, if nobody has waited for it yet?
is_gone() { # pid
    ! grep -q '^State:[[:space:]]*[^Z]' "/proc/$1/status" 2>/dev/null
}

# A rank is killed: the launcher ends the others, and there is no output. A launcher that hangs then is
# no fault of the ranks: mpirun of Open MPI 4.1 does so, in a lock, when a rank dies while it connects.
kill_rank_of_mpi() {
    local pid i rc=0
    # shellcheck disable=SC2016 # the shell of each rank
    "${start[@]}" 3 sh -c 'echo $$ >pid.${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; exec rocstats all --format json -j1 -o out.json "$1"/m/*.db' \
        - "$BATS_FILE_TMPDIR" >/dev/null 2>&1 3>&- &
    pid=$!
    for ((i = 0; i < 200; i++)); do
        [ ! -s pid.0 ] || [ ! -s pid.1 ] || [ ! -s pid.2 ] || break
        sleep 0.05
    done
    pause 300
    kill -KILL "$(cat pid.1)"
    for ((i = 0; i < 100; i++)); do
        ! is_gone "$(cat pid.0)" || ! is_gone "$(cat pid.1)" || ! is_gone "$(cat pid.2)" || break
        sleep 0.1
    done
    [ "$i" -lt 100 ] || fail "after 10 s there are ranks left"
    for ((i = 0; i < 50; i++)); do
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.1
    done
    [ "$i" -lt 50 ] || kill -TERM "$pid"
    wait "$pid" || rc=$?
    [ "$rc" -ne 0 ]
    [ ! -e out.json ]
}

# fails_together RANK STATUS SCRIPT: three ranks, of which one is to run the script in another way, end
# with that exit code, one line that names it, and no output.
fails_together() {
    local rc=0
    # shellcheck disable=SC2016 # the shell of each rank
    "${start[@]}" 3 sh -c 'own=$1 m=$2; [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = "$own" ] || own=; '"$3" \
        - "$1" "$BATS_FILE_TMPDIR/m" >/dev/null 2>other.err || rc=$?
    [ "$rc" -eq "$2" ] || fail "rank $1: $3: exit code $rc: $(cat other.err)"
    [ "$(grep -c '^rocpd2csv: ' other.err)" -eq 1 ] || fail "rank $1: $3: $(cat other.err)"
    [ "$1" -eq 0 ] || grep -q '^rocpd2csv: rank 1 of the team: ' other.err || fail "$(cat other.err)"
    [ ! -e new ]
}

# What only one rank has: options, variables, files. The others do not wait for it, and the names of
# outputs are rank 0's.
unlike_ranks_of_mpi() {
    local rank m=$BATS_FILE_TMPDIR/m
    rocpd2csv -q -d one "$m"/rank[1-4].db
    rtg2json -q --layout kineto -o one/k.json "$m"/rank[1-4].db
    mkdir 0
    "${start[@]}" 3 rocpd2csv -q -d '%rank%' "$m"/rank[1-4].db
    "${start[@]}" 3 rtg2json -q --layout kineto -o '%rank%/k.json' "$m"/rank[1-4].db
    diff -r one 0
    [ ! -e 1 ] && [ ! -e 2 ]
    mkdir -p fifo/new
    mkfifo fifo/new/out
    printf 'jobs:\n  - output_format: [csv]\n' >job.yaml
    # shellcheck disable=SC2016 # the shell of each rank
    for rank in 0 1; do
        fails_together $rank 2 'exec rocpd2csv --team mpi ${own:+--no-such-option} -d new "$m"'
        fails_together $rank 2 'exec rocpd2csv -q ${own:+--no-such-option} -d new "$m"'
        fails_together $rank 3 '[ -z "$own" ] || cd fifo; exec rocpd2csv -q --team mpi --job job.yaml -d new "$m"'
    done
    # Only rank 0 needs to know the names.
    fails_together 0 2 '[ -n "$own" ] || export X=new; exec rocpd2csv -q --team mpi -d "%env{X}%" "$m"'
    # After it has joined: the launcher may give another exit code.
    # shellcheck disable=SC2016 # the shell of each rank
    "${start[@]}" 3 sh -c '[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 1 ] || cd fifo; exec rocpd2csv -q --team mpi -d new -o out "$1"' - "$m" \
        2>other.err && fail "it is a pipe on rank 1"
    grep -q '^rocpd2csv: rank 1 of the team: .*one kind of file' other.err || fail "$(cat other.err)"
    [ ! -e new ]
}

@test "Open MPI: ranks of which one cannot begin, and names of outputs" {
    needs_mpi openmpi
    unlike_ranks_of_mpi
}

@test "MPICH: ranks of which one cannot begin, and names of outputs" {
    needs_mpi mpich
    unlike_ranks_of_mpi
}

@test "Open MPI: ranks make the bytes of one" {
    needs_mpi openmpi
    ranks_of_mpi "Open MPI"
    kill_rank_of_mpi
}

@test "MPICH: ranks make the bytes of one" {
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
