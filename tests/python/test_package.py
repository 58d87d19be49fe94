"""test_package.py -- what a user of Python expects besides rows: arrays, threads, Ctrl-C, wheels."""
import importlib.metadata
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import kernbench
from conftest import B, ROOT, command

SMALL = {"M": 64, "N": 64, "K": 64}
MOE = ROOT / "examples/moe.c"


def python(code, **environment):
    """A process of its own."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          env={**os.environ, **environment})


# -- tensors --------------------------------------------------------------------------------------


def test_tensors_are_those_that_dump_writes(m, tmp_path):
    rows, t = m.run("gemm", tensors=True, seed=3, **SMALL)
    m.run("gemm", dump=tmp_path, seed=3, **SMALL)
    for name, role in {"a": "in", "b": "in", "c": "out"}.items():
        np.testing.assert_array_equal(t[name], np.load(tmp_path / f"{role}.{name}.npy"))
    assert [t.role(name) for name in t] == ["input", "input", "output"]
    assert abs(t["c"].astype(float) - t["a"].astype(float) @ t["b"].astype(float)).max() < 0.01
    assert len(rows) == 1 and not t["a"].flags.writeable


def test_parts_are_not_copied(m):
    _, t = m.run("gemm", tensors=True, **SMALL)
    assert t.part("b", 0).ctypes.data == t.part("b", 0).ctypes.data
    for name in t:
        for pe in (0, 1, 8, 63):
            np.testing.assert_array_equal(t.part(name, pe), t[name][t.where(name, pe)])
    one = m.set({"cube.pes": 1, "sip.cube_mesh.w": 1, "sip.cube_mesh.h": 1})
    _, alone = one.run("gemm", tensors=True, **SMALL)
    for name in alone:
        assert alone[name].ctypes.data == alone.part(name, 0).ctypes.data
    part = t.part("c", 0).copy()
    view = t.part("c", 0)
    del t
    m.run("gemm", tensors=True, **SMALL)
    np.testing.assert_array_equal(view, part)


def test_a_tensor_of_bf16(m):
    _, t = m.run("gemm", tensors=True, dtype="bf16", **SMALL)
    assert t["a"].dtype == np.float32 and t.part("a", 0).dtype == np.uint16
    assert abs(t["c"] - t["a"] @ t["b"]).max() < 0.05


# -- benches of one's own -------------------------------------------------------------------------


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_bench_in_c(m, cache):
    bench = kernbench.compile(MOE)
    rows = m.run(bench, tokens=64, verify=True)
    assert list(rows.verify) == ["pass"]
    again = kernbench.compile(MOE.read_text())
    assert len(list(cache.glob("kernbench/*.so"))) == (1 if again == bench else 2)
    assert kernbench.compile(MOE) == bench
    assert len(m.breakdown(bench, tokens=64)) > 3 and len(m.why(bench["moe"], tokens=64)) > 3
    variants = kernbench.vary(m, {"cube.hbm.bw_gbs": [128, 256]})
    assert len(variants.run(bench, tokens=64)) == 2


def test_components_of_folders_of_others_need_trust(tmp_path, cache, monkeypatch):
    folder = tmp_path / "components"
    folder.mkdir()
    (folder / "closed_page.c").write_text((ROOT / "examples/components/closed_page.c").read_text())
    folder.chmod(0o777)
    machine = tmp_path / "m.yaml"
    machine.write_text("kernbench: 2\nname: m\nsip: {cube_mesh: {w: 1, h: 1}}\n"
                       "cube: {pes: 1, hbm: {impl: closed_page}}\n")
    monkeypatch.delenv("KB_TRUST", raising=False)
    with pytest.raises(kernbench.Error, match=f"KB_TRUST={folder}"):
        kernbench.Machine(machine)
    monkeypatch.setenv("KB_TRUST", str(folder))
    assert len(kernbench.Machine(machine).probe())


def test_flags_are_those_of_the_command_line(tmp_path, monkeypatch):
    (tmp_path / "cc").write_text('#!/bin/sh\necho "$@" >"$(dirname "$0")/words"\n')
    (tmp_path / "cc").chmod(0o755)
    (tmp_path / "x.c").touch()
    subprocess.run([B / "kernbench", "cc", tmp_path / "x.c"], env={**os.environ, "CC": str(tmp_path / "cc")})
    words = (tmp_path / "words").read_text().split()
    from kernbench._bench import FLAGS
    assert words[:len(FLAGS)] == FLAGS


def test_a_bench_that_does_not_compile(cache):
    with pytest.raises(kernbench.BadInput) as caught:
        kernbench.compile("int x;\nint y = z;\n")
    assert (caught.value.file, caught.value.line) == ("<string>", 2) and "'z'" in str(caught.value)
    with pytest.raises(kernbench.BadInput, match="cannot read .no.c"):
        kernbench.compile("no.c")
    assert not list(cache.glob("kernbench/*"))


def test_an_object_that_is_no_bench(m, cache):
    with pytest.raises(kernbench.BadInput, match="needs KB_BENCHES"):
        m.run(kernbench.compile("int x;\n"))


CRASHING = r"""
#include "tl.h"
static void crash(tl_ctx *tl, const kb_args *args)
{
    (void)tl, (void)args;
    *(volatile int *)16 = 1;
}
static void setup(kb_bench_run *run) { kb_bench_launch(run, "crash", crash, NULL, 0); }
static const kb_bench bench_crash = {.name = "crash", .summary = "crashes", .setup = setup};
KB_BENCHES(&bench_crash);
"""


def test_a_kernel_that_crashes_is_an_exception(cache):
    ran = python("import kernbench, sys\n"
                 "try:\n"
                 "    kernbench.Machine('cube8').run(kernbench.compile(sys.stdin.read()))\n"
                 "except kernbench.KernelError as e:\n"
                 "    print(e.code, e)\n".replace("sys.stdin.read()", repr(CRASHING)))
    assert ran.stdout.startswith("7 ") and "crash" in ran.stdout and "SIGSEGV" in ran.stdout, ran


def test_a_reference_in_python(m):
    def right(a, b):
        return a.astype(np.float64) @ b.astype(np.float64)

    rows, t = m.run("gemm", reference=right, tensors=True, **SMALL)
    want = m.run("gemm", verify=True, **SMALL)
    assert rows.verify[0] == "pass" and rows.max_abs_err[0] == want.max_abs_err[0]
    with pytest.raises(kernbench.Different, match=r"c\[0, 0\] is .*, not .*; 4096 of 4096") as caught:
        m.run("gemm", reference=lambda a, b: right(a, b) + 1, **SMALL)
    assert caught.value.rows.verify[0] == "fail" and caught.value.code == 1
    with pytest.raises(kernbench.BadArgument, match="has the shape"):
        m.run("gemm", reference=lambda a, b: a[:3], **SMALL)
    with pytest.raises(ZeroDivisionError):
        m.run("gemm", reference=lambda a, b: 1 / 0, **SMALL)


# -- threads, Ctrl-C ------------------------------------------------------------------------------


def test_threads_have_the_same_rows(m):
    want = m.load("uniform", 0.05, txns=2000, jobs=1)
    found = [None] * 8

    def work(i):
        found[i] = m.load("uniform", 0.05, txns=2000, jobs=1)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for rows in found:
        pd.testing.assert_frame_equal(rows, want)


def test_threads_read_their_own_options(m):
    """Many short command lines of different words at a time: each is read by itself."""
    failed = []

    def work(i):
        try:
            for _ in range(150):
                rows = m.load("local", f"0.{i + 1}", bytes=64 << i, txns=10, seeds=1, jobs=1, quiet=True)
                assert (rows.nbytes[0], float(rows.rate[0])) == (64 << i, (i + 1) / 10)
        except Exception as error:  # which would be lost with its thread
            failed.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_python_goes_on_meanwhile(m):
    """The interpreter's lock is free: this thread counts while the other one simulates."""
    done = threading.Event()
    thread = threading.Thread(target=lambda: (m.load("uniform", 0.1, txns=100_000, seeds=1), done.set()))
    thread.start()
    turns = 0
    while not done.is_set():
        time.sleep(0.001)
        turns += 1
    thread.join()
    assert turns > 10


