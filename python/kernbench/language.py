"""language.py -- what a kernel in Python calls: Triton's names for tl.h, played by the simulation.

    import kernbench.language as tl

    @kernbench.kernel
    def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        mask = offsets < n
        tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask) + tl.load(y_ptr + offsets, mask), mask)

    launch = add[(64,)](x, y, kernbench.empty(x.shape, "f32"), n, BLOCK=1024)
    rows, t = kernbench.Machine("cube8").run(launch, tensors=True)

What is known when a program runs is Python and costs nothing: sizes, bounds, offsets, masks of
offsets, loops. Offsets are kept as steps along axes, so a load of a block is one tl_load(). What is
not known is a tensor, and each operation on one is a command with the time that it has in C. A mask
as an operand becomes commands, too.

Each PE's function runs in a thread of its own, one at a time, and fills a list of commands, which
the simulation plays: python/helpers.c. Tensors are given back when Python has no name for them any
more.
"""
import sys
from builtins import max as _most
from builtins import min as _least
from builtins import range as _range
from typing import Any, Sequence, Tuple

import numpy as np

from ._native import ffi, lib
from ._offsets import BlockPointer, Index, Mask, Pointer, access, advance, box_of, make_block_ptr
from ._recorder import (OWN, Shape, W_ACC, W_ASYNC, W_ATOMIC, W_CUMSUM, W_DOT, W_DOT_ACC, W_EXPAND, W_LOAD, W_LOAD_LIST,
                        W_LOAD_STRIDED, W_LOAD_SUM, W_PRINT, W_RANDOM, W_REDUCE, W_SLICE, W_SOFTMAX, W_SORT, W_STORE,
                        W_STORE_ALL, W_STORE_LIST, W_STORE_STRIDED, W_TAKE, W_TIME, W_TOPK, W_UPDATE, W_VALUE, W_VALUES, W_WAIT_ALL,
                        Int, KernelMistake, bfloat16, constexpr, dtype, float8e4b15, float8e4nv, float8e5, float16,
                        float32, float64, int1, int8, int16, int32, int64, recorder, uint8, uint16, uint32, uint64)
from ._values import (Acc, Full, Tensor, Untold, Value, axis_of, broadcast, cast, fitting, is_number, is_whole, kind_of, math_command, one, only_hints,
                      permute, reshape, trans, unsimulated)

__all__ = ["BlockPointer", "KernelMistake", "Pointer", "PropagateNan", "Tensor", "abs", "advance", "arange", "argmax", "argmin",
           "assume", "atomic_add", "bfloat16", "broadcast_to", "cast", "cdiv", "ceil", "clamp", "constexpr", "cos",
           "cumsum", "debug_barrier", "device_assert", "device_print", "dot", "dtype", "erf", "exp", "exp2",
           "expand_dims", "float16", "float32", "float64", "float8e4b15", "float8e4nv", "float8e5", "floor", "fma",
           "full", "gather", "int1", "int16", "int32", "int64", "int8", "load", "load_sum", "log", "log2", "make_block_ptr",
           "math", "max", "max_constancy", "max_contiguous", "maximum", "min", "minimum", "multiple_of",
           "num_programs", "overlap", "permute", "program_id", "rand", "range", "reshape", "rsqrt", "sigmoid", "sin",
           "softmax", "sort", "sqrt", "sqrt_rn", "static_assert", "static_print", "static_range", "store", "store_all", "sum",
           "tanh", "time", "topk", "trans", "uint16", "uint32", "uint64", "uint8", "value", "values", "view",
           "wait_all", "where", "zeros", "zeros_like"]

OWN.add(__file__)
view = reshape


