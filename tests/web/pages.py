#!/usr/bin/python3
"""pages.py -- pages of `report` in a browser: what they show, and what can be done with them.

TAP on stdout. B names the build, with the tests' simulators of cube8 and tray32. Needs Debian's chromium,
chromium-driver, python3-selenium and python3-html5lib. Numbers are compared with --format json, those of the
first screen with the rows of the page.
With a word, only the pages that have it in their names: pages.py "cube8 run".
"""
import decimal
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

import html5lib
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from shown import DECIMALS, PLACES, ROWS_SHOWN, place, shown

BUILD = os.environ.get("B", "build")
WIDTHS = (1280, 390)
THEMES = ("light", "dark")

PAGES = (
    ("cube8", "probe", ["probe"]),
    ("cube8", "sweep", ["sweep", "--src", "c0.pe*", "--dst", "c[0,7].slice*", "--bytes", "64:4K:x8",
                        "--inflight", "1,4"]),
    ("cube8", "sweep of 4096 rows", ["sweep", "--src", "c*.pe*", "--dst", "c*.slice*"]),
    ("cube8", "load", ["load", "--pattern", "uniform", "--rate", "0.1:0.4:0.1", "--txns", "8000",
                       "--seeds", "2"]),
    ("cube8", "replay", ["replay", "benches/one_slice.csv"]),
    ("cube8", "run", ["run", "gemm", "M=128", "N=128", "--verify"]),
    ("cube8", "why", ["why", "gemm", "M=64"]),
    ("cube8", "llm", ["llm", "llama-3.2-1b", "--decode", "64", "--batch", "4", "--tries", "1"]),
    ("cube8", "study", ["study", "tests/web/study.yaml"]),
    ("tray32", "probe", ["probe", "--bytes", "64K"]),
    ("tray32", "sweep", ["sweep", "--src", "s*.host,c0.pe0", "--dst", "s*.c0.slice0", "--inflight",
                         "1:8", "--op", "h2d,d2h,read"]),
    ("tray32", "load", ["load", "--pattern", "neighbor", "--rate", "0.2,0.5", "--txns", "4000",
                        "--arrivals", "fixed"]),
    ("tray32", "replay", ["replay", "benches/one_slice.csv"]),
    ("tray32", "run", ["run", "mlp"]),
)

# -- TAP ------------------------------------------------------------------------------------------

count = 0
failures = 0


def ok(passed, name, why=""):
    """One test; `why` is shown if it failed."""
    global count, failures
    count += 1
    print(f"{'ok' if passed else 'not ok'} {count} - {name}", flush=True)
    if not passed:
        failures += 1
        for line in str(why).splitlines()[:20]:
            print("#", line[:300])


def equal(found, expected, name):
    ok(found == expected, name, f"expected {expected!r}\nfound    {found!r}")


# -- the browser ----------------------------------------------------------------------------------


def open_browser():
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium"
    options.add_argument("--headless=new")
    options.add_argument("--disable-gpu")
    options.add_argument("--disable-dev-shm-usage")
    if os.getuid() == 0:
        options.add_argument("--no-sandbox")  # there is none for root
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.chrome.service.Service(shutil.which("chromedriver") or "chromedriver")
    return webdriver.Chrome(service=service, options=options)


def look(browser, width, theme, media=""):
    """How the page is seen from now on."""
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {
        "media": media, "features": [{"name": "prefers-color-scheme", "value": theme}]})
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})


def requests(browser):
    """Addresses that the page has asked for since the last look."""
    messages = (json.loads(entry["message"])["message"] for entry in browser.get_log("performance"))
    return [message["params"]["request"]["url"] for message in messages
            if message["method"] == "Network.requestWillBeSent"]


# Texts that are too faint, by the rule of WCAG: a ratio of luminances below 4.5. What is behind a
# text of a picture is the last shape below its middle.
FAINT = """
const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((c) => c / 255).map(
        (c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
};
const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
const is_clear = (colour) => colour === "none" || (numbers(colour).length > 3 && numbers(colour)[3] === 0);
const behind_html = (element) => {
    for (let e = element; e; e = e.parentElement) {
        const colour = getComputedStyle(e).backgroundColor;
        if (!is_clear(colour))
            return colour;
    }
    return "rgb(255, 255, 255)";
};
const shapes = new Map();
const behind_svg = (text) => {
    const svg = text.ownerSVGElement, box = text.getBoundingClientRect();
    const x = box.x + box.width / 2, y = box.y + box.height / 2;
    let colour = behind_html(svg.parentElement);
    if (!shapes.has(svg))
        shapes.set(svg, [...svg.querySelectorAll("rect, circle, path, polygon")].map(
            (e) => [e, e.getBoundingClientRect(), getComputedStyle(e).fill]));
    for (const [e, at, fill] of shapes.get(svg))
        if (e.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING && !is_clear(fill) &&
                at.left <= x && x <= at.right && at.top <= y && y <= at.bottom)
            colour = fill;
    return colour;
};
const faint = [];
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walk.nextNode()) {
    const e = walk.currentNode.parentElement, text = walk.currentNode.data.trim();
    if (!text || ["SCRIPT", "STYLE", "style", "title"].includes(e.nodeName) || !e.getClientRects().length)
        continue;
    const is_svg = e.namespaceURI.endsWith("svg"), style = getComputedStyle(e);
    const ink = is_svg ? style.fill : style.color, paper = is_svg ? behind_svg(e) : behind_html(e);
    const [a, b] = [luminance(numbers(ink)), luminance(numbers(paper))].sort((p, q) => q - p);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5)
        faint.push(`${ratio.toFixed(2)} ${text.slice(0, 40)}: ${ink} on ${paper}`);
}
return [...new Set(faint)];
"""

