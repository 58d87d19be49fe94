"""native.py -- the module kernbench._native: cffi's view of the headers, compiled against them.

No struct is copied by hand. gcc's preprocessor takes comments and macros out of the headers; what
is left are declarations, which cffi reads, except inline functions and #pragma lines. The compiler
then checks sizes and offsets (cffi's API mode): a header that changed cannot be misread.
"""
import os
import re
import subprocess
import tempfile
from pathlib import Path

from cffi import FFI

HERE = Path(__file__).resolve().parent
ROOT = next(folder for folder in (HERE / "source", HERE.parent) if (folder / "Makefile").exists())
BUILD = Path(os.environ.get("KERNBENCH_BUILD") or ROOT / "build")
SYSTEM = bool(os.environ.get("KB_SYSTEM"))  # all libraries are the system's
HEADERS = ["kernbench.h", "tl.h", "cli/cli_main.h", "cli/query/query.h"]
FOLDERS = [ROOT / "runtime/include", ROOT / "runtime"]


def tool(*words: str) -> str:
    """What a program prints."""
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def preprocessed() -> str:
    """The headers without comments, macros and what they include of the system."""
    source = "".join(f'#include "{name}"\n' for name in HEADERS)
    with tempfile.TemporaryDirectory() as empty:
        for name in ("stdbool.h", "stddef.h", "stdint.h"):
            Path(empty, name).touch()
        return subprocess.run(
            ["gcc", "-E", "-P", "-nostdinc", f"-I{empty}", *(f"-I{f}" for f in FOLDERS), "-"],
            input=source, check=True, capture_output=True, text=True).stdout


def declarations() -> str:
    """What cffi can read of them."""
    text = re.sub(r"^#pragma.*\n", "", preprocessed(), flags=re.M)
    text = re.sub(r"^static inline [^{;]*\{.*?^\}\n", "", text, flags=re.M | re.S)
    return re.sub(r"__attribute__\s*\(\(.*?\)\)", "", text)


def helpers() -> str:
    return (HERE / "helpers.c").read_text()


def helper_declarations() -> str:
    """The structs of helpers.c, and the first lines of its functions that Python may call."""
    structs = re.findall(r"^struct (?:kernbench_|Arrow)\w+ \{.*?^\};\n", helpers(), flags=re.M | re.S)
    heads = re.findall(r"^static (\w[^;{}]*kernbench_[^;{}]*\))\n\{", helpers(), flags=re.M)
    return re.sub(r"/\*.*?\*/", "", "".join(structs)) + "".join(head + ";\n" for head in heads)


def module() -> FFI:
    """The module, for cffi; the library is built by now."""
    ffi = FFI()
    ffi.cdef(declarations())
    ffi.cdef(helper_declarations() + "static char *const KB_VERSION;\nvoid free(void *);\n"
             'extern "Python" void kernbench_heard(void *arg, const kb_span *last);\n'
             'extern "Python" void kernbench_setup(kb_bench_run *run);\n'
             'extern "Python" void kernbench_endpoint(void *arg, const kb_endpoint *end);\n'
             'extern "Python" void kernbench_release_schema(struct ArrowSchema *);\n'
             'extern "Python" void kernbench_release_array(struct ArrowArray *);\n'
             'extern "Python" void kernbench_release_stream(struct ArrowArrayStream *);\n'
             'extern "Python" int kernbench_stream_schema(struct ArrowArrayStream *, struct ArrowSchema *);\n'
             'extern "Python" int kernbench_stream_next(struct ArrowArrayStream *, struct ArrowArray *);\n'
             'extern "Python" const char *kernbench_stream_error(struct ArrowArrayStream *);\n')
    ffi.set_source(
        "kernbench._native",
        "".join(f'#include "{name}"\n' for name in HEADERS) + "#include <stdlib.h>\n" + helpers(),
        include_dirs=[str(folder) for folder in FOLDERS],
        extra_objects=[str(BUILD / "_python/libquery.a")],
        library_dirs=[str(BUILD), str(BUILD / "_python/carried")],
        libraries=["kernbench"],
        extra_compile_args=["-O2", "-g0", "-fvisibility=hidden"],
        extra_link_args=[*([] if SYSTEM else ["-Wl,-rpath,$ORIGIN"]), *(BUILD / "_python/libs").read_text().split(), "-lm", "-lpthread"])
    return ffi
