"""_result.py -- one run as frames: its rows, statistics, breakdown and op log."""
import csv
import json
import os
import tempfile
from typing import Any, Dict, List, Mapping, Optional

from ._inputs import given_as_files
from ._query import Query
from ._rows import pandas, rows_of
from ._types import Rows


class Result:
    """What one run has left: frames of the same origin, each with it in `attrs`.

    rows       a row for each launch, transaction or rate
    stats      a row for each station: how busy it was, and its queue
    breakdown  where the time went
    oplog      of kernels: every operation, with its times; else None
    """

    def __init__(self, rows: Rows, stats: Rows, breakdown: Rows, oplog: Optional[Rows], origin: Dict[str, Any]):
        self.rows, self.stats, self.breakdown, self.oplog = rows, stats, breakdown, oplog
        self.origin = origin  # machine (topology, hash, config), version, command and seed

    def __repr__(self) -> str:
        names = ("rows", "stats", "breakdown", "oplog")
        shown = ", ".join(f"{name}: {len(getattr(self, name))}" for name in names if getattr(self, name) is not None)
        return f"<kernbench.Result {self.origin['hash']} {shown}>"


def read_stats(path: str, attrs: Mapping[str, Any]) -> Rows:
    """The CSV of --stats, in the types that it has."""
    with open(path, newline="") as file:
        lines = list(csv.reader(file))
    columns = {name: [cell(line[i]) for line in lines[1:]] for i, name in enumerate(lines[0])}
    return rows_of(columns, dict(attrs))


def cell(text: str) -> Any:
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        return text or None


def read_oplog(path: str, attrs: Mapping[str, Any]) -> Rows:
    """The lines of --oplog behind the first, which is their head."""
    with open(path, encoding="utf-8") as file:
        head = json.loads(file.readline())
        lines = [json.loads(line) for line in file]
    names: List[str] = list(dict.fromkeys(name for line in lines for name in line))
    return rows_of({name: [line.get(name) for line in lines] for name in names}, {**attrs, "head": head})


def result_of(commands: Any, what: Any, arguments: Mapping[str, Any]) -> Result:
    """Runs it with --stats and, of a bench, --oplog; and once more for the breakdown."""
    command, operands, frame, options = commands._asked(what, arguments, "run", "replay")
    with given_as_files(options.pop("inputs", None)) as words, tempfile.TemporaryDirectory() as folder:
        operands = [*operands, *words]
        stats, oplog = os.path.join(folder, "stats.csv"), os.path.join(folder, "ops.jsonl")
        more = {"oplog": oplog} if command == "run" else {}
        query = commands._query(command, operands, frame, stats=stats, **more, **options)
        rows = query.rows(bool(options.get("quiet")))
        rest = {name: value for name, value in query.attrs.items() if name not in ("notes", "columns")}
        breakdown = commands._rows(command, operands, frame, **{**options, "breakdown": True, "quiet": True})
        return Result(rows, read_stats(stats, rest), breakdown, read_oplog(oplog, rest) if more else None,
                      rest["origin"])
