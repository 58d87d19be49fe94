"""test_kernels.py -- kernels in Python: the results of numpy, the times of the same kernels in C, places of
mistakes, every method that takes a bench."""
import inspect
import pickle
import sys
import threading

import numpy as np
import pytest

import kernbench
import kernbench.language as tl
from conftest import ROOT
from kernbench import _runs

sys.path.insert(0, str(ROOT / "examples"))
import kernels  # noqa: E402

MAKERS = [kernels.softmaxes, kernels.products, kernels.layer_norms, kernels.attentions]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("engine", ["fused", "hop"])
def test_results_are_those_of_numpy(m, make, engine):
    launch, wanted = make(np.random.default_rng(7))
    rows, found = m.run(launch, tensors=True, quiet=True, engine=engine)
    for name, want in wanted.items():
        np.testing.assert_allclose(found[name].astype(float), want, rtol=5e-3, atol=5e-3)
    assert rows.kernel_ns[0] > 0


# -- as in C --------------------------------------------------------------------------------------

SOFTMAX = r"""
#include <math.h>
#include "tl.h"

static void softmax(tl_ctx *tl, const kb_args *args)
{
    uint32_t pe = tl_pe(tl);

    for (int64_t row = pe; row < 200; row += 64) {
        kb_shard in = kb_tensor_shard(args->tensors[1], pe);
        uint64_t out = 0;
        tl_tensor *x, *e, *y, *part;

        part = tl_load(tl, in.address + (uint64_t)row * 400, KB_F32, KB_SHAPE(100));
        x = tl_full(tl, KB_F32, KB_SHAPE(128), -INFINITY);
        tl_update(tl, x, 0, 0, part);
        y = tl_max(tl, x, 0, false);
        e = tl_sub(tl, x, y);
        e = tl_exp(tl, e);
        y = tl_sum(tl, e, 0, false);
        y = tl_div(tl, e, y);
        for (uint32_t of = 0; of < 64; of++) {
            kb_shard s = kb_tensor_shard(args->tensors[0], of);

            if (row >= s.first[0] && row < s.first[0] + s.shape.dim[0])
                out = s.address + (uint64_t)(row - s.first[0]) * 400;
        }
        tl_store(tl, out, tl_slice(tl, y, 0, 0, 100));
    }
}

static void setup(kb_bench_run *run)
{
    kb_placement rows = {KB_ROW_WISE, KB_ROW_WISE}, copies = {KB_REPLICATE, KB_REPLICATE};

    kb_bench_output(run, "y", KB_F32, KB_SHAPE(200, 100), rows);
    kb_bench_input(run, "x", KB_F32, KB_SHAPE(200, 100), copies, 1);
    kb_bench_launch(run, "softmax", softmax, NULL, 0);
}

static const kb_bench bench = {.name = "softmax_in_c", .summary = "rows", .setup = setup};
KB_BENCHES(&bench);
"""

