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
    (lambda x, at: tl.load(x + at, mask=at % 2 == 0), r"a mask that is no box of offsets: load all, then where\(\)"),
    (lambda x, at: tl.load(x + at, mask=tl.load(x + at) > 0), r"a mask of values: load all, then where\(\)"),
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


# -- sums of products -----------------------------------------------------------------------------

M8 = np.arange(-32, 32).reshape(8, 8)


def block(x_ptr):
    at = tl.arange(0, 8)
    return tl.load(x_ptr + at[:, None] * 8 + at[None, :])


@pytest.mark.parametrize("kind, of", [("f4", tl.float32), ("f8", tl.float64), ("i1", tl.int32), ("i2", tl.int32), ("i8", tl.int64)])
def test_products_are_added_up_in_the_type_of_triton(m, kind, of):
    x = (M8 / 3 if kind[0] == "f" else M8).astype(kind)

    def sums(seen, x_ptr):
        a = block(x_ptr)
        acc = tl.zeros((8, 8), of)
        for _ in range(2):
            acc = tl.dot(a, a, acc)
        seen["alone"], seen["sum"] = tl.values(tl.dot(a, a)), tl.values(acc)

    seen = run_of(m, sums, x)
    wide = x.astype(of.numpy)
    assert seen["alone"].dtype == wide.dtype and seen["sum"].dtype == wide.dtype
    np.testing.assert_allclose(seen["alone"], wide @ wide, rtol=1e-14 if kind == "f8" else 1e-5)
    np.testing.assert_allclose(seen["sum"], 2 * (wide @ wide), rtol=1e-14 if kind == "f8" else 1e-5)


def test_products_of_f16_are_added_up_in_f16_if_that_is_said(m):
    def sums(seen, x_ptr):
        a = block(x_ptr).to(tl.float16)
        acc = tl.zeros((8, 8), tl.float16)
        for _ in range(2):
            acc = tl.dot(a, a, acc, out_dtype=tl.float16)
        seen["sum"] = tl.values(acc)

    half = (M8 / 64).astype(np.float16)
    product = (half.astype(np.float32) @ half.astype(np.float32)).astype(np.float16)
    assert (run_of(m, sums, half.astype(np.float32))["sum"] == product + product).all()


@pytest.mark.parametrize("of, out, words", [
    (tl.float16, None, "a product of f32 is not added to f16: zeros of f32, or out_dtype=tl.float16"),
    (tl.float32, tl.float16, "a product of f16 is not added to f32: zeros of f16, or out_dtype=tl.float32"),
    (tl.int32, None, "a product of f32 is not added to i32: zeros of f32$")])
def test_a_sum_of_another_type_is_refused(m, of, out, words):
    refused(m, lambda seen: tl.dot(tile(), tile(), tl.zeros((8, 8), of), out_dtype=out), words)


@pytest.mark.parametrize("change", [lambda a, acc: tl.dot(a, a, acc), lambda a, acc: acc * 2])
def test_a_sum_that_has_changed_in_the_engine_is_not_what_it_was(m, change):
    words = "this sum has been changed in the engine since"

    def other_name(seen):
        first = tl.dot(tile(), tile(), tl.zeros((8, 8), tl.float32))
        second = change(tile(), first)
        return first + second

    def no_name(seen):
        acc = tl.dot(tile(), tile(), tl.zeros((8, 8), tl.float32))
        change(tile(), acc)
        return change(tile(), acc)

    refused(m, other_name, words)
    refused(m, no_name, words)


def test_a_sum_that_was_stored_stays_what_it_was(m):
    def sums(seen, x_ptr):
        a = block(x_ptr)
        first = tl.dot(a, a, tl.zeros((8, 8), tl.float32))
        seen["first"] = tl.values(first)
        seen["second"], seen["scaled"] = tl.values(tl.dot(a, a, first)), tl.values(first * 3)
        seen["again"] = tl.values(first)

    x = M8.astype(F)
    seen = run_of(m, sums, x)
    assert (seen["first"] == x @ x).all() and (seen["again"] == x @ x).all()
    assert (seen["second"] == 2 * (x @ x)).all() and (seen["scaled"] == 3 * (x @ x)).all()