# What a reader without sight would miss.
UNSAID = """
const missing = [];
const need = (is_there, what) => { if (!is_there) missing.push(what); };
const all = (selector) => [...document.querySelectorAll(selector)];
const name = (e) => (e.getAttribute("aria-label") || e.textContent ||
                     (e.labels && e.labels[0] && e.labels[0].textContent) || "").trim();
need(document.documentElement.lang === "en", "lang");
need(document.title, "title");
need(all("h1").length === 1, "one h1");
for (const landmark of ["header", "nav[aria-label]", "main"])
    need(all(landmark).length === 1, landmark);
for (const section of all("main > section"))
    need(section.id && section.querySelector(":scope > h2"), "heading of section " + section.id);
for (const link of all("a"))
    need(name(link) && document.getElementById(link.hash.slice(1)), "target of " + link.href);
need(all("nav a").length === all("main > section").length, "a line of the contents for each section");
for (const control of all("button, input, summary, [role=region]"))
    need(name(control), "name of " + control.outerHTML.slice(0, 80));
for (const table of all("table"))
    need(name(table.caption), "caption of " + table.id);
for (const head of all("th"))
    need(head.scope === "col" && head.ariaSort, "scope and order of " + head.textContent);
for (const svg of all("svg:not([aria-hidden=true])"))
    need(svg.getAttribute("role") === "img" && (svg.getAttribute("aria-label") ||
         document.getElementById(svg.getAttribute("aria-labelledby"))), "title of a picture");
const ids = all("[id]").map((e) => e.id);
for (const id of ids)
    need(ids.indexOf(id) === ids.lastIndexOf(id), "one element only with id " + id);
for (const figure of all("figure"))
    need(figure.querySelector("svg"), "a picture in " + figure.textContent);
return missing;
"""

TABLES = """
return [...document.querySelectorAll("table")].map((table) => ({
    id: table.id,
    columns: [...table.tHead.rows[0].cells].map((e) => e.textContent.trim()),
    rows: [...table.tBodies[0].rows].map((row) => [...row.cells].map((e) => e.textContent)),
    rights: [...table.tBodies[0].rows[0].cells].map((e) => getComputedStyle(e).textAlign === "right"),
    same: table.closest(".rows").querySelector(".same").textContent,
    runs_over: table.parentElement.scrollWidth > table.parentElement.clientWidth + 1}));
"""

# Tables of the page that are rows of its data, and those that its script makes of them.
KEPT = {"rows": "rows", "why": "breakdown", "use": "use"}

# -- tests of a page ------------------------------------------------------------------------------


def check_source(name, path):
    parser = html5lib.HTMLParser(strict=False)
    with open(path, encoding="utf-8") as page:
        parser.parse(page.read())
    ok(not parser.errors, f"{name}: is HTML5 without errors", parser.errors[:5])


def check_looks(browser, name, url):
    for width in WIDTHS:
        for theme in THEMES:
            where = f"{name}, {width} px, {theme}"
            look(browser, width, theme)
            requests(browser)
            browser.get(url)
            equal(browser.get_log("browser"), [], f"{where}: nothing on the console")
            others = [r for r in requests(browser) if r != url and not r.startswith("data:")]
            equal(others, [], f"{where}: asks for nothing else")
            wide = browser.execute_script("return document.documentElement.scrollWidth")
            ok(wide <= width, f"{where}: does not run over the side", f"{wide} px wide")
            if width == WIDTHS[0]:
                faint = browser.execute_script(FAINT)
                ok(not faint, f"{where}: every text stands out", "\n".join(faint))


def data_of(browser):
    source = browser.execute_script("return document.getElementById('data').textContent")
    return json.loads(source, parse_float=decimal.Decimal)


