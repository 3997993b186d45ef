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

@test "a page has at most 1000 rows of a table, and what all others are together" {
    for i in $(seq 1500); do
        echo "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k$i\", \"pid\": 0, \"tid\": 1, \"ts\": $((i * 10)), \"dur\": 1}"
    done | jq -s '{traceEvents: .}' >t.json
    rocstats kernels --format html t.json >t.html
    [ "$(grep -o '>k[0-9]*<' t.html | sort -u | wc -l)" -eq 1000 ]
    grep -q '(500 others)' t.html
    rocstats kernels --top 0 --format html t.json >t.html
    [ "$(grep -o '>k[0-9]*<' t.html | sort -u | wc -l)" -eq 1500 ]
    [ "$(rocstats kernels --format json t.json | jq '.tables[0].rows | length')" -eq 1500 ]
}

@test "every bar says what it is of" {
    needs python3
    rocstats all --by-stream --format html -o a.html "$DB"
    run ! grep -q '<div class="l" title="">' a.html
    echo '{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "", "pid": 0, "tid": 1, "ts": 1, "dur": 1}]}' >t.json
    rocstats kernels --format html t.json | grep -q '<div class="l" title="(no name)">'
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

@test "the title of a page names the files, without their folders, and the report" {
    needs "$BUILD/tests/rocpd-gen"
    title() { # arguments of rocstats...
        rocstats --format html "$@" | grep -o '^<title>.*</title>'
    }
    local i
    for i in 1 2 3 4 5; do
        mkdir "rank$i"
        "$BUILD/tests/rocpd-gen" -o "rank$i/a<b>&.db" --rows 100 --seed "$i" --first-rank "$i"
    done
    [ "$(title rank1/*.db)" = '<title>a&lt;b&gt;&amp;.db (rocpd database): Where the time went</title>' ]
    [ "$(title kernels "$PWD"/rank1/*.db)" = '<title>a&lt;b&gt;&amp;.db (rocpd database): Kernels</title>' ]
    [ "$(title compare rank1/*.db rank2/*.db)" = \
        '<title>a&lt;b&gt;&amp;.db (rocpd database) and a&lt;b&gt;&amp;.db (rocpd database): From A to B</title>' ]
    rocline convert -o t.html rank1/*.db
    grep -q '^<title>a&lt;b&gt;&amp;.db: Timeline</title>' t.html
    # Files of one name are counted; only three names are listed.
    [ "$(title rank*/*.db)" = '<title>5 x a&lt;b&gt;&amp;.db (rocpd database): Where the time went</title>' ]
    for i in 1 2 3 4; do mv "rank$i"/*.db "$i.db"; done
    [ "$(title [1-4].db rank5/*.db)" = '<title>1.db, 2.db, 3.db and 2 more (rocpd database): Where the time went</title>' ]
}

@test "gaps of a picture are in order of length, also those that only the second GPU has" {
    kernel() { # DEVICE BEGIN
        echo "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":$1,\"tid\":7,\"ts\":$2,\"dur\":10,
            \"args\":{\"device\":$1,\"stream\":7}}"
    }
    {
        echo '{"traceEvents":['
        for begin in 0 15 525; do kernel 0 $begin; echo ,; done
        for begin in 0 15 75 5085; do kernel 1 $begin; [ $begin = 5085 ] || echo ,; done
        echo ']}'
    } >t.json
    rocstats gaps --format html -o a.html t.json
    grep -A1 '<figure aria-label="Idle gaps by length">' a.html | grep -o '&[lg]t;=* [^<]*' | paste -s -d, >legend
    [ "$(cat legend)" = '&lt; 10 us,&lt; 100 us,&lt; 1 ms,&lt; 10 ms' ]
}

@test "on paper: all columns, names in full, also from a dark page" {
    needs chromium pdftotext
    local name
    name="void $(printf 'deep::%.0s' {1..60})end<int>(float const*)"
    echo "{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"$name\", \"pid\": 0, \"tid\": 1,
        \"ts\": 1, \"dur\": 1}]}" >t.json
    rocstats summary kernels --format html -o a.html t.json
    sed -i 's/<html /&data-theme="dark" /' a.html
    timeout 60 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/profile" --no-pdf-header-footer \
        --print-to-pdf=a.pdf "file://$PWD/a.html" 2>/dev/null
    pdftotext -raw a.pdf a.txt
    grep -q 'RSD % Class' a.txt
    tr -d ' \n' <a.txt | grep -qF "$(tr -d ' ' <<<"$name")"
    # On white: nothing is in the near white of the dark page.
    pdftohtml -xml -stdout a.pdf | grep -q 'color="#1b1f24"'
    run ! grep -q 'color="#e4e8ec"' <(pdftohtml -xml -stdout a.pdf)
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
out.push(!document.getElementById('panel-kernel').hidden, document.getElementById('panel-copies').hidden);
var button = document.querySelectorAll('#kernels th button')[1];
function calls() { return [].map.call(document.querySelectorAll('#kernels tbody tr'), function (r) { return +r.cells[1].dataset.v }) }
function ordered(up) { return calls().every(function (v, i, a) { return !i || (up ? a[i - 1] <= v : a[i - 1] >= v) }) }
button.click(); out.push(ordered(false), button.parentNode.getAttribute('aria-sort'));
button.click(); out.push(ordered(true), button.parentNode.getAttribute('aria-sort'));
document.getElementById('theme').click(); out.push(document.documentElement.dataset.theme);
function laidOut() { return getComputedStyle(document.getElementById('panel-kernel')).contentVisibility }
out.push(laidOut()); document.body.className = ''; out.push(laidOut()); // as long as all panels are there
document.body.innerHTML = '<p id=result>' + out.join(' ') + '</p>';
</script>
END
    run in_browser a.html
    [[ "$output" == *"true true true true true descending true ascending dark visible auto"* || "$output" == *"true true true true true descending true ascending light visible auto"* ]] || fail "the page did not do it"
}

@test "the first page: what was traced, what was found, and where the time of each GPU went" {
    rocstats --format html -o a.html "$DB"
    [ "$(grep -o '<h2>[A-Z][a-z]*\|<h2><a href="#overlap">' a.html | head -3 | xargs)" = '<h2>Trace <h2>Findings <h2><a href=#overlap>' ]
    # The picture covers the time of all GPUs: how busy each was in its own is in the table alone.
    sed -n '/How busy each GPU was/,/<\/figure>/p' a.html | grep -c '<div class="v"></div>' >n
    [ "$(<n)" -gt 0 ]
    run ! grep -q 'How busy each GPU was.*<div class="v">[0-9.]* %' <(sed -n '/How busy each GPU was/,/<\/figure>/p' a.html | tr -d '\n')
    grep -q '<dt>Files</dt><dd>everything.db (rocpd database)</dd>' a.html
    # Every link leads to a table or a tab.
    grep -o 'href="#[^"]*"' a.html | sort -u | sed 's/.*#\(.*\)"/\1/' | while read -r id; do
        grep -q "id=\"$id\"\|id=\"panel-$id\"" a.html || fail "no $id"
    done
    rocstats compare --format html -o c.html "$FIXTURES/rank0.db" "$FIXTURES/rank1.db"
    grep -q '<h2>Trace A</h2>' c.html
    grep -q 'all kernels of B' c.html
}

@test "plots: totals that differ by less than three digits show have an axis of changes" {
    needs python3 sqlite3
    cp "$FIXTURES/rank0.db" x.db
    table=$(sqlite3 x.db "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'rocpd_kernel_dispatch_*'")
    sqlite3 x.db "UPDATE $table SET end = end + 20 WHERE end = (SELECT max(end) FROM $table)"
    rocstats compare --format html -o c.html "$FIXTURES/rank0.db" x.db
    rocstats compare --format html -o d.html "$FIXTURES/rank0.db" "$FIXTURES/rank1.db"
    python3 - <<'END'
import re
for name, title in (('c', 'wall time of GPUs: change from A'), ('d', 'wall time of GPUs: from A, step by step, to B')):
    page = open(name + '.html').read()
    fig = re.search(r'<figure aria-label="What the difference comes from">(.*?)</figure>', page, re.S).group(1)
    ticks = re.findall(r'<span style="left:[\d.]+%">([^<]*)</span>', fig)
    assert len(ticks) > 1 and len(set(ticks)) == len(ticks), ticks
    assert '<figcaption>%s' % title in fig, fig[-300:]
    # An axis begins at 0, or says that it does not.
    assert ('0' in ticks) != ('; the axis begins at 1.32 ms, not at 0</figcaption>' in fig), fig[-300:]
    assert ('0' in ticks) == (name == 'c'), ticks
END
}

@test "plots: what they draw is what the tables say" {
    needs python3 jq
    ranks=("$FIXTURES/rank0.db" "$FIXTURES/rank1.db")
    rocstats all --format html -o a.html "$DB"
    rocstats all --format json "$DB" >a.json
    rocstats steps --format html -o r.html "$TOP"/tests/fixtures/chrome/train[01].json
    rocstats steps --format json "$TOP"/tests/fixtures/chrome/train[01].json >r.json
    rocstats compare --format html -o c.html "${ranks[@]}"
    rocstats compare --format json "${ranks[@]}" >c.json
    train=("$TOP"/tests/fixtures/chrome/train[01].json)
    rocstats critical-path --format html -o p.html "${train[@]}"
    rocstats critical-path --format json "${train[@]}" >p.json
    python3 - <<'END'
import html, json, math, re
def load(name):
    o = json.load(open(name + '.json'))
    tables = {t['key']: t['rows'] for t in o.get('tables') or o['data'].values()}
    return open(name + '.html', encoding='utf-8').read(), tables
def figure(page, title):
    found = re.findall(r'<figure aria-label="%s">.*?</figure>' % re.escape(title), page, re.S)
    assert found, title
    return found[-1]
def rows(fig): # the plots of its rows, with their labels
    return re.findall(r'<div class="l" title="([^"]*)">.*?<svg[^>]*>(.*?)</svg>.*?<div class="v">(.*?)</div>', fig, re.S)
def rects(plot):
    return [(c, float(x), float(w)) for c, x, w in re.findall(r'<rect class="([a-z]\d)"[^>]*? x="([\d.]+)"[^>]*? width="([\d.]+)"', plot)]
def near(a, b, by=0.11):
    assert abs(a - b) <= by, (a, b)
names = ['GEMM', 'attention', 'convolution', 'normalisation', 'elementwise', 'reduction', 'communication', 'copy', 'Triton', 'other']

page, tables = load('a')
kernels = tables['kernels']
bars = rows(figure(page, 'Kernels'))
most = max(k['total_ns'] for k in kernels)
for k, (label, plot, _) in zip(kernels, bars):
    assert html.unescape(label) == k['name']
    (colour, x, width), = rects(plot)
    assert colour == 'k%d' % names.index(k['class'])
    near(width, 1000 * k['total_ns'] / most)
# On logarithmic axes differences of logarithms are distances.
dots = re.findall(r'<path class="dot (k\d)" d="M([\d.]+) ([\d.]+)h0"><title>(.*?): (\d+) calls of', figure(page, 'Kernels by duration and number of calls'))
assert len(dots) == len(kernels)
by_name = {k['name']: k for k in kernels}
points = [(float(x), float(y), by_name[html.unescape(n)], c) for c, x, y, n, _ in dots]
for axis, key in (0, 'average_ns'), (1, 'calls'):
    low, high = min(points, key=lambda p: p[2][key]), max(points, key=lambda p: p[2][key])
    span = math.log(high[2][key] / low[2][key])
    for p in points:
        near(p[axis], low[axis] + (high[axis] - low[axis]) * (math.log(p[2][key] / low[2][key]) / span if span else 0), 0.2)
        assert p[3] == 'k%d' % names.index(p[2]['class'])
# Stacks of causes: their shares, in the order in which they come first.
causes = list(dict.fromkeys(g['class'] for g in tables['gap_classes'] if g['class'] != 'tail'))
for label, plot, _ in rows(figure(page, 'Idle gaps by cause')):
    of_gpu = [g for g in tables['gap_classes'] if g['gpu'] == label and g['class'] != 'tail'] # no gap
    whole = sum(g['total_ns'] for g in of_gpu)
    for colour, x, width in rects(plot):
        cause = causes[int(colour[1:])]
        near(width, max(1000 * sum(g['total_ns'] for g in of_gpu if g['class'] == cause) / whole, 0.6))
    assert sum(w for _, _, w in rects(plot)) > 999, label
# The longest gaps of all GPUs, with their begin; their classes are not those of kernels.
fig = figure(page, 'Longest idle gaps')
longest = sorted(tables['longest_gaps'], key=lambda g: -g['gap_ns'])[:15]
assert 'several classes' not in fig
assert [label.split(' · ')[0] for label, _, _ in rows(fig)] == [g['gpu'] for g in longest]
for g, (label, plot, _) in zip(longest, rows(fig)):
    assert re.fullmatch(r'.* · [0-9.]+ s', label), label
    (colour, x, width), = rects(plot)
    near(width, max(1000 * g['gap_ns'] / longest[0]['gap_ns'], 0.6))
    assert colour == 'c0'
assert '<figcaption>on the right the share of: ' in figure(page, 'Idle gaps by cause')
# Histogram: heights are shares of the calls of a name.
for label, plot, value in rows(figure(page, 'Durations of kernels')):
    of_name = [h for h in tables['histogram'] if h['name'] == html.unescape(label)]
    calls = sum(h['count'] for h in of_name)
    assert value == '%d calls' % calls
    heights = [float(h) for h in re.findall(r'<rect[^>]*? height="([\d.]+)"', plot)]
    most = max(h['count'] for h in of_name)
    for h, drawn in zip(of_name, heights):
        near(drawn, 44 * h['count'] / most)
# Stacks of columns: what launches take on average, and what the paths of ranks are made of.
def check_stacks(fig, of_table, parts):
    drawn = rows(fig)
    assert len(drawn) == min(len(of_table), 32) and drawn
    for r, (label, plot, value) in zip(of_table, drawn):
        lengths = [(colour, sum(max(r[k] or 0, 0) for k in keys)) for colour, *keys in parts]
        whole = sum(n for _, n in lengths)
        assert value == '%.1f %%' % (100 * lengths[0][1] / whole), (r, value)
        at = 0
        for (colour, n), (c, x, width) in zip([p for p in lengths if p[1]], rects(plot)):
            assert c == colour
            near(x, at)
            near(width, max(1000 * n / whole, 0.6))
            at += 1000 * n / whole
check_stacks(figure(page, 'Kernel launches'), tables['launch'],
             [('q5', 'delay_average_ns'), ('q3', 'call_average_ns'), ('q0', 'kernel_average_ns')])
path, of_path = load('p')
check_stacks(figure(path, 'Critical path of each rank'), of_path['critical_path_ranks'],
             [('q4', 'elsewhere_ns'), ('q0', 'kernel_ns'), ('q1', 'communication_ns'), ('q2', 'copy_ns'),
              ('q3', 'host_ns', 'outside_ns'), ('q5', 'launch_ns'), ('q6', 'queue_ns', 'return_ns'),
              ('q7', 'unexplained_ns', 'before_ns')])
# Memory over time: the label on the right is the largest of the row.
assert '<span class="y"' in figure(page, 'Memory over time')

page, tables = load('r')
key, title, value = 'steps', 'Steps', 'wall_ns'
tables[key] = [r for r in tables[key] if r['marker'] == tables[key][0]['marker']]
least, most = min(r[value] for r in tables[key]), max(r[value] for r in tables[key])
drawn = 0
for label, plot, _ in rows(figure(page, title)):
    for r, (colour, x, width) in zip((r for r in tables[key] if r['place'] == label), rects(plot)):
        at = (r[value] - least) / ((most - least) / 8) if most > least else 0
        assert abs(int(colour[1:]) - min(int(at), 7)) <= (at % 1 in (0, 1)), (r, colour)
        drawn += 1
assert drawn == len(tables[key])

# The waterfall: every step begins where the one before ended, from all of A to all of B.
page, tables = load('c')
kernels = [r for r in tables['compare'] if r['domain'] == 'KERNELS']
a, b = (sum(r['total_%s_ns' % s] or 0 for r in kernels) for s in 'ab')
steps = [rects(plot)[0] for _, plot, _ in rows(figure(page, 'What changed the time of kernels'))]
scale = steps[0][2] / a
near(steps[-1][2], b * scale, 0.7)
at = steps[0][2]
for colour, x, width in steps[1:-1]:
    near(x if colour == 'c1' else x + width, at, 0.7)
    at = x + width if colour == 'c1' else x
near(at, b * scale, 0.7)

# That of causes: the same, on an axis that need not begin at 0.
causes = tables['compare_causes']
assert causes[0]['cause'] == 'all together' and sum(r['change_ns'] for r in causes[1:]) == causes[0]['change_ns']
found = rows(figure(page, 'What the difference comes from'))
assert [label for label, _, _ in found[1:-1]] == \
    [html.escape(r['cause'] + (': ' + r['class'] if r['class'] else '')) for r in causes[1:]][:12] + ['all others'] * (len(causes) > 13)
steps = [rects(plot)[0] for _, plot, _ in found]
level, levels = causes[0]['total_a_ns'], [causes[0]['total_a_ns']]
for r in causes[1:]:
    level += r['change_ns']
    levels.append(level)
assert level == causes[0]['total_b_ns']
margin = 0.25 * (max(levels) - min(levels))
least = max(0, min(levels) - margin) if min(levels) >= 0 else min(levels) - margin
scale = steps[0][2] / (levels[0] - max(least, 0))
at = steps[0][1] + steps[0][2]
for r, (colour, x, width) in zip(causes[1:13], steps[1:]):
    near(width, abs(r['change_ns']) * scale, 0.7)
    near(x if colour == 'c1' else x + width, at, 0.7)
    assert (colour == 'c1') == (r['change_ns'] > 0)
    at = x + width if colour == 'c1' else x
near(steps[-1][1] + steps[-1][2], (causes[0]['total_b_ns'] - least) * scale, 1.5)
END
}

@test "pictures of comparisons: steps of both, edits of kernels, changes of runs with their intervals" {
    needs python3 sqlite3 "$FIXTURES/rank0.db"
    train=$TOP/tests/fixtures/chrome/train0
    for i in 1 2 3 4; do
        cp "$FIXTURES/rank0.db" run$i.db
        chmod u+w run$i.db
        s=$(suffix run$i.db)
        sqlite3 run$i.db "UPDATE \"rocpd_kernel_dispatch$s\" SET \"end\" = \"end\" + (\"end\" - start) * (kernel_id % 3 + $i % 2 + $((i / 3 * 20))) / 100"
    done
    for format in html json; do
        rocstats compare -q --format $format -o steps.$format "$train".json "$train-after.json"
        rocstats compare -q --format $format -o runs.$format --a run1.db --a run2.db --b run3.db --b run4.db
    done
    python3 - <<'END'
import html, json, re
def load(stem):
    tables = {k: t['rows'] for k, t in json.load(open(stem + '.json'))['data'].items()}
    return open(stem + '.html', encoding='utf-8').read(), tables
def figure(page, title):
    return re.search(r'<figure aria-label="%s">(.*?)</figure>' % re.escape(title), page, re.S).group(1)
def rows(body):
    return re.findall(r'<div class="l" title="([^"]*)">[^<]*</div><div class="p"><svg[^>]*>(.*?)</svg>.*?</div><div class="v">([^<]*)</div>', body, re.S)
def near(x, y, d=0.2):
    assert abs(x - y) <= d, (x, y)

# A dot for each step of either side, one after the other: the longer, the higher.
page, tables = load('steps')
steps = tables['compare_steps']
[(label, plot, value)] = rows(figure(page, 'Steps from A to B'))
assert label == 'rank 0' and value == '%.1f %%' % (100 * -60000 / 1800000)
dots = [(m[0], float(m[1]), float(m[2]), html.unescape(m[3])) for m in
        re.findall(r'class="dot (q\d)" d="M([\d.]+) ([\d.]+)h0"><title>([^<]*)</title>', plot)]
drawn = [(c, i, r['wall_%s_ns' % s], r['number_%s' % s]) for c, s in (('q0', 'a'), ('q1', 'b'))
         for i, r in enumerate(steps) if r['wall_%s_ns' % s]]
assert len(dots) == len(drawn) == 7
for (colour, x, y, title), (c, i, wall, number) in zip(dots, drawn):
    assert colour == c and title == '%s, step %d: %d us' % ('AB'[c == 'q1'], number, wall // 1000)
    near(x, 1000 * (i + 1) / (len(steps) + 1))
(y0, w0), (y1, w1) = [(d[2], w[2]) for d, w in (min(zip(dots, drawn), key=lambda p: p[1][2]), max(zip(dots, drawn), key=lambda p: p[1][2]))]
for d, w in zip(dots, drawn):
    near(d[2], y0 + (y1 - y0) * (w[2] - w0) / (w1 - w0))
assert y1 < y0 and len(re.findall(r'class="line q[01]"', plot)) == 2

# The waterfall of edits: all of them, the largest change first.
edits = sorted(tables['compare_sequence'][1:], key=lambda r: -abs(r['change_ns']))
found = rows(figure(page, 'What the difference of the kernels comes from'))
assert [html.unescape(label) for label, _, _ in found[1:-1]] == \
    [': '.join([r['edit']] + [r[k] for k in ('name', 'name_b') if r[k]]) for r in edits]
assert found[0][2] == '665 us' and found[-1][2] == '571 us'

# A dot for each change, between the ends of its interval; where 0 is in it, it is not significant.
page, tables = load('runs')
found, last = rows(figure(page, 'From the runs of A to those of B')), None
changed = [r for r in tables['compare_runs'] if r['mean_a_ns'] and (r['change_low_ns'] < 0 or r['change_high_ns'] > 0)][:15]
assert len(found) == len(changed) > 3
places = []
for (label, plot, value), r in zip(found, changed):
    assert html.unescape(label) == r['domain'] + ' · ' + r['name']
    share = [100 * r[k] / r['mean_a_ns'] for k in ('change_low_ns', 'change_ns', 'change_high_ns')]
    zero = float(re.search(r'class="w" d="M([\d.]+) 0', plot).group(1))
    c, low, high = re.search(r'class="line (q\d)" d="M([\d.]+) [\d.]+H([\d.]+)"', plot).groups()
    dot = float(re.search(r'class="dot q\d" d="M([\d.]+) ', plot).group(1))
    assert c == ('q3' if r['significant'] == 'no' else 'q1' if r['change_ns'] > 0 else 'q2')
    assert (r['change_low_ns'] <= 0 <= r['change_high_ns']) == (r['significant'] == 'no')
    assert value == '%s%.1f %%' % ('+' if share[1] > 0 else '', share[1])
    places += [(share[1], dot)] + [(s, float(x)) for s, x in ((share[0], low), (share[2], high)) if 0 < float(x) < 1000]
    places.append((0, zero))
least, most = min(places), max(places)
for v, x in places:
    near(x, least[1] + (most[1] - least[1]) * (v - least[0]) / (most[0] - least[0]), 0.3)
END
}

@test "a page of markers alone shows markers" {
    rocstats --include marker --format html -o a.html "$DB"
    grep -q '<a href="#markers">Markers that take the most time</a>' a.html
    # What has nothing to say has no tab, but is named.
    grep -q 'Nothing in this trace for: Overlap, Kernels, Copies' a.html
    run ! grep -q 'id="tab-kernel"' a.html
    rocstats --format html -o e.html "$FIXTURES/empty-tables.db"
    [ "$(grep -o 'role="tab"' e.html | wc -l)" -ge 1 ]
}

@test "colours of classes differ, also for the colour-blind" {
    needs python3
    python3 - "$TOP/lib/table/html/page.css" <<'END'
import itertools, math, re, sys
# Linear RGB as people with deuteranopia, protanopia and tritanopia see it (Machado and others, 2009).
SIGHTS = [[[1, 0, 0], [0, 1, 0], [0, 0, 1]],
          [[.367322, .860646, -.227968], [.280085, .672501, .047413], [-.011820, .042940, .968881]],
          [[.152286, 1.052583, -.204868], [.114503, .786281, .099216], [-.003882, -.048116, 1.051998]],
          [[1.255528, -.076749, -.178779], [-.078411, .930809, .147602], [.004733, .691367, .303900]]]
def linear(colour):
    return [v / 12.92 if v <= .04045 else ((v + .055) / 1.055) ** 2.4
            for v in (int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5))]
def lab(rgb):
    x, y, z = (sum(w * v for w, v in zip(row, rgb)) for row in
               ([.4339, .3762, .1899], [.2126, .7152, .0722], [.0177, .1095, .8728]))
    f = lambda t: t ** (1 / 3) if t > .008856 else 7.787 * t + 16 / 116
    return 116 * f(y) - 16, 500 * (f(x) - f(y)), 200 * (f(y) - f(z))
css = open(sys.argv[1]).read()
for theme in re.findall(r'--k0:#.*?--k15:#\w{6}', css, re.S):
    colours = [linear(c) for c in re.findall(r'--k\d+:(#\w{6})', theme)]
    assert len(colours) == 16
    for sight in SIGHTS:
        seen = [lab([min(max(sum(w * v for w, v in zip(row, c)), 0), 1) for row in sight]) for c in colours]
        assert min(math.dist(a, b) for a, b in itertools.combinations(seen, 2)) > 18
END
}

@test "classes of one's own have sums, colours and legends" {
    needs python3
    printf '# Ours\nlinear ^cijk_.*hhs\nfills fillbuffer\nother jacobi\n' >rules
    for f in html json; do
        rocstats --table kernels,classes --classes rules --format $f -o c.$f "$DB"
        rocstats --table kernels,classes --format $f -o shipped.$f "$DB"
    done
    rocstats compare --classes rules --format json -o compare.json "$DB" "$DB"
    python3 - <<'END'
import json, re
files = [json.load(open(name)) for name in ('c.json', 'shipped.json', 'compare.json')]
own, shipped, compared = ({t['key']: t['rows'] for t in o.get('tables') or o['data'].values()} for o in files)
for tables in own, shipped:
    sums = {}
    for k in tables['kernels']:
        c = sums.setdefault(k['class'], [0, 0, 0])
        c[0] += 1; c[1] += k['calls']; c[2] += k['total_ns']
    assert sums == {c['class']: [c['names'], c['calls'], c['total_ns']] for c in tables['classes']}, sums
    assert abs(sum(c['percent'] for c in tables['classes']) - 100) < 1e-9
    totals = [c['total_ns'] for c in tables['classes']]
    assert totals == sorted(totals, reverse=True)
names = [{k['class'] for k in t['kernels']} for t in (own, shipped)]
assert names[0] - names[1] == {'linear', 'fills'}, names
assert {c['class']: (c['calls_a'], c['total_b_ns'], c['change_ns']) for c in compared['compare_classes']} == \
       {c['class']: (c['calls'], c['total_ns'], 0) for c in own['classes']}
page = open('c.html', encoding='utf-8').read()
assert re.search(r'<i class="k10"></i>linear', page) and re.search(r'<i class="k11"></i>fills', page)
assert 'k10"></i>' not in open('shipped.html', encoding='utf-8').read()
END
    printf 'a\n' >wrong
    try 3 rocstats kernels --classes wrong "$DB"
    says "rocstats: wrong, line 1: a class and a regular expression are expected"
}

@test "the first page of kernels that took no time has no title without a picture" {
    echo '{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 1, "ts": 5, "dur": 0}]}' >t.json
    rocstats --format html -o t.html t.json
    run ! grep -A1 '<h2><a href' t.html
    grep -A1 '<h2>Findings</h2>' t.html | grep -q 'the trace is sound; fewer than 20 kernels and copies are too few to say more'
    # What the doctor found has its level, and where it is.
    grep -q '<li><b>No calls of the HIP runtime were recorded</b>: 1 kernel <small>(note; t.json; record: .*)</small> <a href="#doctor">' t.html || fail "$(grep -A3 '<h2>Findings' t.html)"
}

@test "calls have one colour in a flame graph, those of CUDA as well" {
    for name in cudaLaunchKernel:cuda_runtime cuLaunchKernelEx:cuda_driver hipLaunchKernel:cuda_runtime; do
        : $((n += 1))
        echo "{\"ph\": \"X\", \"cat\": \"${name#*:}\", \"name\": \"${name%:*}\", \"pid\": 7, \"tid\": 7,
            \"ts\": $((n * 100)), \"dur\": 5, \"args\": {\"correlation\": $n}}
            {\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"tid\": 1,
            \"ts\": $((n * 100 + 10)), \"dur\": 50, \"args\": {\"correlation\": $n, \"stream\": 1, \"device\": 0}}"
    done | jq -s '{traceEvents: .}' >t.json
    rocstats attribution --format html -o t.html t.json
    for name in cudaLaunchKernel cuLaunchKernelEx hipLaunchKernel; do
        grep -q "<b class=\"c4\" .*>$name</b>" t.html || fail "$(grep '<b class' t.html)"
    done
}

@test "a click on a frame of the flame graph makes it as wide as the page" {
    needs chromium
    rocstats attribution --format html -o a.html "$DB"
    # The page runs its own script only: this one needs another rule.
    python3 - <<'END'
import re
page = open('a.html', encoding='utf-8').read()
page = re.sub("script-src '[^']*'", "script-src 'unsafe-inline'", page)
script = """<script>
const f = [...document.querySelectorAll('.flame b')];
const box = e => [parseFloat(e.style.left), parseFloat(e.style.width)];
const one = f.find(e => box(e)[1] > 1 && box(e)[1] < 40), before = box(one)[1];
one.click();
const clicked = [...box(one), f.some(e => e.hidden)];
document.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape', bubbles: true}));
document.title = JSON.stringify([...clicked, f.some(e => e.hidden), Math.abs(box(one)[1] - before) < 1e-6]);
</script>"""
open('b.html', 'w', encoding='utf-8').write(page.replace('</body>', script + '</body>'))
END
    in_browser b.html >dom.html 2>log
    grep -qF '<title>[0,100,true,false,true]</title>' dom.html
}
