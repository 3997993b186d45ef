#!/usr/bin/env python3
"""Decodes .rocl files from rocl(5) alone: rocl_decode.py FILE...

Prints a line for each chunk and record as the page describes them, and at the end what it has
counted. Ends with 1 where the page is not kept."""
import struct
import sys
import zlib

MAGIC = bytes.fromhex("89524f434c0d0a1a")
BEGUN = MAGIC[:7] + bytes(1)
FIELDS = {1: 1, 2: 0, 3: 1, 4: 0, 5: 1, 6: 2, 7: 1}  # numbers behind d
NAMES = {1: "begin", 2: "end", 3: "push", 4: "pop", 5: "mark", 6: "start", 7: "stop",
         0x40: "text", 0x41: "name", 0x42: "node", 0x43: "process", 0x44: "thread", 0x45: "agent",
         0x46: "queue", 0x47: "stream", 0x48: "kernel", 0x49: "counter", 0x4a: "process-name",
         0x4b: "parameters", 0x4c: "label", 0x4d: "subject", 0x63: "args",
         0x50: "open-region", 0x51: "open-range", 0x60: "lost", 0x61: "correlate", 0x62: "arg",
         0x70: "dispatch", 0x71: "copy", 0x72: "alloc", 0x73: "barrier", 0x74: "sample",
         0x75: "graph"}
# Bodies: n number, s signed number, t string, r the rest.
BODIES = {0x40: "nr", 0x41: "ntr", 0x42: "tttttt", 0x43: "nnnt", 0x44: "r", 0x45: "nnnssstttttt",
          0x46: "nnt", 0x47: "nnt", 0x48: "nnnssssstt", 0x49: "nnntttt", 0x4a: "r", 0x4b: "np", 0x4c: "nnr", 0x4d: "nnnnnt", 0x50: "nnn",
          0x51: "nn", 0x60: "n", 0x61: "nn", 0x62: "nnr", 0x63: "nv", 0x70: "nssnn" + 13 * "n",
          0x71: "nssnn" + 8 * "n", 0x72: "nssnn" + 9 * "n", 0x73: "nssnn" + 4 * "n",
          0x74: "nssnnnnn", 0x75: "nssnn" + 6 * "n"}


class Wrong(Exception):
    pass


def crc32c_table():
    table = []
    for i in range(256):
        for _ in range(8):
            i = i >> 1 ^ (0x82f63b78 if i & 1 else 0)
        table.append(i)
    return table


