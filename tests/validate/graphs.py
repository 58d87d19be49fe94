#!/usr/bin/env python3
"""graphs.py -- irregular networks, dragonflies, fat trees beside BookSim2: a table of docs/validation.md.

usage: graphs.py [--quick] KERNBENCH

graphs.csv has the curves; docs/validation.md says how they were computed. A network is a net of cubes:
a router is a cube, with a PE and a slice for each of its nodes, and a switch if it has none. A packet
is a write by a PE to another router's slice. The rest is as in booksim.py. Prints two tables, by the router
of booksim.py and by one whose first flits wait for a VC as those of BookSim2 do, and ends with 1 if
docs/validation.md has other figures. --quick: few packets and no comparison with the page.
"""

import pathlib
import sys
import tempfile

from booksim import QUICK_FLITS, ROUTER, nets, table_of_nets
from page import Page

FLITS = 80000  # as in booksim.py: 5000 from each node
CYCLES = 25000  # of the second table at least: BookSim2's runs had 20,000 and more, behind a quarter
CURVES = pathlib.Path(__file__).resolve().parent / "graphs.csv"

# Three cycles from a grant until its place can be used again, one of them the flit's; and the one of
# four cycles of a router in which the first flit of a packet gets its VC.
ALLOCATES = ROUTER.replace("credit_ns: 1.0", "credit_ns: 2.0, vc_alloc_ns: 1.0")

MACHINE = """kernbench: 3
name: graph
ns_per_mm: 0.0
contention: {{links: {links}}}
links: {{{kinds}}}
sip: {{cubes: {cubes}, paths: {paths}, net: [{net}]}}
kinds: {{{sizes}}}
cubes: {{{names}}}
cube:
  ucie: {{overhead_ns: 0.0}}
  noc: {{overhead_ns: 4.0, bw_gbs: 16.0}}
  xbar: {{overhead_ns: 0.0, pe_gbs: 16.0}}
  hbm: {{bw_gbs: 1000000.0}}
  pe: {{pe_dma: {{overhead_ns: 1.0, read_channels: 65536, write_channels: 65536}}}}
"""


class Graph:
    """A network of routers.

    sizes: how many nodes each router has. items: of sip.net, each with the cycles that its channels take.
    paths: ways of a pair. groups: parts of the virtual channels that the proof against circles needs.
    counted: the kind of links that hop classes count; "": all.
    """

    def __init__(self, name, sizes, items, paths=1, groups=1, counted=""):
        self.name, self.sizes, self.items, self.paths, self.groups = name, sizes, items, paths, groups
        self.counted = counted
        self.at = [(cube, unit) for cube, n in enumerate(sizes) for unit in range(n)]
        self.nodes = len(self.at)

    def ends(self, a, b):
        """Names of the sender and of the memory of two nodes."""
        (cube, pe), (other, unit) = self.at[a], self.at[b]
        return f"c{cube}.pe{pe}", f"c{other}.slice{unit}"

    def machine(self, links):
        """A channel of one cycle is in the 4 cycles of a router."""
        cycles = sorted({cycles for cycles, _ in self.items})
        return MACHINE.format(
            links=links + (f", hop_links: [{self.counted}]" if self.counted else ""),
            cubes=len(self.sizes), paths=self.paths,
            kinds=", ".join(f"k{k}: {{bw_gbs: 16.0, overhead_ns: 0.0, latency_ns: {k - 1}.0}}"
                            for k in cycles),
            net=", ".join(f"{{{item}, link: k{k}}}" for k, item in self.items),
            sizes=", ".join(f"n{n}: {{pes: {n}, hbm: {{slices: {n}}}}}" for n in sorted(set(self.sizes))),
            names=", ".join(f"c{cube}: n{n}" for cube, n in enumerate(self.sizes)))

    def weights(self, pattern, node):
        """Which share of a node's packets each node gets."""
        cube = self.at[node][0]
        if pattern == "remote":  # all nodes of other routers
            found = [other != cube for other, _ in self.at]
        elif pattern == "bad_dragon":  # all nodes of the next group
            found = [other // GROUP == (cube // GROUP + 1) % GROUPS for other, _ in self.at]
        else:
            found = [other == self.nodes - 1 - node for other in range(self.nodes)]
        return [float(one) for one in found]


# -- the networks ----------------------------------------------------------------------------

GROUP, GROUPS = 4, 9  # of a dragonfly of k = 2
K = 4  # of the fat trees

# Channels of the irregular network by their cycles, both ways.
IRREGULAR = (
    (1, "c1-c3, c2-c6, c2-c10, c5-c7, c8-c17, c9-c15, c10-c19, c11-c19, c13-c18, c16-c17"),
    (2, "c1-c2, c7-c13, c7-c18, c13-c17"),
    (3, "c0-c10, c3-c6, c4-c15, c7-c17, c11-c12, c13-c14, c14-c18"),
    (4, "c2-c8, c4-c8, c4-c17, c5-c14, c7-c14, c8-c11, c10-c12"),
    (6, "c4-c11"),
    (9, "c2-c15"))


def fat_tree():
    """Of three levels: leaves c0 to c15, above them c16 to c31, the top c32 to c47."""
    top = ", ".join(f"c{16 + mid}-c{32 + K * port + mid % K}" for mid in range(16) for port in range(K))
    return Graph("fat tree, 3 levels", [K] * 16 + [0] * 32, [
        (1, f'each: ["c[0-15]", "c[16-31]"], groups: {K}'), (1, f"list: [{top}]")], paths=K * K)


def dragonfly(groups, counted=""):
    return Graph("dragonfly", [2] * GROUP * GROUPS, [
        (10, f'all: "c*", groups: {GROUPS}'), (100, f'dragonfly: "c*", groups: {GROUPS}')],
        groups=groups, counted=counted)


GRAPHS = {graph.name: graph for graph in (
    Graph("irregular", [2] * 12 + [1] * 8, [(k, f"list: [{links}]") for k, links in IRREGULAR]),
    dragonfly(3),
    Graph("fat tree, 2 levels", [K] * K + [0] * K, [(1, 'each: ["c[0-3]", "c[4-7]"]')], paths=K),
    fat_tree())}


def curves(graphs):
    return nets(CURVES, lambda row: graphs[row["network"]],
                lambda row, net, setup: float(row["idle_cycles"]))


def main():
    args = [arg for arg in sys.argv[1:] if arg != "--quick"]
    if len(args) != 1:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    quick = "--quick" in sys.argv
    page = Page()
    flits, own = QUICK_FLITS if quick else FLITS, {**GRAPHS, "dragonfly": dragonfly(2, "k100")}
    with tempfile.TemporaryDirectory() as work:
        for graphs, run in ((GRAPHS, {}),
                            (own, {"router": ALLOCATES, "cycles": 0 if quick else CYCLES})):
            page.print(table_of_nets(args[0], curves(graphs), flits, pathlib.Path(work), **run))
    return 0 if quick else page.end()


if __name__ == "__main__":
    sys.exit(main())