# -- numbers of a program -------------------------------------------------------------------------


def test_offsets_that_go_down(m):
    def down(seen, x_ptr):
        at = tl.arange(0, 8)
        seen["from"], seen["minus"] = tl.values(tl.load(x_ptr + (7 - at))), tl.values(tl.load(x_ptr + 7 + -at))
        seen["masked"] = tl.values(tl.load(x_ptr + at, mask=(7 - at) >= 3, other=-1))
        seen["operand"] = tl.values(tl.load(x_ptr + at) + (7 - at))

    seen = run_of(m, down, X)
    assert (seen["from"] == X[::-1]).all() and (seen["minus"] == X[::-1]).all()
    assert (seen["masked"] == np.where(np.arange(8) < 5, X, -1)).all() and (seen["operand"] == X + np.arange(7, -1, -1)).all()


def test_a_step_down_of_one_element(m):
    def down(seen, x_ptr):
        at = tl.arange(0, 1)[:, None] * -2 + tl.arange(0, 3)[None, :] * 2 + 2
        seen["x"] = tl.values(tl.load(x_ptr + at))

    assert run_of(m, down, X)["x"].tolist() == [X[2:8:2].tolist()]


def test_masks_that_a_program_knows(m):
    def masked(seen, x_ptr, y_ptr, n):
        at = tl.arange(0, 8)
        mask = at < 5
        seen["and"] = [tl.values(tl.load(x_ptr + at, mask=both, other=-1)) for both in (mask & (n > 3), (n > 4) & mask)]
        seen["all"] = [tl.values(tl.load(x_ptr + at, mask=n > k, other=-1)) for k in (3, 4)]
        seen["one"] = [tl.values(tl.load(x_ptr + 2, mask=n > k, other=-1) + at) for k in (3, 4)]
        seen["where"] = tl.values(tl.where(mask & (n > 4), tl.load(x_ptr + at), -2))
        tl.store(y_ptr + at, tl.load(x_ptr + at))
        tl.store(y_ptr + at, 0, mask=n > 4)
        tl.store(y_ptr + 2, 0, mask=n > 4)
        tl.atomic_add(y_ptr + 2, 1, mask=n > 4)
        seen["stored"] = tl.values(tl.load(y_ptr + at))

    at = np.arange(8)
    seen = run_of(m, masked, X, kernbench.empty((8,), "i32"), 4)
    assert (seen["and"][0] == np.where(at < 5, X, -1)).all() and (seen["and"][1] == -1).all()
    assert (seen["all"][0] == X).all() and (seen["all"][1] == -1).all()
    assert (seen["one"][0] == X[2] + at).all() and (seen["one"][1] == at - 1).all()
    assert (seen["where"] == -2).all() and (seen["stored"] == X).all()


KNOWN = {  # of rows 0 to 4 and columns 0 to 3: by tl and by numpy
    "one": lambda r, c: r == 2, "others": lambda r, c: r != 0, "last": lambda r, c: c != 3, "not": lambda r, c: ~(r >= 3),
    "neither": lambda r, c: ~((r < 1) | (r > 3)) & (c != 0), "two": lambda r, c: (r == 1) | (r == 2),
    "between": lambda r, c: (c >= 1) ^ (c >= 3), "rests": lambda r, c: r % 5 // 2 == 1, "corner": lambda r, c: (r == 4) & (c == 3),
    "nothing": lambda r, c: (r == 4) & (r == 3), "diagonal": lambda r, c: (r + c == 0), "all": lambda r, c: (r < 2) | ~(r < 2),
    "plain": lambda r, c: (r < 9) & True | False, "turned": lambda r, c: ~(c < 2) ^ True}


