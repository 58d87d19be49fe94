"""test_stale.py -- what is kept is not taken once anything that it was made of has changed.

Each test edits one input between two calls in one process, and holds the second to what a new
process computes without a cache.
"""
import json
import os
import subprocess
import sys

import pytest

import kernbench

BENCH = """#include <tl.h>
{include}
static void own(tl_ctx *tl, const kb_args *args) {{
    (void)args;
    if (tl_pe(tl) == 0)
        tl_store(tl, 0, tl_full(tl, KB_F16, KB_SHAPE({elements}), 1));
}}
static void setup(kb_bench_run *run) {{ kb_bench_launch(run, "own", own, NULL, 0); }}
const kb_bench bench_own = {{.name = "own", .summary = "a store", .setup = setup}};
KB_BENCHES(&bench_own);
"""
ELEMENTS = "#define ELEMENTS {}\n"
HEADER = BENCH.format(include='#include "own.h"', elements="ELEMENTS")
ANGLED = BENCH.format(include="#include <own.h>", elements="ELEMENTS")
PLAIN = BENCH.format(include="", elements="ELEMENTS")
FEW, MANY = 64, 6400


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A working folder and a cache of one's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for name in ("CC", "CPATH", "C_INCLUDE_PATH"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "here"


@pytest.fixture(scope="module")
def machine():
    return kernbench.Machine("cube8")


def header(path, elements):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(ELEMENTS.format(elements))


def time_of(machine, bench):
    return float(machine.run(bench).kernel_ns[0])


TIMES = {}


def holds(machine, bench, elements):
    """The bench takes as long as one that stores so many elements."""
    if elements not in TIMES:
        TIMES[elements] = time_of(machine, kernbench.compile(BENCH.format(include="", elements=elements)))
    assert time_of(machine, bench) == TIMES[elements]


# -- kernbench.compile() --------------------------------------------------------------------------


def edit_header_beside(folder, monkeypatch):
    (folder / "own.c").write_text(HEADER)
    yield header(folder / "own.h", FEW)
    yield header(folder / "own.h", MANY)


def edit_header_of_a_header(folder, monkeypatch):
    (folder / "own.c").write_text(HEADER)
    (folder / "own.h").write_text('#include "inner.h"\n')
    yield header(folder / "inner.h", FEW)
    yield header(folder / "inner.h", MANY)


def edit_source(folder, monkeypatch):
    yield (folder / "own.c").write_text(BENCH.format(include="", elements=FEW))
    yield (folder / "own.c").write_text(BENCH.format(include="", elements=MANY))


def edit_working_folder(folder, monkeypatch):
    header(folder / "a/own.h", FEW)
    header(folder / "b/own.h", MANY)
    (folder / "own.c").write_text(HEADER)
    monkeypatch.chdir(folder / "a")
    yield
    monkeypatch.chdir(folder / "b")
    yield


def edit_variable_cpath(folder, monkeypatch):
    (folder / "own.c").write_text(ANGLED)
    header(folder / "a/own.h", FEW)
    header(folder / "b/own.h", MANY)
    yield monkeypatch.setenv("CPATH", str(folder / "a"))
    yield monkeypatch.setenv("CPATH", str(folder / "b"))


def edit_variable_c_include_path(folder, monkeypatch):
    (folder / "own.c").write_text(ANGLED)
    header(folder / "a/own.h", FEW)
    header(folder / "b/own.h", MANY)
    yield monkeypatch.setenv("C_INCLUDE_PATH", str(folder / "a"))
    yield monkeypatch.setenv("C_INCLUDE_PATH", str(folder / "b"))


def edit_file_in_cpath(folder, monkeypatch):
    (folder / "own.c").write_text(ANGLED)
    monkeypatch.setenv("CPATH", str(folder / "a"))
    yield header(folder / "a/own.h", FEW)
    yield header(folder / "a/own.h", MANY)


def edit_compiler_variable(folder, monkeypatch):
    (folder / "own.c").write_text(PLAIN)
    for name, elements in (("a", FEW), ("b", MANY)):
        cc = folder / name
        cc.write_text(f'#!/bin/sh\nexec cc -DELEMENTS={elements} "$@"\n')
        cc.chmod(0o755)
        yield monkeypatch.setenv("CC", str(cc))


def edit_compiler_itself(folder, monkeypatch):
    (folder / "own.c").write_text(PLAIN)
    cc = folder / "cc"
    monkeypatch.setenv("CC", str(cc))
    for elements in (FEW, MANY):
        cc.write_text(f'#!/bin/sh\nexec cc -DELEMENTS={elements} "$@"\n')
        cc.chmod(0o755)
        yield


