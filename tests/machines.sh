#!/usr/bin/env bash
# Builds with other compilers and for other machines, runs the unit tests there, and compares what the
# tools write with what those of this machine write, byte for byte.
# Usage: tests/machines.sh BUILD [MACHINE...]
#   amd64    gcc; what the others are compared with
#   pedantic the library and the tools with -std=c17 -pedantic; no tests
#   clang    clang
#   arm64    aarch64, by qemu-user
#   s390x    the highest byte first, by qemu-user
#   musl     musl-gcc, with the libraries compiled for musl from Debian's sources
#   i386     is not supported: make must say so
# Needs root, debootstrap and namespaces (tests/roots.bash), does nothing, and says why, without. All is
# done in a Debian 12 in ROOTS/machines, which stays, with its objects: some 3 GB, 10 minutes for each
# machine on two cores.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=tests/roots.bash
. tests/roots.bash
roots_begin check-machines "$1"
shift
[ $# -gt 0 ] || set -- pedantic clang arm64 s390x musl i386
log=$roots/machines.log
: >"$log"

libraries=(libsqlite3-dev libcjson-dev zlib1g-dev libdeflate-dev libzstd-dev liblz4-dev libcsv-dev libyaml-dev libcmocka-dev)
packages=("${libraries[@]}" gcc clang make git pkg-config qemu-user-static sqlite3 jq zstd lz4 musl-tools dpkg-dev tcl)
for machine in arm64 s390x i386; do
    packages+=("crossbuild-essential-$machine" "${libraries[@]/%/:$machine}")
done
if [ "$(cat "$roots/machines/.ready" 2>/dev/null)" != "${packages[*]}" ]; then
    root_copy bookworm machines
    root_log "$log" machines "for a in arm64 s390x i386; do dpkg --add-architecture \$a; done; apt-get update -q &&
        apt-get install -q -y --no-install-recommends ${packages[*]}"
    echo "${packages[*]}" >"$roots/machines/.ready"
else
    # What has not changed keeps its time, and its objects.
    mkdir -p "$roots/machines/rocline"
    find "$roots/machines/rocline" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
    git ls-files -z --cached --others --exclude-standard --deduplicate | xargs -0 ls -d 2>/dev/null |
        tar -c -T - | tar -x -C "$roots/machines/rocline"
fi

# How a machine builds and runs.
settings() { # machine
    local gnu=
    case $1 in
    amd64) echo "CC=gcc CFLAGS=-O2" && return ;;
    pedantic) echo "CC=gcc CFLAGS='-O0 -pedantic -Wno-overlength-strings'" && return ;;
    clang) echo "CC=clang CFLAGS=-O2" && return ;;
    arm64) gnu=aarch64-linux-gnu ;;
    s390x) gnu=s390x-linux-gnu ;;
    i386) gnu=i686-linux-gnu ;;
    musl) # headers of the kernel are not for one C library
        echo "CC='musl-gcc -idirafter /usr/include -idirafter /usr/include/x86_64-linux-gnu' CFLAGS=-O2" \
            "CPPFLAGS='-isystem /opt/musl/include' LDFLAGS=-L/opt/musl/lib PKG_CONFIG=false LIBDEFLATE=1 ZSTD=1" && return
        ;;
    *) echo "machines.sh: no machine $1" >&2 && exit 2 ;;
    esac
    echo "CC=$gnu-gcc AR=$gnu-ar OBJCOPY=$gnu-objcopy CFLAGS=-O2 PKG_CONFIG='env PKG_CONFIG_LIBDIR=/usr/lib/${gnu/i686/i386}/pkgconfig:/usr/share/pkgconfig pkg-config'"
}

emulator() { # machine
    case $1 in
    arm64) echo qemu-aarch64-static ;;
    s390x) echo qemu-s390x-static ;;
    esac
}

make_machine() { # machine targets
    root_log "$log" machines "make -j\$(nproc) O=build/$1 OTF2=0 EDIT=0 NCURSES=0 LTTNG=0 ROCM= WERROR=1 $(settings "$1") EMULATOR='$(emulator "$1")' $2"
}

