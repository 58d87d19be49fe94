"""_tables.py -- tables of operations for simulators of serving that take what GPUs were measured to take.

Formats (facts of them only, as read in the originals):
  LLMServingSim  casys-kaist/LLMServingSim, docs/docs/profiler/output-bundle.md and _load_perf_db() of
                 serving/core/trace_generator.py: CSVs by category in tp<N>/, in microseconds, meta.yaml beside
                 them. "Anything that lands here in the right format is consumable".
  Vidur          microsoft/vidur, vidur/execution_time_predictor/sklearn_execution_time_predictor.py: rows of
                 mlp.csv, attention.csv and all_reduce.csv are chosen by the shape of the model, in
                 milliseconds, and only medians are read.

Operations come from iterations of equal requests, one for each number of tokens; attention is simulated
alone on one rank for each point of its grid.
"""
import os
import re
import tempfile
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple

from ._errors import BadArgument, error, whole
from ._iterations import Iterations
from ._machine import Machine
from ._rows import pandas
from ._trace import TOKENS_MOST

Row = Dict[str, Any]
Point = Tuple[int, int, int, int]  # of attention: new tokens of a prompt, those before, requests that generate, their tokens

DENSE = {"embedding": "embed", "layernorm": "norm1", "qkv_proj": "qkv", "qk_norm": "qk_norm", "rotary_emb": "rope",
         "o_proj": "o", "gate_up_proj": "gate_up", "act_fn": "act", "down_proj": "down", "final_layernorm": "norm"}
OF_TP_1 = ("layernorm", "final_layernorm", "sampler")  # are the same in every tp<N>/
MLP = {"emb": "embed", "input_layernorm": "norm1", "attn_pre_proj": "qkv", "attn_rope": "rope", "attn_post_proj": "o",
       "post_attention_layernorm": "norm2", "mlp_up_proj": "gate_up", "mlp_act": "act", "mlp_down_proj": "down"}
STATISTICS = ("min", "max", "mean", "median", "std")
KV_BEFORE = 16  # tokens of the requests that operations other than attention are of


def doubling(first: int, last: int) -> List[int]:
    return [first << i for i in range(64) if first << i <= last]


class Model:
    """The extents of a model, from its graph on one rank."""

    def __init__(self, machine: Machine, model: str, options: Dict[str, Any]):
        with tempfile.TemporaryDirectory(prefix="kernbench.") as folder:
            path = os.path.join(folder, "graph.yaml")
            machine.llm(model, decode=KV_BEFORE, tp=1, graph=path, tries=1, quiet=True,
                        **{name: value for name, value in options.items() if name in ("weights", "act", "kv")})
            with open(path, encoding="utf-8") as file:
                nodes = dict(re.findall(r"^- \{id: (\w+), (.*)\}$", file.read(), flags=re.M))
        if "gate" in nodes or "gate_up" not in nodes:
            raise BadArgument(2, [f"{model}: tables are of models with a gated MLP, and without experts"])

        def number(node: str, name: str) -> int:
            found = re.search(rf"\b{name}: (\d+)", nodes[node])
            assert found, (node, name)
            return int(found[1])

        self.hidden, self.vocab = number("embed", "width"), number("embed", "table")
        self.heads, self.kv_heads = number("attention", "heads"), number("attention", "kv_heads")
        self.inter = number("down", "k")


def operations(machine: Machine, model: str, tp: int, tokens: Sequence[int], options: Dict[str, Any]) -> Dict[int, Dict[str, float]]:
    """What each operation takes, in us, by tokens: of so many requests with one new token each."""
    with tempfile.TemporaryDirectory(prefix="kernbench.") as folder:
        path = os.path.join(folder, "iterations.csv")
        with open(path, "w", encoding="utf-8") as file:
            file.write("iteration,request,q,kv\n")
            file.writelines(f"{n},{i},1,{KV_BEFORE}\n" for n in tokens for i in range(n))
        rows = machine.llm(model, iterations=path, tp=tp, quiet=True, **options)
    found: Dict[int, Dict[str, float]] = {}
    for phase, op, us in zip(rows["phase"], rows["op"], rows["us"]):
        found.setdefault(int(str(phase).split()[1]), {}).setdefault(op, float(us))  # the first: `head` is a sum, too
    return found


class Attention:
    """Attention of one layer, alone on one rank."""

    def __init__(self, machine: Machine, model: str, tp: int, most: int, options: Dict[str, Any]):
        self.its = Iterations(machine, model, tokens=most, requests=most, tp=tp, **options)

    def us(self, point: Point) -> float:
        chunk, before, n, kv = point
        batch = ((chunk, before + chunk, True),) * (chunk > 0) + ((1, kv + 1, True),) * n
        return self.its.attention(batch) / 1e9


