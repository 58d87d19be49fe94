#!/usr/bin/env python3
"""python_call.py -- what a call costs in a kernel in Python: the sum of two tensors of eight elements.

usage: python_call.py ROUNDS; samples go to stdout (bench.h), of the thread's own processor time
"""
import sys
import time

import kernbench
import kernbench.language as tl
import numpy as np

CALLS = 50000


@kernbench.kernel
def calls(x_ptr, n, spent):
    x = tl.load(x_ptr + tl.arange(0, n))
    begin = time.thread_time()
    for _ in range(CALLS):
        x + x
    spent.append((time.thread_time() - begin) / CALLS * 1e6)


machine = kernbench.Machine("cube8")
for number in range(1, int(sys.argv[1]) + 1):
    spent = []
    machine.run(calls[(1,)](np.zeros(8, np.float32), 8, spent), quiet=True)
    print(f"kernel in Python,us a call,{number},{spent[0]:.4f}")
