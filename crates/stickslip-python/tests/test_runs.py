"""Runs: the numbers are those of theory and of the command line, bit for bit."""

import copy
import math
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import stickslip


def test_sliding_block_stops_where_theory_says():
    run = stickslip.scene("sliding-block").replace(mu=0.25, v0=1.5, step=1e-4).run()
    assert run.certified and run.outcome == "finished"
    assert run["x"][-1] == pytest.approx(1.5**2 / (2 * 0.25 * 9.81), abs=1e-3)
    stops = [e["t"] for e in run.events if e["kind"] == "stick"]
    assert stops[0] == pytest.approx(1.5 / (0.25 * 9.81), abs=1e-3)


def test_trajectory_is_the_memory_of_the_engine_and_cannot_be_changed():
    sim = stickslip.scene("slender-rod").simulation()
    run = sim.run()
    rows = sim._rows()
    again = np.frombuffer(rows, dtype=np.float64)
    assert np.shares_memory(run.trajectory, again)
    assert not run.trajectory.flags.owndata and not run.trajectory.flags.writeable
    with pytest.raises(ValueError):
        run.trajectory["x"][0] = 1.0


def test_a_run_keeps_its_rows_while_the_simulation_goes_on():
    sim = stickslip.scene("slender-rod").simulation()
    first = sim.run(until=0.3)
    kept = first.trajectory.tobytes()
    second = sim.run()
    assert first.trajectory.tobytes() == kept
    assert second.trajectory[: len(first.t)].tobytes() == kept
    assert second.trajectory.tobytes() != kept


@pytest.mark.parametrize("name", ["slender-rod", "delayed-hopper", "chain", "elastic-block", "tipping-box"])
def test_the_command_line_computes_the_same_bits(name, tmp_path):
    scene = stickslip.scene(name)
    scene = scene.replace(until=min(scene.settings["until"], 40 * scene.settings["step"]))
    run = scene.run()
    (tmp_path / "scene.toml").write_text(scene.text, encoding="utf-8")
    words = [sys.executable, "-m", "stickslip", "run", str(tmp_path / "scene.toml"), "--output", str(tmp_path / "run"), "--quiet"]
    subprocess.run(words, check=True)
    loaded = stickslip.load(tmp_path / "run")
    assert loaded.columns == run.columns
    assert np.array(loaded.trajectory).tobytes() == run.trajectory.tobytes()
    for key in ("certified", "outcome", "steps", "energy", "events", "coordinates"):
        assert loaded.summary[key] == run.summary[key], key


def test_steps_and_runs_can_be_mixed_and_end_with_the_same_bits():
    whole = stickslip.scene("slender-rod").run()
    sim = stickslip.scene("slender-rod").simulation()
    for _ in range(7):
        sim.step()
    sim.advance(100)
    mixed = sim.run()
    assert mixed.trajectory.tobytes() == whole.trajectory.tobytes()


@pytest.mark.parametrize("name", ["slender-rod", "delayed-oscillator", "tipping-box"])
def test_a_copy_goes_on_by_itself_with_the_same_bits(name):
    scene = stickslip.scene(name)
    scene = scene.replace(until=60 * scene.settings["step"])
    sim = scene.simulation()
    sim.advance(20)
    other = sim.copy()
    assert other.t == sim.t and other.contacts.keys() == sim.contacts.keys() or scene.is_world
    sim.advance(5)
    assert other.steps == 20
    assert other.run().trajectory.tobytes() == sim.run().trajectory.tobytes()


def test_deep_copies_are_copies():
    sim = stickslip.scene("delayed-hopper").simulation()
    sim.advance(30)
    others = [sim.copy(), copy.copy(sim), copy.deepcopy([sim])[0]]
    sim.advance(30)
    for other in others:
        assert other.steps == 30
        other.advance(30)
        assert other.q.tobytes() == sim.q.tobytes() and other.v.tobytes() == sim.v.tobytes()


def test_q_and_v_are_copies():
    sim = stickslip.scene("bouncing-ball").simulation()
    kept = [sim.q for _ in range(3) if sim.step()]
    assert len({float(q[0]) for q in kept}) == 3


