"""Reads a list of another product: which format it is, and what is in it."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

from decurion.hooks import ConfigError, UsageError
from decurion.hooks.regular import read_text
from decurion.hooks.rules import Law, Source, shipped_sources

from .book import Book, to_toml
from .claude import read_claude
from .codex import read_codex
from .gemini import read_gemini

FORMATS: dict[str, Callable[[str, str], Book]] = {
    "claude": read_claude,
    "codex": read_codex,
    "gemini": read_gemini,
}
_SUFFIXES = {".json": "claude", ".rules": "codex", ".toml": "gemini"}


def guess_format(path: Path) -> str:
    """Tell the format from the file's name.

    Raises:
        UsageError: the name does not tell.
    """
    found = _SUFFIXES.get(path.suffix)
    if found is None:
        raise UsageError(
            f"{path}: the name does not tell the format; add --from {' or --from '.join(FORMATS)}"
        )
    return found


def read_book(path: Path, form: str) -> Book:
    """Read a list and check that what was taken over loads.

    Examples that our rules understand differently are dropped with a note, since a file with a failing example would
    not load.

    Raises:
        ConfigError: the file cannot be read, or is not of this format; names the line.
    """
    try:
        text = read_text(path)
    except FileNotFoundError:
        raise ConfigError("there is no such file; check the path", str(path)) from None
    book = FORMATS[form](text, str(path))
    _settle(book, str(path))
    return book


def _settle(book: Book, source: str) -> None:
    for _ in range(sum(len(draft.fields) for draft in book.drafts) * 8 + 1):
        try:
            Law.of_sources((*shipped_sources(), Source("import", to_toml(book, source))))
        except ConfigError as error:
            if not _drop_example(book, error.message):
                raise
        else:
            return


def _drop_example(book: Book, message: str) -> bool:
    for place, draft in enumerate(book.drafts):
        if f"rule {draft.id!r}" not in message:
            continue
        for key, value in draft.fields:
            failing = [one for one in value if f"`{one}`" in message] if key in {"deny", "allow"} else []
            if failing:
                kept = tuple(one for one in value if one not in failing)
                fields = tuple((k, kept if k == key else v) for k, v in draft.fields if k != key or kept)
                book.drafts[place] = type(draft)(draft.id, fields, draft.origin)
                book.notes.append(
                    f"example dropped from {draft.id}: {failing[0]} (here whole arguments decide)"
                )
                return True
    return False


def load_toml(text: str, path: str) -> dict[str, object]:
    """Parse TOML.

    Raises:
        ConfigError: it is not valid.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"this is not valid TOML: {error}", path) from None
