#!/usr/bin/env bash
# Compares what the scripts here measured with the run before of the same machine and as many rows, and
# stores it in its place, in bench/last.json. Usage: tests/bench/compare.sh BUILD [ROWS]
#
# CPU time and wall time are compared as multiples of the yardstick, a program that was measured in
# between, as machines are not always equally fast. Peaks of memory are compared as they are. The noise
# is how far the median of the runs is above the smallest, in either run, of the row or the yardstick.
# KEEP=1 leaves the run before, to compare several with one.
set -euo pipefail
rows=${2:-1000000}
run=$(realpath "${1:-build}")/bench/run-$rows.tsv
# shellcheck source=tests/bench/store.bash
source "$(dirname "$0")/store.bash"
[ -s "$run" ] || { echo "compare: $run is not there: run make bench, or a script of tests/bench" >&2; exit 3; }

about="$(git -C "$(dirname "$0")" describe --always --dirty 2>/dev/null || echo rocline), $(date +%F), load $(cut -d' ' -f1 /proc/loadavg)"
jq -Rn --arg about "$about" '
    [inputs / "\t"] | group_by(.[0]) | map({(.[0][0]): {about: $about, rows: (group_by(.[1]) |
        map({(.[0][1]): {wall: map(.[2] | tonumber), cpu: map(.[3] | tonumber), peak: map(.[4] | tonumber)}}) |
        add)}}) | add' "$run" >"$run.json"

jq -r --slurpfile now "$run.json" --arg cpu "$cpu" --arg rows "$rows" '
    def least: sort | first;
    def noise: sort | if first > 0 then .[length / 2 | floor] / first - 1 else 0 end;
    def percent: . * 1000 | round / 10 | tostring + " %";
    def signed: (if . > 0 then "+" else "" end) + percent;
    def pad($n): tostring | . + " " * ([$n - length, 0] | max);

    (.[$cpu][$rows] // {}) as $before | $now[0] as $now |
    [$now | to_entries[] | .key as $group | .value.rows as $new | ($before[$group].rows // {}) as $old |
     $new | keys[] | select(. != "yardstick" and $old[.]) | . as $row | ("cpu", "wall", "peak") as $what |
     ([$new[$row], $old[$row]] | map(.[$what])) as $times |
     select($times | map(least) | min > 0) |
     ([$new.yardstick, $old.yardstick] |
      if $what == "peak" or any(. == null) then null else map(.[$what]) end) as $yard |
     {name: "\($group): \($row)", $what, before: ($times[1] | least), now: ($times[0] | least),
      change: ([$times, $yard | values | map(least) | .[0] / .[1]] | .[0] / (.[1] // 1) - 1),
      noise: ([$times, $yard | values | .[] | noise] | max)}] as $all |
    ($all | map(select(.change > 0.03 or .change < -0.03))) as $changed |
    ($changed | map(select((.change | fabs) > .noise))) as $clear |
    "compared with \($before | [.[].about] | unique | if . == [] then "nothing: no run of this machine is stored" else join("; ") end)",
    ($now | keys[] | . as $group | [$now, $before | .[$group].rows.yardstick.cpu | values | least] |
     select(length == 2) | (.[0] / .[1] - 1) | select(fabs > 0.03) |
     "\($group): the yardstick took \(signed), for which its times are corrected"),
    if $clear == [] then empty else
        "", (["changed by more than 3 % and their noise", "", "before", "now", "change", "noise"],
        ($clear | sort_by(-.change) | .[] | [.name, .what, .before, .now, (.change | signed), (.noise | percent)]) |
        [.[0] | pad(52)] + (.[1:] | map(pad(9))) | join(" ") | sub(" +$"; ""))
    end,
    "",
    "\($all | length) times and peaks compared: \($clear | length) changed by more than 3 % and their noise, \(($changed | length) - ($clear | length)) by more than 3 % within their noise"
    ' "$store"

if [ "${KEEP:-}" != 1 ]; then
    jq --slurpfile now "$run.json" --arg cpu "$cpu" --arg rows "$rows" \
        '.[$cpu][$rows] = (.[$cpu][$rows] // {}) + $now[0]' "$store" >"$store.new"
    mv "$store.new" "$store"
fi
