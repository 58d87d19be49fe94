"""_bench.py -- benches of one's own: compiled from C, and judged by a Python function."""
import os
import re
from pathlib import Path
from typing import Any, Callable, List, Optional, Union

import numpy as np

from ._errors import BadArgument, BadInput, error
from ._native import ffi, lib
from ._query import c_text
from ._tensors import Tensors

HERE = Path(__file__).parent
# those of `kernbench cc`
FLAGS = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-fPIC", "-fstack-clash-protection", "-shared",
         "-ffp-contract=off", "-Werror=implicit-function-declaration"]

# Objects call the functions of the library, which must be in sight of them.
_FILE = HERE / "libkernbench.so.0"  # of a distribution's package it is where libraries are
_LIBRARY = ffi.dlopen(str(_FILE) if _FILE.exists() else _FILE.name, ffi.RTLD_NOW | ffi.RTLD_GLOBAL)


def is_compiled(name: str) -> bool:
    """Is it FILE.so, or FILE.so:NAME?"""
    return re.search(r"\.so(:\w+)?$", name) is not None


class Bench(str):
    """The path of a compiled bench, which run(), why(), breakdown() and the like take for a name."""

    def __getitem__(self, name: Any) -> Any:
        """One of several benches in it: bench["moe"]."""
        return Bench(f"{self}:{name}") if isinstance(name, str) else str.__getitem__(self, name)


def compile(source: Union[str, "os.PathLike[str]"], *, flags: Optional[List[str]] = None) -> Bench:
    """Compiles a bench in C: the name of a file, or its text, which is any string with a newline.

    It ends with KB_BENCHES(&bench_moe); docs/kernels.md has one to start from. The compiler is that
    of the environment variable CC, or cc. What is compiled is kept in ~/.cache/kernbench by a hash
    of the text with all that it includes, the flags and the compiler: the same is compiled once.
    Mistakes raise kernbench.BadInput, with file, line and column of the first.

    >>> m.run(kernbench.compile("moe.c"), tokens=256, verify=True)
    """
    text = os.fspath(source)
    name = "<string>"
    folder = None
    if "\n" not in text:
        name, folder = text, os.path.dirname(os.path.abspath(text))
        try:
            text = Path(text).read_text(errors="surrogateescape")
        except OSError as e:
            raise BadInput(3, [f"cannot read '{name}': {e.strerror}"]) from None
    words = [*FLAGS, f"-I{HERE / 'include'}", *([f"-I{folder}"] if folder else []), *(flags or [])]
    return Bench(compiled(text, name, words))


def compiled(text: str, name: str, words: List[str]) -> str:
    """The path of the object, which the library makes or finds."""
    if "\0" in text:
        raise BadInput(3, [f"{name} has a byte 0, it is no text"])
    flags = [c_text(word) for word in words]
    out = ffi.new("kb_query_object *")
    code = lib.kb_query_compile(c_text(text), c_text(name), ffi.new("char *[]", [*flags, ffi.NULL]), out)
    said = ffi.string(out.said).decode(errors="replace")
    if out.no_compiler:
        raise error(5, [f"cannot run the compiler '{said}': benches in C need one"])
    if code:
        lines = said.splitlines()
        raise error(code, [line for line in lines if ": error:" in line or "fatal" in line]
                    or lines or [f"{name} does not compile"])
    return os.fsdecode(ffi.string(out.path))


def outputs_of(found: Any, names: List[str]) -> List[Any]:
    """What a reference returned, in the order of the outputs."""
    if isinstance(found, dict):
        lacking = [name for name in names if name not in found]
        if lacking:
            raise BadArgument(2, [f"the reference returns no '{lacking[0]}': the outputs are " + ", ".join(names)])
        return [found[name] for name in names]
    if len(names) == 1:
        found = [found]
    n = len(found) if isinstance(found, (list, tuple)) else 1
    if n != len(names):
        raise BadArgument(2, [f"the reference returns {n} arrays, the outputs are " + ", ".join(names)])
    return list(found)


def judge(tensors: Tensors, reference: Callable[..., Any], rows: Any) -> None:
    """Compares the outputs with what a function makes of the inputs; fills verify, max_abs_err."""
    inputs = [tensors[name] for name in tensors if tensors.role(name) == "input"]
    names = [name for name in tensors if tensors.role(name) == "output"]
    if not names:
        raise error(2, ["reference cannot be decided: the bench has no output to verify"], rows)
    found = outputs_of(reference(*inputs), names)
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
    try:
        if want is None:
            raise TypeError
        want = np.array(want, np.float64, order="C")
    except (TypeError, ValueError):
        raise BadArgument(2, [f"the reference of {name} is no array of numbers: {type(want).__name__}"]) from None
    if want.shape != tensors.shape(name):
        raise BadArgument(2, [f"the reference of {name} has the shape {want.shape}, not "
                              f"{tensors.shape(name)}"])
    kind = lib.kb_tensor_dtype(tensors.tensor(name))
    got = np.ascontiguousarray(tensors.raw(name))
    values = ffi.from_buffer("double[]", want)
    lib.kernbench_round(kind, values, want.size)
    difference = ffi.new("kb_difference *")
    lib.kb_compare(kind, ffi.from_buffer("char[]", got), values, want.size, difference)
    return difference
