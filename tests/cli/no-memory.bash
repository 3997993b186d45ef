#!/usr/bin/env bash
# no-memory.bash LIBRARY N COMMAND...: what a command that writes into out/ does when an allocation
# fails, and when all from one on do, at N places each, and when one of the last fails. It may do
# what it was asked for, byte for byte, or say that memory is out and leave nothing. Prints a line
# for each time it does neither. Not a function of a test: those run a hundred times slower.
set -u
library=$1
places=$2
shift 2

start() { # variable=value...; the command is in "$@" of the script
    rm -rf out
    mkdir out
    env LD_PRELOAD="$library" "$@" >stdout 2>stderr
}

judge() { # what was done
    local status=$1
    case $status in
    0)
        [ ! -s stderr ] || echo "$2: a message, but no failure: $(head -n 1 stderr)"
        diff -r whole out >/dev/null || echo "$2: another output"
        ;;
    5)
        grep -qi memory stderr || echo "$2: exit code 5, and not for want of memory"
        [ -z "$(ls -A out)" ] || echo "$2: something is left in out"
        ;;
    *) echo "$2: exit code $status: $(head -n 1 stderr)" ;;
    esac
}

start NO_MEMORY_COUNT=count "$@" || echo "the command fails with all memory"
count=$(cat count)
[ "$count" -gt 1000 ] || echo "allocations are not counted"
rm -rf whole
mv out whole
for ((i = 0; i < places; i++)); do
    at=$((count * i / places + count % 97 % (count / places) + 1)) # others after every change
    start NO_MEMORY_AT=$at "$@"
    judge $? "allocation $at of $*"
    start NO_MEMORY_AT=$at NO_MEMORY_FROM_THERE=1 "$@"
    judge $? "allocations from $at on, of $*"
done
# While the output is written there are few: each of them.
for ((at = count - 60; at <= count; at++)); do
    start NO_MEMORY_AT=$at "$@"
    judge $? "allocation $at of $*"
done
