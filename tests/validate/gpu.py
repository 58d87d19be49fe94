#!/usr/bin/env python3
"""gpu.py -- operations measured on GPUs, beside those of `llm`: tables of docs/validation.md.

usage: gpu.py KERNBENCH

KB_VALIDATE names a folder with llmcompass_ops.csv, llmcompass_layer.csv, llmcompass_allreduce.csv,
vidur_ops.csv, vidur_allreduce.csv (A100) and llmservingsim_ops.csv (RTX PRO 6000). Prints tables, and
ends with 1 if docs/validation.md has other figures.
"""

import collections
import csv
import json
import math
import pathlib
import sys
import tempfile

from page import TREE, Page, mean, measured, must_run

# Of LLMCompass, whose times are those of a host that waits for each operation: another clock and DRAM,
# and what a call of each costs.
HOST = ["cube.pe.pe_gemm.clock_ghz=1.32", "cube.hbm.efficiency=0.9"]
CALL_NS = {"matmul": 28000, "softmax": 11800, "layernorm": 51300, "gelu": 47400}
FITTED_HOST = {("matmul", "8192", "64"), ("matmul", "8192", "16384"), ("matmul", "64", "12288"), ("softmax", "4096", "32"),
               ("layernorm", "4096", "32"), ("gelu", "1024", "")}
FITTED_VIDUR = {("mlp_up_proj", 1, 4096), ("attn_pre_proj", 1, 1), ("attn_post_proj", 1, 1), ("mlp_up_proj", 1, 1),
                ("mlp_down_proj", 1, 1)}
FITTED_NCCL = {16384, 67108864}

# Vidur's names and those of `llm`.
VIDUR = {"attn_pre_proj": "qkv", "attn_post_proj": "o", "mlp_up_proj": "gate_up", "mlp_down_proj": "down",
         "input_layernorm": "norm1", "mlp_act": "act", "attn_rope": "rope", "emb": "embed"}
SERVING = {"qkv_proj": "qkv", "o_proj": "o", "gate_up_proj": "gate_up", "down_proj": "down", "act_fn": "act",
           "layernorm": "norm2", "rotary_emb": "rope", "embedding": "embed", "lm_head": "head"}
PRODUCTS = ("attn_pre_proj", "attn_post_proj", "mlp_up_proj", "mlp_down_proj",
            "qkv_proj", "o_proj", "gate_up_proj", "down_proj")


class Chip:
    """A machine of topologies/, and what to run on it."""

    def __init__(self, kernbench, name, work):
        self.kernbench, self.work = kernbench, pathlib.Path(work)
        self.machine = TREE / f"topologies/{name}.yaml"

    def llm(self, *arguments, keys=()):
        """Rows of `llm`."""
        sets = [word for key in keys for word in ("--set", key)]
        text = must_run([self.kernbench, "llm", *arguments, "--tries", "4", "--machine", self.machine, *sets,
                         "--quiet", "--format", "csv"])
        return list(csv.DictReader(text.splitlines()))

    def graph(self, nodes, ranks=1, keys=()):
        """Microseconds of the last of some nodes of a graph."""
        file = self.work / "graph.yaml"
        items = "".join(f"- {{{node}}}\n" for node in nodes)
        file.write_text(f"kernbench_graph: 1\nranks: {ranks}\nnodes:\n{items}", encoding="ascii")
        rows = self.llm(file, keys=[f"sips={max(ranks, 1)}", *keys])
        return float([r for r in rows if r["op"] not in ("layer", "head", "total")][-1]["us"])

    def layer(self, model, tp, iterations):
        """{(iteration, op): us} of one layer of a shipped model; an iteration is a list of (tokens, all tokens)."""
        config = json.loads((TREE / f"share/models/{model}.json").read_text(encoding="utf-8"))
        file, steps = self.work / "config.json", self.work / "steps.csv"
        file.write_text(json.dumps({**config, "num_hidden_layers": 1}), encoding="ascii")
        rows = [f"{i},{r},{q},{kv}\n" for i, batch in enumerate(iterations) for r, (q, kv) in enumerate(batch)]
        steps.write_text("iteration,request,q,kv\n" + "".join(rows), encoding="ascii")
        out = {}
        for row in self.llm(file, "--iterations", steps, "--tp", str(tp)):
            out.setdefault((int(row["phase"].split()[1]), row["op"]), float(row["us"]))  # `head` is a product, then a sum
        return out


def rows_of(width, rows):
    """A node that writes a matrix."""
    return f"id: w, op: embed, rows: {rows}, width: {width}, dtype: f16, table: 16, y: x"


