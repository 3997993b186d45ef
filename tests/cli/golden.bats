#!/usr/bin/env bats
# golden/NAME/command is a command line ($F: the folder of the fixtures, $T: that of legacy text);
# everything else in golden/NAME is what it writes to the current folder, and stdout and stderr, byte
# for byte. An output that is missing there, or too much, is an error. A file NAME.pftrace stands
# for its packets as text (NAME.pftrace.txt). After a wanted change:
#   BLESS=1 bats tests/cli/golden.bats

load helper

requires() {
    needs "$FIXTURES/schema-3.0.0.db"
}

as_text() {
    local trace
    for trace in *.pftrace; do
        [ -e "$trace" ] || continue
        needs protoc
        decode "$trace" >"$trace.txt"
        rm "$trace"
    done
}

run_golden() { # folder
    local command
    command=$(cat "$1/command")
    (F=$FIXTURES T=$TOP/tests/fixtures/rtg bash -c "$command" >stdout 2>stderr) || echo "exit code $?" >>stderr
    sed -i "s|$FIXTURES|\$F|g; s|$TOP/tests/fixtures/rtg|\$T|g" stdout stderr
    find . -type f -empty -delete
    as_text
}

@test "golden outputs" {
    for golden in "$BATS_TEST_DIRNAME"/golden/*/; do
        mkdir "$(basename "$golden")"
        cd "$(basename "$golden")" || exit 1
        run_golden "$golden"
        if [ -n "${BLESS:-}" ]; then
            find "$golden" -type f ! -name command -delete
            cp -r . "$golden"
        else
            diff -ru -x command "$golden" . || { echo "golden: $golden"; false; }
        fi
        cd ..
    done
}
