"""The table of docs/judge.md: contact impulses of other engines on six scenes, judged by stickslip.judge.

    python docs/judge_peers.py            prints the table as Markdown

Engines that are not installed are left out, by name; docs/judge.md tells how to have both in one environment.
"""

from __future__ import annotations

import math
import sys

import numpy as np

import stickslip

#: Worlds as MuJoCo reads them; masses in kg, lengths in m, gravity along z.
HEAD = """<mujoco><option timestep='0.002' cone='elliptic' iterations='200' tolerance='1e-12' integrator='Euler'/>
<default><geom friction='{mu} 0 0' condim='3'/></default><worldbody>"""
FLOOR = "<geom type='plane' size='9 9 1'/>"
TAIL = "</worldbody></mujoco>"


def box(half, place, mass):
    return (
        f"<body pos='{place}'><freejoint/><geom type='box' size='{half}' mass='{mass}'/></body>"
    )


MUJOCO = {
    "slide to rest": (0.5, FLOOR + box(".1 .1 .05", "0 0 .05", 1), {0: 2.0}, 1.0),
    "stack": (
        0.5,
        FLOOR + "".join(box(".1 .1 .05", f"0 0 {0.05 + 0.1 * k}", 1) for k in range(5)),
        {},
        0.5,
    ),
    "wedge": (
        0.3,
        "<geom type='plane' size='9 9 1' euler='0 40 0'/><geom type='plane' size='9 9 1' euler='0 -40 0'/>"
        "<body pos='0 0 .2'><freejoint/><geom type='sphere' size='.1' mass='1'/></body>",
        {},
        1.0,
    ),
    "bounce with friction": (
        0.4,
        FLOOR + "<body pos='0 0 .5'><freejoint/><geom type='sphere' size='.1' mass='1'/></body>",
        {0: 1.0, 4: -20.0},
        1.0,
    ),
    "mass ratio 1000": (
        0.5,
        FLOOR + box(".1 .1 .05", "0 0 .05", 1) + box(".1 .1 .05", "0 0 .15", 1000),
        {},
        0.5,
    ),
    "Painleve": (
        2.0,
        FLOOR
        + "<body pos='0 0 .9'><joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 0 1'/>"
        "<joint type='hinge' axis='0 1 0'/><inertial pos='0 0 0' mass='1' diaginertia='.0833 .0833 .0833'/>"
        "<geom type='sphere' size='.01' pos='-.25 0 -.45' mass='0'/></body>",
        {0: 3.0, 1: -0.5},
        0.6,
    ),
}


def judge_mujoco(name):
    import mujoco

    mu, bodies, velocities, until = MUJOCO[name]
    model = mujoco.MjModel.from_xml_string(HEAD.format(mu=mu) + bodies + TAIL)
    data = mujoco.MjData(model)
    for index, value in velocities.items():
        data.qvel[index] = value
    judge = stickslip.judge.mujoco(model, data)
    while data.time < until:
        mujoco.mj_step(model, data)
        yield judge()


