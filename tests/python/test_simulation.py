"""test_simulation.py -- transactions that are added while time runs, observers, results to branch on."""
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import kernbench
from conftest import B, ROOT, command

MACHINES = {
    "fifo": {},
    "ideal": {"contention.links": "ideal"},
    "several": {"cube.pe.pe_dma.read_channels": 3, "cube.pe.pe_dma.write_channels": 2},
    "banks": {"cube.hbm.model": "banks"},
    "packets": {"cube.pe.pe_dma.packet_bytes": 256, "cube.pe.pe_dma.issue_ns": 5},
    "router": {"contention.links": "router"},
    "router-packets": {"contention.links": "router", "cube.pe.pe_dma.packet_bytes": 1024},
    "router-banks": {"contention.links": "router", "cube.hbm.model": "banks"},
}


def traffic(machine, n, seed):
    """Rows of a busy machine, by numbers of endpoints: PEs and hosts, slices and SRAMs."""
    draw = np.random.default_rng(seed)
    sim = kernbench.Simulation(machine)
    pes, slices, host = sim.endpoints("c*.pe*"), sim.endpoints("c*.slice*"), sim.endpoints(["host"])
    op = draw.choice(4, n, p=[0.5, 0.3, 0.1, 0.1]).astype(np.uint8)
    src = np.where(op < 2, draw.choice(pes, n), host[0])
    return dict(src=src, dst=draw.choice(slices[:24], n), nbytes=draw.choice([64, 256, 4096], n),
                issue_fs=draw.integers(0, 2000, n) * 500_000, op=op)


def all_at_once(machine, rows, **options):
    sim = kernbench.Simulation(machine, fingerprint=True, **options)
    sim.endpoints("c*.pe*"), sim.endpoints("c*.slice*"), sim.endpoints(["host"])
    sim.add(**rows)
    sim.run()
    return sim


def in_windows(machine, rows, step_fs, **options):
    """Rows are added just before the window in which they are issued; ids in the order of the whole."""
    sim = kernbench.Simulation(machine, fingerprint=True, **options)
    sim.endpoints("c*.pe*"), sim.endpoints("c*.slice*"), sim.endpoints(["host"])
    seen = []
    for to in range(step_fs, 1_000_000_001, step_fs):
        now = (rows["issue_fs"] >= to - step_fs) & (rows["issue_fs"] < to)
        if now.any():
            sim.add(**{name: column[now] for name, column in rows.items()})
        sim.run_to(to_fs=to)
        seen.append(sim.completed())
    sim.run()
    seen.append(sim.completed())
    assert sorted(np.concatenate(seen)) == list(range(sim.count))
    return sim


@pytest.mark.parametrize("engine", ["fused", "hop"])
@pytest.mark.parametrize("name", MACHINES)
def test_what_is_added_while_time_runs_has_the_times_of_what_was_known(m, name, engine):
    """Rows are cut into windows of 1, 10 and 333 ns: every time and the fingerprint are those of one run."""
    machine = m.set(MACHINES[name])
    rows = traffic(machine, 500, 7)
    order = np.argsort(rows["issue_fs"], kind="stable")
    rows = {k: v[order] for k, v in rows.items()}
    want = all_at_once(machine, rows, engine=engine)
    for step in (1_000_000, 10_000_000, 333_000_000):
        got = in_windows(machine, rows, step, engine=engine)
        assert got.fingerprint == want.fingerprint
        for column, values in want.times().items():
            np.testing.assert_array_equal(got.times(column)[column], values, err_msg=f"{name} {column}")


def test_they_are_those_of_replay(m):
    rows = {"issue_ns": [0, 5, 5.5], "op": ["read", "write", "h2d"], "src": ["c0.pe0", "c0.pe0", "host"],
            "dst": ["c0.slice0", "c1.sram", "c0.slice0"], "nbytes": ["4K", 64, 128]}
    sim = kernbench.Simulation(m)
    assert list(sim.add(rows)) == [0, 1, 2]
    sim.run()
    want, got = m.replay(rows), sim.rows()
    for name in got.columns:
        if name in want.columns:
            assert list(got[name]) == list(want[name]), name