@pytest.mark.parametrize("name", KNOWN)
def test_masks_that_are_boxes(m, name):
    def masked(seen, x_ptr, y_ptr):
        r, c = tl.arange(0, 5)[:, None], tl.arange(0, 4)[None, :]
        mask = KNOWN[name](r, c)
        seen["x"] = tl.values(tl.load(x_ptr + r * 4 + c, mask, other=-1))
        tl.store(y_ptr + r * 4 + c, tl.zeros((5, 4), tl.int32))
        tl.store(y_ptr + r * 4 + c, 1, mask)
        seen["y"] = tl.values(tl.load(y_ptr + r * 4 + c))
        if name != "diagonal":  # along two axes
            seen["operand"] = tl.values(tl.zeros((5, 4), tl.int32) + mask)

    r, c = np.arange(5)[:, None], np.arange(4)[None, :]
    want = np.broadcast_to(KNOWN[name](r, c), (5, 4))
    x = np.arange(20, dtype=np.int32).reshape(5, 4)
    seen = run_of(m, masked, x, kernbench.by_rows(np.zeros((1, 20), np.int32)))
    assert (seen["x"] == np.where(want, x, -1)).all() and (seen["y"] == want).all()
    assert name == "diagonal" or (seen["operand"] == want).all()


@pytest.mark.parametrize("mask", [lambda r, c: ~((r == 2) & (c == 2)), lambda r, c: r % 2 == 0, lambda r, c: (r == 0) | (c == 0)])
def test_masks_that_are_no_boxes_are_refused(m, mask):
    def masked(seen, x_ptr):
        r, c = tl.arange(0, 4)[:, None], tl.arange(0, 4)[None, :]
        seen["operand"] = tl.values(tl.zeros((4, 4), tl.int32) + mask(r, c))
        tl.load(x_ptr + r * 4 + c, mask(r, c))

    seen = {}
    with pytest.raises(kernbench.KernelError, match="a mask that is no box of offsets"):
        m.run(kernbench.kernel(masked)[(1,)](seen, np.zeros((4, 4), np.int32)), quiet=True)
    assert (seen["operand"] == mask(np.arange(4)[:, None], np.arange(4)[None, :])).all()


def test_offsets_and_slices_are_indexed_as_in_numpy(m):
    def indexes(seen, x_ptr):
        at = tl.arange(0, 8)
        seen["front"] = (at[None].shape, at[:, None][None].shape, (at < 3)[None].shape)
        x = tl.load(x_ptr + at)
        seen["tensor"] = tl.values(x[None, :][:, 1:3][:, None])
        seen["outer"] = tl.values(x[1:3][:, None] + x[None, 4:7])
        seen["masked"] = tl.values(tl.load(x_ptr + at[None], (at < 3)[None], other=-1))

    seen = run_of(m, indexes, X)
    assert seen["front"] == ((1, 8), (1, 8, 1), (1, 8))
    assert (seen["tensor"] == X[None, :][:, 1:3][:, None]).all() and (seen["outer"] == X[1:3, None] + X[None, 4:7]).all()
    assert (seen["masked"] == np.where(np.arange(8) < 3, X, -1)[None]).all()


@pytest.mark.parametrize("key", [0, slice(1, 3), (slice(None), slice(None)), "x"])
@pytest.mark.parametrize("of", [lambda at: at, lambda at: at < 3])
def test_other_indices_of_offsets_are_refused(m, key, of):
    refused(m, lambda seen: of(tl.arange(0, 8))[key], r"offsets of shape \[8\] are indexed by : and None, not by")


def test_numbers_of_a_program_stay_numbers(m):
    def knows(seen, n):
        seen["least"], seen["most"] = tl.minimum(n, 3), tl.maximum(n, 3)
        seen["chosen"] = [tl.where(n > 3, 1, 2), tl.values(tl.where(n > 4, 1, tl.zeros((2,), tl.int32))).tolist()]

    assert run_of(m, knows, 4) == {"least": 3, "most": 4, "chosen": [1, [0, 0]]}


