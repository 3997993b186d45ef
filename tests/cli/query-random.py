#!/usr/bin/env python3
"""Random SQL over the tables of librocline-sqlite.so, against copies of them in SQLite itself.

Usage: query-random.py LIBRARY SEED COUNT TRACE...; exit code 1 when any answer differs.
"""
import random
import sqlite3
import sys

TABLES = ["kernel", "region", "marker", "memory_copy", "memory_allocation", "counter", "event",
          "thread", "agent", "process", "sample"]
LIMIT = 20000  # rows of an answer that is compared


class Writer:
    """Makes queries of the columns and values that a trace has; %table% stands for a table."""

    def __init__(self, db, trace):
        self.columns, self.values = {}, {}
        for t in TABLES:
            db.execute(f"CREATE TABLE copy_{t} AS SELECT * FROM rocline_{t}(?)", [trace])
            self.columns[t] = [r[1] for r in db.execute(f"PRAGMA table_info(copy_{t})")]
            self.values[t] = {
                c: [r[0] for r in db.execute(f'SELECT DISTINCT "{c}" FROM copy_{t} LIMIT 30')] or [None]
                for c in self.columns[t]}

    def literal(self, v):
        if v is None:
            return "NULL"
        if isinstance(v, str):
            return "'" + v.replace("'", "''").replace("\0", "") + "'"
        return random.choice([repr(v)] * 7 + [repr(float(v)), f"'{v}'", repr(v - 1), repr(v + 0.5)])

    def pattern(self, v, any_, one):
        """Of LIKE or GLOB: a part of a value, with wildcards."""
        text = str(v if v is not None else "x").replace("\0", "")[:60]
        begin = random.randint(0, len(text))
        part = text[begin:random.randint(begin, len(text))]
        if part and random.random() < .3:
            part = part.replace(random.choice(part), random.choice([any_, one]))
        if random.random() < .3:
            part = part.swapcase()
        return self.literal(random.choice(["", any_]) + part + random.choice(["", any_]))

    def condition(self, table, alias):
        name = random.choice(self.columns[table])
        value = lambda: self.literal(random.choice(self.values[table][name]))
        column = f'{alias}."{name}"'
        compare = random.choice(["<", "<=", ">", ">="])
        return random.choice(
            [f"{column} = {value()}"] * 7 + [f"{column} {compare} {value()}"] * 5 +
            [f"{column} IN ({', '.join(value() for _ in range(random.randint(1, 5)))})"] * 4 +
            [f"{column} LIKE {self.pattern(random.choice(self.values[table][name]), '%', '_')}",
             f"{column} GLOB {self.pattern(random.choice(self.values[table][name]), '*', '?')}"] * 2 +
            [f"{column} <> {value()}", f"{column} NOT IN ({value()}, {value()})",
             f"{column} NOT LIKE {self.pattern(random.choice(self.values[table][name]), '%', '_')}",
             f"{column} COLLATE NOCASE IN ({value()}, {value()})",
             f'{column} IN (SELECT max("{name}") FROM %{table}% UNION SELECT {value()})',
             f"({column} = {value()} OR {column} = {value()})",
             f"({column} LIKE {self.pattern(random.choice(self.values[table][name]), '%', '_')} "
             f"OR {column} = {value()})"] +
            [f"{column} IS {value()}", f"{column} IS NOT NULL",
             f"({column} = {value()} OR {column} < {value()})",
             f'{column} = (SELECT max("{name}") FROM %{table}%)'])

    def join(self, a, b):
        common = [c for c in self.columns[a] if c in self.columns[b]]
        on = []
        for c in random.sample(common, min(len(common), random.randint(1, 2))):
            op = random.choice(["=", "=", ">=", "<"]) if c in ("start", "end") else "="
            on.append(f'b."{c}" {op} a."{c}"')
        if random.random() < .3 and all("start" in self.columns[t] for t in (a, b)):
            on = ["b.start >= a.start", f"b.{random.choice(['start', 'end'])} <= a.end"] + on[:1]
        if random.random() < .3:
            on.append(self.condition(a, "a"))
        kind = random.choice(["JOIN", "LEFT JOIN", "CROSS JOIN"])
        return f" {kind} %{b}% b ON " + random.choice([" AND ", " AND ", " OR "]).join(on)

    def query(self):
        """The text, and whether its rows have an order."""
        a, b = random.choice(TABLES), random.choice(TABLES)
        where = [self.condition(a, "a") for _ in range(random.randint(0, 3))]
        names = random.sample(self.columns[a], min(len(self.columns[a]), random.randint(1, 4)))
        shown = [f'a."{c}"' for c in names]
        source = f"%{a}% a"
        if random.random() < .4:
            source += self.join(a, b)
            where += [self.condition(b, "b") for _ in range(random.randint(0, 1))]
            shown.append(f'b."{random.choice(self.columns[b])}"')
        rest = source + (" WHERE " + " AND ".join(where) if where else "")
        kind = random.random()
        if kind < .35:
            group = ", ".join(shown[:2])
            text = f"SELECT {group}, count(*), min({shown[-1]}) FROM {rest} GROUP BY {group}"
            return text + random.choice(["", f" ORDER BY {shown[0]} DESC"]), False
        if kind < .5:
            return f"SELECT DISTINCT {', '.join(shown)} FROM {rest}", False
        if kind < .8:
            order = ", ".join(c + random.choice(["", " DESC"]) for c in shown)
            return f"SELECT {', '.join(shown)} FROM {rest} ORDER BY {order}", True
        return f"SELECT {', '.join(shown)} FROM {rest}", False


def sorted_rows(rows):
    kind = lambda v: (0, 0) if v is None else (2, v) if isinstance(v, str) else (1, v)
    return sorted(rows, key=lambda r: [kind(v) for v in r])


def main():
    library, seed, count, traces = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
    random.seed(seed)
    different = 0
    for trace in traces:
        db = sqlite3.connect(":memory:")
        db.text_factory = lambda b: b.decode(errors="replace")
        db.enable_load_extension(True)
        db.load_extension(library)
        writer = Writer(db, trace)
        for _ in range(count):
            text, ordered = writer.query()
            ours = theirs = text
            for t in TABLES:
                ours = ours.replace(f"%{t}%", f"rocline_{t}('{trace}')")
                theirs = theirs.replace(f"%{t}%", f"copy_{t}")
            expected = db.execute(theirs).fetchmany(LIMIT)
            if len(expected) == LIMIT:
                continue
            got = db.execute(ours).fetchall()
            if not ordered:
                expected, got = sorted_rows(expected), sorted_rows(got)
            if expected != got:
                different += 1
                print(f"{len(got)} rows, not {len(expected)}, or others: {ours}")
    return different > 0


sys.exit(main())
