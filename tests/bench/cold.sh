#!/usr/bin/env bash
# Measures reading a database that is not in the page cache, beside the same from the page cache and a
# copy of the file to nowhere. Usage: tests/bench/cold.sh BUILD [ROWS [RUNS]]
# Runs are interleaved; times are the smallest of RUNS.
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/bench/measure.bash
db=$dir/$rows.db
results=$dir/cold.tsv
drop=/proc/sys/vm/drop_caches
mkdir -p "$dir"

[ -w $drop ] || { echo "cold: skipped, $drop is not to be written"; exit 0; }
make_database "$db"
echo "cold: $(nproc) cores, $rows rows, $runs runs, load $(cut -d' ' -f1-3 /proc/loadavg)"

# name, then the command; appends "name cold warm" to the results.
measure() {
    local name=$1 line=$1 state
    shift
    for state in cold warm; do
        clear_out
        sync
        [ $state = warm ] || echo 3 >$drop
        timed "$@"
        line+=$'\t'$(cut -f1 "$dir/one")
        keep "$name, $state"
    done
    echo "$line" >>"$results"
}

: >"$results"
for _ in $(seq "$runs"); do
    yardstick
    measure dd dd bs=4M if="$db" of=/dev/null
    for jobs in 1 2; do
        measure "pftrace-j$jobs" "$build/bin/rocpd2pftrace" -q -j"$jobs" -o "$dir/out/t.pftrace" "$db"
        measure "csv-j$jobs" "$build/bin/rocpd2csv" -q -j"$jobs" -d "$dir/out" "$db"
        measure "summary-j$jobs" "$build/bin/rocstats" -q -j"$jobs" --format json \
            -o "$dir/out/stats.json" summary "$db"
    done
done
rm -rf "$dir/out"

awk -F'\t' '
    !($1 in cold) { order[++n] = $1; cold[$1] = $2; warm[$1] = $3 }
    { if ($2 < cold[$1]) cold[$1] = $2; if ($3 < warm[$1]) warm[$1] = $3 }
    END {
        printf "%-12s %8s %8s %10s\n", "", "cold s", "warm s", "cold/warm"
        for (i = 1; i <= n; i++) {
            k = order[i]
            printf "%-12s %8.2f %8.2f %10.2f\n", k, cold[k], warm[k], cold[k] / warm[k]
        }
    }' "$results"