def siconos_blocks(name):
    """Masses, start, forces and contacts of the scenes for Siconos, in the plane. A contact gives its gap, and its normal and
    tangential directions, at a configuration."""
    g, h = 9.81, 2e-3

    def flat(normal, tangent, offset=0.0):
        rows = np.array([normal, tangent], float)
        return lambda q: (rows[0] @ q - offset, rows)

    if name == "slide to rest":
        return np.eye(2), [0, 0], [2.0, 0], [0, -g], [flat([0, 1], [1, 0])], 0.5, h, 1.0
    if name == "stack" or name == "mass ratio 1000":
        masses = [1.0] * 5 if name == "stack" else [1.0, 1000.0]
        n = len(masses)
        M = np.diag(np.repeat(masses, 2))
        contacts = []
        for k in range(n):
            normal, tangent = np.zeros(2 * n), np.zeros(2 * n)
            normal[2 * k + 1], tangent[2 * k] = 1, 1
            if k:
                normal[2 * k - 1], tangent[2 * k - 2] = -1, -1
            contacts.append(flat(normal, tangent))
        force = np.ravel([[0, -g * m] for m in masses])
        return M, np.zeros(2 * n), np.zeros(2 * n), force, contacts, 0.5, h, 0.5
    if name == "wedge":
        a = math.radians(40)
        contacts = [flat([s * math.sin(a), math.cos(a)], [math.cos(a), -s * math.sin(a)], 0.1) for s in (1, -1)]
        return np.eye(2), [0, 0.2], [0, 0], [0, -g], contacts, 0.3, h, 1.0
    if name == "bounce with friction":
        # x, z, angle of a ball of radius 0.1: the rim moves along x by x' + 0.1 w.
        M = np.diag([1, 1, 0.4 * 0.01])
        return M, [0, 0.4, 0], [1.0, 0, -20.0], [0, -g, 0], [flat([0, 1, 0], [1, 0, 0.1])], 0.4, h, 1.0

    def tip(q):
        # x, z, angle about y of the rod; its tip is a ball of radius 0.01.
        c, s = math.cos(q[2]), math.sin(q[2])
        along, up = -0.25 * c - 0.45 * s, 0.25 * s - 0.45 * c
        rows = np.array([[0, 1, -along], [1, 0, up - 0.01]])
        return q[1] + up - 0.01, rows

    return np.diag([1, 1, 0.0833]), [0, 0.9, 0], [3.0, -0.5, 0], [0, -g, 0], [tip], 2.0, h, 0.6


def judge_siconos(name):
    """Every step is posed with the directions of the contacts at its start, as Moreau and Jean's scheme has them."""
    from siconos import kernel, numerics

    M, q, v, force, contacts, mu, h, until = siconos_blocks(name)
    q, v = np.array(q, float), np.array(v, float)
    for _ in range(round(until / h)):
        body = kernel.LagrangianLinearTIDS(q.tolist(), v.tolist(), np.asarray(M, float))
        body.setFExtPtr(list(map(float, force)))
        system = kernel.NonSmoothDynamicalSystem(0, h)
        system.insertDynamicalSystem(body)
        for contact in contacts:
            gap, rows = contact(q)
            relation = kernel.LagrangianLinearTIR(rows, [float(gap - rows[0] @ q), 0.0])
            law = kernel.NewtonImpactFrictionNSL(0.0, 0.0, mu, 2)
            system.link(kernel.Interaction(law, relation), body)
        problem = kernel.FrictionContact(2, numerics.SICONOS_FRICTION_2D_NSGS)
        problem.numericsSolverOptions().dparam[0] = 1e-12
        problem.numericsSolverOptions().iparam[0] = 10000
        simulation = kernel.TimeStepping(system, kernel.TimeDiscretisation(0, h), kernel.MoreauJeanOSI(0.5), problem)
        simulation.computeOneStep()
        yield stickslip.judge.siconos(simulation, problem)()
        q, v = np.array(body.q()), np.array(body.velocity())


def row(scene, engine, verdicts):
    found = [verdict for verdict in verdicts if verdict.problem.contacts > 0]
    residual = np.array([v.residual for v in found])
    approach = max(float(v.penetration_velocity.max()) for v in found)
    gain = sum(v.energy_gain for v in found)
    ours, several = 0.0, 0
    for verdict in found:
        solution, _, _ = verdict.nearest(1e-12)
        ours = max(ours, solution.residual)
        small = verdict.problem.contacts <= 1
        several += small and verdict.branches()["verdict"] != "regular"
    return (
        f"| {scene} | {engine} | {len(found)} | {np.median(residual):.1e} | {residual.max():.1e} | {approach:.1e} | "
        f"{gain:.1e} | {ours:.1e} | {several} |"
    )


def main():
    print("| scene | engine | steps | median departure | most | approach left (m/s) | energy gained (J) | ours on the same problems | steps with several answers |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for scene in MUJOCO:
        for engine, judge in (("MuJoCo", judge_mujoco), ("Siconos", judge_siconos)):
            try:
                line = row(scene, engine, judge(scene))
            except ImportError as error:
                print(f"{engine} is left out: {error}", file=sys.stderr)
                continue
            print(line, flush=True)


if __name__ == "__main__":
    main()
