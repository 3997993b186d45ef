#!/usr/bin/env bash
# Measures rocmerge on so many rows in 1, 4, 64 and 256 databases, and what a filter, --flat,
# --rebuild and --split cost. Usage: tests/bench/merge.sh BUILD [ROWS [RUNS]]
# Wall and CPU time are the smallest of RUNS, memory is the largest.
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/bench/measure.bash
dir=$dir/merge-$rows
results=$dir/results.tsv
mkdir -p "$dir"

for n in 1 4 64 256; do
    [ -d "$dir/$n" ] && continue
    echo "making $dir/$n"
    rm -rf "$dir/new"
    mkdir "$dir/new"
    "$build/tests/rocpd-gen" -o "$dir/new/r%r.db" --rows $((rows / n)) --processes $n --nodes $(((n + 7) / 8))
    mv "$dir/new" "$dir/$n"
done

# name, bytes of input, then the command; appends "name bytes wall cpu peak" to the results
measure() {
    local name=$1 bytes=$2
    shift 2
    cat "$dir/${name%%-*}"/*.db >/dev/null # from the page cache for everybody
    timed "$@"
    note "$name" "$bytes"
}

: >"$results"
for _ in $(seq "$runs"); do
    yardstick
    for n in 1 4 64 256; do
        bytes=$(cat "$dir/$n"/*.db | wc -c)
        measure "$n" "$bytes" "$build/bin/rocmerge" -q -o "$dir/all.db" "$dir/$n"
        measure "$n-flat" "$bytes" "$build/bin/rocmerge" -q --flat -o "$dir/all.db" "$dir/$n"
        measure "$n-rebuild" "$bytes" "$build/bin/rocmerge" -q --rebuild -o "$dir/all.db" "$dir/$n"
        measure "$n-half" "$bytes" "$build/bin/rocmerge" -q --end 50% -o "$dir/all.db" "$dir/$n"
        measure "$n-split" "$bytes" "$build/bin/rocmerge" -q --split 4 -o "$dir/all.db" "$dir/$n"
    done
done
rm -f "$dir"/all*.db

echo
awk -F'\t' '
    !($1 in wall) { order[++n] = $1; wall[$1] = $3; cpu[$1] = $4; bytes[$1] = $2 }
    { if ($3 < wall[$1]) wall[$1] = $3; if ($4 < cpu[$1]) cpu[$1] = $4; if ($5 > peak[$1]) peak[$1] = $5 }
    END {
        printf "%-18s %8s %8s %9s %8s\n", "databases", "wall s", "cpu s", "peak MiB", "MB/s"
        for (i = 1; i <= n; i++) {
            k = order[i]
            printf "%-18s %8.2f %8.2f %9.1f %8.0f\n", k, wall[k], cpu[k], peak[k] / 1024,
                bytes[k] / 1e6 / wall[k]
        }
    }' "$results"
