"""right.py -- what docs/python.md shows, as a program: mypy --strict has nothing to say."""
from pathlib import Path
from typing import Any, List

import numpy as np

import kernbench
import kernbench.language as tl


@kernbench.kernel
def twice(x_ptr: Any, n: int, BLOCK: tl.constexpr) -> None:
    for first in range(0, n, BLOCK):
        at = first + tl.arange(0, BLOCK)
        tl.store(x_ptr + at, 2 * tl.load(x_ptr + at, mask=at < n), mask=at < n)


def latencies(machine: kernbench.Machine) -> List[float]:
    rows = machine.probe(bytes="64K")
    return [float(value) for value in rows["actual_ns"]]


def gemm(machine: kernbench.Machine, size: int) -> float:
    rows, tensors = machine.run("gemm", M=size, N=size, K=size, tensors=True)
    c = tensors["c"]
    assert c.shape == tensors.shape("c") == (size, size)
    return float(rows["kernel_ns"][0])


def main() -> None:
    m = kernbench.Machine("cube8")
    fast = m.set({"cube.hbm.bw_gbs": 512}, sips=1)
    print(m.name, m.hash, fast == m, latencies(m), gemm(fast, 64))
    print(m.run("gemm", M=64, verify=True, oplog=Path("ops.csv")), m.run("gemm", args={"M": 64}))
    print(m.load("uniform", rate=[0.1, 0.2], txns=1000), m.load("uniform", np.array([0.1]), jobs=1))
    print(m.sweep(["c0.pe0"], "c*.slice*", bytes=[64, 4096], inflight="1:16"))
    print(m.why("gemm", by="key", M=64), m.breakdown("load", pattern="uniform", rate=0.05))
    print(kernbench.vary(m, {"cube.hbm.bw_gbs": [128, 256]}).probe(case="pe-local-hbm"))
    print(m.run(twice[(1,)](np.zeros(100, np.float32), 100, BLOCK=64)))
    bench = kernbench.compile(Path("moe.c"), flags=["-O3"])
    picture: kernbench.Picture = m.view("cube", at="c3")
    Path("cube.svg").write_text(picture)
    try:
        m.run(bench["moe"], tokens=64)
    except kernbench.KernelError as error:
        print(error.code, error.messages, error.line)


main()
