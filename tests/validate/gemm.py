#!/usr/bin/env python3
"""gemm.py -- products of matrices on a chip, measured, beside the bench gemm: a table of docs/validation.md.

usage: gemm.py KERNBENCH

KB_VALIDATE names a folder with gemm.csv: source, machine, grid, dtype, fidelity, m, k, n, host_ns,
device_utilisation_pct. Compared is the time that the host has measured, of the rows in bf16. Prints
a table, and ends with 1 if docs/validation.md has other figures.
"""

import csv
import sys

from page import TREE, compare_on, mean, measured, must_run

# What is measured on it stands in docs/validation.md.
MACHINE = (TREE / "topologies/n150.yaml").read_text(encoding="ascii")

# Of m, k and n.
FITTED = (1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096)


def size_of(point):
    return tuple(int(point[axis]) for axis in "mkn")


def simulate(size, kernbench, machine):
    """Microseconds."""
    rows = must_run([kernbench, "run", "gemm", "dtype=bf16", "GRID=8", *(f"{a}={n}" for a, n in zip("MKN", size)),
                     "--machine", machine, "--quiet", "--format", "csv"])
    return float(next(csv.DictReader(rows.splitlines()))["kernel_ns"]) / 1000


def is_small(size):
    """Told beside: it is neither 1024^3, nor are all of its extents 2048 and more."""
    return size != FITTED[0] and min(size) < 2048


def table(kernbench, machine):
    yield "| M x K x N | measured, us | kernbench, us | % | |"
    yield "| --- | ---: | ---: | ---: | --- |"
    errors = {}
    for point in measured("gemm.csv"):
        size = size_of(point)
        if point["dtype"] != "bf16":
            continue
        us, host_us = simulate(size, kernbench, machine), float(point["host_ns"]) / 1000
        errors[size] = (us / host_us - 1) * 100
        kind = "fitted" if size in FITTED else "small" if is_small(size) else ""
        yield (f"| {' x '.join(map(str, size))} | {host_us:.1f} | {us:.1f} | {errors[size]:+.1f} | {kind} |").replace("  ", " ")
    yield f"| **mean of 1024 x 1024 x 1024 and from 2048 on** | | | {mean([e for s, e in errors.items() if not is_small(s)])} | |"
    yield f"| **mean of those that were not fitted** | | | {mean([e for s, e in errors.items() if not is_small(s) and s not in FITTED])} | |"
    yield f"| **mean of the small ones** | | | {mean([e for s, e in errors.items() if is_small(s)])} | |"


if __name__ == "__main__":
    sys.exit(compare_on(MACHINE, table, __doc__))
