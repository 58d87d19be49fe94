"""test_bad_input.py -- one clear exception for each mistake, with its place."""
import numpy as np
import pandas as pd
import pytest

import kernbench

GOOD = {"issue_ns": [0.0, 5.0], "op": ["read", "write"], "src": ["c0.pe0", "c0.pe1"],
        "dst": ["c0.slice0", "c1.sram"], "offset": [0, 64], "nbytes": [4096, 64]}


def refused(call, kind=kernbench.BadInput, code=3):
    with pytest.raises(kind) as caught:
        call()
    assert caught.value.code == code
    assert isinstance(caught.value, kernbench.Error)
    return caught.value


# -- transactions ---------------------------------------------------------------------------------

# column, its value, the text, row, column
ROWS = [
    ("op", ["raed", "write"], "unknown op 'raed', did you mean 'read'?", 0, "op"),
    ("src", ["c0.pe0", "c0.pe99"], "c0.pe99: a cube has PEs 0..7", 1, "src"),
    ("src", ["c0.pe0", "host"], "host: the src of write is a PE", 1, "src"),
    ("dst", ["c0.slice0", None], "None is empty", 1, "dst"),
    ("dst", ["c0.slice0", "c0.pe0"], "the dst of write is a slice or an SRAM", 1, "dst"),
    ("dst", ["c0.slice0", "0xffffffffffffffff"], "is not the address of any byte", 1, "dst"),
    ("dst", ["c0.slice0", "c0.sl\nice"], "has signs that no name has", 1, "dst"),
    ("src", [1, 2], "its dtype is int64: it has texts", None, "src"),
    ("issue_ns", [0, float("nan")], "nan is not a time", 1, "issue_ns"),
    ("issue_ns", [0, float("inf")], "inf is not a time", 1, "issue_ns"),
    ("issue_ns", [-1, 0], "-1 is not a time", 0, "issue_ns"),
    ("issue_ns", [0, 1e13], "is not a time", 1, "issue_ns"),
    ("issue_ns", ["0", "5"], "its dtype is object: times are numbers, in ns", None, "issue_ns"),
    ("nbytes", [1, -1], "-1 is not a size", 1, "nbytes"),
    ("nbytes", [1, 1.5], "1.5 is not a size", 1, "nbytes"),
    ("nbytes", [1, float("nan")], "nan is not a size", 1, "nbytes"),
    ("nbytes", ["4K", "4X"], "'4X' is not a size", 1, "nbytes"),
    ("nbytes", [4096, 0], "nbytes '0' is not a size above 0", 1, "nbytes"),
    ("nbytes", [True, False], "its dtype is bool", None, "nbytes"),
    ("nbytes", [1 << 40, 1], "offset + nbytes is past the end of c0.slice0", 0, "nbytes"),
    ("offset", [1 << 40, 1], "offset + nbytes is past the end of c0.slice0", 0, "offset"),
    ("after", ["1", "0"], "transactions wait for each other", 0, "after"),
    ("after", [None, "7"], "after '7' is the id of no row: the last one's is 1", 1, "after"),
    ("after", ["x", None], "after 'x' is not the id of a row", 0, "after"),
    ("think_ns", [0.0, 1.0], "think_ns without after", 1, "think_ns"),
    ("think_ns", [-1.0, 1.0], "-1.0 is not a time", 0, "think_ns"),
    ("plane", ["noc0", None], "needs a topology with sip.plane: column", 0, "plane"),
    ("nbyte", [1, 1], "unknown column, did you mean 'nbytes'?", None, "nbyte"),
    ("zzz", [1, 1], "unknown column: it is one of issue_ns, op, src", None, "zzz"),
]


@pytest.mark.parametrize("name, values, text, row, column", ROWS)
def test_a_mistake_in_a_column(m, name, values, text, row, column):
    error = refused(lambda: m.replay(pd.DataFrame(GOOD).assign(**{name: values})))
    assert text in error.messages[0]
    assert (error.line, error.column) == (row, column)
    assert len(error.messages) == 1


