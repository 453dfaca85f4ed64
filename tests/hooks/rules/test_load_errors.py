"""A rule file that is not right does not load; the error names file, line and remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from decurion.hooks import ConfigError
from decurion.hooks.rules import Law, Source

from .helpers import law_of

RULE = '[[rule]]\nid = "r"\nprogram = "x"\n'


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("deny = [", 1, "not valid TOML"),
        ('a = 1\nb = "', 2, "not valid TOML"),
        ('denny = ["x"]', 1, "did you mean 'deny'"),
        (f"{RULE}flag = ['-x']", 4, "did you mean 'flags'"),
        (f"{RULE}operands = ['outsid']", 4, "did you mean 'outside'"),
        (f"{RULE}sql = ['dropp']", 4, "did you mean 'drop'"),
        (f"{RULE}finding = ['forkbomb']", 4, "did you mean 'fork-bomb'"),
        (f"{RULE}stdin = ['zzz']", 4, "known: empty, known, unknown"),
        (f"{RULE}redirect = ['device']", 4, "'> PREDICATE'"),
        (f"{RULE}options = ['device']", 4, "'-d|--data PREDICATE'"),
        (f"{RULE}decision = 'forbid'", 4, "one of deny, ask, log"),
        (f"{RULE}message = 3", 4, "must be a text"),
        (f"{RULE}agents = 3", 4, "must be a text or a list of texts"),
        ("deny = [1]", 1, "must be a text or a list of texts"),
        (f"{RULE}deny = ['y a']", 4, "does not catch its own `deny` example `y a`"),
        (f"{RULE}allow = ['x a']", 4, "catches its `allow` example `x a`"),
        (f"{RULE}\n{RULE}", 6, "taken"),
        ('[[rule]]\nprogram = "x"', 1, "has no `id`"),
        ('[[rule]]\nid = "r"', 2, "no condition"),
        ('[rule]\nid = "r"', 1, "write [[rule]]"),
        ('rule = ["x"]', 1, "has no `id`"),
        ('disable = ["nope"]', 1, "no such rule"),
        (f"{RULE}unless = {{ flagz = '-n' }}", 4, "did you mean 'flags'"),
        ('[programs.x]\nvalue = ["-a"]', 2, "did you mean 'values'"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, line: int, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        law_of(text)
    assert caught.value.path == "rules.toml"
    assert caught.value.line == line
    assert says in caught.value.message
    assert str(caught.value).startswith(f"rules.toml:{line}: ")


def test_a_file_that_is_not_there_adds_nothing(tmp_path: Path) -> None:
    assert Law.load(str(tmp_path / "none.toml"), cache=False).digest == Law.load(cache=False).digest


def test_a_file_that_must_be_there_is_missed(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such rule file"):
        Law.here(str(tmp_path), str(tmp_path / "none.toml"))


def test_a_folder_in_the_place_of_a_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        Law.load(str(tmp_path), cache=False)


def test_bytes_that_are_no_text_are_told_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_bytes(b'deny = ["x"]\n# \xff\n')
    with pytest.raises(ConfigError, match="UTF-8") as caught:
        Law.load(str(path), cache=False)
    assert caught.value.line == 2


def test_an_example_fails_under_the_agents_of_its_rule() -> None:
    law_of(f'{RULE}agents = ["explore"]\ndeny = ["x"]')


def test_the_source_of_an_error_is_the_file_it_stands_in() -> None:
    good, bad = Source("a.toml", 'deny = ["x"]'), Source("b.toml", 'deny = ["x | y"]')
    with pytest.raises(ConfigError) as caught:
        Law.of_sources((good, bad))
    assert caught.value.path == "b.toml"
