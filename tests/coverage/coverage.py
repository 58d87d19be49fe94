#!/usr/bin/env python3
"""coverage.py -- which lines and branches of the sources the tests have run, by gcov, file by file.

usage: coverage.py BUILD LIST [--update]

BUILD has objects with .gcda files beside them. A file counts once, in however many objects it is: the
headers of the engine are compiled into every topology, and into the library twice. A line was run if
it was in any of them; a branch likewise. Where objects have different branches in a line, because of
a constant or of the preprocessor, those count of which most were taken.

LIST names what is left, with the reason. A row has four fields with tabs between them: FILE, the
function, the source line, the reason; '*' for the line is all of a function. A branch or a line of
the core or the generator that was not run and is not there fails; a row of what is run is reported.
--update makes LIST say what is left, and keeps its reasons; new rows have the reason "untested", which fails.

Ends with 1 then, or if the core or the generator has less of its lines or branches than LEAST. The
aim is 98 % of lines and 95 % of branches.
"""

import collections
import gzip
import json
import os
import subprocess
import sys

PARTS = ("runtime without cli", "gen", "cli")
LEAST = {"runtime without cli": (98.0, 95.0), "gen": (99.0, 95.5)}  # per cent of lines, of branches
BATCH = 20
OBJECTS = ("/_o/gen/", "/_o/runtime/", "/_o/tests/unit/")  # unit tests have functions of headers


def part_of(path):
    if path.startswith("gen/"):
        return "gen"
    if path.startswith(("runtime/cli/", "runtime/base/help", "runtime/base/parallel")):
        return "cli"
    return "runtime without cli" if path.startswith("runtime/") else None


def documents(build):
    """What gcov says of each object."""
    found = sorted(os.path.join(at, name) for at, _, names in os.walk(build) for name in names if name.endswith(".gcda"))
    objects = [p for p in found if any(of in p for of in OBJECTS) or os.path.basename(p).startswith("topo.")]
    for i in range(0, len(objects), BATCH):
        out = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", *objects[i:i + BATCH]],
                             check=True, capture_output=True).stdout
        if out[:2] == b"\x1f\x8b":
            out = gzip.decompress(out)
        for line in out.splitlines():
            yield json.loads(line)


class Line:
    """Counts of a line of a source, of all objects together."""

    def __init__(self):
        self.count = 0
        self.function = ""
        self.branches = {}  # by their number: how often each was taken

    def add(self, line):
        self.count += line["count"]
        self.function = line.get("function_name", self.function)
        counts = [b["count"] for b in line["branches"]]
        if counts:
            sums = self.branches.setdefault(len(counts), [0] * len(counts))
            sums[:] = [a + b for a, b in zip(sums, counts)]

    def taken(self):
        """(taken, of); threads that count at once may lose counts, and a difference of sums be below 0"""
        return max(((sum(c != 0 for c in counts), n) for n, counts in self.branches.items()),
                   key=lambda x: (x[0] / x[1], x[1]), default=(0, 0))


def read(build):
    """path -> number -> Line"""
    files = collections.defaultdict(lambda: collections.defaultdict(Line))
    for document in documents(build):
        for file in document["files"]:
            path = os.path.normpath(file["file"])
            if os.path.isabs(path):
                path = os.path.relpath(path)
            if part_of(path):
                # a line may be in several functions: of macros, or inlined
                for line in file["lines"]:
                    files[path][line["line_number"]].add(line)
    return files


def table(files):
    """Prints a row for each file, and of each part; returns part -> per cents."""
    sums = {part: [0, 0, 0, 0] for part in PARTS}
    for path in sorted(files):
        lines = files[path].values()
        row = [sum(l.count > 0 for l in lines), len(lines), sum(l.taken()[0] for l in lines), sum(l.taken()[1] for l in lines)]
        sums[part_of(path)] = [a + b for a, b in zip(sums[part_of(path)], row)]
        print_row(path, row)
    print()
    for part in PARTS:
        print_row(part, sums[part])
    return {part: (per_cent(*s[:2]), per_cent(*s[2:])) for part, s in sums.items()}


def per_cent(some, of):
    return 100.0 * some / of if of else 100.0


def print_row(name, row):
    print("%-44s %5d of %5d lines %6.2f %%   %5d of %5d branches %6.2f %%"
          % (name, row[0], row[1], per_cent(*row[:2]), row[2], row[3], per_cent(*row[2:])))


def left(files):
    """(path, function, source line) -> branches, or lines without any, that were not run."""
    missing = collections.Counter()
    for path, lines in files.items():
        if part_of(path) == "cli":
            continue
        with open(path, encoding="utf-8") as f:
            source = f.read().split("\n")
        for number, line in lines.items():
            taken, of = line.taken()
            if line.count == 0 or taken < of:
                missing[path, line.function, source[number - 1].strip()] += max(of - taken, 1)
    return missing


def named(path):
    rows = {}
    with open(path, encoding="utf-8") as f:
        for row in f:
            if row.strip() and not row.startswith("#"):
                file, function, line, reason = row.rstrip("\n").split("\t")
                rows[file, function, line] = reason
    return rows


def update(path, missing, rows):
    with open(path, encoding="utf-8") as f:
        head = [row for row in f if row.startswith("#") or not row.strip()]
    whole = {row[:2]: reason for row, reason in rows.items() if row[2] == "*"}
    kept = {(*key, "*"): reason for key, reason in whole.items() if any(m[:2] == key for m in missing)}
    kept.update({key: rows.get(key, "untested") for key in missing if key[:2] not in whole})
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(head)
        f.writelines("\t".join((*key, reason)) + "\n" for key, reason in sorted(kept.items()))


def main(build, names, *options):
    files = read(build)
    rates = table(files)
    missing, rows = left(files), named(names)
    if "--update" in options:
        update(names, missing, rows)
        return 0
    bad = 0
    for key, n in sorted(missing.items()):
        if rows.get(key, rows.get((*key[:2], "*"), "untested")) == "untested":
            bad += 1
            print("not run, and without a reason in %s: %s: %s(): %s (%d)" % (names, *key, n))
    for row in sorted(rows):
        if row not in missing and not (row[2] == "*" and any(key[:2] == row[:2] for key in missing)):
            print("in %s, but run: %s: %s(): %s" % (names, *row))
    for part, least in LEAST.items():
        if rates[part][0] < least[0] or rates[part][1] < least[1]:
            bad += 1
            print("%s: less than %g %% of lines or %g %% of branches" % (part, *least))
    reasons = collections.Counter()
    for key, n in missing.items():
        reasons[rows.get(key) or rows.get((*key[:2], "*")) or "not listed"] += n
    print("left: " + ", ".join("%d %s" % (n, reason) for reason, n in reasons.most_common()))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
