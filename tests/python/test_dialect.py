"""test_dialect.py -- kernels in Python mean what they mean in Triton, or are refused: random numbers, types of
results, options."""
import numpy as np
import pytest

import kernbench
import kernbench.language as tl


def run_of(m, function, *arguments):
    """What a function says in a dict of what it has seen, as the one program of a kernel."""
    seen = {}
    m.run(kernbench.kernel(function)[(1,)](seen, *arguments), quiet=True)
    return seen


def refused(m, function, words):
    with pytest.raises(kernbench.KernelError, match=words) as e:
        run_of(m, function)
    assert isinstance(e.value.__cause__, tl.KernelMistake)


def test_random_numbers_of_offsets(m):
    def draws(seen):
        at = tl.arange(0, 8)
        seen["all"] = tl.values(tl.rand(42, (24,)))
        seen["offsets"] = tl.values(tl.rand(42, 16 + at))
        seen["named"] = tl.values(tl.rand(seed=42, offset=at))
        seen["axes"] = tl.values(tl.rand(42, tl.arange(1, 3)[:, None] * 8 + at[None, :]))
        seen["gathered"] = tl.values(tl.rand(42, (at + 8) % 16))

    seen = run_of(m, draws)
    assert len(set(seen["all"].tolist())) == 24
    assert (seen["offsets"] == seen["all"][16:]).all() and (seen["named"] == seen["all"][:8]).all()
    assert (seen["axes"] == seen["all"][8:].reshape(2, 8)).all() and (seen["gathered"] == seen["all"][8:16]).all()


@pytest.mark.parametrize("offsets", [lambda at: at * 2, lambda at: at - 1, lambda at: at[:, None] + at[None, :],
                                     lambda at: (at + 4) % 8, lambda at: at + tl.zeros((8,), tl.int32), lambda at: 3])
def test_random_numbers_of_other_offsets_are_refused(m, offsets):
    refused(m, lambda seen: tl.rand(1, offsets(tl.arange(0, 8))), r"the offsets of rand\(\) follow each other from one that is known")


@pytest.mark.parametrize("value", [lambda: tl.arange(0, 8), lambda: tl.arange(0, 8)[:, None], lambda: tl.zeros((8,), tl.float32) + 1,
                                   lambda: tl.arange(0, 8) < 3, lambda: tl.arange(0, 8) + tl.full((8,), 1, tl.int32)])
def test_tensors_are_no_sequences(m, value):
    refused(m, lambda seen: tuple(value()), "a tensor or offsets are no sequence")


# -- types ----------------------------------------------------------------------------------------

A = np.array([-7, -2, -1, 0, 1, 2, 3, 100], np.int32)
F = np.float32
B = A.astype(F)
MIXED = {
    "half": (lambda a: a * 0.5, B * F(0.5)),
    "plus": (lambda a: a + 1.5, B + F(1.5)),
    "from": (lambda a: 2.5 - a, F(2.5) - B),
    "numpy": (lambda a: a * F(0.5), B * F(0.5)),
    "less": (lambda a: a < 0.5, A < 0.5),
    "equal": (lambda a: a == 0.5, A == 0.5),
    "unlike": (lambda a: a != 2.5, A != 2.5),
    "where": (lambda a: tl.where(a > 0, a, 0.5), np.where(A > 0, B, F(0.5))),
    "known": (lambda a: tl.where(tl.arange(0, 8) < 8, a, 0.5), A.astype(F)),
    "other": (lambda a: tl.where(tl.arange(0, 8) < 0, a, 0.5), np.full(8, F(0.5))),
    "zero": (lambda a: tl.where(tl.arange(0, 8) < 0, a, 0), np.zeros(8, np.int32)),
    "maximum": (lambda a: tl.maximum(a, -0.5), np.maximum(B, F(-0.5))),
    "clamp": (lambda a: tl.clamp(a, -1.5, 2.5), np.clip(B, -1.5, 2.5)),
    "infinite": (lambda a: tl.where(a > 0, a, -float("inf")), np.where(A > 0, B, F("-inf"))),
    "divided": (lambda a: a / 2, B / F(2)),
    "by tensor": (lambda a: a / tl.full((8,), 4, tl.int32), B / F(4)),
    "over": (lambda a: 1 / tl.maximum(a, 1), F(1) / np.maximum(A, 1).astype(F)),
    "index": (lambda a: tl.arange(0, 8) * 0.5, np.arange(8, dtype=F) * F(0.5)),
    "index below": (lambda a: tl.arange(0, 8) < 2.5, np.arange(8) < 2.5),
    "full": (lambda a: tl.full((8,), 3, tl.int32) * 0.5, np.full(8, F(1.5))),
    "nothing yet": (lambda a: tl.zeros((8,), tl.int32) * (a * 0.5), np.zeros(8, F)),
    "bools": (lambda a: (a > 0) * 0.5, (A > 0) * F(0.5)),
    "counts": (lambda a: (a > 0) + 1, (A > 0).astype(np.int32) + 1),
    "logic": (lambda a: (a > 0) & 1, A > 0),
    "whole": (lambda a: a + 3, A + np.int32(3)),
    "last": (lambda a: tl.minimum(a.to(tl.int64), 2 ** 63 - 1), A.astype(np.int64)),
    "f16": (lambda a: a.to(tl.float16) * 0.5, (B * 0.5).astype(np.float16)),
}


