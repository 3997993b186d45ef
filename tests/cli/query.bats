#!/usr/bin/env bats
# SQL over traces: results against sqlite3 on ROCm's own views, the command line, what is refused.

load helper

DB=$FIXTURES/rank0.db

query() { # options...
    rocline query "$@"
}

# Databases of the fixtures have no views on the data; these are as ROCm's tools make them.
with_views() { # from to
    needs sqlite3 "$SHARED/rocpd/r9700_llama_bench.db"
    cp "$1" "$2"
    sqlite3 "$SHARED/rocpd/r9700_llama_bench.db" "SELECT sql || ';' FROM sqlite_master
        WHERE type = 'view' AND name NOT LIKE 'rocpd_%'" >views.sql
    sqlite3 "$2" "SELECT name FROM sqlite_master WHERE type = 'view'" >have
    sqlite3 "$2" <views.sql 2>/dev/null || true
}

# Both sides in one form: CSV read back, where NULL and "" are the same, and sorted.
sorted_rows() { # csv
    sqlite3 :memory: ".mode csv" ".import $1 t" "SELECT * FROM t" | tr -d '\r' |
        sed -E 's/([0-9])\.0(,|$)/\1\2/g' | sort # a real number is a number
}

same_as_rocm() { # db sql
    sqlite3 -readonly -header -csv "$1" "$2" >theirs.csv
    query -q -f csv "$2" "$1" >ours.csv
    sorted_rows theirs.csv >theirs
    sorted_rows ours.csv >ours
    [ -s theirs ]
    diff ours theirs
}

# What merge has written has the tables of the fixture and all views.
@test "all views and tables of a database: every column of every row as SQLite has it" {
    needs python3
    for name in everything merged sampled ticks spm args-order rename sys graph hip-events schema-4.1.0; do
        rocmerge -q -o "$name.db" "$FIXTURES/$name.db"
        "$TOP/tests/cli/query-views.py" same "$name.db"
    done
    "$TOP/tests/cli/query-views.py" sum "$FIXTURES/rank0.db" "$FIXTURES/rank1.db"
}

@test "all views and tables of real databases, with ROCm's own views" {
    needs python3 "$SHARED/rocpd/r9700_llama_bench.db" "$SHARED/amd/e4.db"
    "$TOP/tests/cli/query-views.py" same "$SHARED"/rocpd/*.db "$SHARED"/amd/*.db
    "$TOP/tests/cli/query-views.py" sum "$SHARED"/amd/rank*.db
}

@test "tables of ROCm's databases: joins, sets by name, views of the user" {
    needs sqlite3
    for sql in "SELECT s.string, count(*), sum(r.\"end\" - r.start) FROM rocpd_region r
            JOIN rocpd_string s ON s.id = r.name_id AND s.guid = r.guid GROUP BY s.string" \
        "SELECT k.display_name, d.dispatch_id FROM rocpd_kernel_dispatch d JOIN rocpd_info_kernel_symbol k
            ON k.id = d.kernel_id AND k.guid = d.guid JOIN kernels USING (id, guid)" \
        "SELECT count(*) FROM rocpd_event$(suffix "$FIXTURES/everything.db")"; do
        with_views "$FIXTURES/everything.db" v.db
        same_as_rocm v.db "$sql"
    done
    try 0 query -q -f csv "CREATE VIEW a AS SELECT string FROM rocpd_string; CREATE VIEW IF NOT EXISTS [b c] AS
        SELECT name FROM top_kernels; SELECT (SELECT count(*) FROM a) > 9 AND (SELECT count(*) FROM [b c]) > 1 AS ok" "$DB"
    [ "${lines[1]}" = 1 ]
    try 2 query "CREATE VIEW v AS SELECT nmae; SELECT nmae FROM v" "$DB"
    says "line 1, column 31: no such column: nmae"
    try 2 query "/* a view */ CREATE VIEW v AS SELEC 1" "$DB"
    says "line 1, column 31: near \"SELEC\""
    try 2 query "DELETE FROM rocpd_string$(suffix "$DB")" "$DB"
    try 0 query -q --attach "ATTACH 'y.db' AS y; CREATE TABLE y.t (a); CREATE VIEW y.v AS SELECT * FROM t" "$DB"
    [ "$(sqlite3 y.db 'SELECT count(*) FROM v')" = 0 ]
    # In a database that a writer has left with a log.
    for name in wal-live wal-clean no-underscore few-tables; do
        cp "$FIXTURES/$name.db" w.db
        rm -f w.db-wal && [ ! -f "$FIXTURES/$name.db-wal" ] || cp "$FIXTURES/$name.db-wal" w.db-wal
        query -q -f tsv "SELECT count(*) FROM rocpd_region" w.db >ours
        [ "$(ls w.db*)" = "$(ls w.db w.db-wal 2>/dev/null)" ]
        sqlite3 w.db "SELECT count(*) FROM rocpd_region" | diff <(tail -1 ours) -
        rm -f w.db*
    done
}

