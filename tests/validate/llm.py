#!/usr/bin/env python3
"""llm.py -- tokens per second of language models, measured, beside `llm`: a table of docs/validation.md.

usage: llm.py KERNBENCH

KB_VALIDATE names a folder with tokens.csv: source, model, tp, batch, machine, ttft_ms,
tokens_per_s_per_user, unit. A row is a decode step of `batch` requests behind prompts of 128 tokens.
Prints a table, and ends with 1 if docs/validation.md has other figures.
"""

import csv
import sys

from page import compare_on, mean, measured, must_run

# Eight chips in a ring; what is measured on them stands in docs/validation.md.
MACHINE = """\
kernbench: 3
name: chips
ns_per_mm: 0.0
software: {launch_ns: 17760.0, call_ns: 4500.0, step_ns: 1290.0, unit: cube}
links:
  eth: {bw_gbs: 11.75, overhead_ns: 355.5}
sip:
  cubes: 8
  net: [{torus: [8], link: eth}]
cube:
  pes: 1
  noc: {bw_gbs: 1000.0}
  hbm: {slices: 1, bw_gbs: 288.0, efficiency: 0.92, size_gb: 12, latency_ns: 290.0}
  xbar: {pe_gbs: 1000.0, chain_gbs: 1000.0}
  bridge: {bw_gbs: 1000.0}
  pe:
    pe_dma: {read_channels: 64, write_channels: 64}
    pe_tcm: {size_mb: 96, read_gbs: 4096.0, write_gbs: 4096.0}
    pe_gemm: {clock_ghz: 1.0, mac: [32, 32, 64]}
    pe_math: {lanes: 2048}
    pe_ipcq: {slots: 8, slot_bytes: 1048576}
"""

FITTED = "Llama 3.1 8B"
# The code that was measured is one for the first, and another for each of the others.
SHARED = {FITTED: "llama-3.1-8b", "Llama 3.1 70B": "llama-3.1-70b", "Qwen 3 32B": "qwen-3-32b",
          "QwQ 32B": "qwq-32b", "Llama 3.2 1B": "llama-3.2-1b"}
OTHER = {"Falcon 7B": "falcon-7b", "Falcon 40B": "falcon-40b", "Qwen 2.5 7B": "qwen-2.5-7b"}


def simulate(row, model, kernbench, machine):
    """Tokens per second and user; weights and what is measured as 8 bits of block floating point are i8."""
    rows = must_run([kernbench, "llm", model, "--tp", row["tp"], "--batch", row["batch"], "--decode", "129",
                     "--weights", "i8", "--machine", machine, "--quiet", "--format", "csv"])
    total = next(r for r in csv.DictReader(rows.splitlines()) if r["op"] == "total")
    return 1e6 / float(total["us"])


def table(kernbench, machine):
    rows = {row["model"]: row for row in measured("tokens.csv")}
    yield "| model | tp | code | measured, tokens/s/user | kernbench | % |"
    yield "| --- | ---: | --- | ---: | ---: | ---: |"
    errors = []
    for code, models in (("shared", SHARED), ("its own", OTHER)):
        for name, model in models.items():
            row = rows[name]
            got = simulate(row, model, kernbench, machine)
            error = (got / float(row["tokens_per_s_per_user"]) - 1) * 100
            errors += [error] if models is SHARED else []
            yield (f"| {name} | {row['tp']} | {code} | {row['tokens_per_s_per_user']} | {got:.1f} | "
                   f"{error:+.1f}{' (fitted)' if name == FITTED else ''} |")
    yield f"| **mean of the shared code** | | | | | {mean(errors)} |"


if __name__ == "__main__":
    sys.exit(compare_on(MACHINE, table, __doc__))
