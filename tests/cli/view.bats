#!/usr/bin/env bats
# rocstats view: the browser on a terminal, which is one of tmux.

load helper

db=$FIXTURES/schema-3.0.0.db

requires() {
    needs "$db"
}

# A terminal of our own: no settings, no other session.
terminal() { # columns lines [variable=value...]
    needs tmux ps
    rocstats view "$db" </dev/null 2>&1 | grep -q 'built without ncurses' && skip "built without ncurses"
    # A socket in a short folder: paths of sockets may not be long.
    sockets=$(mktemp -d /tmp/rocl-view.XXXXXX)
    env -u TMUX LANG=C.UTF-8 tmux -f /dev/null -S "$sockets/s" new-session -d -x "$1" -y "$2" \
        "env LANG=C.UTF-8 LC_ALL=C.UTF-8 ${*:3} PATH='$PATH' PS1='> ' bash --norc --noprofile" ||
        skip "tmux makes no terminal here"
    wait_for '>'
}

teardown() {
    [ -z "${sockets:-}" ] || {
        tmux -S "$sockets/s" kill-server 2>/dev/null || true
        rm -rf "$sockets"
    }
}

keys() { # key...
    tmux -S "$sockets/s" send-keys "$@"
}

screen() {
    tmux -S "$sockets/s" capture-pane -p
}

wait_for() { # regular expression
    local i
    for ((i = 0; i < 200; i++)); do
        ! screen | grep -qE -- "$1" || return 0
        sleep 0.05
    done
    fail "the screen does not show: $1
$(screen)"
}

wait_gone() { # regular expression
    local i
    for ((i = 0; i < 200; i++)); do
        screen | grep -qE -- "$1" || return 0
        sleep 0.05
    done
    fail "the screen still shows: $1
$(screen)"
}

line() { # number, from 1
    screen | sed -n "$1p"
}

# In the shell: modes before and after, and the exit code.
start() { # argument of rocstats view...
    keys "clear; stty -g >before; rocstats view $*; echo code=\$?; stty -g >after" Enter
}

restored() { # exit code
    wait_for "code=$1"
    wait_for '^> *$'
    [ "$(tmux -S "$sockets/s" display -p '#{alternate_on}#{cursor_flag}#{keypad_cursor_flag}')" = 010 ]
    cmp "$BATS_TEST_TMPDIR/here/before" "$BATS_TEST_TMPDIR/here/after"
}

@test "without a terminal: exit code 2, and what helps" {
    try 2 rocstats view "$db"
    says "-o FILE writes a page instead"
    try 2 rocstats view
    says "no input is given"
    try 2 rocstats --top 3 view "$db"
    says "view must stand before all options"
    try 2 rocline view "$db"
    says "rocline view: "
    needs_terminal
    for term in dumb '' nosuch; do
        run script -qec "env TERM=$term rocstats view '$db'" /dev/null
        [ "$status" -eq 2 ] || fail "TERM=$term"
        [[ "$output" == *TERM* || "$output" == *"without ncurses"* ]]
    done
}

@test "-o writes the page" {
    try 0 rocstats view -o page.html "$db"
    grep -q '<!doctype html>' page.html
    try 0 rocline view -o other.html "$db"
    cmp page.html other.html
}

