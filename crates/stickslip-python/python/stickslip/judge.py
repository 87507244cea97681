"""The judge of other engines: how far their contact impulses are from rigid contact with Coulomb's friction.

Whatever engine applied the impulses, the question is the same: given the mass matrix M, the directions H of the contacts, the
velocity without contacts, the coefficients mu, and the impulses r, how far is (r, H'v) from the law? An engine with soft contacts departs
on purpose; these are departures, not errors.

>>> import numpy as np, stickslip
>>> M, H = np.diag([2.0, 2.0]), [[0, 1], [1, 0]]      # a block: x, y; normal along y, tangent along x
>>> verdict = stickslip.judge.arrays(M, H, free_velocity=[3.0, -0.01], mu=0.3, impulses=[0.02, -0.006])
>>> verdict.accepted(1e-12)
True
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ._extras import needed
from ._stickslip import digits, quantity
from .errors import ProblemError
from .problem import ContactProblem, Verdict

if TYPE_CHECKING:
    import pandas

__all__ = ["Judge", "Report", "arrays", "mujoco", "siconos"]


def arrays(
    M: Any, H: Any, free_velocity: Any, mu: Any, impulses: Any, imposed_velocity: Any = None
) -> Verdict:
    """The verdict on impulses of any engine: M v = M v_free + H r, u = H'v + imposed velocity, normal components first.

    >>> import stickslip
    >>> verdict = stickslip.judge.arrays([[1.0, 0], [0, 1]], [[0, 1], [1, 0]], [1.0, -1.0], 0.5, [1.0, 0.0])
    >>> verdict.worst
    'dissipation_defect'
    """
    free = np.asarray(free_velocity, dtype=float)
    force = M @ free if hasattr(M, "tocsr") else np.asarray(M, dtype=float) @ free
    problem = ContactProblem.from_mass(M, H, force, imposed_velocity, mu)
    return problem.judge(impulses)


@dataclass(frozen=True)
class Report:
    """The verdicts of many steps.

    >>> import stickslip
    >>> report = stickslip.judge.Report()
    >>> report.enter(0.1, stickslip.judge.arrays([[1.0, 0], [0, 1]], [[0, 1], [1, 0]], [0, -1.0], 0.5, [1.0, 0.0]))
    >>> bool(report.residual.max() < 1e-12)
    True
    """

    #: One dict per step with contact: time, number of contacts, and the worst of every measure.
    rows: list[dict[str, float]] = field(default_factory=list)

    def enter(self, t: float, verdict: Verdict) -> None:
        """Adds the verdict of a step.

        >>> import stickslip
        >>> stickslip.judge.Report().rows
        []
        """
        worst = {
            name: float(np.max(verdict[name], initial=0.0))
            for name in ("penetration_velocity", "outside_cone", "complementarity", "dissipation_defect")
        }
        self.rows.append(
            {
                "t": float(t),
                "contacts": float(verdict.problem.contacts),
                "residual": verdict.residual,
                "scaled_residual": verdict.scaled_residual,
                **worst,
                "contact_work": verdict.contact_work,
                "energy_gain": verdict.energy_gain,
            }
        )

    @property
    def residual(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Residuals, step by step.

        >>> import stickslip
        >>> stickslip.judge.Report().residual.tolist()
        []
        """
        return np.array([row["residual"] for row in self.rows])

    def to_pandas(self) -> pandas.DataFrame:
        """One row per step with contact.

        >>> import stickslip
        >>> len(stickslip.judge.Report().to_pandas())
        0
        """
        table: pandas.DataFrame = needed("pandas", "xarray").DataFrame(self.rows)
        return table

    def __str__(self) -> str:
        if not self.rows:
            return "no step with contact was judged"
        found = self.residual
        at = self.rows[int(found.argmax())]["t"]
        gain = sum(row["energy_gain"] for row in self.rows)
        return (
            f"departure from rigid contact over {len(found)} steps: median {digits(float(np.median(found)), 2)}, "
            f"most {digits(float(found.max()), 2)} at t = {at:g} s; energy gained at contacts {quantity(gain, 'J')}"
        )


class Judge:
    """A judge that is asked after every step of another engine: call it; :meth:`report` has all verdicts.

    The verdict on a step without contact is one on a problem of no contacts: residual zero, not part of the report.

    >>> import stickslip
    >>> problem = stickslip.ContactProblem(W=[[1, 0], [0, 1]], q=[-1, 0], mu=0.5)
    >>> judge = stickslip.judge.Judge(lambda: (0.0, problem, [1, 0]))
    >>> judge().accepted()
    True
    >>> len(judge.report().rows)
    1
    """

    def __init__(self, read: Any) -> None:
        #: Reads time, problem and impulses of the last step.
        self.read = read
        self._report = Report()

    def __call__(self) -> Verdict:
        t, problem, impulses = self.read()
        verdict: Verdict = problem.judge(impulses)
        if problem.contacts > 0:
            self._report.enter(t, verdict)
        return verdict

    def report(self) -> Report:
        """What was judged so far.

        >>> import stickslip
        >>> str(stickslip.judge.Judge(print).report())
        'no step with contact was judged'
        """
        return self._report


