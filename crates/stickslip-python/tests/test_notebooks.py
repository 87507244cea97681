"""The notebooks run from top to bottom."""

import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[3] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_notebook_runs(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    import matplotlib.pyplot as plt

    monkeypatch.setattr(plt, "show", lambda *_: plt.close("all"))
    notebook = json.loads(path.read_text(encoding="utf-8"))
    names: dict = {}
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] == "code":
            assert not cell["outputs"], "notebooks are kept without outputs"
            code = compile("".join(cell["source"]), f"{path.name}, cell {number}", "exec")
            exec(code, names)  # noqa: S102 - our own notebooks


def test_three_notebooks():
    assert [path.stem for path in NOTEBOOKS] == ["first-steps", "paradoxes", "sweeps"]
