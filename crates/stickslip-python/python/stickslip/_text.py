"""Values as texts of a scene file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def number(value: float) -> str:
    """The shortest text that reads back as the same number."""
    text = repr(float(value))
    # TOML writes infinities and what is not a number as words.
    return {"inf": '"inf"', "-inf": '"-inf"', "nan": '"nan"'}.get(text, text)


def change(value: Any) -> str:
    """A value of :meth:`Scene.replace`: a number, a truth, a word or an expression."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return expression(value)


def expression(value: Any) -> str:
    """An expression: text as it is; those of sympy with ``^`` for powers."""
    return str(value).replace("**", "^")


def toml(value: Any) -> str:
    """A value in a scene file: numbers, texts, lists and tables in one line."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return number(float(value))
    if isinstance(value, str):
        return json.dumps(expression(value), ensure_ascii=False)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{key(name)} = {toml(entry)}" for name, entry in value.items())
        return "{ " + inner + " }"
    if isinstance(value, np.ndarray):
        return toml(value.tolist())
    if isinstance(value, Sequence):
        return "[" + ", ".join(toml(entry) for entry in value) + "]"
    # Expressions of computer algebra and the like.
    return json.dumps(expression(value), ensure_ascii=False)


def key(name: str) -> str:
    """A key, quoted where it must be."""
    plain = name and all(c.isascii() and (c.isalnum() or c in "_-") for c in name)
    return name if plain else json.dumps(name, ensure_ascii=False)


def table(head: str, entries: Mapping[str, Any]) -> str:
    """A table of a scene file; entries that are None are left out."""
    lines = [f"{key(name)} = {toml(value)}" for name, value in entries.items() if value is not None]
    return "\n".join([head, *lines]) + "\n" if head else "\n".join(lines) + "\n"
