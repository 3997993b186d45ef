#!/usr/bin/env bats
# The command line itself: help, usage errors, manual pages, completion.

load helper

help_options() { # tool [WHAT]
    "$1" --help="${2:-all}" | sed -n 's/^  *\(-[A-Za-z], \)\{0,1\}--\([a-z-]*\).*/--\2/p' | sort
}

help_letters() { # tool [WHAT]
    "$1" --help="${2:-all}" | sed -n 's/^  \(-[A-Za-z]\), --.*/\1/p' | sort
}

@test "--help goes to stdout, exit code 0" {
    for tool in "${PROGRAMS[@]}"; do
        try 0 "$tool" --help
        [ -z "$stderr" ]
        [[ "$output" == "Usage: $tool "* ]]
        [[ "$output" == *Examples:* || $tool == rocline ]]
        try 0 "$tool" -h
    done
}

@test "no line of --help is longer than 100 columns" {
    for tool in "${PROGRAMS[@]}"; do
        [ "$("$tool" --help | awk 'length > 100' | wc -l)" -eq 0 ]
    done
}

@test "--version names the tool, the version and the libraries" {
    version=$(sed -n 's/^#define ROCLINE_VERSION "\(.*\)"/\1/p' "$TOP/lib/rocline.h")
    for tool in "${PROGRAMS[@]}"; do
        try 0 "$tool" --version
        [[ "$output" == "$tool, rocline $version ("*sqlite* ]]
    done
}

@test "help that cannot be written is an output error" {
    for tool in "${PROGRAMS[@]}"; do
        run bash -c "$tool --help > /dev/full"
        [ "$status" -eq 4 ]
        run bash -c "$tool --version >&-"
        [ "$status" -eq 4 ]
    done
}

@test "usage errors: exit code 2, what is wrong, where help is" {
    while read -r text args; do
        for tool in "${PROGRAMS[@]}"; do
            # rtg2json does without inputs, rpt prints help without words, as the scripts do; rpt
            # takes operands only.
            case $tool:$text:$args in
            rtg2json:no_input_is_given:* | rpt:no_input_is_given: | rpt:*--input*) continue ;;
            rocrec:* | rocline:*) continue ;; # take a command, and other options
            esac
            # shellcheck disable=SC2086
            try 2 "$tool" $args
            [ "${#stderr_lines[@]}" -eq 2 ] || fail "$args: two lines"
            [[ "$stderr" == "$tool: "*"Try '$tool --help'." ]] || fail "$args"
            says "${text//_/ }"
        done
    done <<'END'
no_input_is_given
no_input_is_given -v
unknown_option_--inptu;_did_you_mean_--input? --inptu x
unknown_option_--zzzzz --zzzzz x
unknown_option_-y -vy x
--in_can_be_--input_or_--include --in x
--jobs:_"x"_is_not_a_number -j x y
--jobs:_"-1"_is_not_a_number -j -1 y
--jobs:_"9999"_is_not_a_number --jobs=9999 y
--memory:_"3x"_is_not_a_size --memory 3x y
--memory:_"-1"_is_not_a_size --memory -1 y
--memory:_"99999999999g"_is_not_a_size --memory 99999999999g y
--clip_takes_no_value --clip=1 y
-o_needs_a_value x -o
--start_needs_a_value --start --end 5 x
--kernel-names:_"long"_is_not_one_of --kernel-names long x
--completion:_"tcsh"_is_not_one_of --completion tcsh
--completion:_"bsh"_is_not_one_of_bash|zsh|fish;_did_you_mean_bash? --completion bsh
END
}

@test "usage errors of rpt and rtg2json" {
    try 2 rpt --kernel x
    says "--kernel can be --kernel-rename or --kernel-iterations"
    try 2 rpt x -o
    says "-o needs a value"
    try 2 rtg2json -z 10 x
    says '--compress: "10" is not a number from 0 to 9 or one of fast|small'
    try 2 rtg2json -q --rpt x
    says "--rpt must be the first option"
}

