"""_simulation.py -- one simulation, to which transactions are added while time runs."""
import re
import reprlib
import threading
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple, Union

import numpy as np

from ._errors import BadArgument, error
from ._frame import FS_PER_NS, MAY_LACK, Frame
from ._machine import Machine
from ._native import ffi, lib
from ._rows import array_of, rows_of
from ._types import Array, Rows

OPS = {"read": lib.KB_READ, "write": lib.KB_WRITE, "h2d": lib.KB_H2D, "d2h": lib.KB_D2H}
MULTICASTS = {"mread": lib.KB_READ, "mwrite": lib.KB_WRITE}
TIMES = ("issue_fs", "start_fs", "arrive_fs", "service_fs", "done_fs", "end_fs", "wire_fs", "overhead_fs",
         "drain_fs", "response_fs", "return_fs", "formula_fs", "actual_fs")
WAITS = ("channel", "engine", "link", "memory")
KINDS: Dict[str, Any] = {"src": np.uint32, "dst": np.uint32, "nbytes": np.uint64, "issue_fs": np.int64, "op": np.uint8,
                         "offset": np.uint64, "plane": np.uint8, "address": np.uint64, "prio": np.uint8, "rows": np.uint32,
                         "stride": np.uint64}
LIMITS = {kind: (int(np.iinfo(kind).min), int(np.iinfo(kind).max)) for kind in KINDS.values()}
C_ARRAYS = {name: f"{np.dtype(kind).name}_t[]" for name, kind in KINDS.items()}
SPAN_FIELDS = (("id", "<u4"), ("cause", "<u4"), ("place", "<u8"), ("behind", "<u8"), ("begin_fs", "<i8"), ("end_fs", "<i8"))
NS_MOST = 9e12  # as Frame has it
LAST_FS = (1 << 63) - 1
EVENTS_AT_ONCE = 1 << 17  # between two looks at signals: some tenths of a second at most
NO_END = 2**32 - 1  # of an endpoint that this simulation has not been asked for
ADDRESS = re.compile("0x[0-9a-fA-F]{1,16}")
Numbers = Union[int, Sequence[int], Array]
Ops = Union[str, Sequence[str], Numbers]


@ffi.def_extern()  # type: ignore[misc]
def kernbench_heard(arg: Any, last: Any) -> None:
    if not last.is_part:  # which has an end of its own
        ffi.from_handle(arg)(last.id, last.end_fs)


@ffi.def_extern()  # type: ignore[misc]
def kernbench_endpoint(arg: Any, end: Any) -> None:
    text = ffi.new("char[]", lib.KB_ENDPOINT_BYTES)
    lib.kb_endpoint_name(end, text)
    ffi.from_handle(arg).append(ffi.string(text).decode())


def whole(name: str, value: Any, kind: Any) -> Array:
    """Numbers as C takes them; numpy would cut off fractions, and what is too large."""
    least, most = LIMITS[kind]
    if type(value) is int and least <= value <= most:
        return np.asarray(value, kind)
    given = np.asarray(value)
    if given.dtype == kind or given.size == 0:
        return given.astype(kind, copy=False)
    good = given.dtype.kind in "iuf" and bool(np.all((given >= least) & (given <= most)))
    if not good or given.dtype.kind == "f" and not np.array_equal(given, np.trunc(given)):
        raise BadArgument(2, [f"{name} {reprlib.repr(value)}: whole numbers from {least} to {most}"])
    return given.astype(kind)


def times_of(issue_ns: Any) -> Array:
    """Whole femtoseconds of times in ns."""
    try:
        ns = np.asarray(issue_ns, float)
    except (TypeError, ValueError):
        ns = np.asarray(np.nan)
    if not np.all(np.abs(ns) <= NS_MOST):
        raise BadArgument(2, [f"issue_ns {reprlib.repr(issue_ns)}: times up to {NS_MOST:.0f} ns"])
    return np.asarray(np.rint(ns * FS_PER_NS).astype(np.int64))


