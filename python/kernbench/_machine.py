"""_machine.py -- machines, and what can be asked of them."""
import json
import os
import re
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, List, Literal, Mapping, Optional, Tuple, Union, overload

from ._arguments import given, split
from ._arrow import ArrowRows
from ._bench import is_compiled, judge
from ._errors import BadArgument, BadInput, Different, Error, error
from ._frame import Frame
from ._inputs import given_as_files
from ._native import ffi, lib
from ._query import Query, c_text, made_of, word, words_of
from ._rows import Table
from ._result import Result, result_of
from ._tensors import Tensors
from ._types import Keys, Option, Path as AnyPath, Rows, Size, Values

SHIPPED = Path(__file__).parent / "topologies"
Source = Union[AnyPath, Mapping[str, Any]]


# -- YAML -----------------------------------------------------------------------------------------


def scalar(value: Any) -> str:
    if hasattr(value, "tolist"):
        value = value.tolist()
    return json.dumps(value, allow_nan=False)


def set_word(path: str, value: Any) -> str:
    """KEY=VALUE of a key that is changed."""
    try:
        return f"{path}={value if isinstance(value, str) else scalar(value)}"
    except (TypeError, ValueError):
        raise error(2, [f"{path}: {value!r} is no number, text or list"], key=path) from None


def yaml_lines(keys: Mapping[str, Any], path: str, indent: str, places: List[str]) -> Iterable[str]:
    """One line for each key; `places` gets the path of each line's key."""
    for key, value in keys.items():
        full = f"{path}.{key}" if path else str(key)
        places.append(full)
        key = key if re.fullmatch(r"\w+", str(key), re.A) else json.dumps(str(key))
        if isinstance(value, Mapping) and value:
            yield f"{indent}{key}:"
            yield from yaml_lines(value, full, indent + "  ", places)
        else:
            try:
                yield f"{indent}{key}: {scalar(value)}"
            except (TypeError, ValueError):
                raise error(3, [f"{full}: {value!r} is no number, text or list"], key=full) from None


def without_place(lines: List[str], places: List[str]) -> Tuple[List[str], Optional[str]]:
    """Messages about a dict: its lines are not the user's; the key of the first one is."""
    bare, key = [], None
    for line in lines:
        parts = line.split(":", 3)
        if len(parts) == 4 and parts[0] == "<dict>":
            number = int(parts[1])
            if key is None and 0 < number <= len(places):
                key = places[number - 1]
            line = parts[3].strip()
        bare.append(line)
    return bare, key


# -- commands -------------------------------------------------------------------------------------


def changed(machine: "Machine", words: List[str]) -> "Machine":
    """The machine that a command had: by its options machine= and set= it may be another one."""
    files = [text[len("--machine="):] for text in words if text.startswith("--machine=")]
    sets = dict(text[len("--set="):].split("=", 1) for text in words if text.startswith("--set=") and text.count("=") > 1)
    if not files and not sets:
        return machine
    try:
        return (Machine(files[-1]) if files else machine).set(sets)
    except Error:  # the command says so itself
        return machine


