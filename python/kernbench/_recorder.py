"""_recorder.py -- the commands of a kernel in Python, in the list that the simulation plays."""
import sys
import threading
from array import array
from struct import pack, unpack
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Set, Tuple

import numpy as np

from ._errors import KernelError
from ._native import ffi, lib

NOW = threading.local()
WORDS = ("LOAD LOAD_STRIDED LOAD_LIST LOAD_SUM STORE STORE_STRIDED STORE_LIST STORE_ALL MATH SCALAR CAST REDUCE SOFTMAX FULL ARANGE "
          "RESHAPE SLICE PERMUTE EXPAND DOT ACC DOT_ACC ACC_SCALE ACC_STORE FREE WAIT_ALL ASYNC UPDATE TAKE SORT CUMSUM "
          "RANDOM VALUE VALUES TIME PRINT FAIL ATOMIC TOPK").split()
(W_LOAD, W_LOAD_STRIDED, W_LOAD_LIST, W_LOAD_SUM, W_STORE, W_STORE_STRIDED, W_STORE_LIST, W_STORE_ALL, W_MATH, W_SCALAR,
 W_CAST, W_REDUCE, W_SOFTMAX, W_FULL, W_ARANGE, W_RESHAPE, W_SLICE, W_PERMUTE, W_EXPAND, W_DOT, W_ACC, W_DOT_ACC, W_ACC_SCALE,
 W_ACC_STORE, W_FREE, W_WAIT_ALL, W_ASYNC, W_UPDATE, W_TAKE, W_SORT, W_CUMSUM, W_RANDOM, W_VALUE,
 W_VALUES, W_TIME, W_PRINT, W_FAIL, W_ATOMIC, W_TOPK) = range(len(WORDS))
LONG = 8192  # words of a list that is handed over
OWN: Set[str] = set()  # files whose lines are no places of a kernel
OWN.add(__file__)
Shape = Tuple[int, ...]


class KernelMistake(KernelError):
    """A kernel in Python used the language wrongly, or is not run by a machine."""

    def __init__(self, text: str):
        super().__init__(7, [text])

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.messages[0],)


class Gone(BaseException):
    """The run of a kernel is over."""


class dtype:
    """A type of elements; of a pointer it is `element_ty` of its type."""

    def __init__(self, name: str, code: int, numpy: str, rank: int):
        self.name, self.code, self.numpy, self.rank = name, code, numpy, rank
        self.size = np.dtype(numpy).itemsize if numpy else 1
        self.floating = name[0] in "fb" and name != "bool"

    @property
    def element_ty(self) -> "dtype":
        return self

    def is_floating(self) -> bool:
        return self.floating

    def bounds(self) -> Tuple[int, int]:
        """The first and the last of integers."""
        bits = 8 * self.size if self.numpy[1] != "b" else 1
        signed = self.numpy[1] == "i"
        return (-1 << bits - 1, (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)

    def holds(self, value: Any) -> bool:
        """Is a whole number one of its values? Numbers go to the simulation as f64; of those above its last it takes this."""
        first, last = self.bounds()
        return bool(first <= value <= last and (value == last or int(float(value)) == value))

    def __repr__(self) -> str:
        return self.name


float16 = dtype("f16", lib.KB_F16, "<f2", 20)
bfloat16 = dtype("bf16", lib.KB_BF16, "<u2", 21)
float32 = dtype("f32", lib.KB_F32, "<f4", 22)
float64 = dtype("f64", lib.KB_F64, "<f8", 23)
int8 = dtype("i8", lib.KB_I8, "|i1", 2)
int16 = dtype("i16", lib.KB_I16, "<i2", 4)
int32 = dtype("i32", lib.KB_I32, "<i4", 6)
int64 = dtype("i64", lib.KB_I64, "<i8", 8)
uint8 = dtype("u8", lib.KB_U8, "|u1", 3)
uint16 = dtype("u16", lib.KB_U16, "<u2", 5)
uint32 = dtype("u32", lib.KB_U32, "<u4", 7)
uint64 = dtype("u64", lib.KB_U64, "<u8", 9)
float8e4nv = dtype("f8e4m3", lib.KB_F8E4M3, "|u1", 18)
float8e5 = dtype("f8e5m2", lib.KB_F8E5M2, "|u1", 19)
int1 = dtype("bool", lib.KB_BOOL, "|b1", 1)
TYPES = {t.name: t for t in (float16, bfloat16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64, int1, float8e4nv, float8e5)}
# of this only its name is known, so that a kernel may ask for it
float8e4b15 = dtype("f8e4b15", 0, "", 0)


if TYPE_CHECKING:
    constexpr = Any  # a number, a type or a word: to a checker what it is given
else:
    class constexpr:
        """What an argument may be annotated with; it changes nothing."""

        def __class_getitem__(cls, item: Any) -> Any:
            return cls


class Int(int):
    """A number of a program; `to()` leaves it."""

    def to(self, kind: dtype) -> "Int":
        return self


def _keeps(name: str) -> Any:
    plain = getattr(int, name)

    def method(self: int, other: Any) -> Any:
        value = plain(self, other)
        return Int(value) if value.__class__ is int else value
    return method


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "floordiv", "rfloordiv", "mod", "rmod"):
    setattr(Int, f"__{_name}__", _keeps(f"__{_name}__"))


