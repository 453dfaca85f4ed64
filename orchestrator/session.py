"""One session: everything opened in order, one lead run, everything closed, whatever happens in between.

The order matters. The law and the settings are read and the model's key is looked for before the folder is made, so
that a broken rules file or a missing key leaves no session behind; the log stands before any agent exists, and is
closed last.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import orjson

from decurion.agents.claude import WireEvent
from decurion.agents.dispatch import Dispatcher, Results
from decurion.agents.model import Usage
from decurion.agents.moments import Listener, Notice, ignore
from decurion.agents.result import DeniedCall, SubagentResult
from decurion.agents.shared import Shared, write_private
from decurion.agents.team import Team
from decurion.agents.tools import ToolContext
from decurion.hooks import RunRef, SessionEnd, SessionStart, ToolCall, UserPromptSubmit
from decurion.hooks.audit import AuditLog, project_dir, session_dir

from .applog import app_log, logging_listener
from .assembly import Opened, assemble, find_definitions, read_prices, unpriced
from .audit.tracing import open_tracer, with_traceparent
from .engines.runner import check_tools, open_runner
from .law import LawInForce, law_in_force
from .models import open_model
from .naming import program
from .options import SessionOptions
from .sessions import keep_said

if TYPE_CHECKING:
    from decurion.agents.catalogue import Catalogue

    from .audit.tracer import Tracer
    from .isolation import Checkouts

ENFORCEMENT = "static"
"""The level of enforcement in force: the law reads what would run; nothing below the shell stands behind it yet."""

ISOLATED = (
    "Subagents work in checkouts of their own. What they change is not in this folder: it is merged when you are done, "
    "and the check command runs on the merged state then. Do not repeat their work here because you do not see it. "
    "Each result names the ref that holds it."
)
"""What a lead is told whose subagents are isolated; it would look in vain for their work otherwise."""

SESSION_END_SECONDS = 1.5
"""How long hooks on the session's end may take, all together, as in Claude Code."""

_SHOWN_LINES = 30
"""Of a failed check's output; all of it is in the result."""


@dataclass(frozen=True, slots=True)
class Finished:
    """How a session ended. `verified` is None where no check command was given."""

    session_id: str
    lead: SubagentResult
    subagents: tuple[SubagentResult, ...] = ()
    verified: bool | None = None
    check_output: str = ""
    branch: str = ""

    @property
    def everyone(self) -> tuple[SubagentResult, ...]:
        """The results of all agents, the lead's first."""
        return (self.lead, *self.subagents)

    @property
    def usage(self) -> Usage:
        """What all agents used together."""
        return sum((result.usage for result in self.everyone), start=Usage())

    @property
    def cost_usd(self) -> float | None:
        """What all agents cost together; None as soon as one price is unknown."""
        costs = [result.cost_usd for result in self.everyone]
        return None if None in costs else sum(cost or 0.0 for cost in costs)

    @property
    def denied(self) -> tuple[DeniedCall, ...]:
        """The calls of all agents that were refused."""
        return tuple(call for result in self.everyone for call in result.denied)

    def extra(self) -> dict[str, Any]:
        """Give what the result message says beyond the agents."""
        return {
            "verified": self.verified,
            "check_output": self.check_output or None,
            "branch": self.branch or None,
        }

    def as_json(self) -> dict[str, Any]:
        """Give the content of `result.json`."""
        return {
            "session_id": self.session_id,
            "lead": self.lead.as_json(),
            "subagents": [result.as_json() for result in self.subagents],
            **self.extra(),
        }


