"""test_data.py -- results as data: the dictionary, origins, frames of one run, JSON Lines, Arrow."""
import ctypes
import gc
import json
import re
import sqlite3
import subprocess

import numpy as np
import pandas as pd
import pytest

import kernbench
from conftest import B, ROOT, command

CUBE8 = ["--machine", str(ROOT / "topologies/cube8.yaml")]
SMALL = {"M": 64, "N": 64, "K": 64}


def ran(*words):
    return subprocess.run([B / "kernbench", *map(str, words)], capture_output=True, text=True, check=True).stdout


# -- the dictionary -------------------------------------------------------------------------------


def tables(tmp_path, m):
    """A frame of each command, and what --stats writes."""
    df = {"issue_ns": [0, 1], "op": ["read", "h2d"], "src": ["c0.pe0", "host"], "dst": ["c0.slice0"] * 2, "nbytes": [64, 64]}
    return {"probe": m.probe(), "route": m.route("c0.pe0", "c1.slice0"), "replay": m.replay(df),
            "sweep": m.sweep("c0.pe0", "c0.slice0"), "load": m.load("uniform", 0.05, txns=500, quiet=True),
            "run": m.run("gemm", **SMALL), "why": m.why("gemm", **SMALL), "key": m.why("gemm", by="key", **SMALL),
            "causes": m.breakdown(df), "list": kernbench.benches(), "keys": m.keys(), "columns": kernbench.columns(),
            "info": m.info(), "races": m.race("all_reduce", count=64), "inspect": m.inspect("gemm", **SMALL),
            "stats": m.result("gemm", **SMALL).stats}


def test_every_column_is_in_the_dictionary(tmp_path, m):
    """With the type that its cells have, and the unit that its name has."""
    known = kernbench.columns().set_index("name")
    units = {"ns": "ns", "gbs": "GB/s", "pct": "per cent", "bytes": "bytes"}
    for name, unit in known.unit.items():
        assert units.get(name.rsplit("_")[-1], unit or "") == (unit or ""), name
    for command_name, frame in tables(tmp_path, m).items():
        for name in frame.columns:
            assert name in known.index, f"{command_name}: {name} is not in columns.def"
            kind, dtype = known.type[name], frame[name].dtype
            cells = frame[name].dropna()
            if kind == "text":
                assert all(isinstance(cell, str) for cell in cells), (command_name, name)
            elif kind in ("integer", "number"):
                assert all(isinstance(cell, (int, float, np.number)) for cell in cells), (command_name, name, dtype)


def test_frames_say_what_their_columns_are(m):
    rows = m.probe()
    assert rows.attrs["columns"]["actual_ns"] == {"unit": "ns", "group": "times", "meaning": "latency: from issue to end"}
    assert set(rows.attrs["columns"]) == set(rows.columns)


def test_databases_say_what_their_columns_are(tmp_path, m):
    ran("probe", *CUBE8, "--sqlite", tmp_path / "a.db")
    with sqlite3.connect(tmp_path / "a.db") as db:
        found = dict(db.execute("SELECT name, unit FROM columns"))
        assert found["actual_ns"] == "ns" and set(found) == set(m.probe().columns)
        db.execute("DROP TABLE columns")  # as an earlier release wrote it
    ran("route", "c0.pe0", "c0.slice0", *CUBE8), ran("probe", *CUBE8, "--sqlite", tmp_path / "a.db")
    assert sqlite3.connect(tmp_path / "a.db").execute("SELECT count(*) FROM columns").fetchone()[0] > 5


