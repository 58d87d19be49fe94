"""test_wheel.py -- the package as a package: what is in the wheel, its types, its program."""
import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path

import kernbench
from conftest import B, ROOT

FOLDER = Path(kernbench.__file__).parent
TYPING = Path(__file__).parent / "typing"
OTHERS = ["blis", "jansson", "libmd", "libyaml", "protobuf-c", "sqlite3", "xxhash"]


def tool(*words, **options):
    return subprocess.run(words, capture_output=True, text=True, **options)


def test_notices_of_all_that_is_inside():
    """Each library that is linked or carried has its notice in the wheel, with its own licence."""
    dist = importlib.metadata.distribution("kernbench")
    found = {Path(str(file)).name: Path(dist.locate_file(file)).read_text()
             for file in dist.files if "/LICENSE" in str(file)}
    assert sorted(found) == ["LICENSE"] + [f"LICENSE.{name}" for name in OTHERS]
    assert "Apache License" in found["LICENSE"]
    for name, words in {"blis": "University of Texas", "libyaml": "Kirill Simonov", "jansson": "Petri Lehtinen",
                        "xxhash": "Yann Collet", "protobuf-c": "Dave Benson", "libmd": "Colin Plumb",
                        "sqlite3": "public"}.items():
        assert words in found[f"LICENSE.{name}"], name


def test_carried_libraries_have_names_of_their_own():
    """No other package's libsqlite3.so.0 is taken for ours, or ours for it."""
    carried = sorted(file.name for file in FOLDER.glob("lib*.so.*"))
    assert [name.split(".so")[0] for name in carried] == [
        "libjansson-kernbench", "libkernbench", "libprotobuf-c-kernbench", "libsqlite3-kernbench"]
    for name in carried:
        assert f"[{name}]" in tool("readelf", "-d", FOLDER / name).stdout
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", tool("readelf", "-d", next(FOLDER.glob("_native*.so"))).stdout)
    assert set(carried) <= set(needed)
    assert {name for name in needed if name not in carried} <= {"libm.so.6", "libc.so.6", "ld-linux-x86-64.so.2",
                                                                "libpthread.so.0", "ld-linux-aarch64.so.1"}


def test_the_tag_is_the_oldest_glibc_that_will_do():
    wheel = importlib.metadata.distribution("kernbench").read_text("WHEEL")
    tag = re.search(r"Tag: cp38-abi3-manylinux_2_(\d+)_", wheel)
    asked = [int(version) for file in FOLDER.glob("*.so*")
             for version in re.findall(r"\bGLIBC_2\.(\d+)", tool("objdump", "-T", file).stdout)]
    assert int(tag[1]) == max(asked) <= 34
    about = importlib.metadata.metadata("kernbench")
    assert about["License"] == "Apache-2.0" and about["Requires-Python"] == ">=3.8"
    assert about["Version"] == kernbench.__version__ and "DataFrame" in about.get_payload()


def test_the_program():
    """python -m kernbench and the script are the program: same output, same exit codes."""
    words = ["route", "c0.pe0", "c3.slice1", "--machine", str(ROOT / "topologies/cube8.yaml"), "--format", "csv"]
    want = tool(B / "kernbench", *words).stdout
    script = Path(sys.executable).parent / "kernbench"
    assert tool(sys.executable, "-m", "kernbench", *words).stdout == want != ""
    assert tool(script, *words).stdout == want
    failed = tool(script, "prob")
    assert failed.returncode == 2 and "unknown command 'prob'" in failed.stderr


def test_the_program_finds_its_headers(tmp_path):
    script = Path(sys.executable).parent / "kernbench"
    made = tool(script, "cc", ROOT / "examples/moe.c", "-o", tmp_path / "moe.so", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert "moe" in tool(script, "list", f"{tmp_path}/moe.so:moe").stdout


def mypy(*words):
    """What mypy says; its cache stays, as most of its time goes into numpy."""
    return tool("/usr/bin/mypy", "--strict", "--cache-dir", B / "_python/mypy", *words).stdout


def test_types():
    """What is right passes, and each of twenty mistakes is found at its line."""
    installed = ["--python-executable", sys.executable]
    assert "Success" in mypy(*installed, TYPING / "right.py")
    lines = (TYPING / "wrong.py").read_text().splitlines()
    planted = {i for i, line in enumerate(lines, 1) if "  # " in line}
    said = mypy(*installed, TYPING / "wrong.py")
    found = {int(line) for line in re.findall(r"wrong\.py:(\d+): error", said)}
    assert len(planted) == 20 and found == planted, said


def test_the_examples_are_strict():
    said = mypy("--python-executable", sys.executable, *sorted((ROOT / "examples").glob("*.py")))
    assert "Success" in said, said


def test_the_package_itself_is_strict():
    said = mypy("--ignore-missing-imports", ROOT / "python/kernbench")
    assert "Success" in said, said
