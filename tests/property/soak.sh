#!/usr/bin/env bash
# Rows in = rows out + rows counted: every fixture, the traces of ROCLINE_DATA, damages of them,
# and inputs that are made, through every output. Usage: soak.sh BUILD SECONDS SEED [--tap]
# The last line has the figures. A finding is printed with the command that repeats it.
set -u
build=$(realpath "$1") seconds=$2 seed=$3
here=$(dirname "$0")
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1:halt_on_error=1}
export LSAN_OPTIONS=${LSAN_OPTIONS:-suppressions=$(realpath "$here/..")/lsan.supp:print_suppressions=0}
export LC_ALL=C.UTF-8
unset ROCPD_OUTPUT_NAME ROCPD_OUTPUT_PATH NO_COLOR
"$here/inputs.sh" "$build" "$build/soak" || exit 5
run() { # options...
    nice "$build/tests/soak" "$@" --seconds "$seconds" --seed "$seed" --jobs "${JOBS:-$(nproc)}" "$here"/made/*.rows "$build"/soak/*
}
if [ "${4:-}" != --tap ]; then
    run
    exit
fi
echo 1..1
log=$(run --rounds 3) # the same cases on every machine that is fast enough
rc=$?
[ $rc -eq 0 ] && echo "ok 1 - ${log##*$'\n'}" || echo "not ok 1 - ${log##*$'\n'}"
echo "# ${log//$'\n'/$'\n# '}"
exit $rc