class Commands:
    """What can be asked of a machine, or of each of its variants.

    Every method runs the command of that name, as `kernbench NAME --help` describes it, and returns
    its rows: a DataFrame with the columns and units that the command prints as CSV (times `_ns` in
    ns, bandwidths `_gbs` in GB/s, `_pct` in per cent). Without pandas they are numpy record arrays.
    Lists are lists, or texts as on the command line: rate=[0.1, 0.2] or rate="0.1:0.2:0.1".
    Other options of the command are taken by their names: engine="hop", max_events=1000.
    """

    _topo: Any

    def _vary(self) -> List[str]:
        return []

    def _asked_machine(self) -> "Machine":
        raise NotImplementedError

    def _origin(self, words: List[str]) -> Dict[str, Any]:
        """What rows are of, as JSON has it."""
        machine = changed(self._asked_machine(), words)
        seeds = [text[7:] for text in words if text.startswith("--seed=")]
        return {"topology": machine.name, "hash": machine.hash, "config": machine.config,
                "version": str(ffi.string(lib.KB_VERSION).decode()),
                "command": " ".join(text for text in words if not text.startswith(("--stats=", "--oplog=", "--quiet"))),
                "seed": int(seeds[-1]) if seeds and seeds[-1].isdigit() else 0}

    @property
    def arrow(self) -> "Commands":
        """The same commands, with rows by the Arrow C data interface, without a copy: m.arrow.probe()
        is a kernbench.ArrowRows, which pyarrow.table() and polars.DataFrame() take."""
        return ArrowCommands(self)

    def result(self, what: Any, **arguments: Any) -> "Result":
        """All about one run, as frames: rows, statistics of stations, breakdown, and for kernels the op log.

        what       a bench; transactions as replay() takes them; or "load", with pattern and one rate
        arguments  those of run(), replay() or load()

        >>> r = m.result("gemm", M=256)
        >>> r.rows, r.stats.nlargest(3, "util_pct"), r.breakdown, r.oplog
        """
        return result_of(self, what, arguments)

    def _query(self, command: str, operands: Any = (), frame: Any = None, keep_run: bool = False,
               **options: Any) -> Query:
        options.setdefault("format", "csv")
        words = words_of(command, list(operands), options)
        return Query(self, words[:1] + self._vary() + words[1:], frame, keep_run)

    def _rows(self, command: str, operands: Any = (), frame: Any = None, quiet: Any = False,
              inputs: Any = None, **options: Any) -> Rows:
        with given_as_files(inputs) as words:
            return self._rows_of(self._query(command, [*operands, *words], frame, quiet=quiet, **options), quiet)

    def _rows_of(self, query: Query, quiet: Any) -> Any:
        return query.rows(quiet)

    def _alone(self, what: str) -> None:
        """Refuses what is of one machine only."""
        if self._vary():
            raise error(2, [f"{what} is of one machine: ask each by Machine.{what}()"])

    def info(self) -> Rows:
        """The machine and how the library was built: rows of name and value."""
        return self._rows("info")

    def route(self, src: str, dst: str, *, op: Optional[str] = None,
              bytes: Size = 4096, plane: Optional[str] = None) -> Rows:
        """The nodes between two endpoints, and the cost (ns) of each and of the wire into it.

        >>> m.route("c0.pe0", "c5.slice3").cumulative_ns.iloc[-1]
        """
        return self._rows("route", [src, dst], op=op, bytes=bytes, plane=plane)

    def keys(self) -> Rows:
        """The keys of the machine: value, type, and the least and most, or the words, that each may be."""
        return self._rows("describe", ["keys"])

    def probe(self, *, bytes: Size = 4096, case: Optional[str] = None, **options: Option) -> Rows:
        """Latencies of typical accesses, each alone, from near to far.

        bytes   of an access, 4096 or "64K"
        case    only this one: "pe-local-hbm"

        >>> m.probe().query("case == 'pe-local-hbm'").actual_ns
        """
        return self._rows("probe", bytes=bytes, case=case, **options)

    def replay(self, transactions: Any, *, until_ns: Optional[float] = None,
               max_events: Optional[int] = None, **options: Option) -> Rows:
        """The times of transactions, a row for each, in ns.

        transactions  a DataFrame (or record array, or dict of columns) with the columns issue_ns,
                      op ("read", "write", "h2d", "d2h"), src ("c0.pe0"), dst ("c1.slice3", or a
                      global address "0x8000"), nbytes, and if wanted offset (in bytes, else 0),
                      after ("3|7": rows that must end before), think_ns, plane. Or the name of a
                      CSV file with them. Rows have the index of the DataFrame
        until_ns      stop at this time: only what is complete has a row
        max_events    stop after so many events
        """
        operand, frame = transactions_of(transactions)
        try:
            rows = self._rows("replay", [operand], frame, until=until_ns, max_events=max_events,
                              **options)
        except Error as e:
            e.rows = indexed(e.rows, frame)
            raise
        return indexed(rows, frame)

    def sweep(self, src: Values, dst: Values, *, bytes: Values = 4096, inflight: Values = 1,
              op: Optional[Values] = None, jobs: Optional[int] = None, **options: Option) -> Rows:
        """All combinations of sources, targets, sizes and loads, each on an idle machine.

        src, dst  lists of endpoints, or patterns: "c0.pe[0-3]", "c*.slice*"
        bytes     of each copy: 4096, [64, 4096], "64:1M:x4"
        inflight  copies issued at once: 1, "1:16"
        op        "read", "write", "h2d", "d2h", or a list
        jobs      threads (default: one per processor)
        """
        return self._rows("sweep", src=src, dst=dst, bytes=bytes, inflight=inflight, op=op,
                          jobs=jobs, **options)

    def load(self, pattern: str, rate: Values, *, bytes: Size = 4096,
             op: Optional[str] = None, txns: int = 100_000, seeds: int = 3, seed: int = 0,
             arrivals: Optional[str] = None, jobs: Optional[int] = None, **options: Option) -> Rows:
        """Throughput and latency of random traffic of all PEs, a row for each rate.

        pattern   "uniform", "local", "neighbor", "transpose", "bitcomp", "hotspot:25",
                  "matrix:FILE", "stream", "strided:N", "random", "multicast:N"
        rate      1.0: each PE issues as many bytes as cube.xbar.pe_gbs carries; 0.05, [0.1, 0.2],
                  "0.1:1.0:0.1"
        bytes     of a transaction
        op        "read" (default) or "write"
        txns      transactions of a simulation
        seeds     simulations for each rate, of seeds seed, seed + 1, ...
        arrivals  "poisson" (default) or "fixed"
        jobs      threads (default: one per processor)
        """
        return self._rows("load", pattern=pattern, rate=rate, bytes=bytes, op=op, txns=txns,
                          seeds=seeds, seed=seed, arrivals=arrivals, jobs=jobs, **options)

    def breakdown(self, what: Any, **arguments: Any) -> Rows:
        """Where the time goes: the latency breakdown of a run, of transactions or of traffic.

        what       the name of a bench; transactions as replay() takes them; or "load"
        arguments  those of run(), args= and inputs= too, of replay() or load(): breakdown("gemm", M=512),
                   breakdown("load", pattern="uniform", rate=0.05); top=3: the largest parts only

        Rows are tables one behind the other, as the column `by` says: all, place, wait, source,
        target, op, pe, path.
        """
        command, operands, frame, options = self._asked(what, arguments, "run", "replay")
        return self._rows(command, operands, frame, breakdown=True, **options)

    def why(self, what: Any, *, by: Optional[str] = None, **arguments: Any) -> Rows:
        """The bottleneck: what a run gains with one limit less, or with one key of the machine better.

        what       as breakdown() takes it; or "llm", with model, by="key", and the options of llm()
        by         "limit" (default): without one limit at a time; "key": each key twice as good,
                   alone and together; "key=4": four times; all_pairs=True: no pair of keys is left
                   out, however long it takes
        arguments  those of run(), args= and inputs= too, or for "load" pattern, rate, bytes, txns, ...

        >>> m.why("gemm", by="key", M=512).head(3)
        >>> m.why("llm", by="key", model="llama-3.2-1b", decode=1024).head(3)
        """
        if isinstance(what, str) and what == "llm":
            model = [os.fspath(arguments.pop("model"))] if "model" in arguments else []
            return self._rows("why", ["llm", *model], **given(by=by), **arguments)
        command, operands, frame, options = self._asked(what, {**arguments, **given(by=by)}, "why", "why")
        return self._rows(command, operands, frame, **options)

    def tune(self, bench: str, lists: Keys, **arguments: Any) -> Rows:
        """A bench with each combination of values of its arguments, the fastest first.

        lists      argument: values; a list, or a text as "64:512:x2"
        arguments  those of run() that all runs have; verify=True compares results of the fastest

        >>> m.tune("softmax", {"N": [128, 256]}, M=64).head(1)
        """
        operands, options = split(os.fspath(bench), arguments)
        words = [f"arg.{name}={word(values)}" for name, values in lists.items()]
        return self._rows("tune", operands + words, **options)

    def llm(self, model: Optional[AnyPath] = None, **options: Option) -> Rows:
        """Tokens per second of a language model: a row for each operation, the layer, the head, the total.

        model    the name of a shipped model, a config.json, or a graph; None: facts of the shipped models
        options  those of the command: batch=[1, 8], prefill=1024, decode=1024, tp=8, weights="i8",
                 iterations="batches.csv", tries=16, map="tiles.yaml"; dry_run=True: facts of the model

        >>> m.llm("llama-3.2-1b", decode=1024, batch=4).query("op == 'total'").us
        """
        return self._rows("llm", [] if model is None else [os.fspath(model)], **options)

    def race(self, bench: str, **arguments: Any) -> Rows:
        """Data races of a bench, two rows for each: its accesses. No rows: there are none."""
        operands, options = split(os.fspath(bench), arguments)
        try:
            return self._rows("run", operands, race=True, **options)
        except Different as found:
            return found.rows

    def inspect(self, bench: str, op: Union[int, str, None] = None, **arguments: Any) -> Rows:
        """All about one operation of a bench: its inputs, results, their makers, its line.

        op  an op_id of the op log, or "last" (default)
        """
        operands, options = split(os.fspath(bench), {**arguments, **given(op=op)}, own=["op"])
        return self._rows("run", operands, inspect=options.pop("op", "last"), **options)

    @staticmethod
    def _asked(what: Any, arguments: Mapping[str, Any], of_bench: str,
               of_rows: str) -> Tuple[str, List[str], Optional[Frame], Dict[str, Any]]:
        """Command, operands, transactions and options of what is asked about."""
        name = os.fspath(what) if isinstance(what, (str, os.PathLike)) else None
        is_file = name is not None and ("/" in name or "." in name) and not is_compiled(name)
        if name is not None and name != "load" and not is_file:
            operands, options = split(name, arguments)
            return of_bench, operands, None, options
        options = dict(arguments)
        for of_a_bench in ("args", "inputs"):
            if options.pop(of_a_bench, None) is not None:
                raise error(2, [f"{of_a_bench} are of a bench"])
        if "until_ns" in options:
            options["until"] = options.pop("until_ns")
        if name == "load":
            return ("load", [], None, options) if of_bench == "run" else (of_bench, [name], None, options)
        operand, frame = transactions_of(what)
        return of_rows, [operand], frame, options

    def report(self, command: str, *operands: Any, **options: Any) -> str:
        """One HTML page of what a command finds: report("run", "gemm", M=512), report("replay", df),
        report("load", pattern="uniform", rate="0.02:0.08:0.02")."""
        self._alone("report")
        words, frame = list(operands), None
        if words and command == "replay":
            words[0], frame = transactions_of(words[0])
        if words and command == "run":
            of_bench, options = split(os.fspath(words[0]), options)
            words[:1] = of_bench
        with given_as_files(options.pop("inputs", None)) as files:
            return Query(self, ["report"] + words_of(command, words + files, options), frame).text()

    def view(self, *operands: AnyPath, **options: Option) -> "Picture":
        """A picture of the machine: view("cube"), view("pe", at="c3"), view(stats="busy.csv")."""
        self._alone("view")
        return Picture(Query(self, words_of("view", list(operands), options)).text())

    @overload
    def run(self, bench: str, *, tensors: Literal[True], args: Optional[Mapping[str, Any]] = ...,
            inputs: Optional[Mapping[str, Any]] = ..., verify: Union[bool, str, None] = ..., seed: Optional[int] = ...,
            reference: Optional[Callable[..., Any]] = ..., **arguments: Any) -> Tuple[Rows, Tensors]: ...

    @overload
    def run(self, bench: str, *, tensors: Optional[Literal[False]] = ..., args: Optional[Mapping[str, Any]] = ...,
            inputs: Optional[Mapping[str, Any]] = ..., verify: Union[bool, str, None] = ..., seed: Optional[int] = ...,
            reference: Optional[Callable[..., Any]] = ..., **arguments: Any) -> Rows: ...

    def run(self, bench: str, *, tensors: Optional[bool] = None, args: Optional[Mapping[str, Any]] = None,
            inputs: Optional[Mapping[str, Any]] = None, verify: Union[bool, str, None] = None,
            seed: Optional[int] = None, reference: Optional[Callable[..., Any]] = None, **arguments: Any) -> Any:
        """The kernels of a bench: a row of times (ns) and counts for every launch.

        bench      its name: kernbench.benches() lists them, with their arguments
        args       arguments of the bench, as a dict: args={"M": 512}
        arguments  options of the command: oplog="ops.csv", trace="t.pftrace", dump="folder",
                   phase2=True, until_ns=100, engine="hop"; and arguments of the bench, M=512,
                   unless they have the name of an option: these are in args
        inputs     inputs of the bench by their names, in place of its own: inputs={"x": array}. The
                   shape must be the bench's, and the type, or f32 and f64 for another type of float,
                   or integers that fit; bf16 as uint16 that has the bits
        verify     compare results with the reference; "ops": each operation, too. If they differ,
                   kernbench.Different is raised, with the rows
        seed       of the inputs (default 0)
        tensors    return (rows, tensors): tensors["out"] is an array; results are computed
        reference  verify with this function instead: it is called with the arrays of the inputs, in
                   the order in which the bench declares them, and returns that of the output; of
                   several outputs a list, or a dict by their names

        >>> rows, t = m.run("gemm", M=64, N=64, K=64, tensors=True)
        >>> abs(t["c"] - t["a"] @ t["b"]).max()
        >>> m.run("gather", inputs={"index": np.arange(64)[::-1]}, M=64, L=64, verify=True)
        >>> m.run(kernbench.compile("moe.c"), tokens=256, reference=my_moe)
        """
        asked = {**arguments, **given(args=args, verify=verify, seed=seed, tensors=tensors, reference=reference)}
        operands, options = split(os.fspath(bench), asked, own=["tensors", "reference"])
        options = {name: value for name, value in options.items() if name not in ("tensors", "reference")}
        if tensors or reference:
            if self._vary() or options.get("vary"):
                raise error(2, [f"{'tensors' if tensors else 'reference'} is of one machine: ask each "
                                "by Machine.run()"])
            options["phase2"] = True
        quiet = bool(options.pop("quiet", False))
        with given_as_files(inputs) as words:
            query = self._query("run", operands + words, keep_run=bool(tensors or reference), quiet=quiet, **options)
            rows = self._rows_of(query, quiet)
        if not (tensors or reference):
            return rows
        found = Tensors(query)
        if reference:
            judge(found, reference, rows)
        return (rows, found) if tensors else rows