def points(chunks: Sequence[int], decodes: Sequence[int], kvs: Sequence[int], most: int) -> Iterable[Point]:
    """The grid: kv is 0 where there is nothing that has it."""
    for chunk in chunks:
        for n in decodes:
            if 0 < chunk + n <= most:
                for before in kvs if chunk else [0]:
                    for kv in [kv for kv in kvs if kv] if n else [0]:
                        yield chunk, before, n, kv


def write_csv(folder: str, name: str, rows: List[Row]) -> None:
    os.makedirs(folder, exist_ok=True)
    pandas.DataFrame(rows).to_csv(os.path.join(folder, name), index=False, float_format="%.9f")


def numbers(name: str, values: Optional[Sequence[int]], default: List[int], least: int, most: int) -> List[int]:
    """Each once, the smallest first."""
    found = sorted({whole(name, value, least, most) for value in (default if values is None else values)})
    if not found:
        raise BadArgument(2, [f"{name} has no number"])
    return found


class Grid:
    """Which numbers of tokens, and which points of attention."""

    def __init__(self, tokens: Optional[Sequence[int]], chunks: Optional[Sequence[int]], decodes: Optional[Sequence[int]],
                 kvs: Optional[Sequence[int]], max_num_batched_tokens: int, max_num_seqs: int):
        self.most = whole("max_num_batched_tokens", max_num_batched_tokens, 1, 65536)
        self.seqs = whole("max_num_seqs", max_num_seqs, 1, 65536)
        self.tokens = numbers("tokens", tokens, doubling(1, self.most), 1, 65536)
        self.chunks = numbers("chunks", chunks, [0] + doubling(16, self.most), 0, self.most)
        self.decodes = numbers("decodes", decodes, [0] + doubling(1, self.seqs), 0, self.most)
        self.kvs = numbers("kvs", kvs, [0] + doubling(16, 16384), 0, TOKENS_MOST - self.most)
        if not any(self.points()):
            raise BadArgument(2, ["chunks, decodes and kvs have no point of attention in common"])

    def points(self) -> Iterable[Point]:
        return points(self.chunks, self.decodes, self.kvs, self.most)


def llmservingsim(machine: Machine, model: str, folder: str, tps: Sequence[int], grid: Grid, options: Dict[str, Any],
                  hardware: str, name: str) -> None:
    Model(machine, model, options)
    at_one = operations(machine, model, 1, grid.tokens, options)
    for tp in tps:
        took = at_one if tp == 1 else operations(machine, model, tp, grid.tokens, options)
        inside = os.path.join(folder, f"tp{tp}")
        write_csv(inside, "dense.csv", [
            {"layer": layer, "tokens": n, "time_us": (at_one if layer in OF_TP_1 else took)[n][op]}
            for layer, op in DENSE.items() for n in grid.tokens if op in took[n]])
        sequences = [n for n in grid.tokens if n <= grid.seqs]
        write_csv(inside, "per_sequence.csv",
                  [{"layer": "lm_head", "sequences": n, "time_us": took[n]["head"]} for n in sequences] +
                  [{"layer": "sampler", "sequences": n, "time_us": at_one[n]["topk"] + at_one[n].get("all_gather", 0)} for n in sequences])
        attention = Attention(machine, model, tp, grid.most + grid.seqs, options)
        write_csv(inside, "attention.csv", [
            {"prefill_chunk": p[0], "kv_prefill": p[1], "n_decode": p[2], "kv_decode": p[3], "time_us": attention.us(p)}
            for p in grid.points()])
    with open(os.path.join(folder, "meta.yaml"), "w", encoding="utf-8") as file:
        file.write(f"profiler_version: kernbench\nvllm_version: n/a\ngpu: {machine.name} {machine.hash}\nhardware: {hardware}\n"
                   f"model: {name}\nvariant: {os.path.basename(os.path.normpath(folder))}\ntp_degrees: [{', '.join(map(str, tps))}]\n"
                   f"profiled_at: simulated\nengine_effective:\n  max_num_batched_tokens: {grid.most}\n  max_num_seqs: {grid.seqs}\n")


def statistics(name: str, ms: Optional[float]) -> Row:
    """Five equal ones, as a simulation has no spread; None: empty."""
    return {f"time_stats.{name}.{what}": None if ms is None else 0.0 if what == "std" else ms for what in STATISTICS}


