# For the scripts here, whose arguments are BUILD [ROWS [RUNS]] and which set results, in $dir.
# shellcheck shell=bash disable=SC2154,SC2034
build=$(realpath "${1:-build}") rows=${2:-1000000} runs=${3:-3}
dir=$build/bench
yardstick_db=$dir/$rows.db
# Every time that any of the scripts measured: script, row, wall, CPU time and peak. See compare.sh.
group=$(basename "$0" .sh)
run=$dir/run-$rows.tsv
mkdir -p "$dir"
touch "$run"
sed -i "/^$group\t/d" "$run"

# timed COMMAND...: wall and CPU seconds and the peak of memory, separated by tabs, are in $dir/one then.
timed() {
    local rc=0
    "$build/tests/measure" "$@" 3>"$dir/one" >"$dir/log" 2>&1 || rc=$?
    # 1: done, with broken records counted
    [ "$rc" -le 1 ] || { echo "$* failed with $rc:" >&2; cat "$dir/log" >&2; exit 1; }
    sed -i 's/ /\t/g' "$dir/one"
}

# keep ROW: adds what was timed to what compare.sh compares.
keep() {
    printf '%s\t%s\t%s\n' "$group" "$1" "$(<"$dir/one")" >>"$run"
}

# note WORD...: adds them and what was timed to the results, as a line. $row is what compare.sh calls it.
note() {
    (IFS=$'\t'; printf '%s\t%s\n' "$*" "$(<"$dir/one")") >>"$results"
    keep "${row:-$1}"
}

# Measures the speed of the machine, once for each run: times of two runs are compared as multiples of it.
yardstick() {
    make_database "$yardstick_db"
    timed "$build/tests/floor" pftrace "$yardstick_db"
    keep yardstick
}

# An empty $dir/out: an output of before is out of the way, as to replace a large one takes time.
clear_out() {
    rm -rf "$dir/out"
    mkdir "$dir/out"
}

# make_database FILE: of so many rows, unless it is there.
make_database() {
    [ -f "$1" ] || { echo "making $1"; "$build/tests/rocpd-gen" -o "$1" --rows "$rows"; }
}
