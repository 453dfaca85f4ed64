r"""Texts that any API takes: no lone surrogates, never blank.

Python lists a file named with the byte 0xFF as `'\udcff'`, and cutting or escaping can leave half of a surrogate
pair; neither encodes as UTF-8, and one such value in a history makes every later request fail.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

NO_OUTPUT = "(no output)"
NO_MESSAGE = "(failed without a message)"

_SURROGATE = re.compile("[\ud800-\udfff]+")


def clean(text: str) -> str:
    r"""Give the text with halves of pairs joined, bytes of odd file names as `\xNN`, other lone halves as `\uNNNN`."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub(lambda found: _escape(found[0]), text)
    return text


def clean_value(value: Any) -> Any:
    """Clean every text inside a JSON value; a value that is clean comes back as it is."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        pairs = cast("Mapping[Any, Any]", value)
        return {clean(str(key)): clean_value(part) for key, part in pairs.items()}
    if isinstance(value, (list, tuple)):
        return [clean_value(part) for part in cast("list[Any]", value)]
    return value


def is_blank(text: object) -> bool:
    """Whether a text block of this text would be refused."""
    return not isinstance(text, str) or not text.strip()


def _escape(halves: str) -> str:
    joined = halves.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return "".join(_escape_half(char) if "\ud800" <= char <= "\udfff" else char for char in joined)


def _escape_half(char: str) -> str:
    code = ord(char)
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"
