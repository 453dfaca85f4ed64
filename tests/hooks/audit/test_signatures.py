"""Signed checkpoints prove a log to whoever holds the public key."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from decurion.hooks import AuditError
from decurion.hooks.audit import generate, key_id, records, state_dir, verify

from .samples import write_session


@pytest.fixture
def public_key() -> str:
    return generate(state_dir())[0]


def test_keys_are_owner_only_and_never_overwritten(public_key: str) -> None:
    private = Path(public_key.removesuffix(".pub"))
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    before = private.read_bytes()
    with pytest.raises(AuditError, match="never overwritten"):
        generate(state_dir())
    assert private.read_bytes() == before


def test_a_session_is_signed_to_its_end(public_key: str, tmp_path: Path) -> None:
    path = write_session(tmp_path / "audit.jsonl", agents=3, calls=10, checkpoint_every=20)
    signed = [record for record in records(str(path)) if record["event"] == "checkpoint"]
    assert len(signed) >= 4
    assert signed[-1]["final"] is True
    raw = bytes.fromhex(Path(public_key).read_text(encoding="ascii"))
    assert signed[0]["key_id"] == key_id(raw)
    for key in (None, public_key, raw.hex()):
        report = verify(str(path), public_key=key)
        assert (report.ok, report.signed_to, report.state) == (True, report.last_seq, "sealed")


def test_without_a_key_nothing_is_signed_and_a_demand_for_it_fails(tmp_path: Path) -> None:
    path = write_session(tmp_path / "audit.jsonl")
    assert verify(str(path)).signed_to == 0
    report = verify(str(path), public_key="ab" * 32)
    assert [problem.kind for problem in report.problems] == ["signature"]


def test_a_false_signature_is_named(public_key: str, tmp_path: Path) -> None:
    from .test_verification import rehash

    path = write_session(tmp_path / "audit.jsonl", end=True)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[-1] = rehash(lines[-1], signature="00" * 64)
    path.write_bytes(b"".join(lines))
    report = verify(str(path), public_key=public_key)
    assert "signature" in [problem.kind for problem in report.problems]


def test_a_log_forged_from_end_to_end_is_not_signed(public_key: str, tmp_path: Path) -> None:
    """Who rewrites the log and all its hashes, and leaves the signatures, is found out."""
    from .test_verification import rehash

    path = write_session(tmp_path / "audit.jsonl")
    prev, made = "0" * 64, list[bytes]()
    for line in path.read_bytes().splitlines(keepends=True):
        made.append(rehash(line, prev=prev))
        if len(made) == 3:
            made[-1] = rehash(made[-1], reason="forged")
        prev = json.loads(made[-1])["hash"]
    path.write_bytes(b"".join(made))
    path.with_name("audit.head").unlink()
    assert [problem.kind for problem in verify(str(path)).problems] == ["signature"]
    assert not verify(str(path), public_key=public_key).ok


def test_a_strangers_signature_is_a_note(
    tmp_path: Path, public_key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_session(tmp_path / "audit.jsonl")
    monkeypatch.setenv("DECURION_STATE_DIR", str(tmp_path / "elsewhere"))
    report = verify(str(path))
    assert report.ok
    assert "is not at hand" in report.notes[0]


def test_what_is_no_key_is_refused(tmp_path: Path) -> None:
    path = write_session(tmp_path / "audit.jsonl")
    with pytest.raises(AuditError, match="not a public key"):
        verify(str(path), public_key="nonsense")