def load(pointer: Any, mask: Any = None, other: Any = None, boundary_check: Sequence[int] = (), padding_option: str = "",
         **hints: Any) -> Any:
    """A block of memory; where the mask is false, or behind a boundary, it is `other`, or as `padding_option` says."""
    only_hints("load", hints)
    if padding_option not in ("", "zero", "nan") or (padding_option and not isinstance(pointer, BlockPointer)):
        raise unsimulated("load", padding_option=padding_option)
    if isinstance(pointer, BlockPointer):
        mask, pointer = pointer.inside(boundary_check), pointer.pointer()
        other = float("nan") if padding_option == "nan" else other
    r = recorder()
    here = r.here()
    shape, box = box_of(pointer, mask)
    kind = pointer.memory.dtype
    dims = tuple(b - a for a, b in box)
    fill = Full(shape, fitting(0 if other is None else other, kind), kind)
    if any(n <= 0 for n in dims):
        return fill
    how, words = access(pointer, box)
    out = r.new()
    word = {"plain": W_LOAD, "strided": W_LOAD_STRIDED, "list": W_LOAD_LIST}[how]
    r.add(word, here, out, kind.code, len(dims), *dims, *words)
    part = Tensor(r, out, dims, kind)
    for axis, n in enumerate(shape):
        if dims[axis] == n:
            continue
        grown = dims[:axis] + (n,) + dims[axis + 1:]
        part = _update(Full(grown, fill.value, kind).tensor(), axis, box[axis][0], part)
        dims = grown
    return part


def _update(x: Tensor, axis: int, first: int, y: Tensor) -> Tensor:
    r = recorder()
    r.add(W_UPDATE, r.here(), x.number, x.number, y.number, axis, first)
    return x


def store(pointer: Any, value: Any, mask: Any = None, boundary_check: Sequence[int] = (), **hints: Any) -> None:
    """A block of memory becomes what a tensor has."""
    only_hints("store", hints)
    if isinstance(pointer, BlockPointer):
        mask, pointer = pointer.inside(boundary_check), pointer.pointer()
    r = recorder()
    here = r.here()
    shape, box = box_of(pointer, mask)
    kind = pointer.memory.dtype
    if any(a >= b for a, b in box):
        return
    if not isinstance(value, Value):
        value = Full(shape, fitting(value, kind), kind)
    x = _part(cast(value, kind).tensor(), shape, box)
    how, words = access(pointer, box)
    word = {"plain": W_STORE, "strided": W_STORE_STRIDED, "list": W_STORE_LIST}[how]
    r.add(word, here, x.number, *words)


def _part(x: Tensor, shape: Shape, box: Sequence[Tuple[int, int]]) -> Tensor:
    """What a box takes of a tensor that is broadcast to a block."""
    if x.shape != shape:
        x = broadcast_to(x, shape)
    for axis, (a, b) in enumerate(box):
        if (a, b) != (0, shape[axis]):
            x = one(W_SLICE, x, x.shape[:axis] + (b - a,) + x.shape[axis + 1:], None, axis, a, b - a)
    return x


def _addresses(pointers: Sequence[Pointer]) -> Tuple[Shape, dtype, Tuple[int, ...]]:
    """Of blocks of one shape and type, each of which lies together: these, and where they begin."""
    found = []
    shapes = {p.index.shape if p.index is not None else () for p in pointers}
    kinds = {p.memory.dtype for p in pointers}
    if len(shapes) != 1 or len(kinds) != 1:
        raise KernelMistake("the blocks of a multicast are of one shape and type")
    shape, kind = shapes.pop(), kinds.pop()
    for p in pointers:
        how, words = access(p, [(0, n) for n in shape])
        if how != "plain":
            raise KernelMistake("each block of a multicast lies together, in one memory")
        found.append(words[0])
    return shape, kind, tuple(found)


def load_sum(pointers: Sequence[Pointer]) -> Tensor:
    """The sum of blocks, each in another memory, whose data join on their way: tl_load_sum()."""
    r = recorder()
    here = r.here()
    shape, kind, addresses = _addresses(pointers)
    made = Tensor(r, r.new(), shape, kind)
    r.add(W_LOAD_SUM, here, made.number, kind.code, len(shape), *shape, len(addresses), *addresses)
    return made


def store_all(pointers: Sequence[Pointer], value: Any) -> None:
    """Blocks, each in another memory, become what a tensor has, by one multicast: tl_store_all()."""
    r = recorder()
    here = r.here()
    shape, kind, addresses = _addresses(pointers)
    x = cast(value if isinstance(value, Value) else Full(shape, fitting(value, kind), kind), kind).tensor()
    if x.shape != shape:
        x = broadcast_to(x, shape)
    r.add(W_STORE_ALL, here, x.number, len(addresses), *addresses)


