"""Exceptions of the package; all can be pickled, so that they come back from other processes as themselves."""

from __future__ import annotations

import json
from typing import Any


class StickslipError(Exception):
    """What all exceptions of the package have in common.

    >>> import stickslip
    >>> issubclass(stickslip.SceneError, stickslip.StickslipError)
    True
    """


class SceneError(StickslipError, ValueError):
    """A scene has mistakes. The text shows each with its line, underlined; :attr:`findings` has them as data.

    >>> import stickslip
    >>> try:
    ...     stickslip.Scene('title = "Ball"')
    ... except stickslip.SceneError as error:
    ...     print(error.findings[0]["message"])
    the scene has no system
    """

    def __init__(self, message: str, findings: str = "[]") -> None:
        super().__init__(message, findings)

    def __str__(self) -> str:
        return str(self.args[0])

    @property
    def findings(self) -> list[dict[str, Any]]:
        """One dict per mistake: ``file``, ``line``, ``column``, ``text``, ``message`` and ``help``.

        >>> import stickslip
        >>> stickslip.SceneError("no").findings
        []
        """
        found: list[dict[str, Any]] = json.loads(self.args[1])
        return found


class RunError(StickslipError, RuntimeError):
    """A run could not be made, stopped, or cannot be read.

    >>> import stickslip
    >>> try:
    ...     stickslip.load("no such folder")
    ... except stickslip.RunError as error:
    ...     print(error)
    no such folder: there is no such folder
    """


class ProblemError(StickslipError, ValueError):
    """A contact problem is refused, with the part that is wrong.

    >>> import stickslip
    >>> try:
    ...     stickslip.ContactProblem(W=[[1, 0], [0, 1]], q=[-1, 0], mu=[-0.5])
    ... except stickslip.ProblemError as error:
    ...     print(error)
    friction coefficient -0.5 of contact 0 is negative
    """


class SweepError(StickslipError, RuntimeError):
    """A sweep could not be set up, saved or gone on with.

    >>> import stickslip
    >>> try:
    ...     stickslip.sweep(stickslip.scene("bouncing-ball"), {})
    ... except stickslip.SweepError as error:
    ...     print(error)
    a sweep needs a parameter with values
    """
