"""_simulation.py -- one simulation, to which transactions are added while time runs."""
import reprlib
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple, Union

import numpy as np

from ._errors import BadArgument, error
from ._frame import FS_PER_NS, Frame
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
                         "offset": np.uint64, "plane": np.uint8}
LIMITS = {kind: (int(np.iinfo(kind).min), int(np.iinfo(kind).max)) for kind in KINDS.values()}
C_ARRAYS = {name: f"{np.dtype(kind).name}_t[]" for name, kind in KINDS.items()}
SPAN_FIELDS = (("id", "<u4"), ("cause", "<u4"), ("place", "<u8"), ("behind", "<u8"), ("begin_fs", "<i8"), ("end_fs", "<i8"))
NS_MOST = 9e12  # as Frame has it
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
        self._why = ffi.new("kb_error *")
        self._recorder: Any = None
        self._heard: List[Any] = []  # handles of observers
        self._failed: List[BaseException] = []  # of observers
        self._names: Dict[str, int] = {}
        self._ends = ffi.new("kb_endpoint[]", 64)
        self._pending: List[Array] = []  # numbers that completed() has not returned
        if not lib.kernbench_need(out[0], machine._topo):
            lib.kb_sim_free(out[0])
            raise MemoryError("kernbench_need")
        self._c = ffi.gc(out[0], lib.kernbench_sim_free)
        if spans:
            self._record()

    # -- endpoints

    def _check(self, status: int) -> None:
        if status:
            text = said(self._why) or f"status {status}"
            self._why.text = b"\0"
            raise error(2 if status == lib.KB_BAD_REQUEST else 6, [text])

    def _number(self, name: str) -> int:
        number = self._names.get(name)
        if number is None:
            number = len(self._names)
            if number == len(self._ends):
                more = ffi.new("kb_endpoint[]", 2 * number)
                ffi.memmove(more, self._ends, ffi.sizeof("kb_endpoint") * number)
                self._ends = more
            text = name.encode()
            self._check(lib.kb_endpoint_parse(self.machine._topo, text, len(text), self._ends + number, self._why))
            self._names[name] = number
        return number

    def endpoints(self, names: Union[str, Iterable[str]]) -> Array:
        """Numbers of endpoints, which add() takes: of names, or of a pattern, "c0.pe[0-3]", "c*.slice*"."""
        if not isinstance(names, str):
            return np.array([self._number(name) for name in names], np.uint32)
        found: List[str] = []
        handle, text = ffi.new_handle(found), names.encode()
        self._check(lib.kb_endpoint_select(self.machine._topo, text, len(text), lib.kernbench_endpoint,
                                            handle, self._why))
        return self.endpoints(found)

    # -- transactions

    def add(self, transactions: Any = None, *, src: Optional[Numbers] = None, dst: Optional[Numbers] = None,
            nbytes: Optional[Numbers] = None, issue_ns: Any = None, issue_fs: Optional[Numbers] = None,
            op: Optional[Ops] = None, offset: Optional[Numbers] = None,
            plane: Union[None, str, Numbers] = None) -> Array:
        """Adds transactions, issued at now_ns or later; returns their numbers.

        transactions  as Machine.replay() takes them, with names of endpoints; or the columns:
        src, dst      numbers that endpoints() returned; arrays, or one for all; of mread and mwrite
                      dst has a row of targets for each, all as long, or one row for all
        nbytes        bytes of each (default: 64); offset: where they begin in the target (0)
        issue_ns      when they are issued (default: now), or issue_fs, in whole femtoseconds
        op            "read" (the default), "write", "h2d", "d2h", "mread", "mwrite" for all; or a list of the
                      first four, or an array of KB_READ, ...
        plane         with sip.plane: column its name for all, or numbers from 1 on; 0: as the op says

        All of them are added, or none: then kernbench.BadArgument says why. Arrays may be empty.
        """
        named = dict(src=src, dst=dst, nbytes=nbytes, issue_ns=issue_ns, issue_fs=issue_fs, op=op, offset=offset, plane=plane)
        if transactions is not None:
            more = [name for name, value in named.items() if value is not None]
            if more:
                raise BadArgument(2, [f"{more[0]} is given beside a table of transactions, which has columns"])
            frame = Frame(transactions)
            if frame.c.after != ffi.NULL or frame.c.think_fs != ffi.NULL:
                raise BadArgument(2, ["a live simulation has no dependencies: no columns after and think_ns"])
            ops, many = self._ops(frame)
            dst, targets = self._targets(frame, many)
            return self._add(dict(src=self._codes(frame, "src"), dst=dst,
                                  nbytes=self._column(frame, "nbytes", "<u8"), op=ops,
                                  issue_fs=self._column(frame, "issue_fs", "<i8"),
                                  offset=self._column(frame, "offset", "<u8"), plane=self._planes(frame)), targets)
        if src is None or dst is None:
            raise BadArgument(2, ["transactions have src, dst and nbytes"])
        if issue_fs is not None and issue_ns is not None:
            raise BadArgument(2, ["issue_ns and issue_fs are given both"])
        if issue_fs is None:
            issue_fs = self.now_fs if issue_ns is None else times_of(issue_ns)
        rows_of_targets = None
        if isinstance(op, str) and op in MULTICASTS:
            rows_of_targets = np.atleast_2d(whole("dst", dst, np.uint32))
            dst = rows_of_targets[:, 0]
        given = dict(src=src, dst=dst, nbytes=64 if nbytes is None else nbytes, issue_fs=issue_fs,
                     op=self._codes_of(OPS["read"] if op is None else op), offset=0 if offset is None else offset,
                     plane=self._plane(plane) if isinstance(plane, str) else 0 if plane is None else plane)
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
        list for all."""
        arrays = [whole(name, given[name], kind) for name, kind in KINDS.items()]
        sizes = [array.size for array in arrays]
        n = 0 if 0 in sizes and max(sizes) == 1 else max(sizes)
        rows = ffi.new("kb_transaction_columns *")
        rows.ends, rows.n_ends = self._ends, len(self._names)
        kept = []
        for name, array in zip(KINDS, arrays):
            if array.ndim > 1 or array.size not in (1, n):
                raise BadArgument(2, [f"{name} has the shape {array.shape}: one number for each of {n} transactions, or for all"])
            full = np.ascontiguousarray(np.broadcast_to(array, n))
            kept.append(full)
            setattr(rows, name, ffi.from_buffer(C_ARRAYS[name], full))
        if targets is not None:
            lists = targets if len(targets) == n else targets * n
            counts = np.array([len(row) for row in lists], np.uint32)
            numbers = np.concatenate([np.zeros(0, np.uint32), *lists]).astype(np.uint32)
            rows.n_targets = ffi.from_buffer("uint32_t[]", counts)
            rows.targets = ffi.from_buffer("uint32_t[]", numbers)
            kept += [counts, numbers]
        first = self.count
        self._check(lib.kb_sim_add_many(self._c, rows, n, ffi.NULL, self._why))
        ids = np.arange(first, first + n)
        self._pending.append(ids)
        return ids

    def _column(self, frame: Frame, name: str, kind: str) -> Array:
        return array_of(getattr(frame.c, name), int(frame.c.n), kind, frame).copy()

    def _texts(self, frame: Frame, name: str) -> List[str]:
        texts = getattr(frame.c, name + "s")
        return [ffi.string(texts[i]).decode() for i in range(getattr(frame.c, f"n_{name}s"))]

    def _codes(self, frame: Frame, name: str) -> Array:
        return np.asarray(self.endpoints(self._texts(frame, name))[self._column(frame, name, "<u4")])

    def _ops(self, frame: Frame) -> Tuple[Array, Array]:
        """Of each row what it does, and whether it is a multicast."""
        texts, known = self._texts(frame, "op"), {**OPS, **MULTICASTS}
        for text in texts:
            if text not in known:
                raise BadArgument(2, [f"op {text!r}: {', '.join(known)}"])
        codes = self._column(frame, "op", "<u4")
        return (np.array([known[text] for text in texts], np.uint8)[codes],
                np.array([text in MULTICASTS for text in texts], bool)[codes])

    def _targets(self, frame: Frame, many: Array) -> Tuple[Array, Optional[List[Array]]]:
        """Of each row the number of its dst; and its targets, if any row is a multicast: patterns with + between."""
        if not many.any():
            return self._codes(frame, "dst"), None
        texts, codes = self._texts(frame, "dst"), self._column(frame, "dst", "<u4")
        numbers, lists = np.zeros(len(texts), np.uint32), {}
        for code in np.unique(codes[~many]):
            numbers[code] = self._number(texts[code])
        for code in np.unique(codes[many]):
            lists[code] = np.concatenate([self.endpoints(part) for part in texts[code].split("+")])
        none = np.zeros(0, np.uint32)
        return numbers[codes], [lists[code] if row else none for code, row in zip(codes, many)]

    def _plane(self, name: str) -> int:
        names = [""]
        while (found := lib.kb_plane_name(self.machine._topo, len(names) - 1)) != ffi.NULL:
            names.append(ffi.string(found).decode())
        if name not in names:
            known = ", ".join(names[1:]) or "this machine has none by name"
            raise BadArgument(2, [f"plane {name!r}: {known}"])
        return names.index(name)

    def _planes(self, frame: Frame) -> Numbers:
        if frame.c.plane == ffi.NULL:
            return 0
        numbers = np.array([self._plane(text) for text in self._texts(frame, "plane")], np.uint8)
        return np.asarray(numbers[self._column(frame, "plane", "<u4")])

    # -- time

    def _ran(self, status: int) -> bool:
        if self._failed:
            raise self._failed.pop()
        if status not in (lib.KB_OK, lib.KB_AGAIN):
            self._check(status)
        return bool(status == lib.KB_AGAIN)

    def run_to(self, to_ns: Optional[float] = None, *, to_fs: Optional[int] = None, first: bool = False) -> bool:
        """Runs what happens before a time, and returns whether any transaction is not complete; with
        `first` only until the next ones complete, and returns whether any have.

        Transactions may be added then from now_ns on: `to_ns`, or the time of the completion.
        """
        if to_fs is None:
            if to_ns is None:
                raise BadArgument(2, ["run_to() needs a time: to_ns or to_fs"])
            if not 0 <= to_ns <= NS_MOST:
                raise BadArgument(2, [f"{to_ns} ns is no time to run to: up to {NS_MOST:.0f}"])
            to_fs = round(to_ns * FS_PER_NS)
        if not 0 < to_fs < 1 << 63:
            raise BadArgument(2, [f"{to_fs} fs is no time to run to"])
        now, before = ffi.new("int64_t *"), self.done
        more = self._ran(lib.kb_sim_run_to(self._c, to_fs, first, now, self._why))
        self.now_fs = int(now[0])
        return self.done > before if first else more

    def run(self) -> None:
        """Runs to the end: nothing can be added any more."""
        self._ran(lib.kb_sim_run(self._c, 0, self._why))
        self.now_fs = int(lib.kb_sim_end_fs(self._c))

    @property
    def now_ns(self) -> float:
        """The earliest time at which a transaction may be issued; after run() the end."""
        return self.now_fs / FS_PER_NS

    @property
    def count(self) -> int:
        """Transactions that were added."""
        return int(lib.kb_sim_count(self._c))

    @property
    def done(self) -> int:
        """Transactions that are complete."""
        return int(lib.kb_sim_done(self._c))

    @property
    def fingerprint(self) -> int:
        """Of all events so far, if it was asked for."""
        return int(lib.kb_sim_fingerprint(self._c))

    # -- results

    def completed(self) -> Array:
        """The numbers of those that have completed since the last call."""
        pending = np.concatenate(self._pending or [np.empty(0, np.int64)])
        if not pending.size:
            return pending
        first = int(pending[0])
        status = np.empty(int(pending[-1]) - first + 1, np.uint8)
        out = ffi.new("kb_result_columns *", {"status": ffi.from_buffer("uint8_t[]", status)})
        self._found(lib.kb_sim_results(self._c, first, status.size, out))
        ready = status[pending - first] == lib.KB_OK
        self._pending = [pending[~ready]]
        return np.asarray(pending[ready])

    def _found(self, status: int) -> None:
        if status not in (lib.KB_OK, lib.KB_PENDING):
            raise error(6, [f"the results cannot be had: status {status}"])

    def times(self, *names: str, first: int = 0, n: Optional[int] = None) -> Dict[str, Array]:
        """Times of transactions `first` and the `n` behind it in fs, an array for each name: "end_fs",
        "queue_link_fs" (default: all). What is not complete is 0; "status" is not 0 then."""
        n = self.count - first if n is None else n
        if first < 0 or n < 0:
            raise BadArgument(2, [f"there are {self.count} transactions, not {first} + {n}"])
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
        if lib.kb_sim_results(self._c, first, n, out) == lib.KB_BAD_REQUEST:
            raise BadArgument(2, [f"there are {self.count} transactions, not {first} + {n}"])
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

        It must not call the simulation: it may note what it hears, for when run_to() returns.
        """
        def heard(number: int, end_fs: int) -> None:
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