def atomic_add(pointer: Pointer, value: Any, mask: Any = None, **hints: Any) -> Value:
    """Adds a tensor to memory, as one step: of a block that lies together, where the mask is true. Of one element it
    returns what was there before."""
    only_hints("atomic_add", hints)
    r = recorder()
    here = r.here()
    shape, box = box_of(pointer, mask)
    kind = pointer.memory.dtype
    untold = Untold(shape, kind, "atomic_add() tells what was there before of one element that is added to, not of a block")
    if any(a >= b for a, b in box):
        return untold
    how, words = access(pointer, box)
    if how != "plain":
        raise KernelMistake("atomic_add() takes a block that lies together, in one memory")
    x = _part(cast(value if isinstance(value, Value) else Full(shape, fitting(value, kind), kind), kind).tensor(), shape, box)
    told = all(n == 1 for n in shape)
    out = r.new() if told else -1
    r.add(W_ATOMIC, here, out, lib.TL_ATOMIC_ADD, words[0], x.number)
    return Tensor(r, out, shape, kind) if told else untold


def program_id(axis: int) -> Int:
    return Int(_of_grid(axis, recorder().program))


def num_programs(axis: int) -> Int:
    return Int(_of_grid(axis, recorder().grid))


def _of_grid(axis: int, numbers: Shape) -> int:
    if axis not in _range(3):
        raise KernelMistake(f"axis {axis} of the grid: it has axes 0 to 2")
    return numbers[axis]


def arange(first: int, end: int) -> Index:
    if not is_whole(first) or not is_whole(end) or first >= end:
        raise KernelMistake(f"arange({first}, {end}): integers, the first below the second")
    return Index((int(end) - int(first),), int(first), (1,))


def full(shape: Any, value: float, dtype: dtype) -> Full:
    return Full(tuple(int(n) for n in (shape if isinstance(shape, (list, tuple)) else (shape,))), fitting(value, dtype), dtype)


def zeros(shape: Any, dtype: dtype) -> Full:
    return full(shape, 0, dtype)


def zeros_like(x: Any) -> Full:
    return Full(x.shape, 0.0, x.dtype)


_OF_ENGINE = {float32, float64, int32, int64}  # what an accumulator may be


def _summed(a: dtype, b: dtype) -> dtype:
    """What products of two types are added up in."""
    if a.floating or b.floating:
        return float64 if float64 in (a, b) else float32
    return int64 if 8 in (a.size, b.size) else int32


def _name(kind: dtype) -> str:
    return next(name for name, value in globals().items() if value is kind)


def dot(a: Any, b: Any, acc: Any = None, out_dtype: Any = None, **hints: Any) -> Any:
    """a b, in f32 (of f64 in f64, of integers in i32 or i64) or out_dtype; with acc, which is zeros or a sum of products,
    in the engine. Of three axes it is a batch."""
    only_hints("dot", hints)
    r = recorder()
    here = r.here()
    a, b = a.tensor(), b.tensor()
    batch = {x.shape[:-2] for x in (a, b) if len(x.shape) == 3}
    if not {len(a.shape), len(b.shape)} <= {2, 3} or a.shape[-1] != b.shape[-2] or len(batch) > 1:
        raise KernelMistake(f"shapes {list(a.shape)} and {list(b.shape)} do not fit")
    shape = (*(batch.pop() if batch else ()), a.shape[-2], b.shape[-1])
    kind = _summed(a.dtype, b.dtype)
    wanted = out_dtype if out_dtype and kind.floating else kind
    if not kind.floating and out_dtype not in (None, kind, float32):
        raise unsimulated("dot", out_dtype=out_dtype)
    if acc is not None and acc.dtype is not wanted:
        raise KernelMistake(f"a product of {wanted} is not added to {acc.dtype}: zeros of {wanted}"
                            + f", or out_dtype=tl.{_name(acc.dtype)}" * (kind.floating and acc.dtype.floating))
    if isinstance(acc, Full) and acc.value == 0 and acc.shape == shape:
        acc = None
        if len(shape) == 2 and wanted in _OF_ENGINE:
            acc = Acc(r, r.accs, shape, wanted)
            r.accs += 1
            r.add(W_ACC, here, acc.number, wanted.code, *shape)
    if isinstance(acc, Acc) and acc.in_engine():
        r.add(W_DOT_ACC, here, acc.number, a.number, b.number)
        return acc.gone_on()
    out = r.new()
    r.add(W_DOT, here, out, a.number, b.number, wanted.code)
    product = Tensor(r, out, shape, wanted)
    return product if acc is None else acc + product