@pytest.mark.parametrize("name", MIXED)
def test_integers_beside_floats_are_f32(m, name):
    function, want = MIXED[name]
    got = run_of(m, lambda seen, a_ptr: seen.update(all=tl.values(function(tl.load(a_ptr + tl.arange(0, 8))))), A)["all"]
    assert got.dtype == want.dtype and (got == want).all()


@pytest.mark.parametrize("function, value, kind", [
    (lambda: tl.zeros((8,), tl.uint8).tensor() + 300, 300, "u8"), (lambda: tl.zeros((8,), tl.uint32).tensor() - (-1), -1, "u32"),
    (lambda: tl.arange(0, 8).tensor() < 1 << 31, 1 << 31, "i32"), (lambda: tl.full((8,), 128, tl.int8), 128, "i8"),
    (lambda: tl.full((8,), float("-inf"), tl.int32), "-inf", "i32"), (lambda: tl.full((8,), 100, tl.int8) + 100, 200, "i8"),
    (lambda: tl.where(tl.arange(0, 8).tensor() < 3, tl.zeros((8,), tl.int16), 1 << 20), 1 << 20, "i16"),
    (lambda: tl.zeros((8,), tl.int64).tensor() + ((1 << 53) + 1), (1 << 53) + 1, "i64")])
def test_constants_that_do_not_fit_are_refused(m, function, value, kind):
    refused(m, lambda seen: function(), f"the constant {value}(.0)? does not fit a tensor of {kind}")


def test_a_cast_for_a_float_costs_what_a_written_one_does(m):
    def mixes(seen, a_ptr):
        a = tl.load(a_ptr + tl.arange(0, 8))
        for name, function in {"mixed": lambda: a * 0.5, "written": lambda: a.to(tl.float32) * 0.5, "whole": lambda: a * 2}.items():
            begin = tl.time()
            function()
            seen[name] = tl.time() - begin

    seen = run_of(m, mixes, A)
    assert seen["mixed"] == pytest.approx(seen["written"], abs=1e-6) and seen["mixed"] > seen["whole"]


@pytest.mark.parametrize("kind, wide", [("int8", "int32"), ("uint8", "uint32"), ("int16", "int32"), ("uint16", "uint32"), ("int32", "int32"),
                                        ("int64", "int64"), ("float16", "float16")])
def test_sums_of_narrow_integers_have_32_bits(m, kind, wide):
    big = 100 if kind == "int8" else 200 if kind == "uint8" else 300 if kind == "float16" else 30000
    x = np.full((2, 4), big, kind)

    def sums(seen, x_ptr):
        x = tl.load(x_ptr + tl.arange(0, 2)[:, None] * 4 + tl.arange(0, 4)[None, :])
        seen["sum"], seen["cumsum"] = tl.values(tl.sum(x, 1)), tl.values(tl.cumsum(x, 1))
        seen["dtype"] = tl.values(tl.sum(x, 0, dtype=tl.float32))
        seen["columns"] = tl.values(tl.cumsum(x, 0, dtype=tl.int64))

    seen = run_of(m, sums, x)
    assert seen["sum"].dtype == seen["cumsum"].dtype == wide and seen["dtype"].dtype == np.float32 and seen["columns"].dtype == np.int64
    assert (seen["sum"] == x.astype(wide).sum(1)).all() and (seen["cumsum"] == np.cumsum(x.astype(wide), 1)).all()
    assert (seen["dtype"] == 2 * big).all() and (seen["columns"] == [[big] * 4, [2 * big] * 4]).all()


