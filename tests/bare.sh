#!/usr/bin/env bash
# Runs README's two commands, as they stand there, in bare systems that have nothing but git and make
# beyond their smallest set of packages: whatever else they call must come from `make deps`. The demo
# runs once more as a user with sudo.
# Usage: tests/bare.sh BUILD; SYSTEMS="bookworm trixie jammy noble": Debian 12 if not given; ONLY=demo: not
# all tests
# Needs root, debootstrap and namespaces (tests/roots.bash); does nothing, and says why, without.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=tests/roots.bash
. tests/roots.bash
roots_begin check-bare "$1"
mapfile -t commands < <(sed -n 's/^    \(make deps [a-z]*\).*/\1/p' README.md)
[ "${#commands[@]}" -eq 2 ] || { echo "check-bare: README.md has ${#commands[@]} commands, not 2" >&2; exit 5; }

used() { df --output=used -m "$roots" | tail -1; }

for system in ${SYSTEMS:-bookworm}; do
    name=bare-$system
    log=$roots/$name.log
    : >"$log"
    # shellcheck disable=SC2064 # now
    trap "root_remove $name" EXIT
    for user in root me; do
        root_copy "$system" "$name"
        root_log "$log" "$name" "apt-get update -q && apt-get install -q -y --no-install-recommends git make $([ $user = root ] || echo sudo)"
        [ $user = root ] || root_run "$name" "useradd -m me && echo 'me ALL=(ALL) NOPASSWD:ALL' >/etc/sudoers.d/me && chown -R me /rocline"
        for command in "${commands[@]}"; do
            [ "$user-${ONLY:-}" = root- ] || [[ $command == *demo ]] || continue
            before=$(used) from=$SECONDS
            if [ $user = root ]; then
                root_log "$log" "$name" "$command"
            else
                root_log "$log" "$name" "su me -c '$command'"
            fi
            echo "check-bare: $((SECONDS - from)) s, $(($(used) - before)) MB with packages"
        done
    done
    root_remove "$name"
    tail -n 1 "$log"
done
