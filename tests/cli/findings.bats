#!/usr/bin/env bats
# The worked example of each cause: see tests/fixtures/findings.awk.

load helper

# The files of an example, whatever its form.
inputs() { # RULE before|after
    case $1 in
    low-occupancy) echo "$FIXTURES/findings/$1.$2_kernel_trace.csv" ;;
    critical-path) echo "$FIXTURES/findings/launch-overhead.$2.json" ;;
    *) echo "$FIXTURES/findings/$1.$2".*json ;;
    esac
}

@test "each rule stands out in its example, and in nothing when it was followed" {
    needs python3 jq
    rocstats -q --table rules --format json "$FIXTURES/empty-tables.db" | jq -r '.tables[0].rows[].rule' >rules
    [ "$(wc -l <rules)" -eq 25 ]
    while read -r rule; do
        for when in before after; do
            # shellcheck disable=SC2046
            rocstats all -q --findings --peak MI300X --format json $(inputs "$rule" $when) >"$rule.$when.json"
        done
    done <rules
    python3 - <<'PYTHON'
import json
for rule in open("rules").read().splitlines():
    for when in "before", "after":
        tables = {t["key"]: t for t in json.load(open(f"{rule}.{when}.json"))["tables"]}
        got = {r["rule"]: r["outcome"] for r in tables["rules"]["rows"]}
        # What is as it should be stays so.
        assert (got[rule] == "stands out") == (when == "before" or rule == "good-pipelining"), (rule, when, got[rule])
        gains = [r for r in tables["findings"]["rows"] if r["level"] == "gain"]
        if when == "before":
            assert all(r["try"] and r["report"] and r["threshold"] for r in gains), gains
        # Copies alone stay so; all other traces are quiet.
        elif rule not in ("slow-copies", "small-copies"):
            assert not gains, (rule, gains)
PYTHON
}