@test "an input is never the output" {
    cp "$TOP/tests/fixtures/rtg/profile.txt" p.txt
    cp "$TOP/tests/fixtures/rtg/calls.txt" c.txt
    ln p.txt q.txt
    for words in "rtg2json -o q.txt" "rtg2json --layout trace -o q.txt" "rtg2json -o c.txt" \
        "rtg2json --layout trace -o c.txt" "rpt -o q.txt" "rpt -g q.txt"; do
        # shellcheck disable=SC2086
        try 2 $words p.txt c.txt
        says "is an input: name another output"
    done
    cmp p.txt "$TOP/tests/fixtures/rtg/profile.txt"
    cmp c.txt "$TOP/tests/fixtures/rtg/calls.txt"
}

@test "levels of compression are from 0 to 9, fast and small" {
    for tool in "${TOOLS[@]}"; do
        try 2 "$tool" -z 10 x
        says '--compress: "10" is not a number from 0 to 9 or one of fast|small'
        try 2 "$tool" -z smal x
        says '--compress: "smal" is not a number from 0 to 9 or one of fast|small'
    done
    for level in fast small; do
        rocpd2csv -q -z $level -d $level "$FIXTURES/rank0.db"
        rtg2json -q -z $level -o $level.json "$FIXTURES/rank0.db"
        rocline export -q -f jsonl -z $level -d $level-lines "$FIXTURES/rank0.db"
        rocline export -q -f parquet -z $level -d $level-parquet "$FIXTURES/rank0.db"
        gzip -t $level/*.csv.gz $level.json.gz $level-lines/*.gz
    done
    [ "$(cat fast/out_kernel_trace.csv.gz | gzip -d)" = "$(gzip -dc small/out_kernel_trace.csv.gz)" ]
    [ "$(stat -c %s small/out_hip_api_trace.csv.gz)" -lt "$(stat -c %s fast/out_hip_api_trace.csv.gz)" ]
}

@test "-o - of rocpd2csv needs one kind" {
    try 2 rocpd2csv -o - x.db
    says "one kind of file"
    try 2 rocpd2csv -o - --kinds kernel,hip_api x.db
    says "one kind of file"
}

@test "options can be shortened and joined" {
    needs "$FIXTURES/schema-3.0.0.db"
    try 0 rocpd2csv -qj2 --kernel-na=short --output-p d -okk -z9 -i "$FIXTURES/schema-3.0.0.db"
    [ -s d/kk_kernel_trace.csv.gz ]
}

@test "-i takes all words up to the next option, and -- ends the options" {
    try 3 rocpd2csv -i missing-1.db missing-2.db -q
    says missing-1.db
    try 3 rocpd2csv -q -- --odd-name.db
    says --odd-name.db
}

# What a page says of options, or of letters.
page_options() { # page...
    cat "${@/#/$BUILD/man/}" | grep '^\.It' | grep -o 'Fl Fl [a-z-]*' | sed 's/Fl Fl /--/' | sort -u
}

page_letters() {
    cat "${@/#/$BUILD/man/}" | grep '^\.It' | sed 's/Fl Fl [a-z-]*//g' | grep -o 'Fl [A-Za-z] ' |
        sed 's/Fl \(.\) /-\1/' | sort -u
}

# A tool's own options are in its page, or in those of its reports, and those that tools share in rocline(7). Pages
# may also have what is only accepted.
@test "every option is in the manual page and the other way round" {
    local pages what
    for tool in "${PROGRAMS[@]}"; do
        pages=("$tool.1")
        [ "$tool" != rocstats ] || pages=(rocstats.1 $(cd "$BUILD/man" && echo rocstats-*.1))
        for what in options letters; do
            help_$what "$tool" | sort -u >help
            page_$what "${pages[@]}" >page
            page_$what rocline.7 | sort -mu page - | comm -23 help - >missing
            [ ! -s missing ] || fail "neither ${pages[*]} nor rocline.7 has: $(<missing)"
            help_$what "$tool" aliases | sort -u - help | comm -23 page - >missing
            [ ! -s missing ] || fail "${pages[*]} have, but $tool has not: $(<missing)"
        done
    done
}

@test "options that are in --help once are there once" {
    for tool in "${PROGRAMS[@]}"; do
        [ -z "$(help_options "$tool" | uniq -d)" ]
        [ -z "$(help_letters "$tool" | uniq -d)" ]
    done
}

# All programs and commands, with what they print of themselves.
all_help() { # WHAT
    local tool command
    for tool in "${PROGRAMS[@]}" rocpd; do "$tool" --help="$1"; done
    for command in convert stats compare doctor view merge csv pftrace otf2 json rpt query export info check \
        record show correlate schema recipes; do rocline "$command" --help="$1"; done
    for command in convert merge package query summary; do rocpd "$command" --help="$1"; done
}