def product(chip, m, n, k, heads=1, keys=()):
    return chip.graph([rows_of(k * heads, m), f"id: o, op: gemm, m: {m}, n: {n * heads}, k: {k}, a: f16, b: f16, out: f16"
                       + f", heads: {heads}" * (heads > 1)], keys=keys)


def of_rows(chip, op, rows, width, keys=()):
    return chip.graph([rows_of(width, rows), f"id: o, op: {op}, rows: {rows}, width: {width}, dtype: f16"], keys=keys)


def softmax(chip, rows, width, keys=()):
    sets = [word for key in ["sips=1", *keys] for word in ("--set", key)]
    text = must_run([chip.kernbench, "run", "softmax", f"M={rows}", f"N={width}", "--machine", chip.machine, *sets,
                     "--quiet", "--format", "csv"])
    return float(next(csv.DictReader(text.splitlines()))["kernel_ns"]) / 1000


def all_reduce(chip, ranks, size, keys=()):
    width = math.gcd(size // 2, 4096)
    return chip.graph([rows_of(width, size // 2 // width), f"id: o, op: all_reduce, bytes: {size}, group: all, x: x, y: x"],
                      ranks, keys)


def line(name, us, got, fitted=False):
    return f"| {name} | {us:.1f} | {got:.1f} | {(got / us - 1) * 100:+.1f}{' (fitted)' if fitted else ''} |"


def head(name):
    yield f"| {name} | measured, us | kernbench, us | % |"
    yield "| --- | ---: | ---: | ---: |"


def host_ops(chip):
    """LLMCompass: single operations."""
    yield from head("A100, host time")
    errors, others = collections.defaultdict(list), collections.defaultdict(list)
    for row in measured("llmcompass_ops.csv"):
        op, m, n, us = row["op"], int(row["m"]), int(row["n"] or 0), float(row["us"])
        keys = [f"software.launch_ns={CALL_NS[op]}", *HOST]
        if op == "matmul":
            got = product(chip, m, n, int(row["k"]), keys=keys)
        elif op == "softmax":
            got = softmax(chip, m, n, keys)
        elif op == "layernorm":
            got = of_rows(chip, op, m, n, keys)
        else:
            got = of_rows(chip, op, max(1, m // 8192), min(m, 8192), keys)
        fitted = (op, row["m"], row["n"]) in FITTED_HOST
        errors[op].append((got / us - 1) * 100)
        if not fitted:
            others[op].append((got / us - 1) * 100)
        yield line(" x ".join(filter(None, (f"{op} {m}", row["n"], row["k"]))), us, got, fitted)
    for op, found in errors.items():
        yield f"| **mean of {op}** | | | {mean(found)}; {mean(others[op])} without what was fitted |"


def host_layer(chip):
    """LLMCompass: a layer of GPT-3, a prompt of 2048 tokens of 8 requests on 4 GPUs."""
    d, t, heads = 12288, 8 * 2048, 192
    times = {"Q_K_V": product(chip, t, 3 * d // 4, d, keys=HOST), "Q_mul_K": product(chip, 2048, 2048, 128, heads, HOST),
             "A_mul_V": product(chip, 2048, 128, 2048, heads, HOST), "Wo_proj": product(chip, t, d, d // 4, keys=HOST),
             "W1_proj": product(chip, t, d, d, keys=HOST), "W2_proj": product(chip, t, d, d, keys=HOST),
             "Softmax": 8 * softmax(chip, heads * 256, 2048, HOST), "LayerNorm_MHA": of_rows(chip, "layernorm", t, d, HOST),
             "GeLU": of_rows(chip, "gelu", t, d, HOST), "AllReduce_MHA": all_reduce(chip, 4, 2 * t * d, HOST)}
    times |= {"LayerNorm_FFN": times["LayerNorm_MHA"], "AllReduce_FFN": times["AllReduce_MHA"]}
    yield from head("GPT-3, a layer, TP 4")
    total = [0.0, 0.0]
    for row in measured("llmcompass_layer.csv"):
        us, got = float(row["us"]), times[row["op"]]
        total = [total[0] + us, total[1] + got]
        yield line(row["op"], us, got)
    yield line("**all of the layer**", *total)


def model_ops(chip, rows, model, names, fitted):
    """{(op, tp, tokens): (measured, simulated)} of operations of one prompt."""
    out = {}
    for tp in sorted({int(r["tp"]) for r in rows}):
        mine = [r for r in rows if int(r["tp"]) == tp and r["op"] in names]
        counts = sorted({int(r["tokens"]) for r in mine})
        got = chip.layer(model, tp, [[(t, t)] for t in counts])
        for row in mine:
            tokens = int(row["tokens"])
            out[row["op"], tp, tokens] = float(row["us"]), got[counts.index(tokens), names[row["op"]]]
    yield "| op | tp | rows | mean, % | 1 token | 128 | 1024 | most tokens |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    percent = {key: (got / us - 1) * 100 for key, (us, got) in out.items()}
    for op, tp in dict.fromkeys((k[0], k[1]) for k in out):
        mine = {k[2]: e for k, e in percent.items() if k[:2] == (op, tp)}
        shown = " | ".join(f"{mine[t]:+.1f}" if t in mine else "" for t in (1, 128, 1024, max(mine)))
        yield f"| {op} | {tp} | {len(mine)} | {mean(mine.values())} | {shown} |"
    rest = [e for k, e in percent.items() if k[0] in PRODUCTS and k not in fitted]
    yield f"| **products, {len(rest)} rows that were not fitted** | | | {mean(rest)} | | | | |"
    rest = [e for k, e in percent.items() if k[0] not in PRODUCTS]
    yield f"| **other operations, {len(rest)} rows** | | | {mean(rest)} | | | | |"


def reduces(chip):
    yield from head("all_reduce, 4 x A100")
    errors = {}
    for row in measured("llmcompass_allreduce.csv"):
        size, us = int(row["bytes"]), float(row["us"])
        got = all_reduce(chip, 4, size)
        errors[size] = (got / us - 1) * 100
        yield line(f"{size} B", us, got, size in FITTED_NCCL)
    yield f"| **mean of those that were not fitted** | | | {mean([e for s, e in errors.items() if s not in FITTED_NCCL])} |"
    yield from head("all_reduce, DGX A100")
    errors = []
    for row in measured("vidur_allreduce.csv"):
        ranks, size, us = int(row["ranks"]), int(row["size_in_file"]), float(row["us"])
        if ranks <= 8:  # 16 are two machines
            got = all_reduce(chip, ranks, size)
            errors.append((got / us - 1) * 100)
            yield line(f"{ranks} ranks, {size} B", us, got)
    yield f"| **mean** | | | {mean(errors)} |"


def batch_of(row):
    """A piece of a prompt behind what is there, or a new token of each of some requests."""
    q, before, n, kv = (int(row[key] or 0) for key in ("tokens_or_chunk", "kv_prefill", "n_decode", "kv_decode"))
    return [(q, q + before)] if q else [(1, kv + 1)] * n


def attentions(chip, rows):
    yield from head("RTX PRO 6000, attention")
    batches = [batch_of(row) for row in rows]
    got, errors = chip.layer("llama-3.1-8b", 1, batches), []
    for i, (row, batch) in enumerate(zip(rows, batches)):
        us, mine = float(row["us"]), got[i, "attention"]
        errors.append((mine / us - 1) * 100)
        q, kv = batch[0]
        yield line(f"{len(batch)} x 1 token behind {kv - 1}" if q == 1 else f"{q} tokens behind {kv - q}", us, mine)
    yield f"| **mean** | | | {mean(errors)} |"


def heads(chip, rows):
    """The product of the head has a row for each request."""
    yield from head("RTX PRO 6000, head")
    got = chip.layer("llama-3.1-8b", 1, [[(1, 16)] * int(r["tokens_or_chunk"]) for r in rows])
    errors = []
    for i, row in enumerate(rows):
        errors.append((got[i, "head"] / float(row["us"]) - 1) * 100)
        yield line(f"{row['tokens_or_chunk']} requests", float(row["us"]), got[i, "head"])
    yield f"| **mean** | | | {mean(errors)} |"


def table(kernbench, work):
    a100, rtx = (Chip(kernbench, name, work) for name in ("a100", "rtx_pro_6000"))
    yield from host_ops(a100)
    yield from host_layer(a100)
    yield from reduces(a100)
    yield from model_ops(a100, measured("vidur_ops.csv"), "llama-2-7b", VIDUR, FITTED_VIDUR)
    serving = [{**r, "tokens": r["tokens_or_chunk"]} for r in measured("llmservingsim_ops.csv")]
    apart = "attention", "lm_head", "sampler", "final_layernorm"
    yield from model_ops(rtx, [r for r in serving if r["op"] not in apart], "llama-3.1-8b", SERVING, ())
    yield from heads(rtx, [r for r in serving if r["op"] == "lm_head"])
    yield from attentions(rtx, [r for r in serving if r["op"] == "attention"])


def main():
    if len(sys.argv) != 2:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    page = Page()
    with tempfile.TemporaryDirectory() as work:
        page.print(table(sys.argv[1], work))
    return page.end()


if __name__ == "__main__":
    sys.exit(main())
