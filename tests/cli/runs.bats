#!/usr/bin/env bats
# rocstats compare --a --b: several runs against several runs.

load helper

requires() {
    needs "$FIXTURES/rank1.db" sqlite3 python3 jq
}

a=$FIXTURES/rank0.db

# Runs a1 to aN and b1 to bM of $a: durations of kernels differ a little from run to run, and a kernel takes a
# fifth longer in B.
make_runs() { # N M
    local s i k
    s=$(suffix "$a")
    for k in a b; do
        for ((i = 1; i <= ($([ $k = a ] && echo "$1" || echo "$2")); i++)); do
            cp "$a" $k$i.db
            chmod u+w $k$i.db
            sqlite3 $k$i.db "UPDATE \"rocpd_kernel_dispatch$s\" SET \"end\" = \"end\" + $i * 7 + id % (3 + $i)"
            [ $k = a ] || sqlite3 $k$i.db "UPDATE \"rocpd_kernel_dispatch$s\" SET \"end\" = \"end\" + (\"end\" - start) / 5
                WHERE kernel_id IN (SELECT id FROM \"rocpd_info_kernel_symbol$s\" WHERE display_name LIKE 'Cijk_Ailk%')"
        done
    done
}

@test "runs: means and deviations are those of SQL, for samples of all sizes" {
    for sizes in "3 3" "1 3" "4 1" "2 5"; do
        rm -f ./*.db
        # shellcheck disable=SC2086
        make_runs $sizes
        for file in [ab]*.db; do
            s=$(suffix "$file")
            sqlite3 -separator $'\t' "$file" "SELECT '$file', k.display_name, sum(\"end\" - start) FROM \"rocpd_kernel_dispatch$s\" x
                JOIN \"rocpd_info_kernel_symbol$s\" k ON k.id = x.kernel_id GROUP BY 2"
        done >sums
        rocstats compare --format json --a 'a*.db' --b 'b*.db' >runs.json
        python3 - <<'END'
import json, math, statistics
sums = {}
for line in open('sums'):
    file, name, ns = line.rstrip('\n').split('\t')
    sums.setdefault(name, {}).setdefault(file[0], []).append(int(ns))
rows = {r['name']: r for r in json.load(open('runs.json'))['data']['compare_runs']['rows']
        if r['domain'] == 'KERNELS'}
assert set(rows) == set(sums)
for name, of in sums.items():
    for side, values in of.items():
        assert math.isclose(rows[name]['mean_%s_ns' % side], statistics.mean(values), rel_tol=1e-12)
        found = rows[name]['deviation_%s_ns' % side]
        if len(values) > 1:
            assert math.isclose(found, statistics.stdev(values), rel_tol=1e-9, abs_tol=1e-6)
        else:
            assert found is None
        assert rows[name]['runs_' + side] == len(values)
    change = statistics.mean(of['b']) - statistics.mean(of['a'])
    assert math.isclose(rows[name]['change_ns'], change, rel_tol=1e-9, abs_tol=1e-6)
    assert (rows[name]['significant'] == 'yes') == (rows[name]['p'] < 0.01)
slow = next(r for n, r in rows.items() if n.startswith('Cijk_Ailk'))
assert slow['significant'] == 'yes' and abs(slow['change_percent'] - 20) < 0.1
END
    done
}

@test "runs: one of each side are compared as two inputs are" {
    make_runs 1 1
    rocstats compare --format json a1.db b1.db >two
    rocstats compare --format json --a 'a*.db' --b 'b*.db' | diff two -
    rocstats baseline -o base.json a1.db
    rocstats compare --format json --a base.json --b b1.db | diff <(jq 'del(.trace)' two) <(jq 'del(.trace)')
}

@test "runs: limits, JUnit and comments" {
    make_runs 3 3
    try 6 rocstats compare --fail-over 5 --a 'a*.db' --b 'b*.db'
    one_line rocstats
    says "1 name grew by more than 5 %; the worst: KERNELS Cijk_Ailk"
    says "grew by 20.0 % on average"
    [[ "$output" == *"3 runs against 3; "*"p < 0.01 in Welch's test"* ]]
    try 0 rocstats compare --fail-over 25 --a 'a*.db' --b 'b*.db'
    try 0 rocstats compare --fail-over 0 --a 'a*.db' --b 'a*.db'
    # A run that is an outlier makes noise, not a failure.
    s=$(suffix b2.db)
    sqlite3 b2.db "UPDATE \"rocpd_kernel_dispatch$s\" SET \"end\" = start + 5 * (\"end\" - start)"
    try 0 rocstats compare --fail-over 5 --include kernel --a 'a*.db' --b 'b*.db'
    try 6 rocstats compare --fail-over-total 5 --include kernel --a 'a*.db' --b 'b*.db'
    rm b2.db
    rocstats compare -q --fail-over 5 --format junit --a 'a*.db' --b 'b*.db' >out.xml 2>/dev/null || true
    ! command -v xmllint || xmllint --noout out.xml
    [ "$(grep -c '<failure type="average" message="average grew by 20.00 %, limit 5.00 %">' out.xml)" -eq 1 ]
    try 6 rocstats compare -q --fail-over 5 --format md --a 'a*.db' --b 'b*.db'
    [[ "$output" == *"**Failed**: 1 failed"*"Significant changes:"*"| Cijk_Ailk"*"<details>"*"</details>" ]]
}

@test "runs: kernels that were renamed are one row; baselines and folders are runs" {
    make_runs 2 2
    for i in 1 2; do
        s=$(suffix b$i.db)
        sqlite3 b$i.db "UPDATE \"rocpd_info_kernel_symbol$s\" SET display_name = display_name || '_v2' WHERE display_name LIKE 'Cijk_Ailk%'"
        rocstats baseline -o base.json --baseline-name run$i a$i.db
    done
    rocstats compare --format json --a 'a*.db' --b 'b*.db' >with
    [ "$(jq -c '[.data.compare_runs.rows[] | select(.status == "renamed") | (.name_b | endswith("_v2")), .runs_a, .runs_b]' with)" = '[true,2,2]' ]
    rocstats compare --format json --a base.json:run1 --a base.json:run2 --b 'b*.db' | diff with -
    mkdir base new
    mv a*.db base
    mv b*.db new
    rocstats compare --format json --a 'base/*' --b 'new/*' | diff with -
    for n in 1 4; do
        rocstats compare -j$n --format json --a 'base/*' --b 'new/*' | diff with -
    done
}

@test "runs: usage errors" {
    while read -r text args; do
        # shellcheck disable=SC2086
        try 2 rocstats $args
        says "${text//_/ }"
    done <<END
--a_and_--b_are_given_together compare --a $a
--a_is_only_for_compare kernels --a $a $a
there_are_no_other_inputs compare --a $a --b $a $a
nothing_matches_"missing-x.db" compare --a missing-x.db --b $a
END
    rocstats baseline -o base.json "$a"
    try 2 rocstats compare --a "$a" --a "$a" --b base.json
    says "is a baseline, which only A can be"
    try 2 rocstats compare --a base.json --a "$a" --b "$a" -o base.json
    says "is an input"
    try 3 rocstats compare --a "$TOP/README.md" --a "$a" --b "$a"
}

@test "runs: the example of rocstats-compare(7), and two runs against two" {
    grep -q 'is 7.75' "$TOP/man/rocstats-compare.7"
    grep -q '0.0048' "$TOP/man/rocstats-compare.7" # tests/unit/test_student.c has them
    grep -q '10 ms plus or minus 7.69 ms' "$TOP/man/rocstats-compare.7"
    cd "$TOP/tests/fixtures/chrome"
    rocstats compare --format json --a 'train[01].json' --b train0-after.json --b train0.json |
        jq -c '.data.compare_runs.rows[] | select(.name | startswith("Cijk_Alik")) | [.mean_a_ns, .mean_b_ns, .change_ns], (.p, .change_low_ns / 1e6, .change_high_ns / 1e6 | . * 100 | round)' >"$BATS_TEST_TMPDIR/out"
    [ "$(cat "$BATS_TEST_TMPDIR/out")" = '[960000,1035000,75000]
68
-318
333' ]
}
