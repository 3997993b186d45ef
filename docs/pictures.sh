#!/usr/bin/env bash
# Makes the pictures of README.md from the shipped trace, with Chromium: docs/page.png, the first page
# of a report, and docs/terminal.png, the same on a terminal. Usage: docs/pictures.sh BUILD
set -euo pipefail
build=${1:-build}
trace=tests/fixtures/demo.db
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command -v chromium >/dev/null || {
    echo "chromium is missing: it takes the pictures" >&2
    exit 2
}

take_picture() { # page width height picture
    chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$work/profile" \
        --screenshot="$4" --window-size="$2,$3" "file://$1" >/dev/null 2>&1
}

"$build/bin/rocstats" -q --format html -o "$work/page.html" "$trace"
take_picture "$work/page.html" 1200 880 "$PWD/docs/page.png"

{
    echo '<!doctype html><meta charset="utf-8"><body style="margin:0;background:#14171a;color:#e4e8ec">'
    echo '<pre style="margin:16px;font:13px/1.35 monospace"><span style="color:#6cb0ff">$</span> rocstats demo.db'
    TERM=xterm script -qec "stty cols 110; '$build/bin/rocstats' -q '$trace'" /dev/null </dev/null |
        tr -d '\r' | sed -n 1,34p | sed 's/&/\&amp;/g; s/</\&lt;/g'
    echo '</pre>'
} >"$work/terminal.html"
take_picture "$work/terminal.html" 900 660 "$PWD/docs/terminal.png"
ls -l docs/*.png
