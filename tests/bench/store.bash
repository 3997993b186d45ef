# bench/last.json (or STORE), where the last run of each machine and number of rows is: $store, $cpu.
# shellcheck shell=bash disable=SC2034
store=$(realpath -m "${STORE:-$(dirname "${BASH_SOURCE[0]}")/../../bench/last.json}")
cpu="$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -1), $(nproc) cores"
command -v jq >/dev/null || { echo "$(basename "$0" .sh): the package jq is needed, for $store" >&2; exit 3; }
mkdir -p "${store%/*}"
[ -s "$store" ] || echo '{}' >"$store"