def check(value, schema, path="$"):
    """As much of JSON Schema as describe schema uses."""
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "null": type(None)}
    wanted = schema.get("type", [])
    wanted = [wanted] if isinstance(wanted, str) else wanted
    assert not wanted or isinstance(value, tuple(k for w in wanted for k in np.atleast_1d(np.array(kinds[w], object)))), (path, value)
    if "pattern" in schema:
        assert re.search(schema["pattern"], value), (path, value)
    for name in schema.get("required", []):
        assert name in value, (path, name)
    if isinstance(value, dict) and "properties" in schema:
        for name, inner in value.items():
            known = name in schema["properties"] or any(re.search(p, name) for p in schema.get("patternProperties", {}))
            assert known or schema.get("additionalProperties", True), (path, name)
            check(inner, schema["properties"].get(name, {}), f"{path}.{name}")
    for i, item in enumerate(value if isinstance(value, list) else []):
        check(item, schema.get("items", {}), f"{path}[{i}]")


@pytest.mark.parametrize("words", [["probe"], ["run", "gemm", "M=64", "--vary", "sips=1,2"], ["why", "gemm", "M=64"], ["info"],
                                   ["run", "gemm", "M=64", "--breakdown"], ["load", "--pattern=uniform", "--rate=0.1", "--txns=500"],
                                   ["llm", "llama-3.2-1b", "--decode=64", "--tries=1"]])
def test_json_keeps_its_schema(words):
    schema = json.loads(ran("describe", "schema"))
    result = json.loads(ran(*words, *CUBE8, "--format", "json", "--quiet"))
    check(result, schema)
    result["rows"][0]["surprise"] = 1
    with pytest.raises(AssertionError):
        check(result, schema)


def test_the_document_is_the_dictionary():
    """docs/columns.md has the rows of describe columns."""
    text = (ROOT / "docs/columns.md").read_text()
    assert ran("describe", "columns", "--format", "md") in text


def test_keys_have_ranges(m):
    keys = m.keys().set_index("name")
    assert (keys.value["cube.hbm.bw_gbs"], keys.least["cube.hbm.bw_gbs"], keys.most["cube.hbm.bw_gbs"]) == ("256.0", 0.01, 1e6)
    assert keys.words["contention.links"].split("|") == ["ideal", "fifo", "router"]
    assert m.set({"cube.hbm.bw_gbs": keys.most["cube.hbm.bw_gbs"]}).keys().set_index("name").value["cube.hbm.bw_gbs"] == "1000000.0"
    with pytest.raises(kernbench.BadArgument):
        m.set({"cube.hbm.bw_gbs": 1e6 + 1})


# -- origins --------------------------------------------------------------------------------------


def test_origins(tmp_path, m):
    """A frame and --origin say the same: machine, version, command, seed."""
    rows = m.run("gemm", seed=3, **SMALL)
    ran("run", "gemm", "M=64", "N=64", "K=64", "--seed=3", *CUBE8, "--format=csv", "-o", tmp_path / "r.csv",
        "--origin", tmp_path / "o.json")
    origin = json.loads((tmp_path / "o.json").read_text())
    assert rows.attrs["origin"]["hash"] == origin["topology"]["hash"] == m.hash
    assert rows.attrs["origin"]["config"] == origin["topology"]["config"] == m.config
    assert rows.attrs["origin"]["version"] == origin["version"] == kernbench.__version__
    assert rows.attrs["origin"]["seed"] == origin["seed"] == 3
    assert origin["schema"] == "kernbench.run/1" and "--seed" in origin["command"] and "--origin" not in origin["command"]
    machine = rows.attrs["provenance"].split()[0]
    assert machine.startswith("machine=") and origin["provenance"].split()[0] == machine
    variants = kernbench.vary(m, {"sips": [1, 2]}).probe(case="pe-local-hbm")
    assert variants.attrs["origin"]["hash"] == m.hash and "--vary=sips=1,2" in variants.attrs["origin"]["command"]


def test_a_failed_run_leaves_no_origin(tmp_path):
    done = subprocess.run([B / "kernbench", "probe", *CUBE8, "--fail-if", "actual_ns>1", "--origin", tmp_path / "o.json"],
                          capture_output=True)
    assert done.returncode == 1


# -- one run --------------------------------------------------------------------------------------