@pytest.mark.parametrize("engine", ["fused", "hop"])
def test_the_shipped_wormhole_runs_live(engine):
    """Reads go in packets there, over planes that rows name: the same rows as a replay."""
    machine = kernbench.Machine("wormhole")
    rows = {"issue_ns": [0, 0, 700, 2500], "op": ["read"] * 4, "src": ["c11.pe0", "c12.pe0", "c11.pe0", "c33.pe0"],
            "dst": ["c22.sram", "c22.sram", "c0.sram", "c11.sram"], "nbytes": [65536, 20000, 64, 8193],
            "plane": ["noc0", "noc1", "noc0", "noc1"]}
    sim = kernbench.Simulation(machine, engine=engine)
    for i, to_ns in enumerate([0, 0, 600, 2500]):
        if to_ns:
            sim.run_to(to_ns)
        sim.add({name: column[i:i + 1] for name, column in rows.items()})
    sim.run()
    want, got = machine.replay(rows), sim.rows()
    for name in got.columns:
        if name in want.columns:
            assert list(got[name]) == list(want[name]), name


@pytest.mark.parametrize("name", MACHINES)
def test_a_closed_loop_is_that_of_dependencies(m, name):
    """A read that is issued as another one completes: the same times as replay with `after`."""
    machine = m.set(MACHINES[name])
    n = 40
    pes = [f"c{i % 4}.pe{i % 3}" for i in range(n)]
    rows = {"issue_ns": [0] * n, "op": ["read"] * n, "src": pes, "dst": ["c0.slice0"] * n, "nbytes": [4096] * n,
            "after": [""] * 8 + [str(i - 8) for i in range(8, n)]}
    want = machine.replay(rows)
    sim = kernbench.Simulation(machine)
    src, dst = sim.endpoints(pes), sim.endpoints("c0.slice0")
    sim.add(src=src[:8], dst=dst, nbytes=4096)
    row_of = dict(enumerate(range(8)))
    while sim.run_to(1e9, first=True) or len(row_of) < n:
        for done in sim.completed():
            follower = row_of[done] + 8
            if follower < n:
                [number] = sim.add(src=src[follower], dst=dst, nbytes=4096, op="read")
                row_of[int(number)] = follower
        if sim.done == n:
            break
    end = sim.times("end_fs")["end_fs"] / 1e6
    for number, row in row_of.items():
        assert end[number] == pytest.approx(want.end_ns[row], abs=1e-6), row


def test_observers(m):
    sim, heard = kernbench.Simulation(m, spans=True), []
    sim.observe(end=lambda number, end_fs: heard.append((number, end_fs)))
    sim.add(src=sim.endpoints("c0.pe[0-3]"), dst=sim.endpoints("c0.slice0"), nbytes=4096)
    sim.run()
    assert sorted(heard) == list(enumerate(sim.times("end_fs")["end_fs"]))
    spans = sim.spans()
    sums = (spans.end_ns - spans.begin_ns).groupby(spans.id).sum()
    assert list(sums.round(6)) == list(sim.rows().actual_ns)
    waits = spans[spans.cause == "link_wait"]
    assert any("hbm_ctrl.slice0" in place for place in waits.place) and "c0.pe0" in set(waits.behind)


def test_an_observer_hears_each_transaction_once(m):
    sim = kernbench.Simulation(m.set({"cube.pe.pe_dma.packet_bytes": 1024}))  # four packets each
    heard = []
    sim.observe(end=lambda number, end_fs: heard.append((number, end_fs)))
    sim.add(src=sim.endpoints("c0.pe[0-1]"), dst=sim.endpoints("c1.slice0"), nbytes=4096)
    sim.run()
    assert dict(heard) == dict(enumerate(sim.times("end_fs")["end_fs"])) and len(heard) == 2


def test_an_observer_that_fails_is_an_exception(m):
    sim = kernbench.Simulation(m)
    sim.observe(end=lambda number, end_fs: 1 / 0)
    sim.add(src=sim.endpoints("c0.pe0"), dst=sim.endpoints("c0.slice0"))
    with pytest.raises(ZeroDivisionError):
        sim.run()