PRODUCT = r"""
#include "tl.h"

static tl_tensor *part(tl_ctx *tl, uint64_t at, int64_t rows, int64_t columns, int64_t pitch, int64_t m, int64_t n)
{
    int64_t strides[] = {2 * pitch, 2};
    tl_tensor *x, *y;

    x = columns == pitch ? tl_load(tl, at, KB_F16, KB_SHAPE(rows, columns))
                         : tl_load_strided(tl, at, KB_F16, KB_SHAPE(rows, columns), strides);
    if (rows < m) {
        y = tl_full(tl, KB_F16, KB_SHAPE(m, columns), 0);
        x = tl_update(tl, y, 0, 0, x);
    }
    if (columns < n) {
        y = tl_full(tl, KB_F16, KB_SHAPE(m, n), 0);
        x = tl_update(tl, y, 1, 0, x);
    }
    return x;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void product(tl_ctx *tl, const kb_args *args)
{
    uint32_t pe = tl_pe(tl);
    int64_t i = pe / 3 * 64, j = pe % 3 * 64, rows = least(64, 150 - i), columns = least(64, 130 - j);
    uint64_t a = kb_tensor_shard(args->tensors[0], pe).address, b = kb_tensor_shard(args->tensors[1], pe).address;
    tl_acc *acc = NULL;
    tl_tensor *x, *y, *less, *small;
    tl_run runs[64];
    uint32_t n = 0;

    for (int64_t k = 0; k < 90; k += 32) {
        int64_t depth = least(32, 90 - k);

        x = part(tl, a + 2 * (uint64_t)(i * 90 + k), rows, depth, 90, 64, 32);
        y = part(tl, b + 2 * (uint64_t)(k * 130 + j), depth, columns, 130, 32, 64);
        if (!acc)
            acc = tl_acc_new(tl, KB_F32, 64, 64);
        tl_dot_acc(tl, acc, x, y);
    }
    x = tl_acc_store(tl, acc, KB_F32);
    less = tl_ge(tl, x, tl_scalar(tl, 0));
    small = tl_mul(tl, tl_scalar(tl, 0.01), x);
    x = tl_where(tl, less, x, small);
    x = tl_cast(tl, x, KB_F16);
    if (rows < 64)
        x = tl_slice(tl, x, 0, 0, rows);
    if (columns < 64)
        x = tl_slice(tl, x, 1, 0, columns);
    for (int64_t r = 0; r < rows; r++)
        for (uint32_t of = 0; of < 64; of++) {
            kb_shard s = kb_tensor_shard(args->tensors[2], of);

            if (i + r >= s.first[0] && i + r < s.first[0] + s.shape.dim[0])
                runs[n++] = (tl_run){s.address + (uint64_t)((i + r - s.first[0]) * 130 + j) * 2, (uint64_t)columns * 2};
        }
    tl_store_list(tl, runs, n, x);
}

static void setup(kb_bench_run *run)
{
    kb_placement rows = {KB_ROW_WISE, KB_ROW_WISE}, copies = {KB_REPLICATE, KB_REPLICATE};
    static const uint32_t pes[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};

    kb_bench_input(run, "a", KB_F16, KB_SHAPE(150, 90), copies, 1);
    kb_bench_input(run, "b", KB_F16, KB_SHAPE(90, 130), copies, 1);
    kb_bench_output(run, "c", KB_F16, KB_SHAPE(150, 130), rows);
    kb_bench_launch(run, "product", product, pes, 9);
}

static const kb_bench bench = {.name = "product_in_c", .summary = "blocks", .setup = setup};
KB_BENCHES(&bench);
"""


@pytest.mark.parametrize("make, source", [(kernels.softmaxes, SOFTMAX), (kernels.products, PRODUCT)])
def test_times_are_those_of_the_same_kernel_in_c(m, make, source):
    launch, _ = make(np.random.default_rng(1))
    mine, theirs = m.run(launch, quiet=True), m.run(kernbench.compile(source), quiet=True)
    for column in ("start_ns", "kernel_ns", "total_ns", "ops", "dma_read_bytes", "dma_write_bytes", "gemm_macs", "math_elements"):
        assert mine[column][0] == theirs[column][0], column


# -- places ---------------------------------------------------------------------------------------


@kernbench.kernel
def unfit(x_ptr, n):
    x = tl.load(x_ptr + tl.arange(0, n))
    return x + tl.load(x_ptr + tl.arange(0, n - 1))


@kernbench.kernel
def exhausts(x_ptr, n):
    kept = []
    while True:
        kept.append(tl.full((n,), 1, tl.float32) + tl.load(x_ptr))


@kernbench.kernel
def divides(x_ptr, n):
    return n / tl.value(tl.load(x_ptr + tl.arange(0, n)), 0)


@kernbench.kernel
def beyond(x_ptr, n):
    tl.load(x_ptr + tl.arange(0, n + 1))


@pytest.mark.parametrize("function, line, call, text, cause", [
    (unfit, 2, "operator add", "shapes [8] and [7] do not broadcast", "KernelMistake"),
    (exhausts, 3, "tl_", "the TCM is exhausted", None),
    (divides, 1, "Python", "ZeroDivisionError: float division by zero", "ZeroDivisionError"),
    (beyond, 1, "tl.load", "elements 0 to 8 are not in x_ptr, which has 8", "KernelMistake")])
def test_mistakes_name_the_line(m, function, line, call, text, cause):
    n = 8 if function is not exhausts else 1 << 16
    x = np.zeros(8, np.float32)
    place = inspect.getsourcelines(function.function)[1] + 1 + line
    with pytest.raises(kernbench.KernelError) as e:
        m.run(function[(1,)](x, n), quiet=True)
    assert f"kernel {function.__name__} on c0.pe0: {call}" in str(e.value) and "tl_fail" not in str(e.value)
    assert f"test_kernels.py:{place}: " in str(e.value) and text in str(e.value)
    assert type(e.value.__cause__).__name__ == (cause or "NoneType")


