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


@pytest.mark.parametrize("name", ["", *MODULES])
def test_examples_of_the_docstrings_run(name):
    module = importlib.import_module(f"stickslip.{name}".rstrip("."))
    found = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.failed == 0, f"{found.failed} of {found.attempted} examples of {module.__name__}"


def public():
    """Public names with what they stand for: functions, classes, and their methods and properties."""
    for name in stickslip.__all__:
        thing = getattr(stickslip, name)
        if inspect.ismodule(thing):
            for inner in thing.__all__:
                yield f"{name}.{inner}", getattr(thing, inner)
        elif name != "__version__":
            yield name, thing


def members():
    for name, thing in public():
        yield name, thing
        if inspect.isclass(thing):
            for inner, member in vars(thing).items():
                described = isinstance(member, (property, classmethod, staticmethod)) or inspect.isfunction(member)
                if not inner.startswith("_") and described:
                    yield f"{name}.{inner}", member


@pytest.mark.parametrize(("name", "thing"), list(members()), ids=[name for name, _ in members()])
def test_every_public_name_has_a_docstring_with_an_example(name, thing):
    function = thing.__func__ if isinstance(thing, (classmethod, staticmethod)) else thing
    text = inspect.getdoc(function)
    assert text, f"{name} has no docstring"
    assert ">>>" in text, f"{name} has no example"


def test_stubs_are_true():
    # The rest of the package is its own stub. Where the rules of typing differ between versions, the allowlist says so.
    words = [sys.executable, "-m", "mypy.stubtest", "stickslip._stickslip", "--concise", "--ignore-unused-allowlist"]
    words += ["--mypy-config-file", str(ROOT / "pyproject.toml"), "--allowlist", str(Path(__file__).with_name("stubtest-allowlist.txt"))]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_types_hold():
    package = Path(stickslip.__file__).parent
    words = [sys.executable, "-m", "mypy", "--ignore-missing-imports", "--no-error-summary", str(package)]
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