def test_a_where_that_is_known_is_what_a_command_is(m):
    """Of shapes, types and values: the mask covers all of the block, a part, and nothing of it."""
    def chooses(seen, x_ptr, n):
        at = tl.arange(0, 8)
        x = tl.load(x_ptr + at)
        h, i, wide = x.to(tl.float16), x.to(tl.int8), tl.load(x_ptr + at[:, None] + at[None, :] * 0)
        masks = at < n, tl.load(x_ptr + at) < n  # the second is computed
        for a, b in ((h, x), (x, h), (0.5, h), (h, 0.5), (1, i), (i, 1.5), (1, 2), (at, x), (i, at), (h, wide), (wide, h), (2, wide)):
            seen.append([(w.dtype, w.shape, tl.values(w).tolist()) for w in (tl.where(mask, a, b) for mask in masks)])
        seen.append([(None, (), tl.values(tl.sum(tl.where(mask[:, None], 1.0, wide), 1)).tolist()) for mask in masks])

    for n in (8, 5, 0):
        seen = []
        m.run(kernbench.kernel(chooses)[(1,)](seen, np.arange(8, dtype=F), n), quiet=True)
        assert len(seen) == 13
        for known, computed in seen:
            assert known == computed


def test_an_array_that_is_given_twice_is_one(m):
    @kernbench.kernel
    def doubles(x_ptr, same_ptr, y_ptr):
        at = tl.arange(0, 8)
        tl.store(same_ptr + at, tl.load(x_ptr + at) * 2)
        tl.store(y_ptr + at, tl.load(x_ptr + at))

    for x in (X, kernbench.by_rows(X)):
        t = m.run(doubles[(1,)](x, x, kernbench.empty((8,), "i32")), tensors=True, quiet=True)[1]
        assert list(t) == ["x_ptr", "y_ptr"] and (t["y_ptr"] == 2 * X).all()
    assert X[0] == -7  # the array is what it was


def test_a_part_of_a_block_is_added(m):
    @kernbench.kernel
    def adds(x_ptr, y_ptr, n):
        at = tl.arange(0, 8)
        tl.atomic_add(y_ptr + at, tl.load(x_ptr + at), mask=at < n)
        tl.atomic_add(y_ptr + at, 100, mask=at >= n)
        tl.atomic_add(y_ptr + at, tl.load(x_ptr + tl.arange(0, 1)), mask=at < 1)

    for n in (0, 3, 8):
        t = m.run(adds[(2,)](X, kernbench.by_rows(np.zeros((1, 8), np.int32)), n), tensors=True, quiet=True)[1]
        want = 2 * np.where(np.arange(8) < n, X, 100)
        want[0] += 2 * X[0]
        assert t["y_ptr"][0].tolist() == want.tolist()


@pytest.mark.parametrize("overlap", [False, True])
def test_what_was_there_before(m, overlap):
    @kernbench.kernel
    def adds(seen, y_ptr):
        tl.overlap(overlap)
        number = tl.atomic_add(y_ptr + 3, 5)
        seen[int(tl.value(number))] = tl.values(tl.atomic_add(y_ptr + 8 + tl.arange(0, 1)[None], 2.5) * 2).shape
        tl.atomic_add(y_ptr + tl.arange(0, 8), 1, mask=tl.arange(0, 8) > 3)

    seen = {}
    t = m.run(adds[(4,)](seen, kernbench.by_rows(np.zeros((1, 9), F))), tensors=True, quiet=True)[1]
    assert seen == {0: (1, 1), 5: (1, 1), 10: (1, 1), 15: (1, 1)}
    assert t["y_ptr"].tolist() == [[0, 0, 0, 20, 4, 4, 4, 4, 10]]


