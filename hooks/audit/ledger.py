"""What must be true of a log beyond its chain: every call planned is done, every agent started has ended."""

from __future__ import annotations

from .damage import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Record = dict[str, Any]
    Place = tuple[int, int, str]
    """seq, line, file."""

BROKEN_OFF = frozenset({"cancelled", "interrupted", "terminated", "error", "failed", "timeout", "crashed"})
"""Ways to end that may leave calls undone, which is marked by them."""


class Ledger:
    """Pairs records while they pass by; holds only what is open, so its memory does not grow with the log."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.calls: dict[tuple[str, str, str], Place] = {}
        self.agents: dict[tuple[str, str], Place] = {}
        self.interrupted = 0
        self.sealed = False
        self._strict: set[str] = set()
        self._started: set[tuple[str, str]] = set()
        self._book: dict[str, Callable[[Record, Place], None]] = {
            "planned": self._planned,
            "done": self._done,
            "agent_start": self._agent_start,
            "agent_end": self._agent_end,
            "session_start": self._session_start,
            "session_end": self._session_end,
        }

    def see(self, record: Record, line: int, file: str) -> None:
        """Book one record."""
        event = record["event"]
        book = self._book.get(event)
        if book is not None:
            book(record, (record["seq"], line, file))
        if event != "checkpoint":
            self.sealed = event == "session_end"

    def _planned(self, record: Record, place: Place) -> None:
        key = _call(record)
        if key in self.calls:
            self._wrong(place, f"call {key[2]} is planned twice")
        self.calls[key] = place
        self._known(record, place)

    def _done(self, record: Record, place: Place) -> None:
        key = _call(record)
        if self.calls.pop(key, None) is None:
            self._wrong(place, f"call {key[2]} is done but was not planned")

    def _agent_start(self, record: Record, place: Place) -> None:
        key = _agent(record)
        self._started.add(key)
        self.agents[key] = place

    def _agent_end(self, record: Record, place: Place) -> None:
        key = _agent(record)
        if self.agents.pop(key, None) is None and key not in self._started and key[0] in self._strict:
            self._wrong(place, f"agent {key[1]} ends but did not start")
        self._settle(key, record, f"agent {key[1]} ended")

    def _session_start(self, record: Record, _place: Place) -> None:
        session = str(record["session_id"])
        if record.get("source") == "resume":
            self.interrupted += len(self._drop_calls(session, None))
            self.agents = {key: place for key, place in self.agents.items() if key[0] != session}
        if record.get("source") in {"startup", "resume"}:
            self._strict.add(session)
        self._started.add(_agent(record))

    def _session_end(self, record: Record, _place: Place) -> None:
        session = str(record["session_id"])
        self._settle((session, None), record, "the session ended")
        still = [key for key in self.agents if key[0] == session]
        for key in still:
            place = self.agents.pop(key)
            if not _broke_off(record):
                self._wrong(place, f"agent {key[1]} started but has no end")

    def _settle(self, owner: tuple[str, str | None], record: Record, what: str) -> None:
        left = self._drop_calls(*owner)
        if _broke_off(record):
            self.interrupted += len(left)
            return
        for key, place in left.items():
            self._wrong(place, f"call {key[2]} is planned but never done, though {what}")

    def _drop_calls(self, session: str, agent: str | None) -> dict[tuple[str, str, str], Place]:
        left = {k: p for k, p in self.calls.items() if k[0] == session and agent in {None, k[1]}}
        for key in left:
            del self.calls[key]
        return left

    def _known(self, record: Record, place: Place) -> None:
        key = _agent(record)
        if key[0] in self._strict and key not in self._started:
            self._started.add(key)
            self._wrong(place, f"agent {key[1]} acts but did not start")

    def _wrong(self, place: Place, message: str) -> None:
        if len(self.problems) < _MOST:
            self.problems.append(Problem("unpaired", message, *place))


_MOST = 100


def _broke_off(record: Record) -> bool:
    """An agent's end says how in `status`, a session's in `reason`."""
    return record.get("status", record.get("reason")) in BROKEN_OFF


def _call(record: Record) -> tuple[str, str, str]:
    return str(record["session_id"]), str(record["agent_id"]), str(record["tool_use_id"])


def _agent(record: Record) -> tuple[str, str]:
    return str(record["session_id"]), str(record["agent_id"])
