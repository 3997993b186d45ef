#!/usr/bin/env bats
# What goes wrong outside: inputs that are something else, outputs that cannot be written.

load helper

requires() {
    needs "$FIXTURES/schema-3.0.0.db"
}

# fails_on CODE INPUT TEXT: both tools say one line with the name of the input and the text.
fails_on() {
    local tool
    for tool in "${TOOLS[@]}"; do
        try "$1" "$tool" -d out "$2"
        one_line "$tool"
        says "$2"
        says "$3"
        [ -z "$output" ]
        [ ! -e out ] || [ -z "$(ls -A out)" ] || fail "something was written"
    done
}

@test "a missing file" {
    fails_on 3 missing.db "no such file"
}

@test "what cannot be read as a text is said in the same words everywhere" {
    local db=$FIXTURES/schema-3.0.0.db log=$TOP/tests/fixtures/rtg/profile.txt
    mkdir folder.yaml
    for pair in 'gone.yaml|no such file' "$log/x.yaml|no such file" 'folder.yaml|a directory, not a file'; do
        local file=${pair%|*} words=${pair#*|}
        [ -d "$file" ] || { try 3 rpt "$file" && says "rpt: $file: $words"; }
        try 3 rocpd2csv -d out --align offsets "$file" "$db" && says "rocpd2csv: $file: $words"
        try 3 rocline query --script "$file" "$db" && says "rocline query: $file: $words"
        try 3 rocpd2csv --job "$file" && says "rocpd2csv: $file: $words"
    done
    try 3 rpt /dev/zero && says "rpt: /dev/zero: a device, not a file"
    try 3 rocpd2csv -d out --align offsets /dev/zero "$db" && says "/dev/zero: a device, not a file"
}

@test "files that are no databases" {
    for name in empty text lfs-pointer truncated-header; do
        fails_on 3 "$FIXTURES/$name.db" ""
    done
}

@test "an empty file is called one, by every tool" {
    : >none
    gzip -c none >none.gz
    local tool file
    for file in none none.gz; do
        for tool in "${TOOLS[@]}" rocstats rtg2json rpt "rocline info"; do
            try 3 $tool "$file"
            says "$tool: $file: the file is empty"
        done
    done
}

@test "an LFS pointer is called one" {
    fails_on 3 "$FIXTURES/lfs-pointer.db" LFS
}

@test "truncated and corrupt databases" {
    fails_on 3 "$FIXTURES/truncated.db" ""
    for tool in "${TOOLS[@]}"; do
        run --separate-stderr "$tool" -q -d out "$FIXTURES/corrupt.db"
        [ "$status" -eq 3 ] || [ "$status" -eq 1 ] || fail "corrupt.db"
        [ "${#stderr_lines[@]}" -le 1 ] || fail "more than one line"
    done
}

# convert TOOL FOLDER DATABASE: what a tool makes of it, in a folder of its own.
convert() {
    rm -rf "$2"
    mkdir "$2"
    case $1 in
    rocstats) rocstats -o "$2/x" all "$3" ;;
    rocmerge | rtg2json) "$1" -o "$2/x" "$3" ;;
    *) $1 -d "$2" -o x "$3" ;; # with its options
    esac
}

# cut_off DATABASE TOOL...: at all lengths an error, or the same output as of the whole one. Without
# a size in the header that counts a file may lack pages that hold nothing.
cut_off() {
    local db=$1 size cut counts tool
    shift
    size=$(stat -c %s "$db")
    for tool in "$@"; do
        cp "$db" cut.db
        run convert "$tool" whole cut.db
        [ "$status" -le 1 ] || fail "$tool of the whole"
        for counts in yes no; do
            for cut in 1 100 2000 4095 4096 4097 13065 $((size / 3)) $((size - 700)) $((size - 99)); do
                [ "$cut" -lt "$size" ] || continue
                head -c $((size - cut)) "$db" >cut.db
                [ $counts = yes ] || printf '\167' | dd of=cut.db bs=1 seek=95 conv=notrunc status=none
                run --separate-stderr convert "$tool" part cut.db
                case $status in
                3)
                    says cut.db
                    [ -z "$(ls -A part)" ] || fail "$tool: something is left"
                    ;;
                0 | 1) diff -r whole part || fail "$tool: $db less $cut bytes: rows are missing" ;;
                *) fail "$tool: $db less $cut bytes" ;;
                esac
            done
        done
    done
}

