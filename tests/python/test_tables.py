"""test_tables.py -- tables of operations that LLMServingSim and Vidur read: columns, and numbers beside those of llm.

Their columns, and which rows they choose, are facts of casys-kaist/LLMServingSim (docs/docs/profiler/output-bundle.md,
serving/core/trace_generator.py) and microsoft/vidur (vidur/execution_time_predictor/sklearn_execution_time_predictor.py).
"""
import itertools

import numpy as np
import pandas as pd
import pytest

import kernbench

MODEL = "llama-3.2-1b"
SMALL = dict(tokens=[1, 4], chunks=[0, 16], decodes=[0, 1, 4], kvs=[0, 16, 64], max_num_batched_tokens=64, max_num_seqs=4, tries=1)


@pytest.fixture(scope="module")
def bundle(m, tmp_path_factory):
    folder = tmp_path_factory.mktemp("perf") / "MINE" / MODEL / "bf16"
    kernbench.tables(m, MODEL, "llmservingsim", folder, tp=[1, 8], hardware="MINE", **SMALL)
    return folder


@pytest.fixture(scope="module")
def profile(m, tmp_path_factory):
    folder = tmp_path_factory.mktemp("compute")
    kernbench.tables(m, MODEL, "vidur", folder, tp=[1, 8], vocab=128512, **SMALL)
    return folder


@pytest.fixture(scope="module")
def took(m):
    """us of each operation: [tp, tokens][op]."""
    rows = {}
    for tp, n in itertools.product((1, 8), (1, 4)):
        one = m.llm(MODEL, batch=n, decode=16, tp=tp, tries=1, quiet=True)
        rows[tp, n] = dict(zip(one.op[::-1], one.us[::-1]))  # the first of a name stays
    return rows


def test_layers_of_the_bundle(bundle, took):
    names = {"embedding": "embed", "layernorm": "norm1", "qkv_proj": "qkv", "rotary_emb": "rope", "o_proj": "o",
             "gate_up_proj": "gate_up", "act_fn": "act", "down_proj": "down", "final_layernorm": "norm"}
    for tp in (1, 8):
        dense = pd.read_csv(bundle / f"tp{tp}/dense.csv")
        assert list(dense.columns) == ["layer", "tokens", "time_us"]
        assert sorted(set(dense.layer)) == sorted(names)
        for layer, tokens, us in dense.itertuples(index=False):
            of = 1 if layer in ("layernorm", "final_layernorm") else tp
            assert us == pytest.approx(took[of, tokens][names[layer]], abs=1e-9)
        sequences = pd.read_csv(bundle / f"tp{tp}/per_sequence.csv")
        assert list(sequences.columns) == ["layer", "sequences", "time_us"]
        for layer, n, us in sequences.itertuples(index=False):
            want = took[tp, n]["head"] if layer == "lm_head" else took[1, n]["topk"] + took[1, n]["all_gather"]
            assert us == pytest.approx(want, abs=1e-9)


def test_attention_of_the_bundle(bundle, took):
    for tp in (1, 8):
        rows = pd.read_csv(bundle / f"tp{tp}/attention.csv")
        assert list(rows.columns) == ["prefill_chunk", "kv_prefill", "n_decode", "kv_decode", "time_us"]
        # decode alone: 2 x 2 points; a piece: 3 kv, alone or with 2 x 2
        assert len(rows) == 4 + 3 * (1 + 4) and not rows.duplicated(list(rows.columns[:4])).any()
        assert (rows.time_us > 0).all()
        assert ((rows.kv_decode == 0) == (rows.n_decode == 0)).all()
        alone = rows[rows.prefill_chunk == 0].set_index(["n_decode", "kv_decode"]).time_us
        assert alone[1, 64] > alone[1, 16] and alone[4, 64] > alone[4, 16]


def test_attention_is_that_of_an_iteration(m, bundle):
    """A piece of 16 behind 64, and four at their 65th token: in the iteration it takes as long."""
    its = pd.DataFrame({"iteration": 0, "request": range(5), "q": [16, 1, 1, 1, 1], "kv": [80, 65, 65, 65, 65]})
    path = bundle.parent / "iteration.csv"
    its.to_csv(path, index=False)
    rows = m.llm(MODEL, iterations=path, tp=8, tries=1, quiet=True)
    table = pd.read_csv(bundle / "tp8/attention.csv").set_index(["prefill_chunk", "kv_prefill", "n_decode", "kv_decode"])
    assert table.time_us[16, 64, 4, 64] == pytest.approx(rows.us[rows.op == "attention"].iloc[0], abs=1e-9)


def test_settings_of_the_bundle(bundle):
    lines = dict(line.strip().split(": ", 1) for line in (bundle / "meta.yaml").read_text().splitlines() if ": " in line)
    assert lines["hardware"] == "MINE" and lines["variant"] == "bf16" and lines["tp_degrees"] == "[1, 8]"
    assert (lines["max_num_batched_tokens"], lines["max_num_seqs"]) == ("64", "4")
    assert "skew_fit" not in lines


