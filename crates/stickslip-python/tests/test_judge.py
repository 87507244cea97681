"""The judge of other engines, from arrays and through its adapters."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import stickslip

ROOT = Path(__file__).resolve().parents[3]


def test_our_own_runs_are_judged_exact():
    # A block in the plane: every step of a run, posed again by hand from its records.
    run = stickslip.scene("sliding-block").run()
    M, H, h = np.eye(2), [[0, 1], [1, 0]], 1e-3
    report = stickslip.judge.Report()
    for k in range(1, len(run.t), 20):
        before = np.array([run["v_x"][k - 1], run["v_y"][k - 1]])
        free = before + h * np.array([0, -9.81])
        impulses = [run["floor.p_n"][k], run["floor.p_t1"][k]]
        report.enter(run.t[k], stickslip.judge.arrays(M, H, free, 0.3, impulses))
    assert report.residual.max() < 1e-12
    assert "departure from rigid contact over" in str(report)


def test_departures_are_named():
    verdict = stickslip.judge.arrays(np.eye(2), [[0, 1], [1, 0]], [1.0, -1.0], 0.5, [0.7, -0.35])
    assert verdict.worst == "penetration_velocity" and "approaches at 0.3" in str(verdict)
    moved = stickslip.judge.arrays(np.eye(2), [[0, 1], [1, 0]], [1.0, -1.0], 0.5, [0.7, -0.35], [0.3, 0.0])
    assert moved.accepted(1e-12), "a surface that recedes at 0.3"


class FakeProblem:
    """What the adapter reads of a one-step problem of Siconos."""

    def __init__(self, W, q, z, mu):
        self.values = (np.asarray(W, float), np.asarray(q, float), np.asarray(z, float), np.asarray(mu, float))

    def getSizeOutput(self):
        return len(self.values[1])

    def frictionContactProblemPtr(self):
        return type("Numerics", (), {"mu": self.values[3], "numberOfContacts": len(self.values[3])})()

    def q(self):
        return self.values[1]

    def z(self):
        return self.values[2]

    def M(self):
        return type("Matrix", (), {"defaultMatrix": lambda s: self.values[0]})()


def test_the_adapter_of_siconos_reads_the_one_step_problem():
    fake = FakeProblem(np.eye(2), [-1, -5], [1, 0.5], [0.5])
    simulation = type("Simulation", (), {"nextTime": lambda s: 0.1})()
    judge = stickslip.judge.siconos(simulation, fake)
    assert judge().accepted(1e-12) and judge.report().rows[0]["t"] == 0.1


PEERS = ROOT / "docs" / "judge_peers.py"


def interpreter_with_siconos():
    """This interpreter, or that of the system, where Debian puts Siconos."""
    for name in (sys.executable, "/usr/bin/python3"):
        found = Path(name).exists() and subprocess.run(
            [name, "-c", "import sys, siconos.kernel; assert sys.version_info >= (3, 11)"], capture_output=True, check=False
        )
        if found and found.returncode == 0:
            return name
    return None


def test_siconos_obeys_the_rigid_law_on_problems_of_its_own():
    python = interpreter_with_siconos()
    if python is None:
        pytest.skip("Siconos is not installed (Debian: apt-get install python3-siconos)")
    code = f"""
import sys; sys.path.insert(0, {str(PEERS.parent)!r})
import judge_peers
for scene in ("slide to rest", "Painleve"):
    found = [v for v in judge_peers.judge_siconos(scene) if v.problem.contacts]
    print("judged", len(found), max(v.residual for v in found), max(v.energy_gain for v in found))
