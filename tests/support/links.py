#!/usr/bin/env python3
"""links.py -- what is wrong with links of the documents, and with headings that comments name. From the top of the tree.

usage: links.py links FILE...    each link that leads to no file, or to no heading in it
       links.py cites FOLDER...  each reference such as docs/model.md "Units" to a heading that is not there
"""
import functools
import os
import re
import sys


@functools.lru_cache(maxsize=None)
def prose(path):
    """Lines of a document that are not in a block of code."""
    lines, code = [], False
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("```"):
                code = not code
            elif not code:
                lines.append(line.rstrip("\n"))
    return lines


@functools.lru_cache(maxsize=None)
def headings(path):
    return [line for line in prose(path) if line.startswith("#")]


def anchor(heading):
    """A heading as a link names it."""
    text = re.sub(r"\]\([^)]*\)", "", re.sub(r"^#+ +", "", heading))
    return re.sub(r"[^A-Za-z0-9_ -]", "", text).lower().replace(" ", "-")


def links(files):
    for file in files:
        for target in re.findall(r"\]\(([^)]+)\)", "\n".join(prose(file))):
            if target.startswith("http"):
                continue
            name, _, wanted = target.partition("#")
            path = os.path.join(os.path.dirname(file), name) if name else file
            if not os.path.exists(path):
                yield f"{file}: no file {target}"
            elif "#" in target and wanted not in map(anchor, headings(path)):
                yield f"{file}: no heading {target}"


def texts(folders):
    for folder in folders:
        places = [(os.path.dirname(folder), [], [os.path.basename(folder)])] if os.path.isfile(folder) else os.walk(folder)
        for place, _, files in places:
            for name in files:
                with open(os.path.join(place, name), encoding="utf-8", errors="replace") as file:
                    yield file.read()


def cites(folders):
    found = {cite for text in texts(folders) for cite in re.findall(r'([A-Za-z/]+\.md),? "([^"\n]+)"', text)}
    for name, heading in sorted(found):
        path = name if os.path.isfile(name) else os.path.join("docs", name)
        if not any(heading in line for line in headings(path)):
            yield f'no heading: {name} "{heading}"'


if __name__ == "__main__":
    for wrong in {"links": links, "cites": cites}[sys.argv[1]](sys.argv[2:]):
        print(wrong)
