"""The prompt cache, simulated: what was sent before up to a breakpoint is read, what is new up to one is written.

A token is four bytes here. As in the real one a prefix counts only byte for byte (the marks themselves aside), a
breakpoint looks back at most `LOOKBACK` blocks for an entry, and a prefix shorter than the minimum is not cached.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Any

import orjson

BYTES_PER_TOKEN = 4
LOOKBACK = 20

Json = Mapping[str, Any]


class PromptCache:
    """The cache of one server. `minimum` is the shortest prefix, in tokens, that is kept."""

    def __init__(self, minimum: int = 1024) -> None:
        self.minimum = minimum
        self._known: set[tuple[str, bytes]] = set()

    def usage(self, body: Json, output_tokens: int) -> dict[str, int]:
        """Count one request in the four classes, and remember its marked prefixes."""
        digest, total = blake2b(digest_size=16), 0
        prefixes: list[tuple[bytes, int, bool]] = []
        for block in blocks_of(body):
            plain = orjson.dumps({k: v for k, v in block.items() if k != "cache_control"})
            digest.update(plain)
            total += len(plain)
            prefixes.append((digest.digest(), total // BYTES_PER_TOKEN, "cache_control" in block))
        read = self._longest_known(str(body["model"]), prefixes)
        written = max((size for _, size, marked in prefixes if marked and size >= self.minimum), default=0)
        self._known.update(
            (str(body["model"]), key) for key, size, marked in prefixes if marked and size >= self.minimum
        )
        tokens = total // BYTES_PER_TOKEN
        return {
            "input_tokens": tokens - max(read, written),
            "output_tokens": output_tokens,
            "cache_creation_input_tokens": max(0, written - read),
            "cache_read_input_tokens": read,
        }

    def _longest_known(self, model: str, prefixes: list[tuple[bytes, int, bool]]) -> int:
        for place in range(len(prefixes) - 1, -1, -1):
            if not any(marked for _, _, marked in prefixes[place : place + LOOKBACK]):
                continue
            key, size, _ = prefixes[place]
            if (model, key) in self._known:
                return size
        return 0


def blocks_of(body: Json) -> Iterator[Json]:
    """Give all blocks in the order of the cached prefix: tools, system, messages."""
    yield from body.get("tools", ())
    system = body.get("system", ())
    yield from [{"type": "text", "text": system}] if isinstance(system, str) else system
    for message in body["messages"]:
        content = message["content"]
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            yield {"role": message["role"], **block}