def test_a_column_that_is_missing(m):
    error = refused(lambda: m.replay(pd.DataFrame(GOOD).drop(columns="src")))
    assert "column 'src': it is missing" in str(error) and error.column == "src"


def test_columns_that_do_not_fit_together(m):
    frame = pd.DataFrame(GOOD)
    refused(lambda: m.replay(frame.iloc[:0]))
    assert "there twice" in str(refused(lambda: m.replay(pd.concat([frame, frame[["op"]]], axis=1))))
    assert "it has 1 rows" in str(refused(lambda: m.replay({**GOOD, "op": ["read"]})))
    assert "2 dimensions" in str(refused(lambda: m.replay({**GOOD, "nbytes": np.ones((2, 1), int)})))
    with pytest.raises(TypeError, match="not int"):
        m.replay(3)


def test_all_mistakes_of_rows_come_at_once(m):
    frame = pd.DataFrame({name: values * 15 for name, values in GOOD.items()})
    error = refused(lambda: m.replay(frame.assign(op="raed")))
    assert len(error.messages) == 21 and error.messages[-1].endswith("more bad rows follow")


def test_odd_arrays_that_are_right(m):
    """Arrays that are not contiguous, categories, other widths: all give the same rows."""
    want = m.replay(GOOD)
    frame = pd.DataFrame(GOOD)
    wide = {name: np.repeat(np.array(values), 3)[::3] for name, values in GOOD.items()}
    assert not wide["nbytes"].flags.c_contiguous
    backwards = {name: np.array(values)[::-1][::-1] for name, values in GOOD.items()}
    objects = {name: np.repeat(np.array(values, object), 2)[::2] for name, values in GOOD.items()
               if name not in ("issue_ns",)}
    others = [wide, backwards, {**GOOD, **objects}, frame.astype({"op": "category", "dst": "category"}),
              frame.astype({"nbytes": "int16", "issue_ns": "float32", "offset": "uint8"}),
              frame.astype({"nbytes": "Int64", "issue_ns": "int8", "op": "string"}),
              frame.drop(columns="offset").assign(offset=[np.nan, 64]), frame.to_records(index=False),
              frame[list(reversed(frame.columns))]]
    for other in others:
        pd.testing.assert_frame_equal(m.replay(other), want)
    pd.testing.assert_frame_equal(m.replay(frame.set_index(pd.Index([7, 7]))), want.set_index(pd.Index([7, 7])))


def test_a_big_endian_column(m):
    swapped = {**GOOD, "issue_ns": np.array(GOOD["issue_ns"], ">f8"), "nbytes": np.array(GOOD["nbytes"], ">i4")}
    pd.testing.assert_frame_equal(m.replay(swapped), m.replay(GOOD))


# -- machines -------------------------------------------------------------------------------------

MACHINE = {"kernbench": 2, "name": "mine", "sip": {"cube_mesh": {"w": 2, "h": 1}}}


def test_a_dict_is_a_machine(tmp_path):
    (tmp_path / "mine.yaml").write_text("kernbench: 2\nname: mine\nsip: {cube_mesh: {w: 2, h: 1}}\n")
    assert kernbench.Machine(MACHINE).hash == kernbench.Machine(tmp_path / "mine.yaml").hash
    numbers = {**MACHINE, "cube": {"size_mm": np.array([15.0, 11.0]), "pes": np.int64(4)},
               "missing": ["c1.pe[2-3]"], "contention": {"links": "ideal"}}
    assert kernbench.Machine(numbers).info().set_index("name").value["pes"] == 6


def test_an_unknown_key_of_a_dict():
    error = refused(lambda: kernbench.Machine({**MACHINE, "cube": {"hbm": {"bw_gbz": 3}}}))
    assert str(error) == "unknown key 'bw_gbz' in 'cube.hbm', did you mean 'bw_gbs'?"
    assert error.key == "cube.hbm.bw_gbz" and error.line is None