def check_tables(browser, name, command, data):
    theirs = json.loads(subprocess.run(command + ["--format", "json", "--quiet"], check=True,
                                       capture_output=True).stdout, parse_float=decimal.Decimal)
    ours = [dict(zip(data["rows"]["columns"], row)) for row in data["rows"]["rows"]]
    ok(ours == theirs["rows"], f"{name}: has the rows of --format json")
    for table in browser.execute_script(TABLES):
        ok(table["rows"], f"{name}: table {table['id']} has rows")
        if table["id"] not in KEPT:
            continue
        kept = data[KEPT[table["id"]]]
        expected = [[shown(kept, row, kept["columns"].index(c)) for c in table["columns"]] for row in kept["rows"][:ROWS_SHOWN]]
        wrong = [pair for pair in zip(table["rows"], expected) if pair[0] != pair[1]]
        ok(not wrong and len(table["rows"]) == len(expected) and expected,
           f"{name}: table {table['id']} shows the numbers of the data", wrong[:2])
        rights = [kept["types"][kept["columns"].index(c)] != "t" for c in table["columns"]]
        equal(table["rights"], rights, f"{name}: in table {table['id']} numbers stand at the right")
        ok(not table["runs_over"], f"{name}: table {table['id']} has as many columns as fit", table["columns"])
        unsaid = [c for i, c in enumerate(kept["columns"]) if c not in table["columns"] and len(kept["rows"]) > 1 and
                  len({row[i] for row in kept["rows"]}) == 1 and kept["rows"][0][i] not in (None, 0) and
                  f"{c} {shown(kept, kept['rows'][0], i)}" not in table["same"] and len(kept["rows"]) <= 2000]
        equal(unsaid, [], f"{name}: what is the same in all rows of {table['id']} is said above it")


def figure(browser, label):
    return browser.execute_script("""
        const tile = [...document.querySelectorAll(".tile")].find((e) => e.querySelector("dt").textContent.startsWith(arguments[0]));
        return tile && tile.querySelector(".figure").textContent;""", label)


# Of each command the tiles of its first screen that are numbers of its rows: label, column, which of them.
TILES = {
    "llm": (),
    "run": (("kernel time", "kernel_ns", max), ("of the peak", "peak_pct", max)),
    "why": (("kernel time", "kernel_ns", max), ("most saved", "saved_pct", max)),
    "replay": (("last end", "end_ns", max),),
    "load": (("most accepted", "accepted_gbs", max),),
    "sweep": (("lowest latency", "mean_ns", min), ("highest latency", "mean_ns", max), ("highest throughput", "gbs", max)),
    "probe": (("lowest latency", "actual_ns", min), ("highest throughput", "eff_bw_gbs", max)),
    "study": (("best gain", "gain_pct", max),),
}


def check_first_screen(browser, name, command, data):
    rows = data["rows"]
    for label, column, which in TILES[command]:
        i = rows["columns"].index(column)
        value = which(row[i] for row in rows["rows"] if row[i] is not None)
        label = "longest kernel" if label == "kernel time" and command == "run" and len(rows["rows"]) > 1 else label
        if label == "of the peak" and len(rows["rows"]) > 1:
            continue  # that of the longest one
        equal(figure(browser, label), shown(rows, [value], 0, rows["types"][i]), f"{name}: the first screen says the {label} of its rows")
    bottom = browser.execute_script("return document.querySelector('.tiles').getBoundingClientRect().bottom")
    ok(bottom < 450, f"{name}: and does so in its upper half", bottom)
    if "use" not in data:
        return
    use = data["use"]
    edges = {row[1]: row[2] for row in use["rows"] if row[0] == "edge"}
    listed = browser.execute_script("""
        return [...document.querySelectorAll(".links li")].map((e) => [e.querySelector("strong").textContent,
            e.querySelector(".share").textContent])""")
    drawn = browser.execute_script("""
        const edges = (id) => [...document.querySelectorAll(`#${id} g.edge[data-pct]`)];
        const busy = ["picture-system", "picture-sip"].map(edges).find((all) => all.some((e) => e.dataset.pct >= 1)) ?? [];
        return busy.map((e) => e.dataset.from + " -> " + e.dataset.to)""")
    drawn = {name: edges.get(name) for name in drawn if edges.get(name)}
    busiest = sorted((v for v in drawn.values() if v >= 1), reverse=True)[:5]
    equal([share for _, share in listed], [shown(use, [v], 0, "p") + " %" for v in busiest], f"{name}: the busiest links are listed")
    by_name = {(place(k), shown(use, [v], 0, "p") + " %") for k, v in drawn.items()}
    ok(all(tuple(line) in by_name for line in listed), f"{name}: each with its name", listed)
    equal(len(browser.find_elements(By.CSS_SELECTOR, ".map .badge")), len(listed), f"{name}: and has its number in the picture")


# Of a place that is waited at, the key that says how many it serves, or how fast.
KEYS_AT = {"pe_dma.read": "read_channels", "pe_dma.write": "write_channels", "pe_scheduler": "pe_gemm.", "pe_math": "pe_math.", "pe_tcm.read": "pe_tcm.read_gbs",
           "pe_tcm.write": "pe_tcm.write_gbs"}


def items_of(browser):
    """Of the first screen each cause with keys to try: its place, and its text."""
    texts = browser.execute_script("return [...document.querySelectorAll('#summary li')].map((e) => e.textContent)")
    return [(at, text) for text in texts for at in re.findall(r"most at (\S+)to try: ", text)]


