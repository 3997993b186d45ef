# Loaded by every .bats file here. Run through `make check`, or by hand after `make tests fixtures`:
#   bats tests/cli/options.bats
# shellcheck shell=bash disable=SC2034,SC2154,SC2164

TOP=$(realpath "$BATS_TEST_DIRNAME/../..")
BUILD=$(realpath "${BUILD:-$TOP/build}")
FIXTURES=${FIXTURES:-$BUILD/fixtures}
SHARED=${ROCLINE_DATA:-$TOP/../shared/data} # not part of the project: tests that need it are skipped without
TOOLS=(rocpd2csv rocpd2pftrace) # the converters
PROGRAMS=("${TOOLS[@]}" rocpd2otf2 rocstats rocmerge rtg2json rpt rocrec rocline)
PATH=$BUILD/bin:$PATH
unset ROCPD_OUTPUT_NAME ROCPD_OUTPUT_PATH NO_COLOR MAKEFLAGS MAKELEVEL MFLAGS
bats_require_minimum_version 1.5.0

# What all tests of a file need; files have their own (bats 1.8 cannot skip in setup_file).
requires() {
    :
}

# Every test has an empty folder as the current one.
setup() {
    requires
    mkdir "$BATS_TEST_TMPDIR/here"
    cd "$BATS_TEST_TMPDIR/here" || exit 1
}

needs() { # file or program...
    local what
    for what in "$@"; do
        [ -e "$what" ] || command -v "$what" >/dev/null || skip "no $what"
    done
}

# For what is different on a terminal: `script` makes a pseudo-terminal, where the system has them.
needs_terminal() {
    needs script
    script -qec true /dev/null >/dev/null 2>&1 </dev/null || skip "no pseudo-terminal can be made here"
}

# Fails with everything that is known about the last `run`.
fail() {
    printf '%s\n' "$*" "status $status" "output:" "$output"
    [ -z "${stderr:-}" ] || printf '%s\n' "stderr:" "$stderr"
    return 1
}

# try STATUS COMMAND...: runs it, output and stderr apart, and checks the exit code.
try() {
    local expected=$1
    shift
    run --separate-stderr "$@"
    [ "$status" -eq "$expected" ] || fail "$*: exit code $expected was expected"
}

says() { # text on standard error
    [[ "$stderr" == *"$1"* ]] || fail "stderr does not say: $1"
}

silent() {
    [ -z "$output$stderr" ] || fail "nothing should be printed"
}

# Standard error is one line, and begins with the name of the tool.
one_line() { # tool
    [ "${#stderr_lines[@]}" -eq 1 ] || fail "one line was expected"
    [[ "$stderr" == "$1: "* ]] || fail "a line that begins with $1: was expected"
}

# The packets of a trace as text.
decode() { # file
    protoc --decode=perfetto.protos.Trace -I "$TOP/tests/proto" \
        "$TOP/tests/proto/perfetto_subset.proto" <"$1"
}

# The suffix of the tables of a database with one process.
suffix() { # database
    sqlite3 -readonly "$1" "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE
        'rocpd_metadata%' LIMIT 1" | sed 's/^rocpd_metadata//'
}
