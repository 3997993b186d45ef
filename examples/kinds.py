#!/usr/bin/env python3
"""The same as kinds.c, by ctypes: events of each kind, and how long they took together.

    LD_LIBRARY_PATH=/usr/local/lib ./kinds.py results.db
"""
import collections, ctypes as c, sys

lib = c.CDLL("librocline.so.0")
lib.rocl_error_new.restype = c.c_void_p
lib.rocl_error_text.restype = lib.rocl_kind_name.restype = c.c_char_p
class Event(c.Structure):  # the begin of every event
    _fields_ = [("start", c.c_int64), ("end", c.c_int64), ("duration", c.c_int64)]
class Batch(c.Structure):
    _fields_ = [("capture", c.c_void_p), ("kind", c.c_int), ("count", c.c_size_t), ("events", c.c_void_p)]
lib.rocl_batch_event.restype = c.POINTER(Event)
ALL_KINDS = c.c_uint32(0x1fff)  # ROCL_ALL_KINDS
events, total = collections.Counter(), collections.Counter()

@c.CFUNCTYPE(c.c_int, c.c_void_p, c.c_uint, c.POINTER(Batch), c.c_void_p)
def add_batch(ctx, worker, batch, err):  # Python runs one worker at a time
    kind, count = batch.contents.kind, batch.contents.count
    events[kind] += count
    total[kind] += sum(lib.rocl_batch_event(batch, c.c_size_t(i)).contents.duration for i in range(count))
    return 0

err, trace = c.c_void_p(lib.rocl_error_new()), c.c_void_p()
inputs = (c.c_char_p * (len(sys.argv) - 1))(*[name.encode() for name in sys.argv[1:]])
options = bytes(4096)  # of zeros: the defaults
status = lib.rocl_trace_open(c.byref(trace), inputs, c.c_size_t(len(inputs)), options, err)
if status == 0:  # 1: done, and some records were left out or repaired; above: it failed
    status = lib.rocl_trace_scan(trace, ALL_KINDS, c.c_uint32(0), add_batch, None, err)
if status > 1:
    print(f"{sys.argv[0]}: {lib.rocl_error_text(err).decode()}", file=sys.stderr)
for kind in sorted(events):
    print(f"{lib.rocl_kind_name(kind).decode():12} {events[kind]:12} events {total[kind]:16} ns")
lib.rocl_trace_close(trace)
sys.exit(status)