@test "tables of ROCm's databases: of other inputs, with filters, of many databases" {
    count="SELECT (SELECT count(*) FROM rocpd_kernel_dispatch) || ' ' || (SELECT count(*) FROM rocpd_region JOIN
        rocpd_string s ON s.id = name_id AND s.guid = rocpd_region.guid) || ' ' || (SELECT count(*) FROM rocpd_memory_copy)"
    events="SELECT (SELECT count(*) FROM kernel) || ' ' || (SELECT count(*) FROM _range) || ' ' || (SELECT count(*) FROM memory_copy)"
    rocpd2pftrace -q -o t.pftrace "$DB"
    rocpd2csv -q -d csv -o t "$DB"
    for input in t.pftrace csv "$DB" "$DB --start 25% --end 75%" "$DB --include kernel"; do
        # shellcheck disable=SC2086
        diff <(query -q -f csv "$count" $input | tail -1) <(query -q -f csv "$events" $input | tail -1)
    done
    try 0 query "$count" t.pftrace
    says "the tables of rocpd are those of a temporary database of the inputs"
    # More than SQLite attaches.
    sqlite3 -readonly "$FIXTURES/no-pmc.db" .dump >dump
    guid=$(sqlite3 -readonly "$FIXTURES/no-pmc.db" "SELECT value FROM rocpd_metadata WHERE tag = 'guid'")
    for i in a b c d e f g h i j k; do
        sed "s/$guid/$i${guid#?}/g; s/${guid//-/_}/$i$(tail -c +2 <<<"${guid//-/_}")/g" dump | sqlite3 "$i.db"
    done
    for sql in "SELECT count(*) FROM rocpd_region" "SELECT count(*) FROM rocpd_string WHERE guid LIKE 'k%'"; do
        query -q -f csv "$sql" ./?.db >all
        query -q -f csv "$sql" k.db >one
        [ "$(tail -1 all)" -eq $(($(tail -1 one) * ($([[ $sql == *LIKE* ]] && echo 1 || echo 11)))) ]
    done
    mkdir tmp
    [ "$(TMPDIR=tmp query -q -f csv "SELECT count(*) FROM rocpd_region" "$DB" "$FIXTURES"/rank1.db | tail -1)" -gt 0 ]
    [ "$(TMPDIR=tmp query -q --include region -f csv "SELECT count(*) FROM rocpd_region" "$DB" | tail -1)" -gt 0 ]
    [ -z "$(ls -A tmp)" ]
    TMPDIR=/nowhere try 4 query --include region "SELECT count(*) FROM rocpd_region" "$DB"
    TMPDIR=/nowhere try 0 query "SELECT count(*) FROM rocpd_region" "$DB"
    needs "$SHARED/rpd/matmul_result.rpd"
    [ "$(query -q -f csv "SELECT count(*) FROM rocpd_api" "$SHARED/rpd/matmul_result.rpd" | tail -1)" -eq \
        "$(sqlite3 -readonly "$SHARED/rpd/matmul_result.rpd" "SELECT count(*) FROM rocpd_api")" ]
}

