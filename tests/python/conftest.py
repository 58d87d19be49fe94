"""conftest.py -- what the tests share: the command line's rows, and TAP in place of pytest's words."""
import csv
import io
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
B = Path(os.environ.get("B", ROOT / "build"))
PROGRAM = B / "kernbench"


class Tap:
    """Prints a line for each test, and its traceback behind # if it failed."""

    def __init__(self):
        self.n = 0

    def pytest_report_teststatus(self, report):
        return (report.outcome if report.when == "call" or report.failed else ""), "", ""

    def pytest_runtest_logreport(self, report):
        if report.when != "call" and report.passed or report.when == "teardown":
            return
        self.n += 1
        name = report.nodeid.replace("::", " ").replace("#", "")
        print(f"\n{'ok' if report.outcome != 'failed' else 'not ok'} {self.n} - {name}"
              f"{' # SKIP' if report.skipped else ''}", flush=True)
        if report.failed:
            print("".join(f"# {line}\n" for line in report.longreprtext.splitlines()), flush=True)

    def pytest_sessionfinish(self):
        print(f"\n1..{self.n}", flush=True)


def pytest_configure(config):
    config.pluginmanager.register(Tap())
    config.addinivalue_line("filterwarnings", "ignore::kernbench.Note")


def command(*words, machine="cube8", check=True, stdin=None):
    """What the program prints as CSV: header, and rows of texts."""
    path = ROOT / f"topologies/{machine}.yaml" if "/" not in machine else machine
    ran = subprocess.run([PROGRAM, *map(str, words), "--machine", path, "--format", "csv"],
                         capture_output=True, text=True, input=stdin)
    if check:
        assert ran.returncode == 0, ran.stderr
    lines = list(csv.reader(io.StringIO(ran.stdout)))
    return lines[0], lines[1:]


def text_of(value, like):
    """A value as CSV has it where it has `like`."""
    import numpy as np
    import pandas as pd
    if value is None or value is pd.NA or (isinstance(value, float) and value != value and like == ""):
        return ""
    if isinstance(value, (float, np.floating)):
        if value == float("inf"):
            return like if like in ("inf", "Infinity") else "inf"
        if float(like) == value and "." not in f"{like}e".split("e")[0][:0]:
            return like if repr(float(like)) == repr(float(value)) else f"{value:.6f}"
        return f"{value:.6f}"
    return str(value)


def same_rows(frame, header, lines):
    """Are they the same, digit by digit?"""
    assert list(frame.columns) == header
    assert len(frame) == len(lines)
    for i, line in enumerate(lines):
        for name, like, value in zip(header, line, frame.iloc[i]):
            assert text_of(value, like) == like, f"row {i}, {name}: {value!r} is not {like}"


@pytest.fixture(scope="session")
def m():
    import kernbench
    return kernbench.Machine("cube8")
