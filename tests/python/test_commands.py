"""test_commands.py -- every command has the rows of the command line, digit by digit."""
import csv
import io
import subprocess

import pandas as pd
import pytest

import kernbench
from conftest import PROGRAM, ROOT, command, same_rows

SMALL = {"M": 64, "N": 64, "K": 64}
ARGS = ["M=64", "N=64", "K=64"]


def test_probe(m):
    same_rows(m.probe(), *command("probe"))
    same_rows(m.probe(bytes="64K", case="h2d"), *command("probe", "--bytes", "64K", "--case", "h2d"))


@pytest.mark.parametrize("machine", ["cube1", "tray32", "wormhole", "blackhole"])
def test_probe_of_other_machines(machine):
    same_rows(kernbench.Machine(machine).probe(), *command("probe", machine=machine))


def test_route(m):
    same_rows(m.route("c0.pe1", "c5.slice3"), *command("route", "c0.pe1", "c5.slice3"))
    same_rows(m.route("host", "c0.slice0", op="d2h", bytes=64),
              *command("route", "host", "c0.slice0", "--op", "d2h", "--bytes", "64"))


def test_sweep(m):
    same_rows(m.sweep("c0.pe[0-1]", ["c0.slice*", "c5.sram"], bytes=[64, 4096], inflight="1:3"),
              *command("sweep", "--src", "c0.pe[0-1]", "--dst", "c0.slice*,c5.sram", "--bytes",
                       "64,4096", "--inflight", "1:3"))


def test_load(m):
    same_rows(m.load("uniform", [0.02, 0.3], txns=5000),
              *command("load", "--pattern", "uniform", "--rate", "0.02,0.3", "--txns", "5000"))
    same_rows(m.load("hotspot:25", "0.01", txns=2000, seeds=1, op="write", arrivals="fixed", seed=7),
              *command("load", "--pattern", "hotspot:25", "--rate", "0.01", "--txns", "2000", "--seeds",
                       "1", "--op", "write", "--arrivals", "fixed", "--seed", "7"))


@pytest.mark.parametrize("bench", ["gemm", "all_reduce", "softmax"])
def test_run(m, bench):
    arguments = {"M": 64, "N": 256} if bench == "softmax" else SMALL if bench == "gemm" else {}
    words = [f"{name}={value}" for name, value in arguments.items()]
    same_rows(m.run(bench, verify=True, **arguments), *command("run", bench, *words, "--verify"))


def test_breakdown(m):
    same_rows(m.breakdown("gemm", **SMALL), *command("run", "gemm", *ARGS, "--breakdown"))
    same_rows(m.breakdown("load", pattern="uniform", rate=0.05, txns=2000),
              *command("load", "--pattern", "uniform", "--rate", "0.05", "--txns", "2000", "--breakdown"))


def test_tune(m):
    same_rows(m.tune("softmax", {"N": [128, 64], "M": "32:64:x2"}, verify=True),
              *command("tune", "softmax", "arg.N=128,64", "arg.M=32,64", "--verify"))


def test_why(m):
    same_rows(m.why("gemm", **SMALL), *command("why", "gemm", *ARGS))
    same_rows(m.why("softmax", by="key", M=64, N=64), *command("why", "softmax", "M=64", "N=64", "--by", "key"))
    same_rows(m.why("load", pattern="uniform", rate=0.05, txns=2000),
              *command("why", "load", "--pattern", "uniform", "--rate", "0.05", "--txns", "2000"))
    same_rows(m.why("llm", by="key", model="llama-3.2-1b", decode=16, tries=1),
              *command("why", "llm", "llama-3.2-1b", "--by", "key", "--decode", "16", "--tries", "1"))
    assert m.why("copy", by="key", dry_run=True).runs[0] < 200
    assert m.why("copy", by="key", all_pairs=True, dry_run=True).runs[0] > 946


def test_inspect(m):
    same_rows(m.inspect("softmax", "last", M=64, N=64),
              *command("run", "softmax", "M=64", "N=64", "--inspect", "last"))


def test_race(m):
    assert len(m.race("gemm", **SMALL)) == 0
    assert list(m.race("gemm", **SMALL).columns) == command("run", "gemm", *ARGS, "--race")[0]


