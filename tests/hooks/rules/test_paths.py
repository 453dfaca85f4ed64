"""Where words point: predicates over literal, globbed and unknown paths."""

from __future__ import annotations

import pytest

from decurion.hooks.rules.paths import holds, spots
from decurion.hooks.rules.pathset import PathSet
from decurion.hooks.shell import ExecEvent, Glob, Hole, Places, Value, literal

PLACES = Places("/home/dev/app", "/home/dev/app", "/home/dev", "dev")
UNKNOWN = Hole("x")


def value(*parts: str | Glob | Hole) -> Value:
    return Value(parts)


def says(predicate: str, word: Value, *cwds: str, places: Places = PLACES) -> bool:
    event = ExecEvent(literal("rm"), "rm", (word,), frozenset(cwds or (places.cwd,)))
    sets = {"keys": PathSet(("~/.ssh/**", "!~/.ssh/*.pub", "**/.env"))}
    return any(holds(predicate, spot, places, sets) for spot in spots(word, event, places))


@pytest.mark.parametrize(
    ("word", "outside"),
    [
        (value("build"), False),
        (value("./a/../b"), False),
        (value("/tmp/x"), False),
        (value("/tmp"), True),
        (value("/tmp/../etc"), True),
        (value(".."), True),
        (value("a/../../x"), True),
        (value("/"), True),
        (value("//home//dev/app/x"), False),
        (value("/home/dev/application"), True),
        (value("build/", UNKNOWN), False),
        (value(UNKNOWN), True),
        (value(UNKNOWN, "/"), True),
        (value(Glob("*")), False),
        (value("/", Glob("*")), True),
    ],
)
def test_outside(word: Value, *, outside: bool) -> None:
    assert says("outside", word) is outside


@pytest.mark.parametrize(
    ("word", "whole"),
    [
        (value("."), True),
        (value("/home/dev/app/"), True),
        (value(Glob("*")), True),
        (value("./", Glob("*")), True),
        (value(Glob("*"), ".pyc"), False),
        (value("a/", Glob("*")), False),
        (value(UNKNOWN, "./"), True),
    ],
)
def test_workspace_root(word: Value, *, whole: bool) -> None:
    assert says("workspace-root", word) is whole


@pytest.mark.parametrize(
    ("word", "git"),
    [
        (value(".git"), True),
        (value("sub/.git/config"), True),
        (value(".", Glob("*")), True),
        (value(".g", Glob("?"), "t"), True),
        (value(Glob("*")), False),
        (value(".github"), False),
        (value("x.git"), False),
    ],
)
def test_workspace_git(word: Value, *, git: bool) -> None:
    assert says("workspace-git", word) is git


def test_every_possible_folder_counts() -> None:
    assert not says("outside", value("x"), "/home/dev/app", "/tmp/y")
    assert says("outside", value("x"), "/home/dev/app", "/srv")
    assert says("outside", value("x"), "?")


@pytest.mark.parametrize(
    ("word", "device"),
    [
        (value("/dev/sda"), True),
        (value("/dev/disk/by-id/x"), True),
        (value("/dev/", Glob("*")), True),
        (value("/dev/sd", Glob("?")), True),
        (value("/dev/null"), False),
        (value("/dev/tcp/h/1"), False),
        (value("dev/sda"), False),
    ],
)
def test_devices(word: Value, *, device: bool) -> None:
    assert says("device", word) is device


@pytest.mark.parametrize(
    ("word", "held"),
    [
        (value("/home/dev/.ssh/id_rsa"), True),
        (value("/home/dev/.s", Glob("?"), "h/id_", Glob("*")), True),
        (value("/home/dev/.ssh"), True),
        (value("/home/dev/.ssh/a.pub"), False),
        (value("/home/dev/.ssh/", Glob("*"), ".pub"), False),
        (value("/home/dev/", Glob("*"), "/x"), False),
        (value("a/b/.env"), True),
        (value(Glob("*")), False),
        (value("a/", Glob("*")), False),
        (value(UNKNOWN), False),
        (value(".env", UNKNOWN), True),
    ],
)
def test_path_sets(word: Value, *, held: bool) -> None:
    assert says("keys", word) is held


def test_container_paths_are_the_hosts_where_mounted() -> None:
    def outside(path: str, remote: str, *mounts: tuple[str, str]) -> bool:
        event = ExecEvent(literal("rm"), "rm", cwds=frozenset(("/",)), remote=remote, mounts=mounts)
        return any(holds("outside", spot, PLACES, {}) for spot in spots(literal(path), event, PLACES))

    assert outside("/h/srv", "container new alpine", ("/h", "/"))
    assert outside("/w", "container new alpine", ("/w", "/srv"))
    assert not outside("/w/x", "container new alpine", ("/w", "/home/dev/app"))
    assert not outside("/var/cache", "container new alpine")
    assert outside("/var/lib", "container db")


def test_links_are_followed_where_the_places_can() -> None:
    places = Places(
        "/home/dev/app", "/home/dev/app", "/home/dev", resolve=lambda path: path.replace("/link", "/../x")
    )
    assert says("outside", value("link/../../x"), places=places)
