#!/usr/bin/env python3
"""back_pressure.py -- draws the example of docs/network.md: a packet that waits for a credit, and one behind it.

usage: back_pressure.py KERNBENCH FILE.svg

KERNBENCH runs the example first: if the three packets end at other times than drawn the script fails.
"""
import csv
import pathlib
import subprocess
import sys
import tempfile

MACHINE = """kernbench: 2
name: row
ns_per_mm: 0.0
contention: {links: router, segment_bytes: 512, packet_bytes: 512, buffer_bytes: 512, vcs: [1, 1]}
sip: {cube_mesh: {w: 3, h: 1}, d2d: {bw_gbs: 16.0}}
cube:
  pes: 1
  ucie: {overhead_ns: 0.0}
  noc: {overhead_ns: 4.0, bw_gbs: 16.0}
  xbar: {overhead_ns: 0.0, pe_gbs: 16.0}
  sram: {bw_gbs: 1.0e6}
  hbm: {bw_gbs: 1.0e6}
  pe: {pe_dma: {read_channels: 65536, write_channels: 65536}}
"""
ROWS = """issue_ns,op,src,dst,offset,nbytes
0,write,c0.pe0,c2.sram,0,320
0,write,c1.pe0,c2.sram,0,320
0,write,c0.pe0,c1.sram,0,320
"""
ENDS = ["52.000004", "28.000003", "72.000004"]

# What passes a port, and what lies in a buffer: packet, from, until; of a buffer also ready, the time from
# which on it could go.
PORTS = [
    ("pe0 to router 0", [("A", 0, 20), ("C", 24, 44)]),
    ("router 0 to 1", [("A", 4, 24), ("C", 48, 68)]),
    ("pe1 to router 1", [("B", 0, 20)]),
    ("router 1 to 2", [("B", 4, 24), ("A", 28, 48)]),
    ("router 2 to memory 2", [("B", 8, 28), ("A", 32, 52)]),
    ("router 1 to memory 1", [("C", 52, 72)]),
]
BUFFERS = [
    ("router 0, from pe0", [("A", 0, 24, 4, 4), ("C", 24, 68, 28, 48)]),
    ("router 1, from router 0", [("A", 4, 48, 8, 28), ("C", 48, 72, 52, 52)]),
    ("router 1, from pe1", [("B", 0, 24, 4, 4)]),
    ("router 2, from router 1", [("B", 4, 28, 8, 8), ("A", 28, 52, 32, 32)]),
]
WAITS = [  # lane of BUFFERS, from, text
    (0, 28, "C waits: no place in router 1, where A lies until 48"),
    (1, 8, "A waits: the port is B's until 24, then no credit until 28"),
]
LEFT, TOP, STEP, NS, HEIGHT = 170, 44, 30, 9.0, 18
COLOURS = {"A": "#0b62a4", "B": "#b8651b", "C": "#3d7a3d"}


def check(simulator):
    """The example ends as it is drawn."""
    with tempfile.TemporaryDirectory() as work:
        machine, rows = pathlib.Path(work, "m.yaml"), pathlib.Path(work, "rows.csv")
        machine.write_text(MACHINE, encoding="utf-8")
        rows.write_text(ROWS, encoding="utf-8")
        run = subprocess.run(
            [simulator, "replay", "--machine", machine, rows, "--quiet", "--format", "csv"],
            capture_output=True, text=True, check=False)
    ends = [row["end_ns"] for row in csv.DictReader(run.stdout.splitlines())]
    if ends != ENDS:
        sys.exit(f"back_pressure.py: the example ends at {ends}: {run.stderr}")


def x(ns):
    return LEFT + ns * NS


def bar(packet, begin, end, y, kind):
    colour = COLOURS[packet]
    fill = colour if kind == "port" else "#fff"
    text = "#fff" if kind == "port" else colour
    yield (f'<rect x="{x(begin):.1f}" y="{y}" width="{(end - begin) * NS:.1f}" height="{HEIGHT}" '
           f'fill="{fill}" stroke="{colour}"/>'
           f'<text x="{x(begin) + 6:.1f}" y="{y + 13}" style="fill:{text}" class="t">{packet}</text>')


def lanes(title, rows, y, kind):
    yield f'<text x="8" y="{y}" class="t">{title}</text>'
    for i, (name, bars) in enumerate(rows):
        top = y + 10 + i * STEP
        yield f'<text x="{LEFT - 10}" y="{top + 13}" class="r">{name}</text>'
        for packet, begin, end, *waits in bars:
            yield from bar(packet, begin, end, top, kind)
            if waits and waits[1] > waits[0]:
                yield (f'<rect x="{x(waits[0]):.1f}" y="{top + 3}" height="{HEIGHT - 6}" '
                       f'width="{(waits[1] - waits[0]) * NS:.1f}" fill="{COLOURS[packet]}" opacity=".25"/>')


def picture():
    ports, buffers = TOP, TOP + 10 + len(PORTS) * STEP + 24
    bottom = buffers + 10 + len(BUFFERS) * STEP
    width, height = int(x(76)), bottom + 72
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
           f'height="{height}" role="img" aria-label="Three packets in a row of three routers">')
    yield ("<style>text{font:12px sans-serif;fill:#333}.t{font-weight:bold}.r{text-anchor:end}"
           ".m{text-anchor:middle}.g{fill:none;stroke:#ddd}.k{fill:none;stroke:#c0392b;"
           "stroke-width:1.5}.n{fill:#c0392b}</style>")
    yield f'<rect width="{width}" height="{height}" fill="#fff"/>'
    for ns in range(0, 76, 4):
        yield f'<path class="g" d="M{x(ns):.1f} {TOP - 14} V{bottom}"/>'
        yield f'<text x="{x(ns):.1f}" y="{TOP - 20}" class="m">{ns}</text>'
    yield f'<text x="8" y="{TOP - 20}">ns</text>'
    yield from lanes("On a link", PORTS, ports, "port")
    yield from lanes("In a buffer, room for one", BUFFERS, buffers, "buffer")
    # the place in router 2 is free at 28: its credit lets A go
    tail = buffers + 10 + 3 * STEP
    head = ports + 10 + 3 * STEP + HEIGHT
    yield f'<path class="k" d="M{x(28):.1f} {tail} V{head}"/>'
    yield f'<path class="k" d="M{x(28) - 4:.1f} {head + 7} L{x(28):.1f} {head} L{x(28) + 4:.1f} {head + 7}"/>'
    yield f'<text x="{x(28) + 8:.1f}" y="{buffers - 2}" class="n">credit</text>'
    for i, (lane, begin, text) in enumerate(WAITS):
        y = bottom + 18 + i * 18
        yield f'<path class="g" d="M{x(begin) + 3:.1f} {buffers + 7 + lane * STEP + HEIGHT} V{y - 12}"/>'
        yield f'<text x="{x(begin):.1f}" y="{y}">{text}</text>'
    yield (f'<text x="8" y="{height - 10}">Filled: the time for which a packet has a port. Outlined: for which it '
           'has a place; shaded, it is ready and cannot go.</text>')
    yield "</svg>"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.split("\n\n", maxsplit=2)[1])
    check(sys.argv[1])
    pathlib.Path(sys.argv[2]).write_text("\n".join(picture()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
