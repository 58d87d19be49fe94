#!/usr/bin/env python3
"""ccl.py -- collectives of eight chips, measured, beside kb_coll.h: a table of docs/validation.md.

usage: ccl.py KERNBENCH

KB_VALIDATE names a folder with ccl.csv: source, chip, topology, ranks, memory, op, bytes, us, unit.
A row is the time of a call; bytes are those of the gathered, reduced or exchanged vector of a rank.
Compared are the rows of one call on Wormhole, vectors in DRAM. Prints a table, and ends with 1 if
docs/validation.md has other figures.
"""

import csv
import itertools
import pathlib
import sys
import tempfile

from page import TREE, Page, mean, measured, must_run

SMALL = 256 << 10  # from here on a call is one of many bytes
SHOWN = 16384, 262144, 1048576, 16777216, 67108864

# Chips joined by Ethernet; what is measured on them stands in docs/validation.md.
MACHINE = """\
kernbench: 3
name: chips
ns_per_mm: 0.0
software: {{call_ns: 4500.0, step_ns: 1290.0, unit: cube}}
links:
  eth: {{bw_gbs: 11.75, overhead_ns: 355.5}}
sip:
  cubes: {ranks}
  net: [{{{net}: [{ranks}], link: eth}}]
cube:
  pes: 1
  noc: {{bw_gbs: 1000.0}}
  hbm: {{slices: 1, bw_gbs: 288.0, size_gb: 12, latency_ns: 290.0}}
  xbar: {{pe_gbs: 1000.0, chain_gbs: 1000.0}}
  bridge: {{bw_gbs: 1000.0}}
  pe:
    pe_dma: {{read_channels: 64, write_channels: 64}}
    pe_tcm: {{size_mb: 64, read_gbs: 288.0, write_gbs: 288.0}}
    pe_math: {{lanes: 1024}}
    pe_ipcq: {{slots: 8, slot_bytes: 1048576}}
"""


def points():
    return [row for row in measured("ccl.csv")
            if row["chip"] == "wormhole_b0" and row["memory"] == "dram"]


def simulate(point, kernbench, work):
    """Microseconds."""
    machine = work / f"{point['topology']}{point['ranks']}.yaml"
    machine.write_text(MACHINE.format(ranks=point["ranks"],
                                      net="torus" if point["topology"] == "ring" else "mesh"),
                       encoding="ascii")
    rows = must_run([kernbench, "run", f"{work}/ccl.so:ccl", f"op={point['op']}",
                     f"count={int(point['bytes']) // 2}", "--machine", machine, "--quiet",
                     "--format", "csv"])
    return float(next(csv.DictReader(rows.splitlines()))["kernel_ns"]) / 1000


def cells(row, errors):
    """Means of the small ones, and of the others."""
    small = [e for p, e in errors if int(p["bytes"]) < SMALL]
    large = [e for p, e in errors if int(p["bytes"]) >= SMALL]
    return f"| {row} | {mean(small)} | {mean(large)} |"


def apart(point):
    """What the mean of all is without: lines of 2, and an all_to_all on the line of 8."""
    return point["ranks"] == "2" or (point["topology"], point["ranks"], point["op"]) == (
        "line", "8", "all_to_all")


def table(kernbench, work):
    errors = [(p, (simulate(p, kernbench, work) / float(p["us"]) - 1) * 100) for p in points()]
    key = lambda e: (e[0]["topology"], e[0]["ranks"], e[0]["op"])
    yield ("| chips | call |" + "".join(f" {n >> 10} KiB | % |" for n in SHOWN) +
           " below 256 KiB, % | from it on, % |")
    yield "| --- | --- |" + " ---: |" * (2 * len(SHOWN) + 2)
    for (topology, ranks, op), group in itertools.groupby(errors, key):
        group = list(group)
        at = {int(p["bytes"]): f" {p['us']} | {e:+.1f} " for p, e in group}
        shown = "|".join(at.get(n, " | ") for n in SHOWN)
        yield cells(f"{topology} of {ranks} | {op} |{shown}", group).replace("  ", " ")
    yield cells("**all but lines of 2 and the all_to_all of the line of 8**" + " |" * (2 * len(SHOWN) + 1),
                [(p, e) for p, e in errors if not apart(p)])


def main():
    if len(sys.argv) != 2:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    page = Page()
    with tempfile.TemporaryDirectory() as work:
        must_run([sys.argv[1], "cc", TREE / "tests/validate/ccl.c", "-o", f"{work}/ccl.so"])
        page.print(table(sys.argv[1], pathlib.Path(work)))
    return page.end()


if __name__ == "__main__":
    sys.exit(main())
