"""_errors.py -- what is raised: every failure of the library, with its text and place."""
import re
from typing import Any, List, Optional, Tuple, Union

import numpy as np

PLACE = re.compile(r"^(?P<file>.*?):(?P<line>\d+):(?P<column>\d+): (?P<text>.*)$", re.S)
ROW = re.compile(r"^row (?P<line>\d+), column '(?P<column>\w+)': (?P<text>.*)$", re.S)


class Note(UserWarning):
    """What the command line says beside its rows: bounds of saturation, results that may mislead."""


class Error(Exception):
    """A failure of kernbench. `str()` of it is the first message, with its place.

    code      the exit code that the command line has for it: docs/exit-codes.md
    file      of a mistake in a file: its name; else None
    line      of a mistake in a file, its line from 1; in a DataFrame, the row from 0; else None
    column    of a mistake in a file, its column from 1; in a DataFrame, the column's name; else None
    key       of a mistake in a dict: the path of the key, "cube.hbm.bw_gbz"; else None
    messages  all messages, as a list: a YAML may have several mistakes
    rows      the rows of what is complete or was found, as of a verification that failed; else None
    """

    def __init__(self, code: int, messages: List[str], rows: Any = None, key: Optional[str] = None):
        super().__init__("\n".join(messages))
        self.code, self.messages, self.rows, self.key = code, messages, rows, key
        self.file: Optional[str] = None
        self.line: Optional[int] = None
        self.column: Union[int, str, None] = None
        place = PLACE.match(messages[0]) or ROW.match(messages[0])
        if place:
            self.file = place.groupdict().get("file")
            self.line = int(place["line"])
            column = place["column"]
            self.column = int(column) if column.isdigit() else column

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.code, self.messages, self.rows, self.key)


class Different(Error):
    """A verification failed, or there is a data race: `rows` has the results. Code 1."""


class BadArgument(Error, ValueError):
    """An argument is wrong, or does not fit the machine. Code 2."""


class BadInput(Error, ValueError):
    """A machine, a DataFrame or a file has mistakes. Code 3."""


class Deadlock(Error):
    """Kernels wait for each other: `rows` has a row for each command that waits. Code 4."""


class KernelError(Error):
    """A kernel used the tl_ functions wrongly, or crashed. Code 7."""


class LimitReached(Error):
    """limit_s or limit_mb has ended the call: `rows` has what was complete. Code 8."""


CLASSES = {1: Different, 2: BadArgument, 3: BadInput, 4: Deadlock, 7: KernelError, 8: LimitReached}


def whole(name: str, value: Any, least: int, most: int) -> int:
    """A whole number of Python or numpy."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not least <= value <= most:
        raise BadArgument(2, [f"{name} {value!r} is not a whole number from {least} to {most}"])
    return int(value)


def error(code: int, messages: List[str], rows: Any = None, key: Optional[str] = None) -> Error:
    """The exception of an exit code."""
    return CLASSES.get(code, Error)(code, messages or [f"failed with code {code}"], rows, key)
