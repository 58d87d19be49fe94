"""_offsets.py -- offsets, masks and pointers of a kernel in Python: known there, so they cost nothing."""
from builtins import max as _most
from builtins import min as _least
from builtins import sum as _total
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from ._native import lib
from ._recorder import OWN, W_ARANGE, KernelMistake, Shape, bits, dtype, int1, int32, recorder
from ._values import Full, Tensor, Value, axis_of, broadcast, is_whole, math_command, reshape

OWN.add(__file__)


def _axes(shape: Shape, key: Any) -> List[Optional[int]]:
    """Which axis of offsets each axis of x[:, None] and the like is; None: a new one."""
    found: List[Optional[int]] = []
    axis = 0
    for k in key if isinstance(key, tuple) else (key,):
        if k is not None and (not isinstance(k, slice) or k != slice(None) or axis == len(shape)):
            raise KernelMistake(f"offsets of shape {list(shape)} are indexed by : and None, not by {k!r}")
        found.append(None if k is None else axis)
        axis += k is not None
    return found + list(range(axis, len(shape)))


class Index(Value):
    """Whole numbers const + sum of i * step over axes; or any, in an array."""

    dtype = int32

    def __init__(self, shape: Shape, const: int, steps: Shape, array: Any = None, make: Any = None):
        self.shape, self.const, self.steps, self.array = shape, const, steps, array
        self.make = make  # a command for them as an operand; None: of an array there is none

    def numbers(self) -> Any:
        """As an array of numpy."""
        if self.array is not None:
            return self.array
        total = np.array(self.const, np.int64)
        for axis, (n, step) in enumerate(zip(self.shape, self.steps)):
            total = total + (np.arange(n) * step).reshape((n,) + (1,) * (len(self.shape) - axis - 1))
        return np.broadcast_to(total, self.shape)

    def most(self) -> int:
        return self.const + _total((n - 1) * s for n, s in zip(self.shape, self.steps) if s > 0)

    def least(self) -> int:
        return self.const + _total((n - 1) * s for n, s in zip(self.shape, self.steps) if s < 0)

    def first_of_run(self) -> Optional[int]:
        """The first of them if each is the one before, in C order, and 1."""
        numbers = self.numbers().ravel()
        return int(numbers[0]) if (np.diff(numbers) == 1).all() else None

    def tensor(self) -> Tensor:
        varying = [axis for axis, step in enumerate(self.steps) if step and self.shape[axis] > 1]
        if self.array is not None:
            if self.make is None:
                raise KernelMistake("offsets that went on behind a %, // or >>, or into it below 0, are no operands: "
                                    "tl.zeros((n,), tl.int32) + tl.arange(0, n) is a tensor")
            return self.make()  # type: ignore[no-any-return]
        if len(varying) > 1:
            raise KernelMistake("offsets along several axes are no operands: add those of one axis")
        r = recorder()
        n = self.shape[varying[0]] if varying else 1
        step = self.steps[varying[0]] if varying else 0
        made = Tensor(r, r.new(), (n,), int32)
        r.add(W_ARANGE, r.here(), made.number, int32.code, n, bits(float(self.const)), bits(float(step)))
        return reshape(made, tuple(n if axis in varying else 1 for axis in range(len(self.shape)))) if self.shape else made

    def _with(self, y: Any, sign: int) -> Any:
        if isinstance(y, Pointer):
            return y + self
        if is_whole(y):
            return Index(self.shape, self.const + sign * int(y), self.steps,
                         None if self.array is None else self.array + sign * int(y))
        if not isinstance(y, Index):
            return NotImplemented
        shape = broadcast(self.shape, y.shape)
        if self.array is not None or y.array is not None:
            return Index(shape, 0, (), np.broadcast_to(self.numbers() + sign * y.numbers(), shape))
        a, b = ((0,) * (len(shape) - len(x.shape)) + tuple(s if n > 1 else 0 for n, s in zip(x.shape, x.steps))
                for x in (self, y))
        return Index(shape, self.const + sign * y.const, tuple(i + sign * j for i, j in zip(a, b)))

    def __add__(self, y: Any) -> Any:
        found = self._with(y, 1)
        return super().__add__(y) if found is NotImplemented else found

    __radd__ = __add__

    def __sub__(self, y: Any) -> Any:
        found = self._with(y, -1)
        return super().__sub__(y) if found is NotImplemented else found

    def __rsub__(self, y: Any) -> Any:
        return -self + y if is_whole(y) else super().__rsub__(y)

    def __neg__(self) -> "Index":
        return self * -1  # type: ignore[no-any-return]

    def __mul__(self, y: Any) -> Any:
        if not is_whole(y):
            return super().__mul__(y)
        y = int(y)
        return Index(self.shape, self.const * y, tuple(s * y for s in self.steps), None if self.array is None else self.array * y)

    __rmul__ = __mul__

    def __mod__(self, y: Any) -> Any:
        if not is_whole(y):
            return super().__mod__(y)
        if self.array is None and 0 <= self.least() and self.most() < y:
            return self
        return Index(self.shape, 0, (), self.numbers() % y, self._made_by(lib.TL_MOD, int(y)))

    def __floordiv__(self, y: Any) -> Any:
        if not is_whole(y):
            return super().__floordiv__(y)
        return Index(self.shape, 0, (), self.numbers() // y, self._made_by(lib.TL_DIV, int(y)))

    def _made_by(self, op: int, y: int) -> Any:
        """A command that is rounded as offsets are: of numbers that are not negative."""
        if self.array is not None or self.least() < 0 or y <= 0:
            return None
        return lambda: math_command(op, self, y, whole=True)

    def __lshift__(self, y: Any) -> Any:
        return self * (1 << int(y)) if is_whole(y) else super().__lshift__(y)

    def __rshift__(self, y: Any) -> Any:
        return self // (1 << int(y)) if is_whole(y) else super().__rshift__(y)

    def __getitem__(self, key: Any) -> "Index":
        axes = _axes(self.shape, key)
        shape = tuple(1 if axis is None else self.shape[axis] for axis in axes)
        if self.array is not None:
            return Index(shape, 0, (), self.array.reshape(shape), self.make and (lambda: reshape(self.tensor(), shape)))
        return Index(shape, self.const, tuple(0 if axis is None else self.steps[axis] for axis in axes))

    def _compare(self, y: Any, op: int) -> Any:
        if isinstance(y, (int, np.integer, Index)):
            return Mask.of(op, self, y)
        return math_command(op, self, y)

    def __eq__(self, y: Any) -> Any:
        return self._compare(y, lib.TL_EQ)

    def __ne__(self, y: Any) -> Any:
        return self._compare(y, lib.TL_NE)

    __hash__ = None  # type: ignore[assignment]

    def __lt__(self, y: Any) -> Any:
        return self._compare(y, lib.TL_LT)

    def __le__(self, y: Any) -> Any:
        return self._compare(y, lib.TL_LE)

    def __gt__(self, y: Any) -> Any:
        return self._compare(y, lib.TL_GT)

    def __ge__(self, y: Any) -> Any:
        return self._compare(y, lib.TL_GE)


_TRUE: Dict[int, Any] = {lib.TL_LT: np.less, lib.TL_LE: np.less_equal, lib.TL_GT: np.greater, lib.TL_GE: np.greater_equal,
         lib.TL_EQ: np.equal, lib.TL_NE: np.not_equal, lib.TL_AND: np.logical_and, lib.TL_OR: np.logical_or,
         lib.TL_XOR: np.logical_xor}
Box = List[Tuple[int, int]]


class Mask(Value):
    """What is true of offsets, and the box of them that it is, if it is one; as an operand it is computed."""

    dtype = int1

    def __init__(self, shape: Shape, box: Optional[Box], truth: Any, make: Any):
        """`box` is None: look at what is true; `make`: a command for it."""
        self.shape, self._box, self._truth, self.make = shape, box, truth, make
        self._looked = box is not None

    @staticmethod
    def of(op: int, x: Index, y: Any) -> "Mask":
        difference = x - y
        return Mask(difference.shape, Mask._box_of(op, difference), lambda: _TRUE[op](difference.numbers(), 0),
                    lambda: math_command(op, x, y))

    @staticmethod
    def _all_or_none(shape: Shape, true: bool) -> "Mask":
        return Mask(shape, [(0, n if true else 0) for n in shape], lambda: np.full(shape, true),
                    lambda: Full(shape, float(true), int1).tensor())

    @staticmethod
    def _box_of(op: int, d: Index) -> Optional[Box]:
        """Where d op 0 is true, if steps along axes say so."""
        whole = [(0, n) for n in d.shape]
        if d.array is not None:
            return None
        least, most = d.least(), d.most()
        never = least > 0 or most < 0
        true = {lib.TL_LT: most < 0, lib.TL_LE: most <= 0, lib.TL_GT: least > 0, lib.TL_GE: least >= 0,
                lib.TL_EQ: least == most == 0, lib.TL_NE: never}[op]
        false = {lib.TL_LT: least >= 0, lib.TL_LE: least > 0, lib.TL_GT: most <= 0, lib.TL_GE: most < 0,
                 lib.TL_EQ: never, lib.TL_NE: least == most == 0}[op]
        if true:
            return whole
        if false:
            return [(0, 0) for n in d.shape]
        varying = [axis for axis, step in enumerate(d.steps) if step and d.shape[axis] > 1]
        if len(varying) != 1 or op in (lib.TL_EQ, lib.TL_NE):
            return None
        axis, step, limit = varying[0], d.steps[varying[0]], d.const
        flips = op in (lib.TL_GT, lib.TL_GE)
        strict = op in (lib.TL_LT, lib.TL_GT)
        if flips:  # limit + step * i > 0 is -limit - step * i < 0
            step, limit = -step, -limit
        bound = -limit if strict else -limit + 1  # step * i < bound
        n = d.shape[axis]
        whole[axis] = (0, _least(-(-bound // step), n)) if step > 0 else (_most(-bound // -step + 1, 0), n)
        return whole

    @property
    def box(self) -> Optional[Box]:
        """None: it is none."""
        if not self._looked:
            self._looked, self._box = True, _box_of_truth(self.truth())
        return self._box

    def truth(self) -> Any:
        """As an array of numpy."""
        return np.broadcast_to(self._truth(), self.shape)

    def _with(self, op: int, y: Any, other: Any) -> Any:
        if isinstance(y, (bool, np.bool_)):
            of_false, of_true = bool(_TRUE[op](False, y)), bool(_TRUE[op](True, y))
            return Mask._all_or_none(self.shape, of_true) if of_true == of_false else self if of_true else ~self
        if not isinstance(y, Mask):
            return other(y)
        shape = broadcast(self.shape, y.shape)
        box = None
        if op == lib.TL_AND and self._box is not None and y._box is not None:
            box = [(_most(a[0], b[0]), _least(a[1], b[1])) for a, b in zip(self._in(shape), y._in(shape))]
        return Mask(shape, box, lambda: _TRUE[op](self.truth(), y.truth()), lambda: math_command(op, self, y))

    def __and__(self, y: Any) -> Any:
        return self._with(lib.TL_AND, y, super().__and__)

    def __or__(self, y: Any) -> Any:
        return self._with(lib.TL_OR, y, super().__or__)

    def __xor__(self, y: Any) -> Any:
        return self._with(lib.TL_XOR, y, super().__xor__)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __invert__(self) -> Any:
        return Mask(self.shape, None, lambda: ~self.truth(), lambda: math_command(lib.TL_NOT, self))

    def _in(self, shape: Shape) -> Box:
        """Its box among broadcast offsets."""
        box = [(0, n) for n in shape[:len(shape) - len(self.shape)]] + list(self.box or ())
        return [(0, n) if m == 1 and b == (0, 1) else b
                for n, m, b in zip(shape, (1,) * (len(shape) - len(self.shape)) + self.shape, box)]

    def covers(self) -> Optional[bool]:
        """All of them; none; or some."""
        if self.box is None:
            return None
        if all(b == (0, n) for b, n in zip(self.box, self.shape)):
            return True
        return False if any(a >= b for a, b in self.box) else None

    def tensor(self) -> Tensor:
        return self.make()  # type: ignore[no-any-return]

    def __getitem__(self, key: Any) -> Any:
        axes = _axes(self.shape, key)
        shape = tuple(1 if axis is None else self.shape[axis] for axis in axes)
        box = None if self._box is None else [(0, 1) if axis is None else self._box[axis] for axis in axes]
        return Mask(shape, box, lambda: self.truth().reshape(shape), lambda: reshape(self.tensor(), shape))


def _box_of_truth(truth: Any) -> Optional[Box]:
    """The box that is true, if all of it is."""
    box = []
    for axis in range(truth.ndim):
        true = np.flatnonzero(truth.any(tuple(i for i in range(truth.ndim) if i != axis)))
        if not len(true):
            return [(0, 0)] * truth.ndim
        box.append((int(true[0]), int(true[-1]) + 1))
    return box if truth[tuple(slice(a, b) for a, b in box)].all() else None


class Memory:
    """Where an array lies: stretches of its elements, in order, each at an address."""

    def __init__(self, name: str, kind: dtype, shards: List[Tuple[int, int, int]]):
        self.name, self.dtype, self.shards = name, kind, shards

    def runs(self, first: int, n: int) -> List[Tuple[int, int]]:
        """(address, bytes) of n elements."""
        found = []
        for begin, end, address in self.shards:
            a, b = _most(first, begin), _least(first + n, end)
            if a < b:
                found.append((address + (a - begin) * self.dtype.size, (b - a) * self.dtype.size))
        if _total(nbytes for _, nbytes in found) != n * self.dtype.size:
            raise KernelMistake(f"elements {first} to {first + n - 1} are not in {self.name}, which has {self.shards[-1][1]}")
        return found


class Pointer:
    """Elements of an array, by their offsets."""

    def __init__(self, memory: Memory, offset: int, index: Optional[Index] = None):
        self.memory, self.offset, self.index = memory, offset, index
        self.dtype = memory.dtype

    def __repr__(self) -> str:
        return f"<pointer to {self.memory.name}>"

    @property
    def type(self) -> "Pointer":
        return self

    @property
    def element_ty(self) -> dtype:
        return self.memory.dtype

    def __add__(self, y: Any) -> "Pointer":
        if is_whole(y):
            return Pointer(self.memory, self.offset + int(y), self.index)
        if isinstance(y, Index):
            return Pointer(self.memory, self.offset, y if self.index is None else self.index + y)
        raise KernelMistake("an offset that is a tensor: value(x) computes it" if isinstance(y, Value) else
                            f"{y!r} is no offset: that is a whole number, or made by arange()")

    __radd__ = __add__

    def __sub__(self, y: Any) -> "Pointer":
        return self.__add__(y * -1)


class BlockPointer:
    """A block of a matrix: tl.make_block_ptr()."""

    def __init__(self, base: Pointer, shape: Shape, strides: Shape, offsets: Shape, block_shape: Shape):
        self.base, self.shape, self.strides, self.offsets, self.block_shape = base, shape, strides, offsets, block_shape
        self.dtype = base.dtype

    def pointer(self) -> Pointer:
        at = _total(o * s for o, s in zip(self.offsets, self.strides))
        return self.base + Index(self.block_shape, at, self.strides)

    def inside(self, axes: Sequence[int]) -> Optional[Mask]:
        if not axes:
            return None
        checked = {axis_of(axis, self.block_shape) for axis in axes}
        box = [(_most(0, -o), _least(b, n - o)) if axis in checked else (0, b)
               for axis, (b, n, o) in enumerate(zip(self.block_shape, self.shape, self.offsets))]
        return Mask(self.block_shape, box, None, None)


def make_block_ptr(base: Pointer, shape: Any, strides: Any, offsets: Any, block_shape: Any, order: Any = None) -> BlockPointer:
    return BlockPointer(base, *(tuple(int(i) for i in x) for x in (shape, strides, offsets, block_shape)))


def advance(block: BlockPointer, offsets: Any) -> BlockPointer:
    return BlockPointer(block.base, block.shape, block.strides, tuple(a + b for a, b in zip(block.offsets, offsets)),
                        block.block_shape)


def box_of(pointer: Pointer, mask: Any) -> Tuple[Shape, List[Tuple[int, int]]]:
    """The shape of what is named, and the part that is accessed: an axis without extent, if that is nothing."""
    if not isinstance(pointer, Pointer):
        raise KernelMistake(f"{pointer!r} is no pointer: that is an argument with an array, and offsets added to it")
    shape = pointer.index.shape if pointer.index is not None else ()
    if mask is None or isinstance(mask, (bool, np.bool_)):
        return shape, [(0, n) for n in shape] if mask is None or mask else [(0, 0)] * _most(1, len(shape))
    if not isinstance(mask, Mask):
        raise KernelMistake("a mask of values: load all, then where()")
    full = broadcast(shape, mask.shape)
    if full != shape:
        raise KernelMistake(f"a mask {list(mask.shape)} of offsets {list(shape)}")
    if mask.box is None:
        raise KernelMistake("a mask that is no box of offsets: load all, then where()")
    return shape, mask._in(shape)


def access(pointer: Pointer, box: List[Tuple[int, int]]) -> Tuple[str, Tuple[int, ...]]:
    """What a box of elements is for tl.h: "plain", "strided" or "list", and words."""
    memory, index = pointer.memory, pointer.index
    size = memory.dtype.size
    if index is not None and index.array is not None:
        numbers = index.array[tuple(slice(a, b) for a, b in box)].ravel() + pointer.offset
        breaks = np.flatnonzero(np.diff(numbers) != 1) + 1
        firsts = numbers[np.append(0, breaks)]
        lengths = np.diff(np.append(np.append(0, breaks), len(numbers)))
        return _list([(int(f), int(n)) for f, n in zip(firsts, lengths)], memory)
    dims = [b - a for a, b in box]
    steps = index.steps if index is not None else ()
    first = pointer.offset + (index.const if index is not None else 0) + _total(a * s for (a, _), s in zip(box, steps))
    plain, run, ordered = True, 1, True
    for n, step in zip(reversed(dims), reversed(steps)):
        if n > 1 and step != run:
            plain = False
        ordered = ordered and (n == 1 or step >= 0)
        run *= n
    last = first + _total((n - 1) * s for n, s in zip(dims, steps) if s > 0)
    found = memory.runs(first, last - first + 1) if ordered else []
    if len(found) == 1:
        return ("plain", (found[0][0],)) if plain else ("strided", (found[0][0], *(s * size if n > 1 else 0 for n, s in zip(dims, steps))))
    whole = Index(tuple(dims), first, steps).numbers().ravel()
    breaks = np.flatnonzero(np.diff(whole) != 1) + 1
    firsts = whole[np.append(0, breaks)]
    lengths = np.diff(np.append(np.append(0, breaks), len(whole)))
    return _list([(int(f), int(n)) for f, n in zip(firsts, lengths)], memory)


def _list(stretches: List[Tuple[int, int]], memory: Memory) -> Tuple[str, Tuple[int, ...]]:
    runs = [run for first, n in stretches for run in memory.runs(first, n)]
    return "list", (len(runs), *(word for run in runs for word in run))
