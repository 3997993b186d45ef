#!/usr/bin/env bash
# Measures what recording an event costs, against no recording, a tracer that prints lines, and
# LTTng-UST where it is installed. Usage: tests/bench/capture.sh BUILD [EVENTS [RUNS]]
# ns are CPU time of a thread per event, the smallest of RUNS.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ $# -ge 2 ] || set -- "${1:-build}" 5000000
source tests/bench/measure.bash
events=$rows dir=$dir/capture
mkdir -p "$dir"
cd "$dir"
overhead=$build/tests/overhead

smallest() { # command...
    local i
    for ((i = 0; i < runs; i++)); do "$@"; done | sort -g >"$dir/samples"
    head -1 "$dir/samples"
}

recorded() { # what threads
    rm -rf raw
    mkdir raw
    ROCLINE_OUTPUT=$PWD/raw "$overhead" "$1" "$events" "$2"
}

# A session daemon of our own, with its folders in ours.
lttng_session() {
    export LTTNG_HOME=$dir/lttng LTTNG_UST_REGISTER_TIMEOUT=-1
    rm -rf "$LTTNG_HOME"
    mkdir -p "$LTTNG_HOME"
    lttng-sessiond --no-kernel >/dev/null 2>&1 &
    daemon=$!
    trap 'lttng --no-sessiond destroy bench >/dev/null 2>&1; kill $daemon 2>/dev/null' EXIT
    until lttng --no-sessiond list >/dev/null 2>&1; do
        kill -0 $daemon 2>/dev/null || return 1
        sleep 0.1
    done
    lttng --no-sessiond create bench --output "$dir/lttng/trace" >/dev/null
    lttng --no-sessiond enable-channel -u --subbuf-size 4M --num-subbuf 8 big >/dev/null
    lttng --no-sessiond enable-event -u -c big rocline_bench:event >/dev/null
    lttng --no-sessiond start >/dev/null
}

row() { # name ns, the smallest of the samples
    local ns
    printf '%-44s %8s\n' "$1" "$2"
    while read -r ns; do
        printf '%s\t%s\t0\n' "$ns" "$ns" >"$dir/one"
        keep "$1"
    done <"$dir/samples"
    : >"$dir/samples"
}

echo "$(nproc) cores, $events events a thread, $runs runs, load $(cut -d' ' -f1-3 /proc/loadavg)"
for ((i = 0; i < runs; i++)); do yardstick; done
: >"$dir/samples"
row "" "ns/event"
row "a loop that does nothing" "$(smallest "$overhead" nothing "$events")"
row "reading the clock" "$(smallest recorded clock 1)"
row "range, nothing is recorded" "$(smallest "$overhead" ranges "$events")"
for threads in 1 2 4 8; do
    row "begin and end of a call, $threads threads" "$(smallest recorded regions "$threads")"
    row "begin and end of a range, $threads threads" "$(smallest recorded ranges "$threads")"
done
row "begin and end of a call of HIP, four arguments" "$(RTG_HIP_API_ARGS=1 smallest recorded args 1)"
row "range, with clock_gettime" "$(ROCLINE_CLOCK=monotonic smallest recorded ranges 1)"
row "fprintf and fflush (half a line), 1 thread" "$(smallest "$overhead" fprintf $((events / 10)))"
row "fprintf and fflush (half a line), 2 threads" "$(smallest "$overhead" fprintf $((events / 10)) 2)"
if "$overhead" lttng 10 >/dev/null && ldd "$overhead" | grep -q lttng && command -v lttng >/dev/null &&
    lttng_session; then
    lttng --version
    row "LTTng-UST, 1 thread" "$(smallest "$overhead" lttng "$events")"
    row "LTTng-UST, 2 threads" "$(smallest "$overhead" lttng "$events" 2)"
else
    row "LTTng-UST (not installed, or not running)" "-"
fi

without=$(smallest "$overhead" work 200000)
rm -rf raw
mkdir raw
with=$(ROCLINE_OUTPUT=$PWD/raw smallest "$overhead" work 200000)
echo
awk -v a="$without" -v b="$with" 'BEGIN {
    printf "%.0f events a second: %.3f s without, %.3f s with recording: %+.2f %%\n", 200000 / a, a, b,
        100 * (b / a - 1)
}'
rm -rf raw fprintf.txt
