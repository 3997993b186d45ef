#!/usr/bin/env bash
# What a report says of a GPU or a rank does not depend on what else is read: every report of several
# inputs, in one window of time, says of each input what it says of that input alone. A test is a set
# of inputs; it fails with the rows that differ (<: alone, >: together).
# Usage: alone.sh BUILD [SET...]   TAP. FIXTURES, and ROCLINE_DATA for traces of real programs.
set -u
here=$(realpath "$(dirname "$0")")
build=$(realpath "$1")
shift
export PATH=$build/bin:$PATH TERM=dumb
fixtures=$(realpath "${FIXTURES:-$build/fixtures}")
work=$(mktemp -d "${TMPDIR:-/tmp}/alone.XXXXXX") || exit 5
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 5
count=0

for program in sqlite3 jq; do
    command -v "$program" >/dev/null || { echo "ok 1 # SKIP no $program"; echo 1..1; exit 0; }
done

# Tables and columns that say something of the whole trace, and why. "TABLE COLUMN..."; without
# columns the whole table. All others are compared.
cat >whole.txt <<'END'
# Shares and ratios of the sums over all inputs.
domains percent
summary percent
kernels percent
classes percent
ranks percent
streams share_percent
queues share_percent
# Times since the first event of all inputs.
streams first_ns last_ns
queues first_ns last_ns
stream_activity most_at_ns
memory peak_at_ns
leaks at_ns
# The time of the trace is cut into slices: their sums are compared (see slices below), not these.
memory_timeline
sample_timeline
# One path through all ranks; ranks compared with each other; who was last.
critical_path
critical_path_what_if
critical_path_names
critical_path_longest
critical_path_ranks
critical_path_waits
collective_ranks matched last first total_wait_ns wait_ns
# A sequence or a graph is numbered, and a step called unusual, among those of all ranks.
sequence_kernels sequence
graphs graph
steps of_median outlier
# What stands out among all inputs, and what a gain is a share of.
findings
rules
# Only several ranks have these tables.
late_ranks
rank_times
# Only the longest of all inputs are printed.
launch_delays
longest_gaps
END

# Rows about one input, without what is in whole.txt, and with the labels that its GPUs have alone.
cat >rows.jq <<'JQ'
def plain: if type == "string" then sub(" (on|of) [^ ].*$"; "") else . end;
($whole | split("\n") | map(select(length > 0 and (startswith("#") | not)) | split(" "))
    | group_by(.[0]) | map({key: .[0][0], value: (map(.[1:]) | if any(length == 0) then null else add end)})
    | from_entries) as $left
| ($who[0]) as $w
| .tables[] | .key as $table | select(($left | has($table) | not) or $left[$table] != null)
| ([.columns[].key]) as $columns
| (if $columns | any(. == "gpu") then "gpu" elif $columns | any(. == "rank") then "rank"
   elif $columns | any(. == "place") then "place" else null end) as $by