@test "all tools together have at most 100 options, and the first help is a screen" {
    local what
    for what in first all; do
        all_help $what | grep -oE '(^|[ ,(])--[a-z][a-z0-9-]*' | grep -oE '\-\-.*' | sort -u >options
        [ "$(wc -l <options)" -le 100 ] || fail "$what: $(wc -l <options)"
    done
    local reports
    reports=$(rocstats --help | sed -n '/^Reports/,/^$/p' | wc -l)
    [ "$(rocstats --help | wc -l)" -le $((reports + 40)) ]
    [ "$(rocline help | wc -l)" -le 40 ]
}

@test "help of a group, and of what else is accepted" {
    try 0 rocpd2csv --help=filters
    [[ "$output" == "Options of rocpd2csv:"*"--min-duration TIME"* && "$output" != *--jobs* ]]
    try 2 rocpd2csv --help=filter
    says '--help: there is no group of options "filter"; --help lists them'
    try 0 rocstats --help=gaps
    try 0 rocpd2csv --help=aliases
    [[ "$output" == *"--step "*"the same as --steps"*"--perfetto-buffer-size KB"*"without effect"* ]]
    try 0 rocstats --help
    [[ "$output" == *"--help=all explains all options"* ]]
}

@test "other spellings, old ones and AMD's, do the same" {
    local db=$FIXTURES/rank0.db old new
    while IFS='|' read -r old new; do
        # shellcheck disable=SC2086 # words
        diff <(rocstats $old "$db") <(rocstats $new "$db") || fail "$old"
    done <<'END'
kernels --step 26|kernels --steps 26
kernels --by-rank --by-agent|kernels --by rank,agent
kernels --kinds kernel|kernels --include kernel
domains --region-categories hip|domains --domain hip
kernels --kernel-include flash|kernels --name kernel:flash
kernels --kernel-exclude flash|kernels --exclude-name kernel:flash
END
    diff <(rtg2json -q --layout kineto -o - "$db") <(rtg2json -q --style kineto -o - "$db")
}

@test "a name may be of one kind of event" {
    local db=$FIXTURES/rank0.db
    [ "$(rocstats copies --name kernel:flash --format csv "$db")" = "$(rocstats copies --format csv "$db")" ]
    [ "$(rocstats copies --name copy:HOST --format csv "$db" | wc -l)" -lt "$(rocstats copies --format csv "$db" | wc -l)" ]
    [ "$(rocstats kernels --exclude-name copy:. --format csv "$db")" = "$(rocstats kernels --format csv "$db")" ]
    try 0 rocstats kernels -q --name kernel:flash --format csv "$db"
    [ "${#lines[@]}" -eq 2 ]
    try 2 rocstats kernels --name kernel: "$db"
    says 'an extended regular expression is needed'
    try 0 rocstats kernels --exclude-name zzzz "$db"
    says '--exclude-name: no event has a matching name'
}

@test "a wrong word: the nearest right one, of this command or another" {
    while IFS='|' read -r words text; do
        # shellcheck disable=SC2086 # words
        try 2 ${words/rank0.db/$FIXTURES/rank0.db}
        says "$text"
    done <<'END'
rocline stats --codec zstd x.db|unknown option --codec; rocline export has it
rocline convert -f rocpd x.db|rocline merge writes it
rocline convert -f kineto x.db|rocline json --style writes it
rocstats --format pftrace x.db|rocline convert -f writes it
rocstats convert x.db|"convert" is a command of its own: rocline convert
rocpd2csv stats x.db|"stats" is a command of its own: rocline stats
rocline kernels x.db|"kernels" is a report: rocline stats kernels
rocstats kernels --steps solve rank0.db|--step-markers REGEX says which markers are steps
rocstats kernels --min-gap 5us x.db|--min-gap is only for the report gaps
rocstats kernels --fail-over 5 x.db|--fail-over is only for compare
END
}

