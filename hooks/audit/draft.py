"""From an event to the text of its record: secrets taken out, digests made, all that needs no lock.

This runs for every record, so it is spelt out where a loop or a call more would be felt.
"""

from __future__ import annotations

from ..digests import makers
from .plain import MAX_FIELD, MAX_TEXT, plain
from .record import WHO_FIELDS, encode, fragment, members, quote, utf8

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..calls import RunRef
    from .redact import Redactor

    Kind = tuple[str, str | None, str | None, str | None, str | None]
    """event, tool_name, decision, rule, by: what many records have in common."""

    Happening = tuple[Kind, str | None, str | None, Any, dict[str, Any] | None, dict[str, Any] | None]
    """What is to be recorded: kind, tool_use_id, reason, input, result (the fields from `output_sha256` to
    `duration_ms`, or None for all null), further fields. A bare tuple, for one is made for every record."""

_MEMORY = 256
"""Texts of agents and of kinds that are kept; more than are in use at one time."""

_NO_INPUT = '"input":null,"input_sha256":null,"input_mac":null'
_NO_RESULT = '"output_sha256":null,"output_bytes":null,"exit_status":null,"duration_ms":null'


class Drafter:
    """Turns what happened into record text.

    Args:
        session_id: of records that name no agent.
        law: policy digest and level of enforcement, which stand in every record.
        key: of the keyed digest of inputs.
        redactor: what takes secrets out.
    """

    def __init__(self, session_id: str, law: dict[str, str], key: bytes, redactor: Redactor) -> None:
        self._redactor = redactor
        self._sha256, blake2b = makers()
        self._mac = blake2b(key=key, digest_size=32)
        self._law = members(law, ("policy_sha256", "enforcement"))
        self._nobody = members({"session_id": session_id, "depth": 0, "turn": 0}, WHO_FIELDS)
        self._agents: dict[int, tuple[RunRef, str]] = {}
        self._kinds: dict[Kind, tuple[str, str]] = {}

    def draft(self, ref: RunRef | None, what: Happening) -> str:
        """Give the members of a record between `ts` and `prev`."""
        if ref is None:
            who = self._nobody
        else:
            known = self._agents.get(id(ref))
            who = known[1] if known is not None and known[0] is ref else self._who(ref)
        try:
            return f"{who},{self._what(what)},{self._law}"
        except (ValueError, TypeError, RecursionError):
            # Something in it is no plain data; that happens too seldom to look before every record.
            return f"{who},{self._what(_plain(what))},{self._law}"

    def _what(self, what: Happening) -> str:
        kind, name, reason, given, result, extra = what
        spoken = self._kinds.get(kind) or self._kind(kind)
        told, asked, further = "null" if reason is None else quote(reason), _NO_INPUT, ""
        if given is not None or extra or reason is not None:
            text, further = "" if given is None else encode(given), _further(extra) if extra else ""
            if len(told) + len(text) + len(further) > MAX_TEXT:
                what = kind, name, reason, given, result, extra = _plain(what)
                told, text = fragment(reason), "" if given is None else encode(given)
                further = _further(extra) if extra else ""
            clean = text
            if self._redactor.suspects(f"{told} {text} {_said(extra) if extra else ''}"):
                told, clean, further = self._cleaned(what, (told, text, further))
            if text:
                asked = self._asked(clean, text)
        ran = _NO_RESULT if result is None else encode(result)[1:-1]
        call = "null" if name is None else quote(name)
        return f"{spoken[0]}{call}{spoken[1]}{told},{asked},{ran}{further}"

    def _who(self, ref: RunRef) -> str:
        text = members({name: getattr(ref, name) for name in WHO_FIELDS}, WHO_FIELDS)
        if len(self._agents) >= _MEMORY:
            self._agents.clear()
        self._agents[id(ref)] = (ref, text)
        return text

    def _kind(self, kind: Kind) -> tuple[str, str]:
        """Give the text before and after `tool_use_id`; a tool's name may be a model's invention, so it is cleaned too."""
        event, *rest = (self._redactor.clean(plain(value)) for value in kind)
        tool, decision, rule, by = map(fragment, rest)
        text = (
            f'"event":{fragment(event)},"tool_name":{tool},"tool_use_id":',
            f',"decision":{decision},"rule":{rule},"by":{by},"reason":',
        )
        if len(self._kinds) >= _MEMORY:
            self._kinds.clear()
        self._kinds[kind] = text
        return text

    def _cleaned(self, what: Happening, texts: tuple[str, str, str]) -> tuple[str, str, str]:
        """Give the texts of reason, input and further fields without secrets; what has none is not encoded again."""
        (_, _, reason, given, _, extra), (told, text, further), clean = what, texts, self._redactor.clean
        if (cleaned := clean(reason)) is not reason:
            told = fragment(cleaned)
        if (cleaned := clean(given)) is not given:
            text = encode(cleaned)
        if extra and (cleaned := clean(extra)) is not extra:
            further = _further(cleaned)
        return told, text, further

    def _asked(self, given: str, original: str) -> str:
        """Give the fields of the arguments. The keyed digest is of the originals' SHA-256, which mostly is there already."""
        digest = self._sha256(utf8(given))
        before = digest if given is original else self._sha256(utf8(original))
        mac = self._mac.copy()
        mac.update(before.digest())
        return f'"input":{given},"input_sha256":"{digest.hexdigest()}","input_mac":"{mac.hexdigest()}"'


def _further(extra: dict[str, Any]) -> str:
    """Give the further fields, sorted, each after a comma."""
    return f",{encode(dict(sorted(extra.items())))[1:-1]}"


def _said(extra: dict[str, Any]) -> str:
    """Give what a model or a person may have written in further fields: not their names, numbers and ids."""
    return " ".join(
        [
            value if type(value) is str else encode(value)
            for name, value in extra.items()
            if type(value) not in _NUMBERS and name not in _OWN
        ]
    )


_NUMBERS = frozenset((int, float, bool, type(None)))
_OWN = frozenset(("id", "model", "source", "status", "stop_reason"))


def _plain(what: Happening) -> Happening:
    """Give the same as plain data of bounded length."""
    kind, name, reason, given, result, extra = what
    return (
        kind,
        None if name is None else str(plain(name)),
        None if reason is None else str(plain(reason)),
        None if given is None else _bounded(plain(given)),
        plain(result),
        _bounded(plain(extra)) if extra else None,
    )


def _bounded(value: Any) -> Any:
    """Give plain data, or a note in its place where its JSON is too long."""
    length = len(encode(value))
    return value if length <= MAX_FIELD else {"cut": f"[cut: {length} characters of JSON]"}
