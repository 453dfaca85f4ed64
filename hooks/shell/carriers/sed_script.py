"""Just enough of sed's language to find what it runs and which files it writes (POSIX sed, GNU extensions)."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Found = tuple[str, str]

_ADDRESS = re.compile(r"\s*(?:\d+(?:~\d+)?|\$|[+~]\d+)")


def commands(script: str) -> Iterator[Found]:
    """Pairs: `run` with code, `run-input` (the edited text is code), `write` with a file name."""
    at = 0
    while at < len(script):
        if script[at] in " \t\n;{}":
            at += 1
            continue
        at = _skip_addresses(script, at)
        if at >= len(script):
            return
        letter = script[at]
        found, at = _command(script, at, letter)
        yield from found


def _skip_addresses(script: str, at: int) -> int:
    while at < len(script):
        number = _ADDRESS.match(script, at)
        if number:
            at = number.end()
        elif script[at] == "/" or (script[at] == "\\" and at + 1 < len(script)):
            delimiter = script[at] if script[at] == "/" else script[at + 1]
            at = _after_delimiter(script, at + (1 if script[at] == "/" else 2), delimiter)
            while at < len(script) and script[at] in "IM":
                at += 1
        elif script[at] in ",! \t":
            at += 1
        else:
            break
    return at


def _after_delimiter(script: str, at: int, delimiter: str) -> int:
    inside = False
    while at < len(script):
        char = script[at]
        if char == "\\":
            at += 2
            continue
        if char == "[" and not inside:
            inside = True
        elif char == "]" and inside:
            inside = False
        elif char == delimiter and not inside:
            return at + 1
        at += 1
    return at


def _command(script: str, at: int, letter: str) -> tuple[list[Found], int]:
    end = script.find("\n", at)
    end = len(script) if end < 0 else end
    if letter in "sy":
        return _substitution(script, at, letter)
    rest = script[at + 1 : end].strip()
    if letter == "e":
        return [("run", rest)] if rest.strip("}; ") else [("run-input", "")], end
    if letter in "wW":
        return [("write", rest)], end
    if letter in "aicrR:bTtq#QlLv":
        if letter in "aic":
            end = _end_of_text(script, at)
        elif letter in "bTtqQlL":
            stop = re.compile(r"[;}\n]").search(script, at)
            end = stop.start() if stop else len(script)
        return [], end
    return [], at + 1


def _end_of_text(script: str, at: int) -> int:
    end = script.find("\n", at)
    while end > 0 and script[end - 1] == "\\":
        end = script.find("\n", end + 1)
    return len(script) if end < 0 else end


def _substitution(script: str, at: int, letter: str) -> tuple[list[Found], int]:
    delimiter = script[at + 1 : at + 2]
    if not delimiter or delimiter in "\\\n":
        return [], at + 1
    middle = _after_delimiter(script, at + 2, delimiter)
    end = _replacement_end(script, middle, delimiter)
    replacement = script[middle : max(end - 1, middle)]
    if letter == "y":
        return [], end
    flags = re.compile(r"[0-9gpiImMe]*").match(script, end)
    stop = flags.end() if flags else end
    found: list[Found] = []
    if flags and "e" in flags[0]:
        code = replacement.replace("\\" + delimiter, delimiter).replace("\\n", "\n").replace("\\&", "\0")
        found.append(
            ("run-input", "") if code.strip() in {"&", "\\1", ""} else ("run", code.replace("\0", "&"))
        )
    if script[stop : stop + 1] == "w":
        line_end = script.find("\n", stop)
        line_end = len(script) if line_end < 0 else line_end
        found.append(("write", script[stop + 1 : line_end].strip()))
        stop = line_end
    return found, stop


def _replacement_end(script: str, at: int, delimiter: str) -> int:
    while at < len(script):
        if script[at] == "\\":
            at += 2
            continue
        if script[at] == delimiter:
            return at + 1
        at += 1
    return at
