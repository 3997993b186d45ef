#!/usr/bin/env bats
# The examples of the manual pages: each one runs, and prints what its page shows. examples.awk says what
# an example looks like in a page, and matches.awk how much of its output a page must show.

load helper

DEMO=$TOP/tests/fixtures/demo.db

requires() {
    needs "$DEMO" "$FIXTURES/rank0.db"
}

# What pages call files that everybody has other ones of.
make_files() {
    local rank name
    for name in demo.db 4711_results.db before.db; do
        ln -s "$DEMO" "$name"
    done
    ln -s "$FIXTURES/rank1.db" after.db
    mkdir RUN
    for rank in 0 1; do
        mkdir "rank$rank"
        ln -s "$FIXTURES/rank$rank.db" "rank$rank.db"
        ln -s "$FIXTURES/rank$rank.db" "rank$rank/results.db"
        ln -s "$FIXTURES/rank$rank.db" "RUN/rank$rank.db"
        ln -s "$TOP/tests/fixtures/chrome/train$rank.json" "train$rank.json"
    done
    ln -s "$TOP/tests/fixtures/rtg/profile.txt" hcc.log
    ln -s "$TOP/tests/fixtures/rtg/calls.txt" rtg_trace.txt.4905
    ln -s "$TOP/tests" "$TOP/examples" .
    sed -n '/^\$ cat input.yaml/,/^\$ roc/p' "$TOP/man/rocline-job.5" | sed '1d;$d' >input.yaml
    ln -s ../demo.pftrace ../trace.rocl .
}

# Why an example does not run here, or nothing.
not_here() { # script
    case $(<"$1") in
        *ssh\ * | *sbatch\ * | *srun\ * | *mpirun\ *) echo "it needs other machines" ;;
        *./train* | *./server*) echo "its program is the reader's own" ;;
        *less\ -S*) echo "it waits for keys" ;;
    esac
    if grep -q otf2 "$1" && [[ $(rocpd2otf2 --version) != *OTF2* ]]; then
        echo "this was built without libotf2"
    fi
    if grep -q librocline-sqlite "$1" && nm -D "$BUILD/lib/librocline.so" | grep -q '__[atu][a-z]*san_'; then
        echo "sqlite3 has no sanitizer"
    fi
    local program
    for program in duckdb jq python3 sqlite3 otf2-print trace_processor_shell; do
        grep -q "\b$program " "$1" && ! command -v "$program" >/dev/null && echo "there is no $program"
    done
    true
}

run_example() { # page script
    local why code=0
    why=$(not_here "$2" | head -1)
    if [ -n "$why" ]; then
        echo "$1: not run, because $why: $(head -1 "$2")" >>../not-run
        return
    fi
    echo "$1" >>../ran
    LD_LIBRARY_PATH=$BUILD/lib bash -o pipefail "$2" >printed 2>&1 </dev/null || code=$?
    if [ "$code" -gt 1 ] && [ "$code" -ne 6 ]; then
        printf '%s: %s\nexit code %s: %s\n' "$1" "$(<"$2")" "$code" "$(<printed)" >>../wrong
    elif [ -e "${2%.sh}.out" ]; then
        awk -f "$BATS_TEST_DIRNAME/matches.awk" "${2%.sh}.out" printed >differs ||
            printf '%s: %s\n%s\n' "$1" "$(<"$2")" "$(<differs)" >>../wrong
    fi
}

@test "every example of a page runs, and prints what the page shows" {
    local page name script
    touch ran not-run wrong
    rocpd2pftrace -q -o demo.pftrace "$DEMO"
    rocrec -q --sample=50 -o trace.rocl -- sleep 0.1
    for page in "$BUILD"/man/*.[0-9]; do
        name=${page##*/}
        mkdir "$name.examples" "$name.here"
        awk -v folder="$name.examples" -f "$BATS_TEST_DIRNAME/examples.awk" "$page"
        cd "$name.here"
        make_files
        for script in ../"$name.examples"/*.sh; do
            [ ! -e "$script" ] || run_example "$name" "$script"
        done
        cd ..
    done
    cat not-run
    [ ! -s wrong ] || fail "$(<wrong)"
    [ "$(wc -l <ran)" -ge 30 ] || fail "only $(wc -l <ran) examples were found"
}

@test "rocline(7), or a page of rocstats, names every page" {
    local page name
    for page in "$BUILD"/man/*.[0-9]; do
        name=${page##*/}
        [ "$name" = rocline.7 ] || cat "$BUILD"/man/rocline.7 "$BUILD"/man/rocstats* | grep -q "Xr ${name%.*} ${name##*.}" ||
            fail "$name"
    done
}

@test "a display of the page that the command does not print is found" {
    printf '.Bd -literal\n$ printf "1 a\\en2 b\\en3 c\\en"\n1 a\n...\n3 ...\n.Ed\n' >page
    mkdir here
    awk -v folder=here -f "$BATS_TEST_DIRNAME/examples.awk" page
    bash here/01.sh >printed
    awk -f "$BATS_TEST_DIRNAME/matches.awk" here/01.out printed
    sed 's/^1 a/1 x/' here/01.out >wrong
    run -1 awk -f "$BATS_TEST_DIRNAME/matches.awk" wrong printed
    [[ "$output" == *"shows:  1 x"*"printed is:  1 a" ]]
    head -1 here/01.out >short
    run -1 awk -f "$BATS_TEST_DIRNAME/matches.awk" short printed
    [[ "$output" == *"does not show:  2 b" ]]
}

@test "the script that makes a report for each step" {
    needs jq
    sed -n '/^for n in/,/^done/p' "$TOP/man/rocstats-steps.1" >script
    grep -q 'rocstats kernels --step' script
    cp "$TOP/tests/fixtures/chrome/train0.json" trace.db # a format is known by the contents
    bash -e script
    [ "$(echo step*.csv)" = "step0.csv step1.csv step2.csv" ]
    [ "$(tail -qn +2 step*.csv | cut -d, -f1 | sort | uniq -c | awk '{ print $1 }' | xargs)" = "3 3 3 3" ]
}

# On a terminal of 80 columns. rocstats(1) lists all reports, rocline(7) what all tools share.
@test "pages are short" {
    needs mandoc
    for page in "$BUILD"/man/*; do
        most=150
        case ${page##*/} in rocstats.1) most=200 ;; rocline.7) continue ;; esac
        lines=$(mandoc -T utf8 "$page" | wc -l)
        [ "$lines" -le "$most" ] || fail "${page##*/} has $lines lines"
    done
}
