#!/usr/bin/env bats
# rocstats --format html: one page that needs nothing else.

load helper

DB=$FIXTURES/everything.db

requires() {
    needs "$DB"
}

@test "a page of its own, with every table" {
    try 0 rocstats --format html -o a.html "$DB"
    silent
    run ! grep -qiE '(src|href)=|url\(|@import|https?:' a.html
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
    run ! grep -q 'text-anchor="end"></text>' a.html
    grep -q 'aria-label="Streams"><text[^>]*>pid [0-9]* · Stream [0-9]*<' a.html
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
    cat >>a.html <<'END'
<script>
var out = [], tab = document.getElementById('tab-kernel');
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
    run timeout 60 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/profile" --dump-dom "file://$PWD/a.html"
    [[ "$output" == *"true true true descending true ascending dark"* || "$output" == *"true true true descending true ascending light"* ]] || fail "the page did not do it"
}
