"""Every public name has a docstring with an example that runs, and a stub that is true."""

import doctest
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import stickslip

ROOT = Path(__file__).resolve().parents[3]
MODULES = sorted(
    name for _, name, _ in pkgutil.iter_modules(stickslip.__path__) if name not in ("_stickslip", "__main__")
)


def names_of_modules():
    """Public names: those of the package, and of its modules `judge` and `study`."""
    for name in stickslip.__all__:
        thing = getattr(stickslip, name)
        if inspect.ismodule(thing):
            for inner in thing.__all__:
                yield f"{name}.{inner}", getattr(thing, inner)
        elif name != "__version__":
            yield name, thing


def ours(owner):
    """Whether a class is one of this package, rather than one of Python that ours is derived from."""
    return owner.__module__.startswith("stickslip")


def public():
    """Public names with what they stand for: functions, classes, and all members of these that users can reach."""
    for name, thing in names_of_modules():
        yield name, thing
        if not inspect.isclass(thing):
            continue
        for inner in dir(thing):
            owner = next(c for c in thing.__mro__ if inner in vars(c))
            if not inner.startswith("_") and ours(owner) and inner not in inspect.get_annotations(owner):
                yield f"{name}.{inner}", vars(owner)[inner]


PUBLIC = dict(public())


def described(thing):
    return thing.__func__ if isinstance(thing, (classmethod, staticmethod)) else thing


def test_members_of_the_engine_are_among_the_public_names():
    # What is inherited from the compiled module is public, too.
    assert {"Simulation.step", "Simulation.q", "Scene.title", "Run.verify", "judge.mujoco", "study.map", "RunPlot.energy"} <= set(PUBLIC)


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_has_a_docstring_with_an_example(name):
    text = inspect.getdoc(described(PUBLIC[name]))
    assert text, f"{name} has no docstring"
    assert ">>>" in text, f"{name} has no example"


def test_every_attribute_is_described_where_it_is_declared():
    seen = 0
    for name, thing in names_of_modules():
        for attribute in inspect.get_annotations(thing) if inspect.isclass(thing) else ():
            if not attribute.startswith("_"):
                lines = inspect.getsource(thing).splitlines()
                at = next(k for k, line in enumerate(lines) if line.startswith(f"    {attribute}:"))
                assert lines[at - 1].lstrip().startswith("#:"), f"{name}.{attribute}"
                seen += 1
    assert seen > 30


def examples():
    """Docstrings with examples, once each: of public names and of the modules."""
    found = {"stickslip": stickslip.__doc__}
    for module in MODULES:
        found[f"stickslip.{module}"] = importlib.import_module(f"stickslip.{module}").__doc__
    for name, thing in PUBLIC.items():
        found.setdefault(name, inspect.getdoc(described(thing)))
    return {name: text for name, text in found.items() if text and ">>>" in text}


EXAMPLES = examples()


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_runs(name):
    test = doctest.DocTestParser().get_doctest(EXAMPLES[name], {}, name, name, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    said = []
    found = runner.run(test, out=said.append)
    assert found.attempted > 0 and found.failed == 0, "".join(said)


def test_every_public_name_has_a_type():
    """Functions and methods tell the types of all that they take and give, which the checker then holds them to; what is
    compiled has its types in the stub."""
    stub = (Path(stickslip.__file__).parent / "_stickslip.pyi").read_text(encoding="utf-8")
    for name, thing in PUBLIC.items():
        thing = described(thing)
        function = thing.fget if isinstance(thing, property) else thing
        if inspect.isfunction(function):
            signature = inspect.signature(function)
            assert signature.return_annotation is not inspect.Signature.empty, name
            for parameter in list(signature.parameters.values()):
                untyped = parameter.annotation is inspect.Parameter.empty
                assert not untyped or parameter.name in ("self", "cls"), f"{name}: {parameter.name}"
        elif type(function).__name__ in ("method_descriptor", "getset_descriptor", "builtin_function_or_method"):
            assert f"    def {name.split('.')[-1]}(" in stub, name


def test_stubs_are_true():
    # The rest of the package is its own stub. Where the rules of typing differ between versions, the allowlist says so.
    words = [sys.executable, "-m", "mypy.stubtest", "stickslip._stickslip", "--concise", "--ignore-unused-allowlist"]
    words += ["--mypy-config-file", str(ROOT / "pyproject.toml"), "--allowlist", str(Path(__file__).with_name("stubtest-allowlist.txt"))]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_types_hold():
    package = Path(stickslip.__file__).parent
    words = [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", "--no-error-summary", str(package)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_program_that_the_package_installs_exists():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    module, function = project["project"]["scripts"]["stickslip"].split(":")
    assert callable(getattr(importlib.import_module(module), function))
    assert stickslip.__version__ == tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]


def test_numpy_alone_is_imported():
    code = "import sys, stickslip; print([m for m in ('matplotlib','pandas','xarray','dask','scipy','mujoco') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_what_is_not_installed_is_told_with_the_extra_that_brings_it():
    # An interpreter that finds none of the optional packages.
    code = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.split('.')[0] in ('matplotlib', 'pandas', 'xarray'):
            raise ModuleNotFoundError(f'No module named {name!r}', name=name.split('.')[0])
sys.meta_path.insert(0, Hidden())
import stickslip
run = stickslip.scene('bouncing-ball').run()
for ask in (run.plot, run.plot.energy, run.to_pandas, run.to_xarray, lambda: stickslip.sweep('bouncing-ball', {'step': [1e-3]})):
    try:
        ask()
    except (ImportError, stickslip.SweepError) as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    told = done.stdout.splitlines()
    assert [line.split("'")[-2] for line in told] == [f"stickslip[{e}]" for e in ("plot", "plot", "xarray", "xarray", "sweep")]


def blocks(path):
    """Python of a page, fence by fence."""
    return re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.S)


def test_examples_of_the_page_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = blocks(ROOT / "docs" / "python.md")
    assert len(found) > 5
    names: dict = {}
    for block in found:
        exec(compile(block, "docs/python.md", "exec"), names)  # noqa: S102 - our own page
