#!/usr/bin/env python3
"""Converts JSON of tt-npe, Tenstorrent's NoC performance estimator, to the input of `replay`.

usage: tt_npe_to_csv.py [--ghz F] [--pes N] [--cubes N] [--map FILE] [--after] [--planes]
                        [--multicast each|last] [-o OUT] FILE

Two formats are understood, and told apart by what the file begins with:

  workload   an object with "phases", each with "transfers" of packet_size, num_packets, src_x,
             src_y, dst_x, dst_y (or mcast_start_x .. mcast_end_y), phase_cycle_offset and, if
             there, noc_event_type. All phases begin at cycle 0, as in tt-npe. A transfer is one
             row of packet_size * num_packets bytes.
  NoC trace  a list of events of tt-metal's profiler with type, proc, sx, sy, dx, dy, num_bytes,
             timestamp and, of several devices, src_device_id. READ and WRITE_ events, with and
             without state, and WRITE_MULTICAST become rows; time 0 is the first timestamp. SIP n
             is the n-th device.

A core becomes a PE, and the memory of a core becomes a slice:

  - A READ is a read by the PE of the core that issues it from the memory of the other; all else is
    a write.
  - The cores that transfers name are numbered by row, then by column (y, x). Core n is PE n % PES of cube
    n // PES, and its memory the slice of the same number. --pes and --cubes say what the machine
    has (8 and 8, as cube8).
  - Or --map FILE says it: lines "x,y,pe,memory", as in "0,3,c0.pe2,c0.sram". Blank lines and those
    that begin with # are skipped. SIPs are not named; they follow from the device.
  - --ghz F is the clock that cycles are counted by, in GHz (default 1).

--after, for traces: what a processor of a core issues behind READ_BARRIER_END or WRITE_BARRIER_END
waits for the reads or writes before the barrier, and is issued as long after the last of them as it
was after the barrier. Else all rows are issued at the times of the trace, however long they take.

A multicast is one packet that routers copy; the NoC here does not copy packets. Writes stand for
it, and --multicast says which:

  each       a write to each core of its rectangle, issued together (default). Every core receives
             what it would; the port of the sender and the links near it carry every copy.
  last       a write to the core where its way ends: the corner of the largest x and y, on NOC_1 of
             the smallest. The port of the sender and the links up to there carry it once, as they
             would; the ports of the other cores and the branches stay free.

--planes: a column `plane` names the network of each transfer, "noc0" for NOC_0, for a machine that
has planes of these names and `plane: column`. It is empty where the file names none.

Left out: injection_rate and, without --planes, noc_type (the routes here are kernbench's), atomics
and semaphores, events of fabric between devices, zones, events without bytes. How many is said on
stderr.

Exit codes: 0; 2 usage; 3 a file that cannot be read or is not of this form; 5 output failed.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import sys
from fractions import Fraction
from typing import Any, Counter, Iterator, NamedTuple

HEADER = "issue_ns,op,src,dst,offset,nbytes"


class Bad(Exception):
    """What the user has to put right; ends the program with code 3."""


class Core(NamedTuple):
    """In order, as they are numbered."""
    device: int
    y: int
    x: int


class Row(NamedTuple):
    """One transfer: the core that issues it, where the memory is, and what it waits for."""
    cycle: int
    op: str
    pe: Core
    memory: Core
    nbytes: int
    after: tuple[int, ...]
    think: int
    plane: str


Item = dict[str, Any]  # an object of the file
Places = dict[tuple[int, int], tuple[str, str]]  # (x, y) -> (pe, memory)


# -- reading --------------------------------------------------------------------------------------


def load(path: str) -> Any:
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except OSError as e:
        raise Bad(f"cannot read {path}: {e.strerror}")
    except json.JSONDecodeError as e:
        raise Bad(f"{path}:{e.lineno}:{e.colno}: {e.msg}")
    except (ValueError, RecursionError) as e:  # no UTF-8, absurd numbers, absurd depth
        raise Bad(f"{path}: {e}")


def number(where: str, item: Item, key: str, least: int = 0, default: int | None = None) -> int:
    """A whole number of `item`, which `where` names."""
    value = item.get(key, default)
    if value is None:
        raise Bad(f"{where}: '{key}' is missing")
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise Bad(f"{where}: '{key}' is {json.dumps(value)[:40]}, not a whole number from {least}")
    return value


def items(where: str, value: Any, key: str | None = None) -> Iterator[tuple[str, Item]]:
    """A list of objects, each with its name."""
    if not isinstance(value, list):
        raise Bad(f"{where}: {key or 'it'} is not a list")
    for i, item in enumerate(value):
        name = f"{where}: {key or 'event'}[{i}]"
        if not isinstance(item, dict):
            raise Bad(f"{name} is not an object")
        yield name, item


def plane_of(where: str, item: Item, key: str) -> str:
    """NOC_0 is the plane noc0; "" if the file does not say."""
    value = item.get(key) or ""
    name = value.lower().replace("_", "") if isinstance(value, str) else "?"
    if name and not (name.isascii() and name.isalnum() and name[0].isalpha()):
        raise Bad(f"{where}: '{key}' is {json.dumps(value)[:40]}, not the name of a NoC")
    return name


def rectangle(where: str, item: Item, device: int, plane: str, multicast: str) -> list[Core]:
    """The cores that a multicast is written to; its corners may be given either way round."""
    x = sorted(number(where, item, key) for key in ("mcast_start_x", "mcast_end_x"))
    y = sorted(number(where, item, key) for key in ("mcast_start_y", "mcast_end_y"))
    if (x[1] - x[0] + 1) * (y[1] - y[0] + 1) > 65536:
        raise Bad(f"{where}: a multicast to more than 65536 cores")
    if multicast == "last":
        end = 0 if plane == "noc1" else 1
        return [Core(device, y[end], x[end])]
    return [Core(device, j, i) for j in range(y[0], y[1] + 1) for i in range(x[0], x[1] + 1)]


def workload_rows(path: str, data: Item, left_out: Counter[str], multicast: str) -> Iterator[Row]:
    if "phases" not in data:
        raise Bad(f"{path}: neither a workload with 'phases' nor a list of events")
    for phase_name, phase in items(path, data["phases"], "phases"):
        for where, t in items(phase_name, phase.get("transfers", []), "transfers"):
            nbytes = number(where, t, "packet_size") * number(where, t, "num_packets")
            cycle = number(where, t, "phase_cycle_offset", default=0)
            src = Core(0, number(where, t, "src_y"), number(where, t, "src_x"))
            plane = plane_of(where, t, "noc_type")
            if "mcast_start_x" in t and t.get("dst_x", -1) == -1:
                targets = rectangle(where, t, 0, plane, multicast)
            else:
                targets = [Core(0, number(where, t, "dst_y"), number(where, t, "dst_x"))]
            if nbytes == 0:
                left_out["transfers without bytes"] += 1
                continue
            reads = str(t.get("noc_event_type", "")).startswith("READ")
            for dst in targets:  # src is where the data comes from, also of a read
                pe, memory = (dst, src) if reads else (src, dst)
                yield Row(cycle, "read" if reads else "write", pe, memory, nbytes, (), 0,
                          plane)


class Processor:
    """What one processor of a core has issued, and what it waits for from now on."""

    def __init__(self) -> None:
        self.state: dict[str, Item] = {}  # "READ", "WRITE": dx, dy, num_bytes of the last ..._SET_STATE
        self.under_way: dict[str, list[int]] = {"READ": [], "WRITE": []}  # rows since the last barrier
        self.after: tuple[int, ...] = ()  # rows before the last barrier
        self.base = 0  # when that barrier ended

    def barrier(self, kind: str, timestamp: int) -> None:
        if self.under_way[kind]:
            self.after, self.base = tuple(self.under_way[kind]), timestamp
            self.under_way[kind] = []


def event_kind(name: str) -> str | None:
    """READ or WRITE, of the events that move data and of the ends of barriers; None of all others."""
    first = name.split("_")[0]
    if name.endswith("BARRIER_END"):
        return first if first in ("READ", "WRITE") else None
    if name.startswith("READ") and "BARRIER" not in name:
        return "READ"
    if name in ("WRITE_", "WRITE_MULTICAST") or (name.startswith("WRITE") and "STATE" in name):
        return "WRITE"
    return None


def trace_rows(path: str, data: Any, left_out: Counter[str], wait: bool, multicast: str) -> Iterator[Row]:
    events = sorted(
        ((number(where, e, "timestamp"), i, where, e)
         for i, (where, e) in enumerate(items(path, data))), key=lambda e: e[:2])
    first = events[0][0] if events else 0
    processors: dict[tuple[Core, str], Processor] = collections.defaultdict(Processor)
    n_rows = 0

    for timestamp, _, where, e in events:
        name = e.get("type")
        if not isinstance(name, str):
            left_out["zones and the like"] += 1
            continue
        kind = event_kind(name)
        if kind is None:
            if "BARRIER" not in name:
                left_out[name[:40]] += 1
            continue
        device = number(where, e, "src_device_id", default=0)
        core = Core(device, number(where, e, "sy"), number(where, e, "sx"))
        p = processors[core, str(e.get("proc"))]
        if name.endswith("BARRIER_END"):
            p.barrier(kind, timestamp)
            continue
        if name.endswith("SET_STATE"):
            p.state[kind] = e
            continue
        if "WITH_STATE" in name:
            if kind not in p.state:
                raise Bad(f"{where}: {name} without {kind}_SET_STATE before it")
            state = p.state[kind]
            e = {**e, "dx": state.get("dx"), "dy": state.get("dy"),
                 "num_bytes": state.get("num_bytes") or e.get("num_bytes", 0)}
        nbytes = number(where, e, "num_bytes", default=0)
        if nbytes == 0:
            left_out["events without bytes"] += 1
            continue
        plane = plane_of(where, e, "noc")
        if name == "WRITE_MULTICAST":
            targets = rectangle(where, e, device, plane, multicast)
        else:
            targets = [Core(device, number(where, e, "dy"), number(where, e, "dx"))]
        for target in targets:
            follows = wait and p.after
            yield Row(0 if follows else timestamp - first, kind.lower(), core, target, nbytes,
                      p.after if follows else (), timestamp - p.base if follows else 0, plane)
            p.under_way[kind].append(n_rows)
            n_rows += 1


# -- cores ----------------------------------------------------------------------------------------


def read_map(path: str) -> Places:
    """The map of a file."""
    places: Places = {}
    try:
        with open(path, encoding="utf-8") as file:
            for n, line in enumerate(file, 1):
                line = line.strip()
                if not line or line.startswith("#"):
                    continue
                fields = [f.strip() for f in line.split(",")]
                if len(fields) != 4 or not (fields[0].isdecimal() and fields[1].isdecimal()):
                    raise Bad(f"{path}:{n}: not x,y,pe,memory")
                places[int(fields[0]), int(fields[1])] = (fields[2], fields[3])
    except OSError as e:
        raise Bad(f"cannot read {path}: {e.strerror}")
    except UnicodeDecodeError as e:
        raise Bad(f"{path}: {e}")
    return places


def numbered(path: str, rows: list[Row], pes: int, cubes: int) -> Places:
    """The same for all cores of `rows`, by their order."""
    cores = sorted({(c.y, c.x) for row in rows for c in (row.pe, row.memory)})
    if len(cores) > pes * cubes:
        raise Bad(f"{path}: {len(cores)} cores, but the machine has {cubes} * {pes} PEs; "
                  "--cubes and --pes say what it has, --map which cores share a PE")
    return {(x, y): (f"c{n // pes}.pe{n % pes}", f"c{n // pes}.slice{n % pes}")
            for n, (y, x) in enumerate(cores)}


def endpoint(places: Places, sips: dict[int, int], core: Core, which: int) -> str:
    name = places.get((core.x, core.y), ("", ""))[which]
    if not name:
        raise Bad(f"core {core.x},{core.y} has no {('PE', 'memory')[which]} in the map")
    return f"s{sips[core.device]}.{name}" if sips[core.device] else name


# -- writing --------------------------------------------------------------------------------------


def ns(cycles: int, ghz: Fraction) -> str:
    """Whole femtoseconds, halves away from zero, as a decimal number of ns."""
    fs = int(Fraction(cycles) * 1000000 / ghz + Fraction(1, 2))
    return f"{fs // 1000000}.{fs % 1000000:06}".rstrip("0").rstrip(".")


def lines(rows: list[Row], places: Places, ghz: Fraction, wait: bool, planes: bool) -> Iterator[str]:
    sips = {d: n for n, d in enumerate(sorted({row.pe.device for row in rows}))}
    yield HEADER + (",after,think_ns" if wait else "") + (",plane" if planes else "")
    for row in rows:
        line = (f"{ns(row.cycle, ghz)},{row.op},{endpoint(places, sips, row.pe, 0)},"
                f"{endpoint(places, sips, row.memory, 1)},0,{row.nbytes}")
        if wait:
            line += f",{'|'.join(map(str, row.after))},{ns(row.think, ghz)}"
        if planes:
            line += f",{row.plane}"
        if len(line) > 65536:
            raise Bad(f"core {row.pe.x},{row.pe.y} waits for {len(row.after)} transfers at once, "
                      "more than a line of 64 KiB can name")
        yield line


def positive(text: str) -> Fraction:
    try:
        value = Fraction(text)
    except (ValueError, ZeroDivisionError):
        value = Fraction(0)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number above 0")
    return value


def count(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= 16384:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 1 to 16384")
    return int(text)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n")[0],
        epilog=__doc__.split("\n\n", 2)[2],
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", metavar="FILE", help="a workload or a NoC trace")
    parser.add_argument("--ghz", type=positive, default=Fraction(1), help="clock (default 1)")
    parser.add_argument("--pes", type=count, default=8, help="PEs of a cube (default 8)")
    parser.add_argument("--cubes", type=count, default=8, help="cubes of a SIP (default 8)")
    parser.add_argument("--map", metavar="FILE", help="lines x,y,pe,memory instead of the rule")
    parser.add_argument("--after", action="store_true", help="barriers become waiting")
    parser.add_argument("--planes", action="store_true", help="a column with the NoC's name")
    parser.add_argument("--multicast", choices=("each", "last"), default="each",
                        help="a write to each core, or to the last one only (default each)")
    parser.add_argument("-o", "--output", metavar="OUT", help="instead of standard output")
    return parser.parse_args()


def convert(args: argparse.Namespace) -> str:
    """All lines of the CSV; notes go to stderr."""
    data = load(args.file)
    left_out: Counter[str] = collections.Counter()

    if isinstance(data, dict):
        rows = list(workload_rows(args.file, data, left_out, args.multicast))
    elif isinstance(data, list):
        rows = list(trace_rows(args.file, data, left_out, args.after, args.multicast))
    else:
        raise Bad(f"{args.file}: neither a workload with 'phases' nor a list of events")
    places = read_map(args.map) if args.map else numbered(args.file, rows, args.pes, args.cubes)
    text = "".join(line + "\n"
                   for line in lines(rows, places, args.ghz, args.after, args.planes))
    for what, n in sorted(left_out.items()):
        print(f"left out: {n} {what}", file=sys.stderr)
    return text


def main() -> int:
    args = arguments()
    try:
        text = convert(args)
        if args.output:
            with open(args.output, "w", encoding="utf-8") as out:
                out.write(text)
        else:
            sys.stdout.write(text)
            sys.stdout.flush()
    except Bad as e:
        print(f"tt_npe_to_csv.py: {e}", file=sys.stderr)
        return 3
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as e:
        print(f"tt_npe_to_csv.py: cannot write {args.output or 'standard output'}: {e.strerror}",
              file=sys.stderr)
        return 5
    return 0


if __name__ == "__main__":
    sys.exit(main())
