"""Digests for the cold path: the interpreter's own, for loading OpenSSL through `hashlib` takes 3 ms."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol, Self

    class Digest(Protocol):
        """What both modules' digests can do."""

        def update(self, data: bytes, /) -> None:
            """Take in more."""

        def copy(self) -> Self:
            """Give another one that goes on from here."""
            ...

        def digest(self) -> bytes:
            """Give it as bytes."""
            ...

        def hexdigest(self) -> str:
            """Give it as text."""
            ...


__all__ = ("blake2b", "makers", "sha256")


def sha256(data: bytes = b"") -> Digest:
    """Begin a SHA-256; `hashlib`'s, which is faster on large data, where something has loaded it anyway."""
    module = sys.modules.get("hashlib") or _first_of("_sha2", "_sha256")  # the former since Python 3.12
    return module.sha256(data)


def blake2b(data: bytes = b"", *, key: bytes = b"", digest_size: int = 64) -> Digest:
    """Begin a BLAKE2b, keyed or not; `hashlib`'s is the same one."""
    return _first_of("_blake2").blake2b(data, key=key, digest_size=digest_size)


def makers() -> tuple[Callable[..., Digest], Callable[..., Digest]]:
    """Give what makes SHA-256 and BLAKE2b itself, for whoever makes many: looking it up each time is felt."""
    module = sys.modules.get("hashlib") or _first_of("_sha2", "_sha256")
    return module.sha256, _first_of("_blake2").blake2b


def _first_of(*names: str) -> Any:
    """Import the first module there is; remembered, for looking for one that is not there takes 0.2 ms each time."""
    found = _found.get(names)
    if found is None:
        found = _found[names] = _look_for(names)
    return found


_found: dict[tuple[str, ...], Any] = {}


def _look_for(names: tuple[str, ...]) -> Any:
    for name in names:
        try:
            return __import__(name)
        except ImportError:
            continue
    import hashlib

    return hashlib
