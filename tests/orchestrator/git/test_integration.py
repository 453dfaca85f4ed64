"""Merging: the matrix, the order, the check, the resolver and what it may not do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from shlex import quote

import pytest

from decurion.orchestrator.git import (
    Conflict,
    Isolation,
    Options,
    Work,
    Worktree,
    conflicts_of_claims,
    matches,
)
from tests.orchestrator.git.repository import Repository, failing_git

pytestmark = pytest.mark.anyio

Edit = Mapping[str, str | None]
MakeWork = Callable[..., Awaitable[Work]]


@pytest.fixture
def work(isolation: Isolation) -> MakeWork:
    async def make(agent_id: str, edit: Edit, **more: tuple[str, ...]) -> Work:
        tree = await isolation.open(agent_id)
        for name, text in edit.items():
            file = tree.root / name
            if text is None:
                file.unlink()
            else:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
        return await isolation.finish(tree, f"work of {agent_id}", **more)

    return make


class Scripted:
    """A resolver that does what it is told, once per attempt, and remembers what it was asked."""

    def __init__(self, *scripts: Edit) -> None:
        self.scripts, self.asked = list(scripts), list[Conflict]()

    async def __call__(self, conflict: Conflict, tree: Worktree) -> None:
        self.asked.append(conflict)
        for name, text in self.scripts.pop(0).items():
            (tree.root / name).write_text(text or "")


async def _merged(isolation: Isolation, path: str) -> str:
    return (await isolation.hub.git.run("cat-file", "blob", f"{isolation.head}:{path}")).stdout.decode()


async def test_the_matrix_names_pairs_and_files_before_anything_is_merged(
    isolation: Isolation, work: MakeWork
) -> None:
    works = [
        await work("edit-1", {"README.md": "one\n"}),
        await work("edit-2", {"README.md": "two\n"}),
        await work("delete", {"src/pkg/util.py": None}),
        await work("modify", {"src/pkg/util.py": "def helper():\n    return 9\n"}),
        await work("add-1", {"new.txt": "a\n"}),
        await work("add-2", {"new.txt": "b\n"}),
        await work("alone", {"tests/test_core.py": "x\n"}),
    ]
    done = await isolation.integrate(works)
    assert done.matrix.pairs == {
        ("add-1", "add-2"): ("new.txt",),
        ("delete", "modify"): ("src/pkg/util.py",),
        ("edit-1", "edit-2"): ("README.md",),
    }
    assert len(done.merged) == 4
    assert sorted(left.files for left in done.left) == [("README.md",), ("new.txt",), ("src/pkg/util.py",)]


async def test_a_rename_and_an_edit_merge_cleanly(
    isolation: Isolation, work: MakeWork, repository: Repository
) -> None:
    lines = repository.read("src/pkg/core.py")
    works = [
        await work("rename", {"src/pkg/core.py": None, "src/pkg/heart.py": lines}),
        await work("edit", {"src/pkg/core.py": lines.replace("line 3\n", "LINE 3\n")}),
    ]
    done = await isolation.integrate(works)
    assert not done.left
    assert "LINE 3\n" in await _merged(isolation, "src/pkg/heart.py")


async def test_a_file_where_the_other_made_a_folder_conflicts(isolation: Isolation, work: MakeWork) -> None:
    works = [await work("file", {"thing": "x\n"}), await work("folder", {"thing/inside.txt": "y\n"})]
    assert len((await isolation.integrate(works)).left) == 1


@pytest.mark.parametrize("third", [{"other.md": "z\n"}, {"src/pkg/util.py": None}], ids=["added", "deleted"])
async def test_names_that_differ_only_by_case_conflict(
    isolation: Isolation, work: MakeWork, third: Edit
) -> None:
    works = [await work("lower", {"notes.md": "x\n"}), await work("upper", {"Notes.md": "y\n"})]
    works.append(await work("third", third))
    done = await isolation.integrate(works)
    assert [left.files for left in done.left] == [("Notes.md", "notes.md")]
    assert len(done.merged) == 2


async def test_dependencies_come_first_and_what_depends_on_a_left_work_is_left(
    isolation: Isolation, work: MakeWork
) -> None:
    works = [
        await work("late", {"late.txt": "x\n"}, depends_on=("early",)),
        await work("early", {"a.txt": "x\n", "b.txt": "x\n"}),
        await work("rival", {"README.md": "rival\n"}),
        await work("loser", {"README.md": "loser\n", "more.txt": "x\n"}),
        await work("orphan", {"orphan.txt": "x\n"}, depends_on=("loser",)),
    ]
    done = await isolation.integrate(works)
    names = [merged.agent_id for merged in done.merged]
    assert names.index("early") < names.index("late")
    assert [left.work.agent_id for left in done.left] == ["loser", "orphan"]
    assert done.left[1].reason == "it depends on loser, which was not merged"


async def test_a_resolution_is_merged_with_both_parents(isolation: Isolation, work: MakeWork) -> None:
    works = [await work("a", {"README.md": "from a\n"}), await work("b", {"README.md": "from b\n"})]
    resolver = Scripted({"README.md": "from a\nfrom b\n"})
    done = await isolation.integrate(
        works, verify="grep -q from README.md || test ! -e nothing", resolve=resolver
    )
    assert not done.left
    assert await _merged(isolation, "README.md") == "from a\nfrom b\n"
    parents = await isolation.hub.git.line("rev-list", "--parents", "-1", done.head)
    assert parents.split()[2] in {w.commit for w in works}
    brief = resolver.asked[0].brief
    assert "Files to mend: README.md" in brief
    assert "work of a" in brief
    assert "work of b" in brief


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (
            {"README.md": "<<<<<<< ours\nx\n=======\ny\n>>>>>>> theirs\n"},
            "conflict markers are left in README.md",
        ),
        ({}, "conflict markers are left in README.md"),
        (
            {"README.md": "fine\n", "src/pkg/util.py": "x\n"},
            "files outside the conflict were changed: src/pkg/util.py",
        ),
        ({"README.md": "BROKEN\n"}, "the check fails: README is BROKEN"),
    ],
)
async def test_a_bad_resolution_gets_one_more_attempt_and_is_then_left(
    isolation: Isolation, work: MakeWork, script: Edit, why: str, repository: Repository
) -> None:
    works = [await work("a", {"README.md": "from a\n"}), await work("b", {"README.md": "from b\n"})]
    resolver = Scripted(script, script)
    before = repository.image()
    check = "! grep -q BROKEN README.md || { echo README is BROKEN; exit 1; }"
    done = await isolation.integrate(works, verify=check, resolve=resolver)
    assert not resolver.asked[0].why
    assert why in resolver.asked[1].why
    assert why in resolver.asked[1].brief
    (left,) = done.left
    assert left.files == ("README.md",)
    assert (
        left.command == f"git fetch {quote(str(isolation.hub.path))} {left.work.ref} && git merge FETCH_HEAD"
    )
    assert done.verified is True
    handed = await isolation.hand_back()
    assert handed.left == {left.work.agent_id: f"decurion/s1-{left.work.agent_id}"}
    assert repository.git("show", f"decurion/s1-{left.work.agent_id}:README.md").startswith("from")
    assert repository.work_image() == {name: d for name, d in before.items() if not name.startswith(".git/")}


async def test_a_second_attempt_may_succeed_also_in_files_the_work_claims(
    isolation: Isolation, work: MakeWork
) -> None:
    works = [
        await work("a", {"README.md": "from a\n"}),
        await work("b", {"README.md": "from b\n", "z.txt": "z\n"}, paths=("src/**",)),
    ]
    resolver = Scripted({}, {"README.md": "both\n", "src/pkg/util.py": "claimed\n"})
    done = await isolation.integrate(works, resolve=resolver)
    assert not done.left
    assert await _merged(isolation, "src/pkg/util.py") == "claimed\n"


@pytest.mark.parametrize("mode", ["each", "bisect"])
async def test_a_clean_merge_that_breaks_the_check_is_found_and_mended(
    repository: Repository, state: Path, mode: str
) -> None:
    options = Options(gate_mode="each" if mode == "each" else "bisect")
    isolation = await Isolation.prepare(repository.path, state, "s1", options)
    works: list[Work] = []
    for number in range(5):
        tree = await isolation.open(f"a{number}")
        (tree.root / f"new-{number}.txt").write_text("BAD\n" if number == 3 else "good\n")
        works.append(await isolation.finish(tree, f"add {number}"))
    resolver = Scripted({"new-3.txt": "mended\n"})
    done = await isolation.integrate(works, verify="! grep BAD *.txt", resolve=resolver)
    assert (len(done.merged), done.left, done.verified) == (5, (), True)
    assert [(c.kind, c.work.agent_id) for c in resolver.asked] == [("check", "a3")]
    assert "BAD" in resolver.asked[0].log
    assert await _merged(isolation, "new-3.txt") == "mended\n"
    await isolation.aclose()


async def test_several_red_works_are_left_and_the_rest_is_green(isolation: Isolation, work: MakeWork) -> None:
    works = [await work(f"a{n}", {f"new-{n}.txt": "BAD\n" if n in {1, 3} else "good\n"}) for n in range(5)]
    done = await isolation.integrate(works, verify="! grep -q BAD *.txt")
    assert [left.work.agent_id for left in done.left] == ["a1", "a3"]
    assert (len(done.merged), done.verified) == (3, True)


async def test_a_check_that_is_red_from_the_start_blames_nobody(isolation: Isolation, work: MakeWork) -> None:
    works = [await work("a", {"a.txt": "x\n"}), await work("b", {"b.txt": "x\n"})]
    done = await isolation.integrate(works, verify="false")
    assert (len(done.merged), done.verified) == (2, False)
    assert done.notices == ("`false` fails before any merge, so single works are not held to it.",)


async def test_a_check_that_passes_is_run_once(isolation: Isolation, work: MakeWork, tmp_path: Path) -> None:
    works = [await work(name, {f"{name}.txt": "x\n"}) for name in "abc"]
    done = await isolation.integrate(
        works, verify=f"echo ran >> {quote(str(tmp_path))}/runs; echo all is well"
    )
    assert (done.verified, done.check_output, done.notices) == (True, "all is well\n", ())
    assert (tmp_path / "runs").read_text() == "ran\n"


async def test_a_check_that_never_ends_is_ended(repository: Repository, state: Path) -> None:
    isolation = await Isolation.prepare(repository.path, state, "s1", Options(gate_seconds=0.3))
    tree = await isolation.open("a")
    (tree.root / "slow").write_text("x\n")
    work = await isolation.finish(tree, "slow")
    done = await isolation.integrate([work], verify="if test -e slow; then sleep 60; fi")
    assert "ended after 0 s" in done.left[0].reason
    await isolation.aclose()


async def test_merging_again_after_a_crash_repeats_nothing(
    repository: Repository, state: Path, isolation: Isolation, work: MakeWork
) -> None:
    works = [await work("a", {"a.txt": "x\n"}), await work("b", {"b.txt": "x\n"})]
    first = await isolation.integrate(works[:1])
    again = await isolation.integrate(works)
    assert [w.agent_id for w in again.merged] == ["a", "b"]
    assert await isolation.hub.git.succeeds("merge-base", "--is-ancestor", first.head, again.head)
    assert (await isolation.integrate(works)).head == again.head


async def test_a_resolution_is_remembered(isolation: Isolation, work: MakeWork) -> None:
    """The same conflict on another base needs nobody a second time."""
    a = await work("a", {"README.md": "from a\n"})
    b = await work("b", {"README.md": "from b\n"})
    start = isolation.head
    await isolation.integrate([a, b], resolve=Scripted({"README.md": "both\n"}))
    await isolation.hub.write(start, "merged")
    isolation.head = start
    other = await work("other", {"other.txt": "x\n"})
    nobody = Scripted()
    done = await isolation.integrate([other, a, b], resolve=nobody)
    assert (done.left, nobody.asked) == ((), [])


async def test_work_that_starts_after_a_merge_sees_it(isolation: Isolation, work: MakeWork) -> None:
    await isolation.integrate([await work("first", {"first.txt": "x\n"})])
    tree = await isolation.open("second")
    assert (tree.root / "first.txt").exists()


def test_overlapping_claims_are_seen_before_anything_runs() -> None:
    files = ("src/a.py", "src/b.py", "docs/x.md")
    claims = {
        "one": ("src/*.py",),
        "two": ("src/b.py",),
        "three": ("docs/",),
        "four": ("docs/new/**",),
        "none": (),
    }
    found = conflicts_of_claims(claims, files)
    assert [(one, other) for one, other, _ in found] == [("one", "two"), ("three", "four")]
    assert found[0][2] == ("src/b.py",)


@pytest.mark.parametrize(
    ("path", "pattern", "expected"),
    [
        ("src/a.py", "src", True),
        ("src/a.py", "src/", True),
        ("src/a.py", "src/**", True),
        ("src/a.py", "src/**/*.py", True),
        ("src/deep/a.py", "src/**/*.py", True),
        ("srcx/a.py", "src", False),
        ("src/a.py", "*.md", False),
    ],
)
def test_patterns_of_paths(path: str, pattern: str, expected: bool) -> None:
    assert matches(path, [pattern]) is expected


async def test_merges_that_were_computed_ahead_are_not_computed_again(
    isolation: Isolation, work: MakeWork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    works = [await work(name, {f"{name}.txt": f"{name}\n", "README.md": f"# {name}\n"}) for name in "abc"]
    await isolation.rehearse(works)
    assert (isolation.head, await isolation.hub.refs("merged")) == (isolation.base, {})
    monkeypatch.setenv("PATH", failing_git(tmp_path / "bin", "merge-tree", "fatal: computed again"))
    done = await isolation.integrate(works)
    assert ([w.agent_id for w in done.merged], len(done.left), len(done.matrix.pairs)) == (["a"], 2, 3)
