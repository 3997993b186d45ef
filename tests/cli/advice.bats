#!/usr/bin/env bats
# The worked example of each rule of the advice: see tests/fixtures/advice.awk.

load helper

# The files of an example, whatever its form.
inputs() { # RULE before|after
    case $1 in
    low-occupancy) echo "$FIXTURES/advice/$1.$2_kernel_trace.csv" ;;
    *) echo "$FIXTURES/advice/$1.$2".*json ;;
    esac
}

@test "each rule stands out in its example as --explain says, and in nothing when it was followed" {
    needs python3
    local rule file when peak
    rocstats --explain list | sed 's/  .*//' >rules
    [ "$(wc -l <rules)" -eq 20 ]
    while read -r rule; do
        file=$(tr ' A-Z' '-a-z' <<<"$rule")
        peak=()
        [ "$file" != far-from-the-peak ] || peak=(--peak MI300X)
        rocstats --explain "$rule" >"$file.txt"
        for when in before after; do
            # shellcheck disable=SC2046
            rocstats all -q --advice "${peak[@]}" --format json $(inputs "$file" $when) >"$file.$when.json"
        done
    done <rules
    python3 - "$FIXTURES/advice" <<'PYTHON'
import csv, glob, json, sys

def span(rule, when):
    """From the first begin to the last end, in ms."""
    times = []
    for name in glob.glob(f"{sys.argv[1]}/{rule}.{when}*"):
        if name.endswith("kernel_trace.csv"):
            for row in csv.DictReader(open(name)):
                times += [int(row["Start_Timestamp"]) / 1000, int(row["End_Timestamp"]) / 1000]
        elif name.endswith("json"):
            for e in json.load(open(name))["traceEvents"]:
                if e["ph"] == "X":
                    times += [e["ts"], e["ts"] + e["dur"]]
    return (max(times) - min(times)) / 1000

for rule in open("rules").read().splitlines():
    name = rule.lower().replace(" ", "-")
    text = open(name + ".txt").read().splitlines()
    words = {line[2:11].strip(): line[13:] for line in text[1:]}
    at = next(i for i, line in enumerate(text) if line.startswith("  example"))
    seen, done, changed = (line[13:] for line in text[at:])
    assert set(words) >= {"meaning", "report", "threshold", "formula", "try", "example"}, rule
    assert all(words[w] for w in words if w), rule
    assert len(done) > 20, rule
    assert changed == f"{span(name, 'before'):.2f} ms become {span(name, 'after'):.2f} ms", (rule, changed)
    for when, outcome in ("before", "stands out"), ("after", "does not stand out"):
        tables = {t["key"]: t for t in json.load(open(f"{name}.{when}.json"))["tables"]}
        got = {r["rule"]: r["outcome"] for r in tables["advice_rules"]["rows"]}
        assert got[rule] == outcome, (rule, when, got[rule])
        evidence = [r["evidence"] for r in tables["advice"]["rows"]]
        assert (seen in evidence) == (when == "before"), (rule, when, seen, evidence)
        # Copies alone stay so; all other traces are quiet.
        if when == "after" and name != "slow-or-small-copies":
            assert not evidence, (rule, evidence)
PYTHON
}

