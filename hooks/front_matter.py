"""Markdown files with a YAML head, the form of skills and agent definitions.

One reader for all who look at a head: who is asked for trust must see the hooks that will run, however they are spelt.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from .errors import ConfigError

FENCE = "---"


def split_front_matter(text: str, path: str = "") -> tuple[Mapping[str, Any], str]:
    """Return the fields of the head and the text after it; a file without a head has no fields.

    Raises:
        ConfigError: when the head is not closed, is no YAML, or is not a mapping; names file and line.
    """
    import yaml

    lines = text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}").splitlines()
    if not lines or lines[0].rstrip() != FENCE:
        return {}, text
    end = next((at for at, line in enumerate(lines[1:], start=1) if line.rstrip() == FENCE), None)
    if end is None:
        raise ConfigError("the head that starts with '---' is never closed by a second '---'", path, 1)
    try:
        fields: Any = yaml.safe_load("\n".join(lines[1:end]))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 2 if mark is not None else 1
        raise ConfigError(
            f"the head is not YAML: {getattr(error, 'problem', None) or error}", path, line
        ) from error
    if fields is None:
        fields = {}
    if not isinstance(fields, dict):
        raise ConfigError("the head must be 'key: value' lines", path, 2)
    return cast("dict[str, Any]", fields), "\n".join(lines[end + 1 :]).strip()
