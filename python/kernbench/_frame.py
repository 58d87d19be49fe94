"""_frame.py -- transactions in a DataFrame, a record array or a dict of columns, for the library."""
import difflib
import re
from decimal import Decimal
from numbers import Real as RealNumber
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from ._errors import BadInput
from ._native import ffi, lib
from ._rows import pandas
from ._types import Array

REQUIRED = ("issue_ns", "op", "src", "dst", "nbytes")
OPTIONAL = ("offset", "after", "think_ns", "plane", "prio", "rows", "stride")
ALL = ("issue_ns", "op", "src", "dst", "offset", "nbytes", "after", "think_ns", "plane", "prio", "rows", "stride")
MAY_LACK = ("offset", "prio", "rows", "stride")  # cells of these may be empty
FS_PER_NS = 1_000_000
NS_MAX = 9e12  # that of a file
Real = (RealNumber, Decimal)
FEW_TEXTS = 1 << 16  # different objects, by which a column of strings is numbered quickly


def bad(column: Optional[str], text: str, row: Optional[int] = None) -> BadInput:
    """The exception for a mistake in a column, and in one of its rows."""
    place = "" if column is None else f"column '{column}': " if row is None else \
        f"row {row}, column '{column}': "
    error = BadInput(3, [place + text])
    error.column = column
    return error


def columns_of(data: Any) -> Dict[str, Any]:
    """The columns by name: of a DataFrame, a record array, or a dict."""
    if hasattr(data, "columns") and hasattr(data, "iloc"):
        names = [str(name) for name in data.columns]
        columns = {name: data.iloc[:, i] for i, name in enumerate(names)}
    elif getattr(getattr(data, "dtype", None), "names", None):
        names = list(data.dtype.names)
        columns = {name: data[name] for name in names}
    elif hasattr(data, "keys"):
        names = [str(name) for name in data.keys()]
        columns = {str(name): data[name] for name in data.keys()}
    else:
        raise TypeError("transactions are a DataFrame, a record array or a dict of columns, not "
                        + type(data).__name__)
    for name in names:
        if names.count(name) > 1:
            raise bad(name, "it is there twice")
        if isinstance(columns[name], str) or not hasattr(columns[name], "__len__"):
            raise bad(name, f"{columns[name]!r} is one value: a column has one for each row")
    return columns


def check_names(columns: Dict[str, Any]) -> None:
    for name in columns:
        if name not in ALL:
            near = difflib.get_close_matches(name, ALL, 1)
            raise bad(name, f"unknown column, did you mean '{near[0]}'?" if near else
                      "unknown column: it is one of " + ", ".join(ALL))
    missing = [name for name in REQUIRED if name not in columns]
    if missing:
        raise bad(missing[0], "it is missing: transactions have " + ", ".join(REQUIRED))


def plain_array(name: str, column: Any) -> Array:
    """A column as a one-dimensional array; pandas' NA become NaN."""
    columns: Any = np
    masks: Any = np.ma
    if hasattr(column, "to_numpy"):
        missing = getattr(column, "isna", None)
        if missing is not None and str(column.dtype) in NULLABLE and column.isna().any():
            array = column.to_numpy(dtype="float64", na_value=np.nan)
        else:
            array = column.to_numpy()
    elif isinstance(column, np.ma.MaskedArray) and masks.is_masked(column):
        array = columns.where(masks.getmaskarray(column), None, column.data)
    else:
        array = array_of_cells(column)
    if array.ndim != 1:
        raise bad(name, f"it has {array.ndim} dimensions, not one")
    return np.asarray(array)


def array_of_cells(column: Any) -> Array:
    """An array; of a list, numbers among texts stay numbers, and lists in it are cells."""
    if isinstance(column, np.ndarray):
        return np.asarray(column)
    try:
        array = np.asarray(column)
    except ValueError:  # lists of several lengths
        array = None
    if array is None or array.dtype.kind == "U" or array.ndim > 1 and isinstance(column, (list, tuple)):
        array = np.empty(len(column), object)
        for i, cell in enumerate(column):
            array[i] = cell
    return array


NULLABLE = {sign + "nt" + bits for sign in ("I", "UI") for bits in ("8", "16", "32", "64")} | {
    "Float32", "Float64"}


def first(mask: Array) -> int:
    return int(np.argmax(mask))