def test_contacts_by_name():
    sim = stickslip.scene("sliding-block").simulation()
    sim.advance(10)
    floor = sim.contacts["floor"]
    assert floor["mode"] == "slip"
    assert floor["impulse"][0] == pytest.approx(9.81e-3)
    assert floor["impulse"][1] == pytest.approx(-0.3 * 9.81e-3)
    assert floor["velocity"][1] > 0


def test_contacts_of_a_world_by_their_bodies():
    sim = stickslip.scene("tipping-box").simulation()
    sim.advance(5)
    found = sim.contacts
    assert found and all(" - " in name for name in found)
    assert all(np.linalg.norm(c["normal"]) == pytest.approx(1) for c in found.values())


def test_force_of_a_python_function_is_that_of_an_expression():
    s = stickslip.System(["x"], parameters={"m": 2})
    s.kinetic_energy = "m*x'^2/2"
    s.initial = {"x": 1, "x_dot": 0.5}
    free = s.scene(until=2, step=1e-3)
    s.force("x", "-3*x - 0.4*x' + sin(2*t)")
    told = s.scene(until=2, step=1e-3).run()

    def force(t, q, v):
        return -3 * q - 0.4 * v + np.sin(2 * t)

    def listed(t, q, v):
        return [-3 * q[0] - 0.4 * v[0] + math.sin(2 * t)]

    for function in (force, listed, lambda t, q, v: listed(t, q, v)[0]):
        run = free.run(force=function)
        assert np.abs(run["x"] - told["x"]).max() < 1e-9
        assert run.summary["force"] == "python" and run.certified


def test_a_force_of_time_is_not_iterated():
    calls = []
    scene = stickslip.scene("sliding-block").replace(until=0.05)

    def push(t, q, v):
        calls.append(t)
        return [0.1 * t, 0.0]

    def drag(t, q, v):
        calls.append(t)
        return -0.1 * v

    scene.run(force=push, force_depends_on="time")
    few = len(calls)
    assert few <= 50 + 3, "the end of a step is the start of the next"
    calls.clear()
    scene.run(force=drag)
    assert len(calls) > few


def test_what_a_force_keeps_does_not_change():
    # The engine fills its arrays again only when nobody holds them, nor a view of them.
    kept, views, seen = [], [], []

    def force(t, q, v):
        kept.append(q)
        views.append(v[:1])
        seen.append((q.tolist(), v.tolist()))
        q[0] = 1e9
        return [0.0, 0.0]

    run = stickslip.scene("sliding-block").replace(until=0.02).run(force=force)
    assert len({id(q) for q in kept}) == len(kept) > 30
    assert [view[0] for view in views] == [v[0] for _, v in seen]
    assert all(q[1] == before[1] for q, (before, _) in zip(kept, seen))
    free = stickslip.scene("sliding-block").replace(until=0.02).run()
    assert np.abs(run["x"] - free["x"]).max() < 1e-15, "what it writes there is lost"


def test_an_exception_in_a_force_comes_out_as_itself_and_the_simulation_goes_on():
    class Broken(Exception):
        pass

    fail = [True]

    def force(t, q, v):
        if t > 0.1 and fail[0]:
            raise Broken("at " + str(t))
        return [0.0, 0.0]

    sim = stickslip.scene("sliding-block").simulation(force=force)
    with pytest.raises(Broken):
        sim.run()
    before = sim.t
    assert 0.09 < before < 0.11
    fail[0] = False
    assert sim.run().outcome == "finished"


def test_a_force_may_be_any_list_of_numbers():
    scene = stickslip.scene("sliding-block").replace(until=0.1)
    kinds = {
        "list": lambda: [0.5, -2.0],
        "tuple": lambda: (0.5, -2.0),
        "array": lambda: np.array([0.5, -2.0]),
        "a view that is not contiguous": lambda: np.array([0.5, 9.0, -2.0, 9.0])[::2],
        "backwards": lambda: np.array([-2.0, 0.5])[::-1],
        "single precision": lambda: np.array([0.5, -2.0], dtype=np.float32),
        "objects": lambda: np.array([0.5, -2], dtype=object),
        "another byte order": lambda: np.array([0.5, -2.0], dtype=">f8"),
    }
    ends = {name: scene.run(force=lambda t, q, v, kind=kind: kind()).trajectory[-1] for name, kind in kinds.items()}
    assert len({end.tobytes() for end in ends.values()}) == 1, ends
    whole = scene.run(force=lambda t, q, v: np.array([1, -2])).trajectory[-1]
    assert whole.tobytes() == scene.run(force=lambda t, q, v: [1.0, -2.0]).trajectory[-1].tobytes()