def test_multicasts(m):
    """By numbers, and by names among other rows: the same times."""
    apart, named = kernbench.Simulation(m), kernbench.Simulation(m)
    pe, to = apart.endpoints("c0.pe0"), apart.endpoints(["c1.slice0", "c2.slice0", "c3.slice0"])
    apart.add(src=pe, dst=to, nbytes=4096, op="mwrite")
    apart.add(src=[pe[0]] * 2, dst=[to[:2], to[1:]], nbytes=64, op="mread", issue_ns=[1000, 2000])
    apart.add(src=pe, dst=to[0], nbytes=64, issue_ns=3000)
    named.add({"issue_ns": [0, 1000, 2000, 3000], "op": ["mwrite", "mread", "mread", "read"], "src": ["c0.pe0"] * 4,
               "dst": ["c[1-3].slice0", "c1.slice0+c2.slice0", "c[2-3].slice0", "c1.slice0"],
               "nbytes": [4096, 64, 64, 64]})
    for sim in (apart, named):
        sim.run()
    assert list(apart.times("end_fs")["end_fs"]) == list(named.times("end_fs")["end_fs"])
    with pytest.raises(kernbench.BadArgument, match="target twice"):
        kernbench.Simulation(m).add({"issue_ns": [0], "op": ["mwrite"], "src": ["c0.pe0"],
                                     "dst": ["c1.slice0+c1.slice*"], "nbytes": [64]})
    many = "+".join(["c1.slice0", "c2.slice0"] * 4096)
    with pytest.raises(kernbench.BadInput, match="column 'dst'.*longer than 65535 bytes"):
        m.replay({"issue_ns": [0], "op": ["mwrite"], "src": ["c0.pe0"], "dst": [many], "offset": [0], "nbytes": [64]})


def test_names_of_operations_floats_that_are_whole_and_nothing(m):
    sim = kernbench.Simulation(m)
    pe, near = sim.endpoints("c0.pe[0-1]"), sim.endpoints("c0.slice0")
    assert sim.add(src=[], dst=[], nbytes=[]).size == 0 and sim.add(src=pe[:0], dst=near).size == 0 and sim.count == 0
    assert list(sim.add(src=pe, dst=near, op=["read", "write"], nbytes=[64.0, 4096.0], issue_fs=1e6)) == [0, 1]
    assert list(sim.add(src=pe, dst=near, op=np.array(["write", "read"], object), nbytes=np.array([1, 2], np.int8))) == [2, 3]
    sim.run()
    other = kernbench.Simulation(m)
    other.add({"issue_ns": [1, 1, 0, 0], "op": ["read", "write", "write", "read"], "src": ["c0.pe0", "c0.pe1"] * 2, "dst": ["c0.slice0"] * 4,
               "nbytes": [64, 4096, 1, 2]})
    other.run()
    assert (sim.times("end_fs")["end_fs"] == other.times("end_fs")["end_fs"]).all()


