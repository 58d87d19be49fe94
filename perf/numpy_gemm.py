#!/usr/bin/env python3
"""numpy_gemm.py -- numpy's product of f16 matrices, directly and through float32.

usage: numpy_gemm.py ROUNDS; samples go to stdout (bench.h)
"""
import sys
import time

import numpy as np


def microseconds(times, product):
    begin = time.process_time()
    for _ in range(times):
        product()
    return (time.process_time() - begin) / times * 1e6


a = np.random.rand(128, 256).astype(np.float16)
b = np.random.rand(256, 128).astype(np.float16)
for number in range(1, int(sys.argv[1]) + 1):
    direct = microseconds(10, lambda: a @ b)
    wide = microseconds(300, lambda: (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16))
    print(f"numpy f16 128x256x128,us,{number},{direct:.4f}")
    print(f"numpy f32 f16 128x256x128,us,{number},{wide:.4f}")
