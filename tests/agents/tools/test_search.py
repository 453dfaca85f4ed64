"""What `glob` and `grep` find, and what they say of what they did not look at: BUG-53, 54."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from decurion.agents.tools import Limits, ToolContext, glob, grep
from decurion.hooks import ToolError
from tests.agents.tools.kit import context, text

pytestmark = pytest.mark.anyio


def put(root: Path, name: str, data: str = "a needle here\n") -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(data)


@pytest.fixture(params=["git", "plain"])
def ctx(tmp_path: Path, request: pytest.FixtureRequest) -> ToolContext:
    """The tree of BUG-53, once as a repository and once without git."""
    ctx = context(tmp_path)
    if request.param == "git":
        subprocess.run(["git", "init", "-q", str(ctx.workspace)], check=True)
    put(ctx.workspace, ".gitignore", "gen/\n*.log\ndeep/*\n")
    for name in ("gen/a.py", "x.log", ".github/w.yml", ".env", "src/b.py", "deep/c.py", ".git/needle"):
        put(ctx.workspace, name)
    return ctx


def hits(found: str) -> list[str]:
    return [line.partition(":")[0] for line in found.splitlines() if not line.startswith("[")]


# ---- ignored and hidden files (BUG-53)


async def test_hidden_files_are_searched_ignored_ones_are_named(ctx: ToolContext) -> None:
    found = await text(grep, ctx, pattern="needle")
    assert hits(found) == [".env", ".github/w.yml", "src/b.py"]
    assert (
        "[not searched, 3 ignored (.gitignore and the like): deep/c.py, gen, x.log; include_ignored: true"
        in found
    )


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("gen/", ["gen/a.py"]),
        ("gen", ["gen/a.py"]),
        ("deep", ["deep/c.py"]),
        ("x.log", ["x.log"]),
        ("./gen/a.py", ["gen/a.py"]),
    ],
)
async def test_a_named_path_is_searched_in_spite_of_ignore_rules(
    ctx: ToolContext, path: str, expected: list[str]
) -> None:
    assert hits(await text(grep, ctx, pattern="needle", path=path)) == expected
    if "." not in path:
        assert hits(await text(glob, ctx, pattern="*", path=path)) == expected


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (".github/*.yml", [".github/w.yml"]),
        ("gen/*.py", ["gen/a.py"]),
        ("gen/a.py", ["gen/a.py"]),
        ("deep/*", ["deep/c.py"]),
        ("*.log", ["x.log"]),
        ("**/b.py", ["src/b.py"]),
        ("b.py", ["src/b.py"]),
        ("src/**", ["src/b.py"]),
        ("src/", ["src/b.py"]),
        ("src", ["src/b.py"]),
        ("./src/*.py", ["src/b.py"]),
        ("{src,gen}/b.py", ["src/b.py"]),
    ],
)
async def test_a_named_pattern_is_searched_in_spite_of_ignore_rules(
    ctx: ToolContext, pattern: str, expected: list[str]
) -> None:
    assert hits(await text(grep, ctx, pattern="needle", glob=pattern)) == expected
    assert hits(await text(glob, ctx, pattern=pattern)) == expected


async def test_a_name_with_wildcards_in_it_is_found_by_itself(ctx: ToolContext) -> None:
    put(ctx.workspace, "app/[id]/page.tsx")
    assert hits(await text(glob, ctx, pattern="app/[id]/page.tsx")) == ["app/[id]/page.tsx"]
    assert hits(await text(glob, ctx, pattern="**/*.tsx", path="app/[id]")) == ["app/[id]/page.tsx"]


async def test_ignored_files_are_included_on_request_and_git_never(ctx: ToolContext) -> None:
    everything = [".env", ".github/w.yml", "deep/c.py", "gen/a.py", "src/b.py", "x.log"]
    assert hits(await text(grep, ctx, pattern="needle", include_ignored=True)) == everything
    assert hits(await text(glob, ctx, pattern="**/*", include_ignored=True)) == sorted(
        [*everything, ".gitignore"]
    )


async def test_a_pattern_for_everything_does_not_undo_the_ignore_rules(ctx: ToolContext) -> None:
    for pattern in ("*", "**", "**/*"):
        assert hits(await text(glob, ctx, pattern=pattern)) == [
            ".env",
            ".github/w.yml",
            ".gitignore",
            "src/b.py",
        ]


async def test_no_match_and_not_searched_read_differently(ctx: ToolContext) -> None:
    (ctx.workspace / "empty").mkdir()
    assert (await text(grep, ctx, pattern="absent", path="src")) == "No match for 'absent'."
    assert (await text(grep, ctx, pattern="absent", path="empty")).startswith("Nothing was searched")
    with pytest.raises(ToolError, match="does not exist, so nothing was searched"):
        await text(grep, ctx, pattern="absent", path="nowhere")
    with pytest.raises(ToolError, match="no folder nowhere, so nothing was searched"):
        await text(glob, ctx, pattern="nowhere/*.py")


async def test_a_failed_search_still_names_what_was_left_out(ctx: ToolContext) -> None:
    found = await text(grep, ctx, pattern="absent")
    assert found.startswith("No match for 'absent'.\n[not searched, 3 ignored")


async def test_links_are_named(ctx: ToolContext) -> None:
    (ctx.workspace / "link.py").symlink_to("src/b.py")
    assert "1 linked (links are not followed): link.py" in await text(grep, ctx, pattern="needle")
    assert hits(await text(grep, ctx, pattern="needle", path="link.py")) == ["src/b.py"]


# ---- worktrees, size and time (BUG-54)


@pytest.fixture
def repository(tmp_path: Path) -> ToolContext:
    """A repository with three worktrees of agents inside."""
    ctx = context(tmp_path)
    put(ctx.workspace, "pkg/b.py")
    put(ctx.workspace, ".gitignore", ".decurion/**\n")
    run = ["git", "-C", str(ctx.workspace)]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "one"]):
        subprocess.run([*run, *command], check=True)
    for place in (".decurion/worktrees/one", ".decurion/worktrees/two", ".claude/worktrees/three"):
        subprocess.run([*run, "worktree", "add", "-q", "--detach", place], check=True)
    return ctx


@pytest.mark.parametrize("include_ignored", [False, True])
async def test_each_checkout_finds_its_own_files_once(repository: ToolContext, include_ignored: bool) -> None:
    inner = [
        repository.workspace / ".decurion/worktrees/one",
        repository.workspace / ".claude/worktrees/three",
    ]
    for workspace in (repository.workspace, *inner):
        ctx = context(repository.workspace.parent, workspace=workspace)
        assert hits(await text(glob, ctx, pattern="**/b.py", include_ignored=include_ignored)) == ["pkg/b.py"]
        assert hits(await text(grep, ctx, pattern="needle", include_ignored=include_ignored)) == ["pkg/b.py"]


async def test_a_large_tree_is_capped_in_a_stable_order(tmp_path: Path) -> None:
    ctx = context(tmp_path, limits=Limits(search_hits=7, listed_files=5))
    for folder in range(20):
        for name in range(100):
            put(ctx.workspace, f"d{folder:02}/f{name:02}.py")
    first = await text(grep, ctx, pattern="needle")
    assert hits(first) == [f"d00/f{n:02}.py" for n in range(7)]
    assert first.endswith(
        "[only the first 7 matching lines are shown; narrow path, glob or pattern, or raise limit]"
    )
    assert await text(grep, ctx, pattern="needle") == first
    listed = await text(glob, ctx, pattern="*.py")
    assert hits(listed) == [f"d00/f{n:02}.py" for n in range(5)]
    assert "only the first 5 files" in listed
    assert len(hits(await text(glob, ctx, pattern="*.py", limit=2000))) == 2000


async def test_the_time_limit_gives_partial_results(tmp_path: Path) -> None:
    ctx = context(tmp_path, limits=Limits(search_seconds=0.0))
    put(ctx.workspace, "f.py")
    assert "[partial: the time limit of 0 s was reached" in await text(grep, ctx, pattern="needle")


async def test_binary_and_huge_files_are_skipped_with_a_note(tmp_path: Path) -> None:
    ctx = context(tmp_path)
    put(ctx.workspace, "f.py")
    (ctx.workspace / "data.bin").write_bytes(b"needle\0\xff\xfe")
    with (ctx.workspace / "huge.txt").open("wb") as file:
        file.truncate(1_000_000_000)
    found = await text(grep, ctx, pattern="needle")
    assert hits(found) == ["f.py"]
    assert "[not searched, 1 too large: huge.txt; name the file in path to search it]" in found
    assert "[binary, so not shown, but matching: data.bin]" in found


# ---- the form of results


async def test_context_multiline_literal_and_names_only(tmp_path: Path) -> None:
    ctx = context(tmp_path)
    put(ctx.workspace, "f-1.txt", "one\ntwo\nthree\nfour\nfive\na.c\nabc\n")
    assert await text(grep, ctx, pattern="^two|^five", context=1) == (
        "f-1.txt-1-one\nf-1.txt:2:two\nf-1.txt-3-three\nf-1.txt-4-four\nf-1.txt:5:five\nf-1.txt-6-a.c"
    )
    assert await text(grep, ctx, pattern="one|abc", context=1) == (
        "f-1.txt:1:one\nf-1.txt-2-two\n--\nf-1.txt-6-a.c\nf-1.txt:7:abc"
    )
    assert (
        await text(grep, ctx, pattern="one.*three", multiline=True)
        == "f-1.txt:1:one\nf-1.txt:2:two\nf-1.txt:3:three"
    )
    assert await text(grep, ctx, pattern=r"two\nthree") == "f-1.txt:2:two\nf-1.txt:3:three"
    assert await text(grep, ctx, pattern="a.c", literal=True) == "f-1.txt:6:a.c"
    assert await text(grep, ctx, pattern="TWO", ignore_case=True) == "f-1.txt:2:two"
    assert await text(grep, ctx, pattern="t", files_only=True) == "f-1.txt"


async def test_a_long_line_is_cut_to_the_match(tmp_path: Path) -> None:
    ctx = context(tmp_path)
    put(ctx.workspace, "min.js", "x" * 100_000 + "needle" + "y" * 100_000)
    found = await text(grep, ctx, pattern="needle")
    assert "needle" in found
    assert len(found) < 700


async def test_lines_that_are_not_utf_8_and_crlf_are_shown(tmp_path: Path) -> None:
    ctx = context(tmp_path)
    (ctx.workspace / "f").write_bytes(b"caf\xe9 needle\r\n")
    assert await text(grep, ctx, pattern="needle") == "f:1:caf\ufffd needle"


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ({"pattern": "("}, "unclosed group"),
        ({"pattern": "(?=x)"}, "look-around"),
        ({"pattern": "x", "glob": "*.{py"}, "unclosed alternate"),
        ({"pattern": "x\0"}, "NUL"),
    ],
)
async def test_a_pattern_that_cannot_be_used_is_the_models_to_mend(
    tmp_path: Path, args: dict[str, str], told: str
) -> None:
    with pytest.raises(ToolError, match=told) as error:
        await text(grep, context(tmp_path), **args)
    assert "--pcre2" not in str(error.value)


async def test_a_pattern_that_looks_like_an_option_is_a_pattern(tmp_path: Path) -> None:
    ctx = context(tmp_path)
    put(ctx.workspace, "-f", "--pre=x needle\n")
    assert await text(grep, ctx, pattern="--pre=x") == "-f:1:--pre=x needle"
    assert await text(grep, ctx, pattern="needle", path="-f") == "-f:1:--pre=x needle"


async def test_a_missing_ripgrep_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("sysconfig.get_path", {"scripts": str(tmp_path)}.get)
    with pytest.raises(ToolError, match="pip install ripgrep"):
        await text(grep, context(tmp_path), pattern="x")
