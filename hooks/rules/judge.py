"""The law: rules in force, frozen, and the verdict on one command text."""

from __future__ import annotations

from functools import partial
from time import perf_counter_ns

from ..decisions import Verdict
from ..frozen import frozen
from ..shell import read_command
from ..shell.events import ExecEvent, Reading, Value
from .arguments import Grammars
from .glob import text_fits
from .match import Matcher, firsts_of, needs_of
from .model import FINDINGS, RuleSet, unpack, unpack_rule, unpack_tables
from .pathset import PathSet
from .predicates import program_fits
from .scene import Scene

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from ..shell.events import Places, Unchecked
    from .model import Rule

VERDICTS = {"deny": Verdict.DENY, "ask": Verdict.ASK, "log": Verdict.ALLOW}
UNREADABLE = "unreadable"
"""The rule named where a text cannot be judged at all: syntax, bytes, limits."""
JUDGE_FAILED = "judge-failed"
"""The rule named where judging itself broke or took too long."""
TIME_LIMIT_MS = 2000
"""How long judging the events of one command may take; what takes longer is denied, never waved through."""

_KINDS = {"program": "unchecked-program", "code": "unchecked-code", "environment": "environment"}
_MEMO_SIZE = 4096
_LONGEST_REMEMBERED = 65536


@frozen
class Judgement:
    """The verdict on one command text, and why.

    `rule` is the id, `entry` the one-line entry it came from; `segment` the part of the text at fault; `matched` the
    command as it would run. `events` are all commands that would run, for people. `logged` are the ids of `log` rules.
    """

    verdict: Verdict
    rule: str | None = None
    message: str = ""
    segment: str = ""
    matched: str = ""
    entry: str = ""
    events: tuple[str, ...] = ()
    logged: tuple[str, ...] = ()
    micros: int = 0

    @property
    def reason(self) -> str:
        """One or two lines for the model: what matched, and what to do instead."""
        if self.verdict <= Verdict.ALLOW:
            return ""
        if self.rule == UNREADABLE:
            return f"{self.message[:1].upper()}{self.message[1:]}"
        shown = _short(self.segment)
        runs = _short(self.matched)
        detail = f" (it would run `{runs}`)" if runs and runs != shown else ""
        what = f"the blocklist entry `{self.entry}`" if self.entry else f"rule {self.rule}"
        verb = "asks a person about" if self.verdict is Verdict.ASK else "forbids"
        message = "" if self.entry else self.message
        return f"{what[0].upper()}{what[1:]} {verb} `{shown}`{detail}.{chr(10) if message else ''}{message}"


class _Slot:
    """A rule's place in the law; the rule is unpacked and made ready when a command first may break it.

    `asked` are the fields of its condition that ask for something.
    """

    __slots__ = ("_asked", "_make", "_matcher", "is_finding", "programs")

    def __init__(self, asked: dict[str, Sequence[str]], make: Callable[[], Rule]) -> None:
        self._asked = asked
        self.programs = tuple(asked.get("program", ()))
        self.is_finding = "finding" in asked
        self._make = make
        self._matcher: Matcher | None = None

    @property
    def matcher(self) -> Matcher:
        if self._matcher is None:
            self._matcher = Matcher(self._make())
        return self._matcher

    @property
    def firsts(self) -> frozenset[str]:
        return firsts_of(self._asked.get("subcommand", ()))

    def speaks_of(self, name: str) -> bool:
        return not self.programs or program_fits(name, self.programs)

    def may_hold(self, given: int) -> bool:
        return not needs_of(self._asked) & ~given


def _slots(rules: RuleSet | dict[str, Any]) -> tuple[_Slot, ...]:
    if isinstance(rules, RuleSet):
        return tuple(_Slot(dict(rule.when.asked()), partial(_given, rule)) for rule in rules.rules)
    return tuple(_Slot(data["when"], partial(unpack_rule, data)) for data in rules["rules"])


def _given(rule: Rule) -> Rule:
    return rule


