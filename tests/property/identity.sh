#!/usr/bin/env bash
# Who is who stays the same through every format: six jobs are written in each, read back, and asked
# for their hosts, processes, threads, GPUs, streams and the work on each GPU. A test is a job in a
# format; it fails with the lines that differ (<: the job, >: what was read back).
# OTF2 is read by otf2-print and libotf2, JSON lines by jq and sqlite3: rocline does not read them.
# Recordings are made by rocrec only; Parquet and Arrow have the relations of JSON lines.
# Usage: identity.sh BUILD [CELL...]   CELL: "visible pftrace", or a job or a format. TAP.
set -u
here=$(realpath "$(dirname "$0")")
build=$(realpath "$1")
shift
export PATH=$build/bin:$PATH TERM=dumb
work=$(mktemp -d "${TMPDIR:-/tmp}/identity.XXXXXX") || exit 5
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 5
count=0

result() { # ok or "not ok", name, file with what is to be said
    count=$((count + 1))
    echo "$1 $count $2"
    [ ! -s "${3:-}" ] || sed 's/^/# /' "$3"
}

for program in sqlite3 jq; do
    command -v "$program" >/dev/null || { echo "ok 1 # SKIP no $program"; echo 1..1; exit 0; }
done

# ---- facts ------------------------------------------------------------------------------------

# What is known, a fact a line: its kind, and four values. Two GPUs without uuids are told apart by
# their labels. A stream is what ran on it, and its name, which some formats cannot hold.
cat >facts.sql <<'SQL'
WITH gpu AS MATERIALIZED (
    SELECT DISTINCT nullif(hostname, '') AS hostname, label, coalesce(nullif(uuid, ''), label) AS name,
        pci FROM agent WHERE type = 'GPU'),
work AS MATERIALIZED (
    SELECT coalesce(nullif(hostname, ''), '-') AS host, pid, rank, name, duration, stream, stream_id,
        coalesce((SELECT group_concat(g.name) FROM gpu g WHERE g.label = agent), 'no GPU') AS gpu
    FROM kernel)
SELECT DISTINCT 'process', coalesce(nullif(hostname, ''), '-'), rank, pid, '' FROM process
UNION ALL SELECT DISTINCT 'command', rank, pid, replace(
    substr(command, 1, instr(command || ' ', ' ') - 1), '/opt/app/', ''), '' FROM process
UNION ALL SELECT 'thread', coalesce(nullif(hostname, ''), '-') || ' ' || coalesce(rank, '-') || ' ' ||
    pid, tid, count(*), '' FROM region GROUP BY hostname, rank, pid, tid
UNION ALL SELECT DISTINCT 'thread-name', rank, pid, tid, thread FROM region
UNION ALL SELECT DISTINCT CASE WHEN EXISTS (SELECT 1 FROM work WHERE work.gpu = gpu.name) THEN 'gpu'
    ELSE 'idle' END, coalesce(hostname, '-'), name, '', '' FROM gpu
UNION ALL SELECT DISTINCT 'pci', coalesce(hostname, '-'), name, pci, '' FROM gpu WHERE name IN (SELECT gpu FROM work)
UNION ALL SELECT 'stream', host || ' ' || coalesce(rank, '-') || ' ' || pid, gpu, count(*),
    sum(duration) FROM work GROUP BY host, rank, pid, gpu, stream_id, stream
UNION ALL SELECT DISTINCT 'stream-name', rank, pid, stream, '' FROM work
UNION ALL SELECT 'work', host || ' ' || gpu, name, count(*), sum(duration) FROM work
    GROUP BY host, gpu, name
UNION ALL SELECT 'rank', rank, pid, count(*), sum(duration) FROM work GROUP BY host, rank, pid
UNION ALL SELECT 'pid', pid, name, count(*), sum(duration) FROM work GROUP BY pid, name
SQL

facts_of() { # input...
    rocline query -q -f tsv --script facts.sql "$@" | tail -n +2
    rocline info -q --format json "$@" | jq -r '.data.hosts.rows[].host | ["host", ., "", "", ""] | @tsv'
}

# What a format cannot hold, or a job does not say: format or job, kind of fact, why.
EXCEPTIONS="
texts           stream-name,thread-name  its streams and threads have no names, and get some
rocprofv3.json  thread-name  its form has no names of threads
rocprofv3       thread-name  likewise
rocprof.json    thread-name,stream-name  likewise
pftrace         idle         pictures have tracks of what has events
pftrace.legacy  idle         likewise
trace           idle         likewise
rocprof.json    idle         likewise
rocprofv3.json  stream-name  streams are numbers
rocprofv3       stream-name,command  streams are numbers, and commands have no column
rocprof.json    command      processes are numbers
pftrace.legacy  stream-name  its tracks of streams are numbers
kineto          stream-name  streams are numbers
rocprof.csv     !pid         a row of a kernel names its pid, and neither its process nor its GPU
otf2            !process,host,gpu,rank  only these can be asked without a reader of ours
jsonl           host         nodes are not numbered
"