# Every output of a set of inputs, into build/outputs/MACHINE. Times of the run are not part of any.
write_outputs() { # machine
    cat >"$roots/machines/rocline/build/outputs.sh" <<'END'
set -u
machine=$1
shift
out=build/outputs/$machine
rm -rf "$out"
mkdir -p "$out"
rocline() { # name arguments...
    local name=$1 status=0
    shift
    $EMULATOR "build/$machine/bin/rocline" "$@" >"$out/$name.out" 2>"$out/$name.err" || status=$?
    echo "$status" >"$out/$name.status"
    sed -i "s|$out|OUT|g" "$out/$name.out" "$out/$name.err"
}
for input in tests/fixtures/demo.db build/amd64/fixtures/nasty-3.0.5.db build/amd64/fixtures/*graph*.db build/outputs/*.rocl build/outputs/*.txt; do
    [ -e "$input" ] || continue
    i=$(basename "$input" | tr . -)
    rocline "$i-pftrace" pftrace -q -o "$out/$i.pftrace" "$input"
    rocline "$i-pftrace-0" pftrace -q -z0 --args -o "$out/$i-0.pftrace" "$input"
    rocline "$i-csv" csv -q -d "$out/$i-csv" "$input"
    rocline "$i-chrome" json -q -f --layout trace -o "$out/$i.json" "$input"
    rocline "$i-rocprofv3" json -q --layout rocprofv3 -o "$out/$i-v3.json" "$input"
    rocline "$i-kineto" json -q --layout kineto -o "$out/$i-kineto.json" "$input"
    for format in parquet arrow jsonl; do
        rocline "$i-$format" export -q -f "$format" -d "$out/$i-$format" "$input"
    done
    rocline "$i-merge" merge -q -o "$out/$i.db" "$input"
    for format in text csv json html; do
        rocline "$i-stats-$format" stats all -q --format "$format" "$input"
    done
    rocline "$i-query" query "SELECT name, count(*), sum(duration) FROM kernels GROUP BY 1 ORDER BY 3 DESC, 1" "$input"
done
# What was written is read again; reports show when their inputs were.
touch -d 2026-01-01 "$out"/demo-db*
for input in "$out"/demo-db.pftrace "$out"/demo-db.json "$out"/demo-db-v3.json; do
    rocline "again-$(basename "$input")" stats kernels -q --format json "$input"
done
rocline recordings merge -q -o "$out/all.rocl" build/outputs/*.rocl
END
    root_log "$log" machines "EMULATOR='$(emulator "$1")' bash build/outputs.sh $1"
}

unit_tests() { # machine
    local failed=0
    echo "check-machines: $1: unit tests"
    root_run machines "export BUILD=\$PWD/build/$1 FIXTURES=\$PWD/build/amd64/fixtures CMOCKA_MESSAGE_OUTPUT=TAP; mkdir -p build/$1/log
        ls build/$1/tests | grep '^test_[a-z0-9_]*\$' | xargs -P\$(nproc) -I{} sh -c \"timeout 900 $(emulator "$1") build/$1/tests/{} \
        >build/$1/log/{} 2>&1 && echo {} \\\$(grep -c ^ok build/$1/log/{}) || echo {} failed\"" >"$roots/machines-$1.units"
    ! grep failed "$roots/machines-$1.units" || failed=1
    awk -v m="$1" '{ n += $2 } END { print "check-machines: " m ": " n " unit tests passed in " NR " programs" }' "$roots/machines-$1.units"
    return $failed
}

status=0
make_machine amd64 "build/amd64/bin/rocline build/amd64/bin/rocrec build/amd64/tests/traced tests fixtures"
# A recording of ranges, and one of a process of the tools.
root_log "$log" machines "mkdir -p build/outputs && { [ -e build/outputs/gpu.rocl ] || {
    build/amd64/bin/rocrec -q -o build/outputs/gpu.rocl -- build/amd64/tests/traced gpu; build/amd64/bin/rocrec -q -o build/outputs/markers.rocl -- build/amd64/tests/traced markers; :; } &&
    build/amd64/bin/rocrec -q -o build/outputs/tool.rocl -- build/amd64/bin/rocline --version; } && cp tests/fixtures/rtg/*.txt build/outputs/ 2>/dev/null; :"
write_outputs amd64
for machine in amd64 "$@"; do
    if [ "$machine" = i386 ]; then
        root_run machines "make O=build/i386 $(settings i386) OTF2=0 EDIT=0 NCURSES=0 ROCM= build/i386/bin/rocline" >"$roots/i386.out" 2>&1 || :
        grep 'needs a 64-bit machine' "$roots/i386.out" || { echo "check-machines: i386: make did not say that it is not supported" >&2; status=1; }
        continue
    fi
    if [ "$machine" = pedantic ]; then
        make_machine pedantic build/pedantic/bin/rocline
        continue
    fi
    # What tests of the command line load into tools is for glibc.
    [ "$machine" != musl ] || root_log "$log" machines "tests/musl-libraries.sh /opt/musl"
    [ "$machine" = amd64 ] || make_machine "$machine" "build/$machine/bin/rocline $([ "$machine" = musl ] && echo units || echo tests)"
    unit_tests "$machine" || status=1
    [ "$machine" != amd64 ] || continue
    write_outputs "$machine"
    if diff -rq "$roots/machines/rocline/build/outputs/amd64" "$roots/machines/rocline/build/outputs/$machine"; then
        echo "check-machines: $machine: $(find "$roots/machines/rocline/build/outputs/amd64" -type f | wc -l) files are the same as of amd64"
    else
        echo "check-machines: $machine: outputs differ from those of amd64" >&2
        status=1
    fi
done
exit $status
