#!/usr/bin/env python3
"""reach.py -- which functions each test has called, from the counts of a build with --coverage.

usage: reach.py COUNTS MAP

COUNTS has a folder for each test, with its .gcda files at their whole paths; .gcno files are in the
build. MAP is written as JSON: the tests, and of each source its sum, and rows of a function's first line,
its last, and the tests that called it. gcov would tell the same, and take a hundred times as long: it counts
lines. The formats are described in gcc/gcov-io.h.
"""

import collections
import hashlib
import json
import os
import struct
import sys

FUNCTION, COUNTERS = 0x01000000, 0x01a10000  # tags; counters of arcs


def bytes_of(path):
    with open(path, "rb") as f:
        return f.read()


def functions_of(notes):
    """Of a .gcno: identity of a function -> (file, first line, last line)."""
    data, at, found = bytes_of(notes), 16, {}

    def string(at):
        n, = struct.unpack_from("<I", data, at)
        return data[at + 4:at + 4 + n].split(b"\0")[0].decode(), at + 4 + n

    _, at = string(at)  # the folder of the compiler
    at += 4
    while at + 8 <= len(data):
        tag, size = struct.unpack_from("<II", data, at)
        at += 8
        if tag == FUNCTION:
            ident, = struct.unpack_from("<I", data, at)
            _, after = string(at + 12)
            path, after = string(after + 4)
            first, _, last = struct.unpack_from("<III", data, after)
            found[ident] = (os.path.normpath(path), first, last)
        at += size
    return found


def called_of(counts):
    """Of a .gcda: identities of functions in which an arc was taken."""
    data, at, ident, called = bytes_of(counts), 16, None, set()
    while at + 8 <= len(data):
        tag, size = struct.unpack_from("<Ii", data, at)
        at += 8
        if tag == FUNCTION and size > 0:
            ident, = struct.unpack_from("<I", data, at)
        if tag == COUNTERS and size > 0 and any(data[at:at + size]):
            called.add(ident)
        at += max(size, 0)
    return called


def main(counts, out):
    reached, notes = collections.defaultdict(lambda: collections.defaultdict(set)), {}
    for test in sorted(os.listdir(counts)):
        top = os.path.join(counts, test)
        for at, _, names in os.walk(top):
            for name in names:
                if not name.endswith(".gcda"):
                    continue
                beside = os.path.join("/", os.path.relpath(at, top), name[:-5] + ".gcno")
                if beside not in notes:
                    notes[beside] = functions_of(beside) if os.path.exists(beside) else {}
                    for path, first, last in notes[beside].values():
                        if path.startswith(("gen/", "runtime/")):
                            reached[path][first, last].update()
                for ident in called_of(os.path.join(at, name)):
                    path, first, last = notes[beside].get(ident, ("", 0, 0))
                    if path.startswith(("gen/", "runtime/")):
                        reached[path][first, last].add(test)
    with open(out, "w", encoding="utf-8") as f:
        sources = {path: {"sum": hashlib.sha1(bytes_of(path)).hexdigest(),
                          "functions": [[*lines, sorted(tests)] for lines, tests in sorted(functions.items())]}
                   for path, functions in sorted(reached.items())}
        json.dump({"tests": sorted(os.listdir(counts)), "sources": sources}, f)
    print("%d files, %d functions" % (len(reached), sum(map(len, reached.values()))))


if __name__ == "__main__":
    main(*sys.argv[1:])
