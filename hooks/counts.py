"""Numbers with their nouns, as every message for people says them."""

from __future__ import annotations


def counted(number: float, one: str, many: str = "") -> str:
    """Give a number with what is counted: `one` of it, or `many` (by default with an s at the end).

    >>> counted(1, "turn"), counted(1200, "token"), counted(0.5, "second")
    ('1 turn', '1,200 tokens', '0.5 seconds')
    >>> counted(2, "file is", "files are")
    '2 files are'
    """
    shown = f"{number:,}" if isinstance(number, int) else f"{number:,.12g}"
    return f"{shown} {one if number == 1 else many or one + 's'}"