def test_the_cell_of_a_notebook_is_named(m):
    source = "@kernbench.kernel\ndef cell(x_ptr):\n    tl.load(x_ptr + tl.arange(0, 4)) + tl.load(x_ptr + tl.arange(0, 8))\n"
    names = {"kernbench": kernbench, "tl": tl}
    exec(compile(source, "/tmp/ipykernel_7/123.py", "exec"), names)
    with pytest.raises(kernbench.KernelError, match="/tmp/ipykernel_7/123.py:3: shapes"):
        m.run(names["cell"][(1,)](np.zeros(8, np.float32)))


def test_a_kernel_alone_is_no_bench(m):
    for method in (m.run, m.why, m.breakdown, m.race):
        with pytest.raises(kernbench.BadArgument, match=r"the kernel unfit has no grid and no arguments: unfit\[grid\]\(...\)"):
            method(unfit)
        with pytest.raises(kernbench.BadArgument, match="the kernel unfit has no arguments"):
            method(unfit[(4,)])


def test_a_mistake_is_an_error_of_the_package():
    with pytest.raises(kernbench.KernelError, match="^this is called outside of a kernel$") as e:
        beyond(np.zeros(8, np.float32), 8)
    assert e.value.code == 7 and isinstance(e.value, tl.KernelMistake)
    again = pickle.loads(pickle.dumps(e.value))
    assert type(again) is tl.KernelMistake and str(again) == str(e.value)


def test_notes_are_of_the_users_line(m):
    with pytest.warns(kernbench.Note) as notes:
        m.run("softmax", M=1, N=64)
        kernbench.vary(m, {"sips": [1, 2]}).run("softmax", M=1, N=64)
        m.breakdown("softmax", M=1, N=64)
    assert len(notes) >= 2 and {note.filename for note in notes} == {__file__}


def test_wrong_inputs_are_named_as_inputs(m):
    with pytest.raises(kernbench.BadArgument) as e:
        m.run("gather", inputs={"index": np.arange(3)}, M=64, L=64)
    assert 'inputs["index"]' in str(e.value) and ".npy" not in str(e.value) and "tmp" not in str(e.value)


def test_wrong_arguments_are_refused():
    with pytest.raises(kernbench.BadArgument, match=r"unfit\(\): missing a required argument: 'n'"):
        unfit[(1,)](np.zeros(8, np.float32))
    with pytest.raises(kernbench.BadArgument, match="'f8' is no type"):
        kernbench.empty((4,), "f8")
    with pytest.raises(kernbench.BadArgument, match="an array of complex128 has no type"):
        unfit[(1,)](np.zeros(8, complex), 8)
    with pytest.raises(Exception, match="outside of a kernel"):
        tl.zeros((4,), tl.float32) + tl.arange(0, 4)


# -- what takes a bench ---------------------------------------------------------------------------


def test_every_method_takes_a_kernel(m):
    launch, _ = kernels.softmaxes(np.random.default_rng(1))
    rows = m.run(launch, quiet=True)
    assert m.run(launch, quiet=True).kernel_ns[0] == rows.kernel_ns[0]
    assert {"pe_math", "pe_dma"} & set(str(m.breakdown(launch, quiet=True).to_dict()).replace("'", " ").replace(".", " ").split())
    assert m.why(launch, quiet=True).kernel_ns[0] == rows.kernel_ns[0]
    assert len(m.race(launch, quiet=True)) == 0
    found = kernbench.vary(m, {"cube.pe.pe_math.special_cycles": [4, 8]}).run(launch, quiet=True)
    assert found.kernel_ns[0] == rows.kernel_ns[0] < found.kernel_ns[1]
    assert not _runs._runs


@kernbench.kernel
def fails_or_doubles(x_ptr, y_ptr, fails, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y_ptr + at, tl.load(x_ptr + at, mask=at < 1000) * 2, mask=at < 1000)
    if fails:
        raise LookupError(fails)


