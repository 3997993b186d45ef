#!/usr/bin/env bats
# Workers: any number of them gives the same bytes, of every tool, output and kind of input. Two runs
# that write one output at a time: the last one wins, and has it as a whole. Readers beside writers.
# JOBS="1 2 3 7 64 256" SOAK=1: all cases; else a sample of them.
# shellcheck disable=SC2154 # bats sets status, output and stderr

load helper

# A name for each output, its command, and where {} is, the file or folder to write.
OUTPUTS='
csv        rocpd2csv -d {}
csv-gzip   rocpd2csv --gzip --duration --bytes -d {}
csv-1.1    rocpd2csv --style rocpd-1.1 -d {}
csv-v3     rocpd2csv --style rocprofv3 -d {}
csv-v1     rocpd2csv --style rocprof -d {}
pftrace    rocpd2pftrace --args -o {}.pftrace
plain      rocpd2pftrace -z0 --annotate-pmc -o {}.pftrace
fast       rocpd2pftrace --compress fast -o {}.pftrace
legacy     rocpd2pftrace --legacy-tracks -o {}.pftrace
otf2       rocpd2otf2 --args -d {}
chrome     rtg2json -f --layout trace --args -o {}.json
chrome.gz  rtg2json --layout trace -o {}.json.gz
v3-json    rtg2json --layout rocprofv3 -o {}.json
kineto     rtg2json --layout kineto -o {}.json
rocprof    rtg2json --layout rocprof -o {}.json
stats      rocstats all --format json -o {}.json
page       rocstats all --format html -o {}.html
by-rank    rocstats all --by-rank --by-agent --by-stream --format csv -o {}.csv
doctor     rocstats doctor --format json -o {}.json
merge      rocmerge -o {}.db
flat       rocmerge --flat -o {}.db
rebuild    rocmerge --rebuild -o {}.db
parquet    rocline export -f parquet -d {} -o o
arrow      rocline export -f arrow -d {} -o o
arrows     rocline export -f arrows -d {} -o o
jsonl      rocline export -f jsonl -d {} -o o
query      rocline query -f csv -o {}.csv {SQL}
info       rocline info --format json -o {}.json
together   rocline convert -f csv pftrace otf2 json -o run -d {}
window     rocpd2csv --start 20% --end 60% --clip -d {}
sorted     rocpd2csv --memory 1m -d {}
'
SQL='SELECT name, count(*), sum(duration) FROM kernel GROUP BY name ORDER BY name'

inputs() {
    local v1
    printf '%s\n' "$FIXTURES"/{everything,nasty-3.0.5,schema-4.1.0}.db "$TOP/tests/fixtures/rtg/calls.txt"
    [ -n "${SOAK:-}" ] || return 0
    for v1 in schema-3.0.{0..5} merged sampled sampled-4.1.0 spm-3.0.5 sys sys-4.1.0 nasty-4.1.0 ticks rank0; do
        echo "$FIXTURES/$v1.db"
    done
    printf '%s\n' "$FIXTURES"/{rocprofv3-7.0,rocprofv3-7.13}.json "$TOP"/tests/fixtures/chrome/{kineto,general}.json \
        "$TOP"/tests/fixtures/rocprof/{v1-kern.json,v2.txt} "$PWD/t.pftrace" "$PWD/t.rocl" "$BATS_FILE_TMPDIR/large.db"
}

# A database whose tables are cut into ranges for many workers.
setup_file() {
    BUILD=$(realpath "${BUILD:-$BATS_TEST_DIRNAME/../../build}")
    "$BUILD/tests/rocpd-gen" -o "$BATS_FILE_TMPDIR/large.db" --rows 60000 --kernels 20 --args
}

