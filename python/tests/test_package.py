"""The wheel: it is made without a network, and works where it is unpacked."""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def module(path):
    """A program of the tree as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    out = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(out)
    return out


def test_wheel(tmp_path):
    import alphastep

    build_backend = module(ROOT / "python/build_backend.py")
    # what the tests use is packed, instead of compiling it again
    name = build_backend.pack(pathlib.Path(alphastep.__file__).parent, tmp_path)
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

    page = (ROOT / "docs/python.md").read_text()
    snippets = [part.split("```")[0] for part in page.split("```python\n")[1:]]
    assert len(snippets) >= 10
    pin = cart.replace("rail", "pin").replace("prismatic", "revolute").replace("displacement", "angle").replace("k: 3", "k: 3, n: 1")
    (tmp_path / "model.yaml").write_text(pin)
    (tmp_path / "cart.yaml").write_text(cart.replace("blocks.in", "blocks.force").replace("blocks: {in:", "blocks: {force:"))
    monkeypatch.chdir(tmp_path)
    plt = types.SimpleNamespace(plot=lambda *columns: None, hist=lambda column: None)
    scipy = types.SimpleNamespace(linalg=types.SimpleNamespace(solve_continuous_are=lambda a, b, q, r: (a, b)))
    names = {"plt": plt, "scipy": scipy, "Q": None, "R": None}
    for snippet in snippets:
        exec(compile(snippet, "docs/python.md", "exec"), names)
        if "driven" in names:
            assert names["motion"]["joints.drive.drive"][0] == pytest.approx((0.1 + 0.5) * 2 + 9.81)
            del names["driven"]
    assert names["sim"].t == 0.5 and len(names["states"]["q"]) == 3 and len(names["s"]) == 40 and names["s"].status == ["done"] * 40
    assert (tmp_path / "pendulum.json").exists()


def test_api_page(tmp_path):
    """docs/python-api.md is what the docstrings say: tools/update-docs writes it."""
    made = tmp_path / "api.md"
    done = subprocess.run([sys.executable, ROOT / "python/generate/generate_api.py", made], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert made.read_text() == (ROOT / "docs/python-api.md").read_text()


def test_notebook():
    """The cells of the tutorial give the outputs that it holds."""
    notebook = module(ROOT / "python/generate/notebook.py")
    assert notebook.check(ROOT / "examples/python/tutorial.ipynb") == []
    assert notebook.same("0.4960 Hz, 12 rows", "0.4961 Hz, 12 rows") and not notebook.same("0.4960 Hz", "0.5160 Hz") and not notebook.same("12 rows", "14 rows")


@pytest.mark.parametrize("name, needs, said", [
    ("pendulum", [], r"force of the rod 58\.8[56]\d+ N, exactly 58\.8600"),
    ("lqr", ["numpy", "scipy"], r"3\.976(.|\n)*as far as 0\.49\d m; after 5 s the pole is off by [\d.]+e-0[4-6] rad"),
    ("fit", ["numpy", "scipy"], r"length: 0\.620\d+ \+- 0\.000\d+, truly 0\.62\ndamping: 0\.045\d+ \+-"),
    ("tolerances", [], r"200 runs: 51\.4\d degrees, standard deviation 0\.1[012]\d; linear estimate 0\.11\d\n(.*\n)?(.*#.*\n){5}"),
])
def test_examples(name, needs, said):
    for package in needs:
        pytest.importorskip(package)
    done = subprocess.run([sys.executable, ROOT / "examples/python" / f"{name}.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert re.search(said, done.stdout), done.stdout


def test_types():
    """What the stubs say the extension module has, it has, and nothing else; annotations of the methods can be looked up."""
    import ast
    import inspect
    import typing

    import alphastep
    from alphastep import _core, _parts

    tree = ast.parse((ROOT / "python/alphastep/_core.pyi").read_text())
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            said = {f.name for f in node.body if isinstance(f, ast.FunctionDef)} - {"__new__"}
            assert said == {n for n in vars(getattr(_core, node.name)) if not n.startswith("__")}, node.name
    functions = {n.name for n in tree.body if isinstance(n, ast.FunctionDef)}
    assert functions == {n for n in vars(_core) if inspect.isbuiltin(getattr(_core, n))}
    for part in vars(alphastep.Model()).values():
        for name, method in vars(type(part)).items():
            if inspect.isfunction(method) and type(part).__module__ == "alphastep._parts":
                assert typing.get_type_hints(method, vars(_parts)), name


def test_pandas_and_notebooks(cart, monkeypatch):
    """to_pandas(); show() in a notebook is a frame that holds the report."""
    import types

    import alphastep

    result = alphastep.load(cart).run()

    class HTML(str):
        pass

    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: object()))
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(HTML=HTML))
    shown = result.show(height=500)
    assert isinstance(shown, HTML) and shown.startswith("<iframe srcdoc=") and 'height="500"' in shown and "joints.rail.displacement" in shown
    pytest.importorskip("pandas")
    frame = result.to_pandas()
    assert frame.index.name == "time [s]" and list(frame.columns) == result.channels and frame["joints.rail.displacement"].iloc[-1] > 0.1
    study = alphastep.study(cart, parameters={"k": [1, 2]}, results={"end": {"last": "joints.rail.displacement"}}).to_pandas()
    assert list(study.columns) == ["parameters.k", "end", "status"] and len(study) == 2


def test_shown_progress(cart, capfd):
    import alphastep

    alphastep.load(cart).run(t_end=300, progress=True)
    assert re.search(r"\r\s*\d+ %, t = [\d.]+ s .*\r100 %, t = 300 s", capfd.readouterr().err)


def test_installs(tmp_path):
    """pip puts the wheel into a fresh environment without a network, and it runs there without NumPy."""
    import alphastep

    pip = subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True)
    if pip.returncode or os.environ.get("LD_PRELOAD"):
        pytest.skip("pip is not there")
    build_backend = module(ROOT / "python/build_backend.py")
    package = pathlib.Path(alphastep.__file__).parent
    wheel = build_backend.pack(package, tmp_path)
    place = tmp_path / "site"
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", place, tmp_path / wheel], check=True)
    program = ("import sys; sys.path.insert(0, %r); import alphastep; assert 'numpy' not in sys.modules and alphastep.__file__.startswith(%r)\n"
               "model = alphastep.Model(); model.bodies.point('a', mass=1, velocity=[1, 0, 0]); model.simulate(t_end=1)\n"
               "r = model.build().run(); print(r['bodies.a.position.x'][-1], type(r.time).__name__)") % (str(place), str(place))
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    x, kind = done.stdout.split()
    assert float(x) == pytest.approx(1) and kind == "memoryview"
