#!/usr/bin/env bash
# Measures the tools against a program that only steps the columns they need (floor), all in one go so
# that they share the state of the machine. Usage: tests/bench/run.sh BUILD [ROWS [RUNS]]
# Runs are interleaved; wall and CPU time are the smallest of RUNS, memory is the largest.
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/bench/measure.bash
db=$dir/$rows.db
results=$dir/results.tsv
mkdir -p "$dir"

make_database "$db"
bytes=$(stat -c %s "$db")
echo "$(nproc) cores, $(awk "BEGIN { printf \"%.1f\", $bytes / 1e6 }") MB of database, $rows rows, $runs runs, load $(cut -d' ' -f1-3 /proc/loadavg)"
"$build/bin/rocpd2csv" --version | head -1
cat "$db" >/dev/null # from the page cache for everybody

# name, then the command; appends "name wall cpu peak" to the results. An output of before is out of the
# way: to replace one that is so large takes time of its own. Archives have many files, and ext4 looks long
# for a place for new ones where others were removed within the last 5 seconds.
measure() {
    local name=$1
    shift
    clear_out
    timed "$@"
    note "$name"
}

: >"$results"
for _ in $(seq "$runs"); do
    rm -rf "$dir/archives"
    measure pftrace-floor "$build/tests/floor" pftrace "$db"
    keep yardstick
    measure csv-floor "$build/tests/floor" csv "$db"
    measure floors-at-once bash -c '"$0" pftrace "$1" & "$0" pftrace "$1"; wait' "$build/tests/floor" "$db"
    for jobs in 1 2; do
        pftrace=("$build/bin/rocpd2pftrace" -q -j"$jobs" -o "$dir/out/t.pftrace")
        measure "pftrace-j$jobs" "${pftrace[@]}" "$db"
        measure "pftrace-z0-j$jobs" "${pftrace[@]}" -z0 "$db"
        measure "csv-j$jobs" "$build/bin/rocpd2csv" -q -j"$jobs" -d "$dir/out" "$db"
        measure "csv-gz-j$jobs" "$build/bin/rocpd2csv" -q -j"$jobs" --gzip -d "$dir/out" "$db"
        for format in parquet arrow jsonl; do
            measure "$format-j$jobs" "$build/bin/rocline" export -q -j"$jobs" -f "$format" \
                -d "$dir/out" "$db"
        done
        stats=("$build/bin/rocstats" -q -j"$jobs" --format json -o "$dir/out/stats.json")
        measure "summary-j$jobs" "${stats[@]}" summary "$db"
        measure "overview-j$jobs" "$build/bin/rocstats" -q -j"$jobs" -o "$dir/out/overview.txt" "$db"
        measure "stats-j$jobs" "${stats[@]}" all "$db"
    done
    measure csv-sqlite-reader "$build/bin/rocpd2csv" -q -j1 --reader sqlite -d "$dir/out" "$db"
    if command -v sqlite3 >/dev/null; then
        measure csv-sqlite3-shell sqlite3 -readonly -csv "$db" \
            ".once $dir/out/shell.csv" "SELECT * FROM rocpd_region" \
            ".once $dir/out/shell2.csv" "SELECT * FROM rocpd_kernel_dispatch"
    fi
    "$build/bin/rocpd2otf2" --version | grep -q OTF2 || continue
    sleep 6
    for jobs in 1 2; do
        measure "otf2-j$jobs" "$build/bin/rocpd2otf2" -q -j"$jobs" -o "$dir/archives/$jobs/t.otf2" "$db"
    done
done
rm -rf "$dir/out" "$dir/archives"

echo
awk -F'\t' '
    !($1 in wall) { order[++n] = $1; wall[$1] = $2; cpu[$1] = $3 }
    { if ($2 < wall[$1]) wall[$1] = $2; if ($3 < cpu[$1]) cpu[$1] = $3; if ($4 > peak[$1]) peak[$1] = $4 }
    END {
        printf "%-18s %8s %8s %9s %11s %10s %11s %8s\n", "", "wall s", "cpu s", "peak MiB", "wall/floor",
            "cpu/floor", "1e6 rows/s", "MB/s"
        for (i = 1; i <= n; i++) {
            k = order[i]
            floor = (k ~ /^csv/ ? "csv" : "pftrace") "-floor"
            printf "%-18s %8.2f %8.2f %9.1f %11.2f %10.2f %11.2f %8.0f\n", k, wall[k], cpu[k], peak[k] / 1024,
                wall[k] / wall[floor], cpu[k] / cpu[floor], rows / 1e6 / wall[k], bytes / 1e6 / wall[k]
        }
        printf "\ntimes that -j2 is faster than -j1:"
        for (i = 1; i <= n; i++)
            if ((k = order[i]) ~ /-j1$/ && (two = substr(k, 1, length(k) - 1) 2) in wall)
                printf " %s %.2f", substr(k, 1, length(k) - 3), wall[k] / wall[two]
        printf "; at most, as two floors at once %.2f\n", 2 * wall["pftrace-floor"] / wall["floors-at-once"]
    }' rows="$rows" bytes="$bytes" "$results"

echo
echo "the reader alone, 1e6 rows/s"
"$build/tests/readers" "$db"

# "PATH: N bytes, M slices, ..." is what -v says.
for z in '' -z0; do
    "$build/bin/rocpd2pftrace" -v ${z:+$z} -o "$dir/t.pftrace" "$db" 2>&1 |
        sed -n 's/.*: \([0-9]*\) bytes, \([0-9]*\) slices.*/\1 \2/p' |
        awk '{ printf "pftrace %s: %.1f bytes per slice (%d bytes, %d slices)\n", z, $1 / $2, $1, $2 }' \
            z="${z:-compressed}"
done
