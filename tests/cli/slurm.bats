#!/usr/bin/env bats
# The job scripts of examples/slurm work as they are written: on a Slurm of four nodes, which are
# four daemons of this machine. It needs root, and Slurm and munge from packages.
# shellcheck disable=SC2154 # bats sets status, output and stderr

load helper

NODES=4

requires() {
    [ ! -s "$BATS_FILE_TMPDIR/missing" ] || skip "$(cat "$BATS_FILE_TMPDIR/missing")"
    export SLURM_CONF=$BATS_FILE_TMPDIR/slurm.conf
    unset "${!OMPI_@}" "${!PMI_@}" "${!PMIX_@}"
    SCRIPTS=$TOP/examples/slurm
    RUN=$BATS_FILE_TMPDIR/run
}

# daemon COMMAND...: its pid is noted; teardown_file ends it.
daemon() {
    "$@" >>"$BATS_FILE_TMPDIR/daemons.log" 2>&1 3>&- 4>&- </dev/null &
    echo $! >>"$BATS_FILE_TMPDIR/pids"
}

free_ports() { # number
    python3 -c 'import socket, sys
s = [socket.socket() for _ in range(int(sys.argv[1]))]
for x in s: x.bind(("127.0.0.1", 0))
print(*(x.getsockname()[1] for x in s))' "$1"
}

write_conf() {
    local d=$BATS_FILE_TMPDIR host i ports
    read -ra ports <<<"$(free_ports $((NODES + 1)))"
    host=$(hostname -s)
    cat >"$d/slurm.conf" <<END
ClusterName=t
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=${ports[0]}
AuthType=auth/munge
AuthInfo=socket=$d/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$d/state
SlurmctldPidFile=$d/slurmctld.pid
SlurmdSpoolDir=$d/spool-%n
SlurmdPidFile=$d/slurmd-%n.pid
SlurmdLogFile=$d/slurmd-%n.log
SlurmctldLogFile=$d/slurmctld.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=1000
KillWait=1
ReturnToService=2
PartitionName=p Nodes=ALL Default=YES State=UP OverSubscribe=FORCE:4
END
    for ((i = 1; i <= NODES; i++)); do
        echo "NodeName=n$i NodeHostname=$host NodeAddr=127.0.0.1 Port=${ports[i]} CPUs=2" >>"$d/slurm.conf"
    done
}

# Prints a reason why there is no Slurm; nothing where it can be started.
why_no_slurm() {
    local program
    for program in munged slurmctld slurmd sbatch srun python3; do
        command -v "$program" >/dev/null || { echo "no $program"; return; }
    done
    [ "$(id -u)" -eq 0 ] || echo "only root can start Slurm"
}

setup_file() {
    local d=$BATS_FILE_TMPDIR i gen
    PATH=$PATH:/usr/sbin:/sbin
    BUILD=$(realpath "${BUILD:-$BATS_TEST_DIRNAME/../../build}")
    why_no_slurm >"$d/missing"
    [ ! -s "$d/missing" ] || return 0
    mkdir "$d/run" "$d/state"
    gen=$BUILD/tests/rocpd-gen
    "$gen" -o "$d/run/rank%r.db" --rows 2000 --processes 8 --nodes 4 --kernels 4
    chmod 755 "$d" # munged wants its folder to be safe
    dd if=/dev/urandom of="$d/munge.key" bs=1024 count=1 2>/dev/null
    chmod 400 "$d/munge.key"
    write_conf
    daemon munged --force --foreground --socket="$d/munge.socket" --key-file="$d/munge.key" \
        --pid-file="$d/munged.pid" --log-file="$d/munged.log" --seed-file="$d/munge.seed"
    for ((i = 0; i < 50; i++)); do
        [ ! -S "$d/munge.socket" ] || break
        sleep 0.1
    done
    daemon slurmctld -D -f "$d/slurm.conf"
    for ((i = 1; i <= NODES; i++)); do
        mkdir "$d/spool-n$i"
        daemon slurmd -D -N "n$i" -f "$d/slurm.conf"
    done
    export SLURM_CONF=$d/slurm.conf
    for ((i = 0; i < 100; i++)); do
        [ "$(sinfo -h -t idle -o %D 2>/dev/null)" != $NODES ] || return 0
        sleep 0.1
    done
    echo "Slurm does not start here: $(tail -n 1 "$d/daemons.log")" >"$d/missing"
}

teardown_file() {
    local pid i
    [ -e "$BATS_FILE_TMPDIR/pids" ] || return 0
    SLURM_CONF=$BATS_FILE_TMPDIR/slurm.conf scancel -u root 2>/dev/null || true
    mapfile -t pids < <(tac "$BATS_FILE_TMPDIR/pids")
    for pid in "${pids[@]}"; do
        kill "$pid" 2>/dev/null || true
        for ((i = 0; i < 20; i++)); do
            kill -0 "$pid" 2>/dev/null || break
            sleep 0.1
        done
        kill -KILL "$pid" 2>/dev/null || true
    done
}

