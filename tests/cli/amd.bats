#!/usr/bin/env bats
# Files that ROCm's own converter made, byte for byte. They are not part of the project.

load helper

requires() {
    needs "$SHARED/amd/e4.db"
}

# Who frees scratch memory is not in the database: ours says nothing, theirs says Agent 0.
corrected() {
    case $1 in
    *scratch_memory*) sed 's/"SCRATCH_MEMORY_FREE","Agent 0"/"SCRATCH_MEMORY_FREE",""/' "$1" ;;
    *) cat "$1" ;;
    esac
}

# Where ROCm's converter is wrong ours differs on purpose: see DIFFERENCES in rocpd2csv(1).
@test "e4: the files of ROCm 7.0" {
    try 0 rocpd2csv -d out "$SHARED/amd/e4.db"
    for file in "$SHARED"/amd/e4/csv/*.csv; do
        case $file in
        *marker_api* | *memory_allocation*) continue ;;
        esac
        corrected "$file" | cmp - "out/$(basename "$file")"
    done
}

@test "e4: allocations without the rows of scratch memory" {
    try 0 rocpd2csv -d out "$SHARED/amd/e4.db"
    theirs=$SHARED/amd/e4/csv/out_memory_allocation_trace.csv
    ours=out/out_memory_allocation_trace.csv
    sed 's/,"""",/,"",/' "$theirs" >expected
    [ "$(grep -vxFf expected "$ours" | wc -l)" -eq 0 ]
    scratch=$(($(wc -l <out/out_scratch_memory_trace.csv) - 1))
    [ $(($(wc -l <expected) - $(wc -l <"$ours"))) -eq "$scratch" ]
}

@test "e4: the same set of files, no more" {
    try 0 rocpd2csv -d out "$SHARED/amd/e4.db"
    diff <(cd "$SHARED/amd/e4/csv" && ls) <(ls out)
}

@test "e4: markers are the same but for the quoting of quotes" {
    try 0 rocpd2csv -d out "$SHARED/amd/e4.db"
    sed 's/"say ""hi"", now"/"say "hi", now"/' out/out_marker_api_trace.csv |
        cmp - "$SHARED/amd/e4/csv/out_marker_api_trace.csv"
}

@test "r9700_llama_bench: a real trace" {
    needs "$SHARED/rocpd/r9700_llama_bench.db" "$SHARED/amd/r9700_llama_bench"
    run --separate-stderr rocpd2csv -d out "$SHARED/rocpd/r9700_llama_bench.db"
    [ "$status" -le 1 ] || fail "conversion"
    for file in "$SHARED"/amd/r9700_llama_bench/csv/*.csv; do
        cmp "$file" "out/$(basename "$file")"
    done
}

@test "two ranks at once" {
    try 0 rocpd2csv -d out "$SHARED/amd/rank0_5000_results.db" "$SHARED/amd/rank1_5001_results.db"
    for file in "$SHARED"/amd/ranks2s/csv/*.csv; do
        case $file in
        # the last process only, and rows that multiply
        *marker_api* | *agent_info* | *memory_allocation*) continue ;;
        esac
        corrected "$file" | cmp - "out/$(basename "$file")"
    done
}

@test "AMD's time windows: exponents, more than the trace, any word for a BOOL" {
    db=$FIXTURES/rank0.db
    bounds=$(rocpd2csv -o - --kinds kernel "$db" | tail -n +2 | cut -d, -f11,12)
    first=$(cut -d, -f1 <<<"$bounds" | sort -n | head -1)
    rocpd2csv -o - --kinds kernel "$db" >all
    rocpd2csv -o - --kinds kernel --start "${first:0:1}.${first:1}e$((${#first} - 1))" "$db" | diff all -
    try 0 rocpd2csv -o - --kinds kernel --end 120% "$db"
    says 'rocpd2csv: --end: "120%" is more than the trace: 100% is taken'
    diff all - <<<"$output"
    try 0 rocpd2csv -o - --kinds kernel --inclusive maybe --start 40% --end 60% "$db"
    says '--inclusive: "maybe" is taken for False'
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

@test "e4: newer headers" {
    try 0 rocpd2csv --style rocpd-1.1 -d out "$SHARED/amd/e4.db"
    for file in "$SHARED"/amd/e4/csv-new/*.csv; do
        diff <(head -1 "$file" | tr -d '\r') <(head -1 "out/$(basename "$file")" | tr -d '\r')
    done
}