def test_all_mistakes_of_a_dict_come_at_once():
    error = refused(lambda: kernbench.Machine({**MACHINE, "cube": {"hbm": {"bw_gbs": "x"}, "pes": -1}}))
    assert len(error.messages) == 2 and error.key == "cube.hbm.bw_gbs"


def test_values_that_no_yaml_has():
    for value in ({1, 2}, object(), float("nan")):
        refused(lambda value=value: kernbench.Machine({**MACHINE, "sips": value}))


def test_a_mistake_in_a_file(tmp_path):
    (tmp_path / "t.yaml").write_text("kernbench: 2\nname: t\nsip: {cube_mesh: {w: 2, h: 1}}\ncube:\n"
                                     "  hbm: {bw_gbz: 3}\n")
    error = refused(lambda: kernbench.Machine(tmp_path / "t.yaml"))
    assert (error.file, error.line, error.column) == (str(tmp_path / "t.yaml"), 5, 9)
    assert "did you mean 'bw_gbs'?" in str(error)


def test_files_that_are_not_there(m):
    assert "cube16_mesh, cube8, dgxh100" in str(refused(lambda: kernbench.Machine("cube9")))
    assert refused(lambda: kernbench.Machine("no/such.yaml")).file == "no/such.yaml"
    assert "cannot read no.csv" in str(refused(lambda: m.replay("no.csv")))


def test_keys_of_a_machine():
    error = refused(lambda: kernbench.Machine("cube8", **{"cube.hbm.bw_gbz": 1}), kernbench.BadArgument, 2)
    assert "did you mean 'cube.hbm.bw_gbs'?" in str(error)
    with pytest.raises(TypeError):
        kernbench.Machine(3)


# -- arguments ------------------------------------------------------------------------------------

ARGUMENTS = [
    (lambda m: m.run("gemn"), "unknown bench 'gemn', did you mean 'gemm'?"),
    (lambda m: m.run("gemm", MM=3), "MM"),
    (lambda m: m.run("gemm", M=0), "M"),
    (lambda m: m.run("gemm", verify="x"), "verify"),
    (lambda m: m.load("uniform", "x"), "rate: 'x' is not"),
    (lambda m: m.load("unifrom", 0.1), "did you mean 'uniform'?"),
    (lambda m: m.probe(case="x"), "unknown case 'x'"),
    (lambda m: m.probe(bytes=0), "bytes '0'"),
    (lambda m: m.probe(rate=1), "rate"),
    (lambda m: m.probe(casee=1), "unknown option 'casee', did you mean 'case'?"),
    (lambda m: m.route("c0.pe99", "c0.slice0"), "c0.pe99: a cube has PEs 0..7"),
    (lambda m: m.sweep("c0.pe0", "c9.slice0"), "c9"),
    (lambda m: m.why("gemm", by="keys"), "by"),
    (lambda m: m.why("load", pattern="uniform", rate=[0.1, 0.2]), "one rate"),
    (lambda m: m.why("llm", by="key"), "needs a model"),
    (lambda m: m.why("llm", model="llama-3.2-1b"), "needs by key"),
    (lambda m: kernbench.vary(m, {"cube.hbm.bw_gbz": [1]}).probe(), "did you mean 'cube.hbm.bw_gbs'?"),
]


@pytest.mark.parametrize("call, text", ARGUMENTS, ids=[text for _, text in ARGUMENTS])
def test_a_wrong_argument(m, call, text):
    assert text in str(refused(lambda: call(m), kernbench.BadArgument, 2))


def test_machines_of_a_variation_that_cannot_be(m):
    error = refused(lambda: kernbench.vary(m, {"cube.pes": [4, 999]}).probe(), kernbench.BadArgument, 2)
    assert set(error.rows["cube.pes"]) == {4}
    assert "cube.pes=999" in str(error)