def test_what_a_simulation_refuses(m):
    sim = kernbench.Simulation(m)
    pe, near = sim.endpoints("c0.pe0"), sim.endpoints("c0.slice0")
    for mistake, text in [(dict(src=pe, dst=near, nbytes=0), "at least one byte"), (dict(src=pe), "have src, and dst"),
                          (dict(src=pe, dst=[10**6]), "is endpoint 1000000"), (dict(src=pe, dst=near, op="red"), "read, write"),
                          (dict(src=[0, 0], dst=[1, 1, 1]), "has the shape"),
                          (dict(src=pe, dst=near, issue_ns=-1), "before time 0")]:
        with pytest.raises(kernbench.BadArgument, match=text):
            sim.add(**mistake)
    for mistake, text in [(dict(nbytes=64.5), "nbytes 64.5: whole numbers from 0 to"), (dict(nbytes=np.array([-1])), "nbytes"),
                          (dict(nbytes="4K"), "nbytes '4K'"), (dict(nbytes=float("nan")), "nbytes nan"), (dict(op=256), "op 256"),
                          (dict(op=np.array([256])), "op"), (dict(op=["read", "mread"]), "op 'mread': read, write, h2d, d2h$"),
                          (dict(src=0.9), "src 0.9"), (dict(src=-1), "src -1"), (dict(src=np.array([1 << 32])), "src"),
                          (dict(src="c0.pe0"), "src 'c0.pe0'"), (dict(offset=-1), "offset -1"), (dict(plane=300), "plane 300"),
                          (dict(issue_fs=1.5), "issue_fs 1.5"), (dict(issue_ns=float("nan")), "issue_ns nan"),
                          (dict(issue_ns=[1e13]), "issue_ns"), (dict(issue_ns=1, issue_fs=1), "given both")]:
        with pytest.raises(kernbench.BadArgument, match=text):
            sim.add(**{"src": pe, "dst": near, **mistake})
    with pytest.raises(kernbench.BadArgument, match="nbytes is given beside a table"):
        sim.add({"issue_ns": [0], "op": ["read"], "src": ["c0.pe0"], "dst": ["c0.slice0"], "nbytes": [64]}, nbytes=4096)
    for time in (float("nan"), float("inf"), -1):
        with pytest.raises(kernbench.BadArgument, match="no time to run to"):
            sim.run_to(time)
    with pytest.raises(kernbench.BadArgument, match="there are 0 transactions, and from -1 on"):
        sim.times("end_fs", first=-1)
    waits = {"issue_ns": [0, 0], "op": ["read"] * 2, "src": ["c0.pe0"] * 2, "dst": ["c0.slice0"] * 2, "nbytes": [64, 64], "after": ["", "0"]}
    with pytest.raises(kernbench.BadArgument, match="no dependencies"):
        sim.add(waits)
    assert sim.count == 0
    with pytest.raises(kernbench.BadArgument, match="c0.pe99"):
        sim.endpoints("c0.pe99")
    sim.add(src=pe, dst=near)
    assert sim.run_to(1) and sim.now_ns == 1
    with pytest.raises(kernbench.BadArgument, match="has come to 1.000000 ns"):
        sim.add(src=pe, dst=near, issue_ns=0.5)
    with pytest.raises(kernbench.BadArgument, match="a later time"):
        sim.run_to(0.5)
    sim.run()
    with pytest.raises(kernbench.BadArgument, match="to its end"):
        sim.add(src=pe, dst=near, issue_ns=1e6)
    with pytest.raises(kernbench.BadArgument, match="spans=True"):
        sim.spans()
    planes = kernbench.Simulation(kernbench.Machine("wormhole"))
    with pytest.raises(kernbench.BadArgument, match="plane 'noc2': noc0, noc1"):
        planes.add(src=planes.endpoints("c0.pe0"), dst=planes.endpoints("c1.sram"), plane="noc2")
    with pytest.raises(kernbench.BadArgument, match="plane 'noc0': this machine has none by name"):
        kernbench.Simulation(kernbench.Machine("cube8")).add(src="c0.pe0", dst="c0.slice0", plane="noc0")


def test_a_mistake_has_its_row_and_nothing_is_added(m):
    sim = kernbench.Simulation(m)
    pe, near = sim.endpoints("c0.pe[0-2]"), sim.endpoints("c0.slice0")
    rows = {"issue_ns": [0] * 3, "op": ["read"] * 3, "src": ["c0.pe0"] * 3, "dst": ["c0.slice0"] * 3, "nbytes": [64] * 3}
    for added, text in [(lambda: sim.add(src=pe, dst=near, nbytes=[64, 64, 0]), "row 2: a transaction moves"),
                        (lambda: sim.add({**rows, "nbytes": [64, 0, 64]}), "row 1: a transaction moves"),
                        (lambda: sim.add({**rows, "src": ["c0.pe0", "c0.pe0", "c0.pe77"]}), "row 2, column 'src': c0.pe77: a cube"),
                        (lambda: sim.add({**rows, "op": ["read", "raed", "raed"]}), "row 1, column 'op': op 'raed'"),
                        (lambda: sim.add({**rows, "plane": ["", "", "a"]}), "row 2, column 'plane': plane 'a'")]:
        with pytest.raises(kernbench.BadArgument, match="^" + text) as failed:
            added()
        assert failed.value.line == int(text[4])
    with pytest.raises(kernbench.BadArgument, match="^a transaction moves"):
        sim.add(src=pe[0], dst=near, nbytes=0)
    with pytest.raises(kernbench.BadArgument, match="a row of targets"):
        sim.add(src=pe[0], dst=[], op="mwrite")
    with pytest.raises(kernbench.BadArgument, match="to_ns or to_fs"):
        sim.run_to(5, to_fs=7)
    with pytest.raises(kernbench.BadArgument, match="fingerprint=True"):
        sim.fingerprint
    assert sim.count == 0


