#!/usr/bin/env bats
# rocline: its commands, and that they do what the tools do.

load helper

commands() {
    rocline --help | sed -n '/^Commands:/,/^$/s/^  \([a-z0-9]*\)  *\([^ ].*\)/\1/p'
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
    [[ "$output" == "Usage: rocline compare [OPTION]... A B"$'\n'"Compare two traces."* ]]
    [[ "$output" == *"--fail-over"*"  rocline compare base.json:v1 after.db"* ]]
    [[ "$output" != *--what-if* && "$output" != *"rocline stats"* ]]
    [ "$(rocline help diff)" = "$output" ]
    try 0 rocline doctor --help
    [[ "$output" == "Usage: rocline doctor [OPTION]... INPUT..."$'\n'"Print whether"* ]]
    [[ "$output" == *"  rocline doctor 4711_results.db"* ]]
    [[ "$output" != *--fail-over* && "$output" != *"rocline stats"* ]]
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
    [ "$(offered stats --by-ag)" = --by-agent ]
    [ "$(offered csv --kinds kernel,memory_c)" = kernel,memory_copy ]
    [ "$(offered csv --style = rocprofv)" = rocprofv3 ]
}

@test "every option of a command is in its manual page and the other way round" {
    grep '^\.It' "$BUILD/man/rocline.7" | grep -o 'Fl Fl [a-z-]*' | sed 's/Fl Fl /--/' >shared
    for command in convert; do
        rocline "$command" --help | sed -n 's/^  *\(-[A-Za-z], \)\{0,1\}--\([a-z-]*\).*/--\2/p' | sort >help
        grep '^\.It' "$BUILD/man/rocline-$command.1" | grep -o 'Fl Fl [a-z-]*' | sed 's/Fl Fl /--/' | sort -u >page
        [ -z "$(comm -13 help page)" ]
        [ -z "$(sort -u page shared | comm -23 help -)" ]
    done
}
