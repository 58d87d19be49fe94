"""shapes.py -- is a picture of a machine with rings, planes, gaps or a grid what it says?

usage: shapes.py SVG [EXPRESSION]

EXPRESSION is Python, and has to be true. It may use the names below. Prints what is there if not.
"""
import sys
import xml.etree.ElementTree as xml

SVG = "{http://www.w3.org/2000/svg}"
root = xml.parse(sys.argv[1]).getroot()
groups = list(root.iter(SVG + "g"))
texts = [t.text for t in root.iter(SVG + "text")]
nodes = {g.get("data-node"): g for g in groups if g.get("data-node")}
missing = {g.get("data-missing"): g for g in groups if g.get("data-missing")}
edges = {(g.get("data-from"), g.get("data-to")): g for g in groups if g.get("data-from")}
wraps = {e for e, g in edges.items() if g.get("data-wrap")}
d2d = {e for e in edges if all(".ucie-" in end or ".port" in end for end in e)}
one_way = {e for e in d2d if e[::-1] not in edges}


def is_hatched(g):
    """Lines all over the box, in a dashed frame."""
    box = g.find(SVG + "rect")
    lines = g.findall(SVG + "line") + [p for p in g.findall(SVG + "path") if p.get("class") == "axis"]
    size = float(box.get("width")) + float(box.get("height"))
    return box.get("class") == "dash" and len(lines) >= size // 9 - 1


def whole_heads(edge):
    """The arrow heads of an edge with two equal sides: a link that goes one way only."""
    n = 0
    for path in edges[edge].findall(SVG + "path"):
        if path.get("class").startswith("head"):
            tip, a, b = [[float(x) for x in p.split()] for p in path.get("d").strip("MZz").split("L")][:3]
            length = [((p[0] - tip[0]) ** 2 + (p[1] - tip[1]) ** 2) ** 0.5 for p in (a, b)]
            n += abs(length[0] - length[1]) < 0.05
    return n


def box(name):
    return [float(nodes[name].find(SVG + "rect").get(k)) for k in ("x", "y", "width", "height")]


def middle(cube):
    x, y, w, h = box(f"sip0.cube{cube}")
    return [x + w / 2, y + h / 2]


def no_overlap():
    """Boxes of cubes and of IO chiplets do not cover each other."""
    boxes = [box(n) for n in nodes if n.split(".")[-1].rstrip("0123456789") in ("cube", "io_noc", "pcie_ep")]
    return not any(a is not b and a[0] + 0.1 < b[0] + b[2] and b[0] + 0.1 < a[0] + a[2] and
                   a[1] + 0.1 < b[1] + b[3] and b[1] + 0.1 < a[1] + a[3] for a in boxes for b in boxes)


if len(sys.argv) > 2 and not eval(f"({sys.argv[2]})"):
    print(f"{sys.argv[2]}\n{len(nodes)} nodes, {len(d2d)} links of cubes, wraps {sorted(wraps)}, "
          f"missing {sorted(missing)}, one way {sorted(one_way)}")
    sys.exit(1)