def test_planes_are_refused_by_their_own_number():
    sim = kernbench.Simulation(kernbench.Machine("wormhole"))
    with pytest.raises(kernbench.BadArgument, match="plane 3: there are 2 planes, from 1 on"):
        sim.add(src=sim.endpoints("c0.pe0"), dst=sim.endpoints("c1.sram"), plane=3)


def test_numbers_of_endpoints_mean_the_same_in_every_simulation(m):
    """Of each other simulation, also one that has not been asked for these names."""
    first = kernbench.Simulation(m)
    first.endpoints("c7.slice*")  # so that numbers differ from those of a simulation that is asked first
    pe, near = first.endpoints(["c0.pe0", "c2.pe3"]), first.endpoints("c5.slice0")
    other, asked = kernbench.Simulation(m), kernbench.Simulation(m)
    asked.endpoints("c6.slice*")
    for sim in (first, other, asked):
        sim.add(src=pe, dst=near, nbytes=4096)
        sim.add(src=pe[0], dst=[near[0], first.endpoints("c6.slice0")[0]], op="mwrite")
        sim.run()
        assert list(sim.times("end_fs")["end_fs"]) == list(first.times("end_fs")["end_fs"])
    small = kernbench.Simulation(m.set({"sip.cube_mesh.w": 2, "sip.cube_mesh.h": 1}))
    with pytest.raises(kernbench.BadArgument, match="c2.pe3: a SIP has cubes 0..1"):
        small.add(src=pe, dst=small.endpoints("c0.slice0"))


def test_addresses_are_those_of_replay(m):
    """In a table among other rows, and as numbers: slices are interleaved, so they have parts."""
    machine = m.set({"addressing.granule": 4096})
    rows = {"issue_ns": [0, 5, 5.5], "op": ["read", "write", "read"], "src": ["c0.pe0", "c0.pe1", "c0.pe2"],
            "dst": ["0x1000", "c1.sram", "0x3fc0"], "nbytes": ["16K", 64, 128]}
    table, numbers = kernbench.Simulation(machine), kernbench.Simulation(machine)
    table.add(rows)
    pe = numbers.endpoints("c0.pe[0-2]")
    numbers.add(src=pe[0], address=0x1000, nbytes=16384, issue_ns=0)
    numbers.add(src=pe[1], dst=numbers.endpoints("c1.sram"), nbytes=64, issue_ns=5, op="write")
    numbers.add(src=pe[2], address=[0x3fc0], nbytes=128, issue_ns=5.5)
    want = machine.replay(rows)
    for sim in (table, numbers):
        sim.run()
        assert list(sim.rows().end_ns) == list(want.end_ns)
    with pytest.raises(kernbench.BadArgument, match="dst or address"):
        numbers.add(src=pe, dst=0, address=0)


@pytest.mark.parametrize("links, more", [("fifo", {"rows": [16, None, 8], "stride": ["64K", None, 1 << 16]}),
                                          ("router", {"prio": [0, 1, 3]})])
def test_tiles_and_priorities_are_those_of_a_file(m, tmp_path, links, more):
    machine = m.set({"contention.links": links, "contention.vcs": [4, 4], "contention.prios": 2} if links == "router" else {})
    machine = machine.set({"cube.hbm.model": "banks", "cube.pe.pe_dma.tiles": "runs"}) if links == "fifo" else machine
    rows = {"issue_ns": [0, 0, 0], "op": ["read" if links == "fifo" else "write"] * 3, "src": ["c1.pe0", "c1.pe1", "c1.pe2"],
            "dst": ["c1.slice0", "c1.slice1", "c1.slice2"] if links == "fifo" else ["c3.slice1"] * 3, "offset": [64, 0, 0], "nbytes": [4096, 4096, 1024], **more}
    cells = zip(*rows.values())
    (tmp_path / "rows.csv").write_text("\n".join([",".join(rows), *(",".join("" if c is None else str(c) for c in row) for row in cells)]))
    (tmp_path / "m.yaml").write_text(machine.config)
    head, lines = command("replay", tmp_path / "rows.csv", "--quiet", machine=str(tmp_path / "m.yaml"))
    want = [float(line[head.index("end_ns")]) for line in lines]
    table, columns = kernbench.Simulation(machine), kernbench.Simulation(machine)
    table.add(rows)
    numbers = {name: [int(str(c or 0).replace("64K", "65536")) for c in column] for name, column in more.items()}
    columns.add(src=columns.endpoints(rows["src"]), dst=columns.endpoints(rows["dst"]), offset=rows["offset"], nbytes=rows["nbytes"],
                op=rows["op"], **numbers)
    for sim in (table, columns):
        sim.run()
        assert list(sim.rows().end_ns) == want == list(machine.replay(rows).end_ns)
    assert list(machine.replay({**rows, **{name: [0] * 3 for name in more}}).end_ns) != want