def transactions_of(data: Any) -> Tuple[str, Optional[Frame]]:
    """The operand of replay, and the transactions if they are in memory."""
    if isinstance(data, (str, os.PathLike)):
        return os.fspath(data), None
    return "-", data if isinstance(data, Frame) else Frame(data)


def indexed(rows: Any, frame: Optional[Frame]) -> Any:
    """Rows of transactions, with the index of the DataFrame that they came from."""
    if isinstance(rows, ArrowRows):  # which have no index
        return rows
    if rows is not None and frame is not None and frame.index is not None and "id" in rows.columns:
        ids = rows["id"].to_numpy()
        rows.index = frame.index if len(ids) == len(frame.index) else frame.index[ids]
    return rows


class ArrowCommands(Commands):
    """The commands of a machine or of its variants; rows are ArrowRows."""

    def __init__(self, commands: Commands):
        self._commands = commands
        self._topo = commands._topo

    def _vary(self) -> List[str]:
        return self._commands._vary()

    def _asked_machine(self) -> "Machine":
        return self._commands._asked_machine()

    def _rows_of(self, query: Query, quiet: Any) -> Any:
        return query.rows(quiet, arrow_rows)


def arrow_rows(query: Any, attrs: Dict[str, Any]) -> Any:
    """The rows of a query that wrote one table; None: it wrote none."""
    if lib.kb_query_table_count(query) == 0:
        return None
    table = Table(query, 0)
    return ArrowRows(table, {**attrs, "columns": table.meanings()})


