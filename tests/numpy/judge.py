#!/usr/bin/python3
"""judge.py -- computes every bench again from the inputs it dumped, by numpy in f64.

usage: judge.py < LIST; each line of LIST is one run:

    FOLDER BENCH NAME=VALUE...

where FOLDER is what --dump wrote, and all arguments that the judge needs are given. Prints TAP.
It knows what a bench is to compute, from the design's section 5.2, and nothing of how it does.
"""
import glob
import math
import os
import sys

import numpy as np

TOLERANCE = {"f8": 1e-10, "f4": 1e-5, "f2": 1e-3, "bf16": 1e-2}  # rtol = atol; docs/kernels.md, "Phase 2 in numbers"


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def gemm(t, args):
    return {"c": t["a"] @ t["b"]}


ACTS = {
    "relu": lambda x: np.maximum(x, 0),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "gelu": lambda x: x * np.vectorize(math.erfc)(-x / math.sqrt(2)) / 2,
}


def mlp(t, args):
    return {"y": ACTS[args.get("act", "relu")](t["x"] @ t["w"] + t["bias"])}


def mlp_tp(t, args):
    """All of it, at every PE."""
    y = ACTS[args.get("act", "relu")](t["x"] @ t["w1"]) @ t["w2"]
    return {"y": np.broadcast_to(y, (math.prod(MACHINES[args["on"]]), *y.shape))}


def layernorm(t, args):
    x, eps = t["x"], float(args.get("eps", "1e-5"))
    mean, variance = x.mean(axis=-1, keepdims=True), x.var(axis=-1, keepdims=True)
    return {"y": (x - mean) / np.sqrt(variance + eps) * t["gamma"] + t["beta"]}


def attention(t, args):
    q, k, v = t["q"], t["k"], t["v"]
    return {"o": softmax(q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])) @ v}


def flash(t, args):
    """Causal, each of H heads in S rows."""
    q, k, v = (t[name].reshape(int(args["H"]), int(args["S"]), -1) for name in "qkv")
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
    o = softmax(np.where(np.tril(np.ones(scores.shape[1:])) > 0, scores, -np.inf)) @ v
    return {"o": o.reshape(t["q"].shape)}


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


# -- collectives: to the bit, of numbers whose sums are exact in any order -------------------------

# PEs of a cube, columns and rows of the mesh, SIPs
MACHINES = {"cube1": (8, 1, 1, 1), "cube8": (8, 4, 2, 1), "odd": (6, 3, 3, 3), "tray32": (8, 4, 4, 2)}


def bf16(x):
    bits = np.asarray(x, "f4").view("u4").astype("u8")
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype("u4").view("f4").astype("f8")


def reducer(args):
    """Of two arrays that are ints of their type, which wrap, or f64 that are to be rounded."""
    if args.get("op", "sum") != "sum":
        return {"max": np.maximum, "min": np.minimum}[args["op"]]
    narrow = {"f16": "f2", "f32": "f4", "f64": "f8"}
    dtype = args.get("dtype", "f16")
    if dtype == "bf16":
        return lambda a, b: bf16(a + b)
    if dtype in narrow:
        return lambda a, b: (a + b).astype(narrow[dtype]).astype("f8")
    return lambda a, b: a + b


def in_turn(op, vectors):
    total = vectors[0]
    for v in vectors[1:]:
        total = op(total, v)
    return total


def ranks(args):
    pes, w, h, sips = MACHINES[args["on"]]
    return {"pes": pes * w * h * sips, "cubes": w * h * sips, "sips": sips}[args.get("over", "pes")]


def rows(t, args):
    """x[row][rank][element]; of inputs=same all ranks have the one"""
    n, count, x = ranks(args), int(args["count"]), t["x"]
    return np.broadcast_to(x.reshape(len(x), -1, count), (len(x), n, count))


def all_reduce(t, args):
    x = rows(t, args)[0]
    return {"y": np.tile(in_turn(reducer(args), x), len(x))}


def reduce_scatter(t, args):
    return {"y": np.concatenate([in_turn(reducer(args), row) for row in rows(t, args)])}


def all_gather(t, args):
    x = rows(t, args)[0]
    return {"y": np.stack([np.tile(row, len(x)) for row in x])}


def all_to_all(t, args):
    x = rows(t, args)
    return {"y": x.transpose(1, 0, 2).reshape(len(x), -1)}


def broadcast(t, args):
    x = rows(t, args)[0]
    return {"y": np.tile(x[0], len(x))}


COLLECTIVES = {
    "all_gather": all_gather,
    "all_reduce": all_reduce,
    "all_to_all": all_to_all,
    "broadcast": broadcast,
    "reduce_scatter": reduce_scatter,
}

BENCHES = {
    **COLLECTIVES,
    "gemm": gemm,
    "gemm_composite": gemm,
    "overlap": gemm,
    "flash": flash,
    "qkv_gemm": gemm,
    "mlp": mlp,
    "mlp_tp": mlp_tp,
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
    if name in ("ones", "mask"):
        return None
    if kind[0] in "fb" and np.abs(x).max() > 1:
        return f"{name}: an input beyond 1"
    if name != "index" and x.size >= 32 and len(np.unique(x)) < 4:
        return f"{name}: only {len(np.unique(x))} different values in an input of {x.size}"
    return None


def compare(name, kind, got, want, exact):
    if got.shape != want.shape:
        return f"{name}: shape {got.shape}, expected {want.shape}"
    tolerance = 0 if exact else TOLERANCE.get(kind, 0)
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
        # so that sums of small integers cannot wrap on our side; those of collectives are to
        inputs[name] = x.astype("i8") if kind in ("i1", "i4") and bench not in COLLECTIVES else x
        wrong = wrong or check_input(name, kind, x)
    outputs = BENCHES[bench](inputs, args) if inputs else {}
    found = [load(path) for path in sorted(glob.glob(folder + "/out.*.npy"))]
    if {name for name, _, _ in found} != set(outputs) or not outputs:
        return f"outputs are {[name for name, _, _ in found]}, expected {sorted(outputs)}"
    for name, kind, got in found:
        wrong = wrong or compare(name, kind, got, outputs[name], bench in COLLECTIVES)
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
