"""test_newcomer.py -- what one tries first, and what one gets wrong: values of other types, and clear words."""
import os
import re
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import kernbench
from conftest import PROGRAM, ROOT, command, same_rows
from test_bad_input import GOOD, refused

SMALL = {"M": 64, "N": 64, "K": 64}


def python_matmul(a, b):
    return a.astype(float) @ b


# -- transactions of other kinds ------------------------------------------------------------------

SAME = [
    {"issue_ns": [Decimal(0), 5]}, {"issue_ns": [0, np.float32(5)]}, {"nbytes": ["4K", 64]},
    {"nbytes": [np.uint8(64), 4096][::-1]}, {"offset": [None, 64]},
]
AFTER = [[None, 0], [None, [0]], [[], [0]], [(), (np.int64(0),)], [None, Decimal(0)], ["", "0"], [np.nan, 0.0],
         pd.array([pd.NA, 0], dtype="Int64"), [None, np.array([0])]]


@pytest.mark.parametrize("change", SAME, ids=[str(change) for change in SAME])
def test_columns_of_other_types(m, change):
    want = m.replay(GOOD)
    for data in ({**GOOD, **change}, pd.DataFrame({**GOOD, **change})):
        pd.testing.assert_frame_equal(m.replay(data), want)


@pytest.mark.parametrize("after", AFTER, ids=[str(after) for after in AFTER])
def test_ways_to_say_after(m, after):
    want = m.replay({**GOOD, "after": ["", "0"]})
    for data in ({**GOOD, "after": after}, pd.DataFrame({**GOOD, "after": after})):
        pd.testing.assert_frame_equal(m.replay(data), want)


def test_lists_of_rows_before_many(m):
    """More different cells than are numbered by their objects."""
    n = 70_000
    rows = m.replay({"issue_ns": np.zeros(n), "op": ["read"] * n, "src": ["c0.pe0"] * n, "dst": ["c0.slice0"] * n,
                     "nbytes": np.full(n, 64), "after": [[]] + [[i] for i in range(n - 1)]})
    assert len(rows) == n and rows.end_ns.is_monotonic_increasing


WRONG = [
    ("issue_ns", [0, None], "nan is not a time", 1),
    ("issue_ns", [0, 10**30], "1e+30 is not a time: 0 to 9000000000000 ns", 1),
    ("issue_ns", [0, 9223372036854.7758], "is not a time: 0 to 9000000000000 ns", 1),
    ("issue_ns", np.ma.array([0.0, 5.0], mask=[0, 1]), "nan is not a time", 1),
    ("op", np.ma.array(["read", "write"], mask=[0, 1]), "None is empty", 1),
    ("op", [["read"], "write"], "['read'] is no text", 0),
    ("op", ["read", "\ud800"], "has signs that no name has", 1),
    ("nbytes", [4096, 10**30], "is not a size", 1),
    ("nbytes", ["4096", "99999999999999999999G"], "is not a size", 1),
    ("nbytes", 64, "64 is one value: a column has one for each row", None),
    ("src", "c0.pe0", "'c0.pe0' is one value", None),
    ("after", [None, 0.5], "0.5 is no row: a number, a list of them, or a text as '3|7'", 1),
    ("after", [None, ["x"]], "['x'] is no row", 1),
    ("after", [None, {0}], "{0} is no row", 1),
]


@pytest.mark.parametrize("name, values, text, row", WRONG, ids=[f"{name} {text}" for name, _, text, _ in WRONG])
def test_a_column_that_is_wrong(m, name, values, text, row):
    error = refused(lambda: m.replay({**GOOD, name: values}))
    assert text in str(error) and (error.line, error.column) == (row, name)


# -- machines and their variants ------------------------------------------------------------------


def test_values_of_numpy_and_pandas(m):
    want = kernbench.vary(m, {"cube.hbm.bw_gbs": [128, 256]}).probe(case="pe-local-hbm")
    for values in (np.array([128, 256]), pd.Series([128, 256]), (np.int64(128), 256), range(128, 257, 128)):
        found = kernbench.vary(m, {"cube.hbm.bw_gbs": values}).probe(case="pe-local-hbm")
        pd.testing.assert_frame_equal(found, want)


def test_values_that_are_lists(m):
    """A list of lists is as the command line has it: [8,8,8],[16,16,16]."""
    key = "cube.pe.pe_gemm.mac"
    for values in ([[8, 8, 8], [16, 16, 16]], [(8, 8, 8), (16, 16, 16)], np.array([[8, 8, 8], [16, 16, 16]]), "[8,8,8],[16,16,16]"):
        rows = kernbench.vary(m, {key: values}).run("gemm", **SMALL)
        assert list(rows[key]) == ["[8,8,8]", "[16,16,16]"]
        assert list(rows.kernel_ns) == [m.set({key: value}).run("gemm", **SMALL).kernel_ns[0] for value in ([8, 8, 8], [16, 16, 16])]