class Names:
    """Endpoints of all simulations, by number: one name has the same number everywhere."""

    def __init__(self) -> None:
        self.numbers: Dict[str, int] = {}
        self.names: List[str] = []
        self.lock = threading.Lock()

    def number(self, name: str) -> int:
        number = self.numbers.get(name)
        if number is None:
            with self.lock:
                number = self.numbers.setdefault(name, len(self.names))
                if number == len(self.names):
                    self.names.append(name)
        return number


ENDPOINTS = Names()


def said(why: Any) -> str:
    return str(ffi.string(why.text).decode(errors="replace"))


class Simulation:
    """A machine on which transactions run, and time stops where you say: a closed loop in Python.

    machine      a Machine
    engine       "fused", or "hop": slower, same results
    spans        keep the pieces of all transactions, for spans(); by the engine hop
    fingerprint  keep one of all events

    Transactions come as columns of arrays, and results are arrays. run_to() runs what happens
    before a time; whatever is added then has the times that it would have had if it had been known
    from the beginning.

    >>> sim = kernbench.Simulation(kernbench.Machine("cube8"))
    >>> pe, near = sim.endpoints("c0.pe[0-3]"), sim.endpoints("c0.slice0")
    >>> first = sim.add(issue_ns=0, src=pe, dst=near, nbytes=4096)
    >>> while sim.run_to(1000, first=True):            # behind each completion
    ...     for row in sim.completed():
    ...         sim.add(issue_fs=sim.now_fs, op="write", src=pe[row % 4], dst=near, nbytes=64)
    """

    def __init__(self, machine: Machine, *, engine: str = "fused", spans: bool = False,
                 fingerprint: bool = False):
        if not isinstance(machine, Machine):
            raise TypeError(f"a simulation is of a Machine, not {type(machine).__name__}")
        if engine not in ("fused", "hop"):
            raise BadArgument(2, [f"engine is 'fused' or 'hop', not {engine!r}"])
        options = ffi.new("kb_options *")
        options.live = True
        options.fingerprint = fingerprint
        options.engine = lib.KB_HOP if engine == "hop" else lib.KB_FUSED
        out = ffi.new("kb_sim **")
        if lib.kb_sim_new(machine._topo, options, out):
            raise MemoryError("kb_sim_new")
        self.machine = machine
        self.now_fs = 0
        self._has_fingerprint = fingerprint
        self._why = ffi.new("kb_error *")
        self._recorder: Any = None
        self._heard: List[Any] = []  # handles of observers
        self._failed: List[BaseException] = []  # of observers
        self._ends = ffi.new("kb_endpoint[]", 64)
        self._n_ends = 0
        self._end_of = np.full(64, NO_END, np.uint32)  # by the number of the name: which of _ends it is
        self._told = 0  # transactions that completed() has returned
        self._has_ended = False  # nothing is added any more
        self._running = False
        if not lib.kernbench_need(out[0], machine._topo):
            lib.kb_sim_free(out[0])
            raise MemoryError("kernbench_need")
        self._sim = ffi.gc(out[0], lib.kernbench_sim_free)
        if spans:
            self._record()

    def _check_idle(self) -> None:
        if self._running:
            raise BadArgument(2, ["the simulation is running: neither an observer nor another thread may call it"])

    @property
    def _c(self) -> Any:
        """The simulation in C, to be called while it does not run."""
        self._check_idle()
        return self._sim

    # -- endpoints

    def _check(self, status: int, row: Optional[int] = None) -> None:
        """Raises what a call in C has returned, and, if it is one of several rows that is wrong, which."""
        if status:
            text = said(self._why) or f"status {status}"
            self._why.text = b"\0"
            failed = error(lib.kb_query_code_of(status), [text if row is None else f"row {row}: {text}"])
            failed.line = failed.line if row is None else row
            raise failed

    def _parse(self, name: str) -> int:
        """Which of _ends an endpoint is, which is a new one."""
        at = self._n_ends
        if at == len(self._ends):
            more = ffi.new("kb_endpoint[]", 2 * at)
            ffi.memmove(more, self._ends, ffi.sizeof("kb_endpoint") * at)
            self._ends = more
        text = name.encode(errors="replace")
        self._check(lib.kb_endpoint_parse(self.machine._topo, text, len(text), self._ends + at, self._why))
        self._n_ends += 1
        return at

    def _number(self, name: Any) -> int:
        if not isinstance(name, str):
            raise TypeError(f"an endpoint is a text, not {type(name).__name__}")
        number = ENDPOINTS.numbers.get(name, NO_END)
        if number < len(self._end_of) and self._end_of[number] != NO_END:
            return number
        at = self._parse(name)
        number = ENDPOINTS.number(name)
        if number >= len(self._end_of):
            more = np.full(2 * number, NO_END, np.uint32)
            more[:len(self._end_of)] = self._end_of
            self._end_of = more
        self._end_of[number] = at
        return number

    def _ends_of(self, name: str, numbers: Array, by_address: bool = False) -> Array:
        """Which of _ends the numbers of endpoints() are; what another simulation was asked for may be new here."""
        if numbers.size == 0 or int(numbers.max()) < self._end_of.size:
            ends = np.asarray(self._end_of[numbers])
            if ends.size == 0 or int(ends.max()) != NO_END:
                return ends
        for number in np.unique(numbers):
            if number == NO_END and by_address:
                continue
            if number >= len(ENDPOINTS.names):
                raise BadArgument(2, [f"{name} is endpoint {number}, and there are {len(ENDPOINTS.names)}"])
            self._number(ENDPOINTS.names[number])
        known = np.minimum(numbers, len(self._end_of) - 1)
        return np.where(numbers == NO_END, np.uint32(NO_END), self._end_of[known])

    def endpoints(self, names: Union[str, Iterable[str]]) -> Array:
        """Numbers of endpoints, which add() takes: of names, or of a pattern, "c0.pe[0-3]", "c*.slice*".

        A name has the same number in all simulations."""
        if not isinstance(names, str):
            return np.array([self._number(name) for name in names], np.uint32)
        found: List[str] = []
        handle, text = ffi.new_handle(found), names.encode(errors="replace")
        self._check(lib.kb_endpoint_select(self.machine._topo, text, len(text), lib.kernbench_endpoint,
                                            handle, self._why))
        return self.endpoints(found)

    # -- transactions

    def add(self, transactions: Any = None, *, src: Optional[Numbers] = None, dst: Optional[Numbers] = None,
            nbytes: Optional[Numbers] = None, issue_ns: Any = None, issue_fs: Optional[Numbers] = None,
            op: Optional[Ops] = None, offset: Optional[Numbers] = None,
            plane: Union[None, str, Numbers] = None, address: Optional[Numbers] = None,
            prio: Optional[Numbers] = None, rows: Optional[Numbers] = None, stride: Optional[Numbers] = None) -> Array:
        """Adds transactions, issued at now_ns or later; returns their numbers.

        transactions  as Machine.replay() takes them, with names of endpoints; or the columns:
        src, dst      numbers that endpoints() returned; arrays, or one for all; of mread and mwrite
                      dst has a row of targets for each, all as long, or one row for all
        nbytes        bytes of each (default: 64); offset: where they begin in the target (0)
        address       global addresses, in place of dst
        issue_ns      when they are issued (default: now), or issue_fs, in whole femtoseconds
        op            "read" (the default), "write", "h2d", "d2h", "mread", "mwrite" for all; or a list of the
                      first four, or an array of KB_READ, ...
        plane         with sip.plane: column its name for all, or numbers from 1 on; 0: as the op says
        prio          with contention.links: router, 0 to 3
        rows, stride  nbytes are those of so many rows, so many bytes apart: a tile

        All of them are added, or none: then kernbench.BadArgument says why. Arrays may be empty.
        """
        named = dict(src=src, dst=dst, nbytes=nbytes, issue_ns=issue_ns, issue_fs=issue_fs, op=op, offset=offset, plane=plane,
                     address=address, prio=prio, rows=rows, stride=stride)
        if transactions is not None:
            more = [name for name, value in named.items() if value is not None]
            if more:
                raise BadArgument(2, [f"{more[0]} is given beside a table of transactions, which has columns"])
            frame = Frame(transactions)
            if frame.c.after != ffi.NULL or frame.c.think_fs != ffi.NULL:
                raise BadArgument(2, ["a live simulation has no dependencies: no columns after and think_ns"])
            ops, many = self._ops(frame)
            dst, addresses, targets = self._targets(frame, many)
            return self._add(dict(src=self._codes(frame, "src"), dst=dst,
                                  nbytes=self._column(frame, "nbytes", "<u8"), op=ops,
                                  issue_fs=self._column(frame, "issue_fs", "<i8"),
                                  plane=self._planes(frame), address=addresses,
                                  **{name: self._column(frame, name, "<u8") for name in MAY_LACK if getattr(frame.c, name) != ffi.NULL}),
                             targets)
        if src is None or (dst is None) == (address is None):
            raise BadArgument(2, ["transactions have src, and dst or address"])
        dst = NO_END if dst is None else dst
        if issue_fs is not None and issue_ns is not None:
            raise BadArgument(2, ["issue_ns and issue_fs are given both"])
        if issue_fs is None:
            issue_fs = self.now_fs if issue_ns is None else times_of(issue_ns)
        rows_of_targets = None
        if isinstance(op, str) and op in MULTICASTS:
            rows_of_targets = np.atleast_2d(whole("dst", dst, np.uint32))
            if rows_of_targets.ndim > 2 or rows_of_targets.shape[1] == 0:
                raise BadArgument(2, [f"dst has the shape {np.shape(dst)}: a multicast has a row of targets"])
            dst = rows_of_targets[:, 0]
        given = dict(src=src, dst=dst, nbytes=64 if nbytes is None else nbytes, issue_fs=issue_fs,
                     op=None if op is None else self._codes_of(op), offset=offset,
                     plane=self._plane(plane) if isinstance(plane, str) else plane, address=address, prio=prio, rows=rows,
                     stride=stride)
        return self._add(given, None if rows_of_targets is None else list(rows_of_targets))

    @staticmethod
    def _codes_of(op: Any) -> Any:
        """KB_READ and so on, of names or of themselves."""
        known = {**OPS, **MULTICASTS} if isinstance(op, str) else OPS
        names = np.asarray(op)
        if names.dtype.kind not in "UO" or names.size == 0:
            return op
        for name in np.ravel(names):
            if not isinstance(name, str) or name not in known:
                raise BadArgument(2, [f"op {name!r}: {', '.join([*OPS, *MULTICASTS] if known is not OPS else OPS)}"])
        return np.reshape([known[name] for name in np.ravel(names)], names.shape)

    def _add(self, given: Dict[str, Any], targets: Optional[List[Array]]) -> Array:
        """Columns, some with one number for all; of each row its targets, none where it is no multicast; or one
        list for all. A column that is None is 0. Where dst is NO_END, and there are addresses, the row goes by its own."""
        by_address = given["address"] is not None
        kinds = {name: kind for name, kind in KINDS.items() if given.get(name) is not None}
        arrays = [whole(name, given[name], kind) for name, kind in kinds.items()]
        sizes = [array.size for array in arrays]
        n = 0 if 0 in sizes and max(sizes) == 1 else max(sizes)
        rows = ffi.new("kb_transaction_columns *")
        kept = []
        for name, array in zip(kinds, arrays):
            if array.ndim > 1 or array.size not in (1, n):
                raise BadArgument(2, [f"{name} has the shape {array.shape}: one number for each of {n} transactions, or for all"])
            if name in ("src", "dst"):
                array = self._ends_of(name, array, name == "dst" and by_address)
            full = np.full(n, array) if array.size == 1 else np.ascontiguousarray(array)
            kept.append(full)
            setattr(rows, name, ffi.from_buffer(C_ARRAYS[name], full))
        if targets is not None:
            lists = targets if len(targets) == n else targets * n
            counts = np.array([len(row) for row in lists], np.uint32)
            numbers = self._ends_of("dst", np.concatenate([np.zeros(0, np.uint32), *lists]).astype(np.uint32))
            rows.n_targets = ffi.from_buffer("uint32_t[]", counts)
            rows.targets = ffi.from_buffer("uint32_t[]", numbers)
            kept += [counts, numbers]
        rows.ends, rows.n_ends = self._ends, self._n_ends
        first, bad = self.count, ffi.new("size_t *")
        self._check(lib.kb_sim_add_many(self._c, rows, n, bad, self._why), int(bad[0]) if 1 < n > bad[0] else None)
        return np.arange(first, first + n)

    def _column(self, frame: Frame, name: str, kind: str) -> Array:
        return array_of(getattr(frame.c, name), int(frame.c.n), kind, frame).copy()

    def _texts(self, frame: Frame, name: str) -> List[str]:
        texts = getattr(frame.c, name + "s")
        return [ffi.string(texts[i]).decode() for i in range(getattr(frame.c, f"n_{name}s"))]

    def _read(self, frame: Frame, name: str, read: Callable[[str], Any], nothing: Any, wanted: Optional[Array] = None) -> List[Any]:
        """What each text of a column is where one of the wanted rows has it; a mistake is told with the first such row."""
        codes, texts = self._column(frame, name, "<u4"), self._texts(frame, name)
        rows = np.arange(len(codes)) if wanted is None else np.flatnonzero(wanted)
        first = np.full(len(texts), -1)
        first[codes[rows[::-1]]] = rows[::-1]
        found = []
        for text, row in zip(texts, first):
            try:
                found.append(nothing if row < 0 else read(text))
            except BadArgument as failed:
                raise BadArgument(2, [f"row {row}, column '{name}': {failed}"]) from None
        return found

    def _codes(self, frame: Frame, name: str) -> Array:
        return np.array(self._read(frame, name, self._number, 0), np.uint32)[self._column(frame, name, "<u4")]

    def _ops(self, frame: Frame) -> Tuple[Array, Array]:
        """Of each row what it does, and whether it is a multicast."""
        known = {**OPS, **MULTICASTS}

        def read(text: str) -> Tuple[int, bool]:
            if text not in known:
                raise BadArgument(2, [f"op {text!r}: {', '.join(known)}"])
            return known[text], text in MULTICASTS

        found = np.array(self._read(frame, "op", read, (0, False)), np.uint8)[self._column(frame, "op", "<u4")]
        return found[:, 0], found[:, 1].astype(bool)

    def _targets(self, frame: Frame, many: Array) -> Tuple[Array, Optional[Array], Optional[List[Array]]]:
        """Of each row the number of its dst, or NO_END; the addresses of these, if any; and the targets of rows that
        are multicasts, if any is: patterns with + between."""
        codes = self._column(frame, "dst", "<u4")

        def single(text: str) -> Tuple[int, int]:
            return (NO_END, int(text, 16)) if ADDRESS.fullmatch(text) else (self._number(text), 0)

        def several(text: str) -> Array:
            return np.concatenate([self.endpoints(part) for part in text.split("+")])

        none = np.zeros(0, np.uint32)
        found = np.array(self._read(frame, "dst", single, (NO_END, 0), ~many), np.uint64)[codes]
        lists = self._read(frame, "dst", several, none, many)
        return (found[:, 0].astype(np.uint32), found[:, 1] if (found[:, 0] == NO_END).any() else None,
                [lists[code] if row else none for code, row in zip(codes, many)] if many.any() else None)

    def _plane(self, name: str) -> int:
        names = [""]
        while (found := lib.kb_plane_name(self.machine._topo, len(names) - 1)) != ffi.NULL:
            names.append(ffi.string(found).decode())
        if name not in names:
            known = ", ".join(names[1:]) or "this machine has none by name"
            raise BadArgument(2, [f"plane {name!r}: {known}"])
        return names.index(name)

    def _planes(self, frame: Frame) -> Optional[Numbers]:
        if frame.c.plane == ffi.NULL:
            return None
        return np.array(self._read(frame, "plane", self._plane, 0), np.uint8)[self._column(frame, "plane", "<u4")]

    # -- time

    def _run(self, part: Callable[[], int], goes_on: Callable[[], bool]) -> bool:
        """Runs part after part, between which Ctrl-C is heard; whether transactions are not complete."""
        self._check_idle()
        self._running = True
        lib.kb_catch_crashes()  # a component may: KernelError
        try:
            status = part()
            while status == lib.KB_AGAIN and not self._failed and goes_on():
                status = part()
        finally:
            self._running = False
        if self._failed:
            failed, self._failed = self._failed, []
            raise failed[0]
        if status != lib.KB_AGAIN:
            self._check(status)
        return bool(status == lib.KB_AGAIN)

    def run_to(self, to_ns: Optional[float] = None, *, to_fs: Optional[int] = None, first: bool = False) -> bool:
        """Runs what happens before a time, and returns whether any transaction is not complete; with
        `first` only until the next ones complete, and returns whether any have.

        Transactions may be added then from now_ns on: `to_ns`, or the time of the completion.
        """
        if (to_fs is None) == (to_ns is None):
            raise BadArgument(2, ["run_to() has a time: to_ns or to_fs"])
        if to_ns is not None:
            if not 0 <= to_ns <= NS_MOST:
                raise BadArgument(2, [f"{to_ns} ns is no time to run to: up to {NS_MOST:.0f}"])
            to_fs = round(to_ns * FS_PER_NS)
        end_fs = to_fs or 0
        if not 0 < end_fs <= LAST_FS:
            raise BadArgument(2, [f"{to_fs} fs is no time to run to"])
        before = self.done
        more = self._run_before(end_fs, first, lambda: not (first and self.done > before))
        return self.done > before if first else more

    def _run_before(self, end_fs: int, first: bool, goes_on: Callable[[], bool]) -> bool:
        """What happens before a time. Wherever Ctrl-C ends it, now_fs is where it has come to."""
        now = ffi.new("int64_t *", self.now_fs)
        try:
            return self._run(lambda: int(lib.kb_sim_run_part(self._sim, end_fs, first, EVENTS_AT_ONCE, now, self._why)),
                             lambda: int(now[0]) < end_fs and goes_on())
        finally:
            self.now_fs = int(now[0])

    def run(self) -> None:
        """Runs to the end: nothing can be added any more. After a Ctrl-C it can, from now_ns on, and run() goes on."""
        if not self._has_ended and self.count:
            self._run_before(LAST_FS, False, lambda: True)
        self._has_ended = True
        self._run(lambda: int(lib.kb_sim_run(self._sim, EVENTS_AT_ONCE, self._why)), lambda: True)
        self.now_fs = int(lib.kb_sim_end_fs(self._sim))

    @property
    def now_ns(self) -> float:
        """The earliest time at which a transaction may be issued; after run() the end."""
        return self.now_fs / FS_PER_NS

    @property
    def count(self) -> int:
        """Transactions that were added."""
        return int(lib.kb_sim_count(self._sim))

    @property
    def done(self) -> int:
        """Transactions that are complete."""
        return int(lib.kb_sim_done(self._sim))

    @property
    def fingerprint(self) -> int:
        """Of all events so far, if it was asked for."""
        if not self._has_fingerprint:
            raise BadArgument(2, ["a fingerprint is kept by Simulation(machine, fingerprint=True)"])
        return int(lib.kb_sim_fingerprint(self._c))

    # -- results

    def completed(self) -> Array:
        """The numbers of those that have completed since the last call."""
        ids = np.empty(self.done - self._told, np.int64)
        self._told += int(lib.kb_sim_completed(self._c, ffi.from_buffer("uint64_t[]", ids), ids.size))
        ids.sort()
        return ids

    def _found(self, status: int) -> None:
        if status not in (lib.KB_OK, lib.KB_PENDING):
            raise error(6, [f"the results cannot be had: status {status}"])

    def times(self, *names: str, first: int = 0, n: Optional[int] = None) -> Dict[str, Array]:
        """Times of transactions `first` and the `n` behind it in fs, an array for each name: "end_fs",
        "queue_link_fs" (default: all). What is not complete is 0; "status" is not 0 then."""
        if not 0 <= first <= self.count or n is not None and not 0 <= n <= self.count - first:
            asked = f"from {first} on" if n is None else f"{n} from {first} on"
            raise BadArgument(2, [f"there are {self.count} transactions, and {asked} were asked for"])
        n = self.count - first if n is None else n
        known = ("status", *TIMES, *(f"queue_{wait}_fs" for wait in WAITS))
        out, arrays = ffi.new("kb_result_columns *"), {}
        for name in names or known:
            if name not in known:
                raise BadArgument(2, [f"no times are called {name!r}: {', '.join(known)}"])
            array = np.empty(n, np.uint8 if name == "status" else np.int64)
            place = ffi.from_buffer("uint8_t[]" if name == "status" else "int64_t[]", array)
            if name.startswith("queue_"):
                out.wait_fs[WAITS.index(name[6:-3])] = place
            else:
                setattr(out, name, place)
            arrays[name] = array
        self._found(lib.kb_sim_results(self._c, first, n, out))
        return arrays

    def rows(self) -> Rows:
        """All that are complete as rows: id, times in ns as Machine.replay() has them."""
        found = self.times()
        ready = found.pop("status") == lib.KB_OK
        columns: Dict[str, Any] = {"id": np.flatnonzero(ready)}
        for name, array in found.items():
            columns[name[:-3] + "_ns"] = array[ready] / FS_PER_NS
        return rows_of(columns, {"kernbench": "simulation", "origin": {"hash": self.machine.hash}})

    # -- observers

    def observe(self, end: Callable[[int, int], Any]) -> None:
        """Calls end(id, end_fs) as each transaction ends; before anything runs. The engine hop runs then.

        It must not call the simulation: it may note what it hears, for when run_to() returns. An exception of
        it is raised by run_to() or run(), and it is not called any more in that call.
        """
        if not callable(end):
            raise TypeError(f"an observer is a function, not {type(end).__name__}")

        def heard(number: int, end_fs: int) -> None:
            if self._failed:
                return
            try:
                end(number, end_fs)
            except BaseException as failed:  # which C cannot carry
                self._failed.append(failed)

        handle = ffi.new_handle(heard)
        watch = ffi.new("kb_observer *", {"arg": handle, "end": lib.kernbench_heard})
        self._check(lib.kb_sim_observe(self._c, watch, self._why))
        self._heard.append(handle)

    def _record(self) -> None:
        self._recorder = ffi.gc(lib.kernbench_recorder_new(), lib.kernbench_recorder_free)
        if self._recorder == ffi.NULL:
            raise MemoryError("kernbench_recorder_new")
        watch = ffi.new("kb_observer *", {"arg": self._recorder})
        lib.kernbench_recorder_watch(watch)
        self._check(lib.kb_sim_observe(self._c, watch, self._why))

    def spans(self) -> Rows:
        """The pieces of all transactions so far: id, cause, place, behind, begin_ns, end_ns."""
        if self._recorder is None:
            raise BadArgument(2, ["spans are kept by Simulation(machine, spans=True)"])
        n = ffi.new("size_t *")
        spans = lib.kernbench_recorder_spans(self._recorder, n)
        raw = np.frombuffer(ffi.buffer(spans, n[0] * ffi.sizeof("struct kernbench_span")), np.dtype(list(SPAN_FIELDS))).copy()
        causes = np.array([ffi.string(lib.kb_cause_name(i)).decode() for i in range(lib.KB_N_CAUSES)], object)
        columns = {"id": raw["id"], "cause": causes[raw["cause"]], "place": self._places(raw["place"]),
                   "behind": self._places(raw["behind"]), "begin_ns": raw["begin_fs"] / FS_PER_NS,
                   "end_ns": raw["end_fs"] / FS_PER_NS}
        return rows_of(columns, {"kernbench": "simulation", "origin": {"hash": self.machine.hash}})

    def _places(self, places: Array) -> Array:
        different, codes = np.unique(places, return_inverse=True)
        text = ffi.new("char[]", lib.KB_PLACE_BYTES)
        names = []
        for place in different:
            lib.kb_place_name(self.machine._topo, int(place), text)
            names.append(ffi.string(text).decode())
        return np.asarray(np.array(names, object)[codes])

    def __repr__(self) -> str:
        return f"<kernbench.Simulation of {self.machine.name}: {self.done} of {self.count} done, {self.now_ns} ns>"