def _reduced(op: int, x: Any, axis: Any, keep_dims: bool) -> Tensor:
    x = x.tensor()
    everything = axis is None
    at = 0 if everything else axis_of(axis, x.shape)
    shape = tuple(1 if everything or i == at else n for i, n in enumerate(x.shape) if keep_dims or not (everything or i == at))
    kind = int32 if op in (lib.TL_ARGMAX, lib.TL_ARGMIN) or (op == lib.TL_SUM and x.dtype is int1) else None
    r = recorder()
    here = r.here()
    out = r.new()
    r.add(W_REDUCE, here, out, op, x.number, lib.TL_ALL_AXES if everything else at, keep_dims)
    return Tensor(r, out, shape, kind or x.dtype)


def _summands(x: Any, kind: Any = None) -> Any:
    """What is added up: integers of fewer than 32 bits as 32, as Triton has it, or all as `kind`."""
    if kind is None and not x.dtype.floating and x.dtype.size < 4 and x.dtype is not int1:
        kind = int32 if x.dtype in (int8, int16) else uint32
    return x if kind is None or kind is x.dtype else cast(x, kind)


def sum(x: Any, axis: Any = None, keep_dims: bool = False, dtype: Any = None) -> Tensor:
    """The sum, in `dtype` if it is given."""
    return _reduced(lib.TL_SUM, _summands(x, dtype), axis, keep_dims)


def _most_or_least(op: int, places: int, x: Any, axis: Any, return_indices: bool, keep_dims: bool) -> Any:
    found = _reduced(op, x, axis, keep_dims)
    return (found, _reduced(places, x, axis, keep_dims)) if return_indices else found


def max(x: Any, axis: Any = None, return_indices: bool = False, return_indices_tie_break_left: bool = True,
        keep_dims: bool = False) -> Any:
    """The most of an axis, or of all; with return_indices also where the first one is, by a second command."""
    return _most_or_least(lib.TL_MAX, lib.TL_ARGMAX, x, axis, return_indices, keep_dims)


def min(x: Any, axis: Any = None, return_indices: bool = False, return_indices_tie_break_left: bool = True,
        keep_dims: bool = False) -> Any:
    """As max()."""
    return _most_or_least(lib.TL_MIN, lib.TL_ARGMIN, x, axis, return_indices, keep_dims)


def argmax(x: Any, axis: Any = None, tie_break_left: bool = True, keep_dims: bool = False) -> Tensor:
    return _reduced(lib.TL_ARGMAX, x, axis, keep_dims)


def argmin(x: Any, axis: Any = None, tie_break_left: bool = True, keep_dims: bool = False) -> Tensor:
    return _reduced(lib.TL_ARGMIN, x, axis, keep_dims)


def softmax(x: Any, dim: int = -1, keep_dims: bool = True, ieee_rounding: bool = False) -> Tensor:
    return one(W_SOFTMAX, x, x.shape, None, dim)


def cumsum(x: Any, axis: int = 0, reverse: bool = False, dtype: Any = None) -> Tensor:
    """Sums of all up to each; in `dtype` if it is given."""
    if reverse:
        raise unsimulated("cumsum", reverse=reverse)
    return one(W_CUMSUM, _summands(x, dtype), x.shape, None, axis)


def sort(x: Any, dim: Any = None, descending: bool = False) -> Tensor:
    if dim not in (None, -1, len(x.shape) - 1):
        raise unsimulated("sort", dim=dim)
    return one(W_SORT, x, x.shape, None, descending)


def topk(x: Any, k: int) -> Tuple[Tensor, Tensor]:
    """The k largest of each row, and their numbers."""
    r = recorder()
    here = r.here()
    x = x.tensor()
    out, places = r.new(), r.new()
    r.add(W_TOPK, here, out, x.number, k, places)
    shape = x.shape[:-1] + (k,)
    return Tensor(r, out, shape, x.dtype), Tensor(r, places, shape, int32)


