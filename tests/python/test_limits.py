"""test_limits.py -- calls that are ended: Ctrl-C while a machine is made, limit_s and limit_mb."""
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import kernbench
import kernbench.language as tl

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


# -- what does not look ---------------------------------------------------------------------------

# Kernels that compute for good without a command: in C, in Python, and one that will not be interrupted.
ENDLESS = r"""
import os, signal, sys, threading, time
import numpy as np
import kernbench
import kernbench.language as tl

m = kernbench.Machine("cube8")
C = kernbench.compile('''
#include <tl.h>
static void endless(tl_ctx *tl, const kb_args *args)
{
    for (volatile int i = 0; tl && args; i++)
        ;
}
static void setup(kb_bench_run *run)
{
    kb_bench_launch(run, "endless", endless, NULL, 0);
}
static const kb_bench bench_endless = {.name = "endless", .summary = "it does not end", .setup = setup};
KB_BENCHES(&bench_endless);
''')

@kernbench.kernel
def endless(x_ptr):
    tl.load(x_ptr + tl.arange(0, 8))
    while True:
        pass

@kernbench.kernel
def stubborn(x_ptr):
    while True:
        try:
            time.sleep(0.01)
        except BaseException:
            pass

x = np.zeros(8, np.float32)
bench = {"C": C, "endless": endless[(8,)](x), "stubborn": stubborn[(2,)](x)}[sys.argv[1]]
began = time.monotonic()
if sys.argv[2] == "ctrl-c":
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    m.run(bench, **({"limit_s": 0.5} if sys.argv[2] == "limit" else {}))
except (KeyboardInterrupt, kernbench.LimitReached) as e:
    print(type(e).__name__, e)
print(time.monotonic() - began < 5, m.run("softmax", M=1, N=64, quiet=True).kernel_ns[0] > 0, flush=True)
if sys.argv[1] != "endless":
    os._exit(0)  # what was left behind computes on
"""


@pytest.mark.parametrize("kernel", ["C", "endless", "stubborn"])
@pytest.mark.parametrize("by, says", [("limit", "LimitReached stopped by limit_s: the run did not stop within a second; nothing is kept"),
                                      ("ctrl-c", "KeyboardInterrupt ")])
def test_kernels_that_compute_for_good_are_ended(kernel, by, says):
    p = subprocess.run([sys.executable, "-c", ENDLESS, kernel, by], capture_output=True, text=True, timeout=60,
                       preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    assert p.stdout == f"{says}\nTrue True\n", p.stderr
    assert p.stderr == "" and p.returncode == 0


def test_a_kernel_in_python_that_goes_on_ends_with_what_is_complete():
    @kernbench.kernel
    def once(x_ptr):
        tl.load(x_ptr + tl.arange(0, 8))

    @kernbench.kernel
    def forever(x_ptr):
        while True:
            tl.load(x_ptr + tl.arange(0, 8))

    launches, x = kernbench.Launches(), np.zeros(8, np.float32)
    launches.launch(once[(1,)](x))
    launches.launch(forever[(1,)](x))
    began = time.monotonic()
    with pytest.raises(kernbench.LimitReached, match="stopped by limit_s: 1 of 2 launches complete") as raised:
        kernbench.Machine("cube8").run(launches, limit_s=1)
    assert time.monotonic() - began < 2.5 and list(raised.value.rows.kernel) == ["once"]
