"""Runs as they are shown in notebooks: the verdict in a few lines and the energy as a picture."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .run import Run

_WIDTH, _HEIGHT, _POINTS = 520, 150, 400


def run_html(run: Run) -> str:
    """The cell of a notebook."""
    summary = run.summary
    mark = "certified" if run.certified else "NOT certified"
    color = "#2a9d5b" if run.certified else "#b5352c"
    counts = summary["event_counts"]
    told = [f"{counts[k]} {k.replace('_', ' ')}" for k in ("impacts", "lift_offs", "sticks", "slips")]
    energy = summary["energy"]
    lines = [
        f"<b>{html.escape(run.scene.title)}</b> <span style='color:{color}'>{mark}</span>",
        html.escape(f"{run.outcome} at t = {summary['time']:g} s after {summary['steps']} steps"),
        html.escape(", ".join(told)),
        f"energy {energy['start']:.6g} J at the start, {energy['end']:.6g} J at the end",
    ]
    if summary.get("reason"):
        lines.append(html.escape(str(summary["reason"])))
    return "<div>" + "<br>".join(lines) + _energy_picture(run) + "</div>"


def _energy_picture(run: Run) -> str:
    if len(run.t) < 2:
        return ""
    chosen = np.unique(np.linspace(0, len(run.t) - 1, _POINTS).astype(int))
    t = np.asarray(run.t)[chosen]
    curves: list[tuple[str, str, Any]] = [
        ("kinetic", "#1f6fb4", np.asarray(run["kinetic"])[chosen]),
        ("potential", "#d9730d", np.asarray(run["potential"])[chosen]),
    ]
    curves.append(("sum", "currentColor", curves[0][2] + curves[1][2]))
    low = min(float(np.min(c[2])) for c in curves)
    high = max(float(np.max(c[2])) for c in curves)
    span_t, span = max(t[-1] - t[0], 1e-300), max(high - low, 1e-300)
    parts = [f"<br><svg width='{_WIDTH}' height='{_HEIGHT}' role='img' aria-label='energy over time'>"]
    for k, (name, color, values) in enumerate(curves):
        x = 5 + (_WIDTH - 10) * (t - t[0]) / span_t
        y = 20 + (_HEIGHT - 25) * (high - values) / span
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y))
        parts.append(f"<polyline points='{points}' fill='none' stroke='{color}' stroke-width='1.2'/>")
        parts.append(f"<text x='{5 + 90 * k}' y='12' font-size='11' fill='{color}'>{name}</text>")
    return "".join(parts) + "</svg>"
