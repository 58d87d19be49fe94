"""_query.py -- one command of the library, from words to rows."""
import math
import os
import re
import sys
import time
import warnings
from typing import Any, Callable, Dict, List, Optional, Tuple

from . import _runs
from ._errors import Note, error
from ._native import ffi, lib
from ._rows import all_rows

WAIT_MS = 100  # how long Ctrl-C may wait,
STOP_MS = 900  # and how long what it stops
SHOWN_AFTER_S = 1.0
INTERRUPTED = 130
HERE = os.path.dirname(__file__)
_left: List[Any] = []  # queries that did not stop, and what they borrow


class Progress:
    """A bar for runs that last: tqdm's if it is there, on a terminal or in a notebook."""

    wanted: Optional[bool] = None  # None: on terminals and in notebooks

    def __init__(self) -> None:
        self.begin = time.monotonic()
        self.bar: Any = None
        self.failed = not self.is_wanted()

    def is_wanted(self) -> bool:
        if Progress.wanted is not None:
            return Progress.wanted
        return "ipykernel" in sys.modules or sys.stderr is not None and sys.stderr.isatty()

    def open(self, things: str) -> None:
        try:
            from tqdm.auto import tqdm
            self.bar = tqdm(unit=" " + things, leave=False, dynamic_ncols=True)
        except Exception:  # none, or none that works here
            self.failed = True

    def show(self, query: Any) -> None:
        if self.failed or time.monotonic() - self.begin < SHOWN_AFTER_S:
            return
        done, total = ffi.new("uint64_t *"), ffi.new("uint64_t *")
        things = ffi.string(lib.kb_query_progress(query, done, total)).decode()
        if self.bar is None and things:
            self.open(things)
        if self.bar is not None:
            self.bar.total = total[0] or None
            self.bar.n = done[0]
            self.bar.refresh()

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()


def progress(wanted: Optional[bool] = None) -> None:
    """Bars of long runs: True, False, or None: on terminals and in notebooks."""
    Progress.wanted = wanted


def wait(query: Any, borrowed: Any) -> None:
    """Waits for the end. Meanwhile other threads of Python run, and Ctrl-C works.

    A kernel or a bench's setup may compute for long without a look at whether it is to stop. Then it
    is left to its thread, which ends when it looks, and nothing of it is freed.
    """
    bar = Progress()
    passed = 0.0
    try:
        while not lib.kb_query_wait(query, WAIT_MS):
            bar.show(query)
            passed = since_limit(query, passed)
    except BaseException:
        lib.kb_query_stop(query)
        _runs.stop(query)
        if not lib.kb_query_wait(query, STOP_MS):
            _left.append((ffi.gc(query, None), borrowed))
            raise
        keep_left(query, borrowed)
        raise
    finally:
        bar.close()
    keep_left(query, borrowed)


def since_limit(query: Any, passed: float) -> float:
    """When it was first seen that a limit has passed and nothing looks; 0: it was not. Raises what says so, after a while."""
    limit = lib.kb_query_unheard(query)
    if limit == ffi.NULL:
        return 0.0
    now = time.monotonic()
    if passed and now - passed > STOP_MS / 1000:
        raise error(8, [argument_names(f"{ffi.string(limit).decode()}: the run did not stop within a second; nothing is kept")])
    return passed or now


def keep_left(query: Any, borrowed: Any) -> None:
    """What a thread that did not stop in time still reads."""
    if lib.kb_query_left(query):
        _left.append(borrowed)


def argument_names(text: str) -> str:
    """Options as arguments are called here: --max-events is max_events."""
    return re.sub(r"--([a-z][a-z0-9-]*)", lambda m: m[1].replace("-", "_"), text)


def messages_of(query: Any) -> List[str]:
    text = ffi.string(lib.kb_query_messages(query)).decode(errors="replace")
    return [argument_names(line) for line in text.splitlines()]


