# For tests that compare the events of a trace with SQL on the databases that it was made of. The
# events are in the file `events`, one a line, as tests/tools/pfdump and otf2dump print them.
# shellcheck shell=bash disable=SC2034,SC2154

databases() {
    find "$FIXTURES" -maxdepth 1 \( -name 'schema-*.db' -o -name 'sys*.db' -o -name 'sampled*.db' -o \
        -name 'no-[pv]*.db' -o -name 'merged*.db' -o -name 'spm*.db' -o -name 'graph.db' -o \
        -name 'hip-events.db' -o -name 'rename.db' -o -name 'everything.db' -o -name 'nic.db' -o \
        -name 'viewer.db' -o -name 'wal-*.db' -o -name 'nasty-*.db' \) | sort
}

suffixes() { # database -> of every table set
    sqlite3 -readonly "$1" "SELECT substr(name, 15) FROM sqlite_master WHERE type = 'table' AND name
        LIKE 'rocpd\_metadata\__%' ESCAPE '\'"
}

# ask QUERY DATABASE...: the rows of a query over every table set of the databases, sorted. %S is
# the suffix, %P %T %C stand for process, thread and category, %A %Q %R for agent, queue and stream,
# %J for what they need joined, %K is what sound records fulfil. SQL does not read frames of LZ4: the
# same rows without them are asked.
ask() {
    local query=$1 db s q
    shift
    for db in "${@/schema-lz4/schema-3.0.0}"; do
        for s in $(suffixes "$db"); do
            q=$query
            q=${q//%K/typeof(x.start) = \'integer\' AND typeof(x.\"end\") = \'integer\' AND x.start >= 0
                AND x.\"end\" > 0 AND x.\"end\" >= x.start AND x.\"end\" >= coalesce((SELECT init FROM
                rocpd_info_process%S WHERE id = %P), (SELECT init FROM rocpd_info_process%S LIMIT 1), 0)}
            if sqlite3 -readonly "$db" "SELECT name FROM pragma_table_info('rocpd_region$s')" |
                grep -qx track_id; then
                q=${q//%J/LEFT JOIN rocpd_track%S k ON k.id = x.track_id %L
                    LEFT JOIN rocpd_info_category%S c ON c.id = e.category_id}
                q=${q//%C/c.name} q=${q//%P/k.pid} q=${q//%T/k.tid}
                q=${q//%A/k.agent_id} q=${q//%Q/k.queue_id} q=${q//%R/k.stream_id}
            else
                q=${q//%J/%L LEFT JOIN rocpd_string%S c ON c.id = e.category_id}
                q=${q//%C/c.string} q=${q//%P/x.pid} q=${q//%T/x.tid}
                q=${q//%A/x.agent_id} q=${q//%Q/x.queue_id} q=${q//%R/x.stream_id}
            fi
            q=${q//%L/LEFT JOIN rocpd_event%S e ON e.id = x.event_id}
            sqlite3 -readonly -separator $'\t' "$db" "${q//%S/$s}"
        done
    done | LC_ALL=C sort
}

# The fields of the lines of one sort.
lines() { # sort fields
    awk -F'\t' -v OFS='\t' -v what="$1" -v fields="$2" '
        BEGIN { n = split(fields, f, ",") }
        $1 == what { line = $f[1]; for (i = 2; i <= n; i++) line = line OFS $f[i]; print line }
    ' events | LC_ALL=C sort
}

# Number and length of the slices of one sort, by a field. Not by awk: times may be near 2^63.
totals() { # sort field
    local begin end what
    declare -A number length
    while IFS='|' read -r begin end what; do
        number[-$what]=$((${number[-$what]:-0} + 1))
        length[-$what]=$((${length[-$what]:-0} + end - begin))
    done < <(lines "$1" "2,3,$2" | tr '\t' '|')
    for what in "${!number[@]}"; do
        printf '%s\t%d\t%d\n' "${what#-}" "${number[$what]}" "${length[$what]}"
    done | LC_ALL=C sort
}

same() { # file file
    [ -s "$1" ] || fail "nothing to compare"
    diff "$1" "$2" || fail "$1 and $2 differ"
}

# The counters of each dispatch: the lines (start, name, value) in `ours` are those of SQL, but for the
# zeros at the ends of dispatches.
same_dispatch_counters() { # database
    local spm=
    sqlite3 -readonly "$1" "SELECT name FROM pragma_table_info('rocpd_pmc_event$(suffix "$1")')" |
        grep -qx sample_id && spm='AND v.sample_id IS NULL'
    ask "SELECT x.start, i.name, printf('%.6g', sum(v.value)) FROM rocpd_pmc_event%S v
        JOIN rocpd_kernel_dispatch%S x ON x.event_id = v.event_id
        JOIN rocpd_info_pmc%S i ON i.id = v.pmc_id WHERE v.value NOT NULL $spm
        GROUP BY x.id, i.name" "$1" >theirs
    [ -s theirs ] || fail "nothing to compare"
    [ -z "$(LC_ALL=C comm -13 ours theirs)" ] || fail "$1: values are missing"
    LC_ALL=C comm -23 ours theirs | awk -F'\t' '$3 != 0 { bad = 1 } END { exit bad }'
}

# The times and values of counters that were sampled, and of those that stream.
sampled() { # database
    ask "SELECT x.timestamp, printf('%.9g', v.value) FROM rocpd_pmc_event%S v JOIN (SELECT DISTINCT
        event_id, timestamp FROM rocpd_sample%S) x ON x.event_id = v.event_id" "$1"
}

streamed() { # database
    ask "SELECT x.timestamp, printf('%.9g', v.value) FROM rocpd_pmc_event%S v JOIN rocpd_sample%S x
        ON x.id = v.sample_id" "$1"
}

# Those of the tracks or metrics with such names.
values_of() { # pattern, fields of name and value
    awk -F'\t' -v pattern="$1" -v name="$2" -v value="$3" '
        $1 == "value" && $name ~ pattern { printf "%s\t%.9g\n", $2, $value }' events | LC_ALL=C sort
}

SETS=(schema-3.0.0 schema-3.0.5 schema-4.1.0 sys sys-4.1.0 sampled ticks merged everything viewer
    no-underscore)
[[ $(rocpd2csv --version) != *LZ4* ]] || SETS+=(schema-lz4)

# The rows that a trace must have, for ask.

HOST="SELECT x.start, x.\"end\", p.pid, h.tid, %C, coalesce(CASE WHEN typeof(e.extdata) = 'text' THEN
    json_extract(e.extdata, '\$.message') END, n.string), coalesce(e.stack_id, 0)
    FROM rocpd_region%S x %J
    LEFT JOIN rocpd_info_process%S p ON p.id = %P LEFT JOIN rocpd_info_thread%S h ON h.id = %T
    LEFT JOIN rocpd_string%S n ON n.id = x.name_id"

GPU="SELECT x.start, x.\"end\", p.pid, %N, coalesce(e.stack_id, 0) FROM rocpd_%X x %J
    LEFT JOIN rocpd_info_process%S p ON p.id = %P"

kernels=${GPU//%X/kernel_dispatch%S}
kernels=${kernels//%N/(SELECT display_name FROM rocpd_info_kernel_symbol%S WHERE id = x.kernel_id)}
copies=${GPU//%X/memory_copy%S}
copies=${copies//%N/(SELECT string FROM rocpd_string%S WHERE id = x.name_id)}
graphs=${GPU//%X/graph_launch%S}
graphs=${graphs//%N/\'hipGraphLaunch\'}
waits=${GPU//%X/hip_event%S}
waits=${waits//%N/(SELECT string FROM rocpd_string%S WHERE id = x.name_id)}
