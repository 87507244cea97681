"""Worlds of rigid bodies, put together in Python and handed to the reader of scene files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from . import _text
from .scene import Scene


class World:
    """Bodies with shapes that find their contacts: the words of ``[world]`` scenes, checked by the same reader.

    >>> import stickslip
    >>> w = stickslip.World()
    >>> w.material("stone", density=2000, friction=0.5)
    >>> w.body("floor", fixed=True, material="stone", shape={"half_space": [0, 0, 1]})
    >>> w.body("block", material="stone", shape={"box": [0.2, 0.2, 0.1]}, position=[0, 0, 0.05], velocity=[1, 0, 0])
    >>> run = w.scene(until=0.5).run()
    >>> run.certified
    True
    >>> abs(float(run["block.x"][-1]) - 1 / (2 * 0.5 * 9.81)) < 2e-3
    True

    Keys are those of the scene format: a material has density, friction, restitution; a body shape or shapes, position, rotation,
    velocity, spin, fixed, motion, force, repeat and so on.
    """

    def __init__(
        self,
        dimension: int = 3,
        gravity: Sequence[Any] | None = None,
        parameters: Mapping[str, Any] | None = None,
        **keys: Any,
    ) -> None:
        self.parameters = dict(parameters or {})
        self._world = {"dimension": dimension, "gravity": gravity, **keys}
        self._lists: dict[str, list[dict[str, Any]]] = {
            "materials": [],
            "pairs": [],
            "bodies": [],
            "fill": [],
            "monitors": [],
        }
        #: What is recorded: ``{"bodies": [...], "contacts": "none"}``.
        self.record: dict[str, Any] = {}

    def material(self, name: str, **keys: Any) -> None:
        """Adds a material: density, friction, rolling_friction, drilling_friction, restitution, impact.

        >>> import stickslip
        >>> w = stickslip.World()
        >>> w.material("ice", density=900, friction=0.02)
        >>> "friction = 0.02" in w.to_toml()
        True
        """
        self._lists["materials"].append({"name": name, **keys})

    def pair(self, first: str, second: str, **keys: Any) -> None:
        """Says what two materials do to each other: friction, restitution, impact.

        >>> import stickslip
        >>> w = stickslip.World()
        >>> w.pair("ice", "steel", friction=0.03)
        >>> 'between = ["ice", "steel"]' in w.to_toml()
        True
        """
        self._lists["pairs"].append({"between": [first, second], **keys})

    def body(self, name: str, **keys: Any) -> None:
        """Adds a body, or with ``repeat`` a grid of them.

        >>> import stickslip
        >>> w = stickslip.World(dimension=2)
        >>> w.material("wood", density=700, friction=0.4)
        >>> w.body("floor", fixed=True, material="wood", shape={"half_plane": [0, 1]})
        >>> w.body("disc", material="wood", shape={"disc": 0.1}, position=[0, 0.5])
        >>> w.scene(until=0.1).bodies
        ['floor', 'disc']
        """
        self._lists["bodies"].append({"name": name, **keys})

    def fill(self, **keys: Any) -> None:
        """Puts bodies at random places without overlap: name, material, region, count or fraction, shapes, seed.

        >>> import stickslip
        >>> w = stickslip.World()
        >>> w.fill(name="grain", count=10, seed=1)
        >>> "[[fill]]" in w.to_toml()
        True
        """
        self._lists["fill"].append(keys)

    def monitor(self, name: str, **keys: Any) -> None:
        """Records a sum under a name: ``force=["a", "b"]``, ``momentum="a"``, ``energy="a"``, ``contacts="a"``.

        >>> import stickslip
        >>> w = stickslip.World()
        >>> w.monitor("load", force=["block", "floor"])
        >>> "[[monitors]]" in w.to_toml()
        True
        """
        self._lists["monitors"].append({"name": name, **keys})

    def to_toml(self, title: str = "World", **settings: Any) -> str:
        """The scene file.

        >>> import stickslip
        >>> print(stickslip.World(dimension=2).to_toml(until=1))
        title = "World"
        until = 1
        <BLANKLINE>
        [world]
        dimension = 2
        <BLANKLINE>
        """
        head = {"title": title, **settings}
        if self.record:
            head["record"] = self.record
        parts = [_text.table("", head)]
        if self.parameters:
            parts.append(_text.table("[parameters]", self.parameters))
        parts.append(_text.table("[world]", self._world))
        for name, entries in self._lists.items():
            parts.extend(_text.table(f"[[{name}]]", entry) for entry in entries)
        return "\n".join(parts)

    def scene(
        self, *, title: str = "World", name: str = "world", file: Any = None, **settings: Any
    ) -> Scene:
        """The :class:`Scene`, checked like a file; settings are ``until``, ``step``, ``scheme`` and so on.

        >>> import stickslip
        >>> w = stickslip.World(dimension=2)
        >>> w.material("wood", density=700, friction=0.4)
        >>> w.body("disc", material="wood", shape={"disc": 0.1})
        >>> w.scene(until=0.1).is_world
        True
        """
        return Scene(self.to_toml(title, **settings), name, None if file is None else str(file))