| select($by)
| [.rows[]
    | select(if $by == "gpu" then .gpu as $g | $w.gpus | has($g // "")
             elif $by == "rank" then .rank as $r | $w.ranks | any(. == $r)
             else .place as $p | $w.ranks | any("rank \(.)" == ($p | tostring | plain)) end)
    | del(.[($left[$table] // [])[]]) | del(.host)
    | map_values(. as $v | if type == "string" and ($w.gpus | has($v)) then $w.gpus[$v] else . end)
    | with_entries(if .key == "agent" or .key == "src" or .key == "dst" then .value |= plain else . end)]
| if $table == "timeline" then
    group_by(.gpu) | map({gpu: .[0].gpu, kernel_ns: (map(.kernel_ns) | add),
        copy_ns: (map(.copy_ns) | add), busy_ns: (map(.busy_ns) | add), kernels: (map(.kernels) | add)})
  else . end
| .[] | with_entries(if (.value | type) == "number" and (.value | floor) != .value
                     then .value = (.value * 1000000 | round / 1000000) else . end)
| "\($table)\t\(to_entries | sort_by(.key) | map("\(.key)=\(.value)") | join(" "))"
JQ

report() { # window input...
    local window=$1
    shift
    # shellcheck disable=SC2086 # two options
    rocstats -q --format json --by-rank --by-agent --top 1000000 --slices 8 $window all "$@"
}

# The GPUs that inputs use, by guid: each input has its own.
agents() { # input...
    rocline query -q -f tsv "SELECT DISTINCT guid, agent_id, agent FROM kernel
        UNION SELECT DISTINCT guid, src_agent_id, src_agent FROM memory_copy
            WHERE src_agent_type = 'GPU'
        UNION SELECT DISTINCT guid, dst_agent_id, dst_agent FROM memory_copy
            WHERE dst_agent_type = 'GPU'" "$@" |
        tail -n +2 | LC_ALL=C sort
}

# Labels of the GPUs that only this input has: as they are together -> as they are alone.
gpus_of() { # input
    agents "$1" >alone.agents
    awk -F'\t' -v OFS='\t' '
        FILENAME == "alone.agents" { alone[$1, $2] = $3; mine[$1] = 1; next }
        { if ($1 in mine) label[$1, $2] = $3; else others[$3] = 1 }
        END { for (k in label) if (!(label[k] in others)) print label[k], alone[k] }' alone.agents all.agents |
        sort -u | jq -Rn '[inputs | split("\t") | {key: .[0], value: .[1]}] | from_entries'
}

compare() { # own or shared: their GPUs; input...
    local window input ranks gpus=$1
    shift
    window=$(rocline info -q --format json "$@" |
        jq -r '.data.totals.rows[0] | "--start \(.first_ns) --end \(.last_ns)"')
    report "$window" "$@" >all.json || { [ $? -eq 1 ] || { echo "rocstats failed"; return; } }
    agents "$@" >all.agents
    [ -s all.agents ] || { echo "no GPUs are known"; return; }
    for input in "$@"; do
        gpus_of "$input" >gpus.json
        if [ "$gpus" != shared ] && [ "$(wc -l <alone.agents)" -ne "$(jq length gpus.json)" ]; then
            echo "$input: another input has the same GPU: $(cut -f3 alone.agents | tr '\n' ' ')"
        fi
        ranks=$(rocline query -q -f tsv "SELECT DISTINCT rank FROM process WHERE rank IS NOT NULL" \
            "$input" | tail -n +2 | jq -sc .)
        report "$window" "$input" >alone.json
        jq -n --argjson ranks "$ranks" --slurpfile gpus gpus.json '{ranks: $ranks, gpus: $gpus[0]}' >who.all
        jq '.gpus |= with_entries(.key = .value)' who.all >who.alone
        for what in all alone; do
            jq -r --slurpfile who "who.$what" --rawfile whole whole.txt -f rows.jq "$what.json" |
                LC_ALL=C sort >"$what.rows"
        done
        cut -f1 alone.rows >>compared
        if [ ! -s alone.rows ]; then
            echo "$input: nothing is said of it"
        elif ! diff alone.rows all.rows | grep '^[<>]' >differ; then
            continue
        else
            echo "$input: $(cut -c3- differ | cut -f1 | sort | uniq -c | awk '{ printf "%s (%d) ", $2, $1 }')"
            head -6 differ
        fi
    done
}

check() { # name, own or shared: whether inputs share GPUs, input...
    local name=$1 gpus=$2
    shift 2
    [ "${#sets[@]}" -eq 0 ] || [[ " ${sets[*]} " == *" $name "* ]] || return 0
    count=$((count + 1))
    if [ $# -lt 2 ] || [ ! -e "$1" ]; then
        echo "ok $count $name # SKIP no such inputs"
        return
    fi
    : >compared
    compare "$gpus" "$@" >said 2>&1
    name+=": $(wc -l <compared) rows of $(sort -u compared | wc -l) tables"
    if [ -s said ]; then
        echo "not ok $count $name"
        head -40 said | sed 's/^/# /'
    else
        echo "ok $count $name"
    fi
}

# Two ranks of one machine, each of which calls its own GPU device 0, as HIP_VISIBLE_DEVICES makes them.
two_ranks() {
    local rank
    mkdir -p in/same_number
    for rank in 0 1; do
        awk -v rank=$rank 'BEGIN {
            printf "{\"schemaVersion\": 1, \"distributedInfo\": {\"rank\": %d, \"world_size\": 2}, \"traceEvents\": [", rank
            for (i = 1; i <= 10; i++) {
                at = 1000 * i
                printf "%s\n{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"hipLaunchKernel\", \"pid\": %d, \"tid\": 7, \"ts\": %d, \"dur\": 5, \"args\": {\"correlation\": %d}}", (i > 1 ? "," : ""), 10 + rank, at, 2 * i
                printf ",\n{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"pid\": 0, \"tid\": 7, \"ts\": %d, \"dur\": %d, \"args\": {\"device\": 0, \"stream\": 7, \"correlation\": %d}}", at + 10, 300 + 250 * rank, 2 * i
                printf ",\n{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"hipLaunchKernel\", \"pid\": %d, \"tid\": 7, \"ts\": %d, \"dur\": 5, \"args\": {\"correlation\": %d}}", 10 + rank, at + 20, 2 * i + 1
                printf ",\n{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"ncclDevKernel_AllReduce_Sum_bf16_RING(ncclDevKernelArgs)\", \"pid\": 0, \"tid\": 20, \"ts\": %d, \"dur\": %d, \"args\": {\"device\": 0, \"stream\": 20, \"correlation\": %d}}", at + 310 + 250 * rank, 400 - 250 * rank, 2 * i + 1
            }
            print "\n]}" }' >"in/same_number/rank$rank.json"
    done
}

sets=("$@")
# shellcheck source=/dev/null
. "$here/jobs.bash"
make_jobs
two_ranks
gen=$build/tests/rocpd-gen
mkdir -p in/sampled in/graphs
"$gen" -o in/sampled/%r.db --writer rocprof-sys --rows 1500 --processes 2 --gpus 1 --visible --uuids --caches 0
"$gen" -o in/graphs/%r.db --schema 3.0.2 --graph --args --rows 600 --processes 2 --nodes 2 --gpus 2 --caches 0
for job in visible containers same_number sampled graphs; do
    check "$job" own in/"$job"/*
done
for job in hosts shared; do
    check "$job" shared in/"$job"/*
done
check ranks shared "$fixtures"/rank[01].db
check nodes shared "$fixtures"/node-rank[0-3].db
data=${ROCLINE_DATA:-/nowhere}
check two_nodes own "$data"/cases3/identity/two_nodes_four_ranks/*.json
check car own "$data"/cases3/identity/car_rank[01].json
check a2av own "$data"/cases3/ranks/a2av_rank[01].json
check p2p own "$data"/cases3/ranks/p2p_rank[01].json
check job16b own "$data"/cases3/ranks/job16b/rank*.db
check two_ranks own "$data"/kineto/two_ranks/rank[01].json.gz
echo "1..$count"
