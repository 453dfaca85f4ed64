"""Errors over the border: by name and text, so that whoever asked meets the same kind of error here and there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from decurion.agents.errors import ModelError
from decurion.hooks import DecurionError


class Elsewhere(Exception):
    """Raised for an error that has no class of ours: the text names it."""


def as_pair(error: Exception) -> list[str]:
    """Give an error's name and text."""
    return [type(error).__name__, str(error)]


def from_pair(pair: Any) -> Exception:
    """Make the error again."""
    name, text = pair
    kinds = (*_kinds(ModelError), *_kinds(DecurionError))
    known = next((kind for kind in kinds if kind.__name__ == name), None)
    return known(text) if known else Elsewhere(f"{name}: {text}")


def _kinds(base: type[DecurionError]) -> Iterator[type[DecurionError]]:
    yield base
    for kind in base.__subclasses__():
        yield from _kinds(kind)
