"""Proving a log: every link of the chain, its end, its signatures, and that what was begun was ended.

One pass in flat memory, at about the cost of parsing the lines.
"""

from __future__ import annotations

import hashlib
import json
from itertools import chain, islice

from ..counts import counted
from ..frozen import frozen, replace
from .damage import LOOK_AHEAD, Good, Problem, classify, missing, read_entry
from .ledger import Ledger
from .reading import Snapshot, check_kind, snapshot
from .record import GENESIS, HASH_MARK, TAIL_BYTES, is_object
from .signatures import Signatures

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from .damage import Entry
    from .reading import Lines

MOST_PROBLEMS = 50
"""After so much damage the rest of the chain is not looked at any more."""


@frozen
class Report:
    """What verification found.

    `ok` is the verdict. `state` is `sealed` (the log has its end), `open` (still written to, or its writer crashed) or
    `empty`. `open_calls` and `open_agents` count what had begun but not ended in an open log; `interrupted` what a
    later resume or the way the session ended marks as broken off. `signed_to` is the number of the newest record
    that a valid signature covers.
    """

    path: str
    problems: tuple[Problem, ...]
    records: int
    last_seq: int
    last_hash: str
    state: str
    open_calls: int
    open_agents: int
    interrupted: int
    signed_to: int
    notes: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """True where nothing is wrong."""
        return not self.problems

    @property
    def first(self) -> Problem | None:
        """The first bad record."""
        return self.problems[0] if self.problems else None


def verify(path: str, *, public_key: str | None = None, expect: tuple[int, str] | None = None) -> Report:
    """Verify a log, its rotated parts included.

    Args:
        path: the newest part, `audit.jsonl`.
        public_key: 64 hex digits or a file that holds them; the log must be signed by it. None for the installation's
            own key, where there is one, which then need not have signed this log.
        expect: number and hash of a record, noted down earlier, that must stand in the log.

    Raises:
        AuditError: there is no log there, it is another version's, or the key is none.
    """
    shot = snapshot(path)
    try:
        return _Verification(shot, Signatures(public_key), expect).run()
    finally:
        shot.close()


