"""kernels.py -- four kernels in Python, in the dialect of Triton, each held against numpy.

    python examples/kernels.py [MACHINE]

A softmax of rows, a product of matrices with an accumulator, a layer norm, and causal attention that
never holds all scores. Kernels of Triton run as they stand when `triton` is replaced by `kernbench`
in two places: the import of the language, and the decorator. docs/python.md has what differs.
"""
import sys
from typing import Any, Callable, Dict, List, Tuple

import numpy as np

import kernbench
import kernbench.language as tl


@kernbench.kernel
def softmax(y_ptr: tl.Pointer, x_ptr: tl.Pointer, y_stride: int, x_stride: int, rows: int, columns: int,
            BLOCK: tl.constexpr) -> None:
    """A program takes every n-th row."""
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0)):
        at = tl.arange(0, BLOCK)
        inside = at < columns
        x = tl.load(x_ptr + row * x_stride + at, mask=inside, other=-float("inf"))
        powers = tl.exp(x - tl.max(x, axis=0))
        tl.store(y_ptr + row * y_stride + at, powers / tl.sum(powers, axis=0), mask=inside)


@kernbench.kernel
def leaky(x: tl.Tensor) -> Any:
    """Called by another kernel: a part of it."""
    return tl.where(x >= 0, x, 0.01 * x)


@kernbench.kernel
def product(a_ptr: tl.Pointer, b_ptr: tl.Pointer, c_ptr: tl.Pointer, M: int, N: int, K: int, BM: tl.constexpr,
            BN: tl.constexpr, BK: tl.constexpr) -> None:
    """A program makes one block of c; its sum stays in the engine."""
    across = tl.cdiv(N, BN)
    rows = tl.program_id(0) // across * BM + tl.arange(0, BM)
    columns = tl.program_id(0) % across * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    a = a_ptr + rows[:, None] * K + depth[None, :]
    b = b_ptr + depth[:, None] * N + columns[None, :]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        left = depth < K - k
        total = tl.dot(tl.load(a, mask=(rows[:, None] < M) & left[None, :], other=0.0),
                       tl.load(b, mask=left[:, None] & (columns[None, :] < N), other=0.0), total)
        a += BK
        b += BK * N
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], leaky(total).to(tl.float16), mask=inside)


