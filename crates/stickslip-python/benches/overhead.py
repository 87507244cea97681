"""What Python costs: ratios taken in one run, CPU time, best of several.

    python crates/stickslip-python/benches/overhead.py

`step()` from a loop against `run()` of the same scene in the engine, with the same records; a Python force per call; the trajectory handed over; sweeps
of short runs against the same runs in plain loops on both cores.
"""

import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack

import numpy as np

import stickslip


def best(*functions, times=15):
    """Least CPU seconds of this thread for each function, taken in turns, so that a busy machine is unfair to all alike."""
    found = [[] for _ in functions]
    for _ in range(times):
        for seconds, function in zip(found, functions):
            began = time.thread_time()
            function()
            seconds.append(time.thread_time() - began)
    return [min(seconds) for seconds in found]


def steps(name):
    scene = stickslip.scene(name)
    count = round(scene.settings["until"] / scene.settings["step"])

    def engine():
        sim = scene.simulation()
        sim.advance(count)

    def python():
        sim = scene.simulation()
        step = sim.step
        for _ in range(count):
            step()

    def nothing():
        scene.simulation()

    inside, outside, start = best(engine, python, nothing)
    inside, outside = inside - start, outside - start
    print(
        f"{name}: step in Rust with records {1e6 * inside / count:.2f} us, from Python {1e6 * outside / count:.2f} us, "
        f"ratio {outside / inside:.3f}"
    )


def forces(names):
    """A Python force against the same force as an expression of the scene, so that the iterations of the step are in both."""
    s = stickslip.System(names)
    s.kinetic_energy = " + ".join(f"{name}'^2/2" for name in names)
    s.potential = f"9.81*{names[0]}"
    s.initial = {names[0]: 0.1}
    s.contact("floor", gap=names[0], restitution=0.5)
    settings = {"until": 2.0, "step": 1e-3}
    free = s.scene(**settings)
    for name in names:
        s.force(name, f"-0.1*{name}'")
    compiled = s.scene(**settings)
    calls = [0]
    constant = [0.0] * len(names)

    def given(t, q, v):
        calls[0] += 1
        return constant

    def viscous(t, q, v):
        calls[0] += 1
        return -0.1 * v

    for word, force, other in (("constant list", given, free), ("-0.1*v with NumPy", viscous, compiled)):
        calls[0] = 0
        plain, driven = best(
            lambda: other.simulation().advance(2000), lambda: free.simulation(force=force).advance(2000)
        )
        made = calls[0] / 15
        print(
            f"force ({word}), {len(names)} coordinates: {1e6 * (driven - plain) / made:.2f} us a call, "
            f"{made / 2000:.2f} calls a step"
        )


def trajectory():
    sim = stickslip.scene("slender-rod").simulation()
    sim.run()
    rows = sim._rows()
    run = stickslip.Run.of(sim)
    shared = np.shares_memory(run.trajectory, np.frombuffer(rows))
    kind = run.trajectory.dtype
    seconds, copied = best(lambda: np.frombuffer(sim._rows(), dtype=kind), lambda: run.trajectory.copy())
    print(
        f"trajectory of {run.trajectory.nbytes / 1e6:.2f} MB handed over in {1e6 * seconds:.1f} us (a copy takes {1e6 * copied:.0f} us); "
        f"memory shared: {shared}"
    )


AXES = {"mu": np.linspace(0.1, 0.9, 40), "theta0": np.linspace(0.4, 1.3, 10)}


def alone(part):
    """A share of the runs of a sweep in a plain loop, without anything around it."""
    scene = stickslip.scene("slender-rod")
    for mu in AXES["mu"][part::2]:
        for theta in AXES["theta0"]:
            scene.replace(mu=mu, theta0=theta).simulation(record=False)._run_until()


def sweep():
    """Sweeps of short runs against two processes that share the same runs in plain loops: the throughput of both cores, whatever
    else they have to do at the time."""
    scene = stickslip.scene("slender-rod")

    def seconds(function):
        began = time.perf_counter()
        function()
        return time.perf_counter() - began

    began = time.process_time()
    alone(0)
    each = (time.process_time() - began) / (AXES["mu"][::2].size * AXES["theta0"].size)
    print(f"a run of slender-rod without records: {1e3 * each:.1f} ms of CPU")

    def of(client):
        return lambda: stickslip.sweep(scene, AXES, of={"e": "energy.end"}, client=client)

    with ExitStack() as stack:
        pool = stack.enter_context(ProcessPoolExecutor(2, multiprocessing.get_context("spawn")))
        kinds = {"two plain loops": lambda: list(pool.map(alone, (0, 1))), "threads": of(2), "processes": of(pool)}
        try:
            import distributed

            cluster = stack.enter_context(distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None))
            kinds["Dask"] = of(stack.enter_context(distributed.Client(cluster)))
        except ImportError:
            print("Dask is not installed: pip install 'stickslip[sweep]'")
        for function in kinds.values():
            # Workers start, and load the module, once.
            function()
        found = {name: [] for name in kinds}
        for _ in range(5):
            for name, function in kinds.items():
                found[name].append(seconds(function))
    best_of = {name: min(times) for name, times in found.items()}
    count = AXES["mu"].size * AXES["theta0"].size
    for name, least in best_of.items():
        part = best_of["two plain loops"] / least
        print(f"{count} runs, {name}: {least:.2f} s, {part:.0%} of the throughput of both cores")


if __name__ == "__main__":
    print(f"Python {sys.version.split()[0]}, NumPy {np.__version__}, stickslip {stickslip.__version__}")
    for scene_name in ("bouncing-ball", "slender-rod", "chain"):
        steps(scene_name)
    forces(["y"])
    forces(["y", "x", "theta"])
    forces([f"x{k}" for k in range(10)])
    trajectory()
    sweep()
