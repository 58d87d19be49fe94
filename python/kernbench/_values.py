"""_values.py -- tensors of a kernel in Python: operators make commands."""
import reprlib
from builtins import max as _most
from typing import Any, Dict, List, Optional, Sequence

import numpy as np

from ._native import ffi, lib
from ._recorder import (OWN, W_ACC_SCALE, W_ACC_STORE, W_CAST, W_FREE, W_FULL, W_MATH, W_PERMUTE, W_RESHAPE, W_SLICE, KernelMistake,
                        Recorder, Shape, bits, dtype, float32, int1, int32, recorder)

OWN.add(__file__)


# what calls may be given that changes neither results nor times here
HINTS = {"cache_modifier", "eviction_policy", "volatile", "sem", "scope", "input_precision", "allow_tf32", "max_num_imprecise_acc",
         "num_stages", "num_warps", "loop_unroll_factor", "disallow_acc_multi_buffer", "flatten", "warp_specialize", "disable_licm"}


def unsimulated(call: str, **option: Any) -> KernelMistake:
    name, value = next(iter(option.items()))
    return KernelMistake(f"{name}={value!r} of {call}() is not simulated")


def only_hints(call: str, given: Dict[str, Any]) -> None:
    for name, value in given.items():
        if name not in HINTS:
            raise unsimulated(call, **{name: value})


def broadcast(a: Shape, b: Shape) -> Shape:
    if a == b or not b:
        return a
    if not a:
        return b
    n = _most(len(a), len(b))
    x, y = (1,) * (n - len(a)) + a, (1,) * (n - len(b)) + b
    for i, j in zip(x, y):
        if i != j and i != 1 and j != 1:
            raise KernelMistake(f"shapes {list(a)} and {list(b)} do not broadcast")
    return tuple(_most(i, j) for i, j in zip(x, y))


def axis_of(axis: Any, shape: Shape) -> int:
    """An axis that may count from the last."""
    rank = len(shape)
    if not is_whole(axis) or not -rank <= axis < rank:
        raise KernelMistake(f"axis {axis} is none of shape {list(shape)}")
    return int(axis) % rank


class Value:
    """What stands for a tensor: operators make commands."""

    shape: Shape
    dtype: dtype
    __array_ufunc__ = None  # arrays of numpy leave operators to us

    def __repr__(self) -> str:
        return f"<{type(self).__name__.lower()} {self.dtype}{list(self.shape)}>"

    def tensor(self) -> "Tensor":
        raise NotImplementedError

    def __add__(self, y: Any) -> Any:
        return math_command(lib.TL_ADD, self, y)

    def __radd__(self, y: Any) -> Any:
        return math_command(lib.TL_ADD, y, self)

    def __sub__(self, y: Any) -> Any:
        return math_command(lib.TL_SUB, self, y)

    def __rsub__(self, y: Any) -> Any:
        return math_command(lib.TL_SUB, y, self)

    def __mul__(self, y: Any) -> Any:
        return math_command(lib.TL_MUL, self, y)

    def __rmul__(self, y: Any) -> Any:
        return math_command(lib.TL_MUL, y, self)

    def __truediv__(self, y: Any) -> Any:
        return math_command(lib.TL_DIV, self, y)

    def __rtruediv__(self, y: Any) -> Any:
        return math_command(lib.TL_DIV, y, self)

    def __mod__(self, y: Any) -> Any:
        return math_command(lib.TL_MOD, self, y)

    def __rmod__(self, y: Any) -> Any:
        return math_command(lib.TL_MOD, y, self)

    def __floordiv__(self, y: Any) -> Any:
        return math_command(lib.TL_DIV, self, y, whole=True)

    def __rfloordiv__(self, y: Any) -> Any:
        return math_command(lib.TL_DIV, y, self, whole=True)

    def __lshift__(self, y: Any) -> Any:
        return math_command(lib.TL_SHL, self, y)

    def __rlshift__(self, y: Any) -> Any:
        return math_command(lib.TL_SHL, y, self)

    def __rshift__(self, y: Any) -> Any:
        return math_command(lib.TL_SHR, self, y)

    def __rrshift__(self, y: Any) -> Any:
        return math_command(lib.TL_SHR, y, self)

    def __neg__(self) -> Any:
        return math_command(lib.TL_NEG, self)

    def __lt__(self, y: Any) -> Any:
        return math_command(lib.TL_LT, self, y)

    def __le__(self, y: Any) -> Any:
        return math_command(lib.TL_LE, self, y)

    def __gt__(self, y: Any) -> Any:
        return math_command(lib.TL_GT, self, y)

    def __ge__(self, y: Any) -> Any:
        return math_command(lib.TL_GE, self, y)

    def __eq__(self, y: Any) -> Any:
        return math_command(lib.TL_EQ, self, y)

    def __ne__(self, y: Any) -> Any:
        return math_command(lib.TL_NE, self, y)

    __hash__ = None  # type: ignore[assignment]

    def __and__(self, y: Any) -> Any:
        return math_command(lib.TL_AND, self, y)

    def __or__(self, y: Any) -> Any:
        return math_command(lib.TL_OR, self, y)

    def __xor__(self, y: Any) -> Any:
        return math_command(lib.TL_XOR, self, y)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __invert__(self) -> Any:
        return math_command(lib.TL_NOT, self)

    def __bool__(self) -> bool:
        raise KernelMistake("a tensor has no truth: value(x) computes it")

    def __iter__(self) -> Any:
        raise KernelMistake("a tensor or offsets are no sequence: values(x) computes an array")

    def __getitem__(self, key: Any) -> Any:
        return _indexed(self.tensor(), key)

    def to(self, kind: Any, **options: Any) -> Any:
        return cast(self, kind, **options)

    @property
    def T(self) -> Any:
        return trans(self)

    @property
    def type(self) -> Any:
        return self


