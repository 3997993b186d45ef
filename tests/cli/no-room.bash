#!/usr/bin/env bash
# no-room.bash LIBRARY N COMMAND...: what a command that writes into out/ does when one of the calls
# that make output fails, at N places of each. out/ has the files of the folder before/. The command
# may do what it was asked for, byte for byte, or exit with 4, say why, and leave all as it was.
# Prints a line for each time it does neither. Not a function of a test: those run a hundred times
# slower.
set -u
library=$1
places=$2
shift 2

start() { # variable=value...; the command is in "$@" of the script
    rm -rf out
    cp -r before out
    env LD_PRELOAD="$library" "$@" >stdout 2>stderr
}

judge() { # what was done
    local status=$1
    case $status in
    0)
        diff -r whole out >/dev/null || echo "$2: exit code 0, and another output"
        ;;
    4)
        grep -q "No space left" stderr || echo "$2: $(head -n 1 stderr)"
        diff -r before out >/dev/null || echo "$2: something is left, or gone: $(ls -A out)"
        ;;
    *) echo "$2: exit code $status: $(head -n 1 stderr)" ;;
    esac
}

for call in write link rename close fsync mkdir ftruncate; do
    start NO_ROOM_CALL=$call NO_ROOM_COUNT=count "$@" || echo "the command fails without a failure"
    count=$(cat count)
    rm -rf whole
    mv out whole
    failures=0
    for ((i = 0; i < places && i < count; i++)); do
        at=$((count <= places ? i + 1 : count * i / places + 1))
        start NO_ROOM_CALL=$call NO_ROOM_AT=$at "$@"
        status=$?
        judge $status "$call $at of $*"
        failures=$((failures + (status == 4)))
        [ "$call" = write ] || continue
        start NO_ROOM_CALL=$call NO_ROOM_FOR_GOOD=1 NO_ROOM_AT=$at "$@"
        judge $? "${call}s from $at on, of $*"
    done
    echo "$call: $count, $failures failures" >&2
done
