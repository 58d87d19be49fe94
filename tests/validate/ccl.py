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

# A ring of eight; what is measured on it, and on shorter ones and lines, stands in docs/validation.md.
RING = (TREE / "topologies/wormhole_ring8.yaml").read_text(encoding="ascii")


def machine_of(point):
    shape = "torus" if point["topology"] == "ring" else "mesh"
    text = RING.replace("cubes: 8", f"cubes: {point['ranks']}").replace("torus: [8]", f"{shape}: [{point['ranks']}]")
    return text.replace("name: wormhole_ring8", "name: chips")


def points():
    return [row for row in measured("ccl.csv")
            if row["chip"] == "wormhole_b0" and row["memory"] == "dram"]


def simulate(point, kernbench, work):
    """Microseconds."""
    machine = work / f"{point['topology']}{point['ranks']}.yaml"
    machine.write_text(machine_of(point), encoding="ascii")
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