# submit ARGUMENT...: runs a job to its end.
submit() {
    local id i state=
    id=$(sbatch --parsable --output="$PWD/job-%j.out" "$@") || fail "$*: it was not taken"
    for ((i = 0; i < 300; i++)); do
        state=$(scontrol -o show job "$id" | sed 's/.*JobState=\([A-Z]*\).*/\1/')
        case $state in
        COMPLETED) return 0 ;;
        PENDING | CONFIGURING | RUNNING | COMPLETING) sleep 0.1 ;;
        *) fail "$*: $state: $(cat "job-$id.out")" ;;
        esac
    done
    fail "$*: $state after 30 s"
}

needs_mpich() {
    needs "$BUILD/lib/rocline/librocline-mpi-mpich.so"
    ! nm -D "$BUILD/bin/rocpd2csv" | grep -qE '__(asan|tsan)' || skip "sanitizers are on: the MPI is not made for them"
}

one_process() {
    rocpd2pftrace -q -o one.pftrace "$RUN"
}

@test "a job array, and what waits for it" {
    local n id rank i
    n=$(find "$RUN" -name '*.db' | wc -l)
    id=$(sbatch --parsable --output="$PWD/array-%a.out" --array=0-$((n - 1)) "$SCRIPTS/array.sbatch" "$RUN" "$PWD/out")
    submit --dependency="afterok:$id" "$SCRIPTS/summary.sbatch" "$RUN" "$PWD/out"
    for rank in 0 5; do
        rocpd2csv -q -d one -o "rank$rank" "$RUN/rank$rank.db"
        diff -r one "out/rank$rank"
        rm -r one
    done
    rocstats all -q --format json -o one.json "$RUN"
    cmp one.json out/summary.json
}

@test "one node, with and without a team" {
    one_process
    submit "$SCRIPTS/one-node.sbatch" "$RUN" "$PWD/out"
    cmp one.pftrace out/all.pftrace
    TEAM=no submit "$SCRIPTS/one-node.sbatch" "$RUN" "$PWD/alone"
    cmp one.pftrace alone/all.pftrace
}

@test "several nodes write one trace, by the plugin for MPICH" {
    needs_mpich
    one_process
    submit --nodes=3 "$SCRIPTS/team.sbatch" "$RUN" "$PWD/out"
    cmp one.pftrace out/all.pftrace
    [ "$(find out | wc -l)" -eq 2 ]
}

@test "a rank that cannot begin, or has no space for temporary files, is named, and ends the step" {
    local rc
    needs_mpich
    rc=0
    # shellcheck disable=SC2016 # the shell of each rank
    timeout 30 srun -Q --mpi=pmi2 -N3 --ntasks-per-node=1 \
        sh -c '[ "$SLURM_PROCID" != 1 ] || bad=--no-such-option; exec rocpd2csv -q --team mpi $bad -d out "$1"' - "$RUN" 2>err || rc=$?
    [ "$rc" -eq 2 ] || fail "exit code $rc: $(cat err)"
    [ "$(grep -v ^srun: err)" = "rocpd2csv: rank 1 of the team: unknown option --no-such-option" ] || fail "$(cat err)"
    rc=0
    mkdir large # each rank has a share of it
    "$BUILD/tests/rocpd-gen" -o large/rank%r.db --rows 20000 --processes 6 --nodes 3
    # shellcheck disable=SC2016 # the shell of each rank
    timeout 30 srun -Q --mpi=pmi2 -N3 --ntasks-per-node=1 \
        sh -c '[ "$SLURM_PROCID" != 1 ] || export TMPDIR=/nowhere; exec rocpd2csv -q --team mpi -d out "$1"' - "$PWD/large" 2>err || rc=$?
    [ "$rc" -eq 4 ] || fail "exit code $rc: $(cat err)"
    [ "$(grep -v ^srun: err)" = "rocpd2csv: n2:temporary file in /nowhere: No such file or directory" ] || fail "$(cat err)"
    [ ! -e out ]
}

@test "databases that only their nodes see" {
    local i
    needs_mpich
    one_process
    for ((i = 0; i < 8; i++)); do
        mkdir -p "local/n$((i / 2 + 1))"
        cp "$RUN/rank$i.db" "local/n$((i / 2 + 1))"
    done
    submit --nodes=4 "$SCRIPTS/node-local.sbatch" "$PWD/local/%N" "$PWD/out"
    # Where compressed blocks end depends on which node has what: the same slices at the same times.
    rocstats kernels --format csv one.pftrace >one.csv
    rocstats kernels --format csv out/all.pftrace >other.csv
    cmp one.csv other.csv
}

@test "a container" {
    # shellcheck disable=SC2016 # the shell in the container
    printf '#!/bin/sh\nwhile [ "$1" != "$IMAGE" ]; do shift; done\nshift\nexec "$@"\n' >apptainer
    chmod +x apptainer
    one_process
    IMAGE=rocline.sif APPTAINER=$PWD/apptainer \
        submit "$SCRIPTS/container.sbatch" rocline.sif "$RUN" "$PWD/out"
    cmp one.pftrace out/all.pftrace
}
