#!/usr/bin/env bash
# Runs the tools of `make static` in a root that holds nothing but them and a trace, with the system calls
# of Linux 4.18 and no others, and compares what they write with what the tools of BUILD write.
# Usage: packaging/check-static.sh FOLDER BUILD; needs root, for chroot, and does nothing without
set -euo pipefail
folder=$1
tools=$(realpath "$2")/bin
old_kernel=$(realpath "$2")/tests/old_kernel

[ "$(id -u)" -eq 0 ] || { echo "check-static: skipped: not root, which chroot needs"; exit 0; }
for tool in "$folder"/bin/*; do
    [ -L "$tool" ] || ! readelf -l "$tool" | grep -q INTERP || { echo "check-static: $tool needs an interpreter" >&2; exit 1; }
done
# SQLite's extensions, for which it has dlopen, are not loaded.
! grep 'requires at runtime the shared libraries' "$folder/../log" | grep -v "'dlopen'" || { echo "check-static: it is not all static" >&2; exit 1; }
kernel=$(readelf -n "$folder/bin/rocline" | sed -n 's/.*OS: Linux, ABI: //p')
[ "$(printf '%s\n' "$kernel" 4.18.0 | sort -V | tail -n 1)" = 4.18.0 ] || { echo "check-static: it needs Linux $kernel" >&2; exit 1; }

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
cp -a "$folder" "$root/rocline"
mkdir -p "$root/tmp" "$root/out" "$root/proc" "$root/wanted"
cp "$folder/share/doc/rocline/demo.db" "$root/demo.db"

compare() { # files command...
    local files=$1 status=0 wanted=0
    shift
    (cd "$root" && PATH=$tools:$PATH "$@" >wanted/stdout 2>wanted/stderr) || wanted=$?
    for file in $files; do mv "$root/$file" "$root/wanted/"; done
    "$old_kernel" chroot "$root" "/rocline/bin/$1" "${@:2}" >"$root/out/stdout" 2>"$root/out/stderr" || status=$?
    for file in $files; do mv "$root/$file" "$root/out/"; done
    if [ $status -ne $wanted ] || ! diff -r "$root/wanted" "$root/out"; then
        echo "check-static: not the same in an empty root: $*" >&2
        exit 1
    fi
    rm -rf "$root/wanted" "$root/out"
    mkdir "$root/wanted" "$root/out"
    echo "  the same in an empty root: $*"
}

compare t.pftrace rocpd2pftrace -q -o t.pftrace demo.db
compare "t_kernel_trace.csv t_hip_api_trace.csv" rocpd2csv -q -d . -o t demo.db
compare "" rocstats -q all --format json demo.db
compare t.json rtg2json -q -f --layout trace -o t.json demo.db
compare t.db rocmerge -q -o t.db demo.db
compare "t.otf2 t.def" rocpd2otf2 -q -o t.otf2 demo.db
compare "" rocline query "SELECT name, count(*) FROM kernels GROUP BY 1 ORDER BY 2 DESC" demo.db
compare "" rpt demo.db
# A program that waits for its input for a while.
mkfifo "$root/wait"
(sleep 0.5; cat "$root/demo.db" >"$root/wait") &
# shellcheck disable=SC2016 # expanded inside
unshare --mount --pid --fork --kill-child "$old_kernel" sh -c 'mount -t proc proc "$1/proc" && exec chroot "$1" \
    /rocline/bin/rocrec -q --sample=1000 -o /t.rocl -- /rocline/bin/rocstats -q -o /page.html --format html /wait' sh "$root"
chroot "$root" /rocline/bin/rocstats --table sample_tracks,sample_timeline,energy,kernel_energy --format csv /t.rocl | grep -q process_page ||
    { echo "check-static: rocrec --sample has sampled nothing" >&2; exit 1; }
echo "  rocrec runs, and samples"
