"""`Law`: where rules come from, and the judgement of tool calls by them."""

from __future__ import annotations

import json
import os

from ..decisions import Decision, Verdict
from ..digests import sha256
from ..errors import ConfigError
from ..matchers import our_name
from ..regular import read_text
from .cache import load_cached, save_cached
from .files import FILE_TOOLS, judge_file
from .judge import JUDGE_FAILED, UNREADABLE, Judge, Judgement
from .live import protected_places, rule_files
from .model import Source, pack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..calls import RunRef, ToolCall
    from ..chain import Hook
    from ..shell.events import Places
    from .model import RuleSet

NAME = "law"
HOOK_SECONDS = 10.0


class Law:
    """Rules in force: frozen at load, one for all agents. `digest` is the sha-256 of the compiled rules."""

    __slots__ = ("_judge", "digest", "sources")

    def __init__(
        self, rules: RuleSet | dict[str, Any], sources: tuple[Source, ...] = (), digest: str = ""
    ) -> None:
        self._judge = Judge(rules)
        self.sources = sources
        self.digest = digest or digest_of(self._judge.rules)

    @classmethod
    def load(
        cls,
        user: str | None = None,
        project: str | None = None,
        extra: tuple[Source, ...] = (),
        *,
        cache: bool = True,
    ) -> Law:
        """Load the shipped rules, then a user's file, then a project's, then `extra`; a missing file adds nothing.

        The user's file sets the floor and may disable shipped rules by id; all later ones only tighten. Every
        example in every rule is tried. With `cache`, rules compiled before are taken from the state folder; those know
        no examples and no places of origin.

        Raises:
            ConfigError: a file is not valid or not readable, or an example fails; file, line, remedy.
        """
        files = (*_read(user, "user"), *_read(project, "project"))
        sources = (*shipped_sources(), *files, *protected_places(), *extra)
        return cls.of_sources(sources, cache=cache)

    @classmethod
    def here(
        cls, workspace: str, rules: str | None = None, extra: tuple[Source, ...] = (), *, cache: bool = True
    ) -> Law:
        """Load the law in force in a workspace: shipped, the user's (or the file `rules` instead), the project's, `extra`.

        Raises:
            ConfigError: as `load`; also if `rules` is not there.
        """
        user, project = rule_files(workspace)
        if rules is not None and not os.path.exists(rules):
            raise ConfigError("there is no such rule file; check the path", rules)
        return cls.load(rules or user, project, extra, cache=cache)

    @classmethod
    def of_sources(cls, sources: tuple[Source, ...], *, cache: bool = False) -> Law:
        """Load the law from texts.

        Raises:
            ConfigError: as `load`.
        """
        cached = load_cached(sources) if cache else None
        if cached is not None:
            digest, packed = cached
            return cls(packed, sources, digest)
        from .examples import check_examples
        from .load import compile_sources

        rules = compile_sources(sources)
        check_examples(rules, sources)
        law = cls(rules, sources)
        if cache:
            save_cached(sources, law.digest, pack(rules))
        return law

    @property
    def rules(self) -> RuleSet:
        """The compiled rules."""
        return self._judge.rules

    def judge_command(self, text: str, places: Places, agent_type: str = "lead") -> Judgement:
        """Give the verdict on shell text. Never raises: a judge that breaks, denies."""
        return self._judge.judge(text, places, agent_type)

    def judge_call(self, call: ToolCall, ref: RunRef, places: Places) -> Decision:
        """Give the decision on a tool call: shell text by what it would run, file tools by the path they touch."""
        name = our_name(call.name)
        try:
            if name == "bash":
                judgement = self._judge_bash(call, ref, places)
            elif name in FILE_TOOLS:
                judgement = judge_file(self._judge, name, call.args, places, ref.agent_type)
            else:
                return Decision(by=NAME)
        except Exception as error:  # noqa: BLE001 - a law that breaks must refuse
            text = f"the law could not judge this call ({type(error).__name__}: {error}), so it does not run."
            judgement = Judgement(Verdict.DENY, JUDGE_FAILED, text)
        return self._decision(judgement)

    def _judge_bash(self, call: ToolCall, ref: RunRef, places: Places) -> Judgement:
        text = call.args.get("command")
        if not isinstance(text, str):
            return Judgement(Verdict.DENY, UNREADABLE, "the call has no `command` text to judge.")
        return self._judge.judge(text, places, ref.agent_type)

    def _decision(self, judgement: Judgement) -> Decision:
        detail: dict[str, Any] = {
            "segment": judgement.segment,
            "events": list(judgement.events),
            "micros": judgement.micros,
            "policy_sha256": self.digest,
        }
        if judgement.logged:
            detail["logged"] = list(judgement.logged)
        if judgement.entry:
            detail["entry"] = judgement.entry
        # What no rule forbids is no consent: another gate may still object, and none is overruled.
        verdict = Verdict.ABSTAIN if judgement.verdict is Verdict.ALLOW else judgement.verdict
        return Decision(verdict, judgement.reason, judgement.rule, by=NAME, detail=detail)


def digest_of(rules: RuleSet) -> str:
    """Give the sha-256 of the canonical form of compiled rules."""
    text = json.dumps(pack(rules), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return sha256(text.encode()).hexdigest()


def shipped_sources() -> tuple[Source, ...]:
    """Read the rule files that come with the program, in order of their names."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "law")
    names = sorted(name for name in os.listdir(folder) if name.endswith(".toml"))
    return tuple(
        source for name in names for source in _read(os.path.join(folder, name), "default", f"default/{name}")
    )


def entries(
    lines: tuple[str, ...], source: str, agents: tuple[str, ...] = (), decision: str = "deny"
) -> Source:
    """Make a source of one-line entries, as an agent's definition lists them."""
    text = f"{decision} = {json.dumps(list(lines), ensure_ascii=True)}\n"
    return Source(source, text, "project", agents)


def _read(path: str | None, level: str, shown: str = "") -> tuple[Source, ...]:
    if path is None:
        return ()
    try:
        return (Source(shown or path, read_text(path), level),)
    except FileNotFoundError:
        return ()


def law_hook(law: Law, places: Places | Callable[[RunRef], Places]) -> Hook:
    """Make the gate of the chain that asks the law about every tool call of every agent."""
    from ..chain import Hook
    from ..events import PreToolUse
    from ..shell.events import Places

    def run(event: Any) -> Decision | None:
        if not isinstance(event, PreToolUse):
            return None
        here = places if isinstance(places, Places) else places(event.ref)
        return law.judge_call(event.call, event.ref, here)

    return Hook(NAME, frozenset({"PreToolUse"}), run, timeout=HOOK_SECONDS)
