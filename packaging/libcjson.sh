#!/usr/bin/env bash
# Makes libcjson.a from the source package of Debian, which has only the shared library in a package.
# Usage: packaging/libcjson.sh FOLDER [SOURCE]: of the library; SOURCE: a folder with cJSON.c, where it
# need not be loaded
set -euo pipefail
folder=$(mkdir -p "$1" && realpath "$1")
source=${2:-}
if [ -z "$source" ]; then
    "$(dirname "$0")/debian-sources.sh" "$folder" cjson || {
        echo "libcjson.a: there is none, and it cannot be made: give CJSON_SOURCE=, a folder with cJSON.c" >&2
        exit 3
    }
    source=$(echo "$folder"/cjson-*/)
fi
# shellcheck disable=SC2086 # several words
${CC:-cc} ${CFLAGS:--O2} -fPIC -c -o "$folder/cJSON.o" "$source/cJSON.c"
ar rcsD "$folder/libcjson.a" "$folder/cJSON.o"
