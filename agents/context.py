"""Context that lasts: single results bounded, and a history made smaller before it fills the window.

One keeper serves the lead and all subagents. Before each request it looks at how full the window is. Near the end old
large tool results are cleared; if that is not enough, the model itself writes a summary of what came before, and the
task, the newest turns, the todo list and open tasks stay. After a refusal for size nothing more is asked: what can be
cleared is cleared, the rest is put down from the history itself, and the request goes out once more.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as dc_replace
from typing import Any, Literal, cast

from decurion.hooks import Decision, PreCompact, RunRef, ToolResult
from decurion.hooks import replace as with_changes

from .errors import ContextOverflow, ModelError
from .history import BYTES_PER_TOKEN, History
from .model import Block, Message, Model, ModelRequest, Usage

FULL = 0.8  # of the room, where compaction begins
ENOUGH = 0.5  # of the room, below which clearing alone is enough
TAIL = 0.15  # of the room, for the newest turns that a summary leaves as they are
RESULT_SHARE = 0.10  # of the window, for a single result
RESULTS_SHARE = 0.35  # of the window, for all results of one turn together
LEARNED = (
    0.85  # of what was refused: the room of an endpoint whose window turns out smaller than it was thought
)
KEPT_RESULTS = 3  # newest user messages whose results are not cleared
CLEARED_FROM = 1_500  # bytes; smaller results cost little and are often what matters
SUMMARY_TOKENS = 4_000
DIGEST_CHARS = 6_000

CLEARED = "[This result was cleared to make room ({size:,} characters). Run the tool again if you need it.]"
ASK_SUMMARY = (
    "The context window is nearly full, so everything before this message is about to be replaced by your summary. "
    "Write it for yourself, to go on without a break: the task and every constraint given, what was done and found "
    "(files with paths, commands with outcomes, decisions and why), what is in progress, and the exact next steps. "
    "Use no tools. Write only the summary."
)
SUMMARY = "<summary>\nWhat happened so far, in short; the messages themselves are gone.\n\n{text}\n</summary>"
STATE = "<state>\n{text}\n</state>"
GO_ON = "Go on with the task from here."


@dataclass(frozen=True, slots=True)
class Compaction:
    """What was done to a history. `usage` is that of the summary, to be counted like any reply's."""

    how: Literal["cleared", "summary", "digest"]
    before: int
    after: int
    """Tokens, about."""
    messages: tuple[Message, ...]
    """The history as it is now, for the transcript."""
    usage: Usage = field(default_factory=Usage)
    model: str = ""


