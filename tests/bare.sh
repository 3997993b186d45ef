#!/usr/bin/env bash
# Runs README's two commands, as they stand there, in a bare Debian 12 that has nothing but git and
# make beyond its smallest set of packages: whatever else they call must come from `make deps`.
# Usage: tests/bare.sh BUILD
# Needs root, debootstrap and namespaces; does nothing, and says why, without. The first root and
# what apt loads are kept in BUILD/bare (or BARE); mounts are made in a namespace that goes with it.
set -euo pipefail
cd "$(dirname "$0")/.."
bare=${BARE:-$1/bare}

skip() { echo "check-bare: skipped: $1"; exit 0; }

[ "$(id -u)" -eq 0 ] || skip "not root"
for program in debootstrap unshare chroot git tar; do
    command -v "$program" >/dev/null || skip "no $program"
done
unshare --mount --pid --fork true 2>/dev/null || skip "no namespaces here"
mapfile -t commands < <(sed -n 's/^    \(make deps [a-z]*\).*/\1/p' README.md)
[ "${#commands[@]}" -eq 2 ] || { echo "check-bare: README.md has ${#commands[@]} commands, not 2" >&2; exit 5; }

mkdir -p "$bare/archives"
bare=$(realpath "$bare")
root=$bare/root

# The mirror that this machine uses, if it is one of Debian.
# shellcheck disable=SC2016 # for apt-get to expand
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' 'Origin: Debian' 2>/dev/null | head -1) || true
if [ ! -d "$bare/base" ]; then
    rm -rf "$bare/base.new"
    # In a namespace: it leaves its mounts behind when it is interrupted.
    unshare --mount --pid --fork --kill-child debootstrap --variant=minbase bookworm "$bare/base.new" "${mirror:-http://deb.debian.org/debian}"
    mv "$bare/base.new" "$bare/base"
fi

trap 'rm -rf --one-file-system "$root"' EXIT
rm -rf --one-file-system "$root"
cp -a "$bare/base" "$root"
# The way to the mirror: proxies and the like.
apt-config dump Acquire >"$root/etc/apt/apt.conf.d/90check-bare"
for file in resolv.conf hosts; do
    [ ! -e "/etc/$file" ] || cp -L "/etc/$file" "$root/etc/$file"
done
# The files of the checkout as they are now, and of a checkout only.
mkdir "$root/rocline"
git ls-files -z --cached --others --exclude-standard --deduplicate | while IFS= read -r -d '' file; do
    [ ! -e "$file" ] || printf '%s\0' "$file"
done | tar -c --null -T - | tar -x -C "$root/rocline"

inside() { # command in the root
    # shellcheck disable=SC2016 # expanded inside
    unshare --mount --pid --fork --kill-child sh -c '
        mount -t proc proc "$1/proc" && mount --bind "$2" "$1/var/cache/apt/archives" &&
            exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root MAKEFLAGS="$4" ${5:+http_proxy="$5"} \
                ${6:+https_proxy="$6"} chroot "$1" sh -c "cd /rocline && $3"' \
        sh "$root" "$bare/archives" "$1" "-j$(nproc)" "${http_proxy:-}" "${https_proxy:-}"
}

log=$bare/log
: >"$log"
for command in "apt-get update -q && apt-get install -q -y --no-install-recommends git make" "${commands[@]}"; do
    echo "check-bare: $command"
    inside "$command" >>"$log" 2>&1 || {
        code=$?
        tail -n 60 "$log"
        echo "check-bare: failed: $command; all it said is in $log" >&2
        exit "$code"
    }
done
tail -n 1 "$log"
