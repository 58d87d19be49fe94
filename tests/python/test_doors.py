"""test_doors.py -- arguments of a bench beside options, gates without an answer, numbers that are none."""
import math
import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import kernbench
from conftest import ROOT, command

SMALL = {"M": 64, "N": 64, "K": 64}
TWO = {"issue_ns": [0.0, 50.0], "op": "read", "src": "c0.pe0", "dst": "c0.slice0", "nbytes": 4096}

# Its arguments have names of options and of parameters of the package's methods.
CLASH = """
#include <kernbench.h>
#include <tl.h>
static void fill(tl_ctx *tl, const kb_args *args)
{
    kb_shard y = kb_tensor_shard(args->tensors[0], tl_pe(tl));
    if (y.shape.dim[0] > 0)
        tl_store(tl, y.address, tl_full(tl, KB_F32, y.shape, 1));
}
static void setup(kb_bench_run *run)
{
    int64_t n = 0;
    for (int i = 0; i < 9; i++)
        n += kb_bench_int(run, (const char *[]){"jobs", "top", "seed", "until", "op", "tensors", "reference", "by", "n"}[i]);
    kb_bench_output(run, "y", KB_F32, KB_SHAPE(n), (kb_placement){KB_ROW_WISE, KB_ROW_WISE});
    kb_bench_launch(run, "fill", fill, NULL, 0);
}
static void ones(const kb_bench_run *run, double *const *t)
{
    kb_shape shape = kb_tensor_shape(kb_bench_tensor(run, 0, NULL));
    for (int64_t i = 0; i < shape.dim[0]; i++)
        t[0][i] = 1;
}
#define N(name) {name, KB_ARG_INT, "1", 1, 1000, NULL, ""}
static const kb_bench_arg arguments[] = {N("jobs"), N("top"), N("seed"), N("until"), N("op"), N("tensors"), N("reference"), N("by"), N("n")};
static const kb_bench bench_clash = {.name = "clash", .summary = "", .args = arguments, .n_args = 9, .setup = setup, .reference = ones};
static void idle(tl_ctx *tl, const kb_args *args)
{
    kb_shard x = kb_tensor_shard(args->tensors[0], tl_pe(tl));
    if (x.shape.dim[0] > 0)
        tl_free(tl, tl_load(tl, x.address, KB_F32, x.shape));
}
static void setup_mute(kb_bench_run *run)
{
    kb_bench_input(run, "x", KB_F32, KB_SHAPE(64), (kb_placement){KB_ROW_WISE, KB_ROW_WISE}, 1);
    kb_bench_launch(run, "idle", idle, NULL, 0);
}
static void nothing(const kb_bench_run *run, double *const *t)
{
    (void)run, (void)t;
}
static const kb_bench bench_mute = {.name = "mute", .summary = "", .setup = setup_mute, .reference = nothing};
KB_BENCHES(&bench_clash, &bench_mute);
"""
OPTIONS = ["jobs", "top", "seed", "until", "by"]


@pytest.fixture(scope="module")
def clash():
    return kernbench.compile(CLASH)["clash"]


def written(rows):
    """How many elements the bench wrote: nine, and what its arguments have above 1."""
    return int(rows.dma_write_bytes.iloc[0]) // 4


# -- two doors ------------------------------------------------------------------------------------


def test_args_reach_the_bench_whatever_they_are_called(m, clash):
    assert written(m.run(clash)) == 9
    for name in [*OPTIONS, "op", "tensors", "reference", "n"]:
        assert written(m.run(clash, args={name: 100})) == 108
    assert written(m.run(clash, args={name: 100 for name in OPTIONS})) == 504
    assert written(m.run("gemm", args={"M": 64, "N": 64, "K": 64})) == written(m.run("gemm", **SMALL))


@pytest.mark.parametrize("name", [*OPTIONS, "tensors", "reference"])
def test_a_keyword_that_could_be_both_is_an_error(m, clash, name):
    with pytest.raises(kernbench.BadArgument) as caught:
        m.run(clash, **{name: 5})
    for text in (f"'{name}' is an option, and an argument of ", f"args={{'{name}': 5}}", f"{name}=5 beside args={{}}"):
        assert text in str(caught.value)
    assert caught.value.code == 2


