#!/usr/bin/env python3
"""gemm.py -- products of matrices on a chip, measured, beside the bench gemm: a table of docs/validation.md.

usage: gemm.py KERNBENCH

KB_VALIDATE names a folder with gemm.csv: source, machine, grid, dtype, fidelity, m, k, n, host_ns,
device_utilisation_pct. Compared is the time that the host has measured, of the rows in bf16. Prints
a table, and ends with 1 if docs/validation.md has other figures.
"""

import csv
import sys

from page import compare_on, mean, measured, must_run

# The 8 x 8 cores that the rows were measured on, and two columns of DRAM; what is measured on them
# stands in docs/validation.md.
MACHINE = """\
kernbench: 3
name: n150
ns_per_mm: 0.0
software: {launch_ns: 9000.0}
kinds:
  dram: {pes: 0, hbm: {slices: 1, bw_gbs: 18.0, size_gb: 1}}
sip:
  cube_mesh: {w: 10, h: 8, wrap: xy}
  planes:
    - {name: noc0, dirs: [E, S], order: xy, bw_gbs: 30.0}
    - {name: noc1, dirs: [N, W], order: yx, bw_gbs: 30.0}
cube:
  pes: 1
  ucie: {overhead_ns: 0.0}
  noc: {overhead_ns: 9.0, bw_gbs: 28.1}
  xbar: {overhead_ns: 0.0, pe_gbs: 28.1}
  hbm: {slices: 0}
  pe:
    pe_dma: {overhead_ns: 83.0, read_channels: 64, write_channels: 64, issue_ns: 25.0, packet_bytes: 8192}
    pe_tcm: {size_mb: 1, read_gbs: 128.0, write_gbs: 128.0}
    pe_gemm: {mac: [8, 16, 16], acc_kb: 512, rate: {bf16: 0.31}}
cubes: {"c[0,5,10,15,20,25,30,35,40,45,50,55,60,65,70,75]": dram}
addressing: {granule: 2048, over: sip, hash: xor}
"""

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
