#!/usr/bin/env python3
"""tutorials.py -- runs the kernels of Triton's tutorials in kernbench, and counts the lines that are changed for it.

    tools/tutorials.py FOLDER [MACHINE]    FOLDER has 02-fused-softmax.py and so on, python/tutorials of Triton

Softmax (02), matrix products (03), layer norm forward (05) and attention forward (06, with block pointers) are taken
from their files: the kernels alone, without what calls them. The import of the language and the decorators are
changed, nothing else. Each result is compared with numpy's. It fails if one differs, or if more than ten lines are
changed. The files are not part of kernbench.
"""
import ast
import difflib
import sys
import time
import types
from pathlib import Path

import numpy as np

import kernbench

MOST = 10
IMPORT = "import triton.language as tl"


def is_jit(decorator):
    return ast.unparse(decorator) == "triton.jit"


def kernels_of(path, names):
    """The lines of some kernels, with the import before them: as they are, and changed."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    found = {node.name: node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
    before, after = [IMPORT], [IMPORT.replace("triton", "kernbench")]
    for name in names:
        node = found[name]
        first = min([node.lineno] + [d.lineno for d in node.decorator_list]) - 1
        before += lines[first:node.end_lineno]
        after += ["@kernbench.kernel"] * any(map(is_jit, node.decorator_list)) + lines[node.lineno - 1:node.end_lineno]
    return before, after


def changed(before, after):
    """How many lines are other ones: of a piece that is replaced the longer side."""
    steps = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return sum(max(b - a, d - c) for what, a, b, c, d in steps if what != "equal")


def loaded(path, lines):
    """A module of these lines; messages have its places."""
    module = types.ModuleType(path.stem)
    source = "\n".join(lines) + "\n"
    name = f"<changed {path.name}>"
    module.kernbench = kernbench
    import linecache
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    exec(compile(source, name, "exec"), module.__dict__)
    return module


def softmax(tutorial, rng):
    x = rng.standard_normal((203, 781)).astype(np.float32)
    e = np.exp(x - x.max(1, keepdims=True))
    y = kernbench.empty(x.shape)
    return (tutorial.softmax_kernel[(64,)](y, x, 781, 781, 203, 781, BLOCK_SIZE=1024, num_stages=2),
            {"output_ptr": e / e.sum(1, keepdims=True)})


def product(tutorial, rng):
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((200, 130), (130, 170)))
    c = a.astype(float) @ b
    grid = lambda meta: (-(-200 // meta["BLOCK_SIZE_M"]) * -(-170 // meta["BLOCK_SIZE_N"]),)  # noqa: E731
    launch = tutorial.matmul_kernel[grid](a, b, kernbench.empty((200, 170), "f16"), 200, 170, 130, 130, 1, 170, 1, 170, 1,
                                          BLOCK_SIZE_M=64, BLOCK_SIZE_N=64, BLOCK_SIZE_K=32, GROUP_SIZE_M=2,
                                          ACTIVATION="leaky_relu")
    return launch, {"c_ptr": np.where(c >= 0, c, 0.01 * c)}


def layer_norm(tutorial, rng):
    x, w, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((151, 300), 300, 300))
    wide = x.astype(float)
    mean, rstd = wide.mean(1), 1 / np.sqrt(wide.var(1) + 1e-5)
    launch = tutorial._layer_norm_fwd_fused[(151,)](x, kernbench.empty(x.shape, "f16"), w, b, kernbench.empty(151), kernbench.empty(151),
                                                    300, 300, 1e-5, BLOCK_SIZE=128, num_warps=4)
    return launch, {"Y": (wide - mean[:, None]) * rstd[:, None] * w + b, "Mean": mean, "Rstd": rstd}


def attention(tutorial, rng):
    z, h, n, d = 1, 2, 256, 64
    q, k, v = (rng.standard_normal((z, h, n, d)).astype(np.float16) for _ in range(3))
    s = np.where(np.tril(np.ones((n, n), bool)), q.astype(float) @ k.astype(float).transpose(0, 1, 3, 2) / 8, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    strides = [h * n * d, n * d, d, 1] * 4
    launch = tutorial._attn_fwd[(n // 64, z * h)](q, k, v, 1 / 8, kernbench.empty((z * h, n)), kernbench.empty(q.shape, "f16"), *strides,
                                                  z, h, n, HEAD_DIM=d, BLOCK_M=64, BLOCK_N=32, STAGE=3)
    return launch, {"Out": p / p.sum(-1, keepdims=True) @ v.astype(float)}


TUTORIALS = [("02-fused-softmax.py", ["softmax_kernel"], softmax),
             ("03-matrix-multiplication.py", ["leaky_relu", "matmul_kernel"], product),
             ("05-layer-norm.py", ["_layer_norm_fwd_fused"], layer_norm),
             ("06-fused-attention.py", ["_attn_fwd_inner", "_attn_fwd"], attention)]


def main(folder, machine="cube8"):
    m = kernbench.Machine(machine)
    failed = False
    for file, names, make in TUTORIALS:
        path = Path(folder, file)
        before, after = kernels_of(path, names)
        n = changed(before, after)
        launch, wanted = make(loaded(path, after), np.random.default_rng(1))
        begin = time.process_time()
        rows, found = m.run(launch, tensors=True, quiet=True)
        took = time.process_time() - begin
        worst = max(np.abs(found[name].astype(float) - want).max() for name, want in wanted.items())
        failed = failed or n > MOST or not worst < 0.02
        print(f"{file:28} {n:2} of {len(before):3} lines changed, {int(rows.ops.sum()):5} commands, {rows.kernel_ns[0]:12.6f} ns,"
              f" off from numpy by at most {worst:.1e}, {took:.2f} s")
    return failed


if __name__ == "__main__":
    sys.exit(__doc__ if len(sys.argv) < 2 else main(*sys.argv[1:]))
