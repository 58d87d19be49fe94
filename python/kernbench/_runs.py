"""_runs.py -- what kernels in Python have in a command while it runs, apart from other commands with the same ones."""
from typing import Any, Dict, List, Optional

from ._native import ffi, lib


class Run:
    """The sessions of a command, and what the first function that failed has raised."""

    def __init__(self) -> None:
        self.sessions: List[Any] = []
        self.exception: Optional[BaseException] = None


_runs: Dict[int, Run] = {}  # by the address of the command's query


def _address(query: Any) -> int:
    return int(ffi.cast("uintptr_t", query))


def here() -> Run:
    """That of the command on whose thread this is called."""
    return _runs.setdefault(_address(lib.kb_query_here()), Run())


def stop(query: Any) -> None:
    """The command is to stop: functions that wait are told so, and one that computes is interrupted."""
    run = _runs.get(_address(query))
    for session in run.sessions if run else ():
        session.stop()


def ended(query: Any) -> Optional[BaseException]:
    """The command is over, or left to its thread: its threads end. Returns what one of its functions has raised."""
    run = _runs.pop(_address(query), None)
    if run is None:
        return None
    for session in run.sessions:
        session.end(lib.kb_query_wait(query, 0))
    return run.exception
