"""Context that lasts: single results bounded, and a history made smaller before it fills the window.

One keeper serves the lead and all subagents. Before each request it looks at how full the window is. Near the end old
large tool results are cleared; if that is not enough, a summary takes the place of what came before, and the task, the
newest turns, the todo list and open tasks stay. The API writes it where it offers to, a signed block that goes back
unchanged; elsewhere the model is asked for it in words. After a refusal for size nothing more is asked: what can be
cleared is cleared, the rest is put down from the history itself, and the request goes out once more.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as dc_replace
from typing import Literal, cast

from decurion.hooks import Decision, PreCompact, RunRef, ToolResult
from decurion.hooks import replace as with_changes
from decurion.hooks.counts import counted

from .blocks import COMPACTION
from .errors import BadRequest, ContextOverflow, ModelError
from .history import BYTES_PER_TOKEN, History
from .model import Block, Model, ModelRequest, Progress, Usage
from .shortening import clear_results, compact, digest

FULL = 0.8  # of the room, where compaction begins
ENOUGH = 0.5  # of the room, below which clearing alone is enough
TAIL = 0.15  # of the room, for the newest turns that a summary leaves as they are
RESULT_SHARE = 0.10  # of the window, for a single result
RESULTS_SHARE = 0.35  # of the window, for all results of one turn together
LEARNED = (
    0.85  # of what was refused: the room of an endpoint whose window turns out smaller than it was thought
)
SUMMARY_TOKENS = 8_000  # what the model thinks before it writes counts as well

ASK_SUMMARY = (
    "The context window is nearly full, so everything before this message is about to be replaced by your summary. "
    "Write it for yourself, to go on without a break: the task and every constraint given, what was done and found "
    "(files with paths, commands with outcomes, decisions and why), what is in progress, and the exact next steps. "
    "Use no tools. Write only the summary."
)


@dataclass(frozen=True, slots=True)
class Compaction:
    """What was done to a history. `usage` is that of the summary, to be counted like any reply's."""

    how: Literal["cleared", "api", "summary", "digest"]
    """Old results cleared; summed up by the API, by the model, or from the history itself."""
    before: int
    after: int
    """Tokens, about."""
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
        self.window = window
        self._ask = ask
        self.smallest_window = smallest_window
        self.count = count
        self._learned: dict[str, int] = {}
        self._not_offered: set[str] = set()  # models that the API does not sum up for

    def room(self, request: ModelRequest) -> int:
        """Tokens that a history may take, so that a reply still fits."""
        window = self.window(request.model)
        room = max(window // 2, window - request.max_tokens - window // 50)
        return min(room, self._learned.get(request.model, room))

    async def before_request(
        self, request: ModelRequest, *, keep: str = "", forced: bool = False
    ) -> Compaction | None:
        """Make the history smaller if it needs to be; None if it does not.

        `keep` is what must survive in words: the todo list and the open tasks. `forced` follows a refusal for size.

        Raises:
            ContextOverflow: it was refused, and nothing can be taken out of it any more, or a hook forbids it.
            ModelError: whoever is to sum up cannot be asked; the request itself would meet the same.
            ValueError: calls are open.
        """
        history = cast("History", request.messages)
        if not forced:
            await self._counted(request, history)
        before = history.tokens
        if forced:
            self.learn(request.model, before)
        room = self.room(request)
        if not forced and before < FULL * room:
            return None
        if history.open_calls:
            raise ValueError("compaction never comes between a call and its result")
        if not await self._allowed(request.ref):
            if forced:
                raise ContextOverflow("The history is too long, and a hook forbids to compact it.")
            return None
        if forced:
            done = self._cut(request, history, keep)
        else:
            done = await self._compacted(request, history, keep)
        if forced and history.tokens >= before:
            raise ContextOverflow("The history is too long, and there is nothing left to take out of it.")
        return dc_replace(done, before=before, after=history.tokens)

    def learn(self, model: str, tokens: int) -> None:
        """Take note that a history of so many tokens does not fit, whatever the tables say of the model's window."""
        self._learned[model] = int(tokens * LEARNED)

    async def _counted(self, request: ModelRequest, history: History) -> None:
        """Have a history counted where only an estimate is known and it may matter."""
        if self.count is None or history.is_counted or history.tokens < ENOUGH * self.room(request):
            return
        if tokens := await self.count(request):
            history.counted(tokens)

    async def _compacted(self, request: ModelRequest, history: History, keep: str) -> Compaction:
        """Clear, and where that is not enough, have it summed up: as it was if that still fits, for it is cached."""
        whole = History.restore(history) if history.tokens <= self.room(request) else None
        history.replace(clear_results(history))
        if self._is_enough(request, history):
            return Compaction("cleared", 0, 0)
        spent = Usage()
        for messages in filter(None, (whole, History.restore(history))):
            asked = dc_replace(request, messages=messages, max_tokens=SUMMARY_TOKENS, tool_choice="none")
            how, summary, usage = await self._summed_up(asked)
            spent += usage
            if summary:
                return self._shortened(request, history, keep, Compaction(how, 0, 0, spent), summary)
        return self._shortened(request, history, keep, Compaction("digest", 0, 0, spent), digest(history))

    async def _summed_up(self, request: ModelRequest) -> tuple[Literal["api", "summary"], str | Block, Usage]:
        block, spent = await self._block(request)
        if block:
            return "api", block, spent
        text, usage = await self._summary(request)
        return "summary", text, spent + usage

    def _cut(self, request: ModelRequest, history: History, keep: str) -> Compaction:
        """Make smaller what was refused, without asking anybody."""
        history.replace(clear_results(history))
        if self._is_enough(request, history):
            return Compaction("cleared", 0, 0)
        return self._shortened(request, history, keep, Compaction("digest", 0, 0), digest(history))

    def _is_enough(self, request: ModelRequest, history: History) -> bool:
        return history.tokens < ENOUGH * self.room(request)

    def _shortened(
        self, request: ModelRequest, history: History, keep: str, done: Compaction, summary: str | Block
    ) -> Compaction:
        history.replace(compact(history, summary, keep, int(TAIL * self.room(request) * BYTES_PER_TOKEN)))
        return dc_replace(done, model=request.model)

    async def _block(self, request: ModelRequest) -> tuple[Block | None, Usage]:
        """Let the API sum up. None where it does not offer that, which is asked once, or could not."""
        if request.model in self._not_offered:
            return None, Usage()
        try:
            reply = await self._model.complete(dc_replace(request, compact=True), _unseen)
        except BadRequest:
            self._not_offered.add(request.model)
            return None, Usage()
        except ModelError:
            return None, Usage()
        found = [block for block in reply.content if block["type"] == COMPACTION and block.get("content")]
        if reply.content and not found:  # it took no notice, and answered as ever
            self._not_offered.add(request.model)
        return (found[0] if found else None), reply.usage

    async def _summary(self, request: ModelRequest) -> tuple[str, Usage]:
        """Let the model sum up. Nothing where the API refuses that: a digest of the history then has to do."""
        cast("History", request.messages).add_user(ASK_SUMMARY)
        try:
            reply = await self._model.complete(request, _unseen)
        except (BadRequest, ContextOverflow):
            return "", Usage()
        return reply.text.strip(), reply.usage

    async def _allowed(self, ref: RunRef) -> bool:
        return self._ask is None or not (await self._ask(PreCompact(ref))).blocks

    def bounded(self, results: Sequence[ToolResult]) -> list[ToolResult]:
        """Cut results so that one takes a fixed share of the window at most, and all of a turn together another."""
        chars = int(self.smallest_window * BYTES_PER_TOKEN)
        single, together = int(chars * RESULT_SHARE), int(chars * RESULTS_SHARE)
        sizes = [min(len(result.text), single) for result in results]
        limit = min(single, fair_share(sizes, together))
        return [bounded(result, limit) for result in results]


def _unseen(_progress: Progress) -> None:
    """Show nothing of a summary that is being written."""


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
    note = f"\n[… {counted(len(text) - head - tail, 'character')} left out: too long for the context window; {hint} …]\n"
    return text[:head] + note + (text[-tail:] if tail else "")
