#!/bin/sh
# Static checks with the tools that are installed. Usage: tests/lint.sh FLAGS SOURCES SCRIPTS MANS
# (each one word, a list inside). Exit code 1 when anything was found.
set -u
flags=$1 sources=$2 scripts=$3 mans=$4
bad=0
# Left out: what is a matter of taste, and what this code does on purpose (memcmp as a condition,
# arrays of pointers, bytes copied without a NUL, small numbers kept in pointers).
checks='-*,clang-analyzer-*,bugprone-*,performance-*,-clang-analyzer-security.insecureAPI.*,
-clang-analyzer-optin.performance.Padding,-bugprone-easily-swappable-parameters,
-bugprone-reserved-identifier,-bugprone-branch-clone,-bugprone-narrowing-conversions,
-bugprone-implicit-widening-of-multiplication-result,-bugprone-assignment-in-if-condition,
-bugprone-suspicious-string-compare,-bugprone-sizeof-expression,
-bugprone-not-null-terminated-result,-performance-no-int-to-ptr'

have() {
    command -v "$1" >/dev/null || { echo "  $1 is not installed: skipped"; return 1; }
    echo "  $1"
}

# The lists are meant to be split.
# shellcheck disable=SC2046,SC2086
{
    if have clang-tidy; then
        # One file per run: with several, the va_list checker of clang 14 is confused.
        for source in $sources; do
            clang-tidy --quiet --warnings-as-errors='*' --checks="$checks" "$source" -- $flags \
                2>/dev/null || bad=1
        done
    fi
    # cppcheck does not know _Generic, of which the calls that are generated make use.
    if have cppcheck; then
        cppcheck --quiet --std=c11 --error-exitcode=1 --inline-suppr --enable=warning,portability \
            --suppress=missingIncludeSystem --suppress=invalidFunctionArgBool \
            --suppress='internalAstError:*_calls.h' \
            $(printf '%s\n' $flags | grep '^-[ID]') $sources || bad=1
    fi
    if have shellcheck; then
        shellcheck $scripts || bad=1
    fi
    if have node; then
        node --check lib/table/html/page.js || bad=1
        node --check lib/page/timeline.js || bad=1
    fi
    if have mandoc; then
        mandoc -Tlint -Wwarning $mans || bad=1
    fi
}
exit $bad
