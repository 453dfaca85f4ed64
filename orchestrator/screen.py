"""Text on a terminal: what a model, a file or a repository wrote is shown, never obeyed."""

from __future__ import annotations

import os
import re
import sys
from shutil import get_terminal_size

_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""What moves the cursor, turns the reading direction, or cannot be written at all; lines and tabs are no harm."""
_UNSEEN = re.compile("[\u200b-\u200f\u2028\u2029\ufeff]")
"""What takes no room, so that two texts look the same and are not. In prose it may be right; in a log it is shown."""
_LEAST = 15
"""Characters of a text that are shown however narrow the terminal is."""


def can_draw() -> bool:
    """Whether standard error is a terminal that moves its cursor and knows the signs a picture is drawn with."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and sys.stderr.encoding.lower() == "utf-8"


def on_screen(text: str) -> str:
    r"""Give a text of any lines with control characters spelt out: `\x1b[2J` erases nothing then."""
    return _OBEYED.sub(_spelt_out, text.replace("\r\n", "\n"))


def on_a_line(text: str) -> str:
    """Give the same on one line, runs of blanks as one."""
    return on_screen(" ".join(text.split()))


def visible(text: str) -> str:
    r"""Give a text on one line with all that is in it to be seen: line ends as `\n`, characters without width too."""
    return _UNSEEN.sub(_spelt_out, on_screen(text.replace("\n", "\\n").replace("\t", "\\t")))


def cut(text: str, most: int) -> str:
    """Give a text of at most so many characters, with a sign where something was left out."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def room(taken: int, most: int) -> int:
    """Give how many more characters, `most` at the most, fit on a line of the terminal; a few are always shown."""
    if not sys.stdout.isatty():
        return most
    return min(most, max(_LEAST, get_terminal_size().columns - taken))


def _spelt_out(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