def test_messages_of_threads_stay_apart(m):
    failures = []

    def work(i):
        try:
            m.route(f"c0.pe{90 + i}", "c0.slice0")
        except kernbench.BadArgument as e:
            failures.append(str(e) == f"c0.pe{90 + i}: a cube has PEs 0..7")

    threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == [True] * 16


LONG = """
import kernbench, time
m = kernbench.Machine("cube8")
print("begun", flush=True)
begin = time.monotonic()
try:
    {}
except KeyboardInterrupt:
    print("interrupted")
print(len(m.probe()))
"""


@pytest.mark.parametrize("call", ["m.load('uniform', 0.05, txns=10**9)", "m.run('gemm', M=8192, N=8192, K=8192, verify=True)"])
def test_ctrl_c(call):
    ran = subprocess.Popen([sys.executable, "-c", LONG.format(call)], stdout=subprocess.PIPE, text=True,
                           preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # & of a shell ignores it
    assert ran.stdout.readline() == "begun\n"
    time.sleep(0.7)
    ran.send_signal(signal.SIGINT)
    begin = time.monotonic()
    assert ran.communicate(timeout=60)[0] == "interrupted\n17\n"
    assert time.monotonic() - begin < 20  # a second, on a machine that is not busy
    assert ran.returncode == 0


# -- notes, progress ------------------------------------------------------------------------------


def test_notes_are_warnings(m):
    with pytest.warns(kernbench.Note):
        rows = m.load("uniform", [0.02, 0.4], txns=2000)
    assert "saturation" in " ".join(rows.attrs["notes"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        m.load("uniform", [0.02, 0.4], txns=2000, quiet=True)


def test_progress(m, monkeypatch):
    from kernbench import _query
    seen = []

    class Bar:
        def __init__(self, **options):
            seen.append(options["unit"])

        def refresh(self):
            seen.append((self.n, self.total))

        def close(self):
            seen.append("closed")

    tqdm = type(sys)("tqdm.auto")
    tqdm.tqdm = Bar
    monkeypatch.setitem(sys.modules, "tqdm", type(sys)("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", tqdm)
    monkeypatch.setattr(_query, "SHOWN_AFTER_S", 0)
    monkeypatch.setattr(_query, "WAIT_MS", 1)
    kernbench.progress(True)
    try:
        m.load("uniform", 0.1, txns=100_000)
    finally:
        kernbench.progress(None)
    assert seen[0] == " transactions" and seen[-1] == "closed"
    assert seen[1][1] == 300_000 and 0 <= seen[1][0] <= 300_000


# -- the package ----------------------------------------------------------------------------------


def test_without_pandas():
    ran = python("import sys; sys.modules['pandas'] = None\n"
                 "import kernbench\n"
                 "m = kernbench.Machine('cube8')\n"
                 "rows = m.probe()\n"
                 "print(type(rows).__name__, rows.actual_ns[0], rows['case'][0], len(rows))\n"
                 "rows = m.replay({'issue_ns': [0, 1], 'op': ['read'] * 2, 'src': ['c0.pe0'] * 2,"
                 " 'dst': ['c0.slice0'] * 2, 'nbytes': [64, 64]})\n"
                 "print(rows.end_ns.tolist(), m.route('c0.pe0', 'c0.slice0').edge_gbs[0])\n")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("recarray 18.085 pe-local-hbm 17\n[2.335, 4.67] nan")


def test_a_machine_can_be_sent(m):
    assert pickle.loads(pickle.dumps(m)).hash == m.hash
    assert m.name == "cube8" and m.hash in repr(m) and kernbench.Machine.from_yaml(m.config).hash == m.hash


def test_help_reads_well():
    ran = python("import kernbench; help(kernbench); help(kernbench.Machine.load)")
    assert "Ctrl-C ends any call" in ran.stdout and "rate" in ran.stdout and "ns" in ran.stdout
    for name in kernbench.__all__:
        assert getattr(kernbench, name).__doc__, name
    for name in dir(kernbench.Machine):
        if not name.startswith("_"):
            assert getattr(kernbench.Machine, name).__doc__, name


def test_reports_and_pictures(m):
    assert m.report("probe").startswith("<!doctype html>")
    assert "<svg" in m.view("cube") and m.view("cube")._repr_svg_() == m.view("cube")


def test_no_compiler_is_needed():
    """What is installed runs without one, and without the source tree."""
    ran = python("import kernbench; print(len(kernbench.Machine('cube8').run('gemm', M=64, N=64, K=64)))",
                 PATH="/nonexistent", CC="/nonexistent")
    assert ran.stdout == "1\n", ran.stderr
    folder = Path(kernbench.__file__).parent
    assert "cp38-abi3-manylinux" in importlib.metadata.distribution("kernbench").read_text("WHEEL")
    assert (folder / "libkernbench.so.0").exists() and (folder / "include/tl.h").exists()
    needed = subprocess.run(["ldd", next(folder.glob("_native*.so"))], capture_output=True, text=True).stdout
    assert f"{folder}/libkernbench.so.0" in needed and "not found" not in needed


def test_structs_are_read_from_the_headers():
    """cffi's sizes are the compiler's: of all structs of kernbench.h and tl.h that have fields."""
    from kernbench._native import ffi
    names = [name for name in ffi.list_types()[0] if name.startswith(("kb_", "tl_"))]
    known = []
    for name in names:
        try:
            known.append((name, ffi.sizeof(name)))
        except ffi.error:
            pass
    assert len(known) > 60
    lines = "".join(f'printf("%zu\\n", sizeof({name}));' for name, _ in known)
    folder = Path(kernbench.__file__).parent / "include"
    query = [name for name, _ in known if name.startswith(("kb_query", "kb_frame", "kb_cell", "kb_llm"))]
    known = [pair for pair in known if pair[0] not in query]
    lines = "".join(f'printf("%zu\\n", sizeof({name}));' for name, _ in known)
    source = f'#include "tl.h"\n#include <stdio.h>\nint main(void) {{ {lines} return 0; }}'
    program = B / "_python/sizes"
    subprocess.run(["gcc", f"-I{folder}", "-x", "c", "-", "-o", program], input=source, text=True, check=True)
    sizes = subprocess.run([program], capture_output=True, text=True).stdout.split()
    assert [str(size) for _, size in known] == sizes
