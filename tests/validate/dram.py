#!/usr/bin/env python3
"""dram.py -- bandwidth and latency of banks beside those of DRAMsim3: a table of docs/validation.md.

usage: dram.py REPLAY

REPLAY is a command with MACHINE for the YAML of a machine, to which the name of a replay file is
added, as "build/kernbench --machine MACHINE replay --quiet". KB_VALIDATE names a folder with dram.csv: map,
request_bytes, in_flight, pattern, reads_pct, stride_bytes, gbs, mean_latency_ns. Prints a table, and
ends with 1 if docs/validation.md has other figures.

A point is a PE with as many channels as requests are in flight, which issues all of them at time 0:
the next sets out when one ends. Streams and strides begin at 0 and go round in 4 GB; random places
are multiples of a request's size. Reads and writes are mixed by chance, and have half of the
channels each.
"""

import csv
import os
import pathlib
import random
import shlex
import subprocess
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parents[2]
SLICE = 4 << 30
IDLE, SATURATED = 150, 8000  # requests of a point

# Of a stack of HBM3, by Ramulator 2.1: what a stream of reads has of the peak.
HBM3_SHARE = 0.92
HBM2 = "bw_gbs: 256.0, preset: hbm2_dramsim3"
HBM3 = "bw_gbs: 256.0, channels: 32, burst_bytes: 32, preset: hbm3_ramulator2"

MACHINE = """\
kernbench: 2
name: dram
contention: {{links: ideal}}
ns_per_mm: 0.0
sip: {{cube_mesh: {{w: 1, h: 1}}}}
cube:
  pes: 1
  xbar: {{overhead_ns: 0.0, pe_gbs: 1000000.0}}
  hbm: {{{hbm}, size_gb: 4, model: banks, map: {map}}}
  pe: {{pe_dma: {{read_channels: {channels}, write_channels: {channels}}}}}
"""


def points():
    path = pathlib.Path(os.environ.get("KB_VALIDATE") or "/nonexistent") / "dram.csv"
    if not path.exists():
        print("not compared: KB_VALIDATE names no folder with dram.csv; "
              "docs/validation.md says where the data come from")
        sys.exit(0)
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def requests(point, n, dice):
    """Operation and offset of `n`, in order."""
    size, stride = int(point["request_bytes"]), int(point["stride_bytes"])
    for i in range(n):
        if point["pattern"] == "rand":
            at = dice.randrange(SLICE // size) * size
        else:
            at = i * (stride if point["pattern"] == "stride" else size) % SLICE
        yield "read" if dice.randrange(100) < int(point["reads_pct"]) else "write", at


def simulate(point, hbm, n, replay, work):
    """GB/s, and the mean latency in ns."""
    machine, rows = work / "dram.yaml", work / "rows.csv"
    mixed = point["reads_pct"] == "50"
    machine.write_text(MACHINE.format(
        hbm=hbm, map=point["map"], channels=int(point["in_flight"]) // (2 if mixed else 1)),
                       encoding="utf-8")
    with rows.open("w", encoding="utf-8") as file:
        file.write("issue_ns,op,src,dst,offset,nbytes\n")
        for op, at in requests(point, n, random.Random(1)):
            file.write(f"0,{op},c0.pe0,c0.slice0,{at},{point['request_bytes']}\n")
    command = [str(machine) if word == "MACHINE" else word for word in shlex.split(replay)]
    run = subprocess.run([*command, rows], capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(f"{replay}: exit {run.returncode}: {run.stderr}")
    ends, latency = 0.0, []
    for row in csv.DictReader(run.stdout.splitlines()):
        ends = max(ends, float(row["end_ns"]))
        latency.append(float(row["end_ns"]) - float(row["start_ns"]))
    return len(latency) * int(point["request_bytes"]) / ends, sum(latency) / len(latency)


def kind(point):
    """Of a point: what its error counts for."""
    if point["in_flight"] == "1":
        return "one read at a time"
    return {"100": "reads, saturated", "50": "half writes", "0": "writes"}[point["reads_pct"]]


def table(all_points, replay, work):
    yield ("| map | bytes | in flight | pattern | reads % | DRAMsim3 GB/s | kernbench | % "
           "| DRAMsim3 ns | kernbench | % |")
    yield "| --- | ---: | ---: | --- " + "| ---: " * 7 + "|"
    errors = {}
    for point in all_points:
        n = IDLE if point["in_flight"] == "1" else SATURATED
        got = simulate(point, HBM2, n, replay, work)
        expected = float(point["gbs"]), float(point["mean_latency_ns"])
        both = [(g / e - 1) * 100 for g, e in zip(got, expected)]
        errors.setdefault(kind(point), []).append(both)
        pattern = point["pattern"]
        if pattern == "stride":
            pattern += " " + point["stride_bytes"]
        yield (f"| {point['map']} | {point['request_bytes']} | {point['in_flight']} | {pattern} "
               f"| {point['reads_pct']} | {expected[0]:.1f} | {got[0]:.1f} | {both[0]:+.1f} "
               f"| {expected[1]:.1f} | {got[1]:.1f} | {both[1]:+.1f} |")
    for name, rows in errors.items():
        means = [sum(abs(row[i]) for row in rows) / len(rows) for i in (0, 1)]
        worst = [max((row[i] for row in rows), key=abs) for i in (0, 1)]
        yield (f"| **{name}** | | | mean, worst | | | **{means[0]:.2f}** | {worst[0]:+.1f} "
               f"| | **{means[1]:.2f}** | {worst[1]:+.1f} |")


def hbm3_table(replay, work):
    yield "| bytes | in flight | share of the peak, Ramulator | kernbench | % |"
    yield "| ---: " * 5 + "|"
    for size, in_flight in ("64", "512"), ("4096", "64"):
        point = {"map": "low", "request_bytes": size, "in_flight": in_flight, "pattern": "seq",
                 "reads_pct": "100", "stride_bytes": "0"}
        n = 8 * SATURATED if size == "64" else SATURATED
        share = simulate(point, HBM3, n, replay, work)[0] / 256
        yield (f"| {size} | {in_flight} | {HBM3_SHARE:.3f} | {share:.3f} "
               f"| {(share / HBM3_SHARE - 1) * 100:+.1f} |")


def main():
    if len(sys.argv) != 2:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    all_points = points()
    page = (TREE / "docs/validation.md").read_text(encoding="utf-8").splitlines()
    same = True
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        for lines in table(all_points, sys.argv[1], work), hbm3_table(sys.argv[1], work):
            print()
            for line in lines:
                print(line, flush=True)
                same &= line in page
    print("\ndocs/validation.md has these figures" if same else
          "\ndocs/validation.md has other figures: put these in their place")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
