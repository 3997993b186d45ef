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

@test "e4: the files of newer converters" {
    try 0 rocpd2csv --style rocpd-1.1 -d out "$SHARED/amd/e4.db"
    for file in "$SHARED"/amd/e4/csv-new/*.csv; do
        lines=-0 # all
        [[ $file != *memory_allocation* ]] || lines=1 # they have scratch memory, too
        cmp <(head -n $lines "$file") <(head -n $lines "out/$(basename "$file")")
    done
}
