#!/usr/bin/env bats
# rocstats --style and --format table: summaries as AMD's tools leave them.

load helper

DB=$FIXTURES/everything.db

requires() {
    needs "$DB"
}

# Two files of AMD's layout are alike: numbers may differ in their last digits, since sums of squares
# and products in another order lose some.
alike() { # expected actual
    awk -F, -v one="$1" -v two="$2" '
        function same(a, b,    d) {
            d = a - b
            return a == b || (a ~ /^[0-9.e+-]+$/ && (d < 0 ? -d : d) <= 1e-6 * a)
        }
        BEGIN {
            for (;;) {
                a = (getline x < one); b = (getline y < two)
                if (a <= 0 && b <= 0) exit 0
                n = split(x, p, ","); m = split(y, q, ",")
                bad = a != b || n != m
                for (i = 1; i <= n && !bad; i++) bad = !same(p[i], q[i])
                if (bad) { print x; print y; exit 1 }
            }
        }'
}

@test "the files of rocpd summary" {
    needs "$SHARED/amd/e4.db"
    try 0 rocstats -q --style rocpd -d out "$SHARED/amd/e4.db"
    silent
    # AMD adds scratch memory to the allocations, and makes the domains out of averages.
    for f in hip hsa kernels memory_copies scratch_memory; do
        sort "$SHARED/amd/e4/summary/out_${f}_summary.csv" >expected
        sort "out/out_${f}_summary.csv" >actual
        alike expected actual
    done
    [ "$(sed -n 2p out/out_memory_allocations_summary.csv | cut -d, -f1,2)" = ALLOC,70 ]
    cut -d, -f1-3 "$SHARED/amd/e4/summary/out_domain_summary.csv" | grep -v MEMORY_ALLOC >expected
    cut -d, -f1-3 out/out_domain_summary.csv | grep -v MEMORY_ALLOC | diff expected -
}

