"""_bench.py -- benches of one's own: compiled from C, and judged by a Python function."""
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Callable, List, Optional, Union

import numpy as np

from ._errors import BadArgument, BadInput, error
from ._native import ffi, lib
from ._tensors import Tensors

HERE = Path(__file__).parent
# those of `kernbench cc`
FLAGS = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-fPIC", "-fstack-clash-protection", "-shared",
         "-ffp-contract=off"]

# Objects call the functions of the library, which must be in sight of them.
_LIBRARY = ffi.dlopen(str(HERE / "libkernbench.so.0"), ffi.RTLD_NOW | ffi.RTLD_GLOBAL)


def is_compiled(name: str) -> bool:
    """Is it FILE.so, or FILE.so:NAME?"""
    return re.search(r"\.so(:\w+)?$", name) is not None


class Bench(str):
    """The path of a compiled bench, which run(), why(), breakdown() and the like take for a name."""

    def __getitem__(self, name: Any) -> Any:
        """One of several benches in it: bench["moe"]."""
        return Bench(f"{self}:{name}") if isinstance(name, str) else str.__getitem__(self, name)


def cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base, "kernbench")


def compile(source: Union[str, "os.PathLike[str]"], *, flags: Optional[List[str]] = None) -> Bench:
    """Compiles a bench in C: the name of a file, or its text, which is any string with a newline.

    It ends with KB_BENCHES(&bench_moe); docs/kernels.md has one to start from. The compiler is that
    of the environment variable CC, or cc. What is compiled is kept in ~/.cache/kernbench by a hash
    of the text and the flags: the same text is compiled once. Mistakes raise kernbench.BadInput,
    with file, line and column of the first.

    >>> m.run(kernbench.compile("moe.c"), tokens=256, verify=True)
    """
    text = os.fspath(source)
    name = "<string>"
    folder = None
    if "\n" not in text:
        name, folder = text, os.path.dirname(os.path.abspath(text))
        try:
            text = Path(text).read_text()
        except OSError as e:
            raise BadInput(3, [f"cannot read {name}: {e.strerror}"]) from None
    compiler = os.environ.get("CC") or "cc"
    words = [*FLAGS, f"-I{HERE / 'include'}", *([f"-I{folder}"] if folder else []), *(flags or [])]
    key = "\0".join([ffi.string(lib.KB_VERSION).decode(), compiler, *words, text])
    made = cache_folder() / (hashlib.sha256(key.encode()).hexdigest()[:32] + ".so")
    if not made.exists():
        build(compiler, words, text, name, made)
    return Bench(made)


def build(compiler: str, words: List[str], text: str, name: str, made: Path) -> None:
    """Compiles to `made`, which appears when it is whole."""
    if shutil.which(compiler) is None:
        raise error(5, [f"cannot run the compiler '{compiler}': benches in C need one"])
    made.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=made.parent) as folder:
        new = os.path.join(folder, "bench.so")
        # the text comes by a pipe: the compiler is told what to call it
        ran = subprocess.run([compiler, *words, "-x", "c", "-", "-o", new], text=True,
                             input=f'#line 1 "{name}"\n{text}', capture_output=True,
                             env={**os.environ, "LC_ALL": "C"})
        if ran.returncode:
            lines = [line for line in ran.stderr.splitlines() if ": error:" in line or "fatal" in line]
            raise BadInput(3, lines or ran.stderr.splitlines() or [f"{name} does not compile"])
        os.replace(new, made)


def judge(tensors: Tensors, reference: Callable[..., Any], rows: Any) -> None:
    """Compares the outputs with what a function makes of the inputs; fills verify, max_abs_err."""
    inputs = [tensors[name] for name in tensors if tensors.role(name) == "input"]
    names = [name for name in tensors if tensors.role(name) == "output"]
    found = reference(*inputs)
    if isinstance(found, dict):
        found = [found[name] for name in names]
    elif len(names) == 1:
        found = [found]
    if len(found) != len(names):
        raise BadArgument(2, [f"the reference returns {len(found)} arrays, the outputs are "
                              + ", ".join(names)])
    worst, messages = 0.0, []
    for name, want in zip(names, found):
        difference = compare(tensors, name, want)
        worst = max(worst, difference.max_abs_err)
        if difference.n_bad:
            index = np.unravel_index(difference.index, tensors.shape(name))
            messages.append(f"verification failed: {name}[{', '.join(map(str, index))}] is "
                            f"{difference.got:g}, not {difference.want:g}; {difference.n_bad} of "
                            f"{int(np.prod(tensors.shape(name)))} elements are wrong")
    rows["verify"] = "fail" if messages else "pass"
    rows["max_abs_err"] = worst
    if messages:
        raise error(1, messages, rows)


def compare(tensors: Tensors, name: str, want: Any) -> Any:
    """kb_compare() of a whole tensor."""
    want = np.ascontiguousarray(want, np.float64)
    if want.shape != tensors.shape(name):
        raise BadArgument(2, [f"the reference of {name} has the shape {want.shape}, not "
                              f"{tensors.shape(name)}"])
    want = want.copy()
    kind = lib.kb_tensor_dtype(tensors.tensor(name))
    got = np.ascontiguousarray(tensors.raw(name))
    values = ffi.from_buffer("double[]", want)
    lib.kernbench_round(kind, values, want.size)
    difference = ffi.new("kb_difference *")
    lib.kb_compare(kind, ffi.from_buffer("char[]", got), values, want.size, difference)
    return difference
