#!/usr/bin/env bats
# Inputs that ranks of a team find on their nodes: what one process makes that sees them all.
# shellcheck disable=SC2030,SC2031,SC2154 # bats sets status, output and stderr, and runs each test in a subshell

load helper
load teams

# The nodes of five ranks. What n1 has is below n1/, and so on; all/ has all of it.
setup_file() {
    make_inputs 8 20000 --pid-step 0
    local i=0 db
    mkdir -p n1/run n2/run n3/run all
    for db in m/*.db; do
        i=$((i + 1))
        cp -p "$db" "n$((i % 3 + 1))/run/"
        cp -p "$db" all/
    done
}

in_nodes() {
    ROCLINE_TEAM_HOSTS=${hosts:-n1,n2,n2,n3,n3} "$1" -q --team 5 "${@:2}"
}

@test "each node has its own: the same files, but where blocks of a trace end" {
    local all=$BATS_FILE_TMPDIR/all run="$BATS_FILE_TMPDIR/%hostname%/run" hosts
    rocpd2csv -q --team no -d one "$all"
    rocpd2otf2 -q --team no -d one "$all"
    rocpd2pftrace -q -z 0 --team no -d one "$all"
    (cd one && print_archives)
    for hosts in n1,n2,n2,n3,n3 n3,n1,n1,n1,n2 none,n1,n2,n3,n3; do
        rm -rf other
        in_nodes rocpd2csv --local -d other "$run"
        in_nodes rocpd2otf2 --local -d other "$run/*.db"
        in_nodes rocpd2pftrace -z 0 --local -d other "$run"
        (cd other && print_archives)
        diff -r one other
    done
}

@test "each node has its own: tables, Chrome JSON, a package; and what has one writer" {
    local all=$BATS_FILE_TMPDIR/all run="$BATS_FILE_TMPDIR/%hostname%/run" form
    for form in parquet arrow; do # the names of inputs are in the table of processes
        rocline export -q -f $form --kinds kernel,region --team no -d one "$all"
        ROCLINE_TEAM_HOSTS=n1,n2,n2,n3,n3 rocline export -q -f $form --kinds kernel,region --team 5 --local -d other "$run"
    done
    rtg2json -q -f --team no -o one/t.json "$all"
    in_nodes rtg2json -f --local -o other/t.json "$run"
    rocmerge -q -c --team no -d one/p "$all"
    in_nodes rocmerge -c --local -d other/p "$run"
    diff <(sort one/p.rpdb/index.yaml) <(sort other/p.rpdb/index.yaml)
    rm {one,other}/p.rpdb/index.yaml
    diff -r one other
    run --separate-stderr in_nodes rocmerge --local -d . -o all "$run"
    [ "$status" -eq 2 ]
    says "is on its node, and this output is written by rank 0 alone"
    [ ! -e all.db ]
}

@test "each node has its own: the same reports" {
    local args
    while read -r args; do
        # shellcheck disable=SC2086 # words
        rocstats $args -q --team no --format json "$BATS_FILE_TMPDIR"/all/*.db | jq .tables >one.json
        # shellcheck disable=SC2086 # words
        in_nodes rocstats $args --format json --local "$BATS_FILE_TMPDIR/%hostname%/run" | jq .tables >other.json
        cmp one.json other.json || fail "$args"
    done <<'END'
all
all --align start --start 20% --end 60% --clip
collectives steps --rank 3,5,7
END
    # Also the names of inputs and their order, where all nodes see the same ones.
    rocstats -q --team no --format json "$BATS_FILE_TMPDIR/all" >one.json
    in_nodes rocstats --format json --local "$BATS_FILE_TMPDIR/all" >other.json
    cmp one.json other.json
}

@test "HOST:PATH, with and without --local, and beside what is named plainly" {
    cd "$BATS_FILE_TMPDIR"
    rocpd2csv -q --team no -d one all
    in_nodes rocpd2csv -d other n1:n1/run "n2:n2/run/*.db" n3:n3/run
    diff -r one other
    in_nodes rocpd2csv -d mixed n1/run n2:n2/run n3:n3/run
    diff -r one mixed
    # A file that all nodes see is one, and so is one with two names on a node.
    in_nodes rocpd2csv --local -d shared all
    diff -r one shared
    mkdir -p n1/links
    ln n1/run/*.db n1/links
    in_nodes rocpd2csv -d links n1:n1/run n1:n1/links n2:n2/run n3:n3/run
    diff -r one links
}

@test "what is not there, and what cannot be read on other nodes" {
    local tool
    cd "$BATS_FILE_TMPDIR"
    export ROCLINE_TEAM_HOSTS=n1,n2,n2,n3,n3
    try 3 rocpd2csv -q --team 5 -d out n9:n1/run
    one_line rocpd2csv
    says "n9:n1/run: no rank of the team is on n9; they are on n1, n2, n3"
    try 3 rocpd2csv -q --team 5 -d out n2:missing.db
    one_line rocpd2csv
    says "n2:missing.db: no such file"
    try 3 rocstats -q --team 5 --local missing.db
    one_line rocstats
    says "n1:missing.db: no such file"
    # Each name must be somewhere, also beside others.
    for tool in "rocstats" "rocpd2csv -d out" "rocpd2otf2 -d out" "rocpd2pftrace -d out"; do
        # shellcheck disable=SC2086 # words
        try 3 $tool -q --team 5 --local "%hostname%/run" missing.db
        one_line ${tool%% *}
        says "n1:missing.db: no such file"
        [ ! -e out ]
    done
    # A node without any is told.
    try 0 rocstats kernels --team 5 --local "%hostname%/run/large.db"
    says "no such file; others have inputs"
    # A process that two nodes have is in the trace twice.
    mkdir -p twice/n1 twice/n2
    cp m/rank1.db twice/n1
    cp m/rank1.db twice/n2
    try 3 rocpd2csv -q --team 5 --local -d out "twice/%hostname%"
    one_line rocpd2csv
    says "holds the same process"
    # Damage is told with its node, and so is a kind of input that waits for others.
    head -c 40000 m/rank2.db >bad.db
    try 3 rocpd2csv -q --team 5 -d out n3:bad.db
    one_line rocpd2csv
    says "n3:bad.db: "
    cp "$TOP/tests/fixtures/rtg/calls.txt" .
    try 3 rocstats -q --team 5 n3:calls.txt
    one_line rocstats
    says "n3:calls.txt: is "
    # Rank 0 alone writes standard output.
    try 2 rocpd2pftrace -q --team 5 --local -o - "%hostname%/run"
    says "is on its node"
    [ ! -e out ]
    # Without a team there is one node.
    try 0 rocstats kernels --local "%hostname%/run"
    try 0 rocstats kernels n1:n1/run
    try 3 rocstats kernels n2:n2/run
    says "n2:n2/run: no such file"
}

@test "a rank that is killed while it looks for inputs or writes them: one line, and nothing left" {
    local rounds=4
    [ -z "${SOAK:-}" ] || rounds=50
    export ROCLINE_TEAM_HOSTS=n1,n2,n2,n3,n3
    kill_some $rounds rocpd2csv --local -d @
}
