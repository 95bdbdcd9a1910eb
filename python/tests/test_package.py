"""The wheel: it is made without a network, and works where it is unpacked."""

import os
import pathlib
import subprocess
import sys
import zipfile

import pytest


def test_wheel(tmp_path, monkeypatch):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
    import alphastep
    import build_backend

    # what the tests use is packed, instead of compiling it again
    monkeypatch.setattr(build_backend, "compile_package", lambda: pathlib.Path(alphastep.__file__).parent)
    name = build_backend.build_wheel(tmp_path)
    assert name.startswith(f"alphastep-{alphastep.__version__}-cp311-abi3-linux_")
    place = tmp_path / "place"
    with zipfile.ZipFile(tmp_path / name) as wheel:
        assert wheel.testzip() is None
        record = wheel.read(f"alphastep-{alphastep.__version__}.dist-info/RECORD").decode().splitlines()
        assert sorted(line.split(",")[0] for line in record) == sorted(wheel.namelist())
        assert "alphastep/py.typed" in wheel.namelist() and not [n for n in wheel.namelist() if "__pycache__" in n]
        wheel.extractall(place)
    program = "import alphastep; assert alphastep.__file__.startswith(%r); alphastep.load('alphastep: 1\\nbodies: {a: {type: point, mass: 1}}\\n').run(t_end=1)" % str(place)
    if os.environ.get("LD_PRELOAD"):
        pytest.skip("sanitizers")
    done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": str(place)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_limited_interface():
    """One binary for all versions: nothing of Python's that is not in the stable interface, which is what PyPI's tools look for, too."""
    import alphastep._core as core

    names = subprocess.run(["nm", "-D", "--undefined-only", core.__file__], capture_output=True, text=True).stdout
    python = {line.split()[-1] for line in names.splitlines() if line.split()[-1].startswith(("Py", "_Py"))}
    private = {n for n in python if n.startswith("_Py") and not n.endswith("_SizeT") and n not in ("_Py_NoneStruct", "_Py_TrueStruct", "_Py_FalseStruct", "_Py_Dealloc")}
    assert python and not private, private


def test_page(tmp_path, monkeypatch, cart):
    """The snippets of docs/python.md run, one behind the other."""
    import types

    root = pathlib.Path(__file__).resolve().parents[2]
    page = (root / "docs/python.md").read_text()
    snippets = [part.split("```")[0] for part in page.split("```python\n")[1:]]
    assert len(snippets) >= 5
    pin = cart.replace("rail", "pin").replace("prismatic", "revolute").replace("displacement", "angle").replace("k: 3", "k: 3, n: 1")
    (tmp_path / "model.yaml").write_text(pin)
    (tmp_path / "cart.yaml").write_text(cart.replace("blocks.in", "blocks.force").replace("blocks: {in:", "blocks: {force:"))
    monkeypatch.chdir(tmp_path)
    plt = types.SimpleNamespace(plot=lambda *columns: None)
    scipy = types.SimpleNamespace(linalg=types.SimpleNamespace(solve_continuous_are=lambda a, b, q, r: (a, b)))
    names = {"plt": plt, "scipy": scipy, "Q": None, "R": None}
    for snippet in snippets:
        exec(compile(snippet, "docs/python.md", "exec"), names)
    assert names["machine"].bodies == ["cart"] and names["sim"].t == 0.5 and len(names["states"]["q"]) == 3
