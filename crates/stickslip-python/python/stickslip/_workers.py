"""Who computes the points of a sweep, and how they are handed out: threads, executors, clusters."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, ProcessPoolExecutor, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import _stickslip
from .errors import SweepError
from .scene import Scene

#: Seconds that a batch should last: Dask needs some 4 ms per task.
BATCH_SECONDS = 1.0
#: Weight of the newest batch in the measured time of a run.
NEWEST = 0.3
#: Times that a point whose worker died is tried.
TRIES = 3
#: Seconds after which a result that cannot be fetched counts as lost.
FETCH_SECONDS = 10
#: Seconds between two looks at a cluster on which nothing is done.
LOOK_SECONDS = 5
#: Seconds without any worker after which a sweep does not wait for others.
EMPTY_SECONDS = 60
#: Reason of a point whose run finished, but not with the residuals that count.
NOT_CERTIFIED = "not certified"
#: This process, beyond its number.
_HERE = uuid.uuid4().hex


def _process() -> tuple[str, int]:
    # A forked process has the word of its parent, one on another machine may have its number.
    return (_HERE, os.getpid())


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
    made_by: tuple[str, int] = field(default_factory=_process)


@dataclass(frozen=True)
class Place:
    """One point: its number, numeric values by name, and changes that are words."""

    number: int
    names: list[str]
    values: list[float]
    words: dict[str, str]


Point = tuple[list[float], bool, str]
Found = tuple[int, Point, float]


def compute(task: Task, places: Sequence[Place]) -> list[Found]:
    """What a worker does with a batch: every point of it, with the time each took."""
    if task.made_by != _process() and "RAYON_NUM_THREADS" not in os.environ:
        # There are as many workers as cores: each has one of them.
        _stickslip.work_alone()
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


def _plain(task: Task, place: Place) -> Point:
    settings = [pair for pair in place.words.items() if _stickslip.is_setting(pair[0])]
    parameters = [pair for pair in place.words.items() if not _stickslip.is_setting(pair[0])]
    return _stickslip.evaluate_point(task.subject, place.names, place.values, parameters, settings)


def _cell(task: Task, place: Place) -> Point:
    """A cell of a map: a number, or a word as the reason of a point without one."""
    of, gap = task.quantity or ("regime", 0.0)
    first, second = zip(place.names, place.values)
    number, word, certified, refused = _stickslip.map_cell(task.subject, of, gap, first, second)
    if number is not None:
        return [number], certified, "" if certified else NOT_CERTIFIED
    return [float("nan")], certified, word if word is not None else f"refused: {refused}"


def folder_of(keep: str, number: int) -> Path:
    """Where the run of a point is kept."""
    return Path(keep) / f"{number:06d}"


def _with_functions(task: Task, place: Place) -> Point:
    """Outcomes that are Python functions of the run, behind those that are not."""
    plain = _plain(task, place) if task.subject.outcomes else ([], False, "")
    values, certified, reason = plain
    try:
        scene = Scene(task.subject.text, task.name, task.subject.file)
        changes: dict[str, Any] = {**dict(zip(place.names, place.values)), **place.words}
        scene = scene.replace(**changes)
        folder = None if task.keep is None else folder_of(task.keep, place.number)
        if folder is not None and folder.exists():
            import shutil

            # Left by a worker that died.
            shutil.rmtree(folder)
        run = scene.run(folder=folder)
        certified = run.certified and run.outcome == "finished"
        reason = reason or str(run.summary.get("reason") or ("" if certified else NOT_CERTIFIED))
        values = [*values, *(float(function(run)) for _, function in task.functions)]
    except Exception as error:  # noqa: BLE001 - a point that fails is recorded, not a lost sweep
        lines = (str(error) or type(error).__name__).splitlines()
        reason = lines[0].removeprefix("error: ")
        values = [*values[: len(task.subject.outcomes)]]
        values += [float("nan")] * (len(task.subject.outcomes) + len(task.functions) - len(values))
        certified = False
    return values, certified, reason


class Workers:
    """Executors of concurrent.futures and everything else that has ``submit`` and returns such futures."""

    def __init__(self, executor: Any, own: bool, width: int) -> None:
        self.executor, self.own, self.width = executor, own, width

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        if self.own:
            self.executor.shutdown(wait=True, cancel_futures=True)

    def submit(self, task: Task, places: Sequence[Place]) -> Any:
        return self.executor.submit(compute, task, places)

    def first(self, futures: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(wait(futures, return_when=FIRST_COMPLETED).done)

    def result(self, future: Any) -> list[Found] | None:
        """What a batch that is done found; none if that was lost on the way."""
        found: list[Found] = future.result()
        return found

    def killed(self, error: BaseException) -> bool:
        """Whether the worker died rather than the point."""
        return type(error).__name__ in ("BrokenProcessPool", "KilledWorker", "CommClosedError")

    def deaths(self, error: BaseException) -> int:
        """How many workers died of a batch before that was told."""
        return 1

    def renew(self) -> bool:
        """Makes up for a pool that died with one of its workers; says whether it had to."""
        return False


class _Processes(Workers):
    """Processes of this machine, which end together when one of them dies: then others take their place."""

    def renew(self) -> bool:
        broken = self.executor
        if self.own:
            broken.shutdown(wait=False, cancel_futures=True)
        self.executor, self.own = (
            ProcessPoolExecutor(
                self.width,
                getattr(broken, "_mp_context", None),
                getattr(broken, "_initializer", None),
                getattr(broken, "_initargs", ()),
            ),
            True,
        )
        return True


class _Dask(Workers):
    """A client of Dask distributed. The task goes with every batch: it is a few kilobytes of text, and what is scattered is lost
    with the workers that hold it."""

    def __init__(self, client: Any) -> None:
        threads = sum(client.nthreads().values())
        super().__init__(client, False, max(int(threads), 1))

    def deaths(self, error: BaseException) -> int:
        # The scheduler tries again by itself before it tells.
        return int(getattr(error, "allowed_failures", 0)) + 1

    def submit(self, task: Task, places: Sequence[Place]) -> Any:
        return self.executor.submit(compute, task, places, pure=False, retries=TRIES)

    def first(self, futures: Sequence[Any]) -> tuple[Any, ...]:
        import distributed

        waiting: Any = distributed.wait
        alive = time.monotonic()
        while True:
            try:
                return tuple(waiting(list(futures), timeout=LOOK_SECONDS, return_when="FIRST_COMPLETED").done)
            except TimeoutError:
                if self.executor.nthreads():
                    alive = time.monotonic()
                elif time.monotonic() - alive > EMPTY_SECONDS:
                    message = f"the cluster has had no worker for {EMPTY_SECONDS} s; points that are done are kept"
                    raise SweepError(message) from None

    def result(self, future: Any) -> list[Found] | None:
        # What a worker found can die with it before it is fetched.
        try:
            found: list[Found] = future.result(timeout=FETCH_SECONDS)
        except TimeoutError:
            return None
        return found


def workers_of(client: Any) -> Workers:
    """Who computes: threads, a client of Dask, an executor."""
    if client is None:
        count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return Workers(ThreadPoolExecutor(count), True, count)
    if isinstance(client, int):
        return Workers(ThreadPoolExecutor(client), True, client)
    if hasattr(client, "scheduler") and hasattr(client, "scatter"):
        return _Dask(client)
    width = getattr(client, "_max_workers", None) or os.cpu_count() or 1
    if isinstance(client, ProcessPoolExecutor):
        return _Processes(client, False, width)
    if isinstance(client, Executor) or hasattr(client, "submit"):
        return Workers(client, False, width)
    raise TypeError(f"client is {type(client).__name__}, expected a number of threads, a Dask client or an executor")


class Distribution:
    """Hands out the points, few batches at a time, and enters what comes back.

    A batch whose worker died is tried alone, so that no other one can be to blame, and halved until the point is found that kills
    workers, which is then recorded as such. Processes of one pool die together: then every batch that was under way is suspected.
    """

    def __init__(self, task: Task, workers: Workers, outcomes: int, enter: Callable[[Sequence[Found]], None]) -> None:
        self.task, self.workers, self.outcomes, self.enter = task, workers, outcomes, enter
        self.running: dict[Any, tuple[list[Place], int]] = {}
        self.suspects: list[tuple[list[Place], int]] = []
        self.alone: Any = None

    def run(self, todo: Sequence[int], place: Callable[[int], Place], batch: int | str) -> None:
        """All points of a list, in batches of a number or of measured length."""
        self.todo, self.place, self.position = list(todo), place, 0
        self.size = batch if isinstance(batch, int) else 1
        # While a run has not been timed, one point per worker.
        self.seconds: float | None = 0.0 if isinstance(batch, int) else None
        most = max(1, len(self.todo) // 40)
        try:
            self._hand_out()
            while self.running:
                for future in self.workers.first(list(self.running)):
                    lasted = self._take(future)
                    if lasted is not None and not isinstance(batch, int):
                        before = lasted if self.seconds is None else self.seconds
                        self.seconds = max((1 - NEWEST) * before + NEWEST * lasted, 1e-6)
                        self.size = int(min(max(BATCH_SECONDS / self.seconds, 1), most))
                self._hand_out()
        except BaseException:
            for future in self.running:
                future.cancel()
            raise

    def _submit(self, places: list[Place], tries: int) -> Any:
        future = self.workers.submit(self.task, places)
        self.running[future] = (places, tries)
        return future

    def _hand_out(self) -> None:
        if self.alone in self.running:
            return
        if self.suspects:
            if not self.running:
                self.alone = self._submit(*self.suspects.pop())
            return
        limit = self.workers.width if self.seconds is None else 3 * self.workers.width
        while self.position < len(self.todo) and len(self.running) < limit:
            places = [self.place(k) for k in self.todo[self.position : self.position + self.size]]
            self.position += len(places)
            self._submit(places, 0)

    def _take(self, future: Any) -> float | None:
        """Enters what a batch found and returns the seconds of one run; none if its worker died."""
        places, tries = self.running.pop(future, ([], 0))
        if not places:
            return None
        try:
            found = self.workers.result(future)
        except Exception as error:
            if not self.workers.killed(error):
                raise
            self._died(future is self.alone, places, tries, self.workers.deaths(error))
            return None
        if found is None:
            again = self._submit(places, tries)
            self.alone = again if future is self.alone else self.alone
            return None
        self.enter(found)
        return float(sum(f[2] for f in found) / len(found))

    def _died(self, alone: bool, places: list[Place], tries: int, deaths: int) -> None:
        if self.workers.renew():
            self.suspects += self.running.values()
            self.running.clear()
        if not alone:
            self.suspects.append((places, 0))
        elif len(places) > 1:
            self.suspects += [(places[::2], 0), (places[1::2], 0)]
        elif tries + deaths < TRIES:
            self.suspects.append((places, tries + deaths))
        else:
            point = ([float("nan")] * self.outcomes, False, f"killed its worker {tries + deaths} times")
            self.enter([(places[0].number, point, float("nan"))])