# The lines that a format can hold, sorted.
kept() { # job format
    awk -F'\t' -v job="$1" -v format="$2" -v table="$EXCEPTIONS" '
        BEGIN {
            n = split(table, line, "\n")
            for (i = 1; i <= n; i++) {
                split(line[i], word, " ")
                if (word[1] != format && word[1] != job)
                    continue
                has = sub(/^!/, "", word[2])
                only += has
                m = split(word[2], kind, ",")
                for (k = 1; k <= m; k++)
                    if (has) held[kind[k]] = 1; else lost[kind[k]] = 1
            }
        }
        !($1 in lost) && (!only || $1 in held)' | LC_ALL=C sort
}

# ---- jobs -------------------------------------------------------------------------------------

# shellcheck source=/dev/null
. "$here/jobs.bash"

# job, and its hosts, ranks, processes and GPUs; those of "shared" use the first of two
TRUTH="
eight       1 1  1  8
visible     1 4  4  4
hosts       4 16 16 16
shared      1 2  2  2
containers  4 4  4  4
texts       2 2  2  2
"

make_jobs

# ---- formats ----------------------------------------------------------------------------------

FORMATS="rocpd rocpd.rebuilt pftrace pftrace.legacy trace kineto rocprofv3.json rocprofv3 rocprof.json
rocprof.csv otf2 jsonl"

write() { # format folder input...
    local format=$1 to=$2
    shift 2
    case $format in
    rocpd) rocmerge -q -o "$to/out.db" "$@" ;;
    rocpd.rebuilt) rocmerge -q --rebuild -o "$to/out.db" "$@" ;;
    pftrace) rocpd2pftrace -q -o "$to/out.pftrace" "$@" ;;
    pftrace.legacy) rocpd2pftrace -q --legacy-tracks -o "$to/out.pftrace" "$@" ;;
    trace | kineto) rtg2json -q --layout "$format" -o "$to/out.json" "$@" ;;
    rocprofv3.json | rocprof.json) rtg2json -q --layout "${format%.json}" -o "$to/out.json" "$@" ;;
    rocprofv3) rocpd2csv -q --style rocprofv3 -d "$to" -o out "$@" ;;
    rocprof.csv) rocpd2csv -q --style rocprof -d "$to" -o out "$@" ;;
    otf2) rocpd2otf2 -q -o "$to/out.otf2" "$@" ;;
    jsonl) rocline export -q -f jsonl -d "$to" -o out "$@" ;;
    esac
}

# The facts in a folder of OTF2: nodes and their processes and GPUs by otf2-print, work by libotf2.
facts_of_otf2() { # folder
    otf2-print -G "$1/out.otf2" >defs.txt
    "$build/tests/otf2dump" "$1/out.otf2" >events.txt
    awk -v OFS='\t' '
        function part(key) {
            if (!match($0, key ": \"[^\"]*\""))
                return ""
            return substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 4)
        }
        function id_behind(key) {
            return match($0, key ": \"[^\"]*\" <[0-9]+>") ? substr($0, RSTART, RLENGTH) : ""
        }
        function number(text) { sub(/.*</, "", text); sub(/>.*/, "", text); return text }
        $1 == "SYSTEM_TREE_NODE" {
            name[$2] = part("Name"); parent[$2] = number(id_behind("Parent"))
            if (part("Class") == "node") { node[$2] = 1; print "host", name[$2], "", "", "" }
            if (part("Class") == "GPU") gpu[$2] = name[$2]
        }
        $1 == "SYSTEM_TREE_NODE_PROPERTY" && part("Name") == "uuid" {
            gpu[number(id_behind("System Tree Node"))] = part("Value")
        }
        $1 == "LOCATION_GROUP" && /Type: PROCESS/ { at[$2] = number(id_behind("Parent")) }
        $1 == "LOCATION_GROUP_PROPERTY" {
            value = $0; sub(/.*Value: /, "", value)
            property[number(id_behind("Location Group")), part("Name")] = value
        }
        END {
            for (g in gpu) print "gpu", name[parent[g]], gpu[g], "", ""
            for (p in at) print "process", name[at[p]], property[p, "rank"], property[p, "pid"], ""
        }' defs.txt
    awk -F'\t' -v OFS='\t' '$1 == "stage" && $7 == "KERNEL_DISPATCH" {
            calls[$4]++; ns[$4] += $3 - $2 }
        END { for (p in calls) print "rank", "", p, calls[p], ns[p] }' events.txt
}