def test_a_result_has_all_of_a_run(m):
    r = m.result("gemm", verify=True, **SMALL)
    pd.testing.assert_frame_equal(r.rows, m.run("gemm", verify=True, **SMALL))
    pd.testing.assert_frame_equal(r.breakdown, m.breakdown("gemm", **SMALL))
    assert len(r.oplog) > 100 and r.oplog.attrs["origin"] == r.origin and r.origin["hash"] == m.hash
    busy = r.stats.dropna(subset=["util_pct"])
    assert len(busy) > 50 and busy.util_pct.between(0, 100).all() and (busy.busy_ns > 0).any()
    assert "tmp" not in r.origin["command"]


def test_a_result_of_traffic_and_transactions(m):
    r = m.result("load", pattern="uniform", rate=0.05, txns=500)
    assert len(r.rows) == 1 and r.oplog is None and "drain" in set(r.breakdown.cause)
    rows = {"issue_ns": [0], "op": ["read"], "src": ["c0.pe0"], "dst": ["c0.slice0"], "nbytes": [4096]}
    assert m.result(rows).rows.actual_ns[0] == 18.085


# -- JSON Lines -----------------------------------------------------------------------------------


def test_json_lines_for_readers_of_tables(tmp_path):
    """pandas and DuckDB take a file of rows alone."""
    for words in (["probe"], ["load", "--pattern=uniform", "--rate=0.05,0.1", "--txns=500", "--quiet"],
                  ["sweep", "--src=c0.pe0", "--dst=c0.slice*", "--bytes=64:1K:x2"]):
        ran(*words, *CUBE8, "--format", "ndjson", "-o", tmp_path / "rows.ndjson")
        header, lines = command(*words)
        rows = pd.read_json(tmp_path / "rows.ndjson", lines=True)
        assert list(rows.columns) == header and len(rows) == len(lines)
        text = (tmp_path / "rows.ndjson").read_text().splitlines()
        assert text == ran(*words, *CUBE8, "--format", "jsonl").splitlines()[1:]


# -- Arrow ----------------------------------------------------------------------------------------


class Schema(ctypes.Structure):
    pass


class ArrayOf(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


P = ctypes.POINTER
Schema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", P(ctypes.c_char)), ("flags", ctypes.c_int64),
                   ("n_children", ctypes.c_int64), ("children", P(P(Schema))), ("dictionary", P(Schema)),
                   ("release", ctypes.CFUNCTYPE(None, P(Schema))), ("private_data", ctypes.c_void_p)]
ArrayOf._fields_ = [(name, ctypes.c_int64) for name in ("length", "null_count", "offset", "n_buffers", "n_children")] + [
    ("buffers", P(ctypes.c_void_p)), ("children", P(P(ArrayOf))), ("dictionary", P(ArrayOf)),
    ("release", ctypes.CFUNCTYPE(None, P(ArrayOf))), ("private_data", ctypes.c_void_p)]
Stream._fields_ = [("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, P(Stream), P(Schema))),
                   ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, P(Stream), P(ArrayOf))),
                   ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, P(Stream))),
                   ("release", ctypes.CFUNCTYPE(None, P(Stream))), ("private_data", ctypes.c_void_p)]


def in_capsule(capsule, name, kind):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    return ctypes.cast(get(capsule, name), P(kind)).contents


