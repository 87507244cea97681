"""Sweeps: outcomes of a scene over parameters, on threads, processes or a cluster, resumable on disk."""

from __future__ import annotations

import inspect
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _stickslip, _text
from .errors import SweepError
from .scene import Scene, split_changes

if TYPE_CHECKING:
    import xarray

#: Seconds that a batch should last: Dask needs some 4 ms per task.
BATCH_SECONDS = 1.0
#: Seconds between saves.
SAVE_EVERY = 2.0
#: Times that a batch whose worker died is tried again.
RETRIES = 3
#: Columns of a sweep over listed points.
POINT = "point"


@dataclass(frozen=True)
class Subject:
    """What all points have in common: the text of the scene, changes, outcomes."""

    file: str
    text: str
    parameters: list[tuple[str, str]]
    settings: list[tuple[str, str]]
    outcomes: list[str]


@dataclass(frozen=True)
class Task:
    """What a worker needs besides the point: the subject, functions of the run, where runs are kept, and for a map its
    quantity with the gap of active constraints."""

    subject: Subject
    functions: tuple[tuple[str, Callable[..., Any]], ...]
    name: str
    keep: str | None
    quantity: tuple[str, float] | None = None


@dataclass(frozen=True)
class Place:
    """One point: its number, numeric values by name, and changes that are words."""

    number: int
    names: list[str]
    values: list[float]
    words: dict[str, str]


Found = tuple[int, tuple[list[float], bool, str], float]


def compute(task: Task, places: Sequence[Place]) -> list[Found]:
    """What a worker does with a batch: every point of it, with the time each took."""
    found = []
    for place in places:
        began = time.perf_counter()
        if task.quantity is not None:
            point = _cell(task, place)
        elif task.functions or task.keep:
            point = _with_functions(task, place)
        else:
            point = _plain(task, place)
        found.append((place.number, point, time.perf_counter() - began))
    return found


def _plain(task: Task, place: Place) -> tuple[list[float], bool, str]:
    settings = [pair for pair in place.words.items() if _stickslip.is_setting(pair[0])]
    parameters = [pair for pair in place.words.items() if not _stickslip.is_setting(pair[0])]
    return _stickslip.evaluate_point(task.subject, place.names, place.values, parameters, settings)


def _cell(task: Task, place: Place) -> tuple[list[float], bool, str]:
    """A cell of a map: a number, or a word as the reason of a point without one."""
    of, gap = task.quantity or ("regime", 0.0)
    first, second = zip(place.names, place.values)
    number, word, refused = _stickslip.map_cell(task.subject, of, gap, first, second)
    if number is not None:
        return [number], True, ""
    return [float("nan")], word is not None, word if word is not None else f"refused: {refused}"


def _with_functions(task: Task, place: Place) -> tuple[list[float], bool, str]:
    """Outcomes that are Python functions of the run, behind those that are not."""
    plain = _plain(task, place) if task.subject.outcomes else ([], False, "")
    values, certified, reason = plain
    try:
        scene = Scene(task.subject.text, task.name, task.subject.file)
        changes: dict[str, Any] = {**dict(zip(place.names, place.values)), **place.words}
        scene = scene.replace(**changes)
        folder = None if task.keep is None else Path(task.keep) / f"{place.number:06d}"
        if folder is not None and folder.exists():
            import shutil

            # Left by a worker that died.
            shutil.rmtree(folder)
        run = scene.run(folder=folder)
        certified = run.certified and run.outcome == "finished"
        reason = reason or str(run.summary.get("reason") or ("" if certified else "not certified"))
        values = [*values, *(float(function(run)) for _, function in task.functions)]
    except Exception as error:  # noqa: BLE001 - a point that fails is recorded, not a lost sweep
        lines = (str(error) or type(error).__name__).splitlines()
        reason = lines[0].removeprefix("error: ")
        values = [*values[: len(task.subject.outcomes)]]
        values += [float("nan")] * (len(task.subject.outcomes) + len(task.functions) - len(values))
        certified = False
    return values, certified, reason


