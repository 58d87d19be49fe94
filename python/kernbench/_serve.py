"""_serve.py -- a server of a language model on a machine: a trace of requests, continuous batching."""
from typing import Any, Dict, List, Optional

import numpy as np

from ._errors import BadArgument, whole
from ._iterations import Iterations
from ._machine import Machine
from ._rows import rows_of
from ._schedule import Limits, Scheduler, Served, Step, run
from ._trace import in_ms, percentile, read_trace
from ._types import Rows

PERCENTILES = (("p50", 500), ("p90", 900), ("p95", 950), ("p99", 990))
MEANINGS = {
    "request": ("", "row of the trace, from 0"),
    "arrived_ms": ("ms", "when it came"),
    "ttft_ms": ("ms", "from its arrival to the end of the iteration that ends its prompt"),
    "tpot_ms": ("ms", "from the first token to the last, over the tokens behind the first; empty: there is one"),
    "end_ms": ("ms", "end of the iteration of its last token"),
    "prompt_tokens": ("", "tokens of the prompt"),
    "output_tokens": ("", "tokens that were generated"),
    "put_back": ("", "how often it was put back to the queue, for want of blocks"),
    "iteration": ("", "number, from 0"),
    "begin_ms": ("ms", "when it began"),
    "ms": ("ms", "what it took"),
    "requests": ("", "requests that computed tokens in it"),
    "tokens": ("", "new tokens of all of them"),
    "generated": ("", "requests that a token followed for"),
    "running": ("", "requests that had a seat"),
    "waiting": ("", "requests that had come, and had none"),
    "blocks": ("", "blocks of keys and values in use"),
    "of": ("", "what the percentiles are of"),
}


def described(columns: Dict[str, Any], attrs: Dict[str, Any]) -> Any:
    meanings = {name: {"unit": unit, "group": "serving", "meaning": meaning}
                for name, (unit, meaning) in MEANINGS.items() if name in columns}
    return rows_of(columns, {**attrs, "columns": meanings})


class Serving:
    """What serve() has found.

    requests    a row for each request: when it came, ttft, tpot and end, in ms
    iterations  a row for each iteration, in order
    percentiles ttft, tpot and end to end: mean, p50, p90, p95, p99 and max, in ms
    totals      a dict: seconds from the first arrival to the last end, requests and tokens per second,
                blocks, iterations, and how many of them were simulated
    """

    def __init__(self, served: List[Served], steps: List[Step], attrs: Dict[str, Any], totals: Dict[str, Any]):
        self._served = served
        self._steps = steps
        self.attrs = attrs
        self.totals = totals
        self.requests: Rows = self._requests()
        self.iterations: Rows = self._iterations()
        self.percentiles: Rows = self._percentiles()

    def _requests(self) -> Any:
        return described({
            "request": np.array([one.of.row for one in self._served]),
            "arrived_ms": in_ms([one.of.arrived_fs for one in self._served]),
            "ttft_ms": in_ms([ttft_fs(one) for one in self._served]),
            "tpot_ms": in_ms([tpot_fs(one) for one in self._served]),
            "end_ms": in_ms([one.end_fs for one in self._served]),
            "prompt_tokens": np.array([one.of.prompt for one in self._served]),
            "output_tokens": np.array([one.generated for one in self._served]),
            "put_back": np.array([one.put_back for one in self._served])}, self.attrs)

    def _iterations(self) -> Any:
        steps = self._steps
        return described({
            "iteration": np.arange(len(steps)),
            "begin_ms": in_ms([step.begin_fs for step in steps]),
            "ms": in_ms([step.fs for step in steps]),
            "requests": np.array([len(step.batch) for step in steps]),
            "tokens": np.array([sum(one[0] for one in step.batch) for step in steps]),
            "generated": np.array([sum(one[2] for one in step.batch) for step in steps]),
            "running": np.array([step.running for step in steps]),
            "waiting": np.array([step.waiting for step in steps]),
            "put_back": np.array([step.put_back for step in steps]),
            "blocks": np.array([step.blocks for step in steps])}, self.attrs)

    def _percentiles(self) -> Any:
        columns: Dict[str, List[Any]] = {"of": []}
        times: Dict[str, List[Optional[int]]] = {
            "ttft_ms": [ttft_fs(one) for one in self._served],
            "tpot_ms": [tpot_fs(one) for one in self._served],
            "e2e_ms": [None if one.end_fs is None else one.end_fs - one.of.arrived_fs for one in self._served]}
        for name, found in times.items():
            values = [value for value in found if value is not None]
            columns["of"].append(name)
            columns.setdefault("mean", []).append(sum(values) / len(values) / 1e12 if values else np.nan)
            for column, per_mille in PERCENTILES + (("max", 1000),):
                columns.setdefault(column, []).append(percentile(values, per_mille) / 1e12 if values else np.nan)
        return described({name: np.array(values, object if name == "of" else float) for name, values in columns.items()},
                         self.attrs)

    def __repr__(self) -> str:
        t = self.totals
        return (f"<kernbench.Serving {t['requests']} requests in {t['seconds']:.6g} s: "
                f"{t['tokens_per_s']:.6g} tokens/s, {t['iterations']} iterations, {t['simulated']} simulated>")


