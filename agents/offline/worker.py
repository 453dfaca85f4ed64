"""The subagent's side of the script: read the files of a part, change them by edits, check, report.

Which step comes next follows from the conversation alone. A file whose newest edits all went through is done; one
with an edit that failed is read and planned again, which finds only what is still to be done.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, takewhile

from decurion.hooks.counts import counted

from ..messages_api import Answer, Request
from .conversation import Conversation
from .edits import Edit, edits_of
from .imports import project_names
from .looking import files_found, look_for, with_files
from .parts import Part, read_part
from .plans import GENERATED, Left, Plan, is_generated
from .reading import Reading, read_parts
from .rename import Facts, kinds_in, plan_rename
from .replace import plan_replace
from .replies import Call, lines_of, places_changed, refusals, reply
from .source import Unreadable, read_source

READ_AT_ONCE = 4  # files; a turn's results must fit the window together
TRIES = 3  # how often the edits of one file are tried
PARSED = "all of them parse"
_PARSE = 'import ast, sys; [ast.parse(open(file, "rb").read(), file) for file in sys.argv[1:]]'
NOT_CHANGED, NOT_READ = "not changed yet", "not read yet"
_NOTE = re.compile(r"^- `(.+?)`: (.+)$")


@dataclass(frozen=True, slots=True)
class _File:
    """Where one file stands. `failed` says why it cannot be changed.

    `before` is its text before edits of which not all went through; None where there were none or it is not known.
    """

    path: str
    reading: Reading
    done: bool = False
    failed: str = ""
    tried: bool = False
    before: str | None = None


def answer_worker(request: Request, talk: Conversation, clumsy: str) -> Answer:
    """Give the subagent's next reply. `clumsy` is a command it tries when its files are done, empty for none."""
    part = read_part(talk.task)
    if isinstance(part, str):
        return reply(request, f"I could not do this: {part}")
    if not part.files:
        found = files_found(talk, part.order)
        if found is None and not talk.silenced and "grep" in talk.tools:
            return reply(request, "I look for the files first.", look_for(part.order, talk))
        part = with_files(part, found or (), talk)
    return _Worker(request, talk, part, clumsy).answer()


