"""What ``stickslip study sweep --dask`` and ``study map --dask`` call: ``python -m stickslip.dask``, a request on standard input."""

from __future__ import annotations

import json
import sys
from typing import Any

from . import _stickslip
from .sweep import Place, Subject, Task, distribute, workers_of


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

    def enter(found: Any) -> None:
        for number, point, _ in found:
            sweep.enter(number, point)

    with connect(asked["scheduler"]) as client:
        try:
            distribute(task, sweep.missing(), place, len(asked["names"]), workers_of(client), "auto", enter)
        finally:
            sweep.save(asked["path"])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
