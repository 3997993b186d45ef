#!/usr/bin/env bash
# Makes libcjson.a from the source package of Debian, which has only the shared library in a package.
# Its source is loaded with apt-get into folders of its own: nothing of the machine's settings changes.
# Usage: packaging/libcjson.sh FOLDER [SOURCE]: of the library; SOURCE: a folder with cJSON.c, where it
# need not be loaded
set -euo pipefail
folder=$(mkdir -p "$1" && realpath "$1")
source=${2:-}

if [ -z "$source" ]; then
    for program in apt-get dpkg-source; do
        command -v "$program" >/dev/null || {
            echo "libcjson.a: there is none, and no $program to load the source with: give CJSON_SOURCE=, a folder with cJSON.c" >&2
            exit 3
        }
    done
    . /etc/os-release
    mkdir -p "$folder/lists/partial" "$folder/parts"
    printf 'Types: deb-src\nURIs: %s\nSuites: %s\nComponents: main universe\n%s' "${DEB_SOURCES:-http://deb.debian.org/debian}" \
        "$VERSION_CODENAME" "$(printf 'Signed-By: %s\n' /usr/share/keyrings/"$ID"-archive-keyring.gpg)" >"$folder/parts/source.sources"
    apt=(apt-get -q -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$folder/parts" -o "Dir::State::lists=$folder/lists"
        -o APT::Sandbox::User=root)
    cd "$folder"
    "${apt[@]}" update >log 2>&1 && "${apt[@]}" source cjson >>log 2>&1 || {
        tail -n 5 log >&2
        echo "libcjson.a: its source cannot be loaded: give CJSON_SOURCE=, a folder with cJSON.c" >&2
        exit 3
    }
    source=$(echo "$folder"/cjson-*/)
fi
cd "$folder"
# shellcheck disable=SC2086 # several words
${CC:-cc} ${CFLAGS:--O2} -fPIC -c -o cJSON.o "$source/cJSON.c"
ar rcsD libcjson.a cJSON.o
