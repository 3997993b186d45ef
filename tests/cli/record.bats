#!/usr/bin/env bats
# rocrec: what was recorded is in the trace, and the program does not notice.
# shellcheck disable=SC2154,SC2030,SC2031 # bats sets status, output, stderr and runs tests in subshells

load helper

TRACED=$BUILD/tests/traced
LIBRARIES=$BUILD/lib/rocline

requires() {
    needs "$TRACED"
    unset LD_PRELOAD LD_LIBRARY_PATH ROCLINE_OUTPUT ROCLINE_POLICY ROCLINE_LIMIT
}

teardown() {
    ! mountpoint -q "$BATS_TEST_TMPDIR/small" || umount "$BATS_TEST_TMPDIR/small"
    ! mountpoint -q "$BATS_TEST_TMPDIR/here/small" || umount "$BATS_TEST_TMPDIR/here/small"
}

# How many ranges and marks there are in a trace.
ranges() { # input...
    rocpd2csv -o - --kinds marker "$@" 2>ranges.err | tail -n +2 | wc -l
}

# The number of records left out for a reason, as the last `ranges` said.
left_out() { # reason
    sed -n "s/.*[:,] $1 (\([0-9]*\)).*/\1/p" ranges.err | grep . || echo 0
}

# A file with a bit changed.
flip() { # file offset
    head -c "$2" "$1"
    # shellcheck disable=SC2059 # the format is the byte
    printf "\\$(printf %o $(($(od -An -tu1 -j "$2" -N 1 "$1") ^ 1)))"
    tail -c +$(($2 + 2)) "$1"
}

same() { # number number
    [ "$1" -eq "$2" ] || fail "$1 is not $2"
}

# Records a mode that prints how many ranges there are to be, and compares.
round_trip() { # mode argument...
    try 0 rocrec -q -o t.rocl -- "$TRACED" "$@"
    [ -z "$stderr" ] || fail "nothing should be said"
    same "$(ranges t.rocl)" "$output"
    [ ! -s ranges.err ] || fail "records are left out: $(cat ranges.err)"
}

# ---- what is recorded ------------------------------------------------------------------------------

@test "ranges of one thread" {
    round_trip events 300000
}

@test "ranges of 64 threads" {
    round_trip threads 64 3000
}

@test "ranges of 256 threads" {
    round_trip threads 256 1000
}

@test "a container whose /dev/shm cannot be written" {
    [ "$(id -u)" -eq 0 ] || skip "not root"
    unshare --mount mount -t tmpfs -o ro none /dev/shm 2>/dev/null || skip "no mount namespaces here"
    # shellcheck disable=SC2016 # the inner shell's
    try 0 unshare --mount sh -c 'mount -t tmpfs -o ro none /dev/shm && exec "$@"' sh \
        rocrec -q -o t.rocl -- "$TRACED" threads 4 500
    same "$(ranges t.rocl)" "$output"
}

@test "threads that come and go" {
    round_trip churn 300 20
}

@test "threads that are cancelled before they record" {
    try 0 timeout 30 rocrec -q -o t.rocl -- "$TRACED" cancelled 20
    same "$(ranges t.rocl)" 20
    [ ! -s ranges.err ]
}

@test "children, by fork and by the system call, while another thread records" {
    round_trip forks 100 5
}

@test "children by vfork, clone3, and by fork in eight threads" {
    round_trip children 30
}

