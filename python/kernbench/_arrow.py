"""_arrow.py -- rows by the Arrow C data interface: two structs, and no library of Arrow.

Numbers are not copied: the buffers of a column are where the library wrote it. Texts are
dictionaries, of which the numbers are not copied either. Each struct keeps what it shows alive
until its release() is called.
"""
import ctypes
import itertools
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from ._native import ffi, lib
from ._rows import Table
from ._types import Array

NULLABLE = 2  # ARROW_FLAG_NULLABLE
_alive: Dict[int, Any] = {}  # what structs that are out show, by their number
_numbers = itertools.count(1)  # which several threads may draw


def keep(shown: Any) -> Any:
    """The private data of a struct: the number by which its release() lets go."""
    number = next(_numbers)
    _alive[number] = shown
    return ffi.cast("void *", number)


def let_go(struct: Any) -> None:
    """Releases a struct, and those below it that have not been moved elsewhere."""
    for i in range(struct.n_children):
        if struct.children[i].release:
            struct.children[i].release(struct.children[i])
    if struct.dictionary and struct.dictionary.release:
        struct.dictionary.release(struct.dictionary)
    struct.release = ffi.NULL
    del _alive[int(ffi.cast("uintptr_t", struct.private_data))]


@ffi.def_extern()  # type: ignore[misc]
def kernbench_release_schema(struct: Any) -> None:
    let_go(struct)


@ffi.def_extern()  # type: ignore[misc]
def kernbench_release_array(struct: Any) -> None:
    let_go(struct)


@ffi.def_extern()  # type: ignore[misc]
def kernbench_release_stream(struct: Any) -> None:
    struct.release = ffi.NULL
    del _alive[int(ffi.cast("uintptr_t", struct.private_data))]


def stream_of(struct: Any) -> List[Any]:
    found: List[Any] = _alive[int(ffi.cast("uintptr_t", struct.private_data))]
    return found


@ffi.def_extern()  # type: ignore[misc]
def kernbench_stream_schema(struct: Any, out: Any) -> int:
    stream_of(struct)[0].put_schema(out)
    return 0


@ffi.def_extern()  # type: ignore[misc]
def kernbench_stream_next(struct: Any, out: Any) -> int:
    """One batch, then none: a struct that is released."""
    stream = stream_of(struct)
    if stream[1]:
        out.release = ffi.NULL
    else:
        stream[0].put_array(out)
    stream[1] = True
    return 0


@ffi.def_extern()  # type: ignore[misc]
def kernbench_stream_error(struct: Any) -> Any:
    return ffi.NULL


class Column:
    """A column as Arrow has it: a format, buffers, and for texts the different ones."""

    def __init__(self, name: str, format: str, values: Array, valid: Optional[Array] = None,
                 words: Optional["Column"] = None, more: Sequence[Array] = (), metadata: Any = ffi.NULL):
        self.name, self.format, self.words, self.metadata = name, format, words, metadata
        self.n = len(values)
        self.n_null = 0 if valid is None else int(np.count_nonzero(~valid))
        bits = np.packbits(valid, bitorder="little") if self.n_null and valid is not None else None
        self.buffers: List[Optional[Array]] = [bits, values, *more]

    def put_schema(self, out: Any) -> None:
        name, format = ffi.new("char[]", self.name.encode()), ffi.new("char[]", self.format.encode())
        words = ffi.NULL
        if self.words:
            words = ffi.new("struct ArrowSchema *")
            self.words.put_schema(words)
        out.format, out.name, out.metadata, out.flags = format, name, self.metadata, NULLABLE
        out.n_children, out.children, out.dictionary = 0, ffi.NULL, words
        out.release, out.private_data = lib.kernbench_release_schema, keep((name, format, words, self.metadata))

    def put_array(self, out: Any) -> None:
        places = ffi.new("const void *[]", [ffi.NULL if b is None else ffi.cast("void *", b.ctypes.data) for b in self.buffers])
        words = ffi.NULL
        if self.words:
            words = ffi.new("struct ArrowArray *")
            self.words.put_array(words)
        out.length, out.null_count, out.offset = self.n, self.n_null, 0
        out.n_buffers, out.buffers = len(self.buffers), places
        out.n_children, out.children, out.dictionary = 0, ffi.NULL, words
        out.release, out.private_data = lib.kernbench_release_array, keep((places, self.buffers, words))


def texts_column(name: str, texts: Sequence[str]) -> Column:
    """Texts behind one another, and where each begins."""
    encoded = [text.encode(errors="replace") for text in texts]
    ends = np.cumsum([0] + [len(text) for text in encoded], dtype=np.int32)
    bytes_of = np.frombuffer(b"".join(encoded) or b"\0", np.uint8)
    column = Column(name, "u", ends, more=[bytes_of])
    column.n = len(encoded)
    return column


def metadata_of(column: Any) -> Any:
    """What the data dictionary says, as Arrow has it: a count, then lengths and bytes."""
    pairs = [(name, getattr(column, name)) for name in ("unit", "group", "meaning")]
    known = [(name.encode(), ffi.string(text)) for name, text in pairs if text != ffi.NULL]
    packed = len(known).to_bytes(4, "little")
    for pair in known:
        for part in pair:
            packed += len(part).to_bytes(4, "little") + part
    return ffi.new("char[]", packed) if known else ffi.NULL