def edit_compiler_in_path(folder, monkeypatch):
    (folder / "own.c").write_text(PLAIN)
    for name, elements in (("a", FEW), ("b", MANY)):
        cc = folder / name / "cc"
        cc.parent.mkdir()
        cc.write_text(f'#!/bin/sh\nexec /usr/bin/cc -DELEMENTS={elements} "$@"\n')
        cc.chmod(0o755)
        yield monkeypatch.setenv("PATH", f"{cc.parent}:/usr/bin:/bin")


def edit_object_that_is_linked(folder, monkeypatch):
    """A file that the preprocessor does not see."""
    (folder / "own.c").write_text(BENCH.format(include="extern int elements;", elements="elements"))
    for elements in (FEW, MANY):
        subprocess.run(["cc", "-fPIC", "-x", "c", "-c", "-", "-o", "more.o"], input=f"int elements = {elements};",
                       text=True, check=True)
        yield


def edit_file_of_the_assembler(folder, monkeypatch):
    (folder / "own.c").write_text(BENCH.format(
        include='__asm__(".pushsection .rodata\\n.balign 4\\nelements:.incbin \\"elements\\"\\n.popsection");\n'
                "extern const int elements __attribute__((visibility(\"hidden\")));", elements="elements"))
    for elements in (FEW, MANY):
        (folder / "elements").write_bytes(elements.to_bytes(4, "little"))
        yield


@pytest.mark.parametrize("edit, flags", [
    (edit_source, None), (edit_header_beside, None), (edit_header_of_a_header, None), (edit_working_folder, None),
    (edit_variable_cpath, None), (edit_variable_c_include_path, None), (edit_file_in_cpath, None),
    (edit_compiler_variable, None), (edit_compiler_itself, None), (edit_compiler_in_path, None),
    (edit_object_that_is_linked, ["more.o"]), (edit_file_of_the_assembler, None),
], ids=lambda value: getattr(value, "__name__", ""))
def test_compiled_again_after(edit, flags, folder, machine, monkeypatch):
    for elements, _ in zip((FEW, MANY), edit(folder, monkeypatch)):
        bench = kernbench.compile(folder / "own.c", flags=flags)
        with monkeypatch.context() as plain:
            for name in ("CC", "CPATH", "C_INCLUDE_PATH"):
                plain.delenv(name, raising=False)
            holds(machine, bench, elements)


def test_a_relative_include_path_is_of_the_working_folder(folder, machine, monkeypatch):
    (folder / "own.c").write_text(ANGLED)
    for name, elements in (("a", FEW), ("b", MANY)):
        header(folder / name / "inc/own.h", elements)
        monkeypatch.chdir(folder / name)
        holds(machine, kernbench.compile(folder / "own.c", flags=["-Iinc"]), elements)


def test_a_header_that_appears_earlier_in_the_path(folder, machine):
    (folder / "own.c").write_text(ANGLED)
    flags = [f"-I{folder / 'first'}", f"-I{folder / 'last'}"]
    header(folder / "last/own.h", FEW)
    holds(machine, kernbench.compile(folder / "own.c", flags=flags), FEW)
    header(folder / "first/own.h", MANY)
    holds(machine, kernbench.compile(folder / "own.c", flags=flags), MANY)
    (folder / "first/own.h").unlink()
    holds(machine, kernbench.compile(folder / "own.c", flags=flags), FEW)


def test_flags_that_differ(folder, machine):
    (folder / "own.c").write_text(PLAIN)
    for elements in (FEW, MANY):
        holds(machine, kernbench.compile(folder / "own.c", flags=[f"-DELEMENTS={elements}"]), elements)


def test_what_is_the_same_is_compiled_once(folder):
    (folder / "own.c").write_text(HEADER)
    header(folder / "own.h", FEW)
    first = kernbench.compile(folder / "own.c")
    made = os.stat(first).st_ino
    assert kernbench.compile(folder / "own.c") == first
    header(folder / "own.h", MANY)
    assert kernbench.compile(folder / "own.c") != first
    header(folder / "own.h", FEW)
    assert kernbench.compile(folder / "own.c") == first and os.stat(first).st_ino == made


# -- entries that are broken, folders of others ---------------------------------------------------