def ttft_fs(one: Served) -> Optional[int]:
    return None if one.first_fs is None else one.first_fs - one.of.arrived_fs


def tpot_fs(one: Served) -> Optional[int]:
    """Rounded half away; None: there is one token."""
    if one.first_fs is None or one.end_fs is None or one.of.tokens < 2:
        return None
    took, n = one.end_fs - one.first_fs, one.of.tokens - 1
    return (2 * took + n) // (2 * n)


def serve(machine: Machine, model: Any, trace: Any, *, max_num_seqs: int = 256, max_num_batched_tokens: int = 2048,
          chunk: Optional[int] = None, page: int = 16, blocks: Optional[int] = None, kept: Any = None,
          **options: Any) -> Serving:
    """Serves the requests of a trace, each iteration simulated, by the scheduler of vLLM (fcfs).

    machine                 a Machine
    model                   the name of a shipped model, or a config.json
    trace                   a CSV, a DataFrame or a dict of columns with arrived_at (seconds, in order),
                            num_prefill_tokens, num_decode_tokens, a row for each request
    max_num_seqs            requests at once
    max_num_batched_tokens  new tokens of an iteration
    chunk                   tokens of a prompt in an iteration (default: as many as there is room for)
    page                    tokens of a block of keys and values
    blocks                  of them (default: what weights and activations leave of a rank's memory)
    kept                    a file that keeps what iterations take, for the next time
    options                 those of the command llm: tp=8, weights="i8", tries=16, map="tiles.yaml"

    Iterations that are equal are simulated once. The same trace has the same digits.

    >>> s = kernbench.serve(m, "llama-3.2-1b", "trace.csv", tries=4)
    >>> s.percentiles, s.totals["tokens_per_s"], s.requests.nlargest(3, "ttft_ms")
    """
    if not isinstance(machine, Machine):
        raise TypeError(f"serve() takes a Machine, not {type(machine).__name__}")
    seqs = whole("max_num_seqs", max_num_seqs, 1, 65536)
    tokens = whole("max_num_batched_tokens", max_num_batched_tokens, 1, 1 << 20)
    page = whole("page", page, 1, 1024)
    its = Iterations(machine, model, tokens=tokens, requests=seqs, kept=kept, page=page, **options)
    there = its.room_bytes // (page * its.token_bytes)
    if there < 1:
        raise BadArgument(2, [f"a block of {page} tokens takes {page * its.token_bytes} bytes of a rank, and "
                              f"weights and activations leave {its.room_bytes}"])
    limits = Limits(seqs, tokens, tokens if chunk is None else whole("chunk", chunk, 1, 1 << 20),
                    there if blocks is None else whole("blocks", blocks, 1, there), page)
    return served_by(its, limits, trace)


def served_by(its: Iterations, limits: Limits, trace: Any) -> Serving:
    requests = read_trace(trace, limits.blocks, limits.page)
    scheduler = Scheduler(requests, limits)
    steps: List[Step] = []
    before = its.simulated
    try:
        run(scheduler, its.time, steps.append)
    finally:
        its.keep()
    end_fs = max(one.end_fs or 0 for one in scheduler.all)
    seconds = (end_fs - requests[0].arrived_fs) / 1e15
    tokens = sum(request.tokens for request in requests)
    totals = {"requests": len(requests), "seconds": seconds, "requests_per_s": len(requests) / seconds,
              "tokens": tokens, "tokens_per_s": tokens / seconds, "blocks": limits.blocks,
              "iterations": len(steps), "simulated": its.simulated - before}
    attrs = {"kernbench": f"serve {its.model}", "origin": {"topology": its.machine.name, "hash": its.machine.hash,
             "config": its.machine.config}, "identity": its.identity, "limits": limits._asdict()}
    return Serving(scheduler.all, steps, attrs, totals)