@test "views of ROCm: aggregates, windows and joins" {
    with_views "$DB" v.db
    same_as_rocm v.db "SELECT name, count(*), sum(end - start) FROM kernels GROUP BY name"
    same_as_rocm v.db "SELECT category, count(DISTINCT name), max(duration) FROM regions
        GROUP BY category"
    same_as_rocm v.db "SELECT k.name, r.name, k.start - r.end FROM kernels k JOIN regions r
        ON r.stack_id = k.stack_id AND r.guid = k.guid"
    same_as_rocm v.db "SELECT name FROM kernels WHERE name LIKE '%copy%' AND start >
        (SELECT avg(start) FROM kernels)"
    same_as_rocm v.db "SELECT id, row_number() OVER (PARTITION BY agent_abs_index ORDER BY start, id)
        FROM kernels"
}

@test "views of arguments" {
    needs sqlite3
    db=$FIXTURES/everything.db
    sqlite3 -readonly -csv "$db" "SELECT r.id, a.type, a.name, a.value FROM rocpd_region r
        JOIN rocpd_arg a ON a.event_id = r.event_id AND a.guid = r.guid ORDER BY r.id, a.position" | tr -d '\r"' >theirs
    [ -s theirs ]
    query -q -f csv "SELECT r.id, arg_type, arg_name, arg_value FROM events_args
        JOIN regions r USING (event_id) ORDER BY r.id, arg_position" "$db" | tail -n +2 | tr -d '\r"' >ours
    diff ours theirs
    [ "$(query -q -f csv "SELECT count(*) FROM region_args" "$db" | tail -1)" -eq "$(wc -l <theirs)" ]
    # Arguments do not stay on: what needs none reads none, in any order of statements.
    [ "$(query -q -f csv "SELECT count(*) FROM events_args; SELECT count(*) FROM region; SELECT count(*) FROM region_args" "$db" | grep -c '^[1-9]')" -eq 3 ]
    needs "$SHARED/amd/e4.db"
    same_as_rocm "$SHARED/amd/e4.db" "SELECT * FROM region_args"
    same_as_rocm "$SHARED/amd/e4.db" "SELECT event_id, category, stack_id, arg_position, arg_type, arg_name,
        arg_value, call_stack, line_info, extdata FROM events_args"
}

@test "any number of workers, and little memory: the same rows" {
    for sql in "SELECT * FROM kernel ORDER BY id, guid" "SELECT name, count(*) FROM region GROUP BY name ORDER BY 1" \
        "SELECT k.id, r.id FROM kernel k JOIN region r USING (guid, stack_id) ORDER BY 1, 2"; do
        query -q -j1 -f csv "$sql" "$DB" >one
        query -q -j3 -f csv "$sql" "$DB" >three
        query -q -j2 --memory 1m -f csv "$sql" "$DB" >little
        cmp one three
        cmp one little
    done
}

@test "formats" {
    sql="SELECT 1 AS a, 'x|\"y\"<' AS b, NULL AS c, 2.5 AS d UNION ALL SELECT -7, 'tab' || char(9) || char(10), x'00ff', 1e300"
    try 0 query -f csv "$sql" "$DB"
    [ "${lines[0]}" = '"a","b","c","d"' ]
    [ "${lines[1]}" = '1,"x|""y""<",,2.5' ]
    try 0 query -f tsv "$sql" "$DB"
    [ "${lines[2]}" = $'-7\ttab\\t\\n\tX\'00FF\'\t1e+300' ]
    query -f json "$sql" "$DB" | jq -e '.data.results[0].rows | .[0][1] == "x|\"y\"<" and .[0][2] == null and .[1][0] == -7'
    query -f jsonl "$sql" "$DB" | jq -se 'length == 2 and .[1].b == "tab\t\n"'
    try 0 query -f md "$sql" "$DB"
    [ "${lines[1]}" = "|---|---|---|---|" ]
    [ "${lines[2]}" = '| 1 | x\|"y"\< |  | 2.5 |' ]
    try 0 query -f md "SELECT '[a](b)' AS link" "$DB"
    [ "${lines[2]}" = '| \[a\](b) |' ]
    try 0 query -f html "$sql" "$DB"
    [[ "$output" == *'<td>x|&quot;y&quot;&lt;</td>'* ]]
    try 0 query --format console "$sql" "$DB"
    [[ "${lines[1]}" == "--"* ]]
    try 0 query -f json "SELECT 1 AS a WHERE 0" "$DB"
    echo "$output" | jq -e '.data.results[0].rows == [] and .data.results[0].columns == ["a"]'
}