@test "databases that are cut: never exit code 0 with fewer rows" {
    cut_off "$FIXTURES/wal-clean.db" rocpd2csv "rocpd2csv --reader sqlite" "rocpd2csv --reader pages" \
        rocpd2pftrace rocstats rtg2json rocmerge
    for name in merged schema-4.1.0 everything; do
        [ ! -e "$FIXTURES/$name.db" ] || cut_off "$FIXTURES/$name.db" rocpd2csv "rocpd2csv --reader sqlite"
    done
    head -c -2000 "$FIXTURES/wal-clean.db" >cut.db
    for reader in auto sqlite pages; do
        try 3 rocpd2csv --strict --reader $reader -d out cut.db
        one_line rocpd2csv
        says "cut.db: the database is truncated"
    done
}

@test "databases that cat joined are not taken for the first of them" {
    cat "$FIXTURES/rank0.db" "$FIXTURES/rank1.db" >joined.db
    for reader in auto sqlite pages; do
        try 3 rocpd2csv --reader $reader -d out joined.db
        one_line rocpd2csv
        says "joined.db: another database begins at byte $(stat -c %s "$FIXTURES/rank0.db")"
    done
    run --separate-stderr rocstats --table domains - <joined.db
    [ "$status" -eq 3 ]
}

@test "real databases that are cut" {
    needs "$SHARED/rocpd/gfx1250_gemm.db" "$SHARED/rocpd/r9700_llama_bench.db"
    cut_off "$SHARED/rocpd/gfx1250_gemm.db" rocpd2csv "rocpd2csv --reader sqlite" rocmerge rtg2json
    cut_off "$SHARED/rocpd/r9700_llama_bench.db" rocpd2csv
}