@pytest.mark.parametrize("mask", [None, False])
def test_what_was_there_before_is_of_one_element(m, mask):
    @kernbench.kernel
    def adds(y_ptr):
        tl.atomic_add(y_ptr + tl.arange(0, 2), 5, mask) + 1

    with pytest.raises(kernbench.KernelError, match="tells what was there before of one element that is added to"):
        m.run(adds[(1,)](kernbench.by_rows(np.zeros((1, 2), np.int32))), quiet=True)


def test_atomics_take_no_room_and_overlap(m):
    @kernbench.kernel
    def adds(seen, x_ptr, y_ptr):
        at = tl.arange(0, 4096)
        for overlap in (False, True):
            tl.overlap(overlap)
            begin = tl.time()
            tl.load(x_ptr + at)
            tl.atomic_add(y_ptr, 1)
            seen[overlap] = tl.time() - begin
        tl.overlap(False)
        for _ in range(20000):  # 64 bytes each would be 1.2 MB
            tl.atomic_add(y_ptr, 1)

    seen = {}
    t = m.run(adds[(1,)](seen, np.zeros(4096, F), kernbench.by_rows(np.zeros((1, 1), np.int32))), tensors=True, quiet=True)[1]
    assert t["y_ptr"][0] == 20002 and seen[True] < seen[False] - 60  # the bytes of the load alone take it 64 ns


def test_blocks_that_begin_before_the_first_row(m):
    def halo(seen, x_ptr):
        def part(offsets, axes):
            return tl.values(tl.load(tl.make_block_ptr(x_ptr, (8, 8), (8, 1), offsets, (4, 4), (1, 0)), boundary_check=axes))

        seen["corner"], seen["right"], seen["left"] = part((-1, -2), (0, 1)), part((6, 6), (0, 1)), part((2, -3), (-1,))

    x = np.arange(64, dtype=F).reshape(8, 8) + 1
    wide = np.zeros((16, 16), F)
    wide[4:12, 4:12] = x
    seen = run_of(m, halo, x)
    assert (seen["corner"] == wide[3:7, 2:6]).all() and (seen["right"] == wide[10:14, 10:14]).all()
    assert (seen["left"] == wide[6:10, 1:5]).all()


def test_zeros_have_signs(m):
    def signs(seen):
        one = tl.full((4,), 1, tl.float32).tensor()
        seen["plus"], seen["minus"] = tl.values(1 / (one * 0.0)), tl.values(1 / (one * -0.0))

    seen = run_of(m, signs)
    assert (seen["plus"] == np.inf).all() and (seen["minus"] == -np.inf).all()


@pytest.mark.parametrize("call, words", [
    (lambda x: tl.sum(x, 2), r"tl.sum .* axis 2 is none of shape \[8, 8\]"),
    (lambda x: tl.max(x, -3), r"tl.max .* axis -3 is none of shape \[8, 8\]"),
    (lambda x: tl.argmin(x, 1.0), r"tl.argmin .* axis 1.0 is none of shape \[8, 8\]"),
    (lambda x: tl.gather(x, tl.zeros((2,), tl.int32), 2), r"tl.gather .* axis 2 is none of shape \[8, 8\]"),
    (lambda x: tl.expand_dims(x, 3), r"tl.expand_dims .* axis 3 is none"),
    (lambda x: tl.permute(x, (0, 2)), r"tl.permute .* axis 2 is none of shape \[8, 8\]"),
    (lambda x: tl.permute(x, (0, 0)), r"tl.permute .* axes \[0, 0\] are not those of shape \[8, 8\], each once"),
    (lambda x: tl.trans(x[0:1, 0:1][None], 0, 1), r"tl.trans .* axes \[0, 1\] are not those of shape \[1, 1, 1\], each once"),
    (lambda x: tl.program_id(3), r"tl.program_id .* axis 3 of the grid: it has axes 0 to 2"),
    (lambda x: tl.num_programs(-1), r"tl.num_programs .* axis -1 of the grid: it has axes 0 to 2"),
    (lambda x: tl.arange(4, 4), r"tl.arange .* arange\(4, 4\): integers, the first below the second"),
    (lambda x: tl.arange(0, 8.0), r"tl.arange .* arange\(0, 8.0\): integers"),
    (lambda x: tl.static_assert(False, "so it is"), "tl.static_assert .* so it is"),
    (lambda x: tl.device_print("x", x, hex=True), r"hex=True of device_print\(\) is not simulated")])