@test "Parquet and Arrow: a file of one statement" {
    query -q -f parquet -o k.parquet "SELECT * FROM kernel" "$DB"
    [ "$(head -c 4 k.parquet)$(tail -c 4 k.parquet)" = PAR1PAR1 ]
    query -q -f arrow -o - "SELECT * FROM kernel" "$DB" | head -c 6 | grep -q ARROW1
    for j in 1 3; do
        query -q -j$j -f arrows -o $j.arrows "SELECT * FROM region ORDER BY guid, id" "$DB"
        query -q -j$j --memory 1m -f parquet -o $j.parquet "SELECT * FROM region ORDER BY guid, id" "$DB"
    done
    cmp 1.arrows 3.arrows
    cmp 1.parquet 3.parquet
    try 2 query -f parquet -o x.parquet "SELECT 1; SELECT 2" "$DB"
    says "rows of one statement"
    try 2 query -f arrow -o x.parquet "CREATE TABLE t (a)" "$DB"
    says "no statement has a result"
    try 2 query -f parquet -o x.parquet "SELECT nmae FROM kernel" "$DB"
    try 4 query -f parquet -o x.parquet "SELECT -9223372036854775807 - 1 AS least" "$DB"
    says "least: -9223372036854775808"
    [ ! -e x.parquet ]
    try 4 query -q -f parquet -o /dev/full "SELECT * FROM kernel" "$DB"
    # A statement before may have no result; the empty one has columns.
    try 0 query -q -f parquet -o e.parquet "CREATE TABLE t AS SELECT 1; SELECT name, value FROM sample WHERE 0" "$DB"
    [ "$(head -c 4 e.parquet)" = PAR1 ]
}

@test "Parquet and Arrow: readers of others read what the other formats say" {
    needs node
    [ -d "${ROCLINE_NODE_MODULES:-}/hyparquet" ] || skip "no ROCLINE_NODE_MODULES with hyparquet, apache-arrow, @duckdb/node-api"
    mixed="SELECT 1 AS a, 1 AS b, 'x' AS c, NULL AS d, 0.5 AS e, 1 AS A, x'00ff' AS f, 'q\"''' || char(10) AS g UNION ALL
        SELECT -2, 2.5, 3, NULL, NULL, 9007199254740993, NULL, char(0x1f600) UNION ALL
        SELECT 9223372036854775807, -1e300, 1.5, NULL, 1e400, NULL, 'text', ''"
    wide="SELECT * FROM kernel k JOIN region r USING (guid, stack_id) ORDER BY k.id, r.id" # 66 columns
    long="WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150000)
        SELECT i, i / 7.0 AS r, 'n' || i % 1000 AS t, nullif(i % 3, 0) AS z FROM n"
    for sql in "$mixed" "$wide" "$long"; do
        query -q -f jsonl "$sql" "$DB" >rows.jsonl
        node "$TOP/tests/export/read.mjs" jsonl rows.jsonl >expected
        query -q -f parquet -o t.parquet "$sql" "$DB"
        query -q -f arrow -o t.arrow "$sql" "$DB"
        query -q -f arrows --memory 1m -o t.arrows "$sql" "$DB"
        node "$TOP/tests/export/read.mjs" duckdb t.parquet >parquet
        node "$TOP/tests/export/read.mjs" arrow t.arrow >arrow
        node "$TOP/tests/export/read.mjs" arrow t.arrows | cmp - arrow
        cmp parquet arrow
        if [ "$sql" = "$long" ]; then
            cmp parquet expected
        elif [ "$sql" = "$wide" ]; then # JSON has the last one of columns of one name
            [ "$(head -1 parquet | tr ',' '\n' | sort -u | wc -l)" -eq "$(head -1 parquet | tr ',' '\n' | wc -l)" ]
            [ "$(wc -l <parquet)" -eq "$(wc -l <expected)" ]
        else
            diff parquet - <<'END'
["a","b","c","d","e","A_1","f","g"]
[1,1,"x",null,0.5,1,"X'00FF'","q\"'\n"]
[-2,2.5,"3",null,null,9007199254740993,null,"😀"]
[9223372036854775807,-1e+300,"1.5",null,Infinity,null,"text",""]
END
        fi
    done
}

