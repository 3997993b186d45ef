#!/usr/bin/env bats
# --job: input files of rocprofv3 as options, and the filters that they need.

load helper

requires() {
    db=$FIXTURES/everything.db
    needs "$db"
}

# The same files with the same bytes in both folders.
same_folders() { # a b
    diff -r "$1" "$2" || fail "$1 and $2 differ"
    [ -n "$(ls "$1")" ] || fail "nothing was written"
}

@test "each key sets its option" {
    while IFS='|' read -r tool keys options; do
        tool=${tool// /}
        printf 'jobs:\n  - output_file: x\n    output_directory: a\n' >job.yaml
        tr ';' '\n' <<<"$keys" | sed 's/^ */    /; s/ *$//' >>job.yaml
        rm -rf a b
        run "$tool" -q --job job.yaml "$db"
        [ "$status" -le 1 ] || fail "$keys"
        # shellcheck disable=SC2086
        run "$tool" -q -o x -d b $options "$db"
        [ "$status" -le 1 ] || fail "$options"
        same_folders a b
    done <<'END'
rocpd2csv     | output_format: [csv]                                        |
rocpd2csv     | truncate_kernels: True                                      | --kernel-names short
rocpd2csv     | mangled_kernels: yes                                        | --kernel-names mangled
rocpd2csv     | mangled_kernels: False; truncate-kernels: off               |
rocpd2csv     | kernel_rename: 1                                            | --kernel-rename
rocpd2csv     | agent_index: type-relative                                  | --agent-index-value type-relative
rocpd2csv     | agent-index: absolute                                       | --agent-index-value absolute
rocpd2csv     | kernel_include_regex: "Cijk.*64"                            | --kernel-include Cijk.*64
rocpd2csv     | kernel_exclude_regex: flash; kernel_include_regex: ""       | --kernel-exclude flash
rocpd2csv     | kernel_iteration_range: "[1-2], [4]"                        | --kernel-iterations 1-2,4
rocpd2csv     | kernel_iteration_range: [1, [3-5]]                          | --kernel-iterations 1,3-5
rocpd2csv     | kernel_iteration_range: ["[1-2]", "[3-4]", "[5-6]"]         | --kernel-iterations [1-6]
rocpd2csv     | collection_period: ["50:100:1", "10:20:3"]; collection_period_unit: usec | --period 50us:100us:1 --period 10us:20us:3
rocpd2csv     | collection_period: "0:1:0"; collection_period_unit: msec    | --period 0:1ms:0
rocpd2csv     | collection_period: "0:1:1"                                  | --period 0s:1s
rocpd2pftrace | group_by_queue: true                                        | --group-by-queue
rocpd2pftrace | perfetto_buffer_size: 1024; perfetto_backend: inprocess     |
rocstats      | stats: True                                                 | --style rocprofv3
rocstats      | stats: True; summary: True; summary_units: usec; summary_output_file: s; summary_groups: [HIP_API, "MEMORY_.*"] | --style rocprofv3 --summary --summary-units usec --summary-output-file s --summary-groups HIP_API --summary-groups MEMORY_.*
rocstats      | summary_per_domain: True; summary_output_file: s            | --summary-per-domain --summary-output-file s
END
}

@test "all forms of a file say the same" {
    printf 'jobs:\n- {output_file: x, kernel_trace: true, kernel_include_regex: Cijk}\n' >1.yaml
    printf -- '---\noutput_file: "x"\nkernel-include-regex: Cijk\n...\n' >2.yml
    printf '{"jobs":[{\n\t"output_file":\t"x",\n\t\t"kernel_include_regex" :["Cijk"]}]}' >3.json
    printf '\xef\xbb\xbf{"output_file":"x","kernel_include_regex":"C\\u0069jk"}\n' >4.json
    printf 'pmc: A B:device=1 # pmc: C\n# pmc: D\n range: 1\n' >5.txt
    for file in 1.yaml 2.yml 3.json 4.json; do
        try 0 rocpd2csv --job $file -d "out-$file" "$db"
        [ "$file" = 1.yaml ] || same_folders out-1.yaml "out-$file"
    done
    try 0 rocpd2csv -v --job 5.txt -o x --kernel-include Cijk -d out-5 "$db"
    says "5.txt: pmc: only for collection"
    same_folders out-1.yaml out-5/pmc_1
}

@test "several jobs: each has a folder of its own" {
    printf 'jobs:\n- pmc: [A]\n- truncate_kernels: true\n  output_directory: d\n- kernel_rename: true\n  output_file: y\n' >job.yaml
    try 0 rocpd2csv --job job.yaml "$db"
    rocpd2csv -q -d a "$db"
    rocpd2csv -q -d b --kernel-names short "$db"
    rocpd2csv -q -d c -o y --kernel-rename "$db"
    same_folders rocpd-output-data/pass_1 a
    same_folders d/pass_2 b
    same_folders rocpd-output-data/pass_3 c
    printf 'pmc: A\npmc: B\n' >two.txt
    try 0 rtg2json --layout trace --job two.txt "$db"
    cmp pmc_1/out_results.json pmc_2/out_results.json
    try 0 rocmerge --job two.txt -d m "$db"
    [ -s m/pmc_1/merged.db ]
    [ -s m/pmc_2/merged.db ]
    try 2 rocpd2csv --job two.txt - <"$db"
    says "two.txt has 2 jobs: standard input can only be read once"
    printf 'output_directory: legacy/x\noutput_file: y\n' >legacy.yaml
    try 0 rtg2json --job legacy.yaml "$TOP/tests/fixtures/rtg/calls.txt"
    cmp legacy/x/y_results.json <(rtg2json -q -o - "$TOP/tests/fixtures/rtg/calls.txt")
    printf 'output_directory: gone/x\n' >gone.yaml
    try 3 rtg2json --job gone.yaml missing.db
    [ ! -e gone ]
    # what is wrong with any of them is said before the first one writes
    while IFS='|' read -r tool second message; do
        printf 'jobs:\n- output_file: z\n- %b\n' "$second" >job.yaml
        try 2 "$tool" --job job.yaml -d e --kernel-names mangled "$db"
        says "$message"
        [ "$(grep -c 'job.yaml\|^rocstats: ' <<<"$stderr")" -eq 1 ] || fail "said twice: $stderr"
        [ ! -e e ] || fail "$second: something was written"
    done <<'END'
rocpd2csv|agent_index: x|job.yaml:3:3: --agent-index-value: "x" is not one of
rocpd2csv|truncate_kernels: true|job.yaml:3:3: truncate_kernels: conflicting value: the command line has another --kernel-names
rocpd2csv|mangled_kernels: true\n  truncate_kernels: true|job.yaml:4:3: truncate_kernels: conflicting value
rocmerge|agent_index: x|job.yaml:3:3: --agent-index-value: "x" is not one of
rocstats|summary: true\n  stats: true\n  output_file: "x%arg99%"\n  summary_output_file: ""\n  summary_units: day|job.yaml:7:3: --summary-units: "day" is not one of
END
    # one that fails at its work does not keep the others from being done
    touch file
    printf 'jobs:\n- output_directory: file/x\n- output_file: z\n  output_directory: e\n' >job.yaml
    try 4 rocpd2csv --job job.yaml "$db"
    [ -s e/pass_2/z_kernel_trace.csv ]
}

@test "output_format: json is JSON of rocprofv3" {
    needs jq
    printf 'output_format: [json, csv]\noutput_directory: o\noutput_file: run\n' >job.yaml
    try 0 rtg2json -v --job job.yaml "$db"
    says "job.yaml: output_format: csv is written by rocpd2csv"
    jq -e '."rocprofiler-sdk-tool"[0].buffer_records.kernel_dispatch | length > 0' o/run_results.json
    diff <(rocstats kernels --format csv "$db") <(rocstats kernels --format csv o/run_results.json)
    cmp o/run_results.json <(rtg2json -q --layout rocprofv3 -o - "$db")
    # the command line may say another layout
    try 0 rtg2json --layout trace --job job.yaml -q "$db"
    jq -e '.traceEvents | length > 0' o/run_results.json
    # several jobs, text of tracers as well
    printf 'jobs:\n- output_format: JSON\n- output_format: json\n  output_file: b\n' >two.yaml
    try 0 rtg2json --job two.yaml -q "$db"
    jq -e '."rocprofiler-sdk-tool"' pass_1/out_results.json pass_2/b_results.json >/dev/null
}

# Each key that rocprofv3 documents: + is honoured by the tool with the value, 0 has no effect here,
# - matters for collection only, which -v says.
job_keys() {
    local key
    cat <<'END'
+ rocpd2csv output_file x
+ rocpd2csv output_directory o
+ rocpd2csv output_format csv
+ rocpd2csv output_config true
+ rocpd2csv kernel_include_regex Cijk
+ rocpd2csv kernel_exclude_regex Cijk
+ rocpd2csv kernel_iteration_range "[1-2]"
+ rocpd2csv collection_period "0:1:1"
+ rocpd2csv collection_period_unit sec
+ rocpd2csv mangled_kernels true
+ rocpd2csv truncate_kernels true
+ rocpd2csv kernel_rename true
+ rocpd2csv agent_index absolute
+ rocpd2pftrace group_by_queue true
+ rocstats stats true
+ rocstats summary true
+ rocstats summary_per_domain true
+ rocstats summary_groups KERNEL_DISPATCH
+ rocstats summary_output_file s
+ rocstats summary_units usec
0 rocpd2csv minimum_output_data 5
0 rocpd2csv minimum-output-data 5
0 rocpd2csv perfetto_backend inprocess
0 rocpd2csv perfetto_buffer_fill_policy discard
0 rocpd2csv perfetto_buffer_size 64
0 rocpd2csv perfetto_shmem_size_hint 64
END
    for key in pmc pmc_groups pmc_group_interval pmc_raw hip_trace hip_runtime_trace \
        hip_compiler_trace hsa_trace hsa_core_trace hsa_amd_trace hsa_image_trace \
        hsa_finalizer_trace hsa_finalize_trace marker_trace kernel_trace memory_copy_trace \
        memory_allocation_trace scratch_memory_trace rccl_trace rocdecode_trace rocjpeg_trace \
        kokkos_trace sys_trace runtime_trace kfd_trace ompt_trace hip_graph_trace hip_event_trace \
        rocshmem_trace hipfile_trace list_avail list_metrics log_level preload extra_counters \
        pc_sampling_beta_enabled pc_sampling_unit pc_sampling_method pc_sampling_interval \
        disable_signal_handlers att att_target_cu att_shader_engine_mask att_simd_select \
        att_buffer_size att_serialize_all att_perfcounters att_perfcounter_ctrl att_activity \
        att_library_path att_parse att_gpu_index att_consecutive_kernels advanced_thread_trace \
        spm replay_mode selected_regions profile_mpi_ranks pid; do
        echo "- rocpd2csv $key 1"
    done
}

@test "every key of rocprofv3 is honoured, said, or an error with its place" {
    while read -r how tool key value; do
        printf 'jobs:\n  - %s: %s\n' "$key" "$value" >job.yaml
        printf '{"jobs": [\n {"%s": %s}]}' "$key" "$(jq -c . <<<"$value" 2>/dev/null || echo "\"$value\"")" >job.json
        for file in job.yaml job.json; do
            rm -rf o
            run --separate-stderr "$tool" -v -d o --job $file "$db"
            [ "$status" -le 1 ] || [ "$key" = output_directory ] || fail "$key: $status $stderr"
            said=${key//-/_}
            case $how in
            -) [[ "$stderr" == *"$file: $said: only for collection"* ]] || fail "$key: $stderr" ;;
            0) [[ "$stderr" == *"$file: $said: without effect"* ]] || fail "$key: $stderr" ;;
            +) [[ "$stderr" != *": $said: not for"* && "$stderr" != *"only for collection"* &&
                "$stderr" != *"without effect"* ]] || fail "$key: $stderr" ;;
            esac
            # once, and nothing of collection without -v
            run --separate-stderr "$tool" -d o --job $file "$db"
            [[ "$stderr" != *"only for collection"* ]] || fail "$key: said without -v"
        done
        printf 'jobs:\n  - %sx: %s\n' "$key" "$value" >job.yaml
        try 2 "$tool" -d o --job job.yaml "$db"
        says "job.yaml:2:5: unknown key \"${key}x\""
        printf '{"jobs": [\n {"%sx": 1}]}' "$key" >job.json
        try 2 "$tool" -d o --job job.json "$db"
        says "job.json:2:3: unknown key \"${key}x\""
    done < <(job_keys)
}

