#!/usr/bin/env bats
# A timeline in a page: what is in the file, and what a browser does with it.

load helper

DB=$FIXTURES/everything.db

requires() {
    needs "$DB" python3
}

page() { # python that has `page`, the decoder
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$TOP/tests/cli python3 - "$@"
}

# Every event of a database, as the page prints them: kind, name, how many, their time.
sums() { # database
    local s
    s=$(suffix "$1")
    sqlite3 -readonly "$1" "
        WITH t(id, string) AS (SELECT id, string FROM rocpd_string$s)
        SELECT 'kernel', display_name, count(*), sum(end - start) FROM rocpd_kernel_dispatch$s d
            JOIN rocpd_info_kernel_symbol$s k ON k.id = d.kernel_id GROUP BY display_name
        UNION ALL SELECT 'copy', t.string, count(*), sum(end - start) FROM rocpd_memory_copy$s c
            JOIN t ON t.id = c.name_id GROUP BY t.string"
}

@test "every event is in the page, as the database has it" {
    for db in "$DB" "$FIXTURES/schema-3.0.0.db" "$FIXTURES/schema-4.1.0.db"; do
        try 0 rocline convert -f html -o t.html -d . "$db"
        silent
        PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/cli/page.py" t.html | grep -E '^(kernel|copy)' | LC_ALL=C sort >got
        sums "$db" | LC_ALL=C sort >expected
        diff expected got
        s=$(suffix "$db")
        calls=$(sqlite3 -readonly "$db" "SELECT count(*), sum(end - start) FROM rocpd_region$s")
        page "$calls" <<'END'
import sys, page
info, events, values, cells = page.read('t.html')
host = [e for e in events if e['kind'] in ('region', 'marker')]
assert '%d|%d' % (len(host), sum(e['end'] - e['start'] for e in host)) == sys.argv[1], sys.argv[1]
assert len(events) == info['events'] == info['eventDetails'] and not cells
# An event is there once; within a track they come in order; who is linked has somebody.
assert len({(e['kind'], e['row']) for e in events}) == len(events)
for a, b in zip(events, events[1:]):
    assert a['track'] != b['track'] or a['start'] <= b['start']
calls = {e['stack'] for e in events if e['link'] == 1}
work = {e['stack'] for e in events if e['link'] == 2}
assert calls == work and calls
END
    done
}

@test "kernels have classes, also of one's own" {
    printf 'linear ^cijk_.*hhs\nfills fillbuffer\n' >rules
    try 0 rocline convert -f html --classes rules -o t.html -d . "$DB"
    page <<'END'
import page
info, events, values, cells = page.read('t.html')
names = info['classes']['names']
assert len(names) == 12 and names[10:] == ['linear', 'fills'], names
of = {text: names[int(c, 16)] for text, c in zip(info['texts'], info['classes']['of'])}
assert of['__amd_rocclr_fillBufferAligned'] == 'fills'
assert of['__amd_rocclr_copyBuffer'] == 'copy'
assert of['Cijk_Ailk_Bljk_SB_MT64x64x16_MI16x16x4x1_SN_K1'] == 'GEMM'
assert [c for text, c in of.items() if text.startswith('Cijk_Alik_Bljk_HHS')] == ['linear']
END
}

@test "the same bytes for any number of workers" {
    for options in "" "--max-events 40" "--window 20%..60%" "--args" "--group-by-queue"; do
        # shellcheck disable=SC2086 # words
        rocline convert -q -f html -j1 $options -o a.html -d . "$FIXTURES"/rank?.db
        # shellcheck disable=SC2086 # words
        rocline convert -q -f html -j7 $options --memory 1m -o b.html -d . "$FIXTURES"/rank?.db
        cmp a.html b.html
    done
}