@pytest.mark.parametrize("answer", [[1.0], [1.0, 2.0, 3.0], "no", None])
def test_a_force_of_the_wrong_shape_is_refused(answer):
    # The system asks for it when it is built.
    with pytest.raises((ValueError, TypeError), match="force"):
        stickslip.scene("sliding-block").simulation(force=lambda t, q, v: answer)


def test_forces_do_not_act_on_worlds():
    with pytest.raises(stickslip.SceneError, match="worlds"):
        stickslip.scene("tipping-box").simulation(force=lambda t, q, v: v)


def test_a_controller_with_a_state_is_the_loop_of_the_scene():
    s = stickslip.System(["x"])
    s.kinetic_energy = "x'^2"
    free = s.scene(until=1, step=1e-3)
    s.force("x", "u")
    s.controller("pid", period=0.01, state={"i": 0}, update={"i": "i + 0.01*(1 - x)"}, output={"u": "30*(1 - x) - 10*x' + 4*i"})
    told = s.scene(until=1, step=1e-3).run()

    def pid(t, q, v, state):
        (i,) = state
        return [30 * (1 - q[0]) - 10 * v[0] + 4 * i], [i + 0.01 * (1 - q[0])]

    controller = stickslip.Controller(pid, period=0.01, state=[0.0], name="pid")
    run = free.run(controllers=[controller])
    assert np.abs(run["x"] - told["x"]).max() < 1e-12
    sim = free.simulation(controllers=[controller])
    sim.advance(123)
    other = sim.copy()
    assert sim.run().trajectory.tobytes() == other.run().trajectory.tobytes()


def test_the_interpreter_is_free_during_a_run():
    scene = stickslip.scene("chain").replace(until=3)
    done = threading.Event()
    ticks = 0

    def work():
        scene.run()
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set():
        time.sleep(0.001)
        ticks += 1
    thread.join()
    assert ticks > 3


