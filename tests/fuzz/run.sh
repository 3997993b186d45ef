#!/usr/bin/env bash
# Runs every fuzz target of a build by clang: first the corpus in the tree, whose edges must not fall
# below those in tests/fuzz/edges, then new inputs. A line of figures for each target.
# Usage: tests/fuzz/run.sh BUILD SECONDS [TARGET...]   SECONDS for each target; 0: the corpus only
#        TOTAL=60 tests/fuzz/run.sh BUILD 0            60 s for all of them together
# EDGES=1 writes tests/fuzz/edges anew, 5 % below what was measured. They are those of builds with
# sanitizers, which have edges of their own: FLOORS=/dev/null is for a build without.
# -entropic=0: how libFuzzer weighs inputs by rare features takes several times longer than a target
# that has 10^4 edges and runs thousands of times a second.
set -u
build=$(realpath "$1") seconds=$2
shift 2
cd "$(dirname "$0")/../.." || exit 5
targets=("$@")
[ $# -gt 0 ] || mapfile -t targets < <(cd tests/fuzz && printf '%s\n' fuzz_*.c | sed 's/\.c$//')
[ -z "${TOTAL:-}" ] || seconds=$((TOTAL / ${#targets[@]} > 0 ? TOTAL / ${#targets[@]} : 1))
floors=${FLOORS:-tests/fuzz/edges} new=$build/edges failed=0
: >"$new"

# The last figure that a log of libFuzzer has behind a word.
figure() { grep -o "$1 *[0-9]*" "$2" | tail -1 | grep -o '[0-9]*$'; }

printf '%-22s %10s %10s %8s %8s\n' target executions per_second edges floor
for t in "${targets[@]}"; do
    log=$build/$t.log found='' runs=0 rate=-
    mkdir -p "$build/corpus/$t"
    if ! "$build/tests/$t" -runs=0 -timeout=60 -rss_limit_mb=2048 -artifact_prefix="$build/$t-" \
        "tests/fuzz/corpus/$t" >"$log" 2>&1; then
        found='FAILED at its corpus'
    fi
    edges=$(figure cov: "$log")
    floor=$(sed -n "s/^$t //p" "$floors")
    echo "$t $((${edges:-0} * 95 / 100))" >>"$new"
    [ -z "$found" ] && [ "${edges:-0}" -lt "${floor:-0}" ] && [ -z "${EDGES:-}" ] &&
        found='FEWER EDGES than it had: the corpus lost its inputs, or the target its way'
    if [ -z "$found" ] && [ "$seconds" -gt 0 ]; then
        "$build/tests/$t" -entropic=0 -max_total_time="$seconds" -timeout=60 -rss_limit_mb=2048 \
            -print_final_stats=1 -artifact_prefix="$build/$t-" "$build/corpus/$t" \
            "tests/fuzz/corpus/$t" >"$log" 2>&1 || found='FOUND something'
        runs=$(figure 'number_of_executed_units:' "$log")
        rate=$(figure 'average_exec_per_sec:' "$log")
        edges=$(figure cov: "$log")
    fi
    printf '%-22s %10s %10s %8s %8s  %s\n' "$t" "${runs:-?}" "${rate:-?}" "${edges:-?}" "${floor:-0}" "$found"
    [ -z "$found" ] && continue
    failed=1
    grep -E 'ERROR|runtime error|Test unit' "$log" | head -3 | sed 's/^/    /'
done
[ -z "${EDGES:-}" ] || cp "$new" "$floors"
exit "$failed"