def test_what_is_not_there_is_refused(m, call, words):
    refused(m, lambda seen: call(tile()), words)


def test_what_is_known_is_printed_without_a_command(m, capfd):
    def prints(seen, x_ptr):
        at = tl.arange(0, 3)
        x = tl.load(x_ptr + at)
        times = [tl.time()]
        x + 1
        times.append(tl.time())
        tl.device_print("x", x, tl.program_id(0), at * 2)
        tl.device_print("more ", tl.zeros((2,), tl.float32), at < 2, x + 1)
        times.append(tl.time())
        seen["took"] = np.diff(times)

    seen = run_of(m, prints, X)
    lines = capfd.readouterr().err.splitlines()
    assert [line.split(": ", 2)[2] for line in lines] == ["i32 [3]: -7 -1 0", "x 0", "x [0, 2, 4]", "more f32 [2]: all 0",
                                                          "more known only as a tensor", "i32 [3]: pending"]
    assert all(line.startswith("kernel prints on c0.pe0: ") and "test_dialect.py:" in line for line in lines)
    assert seen["took"][0] == pytest.approx(seen["took"][1])  # of the sum alone


@pytest.mark.parametrize("function, words", [(lambda *x: None, r"arguments of a kernel have names, '\*x' does not"),
                                             (lambda **x: None, r"arguments of a kernel have names, '\*\*x' does not")])
def test_arguments_have_names(function, words):
    with pytest.raises(kernbench.BadArgument, match=words):
        kernbench.kernel(function)


@pytest.mark.parametrize("make, words", [(lambda: kernbench.empty((4, -1)), r"the shape of an output is \(4, -1\): extents below 0"),
                                         (lambda: kernbench.empty((1,) * 7), "tensor 'x' has rank 7; 1 to 6 are possible")])
def test_shapes_that_cannot_be(m, make, words):
    with pytest.raises(kernbench.BadArgument, match=words):
        m.run(kernbench.kernel(lambda x: None)[(1,)](make()))


# -- what belongs to one PE, and what is nothing of the language ------------------------------------

KEPT = {}


def keeps(seen, x_ptr):
    at = tl.arange(0, 8)
    KEPT["x"], KEPT["sum"] = tl.load(x_ptr + at), tl.dot(tile(), tile(), tl.zeros((8, 8), tl.float32))


@pytest.mark.parametrize("use", [lambda: KEPT["x"] * 2, lambda: 1 - KEPT["x"], lambda: tl.sum(KEPT["x"]), lambda: tl.value(KEPT["x"]),
                                 lambda: KEPT["x"][2:4], lambda: KEPT["x"].to(tl.float16), lambda: tl.trans(KEPT["sum"]),
                                 lambda: tl.dot(tile(), tile(), KEPT["sum"]), lambda: KEPT["sum"] * 2])
def test_tensors_of_another_run_or_pe_are_refused(m, use):
    run_of(m, keeps, X)
    refused(m, lambda seen: use(), "is of another run, or of another PE: each has (tensors|sums) of its own")

    @kernbench.kernel
    def shares(x_ptr):
        if tl.program_id(0) == 0:
            keeps(None, x_ptr)
        tl.time()  # the other one begins
        if tl.program_id(0) == 1:
            use()

    with pytest.raises(kernbench.KernelError, match="shares on c0.pe1: .* is of another run, or of another PE"):
        m.run(shares[(2,)](X))


