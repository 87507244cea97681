"""Scenes: a mechanical system as text, checked, ready to run."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _stickslip, _text
from .errors import RunError, SceneError

if TYPE_CHECKING:
    from .run import Run
    from .simulation import Controller, Simulation


class Scene(_stickslip.Scene):
    """A scene that was read without mistake; it never changes.

    >>> import stickslip
    >>> scene = stickslip.Scene('''
    ... title = "Ball"
    ... [system]
    ... coordinates = ["y"]
    ... kinetic_energy = "y'^2/2"
    ... potential = "9.81*y"
    ... [[contacts]]
    ... gap = "y"
    ... restitution = 0.5
    ... [initial]
    ... y = 1
    ... ''')
    >>> scene.title, scene.coordinates
    ('Ball', ['y'])

    Mistakes raise :class:`SceneError` with the line underlined. ``name`` is the name of the run; ``file`` the name in
    messages, beside which other files of the scene are looked for.
    """

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Scene:
        """Reads a scene file.

        >>> import pathlib, stickslip, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "ball.toml").write_text(stickslip.scene("bouncing-ball").text)
        >>> stickslip.Scene.load(folder / "ball.toml").name
        'ball'
        """
        return cls(cls._read_text(os.fspath(path)), Path(path).stem, os.fspath(path))

    @property
    def parameters(self) -> dict[str, float]:
        """Parameters with their values, in the order of the file.

        >>> import stickslip
        >>> stickslip.scene("sliding-block").parameters["mu"]
        0.3
        """
        return dict(self._parameter_list())

    @property
    def settings(self) -> dict[str, Any]:
        """How it is run: scheme, law, impact, step, until, tolerance and so on.

        >>> import stickslip
        >>> stickslip.scene("sliding-block").settings["law"]
        'coulomb'
        """
        settings: dict[str, Any] = json.loads(self._settings_json())
        return settings

    def replace(
        self,
        *,
        parameters: Mapping[str, Any] | None = None,
        settings: Mapping[str, Any] | None = None,
        **changes: Any,
    ) -> Scene:
        """The scene with other parameters or settings, numbers or expressions.

        A keyword is a parameter of the scene if it has one of that name, else a setting such as ``step`` or ``law``; where
        both exist, say which by ``parameters={...}`` or ``settings={...}``.

        >>> import stickslip
        >>> scene = stickslip.scene("sliding-block").replace(mu=0.5, step=1e-3)
        >>> scene.parameters["mu"], scene.settings["step"]
        (0.5, 0.001)
        """
        first, second = split_changes(self, changes, parameters, settings)
        text = self._changed_text(first, second)
        return Scene(text, self.name, self.file)

    def simulation(
        self,
        *,
        force: Callable[..., Any] | None = None,
        force_depends_on: str = "state",
        controllers: Sequence[Controller] = (),
        record: bool = True,
    ) -> Simulation:
        """A :class:`Simulation` at the start of the scene.

        >>> import stickslip
        >>> sim = stickslip.scene("bouncing-ball").simulation()
        >>> _ = sim.step()
        >>> sim.steps
        1
        """
        from .simulation import Simulation

        return Simulation(
            self, force=force, force_depends_on=force_depends_on, controllers=controllers, record=record
        )

    def run(
        self,
        *,
        force: Callable[..., Any] | None = None,
        force_depends_on: str = "state",
        controllers: Sequence[Controller] = (),
        folder: str | os.PathLike[str] | None = None,
    ) -> Run:
        """Runs to the end of the scene and returns the :class:`Run`.

        ``force(t, q, v)`` is a Python function that is added to the forces of the scene; with ``force_depends_on="time"``
        it is called once a step, because steps need not be iterated. ``controllers`` sample and hold, see :class:`Controller`.
        With ``folder`` everything is written there as it is computed, as by ``stickslip run``, and memory does not grow.

        >>> import stickslip
        >>> run = stickslip.scene("bouncing-ball").run()
        >>> run.outcome, run.certified
        ('finished', True)
        """
        if folder is not None:
            if force is not None or controllers:
                message = "a run with Python functions has no folder: what made it cannot be written down"
                raise RunError(message)
            from .run import load

            self._run_in_folder(os.fspath(folder))
            return load(folder)
        sim = self.simulation(
            force=force, force_depends_on=force_depends_on, controllers=controllers
        )
        return sim.run()

    def branches(self, gap: float = 1e-9, starts: int = 400) -> dict[str, Any]:
        """Every solution of the first step under Coulomb's law, each certified, with a verdict.

        >>> import stickslip
        >>> found = stickslip.scene("painleve-start").branches(gap=1e-3)
        >>> found["verdict"], len(found["solutions"])
        ('indeterminate', 3)
        """
        found: dict[str, Any] = json.loads(self._branches_json(gap, starts))
        return found

    def inspect(self, gap: float = 1e-9, **at: float) -> dict[str, Any]:
        """The contacts of a configuration: gaps, rows, W, gamma and margin to the Painleve region.

        Coordinates are given by name, velocities as ``v_`` and the name; the others are those of the start.

        >>> import stickslip
        >>> found = stickslip.scene("painleve-start").inspect(gap=1e-3)
        >>> found["contacts"][0]["margin"] < 0
        True
        >>> stickslip.scene("bouncing-ball").inspect(y=0, v_y=-2)["contacts"][0]["local_velocity"]
        [-2.0]
        """
        places, speeds = [], []
        coordinates = self.coordinates
        velocities = [name.rstrip("'") for name in self._velocity_names()]
        for name, value in at.items():
            if name in coordinates:
                places.append((coordinates.index(name), float(value)))
            elif name.startswith("v_") and name[2:] in velocities:
                speeds.append((velocities.index(name[2:]), float(value)))
            else:
                known = ", ".join([*coordinates, *("v_" + name for name in velocities)])
                raise KeyError(f"no coordinate or velocity `{name}`; known: {known}")
        found: dict[str, Any] = json.loads(self._inspect_json(gap, places, speeds))
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return (Scene, (self.text, self.name, self.file))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scene) and (self.text, self.file) == (other.text, other.file)

    def __hash__(self) -> int:
        return hash((self.text, self.file))

    def __repr__(self) -> str:
        names = ", ".join(self.coordinates[:6]) + (", ..." if len(self.coordinates) > 6 else "")
        return f"<stickslip.Scene {self.name!r}: {self.title} ({names})>"


def split_changes(
    scene: _stickslip.Scene,
    changes: Mapping[str, Any],
    parameters: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Changes by name, told apart into parameters and settings; a name that is both is refused."""
    names = [name for name, _ in scene._parameter_list()]
    first = {name: _text.change(value) for name, value in (parameters or {}).items()}
    second = {name: _text.change(value) for name, value in (settings or {}).items()}
    for name, value in changes.items():
        if name in names and _stickslip.is_setting(name):
            message = (
                f"`{name}` is a parameter of the scene and a setting: write parameters={{'{name}': ...}} "
                f"or settings={{'{name}': ...}}"
            )
            raise SceneError(message)
        target = second if name not in names and _stickslip.is_setting(name) else first
        target[name] = _text.change(value)
    return list(first.items()), list(second.items())


def scene(name: str | os.PathLike[str]) -> Scene:
    """A scene of the gallery by its name, or a scene file.

    >>> import stickslip
    >>> stickslip.scene("slender-rod").coordinates
    ['x', 'y', 'theta']
    """
    text = os.fspath(name)
    if text.endswith(".toml") or os.sep in text:
        return Scene.load(text)
    found, found_name = Scene._find(text)
    return Scene(found, found_name, f"{found_name}.toml")


def gallery() -> list[str]:
    """Names of the scenes that come with the package.

    >>> import stickslip
    >>> "painleve-rod" in stickslip.gallery()
    True
    """
    return [name for name, _ in _stickslip.gallery()]


def inspect(scene_or_name: Scene | str, gap: float = 1e-9, **at: float) -> dict[str, Any]:
    """:meth:`Scene.inspect` of a scene or of one of the gallery.

    >>> import stickslip
    >>> stickslip.inspect("sliding-block")["constraints"][0]["active"]
    True
    """
    chosen = scene_or_name if isinstance(scene_or_name, Scene) else scene(scene_or_name)
    return chosen.inspect(gap, **at)
