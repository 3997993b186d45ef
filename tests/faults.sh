#!/usr/bin/env bash
# Every call of every tool that makes output or reads input fails in turn: faults.sh BUILD [OPTION]...
# [--tap]; options as in tests/tools/faults.c. Without --seconds or --rounds all cases are tried.
# A finding is printed with the variables and the command that repeat it (FAULT_PROGRAM is not needed).
set -u
build=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
shift
options=() tap='' only=${ONLY:-.}
for word in "$@"; do
    if [ "$word" = --tap ]; then tap=1; else options+=("$word"); fi
done
export PATH=$build/bin:$PATH LC_ALL=C.UTF-8
unset ROCPD_OUTPUT_NAME ROCPD_OUTPUT_PATH NO_COLOR TMPDIR
[ -z "$tap" ] || echo 1..1
if ! LD_PRELOAD=$build/tests/faults.so rocline --version >/dev/null 2>&1; then
    echo "ok 1 # SKIP sanitizers come first"
    exit
fi
work=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d) || exit 5 # nothing waits for a disk
trap 'rm -rf "$work"' EXIT
in=$work/in
mkdir -p "$in/job"
cp "$build/fixtures/schema-3.0.0.db" "$in/a.db"
cp "$build/fixtures/rank1.db" "$in/c.db"
cp "$build/fixtures/nasty-3.0.5.db" "$in/nasty.db"
cp "$build/fixtures/schema-lz4.db" "$in/lz4.db"
cp "$build"/fixtures/wal-live.db* "$in"
cp "$here"/fixtures/rtg/{calls,profile}.txt "$here"/fixtures/rocprof-csv/v1.csv "$in"
cp "$build/fixtures/rocprofv3-7.0.json" "$in/v3.json"
cp "$build/fixtures/rank1.db" "$in/job/one.db"
cp "$build/fixtures/rank0.db" "$in/job/two"
gzip -c "$in/a.db" >"$in/a.db.gz"
gzip -c "$in/calls.txt" >"$in/calls.gz"
rocpd2pftrace -q -o "$in/a.pftrace" "$in/a.db"
rtg2json -q -o "$in/a.json" "$in/a.db"
rocrec -q -o "$in/r.rocl" -- "$build/tests/traced" events 50 >/dev/null || exit 5
"$build/tests/rocpd-gen" -o "$in/big.db" --rows 20000
"$build/tests/rocpd-gen" -o "$in/small%r.db" --rows 24 --kernels 4 --caches 0 --processes 8
mkdir "$in/many" && mv "$in"/small*.db "$in/many"
echo text >"$in/app"
commands() {
    cat <<END
= rocpd2csv -q -jN -d out/new in/a.db
= rocpd2csv -q -jN -d out/new in/lz4.db
= rocpd2csv -q -jN --style rocprofv3 -d out in/a.db
= rocpd2csv -q -jN -o - --kinds kernel in/a.db
= rocpd2csv -q -jN --gzip --reader sqlite -d out in/a.db
= rocpd2csv -q -jN --memory 1M -d out in/big.db
= rocpd2csv -q -jN -d out in/wal-live.db
= rocpd2csv -q -jN -d out in/a.db.gz
= rocpd2csv -q -jN -d out in/job
= rocpd2csv -q -jN -d out in/many
= rocpd2csv -q -jN -d out in/r.rocl
= rocpd2csv -q -jN -d out in/a.pftrace
= rocpd2csv -q -jN -d out in/v3.json
= rocpd2csv -q -jN -d out in/v1.csv
= rocpd2csv -q -jN -d out in/nasty.db
= rocpd2pftrace -q -jN -d out/new in/a.db in/c.db
= rocpd2pftrace -q -jN --memory 1M -d out in/big.db
= rocpd2otf2 -q -jN -d out/new in/a.db
= rocpd2otf2 -q -jN --memory 1M -d out in/big.db
= rtg2json -q -jN -o out/x.json in/a.db
= rtg2json -q -jN -o out/x.json in/calls.gz
= rtg2json -q -jN -f --memory 1M -o out/x.json in/big.db
= rtg2json -q -jN --layout kineto -o out/x.json.gz in/a.db
= rpt -g out/x.json -o out/x.txt in/profile.txt
= rpt in/a.db
= rocstats -q -jN all in/a.db
= rocstats -q -jN --memory 1M -o out/s.txt all in/big.db
= rocstats -q -jN --format html -o out/s.html all in/a.db
= rocstats -q -jN --format json -o out/s.json all in/a.json
= rocstats -q -jN --style rocpd -d out/new in/a.db
= rocstats -q -jN --style rocprofv3 -d out in/a.db
= rocstats -q -jN all in/many
= rocstats -q -jN --table domains in/app in/calls.txt
= rocpd2pftrace -q --team 2 -d out/new in/big.db in/c.db
= rocpd2csv -q --team 2 -d out in/big.db in/c.db
= rocpd2otf2 -q --team 2 -d out/new in/a.db in/c.db
= rocline export -q --team 2 -f parquet -d out in/big.db in/c.db
= rocline export -q --team 2 -f arrow -d out in/big.db in/c.db
= rocline export -q --team 2 -f jsonl -d out in/a.db in/c.db
= rocline export -q --team 2 -f arrow --codec zstd --memory 1M -d out in/big.db in/c.db
= rtg2json -q --team 2 -o out/x.json in/big.db in/c.db
= rtg2json -q --team 2 --layout kineto -o out/x.json in/many
= rocstats -q --team 2 all in/big.db in/c.db
= rocstats -q --team 2 --local --format json -o out/s.json all in/a.db in/c.db
= rocmerge -q -jN -o out/m.db in/a.db in/c.db
= rocmerge -q -jN --flat -o out/m.db in/a.db in/c.db
= rocmerge -q -jN --rebuild -o out/m.db in/a.db in/calls.txt
= rocmerge -q -jN -d out/new --split 3 in/a.db
= rocmerge -q -jN -o out/m.rocl in/r.rocl
= rocline convert -q -jN -f csv pftrace otf2 json -d out/new in/a.db
= rocline export -q -jN -d out/new in/a.db
= rocline export -q -jN -f arrow -d out in/a.db
= rocline export -q -jN -f jsonl -d out in/a.db
= rocline query -q -jN --format parquet -o out/q.parquet --query SELECT(1) in/a.db
= rocline query -q -jN --format csv -o out/q.csv --query SELECT(count(*))FROM(kernels) in/a.db
= rocline query -q -jN --memory 64K --format csv -o out/q.csv --query SELECT(sum(a.start+length(a.name)))FROM(regions)a,(kernels)b/**/WHERE(a.stack_id=b.stack_id) in/big.db
= rocline compare -q -jN -o out/x.txt in/a.db in/c.db
= rocline view -q -jN -o out/v.html in/a.db
= rocline doctor -q -jN in/a.db
= rocline info in/a.db
? rocline check -q in/a.db
= rocline show -q kernel:0:1 in/a.db
~ rocrec -q -o out/r.rocl -- /bin/true
~ rocrec -q -jN -f csv -o out/new -- /bin/true
~ rocrec -q -o out/r.pftrace -- /bin/true
~ rocrec -q -d out/new -- /bin/true
~ rocrec -q -o out/r.db -- /bin/true
~ rocrec -q -o out/r.rocl -- $build/tests/traced events 50
~ rocrec -q -o out/r.pftrace -- $build/tests/traced events 50
~ rocrec -q -jN -f csv -o out/new -- $build/tests/traced events 50
+ rocrec -q -d out/new -- $build/tests/traced events 50
~ rocrec -q -o out/r.db -- $build/tests/traced events 50
END
}
without=x^
rocpd2otf2 -q -d "$work/otf2" "$in/a.db" 2>/dev/null || without=otf2 # the library is missing
rm -rf "$work/otf2"
run() {
    commands | grep -E -e "$only" | grep -vE -e "$without" | nice "$build/tests/faults" "$build/tests/faults.so" "$work" --jobs "${JOBS:-$(nproc)}" "${options[@]}"
}
if [ -z "$tap" ]; then
    run
    exit
fi
log=$(run)
rc=$?
[ $rc -eq 0 ] && echo "ok 1 - ${log##*$'\n'}" || echo "not ok 1 - ${log##*$'\n'}"
echo "# ${log//$'\n'/$'\n# '}"
exit $rc
