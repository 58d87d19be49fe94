"""_rows.py -- tables of the library as DataFrames, or as numpy record arrays without pandas."""
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from ._native import ffi, lib
from ._types import Array

try:
    import pandas as pandas
except ImportError:  # optional
    pandas = None

FEW_CELLS = 100_000  # are copied, so that small tables do not keep a query alive


class Memory:
    """Memory of C as numpy sees it; `owner` lives as long as an array of it."""

    def __init__(self, pointer: Any, n: int, kind: str, owner: Any):
        self.owner = owner
        self.__array_interface__ = {"version": 3, "shape": (n,), "typestr": kind,
                                    "data": (int(ffi.cast("uintptr_t", pointer)), False)}


def array_of(pointer: Any, n: int, kind: str, owner: Any) -> Array:
    """An array of what lies there, without a copy."""
    if n == 0:
        return np.empty(0, kind)
    return np.asarray(Memory(pointer, n, kind, owner))


def number(text: str) -> Any:
    """A number as JSON has it."""
    return int(text) if text.lstrip("-").isdigit() else float(text)


class Table:
    """One table of a query."""

    def __init__(self, query: Any, i: int):
        self.query = query
        self.c = ffi.new("kb_query_table *")
        lib.kb_query_table_get(query, i, self.c)
        self.name = ffi.string(self.c.name).decode()
        self.note = ffi.string(self.c.note).decode() if self.c.note else ""
        self.texts = np.array([ffi.string(self.c.texts[k]).decode(errors="replace")
                               for k in range(self.c.n_texts)], object)

    def values(self, column: Any, kind: str) -> Array:
        return array_of(column.values, self.c.n_rows, kind, self.query)

    def mixed(self, column: Any, kinds: Array) -> Array:
        """Cells of several kinds: objects."""
        numbers = self.values(column, "<u8")
        reals = self.values(column, "<f8")
        cells = np.empty(self.c.n_rows, object)
        for i, kind in enumerate(kinds):
            if kind == lib.KB_CELL_TEXT:
                cells[i] = self.texts[numbers[i]]
            elif kind == lib.KB_CELL_NUMBER:
                cells[i] = number(self.texts[numbers[i]])
            elif kind == lib.KB_CELL_COUNT:
                cells[i] = int(numbers[i])
            elif kind == lib.KB_CELL_REAL:
                cells[i] = float(reals[i])
        return cells

    def counts(self, column: Any, kinds: Optional[Array]) -> Any:
        """Whole numbers; with empty cells pandas' own kind of them, or floats."""
        counts = self.values(column, "<u8")
        if not counts.size or counts.max() < 1 << 63:
            counts = counts.view("<i8")
        if kinds is None:
            return counts
        empty = kinds == lib.KB_CELL_NONE
        if pandas is not None and counts.dtype == "<i8":
            return pandas.arrays.IntegerArray(counts.copy(), empty)
        return np.where(empty, np.nan, counts)

    def numbers(self, column: Any, kinds: Optional[Array] = None) -> Array:
        """Numbers that are texts in the table: integers if all of this column are, whatever other columns have."""
        codes = self.values(column, "<u8")
        here = np.zeros(len(self.texts), bool)
        here[codes if kinds is None else codes[kinds == lib.KB_CELL_NUMBER]] = True
        found = np.array([number(text) for text in self.texts[here]])
        places = np.cumsum(here) - 1
        if kinds is not None:
            codes = np.where(kinds == lib.KB_CELL_NUMBER, codes, np.flatnonzero(here)[0])
        numbers: Array = found[places[codes]]
        return numbers

    def kinds(self, column: Any) -> Optional[Array]:
        """kb_cell_kind of each cell; None: all have that of the column."""
        if column.kinds == ffi.NULL:
            return None
        return array_of(column.kinds, self.c.n_rows, "|u1", self.query)

    def meanings(self) -> Dict[str, Dict[str, str]]:
        """What the data dictionary says of its columns: unit, group and meaning."""
        found = {}
        for i in range(self.c.n_columns):
            column = self.c.columns[i]
            if column.meaning != ffi.NULL:
                found[ffi.string(column.name).decode()] = {
                    part: ffi.string(getattr(column, part)).decode() for part in ("unit", "group", "meaning")}
        return found

    def column(self, column: Any) -> Any:
        """Column `column` as an array."""
        kind = column.kind
        kinds = self.kinds(column)
        if kinds is not None:
            there = set(np.unique(kinds)) - {lib.KB_CELL_NONE}
            if len(there) > 1:
                return self.mixed(column, kinds)
            kind = there.pop() if there else kind
        if kind == lib.KB_CELL_REAL:
            reals = self.values(column, "<f8")
            return reals if kinds is None else np.where(kinds == lib.KB_CELL_NONE, np.nan, reals)
        if kind == lib.KB_CELL_COUNT:
            return self.counts(column, kinds)
        if kinds is None and kind == lib.KB_CELL_NUMBER and len(self.texts):
            return self.numbers(column)
        if kinds is not None:
            return self.mixed(column, kinds)
        if not len(self.texts):
            return np.full(self.c.n_rows, None, object)
        return self.texts[self.values(column, "<u8")]

    def columns(self) -> Dict[str, Any]:
        found = {}
        for i in range(self.c.n_columns):
            column = self.c.columns[i]
            found[ffi.string(column.name).decode()] = self.column(column)
        return found

    def rows(self, attrs: Dict[str, Any]) -> Any:
        """All rows."""
        few = self.c.n_rows * self.c.n_columns < FEW_CELLS
        return rows_of(self.columns(), {**attrs, "columns": self.meanings()}, copy=few)


def rows_of(columns: Dict[str, Any], attrs: Dict[str, Any], copy: bool = True) -> Any:
    """A DataFrame of columns; without pandas a record array."""
    if pandas is None:
        records: Any = np.rec
        return records.fromarrays(list(columns.values()), names=list(columns))
    frame = pandas.DataFrame(columns, copy=copy)
    frame.attrs.update(attrs)
    return frame


def all_rows(query: Any, attrs: Dict[str, Any]) -> Any:
    """The rows of a query that wrote one table; None: it wrote none."""
    if lib.kb_query_table_count(query) == 0:
        return None
    return Table(query, 0).rows(attrs)
