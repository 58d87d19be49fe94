"""test_serve.py -- a server's trace by hand, beside an obvious scheduler, and what is kept of iterations."""
import json
import random
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import judge_serve
import kernbench
from conftest import command
from kernbench._schedule import Limits, Scheduler, run
from kernbench._trace import read_trace

MODEL = "llama-3.2-1b"  # the smallest that is shipped
HEADER = "arrived_at,num_prefill_tokens,num_decode_tokens\n"

# -- by hand --------------------------------------------------------------------------------------

# Four seats, 32 tokens a step, blocks of 16. Ten requests: prompt and output.
TEN = [(20, 3), (20, 1), (8, 2), (5, 4), (5, 1), (40, 2), (1, 3), (16, 1), (10, 2), (33, 1)]
# All come at 0, but the last two: long after the others have ended, and together.
LATE_S = "0.02"
# Steps: of each request (row, new tokens, tokens with these, does one follow). The last column is what
# the scheduler makes of it: one new token reads whole pages.
STEPS = [
    [(0, 20, 20, 1), (1, 12, 12, 0)],
    [(0, 1, 21, 1), (1, 8, 20, 1), (2, 8, 8, 1), (3, 5, 5, 1)],              # row 1 has its one token
    [(0, 1, 22, 1), (2, 1, 9, 1), (3, 1, 6, 1), (4, 5, 5, 1)],               # 0, 2 and 4 end
    [(3, 1, 7, 1), (5, 31, 31, 0)],                                          # the step is full
    [(3, 1, 8, 1), (5, 9, 40, 1), (6, 1, 1, 1), (7, 16, 16, 1)],             # 3 and 7 end
    [(5, 1, 41, 1), (6, 1, 2, 1)],                                           # 5 ends
    [(6, 1, 3, 1)],
    [(8, 10, 10, 1), (9, 22, 22, 0)],
    [(8, 1, 11, 1), (9, 11, 33, 1)],
]
FIRST = {0: 0, 1: 1, 2: 1, 3: 1, 4: 2, 5: 4, 6: 4, 7: 4, 8: 7, 9: 8}  # the step of the first token
LAST = {0: 2, 1: 1, 2: 2, 3: 4, 4: 2, 5: 5, 6: 6, 7: 4, 8: 8, 9: 8}


def trace_of(rows):
    return HEADER + "".join(f"{a},{p},{d}\n" for a, p, d in rows)


@pytest.fixture(scope="module")
def ten(tmp_path_factory):
    path = tmp_path_factory.mktemp("ten") / "trace.csv"
    path.write_text(trace_of([(LATE_S if row > 7 else 0, *one) for row, one in enumerate(TEN)]))
    return path


def iterations_csv(batches):
    return "iteration,request,q,kv,head\n" + "".join(
        f"{i},{k},{q},{kv},{int(head)}\n" for i, batch in enumerate(batches) for k, (q, kv, head) in enumerate(batch))


