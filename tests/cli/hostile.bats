#!/usr/bin/env bats
# Places where others write, nobody may write, or nothing is left: inputs stay as they are, errors
# say what is wrong, and no half output is left.

load helper

setup_file() {
    needs sqlite3 "$FIXTURES/schema-3.0.0.db" "$BUILD/tests/rocpd-gen"
}

GEN=$BUILD/tests/rocpd-gen

# Everything about a folder that a reader must not change.
look() { # folder
    find "$1" -printf '%P %y %m %s %T@ %C@ %i\n' | LC_ALL=C sort
}

# As somebody who may not write there: root may write everywhere.
unprivileged() {
    if [ "$(id -u)" -eq 0 ]; then
        setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
    else
        "$@"
    fi
}

# A namespace of our own, for a small file system; skips where that is not allowed.
needs_mount() {
    needs unshare
    unshare -m true 2>/dev/null || skip "no mount namespaces here"
}

suffix_of() {
    sqlite3 -readonly "$1" "SELECT value FROM rocpd_metadata WHERE tag = 'uuid'"
}

# ---- inputs --------------------------------------------------------------------------------------

@test "inputs and their folder: same files, same times" {
    mkdir in
    cp -p "$FIXTURES"/{schema-3.0.5,schema-4.1.0,merged,wal-clean,wal-live,nasty-3.0.0}.db \
        "$FIXTURES"/wal-live.db-wal in
    look in >before
    for tool in "${TOOLS[@]}"; do
        for db in in/*.db; do
            run "$tool" -q -d out "$db"
            [ "$status" -le 1 ] || fail "$db"
            run "$tool" -q -d out --start 10% --end-marker nonesuch "$db"
        done
    done
    look in >after
    diff before after
}

@test "a link to a database: its log lies where the database is" {
    mkdir far
    cp "$FIXTURES"/wal-live.db* far
    ln -s far/wal-live.db link.db
    rocpd2csv -q -d link link.db
    rocpd2csv -q -d direct far/wal-live.db
    diff -r link direct
    s=$(suffix_of "$FIXTURES/schema-3.0.0.db")
    cp "$FIXTURES/schema-3.0.0.db" far/t.db
    ln -s far/t.db t.db
    sqlite3 far/t.db >/dev/null <<SQL
PRAGMA cache_spill = 1;
PRAGMA cache_size = 1;
BEGIN;
UPDATE rocpd_region$s SET "end" = "end" + 1;
.shell rocpd2csv -d journal t.db 2>err; echo \$? >code
SQL
    [ "$(cat code)" -eq 3 ]
    grep -q 'a transaction is in progress' err
}

@test "-v says which tables SQLite reads, and why" {
    try 0 rocpd2csv -v --kinds kernel -d v "$FIXTURES/wal-live.db"
    says 'wal-live.db: rocpd_kernel_dispatch_'
    says ': read through SQLite: there is a write-ahead log beside the file'
    try 0 rocpd2csv -v --reader sqlite --kinds kernel -d v "$FIXTURES/schema-3.0.0.db"
    says ': read through SQLite: --reader sqlite was given'
    try 0 rocpd2csv -v -d v "$FIXTURES/schema-3.0.0.db"
    [[ "$output$stderr" != *"through SQLite"* ]]
    try 0 rocpd2csv -d v "$FIXTURES/wal-live.db"
    silent
}

@test "a folder and files that only others may write to" {
    needs setpriv
    chmod 755 "$BATS_RUN_TMPDIR" "$BATS_TEST_TMPDIR"
    unprivileged test -x "$BUILD/bin/rocpd2csv" || skip "the build folder is private"
    mkdir in out
    chmod 777 out
    cp "$FIXTURES"/{schema-3.0.0,wal-clean,wal-live}.db "$FIXTURES"/wal-live.db-wal in
    chmod 444 in/*
    chmod 555 in
    look in >before
    for tool in "${TOOLS[@]}"; do
        for db in in/*.db; do
            run unprivileged "$tool" -q -d out "$db"
            [ "$status" -eq 0 ] || fail "$tool $db"
        done
    done
    look in >after
    chmod 755 in
    diff before after
    # The log was read as well.
    run unprivileged rocpd2csv -q -o - --kinds hip_api in/wal-live.db
    with=${#lines[@]}
    run unprivileged rocpd2csv -q -o - --kinds hip_api "$FIXTURES/schema-3.0.0.db"
    [ "$with" -gt "${#lines[@]}" ] || fail "the rows in the log are missing"
}

@test "a read-only file system" {
    needs_mount
    mkdir in
    cp "$FIXTURES"/{schema-3.0.0,wal-live}.db "$FIXTURES"/wal-live.db-wal in
    for tool in "${TOOLS[@]}"; do
        for db in schema-3.0.0 wal-live; do
            # shellcheck disable=SC2016
            try 0 unshare -m sh -c 'mount --bind in in && mount -o remount,bind,ro in && exec "$@"' sh \
                "$tool" -q -d out "in/$db.db"
        done
    done
}

@test "a file that may not be read" {
    needs setpriv
    chmod 755 "$BATS_RUN_TMPDIR" "$BATS_TEST_TMPDIR"
    unprivileged test -x "$BUILD/bin/rocpd2csv" || skip "the build folder is private"
    cp "$FIXTURES/schema-3.0.0.db" secret.db
    chmod 000 secret.db
    for tool in "${TOOLS[@]}"; do
        try 3 unprivileged "$tool" -d /tmp secret.db
        one_line "$tool"
        says "secret.db: Permission denied"
    done
}

# A folder that a pattern reaches is an input; one that is not there is none.
@test "a pattern that reaches a folder that may not be read" {
    needs setpriv
    chmod 755 "$BATS_RUN_TMPDIR" "$BATS_TEST_TMPDIR" .
    unprivileged test -x "$BUILD/bin/rocpd2csv" || skip "the build folder is private"
    mkdir -p all/open/sub all/shut/sub all/other
    cp "$FIXTURES/rank0.db" all/open/x.db
    cp "$FIXTURES/rank1.db" all/shut/x.db
    cp "$FIXTURES/rank0.db" all/open/sub/x.db
    cp "$FIXTURES/rank1.db" all/shut/sub/x.db
    touch all/file
    chmod -R a+rX all
    for pattern in 'all/*/x.db' 'all/*/*.db' 'all/*/sub/*.db' 'all/*/sub/x.db'; do
        try 0 unprivileged rocstats -q "$pattern"
    done
    try 0 unprivileged rocstats -q 'all/shut/*.db'
    try 3 unprivileged rocstats 'all/none/*.db'
    says "all/none/*.db: no such file"
    chmod 000 all/shut
    for pattern in 'all/*/x.db' 'all/*/*.db' 'all/*/sub/*.db' 'all/*/sub/x.db'; do
        try 1 unprivileged rocstats "$pattern"
        says "rocstats: all/shut"
        says ": cannot search: Permission denied: left out"
        try 3 unprivileged rocstats --strict "$pattern"
        one_line rocstats
    done
    # Nothing else is there for these.
    for pattern in 'all/shu*/*.db' 'all/shu*/x.db' 'all/shut/*.db'; do
        try 3 unprivileged rocstats "$pattern"
        one_line rocstats
        says "rocstats: all/shut"
        says "Permission denied"
    done
    try 0 unprivileged rocstats -q 'all/o*/x.db'
}