class _Worker:
    def __init__(self, request: Request, talk: Conversation, part: Part, clumsy: str) -> None:
        self.request, self.talk, self.part, self.clumsy = request, talk, part, clumsy
        notes = (found for line in talk.said if (found := _NOTE.match(line)))
        self.noted = {found[1]: found[2] for found in notes if found[2] not in {NOT_CHANGED, NOT_READ}}
        self.files = [self._file(path) for path in part.files]
        self.others = [self._file(path) for path in part.others]

    def answer(self) -> Answer:
        if self.talk.silenced:
            return reply(self.request, self._report("Not finished: no turn was left."))
        sources = (*self.files, *(self.others if self._facts_are_missing() else ()))
        unread = [file for file in sources if not self._is_settled(file) and not file.reading.complete]
        calls: list[Call] = [call for file in unread[:READ_AT_ONCE] for call in _reads(file)]
        notes: list[str] = []
        if not (unread and self._facts_are_missing()):
            for file in self.files:
                if file.reading.complete and not self._is_settled(file):
                    note, edits = self._step(file)
                    notes.append(f"- `{file.path}`: {note}")
                    calls += edits
        if not calls:
            return self._finish()
        text = "\n".join(notes) or f"Reading {counted(min(len(unread), READ_AT_ONCE), 'file')}."
        return reply(self.request, text, calls)

    # ---- files ----

    def _file(self, path: str) -> _File:
        about = self.talk.about(path)
        turns = sorted({one.turn for one in about if one.name == "edit_file"})
        newest = [one for one in about if one.name == "edit_file" and one.turn == turns[-1]]
        if newest and not any(one.is_error for one in newest):
            return _File(path, Reading(), done=True)
        wrong = next((one for one in newest if one.is_error), None)
        if wrong and (wrong.refused or len(turns) >= TRIES):
            return _File(path, Reading(), failed=" ".join(wrong.result.split())[:300])
        reads = [one for one in about if one.name == "read_file"]
        last, one_before = [-1, -1, *turns][:-3:-1]
        reading = read_parts([one for one in reads if one.turn > last])
        earlier = read_parts([one for one in reads if one_before < one.turn < last])
        before = earlier.text if earlier.complete else None
        return _File(path, reading, failed=reading.problem, tried=bool(turns), before=before)

    def _is_settled(self, file: _File) -> bool:
        if file.done or file.failed:
            return True
        edited = any(one.name == "edit_file" for one in self.talk.about(file.path))
        return file.path in self.noted and not edited

    def _facts_are_missing(self) -> bool:
        return self.part.kinds is None and not self.part.look

    def _step(self, file: _File) -> tuple[str, list[Call]]:
        """Give the note on one file and the edits it needs."""
        text = file.reading.text
        try:
            if self.part.look:
                return self._looked(text), []
            note, edits = self._rest(file) or self._edits(file.path, text, again=file.tried)
        except Unreadable as problem:
            return f"left as it is, it cannot be read as Python: {problem}", []
        if edits and "edit_file" not in self.talk.tools:
            return "not changed: I have no tool to edit with", []
        return note, [("edit_file", edit.args(file.path)) for edit in edits]

    def _rest(self, file: _File) -> tuple[str, list[Edit]] | None:
        """The edits still to be made where the newest ones were cut short; None if the file is not what they leave."""
        if file.before is None:
            return None
        note, edits = self._edits(file.path, file.before, again=False)
        text, done = file.before, 0
        while text != file.reading.text and done < len(edits):
            text = edits[done].apply(text)
            done += 1
        return (note, edits[done:]) if text == file.reading.text else None

    def _edits(self, path: str, text: str, *, again: bool) -> tuple[str, list[Edit]]:
        """Say what the changes do to a text, and give their edits."""
        plans, edits, after = list(self._plans(path, text, again=again)), list[Edit](), text
        for plan in plans:
            edits += edits_of(after, plan)
            after = plan.apply(after)
        return _said_of(plans, text), edits

    def _plans(self, path: str, text: str, *, again: bool) -> Iterator[Plan]:
        """Give the plan of each change, each for the text that the ones before it leave."""
        for change in self.part.order.changes:
            source = read_source(text)
            if change.verb == "rename":
                facts = replace(self._facts(change.old), again=again or self.part.attempt > 1)
                plan = plan_rename(source, change, self.part.order, facts)
            else:
                plan = plan_replace(source, change, self.part.order, path)
            after = plan.apply(text)
            if plan.spans:
                _must_parse(after)
            yield plan
            text = after

    def _facts(self, name: str) -> Facts:
        project = self.part.project or project_names(self.part.files)
        if self.part.kinds is not None:
            return Facts(self.part.kinds.get(name, Facts().kinds), project)
        kinds = {kind for f in (*self.files, *self.others) for kind in _kinds(self._first(f.path), name)}
        return Facts(frozenset(kinds) or Facts().kinds, project)

    def _first(self, path: str) -> str:
        """The text of a file before any edit: half changed, it no longer says what a name was."""
        about = self.talk.about(path)
        return read_parts(list(takewhile(lambda one: one.name == "read_file", about))).text

    def _looked(self, text: str) -> str:
        source, said = read_source(text), list[str]()
        for change in self.part.order.changes:
            kinds = kinds_in(source, change.old)
            listed = ", ".join(f"{kind} (line {line})" for kind, line in sorted(kinds.items()))
            said.append(f"`{change.old}` is {listed or 'only used or named'}")
        return "; ".join(said)

    # ---- the end ----

    def _finish(self) -> Answer:
        tried = any(one.args.get("command") == self.clumsy for one in self.talk.of("bash"))
        can_run = "bash" in self.talk.tools and not self.part.look
        if self.clumsy and can_run and not tried:
            return reply(
                self.request,
                "The files are done; I share them at once.",
                [("bash", {"command": self.clumsy})],
            )
        changed = [
            file.path for file in self.files if "changed" in self.noted.get(file.path, "") and not file.failed
        ]
        if can_run and changed and not self._checks():
            return reply(self.request, "I check that they parse.", [("bash", {"command": _check(changed)})])
        return reply(self.request, self._report())

    def _checks(self) -> list[str]:
        return [
            one.result
            for one in self.talk.of("bash")
            if str(one.args.get("command", "")).endswith(f'echo "{PARSED}"')
        ]

    def _report(self, problem: str = "") -> str:
        lines = [problem] if problem else []
        outcomes = [self._outcome(file) for file in self.files]
        if self.part.of > 1 or self.part.number > 1:
            lines.append(self._headline(outcomes))
        if not self.files:
            names = ", ".join(f"`{change.old}`" for change in self.part.order.changes)
            where = f" in {', '.join(self.part.order.places)}" if self.part.order.places else ""
            lines.append(f"No Python file{where} holds {names} as a whole word.")
        lines += [f"- `{file.path}`: {said}" for file, said in zip(self.files, outcomes, strict=True)]
        if checks := self._checks():
            passed = PARSED in checks[-1]
            lines.append(
                f"Checked the changed files: {PARSED}."
                if passed
                else f"The check failed:\n{checks[-1][-1500:]}"
            )
        lines += refusals(self.talk.exchanges)
        return "\n".join(lines)

    def _headline(self, outcomes: Sequence[str]) -> str:
        """Say the whole part in a line, for whoever reads only one."""
        if self.part.look:
            done = counted(sum("(line " in said for said in outcomes), "defines it", "define it")
        else:
            places = sum(map(places_changed, outcomes))
            done = f"{counted(places, 'place')} changed"
        refused = len(refusals(self.talk.exchanges))
        more = f", {counted(refused, 'call')} refused" if refused else ""
        return f"Part {self.part.number} of {self.part.of}: {counted(len(outcomes), 'file')}, {done}{more}."

    def _outcome(self, file: _File) -> str:
        if file.failed:
            return f"left as it is: {file.failed}"
        if file.path in self.noted and self._is_settled(file):
            return self.noted[file.path]
        if file.reading.complete:
            note, edits = self._step(file)
            return note if not edits else NOT_CHANGED
        return NOT_READ


