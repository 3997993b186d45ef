#!/usr/bin/env bash
# Runs every test that was built: unit programs, command line tests, golden outputs, the
# layers of the library, instructions that are taken, fuzz corpora. JOBS programs at once, as many as
# there are processors.
# Usage: tests/run.sh BUILD [GROUP...]   GROUP: unit, cli, layers, instructions, golden, property, faults, fuzz, or the name of one test program
# Everything speaks TAP; failed tests are printed with their output, then one line of totals.
set -u
cd "$(dirname "$0")/.." || exit 5
build=$(realpath "${1:-build}")
shift $(($# > 0 ? 1 : 0))
logs=$build/tests/log
mkdir -p "$logs"
export BUILD=$build CMOCKA_MESSAGE_OUTPUT=TAP
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1:halt_on_error=1}
export LSAN_OPTIONS=${LSAN_OPTIONS:-suppressions=$PWD/tests/lsan.supp:print_suppressions=0}
export FIXTURES=$build/fixtures
passed=0 failed=0 skipped=0

wanted() { # name group
    [ "${#groups[@]}" -eq 0 ] && return 0
    local g
    for g in "${groups[@]}"; do
        [ "$g" = "$1" ] || [ "$g" = "$2" ] && return 0
    done
    return 1
}

count() { grep -c "$1" "$2" || true; }

# The failed tests of a log, each with the lines that belong to it.
print_failures() {
    awk '/^(ok|not ok)/ { show = /^not ok/ } show { print "    " $0 }' "$1"
}

# Runs a program that prints TAP; what is to be said of it goes to standard output, what it counted to
# FILE.count.
run_tap() { # file name command...
    local file=$1 name=$2 log=$1.tap rc ok bad skip planned died='' began=$SECONDS
    shift 2
    "$@" >"$log" 2>&1
    rc=$?
    # cmocka 1.1.5 calls a skipped test "not ok N # SKIP name".
    sed -i 's/^not ok \([0-9]*\) # SKIP/ok \1 # SKIP/' "$log"
    skip=$(count '^ok .*# *[sS][kK][iI][pP]' "$log")
    ok=$(($(count '^ok ' "$log") - skip))
    bad=$(count '^not ok ' "$log")
    planned=$(sed -n 's/^1\.\.\([0-9]*\).*/\1/p' "$log" | head -1)
    # A program that died is one failure more, whatever it had said before.
    if [ "$rc" -ne 0 ] && [ "$bad" -eq 0 ]; then
        died="exit code $rc"
    elif [ -n "$planned" ] && [ $((ok + bad + skip)) -lt "$planned" ]; then
        died="$((planned - ok - bad - skip)) of $planned tests did not run (exit code $rc)"
    fi
    [ -z "$died" ] || bad=$((bad + 1))
    printf '  %-28s %4d passed' "$name" "$ok"
    [ "$skip" -eq 0 ] || printf ', %d skipped' "$skip"
    [ "$bad" -eq 0 ] || printf ', %d FAILED' "$bad"
    [ $((SECONDS - began)) -lt 10 ] || printf ' (%d s)' $((SECONDS - began))
    echo
    [ "$bad" -eq 0 ] || print_failures "$log"
    if [ -n "$died" ]; then
        echo "    $name: $died; the end of its output:"
        tail -25 "$log" | sed 's/^/      /'
    fi
    [[ $name != fuzz/* ]] || sed -n 's/^# /      /p' "$log"
    echo "$ok $bad $skip" >"$file.count"
}

# As many at once as there are processors; what they say is printed in the order of their start.
jobs=${JOBS:-$(nproc)}
files=() told=0 running=0

tell_finished() {
    while [ "$told" -lt "${#files[@]}" ] && [ -f "${files[told]}.count" ]; do
        cat "${files[told]}.said"
        told=$((told + 1))
    done
}

wait_for_one() {
    wait -n
    running=$((running - 1))
    tell_finished
}

finish_all() {
    while [ "$running" -gt 0 ]; do
        wait_for_one
    done
}

start() { # name command...
    local file=$logs/${1//\//-}
    rm -f "$file.count"
    files+=("$file")
    [ "$running" -lt "$jobs" ] || wait_for_one
    run_tap "$file" "$@" >"$file.said" 2>&1 &
    running=$((running + 1))
}

# A program whose source is gone is a leftover.
built() { # program folder
    [ -x "$1" ] && [ -f "tests/$2/$(basename "$1").c" ]
}

groups=("$@")
for t in "$build"/tests/test_*; do
    built "$t" unit || continue
    wanted "$(basename "$t")" unit &&
        start "unit/$(basename "$t" | sed 's/^test_//')" timeout 300 "$t"
done
old_bats=
bats --version 2>/dev/null | grep -qE '^Bats (0|1\.[0-4])\.' && old_bats="$(bats --version) is older than 1.5"
for t in tests/cli/*.bats; do
    [ -f "$t" ] || continue
    wanted "$(basename "$t" .bats)" cli || continue
    if [ -n "$old_bats" ]; then
        skipped=$((skipped + $(count '^@test' "$t")))
        printf '  %-28s skipped: %s\n' "cli/$(basename "$t" .bats)" "$old_bats"
        continue
    fi
    # These call make, which may build programs anew if its flags are others: nothing runs beside them.
    [[ $t == */info.bats || $t == */install.bats ]] && finish_all
    start "cli/$(basename "$t" .bats)" timeout 1200 bats --tap "$t"
    [[ $t == */info.bats || $t == */install.bats ]] && finish_all
done
wanted layers layers && start layers tests/layers.sh
wanted instructions instructions && start instructions tests/instructions.sh "$build"
if [ -x "$build/tests/soak" ] && wanted property property; then
    start property timeout 600 tests/property/soak.sh "$build" 60 1 --tap
fi
if [ -x "$build/tests/rocpd-gen" ]; then
    wanted identity property && start identity timeout 300 tests/property/identity.sh "$build"
    wanted alone property && start alone timeout 300 tests/property/alone.sh "$build"
fi
if [ -x "$build/tests/faults" ] && wanted faults faults; then
    start faults timeout 600 tests/faults.sh "$build" --rounds 700 --seed 1 --tap
fi
wanted golden golden && start golden timeout 600 tests/golden.sh "$build"
# A minute for the mutations of all targets.
mapfile -t targets < <(printf '%s\n' "$build"/tests/fuzz_*)
for t in "${targets[@]}"; do
    built "$t" fuzz || continue
    name=$(basename "$t")
    wanted "$name" fuzz || continue
    start "fuzz/${name#fuzz_}" timeout 300 "$t" --seconds "$((6000 / ${#targets[@]}))e-2" tests/fuzz/corpus/"$name"/*
done
finish_all
for file in "${files[@]}"; do
    ok=0 bad=1 skip=0
    read -r ok bad skip <"$file.count"
    passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
done

printf '%d passed, %d failed' "$passed" "$failed"
[ "$skipped" -eq 0 ] || printf ', %d skipped' "$skipped"
echo
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