def _no_contact() -> ContactProblem:
    return ContactProblem(W=np.zeros((0, 0)), q=np.zeros(0), mu=np.zeros(0))


def mujoco(model: Any, data: Any) -> Judge:
    """A judge of the last step of MuJoCo: call it after ``mj_step``.

    M and the contacts are those of the start of the step, at which MuJoCo evaluates them; the velocity without contacts is the
    new velocity less what the contact forces gave. Joint limits, equality constraints and torsional friction are
    taken as they are. Contacts that MuJoCo sees before they touch may approach by their distance per step.

    Refused by name: Runge-Kutta (its steps have several sets of forces), implicit integrators with damping (their operator is
    not M), friction that differs along the two tangents.

    >>> import stickslip
    >>> try:
    ...     import mujoco
    ... except ImportError:
    ...     print(True)
    ... else:
    ...     m = mujoco.MjModel.from_xml_string("<mujoco><worldbody><geom type='plane' size='1 1 1'/>"
    ...         "<body pos='0 0 .099'><freejoint/><geom type='sphere' size='.1'/></body></worldbody></mujoco>")
    ...     d = mujoco.MjData(m)
    ...     judge = stickslip.judge.mujoco(m, d)
    ...     mujoco.mj_step(m, d)
    ...     print(judge().problem.contacts == 1)
    True
    """
    import mujoco as engine

    integrator = engine.mjtIntegrator(model.opt.integrator)
    if integrator == engine.mjtIntegrator.mjINT_RK4:
        raise ProblemError("the integrator RK4 has several sets of contact forces in a step; choose Euler")
    damped = bool(np.any(np.asarray(model.dof_damping) != 0.0))
    implicit = integrator != engine.mjtIntegrator.mjINT_EULER
    undamped_euler = engine.mjtDisableBit.mjDSBL_EULERDAMP & model.opt.disableflags
    if damped and (implicit or not undamped_euler):
        message = "joints with damping are integrated implicitly, with another operator than M"
        raise ProblemError(message + "; disable it by <flag eulerdamp='disable'/> and the integrator Euler")

    def read() -> tuple[float, ContactProblem, Any]:
        active = [k for k in range(data.ncon) if data.contact[k].efc_address >= 0]
        if not active:
            return float(data.time), _no_contact(), np.zeros(0)
        n, h = model.nv, float(model.opt.timestep)
        mass = np.zeros((n, n))
        _full_mass(engine, model, data, mass)
        H = np.zeros((n, 3 * len(active)))
        mu, r, imposed = np.zeros(len(active)), np.zeros(3 * len(active)), np.zeros(3 * len(active))
        first, second, force = np.zeros((3, n)), np.zeros((3, n)), np.zeros(6)
        for i, k in enumerate(active):
            contact = data.contact[k]
            if contact.dim >= 3 and contact.friction[0] != contact.friction[1]:
                raise ProblemError(f"contact {k}: friction differs along its tangents {contact.friction[:2]}")
            bodies = [model.geom_bodyid[g] for g in (contact.geom1, contact.geom2)]
            engine.mj_jac(model, data, first, None, contact.pos, bodies[0])
            engine.mj_jac(model, data, second, None, contact.pos, bodies[1])
            frame = np.asarray(contact.frame).reshape(3, 3)
            H[:, 3 * i : 3 * i + 3] = (frame @ (second - first)).T
            engine.mj_contactForce(model, data, k, force)
            mu[i] = contact.friction[0] if contact.dim >= 3 else 0.0
            r[3 * i : 3 * i + 3] = h * force[:3]
            imposed[3 * i] = max(float(contact.dist), 0.0) / h
        momentum = mass @ np.asarray(data.qvel) - H @ r
        problem = ContactProblem.from_mass(mass, H, momentum, imposed, mu)
        return float(data.time), problem, r

    return Judge(read)


def _full_mass(engine: Any, model: Any, data: Any, out: Any) -> None:
    """The mass matrix; the name of its sparse form changed between releases of MuJoCo."""
    if hasattr(data, "qM"):
        engine.mj_fullM(model, out, data.qM)
    else:
        engine.mj_fullM(model, data, out)


def siconos(simulation: Any, problem: Any) -> Judge:
    """A judge of the last step of Siconos: call it after ``computeOneStep`` of a ``TimeStepping`` with the ``FrictionContact``
    problem that was given to it.

    W, q, mu and the reactions are read from the one-step problem, in which Siconos writes the normal component first.

    >>> import stickslip
    >>> callable(stickslip.judge.siconos)
    True
    """

    def read() -> tuple[float, ContactProblem, Any]:
        size = int(problem.getSizeOutput())
        if size == 0:
            return float(simulation.nextTime()), _no_contact(), np.zeros(0)
        given = problem.frictionContactProblemPtr()
        matrix = np.array(problem.M().defaultMatrix(), dtype=float).reshape(size, size)
        q = np.array(problem.q(), dtype=float).reshape(-1)[:size]
        r = np.array(problem.z(), dtype=float).reshape(-1)[:size]
        mu = np.array(given.mu, dtype=float).reshape(-1)[: int(given.numberOfContacts)]
        return float(simulation.nextTime()), ContactProblem(matrix, q, mu), r

    return Judge(read)
