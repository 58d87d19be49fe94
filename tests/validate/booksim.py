#!/usr/bin/env python3
"""booksim.py -- meshes and tori beside BookSim2: tables of docs/validation.md, and its pictures.

usage: booksim.py [--quick] [--fifo] SIMULATOR PICTURES

SIMULATOR is a command whose `replay --machine FILE` simulates any machine, as "build/kernbench".
Prints the tables of segments of one flit and of four, writes a picture for each pattern to the
folder PICTURES, and ends with 1 if docs/validation.md has other figures. KB_VALIDATE names a folder
with booksim.csv. --quick: few packets and no comparison with the page. --fifo: a table of fifo links
instead, not compared.

The folder may have booksim_nets.csv, too: topology, k, n, packet_flits, vcs, depth_flits,
input_speedup, pattern, saturation_flits_per_cycle_and_node, rate, latency_cycles. Its networks are
meshes and tori of k columns, and of k rows if n is 2. The ties of tori are spread; BookSim2 draws
them. Ours are saturated at a rate between NEAR times theirs.

A cycle is a ns, a flit 16 bytes, and rate 1.0 a flit a cycle from each node. A node is the PE of a cube
and its SRAM, which the cube's router joins: so what a node sends to itself passes its router, as in
BookSim. Packets begin at whole cycles, each with the same chance.
"""

import bisect
import collections
import csv
import itertools
import math
import os
import pathlib
import random
import shlex
import subprocess
import sys
import tempfile

from page import Page

SIDE, FLIT = 4, 16
NODES = SIDE * SIDE
PATTERNS = ("uniform", "transpose", "neighbor", "hotspot20")
WAYS, FIFO = (1, 4), (0,)  # flits of a segment; 0: fifo links, without routers
FLITS, QUICK_FLITS = 160000, 20000  # of a run of 16 nodes, of which the first fifth is not counted
SATURATED = 3.0  # times the latency without load
NEAR = (0.8, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2, 1.3)

ROUTER = ("router, segment_bytes: {segment}, packet_bytes: 0, buffer_bytes: {buffer}, "
          "vcs: [{vcs}, {answers}], credit_ns: 1.0, arbiter: rr, input_speedup: {speedup}")

# What BookSim was told of a packet and of an input port.
Setup = collections.namedtuple("Setup", "packet vcs depth speedup")

MACHINE = """kernbench: 2
name: booksim
ns_per_mm: 0.0
contention: {{links: {links}}}
sip: {{cube_mesh: {{{mesh}}}, d2d: {{bw_gbs: 16.0}}}}
cube:
  pes: 1
  ucie: {{overhead_ns: 0.0}}
  noc: {{overhead_ns: 4.0, bw_gbs: 16.0}}
  xbar: {{overhead_ns: 0.0, pe_gbs: 16.0, chain_gbs: 16.0}}
  sram: {{bw_gbs: 1000000.0, overhead_ns: 0.0}}
  pe: {{pe_dma: {{overhead_ns: 1.0, read_channels: 65536, write_channels: 65536}}}}
"""