def test_every_door_knows_the_clash(m, clash):
    v = kernbench.vary(m, {"cube.hbm.bw_gbs": [128, 256]})
    doors = [m.run, v.run, m.breakdown, v.breakdown, m.why, m.race, m.inspect, lambda b, **k: m.report("run", b, **k)]
    for door in doors:
        with pytest.raises(kernbench.BadArgument, match="'jobs' is an option, and an argument of "):
            door(clash, jobs=2)
    with pytest.raises(kernbench.BadArgument, match="'op' is an option, and an argument of "):
        m.inspect(clash, op=0)
    with pytest.raises(kernbench.BadArgument, match="'by' is an option, and an argument of "):
        m.why(clash, by="key")


def test_every_door_has_args(m, clash):
    v = kernbench.vary(m, {"cube.hbm.bw_gbs": [128, 256]})
    assert [written(v.run(clash, args={"jobs": 100}).iloc[i:]) for i in (0, 1)] == [108, 108]
    large = {"jobs": 1000, "op": 1000}
    total = m.breakdown(clash, args=large).total_ns[0]
    assert total > m.breakdown(clash).total_ns[0]
    assert m.breakdown(clash, args=large, jobs=1).total_ns[0] == total
    assert m.why(clash, args=large).kernel_ns[0] > m.why(clash).kernel_ns[0]
    assert len(m.why(clash, args={}, by="limit")) == len(m.why(clash))
    assert len(m.race(clash, args={"seed": 7})) == 0
    assert m.inspect(clash, args={"op": 100}).astype(str).apply(lambda row: row.str.contains("108")).any().any() or \
        len(m.inspect(clash, args={"op": 100})) > 0
    assert "108" in m.report("run", clash, args={"jobs": 100}, seed=3)


def test_every_door_has_inputs(m, tmp_path):
    """They take the same as the operand of the command line."""
    v = kernbench.vary(m, {"cube.hbm.bw_gbs": [128, 256]})
    small, index = {"M": 32, "L": 64}, np.zeros(64, np.int32)
    np.save(tmp_path / "index.npy", index)
    doors = [m.run, v.run, m.breakdown, v.breakdown, m.why, lambda b, **k: m.inspect(b, op="last", **k),
             lambda b, **k: m.tune(b, {"D": [8, 16]}, **k), lambda b, **k: m.result(b, **k).breakdown,
             lambda b, **k: m.result(b, **k).oplog.drop(columns="head", errors="ignore")]
    for door in doors:
        given = door("gather", inputs={"index": index}, quiet=True, **small)
        assert given.astype(str).equals(door("gather", index=f"@{tmp_path / 'index.npy'}", quiet=True, **small).astype(str))
        assert not given.astype(str).equals(door("gather", quiet=True, **small).astype(str))
    assert len(m.race("gather", inputs={"index": index}, **small)) == 0
    assert "kernel_ns" in m.report("run", "gather", inputs={"index": index}, **small)
    for door in [m.run, m.breakdown, m.why, m.inspect, m.result, m.race, lambda b, **k: m.report("run", b, **k)]:
        with pytest.raises(kernbench.BadArgument, match=r'inputs\["index"\]'):
            door("gather", inputs={"index": index[:3]}, **small)
    assert m.breakdown("all_reduce", inputs={}, count=8).total_ns[0] > 0
    with pytest.raises(kernbench.BadArgument, match="inputs='same': a dict of names and arrays; args= has an argument of that name"):
        m.breakdown("all_reduce", inputs="same")


def test_args_beside_a_keyword_that_is_an_option(m, clash):
    rows, t = m.run(clash, args={"jobs": 100}, jobs=1, tensors=True)
    assert written(rows) == 108 and t["y"].shape == (108,)
    assert written(m.run(clash, args={}, seed=5, verify=True)) == 9
    assert written(m.run(clash, n=100)) == 108
    assert written(m.run(clash, args={"jobs": 2}, n=100)) == 109


def test_what_args_are_not(m, clash):
    for call, text in [(lambda: m.run("gemm", args=["M=64"]), "args is a dict of arguments of the bench, not list"),
                       (lambda: m.run("gemm", args={"M": 64}, M=32), "'M' is given twice"),
                       (lambda: m.run("gemm", args={"Q": 64}), "'Q'"),
                       (lambda: m.breakdown(pd.DataFrame(TWO), args={}), "args are of a bench"),
                       (lambda: m.breakdown(pd.DataFrame(TWO), inputs={}), "inputs are of a bench"),
                       (lambda: m.why("load", args={}, pattern="local"), "args are of a bench")]:
        with pytest.raises(kernbench.BadArgument) as caught:
            call()
        assert text in str(caught.value)


