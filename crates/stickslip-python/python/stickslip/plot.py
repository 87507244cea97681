"""Plots of runs and sweeps with matplotlib: every method takes ``ax`` and returns the axes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._extras import needed
from ._stickslip import palette

if TYPE_CHECKING:
    from .run import Run

_PALETTE = json.loads(palette())
#: Colours of curves, as in the pictures of the command line.
COLORS = tuple(curve["colour"] for curve in _PALETTE["curves"])
#: Colours of contacts by their state.
MODE_COLORS = dict(zip(("open", "stick", "slip", "closed"), (mode["colour"] for mode in _PALETTE["modes"])))


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    return needed("matplotlib.pyplot", "plot").subplots()[1]


class RunPlot:
    """Plots of a run: call it for all of them, or one by its name.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> import stickslip
    >>> run = stickslip.scene("slender-rod").run()
    >>> len(run.plot())
    3
    >>> ax = run.plot.gaps()
    """

    def __init__(self, run: Run) -> None:
        self.run = run

    def __call__(self) -> Any:
        """Coordinates, contact forces and energy, one above the other."""
        plt = needed("matplotlib.pyplot", "plot")
        figure, axes = plt.subplots(3, sharex=True, figsize=(7, 8), layout="constrained")
        figure.suptitle(str(self.run).splitlines()[0], fontsize="medium")
        self.coordinates(ax=axes[0])
        self.forces(ax=axes[1])
        self.energy(ax=axes[2])
        for ax in axes[:-1]:
            ax.set_xlabel("")
        return axes

    def columns(self, names: Sequence[str], ax: Any = None, ylabel: str = "") -> Any:
        """Any columns over time.

        >>> import matplotlib; matplotlib.use("Agg")
        >>> import stickslip
        >>> len(stickslip.scene("slender-rod").run().plot.columns(["x", "y"]).lines)
        2
        """
        ax = _axes(ax)
        for k, name in enumerate(names):
            ax.plot(self.run.t, self.run[name], color=COLORS[k % len(COLORS)], label=name)
        if 1 < len(names) <= 12:
            ax.legend()
        ax.set_xlabel("t (s)")
        ax.set_ylabel(ylabel or (names[0] if len(names) == 1 else ""))
        return ax

    def coordinates(self, ax: Any = None) -> Any:
        """The coordinates; of worlds and meshes the first twelve that were recorded.

        >>> import matplotlib; matplotlib.use("Agg")
        >>> import stickslip
        >>> stickslip.scene("bouncing-ball").run().plot.coordinates().get_xlabel()
        't (s)'
        """
        known = set(self.run.columns)
        names = [name for name in self.run.scene.coordinates if name in known][:12]
        return self.columns(names, ax, "coordinates")

    def gaps(self, ax: Any = None) -> Any:
        """The gaps of the contacts, with events as lines.

        >>> import matplotlib; matplotlib.use("Agg")
        >>> import stickslip
        >>> stickslip.scene("bouncing-ball").run().plot.gaps().get_ylabel()
        'gap (m)'
        """
        ax = self.columns([n for n in self.run.columns if n.endswith(".gap")], ax, "gap (m)")
        for event in self.run.events[:200]:
            ax.axvline(event["t"], color="0.85", linewidth=0.8, zorder=0)
        return ax

    def forces(self, ax: Any = None) -> Any:
        """Mean normal force of every contact in each step, impacts included.

        >>> import matplotlib; matplotlib.use("Agg")
        >>> import stickslip
        >>> stickslip.scene("slender-rod").run().plot.forces().get_ylabel()
        'normal force (N)'
        """
        ax = _axes(ax)
        step = np.where(self.run["dt"] > 0, self.run["dt"], np.nan)
        names = [name for name in self.run.columns if name.endswith(".p_n")]
        for k, name in enumerate(names):
            color = COLORS[k % len(COLORS)]
            ax.plot(self.run.t, self.run[name] / step, color=color, label=name[:-4])
        if 1 < len(names) <= 12:
            ax.legend()
        ax.set_xlabel("t (s)")
        ax.set_ylabel("normal force (N)")
        return ax

    def energy(self, ax: Any = None) -> Any:
        """Kinetic and potential energy, their sum, and the terms of the account.

        >>> import matplotlib; matplotlib.use("Agg")
        >>> import stickslip
        >>> stickslip.scene("slender-rod").run().plot.energy().get_ylabel()
        'energy (J)'
        """
        ax = _axes(ax)
        run = self.run
        ax.plot(run.t, run["kinetic"], color=COLORS[0], label="kinetic")
        ax.plot(run.t, run["potential"], color=COLORS[1], label="potential")
        ax.plot(run.t, run["kinetic"] + run["potential"], color="black", label="sum")
        size = np.abs(run["kinetic"] + run["potential"]).max(initial=0.0)
        for k, name in enumerate(run.summary["energy"]["totals"]):
            column = f"energy.{name}"
            if column in run.columns and np.abs(run[column]).max(initial=0.0) > 1e-3 * size:
                color = COLORS[(k + 2) % len(COLORS)]
                ax.plot(run.t, run[column], "--", color=color, label=name.replace("_", " "))
        ax.legend(fontsize="small")
        ax.set_xlabel("t (s)")
        ax.set_ylabel("energy (J)")
        return ax

    def phase(self, coordinate: str, ax: Any = None) -> Any:
        """A coordinate against its velocity.

        >>> import matplotlib; matplotlib.use("Agg")
        >>> import stickslip
        >>> stickslip.scene("bouncing-ball").run().plot.phase("y").get_ylabel()
        'v_y'
        """
        ax = _axes(ax)
        ax.plot(self.run[coordinate], self.run["v_" + coordinate], color=COLORS[0], linewidth=0.8)
        ax.set_xlabel(coordinate)
        ax.set_ylabel("v_" + coordinate)
        return ax


def plot_sweep(dataset: Any, outcome: str | None = None, ax: Any = None) -> Any:
    """An outcome of a sweep over its one or two axes; points that are not certified are marked by crosses.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> import stickslip
    >>> from stickslip.plot import plot_sweep
    >>> ds = stickslip.sweep(stickslip.scene("sliding-block"), {"mu": [0.2, 0.3, 0.4]}, of={"x": "x"}, client=1)
    >>> plot_sweep(ds, "x").get_xlabel()
    'mu'
    """
    ax = _axes(ax)
    outcome = outcome or next(name for name in dataset.data_vars if "outcome" in dataset[name].attrs)
    values, certified = dataset[outcome], dataset["certified"]
    if values.ndim == 1:
        (axis,) = values.dims
        x = values[axis]
        ax.plot(x, values, color=COLORS[0], marker=".", label=outcome)
        bad = ~certified.values
        ax.plot(x.values[bad], values.values[bad], "x", color=COLORS[3], label="not certified")
        ax.set_xlabel(axis)
        ax.set_ylabel(outcome)
    elif values.ndim == 2:
        first, second = values.dims
        mesh = ax.pcolormesh(values[first], values[second], values.values.T, shading="nearest")
        ax.figure.colorbar(mesh, ax=ax, label=outcome)
        i, j = np.nonzero(~certified.values)
        ax.plot(values[first].values[i], values[second].values[j], "x", color=COLORS[3], markersize=4)
        ax.set_xlabel(first)
        ax.set_ylabel(second)
    else:
        raise ValueError(f"`{outcome}` has {values.ndim} axes: choose two by dataset.sel(...)")
    return ax
