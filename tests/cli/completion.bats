#!/usr/bin/env bats
# Completion as users meet it: the shells themselves, on a terminal, with what is typed before TAB.

load helper

# The code of all tools, also of rocpd, which is not installed if nobody asks.
make_code() {
    local tool
    mkdir -p bash zsh fish
    for tool in "${PROGRAMS[@]}" rocpd; do
        "$tool" --completion bash >"bash/$tool"
        "$tool" --completion zsh >"zsh/_$tool"
        "$tool" --completion fish >"fish/$tool.fish"
    done
}

# What bash or zsh make of a line that is typed, and TAB; and of another TAB, which lists what is
# possible, if words do not come. It waits for them as long as a loaded machine may need.
typed() { # shell line word...
    python3 - "$PWD" "$@" <<'END'
import os, pty, re, select, sys, time
build, shell, line, *words = sys.argv[1:]
args = {'bash': ['bash', '--norc', '--noprofile', '-i'], 'zsh': ['zsh', '-f', '-i']}[shell]
pid, fd = pty.fork()
if pid == 0:
    os.environ.update(PS1='$ ', TERM='dumb', INPUTRC='/dev/null')
    os.execvp(args[0], args)
def plain(text):
    return re.sub(r'\x1b\[[0-9;?]*[A-Za-z]|\a|\b', '', text).replace('\r', '')
def read(words, seconds, got=''):
    end = time.time() + seconds
    while time.time() < end and not (got and all(w in plain(got) for w in words)):
        if select.select([fd], [], [], 0.1)[0]:
            try:
                got += os.read(fd, 65536).decode('utf-8', 'replace')
            except OSError:
                break
    return got
setup = {'bash': 'for f in %s/bash/*; do . $f; done' % build,
         'zsh': 'fpath=(%s/zsh $fpath); autoload -U compinit; compinit -u -D' % build}[shell]
read([], 20)  # the prompt
os.write(fd, (setup + '; echo rea""dy\n').encode())
read(['ready\n'], 60)
os.write(fd, (line + '\t').encode())
got = read(words, 2)
if not all(w in plain(got) for w in words):
    os.write(fd, b'\t')
    got = read(words, 30, got)
os.close(fd)
print(plain(got))
END
}

offers() { # shell line word...: all of these, in the line or in the list
    local shell=$1 line=$2 got word
    shift 2
    got=$(typed "$shell" "$line" "$@")
    for word in "$@"; do
        grep -qF -- "$word" <<<"$got" || fail "$shell: $line<TAB> does not offer $word: $got"
    done
}

in_a_terminal() { # shell
    offers "$1" "rocline conv" "rocline convert"
    offers "$1" "rocline " convert stats query recipes
    offers "$1" "rocstats --sor" "rocstats --sort"
    offers "$1" "rocstats --sort " total calls average
    offers "$1" "rocstats ker" "rocstats kernels"
    offers "$1" "rocline stats summ" "rocline stats summary"
    offers "$1" "rocline compare --fail-over-t" "--fail-over-total"
    offers "$1" "rocpd2csv --kinds kernel,memory_c" "kernel,memory_copy"
    offers "$1" "rocpd2csv --style=rocprofv" "--style=rocprofv3"
    offers "$1" "rocline convert -f csv,pf" "csv,pftrace"
    # Commands that share a manual page have options of their own.
    offers "$1" "rocline info --bri" "rocline info --brief"
    offers "$1" "rocline correlate --bud" "rocline correlate --budget"
    offers "$1" "rocpd summary --domain-s" "--domain-summary"
    # Options before the command, and their values, are none.
    offers "$1" "rocline --comp" "--completion"
    offers "$1" "rocline --completion " bash zsh fish
    offers "$1" "rocline --format json conv" "json convert"
    offers "$1" "rocline --format=json stats summ" "stats summary"
    # ... and those behind it are its own, also where one has the same name.
    offers "$1" "rocline stats --format=" junit folded
    offers "$1" "rocline stats --format " junit folded
    touch here.db
    offers "$1" "rocpd2pftrace her" "rocpd2pftrace here.db"
    offers "$1" "rocline info her" "rocline info here.db"
    offers "$1" "rocline convert -f csv pf" "csv pftrace"
    offers "$1" "rocline convert --output-format csv otf2 her" "otf2 here.db"
    offers "$1" "rocline convert -f csv -o out her" "out here.db"
}

@test "bash on a terminal" {
    needs python3
    make_code
    in_a_terminal bash
}

@test "zsh on a terminal" {
    needs python3 zsh
    make_code
    in_a_terminal zsh
}

@test "fish" {
    needs fish
    make_code
    local line word got
    touch here.db
    while IFS='|' read -r line word; do
        got=$(HOME=$PWD fish --no-config -c "for f in fish/*.fish; source \$f; end; complete -C '$line'")
        grep -qF -- "$word" <<<"$got" || fail "$line<TAB> does not offer $word: $got"
    done <<'END'
rocline conv|convert
rocline |recipes
rocline -|--version
rocline --comp|--completion
rocline --completion |zsh
rocline --format json conv|convert
rocline --format=json stats summ|summary
rocstats --sor|--sort
rocstats --sort |average
rocstats ker|kernels
rocline stats summ|summary
rocline compare --fail-over-t|--fail-over-total
rocline diff --fail-over-t|--fail-over-total
rocpd2csv --kinds kernel,memory_c|kernel,memory_copy
rocpd2csv --style=rocprofv|--style=rocprofv3
rocline convert -f csv,pf|csv,pftrace
rocline info --bri|--brief
rocline correlate --bud|--budget
rocpd summary --domain-s|--domain-summary
rocpd2pftrace her|here.db
rocline info her|here.db
rocline convert -f csv pf|pftrace
rocline convert --output-format csv otf2 her|here.db
rocline convert -f csv -o out her|here.db
END
    # The help of an option is not that of each of its words.
    for line in 'rocstats --sort ' 'rocpd2csv --kinds kernel,memory_c' 'rocline stats --format '; do
        got=$(HOME=$PWD fish --no-config -c "for f in fish/*.fish; source \$f; end; complete -C '$line'")
        run ! grep -q $'\t' <<<"$got"
    done
    got=$(HOME=$PWD fish --no-config -c "source fish/rocstats.fish; complete -C 'rocstats --sor'")
    [[ "$got" == "--sort"$'\t'* ]] || fail "$got"
    # A command's options are not those of another one.
    got=$(HOME=$PWD fish --no-config -c "source fish/rocline.fish; complete -C 'rocline query --fail-o'")
    [ -z "$got" ] || fail "$got"
    got=$(HOME=$PWD fish --no-config -c "source fish/rocline.fish; complete -C 'rocline query stats --fail-o'")
    [ -z "$got" ] || fail "$got"
}

@test "the code of every tool is that of its shell" {
    local tool shell
    for tool in "${PROGRAMS[@]}"; do
        bash -n <("$tool" --completion bash)
        for shell in zsh fish; do
            command -v $shell >/dev/null || continue
            "$tool" --completion $shell >code
            $shell -n code || fail "$tool: $shell"
        done
    done
}