def test_a_launch_runs_in_two_threads_at_once(m):
    x = np.arange(1000, dtype=np.float32)
    launch = fails_or_doubles[(8,)](x, kernbench.empty(1000), None, B=128)
    wrong = fails_or_doubles[(8,)](x, kernbench.empty(1000), "on purpose", B=128)
    both = kernbench.Launches()
    both.launch(launch)
    want, seen = m.run(launch, quiet=True).kernel_ns[0], []

    def many():
        try:
            for _ in range(12):
                rows, t = m.run(launch, tensors=True, quiet=True)
                seen.append(rows.kernel_ns[0] == want and (t["y_ptr"] == 2 * x).all())
                seen.append(m.run(both, quiet=True).kernel_ns[0] == want)
                with pytest.raises(kernbench.KernelError, match="on purpose") as e:
                    m.run(wrong, quiet=True)
                seen.append(type(e.value.__cause__) is LookupError)
        except BaseException as e:
            seen.append(e)

    threads = [threading.Thread(target=many) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert seen == [True] * (3 * 12 * 3) and not _runs._runs


def test_no_thread_is_left(m):
    for _ in range(3):
        launch, _ = kernels.softmaxes(np.random.default_rng(1))
        m.run(launch, quiet=True)
        with pytest.raises(kernbench.KernelError):
            m.run(unfit[(64,)](np.zeros(8, np.float32), 8), quiet=True)
    assert threading.active_count() < 16


# -- the language ---------------------------------------------------------------------------------


@kernbench.kernel
def everything(x_ptr, i_ptr, y_ptr, seen):
    x = tl.load(x_ptr + tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :])
    seen["slice"] = tl.values(x[1:3, :4])
    seen["T"] = tl.values(x.T + 0.0)
    seen["topk"] = [tl.values(part) for part in tl.topk(x, 2)]
    seen["sort"] = tl.values(tl.sort(x, descending=True))
    seen["cumsum"] = tl.values(tl.cumsum(x, 1))
    seen["gather"] = tl.values(tl.gather(x, tl.load(i_ptr + tl.arange(0, 3)), 0))
    seen["softmax"] = tl.values(tl.softmax(x))
    seen["where"] = tl.values(tl.where(tl.arange(0, 8)[None, :] < 3, x, 0.0))
    seen["edge"] = tl.values(tl.load(x_ptr + tl.arange(0, 8)[None, :] + tl.zeros((1,), tl.float32).shape[0] * 8,
                                     mask=(tl.arange(0, 8) >= 2)[None, :] & (tl.arange(0, 8) < 5)[None, :], other=9))
    seen["wrapped"] = tl.values(tl.load(x_ptr + (tl.arange(0, 8) + 28) % 32))
    seen["rand"] = tl.values(tl.rand(42, (4,)))
    seen["argmax"] = tl.values(tl.argmax(x, 1))
    seen["mixed"] = tl.values(x.to(tl.float16) * x)
    seen["time"] = tl.time()
    tl.atomic_add(y_ptr + tl.arange(0, 8), tl.sum(x, 0))
    tl.store(y_ptr + tl.arange(0, 8), tl.zeros((8,), tl.float32) + 3, mask=tl.arange(0, 8) >= 6)


def test_the_language_by_numpy(m):
    x = np.random.default_rng(5).standard_normal((4, 8)).astype(np.float32)
    i, seen = np.array([3, 0, 3], np.int32), {}
    rows, t = m.run(everything[(1,)](x, i, np.ones(8, np.float32), seen), tensors=True, quiet=True)
    assert (seen["slice"] == x[1:3, :4]).all() and (seen["T"] == x.T).all()
    order = np.argsort(-x, 1)[:, :2]
    assert (seen["topk"][1] == order).all() and (seen["topk"][0] == np.take_along_axis(x, order, 1)).all()
    assert (seen["sort"] == -np.sort(-x, 1)).all()
    np.testing.assert_allclose(seen["cumsum"], np.cumsum(x, 1), rtol=1e-5, atol=1e-6)
    assert (seen["gather"] == x[i]).all()
    np.testing.assert_allclose(seen["softmax"].sum(1), 1, rtol=1e-6)
    assert (seen["where"] == np.where(np.arange(8) < 3, x, 0)).all()
    assert (seen["edge"] == np.where((np.arange(8) >= 2) & (np.arange(8) < 5), x[1], 9)).all()
    assert (seen["wrapped"] == x.ravel()[(np.arange(8) + 28) % 32]).all()
    assert abs(seen["rand"][0] - 0.6129598617553711) < 1e-9
    assert (seen["argmax"] == x.argmax(1)).all()
    np.testing.assert_allclose(seen["mixed"], x.astype(np.float16).astype(np.float32) * x, rtol=1e-6)
    assert 0 < seen["time"] < rows.total_ns[0]
    np.testing.assert_allclose(t["y_ptr"][:6], 1 + x.sum(0)[:6], rtol=1e-5)
    assert (t["y_ptr"][6:] == 3).all()