class Tensor(Value):
    """A tensor in the TCM; given back with its last name."""

    __slots__ = ("recorder", "number", "shape", "dtype")

    def __init__(self, recorder: Recorder, number: int, shape: Shape, kind: dtype):
        self.recorder, self.number, self.shape, self.dtype = recorder, number, shape, kind

    def tensor(self) -> "Tensor":
        if self.recorder is not recorder():
            raise KernelMistake(f"{self!r} is of another run, or of another PE: each has tensors of its own")
        return self

    def __del__(self) -> None:
        recorder = self.recorder
        if recorder.open:
            recorder.words.extend((W_FREE, recorder.place, self.number))
            recorder.free.append(self.number)


def is_float(x: Any) -> bool:
    return isinstance(x, (float, np.floating))


def is_whole(x: Any) -> bool:
    return isinstance(x, (int, np.integer))


def is_number(x: Any) -> bool:
    return is_whole(x) or is_float(x)


def number_of(x: Any) -> float:
    try:
        if not isinstance(x, (str, bytes)):
            return float(x)
    except (TypeError, ValueError, OverflowError):
        pass
    raise KernelMistake(f"{reprlib.repr(x)} is no operand: that is a tensor, or a number as f64 has it")


def type_of(kind: Any) -> dtype:
    """A type that is simulated."""
    if isinstance(kind, dtype) and kind.numpy:
        return kind
    raise KernelMistake(f"{kind!r} is no type of tensors: tl.float32, tl.int8 and the like")


def fitting(value: Any, kind: dtype) -> float:
    """A constant as an element of a tensor of `kind`: rounded; of a type of integers its whole part."""
    if type_of(kind).floating:
        number = ffi.new("double *", number_of(value))
        lib.kernbench_round(kind.code, number, 1)
        return float(number[0])
    number_of(value)
    if not abs(float(value)) < float("inf") or not kind.holds(int(value)):
        raise KernelMistake(f"the constant {value} does not fit a tensor of {kind}")
    return float(int(value))


def converted(value: float, of: dtype, kind: dtype) -> float:
    """A constant of a type as one of another, by the rules of tl_cast()."""
    if kind.floating:
        return fitting(value, kind)
    if kind is int1:
        return float(value != 0)
    first, last = kind.bounds()
    if of.floating:
        return 0.0 if value != value else float(int(min(max(value, first), last)))
    return float((int(value) - first) % (last - first + 1) + first)