def whole_pages(step):
    return tuple(sorted(((n, (kv + 15) // 16 * 16 if n == 1 else kv, bool(head)) for _, n, kv, head in step), reverse=True))


@pytest.fixture(scope="module")
def took_us(tmp_path_factory):
    """What the program says of each step's iteration."""
    path = tmp_path_factory.mktemp("steps") / "iterations.csv"
    path.write_text(iterations_csv([whole_pages(step) for step in STEPS]))
    header, lines = command("llm", MODEL, "--iterations", path, "--tries", 1, "--quiet")
    return [float(line[header.index("us")]) for line in lines if line[header.index("op")] == "total"]


def test_ten_requests_by_hand(m, ten, took_us):
    s = kernbench.serve(m, MODEL, ten, max_num_seqs=4, max_num_batched_tokens=32, tries=1)
    assert [step.batch for step in s._steps] == [whole_pages(step) for step in STEPS]
    assert s.iterations.ms.tolist() == pytest.approx([us / 1000 for us in took_us], abs=1e-9)
    begin = [0.0]
    for us in took_us[:6]:
        begin.append(begin[-1] + us / 1000)
    begin += [20.0, 20.0 + took_us[7] / 1000]
    assert s.iterations.begin_ms.tolist() == pytest.approx(begin, abs=1e-8)
    end = [b + us / 1000 for b, us in zip(begin, took_us)]
    for row, (_, n) in enumerate(TEN):
        arrived = 20.0 if row > 7 else 0.0
        first, last = end[FIRST[row]], end[LAST[row]]
        got = s.requests.iloc[row]
        assert (got.arrived_ms, got.ttft_ms, got.end_ms) == pytest.approx((arrived, first - arrived, last), abs=1e-8)
        assert got.tpot_ms == pytest.approx((last - first) / (n - 1), abs=1e-8) if n > 1 else np.isnan(got.tpot_ms)
    assert s.iterations.tokens.tolist() == [32, 22, 8, 32, 27, 2, 1, 32, 12]
    assert s.iterations.generated.tolist() == [1, 4, 4, 1, 4, 2, 1, 1, 2]
    assert s.iterations.waiting.tolist() == [6, 4, 3, 2, 0, 0, 0, 0, 0]
    # blocks: 0 has 2, 1 has 1; 2 2 1 1; 2 1 1 1; 1 2; 1 3 1 1; 3 1; 1; 1 2; 1 3
    assert s.iterations.blocks.tolist() == [3, 6, 5, 3, 6, 4, 1, 3, 4]
    assert s.totals["tokens"] == 20 and s.totals["iterations"] == 9
    assert s.totals["seconds"] == pytest.approx(end[8] / 1000) and s.totals["tokens_per_s"] == pytest.approx(20 / (end[8] / 1000))


def test_percentiles_are_nearest_ranks(m, ten):
    s = kernbench.serve(m, MODEL, ten, max_num_seqs=4, max_num_batched_tokens=32, tries=1)
    ttft = sorted(s.requests.ttft_ms)
    row = s.percentiles.set_index("of").loc["ttft_ms"]
    assert [row["p50"], row["p90"], row["p95"], row["p99"], row["max"]] == [ttft[4], ttft[8], ttft[9], ttft[9], ttft[9]]
    assert row["mean"] == pytest.approx(sum(ttft) / 10)
    tpot = sorted(s.requests.tpot_ms.dropna())
    assert s.percentiles.set_index("of").loc["tpot_ms", "p50"] == tpot[2] and len(tpot) == 6


def test_the_same_trace_has_the_same_digits(m, ten):
    a, b = (kernbench.serve(m, MODEL, data, max_num_seqs=4, max_num_batched_tokens=32, tries=1)
            for data in (ten, pd.read_csv(ten)))
    for name in ("requests", "iterations", "percentiles"):
        pd.testing.assert_frame_equal(getattr(a, name), getattr(b, name))
    assert b.totals["simulated"] == 0  # known from the first


# -- beside the judge -----------------------------------------------------------------------------


def odd_time(batch):
    """Times that no two batches share, and that the order of arrivals depends on."""
    return sum(977 * q + 13 * kv + 5 * head + 31 for q, kv, head in batch)


@pytest.mark.parametrize("seed", range(300))
def test_the_scheduler_is_the_judge(seed):
    draw = random.Random(seed)
    page = draw.choice([1, 4, 16])
    most = draw.choice([6, 30, 100])
    rows, at = [], 0
    for _ in range(draw.randint(1, 40)):
        at += draw.choice([0, 0, draw.randint(0, 200_000)])
        rows.append((at, draw.randint(1, most), draw.choice([1, 2, draw.randint(1, most)])))
    needs = max(-(-(p + o - 1) // page) for _, p, o in rows)
    limits = Limits(draw.randint(1, 12), draw.choice([1, 5, 32, 2048]), draw.choice([1, 7, 2048]),
                    needs + draw.choice([0, 1, draw.randint(0, 60)]), page)
    data = {"arrived_at": [Decimal(a) / 10**15 for a, _, _ in rows], "num_prefill_tokens": [p for _, p, _ in rows],
            "num_decode_tokens": [o for _, _, o in rows]}
    scheduler = Scheduler(read_trace(data, limits.blocks, page), limits)
    steps = []
    run(scheduler, odd_time, steps.append)
    want, want_steps = judge_serve.serve(rows, *limits, odd_time)
    assert [(step.begin_fs, step.batch) for step in steps] == want_steps
    assert [(one.first_fs, one.end_fs, one.put_back) for one in scheduler.all] == want


def test_some_are_put_back():
    """The traces above would be worth little if none were."""
    backs = 0
    for seed in range(20):
        draw = random.Random(seed)
        rows = [(0, draw.randint(1, 30), draw.randint(1, 30)) for _ in range(20)]
        backs += sum(back for _, _, back in judge_serve.serve(rows, 8, 64, 64, 20, 4, odd_time)[0])
    assert backs > 100


# -- iterations -----------------------------------------------------------------------------------


def random_batches(draw, n):
    batches = []
    for i in range(n):
        of = draw.choice([2, 5])
        batch = [(1, 16 * draw.randint(1, 12), True) for _ in range(of)]
        if i % 3 == 2:  # a piece of a prompt beside them: 24 new tokens in all
            batch[0] = (25 - of, 25 - of + draw.randint(0, 200), draw.random() < 0.7)
        batches.append(tuple(sorted(batch, reverse=True)))
    return batches


# Small enough for all layers to be simulated.
TINY = {"model_type": "llama", "hidden_size": 256, "num_hidden_layers": 3, "num_attention_heads": 8, "num_key_value_heads": 8,
        "intermediate_size": 512, "vocab_size": 2048, "torch_dtype": "bfloat16"}
MACHINES = [("cube8", {}), ("cube8", {"contention.links": "ideal"}), ("cube8", {"software.launch_ns": 500}),
            ("cube8", {"cube.hbm.model": "banks"}), ("cube8", {"contention.links": "router"})]


@pytest.mark.parametrize("name, keys", MACHINES, ids=lambda value: str(value))
def test_what_is_added_up_is_what_all_layers_take(name, keys, tmp_path):
    """Iterations of a program have the digits of the command line's, whose layers are all simulated."""
    machine = kernbench.Machine(name, **keys)
    batches = random_batches(random.Random(name + str(keys)), 6)
    model = tmp_path / "config.json"
    model.write_text(json.dumps(TINY))
    path = tmp_path / "iterations.csv"
    path.write_text(iterations_csv(batches))
    rows = machine.llm(model, iterations=path, tries=1, no_repeat=True, quiet=True)
    its = kernbench.Iterations(machine, model, tries=1)
    got = [its.time(batch) for batch in batches]
    want = rows[rows.op == "total"].us.tolist()
    assert [fs / 1e9 for fs in got] == want
    assert its.simulated == len(set(batches))


def test_requests_that_are_alike_are_a_batch(m, tmp_path):
    path = tmp_path / "alike.csv"
    path.write_text(iterations_csv([[(1, 64, True)] * 4, [(40, 40, True)] * 2, [(24, 64, True)]]))
    rows = m.llm(MODEL, iterations=path, tries=1, quiet=True)
    same = ["op", "count", "us", "pct", "bound_us", "cause", "mapping", "bytes", "flops", "link_bytes"]
    for number, asked in enumerate([dict(batch=4, decode=64), dict(batch=2, prefill=40)]):
        mine = rows[rows.phase == f"iteration {number}"].reset_index(drop=True)
        other = m.llm(MODEL, tries=1, quiet=True, **asked)
        pd.testing.assert_frame_equal(mine[same], other[same], check_exact=True)
    piece = m.llm(MODEL, tries=1, quiet=True, prefill=64, chunk=40)
    assert rows[rows.phase == "iteration 2"].us.tolist() == piece.us.tolist()[-(len(piece) - piece.op.tolist().index("total") - 1):]


# -- what is kept ---------------------------------------------------------------------------------


def test_times_are_kept_in_a_file(m, ten, tmp_path, monkeypatch):
    kept = tmp_path / "times.jsonl"
    limits = dict(max_num_seqs=4, max_num_batched_tokens=32, tries=1)
    monkeypatch.setattr("kernbench._iterations.known", {})  # what other tests have simulated is not in the file
    first = kernbench.serve(m, MODEL, ten, kept=kept, **limits)
    lines = kept.read_text().splitlines()
    assert len(lines) == 1 + len({step.batch for step in first._steps})
    assert json.loads(lines[0])["machine"] == m.hash and json.loads(lines[0])["model"] == MODEL
    monkeypatch.setattr("kernbench._iterations.known", {})  # another process
    again = kernbench.serve(m, MODEL, ten, kept=kept, **limits)
    assert again.totals["simulated"] == 0
    pd.testing.assert_frame_equal(again.requests, first.requests)
    assert kept.read_text().splitlines() == lines
    more = kernbench.serve(m, MODEL, ten, kept=kept, max_num_seqs=2, max_num_batched_tokens=32, tries=1)
    assert len(kept.read_text().splitlines()) == len(lines) + more.totals["simulated"] > len(lines)


def test_times_of_another_are_refused(m, tmp_path):
    kept = tmp_path / "times.jsonl"
    its = kernbench.Iterations(m, MODEL, tries=1, kept=kept)
    its.time([(1, 16, True)])
    its.keep()
    tiles = tmp_path / "tiles.yaml"
    m.llm(MODEL, decode=16, tries=1, map_out=tiles, quiet=True)
    others = [(m.set({"cube.hbm.bw_gbs": 128}), MODEL, {"tries": 1}, "machine"), (m, "llama-3.2-3b", {"tries": 1}, "model"),
              (m, MODEL, {"tries": 2}, "options"), (m, MODEL, {"tries": 1, "map": tiles}, "options")]
    for machine, model, options, what in others:
        with pytest.raises(kernbench.BadInput, match=f"times.jsonl:1:1: its times are of another {what}") as e:
            kernbench.Iterations(machine, model, kept=kept, **options)
        assert e.value.line == 1
    kept.write_text("nonsense\n")
    with pytest.raises(kernbench.BadInput, match="has no times of iterations"):
        kernbench.Iterations(m, MODEL, tries=1, kept=kept)


def test_a_line_that_was_cut_off_is_done_again(m, tmp_path, monkeypatch):
    kept = tmp_path / "times.jsonl"
    kept.touch()
    monkeypatch.setattr("kernbench._iterations.known", {})
    its = kernbench.Iterations(m, MODEL, tries=1, kept=kept)
    times = [its.time([(1, kv, True)]) for kv in (16, 32)]
    its.keep()
    whole = kept.read_text()
    kept.write_text(whole[:-20])  # its process was killed
    for simulated in (1, 0):
        monkeypatch.setattr("kernbench._iterations.known", {})  # another one
        its = kernbench.Iterations(m, MODEL, tries=1, kept=kept)
        assert [its.time([(1, kv, True)]) for kv in (16, 32)] == times and its.simulated == simulated
        its.keep()


@pytest.mark.parametrize("batch, text", [
    ([], "an iteration has at least one request"), ([(0, 5, True)], "new tokens 0 is not a whole number from 1 to 5"),
    ([(1, 16, True), (6, 5, True)], "new tokens 6 is not a whole number from 1 to 5"), ([(-1, 5, True)], "new tokens -1"),
    ([(1, 64.7, True)], "tokens 64.7 is not a whole number from 1 to 1048576"), ([(1, 1 << 21, True)], "tokens 2097152")])
def test_what_is_no_iteration(m, batch, text):
    its = kernbench.Iterations(m, MODEL, tries=1)
    for time in (its.time, its.attention):
        for one in (batch, tuple(batch)):
            with pytest.raises(kernbench.BadArgument, match=text):
                time(one)
    assert its.time([(np.int64(1), 16, True)]) > 0  # and goes on


def test_an_edited_mapping_is_another(m, tmp_path):
    tiles = tmp_path / "tiles.yaml"
    m.llm(MODEL, decode=16, tries=1, map_out=tiles, quiet=True)
    first = kernbench.Iterations(m, MODEL, tries=1, map=tiles)
    slow = tiles.read_text().replace("tile: [1, 256, 48]", "tile: [1, 16, 16]")
    assert slow != tiles.read_text()
    before = first.time([(1, 16, True)])
    tiles.write_text(slow)
    second = kernbench.Iterations(m, MODEL, tries=1, map=tiles)
    assert second.identity != first.identity and second.time([(1, 16, True)]) > before


# -- memory ---------------------------------------------------------------------------------------


def test_blocks_are_what_is_left(m):
    """48 GiB of a cube, less weights and activations, over a page of keys and values of a rank."""
    its = kernbench.Iterations(m, MODEL, tries=1)
    assert its.token_bytes == 16 * 2 * 1 * 64 * 2  # layers, k and v, heads of a rank, columns, bf16
    weights = 2 * (1_235_814_400 - 128256 * 2048) // 8 + 2 * 2 * 16032 * 2048  # table and head are two
    left = 48 * 2**30 - weights - its.room_bytes
    assert 0 < left < 2048 * 16032 * 2 * 2  # activations of 2048 tokens, 256 rows of logits


def test_a_request_that_never_fits(m, tmp_path):
    path = tmp_path / "long.csv"
    path.write_text(trace_of([(0, 10, 7), (0, 10, 8)]))
    with pytest.raises(kernbench.BadInput) as e:
        kernbench.serve(m, MODEL, path, blocks=1, tries=1)
    assert str(e.value) == f"{path}:3:3: 10 and 8 tokens need 2 blocks of keys and values, and there are 1"
    assert (e.value.line, e.value.column) == (3, 3)


def test_a_model_that_does_not_fit(m):
    with pytest.raises(kernbench.BadArgument, match="needs .* GB of .* a rank"):
        kernbench.serve(m.set({"cube.hbm.size_gb": 16}), "llama-3.1-70b", {"arrived_at": [0], "num_prefill_tokens": [1],
                        "num_decode_tokens": [1]}, tries=1)


# -- what goes wrong ------------------------------------------------------------------------------

WRONG = [
    ("0,4,1\n0,4\n", "3:1: 2 fields, the header has 3"),
    ("1,4,1\n2,4,1\n1.5,4,1\n", "4:1: arrived_at 1.5 is before 2 of line 3: a trace is in order of arrival"),
    ("0,4,1\nx,4,1\n", "3:1: arrived_at 'x' is not a time in seconds, 0 to 9000"),
    ("-1,4,1\n", "2:1: arrived_at '-1' is not a time in seconds, 0 to 9000"),
    ("0,0,1\n", "2:3: num_prefill_tokens '0' is not a whole number of tokens, 1 to 1048576"),
    ("0,12,1.5\n", "2:6: num_decode_tokens '1.5' is not a whole number of tokens, 1 to 1048576"),
    ("0,12,-1\n", "2:6: num_decode_tokens '-1' is not a whole number of tokens, 1 to 1048576"),
]


@pytest.mark.parametrize("text, said", WRONG, ids=[said for _, said in WRONG])
def test_a_mistake_in_a_trace(m, tmp_path, text, said):
    path = tmp_path / "trace.csv"
    path.write_text(HEADER + text)
    with pytest.raises(kernbench.BadInput) as e:
        kernbench.serve(m, MODEL, path, tries=1)
    assert str(e.value) == f"{path}:{said}" and e.value.code == 3
    assert (e.value.file, e.value.line) == (str(path), int(said.split(":")[0]))


def test_mistakes_are_told_together(m):
    data = {"arrived_at": [2, 1, float("nan")], "num_prefill_tokens": [1, 1, 1], "num_decode_tokens": [1, 1, "many"]}
    with pytest.raises(kernbench.BadInput) as e:
        kernbench.serve(m, MODEL, data, tries=1)
    assert e.value.messages == [
        "row 1, column 'arrived_at': arrived_at 1 is before 2 of row 0: a trace is in order of arrival",
        "row 2, column 'arrived_at': arrived_at 'nan' is not a time in seconds, 0 to 9000",
        "row 2, column 'num_decode_tokens': num_decode_tokens 'many' is not a whole number of tokens, 1 to 1048576"]
    assert (e.value.line, e.value.column) == (1, "arrived_at")


def test_a_trace_of_nothing(m, tmp_path):
    path = tmp_path / "trace.csv"
    for text, said in [("", "no column 'arrived_at'"), ("arrived_at,num_prefill_tokens\n0,1\n", "no column 'num_decode_tokens'"),
                       (HEADER, "there are no requests")]:
        path.write_text(text)
        with pytest.raises(kernbench.BadInput, match=said):
            kernbench.serve(m, MODEL, path, tries=1)
    with pytest.raises(kernbench.BadInput, match="cannot read .*none.csv: No such file"):
        kernbench.serve(m, MODEL, tmp_path / "none.csv", tries=1)


def test_columns_that_are_not_read_are_told(m):
    data = {"arrived_at": [0], "num_prefill_tokens": [3], "num_decode_tokens": [1], "pd_ratio": [3.0]}
    with pytest.warns(kernbench.Note, match="columns that are not read: pd_ratio"):
        kernbench.serve(m, MODEL, data, tries=1)


ARGUMENTS = [(dict(max_num_seqs=0), "max_num_seqs 0 is not a whole number from 1"), (dict(page=2.5), "page 2.5 is not"),
             (dict(blocks=10**12), "blocks 1000000000000 is not"), (dict(tp=3), "cannot be cut into 3 ranks"),
             (dict(decode=4), "decode is not of a server's iterations"), (dict(tp="2,4"), "--tp is one number|tp is one number")]


@pytest.mark.parametrize("options, said", ARGUMENTS, ids=[said for _, said in ARGUMENTS])
def test_an_argument_that_is_wrong(m, options, said):
    with pytest.raises(kernbench.BadArgument, match=said):
        kernbench.serve(m, MODEL, {"arrived_at": [0], "num_prefill_tokens": [3], "num_decode_tokens": [1]}, **{"tries": 1, **options})


def test_latents_are_refused(m):
    with pytest.raises(kernbench.BadArgument, match="kv_lora_rank"):
        kernbench.Iterations(m, "deepseek-v3", tries=1)


def test_no_warning_of_a_plain_trace(m, ten):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernbench.serve(m, MODEL, ten, max_num_seqs=4, max_num_batched_tokens=32, tries=1)