def test_info_and_list(m):
    header, lines = command("info")
    same_rows(m.info(), header, [line for line in lines if line[0] not in ("machine", "set")])
    same_rows(kernbench.benches(), *command("list"))


def test_diff(tmp_path):
    for name, n in (("a.csv", "4096"), ("b.csv", "64K")):
        subprocess.run([PROGRAM, "probe", "--machine", ROOT / "topologies/cube8.yaml", "--bytes", n, "--format",
                        "csv", "-o", tmp_path / name], check=True)
    ran = subprocess.run([PROGRAM, "diff", tmp_path / "a.csv", tmp_path / "b.csv", "--format", "csv"],
                         capture_output=True, text=True)
    assert ran.returncode == 1
    header, *lines = csv.reader(io.StringIO(ran.stdout))
    same_rows(kernbench.diff(tmp_path / "a.csv", tmp_path / "b.csv"), header, lines)


# -- transactions ---------------------------------------------------------------------------------

CSV = ROOT / "benches/one_slice.csv"


def test_replay_of_a_file_and_of_its_rows(m):
    header, lines = command("replay", CSV)
    same_rows(m.replay(CSV), header, lines)
    same_rows(m.replay(frame_of(CSV.read_text())), header, lines)


def frame_of(text):
    return pd.read_csv(io.StringIO(text))


ROWS = """issue_ns,op,src,dst,offset,nbytes,after,think_ns
0,read,c0.pe0,c0.slice0,0,4096,,
5,write,c0.pe0,c1.sram,64,64,0,2.5
0.123456,h2d,host,c3.slice7,0,65536,,
1,d2h,host,c3.slice7,0,100,0|1,
2,read,c7.pe7,0x8000,,512,,
"""


def test_replay_of_dependencies_and_addresses(m):
    header, lines = command("replay", "-", stdin=ROWS)
    same_rows(m.replay(pd.read_csv(io.StringIO(ROWS))), header, lines)
    same_rows(m.replay(pd.read_csv(io.StringIO(ROWS)).to_records(index=False)), header, lines)
    same_rows(m.replay(pd.read_csv(io.StringIO(ROWS)).to_dict("list")), header, lines)


def test_replay_until(m):
    header, lines = command("replay", "-", "--until", "20", stdin=ROWS)
    assert 0 < len(lines) < 5
    same_rows(m.replay(pd.read_csv(io.StringIO(ROWS)), until_ns=20), header, lines)


def test_rows_of_transactions_can_be_explained(m):
    frame = pd.read_csv(io.StringIO(ROWS))
    same_rows(m.breakdown(frame), *command("replay", "-", "--breakdown", stdin=ROWS))
    same_rows(m.breakdown(str(CSV)), *command("replay", CSV, "--breakdown"))
    same_rows(m.why(frame_of(CSV.read_text())), *command("why", CSV))


# -- many machines --------------------------------------------------------------------------------


def test_vary(m):
    v = kernbench.vary(m, {"cube.hbm.bw_gbs": [128, 256], "contention.links": ["fifo", "ideal"]})
    keys = ["--vary", "cube.hbm.bw_gbs=128,256", "--vary", "contention.links=fifo,ideal"]
    same_rows(v.probe(), *command("probe", *keys))
    same_rows(v.run("softmax", M=64, N=64), *command("run", "softmax", "M=64", "N=64", *keys))
    same_rows(v.sweep("c0.pe0", "c*.slice0"), *command("sweep", "--src", "c0.pe0", "--dst", "c*.slice0", *keys))
    same_rows(v.load("uniform", 0.02, txns=500), *command("load", "--pattern", "uniform", "--rate", "0.02",
                                                          "--txns", "500", *keys))
    same_rows(v.replay(frame_of(CSV.read_text())), *command("replay", CSV, *keys))


def test_keys_of_a_machine():
    same_rows(kernbench.Machine("cube8", **{"cube.hbm.bw_gbs": 512}).probe(),
              *command("probe", "--set", "cube.hbm.bw_gbs=512"))
    same_rows(kernbench.Machine("cube8").set({"cube.hbm.bw_gbs": 128}, **{"contention.links": "ideal"}).probe(),
              *command("probe", "--set", "cube.hbm.bw_gbs=128", "--set", "contention.links=ideal"))
