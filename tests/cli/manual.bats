#!/usr/bin/env bats
# The worked examples of rocstats(1) say what rocstats says.

load helper

DEMO=$TOP/tests/fixtures/demo.db

requires() {
    needs python3 "$DEMO" "$FIXTURES/graph.db" "$TOP/man/rocstats.1"
}

tables() { # FILE ARGUMENT...
    rocstats "${@:2}" -q --format json >"$1.json"
}

@test "the numbers of each example" {
    needs sqlite3
    reports=(domains kernels classes copies overlap gaps histogram launch markers attribution queues sequences
        critical-path memory counters streams)
    tables demo "${reports[@]}" "$DEMO"
    tables slices timeline --slices 4 "$DEMO"
    tables attention steps --step-markers '^attention$' "$DEMO"
    tables graph graphs "$FIXTURES/graph.db"
    tables ranks ranks "$FIXTURES/rank0.db" "$FIXTURES/rank1.db"
    tables train collectives critical-path "$TOP"/tests/fixtures/chrome/train[01].json
    cp "$FIXTURES/rank0.db" cut.db
    of=$(sqlite3 cut.db "SELECT substr(name, 15) FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd_metadata_%'")
    stack="(SELECT stack_id FROM rocpd_event E WHERE E.id = event_id)"
    kernels="SELECT id FROM rocpd_kernel_dispatch$of ORDER BY"
    sqlite3 cut.db "DELETE FROM rocpd_pmc_event$of; DELETE FROM rocpd_kernel_dispatch$of WHERE id IN
        (SELECT id FROM ($kernels start LIMIT 3)) OR id IN (SELECT id FROM ($kernels $stack DESC LIMIT 2))"
    rocstats doctor -q --format json cut.db >doctor.json || [ $? -eq 1 ]
    peak=$SHARED/kineto/mi300_bert.json.gz
    [ ! -e "$peak" ] || tables bert roofline --peak MI300X "$peak"
    python3 - "$TOP/man/rocstats.1" <<'PYTHON'
import json, os, re, sys
from decimal import Decimal, ROUND_HALF_UP

manual = open(sys.argv[1]).read()
sections = {}
for part in re.split(r"^\.S[hs] ", manual, flags=re.M)[1:]:
    name, _, text = part.partition("\n")
    text = re.sub(r"^\.(Li|Pa|Cm|Ar|Va|Sx|Pp|Fl|Pq|Ql)\b *", "", text, flags=re.M)
    sections[name] = re.sub(r"\s+", " ", text)

def load(name):
    return {t["key"]: t["rows"] for t in json.load(open(name + ".json"))["tables"]}

def one(rows, **cells):
    found = [r for r in rows if all(str(r[k]).startswith(str(v)) for k, v in cells.items())]
    assert len(found) == 1, (cells, found)
    return found[0]

def digits(v, n=3):
    """As people see it: so many digits that count; 5 is rounded up."""
    after = max(n - 1 - (v >= 10) - (v >= 100), 0)
    return str(Decimal(repr(v)).quantize(Decimal(1).scaleb(-after), ROUND_HALF_UP))

def t(ns, n=3):
    for unit, of in ("s", 1e9), ("ms", 1e6), ("us", 1e3):
        if float(digits(ns / of, n)) >= 1:
            return digits(ns / of, n) + " " + unit
    return "%d ns" % ns

def mib(b):
    return digits(b / 2 ** 20) + " MiB"

def rate(r):
    return digits(r / 1e9) + " GB/s"

def says(section, *phrases):
    for phrase in phrases:
        assert phrase in sections[section], (section, phrase)

demo = load("demo")
total = sum(k["total_ns"] for k in demo["kernels"])
k = one(demo["kernels"], name="Cijk_Alik")
c = one(demo["classes"], **{"class": "GEMM"})
says("Durations", f"{k['calls']} times, which take {t(k['total_ns'])} in total and {t(k['average_ns'])} on average: "
     f"{k['percent']:.2f} % of the {t(total)} of all", f"median is {t(k['median_ns'])}, and 90 percent take no more than "
     f"{t(k['p90_ns'])}", f"GEMM, has {c['names']} names and {c['calls']} calls, with {c['percent']:.2f} %")

big = one(demo["copies"], direction="MEMORY_COPY_DEVICE_TO_HOST", src="GPU 0")
two = one(demo["copies"], direction="MEMORY_COPY_DEVICE_TO_HOST", src="GPU 1")
says("Copies", f"{mib(big['bytes'])} from GPU 0 to {big['dst']} in {t(big['total_ns'])}, at {rate(big['bandwidth'])}",
     f"From GPU 1 it copies {mib(two['bytes'])} in {two['calls']} copies, at {rate(two['bandwidth'])} together; "
     f"the faster one has {rate(two['max_bandwidth'])}", "from 1 to 4 MiB, the other in that from 4 to 16 MiB")
assert [(r["from_bytes"], r["to_bytes"], r["calls"]) for r in demo["copy_sizes"] if r["src"] == "GPU 1"] == \
       [(4 << 20, 16 << 20, 1), (1 << 20, 4 << 20, 1)]

g = one(demo["overlap"], gpu="GPU 0")
says("Overlap", f"busy for {t(g['busy_ns'])[:-3]} of {t(g['wall_ns'])}", f"kernels run for {t(g['compute_ns'])}, communication "
     f"alone for {t(g['exposed_communication_ns'])}, and copies alone for {t(g['exposed_copy_ns'])}; it is idle for "
     f"{t(g['idle_ns'])}", f"take {t(g['copy_ns'])}, of which {t(g['both_ns'])} are hidden, {g['hidden_copy_percent']:.2f} %")
x = one(demo["communication"], gpu="GPU 0")
says("Overlap", f"Communication takes {t(x['communication_ns'])}, of which compute kernels hide {t(x['hidden_ns'])}",
     f"at once for {t(one(demo['concurrency'], gpu='GPU 0', kernels=2)['time_ns'])}")

g, g0 = one(demo["gaps"], gpu="GPU 1"), one(demo["gaps"], gpu="GPU 0")
longest = next(r for r in demo["longest_gaps"] if r["gpu"] == "GPU 1")
of_sync = one(demo["gap_classes"], gpu="GPU 0", **{"class": "sync"})
tail = one(demo["gap_classes"], gpu="GPU 1", **{"class": "tail"})
says("Gaps", f"has {g['gaps']} gaps of {t(g['total_ns'])} in total, {g['wall_percent']:.2f} % of its time, and all are launches",
     f"longest, of {t(longest['gap_ns'])}, is behind {longest['before']}", f"the {g0['gaps']} gaps of GPU 0, "
     f"{of_sync['count']} are of the class sync: {t(of_sync['total_ns'])[:-3]} of {t(g0['total_ns'])}",
     f"tail of {t(tail['total_ns'])}")
assert one(demo["gap_classes"], gpu="GPU 1", **{"class": "launch"})["count"] == g["gaps"]

of_gpu = [r for r in load("slices")["timeline"] if r["gpu"] == "GPU 0"]
says("Timeline", f"has {t(of_gpu[0]['end_ns'] - of_gpu[0]['start_ns'])}", f"for {of_gpu[0]['kernel_percent']:.2f} % of it, and "
     f"{of_gpu[0]['kernels']} kernels start")
assert [(r["kernel_ns"], r["copy_percent"]) for r in of_gpu[2:]] == [(0, 100)] * 2

h = one(demo["histogram"], name="Cijk_Alik", from_ns=50000)
says("Histogram", f"of {k['calls']} calls of Cijk_Alik_Bljk in the demo {h['count']} take from 50 to 100 us: "
     f"{h['count_percent']:.2f} % of the calls, and {h['total_percent']:.2f} % of their time, {t(h['total_ns'])}")

l = one(demo["launch"], name="Cijk_Ailk")
says("Launches", f"{l['launches']} times", f"the call takes {t(l['call_average_ns'])}, {t(l['delay_average_ns'])} later the kernel "
     f"begins, and it runs for {t(l['kernel_average_ns'])}: {t(l['total_average_ns'])} in total", f"no longer than "
     f"{t(l['delay_median_ns'])}, and one waits for {t(l['delay_max_ns'])}",
     f"is {t(demo['launch_delays'][0]['delay_ns'])}, of {demo['launch_delays'][0]['name'][:14]}")

m = next(r for r in demo["markers"] if r["name"] == "attention")
says("Markers", f"lasts {t(m['total_ns'])}, and calls inside it launch {m['kernels']} kernels and {m['copies']} copies",
     f"it is {t(m['gpu_span_ns'])}, and in {t(m['gpu_busy_ns'])} of this", f"In {t(m['exposed_ns'])} of the range none")

pairs = [r for r in demo["marker_kernels"] if r["marker"] == "attention"]
alik = one(pairs, name="Cijk_Alik")
in_loss = one([r for r in demo["marker_kernels"] if r["marker"] == "loss"], name="Cijk_Alik")
a = next(r for r in demo["attribution"] if r["name"] == "attention")
says("Attribution", f"In the demo {sum(r['calls'] for r in pairs)} kernels are launched inside attention , {alik['calls']} of "
     f"them Cijk_Alik_Bljk of {t(alik['average_ns'])} on average; {in_loss['calls']} of these are launched inside loss",
     f"which lasts {t(a['host_total_ns'])} on the host, {t(a['host_own_ns'])} of it in no other range")

if os.path.exists("bert.json"):
    r = next(r for r in load("bert")["roofline"] if r["shapes"] == "[[512],[141,512],[512,512]]")
    says("Roofline", f"{r['calls']} calls of addmm with [[512],[141,512],[512,512]]", f"= {r['flops']:.0f} operations",
         f"In {t(r['total_ns'])} these are {digits(r['tflops_per_s'])} TFLOP/s and {digits(r['bandwidth'] / 1e9)} GB/s, at "
         f"{digits(r['flops_per_byte'])} operations", f"reach {r['peak_percent']:.2f} %")

attention = load("attention")
s, = attention["steps"]
d = {r["domain"]: r for r in attention["step_events"]}
says("Steps", f"it takes {t(s['wall_ns'])} on the host, and {s['kernels']} kernels and {s['copies']} copies are launched",
     f"run for {t(s['gpu_busy_ns'], 4)[:-3]} of {t(s['gpu_span_ns'], 4)}; {t(s['gpu_span_ns'] - s['gpu_busy_ns'], 2)} are idle",
     f"makes {d['HIP']['events']} HIP calls, which last {t(d['HIP']['total_ns'])} in total, and {d['HSA']['events']} HSA calls")

cause = {r["cause"]: r for r in demo["delay_causes"]}
stream = one(demo["queue_lengths"], name="Stream 3")
says("Queues", f"wait {t(sum(r['total_ns'] for r in cause.values()))} in total: {t(cause['queue']['total_ns'])} for earlier work "
     f"of their stream, {t(cause['gpu']['total_ns'])} for other streams, {t(cause['launch']['total_ns'])} are launches of "
     f"{cause['launch']['count']} kernels to streams that had nothing to do, and {t(cause['dispatch']['total_ns'])} are",
     f"no outstanding work for {t(stream['empty_ns'])[:-3]} of {t(stream['wall_ns'])}, but other streams always have",
     f"at most it has {stream['most']}, for {t(stream['most_ns'])}")
assert stream["others_ns"] == stream["empty_ns"]

host = one(demo["copy_bandwidth"], dst="CPU 0", src="GPU 0")
gpus = one(demo["copy_bandwidth"], dst="GPU 1")
says("Queues", f"runs for {t(host['active_ns'])}, {host['active_percent']:.0f} % of the time", f"copies, at "
     f"{rate(host['active_bandwidth'])}", f"peak of {rate(gpus['peak_bandwidth'])} in a slice of {t(gpus['slice_ns'])}",
     f"and {rate(gpus['active_bandwidth'])} while it runs")

g = one(load("graph")["graphs"], graph="1 (0x2)")
says("Graphs", f"launched once with {g['kernels']} kernels, which take {t(g['total_ns'])}; in {t(g['gaps_ns'])} of this, "
     f"{g['gaps_percent']:.2f} %", f"call takes {t(g['call_average_ns'])} on the host, and {t(g['delay_average_ns'])} later")

q = demo["sequences"][0]
gaps = [r["gap_average_ns"] for r in demo["sequence_kernels"] if r["sequence"] == q["sequence"]]
says("Sequences", f"begins with a {q['first_kernel'][:14]} kernel", f"It runs {q['calls']} times, and before its third kernel there "
     f"are {t(gaps[2])} on average")

path = {r["class"]: r for r in demo["critical_path"]}
wall = sum(r["time_ns"] for r in path.values())
if_copies, if_nccl = (one(demo["critical_path_what_if"], name=n) for n in ("MEMORY_COPY_DEVICE_TO_HOST", "nccl"))
says("Critical path", f"{path['copies']['percent']:.2f} % of {t(wall, 4)} are one copy to the host, of {t(path['copies']['time_ns'])}",
     f"all takes {if_copies['saved_percent']:.2f} % less", f"is {t(if_nccl['path_ns'])} of the path, but with half of that, all "
     f"takes only {t(if_nccl['saved_ns'])} less")

train = load("train")
alik = one(train["critical_path_names"], name="Cijk_Alik")
gather = one(train["critical_path_names"], name="nccl")
waits, = train["critical_path_waits"]
says("Critical path", f"takes {t(alik['time_ns'])[:-3]} of 2.9 ms on it, and the collective allgather only "
     f"{gather['time_ns'] / gather['count'] / 1000:.0f} us a step", f"has {t(waits['time_ns'])} of waiting for rank 1")
for r in train["critical_path_ranks"]:
    says("Critical path", " ".join([r["place"], t(r["wall_ns"]), t(r["elsewhere_ns"]), t(r["host_ns"]),
         t(r["outside_ns"]), t(r["launch_ns"]), t(r["kernel_ns"])]))
for r in train["collectives"]:
    says("Collectives", " ".join([r["collective"], str(r["ranks"]), mib(r["bytes"]), str(r["count"]), t(r["latency_ns"]),
         t(r["skew_ns"]), t(r["wait_ns"]), rate(r["bus_bandwidth"])]))
for r in train["collective_ranks"]:
    says("Collectives", " ".join([str(r["rank"]), str(r["matched"]), str(r["last"]), str(r["first"]), t(r["total_wait_ns"]),
         t(r["communication_ns"]), t(r["exposed_ns"]), f"{r['exposed_percent']:.2f}"]))

ranks = load("ranks")
r0, r1 = ranks["ranks"]
i = ranks["rank_imbalance"][0]
says("Ranks", f"rank 0 has {t(r0['kernels_ns'])} of kernels, {r0['percent']:.2f} %, and rank 1 has {t(r1['kernels_ns'])}: the "
     f"larger is {2 * r0['kernels_ns'] / (r0['kernels_ns'] + r1['kernels_ns']):.3f} times the mean",
     f"excess is {i['name']}, with {i['min_calls']} and {i['max_calls']} calls in a rank: the sums are {t(i['min_total_ns'])} and "
     f"{t(i['max_total_ns'])}, the mean {t(i['mean_total_ns'])}; so its excess is {t(i['excess_ns'])}, its imbalance "
     f"{i['imbalance']:.2f}, and the straggler {i['straggler']}")

m = one(demo["memory"], agent="GPU 0")
says("Memory", f"allocates {mib(m['allocated_bytes'])} in {m['allocations']} blocks, and frees one of {m['freed_bytes'] >> 10} KiB",
     f"{m['leaks']} blocks of {mib(m['live_bytes'])} are live", f"one of {demo['leaks'][0]['agent']}, of "
     f"{mib(demo['leaks'][0]['bytes'])}")
assert m["frees"] == 1 and m["peak_bytes"] == m["live_bytes"]

w = one(demo["counters"], counter="SQ_WAVES", kernel="Cijk_Alik")
says("Counters", f"for {w['dispatches']} of the {k['calls']} dispatches of Cijk_Alik_Bljk in the demo: the sum is "
     f"{w['sum']:.0f}, and the mean {w['mean']:.1f}")

s = one(demo["streams"], name="Stream 3")
two = one(demo["stream_concurrency"], gpu="GPU 0", streams=2)
says("Streams", f"has {s['kernels']} kernels", f"busy for {t(s['busy_ns'])}, {s['busy_percent']:.2f} % of the time", f"idle for "
     f"{t(s['idle_ns'])}, of which {t(s['longest_gap_ns'])} are one gap", f"at once for {t(two['time_ns'])}, "
     f"{two['percent']:.2f} % of its time; while any is, {one(demo['stream_activity'], gpu='GPU 0')['average_busy']:.2f} are")

f, = load("doctor")["findings"]
says("Doctor", *(f[key] for key in ("level", "finding", "evidence", "event", "rule")))
PYTHON
}

@test "the script that makes a report for each step" {
    needs jq
    sed -n '/^This makes any report for each step:/,/^\.Ed/p' "$TOP/man/rocstats.1" | grep -v '^\.\|^This' >script
    grep -q 'rocstats kernels --steps' script
    cp "$TOP/tests/fixtures/chrome/train0.json" trace.db # a format is known by the contents
    bash -e script
    [ "$(echo step*.csv)" = "step0.csv step1.csv step2.csv" ]
    [ "$(tail -qn +2 step*.csv | cut -d, -f1 | sort | uniq -c | awk '{ print $1 }' | xargs)" = "3 3 3 3" ]
}
