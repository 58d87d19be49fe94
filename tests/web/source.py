#!/usr/bin/python3
"""source.py PAGE JSON -- the source of a page of `report`, without a browser.

Prints what is wrong with it: elements that are not closed, ids that come twice, what would be
fetched from elsewhere, rows that are not those of JSON, which --format json has printed.
"""
import decimal
import html.parser
import json
import re
import sys

from shown import ROWS_SHOWN, shown

EMPTY = {"meta", "link", "input", "wbr"}  # elements that HTML does not close


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.ids, self.faults = [], set(), []
        self.json, self.cells = {}, {}
        self.table = self.text = None  # the text of a cell or a script, in pieces

    def handle_startendtag(self, tag, attributes):
        self.look(tag, dict(attributes))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.look(tag, attributes)
        if tag in EMPTY:
            return
        self.open.append((tag, attributes))
        if tag == "table":
            self.table = attributes["id"]
            self.cells[self.table] = []
        if tag in ("td", "script"):
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
        if tag == "td":
            self.cells[self.table].append("".join(self.text))
        if tag == "script" and attributes.get("type") == "application/json":
            self.json[attributes["id"]] = json.loads("".join(self.text), parse_float=decimal.Decimal)

    def handle_data(self, data):
        if self.text is not None:
            self.text.append(data)


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
    expected["command"] = expected["command"].replace(" --format json", "")
    if page.json["rows-json"] != expected:
        faults.append("rows are not those of --format json")
    for table, cells in page.cells.items():
        rows = page.json[table + "-json"]["rows"][:ROWS_SHOWN]
        texts = [shown(column, value) for row in rows for column, value in row.items()]
        if cells != texts:
            faults.append(f"table {table} shows {[p for p in zip(cells, texts) if p[0] != p[1]][:3]}")
    print("\n".join(faults))


main()