def cells(array, schema):
    """The cells of a column, as a reader of Arrow sees them."""
    def view(i, kind, n):
        return np.ctypeslib.as_array(ctypes.cast(array.buffers[i], P(kind)), (n,)) if n else np.empty(0)

    n, form = array.length, schema.format
    valid = np.ones(n, bool)
    if array.null_count:
        valid = np.unpackbits(view(0, ctypes.c_uint8, (n + 7) // 8), bitorder="little")[:n].astype(bool)
        assert (~valid).sum() == array.null_count
    if form == b"u":
        ends = view(1, ctypes.c_int32, n + 1)
        text = ctypes.string_at(array.buffers[2], int(ends[-1]))
        return [text[a:b].decode() for a, b in zip(ends, ends[1:])]
    values = view(1, {b"g": ctypes.c_double, b"L": ctypes.c_uint64, b"l": ctypes.c_int64}[form], n)
    if schema.dictionary:
        words = cells(array.dictionary.contents, schema.dictionary.contents)
        return [words[v] if ok else None for v, ok in zip(values, valid)]
    return [v if ok else None for v, ok in zip(values, valid)]


@pytest.mark.parametrize("name", ["probe", "run", "why", "load", "sweep"])
def test_arrow_shows_the_rows(m, name):
    ask = {"probe": lambda c: c.probe(), "run": lambda c: c.run("gemm", verify=True, **SMALL), "why": lambda c: c.why("gemm", **SMALL),
           "load": lambda c: c.load("uniform", [0.05, 0.4], txns=500, quiet=True), "sweep": lambda c: c.sweep("c0.pe[0-3]", "c3.slice0")}[name]
    want, got = ask(m), ask(m.arrow)
    assert got.column_names == list(want.columns) and got.num_rows == len(want)
    assert got.attrs["origin"] == want.attrs["origin"]
    shown, data = got.__arrow_c_array__()
    schema, array = in_capsule(shown, b"arrow_schema", Schema), in_capsule(data, b"arrow_array", ArrayOf)
    assert schema.format == b"+s" and array.length == len(want) and array.n_children == len(want.columns)
    for i, column in enumerate(want.columns):
        child = schema.children[i].contents
        assert child.name.decode() == column
        found = cells(array.children[i].contents, child)
        for a, b in zip(found, want[column]):
            if a is None:
                assert b is None or b is pd.NA or b != b
            elif isinstance(a, float):
                assert a == b or a != a and b != b
            else:
                assert a == b, column


def test_arrow_copies_no_numbers(m):
    """The buffer is where the library wrote the column; it stays while the struct is out, and then goes."""
    from kernbench import _arrow
    gc.collect()
    before = len(_arrow._alive)
    rows = m.arrow.load("uniform", [0.05], txns=500, quiet=True)
    stream = rows.__arrow_c_stream__()
    s = in_capsule(stream, b"arrow_array_stream", Stream)
    schema, array, end = Schema(), ArrayOf(), ArrayOf()
    assert s.get_schema(s, schema) == 0 and s.get_next(s, array) == 0 and s.get_next(s, end) == 0
    assert not end.release and bool(array.release)
    at = rows.column_names.index("mean_ns")
    column = rows._columns[at].buffers[1]
    assert array.children[at].contents.buffers[1] == column.ctypes.data and not column.flags.owndata
    del rows, column, stream
    gc.collect()
    assert cells(array.children[at].contents, schema.children[at].contents)[0] == m.load("uniform", [0.05], txns=500, quiet=True).mean_ns[0]
    assert len(_arrow._alive) > before
    array.release(array), schema.release(schema)
    assert len(_arrow._alive) == before and not array.release


def test_arrow_has_all_methods(m):
    """Those that take a DataFrame, whose index Arrow does not have, and those of one machine."""
    df = pd.DataFrame({"issue_ns": [0, 5.0], "op": ["read", "write"], "src": ["c0.pe0", "c0.pe1"], "dst": ["c0.slice0", "c1.sram"],
                       "nbytes": [4096, 64]}, index=["x", "y"])
    asks = [lambda c: c.replay(df), lambda c: c.breakdown(df), lambda c: c.why(df), lambda c: c.info(), lambda c: c.keys(),
            lambda c: c.route("c0.pe1", "c5.slice3"), lambda c: c.tune("softmax", {"N": [320, 448]}, M=64),
            lambda c: c.inspect("gemm", op="last", **SMALL), lambda c: c.race("gemm", **SMALL)]
    for ask in asks:
        want, found = ask(m), ask(m.arrow)
        assert found.column_names == list(want.columns) and found.num_rows == len(want)
    assert "rows: 1, stats: " in repr(m.arrow.result("gemm", **SMALL))
    some = kernbench.vary(m, {"cube.hbm.bw_gbs": [128, 256]})
    assert some.arrow.replay(df).num_rows == len(some.replay(df)) == 4
    with pytest.raises(kernbench.BadArgument):
        some.keys()


def test_arrow_has_keys_and_verdicts(m):
    """Integers as integers, texts and numbers in one column as texts; what a reference in Python finds."""
    def of(rows):
        shown, data = rows.__arrow_c_array__()
        schema, array = in_capsule(shown, b"arrow_schema", Schema), in_capsule(data, b"arrow_array", ArrayOf)
        return {schema.children[i].contents.name.decode(): (schema.children[i].contents.format, cells(array.children[i].contents, schema.children[i].contents))
                for i in range(schema.n_children)}
    keys = of(kernbench.vary(m, {"sips": [1, 2], "cube.hbm.bw_gbs": [128, 256.5]}).arrow.probe(case="pe-local-hbm"))
    assert keys["sips"] == (b"l", [1, 1, 2, 2]) and keys["cube.hbm.bw_gbs"] == (b"g", [128, 256.5] * 2)
    rows = m.arrow.run("gemm", reference=lambda a, b: a.astype(float) @ b, **SMALL)
    found, want = of(rows), m.run("gemm", reference=lambda a, b: a.astype(float) @ b, **SMALL)
    assert found["verify"][1] == ["pass"] and found["max_abs_err"][1] == [want.max_abs_err[0]]
    with pytest.raises(kernbench.Different, match="verification failed"):
        m.arrow.run("gemm", reference=lambda a, b: a.astype(float) @ b + 1, **SMALL)


def test_arrow_columns_have_their_units(m):
    rows = m.arrow.probe()
    schema = in_capsule(rows.__arrow_c_schema__(), b"arrow_schema", Schema)
    data = schema.children[rows.column_names.index("actual_ns")].contents.metadata
    assert int.from_bytes(data[0:4], "little") == 3 and data[8:12] == b"unit" and data[16:18] == b"ns"


# -- inputs of one's own --------------------------------------------------------------------------


def test_inputs_of_ones_own(m):
    """In place of the bench's: the result, the reference and the origin are of these."""
    index, table = np.arange(40)[::-1] % 32, np.arange(32 * 8).reshape(32, 8) / 64
    inputs = {"index": index, "table": table}
    rows, t = m.run("gather", M=32, L=40, D=8, inputs=inputs, tensors=True, verify=True)
    assert (t["y"] == table[index]).all() and rows["verify"][0] == "pass"
    assert m.run("gather", M=32, L=40, D=8, inputs={"table": np.asfortranarray(table)}, verify=True)["verify"][0] == "pass"


@pytest.mark.parametrize("inputs, text", [
    ({"index": np.arange(39)}, r"inputs\[.index.\]: its shape \(39,\) is not that of tensor 'index', \(40,\)"),
    ({"index": np.arange(40) * 1.0}, r"inputs\[.index.\]: its elements are f64, those of tensor 'index' i32"),
    ({"y": np.arange(40)}, "'y' is neither an argument nor an input of gather: inputs are table, index"),
])
def test_inputs_that_do_not_fit(m, inputs, text):
    with pytest.raises(kernbench.Error, match=text):
        m.run("gather", M=32, L=40, D=8, inputs=inputs)


def test_inputs_of_other_types(m):
    with pytest.raises(kernbench.BadInput, match=r'inputs\["index"\]: its type .<M8\[ns\]. is none of'):
        m.run("gather", M=32, L=40, D=8, inputs={"index": np.arange(40).astype("datetime64[ns]")})
    swapped = np.arange(40, dtype=">i4") % 32
    assert m.run("gather", M=32, L=40, D=8, inputs={"index": swapped}, verify=True)["verify"][0] == "pass"


def test_an_argument_named_inputs(m):
    with pytest.raises(kernbench.BadArgument, match="inputs='same': a dict of names and arrays"):
        m.run("all_reduce", inputs="same")
    assert len(m.run("all_reduce", args={"inputs": "same"})) == 1