@test "rocpd query: files and formats of AMD's command" {
    sql="SELECT name, total_calls, 1 AS a1b_GpuTime FROM top_kernels"
    rocpd query -i "$DB" --query "$sql" | diff - <(query "$sql" "$DB")
    for f in csv json html md; do
        try 0 rocpd query -i "$DB" --format $f --query "$sql"
        [ -s rocpd-output-data/out.$f ]
        rocpd query -i "$DB" --format $f -o - --query "$sql" | cmp - rocpd-output-data/out.$f
    done
    [ "$(head -1 rocpd-output-data/out.csv)" = '"Name","Total_Calls","A1B_Gputime"' ]
    diff <(tail -n +2 rocpd-output-data/out.csv) <(query -f csv "$sql" "$DB" | tail -n +2)
    # Python's csv writes reals and NULL so.
    values="SELECT 2.0, 1e20, 0.1, 2, NULL, 'x'"
    [ "$(rocpd query -i "$DB" --format csv -o - --query "$values" | tail -1)" = '2.0,1e+20,0.1,2,"","x"' ]
    [ "$(query -f csv "$values" "$DB" | tail -1)" = '2,1e+20,0.1,2,,"x"' ]
    jq -e 'length > 1 and .[0].total_calls > 0' rocpd-output-data/out.json
    echo "CREATE VIEW v AS SELECT 7 AS seven" >v.sql
    ROCPD_OUTPUT_NAME=name ROCPD_OUTPUT_PATH=dir/below rocpd query -i "$DB" --script v.sql --query "SELECT * FROM v" --format csv
    [ "$(cat dir/below/name.csv)" = $'"Seven"\n7' ]
    rocpd query "$DB" -o run.md -d d --query "SELECT count(*) FROM kernels" --format md --start 0% --end 50%
    [ -s d/run.md ]
    for f in pdf dashboard clipboard; do
        try 2 rocpd query -i "$DB" --format $f --query "$sql"
        says "--format $f is not written here: "
    done
    try 0 rocpd query -i "$DB" --format html -d . -o mail --query "$sql" --email-to a@example.com
    says "--email-to: accepted, but without effect"
    try 2 rocpd query -i "$DB"
    says "no statement is given"
    try 2 rocpd query -i "$DB" --format csv -o bad --query "SELECT nmae FROM kernel"
    [ ! -e rocpd-output-data/bad.csv ]
}

@test "several statements, scripts, parameters, standard input" {
    echo "CREATE VIEW long_ones AS SELECT * FROM kernel WHERE duration > :least" >views.sql
    try 2 query --script views.sql "SELECT 1" "$DB"
    says "parameters"
    echo "CREATE VIEW slow AS SELECT * FROM kernel WHERE duration > 0" >views.sql
    try 0 query --script views.sql -f csv -p k=3 --query "SELECT count(*) > 0 AS any FROM slow" \
        "SELECT :k + 1 AS four" "$DB"
    [[ "$output" == *'"any"'*1*'"four"'*4* ]]
    try 0 query -p "name=hipLaunchKernel" -f csv "SELECT count(*) > 0 FROM region WHERE name = :name" "$DB"
    [ "${lines[1]}" = 1 ]
    run bash -c "echo 'SELECT 5 AS five; SELECT 6 AS six' | rocline query -f csv $DB"
    [ "$output" = $'"five"\n5\n\n"six"\n6' ]
    try 2 query "SELECT :x" "$DB"
    says "the parameter :x has no value"
    try 2 query -p x "SELECT :x" "$DB"
    says "is not NAME=VALUE"
}

