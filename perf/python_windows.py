#!/usr/bin/env python3
"""python_windows.py -- a closed loop in Python: the windows of windows.c by kernbench.Simulation.

usage: python_windows.py MACHINE ROUNDS WINDOWS; samples go to stdout (bench.h), of the thread's own processor time, and to stderr of
each round the sum of the ends, which windows.c must have, too
"""
import sys
import time

import kernbench
import numpy as np

WINDOW, PES, WINDOW_FS = 2000, 64, 1 << 30

windows = int(sys.argv[3])
machine = kernbench.Machine(sys.argv[1])
at = np.arange(WINDOW)
for number in range(1, int(sys.argv[2]) + 1):
    total = 0
    begin = time.thread_time()
    sim = kernbench.Simulation(machine)
    src, slices = sim.endpoints("c*.pe*")[at % PES], sim.endpoints("c*.slice*")
    for window in range(windows):
        ids = sim.add(src=src, dst=slices[(at * 7 + window) % PES], nbytes=256, issue_fs=sim.now_fs + at * (WINDOW_FS // WINDOW // 2))
        sim.run_to(to_fs=(window + 1) * WINDOW_FS)
        total += int(sim.times("status", "end_fs", first=ids[0], n=WINDOW)["end_fs"].sum())
    print(f"closed loop Python,ns a transaction,{number},{(time.thread_time() - begin) / WINDOW / windows * 1e9:.4f}")
    print(total, file=sys.stderr)