@dataclass(slots=True)
class Session:
    """An open session. `run` may be called once for each prompt."""

    id: str
    folder: Path
    options: SessionOptions
    team: Team
    law: LawInForce
    log: AuditLog
    listen: Listener = ignore
    isolation: Checkouts | None = None
    context: str = ""
    """What hooks on the session's start want the lead to know."""
    finished: Finished | None = None
    go_on: str = "resume"
    """The command that goes on with it."""

    @property
    def shared(self) -> Shared:
        """What its agents have in common."""
        return self.team.shared

    def describe(self) -> dict[str, Any]:
        """Give the fields of the `init` message."""
        return {
            "cwd": str(self.options.workspace),
            "model": self.shared.settings.model,
            "tools": [*self.shared.tools, "task"],
            "agents": [definition.name for definition in self.shared.catalogue.subagents()],
            "permission_mode": self.options.law.permission_mode,
            "audit_log": str(self.folder / "audit.jsonl"),
        }

    async def run(self, prompt: str) -> Finished:
        """Give the lead a prompt (empty: go on with what is open), and check the work if a command was given.

        Raises:
            DecurionError: the log or the law failed.
        """
        ref = RunRef(self.id, "lead", "lead")
        said = await self._submitted(ref, prompt) if prompt.strip() else ""
        if isinstance(said, SubagentResult):
            return self.finish(Finished(self.id, said))
        lead = await self.team.run_lead(said)
        finished = Finished(self.id, lead, tuple(self.team.results))
        if self.isolation is not None and self.isolation.used:
            finished = await self.isolation.bring_home(finished)
        elif self.options.work.verify and lead.status == "completed":
            finished = await self._checked(ref, finished)
        return self.finish(finished)

    async def _submitted(self, ref: RunRef, prompt: str) -> str | SubagentResult:
        """Ask the prompt's gates; give the whole prompt for the lead, or the result of a refusal."""
        self.log.write(ref, "prompt", input={"prompt": prompt})
        decision = await self.shared.court.ask(UserPromptSubmit(ref, prompt))
        if decision.blocks:
            self.log.write(
                ref, "refused", reason=decision.reason, rule=decision.rule, by=decision.by, decision="deny"
            )
            return SubagentResult(
                "lead", "lead", "blocked", f"The prompt was refused: {decision.reason}", partial=True
            )
        work = self.options.work
        lines = [prompt]
        if work.verify:
            lines.append(f"Check command: {work.verify}")
        if work.isolation == "worktree":
            lines.append("Isolation: worktree")
            lines.append(f"<context>\n{ISOLATED}\n</context>")
        if context := "\n".join(filter(None, (self.context, decision.context))):
            lines.append(f"<context>\n{context}\n</context>")
        return "\n\n".join(lines)

    async def _checked(self, ref: RunRef, finished: Finished) -> Finished:
        """Run the check command as the lead's own call: through the chain, into the log."""
        shared, command = self.shared, self.options.work.verify
        call = ToolCall(f"check_{secrets.token_hex(4)}", "bash", {"command": command})
        dispatcher = Dispatcher(shared.tools, shared.court, shared.approve)
        context = ToolContext(
            ref, self.options.workspace, self.folder / "outputs" / "check", shared.settings.environ
        )
        results = Results()
        await dispatcher.run(context, (call,), {}, results)
        result = results.done[call.id]
        passed = not result.is_error and (result.meta or {}).get("exit_status") == 0
        told = f"check `{command}`"
        shown = "\n".join(result.text.splitlines()[-_SHOWN_LINES:])
        self.listen(Notice(f"{told}: passed", "info") if passed else Notice(f"{told}: FAILED\n{shown}"))
        return replace(finished, verified=passed, check_output=result.text)

    def cut_short(self, error: str = "") -> Finished:
        """Note the end of a session that was stopped from outside, or by an error."""
        further = "" if self.options.passing else f" Go on with: {program()} {self.go_on} {self.id}"
        lead = SubagentResult("lead", "lead", "cancelled", "", partial=True)
        lead, children = self.team.cut_short.pop("lead", lead), self.team.cut_short.values()
        if error:
            lead = replace(lead, status="error", error=error)
        lead = replace(lead, summary=f"{'Ended by an error' if error else 'Interrupted'}.{further}")
        return self.finish(Finished(self.id, lead, (*self.team.results, *children)))

    def finish(self, finished: Finished) -> Finished:
        """Note how the session ended."""
        self.finished = finished
        write_private(
            self.folder / "result.json", orjson.dumps(finished.as_json(), option=orjson.OPT_INDENT_2)
        )
        return finished