# Cells that are zeros: SQLite finds no row behind the one before, without an error.
@test "a page whose rows are zeros: an error, whoever reads" {
    needs sqlite3
    cp "$FIXTURES/schema-3.0.0.db" z.db
    page=$(sqlite3 z.db "SELECT rootpage FROM sqlite_master WHERE type = 'table' AND
        name LIKE 'rocpd_region%'")
    size=$(sqlite3 z.db "PRAGMA page_size")
    if [ "$(od -An -tu1 -j $(((page - 1) * size)) -N1 z.db)" -eq 5 ]; then # its last child
        page=$(od -An -tu1 -j $(((page - 1) * size + 8)) -N4 z.db |
            awk '{ print (($1 * 256 + $2) * 256 + $3) * 256 + $4 }')
    fi
    head -c $((size - 400)) /dev/zero |
        dd of=z.db bs=1 seek=$(((page - 1) * size + 400)) conv=notrunc status=none
    for reader in auto sqlite pages; do
        for tool in "${TOOLS[@]}"; do
            try 3 "$tool" --reader $reader -d out z.db
            one_line "$tool"
            says "z.db: table rocpd_region"
            [ ! -e out ] || [ -z "$(ls -A out)" ]
        done
    done
}

# is_called FILE NAME ADVICE: every tool says what the file is, and what to do, and writes nothing.
is_called() {
    local tool
    for tool in rocpd2csv rocpd2pftrace rocstats rocmerge rtg2json rpt; do
        try 3 "$tool" -o out "$1"
        one_line "$tool"
        says "$1: this is $2"
        says "$3"
        [ ! -e out ]
    done
}

@test "files of other tools are called what they are" {
    echo '"Kind","Agent_Id","Queue_Id","Stream_Id"' >v3.csv
    fails_on 3 v3.csv "v3.csv: the column Kernel_Name is missing"
    echo '"Name","Calls","TotalDurationNs","AverageNs","Percentage"' >sums.csv
    is_called sums.csv "a summary of rocprof (CSV), not a trace" "take results.csv, results.json or results.db"
    echo '"Name","Calls","TotalDurationNs","AverageNs","Percentage","MinNs","MaxNs","StdDev"' >sums3.csv
    is_called sums3.csv "a summary of rocprofv3 (CSV), not a trace" "such as kernel_trace.csv"
    if rocpd2otf2 -q -o o.otf2 "$FIXTURES/rank0.db"; then
        is_called o.otf2 "an OTF2 archive" "otf2-print"
        is_called o.def "a part of an OTF2 archive" "otf2-print"
    fi
    gzip -c "$FIXTURES/rank0.db" | gzip >twice.gz
    is_called twice.gz "a gzip file" "unpack it first"
}

# Of such a log SQLite reads what it likes, without a word.
@test "a log that is cut, damaged or another database's, a database that is cut beside its log" {
    needs "$FIXTURES/wal-live.db-wal"
    fresh() {
        rm -rf out
        cp "$FIXTURES/wal-live.db" w.db
        cp "$FIXTURES/wal-live.db-wal" w.db-wal
    }
    fresh
    try 0 rocpd2csv -d out w.db
    silent
    for tool in rocpd2csv rocpd2pftrace; do
        for cut in 10 5000 16490; do
            fresh
            truncate -s -$cut w.db-wal
            try 1 "$tool" -d out w.db
            says "w.db: the log beside it (-wal) ends in an incomplete transaction"
        done
        for cut in 100 4096 60000; do
            fresh
            truncate -s -$cut w.db
            try 3 "$tool" -d out w.db
            says "w.db: the database is truncated"
            [ ! -e out ] || [ -z "$(ls -A out)" ]
        done
        fresh
        printf x | dd of=w.db-wal bs=1 seek=3 conv=notrunc status=none
        try 3 "$tool" -d out w.db
        says "w.db: its write-ahead log (-wal) is damaged"
        fresh
        cp "$FIXTURES/rank0.db" w.db
        try 3 "$tool" -d out w.db
        says "the log beside it (-wal) belongs to another database"
    done
}

@test "what lies beside a database is no database" {
    cp "$FIXTURES/schema-3.0.0.db" a.db
    s=$(suffix a.db)
    sqlite3 a.db >/dev/null <<SQL
PRAGMA journal_mode = WAL;
INSERT INTO rocpd_string$s (id, string) VALUES (999999, 'x');
.shell cp a.db-wal orphan-wal; cp a.db-shm orphan-shm
SQL
    is_called orphan-wal "a write-ahead log of SQLite (-wal), not the database" "name the database"
    is_called orphan-shm "an index of a write-ahead log of SQLite (-shm)" "name the database"
}

@test "real files of other tools are called what they are" {
    needs "$SHARED/rocprof-v1/llama-stats/results.stats.csv"
    while read -r file name; do
        [ -e "$SHARED/$file" ] || continue
        is_called "$SHARED/$file" "$name" ""
    done <<'END'
rocprof-v1/llama-stats/results.stats.csv a summary of rocprof (CSV)
rocprofv3-csv/hip_api_stats.csv a summary of rocprofv3 (CSV)
jax/mi300_conv.xplane.pb a profile of JAX or TensorFlow
END
}

@test "databases of other tools" {
    needs "$TOP/tests/fixtures/foreign.sql"
    for name in $(sed -n 's/^-- file //p' "$TOP/tests/fixtures/foreign.sql"); do
        fails_on 3 "$FIXTURES/$name" ""
    done
}

@test "an index that names missing files" {
    for tool in "${TOOLS[@]}"; do
        try 3 "$tool" -d out "$FIXTURES/bad-index.yaml"
        one_line "$tool"
        says bad-index.yaml
    done
}

@test "a folder without databases" {
    mkdir empty
    fails_on 3 empty ""
}

@test "one bad input among good ones stops the run" {
    for tool in "${TOOLS[@]}"; do
        try 3 "$tool" -d out "$FIXTURES/rank0.db" "$FIXTURES/text.db" "$FIXTURES/rank1.db"
        says text.db
        [ ! -e out ] || [ -z "$(ls -A out)" ]
    done
}

@test "filters that ask for what is not there: exit code 2" {
    for tool in "${TOOLS[@]}"; do
        for option in --agent=nonesuch --rank=99 --pid=1 --start=10x --start-marker=nonesuch \
            --name='a(b' --min-duration=soon; do
            try 2 "$tool" -d out "$option" "$FIXTURES/schema-3.0.0.db"
            says "${option%%=*}"
            says "Try '$tool --help'."
        done
    done
}

@test "a full device: exit code 4" {
    ln -s /dev/full full.pftrace
    try 4 rocpd2pftrace -o full.pftrace "$FIXTURES/schema-3.0.0.db"
    one_line rocpd2pftrace
    [ -L full.pftrace ]
    run --separate-stderr bash -c "rocpd2pftrace -o - '$FIXTURES/schema-3.0.0.db' >/dev/full"
    [ "$status" -eq 4 ] || fail "pftrace to /dev/full"
    says "No space left"
    run --separate-stderr bash -c \
        "rocpd2csv -o - --kinds kernel '$FIXTURES/schema-3.0.0.db' >/dev/full"
    [ "$status" -eq 4 ] || fail "csv to /dev/full"
    says "No space left"
    # Also where an answer has another exit code of its own: a limit (6), an unusable trace (3).
    printf '{"traceEvents": [%s]}' "$(for i in {0..99}; do printf '%s{"ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel", "pid": 1, "tid": 1, "ts": %d, "dur": 1, "args": {"correlation": %d}}' "${i/#0/}" $((i * 10)) $((i + 1)) | sed 's/^[0-9]*{/{/; s/^/,/'; done | cut -c2-)" >unusable.json
    try 3 rocstats doctor -q unusable.json
    for line in "rocline doctor -q --format json unusable.json" \
        "rocstats compare -q --fail-over-total 1 --format json '$FIXTURES/rank0.db' '$FIXTURES/rank1.db'"; do
        run --separate-stderr bash -c "$line >/dev/full"
        [ "$status" -eq 4 ] || fail "$line: exit code $status"
        says "No space left"
    done
}

@test "closed standard output: exit code 4" {
    run bash -c "rocpd2csv -o - --kinds kernel '$FIXTURES/schema-3.0.0.db' >&-"
    [ "$status" -eq 4 ]
    run bash -c "rocpd2pftrace -o - '$FIXTURES/schema-3.0.0.db' >&-"
    [ "$status" -eq 4 ]
}

@test "a reader that goes away is not worth a word" {
    for command in "rocpd2csv -o - --kinds hip_api" "rocpd2pftrace -z0 -o -"; do
        # shellcheck disable=SC2016
        run --separate-stderr bash -c "
            (trap '' PIPE; $command '$FIXTURES/schema-3.0.0.db'; echo \$? >code) | true"
        [ -z "$stderr" ] || fail "$command"
        grep -qx '[04]' code
    done
}

@test "an output folder that cannot be made" {
    echo file >file
    for tool in "${TOOLS[@]}"; do
        try 4 "$tool" -d file/below "$FIXTURES/schema-3.0.0.db"
        one_line "$tool"
        says file/below
    done
}

@test "a failed run leaves nothing and does not touch an older file" {
    echo older >t.pftrace
    try 3 rocpd2pftrace -o t.pftrace "$FIXTURES/rank0.db" "$FIXTURES/truncated.db"
    [ "$(cat t.pftrace)" = older ]
    [ "$(find . -type f | wc -l)" -eq 1 ]
}

@test "a folder as the output file" {
    mkdir t.pftrace
    try 4 rocpd2pftrace -o t.pftrace "$FIXTURES/schema-3.0.0.db"
    one_line rocpd2pftrace
}

@test "a folder that is full of other things is left alone" {
    mkdir out
    touch out/keep
    try 0 rocpd2csv -q -d out "$FIXTURES/schema-3.0.0.db"
    [ -e out/keep ]
    [ -z "$(find out -name '.*' -type f)" ]
}

@test "an empty name, and an empty part of one" {
    db=$FIXTURES/schema-3.0.0.db
    for tool in "rocpd2csv -d" "rocpd2pftrace -o" "rocpd2otf2 -d" "rocmerge -o" "rocmerge -c -d" \
        "rocstats -o" "rocstats --style rocpd -d" "rtg2json -o" "rpt -o" "rpt -g" "rocrec -o" "rocrec -d"; do
        # shellcheck disable=SC2086 # words
        try 2 $tool "" "$db"
        says "the name is empty"
    done
    for tool in rocpd2csv rocpd2pftrace rocpd2otf2 rocmerge "rocmerge -c" "rocstats --style rocprof"; do
        for folder in "$PWD/%env{UNSET}%" "%env{UNSET}%" "a/%env{EMPTY}%/b" "%env{}%"; do
            # shellcheck disable=SC2086 # words
            try 2 env EMPTY= $tool -d "$folder" "$db"
            says "is empty or not set"
        done
    done
    try 2 env ROCPD_OUTPUT_PATH='%env{UNSET}%' rocpd2csv "$db"
    [ -z "$(ls -A)" ]
}

@test "values in the name of a folder are names, not paths" {
    db=$FIXTURES/schema-3.0.0.db
    mkdir in
    cd in
    try 0 env X=../../x SLURM_PROCID=.. SLURM_JOB_ID=$'/etc/a b\n' \
        rocpd2csv --kinds kernel -d 'd/%rank%/%job%/%env{X}%' "$db"
    [ -s d/_./_etc_a_b_/_._.._x/out_kernel_trace.csv ]
    try 0 env X=.. rocstats --style rocpd -d '%env{X}%/%env{X}%' "$db"
    [ -s _./_./out_kernels_summary.csv ]
    [ "$(ls -A ..)" = in ]
}

@test "a name that is a folder itself does not become a hidden file" {
    db=$FIXTURES/schema-3.0.0.db
    mkdir d
    for name in . .. d/. d/..; do
        for tool in rocpd2csv rocpd2pftrace rocpd2otf2 rocmerge "rocline export" \
            "rocline convert -f csv,otf2"; do
            # shellcheck disable=SC2086 # words
            try 2 $tool -o "$name" "$db"
            says "--output-file: \"$name\" is a folder"
        done
    done
    try 2 rocmerge -o d/ "$db"
    says '"d/" is a folder'
    try 2 env ROCPD_OUTPUT_NAME=. rocpd2csv "$db"
    [ "$(ls -A)" = d ]
}

@test "devices, pipes and files that are there are the output itself" {
    db=$FIXTURES/schema-3.0.0.db
    mkfifo fifo fifo.gz
    rocpd2csv -o - --kinds kernel "$db" >csv
    rocpd2pftrace -o - "$db" >trace
    for tool in "rocpd2pftrace" "rocpd2csv --kinds kernel"; do
        # shellcheck disable=SC2086 # words
        try 0 $tool -o /dev/null "$db"
        silent
    done
    timeout 20 cat fifo >got &
    try 0 timeout 20 rocpd2csv -o fifo --kinds kernel "$db"
    wait
    cmp got csv
    timeout 20 cat fifo.gz >got.gz &
    try 0 timeout 20 rocpd2csv -o fifo.gz --kinds kernel "$db"
    wait
    gzip -dc got.gz | cmp - csv
    timeout 20 cat fifo >got &
    try 0 timeout 20 rocpd2pftrace -o fifo "$db"
    wait
    cmp got trace
    mkdir d
    echo older | tee old d/old >out
    try 0 rocpd2pftrace -o old "$db"
    cmp old trace
    try 0 rocpd2pftrace -d d -o old "$db"
    cmp d/old trace
    try 0 rocmerge -o old "$db"
    [ "$(sqlite3 old 'PRAGMA integrity_check')" = ok ]
    try 0 rocpd2pftrace "$db" # out is a default, and nothing that somebody named
    [ "$(cat out)" = older ]
    try 2 rocpd2csv -o /dev/null "$db"
    says "one kind"
    try 2 rocpd2otf2 -o fifo "$db"
    says "several files"
    try 4 rocmerge -o /dev/null "$db"
    one_line rocmerge
    [ "$(find . -type f | sort | tr '\n' ' ')" = \
        "./csv ./d/old ./got ./got.gz ./old ./out ./rocpd-output-data/out_results.pftrace ./trace " ]
}

@test "a failed run leaves no folder that it made" {
    db=$FIXTURES/schema-3.0.0.db
    mkdir there
    for tool in "${TOOLS[@]}" rocpd2otf2 rocmerge "rocmerge --split 2" "rocmerge -c" \
        "rocstats --style rocpd"; do
        for bad in truncated corrupt; do
            # shellcheck disable=SC2086 # words
            try 3 $tool -d there/a/b "$FIXTURES/$bad.db"
            [ -z "$(ls -A there)" ] || fail "$tool, $bad"
        done
        # shellcheck disable=SC2086,SC2016
        run bash -c 'ulimit -f 2; exec "$@"' bash $tool -d there/a/b "$FIXTURES/merged.db"
        [ "$status" -eq 4 ] || [ "$tool" = "rocstats --style rocpd" ] || fail "$tool"
        [ "$status" -ne 4 ] || [ -z "$(ls -A there)" ] || fail "$tool, no room"
        rm -rf there/a
    done
    # shellcheck disable=SC2016
    for tool in "${TOOLS[@]}" rocpd2otf2; do
        try 3 "$tool" --strict -d there/a/b "$FIXTURES/nasty-3.0.0.db"
        [ -z "$(ls -A there)" ] || fail "$tool --strict"
    done
    try 127 rocrec -d there/a/b -- no-such-program
    [ -z "$(ls -A there)" ]
    mkdir -p there/kept
    try 3 rocpd2csv -d there/kept "$FIXTURES/truncated.db"
    try 3 rocpd2csv -d there/kept/more --strict "$FIXTURES/nasty-3.0.0.db"
    [ "$(find there | tr '\n' ' ')" = "there there/kept " ]
    try 0 rocpd2csv -d there/kept/more "$db"
}

@test "two outputs of one name, and names that are taken or too long" {
    db=$FIXTURES/schema-3.0.0.db
    echo older >x
    ln -s x link
    for json in x ./x link; do
        try 2 rpt -o x -g $json "$db"
        says "need different files"
        [ "$(cat x)" = older ]
    done
    for name in a.otf2 a.def a.marker merged-2.db out_kernel_trace.csv out_kernels_summary.csv; do
        mkdir -p d/$name/precious
    done
    for tool in "rocpd2otf2 -o a.otf2" "rocmerge --split 3" rocpd2csv "rocstats --style rocpd"; do
        # shellcheck disable=SC2086 # words
        try 4 $tool -d d "$db"
        one_line "${tool%% *}"
    done
    rmdir d/a.otf2/precious d/a.otf2
    try 4 rocpd2otf2 -d d -o a.otf2 "$db"
    [ "$(find d -type f | wc -l)" -eq 0 ]
    [ "$(find d -name precious | wc -l)" -eq 5 ]
    name=$(printf 'n%.0s' {1..250})
    for tool in "rocpd2csv -o $name" "rocpd2pftrace -o nnn$name.gz" "rocpd2otf2 -o $name.otf2" \
        "rocmerge -o $name.db --split 2" "rocmerge -o nnn$name.db" "rtg2json -q -o $name$name"; do
        # shellcheck disable=SC2086 # words
        try 4 $tool "$db"
        one_line "${tool%% *}"
        says "name too long"
        [[ "$stderr" != *.rocline* ]] || fail "the name that was asked for is to be said"
    done
    try 0 rocpd2csv -o "${name:0:234}" -d e --kinds kernel "$db" # 251 bytes with its ending
    [ -s "e/${name:0:234}_kernel_trace.csv" ]
    [ "$(echo *)" = "d e link x" ]
}

# What is printed without a trace is an output like any other.
@test "lists and helps that nobody can take" {
    local line
    while read -r line; do
        run --separate-stderr bash -c "$line >/dev/full"
        [ "$status" -eq 4 ] || fail "$line: exit code $status"
        [[ $stderr == *": standard output: cannot write: No space left on device" ]] || fail "$line: $stderr"
        run --separate-stderr bash -c "$line >&-"
        [ "$status" -eq 4 ] || fail "$line, closed: exit code $status"
    done <<'END'
rocstats --help
rocline export --help=columns
rocline schema
rocline recipes
END
}

@test "examples of commands name each word once" {
    local line
    for line in "rocline view" "rocstats view" "rocline help view" "rocline help compare"; do
        $line --help >help.txt 2>&1 || $line >help.txt
        ! grep -wE 'view view|compare compare|stats stats' help.txt || fail "$line"
    done
}

@test "a time that is too large, negative, missing or no number is called so by every reader" {
    local large=99999999999999999999 json=$TOP/tests/fixtures/rocprof/v1.json v3=$FIXTURES/rocprofv3-7.0.json
    is_called() { # input, words
        run --separate-stderr rocstats summary "$1"
        [ "$status" -eq 1 ]
        says "$2"
    }
    event() { # ts, dur
        echo "[{\"ph\": \"X\", \"pid\": 1, \"tid\": 1, \"name\": \"a\", \"ts\": 1, \"dur\": 2},
            {\"ph\": \"X\", \"pid\": 1, \"tid\": 1, \"name\": \"b\", \"ts\": $1, \"dur\": $2}]" >c.json
    }
    row() { # start, end
        printf '%s\n' '"Kind","Kernel_Name","Start_Timestamp","End_Timestamp"' '"KERNEL_DISPATCH","k",1,2' \
            "\"KERNEL_DISPATCH\",\"k\",$1,$2" >r_kernel_trace.csv
    }
    event 9223372036854775.808 1
    is_called c.json "byte 78: a time is too large"
    event 1 1e30
    is_called c.json "a time is too large"
    event -1e30 1
    is_called c.json "a negative time"
    event '"soon"' 1
    is_called c.json "a time is not a number"
    event '""' 1
    is_called c.json "a time is missing"
    row 1 $large
    is_called r_kernel_trace.csv "r_kernel_trace.csv:3: a time is too large"
    row 9223372036854775808 9223372036854775809
    is_called r_kernel_trace.csv "a time is too large"
    row -5 1
    is_called r_kernel_trace.csv "a negative time"
    row soon 1
    is_called r_kernel_trace.csv "a time is not a number"
    row '' 1
    is_called r_kernel_trace.csv "a time is missing"
    sed "0,/\"end_timestamp\":5000000003903/s//\"end_timestamp\":$large/" "$v3" >v3.json
    is_called v3.json "a time is too large"
    sed "s/\"BeginNs\":\"5000000008000\"/\"BeginNs\":\"$large\"/" "$json" >v1.json
    is_called v1.json "a time is too large"
    sed '0,/"ts":"\?[0-9]*/s//"ts":"1e30/' "$json" >v1.json
    is_called v1.json "a time is too large"
    sqlite3 d.rpd "CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string TEXT);
        CREATE TABLE rocpd_op (id INTEGER PRIMARY KEY, gpuId, queueId, sequenceId, completionSignal, start, end,
            description_id, opType_id);
        INSERT INTO rocpd_string VALUES (1, 'k'), (2, 'KernelExecution');
        INSERT INTO rocpd_op VALUES (1, 0, 1, 1, '', 1, 2, 1, 2), (2, 0, 1, 1, '', 1, 1e30, 1, 2),
            (3, 0, 1, 1, '', NULL, 2, 1, 2), (4, 0, 1, 1, '', 1, 'soon', 1, 2)"
    is_called d.rpd "rocpd_op: row 2: a time is too large"
    says "rocpd_op: row 3: a time is missing"
    says "rocpd_op: row 4: a time is not a number"
}
