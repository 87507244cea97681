"""What Python costs: ratios taken in one run, CPU time, best of several.

    python crates/stickslip-python/benches/overhead.py

`step()` from a loop against `run()` of the same scene in the engine, with the same records; a Python force per call; the trajectory handed over; sweeps
of short runs against the same runs one after the other.
"""

import os
import sys
import time

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


def sweep():
    scene = stickslip.scene("slender-rod")
    axes = {"mu": np.linspace(0.1, 0.9, 20), "theta0": np.linspace(0.4, 1.3, 10)}

    def timed(client):
        wall, cpu = time.perf_counter(), time.process_time()
        ds = stickslip.sweep(scene, axes, of={"e": "energy.end"}, client=client)
        return time.perf_counter() - wall, time.process_time() - cpu, float(ds.seconds.mean())

    one, cpu_one, run = timed(1)
    two, cpu_two, _ = timed(2)
    print(
        f"sweep of 200 runs of {1e3 * cpu_one / 200:.1f} ms: one thread {one:.2f} s (CPU {cpu_one:.2f} s), two {two:.2f} s "
        f"(CPU {cpu_two:.2f} s); {cpu_two / two / min(2, os.cpu_count()):.0%} of two cores used; load {os.getloadavg()[0]:.1f}"
    )
    # What a sweep adds to the runs themselves, in CPU time.
    began = time.thread_time()
    for mu in axes["mu"]:
        for theta in axes["theta0"]:
            scene.replace(mu=mu, theta0=theta).simulation(record=False)._run_until()
    alone = time.thread_time() - began
    print(f"the same runs one after the other: CPU {alone:.2f} s, so that a sweep has {alone / cpu_two:.0%} of their throughput per CPU second")


if __name__ == "__main__":
    print(f"Python {sys.version.split()[0]}, NumPy {np.__version__}, stickslip {stickslip.__version__}")
    for scene_name in ("bouncing-ball", "slender-rod", "chain"):
        steps(scene_name)
    forces(["y"])
    forces(["y", "x", "theta"])
    forces([f"x{k}" for k in range(10)])
    trajectory()
    sweep()