@asynccontextmanager
async def open_session(options: SessionOptions, listen: Listener = ignore) -> AsyncGenerator[Session]:
    """Open a session in a folder, new or resumed, and close it in good order.

    Raises:
        DecurionError: something it needs is broken or missing; nothing has run then.
    """
    session_id = options.resume or new_session_id()
    folder = Path(session_dir(str(options.workspace), session_id))
    catalogue, law = await _read_everything(options)
    async with AsyncExitStack() as stack:
        wire = WireLog()
        model, name = await stack.enter_async_context(open_model(options.model, wire))
        prices = read_prices(options, name)
        own_log = stack.enter_context(app_log(folder, session_id))
        listen = logging_listener(own_log, listen)
        refused = (f"{r.path} is not used: {r.reason}" for r in catalogue.refused)
        for note in (*law.notes, *refused, *unpriced(options, prices, catalogue)):
            listen(Notice(note))
        tracer = stack.enter_context(open_tracer(own_log))
        wire.log = log = stack.enter_context(_open_log(folder, session_id, law, tracer))
        if options.said:
            keep_said(folder, options.said)
        opened = Opened(session_id, folder, law, log, catalogue, model, name, listen, prices)
        shared = assemble(options, opened)
        if tracer:
            shared = replace(shared, tools=with_traceparent(shared.tools, tracer))
        session = Session(session_id, folder, options, Team(shared), law, log, listen)
        async with recorded(session):
            from .isolation import isolated

            session.isolation = await stack.enter_async_context(isolated(session))
            runner = await stack.enter_async_context(
                open_runner(options, session_id, folder / "engine", tracer.environ if tracer else None)
            )
            session.team.shared = replace(shared, workshop=session.isolation, runner=runner)
            yield session


def _open_log(folder: Path, session_id: str, law: LawInForce, tracer: Tracer | None) -> AuditLog:
    return AuditLog.open(
        folder / "audit.jsonl",
        session_id=session_id,
        policy_sha256=law.law.digest,
        enforcement=ENFORCEMENT,
        observer=tracer.see if tracer else None,
    )


async def _read_everything(options: SessionOptions) -> tuple[Catalogue, LawInForce]:
    """Read what a session stands on, and look whether it can be had, before anything is made."""
    catalogue = find_definitions(options)
    law = law_in_force(options, catalogue)
    check_tools(options)
    if options.work.isolation == "worktree" and not options.resume:
        await check_place(options.workspace)
    return catalogue, law


@asynccontextmanager
async def recorded(session: Session) -> AsyncGenerator[None]:
    """Write the session's start and end into the log, and tell the hooks, however it ends."""
    ref = RunRef(session.id, "lead", "lead")
    source = "resume" if session.options.resume else "startup"
    session.log.write(ref, "session_start", source=source, **session.describe())
    reason, failure = "error", ""
    try:
        said = await session.shared.court.tell(SessionStart(ref, source, session.shared.settings.model))
        session.context = said.context
        yield
        reason = session.finished.lead.status if session.finished else "cancelled"
    except anyio.get_cancelled_exc_class():
        reason = "cancelled"
        raise
    except Exception as error:
        failure = str(error) or type(error).__name__
        raise
    finally:
        if session.finished is None:
            session.cut_short(failure)
        # The end is told even when the session is cancelled; a slow hook cannot hold it up for long.
        with anyio.move_on_after(SESSION_END_SECONDS, shield=True):
            await session.shared.court.tell(SessionEnd(ref, reason))
        session.log.write(ref, "session_end", reason=reason)


async def check_place(workspace: Path) -> None:
    """Look whether a folder can give checkouts, before anything is made.

    Raises:
        NotIsolatable: it cannot, with the reason and the remedy.
    """
    from .git.preflight import survey

    await survey(workspace, Path(project_dir(str(workspace))))


class WireLog:
    """Puts what happened on the wire into the log, once there is one."""

    def __init__(self) -> None:
        self.log: AuditLog | None = None

    def __call__(self, event: WireEvent) -> None:
        """Record one event."""
        if self.log:
            self.log.write(event.ref, event.kind, **event.data)


def new_session_id() -> str:
    """Give an id that sorts by time, to the microsecond, and does not collide."""
    now = datetime.now(UTC)
    return f"{now:%Y%m%d-%H%M%S}-{now.microsecond:05x}{secrets.randbelow(16):x}"
