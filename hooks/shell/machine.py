"""The evaluator's own memory: what was found, what it may cost, which of several possible values is being tried."""

from __future__ import annotations

from ..frozen import frozen
from .events import ExecEvent, Hole, Places, Unchecked, Value, Written
from .state import Frame, State
from .values import EMPTY, join

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from .tree import Stmt

    T = TypeVar("T")

MAX_STEPS = 3000
"""Commands evaluated, loops unrolled, before a text is refused."""
MAX_EVENTS = 3000
MAX_WORLDS = 48
"""Combinations of possible values that one command is tried with."""
MAX_DEPTH = 40
"""Nesting of code within code and of calls."""
MAX_SOURCE = 32_768
"""Characters of another language's source text that are read."""
DISK_SECONDS = 0.1
"""How long one program is followed into files of the disk."""
MAX_LIGHT = 4096
"""A text so short can be too much only if it is made of nothing but signs, which the other limits stop."""
PLACEHOLDER = 0xE000
"""First of the private characters that stand for unknown text inside code that is read again."""


def too_heavy(text: str) -> bool:
    """Tell whether shell text would take too long to judge."""
    if len(text) <= MAX_LIGHT:
        return False
    from .weight import MAX_WEIGHT, weigh

    return weigh(text) > MAX_WEIGHT


class Refused(Exception):
    """The text cannot be judged within the limits; the argument says which."""


class NoShell(Refused):
    """Text that would be run as shell code is none."""


@frozen
class Outcome:
    """What a command leaves: the text it prints, and whether it certainly succeeded (True) or failed (False)."""

    out: Value = EMPTY
    status: bool | None = None


SETTLED = ExecEvent(Value(), None)
"""Stands where the keys of all events that look alike were made."""
DONE = Outcome()
TRUE = Outcome(EMPTY, status=True)
FALSE = Outcome(EMPTY, status=False)


