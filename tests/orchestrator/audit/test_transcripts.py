"""`decurion audit transcript`: what an agent was told and said, beside its log."""

from __future__ import annotations

from pathlib import Path

import orjson

from .commands import Run, rows


def test_a_transcript_is_read_beside_the_log(audit: Run, session: Path) -> None:
    folder = session.parent / "subagents"
    folder.mkdir()
    told = {
        "type": "user",
        "turn": 0,
        "timestamp": "2026-11-30T12:00:00.000",
        "message": {"content": "Do\x1b it"},
    }
    blocks = [
        {"type": "text", "text": "Well."},
        {"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "ls"}},
    ]
    said = {
        "type": "assistant",
        "turn": 1,
        "timestamp": "2026-11-30T12:00:01.000",
        "message": {"content": blocks},
    }
    (folder / "agent-1.jsonl").write_bytes(b"\n".join(map(orjson.dumps, (told, said))) + b'\n{"torn')
    out = audit("transcript", "agent-1")[1]
    assert "Do\\x1b it" in out
    assert "→ bash ls  [t1]" in out
    assert "Do" not in audit("transcript", "agent-1", "--turn", "1")[1]
    assert rows(audit("transcript", "agent-1", "--json", "--turn", "1")[1]) == [said]
    (folder / "agent-2.jsonl").write_bytes(
        orjson.dumps({**told, "message": {"content": "it says ghp_" + "a1B2" * 9}})
    )
    for shown in (audit("transcript", "agent-2")[1], audit("transcript", "agent-2", "--json")[1]):
        assert "it says [redacted:github-token]" in shown
    status, _, err = audit("transcript", "nobody")
    assert (status, "there are: agent-1, agent-2" in err) == (2, True)
