"""Sweeps: the same bits whoever computes them, resumed, with deaths of workers, in the file of the command line."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest

import stickslip

pytest.importorskip("xarray")

AXES = {"mu": [0.1, 0.3, 0.5], "v0": [1.0, 2.0]}


@pytest.fixture
def scene():
    return stickslip.scene("sliding-block").replace(until=0.4)


def bits(dataset, name):
    return dataset[name].values.tobytes()


def grid(start, end, count):
    """The numbers of `start:end:count` on the command line, to the bit."""
    return [start + (end - start) * k / (count - 1) for k in range(count)]


def lost(run):
    return run.summary["energy"]["start"] - run.summary["energy"]["end"]


def test_points_are_runs(scene):
    ds = stickslip.sweep(scene, AXES, of={"end": "x", "most": "max(v_x)", "steps": "steps", "lost": lost})
    assert ds.end.dims == ("mu", "v0") and ds.certified.all() and ds.done.all()
    for mu in AXES["mu"]:
        for v0 in AXES["v0"]:
            run = scene.replace(mu=mu, v0=v0).run()
            at = ds.sel(mu=mu, v0=v0)
            assert float(at.end) == run["x"][-1] and float(at.most) == run["v_x"].max()
            assert float(at.steps) == 400 and float(at.lost) == lost(run)
    assert (ds.seconds > 0).all()


def test_default_outcomes_are_those_of_the_summary(scene):
    ds = stickslip.sweep(scene, {"mu": [0.2]}, client=1)
    summary = scene.replace(mu=0.2).run().summary
    assert float(ds.energy[0]) == summary["energy"]["end"] and float(ds.slips[0]) == summary["event_counts"]["slips"]
    assert float(ds.residual[0]) == summary["certificate"]["worst"]
    assert float(ds.margin[0]) == summary["painleve"]["smallest_margin"]
    assert float(ds.x[0]) == summary["coordinates"]["x"] and "y" in ds
    free = stickslip.sweep(stopping(), {"a": [2.0]}, client=1)
    assert np.isnan(free.margin[0]) and free.certified.all(), "no margin without contacts"


def test_outcomes_at_a_time_and_of_events(scene):
    of = {"early": "at(0.1, x)", "between": "at(0.10049, x)", "never": "at(5, x)", "first": "events.0.t", "tenth": "events.9.t"}
    scene = scene.replace(v0=1)
    ds = stickslip.sweep(scene, {"mu": [0.2, 0.5]}, of=of)
    for k, mu in enumerate((0.2, 0.5)):
        run = scene.replace(mu=mu).run()
        assert float(ds.early[k]) == run["x"][100] and float(ds.between[k]) == run["x"][101]
    # With mu = 0.5 the block stops at 0.2 s, the only event of the two runs.
    assert np.isnan(ds["first"][0]) and float(ds["first"][1]) == run.events["t"][0]
    assert np.isnan(ds.never).all() and np.isnan(ds.tenth).all() and ds.certified.all()


def test_any_setting_can_be_swept(scene):
    ds = stickslip.sweep(scene, {"every": [1, 7], "step": [1e-3, 2e-3]}, of={"rows": lambda run: len(run.t)})
    assert ds.rows.values.tolist() == [[401, 201], [59, 30]] and not ds.reason.any()
    points = stickslip.sweep(scene, [{"every": 7, "mu": 0.1}, {"every": 1, "mu": 0.2}], of={"rows": lambda run: len(run.t)})
    assert points.rows.values.tolist() == [59, 401]
    with pytest.raises(stickslip.SweepError, match="point 1 names other"):
        stickslip.sweep(scene, [{"mu": 0.1}, {"v0": 0.2}], of="x")


def test_threads_processes_and_batches_give_the_same_bits(scene):
    of = {"x": "x", "e": "energy.end"}
    first = stickslip.sweep(scene, AXES, of=of, client=1, batch=1)
    with ThreadPoolExecutor(3) as threads, ProcessPoolExecutor(2) as processes:
        for client in (None, 4, threads, processes):
            other = stickslip.sweep(scene, AXES, of=of, client=client)
            assert bits(other, "x") == bits(first, "x") and bits(other, "e") == bits(first, "e")


def test_an_interrupted_sweep_goes_on_where_it_stopped(scene, tmp_path):
    path = tmp_path / "sweep.npz"
    whole = stickslip.sweep(scene, AXES, of="x")

    class Enough(Exception):
        pass

    def stop(done, total):
        assert total == 6
        if done >= 3:
            raise Enough

    with pytest.raises(Enough):
        stickslip.sweep(scene, AXES, of="x", client=1, batch=1, path=path, progress=stop)
    kept = int(stickslip.read_sweep(path).done.sum())
    assert 3 <= kept < 6
    rest = stickslip.sweep(scene, AXES, of="x", path=path)
    assert bits(rest, "x") == bits(whole, "x")
    assert int(np.isnan(rest.seconds).sum()) == kept, "what was done is not computed again"
    with pytest.raises(stickslip.SweepError, match="another sweep"):
        stickslip.sweep(scene, AXES, of="y", path=path)
    with pytest.raises(stickslip.SweepError, match="another sweep"):
        stickslip.sweep(scene.replace(m=2), AXES, of="x", path=path)
    with pytest.raises(stickslip.SweepError, match=".npz"):
        stickslip.sweep(scene, AXES, of="x", path="sweep.nc")


def test_a_zarr_store_is_gone_on_with(scene, tmp_path):
    pytest.importorskip("zarr")
    path = tmp_path / "sweep.zarr"
    axes = {"law": ["frictionless", "coulomb"], **AXES}
    whole = stickslip.sweep(scene, axes, of={"x": "x", "e": "energy.end"})

    def stop(done, total):
        if done >= 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stickslip.sweep(scene, axes, of={"x": "x", "e": "energy.end"}, client=1, batch=1, path=path, progress=stop)
    before = stickslip.read_sweep(path)
    assert 5 <= int(before.done.sum()) < 12
    rest = stickslip.sweep(scene, axes, of={"x": "x", "e": "energy.end"}, path=path)
    assert bits(rest, "x") == bits(whole, "x") and bits(rest, "e") == bits(whole, "e")
    known = before.done.values
    assert (rest.seconds.values[known] == before.seconds.values[known]).all(), "what was done is not computed again"
    kept = stickslip.read_sweep(path)
    assert bits(kept, "x") == bits(whole, "x") and float(kept.x.sel(law="coulomb", mu=0.3, v0=2.0)) == float(rest.x[1, 1, 1])
    for other, words in (({"of": "y"}, "outcomes"), ({"scene": scene.replace(m=2)}, "scene or changes"), ({"axes": AXES}, "parameters")):
        given = {"scene": scene, "axes": axes, "of": {"x": "x", "e": "energy.end"}, "path": path, **other}
        with pytest.raises(stickslip.SweepError, match=f"another sweep \\({words} differ"):
            stickslip.sweep(**given)
    assert [p.name for p in tmp_path.iterdir()] == ["sweep.zarr"]


def test_the_command_line_goes_on_with_the_file_and_writes_the_same(scene, tmp_path):
    (tmp_path / "block.toml").write_text(scene.text, encoding="utf-8")
    own = stickslip.Scene.load(tmp_path / "block.toml")
    ds = stickslip.sweep(own, AXES, of={"x": "x", "most": "max(v_x)"}, path=tmp_path / "sweep.npz")
    before = (tmp_path / "sweep.npz").read_bytes()
    words = [sys.executable, "-m", "stickslip", "study", "sweep", str(tmp_path / "block.toml"), "--over", "mu=0.1,0.3,0.5"]
    words += ["--over", "v0=1,2", "--of", "x", "--of", "most=max(v_x)", "--output"]
    told = subprocess.run([*words, str(tmp_path)], capture_output=True, text=True, check=True)
    assert "6 of 6 points are in" in told.stderr
    assert (tmp_path / "sweep.npz").read_bytes() == before
    subprocess.run([*words, str(tmp_path / "new")], capture_output=True, check=True)
    fresh = stickslip.read_sweep(tmp_path / "new" / "sweep.npz")
    assert bits(fresh, "x") == bits(ds, "x") and bits(fresh, "most") == bits(ds, "most")


def test_refused_points_keep_their_reason(scene):
    ds = stickslip.sweep(scene, {"m": [-1.0, 1.0]}, of={"x": "x", "lost": lost})
    assert np.isnan(ds.x.sel(m=-1)) and np.isnan(ds.lost.sel(m=-1)) and not ds.certified.sel(m=-1)
    assert "mass" in ds.reason.sel(m=-1).item() and ds.reason.sel(m=1).item() == ""
    with pytest.raises(stickslip.SweepError, match="m=-1"):
        stickslip.sweep(scene, {"m": [-1.0, 1.0]}, of="x", on_error="raise")


def stopping():
    """A scene whose run stops at t = a: its force is no number any more."""
    s = stickslip.System(["x"], parameters={"a": 1, "b": 1})
    s.kinetic_energy = "b*x'^2/2"
    s.force("x", "sqrt(a - t)")
    return s.scene(until=1, step=0.01)


def test_points_that_are_not_certified_are_marked_in_data_and_pictures(tmp_path):
    import matplotlib.pyplot as plt

    scene = stopping()
    ds = stickslip.sweep(scene, {"a": [0.5, 2.0, 3.0], "b": [1.0, 2.0]}, of="energy.end")
    assert ds.certified.values.tolist() == [[False, False], [True, True], [True, True]]
    assert ds.reason.values[0, 0].startswith("stopped at t = ")
    crosses = stickslip.plot_sweep(ds).lines[-1]
    assert sorted(zip(*crosses.get_data())) == [(0.5, 1.0), (0.5, 2.0)]
    line = stickslip.plot_sweep(ds.sel(b=1.0)).lines[-1]
    assert line.get_xdata().tolist() == [0.5]
    plt.close("all")
    (tmp_path / "scene.toml").write_text(scene.text, encoding="utf-8")
    program = [sys.executable, "-m", "stickslip", "study"]
    grid = ["--over", "a=0.5,2,3", "--over", "b=1,2", "--of", "energy.end"]
    subprocess.run([*program, "sweep", str(tmp_path / "scene.toml"), *grid, "--output", str(tmp_path)], check=True, capture_output=True)
    assert "not certified" in (tmp_path / "sweep.svg").read_text(encoding="utf-8")
    words = [*program, "map", str(tmp_path / "scene.toml"), "--x", "a=0.5:2:2", "--y", "b=1:2:2", "--of", "energy.end"]
    told = subprocess.run([*words, "--output", str(tmp_path)], check=True, capture_output=True, text=True).stdout
    assert "2  not certified" in told and "not certified" in (tmp_path / "map.svg").read_text(encoding="utf-8")
    found = stickslip.read_sweep(tmp_path / "map.npz")
    assert found.certified.values.tolist() == [[False, False], [True, True]]
    assert bits(found, "energy.end") == bits(ds.sel(a=[0.5, 2.0]), "energy.end")
    certified = stickslip.study.map(scene, ("a", "0.5:2:2"), ("b", "1:2:2"), of="energy.end")["certified"]
    assert certified.tolist() == [[False, True], [False, True]]


def test_an_outcome_that_fails_is_recorded(scene):
    ds = stickslip.sweep(scene, {"mu": [0.2, 0.4]}, of={"odd": lambda run: run["nothing"][0]})
    assert ds.odd.isnull().all() and "no column `nothing`" in ds.reason.values[0]


def test_words_are_labels_and_points_a_table(scene):
    ds = stickslip.sweep(scene, {"law": ["frictionless", "coulomb"], "mu": [0.2]}, of="x")
    assert float(ds.x.sel(law="frictionless", mu=0.2)) == pytest.approx(0.8)
    assert float(ds.x.sel(law="coulomb", mu=0.2)) < 0.7
    table = [{"mu": 0.1, "v0": 1.0}, {"mu": 0.5, "v0": 3.0}]
    points = stickslip.sweep(scene, table, of="x")
    assert points.x.dims == ("point",) and points.v0.values.tolist() == [1.0, 3.0]
    assert float(points.x[1]) == scene.replace(mu=0.5, v0=3.0).run()["x"][-1]
    pandas = pytest.importorskip("pandas")
    assert bits(stickslip.sweep(scene, pandas.DataFrame(table), of="x"), "x") == bits(points, "x")


def test_progress_is_told(scene, capsys):
    seen = []
    stickslip.sweep(scene, AXES, of="x", progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (6, 6) and sorted(seen) == seen
    stickslip.sweep(scene, AXES, of="x", progress=True)
    assert "6" in capsys.readouterr().err


def test_wrong_names_are_refused_before_anything_runs(scene):
    with pytest.raises(stickslip.SweepError, match="no parameter and no setting `nu`"):
        stickslip.sweep(scene, {"nu": [1]}, of="x")
    with pytest.raises(TypeError, match="client"):
        stickslip.sweep(scene, AXES, of="x", client="all")


def test_runs_are_kept(scene, tmp_path):
    ds = stickslip.sweep(scene, {"mu": [0.1, 0.3]}, of="x", keep=tmp_path / "runs")
    for number in range(2):
        run = stickslip.load(ds.folder.values[number])
        assert run["x"][-1] == float(ds.x[number])


def deadly(run):
    """An outcome that kills its process at one point."""
    if run.scene.parameters["mu"] == 0.3:
        os.kill(os.getpid(), signal.SIGKILL)
    return run["x"][-1]


def test_a_point_that_kills_its_process_is_found_and_recorded(scene):
    axes = {"mu": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]}
    plain = stickslip.sweep(scene, axes, of="x")
    with ProcessPoolExecutor(2) as processes:
        ds = stickslip.sweep(scene, axes, of={"x": deadly}, client=processes, batch=3)
    assert ds.reason.values.tolist() == ["", "", "killed its worker 3 times", "", "", ""]
    assert ds.done.all() and np.isnan(ds.x[2]) and not ds.certified[2]
    others = [0, 1, 3, 4, 5]
    assert bits(ds.isel(mu=others), "x") == bits(plain.isel(mu=others), "x")


def test_processes_work_alone_after_their_parent_used_all_cores():
    # A forked process does not have the threads of its parent; waiting for them would last for ever.
    scene = stickslip.scene("elastic-block")
    scene = scene.replace(until=5 * scene.settings["step"])
    alone = scene.run()
    with ProcessPoolExecutor(2) as processes:
        ds = stickslip.sweep(scene, {"step": [scene.settings["step"]]}, of={"e": "energy.end"}, client=processes)
    assert float(ds.e[0]) == alone.summary["energy"]["end"]


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        yield cluster


def test_a_killed_worker_costs_no_point_and_no_bit(cluster, tmp_path):
    distributed = pytest.importorskip("distributed")
    scene = stickslip.scene("painleve-rod")
    axes = {"theta0": grid(0.3, 1.4, 25), "mu": grid(0.5, 3, 20)}
    alone = stickslip.sweep(scene, axes, of={"e": "energy.end"})
    killed = []

    def kill(done, total):
        if not killed and done > total // 5:
            pids = client.run(os.getpid)
            killed.append(sorted(pids.values())[0])
            os.kill(killed[0], signal.SIGKILL)

    with distributed.Client(cluster) as client:
        ds = stickslip.sweep(scene, axes, of={"e": "energy.end"}, client=client, batch=5, path=tmp_path / "a.npz", progress=kill)
    assert killed and ds.done.all()
    assert bits(ds, "e") == bits(alone, "e") and bits(ds, "certified") == bits(alone, "certified")
    words = [sys.executable, "-m", "stickslip", "study", "map", "painleve-rod", "--of", "energy.end", "--output", str(tmp_path)]
    words += ["--x", "theta0=0.3:1.4:25", "--y", "mu=0.5:3:20"]
    subprocess.run(words, check=True, capture_output=True)
    found = stickslip.read_sweep(tmp_path / "map.npz")
    assert found["energy.end"].values.tobytes() == ds.e.values.tobytes()


@contextmanager
def within(seconds):
    """Ends what hangs: a sweep that waits for ever fails here, and does not stop all tests."""

    def late(*_):
        raise AssertionError(f"not over after {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture
def strict():
    """A cluster whose scheduler tells of every death at once."""
    distributed = pytest.importorskip("distributed")
    import dask

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_a_point_that_kills_every_worker_of_a_cluster_is_recorded_after_three(scene, strict, tmp_path):
    axes = {"mu": [0.1, 0.2, 0.3, 0.4]}
    plain = stickslip.sweep(scene, axes, of="x")
    counted = tmp_path / "deaths"

    def deadly(run):
        if run.scene.parameters["mu"] == 0.3:
            with counted.open("a") as file:
                file.write("x")
            os.kill(os.getpid(), signal.SIGKILL)
        return run["x"][-1]

    with within(240):
        ds = stickslip.sweep(scene, axes, of={"x": deadly}, client=strict, batch=2)
    # Batches of other points on the same worker die with it: they are tried again, and not blamed.
    assert ds.reason.values.tolist() == ["", "", "killed its worker 3 times", ""]
    assert ds.done.all() and np.isnan(ds.x[2]) and not ds.certified[2]
    others = [0, 1, 3]
    assert bits(ds.isel(mu=others), "x") == bits(plain.isel(mu=others), "x")
    # Once or twice in company, once in the batch alone, three times by itself.
    assert 4 <= len(counted.read_text()) <= 7


def test_a_cluster_without_workers_ends_a_sweep_and_keeps_what_is_done(scene, tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    from stickslip import _workers

    monkeypatch.setattr(_workers, "LOOK_SECONDS", 0.2)
    monkeypatch.setattr(_workers, "EMPTY_SECONDS", 1)
    monkeypatch.setattr(_workers, "FETCH_SECONDS", 1)
    path = tmp_path / "sweep.npz"
    with (
        distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
        within(240),
    ):

        def leave(done, total):
            if done == 2:
                cluster.scale(0)

        with pytest.raises(stickslip.SweepError, match="no worker"):
            stickslip.sweep(scene, {"mu": grid(0.1, 0.9, 200)}, of="x", client=client, batch=1, path=path, progress=leave)
    assert 2 <= int(stickslip.read_sweep(path).done.sum()) < 200


def test_the_command_line_hands_its_points_to_dask(cluster, tmp_path):
    address = cluster.scheduler_address
    program = [sys.executable, "-m", "stickslip", "study"]
    sweep = [*program, "sweep", "sliding-block", "--over", "mu=0.1:0.9:9", "--set", "v0=1.5", "--of", "x", "--of", "event_counts.slips"]
    for folder, more in (("local", []), ("dask", ["--dask", address])):
        subprocess.run([*sweep, "--output", str(tmp_path / folder), *more], check=True, capture_output=True)
    a, b = (stickslip.read_sweep(tmp_path / f / "sweep.npz") for f in ("local", "dask"))
    assert a.x.values.tobytes() == b.x.values.tobytes() and b.done.all()
    assert (tmp_path / "local/sweep.npz").read_bytes() == (tmp_path / "dask/sweep.npz").read_bytes()
    chart = [*program, "map", "painleve-rod", "--x", "theta0=0.2:1.5:6", "--y", "mu=0.5:3:5", "--of", "regime"]
    for folder, more in (("local", []), ("dask", ["--dask", address])):
        subprocess.run([*chart, "--output", str(tmp_path / folder), *more], check=True, capture_output=True)
    for name in ("map.npz", "map.json", "map.csv"):
        assert (tmp_path / "local" / name).read_bytes() == (tmp_path / "dask" / name).read_bytes(), name


def test_without_the_package_the_command_line_says_how_to_install_it(tmp_path):
    words = [sys.executable, "-m", "stickslip", "study", "sweep", "sliding-block", "--over", "mu=0.1,0.2", "--of", "x"]
    words += ["--output", str(tmp_path), "--dask", "tcp://127.0.0.1:1"]
    environment = {**os.environ, "STICKSLIP_PYTHON": "/bin/false"}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 1 and "pip install" in done.stderr


def test_a_scheduler_that_does_not_answer_is_told(monkeypatch, capsys):
    pytest.importorskip("distributed")
    import stickslip.dask

    monkeypatch.setattr(stickslip.dask, "PATIENCE", 0.5)
    scene = stickslip.scene("sliding-block")
    request = {"scheduler": "tcp://127.0.0.1:1", "file": scene.file, "text": scene.text, "parameters": [], "settings": []}
    request |= {"outcomes": ["x"], "names": ["x"], "axes": [["mu", [0.1]]], "quantity": None, "also": "", "path": "none.npz"}
    assert stickslip.dask.main(request) == 1
    assert "no scheduler answers at tcp://127.0.0.1:1" in capsys.readouterr().err
