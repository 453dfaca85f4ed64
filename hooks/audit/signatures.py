"""Checking the signed checkpoints of a log."""

from __future__ import annotations

import os

from ..counts import counted
from ..errors import AuditError
from ..folders import state_dir
from .damage import Problem
from .keys import PUBLIC_KEY_FILE, key_id, load_public, public_bytes, signed_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Signatures:
    """Checks each checkpoint that passes by.

    Args:
        required: the public key that must have signed; None for the installation's own, where there is one.

    Raises:
        AuditError: the key is none.
    """

    def __init__(self, required: str | None) -> None:
        self.signed_to = 0
        self._required = required is not None
        own = os.path.join(state_dir(), PUBLIC_KEY_FILE)
        source = required or (own if os.path.exists(own) else None)
        self._key = load_public(source) if source else None
        self._key_id = key_id(public_bytes(self._key)) if self._key else ""
        self._strangers: dict[str, int] = {}
        self._bad: list[Problem] = []

    def see(self, record: dict[str, Any], line: int, file: str) -> None:
        """Check one checkpoint record."""
        stated = str(record.get("key_id"))
        if self._key is None or stated != self._key_id:
            self._strangers[stated] = self._strangers.get(stated, 0) + 1
            return
        text = signed_text(str(record["session_id"]), record["seq"], record["prev"])
        if self._is_right(str(record.get("signature")), text):
            self.signed_to = record["seq"]
        else:
            problem = Problem(
                "signature", "the signature of this checkpoint is wrong", record["seq"], line, file
            )
            self._bad.append(problem)

    def problems(self, last_seq: int) -> list[Problem]:
        """Give what is wrong, once the end is reached."""
        if not self._required or self._bad or self.signed_to == last_seq:
            return self._bad
        if not self.signed_to:
            return [Problem("signature", f"no checkpoint is signed by key {self._key_id}", 1)]
        text = f"records after {self.signed_to} are not signed by key {self._key_id}"
        return [Problem("signature", text, self.signed_to + 1)]

    @property
    def notes(self) -> list[str]:
        """Give what a reader should know."""
        return [
            f"{counted(count, 'checkpoint is', 'checkpoints are')} signed by key {name}, which is not at hand"
            for name, count in self._strangers.items()
        ]

    def _is_right(self, signature: str, text: bytes) -> bool:
        from cryptography.exceptions import InvalidSignature

        if self._key is None:
            raise AuditError("no key at hand")
        try:
            self._key.verify(bytes.fromhex(signature), text)
        except (InvalidSignature, ValueError):
            return False
        return True
