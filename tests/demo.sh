#!/bin/sh
# Converts the shipped trace, prints where its time went, and says where the results are and how to
# look at them.
# Usage: tests/demo.sh BUILD
set -eu
build=${1:-build}
out=$build/demo
trace=tests/fixtures/demo.db
[ -f "$trace" ] || { echo "$trace is missing" >&2; exit 3; }
rm -rf "$out"

# Exit code 1 says that broken records were counted: still a result to look at.
run() {
    echo "\$ $*"
    "$@" || [ $? -eq 1 ]
}

run "$build/bin/rocpd2pftrace" -v -d "$out" -o demo "$trace"
run "$build/bin/rocpd2csv" -v -d "$out" -o demo "$trace"

echo
run "$build/bin/rocstats" -q "$trace"

echo
echo "Files, with their sizes in bytes:"
wc -c "$trace" "$out"/* | sed '$d'
for f in "$out"/demo_kernel_trace.csv "$out"/demo_hip_api_trace.csv; do
    [ -f "$f" ] || continue
    echo
    echo "$f begins with"
    head -3 "$f" | cut -c1-150
done
cat <<END

To look at the timeline: open https://ui.perfetto.dev in a browser, choose "Open trace file" and
take
    $(realpath "$out/demo_results.pftrace")
The trace stays on your machine. The plugins for GPU work are switched on by this address:
    https://ui.perfetto.dev/#!/?enablePlugins=dev.perfetto.GpuByProcess,com.meta.GpuCompute
END
