"""traces.py -- NoC traces of a real chip: what was measured, and the same by a simulator.

KB_VALIDATE names a folder with silicon.csv (trace, barrier_end_cycles, kernel_cycles, tt_npe_cycles,
tt_npe_no_congestion_cycles) and, in silicon/, the traces, JSON of tt-metal's profiler.

A core x,y is cube 10 y + x of topologies/wormhole.yaml, its memory the SRAM of that cube, and a cycle
is a ns. Cores read, and wait at a barrier until all their reads are there. A run lasts from the
first event to the end of the last barrier.

Two ways to replay a trace: `times`, each read when the trace has it; and `closed`, what a core does
behind a barrier as long after it as in the trace, whenever the barrier ends.
"""

import collections
import csv
import json
import os
import pathlib
import subprocess
import sys

TREE = pathlib.Path(__file__).resolve().parents[2]
COLUMNS, ROWS = 10, 12

# One barrier: when its processor came to it and left it, its reads by number, the first one's time,
# and the number of the processor's barrier before (-1: none). Times in cycles from the first event.
Barrier = collections.namedtuple("Barrier", "start end reads first before")

# What was measured, what tt-npe says, and what it says without congestion, in cycles.
Trace = collections.namedtuple("Trace", "name path measured tt_npe tt_npe_free barriers")


def folder():
    """That of the data; the program ends, without an error, if there is none."""
    path = pathlib.Path(os.environ.get("KB_VALIDATE") or "/nonexistent")
    if not (path / "silicon.csv").exists():
        print("not compared: KB_VALIDATE names no folder with silicon.csv; "
              "docs/validation.md says where the data come from")
        sys.exit(0)
    return path


def barriers(events):
    first = min(e["timestamp"] for e in events)
    found, last = [], {}
    pending, start = collections.defaultdict(list), {}
    n_reads = 0
    for e in sorted(events, key=lambda e: e["timestamp"]):  # stable: as the converter sorts them
        core = e["sx"], e["sy"], e["proc"]
        time = e["timestamp"] - first
        if e.get("type") == "READ":
            pending[core].append((n_reads, time))
            n_reads += 1
        elif e.get("type") == "READ_BARRIER_START":
            start[core] = time
        elif e.get("type") == "READ_BARRIER_END":
            reads = pending.pop(core, [])
            found.append(Barrier(start[core], time, [r for r, _ in reads],
                                 reads[0][1] if reads else time, last.get(core, -1)))
            last[core] = len(found) - 1
    return found


def load():
    """All traces, in order of their names."""
    path = folder()
    with open(path / "silicon.csv", newline="", encoding="ascii") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: row["trace"])
    return [load_trace(path / "silicon" / row["trace"], row) for row in rows]


def load_trace(file, row):
    try:
        events = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as e:
        sys.exit(f"{file}: {e}")
    return Trace(file.stem, file, int(row["barrier_end_cycles"]), int(row["tt_npe_cycles"]),
                 int(row["tt_npe_no_congestion_cycles"]), barriers(events))


# -- simulation ---------------------------------------------------------------------------------


def convert(trace, closed, work):
    """The trace as a file for `replay`; row n is its n-th read."""
    cores = work / "map"
    with open(cores, "w", encoding="ascii") as file:
        for n in range(COLUMNS * ROWS):
            file.write(f"{n % COLUMNS},{n // COLUMNS},c{n}.pe0,c{n}.sram\n")
    rows = work / f"{trace.name}.{'closed' if closed else 'times'}.csv"
    if not rows.exists():
        subprocess.run([sys.executable, TREE / "examples/tt_npe_to_csv.py", "--map", cores, "--planes",
                        *(["--after"] if closed else []), "-o", rows, trace.path],
                       check=True, stderr=subprocess.DEVNULL)
    return rows


def replay(machine, rows):
    """The end of each row, in cycles. `machine` is a command that replays a file."""
    run = subprocess.run([*machine, rows], capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{' '.join(map(str, machine))} {rows}: exit {run.returncode}\n{run.stderr}")
    return [float(row["end_ns"]) for row in csv.DictReader(run.stdout.splitlines())]


def barrier_ends(trace, ends, closed):
    """When each barrier ends: with its last read, but not before its processor comes to it."""
    found = []
    for b in trace.barriers:
        late = found[b.before] - trace.barriers[b.before].end if closed and b.before >= 0 else 0
        found.append(max([b.start + late] + [ends[i] for i in b.reads]))
    return found


def simulate(trace, machine, closed, work):
    """(cycles of the run, mean error in % of its barriers' durations)"""
    ends = barrier_ends(trace, replay(machine, convert(trace, closed, work)), closed)
    errors = []
    for b, end in zip(trace.barriers, ends):
        if b.reads:
            begin = b.first
            if closed and b.before >= 0:
                begin += ends[b.before] - trace.barriers[b.before].end
            errors.append(abs(end - begin - (b.end - b.first)) / (b.end - b.first) * 100)
    return max(ends), sum(errors) / len(errors)


def error(cycles, trace):
    """In % of what was measured."""
    return (cycles - trace.measured) / trace.measured * 100


def mean(values):
    values = list(values)
    return sum(values) / len(values)
