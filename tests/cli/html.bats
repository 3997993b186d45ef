#!/usr/bin/env bats
# rocstats --format html: one page that needs nothing else.

load helper

DB=$FIXTURES/everything.db

in_browser() { # page
    timeout 60 chromium --headless --no-sandbox --disable-gpu --enable-logging=stderr --v=0 \
        --user-data-dir="$PWD/profile" --dump-dom "file://$PWD/$1"
}

requires() {
    needs "$DB"
}

@test "a page of its own, with every table" {
    try 0 rocstats --format html -o a.html "$DB"
    silent
    run ! grep -qiE 'src=|href="[^#]|url\(|@import|https?:' a.html
    for key in $(rocstats all --format json "$DB" | jq -r '.tables[] | select(.rows | length > 0) | .key'); do
        grep -q "<table id=\"$key\">" a.html || { echo "no $key"; false; }
    done
    rocstats -j4 --format html -o b.html "$DB"
    cmp a.html b.html
    try 0 rocstats kernels --format html "$DB"
    [[ "$output" == *"<table id=\"kernels\">"* && "$output" != *"<table id=\"overlap\">"* ]]
}

@test "every bar says what it is of" {
    rocstats all --format html -o a.html "$DB"
    run ! grep -q '<div class="l" title="">' a.html
    grep -A2 'aria-label="Streams"' a.html | grep -q '<div class="l" title="pid [0-9]* · Stream [0-9]*">'
    # What bars of one chart say differs.
    python3 - a.html <<'END'
import re, sys
page = open(sys.argv[1], encoding='utf-8').read()
for title, body in re.findall(r'<figure aria-label="([^"]*)">(.*?)</figure>', page, re.S):
    labels = re.findall(r'<div class="l" title="([^"]*)">([^<]*)</div>', body)
    assert labels, title
    assert len({full for full, _ in labels}) == len({short for _, short in labels}), (title, labels)
END
}

@test "the page is well formed, whatever names hold" {
    needs python3 "$FIXTURES/nasty-4.1.0.db"
    rocstats -q --format html -o a.html "$FIXTURES/nasty-4.1.0.db" || [ $? -eq 1 ]
    python3 - a.html <<'END'
import html.parser, sys
class P(html.parser.HTMLParser):
    void = {'meta'}
    def __init__(self):
        super().__init__(); self.open = []; self.cells = 0
    def handle_starttag(self, tag, attrs):
        assert all(k == k.lower() or k == 'viewbox' for k, _ in attrs)
        if tag not in self.void: self.open.append(tag)
        self.cells += tag == 'td'
    def handle_startendtag(self, tag, attrs): pass
    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, (tag, self.getpos())
p = P(); p.feed(open(sys.argv[1], encoding='utf-8').read())
assert p.open == [] and p.cells > 50, p.open
END
}

@test "sorting and tabs in a browser" {
    needs chromium
    rocstats --format html -o a.html "$DB"
    in_browser a.html >log 2>&1
    run ! grep -qi 'refused\|violates\|uncaught' log
    sed -i '/Content-Security-Policy/d' a.html # for the script of this test
    cat >>a.html <<'END'
<script>
var out = [], tab = document.getElementById('tab-kernel');
out.push(!document.getElementById('panel-overview').hidden, document.getElementById('panel-kernel').hidden);
tab.click();
out.push(!document.getElementById('panel-kernel').hidden, document.getElementById('panel-domain').hidden);
var button = document.querySelectorAll('#kernels th button')[1];
function calls() { return [].map.call(document.querySelectorAll('#kernels tbody tr'), function (r) { return +r.cells[1].dataset.v }) }
function ordered(up) { return calls().every(function (v, i, a) { return !i || (up ? a[i - 1] <= v : a[i - 1] >= v) }) }
button.click(); out.push(ordered(false), button.parentNode.getAttribute('aria-sort'));
button.click(); out.push(ordered(true), button.parentNode.getAttribute('aria-sort'));
document.getElementById('theme').click(); out.push(document.documentElement.dataset.theme);
document.body.innerHTML = '<p id=result>' + out.join(' ') + '</p>';
</script>
END
    run in_browser a.html
    [[ "$output" == *"true true true true true descending true ascending dark"* || "$output" == *"true true true true true descending true ascending light"* ]] || fail "the page did not do it"
}

@test "the first page: what was traced, and shares that the tables have" {
    rocstats --format html -o a.html "$DB"
    rocstats all --format json "$DB" >a.json
    busy=$(jq -r '.tables[] | select(.key == "overlap").rows | map(.busy_ns) | add' a.json)
    whole=$(jq -r '.tables[] | select(.key == "timeline").rows | map(.end_ns - .start_ns) | add' a.json)
    busy=$(awk "BEGIN { print 100 * $busy / $whole }")
    grep -q "<li><b>$(printf %.1f "$busy") %</b> <a href=\"#overlap\">busy" a.html
    grep -q '<dt>Files</dt><dd>everything.db (rocpd database)</dd>' a.html
    # Every link leads to a table or a tab.
    grep -o 'href="#[^"]*"' a.html | sort -u | sed 's/.*#\(.*\)"/\1/' | while read -r id; do
        grep -q "id=\"$id\"\|id=\"panel-$id\"" a.html || fail "no $id"
    done
    rocstats compare --format html -o c.html "$FIXTURES/rank0.db" "$FIXTURES/rank1.db"
    grep -q '<h2>Trace A</h2>' c.html
    grep -q 'all kernels of B' c.html
}