def check_causes(browser, name, data):
    """Shares of the critical path, from the sums of the data."""
    sums = data["sums"]
    paths = [row for row in sums["rows"] if row[0] == "path"]
    kernels = [row for row in paths if ":" not in row[1]]
    longest = max(kernels, key=lambda row: sum(row[2:]))
    shares = sorted((100 * ns / sum(longest[2:]) for ns in longest[2:] if ns), reverse=True)[:5]
    found = browser.execute_script("""
        return [...document.querySelectorAll("#summary .pair > :first-child > .ranking:first-child .share")].map((e) => parseFloat(e.textContent))""")
    ok(len(found) == len(shares) and all(abs(a - float(b)) <= 0.051 for a, b in zip(found, shares)),
       f"{name}: the causes of the critical path are ranked", (found, shares))
    lines = [sum(row[2:]) for row in paths if ":" in row[1]]
    first = browser.execute_script("return document.querySelector('#summary .pair > :first-child > .ranking + .ranking li').textContent")
    most = decimal.Decimal(max(lines)).quantize(decimal.Decimal("0.01"), decimal.ROUND_HALF_UP)
    ok(f"{most} ns" in first, f"{name}: and the line of the kernel with most of it comes first", first)
    items = items_of(browser)
    ok(all(word in item for at, item in items for end, word in KEYS_AT.items() if at.endswith(end)),
       f"{name}: keys to try are those of the place", items)


def check_model(browser, name, rows):
    """A model's operations under the roofs of one rank, their bounds, and what goes over links."""
    total = rows["totals"][0]
    found = browser.execute_script("""
        return [[...document.querySelectorAll("[data-roof]")].map((e) => +e.dataset.roof),
                [...document.querySelectorAll("[data-slope]")].map((e) => +e.dataset.slope),
                [...document.querySelectorAll(".point")].map((e) => [e.dataset.name, +e.dataset.x, +e.dataset.y]),
                [...document.querySelectorAll("[data-bound]")].map((e) => +e.dataset.bound)]""")
    ops = [dict(zip(rows["columns"], row)) for row in rows["rows"]]
    equal(found[:2], [[2 * 16 ** 3 * 8, 64 * 8], [256 * 8]], f"{name}: roofs are those of a cube")
    points = [[r["op"], float(r["flops"] / r["bytes"]), float(r["flops"] / r["us"]) / 1000] for r in ops if r["flops"]]
    bounds = [float(r["flops"] / r["bound_us"]) / 1000 for r in ops if r["bound_us"]]
    near = [[a[0], is_near(a[1], b[1]), is_near(a[2], b[2])] == [b[0], True, True] for a, b in zip(found[2], points)]
    ok(len(points) == len(near) and all(near), f"{name}: and a point for each product", (found[2], points))
    ok(len(bounds) == len(found[3]) and all(is_near(a, b) for a, b in zip(found[3], bounds)), f"{name}: with its bound", (found[3], bounds))
    text = browser.find_element(By.ID, "causes").text
    for r in ops:
        if r["bytes"] is not None:
            pct, roof = max((100 * float((r[amount] or 0) / r["us"]) / 1000 / high, roof) for amount, high, roof in
                            (("flops", 2 * 16 ** 3 * 8, "engine"), ("bytes", 256 * 8, "memory"), ("link_bytes", 256, "fabric")))
            line = re.search(rf"{re.escape(r['op'])}\s+{roof}: \S+ of \S+ G[BO]P?/s, {pct:.1f} %", text)
            ok(line, f"{name}: {r['op']} comes nearest to the roof of {roof}, {pct:.1f} %", text)
    ok({"all_reduce1", "norm1"} <= {r["op"] for r in ops}, f"{name}: collectives and rows are among them")
    ok(f"{total['tpot_ms']:.3f}" in browser.find_element(By.ID, "summary").text, f"{name}: the first screen says the time of a token")


def is_near(a, b):
    return abs(a / b - 1) < 1e-9


def lowest_roof(x, row, at, limits, links):
    """Of a launch with so many operations a byte."""
    engine = ("GEMM", limits["gemm_gops"]) if row[at["gemm_macs"]] else ("MATH", limits["math_gops"])
    return min([engine, ("memories", x * limits["memory_gbs"])] + [("links", x * gbs) for gbs in links], key=lambda r: r[1])[0]