def test_sums_of_bools_count(m):
    got = run_of(m, lambda seen: seen.update(n=tl.values(tl.sum(tl.arange(0, 8) % 8 < 3, 0))))["n"]
    assert got.dtype == np.int32 and got == 3


# -- options --------------------------------------------------------------------------------------


def tile():
    return tl.arange(0, 8).tensor().to(tl.float32)[:, None] + tl.arange(0, 8).tensor().to(tl.float32)[None, :]


@pytest.mark.parametrize("call, words", [
    (lambda x: tl.cumsum(x, 0, reverse=True), "reverse=True of cumsum"), (lambda x: tl.sort(x, dim=0), "dim=0 of sort"),
    (lambda x: tl.maximum(x, 1, propagate_nan=tl.PropagateNan.NONE), "propagate_nan='NONE' of maximum"),
    (lambda x: tl.clamp(x, 0, 1, propagate_nan=tl.PropagateNan.NONE), "propagate_nan='NONE' of clamp"),
    (lambda x: tl.dot(x, x, out_dtype=tl.float16, acc=tl.zeros((8, 8), tl.float32)), "out_dtype=f16 of dot"),
    (lambda x: tl.dot(x, x, precise=True), "precise=True of dot"), (lambda x: tl.rand(1, tl.arange(0, 8), 7), "n_rounds=7 of rand"),
    (lambda x: x.to(tl.int32, bitcast=True), "bitcast=True of cast"), (lambda x: tl.range(0, 8, unroll=2), "unroll=2 of range"),
    (lambda x: x.to(tl.float16, fp_downcast_rounding="rtz"), "fp_downcast_rounding='rtz' of cast")])
def test_options_that_would_change_results_are_refused(m, call, words):
    refused(m, lambda seen: call(tile()), words + r"\(\) is not simulated")


def test_options_that_are_honoured(m):
    def honours(seen, x_ptr):
        x = tile()
        most, places = tl.max(x, 1, return_indices=True)
        least, lowest = tl.min(x, 0, return_indices=True, keep_dims=True)
        seen["max"], seen["argmax"], seen["min"], seen["argmin"] = (tl.values(part) for part in (most, places, least, lowest))
        half = x.to(tl.float16)
        seen["dot"] = tl.values(tl.dot(half, half, out_dtype=tl.float16, allow_tf32=False))
        seen["clamp"] = tl.values(tl.clamp(x, min=2.0, max=3.0))
        seen["sort"] = tl.values(tl.sort(x, dim=1, descending=True))
        seen["bits"] = tl.values(tl.full((8,), -1, tl.int32).tensor().to(tl.uint32, bitcast=True))
        block = tl.make_block_ptr(x_ptr, (4,), (1,), (0,), (8,), (0,))
        seen["nan"] = tl.values(tl.load(block, boundary_check=(0,), padding_option="nan", cache_modifier=".cg"))
        seen["zero"] = tl.values(tl.load(block, boundary_check=(0,), padding_option="zero"))
        for _ in tl.range(0, 2, num_stages=3):
            pass

    seen = run_of(m, honours, np.arange(8, dtype=F))
    x = np.add.outer(np.arange(8), np.arange(8)).astype(F)
    assert (seen["max"] == x.max(1)).all() and (seen["argmax"] == 7).all() and seen["argmax"].dtype == np.int32
    assert (seen["min"] == x.min(0, keepdims=True)).all() and seen["argmin"].shape == (1, 8) and not seen["argmin"].any()
    assert seen["dot"].dtype == np.float16 and (seen["dot"] == x @ x).all()
    assert (seen["clamp"] == np.clip(x, 2, 3)).all() and (seen["sort"] == x[:, ::-1]).all()
    assert (seen["bits"] == 2 ** 32 - 1).all()
    np.testing.assert_array_equal(seen["nan"], [0, 1, 2, 3] + [np.nan] * 4)
    np.testing.assert_array_equal(seen["zero"], [0, 1, 2, 3, 0, 0, 0, 0])


# -- operators ------------------------------------------------------------------------------------

