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

The folder may have dram_patterns.csv, too: map, kind, pattern, bandwidth_gbs, mean_ns, p50_ns, p95_ns.
Its points are reads by patterns with a name, and the machine is one of version 3 of the keys. A closed one
has as many in flight as bandwidth times latency say, an open one comes by chance at that bandwidth.
Several streams come in turn by chance.
"""

import csv
import itertools
import os
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile

from page import Page

SLICE = 4 << 30
IDLE, SATURATED = 150, 8000  # requests of a point

# Of a stack of HBM3, by Ramulator 2.1: what a stream of reads has of the peak.
HBM3_SHARE = 0.92
HBM2 = "bw_gbs: 256.0, preset: hbm2_dramsim3"
HBM3 = "bw_gbs: 256.0, channels: 32, burst_bytes: 32, preset: hbm3_ramulator2"

MACHINE = """\
kernbench: {version}
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


def folder():
    return pathlib.Path(os.environ.get("KB_VALIDATE") or "/nonexistent")


def points():
    path = folder() / "dram.csv"
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
    mixed = point["reads_pct"] == "50"
    yaml = MACHINE.format(version=2, hbm=hbm, map=point["map"],
                          channels=int(point["in_flight"]) // (2 if mixed else 1))
    size = int(point["request_bytes"])
    gbs, latency = run(yaml, ((0, op, at, size) for op, at in requests(point, n, random.Random(1))),
                       replay, work)
    return gbs, sum(latency) / len(latency)


def run(yaml, rows, replay, work):
    """GB/s, and all latencies in ns, of rows of (issue, operation, offset, bytes)."""
    machine, path = work / "dram.yaml", work / "rows.csv"
    machine.write_text(yaml, encoding="utf-8")
    with path.open("w", encoding="utf-8") as file:
        file.write("issue_ns,op,src,dst,offset,nbytes\n")
        for at, op, offset, size in rows:
            file.write(f"{at:.3f},{op},c0.pe0,c0.slice0,{offset},{size}\n")
    command = [str(machine) if word == "MACHINE" else word for word in shlex.split(replay)]
    ran = subprocess.run([*command, path], capture_output=True, text=True, check=False)
    if ran.returncode:
        sys.exit(f"{replay}: exit {ran.returncode}: {ran.stderr}")
    ends, nbytes, latency = 0.0, 0, []
    for row in csv.DictReader(ran.stdout.splitlines()):
        ends = max(ends, float(row["end_ns"]))
        nbytes += int(row["nbytes"])
        latency.append(float(row["end_ns"]) - float(row["start_ns"]))
    return nbytes / ends, latency


def kind(point):
    """Of a point: what its error counts for."""
    if point["in_flight"] == "1":
        return "one read at a time"
    return {"100": "reads, saturated", "50": "half writes", "0": "writes"}[point["reads_pct"]]


def columns_table(found):
    """How many times as long strides take as the same bytes in order, saturated: by DRAMsim3, and here.

    No lines where no point has both.
    """
    errors = {}
    for (point_map, size, in_flight, reads, stride), (want, got) in found.items():
        row = found.get((point_map, size, in_flight, reads, "0"))
        if stride == "0" or row is None or in_flight == "1" or reads == "50":
            continue
        expected, ratio = row[0] / want, row[1] / got
        errors.setdefault((int(stride), reads), []).append(((ratio / expected - 1) * 100, expected))
    if not errors:
        return
    yield "| a column of rows of | | ratios | mean error, % | worst, %, of DRAMsim3's ratio |"
    yield "| ---: | --- | ---: | ---: | ---: |"
    for (stride, reads), rows in sorted(errors.items(), key=lambda item: (item[0][0], -int(item[0][1]))):
        worst = max(rows, key=lambda row: abs(row[0]))
        yield (f"| {stride} B | {'reads' if reads == '100' else 'writes'} | {len(rows)} "
               f"| {sum(abs(row[0]) for row in rows) / len(rows):.1f} | {worst[0]:+.1f}, {worst[1]:.1f} |")
    everything = [row[0] for rows in errors.values() for row in rows]
    yield (f"| **all** | | **{len(everything)}** | **{sum(map(abs, everything)) / len(everything):.1f}** "
           f"| {sum(abs(error) <= 20 for error in everything)} within 20 % |")


def table(all_points, replay, work, found):
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
        if pattern != "rand":
            key = point["map"], point["request_bytes"], point["in_flight"], point["reads_pct"]
            found[(*key, point["stride_bytes"] if pattern == "stride" else "0")] = expected[0], got[0]
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


def streams(begins, size, dice):
    """The next request is of any of the streams."""
    at = list(begins)
    while True:
        i = dice.randrange(len(at))
        yield at[i] % SLICE
        at[i] += size


def places(pattern, size, dice):
    """Where reads of a pattern with a name go, without end."""
    n = int((re.match(r"(\d+) streams", pattern) or [0, 0])[1])
    if "2 MB aligned" in pattern:
        return streams([k << 21 for k in range(n)], size, dice)
    if "random" in pattern:
        step = 256 if "256" in pattern else 64
        return streams([dice.randrange(SLICE // step) * step for _ in range(n)], size, dice)
    if n:
        return streams([k * SLICE // n for k in range(n)], size, dice)
    if pattern.startswith("stride"):
        step, unit = re.match(r"stride (\d+) (K?)B", pattern).groups()
        return (i * int(step) * (1024 if unit else 1) % SLICE for i in itertools.count())
    if pattern.startswith("row ping-pong"):
        return ((i % 2 << 20) + i // 2 * 64 % 2048 for i in itertools.count())
    if pattern.startswith("hot"):
        return (dice.randrange((1 << 20 if dice.randrange(100) < 80 else SLICE) // 64) * 64
                for _ in itertools.count())
    if pattern.startswith("chase"):
        return (dice.randrange((4 << 20) // 64) * 64 for _ in itertools.count())
    return (dice.randrange(SLICE // size) * size for _ in itertools.count())


def read_patterns(point, replay, work):
    """GB/s, and the mean, the half and 95 % of latencies in ns."""
    pattern, dice = point["pattern"], random.Random(1)
    size = int(re.findall(r"(\d+) B", pattern)[-1]) if " B" in pattern else 64
    rate, open_at = float(point["bandwidth_gbs"]) / size, 0.0
    want = rate * float(point["mean_ns"])
    is_open = point["kind"].startswith("open")
    channels = 65536 if is_open else min((1, 8, 32, 64, 128), key=lambda n: abs(n - want))
    rows = []
    for at in itertools.islice(places(pattern, size, dice), IDLE if channels == 1 else SATURATED):
        open_at += dice.expovariate(rate) if is_open else 0
        rows.append((open_at, "read", at, size))
    gbs, latency = run(MACHINE.format(version=3, hbm=HBM2, map=point["map"], channels=channels),
                       rows, replay, work)
    latency.sort()
    n = len(latency)
    return gbs, sum(latency) / n, latency[n // 2], latency[n * 95 // 100]


def patterns_table(replay, work):
    path = folder() / "dram_patterns.csv"
    if not path.exists():
        return
    yield ("| map | kind | pattern | GB/s | kernbench | % | mean ns | kernbench | % | p50 | kernbench | % "
           "| p95 | kernbench | % |")
    yield "| --- | --- | --- " + "| ---: " * 12 + "|"
    errors = []
    for point in csv.DictReader(path.open(encoding="utf-8")):
        if "rw" in point["kind"] or "mixed" in point["pattern"]:
            continue
        got = read_patterns(point, replay, work)
        expected = [float(point[c]) for c in ("bandwidth_gbs", "mean_ns", "p50_ns", "p95_ns")]
        errors.append([(g / e - 1) * 100 for g, e in zip(got, expected)])
        cells = " | ".join(f"{e:.1f} | {g:.1f} | {x:+.1f}"
                           for e, g, x in zip(expected, got, errors[-1]))
        yield f"| {point['map']} | {point['kind'].split()[0]} | {point['pattern']} | {cells} |"
    means = " | ".join(f"| | **{sum(abs(e[i]) for e in errors) / len(errors):.1f}**" for i in range(4))
    yield f"| **mean** | | | {means} |"


def main():
    if len(sys.argv) != 2:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    all_points = points()
    page = Page()
    found = {}
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        for lines in (table(all_points, sys.argv[1], work, found), columns_table(found), hbm3_table(sys.argv[1], work),
                      patterns_table(sys.argv[1], work)):
            print()
            page.print(lines)
    return page.end()


if __name__ == "__main__":
    sys.exit(main())
