#!/usr/bin/env bash
# Makes the inputs of the soak: inputs.sh BUILD OUTDIR. Every fixture, and where ROCLINE_DATA is set
# its traces, unpacked. A folder in OUTDIR is one input of several files.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
build=$(realpath "$1")
out=$2
rm -rf "$out"
mkdir -p "$out"
fixtures=$top/tests/fixtures
shared=${ROCLINE_DATA:-}

cp "$build"/fixtures/*.db "$fixtures/demo.db" "$out/"
rm -f "$out"/wal-live.db # its log lies beside it
cp "$build"/fixtures/*.json "$out/"
cp "$fixtures"/chrome/*.json "$fixtures"/rocprof/*.{json,txt} "$fixtures"/rtg/*.txt "$out/"
cp "$fixtures"/rocprof-csv/v1.csv "$out/"
for name in run 70; do
    mkdir "$out/csv-$name"
    cp "$fixtures"/rocprof-csv/*"$name"*.csv "$out/csv-$name/"
done
cp -r "$fixtures/rocprof/texts" "$out/texts"
if command -v sqlite3 >/dev/null; then
    for sql in "$fixtures"/rpd/*.sql "$fixtures"/rocprof/*.sql; do
        name=$(basename "$(dirname "$sql")")-$(basename "$sql" .sql)
        sqlite3 "$out/$name.db" <"$sql"
    done
fi
if command -v protoc >/dev/null; then
    for text in "$fixtures"/pftrace/*.txt; do
        name=$(basename "$text" .txt)
        protoc --encode=perfetto.protos.Trace -I "$top/tests/proto" "$top/tests/proto/perfetto_subset.proto" \
            <"$text" >"$out/$name.pftrace"
    done
fi
# What our own tools write.
export PATH=$build/bin:$PATH
for name in everything nasty-sys; do
    rocpd2pftrace -q -z0 --args -o "$out/$name.pftrace" "$build/fixtures/$name.db" || [ $? -eq 1 ]
    rtg2json -q -f -o "$out/$name-chrome.json" "$build/fixtures/$name.db" || [ $? -eq 1 ]
done
rocpd2pftrace -q -o "$out/packed.pftrace" "$build/fixtures/everything.db"
rocpd2pftrace -q --legacy-tracks -z0 -o "$out/legacy.pftrace" "$build/fixtures/everything.db"
rtg2json -q --layout kineto -o "$out/own-kineto.json" "$build/fixtures/everything.db"
mkdir "$out/csv-own"
rocpd2csv -q --style rocprofv3 -d "$out/csv-own" -o run "$build/fixtures/everything.db"
gzip -c "$build/fixtures/schema-3.0.0.db" >"$out/database.db.gz"
rocrec -q -o "$out/recording.rocl" -- "$build/tests/traced" threads 4 500 >/dev/null || rm -f "$out/recording.rocl"

[ -d "$shared" ] || exit 0
number=0
find "$shared" -type f \( -name '*.db' -o -name '*.rpd' -o -name '*.rpd.gz' -o -name '*.json' -o -name '*.json.gz' \
    -o -name '*.csv' -o -name '*.csv.gz' -o -name '*.pb' -o -path '*/in/*' -o -path '*/rocprofv2/*.txt' \) \
    ! -path '*/ref/*' ! -path '*/inputs/*' ! -name '*stats*' ! -name '*summary*' ! -name 'expected*' |
    LC_ALL=C sort | while read -r file; do
    number=$((number + 1))
    name=shared-$number-$(basename "$(dirname "$file")")-$(basename "$file")
    case $name in
    *.gz) gzip -dc "$file" >"$out/${name%.gz}" 2>/dev/null || rm "$out/${name%.gz}" ;; # damaged ones
    *) cp "$file" "$out/$name" ;;
    esac
done
