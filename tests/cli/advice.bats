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

@test "the manual has the threshold, what to try and the example of each rule as --explain says them" {
    needs python3 "$TOP/man/rocstats.1"
    rocstats --explain list | sed 's/  .*//' >rules
    while read -r rule; do
        rocstats --explain "$rule"
    done <rules >texts
    python3 - "$TOP/man/rocstats.1" <<'PYTHON'
import re, sys

manual = open(sys.argv[1]).read()
manual = manual[manual.index(".Sh ADVICE"):]
manual = manual[:manual.index("\n.Sh ", 1)]
items = {}
for item in manual.split("\n.It Sy ")[1:]:
    name, report = re.match(r"(.*) Pq Cm (.*)\n", item).groups()
    items[name] = (report, " ".join(item.split("\n")[1:]))
explained = re.split(r"\n(?=\S)", open("texts").read().strip())
assert list(items) == [text.split("\n")[0] for text in explained]
for text in explained:
    name, *lines = text.split("\n")
    report, said = items[name]
    assert lines[1] == f"  report     rocstats {report} --advice", (name, report)
    remedy, *example = [line[13:] for line in lines[-4:]]
    example[1] = example[1][0].upper() + example[1][1:]
    want = f".br Try: {remedy}. .br Example: " + " ".join(part + "." for part in example)
    assert want in said, (name, want, said)
    # Each number of the threshold is one of the manual's sentences, too.
    for number in re.findall(r"[0-9.]*[0-9]", lines[2][13:]):
        assert number in said.split(".br")[0], (name, number)
PYTHON
}