@test "a page needs nothing else, and runs no script but its own" {
    rocline convert -f html -o a.html -d . "$DB"
    rocstats --format html --timeline -o b.html "$DB"
    for file in a.html b.html; do
        run ! grep -qiE 'src=|href="[^#]|url\(|@import|https?:' $file
        page $file <<'END'
import base64, hashlib, re, sys
text = open(sys.argv[1], encoding='utf-8').read()
allowed = re.findall(r"'sha256-([^']*)'", re.search('Content-Security-Policy" content="([^"]*)"', text)[1])
scripts = re.findall(r'<script>(.*?)</script>', text, re.S)
assert len(scripts) == 2
assert allowed == [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts]
END
    done
    grep -q '<table id="kernels">' b.html
    grep -q 'id="tab-panorama"' b.html
    # It has what the page of the timeline alone has.
    sed -n '/id="tl-data"/,/<\/script>/p' a.html >a
    sed -n '/id="tl-data"/,/<\/script>/p' b.html >b
    cmp a b
}

@test "above a number of events: a window in detail, and all of them as densities" {
    total=$(rocline convert -v -f html -o a.html -d . "$DB" 2>&1 | sed -n 's/.* bytes, \([0-9]*\) events.*/\1/p')
    try 0 rocline convert -f html --max-events 50 -o a.html -d . "$DB"
    says " values in detail, from "
    page "$total" <<'END'
import sys, page
info, events, values, cells = page.read('a.html')
assert info['events'] == int(sys.argv[1]) == sum(c['events'] for c in cells)
assert len(events) == info['eventDetails'] < info['events']
begin, end = (int(info['base']) + t for t in info['window'])
assert all(e['start'] <= end and e['end'] >= begin for e in events)
assert all(0 <= c['busy'] <= info['busy'] and c['cell'] < info['cells'] for c in cells)
END
    # A window that was asked for: in it, all that is there.
    rocline convert -q -f html --window 25%..50% -o w.html -d . "$DB"
    rocline convert -f html -o a.html -d . "$DB"
    page <<'END'
import page
info, events, values, cells = page.read('w.html')
every = page.read('a.html')[1]
begin, end = (int(info['base']) + t for t in info['window'])
key = lambda e: (e['kind'], e['row'])
assert sorted(map(key, events)) == sorted(key(e) for e in every if e['start'] <= end and e['end'] >= begin)
# How busy a track is: as its events say.
span, cell = info['span'], info['cell']
for t in {e['track'] for e in every}:
    covered = until = 0
    for e in sorted((e['start'], e['end']) for e in every if e['track'] == t):
        covered += max(0, e[1] - max(until, e[0])); until = max(until, e[1])
    said = sum(c['busy'] for c in cells if c['track'] == t) * cell / info['busy']
    assert covered <= said + 1 and said <= covered + cell * sum(1 for c in cells if c['track'] == t) / info['busy'] + 1
END
    try 2 rocline convert -f html --window 60%..20% -o w.html -d . "$DB"
    says "--window"
    try 2 rocline convert -f html --window soon -o w.html -d . "$DB"
    try 2 rocstats --format html --window 1%..2% -o w.html "$DB"
    try 2 rocstats --timeline "$DB"
    try 2 rocstats compare --format html --timeline -o w.html "$DB" "$DB"
}

# A database with names that mean something to browsers, terminals and decoders.
make_hostile() {
    local s
    cp "$FIXTURES/rank0.db" h.db
    s=$(suffix h.db)
    sqlite3 h.db "UPDATE rocpd_info_kernel_symbol$s SET display_name =
        CASE id % 5 WHEN 0 THEN '</script><script>alert(1)</script><b onclick=x>' || id
        WHEN 1 THEN '<!--' || char(7, 27) || '[31m' || char(8238) || id
        WHEN 2 THEN CAST(x'ff41fe' AS TEXT) || id
        WHEN 3 THEN '\"&amp;''\\u003c' || id
        ELSE replace(hex(zeroblob(524288)), '00', 'ab') END"
}

