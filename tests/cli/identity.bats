#!/usr/bin/env bats
# Who is who: runs, ranks and hosts, from inputs, names of files and options.

load helper

requires() {
    needs jq "$FIXTURES/rank0.db"
}

# A trace of PyTorch: two launches and their kernels, 1 ms long.
trace() { # FILE RANK PID BEGIN (us); no rank: ""
    local info=""
    [ -z "$2" ] || info="\"distributedInfo\":{\"backend\":\"nccl\",\"rank\":$2,\"world_size\":2},"
    mkdir -p "$(dirname "$1")"
    cat >"$1" <<END
{"schemaVersion":1,$info"traceEvents":[
{"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":$3,"tid":$3,"ts":$4,"dur":5,"args":{"correlation":1}},
{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":0,"ts":$(($4 + 10)),"dur":500,"args":{"device":0,"stream":0,"correlation":1}},
{"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":$3,"tid":$3,"ts":$(($4 + 600)),"dur":5,"args":{"correlation":2}},
{"ph":"X","cat":"kernel","name":"add","pid":0,"tid":0,"ts":$(($4 + 610)),"dur":390,"args":{"device":0,"stream":0,"correlation":2}}]}
END
}

# RUN of each process by PID, "pid:run ...".
runs() { # INPUT...
    rocline info -q --format json "$@" | jq -r '[.data.processes.rows[] | "\(.pid):\(.run)"] | sort | join(" ")'
}

calls() { # ARGUMENT...: of all kernels
    rocstats kernels -q --format json "$@" | jq '[.tables[] | select(.key == "kernels") | .rows[].calls] | add'
}

two_runs() {
    trace run1_rank0.json 0 10 1000000
    trace run1_rank1.json 1 11 1000100
    trace run2_rank0.json 0 20 9000000
    trace run2_rank1.json 1 21 9000100
}

@test "runs: a notice in every tool, and --run chooses one" {
    two_runs
    said='these inputs are 2 runs: ranks 0 and 1 are in each, at times that do not overlap; --run 1 or --run 2 chooses one'
    for tool in "rocstats kernels" "rocline info" \
        "rocpd2csv -d csv" "rocpd2pftrace -d pf" "rocpd2otf2 -d otf2" "rocmerge -d db" "rocline convert -f json -d json"; do
        # shellcheck disable=SC2086
        try 0 $tool run?_rank?.json
        says "$said"
        [ "${#stderr_lines[@]}" -eq 1 ] || fail "$tool: one line"
    done
    [ "$(runs ./*.json)" = "10:1 11:1 20:2 21:2" ]
    [ "$(calls run*.json) $(calls --run 1 run*.json) $(calls --run 2 run*.json)" = "8 4 4" ]
    for n in 1 2; do
        try 0 rocstats kernels --format csv --run $n run*.json
        [ -z "$stderr" ]
        [ "$output" = "$(rocstats kernels --format csv run${n}_*.json)" ] || fail "run $n"
        for jobs in 1 3; do
            rocpd2pftrace -q -j $jobs -d $jobs -o $n --run $n run*.json
        done
        cmp 1/${n}_results.pftrace 3/${n}_results.pftrace
        rocpd2pftrace -q -d own -o $n run${n}_*.json
        cmp <(rocstats kernels --format csv -q own/${n}_results.pftrace) <(rocstats kernels --format csv -q 1/${n}_results.pftrace)
    done
}

@test "runs: numbers that do not exist, and doctor" {
    two_runs
    for n in 3 99; do
        try 2 rocstats kernels --run $n run*.json
        says "--run $n: the inputs are 2 runs"
    done
    try 2 rocstats kernels --run 2 run1_*.json
    says "--run 2: the inputs are 1 run"
    try 2 rocstats kernels --run 0 run1_*.json
    try 2 rocstats kernels --run x run1_*.json
    try 0 rocstats kernels --run 1 run1_*.json
    try 1 rocstats doctor -q --format json run*.json
    [ "$(jq -r '[.tables[] | select(.key == "findings") | .rows[].rule] | join(" ")' <<<"$output")" = several-runs ] || fail "$output"
    try 0 rocstats doctor -q run1_*.json
    try 2 rocstats doctor --run 1 run*.json
}

@test "runs: the header of reports says so, and nothing of one run" {
    two_runs
    [ "$(rocstats kernels -q --format json run*.json | jq -r .trace.runs)" = "2 (at times that do not overlap; --run N chooses one)" ]
    [ "$(rocstats kernels -q --format json --run 2 run*.json | jq -r .trace.runs)" = "run 2 of 2" ]
    [ "$(rocstats kernels -q --format json run1*.json | jq -r '.trace | has("runs")')" = false ]
    [ "$(rocline info -q --format json run*.json | jq -c '.data.totals | [.rows[0] // . | .ranks, .runs]')" = '[2,2]' ] || fail "$(rocline info -q --format json run*.json)"
}

@test "runs: a team decides as one process does" {
    two_runs
    for n in 1 2; do
        [ "$(calls --team 2 --run $n run*.json)" = 4 ]
        rocpd2pftrace -q -d one -o $n --run $n run*.json
        rocpd2pftrace -q -d team -o $n --team 2 --run $n run*.json
        cmp one/${n}_results.pftrace team/${n}_results.pftrace
        rocpd2csv -q -d one -o $n --run $n run*.json
        rocpd2csv -q -d team -o $n --team 2 --run $n run*.json
    done
    diff -r one team
    try 2 rocstats kernels --team 2 --run 3 run*.json
    says '--run 3: the inputs are 2 runs'
}

@test "runs: three of them, some without all ranks" {
    two_runs
    trace run3_rank1.json 1 31 20000000
    [ "$(runs run*.json)" = "10:1 11:1 20:2 21:2 31:3" ]
    try 0 rocline info run*.json
    says 'these inputs are 3 runs: rank 1 is in each, at times that do not overlap; --run N, with N from 1 to 3, chooses one'
    # Rank 1 is only in the second run: times tell which one it is of.
    rm run1_rank1.json run3_rank1.json
    [ "$(runs run*.json)" = "10:1 20:2 21:2" ]
    # A process without a rank is of the run around it, or of the first.
    trace monitor.json "" 40 9000050
    trace later.json "" 50 30000000
    [ "$(runs ./*.json)" = "10:1 20:2 21:2 40:2 50:1" ]
}

@test "runs: many ranks, and ranks with gaps" {
    for k in 0 1 2 3 7; do
        trace a$k.json $k $((10 + k)) 1000000
        trace b$k.json $k $((20 + k)) 3000000
    done
    try 0 rocline info ./*.json
    says 'are 2 runs: 5 ranks are in each,'
    rm ?7.json
    try 0 rocline info ./*.json
    says 'are 2 runs: ranks 0 to 3 are in each,'
    rm ?2.json
    try 0 rocline info ./*.json
    says 'are 2 runs: ranks 0, 1 and 3 are in each,'
}

@test "runs: what is none" {
    # Times overlap, directly or through others.
    trace a.json 0 10 1000000
    trace b.json 0 20 1000900
    [ "$(runs a.json b.json)" = "10:1 20:1" ]
    trace b.json 0 20 1001500
    [ "$(runs a.json b.json)" = "10:1 20:2" ]
    trace c.json 1 30 1000700
    [ "$(runs a.json b.json c.json)" = "10:1 20:1 30:1" ]
    # No rank, or different ones.
    trace a.json "" 10 1000000
    trace b.json "" 20 9000000
    [ "$(runs a.json b.json)" = "10:1 20:1" ]
    trace a.json 0 10 1000000
    trace b.json 1 20 9000000
    [ "$(runs a.json b.json)" = "10:1 20:1" ]
    # One process that was recorded twice.
    trace node0_10.1.pt.trace.json 0 10 1000000
    trace node0_10.2.pt.trace.json 0 10 9000000
    [ "$(runs node0*)" = "10:1 10:1" ]
    # Clocks of hosts that are far apart.
    trace node0_10.1.pt.trace.json 0 10 1000000
    trace node1_11.1.pt.trace.json 1 11 900000000
    trace node0_20.1.pt.trace.json 0 20 2000000
    trace node1_21.1.pt.trace.json 1 21 901000000
    [ "$(runs node0_10.1* node1_11*)" = "10:1 11:1" ]
    [ "$(runs node0_?0.1* node1*)" = "10:1 11:1 20:2 21:2" ]
}

@test "runs: databases" {
    needs sqlite3
    cp "$FIXTURES/rank0.db" later.db
    chmod u+w later.db
    s=$(suffix later.db)
    sqlite3 later.db "UPDATE \"rocpd_info_process$s\" SET init = init + 100000000000, fini = fini + 100000000000,
        start = start + 100000000000, \"end\" = \"end\" + 100000000000, pid = pid + 1"
    sqlite3 later.db .dump | sed "s/$(tr _ - <<<"${s#_}")/11111111-2222-3333-4444-555555555555/g; s/${s}/_11111111_2222_3333_4444_555555555555/g" |
        sqlite3 other.db
    try 0 rocline info --brief "$FIXTURES/rank0.db" other.db
    says 'these inputs are 2 runs: rank 0 is in each'
    # One file of all of them is one input.
    rocmerge -q -d . -o all "$FIXTURES/rank0.db" other.db
    try 0 rocline info --brief all.db
    [ -z "$stderr" ]
}

@test "names of files: ranks and hosts" {
    while read -r file rank host; do
        rm -rf t
        trace "t/$file" "" 10 1000000
        found=$(rocline info --brief --format json "t/$file" |
            jq -r '.data | [(.processes.rows[0] | .rank, .host, .rank_known_by), .hosts.rows[0].known_by] | map(if . == null or . == "" then "-" else . end) | join("|")')
        by=('name of the file' 'name of the file')
        [ "$rank" != - ] || by[0]=-
        [ "$host" != - ] || by[1]=-
        [ "$found" = "$rank|$host|${by[0]}|${by[1]}" ] || fail "$file: $found"
    done <<'END'
rank3.json 3 -
x_rank-4.json 4 -
rank_5.json 5 -
rank[6].json 6 -
rank=7.json 7 -
local_rank8.json - -
trace_r9.json 9 -
1700000000-TP-2-PP-0.trace.json 2 -
1700000000-TP-2-PP-1.trace.json - -
rank11/trace.json 11 -
node0_10.1.pt.trace.json - node0
node0_10.rank-7.pt.trace.json 7 node0
plugins/profile/x/node7.trace.json - node7
END
    # What the trace says counts more.
    trace rank3.json 1 10 1000000
    [ "$(rocline info --brief --format json rank3.json | jq -r '.data.processes.rows[0] | "\(.rank) \(.rank_known_by)"')" = "1 trace" ]
}

@test "--host, --rank PATTERN=N, --same-host" {
    trace a.json 0 10 1000000
    trace b.json 1 11 1000000
    hosts() {
        rocline info --brief --format json "$@" | jq -r '[.data.processes.rows[] | "\(.pid):\(.rank)@\(.host)"] | sort | join(" ")'
    }
    [ "$(hosts a.json b.json)" = "10:0@- 11:1@-" ]
    [ "$(hosts --host 'a*=n0' --host 'b*=n1' --rank 'a*=4' a.json b.json)" = "10:4@n0 11:1@n1" ]
    [ "$(hosts --host '*=n0' --host 'b*=n1' a.json b.json)" = "10:0@n0 11:1@n1" ] # the last one counts
    [ "$(rocline info --brief --format json --host '*=n' a.json b.json | jq -c '[.data.hosts.rows[] | [.host, .known_by, .processes]]')" = '[["n","option",2]]' ]
    [ "$(rocline info --brief --format json --same-host a.json b.json | jq '.data.hosts.rows | length')" = 1 ]
    [ "$(rocline info --brief --format json a.json b.json | jq '.data.hosts.rows | length')" = 2 ]
    while read -r why args; do
        # shellcheck disable=SC2086
        try 2 rocline info --brief $args a.json
        says "${why//_/ }"
    done <<'END'
is_not_PATTERN=NAME --host a
is_not_PATTERN=NAME --host a=
is_not_PATTERN=NAME --host =a
no_input_has_such_a_name --host z*=n
is_not_PATTERN=NUMBER --rank a*=x
is_not_PATTERN=NUMBER --rank a*=-1
is_not_PATTERN=NUMBER --rank =3
no_input_has_such_a_name --rank z*=3
END
    # What opens one input after the other takes patterns for each of them.
    try 0 rocstats compare --host 'b*=n1' a.json b.json
    try 0 rocline check --host 'b*=n1' a.json b.json
    try 0 rocstats kernels --team 2 --host 'b*=n1' a.json b.json
}

@test "rocmerge: databases say who is who, as names and options do" {
    who() {
        rocline info -q --format json "$1" | jq -r '[.data.processes.rows[] | "\(.pid):\(.rank)@\(.host)"] | sort | join(" ")'
    }
    # From JSON: what names of files tell is kept.
    trace node0_10.rank-0.pt.trace.json "" 10 1000000
    trace node1_11.rank-1.pt.trace.json "" 11 1000000
    rocmerge -q -d . -o names node*.json
    [ "$(who names.db)" = "10:0@node0 11:1@node1" ]
    # A copied database has the rank that its name tells, if it has none itself.
    needs sqlite3
    cp "$FIXTURES/rank1.db" rank6.db
    chmod u+w rank6.db
    sqlite3 rank6.db "UPDATE \"rocpd_info_process$(suffix rank6.db)\" SET environment = '{}'"
    rocmerge -q -d . -o copied rank6.db
    [[ "$(who copied.db)" == *":6@"* ]] || fail "$(who copied.db)"
    # Databases are copied, and made anew where options say something else.
    cp "$FIXTURES/rank0.db" a.db
    cp "$FIXTURES/rank1.db" b.db
    rocmerge -q -d . -o plain a.db b.db
    rocmerge -q -d . -o named --host 'a*=n0' --host 'b*=n1' --rank 'a*=4' a.db b.db
    [[ "$(who named.db)" == *":4@n0 "*":1@n1" ]] || fail "$(who named.db)"
    cmp <(rocstats summary --format csv -q plain.db) <(rocstats summary --format csv -q named.db)
    rocmerge -q -d . -o same --same-host --host 'b*=n1' a.db b.db
    [ "$(rocline info -q --format json same.db | jq '.data.hosts.rows | length')" = 1 ]
    # SQL sees them, too.
    [ "$(rocline query -q --format csv --host 'a*=n0' 'SELECT DISTINCT hostname FROM processes' a.db | tail -n 1 | tr -d '"')" = n0 ]
    # A package of files as they are cannot say so.
    for option in "--host *=n" "--rank *=3" --same-host; do
        # shellcheck disable=SC2086
        try 2 rocmerge --package $option -d p a.db b.db
        says 'add --consolidate'
    done
}

@test "ranks of one host that each see but device 0 have GPUs of their own, in every form" {
    trace node0_1000.17000000000.pt.trace.json 0 1000 1000
    trace node0_1001.17000000000.pt.trace.json 1 1001 1200
    totals() { # INPUT...
        rocline info -q --format json "$@" | jq -c '.data.totals.rows[0] | [.hosts, .gpus, .ranks, .events]'
    }
    [ "$(totals node0_*)" = '[1,2,2,8]' ]
    rocmerge -q -o m.db node0_*
    rocmerge -q --flat -o flat.db node0_*
    rocpd2pftrace -q -o p.pftrace node0_*
    for layout in trace rocprofv3 rocprof; do
        rtg2json -q --layout $layout -o $layout.json node0_*
    done
    rocpd2csv -q --style rocprofv3 -d csv -o x node0_*
    for made in m.db flat.db p.pftrace trace.json rocprofv3.json rocprof.json; do
        [ "$(totals $made)" = '[1,2,2,8]' ] || fail "$made: $(totals $made)"
    done
    [ "$(totals csv/*)" = '[1,2,2,8]' ] || fail "$(totals csv/*)"
    # Agents are of the node of their process.
    [ "$(rocline query -q -f csv 'SELECT count(*) FROM agent WHERE nid IS NULL' node0_* | tail -n 1)" -eq 0 ]
}

@test "cycles of one process, and clocks that have nothing in common, are no runs" {
    trace rank0.1.pt.trace.json 0 1000 1000
    trace rank0.2.pt.trace.json 0 1000 9000000
    [ "$(rocline info -q --format json rank0.?.pt.trace.json | jq -c '.data.totals.rows[0] | [.hosts, .gpus, .runs]')" = '[1,1,1]' ]
    trace rank0.json 0 77 1
    try 0 rocline info rank0.json "$FIXTURES/rank0.db"
    [[ "$stderr" != *" runs: "* ]] || fail "$stderr"
}
