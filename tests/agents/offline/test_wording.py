"""Which tasks the offline model understands, and what it makes of them."""

from __future__ import annotations

import pytest

from decurion.agents.offline.wording import Change, Order, read_order


def order_of(text: str) -> Order:
    order = read_order(text)
    assert isinstance(order, Order), order
    return order


def pairs(text: str) -> list[tuple[str, str, str, str]]:
    return [(change.verb, change.kind, change.old, change.new) for change in order_of(text).changes]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rename get_user to fetch_user", ("rename", "", "get_user", "fetch_user")),
        ("Rename the function `load` to `read_config`.", ("rename", "function", "load", "read_config")),
        ("please rename method 'get' into 'fetch' everywhere", ("rename", "method", "get", "fetch")),
        ("rename class User -> Account", ("rename", "class", "User", "Account")),
        ("rename var x to y", ("rename", "variable", "x", "y")),
        ("rename name to title", ("rename", "", "name", "title")),
        ("rename load() to read() in all Python files", ("rename", "", "load", "read")),
        ("rename “naïve” to “simple”", ("rename", "", "naïve", "simple")),
        ("replace module json by vendor.fast", ("replace", "module", "json", "vendor.fast")),
        ("Replace all calls to old() with new()", ("replace", "call", "old", "new")),
        ("replace call requests.get with http.fetch", ("replace", "call", "requests.get", "http.fetch")),
        ("replace utils by the module helpers", ("replace", "", "utils", "helpers")),
    ],
)
def test_one_change(text: str, expected: tuple[str, str, str, str]) -> None:
    assert pairs(text) == [expected]


def test_several_changes_in_the_order_they_are_said() -> None:
    text = "rename function a to b and class C to D, and also replace module x by y; rename e to f"
    assert pairs(text) == [
        ("rename", "function", "a", "b"),
        ("rename", "class", "C", "D"),
        ("replace", "module", "x", "y"),
        ("rename", "", "e", "f"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "fix the failing tests",
        "rename things to be nicer",
        "replace the old parser by something faster and better",
        "",
        "add type hints to every function",
    ],
)
def test_what_is_not_understood_is_not_guessed_at(text: str) -> None:
    assert isinstance(read_order(text), str)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("rename class to klass", "`class`"),
        ("rename a to a", "already"),
        ("rename app.load to app.read", "replace call app.load by app.read"),
        ("rename module a to b", "moving files"),
    ],
)
def test_a_change_that_cannot_be_is_explained(text: str, word: str) -> None:
    answer = read_order(text)
    assert isinstance(answer, str)
    assert word in answer


@pytest.mark.parametrize(
    ("text", "check"),
    [
        ("rename a to b\n\nCheck command: make test", "make test"),
        ("rename a to b and verify with python -m unittest -v", "python -m unittest -v"),
        ("rename a to b, then run `pytest -q`.", "pytest -q"),
        ("rename a to b\n\nCheck command: python -m compileall -q .", "python -m compileall -q ."),
        ("rename a to b\n\nCheck command: 'my check' ..", "'my check' .."),
        ("rename a to b\n\nCheck command: `make test`", "make test"),
        ("rename a to b and verify with python -m unittest discover.", "python -m unittest discover"),
        ("rename a to b and verify with ruff check .", "ruff check ."),
        ("rename a to b and run the tests", ""),
        ("rename a to b", ""),
    ],
)
def test_the_check_command(text: str, check: str) -> None:
    assert order_of(text).check == check


def test_words_of_the_check_command_are_no_changes() -> None:
    assert pairs("rename a to b\nCheck command: echo rename c to d") == [("rename", "", "a", "b")]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("rename a to b in src/", ("src",)),
        ("rename a to b in src/app and tests/unit", ("src/app", "tests/unit")),
        ("rename a to b in the src folder", ("src",)),
        ("rename a to b in `lib/x.py`", ("lib/x.py",)),
        ("rename a to b in all files", ()),
        ("rename a to b in this project, also in strings", ()),
        ("rename a to b in ./src/", ("src",)),
    ],
)
def test_the_places(text: str, places: tuple[str, ...]) -> None:
    assert order_of(text).places == places


@pytest.mark.parametrize(
    ("text", "strings", "comments"),
    [
        ("rename a to b", False, False),
        ("rename a to b, also in strings and comments", True, True),
        ("rename a to b including comments", False, True),
        ("rename a to b. Leave strings alone.", False, False),
        ("rename a to b but not in comments, also in docstrings", True, False),
    ],
)
def test_strings_and_comments_only_when_asked(text: str, strings: bool, comments: bool) -> None:
    order = order_of(text)
    assert (order.strings, order.comments) == (strings, comments)


def test_isolation_is_read_from_its_line() -> None:
    assert order_of("rename a to b\n\nIsolation: worktree").worktree
    assert not order_of("rename worktree to checkout").worktree


def test_a_change_says_itself_so_that_it_can_be_read_back() -> None:
    change = Change("rename", "a", "b", "function")
    assert order_of(f"Change: {change}").changes == (change,)
