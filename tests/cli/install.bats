#!/usr/bin/env bats
# make install, a program built against the installed library, make uninstall.

load helper

setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
    # The build that is tested; its own flags would only cost time here.
    make -s -C "$TOP" O="$BUILD" install DESTDIR="$PWD/root" PREFIX=/usr >/dev/null ||
        skip "the build was made with other flags"
    root=$PWD/root/usr
}

@test "everything is installed" {
    for tool in "${PROGRAMS[@]}"; do
        [ -x "$root/bin/$tool" ]
        [ -s "$root/share/man/man1/$tool.1" ]
        [ -s "$root/share/bash-completion/completions/$tool" ]
        [ -s "$root/share/zsh/site-functions/_$tool" ]
        "$root/bin/$tool" --version
    done
    [ -s "$root/share/man/man7/rocline.7" ]
    [ -s "$root/share/man/man5/rtg.5" ]
    [ -s "$root/share/man/man5/rocl.5" ]
    [ -e "$root/lib/rocline/librocprofiler-sdk-roctx.so.1" ]
    [ -s "$root/include/rocline.h" ]
    [ -s "$root/lib/librocline.a" ]
    [ -e "$root/lib/librocline.so" ]
}

@test "a program links with what pkg-config says, shared and static" {
    needs pkg-config gcc
    ! nm -D "$root"/lib/librocline.so | grep -q asan || skip "sanitizers are on"
    cat >my.c <<'END'
#include <rocline.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    puts(rocl_version());
    return strcmp(rocl_version(), ROCLINE_VERSION) != 0;
}
END
    export PKG_CONFIG_PATH=$root/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$PWD/root
    # shellcheck disable=SC2046
    gcc -std=c11 -Wall -Wextra -Wpedantic -Werror -I"$root/include" my.c -L"$root/lib" \
        $(pkg-config --libs rocline) -o shared
    LD_LIBRARY_PATH=$root/lib ./shared
    # shellcheck disable=SC2046
    PKG_CONFIG_SYSROOT_DIR='' gcc -std=c11 -I"$root/include" my.c -L"$root/lib" -Wl,-Bstatic \
        -lrocline -Wl,-Bdynamic $(pkg-config --libs --static rocline | sed 's/-lrocline//') -o static
    ./static
}

@test "the header is C++ as well" {
    needs g++
    echo '#include <rocline.h>' >my.cc
    g++ -Wall -Wextra -Werror -I"$root/include" -fsyntax-only my.cc
}

@test "the static library takes no names of libcsv's" {
    nm -g --defined-only "$root"/lib/librocline.a | awk 'NF == 3 { print $3 }' >names
    grep -q '^rocl_csv_' names
    run ! grep '^csv_' names
}

@test "the shared library exports the interface and nothing else" {
    nm -D --defined-only "$root"/lib/librocline.so | awk '$2 != "A" { print $3 }' | sort >exported
    # Instrumented builds export what their run time needs.
    grep -qE '^__(asan|odr|gcov|ubsan)' exported && skip "instrumented"
    sed 's/.*\b\(rocl_[a-z0-9_]*\)(.*/\1/' <(grep -A1 '^ROCL_API' "$TOP/lib/rocline.h" |
        tr '\n' ' ' | sed 's/ROCL_API/\n&/g' | grep '^ROCL_API' |
        sed 's/^ROCL_API [^(]*\b\(rocl_[a-z0-9_]*\)(.*/\1(/') | sort >declared
    diff declared exported
    readelf -d "$root"/lib/librocline.so | grep -q "SONAME.*librocline.so.0\]"
}

@test "an installed rocrec finds its libraries" {
    needs "$BUILD/tests/traced"
    (cd "$BATS_TEST_TMPDIR" && "$root/bin/rocrec" -q -o t.rocl -- "$BUILD/tests/traced" events 10)
    [ -s "$BATS_TEST_TMPDIR/t.rocl" ]
}

@test "uninstall leaves nothing behind" {
    make -s -C "$TOP" O="$BUILD" uninstall DESTDIR="$PWD/root" PREFIX=/usr
    [ "$(find root ! -type d | wc -l)" -eq 0 ]
}