class Picture(str):
    """An SVG, which notebooks show."""

    def _repr_svg_(self) -> str:
        return str(self)


class Variants(Commands):
    """A machine for each combination of values of some keys: what vary() returns."""

    def __init__(self, machine: "Machine", keys: Keys):
        if not isinstance(machine, Machine) or not isinstance(keys, Mapping):
            raise TypeError("vary() takes a Machine and a dict of keys and their values, not "
                            f"{type(machine).__name__} and {type(keys).__name__}")
        # a machine that was read is the quickest to vary
        self._machine = Machine.from_yaml(machine.config) if machine._changed else machine
        self._topo = self._machine._topo
        self._words = [f"--vary={path}={word(values)}" for path, values in keys.items()]

    def _vary(self) -> List[str]:
        return self._words

    def _asked_machine(self) -> "Machine":
        return self._machine

    def __repr__(self) -> str:
        return f"<kernbench.Variants of {self._machine!r}: {' '.join(self._words)}>"


def vary(machine: "Machine", keys: Keys) -> Variants:
    """The same question to many machines: every combination of the values of `keys`.

    keys  path: values; a list, or a text as --vary has it: "128:512:x2"

    Its methods are those of a machine (probe, replay, sweep, load, run), and their rows have the
    keys in front. Machines are made and asked in C, on all processors: thousands a second.

    >>> v = kernbench.vary(m, {"cube.hbm.bw_gbs": [128, 256, 512], "cube.noc.bw_gbs": "128:512:x2"})
    >>> v.run("gemm", M=512)[["cube.hbm.bw_gbs", "cube.noc.bw_gbs", "kernel_ns"]]
    """
    return Variants(machine, keys)