class ContextKeeper:
    """Keeps histories inside the window. Shared by all agents of a session; holds no history itself."""

    def __init__(
        self,
        model: Model,
        window: Callable[[str], int],
        ask: Callable[[PreCompact], Awaitable[Decision]] | None = None,
        *,
        smallest_window: int = 200_000,
        count: Callable[[ModelRequest], Awaitable[int | None]] | None = None,
    ) -> None:
        """Make a keeper.

        `window` gives the tokens that fit a model's window, `ask` puts `PreCompact` to the hook chain (a gate may
        refuse), `smallest_window` is the smallest of the models in use: it bounds single results. `count` lets the
        API count a history that it never answered, as after a resume; without it, or where it gives None, bytes tell.
        """
        self._model = model
        self._window = window
        self._ask = ask
        self._smallest = smallest_window
        self._count = count
        self._learned: dict[str, int] = {}

    def room(self, request: ModelRequest) -> int:
        """Tokens that a history may take, so that a reply still fits."""
        window = self._window(request.model)
        room = max(window // 2, window - request.max_tokens - window // 50)
        return min(room, self._learned.get(request.model, room))

    async def before_request(
        self, request: ModelRequest, *, keep: str = "", forced: bool = False
    ) -> Compaction | None:
        """Make the history smaller if it needs to be; None if it does not.

        `keep` is what must survive in words: the todo list and the open tasks. `forced` follows a refusal for size.

        Raises:
            ContextOverflow: it was refused, and nothing can be taken out of it any more, or a hook forbids it.
            ValueError: calls are open.
        """
        history = cast("History", request.messages)
        if not forced:
            await self._counted(request, history)
        before = history.tokens
        if forced:
            self._learned[request.model] = int(before * LEARNED)
        room = self.room(request)
        if not forced and before < FULL * room:
            return None
        if history.open_calls:
            raise ValueError("compaction never comes between a call and its result")
        if not await self._allowed(request.ref):
            if forced:
                raise ContextOverflow("The history is too long, and a hook forbids to compact it.")
            return None
        done = await self._compacted(request, history, room, keep, forced=forced)
        if forced and history.tokens >= before:
            raise ContextOverflow("The history is too long, and there is nothing left to take out of it.")
        return dc_replace(done, before=before, after=history.tokens, messages=tuple(history))

    async def _counted(self, request: ModelRequest, history: History) -> None:
        """Have a history counted where only an estimate is known and it may matter."""
        if self._count is None or history.is_counted or history.tokens < ENOUGH * self.room(request):
            return
        if tokens := await self._count(request):
            history.counted(tokens)

    async def _compacted(
        self, request: ModelRequest, history: History, room: int, keep: str, *, forced: bool
    ) -> Compaction:
        cleared = clear_results(history)
        history.replace(cleared)
        if history.tokens < ENOUGH * room:
            return Compaction("cleared", 0, 0, ())
        tail = int(TAIL * room * BYTES_PER_TOKEN)
        summary, usage = (None, Usage()) if forced else await self._summary(request, history)
        text = summary or digest(cleared)
        history.replace(compact(cleared, text, keep, tail))
        return Compaction("summary" if summary else "digest", 0, 0, (), usage, request.model)

    async def _summary(self, request: ModelRequest, history: History) -> tuple[str | None, Usage]:
        """Let the model sum up. None where it cannot: a digest of the history then has to do."""
        asked = History.restore(history)
        asked.add_user(ASK_SUMMARY)
        wanted = dc_replace(request, messages=asked, max_tokens=SUMMARY_TOKENS, tool_choice="none")
        try:
            reply = await self._model.complete(wanted, lambda _progress: None)
        except ModelError:
            return None, Usage()
        return reply.text.strip() or None, reply.usage

    async def _allowed(self, ref: RunRef) -> bool:
        return self._ask is None or not (await self._ask(PreCompact(ref))).blocks

    def bounded(self, results: Sequence[ToolResult]) -> list[ToolResult]:
        """Cut results so that one takes a fixed share of the window at most, and all of a turn together another."""
        chars = int(self._smallest * BYTES_PER_TOKEN)
        single, together = int(chars * RESULT_SHARE), int(chars * RESULTS_SHARE)
        sizes = [min(len(result.text), single) for result in results]
        limit = min(single, fair_share(sizes, together))
        return [bounded(result, limit) for result in results]


def fair_share(sizes: Sequence[int], total: int) -> int:
    """The largest size at which all, each cut to it, fit in `total`: small ones stay whole, large ones share the rest."""
    left, count = total, len(sizes)
    for size in sorted(sizes):
        if size * count > left:
            return left // count
        left -= size
        count -= 1
    return max(sizes, default=total)


def bounded(result: ToolResult, limit: int) -> ToolResult:
    """Cut the text of a result to `limit` characters, head and tail kept, with a note of what was left out."""
    if len(result.text) <= limit:
        return result
    where = (result.meta or {}).get("full_output")
    hint = f"the whole is in {where}" if where else "ask for less at once"
    if isinstance(result.content, str):
        return with_changes(result, content=_cut(result.content, limit, hint))
    share = limit // max(1, sum(block.get("type") == "text" for block in result.content))
    blocks = tuple(
        {**block, "text": _cut(block["text"], share, hint)} if block.get("type") == "text" else block
        for block in result.content
    )
    return with_changes(result, content=blocks)


def _cut(text: str, limit: int, hint: str) -> str:
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 3
    note = (
        f"\n[… {len(text) - head - tail:,} characters left out: too long for the context window; {hint} …]\n"
    )
    return text[:head] + note + (text[-tail:] if tail else "")


# ---- pure functions on messages ----


def clear_results(messages: Sequence[Message]) -> list[Message]:
    """Replace old large tool results by a note of their size; the newest turns, and every call, stay."""
    users = [place for place, message in enumerate(messages) if message["role"] == "user"]
    kept = set(users[-KEPT_RESULTS:])
    return [message if place in kept else _cleared(message) for place, message in enumerate(messages)]


def _cleared(message: Message) -> Message:
    if message["role"] == "assistant":
        return message
    return {**message, "content": [_cleared_block(block) for block in message["content"]]}


def _cleared_block(block: Block) -> Block:
    if block["type"] != "tool_result":
        return block
    size = len(str(block.get("content", "")))
    return block if size < CLEARED_FROM else {**block, "content": CLEARED.format(size=size)}


def compact(messages: Sequence[Message], summary: str, keep: str = "", tail_bytes: int = 0) -> list[Message]:
    """Put a summary in place of all but the task, the last request of the user and the newest turns.

    Cuts only before a reply, so no call is parted from its result. The same input gives the same output.
    """
    start = _tail_start(messages, tail_bytes)
    said = [text for message in messages[:start] if message["role"] == "user" for text in _said(message)]
    task, last = said[0] if said else "", said[-1] if len(said) > 1 else ""
    parts = [_text(task), _text(SUMMARY.format(text=summary))]
    if keep.strip():
        parts.append(_text(STATE.format(text=keep)))
    parts.append(_text(last or GO_ON))
    head: Message = {"role": "user", "content": [part for part in parts if part["text"].strip()]}
    return [head, *messages[start:]]


def _tail_start(messages: Sequence[Message], tail_bytes: int) -> int:
    """Where the newest turns begin that fit in so many bytes; the end if not even one does."""
    start, size = len(messages), 0
    for place in range(len(messages) - 1, 0, -1):
        size += len(str(messages[place]["content"]))
        if size > tail_bytes:
            break
        if messages[place]["role"] == "assistant":
            start = place
    return start


def _said(message: Message) -> list[str]:
    """What a person said in a message: reminders, states and summaries of ours left out."""
    ours = ("<reminder>", "<summary>", "<state>", GO_ON)
    return [
        str(block["text"])
        for block in message["content"]
        if block["type"] == "text" and not str(block["text"]).startswith(ours)
    ]


def digest(messages: Sequence[Message]) -> str:
    """Put a history down without a model: the newest words of the agent and what it called, bounded."""
    lines: list[str] = []
    for message in messages:
        for block in message["content"]:
            lines += _digest_line(block)
    text = "\n".join(lines)
    return text if len(text) <= DIGEST_CHARS else f"[…]\n{text[-DIGEST_CHARS:]}"


def _digest_line(block: Block) -> list[str]:
    if block["type"] == "text" and not str(block["text"]).startswith("<"):
        return [_short(block["text"], 400)]
    if block["type"] == "tool_use":
        return [f"- called {block['name']}: {_short(block['input'], 160)}"]
    if block["type"] == "tool_result":
        return [f"  {'failed: ' if block.get('is_error') else ''}{_short(block.get('content', ''), 120)}"]
    return []


def _short(value: Any, limit: int) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _text(text: str) -> Block:
    return {"type": "text", "text": text}