def test_a_bench_may_be_called_as_traffic_is(m):
    with pytest.raises(kernbench.BadArgument, match="unknown bench 'load'"):
        m.run("load")


# -- gates ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("condition", ["kernel_ns>nan", "kernel_ns>inf", "kernel_ns>1e400", "max_abs_err>0", "p99_ns>1",
                                       "verify==fail", "bench>a"])
def test_a_gate_without_an_answer_is_a_bad_argument(m, condition):
    with pytest.raises(kernbench.BadArgument, match="fail_if .* cannot be decided") as caught:
        m.run("gemm", fail_if=condition, **SMALL)
    assert caught.value.code == 2 and len(caught.value.rows) == 1


def test_a_verification_of_nothing_is_a_bad_argument(m, clash):
    mute = clash.partition(":")[0] + ":mute"
    for how in ({"verify": True}, {"verify": "ops"}, {"reference": lambda x: []}, {"reference": lambda x: {}}):
        with pytest.raises(kernbench.BadArgument, match="cannot be decided: .*bench.* has no output to verify"):
            m.run(mute, **how)
    for how in ({"verify": True}, {"reference": lambda: np.ones(9)}):
        with pytest.raises(kernbench.BadArgument, match="cannot be decided: the run was ended|were never written"):
            m.run(clash, args={}, until_ns=1, **how)
    with pytest.raises(kernbench.Different):
        m.run(clash, args={}, reference=lambda: np.full(9, math.nan))


def test_a_bound_without_an_answer(m, tmp_path):
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    a.write_text("case,mean_ns\nnear,nan\n")
    b.write_text("case,mean_ns\nnear,1\n")
    with pytest.raises(kernbench.BadArgument, match="bound cannot be decided: mean_ns is nan in row 0"):
        kernbench.diff(a, b, bound=5)
    for bound in (math.nan, math.inf, 1e300):
        with pytest.raises(kernbench.BadArgument, match="bound '.*' is not "):
            kernbench.diff(a, b, bound=bound)


# -- numbers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.float32("nan"), np.float64("inf"), Decimal("NaN"),
                                   Decimal("Infinity"), 1e300, 10**400])
def test_a_number_that_is_none_is_an_error_of_the_package(m, value):
    calls = {
        "rate": lambda: m.load("local", rate=value, txns=100, seeds=1),
        "rates": lambda: m.load("local", rate=[0.1, value], txns=100, seeds=1),
        "txns": lambda: m.load("local", rate=0.1, txns=value),
        "seeds": lambda: m.load("local", rate=0.1, seeds=value),
        "seed": lambda: m.run("gemm", seed=value, **SMALL),
        "jobs": lambda: m.run("gemm", jobs=value, **SMALL),
        "until": lambda: m.replay(pd.DataFrame(TWO), until_ns=value),
        "max_events": lambda: m.replay(pd.DataFrame(TWO), max_events=value),
        "bytes": lambda: m.probe(bytes=value),
        "sizes": lambda: m.sweep("c0.pe0", "c0.slice0", bytes=[64, value]),
        "inflight": lambda: m.sweep("c0.pe0", "c0.slice0", inflight=value),
        "route": lambda: m.route("c0.pe0", "c0.slice0", bytes=value),
        "M": lambda: m.run("gemm", M=value),
        "args": lambda: m.run("gemm", args={"M": value}),
        "inspect": lambda: m.inspect("gemm", value, **SMALL),
        "by": lambda: m.why("gemm", by=f"key={value}", **SMALL),
        "top": lambda: m.breakdown("gemm", top=value, **SMALL),
        "vary": lambda: kernbench.vary(m, {"cube.hbm.bw_gbs": [128, value]}).probe(),
        "set": lambda: m.set({"cube.hbm.bw_gbs": value}),
        "key": lambda: kernbench.Machine("cube8", **{"cube.hbm.bw_gbs": value}),
        "dict": lambda: kernbench.Machine({"kernbench": 2, "name": "x", "sip": {"cube_mesh": {"w": value, "h": 1}}}),
        "issue_ns": lambda: m.replay(pd.DataFrame(TWO).assign(issue_ns=pd.Series([0, value], dtype=object))),
        "nbytes": lambda: m.replay(pd.DataFrame(TWO).assign(nbytes=pd.Series([64, value], dtype=object))),
        "after": lambda: m.replay(pd.DataFrame(TWO).assign(after=pd.Series([None, value], dtype=object))),
    }
    for name, call in calls.items():
        if name == "after" and value != value:
            continue  # nothing, as pandas has it
        if name == "seed" and value == 1e300:
            continue
        with pytest.raises(kernbench.Error) as caught:
            call()
        assert caught.value.code in (2, 3), name
        assert str(caught.value), name


