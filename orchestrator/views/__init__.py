"""What a person or a program sees of a running session: a live tree, plain lines, or JSON lines."""

from __future__ import annotations

from .asking import terminal_approver
from .board import AgentLine, Board
from .json_lines import StreamJson, result_message
from .lines import PlainLines
from .tree import LiveTree

__all__ = (
    "AgentLine",
    "Board",
    "LiveTree",
    "PlainLines",
    "StreamJson",
    "result_message",
    "terminal_approver",
)