def _reads(file: _File) -> list[Call]:
    return [
        ("read_file", {"path": file.path, **({"offset": first, "limit": count} if count else {})})
        for first, count in file.reading.wanted
    ]


def _kinds(text: str, name: str) -> Mapping[str, int]:
    try:
        return kinds_in(read_source(text), name)
    except Unreadable:
        return {}


def _must_parse(text: str) -> None:
    try:
        read_source(text)
    except Unreadable as problem:
        raise Unreadable(f"with the change made it would not parse any more ({problem})") from None


def _said_of(plans: Sequence[Plan], text: str) -> str:
    """Say what the plans of a file change and leave, in a line."""
    places = sum(len(plan.spans) for plan in plans)
    numbers = [text.count("\n", 0, span.start) + 1 for plan in plans[:1] for span in plan.spans]
    shown = f" ({lines_of(numbers)})" if len(plans) == 1 and numbers else ""
    parts = [f"{counted(places, 'place')} changed{shown}" if places else "nothing to change"]
    if left := [one for plan in plans for one in plan.left]:
        parts.append(f"left alone: {_left(left)}")
    if places and is_generated(text):
        parts.append(f"{GENERATED}: change what it is made from, too")
    return "; ".join([*parts, *(note for plan in plans for note in plan.notes)])


def _left(left: Sequence[Left]) -> str:
    grouped = groupby(sorted(left), key=lambda one: one.why)
    said: list[str] = []
    for why, group in grouped:
        numbers = [one.line for one in group]
        said.append(f"{len(numbers)} {why} ({lines_of(numbers)})")
    return ", ".join(said)


def _check(paths: Sequence[str]) -> str:
    """A command that parses files and writes nothing beside them, as compiling would.

    One program for all of them, isolated (`-I`) from a project that has an `ast.py` of its own.
    """
    words = " ".join(shlex.quote(path if not path.startswith("-") else f"./{path}") for path in paths)
    return f'python3 -I -c {shlex.quote(_PARSE)} {words} && echo "{PARSED}"'