class Machine:
    """One evaluation of one command text."""

    def __init__(
        self,
        places: Places,
        guarded: frozenset[str],
        parse: Callable[[str], tuple[Stmt, ...]],
        clock: Callable[[], float],
        seconds: float,
    ) -> None:
        self.places = places
        self.guarded = guarded
        self._parse = parse
        self.clock = clock
        self.deadline = clock() + seconds
        self.steps = 0
        self.turns = 1
        """How often the loops around the present command turn together."""
        self.events: list[ExecEvent] = []
        self.trace: list[ExecEvent] = []
        self.unknowns: list[Unchecked] = []
        self.writes: list[Written] = []
        self.fork_bomb = ""
        self.processes: list[tuple[str, Callable[[Value, tuple[ExecEvent, ...]], None]]] = []
        self.holes: list[Hole] = []
        self.disk_reads = 0
        """How many files of the disk the program that is being followed has had read for it."""
        self._disk_texts: set[str] = set()
        self._seen: set[object] = set()
        self._alike: dict[object, ExecEvent] = {}
        self._world: dict[object, int] | None = None
        self._open: list[dict[object, int]] = []
        self._sizes: dict[object, int] = {}

    def step(self, cost: int = 1) -> None:
        """Count one unit of work.

        Raises:
            Refused: when too much was done or too much time has passed.
        """
        self.steps += cost
        if self.steps > MAX_STEPS:
            raise Refused("the command does too much to be judged")
        if not self.steps % 16 and self.clock() > self.deadline:
            raise Refused("the command takes too long to be judged")

    def read_disk(self, path: str) -> str | None:
        """The text of a file that stood there before the command, where that is allowed and it is short enough."""
        text = self.places.read(path) if self.places.read is not None else None
        if text is None or len(text) > MAX_SOURCE or too_heavy(text):
            return None
        self.disk_reads += 1
        self._disk_texts.add(text)
        return text

    def is_from_disk(self, text: Value) -> bool:
        """True for the whole text of a file that stood there before the command."""
        return bool(self._disk_texts) and text.text in self._disk_texts

    def note_code(self, code: Value) -> None:
        """Take note that this is about to be run: text that came from a file of the disk counts as read again."""
        self.disk_reads += self.is_from_disk(code)

    def following(self, follow: Callable[[], T]) -> T | None:
        """Follow a program; where that reads files of the disk, only what is certain counts.

        Such files are the project's or the person's, who could run them by name: what is not known in them, or cannot
        be read, says nothing against the command.
        """
        before, mark, steps, turns = self.disk_reads, self.mark(), self.steps, self.turns
        self.disk_reads = 0
        deadline, found = self.deadline, None
        self.deadline = min(deadline, self.clock() + DISK_SECONDS)
        try:
            found = follow()
        except Refused:
            if not self.disk_reads:
                raise
        self.turns = turns
        if self.disk_reads:
            self.keep_certain(mark)
            self.steps = steps
        self.disk_reads, self.deadline = before, deadline
        return found

    def mark(self) -> tuple[int, int, int]:
        """Where the findings stand now."""
        return len(self.events), len(self.writes), len(self.unknowns)

    def keep_certain(self, mark: tuple[int, int, int]) -> None:
        """Of what was found since a mark, keep what is wholly known."""
        events, writes, unknowns = mark
        for event in self.events[events:]:
            if not _is_certain(event):
                self._forget(event)
        self._seen.difference_update(
            (one.kind, one.segment, one.why, one.program) for one in self.unknowns[unknowns:]
        )
        self.events[events:] = [event for event in self.events[events:] if _is_certain(event)]
        self.writes[writes:] = [one for one in self.writes[writes:] if not one.path.holes]
        del self.unknowns[unknowns:]

    def _forget(self, event: ExecEvent) -> None:
        """An event that was taken back may be taken down again."""
        argv = event.argv
        glance = event.name, len(argv), argv[-1].text if argv else ""
        if self._alike.get(glance) is event:
            del self._alike[glance]
        self._seen.discard(_event_key(event))

    def hears(self, fr: Frame) -> bool:
        """Tell whether what a command prints may go anywhere but to the person; else it need not be worked out."""
        return bool(fr.stdout_to or fr.redirects or fr.via or self.processes)

    def parse(self, text: str) -> tuple[Stmt, ...]:
        """Read shell text that was found inside the command."""
        self.step(8)
        return self._parse(text)

    def emit(self, event: ExecEvent) -> ExecEvent:
        """Take down one event; the same one twice counts once."""
        self.trace.append(event)
        if not self._is_known(event):
            self.events.append(event)
            if len(self.events) > MAX_EVENTS:
                raise Refused("the command runs too many programs to be judged")
        return event

    def _is_known(self, event: ExecEvent) -> bool:
        """Tell whether the same event was taken down before; keys are made only of what looks alike at a glance."""
        argv = event.argv
        glance = event.name, len(argv), argv[-1].text if argv else ""
        alike = self._alike.get(glance)
        if alike is None:
            self._alike[glance] = event
            return False
        if alike is not SETTLED:
            self._alike[glance] = SETTLED
            self._seen.add(_event_key(alike))
        key = _event_key(event)
        if key in self._seen:
            return True
        self._seen.add(key)
        return False

    def unchecked(
        self,
        kind: str,
        segment: str,
        why: str,
        *,
        program: str = "",
        sources: tuple[ExecEvent, ...] = (),
        event: ExecEvent | None = None,
    ) -> None:
        """Take down something that would run but cannot be known."""
        segment = self.show(segment)
        key = (kind, segment, why, program)
        if key not in self._seen:
            self._seen.add(key)
            self.unknowns.append(Unchecked(kind, segment, why, program, sources, event))

    def crowded(self, key: object, count: int) -> bool:
        """True if one more choice among so many would make too many worlds; then the value counts as unknown."""
        if self._world is None or key in self._world:
            return False
        for known in self._world:
            count *= self._sizes.get(known, 1)
        return count > MAX_WORLDS

    def pick(self, key: object, options: tuple[T, ...]) -> T:
        """One of several possibilities; all are tried, one world each."""
        if len(options) == 1 or self._world is None:
            return options[0]
        if key not in self._world:
            base = dict(self._world)
            self._world[key] = 0
            self._sizes[key] = len(options)
            self._open.extend({**base, key: index} for index in range(1, len(options)))
        return options[min(self._world[key], len(options) - 1)]

    def worlds(self, st: State, action: Callable[[State], Outcome]) -> Outcome:
        """Run an action once for each combination of possible values that it looks at, and join what it leaves."""
        if self._world is not None:
            return action(st)
        before = st.fork()
        todo: list[dict[object, int]] = [{}]
        outcome = DONE
        outs: list[Value] = []
        count = 0
        while todo:
            self._world, self._open = todo.pop(), []
            count += 1
            inside = before.fork() if count > 1 else st
            try:
                outcome = action(inside)
            finally:
                todo.extend(self._open)
                self._world = None
            outs.append(outcome.out)
            if count > 1:
                st.merge(inside)
            if count > MAX_WORLDS:
                raise Refused("the command depends on too many possible values to be judged")
        # What one world prints and what another prints may both flow on: both are given.
        return outcome if count == 1 else Outcome(join(dict.fromkeys(outs)))

    def hide(self, value: Value) -> str:
        """The value as code that can be read again: each hole becomes one private character."""
        text = ""
        for part in value.parts:
            if isinstance(part, str):
                text += part
            elif isinstance(part, Hole):
                self.holes.append(part)
                if len(self.holes) > 1000:
                    raise Refused("the command holds too many unknown texts to be judged")
                text += chr(PLACEHOLDER + len(self.holes) - 1)
            else:
                text += part.pattern
        return text

    def reveal(self, text: str) -> list[str | Hole]:
        """Undo `hide`: literal texts and holes."""
        if not self.holes or not any("\ue000" <= char <= "\uf000" for char in text):
            return [text] if text else []
        out: list[str | Hole] = []
        for char in text:
            index = ord(char) - PLACEHOLDER
            if 0 <= index < len(self.holes):
                out.append(self.holes[index])
            elif out and isinstance(out[-1], str):
                out[-1] += char
            else:
                out.append(char)
        return out

    def show(self, text: str) -> str:
        """Text for people: private characters replaced by what they stand for."""
        if not self.holes:
            return text
        return "".join(part if isinstance(part, str) else f"<{part.why}>" for part in self.reveal(text))

    def value(self, text: str) -> Value:
        """A value from text that was hidden."""
        return Value(tuple(self.reveal(text)))

    def write(
        self, path: Value, content: Value | None, by: ExecEvent | None, *, append: bool = False
    ) -> None:
        """Take down that a file would be written."""
        self.writes.append(Written(path, content, append, by))


def _is_certain(event: ExecEvent) -> bool:
    words = (event.program, *event.argv, *(redirect.target for redirect in event.redirects))
    return event.name is not None and not any(word.holes for word in words)


def _event_key(event: ExecEvent) -> object:
    return (
        event.name,
        event.program.show(),
        tuple(value.show() for value in event.argv),
        event.cwds,
        event.via,
        event.stdin.kind,
        event.stdin.text.show() if event.stdin.text else "",
        len(event.stdin.upstream),
        tuple((item.op, item.fd, item.target.show()) for item in event.redirects),
        tuple((name, value.show()) for name, value in event.env),
        event.speculative,
        event.remote,
        event.mounts,
    )


__all__ = ("DONE", "FALSE", "TRUE", "Frame", "Machine", "Outcome", "Refused", "State")
