#!/usr/bin/env bash
# Measures the reading of JSON of rocprofv3, against Python's json.load with the sums of the kernels,
# where there is python3, all in one run.
# Usage: tests/bench/rocprofv3.sh BUILD [DISPATCHES [RUNS]]
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/bench/measure.bash
file=$dir/v3-$rows.json
results=$dir/rocprofv3.tsv
mkdir -p "$dir"
if [ ! -f "$file" ]; then
    echo "making $file"
    awk -v version=7.0 -v rows="$rows" -v symbols=9889 -f tests/fixtures/rocprofv3_json.awk >"$file.new"
    mv "$file.new" "$file"
fi
cat "$file" >/dev/null # from the page cache for everybody
size=$(stat -c %s "$file")
echo "$(nproc) cores, $rows dispatches and as many calls: $size bytes, $runs runs, load $(cut -d' ' -f1-3 /proc/loadavg)"

measure() { # name command...
    local name=$1
    shift
    timed "$@"
    note "$name"
}

: >"$results"
for _ in $(seq "$runs"); do
    yardstick
    ! command -v python3 >/dev/null || measure python3 python3 -c '
import collections, json, sys
p = json.load(open(sys.argv[1]))["rocprofiler-sdk-tool"][0]
names = {s["kernel_id"]: s["formatted_kernel_name"] for s in p["kernel_symbols"]}
total = collections.Counter()
for r in p["buffer_records"]["kernel_dispatch"]:
    total[names[r["dispatch_info"]["kernel_id"]]] += r["end_timestamp"] - r["start_timestamp"]
print(total)' "$file"
    for jobs in 1 2; do
        measure "summary-j$jobs" "$build/bin/rocstats" -q -j"$jobs" summary "$file"
        measure "pftrace-j$jobs" "$build/bin/rocpd2pftrace" -q -j"$jobs" -z 0 --args -o "$dir/t.pftrace" "$file"
        measure "csv-j$jobs" "$build/bin/rocpd2csv" -q -j"$jobs" -d "$dir/out" -o o "$file"
    done
done

echo
awk -F'\t' -v size="$size" '
    !($1 in wall) { order[++n] = $1; wall[$1] = $2; cpu[$1] = $3 }
    { if ($2 < wall[$1]) wall[$1] = $2; if ($3 < cpu[$1]) cpu[$1] = $3; if ($4 > peak[$1]) peak[$1] = $4 }
    END {
        printf "%-18s %8s %8s %9s %8s %12s %12s\n", "", "wall s", "cpu s", "peak MiB", "MB/cpu s", "python/wall", "python/cpu"
        for (i = 1; i <= n; i++) {
            k = order[i]
            printf "%-18s %8.2f %8.2f %9.1f %8.0f", k, wall[k], cpu[k], peak[k] / 1024, size / 1e6 / cpu[k]
            if ("python3" in wall)
                printf " %12.1f %12.1f", wall["python3"] / wall[k], cpu["python3"] / cpu[k]
            print ""
        }
    }' "$results"
