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
        [ -s "$root/share/fish/vendor_completions.d/$tool.fish" ]
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

@test "what a program asks for in vain is an error, and leaves nothing to free" {
    needs gcc
    nm "$root/lib/librocline.a" | grep -q __asan && skip "sanitizers are on"
    cat >vain.c <<'END'
#include <rocline.h>
#include <stdio.h>
#include <stdlib.h>

static rocl_trace *t;
static rocl_tables *tables;

static void say(rocl_status st, rocl_error *err)
{
    printf("%d %s\n", (int)st, rocl_error_text(err));
    rocl_error_free(err);
}

static void print(rocl_table_format format)
{
    char *text = "";
    size_t len = 0;
    rocl_error *err = rocl_error_new();
    say(rocl_print_tables(tables, &(rocl_table_options){.format = format}, &text, &len, err), err);
    free(text);
}

int main(int argc, char **argv)
{
    (void)argc;
    rocl_trace_open(&t, (const char *const *)argv + 1, 1, &(rocl_options){0}, NULL);
    rocl_error *err = rocl_error_new();
    say(rocl_write_rocpd(t, &(rocl_rocpd_options){.path = "a.db", .slice_ns = -7}, NULL, err), err);
    rocl_runs *runs = NULL;
    rocl_runs_new(&runs, NULL);
    rocl_runs_add(runs, false, t, NULL);
    rocl_runs_add(runs, true, t, NULL);
    err = rocl_error_new();
    say(rocl_runs_compare(runs, t, &(rocl_stats_options){0}, NULL, &tables, err), err);
    rocl_runs_free(runs);
    rocl_stats(t, &(rocl_stats_options){.reports = 1U << ROCL_REPORT_KERNELS}, &tables, NULL);
    print(ROCL_TABLE_CONSOLE);
    rocl_tables_free(tables);
    rocl_stats(t, &(rocl_stats_options){.reports = 3}, &tables, NULL);
    err = rocl_error_new();
    say(rocl_write_style(tables, &(rocl_style_options){.directory = "styles"}, NULL, err), err);
    rocl_tables_free(tables);
    rocl_trace_close(t);
    return 0;
}
END
    # shellcheck disable=SC2046
    gcc -std=c11 -Wall -Wextra -Werror -I"$root/include" -o vain vain.c "$root/lib/librocline.a" \
        $(PKG_CONFIG_PATH=$root/lib/pkgconfig pkg-config --libs --static rocline | sed 's/-lrocline//;s/-L[^ ]*//')
    run ./vain "$FIXTURES/schema-3.0.0.db"
    [ "$status" -eq 0 ]
    [ "$output" = "2 slices of -7 ns: they must be longer than 0
2 a run of A and one of B are two traces, not several runs
2 this format is only for the report summary
0 " ]
    [ ! -e a.db ]
    [ -s styles/out_kernels_summary.csv ]
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
    nm -D --defined-only "$root"/lib/librocline.so | awk '$2 != "A" { sub("@.*", "", $3); print $3 }' | sort >exported
    # Instrumented builds export what their run time needs.
    grep -qE '^__(asan|odr|gcov|ubsan)' exported && skip "instrumented"
    sed 's/.*\b\(rocl_[a-z0-9_]*\)(.*/\1/' <(grep -A1 '^ROCL_API' "$root/include/rocline.h" |
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

# The address of every function that the installed header declares, so that a program that says all
# of them compiles only where the header is whole, and links only where the library has them.
every_function() {
    echo '#include <rocline.h>'
    echo 'typedef void (*any_function)(void);'
    echo 'extern any_function all[];'
    echo 'any_function all[] = {'
    tr '\n' ' ' <"$root/include/rocline.h" |
        grep -oE 'ROCL_API [a-z0-9_ *]*\brocl_[a-z0-9_]+\(' | grep -oE 'rocl_[a-z0-9_]+\($' | sort -u |
        sed 's/\(.*\)($/    (any_function)\1,/;s/(,/,/;s/($/,/'
    echo '};'
    echo 'int main(void) { return all[0] == 0; }'
}

@test "the installed header stands alone in C and C++, and the static library shows what it declares" {
    needs gcc nm
    nm "$root/lib/librocline.a" | grep -q __asan && skip "sanitizers are on"
    every_function >all.c
    [ "$(grep -c any_function\) all.c)" -gt 40 ]
    gcc -std=c11 -Wall -Wextra -Werror -Wno-cast-function-type -I"$root/include" -c all.c
    gcc -o all all.o "$root/lib/librocline.a" $(PKG_CONFIG_PATH=$root/lib/pkgconfig pkg-config --libs --static rocline | sed 's/-lrocline//;s/-L[^ ]*//')
    cp all.c all.cc
    for cxx in g++ clang++; do
        command -v $cxx >/dev/null || continue
        $cxx -std=c++17 -Wall -Wextra -Werror -Wno-cast-function-type -I"$root/include" -c -o all.o all.cc
    done
    nm -g --defined-only "$root/lib/librocline.a" | awk 'NF == 3 { print $3 }' | sort -u >shown
    sed -n 's/^    (any_function)\(.*\),$/\1/p' all.c | sort -u >declared
    diff declared shown
}

@test "the example programs run" {
    [ -x "$BUILD/examples/kinds" ]
    run "$BUILD/examples/kinds" "$FIXTURES/schema-3.0.0.db"
    [ "$status" -eq 0 ]
    rows=$(sqlite3 "$FIXTURES/schema-3.0.0.db" 'SELECT count(*) FROM rocpd_kernel_dispatch')
    [[ $output == *"kernel "*" $rows events"* ]]
    run "$BUILD/examples/kinds" missing.db
    [ "$status" -eq 3 ]
    [[ $output == *missing.db* ]]
}

@test "the example with pandas prints kernels" {
    python3 -c 'import pandas, pyarrow' 2>/dev/null || skip "no python3 with pandas and pyarrow"
    run python3 "$BATS_TEST_DIRNAME/../../examples/kernels_pandas.py" "$FIXTURES/schema-3.0.0.db"
    [ "$status" -eq 0 ]
    [[ $output == *count*sum*mean* ]]
}

@test "the example in Python prints the same" {
    command -v python3 >/dev/null || skip "no python3"
    ! nm -D "$BUILD/lib/librocline.so" | grep -q '__[atu][a-z]*san_' || skip "python3 has no sanitizer"
    "$BUILD/examples/kinds" "$FIXTURES/schema-3.0.0.db" >wanted
    LD_LIBRARY_PATH=$BUILD/lib python3 "$BATS_TEST_DIRNAME/../../examples/kinds.py" "$FIXTURES/schema-3.0.0.db" >got
    diff wanted got
}

@test "the module file keeps the defaults of paths, and takes back what it added" {
    init=/usr/share/modules/init/bash
    [ -e $init ] || skip "no Environment Modules"
    mkdir -p modules/rocline
    cp "$TOP/packaging/modulefile" modules/rocline/1
    run env -u MANPATH -u XDG_DATA_DIRS bash -c ". $init; module use $PWD/modules; module load rocline
        echo \"\$XDG_DATA_DIRS \$MANPATH\"; module unload rocline; echo \"<\$XDG_DATA_DIRS\$MANPATH>\""
    [[ ${lines[0]} == /opt/rocline/*/share:/usr/local/share:/usr/share\ /opt/rocline/*/share/man: ]]
    [ "${lines[1]}" = "<>" ]
}