def test_what_has_completed_is_told_at_a_cost_that_does_not_grow(m):
    """100,000 rows, and the loop asks behind each completion; one row takes as long as all others."""
    n = 100_000
    sim = kernbench.Simulation(m)
    pes, slices = sim.endpoints("c*.pe*"), sim.endpoints("c*.slice*")
    sim.add(src=pes[-1], dst=slices[-1], nbytes=1 << 32)
    sim.add(src=np.resize(pes[:-1], n), dst=np.resize(slices[:-1], n), nbytes=64, issue_fs=np.arange(n) * 1_000_000)
    seen = []
    begin = time.process_time()
    while sim.run_to(1e12, first=True):
        seen.extend(sim.completed())
    assert time.process_time() - begin < 60  # it takes 1 s; it took minutes
    assert sorted(seen) == list(range(n + 1)) and seen[-1] == 0 and sim.completed().size == 0


PAIR = """/* kernbench component: queueing pair */
struct pair { uint64_t held; int64_t has; };
static inline void pair_init(struct pair *s) { (void)s; }
static inline void pair_arrive(struct pair *s, const struct kb_request *r, int64_t now_fs, struct kb_handle *h)
{
    if (s->has)
        kb_done(h, s->held, now_fs + r->drain_fs), kb_done(h, r->id, now_fs + 2 * r->drain_fs);
    else
        s->held = r->id;
    s->has = !s->has;
}
static inline void pair_wake(struct pair *s, uint64_t id, int64_t now_fs, struct kb_handle *h) { (void)s, (void)id, (void)now_fs, (void)h; }
"""


@pytest.mark.parametrize("engine", ["fused", "hop"])
@pytest.mark.parametrize("links", ["fifo", "router"])
def test_a_memory_may_wait_for_what_is_added_later(m, tmp_path, monkeypatch, engine, links):
    """A component ends a request when the next one comes. That is no deadlock while more may be added."""
    (tmp_path / "pair.c").write_text(PAIR)
    monkeypatch.setenv("KB_COMPONENTS", str(tmp_path))
    machine = m.set({"cube.hbm.impl": "pair", "contention.links": links})
    rows = {"issue_ns": [0, 200, 400], "op": ["read"] * 3, "src": ["c0.pe0", "c0.pe1", "c0.pe2"], "dst": ["c0.slice0"] * 3, "nbytes": [64] * 3}
    want = machine.replay({name: column[:2] for name, column in rows.items()})
    for first in (False, True):
        sim = kernbench.Simulation(machine, engine=engine)
        for i in range(3):
            sim.add({name: column[i:i + 1] for name, column in rows.items()})
            while sim.run_to(100 + 200 * i, first=first) and first:
                pass
            assert sim.now_ns == 100 + 200 * i
        assert list(sim.rows().end_ns) == list(want.end_ns)
        with pytest.raises(kernbench.Deadlock, match="transaction 2 never ends: component 'pair' of 'cube.hbm.impl'"):
            sim.run()


def test_a_component_that_breaks_its_contract_has_the_code_of_replay(m, monkeypatch):
    monkeypatch.setenv("KB_COMPONENTS", str(ROOT / "tests/machines/components"))
    machine = m.set({"cube.hbm.impl": "wrong"})
    for run in (lambda sim: sim.run(), lambda sim: sim.run_to(1e6)):
        sim = kernbench.Simulation(machine)
        sim.add(src=sim.endpoints("c0.pe0"), dst=sim.endpoints("c0.slice0"), nbytes=1)
        with pytest.raises(kernbench.KernelError, match="component 'wrong' of 'cube.hbm.impl' serves transaction 0") as failed:
            run(sim)
        assert failed.value.code == 7


