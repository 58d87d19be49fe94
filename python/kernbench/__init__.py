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
    Simulation  transactions that are added while time runs, and results to branch on
    serve       a trace of requests to a language model, by continuous batching
    Iterations  what iterations of a model take
    tables      those that LLMServingSim and Vidur read
    compile     a bench of your own, in C
    kernel      makes a kernel of a function of Python: kernbench.language
    vary        the same question to many machines
    benches     the benches that run() takes
    diff        the largest changes between two files of results
    columns     what the columns of all tables mean, and their units
    machines    the machines that come with the package
    Error       what is raised; BadArgument, BadInput, Different, Deadlock, KernelError,
                LimitReached are Errors
    Note        the warning that tells of bounds, and of results that may mislead

Threads scale: the interpreter's lock is free while a machine simulates. Ctrl-C ends any call
within a second. Runs of more than a second show a bar if tqdm is there; kernbench.progress(False)
turns it off. docs/python.md has more.
"""
from ._bench import Bench, compile
from ._errors import BadArgument, BadInput, Deadlock, Different, Error, KernelError, LimitReached, Note
from ._arrow import ArrowRows
from ._kernel import Kernel, Launch, Launches, by_rows, empty, kernel
from ._machine import Machine, Picture, Variants, benches, columns, diff, machines, vary
from ._native import ffi as _ffi
from ._native import lib as _lib
from ._query import progress
from ._result import Result
from ._iterations import Iterations
from ._serve import Serving, serve
from ._simulation import Simulation
from ._tables import tables
from ._tensors import Tensors

__version__ = _ffi.string(_lib.KB_VERSION).decode()
__all__ = ["Machine", "Simulation", "serve", "Serving", "Iterations", "tables", "Variants", "vary", "benches", "machines", "columns", "diff", "Result", "ArrowRows", "compile", "Bench", "kernel", "Kernel", "Launch", "Launches", "empty", "by_rows", "Tensors", "Picture", "progress",
           "Error", "BadArgument", "BadInput", "Different", "Deadlock", "KernelError", "LimitReached", "Note"]
