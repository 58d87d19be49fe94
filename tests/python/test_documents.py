"""test_documents.py -- the examples of docs/python.md, and the notebook."""
import doctest
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import kernbench
from conftest import B, ROOT


def test_examples_of_the_page(monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    text = (ROOT / "docs/python.md").read_text()
    blocks = re.findall(r"```pycon\n(.*?)```", text, flags=re.S)
    assert len(blocks) > 5
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "docs/python.md", "docs/python.md", 0)
    failed = []
    runner = doctest.DocTestRunner(optionflags=doctest.IGNORE_EXCEPTION_DETAIL | doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=failed.append)
    assert not failed, "".join(failed)


def test_messages_of_the_page():
    """doctest does not compare them: each is what is raised."""
    text = (ROOT / "docs/python.md").read_text()
    said = re.findall(r"^kernbench\.(\w+): (.*)$", text, flags=re.M)
    assert len(said) == 3
    m = kernbench.Machine("cube8")
    calls = [lambda: m.inspect("all_reduce", op="max"),
             lambda: m.replay({"issue_ns": [0, 5], "op": ["read"] * 2, "src": ["c0.pe0", "c0.pe99"],
                               "dst": ["c0.slice0"] * 2, "nbytes": [1, 1]}),
             lambda: kernbench.Machine({"kernbench": 2, "name": "x", "sip": {"cube_mesh": {"w": 2, "h": 1}},
                                        "cube": {"hbm": {"bw_gbz": 1}}})]
    for (kind, message), call in zip(said, calls):
        try:
            call()
            assert False
        except kernbench.Error as e:
            assert (type(e).__name__, str(e)) == (kind, message)


def test_lines_of_the_readme():
    """The first screen has five lines of Python, which run."""
    block = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.S)[1]
    ran = subprocess.run([sys.executable, "-W", "ignore", "-c", block], capture_output=True, text=True, cwd=ROOT)
    assert ran.returncode == 0, ran.stderr


def executed(name, tmp_path):
    """The outputs of a notebook of examples/: all cells run, in the kernel that Jupyter starts."""
    folders = os.pathsep.join(p for p in sys.path if p.endswith("site-packages") or "py-dev" in p)
    notebook = ROOT / "examples" / name
    for cell in json.loads(notebook.read_text())["cells"]:
        assert not cell.get("outputs")
    subprocess.run([sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--output-dir", tmp_path,
                    "--ExecutePreprocessor.timeout=300", notebook], check=True, capture_output=True,
                   env={**os.environ, "PYTHONPATH": folders})
    done = json.loads((tmp_path / name).read_text())
    return [output for cell in done["cells"] for output in cell.get("outputs", [])]


def test_the_notebook(tmp_path):
    """The answer is there."""
    outputs = executed("architect.ipynb", tmp_path)
    answer = "".join(outputs[-1]["text"])
    assert re.search(r"^gemm: .* pays most$", answer, flags=re.M) and "all_reduce: " in answer
    assert sum("image/png" in output.get("data", {}) for output in outputs) >= 3


def test_the_notebook_of_models(tmp_path):
    """Which chip for this model: a Pareto plot, and the answer."""
    outputs = executed("which_chip.ipynb", tmp_path)
    answer = "".join(outputs[-1]["text"])
    beaten = re.search(r"^not beaten: (.*)$", answer, flags=re.M)[1].split(", ")
    assert beaten and re.search(r"^cheapest with a token in [0-9.]+ ms for 9 of 10 requests: (.*)$", answer, flags=re.M)
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 3