def test_keys_have_types_of_their_own(m):
    """Integers stay integers beside a key with fractions."""
    for keys in ({"sips": [1, 2], "cube.hbm.bw_gbs": [128, 256.5]}, {"cube.hbm.bw_gbs": [128, 256.5], "sips": [1, 2]}):
        rows = kernbench.vary(m, keys).probe(case="pe-local-hbm")
        assert (rows.sips.dtype, rows["cube.hbm.bw_gbs"].dtype) == (np.int64, np.float64) and set(rows.sips) == {1, 2}


def test_options_that_may_be_repeated(m):
    rows = m.probe(case="pe-local-hbm", set=["cube.hbm.bw_gbs=128", "sips=2"], fail_if=["actual_ns>40", "case!=pe-local-hbm"])
    assert rows.actual_ns[0] == 34.085
    with pytest.raises(kernbench.Different, match="fail_if: actual_ns is 18.085"):
        m.probe(case="pe-local-hbm", fail_if=["case!=pe-local-hbm", "actual_ns>18"])


def test_the_origin_is_of_the_machine_that_ran(m):
    """Also where an option made it another one."""
    rows = m.probe(case="pe-local-hbm", set="cube.hbm.bw_gbs=128")
    other = m.set({"cube.hbm.bw_gbs": 128})
    assert (rows.attrs["origin"]["hash"], rows.attrs["origin"]["config"]) == (other.hash, other.config)
    assert rows.attrs["provenance"].split()[:2] == other.probe(case="pe-local-hbm").attrs["provenance"].split()[:2]
    other = kernbench.Machine("wormhole")
    assert m.probe(machine=ROOT / "topologies/wormhole.yaml").attrs["origin"]["hash"] == other.hash
    with pytest.raises(kernbench.BadArgument, match="bw_gbz"):
        m.probe(set="cube.hbm.bw_gbz=128")


def test_variants_of_what_is_no_machine(m):
    with pytest.raises(TypeError, match="takes a Machine and a dict"):
        kernbench.vary("cube8", {"cube.hbm.bw_gbs": [1]})
    with pytest.raises(TypeError, match="not Machine and list"):
        kernbench.vary(m, ["cube.hbm.bw_gbs"])


def test_tensors_are_of_one_machine(m):
    """They are of a machine that would be gone; this once ended the process."""
    variants = kernbench.vary(m, {"cube.hbm.bw_gbs": [128, 256]})
    for name, value in (("tensors", True), ("reference", python_matmul)):
        error = refused(lambda: variants.run("gemm", **{name: value}, **SMALL), kernbench.BadArgument, 2)
        assert str(error) == f"{name} is of one machine: ask each by Machine.run()"
    for name in ("report", "view"):  # which were of the machine that is varied
        error = refused(lambda: getattr(variants, name)("cube" if name == "view" else "probe"), kernbench.BadArgument, 2)
        assert str(error) == f"{name} is of one machine: ask each by Machine.{name}()"
    _, t = m.run("gemm", tensors=True, set="cube.hbm.bw_gbs=128", **SMALL)
    assert t["c"].shape == (64, 64)
    with pytest.raises(kernbench.BadArgument, match="tensors is of one machine"):
        m.run("gemm", tensors=True, vary="cube.hbm.bw_gbs=128,256", **SMALL)


KEYS = [({"cube.hbm.bw_gbs": float("nan")}, "cube.hbm.bw_gbs: nan is no number"),
        ({"cube.hbm.bw_gbs": {1}}, "cube.hbm.bw_gbs: {1} is no number"),
        ({"cube.hbm.bw_gbs": None}, "cube.hbm.bw_gbs=null: "), ({"cube.hbm.bw_gbz": 1}, "cube.hbm.bw_gbz=1: ")]


@pytest.mark.parametrize("keys, text", KEYS, ids=[text for _, text in KEYS])
def test_a_key_with_an_odd_value(m, keys, text):
    for call in (lambda: kernbench.Machine("cube8", **keys), lambda: m.set(keys)):
        error = refused(call, kernbench.BadArgument, 2)
        assert str(error).startswith(text) and error.key == list(keys)[0]


def test_a_machine_of_nothing():
    assert "the dict has no keys" in str(refused(lambda: kernbench.Machine({})))
    for source in (None, [1], 3):
        with pytest.raises(TypeError, match="a machine is the name of a file"):
            kernbench.Machine(source)
    error = refused(lambda: kernbench.Machine({"kernbench": 2, "name": "x", "a\nb": {"c: d": 1}}))
    assert "unknown key" in str(error) and error.key == "a\nb"


# -- commands -------------------------------------------------------------------------------------