def sweep(
    scene: Scene,
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
        name to outcome: an entry of the summary (``"energy.end"``), an expression over the columns at the end (``"x^2"``), its
        ``max(..)``, ``min(..)``, ``mean(..)``, or a function of the :class:`Run`. Left out: the coordinates at the end.
    ``client``
        None: threads, one per core; a number: so many threads; a ``distributed.Client``, or anything with ``submit``.
    ``path``
        an ``.npz`` file that is written as points are done, after which the same call goes on with what is missing. It has
        the format of ``stickslip study sweep``.
    ``batch``
        points per task; ``"auto"`` measures a run and makes tasks of about a second, at most a fortieth of the sweep.
    ``keep``
        folder in which every run leaves its run folder, by the number of the point.
    ``on_error``
        ``"record"``: a point whose scene is refused has NaN and the reason in ``reason``; ``"raise"`` ends the sweep there.
    ``progress``
        called with the numbers of done and of all points; True shows a bar of tqdm, or lines on the error stream without it.

    A point has the same bits whoever computes it. Points that are not certified are marked in ``certified``.
    """
    plan = _Plan(scene, axes, of, keep)
    if on_error not in ("record", "raise"):
        raise ValueError(f"on_error is {on_error!r}, expected 'record' or 'raise'")
    if path is not None:
        if Path(path).suffix != ".npz":
            raise SweepError(f"{path}: sweeps are kept in .npz files")
        plan.sweep.resume(os.fspath(path))
    seconds = np.full(plan.size, np.nan)
    todo = plan.sweep.missing()
    done, saved = plan.size - len(todo), time.monotonic()
    tell = _bar(plan.size) if progress is True else progress or None

    def enter(found: Sequence[Found]) -> None:
        nonlocal done, saved
        for number, point, lasted in found:
            if on_error == "raise" and point[2] and np.isnan(point[0]).all():
                raise SweepError(f"point {number} ({plan.told(number)}): {point[2]}")
            plan.sweep.enter(number, point)
            seconds[number] = lasted
        done += len(found)
        if tell is not None:
            tell(done, plan.size)
        if path is not None and time.monotonic() - saved > SAVE_EVERY:
            plan.sweep.save(os.fspath(path))
            saved = time.monotonic()

    try:
        with workers_of(client) as workers:
            distribute(plan.task, todo, plan.place, len(plan.names), workers, batch, enter)
    finally:
        # Also after Ctrl-C: what is done is kept.
        if path is not None:
            plan.sweep.save(os.fspath(path))
    return plan.dataset(seconds)


def _bar(total: int) -> Callable[[int, int], None]:
    """A bar of tqdm, or a line every tenth of the way."""
    try:
        import tqdm
    except ImportError:
        told = [0]

        def line(done: int, total: int) -> None:
            if 10 * done // total > told[0]:
                told[0] = 10 * done // total
                print(f"{done} of {total} points", file=sys.stderr, flush=True)

        return line
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
            also += "".join(f"{sorted(_plain_point(point).items())}\n" for point in self.points)
            grid = [(POINT, [float(k) for k in range(len(self.points))])]
        if not grid:
            raise SweepError("a sweep needs a parameter with values")
        for name in self.points[0] if self.points else axes:
            # A wrong name is wrong at every point: ask before.
            split_changes(scene, {name: 0})
            known = [n for n, _ in scene.parameter_list()]
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
            point = self.points[number]
            numbers = {k: float(v) for k, v in point.items() if not isinstance(v, str)}
            words = {k: v for k, v in point.items() if isinstance(v, str)}
            return Place(number, list(numbers), list(numbers.values()), words)
        values = self.sweep.parameters(number)
        numeric, worded = {}, {}
        for (name, _), value in zip(self.grid, values):
            if name in self.labels:
                worded[name] = self.labels[name][int(value)]
            else:
                numeric[name] = value
        return Place(number, list(numeric), list(numeric.values()), worded)

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
        )


def _plain_point(point: Mapping[str, Any]) -> dict[str, str]:
    return {str(name): _text.change(value) for name, value in point.items()}


def _outcomes(
    scene: Scene, of: Any
) -> tuple[list[tuple[str, str]], list[tuple[str, Callable[..., Any]]]]:
    """Outcomes of the engine, and functions, by name."""
    if of is None:
        return [(name, name) for name in scene.coordinates], []
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


class _Submitting:
    """Executors of concurrent.futures and everything else that has ``submit`` and returns such futures."""

    def __init__(self, executor: Any, own: bool, width: int) -> None:
        self.executor, self.own, self.width = executor, own, width

    def __enter__(self) -> _Submitting:
        return self

    def __exit__(self, *_: object) -> None:
        if self.own:
            self.executor.shutdown(wait=True, cancel_futures=True)

    def submit(self, task: Task, places: Sequence[Place]) -> Any:
        return self.executor.submit(compute, task, places)

    def first(self, futures: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(wait(futures, return_when=FIRST_COMPLETED).done)

    def killed(self, error: BaseException) -> bool:
        """Whether the worker died rather than the point."""
        return type(error).__name__ in ("BrokenProcessPool", "KilledWorker", "CommClosedError")


class _Dask(_Submitting):
    """A client of Dask distributed; the subject goes to every worker once."""

    def __init__(self, client: Any) -> None:
        threads = sum(client.nthreads().values())
        super().__init__(client, False, max(int(threads), 1))
        self.sent: Any = None

    def submit(self, task: Task, places: Sequence[Place]) -> Any:
        if self.sent is None:
            self.sent = self.executor.scatter(task, broadcast=True, hash=False)
        return self.executor.submit(compute, self.sent, places, pure=False, retries=RETRIES)

    def first(self, futures: Sequence[Any]) -> tuple[Any, ...]:
        import distributed

        waiting: Any = distributed.wait
        return tuple(waiting(list(futures), return_when="FIRST_COMPLETED").done)


def workers_of(client: Any) -> _Submitting:
    """Who computes: threads, a client of Dask, an executor."""
    if client is None:
        count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return _Submitting(ThreadPoolExecutor(count), True, count)
    if isinstance(client, int):
        return _Submitting(ThreadPoolExecutor(client), True, client)
    if hasattr(client, "scheduler") and hasattr(client, "scatter"):
        return _Dask(client)
    if isinstance(client, Executor) or hasattr(client, "submit"):
        return _Submitting(client, False, getattr(client, "_max_workers", None) or os.cpu_count() or 1)
    raise TypeError(f"client is {type(client).__name__}, expected a number of threads, a Dask client or an executor")


def distribute(
    task: Task,
    todo: Sequence[int],
    place: Callable[[int], Place],
    outcomes: int,
    workers: _Submitting,
    batch: int | str,
    enter: Callable[[Sequence[Found]], None],
) -> None:
    """Hands out the points, few batches at a time, and enters what comes back."""
    waiting = list(todo)
    if not waiting:
        return
    size = batch if isinstance(batch, int) else 1
    most = max(1, len(waiting) // 40)
    running: dict[Any, tuple[list[Place], int]] = {}
    position = 0
    timed = isinstance(batch, int)

    def hand_out() -> None:
        nonlocal position
        # While a run has not been timed, one point per worker; then enough that none is idle.
        limit = workers.width if not timed else 3 * workers.width
        while position < len(waiting) and len(running) < limit:
            places = [place(k) for k in waiting[position : position + size]]
            position += len(places)
            running[workers.submit(task, places)] = (places, 0)

    def again(places: list[Place], tries: int, error: BaseException) -> None:
        """A batch whose worker died: halved, so that a point that kills its worker is found; that one is recorded."""
        if type(error).__name__ == "BrokenProcessPool":
            message = "a worker process died and took its pool with it; run again with the same path to go on"
            raise SweepError(message) from error
        if len(places) == 1 and tries + 1 >= RETRIES:
            point = ([float("nan")] * outcomes, False, f"killed its worker {RETRIES} times")
            enter([(places[0].number, point, float("nan"))])
            return
        parts = [places] if len(places) == 1 else [places[::2], places[1::2]]
        for part in parts:
            running[workers.submit(task, part)] = (part, tries + 1 if len(places) == 1 else 0)

    hand_out()
    try:
        while running:
            for future in workers.first(list(running)):
                places, tries = running.pop(future)
                try:
                    found = future.result()
                except Exception as error:
                    if not workers.killed(error):
                        raise
                    again(places, tries, error)
                    continue
                enter(found)
                if not timed:
                    lasted = max(sum(f[2] for f in found) / len(found), 1e-6)
                    size, timed = int(min(max(BATCH_SECONDS / lasted, 1), most)), True
            hand_out()
    except BaseException:
        for future in running:
            future.cancel()
        raise


def _dataset(
    grid: Sequence[tuple[str, Sequence[Any]]],
    names: Sequence[str],
    arrays: Mapping[str, Any],
    attributes: Mapping[str, Any],
    seconds: Any = None,
    points: Sequence[Mapping[str, Any]] | None = None,
) -> xarray.Dataset:
    try:
        import xarray
    except ImportError:
        message = "sweeps are datasets of xarray, which is not installed: pip install 'stickslip[sweep]'"
        raise SweepError(message) from None
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
    coordinates: dict[str, Any] = {name: np.asarray(axis) for name, axis in grid}
    if points is not None:
        coordinates[POINT] = np.arange(len(points))
        for name in points[0]:
            coordinates[name] = (POINT, np.asarray([point[name] for point in points]))
    return xarray.Dataset(variables, coordinates, dict(attributes))


def read_sweep(path: str | os.PathLike[str]) -> xarray.Dataset:
    """The dataset of an ``.npz`` file, written by :func:`sweep`, ``stickslip study sweep`` or ``stickslip study map``.

    >>> import stickslip, tempfile
    >>> path = tempfile.mkdtemp() + "/sweep.npz"
    >>> ds = stickslip.sweep(stickslip.scene("sliding-block"), {"mu": [0.2, 0.3]}, of="x", path=path)
    >>> bool((stickslip.read_sweep(path).x == ds.x).all())
    True
    """
    with np.load(path) as archive:
        grid = [(str(name), archive[f"axis_{k}"]) for k, name in enumerate(archive["axes"])]
        names = [str(name) for name in archive["outcomes"]]
        arrays = {name: archive[name] for name in ("values", "done", "certified", "reason")}
        return _dataset(grid, names, arrays, {"file": os.fspath(path)})
