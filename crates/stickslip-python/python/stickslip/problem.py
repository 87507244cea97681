"""Contact problems without bodies: from matrices, from files, solved, judged, enumerated."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _stickslip
from ._stickslip import digits
from .errors import ProblemError

Array = np.ndarray[Any, np.dtype[np.float64]]


def _numbers(what: str, values: Any) -> Array:
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.ndim != 1:
        array = array.reshape(-1)
    return array


def _rows(what: str, matrix: Any) -> tuple[int, Any, Any, Any]:
    """A matrix as starts of rows, columns and values; dense, or sparse of scipy in any of its forms."""
    if hasattr(matrix, "tocsr"):
        rows = matrix.tocsr()
        rows.sum_duplicates()
        return (
            int(rows.shape[1]),
            np.ascontiguousarray(rows.indptr, dtype=np.int64),
            np.ascontiguousarray(rows.indices, dtype=np.int64),
            np.ascontiguousarray(rows.data, dtype=np.float64),
        )
    dense = np.ascontiguousarray(matrix, dtype=np.float64)
    if dense.ndim != 2:
        raise ProblemError(f"{what} has {dense.ndim} dimensions, expected a matrix")
    # Entries that are not finite must be seen, so zeros alone are left out.
    row, column = np.nonzero(dense)
    starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=dense.shape[0]))])
    return (
        int(dense.shape[1]),
        np.ascontiguousarray(starts, dtype=np.int64),
        np.ascontiguousarray(column, dtype=np.int64),
        np.ascontiguousarray(dense[row, column]),
    )


def _friction(mu: Any, size: int) -> tuple[Array, int]:
    """Coefficients, one per contact, and dimension."""
    coefficients = np.atleast_1d(np.asarray(mu, dtype=np.float64)).reshape(-1)
    count = len(coefficients)
    if count == size == 0:
        return np.ascontiguousarray(coefficients), 3
    if count == 0 or size % count or size // count not in (2, 3):
        message = f"{size} rows for {count} coefficients mu: expected 2 (plane) or 3 (space) rows per contact"
        raise ProblemError(message)
    return np.ascontiguousarray(coefficients), size // count


@dataclass(frozen=True)
class Solution:
    """What :meth:`ContactProblem.solve` found; normal components first.

    >>> import stickslip
    >>> problem = stickslip.ContactProblem(W=[[1, 0], [0, 1]], q=[-1, -5], mu=0.5)
    >>> solution = problem.solve()
    >>> solution.solved, solution.impulses.round(9).tolist()
    (True, [[1.0, 0.5]])
    """

    #: Impulses, one row per contact.
    impulses: Array
    #: Local velocities W r + q, one row per contact.
    velocities: Array
    #: Natural map over \\|q\\|, recomputed by code that no solver shares.
    residual: float
    #: The same in the scale of certificates, with the worst of all its parts.
    scaled_residual: float
    #: How it ended: ``solved``, ``stalled``, ...
    status: str
    #: Whether the tolerance was reached.
    solved: bool
    #: Products with W.
    iterations: int
    #: The method that ended it.
    method: str
    #: Time.
    seconds: float
    #: Generalized velocity, of problems from M and H.
    generalized_velocity: Array | None = field(default=None)


class ContactProblem:
    """A problem of contact with Coulomb's friction, u = W r + q, normal component first.

    >>> import numpy as np, stickslip
    >>> W = np.eye(3)                               # one contact in space
    >>> problem = stickslip.ContactProblem(W=W, q=[-1, -5, 0], mu=0.5)
    >>> problem.solve().velocities.round(6).tolist()
    [[0.0, -4.5, 0.0]]

    ``mu`` has one coefficient per contact; W has two rows per contact in the plane and three in space, and may be sparse
    (scipy). :meth:`from_mass` takes M and H instead; :meth:`load` reads FCLIB files.
    """

    _core: _stickslip.ContactProblem

    def __init__(self, W: Any, q: Any, mu: Any) -> None:
        free = _numbers("q", q)
        coefficients, dimension = _friction(mu, len(free))
        self._core = _stickslip.ContactProblem.of_local(dimension, _rows("W", W), free, coefficients)
        #: Impulses that lay beside the problem in its file.
        self.stored: Array | None = None
        self._given: tuple[Any, ...] | None = None

    @classmethod
    def _of(cls, core: _stickslip.ContactProblem, stored: Any = None) -> ContactProblem:
        self = cls.__new__(cls)
        self._core = core
        self.stored = None if stored is None else stored.reshape(core.contacts, core.dimension)
        self._given = None
        return self

    @classmethod
    def from_mass(cls, M: Any, H: Any, f: Any, w: Any = None, mu: Any = None) -> ContactProblem:
        """From M v = H r + f and u = H' v + w: mass matrix, directions of the contacts as columns, momentum without contacts
        (M times the free velocity), imposed velocities (zero if left out), coefficients.

        >>> import numpy as np, stickslip
        >>> M = np.diag([2.0, 2.0])                 # a block of 2 kg: velocities x, y
        >>> H = [[0, 1], [1, 0]]                    # normal along y, tangent along x
        >>> problem = stickslip.ContactProblem.from_mass(M, H, f=[2 * 3.0, -2 * 9.81e-3], mu=0.3)
        >>> solution = problem.solve()
        >>> (solution.generalized_velocity - [3 - 0.3 * 9.81e-3, 0]).round(12).tolist()
        [0.0, 0.0]
        """
        if mu is None:
            raise ProblemError("mu is missing: one coefficient per contact, 0 without friction")
        mass, jacobian = _rows("M", M), _rows("H", H)
        coefficients, dimension = _friction(mu, jacobian[0])
        imposed = np.zeros(jacobian[0]) if w is None else _numbers("w", w)
        core = _stickslip.ContactProblem.of_mass(
            dimension, mass, jacobian, _numbers("f", f), imposed, coefficients
        )
        self = cls._of(core)
        self._given = (M, H, f, w, mu)
        return self

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ContactProblem:
        """Reads an FCLIB file (HDF5); impulses stored beside the problem are :attr:`stored`.

        >>> import stickslip, tempfile
        >>> path = tempfile.mkdtemp() + "/one.hdf5"
        >>> problem = stickslip.ContactProblem(W=[[1, 0, 0], [0, 1, 0], [0, 0, 1]], q=[-1, -5, 0], mu=0.5)
        >>> problem.save(path)
        >>> stickslip.ContactProblem.load(path).mu.tolist()
        [0.5]
        """
        core, stored = _stickslip.ContactProblem.read(os.fspath(path))
        return cls._of(core, stored)

    def save(self, path: str | os.PathLike[str], *, title: str = "", impulses: Any = None) -> None:
        """Writes an FCLIB file, with impulses and their velocities if they are given.

        >>> import stickslip, tempfile
        >>> path = tempfile.mkdtemp() + "/one.hdf5"
        >>> problem = stickslip.ContactProblem(W=[[1, 0, 0], [0, 1, 0], [0, 0, 1]], q=[-1, -5, 0], mu=0.5)
        >>> problem.save(path, impulses=problem.solve().impulses)
        >>> stickslip.ContactProblem.load(path).stored.round(6).tolist()
        [[1.0, 0.5, 0.0]]
        """
        given = None if impulses is None else _numbers("impulses", impulses)
        self._core.write(os.fspath(path), title or self._core.title, given)

    @property
    def contacts(self) -> int:
        """Number of contacts.

        >>> import stickslip
        >>> stickslip.ContactProblem(W=[[1, 0], [0, 1]], q=[-1, 0], mu=0.5).contacts
        1
        """
        return self._core.contacts

    @property
    def dimension(self) -> int:
        """2 in the plane, 3 in space.

        >>> import stickslip
        >>> stickslip.ContactProblem(W=[[1, 0], [0, 1]], q=[-1, 0], mu=0.5).dimension
        2
        """
        return self._core.dimension

    @property
    def W(self) -> Array:
        """The Delassus matrix, dense.

        >>> import stickslip
        >>> stickslip.ContactProblem(W=[[1, 0.25], [0.25, 1]], q=[-1, 0], mu=0.5).W.tolist()
        [[1.0, 0.25], [0.25, 1.0]]
        """
        size = self.contacts * self.dimension
        dense: Array = self._core.dense().reshape(size, size)
        return dense

    @property
    def q(self) -> Array:
        """The free velocity, one row per contact.

        >>> import stickslip
        >>> stickslip.ContactProblem(W=[[1, 0], [0, 1]], q=[-1, 0], mu=0.5).q.tolist()
        [[-1.0, 0.0]]
        """
        free: Array = self._core.q.reshape(self.contacts, self.dimension)
        return free

    @property
    def mu(self) -> Array:
        """Friction coefficients.

        >>> import stickslip
        >>> stickslip.ContactProblem(W=[[1, 0], [0, 1]], q=[-1, 0], mu=0.5).mu.tolist()
        [0.5]
        """
        return self._core.mu

    def solve(
        self,
        tolerance: float = 1e-10,
        *,
        method: str = "cascade",
        seconds: float | None = None,
        guess: Any = None,
    ) -> Solution:
        """Solves it; the interpreter is free meanwhile. ``method`` is one of ``stickslip solve --solver``.

        >>> import stickslip
        >>> stickslip.ContactProblem(W=[[2, 0], [0, 1]], q=[-1, 0.1], mu=0.5).solve(1e-12).solved
        True
        """
        start = None if guess is None else _numbers("guess", guess)
        found = self._core.solved(tolerance, method, seconds, start)
        velocity = self._core.generalized_velocity(found["impulses"])
        found["impulses"] = found["impulses"].reshape(self.contacts, self.dimension)
        found["velocities"] = found["velocities"].reshape(self.contacts, self.dimension)
        return Solution(**found, generalized_velocity=velocity)

    def judge(self, impulses: Any) -> Verdict:
        """How far impulses are from Coulomb's law with rigid contacts, whoever computed them.

        >>> import stickslip
        >>> problem = stickslip.ContactProblem(W=[[1, 0], [0, 1]], q=[-1, -5], mu=0.5)
        >>> problem.judge([[1, 0.5]]).accepted(1e-12)
        True
        >>> print(problem.judge([[0.9, 0.5]]))
        residual 0.02: approaches at 0.1 (contact 0), outside its cone by 0.05 (contact 0),
        friction power off by 0.225 (contact 0); contact work -2.87
        """
        return Verdict(self, _numbers("impulses", impulses))

    def branches(self, starts: int = 400) -> dict[str, Any]:
        """All solutions of a small problem with a verdict: ``regular``, ``indeterminate``, ...

        >>> import stickslip
        >>> stickslip.ContactProblem(W=[[1, 0], [0, 1]], q=[-1, -5], mu=0.5).branches()["verdict"]
        'regular'
        """
        found: dict[str, Any] = json.loads(self._core.enumerated(starts))
        return found

    def __repr__(self) -> str:
        space = "plane" if self.dimension == 2 else "space"
        return f"<stickslip.ContactProblem: {self.contacts} contacts in the {space}>"

    def __reduce__(self) -> tuple[Any, ...]:
        if self._given is not None:
            return (ContactProblem.from_mass, self._given)
        return (ContactProblem, (self.W, self.q.reshape(-1), self.mu))


@dataclass(frozen=True, eq=False)
class Verdict:
    """What :meth:`ContactProblem.judge` says of impulses; ``dict(verdict)`` has the numbers.

    All measures are departures from the law of rigid contacts with Coulomb's friction: a soft engine departs on purpose.

    >>> import stickslip
    >>> problem = stickslip.ContactProblem(W=[[1, 0], [0, 1]], q=[-1, -5], mu=0.5)
    >>> verdict = problem.judge([[1.0, 0.0]])
    >>> verdict.worst, verdict.dissipation_defect.tolist()
    ('dissipation_defect', [2.5])
    """

    #: The problem.
    problem: ContactProblem
    #: The judged impulses, one row per contact.
    impulses: Array
    #: Natural map of the law over \\|q\\|, as published with the FCLIB collection.
    residual: float = field(init=False)
    #: Level below which the residual is rounding.
    rounding_floor: float = field(init=False)
    #: Worst measure in the scale of certificates.
    scaled_residual: float = field(init=False)
    #: Velocities W r + q, one row per contact.
    velocities: Array = field(init=False)
    #: Part of each contact in the natural map, in the scale of certificates.
    natural_map: Array = field(init=False)
    #: Approach left, max(-u_n, 0), per contact.
    penetration_velocity: Array = field(init=False)
    #: max(\\|r_t\\| - mu r_n, -r_n, 0) per contact.
    outside_cone: Array = field(init=False)
    #: \\|u_n r_n\\| per contact.
    complementarity: Array = field(init=False)
    #: \\|r_t.u_t + mu r_n \\|u_t\\|\\| per contact: friction that does not dissipate most.
    dissipation_defect: Array = field(init=False)
    #: Work of each contact, r.(u + q)/2.
    work: Array = field(init=False)
    #: Work of the contacts, the sum of these.
    contact_work: float = field(init=False)
    #: The tangential part of it.
    friction_work: float = field(init=False)
    #: max(contact_work, 0).
    energy_gain: float = field(init=False)
    #: open, stick or slip, per contact.
    modes: tuple[str, ...] = field(init=False)
    #: The measure that departs most, as its name.
    worst: str = field(init=False)

    def __post_init__(self) -> None:
        found = self.problem._core.judged(self.impulses)
        shape = (self.problem.contacts, self.problem.dimension)
        r = self.impulses.reshape(shape)
        u, q, mu = found["velocities"].reshape(shape), self.problem.q, self.problem.mu
        slide, grip = np.linalg.norm(u[:, 1:], axis=1), np.linalg.norm(r[:, 1:], axis=1)
        bound = mu * np.maximum(r[:, 0], 0.0)
        power = np.einsum("ij,ij->i", r[:, 1:], u[:, 1:])
        mean = 0.5 * (u + q)
        small = 1e-9 * max(float(np.abs(q).max(initial=0.0)), 1e-300)
        modes = np.where(
            r[:, 0] <= 1e-12 * max(float(np.abs(r).max(initial=0.0)), 1e-300),
            "open",
            np.where(slide <= np.maximum(small, 1e-9 * slide.max(initial=0.0)), "stick", "slip"),
        )
        values = {
            "impulses": r,
            "residual": found["residual"],
            "rounding_floor": found["rounding_floor"],
            "scaled_residual": found["scaled_residual"],
            "velocities": u,
            "natural_map": found["parts"].reshape(-1, 4)[:, 0],
            "penetration_velocity": np.maximum(-u[:, 0], 0.0),
            "outside_cone": np.maximum(np.maximum(grip - bound, -r[:, 0]), 0.0),
            "complementarity": np.abs(u[:, 0] * r[:, 0]),
            "dissipation_defect": np.abs(power + bound * slide),
            "work": np.sum(r * mean, axis=1),
            "contact_work": float(np.sum(r * mean)),
            "friction_work": float(np.sum(r[:, 1:] * mean[:, 1:])),
            "modes": tuple(str(m) for m in modes),
        }
        values["energy_gain"] = max(values["contact_work"], 0.0)
        # Each measure in its own natural unit, so that they can be compared.
        speed = float(np.abs(q).max(initial=0.0)) or 1.0
        push = float(np.abs(r).max(initial=0.0)) or 1.0
        sizes = {
            "penetration_velocity": values["penetration_velocity"].max(initial=0.0) / speed,
            "outside_cone": values["outside_cone"].max(initial=0.0) / push,
            "complementarity": values["complementarity"].max(initial=0.0) / (speed * push),
            "dissipation_defect": values["dissipation_defect"].max(initial=0.0) / (speed * push),
        }
        values["worst"] = max(sizes, key=lambda name: float(sizes[name]))
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def accepted(self, tolerance: float = 1e-8) -> bool:
        """Whether the residual is below the tolerance, or below what rounding allows.

        >>> import stickslip
        >>> stickslip.ContactProblem(W=[[1, 0], [0, 1]], q=[-1, 0], mu=0.5).judge([1, 0]).accepted()
        True
        """
        return bool(self.residual <= max(tolerance, self.rounding_floor))

    def nearest(self, tolerance: float = 1e-10) -> tuple[Solution, float, float]:
        """Our own solution, and how far the judged one is from it in impulses and in velocities (largest differences).

        >>> import stickslip
        >>> problem = stickslip.ContactProblem(W=[[1, 0], [0, 1]], q=[-1, -5], mu=0.5)
        >>> ours, impulses, velocities = problem.judge([[0.9, 0.45]]).nearest()
        >>> round(impulses, 9), round(velocities, 9)
        (0.1, 0.1)
        """
        ours = self.problem.solve(tolerance, guess=self.impulses)
        apart = float(np.abs(ours.impulses - self.impulses).max(initial=0.0))
        velocity = float(np.abs(ours.velocities - self.velocities).max(initial=0.0))
        return ours, apart, velocity

    def branches(self) -> dict[str, Any]:
        """All solutions of the problem: where there are several, another answer than ours is not wrong.

        >>> import stickslip
        >>> problem = stickslip.ContactProblem(W=[[1, 0], [0, 1]], q=[-1, -5], mu=0.5)
        >>> problem.judge([[1, 0.5]]).branches()["verdict"]
        'regular'
        """
        return self.problem.branches()

    def explain(self, tolerance: float = 1e-10) -> str:
        """The verdict, our own solution beside it, and whether the problem had several answers, a sentence each.

        >>> import stickslip
        >>> problem = stickslip.ContactProblem(W=[[1, 0], [0, 1]], q=[-1, -5], mu=0.5)
        >>> print(problem.judge([[0.9, 0.45]]).explain())
        residual 0.018: approaches at 0.1 (contact 0); contact work -2.64
        our solution: residual 0, the judged impulses are up to 0.1 from it, their velocities up to 0.1
        the problem is regular: one motion
        """
        ours, impulses, velocities = self.nearest(tolerance)
        lines = [
            str(self),
            f"our solution: residual {digits(ours.residual, 2)}, the judged impulses are up to {digits(impulses, 2)} from it, "
            f"their velocities up to {digits(velocities, 2)}",
        ]
        try:
            found = self.branches()
        except ProblemError as error:
            lines.append(f"whether it has several answers is not known: {error}")
        else:
            several = found["verdict"] == "indeterminate"
            words = f"the problem is {found['text']}"
            lines.append(f"{words}; another answer than ours is not wrong" if several else words)
        return "\n".join(lines)

    def keys(self) -> Iterator[str]:
        """Names of the measures, for ``dict(verdict)``.

        >>> import stickslip
        >>> verdict = stickslip.ContactProblem(W=[[1, 0], [0, 1]], q=[-1, 0], mu=0.5).judge([1, 0])
        >>> dict(verdict)["contact_work"]
        -0.5
        """
        left_out = ("problem", "impulses", "velocities")
        return iter(name for name in self.__dataclass_fields__ if name not in left_out)

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    def __str__(self) -> str:
        def part(values: Array, words: str) -> str | None:
            size = float(values.max(initial=0.0))
            return f"{words} {digits(size, 3)} (contact {int(values.argmax())})" if size > 1e-12 else None

        parts = [
            part(self.penetration_velocity, "approaches at"),
            part(self.outside_cone, "outside its cone by"),
            part(self.complementarity, "pushes while opening, power")
            if np.any((self.velocities[:, 0] > 0) & (self.complementarity > 1e-12))
            else None,
            part(self.dissipation_defect, "friction power off by"),
        ]
        said = [p for p in parts if p]
        words = ", ".join(said) if said else "the rigid law holds"
        gain = ", energy gained" if self.energy_gain > 0 else ""
        return f"residual {digits(self.residual, 2)}: {words}; contact work {digits(self.contact_work, 3)}{gain}"

    def __repr__(self) -> str:
        return f"<stickslip.Verdict {self}>"