def check_roofline(browser, name, data):
    """Roofs and points of the plot, by the rows and the limits of the data."""
    rows, limits = data["rows"], data["limits"]
    found = browser.execute_script("""
        return [[...document.querySelectorAll("[data-roof]")].map((e) => e.dataset.roof),
                [...document.querySelectorAll("[data-slope]")].map((e) => e.dataset.slope),
                [...document.querySelectorAll(".point")].map((e) => [e.dataset.name, +e.dataset.x, +e.dataset.y])]""")
    at = {c: i for i, c in enumerate(rows["columns"])}
    points = [[row[at["kernel"]], float(operations / (row[at["dma_read_bytes"]] + row[at["dma_write_bytes"]])),
               float(operations / row[at["kernel_ns"]])] for row in rows["rows"]
              if (operations := 2 * row[at["gemm_macs"]] + row[at["math_elements"]])]
    equal(found[:2], [[str(limits["gemm_gops"]), str(limits["math_gops"])], [str(limits["memory_gbs"])]],
          f"{name}: the roofline has the peaks of the machine")
    use = {c: i for i, c in enumerate(data["use"]["columns"])}
    busiest = max((row[use["bytes"]] / row[use["gbs"]] for row in data["use"]["rows"]
                   if row[use["kind"]] == "edge" and row[use["gbs"]]), default=0)
    moved = sum(row[at["dma_read_bytes"]] + row[at["dma_write_bytes"]] for row in rows["rows"])
    links, lowest = browser.execute_script("""
        return [[...document.querySelectorAll("[data-links]")].map((e) => +e.dataset.links),
                [...document.querySelectorAll("[data-lowest]")].map((e) => e.dataset.lowest)]""")
    ok(len(links) == (busiest > 0) and (not links or is_near(links[0], moved / busiest)), f"{name}: and that of its links", links)
    ok(lowest == [lowest_roof(x, row, at, limits, links) for (_, x, _), row in zip(points, rows["rows"])],
       f"{name}: and says which is the lowest above each", lowest)
    ok(len(found[2]) == len(points) and all(a[0] == b[0] and abs(a[1] / b[1] - 1) < 1e-9 and abs(a[2] / b[2] - 1) < 1e-9
                                            for a, b in zip(found[2], points)), f"{name}: and a point for each launch", (found[2], points))


def check_curves(browser, name, data):
    """Of `load`: as many points as rates, and in the order of their latency."""
    rows = data["rows"]
    curves = browser.execute_script("""
        return Object.fromEntries([...document.querySelectorAll("[data-curve]")].map((e) => [e.dataset.curve,
            [...e.querySelectorAll("circle")].map((c) => [+c.getAttribute("cx"), +c.getAttribute("cy")])]))""")
    at = {c: i for i, c in enumerate(rows["columns"])}
    for curve, column in (("mean", "mean_ns"), ("half of them", "p50_ns"), ("99 % of transactions", "p99_ns")):
        rates = sorted((row[at["offered_gbs"]], row[at[column]]) for row in rows["rows"] if row[at["mean_ns"]] is not None)
        drawn = curves[curve]
        ok(len(drawn) == len(rates) and [x for x, _ in drawn] == sorted(x for x, _ in drawn) and
           sorted(range(len(rates)), key=lambda i: rates[i][1]) == sorted(range(len(rates)), key=lambda i: -drawn[i][1]),
           f"{name}: the curve of {column} has its rates, higher where it is slower", (drawn, rates))
    full = [row[at["offered_gbs"]] for row in rows["rows"] if row[at["saturated"]]]
    shade = browser.execute_script("return [...document.querySelectorAll('[data-saturated]')].map((e) => +e.dataset.saturated)")
    equal(shade, [float(min(full))] if full else [], f"{name}: what is saturated is shaded, from the rate on that the rows say")


def check_variants(browser, name, data):
    """Of `study`: a point for each variant, the front, bars of gains, a curve over the key of three values alone."""
    rows = data["rows"]
    at = {c: i for i, c in enumerate(rows["columns"])}
    found = browser.execute_script("""
        return [...document.querySelectorAll(".point")].map((e) => [e.dataset.name, +e.dataset.x, +e.dataset.y])""")
    wanted = [[row[at["variant"]], float(row[at["cost"]]), float(row[at["gain_pct"]])] for row in rows["rows"]]
    equal(sorted(found), sorted(wanted), f"{name}: a point of cost and gain for each variant")
    text = browser.find_element(By.TAG_NAME, "main").text
    equal([title in text for title in ("Gain by variant, %: run gemm M=128", "and the Pareto front: run gemm M=128",
                                       "Time over cube.noc.bw_gbs", "Time over sip.d2d.bw_gbs")],
          [True, True, True, False], f"{name}: its pictures")


def column_of(browser, table, name):
    return browser.execute_script("""
        const table = document.getElementById(arguments[0]);
        const at = [...table.tHead.rows[0].cells].findIndex((e) => e.textContent === arguments[1]);
        return [...table.tBodies[0].rows].map((row) => row.cells[at].textContent)""", table, name)