@test "the ending of -o says the form, unless --format does" {
    local db=$FIXTURES/rank0.db form
    for form in csv tsv json md html; do
        rocstats kernels -q -o x.$form "$db"
        rocstats kernels -q --format $form -o y "$db"
        cmp x.$form y || fail $form
    done
    rocstats kernels -q -o x.json.gz "$db"
    gzip -dc x.json.gz | cmp - x.json
    rocstats kernels -q -o x.txt "$db"
    cmp x.txt <(rocstats kernels -q "$db")
    rocstats kernels -q -o z.csv --format json "$db"
    jq -e .tables z.csv >/dev/null
    rocline info -q -o i.json "$db"
    jq -e '.command == "info"' i.json >/dev/null
    rocline query -q -o q.csv 'select 1 as a' "$db"
    [ "$(cat q.csv)" = $'a\n1' ] || [ "$(cat q.csv)" = $'"a"\n1' ]
    rocline export -q -d e -o x.jsonl --kinds kernel "$db"
    [ -s e/x_kernel.jsonl ]
}

@test "-o - with the one kind that --include keeps" {
    cmp <(rocpd2csv -q -o - --include kernel "$FIXTURES/rank0.db") <(rocpd2csv -q -o - --kinds kernel "$FIXTURES/rank0.db")
    cmp <(rocline export -q -f arrows -o - --include kernel "$FIXTURES/rank0.db") \
        <(rocline export -q -f arrows -o - --kinds kernel "$FIXTURES/rank0.db")
}

