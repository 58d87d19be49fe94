"""test_limits.py -- calls that are ended: Ctrl-C while a machine is made, limit_s and limit_mb."""
import signal
import subprocess
import sys
import time

import pytest

import kernbench

# far more than can be done while a test waits
GAPS = {"kernbench": 2, "name": "gaps", "sip": {"cube_mesh": {"w": 100, "h": 100}}, "contention": {"links": "router"},
        "missing": ["c5050", "c1234", "c7777"]}

INTERRUPTED = f"""
import kernbench, sys, time
print("begins", flush=True)
try:
    kernbench.Machine({GAPS!r})
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c_while_a_machine_is_made():
    # behind `make ... &` a shell has SIGINT ignored
    p = subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True,
                         preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    assert p.stdout.readline() == "begins\n"
    time.sleep(0.5)
    p.send_signal(signal.SIGINT)
    assert p.communicate(timeout=60)[0] == "interrupted\n"


def test_limit_s_has_what_is_complete():
    m = kernbench.Machine("cube8")
    with pytest.raises(kernbench.LimitReached) as raised:
        m.sweep("c0.pe0", "c7.slice4", inflight=[4, 8_000_000], engine="hop", jobs=1, limit_s=3)
    assert raised.value.code == 8
    assert len(raised.value.rows) == 1
    assert "stopped by limit_s: 1 of 2 points complete" in str(raised.value)


LARGE = """
import kernbench
m = kernbench.Machine("cube8")
try:
    m.sweep("c0.pe0", "c7.slice4", inflight=[4, 8_000_000], engine="hop", jobs=1, limit_mb=60)
except kernbench.LimitReached as e:
    print(e.code, len(e.rows), e)
"""


def test_limit_mb():
    """In a process of its own: memory that other tests have freed may be taken again, and is not counted."""
    p = subprocess.run([sys.executable, "-c", LARGE], capture_output=True, text=True, timeout=120)
    assert p.stdout == "8 1 stopped by limit_mb: 1 of 2 points complete\n", p.stderr


def test_limits_that_are_not_reached_change_nothing():
    m = kernbench.Machine("cube8")
    assert m.probe().equals(m.probe(limit_s=1000, limit_mb=100000))
