#!/usr/bin/env bats
# rocline: its commands, and that they do what the tools do.

load helper

commands() {
    rocline --help | sed -n 's/^  rocline \([a-z0-9]*\) .*/\1/p'
}

@test "every command has a line of help, help of its own, and a line in the manual page" {
    [ "$(commands | wc -l)" -ge 10 ]
    for command in $(commands); do
        try 0 rocline help "$command"
        case $command in
            help) ;;
            *) [[ "$output" == "Usage: rocline $command "* ]] ;;
        esac
        [[ "$output" != *"Usage: roc"[a-km-z]* ]]
        grep -q "^\.It Cm $command " "$BUILD/man/rocline.1" || fail "$command is not in rocline(1)"
    done
}

@test "a command writes what its tool writes" {
    db=$FIXTURES/schema-3.0.0.db
    diff <(rocstats "$db") <(rocline stats "$db")
    diff <(rocstats compare "$db" "$db") <(rocline compare "$db" "$db")
    diff <(rocstats compare "$db" "$db") <(rocline stats compare "$db" "$db")
    diff <(rocstats doctor "$db") <(rocline doctor "$db")
    diff <(rocstats --format html --timeline=first "$db") <(rocline view -o - "$db")
    rocpd2csv -q -d tool "$db"
    rocline csv -q -d command "$db"
    diff -r tool command
    rocpd2pftrace -q -o tool.pftrace "$db"
    rocline pftrace -q -o command.pftrace "$db"
    cmp tool.pftrace command.pftrace
    rtg2json -q -o tool.json "$db"
    rocline json -q -o command.json "$db"
    cmp tool.json command.json
    rocmerge -q -o tool.db "$db"
    rocline merge -q -o command.db "$db"
    cmp tool.db command.db
    diff <(rpt "$db") <(rocline rpt "$db")
}

@test "a link of a tool's name is that tool" {
    db=$FIXTURES/schema-3.0.0.db
    for tool in rocstats rpt rocpd2csv rocpd2otf2 rocpd2pftrace rtg2json rocmerge rocrec rocpd; do
        ln -s "$BUILD/bin/rocline" "$tool"
        diff <("./$tool" --help) <("$BUILD/bin/$tool" --help)
        diff <("./$tool" --completion bash) <("$BUILD/bin/$tool" --completion bash)
    done
    diff <(./rocstats "$db") <(rocstats "$db")
    ln -s "$BUILD/bin/rocline" other
    diff <(./other stats "$db") <(rocline stats "$db")
}

@test "aliases, and names of the tools, are commands" {
    db=$FIXTURES/schema-3.0.0.db
    diff <(rocstats compare "$db" "$db") <(rocline diff "$db" "$db")
    diff <(rocstats "$db") <(rocline rocstats "$db")
}

@test "help of a command that is a word of another has what concerns it only" {
    try 0 rocline compare --help
    [[ "$output" == "Usage: rocline compare [OPTION]... A B"$'\n'"Compare two traces, or"* ]]
    [[ "$output" == *"--fail-over"*"  rocline compare base.json:v1 after.db"* ]]
    [[ "$output" != *--what-if* && "$output" != *"rocline stats compare"* ]]
    [ "$(rocline help diff)" = "$output" ]
    try 0 rocline doctor --help
    [[ "$output" == "Usage: rocline doctor [OPTION]... INPUT..."$'\n'"Whether the trace can be trusted"*"  doctor "* ]]
    [[ "$output" == *"  rocline doctor 4711_results.db"* ]]
    [[ "$output" != *--fail-over* && "$output" != *"rocline stats doctor"* ]]
}

@test "messages name the command, errors keep their codes" {
    try 2 rocline stats
    [[ "$stderr" == "rocline stats: no input is given"*"Try 'rocline stats --help'." ]]
    for command in compare doctor stats; do
        try 3 rocline $command missing.db missing.db
        says "rocline $command: missing.db: no such file"
        try 2 rocline $command --bogus
        says "rocline $command: unknown option --bogus"
    done
    try 2 rocline compare "$FIXTURES/schema-3.0.0.db"
    says "Try 'rocline compare --help'."
    try 3 rocline csv missing.db
    says "rocline csv: missing.db"
    try 0 rocline stats --version
    [[ "$output" == "rocline stats, rocline "* ]]
}

@test "an unknown command: the nearest is suggested" {
    try 2 rocline stast x.db
    says '"stast" is not a command; did you mean stats?'
    try 2 rocline help mrege
    says 'did you mean merge?'
    try 2 rocline
    says 'no command is given'
    try 2 rocline "$FIXTURES/schema-3.0.0.db"
    says 'is a file: a command comes first'
    try 2 rocline --nonsense stats
    says 'unknown option --nonsense'
}

@test "completion of commands, and of their options" {
    rocline --completion bash >completion
    offered() {
        bash -c '. ./completion; COMP_WORDS=(rocline "$@"); COMP_CWORD=$#; _rocline 2>/dev/null
                 echo "${COMPREPLY[@]}"' - "$@"
    }
    [ "$(offered st)" = stats ]
    [ "$(offered help mer)" = merge ]
    [ "$(offered stats kern)" = kernels ]
    [ "$(offered stats --gaps)" = --gaps-between ]
    [ "$(offered exp)" = "" ] # a command of its own, but not one of the first
    [ "$(offered csv --kinds kernel,memory_c)" = kernel,memory_copy ]
    [ "$(offered csv --style = rocprofv)" = rocprofv3 ]
}

@test "every option of a command is in its manual page, or in rocline(7)" {
    for command in convert; do
        rocline "$command" --help=all | sed -n 's/^  *\(-[A-Za-z], \)\{0,1\}--\([a-z-]*\).*/--\2/p' | sort >help
        cat "$BUILD/man/rocline-$command.1" "$BUILD/man/rocline.7" | grep '^\.It' | grep -o 'Fl Fl [a-z-]*' |
            sed 's/Fl Fl /--/' | sort -u | comm -23 help - >missing
        [ ! -s missing ] || fail "$(cat missing)"
    done
}

@test "help of every report: what it is about, its tables, its own options, examples" {
    local report
    for report in $(rocstats --help | sed -n '/^Reports/,/^$/s/^  \([a-z-]*\) .*/\1/p'); do
        try 0 rocline help stats "$report"
        [[ "$output" == "Usage: rocline stats $report "*"Examples:"*"$report"* ]]
        [[ "$output" == *"rocstats-$report(1) says more." && -e $BUILD/man/rocstats-$report.1 ]]
        [[ "$report" =~ ^(compare|baseline|view)$ || "$output" == *"Tables (--table KEY"* ]]
    done
    try 0 rocstats gaps --help
    [[ "$output" == *"longest_gaps "*"--min-gap TIME"* && "$output" != *--what-if* ]]
}

@test "convert writes every form of the other commands" {
    local db=$FIXTURES/rank0.db form
    for form in parquet arrow arrows jsonl; do
        rocline convert -q -f $form -d a -o x "$db"
        rocline export -q -f $form -d b -o x "$db"
        rocline convert -q -d c -o x.$form "$db"
    done
    diff -r a b
    diff -r a c
    rocline convert -q -f csv,jsonl -d d -o x "$db"
    cmp a/x_kernel.jsonl d/x_kernel.jsonl
    try 2 rocline convert -f parquet,arrow "$db"
    says "one of parquet, arrow, arrows and jsonl at a time"
}