# The same of JSON lines: their columns are tables of sqlite3 for the same SQL.
facts_of_jsonl() { # folder
    local table columns
    {
        while read -r table columns; do
            jq -r "[${columns// /,}] | map(if . == null then \"NULL\" else . end) | @tsv" \
                "$1/out_$table.jsonl" >"$1/$table.tsv"
            columns=${columns//./}
            echo "CREATE TABLE $table (${columns// /,});"
            echo ".import $1/$table.tsv $table"
            for column in $columns; do
                echo "UPDATE $table SET $column = NULL WHERE $column = 'NULL';"
            done
        done <<'TABLES'
process .guid .hostname .rank .pid .command
agent .hostname .uuid .pci .label .type
kernel .hostname .rank .pid .name .duration .agent .stream .stream_id
region .guid .hostname .rank .pid .tid .thread
thread .guid .pid .tid .name
TABLES
    } >"$1/load.sql"
    echo "UPDATE region SET thread = (SELECT name FROM thread t WHERE t.guid = region.guid AND
        t.pid = region.pid AND t.tid = region.tid);" >>"$1/load.sql"
    sed -i 's/^\.import/.mode tabs\n.import/' "$1/load.sql"
    sqlite3 -batch :memory: ".read $1/load.sql" ".mode tabs" ".read facts.sql"
}

# Events are looked up by pid, not by rank; a host without a name, and a GPU without a uuid, have
# names that OTF2 needs.
as_otf2() {
    awk -F'\t' -v OFS='\t' '{ sub(/^node [0-9]+$/, "-", $2) }
        $1 == "gpu" && match($3, /^GPU [0-9]+/) { $3 = substr($3, 1, RLENGTH) }
        $1 == "rank" { calls[$3] += $4; ns[$3] += $5; next } { print }
        END { for (p in calls) print "rank", "", p, calls[p], ns[p] }'
}

read_back() { # format folder
    local files
    case $1 in
    otf2) facts_of_otf2 "$2" ;;
    jsonl) facts_of_jsonl "$2" ;;
    rocprofv3) # the folder of each host
        mapfile -t files < <(find "$2" -type f -printf '%h\n' | sort -u)
        facts_of "${files[@]}" ;;
    *) facts_of "$2"/* ;;
    esac
}

wanted() { # job format
    [ "${#cells[@]}" -eq 0 ] && return 0
    local cell
    for cell in "${cells[@]}"; do
        [ "$cell" != "$1" ] && [ "$cell" != "$2" ] && [ "$cell" != "$1 $2" ] || return 0
    done
    return 1
}

# One job in one format: a line of kinds that differ, then the lines themselves.
compare() { # job format
    local to=out/$1.$2 same=cat
    mkdir -p "$to"
    [ "$2" != otf2 ] || same=as_otf2
    write "$2" "$to" in/"$1"/* 2>"$to.said" || { echo "not written: exit code $?"; cat "$to.said"; return; }
    $same <"in/$1.facts" | kept "$1" "$2" >"$to.theirs"
    read_back "$2" "$to" 2>"$to.said" | $same | kept "$1" "$2" >"$to.ours"
    [ -s "$to.ours" ] || cat "$to.said"
    diff "$to.theirs" "$to.ours" | grep '^[<>]' >"$to.diff"
    [ -s "$to.diff" ] || return 0
    awk -F'\t' '{ sub(/^[<>] /, ""); n[$1]++ } END { for (k in n) printf "%s (%d) ", k, n[k]; print "" }' \
        "$to.diff"
    head -12 "$to.diff"
}

cells=("$@")
jobs=()
while read -r job hosts ranks processes gpus; do
    [ -n "$job" ] || continue
    truth="$hosts $ranks $processes $gpus"
    jobs+=("$job")
    facts_of in/"$job"/* >"in/$job.facts" 2>said
    rocline info -q --format json in/"$job"/* |
        jq -r '.data.totals.rows[0] | "\(.hosts) \(.ranks) \(.processes) \(.gpus)"' >counts
    counts=$(cat counts)
    if [ "$counts" = "$truth" ]; then
        result ok "$job is read as it is"
    else
        echo "hosts, ranks, processes, GPUs: $truth were expected, not ${counts:-none}" >>said
        result "not ok" "$job is read as it is" said
    fi
done <<<"$TRUTH"

for format in $FORMATS; do
    for job in "${jobs[@]}"; do
        wanted "$job" "$format" || continue
        if [ "$format" = otf2 ] && ! command -v otf2-print >/dev/null; then
            result ok "$job in $format # SKIP no otf2-print"
            continue
        fi
        compare "$job" "$format" >said
        if [ -s said ]; then
            result "not ok" "$job in $format" said
        else
            result ok "$job in $format"
        fi
    done
done
echo "1..$count"
