"""What one check found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "fail", "note"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report; `details` are further lines for those who ask for them."""

    state: State
    subject: str
    text: str
    details: tuple[str, ...] = ()


def verdict(subject: str, failures: list[str], good: str, details: tuple[str, ...] = ()) -> Finding:
    """Make a finding of a list of what went wrong."""
    if failures:
        return Finding("fail", subject, "; ".join(failures[:3]), tuple(failures[3:]) + details)
    return Finding("ok", subject, good, details)
