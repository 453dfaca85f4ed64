"""A log is followed while another writes it: whatever the writer does between two steps, no record is missed."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from threading import Thread
from typing import BinaryIO

import pytest

from decurion.orchestrator.audit import follow
from decurion.orchestrator.audit.select import Filter
from tests.hooks.audit.samples import child, open_log, refuse

ALL = [f"t{number}" for number in range(60)]


def see(path: Path, seen: list[str]) -> None:
    """Note which calls were refused, up to the last one, or until a minute went by without anything new."""
    for record in follow.follow_log(path, Filter(decision="refused"), polls=600):
        seen.append(record["tool_use_id"])
        if seen[-1] == ALL[-1]:
            return


@pytest.mark.parametrize("max_bytes", [1, 2000], ids=["one record", "some records"])
def test_rotations_by_a_writer_beside_it_are_followed(session: Path, max_bytes: int) -> None:
    seen: list[str] = []
    reader = Thread(target=see, args=(session, seen))
    reader.start()
    with open_log(session) as log:
        while not seen and reader.is_alive():  # it has not found the end of the log yet
            refuse(log, child(1), "begin", "rm -rf /")
    with open_log(session, max_bytes=max_bytes) as log:
        for name in ALL:
            refuse(log, child(1), name, "rm -rf /")
    reader.join()
    assert [name for name in seen if name != "begin"] == ALL
    assert list(session.parent.glob("audit.0001.jsonl"))


@pytest.mark.parametrize("burst", [1, 3, 6])
def test_rotations_before_and_after_a_look_at_the_parts_are_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, burst: int
) -> None:
    """Some records just before each look and just after each listing: parts end and begin at the worst of moments."""
    path, names, seen = tmp_path / "audit.jsonl", iter(ALL), list[str]()
    look, listing = follow.next_part, follow.rotated_parts

    def write() -> None:
        for name in islice(names, burst):
            refuse(log, child(1), name, "rm -rf /")

    def write_and_look(path: Path, descriptor: int) -> BinaryIO | None:
        write()
        return look(path, descriptor)

    def list_and_write(path: str) -> list[str]:
        parts = listing(path)
        write()
        return parts

    monkeypatch.setattr(follow, "next_part", write_and_look)
    monkeypatch.setattr(follow, "rotated_parts", list_and_write)
    with open_log(path, max_bytes=2000) as log:
        refuse(log, child(1), "begin", "rm -rf /")
        see(path, seen)
    assert seen == ALL