@test "names are text, whatever they hold" {
    make_hostile
    try 1 rocline convert -f html -o h.html -d . h.db
    says "U+FFFD"
    page <<'END'
import html.parser, page
class P(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(); self.tags = []
    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        assert all(not k.startswith('on') for k, _ in attrs)
p = P(); p.feed(open('h.html', encoding='utf-8').read())
assert p.tags.count('script') == 3 and 'b' not in p.tags
names = {e['name'] for e in page.read('h.html')[1]}
assert any(n.startswith('</script><script>') for n in names) and any(len(n) == 1 << 20 for n in names)
assert any('\x1b[31m' in n for n in names) and any(n.startswith('\ufffdA\ufffd') for n in names)
END
}

in_browser() { # page, and a script that puts words into `out`
    sed -i '/Content-Security-Policy/d' "$1" # for the script of this test
    cat >>"$1" <<END
<script>
var out = [], canvas = document.getElementById('tl-canvas'), \$ = function (id) { return document.getElementById('tl-' + id) };
window.onerror = function (m) { out.push('error ' + m) };
function pointer(type, x, y, more) {
    var r = canvas.getBoundingClientRect();
    canvas.dispatchEvent(new PointerEvent(type, Object.assign({ pointerId: 1, clientX: r.left + canvas.clientLeft + x, clientY: r.top + canvas.clientTop + y, bubbles: true }, more)));
}
function press(key) { canvas.dispatchEvent(new KeyboardEvent('keydown', { key: key, bubbles: true })); dispatchEvent(new KeyboardEvent('keyup', { key: key })) }
function field(name) { var d = [].find.call(document.querySelectorAll('#tl-event dt'), function (t) { return t.textContent === name }); return d && d.nextSibling.textContent }
function test() { $2
}
(function wait(n) {
    if (!canvas.dataset.ready && n) return setTimeout(wait, 50, n - 1);
    try { test() } catch (e) { out.push('error ' + e.message) }
    document.body.innerHTML = '<pre id=result></pre>';
    document.getElementById('result').textContent = 'RESULT ' + JSON.stringify(out);
})(100);
</script>
END
    timeout 60 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/profile" --virtual-time-budget=20000 \
        --window-size=1280,900 --dump-dom "file://$PWD/$1" 2>/dev/null | sed -n 's/.*RESULT \(.*\)<\/pre>.*/\1/p' |
        sed 's/&lt;/</g; s/&gt;/>/g; s/&quot;/"/g; s/&amp;/\&/g'
}

@test "in a browser: zoom, search, an event, an arrow" {
    needs chromium jq
    rocline convert -f html -o a.html -d . "$DB"
    # shellcheck disable=SC2016 # of the script
    in_browser a.html '
        var before = $("range").textContent;
        press("+"); $("in").click();
        out.push(before !== $("range").textContent);
        press("0");
        $("find").value = "HIPLAUNCHKERNEL"; $("find").dispatchEvent(new Event("input"));
        out.push(parseInt($("found").textContent));
        $("next").click();
        out.push(field("Kind"), document.querySelectorAll(".tl-links button").length > 0, field("Id"));
        press("l");
        out.push(field("Kind"), field("Grid (work-items)") !== undefined, field("Begin, clock"));
        press("l");
        out.push(field("Kind"));' >got
    s=$(suffix "$DB")
    launches=$(sqlite3 -readonly "$DB" "SELECT count(*) FROM rocpd_region$s r JOIN rocpd_string$s t ON t.id = r.name_id
        WHERE t.string LIKE '%hiplaunchkernel%'")
    [ "$(jq -c '.[0:4]' got)" = "[true,$launches,\"region\",true]" ] || fail "$(cat got)"
    [ "$(jq -c '[.[5], .[6], .[8]]' got)" = '["kernel",true,"region"]' ] || fail "$(cat got)"
    # The call is one of the database, and launched that kernel.
    try 0 rocline show "$(jq -r '.[4]' got)" "$DB"
    try 0 rocline correlate "$(jq -r '.[4]' got)" "$DB"
    [[ "$output" == *kernel* ]]
}

@test "in a browser: the sums of a selected span are those of the database" {
    needs chromium jq
    rocline convert -f html -o a.html -d . "$DB"
    # shellcheck disable=SC2016 # of the script
    in_browser a.html '
        press("0");
        pointer("pointerdown", 280, 45); pointer("pointermove", 300, 45); pointer("pointermove", 350, 45); pointer("pointerup", 350, 45);
        var card = $("sum"), rows = [].map.call(card.querySelector("tbody").rows, function (r) {
            return [r.cells[0].textContent, +r.cells[1].dataset.v, +r.cells[2].dataset.v] });
        out.push(card.dataset.from, card.dataset.to, rows);
        press("Escape");
        out.push(card.textContent)' >got
    from=$(jq -r '.[0]' got) to=$(jq -r '.[1]' got)
    [ "$(jq -r '.[3]' got)" = "" ]
    s=$(suffix "$DB")
    jq -r '.[2][] | "\(.[0])|\(.[1])|\(.[2])"' got | grep -v '^$' | LC_ALL=C sort >page
    sqlite3 -readonly "$DB" "SELECT display_name, count(*), sum(min(end, $to) - max(start, $from)) FROM rocpd_kernel_dispatch$s d
        JOIN rocpd_info_kernel_symbol$s k ON k.id = d.kernel_id WHERE start < $to AND (end > $from OR start >= $from) GROUP BY display_name" >kernels
    sqlite3 -readonly "$DB" "SELECT t.string, count(*), sum(min(end, $to) - max(start, $from)) FROM rocpd_region$s r
        JOIN rocpd_string$s t ON t.id = r.name_id WHERE t.string GLOB 'hip*' AND t.string != 'hipGraphLaunch'
        AND start < $to AND (end > $from OR start >= $from) GROUP BY t.string" >calls
    [ "$(wc -l <kernels)" -gt 1 ]
    [ "$(wc -l <calls)" -gt 1 ]
    # shellcheck disable=SC2094 # other files
    cat kernels calls | while IFS= read -r line; do
        grep -qxF "$line" page || fail "the page has not: $line"
    done
}

@test "in a browser: hostile names stay text, and every width and theme draws" {
    needs chromium jq
    make_hostile
    rocline convert -q -f html -o h.html -d . h.db || [ $? -eq 1 ]
    # shellcheck disable=SC2016 # of the script
    in_browser h.html '
        window.alert = function () { out.push("error alert") };
        $("find").value = "<\/script>"; $("find").dispatchEvent(new Event("input")); $("next").click();
        out.push(document.querySelector("#tl-event h2").textContent.slice(0, 17), document.querySelectorAll("#tl-event b").length);
        $("find").value = "ababab"; $("find").dispatchEvent(new Event("input")); $("next").click();
        out.push(document.querySelector("#tl-event h2").textContent.length < 5000);
        document.getElementById("theme").click(); press("w"); press("Enter"); press("ArrowDown"); press("m");' >got
    [ "$(cat got)" = '["</script><script>",0,true]' ] || fail "$(cat got)"
}

@test "in a browser: names end within their slices, and the time in view is that of the trace" {
    needs chromium jq
    for name in constructor "WWWWiiiiiiiiiiiiiiiiiiiiiiiiiiii" "🔥🚀🔥🚀🔥🚀🔥🚀🔥🚀" "(anonymous namespace)::kernel" \
        constructor iiiiiiiiiiiiiiiiiiiiiiiiiiii "WWWWWWWWWWWWWWWWiiiiiiiiiiii" "🔥🔥🔥🔥🔥🔥🔥🔥🔥🔥" end; do
        echo "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"$name\", \"pid\": 0, \"tid\": 1,
            \"ts\": $((n++ * 100)), \"dur\": 100}"
    done | jq -s '{traceEvents: .}' >t.json
    rocline convert -f html -o t.html -d . t.json
    # What is drawn of slices that follow each other: a text ends before the next begins, 4 pixels within.
    # shellcheck disable=SC2016 # of the script
    sed -i '/Content-Security-Policy/d; 0,/<script>(function(){/s//<script>var drawn = [], fill = CanvasRenderingContext2D.prototype.fillText;CanvasRenderingContext2D.prototype.fillText = function (t, x, y) { drawn.push([t, x, y, this.measureText(t).width]); fill.apply(this, arguments) };<\/script>&/' t.html
    # shellcheck disable=SC2016 # of the script
    in_browser t.html '
        var names = drawn.filter(function (d) { return d[2] === drawn.find(function (f) { return f[0] === "end" })[2] && d[1] > 200 });
        out.push($("range").textContent, names.length, names[0][0]);
        names.forEach(function (d, i) {
            if (i < 8 && d[1] + d[3] > names[i + 1][1] - 4) out.push(d[0] + " ends behind its slice");
            if (/[\ud800-\udbff](?![\udc00-\udfff])/.test(d[0])) out.push("half of a character")
        });' >got
    [ "$(cat got)" = '["900 us from 0 ns",9,"constructor"]' ] || fail "$(cat got)"
}
