"""From an event to the text of its record: secrets taken out, digests made, all that needs no lock."""

from __future__ import annotations

from ..digests import blake2b, sha256
from .plain import MAX_FIELD, MAX_TEXT, plain
from .record import WHO_FIELDS, encode, members, utf8

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
    `lengthy` says that texts may still be longer than a record takes.
    """

    __slots__ = ("extra", "given", "lengthy", "result", "spoken")

    def __init__(
        self,
        spoken: dict[str, Any],
        given: Any,
        result: dict[str, Any] | None,
        extra: dict[str, Any] | None,
        *,
        lengthy: bool = True,
    ) -> None:
        self.spoken, self.given, self.result, self.extra = spoken, given, result, extra
        self.lengthy = lengthy


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
        """Give the members of a record between `ts` and `prev`."""
        who = self._nobody if ref is None else self._who(ref)
        try:
            return f"{who},{self._call(what)},{self._law}"
        except (ValueError, TypeError, RecursionError):
            # Something in it is no plain data; this happens seldom enough to find out by trying.
            return f"{who},{self._call(_plain(what))},{self._law}"

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
        says, extra = what.spoken, what.extra
        spoken = encode(says)
        given = original = encode(what.given) if what.given is not None else ""
        further = encode(dict(sorted(extra.items()))) if extra else ""
        if len(spoken) + len(given) + len(further) > MAX_TEXT and what.lengthy:
            return self._call(_plain(what))
        told = _told(extra) if extra else ""
        quoted = f"{says['tool_name']} {says['decision']} {says['rule']} {says['by']} {says['reason']} {given}{told}"
        if self._redactor.suspects(quoted):
            clean = self._redactor.clean
            spoken = encode({**clean(plain(says)), "tool_use_id": plain(says["tool_use_id"])})
            given = given and encode(clean(plain(what.given)))
            further = further and encode(clean(plain(dict(sorted((extra or {}).items())))))
        asked = self._asked(given, original) if given else _NO_INPUT
        result = encode(what.result)[1:-1] if what.result else _NO_RESULT
        rest = f",{further[1:-1]}" if further else ""
        return f"{spoken[1:-1]},{asked},{result}{rest}"

    def _asked(self, given: str, original: str) -> str:
        data = utf8(given)
        before = data if given is original else utf8(original)
        mac = blake2b(before, key=self._key, digest_size=32).hexdigest()
        return f'"input":{given},"input_sha256":"{sha256(data).hexdigest()}","input_mac":"{mac}"'


def _told(extra: dict[str, Any]) -> str:
    """Give what a model or a person may have written in further fields: not their names, numbers and ids."""
    return " ".join(
        value if type(value) is str else encode(value)
        for name, value in extra.items()
        if type(value) not in _NUMBERS and name not in _OWN
    )


_NUMBERS = frozenset((int, float, bool, type(None)))
_OWN = frozenset(("id", "model", "source", "status", "stop_reason"))


def _plain(what: Happening) -> Happening:
    """Give the same as plain data of bounded length."""
    extra = bounded(plain(what.extra)) if what.extra else None
    given = None if what.given is None else bounded(plain(what.given))
    return Happening(plain(what.spoken), given, plain(what.result), extra, lengthy=False)


def bounded(value: Any) -> Any:
    """Give plain data, or a note in its place where its JSON is too long."""
    length = len(encode(value))
    return value if length <= MAX_FIELD else {"cut": f"[cut: {length} characters of JSON]"}