# -- side by side ---------------------------------------------------------------------------------

@kernbench.kernel
def twice(x_ptr, y_ptr, n: tl.constexpr):
    at = tl.program_id(0) * n + tl.arange(0, n)
    tl.store(y_ptr + at, tl.load(x_ptr + at) * 2)


def test_launches_of_two_streams_run_side_by_side(m):
    x, y, z = np.arange(128, dtype=np.float32), kernbench.empty(128), kernbench.empty(128)
    both = kernbench.Launches()
    assert both.launch(twice[(4,)](x, y, n=32)) == 0
    assert both.launch(twice[(4,)](x, z, n=32), pes=range(8, 12), stream=1) == 1
    assert both.launch(twice[(4,)](y, kernbench.empty(128), n=32), pes=range(4, 8), stream=2, after=[0, 1]) == 2
    rows, t = m.run(both, tensors=True)
    assert rows.pes.tolist() == [4, 4, 4]
    assert abs(rows.start_ns[1] - rows.start_ns[0]) < 3
    ends = (rows.start_ns + rows.kernel_ns).tolist()
    assert rows.start_ns[2] > max(ends[:2])
    np.testing.assert_array_equal(t["y_ptr"], 2 * x)
    np.testing.assert_array_equal(t["y_ptr_2"], 2 * x)
    np.testing.assert_array_equal(t["y_ptr_3"], 4 * x)
    assert len(t) == 5  # y is one tensor in both launches


@pytest.mark.parametrize("wrong, words", [
    (lambda b, k: b.launch(k, after=[0]), "launch 0 cannot come after launch 0"),
    (lambda b, k: b.launch(k, pes=[64]), "there is no PE 64"),
    (lambda b, k: b.launch(k, pes=[]), "a launch needs PEs"),
    (lambda b, k: b.launch(k, stream=-1), "stream -1 is below 0"),
    (lambda b, k: b.launch("gemm"), "takes a kernel with its grid"),
    (lambda b, k: None, "no launch was added"),
])
def test_launches_that_cannot_be(m, wrong, words):
    both = kernbench.Launches()
    with pytest.raises(kernbench.BadArgument, match=words):
        wrong(both, twice[(4,)](np.zeros(128, np.float32), kernbench.empty(128), n=32))
        m.run(both)


@pytest.mark.parametrize("grid", [(-1,), 0, (4, 0), (2.5,), (), (1, 1, 1, 1), None, lambda given: (given["n"] - 32,)])
def test_grids_that_cannot_be(grid):
    with pytest.raises(kernbench.BadArgument, match="the grid of twice is .*: one to three integers, each 1 or more"):
        twice[grid](np.zeros(128, np.float32), kernbench.empty(128), n=32)


def test_a_grid_of_numpy(m):
    for grid in (np.int64(4), np.array([2, 2]), [4]):
        rows = m.run(twice[grid](np.zeros(128, np.float32), kernbench.empty(128), n=32))
        assert rows.pes[0] == 4


# -- batches, multicasts, rows --------------------------------------------------------------------

@kernbench.kernel
def batch(a_ptr, b_ptr, c_ptr):
    z, i, k, j = tl.arange(0, 4), tl.arange(0, 32), tl.arange(0, 64), tl.arange(0, 32)
    a = tl.load(a_ptr + z[:, None, None] * 2048 + i[None, :, None] * 64 + k[None, None, :])
    b = tl.load(b_ptr + z[:, None, None] * 2048 + k[None, :, None] * 32 + j[None, None, :])
    begin = tl.time()
    c = tl.dot(a, b, acc=tl.zeros((4, 32, 32), tl.float32))
    took.append(tl.time() - begin)
    tl.store(c_ptr + z[:, None, None] * 1024 + i[None, :, None] * 32 + j[None, None, :], c)


took = []


def test_a_batch_of_products_is_one_command(m):
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-4, 4, shape).astype(np.float16) for shape in ((4, 32, 64), (4, 64, 32)))
    took.clear()
    _, t = m.run(batch[(1,)](a, b, kernbench.empty((4, 32, 32))), tensors=True)
    assert (t["c_ptr"] == np.matmul(a.astype(np.float32), b.astype(np.float32))).all()
    assert took == pytest.approx([3 + 64 + 64 + 32], abs=5e-7)  # the result is f32


