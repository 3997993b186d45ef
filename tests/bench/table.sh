#!/usr/bin/env bash
# Prints the table of speeds in README.md, of the runs that are stored of this machine: with 10^6 rows,
# and with 10^7 where `make bench ROWS=10000000` was run. Usage: tests/bench/table.sh
set -euo pipefail
# shellcheck source=tests/bench/store.bash
source "$(dirname "$0")/store.bash"

jq -r --arg cpu "$cpu" '
    def seconds: if . == null then "" else
        (if . < 1 then . * 100 | round / 100 else . * 10 | round / 10 end | tostring) as $s |
        (if . < 1 then 2 else 1 end) as $digits |
        ($s | if contains(".") then . else . + "." end | . + "0" * ($digits - (length - 1 - index(".")))) + " s" end;
    def line: "| " + join(" | ") + " |";

    .[$cpu] as $runs |
    if ([$runs["1000000", "10000000"]? | values] == []) then "no run of this machine with 10^6 rows is stored: make bench" else
    "| wall time | floor | `-j1` | `-j2` |", "|---|---|---|---|",
    ("1000000", "10000000" | . as $rows | $runs[$rows] | values | . as $run |
     (if $rows == "1000000" then "10^6 rows" else "10^7 rows" end) as $many |
     ["run", "pftrace", "\($many) to pftrace", "pftrace"],
     ["run", "pftrace-z0", "the same, not compressed (`-z 0`)", "pftrace"],
     ["run", "csv", "\($many) to CSV", "csv"],
     ["run", "otf2", "\($many) to OTF2", "pftrace"],
     ["run", "summary", "\($many), `rocstats summary`", "pftrace"],
     ["run", "overview", "\($many), the overview of `rocstats`", "pftrace"],
     ["run", "stats", "\($many), all reports of `rocstats`", "pftrace"],
     ["many", "pftrace", "\($many) in 256 databases to pftrace", null] |
     . as [$group, $what, $title, $floor] |
     def wall($row): $run[$group].rows[$row].wall | if . then min else null end;
     (if $group == "many" then ["pftrace, 256 inputs", "pftrace-j2, 256 inputs"]
      else ["\($what)-j1", "\($what)-j2"] end) as $names |
     select(wall($names[0])) |
     [$title, if $floor then wall("\($floor)-floor") | seconds else "" end,
      ($names[] | wall(.) | seconds)] | line),
    "", "Measured on \($cpu): " + ([$runs[][].about] | unique | join("; "))
    end' "$store"
