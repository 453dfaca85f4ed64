"""Thinking is bound to what stood before it: newer models refuse it once anything there has changed.

The real API signs the whole prefix (system, tools and every message up to the block; cache marks and other thinking
aside) and answers 400 when a block comes back behind another one. Here the digest of the prefix is part of the
signature. A signature without one, which a test made up, is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Any

import orjson

from .caching import blocks_of
from .rules import Invalid

THINKING = frozenset({"thinking", "redacted_thinking"})
SEAL = ".bound."

Json = Mapping[str, Any]


def signed(body: Json, content: Iterable[Json]) -> Iterator[Json]:
    """Give the blocks of a reply to a request, each thinking block bound to what stands before it."""
    digest = None
    for block in content:
        if block["type"] == "thinking":
            digest = digest or _digest(blocks_of(body))
            yield {**block, "signature": f"{block['signature']}{SEAL}{digest.hexdigest()}"}
            continue
        yield block
        if digest:
            digest.update(_plain({"role": "assistant", **block}))


def check(body: Json) -> None:
    """Check that no thinking stands behind something else than it was made behind.

    Raises:
        Invalid: with the message of the real API.
    """
    if not any(SEAL in str(block.get("signature", "")) for block in blocks_of(body)):
        return
    digest = _digest(())
    for block in blocks_of(body):
        seal = str(block.get("signature", "")).partition(SEAL)[2]
        if seal and seal != digest.hexdigest():
            raise Invalid(
                "Invalid `signature` in `thinking` block. The block is bound to a different conversation. "
                'Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
            )
        if block.get("type") not in THINKING:
            digest.update(_plain(block))


def _digest(blocks: Iterable[Json]) -> Any:
    digest = blake2b(digest_size=8)
    for block in blocks:
        if block.get("type") not in THINKING:
            digest.update(_plain(block))
    return digest


def _plain(block: Json) -> bytes:
    return orjson.dumps({k: v for k, v in block.items() if k != "cache_control"}, option=orjson.OPT_SORT_KEYS)
