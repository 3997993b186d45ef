#!/usr/bin/env bash
# Unpacks source packages of Debian or Ubuntu. They are loaded with apt-get into a folder of their own:
# nothing of the machine's settings changes.
# Usage: packaging/debian-sources.sh FOLDER PACKAGE...; DEB_SOURCES=: the mirror
set -euo pipefail
folder=$(mkdir -p "$1" && realpath "$1")
shift
for program in apt-get dpkg-source; do
    command -v "$program" >/dev/null || { echo "there is no $program to load the source of $* with" >&2; exit 3; }
done
# shellcheck source=/dev/null
. /etc/os-release
mkdir -p "$folder/lists/partial" "$folder/parts"
printf 'Types: deb-src\nURIs: %s\nSuites: %s\nComponents: main universe\n%s' "${DEB_SOURCES:-http://deb.debian.org/debian}" \
    "$VERSION_CODENAME" "$(printf 'Signed-By: %s\n' /usr/share/keyrings/"$ID"-archive-keyring.gpg)" >"$folder/parts/source.sources"
apt=(apt-get -q -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$folder/parts" -o "Dir::State::lists=$folder/lists"
    -o APT::Sandbox::User=root)
cd "$folder"
if ! { "${apt[@]}" update && "${apt[@]}" source "$@"; } >log 2>&1; then
    tail -n 5 log >&2
    echo "the source of $* cannot be loaded" >&2
    exit 3
fi