class Net(collections.namedtuple("Net", "topology w h")):
    """A mesh, or a torus, of so many columns and rows."""

    @property
    def name(self):
        return f"{self.w} x {self.h} {self.topology}"

    @property
    def nodes(self):
        return self.w * self.h

    @property
    def groups(self):
        """Parts of the virtual channels that the proof against circles needs."""
        return 2 if self.topology == "torus" else 1

    def ends(self, a, b):
        """Names of the sender and of the memory of two nodes."""
        return f"c{a}.pe0", f"c{b}.sram"

    def machine(self, links):
        mesh = f"w: {self.w}, h: {self.h}"
        if self.topology == "torus":
            mesh += ", wrap: xy, tie: spread"
        return MACHINE.format(links=links, mesh=mesh)

    def weights(self, pattern, node):
        """Which share of a node's packets each node gets."""
        w, h, n = self.w, self.h, self.nodes
        x, y = node % w, node // w
        if pattern == "uniform":
            return [1 / n] * n
        if pattern == "hotspot20":
            return [0.8 / n + 0.2 * (i == 0) for i in range(n)]
        target = {"transpose": lambda: x * w + y,
                  "neighbor": lambda: (y + 1) % h * w + (x + 1) % w,
                  "bitcomp": lambda: n - 1 - node,
                  "tornado": lambda: (y + (h - 1) // 2) % h * w + (x + (w - 1) // 2) % w,
                  "shuffle": lambda: (2 * node) % n + (2 * node) // n}[pattern]()
        return [float(i == target) for i in range(n)]


SQUARE = Net("mesh", SIDE, SIDE)


def folder():
    """That of the data; the program ends, without an error, if there is none."""
    path = pathlib.Path(os.environ.get("KB_VALIDATE") or "/nonexistent")
    if not (path / "booksim.csv").exists():
        print("not compared: KB_VALIDATE names no folder with booksim.csv; "
              "docs/validation.md says where the data come from")
        sys.exit(0)
    return path


def curves(path):
    """{(setup, pattern): {rate: latency}}. Runs without a steady state are left out.

    Four set-ups have hotspot20 twice: first the rates of a hotspot that gets all packets (its one port
    takes 1/16 of them), then the real ones, which begin at the lowest rate again.
    """
    found = {}
    with (path / "booksim.csv").open(newline="", encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            setup = Setup(int(row["packet_flits"]), int(row["vcs"]), int(row["vc_flits"]),
                          int(row["input_speedup"]))
            curve = found.setdefault((setup, row["pattern"]), {})
            rate = float(row["rate"])
            if curve and rate < max(curve):
                curve.clear()
            curve[rate] = float(row["mean_latency_cycles"] or "inf")
    return {key: {r: x for r, x in curve.items() if x != float("inf")}
            for key, curve in found.items()}


def steps(net, a, b, n):
    """From place to place of a row or column of n."""
    d = abs(a - b)
    return min(d, n - d) if net.topology == "torus" else d


def idle(net, setup, pattern):
    """Latency without load: a cycle at the source, 4 a router, and the flits."""
    w, n = net.w, net.nodes
    hops = sum(share * (1 + steps(net, a % w, b % w, w) + steps(net, a // w, b // w, net.h))
               for a in range(n) for b, share in enumerate(net.weights(pattern, a)) if share) / n
    return 1 + 4 * hops + setup.packet


def packets(net, setup, pattern, rate, count):
    """[(cycle, from, to)] of all nodes' packets in the cycles that make `count` flits."""
    dice = random.Random(f"{setup.packet} {pattern} {rate}")
    chance, end = rate / setup.packet, count / (net.nodes * rate)
    found = []
    for node in range(net.nodes):
        shares = list(itertools.accumulate(net.weights(pattern, node)))
        cycle = -1
        while True:  # the next cycle with a packet: each has the same chance
            cycle += 1 + int(math.log(1 - dice.random()) / math.log(1 - chance))
            if cycle >= end:
                break
            found.append((cycle, node, bisect.bisect(shares, dice.random() * shares[-1])))
    return sorted(found)


def latency(simulator, machine, net, setup, sent, work):
    """Mean latency of packets by kernbench."""
    rows = [f"{cycle},write,{','.join(net.ends(a, b))},0,{FLIT * setup.packet}"
            for cycle, a, b in sent]
    path = work / "packets.csv"
    path.write_text("\n".join(["issue_ns,op,src,dst,offset,nbytes"] + rows) + "\n",
                    encoding="utf-8")
    command = shlex.split(simulator) + ["replay", "--machine", str(machine), str(path), "--quiet"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(f"{' '.join(command)}: exit {run.returncode}: {run.stderr.strip()}")
    times = [float(row["actual_ns"]) for row in csv.DictReader(run.stdout.splitlines())]
    counted = times[len(times) // 5:]
    return sum(counted) / len(counted)


def simulate(simulator, net, setup, pattern, flits, rates, count, work, limit=math.inf,
             router=ROUTER, cycles=0):
    """{rate: mean latency} by kernbench, up to the first one whose latency is above `limit`.

    A run is `count` flits of 16 nodes, or so many cycles if these are more.
    """
    machine = work / "machine.yaml"
    segment = FLIT * min(flits, 1 << (setup.packet.bit_length() - 1))
    links = router.format(segment=segment, buffer=FLIT * max(setup.depth, segment // FLIT),
                          vcs=max(setup.vcs, net.groups), answers=net.groups,
                          speedup=setup.speedup)
    machine.write_text(net.machine(links if flits else "fifo"), encoding="utf-8")
    found = {}
    for rate in rates:
        sent = packets(net, setup, pattern, rate,
                       max(count * net.nodes // NODES, int(cycles * net.nodes * rate)))
        found[rate] = latency(simulator, machine, net, setup, sent, work)
        if found[rate] > limit:
            break
    return found


def saturation(curve, limit):
    """The rate where the latency passes `limit`, between two rates by 1 / latency.

    Far above saturation a latency tells how long a run was, and no more: its inverse is near 0.
    """
    rates = sorted(curve)
    for low, high in zip(rates, rates[1:]):
        if curve[low] <= limit < curve[high]:
            a, b = 1 / curve[low], 1 / curve[high]
            return low + (high - low) * (a - 1 / limit) / (a - b)
    return rates[-1] if curve[rates[-1]] <= limit else rates[0]


def compare(reference, ours, limit):
    """(their saturation, ours, mean error of latencies below both in %)"""
    theirs, mine = saturation(reference, limit), saturation(ours, limit)
    errors = [100 * abs(ours[r] / reference[r] - 1)
              for r in sorted(reference) if r < min(theirs, mine) and reference[r] <= limit]
    return theirs, mine, sum(errors) / len(errors) if errors else 0.0


def table(results, patterns):
    """Lines of a table: a row for each curve."""
    yield "| flits | VCs | deep | speedup | pattern | BookSim2 | kernbench | % | latency, % |"
    yield "| ---: | ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: |"
    for (setup, pattern), (theirs, mine, error) in results.items():
        yield (f"| {setup.packet} | {setup.vcs} | {setup.depth} | {setup.speedup} | {pattern} "
               f"| {theirs:.3f} | {mine:.3f} | {100 * (mine / theirs - 1):+.1f} | {error:.1f} |")
    for pattern in patterns:
        rows = [r for (_, p), r in results.items() if p == pattern]
        if not rows:
            continue
        off = [100 * abs(mine / theirs - 1) for theirs, mine, _ in rows]
        yield (f"| | | | | **{pattern}, mean** | | | **{sum(off) / len(off):.1f}**, "
               f"at most {max(off):.1f} | **{sum(r[2] for r in rows) / len(rows):.1f}** |")


# -- pictures --------------------------------------------------------------------------------

WIDTH, HEIGHT, LEFT, TOP = 250, 190, 42, 26


def plot(setup, theirs, ours, limit, x0, y0):
    """One set-up: BookSim's points, kernbench's line, up to twice the latency of saturation."""
    top, right = 2 * limit, max(r for r in theirs)
    width, height = WIDTH - LEFT - 14, HEIGHT - TOP - 34

    def at(rate, latency):
        y = max(0.0, 1 - latency / top)
        return f"{x0 + LEFT + width * rate / right:.1f},{y0 + TOP + height * y:.1f}"

    name = f"{setup.packet} flits, {setup.vcs} VCs of {setup.depth}"
    if setup.speedup > 1:
        name += f", speedup {setup.speedup}"
    yield f'<text x="{x0 + LEFT}" y="{y0 + TOP - 8}" class="t">{name}</text>'
    yield (f'<path class="a" d="M{at(0, top)} L{at(0, 0)} L{at(right, 0)}"/>'
           f'<path class="g" d="M{at(0, limit)} L{at(right, limit)}"/>')
    for latency in (0, limit):
        x, y = at(0, latency).split(",")
        yield f'<text x="{float(x) - 4:.1f}" y="{float(y) + 4:.1f}" class="r">{latency:.0f}</text>'
    for rate in (0, right / 2, right):
        x, y = at(rate, 0).split(",")
        yield f'<text x="{x}" y="{float(y) + 14:.1f}" class="m">{rate:.2f}</text>'
    line = [at(r, ours[r]) for r in sorted(ours)]
    yield f'<polyline class="k" points="{" ".join(line)}"/>'
    for rate in sorted(theirs):
        if theirs[rate] < top:
            x, y = at(rate, theirs[rate]).split(",")
            yield f'<circle class="b" cx="{x}" cy="{y}" r="3"/>'


def picture(pattern, curves_of):
    """An SVG of all set-ups of a pattern; `curves_of` has (setup, theirs, ours, limit)."""
    columns = 4
    rows = -(-len(curves_of) // columns)
    width, height = columns * WIDTH, rows * HEIGHT + 28
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
           f'width="{width}" height="{height}" role="img" '
           f'aria-label="Latency against rate, {pattern}: BookSim2 and kernbench">')
    yield ("<style>text{font:11px sans-serif;fill:#333}.t{font-weight:bold}.r{text-anchor:end}"
           ".m{text-anchor:middle}.a{fill:none;stroke:#888}.g{fill:none;stroke:#ccc;"
           "stroke-dasharray:3}.k{fill:none;stroke:#0b62a4;stroke-width:1.5}"
           ".b{fill:none;stroke:#c0392b;stroke-width:1.5}</style>")
    yield f'<rect width="{width}" height="{height}" fill="#fff"/>'
    for i, (setup, theirs, ours, limit) in enumerate(curves_of):
        yield from plot(setup, theirs, ours, limit, i % columns * WIDTH, i // columns * HEIGHT)
    yield (f'<text x="{LEFT}" y="{height - 10}">{pattern}: mean latency in cycles against flits a '
           "cycle and node. Circles: BookSim2. Line: kernbench, segments of one flit. "
           "Dashed: three times the latency without load.</text>")
    yield "</svg>"


# ------------------------------------------------------------------------------------------------


def run_all(simulator, reference, flits, count, work):
    results, drawn = {}, collections.defaultdict(list)
    for (setup, pattern), theirs in sorted(reference.items(),
                                           key=lambda item: PATTERNS.index(item[0][1])):
        limit = SATURATED * idle(SQUARE, setup, pattern)
        above = [r for r in sorted(theirs) if theirs[r] > limit][:2]
        rates = [r for r in sorted(theirs) if theirs[r] <= limit] + above
        if not flits:  # they saturate later
            rates = sorted(theirs)
        ours = simulate(simulator, SQUARE, setup, pattern, flits, rates, count, work)
        results[setup, pattern] = compare(theirs, ours, limit)
        drawn[pattern].append((setup, theirs, ours, limit))
    return results, drawn


# -- other networks --------------------------------------------------------------------------


def mesh_of(row):
    """The network of a row of booksim_nets.csv."""
    k = int(row["k"])
    return Net(row["topology"], k, k if row["n"] == "2" else 1)


def nets(path, net_of, idle_of):
    """[(net, setup, pattern, saturation, latency of saturation, {rate: latency})] of a CSV.

    net_of(row) is the network of a row, idle_of(row, net, setup) its latency without load.
    """
    found = {}
    with path.open(newline="", encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            net, pattern = net_of(row), row["pattern"]
            setup = Setup(int(row["packet_flits"]), int(row["vcs"]), int(row["depth_flits"]),
                          int(row["input_speedup"]))
            curve = found.setdefault((net.name, setup, pattern), (
                net, setup, pattern, float(row["saturation_flits_per_cycle_and_node"]),
                SATURATED * idle_of(row, net, setup), {}))[-1]
            curve[float(row["rate"])] = float(row["latency_cycles"])
    return [found[key] for key in sorted(found)]


def table_of_nets(simulator, reference, count, work, **run):
    """Lines of a table: a row for each network and pattern. run: of simulate()."""
    yield "| network | flits | VCs | deep | pattern | BookSim2 | kernbench | % | latency, % |"
    yield "| --- | ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: |"
    off = []
    for net, setup, pattern, theirs, limit, curve in reference:
        rates = sorted({*curve, *(round(theirs * near, 4) for near in NEAR)})
        ours = simulate(simulator, net, setup, pattern, 1, rates, count, work, limit,
                        **run)
        mine = saturation(ours, limit)
        errors = [100 * abs(ours[r] / curve[r] - 1) for r in curve if r < min(theirs, mine)]
        off.append((100 * abs(mine / theirs - 1), sum(errors) / len(errors)))
        yield (f"| {net.name} | {setup.packet} | {setup.vcs} | {setup.depth} "
               f"| {pattern} | {theirs:.3f} | {mine:.3f} | {100 * (mine / theirs - 1):+.1f} "
               f"| {off[-1][1]:.1f} |")
    yield (f"| | | | | **mean** | | | **{sum(o for o, _ in off) / len(off):.1f}**, at most "
           f"{max(o for o, _ in off):.1f} | **{sum(e for _, e in off) / len(off):.1f}** |")


def main():
    args = sys.argv[1:]
    quick, fifo = "--quick" in args, "--fifo" in args
    args = [a for a in args if not a.startswith("--")]
    if len(args) != 2:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    reference = curves(folder())
    page = Page()
    with tempfile.TemporaryDirectory() as name:
        for flits in FIFO if fifo else WAYS:
            results, drawn = run_all(args[0], reference, flits, QUICK_FLITS if quick else FLITS,
                                     pathlib.Path(name))
            print("\n" + (f"segments of {flits} flits" if flits else "fifo") + "\n")
            page.print(table(results, PATTERNS))
            for pattern, curves_of in drawn.items() if flits == 1 else ():
                path = pathlib.Path(args[1]) / f"{pattern}.svg"
                path.write_text("\n".join(picture(pattern, curves_of)) + "\n", encoding="utf-8")
        other = folder() / "booksim_nets.csv"
        if other.exists() and not fifo:
            reference = nets(other, mesh_of, lambda row, net, setup: idle(net, setup, row["pattern"]))
            page.print(table_of_nets(args[0], reference, QUICK_FLITS if quick else FLITS,
                                     pathlib.Path(name)))
    if quick or fifo:
        return 0
    return page.end()


if __name__ == "__main__":
    sys.exit(main())
