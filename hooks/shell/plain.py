"""A cheap exact path for simple text, so that most commands need no parser process."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .tree import Stmt


def plain(text: str) -> tuple[Stmt, ...] | None:
    """Parse, or None where shfmt must be asked."""
    del text
    return None
