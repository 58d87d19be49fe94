"""setup.py -- the package kernbench: has make build the library, and puts it into the wheel."""
import os
import re
import shutil
import subprocess
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("KERNBENCH_BUILD") or ROOT / "build")
HEADER = (ROOT / "runtime/include/kernbench.h").read_text()


def carried():
    """The shared libraries that the extension needs beside ours, by the names it asks for."""
    for word in (BUILD / "_python/libs").read_text().split():
        if not word.startswith("-l"):
            continue  # an archive
        path = subprocess.run(["gcc", f"-print-file-name=lib{word[2:]}.so"], check=True,
                              capture_output=True, text=True).stdout.strip()
        head = subprocess.run(["objdump", "-p", path], check=True, capture_output=True, text=True)
        yield Path(path).resolve(), re.search(r"SONAME\s+(\S+)", head.stdout)[1]


class BuildPackage(build_py):
    """The Python files, and beside them the library, its headers and the machines."""

    def run(self):
        super().run()
        to = Path(self.build_lib) / "kernbench"
        shutil.copy2(BUILD / "libkernbench.so.0", to)  # a link: the file behind it
        for path, soname in carried():
            shutil.copy2(path, to / soname)
        for folder, files in {"include": ROOT.glob("runtime/include/*.h"),
                              "topologies": ROOT.glob("topologies/*.yaml")}.items():
            (to / folder).mkdir(parents=True, exist_ok=True)
            for file in files:
                shutil.copy2(file, to / folder)


# cffi reads the headers, and the linker the library, when setup() begins.
os.chdir(ROOT / "python")
subprocess.run(["make", "-s", "-C", str(ROOT), f"-j{os.cpu_count()}", f"B={os.path.relpath(BUILD, ROOT)}",
                "python-parts"], check=True)
os.environ["KERNBENCH_BUILD"] = str(BUILD)
setup(
    version=re.search(r'KB_VERSION\s+"(.*)"', HEADER)[1],
    cffi_modules=["native.py:ffi"],
    cmdclass={"build_py": BuildPackage},
    options={"bdist_wheel": {"py_limited_api": "cp38"},
             "build_ext": {"force": True},
             "build": {"build_base": str(BUILD / "_python/setup")},
             "egg_info": {"egg_base": str(BUILD / "_python")}},
)
