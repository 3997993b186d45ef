#!/usr/bin/env bash
# Holds how many instructions the tools take for five small inputs against the numbers that are noted in
# tests/instructions.tsv: 2 % more or less is a failure. Usage: tests/instructions.sh BUILD. TAP.
#     BLESS=1 tests/instructions.sh BUILD    notes down what they take now
#
# Only instructions of the program itself are counted, and what it calls in libraries is not: these
# have other code for other processors and change with the system. With -j1 the count is then the same
# in each run, folder and environment. It depends on the compiler and its flags, so numbers are noted for
# each of these, and where none are, the test is skipped.
set -u
cd "$(dirname "$0")/.." || exit 5
build=$(realpath "${1:-build}")
noted=$PWD/tests/instructions.tsv
band=2 # %
cases="pftrace of a database|rocpd2pftrace -o t.pftrace one.db
CSV of a database|rocpd2csv -d csv one.db
reports of PyTorch's JSON|rocstats all kineto.json
summary of rocprofv3's JSON|rocstats summary v3.json
JSON of rtg's text|rtg2json -o t.json rtg.txt"
count=$(wc -l <<<"$cases")

skip_all() { # reason
    local n=0 name
    echo "1..$count"
    while IFS='|' read -r name _; do
        echo "ok $((++n)) instructions: $name # SKIP $1"
    done <<<"$cases"
    exit 0
}

# The first line of build/.flags has the compiler, its flags, and those of the linker.
read -ra words < <(sed '1!d; s/ | .*//' "$build/.flags")
cc=() flags=()
for word in "${words[@]}"; do
    case $word in
    -fsanitize* | --coverage) skip_all "this build is instrumented" ;;
    -I* | -D* | -W* | -std=*) ;;
    -*) flags+=("$word") ;;
    *) cc+=("$word") ;;
    esac
done
command -v valgrind >/dev/null || skip_all "valgrind is not installed"
compiler="$("${cc[@]}" --version | head -1) $(uname -m) ${flags[*]}"
[ "${BLESS:-}" = 1 ] || grep -qF "$compiler"$'\t' "$noted" ||
    skip_all "no numbers are noted for $compiler: BLESS=1 tests/instructions.sh BUILD notes them"

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 5
"$build/tests/rocpd-gen" -o one.db --rows 4000 >/dev/null || exit 5
awk -v format=kineto -v rows=1000 -f "$OLDPWD/tests/bench/profilers.awk" >kineto.json
awk -v version=7.0 -v rows=1000 -v symbols=100 -f "$OLDPWD/tests/fixtures/rocprofv3_json.awk" >v3.json
"$build/tests/rtggen" rtg 4000 >rtg.txt

# The lines of callgrind's output: of an object, of a call and then what it took, of costs.
count_own() { # program
    awk -v program="/$1$" '
        /^c?ob=/ {
            split($0, part, /[=() ]+/)
            if (NF > 1) own[part[2]] = $0 ~ program
            if (/^ob=/) object = part[2]
            next
        }
        /^calls=/ { called = 1; next }
        /^[0-9+*-]/ { if (!called && own[object]) sum += $2; called = 0 }
        END { printf "%d\n", sum }' callgrind
}

n=0
echo "1..$count"
while IFS='|' read -r name command; do
    read -ra words <<<"$command"
    n=$((n + 1))
    if ! valgrind --tool=callgrind --callgrind-out-file=callgrind "$build/bin/${words[0]}" -q -j1 \
        "${words[@]:1}" >out 2>&1; then
        echo "not ok $n instructions: $name"
        sed 's/^/#   /' out
        continue
    fi
    now=$(count_own "${words[0]}")
    if [ "${BLESS:-}" = 1 ]; then
        printf '%s\t%s\t%s\n' "$compiler" "$name" "$now" >>new
        echo "ok $n instructions: $name, noted down $now"
        continue
    fi
    before=$(awk -F'\t' -v c="$compiler" -v n="$name" '$1 == c && $2 == n { print $3 }' "$noted")
    if awk -v a="${before:-0}" -v b="$now" -v band=$band 'BEGIN { exit !(b > 0 && 100 * (b > a ? b - a : a - b) <= band * a) }'; then
        echo "ok $n instructions: $name"
    else
        echo "not ok $n instructions: $name"
        awk -v a="${before:-0}" -v b="$now" 'BEGIN { printf "#   %d before, %d now: %+.1f %%\n", a, b, a ? 100 * (b / a - 1) : 0 }'
        echo "#   if this is meant to be: BLESS=1 tests/instructions.sh BUILD"
    fi
done <<<"$cases"
if [ "${BLESS:-}" = 1 ]; then
    { [ ! -f "$noted" ] || grep -vF "$compiler"$'\t' "$noted"; cat new; } | sort >sorted
    mv sorted "$noted"
fi