@kernbench.kernel
def two_types(a_ptr, b_ptr, c_ptr):
    i, k, j = tl.arange(0, 32), tl.arange(0, 1024), tl.arange(0, 128)
    a = tl.load(a_ptr + i[:, None] * 1024 + k[None, :])
    b = tl.load(b_ptr + k[:, None] * 128 + j[None, :])
    begin = tl.time()
    c = tl.dot(a, b)
    took.append(tl.time() - begin)
    tl.store(c_ptr + i[:, None] * 128 + j[None, :], c)


def test_a_product_of_two_types():
    rng = np.random.default_rng(4)
    a, b = rng.integers(-4, 4, (32, 1024)).astype(np.float16), rng.integers(-9, 9, (1024, 128)).astype(np.int8)
    converts = kernbench.Machine("cube8", **{"cube.pe.pe_fetch_store.convert": "true", "cube.pe.pe_gemm.rate.i8": 2})
    took.clear()
    _, t = converts.run(two_types[(1,)](a, b, kernbench.empty((32, 128))), tensors=True)
    assert (t["c_ptr"] == a.astype(np.float32) @ b.astype(np.float32)).all()
    assert took == pytest.approx([1443], abs=5e-7)
    with pytest.raises(kernbench.KernelError) as e:
        kernbench.Machine("cube8").run(two_types[(1,)](a, b, kernbench.empty((32, 128))))
    line = next(n for n, text in enumerate(inspect.getsource(sys.modules[__name__]).split("\n"), 1)
                if text == "    c = tl.dot(a, b)")
    assert f"tl_dot at {__file__}:{line}: operands of f16 and i8: cube.pe.pe_fetch_store.convert is false" in str(e.value)


@kernbench.kernel
def multicast(x_ptr, y_ptr, z_ptr):
    at = tl.arange(0, 1024)
    begin = tl.time()
    s = tl.load_sum([x_ptr + row * 1024 + at for row in (1, 2, 3)])
    took.append(tl.time() - begin)
    tl.store(z_ptr + at, s)
    begin = tl.time()
    tl.store_all([y_ptr + row * 1024 + at for row in (1, 2, 3)], s)
    took.append(tl.time() - begin)
    tl.store(y_ptr + at, 0)


def test_sums_of_several_memories():
    row = kernbench.Machine("cube8", **{"sip.cube_mesh.w": 4, "sip.cube_mesh.h": 1, "cube.pes": 1, "cube.hbm.slices": 1})
    x = np.arange(4096, dtype=np.float32).reshape(4, 1024)
    took.clear()
    _, t = row.run(multicast[(1,)](kernbench.by_rows(x), kernbench.empty((4, 1024)), kernbench.empty((4, 256))), tensors=True)
    want = x[1] + x[2] + x[3]
    assert (t["z_ptr"].ravel() == want).all() and (t["y_ptr"][1:] == want).all()
    assert took == pytest.approx([43.655, 43.655], abs=5e-7)


@kernbench.kernel
def wrong_multicast(x_ptr):
    tl.load_sum([x_ptr + tl.arange(0, 8), x_ptr + tl.arange(0, 16)])


def test_blocks_of_a_multicast_are_alike(m):
    with pytest.raises(kernbench.KernelError, match="the blocks of a multicast are of one shape and type"):
        m.run(wrong_multicast[(1,)](np.zeros(64, np.float32)))


@kernbench.kernel
def every_second_row(x_ptr, y_ptr):
    at = tl.arange(0, 32)[:, None] * 128 + tl.arange(0, 64)[None, :]
    begin = tl.time()
    x = tl.load(x_ptr + at)
    took.append(tl.time() - begin)
    tl.store(y_ptr + tl.arange(0, 32)[:, None] * 64 + tl.arange(0, 64)[None, :], x)


@pytest.mark.parametrize("run_ns,ns", [(0, 37.085), (4, 130.085)])
def test_rows_are_runs(run_ns, ns):
    machine = kernbench.Machine("cube8", **{"cube.pe.pe_dma.tiles": "runs", "cube.pe.pe_dma.run_ns": run_ns})
    x = np.arange(4096, dtype=np.float32)
    took.clear()
    _, t = machine.run(every_second_row[(1,)](x, kernbench.empty((32, 64))), tensors=True)
    assert (t["y_ptr"] == x.reshape(32, 128)[:, :64]).all()
    assert took == pytest.approx([ns], abs=5e-7)
