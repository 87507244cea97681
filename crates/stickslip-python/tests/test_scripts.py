"""Whole scripts of users, from the first import to the last line."""

import math

import numpy as np
import pytest

import stickslip


def test_run_and_plot():
    import matplotlib.pyplot as plt

    run = stickslip.scene("slender-rod").replace(mu=0.4, step=1e-4).run()
    assert "certified" in str(run) and "worst residual" in str(run) and "energy closed" in str(run)
    assert run.certified
    fig, (top, middle, bottom) = plt.subplots(3, sharex=True)
    top.plot(run.t, run["lower tip.gap"])
    for event in run.events:
        top.axvline(event["t"], color="0.8")
    middle.plot(run.t[1:], run["lower tip.p_n"][1:] / run["dt"][1:], label="normal force")
    assert run.plot.energy(ax=bottom) is bottom
    assert len(top.lines) == 1 + len(run.events) > 1
    plt.close(fig)


def test_a_system_without_toml():
    s = stickslip.System(coordinates=["x", "y"], parameters={"m": 1, "slope": 0.35})
    s.kinetic_energy = "m*(x'^2 + y'^2)/2"
    s.potential = "m*9.81*(y*cos(slope) - x*sin(slope))"
    s.contact("slope", gap="y", point=["x", "y"], friction=0.3)
    s.force("x", "-0.1*x'")
    scene = s.scene(until=2, title="Block on a slope")
    run = scene.run()
    # x'' = a - 0.1 x' from rest.
    a = 9.81 * (math.sin(0.35) - 0.3 * math.cos(0.35))
    assert run["v_x"][-1] == pytest.approx(a / 0.1 * (1 - math.exp(-0.2)), rel=1e-3)

    def wind(t, q, v):
        return [0.2 * math.sin(t), 0]

    blown = scene.run(force=wind, force_depends_on="time")
    assert blown.certified and blown.summary["force"] == "python" and blown["x"][-1] > run["x"][-1]


def test_a_sweep_into_a_store(tmp_path):
    pytest.importorskip("zarr")
    axes = {"mu": np.linspace(0.1, 0.9, 3), "theta0": np.linspace(0.4, 1.3, 3)}
    of = {"energy": "energy.end", "impacts": "event_counts.impacts"}
    for _ in range(2):
        ds = stickslip.sweep(stickslip.scene("slender-rod"), axes, of=of, client=2, path=tmp_path / "sweep.zarr")
    import matplotlib.pyplot as plt

    ds.impacts.plot()
    plt.close("all")
    assert float(ds.energy.where(ds.certified).min()) == float(ds.energy.min())


def test_arrays_alone_in_the_letters_of_fclib():
    M, H = np.diag([2.0, 2.0]), np.array([[0.0, 1.0], [1.0, 0.0]])
    f, w, mu = np.array([6.0, -0.02]), np.zeros(2), [0.3]
    verdict = stickslip.ContactProblem.from_mass(M, H, f, w, mu).judge([0.02, -0.006])
    assert verdict.accepted(1e-12)
