#!/usr/bin/env python3
"""silicon.py -- run times of a real chip beside kernbench's and tt-npe's: a table of docs/validation.md.

usage: silicon.py MACHINE

MACHINE is a command that replays a file, as "build/wormhole/wormhole replay --quiet". Prints a table,
and ends with 1 if docs/validation.md has other figures.
"""

import pathlib
import shlex
import sys
import tempfile

import traces
from page import Page
from traces import error, mean, simulate


def table(all_traces, machine, work):
    """Lines of a table."""
    yield ("| trace | measured | at its times | % | closed loop | % | tt-npe | % "
           "| barriers: at its times, % | closed loop, % |")
    yield "| --- |" + " ---: |" * 9
    rows = []
    for trace in all_traces:
        times, times_barriers = simulate(trace, machine, False, work)
        closed, closed_barriers = simulate(trace, machine, True, work)
        errors = [error(n, trace) for n in (times, closed, trace.tt_npe)]
        rows.append(errors + [times_barriers, closed_barriers])
        yield (f"| {trace.name} | {trace.measured} "
               f"| {times:.0f} | {errors[0]:+.1f} | {closed:.0f} | {errors[1]:+.1f} "
               f"| {trace.tt_npe} | {errors[2]:+.1f} "
               f"| {times_barriers:.1f} | {closed_barriers:.1f} |")
    m = [mean(abs(row[i]) for row in rows) for i in range(5)]
    yield (f"| **mean error** | | | **{m[0]:.2f}** | | **{m[1]:.2f}** | | **{m[2]:.2f}** "
           f"| {m[3]:.1f} | {m[4]:.1f} |")


def main():
    if len(sys.argv) != 2:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    all_traces = traces.load()
    page = Page()
    with tempfile.TemporaryDirectory() as name:
        page.print(table(all_traces, shlex.split(sys.argv[1]), pathlib.Path(name)))
    return page.end()


if __name__ == "__main__":
    sys.exit(main())