CRASH = """/* kernbench component: memory crash */
struct crash { int64_t n; };
static inline void crash_init(struct crash *s) { s->n = 0; }
static inline struct kb_served crash_serve(struct crash *s, const struct kb_request *r, int64_t now_fs)
{
    if (s->n++ > 2)
        *(volatile int *)(uintptr_t)(16 * s->n) = 1;
    return (struct kb_served){r->drain_fs, now_fs + r->drain_fs};
}
"""


def test_a_component_that_crashes_has_the_code_of_replay(tmp_path):
    (tmp_path / "crash.c").write_text(CRASH)
    code = """
import sys, threading
import kernbench
def run():
    sim = kernbench.Simulation(kernbench.Machine("cube8").set({"cube.hbm.impl": "crash"}))
    sim.add(src=sim.endpoints("c0.pe[0-3]"), dst=sim.endpoints("c0.slice0"), nbytes=64)
    try:
        sim.run() if sys.argv[1] == "run" else sim.run_to(1e6)
    except kernbench.KernelError as e:
        print(e.code, e, flush=True)
thread = threading.Thread(target=run)
thread.start()
thread.join()
"""
    for call in ("run", "run_to"):
        ended = subprocess.run([sys.executable, "-c", code, call], capture_output=True, text=True, timeout=300,
                               env={**os.environ, "KB_COMPONENTS": str(tmp_path)})
        assert ended.stdout == "7 component 'crash' crashed by an access to address 0x40 (SIGSEGV)\n", ended


def test_an_observer_must_not_call_the_simulation(m):
    for call in (lambda sim: sim.run(), lambda sim: sim.run_to(1e6), lambda sim: sim.add(src=pe, dst=near), lambda sim: sim.completed()):
        sim = kernbench.Simulation(m)
        pe, near = sim.endpoints("c0.pe[0-3]"), sim.endpoints("c0.slice0")
        sim.observe(end=lambda number, end_fs: call(sim))
        sim.add(src=pe, dst=near, nbytes=4096)
        with pytest.raises(kernbench.BadArgument, match="the simulation is running"):
            sim.run_to(1000)
        assert sim.count == 4 and sim.now_ns == 1000
    with pytest.raises(TypeError, match="an observer is a function, not NoneType"):
        kernbench.Simulation(m).observe(None)


def test_ctrl_c_ends_a_run_to_which_more_may_be_added(m):
    code = """
import os, signal, threading, time, sys
import numpy as np
import kernbench
sim = kernbench.Simulation(kernbench.Machine("cube8"))
pes, slices, n = sim.endpoints("c*.pe*"), sim.endpoints("c*.slice*"), 1_000_000
sim.add(src=np.resize(pes, n), dst=np.resize(slices, n)[::-1], nbytes=64)
run = sim.run if sys.argv[1] == "run" else lambda: sim.run_to(1e12)
def interrupt():
    while not sim.done:
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    run()
except KeyboardInterrupt:
    assert 0 < sim.done < n and sim.now_fs > 0
    more = dict(src=pes, dst=slices[::-1], nbytes=4096, issue_fs=sim.now_fs)
    sim.add(**more)
    run()
    other = kernbench.Simulation(sim.machine)
    other.endpoints("c*.pe*"), other.endpoints("c*.slice*")
    other.add(src=np.resize(pes, n), dst=np.resize(slices, n)[::-1], nbytes=64)
    other.add(**more)
    other.run()
    print(sim.done, bool((sim.times("end_fs")["end_fs"] == other.times("end_fs")["end_fs"]).all()))
    sim.run()
    try:
        sim.add(src=pes[0], dst=slices[0], nbytes=64, issue_fs=sim.now_fs)
    except kernbench.BadArgument as e:
        print(e)
"""
    for call in ("run", "run_to"):
        ended = subprocess.run([sys.executable, "-c", code, call], capture_output=True, text=True, timeout=300)
        assert ended.stderr == "" and ended.stdout == (
            "1000064 True\nthe simulation runs to its end, by kb_sim_run(): it takes no more transactions\n"), ended


