"""judge_serve.py -- the scheduler of a server, obvious and slow: every token and every block is a thing of its own.

Written from the rules alone, shares nothing with python/kernbench. A block is a number in a pool, a token
is a place in a block. The rules:

  each step: those that run, in order of admission, take 1 token, or of a prompt what is left of it, of the
  step's tokens, or `chunk`; if a block more is needed and none is free, the last that runs goes to the head of
  the queue, its blocks are free, its prompt and output so far are to be computed again. Then, if none went
  back, those that wait, by arrival and row, while seats, tokens and blocks for their piece are there. The next
  step begins at the end of this one, or at the next arrival.
"""


def blocks_for(n_tokens, page):
    count = 0
    while count * page < n_tokens:
        count += 1
    return count


def serve(trace, seqs, budget, chunk, n_blocks, page, time_of):
    """trace: (arrived_fs, prompt, output) by row. Returns rows (first, end, put_back) and steps (begin, batch)."""
    pool = set(range(n_blocks))
    state = [dict(row=row, arrived=a, text=["p"] * p, prompt=p, output=o, kept=0, blocks=[], tokens=[], back=0)
             for row, (a, p, o) in enumerate(trace)]
    not_come, queue, running, steps, now = list(state), [], [], [], 0

    def places(one):
        return len(one["blocks"]) * page

    def grow(one, n):
        while places(one) < one["kept"] + n:
            one["blocks"].append(pool.pop())

    while not_come or queue or running:
        if not queue and not running:
            now = max(now, min(one["arrived"] for one in not_come))
        for one in sorted(not_come, key=lambda one: (one["arrived"], one["row"])):
            if one["arrived"] <= now:
                queue.append(one)
                not_come.remove(one)
        left, went_back, pieces = budget, False, []
        for one in list(running):
            if one not in running or left == 0:
                continue
            n = min(len(one["text"]) - one["kept"], left, chunk)
            while one in running and blocks_for(one["kept"] + n, page) - len(one["blocks"]) > len(pool):
                last = running[-1]
                running.remove(last)
                pool |= set(last["blocks"])
                last["blocks"], last["kept"] = [], 0
                last["back"] += 1
                queue.insert(0, last)
                went_back = True
            if one in running:
                grow(one, n)
                pieces.append((one, n))
                left -= n
        while not went_back and queue and len(running) < seqs and left > 0:
            one = queue[0]
            n = min(len(one["text"]), left, chunk)
            if blocks_for(n, page) > len(pool):
                break
            queue.pop(0)
            running.append(one)
            grow(one, n)
            pieces.append((one, n))
            left -= n
        batch = []
        for one, n in pieces:
            one["kept"] += n
            kv = one["kept"]
            if n == 1:  # it reads whole pages
                kv = blocks_for(kv, page) * page
            batch.append((n, kv, one["kept"] == len(one["text"])))
        batch = tuple(sorted(batch)[::-1])
        assert len(pool) + sum(len(one["blocks"]) for one in state) == n_blocks
        steps.append((now, batch))
        now += time_of(batch)
        for one, n in pieces:
            if one["kept"] == len(one["text"]):
                one["text"].append("o")
                one["tokens"].append(now)
            if len(one["tokens"]) == one["output"]:
                pool |= set(one["blocks"])
                one["blocks"] = []
                running.remove(one)
    return [(one["tokens"][0], one["tokens"][-1], one["back"]) for one in state], steps