@pytest.mark.parametrize("broken", [b"", b"\x7fELF", None, "link"])
def test_an_entry_that_is_broken_is_made_again(broken, folder, machine):
    (folder / "own.c").write_text(BENCH.format(include="", elements=FEW))
    bench = kernbench.compile(folder / "own.c")
    with open(bench, "rb") as file:
        whole = file.read()
    os.unlink(bench)
    if broken == "link":
        os.symlink("/dev/null", bench)
    else:
        with open(bench, "wb") as file:
            file.write(whole[:len(whole) // 2] if broken is None else broken)
    assert kernbench.compile(folder / "own.c") == bench
    holds(machine, bench, FEW)


def test_a_folder_that_others_may_write_is_refused(folder):
    (folder / "own.c").write_text(PLAIN)
    cache = folder.parent / "cache/kernbench"
    cache.mkdir()
    cache.chmod(0o777)
    with pytest.raises(kernbench.Error, match="may be written by others") as failed:
        kernbench.compile(folder / "own.c", flags=["-DELEMENTS=8"])
    assert failed.value.code == 5 and not list(cache.iterdir())


# -- objects that others have compiled --------------------------------------------------------------


def build(path, elements):
    subprocess.run(["cc", "-O1", "-fPIC", "-shared", f"-I{os.path.dirname(kernbench.__file__)}/include",
                    "-x", "c", "-", "-o", path], input=BENCH.format(include="", elements=elements),
                   text=True, check=True)


@pytest.mark.parametrize("replace", [os.replace, lambda new, old: open(old, "r+b").write(open(new, "rb").read())],
                         ids=["moved there", "written over"])
def test_an_object_that_is_built_again_runs(replace, folder, machine):
    build("few.so", FEW)
    build("many.so", MANY)
    os.rename("few.so", "own.so")
    holds(machine, "./own.so:own", FEW)
    replace("many.so", "own.so")
    holds(machine, "./own.so:own", MANY)
    holds(machine, "./own.so", MANY)


# -- what DataFrames say of themselves ----------------------------------------------------------------


def parts(frame):
    return dict(part.split("=") for part in frame.attrs["provenance"].split(" "))


def differing(a, b):
    """The parts in which two DataFrames differ; components have the machine in their hash."""
    return {name for name, digest in parts(a).items() if parts(b)[name] != digest} - \
        ({"components"} if parts(a)["machine"] != parts(b)["machine"] else set())


def test_the_record_of_a_frame(folder, machine):
    build("own.so", FEW)
    a = machine.run("./own.so:own")
    assert differing(a, machine.run("./own.so:own")) == set()
    build("new.so", MANY)
    os.replace("new.so", "own.so")
    assert differing(a, machine.run("./own.so:own")) == {"bench"}
    assert differing(machine.probe(), machine.probe(bytes=64)) == {"command"}
    assert differing(machine.probe(), machine.set({"cube.hbm.bw_gbs": 64}).probe()) == {"machine"}


def test_the_record_of_a_frame_that_is_replayed(folder, machine):
    rows = {"issue_ns": [0, 1], "op": ["read", "read"], "src": ["c0.pe0"] * 2, "dst": ["c0.slice0"] * 2,
            "nbytes": [64, 64]}
    a = machine.replay(rows)
    assert differing(a, machine.replay(rows)) == set()
    for name, values in (("issue_ns", [0, 2]), ("src", ["c0.pe0", "c0.pe1"]), ("op", ["read", "write"]),
                         ("nbytes", [64, 128])):
        assert differing(a, machine.replay({**rows, name: values})) == {"inputs"}, name
    (folder / "rows.csv").write_text("issue_ns,op,src,dst,offset,nbytes\n0,read,c0.pe0,c0.slice0,0,64\n")
    b = machine.replay("rows.csv")
    (folder / "rows.csv").write_text("issue_ns,op,src,dst,offset,nbytes\n0,read,c0.pe0,c0.slice0,0,65\n")
    assert differing(b, machine.replay("rows.csv")) == {"inputs"}


def test_the_record_of_a_machine_with_components(folder, monkeypatch):
    (folder / "components").mkdir()
    text = (kernbench_root() / "examples/components/closed_page.c").read_text()
    yaml = "kernbench: 2\nname: m\nsip: {cube_mesh: {w: 1, h: 1}}\ncube: {pes: 1, hbm: {impl: closed_page}}\n"
    (folder / "m.yaml").write_text(yaml)

    def load(text, cc=None):
        (folder / "components/closed_page.c").write_text(text)
        if cc:
            (folder / "cc").write_text(f'#!/bin/sh\nexec cc {cc} "$@"\n')
            (folder / "cc").chmod(0o755)
            monkeypatch.setenv("CC", str(folder / "cc"))
        return kernbench.Machine(folder / "m.yaml").probe()

    a = load(text)
    assert differing(a, load(text)) == set()
    edited = load(text.replace("28.0", "29.0"))
    assert differing(a, edited) == {"machine"}  # a default is a key of the machine
    assert not a.equals(edited)
    assert differing(a, load(text + "/* more */\n")) == {"components"}
    assert differing(a, load(text, "-DMORE=1")) == {"compiler"}
    assert differing(load(text, "-DMORE=1"), load(text, "-DMORE=2")) == {"compiler"}


def kernbench_root():
    from conftest import ROOT
    return ROOT


def test_a_new_process_has_the_same_record(folder):
    code = "import json, kernbench; print(json.dumps(kernbench.Machine('cube8').probe().attrs['provenance']))"
    said = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
            for _ in range(2)]
    assert said[0] == said[1]
    assert json.loads(said[0]) == kernbench.Machine("cube8").probe().attrs["provenance"]
