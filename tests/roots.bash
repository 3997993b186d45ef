# Roots of bare systems, for tests that need a machine without anything. Sourced by bare.sh, machines.sh
# and packaging/check-deb.sh. What debootstrap made, and what apt loaded, is kept in ROOTS (BUILD/roots);
# a root that a test works in is a copy, and goes with it. Mounts are made in namespaces that go, too.

# Finds out whether roots can be made here; else says why not, and ends the test.
roots_begin() { # name build
    test_name=$1
    roots=${ROOTS:-$2/roots}
    skip() { echo "$test_name: skipped: $1"; exit 0; }
    [ "$(id -u)" -eq 0 ] || skip "not root"
    local program
    for program in debootstrap unshare chroot git tar; do
        command -v "$program" >/dev/null || skip "no $program"
    done
    unshare --mount --pid --fork true 2>/dev/null || skip "no namespaces here"
    mkdir -p "$roots/archives"
    roots=$(realpath "$roots")
}

# The mirror of a system: the one that this machine uses, if it is of Debian.
root_mirror() { # system
    local mirror=
    case $1 in
    jammy | noble) echo http://archive.ubuntu.com/ubuntu && return ;;
    esac
    # shellcheck disable=SC2016 # for apt-get to expand
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 2>/dev/null |
        grep -v -- -security | head -1) || true
    echo "${mirror:-http://deb.debian.org/debian}"
}

# The smallest set of packages of bookworm, trixie, jammy or noble in ROOTS/base-SYSTEM. The keys of
# Ubuntu are rarely on a Debian machine: its first packages are then not checked, all others are.
root_base() { # system
    local base=$roots/base-$1 options=(--variant=minbase) keys=/usr/share/keyrings/ubuntu-archive-keyring.gpg script=
    [ ! -d "$base" ] || return 0
    case $1 in
    jammy | noble)
        options+=("--components=main,universe")
        if [ -e "$keys" ]; then options+=("--keyring=$keys"); else options+=(--no-check-gpg); fi
        script=/usr/share/debootstrap/scripts/gutsy
        ;;
    esac
    rm -rf --one-file-system "$base.new"
    # shellcheck disable=SC2086 # no script, no word
    unshare --mount --pid --fork --kill-child debootstrap "${options[@]}" "$1" "$base.new" "$(root_mirror "$1")" $script
    mv "$base.new" "$base"
}

# A copy of it in ROOTS/NAME, with the way to the network and the files of the checkout as they are now in
# /rocline.
root_copy() { # system name
    local root=$roots/$2 file
    root_base "$1"
    rm -rf --one-file-system "$root"
    cp -a "$roots/base-$1" "$root"
    apt-config dump Acquire >"$root/etc/apt/apt.conf.d/90rocline"
    for file in resolv.conf hosts; do
        [ ! -e "/etc/$file" ] || cp -L "/etc/$file" "$root/etc/$file"
    done
    mkdir "$root/rocline"
    git ls-files -z --cached --others --exclude-standard --deduplicate | while IFS= read -r -d '' file; do
        [ ! -e "$file" ] || printf '%s\0' "$file"
    done | tar -c --null -T - | tar -x -C "$root/rocline"
}

root_remove() { # name
    rm -rf --one-file-system "${roots:?}/$1"
}

# A command in /rocline of a root, with the environment of a login and no more.
root_run() { # name command
    mkdir -p "$roots/archives/$1"
    # shellcheck disable=SC2016 # expanded inside
    unshare --mount --pid --fork --kill-child sh -c '
        mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && mount --bind "$2" "$1/var/cache/apt/archives" &&
            exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
                ${4:+http_proxy="$4"} ${5:+https_proxy="$5"} chroot "$1" bash -c "cd /rocline && $3"' \
        sh "$roots/$1" "$roots/archives/$1" "$2" "${http_proxy:-}" "${https_proxy:-}"
}

# The same into a log; shows its end, and fails, when the command does.
root_log() { # log name command
    echo "$test_name: $2: $3"
    root_run "$2" "$3" >>"$1" 2>&1 || {
        local code=$?
        tail -n 60 "$1"
        echo "$test_name: failed: $2: $3; all it said is in $1" >&2
        return "$code"
    }
}
