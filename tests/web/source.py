#!/usr/bin/python3
"""source.py PAGE JSON -- the source of a page of `report`, without a browser.

Prints what is wrong with it: elements that are not closed, ids that come twice, what would be
fetched from elsewhere, rows that are not those of JSON, which --format json has printed, and what a
reader without scripts sees of them.
"""
import decimal
import html.parser
import json
import re
import sys

EMPTY = {"meta", "link", "input", "wbr"}  # elements that HTML does not close


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.ids, self.faults = [], set(), []
        self.data, self.figures = None, []  # the JSON; texts of the noscript element
        self.text = None  # of a script, or of a figure, in pieces

    def handle_startendtag(self, tag, attributes):
        self.look(tag, dict(attributes))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.look(tag, attributes)
        if tag in EMPTY:
            return
        self.open.append((tag, attributes))
        if tag == "script" or tag in ("dt", "dd") and "noscript" in [t for t, _ in self.open]:
            self.text = []

    def look(self, tag, attributes):
        if attributes.get("id") in self.ids:
            self.faults.append(f"id {attributes['id']} twice")
        self.ids.update({attributes["id"]} if "id" in attributes else ())
        for name, value in attributes.items():
            if name in ("src", "href", "action", "data") and not value.startswith(("#", "data:")):
                self.faults.append(f"<{tag} {name}={value}>")
            elif name.startswith("on") or name != "xmlns" and "://" in (value or ""):
                self.faults.append(f"<{tag} {name}={value}>")

    def handle_endtag(self, tag):
        if not self.open or self.open[-1][0] != tag:
            self.faults.append(f"</{tag}> at {self.getpos()}, open are {[t for t, _ in self.open]}")
            return
        _, attributes = self.open.pop()
        if self.text is not None and tag in ("dt", "dd"):
            self.figures.append("".join(self.text))
            self.text = None
        if tag == "script" and attributes.get("id") == "data":
            self.data = json.loads("".join(self.text), parse_float=decimal.Decimal)

    def handle_data(self, data):
        if self.text is not None:
            self.text.append(data)


def rows_of(table):
    return [dict(zip(table["columns"], row)) for row in table["rows"]]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        source = file.read()
    with open(sys.argv[2], encoding="utf-8") as file:
        expected = json.load(file, parse_float=decimal.Decimal)
    page = Page()
    page.feed(source)
    page.close()
    faults = page.faults + [f"<{tag}> is not closed" for tag, _ in page.open]
    if not source.startswith("<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>"):
        faults.append("no doctype, language or character set")
    for pattern in (r"@import", r"url\(", r"\bfetch\(", r"XMLHttpRequest", r"https?://(?!www\.w3\.org/2000/svg)"):
        faults += [f"has {pattern}"] if re.search(pattern, source) else []
    if re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b", source):
        faults.append("a text could become HTML or a script")
    rows = page.data["rows"]
    expected["command"] = expected["command"].replace(" --format json", "")
    ours = {k: v for k, v in rows.items() if k not in ("columns", "types", "ranks", "all")}
    ours["rows"] = rows_of(rows)
    if ours != expected or rows["all"] != len(expected["rows"]):
        faults.append("rows are not those of --format json")
    for name, table in page.data.items():
        if isinstance(table, dict) and "columns" in table and \
                {len(row) for row in table["rows"]} | {len(table["types"]), len(table["ranks"])} != {len(table["columns"])}:
            faults.append(f"{name}: not as many cells as columns")
    first = expected["rows"][0] if expected["rows"] else {}
    shown = [text for k, v in first.items() if v is not None for text in (k, str(v))]
    if page.figures != shown:
        faults.append(f"without scripts: {[p for p in zip(page.figures, shown) if p[0] != p[1]][:3]}")
    print("\n".join(faults))


main()
