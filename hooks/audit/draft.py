"""From an event to the text of its record: secrets taken out, digests made, all that needs no lock."""

from __future__ import annotations

from ..digests import blake2b, sha256
from ..errors import AuditError
from .plain import MAX_FIELD, MAX_TEXT, plain
from .record import WHO_FIELDS, encode, members, quote, utf8

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..calls import RunRef
    from .redact import Redactor

_MEMORY = 64
"""Agents whose text is kept; more than act at one time."""

_NO_INPUT = '"input":null,"input_sha256":null,"input_mac":null'
_NO_RESULT = '"output_sha256":null,"output_bytes":null,"exit_status":null,"duration_ms":null'


class Happening:
    """What is to be recorded, before it is text. Not a frozen value: one is made for every record, so it must cost nothing.

    `spoken` are the fields from `event` to `reason`, all present and in order; a model or a person may have written
    what they quote. `result` are the fields from `output_sha256` to `duration_ms`, in order, or None for all null.
    """

    __slots__ = ("extra", "given", "result", "spoken")

    def __init__(
        self, spoken: dict[str, Any], given: Any, result: dict[str, Any] | None, extra: dict[str, Any] | None
    ) -> None:
        self.spoken, self.given, self.result, self.extra = spoken, given, result, extra


class Drafter:
    """Turns event dicts into record text.

    Args:
        session_id: of records that name no agent.
        law: policy digest and level of enforcement, which stand in every record.
        key: of the keyed digest of inputs.
        redactor: what takes secrets out.
    """

    def __init__(self, session_id: str, law: dict[str, str], key: bytes, redactor: Redactor) -> None:
        self._key, self._redactor = key, redactor
        self._law = members(law, ("policy_sha256", "enforcement"))
        self._nobody = members({"session_id": session_id, "depth": 0, "turn": 0}, WHO_FIELDS)
        self._known: dict[int, tuple[RunRef, str]] = {}

    def draft(self, ref: RunRef | None, what: Happening) -> str:
        """Give the members of a record between `ts` and `prev`.

        Raises:
            AuditError: a value cannot be written as JSON.
        """
        who = self._nobody if ref is None else self._who(ref)
        try:
            return f"{who},{self._call(what)},{self._law}"
        except (ValueError, TypeError, RecursionError) as error:
            raise AuditError(
                f"a {what.spoken['event']!r} record cannot be written as JSON: {error}"
            ) from error

    def _who(self, ref: RunRef) -> str:
        """An agent writes several records a turn, so the text of its reference is kept for a while."""
        known = self._known.get(id(ref))
        if known is not None and known[0] is ref:
            return known[1]
        text = members({name: getattr(ref, name) for name in WHO_FIELDS}, WHO_FIELDS)
        if len(self._known) >= _MEMORY:
            self._known.clear()
        self._known[id(ref)] = (ref, text)
        return text

    def _call(self, what: Happening) -> str:
        says = what.spoken
        spoken = _json(says)
        given = original = "" if what.given is None else _bounded(_json(what.given))
        further = _bounded(_json(dict(sorted(what.extra.items())))) if what.extra else ""
        told = _told(what.extra) if what.extra else ""
        quoted = f"{says['tool_name']} {says['decision']} {says['rule']} {says['by']} {says['reason']} {given}{told}"
        if self._redactor.suspects(quoted):
            clean = self._redactor.clean
            spoken = encode({**clean(plain(says)), "tool_use_id": plain(says["tool_use_id"])})
            given = given and _bounded(encode(clean(plain(what.given))))
            further = further and _bounded(encode(clean(plain(dict(sorted((what.extra or {}).items()))))))
        asked = self._asked(given, original) if given else _NO_INPUT
        result = encode(what.result)[1:-1] if what.result else _NO_RESULT
        return (
            f"{spoken[1:-1]},{asked},{result},{further[1:-1]}"
            if further
            else f"{spoken[1:-1]},{asked},{result}"
        )

    def _asked(self, given: str, original: str) -> str:
        data = utf8(given)
        before = data if given is original else utf8(original)
        mac = blake2b(before, key=self._key, digest_size=32).hexdigest()
        return f'"input":{given},"input_sha256":"{sha256(data).hexdigest()}","input_mac":"{mac}"'


def _told(extra: dict[str, Any]) -> str:
    """Give what a model or a person may have written in further fields: not their names, numbers and ids."""
    return " ".join(
        value if type(value) is str else _json(value)
        for name, value in extra.items()
        if type(value) not in _NUMBERS and name not in _OWN
    )


_NUMBERS = frozenset((int, float, bool, type(None)))
_OWN = frozenset(("id", "model", "source", "status", "stop_reason"))


def _json(value: Any) -> str:
    """Encode a value, made plain first where it is not or is too long."""
    try:
        text = quote(value) if type(value) is str else encode(value)
    except (ValueError, TypeError, RecursionError):
        text = ""
    return text if text and len(text) <= MAX_TEXT else encode(plain(value))


def _bounded(text: str) -> str:
    return text if len(text) <= MAX_FIELD else encode({"cut": f"[cut: {len(text)} characters of JSON]"})
