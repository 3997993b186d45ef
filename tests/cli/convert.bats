#!/usr/bin/env bats
# Whole conversions: every fixture, names of outputs, streams, what is said about broken records.

load helper

requires() {
    needs "$FIXTURES/schema-3.0.0.db"
}

clean_databases() {
    find "$FIXTURES" -maxdepth 1 \( -name 'schema-*.db' -o -name 'sys*.db' -o -name 'no-[pv]*.db' -o \
        -name 'merged*.db' -o -name '*rank?.db' -o -name 'spm*.db' -o -name 'graph.db' -o \
        -name 'hip-events.db' -o -name 'rename.db' -o -name 'viewer.db' -o -name 'wal-clean.db' \) | sort
}

@test "every clean database converts, without a word" {
    for db in $(clean_databases); do
        try 0 rocpd2csv -d csv -o "$(basename "$db")" "$db"
        silent
        [ -n "$(ls csv/"$(basename "$db")"_*.csv)" ]
        try 0 rocpd2pftrace -o t.pftrace "$db"
        silent
        [ -s t.pftrace ]
    done
}

@test "every database converts with every option that changes the form" {
    for db in "$FIXTURES"/schema-3.0.5.db "$FIXTURES"/sys.db "$FIXTURES"/merged.db; do
        for option in --group-by-queue --legacy-tracks --args -z0 -z9 --kernel-rename \
            --kernel-names=mangled --kernel-names=short --agent-index-value=type-relative; do
            try 0 rocpd2pftrace $option -o t.pftrace "$db"
            [ -s t.pftrace ]
        done
        for option in --style=rocpd-1.0 --style=rocpd-1.1 --style=rocprofv3 --style=rocprof --duration --bytes \
            --gzip --kernel-rename --kernel-names=truncated --agent-index-value=absolute; do
            try 0 rocpd2csv $option -d csv "$db"
            [[ $option$db == *=rocprof/*merged.db && $stderr == *"no place for hosts"* ]] || silent
        done
    done
}

@test "a database without some of the tables and columns" {
    for tool in "${TOOLS[@]}"; do
        try 0 "$tool" -d out "$FIXTURES/few-tables.db"
    done
}

@test "a database without any one of its tables" {
    local db=$FIXTURES/rank1.db table tool
    for table in $(sqlite3 -readonly "$db" "SELECT name FROM sqlite_master WHERE type = 'table' AND
        name LIKE 'rocpd_%' AND name NOT LIKE 'rocpd_metadata%'"); do
        cp "$db" less.db
        sqlite3 less.db "PRAGMA foreign_keys = OFF; DROP TABLE \"$table\""
        for tool in "rocpd2csv -d out" "rocpd2pftrace -d out" "rocpd2otf2 -d out" "rocstats -o s all" \
            "rtg2json -o x.json" "rocmerge -o m.db"; do
            # shellcheck disable=SC2086 # words
            run --separate-stderr $tool less.db
            [ "$status" -le 1 ] || fail "$tool without $table"
        done
    done
}

@test "a name that is not UTF-8: U+FFFD in all outputs, said" {
    cp "$FIXTURES/rank1.db" a.db
    sqlite3 a.db "UPDATE rocpd_string$(suffix a.db) SET string = CAST(x'636166e9' AS TEXT)
        WHERE id = (SELECT name_id FROM rocpd_region$(suffix a.db) LIMIT 1)"
    cp a.db nul.db
    sqlite3 nul.db "UPDATE rocpd_string$(suffix a.db) SET string = CAST(x'63616600' AS TEXT)
        WHERE string = CAST(x'636166e9' AS TEXT)"
    for tool in "rocpd2pftrace -o a.pftrace" "rocpd2otf2 -o a.otf2" "rtg2json -o a.json" "rocpd2csv -d csv" \
        "rocpd2csv --style rocprof -d v1" "rocstats all -o a.txt" "rocstats --format csv -o a.csv all" \
        "rocstats --style rocpd -d styles" "rpt -o a.rpt" "rocline export -f jsonl -d lines" \
        "rocline query -f csv -o q.csv --query SELECT(name)FROM(regions)" "rocline convert -f csv pftrace -d two"; do
        # shellcheck disable=SC2086 # words
        for db in a.db nul.db; do
            try 1 $tool $db
            [ "${#stderr_lines[@]}" -eq 1 ]
            says "1 text holds NUL or bytes that are not UTF-8: these become U+FFFD"
        done
    done
    grep -rq $'"caf\xef\xbf\xbd"' csv
    ! LC_ALL=C grep -rqaP 'caf(\x00|\xe9)' csv two lines q.csv a.csv a.txt a.json || fail "other bytes"
}

@test "extdata in frames of LZ4: all that a database without them says" {
    if [[ $(rocpd2csv --version) != *LZ4* ]]; then
        try 1 rocpd2csv -d none "$FIXTURES/schema-lz4.db"
        says "its extdata is compressed with LZ4, and this rocline was built without liblz4"
        skip "built without liblz4"
    fi
    for db in schema-3.0.0 schema-lz4; do
        try 0 rocpd2csv -d $db -o o "$FIXTURES/$db.db"
        silent
        try 0 rtg2json --layout rocprofv3 -o $db.json "$FIXTURES/$db.db"
        silent
    done
    diff -r schema-3.0.0 schema-lz4
    cmp schema-3.0.0.json schema-lz4.json
    # As another writer has them, and one that is damaged.
    cp "$FIXTURES/schema-lz4.db" x.db
    local event
    event=rocpd_event$(suffix x.db)
    sqlite3 x.db "UPDATE $event SET extdata = CAST('LZ4F0000' || extdata AS BLOB)"
    try 0 rocpd2csv -d x -o o x.db
    diff -r schema-3.0.0 x
    sqlite3 x.db "UPDATE $event SET extdata = substr(extdata, 9, length(extdata) - 9) WHERE id =
        (SELECT event_id FROM rocpd_region LIMIT 1)"
    try 1 rocpd2csv -d y -o o x.db
    says "1 record repaired: broken JSON (1)"
}

@test "nasty databases: exit code 1 and one line; -q is silent; --strict is an error" {
    for db in "$FIXTURES"/nasty-*.db; do
        for tool in "${TOOLS[@]}"; do
            try 1 "$tool" -d out "$db"
            says "records left out: "
            says "end before start ("
            [ "$(grep -c 'records left out' <<<"$stderr")" -eq 1 ]
            try 1 "$tool" -q -d out "$db"
            silent
            try 3 "$tool" -q --strict -d strict "$db"
            [ ! -e strict ] || [ -z "$(ls -A strict)" ]
        done
    done
}

@test "both tools leave out the same records" {
    for db in "$FIXTURES"/nasty-*.db; do
        try 1 rocpd2csv -d out "$db"
        csv=$(grep -o '[0-9]* records left out:[^;]*' <<<"$stderr")
        try 1 rocpd2pftrace -d out "$db"
        says "$csv;"
    done
}

# Also of frees without an allocation, which only show when a capture is read as a whole.
@test "every tool repairs the same records" {
    db=$FIXTURES/nasty-3.0.0.db
    for command in "rocpd2csv -d out" "rocpd2pftrace -o t.pftrace" "rtg2json -o t.json" \
        "rocmerge --rebuild -o t.db"; do
        try 1 $command "$db"
        echo "${stderr##*left out}" >>repaired
        says "free without allocation (2)"
    done
    [ "$(sed 's/.*; //' repaired | sort -u | wc -l)" -eq 1 ] || fail "$(cat repaired)"
    try 1 rocstats memory "$db"
    says "free without allocation (2)"
}

@test "inputs are not changed and nothing appears beside them" {
    mkdir in
    cp "$FIXTURES"/schema-3.0.0.db "$FIXTURES"/wal-live.db* "$FIXTURES"/wal-clean.db in
    (cd in && sha256sum -- *) >before
    for tool in "${TOOLS[@]}"; do
        for db in in/*.db; do
            run "$tool" -d out "$db"
            [ "$status" -le 1 ] || [ "$status" -eq 3 ] || fail "$db"
        done
    done
    (cd in && sha256sum -- *) >after
    diff before after
}

@test "read-only inputs in a read-only folder" {
    mkdir in
    cp "$FIXTURES"/schema-3.0.0.db in
    chmod 444 in/*
    chmod 555 in
    for tool in "${TOOLS[@]}"; do
        try 0 "$tool" -d out in/schema-3.0.0.db
    done
    chmod 755 in
}

@test "packages, folders, globs and lists give the same trace" {
    try 0 rocpd2csv -d list "$FIXTURES/rank0.db" "$FIXTURES/rank1.db"
    try 0 rocpd2csv -d glob "$FIXTURES/rank?.db"
    try 0 rocpd2csv -d package "$FIXTURES/job.rpdb"
    try 0 rocpd2csv -d index "$FIXTURES/job.rpdb/index.yaml"
    mkdir folder
    cp "$FIXTURES/rank0.db" "$FIXTURES/rank1.db" folder
    try 0 rocpd2csv -d copies -i folder
    for other in glob package index copies; do
        diff -r list "$other"
    done
}

@test "a merged database gives the rows of its parts" {
    try 0 rocpd2csv -d merged -o m "$FIXTURES/merged.db"
    [ "$(tail -n +2 merged/m_kernel_trace.csv | cut -d, -f1 | sort -u | wc -l)" -eq 3 ]
}

@test "names of outputs" {
    db=$FIXTURES/schema-3.0.0.db
    try 0 rocpd2csv "$db"
    [ -s rocpd-output-data/out_kernel_trace.csv ]
    try 0 rocpd2pftrace "$db"
    [ -s rocpd-output-data/out_results.pftrace ]
    try 0 env ROCPD_OUTPUT_NAME=n ROCPD_OUTPUT_PATH=p/q rocpd2csv "$db"
    [ -s p/q/n_kernel_trace.csv ]
    try 0 env ROCPD_OUTPUT_NAME=n ROCPD_OUTPUT_PATH=p/q rocpd2pftrace -o m "$db"
    [ -s p/q/m_results.pftrace ]
    try 0 rocpd2pftrace -o here.pftrace "$db"
    [ -s here.pftrace ]
    try 0 rocpd2pftrace -o there.pftrace -d d "$db"
    [ -s d/there.pftrace ]
    try 0 rocpd2pftrace -o sub/x "$db"
    [ -s rocpd-output-data/sub/x_results.pftrace ]
    try 0 rocpd2csv -o "$PWD/abs/x" "$db"
    [ -s abs/x_kernel_trace.csv ]
    try 0 rocpd2csv -o sub/x "$db"
    [ -s rocpd-output-data/sub/x_kernel_trace.csv ]
    try 0 env SLURM_PROCID=7 SLURM_JOB_ID=42 X=y rocpd2csv -d 'o/%job%-%rank%/%env{X}%/%no%' "$db"
    [ -s o/42-7/y/%no%/out_kernel_trace.csv ]
}

@test "AMD's keys in the names of outputs" {
    cp "$FIXTURES/schema-3.0.0.db" a.db
    chmod u+w a.db
    s=$(suffix a.db)
    sqlite3 a.db "UPDATE \"rocpd_info_process$s\" SET pid = 4711, ppid = 17, command = '/opt/my app/../x.sh -n ../../../etc'"
    host=$(sqlite3 a.db "SELECT hostname FROM rocpd_info_node LIMIT 1")
    folder() { # template
        rm -rf o
        env -u SLURM_PROCID -u SLURM_NTASKS -u OMPI_COMM_WORLD_RANK ROCPROF_DATE_FORMAT=D ROCPROF_TIME_FORMAT=T \
            "${@:2}" rocpd2csv --kinds kernel -d "o/$1" a.db
        dirname "$(cd o && find . -name 'out_kernel_trace.csv')"
    }
    [ "$(folder '%pid%-%ppid%')" = "./4711-17" ]
    [ "$(folder '%hostname%.%p.{pid}.%h')" = "./$host.4711.4711.$host" ]
    [ "$(folder '%tag%')" = "./my" ]
    [ "$(folder '%argt%')" = "./myapp_.._x.sh_-n_etc" ]
    [ "$(folder '%argv%')" = "./opt_my_app_.._x.sh_-n_etc" ]
    [ "$(folder '%args%')" = "./app_.._x.sh_-n_etc" ]
    [ "$(folder '%arg0%+%arg2%+')" = "./opt_my+-n+" ]
    try 2 rocpd2csv -d 'o/%arg9%' a.db
    says "--output-path: %arg9% is empty or not set"
    [ "$(folder '%launch_date%-%launch_time%')" = "./D-T" ]
    [ "$(folder '%size%-%s-%job%' SLURM_NTASKS=8 SLURM_JOB_ID=5)" = "./8-8-5" ]
    [ "$(folder '%rank%-%nid%' SLURM_PROCID=3)" = "./3-3" ]
    [ "$(folder '%cwd%')" = "./$(pwd | tr / _)" ]
    # shellcheck disable=SC2016
    [ "$(folder '$ENV{V}-%q{V}-$env{V}-%env{V}%' V=x/../y)" = "./x_.._y-x_.._y-x_.._y-x_.._y" ]
    [ "$(folder '%nokey%-100%-{nokey}')" = "./%nokey%-100%-{nokey}" ]
    [ "$(folder '%pgid%-%psid%-%psize%' | grep -c '^./[0-9]*-[0-9]*-1$')" -eq 1 ]
    try 0 rocpd2pftrace -d o -o '%pid%_x' a.db
    [ -s o/4711_x_results.pftrace ]
    try 0 rocstats kernels -o 'stats-%pid%.txt' a.db
    [ -s stats-4711.txt ]
    try 0 env ROCPD_OUTPUT_PATH=%env{NO_SUCH}% rocstats -o other.txt a.db
    [ -s other.txt ]
    try 0 rtg2json -o '%pid%-%tag%.json' a.db
    [ -s 4711-my.json ]
    try 2 rtg2json -o '%env{NO_SUCH}%.json' a.db
    says "--output-file: %env{NO_SUCH}% is empty or not set"
    try 0 rpt -o 'report-%pid%' --gui-trace 'gaps-%pid%' a.db
    [ -s report-4711 ]
    [ -s gaps-4711 ]
    try 0 env SLURM_PROCID=6 rocrec -d 'rec-%tag%-%arg1%-%rank%' -- "$(command -v true)" word
    [ -d rec-true-word-6 ]
    try 2 rocrec -o '%arg1%.rocl' -- true
    says "--output-file: %arg1% is empty or not set"
}

@test "AMD's time windows: exponents, more than the trace, any word for a BOOL" {
    db=$FIXTURES/rank0.db
    bounds=$(rocpd2csv -o - --kinds kernel "$db" | tail -n +2 | cut -d, -f11,12)
    first=$(cut -d, -f1 <<<"$bounds" | sort -n | head -1)
    rocpd2csv -o - --kinds kernel "$db" >all
    rocpd2csv -o - --kinds kernel --start "${first:0:1}.${first:1}e$((${#first} - 1))" "$db" | diff all -
    try 0 rocpd2csv -o - --kinds kernel --end 120% "$db"
    says 'rocpd2csv: --end: "120%" is more than the whole trace: 100% is used'
    diff all - <<<"$output"
    try 0 rocpd2csv -o - --kinds kernel --inclusive maybe --start 40% --end 60% "$db"
    says '--inclusive: "maybe" is read as False'
    diff <(rocpd2csv -o - --kinds kernel --inclusive False --start 40% --end 60% "$db") - <<<"$output"
    try 0 rocpd2csv -q -o - --kinds kernel --inclusive maybe "$db"
    [ -z "$stderr" ]
}

@test "a time window outside of the trace is an error, and no output" {
    db=$FIXTURES/rank0.db
    for tool in "${TOOLS[@]}" rocstats rocmerge rtg2json; do
        while read -r window; do
            # shellcheck disable=SC2086
            try 2 "$tool" -o out $window "$db"
            says "the trace"
            [ ! -e out ] && [ ! -e out.db ] || fail "$tool $window"
        done <<'END'
--start 1e18
--start +100h
--end 5
--start 1 --end 1000
--start 150%
--start 1e18 --include kernel
END
    done
    # A window in it without events is none.
    try 0 rocstats kernels --start 50% --end 50% --name '^no such$' "$db"
}

@test "rocpd-1.1: marks have their texts in instants_trace" {
    db=$FIXTURES/sampled.db
    rocpd2csv -o - --kinds marker --style rocpd-1.0 "$db" | awk -F, '$7 == $8 { print $3 }' | sort >texts
    [ "$(wc -l <texts)" -eq 4 ]
    rocpd2csv -o - --kinds instants --style rocpd-1.1 "$db" | grep MARKER | cut -d, -f3 | sort >marks
    diff texts marks
}

@test "the ending of a name of CSV files" {
    db=$FIXTURES/schema-3.0.0.db
    try 0 rocpd2csv -d d -o x.csv.gz --kinds kernel "$db"
    try 0 rocpd2csv -d d -o sub/x.csv --kinds kernel "$db"
    try 0 rocpd2csv -d d -o y.csv.gz -z 0 --kinds kernel "$db"
    try 0 env ROCPD_OUTPUT_NAME=v.csv rocpd2csv -d d --kinds kernel "$db"
    try 0 rocpd2csv -d d -o .csv --kinds kernel "$db"
    try 0 rocpd2csv -d d -o z.csv.csv --kinds kernel "$db"
    try 0 rocpd2csv -d d -o w.gz --kinds kernel "$db"
    diff <(cd d && find . -type f | sort) - <<'END'
./.csv_kernel_trace.csv
./sub/x_kernel_trace.csv
./v_kernel_trace.csv
./w.gz_kernel_trace.csv
./x_kernel_trace.csv.gz
./y_kernel_trace.csv
./z.csv_kernel_trace.csv
END
    gzip -dc d/x_kernel_trace.csv.gz | cmp - d/y_kernel_trace.csv
}

@test "standard output gives the bytes of the file" {
    db=$FIXTURES/schema-3.0.0.db
    rocpd2csv -d csv "$db"
    rocpd2pftrace -o t.pftrace "$db"
    for kind in kernel kernel_trace hip_api memory_copy counter_collection agent_info; do
        rocpd2csv -o - --kinds "$kind" "$db" >stdout
        cmp stdout csv/out_"${kind%_trace}"*.csv
    done
    rocpd2pftrace -o - "$db" >stdout
    cmp stdout t.pftrace
}

@test "one rule for compression: an option or else the name, and the ending follows" {
    db=$FIXTURES/schema-3.0.0.db
    text=$TOP/tests/fixtures/rtg/calls.txt
    for input in "$db" "$text"; do
        mkdir o
        rtg2json -q -o o/plain.json "$input"
        rtg2json -q --gzip -o o/a.json "$input"
        rtg2json -q -o o/b.json.gz "$input"
        rtg2json -q -z 9 -o o/c.json.gz "$input"
        rtg2json -q -z 0 -o o/d.json.gz "$input"
        [ "$(cd o && echo *)" = "a.json.gz b.json.gz c.json.gz d.json plain.json" ]
        for f in a b c; do
            gzip -dc o/$f.json.gz | cmp - o/plain.json
        done
        cmp o/d.json o/plain.json
        rtg2json -q --gzip -o - "$input" | gzip -dc | cmp - o/plain.json
        rm -r o
    done
    rocstats -o s.html --format html "$db"
    rocstats -o s.html.gz --format html "$db"
    gzip -dc s.html.gz | cmp - s.html
    rpt -o r.txt -g r.json "$db"
    rpt -o r.txt.gz -g r.json.gz "$db"
    gzip -dc r.txt.gz | cmp - r.txt
    gzip -dc r.json.gz | cmp - r.json
}

@test "gzip outputs decompress to the plain ones" {
    db=$FIXTURES/schema-3.0.0.db
    rocpd2csv -d plain "$db"
    rocpd2csv -d zipped --gzip "$db"
    rocpd2csv -d level --compress 1 "$db"
    for csv in plain/*.csv; do
        gzip -dc "zipped/$(basename "$csv").gz" | cmp - "$csv"
        gzip -dc "level/$(basename "$csv").gz" | cmp - "$csv"
    done
    [ "$(find zipped -name '*.csv' | wc -l)" -eq 0 ]
    rocpd2pftrace -z0 -o t.pftrace "$db"
    rocpd2pftrace -z0 -o t.pftrace.gz "$db"
    gzip -dc t.pftrace.gz | cmp - t.pftrace
}

@test "the output does not depend on --jobs or --memory" {
    for db in "$FIXTURES"/schema-3.0.5.db "$FIXTURES"/nasty-3.0.0.db "$FIXTURES"/merged.db; do
        rm -rf a b c
        run rocpd2csv -q -j1 -d a "$db"
        run rocpd2csv -q -j4 -d b "$db"
        run rocpd2csv -q -j3 --memory 1m -d c "$db"
        diff -r a b
        diff -r a c
        run rocpd2pftrace -q -j1 -o a.pftrace "$db"
        run rocpd2pftrace -q -j4 -o b.pftrace "$db"
        run rocpd2pftrace -q -j3 --memory 1m -o c.pftrace "$db"
        cmp a.pftrace b.pftrace
        cmp a.pftrace c.pftrace
    done
}

@test "--kinds selects files" {
    try 0 rocpd2csv -d out --kinds kernel,memory_copy_trace --kinds agent_info \
        "$FIXTURES/schema-3.0.0.db"
    diff <(ls out) <(printf '%s\n' out_agent_info.csv out_kernel_trace.csv out_memory_copy_trace.csv)
    try 2 rocpd2csv -d out --kinds nonesuch "$FIXTURES/schema-3.0.0.db"
    says nonesuch
}

@test "a database without events says so" {
    for tool in "${TOOLS[@]}"; do
        try 0 "$tool" -d out "$FIXTURES/empty-tables.db"
        says empty
        try 0 "$tool" -q -d out "$FIXTURES/empty-tables.db"
        silent
    done
}

@test "why nothing was converted" {
    needs sqlite3
    for options in "-d out" "-o -"; do
        # shellcheck disable=SC2086
        try 0 rocpd2csv $options --kinds spm "$FIXTURES/schema-3.0.0.db"
        one_line rocpd2csv
        says "no events of the requested kinds"
        # shellcheck disable=SC2086
        try 0 rocpd2csv $options --kinds agent "$FIXTURES/schema-3.0.0.db"
        [ -z "$stderr" ] || fail "agents are there"
    done
    try 0 rocpd2csv -d out --kinds kernel --name '^no such name$' "$FIXTURES/schema-3.0.0.db"
    says "no event of the requested kinds passes the filters"

    cp "$FIXTURES/schema-3.0.0.db" broken.db
    s=$(suffix broken.db)
    for table in region kernel_dispatch memory_copy memory_allocate; do
        echo "UPDATE rocpd_$table$s SET start = 1 + \"end\";"
    done | sqlite3 broken.db
    sqlite3 broken.db "DELETE FROM rocpd_sample$s; DELETE FROM rocpd_pmc_event$s"
    for tool in "${TOOLS[@]}"; do
        try 1 "$tool" -d out broken.db
        says "nothing to convert: all records were left out"
        says "end before start ("
    done
    try 1 rocpd2csv -d out --kinds kernel broken.db
    says "no events of the requested kinds, except records that were left out"
}

@test "nothing is said about words for what was not read" {
    for word in hsa rocjpeg; do
        try 0 rocpd2csv -o - --kinds kernel --exclude "$word" "$FIXTURES/schema-3.0.0.db"
        [ -z "$stderr" ] || fail "$word was not read"
    done
    try 0 rocpd2csv -d out --exclude rocjpeg "$FIXTURES/schema-3.0.0.db"
    says '"rocjpeg" matched nothing'
}

@test "a word that nobody knows is an error, and the nearest one is named" {
    db=$FIXTURES/schema-3.0.0.db
    for tool in "${TOOLS[@]}" rocstats rocmerge rtg2json; do
        for option in --include --exclude; do
            try 2 "$tool" -o out $option kernle "$db"
            says "$tool: $option: \"kernle\" is neither a kind of event nor a category of the trace; did you mean kernel?"
            try 2 "$tool" -o out $option kernel,nonesuch "$db"
            says '"nonesuch" is neither a kind of event'
        done
        try 2 "$tool" --align offset FILE "$db"
        says "did you mean offsets?"
    done
    [ ! -e out ]
    # What the trace has is known, whoever wrote it; a text that is no category is not.
    cp "$db" own.db
    chmod u+w own.db
    s=$(suffix own.db)
    sqlite3 own.db "UPDATE \"rocpd_string$s\" SET string = 'python_call' WHERE string = 'HSA_CORE_API'"
    try 0 rocpd2csv -o - --kinds other --include python own.db
    [ "${#lines[@]}" -gt 1 ]
    try 0 rocpd2csv -o - --kinds kernel --exclude python own.db
    try 2 rocpd2csv -d out --include hipMalloc "$db"
    says '"hipMalloc" is neither a kind of event'
}

@test "a file of offsets must be there and counts, also for one node" {
    db=$FIXTURES/schema-3.0.0.db
    for tool in "${TOOLS[@]}" rocstats rocmerge rtg2json; do
        try 3 "$tool" -o out --align offsets NOFILE "$db"
        one_line "$tool"
        says "NOFILE: no such file"
        [ ! -e out ]
    done
    try 2 rocstats --align marker nonesuch "$db"
    says "no such marker"
    host=$(sqlite3 "$db" "SELECT hostname FROM rocpd_info_node LIMIT 1")
    echo "$host +1s" >offsets
    begin() { rocline query -q -f csv "$@" "SELECT min(start) FROM kernel" "$db" | tail -1; }
    [ $(($(begin --align offsets offsets) - $(begin))) -eq 1000000000 ] # as with the other nodes beside it
    echo "other +1s" >offsets
    try 3 rocstats --align offsets offsets "$db"
    says "no line for the node $host"
}

@test "filters that leave nothing say so" {
    for tool in "${TOOLS[@]}"; do
        try 0 "$tool" -d out --name '^no such name$' "$FIXTURES/schema-3.0.0.db"
        says "no event passes the filters"
    done
}

@test "what a window cuts off is no fault" {
    for tool in "${TOOLS[@]}"; do
        for window in "--start 5%" "--start 20%" "--end 50%" "--start 30% --end 60% --clip"; do
            for db in schema-3.0.0 everything sys; do
                # shellcheck disable=SC2086
                try 0 "$tool" -d out $window "$FIXTURES/$db.db"
                silent
            done
        done
    done
}

@test "-v says what was read and written" {
    try 0 rocpd2csv -v -d out "$FIXTURES/schema-3.0.0.db"
    says " kernel"
    says "files: out/out_*.csv"
    try 0 rocpd2pftrace -v -o t.pftrace "$FIXTURES/schema-3.0.0.db"
    says "t.pftrace: $(stat -c %s t.pftrace) bytes"
}

@test "the trace decodes with protoc" {
    needs protoc
    for db in "$FIXTURES"/schema-3.0.0.db "$FIXTURES"/schema-4.1.0.db "$FIXTURES"/sys.db; do
        for option in --args --legacy-tracks --group-by-queue; do
            rocpd2pftrace -z0 $option -o t.pftrace "$db"
            decode t.pftrace >text
            [ "$(grep -c '^packet {' text)" -gt 100 ]
            # Fields that the schema does not know would be printed by number.
            run ! grep -qE '^ *[0-9]+[ :]' text
        done
    done
}

@test "compressed packets hold the same trace" {
    needs protoc
    rocpd2pftrace -o t.pftrace "$FIXTURES/schema-3.0.0.db"
    decode t.pftrace >text
    grep -q 'compressed_packets' text
    rocpd2pftrace -z0 -o plain.pftrace "$FIXTURES/schema-3.0.0.db"
    [ "$(stat -c %s t.pftrace)" -lt "$(stat -c %s plain.pftrace)" ]
}

# progress_of COMMAND: all that it prints on a terminal where a second passes between two looks at the clock
progress_of() {
    script -qec "LD_PRELOAD='$BUILD/tests/hurry.so' $1" /dev/null </dev/null | tr -d '\r\n' | sed 's/\x1b\[[01]m//g'
}

@test "progress is shown on a terminal only, and removed" {
    needs_terminal
    needs "$BUILD/tests/hurry.so"
    LD_PRELOAD=$BUILD/tests/hurry.so rocpd2csv --version >version 2>&1 || skip "nothing can be loaded before this build"
    db=$FIXTURES/schema-3.0.0.db
    export TERM=xterm
    # What wipes it comes before the line that says where the output is.
    [[ "$(progress_of "rocpd2csv -d out '$db'")" =~ ^((reading|writing)[^$'\x1b']*$'\x1b[K')+rocpd2csv:\ out/out_ ]]
    [[ "$(TERM=dumb progress_of "rocpd2csv -d out '$db'")" != *[rw][er][ai][dt]ing* ]]
    # A file as standard output bothers nobody; a pipe or a terminal does, by any name.
    [[ "$(progress_of "rocpd2csv -o - --kinds kernel '$db' >x")" == reading* ]]
    [[ "$(progress_of "rocstats --summary --summary-output-file stderr '$db'")" == reading*$'\x1b[K    ROCPROFV3 SUMMARY'* ]]
    for command in "rocpd2csv -o - --kinds kernel '$db' | cat" "rocstats '$db' | cat" "rocstats -o /dev/tty '$db'" "rocstats -o /dev/stdout '$db' | cat" \
        "rocpd2pftrace -o - '$db' | cat" "rtg2json -o - '$db' | cat" "rocline info '$db' | cat" "rocline info '$db'" \
        "rocline query '$db' 'select * from kernels' | cat"; do
        said=$(progress_of "$command")
        [[ -n "$said" && "$said" != *%*rows/s* && "$said" != *writing* ]] || fail "$command: $said"
    done
}

@test "a run of less than half a second shows no progress, and does not write into the output of a pipe" {
    needs_terminal
    db=$FIXTURES/schema-3.0.0.db
    export TERM=xterm
    rocpd2csv -o - --kinds kernel "$db" | head -1 >wanted
    for _ in {1..20}; do
        script -qec "rocpd2csv -o - --kinds kernel '$db' | head -1" /dev/null </dev/null | tr -d '\r' >typescript
        cmp wanted typescript
    done
}

# on_terminal COMMAND: what it prints there, without progress and colours
on_terminal() {
    TERM=dumb script -qec "$1" /dev/null </dev/null | tr -d '\r'
}

@test "success is said on a terminal: one line with the path and the size" {
    needs_terminal
    db=$FIXTURES/schema-3.0.0.db
    local said
    while IFS='|' read -r tool path what; do
        said=$(on_terminal "$tool '$path' '$db'")
        [ "$(wc -l <<<"$said")" -eq 1 ] || fail "$tool: $said"
        [[ "$said" == "${tool%% *}: "*": "$what ]] || fail "$tool: $said"
        [[ "$said" == *" $path"* ]] || fail "$tool: $said"
        [ -z "$(on_terminal "${tool% -?} -q ${tool##* } '$path' '$db'")" ] || fail "$tool -q"
        # shellcheck disable=SC2086 # words
        try 0 $tool $path "$db"
        silent
    done <<'END'
rocpd2csv -d|a|8 files, * kB
rocpd2pftrace -o|a.pftrace|* kB
rocpd2otf2 -o|o.otf2|* locations, * kB
rocmerge -o|a.db|* kB
rocmerge --split=3 -o|s.db|3 databases, * kB
rocmerge -c -d|p|1 database, * kB
rtg2json -o|a.json|* kB
rocstats -o|a.txt|* kB
rocstats --style=rocpd -d|b|7 files, * kB
rpt -o|r.txt|* kB
END
    [ "$(on_terminal "rocpd2pftrace -o b.pftrace $db")" = \
        "rocpd2pftrace: b.pftrace: $(stat -c %s b.pftrace | awk '{ printf "%.2f kB", $1 / 1000 }')" ]
    [ -z "$(on_terminal "rocpd2pftrace -o /dev/null $db")" ]
}

@test "messages have colours on a terminal only, and not with NO_COLOR" {
    needs_terminal
    export TERM=xterm
    script -qec "rocpd2csv missing.db" /dev/null >typescript </dev/null || true
    grep -q $'\x1b\[1;31mrocpd2csv:' typescript
    NO_COLOR=1 script -qec "rocpd2csv missing.db" /dev/null >typescript </dev/null || true
    run ! grep -q $'\x1b' typescript
    run rocpd2csv missing.db
    [[ "$output" != *$'\x1b'* ]]
}

@test "a message is written at once: programs that run together share standard error" {
    needs strace
    strace -o /dev/null true 2>/dev/null || skip "strace may not trace here"
    strace -f -e trace=write -o calls rocpd2csv missing.db 2>/dev/null || true
    [ "$(grep -c 'write(2, "rocpd2csv: missing.db: no such' calls)" -eq 1 ]
    [ "$(grep -c 'write(2,' calls)" -eq 1 ]
}

@test "counter values and arguments, so many that several threads join them with their events" {
    "$BUILD/tests/rocpd-gen" -o t.db --rows 120000 --args --seed 5
    rocpd2csv -q -j1 -d one t.db
    rocpd2pftrace -q --args -z0 -j1 -o one.pftrace t.db
    for how in -j2 -j5 "-j3 --memory 1M" "-j3 --reader sqlite"; do
        rm -rf more
        # shellcheck disable=SC2086
        rocpd2csv -q $how -d more t.db
        diff -rq one more
        # shellcheck disable=SC2086
        rocpd2pftrace -q --args -z0 $how -o more.pftrace t.db
        cmp one.pftrace more.pftrace
    done
    sqlite3 -csv one.db ".import one/out_counter_collection.csv rows" >/dev/null
    sqlite3 one.db 'SELECT Counter_Name, count(*), printf("%.2f", sum(Counter_Value)) FROM rows GROUP BY 1 ORDER BY 1' >ours
    sqlite3 t.db 'SELECT c.name, count(DISTINCT v.event_id), printf("%.2f", sum(v.value)) FROM rocpd_pmc_event v
        JOIN rocpd_info_pmc c ON c.id = v.pmc_id JOIN rocpd_kernel_dispatch d ON d.event_id = v.event_id
        GROUP BY 1 ORDER BY 1' >theirs
    diff ours theirs
    [ -s ours ]
}