def word(value: Any) -> str:
    """A value as the command line has it: 1e-05 is 0.00001."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if hasattr(value, "tolist"):  # of numpy or pandas
        value = value.tolist()
    if isinstance(value, (list, tuple, range)):
        return ",".join(f"[{word(item)}]" if isinstance(item, (list, tuple)) else word(item) for item in value)
    if isinstance(value, float):
        if not math.isfinite(value):  # which the command refuses, by its name
            return repr(value)
        if value == int(value) and abs(value) < 1e15:
            return str(int(value))
        return f"{value:.17f}".rstrip("0") if abs(value) < 1e-4 else repr(value)
    return str(value)


def c_text(text: str) -> Any:
    """A text for the library; a name of a file may have bytes that are no UTF-8."""
    try:
        encoded = text.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        encoded = b"\0"
    if b"\0" in encoded:
        raise error(2, [f"{text!r} has signs that no name has"])
    return ffi.new("char[]", encoded)


REPEATED = {"set", "vary", "fail_if"}  # options of which a list is one after the other


def words_of(command: str, operands: List[Any], options: Dict[str, Any]) -> List[str]:
    """The words of a command line."""
    words = [command]
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if name in REPEATED and isinstance(value, (list, tuple)):
            words += [f"{option}={word(item)}" for item in value]
        elif value is True and name != "phase2":
            words.append(option)
        elif value is not None and value is not False:
            words.append(f"{option}={word(value)}")
    return words + ["--"] * any(str(o).startswith("--") for o in operands) + [word(o) for o in operands]


def started(request: Any, borrowed: Any) -> Tuple[Any, Optional[BaseException]]:
    """A query that has ended, which keeps what it borrows; and what a kernel in Python has raised."""
    out = ffi.new("kb_query **")
    if lib.kb_query_new(request, out) != lib.KB_OK:
        raise MemoryError("no thread could be started")

    def free(query: Any, borrowed: Any = borrowed) -> None:
        lib.kernbench_query_free(query)

    query = ffi.gc(out[0], free)
    if request.keep_run and not lib.kernbench_need(out[0], request.topo):
        raise MemoryError("kernbench_need")
    try:
        wait(query, borrowed)
    finally:
        raised = _runs.ended(query)
    return query, raised


def made_of(source: Any, borrowed: Any) -> Any:
    """What kb_topology_load() makes of a source: (status, machine, lines)."""
    request = ffi.new("kb_query_request *")
    request.source = source
    query, _ = started(request, (source, borrowed))
    made = ffi.new("kb_query_machine *")
    lib.kb_query_machine_take(query, made)
    text = ffi.string(made.messages).decode(errors="replace") if made.messages != ffi.NULL else ""
    return made.status, made.topo, text.splitlines()


def callers_level() -> int:
    """The `stacklevel` by which a warning of the function that calls this is one of the user's line."""
    level, frame = 1, sys._getframe(1)
    while os.path.dirname(frame.f_code.co_filename) == HERE and frame.f_back:
        level, frame = level + 1, frame.f_back
    return level


class Query:
    """A command that has run."""

    def __init__(self, machine: Any, words: List[str], frame: Any = None, keep_run: bool = False):
        texts = [c_text(text) for text in words]
        array = ffi.new("char *[]", texts)
        request = ffi.new("kb_query_request *")
        request.topo = machine._topo if machine is not None else ffi.NULL
        request.words = array
        request.n_words = len(texts)
        request.frame = frame.c if frame is not None else ffi.NULL
        request.keep_run = keep_run
        self.attrs: Dict[str, Any] = {"kernbench": " ".join(words)}
        self.c, self.raised = started(request, (machine, frame))
        if machine is not None:
            self.attrs["origin"] = machine._origin(words)
        made_of_text = ffi.string(lib.kb_query_provenance(self.c)).decode()
        if made_of_text:
            self.attrs["provenance"] = made_of_text

    def rows(self, quiet: bool = False, all_rows: Callable[[Any, Dict[str, Any]], Any] = all_rows) -> Any:
        """Its rows; raises what went wrong. Notes become warnings, and are in `attrs`."""
        code = lib.kb_query_code(self.c)
        messages = messages_of(self.c)
        if messages:
            self.attrs["notes"] = messages
        rows = all_rows(self.c, self.attrs)
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        if code:
            raise error(code, messages, rows) from self.raised
        if messages and not quiet:
            warnings.warn("\n".join(messages), Note, stacklevel=callers_level())
        return rows

    def text(self) -> str:
        """What it wrote that is no rows."""
        code = lib.kb_query_code(self.c)
        if code:
            raise error(code, messages_of(self.c)) from self.raised
        n = ffi.new("size_t *")
        text = lib.kb_query_text(self.c, n)
        return str(ffi.buffer(text, n[0])[:].decode(errors="replace"))
