#!/usr/bin/env bash
# The command line tests with programs that ThreadSanitizer watches: tsan.sh BUILD [PART...], PART: a
# file of tests/cli without .bats; default: all of them. Reports are in BUILD/races.
# Tests that compare times or memory with those of other builds fail here for other reasons: what
# counts is the number of reports, which the last line says. By default a program sleeps for a second
# before it exits, so that exit handlers may race with threads; ours have joined theirs: 10 ms.
set -u
here=$(dirname "$0")
build=$(realpath "$1")
shift
# shellcheck disable=SC2046 # names of files of ours
[ $# -gt 0 ] || set -- $(cd "$here/cli" && basename -s .bats -- *.bats)
reports=$build/races
rm -rf "$reports"
mkdir -p "$reports"
export TSAN_OPTIONS="exitcode=66:halt_on_error=0:history_size=4:atexit_sleep_ms=10:log_path=$reports/race"
nice "$here/run.sh" "$build" "$@" | grep -v '^    '
found=$(cat "$reports"/race.* 2>/dev/null | grep -c 'SUMMARY: ThreadSanitizer')
cat "$reports"/race.* 2>/dev/null | grep '^SUMMARY' | sort | uniq -c
echo "tsan: $# parts, $found reports"
[ "$found" -eq 0 ]
