"""Runs as they are shown in notebooks: the verdict in a few lines and the energy as a picture."""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from ._stickslip import energy_svg, palette, quantity

if TYPE_CHECKING:
    from .run import Run

_POINTS = 400


def run_html(run: Run) -> str:
    """The cell of a notebook."""
    summary = run.summary
    mark = "certified" if run.certified else "NOT certified"
    modes = json.loads(palette())["modes"]
    color = modes[3]["colour"] if run.certified else modes[2]["colour"]
    counts = summary["event_counts"]
    words = {"impacts": "impact", "lift_offs": "lift-off", "sticks": "stick", "slips": "slip"}
    told = [f"{counts[k]} {word}{'' if counts[k] == 1 else 's'}" for k, word in words.items()]
    energy = summary["energy"]
    lines = [
        f"<b>{html.escape(run.scene.title)}</b> <span style='color:{color}'>{mark}</span>",
        html.escape(f"{run.outcome} at t = {summary['time']:g} s after {summary['steps']} steps"),
        html.escape(", ".join(told)),
        f"energy {quantity(energy['start'], 'J')} at the start, {quantity(energy['end'], 'J')} at the end",
    ]
    if summary.get("reason"):
        lines.append(html.escape(str(summary["reason"])))
    return "<div>" + "<br>".join(lines) + _energy_picture(run) + "</div>"


def _energy_picture(run: Run) -> str:
    if len(run.t) < 2:
        return ""
    chosen = np.unique(np.linspace(0, len(run.t) - 1, _POINTS).astype(int))

    def pick(column: Any) -> list[float]:
        found: list[float] = np.asarray(column)[chosen].tolist()
        return found

    kinetic, potential = pick(run["kinetic"]), pick(run["potential"])
    both = [a + b for a, b in zip(kinetic, potential)]
    return "<br>" + energy_svg(pick(run.t), [("kinetic", kinetic), ("potential", potential), ("sum", both)])