def column_of(table: Table, c: Any) -> Column:
    """Column `c` of a table of the library."""
    name, metadata = ffi.string(c.name).decode(), metadata_of(c)
    kinds = table.kinds(c)
    valid = None if kinds is None else kinds != lib.KB_CELL_NONE
    there = {c.kind} if kinds is None else {int(kind) for kind in np.unique(kinds)} - {lib.KB_CELL_NONE}
    kind = there.pop() if len(there) == 1 else lib.KB_CELL_NONE
    if kind == lib.KB_CELL_REAL:
        return Column(name, "g", table.values(c, "<f8"), valid, metadata=metadata)
    if kind == lib.KB_CELL_COUNT:
        return Column(name, "L", table.values(c, "<u8"), valid, metadata=metadata)
    if kind == lib.KB_CELL_NUMBER:
        numbers = table.numbers(c, kinds)
        format = {"i": "l", "u": "L"}.get(numbers.dtype.kind, "g")
        return Column(name, format, numbers if format != "g" else numbers.astype(float), valid, metadata=metadata)
    if kind == lib.KB_CELL_TEXT:
        return Column(name, "l", table.values(c, "<i8"), valid, texts_column("", list(table.texts)), metadata=metadata)
    cells = table.column(c)
    texts = [str(cell) for cell in cells]
    different, codes = np.unique(np.array(texts, object), return_inverse=True)
    none = np.array([cell is not None for cell in cells], bool)
    return Column(name, "l", codes.astype(np.int64), none, texts_column("", list(different)), metadata=metadata)


def capsule(struct: Any, name: str, gone: Any) -> Any:
    """A PyCapsule of a struct of malloc(), which is freed with it."""
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p,) * 3  # the name is kept, not copied
    return new(int(ffi.cast("uintptr_t", struct)), int(ffi.cast("uintptr_t", NAMES[name])), int(ffi.cast("uintptr_t", gone)))


NAMES = {name: ffi.new("char[]", name.encode()) for name in ("arrow_schema", "arrow_array", "arrow_array_stream")}


class ArrowRows:
    """Rows for whatever takes Arrow's C interface: pyarrow.table(rows), polars.DataFrame(rows), DuckDB.

    num_rows and column_names are there; all else is by __arrow_c_schema__(), __arrow_c_array__()
    and __arrow_c_stream__(). `attrs` is that of DataFrames.
    """

    def __init__(self, table: Table, attrs: Dict[str, Any]):
        self.attrs = attrs
        self.num_rows = int(table.c.n_rows)
        self._columns = [column_of(table, table.c.columns[i]) for i in range(table.c.n_columns)]
        self.column_names = [column.name for column in self._columns]

    def __len__(self) -> int:
        return self.num_rows

    def __setitem__(self, name: str, value: Any) -> None:
        """One value for all rows of a column that is there, as DataFrames have it."""
        at = self.column_names.index(name)
        metadata = self._columns[at].metadata
        if isinstance(value, str):
            self._columns[at] = Column(name, "l", np.zeros(self.num_rows, np.int64), words=texts_column("", [value]), metadata=metadata)
        else:
            self._columns[at] = Column(name, "g", np.full(self.num_rows, float(value)), metadata=metadata)

    def put_schema(self, out: Any) -> None:
        children = [ffi.new("struct ArrowSchema *") for _ in self._columns]
        for column, child in zip(self._columns, children):
            column.put_schema(child)
        places, format, name = ffi.new("struct ArrowSchema *[]", children), ffi.new("char[]", b"+s"), ffi.new("char[]", b"")
        out.format, out.name, out.metadata, out.flags = format, name, ffi.NULL, 0
        out.n_children, out.children, out.dictionary = len(children), places, ffi.NULL
        out.release, out.private_data = lib.kernbench_release_schema, keep((children, places, format, name))

    def put_array(self, out: Any) -> None:
        children = [ffi.new("struct ArrowArray *") for _ in self._columns]
        for column, child in zip(self._columns, children):
            column.put_array(child)
        places, buffers = ffi.new("struct ArrowArray *[]", children), ffi.new("const void *[]", [ffi.NULL])
        out.length, out.null_count, out.offset = self.num_rows, 0, 0
        out.n_buffers, out.buffers = 1, buffers
        out.n_children, out.children, out.dictionary = len(children), places, ffi.NULL
        out.release, out.private_data = lib.kernbench_release_array, keep((children, places, buffers))

    def __arrow_c_schema__(self) -> Any:
        struct = lib.kernbench_arrow_schema_new()
        self.put_schema(struct)
        return capsule(struct, "arrow_schema", lib.kernbench_schema_gone_at())

    def __arrow_c_array__(self, requested_schema: Any = None) -> Tuple[Any, Any]:
        struct = lib.kernbench_arrow_array_new()
        self.put_array(struct)
        return self.__arrow_c_schema__(), capsule(struct, "arrow_array", lib.kernbench_array_gone_at())

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        struct = lib.kernbench_arrow_stream_new()
        struct.get_schema, struct.get_next = lib.kernbench_stream_schema, lib.kernbench_stream_next
        struct.get_last_error, struct.release = lib.kernbench_stream_error, lib.kernbench_release_stream
        struct.private_data = keep([self, False])
        return capsule(struct, "arrow_array_stream", lib.kernbench_stream_gone_at())
