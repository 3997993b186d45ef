#!/usr/bin/env python3
"""Traces of ranks of which one is late, in PyTorch's form, of which the answer is known.

Usage: ranks.py FOLDER [KEY=VALUE]...
  ranks=4 late=2 (or several: 1,2) cause=kernels|copies|launches|host|none by=100 (us) meeting=kernels|mpi|mpi-calls|calls|steps|bcast
  steps=20 cut=0 (steps that the late one has not, and the first rank not at the end) apart=0 (seconds between the clocks of two hosts, half of the ranks on each) jitter=0 (us) seed=7
"""
import json, os, random, sys

o = dict(ranks="4", late="2", cause="kernels", by="100", meeting="kernels", steps="20", apart="0", jitter="0", cut="0", seed="7")
o.update(a.split("=") for a in sys.argv[2:])
n, by, steps, apart, jitter, cut = (int(o[k]) for k in ("ranks", "by", "steps", "apart", "jitter", "cut"))
late = [int(r) for r in o["late"].split(",")]
random.seed(int(o["seed"]))
events = [[] for _ in range(n)]
clock = [1000 * 1000.0] * n

def add(rank, cat, name, begin, ns, **args):
    shift = apart * 1e6 if apart and rank >= n // 2 else 0
    events[rank].append(dict(ph="X", cat=cat, name=name, ts=begin + shift, dur=ns, args=args, step=step,
                             pid=rank if cat in ("kernel", "gpu_memcpy") else 100 + rank, tid=7))

for step in range(steps):
    arrivals, begins = [], list(clock)
    for r in range(n):
        more = {o["cause"]: by} if r in late else {}
        t = clock[r] + random.randint(0, jitter)
        add(r, "user_annotation", "load", t, 50 + more.get("host", 0))
        t += 50 + more.get("host", 0)
        id = 10 * step
        for name, ns in ("hipLaunchKernel", 20 + more.get("launches", 0)), ("hipMemcpyAsync", 10), ("hipLaunchKernel", 10):
            id += 1
            add(r, "cuda_runtime", name, t, ns, correlation=id)
            t += ns
        gpu = t
        for cat, name, ns in ("kernel", "solve", 100 + more.get("kernels", 0)), ("gpu_memcpy", "Memcpy HtoD", 30 + more.get("copies", 0)):
            add(r, cat, name, gpu, ns, device=r, stream=1, correlation=10 * step + 1 + (cat != "kernel"), bytes=4096)
            gpu += ns
        if o["meeting"] != "kernels":
            add(r, "cuda_runtime", "hipDeviceSynchronize", t, gpu - t + 5, correlation=id + 1)
            gpu += 5
        arrivals.append(gpu)
    for r in range(n):
        end = max(arrivals) + 20
        if o["meeting"] == "kernels":
            add(r, "kernel", "ncclDevKernel_AllReduce_Sum_f32(x)", arrivals[r], end - arrivals[r], device=r, stream=1, correlation=10 * step + 3)
        elif o["meeting"].startswith("mpi"):
            if o["meeting"] == "mpi":
                add(r, "user_annotation", "MPI_Allreduce", arrivals[r], end - arrivals[r])
            add(r, "mpi", "MPI_Allreduce", arrivals[r] + 1, end - arrivals[r] - 1)
        elif o["meeting"] == "bcast":  # rank 0 sends and goes on
            add(r, "user_annotation", "MPI_Bcast", arrivals[r], (arrivals[0] + 5 if r == 0 else end) - arrivals[r])
        elif o["meeting"] == "calls":
            add(r, "rccl", "ncclAllReduce", arrivals[r], 4)
        else:
            add(r, "user_annotation", f"step:{step}", begins[r], arrivals[r] - begins[r])
        clock[r] = end + 10 if o["meeting"] != "steps" else max(arrivals) + 10

for r in range(n):
    first, past = (cut if r in late else 0), steps - (cut if r not in late else 0)
    events[r] = [e for e in events[r] if e["step"] in range(first, past)]
    name = f"node{2 * r // n}_{1000 + r}.170000.pt.trace.json" if apart else f"rank{r}.json"
    with open(os.path.join(sys.argv[1], name), "w") as f:
        json.dump(dict(schemaVersion=1, distributedInfo=dict(backend="nccl", rank=r, world_size=n), traceEvents=events[r]), f)