@kernbench.kernel
def layer_norm(x_ptr: tl.Pointer, y_ptr: tl.Pointer, scale_ptr: tl.Pointer, shift_ptr: tl.Pointer,
               mean_ptr: tl.Pointer, N: int, eps: float, BLOCK: tl.constexpr) -> None:
    """A program takes a row."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < N
    x = tl.load(x_ptr + row * N + at, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / N
    centred = tl.where(inside, x - mean, 0.0)
    rows_like = centred * tl.rsqrt(tl.sum(centred * centred, axis=0) / N + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(y_ptr + row * N + at, rows_like * tl.load(scale_ptr + at, mask=inside) + tl.load(shift_ptr + at, mask=inside),
             mask=inside)


@kernbench.kernel
def attention(q_ptr: tl.Pointer, k_ptr: tl.Pointer, v_ptr: tl.Pointer, o_ptr: tl.Pointer, n: int, scale: float,
              D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr) -> None:
    """A program takes BM queries of a head, and goes through the keys before them, BN at a time."""
    first, head = tl.program_id(0) * BM, tl.program_id(1) * n * D
    queries = tl.make_block_ptr(q_ptr + head, (n, D), (D, 1), (first, 0), (BM, D))
    keys = tl.make_block_ptr(k_ptr + head, (D, n), (1, D), (0, 0), (D, BN))
    values = tl.make_block_ptr(v_ptr + head, (n, D), (D, 1), (0, 0), (BN, D))
    most = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    o = tl.zeros((BM, D), tl.float32)
    q = tl.load(queries)
    for j in range(0, first + BM, BN):
        s = tl.dot(q, tl.load(keys)) * (scale * 1.44269504)
        if j + BN > first:  # on the diagonal
            s = tl.where(first + tl.arange(0, BM)[:, None] >= j + tl.arange(0, BN)[None, :], s, -1.0e6)
        larger = tl.maximum(most, tl.max(s, 1))
        p = tl.exp2(s - larger[:, None])
        shrinks = tl.exp2(most - larger)
        total = total * shrinks + tl.sum(p, 1)
        o = tl.dot(p.to(tl.float16), tl.load(values), o * shrinks[:, None])
        most = larger
        keys, values = tl.advance(keys, (0, BN)), tl.advance(values, (BN, 0))
    out = tl.make_block_ptr(o_ptr + head, (n, D), (D, 1), (first, 0), (BM, D))
    tl.store(out, (o / total[:, None]).to(tl.float16))


# -- each beside numpy ----------------------------------------------------------------------------


Wanted = Dict[str, Any]  # by the name of the kernel's argument, what numpy computes


def half(rng: np.random.Generator, *shape: int) -> Any:
    return rng.standard_normal(shape).astype(np.float16)


def softmaxes(rng: np.random.Generator) -> Tuple[kernbench.Launch, Wanted]:
    x = rng.standard_normal((200, 100)).astype(np.float32)
    e = np.exp(x - x.max(1, keepdims=True))
    return softmax[(64,)](kernbench.empty(x.shape), x, 100, 100, 200, 100, BLOCK=128), {"y_ptr": e / e.sum(1, keepdims=True)}


def products(rng: np.random.Generator) -> Tuple[kernbench.Launch, Wanted]:
    a, b = half(rng, 150, 90), half(rng, 90, 130)
    c = a.astype(float) @ b
    grid = (3 * 3,)
    return (product[grid](a, b, kernbench.empty((150, 130), "f16"), 150, 130, 90, BM=64, BN=64, BK=32),
            {"c_ptr": np.where(c >= 0, c, 0.01 * c)})


def layer_norms(rng: np.random.Generator) -> Tuple[kernbench.Launch, Wanted]:
    x, scale, shift = half(rng, 37, 200), half(rng, 200), half(rng, 200)
    wide = x.astype(float)
    mean = wide.mean(1, keepdims=True)
    y = (wide - mean) / np.sqrt(wide.var(1, keepdims=True) + 1e-5) * scale + shift
    launch = layer_norm[(37,)](x, kernbench.empty(x.shape, "f16"), scale, shift, kernbench.empty(37), 200, 1e-5, BLOCK=256)
    return launch, {"y_ptr": y, "mean_ptr": mean[:, 0]}


def attentions(rng: np.random.Generator, heads: int = 2, n: int = 192,
               D: int = 64) -> Tuple[kernbench.Launch, Wanted]:
    q, k, v = (half(rng, heads, n, D) for _ in range(3))
    s = np.where(np.tril(np.ones((n, n), bool)), q.astype(float) @ k.astype(float).transpose(0, 2, 1) / 8, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    launch = attention[(n // 64, heads)](q, k, v, kernbench.empty(q.shape, "f16"), n, 1 / 8, D=D, BM=64, BN=32)
    return launch, {"o_ptr": p / p.sum(-1, keepdims=True) @ v.astype(float)}


def main(machine: str = "cube8") -> None:
    m = kernbench.Machine(machine)
    makers: List[Callable[[np.random.Generator], Tuple[kernbench.Launch, Wanted]]]
    makers = [softmaxes, products, layer_norms, attentions]
    for make in makers:
        launch, wanted = make(np.random.default_rng(1))
        rows, found = m.run(launch, tensors=True, quiet=True)
        for name, want in wanted.items():
            np.testing.assert_allclose(found[name].astype(float), want, rtol=5e-3, atol=5e-3)
        print(f"{rows.kernel[0]:12} {rows.kernel_ns[0]:12.6f} ns, as numpy")


if __name__ == "__main__":
    main(*sys.argv[1:])
