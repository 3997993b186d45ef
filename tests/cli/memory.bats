#!/usr/bin/env bats
# Peak memory: the workers of a run share what it may take.
load helper

requires() {
    [ "$(bash -c "ulimit -v 100000; rocpd2csv --version" | wc -l)" -gt 0 ] || skip "sanitizers need memory of their own"
    needs "$BUILD/tests/measure" "$BUILD/tests/rocpd-gen"
    unset MALLOC_ARENA_MAX GLIBC_TUNABLES
}

# A database of 155 MB: what workers hold shows when all of them are busy.
setup_file() {
    BUILD=$(realpath "${BUILD:-$BATS_TEST_DIRNAME/../../build}")
    "$BUILD/tests/rocpd-gen" -o "$BATS_FILE_TMPDIR/million.db" --rows 1e6 --no-pmc
}

# peak COMMAND...: sets $peak, in MiB.
peak() {
    "$BUILD/tests/measure" "$@" 3>one >log 2>&1 || { cat log; return 1; }
    peak=$(awk '{ print int($3 / 1024) }' one)
    [ "$peak" -gt 0 ] || skip "this system does not tell the peak of memory"
}

# The command of a tool: its output is below the folder $out.
set_command() { # tool
    mkdir -p "$out"
    case $1 in
    rocpd2pftrace) command=("$1" -o "$out/t.pftrace") ;;
    rocpd2otf2) command=("$1" -o "$out/t.otf2") ;;
    rocpd2csv) command=("$1" -d "$out") ;;
    rocstats) command=("$1" all --format json -o "$out/t.json") ;;
    rtg2json) command=("$1" -f -o "$out/t.json") ;;
    rocmerge) command=("$1" --rebuild -o "$out/t.db") ;;
    esac
    command+=(-q "$BATS_FILE_TMPDIR/million.db")
}

@test "many workers take little more memory than two, and write the same" {
    rocpd2otf2 --version | grep -q OTF2 && otf2=rocpd2otf2
    for tool in rocpd2pftrace rocpd2csv ${otf2:-} rocstats rtg2json rocmerge; do
        out=2
        set_command "$tool"
        peak "${command[@]}" -j2
        two=$peak
        for out in 64 256; do
            set_command "$tool"
            peak "${command[@]}" -j"$out"
            echo "$tool: $two MiB with -j2, $peak MiB with -j$out"
            [ "$peak" -le $((two + 30)) ]
            diff -r 2 "$out"
            rm -r "$out"
        done
        rm -r 2
    done
}

@test "with less --memory many workers take less" {
    rocpd2otf2 --version | grep -q OTF2 && otf2=rocpd2otf2
    out=out
    for tool in rocpd2pftrace rocpd2csv ${otf2:-} rocstats rtg2json rocmerge; do
        set_command "$tool"
        peak "${command[@]}" -j64 --memory 16m
        echo "$tool: $peak MiB"
        [ "$peak" -le 64 ]
        rm -r out
    done
}

@test "statistics take a third of a KiB more for each distinct name" {
    awk 'BEGIN { print "{\"traceEvents\":["
                 for (i = 0; i < 300000; i++)
                     printf "%s{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"step %d\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":%d.5}", i ? ",\n" : "", i, i * 10, 1 + i % 7
                 print "]}" }' >names.json
    peak rocstats kernels names.json -j2
    names=$peak
    for report in summary domains; do
        peak rocstats --table "$report" --top 3 names.json -j2
        echo "$report: $peak MiB, the names alone $names MiB"
        [ $(((peak - names) * 1024)) -le $((300000 * 450 / 1024)) ]
    done
}