class Full(Value):
    """All elements are one number; it becomes a tensor when it has to."""

    def __init__(self, shape: Shape, value: float, kind: dtype):
        self.shape, self.value, self.dtype = shape, value, kind
        self._made: Optional[Tensor] = None

    def tensor(self) -> Tensor:
        r = recorder()
        if self._made is None or self._made.recorder is not r:  # PEs may share what is known
            self._made = Tensor(r, r.new(), self.shape, self.dtype)
            r.add(W_FULL, r.here(), self._made.number, self.dtype.code, len(self.shape), *self.shape, bits(self.value))
        return self._made

    def _with(self, y: Any, op: Any, other: Any) -> Any:
        if not is_number(y):
            return other(y)
        kind = kind_beside(self.dtype, [y])
        return Full(self.shape, fitting(op(self.value, fitting(y, kind)), kind), kind)

    def __add__(self, y: Any) -> Any:
        return self._with(y, lambda a, b: a + b, super().__add__)

    def __sub__(self, y: Any) -> Any:
        return self._with(y, lambda a, b: a - b, super().__sub__)

    def __mul__(self, y: Any) -> Any:
        if self.value == 0 and isinstance(y, Value) and broadcast(self.shape, y.shape) == self.shape:
            return self if self.dtype.rank >= y.dtype.rank else cast(self, y.dtype)  # nothing has been added up yet
        return self._with(y, lambda a, b: a * b, super().__mul__)


class Untold(Value):
    """What a call would return in Triton and cannot here: a mistake where it is used."""

    def __init__(self, shape: Shape, kind: dtype, text: str):
        self.shape, self.dtype, self.text = shape, kind, text

    def tensor(self) -> Tensor:
        raise KernelMistake(self.text)


class Acc(Value):
    """A sum of products in the engine: to add or to scale changes it there, and gives the sum a new name, as the
    engine has what it was no more; all else stores it first."""

    def __init__(self, recorder: Recorder, number: int, shape: Shape, kind: dtype):
        self.recorder, self.number, self.shape, self.dtype = recorder, number, shape, kind
        self._stored: Optional[Tensor] = None
        self._went_on = False

    def in_engine(self) -> bool:
        """Can it still be changed there?"""
        if self.recorder is not recorder():
            raise KernelMistake("this sum is of another run, or of another PE: each has sums of its own")
        if self._went_on:
            raise KernelMistake("this sum has been changed in the engine since: take what dot() or * has returned, or store it before")
        return self._stored is None

    def gone_on(self) -> "Acc":
        """The sum after a change."""
        self._went_on = True
        return Acc(self.recorder, self.number, self.shape, self.dtype)

    def stored_as(self, kind: dtype) -> Tensor:
        if not self.in_engine():
            again: Tensor = cast(self._stored, kind)
            return again
        r = self.recorder
        self._stored = Tensor(r, r.new(), self.shape, kind)
        r.add(W_ACC_STORE, r.here(), self._stored.number, self.number, kind.code)
        return self._stored

    def tensor(self) -> Tensor:
        return self.stored_as(self.dtype)

    def __mul__(self, y: Any) -> Any:
        if not self.in_engine() or isinstance(y, Acc):
            return super().__mul__(y)
        r = self.recorder
        here = r.here()
        number = r.scalar(float(y)) if isinstance(y, (int, float)) else y.tensor().number
        r.add(W_ACC_SCALE, here, self.number, number)
        return self.gone_on()


_LOGIC = {lib.TL_AND, lib.TL_OR, lib.TL_XOR, lib.TL_WHERE, lib.TL_EQ, lib.TL_NE}
_COMPARES = {lib.TL_LT, lib.TL_LE, lib.TL_GT, lib.TL_GE, lib.TL_EQ, lib.TL_NE, lib.TL_ISNAN}


def kind_beside(kind: dtype, numbers: Sequence[Any], logic: bool = False) -> dtype:
    """The type in which a tensor of `kind` meets numbers, as Triton has it: a float makes f32 of integers, and an
    integer i32 of bools, except 0 and 1 in logic."""
    if kind.floating:
        return kind
    if any(is_float(x) for x in numbers):
        return float32
    if kind is int1 and not (logic and all(x in (0, 1) for x in numbers)):
        kind = int32 if numbers else kind
    for x in numbers:
        fitting(x, kind)
    return kind


def kind_of(operands: Sequence[Any]) -> dtype:
    """The type in which the last two operands of a where() meet."""
    kinds = [x.dtype for x in operands if isinstance(x, Value)]
    if not kinds:
        return float32
    return kind_beside(max(kinds, key=lambda kind: kind.rank), [x for x in operands if not isinstance(x, Value)], True)