# run_output COMMAND OUT INPUT JOBS: standard output and error, the exit code and the files are in OUT.
run_output() {
    local words word out=$2/o rc=0
    read -ra words <<<"$1"
    for word in "${!words[@]}"; do
        [ "${words[word]}" != '{SQL}' ] || words[word]=$SQL
        words[word]=${words[word]//'{}'/$out}
    done
    mkdir -p "$2"
    timeout 120 "${words[@]}" "-j$4" --no-sync "$3" >"$2/stdout" 2>"$2/stderr" || rc=$?
    echo "$rc" >"$2/code"
    sed -i "s|$2/||g" "$2/stdout" "$2/stderr" # its own name in messages
    { [ "$rc" -le 1 ] || [ "$rc" -eq 3 ]; } || fail "-j$4 $1 $3: exit code $rc: $(cat "$2/stderr")"
}

@test "every output of every input has the same bytes for any number of workers" {
    local input name command jobs n=0 number=0
    rocpd2pftrace -q -o t.pftrace "$FIXTURES/everything.db"
    rocrec -q -o t.rocl -- "$BUILD/tests/traced" threads 4 500 >/dev/null
    while read -r input; do
        while read -r name command; do
            [ -n "$name" ] || continue
            rm -rf one.d
            run_output "$command" one.d "$input" 1
            # Every pair of an output and an input has two numbers in a sample.
            number=$((number + 1))
            for jobs in ${JOBS:-$([ -n "${SOAK:-}" ] && echo 2 3 7 64 256 || echo $((2 + number % 2)) $((number % 3 ? 64 : 7)))}; do
                rm -rf other.d
                run_output "$command" other.d "$input" "$jobs"
                diff -r one.d other.d >differ || fail "$name of $input with -j$jobs: $(head -5 differ)"
                n=$((n + 1))
            done
        done <<<"$OUTPUTS"
    done < <(inputs; echo "$BATS_FILE_TMPDIR/large.db")
    echo "# jobs: $n comparisons" >&3
}

# Inputs are opened by several workers: which text has which number depends on who is first.
@test "many inputs have the same bytes each time" {
    local name command i
    "$BUILD/tests/rocpd-gen" -o "small%r.db" --rows 60 --kernels 4 --gpus 2 --processes 24 --args
    mkdir m
    mv small*.db m
    "$BUILD/tests/rocpd-gen" -o m/large.db --rows 20000 --kernels 20 --first-rank 24 --args
    while read -r name command; do
        case $name in csv-gzip | pftrace | chrome.gz | jsonl | parquet | merge) ;; *) continue ;; esac
        rm -rf one.d
        run_output "$command --memory 1m" one.d m 2
        for i in 1 2 3 4 5 6; do
            rm -rf other.d
            run_output "$command --memory 1m" other.d m 2
            diff -r one.d other.d >differ || fail "$name: $(head -5 differ)"
        done
    done <<<"$OUTPUTS"
}

# ---- two at a time ---------------------------------------------------------------------------------

# In the order in which names are given, with some time between them.
slowly() { # command...
    strace --seccomp-bpf -f -qq -o /dev/null -e trace=rename,renameat,renameat2 \
        -e "inject=rename,renameat,renameat2:delay_enter=$((2000 + RANDOM % 15000))" "$@"
}

# two_writers ROUNDS COMMAND...: {} is the output. What both write is of one of them.
two_writers() {
    local rounds=$1 i file of side pids first=$FIXTURES/schema-3.0.0.db second=$FIXTURES/schema-3.0.5.db
    shift
    rm -rf a b
    mkdir a b
    "${@//'{}'/a/o}" -q --no-sync "$first"
    "${@//'{}'/b/o}" -q --no-sync "$second"
    for ((i = 0; i < rounds; i++)); do
        rm -rf c codes
        pids=()
        mkdir c
        for side in "$first" "$second"; do
            (slowly "${@//'{}'/c/o}" -q --no-sync "$side" >/dev/null 2>>messages || echo "$?" >>codes) 3>&- &
            pids+=($!)
        done
        wait "${pids[@]}"
        [ ! -e codes ] || fail "$*: exit codes $(cat codes): $(cat messages)"
        [ -z "$(find c -name '.*')" ] || fail "$*: $(find c -name '.*')"
        of=
        while read -r file; do
            [ -e "a/$file" ] && [ -e "b/$file" ] || continue
            ! cmp -s "a/$file" "b/$file" || continue
            side=neither
            ! cmp -s "c/$file" "a/$file" || side=a
            ! cmp -s "c/$file" "b/$file" || side=b
            [ "${of:=$side}" = "$side" ] && [ "$side" != neither ] || fail "$*: $file is of $side, others of $of"
        done < <(cd c && find . -type f)
    done
}

@test "several writers of one output: the last one has all of it, nothing else stays" {
    needs strace
    slowly true 2>/dev/null || skip "nothing can be traced here"
    local rounds=${SOAK:+20}
    for command in "rocpd2csv -d {}" "rocpd2otf2 -d {}" "rocpd2pftrace -o {}.pftrace" "rocmerge -o {}.db" \
        "rocline export -f parquet -d {}" "rocline convert -f csv pftrace otf2 json -d {}" "rocstats all --format html -o {}.html"; do
        # shellcheck disable=SC2086
        two_writers "${rounds:-2}" $command
    done
}

@test "a folder that somebody has locked is written all the same" {
    needs flock
    mkdir out
    try 0 timeout 60 flock out rocpd2csv -q -d out "$FIXTURES/rank0.db"
    silent
    [ -e out/out_kernel_trace.csv ]
}

