#!/usr/bin/env python3
"""fit_silicon.py -- where the constants of wormhole and wormhole_fitted come from; docs/validation.md.

usage: fit_silicon.py JUDGE

JUDGE is build/_t/judge, the model written a second time: it reads a topology without compiling it.
Two constants are fitted: `pe_dma.overhead_ns`, the latency of a read beside its way, and
`noc.bw_gbs`, the ports of a core. First in two steps, the latency by one trace and then the ports by
eight; then, to compare, both at once by eight. The other sixteen traces are shown, and used for
nothing.
"""

import pathlib
import re
import sys
import tempfile

import traces
from traces import TREE, error, mean, simulate

PORTS = [28 + n / 2 for n in range(9)]
LATENCIES = range(300, 461, 40)


class Machine:
    """topologies/wormhole.yaml with other constants, for the judge."""

    def __init__(self, judge, work):
        self.judge, self.work = judge, work
        self.text = (TREE / "topologies/wormhole.yaml").read_text(encoding="utf-8")

    def command(self, latency, port):
        text, n = re.subn(r"(pe_dma: \{overhead_ns: )[0-9.]+", rf"\g<1>{latency:.1f}", self.text)
        assert n == 1
        if port:
            text, n = re.subn(r"(  noc: \{.*bw_gbs: )[0-9.]+", rf"\g<1>{port}", text)
            assert n == 1
        file = self.work / "wormhole.yaml"
        file.write_text(text, encoding="utf-8")
        return [self.judge, "replay", file]

    def errors(self, some, latency, port):
        """Mean errors at the traces' times and closed loop."""
        command = self.command(latency, port)
        return [mean(abs(error(simulate(t, command, closed, self.work)[0], t)) for t in some)
                for closed in (False, True)]


def quiet(some):
    """The trace that congestion changes least, by tt-npe."""
    return min(some, key=lambda t: t.tt_npe / t.tt_npe_free)


def latency_of(machine, trace):
    """The latency, in whole cycles, that makes the run of `trace` as long as measured."""
    cycles, _ = simulate(trace, machine.command(300, None), False, machine.work)
    return round(300 + trace.measured - cycles)


def show(name, machine, parts, latency, port):
    print(f"{name}: latency {latency}, ports {port or 'as they are'}")
    for part, some in parts:
        times, closed = machine.errors(some, latency, port)
        print(f"  {part:12} {times:5.2f} % at the traces' times, {closed:5.2f} % closed loop", flush=True)


def main():
    if len(sys.argv) != 2:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    all_traces = traces.load()
    eight = traces.fitted(all_traces)
    sixteen = [t for t in all_traces if t not in eight]
    with tempfile.TemporaryDirectory() as work:
        machine = Machine(sys.argv[1], pathlib.Path(work))
        best = lambda choices: min(choices, key=lambda c: sum(machine.errors(eight, *c)))
        parts = ("the eight", eight), ("the sixteen", sixteen)

        one = quiet(all_traces)
        show(f"latency by {one.name}", machine, [("all", all_traces)], latency_of(machine, one), None)
        one = quiet(eight)
        latency = latency_of(machine, one)
        show(f"latency by {one.name}, then ports by the eight", machine, parts,
             *best([(latency, port) for port in PORTS]))
        show("both at once by the eight", machine, parts,
             *best([(latency, port) for latency in LATENCIES for port in PORTS]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
