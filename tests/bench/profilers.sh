#!/usr/bin/env bash
# Measures `rocstats summary` of what the older profilers and PyTorch wrote, against a bare read of the
# file (see bare.c) and against Python that makes the same sums, all in one run.
# Usage: tests/bench/profilers.sh BUILD [ROWS [RUNS]]: ROWS records in each file
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/bench/measure.bash
made=$dir/profilers-$rows
results=$dir/profilers.tsv
mkdir -p "$made"

make_rows() { awk -v format="$1" -v rows="$rows" -f tests/bench/profilers.awk; }

# make_db FILE TABLE...: as rocprof's results.db
make_db() {
    local file=$1 table
    shift
    {
        cat tests/bench/profilers.sql
        for table in "$@"; do
            echo ".import \"|awk -v format=${table,,}-table -v rows=$rows -f tests/bench/profilers.awk\" $table"
        done
    } | sqlite3 "$file"
}

make_file() { # format file
    case $1 in
    v3) awk -v version=7.0 -v rows=$((rows / 2)) -v symbols=9889 -f tests/fixtures/rocprofv3_json.awk >"$2" ;;
    db) make_db "$2" HIP OPS ;;
    pftrace) # of a database with as many rows
        "$build/tests/rocpd-gen" -o "$2.db" --rows "$rows" >/dev/null
        "$build/bin/rocpd2pftrace" -q -z0 -o "$2.pftrace" "$2.db"
        mv "$2.pftrace" "$2"
        rm "$2.db"
        ;;
    kern-db) make_db "$2" KERN ;;
    rpd) sed "s/@ROWS@/$((rows / 2))/" tests/bench/rpd.sql | sqlite3 "$2" >/dev/null ;;
    *) make_rows "$1" >"$2" ;;
    esac
}

# What is read, its format, how it is read at least
inputs="hip_api_trace.csv hip-csv lines
kernel_trace.csv kernel-csv lines
hip_api_trace.txt hip-txt lines
hsa_api_trace.txt hsa-txt lines
hcc_ops_trace.txt ops-txt lines
roctx_trace.txt roctx-txt lines
results.txt results-txt lines
results.json json json
rocprofv3.json v3 json
kineto.json kineto json
plain.pftrace pftrace proto"
! command -v sqlite3 >/dev/null || inputs+="
results.db db db
counters.db kern-db db
trace.rpd rpd db"

while read -r name format _; do
    [ ! -f "$made/$name" ] || continue
    echo "making $made/$name"
    rm -f "$made/new"
    make_file "$format" "$made/new"
    mv "$made/new" "$made/$name"
done <<<"$inputs"
echo "$(nproc) cores, $rows records in each file, $runs runs, load $(cut -d' ' -f1-3 /proc/loadavg)"

measure() { # file size name command...
    local file=$1 size=$2 name=$3
    shift 3
    timed "$@"
    row="$file $name" note "$file" "$size" "$name"
}

python=$(command -v python3 || true)
pandas= # the first Python that has it
for one in python3 /usr/bin/python3; do
    [ -n "$pandas" ] || ! "$one" -c 'import pandas' 2>/dev/null || pandas=$one
done
: >"$results"
for turn in $(seq "$runs"); do
    yardstick
    while read -r name _ floor; do
        file=$made/$name size=$(stat -c %s "$made/$name")
        cat "$file" >/dev/null # from the page cache for everybody
        measure "$name" "$size" bare "$build/tests/bare" "$floor" "$file"
        for jobs in 1 2; do
            measure "$name" "$size" "j$jobs" "$build/bin/rocstats" -q -j"$jobs" summary "$file"
        done
        [ "$turn" = 1 ] || continue
        [ -z "$python" ] || [ "$floor" = proto ] ||
            measure "$name" "$size" python "$python" tests/bench/profilers.py "$file"
        [ -z "$pandas" ] || [ "$name" = kineto.json ] || { [ "${name##*.}" != csv ] && [ "$floor" != json ]; } ||
            measure "$name" "$size" pandas "$pandas" tests/bench/profilers.py --pandas "$file"
    done <<<"$inputs"
done

echo
awk -F'\t' -v rows="$rows" '
    !($1 in size) { order[++n] = $1; size[$1] = $2 }
    { k = $1 SUBSEP $3 }
    !(k in wall) { wall[k] = $4; cpu[k] = $5 }
    { if ($4 < wall[k]) wall[k] = $4; if ($5 < cpu[k]) cpu[k] = $5; if ($6 > peak[k]) peak[k] = $6 }
    function ratio(a, b) { return b > 0 ? sprintf("%.1f", a / b) : "-" }
    END {
        printf "%-18s %6s %7s %7s %8s %9s %8s %8s %9s %7s %8s %8s %10s %11s\n", "rocstats summary", "MB", "cpu s", "wall s",
            "MB/cpu s", "1e6 r/cpu s", "peak MiB", "cpu/bare", "-j2 wall", "peak", "py/cpu", "py/wall", "pandas/cpu",
            "pandas/wall"
        for (i = 1; i <= n; i++) {
            f = order[i]; one = f SUBSEP "j1"; two = f SUBSEP "j2"; py = f SUBSEP "python"
            records = f == "results.db" ? 2 * rows : rows
            printf "%-18s %6.1f %7.2f %7.2f %8.0f %11.2f %8.1f %8s %9.2f %7.1f %8s %8s %10s %11s\n", f, size[f] / 1e6, cpu[one],
                wall[one], size[f] / 1e6 / cpu[one], records / 1e6 / cpu[one], peak[one] / 1024,
                ratio(cpu[one], cpu[f SUBSEP "bare"]), wall[two], peak[two] / 1024,
                py in cpu ? ratio(cpu[py], cpu[one]) : "-", py in wall ? ratio(wall[py], wall[two]) : "-",
                (f SUBSEP "pandas") in cpu ? ratio(cpu[f, "pandas"], cpu[one]) : "-",
                (f SUBSEP "pandas") in wall ? ratio(wall[f, "pandas"], wall[two]) : "-"
        }
        print "\npy/cpu: CPU time of Python to that of -j1; py/wall: its wall time to that of -j2; pandas: the same"
        print "of json.load() or read_csv(), tables of all records, and count, sum, mean, min, max, deviation by name"
    }' "$results"