@test "readers beside writers: what they read is complete, of the one or the other" {
    local i f
    rocmerge -q -o a.db "$FIXTURES/schema-3.0.0.db"
    rocmerge -q -o b.db "$FIXTURES/schema-3.0.5.db"
    for f in a b; do
        rocstats all -q --format json -o $f.json $f.db || [ $? -eq 1 ]
        rocpd2pftrace -q -o $f.pftrace $f.db || [ $? -eq 1 ]
        rocstats kernels -q --format json -o $f.pf.json $f.pftrace
    done
    cp a.db t.db
    cp a.pftrace t.pftrace
    (
        # A test that fails leaves no `stop`.
        while [ ! -e stop ] && [ $SECONDS -lt ${SOAK:+6}300 ]; do
            for f in a b; do
                rocmerge -q --no-sync -o t.db "$FIXTURES/schema-3.0.$([ $f = a ] && echo 0 || echo 5).db"
                rocpd2pftrace -q --no-sync -o t.pftrace $f.db || true
            done
        done
    ) 3>&- &
    local writer=$!
    for ((i = 0; i < ${SOAK:+20}10; i++)); do
        # A file that gets another one in its place is refused rather than read half.
        rocstats all -q --format json -o s.json t.db 2>err || [ $? -eq 1 ] || {
            grep -qE "changed while it was read" err || fail "$(cat err)"
            continue
        }
        sed 's/[ab]\.db/t.db/g' a.json | cmp -s - s.json || sed 's/[ab]\.db/t.db/g' b.json | cmp -s - s.json ||
            fail "statistics of neither"
        rocstats kernels -q --format json -o s.json t.pftrace 2>err || {
            grep -qE "changed while it was read" err || fail "$(cat err)"
            continue
        }
        sed 's/a\.pftrace/t.pftrace/g' a.pf.json | cmp -s - s.json || sed 's/b\.pftrace/t.pftrace/g' b.pf.json | cmp -s - s.json ||
            fail "statistics of neither trace"
    done
    touch stop
    wait "$writer"
}

# Rows, and whole files, in place: what is read meanwhile looks damaged.
write_in_place() { # database copy
    local table
    table=$(sqlite3 "$2" "SELECT name FROM sqlite_master WHERE name LIKE 'rocpd_region_%' LIMIT 1")
    while [ ! -e stop ] && [ $SECONDS -lt ${SOAK:+6}300 ]; do
        case $((RANDOM % 5)) in
            0) sqlite3 "$1" "PRAGMA synchronous=OFF; UPDATE $table SET start=start+1 WHERE id%7=$((RANDOM % 7))" ;;
            1) sqlite3 "$1" "PRAGMA synchronous=OFF; VACUUM" ;;
            2) cat "$2" >"$1" ;;
            3) sqlite3 "$1" "PRAGMA journal_mode=wal; DELETE FROM $table WHERE id%11=3; PRAGMA wal_checkpoint" ;;
            4) sqlite3 "$1" "PRAGMA journal_mode=delete; PRAGMA synchronous=OFF; CREATE TABLE x AS SELECT * FROM $table; DROP TABLE x" ;;
        esac
    done
}

@test "a database that is written to while it is read is not called damaged" {
    local i command rc
    [ -n "${SOAK:-}" ] || skip "only with SOAK=1: what a writer in place leaves differs each time"
    "$BUILD/tests/rocpd-gen" -o a.db --rows 30000
    cp a.db t.db
    write_in_place t.db a.db >/dev/null 2>&1 3>&- &
    local writer=$!
    for ((i = 0; i < ${SOAK:+20}10; i++)); do
        while read -r command; do
            rc=0
            # shellcheck disable=SC2086 # words
            $command t.db >out.txt 2>err || rc=$?
            # What it was before it was opened, is said as it was.
            [ "$rc" -le 1 ] || { [ "$rc" -eq 3 ] && [ -s err ] && ! grep -qvE \
                "changed while it was read: try again when its writer is done$|a transaction is in progress|is empty$|is truncated: it has|ends in an incomplete transaction" err; } ||
                fail "$command: $rc: $(cat err)"
        done <<'END'
rocpd2csv -q -o - --kinds kernel
rocpd2csv -q --reader sqlite -o - --kinds hip
rocstats -q all
rocmerge -q --no-sync -o m.db
rocmerge -q --no-sync --rebuild -o m.db
rocpd2pftrace -q --no-sync -o p.pftrace
rocline query -q --format csv --query SELECT(count(*))FROM(regions)
rocline info
END
    done
    touch stop
    wait "$writer" || true
}