@test "an output file appears when all is done" {
    try 0 query -o out.csv -f csv "SELECT name FROM kernel" "$DB"
    [ -s out.csv ]
    try 2 query -o not.csv -f csv "SELECT name FROM kernel; SELECT nmae FROM kernel" "$DB"
    [ ! -e not.csv ]
    try 0 query -o out.csv.gz -f csv "SELECT name FROM kernel ORDER BY id" "$DB"
    gzip -t out.csv.gz
    run bash -c "rocline query 'SELECT * FROM region' $DB | head -1"
    [ -z "$stderr" ]
}

@test "errors say where" {
    try 2 query "SELECT count(*)
FROM kernal" "$DB"
    says "line 1, column 1: no such table: kernal"
    try 2 query "SELECT nmae FROM kernel" "$DB"
    says "line 1, column 8: no such column: nmae"
    says "         ^"
    try 2 query "SELECT 1;
 SELEC 2" "$DB"
    says "line 2, column 2: near \"SELEC\": syntax error"
    try 2 query "SELECT 1"
    says "no input"
    try 3 query "SELECT 1" nowhere.db
}

@test "nothing can be changed" {
    cp "$DB" copy.db
    for sql in "ATTACH 'x.db' AS x" "VACUUM INTO 'x.db'" "PRAGMA journal_mode = delete" \
        "SELECT load_extension('x')" "DELETE FROM kernel" "UPDATE kernel SET id = 1" \
        "INSERT INTO kernel (id) VALUES (1)" "DROP TABLE kernel" "PRAGMA writable_schema = 1" \
        "SELECT writefile('x', 'y')" "SELECT readfile('/etc/passwd')" \
        "CREATE VIRTUAL TABLE t USING csv(filename = '/etc/passwd')" \
        "DELETE FROM rocpd0.rocpd_string%S" "DROP TABLE rocpd_string%S" "UPDATE rocpd_string%S SET id = 1" \
        "CREATE INDEX rocpd0.i ON rocpd_string%S (string)" "VACUUM rocpd0 /* rocpd_ */" \
        "VACUUM rocpd0 INTO 'rocpd_.db'" "DETACH rocpd0 /* rocpd_ */" "INSERT INTO rocpd_string VALUES (1, 2, 3)"; do
        try 2 query "${sql//%S/$(suffix "$DB")}" copy.db
    done
    cmp copy.db "$DB"
    [ "$(ls -A)" = copy.db ]
    try 0 query --attach "ATTACH 'y.db' AS y; CREATE TABLE y.t AS SELECT * FROM kernel" "$DB"
    needs sqlite3
    [ "$(sqlite3 y.db 'SELECT count(*) FROM t')" -gt 0 ]
}

@test "time limit, ^C and pipes that end" {
    try 5 query --timeout 1 "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r" "$DB"
    says "took longer than 1 s"
    long="WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r)"
    try 5 query --timeout 60 --max-memory 20m "$long SELECT median(n) FROM r" "$DB"
    says "took more than 20 MiB of memory"
    try 5 query --timeout 60 --max-memory 20m "CREATE TABLE t AS $long SELECT n FROM r" "$DB"
    says "took more than 20 MiB of memory"
    rocline query "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r" "$DB" &
    sleep 0.5
    kill -TERM $!
    code=0
    wait $! || code=$?
    [ "$code" -eq 143 ]
}

@test "the shell" {
    needs_terminal
    script -qec "rocline query $DB" /dev/null <<'END' >log
.tables
.schema thread
.mode csv
SELECT count(*) AS n
FROM kernel;
SELECT nmae;
.quit
END
    grep -q "kernel  .*kernel dispatches" log
    grep -q "thread: threads" log
    grep -q '"n"' log
    grep -q "no such column: nmae" log
}

