"""page.py -- the figures of docs/validation.md, held against those that a program prints."""

import pathlib

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
