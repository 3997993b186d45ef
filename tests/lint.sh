#!/bin/sh
# Static checks with the tools that are installed. Usage: tests/lint.sh FLAGS SOURCES SCRIPTS MANS
# (each one word, a list inside). Exit code 1 when anything was found.
set -u
flags=$1 sources=$2 scripts=$3 mans=$4
bad=0

have() {
    command -v "$1" >/dev/null || { echo "  $1 is not installed: skipped"; return 1; }
    echo "  $1"
}

# The lists are meant to be split.
# shellcheck disable=SC2046,SC2086
{
    if have clang-tidy; then
        clang-tidy --quiet --warnings-as-errors='*' \
            --checks='-*,clang-analyzer-*,-clang-analyzer-security.insecureAPI.*,bugprone-*,-bugprone-easily-swappable-parameters,-bugprone-reserved-identifier,-bugprone-branch-clone,-bugprone-narrowing-conversions,-bugprone-implicit-widening-of-multiplication-result,-bugprone-assignment-in-if-condition,performance-*' \
            $sources -- $flags 2>/dev/null || bad=1
    fi
    if have cppcheck; then
        cppcheck --quiet --std=c11 --error-exitcode=1 --inline-suppr --enable=warning,portability \
            --suppress=missingIncludeSystem $(printf '%s\n' $flags | grep '^-[ID]') $sources || bad=1
    fi
    if have shellcheck; then
        shellcheck $scripts || bad=1
    fi
    if have mandoc; then
        mandoc -Tlint -Wwarning $mans || bad=1
    fi
}
exit $bad
