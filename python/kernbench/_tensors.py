"""_tensors.py -- the tensors of a run as numpy arrays."""
from typing import Any, Dict, Iterator, Mapping, Tuple

import numpy as np

from ._errors import error
from ._native import ffi, lib
from ._rows import array_of
from ._types import Array

# numpy has no bf16, no f8 and no i4: the bits, which bf16(), f8() and i4() make numbers of
DTYPES = {"f16": "<f2", "bf16": "<u2", "f32": "<f4", "f64": "<f8", "i8": "|i1", "i16": "<i2",
          "i32": "<i4", "i64": "<i8", "u8": "|u1", "u16": "<u2", "u32": "<u4", "u64": "<u8",
          "bool": "|b1", "f8e4m3": "|u1", "f8e5m2": "|u1", "i4": "|u1"}
ROLES = ("input", "output", "scratch")


def bf16(bits: Array) -> Array:
    """The numbers that bits of bf16 stand for, as float32."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def f8(bits: Array, name: str) -> Array:
    """The same of f8e4m3 and f8e5m2."""
    dtype = lib.KB_F8E4M3 if name == "f8e4m3" else lib.KB_F8E5M2
    of = np.array([lib.kb_element(dtype, ffi.new("uint8_t *", i), 0) for i in range(256)], np.float32)
    return of[bits]


def i4(packed: Array) -> Array:
    """The numbers of i4 of which each byte has two, as int8."""
    halves = np.stack([packed & 15, packed >> 4], axis=-1).astype(np.int8)
    numbers: Array = (halves ^ 8) - 8
    return numbers.reshape(packed.shape[:-1] + (2 * packed.shape[-1],))


def cells(shape: Tuple[int, ...], dtype: str) -> Tuple[int, ...]:
    """The shape of what numpy has in the place of a tensor: of i4 its bytes."""
    return shape[:-1] + (shape[-1] // 2,) if dtype == "i4" else shape


def shape_of(shape: Any) -> Tuple[int, ...]:
    return tuple(shape.dim[i] for i in range(shape.rank))


class Tensors(Mapping[str, Array]):
    """The tensors of a run by their names, as numpy arrays.

    t["c"] is the whole tensor: without a copy if it lies in the memory of one PE, or if all PEs have
    all of it; else its parts are put together, once. t.part("c", 3) is the part of PE 3 as it lies
    there, never copied. Arrays are read-only, and stay after the run is gone. numpy has no bf16
    and no f8: such a tensor is float32, and a part of it the bits. Of i4 a tensor is int8, and of a
    part each byte has two elements, the first in its low half.
    """

    def __init__(self, query: Any):
        self._query = query
        self._run = lib.kb_query_run(query.c)
        self._tensors: Dict[str, Any] = {}
        self._roles: Dict[str, str] = {}
        self._whole: Dict[str, Array] = {}
        role = ffi.new("kb_bench_role *")
        for i in range(lib.KB_BENCH_TENSORS_MAX):
            tensor = lib.kb_bench_tensor(self._run, i, role)
            if not tensor:
                break
            name = ffi.string(lib.kb_tensor_name(tensor)).decode()
            self._tensors[name] = tensor
            self._roles[name] = ROLES[role[0]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    def __repr__(self) -> str:
        shown = [f"{name}: {self.role(name)} {self.dtype(name)}{list(self.shape(name))}" for name in self]
        return "<kernbench.Tensors " + ", ".join(shown) + ">"

    def role(self, name: str) -> str:
        """"input", "output" or "scratch"."""
        return self._roles[name]

    def dtype(self, name: str) -> str:
        """The type of its elements, as kernbench has it: "f16"."""
        return str(ffi.string(lib.kb_dtype_name(lib.kb_tensor_dtype(self._tensors[name]))).decode())

    def shape(self, name: str) -> Tuple[int, ...]:
        """Its extents, in elements."""
        return shape_of(lib.kb_tensor_shape(self._tensors[name]))

    def _read(self, name: str) -> Array:
        whole = np.empty(cells(self.shape(name), self.dtype(name)), DTYPES[self.dtype(name)])
        why = ffi.new("kb_error *")
        if lib.kb_tensor_read(self._tensors[name], ffi.from_buffer("char[]", whole), why):
            raise error(2, [ffi.string(why.text).decode()])
        return whole

    def _check(self, name: str, pe: int) -> None:
        n = lib.kb_pe_count(lib.kb_bench_topology(self._run))
        if not 0 <= pe < n:
            raise error(2, [f"tensor '{name}' has no part on PE {pe}: PEs are 0..{n - 1}"])

    def part(self, name: str, pe: int) -> Array:
        """The part in the slice of PE `pe` (numbered over all SIPs and cubes), without a copy."""
        tensor = self._tensors[name]
        self._check(name, pe)
        bytes_at, why = ffi.new("const void **"), ffi.new("kb_error *")
        if lib.kb_tensor_part(tensor, pe, bytes_at, why):
            raise error(2, [ffi.string(why.text).decode()])
        shape = cells(shape_of(lib.kb_tensor_shard(tensor, pe).shape), self.dtype(name))
        n = int(np.prod(shape))
        part = array_of(bytes_at[0], n, DTYPES[self.dtype(name)], self._query).reshape(shape)
        part.flags.writeable = False
        return part

    def where(self, name: str, pe: int) -> Tuple[slice, ...]:
        """Where the part of PE `pe` is in the whole: t["c"][t.where("c", 3)] equals t.part("c", 3)."""
        self._check(name, pe)
        shard = lib.kb_tensor_shard(self._tensors[name], pe)
        return tuple(slice(first, first + n) for first, n in zip(shard.first, shape_of(shard.shape)))

    def tensor(self, name: str) -> Any:
        """The kb_tensor, for cffi."""
        return self._tensors[name]

    def raw(self, name: str) -> Array:
        """The whole tensor as its bits are: of bf16 uint16."""
        if name not in self._whole:
            first = lib.kb_tensor_shard(self._tensors[name], 0)
            alone = shape_of(first.shape) == self.shape(name)
            self._whole[name] = self.part(name, 0) if alone else self._read(name)
            self._whole[name].flags.writeable = False
        return self._whole[name]

    def __getitem__(self, name: str) -> Array:
        whole = self.raw(name)
        dtype = self.dtype(name)
        if dtype == "i4":
            return i4(whole)
        return bf16(whole) if dtype == "bf16" else f8(whole, dtype) if dtype.startswith("f8e") else whole
