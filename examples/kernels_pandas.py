#!/usr/bin/env python3
"""Time per kernel and agent with pandas, through Arrow. It takes all formats that rocline reads.

    ./kernels_pandas.py results.db [INPUT...]
"""
import subprocess, sys
import pyarrow.ipc

with subprocess.Popen(["rocline", "export", "-q", "--kinds", "kernel", "--format", "arrows", "-o", "-",
                       *sys.argv[1:]], stdout=subprocess.PIPE) as rocline:
    kernels = pyarrow.ipc.open_stream(rocline.stdout).read_pandas()
if rocline.returncode > 1:  # 1: done, and some records were left out or repaired
    sys.exit(rocline.returncode)
times = kernels.groupby(["agent", "name"], observed=True)["duration"].agg(["count", "sum", "mean"])
print(times.sort_values("sum", ascending=False).to_string())