@test "every key of the published schema is known" {
    needs jq
    needs "$SHARED/rocprofv3-json/rocprofv3_input_schema.json"
    for key in $(jq -r '.properties.jobs.items.properties | keys[]' "$SHARED/rocprofv3-json/rocprofv3_input_schema.json"); do
        job_keys | grep -q " ${key//-/[-_]} " || fail "$key is not in the list above"
    done
}

@test "keys in names: from a job file as from -o and -d, in both forms" {
    export X=a/b SLURM_JOB_ID=31 MPI_RANK=2 MPI_RANKID=2 ROCPROF_DATE_FORMAT=D ROCPROF_TIME_FORMAT=T
    for key in argv argt args tag arg0 arg1 hostname pid ppid pgid psid psize job rank size nid cwd \
        launch_date launch_time; do
        printf 'output_directory: o/%%%s%%\noutput_file: "f-{%s}"\n' $key $key >job.yaml
        printf '{"output_directory": "o/%%%s%%", "output_file": "f-{%s}"}' $key $key >job.json
        for file in job.yaml job.json; do
            rm -rf o p
            try 0 rocpd2csv -q --job $file --kinds kernel "$db"
            try 0 rocpd2csv -q -d "p/%$key%" -o "f-{$key}" --kinds kernel "$db"
            # the groups of two processes may differ
            diff <(cd o && find . -type f) <(cd p && find . -type f) ||
                [ $key = pgid ] || fail "$file $key"
            find o | grep -v '[%{}]' | grep -q 'f-..*_kernel_trace.csv' || fail "$key stands as it is"
        done
    done
    for key in '%env{X}%' '$ENV{X}' '$env{X}' '%q{X}'; do
        printf 'output_directory: o\noutput_file: "f-%s"\n' "$key" >job.yaml
        printf '{"output_directory": "o/%s", "output_file": "g"}' "$key" >job.json
        rm -rf o
        try 0 rocpd2csv -q --job job.yaml --kinds kernel "$db"
        [ -s o/f-a_b_kernel_trace.csv ] || fail "$key: $(ls o)"
        try 0 rocpd2csv -q --job job.json --kinds kernel "$db"
        [ -s o/a_b/g_kernel_trace.csv ] || fail "$key: $(ls o)"
    done
    # what has no value would be a file or folder that nobody meant
    for key in '%env{NOT_SET}%' '$ENV{NOT_SET}' '%q{NOT_SET}' '%arg99%'; do
        printf 'output_file: "e%sf"\n' "$key" >job.yaml
        try 2 rocpd2csv -q --job job.yaml --kinds kernel "$db"
        says "--output-file: $key"
    done
}

