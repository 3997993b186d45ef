#!/usr/bin/env bash
# Holds the table of folders in lib/README.md against the includes, and finds objects that need each
# other in a circle. TAP: one test per folder, and some more.
# Usage: BUILD=build tests/layers.sh
set -u
cd "$(dirname "$0")/.." || exit 5

# "folder: folders it may include", one per line.
layers=$(sed -n 's/^| \([a-z]*\) | \([a-z ]*\) *| .*/\1: \2/p' lib/README.md | grep -v '^folder:')
n=0
check() { # what, lines that should not be
    n=$((n + 1))
    if [ -z "$2" ]; then
        echo "ok $n $1"
    else
        echo "not ok $n $1"
        printf '%s\n' "$2" | sed 's/^/#   /'
    fi
}

for folder in lib/*/; do
    layer=$(basename "$folder")
    allowed=$(printf '%s\n' "$layers" | sed -n "s/^$layer: *//p" | tr ' ' '|' | sed 's/|*$//')
    if ! printf '%s\n' "$layers" | grep -q "^$layer:"; then
        check "lib/README.md has the folder $layer" "lib/$layer is not in its table"
        continue
    fi
    public=${layer/base/-}
    check "$layer includes what lib/README.md lets it include" "$(
        grep -rnE '^#include "' "$folder" --include='*.[ch]' |
            grep -vE "#include \"($layer${allowed:+|$allowed})/" |
            if [ "$public" = - ]; then cat; else grep -vE '#include "(rocline|base/status)\.h"'; fi |
            grep -vE '#include "[^/"]*_calls\.h"'
    )"
done
rooms=$(printf '%s\n' "$layers" | sed 's/:.*//' | paste -sd'|')
check "lib has the folders of the table in lib/README.md" "$(
    printf '%s\n' "$layers" | while IFS=: read -r room _; do
        [ -d "lib/$room" ] || echo "lib/$room is not there"
    done
)"
check "tools include no other header of the library than rocline.h" "$(
    grep -rnE "^#include [\"<](\.\./|lib/)*($rooms)/" tools --include='*.[ch]'
)"
check "lib holds folders and the public header only" "$(find lib -maxdepth 1 -type f ! -name README.md ! -name rocline.h ! -name rocline.pc.in)"

# An object needs those that define its symbols; tsort names the circles. Objects of sources that
# are no more may be left over.
# shellcheck disable=SC2012 # the newest
objects=$(ls -dt "${BUILD:-build}"/obj/*/ | head -1)
check "no objects of the library need each other in a circle" "$(
    find "$objects"lib -name '*.o' | while read -r o; do
        c=${o#"$objects"}
        [ ! -f "${c%.o}.c" ] || printf '%s\n' "$o"
    done | xargs nm -A -g | awk '
        { sub(/:.*/, "", $1) }
        $2 == "U" { needs[$1 " " $3] }
        $2 != "U" { object[$3] = $1 }
        END {
            for (n in needs) {
                split(n, of)
                if (of[2] in object && object[of[2]] != of[1])
                    print of[1], object[of[2]]
            }
        }' | tsort 2>&1 >/dev/null | sed "s|$objects||"
)"
echo "1..$n"