@test "the loadable extension" {
    needs sqlite3
    lib=$BUILD/lib/librocline-sqlite.so
    ! nm -D "$lib" | grep -q asan || skip "sanitizers are on"
    run sqlite3 :memory: ".load $lib" "SELECT count(*), median(duration) > 0 FROM rocline_kernel('$DB')"
    [[ "$output" == *"|1" ]]
    n=$(rocline query -f tsv "SELECT count(*) FROM kernel JOIN region USING (guid, stack_id)" "$DB" | tail -1)
    run sqlite3 :memory: ".load $lib" "SELECT count(*) FROM rocline_kernel('$DB') JOIN rocline_region('$DB') USING (guid, stack_id)"
    [ "$output" = "$n" ]
    run sqlite3 :memory: ".load $lib" "SELECT * FROM rocline_kernel"
    [[ "$output" == *"no query solution"* ]]
    run sqlite3 :memory: ".load $lib" "SELECT * FROM rocline_kernel('/nowhere.db')"
    [[ "$output" == *"no such file"* ]]
    /usr/bin/python3 -c 'import sqlite3; sqlite3.connect(":memory:").enable_load_extension' 2>/dev/null || skip "no python3 with extensions"
    /usr/bin/python3 - "$lib" "$DB" <<'END'
import sqlite3, sys
c = sqlite3.connect(":memory:")
c.enable_load_extension(True)
c.load_extension(sys.argv[1])
rows = c.execute("SELECT name, sum(duration) FROM rocline_kernel(?) GROUP BY name", sys.argv[2:]).fetchall()
assert len(rows) > 1 and all(r[1] >= 0 for r in rows)
END
}

@test "random statements: the same as over copies of the tables in SQLite" {
    lib=$BUILD/lib/librocline-sqlite.so
    ! nm -D "$lib" | grep -q asan || skip "sanitizers are on"
    /usr/bin/python3 -c 'import sqlite3; sqlite3.connect(":memory:").enable_load_extension' 2>/dev/null || skip "no python3 with extensions"
    /usr/bin/python3 "$TOP/tests/cli/query-random.py" "$lib" "${SEED:-1}" 300 "$FIXTURES/everything.db" "$FIXTURES/merged.db" \
        "$FIXTURES/nasty-3.0.5.db"
}

# A duration is that of what is left, as in reports and CSV.
@test "durations of what a time window clips" {
    local window=(--start 25% --end 75% --clip)
    total=$(rocline query -q -f csv 'select sum(duration), sum("end" - start) from kernel' "${window[@]}" "$FIXTURES/rank0.db" | tail -1)
    [ "${total%,*}" = "${total#*,}" ]
    [ "${total%,*}" = "$(rocstats kernels -q --format json "${window[@]}" "$FIXTURES/rank0.db" |
        jq '[.tables[] | select(.key == "kernels").rows[].total_ns] | add')" ]
}

@test "what is wrong with a filter is no fault of the statement" {
    try 2 rocline query "select count(*) from kernel" --start-marker nope "$FIXTURES/rank0.db"
    [[ $stderr == 'rocline query: --start-marker: "nope": no such marker in the trace'* && $stderr != *select* ]]
}

# Names have numbers in the order in which they come, which is none of theirs.
@test "groups and distinct values in the order that is asked for" {
    local sql
    "$BUILD/tests/rocpd-gen" -o q.db --rows 3000
    rtg2json -q --layout kineto -o q.json q.db
    for sql in "SELECT name FROM kernel GROUP BY name ORDER BY name" \
        "SELECT DISTINCT name FROM kernel ORDER BY name" \
        "SELECT name FROM kernel GROUP BY name, tid ORDER BY name" \
        "SELECT name FROM kernel ORDER BY name"; do
        rocline query -q -f tsv "$sql" q.json | tail -n +2 >names
        LC_ALL=C sort -c names || fail "$sql"
        rocline query -q -f tsv "$sql DESC" q.json | tail -n +2 | tac >back
        LC_ALL=C sort -c back || fail "$sql DESC"
        [ "$(wc -l <names)" -gt 10 ]
    done
    [ "$(rocline query -q -f tsv "SELECT count(*) FROM (SELECT name FROM kernel GROUP BY name)" q.json | tail -1)" = \
        "$(rocline query -q -f tsv "SELECT count(DISTINCT name) FROM kernel" q.json | tail -1)" ]
}

