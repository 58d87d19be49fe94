#!/usr/bin/python3
"""judge.py -- computes every bench again from the inputs it dumped, by numpy in f64.

usage: judge.py < LIST; each line of LIST is one run:

    FOLDER BENCH NAME=VALUE...

where FOLDER is what --dump wrote, and all arguments that the judge needs are given. Prints TAP.
It knows what a bench is to compute, from the design's section 5.2, and nothing of how it does.
"""
import glob
import os
import sys

import numpy as np

TOLERANCE = {"f8": 1e-10, "f4": 1e-5, "f2": 1e-3, "bf16": 1e-2}  # rtol = atol, design 8


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def gemm(t, args):
    return {"c": t["a"] @ t["b"]}


def mlp(t, args):
    acts = {
        "relu": lambda x: np.maximum(x, 0),
        "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
        "tanh": np.tanh,
    }
    return {"y": acts[args.get("act", "relu")](t["x"] @ t["w"] + t["bias"])}


def layernorm(t, args):
    x, eps = t["x"], float(args.get("eps", "1e-5"))
    mean, variance = x.mean(axis=-1, keepdims=True), x.var(axis=-1, keepdims=True)
    return {"y": (x - mean) / np.sqrt(variance + eps) * t["gamma"] + t["beta"]}


def attention(t, args):
    q, k, v = t["q"], t["k"], t["v"]
    return {"o": softmax(q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])) @ v}


def attention_ring(t, args):
    """The same, with the heads of a row side by side: q[S,H,D], k, v[T,H,D]."""
    heads_first = {name: x.transpose(1, 0, 2) for name, x in t.items()}
    return {"o": attention(heads_first, args)["o"].transpose(1, 0, 2)}


def gather(t, args):
    return {"y": t["table"][t["index"].astype(int)]}


def list_walk(t, args):
    path, node = [], 0
    for _ in range(int(args["L"])):
        node = int(t["next"][node])
        path.append(node)
    return {"path": np.array(path)}


def threshold(t, args):
    x = t["x"]
    return {"y": np.where(x[:, :1] > float(args.get("t", "0.5")), 2 * x, x)}


BENCHES = {
    "gemm": gemm,
    "gemm_composite": gemm,
    "qkv_gemm": gemm,
    "mlp": mlp,
    "softmax": lambda t, args: {"y": softmax(t["x"])},
    "layernorm": layernorm,
    "attention": attention,
    "attention_ring": attention_ring,
    "copy": lambda t, args: {"y": t["x"]},
    "gather": gather,
    "list_walk": list_walk,
    "threshold": threshold,
}


def load(path):
    """The tensor's name, type, and values: integers as they are, all else in f64."""
    name = os.path.basename(path).split(".")[1]
    x = np.load(path)
    if path.endswith(".bf16.npy"):
        assert x.dtype == np.dtype("<u2"), path
        return name, "bf16", (x.astype("<u4") << 16).view("<f4").astype("f8")
    kind = x.dtype.str[1:]
    return name, kind, x.astype("f8") if kind[0] == "f" else x


def check_input(name, kind, x):
    """Inputs that are all the same would hide most mistakes."""
    if kind[0] in "fb" and np.abs(x).max() > 1:
        return f"{name}: an input beyond 1"
    if name != "index" and x.size >= 16 and len(np.unique(x)) < 4:
        return f"{name}: only {len(np.unique(x))} different values in an input of {x.size}"
    return None


def compare(name, kind, got, want):
    if got.shape != want.shape:
        return f"{name}: shape {got.shape}, expected {want.shape}"
    tolerance = TOLERANCE.get(kind, 0)
    bad = ~np.isclose(got, want, rtol=tolerance, atol=tolerance, equal_nan=True)
    if tolerance == 0:
        bad = got != want
    if not bad.any():
        return None
    i = tuple(int(n) for n in np.argwhere(bad)[0])
    return f"{name}{list(i)} is {got[i]}, expected {want[i]}; {bad.sum()} differ"


def judge(folder, bench, args):
    """None, or what is wrong."""
    inputs, wrong = {}, None
    for path in sorted(glob.glob(folder + "/in.*.npy")):
        name, kind, x = load(path)
        # so that sums of small integers cannot wrap on our side
        inputs[name] = x.astype("i8") if kind in ("i1", "i4") else x
        wrong = wrong or check_input(name, kind, x)
    outputs = BENCHES[bench](inputs, args) if inputs else {}
    found = [load(path) for path in sorted(glob.glob(folder + "/out.*.npy"))]
    if {name for name, _, _ in found} != set(outputs) or not outputs:
        return f"outputs are {[name for name, _, _ in found]}, expected {sorted(outputs)}"
    for name, kind, got in found:
        wrong = wrong or compare(name, kind, got, outputs[name])
    return wrong


def main():
    failed = n = 0
    for n, line in enumerate(sys.stdin, 1):
        folder, bench, *words = line.split()
        wrong = judge(folder, bench, dict(word.split("=") for word in words))
        failed += wrong is not None
        print(f"{'not ok' if wrong else 'ok'} {n} - {bench} {' '.join(words)}")
        if wrong:
            print(f"# {wrong}")
    print(f"1..{n}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
