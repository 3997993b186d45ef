#!/usr/bin/env bash
# Holds the table of rooms in lib/README.md against the includes. TAP: one test a room.
set -u
cd "$(dirname "$0")/.." || exit 5

# "room: allowed rooms", one a line.
rooms=$(sed -n 's/^| \([a-z]*\) | \([a-z ]*\) *| .*/\1: \2/p' lib/README.md | grep -v '^room:')
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
    room=$(basename "$folder")
    allowed=$(printf '%s\n' "$rooms" | sed -n "s/^$room: *//p" | tr ' ' '|' | sed 's/|*$//')
    if ! printf '%s\n' "$rooms" | grep -q "^$room:"; then
        check "lib/README.md has the room $room" "lib/$room is not in its table"
        continue
    fi
    public=${room/base/-}
    check "$room includes what lib/README.md lets it include" "$(
        grep -rnE '^#include "' "$folder" --include='*.[ch]' |
            grep -vE "#include \"($room${allowed:+|$allowed})/" |
            if [ "$public" = - ]; then cat; else grep -vE '#include "(rocline|base/status)\.h"'; fi |
            grep -vE '#include "[^/"]*_calls\.h"'
    )"
done
check "tools include no other header of the library than rocline.h" "$(
    grep -rnE '^#include "' tools --include='*.[ch]' | grep -E '"(base|model|format|source|filter|trace|timeline|sink|table|analysis|merge|legacy|capture)/'
)"
check "lib holds rooms and the public header only" "$(find lib -maxdepth 1 -type f ! -name README.md ! -name rocline.h ! -name rocline.pc.in)"
echo "1..$n"