def test_options_of_run_are_those_of_the_command_line():
    from kernbench._arguments import option_names
    text = subprocess.run([PROGRAM, "run", "--help"], capture_output=True, text=True, check=True).stdout
    options = {name.replace("-", "_") for name in re.findall(r"^ *(?:-\w, )?--([a-z][a-z0-9-]*)", text, flags=re.M)}
    assert options == option_names() - {"until_ns", "all_pairs", "inputs"}


def test_arguments_of_a_bench_that_are_called_as_options_of_others(m):
    same_rows(m.run("all_reduce", op="max", count=64, verify=True),
              *command("run", "all_reduce", "op=max", "count=64", "--verify"))
    assert len(m.why("all_reduce", op="max", count=64)) > 3


def test_a_budget(m):
    with pytest.raises(kernbench.Different, match="failed by fail_if: kernel_ns is ") as caught:
        m.run("gemm", fail_if="kernel_ns>10", **SMALL)
    assert len(caught.value.rows) == 1
    assert len(m.run("gemm", fail_if="kernel_ns>1000", **SMALL)) == 1


def test_reports_of_what_the_methods_take(m):
    assert "c1.sram" in m.report("replay", pd.DataFrame(GOOD))
    assert m.report("run", "gemm", **SMALL) == m.report("run", "gemm", "M=64", "N=64", "K=64")


def test_words_that_no_command_line_has(m):
    for word in ("gemm\0x", "gem\ud800"):
        assert "signs that no name has" in str(refused(lambda word=word: m.run(word), kernbench.BadArgument, 2))


def test_a_source_in_place_of_an_object(m):
    error = refused(lambda: m.run("examples/moe.c"), kernbench.BadArgument, 2)
    assert "kernbench cc" in str(error) and "kernbench.compile()" in str(error)


REFERENCES = [
    (lambda a, b: None, "the reference of c is no array of numbers: NoneType"),
    (lambda a, b: "abc", "the reference of c is no array of numbers: str"),
    (lambda a, b: {"y": a}, "the reference returns no 'c': the outputs are c"),
    (lambda a, b: 3.0, "the reference of c has the shape (), not (64, 64)"),
]


@pytest.mark.parametrize("reference, text", REFERENCES, ids=[text for _, text in REFERENCES])
def test_a_reference_that_returns_no_array(m, reference, text):
    assert text in str(refused(lambda: m.run("gemm", reference=reference, **SMALL), kernbench.BadArgument, 2))


def test_parts_of_no_pe(m):
    _, t = m.run("gemm", tensors=True, **SMALL)
    for call in (t.part, t.where):
        for pe in (-1, 64):
            assert f"no part on PE {pe}: PEs are 0..63" in str(refused(lambda: call("c", pe), kernbench.BadArgument, 2))


# -- benches of one's own -------------------------------------------------------------------------


def test_a_header_that_changes(m, tmp_path, monkeypatch):
    """What was compiled is of the text and of the headers beside it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    text = (ROOT / "examples/moe.c").read_text().replace("#include <tl.h>", '#include "mine.h"')
    (tmp_path / "moe.c").write_text(text.replace('.name = "moe"', ".name = NAME"))
    objects = {}
    for name in ("one", "two"):
        (tmp_path / "mine.h").write_text(f'#include <tl.h>\n#define NAME "{name}"\n')
        objects[name] = kernbench.compile(tmp_path / "moe.c")
        assert m.run(objects[name], tokens=64).bench[0] == name
    monkeypatch.setenv("CC", "/no/compiler")
    with pytest.raises(kernbench.Error, match="cannot run the compiler"):
        kernbench.compile(tmp_path / "moe.c")
    monkeypatch.delenv("CC")
    assert kernbench.compile(tmp_path / "moe.c") == objects["two"]


def test_a_source_that_is_no_utf8(m, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "moe.c").write_bytes(b"// caf\xe9\n" + (ROOT / "examples/moe.c").read_bytes())
    assert len(m.run(kernbench.compile(tmp_path / "moe.c"), tokens=64)) == 1
    refused(lambda: kernbench.compile("/bin/true"))


CRASHES = r"""
#include <stdlib.h>
#include "tl.h"
static void none(tl_ctx *tl, const kb_args *args) { (void)tl, (void)args; }
static void setup(kb_bench_run *run) { abort(); kb_bench_launch(run, "none", none, NULL, 0); }
static const kb_bench bench_none = {.name = "none", .summary = "crashes", .setup = setup};
KB_BENCHES(&bench_none);
"""


def test_a_setup_that_crashes(tmp_path):
    """It does not end Python."""
    code = ("import kernbench\n"
            "m = kernbench.Machine('cube8')\n"
            "try:\n"
            f"    m.run(kernbench.compile({CRASHES!r}))\n"
            "except kernbench.KernelError as e:\n"
            "    print(e, len(m.probe()))\n")
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                         env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)})
    assert ran.stdout == "setup() of bench none: crashed by abort() (SIGABRT) 17\n", ran
