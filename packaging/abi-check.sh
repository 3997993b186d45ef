#!/usr/bin/env bash
# Compares the public functions and structs of the shared library with those of an earlier commit: do
# programs that were built with that still work? Until 1.0.0 they need not.
# Usage: packaging/abi-check.sh BUILD COMMIT; needs git and abidiff
set -euo pipefail
build=$(realpath "$1")
commit=$2
version() { sed -n 's/^#define ROCLINE_VERSION "\([0-9.]*\)"/\1/p' "$1/lib/rocline.h"; }

git rev-parse -q --verify "$commit^{commit}" >/dev/null || { echo "abi-check: there is no commit $commit" >&2; exit 2; }
rm -rf "$build/abi"
mkdir -p "$build/abi/tree"
git archive "$commit" | tar -x -C "$build/abi/tree"
old=$(version "$build/abi/tree") new=$(version .)
if [ "${old%%.*}" != "${new%%.*}" ]; then
    echo "abi-check: $new has another soname than $old of $commit: programs have to be built again"
    exit
fi
library=$build/abi/build/lib/librocline.so.$old
make --no-print-directory -C "$build/abi/tree" "O=$build/abi/build" "$library" >"$build/abi/log" 2>&1 ||
    { tail -n 20 "$build/abi/log" >&2; exit 3; }

status=0
abidiff --no-added-syms --headers-dir1 "$build/abi/tree/lib" --headers-dir2 lib --drop-private-types \
    "$library" "$build/lib/librocline.so.$new" || status=$?
case ${new%%.*}-$status in # 4, 8: they have changed; 1, 2: it could not compare
*-0) echo "abi-check: programs built with $commit work with this library" ;;
0-4 | 0-8 | 0-12) echo "abi-check: programs built with $commit have to be built again, as they may before 1.0.0" ;;
*)
    echo "abi-check: programs built with $commit no longer work: the first number of the version has to grow" >&2
    exit 4
    ;;
esac