@pytest.mark.parametrize("kind", [tl.float16, tl.bfloat16, tl.float32, tl.float64])
def test_arithmetic_of_constants_is_rounded_as_that_of_tensors(m, kind):
    def computes(seen):
        known, made = tl.full((4,), 0.1, kind), tl.full((4,), 0.1, kind).tensor()
        for f in (lambda x: x * 3, lambda x: x * 0.7 + 1 / 3, lambda x: (x - 0.3) * 10, lambda x: x + 2049):
            seen.append([tl.values(f(x).to(tl.float64)).tolist() for x in (known, made)])

    seen = []
    m.run(kernbench.kernel(computes)[(1,)](seen), quiet=True)
    assert len(seen) == 4 and all(known == made for known, made in seen)


KINDS = [tl.float16, tl.bfloat16, tl.float32, tl.float8e4nv, tl.float8e5, tl.int8, tl.uint8, tl.int16, tl.uint16, tl.int32, tl.uint32, tl.int1]


@pytest.mark.parametrize("value", [0.1, -2.7, 300.7, 1e6, -1e30, float("inf"), float("nan"), 200, -1])
def test_constants_are_cast_as_tensors_are(m, value):
    def casts(seen):
        for of in KINDS:
            if not of.floating and (isinstance(value, float) or not of.holds(value)):
                continue
            for kind in KINDS:
                known, made = tl.full((4,), value, of).to(kind), tl.full((4,), value, of).tensor().to(kind)
                seen.append([str(tl.values((x + 0.0 if kind.floating else x).to(tl.float64))) for x in (known, made)] + [of, kind])

    seen = []
    m.run(kernbench.kernel(casts)[(1,)](seen), quiet=True)
    assert len(seen) >= 5 * len(KINDS) and [x for x in seen if x[0] != x[1]] == []


def test_what_is_known_may_be_shared_by_pes(m):
    zero = tl.full((8,), 3, tl.int32)

    @kernbench.kernel
    def adds(x_ptr, y_ptr):
        at = tl.arange(0, 8)
        tl.store(y_ptr + tl.program_id(0) * 8 + at, tl.load(x_ptr + at) + zero)

    for _ in range(2):
        t = m.run(adds[(4,)](X, kernbench.empty((4, 8), "i32")), tensors=True, quiet=True)[1]
        assert (t["y_ptr"] == X + 3).all()


@pytest.mark.parametrize("call, words", [
    (lambda x, p: tl.value(x, 1.0), r"tl.value .* 1.0 is no whole number of 64 bits"), (lambda x, p: tl.topk(x, 2.0), "tl.topk .* 2.0 is no whole number"),
    (lambda x, p: tl.softmax(x, 1 << 63), "tl.softmax .* 9223372036854775808 is no whole number of 64 bits"),
    (lambda x, p: x * None, "operator mul .* None is no operand"), (lambda x, p: x * "3", "operator mul .* '3' is no operand"),
    (lambda x, p: x * np.arange(4), r"operator mul .* array\(\[0, 1, 2, 3\]\) is no operand"),
    (lambda x, p: np.arange(4) * x, r"operator rmul .* array\(\[0, 1, 2, 3\]\) is no operand"),
    (lambda x, p: x * 10**400, "operator mul .* is no operand: that is a tensor, or a number as f64 has it"),
    (lambda x, p: x == 1j, "operator eq .* 1j is no operand"), (lambda x, p: x.to(tl.int8) + None, "operator add .* None is no operand"),
    (lambda x, p: tl.zeros((4,), "f32"), "tl.zeros .* 'f32' is no type of tensors"), (lambda x, p: x.to("f16"), "tl.to .* 'f16' is no type of tensors"),
    (lambda x, p: x.to(tl.float8e4b15), "tl.to .* f8e4b15 is no type of tensors"),
    (lambda x, p: tl.load(5), "tl.load .* 5 is no pointer"), (lambda x, p: tl.load(x), r"tl.load .* <tensor f32\[8, 8\]> is no pointer"),
    (lambda x, p: tl.store(tl.arange(0, 8), x), r"tl.store .* <index i32\[8\]> is no pointer"),
    (lambda x, p: p + 1.5, "operator add .* 1.5 is no offset"), (lambda x, p: p + p, "operator add .* <pointer to p> is no offset"),
    (lambda x, p: p + x, r"operator add .* an offset that is a tensor: value\(x\) computes it"),
    (lambda x, p: tl.load(p + tl.arange(0, 4), tl.arange(0, 4) < 2, x), r"tl.load .* <tensor f32\[8, 8\]> is no operand")])
