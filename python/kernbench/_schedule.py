"""_schedule.py -- which tokens of which requests a server computes next: continuous batching.

A step is one iteration of the model. Running requests are first, in the order in which they were let
in: one that generates takes one token, one whose prompt is not computed yet a piece of it, as much as
is left of the step's tokens, and at most `chunk`. Keys and values are kept in blocks of `page`
tokens. Where a request needs a block more and none is free, the last that runs is put back to the
head of the queue: its blocks are given back, and its prompt and what it has generated are computed
again. If none was put back, waiting requests follow in order of arrival, while there are seats,
tokens, and blocks for their piece.

Example: 4 tokens a step, 2 blocks of 4 tokens. A has a prompt of 3 and generates 3, B the same; both
come at 0. Step 1: A 3 tokens, B 1 of its 3. Step 2: A's second token makes 4 in its block; B 2 more.
Step 3: A needs a block, B is put back; A ends. Step 4: B computes 3 + 1 tokens again, and has its
second token from them.
"""
from collections import deque
from typing import Callable, Deque, Dict, Iterable, List, NamedTuple, Optional, Tuple

from ._trace import Request

Batch = Tuple[Tuple[int, int, bool], ...]  # of each request: new tokens, tokens with these, does one follow


class Limits(NamedTuple):
    """What a step may have, and where keys and values lie."""

    seqs: int     # requests at once
    tokens: int   # of a step
    chunk: int    # of a prompt in a step
    blocks: int
    page: int


class Served:
    """A request on its way."""

    __slots__ = ("of", "computed", "wanted", "blocks", "generated", "first_fs", "end_fs", "put_back")

    def __init__(self, of: Request):
        self.of = of
        self.computed = 0          # tokens that have keys and values
        self.wanted = of.prompt    # that must have them before the next token comes
        self.blocks = 0
        self.generated = 0
        self.first_fs: Optional[int] = None
        self.end_fs: Optional[int] = None
        self.put_back = 0


class Step(NamedTuple):
    """An iteration: when it began, what it took, and of what it was."""

    begin_fs: int
    fs: int
    batch: Batch
    running: int
    waiting: int   # that have come
    put_back: int
    blocks: int    # in use


class Scheduler:
    """The queues and blocks of a server."""

    def __init__(self, requests: Iterable[Request], limits: Limits):
        self.limits = limits
        self.all = [Served(request) for request in requests]
        self.to_come: Deque[Served] = deque(self.all)
        self.waiting: Deque[Served] = deque()
        self.running: List[Served] = []
        self.free = limits.blocks
        self.shapes: Dict[Tuple[int, int, bool], Tuple[int, int, bool]] = {}

    def arrive(self, now_fs: int) -> None:
        while self.to_come and self.to_come[0].of.arrived_fs <= now_fs:
            self.waiting.append(self.to_come.popleft())

    def blocks_more(self, one: Served, n: int) -> int:
        """Blocks that n tokens more need."""
        return -(-(one.computed + n) // self.limits.page) - one.blocks

    def piece(self, one: Served, left: int) -> int:
        return min(one.wanted - one.computed, left, self.limits.chunk)

    def take(self, one: Served, n: int) -> None:
        more = self.blocks_more(one, n)
        one.blocks += more
        self.free -= more

    def put_back(self, one: Served) -> None:
        self.free += one.blocks
        one.blocks = one.computed = 0
        one.put_back += 1
        self.waiting.appendleft(one)

    def make_room(self, one: Served, n: int) -> int:
        """Puts back the last that run until there are blocks for n tokens of this one, or it is itself put
        back. Returns how many were."""
        count = 0
        while self.blocks_more(one, n) > self.free:
            last = self.running.pop()
            self.put_back(last)
            count += 1
            if last is one:
                break
        return count

    def of_running(self) -> Tuple[List[Tuple[Served, int]], int, int]:
        """What those that run compute; the tokens that are left, and how many were put back."""
        taken, left, count, i = [], self.limits.tokens, 0, 0
        while i < len(self.running) and left > 0:
            one = self.running[i]
            n = self.piece(one, left)
            count += self.make_room(one, n)
            if i == len(self.running):  # it was itself put back
                break
            self.take(one, n)
            taken.append((one, n))
            left -= n
            i += 1
        return taken, left, count

    def of_waiting(self, left: int) -> List[Tuple[Served, int]]:
        taken = []
        while self.waiting and left > 0 and len(self.running) < self.limits.seqs:
            one = self.waiting[0]
            n = self.piece(one, left)
            if self.blocks_more(one, n) > self.free:
                break
            self.running.append(self.waiting.popleft())
            self.take(one, n)
            taken.append((one, n))
            left -= n
        return taken

    def choose(self) -> Tuple[List[Tuple[Served, int]], int]:
        """Requests of the next step with their new tokens, and how many were put back."""
        taken, left, count = self.of_running()
        if count == 0:
            taken += self.of_waiting(left)
        return taken, count

    def finish(self, taken: List[Tuple[Served, int]], now_fs: int) -> None:
        """A step has ended: a token for each request of which all is computed."""
        ended = False
        for one, n in taken:
            one.computed += n
            if one.computed < one.wanted:
                continue
            one.generated += 1
            one.wanted += 1
            if one.first_fs is None:
                one.first_fs = now_fs
            if one.generated == one.of.tokens:
                one.end_fs = now_fs
                self.free += one.blocks
                ended = True
        if ended:
            self.running = [one for one in self.running if one.end_fs is None]

    def batch_of(self, taken: List[Tuple[Served, int]]) -> Batch:
        """The iteration, the longest first, so that equal ones are equal: one new token reads whole pages."""
        page = self.limits.page
        shapes = []
        for one, n in taken:
            kv = one.computed + n
            shape = (n, -(-kv // page) * page if n == 1 else kv, kv == one.wanted)
            shapes.append(self.shapes.setdefault(shape, shape))  # kept once: iterations by the thousand have few
        return tuple(sorted(shapes, reverse=True))


def run(scheduler: Scheduler, time_of: Callable[[Batch], int],
        each: Callable[[Step], None]) -> None:
    """All steps, one after the other; the next begins as one ends, or when a request comes."""
    now_fs = 0
    while scheduler.to_come or scheduler.waiting or scheduler.running:
        if not scheduler.waiting and not scheduler.running:
            now_fs = max(now_fs, scheduler.to_come[0].of.arrived_fs)
        scheduler.arrive(now_fs)
        taken, count = scheduler.choose()
        batch = scheduler.batch_of(taken)
        fs = time_of(batch)
        each(Step(now_fs, fs, batch, len(scheduler.running), len(scheduler.waiting), count,
                  scheduler.limits.blocks - scheduler.free))
        now_fs += fs
        scheduler.finish(taken, now_fs)