@pytest.fixture
def ctrl_c():
    """Ctrl-C as in a terminal, also where the tests were started with the signal ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_leaves_a_simulation_that_goes_on(ctrl_c):
    scene = stickslip.scene("sliding-block").replace(until=2000, step=1e-3)
    sim = scene.simulation(record=False)
    main = threading.main_thread().ident
    timer = threading.Timer(0.3, lambda: signal.pthread_kill(main, signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        sim.run()
    assert 0 < sim.t < 2000
    steps = sim.steps
    sim.advance(10)
    assert sim.steps == steps + 10


def test_ctrl_c_leaves_a_folder_that_is_resumed_with_the_same_bits(tmp_path, ctrl_c):
    scene = stickslip.scene("sliding-block").replace(until=200, step=1e-3)
    folder = tmp_path / "run"
    main = threading.main_thread().ident

    def interrupt_as_soon_as_steps_are_written():
        while not (folder / "trajectory.npy").exists():
            time.sleep(1e-3)
        signal.pthread_kill(main, signal.SIGINT)

    threading.Thread(target=interrupt_as_soon_as_steps_are_written, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        scene.run(folder=folder)
    with pytest.raises(stickslip.RunError, match="not over"):
        stickslip.load(folder)
    resumed = stickslip.resume(folder)
    assert np.array(resumed.trajectory).tobytes() == scene.run().trajectory.tobytes()


def test_a_part_of_a_run_is_saved_as_it_is(tmp_path):
    sim = stickslip.scene("slender-rod").simulation()
    part = sim.run(until=0.3)
    saved = part.save(tmp_path / "part")
    assert np.array(saved.trajectory).tobytes() == part.trajectory.tobytes()
    sim.run(until=0.40005)
    with pytest.raises(stickslip.RunError, match="ends with other numbers"):
        sim.run(until=0.5).save(tmp_path / "uneven")


def test_a_run_says_how_far_it_can_be_believed():
    run = stickslip.scene("slender-rod").run()
    power = re.search(r", certified: worst residual (\d)?·?10⁻(.*), energy closed$", str(run))
    worst = int(power[1] or 1) * 10.0 ** -int(power[2].translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")))
    assert worst == pytest.approx(run.summary["certificate"]["worst"], rel=0.5)
    again = pickle.loads(pickle.dumps(run))
    assert again.trajectory.tobytes() == run.trajectory.tobytes() and again.summary == run.summary


def circling(constraint):
    """A bead of speed 3 on a circle of radius 2, kept there by a contact or by a joint."""
    s = stickslip.System(["x", "y"])
    s.kinetic_energy = "(x'^2 + y'^2)/2"
    if constraint == "joint":
        s.joint("ring", "x^2 + y^2 - 4")
    else:
        s.contact("ring", gap="2 - sqrt(x^2 + y^2)")
    s.initial = {"x": 2, "y_dot": 3}
    return s.scene(until=1, step=2e-3)


@pytest.mark.parametrize("constraint", ["contact", "joint"])
def test_positions_are_kept_unless_they_are_asked_not_to_be(constraint):
    scene = circling(constraint)
    kept, bare = scene.run(), scene.replace(projection="none").run()
    assert kept.summary["projection"] == "combined" and bare.summary["projection"] == "none"
    distance = [np.hypot(run["x"], run["y"]) - 2 for run in (kept, bare)]
    assert np.abs(distance[0]).max() < 1e-14 and kept.certified and kept.summary["positions"]["hold"]
    assert "moved_x" in kept.columns and "moved_x" not in bare.columns
    # A bare step leaves the circle by h² v²/r, of which nothing is taken back: h v² t/r after a time t, the first order of it.
    positions = bare.summary["positions"]
    assert distance[1][-1] == pytest.approx(2e-3 * 9 / 2, rel=0.01)
    assert not bare.certified and not positions["hold"] and positions["crossings"] == 0
    key, drift, violation = ("joint", "joint_drift", bare["x"] ** 2 + bare["y"] ** 2 - 4)
    if constraint == "contact":
        key, drift, violation = "penetration", "drift", distance[1]
    worst = positions[key]
    assert worst["contact"] == "ring" and worst["t"] == bare.t[violation.argmax()]
    assert worst["value"] == pytest.approx(violation.max(), rel=1e-9)
    assert positions[drift]["value"] > positions["limit"] > kept.summary["positions"][drift]["value"]
    assert 'projection = "combined" corrects positions' in "".join(bare.summary["warnings"])
    # An outcome of sweeps like every number of the summary.
    ds = stickslip.sweep(scene, {"projection": ["combined", "none"]}, of={"worst": f"positions.{key}.value"}, client=1)
    assert float(ds.worst.sel(projection="none")) == worst["value"] and ds.certified.values.tolist() == [True, False]


def test_errors_are_our_own(tmp_path):
    scene = stickslip.scene("sliding-block")
    with pytest.raises(stickslip.RunError, match="Python functions"):
        scene.run(folder=tmp_path / "run", force=lambda t, q, v: v)
    with pytest.raises(stickslip.ProblemError, match="known: "):
        stickslip.ContactProblem(np.eye(2), [-1, 0], 0.5).solve(method="magic")
    for error in (stickslip.RunError("a"), stickslip.ProblemError("b"), stickslip.SweepError("c")):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error) and str(again) == str(error)


def test_a_stopped_run_says_why_and_a_step_raises():
    s = stickslip.System(["x"])
    s.kinetic_energy = "x'^2/2"
    s.force("x", "sqrt(0.5 - t)")
    scene = s.scene(until=1, step=0.01)
    run = scene.run()
    assert run.outcome == "stopped" and run.summary["reason"]
    assert not run.certified
    sim = scene.simulation()
    with pytest.raises(stickslip.RunError, match="stopped at t = "):
        for _ in range(200):
            sim.step()
    assert sim.t == pytest.approx(run.t[-1])


def test_scenes_and_errors_are_pickled():
    scene = stickslip.scene("slender-rod").replace(mu=0.4)
    again = pickle.loads(pickle.dumps(scene))
    assert again == scene and hash(again) == hash(scene) and again.parameters["mu"] == 0.4
    with pytest.raises(stickslip.SceneError) as caught:
        stickslip.Scene('title = "x"\n[system]\ncoordinates = ["y"]\nkinetic_enrgy = "y\'^2"\n')
    error = pickle.loads(pickle.dumps(caught.value))
    assert type(error) is stickslip.SceneError and str(error) == str(caught.value)
    assert error.findings[0]["line"] == 4 and "kinetic_energy" in error.findings[0]["help"]
    assert "^^^" in str(error)


def test_changes_are_exact_and_ambiguous_names_refused():
    scene = stickslip.scene("sliding-block")
    for value in (0.1, np.float64(1) / 3, 1e-300, 5e22, 7, np.int64(2)):
        assert scene.replace(mu=value).parameters["mu"] == float(value)
    assert scene.replace(mu="0.1 + 0.2").parameters["mu"] == 0.1 + 0.2
    with pytest.raises(stickslip.SceneError, match="no parameter `nu`"):
        scene.replace(nu=1)
    text = scene.text.replace("v0 = 2", "v0 = 2\nstep = 3")
    both = stickslip.Scene(text)
    with pytest.raises(stickslip.SceneError, match="parameters="):
        both.replace(step=1)
    assert both.replace(parameters={"step": 4}).parameters["step"] == 4
    assert both.replace(settings={"step": 0.5}).settings["step"] == 0.5


def test_verify_refuses_a_wrong_formulation():
    run = stickslip.scene("sliding-block").run()
    assert run.verify()["accepted"]
    assert not run.verify("P2")["accepted"]
    with pytest.raises(ValueError, match="known: P2"):
        run.verify("P9")
    world = stickslip.scene("tipping-box").replace(until=0.02).run()
    assert world.verify()["accepted"]
    assert "world" in world.verify("P5")["does_not_apply"]


def test_system_writes_what_a_file_says():
    s = stickslip.System(["x", "y"], parameters={"m": 1, "slope": 0.35})
    s.kinetic_energy = "m*(x'**2 + y'**2)/2"
    s.potential = "m*9.81*(y*cos(slope) - x*sin(slope))"
    s.contact("slope", gap="y", point=["x", "y"], friction={"disc": 0.3})
    run = s.scene(until=1).run()
    a = 9.81 * (math.sin(0.35) - 0.3 * math.cos(0.35))
    assert run["x"][-1] == pytest.approx(a / 2, rel=2e-3)
    with pytest.raises(stickslip.SceneError, match="scene has no"):
        stickslip.Scene("title = 'a'")


def test_expressions_of_sympy_are_understood():
    sympy = pytest.importorskip("sympy")
    x, v = sympy.symbols("x v")
    s = stickslip.System(["x"], parameters={"k": 3})
    s.kinetic_energy = "x'^2/2"
    s.potential = sympy.integrate(sympy.Symbol("k") * x + x**3, x)
    s.initial = {"x": 1}
    told = stickslip.System(["x"], parameters={"k": 3})
    told.kinetic_energy, told.potential, told.initial = "x'^2/2", "k*x^2/2 + x^4/4", {"x": 1}
    first, second = (one.scene(until=1, step=1e-2).run() for one in (s, told))
    assert np.abs(first["x"] - second["x"]).max() < 1e-12 and v is not None


def test_world_writes_the_scene_format():
    w = stickslip.World(parameters={"mu": 0.6})
    w.material("brick", density=1800, friction="mu")
    w.material("steel", density=7800, friction=0.3)
    w.pair("brick", "steel", friction=0.45, restitution=0.2)
    w.body("floor", fixed=True, material="brick", shape={"half_space": [0, 0, 1]})
    w.body(
        "brick",
        material="brick",
        shape={"box": [0.2, 0.1, 0.06]},
        position=[0, 0, 0.03],
        repeat={"count": [3, 1, 2], "spacing": [0.2, 0.1, 0.06], "stagger": [0.1, 0, 0]},
    )
    w.body("ball", material="steel", shape={"ball": 0.08}, position=[0.2, -0.5, 0.1], velocity=[0, 8, 0])
    w.monitor("push", force=["ball", "floor"])
    w.record = {"bodies": ["ball"], "contacts": "none"}
    scene = w.scene(until=0.1, step=1e-3)
    assert scene.bodies[:3] == ["floor", "brick[0]", "brick[1]"] and len(scene.bodies) == 8
    run = scene.run()
    assert run.outcome == "finished" and "ball.x" in run.columns and "brick[0].x" not in run.columns


def test_tables_for_pandas_and_xarray_share_the_numbers():
    run = stickslip.scene("slender-rod").run()
    table = run.to_pandas()
    assert table.shape == (len(run.t), len(run.columns) - 1)
    ds = run.to_xarray()
    assert ds.p_n.dims == ("t", "contact") and list(ds.contact.values) == ["lower tip", "upper tip"]
    assert (ds.p_n.sel(contact="lower tip").values == run["lower tip.p_n"]).all()
    assert (ds.p_t.sel(contact="upper tip", tangent=1).values == run["upper tip.p_t1"]).all()
    assert (ds.energy.sel(term="contact_normal").values == run["energy.contact_normal"]).all()
    assert ds.attrs["law"] == "coulomb" and ds.attrs["parameter mu"] == 0.3
    assert np.shares_memory(ds["x"].values, run.trajectory)
    assert ds.t.attrs["units"] == "s" and ds.p_n.attrs["units"] == "N s" and ds.energy.attrs["units"] == "J"


def test_bodies_of_a_world_are_a_dimension():
    run = stickslip.scene("four-balls").replace(until=0.02).run()
    ds = run.to_xarray()
    assert ds.z.dims == ("t", "body") and ds.body.values.tolist() == run.scene.bodies
    for body in run.scene.bodies:
        for column in ("x", "z", "qw", "vz", "wy"):
            assert (ds[column].sel(body=body).values == run[f"{body}.{column}"]).all()
    assert ds.vz.attrs["units"] == "m/s" and not any("." in name for name in ds.data_vars)
    plane = stickslip.scene("three-cylinders").replace(until=0.02).run().to_xarray()
    assert plane.angle.sizes["body"] == 4 and "qw" not in plane


def test_a_column_that_is_not_there_is_told_with_the_nearest():
    run = stickslip.scene("bouncing-ball").run()
    with pytest.raises(KeyError, match="did you mean `v_y`"):
        run["v_z"]


def test_notebooks_see_a_picture_and_a_verdict():
    html = stickslip.scene("slender-rod").run()._repr_html_()
    assert "certified" in html and "<svg" in html and "polyline" in html


def test_the_program_comes_with_the_package():
    words = [sys.executable, "-m", "stickslip"]
    listed = subprocess.run([*words, "list"], capture_output=True, text=True, check=True).stdout
    assert all(name in listed for name in stickslip.gallery())
    wrong = subprocess.run([*words, "run", "no-such-scene"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 1 and "no scene `no-such-scene`" in wrong.stderr


def test_every_study_of_the_program_has_a_function():
    told = subprocess.run([sys.executable, "-m", "stickslip", "study", "--help"], capture_output=True, text=True, check=True).stdout
    commands = told[told.index("Commands:") : told.index("Options:")].splitlines()[1:]
    names = {line.split()[0] for line in commands if line.startswith("  ") and line[2] != " "} - {"help"}
    assert len(names) > 8 and names <= set(stickslip.study.__all__)


def test_all_scenes_of_the_gallery_are_read():
    assert len(stickslip.gallery()) > 50
    for name in stickslip.gallery():
        assert stickslip.scene(name).coordinates, name
    with pytest.raises(stickslip.SceneError, match="did you mean `slender-rod`"):
        stickslip.scene("slenderrod")
    assert os.path.exists(os.path.dirname(stickslip.__file__) + "/py.typed")
