"""Blocklists of other agent products, turned into our rules, with a report of what could not be said."""

from __future__ import annotations

from .book import Book, Draft, to_toml
from .reader import FORMATS, guess_format, read_book

__all__ = ("FORMATS", "Book", "Draft", "guess_format", "read_book", "to_toml")
