"""The studies of the command line: many runs of one scene, seen together.

Each function runs ``stickslip study ... --json`` in a process of its own, on all cores, and returns what it prints:

>>> import stickslip
>>> found = stickslip.study.convergence(stickslip.scene("sliding-block"), steps=[4e-3, 2e-3, 1e-3])
>>> 0.8 < found["order"] < 1.2
True
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .errors import RunError
from .scene import Scene
from .scene import scene as _scene
from .sweep import sweep

__all__ = [
    "attainable",
    "bifurcation",
    "bounds",
    "compare",
    "convergence",
    "map",
    "neighbours",
    "poincare",
    "reactions",
    "start",
    "sweep",
]


def _options(**options: Any) -> list[str]:
    """Options of the command line; lists are joined by commas, those that are None left out."""
    words = []
    for name, value in options.items():
        if value is None:
            continue
        if isinstance(value, (list, tuple, np.ndarray)):
            value = ",".join(repr(float(x)) if isinstance(x, (int, float, np.floating)) else str(x) for x in value)
        elif isinstance(value, (float, np.floating)):
            value = repr(float(value))
        words += [f"--{name.replace('_', '-')}", str(value)]
    return words


def _ask(command: Sequence[str], scene: Scene | str, options: Sequence[str], output: bool) -> str:
    """Runs the program on a scene, which lies beside its own files so that these are found."""
    chosen = scene if isinstance(scene, Scene) else _scene(scene)
    with tempfile.TemporaryDirectory() as folder:
        # Tables and meshes are named relative to the scene, which then must lie beside them.
        place = Path(chosen.file).parent if chosen.files else Path(folder)
        handle, name = tempfile.mkstemp(suffix=".toml", dir=place)
        try:
            with open(handle, "w", encoding="utf-8") as file:
                file.write(chosen.text)
            words = [sys.executable, "-m", "stickslip", *command, name, *options]
            words += ["--output", folder] if output else []
            done = subprocess.run(words, capture_output=True, text=True, encoding="utf-8", check=False)
        finally:
            os.unlink(name)
    if done.returncode != 0:
        raise RunError(done.stderr.strip().removeprefix("error: ") or f"exit code {done.returncode}")
    return done.stdout


def convergence(
    scene: Scene | str,
    *,
    steps: Sequence[float] | None = None,
    compliance_times: Sequence[float] | None = None,
    against: str | None = None,
) -> dict[str, Any]:
    """Errors at the end over steps or compliance times, with measured orders.

    >>> import stickslip
    >>> found = stickslip.study.convergence("sliding-block", steps=[4e-3, 2e-3, 1e-3], against="finest")
    >>> len(found["rows"])
    2
    """
    words = _options(steps=steps, compliance_times=compliance_times, against=against)
    found: dict[str, Any] = json.loads(_ask(["study", "convergence"], scene, [*words, "--json"], False))
    return found


def map(
    scene: Scene | str,
    x: tuple[str, str],
    y: tuple[str, str],
    *,
    of: str = "regime",
    level: float | None = None,
    gap: float | None = None,
) -> dict[str, Any]:
    """A quantity over two parameters, given as ``("mu", "0.5:3:60")``: ``cells`` and ``certified`` as arrays (y, x), and the
    boundary.

    >>> import stickslip
    >>> found = stickslip.study.map("painleve-rod", ("theta0", "0.2:1.5:4"), ("mu", "0.5:3:3"), of="margin")
    >>> found["cells"].shape
    (3, 4)
    """
    words = _options(x=f"{x[0]}={x[1]}", y=f"{y[0]}={y[1]}", of=of, level=level, gap=gap)
    found: dict[str, Any] = json.loads(_ask(["study", "map"], scene, [*words, "--json"], True))
    shape = (len(found["y"]["values"]), len(found["x"]["values"]))
    found["cells"] = np.array(found["cells"]).reshape(shape)
    found["certified"] = np.array(found["certified"]).reshape(shape)
    return found


def bounds(scene: Scene | str) -> dict[str, Any]:
    """The a-priori bounds of the sweeping process beside what the run realised.

    >>> import stickslip
    >>> isinstance(stickslip.study.bounds("delayed-hopper"), dict)
    True
    """
    found: dict[str, Any] = json.loads(_ask(["study", "bounds"], scene, ["--json"], False))
    return found


def reactions(scene: Scene | str, *, compliance_time: float | None = None) -> dict[str, Any]:
    """Impacts and lasting contact in the reactions of a compliant run.

    >>> import stickslip
    >>> isinstance(stickslip.study.reactions("bar-penalty"), dict)
    True
    """
    words = _options(compliance_time=compliance_time)
    found: dict[str, Any] = json.loads(_ask(["study", "reactions"], scene, [*words, "--json"], False))
    return found


def neighbours(
    scene: Scene | str, *, nudge: float = 1e-9, runs: int = 200, seed: int = 1
) -> dict[str, Any]:
    """Whether ends of nudged starts come together: other motions from one start, or a strong or discontinuous dependence on it.

    `unique` names the theorem by which the motion is the only one, `growth` the factor of nudges that are small enough.

    >>> import stickslip
    >>> found = stickslip.study.neighbours("sliding-block", nudge=1e-7, runs=6)
    >>> len(found["fans"])
    3
    """
    words = _options(nudge=nudge, runs=runs, seed=seed)
    found: dict[str, Any] = json.loads(_ask(["study", "neighbours"], scene, [*words, "--json"], True))
    return found


def attainable(scene: Scene | str) -> dict[str, Any]:
    """The velocities that a sliding contact can reach, over the predicted set.

    >>> import stickslip
    >>> isinstance(stickslip.study.attainable("painleve-rod"), dict)
    True
    """
    found: dict[str, Any] = json.loads(_ask(["study", "attainable"], scene, ["--json"], True))
    return found


def start(
    scene: Scene | str, *, compliance_times: Sequence[float] | None = None
) -> dict[str, Any]:
    """One start under Moreau's S, the generalized law, every branch of Coulomb's law and the penalty method: ``motions`` with
    ``name``, times ``t``, coordinates ``q`` (time, coordinate) and the velocity ``v`` at the end.

    >>> import stickslip
    >>> found = stickslip.study.start(stickslip.scene("painleve-start").replace(until=0.02))
    >>> sum(motion["name"].startswith("Coulomb") for motion in found["motions"]) > 1
    True
    """
    words = _options(compliance_times=compliance_times)
    found: dict[str, Any] = json.loads(_ask(["study", "start"], scene, [*words, "--json"], True))
    for motion in found["motions"]:
        for name in ("t", "q", "v"):
            motion[name] = np.array(motion[name])
    return found


def compare(
    scene: Scene | str,
    *,
    laws: Sequence[str] | None = None,
    impacts: Sequence[str] | None = None,
    schemes: Sequence[str] | None = None,
    steps: Sequence[float] | None = None,
) -> dict[str, Any]:
    """One scene under several laws, impact laws, schemes or steps, side by side.

    >>> import stickslip
    >>> isinstance(stickslip.study.compare("sliding-block", laws=["coulomb", "frictionless"]), dict)
    True
    """
    words = _options(laws=laws, impacts=impacts, schemes=schemes, steps=steps)
    found = json.loads(_ask(["compare"], scene, [*words, "--json"], True))
    return found if isinstance(found, dict) else {"runs": found}


def _section(kind: str, scene: Scene | str, words: list[str]) -> Mapping[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        _ask(["study", kind], scene, [*words, "--output", folder], False)
        files = sorted(Path(folder).glob("*.npz"))
        with np.load(files[0]) as archive:
            return {name: archive[name] for name in archive.files}


def poincare(scene: Scene | str, **options: Any) -> Mapping[str, Any]:
    """The points of a section of a run: options are those of ``stickslip study poincare`` (period, section, of, skip).

    >>> import stickslip
    >>> found = stickslip.study.poincare("stick-slip", period="1", skip=1)
    >>> found["points"].shape[1] == len(found["columns"])
    True
    """
    return _section("poincare", scene, _options(**options))


def bifurcation(scene: Scene | str, over: str, **options: Any) -> Mapping[str, Any]:
    """Sections over a parameter, ``over="omega=1:3:200"``: options are those of ``stickslip study bifurcation``.

    >>> import stickslip
    >>> found = stickslip.study.bifurcation("stick-slip", over="k=90,100", of="x", period="1", skip=1)
    >>> found["values"].shape[0]
    2
    """
    return _section("bifurcation", scene, _options(over=over, **options))
