"""The same sums by name as of `rocstats summary`, with what Python has: json, csv, sqlite3; with
--pandas the table of `rocstats summary`, as tables of pandas give it (CSV and JSON of rocprof).
Usage: profilers.py [--pandas] FILE"""
import collections, csv, json, re, sqlite3, sys


def sum_with_pandas(path):
    import pandas
    if path.endswith(".csv"):
        rows = pandas.read_csv(path)
        name = "Kernel_Name" if "Kernel_Name" in rows else "Function"
        rows["ns"] = rows["End_Timestamp"] - rows["Start_Timestamp"]
        return rows, name
    with open(path) as f:
        trace = json.load(f)
    if "rocprofiler-sdk-tool" in trace:
        tables = trace["rocprofiler-sdk-tool"][0]["buffer_records"]
        tables = {name: pandas.json_normalize(table) for name, table in tables.items() if table}
        rows = tables["kernel_dispatch"]
        rows["ns"] = rows["end_timestamp"] - rows["start_timestamp"]
        return rows, "dispatch_info.kernel_id"
    rows = pandas.DataFrame([e for e in trace["traceEvents"] if e.get("ph") == "X"])
    rows["ns"] = pandas.json_normalize(rows["args"])[["BeginNs", "EndNs"]].astype("int64").diff(axis=1)["EndNs"]
    return rows, "name"


path = sys.argv[-1]
total = collections.Counter()
if "--pandas" in sys.argv:
    rows, name = sum_with_pandas(path)
    table = rows.groupby(name)["ns"].agg(["count", "sum", "mean", "min", "max", "std"])
    total.update({str(key): ns for key, ns in table["sum"].items()})
elif path.endswith(".db"):
    db = sqlite3.connect(path)
    for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        name = "KernelName" if table == "KERN" else "Name"
        for key, begin, end in db.execute(f'SELECT "{name}", "BeginNs", "EndNs" FROM "{table}"'):
            total[key] += end - begin
elif path.endswith(".rpd"):
    db = sqlite3.connect(path)
    text = dict(db.execute("SELECT id, string FROM rocpd_string"))
    for key, args, begin, end in db.execute("SELECT apiName_id, args_id, start, end FROM rocpd_api"):
        total[text[args] if text[key] == "UserMarker" else text[key]] += end - begin
    for key, kind, begin, end in db.execute("SELECT description_id, opType_id, start, end FROM rocpd_op"):
        total[text[key] or text[kind]] += end - begin
elif path.endswith(".csv"):
    with open(path, newline="") as f:
        rows = csv.reader(f)
        header = next(rows)
        name = header.index("Kernel_Name" if "Kernel_Name" in header else "Function")
        begin, end = header.index("Start_Timestamp"), header.index("End_Timestamp")
        for row in rows:
            total[row[name]] += int(row[end]) - int(row[begin])
elif path.endswith(".txt"):
    call = re.compile(r"(\d+):(\d+) \d+:\d+ ([^(]*|.*?)(?:\(|:\d+)")
    dispatch = re.compile(r'.* kernel-name\("(.*?)"\), time\(\d+,(\d+),(\d+)')
    marker = re.compile(r'(\d+) \d+:(\d+) (\d):\d+:"(.*)"')
    stacks = collections.defaultdict(list)
    with open(path) as f:
        for line in f:
            if m := call.match(line):
                total[m[3]] += int(m[2]) - int(m[1])
            elif m := dispatch.match(line):
                total[m[1]] += int(m[3]) - int(m[2])
            elif m := marker.match(line):
                if m[3] == "1":
                    stacks[m[2]].append((m[4], int(m[1])))
                elif stacks[m[2]]:
                    key, begin = stacks[m[2]].pop()
                    total[key] += int(m[1]) - begin
else:
    with open(path) as f:
        trace = json.load(f)
    if "traceEvents" in trace:
        for e in trace["traceEvents"]:
            if e.get("ph") == "X":
                args = e["args"]
                total[e["name"]] += (int(args["EndNs"]) - int(args["BeginNs"]) if "EndNs" in args
                                     else round(1000 * e["dur"]))
    else:
        p = trace["rocprofiler-sdk-tool"][0]
        names = {s["kernel_id"]: s["formatted_kernel_name"] for s in p["kernel_symbols"]}
        operations = [k["operations"] for k in p["strings"]["buffer_records"]]
        for r in p["buffer_records"]["kernel_dispatch"]:
            total[names[r["dispatch_info"]["kernel_id"]]] += r["end_timestamp"] - r["start_timestamp"]
        for r in p["buffer_records"]["hip_api"]:
            total[operations[r["kind"]][r["operation"]]] += r["end_timestamp"] - r["start_timestamp"]
for name, ns in total.most_common(3):
    print(ns, name)
