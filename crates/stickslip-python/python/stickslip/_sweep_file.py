"""Files that keep what is done of a sweep: ``.npz`` in the format of the command line, ``.zarr`` with xarray."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import _stickslip
from ._workers import Found
from .errors import SweepError

#: Least seconds between two saves.
SAVE_EVERY = 2.0
#: Saves may take this part of the time.
SAVE_SHARE = 0.05


class Keeper:
    """Enters points into a sweep and saves it now and then, and at the end."""

    def __init__(
        self,
        sweep: _stickslip.Sweep,
        save: Callable[[], None],
        tell: Callable[[int, int], None] | None = None,
    ) -> None:
        self.sweep, self.save, self.tell = sweep, save, tell
        self.total = len(sweep.arrays()["done"])
        self.done = self.total - len(sweep.missing())
        self.saved, self.pause = time.monotonic(), SAVE_EVERY

    def enter(self, found: Sequence[Found]) -> None:
        """Enters what a batch found."""
        for number, point, _ in found:
            self.sweep.enter(number, point)
        self.done += len(found)
        if self.tell is not None:
            self.tell(self.done, self.total)
        began = time.monotonic()
        if began - self.saved > self.pause:
            self.save()
            self.saved = time.monotonic()
            self.pause = max(SAVE_EVERY, (self.saved - began) / SAVE_SHARE)


def tenths() -> Callable[[int, int], None]:
    """Tells of every tenth of the way on the error stream."""
    told = [0]

    def tell(done: int, total: int) -> None:
        if 10 * done // total > told[0]:
            told[0] = 10 * done // total
            print(f"{done} of {total} points", file=sys.stderr, flush=True)

    return tell


class NpzFile:
    """The file of ``stickslip study sweep``."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)

    def resume(self, sweep: _stickslip.Sweep, seconds: Any) -> None:
        """Takes over what the file holds."""
        sweep.resume(self.path)

    def save(self, sweep: _stickslip.Sweep, dataset: Callable[[], Any]) -> None:
        """Writes the file."""
        sweep.save(self.path)


class ZarrFile:
    """A store of xarray, for datasets that go on to other tools."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        try:
            import xarray  # noqa: F401 - asked before anything is computed
            import zarr  # noqa: F401
        except ImportError as error:
            message = f"{path}: {error.name} is not installed: pip install 'stickslip[sweep]', or name an .npz file"
            raise SweepError(message) from None
        self.path = Path(path)

    def resume(self, sweep: _stickslip.Sweep, seconds: Any) -> None:
        """Takes over what the store holds, the seconds that points took included."""
        # A save that was interrupted between its two renames left the store beside its place.
        if not self.path.exists() and self._old.exists():
            self._old.rename(self.path)
        if not self.path.exists():
            return
        try:
            held = read_zarr(self.path)
            told = dict(held.attrs)
            axes = [(name, np.asarray(held[name].values)) for name in told["axes"]]
        except (OSError, KeyError, ValueError) as error:
            raise SweepError(f"{self.path} holds no sweep: {error}") from error
        self._compare(sweep, told, axes)
        done = held["done"].values.reshape(-1)
        certified = held["certified"].values.reshape(-1)
        reason = held["reason"].values.reshape(-1)
        values = np.stack([held[name].values.reshape(-1) for name in sweep.outcomes], axis=1)
        for number in np.flatnonzero(done):
            point = (values[number].tolist(), bool(certified[number]), str(reason[number]))
            sweep.enter(int(number), point)
        seconds[:] = held["seconds"].values.reshape(-1)

    def _compare(self, sweep: _stickslip.Sweep, told: dict[str, Any], axes: Sequence[tuple[str, Any]]) -> None:
        known = sweep.axes

        def same(first: Any, second: Any) -> bool:
            # Words stand for their numbers.
            return first.dtype.kind in "US" or np.array_equal(first, np.asarray(second))

        grid = [name for name, _ in axes] == [name for name, _ in known] and all(
            len(a) == len(b) and same(a, b) for (_, a), (_, b) in zip(axes, known)
        )
        differ = None
        if not grid:
            differ = "parameters"
        elif told.get("outcomes") != sweep.outcomes:
            differ = "outcomes"
        elif told.get("subject") != sweep.subject:
            differ = "scene or changes"
        if differ is not None:
            raise SweepError(f"{self.path} holds another sweep ({differ} differ); choose another file")

    @property
    def _old(self) -> Path:
        return self.path.with_name(self.path.name + ".old")

    def save(self, sweep: _stickslip.Sweep, dataset: Callable[[], Any]) -> None:
        """Writes the store beside its place and renames it, so that a whole one is always there."""
        new = self.path.with_name(self.path.name + ".new")
        shutil.rmtree(new, ignore_errors=True)
        shutil.rmtree(self._old, ignore_errors=True)
        held = dataset()
        held.attrs.update(axes=[name for name, _ in sweep.axes], outcomes=sweep.outcomes, subject=sweep.subject)
        for name in [*held.data_vars, *held.coords]:
            if held[name].dtype == object:
                held[name] = held[name].astype(str)
        held.to_zarr(new, mode="w", zarr_format=2, consolidated=True)
        if self.path.exists():
            self.path.rename(self._old)
        new.rename(self.path)
        shutil.rmtree(self._old, ignore_errors=True)


def file_of(path: str | os.PathLike[str], names: Sequence[str]) -> NpzFile | ZarrFile:
    """The file of a sweep, by its ending."""
    if Path(path).suffix == ".npz":
        return NpzFile(path)
    if Path(path).suffix != ".zarr":
        raise SweepError(f"{path}: sweeps are kept in .npz files or .zarr stores")
    for name in names:
        if "/" in name:
            raise SweepError(f"outcome `{name}`: give it a name without `/`, which a .zarr store cannot hold")
    return ZarrFile(path)


def read_zarr(path: str | os.PathLike[str]) -> Any:
    """The dataset of a store, in memory."""
    import xarray

    with xarray.open_zarr(os.fspath(path)) as store:
        return store.load()
