"""Runs step by step, and what Python adds to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _stickslip

if TYPE_CHECKING:
    from .run import Run
    from .scene import Scene

#: Modes of a contact, by the number in the trajectory.
MODES = ("open", "stick", "slip", "closed")


@dataclass(frozen=True)
class Controller:
    """A digital controller: every ``period`` it reads the state, and its force is held until the next sample.

    ``function(t, q, v)`` returns one generalized force per velocity. With a ``state``, ``function(t, q, v, state)`` returns
    the pair ``(force, state)``; only then can a simulation be copied exactly.

    >>> import stickslip
    >>> brake = stickslip.Controller(lambda t, q, v: -2.0 * v, period=0.01)
    >>> run = stickslip.scene("sliding-block").run(controllers=[brake])
    >>> bool(run["x"][-1] < stickslip.scene("sliding-block").run()["x"][-1])
    True
    """

    #: What it computes from the state.
    function: Callable[..., Any]
    #: Seconds between two samples.
    period: float
    #: Its own state at the start.
    state: Sequence[float] = ()
    #: Its name in columns: ``controller.x`` is its force along x.
    name: str = "controller"


class Simulation(_stickslip.Simulation):
    """A simulation that goes on step by step and keeps its records.

    >>> import stickslip
    >>> sim = stickslip.scene("slender-rod").simulation()
    >>> t = sim.step()
    >>> t = sim.advance(100)
    >>> run = sim.run(until=0.5)
    >>> round(sim.t, 9), run.certified
    (0.5, True)

    ``q`` and ``v`` are copies that do not change with the simulation. A step that cannot be made raises
    :class:`RunError`, after which the state is that before the step. Ctrl-C ends :meth:`advance` and :meth:`run` between two
    steps, and the simulation can go on.
    """

    #: The scene.
    scene: Scene

    def __new__(
        cls,
        scene: Scene,
        *,
        force: Callable[..., Any] | None = None,
        force_depends_on: str = "state",
        controllers: Sequence[Controller] = (),
        record: bool = True,
    ) -> Simulation:
        added = None if force is None else (force, force_depends_on)
        sampled = [
            (c.name, c.function, float(c.period), [float(x) for x in c.state]) for c in controllers
        ]
        return super().__new__(cls, scene, added, sampled, record)

    def __init__(
        self,
        scene: Scene,
        *,
        force: Callable[..., Any] | None = None,
        force_depends_on: str = "state",
        controllers: Sequence[Controller] = (),
        record: bool = True,
    ) -> None:
        self.scene = scene
        self._made_with: dict[str, Any] = {
            "force": force,
            "force_depends_on": force_depends_on,
            "controllers": tuple(controllers),
            "record": record,
        }

    def run(self, until: float | None = None) -> Run:
        """Goes on to a time, or to the end of the scene, and returns the :class:`Run` so far.

        >>> import stickslip
        >>> sim = stickslip.scene("bouncing-ball").simulation()
        >>> sim.run(until=0.1).outcome
        'finished'
        """
        from .run import Run

        self._run_until(until)
        return Run.of(self, until)

    @property
    def contacts(self) -> dict[str, dict[str, Any]]:
        """The contacts of the last step by name: gap, mode, impulse and velocity (normal component first).

        Contacts of a world are those that took part; their name joins those of the bodies.

        >>> import stickslip
        >>> sim = stickslip.scene("sliding-block").simulation()
        >>> _ = sim.step()
        >>> sim.contacts["floor"]["mode"]
        'slip'
        """
        if self.scene.is_world:
            return self._present()
        columns, row = self.columns, self._row()
        found = {}
        for name in self._contact_names():
            entries = {
                column[len(name) + 1 :]: float(row[k])
                for k, column in enumerate(columns)
                if column.startswith(name + ".")
            }
            tangents = sorted(key for key in entries if key.startswith("p_t"))
            found[name] = {
                "gap": entries["gap"],
                "mode": MODES[int(entries["mode"])],
                "impulse": np.array([entries["p_n"], *(entries[k] for k in tangents)]),
                "velocity": np.array([entries["u_n"], *(entries["u" + k[1:]] for k in tangents)]),
            }
        return found

    def _present(self) -> dict[str, dict[str, Any]]:
        bodies = self.scene.bodies
        found: dict[str, dict[str, Any]] = {}
        for owners, gap, mode, place, normal, impulse, velocity in self._present_now():
            pair = " - ".join(bodies[k] if k < len(bodies) else "fixed" for k in owners)
            name, again = pair, 1
            while name in found:
                again += 1
                name = f"{pair} ({again})"
            found[name] = {
                "gap": gap,
                "mode": MODES[mode],
                "place": place,
                "normal": normal,
                "impulse": impulse,
                "velocity": velocity,
            }
        return found

    def copy(self) -> Simulation:
        """A simulation that goes on from here by itself, with the same bits.

        >>> import stickslip
        >>> sim = stickslip.scene("slender-rod").simulation()
        >>> _ = sim.advance(50)
        >>> other = sim.copy()
        >>> bool((sim.run()["theta"][-1] == other.run()["theta"][-1]))
        True
        """
        other = Simulation(self.scene, **self._made_with)
        other._take_over(self)
        return other

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Simulation:
        return self.copy()

    def __repr__(self) -> str:
        return f"<stickslip.Simulation of {self.scene.name!r} at t = {self.t:g} s, {self.steps} steps>"
