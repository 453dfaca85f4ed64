"""Which requests the real API refuses, and with which words.

The rules are those of the public documentation and of the refusals quoted in public reports: the first message is the
user's; each `tool_use` has its `tool_result` at the head of the very next user message; no result without its call, no
id twice; no blank text; a text is never empty; every string encodes as UTF-8; at most four cache breakpoints; no
sampling parameters since version 2026-10-21; no prefill on newer models.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

REFUSED_FIELDS = ("temperature", "top_p", "top_k")
KNOWN_FIELDS = frozenset(
    {
        "model",
        "messages",
        "max_tokens",
        "system",
        "tools",
        "tool_choice",
        "stream",
        "stop_sequences",
        "metadata",
        "thinking",
        "output_config",
        "service_tier",
        "cache_control",
        "diagnostics",
        "container",
        "context_management",
        "inference_geo",
        "speed",
    }
)
MAX_BREAKPOINTS = 4
USER_BLOCKS = frozenset({"text", "image", "document", "tool_result", "search_result", "compaction"})
USERS_OWN = USER_BLOCKS - {"text", "compaction"}  # anything else may come from a model, and so go back to it

Json = Mapping[str, Any]


class Invalid(Exception):
    """Raised when the real API would answer 400; the text is its message."""


def check(body: Json, betas: frozenset[str] = frozenset()) -> None:
    """Check one body of `POST /v1/messages`; `betas` are further fields that are taken.

    Raises:
        Invalid: with the message of the real API, the field first.
    """
    for name in ("model", "messages", "max_tokens"):
        if name not in body:
            raise Invalid(f"{name}: Field required")
    _check_fields(body, KNOWN_FIELDS | betas)
    _check_tools(body.get("tools", ()))
    _check_system(body.get("system", ""))
    _check_messages(body["messages"])
    marks = sum("cache_control" in block for block in _cacheable(body))
    if marks > MAX_BREAKPOINTS:
        raise Invalid(
            f"A maximum of {MAX_BREAKPOINTS} blocks with cache_control may be provided. Found {marks}."
        )


def _check_fields(body: Json, known: frozenset[str]) -> None:
    for name in body:
        if name in REFUSED_FIELDS:
            raise Invalid(f"{name}: This parameter is not supported.")
        if name not in known:
            raise Invalid(f"{name}: Extra inputs are not permitted")
    if not isinstance(body["model"], str) or not body["model"]:
        raise Invalid("model: String should have at least 1 character")
    if not isinstance(body["max_tokens"], int) or body["max_tokens"] < 0:
        raise Invalid("max_tokens: Input should be greater than or equal to 0")
    if body["max_tokens"] == 0 and body.get("stream"):
        raise Invalid("max_tokens: 0 is only supported without streaming")


def _check_tools(tools: Sequence[Json]) -> None:
    seen: set[str] = set()
    for index, tool in enumerate(tools):
        name = tool.get("name", "")
        if name in seen:
            raise Invalid("tools: Tool names must be unique.")
        seen.add(name)
        schema: Any = tool.get("input_schema", {})
        if schema.get("type") != "object":
            raise Invalid(f"tools.{index}.custom.input_schema.type: Input should be 'object'")


def _check_system(system: str | Sequence[Json]) -> None:
    if isinstance(system, str):
        return
    for index, block in enumerate(system):
        _check_text(block, f"system.{index}")


def _check_messages(messages: Sequence[Json]) -> None:
    if not messages:
        raise Invalid("messages: at least one message is required")
    if messages[0].get("role") != "user" and not _is_summary(messages[0]):
        raise Invalid('messages: first message must use the "user" role')
    if messages[-1]["role"] == "assistant":
        raise Invalid(
            "This model does not support assistant message prefill. The conversation must end with a user message."
        )
    seen: set[str] = set()
    open_calls: list[str] = []
    for index, message in enumerate(messages):
        role = message.get("role")
        if role not in {"user", "assistant"}:
            raise Invalid(f"messages.{index}.role: Input should be 'user' or 'assistant'")
        blocks = _blocks(message, index)
        results = _leading_results(blocks, index)
        _check_pairing(open_calls, results, index)
        open_calls = [] if role == "user" else list(_calls(blocks, index, seen))


def _is_summary(message: Json) -> bool:
    """Whether a message begins with a summary that the API made, which may stand first as its own."""
    content: Any = message.get("content")
    return not isinstance(content, str) and bool(content) and content[0].get("type") == "compaction"


def _blocks(message: Json, index: int) -> Sequence[Json]:
    content: Any = message.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not isinstance(content, list) or not content:
        raise Invalid(f"messages.{index}: all messages must have non-empty content")
    blocks = cast("list[Json]", content)
    for place, block in enumerate(blocks):
        where, kind = f"messages.{index}.content.{place}", block.get("type")
        if (kind not in USER_BLOCKS) if message["role"] == "user" else (not kind or kind in USERS_OWN):
            raise Invalid(
                f"{where}: Input tag {kind!r} found using 'type' does not match any of the expected tags"
            )
        _check_block(block, where)
    return blocks


def _check_block(block: Json, where: str) -> None:
    if block["type"] == "text":
        _check_text(block, where)
    elif block["type"] == "tool_use" and not isinstance(block.get("input"), dict):
        raise Invalid(f"{where}.tool_use.input: Input should be a valid dictionary")
    elif block["type"] == "thinking" and not block.get("signature"):
        raise Invalid(f"{where}.thinking.signature: Field required")
    elif block["type"] == "tool_result" and isinstance(block.get("content"), list):
        for place, part in enumerate(block["content"]):
            if part.get("type") == "text":
                _check_text(part, f"{where}.tool_result.content.{place}")


def _check_text(block: Json, where: str) -> None:
    text = block.get("text")
    if not isinstance(text, str):
        raise Invalid(f"{where}.text.text: Input should be a valid string")
    if not text:
        raise Invalid(f"{where}.text: text content blocks must be non-empty")
    if not text.strip():
        raise Invalid(f"{where}.text: text content blocks must contain non-whitespace text")


def _leading_results(blocks: Sequence[Json], index: int) -> list[str]:
    """The ids of the results of a message; all must stand before anything else."""
    ids: list[str] = []
    for place, block in enumerate(blocks):
        if block["type"] != "tool_result":
            continue
        if place != len(ids):
            raise Invalid(
                f"messages.{index}.content.{place}: `tool_result` blocks must come first in the message, before other content"
            )
        ids.append(block["tool_use_id"])
    if len(ids) != len(set(ids)):
        raise Invalid(
            f"messages.{index}: each tool_use must have a single result. Found multiple `tool_result` blocks with the same id"
        )
    return ids


def _check_pairing(open_calls: Sequence[str], results: Sequence[str], index: int) -> None:
    if missing := [name for name in open_calls if name not in results]:
        raise Invalid(
            f"messages.{index - 1}: `tool_use` ids were found without `tool_result` blocks immediately after: {', '.join(missing)}. "
            "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
        )
    if strange := [name for name in results if name not in open_calls]:
        raise Invalid(
            f"messages.{index}.content: unexpected `tool_use_id` found in `tool_result` blocks: {', '.join(strange)}. "
            "Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
        )


def _calls(blocks: Sequence[Json], index: int, seen: set[str]) -> Iterator[str]:
    for block in blocks:
        if block["type"] != "tool_use":
            continue
        if block["id"] in seen:
            raise Invalid(f"messages.{index}.content: `tool_use` ids must be unique")
        seen.add(block["id"])
        yield block["id"]


def _cacheable(body: Json) -> Iterator[Json]:
    yield from body.get("tools", ())
    system = body.get("system", "")
    if not isinstance(system, str):
        yield from system
    for message in body["messages"]:
        if not isinstance(message["content"], str):
            yield from message["content"]