class _Index:
    """The rules that may speak of one program, by the first word of the command; all tuples in order of the law."""

    __slots__ = ("_by_first", "_firsts", "_slots")

    def __init__(self, slots: list[_Slot]) -> None:
        self._slots = [(slot, slot.firsts) for slot in slots]
        self._firsts = frozenset(word for _, firsts in self._slots for word in firsts)
        self._by_first: dict[str | None, tuple[Matcher, ...]] = {}

    def of(self, scene: Scene) -> tuple[Matcher, ...]:
        """Give the rules that may speak of an event."""
        first = scene.first if self._firsts else None
        if first is None and self._firsts:
            if scene.firsts or not scene.arguments.words:
                return self._starting(scene.firsts)
            return tuple([slot.matcher for slot, _ in self._slots])
        first = first if first in self._firsts else None
        found = self._by_first.get(first)
        if found is None:
            found = self._by_first[first] = self._starting(frozenset(() if first is None else (first,)))
        return found

    def _starting(self, firsts: frozenset[str]) -> tuple[Matcher, ...]:
        fitting = [slot for slot, words in self._slots if not words or not firsts.isdisjoint(words)]
        return tuple([slot.matcher for slot in fitting])


class Judge:
    """Compiled rules, as a set or packed, indexed by program; immutable. `Law` puts an agent's tools in front of it."""

    __slots__ = (
        "_by_name",
        "_findings",
        "_grammars",
        "_memo",
        "_rules",
        "_sets",
        "_slots",
        "files",
        "guarded",
    )

    def __init__(self, rules: RuleSet | dict[str, Any]) -> None:
        self._rules = rules
        slots = _slots(rules)
        self._findings = tuple(slot for slot in slots if slot.is_finding)
        self._slots = tuple(slot for slot in slots if not slot.is_finding)
        self._by_name: dict[tuple[str | None, int], _Index] = {}
        self.guarded = frozenset(
            name
            for slot in self._slots
            for name in slot.programs
            if not ("*" in name or "?" in name or "[" in name)
        )
        self.files: dict[object, Judgement] = {}
        """Verdicts on the paths of file tools, kept by `files.judge_file`."""
        self._memo: dict[tuple[str, int, str], tuple[Judgement, Places]] = {}
        grammars, paths = (
            (rules.grammars, rules.paths) if isinstance(rules, RuleSet) else unpack_tables(rules)
        )
        self._grammars = Grammars(dict(grammars))
        self._sets = {name: PathSet(patterns) for name, patterns in paths}

    @property
    def rules(self) -> RuleSet:
        """The compiled rules; without examples where they were packed."""
        return self._rules if isinstance(self._rules, RuleSet) else unpack(self._rules)

    def judge(self, text: str, places: Places, agent_type: str = "lead") -> Judgement:
        """Give the verdict on a command text. A judge that breaks, denies."""
        began = perf_counter_ns()
        try:
            return self._remembered(text, places, agent_type, began)
        except TimeoutError as error:
            message = f"this text is too large to be checked ({error}). Put its data into a file, or split the command."
            return Judgement(Verdict.DENY, UNREADABLE, message, segment=text[:200], micros=_micros(began))
        except Exception as error:  # noqa: BLE001 - whatever goes wrong in the judge must refuse
            message = f"the law could not judge this ({type(error).__name__}: {error}), so it does not run."
            return Judgement(Verdict.DENY, JUDGE_FAILED, message, segment=text[:200], micros=_micros(began))

    def _remembered(self, text: str, places: Places, agent_type: str, began: int) -> Judgement:
        # A live command is judged anew each time: links and scripts on disk may have changed.
        if places.resolve is not None or places.read is not None or len(text) > _LONGEST_REMEMBERED:
            return self._judge(text, places, agent_type, began)
        # Places by identity, for hashing them costs more than finding the answer; each entry keeps its own alive.
        key = (text, id(places), agent_type)
        found = self._memo.get(key)
        if found is None:
            if len(self._memo) >= _MEMO_SIZE:
                self._memo.clear()
            found = self._memo[key] = self._judge(text, places, agent_type, began), places
        return found[0]

    def _judge(self, text: str, places: Places, agent_type: str, began: int) -> Judgement:
        reading = read_command(text, places, self.guarded)
        if reading.refusal is not None:
            message = f"{reading.refusal}. Write it in a simpler form."
            return Judgement(Verdict.DENY, UNREADABLE, message, segment=text[:200], micros=_micros(began))
        best: tuple[Verdict, Rule, str, str] | None = None
        logged: list[str] = []
        for rule, segment, matched in self.hits(reading, places, agent_type, began):
            verdict = VERDICTS[rule.decision]
            if rule.decision == "log":
                logged.append(rule.id)
            elif best is None or verdict > best[0]:
                best = (verdict, rule, segment, matched)
            if verdict is Verdict.DENY:
                break
        events = tuple([event.show()[:400] for event in reading.events[:64]])
        noted = tuple(dict.fromkeys(logged)) if logged else ()
        if best is None:
            return Judgement(Verdict.ALLOW, events=events, logged=noted, micros=_micros(began))
        verdict, rule, segment, matched = best
        return Judgement(
            verdict, rule.id, rule.message, segment, matched, rule.entry, events, noted, _micros(began)
        )

    def hits(
        self, reading: Reading, places: Places, agent_type: str, began: int
    ) -> Iterator[tuple[Rule, str, str]]:
        """Give every rule that applies to what would run, with the segment and the command at fault.

        Raises:
            TimeoutError: judging took too long.
        """
        for scene in self._scenes(reading, places):
            if _micros(began) > TIME_LIMIT_MS * 1000:
                raise TimeoutError(f"it takes more than {TIME_LIMIT_MS} ms")
            for matcher in self._candidates(scene):
                rule = matcher.rule
                if (not rule.agents or _binds(rule, agent_type)) and matcher.applies(scene):
                    yield rule, scene.event.segment, "" if scene.finding else scene.event.show()

    def _scenes(self, reading: Reading, places: Places) -> Iterator[Scene]:
        for event in reading.events:
            yield Scene(event, places, self._sets, self._grammars, reading)
        if reading.fork_bomb:
            event = ExecEvent(Value(), None, segment=reading.fork_bomb)
            yield Scene(event, places, self._sets, self._grammars, reading, finding=FINDINGS[0])
        for unknown in reading.unknowns:
            event = _stand_in(unknown)
            kind = _KINDS.get(unknown.kind, FINDINGS[2])
            yield Scene(event, places, self._sets, self._grammars, reading, finding=kind)

    def _candidates(self, scene: Scene) -> tuple[Matcher, ...]:
        given = scene.given
        if scene.finding:
            return tuple([slot.matcher for slot in self._findings if slot.may_hold(given)])
        name = scene.event.name
        index = self._by_name.get((name, given))
        if index is None:
            if len(self._by_name) > _MEMO_SIZE:
                self._by_name.clear()
            speaking = [slot for slot in self._slots if name is None or slot.speaks_of(name)]
            index = self._by_name[name, given] = _Index([slot for slot in speaking if slot.may_hold(given)])
        return index.of(scene)


def _stand_in(unknown: Unchecked) -> ExecEvent:
    """Make an event of something unknown, so that rules can ask what feeds it."""
    from ..shell.events import Hole, Stdin

    sources = unknown.sources
    if unknown.event is not None:
        sources = (*sources, *unknown.event.stdin.upstream)
    hole = Value((Hole(unknown.why, source=sources),))
    return ExecEvent(
        Value((unknown.program,)) if unknown.program else hole,
        unknown.program or None,
        (hole,),
        stdin=Stdin("pipe", upstream=sources),
        segment=unknown.segment,
    )


def _binds(rule: Rule, agent_type: str) -> bool:
    return any(text_fits(agent_type, pattern) for pattern in rule.agents)


def _micros(began: int) -> int:
    return (perf_counter_ns() - began) // 1000


def _short(text: str, limit: int = 160) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else f"{flat[: limit - 1]}…"
