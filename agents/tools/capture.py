"""Keeping what a command prints within bounds: clean text, head and tail, the rest counted and put in a file."""

from __future__ import annotations

import codecs
import re
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from decurion.hooks.counts import counted

ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]"  # control sequences: colours, cursor moves (ECMA-48, 5.4)
    r"|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)"  # strings: window titles, links
    r"|[ -/]+[0-~]|[0-Z\\^-~])"  # character sets, single functions
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
BACKSPACED = re.compile(r"[^\n\x08]\x08")
UNCLEAN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
CONTROLS = re.compile("[\x01-\x08\x0b-\x1f\x7f-\x9f]")
NUL = "\N{SYMBOL FOR NULL}"
MAX_HELD = 65_536
"""How much of a line that is not finished is held back, in characters; what comes may still overwrite it."""


class Cleaner:
    """Turns bytes as they come into text without escape codes, progress bars and control characters.

    Bytes that are not UTF-8 become U+FFFD, NUL becomes a visible sign, a line that was overwritten by carriage
    returns is kept as it stood last. Characters and codes split between two pieces arrive whole.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""

    def feed(self, data: bytes, *, final: bool = False) -> str:
        """Return the clean text of the next bytes, as far as it is certain; all of it if they are the last."""
        text = self._held + self._decoder.decode(data, final)
        overdue = final or len(self._held) > MAX_HELD
        kept = len(text) if overdue else text.rfind("\n") + 1
        self._held = text[kept:]
        return _clean(text[:kept])


def _clean(text: str) -> str:
    text = text.replace("\0", NUL)
    if not UNCLEAN.search(text):
        return text
    text = ESCAPES.sub("", text).replace("\r\n", "\n")
    if "\r" in text:
        text = "\n".join(_as_overwritten(line) for line in text.split("\n"))
    while "\x08" in text and (shorter := BACKSPACED.sub("", text)) != text:
        text = shorter
    return CONTROLS.sub("", text)


def _as_overwritten(line: str) -> str:
    return line.rstrip("\r").rpartition("\r")[2]


@dataclass(frozen=True, slots=True)
class Captured:
    """What is shown of an output.

    `left_out` counts the bytes of the output that stand neither in `head` nor in `tail`. `full_output` is a file with
    all of the text, or its beginning where it is not `complete`; None where nothing was left out or none could be made.
    """

    head: str
    tail: str
    left_out: int
    full_output: Path | None
    complete: bool

    @property
    def text(self) -> str:
        """The output, with a note in the middle of how much was left out and where it can be read."""
        if not self.left_out:
            return self.head + self.tail
        where = "they are kept nowhere"
        if self.full_output is not None:
            part = "whole" if self.complete else "beginning of the"
            where = f"the {part} output is in {self.full_output}, which read_file and grep can read"
        return f"{self.head}\n[… {counted(self.left_out, 'byte')} left out here; {where} …]\n{self.tail}"


class Capture:
    """Collects a command's output in bounded memory: its head and tail, and everything up to a limit in a file."""

    def __init__(self, chars: int, spill: Path, spill_chars: int) -> None:
        self._head_room = chars * 2 // 3
        self._tail_room = chars - self._head_room
        self._head = ""
        self._tail: deque[str] = deque()
        self._tail_chars = 0
        self._bytes = 0
        self._dropped = False
        self._spill = _Spill(spill, spill_chars)
        self._cleaner = Cleaner()

    def __call__(self, data: bytes) -> None:
        """Take the next bytes."""
        self._bytes += len(data)
        self._add(self._cleaner.feed(data))

    def _add(self, text: str) -> None:
        room = self._head_room - len(self._head)
        self._head += text[:room]
        rest = text[room:]
        if not rest:
            return
        self._spill.add(rest, before=self._head)
        self._tail.append(rest)
        self._tail_chars += len(rest)
        while self._tail_chars - len(self._tail[0]) >= self._tail_room:
            self._tail_chars -= len(self._tail.popleft())
            self._dropped = True

    def finish(self) -> Captured:
        """Return what is to be shown; no more bytes may come."""
        self._add(self._cleaner.feed(b"", final=True))
        tail = "".join(self._tail)
        over = max(0, len(tail) - self._tail_room)
        dropped = self._dropped or over > 0
        full_output = self._spill.close(keep=dropped)
        left_out = max(1, self._bytes - _size(self._head) - _size(tail[over:])) if dropped else 0
        return Captured(self._head, tail[over:], left_out, full_output, self._spill.complete)


def _size(text: str) -> int:
    """Return how many bytes of output a clean text stands for; the sign for NUL stood for one byte."""
    return len(text.encode()) - text.count(NUL) * (len(NUL.encode()) - 1)


class _Spill:
    """A file of text up to a limit in characters, made with the first text that does not fit into the head."""

    def __init__(self, path: Path, limit: int) -> None:
        self._path, self._room = path, limit
        self._file: TextIO | None = None
        self._begun = False
        self.complete = True

    def add(self, text: str, before: str) -> None:
        """Write the next text; `before` is what stands before the first."""
        if not self._begun:
            self._begun = True
            self._open()
            self._write(before)
        self._write(text)

    def _open(self) -> None:
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._file = self._path.open("x", encoding="utf-8", newline="")
            self._path.chmod(0o600)

    def _write(self, text: str) -> None:
        piece = text[: self._room]
        self.complete = self.complete and len(piece) == len(text)
        self._room -= len(piece)
        if self._file is None or not piece:
            return
        try:
            self._file.write(piece)
        except OSError:
            # A full disk costs the rest of the copy, not the command.
            self._room, self.complete = 0, False

    def close(self, *, keep: bool) -> Path | None:
        """Close the file, and remove it if it holds nothing that is not shown; return its path if it stays."""
        if self._file is None:
            return None
        with suppress(OSError):
            self._file.close()
        if keep:
            return self._path
        self._path.unlink(missing_ok=True)
        return None