def math_command(op: int, *operands: Any, whole: bool = False) -> Any:
    """An elementwise command; `whole`: integers are divided as such."""
    r = recorder()
    here = r.here()
    shape: Shape = ()
    kind: Optional[dtype] = None
    values = list(operands)
    for i, x in enumerate(values):
        if x.__class__ is not Tensor:
            if not isinstance(x, Value):
                continue
            values[i] = x = x.tensor()
        elif x.recorder is not r:
            x.tensor()  # which refuses it
        shape = x.shape if not shape else broadcast(shape, x.shape)
        if (kind is None or x.dtype.rank > kind.rank) and not (op == lib.TL_WHERE and i == 0):
            kind = x.dtype
    if kind is None:
        raise KernelMistake("there is no tensor among the operands")
    if not kind.floating:
        kind = float32 if op == lib.TL_DIV and not whole else kind_beside(
            kind, [x for x in values[op == lib.TL_WHERE:] if x.__class__ is not Tensor], op in _LOGIC)
    if whole and kind.floating:
        raise KernelMistake(f"// is of integers, not of {kind}: floor(x / y)")
    numbers = [-1, -1, -1]
    for i, x in enumerate(values):
        if x.__class__ is not Tensor:
            numbers[i] = r.scalar(number_of(x))
            continue
        if x.dtype is not kind and not (op == lib.TL_WHERE and i == 0):
            values[i] = x = cast(x, kind)
        numbers[i] = x.number
    out = r.new()
    r.add(W_MATH, here, out, op, numbers[0], numbers[1], numbers[2])
    return Tensor(r, out, shape, int1 if op in _COMPARES else kind)


def one(word: int, x: Any, shape: Shape, kind: Optional[dtype], *words: int) -> Tensor:
    """A command, or a view, of one tensor."""
    r = recorder()
    here = r.here()
    x = x.tensor()
    out = r.new()
    r.add(word, here, out, x.number, *words)
    return Tensor(r, out, shape, kind or x.dtype)


def _indexed(x: Tensor, key: Any) -> Tensor:
    """x[:, None] and the like, and x[a:b] of the last axes."""
    keys = key if isinstance(key, tuple) else (key,)
    shape: List[int] = []
    axis = 0
    for k in keys:
        if k is None:
            shape.append(1)
        elif isinstance(k, slice) and axis < len(x.shape):
            first, end, step = k.indices(x.shape[axis])
            if step != 1 or end <= first:
                raise KernelMistake(f"{k} takes no part of axis {axis}")
            if end - first != x.shape[axis]:
                cut = x.shape[:axis] + (end - first,) + x.shape[axis + 1:]
                x = one(W_SLICE, x, cut, None, axis, first, end - first)
            shape.append(end - first)
            axis += 1
        else:
            raise KernelMistake(f"a tensor is indexed by : and None, not by {k!r}")
    return reshape(x, tuple(shape) + x.shape[axis:])


def reshape(x: Any, *shape: Any) -> Tensor:
    dims = tuple(int(n) for n in (shape[0] if len(shape) == 1 and isinstance(shape[0], (list, tuple)) else shape))
    same: Tensor = x.tensor()
    return same if same.shape == dims else one(W_RESHAPE, same, dims, None, len(dims), *dims)


def cast(x: Any, kind: dtype, fp_downcast_rounding: Any = None, bitcast: bool = False) -> Any:
    if fp_downcast_rounding not in (None, "rtne"):
        raise unsimulated("cast", fp_downcast_rounding=fp_downcast_rounding)
    type_of(kind)
    if bitcast and kind is not x.dtype and (kind.floating or x.dtype.floating or kind.size != x.dtype.size or int1 in (kind, x.dtype)):
        raise unsimulated("cast", bitcast=bitcast)
    if isinstance(x, Acc):
        return x.stored_as(kind)
    if isinstance(x, Full):
        return Full(x.shape, converted(x.value, x.dtype, kind), kind)
    x = x.tensor()
    return x if x.dtype is kind else one(W_CAST, x, x.shape, kind, kind.code)


def permute(x: Any, *axes: Any) -> Tensor:
    order = tuple(axis_of(n, x.shape) for n in (axes[0] if len(axes) == 1 and isinstance(axes[0], (list, tuple)) else axes))
    if sorted(order) != list(range(len(x.shape))):
        raise KernelMistake(f"axes {list(order)} are not those of shape {list(x.shape)}, each once")
    return one(W_PERMUTE, x, tuple(x.shape[i] for i in order), None, *order)


def trans(x: Any, *axes: Any) -> Tensor:
    return permute(x, *(axes or (1, 0)))