@test "programs with other libraries before theirs: jemalloc, tcmalloc, libfaketime" {
    local library any=
    for library in libjemalloc.so.2 libtcmalloc_minimal.so.4 faketime/libfaketime.so.1; do
        library=$(echo /usr/lib/*/"$library")
        [ -e "$library" ] || continue
        any=1
        for mode in "threads 8 500" "churn 50 20" "forks 10 5" "children 5"; do
            # shellcheck disable=SC2086 # words
            try 0 env LD_PRELOAD="$library" FAKETIME=-15d rocrec -q -o t.rocl -- "$TRACED" $mode
            same "$(ranges t.rocl)" "$output"
            [ ! -s ranges.err ] || fail "$library, $mode: $(cat ranges.err)"
        done
    done
    [ -n "$any" ] || skip "none of these libraries"
}

# A program that pushes and pops 1000 ranges: compile FLAG... writes it to ./program.
compile() {
    needs cc
    cat >program.c <<'END'
#include <stdio.h>
#ifdef URING
#include <liburing.h>
#endif
int roctxRangePushA(const char *), roctxRangePop(void);
int main(void)
{
#ifdef URING
    struct io_uring ring;
    if (io_uring_queue_init(8, &ring, 0) < 0)
        return 99;
#endif
    for (int i = 0; i < 1000; i++) {
#ifndef PLAIN
        roctxRangePushA("range");
#endif
#ifdef URING
        struct io_uring_cqe *done;
        io_uring_prep_nop(io_uring_get_sqe(&ring));
        if (io_uring_submit_and_wait(&ring, 1) != 1 || io_uring_wait_cqe(&ring, &done))
            return 98;
        io_uring_cqe_seen(&ring, done);
#endif
#ifndef PLAIN
        roctxRangePop();
#endif
    }
    return puts("1000") < 0;
}
END
    cc -o program program.c "$@" 2>cc.err || skip "cc $*: $(head -1 cc.err)"
}

@test "programs with sanitizers, and one with io_uring" {
    local flags
    while read -r flags; do
        # shellcheck disable=SC2086 # words
        compile $flags -L"$LIBRARIES" -l:libroctx64.so.4 -Wl,-rpath,"$LIBRARIES"
        run --separate-stderr ./program
        [ "$status" -eq 0 ] || continue # it does not run here
        try 0 rocrec -q -o t.rocl -- ./program
        same "$(ranges t.rocl)" 1000
        [ "$output" = 1000 ] && [ -z "$stderr" ] || fail "$flags: $stderr"
    done <<'END'
-fsanitize=address
-fsanitize=undefined
-fsanitize=thread
-DURING -luring
END
}

@test "programs into which nothing can be loaded: that is said" {
    compile -DPLAIN -static
    try 0 rocrec -o t.rocl -- ./program
    says "nothing was recorded: ./program is linked statically"
    try 0 env PATH="$PWD:$PATH" rocrec -o t.rocl -- program
    says "program is linked statically"
    try 0 rocrec -o t.rocl -- sh -c ./program
    says "no process used a traced library"
    [ "$(id -u)" -eq 0 ] || return 0
    compile -DPLAIN
    chown 12345 program
    chmod 4755 program
    try 0 rocrec -o t.rocl -- ./program
    [[ $stderr == *"program has more rights than its user"* ]] || fail "$stderr"
}

@test "threads and children whose first event is the end of a range" {
    round_trip stops
}

@test "ranges deeper than what a writer remembers, across chunks" {
    round_trip deep 300 60000
    # As many calls, with the ranges around them.
    rocpd2csv -o - --kinds hip_api t.rocl | tail -n +2 >calls
    same "$(wc -l <calls)" 300
}

@test "ranges deeper than what a chunk tells of, without calls" {
    round_trip nested 60000 0
    # Those that never end are counted one by one, and ids stay distinct.
    rocrec -q -o t.rocl -- "$TRACED" nested 60000 50000 2>/dev/null
    same "$(ranges t.rocl)" 60000
    same "$(left_out "open when the process ended")" 50000
}

@test "a program that closes all descriptors and uses their numbers" {
    round_trip closes 200000
}

@test "a script that changes its folder before it starts the program" {
    mkdir elsewhere
    # shellcheck disable=SC2016 # the inner shell's
    try 0 rocrec -q -o t.rocl -- sh -c 'cd elsewhere && "$@"' sh "$TRACED" events 100
    same "$(ranges t.rocl)" 100
    # shellcheck disable=SC2016
    try 0 rocrec -q -d raw -- sh -c 'cd elsewhere && "$@"' sh "$TRACED" events 100
    same "$(ranges raw)" 100
}

@test "a program that changes its root" {
    [ "$(id -u)" -eq 0 ] || skip "not root"
    round_trip chroot 100000
}

@test "a program that gives up its user" {
    [ "$(id -u)" -eq 0 ] || skip "not root"
    chmod 755 .
    round_trip nobody 100000
}

CLOCK_SOURCE=/sys/devices/system/clocksource/clocksource0/current_clocksource

@test "a program that forbids itself system calls where reading the clock is one: the rest is counted" {
    [ "$(id -u)" -eq 0 ] || skip "not root"
    unshare --mount mount -t tmpfs none /sys 2>/dev/null || skip "no mount namespaces here"
    # shellcheck disable=SC2016 # the inner shell's
    try 0 unshare --mount sh -c 'mount -t tmpfs none /sys && exec "$@"' sh \
        rocrec -q -o t.rocl -- "$TRACED" sealed 1000 0
    got=$(ranges t.rocl)
    lost=$(left_out "dropped while recording")
    same "$got" 1
    same $((got + lost)) "$output"
}

@test "a program that forbids itself system calls: it goes on, what finds no room is counted" {
    local least=1 # a clock that may be a system call is not read any more
    ! grep -qs '^tsc$' "$CLOCK_SOURCE" || least=100
    for by_name in 0 1; do
        for clock in "" --monotonic; do
            # shellcheck disable=SC2086
            try 0 rocrec -q $clock -o t.rocl -- "$TRACED" sealed 500000 $by_name
            got=$(ranges t.rocl)
            lost=$(left_out "dropped while recording")
            [ "$got" -ge 1 ] && [ $((got + lost)) -ge "$output" ] &&
                [ $((got + lost)) -le $((output + 1)) ] ||
                fail "$got ranges, $lost events lost"
            [ -n "$clock" ] || [ "$got" -ge "$least" ] || fail "$got ranges"
        done
    done
    # A filter that is refused changes nothing; what is started under one is not recorded.
    try 0 rocrec -q -o t.rocl -- "$TRACED" sealed-exec 200000
    [ "$output" = 10 ]
    same "$(ranges t.rocl)" 200000
    [ ! -s ranges.err ] || fail "$(cat ranges.err)"
    # Without rocrec, too.
    mkdir alone
    ROCLINE_OUTPUT=$PWD/alone try 0 "$TRACED" sealed 500000
    [ "$(ranges alone)" -ge "$least" ]
}

@test "filters of system calls: before the first event, strict, of a child of vfork, of all threads" {
    local mode i
    for mode in sealed-first sealed-strictly; do
        try 0 rocrec -q -o t.rocl -- "$TRACED" $mode 1000
        same "$(($(ranges t.rocl) + $(left_out "dropped while recording")))" 1000
    done
    try 0 rocrec -q -o t.rocl -- "$TRACED" sealed-child 200000
    same "$(ranges t.rocl)" 200000
    [ ! -s ranges.err ] || fail "$(cat ranges.err)"
    # A call on its way when the filter comes would end the process.
    for i in 100 1000 2000 3000 4000 5000 6000 7000; do
        try 0 rocrec -q --chunk-size 16k -o t.rocl -- "$TRACED" sealed-threads 300000 $i
    done
    # One that records nothing leaves nothing.
    try 0 rocrec -o t.rocl -- "$TRACED" sealed-first 0
    says "nothing was recorded"
    says "t.rocl: it is the file of before"
}

@test "no descriptor is held, whether something is recorded or not" {
    for n in 0 1 300000; do
        try 0 rocrec -q -o t.rocl -- "$TRACED" descriptors $n
        [ "${output% *}" -eq "${output#* }" ] || fail "$output"
        same "$("$TRACED" descriptors 0 | cut -d' ' -f1)" "${output% *}"
    done
}

@test "scripts that use descriptors of their own run as they do" {
    cat >job.sh <<'END'
exec 200>lock
flock -n 200 || exit 1
flock -n lock true && exit 2
exec 3>&1 10>ten 199>&3 1000>far
echo three >&3; echo ten >&10; echo far >&1000
coproc tac
echo back >&"${COPROC[1]}"
eval "exec ${COPROC[1]}>&-"
cat <&"${COPROC[0]}"
{ echo group; } 201>&1 >&201
for fd in 200 10 3; do eval "exec $fd>&-"; done
f() { echo in 250>x; }
f
ls /proc/self/fd | wc -l
"$TRACED" events 10
exit 4
END
    cat >posix.sh <<'END'
exec 3>&1 4>other 9<"$0"
read -r line <&9
echo "$line" >&3
(flock -n 4 && echo locked) 4>lock2
echo 1 2 >&4; cat other
exec 3>&- 4>&- 9<&-
ls /proc/self/fd | wc -l
"$TRACED" events 10
exit 3
END
    export TRACED
    for shell in bash ksh93 ksh mksh dash zsh busybox; do
        command -v $shell >/dev/null || continue
        for script in job.sh posix.sh; do
            [ $shell = bash ] || [ $script = posix.sh ] || continue
            [ $shell != busybox ] || set -- busybox sh
            [ $shell = busybox ] || set -- $shell
            run --separate-stderr "$@" $script
            was="$status $output $stderr"
            run --separate-stderr rocrec -q -o t.rocl -- "$@" $script
            [ "$was" = "$status $output $stderr" ] || fail "$shell: $was: $status $output $stderr"
            same "$(ranges t.rocl)" 10
        done
    done
}

@test "make's jobserver, Python's subprocess and tmux: nothing is different" {
    export TRACED
    # shellcheck disable=SC2016 # make's
    printf 'all: a b c\na b c:\n\t+@$(MAKE) --no-print-directory -f Makefile x\nx:\n\t@"$$TRACED" events 10\n' >Makefile
    try 0 rocrec -q -o t.rocl -- make -j3
    [ -z "$stderr" ] || fail "$stderr"
    same "$(ranges t.rocl)" 30
    if command -v python3 >/dev/null; then
        cat >fds.py <<'END'
import os, subprocess, sys
r, w = os.pipe()
for close in (True, False):
    out = subprocess.run(["ls", "/proc/self/fd"], close_fds=close, stdout=subprocess.PIPE).stdout
    print(close, out.split())
subprocess.run(["sh", "-c", "echo passed >&%d" % w], pass_fds=[w], check=True)
print(os.read(r, 100), sorted(os.listdir("/proc/self/fd")))
print(subprocess.run([os.environ["TRACED"], "events", "10"], stdout=subprocess.PIPE).stdout)
END
        python3 fds.py >expected
        try 0 rocrec -q -o t.rocl -- python3 fds.py
        diff expected <(printf '%s\n' "$output")
        same "$(ranges t.rocl)" 10
    fi
    needs tmux
    needs_terminal
    # shellcheck disable=SC2016
    env -u TMUX TMUX_TMPDIR="$PWD" timeout 60 rocrec -q -d raw -- sh -c \
        'tmux -f /dev/null new-session -d "\"$TRACED\" events 10; ls /proc/self/fd >fds"
        while tmux has-session 2>/dev/null; do sleep 0.1; done' 3>&- || skip "tmux does not run here"
    same "$(ranges raw)" 10
    run ! grep -E '^[0-9]{3,}$' fds
}

@test "a mask of files that takes all rights, and a folder that is gone" {
    (umask 777 && try 0 rocrec -q -d raw -- "$TRACED" events 300000)
    chmod 755 raw
    same "$(ranges raw)" 300000
    # shellcheck disable=SC2016
    try 0 rocrec -q -d raw2 -- sh -c '"$TRACED" count & sleep 0.3; mv raw2 raw3; mkdir raw2
        sleep 0.5; kill $!' env "TRACED=$TRACED" 3>&- || true
    [ -z "$(ls raw2)" ]
}

@test "a signal handler that records: nothing is broken, and what is lost is counted" {
    try 0 rocrec -q -o t.rocl -- "$TRACED" signals 200000
    same $(($(ranges t.rocl) + $(left_out "dropped while recording"))) \
        $((${output% *} + ${output#* }))
}

@test "what ROCTx can do" {
    try 0 rocrec -q -o t.rocl "$TRACED" markers
    run --separate-stderr rocpd2csv -o - --kinds marker t.rocl
    [ "$status" -eq 1 ] # two ranges never end
    says "2 records repaired: open when the process ended (2)"
    printf '%s\n' "${lines[@]:1}" | cut -d, -f 2,3 | sort >names
    cat >expected <<'END'
"MARKER_CORE_API","a ""mark""
"MARKER_CORE_RANGE_API",""
"MARKER_CORE_RANGE_API","across"
"MARKER_CORE_RANGE_API","ends in a pause"
"MARKER_CORE_RANGE_API","never ended"
"MARKER_CORE_RANGE_API","never stopped"
"MARKER_CORE_RANGE_API","outer"
END
    diff expected names
    rocpd2pftrace -o t.pftrace t.rocl || [ $? -eq 1 ]
    decode t.pftrace >text 2>/dev/null || true
    rocrec --dump t.rocl | grep -q 'thread "chief"'
}

@test "--dump refuses what it would not do" {
    rocrec -q -o t.rocl -- "$TRACED" names
    local option
    for option in -o=dump --output-file=dump --directory=dump --format=json --limit=1m --sample --monotonic; do
        try 2 rocrec --dump ${option/-o=/-o } t.rocl
        says "is not for --dump, which prints to standard output"
    done
    [ ! -e dump ]
}

@test "names of agents, devices and streams: by handles, numbers, places in a list" {
    labels() { # VARIABLE=VALUE...
        env "$@" rocrec -q -o t.rocl -- "$TRACED" names
        rocrec --dump t.rocl | sed -n 's/^  label //p' | paste -s -d' '
    }
    local rest='3 0 "default" 3 1 "stream" 3 1 "renamed" 3 2 ""'
    same_text() { [ "$1" = "$2" ] || fail "$1 is not $2"; }
    same_text "$(labels A=)" "1 77 \"agent\" 2 1 \"device\" $rest 3 2 \"of a child\""
    same_text "$(labels HIP_VISIBLE_DEVICES=3,5)" "1 77 \"agent\" 2 5 \"device\" $rest 3 2 \"of a child\""
    same_text "$(labels CUDA_VISIBLE_DEVICES=3,5,6 HIP_VISIBLE_DEVICES=)" \
        "1 77 \"agent\" 2 5 \"device\" $rest 3 2 \"of a child\""
    for list in 3 GPU-1,GPU-2 0,x 0:1 -1,2; do
        same_text "$(labels HIP_VISIBLE_DEVICES="$list")" "1 77 \"agent\" $rest 3 2 \"of a child\""
    done
}

@test "calls with arguments, kernels, copies, allocations, barriers, samples" {
    try 0 rocrec -q -o t.rocl -- "$TRACED" gpu 5000
    try 0 rocpd2csv -q -d csv t.rocl
    same "$(tail -n +2 csv/out_kernel_trace.csv | wc -l)" 5000
    same "$(tail -n +2 csv/out_memory_copy_trace.csv | wc -l)" 5000
    same "$(tail -n +2 csv/out_hip_api_trace.csv | wc -l)" 5000
    grep -q '"gemm(float\*)",5000,' csv/out_kernel_trace.csv
    grep -q '"power","W",123.5' csv/out_counter_sample_trace.csv
    rocstats memory t.rocl | grep -q 'GPU 0 *1 *0 *64.0 KiB' || fail "$(rocstats memory t.rocl)"
    # Every kernel is tied to the call that launched it.
    rocstats launch t.rocl >launch
    grep -q 'hipLaunchKernel.*5000' launch
    rtg2json --args -f -o t.json t.rocl
    jq -e '[.traceEvents[] | select(.name == "hipLaunchKernel" and .ph == "X")] | length == 5000 and
        all(.args.label == "a \"b\"")' t.json
}

@test "a kernel takes 40 bytes at most, a range 12" {
    mkdir raw
    try 0 rocrec -q -d raw -- "$TRACED" gpu 20000
    rocrec --dump raw >dump
    # By the sizes of contents: a launch with two arguments, a kernel and a copy.
    bytes=$(sed -n 's/^chunk .* events in \([0-9]*\) bytes.*/\1/p' dump | awk '{ n += $1 } END { print n }')
    [ "$bytes" -lt $((20000 * (12 + 5 + 20 + 40 + 40))) ]
    rm -r raw
    mkdir raw
    try 0 rocrec -q -d raw -- "$TRACED" events 100000
    bytes=$(rocrec --dump raw | sed -n 's/^chunk .* events in \([0-9]*\) bytes.*/\1/p' |
        awk '{ n += $1 } END { print n }')
    [ "$bytes" -lt 1200000 ]
}

# ---- how programs end ------------------------------------------------------------------------------

@test "the exit code is the command's" {
    try 5 rocrec -q -- "$TRACED" nothing 5
    [ "$output" = nothing ]
    try 0 rocrec -q -o t.rocl -- "$TRACED" events 5
    run -127 --separate-stderr rocrec -- ./no-such-program
    says "no-such-program: No such file or directory"
    touch plain
    run -126 rocrec -- ./plain
    [ ! -e trace.rocl ]
    [ -z "$(find . -name 'trace.rocl.*')" ]
}

@test "signals pass through, and what was recorded is kept" {
    for s in 15 11 6 9; do
        run rocrec -q -o "$s.rocl" -- "$TRACED" crash 5000 "$s"
        [ "$status" -eq $((128 + s)) ] || fail "signal $s: status $status"
        same "$(ranges "$s.rocl")" 5000
    done
}

@test "a signal for rocrec is one for the command" {
    for s in TERM INT ALRM XCPU; do
        rm -f count
        # A background job of a shell ignores SIGINT.
        env --default-signal=INT rocrec -q -o t.rocl -- "$TRACED" count 3>&- &
        pid=$!
        until [ -s count ] && [ "$(od -An -tu8 -N8 count)" -gt 1000 ]; do sleep 0.01; done
        kill -$s $pid
        status=0
        wait $pid || status=$?
        [ "$status" -eq $((128 + $(kill -l $s))) ]
        [ "$(ranges t.rocl)" -ge 1000 ]
    done
}

@test "the exit code is known also where the end of children is ignored" {
    try 5 env --ignore-signal=CHLD rocrec -q -o t.rocl -- "$TRACED" nothing 5
    try 0 env --ignore-signal=CHLD rocrec -q -- grep SigIgn /proc/self/status
    [ "$output" = "$(env --ignore-signal=CHLD grep SigIgn /proc/self/status)" ]
}

@test "killed at any moment, nothing that was recorded is lost" {
    mkdir raw
    export ROCLINE_OUTPUT=$PWD/raw
    for i in $(seq 200); do
        "$TRACED" count 3>&- &
        pid=$!
        sleep "0.0$((RANDOM % 40 + 10))"
        kill -9 $pid
        wait $pid || true
        [ -e count ] || continue
        counted=$(od -An -tu8 -N8 count)
        [ "${counted:-0}" -gt 0 ] || { rm -rf raw/*; continue; }
        got=$(rocrec --dump raw | grep -c '^  mark')
        [ "$got" -eq "$counted" ] || [ "$got" -eq $((counted + 1)) ] ||
            fail "run $i: $counted marks were made, $got are there"
        rm -rf raw/* count
    done
}

@test "a process that was killed before its first chunk does not hide the others" {
    try 0 rocrec -q -d raw -- "$TRACED" events 100
    : >raw/a.rocl
    head -c 4096 /dev/zero >raw/b.rocl
    same "$(ranges raw)" 100
    grep -q "raw/a.rocl: its process ended before it recorded anything, and 1 more such file" ranges.err
    try 3 rocpd2csv -o out -d csv raw/a.rocl
    one_line rocpd2csv
    rm raw/[!ab]*
    try 3 rocpd2csv -o out -d csv raw
    one_line rocpd2csv
}

# ---- no room ---------------------------------------------------------------------------------------

@test "a child that cannot have a file: its process says how much is lost" {
    try 0 rocrec -q -o t.rocl -- "$TRACED" unfiled 100
    same "$(ranges t.rocl)" 100
    same "$(left_out "dropped while recording")" 100
}

@test "a limit of the size of files: the program goes on, losses are counted" {
    try 0 rocrec -q -o t.rocl -- "$TRACED" limited 100000 300000
    [ "$output" = 100000 ]
    got=$(ranges t.rocl)
    [ "$got" -gt 1000 ]
    # Of a range that was begun and found no room at its end the begin is there.
    lost=$(left_out "dropped while recording")
    [ $((got + lost)) -ge 100000 ]
    [ $((got + lost)) -le 100002 ]
}

@test "a full disk" {
    [ "$(id -u)" -eq 0 ] || skip "not root"
    mkdir small
    mount -t tmpfs -o size=200k none small 2>/dev/null || skip "cannot mount"
    ROCLINE_OUTPUT=$PWD/small run "$TRACED" events 100000
    cp small/*.rocl t.rocl
    umount small
    [ "$status" -eq 0 ]
    [ "$output" = 100000 ]
    got=$(ranges t.rocl)
    [ "$got" -gt 1000 ]
    [ $((got + $(left_out "dropped while recording"))) -ge 100000 ]
}

@test "a full disk with --policy block: the program waits until there is room" {
    [ "$(id -u)" -eq 0 ] || skip "not root"
    mkdir small
    mount -t tmpfs -o size=1m none small 2>/dev/null || skip "cannot mount"
    head -c 900k /dev/zero >small/filler
    ROCLINE_OUTPUT=$PWD/small ROCLINE_POLICY=block ROCLINE_CHUNK=64 \
        "$TRACED" events 60000 >out 3>&- &
    pid=$!
    sleep 1
    kill -0 $pid || fail "it has not waited"
    rm small/filler
    wait $pid
    cp small/*.rocl t.rocl
    umount small
    same "$(cat out)" 60000
    same "$(ranges t.rocl)" 60000
    [ ! -s ranges.err ]
}

@test "a disk that was full for some time: what ended meanwhile is not open after it" {
    [ "$(id -u)" -eq 0 ] || skip "not root"
    mkdir small
    for size in 5840 5844 5848 5852; do
        mount -t tmpfs -o size=6m none small 2>/dev/null || skip "cannot mount"
        dd if=/dev/zero of=small/fill bs=1k count=$size status=none
        (cd small && ROCLINE_OUTPUT=$PWD "$TRACED" refilled 60000)
        cat small/*.rocl >t.rocl
        umount small
        rocpd2csv -o - --kinds hip_api t.rocl 2>err >calls || [ $? -eq 1 ]
        run ! grep repaired err
        # Inner calls follow each other: one that took the end of another call has others in it.
        awk -F, '/hipInner/ { n++; bad += $7 < end; end = $8 }
            END { exit n < 1000 || bad > 0 }' calls
    done
}

@test "ranges whose ends were dropped are counted" {
    for mode in "5 5" "5 3" "5 0" "100 40"; do
        # shellcheck disable=SC2086
        try 0 rocrec -o t.rocl -- "$TRACED" ends-lost $mode
        got=$(ranges t.rocl)
        same $((got + $(left_out "dropped while recording"))) "$output"
        says "t.rocl: $got events of 1 process"
        run ! grep repaired ranges.err
        same "$(rocpd2csv -q -o - --kinds marker t.rocl | grep -c '"outer"')" $((${mode% *} - ${mode#* }))
    done
}

@test "--limit, and the oldest overwritten with --policy ring" {
    try 0 rocrec -q --limit 1m -o drop.rocl -- "$TRACED" events 1000000
    got=$(ranges drop.rocl)
    lost=$(left_out "dropped while recording")
    [ "$got" -gt 10000 ]
    [ "$lost" -gt 10000 ]
    [ $((got + lost)) -ge 1000000 ]
    mkdir raw
    # What helps is what has dropped them.
    rocline doctor -q drop.rocl >found || true
    grep -q "What helps .*rocrec --limit" found
    try 0 rocrec -q --policy ring --limit 1m -d raw -o ring.rocl -- "$TRACED" events 1000000
    [ "$(cat raw/*.rocl | wc -c)" -le $((1 << 20)) ]
    got=$(ranges ring.rocl)
    [ "$got" -gt 10000 ]
    [ "$got" -lt 300000 ]
    [ ! -s ranges.err ]
    # The last ones are there.
    [ "$(rocpd2csv -o - --kinds marker ring.rocl | tail -n 1 | cut -d, -f 3)" = '"step 9"' ]
    [ "$(rocstats doctor --format json ring.rocl | jq -r '.tables[] | select(.key == "findings").rows[].rule')" = overwritten ]
}

@test "--limit: all of it is used, and never more" {
    for limit in 100k 1m 1234567 5m; do
        try 0 rocrec -q --limit $limit -d raw -- "$TRACED" events 1000000
        size=$(cat raw/*.rocl | wc -c)
        bytes=$(numfmt --from=iec "${limit^^}")
        [ "$size" -le "$bytes" ] && [ "$size" -gt $((bytes - 8192)) ] || fail "$limit: $size bytes"
        rm -r raw
    done
    # Of many threads, and of a disk that is full.
    try 0 rocrec -q --limit 1m -d raw -- "$TRACED" threads 20 20000
    size=$(cat raw/*.rocl | wc -c)
    [ "$size" -le $((1 << 20)) ] && [ "$size" -gt 1000000 ] || fail "$size bytes"
    [ "$(id -u)" -eq 0 ] || return 0
    mkdir small
    mount -t tmpfs -o size=800k none small 2>/dev/null || return 0
    ROCLINE_OUTPUT=$PWD/small "$TRACED" events 200000
    size=$(cat small/*.rocl | wc -c)
    umount small
    [ "$size" -gt 790000 ] || fail "$size bytes"
}

@test "losses are told for every output, in one unit and with their share" {
    local n lost share
    for to in "-o t.rocl" "-o t.pftrace" "-o t.db" "-f csv -o csv" "-d raw" "-v -d raw2"; do
        # shellcheck disable=SC2086
        try 0 rocrec --limit 200k $to -- "$TRACED" events 100000
        [[ $stderr =~ ([0-9]+)\ events\ of\ 1\ process,\ ([0-9]+)\ dropped\ \(([0-9.]+)\ % ]] ||
            fail "$to: $stderr"
        n=${BASH_REMATCH[1]} lost=${BASH_REMATCH[2]} share=${BASH_REMATCH[3]}
        same $((n + lost)) 100000
        [ "$(awk -v n="$n" -v l="$lost" 'BEGIN { printf "%.1f", 100 * l / (n + l) }')" = "$share" ]
        [[ $to != *raw* ]] || same "$(ranges "${to#*-d }")" "$n"
    done
    # Of what others have left in the folder nothing is told.
    try 0 rocrec -d raw -- "$TRACED" events 100
    says "raw: 1 file: 100 events of 1 process, 0 dropped; 200 records"
    try 0 rocrec -d raw -- true
    says "nothing was recorded"
    # A full disk.
    [ "$(id -u)" -eq 0 ] || return 0
    mkdir small
    mount -t tmpfs -o size=200k none small 2>/dev/null || return 0
    try 0 rocrec -d small -- "$TRACED" events 100000
    umount small
    [[ $stderr =~ [0-9]{4,}\ dropped\ \([0-9.]+\ % ]] || fail "$stderr"
}

@test "a ring reports what it has overwritten, and from when on it is complete" {
    try 0 rocrec --policy ring --limit 1m -d raw -o t.rocl -- "$TRACED" threads 4 100000
    [[ $stderr =~ overwritten\ ([0-9]+)\ older\ chunks\ with\ ([0-9]+)\ records.*complete\ from\ ([0-9]+)\ ns ]] ||
        fail "$stderr"
    local chunks=${BASH_REMATCH[1]} given=${BASH_REMATCH[2]} from=${BASH_REMATCH[3]} records
    records=$(sed -n 's/.*; \([0-9]*\) records,.*/\1/p' <<<"$stderr")
    same $((given + records)) 800000
    # Ranges that began in what is overwritten, but ended later, are events.
    [[ $stderr =~ t.rocl:\ ([0-9]+)\ events ]] || fail "$stderr"
    same "$(ranges t.rocl)" "${BASH_REMATCH[1]}"
    # From then on no thread has a gap: as many ranges as a longer memory has.
    [ "$(rocpd2csv -o - --kinds marker --start "$from" t.rocl | wc -l)" -gt 1000 ]
    try 0 rocpd2csv -v -d csv t.rocl
    says "overwritten $chunks older chunks"
    try 0 rocrec --policy ring --limit 1m -o t.rocl -- "$TRACED" events 100
    one_line rocrec
}

@test "no address space: the program goes on, the file does not grow, losses are counted" {
    for policy in drop block; do
        try 0 rocrec -q --policy $policy -d raw -o t.rocl -- "$TRACED" starved
        [ "$(cat raw/*.rocl | wc -c)" -lt 1000000 ] || fail "$(ls -l raw)"
        got=$(ranges t.rocl)
        lost=$(left_out "dropped while recording")
        [ "$got" -gt 1000 ]
        [ "$lost" -gt 1000 ]
        [ $((got + lost)) -ge "$output" ]
        [ $((got + lost)) -le $((output + 1)) ]
        rm -r raw
    done
}

@test "--policy block waits for a disk that is full from the begin" {
    [ "$(id -u)" -eq 0 ] || skip "not root"
    mkdir small
    mount -t tmpfs -o size=6m none small 2>/dev/null || skip "cannot mount"
    dd if=/dev/zero of=small/fill bs=1k count=6144 status=none 2>/dev/null || true
    (sleep 0.3; rm small/fill) 3>&- &
    (cd small && ROCLINE_POLICY=block ROCLINE_OUTPUT=$PWD "$TRACED" events 1000)
    cat small/*.rocl >t.rocl
    umount small
    same "$(ranges t.rocl)" 1000
    [ ! -s ranges.err ]
}

@test "--policy block and a limit of the size of files, which no waiting changes" {
    try 0 timeout 60 rocrec -q --policy block -o t.rocl -- "$TRACED" limited 100000 300000
    [ "$output" = 100000 ]
    ranges t.rocl >/dev/null
    [ "$(left_out "dropped while recording")" -gt 1000 ]
}

@test "--policy ring keeps its limit with texts larger than its chunks" {
    try 0 rocrec -q --policy ring --limit 1m -d raw -o t.rocl -- "$TRACED" texts 500 300000
    [ "$(cat raw/*.rocl | wc -c)" -le 3000000 ] || fail "$(ls -l raw)"
    [ "$(ranges t.rocl)" -ge 1 ]
    [ ! -s ranges.err ]
    rocpd2csv -o - --kinds marker t.rocl | grep -q '"text 499 '
}

@test "--policy ring with a limit of a few bytes: a chunk for each thread, as with any that is too small" {
    for limit in 1 15 16; do
        try 0 timeout 30 rocrec -q --policy ring --limit $limit -o t.rocl -- "$TRACED" events 5000
        [ "$(ranges t.rocl)" -ge 1 ] || fail "$limit: nothing is there"
    done
}

@test "signal handlers that record while the process exits" {
    for i in $(seq 20); do
        try 0 rocrec -q -d raw -- "$TRACED" exits 3000
    done
    [ "$(ranges raw)" -ge 60000 ]
    same "$(left_out "in a damaged or missing chunk")" 0
}

@test "a folder that cannot be written: the program runs as it would" {
    for folder in "$PWD/no/such/folder" /proc; do
        ROCLINE_OUTPUT=$folder try 0 "$TRACED" events 1000
        [ "$output" = 1000 ]
        [ -z "$stderr" ]
    done
    try 4 rocrec -o /proc/t.rocl -- "$TRACED" events 10
    [ -z "$output" ] || fail "the command was run"
}

@test "a folder of files that the command removes, or whose user has no right there: what is said is true" {
    try 3 rocrec -o t.rocl -- sh -c 'rm -r t.rocl.*'
    one_line rocrec
    says "cannot read the folder"
    local other=(setpriv --reuid 65534 --clear-groups)
    [ "$(id -u)" -eq 0 ] && "${other[@]}" test -x "$TRACED" || return 0
    chmod 755 .
    try 0 rocrec -o t.rocl -- "${other[@]}" "$TRACED" events 10
    says "or no permission to write there"
}

@test "without ROCLINE_OUTPUT nothing is recorded" {
    try 0 "$TRACED" events 1000
    [ "$output" = 1000 ]
    [ -z "$stderr" ]
    [ -z "$(find . -name '*.rocl')" ]
}

# ---- files -----------------------------------------------------------------------------------------

@test "outputs by name and by format" {
    try 0 rocrec -q -o t.pftrace -- "$TRACED" events 100
    decode t.pftrace >text
    try 0 rocrec -q -o t.json -- "$TRACED" events 100
    same "$(jq '[.traceEvents[] | select(.ph == "X")] | length' t.json)" 100
    try 0 rocrec -q -f csv -o csv -- "$TRACED" events 100
    same "$(tail -n +2 csv/out_marker_api_trace.csv | wc -l)" 100
    try 0 rocrec -o t.rocl -- "$TRACED" events 100
    says "t.rocl: 100 events of 1 process, 0 dropped; 200 records, "
}

@test "a level of compression reaches every format, or is refused" {
    try 0 rocrec -q -z 9 -o t.json -- "$TRACED" events 1000
    [ ! -e t.json ]
    same "$(gzip -dc t.json.gz | jq '[.traceEvents[] | select(.ph == "X")] | length')" 1000
    try 0 rocrec -q -z 1 -o fast.json.gz -- "$TRACED" events 1000
    [ "$(stat -c %s fast.json.gz)" -gt "$(stat -c %s t.json.gz)" ]
    try 0 rocrec -q -z 0 -o plain.json.gz -- "$TRACED" events 10
    jq -e '.traceEvents | length > 0' plain.json
    try 0 rocrec -q -z 6 -f csv -o csv -- "$TRACED" events 100
    same "$(gzip -dc csv/out_marker_api_trace.csv.gz | tail -n +2 | wc -l)" 100
    try 0 rocrec -q -z 0 -o t0.rocl -- "$TRACED" events 1000
    try 0 rocrec -q -o t2.rocl -- "$TRACED" events 1000
    [ "$(stat -c %s t0.rocl)" -gt "$(stat -c %s t2.rocl)" ]
    try 2 rocrec -z 1 -o t.db -- touch ran
    says "rocrec: --compress: databases cannot be compressed"
    if rocpd2otf2 --version | grep -q OTF2; then
        try 2 rocrec -z 1 -o t.otf2 -- touch ran
        says "rocrec: --compress: OTF2 archives cannot be compressed"
    fi
    [ ! -e ran ]
}

views_of() { # DATABASE
    sqlite3 "$1" "SELECT name FROM sqlite_master WHERE type = 'view' AND name NOT LIKE 'rocpd@_%' ESCAPE '@'"
}

@test "a database has ROCm's views, of one process and of several" {
    try 0 rocrec -q -o t.db -- "$TRACED" gpu 500
    same "$(views_of t.db | wc -l)" 21
    for view in $(views_of t.db); do
        sqlite3 t.db "SELECT * FROM $view" >rows || fail "$view"
    done
    for view in kernels memory_copies regions pmc_events; do
        n=500
        [ $view != pmc_events ] || n=0
        same "$(sqlite3 t.db "SELECT count(*) FROM $view")" $n
    done
    [ "$(sqlite3 t.db "SELECT name, total_calls, total_duration, average, percentage FROM top_kernels")" = \
        "gemm(float*)|500|3500.0|7.0|100.0" ]
    [ "$(sqlite3 t.db "SELECT DISTINCT name, duration, agent_type, workgroup_x FROM kernels")" = "gemm(float*)|7000|GPU|256" ]
    try 0 rocrec -q -o forks.db -- "$TRACED" forks 5 10
    rows=$(sqlite3 forks.db "SELECT count(*) FROM rocpd_region")
    same "$(sqlite3 forks.db "SELECT count(*) FROM regions")" "$rows"
    same "$(sqlite3 forks.db "SELECT count(DISTINCT pid) FROM regions")" \
        "$(sqlite3 forks.db "SELECT count(*) FROM processes")"
}

@test "the views say of ROCm's databases what ROCm's own say" {
    data=$SHARED/amd/e4.db
    needs "$data"
    rocrec -q -o t.db -- "$TRACED" gpu 5
    cp --no-preserve=mode "$data" theirs.db
    cp theirs.db ours.db
    for view in $(views_of t.db); do
        sqlite3 ours.db "DROP VIEW $view"
        # That database has no values of samples.
        sqlite3 t.db "SELECT sql || ';' FROM sqlite_master WHERE name = '$view'" |
            sed 's/ WHERE v.sample_id IS NULL//' | sqlite3 ours.db
        for db in theirs ours; do
            sqlite3 -header $db.db "SELECT * FROM $view" | sed '1s/.*/\L&/' | sort >$db.rows
        done
        cmp theirs.rows ours.rows || fail "$view: $(diff theirs.rows ours.rows | head -n 4)"
    done
    [ "$(views_of theirs.db | sort)" = "$(views_of ours.db | sort)" ]
}

@test "an output that cannot be is refused before the command is run" {
    mkdir raw
    try 2 rocrec -d raw -o raw/t.rocl -- touch ran
    says "the trace cannot be in the folder of the files, raw"
    try 2 rocrec -d raw -o ./raw/../raw/t.db -- touch ran
    try 4 rocrec -o raw -- touch ran
    one_line rocrec
    [ ! -e ran ]
    [ -z "$(find . -name 'raw.*')" ]
    try 0 rocrec -q -d raw -o raw/t.pftrace -- "$TRACED" events 10
    try 0 rocrec -q -f csv -o raw -- "$TRACED" events 10
}

@test "compressed, not compressed, joined, from a pipe and gzip: the same" {
    mkdir raw
    try 0 rocrec -q -d raw -o t.rocl -- "$TRACED" forks 20 3
    try 0 rocrec -q -d raw2 -- "$TRACED" nothing
    rocpd2csv -q -o - --kinds marker raw | sort >a
    rocpd2csv -q -o - --kinds marker t.rocl | sort >b
    cat raw/*.rocl >joined.rocl
    rocpd2csv -q -o - --kinds marker joined.rocl | sort >c
    gzip -k t.rocl
    rocpd2csv -q -o - --kinds marker t.rocl.gz | sort >d
    rocpd2csv -q -o - --kinds marker - <t.rocl | sort >e
    cmp a b
    cmp a c
    cmp a d
    cmp a e
    [ "$(wc -c <t.rocl)" -lt "$(wc -c <joined.rocl)" ]
}

@test "copies of chunks of several processes: one message, and each chunk is read once" {
    requires
    rocrec -q -d raw -- "$TRACED" forks 3 50 >/dev/null
    [ "$(find raw -name '*.rocl' | wc -l)" -gt 1 ]
    cat raw/*.rocl >t.rocl
    cat t.rocl raw/*.rocl >twice.rocl
    try 0 rocline query "SELECT count(*) FROM marker" t.rocl
    [ -z "$stderr" ]
    once=$output
    try 0 rocline query "SELECT count(*) FROM marker" twice.rocl
    one_line "rocline query"
    says "twice.rocl: "
    says " copies of chunks left out: each chunk is read once"
    [ "$output" = "$once" ]
}

@test "the number of workers does not matter" {
    try 0 rocrec -q -o t.rocl -- "$TRACED" threads 8 20000
    for j in 1 2 5; do
        rocpd2csv -q -j $j -o - --kinds marker t.rocl >$j.csv
        rocpd2pftrace -q -j $j -o $j.pftrace t.rocl
    done
    cmp 1.csv 2.csv && cmp 1.csv 5.csv && cmp 1.pftrace 2.pftrace && cmp 1.pftrace 5.pftrace
}

@test "a file that is cut is read up to its last whole record, and the loss is counted" {
    try 0 rocrec -q -z 0 -o t.rocl -- "$TRACED" events 20000
    size=$(wc -c <t.rocl)
    for part in 90 50 10; do
        head -c $((size * part / 100)) t.rocl >cut.rocl
        run rocpd2csv -q -o out -d csv cut.rocl
        [ "$status" -eq 1 ] || fail "$part %: status $status"
        [ "$(ranges cut.rocl)" -gt 0 ]
        [ "$(left_out "in a damaged or missing chunk")" -gt 0 ]
    done
    head -c 100 t.rocl >cut.rocl
    try 3 rocpd2csv -o out -d csv cut.rocl
    one_line rocpd2csv
    try 3 rocpd2csv --strict -o out -d csv <(head -c $((size / 2)) t.rocl)
}

@test "a byte that was changed is noticed" {
    try 0 rocrec -q -z 0 -o t.rocl -- "$TRACED" events 20000
    printf '\377' | dd of=t.rocl bs=1 seek=$(($(wc -c <t.rocl) - 3000)) conv=notrunc status=none
    run rocpd2csv -q -o out -d csv t.rocl
    [ "$status" -eq 1 ]
    got=$(ranges t.rocl)
    lost=$(left_out "in a damaged or missing chunk")
    # A range has two events, and may have lost one of them: then it is there up to the last event,
    # or not at all.
    [ $((2 * got + lost)) -ge 39999 ]
    [ $((2 * got + lost)) -le 40001 ]
    [ "$lost" -gt 0 ]
}

@test "cut in the first bytes of a chunk: that is counted" {
    try 0 rocrec -q -z 0 -o t.rocl -- "$TRACED" churn 4 4
    at=$(rocrec --dump t.rocl | sed -n 's/^chunk at \([0-9]*\):.*/\1/p' | tail -n 1)
    for n in 1 4 7 8 100; do
        head -c $((at + n)) t.rocl >cut.rocl
        same "$(ranges cut.rocl)" 12
        same "$(left_out "in a damaged or missing chunk")" 1
    done
}

@test "cut between two chunks: that is counted, too" {
    local at n=0 all
    for mode in "churn 4 4" "events 200000" "threads 3 20000" "stops"; do
        # shellcheck disable=SC2086
        try 0 rocrec -q -z 0 -o t.rocl -- "$TRACED" $mode
        all=$(ranges t.rocl)
        [ ! -s ranges.err ] || fail "$mode: $(cat ranges.err)"
        [[ $mode = stops ]] || [ "$(rocpd2csv -v -d csv t.rocl 2>&1 | grep -c 'to their end')" -eq 0 ] ||
            fail "$mode came to its end"
        for at in $(rocrec --dump t.rocl | sed -n 's/^chunk at \([0-9]*\):.*/\1/p' | tail -n +2); do
            head -c "$at" t.rocl >cut.rocl
            [ "$(ranges cut.rocl)" -le "$all" ]
            # A child that ends by _exit says nothing of its chunks.
            [ "$(left_out "in a damaged or missing chunk")" -gt 0 ] || [[ $mode = stops ]] ||
                fail "$mode, cut at $at: no loss is told"
            n=$((n + 1))
        done
    done
    [ $n -gt 10 ]
}

@test "a program that was killed: nothing is lost, and -v says that it did not end" {
    for level in 0 2; do
        run rocrec -q -z $level -o t.rocl -- "$TRACED" crash 100000 9
        try 0 rocpd2csv -v -d csv t.rocl
        says "1 of 1 processes did not end by exit"
        same "$(ranges t.rocl)" 100000
        [ ! -s ranges.err ] || fail "$(cat ranges.err)"
        rocrec --dump t.rocl | grep -q 'not closed' || fail "it should not look closed"
        # A chunk that was closed before has one behind it.
        at=$(rocrec --dump t.rocl | sed -n 's/^chunk at \([0-9]*\):.*/\1/p' | tail -n 1)
        head -c "$at" t.rocl >cut.rocl
        [ "$(ranges cut.rocl)" -lt 100000 ]
        same "$(left_out "in a damaged or missing chunk")" 1
    done
}

@test "an OTF2 archive, or a word before the command is run" {
    if rocpd2otf2 --version | grep -q OTF2; then
        try 0 rocrec -o t.otf2 -- "$TRACED" events 300
        one_line rocrec
        says "t.otf2: 300 events of 1 process, 0 dropped"
        [ -z "$(find . -name "*.rocl*")" ] || fail "what the processes wrote is left"
        [ "$("$BUILD/tests/otf2dump" t.otf2 | grep -c '^slice')" -eq 300 ]
    else
        try 2 rocrec -o t.otf2 -- touch ran
        says "built without libotf2"
    fi
    try 2 rocrec --format otf2 -o other -- touch ran
    [ ! -e ran ] || fail "the command was run"
}

@test "--dump says what is missing, and stops when nobody reads on" {
    try 0 rocrec -q -z 0 -o t.rocl -- "$TRACED" events 20000
    try 0 rocrec --dump t.rocl
    [ -z "$stderr" ] || fail "nothing should be said"
    head -c 30000 t.rocl >cut.rocl
    try 1 rocrec --dump cut.rocl
    one_line rocrec
    says "in a damaged or missing chunk"
    { cat t.rocl && echo garbage; } >long.rocl
    try 1 rocrec --dump long.rocl
    [ "${lines[-1]}" = "damaged or cut off, no chunk: 1" ] || fail "the end is not named"
    run --separate-stderr bash -c 'rocrec --dump t.rocl | head -n 1'
    [ -z "$stderr" ] || fail "nothing should be said"
    try 4 bash -c 'rocrec --dump t.rocl >/dev/full'
    one_line rocrec
}

@test "a file whose first bytes were changed: its other chunks are read" {
    for z in 0 2; do
        try 0 rocrec -q -z $z -o t.rocl -- "$TRACED" churn 4 4
        for n in 0 7; do
            flip t.rocl $n >bad.rocl
            same "$(ranges bad.rocl)" 16
            same "$(left_out "in a damaged or missing chunk")" 1
        done
    done
    # Without any there is nothing to read.
    head -c 200 t.rocl | tail -c +2 >bad.rocl
    try 3 rocpd2csv -o - --kinds marker bad.rocl
    one_line rocpd2csv
}

@test "a header that was changed is of no chunk and of no process" {
    try 0 rocrec -q -z 0 -o t.rocl -- "$TRACED" churn 4 4
    at=$(rocrec --dump t.rocl | sed -n 's/^chunk at \([0-9]*\):.*/\1/p' | tail -n 2 | head -n 1)
    # pid, writer, seq, size, process, the clock.
    for n in 96 104 88 33 34 80 136; do
        flip t.rocl $((at + n)) >bad.rocl
        same "$(ranges bad.rocl)" 12
        same "$(left_out "in a damaged or missing chunk")" 1
    done
}

@test "of copies of a chunk the one that has most is read" {
    try 0 rocrec -q -z 0 -o t.rocl -- "$TRACED" events 20000
    flip t.rocl 5000 >bad.rocl
    [ "$(ranges bad.rocl)" -lt 20000 ]
    cat bad.rocl t.rocl >joined.rocl
    same "$(ranges joined.rocl)" 20000
}

@test "a version or a feature that is not known is refused" {
    try 0 rocrec -q -o t.rocl -- "$TRACED" events 10
    cp t.rocl v.rocl
    printf '\002' | dd of=v.rocl bs=1 seek=8 conv=notrunc status=none
    try 3 rocstats v.rocl
    says "chunks of version 2.3: this rocline reads 1.x"
    printf '\200' | dd of=t.rocl bs=1 seek=20 conv=notrunc status=none
    try 3 rocstats t.rocl
    says "chunks with unknown features: 0x8"
}

@test "every byte is what rocl(5) says" {
    needs python3
    mkdir raw
    rocrec -q -d raw -- "$TRACED" markers
    rocrec -q -d raw -- "$TRACED" gpu 3000
    rocrec -q -d raw -- "$TRACED" names
    rocrec -q -d raw -- "$TRACED" deep 100 20000
    rocrec -q -d raw --limit 1m -- "$TRACED" events 300000
    for level in 0 6; do
        rocrec -q -z $level -d raw -o t$level.rocl -- "$TRACED" forks 4 10
    done
    for f in t0.rocl t6.rocl raw/*.rocl; do
        python3 "$TOP/tests/tools/rocl_decode.py" "$f" >"$(basename "$f").txt" || fail "$f"
        # As many records as the tool prints.
        rocrec --dump "$f" | awk '!/^chunk/ { print $1 }' | sort | uniq -c >a
        awk '$1 != "chunk" && /^ / { print $1 }' "$(basename "$f").txt" | sort | uniq -c >b
        diff a b
    done
}

# ---- libraries -------------------------------------------------------------------------------------

@test "the libraries need libc only, and stay loaded" {
    readelf -d "$LIBRARIES"/librocline-capture.so.? | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' >needed
    run ! grep -v '^libc\.so\|^ld-linux\|^libpthread' needed
    readelf -d "$LIBRARIES"/librocline-capture.so.? | grep -q NODELETE
    nm -D --defined-only "$LIBRARIES"/librocline-capture.so.? | awk '{ print $3 }' >exported
    # And the calls that it has to see.
    seen='chroot|prctl|set(|e|re|res)uid|syscall'
    run ! grep -Ev "^(rocl_.*|$seen)\$" exported
    nm -D --defined-only "$LIBRARIES"/libroctx64.so.4 | awk '$2 == "T" { print $3 }' >exported
    run ! grep -Ev "^(roctx.*@@ROCTX_4.1|$seen)\$" exported
    same "$(grep -c '^roctx' exported)" 15
}

@test "descriptors that the caller has closed are closed for the command" {
    for closed in 0 1 2 "0 1 2"; do
        # shellcheck disable=SC2016
        script='for n in 0 1 2; do [ -e /proc/$$/fd/$n ] || found="$found $n"; done; echo $found >found'
        (for n in $closed; do eval "exec $n>&-"; done; exec rocrec -q -- sh -c "$script")
        [ "$(cat found)" = "$closed" ] || fail "$closed: $(cat found)"
    done
}

@test "any program can be run with it" {
    try 0 rocrec -q -- sh -c 'echo out; echo err >&2; exec true'
    [ "$output" = out ]
    [ "$stderr" = err ]
    for tool in ls "sort --version" "jq -n 1" "sqlite3 :memory: .tables"; do
        # shellcheck disable=SC2086
        rocrec -q -- $tool >/dev/null
    done
}

@test "a front end that this build lacks is wrong usage, before the command is run" {
    mkdir -p there/bin there/lib/rocline
    cp "$BUILD/bin/rocrec" there/bin
    cp -P "$LIBRARIES"/libroctx64* "$LIBRARIES"/librocline-capture* there/lib/rocline
    for use in "-u hip" "-u roctx,hsa" --hsa-calls --args; do
        # shellcheck disable=SC2086
        try 2 there/bin/rocrec $use -- touch ran
        says "this build has no front end"
    done
    try 2 rocrec -u roctx --hsa-calls=core -- touch ran
    try 2 rocrec -u roctx --args -- touch ran
    [ ! -e ran ] || fail "the command was run"
    try 0 there/bin/rocrec -q -u roctx -o t.rocl -- "$TRACED" events 10
    same "$(ranges t.rocl)" 10
}

@test "words of the command line" {
    try 2 rocrec
    says "no command is given"
    try 2 rocrec --dump
    try 2 rocrec -o - -- true
    try 2 rocrec --use nonsense -- true
    says 'there is no front end "nonsense"'
    # Options of the command are its own.
    try 0 rocrec -q -- sh -c 'echo "$@"' x -o --help
    [ "$output" = "-o --help" ]
    try 0 rocrec -q sh -c 'echo "$@"' x -q
    [ "$output" = "-q" ]
    try 3 rocrec --dump "$BATS_TEST_FILENAME"
}
