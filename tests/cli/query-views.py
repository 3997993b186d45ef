#!/usr/bin/python3
"""All views and tables of databases, every column of every row: rocline query against SQLite.

query-views.py same DATABASE...          as the file itself has them, in stock SQLite
query-views.py sum DATABASE...           several inputs have the rows of each of them
"""
import collections
import json
import sqlite3
import subprocess
import sys

OF_ALL_ROWS = {"top_kernels", "top", "busy"}  # a share, or one row for several inputs


def plain(value):
    """One form of a value of both: 2.0 is 2, sums of reals differ in their last digits."""
    if isinstance(value, float):
        return int(value) if value == int(value) and abs(value) < 2**53 else float("%.12g" % value)
    if isinstance(value, bytes):
        return "X'%s'" % value.hex().upper()
    return value


def rows_of(columns, rows):
    return [c.lower() for c in columns], collections.Counter(tuple(map(plain, r)) for r in rows)


def of_rocline(sql, inputs):
    run = subprocess.run(["rocline", "query", "-q", "-f", "json", sql, *inputs], capture_output=True, text=True)
    if run.returncode > 1:
        sys.exit(f"{sql}: {run.stderr}")
    result = json.loads(run.stdout)["data"]["results"][0]
    return rows_of(result["columns"], result["rows"])


def names_of(path):
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
        return [n for (n,) in db.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'")]


def of_sqlite(sql, path):
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
        cursor = db.execute(sql)
        return rows_of([d[0] for d in cursor.description], cursor.fetchall())


def compare(what, ours, theirs):
    if ours == theirs:
        return 0
    print(f"{what}: {sum(ours[1].values())} rows, and not {sum(theirs[1].values())}")
    if ours[0] != theirs[0]:
        print("  columns:", *sorted(set(ours[0]) ^ set(theirs[0])))
    for i, column in enumerate(theirs[0] if ours[0] == theirs[0] else []):
        mine, other = (collections.Counter(row[i] for row in of[1].elements()) for of in (ours, theirs))
        if mine != other:
            print(f"  {column}: {list((mine - other).items())[:2]}, and not {list((other - mine).items())[:2]}")
    return 1


def main():
    mode, paths = sys.argv[1], sys.argv[2:]
    wrong = rows = 0
    for path in paths if mode == "same" else paths[:1]:
        for name in names_of(path):
            sql = f'SELECT * FROM "{name}"'
            if mode == "same":
                theirs = of_sqlite(sql, path)
                wrong += compare(f"{path}: {name}", of_rocline(sql, [path]), theirs)
            elif name not in OF_ALL_ROWS and not any(c.isdigit() for c in name):
                each = [of_rocline(sql, [p]) for p in paths]
                theirs = each[0][0], sum((e[1] for e in each), collections.Counter())
                wrong += compare(name, of_rocline(sql, paths), theirs)
            else:
                continue
            rows += sum(theirs[1].values())
    print(rows, "rows")
    sys.exit(wrong > 0 or rows == 0)


main()
