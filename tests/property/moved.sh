#!/usr/bin/env bash
# The tables of moved.tsv are in the reports that it says. With OLD, a folder with programs from before reports were
# joined, every column that stayed has the same values, on every input of the tree and of ROCLINE_DATA.
# Usage: moved.sh BUILD [OLD]   TAP.
set -eu -o pipefail
here=$(realpath "$(dirname "$0")")
build=$(realpath "$1")
old=${2:-}
export PATH=$build/bin:$PATH
work=$(mktemp -d "${TMPDIR:-/tmp}/moved.XXXXXX") || exit 5
trap 'rm -rf "$work"' EXIT

command -v jq >/dev/null || { echo "ok 1 # SKIP no jq"; echo 1..1; exit 0; }
kept=$(awk -F'\t' '!/^#/ && $3 != "-" { print $2 "\t" $3 }' "$here/moved.tsv")
while IFS=$'\t' read -r table report; do
    [ "$table" = "${report//-/_}" ] || # a report has a table of its name: tests/unit/test_stats_reports.c
        { rocstats "$table" none 2>&1 || true; } | grep -q "is a table of the report $report:" ||
        echo "# the report $report has no table $table"
done <<<"$kept" >"$work/wrong"
rocline schema stats >"$work/schema"
awk -F'\t' '$3 == "-" { print $2 }' "$here/moved.tsv" | while read -r gone; do
    ! grep -q "\"$gone\"" "$work/schema" || echo "# the table $gone is still there"
done >>"$work/wrong"
[ -s "$work/wrong" ] && echo "not ok 1 tables are where they moved to" || echo "ok 1 tables are where they moved to"
cat "$work/wrong"

# The tables that stayed, as lines of table, column and values.
list_columns() {
    jq -r --arg kept "$(cut -f1 <<<"$kept")" '($kept | split("\n")) as $k
        | .tables[] | select(.key as $key | $k | index($key))
        | .key as $t | .columns[].key as $c | [$t, $c, ([.rows[][$c]] | tojson)] | @tsv' "$1" | sort
}
if [ -z "$old" ]; then
    echo "ok 2 values are the same # SKIP no programs to compare with"
else
    compared=0 columns=0
    : >"$work/wrong"
    while read -r input; do
        for options in "" "--by-rank --by-agent --by-stream --ids" "--top 3 --sort calls"; do
            rm -f "$work"/[ab].json
            # shellcheck disable=SC2086 # several options
            "$old/rocstats" -q all $options --format json -o "$work/a.json" "$input" 2>/dev/null || true
            # shellcheck disable=SC2086
            rocstats -q all $options --format json -o "$work/b.json" "$input" 2>/dev/null || true
            [ -e "$work/a.json" ] || [ -e "$work/b.json" ] || continue
            list_columns "$work/a.json" >"$work/a"
            list_columns "$work/b.json" >"$work/b"
            diff "$work/a" "$work/b" >"$work/diff" ||
                { echo "# $input $options:"; cut -c1-200 "$work/diff" | sed 's/^/# /' | head -5; } >>"$work/wrong"
            compared=$((compared + 1))
            columns=$((columns + $(wc -l <"$work/a")))
        done
    done < <(find "$build/fixtures" "$here/../../examples" ${ROCLINE_DATA:+"$ROCLINE_DATA"} -type f -size -6M \
        ! -name '*.md' ! -name '*.tsv' ! -name '*.py' ! -name '*.sh' ! -name '*.html' | sort)
    [ -s "$work/wrong" ] && echo "not ok 2 values are the same" || echo "ok 2 values are the same"
    cat "$work/wrong"
    echo "# $columns columns of $compared runs"
fi
echo 1..2