def check_sorting(browser, name, table, kept):
    heads = browser.find_elements(By.CSS_SELECTOR, f"#{table} th")
    names = [head.text for head in heads]
    values = {n: [row[kept["columns"].index(n)] for row in kept["rows"]] for n in names}
    numeric = [n for n in names if all(isinstance(v, (int, decimal.Decimal, type(None))) for v in values[n])]
    varied = max(numeric, key=lambda n: len(set(values[n])))
    head = heads[names.index(varied)]
    button = head.find_element(By.TAG_NAME, "button")
    texts = column_of(browser, table, varied)

    def is_order(descending):
        found = [float(text) for text in column_of(browser, table, varied) if text]
        first = sorted((v for v in values[varied] if v is not None), reverse=descending)[:ROWS_SHOWN]
        return found == sorted(found, reverse=descending) and len(texts) == min(len(kept["rows"]), ROWS_SHOWN) and \
            all(abs(a - float(b)) <= 0.06 for a, b in zip(found, first))

    browser.execute_script("arguments[0].click()", button)
    ok(is_order(False) and head.get_attribute("aria-sort") == "ascending",
       f"{name}: a click sorts {table} by {varied}, numerically", column_of(browser, table, varied)[:9])
    button.send_keys(Keys.ENTER)
    ok(is_order(True) and head.get_attribute("aria-sort") == "descending",
       f"{name}: Enter sorts {table} the other way", column_of(browser, table, varied)[:9])
    button.send_keys(Keys.SPACE)
    marked = browser.find_elements(By.CSS_SELECTOR, f"#{table} th:not([aria-sort=none])")
    ok(is_order(False) and len(marked) == 1, f"{name}: so does the space bar, and one column is marked")


def check_filter(browser, name, table, kept):
    box = browser.find_element(By.CSS_SELECTOR, f"input[aria-controls={table}]")
    output = browser.find_element(By.XPATH, f"//input[@aria-controls='{table}']/../../output")
    rows = kept["rows"]
    word = next((v for v in reversed(rows[-1]) if isinstance(v, str)), None)
    word = word.split()[0] if word else shown(kept, rows[-1], 0)
    box.send_keys(word.upper())
    expected = sum(any(word.lower() in shown(kept, row, i, full=True).lower() for i in range(len(row))) for row in rows)
    found = len(browser.find_elements(By.CSS_SELECTOR, f"#{table} tbody tr"))
    ok(found == min(expected, ROWS_SHOWN) and output.text.startswith(f"{expected} of {len(rows)} rows"),
       f"{name}: the filter of {table} leaves rows with '{word}'", f"{expected} {output.text} {found}")
    box.send_keys(" nothingofthekind")
    ok(output.text.startswith(f"0 of {len(rows)} rows"), f"{name}: none, if there are none", output.text)
    box.send_keys(Keys.CONTROL, "a")
    box.send_keys(Keys.DELETE)
    shown_rows = browser.find_elements(By.CSS_SELECTOR, f"#{table} tbody tr")
    equal(len(shown_rows), min(len(rows), ROWS_SHOWN), f"{name}: all, without words")


def check_digits(browser, name, kept):
    digits, columns = browser.find_elements(By.CSS_SELECTOR, "#results .tools input[type=checkbox]")
    digits.send_keys(Keys.SPACE)
    columns.send_keys(Keys.SPACE)
    found = next(t for t in browser.execute_script(TABLES) if t["id"] == "rows")
    equal(found["columns"], kept["columns"], f"{name}: all columns are there, if wanted")
    exact = {tuple("" if v is None else f"{v:.6f}" if isinstance(v, (int, decimal.Decimal)) and t in DECIMALS else place(str(v)) if c in PLACES else
                   str(v) for c, t, v in zip(kept["columns"], kept["types"], row))
             for row in kept["rows"]}  # in any order: they were sorted before
    ok(all(tuple(row) in exact for row in found["rows"]) and len(found["rows"]) == min(len(kept["rows"]), ROWS_SHOWN),
       f"{name}: and all digits", found["rows"][:1])
    digits.send_keys(Keys.SPACE)
    columns.send_keys(Keys.SPACE)
    more = browser.find_element(By.CSS_SELECTOR, "#results .more")
    equal(more.is_displayed(), len(kept["rows"]) > ROWS_SHOWN, f"{name}: a button for more rows, if there are")
    if more.is_displayed():
        more.send_keys(Keys.ENTER)
        equal(len(browser.find_elements(By.CSS_SELECTOR, "#rows tbody tr")), min(len(kept["rows"]), 1100), f"{name}: which shows them")


def check_theme(browser, name, url):
    look(browser, 1280, "light")
    browser.get(url)
    button = browser.find_element(By.ID, "theme")

    def paper():
        return browser.execute_script("return getComputedStyle(document.documentElement).backgroundColor")

    def picture():
        return browser.execute_script(
            "const bg = document.querySelector('svg .bg'); return bg ? getComputedStyle(bg).fill : ''")

    seen = []
    for _ in range(4):
        seen.append((button.text, paper(), picture()))
        button.send_keys(Keys.ENTER)
    names = [text for text, _, _ in seen]
    equal(names, ["Theme: system", "Theme: light", "Theme: dark", "Theme: system"],
          f"{name}: a button changes the theme")
    ok(seen[0][1:] == seen[1][1:] == seen[3][1:] and seen[2][1] != seen[0][1] and
       (seen[2][2] != seen[0][2] or not seen[0][2]), f"{name}: and with it the page and its pictures", seen)
    button.send_keys(Keys.ENTER)  # dark, while the system is light
    browser.refresh()
    dark = paper() == seen[2][1]
    faint = browser.execute_script(FAINT)
    ok(dark and not faint, f"{name}: which is kept, and every text stands out", "\n".join(faint))
    button = browser.find_element(By.ID, "theme")
    button.send_keys(Keys.ENTER)