@test "every fault of the library is in rocline(7)" {
    grep -o '^ *\[ROCL_FAULT_[A-Z_]*\] = {"[^"]*"' "$TOP"/lib/model/*.c | sed 's/.*{"//; s/"//' >texts
    [ "$(wc -l <texts)" -gt 10 ]
    while read -r text; do
        grep -q "^\.It $text$" "$BUILD/man/rocline.7" || { echo "missing: $text"; false; }
    done <texts
}

@test "manual pages are clean" {
    needs mandoc
    mandoc -Tlint -Wwarning "$BUILD"/man/*
}

@test "bash completion offers every option" {
    for tool in "${PROGRAMS[@]}"; do
        "$tool" --completion bash >completion
        bash -n completion
        bash -c ". ./completion; COMP_WORDS=($tool --) COMP_CWORD=1; _$tool
                 printf '%s\n' \"\${COMPREPLY[@]}\"" | sort >offered
        diff <(help_options "$tool") offered
    done
}

@test "bash completion offers the values of an option" {
    rocpd2csv --completion bash >completion
    for words in "--style ro" "--style = ro"; do
        run bash -c ". ./completion; COMP_WORDS=(rocpd2csv $words); COMP_CWORD=\$((\${#COMP_WORDS[@]} - 1))
                     _rocpd2csv; echo \${COMPREPLY[@]}"
        [ "$output" = "rocpd-1.0 rocpd-1.1 rocprofv3 rocprof" ] || fail "$words"
    done
}

# What is offered after these words, the last of which is being written.
offered() { # tool word...
    local tool=$1
    "$tool" --completion bash >completion
    shift
    bash -c '. ./completion; tool=$1; shift; COMP_WORDS=("$tool" "$@"); COMP_CWORD=$#
             "_$tool"; echo "${COMPREPLY[@]}"' - "$tool" "$@"
}

@test "bash completion offers words of lists, reports, truth" {
    [ "$(offered rocpd2csv --kinds ker)" = kernel ]
    [ "$(offered rocpd2csv --kinds = ker)" = kernel ]
    [ "$(offered rocpd2csv --kinds kernel,memory_c)" = kernel,memory_copy ]
    [ "$(offered rocstats --include ker)" = "kernel kernel_dispatch" ]
    [ "$(offered rocstats --exclude hip,hs)" = "hip,hsa hip,hsa_core_api hip,hsa_amd_ext_api hip,hsa_image_ext_api hip,hsa_finalize_ext_api hip,hsa_api" ]
    [ "$(offered rocstats ker)" = kernels ]
    [ "$(offered rocstats kernels overl)" = overlap ]
    [ "$(offered rocstats --domain mark)" = markers ]
    [ "$(offered rocstats --domain hip,ma)" = hip,markers ]
    [ "$(offered rocstats --by rank,ag)" = rank,agent ]
    [ "$(offered rocrec -u ro)" = roctx ]
    [ "$(offered rocrec --use hip,h)" = "hip,hip hip,hsa" ]
    touch keras.db
    [ "$(offered rocstats ker)" = "kernels keras.db" ]
    # Everything that is offered is taken.
    for word in $(offered rocstats --include ""); do
        run rocstats --include "$word" "$FIXTURES/schema-3.0.0.db"
        [ "$status" -eq 0 ] || fail "$word"
    done
    for word in $(offered rocstats --domain ""); do
        run rocstats --table domains --domain "$word" "$FIXTURES/schema-3.0.0.db"
        [ "$status" -eq 0 ] || fail "$word"
    done
    for style in rocpd-1.0 rocpd-1.1 rocprofv3 rocprof; do
        for word in $(offered rocpd2csv --kinds ""); do
            run rocpd2csv -d out --style $style --kinds "$word" "$FIXTURES/schema-3.0.0.db"
            [ "$status" -eq 0 ] || [[ "$output" == *"choose from"* ]] || fail "$word"
        done
    done
}

@test "zsh completion names every option" {
    for tool in "${PROGRAMS[@]}"; do
        "$tool" --completion zsh >completion
        [ "$(head -1 completion)" = "#compdef $tool" ]
        help_options "$tool" | while read -r option; do
            grep -q -e "$option" completion
        done
        if command -v zsh >/dev/null; then
            zsh -n completion
        fi
    done
}

@test "AMD's options without a meaning here are said once" {
    needs "$FIXTURES/schema-3.0.0.db"
    try 0 rocpd2pftrace -o t.pftrace --perfetto-buffer-size 1024 --perfetto-backend system \
        --perfetto-buffer-size=4 --perfetto-buffer-fill-policy ring_buffer \
        --perfetto-shmem-size-hint 64 --automerge-limit 8 "$FIXTURES/schema-3.0.0.db"
    one_line rocpd2pftrace
    says "--perfetto-buffer-size, --perfetto-backend, --perfetto-buffer-fill-policy"
    try 2 rocpd2pftrace -o t.pftrace --perfetto-backend other x.db
    says "is not one of inprocess|system"
    local option value
    for option in perfetto-buffer-size perfetto-shmem-size-hint automerge-limit; do
        for value in x 4k 1.5 '' -1; do
            try 2 rocpd2pftrace -o t.pftrace "--$option=$value" x.db
            says "--$option: \"$value\" is not a number from 0 to"
        done
    done
}

# However it is named, and by whatever the output is called: an input is as it was.
@test "no output takes the place of a file that is read" {
    local line sum
    mkdir in
    cp "$FIXTURES/rank0.db" in/a.db
    cp "$FIXTURES/rank0.db" zz_kernel_stats.csv
    cp "$FIXTURES/rank0.db" listed.db
    rocpd2csv -q -d . -o x "$FIXTURES/rank0.db"
    find . -name 'x_*' ! -name x_kernel_trace.csv ! -name x_agent_info.csv -delete
    ln -s x_kernel_trace.csv y_kernel_trace.csv
    ln in/a.db hard.db
    rocmerge -q --package -d j listed.db
    sum=$(find . -type f | sort | xargs md5sum)
    while read -r line; do
        # shellcheck disable=SC2086 # words
        eval "run --separate-stderr $line"
        [ "$status" -eq 2 ] || fail "$line: exit code $status: $stderr"
        [[ $stderr == *" is an input: name another output"* ]] || fail "$line: $stderr"
        [ "$(find . -type f | sort | xargs md5sum)" = "$sum" ] || fail "$line: $(find . -type f)"
    done <<'END'
rocpd2csv -d . -o x x_kernel_trace.csv
rocpd2csv -d . -o y x_kernel_trace.csv
rocpd2csv --team 2 -d . -o x x_kernel_trace.csv
rocline convert -f csv -d . -o x --start 50% x_kernel_trace.csv
rocstats -o in/a.db in
rocstats -o in/a.db 'in/*.db'
rocstats -o hard.db in
rocpd2pftrace -d in -o a.db in
rtg2json -o in/a.db in
rocline query -o in/a.db 'select 1' in
rocline info -o in/a.db in
rocline view -o in/a.db in
rocline convert -f pftrace -d in -o a.db in
rocmerge -o in/a.db in
rocstats --style rocprofv3 -d . -o zz zz_kernel_stats.csv
rocstats -o listed.db j.rpdb
rocstats -o j.rpdb/index.yaml j.rpdb
rocstats compare -o in/a.db in -- listed.db
END
    # What is closed may be written again.
    rocpd2csv -q -d . -o z x_kernel_trace.csv
    rocpd2csv -q -d . -o z x_kernel_trace.csv
}