X, Y = np.array([-7, -1, 0, 5, 6, 9, 64, 100], np.int32), np.array([2, 3, 1, 2, 4, 1, 3, 7], np.int32)
WHOLE = {
    "left": (lambda x, y: x << y, X << Y), "right": (lambda x, y: x >> y, X >> Y), "by one": (lambda x, y: x << 1, X << 1),
    "halved": (lambda x, y: x >> 1, X >> 1), "of a number": (lambda x, y: 1 << y, 1 << Y), "down": (lambda x, y: 100 >> y, 100 >> Y),
    "parts": (lambda x, y: x // y, np.trunc(X / Y).astype(np.int32)), "thirds": (lambda x, y: x // 3, np.trunc(X / 3).astype(np.int32)),
    "number": (lambda x, y: 100 // y, 100 // Y), "rest": (lambda x, y: 100 % y, 100 % Y), "and": (lambda x, y: 3 & x, 3 & X),
    "or": (lambda x, y: 8 | x, 8 | X), "xor": (lambda x, y: 1 ^ x, 1 ^ X),
    "offsets": (lambda x, y: (tl.arange(0, 8) << 2) + 1 + tl.zeros((8,), tl.int32), np.arange(8, dtype=np.int32) * 4 + 1),
    "by tensor": (lambda x, y: tl.arange(0, 8) // y, np.arange(8, dtype=np.int32) // Y),
    "mod tensor": (lambda x, y: tl.arange(0, 8) % y, np.arange(8, dtype=np.int32) % Y),
}


@pytest.mark.parametrize("name", WHOLE)
def test_operators_of_integers(m, name):
    function, want = WHOLE[name]

    def runs(seen, x_ptr, y_ptr):
        at = tl.arange(0, 8)
        seen["all"] = tl.values(function(tl.load(x_ptr + at), tl.load(y_ptr + at)))
        seen["by offsets"] = tl.values(tl.load(x_ptr + (at >> 1)))

    seen = run_of(m, runs, X, Y)
    assert seen["all"].dtype == np.int32 and (seen["all"] == want).all()
    assert (seen["by offsets"] == X[np.arange(8) >> 1]).all()


def test_whole_parts_are_of_integers(m):
    refused(m, lambda seen: tile() // 2, "// is of integers, not of f32")
    refused(m, lambda seen: tl.arange(0, 8).tensor() // 2.5, "// is of integers, not of f32")


# -- messages -------------------------------------------------------------------------------------


def test_offsets_of_rests_are_operands(m):
    def evens(seen, x_ptr):
        at = tl.arange(0, 8)
        x = tl.load(x_ptr + at)
        seen["even"] = tl.values(tl.where(at % 2 == 0, x, 0))
        seen["first"] = tl.values(tl.where((at // 4)[None, :] < 1, x[None, :], 0))
        seen["halves"] = tl.values((at >> 1) * 0.5)

    seen = run_of(m, evens, X)
    assert (seen["even"] == np.where(np.arange(8) % 2 == 0, X, 0)).all() and (seen["first"] == np.where(np.arange(8) < 4, X, 0)).all()
    assert (seen["halves"] == (np.arange(8) // 2) * 0.5).all()


@pytest.mark.parametrize("call, words", [
    (lambda x, at: tl.load(x + at, mask=at % 2 == 0), r"a mask of values: load all, then where\(\)"),
    (lambda x, at: ((at - 4) % 8) * 0.5, "offsets that went on behind a %, // or >>"),
    (lambda x, at: (at % 3 + 1) * 0.5, "offsets that went on behind a %, // or >>"),
    (lambda x, at: (at[:, None] + at[None, :]) * 0.5, "offsets along several axes are no operands")])
def test_offsets_that_are_no_operands(m, call, words):
    with pytest.raises(kernbench.KernelError, match=words):
        run_of(m, lambda seen, x_ptr: call(x_ptr, tl.arange(0, 8)), X)


@pytest.mark.parametrize("given", [lambda x: x, kernbench.by_rows, lambda x: kernbench.by_rows(x, "f32")])
def test_another_byte_order_is_named(given):
    with pytest.raises(kernbench.BadArgument, match=r"an array of >f4: its byte order is another one, array.astype\('<f4'\)"):
        kernbench.kernel(lambda x_ptr: None)[(1,)](given(np.zeros(8, ">f4")))