# What a form says first, and of each finding its sentence and its numbers.
@test "the first finding names the cause, and all forms have the same findings, of every input" {
    needs python3
    python3 - "$FIXTURES" "${ROCLINE_DATA:-}" <<'PYTHON'
import csv, glob, html, io, json, os, re, subprocess, sys
fixtures, data = sys.argv[1:]
causes = {}
for path in sorted(glob.glob(f"{fixtures}/findings/*.before*")):
    if "agent_info" not in path:
        causes.setdefault(os.path.basename(path).split(".before")[0], []).append(path)
assert len(causes) >= 25, len(causes)
# What only the steps, graphs or operators of a trace tell is a finding of the reports about these.
named = {"graph-gaps": "launch-overhead", "repeated-kernels": "launch-overhead", "slow-steps": None,
         "first-steps": None, "far-from-peak": None, "few-kernels": None}

def run(*args):
    return subprocess.run(["rocstats", "-q", *args], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout.decode()

def plain(text):
    return re.sub(r"\s+", " ", text).strip()

def findings(files):
    """Those of all forms, which are the same; None: there is no trace."""
    out = run("--format", "json", *files)
    if not out:
        return None
    tables = json.loads(out)["tables"]
    assert tables[0]["key"] == "findings", (files, [t["key"] for t in tables])
    rows, note = tables[0]["rows"], tables[0]["note"]
    # Controls and directions are escaped in ways of their own.
    says = [(r["finding"], r["evidence"]) for r in rows]
    known = [all(c.isascii() and c.isprintable() and c not in "\\|*_<>`[]&\"" for c in e) for _, e in says]
    assert says == [(r["finding"], r["evidence"]) for r in csv.DictReader(io.StringIO(run("--table", "findings", "--format", "csv", *files), newline=""))], files
    text, md, page = (plain(run("--format", f, *files)) for f in ("text", "md", "html"))
    page = plain(html.unescape(re.sub("<[^>]*>", "", page)))
    md = md.replace("\\", "")
    for form in text, md, page:
        assert note in form, (files, note, form[:400])
        at = -1
        for (finding, evidence), k in zip(says, known):
            assert form.find(finding, at + 1) > at, (files, finding, form[:2000])
            at = form.find(finding, at + 1)
            assert not k or form.find(plain(evidence), at) > at, (files, evidence, form[at:at + 400])
        assert form.find("Time by domain") == -1 or form.find("Time by domain") > at
    gains = [r["gain_ns"] or 0 for r in rows if r["level"] == "gain"]
    assert gains == sorted(gains, reverse=True), gains
    return rows

for cause, files in causes.items():
    rows = findings(files)
    want = named.get(cause, cause)
    first = rows[0]["rule"] if rows else None
    assert first is None if want is None else first and want.startswith(first), (cause, rows)
seen = 0
for path in sorted(glob.glob(f"{fixtures}/*.db") + glob.glob(f"{fixtures}/*.json") + (glob.glob(f"{data}/cases3/*/*") if data else [])):
    if os.path.isdir(path) or os.path.getsize(path) < 1 << 20:
        seen += findings([path]) is not None
assert seen > 40, seen
PYTHON
}

@test "rocstats-findings(7) has the threshold and what to try of each rule as the table rules says them" {
    needs jq
    rocstats -q --table rules --format json "$FIXTURES/empty-tables.db" | jq -r '.tables[0].rows[] | [.rule, .report, .threshold, .try] | @tsv' >rules
    [ "$(sed -n 's/^\.It Sy \(.*\) Pq Cm .*/\1/p' "$TOP/man/rocstats-findings.7")" = "$(cut -f1 rules)" ]
    while IFS=$'\t' read -r rule report threshold try; do
        grep -qxF ".It Sy $rule Pq Cm $report" "$TOP/man/rocstats-findings.7" || fail "$rule: $report"
        said=$(sed "1,/^\.It Sy $rule Pq/d; /^\.It/,\$d" "$TOP/man/rocstats-findings.7" | tr '\n' ' ')
        [[ "$said" == *"Try: $try."* ]] || fail "$rule: $said"
        # Each number of the threshold is one of the page's sentences, too.
        for number in $(grep -o '[0-9.]*[0-9]' <<<"$threshold"); do
            [[ "${said%%Try:*}" == *"$number"* ]] || fail "$rule: $number"
        done
    done <rules
}

@test "thresholds: each rule does not stand out at one value, and does at the next" {
    needs python3
    python3 - <<'PYTHON'
import json, subprocess

COLLECTIVE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)"

def work(category, name, begin, duration, gpu=0, stream=1, **args):
    return ("X", category, name, begin, duration, gpu, stream, dict(args, device=gpu, stream=stream))

def kernel(name, begin, duration, *place, **args):
    return work("kernel", name, begin, duration, *place, **args)

def copy(direction, begin, duration, size):
    return work("gpu_memcpy", direction, begin, duration, bytes=size)

def launch(number, begin, *kernels, call="hipLaunchKernel"):
    """A call of 1 us, and kernels (name, begin, duration)."""
    yield ("X", "cuda_runtime", call, begin, 1, 7, 7, {"correlation": number})
    for k in kernels:
        yield kernel(*k, correlation=number)

def each(n, make):
    return [e for i in range(n) for e in make(i)]

def in_turn(*lengths, begin=0):
    """Kernels one after the other: (name, duration)."""
    for name, duration in lengths:
        yield kernel(name, begin, duration)
        begin += duration

def copies(n, size, rate, direction="Memcpy HtoD (Pageable -> Device)"):
    return [copy(direction, i * (size / rate / 1000 + 1), size / rate / 1000, size) for i in range(n)]

def allocations(n, kernels):
    sizes = {"Total Allocated": 4096, "Addr": 140000000000001, "Device Id": 0, "Device Type": 1}
    return [("i", "cpu_instant_event", "[memory]", i, 0, 7, 7, dict(sizes, Bytes=-4096 if i % 2 else 4096)) for i in range(n)] + \
        each(kernels, lambda i: [kernel("k", 20 * i, 19)])

def steps(*durations):
    begin = 0
    for i, duration in enumerate(durations):
        yield ("X", "user_annotation", f"ProfilerStep#{i}", begin, duration, 7, 7, {})
        yield from launch(i + 1, begin + 1, ("k", begin + 3, 1))
        begin += duration + 1

def graph(n, gap):
    return each(n, lambda i: launch(i + 1, 200 * i, ("a", 200 * i + 5, 40), ("b", 200 * i + 45 + gap, 60 - gap), call="hipGraphLaunch"))

def sequence(n, duration, rest=0):
    return each(3 * n, lambda i: launch(i + 1, 30 * i, (f"k{i % 3}", 30 * i + 2, duration))) + \
        each(5, lambda i: launch(3 * n + i + 1, 90 * n + 5000 * i, (f"rest{i}", 90 * n + 5000 * i + 2, rest)))

def streams(n, step):
    return each(n, lambda i: [kernel("a", 2 * step * i, 10, 0, 1), kernel("b", 2 * step * i + step, 10, 0, 2)])

def gap(n, length, gap):
    """Kernels with gaps between them, each launched in time: the host waits for nothing."""
    return each(n, lambda i: launch(i + 1, 100 + (length + gap) * i - 1 - gap / 2, (f"k{i % 3}", 100 + (length + gap) * i, length)))

cases = [
    ("launch-overhead", "overlap", gap(100, 90.5, 9.5), gap(100, 89, 11)),
    ("launch-overhead", "overlap", gap(19, 50, 50), gap(20, 50, 50)),
    ("exposed-communication", "overlap", *(each(30, lambda i: [kernel("k", 100 * i, d), kernel(COLLECTIVE, 100 * i + d, 100 - d, 0, 2)]) for d in (90, 89))),
    ("memory-transfers", "overlap", *(each(30, lambda i: [kernel("k", 100 * i, d), copy("Memcpy HtoD (Pinned -> Device)", 100 * i + d, 100 - d, 1)]) for d in (90, 89))),
    ("short-kernels", "kernels", *(each(n, lambda i: [kernel("k", 10 * i, 5)]) for n in (999, 1000))),
    ("short-kernels", "kernels", *(each(1000, lambda i: [kernel("k", 20 * i, d)]) for d in (10, 9.999))),
    ("slow-copies", "copies", copies(20, 1 << 20, 8), copies(20, 1 << 20, 7.99)),
    ("slow-copies", "copies", copies(20, (1 << 20) - 1, 4), copies(20, 1 << 20, 4)),
    ("slow-copies", "copies", copies(20, 1 << 20, 4, "Memcpy HtoD (Pinned -> Device)"), copies(20, 1 << 20, 4)),
    ("small-copies", "copies", copies(99, 1024, 1), copies(100, 1024, 1)),
    ("small-copies", "copies", copies(1000, 65536, 4), copies(1000, 65535, 4)),
    ("memory-churn", "summary", allocations(999, 100), allocations(1000, 100)),
    ("memory-churn", "summary", allocations(1000, 10000), allocations(1000, 9999)),
    ("serialised-execution", "streams", streams(19, 10), streams(20, 10)),
    ("serialised-execution", "streams", streams(100, 9.4), streams(100, 9.6)),
    ("unequal-gpus", "overlap", *([e for gpu, n in ((0, 100), (1, more)) for e in each(n, lambda i: [kernel("k", 10 * i, 10, gpu)])] for more in (125, 126))),
    ("slow-gpu", "overlap", *([e for gpu, d in ((0, 100), (1, more)) for e in each(100, lambda i: [kernel("k", 200 * i, d, gpu)])] for more in (110, 111))),
    ("dominant-kernel", "kernels", *(each(10, lambda i: in_turn(("a", d), ("b", 100 - d), begin=100 * i)) for d in (50, 51))),
    # Who waits in a collective is not the kernel to make faster, and no part of the whole.
    ("dominant-kernel", "kernels", *(each(10, lambda i: in_turn((COLLECTIVE, 60), ("a", d), ("b", 40 - d), begin=100 * i)) for d in (20, 21))),
    ("kernel-outliers", "kernels", *(each(100, lambda i: [kernel("k", 500 * i, d if i == 50 else 10)]) for d in (121, 122))),
    ("graph-gaps", "launch", graph(9, 30) + graph(1, 0), graph(10, 30)),
    ("graph-gaps", "launch", graph(10, 20), graph(10, 20.1)),
    ("repeated-kernels", "steps", sequence(99, 5), sequence(100, 5)),
    ("repeated-kernels", "steps", sequence(100, 10), sequence(100, 9.99)),
    ("repeated-kernels", "steps", sequence(100, 5, 2701), sequence(100, 5, 2700)),
    ("slow-steps", "steps", steps(*[100] * 20, 150), steps(*[100] * 20, 151)),
    ("first-steps", "steps", steps(150, *[100] * 20), steps(151, *[100] * 20)),
]

def outcome(rule, reports, events):
    keys = ("ph", "cat", "name", "ts", "dur", "pid", "tid", "args")
    with open("x.json", "w") as f:
        json.dump({"schemaVersion": 1, "traceEvents": [dict(zip(keys, e), s="t") for e in events]}, f)
    out = subprocess.run(["rocstats", reports, "--findings", "-q", "--format", "json", "x.json"], stdout=subprocess.PIPE, check=True).stdout
    tables = {t["key"]: t["rows"] for t in json.loads(out)["tables"]}
    return {r["rule"]: r["outcome"] for r in tables["rules"]}[rule], tables["findings"]

for n, (rule, reports, silent, loud) in enumerate(cases):
    got = [outcome(rule, reports, events) for events in (silent, loud)]
    assert got[0][0] != "stands out" and got[1][0] == "stands out", (n, rule, got)
    if rule == "dominant-kernel" and COLLECTIVE in str(loud):
        assert any(r["evidence"] == "52.5 % without communication: a" for r in got[1][1]), got
PYTHON
}