def check_keyboard(browser, name, url):
    look(browser, 1280, "light")
    browser.get(url)
    browser.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    skip = browser.switch_to.active_element
    equal(skip.get_attribute("class"), "skip", f"{name}: the first stop of the keyboard skips to the results")
    ok(skip.rect["x"] >= 0 and skip.rect["y"] >= 0, f"{name}: and is seen then", skip.rect)
    skip.send_keys(Keys.ENTER)
    ok(browser.current_url.endswith("#main"), f"{name}: and leads there", browser.current_url)
    faint = browser.execute_script("""
        const hidden = [];
        for (const e of document.querySelectorAll("button, input, a, summary, [tabindex='0']")) {
            if (!e.checkVisibility())
                continue; // of a part that is closed
            e.focus({focusVisible: true});
            const style = getComputedStyle(e);
            if (document.activeElement !== e || style.outlineStyle === "none" || style.outlineWidth === "0px")
                hidden.push(e.outerHTML.slice(0, 80));
        }
        return hidden;""")
    equal(faint, [], f"{name}: all that takes the keyboard shows when it has it")
    ok(not browser.execute_script(UNSAID), f"{name}: headings, landmarks, labels and titles are there",
       browser.execute_script(UNSAID))


def check_copy(browser, name, url):
    browser.get(url)
    button = browser.find_element(By.ID, "copy")
    button.send_keys(Keys.ENTER)
    time.sleep(0.1)
    marked = browser.execute_script("return getSelection().toString()")
    command = browser.find_element(By.ID, "command").text
    ok(button.text == "Copied" or button.text == "Selected" and marked.strip() == command,
       f"{name}: the command is copied, or at least marked", (button.text, marked))


def check_paper(browser, name, url):
    look(browser, 1045, "dark", "print")  # A4, landscape, without its margins
    browser.get(url)
    seen = browser.execute_script("""
        return [getComputedStyle(document.documentElement).backgroundColor,
                [...document.querySelectorAll("nav, .tools, .more, #theme, #copy")].filter(
                    (e) => e.getClientRects().length).length,
                document.documentElement.scrollWidth <= innerWidth]""")
    equal(seen, ["rgb(255, 255, 255)", 0, True], f"{name}: on paper it is white, fits, and has no buttons")
    cut = browser.execute_script("""
        const lines = (text, word) => {
            const range = document.createRange();
            range.setStart(text, word.index);
            range.setEnd(text, word.index + word[0].length);
            return range.getClientRects().length;
        };
        const cut = (text) => [...text.data.matchAll(/\\S+/g)].filter((word) => lines(text, word) > 1).map((word) => word[0]);
        return [...document.querySelectorAll("thead th button")].flatMap((button) => [...button.childNodes]).filter(
            (part) => part.nodeType === Node.TEXT_NODE).flatMap(cut)""")
    equal(cut, [], f"{name}: headers of tables break between words on paper")


def check_keys(browser, folder):
    """Waits for a port and for an engine have keys of their own."""
    path = os.path.join(folder, "keys.html")
    for bench, sizes, end in (("gemm", ["M=512", "N=512", "K=512"], "pe_tcm.write"), ("flash", ["S=1024"], "pe_math")):
        subprocess.run([os.path.join(BUILD, "_m", "cube8", "cube8"), "report", "run", bench, *sizes, "--quiet", "-o", path],
                       check=True, capture_output=True)
        browser.get("file://" + path)
        items = items_of(browser)
        ok([text for at, text in items if at.endswith(end) and KEYS_AT[end] in text], f"keys: {end} of {bench} names its key", items)


