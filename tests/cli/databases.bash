# For tests that write databases.
# shellcheck shell=bash disable=SC2034,SC2154

gen() { # NAME SEED OPTIONS...
    local name=$1 seed=$2
    shift 2
    "$BUILD/tests/rocpd-gen" -o "$name" --rows 300 --kernels 12 --caches 1 --seed "$seed" "$@"
}

# SQL over all table sets of some databases: %S in it is the suffix. One line per set.
per_set() { # sql database...
    local sql=$1 db s
    shift
    for db in "$@"; do
        for s in $(sqlite3 -readonly "$db" "SELECT substr(name, 15) FROM sqlite_master
                WHERE type = 'table' AND name LIKE 'rocpd_metadata%' ORDER BY rowid"); do
            sqlite3 -readonly "$db" "${sql//%S/$s}"
        done
    done
}

# A merge that is killed leaves the old output, or, when the blow came late, a whole new one.
survives_kills() { # input
    local delay
    echo old >m.db
    for delay in 0.05 0.1 0.2; do
        timeout -s KILL $delay rocmerge -q -o m.db "$1" && break
        [ "$(find . -mindepth 1 | wc -l)" -eq 2 ] || fail "something is left"
        grep -qx old m.db || sound m.db
    done
}

sound() { # database
    [ "$(sqlite3 "$1" 'PRAGMA integrity_check; PRAGMA foreign_key_check')" = ok ] ||
        fail "$1: $(sqlite3 "$1" 'PRAGMA integrity_check; PRAGMA foreign_key_check' | head -5)"
}

# Both say the same to the tools: [OPTION]... -- MERGED PARTS...
same_to_tools() {
    local options=()
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    local merged=$2
    shift 2
    rm -rf parts-csv merged-csv
    rocpd2csv -q "${options[@]}" -d parts-csv "$@" || [ $? -eq 1 ]
    rocpd2csv -q -d merged-csv "$merged" || [ $? -eq 1 ]
    diff -r parts-csv merged-csv
}
