"""judge.py -- is a picture of a topology what the topology's keys say?

usage: judge.py SVG KEYS LEVEL SIP CUBE PE [STATS]

KEYS is what `kbgen --keys` prints. Nodes, edges, bandwidths and places are worked out here, on
their own. Prints what is wrong; exit 1 then.
"""
import collections
import csv
import sys
import xml.etree.ElementTree as xml

SVG = "{http://www.w3.org/2000/svg}"
PARTS = ["pe_cpu", "pe_scheduler", "pe_dma", "pe_fetch_store", "pe_gemm", "pe_math", "pe_tcm"]
CLASSES = [(100.000001, "u7"), (90, "u6"), (75, "u5"), (50, "u4"), (25, "u3"), (10, "u2"), (1, "u1"), (0, "u0")]
ROUNDED = 0.021  # px: two numbers of two decimals

wrong = []


def expect(what, expected, found):
    if expected != found:
        wrong.append(f"{what}: expected {expected}, found {found}")


def near(what, expected, found):
    if abs(expected - found) > ROUNDED:
        wrong.append(f"{what}: expected {expected}, found {found}")


class Topology:
    def __init__(self, path):
        self.key = dict(line.rstrip("\n").split("=", 1) for line in open(path))
        self.sips, self.w, self.h = (int(self.key[k]) for k in ("sips", "sip.cube_mesh.w", "sip.cube_mesh.h"))
        self.pes = int(self.key["cube.pes"])
        self.half = max(1, self.pes // 2)
        self.size = self.pair("cube.size_mm")
        self.edges = {}

    def number(self, key):
        return float(self.key[key])

    def pair(self, key):
        return [float(x) for x in self.key[key].strip("[]").split(",")]

    def link(self, a, b, mm, gbs, both=True):
        edge = (mm if isinstance(mm, float) else self.number(mm),
                gbs if isinstance(gbs, float) else self.number(gbs))
        self.edges[a, b] = edge
        if both:
            self.edges[b, a] = edge

    def point(self, name):
        """Where a node of a cube meets the NoC, in mm."""
        w, h = self.size
        if name.startswith("xbar"):
            pe = int(name[len("xbar.pe"):])
            return (pe % self.half + 0.5) * w / self.half, 0 if pe < self.half else h
        if name in ("m_cpu", "sram"):
            return self.pair(f"cube.{name}.pos_mm")
        return {"ucie-N": (w / 2, 0), "ucie-S": (w / 2, h), "ucie-W": (0, h / 2), "ucie-E": (w, h / 2)}[name]

    def shore(self, sip, inside):
        for row in range(self.h):
            self.link(f"sip{sip}.io0.io_noc", f"sip{sip}.cube{row * self.w}.ucie-W",
                      "sip.io.shore.distance_mm", "sip.io.shore.bw_gbs")
        if self.sips > 1:
            self.link(f"sip{sip}.io0.pcie_ep", "fabric.switch0", "fabric.distance_mm", "fabric.bw_gbs")
        if inside:
            for node in "pcie_ep", "io_cpu":
                self.link(f"sip{sip}.io0.{node}", f"sip{sip}.io0.io_noc",
                          "sip.io.link.distance_mm", "sip.io.link.bw_gbs")

    def mesh(self, sip):
        at, d2d = f"sip{sip}", ("sip.d2d.distance_mm", "sip.d2d.bw_gbs")
        for c in range(self.w * self.h):
            if c % self.w + 1 < self.w:
                self.link(f"{at}.cube{c}.ucie-E", f"{at}.cube{c + 1}.ucie-W", *d2d)
            if c // self.w + 1 < self.h:
                self.link(f"{at}.cube{c}.ucie-S", f"{at}.cube{c + self.w}.ucie-N", *d2d)

    def system(self, *_):
        nodes = ["fabric.switch0"] if self.sips > 1 else []
        for sip in range(self.sips):
            nodes += [f"sip{sip}", f"sip{sip}.io0"]
            nodes += [f"sip{sip}.cube{c}" for c in range(self.w * self.h)]
            self.shore(sip, False)
            self.mesh(sip)
        return nodes

    def sip(self, sip, *_):
        at = f"sip{sip}"
        nodes = [f"{at}.io0"] + [f"{at}.io0.{n}" for n in ("pcie_ep", "io_noc", "io_cpu")]
        nodes += ["fabric.switch0"] if self.sips > 1 else []
        nodes += [f"{at}.cube{c}" for c in range(self.w * self.h)]
        self.shore(sip, True)
        self.mesh(sip)
        return nodes

    def cube(self, sip, cube, _):
        at = f"sip{sip}.cube{cube}."
        units = ["m_cpu", "sram", "ucie-N", "ucie-E", "ucie-S", "ucie-W"]
        noc = "cube.noc.attach_mm", "cube.noc.bw_gbs"
        nodes = ["noc"] + units
        for unit in units:
            self.link(at + "noc", at + unit, *noc)
        for pe in range(self.pes):
            xbar, dma = f"xbar.pe{pe}", f"pe{pe}.pe_dma"
            nodes += [xbar, f"hbm_ctrl.slice{pe}", f"pe{pe}"] + [f"pe{pe}.{part}" for part in PARTS]
            self.link(at + dma, at + xbar, "cube.xbar.pe_mm", "cube.xbar.pe_gbs", False)
            self.link(at + xbar, at + f"hbm_ctrl.slice{pe}", "cube.hbm.distance_mm",
                      self.number("cube.hbm.bw_gbs") * self.number("cube.hbm.efficiency"), False)
            self.link(at + "noc", at + xbar, *noc, False)
            self.link(at + "noc", at + dma, *noc)
            self.link(at + "noc", at + f"pe{pe}.pe_cpu", *noc)
            if pe % self.half + 1 < self.half:
                self.link(at + xbar, at + f"xbar.pe{pe + 1}", "cube.xbar.chain_mm", "cube.xbar.chain_gbs")
        for side, column in ("left", 0), ("right", self.half - 1):
            if self.pes > 1:
                nodes.append(f"bridge.{side}")
                for pe in column, column + self.half:
                    self.link(at + f"xbar.pe{pe}", at + f"bridge.{side}",
                              "cube.bridge.distance_mm", "cube.bridge.bw_gbs")
        return [at + node for node in nodes]

    def pe(self, sip, cube, pe):
        at = f"sip{sip}.cube{cube}."
        me = f"{at}pe{pe}."
        unlimited = 0.0, float("inf")
        noc = "cube.noc.attach_mm", "cube.noc.bw_gbs"
        self.link(at + "noc", me + "pe_cpu", *noc)
        self.link(at + "noc", me + "pe_dma", *noc)
        self.link(me + "pe_dma", f"{at}xbar.pe{pe}", "cube.xbar.pe_mm", "cube.xbar.pe_gbs", False)
        self.link(me + "pe_cpu", me + "pe_scheduler", *unlimited, False)
        for part in "pe_dma", "pe_gemm", "pe_math":
            self.link(me + "pe_scheduler", me + part, *unlimited, False)
            self.link(me + part, me + "pe_tcm", *unlimited, False)
        self.link(me + "pe_dma", me + "pe_tcm", 0.0, "cube.pe.pe_tcm.write_gbs", False)
        return [me[:-1], at + "noc", f"{at}xbar.pe{pe}"] + [me + part for part in PARTS]


class Picture:
    def __init__(self, path):
        self.root = xml.parse(path).getroot()
        self.view = next(g for g in self.root.iter() if g.get("data-level"))
        self.scale = float(self.view.get("data-scale"))
        self.nodes = [g for g in self.view.iter() if g.get("data-node")]
        self.edges = [g for g in self.view.iter() if g.get("data-from")]

    def rect(self, node):
        g = next(g for g in self.nodes if g.get("data-node") == node)
        return [float(g.find(SVG + "rect").get(k)) for k in ("x", "y", "width", "height")]

    def ends(self, a, b):
        """Where the line of an edge begins and ends."""
        g = next(g for g in self.edges if (g.get("data-from"), g.get("data-to")) == (a, b))
        points = g.find(SVG + "path").get("d").replace("M", "L").split("L")[1:]
        return [float(x) for x in (points[0] + " " + points[-1]).split()]


def check_sets(picture, nodes, edges):
    for what, expected, found in (
        ("nodes", nodes, [g.get("data-node") for g in picture.nodes]),
        ("edges", edges, [(g.get("data-from"), g.get("data-to")) for g in picture.edges])):
        expected, found = collections.Counter(expected), collections.Counter(found)
        for one in expected - found:
            wrong.append(f"{what}: {one} is missing")
        for one in found - expected:
            wrong.append(f"{what}: {one} is too many")


def check_numbers(picture, edges):
    for g in picture.edges:
        name = g.get("data-from"), g.get("data-to")
        gbs = g.get("data-gbs").replace("\N{INFINITY}", "inf")
        mm, expected = edges.get(name, (0, 0))
        if abs(float(gbs) - expected) > 1e-6:
            wrong.append(f"{name}: expected {expected} GB/s, found {gbs}")
        if abs(float(g.get("data-mm")) - mm) > 1e-6:
            wrong.append(f"{name}: expected {mm} mm, found {g.get('data-mm')}")


def check_labels(picture, edges):
    """Numbers at lines: no other than those of edges, and every kind of link in the legend."""
    known = {f"{gbs:.2f}".rstrip("0").rstrip(".").replace("inf", "\N{INFINITY}") for _, gbs in edges.values()}
    found = {t.text for t in picture.view.iter(SVG + "text") if t.get("class") == "gbs"}
    if found - known:
        wrong.append(f"labels of no edge: {found - known}")
    legend = " ".join(t.text for t in picture.root.iter(SVG + "text"))
    for mm, gbs in set(edges.values()):
        speed = "unlimited" if gbs == float("inf") else f"{gbs:.6f}".rstrip("0").rstrip(".") + " GB/s"
        length = f"{mm:.6f}".rstrip("0").rstrip(".")
        if f": {speed}, {length} mm" not in legend:
            wrong.append(f"no link of {speed}, {length} mm in the legend")


def check_mesh(picture, topo, level, sip):
    gap = topo.number("sip.d2d.distance_mm")
    for s in range(topo.sips) if level == "system" else [sip]:
        x0, y0, _, _ = picture.rect(f"sip{s}.cube0")
        for c in range(topo.w * topo.h):
            x, y, w, h = picture.rect(f"sip{s}.cube{c}")
            name = f"sip{s}.cube{c}"
            near(f"{name} x", c % topo.w * (topo.size[0] + gap) * picture.scale, x - x0)
            near(f"{name} y", c // topo.w * (topo.size[1] + gap) * picture.scale, y - y0)
            near(f"{name} width", topo.size[0] * picture.scale, w)
            near(f"{name} height", topo.size[1] * picture.scale, h)
        x1, _, x2, _ = picture.ends(f"sip{s}.io0.io_noc", f"sip{s}.cube0.ucie-W")
        near("shore", topo.number("sip.io.shore.distance_mm") * picture.scale, x2 - x1)


def check_die(picture, topo, at):
    x0, y0, w, h = picture.rect(at + "noc")
    near("die width", topo.size[0] * picture.scale, w)
    near("die height", topo.size[1] * picture.scale, h)
    dots = {g.get("data-at"): g.find(SVG + "circle") for g in picture.view.iter() if g.get("data-at")}
    names = ["m_cpu", "sram", "ucie-N", "ucie-E", "ucie-S", "ucie-W"]
    names += [f"xbar.pe{pe}" for pe in range(topo.pes)]
    expect("dots", sorted(at + n for n in names), sorted(dots))
    for name in names:
        x, y = topo.point(name)
        dot = dots[at + name]
        near(f"{name} x", x * picture.scale, float(dot.get("cx")) - x0)
        near(f"{name} y", y * picture.scale, float(dot.get("cy")) - y0)


def check_bar(picture):
    bar = next((g for g in picture.root.iter() if g.get("data-scale-bar")), None)
    if picture.scale == 0:
        expect("scale bar", None, bar)
        return
    points = bar.find(SVG + "path").get("d").replace("M", "L").split("L")[1:]
    near("scale bar", float(bar.get("data-scale-bar")) * picture.scale,
         float(points[-1].split()[0]) - float(points[0].split()[0]))


def check_use(picture, edges, path):
    """Nodes and edges by the busiest row that names them, or a part of them."""
    use, returns = {}, set()
    for row in csv.DictReader(open(path)):
        name, way_back = row["name"], False
        for end in ".read", ".write":
            name = name.removesuffix(end) if row["kind"] != "edge" else name
        back = " -> ".join(reversed(name.split(" -> ")))
        if back != name and (row["to"], row["from"]) in edges and (row["from"], row["to"]) not in edges:
            name, way_back = back, True  # data of reads, over a link that requests pass one way
        if row["util_pct"]:
            if way_back and float(row["util_pct"]) > use.get(name, -1):
                returns.add(name)
            elif float(row["util_pct"]) > use.get(name, -1):
                returns.discard(name)
            use[name] = max(use.get(name, 0), float(row["util_pct"]))
    shown = [g.get("data-node") for g in picture.nodes]
    for g in picture.nodes + picture.edges:
        name = g.get("data-node") or f"{g.get('data-from')} -> {g.get('data-to')}"
        pct = use.get(name)
        if "data-node" in g.attrib and "." in name and name.split(".")[-1].rstrip("0123456789") in ("cube", "io") and (
                not any(n.startswith(name + ".") for n in shown)):
            inside = [p for n, p in use.items() if n.startswith(name + ".") and " -> " not in n
                      and not n.endswith(".pe_dma")]
            pct = max(inside, default=None)
        expect(f"{name}: way", "back" if name in returns else None, g.get("data-way"))
        shape = g.find(SVG + ("rect" if g.get("data-node") else "path"))
        heat = [c for c in shape.get("class").split() if len(c) == 2 and c[0] == "u"]
        if pct is None:
            expect(f"{name}: class", [], heat)
        else:
            expect(f"{name}: class", [next(c for least, c in CLASSES if pct >= least)], heat)
            near(f"{name}: per cent", pct, float(g.get("data-pct")))


def check_texts(picture):
    """No two texts in one place. Letters are taken for narrow, so what is found does overlap."""
    boxes = []
    for parent in picture.root.iter():
        for t in parent.findall(SVG + "text"):
            classes = (t.get("class") or "").split()
            size = 15 if "title" in classes else 9 if {"in", "gbs", "small"} & set(classes) else 11
            w = 0.45 * size * len(t.text or "")
            turned = t.get("transform")
            x, y = [float(v) for v in turned.split("(")[1].split(")")[0].split()] if turned else (
                float(t.get("x")), float(t.get("y")))
            back = {"middle": w / 2, "end": w}.get(t.get("text-anchor"), 0)
            box = (x - size + 2, y + back - w, x, y + back) if turned else (x - back, y - size + 2, x - back + w, y)
            if t in list(picture.view.iter(SVG + "text")):
                move = picture.view.get("transform").split("(")[1].split(")")[0].split()
                dx, dy = float(move[0]), float(move[1])
                box = box[0] + dx, box[1] + dy, box[2] + dx, box[3] + dy
            boxes.append((box, t.text))
            if box[0] < 0 or box[1] < 0 or box[2] > float(picture.root.get("width")):
                wrong.append(f"'{t.text}' is cut")
    boxes.sort(key=lambda b: b[0][0])
    for i, (a, first) in enumerate(boxes):
        for b, second in boxes[i + 1:]:
            if b[0] >= a[2]:
                break
            if a[1] < b[3] and b[1] < a[3]:
                wrong.append(f"'{first}' and '{second}' overlap")


def main():
    path, keys, level = sys.argv[1:4]
    sip, cube, pe = (int(a) for a in sys.argv[4:7])
    topo, picture = Topology(keys), Picture(path)
    expect("level", level, picture.view.get("data-level"))
    nodes = getattr(topo, level)(sip, cube, pe)
    check_sets(picture, nodes, list(topo.edges))
    check_numbers(picture, topo.edges)
    check_labels(picture, topo.edges)
    check_bar(picture)
    if level in ("system", "sip"):
        check_mesh(picture, topo, level, sip)
    if level == "cube":
        check_die(picture, topo, f"sip{sip}.cube{cube}.")
    if len(picture.nodes) < 200:
        check_texts(picture)
    if len(sys.argv) > 7:
        check_use(picture, topo.edges, sys.argv[7])
    text = " ".join(t.text for t in picture.root.iter(SVG + "text"))
    expect("name in the title", True, f"topology {topo.key['name']}, " in text)
    for line in wrong[:20]:
        print(line)
    sys.exit(bool(wrong))


main()