@test "a transaction under way: refused while its journal is there, fine before" {
    cp "$FIXTURES/schema-3.0.0.db" t.db
    s=$(suffix_of t.db)
    sqlite3 t.db >/dev/null <<SQL
BEGIN EXCLUSIVE;
.shell rocpd2csv -q -d locked t.db; echo \$? >locked.code
PRAGMA cache_spill = 1;
PRAGMA cache_size = 1;
UPDATE rocpd_region$s SET "end" = "end" + 1;
.shell rocpd2csv -d journal t.db 2>journal.err; echo \$? >journal.code
.shell rocpd2pftrace -d journal t.db 2>>journal.err; echo \$? >>journal.code
ROLLBACK;
SQL
    [ "$(cat locked.code)" -eq 0 ]
    [ "$(sort -u journal.code)" -eq 3 ]
    [ "$(grep -c 'a transaction is in progress' journal.err)" -eq 2 ]
    [ ! -e journal ] || [ -z "$(ls -A journal)" ]
    try 0 rocpd2csv -q -d after t.db
    diff -r locked after
}

@test "a writer that holds its write-ahead log open" {
    cp "$FIXTURES/schema-3.0.0.db" t.db
    s=$(suffix_of t.db)
    sqlite3 t.db >/dev/null <<SQL
PRAGMA journal_mode = WAL;
PRAGMA wal_autocheckpoint = 0;
DELETE FROM rocpd_region$s WHERE id % 2;
.shell rocpd2csv -q -o - --kinds hip_api,hsa_api,marker_api t.db >/dev/null 2>&1
.shell ls t.db* >before; rocpd2pftrace -q -o t.pftrace t.db; echo \$? >code; ls t.db* >after
SQL
    [ "$(cat code)" -eq 0 ]
    diff before after
    "$BUILD/tests/pfdump" events t.pftrace >events
    [ "$(grep -c ^slice events)" -eq "$(sqlite3 -readonly t.db "SELECT count(*) FROM rocpd_region$s")" ]
}