def columns() -> Rows:
    """The data dictionary: a row for each column that any table has, its type, unit, group and meaning."""
    return Query(None, ["describe", "--format=csv", "columns"]).rows()


def machines() -> List[str]:
    """The names of the machines that come with the package."""
    return sorted(path.stem for path in SHIPPED.glob("*.yaml"))


def benches() -> Rows:
    """The benches that run() takes: a row for each, and one for each of its arguments."""
    return Query(None, ["list", "--format=csv"]).rows()


def diff(a: AnyPath, b: AnyPath, **options: Option) -> Rows:
    """The largest changes between two files of results, CSV or JSON: tolerance=, atol=, bound=, top=."""
    query = Query(None, words_of("diff", [os.fspath(a), os.fspath(b)], {"format": "csv", **options}))
    try:
        return query.rows()
    except Different as found:
        return found.rows


class Machine(Commands):
    """A machine: a topology that can be asked for latencies, traffic and runs of kernels.

    source  the path of a YAML file; the name of a shipped machine ("cube8", see
            kernbench.machines()); or a dict with the same keys as the YAML
    keys    keys to change, by their paths

    >>> m = kernbench.Machine("mine.yaml", **{"cube.hbm.bw_gbs": 512})
    >>> m = kernbench.Machine({"kernbench": 3, "name": "mine", "sip": {"cube_mesh": {"w": 2, "h": 1}}})

    Mistakes raise kernbench.BadInput (the YAML or the dict) or kernbench.BadArgument (keys), with
    file, line and column, or the key. A machine never changes, and any number of threads may use
    it: the interpreter's lock is free while it simulates.
    """

    def __init__(self, source: Source, **keys: Any):
        self._load(source, keys)

    def _load(self, source: Any, keys: Mapping[str, Any], file: str = "<yaml>") -> None:
        c = ffi.new("kb_topology_source *")
        places: List[str] = []
        kept: List[Any] = []
        self._changed = isinstance(source, Machine)
        self._file = file
        if isinstance(source, Machine):
            c.base, self._file = source._topo, source._file
        elif isinstance(source, bytes):
            self._put_text(c, file, source, kept)
        elif isinstance(source, Mapping):
            if not source:
                raise BadInput(3, ["the dict has no keys: a machine has kernbench, name and sip"])
            text = "\n".join(yaml_lines(source, "", "", places)) + "\n"
            self._file = "<dict>"
            self._put_text(c, "<dict>", text.encode(), kept)
        elif not isinstance(source, (str, os.PathLike)):
            raise TypeError("a machine is the name of a file, a shipped machine or a dict, not "
                            + type(source).__name__)
        else:
            path = self._find(os.fspath(source))
            self._file = os.path.abspath(path)
            self._put_text(c, path, self._read(path), kept)
        self._put_sets(c, keys, kept)
        status, topo, said = made_of(c, (kept, source))
        lines, key = without_place(said, places)
        if key is None and len(lines) > 0 and lines[0].startswith("--set "):
            key = lines[0][6:].split("=")[0]
        lines = [line[6:] if line.startswith("--set ") else line for line in lines]
        if status == lib.KB_NO_MEMORY:
            raise MemoryError("kb_topology_load")
        if status:
            raise error(2 if status == lib.KB_BAD_REQUEST else 3, lines, key=key)
        self._topo = ffi.gc(topo, lib.kernbench_topology_free)
        self._info = ffi.new("kb_info *")
        lib.kb_topology_info(self._topo, self._info)

    @staticmethod
    def _find(path: str) -> str:
        shipped = SHIPPED / f"{path}.yaml"
        return str(shipped) if not os.path.exists(path) and shipped.exists() else path

    @staticmethod
    def _read(path: str) -> bytes:
        try:
            with open(path, "rb") as file:
                return file.read()
        except OSError as e:
            shipped = ", ".join(sorted(p.stem for p in SHIPPED.glob("*.yaml")))
            hint = "" if os.sep in path or path.endswith(".yaml") else f"; shipped machines: {shipped}"
            failure = BadInput(3, [f"cannot read {path}: {e.strerror}{hint}"])
            failure.file = path
            raise failure from None

    @staticmethod
    def _put_text(c: Any, name: str, text: bytes, kept: List[Any]) -> None:
        kept += [ffi.new("char[]", name.encode()), ffi.new("char[]", text)]
        c.file, c.text, c.nbytes = kept[-2], kept[-1], len(text)

    @staticmethod
    def _put_sets(c: Any, keys: Mapping[str, Any], kept: List[Any]) -> None:
        sets = [c_text(set_word(path, value)) for path, value in keys.items()]
        array = ffi.new("char *[]", sets or [ffi.NULL])
        kept += [sets, array]
        c.sets, c.n_sets = array, len(sets)

    @staticmethod
    def from_yaml(text: str, **keys: Any) -> "Machine":
        """The machine of a YAML text, such as `config` of another one."""
        made = Machine.__new__(Machine)
        made._load(text.encode(), keys)
        return made

    # -- itself

    @property
    def name(self) -> str:
        """Its name, as the YAML has it."""
        return str(ffi.string(self._info.name).decode())

    @property
    def config(self) -> str:
        """Its YAML, with every default: what a result depends on."""
        return str(ffi.string(self._info.config).decode())

    @property
    def hash(self) -> str:
        """16 hexadecimal digits of `config`, which results tell."""
        return str(ffi.string(self._info.hash).decode())

    def __repr__(self) -> str:
        return f"<kernbench.Machine {self.name} {self.hash}>"

    def __eq__(self, other: Any) -> Any:
        """Are both the same machine, by every key, and by the text of its components?"""
        if not isinstance(other, Machine):
            return NotImplemented
        return (self.hash, self.config) == (other.hash, other.config)

    def __hash__(self) -> int:
        return hash((self.hash, self.config))

    def __reduce__(self) -> Tuple[Any, ...]:
        return Machine._again, (self.config, self._file, self.hash)

    @staticmethod
    def _again(config: str, file: str, known: str) -> "Machine":
        """One that was pickled; its components are looked for beside the same file."""
        made = Machine.__new__(Machine)
        made._load(config.encode(), {}, file)
        if made.hash != known:
            raise error(3, [f"{made.name}: it was pickled as {known}, and is {made.hash} now: its components have changed"])
        return made

    def _asked_machine(self) -> "Machine":
        return self

    def set(self, keys: Optional[Keys] = None, **more: Any) -> "Machine":
        """Another machine, with these keys changed: m.set({"cube.hbm.bw_gbs": 512})."""
        made = Machine.__new__(Machine)
        made._load(self, {**(keys or {}), **more})
        return made