class Recorder:
    """The commands of one PE that the simulation has not played yet."""

    def __init__(self, kernel: Any, files: "Files", pe: int, grid: Shape, where: Callable[[], str]):
        self.kernel, self.files, self.pe, self.grid, self.where = kernel, files, pe, grid, where
        self.words = array("q")
        self.free: List[int] = []
        self.made = self.accs = 0
        self.scalars: Dict[int, int] = {}  # by their bits: 0.0 equals -0.0
        self.place = 0
        self.open = True
        self.program: Shape = (0, 0, 0)

    def here(self) -> int:
        """The place of the call: the line outside of this file."""
        frame = sys._getframe(2)
        while frame.f_code.co_filename in OWN:
            frame = frame.f_back  # type: ignore[assignment]
        self.place = place = self.files.number(frame.f_code.co_filename) << 32 | frame.f_lineno
        return place

    def new(self) -> int:
        if self.free:
            return self.free.pop()
        self.made += 1
        return self.made - 1

    def add(self, *words: int) -> None:
        try:
            self.words.extend(words)
        except (TypeError, OverflowError):
            n = next(i for i, x in enumerate(words) if not isinstance(x, (int, np.integer)) or not -1 << 63 <= x < 1 << 63)
            del self.words[len(self.words) - n:]  # those before it are there
            raise KernelMistake(f"{words[n]!r} is no whole number of 64 bits") from None
        if len(self.words) > LONG:
            self.hand()

    def hand(self, last: bool = False) -> None:
        """The simulation plays all commands so far; returns when it has."""
        words, self.words = self.words, array("q")
        at = ffi.from_buffer("int64_t[]", words) if len(words) else ffi.NULL
        if not lib.kernbench_kernel_hand(self.kernel, at, len(words), self.files.c, last) and not last:
            raise Gone
        self.played = words

    def scalar(self, value: float) -> int:
        key = bits(value)
        number = self.scalars.get(key)
        if number is None:
            number = self.scalars[key] = self.new()
            self.add(W_SCALAR, self.place, number, key)
        return number


class Files:
    """Names of files, as commands have them by number."""

    def __init__(self) -> None:
        self.numbers: Dict[str, int] = {}
        self.texts = [ffi.new("char[]", b"?")] * 256
        self.c = ffi.new("char *[]", self.texts)

    def number(self, name: str) -> int:
        number = self.numbers.get(name)
        if number is None:
            number = self.numbers[name] = len(self.numbers) % 256
            self.texts[number] = ffi.new("char[]", name.encode(errors="replace"))
            self.c[number] = self.texts[number]
        return number

    def text(self, place: int) -> str:
        """FILE:LINE."""
        return f"{ffi.string(self.texts[place >> 32]).decode(errors='replace')}:{place & 0xffffffff}"


def bits(value: float) -> int:
    return int(unpack("q", pack("d", value))[0])


def recorder() -> Recorder:
    found = getattr(NOW, "recorder", None)
    if found is None:
        raise KernelMistake("this is called outside of a kernel")
    return found  # type: ignore[no-any-return]
