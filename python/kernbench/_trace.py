"""_trace.py -- requests of a server: a CSV as Vidur and Splitwise have it, or columns in memory."""
import csv
import os
import warnings
from decimal import Decimal, InvalidOperation
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from ._errors import BadInput, Note
from ._frame import columns_of
from ._query import callers_level

COLUMNS = ("arrived_at", "num_prefill_tokens", "num_decode_tokens")
FS_PER_S = 10**15
SECONDS_MOST = 9000  # 2^63 fs is 9223 s
TOKENS_MOST = 1 << 20
MISTAKES = 20


class Request(NamedTuple):
    """A request: its row from 0, when it comes, and the tokens of prompt and answer."""

    row: int
    arrived_fs: int
    prompt: int
    tokens: int


class Mistakes:
    """What is wrong in a trace, up to 20 places of it."""

    def __init__(self, file: Optional[str]):
        self.file = file
        self.found: List[str] = []

    def add(self, line: int, column: int, name: str, text: str) -> None:
        """Of a file its line and column from 1; of columns in memory the row from 0, and the name."""
        if len(self.found) < MISTAKES:
            self.found.append(f"{self.file}:{line}:{column}: {text}" if self.file else
                              f"row {line}, column '{name}': {text}")

    def end(self) -> None:
        if self.found:
            failure = BadInput(3, self.found)
            if self.file:
                failure.file = self.file
            raise failure


def seconds(cell: Any) -> Optional[int]:
    """Seconds as whole femtoseconds, a half is rounded up; None: it is no time."""
    try:
        value = cell if isinstance(cell, Decimal) else Decimal(str(cell).strip())
    except InvalidOperation:
        return None
    if not value.is_finite() or not 0 <= value <= SECONDS_MOST:
        return None
    return int(value * FS_PER_S + Decimal("0.5"))


def tokens(cell: Any) -> Optional[int]:
    """A whole number from 1 on; None: it is none."""
    text = str(cell).strip()
    if text.endswith(".0"):  # as pandas writes a column that had an empty cell
        text = text[:-2]
    if not (text.isascii() and text.isdigit() and len(text) < 8):
        return None
    return int(text) if 1 <= int(text) <= TOKENS_MOST else None


def fields_of(path: str) -> Tuple[List[List[str]], List[int]]:
    """The rows of a CSV with their lines; blank ones are left out."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file)
            rows = [(row, reader.line_num) for row in reader if any(cell.strip() for cell in row)]
    except (OSError, UnicodeDecodeError, csv.Error) as e:
        failure = BadInput(3, [f"cannot read {path}: {getattr(e, 'strerror', None) or e}"])
        failure.file = path
        raise failure from None
    return [row for row, _ in rows], [line for _, line in rows]


def missing(names: Sequence[str], place: str) -> None:
    """All columns must be there; others are named in one line."""
    for name in COLUMNS:
        if name not in names:
            raise BadInput(3, [f"{place}no column '{name}': a trace has {', '.join(COLUMNS)}"])
    others = sorted(name for name in names if name not in COLUMNS)
    if others:
        warnings.warn(f"columns that are not read: {', '.join(others)}", Note, stacklevel=callers_level())


class Cells:
    """The cells of a trace, and where each stands."""

    def __init__(self, data: Any):
        if isinstance(data, (str, os.PathLike)):
            self.read(os.fspath(data))
        else:
            self.take(data)

    def read(self, path: str) -> None:
        self.file: Optional[str] = path
        rows, self.lines = fields_of(path)
        header = [name.strip() for name in rows[0]] if rows else []
        missing(header, f"{path}:1:1: ")
        self.rows = rows[1:]
        self.lines = self.lines[1:]
        self.at = {name: header.index(name) for name in COLUMNS}
        self.n_columns = len(header)

    def take(self, data: Any) -> None:
        self.file = None
        columns = columns_of(data)
        missing(list(columns), "")
        kept = [list(columns[name]) for name in COLUMNS]
        if len({len(column) for column in kept}) > 1:
            raise BadInput(3, ["columns of a trace have one cell for each request"])
        self.rows = [list(row) for row in zip(*kept)]
        self.lines = list(range(len(self.rows)))
        self.at = {name: i for i, name in enumerate(COLUMNS)}
        self.n_columns = len(COLUMNS)

    def place(self, i: int, name: str) -> Tuple[int, int, str]:
        """Of a cell: line, column and name."""
        before = self.rows[i][:self.at[name]] if self.file else []
        return self.lines[i], 1 + sum(len(str(cell)) + 1 for cell in before), name


def request_of(cells: Cells, i: int, mistakes: Mistakes) -> Optional[Request]:
    row = cells.rows[i]
    if len(row) != cells.n_columns:
        mistakes.add(cells.lines[i], 1, COLUMNS[0], f"{len(row)} fields, the header has {cells.n_columns}")
        return None
    found: Dict[str, Optional[int]] = {}
    for name in COLUMNS:
        cell = row[cells.at[name]]
        found[name] = seconds(cell) if name == COLUMNS[0] else tokens(cell)
        if found[name] is None:
            expected = f"a time in seconds, 0 to {SECONDS_MOST}" if name == COLUMNS[0] else \
                f"a whole number of tokens, 1 to {TOKENS_MOST}"
            mistakes.add(*cells.place(i, name), f"{name} '{cell}' is not {expected}")
    if None in found.values():
        return None
    return Request(i, *(int(found[name] or 0) for name in COLUMNS))


def read_trace(data: Any, blocks: int, page: int) -> List[Request]:
    """The requests of a trace, which come in order, and of which each fits into all blocks."""
    cells = Cells(data)
    mistakes = Mistakes(cells.file)
    found: List[Request] = []
    for i in range(len(cells.rows)):
        one = request_of(cells, i, mistakes)
        if one is None:
            continue
        if found and one.arrived_fs < found[-1].arrived_fs:
            before = found[-1].row
            mistakes.add(*cells.place(i, COLUMNS[0]),
                         f"arrived_at {cells.rows[i][cells.at[COLUMNS[0]]]} is before "
                         f"{cells.rows[before][cells.at[COLUMNS[0]]]} of {'line' if cells.file else 'row'} "
                         f"{cells.lines[before]}: a trace is in order of arrival")
        needs = -(-(one.prompt + one.tokens - 1) // page)
        if needs > blocks:
            mistakes.add(*cells.place(i, COLUMNS[1]),
                         f"{one.prompt} and {one.tokens} tokens need {needs} blocks of keys and values, and there are {blocks}")
        found.append(one)
    mistakes.end()
    if not found:
        raise BadInput(3, [f"{cells.file + ': ' if cells.file else ''}there are no requests"])
    return found


def percentile(values: List[int], per_mille: int) -> int:
    """The nearest rank, as the command line has it."""
    ordered = sorted(values)
    return ordered[-(-len(ordered) * per_mille // 1000) - 1]


def in_ms(values: List[Optional[int]]) -> Any:
    return np.array([np.nan if value is None else value / 1e12 for value in values])
