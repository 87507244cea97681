"""The command line that the package brings along: ``stickslip`` or ``python -m stickslip``."""

from __future__ import annotations

import os
import signal
import sys

from . import _stickslip


def main() -> int:
    """Runs the program with the arguments of the process and returns its exit code."""
    # Ctrl-C is the business of the program, which leaves runs that can be gone on with.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Clusters are reached through this interpreter.
    os.environ.setdefault("STICKSLIP_PYTHON", sys.executable)
    return _stickslip.program(["stickslip", *sys.argv[1:]])
