#!/usr/bin/env bash
# Measures rtg2json and rpt on legacy text, against wc -l (which reads the lines and does nothing
# else) and, where RTG_SCRIPTS names a folder that holds them, against the original scripts (python3
# for rocm-timeline-generator.py, python2 for rpt), all in one run.
# Usage: tests/bench/text.sh BUILD [LINES [RUNS]]
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/bench/measure.bash
lines=$rows
results=$dir/text.tsv
mkdir -p "$dir"
for kind in rtg hcc; do
    file=$dir/$kind-$lines.txt
    if [ ! -f "$file" ]; then
        echo "making $file"
        "$build/tests/rtggen" "$kind" "$lines" >"$file.new"
        mv "$file.new" "$file"
    fi
    cat "$file" >/dev/null # from the page cache for everybody
done
rtg=$dir/rtg-$lines.txt hcc=$dir/hcc-$lines.txt
echo "$(nproc) cores, $lines lines: $(stat -c %s "$rtg") bytes of rtg text, $(stat -c %s "$hcc") of HCC log, $runs runs, load $(cut -d' ' -f1-3 /proc/loadavg)"

measure() { # name command...
    local name=$1
    shift
    timed "$@"
    note "$name"
}

script() { # name: the interpreter and the path of an original script, nothing without
    local file=${RTG_SCRIPTS:-}/$1 python=$2
    [ -n "${RTG_SCRIPTS:-}" ] && [ -f "$file" ] && command -v "$python" >/dev/null && echo "$python $file"
}

: >"$results"
"$build/bin/rtg2json" --version | head -1
timeline=$(script rocm-timeline-generator.py python3 || true) report=$(script rpt "${PYTHON2:-python2}" || true)
# shellcheck disable=SC2086
{
    [ -z "$timeline" ] || ${timeline%% *} --version
    [ -z "$report" ] || ${report%% *} --version
    [ -z "$timeline" ] || measure json-script $timeline -o "$dir/script.json" "$rtg"
    [ -z "$report" ] || measure rpt-script $report "$hcc"
}
for _ in $(seq "$runs"); do
    yardstick
    measure json-wc wc -l "$rtg"
    measure rpt-wc wc -l "$hcc"
    for jobs in 1 2; do
        measure "json-j$jobs" "$build/bin/rtg2json" -q -j"$jobs" -o "$dir/t.json" "$rtg"
        measure "json-j$jobs-flow" "$build/bin/rtg2json" -q -j"$jobs" -fkpw -o "$dir/t2.json" "$rtg"
        measure "json-j$jobs-gzip" "$build/bin/rtg2json" -q -j"$jobs" -z1 -o "$dir/t.json.gz" "$rtg"
        measure "json-j$jobs-hcc" "$build/bin/rtg2json" -q -j"$jobs" -g -o "$dir/h.json" "$hcc"
        measure "json-j$jobs-trace" "$build/bin/rtg2json" -q -j"$jobs" --layout trace -o "$dir/tt.json" "$rtg"
        measure "pftrace-j$jobs" "$build/bin/rocpd2pftrace" -q -j"$jobs" -o "$dir/t.pftrace" "$rtg"
        measure "rpt-j$jobs" "$build/bin/rpt" -q -j"$jobs" -o "$dir/t.rpt" "$hcc"
    done
done
[ -z "$timeline" ] || cmp "$dir/script.json" "$dir/t.json" || echo "the outputs differ"

echo
awk -F'\t' -v rtg="$(stat -c %s "$rtg")" -v hcc="$(stat -c %s "$hcc")" '
    !($1 in wall) { order[++n] = $1; wall[$1] = $2; cpu[$1] = $3 }
    { if ($2 < wall[$1]) wall[$1] = $2; if ($3 < cpu[$1]) cpu[$1] = $3; if ($4 > peak[$1]) peak[$1] = $4 }
    END {
        printf "%-18s %8s %8s %9s %8s %12s\n", "", "wall s", "cpu s", "peak MiB", "MB/s", "script/wall"
        for (i = 1; i <= n; i++) {
            k = order[i]
            report = k ~ /^rpt|hcc/
            base = k ~ /^rpt/ ? "rpt-script" : k ~ /hcc|pftrace|trace/ ? "" : "json-script"
            printf "%-18s %8.2f %8.2f %9.1f %8.0f", k, wall[k], cpu[k], peak[k] / 1024,
                (report ? hcc : rtg) / 1e6 / wall[k]
            if (base in wall) printf " %12.0f", wall[base] / wall[k]
            print ""
        }
    }' "$results"
echo
echo "reading a Chrome trace, one thread, of $(stat -c %s "$dir/tt.json") bytes:"
"$build/tests/json" "$dir/tt.json"
