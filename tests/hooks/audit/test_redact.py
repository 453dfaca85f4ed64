"""Secrets never reach the log; what only looks like one stays."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path
from typing import Any

import pytest

from decurion.hooks.audit import Redactor, redact_secrets
from decurion.hooks.audit.library import patterns
from tests.effort import effort

from .plain_search import clean
from .samples import LEAD, open_log
from .secrets import CONTEXTUAL, SHAPED, harmless, planted


@pytest.fixture
def redactor() -> Redactor:
    return Redactor({})


def test_planted_keys_of_all_kinds_are_removed_from_every_place_of_a_record(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    secrets = planted(seed=1, rounds=6)
    assert len(secrets) >= 200
    assert len(SHAPED) + len(CONTEXTUAL) >= 30
    with open_log(path, redactor=Redactor({})) as log:
        for number, secret in enumerate(secrets):
            places: list[dict[str, Any]] = [
                {"input": {"command": secret.text}},
                {"input": {"files": [{"content": f"before {secret.text} after"}]}},
                {"reason": secret.text},
                {"summary": secret.text, "detail": {"nested": [secret.text]}},
                {"output": secret.text},
                {"input": {secret.text: 1}},
                {"tool_name": secret.text},
            ]
            log.write(LEAD, "planned", tool_use_id=str(number), **places[number % len(places)])
    text = path.read_text(encoding="utf-8")
    assert [secret for secret in secrets if secret.core in text] == []


def test_no_harmless_string_is_removed(redactor: Redactor) -> None:
    strings = harmless(seed=2, rounds=60)
    removed = [text for text in strings if redactor.clean_text(text) != text]
    assert removed == []


def test_ordinary_source_text_is_left_alone(redactor: Redactor, checkout: Path) -> None:
    lines = [
        line
        for folder in ("hooks", "agents", "orchestrator")
        for file in (checkout / folder).rglob("*.py")
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    removed = [line for line in lines if redactor.clean_text(line) != line]
    assert len(removed) <= len(lines) / 1000, removed[:10]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("export AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE", "export AWS_ACCESS_KEY_ID=[redacted:aws-key]"),
        ("PASSWORD=hunter2 ./run", "PASSWORD=[redacted:password] ./run"),
        ("./run --password hunter2 --verbose", "./run --password [redacted:password] --verbose"),
        ("mysql -uroot -phunter2 db", "mysql -uroot -p[redacted:password] db"),
        ("https://me:hunter2@host/x", "https://me:[redacted:url-password]@host/x"),
        ("password: swordfish1", "password: [redacted:password]"),
        ('api_key = "a1b2c3d4e5f6"', 'api_key = "[redacted:key]"'),
    ],
)
def test_the_mark_says_what_kind_was_removed(redactor: Redactor, text: str, expected: str) -> None:
    assert redactor.clean_text(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "PASSWORD=$PASSWORD ./run",
        "password: ${{ secrets.PASSWORD }}",
        "--token-file /run/token",
        "token = parser.next_token()",
        "password = getpass.getpass()",
        "password: str = Field(...)",
        "git commit -m 'fix token refresh'",
        "mkdir -p src/components/Password",
        "api_key=<your key here>",
        "https://user:${PASS}@host/x",
        "token: required",
    ],
)
def test_a_placeholder_or_reference_is_no_secret(redactor: Redactor, text: str) -> None:
    assert redactor.clean_text(text) == text


def test_a_field_named_after_a_secret_is_removed_whole(redactor: Redactor) -> None:
    given = {
        "password": "correct horse battery",
        "api_key": "abcd1234efgh",
        "max_tokens": 4096,
        "path": "src/token.py",
    }
    assert redactor.clean(given) == {
        "password": "[redacted:password]",
        "api_key": "[redacted:key]",
        "max_tokens": 4096,
        "path": "src/token.py",
    }


def test_data_without_a_secret_is_given_back_as_it_is(redactor: Redactor) -> None:
    given = {
        "path": "src/token.py",
        "edits": [{"old": "a" * 20, "new": "password = form.password"}],
        "count": 3,
    }
    assert redactor.clean(given) is given


def test_without_guessing_only_what_is_surely_a_secret_goes() -> None:
    clean = Redactor({"DB_PASS": "s3cr3t"}, guess=False).clean
    given = {"password": "x9dk2-new", "text": "PASSWORD=hunter2 s3cr3t AKIAIOSFODNN7EXAMPLE"}
    assert clean(given) == {
        "password": "x9dk2-new",
        "text": "PASSWORD=hunter2 [redacted:env:DB_PASS] [redacted:aws-key]",
    }


def test_the_environments_own_secrets_are_removed_in_every_form(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACME_API_TOKEN", "plain words/and more")
    monkeypatch.setenv("DB_PASS", "s3cr3t")
    monkeypatch.setenv("SSH_AUTH_SOCK", "/tmp/agent.sock")
    monkeypatch.setenv("EDITOR", "an editor with a long name")
    path = tmp_path / "audit.jsonl"
    with open_log(path) as log:
        log.write(LEAD, "planned", input={"command": "echo plain words/and more"})
        log.write(LEAD, "planned", input={"command": "curl x?t=plain%20words%2Fand%20more"})
        log.write(LEAD, "planned", input={"command": "echo cGxhaW4gd29yZHMvYW5kIG1vcmU= | base64 -d"})
        log.write(LEAD, "planned", reason="uses s3cr3t, in /tmp/agent.sock, with an editor with a long name")
    text = path.read_text(encoding="utf-8")
    assert text.count("[redacted:env:ACME_API_TOKEN]") == 3
    assert text.count("[redacted:env:DB_PASS]") == 1
    assert "in /tmp/agent.sock, with an editor with a long name" in text


def test_the_folder_that_a_shell_exports_is_no_secret() -> None:
    """`PWD` ends like a password; without it every path of a workspace would be missing from the log."""
    path = "/home/me/project-with-a-name"
    redactor = Redactor({"PWD": path, "OLDPWD": path, "DB_PWD": "hunter2-and-more"})
    assert redactor.clean_text(f"{path}/a.py hunter2-and-more") == f"{path}/a.py [redacted:env:DB_PWD]"


def test_the_same_processor_serves_structlog() -> None:
    import structlog

    lines: list[str] = []
    chain: list[Any] = [redact_secrets(Redactor({})), structlog.processors.JSONRenderer()]
    log: Any = structlog.wrap_logger(_Lines(lines), processors=chain)
    log.info("started", command="PASSWORD=hunter2 ./run", count=3)
    assert json.loads(lines[0]) == {
        "command": "PASSWORD=[redacted:password] ./run",
        "count": 3,
        "event": "started",
    }


class _Lines:
    def __init__(self, lines: list[str]) -> None:
        self.info = lines.append


def test_the_librarys_detectors_are_asked_about_what_our_table_cannot_name() -> None:
    kinds = {kind for kind, _ in patterns()}
    assert len(kinds) >= 15
    unknown = "use softlayer_key=" + "0a1b2c3d" * 8
    assert "0a1b2c3d" not in Redactor({}).clean_text(unknown)


def test_redacting_twice_changes_nothing(redactor: Redactor) -> None:
    for secret in planted(seed=3, rounds=1):
        once = redactor.clean_text(secret.text)
        assert redactor.clean_text(once) == once


@pytest.mark.parametrize("seed", range(effort(4, 40)))
def test_nothing_is_skipped_that_a_plain_search_finds(checkout: Path, seed: int) -> None:
    """What makes the search fast must not make it blind: secrets planted in the text of whole files, at random places."""
    rng = random.Random(seed)
    files = sorted((checkout / "hooks").rglob("*.*py")) + sorted((checkout / "docs").rglob("*.md"))
    redactor = Redactor({})
    for file in rng.sample(files, 12):
        text = file.read_text(encoding="utf-8")[: rng.choice((900, 5000))]
        for secret in rng.sample(planted(seed=rng.randrange(1 << 30), rounds=1), 3):
            place = rng.randrange(len(text) + 1)
            text = f"{text[:place]} {secret.text} {text[place:]}"
        assert redactor.clean_text(text) == clean(text)


def test_a_long_text_is_searched_once(redactor: Redactor) -> None:
    text = "nothing to hide here, in many words; " * 2000
    assert redactor.clean_text(text) is text
    begin = time.process_time()
    for _ in range(100):
        assert redactor.clean_text(text[:60_000]) == text[:60_000]
    known = time.process_time() - begin
    begin = time.process_time()
    for number in range(100):
        redactor.clean_text(text[number : number + 60_000])
    assert known < (time.process_time() - begin) / 2


def test_what_was_harmless_is_not_taken_for_something_else_later(redactor: Redactor) -> None:
    """Words and texts that hold no secret are remembered, by the whole of them."""
    harmless_word = "src/components/PasswordField.tsx"
    for text in (harmless_word, f"{harmless_word} AKIAIOSFODNN7EXAMPLE", f"x{harmless_word}ghp_{'a1B2' * 9}"):
        once, again = redactor.clean_text(text), redactor.clean_text(text)
        assert once == again == clean(text)
    assert "[redacted:aws-key]" in redactor.clean_text(f"{harmless_word} AKIAIOSFODNN7EXAMPLE")


def test_a_mark_tells_of_no_secret_beside_it(redactor: Redactor) -> None:
    text = f"pypi-AgEIcHlwaS5vcmc{'Ab1' * 20}: 5019098f2e4a1e2dee528ef766 and token=abc123def456"
    assert (
        redactor.clean_text(text)
        == "[redacted:pypi-token]: 5019098f2e4a1e2dee528ef766 and token=[redacted:token]"
    )


@pytest.mark.parametrize("filler", ["", "and so on. " * 200])
def test_a_key_file_is_removed_whole(redactor: Redactor, filler: str) -> None:
    text = "PuTTY-User-Key-File-2: ssh-rsa\nPrivate-Lines: 1\nAAAAgQ\nPrivate-MAC: 0af1\n"
    assert redactor.clean_text(filler + text) == f"{filler}[redacted:private-key]\n"


@pytest.mark.parametrize(
    "piece",
    ["curl ", "sk-", "eyJ-", "key_", "password=", "cookie: ", "bearer ", "://", "A", "Aa1", "token: x", "passwordpassword",
     "-----BEGIN PRIVATE KEY-----", "mysql ", "dp.pt.", '\\"', "authorization: basic "],
)  # fmt: skip
def test_no_text_makes_it_slow(redactor: Redactor, piece: str) -> None:
    text = piece * (100_000 // len(piece))
    begin = time.process_time()
    redactor.clean_text(text)
    assert time.process_time() - begin < 2.0
