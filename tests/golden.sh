#!/usr/bin/env bash
# Whole expected outputs, one test each: golden.sh BUILD [NAME...]. Prints TAP.
#
# golden/NAME/command is a command line; $F is the folder of the fixtures, $T that of legacy text.
# It runs in an empty folder. Everything else in golden/NAME is what it writes there, and stdout and
# stderr, byte for byte. A file that is missing, or one too much, is an error.
#
# A file input.sql beside the command is made into input.db first. What is not text stands there as
# text: t.pftrace as its packets (t.pftrace.txt), t.otf2 as its events, t.db as SQL.
#
# To add a case, make a folder with a command in it and bless it, then read what it expects:
#   BLESS=1 tests/golden.sh build NAME
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
build=$(realpath "${1:-$top/build}")
shift $(($# > 0 ? 1 : 0))
export F=$build/fixtures T=$top/tests/fixtures/rtg PATH=$build/bin:$PATH LC_ALL=C.UTF-8
unset ROCPD_OUTPUT_NAME ROCPD_OUTPUT_PATH NO_COLOR
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What a case needs that is not here; nothing where all is.
missing_program() { # folder
    case $(ls "$1") in
    *.pftrace.txt*) command -v protoc >/dev/null || echo protoc ;;
    *.otf2.txt*) [ -x "$build/tests/otf2dump" ] || echo libotf2 ;;
    *.db.txt* | *input.sql*) command -v sqlite3 >/dev/null || echo sqlite3 ;;
    esac
}

# Replaces binary files of the current folder by their text.
write_as_text() {
    local file
    for file in *; do
        case $file in
        *.pftrace)
            protoc --decode=perfetto.protos.Trace -I "$top/tests/proto" \
                "$top/tests/proto/perfetto_subset.proto" <"$file" >"$file.txt"
            rm "$file"
            ;;
        *.otf2)
            "$build/tests/otf2dump" "$file" >"$file.txt" 2>&1
            rm -r "$file" "${file%.otf2}" "${file%.otf2}".def
            rm -f "${file%.otf2}".marker
            ;;
        *.db)
            sqlite3 -readonly "$file" .dump >"$file.txt"
            rm "$file"
            ;;
        esac
    done
}

run_case() { # folder; in an empty one
    local command
    command=$(cat "$1/command")
    [ ! -f "$1/input.sql" ] || sqlite3 input.db <"$1/input.sql" || return 1
    bash -c "$command" >stdout 2>stderr </dev/null || echo "exit code $?" >>stderr
    rm -f input.db
    write_as_text
    sed -i "s|$F|\$F|g; s|$T|\$T|g" stdout stderr
    find . -type f -empty -delete
}

compare_case() { # folder
    local log=$work/log
    mkdir "$work/here" && cd "$work/here" || exit 5
    run_case "$1" >"$log" 2>&1
    if [ -n "${BLESS:-}" ]; then
        find "$1" -type f ! -name command ! -name input.sql -delete
        cp -r . "$1"
    fi
    diff -ru -x command -x input.sql "$1" . >>"$log" 2>&1 && [ ! -s "$log" ]
    local result=$?
    cd "$top" && rm -rf "$work/here"
    return $result
}

[ $# -gt 0 ] || set -- "$top"/tests/golden/*/
n=0
for name; do
    folder=$top/tests/golden/$(basename "$name")
    n=$((n + 1))
    lacks=$(missing_program "$folder")
    if [ -n "$lacks" ]; then
        echo "ok $n $(basename "$folder") # skip no $lacks"
    elif compare_case "$folder"; then
        echo "ok $n $(basename "$folder")"
    else
        echo "not ok $n $(basename "$folder")"
        sed 's/^/# /' "$work/log" | head -40
    fi
done
echo "1..$n"