@test "tracks: what there is, the selected slice, its launch and back" {
    terminal 100 50
    start "$db"
    wait_for ' events = .* slices'
    events=$(sqlite3 -readonly "$db" "SELECT (SELECT count(*) FROM rocpd_kernel_dispatch) +
        (SELECT count(*) FROM rocpd_region) + (SELECT count(*) FROM rocpd_sample) +
        (SELECT count(*) FROM rocpd_memory_copy) + (SELECT count(*) FROM rocpd_memory_allocate)")
    counted=$(line 50 | sed 's/,//g; s/^ *\([0-9]*\) events.*/\1/')
    values=$(line 50 | sed -n 's/,//g; s/.*+ \([0-9]*\) values.*/\1/p')
    [ "$((counted - ${values:-0}))" -eq "$events" ]
    wait_for 'train \(rank 0, pid [0-9]+\)'
    wait_for 'GPU 0 AMD Instinct MI300X'
    wait_for 'main thread'
    wait_for 'No slice is selected'
    keys Down Down Right
    wait_for 'x: the call that launched it'
    id=$(screen | grep -oE 'kernel:[0-9a-f]*:[0-9]+')
    keys Enter
    wait_for 'Causes and effects'
    wait_for "$id"
    keys q
    wait_for 'x: the call that launched it'
    keys x
    wait_for 'region:[0-9a-f]*:[0-9]+'
    wait_for 'x: the work it launched'
    keys x
    wait_for "$id"
    keys BSpace BSpace
    wait_for "$id"
    keys q
    restored 0
}

@test "findings are those of the overview" {
    terminal 100 50
    start "$db"
    wait_for ' events = '
    keys i
    wait_for 'Findings: the trace is sound'
    rocstats --format json -q "$db" | jq -r '.tables[0].rows[].finding' >found
    [ -s found ]
    while read -r finding; do
        wait_for "[0-9]\. ${finding:0:60}"
    done <found
    keys q
    wait_for 'No slice is selected'
    keys q
    restored 0
}

@test "tables have the sums of SQL, in any order" {
    terminal 120 60
    start "$db"
    wait_for ' events = '
    keys 2
    wait_for 'Kernels of the whole trace'
    kernels='SELECT display_name AS name, end - start AS duration FROM rocpd_kernel_dispatch d
        JOIN rocpd_info_kernel_symbol s ON s.id = d.kernel_id'
    sqlite3 -readonly "$db" "SELECT count(DISTINCT name) || ' names, ' || count(*) || ' calls' FROM ($kernels)" >wanted
    wait_for "$(cat wanted)"
    sqlite3 -readonly "$db" "SELECT count(*) FROM ($kernels) GROUP BY name ORDER BY sum(duration) DESC" >wanted
    screen | sed -n '4,58p' | grep -oE ' +[0-9]+ +[0-9.]+ (ns|us|ms|s) ' | awk '{ print $1 }' >shown
    [ "$(sort -n wanted)" = "$(sort -n shown)" ]
    cmp wanted shown
    keys '<' # by calls
    wait_for 'Calls▼'
    screen | sed -n '4,58p' | grep -oE ' +[0-9]+ +[0-9.]+ (ns|us|ms|s) ' | awk '{ print $1 }' >shown
    [ "$(sort -rn wanted)" = "$(cat shown)" ]
    keys r
    wait_for 'Calls▲'
    screen | sed -n '4,58p' | grep -oE ' +[0-9]+ +[0-9.]+ (ns|us|ms|s) ' | awk '{ print $1 }' >shown
    [ "$(sort -n wanted)" = "$(cat shown)" ]
    keys 4
    wait_for 'Calls of the whole trace'
    wait_for hipLaunchKernel
    keys Enter
    wait_for 'The longest of'
    wait_for 'region:'
    keys 3 q q
    restored 0
}

@test "tables on a narrow terminal: names stay legible, and every column can be sorted by" {
    local name width
    for name in first second; do
        echo "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void $name::a_kernel_with_a_long_name<float>(float*)\",
            \"pid\": 0, \"tid\": 1, \"ts\": 1, \"dur\": 1}"
    done | jq -s '{traceEvents: .}' >t.json
    terminal 80 24
    start t.json
    wait_for ' events = '
    keys 2
    wait_for 'Kernels of the whole trace'
    wait_for '^ first::a_kernel_wit….\(float\*\) '
    wait_for '^ second::a_kernel_wi….\(float\*\) '
    wait_for 'Name +Calls +Total▼ +% +Average +Longest$'
    for width in 80 40; do
        tmux -S "$sockets/s" resize-window -x "$width" -y 24
        for name in % Average Shortest Longest Name Calls Total; do
            keys '>'
            wait_for "$name▼"
        done
    done
    keys q q
    restored 0
}

@test "search: next, the one before, none, an expression that is wrong" {
    terminal 100 30
    start "$db"
    wait_for ' events = '
    keys / ; keys -l 'MEMORY_COPY_H'; keys Enter
    wait_for '^ copy '
    first=$(screen | grep -oE 'copy:[0-9a-f]*:[0-9]+')
    keys n
    wait_gone "$first"
    keys N
    wait_for "$first"
    keys / ; keys -l 'no such name'; keys Enter
    wait_for 'There is no further match'
    keys / ; keys -l '('; keys Enter
    wait_for 'search: '
    keys / ; keys -l 'typed and given up'; keys Escape
    wait_gone 'given up'
    keys q
    restored 0
}

@test "zoom, collapse, help, every size of the terminal" {
    terminal 80 24
    start "$db"
    wait_for ' events = '
    keys + + + +
    wait_for 'us in view'
    keys 0
    wait_for '▏0'
    before=$(screen | grep -c '│')
    keys c
    wait_for '▸ GPU 0'
    [ "$(screen | grep -c '│')" -le "$before" ]
    keys '?'
    wait_for 'Keys'
    keys q
    tmux -S "$sockets/s" resize-window -x 20 -y 5
    wait_for 'Too small: 20x5'
    tmux -S "$sockets/s" resize-window -x 31 -y 8
    wait_for '▸ GPU'
    tmux -S "$sockets/s" resize-window -x 250 -y 60
    wait_for '▸ GPU 3 AMD Instinct MI300X'
    wait_for 'q leave'
    keys q
    restored 0
}

@test "the terminal is restored after every end" {
    terminal 80 24
    for signal in TERM INT HUP QUIT SEGV ABRT; do
        start "$db"
        wait_for ' events = '
        # The one of this terminal alone: other tests run programs of this name at the same time.
        kill -"$signal" "$(pgrep -nx rocstats -t "$(tmux -S "$sockets/s" display -p '#{pane_tty}' | sed 's|/dev/||')")"
        if [ "$signal" = INT ]; then # bash gives up the rest of the line
            wait_gone 'q leave'
            [ "$(tmux -S "$sockets/s" display -p '#{alternate_on}#{cursor_flag}')" = 01 ]
        else
            restored $((128 + $(kill -l "$signal")))
        fi
    done
    start "$db"
    wait_for ' events = '
    keys C-z
    wait_for Stopped
    [ "$(tmux -S "$sockets/s" display -p '#{alternate_on}')" = 0 ]
    keys fg Enter
    wait_for ' events = '
    [ "$(tmux -S "$sockets/s" display -p '#{alternate_on}')" = 1 ]
    keys q
    wait_gone ' events = '
    start "$FIXTURES/corrupt.db"
    restored 3
}

@test "broken records are counted in the status line, and said at the end" {
    terminal 200 30
    rocstats kernels "$FIXTURES/nasty-3.0.0.db" >/dev/null 2>&1 && fail "faults were expected"
    start "$FIXTURES/nasty-3.0.0.db"
    wait_for 'records left out: '
    keys Down Down Right Enter
    keys q q
    restored 1
    wait_for 'rocstats view: [0-9]+ records left out'
}

@test "ASCII without UTF-8, no colours with NO_COLOR" {
    terminal 100 30 LC_ALL=C NO_COLOR=1
    start "$db"
    wait_for ' events = '
    keys + + +
    ! screen | LC_ALL=C grep -q '[^ -~]' || fail "$(screen)"
    ! tmux -S "$sockets/s" capture-pane -pe | grep -qE $'\e\\[[0-9;]*(3[0-7]|4[0-7]|38|48)[;m]' || fail colours
    keys q
    restored 0
}

@test "names are text, whatever is in them" {
    terminal 150 40
    cp "$db" hostile.db
    suffix=$(suffix hostile.db)
    sqlite3 hostile.db "UPDATE rocpd_string$suffix SET string = char(27) || ']0;owned' || char(7) || char(10) ||
        char(27) || '[2J' || char(0x202e) || 'kernel' || id WHERE id IN
        (SELECT name_id FROM rocpd_region$suffix)"
    start hostile.db
    wait_for ' events = '
    keys 4
    wait_for '\\x1b\]0;owned\\x07\\x0a\\x1b\[2J'
    [ "$(tmux -S "$sockets/s" display -p '#{pane_title}')" != owned ]
    keys Enter Enter
    wait_for 'Name'
    keys q q
    restored 0
}

@test "a trace from standard input; one without events; several processes" {
    terminal 100 30
    keys "clear; stty -g >before; cat $db | rocstats view -; echo code=\$?; stty -g >after" Enter
    wait_for ' events = '
    keys q
    restored 0
    start "$FIXTURES/empty-tables.db"
    wait_for 'There are no events'
    keys Right Down n x Enter + - 0 f 2 Enter Tab Tab Tab q
    wait_for ' 0 events = 0 slices'
    keys q
    restored 0
    start "$FIXTURES/node-rank0.db" "$FIXTURES/node-rank1.db"
    wait_for ' events = '
    wait_for 'rank 0'
    keys c G
    wait_for 'rank 1'
    keys q
    restored 0
}
