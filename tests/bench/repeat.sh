#!/usr/bin/env bash
# Converts inputs of all kinds in one process for some time: memory, files and threads must not grow.
# Usage: repeat.sh BUILD SECONDS
set -eu
build=$(realpath "$1")
fixtures=$(realpath "$(dirname "$0")/../fixtures")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export PATH=$build/bin:$PATH
rocpd2pftrace -q -o "$folder/t.pftrace" "$build/fixtures/everything.db"
rocrec -q -o "$folder/t.rocl" -- "$build/tests/traced" threads 4 500 >/dev/null
gzip -c "$build/fixtures/schema-3.0.0.db" >"$folder/t.db.gz"
mkdir "$folder/out"
nice "$build/tests/repeat" "$2" "$folder/out" \
    "$build"/fixtures/{schema-3.0.0,everything,corrupt,truncated,nasty-3.0.5,schema-4.1.0,sampled}.db \
    "$build"/fixtures/{rocprofv3-7.13.json,job.rpdb} "$fixtures"/chrome/kineto.json "$fixtures"/rtg/calls.txt \
    "$fixtures"/rocprof/v2.txt "$folder"/t.{pftrace,rocl,db.gz}
