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
