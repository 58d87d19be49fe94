#!/usr/bin/env python3
"""variants.py -- wormhole with other constants and links, on the same data: a table of docs/validation.md.

usage: variants.py REPLAY

REPLAY is a command that replays a file on topologies/wormhole.yaml, as "build/kernbench --machine
topologies/wormhole.yaml replay --quiet"; --set comes behind it. Prints a row for each variant: mean
errors of the reads of one core by one core (of up to 1 MiB together, to save time), of the run times of
traces at their times and closed loop, and of their barriers. Ends with 1 if docs/validation.md has
other figures.
"""

import pathlib
import shlex
import sys
import tempfile

import latencies
import traces
from page import Page
from traces import error, mean, simulate

LATENCY = "cube.pe.pe_dma.overhead_ns"
FIFO = {"contention.links": "fifo", LATENCY: 321, "cube.pe.pe_dma.issue_ns": 0}
VARIANTS = {
    "as shipped": {},
    "latency 71": {LATENCY: 71},
    "latency 77": {LATENCY: 77},
    "latency 95": {LATENCY: 95},
    "ports of 31": {"cube.noc.bw_gbs": 31},
    "segments of 1024 bytes": {"contention.segment_bytes": 1024},
    "`arbiter: age`": {"contention.arbiter": "age"},
    "`buffer_bytes: 4096, vcs: [2, 4]`": {"contention.buffer_bytes": 4096, "contention.vcs": "[2, 4]"},
    "`buffer_bytes: 512, vcs: [2, 16]`": {"contention.buffer_bytes": 512, "contention.vcs": "[2, 16]"},
    "the same, `arbiter: age`": {"contention.buffer_bytes": 512, "contention.vcs": "[2, 16]",
                                 "contention.arbiter": "age"},
    "`buffer_bytes: 8192, vcs: [2, 4]`": {"contention.buffer_bytes": 8192, "contention.vcs": "[2, 4]"},
    "`buffer_bytes: 1024, vcs: [2, 4]`": {"contention.buffer_bytes": 1024, "contention.vcs": "[2, 4]"},
    "memories that serve one read after the other, 56.2 bytes a cycle": {"cube.sram.bw_gbs": 56.2},
    "`links: fifo`, latency 321, no `issue_ns`": FIFO,
    "`links: ideal`, the same": {**FIFO, "contention.links": "ideal"},
}


def main():
    if len(sys.argv) != 2:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    all_traces = traces.load()
    points = [p for p in latencies.points("wormhole_b0")
              if int(p["transactions"]) * int(p["bytes"]) <= 1 << 20]
    page = Page()
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        for name, keys in VARIANTS.items():
            replay = shlex.split(sys.argv[1])
            for key, value in keys.items():
                replay += ["--set", f"{key}={value}"]
            reads = mean(abs(latencies.simulate(p, "wormhole_b0", replay, work) / int(p["cycles"]) - 1)
                         for p in points) * 100
            both = [[simulate(t, replay, closed, work) for t in all_traces] for closed in (False, True)]
            runs = [mean(abs(error(run[0], t)) for run, t in zip(runs, all_traces)) for runs in both]
            barriers = mean(run[1] for run in both[0])
            line = f"| {name} | {reads:.1f} % | {runs[0]:.1f} % | {runs[1]:.1f} % | {barriers:.1f} % |"
            page.print([line])
    return page.end()


if __name__ == "__main__":
    sys.exit(main())
