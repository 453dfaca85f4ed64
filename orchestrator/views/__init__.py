"""What a person or a program sees of a running session: a live tree, plain lines, or JSON lines.

The tree is not loaded with the others: `rich`, which draws it, waits until the first request is under way.
"""

from __future__ import annotations

from .asking import terminal_approver
from .board import AgentLine, Board
from .json_lines import StreamJson, result_message
from .lines import PlainLines
from .output import Output, open_output

__all__ = (
    "AgentLine",
    "Board",
    "Output",
    "PlainLines",
    "StreamJson",
    "open_output",
    "result_message",
    "terminal_approver",
)