def as_real(cell: Any) -> float:
    """A number of any kind; one that no float can hold is infinite."""
    try:
        return float(cell)
    except (OverflowError, ValueError):  # 10**400, a signaling NaN
        return np.inf


def times_fs(name: str, column: Any) -> Array:
    """Times in ns as whole femtoseconds."""
    array = plain_array(name, column)
    if array.dtype.kind == "O" and all(is_missing(cell) or isinstance(cell, Real) for cell in array):
        array = np.array([np.nan if is_missing(cell) else as_real(cell) for cell in array])
    if array.dtype.kind not in "iuf":
        raise bad(name, f"its dtype is {array.dtype}: times are numbers, in ns")
    wrong = ~(array >= 0) if array.dtype.kind == "f" else array < 0
    wrong |= array > NS_MAX
    if wrong.any():
        row = first(wrong)
        raise bad(name, f"{array[row]} is not a time: 0 to {NS_MAX:.0f} ns", row)
    if array.dtype.kind != "f":
        return np.ascontiguousarray(array.astype(np.int64) * FS_PER_NS)
    return np.asarray(np.rint(array.astype(np.float64) * FS_PER_NS), np.int64)


def size_of(name: str, cell: Any, row: Any) -> int:
    """A size as the command line has it: 4096, or "4K"."""
    text = str(cell)
    digits = text[:-1] if text[-1:] in UNITS else text
    known = digits.isascii() and digits.isdigit() and len(digits) < SIZE_DIGITS
    size = int(digits) * UNITS.get(text[-1:], 1) if known else -1
    if not 0 <= size < 1 << 63:
        raise bad(name, f"{cell!r} is not a size: a whole number of bytes, or as '4K'", row())
    return size


SIZE_DIGITS = 20  # more are above 2^63
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def sizes(name: str, column: Any) -> Array:
    """Whole numbers that are not negative."""
    array = plain_array(name, column)
    if array.dtype.kind in "OU":
        codes, cells = numbered(name, array)
        found = [0 if name in MAY_LACK and is_missing(cell) else
                 size_of(name, cell, lambda k=k: first(codes == k)) for k, cell in enumerate(cells)]
        return np.array(found, np.uint64)[codes]
    if array.dtype.kind == "f":
        wrong = ~((array >= 0) & (array < 2.0**63)) | (np.floor(array) != array)
    elif array.dtype.kind in "iu":
        wrong = array < 0
    else:
        raise bad(name, f"its dtype is {array.dtype}: sizes are whole numbers, in bytes")
    if wrong.any():
        row = first(wrong)
        raise bad(name, f"{array[row]} is not a size: a whole number of bytes", row)
    return np.ascontiguousarray(array, np.uint64)


# -- texts ----------------------------------------------------------------------------------------


def numbered_by_object(array: Array) -> Optional[Tuple[Array, Array]]:
    """Which object each cell is, and where each stands first; None: too many different ones."""
    n = len(array)
    codes = np.empty(n, np.uint32)
    most = min(n, FEW_TEXTS)
    where = np.empty(most, np.uint64)
    slots = np.zeros(4 * (1 << max(most, 1).bit_length()), np.uint32)
    count = lib.kernbench_number_pointers(
        ffi.cast("uintptr_t *", array.ctypes.data), n, ffi.from_buffer("uint32_t[]", codes),
        ffi.from_buffer("uint64_t[]", where), most, ffi.from_buffer("uint32_t[]", slots), len(slots))
    return (codes, where[:count]) if count else None


def numbered(name: str, array: Array) -> Tuple[Array, List[Any]]:
    """Numbers of the different cells, and these cells."""
    if array.dtype.kind == "O" and array.flags.c_contiguous and len(array):
        found = numbered_by_object(array)
        if found:
            return found[0], list(array[found[1].astype(np.intp)])
    texts: Dict[Any, int] = {}
    try:
        if pandas is not None:  # quicker than a dict
            codes, cells = pandas.factorize(array)
            return np.where(codes < 0, len(cells), codes).astype(np.uint32), [*cells, *[None] * bool((codes < 0).any())]
        codes = np.fromiter((texts.setdefault(cell, len(texts)) for cell in array), np.uint32, len(array))
    except TypeError:  # lists, which no dict has for keys
        return np.arange(len(array), dtype=np.uint32), list(array)
    return codes, list(texts)