@test "rocstats-advice(7) has the threshold and what to try of each rule as --explain says them" {
    rocstats --explain list | sed 's/  .*//' >rules
    [ "$(sed -n 's/^\.It Sy \(.*\) Pq Cm .*/\1/p' "$TOP/man/rocstats-advice.7")" = "$(<rules)" ]
    while read -r rule; do
        rocstats --explain "$rule" >text
        report=$(sed -n 's/^  report  *rocstats \([^ ]*\) --advice$/\1/p' text)
        grep -qxF ".It Sy $rule Pq Cm $report" "$TOP/man/rocstats-advice.7" || fail "$rule: $report"
        said=$(sed "1,/^\.It Sy $rule Pq/d; /^\.It/,\$d" "$TOP/man/rocstats-advice.7" | tr '\n' ' ')
        [[ "$said" == *"Try: $(sed -n 's/^  try  *//p' text)."* ]] || fail "$rule: $said"
        # Each number of the threshold is one of the page's sentences, too.
        for number in $(sed -n 's/^  threshold  *//p' text | grep -o '[0-9.]*[0-9]'); do
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

def in_turn(*lengths):
    """Kernels one after the other: (name, duration)."""
    begin = 0
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

def ranks(*durations):
    return [[kernel("k", 0, d)] for d in durations]

def hidden(work, begin_again):
    return [kernel("a", 0, 50), kernel("b", begin_again, 100 - begin_again), work]

cases = [
    ("idle GPU", "overlap", [kernel("a", 0, 35), kernel("b", 65, 35)], [kernel("a", 0, 34.999), kernel("b", 65, 35)]),
    ("exposed copies", "overlap", *(hidden(copy("Memcpy HtoD (Pinned -> Device)", 40, 30, 1), b) for b in (60, 60.001))),
    ("exposed communication", "overlap", *(hidden(kernel(COLLECTIVE, 40, 30, 0, 2), b) for b in (60, 60.001))),
    ("short kernels", "kernels", *(each(n, lambda i: [kernel("k", 20 * i, 5)]) for n in (999, 1000))),
    ("short kernels", "kernels", *(each(1000, lambda i: [kernel("k", 20 * i, d)]) for d in (10, 9.999))),
    ("slow or small copies", "copies", copies(2, 1 << 20, 8), copies(2, 1 << 20, 7.99)),
    ("slow or small copies", "copies", copies(2, (1 << 20) - 1, 4), copies(2, 1 << 20, 4)),
    ("slow or small copies", "copies", copies(2, 1 << 20, 4, "Memcpy HtoD (Pinned -> Device)"), copies(2, 1 << 20, 4)),
    ("slow or small copies", "copies", copies(999, 1024, 1), copies(1000, 1024, 1)),
    ("slow or small copies", "copies", copies(1000, 65536, 4), copies(1000, 65535, 4)),
    ("allocations", "summary", allocations(999, 100), allocations(1000, 100)),
    ("allocations", "summary", allocations(1000, 10000), allocations(1000, 9999)),
    ("streams in sequence", "streams", streams(99, 10), streams(100, 10)),
    ("streams in sequence", "streams", streams(100, 9.4), streams(100, 9.6)),
    ("unequal GPUs", "overlap", *([kernel("a", 0, d, 0), kernel("b", 0, 2000 - d, 1)] for d in (1250, 1251))),
    ("slow rank", "ranks", ranks(1100, 900), ranks(1101, 899)),
    ("dominant kernel", "kernels", in_turn(("a", 50), ("b", 50)), in_turn(("a", 51), ("b", 49))),
    # Who waits in a collective is not the kernel to make faster, and no part of the whole.
    ("dominant kernel", "kernels", *([*in_turn((COLLECTIVE, 60), ("a", d), ("b", 40 - d))] for d in (20, 21))),
    ("empty queues", "streams", *(each(n, lambda i: launch(i + 1, 100 * i, ("k", 100 * i + 2, 30))) for n in (99, 100))),
    ("empty queues", "streams", *(each(100, lambda i: launch(i + 1, 100 * i, ("k", 100 * i + 2, d))) for d in (70, 67))),
    ("gaps in graphs", "launch", graph(9, 30), graph(10, 30)),
    ("gaps in graphs", "launch", graph(10, 20), graph(10, 20.1)),
    ("repeated kernels", "steps", sequence(99, 5), sequence(100, 5)),
    ("repeated kernels", "steps", sequence(100, 10), sequence(100, 9.99)),
    ("repeated kernels", "steps", sequence(100, 5, 2701), sequence(100, 5, 2700)),
    ("slow steps", "steps", steps(100, 100, 100, 300), steps(100, 100, 100, 100, 300)),
    ("slow steps", "steps", steps(*[100] * 9, 150), steps(*[100] * 9, 151)),
    ("first steps", "steps", steps(150, *[100] * 9), steps(151, *[100] * 9)),
]

def outcome(rule, reports, events):
    events = list(events)
    names = []
    for rank, some in enumerate(events if isinstance(events[0], list) else [events]):
        names.append(f"{rank}.json")
        keys = ("ph", "cat", "name", "ts", "dur", "pid", "tid", "args")
        with open(names[-1], "w") as f:
            json.dump({"schemaVersion": 1, "distributedInfo": {"rank": rank, "world_size": 2},
                       "traceEvents": [dict(zip(keys, e), s="t") for e in some]}, f)
    out = subprocess.run(["rocstats", reports, "--advice", "-q", "--format", "json", *names], stdout=subprocess.PIPE, check=True).stdout
    tables = {t["key"]: t["rows"] for t in json.loads(out)["tables"]}
    return {r["rule"]: r["outcome"] for r in tables["advice_rules"]}[rule], tables["advice"]

for n, (rule, reports, silent, loud) in enumerate(cases):
    got = [outcome(rule, reports, events) for events in (silent, loud)]
    assert got[0][0] != "stands out" and got[1][0] == "stands out", (n, rule, got)
    if rule == "dominant kernel" and COLLECTIVE in str(loud):
        assert got[1][1][0]["evidence"] == "52.5 % without communication: a", got
PYTHON
}

@test "streams of which --top leaves out some are not judged" {
    needs python3
    python3 - >x.json <<'PYTHON'
import json
print(json.dumps({"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "ts": 10 * i, "dur": 10, "pid": 0, "tid": i % 3,
                                   "args": {"device": 0, "stream": i % 3}} for i in range(300)]}))
PYTHON
    rocstats streams --advice --format json x.json | jq -e '.tables[] | select(.key == "advice").rows[0].evidence | startswith("3 streams")' >/dev/null
    [ "$(rocstats streams --advice --top 2 --format json x.json | jq -r '.tables[] | select(.key == "advice_rules").rows[] | select(.rule == "streams in sequence").why')" = "--top leaves out streams" ]
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
        rocstats overlap gaps --advice --format json "$@" | jq -r '.tables[] | select(.key == "advice").rows[0] | .finding + ": " + .evidence'
    }
    [ "$(idle x.json)" = "A GPU waits for launches: GPU 0 is idle for 52.3 % of its time, 90.5 % of that for this cause" ] || fail "$(idle x.json)"
    [ "$(idle --min-gap 50us x.json)" = "A GPU waits, mostly in gaps that options leave out: GPU 0 is idle for 52.3 % of its time" ] || fail "$(idle --min-gap 50us x.json)"
    # While the copy runs, the GPU is not idle.
    [ "$(idle --gaps-between kernels copy.json)" = "A GPU waits for launches: GPU 0 is idle for 35.6 % of its time, 86.1 % of that for this cause" ] || fail "$(idle --gaps-between kernels copy.json)"
}
