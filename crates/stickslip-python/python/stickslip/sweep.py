"""Sweeps: outcomes of a scene over parameters, on threads, processes or a cluster, resumable on disk."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _stickslip, _text
from ._sweep_file import Keeper, file_of, read_zarr, tenths
from ._workers import Distribution, Found, Place, Subject, Task, folder_of, workers_of
from .errors import SweepError
from .scene import Scene, split_changes
from .scene import scene as _scene

if TYPE_CHECKING:
    import xarray

#: Dimension of a sweep over listed points.
POINT = "point"
#: Settings that the engine takes as numbers; others are written into the scene.
NUMERIC = ("step", "until", "theta", "tolerance", "compliance_time")
#: What is asked of a run if nothing is, besides its coordinates at the end.
ASKED = {
    "energy": "energy.end",
    "impacts": "event_counts.impacts",
    "lift_offs": "event_counts.lift_offs",
    "sticks": "event_counts.sticks",
    "slips": "event_counts.slips",
    "residual": "certificate.worst",
    "margin": "painleve.smallest_margin",
}


def sweep(
    scene: Scene | str,
    axes: Any,
    *,
    of: Mapping[str, Any] | Sequence[str] | str | None = None,
    client: Any = None,
    path: str | os.PathLike[str] | None = None,
    batch: int | str = "auto",
    keep: str | os.PathLike[str] | None = None,
    on_error: str = "record",
    progress: Callable[[int, int], None] | bool | None = None,
) -> xarray.Dataset:
    """Runs a scene over parameters and collects outcomes in a dataset with one dimension per parameter.

    >>> import stickslip
    >>> ds = stickslip.sweep(stickslip.scene("sliding-block"), {"mu": [0.2, 0.3, 0.4]},
    ...                      of={"distance": "x", "slips": "event_counts.slips"}, client=2)
    >>> [round(x, 2) for x in ds.distance.values.tolist()]
    [1.02, 0.68, 0.51]
    >>> bool(ds.certified.all())
    True

    ``axes``
        name to values: the product of all; or a list of dicts, or a table of pandas: one point each, along the dimension
        ``point``. A name is a parameter or a setting such as ``step``; words (``law=["coulomb", "argmin"]``) become labels.
    ``of``
        name to outcome: an entry of the summary (``"energy.end"``, ``"event_counts.slips"``, ``"events.0.t"``), an expression over
        the columns at the end (``"x^2"``) or at a time (``"at(0.5, x)"``), its ``max(..)``, ``min(..)``, ``mean(..)``, or a function of
        the :class:`Run`. Left out: end energy, events by kind, worst
        residual, smallest Painleve margin and the coordinates at the end.
    ``client``
        None: threads, one per core; a number: so many threads; a ``distributed.Client``, or anything with ``submit``.
    ``path``
        an ``.npz`` file in the format of ``stickslip study sweep``, or a ``.zarr`` store, written as points are done: the same
        call goes on with what is missing.
    ``batch``
        points per task; ``"auto"`` measures the runs and makes tasks of about a second, at most a fortieth of the sweep.
    ``keep``
        folder in which every run leaves its run folder; the variable ``folder`` tells which.
    ``on_error``
        ``"record"``: a point whose scene is refused has NaN and the reason in ``reason``; ``"raise"`` ends the sweep there.
    ``progress``
        called with the numbers of done and of all points; True shows a bar of tqdm, or lines on the error stream without it.

    A point has the same bits whoever computes it. Points that are not certified are marked in ``certified`` and in the
    pictures of :func:`plot_sweep`. A worker that dies costs time, not points; in a pool of
    processes a point that kills its worker three times is recorded.
    """
    _xarray()
    plan = _Plan(scene if isinstance(scene, Scene) else _scene(scene), axes, of, keep)
    if on_error not in ("record", "raise"):
        raise ValueError(f"on_error is {on_error!r}, expected 'record' or 'raise'")
    seconds = np.full(plan.size, np.nan)
    file = None if path is None else file_of(path, plan.names)
    if file is not None:
        file.resume(plan.sweep, seconds)
    todo = plan.sweep.missing()

    def save() -> None:
        if file is not None:
            file.save(plan.sweep, lambda: plan.dataset(seconds))

    keeper = Keeper(plan.sweep, save, _bar(plan.size) if progress is True else progress or None)

    def enter(found: Sequence[Found]) -> None:
        for number, point, lasted in found:
            if on_error == "raise" and point[2] and np.isnan(point[0]).all():
                raise SweepError(f"point {number} ({plan.told(number)}): {point[2]}")
            seconds[number] = lasted
        keeper.enter(found)

    try:
        with workers_of(client) as workers:
            Distribution(plan.task, workers, len(plan.names), enter).run(todo, plan.place, batch)
    finally:
        # Also after Ctrl-C: what is done is kept.
        save()
    return plan.dataset(seconds)


def _bar(total: int) -> Callable[[int, int], None]:
    """A bar of tqdm, or a line every tenth of the way."""
    try:
        import tqdm
    except ImportError:
        return tenths()
    bar: Any = tqdm.tqdm(total=total)

    def move(done: int, total: int) -> None:
        bar.update(done - bar.n)
        if done == total:
            bar.close()

    return move


class _Plan:
    """The grid, the task, and the sweep of the engine that keeps what is done."""

    def __init__(self, scene: Scene, axes: Any, of: Any, keep: Any) -> None:
        self.scene = scene
        outcomes, functions = _outcomes(scene, of)
        self.names = [*(name for name, _ in outcomes), *(name for name, _ in functions)]
        texts = [text if text == name else f"{name}={text}" for name, text in outcomes]
        subject = Subject(scene.file, scene.text, [], [], texts)
        folder = None if keep is None else os.fspath(keep)
        self.task = Task(subject, tuple(functions), scene.name, folder)
        self.points: list[dict[str, Any]] | None = None
        self.labels: dict[str, list[str]] = {}
        also = "".join(f"{name} {_identity(function)}\n" for name, function in functions)
        if hasattr(axes, "to_dict") and hasattr(axes, "columns"):
            axes = axes.to_dict("records")
        if isinstance(axes, Mapping):
            grid = [(str(name), self._axis(str(name), values)) for name, values in axes.items()]
            also += "".join(f"{name}: {labels}\n" for name, labels in self.labels.items())
        else:
            self.points = [dict(point) for point in axes]
            if not self.points:
                raise SweepError("a sweep needs a parameter with values")
            wrong = next((k for k, p in enumerate(self.points) if p.keys() != self.points[0].keys()), None)
            if wrong is not None:
                raise SweepError(f"point {wrong} names other parameters than point 0")
            also += "".join(f"{sorted(_plain_point(point).items())}\n" for point in self.points)
            grid = [(POINT, [float(k) for k in range(len(self.points))])]
        if not grid:
            raise SweepError("a sweep needs a parameter with values")
        for name in self.points[0] if self.points else axes:
            # A wrong name is wrong at every point: ask before.
            split_changes(scene, {name: 0})
            known = [n for n, _ in scene._parameter_list()]
            if name not in known and not _stickslip.is_setting(name):
                raise SweepError(f"the scene has no parameter and no setting `{name}`; parameters: {', '.join(known)}")
        self.grid = grid
        # A sweep of functions alone still needs an outcome of the engine for its digest.
        base = subject if texts else Subject(scene.file, scene.text, [], [], ["certified"])
        self.sweep = _stickslip.Sweep(base, grid, self.names, also)
        self.shape = tuple(len(values) for _, values in grid)
        self.size = int(np.prod(self.shape))

    def _axis(self, name: str, values: Any) -> list[float]:
        listed = list(values) if not isinstance(values, np.ndarray) else values.tolist()
        if any(isinstance(value, str) for value in listed):
            self.labels[name] = [str(value) for value in listed]
            return [float(k) for k in range(len(listed))]
        return [float(value) for value in listed]

    def place(self, number: int) -> Place:
        """What a worker is told of a point."""
        if self.points is not None:
            changes = self.points[number]
        else:
            pairs = zip(self.grid, self.sweep.parameters(number))
            changes = {
                name: self.labels[name][int(value)] if name in self.labels else value for (name, _), value in pairs
            }
        numbers: dict[str, float] = {}
        words: dict[str, str] = {}
        for name, value in changes.items():
            if isinstance(value, str):
                words[name] = value
            elif _stickslip.is_setting(name) and name not in NUMERIC:
                # Numbers of things stand in scenes without a point.
                words[name] = _text.change(int(value) if float(value).is_integer() else float(value))
            else:
                numbers[name] = float(value)
        return Place(number, list(numbers), list(numbers.values()), words)

    def told(self, number: int) -> str:
        place = self.place(number)
        changes: dict[str, Any] = {**dict(zip(place.names, place.values)), **place.words}
        return ", ".join(f"{name}={value}" for name, value in changes.items())

    def dataset(self, seconds: Any) -> xarray.Dataset:
        return _dataset(
            [(name, self.labels.get(name, values)) for name, values in self.grid],
            self.names,
            self.sweep.arrays(),
            {"scene": self.scene.name, "title": self.scene.title},
            seconds,
            self.points,
            self.task.keep,
        )


def _plain_point(point: Mapping[str, Any]) -> dict[str, str]:
    return {str(name): _text.change(value) for name, value in point.items()}


def _outcomes(
    scene: Scene, of: Any
) -> tuple[list[tuple[str, str]], list[tuple[str, Callable[..., Any]]]]:
    """Outcomes of the engine, and functions, by name."""
    if of is None:
        names = scene.coordinates
        asked = [(name if name not in names else text, text) for name, text in ASKED.items()]
        return [*asked, *((name, name) for name in names)], []
    if isinstance(of, str):
        of = [of]
    pairs = of.items() if isinstance(of, Mapping) else [(text, text) for text in of]
    texts = [(str(name), asked) for name, asked in pairs if isinstance(asked, str)]
    functions = [(str(name), asked) for name, asked in pairs if not isinstance(asked, str)]
    for name, function in functions:
        if not callable(function):
            raise SweepError(f"outcome `{name}` is {function!r}, expected a text or a function of the run")
    if not texts and not functions:
        raise SweepError("a sweep needs an outcome")
    for name, text in texts:
        if text != name and not name.isidentifier():
            raise SweepError(f"outcome `{name}`: a name has letters, digits and _ only")
    return texts, functions


def _identity(function: Callable[..., Any]) -> str:
    """What tells a function from another one, as far as can be known: its source."""
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        return f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', repr(type(function)))}"


def _xarray() -> Any:
    """The package of datasets, asked for before anything is computed."""
    try:
        import xarray
    except ImportError:
        message = "sweeps are datasets of xarray, which is not installed: pip install 'stickslip[sweep]'"
        raise SweepError(message) from None
    return xarray


def _dataset(
    grid: Sequence[tuple[str, Sequence[Any]]],
    names: Sequence[str],
    arrays: Mapping[str, Any],
    attributes: Mapping[str, Any],
    seconds: Any = None,
    points: Sequence[Mapping[str, Any]] | None = None,
    keep: str | None = None,
) -> xarray.Dataset:
    dims = [name for name, _ in grid]
    shape = tuple(len(values) for _, values in grid)
    values = np.asarray(arrays["values"]).reshape(*shape, len(names))
    variables: dict[str, Any] = {}
    for k, name in enumerate(names):
        variables[name] = (dims, values[..., k].copy(), {"outcome": 1})
    for name in ("done", "certified"):
        variables[name] = (dims, np.asarray(arrays[name], dtype=bool).reshape(shape))
    variables["reason"] = (dims, np.asarray(arrays["reason"], dtype=object).reshape(shape))
    if seconds is not None:
        variables["seconds"] = (dims, np.asarray(seconds).reshape(shape))
    if keep is not None:
        done = np.asarray(arrays["done"], dtype=bool).reshape(-1)
        folders = [str(folder_of(keep, k)) if ready else "" for k, ready in enumerate(done)]
        variables["folder"] = (dims, np.asarray(folders, dtype=object).reshape(shape))
    coordinates: dict[str, Any] = {name: np.asarray(axis) for name, axis in grid}
    if points is not None:
        coordinates[POINT] = np.arange(len(points))
        for name in points[0]:
            coordinates[name] = (POINT, np.asarray([point[name] for point in points]))
    made: xarray.Dataset = _xarray().Dataset(variables, coordinates, dict(attributes))
    return made


def read_sweep(path: str | os.PathLike[str]) -> xarray.Dataset:
    """The dataset of a file, written by :func:`sweep`, ``stickslip study sweep`` or ``stickslip study map``.

    >>> import stickslip, tempfile
    >>> path = tempfile.mkdtemp() + "/sweep.npz"
    >>> ds = stickslip.sweep(stickslip.scene("sliding-block"), {"mu": [0.2, 0.3]}, of="x", path=path)
    >>> bool((stickslip.read_sweep(path).x == ds.x).all())
    True
    """
    if Path(path).suffix == ".zarr":
        kept: xarray.Dataset = read_zarr(path)
        return kept
    with np.load(path) as archive:
        grid = [(str(name), archive[f"axis_{k}"]) for k, name in enumerate(archive["axes"])]
        names = [str(name) for name in archive["outcomes"]]
        arrays = {name: archive[name] for name in ("values", "done", "certified", "reason")}
        return _dataset(grid, names, arrays, {"file": os.fspath(path)})
