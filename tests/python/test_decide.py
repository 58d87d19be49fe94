"""test_decide.py -- kernels that branch on what they compute make numpy's choices, on KB_SEEDS seeds (4)."""
import os

import numpy as np
import pytest

import kernbench
from conftest import ROOT

SEEDS = range(int(os.environ.get("KB_SEEDS", 4)))


def product(a, b):
    """In f32, one chain of fused multiply-adds from the first k up."""
    c = np.zeros((a.shape[0], b.shape[1]), np.float32)
    for k in range(a.shape[1]):
        c = (c + a[:, k, None].astype(np.float64) * b[k].astype(np.float64)).astype(np.float32)
    return c


def moe(x, gate, w):
    scores = product(x, gate)
    best = np.argsort(-scores, axis=1, kind="stable")[:, :2]
    top = np.take_along_axis(scores, best, 1).astype(float)
    shares = np.exp(top - top[:, :1])
    shares /= shares.sum(1, keepdims=True)
    matrices = w.astype(float).reshape(len(w), x.shape[1], -1)[best]
    return {"expert": best, "y": np.einsum("tb,tk,tbkn->tn", shares, x.astype(float), matrices)}


def decoder(table, head, noise):
    n, sequences = len(table), len(noise)
    scores, noise = product(table, head), noise.reshape(sequences, -1, n)
    token, text = np.zeros(sequences, int), []
    for step in range(noise.shape[1]):
        token = (scores[token] + noise[:, step]).argmax(1)
        text.append(token)
    return np.array(text).T


def speculate(table, head, sequences=8, steps=64, depth=28, ahead=4):
    large, small = product(table, head).argmax(1), product(table[:, :depth], head[:depth]).argmax(1)
    text, rounds = np.zeros((sequences, steps), int), np.zeros(sequences, int)
    for i in range(sequences):
        made = [i]
        while len(made) <= steps:
            proposed = [made[-1]]
            for _ in range(ahead):
                proposed.append(small[proposed[-1]])
            wanted = [large[token] for token in proposed]
            same = next((k for k in range(ahead) if wanted[k] != proposed[k + 1]), ahead)
            made += wanted[:same + 1]
            rounds[i] += 1
        text[i] = made[1:steps + 1]
    return {"next": text, "rounds": rounds}


def quantise(x, w, limit=0.99):
    most = abs(x).max(1)
    scale = np.where(most > limit, 0, np.ldexp(1.0, np.frexp(most)[1] - 6))
    step = np.where(scale, scale, 1)[:, None]
    rows = np.where(scale[:, None], np.rint(x / step) * step, x)
    return {"scale": scale, "y": product(rows, w)}


@pytest.fixture(scope="module")
def benches():
    return {name: kernbench.compile(ROOT / f"examples/{file}.c") + (":" + name if file == "decide" else "")
            for name, file in [("moe", "moe"), ("decoder", "decoder"), ("speculate", "decide"), ("quantise", "decide")]}


@pytest.mark.parametrize("reference", [moe, decoder, speculate, quantise])
def test_choices_are_those_of_numpy(m, benches, reference):
    """With any -j and both engines."""
    for seed in SEEDS:
        options = {"engine": "hop"} if seed % 4 == 1 else {"jobs": 3} if seed % 4 == 2 else {}
        rows = m.run(benches[reference.__name__], seed=seed, reference=reference, quiet=True, values="on", **options)
        assert rows["verify"][0] == "pass"
        if reference is moe:  # the same where rows go to the experts, by collectives
            rows = m.run(benches["moe"], how="dispatch", seed=seed, reference=moe, quiet=True, values="on", **options)
            assert rows["verify"][0] == "pass"
