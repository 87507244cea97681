"""What ``stickslip study sweep --dask`` and ``study map --dask`` call: ``python -m stickslip.dask``, a request on standard input."""

from __future__ import annotations

import json
import sys
from typing import Any

from . import _stickslip
from ._sweep_file import Keeper, tenths
from ._workers import Distribution, Place, Subject, Task, workers_of
from .errors import SweepError


#: Seconds that a scheduler has to answer.
PATIENCE = 10


def main(request: dict[str, Any] | None = None) -> int:
    """Computes the points that the file of a request does not hold yet on the workers of a scheduler."""
    import distributed

    connect: Any = distributed.Client
    asked: dict[str, Any] = json.load(sys.stdin) if request is None else request
    subject = Subject(
        asked["file"],
        asked["text"],
        [(name, value) for name, value in asked["parameters"]],
        [(name, value) for name, value in asked["settings"]],
        asked["outcomes"],
    )
    axes = [(name, [float(x) for x in values]) for name, values in asked["axes"]]
    names = [name for name, _ in axes]
    quantity = asked["quantity"]
    sweep = _stickslip.Sweep(subject, axes, asked["names"], asked["also"])
    sweep.resume(asked["path"])
    task = Task(subject, (), "sweep", None, None if quantity is None else (quantity[0], quantity[1]))

    def place(number: int) -> Place:
        return Place(number, names, sweep.parameters(number), {})

    try:
        connected = connect(asked["scheduler"], timeout=PATIENCE)
    except OSError:
        print(f"no scheduler answers at {asked['scheduler']}", file=sys.stderr)
        return 1
    with connected as client:
        keeper = Keeper(sweep, lambda: sweep.save(asked["path"]), tenths())
        try:
            work = Distribution(task, workers_of(client), len(asked["names"]), keeper.enter)
            work.run(sweep.missing(), place, "auto")
        except SweepError as error:
            print(error, file=sys.stderr)
            return 1
        finally:
            # Also after Ctrl-C: what is done is kept.
            sweep.save(asked["path"])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
