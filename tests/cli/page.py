"""Reads the data of a page with a timeline, from what lib/page/page.h says alone."""
import json
import re
import struct
import sys
import zlib


def unpack(line):
    out = bytearray()
    for i in range(0, len(line), 5):
        part = line[i:i + 5]
        digits = [20 if c == ord('~') else c - 40 for c in part] + [84] * (5 - len(part))
        word = 0
        for d in digits:
            assert 0 <= d < 85
            word = word * 85 + d
        out += (word & 0xffffffff).to_bytes(4, 'big')[:len(part) - 1]
    return zlib.decompress(bytes(out))


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def next(self):
        v = shift = 0
        while True:
            c = self.data[self.at]
            self.at += 1
            v |= (c & 127) << shift
            shift += 7
            if c < 128:
                return v

    def signed(self):
        v = self.next()
        return v >> 1 ^ -(v & 1)

    def column(self, n):
        return [self.next() for _ in range(n)]

    def sums(self, n):
        v, out = 0, []
        for _ in range(n):
            v = v + self.signed() & (1 << 64) - 1
            out.append(v)
        return out


def ascending(deltas, base):
    out = []
    for d in deltas:
        base += d
        out.append(base)
    return out


def details(r, info):
    all_ = []
    for _ in range(r.next()):
        one = []
        while (f := r.next()):
            name, kind = info['fields'][f - 1]
            if kind == 'd':
                one.append((name, r.column(3)))
            elif kind == 'a':
                name, n = info['texts'][r.next()], r.next()
                one.append((name, bytes(r.data[r.at:r.at + n])))
                r.at += n
            else:
                v = r.next()
                one.append((name, info['texts'][v] if kind == 't' else v))
        all_.append(one)
    assert r.at == len(r.data)
    return all_


def read(path):
    """What the page is of, its events, its values and its cells."""
    page = open(path, 'rb').read()
    found = re.search(rb'<script type="application/x-rocline-timeline" id="tl-data">\n(.*?)</script>', page, re.S)
    blocks = [unpack(line) for line in found[1].split()]
    info = json.loads(blocks.pop().decode())
    base, texts, events, values, cells = int(info['base']), info['texts'], [], [], []
    for block in blocks:
        r = Reader(block)
        kind, track, n = r.next(), r.next(), r.next()
        if kind == 0:
            start = ascending(r.column(n), base)
            columns = [start, [s + d for s, d in zip(start, r.column(n))],
                       [texts[i] for i in r.column(n)], r.column(n), r.sums(n), r.sums(n), r.column(n)]
            number = r.column(n)
            known = details(r, info)
            for begin, end, name, flags, row, stack, size, d in zip(*columns, number):
                events.append({'track': track, 'start': begin, 'end': end, 'name': name,
                               'kind': info['kinds'][flags & 15], 'link': flags >> 4, 'row': row,
                               'stack': stack, 'size': size, 'details': known[d]})
        elif kind == 1:
            time = ascending(r.column(n), base)
            if r.data[r.at]:
                v = struct.unpack('<%dd' % n, r.data[r.at + 1:])
            else:
                r.at += 1
                v, last = [], 0
                for _ in range(n):
                    last += r.signed()
                    v.append(last)
            values += [{'track': track, 'time': t, 'value': x} for t, x in zip(time, v)]
        else:
            number = ascending(r.column(n), 0)
            cells += [{'track': track, 'cell': c, 'events': e, 'busy': b}
                      for c, e, b in zip(number, r.column(n), r.column(n))]
    return info, events, values, cells


if __name__ == '__main__':
    info, events, values, cells = read(sys.argv[1])
    sums = {}
    for e in events:
        s = sums.setdefault((e['kind'], e['name']), [0, 0])
        s[0] += 1
        s[1] += e['end'] - e['start']
    for (kind, name), (n, time) in sorted(sums.items()):
        print(kind, name, n, time, sep='|')
