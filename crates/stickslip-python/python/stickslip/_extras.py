"""Packages that are not needed for everything, and how to have them."""

from __future__ import annotations

import importlib
from typing import Any


def needed(module: str, extra: str) -> Any:
    """The module, or an ImportError that says which extra of the package brings it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        message = f"{error.name or module} is not installed: pip install 'stickslip[{extra}]'"
        raise ImportError(message, name=error.name) from None