def is_missing(cell: Any) -> bool:
    return cell is None or isinstance(cell, RealNumber) and cell != cell or \
        type(cell).__name__ in ("NAType", "NaTType")


def as_text(name: str, cell: Any, may_lack: bool, row: Any) -> str:
    if isinstance(cell, str):
        if re.search("[\0\n\ud800-\udfff]", cell):
            raise bad(name, f"{cell!r} has signs that no name has", row())
        return cell
    if is_missing(cell) and may_lack:
        return ""
    if name == "after":
        ids = cell if isinstance(cell, (list, tuple, np.ndarray)) else [cell]
        if all(isinstance(item, Real) and as_real(item).is_integer() for item in ids):
            return "|".join(str(int(item)) for item in ids)
        raise bad(name, f"{cell!r} is no row: a number, a list of them, or a text as '3|7'", row())
    raise bad(name, f"{cell!r} is {'empty' if is_missing(cell) else 'no text'}", row())


class Texts:
    """A column of texts: each different one once, and its number for each row."""

    def __init__(self, name: str, column: Any, may_lack: bool = False):
        if hasattr(column, "cat"):  # pandas has done it
            codes = np.asarray(column.cat.codes)
            cells = list(column.cat.categories) + [None]
            self.codes = np.where(codes < 0, len(cells) - 1, codes).astype(np.uint32)
            if not (codes < 0).any():
                cells.pop()
        else:
            array = plain_array(name, column)
            if array.dtype.kind not in "OU" and name != "after":
                raise bad(name, f"its dtype is {array.dtype}: it has texts")
            self.codes, cells = numbered(name, array)
        self.texts = [as_text(name, cell, may_lack, lambda k=k: first(self.codes == k))
                      for k, cell in enumerate(cells)]
        self.strings = [ffi.new("char[]", text.encode()) for text in self.texts]
        self.array = ffi.new("char *[]", self.strings or [ffi.NULL])


class Frame:
    """Transactions as the library takes them: kb_frame."""

    def __init__(self, data: Any):
        columns = columns_of(data)
        check_names(columns)
        n = len(columns["issue_ns"])
        for name, column in columns.items():
            if len(column) != n:
                raise bad(name, f"it has {len(column)} rows, issue_ns has {n}")
        if n == 0:
            raise bad(None, "there are no transactions")
        self.kept: List[Any] = []
        self.index = data.index if hasattr(data, "iloc") else None
        self.c = ffi.new("kb_frame *")
        self.c.n = n
        self.put("issue_fs", "int64_t[]", times_fs("issue_ns", columns["issue_ns"]))
        for name in ("op", "src", "dst"):
            self.put_texts(name, columns[name])
        offset = columns.get("offset")
        self.put("offset", "uint64_t[]",
                 np.zeros(n, np.uint64) if offset is None else self.counts("offset", offset))
        self.put("nbytes", "uint64_t[]", sizes("nbytes", columns["nbytes"]))
        if "think_ns" in columns:
            self.put("think_fs", "int64_t[]", self.thinks(columns["think_ns"]))
        for name in ("prio", "rows", "stride"):
            if name in columns:
                self.put(name, "uint64_t[]", self.counts(name, columns[name]))
        for name in ("after", "plane"):
            if name in columns:
                self.put_texts(name, columns[name], may_lack=True)

    def put(self, name: str, kind: str, array: Array) -> None:
        self.kept.append(array)
        setattr(self.c, name, ffi.from_buffer(kind, array))

    def put_texts(self, name: str, column: Any, may_lack: bool = False) -> None:
        texts = Texts(name, column, may_lack)
        self.kept.append(texts)
        self.put(name, "uint32_t[]", texts.codes)
        setattr(self.c, name + "s", texts.array)
        setattr(self.c, f"n_{name}s", len(texts.strings))

    @staticmethod
    def counts(name: str, column: Any) -> Array:
        """Sizes of which some may lack, as an offset beside an address: NaN, as pandas reads an empty field."""
        array = plain_array(name, column)
        if array.dtype.kind == "f":
            array = np.where(np.isnan(array), 0, array)
        return sizes(name, array)

    @staticmethod
    def thinks(column: Any) -> Array:
        array = plain_array("think_ns", column)
        if array.dtype.kind == "f":
            array = np.where(np.isnan(array), 0, array)
        return times_fs("think_ns", array)
