#!/usr/bin/env bash
# What more cores would bring, from what can be measured on few: scale.sh BUILD [ROWS]
#
# The serial part, of the CPU time with 64 workers, is at most each of two things. What the main thread
# takes beyond its share of 64: it alone does what only one thread does, but it also helps while others are
# busy, and has more than its share where there is work for a few threads only. And what is left of the time
# in which not all cores were busy: n cores take s + (c - s) / n, so s = (n t - c) / (n - 1) of the time t and
# CPU time c; waits for the disk and for other programs are in it. Each is the least of three runs, and the
# smaller one goes into Amdahl's law; so does the lock that was held longest, where that was longer.
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

# observe JOBS WORD...: main and all CPU seconds, how long the lock that was held longest was, and seconds
# from begin to end. The input is the last of them, or else $db.
observe() {
    local jobs=$1 command began
    shift
    command=$1
    shift
    [[ ${*: -1} = *.db ]] || set -- "$@" "$db"
    clear_out
    began=$EPOCHREALTIME
    THREADS_LOG=$dir/threads LD_PRELOAD=$build/tests/threads.so \
        "$build/bin/$command" "$@" -q --memory 1g -j"$jobs" >"$dir/log" 2>&1 || [ $? -eq 1 ] ||
        { echo "$command failed:" >&2; cat "$dir/log" >&2; exit 1; }
    awk -v began="$began" -v over="$EPOCHREALTIME" '
        $1 == "cpu" { main = $2; all = $3 } $1 == "lock" && NR == 2 { held = $2 }
        END { print main, all, held + 0, over - began }' "$dir/threads"
}

echo "$most cores, $rows rows; seconds of CPU time, percent of it, and times that n cores are faster than one"
printf '%-13s %7s %7s %8s %7s %7s %7s  %s\n' '' -j1 -j64 ratio main idle lock '    2     4     8    16    32    64   128'
for tool in "${tools[@]}"; do
    read -ra words <<<"${tool#*|}"
    "$build/bin/${words[0]}" --version | grep -q 'without OTF2' && continue
    one=$(observe 1 "${words[@]}")
    for _ in 1 2 3; do
        observe 64 "${words[@]}"
    done | awk -v name="${tool%%|*}" -v one="$one" -v cores="$most" '
        function least(old, new) { new = new < 0 ? 0 : new; return NR == 1 || new < old ? new : old }
        {
            main = least(main, ($1 - $2 / 64) / (1 - 1 / 64))
            idle = cores > 1 ? least(idle, (cores * $4 - $2) / (cores - 1)) : main
            held = least(held, $3)
            all = least(all, $2)
        }
        END {
            split(one, a)
            serial = main < idle ? main : idle
            serial = serial > held ? serial : held
            printf "%-13s %7.2f %7.2f %8.2f %6.1f%% %6.1f%% %6.1f%% ", name, a[2], all, all / a[2],
                100 * main / all, 100 * idle / all, 100 * held / all
            for (n = 2; n <= 128; n *= 2)
                printf " %5.1f", a[2] / (serial + (all - serial) / n)
            print ""
        }'
done
rm -rf "$out"
