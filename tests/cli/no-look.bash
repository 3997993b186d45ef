#!/usr/bin/env bash
# no-look.bash LIBRARY FILE COMMAND...: what a command that writes into out/ does when one call that
# opens, looks at or reads FILE fails, for every such call, and for want of several things. It may do
# what it was asked for, byte for byte, or say what failed and leave nothing: never something else.
# Prints a line for each time it does neither. Not a function of a test: those run a hundred times
# slower.
set -u
library=$1
file=$2
shift 2

start() { # variable=value...; the command is in "$@" of the script
    rm -rf out
    mkdir out
    env LD_PRELOAD="$library" NO_LOOK_FILE="$file" "$@" >stdout 2>stderr
}

start NO_LOOK_COUNT=count "$@"
expected=$?
[ "$expected" -le 1 ] || echo "the command fails anyway: $(head -n 1 stderr)"
count=$(cat count)
[ "$count" -gt 0 ] || echo "no look at $file is counted"
rm -rf whole
mv out whole
mv stdout whole.stdout
for ((at = 1; at <= count; at++)); do
    for number in 4 5 12 24; do # EINTR EIO ENOMEM EMFILE
        start NO_LOOK_AT=$at NO_LOOK_ERRNO=$number "$@"
        status=$?
        what="call $at of $count, errno $number, of $*"
        case $status in
        "$expected") diff -r whole out && cmp whole.stdout stdout || echo "$what: another output" ;;
        3 | 5)
            [ -s stderr ] || echo "$what: no word"
            [ -z "$(ls -A out)" ] || echo "$what: something is left in out"
            [ $number -ne 12 ] || [ $status -eq 5 ] || echo "$what: exit code 3 for want of memory"
            ;;
        *) echo "$what: exit code $status" ;;
        esac
    done
done
