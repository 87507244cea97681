"""Results: trajectory, events, summary, certificate."""

from __future__ import annotations

import html
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _stickslip
from ._extras import needed
from .errors import RunError
from .scene import Scene

if TYPE_CHECKING:
    import pandas
    import xarray

    from .plot import RunPlot
    from .simulation import Simulation


class Run:
    """A run: what happened, and how far it can be believed.

    >>> import stickslip
    >>> run = stickslip.scene("slender-rod").run()
    >>> print(run)                                              # doctest: +ELLIPSIS
    slender-rod: finished at t = 1 s after 2000 steps, certified: worst residual ..., energy closed
    >>> run["theta"].shape == run.t.shape == (2001,)
    True
    >>> run.certified and run.summary["energy"]["closed"]
    True

    :attr:`trajectory` is a structured array in the memory of the engine, without a copy, and cannot be changed;
    ``run["x"]`` is one of its columns.
    """

    #: The scene.
    scene: Scene
    #: What is left of the run: settings, outcome, energy, events, certificate, warnings.
    summary: dict[str, Any]
    #: Rows with named columns: ``t``, ``dt``, coordinates, velocities, contacts, energies, residual.
    trajectory: np.ndarray[Any, np.dtype[Any]]
    #: The run folder, if there is one.
    folder: Path | None

    def __init__(
        self,
        scene: Scene,
        summary: dict[str, Any],
        trajectory: np.ndarray[Any, np.dtype[Any]],
        folder: Path | None = None,
    ) -> None:
        self.scene = scene
        self.summary = summary
        self.trajectory = trajectory
        self.folder = folder
        self._until: float | None = None

    @classmethod
    def of(cls, simulation: Simulation, until: float | None = None) -> Run:
        """The run of a simulation so far; ``until`` is where it was asked to end, if not with the scene.

        >>> import stickslip
        >>> sim = stickslip.scene("bouncing-ball").simulation()
        >>> _ = sim.advance(10)
        >>> len(stickslip.Run.of(sim).t)
        11
        """
        kind = np.dtype([(name, "<f8") for name in simulation.columns])
        rows = simulation._rows()
        table = np.frombuffer(memoryview(rows), dtype=kind) if len(rows) else np.empty(0, kind)
        summary = json.loads(simulation._summary_json())
        summary["force"] = "python" if simulation.driven else "scene"
        run = cls(simulation.scene, summary, table)
        run._until = until
        return run

    def __getitem__(self, column: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        try:
            return self.trajectory[column]
        except ValueError:
            import difflib

            near = difflib.get_close_matches(column, self.columns, 1)
            hint = f"; did you mean `{near[0]}`?" if near else ""
            raise KeyError(f"there is no column `{column}`{hint}") from None

    @property
    def columns(self) -> list[str]:
        """Names of the columns.

        >>> import stickslip
        >>> stickslip.scene("bouncing-ball").run().columns[:4]
        ['t', 'dt', 'y', 'v_y']
        """
        return list(self.trajectory.dtype.names or ())

    @property
    def t(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Times.

        >>> import stickslip
        >>> float(stickslip.scene("bouncing-ball").run().t[0])
        0.0
        """
        return self["t"]

    @property
    def outcome(self) -> str:
        """``finished``, ``interrupted`` or ``stopped``; ``summary["reason"]`` tells why it stopped.

        >>> import stickslip
        >>> stickslip.scene("bouncing-ball").run().outcome
        'finished'
        """
        return str(self.summary["outcome"])

    @property
    def certified(self) -> bool:
        """Whether every contact problem was solved to the residual that counts, and the energy account closed.

        >>> import stickslip
        >>> stickslip.scene("bouncing-ball").run().certified
        True
        """
        return bool(self.summary["certified"])

    @property
    def certificate(self) -> dict[str, Any]:
        """The worst residuals with their contacts and times, and what was counted on the way.

        >>> import stickslip
        >>> stickslip.scene("slender-rod").run().certificate["certified"]
        True
        """
        certificate: dict[str, Any] = self.summary["certificate"]
        return certificate

    @property
    def events(self) -> np.ndarray[Any, np.dtype[Any]]:
        """Impacts, lift-offs, sticks, slips: ``t``, ``kind``, ``contact``, ``approach``, ``impulse``, ``energy``.

        >>> import stickslip
        >>> events = stickslip.scene("bouncing-ball").run().events
        >>> str(events["kind"][0])
        'impact'
        """
        kind = [
            ("t", "f8"),
            ("kind", "U20"),
            ("contact", "U64"),
            ("approach", "f8"),
            ("impulse", "f8"),
            ("energy", "f8"),
        ]

        def value(event: dict[str, Any], name: str) -> float:
            found = event.get(name)
            return float("nan") if found is None else float(found)

        rows = [
            (
                value(event, "t"),
                event["kind"],
                event["contact"],
                value(event, "approach"),
                value(event, "impulse"),
                value(event, "energy"),
            )
            for event in self.summary["events"]
        ]
        return np.array(rows, dtype=kind)

    def save(self, folder: str | os.PathLike[str]) -> Run:
        """Writes the folder that ``stickslip run`` writes, and returns the run that lies there.

        The run is made again into the folder, where it can be resumed, plotted, verified and exported; if it ended with other
        bits than this one, as after steps of other lengths on the way, :class:`RunError` tells.

        >>> import stickslip, tempfile
        >>> run = stickslip.scene("bouncing-ball").run()
        >>> saved = run.save(tempfile.mkdtemp() + "/ball")
        >>> stickslip.load(saved.folder).certified
        True
        """
        if self.summary.get("force") == "python":
            message = "a run with Python functions has no folder: what made it cannot be written down"
            raise RunError(message + "; numpy.save(path, run.trajectory) keeps its numbers")
        if self.outcome == "interrupted":
            raise RunError("the run is not over: sim.run() goes on with it")
        scene = self.scene if self._until is None else self.scene.replace(settings={"until": self._until})
        saved = scene.run(folder=folder)
        if saved.trajectory[-1:].tobytes() != self.trajectory[-1:].tobytes():
            raise RunError(f"{folder}: the run made again ends with other numbers")
        return saved

    def verify(self, problem: str | None = None) -> dict[str, Any]:
        """Tests the run against every line of its formulation, or of another one (``"P5"``).

        >>> import stickslip
        >>> stickslip.scene("sliding-block").run().verify()["accepted"]
        True
        """
        if self.folder is not None:
            return verify(self.folder, problem)
        with tempfile.TemporaryDirectory() as folder:
            self.save(Path(folder) / "run")
            return verify(Path(folder) / "run", problem)

    def view(self, path: str | os.PathLike[str] | None = None, *, fps: float | None = None) -> View:
        """The run as one page that can be turned, played and mailed, as by ``stickslip view``; notebooks show it.

        ``path`` is where the page is written (a temporary file if left out), ``fps`` the frames per second of simulated time.

        >>> import stickslip
        >>> page = stickslip.scene("bouncing-ball").run().view()
        >>> page.path.exists() and "<html" in page.html
        True
        """
        with tempfile.TemporaryDirectory() as folder:
            run = self if self.folder is not None else self.save(Path(folder) / "run")
            if path is None:
                handle, name = tempfile.mkstemp(suffix=".html", prefix=f"{self.scene.name}-")
                os.close(handle)
                path = name
            words = [sys.executable, "-m", "stickslip", "view", str(run.folder), "--html", os.fspath(path)]
            words += [] if fps is None else ["--fps", repr(float(fps))]
            done = subprocess.run(words, capture_output=True, text=True, encoding="utf-8", check=False)
        if done.returncode != 0:
            raise RunError(done.stderr.strip().removeprefix("error: ") or f"exit code {done.returncode}")
        return View(Path(path))

    def to_pandas(self) -> pandas.DataFrame:
        """The trajectory as a table with the time as its index.

        >>> import stickslip
        >>> table = stickslip.scene("bouncing-ball").run().to_pandas()
        >>> table.index.name, len(table.columns) > 3
        ('t', True)
        """
        frames: Any = needed("pandas", "xarray")
        names = [name for name in self.columns if name != "t"]
        index = frames.Index(self.t, name="t")
        table: pandas.DataFrame = frames.DataFrame({name: self[name] for name in names}, index=index)
        return table

    def to_xarray(self) -> xarray.Dataset:
        """The run with named dimensions: ``t``, ``contact``, ``tangent``, ``term`` of the energy account, ``body`` of a world.

        >>> import stickslip
        >>> ds = stickslip.scene("slender-rod").run().to_xarray()
        >>> ds.p_n.sel(contact="lower tip").dims
        ('t',)
        """
        from .dataset import run_dataset

        return run_dataset(self)

    @property
    def plot(self) -> RunPlot:
        """Plots with matplotlib: ``run.plot()``, ``run.plot.energy(ax=ax)``, ``run.plot.coordinates()``, ...

        >>> import matplotlib; matplotlib.use("Agg")
        >>> import stickslip
        >>> stickslip.scene("bouncing-ball").run().plot.energy().get_ylabel()
        'energy (J)'
        """
        from .plot import RunPlot

        return RunPlot(self)

    def __str__(self) -> str:
        summary = self.summary
        verdict = "certified" if self.certified else "NOT certified"
        line = f"{self.scene.name}: {self.outcome} at t = {summary['time']:g} s after {summary['steps']} steps, {verdict}: "
        # A run without contact problems has no residual.
        worst = summary["certificate"]["worst"] or 0.0
        line += f"worst residual {_stickslip.digits(worst, 1)}, energy {'closed' if summary['energy']['closed'] else 'NOT closed'}"
        reason = summary.get("reason")
        return f"{line}\n  {reason}" if reason else line

    def __repr__(self) -> str:
        return f"<stickslip.Run {self}>"

    def _repr_html_(self) -> str:
        from .html import run_html

        return run_html(self)


@dataclass(frozen=True)
class View:
    """A page that :meth:`Run.view` wrote: a file for the browser, and a frame in a notebook.

    >>> import stickslip
    >>> page = stickslip.scene("bouncing-ball").run().view()
    >>> page._repr_html_().startswith("<iframe")
    True
    """

    #: The file.
    path: Path

    @property
    def html(self) -> str:
        """The page.

        >>> import stickslip
        >>> len(stickslip.scene("bouncing-ball").run().view().html) > 10_000
        True
        """
        return self.path.read_text(encoding="utf-8")

    def _repr_html_(self) -> str:
        page = html.escape(self.html, quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 600px; border: 0"></iframe>'


def load(folder: str | os.PathLike[str]) -> Run:
    """The run in a folder, written by ``stickslip run``, ``scene.run(folder=...)`` or :meth:`Run.save`.

    The trajectory stays on disk and is read where it is looked at.

    >>> import stickslip, tempfile
    >>> folder = tempfile.mkdtemp() + "/ball"
    >>> _ = stickslip.scene("bouncing-ball").run(folder=folder)
    >>> float(stickslip.load(folder).t[0])
    0.0
    """
    path = Path(folder)
    if not path.is_dir():
        raise RunError(f"{path}: there is no such folder")
    if not (path / "run.json").exists():
        raise RunError(f"{path} holds no run")
    if not (path / "summary.json").exists():
        raise RunError(f"{path}: the run is not over: stickslip.resume(folder) goes on with it")
    manifest = json.loads((path / "run.json").read_text(encoding="utf-8"))
    summary = json.loads((path / "summary.json").read_text(encoding="utf-8"))
    summary["force"] = "scene"
    file = path / "scene.toml"
    scene = Scene(Scene._read_text(str(file)), manifest["scene"], str(file))
    trajectory = np.load(path / "trajectory.npy", mmap_mode="r", max_header_size=1 << 28)
    return Run(scene, summary, trajectory, path)


def resume(folder: str | os.PathLike[str], until: float | None = None) -> Run:
    """Goes on with the run in a folder, after Ctrl-C or a kill, or to a later end; it ends with the same bits.

    >>> import stickslip, tempfile
    >>> folder = tempfile.mkdtemp() + "/ball"
    >>> run = stickslip.scene("bouncing-ball").run(folder=folder)
    >>> bool(stickslip.resume(folder, until=float(run.t[-1]) + 0.5).t[-1] > run.t[-1])
    True
    """
    _stickslip.Scene._resume_folder(os.fspath(folder), until)
    return load(folder)


def verify(folder: str | os.PathLike[str], problem: str | None = None) -> dict[str, Any]:
    """Tests the run in a folder against every line of a formulation: ``accepted``, ``violations``, ``words``; or says in
    ``does_not_apply`` why none is about it.

    >>> import stickslip, tempfile
    >>> folder = tempfile.mkdtemp() + "/block"
    >>> _ = stickslip.scene("sliding-block").run(folder=folder)
    >>> stickslip.verify(folder)["accepted"]
    True
    """
    found: dict[str, Any] = json.loads(_stickslip.verify_folder(os.fspath(folder), problem))
    return found
