"""What the documents name is there: links, files of the checkout, targets of make."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.unmeasured  # reads files, runs nothing of ours

FOLDERS = ("agents", "hooks", "orchestrator", "tests", "docs", "bench", "scripts", "src", "requirements")


def documents(root: Path) -> list[Path]:
    return [*root.glob("*.md"), *(root / "docs").rglob("*.md")]


def test_every_relative_link_leads_somewhere(checkout: Path) -> None:
    broken = [
        f"{page.name}: {target}"
        for page in documents(checkout)
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8"))
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert broken == []


def test_every_file_that_is_named_exists(checkout: Path) -> None:
    named = re.compile(rf"`((?:{'|'.join(FOLDERS)})/[\w./*-]*)`")
    missing = [
        f"{page.name}: {path}"
        for page in documents(checkout)
        for path in named.findall(page.read_text(encoding="utf-8"))
        if not list(checkout.glob(path.rstrip("/")))
    ]
    assert missing == []


def test_every_target_that_is_named_exists(checkout: Path) -> None:
    targets = set(
        re.findall(r"^([a-z-]+):", (checkout / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    )
    named = {
        target
        for page in documents(checkout)
        for target in re.findall(r"(?:`|\$ |=1 )make ([a-z-]+)", page.read_text(encoding="utf-8"))
    }
    assert named - targets == set()


def test_every_decision_is_listed(checkout: Path) -> None:
    folder = checkout / "docs" / "decisions"
    listed = (folder / "README.md").read_text(encoding="utf-8")
    assert [page.name for page in folder.glob("0*.md") if f"({page.name})" not in listed] == []


def test_every_benchmark_has_a_target_and_make_bench_runs_it(checkout: Path) -> None:
    makefile = (checkout / "Makefile").read_text(encoding="utf-8")
    [all_of_them] = re.findall(r"^bench: (.*?) ##", makefile, re.MULTILINE)
    targets = set(re.findall(r"^(bench-[a-z-]+):", makefile, re.MULTILINE))
    assert set(all_of_them.split()) == targets - {"bench-peers"}, "but for the one that downloads"
    missing = [name for name in re.findall(r"bench/\w+\.py", makefile) if not (checkout / name).is_file()]
    assert missing == []