def gather(x: Any, index: Any, axis: int) -> Tensor:
    """Rows of x by a list of their numbers, as numpy.take()."""
    index = index.tensor()
    axis = axis_of(axis, x.shape)
    return one(W_TAKE, x, x.shape[:axis] + index.shape + x.shape[axis + 1:], None, index.number, axis)


def rand(seed: int, shape: Any = None, offset: Any = 0, n_rounds: int = 10) -> Tensor:
    """Uniform in [0, 1), from Triton's words: of offsets that follow each other, as rand(seed, tl.arange(0, n));
    or of a shape and the first offset."""
    r = recorder()
    shape, offset = (offset, 0) if shape is None else (shape, offset)
    if isinstance(shape, Index):
        n_rounds = offset or n_rounds  # as Triton has it
        shape, offset = shape.shape, shape.first_of_run()
    if n_rounds != 10:
        raise unsimulated("rand", n_rounds=n_rounds)
    if not isinstance(shape, (tuple, list)) or not isinstance(offset, (int, np.integer)) or offset < 0:
        raise KernelMistake("the offsets of rand() follow each other from one that is known and at least 0, as tl.arange() has them")
    dims = tuple(int(n) for n in shape)
    made = Tensor(r, r.new(), dims, float32)
    r.add(W_RANDOM, r.here(), made.number, float32.code, len(dims), *dims, (int(seed) + (1 << 63)) % (1 << 64) - (1 << 63), int(offset))
    return made


def expand_dims(x: Any, axis: int) -> Any:
    at = axis_of(axis, (*x.shape, 1))
    return x[tuple(None if i == at else slice(None) for i in _range(len(x.shape) + 1))]


def broadcast_to(x: Any, *shape: Any) -> Tensor:
    dims = tuple(int(n) for n in (shape[0] if len(shape) == 1 and isinstance(shape[0], (list, tuple)) else shape))
    same: Tensor = x.tensor()
    return same if same.shape == dims else one(W_EXPAND, same, dims, None, len(dims), *dims)


def where(condition: Any, x: Any, y: Any) -> Any:
    """x where it is true, else y; one that is known costs nothing. Its shape and type are those of a command."""
    true = condition if isinstance(condition, (bool, np.bool_)) else condition.covers() if isinstance(condition, Mask) else None
    if true is not None:
        return _known(x if true else y, [part for part in (condition, x, y) if isinstance(part, Value)], (x, y))
    if is_number(x) and is_number(y):
        x = Full((1,), float(x), float32)
    return math_command(lib.TL_WHERE, condition, x, y)


def _known(chosen: Any, parts: Sequence[Value], operands: Sequence[Any]) -> Any:
    """One of two operands, where a command would take shapes of `parts` and the type of both."""
    if not parts:
        return chosen
    shape: Shape = ()
    for part in parts:
        shape = broadcast(shape, part.shape)
    kind = kind_of(operands)
    if is_number(chosen):
        return Full(shape, fitting(chosen, kind), kind)
    chosen = chosen if chosen.dtype is kind else cast(chosen, kind)
    return chosen if chosen.shape == shape else broadcast_to(chosen, shape)


def _function(op: int) -> Any:
    def function(x: Any) -> Any:
        return math_command(op, x)
    return function


exp, exp2, log, log2, sqrt, rsqrt, sin, cos, erf, sigmoid, tanh, floor, ceil, abs = (
    _function(op) for op in (lib.TL_EXP, lib.TL_EXP2, lib.TL_LOG, lib.TL_LOG2, lib.TL_SQRT, lib.TL_RSQRT, lib.TL_SIN,
                             lib.TL_COS, lib.TL_ERF, lib.TL_SIGMOID, lib.TL_TANH, lib.TL_FLOOR, lib.TL_CEIL, lib.TL_ABS))


sqrt_rn = sqrt


def fma(x: Any, y: Any, z: Any) -> Any:
    return math_command(lib.TL_FMA, x, y, z)


class PropagateNan:
    """Whether a NaN among the operands of maximum(), minimum() and clamp() is the result: here it always is."""

    NONE, ALL = "NONE", "ALL"


