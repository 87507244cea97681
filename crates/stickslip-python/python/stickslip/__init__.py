"""Contact dynamics with impacts and exact dry friction, certified step by step.

>>> import stickslip
>>> run = stickslip.scene("bouncing-ball").run()
>>> run.certified
True
>>> bool(run["y"].max() <= run["y"][0])
True

Scenes are those of the gallery (:func:`scene`), files (:meth:`Scene.load`), texts (:class:`Scene`), or put together in
Python (:class:`System`, :class:`World`). :meth:`Scene.run` gives a :class:`Run`; :class:`Simulation` goes step by step.
:class:`ContactProblem` needs no bodies; :mod:`stickslip.judge` measures the impulses of other engines; :func:`sweep` runs a
scene over parameters, on threads or a cluster; :mod:`stickslip.study` asks the studies of the command line.
"""

from . import judge, study
from ._stickslip import __version__
from .errors import ProblemError, RunError, SceneError, StickslipError, SweepError
from .plot import RunPlot, plot_sweep
from .problem import ContactProblem, Solution, Verdict
from .run import Run, View, load, resume, verify
from .scene import Scene, gallery, inspect, scene
from .simulation import Controller, Simulation
from .sweep import read_sweep, sweep
from .system import System
from .world import World

__all__ = [
    "ContactProblem",
    "Controller",
    "ProblemError",
    "Run",
    "RunError",
    "RunPlot",
    "Scene",
    "SceneError",
    "Simulation",
    "Solution",
    "StickslipError",
    "SweepError",
    "System",
    "Verdict",
    "View",
    "World",
    "__version__",
    "gallery",
    "inspect",
    "judge",
    "load",
    "plot_sweep",
    "read_sweep",
    "resume",
    "scene",
    "study",
    "sweep",
    "verify",
]