class _Verification:
    def __init__(self, shot: Snapshot, signatures: Signatures, expect: tuple[int, str] | None) -> None:
        self._shot, self._signatures, self._expect = shot, signatures, expect
        self._ledger = Ledger()
        self._problems: list[Problem] = []
        self._notes: list[str] = []
        self._good = Good(0, GENESIS, "", 0, shot.path)
        self._adopt = False
        self._records = 0
        self._met = expect is None

    def run(self) -> Report:
        for file, lines in self._shot.files():
            self._walk(file, lines)
            if len(self._problems) >= MOST_PROBLEMS:
                self._notes.append(f"stopped after {MOST_PROBLEMS} damaged places")
                break
        else:
            self._check_end()
        problems = [*self._problems, *self._signatures.problems(self._good.seq)]
        if not self._problems:
            problems += sorted(self._ledger.problems, key=lambda problem: problem.seq)
        elif self._ledger.problems:
            self._notes.append("whether every call was done was not judged, for the chain is broken")
        state = "sealed" if self._ledger.sealed else "open"
        return Report(
            path=self._shot.path,
            problems=tuple(problems),
            records=self._records,
            last_seq=self._good.seq,
            last_hash=self._good.hash if self._records else "",
            state=state if self._records else "empty",
            open_calls=len(self._ledger.calls),
            open_agents=len(self._ledger.agents),
            interrupted=self._ledger.interrupted,
            signed_to=self._signatures.signed_to,
            notes=(*self._notes, *self._signatures.notes),
        )

    # ---- the chain ----

    def _walk(self, file: str, lines: Lines) -> None:
        source: Iterator[tuple[int, bytes]] = enumerate(lines, 1)
        if not self._records:
            source = _check_first(source, self._shot.path)
        while len(self._problems) < MOST_PROBLEMS:
            stopped = self._follow(file, source)
            if stopped is None:
                return
            following = list(islice(source, LOOK_AHEAD))
            ahead = [read_entry(file, *item) for item in following]
            torn = not ahead and lines.unfinished
            bad = replace(read_entry(file, *stopped), last=torn and file == self._shot.path)
            if bad.last and self._broke_off(bad):
                return
            finding = classify(self._good, bad, ahead)
            self._problems.append(finding.problem)
            self._adopt = finding.adopt
            if finding.skip and finding.adopt:
                self._good = replace(self._good, seq=self._good.seq + (not bad.last), line=bad.line)
            source = chain([stopped, *following][finding.skip :], source)

    def _follow(self, file: str, source: Iterator[tuple[int, bytes]]) -> tuple[int, bytes] | None:
        """Go on while the chain holds; give the first line where it does not. Spelt out: it runs once a record."""
        decode, see, digest = _decoder.raw_decode, self._ledger.see, hashlib.sha256
        seq, last, before, number = self._good.seq, self._good.hash, self._good.prev, self._good.line
        adopt, self._adopt = self._adopt, False
        stopped = None
        for item in source:
            number, line = item
            real = digest(line[:-TAIL_BYTES] + b"}").hexdigest()
            record = (
                _parse(decode, line) if line[-TAIL_BYTES:] == b'%s%s"}' % (HASH_MARK, real.encode()) else None
            )
            if record is None or not (adopt or (record["prev"] == last and record["seq"] == seq + 1)):
                stopped = item
                break
            adopt = False
            seq, before, last = record["seq"], last, real
            self._records += 1
            see(record, number, file)
            if record["event"] == "checkpoint":
                self._signatures.see(record, number, file)
            if not self._met:
                self._meet(record, number, file)
        self._good = Good(seq, last, before, number - (stopped is not None), file)
        return stopped

    def _broke_off(self, bad: Entry) -> bool:
        """Say whether half a line at the end is a crash: the head never knew it, as it would know what was cut off."""
        head, good = self._shot.head, self._good
        if bad.valid or self._problems or not head or (head["seq"], head["hash"]) != (good.seq, good.hash):
            return False
        text = f"a crash broke off the writing of record {good.seq + 1}; the next writer takes out the half there is"
        self._notes.append(text)
        self._ledger.sealed = False
        return True

    def _meet(self, record: dict[str, Any], line: int, file: str) -> None:
        """Compare the record whose hash somebody noted down."""
        assert self._expect is not None
        seq, wanted = self._expect
        if record["seq"] == seq:
            self._met = True
            if record["hash"] != wanted:
                text = f"the hash noted for record {seq} is {wanted}, here it is {record['hash']}"
                self._problems.append(Problem("edited", text, seq, line, file))

    # ---- the end ----

    def _check_end(self) -> None:
        head, seq = self._shot.head, self._good.seq
        if not self._met and self._expect:
            self._problem(
                "truncated", f"record {self._expect[0]}, whose hash was noted, is not there", seq + 1
            )
        if head is None:
            self._check_headless()
        elif head["seq"] > seq:
            self._problem("truncated", f"{missing(seq + 1, head['seq'])} missing at the end", seq + 1)
        elif head["seq"] == seq and head["hash"] != self._good.hash and not self._problems:
            self._problem("edited", "the last record was rewritten: the head file names another hash", seq)
        elif head["seq"] + 1 < seq and not self._problems:
            text = f"{counted(seq - head['seq'], 'record stands', 'records stand')} after the last one that the head file knows"
            self._problem("inserted", text, head["seq"] + 1)

    def _check_headless(self) -> None:
        if not self._ledger.sealed:
            text = (
                "the head file is missing and there is no session_end: that this is the end cannot be proven"
            )
            self._problem("truncated", text, self._good.seq + 1)
        else:
            self._notes.append("the head file is missing; the log ends with its session_end")

    def _problem(self, kind: str, message: str, seq: int) -> None:
        self._problems.append(
            Problem(kind, message, seq, self._good.line + (seq > self._good.seq), self._good.file)
        )


def _check_first(source: Iterator[tuple[int, bytes]], path: str) -> Iterator[tuple[int, bytes]]:
    """Refuse what is no log, or another version's, before anything is said of damage."""
    first = list(islice(source, 2))
    check_kind([line for _, line in first], path)
    return chain(first, source)


def _parse(decode: Callable[[str], tuple[Any, int]], line: bytes) -> Any:
    """Parse a line whose hash is right; None where it still is no record (somebody hashed nonsense)."""
    try:
        record, end = decode(line.decode())
    except (ValueError, RecursionError):
        return None
    return record if end and is_object(record) and record.keys() >= _NEEDED else None


_decoder = json.JSONDecoder()
_NEEDED = frozenset(("seq", "prev", "hash", "event", "session_id", "agent_id", "tool_use_id"))
