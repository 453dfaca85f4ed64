"""SHA-256 for the cold path: the interpreter's own, for loading OpenSSL through `hashlib` takes 3 ms."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hashlib import _Hash  # pyright: ignore[reportPrivateUsage] - a name of the type stubs only

__all__ = ("sha256",)


def sha256(data: bytes = b"") -> _Hash:
    """Begin a digest; `hashlib`'s, which is faster on large data, where something has loaded it anyway."""
    module = sys.modules.get("hashlib") or _built_in()
    return module.sha256(data)  # type: ignore[no-any-return]  # both modules have it


def _built_in() -> object:
    for name in ("_sha2", "_sha256"):  # the former since Python 3.12
        try:
            return __import__(name)
        except ImportError:
            continue
    import hashlib

    return hashlib
