"""Systems in generalized coordinates, put together in Python and handed to the reader of scene files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from . import _text
from .scene import Scene


class System:
    """A mechanical system without a scene file: the same words, checked by the same reader.

    >>> import stickslip
    >>> s = stickslip.System(coordinates=["x", "y"], parameters={"m": 1, "slope": 0.35})
    >>> s.kinetic_energy = "m*(x'^2 + y'^2)/2"
    >>> s.potential = "m*9.81*(y*cos(slope) - x*sin(slope))"
    >>> s.contact("slope", gap="y", point=["x", "y"], friction=0.3)
    >>> s.force("x", "-0.1*x'")
    >>> run = s.scene(until=2, title="Block on a slope").run()
    >>> run.certified
    True

    Expressions are texts, numbers, or objects of sympy. :meth:`to_toml` shows the scene file.
    """

    #: Kinetic energy, a quadratic form of the velocities.
    kinetic_energy: Any
    #: Mass matrix, row by row, instead of the kinetic energy.
    mass_matrix: Any
    #: Potential energy of the coordinates.
    potential: Any
    #: Constant matrix K of forces -K q.
    stiffness: Any
    #: Constant matrix C of forces -C v.
    damping: Any

    def __init__(
        self,
        coordinates: Sequence[str],
        parameters: Mapping[str, Any] | None = None,
        definitions: Mapping[str, Any] | None = None,
    ) -> None:
        self.coordinates = list(coordinates)
        self.parameters = dict(parameters or {})
        self.definitions = dict(definitions or {})
        self.kinetic_energy = None
        self.mass_matrix = None
        self.potential = None
        self.stiffness = None
        self.damping = None
        #: Initial coordinates, and velocities as ``x_dot``.
        self.initial: dict[str, Any] = {}
        #: The motion before the start, for forces that read the past.
        self.history: dict[str, Any] = {}
        self._forces: dict[str, Any] = {}
        self._contacts: list[dict[str, Any]] = []
        self._joints: list[dict[str, Any]] = []
        self._controllers: list[dict[str, Any]] = []
        self._tables: dict[str, Any] = {}
        self._drawing: list[dict[str, Any]] = []

    def contact(self, name: str, *, gap: Any, **keys: Any) -> None:
        """Adds a contact; keys are those of ``[[contacts]]``: point, normal, slip, tangents, friction, restitution, ...

        >>> import stickslip
        >>> s = stickslip.System(["y"])
        >>> s.kinetic_energy, s.potential, s.initial = "y'^2/2", "9.81*y", {"y": 1}
        >>> s.contact("floor", gap="y", restitution=0.5)
        >>> s.scene(until=1).contacts
        ['floor']
        """
        self._contacts.append({"name": name, "gap": gap, **keys})

    def force(self, coordinate: str, expression: Any) -> None:
        """Adds to the force along a coordinate, an expression of everything.

        >>> import stickslip
        >>> s = stickslip.System(["x"])
        >>> s.kinetic_energy = "x'^2/2"
        >>> s.force("x", "sin(t)"); s.force("x", "-x")
        >>> 'x = "(sin(t)) + (-x)"' in s.to_toml(until=1)
        True
        """
        before = self._forces.get(coordinate)
        text = _text.expression(expression)
        self._forces[coordinate] = text if before is None else f"({before}) + ({text})"

    def joint(self, name: str, equation: Any) -> None:
        """Adds a perfect bilateral constraint.

        >>> import stickslip
        >>> s = stickslip.System(["x", "y"])
        >>> s.kinetic_energy, s.potential, s.initial = "(x'^2 + y'^2)/2", "9.81*y", {"x": 1}
        >>> s.joint("rod", "x^2 + y^2 - 1")
        >>> s.scene(until=0.1).run().certified
        True
        """
        self._joints.append({"name": name, "equation": equation})

    def controller(self, name: str, *, period: Any, output: Mapping[str, Any], **keys: Any) -> None:
        """Adds a digital controller of expressions; keys are those of ``[[controllers]]``: state, update.

        >>> import stickslip
        >>> s = stickslip.System(["x"])
        >>> s.kinetic_energy = "x'^2/2"
        >>> s.force("x", "u")
        >>> s.controller("pd", period=0.01, output={"u": "30*(1 - x) - 10*x'"})
        >>> "pd.u" in s.scene(until=0.1).run().columns
        True
        """
        self._controllers.append({"name": name, "period": period, "output": dict(output), **keys})

    def table(self, name: str, file: str, **keys: Any) -> None:
        """Adds a function that is read from a file of numbers; keys are those of ``[tables]``.

        >>> import pathlib, stickslip, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "push.csv"
        >>> _ = path.write_text("0, 0\\n1, 2\\n")
        >>> s = stickslip.System(["x"])
        >>> s.kinetic_energy = "x'^2/2"
        >>> s.table("push", path.name)
        >>> s.force("x", "push(t)")
        >>> s.scene(until=1, file=path.with_name("scene.toml")).run().certified
        True
        """
        self._tables[name] = {"file": file, **keys}

    def draw(self, **keys: Any) -> None:
        """Adds a shape to the pictures of the mechanism; keys are those of ``[[drawing]]``.

        >>> import stickslip
        >>> s = stickslip.System(["x", "y"])
        >>> s.draw(circle=["x", "y"], radius=0.1)
        >>> "[[drawing]]" in s.to_toml()
        True
        """
        self._drawing.append(keys)

    def to_toml(self, title: str = "System", **settings: Any) -> str:
        """The scene file.

        >>> import stickslip
        >>> s = stickslip.System(["x"])
        >>> s.kinetic_energy = "x'^2/2"
        >>> print(s.to_toml(until=1))
        title = "System"
        until = 1
        <BLANKLINE>
        [system]
        coordinates = ["x"]
        kinetic_energy = "x'^2/2"
        <BLANKLINE>
        """
        parts = [_text.table("", {"title": title, **settings})]
        if self.parameters:
            parts.append(_text.table("[parameters]", self.parameters))
        if self._tables:
            parts.append(_text.table("[tables]", self._tables))
        if self.definitions:
            parts.append(_text.table("[definitions]", self.definitions))
        system = {
            "coordinates": self.coordinates,
            "kinetic_energy": self.kinetic_energy,
            "mass_matrix": self.mass_matrix,
            "potential": self.potential,
            "stiffness": self.stiffness,
            "damping": self.damping,
            "forces": self._forces or None,
        }
        parts.append(_text.table("[system]", system))
        for head, entries in [
            ("[[controllers]]", self._controllers),
            ("[[joints]]", self._joints),
            ("[[contacts]]", self._contacts),
        ]:
            parts.extend(_text.table(head, entry) for entry in entries)
        if self.initial:
            parts.append(_text.table("[initial]", self.initial))
        if self.history:
            parts.append(_text.table("[history]", self.history))
        parts.extend(_text.table("[[drawing]]", entry) for entry in self._drawing)
        return "\n".join(parts)

    def scene(
        self, *, title: str = "System", name: str = "system", file: Any = None, **settings: Any
    ) -> Scene:
        """The :class:`Scene`, checked like a file; settings are ``until``, ``step``, ``law`` and so on.

        >>> import stickslip
        >>> s = stickslip.System(["x"])
        >>> s.kinetic_energy = "x'^2/2"
        >>> s.scene(until=1, step=0.1).settings["step"]
        0.1
        """
        return Scene(self.to_toml(title, **settings), name, None if file is None else str(file))