def vidur(machine: Machine, model: str, folder: str, tps: Sequence[int], grid: Grid, options: Dict[str, Any],
          vocab: Optional[int]) -> None:
    extents = Model(machine, model, options)
    page = int(options.get("page") or 16)
    mlp: List[Row] = []
    attention: List[Row] = []
    reduce: List[Row] = []
    for tp in tps:
        took = operations(machine, model, tp, grid.tokens, options)
        for n in grid.tokens:
            row: Row = {}
            for name, op in MLP.items():
                row.update(statistics(name, took[n][op] / 1000))
            row.update(statistics("add", 0.0))  # the norms add what was left
            mlp.append({**row, "n_head": extents.heads, "n_kv_head": extents.kv_heads, "n_embd": extents.hidden,
                        "n_expanded_embd": extents.inter, "vocab_size": vocab or extents.vocab, "use_gated_mlp": True,
                        "num_tokens": n, "num_tensor_parallel_workers": tp})
            if tp > 1:
                reduce.append({**statistics("all_reduce", took[n]["all_reduce1"] / 1000), "rank": 0, "num_workers": tp,
                               "size": 2 * n * extents.hidden, "collective": "all_reduce", "devices_per_node": tp,
                               "max_devices_per_node": tp})
        alone = Attention(machine, model, tp, grid.most + grid.seqs, options)
        for p in grid.points():
            if p[0] and p[2]:  # Vidur's are of one kind
                continue
            ms = alone.us(p) / 1000
            attention.append({**statistics("attn_prefill", ms if p[0] else None), **statistics("attn_decode", None if p[0] else ms),
                              **statistics("attn_kv_cache_save", 0.0),  # rope stores them
                              "n_embd": extents.hidden, "n_q_head": extents.heads, "n_kv_head": extents.kv_heads, "block_size": page,
                              "num_tensor_parallel_workers": tp, "max_model_len": max(grid.kvs) + grid.most, "batch_size": p[2] or 1,
                              "prefill_chunk_size": p[0], "kv_cache_size": p[1] if p[0] else p[3], "is_prefill": p[0] > 0,
                              "attention_backend": "kernbench"})
    write_csv(folder, "mlp.csv", mlp)
    write_csv(folder, "attention.csv", attention)
    if reduce:
        pandas.DataFrame(reduce).to_csv(os.path.join(folder, "all_reduce.csv"), float_format="%.9f")  # begins with an index


def tables(machine: Machine, model: Any, of: str, folder: Any, *, tp: Any = 1, tokens: Optional[Sequence[int]] = None,
           chunks: Optional[Sequence[int]] = None, decodes: Optional[Sequence[int]] = None, kvs: Optional[Sequence[int]] = None,
           max_num_batched_tokens: int = 2048, max_num_seqs: int = 256, vocab: Optional[int] = None,
           hardware: Optional[str] = None, name: Optional[str] = None, **options: Any) -> None:
    """Tables of a model's operations on a machine, as LLMServingSim or Vidur read them.

    of       "llmservingsim": tp<N>/dense.csv, per_sequence.csv, attention.csv and meta.yaml, in us;
             "vidur": mlp.csv, attention.csv and, with tp above 1, all_reduce.csv, in ms
    folder   where to: profiler/perf/MINE/meta-llama/Llama-3.1-8B/bf16, or data/profiling/compute/mine/...
    tp       ranks, a number or a list
    tokens, chunks, decodes, kvs  the grids: new tokens, those of a prompt, requests that generate, tokens before;
             default: doubling, up to max_num_batched_tokens, max_num_seqs and 16384
    vocab    of Vidur, which pads it
    hardware, name  that meta.yaml has; default: those of the machine and the model
    options  those of the command llm: weights="i8", tries=16

    >>> kernbench.tables(m, "llama-3.1-8b", "llmservingsim", "perf/MINE/meta-llama/Llama-3.1-8B/bf16", tp=[1, 8])
    """
    if pandas is None:
        raise error(2, ["tables need pandas"])
    tps = [whole("tp", one, 1, 65536) for one in (tp if isinstance(tp, Iterable) else [tp])]
    grid = Grid(tokens, chunks, decodes, kvs, max_num_batched_tokens, max_num_seqs)
    makers: Dict[str, Callable[[], None]] = {
        "llmservingsim": lambda: llmservingsim(machine, os.fspath(model), os.fspath(folder), tps, grid, options,
                                               hardware or machine.name, name or os.fspath(model)),
        "vidur": lambda: vidur(machine, os.fspath(model), os.fspath(folder), tps, grid, options, vocab)}
    if of not in makers:
        raise BadArgument(2, [f"tables are of {' or '.join(makers)}, not of '{of}'"])
    makers[of]()