TABLE = crc32c_table()


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc = TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xffffffff


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def byte(self):
        if self.at >= len(self.data):
            raise Wrong("a record is cut off")
        self.at += 1
        return self.data[self.at - 1]

    def number(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        if value >> 64:
            raise Wrong("a number of more than 64 bits")
        return value

    def signed(self):
        n = self.number()
        return n >> 1 ^ -(n & 1)

    def bytes(self, n):
        if n > len(self.data) - self.at:
            raise Wrong("a string is cut off")
        self.at += n
        return bytes(self.data[self.at - n:self.at])

    def string(self):
        return self.bytes(self.number())

    def parameters(self):
        return [(self.string(), self.string()) for _ in range(self.number())]

    def values(self):
        """(form, value) of each; there is nothing behind them."""
        values = []
        while self.at < len(self.data):
            form = self.byte()
            must(form <= 8, "the form of a value")
            if form == 0:
                values.append((form,))
            elif form == 1:
                values.append((form, self.signed()))
            elif form == 7:
                values.append((form, self.number(), self.number(), self.number()))
            else:
                values.append((form, self.number()))
        return values

    def rest(self):
        return self.bytes(len(self.data) - self.at)


class Chunk:
    """A header, and the content unpacked."""

    def __init__(self, data, at):
        h = bytes(data[at:at + 256])
        (self.major, _, self.header_size, self.endian, self.features, self.flags, self.crc,
         self.size, progress, self.stored, self.dropped) = struct.unpack_from("<HHIIIIIQQQQ", h, 8)
        self.length, self.events = progress & 0xffffffff, progress >> 32
        self.session = h[64:80]
        (self.process, self.seq, self.pid, self.tid, self.writer, self.clock, self.tick_hz,
         self.base) = struct.unpack_from("<QQIIIIQQ", h, 80)
        self.begin = struct.unpack_from("<QQQQ", h, 128)
        self.end = struct.unpack_from("<QQQQ", h, 160)
        self.header_crc, = struct.unpack_from("<I", h, 192)
        must(self.major == 1 and self.header_size >= 256 and self.endian == 0x01020304,
             "the version, size or byte order of the header")
        must(not self.features & ~1 and not self.flags & ~31, "features and flags")
        must(self.size % 8 == 0 and at + self.size <= len(data), "the size of the chunk")
        must(not any(h[196:200]) and not any(h[232:256]), "reserved bytes")
        self.chunks, = struct.unpack_from("<Q", h, 200)
        must(not self.chunks or self.flags & 12 == 12, "which chunk has the number of chunks")
        must(self.clock in (1, 4), "the clock")
        n = self.stored if self.features & 1 else self.length
        must(self.features & 1 or not self.stored, "stored")
        stored = data[at + self.header_size:at + self.header_size + n]
        if self.flags & 1:
            must(crc32c(h[:192] + bytes(4) + h[196:]) == self.header_crc, "the sum of the header")
            must(crc32c(stored) == self.crc, "the sum of the content")
        self.content = zlib.decompress(stored) if self.features & 1 else bytes(stored)
        must(len(self.content) == self.length, "the length of the content")


def must(holds, what):
    if not holds:
        raise Wrong(what + " is not what the page says")


def body_of(kind, body):
    r = Reader(body)
    take = {"n": r.number, "s": r.signed, "t": r.string, "r": r.rest, "p": r.parameters,
            "v": r.values}
    values = [take[c]() for c in BODIES[kind]]
    must(r.at == len(body), "the length of a record")
    return values


def records(chunk):
    """(type, ticks or None, fields) of each."""
    r, now = Reader(chunk.content), chunk.base
    while r.at < len(r.data):
        kind = r.byte()
        if kind < 0x40:
            must(kind in FIELDS, "the type of a small record")
            now += r.number()
            yield kind, now, [r.number() for _ in range(FIELDS[kind])]
        else:
            body = r.bytes(r.number())
            must(kind in NAMES, "the type of a record")
            yield kind, None, body_of(kind, body)


def check(kind, fields, known):
    """Ids are defined before they are used."""
    texts, names, others, lists = known
    if kind == 0x40:
        texts.add(fields[0])
    elif kind == 0x41:
        names.add(fields[0])
    elif 0x45 <= kind <= 0x49:
        others.add(fields[0])
        must(kind < 0x48 or not fields[2] or fields[2] in others, "the agent of a definition")
    elif kind == 0x4b:
        lists[fields[0]] = len(fields[1])
    if kind in (3, 5, 6):
        must(fields[0] in texts, "a text")
    elif kind == 0x51:
        must(fields[1] in texts, "the text of an open range")
    elif kind == 0x62:
        must(fields[0] in texts and fields[1] in texts, "the texts of an argument")
    elif kind == 0x61:
        must(fields[1] == 1, "which call has a number")
    elif kind == 0x63:
        must(fields[0] in lists and len(fields[1]) == lists[fields[0]], "the list of arguments")
        for value in fields[1]:
            must(value[0] != 8 or value[1] in texts, "the text of an argument")
    elif kind == 1:
        must(fields[0] in names, "a name")
    elif kind == 0x50:
        must(fields[1] in names, "the name of an open call")
    elif 0x71 <= kind <= 0x73 or kind == 0x75:
        must(fields[5] in names, "the name of an event")
    refs = {0x70: (5, 6, 7, 8), 0x71: (6, 7, 8, 9), 0x72: (6, 7, 8), 0x73: (6, 7, 8), 0x74: (5,),
            0x75: (6, 7, 8)}
    for i in refs.get(kind, ()):
        must(not fields[i] or fields[i] in others, "what an event refers to")


def decode(data, say):
    at, counts, dropped = 0, {}, {}
    while at < len(data):
        if data[at:at + 8] == BEGUN:
            at += struct.unpack_from("<Q", data, at + 32)[0]
            continue
        if data[at:at + 8] != MAGIC:
            must(not any(data[at:at + 8]), "what is between chunks")
            at += 8
            continue
        c = Chunk(data, at)
        say("chunk", c.pid, c.tid, c.writer, c.seq, c.events)
        events, known = 0, (set(), set(), set(), {})
        for kind, ticks, fields in records(c):
            check(kind, fields, known)
            events += kind < 0x40 or kind >= 0x70
            counts[NAMES[kind]] = counts.get(NAMES[kind], 0) + 1
            say(" ", NAMES[kind], "" if ticks is None else ticks, *fields)
        must(events == c.events, "the number of events")
        key = (c.session, c.process, c.writer)
        dropped[key] = max(c.dropped, dropped.get(key, 0))
        at += c.size
    counts["dropped"] = sum(dropped.values())
    return counts


def main(argv):
    quiet = argv[1:2] == ["-q"]
    say = (lambda *a: None) if quiet else print
    for path in argv[1 + quiet:]:
        with open(path, "rb") as f:
            counts = decode(memoryview(f.read()), say)
        for name in sorted(counts):
            print(name, counts[name])


if __name__ == "__main__":
    try:
        main(sys.argv)
    except Wrong as e:
        print("rocl_decode:", e, file=sys.stderr)
        sys.exit(1)