# The reader of the pipe stops the tool in the middle of its first input, and exchanges the second.
exchange() { # command that changes b.db
    mkfifo pipe
    rocpd2pftrace -z0 -j2 -o - a.db b.db >pipe 2>err &
    tool=$!
    exec 5<pipe
    head -c 100 <&5 >/dev/null
    eval "$1"
    cat <&5 >/dev/null
    exec 5<&-
    wait $tool && status=0 || status=$?
}

@test "a file that is exchanged or written to while it is read" {
    "$GEN" -o a.db --rows 100000 # more than the tool writes ahead
    "$GEN" -o other.db --seed 9 --rows 300
    for change in 'mv other.db b.db' 'sqlite3 b.db "CREATE TABLE t(x)"' 'rm b.db' 'truncate -s 20000 b.db'; do
        rm -f pipe b.db
        cp "$FIXTURES/rank1.db" b.db
        exchange "$change"
        [ "$status" -eq 3 ] || fail "$change"
        [ "$(wc -l <err)" -eq 1 ] || fail "$change: $(cat err)"
        grep -q '^rocpd2pftrace: .*b.db: ' err || fail "$change: $(cat err)"
    done
}

@test "hundreds of inputs, with few open files" {
    "$GEN" -o 'm%r.db' --processes 256 --rows 20 --kernels 4 --caches 0 --gpus 1 --threads 1
    for tool in "${TOOLS[@]}"; do
        try 0 "$tool" -q -d many m*.db
        try 0 bash -c "ulimit -n 64; exec $tool -q -d few m*.db"
    done
    diff -r many few
    for tool in "${TOOLS[@]}"; do
        run --separate-stderr bash -c "ulimit -n 9; exec $tool -q -d none m*.db"
        [ "$status" -eq 3 ] || [ "$status" -eq 4 ] || fail "$tool with 9 files"
        says "Too many open files"
        [ ! -e none ] || [ -z "$(ls -A none)" ]
    done
}

# ---- resources -----------------------------------------------------------------------------------