@test "what is wrong with a file is said with line and column" {
    while IFS='|' read -r ending text message; do
        printf '%b' "$text" >"job.$ending"
        try 2 rocpd2csv --job "job.$ending" "$db"
        says "job.$ending$message"
    done <<'END'
yaml|jobs:\n  - output_fil: x\n|:2:5: unknown key "output_fil"; did you mean output_file?
yaml|jobs:\n  - zzzzzzzz: x\n|:2:5: unknown key "zzzzzzzz"
yaml|jobs: []\n|: there is no job in it
yaml||: there is no job in it
yaml|jobs:\n  - stats: true\nstats: true\n|:3:1: jobs stands alone
yaml|stats: true\njobs:\n  - stats: true\n|:2:1: jobs stands alone
yaml|jobs:\n  - stats: maybe\n|:2:5: stats: "maybe" is neither true nor false
yaml|jobs:\n  - stats: true\n    stats: true\n|:3:5: stats stands twice, first in line 2
yaml|jobs:\n  - stats: {a: 1}\n|:2:12: stats is a value or a list of values
yaml|jobs:\n  - &a x\n|:2:5: a job is a list of keys with values
yaml|jobs: x\n|:1:7: jobs is a list
yaml|- a\n|:1:1: expected: jobs, or the keys of one job
yaml|output_file: *a\n|:1:14: aliases are not supported
yaml|jobs:\n  - output_file: [x, y]\n|:2:5: output_file has several values, it takes one
yaml|output_format: [csv, xml]\n|:1:1: output_format: "xml" is not one of csv|
yaml|truncate_kernels: 1\nmangled_kernels: 1\n|:2:1: mangled_kernels: conflicting value: truncate_kernels in line 1 says otherwise
yaml|collection_period: 5\n|:1:1: collection_period: "5" is not delay:duration:repeat
yaml|collection_period_unit: day\n|:1:1: collection_period_unit: "day" is not one of hour|
yaml|kernel_trace: true\n---\nkernel_trace: true\n|:2:1: a second document
yaml|a: [1\nb: 2\n|:1:1: unknown key "a"
yaml|pmc: [1\nkernel_trace: 2\n|:2:13: did not find expected
yaml|\xff\n|:1:1: 
yaml|rocprofiler-sdk:\n  counters: []\n|:1:1: this file defines counters, it holds no jobs
json|{"jobs": [{"stats": tru}]}|:1:12: stats: "tru" is neither
json|{"jobs": [{"stats": true}|:2:1: did not find expected
json|{"jobs": [{"output_file": "a\\u0000b"}]}|:1:27: a value has a NUL byte
txt|kernel: x\n|: there is no job in it
END
    try 2 rocpd2csv --job "$db" "$db"
    says "ends in none of .yaml, .yml, .json and .txt"
    try 3 rocpd2csv --job missing.yaml "$db"
    says "missing.yaml: no such file"
    mkdir folder.yaml
    try 3 rocpd2csv --job folder.yaml "$db"
    says "folder.yaml: a directory, not a file"
    # nothing was written
    [ ! -e rocpd-output-data ]
}

@test "the command line may say the same, but nothing else" {
    printf 'output_file: x\ntruncate_kernels: true\nkernel_rename: false\nkernel_include_regex: [a]\n' >job.yaml
    while read -r code options; do
        # shellcheck disable=SC2086
        try "$code" rocpd2csv -d d --job job.yaml $options "$db"
        [ "$code" -eq 0 ] || says "conflicting value: the command line has another --"
    done <<'END'
0
0 -o x
2 -o y
0 --kernel-names short
2 --kernel-names mangled
2 --kernel-names=display
2 --kernel-rename
0 --kernel-include a
2 --kernel-include b
2 --kernel-include a --kernel-include b
END
}

@test "keys without an option are said" {
    printf 'hip_trace: true\npmc: [A]\nsummary: true\nminimum_output_data: 5\nperfetto-backend: x\noutput_format: [json, csv, otf2]\n' >job.yaml
    try 0 rocpd2csv -v --job job.yaml "$db"
    says "job.yaml: hip_trace, pmc: only for collection"
    says "job.yaml: summary: not for rocpd2csv"
    says "job.yaml: minimum_output_data, perfetto_backend: without effect"
    says "job.yaml: output_format: json is written by rtg2json, otf2 by rocpd2otf2"
    try 0 rocpd2csv --job job.yaml "$db"
    [[ "$stderr" != *hip_trace* ]]
}

@test "rocprofv3's own input files" {
    needs "$SHARED/rocprofv3-json/inputs"
    export ARBITRARY_ENV_VARIABLE=value
    for file in "$SHARED"/rocprofv3-json/inputs/*; do
        case $file in *extra_counters.yaml) continue ;; esac # defines counters
        for tool in rocpd2csv rocstats; do
            run "$tool" -q --job "$file" "$db"
            [ "$status" -eq 0 ] || fail "$tool $file"
        done
    done
    [ -s "@CMAKE_CURRENT_BINARY_DIR@/value/out_summary.txt" ]
}

# Kernel dispatches as "name start end".
kernels() { # option...
    rocpd2csv -q -o - --kinds kernel "$@" | tail -n +2 | grep -o '"[^"]*"\(,[0-9]*\)*$\|"[^"]*",.*' |
        sed 's/^.*\("[^"]*"\),[0-9]*,\([0-9]*\),\([0-9]*\),.*$/\1 \2 \3/'
}

@test "--kernel-iterations: the n-th dispatches of each name, for every -j" {
    for input in "$db" "$FIXTURES/sys.db $FIXTURES/rank0.db $FIXTURES/rank1.db"; do
        # shellcheck disable=SC2086
        sqlite=$(for i in $input; do
            s=$(suffix "$i")
            sqlite3 -readonly "$i" "SELECT count(*) FROM (SELECT row_number() OVER (PARTITION BY
                k.display_name, d.pid ORDER BY d.start, d.id) AS n FROM \"rocpd_kernel_dispatch$s\" d
                JOIN \"rocpd_info_kernel_symbol$s\" k ON k.id = d.kernel_id) WHERE n IN (1, 3, 4)"
        done | awk '{ n += $1 } END { print n }')
        for j in 1 2 7; do
            # shellcheck disable=SC2086
            rocpd2csv -q -o - --kinds kernel -j$j --kernel-iterations '1,[3-4]' $input >"j$j"
            cmp j1 j$j
        done
        [ "$(tail -n +2 j1 | wc -l)" -eq "$sqlite" ] || fail "$sqlite dispatches"
        # together the iterations are everything, and other events pass
        # shellcheck disable=SC2086
        diff <(rocpd2csv -q -o - --kinds kernel $input | sort) \
            <(for r in 1-2 3 4-1000000; do
                rocpd2csv -q -o - --kinds kernel --kernel-iterations $r $input | tail -n +$((1 + (${r%-*} > 1)))
            done | sort)
        # shellcheck disable=SC2086
        diff <(rocpd2csv -q -o - --kinds hip $input) <(rocpd2csv -q -o - --kinds hip --kernel-iterations 1 $input)
    done
    for words in 0 a 3-1 "" 1-2-3 1- -1 18446744073709551616; do
        try 2 rocpd2csv --kernel-iterations "$words" "$db"
        says "--kernel-iterations: \"$words\""
    done
}

@test "counters share the fate of their dispatches" {
    for filter in "--kernel-iterations 1" "--kernel-iterations 2-3" "--kernel-include Cijk" "--kernel-exclude Cijk"; do
        # shellcheck disable=SC2086
        diff <(rocpd2csv -q -o - --kinds counter_collection $filter "$db" | awk -F, '{ print $3 }' | sort -u) \
            <(rocpd2csv -q -o - --kinds counter_collection "$db" >all
                rocpd2csv -q -o - --kinds kernel $filter "$db" | awk -F, 'NR > 1 { print $7 }' | sort -u >ids
                awk -F, 'NR == FNR { want[$1]; next } FNR == 1 || $3 in want { print $3 }' ids all | sort -u)
    done
}

@test "--period: windows from the first event on" {
    all=$(rocpd2csv -q -o - --kinds kernel "$db" | tail -n +2 | wc -l)
    [ "$(rocpd2csv -q -o - --kinds kernel --period 0:1h "$db" | tail -n +2 | wc -l)" -eq "$all" ]
    [ "$(rocpd2csv -q -o - --kinds kernel --period 0:1h:0 "$db" | tail -n +2 | wc -l)" -eq "$all" ]
    # one period is one window
    for mode in "--inclusive True" --overlap --clip; do
        # shellcheck disable=SC2086
        diff <(rocpd2csv -q -o - --kinds kernel $mode --start +200us --end +500us "$db") \
            <(rocpd2csv -q -o - --kinds kernel $mode --period 200us:300us "$db")
        # and two are two
        # shellcheck disable=SC2086
        diff <(for w in "--start +100us --end +200us" "--start +300us --end +400us"; do
            rocpd2csv -q -o - --kinds kernel --min-duration 0 $w "$db" | tail -n +2
        done | sort) <(rocpd2csv -q -o - --kinds kernel --period 100us:100us:2 "$db" | tail -n +2 | sort)
    done
    # memory is counted, and rows are clipped, at the edges of the periods
    for mode in "--inclusive True" --overlap --clip; do
        # shellcheck disable=SC2086
        diff <(rocstats memory --table all --format csv $mode --start +20us --end +60us "$db") \
            <(rocstats memory --table all --format csv $mode --period 20us:40us "$db")
        # shellcheck disable=SC2086
        rocmerge -q -d one -o m $mode --start +200us --end +500us "$db"
        # shellcheck disable=SC2086
        rocmerge -q -d two -o m $mode --period 200us:300us "$db"
        diff <(sqlite3 -readonly one/m.db .dump) <(sqlite3 -readonly two/m.db .dump)
        # shellcheck disable=SC2086
        rocmerge -q -d three -o m $mode --period 100us:100us:2 "$db"
        # shellcheck disable=SC2086
        diff <(rocpd2csv -q -o - --kinds kernel $mode --period 100us:100us:2 "$db" | cut -d, -f1-13 | sort) \
            <(rocpd2csv -q -o - --kinds kernel three/m.db | cut -d, -f1-13 | sort)
    done
    # allocations by agent: of two periods as of two windows
    sums() { awk -F, 'FNR == 1 { if (/allocations/) for (i = 1; i <= NF; i++) at[$i] = i; go = /allocations/; next }
        /^$/ { go = 0 } go { n[$2] += $at["allocations"]; b[$2] += $at["allocated_bytes"] } END { for (a in n) if (n[a]) print a, n[a], b[a] }' "$@" | sort; }
    for w in "--start +0us --end +60us" "--start +100us --end +200us"; do
        # shellcheck disable=SC2086
        rocstats memory --table all --format csv $w "$db" >"w${w//[^0-9]/}"
    done
    rocstats memory --table all --format csv --period 0us:60us --period 40us:100us "$db" >periods
    [ "$(sums periods | wc -l)" -ge 2 ]
    diff <(sums w*) <(sums periods)
    while IFS='|' read -r words message; do
        # shellcheck disable=SC2086
        try 2 rocpd2csv $words "$db"
        says "$message"
    done <<'END'
--period x|--period: "x": DELAY:DURATION
--period 1:0|--period: "1:0": a period needs a duration
--period 1:2:x|"x" is not a number of repetitions
--period 1:2:3:4|"3:4" is not a number of repetitions
--period -1:2|--period: "-1": a duration is
--period 0:1:0 --period 1:1|"1:1" never begins: the one before it does not end
END
}

@test "--output-config: the values of all options" {
    needs jq
    printf 'output_file: x\noutput_directory: o/%%pid%%\noutput_config: true\ntruncate_kernels: true\n' >job.yaml
    try 0 rocpd2csv -j2 --job job.yaml "$db"
    config=$(echo o/*/x_config.json)
    jq '."rocprofiler-sdk-tool"[0].metadata' "$config" >about
    [ "$(jq -r '.build_spec.tool, (.config | .kernel_names, .jobs, .job, .output_config)' about | xargs)" = \
        "rocpd2csv short 2 job.yaml true" ]
    [ "$(jq -r '.config | .input[0], .output_file, .output_path' about | xargs)" = "$db x $(dirname "$config")" ]
    [ "$(jq -c '.config | [.csv_output, .json_output, .truncate, .demangle, .kernel_filter_include, .kernel_trace]' about)" = \
        '[true,false,true,true,".*",true]' ]
    # the process is that of the trace
    s=$(suffix "$db")
    [ "$(jq -r '.pid, .init_time, .fini_time' about | xargs)" = \
        "$(sqlite3 -readonly -separator ' ' "$db" "SELECT pid, init, fini FROM \"rocpd_info_process$s\" LIMIT 1")" ]
    [ "$(jq -r '.command | join(" ")' about)" = \
        "$(sqlite3 -readonly "$db" "SELECT command FROM \"rocpd_info_process$s\" LIMIT 1")" ]
    try 0 rocpd2csv -q --output-config -o r -d . --kernel-include 'a b' --kernel-include Cijk --kinds kernel "$db"
    [ "$(jq -r '."rocprofiler-sdk-tool"[0].metadata.config.kernel_filter_include' r_config.json)" = "(a b)|(Cijk)" ]
    try 0 rocpd2pftrace --output-config -o y.pftrace "$db"
    [ -s y_config.json ]
    try 0 rocstats --output-config -o z.txt "$db"
    [ "$(jq -r '."rocprofiler-sdk-tool"[0].metadata.build_spec.tool' z_config.json)" = rocstats ]
    try 0 rocstats --output-config "$db"
    [ -s out_config.json ]
    try 4 rocstats --output-config -o /dev/full "$db"
}

@test "rocstats --summary: tables, units, files" {
    rocstats --format table --summary-groups 'KERNEL_DISPATCH|MEMORY_COPY' "$db" >all
    rocstats --summary --summary-per-domain --summary-groups 'KERNEL_DISPATCH|MEMORY_COPY' "$db" | cmp all -
    titles() { grep -o 'ROCPROFV3.*' | tr '\n' ';'; }
    [ "$(rocstats --summary "$db" | titles)" = "ROCPROFV3 SUMMARY:;" ]
    [ "$(rocstats --summary --summary-groups HIP_API "$db" | titles)" = "ROCPROFV3 HIP_API SUMMARY:;ROCPROFV3 SUMMARY:;" ]
    [ "$(rocstats --summary-per-domain "$db" | titles | grep -c 'ROCPROFV3 SUMMARY')" -eq 0 ]
    # with four blanks before each line, as rocprofv3 prints it
    rocstats --summary --summary-output-file stdout "$db" | sed 's/^    //' | cmp - <(rocstats --summary "$db")
    rocstats --summary --summary-output-file stderr "$db" 2>&1 >/dev/null | cmp - <(rocstats --summary --summary-output-file stdout "$db")
    try 0 rocstats --summary --summary-output-file 's-%arg0%' -o p -d o "$db"
    cmp o/p_s-*.txt <(rocstats --summary "$db")
    try 0 rocstats --summary --summary-output-file s.txt "$db"
    cmp s.txt <(rocstats --summary "$db")
    for unit in usec:1000 msec:1000000 sec:1000000000; do
        rocstats --summary --summary-units ${unit%:*} "$db" >other
        grep -q "DURATION (${unit%:*}) " other
        diff <(rocstats --summary "$db" | awk -F'|' -v d=${unit#*:} 'NF > 9 && $5 + 0 { printf "%s %.12g %.12g\n", $2, $5 / d, $9 / d }') \
            <(awk -F'|' 'NF > 9 && $5 + 0 { printf "%s %.12g %.12g\n", $2, $5, $9 }' other)
    done
    try 2 rocstats kernels --summary "$db"
    says "--summary is a report of its own"
    try 2 rocstats --summary --format json "$db"
    says "--summary is a report of its own"
    try 2 rocstats compare --summary "$db" "$db"
    says "compare has no --summary"
}
