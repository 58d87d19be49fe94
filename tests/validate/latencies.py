#!/usr/bin/env python3
"""latencies.py -- reads of one core by one core of a chip, measured: a table of docs/validation.md.

usage: latencies.py CHIP REPLAY

REPLAY is a command that replays a file on the machine of CHIP, as "build/wormhole/wormhole replay
--quiet". KB_VALIDATE names a folder with noc.csv: source, chip, axis, transactions, bytes, cycles. A
row is that many reads of so many bytes each, all at once, from the first issue to the last arrival:
by core 1,1 of core 2,2 (`diff`) or of core 1,2 (`same`). Prints a table, and ends with 1 if
docs/validation.md has other figures.
"""

import csv
import itertools
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

from page import Page

CORES = {"diff": (2, 2), "same": (1, 2)}
SHOWN = 64, 1024, 8192, 65536
COLUMNS = {"wormhole_b0": 10, "blackhole": 17}  # cores of a row


def points(chip):
    path = pathlib.Path(os.environ.get("KB_VALIDATE") or "/nonexistent") / "noc.csv"
    if not path.exists():
        print("not compared: KB_VALIDATE names no folder with noc.csv; "
              "docs/validation.md says where the data come from")
        sys.exit(0)
    with path.open(encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["chip"] == chip]


def simulate(point, chip, replay, work):
    """Cycles, of 1 ns each."""
    core = lambda x, y: f"c{y * COLUMNS[chip] + x}"
    file = pathlib.Path(work) / "reads.csv"
    read = f"0,read,{core(1, 1)}.pe0,{core(*CORES[point['axis']])}.sram,0,{point['bytes']},noc0\n"
    file.write_text("issue_ns,op,src,dst,offset,nbytes,plane\n" + read * int(point["transactions"]),
                    encoding="ascii")
    run = subprocess.run([*replay, file], capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{' '.join(replay)}: exit {run.returncode}\n{run.stderr}")
    return max(float(row["end_ns"]) for row in csv.DictReader(run.stdout.splitlines()))


def mean(errors):
    return sum(map(abs, errors)) / len(errors)


def table(chip, replay, work):
    """Lines: a group of reads, at some sizes, and the errors of all its sizes."""
    rows = [(p, simulate(p, chip, replay, work)) for p in points(chip)]
    errors = {id(p): (cycles / int(p["cycles"]) - 1) * 100 for p, cycles in rows}
    yield "| axis | reads |" + "".join(f" {n} B | % |" for n in SHOWN) + " mean, % | at most, % |"
    yield "| --- |" + " ---: |" * (2 * len(SHOWN) + 3)
    for key, group in itertools.groupby(rows, lambda row: (row[0]["axis"], row[0]["transactions"])):
        group = list(group)
        cells = [f"{p['cycles']} | {errors[id(p)]:+.1f}" for p, _ in group
                 if int(p["bytes"]) in SHOWN]
        some = [errors[id(p)] for p, _ in group]
        yield (f"| {key[0]} | {key[1]} | {' | '.join(cells)} | {mean(some):.1f} "
               f"| {max(some, key=abs):+.1f} |")
    some = list(errors.values())
    yield f"| **all {len(some)}** | {'| ' * 2 * len(SHOWN)}| **{mean(some):.2f}** | {max(some, key=abs):+.1f} |"


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in COLUMNS:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    page = Page()
    with tempfile.TemporaryDirectory() as work:
        page.print(table(sys.argv[1], shlex.split(sys.argv[2]), work))
    return page.end()


if __name__ == "__main__":
    sys.exit(main())