@test "little memory: done, or one line that says so" {
    [ "$(bash -c "ulimit -v 100000; rocpd2csv --version" | wc -l)" -gt 0 ] || skip "sanitizers need address space"
    "$GEN" -o big.db --rows 20000
    for tool in "${TOOLS[@]}"; do
        for kb in 9000 12000 16000 20000 24000 28000 32000 36000 40000 60000; do
            rm -rf out
            run --separate-stderr bash -c "ulimit -v $kb; exec $tool -q -j2 --memory 4M -d out big.db"
            case $status in
            0) [ -n "$(ls -A out)" ] || fail "$kb" ;;
            5)
                says "out of memory"
                [ ! -e out ] || [ -z "$(ls -A out)" ] || fail "$kb: something is left"
                ;;
            127) ;; # not even the program could be loaded
            *) fail "$tool with $kb KiB" ;;
            esac
        done
    done
}

@test "no room for temporary files" {
    needs_mount
    "$GEN" -o big.db --rows 40000
    mkdir tmp
    for tool in "${TOOLS[@]}"; do
        # shellcheck disable=SC2016
        run --separate-stderr unshare -m sh -c 'mount -t tmpfs -o size=64k none tmp && exec "$@"' sh \
            "$tool" --memory 1M --tmpdir tmp -d out big.db
        [ "$status" -eq 4 ] || fail "$tool"
        one_line "$tool"
        says "No space left"
        says tmp
        [ ! -e out ] || [ -z "$(ls -A out)" ]
    done
}

@test "a folder for temporary files that is not there" {
    "$GEN" -o big.db --rows 40000
    for tool in "${TOOLS[@]}"; do
        run --separate-stderr "$tool" --memory 1M --tmpdir nowhere -d out big.db
        [ "$status" -eq 2 ] || [ "$status" -eq 4 ] || fail "$tool"
        one_line "$tool"
        says nowhere
        [ ! -e out ] || [ -z "$(ls -A out)" ]
    done
}

@test "no room for the output" {
    needs_mount
    "$GEN" -o big.db --rows 20000
    mkdir out
    for tool in "${TOOLS[@]}"; do
        # shellcheck disable=SC2016
        run --separate-stderr unshare -m sh -c 'mount -t tmpfs -o size=64k none out && { "$@"; code=$?
            ls -A out; exit $code; }' sh "$tool" -d out big.db
        [ "$status" -eq 4 ] || fail "$tool"
        one_line "$tool"
        says "No space left"
        [ -z "$output" ] || fail "something is left"
    done
}

@test "several files, and room for some of them: none" {
    needs_mount
    "$GEN" -o big.db --rows 3000
    mkdir out
    for tool in "rocpd2csv -o o" "rocpd2csv --style rocprofv3" "rocstats --style rocpd" \
        "rocstats --style rocprofv3" "rocmerge -o o --split 4" "rocpd2otf2 -o o"; do
        # The old files nearly fill it, so that there is no room for all of the new ones beside them.
        # shellcheck disable=SC2016,SC2086
        run --separate-stderr unshare -m bash -c 'mount -t tmpfs -o size=3m none out && {
            "$@" || exit 99; for f in $(find out -type f); do echo old >$f; done
            head -c 4m /dev/zero >out/filler 2>/dev/null; truncate -s -8192 out/filler
            find out -type f -exec cksum {} + | sort >before
            "$@"; code=$?
            find out -type f -exec cksum {} + | sort >after; exit $code; }' bash \
            $tool -q -d out big.db
        [ "$status" -eq 4 ] || fail "$tool"
        one_line "${tool%% *}"
        diff before after || fail "$tool"
    done
}

# All of it, sampled: the group "faults" of tests/run.sh; these are the calls that found something.
@test "calls that fail where it hurt: what is removed, what is opened again, threads of queries" {
    needs "$BUILD/tests/faults.so"
    LD_PRELOAD=$BUILD/tests/faults.so rocpd2csv --version >version 2>&1 || skip "sanitizers come first"
    while read -r call command; do
        ONLY="^[=~?+] $command" run "$TOP/tests/faults.sh" "$BUILD" --call "$call" --jobs 2
        [ "$status" -eq 0 ] || fail "$call: $command"
    done <<'END'
rename rocpd2csv -q -jN -d out/new
open rocpd2otf2 -q -jN -d out/new
unlink rocrec -q -o out/r.rocl
open rocrec -q -o out/r.rocl -- .*traced
readdir rocrec -q -o out/r.rocl -- .*traced
malloc rocrec -q -o out/r.rocl -- .*traced
malloc rocrec -q -jN -f csv -o out/new -- .*traced
malloc rocrec -q -d out/new -- .*traced
open rocrec -q -d out/new -- .*traced
readdir rocrec -q -d out/new -- /bin/true
mmap rocline query -q -jN --memory 64K
pthread_create rocline query -q -jN --format csv
read rocpd2csv -q -jN -d out in/job
END
}