@test "why a GPU is idle: gaps that --min-gap ignores count, and no time of copies" {
    needs python3
    python3 - <<'PYTHON'
import json
def event(category, name, begin, duration, place, **args):
    return {"ph": "X", "cat": category, "name": name, "ts": begin, "dur": duration, "pid": place, "tid": place, "args": args}
events = []
for i in range(201): # 200 gaps of 5 us for launches, then one of 105 us for the host
    begin = 10 * i + 100 * (i == 200)
    events += [event("cuda_runtime", "hipLaunchKernel", begin, 1, 7, correlation=i + 1),
               event("kernel", f"k{i % 3}", begin + 3, 5, 0, correlation=i + 1, device=0, stream=0)]
json.dump({"traceEvents": events}, open("x.json", "w"))
events.append(event("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 1000.5, 700, 0, device=0, stream=1))
json.dump({"traceEvents": events}, open("copy.json", "w"))
PYTHON
    idle() { # ARGUMENT...
        rocstats overlap gaps --findings --format json "$@" | jq -r '.tables[] | select(.key == "findings").rows[0] | .finding + ": " + .evidence'
    }
    [ "$(idle x.json)" = "Launch overhead: a GPU waits for launches: GPU 0 is idle like that for 47.3 % of its time, 90.5 % of all its idle time: 199 times, 5 us on average; its kernels take 5 us on average" ] || fail "$(idle x.json)"
    [ "$(idle --min-gap 50us x.json)" = "A GPU waits, mostly in gaps that options leave out: GPU 0 is idle for 52.3 % of its time" ] || fail "$(idle --min-gap 50us x.json)"
    # While the copy runs, the GPU is not idle.
    [[ "$(idle --gaps-between kernels copy.json)" == "Launch overhead: a GPU waits for launches: GPU 0 is idle like that for "* ]] || fail "$(idle --gaps-between kernels copy.json)"
}

@test "findings do not depend on --top, --sort, --by and -j" {
    for f in memory-transfers late-rank serialised-execution; do
        # shellcheck disable=SC2046
        rocstats -q --format json $(inputs $f before) | jq -c '.tables[0]' >whole
        for options in "--top 1" "--sort name" "--by rank,agent,stream,dims" "-j1" "-j4"; do
            # shellcheck disable=SC2046,SC2086
            rocstats -q --format json $options $(inputs $f before) | jq -c '.tables[0]' | cmp - whole || fail "$f $options"
        done
    done
}
