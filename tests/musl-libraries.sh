#!/usr/bin/env bash
# The libraries that rocline and its unit tests need, for musl: Debian has them for its own C library
# only, and their sources. Usage: tests/musl-libraries.sh FOLDER: makes FOLDER/lib and FOLDER/include.
# Needs musl-tools, dpkg-dev and tcl, with which SQLite's source is put together.
set -euo pipefail
folder=$(mkdir -p "$1/lib" "$1/include/cjson" && realpath "$1")
[ ! -e "$folder/.ready" ] || exit 0
"$(dirname "$0")/../packaging/debian-sources.sh" "$folder/sources" cjson zlib libcsv libyaml libdeflate libzstd sqlite3 cmocka

library() { # name "sources" "headers" flags..., in a folder of sources
    local name=$1 sources=$2 headers=$3
    shift 3
    # shellcheck disable=SC2086 # several words
    musl-gcc -O2 -fPIC "$@" -c $sources && ar rcsD "$folder/lib/lib$name.a" ./*.o && cp $headers "$folder/include/"
}

cd "$folder/sources"
(cd cjson-*/ && library cjson cJSON.c cJSON.h && mv "$folder/include/cJSON.h" "$folder/include/cjson/")
(cd zlib-*/ && library z "$(echo *.c)" "zlib.h zconf.h" -D_LARGEFILE64_SOURCE -DHAVE_UNISTD_H)
(cd libcsv-*/ && library csv libcsv.c csv.h)
(cd libyaml-*/ && library yaml "$(echo src/*.c)" include/yaml.h -Iinclude -DYAML_VERSION_MAJOR=0 \
    -DYAML_VERSION_MINOR=2 -DYAML_VERSION_PATCH=5 '-DYAML_VERSION_STRING="0.2.5"')
(cd libdeflate-*/ && library deflate "$(echo lib/*.c lib/x86/*.c)" libdeflate.h -I.)
(cd libzstd-*/ && library zstd "$(echo lib/common/*.c lib/compress/*.c lib/decompress/*.c)" \
    "lib/zstd.h lib/zstd_errors.h" -DZSTD_DISABLE_ASM)
cmocka=()
for what in SIGNAL_H STRINGS_H SETJMP_H INTTYPES_H STDINT_H UNISTD_H TIME_H SYS_TYPES_H MALLOC_H CLOCK_GETTIME \
    CLOCK_REALTIME STRUCT_TIMESPEC GCC_THREAD_LOCAL_STORAGE SNPRINTF VSNPRINTF STRSIGNAL; do
    cmocka+=("-DHAVE_$what")
done
(cd cmocka-*/ && library cmocka src/cmocka.c "$(echo include/cmocka*.h)" -Iinclude "${cmocka[@]}")
(cd sqlite3-*/ && ./configure --disable-tcl >/dev/null && make sqlite3.c >/dev/null &&
    library sqlite3 sqlite3.c "sqlite3.h sqlite3ext.h" -DSQLITE_ENABLE_COLUMN_METADATA -DSQLITE_ENABLE_DBSTAT_VTAB \
        -DSQLITE_ENABLE_FTS3 -DSQLITE_SOUNDEX -DSQLITE_SECURE_DELETE) # as Debian has it
touch "$folder/.ready"