def test_operands_that_are_none_are_refused(m, call, words):
    with pytest.raises(kernbench.KernelError, match=words) as e:
        m.run(kernbench.kernel(lambda p: call(tile(), p))[(1,)](X))
    assert isinstance(e.value.__cause__, tl.KernelMistake)


def test_the_sign_of_other(m):
    def loads(seen, x_ptr):
        seen["minus"] = tl.values(1 / tl.load(x_ptr + tl.arange(0, 4), tl.arange(0, 4) < 2, other=-0.0))
        seen["seeds"] = [tl.values(tl.rand(seed, (4,))).tolist() for seed in (-1, 2**64 - 1, 1)]

    seen = run_of(m, loads, np.ones(8, F))
    assert seen["minus"].tolist() == [1, 1, -np.inf, -np.inf] and seen["seeds"][0] == seen["seeds"][1] != seen["seeds"][2]


# -- arrays of another type -----------------------------------------------------------------------


def copied(m, array, kind, as_kind):
    """What by_rows() has made of an array, as a kernel loads it."""
    @kernbench.kernel
    def copies(x_ptr, y_ptr, n):
        at = tl.arange(0, n)
        tl.store(y_ptr + at, tl.load(x_ptr + at))

    return m.run(copies[(1,)](kernbench.by_rows(array, kind), kernbench.empty(len(array), as_kind), len(array)), tensors=True, quiet=True)[1]["y_ptr"]


def test_arrays_of_another_type_are_converted(m):
    x = np.array([1 / 3, -2.5, 70000, 500, 1e-9, -0.0], F)
    bf16 = (x.view(np.uint32) + 0x8000 >> 16 << 16).astype(np.uint32).view(F)
    with np.errstate(over="ignore"):
        half = x.astype(np.float16).astype(F)
    assert (copied(m, x, "f16", "f32") == half).all() and (copied(m, x.astype(float), "f16", "f32") == half).all()
    assert (copied(m, x, "bf16", "f32") == bf16).all()
    assert copied(m, x, "f8e4m3", "f32").tolist() == [0.34375, -2.5, 448, 448, 0, 0]
    assert copied(m, x, "f64", "f64").tolist() == x.astype(float).tolist()
    assert copied(m, np.array([127, -128, 0]), "i8", "i32").tolist() == [127, -128, 0]
    assert copied(m, np.array([True, False]), "u16", "i32").tolist() == [1, 0]
    assert copied(m, np.array([2**63 - 1, 2**53 + 1]), "u64", "u64").tolist() == [2**63 - 1, 2**53 + 1]
    assert copied(m, np.array([0x3f80, 0xc000], np.uint16), "bf16", "f32").tolist() == [1, -2]


@pytest.mark.parametrize("array, kind, words", [
    (np.array([128]), "i8", "an array of int64 is none of i8: not all of its numbers fit"),
    (np.array([-1]), "u64", "an array of int64 is none of u64: not all of its numbers fit"),
    (np.array([1.5]), "i32", "an array of float64 is none of i32$"), (np.array([1]), "bf16", "an array of int64 is none of bf16$"),
    (np.array([1], np.uint8), "f16", "an array of uint8 is none of f16$"), (np.array([1.0]), "i4", "'i4' is no type")])
def test_arrays_that_are_no_other_type_are_refused(array, kind, words):
    with pytest.raises(kernbench.BadArgument, match=words):
        kernbench.by_rows(array, kind)
