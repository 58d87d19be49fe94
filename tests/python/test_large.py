"""test_large.py -- more rows than the largest buffers of the library hold."""
import kernbench


def test_a_sweep_of_more_points_than_a_buffer_has_bytes_for(m):
    rows = m.sweep("c*.pe*", "c*.slice*", bytes="64:320:64")
    assert len(rows) == 5 * 64 * 64
    assert rows.mean_ns.iloc[0] == m.sweep("c0.pe0", "c0.slice0", bytes=64).mean_ns.iloc[0]


def test_the_same_of_several_machines(m):
    rows = kernbench.vary(m, {"cube.hbm.bw_gbs": [128, 256]}).sweep("c*.pe*", "c*.slice*", bytes="64:320:64")
    assert len(rows) == 2 * 5 * 64 * 64
    alone = m.sweep("c*.pe*", "c*.slice*", bytes="64:320:64")
    assert (rows.mean_ns[len(alone):].to_numpy() == alone.mean_ns.to_numpy()).all()


def test_a_file_of_variants_has_the_format_that_was_asked_for(m, tmp_path):
    variants = kernbench.vary(m, {"cube.hbm.bw_gbs": [128, 256]})
    variants.probe(output=str(tmp_path / "probe.csv"))
    lines = (tmp_path / "probe.csv").read_text().splitlines()
    rows = variants.probe()
    assert lines[0] == ",".join(rows.columns) and len(lines) == 1 + len(rows)