def check_kinds(browser, folder):
    """On a net of cubes that differ, with caches: keys to try are those of the place, and what is largest is shown."""
    name = "kinds"
    path = os.path.join(folder, "kinds.html")
    machine = ["run", "gemm", "M=256", "N=256", "K=256", "--quiet", "--machine", "topologies/mi300x_caches.yaml"]
    program = os.path.join(BUILD, "_m", "cube8", "cube8")
    subprocess.run([program, "report", *machine, "-o", path], check=True, capture_output=True)
    look(browser, 1280, "light")
    browser.get("file://" + path)
    check_causes(browser, name, data_of(browser))
    texts = browser.execute_script("return [...document.querySelectorAll('#summary li')].map((e) => e.textContent)")
    items = [(at, text) for text in texts for at in re.findall("most at (.+?)to try: ", text)]
    expected = (("slice", "kinds.iod.hbm."), (".l2", "kinds.xcd.l2."), (".port", "links.usr_"), ("pe_tcm.", "cube.pe.pe_tcm."))
    ok(all(key in text for at, text in items for word, key in expected if word in at) and any(".port" in at for at, _ in items)
       and any(".l2" in at for at, _ in items), f"{name}: keys are those of cubes and links", items)
    ok(not any(key in text for text in texts for key in ("sip.d2d", " cube.hbm", " cube.noc")), f"{name}: and none is without effect", texts)
    ok(any("try: kinds.iod.hbm.latency_ns: 300.0, kinds.xcd.l2.latency_ns: 120.0, kinds.iod.hbm.cache.latency_ns: 100.0" in text for text in texts)
       and any("try: links.usr_h.latency_ns: 15.0" in text for text in texts), f"{name}: of overheads and wires the largest", texts)
    shown = json.loads(subprocess.run([program, *machine, "--breakdown", "--format", "json"], check=True, capture_output=True).stdout)
    path = [row for row in shown["rows"] if row["by"] == "path" and row["of"] == "gemm"]
    share = sum(row["pct"] for row in path if row["cause"] == "overhead")
    ok(any(text.startswith(f"{share:.1f} %overhead of nodes") for text in texts), f"{name}: shares are those of --breakdown", (share, texts))
    heads = {table["id"]: table["columns"] for table in browser.execute_script(TABLES)}
    ok(all(any(head.startswith("overhead of nodes") for head in heads[table]) for table in ("lines", "sums")),
       f"{name}: tables without room for all columns have the largest", heads)
    equal(browser.get_log("browser"), [], f"{name}: nothing on the console")


def check_hostile(browser, folder):
    """Tags in the name of a file and of kernels stay texts, also where the script writes them."""
    name = "hostile names"
    odd = os.path.join(folder, "a<img src=x onerror=alert(1)>&\"b.csv")
    shutil.copy("benches/one_slice.csv", odd)
    hostile = os.path.join(BUILD, "_t", "hostile")
    for program, arguments in ((os.path.join(BUILD, "_m", "cube8", "cube8"), ["replay", odd]), (hostile, ["run", "copy"])):
        if not os.path.exists(program):
            continue
        path = os.path.join(folder, "hostile.html")
        subprocess.run([program, "report", *arguments, "--quiet", "-o", path], check=True, capture_output=True)
        browser.get("file://" + path)
        made = browser.execute_script("return [document.images.length, document.scripts.length, document.querySelectorAll('main b').length]")
        equal(made, [0, 2, 0], f"{name}: {arguments[0]}: no text became an element")
        equal(browser.get_log("browser"), [], f"{name}: {arguments[0]}: and the page is whole")


def check_page(browser, folder, topology, what, arguments):
    name = f"{topology} {what}"
    program = os.path.join(BUILD, "_m", topology, topology)
    path = os.path.join(folder, name.replace(" ", "_") + ".html")
    made = subprocess.run([program, "report", *arguments, "--quiet", "-o", path], capture_output=True)
    ok(made.returncode == 0, f"{name}: is made", made.stderr.decode())
    if made.returncode != 0:
        return
    url = "file://" + path
    check_source(name, path)
    check_looks(browser, name, url)
    look(browser, 1280, "light")
    browser.get(url)
    data = data_of(browser)
    check_first_screen(browser, name, arguments[0], data)
    if arguments[0] == "run":
        check_causes(browser, name, data)
        check_roofline(browser, name, data)
    if arguments[0] == "llm":
        check_model(browser, name, data["rows"])
    if arguments[0] == "load":
        check_curves(browser, name, data)
    if arguments[0] == "study":
        check_variants(browser, name, data)
    check_tables(browser, name, [program, *arguments], data)
    ids = [t["id"] for t in browser.execute_script(TABLES) if t["id"] in KEPT]
    for table in ids if topology == "cube8" else ids[:1]:
        check_sorting(browser, name, table, data[KEPT[table]])
        check_filter(browser, name, table, data[KEPT[table]])
    check_digits(browser, name, data["rows"])
    equal(browser.get_log("browser"), [], f"{name}: still nothing on the console")
    check_keyboard(browser, name, url)
    if topology == "cube8":
        check_theme(browser, name, url)
        check_copy(browser, name, url)
        check_paper(browser, name, url)


def main():
    with tempfile.TemporaryDirectory() as folder:
        browser = open_browser()
        try:
            for topology, what, arguments in PAGES:
                name = f"{topology} {what}"
                if not all(word in name for word in sys.argv[1:]):
                    continue
                try:
                    check_page(browser, folder, topology, what, arguments)
                except Exception:  # of the browser or a test: the other pages are still to be seen
                    ok(False, f"{name}: can be tested", traceback.format_exc())
            if not sys.argv[1:] or "keys" in sys.argv[1:]:
                check_keys(browser, folder)
            if not sys.argv[1:] or "kinds" in sys.argv[1:]:
                check_kinds(browser, folder)
            if not sys.argv[1:] or "hostile" in sys.argv[1:]:
                check_hostile(browser, folder)
        finally:
            browser.quit()
    print(f"1..{count}")
    return failures != 0


sys.exit(main())
