#!/usr/bin/env bash
# Builds the packages in a clean chroot, twice, and compares; runs lintian; installs them in another clean
# chroot and runs their tests (packaging/debian/tests), which convert the trace of the demo.
# Usage: packaging/check-deb.sh BUILD; SYSTEMS="bookworm trixie": Debian 12 if not given; NOCHECK=1: without
# the tests of the build
# Needs root, debootstrap and namespaces (tests/roots.bash); does nothing, and says why, without.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=tests/roots.bash
. tests/roots.bash
roots_begin check-deb "$1"
build=$(realpath "$1")
version=$(dpkg-parsechangelog -l packaging/debian/changelog -S Version)

for system in ${SYSTEMS:-bookworm}; do
    log=$roots/deb-$system.log
    : >"$log"
    # shellcheck disable=SC2064 # now
    trap "root_remove deb-$system; root_remove autopkgtest-$system" EXIT
    root_copy "$system" "deb-$system"
    # The folder of sources is made of the tarball, which is made of a checkout.
    mkdir "$roots/deb-$system/made"
    tar -xf "$build/rocline-${version%-*}.tar.gz" -C "$roots/deb-$system/made"
    cp "$build/rocline-${version%-*}.tar.gz" "$roots/deb-$system/made/rocline_${version%-*}.orig.tar.gz"
    cp -r packaging/debian "$roots/deb-$system/made/rocline-${version%-*}/"
    root_log "$log" "deb-$system" "apt-get update -q && apt-get install -q -y --no-install-recommends dpkg-dev build-essential lintian fakeroot"
    root_log "$log" "deb-$system" "cd /made/rocline-*/ && apt-get build-dep -q -y --no-install-recommends ./"
    for time in first second; do
        how=parallel=$(nproc)
        [ "${NOCHECK:-}" != 1 ] && [ $time = first ] || how="$how nocheck"
        # The second in another folder, at another time, by another name of the machine.
        root_log "$log" "deb-$system" "mkdir -p /$time && cp -a /made/. /$time && cd /$time/rocline-*/ &&
            DEB_BUILD_OPTIONS='$how' dpkg-buildpackage -us -uc"
    done
    (cd "$roots/deb-$system/first" && sha256sum ./*.deb) | (cd "$roots/deb-$system/second" && sha256sum -c --quiet) ||
        { echo "check-deb: two builds differ" >&2; exit 1; }
    echo "check-deb: two builds of $(find "$roots/deb-$system/first" -maxdepth 1 -name '*.deb' | wc -l) packages are equal"
    root_log "$log" "deb-$system" "lintian --allow-root --fail-on error,warning /first/*.changes"
    mkdir -p "$build/deb/$system"
    find "$roots/deb-$system/first" -maxdepth 1 -type f -exec cp -t "$build/deb/$system" {} +

    root_copy "$system" "autopkgtest-$system"
    mkdir "$roots/autopkgtest-$system/made"
    cp "$build/deb/$system"/* "$roots/autopkgtest-$system/made/"
    root_log "$log" "autopkgtest-$system" "apt-get update -q && apt-get install -q -y --no-install-recommends autopkgtest &&
        autopkgtest --no-built-binaries /made/*.changes -- null"
    sed -n '/^autopkgtest .*summary$/,$p' "$log" | tail -n +2
    root_remove "deb-$system"
    root_remove "autopkgtest-$system"
    trap - EXIT
done
echo "check-deb: built, equal, clean, installed and tested: ${SYSTEMS:-bookworm}"
