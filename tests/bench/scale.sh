#!/usr/bin/env bash
# What more cores would bring, from what can be measured on few: scale.sh BUILD [ROWS]
#
# With 64 workers the main thread does what only one thread does, and its share of the rest: what it
# takes beyond that share is the serial part, at most, for it also helps while others are busy. The
# longest-held lock is serial as well. Amdahl's law has the rest. CPU times, so that a machine with few
# cores will do; the disk is none of it.
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/bench/measure.bash
db=$dir/$rows.db
# One thread has all host calls, and one GPU all work.
alone=$dir/alone-$rows.db
mkdir -p "$dir"
make_database "$db"
[ -f "$alone" ] || "$build/tests/rocpd-gen" -o "$alone" --rows "$rows" --threads 1 --gpus 1 --no-pmc
cat "$db" "$alone" >/dev/null
most=$(nproc)
out=$dir/out

tools=(
    "CSV|rocpd2csv --no-sync -d $out"
    "CSV, gzip|rocpd2csv --no-sync --gzip -d $out"
    "pftrace|rocpd2pftrace --no-sync -o $out/t.pftrace"
    "pftrace -z 0|rocpd2pftrace --no-sync -z0 -o $out/t.pftrace"
    "one thread|rocpd2pftrace --no-sync -z0 -o $out/t.pftrace $alone"
    "OTF2|rocpd2otf2 --no-sync -o $out/t.otf2"
    "Chrome JSON|rtg2json --no-sync -f -o $out/t.json"
    "Parquet|rocline export --no-sync -d $out"
    "summary|rocstats --format json -o $out/t.json summary"
    "all reports|rocstats --format json -o $out/t.json all"
)

# observe JOBS WORD...: main and all CPU seconds, and how long the lock that was held longest was. The
# input is the last of them, or else $db.
observe() {
    local jobs=$1 command
    shift
    command=$1
    shift
    [[ ${*: -1} = *.db ]] || set -- "$@" "$db"
    clear_out
    THREADS_LOG=$dir/threads LD_PRELOAD=$build/tests/threads.so \
        "$build/bin/$command" "$@" -q --memory 1g -j"$jobs" >"$dir/log" 2>&1 || [ $? -eq 1 ] ||
        { echo "$command failed:" >&2; cat "$dir/log" >&2; exit 1; }
    awk '$1 == "cpu" { main = $2; all = $3 } $1 == "lock" && NR == 2 { held = $2 }
        END { print main, all, held + 0 }' "$dir/threads"
}

echo "$most cores, $rows rows; seconds of CPU time, percent of it, and times that n cores are faster than one"
printf '%-13s %7s %7s %8s %7s %7s  %s\n' '' -j1 -j64 ratio serial lock '    2     4     8    16    32    64   128'
for tool in "${tools[@]}"; do
    read -ra words <<<"${tool#*|}"
    "$build/bin/${words[0]}" --version | grep -q 'without OTF2' && continue
    one=$(observe 1 "${words[@]}")
    many=$(observe 64 "${words[@]}")
    awk -v name="${tool%%|*}" -v one="$one" -v many="$many" 'BEGIN {
        split(one, a); split(many, b)
        serial = (b[1] - b[2] / 64) / (1 - 1 / 64)
        serial = serial < 0 ? 0 : serial
        printf "%-13s %7.2f %7.2f %8.2f %6.1f%% %6.1f%% ", name, a[2], b[2], b[2] / a[2], 100 * serial / b[2],
            100 * b[3] / b[2]
        for (n = 2; n <= 128; n *= 2)
            printf " %5.1f", a[2] / (serial + (b[2] - serial) / n)
        print ""
    }'
done
rm -rf "$out"
