"""setup.py -- the package kernbench: has make build the library, and puts it into the wheel.

The wheel has libraries of others, linked into ours or beside it: their notices go with it, and
those beside it have names of their own, so that no other package's copy is taken in their place.
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist
from wheel.bdist_wheel import bdist_wheel

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from native import BUILD, ROOT, SYSTEM, tool  # noqa: E402

HEADER = (ROOT / "runtime/include/kernbench.h").read_text()
VERSION = re.search(r'KB_VERSION\s+"(.*)"', HEADER)[1]
PARTS = BUILD / "_python"
# What the source of the package needs of the tree, beside the files of python/.
SOURCES = ["Makefile", "LICENSE", ".ci", "gen", "runtime", "templates", "topologies", "benches", "python/python.mk"]


# -- libraries of others --------------------------------------------------------------------------


def notice(file):
    """The copyright file of the Debian package that a library, or a header, comes from."""
    owner = tool("dpkg", "-S", os.path.realpath(file)).split(":")[0]
    return Path(f"/usr/share/doc/{owner}/copyright")


def gather_notices():
    """Our licence, and the notices of all that is linked or carried; returns their names."""
    to = PARTS / "licenses"
    shutil.rmtree(to, ignore_errors=True)
    to.mkdir(parents=True)
    shutil.copy(ROOT / "LICENSE", to / "LICENSE")
    for line in (PARTS / "parts").read_text().splitlines():
        name, file = line.split()
        found = notice(file)
        if not found.exists():
            raise SystemExit(f"setup.py: there is no {found}: the wheel has to carry the notice of {name}")
        shutil.copy(found, to / f"LICENSE.{name}")
    return [str(path) for path in sorted(to.iterdir())]


# -- which system it runs on ----------------------------------------------------------------------


def glibc_of(folder):
    """The newest version of glibc that a symbol of its shared objects asks for: (2, 34)."""
    found = {(2, 17)}  # the oldest that has a tag
    for file in Path(folder).rglob("*.so*"):
        found |= {tuple(map(int, version.split(".")[:2]))
                  for version in re.findall(r"\bGLIBC_([\d.]+)", tool("objdump", "-T", file))}
    return max(found)


class BuildWheel(bdist_wheel):
    """A wheel for the oldest glibc that has all symbols which it asks for, with all notices."""

    @property
    def license_paths(self):
        return gather_notices()

    def get_tag(self):
        python, abi, platform = super().get_tag()
        arch = platform.split("_", 1)[1]
        return python, abi, "manylinux_{}_{}_{}".format(*glibc_of(self.bdist_dir), arch)

    def write_wheelfile(self, *args, **options):
        self.plat_name_supplied = True
        super().write_wheelfile(*args, **options)


# -- what is in it --------------------------------------------------------------------------------


class BuildPackage(build_py):
    """The Python files, and beside them the library, its headers and the machines."""

    def run(self):
        super().run()
        to = Path(self.build_lib) / "kernbench"
        for file in [] if SYSTEM else [BUILD / "libkernbench.so.0", *(PARTS / "carried").glob("*.so.*")]:
            shutil.copy2(file, to)  # of a link the file behind it
        for folder, files in {"include": ROOT.glob("runtime/include/*.h"),
                              "topologies": ROOT.glob("topologies/*.yaml")}.items():
            (to / folder).mkdir(parents=True, exist_ok=True)
            for file in files:
                shutil.copy2(file, to / folder)


class SourceArchive(sdist):
    """The files of python/, and the tree that make needs in the folder source/."""

    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        for name in SOURCES:
            to = Path(base_dir, "source", name)
            to.parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, to, dirs_exist_ok=True)
            else:
                shutil.copy2(ROOT / name, to)
        shutil.copy2(ROOT / "LICENSE", base_dir)


# cffi reads the headers, and the linker the library, when setup() begins.
os.chdir(HERE)
OF_SOURCE = "sdist" in sys.argv[1:]
if not OF_SOURCE:
    subprocess.run(["make", "-s", "-C", str(ROOT), f"-j{os.cpu_count()}", f"B={os.path.relpath(BUILD, ROOT)}",
                    "python-parts"], check=True)
os.environ["KERNBENCH_BUILD"] = str(BUILD)
setup(
    version=VERSION,
    cffi_modules=[] if OF_SOURCE else ["native.py:module"],
    cmdclass={"build_py": BuildPackage, "bdist_wheel": BuildWheel, "sdist": SourceArchive},
    options={"bdist_wheel": {"py_limited_api": "cp38"},
             "build_ext": {"force": True},
             "build": {"build_base": str(PARTS / "setup")},
             "egg_info": {"egg_base": str(PARTS)}},
)