def test_products_of_the_profile(profile, took):
    names = {"emb": "embed", "input_layernorm": "norm1", "attn_pre_proj": "qkv", "attn_rope": "rope", "attn_post_proj": "o",
             "post_attention_layernorm": "norm2", "mlp_up_proj": "gate_up", "mlp_act": "act", "mlp_down_proj": "down"}
    rows = pd.read_csv(profile / "mlp.csv").drop_duplicates()
    for tp in (1, 8):
        mine = rows[(rows.n_head == 32) & (rows.n_kv_head == 8) & (rows.n_embd == 2048) & (rows.n_expanded_embd == 8192)
                    & rows.use_gated_mlp & (rows.vocab_size == 128512) & (rows.num_tensor_parallel_workers == tp)]
        assert sorted(mine.num_tokens) == [1, 4]
        for _, row in mine.iterrows():
            for name, op in names.items():
                assert row[f"time_stats.{name}.median"] == pytest.approx(took[tp, row.num_tokens][op] / 1000, abs=1e-9)
                assert len({row[f"time_stats.{name}.{what}"] for what in ("min", "max", "mean", "median")}) == 1
            assert row["time_stats.add.median"] == 0


def test_attention_of_the_profile(profile, bundle):
    rows = pd.read_csv(profile / "attention.csv").drop_duplicates()
    of = pd.read_csv(bundle / "tp8/attention.csv")
    mine = rows[(rows.n_embd == 2048) & (rows.n_q_head == 32) & (rows.n_kv_head == 8) & (rows.block_size == 16)
                & (rows.num_tensor_parallel_workers == 8)]
    decode, prefill = mine[mine.prefill_chunk_size == 0], mine[mine.prefill_chunk_size > 0]
    assert (len(decode), len(prefill)) == (4, 3) and (decode.is_prefill == 0).all() and prefill.is_prefill.all()
    assert decode["time_stats.attn_prefill.median"].isna().all() and prefill["time_stats.attn_decode.median"].isna().all()
    for _, row in decode.iterrows():
        same = of[(of.prefill_chunk == 0) & (of.n_decode == row.batch_size) & (of.kv_decode == row.kv_cache_size)]
        assert row["time_stats.attn_decode.median"] * 1000 == pytest.approx(same.time_us.iloc[0], abs=1e-6)
    for _, row in prefill.iterrows():
        same = of[(of.prefill_chunk == 16) & (of.n_decode == 0) & (of.kv_prefill == row.kv_cache_size)]
        assert row["time_stats.attn_prefill.median"] * 1000 == pytest.approx(same.time_us.iloc[0], abs=1e-6)
    assert (mine["time_stats.attn_kv_cache_save.median"] == 0).all()


def test_reductions_of_the_profile(profile, took):
    rows = pd.read_csv(profile / "all_reduce.csv")
    assert rows.columns[0].startswith("Unnamed")
    mine = rows[(rows.num_workers == 8) & (rows.devices_per_node == 8) & (rows.collective == "all_reduce")]
    assert (mine["size"] / 2048 / 2).tolist() == [1, 4]
    assert mine["time_stats.all_reduce.median"].tolist() == pytest.approx([took[8, n]["all_reduce1"] / 1000 for n in (1, 4)], abs=1e-9)
    assert len(rows) == 2  # one rank has none


def test_numbers_may_come_in_any_order(m, tmp_path, bundle):
    grid = {name: np.array(list(reversed(values)) + values[:1]) for name, values in SMALL.items() if isinstance(values, list)}
    kernbench.tables(m, MODEL, "llmservingsim", tmp_path, tp=np.array([8]), **{**SMALL, **grid})
    for name in ("dense", "per_sequence", "attention"):
        assert (tmp_path / f"tp8/{name}.csv").read_text() == (bundle / f"tp8/{name}.csv").read_text()


@pytest.mark.parametrize("options, text", [
    ({"tokens": [0, 1]}, "tokens 0 is not a whole number from 1 to 65536"), ({"tokens": [1.5]}, "tokens 1.5 is not"),
    ({"tokens": []}, "tokens has no number"), ({"chunks": [128]}, "chunks 128 is not a whole number from 0 to 64"),
    ({"kvs": [-16]}, "kvs -16 is not"), ({"tp": [1, 2.5]}, "tp .*2.5.* is not a whole number"), ({"max_num_seqs": 0}, "max_num_seqs 0 is not"),
    ({"chunks": [0], "decodes": [0]}, "chunks, decodes and kvs have no point of attention in common")])
def test_numbers_that_no_table_has(m, tmp_path, options, text):
    for of in ("llmservingsim", "vidur"):
        with pytest.raises(kernbench.BadArgument, match=text):
            kernbench.tables(m, MODEL, of, tmp_path, **{**SMALL, **options})
    assert not any(tmp_path.iterdir())


def test_what_has_no_tables(m, tmp_path):
    with pytest.raises(kernbench.BadArgument, match="tables are of llmservingsim or vidur, not of 'x'"):
        kernbench.tables(m, MODEL, "x", tmp_path)
    with pytest.raises(kernbench.BadArgument, match="with a gated MLP, and without experts"):
        kernbench.tables(m, "falcon-7b", "vidur", tmp_path, **SMALL)