@test "the files of rocprofv3 --stats" {
    try 0 rocstats --style rocprofv3 -d out -o run "$DB"
    silent
    [ "$(head -1 out/run_kernel_stats.csv)" = '"Name","Calls","TotalDurationNs","AverageNs","Percentage","MinNs","MaxNs","StdDev"' ]
    # Share: two decimals from 1 % on, four below, an exponent below a hundredth.
    try 0 sqlite3 -readonly -csv "$DB" "SELECT count(*), sum(end - start) FROM rocpd_kernel_dispatch$(suffix "$DB")"
    [ "$output" = "$(awk -F'",' 'NR > 1 { split($2, v, ","); n += v[1]; t += v[2] } END { print n "," t }' out/run_kernel_stats.csv)" ]
    cut -d'"' -f3 out/run_hip_api_stats.csv | sed 1d |
        grep -vE '^,[0-9]+,[0-9]+,[0-9]+\.[0-9]{6},([0-9]+\.[0-9]{2}|0\.[0-9]{4}|[0-9]\.[0-9]{3}e-[0-9]{2}),[0-9]+,[0-9]+,([0-9]+\.[0-9]{6}|0\.00000000e\+00)$' && false
    grep -q '^"KERNEL_DISPATCH",' out/run_domain_stats.csv
    grep -q '^"MEMORY_ALLOCATION_ALLOCATE",' out/run_memory_allocation_stats.csv
}

@test "the files of rocprof --stats" {
    try 0 rocstats --style rocprof -d out "$DB"
    silent
    [ "$(ls out | paste -sd ' ')" = "results.copy_stats.csv results.hip_stats.csv results.hsa_stats.csv results.stats.csv" ]
    [ "$(head -1 out/results.hip_stats.csv)" = '"Name","Calls","TotalDurationNs","AverageNs","Percentage"' ]
    grep -qE '^"CopyHostToDevice",[0-9]+,[0-9]+,[0-9]+,[0-9.]+$' out/results.copy_stats.csv
    grep -qE '^"[^"]+",[0-9]+,[0-9]+,[0-9]+,[0-9.]+$' out/results.stats.csv
    # The average is cut to a whole number.
    awk -F, 'NR > 1 { if ($4 != int($3 / $2)) exit 1 }' out/results.hip_stats.csv
}

@test "the table of rocprofv3 -S" {
    try 0 rocstats --format table "$DB"
    [ "$stderr" = "" ]
    [[ "$output" == *"ROCPROFV3 KERNEL_DISPATCH SUMMARY:"* ]]
    [[ "$output" == *"ROCPROFV3 SUMMARY:"* ]]
    # All lines of a block are of one width.
    awk '/^\|/ { if (w && length($0) != w) exit 1; w = length($0); next } { w = 0 }' <<<"$output"
    [ "$(grep -c '|      CALLS      | DURATION (nsec) | AVERAGE (nsec)  | PERCENT (INC) |   MIN (nsec)    |   MAX (nsec)    |     STDDEV      |' <<<"$output")" -ge 5 ]
}

@test "what does not go together" {
    try 2 rocstats --style rocpd --by-rank "$DB"
    # A folder is for the files of a style only.
    try 2 rocstats -d out "$DB"
    says "--output-path is only for the files of --style"
    try 2 rocstats --style rocpd kernels "$DB"
    try 2 rocstats --format table gaps "$DB"
    try 4 rocstats --style rocpd -d /proc/nowhere "$DB"
    one_line rocstats
}

@test "names that hold quotes, commas and line ends" {
    needs "$FIXTURES/nasty-4.1.0.db" python3
    for style in rocpd rocprofv3 rocprof; do
        try 1 rocstats -q --style $style -d out-$style "$FIXTURES/nasty-4.1.0.db"
        for f in out-$style/*.csv; do
            python3 - "$f" <<'END'
import csv, sys
rows = list(csv.reader(open(sys.argv[1], newline='')))
assert len(rows) > 1 and len({len(r) for r in rows}) == 1, sys.argv[1]
END
        done
    done
}

@test "what is not known of the rows summed up is empty, in the table and in every other form" {
    db=$FIXTURES/everything.db
    rocstats summary --format table --top 3 "$db" >table
    [ "$(grep -c ' others) ' table)" -ge 5 ]
    # calls, duration, average and share are known; min, max and deviation are not
    grep ' others) ' table | awk -F'|' '{ for (i = 4; i <= 7; i++) if ($i !~ /[0-9]/) exit 1
        for (i = 8; i <= 10; i++) if ($i !~ /^ +$/) exit 1 }'
    rocstats summary --format table --top 0 "$db" | awk -F'|' '/nsec|^$|---|ROCPROFV3/ { next }
        { for (i = 8; i <= 10; i++) if ($i !~ /[0-9]/) exit 1 }'
    rocstats summary --format csv --top 3 "$db" >t.csv
    [ "$(grep -c ' others)",.*,,,,,,,,$' t.csv)" -ge 3 ]
    rocstats summary --format md --top 3 "$db" | grep ' others)' | grep -vq '| 0 ns |'
}

# rocprof demangles the names of descriptors, which end in .kd.
@test "rocprof: kernels have the names of their descriptors" {
    s=$(suffix "$DB")
    cp "$DB" t.db
    sqlite3 t.db "UPDATE rocpd_info_kernel_symbol$s SET display_name =
        'void scale<int>(int*, float)' WHERE id = (SELECT kernel_id FROM rocpd_kernel_dispatch$s LIMIT 1)"
    rocstats --style rocprof -d out t.db
    sed 1d out/results.stats.csv | grep -vE '^".*\.kd",|^"[^"]*\) \[clone \.kd\]",' && fail "no .kd"
    [ "$(grep -c '^"void scale<int>(int\*, float) \[clone .kd\]",' out/results.stats.csv)" -eq 1 ]
    grep -q '^"flash_fwd_kernel_bf16_hd128_causal.kd",' out/results.stats.csv
    run ! grep -q 'kd' out/results.hip_stats.csv
    rocstats --style rocprof --kernel-names short -d short t.db
    run ! grep -q 'kd' short/results.stats.csv
    # and no other output has them
    rocpd2pftrace -z0 -o t.pftrace t.db
    run ! grep -qa 'clone .kd' t.pftrace
}

@test "rocprof: the names of a real file come back" {
    real=$SHARED/rocprof-v1/llama-stats/results.stats.csv
    needs "$real"
    s=$(suffix "$DB")
    cp "$DB" t.db
    sqlite3 t.db ".import --csv '$real' real" "UPDATE rocpd_info_kernel_symbol$s AS k SET display_name =
        (SELECT replace(replace(Name, ' [clone .kd]', ''), '.kd', '') FROM real WHERE rowid = 1 + k.id % 20)" \
        "DROP TABLE real"
    rocstats --style rocprof -d out t.db
    for file in out/results.stats.csv "$real"; do
        sqlite3 :memory: '.mode csv' ".import $file t" '.mode list' 'SELECT Name FROM t' | LC_ALL=C sort
        echo
    done | awk '!NF { real = 1 } !real { ours[$0]; n++ } real { theirs[$0] }
        END { for (name in ours) if (!(name in theirs)) exit 1; exit n < 3 }'
}
