"""The history of one agent: append-only plain data, and the bytes of it, each encoded once.

What the API demands holds by construction, whatever order things happen in:

- the first message is the user's, and roles alternate (what would follow its own role extends the last message);
- each `tool_use` is answered in the very next user message; results come first, in call order, reminders and texts after;
- no id twice, no result without its call, no blank text, no half of a surrogate pair;
- bytes once sent stay the same: a message only ever grows at its end, so what was cached stays cached.

Encoding costs the same on turn 2,000 as on turn 2: new messages are encoded when they are added, and a request joins
the finished bytes with the two moving marks of the prompt cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import overload

from decurion.hooks import ToolResult

from .blocks import (
    COMPACTION,
    UNMARKABLE,
    encode,
    image_surplus,
    mended,
    mended_result,
    result_block,
    unbound,
    without_images,
    without_thinking,
)
from .model import Block, Message, Reply

INTERRUPTED_NOT_RUN = "Interrupted, not run."
INTERRUPTED_MAYBE = "Interrupted, may have had effect. Look before you repeat it."
INTERRUPTED_UNDONE = (
    "Interrupted. Your checkout is as it was before this call: make it again if you still need it."
)
"""For agents whose files go back to a checkpoint."""

CACHE_MARK = b',"cache_control":{"type":"ephemeral"}'
BYTES_PER_TOKEN = 3.5  # of JSON with code in it: a cautious figure, corrected by each reply


class History(Sequence[Message]):
    """Messages of one agent, oldest first. Make one with `History()`, or from saved messages with `restore`."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._encoded = bytearray()
        self._open: tuple[str, ...] = ()
        self._ids: set[str] = set()
        self._marks: list[
            int
        ] = []  # where a cache mark may stand: before the last brace of each user message
        self.last_reply_id = ""
        """The id of the newest reply, for the API's cache diagnostics."""
        self._counted = 0  # tokens that the API counted up to the newest reply, that included
        self._counted_at = 0  # bytes of text then
        self._text_bytes = 0  # bytes so far, an image taken for what it costs in tokens and not for its size

    @classmethod
    def restore(cls, messages: Iterable[Message], interrupted: str = INTERRUPTED_MAYBE) -> History:
        """Rebuild a history that the API accepts from saved messages, whatever state they were left in.

        Blank texts and half surrogates are mended, strangers among the results dropped, messages of one role joined,
        and each call that was left without a result gets an error result saying `interrupted`. Restoring what was
        restored changes nothing.
        """
        history = cls()
        history.extend(messages, interrupted)
        history.repair(note=interrupted)
        return history

    def extend(self, messages: Iterable[Message], interrupted: str = INTERRUPTED_MAYBE) -> None:
        """Take in saved messages, mended as `restore` does; calls of the last one stay open, for `repair`."""
        for message in messages:
            content = message["content"]
            blocks: list[Block] = (
                [{"type": "text", "text": content}] if isinstance(content, str) else [*content]
            )
            if message["role"] == "assistant":
                self._restore_reply(blocks, interrupted)
            else:
                self._restore_user(blocks, interrupted)

    def replace(self, messages: Iterable[Message]) -> None:
        """Put other messages in place of all there are: the one change that a compaction makes.

        Thinking does not survive it: newer models bind it to what stood before it, and refuse it behind anything else.

        Raises:
            ValueError: calls are open; a compaction never comes between a call and its result.
        """
        if self._open:
            raise ValueError(f"calls are open: {self._open}")
        kept, used = list(map(without_thinking, messages)), self._ids
        self._text_bytes = 0
        self._messages, self._encoded, self._marks, self._ids = [], bytearray(), [], set()
        self.extend(kept)
        self.repair()
        self._ids |= used  # an id that was used once never comes again
        self._counted, self._counted_at = 0, 0

    def unbind(self) -> bool:
        """Take out what the API binds to its surroundings: thinking, a summary of its own. Whether there was any."""
        return self._change(unbound)

    def take_out_images(self) -> bool:
        """Put notes in the place of all images, for nobody says which the API refused. Whether there was any."""
        return self._change(without_images)

    def _change(self, changed: Callable[[Message], Message]) -> bool:
        messages = list(map(changed, self))
        if all(new is old for new, old in zip(messages, self, strict=True)):
            return False
        self.replace(messages)
        return True

    # ---- what the API sees ----

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Message]: ...
    def __getitem__(self, index: int | slice) -> Message | Sequence[Message]:
        return self._messages[index]

    def __len__(self) -> int:
        return len(self._messages)

    @property
    def open_calls(self) -> tuple[str, ...]:
        """The ids of the calls that still need a result, in call order."""
        return self._open

    @property
    def call_ids(self) -> frozenset[str] | set[str]:
        """Every call id so far; a new reply may not use them again."""
        return self._ids

    @property
    def is_compacted(self) -> bool:
        """Whether it begins with a summary that the API made."""
        return bool(self._messages) and self._messages[0]["content"][0]["type"] == COMPACTION

    @property
    def size(self) -> int:
        """Bytes of the history as sent."""
        return len(self._encoded) + 2

    @property
    def tokens(self) -> int:
        """About how many tokens the history takes: what the API counted, and an estimate of what came since."""
        return self._counted + int((self._text_bytes - self._counted_at) / BYTES_PER_TOKEN)

    @property
    def is_counted(self) -> bool:
        """Whether the API ever counted this history, as it is not after a resume or a compaction."""
        return self._counted > 0

    def counted(self, tokens: int) -> None:
        """Take the API's word for the size of the history as it is now."""
        self._counted, self._counted_at = tokens, self._text_bytes

    def encode(self, before: bytes = b"", after: bytes = b"", *, cached: bool = True) -> bytes:
        """Give the JSON array of messages between two texts, in one copy.

        With `cached`, marks of the prompt cache stand on the two newest user messages. The older of the two stood
        marked in the request before, so it is found however many blocks the newest turn added (a mark alone looks back
        20 blocks).

        Raises:
            ValueError: calls are open, or there is no message yet.
        """
        if self._open or not self._messages:
            raise ValueError(
                "the history cannot be sent: " + (f"open calls {self._open}" if self._open else "empty")
            )
        with memoryview(self._encoded) as view:
            parts: list[bytes | memoryview] = [before, b"["]
            start = 0
            for mark in self._marks[-2:] if cached else ():
                parts += [view[start:mark], CACHE_MARK]
                start = mark
            return b"".join([*parts, view[start:], b"]", after])

    # ---- growing ----

    def add_user(self, text: str | Sequence[Block], results: Sequence[ToolResult] = ()) -> Message:
        """Append what a person says; open calls are answered first, with `results` or as interrupted.

        Returns the message (or the part of it that was new) for the transcript.

        Raises:
            ValueError: the text is blank, or a result has no open call.
        """
        said = [{"type": "text", "text": text}] if isinstance(text, str) else list(text)
        blocks = [*self._result_blocks(results), *mended(said)]
        if not blocks:
            raise ValueError("a user message needs some text")
        return self._append("user", blocks)

    def add_reply(self, reply: Reply) -> Message | None:
        """Append a reply; None if nothing in it may stand in a history (blank, or thinking alone).

        Raises:
            ValueError: calls are still open, or there is no user message to reply to.
        """
        message = self.add_content(reply.content)
        self.last_reply_id = reply.id
        if reply.usage.context_tokens:
            self.counted(reply.usage.context_tokens)
        return message

    def add_content(self, content: Sequence[Block]) -> Message | None:
        """As `add_reply`, from blocks. Thinking that is complete is kept unchanged."""
        if self._open or not self._messages:
            raise ValueError("a reply needs a user message with nothing open before it")
        blocks = mended(content)
        if all(block["type"] in UNMARKABLE for block in blocks):
            return None
        calls = tuple(block["id"] for block in blocks if block["type"] == "tool_use")
        if len(set(calls)) != len(calls) or not self._ids.isdisjoint(calls):
            raise ValueError(f"call ids used twice: {calls}")
        message = self._append("assistant", blocks)
        self._open = calls
        self._ids.update(calls)
        return message

    def add_results(self, results: Sequence[ToolResult], reminders: Sequence[str] = ()) -> Message:
        """Append the results of all open calls, in call order whatever order they come in, then reminders.

        A call without a result gets one that says so. Returns the new message for the transcript.

        Raises:
            ValueError: a result has no open call, or there is nothing to add.
        """
        blocks = self._result_blocks(results)
        blocks += mended([{"type": "text", "text": text} for text in reminders])
        if not blocks:
            raise ValueError("there are no results to add")
        return self._append("user", blocks)

    def repair(self, results: Sequence[ToolResult] = (), note: str = INTERRUPTED_MAYBE) -> Message | None:
        """Answer what is still open, with `results` where they are known; None if nothing is."""
        if not self._open:
            return None
        known = {result.call_id for result in results}
        missing = [ToolResult(call, note, is_error=True) for call in self._open if call not in known]
        return self.add_results([*results, *missing])

    # ---- inside ----

    def _result_blocks(self, results: Sequence[ToolResult]) -> list[Block]:
        by_id = {result.call_id: result for result in results}
        if strangers := by_id.keys() - set(self._open):
            raise ValueError(f"results without an open call: {sorted(strangers)}")
        missing = [call for call in self._open if call not in by_id]
        by_id |= {call: ToolResult(call, INTERRUPTED_NOT_RUN, is_error=True) for call in missing}
        blocks = [result_block(by_id[call]) for call in self._open]
        self._open = ()
        return blocks

    def _append(self, role: str, blocks: list[Block]) -> Message:
        blocks, encoded = encode(blocks)
        self._text_bytes += len(encoded) - sum(map(image_surplus, blocks))
        message: Message = {"role": role, "content": blocks}
        if self._messages and self._messages[-1]["role"] == role:
            self._messages[-1] = {"role": role, "content": [*self._messages[-1]["content"], *blocks]}
            self._encoded[-2:] = b"," + encoded + b"]}"
            if role == "user":
                self._marks.pop()
        else:
            self._messages.append(message)
            comma = b"," if self._encoded else b""
            self._encoded += b'%b{"role":"%b","content":[%b]}' % (comma, role.encode(), encoded)
        if role == "user":
            self._marks.append(len(self._encoded) - 3)
        return message

    def _restore_reply(self, blocks: list[Block], interrupted: str) -> None:
        if not self._messages:
            return  # the API wants the user first; a reply to nothing says nothing
        self.repair(note=interrupted)
        fresh = [b for b in blocks if b["type"] != "tool_use" or b["id"] not in self._ids]
        self.add_content(list({b.get("id", n): b for n, b in enumerate(fresh)}.values()))

    def _restore_user(self, blocks: list[Block], interrupted: str) -> None:
        results = {
            b["tool_use_id"]: b
            for b in blocks
            if b["type"] == "tool_result" and b["tool_use_id"] in self._open
        }
        others = mended([block for block in blocks if block["type"] != "tool_result"])
        answers = [
            results.get(call) or result_block(ToolResult(call, interrupted, is_error=True))
            for call in self._open
        ]
        self._open = ()
        if whole := [*map(mended_result, answers), *others]:
            self._append("user", whole)