@test "a link that another user has planted where everybody may: not followed" {
    [ "$(id -u)" -eq 0 ] || skip "not root"
    db=$FIXTURES/schema-3.0.0.db
    mkdir shared
    chmod 1777 shared
    echo precious >victim
    for name in t.pftrace t.db t.json t.txt d_kernel_trace.csv none.pftrace; do
        ln -s ../victim shared/$name
    done
    ln -sf ../fresh shared/none.pftrace
    try 0 rocstats -o shared/t.txt "$db" # one's own is
    [ "$(head -c 8 victim)" != precious ]
    echo precious >victim
    chown -h 12345 shared/*
    for tool in "rocpd2pftrace -o shared/t.pftrace" "rocmerge -o shared/t.db" "rtg2json -o shared/t.json" \
        "rocstats -o shared/t.txt" "rocpd2csv -d shared -o d" "rocpd2pftrace -o shared/none.pftrace" \
        "rpt -o r.txt -g shared/t.json"; do
        # shellcheck disable=SC2086 # words
        try 4 $tool "$db"
        one_line "${tool%% *}"
        says "Permission denied"
    done
    [ "$(cat victim)" = precious ]
    [ "$(echo *)" = "shared victim" ]
}

@test "power is lost: outputs are on disk before they have names, and names at the end" {
    needs "$BUILD/tests/no_power.so"
    LD_PRELOAD=$BUILD/tests/no_power.so rocpd2csv --version >version 2>&1 ||
        skip "sanitizers come first"
    db=$FIXTURES/schema-3.0.0.db
    for again in 1 2; do # the second time older files are replaced
        while read -r command; do
            # shellcheck disable=SC2086 # words
            NO_POWER_LOG=$PWD/log LD_PRELOAD=$BUILD/tests/no_power.so $command "$db" >out.txt 2>&1 ||
                fail "$command"
            [ ! -s log ] || fail "$command: $(cat log)"
        done <<'END'
rocpd2csv -q -d out/a/b -o c
rocpd2csv -q --style rocprofv3 -d out/v3
rocpd2pftrace -q -d out/p -o p
rocpd2otf2 -q -d out/o -o o
rocmerge -q -o out/m.db
rocmerge -q -d out/s --split 3
rocstats -q -o out/s.html --format html all
rocstats -q --style rocpd -d out/st
rtg2json -q -o out/x.json
rocline export -q -d out/e
rocline convert -q -f csv pftrace otf2 -d out/c
rocline query -q --format parquet -o out/q.parquet --query SELECT(1)
END
    done
    # Each of the files can be seen to be missed, and nothing waits with --no-sync.
    NO_POWER_LOG=$PWD/log LD_PRELOAD=$BUILD/tests/no_power.so rocpd2otf2 --no-sync -q -d none "$db"
    grep -q 'out_results.otf2 has its name before it is on disk' log
    grep -q 'names in none/ are not on disk' log
}

@test "regular expressions that would take all memory, or crash the C library" {
    db=$FIXTURES/schema-3.0.0.db
    deep=$(printf '(%.0s' {1..20000})a$(printf ')%.0s' {1..20000})
    plus=$(printf '(%.0s' {1..40})a$(printf '+)%.0s' {1..40})
    for e in '((a{1,255}){1,255}){1,255}' "$deep" "$plus" a++++++++++++++ '(a|(b{40}){2,}){40}' '[]]{9999}'; do
        for tool in "rocpd2csv -d out --name" "rocstats --exclude-name" "rocmerge -o m.db --kernel-include"; do
            # shellcheck disable=SC2086 # words
            try 2 bash -c 'ulimit -v 4000000; exec "$@"' bash $tool "$e" "$db"
            says "too large a regular expression"
        done
    done
    try 2 rocstats summary --summary-groups "$deep" "$db"
    says "too large a regular expression"
    [ ! -e out ]
    [ ! -e m.db ]
    # What people write, also with brackets and braces that are no repetitions.
    long=$(printf 'kernel_%d|' {1..2000})x
    for e in 'gemm_.{1,255}_[0-9]{2,4}' '[[:alpha:]({+]+(x|[]()]){1,100}' 'a\{9999\}b\(' "$long" '(((a+)*)?){3}'; do
        try 0 rocpd2csv -q -d out --exclude-name "$e" "$db"
    done
}

@test "pipes and devices that a pattern or an index names are refused, not waited for" {
    mkdir a b c
    mkfifo a/x.db b/index.yaml c/x.db
    cp "$FIXTURES/schema-3.0.0.db" a/y.db
    printf 'rocprofiler-sdk:\n  rocpd:\n    rocpd_package_version: "1.0"\n    files: ["x.db"]\n' >c/index.yaml
    for tool in "rocpd2csv -d out" "rocstats" "rocmerge -o m.db" "rocline info"; do
        for input in 'a/*.db' b c; do
            # shellcheck disable=SC2086 # words
            try 3 timeout 20 $tool "$input"
            says "not a regular file"
        done
    done
    try 0 timeout 20 rocpd2csv -q -d out a # of a folder only files are taken
    for tool in rocpd2csv rocstats "rtg2json -o x" rpt "rocline info"; do
        # shellcheck disable=SC2086 # words
        try 3 timeout 20 $tool /dev/zero
        says "device"
    done
    truncate -s 300M c/index.yaml
    try 3 bash -c 'ulimit -v 200000; exec rocpd2csv c'
    says "too large for an index"
}

@test "a file that unpacks to more than a share of what is free" {
    needs_mount
    needs gzip
    { printf 'SQLite format 3\0' && head -c 60M /dev/zero; } | gzip >bomb.db.gz
    mkdir tmp
    # shellcheck disable=SC2016
    try 4 unshare -m sh -c 'mount -t tmpfs -o size=40m none tmp && exec rocpd2csv --tmpdir tmp -d out bomb.db.gz'
    one_line rocpd2csv
    says "takes more than 30 MiB when it is unpacked, three quarters of what is free in tmp"
    [ ! -e out ]
}

@test "names reach terminals without control characters, in every format" {
    needs_terminal
    cp "$FIXTURES/schema-3.0.0.db" e.db
    s=$(suffix_of e.db)
    name="char(27)||'[31mEVIL'||char(7)||char(0x9b)||'2J'||char(0x202e)||char(0x2066)"
    sqlite3 e.db "UPDATE rocpd_string$s SET string = $name||string
        WHERE id IN (SELECT name_id FROM rocpd_region$s);
        UPDATE rocpd_info_kernel_symbol$s SET display_name = $name, kernel_name = $name"
    cp e.db $'\033[31mEVIL.db'
    evil=$'\033[31mEVIL'
    while read -r command; do
        script -qec "${command//EVIL/$evil}" /dev/null </dev/null >shown 2>&1 || true # also errors
        grep -q EVIL shown || fail "$command: nothing of it is shown"
        ! LC_ALL=C grep -q $'\033\[31mEVIL\|\a\|\xc2\x9b\|\xe2\x80\xae\|\xe2\x81\xa6' shown || fail "$command: $(cat -v shown | head -3)"
    done <<'END'
rocstats --format text --top 0 all e.db
rocstats --format csv all e.db
rocstats --format json all e.db
rocstats --format md all e.db
rocpd2csv --kinds kernel -o - e.db
rtg2json -o - e.db
rocline query --format csv --query 'SELECT name FROM regions' e.db
rocline query --format tsv --query 'SELECT name FROM regions' e.db
rocline query --format json --query 'SELECT name FROM regions' e.db
rocline query --format table --query 'SELECT name FROM regions' e.db
rocline check 'EVIL.db'
rocline info 'EVIL.db'
rocpd2csv --EVIL
rocstats EVIL
rocline EVIL
END
    # Elsewhere nothing is changed: other programs want the names as they are.
    rocpd2csv --kinds kernel -o - e.db | grep -q $'\033\[31mEVIL'
}

@test "--csv-safe: no name is a formula in CSV and TSV, and numbers stay" {
    cp "$FIXTURES/schema-3.0.0.db" e.db
    s=$(suffix_of e.db)
    sqlite3 e.db "UPDATE rocpd_string$s SET string = '=HYPERLINK(1)|'||string
        WHERE id IN (SELECT name_id FROM rocpd_region$s);
        UPDATE rocpd_info_kernel_symbol$s SET display_name = '@SUM(1+1)'||id, kernel_name = '@SUM(1+1)'||id"
    formula='(^|[,"	])[=@]'
    while read -r file command; do
        # shellcheck disable=SC2086 # words
        $command -q e.db >out.txt
        grep -qE "$formula" $file || fail "$command: no formula without the option"
        # shellcheck disable=SC2086 # words
        $command --csv-safe -q e.db >out.txt
        ! grep -qE "$formula" $file || fail "$command: $(grep -E "$formula" $file | head -1)"
        grep -q "'[=@]" $file || fail "$command: no name is guarded"
    done <<'END'
out.txt rocpd2csv --kinds kernel -o -
out.txt rocpd2csv --style rocprofv3 --kinds hip -o -
out.txt rocpd2csv --style rocprof -o -
x/out_kernel_trace.csv rocline convert -f csv -d x
x/out_kernels_summary.csv rocstats --style rocpd -d x -o out
x/out_kernel_stats.csv rocstats --style rocprofv3 -d x -o out
out.txt rocstats --format csv kernels
out.txt rocstats --format tsv kernels
out.txt rocline query --format csv --query SELECT(name)FROM(kernels)
out.txt rocline query --format tsv --query SELECT(name)FROM(kernels)
END
    rocline query --csv-safe --format csv e.db \
        "VALUES (-1, '-1', '+2.5e3', '-1-1', '+a', char(9)||'b', '''c', '1-2', '-')" >values
    [ "$(tail -n 1 values)" = $'-1,"-1","+2.5e3","\'-1-1","\'+a","\'\tb","\'c","1-2","\'-"' ] || fail "$(cat values)"
}

@test "nothing is left of temporary files" {
    "$GEN" -o big.db --rows 40000
    mkdir tmp
    for tool in "${TOOLS[@]}"; do
        try 0 env TMPDIR="$PWD/tmp" "$tool" --memory 1M -q -d out big.db
        [ -z "$(ls -A tmp)" ]
    done
}

@test "stopped by a signal: no half output" {
    "$GEN" -o big.db --rows 200000
    for tool in "${TOOLS[@]}" rocpd2otf2 "rocmerge --split 4"; do
        for signal in TERM INT HUP QUIT USR1 XCPU; do
            mkdir -p out tmp
            # shellcheck disable=SC2086 # words
            TMPDIR=$PWD/tmp timeout --foreground -s $signal 0.15 $tool -q --memory 1M -j1 -d out/new big.db ||
                status=$?
            # A file under its own name is complete; nothing else is there.
            [ -z "$(find out -name '.*')" ] || fail "$tool, $signal: $(ls -A out)"
            [ -z "$(find out/new -empty 2>/dev/null)" ] || fail "$tool, $signal: an empty folder"
            [ -z "$(ls -A tmp)" ] || fail "$tool, $signal: temporary files"
            rm -rf out tmp
        done
    done
}
