#!/usr/bin/env bash
# Measures that many inputs cost what their rows cost: the same rows in 1, 4, 64 and 256 databases,
# with no more than 64 open files. Usage: tests/bench/many.sh BUILD [ROWS [RUNS]]
# Wall and CPU time are the smallest of RUNS, memory and open files the largest.
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/bench/measure.bash
dir=$dir/many
results=$dir/results.tsv
counts=(1 4 64 256)
mkdir -p "$dir"

for n in "${counts[@]}"; do
    [ -d "$dir/$rows.$n" ] && continue
    echo "making $n databases with $rows rows"
    rm -rf "$dir/new" && mkdir "$dir/new"
    "$build/tests/rocpd-gen" -o "$dir/new/rank%r.db" --rows $((rows / n)) --processes "$n" \
        --nodes $(((n + 7) / 8)) --kernels 12
    mv "$dir/new" "$dir/$rows.$n"
done

# name, number of inputs, then the command
measure() {
    local name=$1 n=$2
    shift 2
    (ulimit -n 64 && timed "$@")
    row="$name, $n inputs" note "$name" "$n"
}

: >"$results"
for _ in $(seq "$runs"); do
    yardstick
    for n in "${counts[@]}"; do
        in=("$dir/$rows.$n"/*.db)
        cat "${in[@]}" >/dev/null
        rm -rf "$dir/csv" "$dir/csv3"
        measure csv "$n" "$build/bin/rocpd2csv" -q -j1 -d "$dir/csv" "${in[@]}"
        measure csv-rocprofv3 "$n" "$build/bin/rocpd2csv" -q -j1 --style rocprofv3 -d "$dir/csv3" \
            "${in[@]}"
        measure pftrace "$n" "$build/bin/rocpd2pftrace" -q -j1 -o "$dir/t.pftrace" "${in[@]}"
        measure pftrace-j2 "$n" "$build/bin/rocpd2pftrace" -q -j2 -o "$dir/t.pftrace" "${in[@]}"
        measure pftrace-align "$n" "$build/bin/rocpd2pftrace" -q -j1 --align start \
            -o "$dir/t.pftrace" "${in[@]}"
        measure json "$n" "$build/bin/rtg2json" -q -j1 -f -o "$dir/t.json" "${in[@]}"
        measure stats "$n" "$build/bin/rocstats" -q -j1 all --format json -o "$dir/s.json" "${in[@]}"
    done
done

echo
awk -F'\t' '
    { k = $1 SUBSEP $2 }
    !($1 in seen) { order[++n] = $1; seen[$1] = 1 }
    !(k in wall) { wall[k] = $3; cpu[k] = $4 }
    { if ($3 < wall[k]) wall[k] = $3; if ($4 < cpu[k]) cpu[k] = $4; if ($5 > peak[k]) peak[k] = $5 }
    END {
        m = split(counts, c, " ")
        printf "%-16s", "inputs"
        for (j = 1; j <= m; j++) printf " %22d", c[j]
        printf "\n%-16s", ""
        for (j = 1; j <= m; j++) printf " %7s %7s %6s", "wall s", "cpu s", "MiB"
        printf "\n"
        for (i = 1; i <= n; i++) {
            printf "%-16s", order[i]
            for (j = 1; j <= m; j++) {
                k = order[i] SUBSEP c[j]
                printf " %7.2f %7.2f %6.1f", wall[k], cpu[k], peak[k] / 1024
            }
            printf "\n"
        }
    }' counts="${counts[*]}" "$results"