def test_a_rate_that_is_none_is_named(m):
    with pytest.raises(kernbench.BadArgument, match="rate: 'nan' is not"):
        m.load("local", rate=math.nan)


# -- what is kept ---------------------------------------------------------------------------------


def test_rows_of_a_frame_have_its_index(m):
    frame = pd.DataFrame(TWO, index=pd.Index(["first", "second"], name="what"))
    rows = m.replay(frame)
    assert list(rows.index) == ["first", "second"] and rows.index.name == "what"
    assert rows.loc["second"].issue_ns == 50 and list(rows.id) == [0, 1]
    assert list(m.replay(frame, until_ns=40).index) == ["first"]
    assert list(m.replay(frame.iloc[::-1].assign(issue_ns=[0, 50])).index) == ["second", "first"]
    v = kernbench.vary(m, {"cube.hbm.bw_gbs": [128, 256]}).replay(frame)
    assert list(v.index) == ["first", "second"] * 2
    many = frame.set_index([["a", "b"], [1, 2]])
    assert m.replay(many).index.equals(many.index)
    assert list(m.replay(pd.DataFrame(TWO)).index) == [0, 1] == list(m.replay(pd.DataFrame(TWO).to_dict("list")).index)
    assert frame.join(m.replay(frame)[["end_ns"]]).end_ns.notna().all()


@pytest.mark.parametrize("links", [["fifo", "router"], ["router", "fifo"]])
def test_machines_with_other_columns_keep_their_names(m, links):
    for rows in (lambda x: x.replay(pd.DataFrame(TWO)), lambda x: x.probe(), lambda x: x.sweep("c0.pe0", "c3.slice0")):
        all_rows = rows(kernbench.vary(m, {"contention.links": links}))
        for kind in links:
            alone = rows(m.set({"contention.links": kind}))
            these = all_rows[all_rows["contention.links"] == kind].reset_index(drop=True)
            pd.testing.assert_frame_equal(these[list(alone.columns)], alone.reset_index(drop=True), check_dtype=False)


def test_machines_are_equal_by_what_they_are(m):
    again = pickle.loads(pickle.dumps(m))
    assert again == m and hash(again) == hash(m) and {m: 1}[again] == 1
    fast = m.set({"cube.hbm.bw_gbs": 512})
    assert fast != m and fast == kernbench.Machine("cube8", **{"cube.hbm.bw_gbs": 512})
    assert m.set({"cube.hbm.bw_gbs": 256}) == m == kernbench.Machine.from_yaml(m.config)
    assert m != m.config and m != m.hash and not m == 3
    assert pickle.loads(pickle.dumps(fast)) == fast


def test_a_pickled_machine_finds_its_components(tmp_path, monkeypatch):
    (tmp_path / "components").mkdir()
    source = tmp_path / "components/server.c"
    source.write_text((ROOT / "examples/components/server.c").read_text())
    (tmp_path / "own.yaml").write_text("kernbench: 2\nname: own\nsip: {cube_mesh: {w: 1, h: 1}}\ncube: {hbm: {impl: server}}\n")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    own = kernbench.Machine("own.yaml")
    monkeypatch.chdir("/")
    kept = pickle.dumps(own)
    assert pickle.loads(kept) == own
    source.write_text(source.read_text() + "/* another */\n")
    with pytest.raises(kernbench.BadInput, match="its components have changed"):
        pickle.loads(kept)
    assert kernbench.Machine(tmp_path / "own.yaml") != own