# What was looked up is told apart by its rowid from what is met in the end: sqlite3 has the same
# tables as its own.
@test "RIGHT and FULL JOIN: a row that has a match is met once" {
    needs sqlite3
    for table in kernel region; do
        query -q -f csv -o $table.csv "SELECT id, guid, name, stack_id FROM $table" "$FIXTURES"/rank[01].db
    done
    for join in "kernel k RIGHT JOIN region r" "region r RIGHT JOIN kernel k" "kernel k FULL JOIN region r" \
        "region r LEFT JOIN kernel k"; do
        sql="SELECT count(*), count(k.id), count(r.id) FROM $join ON r.stack_id = k.stack_id AND r.guid = k.guid"
        theirs=$(sqlite3 -csv :memory: ".import kernel.csv kernel" ".import region.csv region" "$sql")
        [ "$(query -q -f csv "$sql" "$FIXTURES"/rank[01].db | tail -1)" == "$theirs" ] || fail "$join: not $theirs"
    done
}

@test "gap: a GPU is busy with copies that it is the source of, too" {
    needs sqlite3
    "$BUILD/tests/rocpd-gen" -o d.db --rows 2000
    s=$(suffix d.db)
    theirs=$(sqlite3 -csv -readonly d.db "WITH work AS (
            SELECT agent_id AS agent, start, \"end\" FROM rocpd_kernel_dispatch$s
            UNION ALL SELECT src_agent_id, start, \"end\" FROM rocpd_memory_copy$s
            UNION ALL SELECT dst_agent_id, start, \"end\" FROM rocpd_memory_copy$s),
        gaps AS (SELECT agent, start - max(\"end\") OVER (PARTITION BY agent ORDER BY start
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS ns FROM work
            JOIN rocpd_info_agent$s a ON a.id = agent WHERE a.type = 'GPU')
        SELECT count(*), sum(ns), max(ns) FROM gaps WHERE ns > 0")
    sources=$(sqlite3 -readonly d.db "SELECT count(*) FROM rocpd_memory_copy$s c JOIN rocpd_info_agent$s a
        ON a.id = c.src_agent_id WHERE a.type = 'GPU'")
    [ "$sources" -gt 0 ]
    [ "$(query -q -f csv "SELECT count(*), sum(duration), max(duration) FROM gap" d.db | tail -1)" == "$theirs" ]
}

@test "an output that cannot be made is not put down to the statement" {
    try 4 rocline query -o none/x.csv "SELECT 1 FROM kernel" "$DB"
    one_line "rocline query"
    says "none/x.csv: the folder none does not exist"
}

@test "a slice within two that overlap each other has the one that began last as its parent" {
    cat >t.json <<'END'
[{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":0,"dur":10},
{"ph":"X","cat":"cpu_op","name":"b","pid":1,"tid":1,"ts":5,"dur":15},
{"ph":"X","cat":"cpu_op","name":"c","pid":1,"tid":1,"ts":6,"dur":2}]
END
    [ "$(query -q -f tsv "SELECT s.name, s.depth, p.name FROM slice s LEFT JOIN slice p
        ON p.id = s.parent_id ORDER BY s.ts" t.json | tail -n +2)" = $'a\t0\t\nb\t0\t\nc\t1\tb' ]
}

@test "values that an output has no place for are counted" {
    needs "$FIXTURES/rank0.db"
    sql="SELECT 1e999 AS a, -1e999 AS b, 'x' || char(0) AS c, CAST(x'ff41' AS TEXT) AS d, 1.5 AS e"
    for form in json jsonl; do
        try 1 rocline query --format $form "$sql" "$FIXTURES/rank0.db"
        says "2 values are infinite: JSON has null in their place"
        says "2 texts hold NUL or bytes that are not UTF-8: these become U+FFFD"
    done
    for form in table csv tsv md html parquet; do
        try 1 rocline query --format $form -o out.$form "$sql" "$FIXTURES/rank0.db"
        says "2 texts hold NUL or bytes that are not UTF-8: these become U+FFFD"
        [[ "$stderr" != *infinite* ]]
    done
    for form in table csv json parquet; do
        try 0 rocline query --format $form -o out.$form "SELECT 1.5 AS e, 'text' AS t, NULL AS n" "$FIXTURES/rank0.db"
        [ -z "$stderr" ]
    done
}