"""
    package = str(Path(stickslip.__file__).parent.parent)
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": package})
    rows = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("judged")]
    assert [int(steps) > 20 for steps, _, _ in rows] == [True, True]
    assert all(float(residual) < 1e-10 and float(gain) == 0 for _, residual, gain in rows)


def test_the_page_has_a_row_for_every_scene_and_engine():
    spec = importlib.util.spec_from_file_location("judge_peers", PEERS)
    peers = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(peers)
    page = (ROOT / "docs" / "judge.md").read_text(encoding="utf-8")
    for scene in peers.MUJOCO:
        for engine in ("MuJoCo", "Siconos"):
            row = next(line for line in page.splitlines() if line.startswith(f"| {scene} | {engine} | "))
            assert len(row.split("|")) == 11 and int(row.split("|")[3]) > 40


mujoco = pytest.importorskip("mujoco") if importlib.util.find_spec("mujoco") else None
needs_mujoco = pytest.mark.skipif(mujoco is None, reason="mujoco is not installed")

SLIDE = """<mujoco><option timestep='0.002' cone='{cone}' tolerance='1e-12' iterations='200'/>
<worldbody><geom type='plane' size='9 9 1' friction='.5 0 0'/>
<body pos='0 0 .05'><freejoint/><geom type='box' size='.1 .1 .05' mass='1' friction='.5 0 0'/></body></worldbody></mujoco>"""


@needs_mujoco
@pytest.mark.parametrize("cone", ["elliptic", "pyramidal"])
def test_the_problem_of_mujoco_is_posed_right(cone):
    model = mujoco.MjModel.from_xml_string(SLIDE.format(cone=cone))
    data = mujoco.MjData(model)
    data.qvel[0] = 2.0
    judge = stickslip.judge.mujoco(model, data)
    seen = 0
    for _ in range(400):
        mujoco.mj_step(model, data)
        verdict = judge()
        if verdict.problem.contacts == 0:
            assert verdict.residual == 0 and len(verdict.impulses) == 0
            continue
        seen += 1
        # The velocities of the verdict are those that MuJoCo has after the step.
        r = verdict.impulses.reshape(-1)
        v = verdict.problem._core.generalized_velocity(np.ascontiguousarray(r))
        assert np.abs(v - data.qvel).max() < 1e-9
        assert verdict.outside_cone.max() < 1e-6 * max(1, r.max())
        assert verdict.contact_work <= 1e-12
        assert verdict.residual < 0.5
        ours, _, _ = verdict.nearest(1e-12)
        assert ours.residual < 1e-10
    assert seen > 60
    table = judge.report().to_pandas()
    assert table.residual.max() > 1e-4, "soft contacts depart from the rigid law"
    assert table.residual.iloc[-1] < 1e-4, "at rest they do less"


@needs_mujoco
def test_the_script_of_the_documentation_runs(capsys):
    # A box that falls on the floor: its first steps have no contact.
    model = mujoco.MjModel.from_xml_string(SLIDE.format(cone="elliptic").replace("pos='0 0 .05'", "pos='0 0 .06'"))
    data = mujoco.MjData(model)
    judge = stickslip.judge.mujoco(model, data)
    for _ in range(100):
        mujoco.mj_step(model, data)
        verdict = judge()
        if verdict.residual > 1e-3:
            print(f"{data.time:.3f} s", verdict)
    assert "residual" in capsys.readouterr().out
    table = judge.report().to_pandas()
    assert 0 < len(table) < 100 and (table.contacts >= 1).all()


@needs_mujoco
def test_what_cannot_be_judged_is_refused_by_name():
    rk4 = mujoco.MjModel.from_xml_string(SLIDE.format(cone="elliptic").replace("<option", "<option integrator='RK4'"))
    with pytest.raises(ValueError, match="RK4"):
        stickslip.judge.mujoco(rk4, mujoco.MjData(rk4))
    text = "<mujoco><option integrator='implicitfast'/><worldbody><body><joint damping='1'/><geom size='.1'/></body></worldbody></mujoco>"
    damped = mujoco.MjModel.from_xml_string(text)
    with pytest.raises(ValueError, match="damping"):
        stickslip.judge.mujoco(damped, mujoco.MjData(damped))


@needs_mujoco
def test_the_table_of_peers_is_computed():
    spec = importlib.util.spec_from_file_location("judge_peers", PEERS)
    peers = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(peers)
    assert len(peers.MUJOCO) == 6
    line = peers.row("mass ratio 1000", "MuJoCo", peers.judge_mujoco("mass ratio 1000"))
    assert line.startswith("| mass ratio 1000 | MuJoCo | ")
