"""kernbench: how long things take on multi-chiplet AI accelerators.

    import kernbench

    m = kernbench.Machine("cube8")                       # or "mine.yaml", or a dict
    m.probe()                                            # latencies from near to far
    m.run("gemm", M=512, verify=True)                    # kernels, with their results checked
    m.why("gemm", by="key", M=512)                       # which key of the machine pays
    kernbench.vary(m, {"cube.hbm.bw_gbs": [256, 512]}).run("gemm", M=512)

Every method runs the command of that name of the program `kernbench`, in this process, and returns
its rows as a DataFrame (without pandas as a numpy record array): same columns, units and digits.
Names of columns end in their unit: _ns, _gbs (GB/s), _pct (per cent), _bytes.

    Machine     a machine: probe, route, replay, sweep, load, run, breakdown, why, race, inspect
    vary        the same question to many machines
    benches     the benches that run() takes
    machines    the machines that come with the package
    Error       what is raised; BadArgument, BadInput, Different, Deadlock, KernelError are Errors
    Note        the warning that tells of bounds, and of results that may mislead

Threads scale: the interpreter's lock is free while a machine simulates. Ctrl-C ends any call
within a second. Runs of more than a second show a bar if tqdm is there; kernbench.progress(False)
turns it off. docs/python.md has more.
"""
from ._errors import BadArgument, BadInput, Deadlock, Different, Error, KernelError, Note
from ._machine import Machine, Picture, Variants, benches, machines, vary
from ._native import ffi as _ffi
from ._native import lib as _lib
from ._query import progress
from ._tensors import Tensors

__version__ = _ffi.string(getattr(_lib, "KB_VERSION", _ffi.NULL) or _ffi.new("char[]", b"0")).decode()
__all__ = ["Machine", "Variants", "vary", "benches", "machines", "Tensors", "Picture", "progress",
           "Error", "BadArgument", "BadInput", "Different", "Deadlock", "KernelError", "Note"]
