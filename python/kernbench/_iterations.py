"""_iterations.py -- what iterations of a model take on a machine: each simulated once, and kept.

The command `llm` runs on a thread of its own and asks for one iteration after the other
(runtime/cli/query/llm_batch.h), so that the model, the machine and the tiles of products are known from
one to the next. What is kept belongs to one machine, model, mapping and program: its identity. A file
of kept times has the identity in its first line, and is refused by another one.
"""
import hashlib
import json
import os
from itertools import groupby
from typing import Any, Dict, Iterable, List, Optional

import numpy as np

from ._errors import BadArgument, BadInput, error, whole
from ._machine import Machine
from ._native import ffi, lib
from ._query import INTERRUPTED, STOP_MS, WAIT_MS, Query, _left, c_text, messages_of, words_of
from ._schedule import Batch
from ._trace import TOKENS_MOST

FILES = ("map",)  # options whose file is a part of the identity
known: Dict[str, Dict[Batch, int]] = {}  # of this process: identity, and its times


def digest_of(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError as e:
        raise error(3, [f"cannot read {path}: {e.strerror}"]) from None


def identity_of(machine: Machine, model: str, options: Dict[str, Any]) -> str:
    """All that an iteration's time depends on, as JSON."""
    facts = Query(machine, words_of("llm", [model], {"format": "csv", "dry_run": True, "quiet": True}))
    facts.rows(quiet=True)
    sources = dict(part.split("=", 1) for part in facts.attrs["provenance"].split())
    files = {name: digest_of(os.fspath(options[name])) for name in FILES if options.get(name)}
    routing = str(options.get("routing") or "")
    if routing.startswith("file:"):
        files["routing"] = digest_of(routing[5:])
    return json.dumps({"kernbench_iterations": 1, "machine": machine.hash, "model": model,
                       "options": {name: str(value) for name, value in sorted(options.items()) if value is not None},
                       "files": files, "sources": {name: sources[name] for name in sorted(sources) if name != "command"}})


class Feed:
    """The command `llm`, which waits for iterations."""

    def __init__(self, machine: Machine, model: str, options: Dict[str, Any], tokens: int, requests: int):
        self.limits = ffi.new("kb_llm_limits *", {"tokens": tokens, "requests": requests})
        words = words_of("llm", [model], {"format": "csv", "quiet": True, **options})
        texts = [c_text(text) for text in words]
        array = ffi.new("char *[]", texts)
        request = ffi.new("kb_query_request *")
        request.topo, request.words, request.n_words = machine._topo, array, len(texts)
        request.limits = self.limits
        out = ffi.new("kb_query **")
        if lib.kb_query_new(request, out) != lib.KB_OK:
            raise MemoryError("no thread could be started")

        def free(query: Any, borrowed: Any = (machine, self.limits)) -> None:
            lib.kernbench_query_free(query)

        self.c = ffi.gc(out[0], free)
        if not lib.kernbench_need(out[0], machine._topo):
            raise MemoryError("kernbench_need")
        self.machine = machine
        self.answer = ffi.new("kb_llm_answer *")
        self.batch: Any = None
        self.wait()

    def wait(self) -> None:
        """Until it asks for the next one; meanwhile other threads run, and Ctrl-C works."""
        try:
            while not lib.kb_query_batch_wait(self.c, WAIT_MS, self.answer):
                if lib.kb_query_wait(self.c, 0):
                    self.failed()
        except BaseException:
            self.stop()
            raise

    def failed(self) -> None:
        code = lib.kb_query_code(self.c)
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        raise error(code, messages_of(self.c))

    def stop(self) -> None:
        lib.kb_query_stop(self.c)
        if not lib.kb_query_wait(self.c, STOP_MS):
            _left.append((ffi.gc(self.c, None), self.machine, self.limits, self.batch))

    def time(self, batch: Batch, only_attention: bool = False) -> int:
        """What an iteration takes, or attention of one layer alone on one rank, in fs."""
        columns = [np.array([one[0] for one in batch], np.int64), np.array([one[1] for one in batch], np.int64),
                   np.array([one[2] for one in batch], np.bool_)]
        c = ffi.new("kb_llm_batch *")
        c.n, c.only_attention = len(batch), only_attention
        c.q, c.kv = (ffi.from_buffer("int64_t[]", column) for column in columns[:2])
        c.has_head = ffi.from_buffer("_Bool[]", columns[2])
        self.batch = (c, columns)  # borrowed until it asks again
        lib.kb_query_batch_give(self.c, c)
        self.wait()
        return int(self.answer.fs)


def packed(batch: Batch) -> List[List[int]]:
    """Equal requests as one: [new tokens, tokens, does one follow, how many]."""
    return [[q, kv, int(head), len(list(group))] for (q, kv, head), group in groupby(batch)]


def unpacked(rows: List[List[int]]) -> Batch:
    return tuple((q, kv, bool(head)) for q, kv, head, n in rows for _ in range(n))


def checked(batch: Any) -> Batch:
    """The requests of an iteration, of whole numbers that they may have."""
    found = []
    for q, kv, head in batch:
        kv = whole("tokens", kv, 1, TOKENS_MOST)
        found.append((whole("new tokens", q, 1, kv), kv, bool(head)))
    if not found:
        raise BadArgument(2, ["an iteration has at least one request"])
    return tuple(found)


def json_of(line: str) -> Any:
    """None: the line was cut off, as its process was killed."""
    try:
        return json.loads(line)
    except ValueError:
        return None


class Iterations:
    """What iterations of a model take on a machine.

    machine   a Machine
    model     the name of a shipped model, or a config.json
    tokens    new tokens of an iteration, at most
    requests  requests of an iteration, at most
    kept      a file that has the times of iterations, and is given those that are new; None: none
    options   those of the command llm: tp=8, weights="i8", kv=, act=, page=16, tries=16, map="tiles.yaml"

    >>> its = kernbench.Iterations(kernbench.Machine("cube8"), "llama-3.2-1b", tries=1)
    >>> its.time([(40, 40, True), (1, 64, True)])      # fs of a prompt of 40 beside the 64th token of another
    """

    def __init__(self, machine: Machine, model: Any, *, tokens: int = 2048, requests: int = 256,
                 kept: Any = None, **options: Any):
        model = os.fspath(model)
        for name in ("batch", "prefill", "decode", "tokens", "chunk", "iterations", "graph", "map_out", "format",
                     "output", "vary", "sqlite", "shard", "dry_run"):
            if name in options:
                raise BadArgument(2, [f"{name} is not of a server's iterations"])
        self.machine, self.model = machine, model
        self.identity = identity_of(machine, model, options)
        self.times = known.setdefault(self.identity, {})
        self.kept = None if kept is None else os.fspath(kept)
        self.simulated = 0
        self._new: List[Batch] = []
        self._feed = Feed(machine, model, options, tokens, requests)
        self.room_bytes = int(self._feed.answer.room_bytes)    # of a rank, for keys and values
        self.token_bytes = int(self._feed.answer.token_bytes)  # of a rank and a token
        if self.kept is not None and os.path.exists(self.kept) and os.path.getsize(self.kept) > 0:
            self._read(self.kept)

    def time(self, batch: Any) -> int:
        """What an iteration takes, in whole fs: of each request (new tokens, tokens with these, does one follow)."""
        batch = batch if isinstance(batch, tuple) else tuple(map(tuple, batch))
        fs = self.times.get(batch)
        if fs is None:
            batch = checked(batch)
            fs = self.times[batch] = self._feed.time(batch)
            self.simulated += 1
            self._new.append(batch)
        return fs

    def attention(self, batch: Any) -> int:
        """What attention of one layer takes alone on one rank, in whole fs; not kept."""
        return self._feed.time(checked(batch), only_attention=True)

    def _read(self, path: str) -> None:
        try:
            with open(path, encoding="utf-8") as file:
                lines = file.read().splitlines()
            mine, other = json.loads(self.identity), json.loads(lines[0])
            differ = [name for name in mine if other.get(name) != mine[name]]
            if not differ:
                rows = [row for row in map(json_of, lines[1:]) if row is not None]
                self.times.update({unpacked(row["batch"]): int(row["fs"]) for row in rows})
        except (OSError, ValueError, IndexError, KeyError, TypeError, AttributeError) as e:
            raise BadInput(3, [f"{path} has no times of iterations: {e}"]) from None
        if differ:
            name = differ[0]
            raise BadInput(3, [f"{path}:1:1: its times are of another {name}: {text_of(other.get(name))}, "
                               f"and asked is {text_of(mine[name])}"])

    def keep(self) -> None:
        """Adds what is new to the file."""
        if self.kept is None:
            return
        if os.path.exists(self.kept):
            self._add(self.kept, self._new)
        else:  # under another name first: it is there with its first line, or not at all
            new = f"{self.kept}.{os.getpid()}"
            self._add(new, self.times)
            os.replace(new, self.kept)
        self._new.clear()

    def _add(self, path: str, batches: Iterable[Batch]) -> None:
        with open(path, "ab+") as file:
            lines = [json.dumps({"batch": packed(batch), "fs": self.times[batch]}) for batch in batches]
            if file.tell() == 0:
                lines.insert(0, self.identity)
            else:
                file.seek(-1, os.SEEK_END)
                if file.read() != b"\n":  # a line that was cut off stays alone
                    lines.insert(0, "")
            file.write("".join(line + "\n" for line in lines).encode())

    def __repr__(self) -> str:
        return f"<kernbench.Iterations of {self.model} on {self.machine.name} {self.machine.hash}: {len(self.times)} known>"


def text_of(value: Optional[Any]) -> str:
    return value if isinstance(value, str) else json.dumps(value)
