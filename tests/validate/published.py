#!/usr/bin/env python3
"""published.py -- figures that others published of machines of topologies/: tables of docs/validation.md.

usage: published.py KERNBENCH

published.csv has them: what, machine, case, bytes, measured, unit, source. Nothing is fitted on any of
them. A multicast is one write by core 1,1 of a Wormhole chip to a rectangle of cores that begins with
itself; all_gather is the bus bandwidth of eight GPUs; read the bandwidth of all PEs over so many bytes
that were read before; latency that of one read. Prints tables, and ends with 1 if docs/validation.md
has other figures.
"""

import csv
import pathlib
import sys
import tempfile

from page import TREE, Page, mean, must_run

HERE = pathlib.Path(__file__).resolve().parent
COLUMNS, ROWS = (1, 2, 3, 4, 6, 7, 8, 9), (1, 2, 3, 4, 5, 7, 8, 9, 10, 11)  # of Wormhole's cores
FIFO = "--set", "contention.links=fifo"  # multicasts are not behind routers
READ = 16384  # bytes of a read of the MI300X
GPUS, SLICES, PIECE = 8, 5, 1 << 18


def rows_of(what):
    with (HERE / "published.csv").open(encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["what"] == what]


class Runs:
    """Replays on shipped machines."""

    def __init__(self, kernbench, work):
        self.kernbench, self.work, self.kept = kernbench, pathlib.Path(work), {}

    def replay(self, machine, head, rows, *options):
        """Rows of results, a dict each."""
        file = self.work / "rows.csv"
        file.write_text("\n".join([head, *rows]) + "\n", encoding="ascii")
        out = must_run([self.kernbench, "replay", "--machine", TREE / f"topologies/{machine}.yaml", file,
                        "--quiet", "--format", "csv", *options])
        return list(csv.DictReader(out.splitlines()))


# -- multicasts -----------------------------------------------------------------------------------

def core(x, y):
    return f"c{10 * y + x}"


def multicast(runs, case, nbytes):
    """Cycles until the last core has it, and until it could have answered with 32 bytes."""
    across, down = map(int, case.split("x"))
    cores = [core(x, y) for y in ROWS[:down] for x in COLUMNS[:across]]
    head = "issue_ns,op,src,dst,offset,nbytes,plane"
    write = runs.replay("wormhole", head, [
        f"0,mwrite,{core(1, 1)}.pe0,{'+'.join(c + '.sram' for c in cores)},0,{nbytes},noc0"],
                        *FIFO)
    answer = runs.replay("wormhole", head, [f"0,write,{cores[-1]}.pe0,{core(1, 1)}.sram,0,32,noc0"],
                         *FIFO, "--set", "cube.pe.pe_dma.overhead_ns=0")
    end = float(write[0]["end_ns"])
    return end, end + float(answer[0]["end_ns"])


def multicasts(runs):
    yield "| cores | bytes | measured | kernbench | % | with an answer | % |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    bare, full = [], []
    for row in rows_of("multicast"):
        measured = float(row["measured"])
        end, answered = multicast(runs, row["case"], int(row["bytes"]))
        bare.append((end / measured - 1) * 100)
        full.append((answered / measured - 1) * 100)
        yield (f"| {row['case'].replace('x', ' x ')} | {row['bytes']} | {measured:.0f} | {end:.0f} | {bare[-1]:+.1f} "
               f"| {answered:.0f} | {full[-1]:+.1f} |")
    yield f"| **mean** | | | | {mean(bare)} | | {mean(full)} |"


# -- eight GPUs -----------------------------------------------------------------------------------

def bus_gbs(nbytes, end_ns):
    return nbytes * (GPUS - 1) / GPUS / end_ns


def gathered_directly(runs, nbytes):
    """Each of a GPU's 132 PEs writes pieces of its share to one GPU after the other, the next one first."""
    share = nbytes // GPUS
    rows = []
    for src in range(GPUS):
        for step in range(1, GPUS):
            for k in range(share // PIECE):
                rows.append(f"0,write,c{src}.pe{k % 132},c{(src + step) % GPUS}.slice{k % SLICES},"
                            f"{src * share + k // SLICES * PIECE},{PIECE}")
    out = runs.replay("dgxh100", "issue_ns,op,src,dst,offset,nbytes", rows)
    return bus_gbs(nbytes, max(float(row["end_ns"]) for row in out))


def gathered_by_library(runs, nbytes):
    out = must_run([runs.kernbench, "run", "all_gather", f"count={nbytes // GPUS // 4}", "dtype=f32", "--machine",
                    TREE / "topologies/h100.yaml", "--quiet", "--format", "csv"])
    return bus_gbs(nbytes, float(next(csv.DictReader(out.splitlines()))["kernel_ns"]))


# -- a GPU of dies --------------------------------------------------------------------------------

PES = [f"c{c}.pe{p}" for c in range(4, 12) for p in range(38)]
HEAD = "issue_ns,op,src,dst,offset,nbytes"
CHANNELS = "--set", "cube.pe.pe_dma.read_channels=16"


def reads(nbytes):
    """Of the bytes by all PEs; those of an XCD read all of them if its L2 holds them, else by turns."""
    n = nbytes // READ
    for k in range(n):
        for pe in PES[k % 38::38] if nbytes <= 1 << 22 else [PES[k % len(PES)]]:
            yield f"0,read,{pe},{k * READ:#x},,{READ}"


def read_gbs(runs, nbytes):
    """Of a pass behind another one; without bytes, of the first pass over as many as Infinity Cache holds half of."""
    rows = list(reads(nbytes or 128 << 20))
    out = (runs.replay("mi300x_caches", HEAD, rows + rows, "--warm", str(len(rows)), *CHANNELS) if nbytes else
           runs.replay("mi300x_caches", HEAD, rows, *CHANNELS))
    return sum(int(row["nbytes"]) for row in out) / max(float(row["end_ns"]) for row in out)


def latency_ns(runs, case):
    """One read of a line that this XCD has read, that another has, or that none has."""
    first = {"L2": "c4.pe1", "Infinity Cache": "c9.pe0", "HBM": None}[case]
    rows = [f"0,read,{pe},0x0,,128" for pe in (first, "c4.pe0") if pe]
    out = runs.replay("mi300x_caches", HEAD, rows, *(("--warm", "1") if first else ()))
    return float(out[-1]["actual_ns"])


def other(runs):
    yield "| machine | what | published | kernbench | % |"
    yield "| --- | --- | ---: | ---: | ---: |"
    kept = {}
    for row in rows_of("all_gather") + rows_of("read") + rows_of("latency"):
        key = row["what"], row["machine"], row["case"]
        if key not in kept:
            nbytes = int(row["bytes"])
            kept[key] = (latency_ns(runs, row["case"]) if row["what"] == "latency" else
                         read_gbs(runs, nbytes) if row["what"] == "read" else
                         gathered_directly(runs, nbytes) if row["machine"] == "dgxh100" else
                         gathered_by_library(runs, nbytes))
        got, measured = kept[key], float(row["measured"])
        yield (f"| {row['machine']} | {row['what']}: {row['case']} | {measured:.0f} {row['unit']} | {got:.0f} "
               f"| {(got / measured - 1) * 100:+.0f} |")


def main():
    if len(sys.argv) != 2:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    page = Page()
    with tempfile.TemporaryDirectory() as work:
        runs = Runs(sys.argv[1], work)
        page.print(multicasts(runs))
        print()
        page.print(other(runs))
    return page.end()


if __name__ == "__main__":
    sys.exit(main())