LOOP = r"""
#include "kernbench.h"
#include <stdio.h>
#include <stdlib.h>
enum { PES = 64, WINDOWS = 20 };
int main(int argc, char **argv)
{
    const kb_topology *topo; kb_topology_source source = {.file = argv[1]};
    int n = atoi(argv[2]);
    kb_endpoint ends[2 * PES]; kb_options options = {.live = true}; kb_sim *sim; kb_error why; (void)argc;
    if (kb_topology_load(&source, &topo, NULL)) return 1;
    for (uint32_t i = 0; i < PES; i++) { kb_pe_get(topo, i, &ends[i]); kb_slice_get(topo, i, &ends[PES + i]); }
    uint32_t *src = malloc(n * sizeof *src), *dst = malloc(n * sizeof *dst);
    uint64_t *nbytes = malloc(n * sizeof *nbytes); int64_t *issue = malloc(n * sizeof *issue), *end = malloc(n * sizeof *end);
    uint8_t *status = malloc(n);
    uint64_t sum = 0;
    if (kb_sim_new(topo, &options, &sim)) return 1;
    for (int w = 0; w < WINDOWS; w++) {
        for (int i = 0; i < n; i++) {
            src[i] = i % PES; dst[i] = PES + (uint32_t)(i * 7 + w) % PES; nbytes[i] = 256;
            issue[i] = (w * 1000 + i * 1000 / n) * INT64_C(1000000);
        }
        kb_transaction_columns c = {.ends = ends, .n_ends = 2 * PES, .src = src, .dst = dst, .nbytes = nbytes, .issue_fs = issue};
        if (kb_sim_add_many(sim, &c, n, NULL, &why)) return puts(why.text), 1;
        kb_status s = kb_sim_run_to(sim, (w + 1) * INT64_C(1000000000), false, NULL, &why);
        if (s != KB_OK && s != KB_AGAIN) return puts(why.text), 1;
        kb_result_columns r = {.status = status, .end_fs = end};
        kb_sim_results(sim, (uint64_t)w * n, n, &r);
        for (int i = 0; i < n; i++) sum += (uint64_t)end[i];
    }
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
"""


def python_loop(machine, n):
    total = 0
    sim = kernbench.Simulation(machine)
    pes, slices = sim.endpoints("c*.pe*"), sim.endpoints("c*.slice*")
    row = np.arange(n)
    for w in range(20):
        sim.add(src=pes[row % 64], dst=slices[(row * 7 + w) % 64], nbytes=256,
                issue_fs=(w * 1000 + row * 1000 // n) * 1_000_000)
        sim.run_to(to_fs=(w + 1) * 1_000_000_000)
        total += int(sim.times("end_fs", "status", first=w * n, n=n)["end_fs"].sum())
    return total


def test_the_loop_adds_up_to_what_it_does_in_c(m, tmp_path):
    """20 windows of 2000 transactions: the same sum as of the same loop in C; `make bench-python` compares their cost."""
    folder = Path(kernbench.__file__).parent
    program = tmp_path / "loop"
    subprocess.run(["gcc", "-O2", f"-I{folder / 'include'}", "-x", "c", "-", "-x", "none", folder / "libkernbench.so.0",
                    f"-Wl,-rpath,{folder}", "-o", program], input=LOOP, text=True, check=True)
    ran = subprocess.run([program, ROOT / "topologies/cube8.yaml", "2000"], capture_output=True, text=True, check=True)
    assert int(ran.stdout) == python_loop(m, 2000)


CIRCLES = """
import gc, sys
import kernbench

gc.disable()
for i in range(3):
    circle = {}
    circle["self"] = circle
    circle["machine"] = kernbench.Machine("cube8")
    if sys.argv[1] == "run":
        circle["tensors"] = circle["machine"].run("gemm", M=64, N=64, K=64, tensors=True)
    elif sys.argv[1] == "iterations":
        circle["iterations"] = kernbench.Iterations(circle["machine"], "llama-3.2-1b", tries=1)
    else:
        sim = circle["sim"] = kernbench.Simulation(circle["machine"])
        if sys.argv[1] == "observed":
            sim.observe(end=lambda number, end_fs, sim=sim: None)
        sim.run()
        del sim
    del circle
    gc.collect()
print("all freed")
"""


@pytest.mark.parametrize("what", ["alone", "observed", "run", "iterations"])
def test_what_is_in_a_circle_is_freed_before_its_machine(what):
    scribbles = {**os.environ, "MALLOC_PERTURB_": "165"}  # what has been freed is not as it was
    ran = subprocess.run([sys.executable, "-c", CIRCLES, what], capture_output=True, text=True, env=scribbles)
    assert (ran.returncode, ran.stdout) == (0, "all freed\n"), ran.stderr
