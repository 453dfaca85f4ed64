"""The detectors of the detect-secrets library, loaded when a text holds something that our own table cannot name.

Only detectors that match a shape are used. Those that guess by entropy or by a name alone would also take out hashes,
identifiers and half of all source text; `assigned` judges names with the value in view.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_LEFT_OUT = {
    "IPPublicDetector",  # addresses are no secrets
    "ArtifactoryDetector",  # the others are in `assigned` and `shapes`, with bounds
    "BasicAuthDetector",
    "NpmDetector",
}
_patterns: list[tuple[str, re.Pattern[str]]] = []


def replace(text: str, mark: Callable[[str], str]) -> str:
    """Replace whatever the library's detectors find by the mark of its kind."""
    for kind, pattern in patterns():
        text = pattern.sub(lambda found, kind=kind: _swap(found, mark(kind)), text)
    return text


def patterns() -> list[tuple[str, re.Pattern[str]]]:
    """Load the detectors, once in the life of a process."""
    if not _patterns:
        import pkgutil
        from importlib import import_module

        from detect_secrets import plugins
        from detect_secrets.plugins.base import RegexBasedDetector

        for module in pkgutil.iter_modules(plugins.__path__):
            import_module(f"{plugins.__name__}.{module.name}")
        for detector in RegexBasedDetector.__subclasses__():
            if detector.__name__ not in _LEFT_OUT:
                kind = re.sub(r"[^a-z0-9]+", "-", str(detector.secret_type).lower()).strip("-")
                denylist: Any = detector.denylist
                _patterns.extend((kind, pattern) for pattern in denylist)
    return _patterns


def _swap(found: re.Match[str], new: str) -> str:
    """Replace the group that holds the secret where the detector marks one, else the whole."""
    if "[redacted:" in found[0]:
        return found[0]
    spans = [found.span(number) for number in range(1, (found.re.groups or 0) + 1) if found[number]]
    longest = max(spans, key=lambda span: span[1] - span[0], default=found.span())
    start, end = longest if longest[1] - longest[0] >= 16 else found.span()
    base = found.start()
    return found[0][: start - base] + new + found[0][end - base :]
