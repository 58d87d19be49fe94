"""page.py -- the figures of docs/validation.md, held against those that a program prints; what was measured."""

import csv
import os
import pathlib
import subprocess
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parents[2]


class Page:
    """What was printed, and whether the page has all of it."""

    def __init__(self):
        self.lines = (TREE / "docs/validation.md").read_text(encoding="utf-8").splitlines()
        self.same = True

    def print(self, lines):
        for line in lines:
            print(line, flush=True)
            self.same &= line in self.lines

    def end(self):
        """Says which it is, and returns the exit code: 1 if the page has other figures."""
        print("\ndocs/validation.md has these figures" if self.same else
              "\ndocs/validation.md has other figures: put these in their place")
        return 0 if self.same else 1


def compare_on(machine, table, doc):
    """The table of a program whose text is `doc`: table(KERNBENCH, the YAML `machine` as a file); its exit code."""
    if len(sys.argv) != 2:
        print(doc.split("\n\n")[1], file=sys.stderr)
        return 2
    page = Page()
    with tempfile.TemporaryDirectory() as work:
        file = pathlib.Path(work) / "machine.yaml"
        file.write_text(machine, encoding="ascii")
        page.print(table(sys.argv[1], file))
    return page.end()


def measured(name):
    """Rows of a table of the folder that KB_VALIDATE names; without it the program ends with 0."""
    path = pathlib.Path(os.environ.get("KB_VALIDATE") or "/nonexistent") / name
    if not path.exists():
        print(f"not compared: KB_VALIDATE names no folder with {name}; "
              "docs/validation.md says where the data come from")
        sys.exit(0)
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def must_run(command):
    """What a command prints; if it fails, the program ends with its message."""
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit {run.returncode}\n{run.stderr}")
    return run.stdout


def mean(errors):
    """Of their sizes, with one decimal."""
    return f"{sum(map(abs, errors)) / len(errors):.1f}" if errors else "-"