def _propagates(call: str, propagate_nan: Any) -> None:
    if propagate_nan not in (None, PropagateNan.ALL):
        raise unsimulated(call, propagate_nan=propagate_nan)


def clamp(x: Any, min: Any, max: Any, propagate_nan: Any = None) -> Any:
    _propagates("clamp", propagate_nan)
    return math_command(lib.TL_CLAMP, x, min, max)


def maximum(x: Any, y: Any, propagate_nan: Any = None) -> Any:
    _propagates("maximum", propagate_nan)
    if is_number(x) and is_number(y):
        return _most(x, y)
    return math_command(lib.TL_MAXIMUM, x, y)


def minimum(x: Any, y: Any, propagate_nan: Any = None) -> Any:
    _propagates("minimum", propagate_nan)
    if is_number(x) and is_number(y):
        return _least(x, y)
    return math_command(lib.TL_MINIMUM, x, y)


class math:
    """Triton's second name for them."""

    exp, exp2, log, log2, sqrt, rsqrt, sin, cos, erf, tanh, floor, ceil, abs, fma = (
        staticmethod(f) for f in (exp, exp2, log, log2, sqrt, rsqrt, sin, cos, erf, tanh, floor, ceil, abs, fma))


def value(x: Any, i: int = 0) -> float:
    """Element i, in C order: what the simulation computes for it. Takes a FETCH."""
    r = recorder()
    r.add(W_VALUE, r.here(), x.tensor().number, i)
    r.hand()
    return float(r.kernel.value)


def values(x: Any) -> Any:
    """All elements as an array of numpy. Takes a FETCH."""
    r = recorder()
    x = x.tensor()
    r.add(W_VALUES, r.here(), x.number)
    r.hand()
    return np.frombuffer(ffi.buffer(r.kernel.bytes, r.kernel.nbytes)[:], x.dtype.numpy).reshape(x.shape)


def time() -> float:
    """Now, in ns of the simulation."""
    r = recorder()
    r.add(W_TIME, r.here())
    r.hand()
    return float(r.kernel.value)


def overlap(on: bool = True) -> None:
    """From now on commands return at their issue: tl_async()."""
    r = recorder()
    r.add(W_ASYNC, r.here(), on)


def wait_all() -> None:
    """Until all commands of this PE have ended."""
    r = recorder()
    r.add(W_WAIT_ALL, r.here())


def device_print(prefix: Any, *values: Any, hex: bool = False) -> None:
    """Each as a line on stderr: a tensor as tl_print() has it, with what is known of it now; all else as Python has it."""
    if hex:
        raise unsimulated("device_print", hex=hex)
    r = recorder()
    first, said = ((prefix,), "") if isinstance(prefix, Value) else ((), f"{prefix}".rstrip() + " ")
    for x in first + values:
        here = r.here()
        if isinstance(x, Tensor):
            r.add(W_PRINT, here, x.number)
            continue
        r.hand()  # what is before it comes first
        print(f"{r.where()}: device_print at {r.files.text(here)}: {said}{_shown(x)}", file=sys.stderr, flush=True)


def _shown(x: Any) -> Any:
    """What is known of a value without a command."""
    if isinstance(x, Index):
        return x.numbers().tolist()
    if isinstance(x, Full):
        return f"{x.dtype} {list(x.shape)}: all {x.value:g}"
    return "known only as a tensor" if isinstance(x, Value) else x


def device_assert(true: bool, text: str = "") -> None:
    if not true:
        raise KernelMistake(text or "an assertion failed")


def static_assert(true: bool, text: str = "") -> None:
    device_assert(true, text)


def static_print(*words: Any) -> None:
    print(*words)


def cdiv(x: int, y: int) -> int:
    return -(-x // y)


def range(*bounds: int, **hints: Any) -> Any:
    only_hints("range", hints)
    return _range(*bounds)


static_range = range


def assume(true: Any) -> None:
    """A hint, which changes nothing; so do the next ones."""


def multiple_of(x: Any, n: Any) -> Any:
    return x


max_contiguous = max_constancy = multiple_of


def debug_barrier() -> None:
    """Not needed: a command sees what those before it made."""
