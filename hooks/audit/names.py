"""Which names name a secret: `API_KEY`, `dbPassword` and `NPM_AUTH` do; `KEYBOARD`, `AUTHOR` and `TOKEN_TTL` do not.

A name is read as words. One of them tells of a secret; the others may say that it is only about one: how many, how
long, where it lies. The same rule serves variables of the environment, what texts assign, and fields of data.
"""

from __future__ import annotations

from ..patterns import lazy

PASSWORD = r"pass(?:word|wd|phrase|code)?|pwd|pw(?![a-z])"  # noqa: S105 - a pattern
OTHER = r"secret(?:[_-]?key)?|token|credential|cred|key|auth(?![a-z])|pat(?![a-z])"
_ANY = lazy(rf"(?i){PASSWORD}|{OTHER}|cookie|dsn|connection_string|salt|jwt|otp|pin")
_WORDS = lazy(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_RUN = lazy(r"[a-z]+|[A-Z]+")

_ABOUT_WORDS = """
    name names path paths file files filename dir folder id ids identifier type types count counts len length
    url urls uri uris ref field label hash hashes hasher hashers policy manager version arn limit limits
    budget usage expires expire expired expiry expiration index used size sizes per rate class classes error
    errors algorithm alg timeout ttl age seconds minutes hours days interval rotation reset hint attempts
    retries created updated changed min max minimum maximum strength validator validators prompt helper
    provider backend header headers prefix suffix regex pattern format encoding endpoint host port domain
    audience issuer scope scopes method mode strategy enabled disabled required threshold program
    classification model sock agent command parallelism layout style callback handler factory schema sort
    order lookup bindings binding through scanning
"""
_ABOUT = frozenset(_ABOUT_WORDS.split())
_LONG_ABOUT = tuple(sorted(word for word in _ABOUT if len(word) >= 4))
_ENDINGS = ("izer", "ized", "ize", "able", "ed", "ing", "less", "through", "port", "er", "ary", "ion", "ive", "ly", "id", "url")  # fmt: skip
_LAST = ("auth", "pat")
"""Words that name a secret only where no other word comes after them: `NPM_AUTH`, not `AUTH_PLUGIN`."""

_PUBLIC = frozenset({"public", "publishable"})
_BEFORE_KEY = lazy(
    r"(?:api|app|access|account|auth|client|consumer|deploy|encryption|hmac|jwt|license|master|priv|private|service|"
    r"shared|signing|ssh|storage|stripe|webhook)[_-]?$"
)
_BEFORE_PASS = lazy(r"(?:^|[^a-z]|db|root|admin|user|ssh|pg|my)$")
_FINDERS = """
    primary foreign sort cache partition hot short unique composite shard hash range row object group lock
    lookup routing issue project translation message event idempotency registry host gpg pgp redis build s
    dedup merge
"""
"""What stands before a `KEY` that only finds something."""

_OPEN_KEYS = frozenset(_FINDERS.split())


def names_secret(before: str, word: str, more: str, *, wide: bool = False) -> bool:
    """Say whether a name names a secret, by a telling word in it and what of the name stands before and after.

    With `wide` any `…_key` counts, except what only finds something, such as `sort_key`.
    """
    told = _stands_alone(before.lower(), word.lower()) or (
        wide and word.lower() == "key" and _may_open(before)
    )
    return told and not _is_about(before, word, more)


def variable_names_secret(name: str) -> bool:
    """Say whether a variable of the environment is named like a secret."""
    return any(
        names_secret(name[: found.start()], found[0], name[found.end() :], wide=True)
        for found in _ANY.finditer(name)
    )


def _may_open(before: str) -> bool:
    said = _said(before)
    return before.endswith(("_", "-")) and bool(said) and said[-1] not in _OPEN_KEYS


def _stands_alone(before: str, word: str) -> bool:
    """Say whether the telling word is a word of its own there: `db_pass` has one and `compass` does not."""
    if word == "key":
        return _BEFORE_KEY.search(before) is not None
    if word == "pass":
        return _BEFORE_PASS.search(before) is not None
    return len(word) > 4 or word in ("cred", "pwd") or not before[-1:].isalpha()


def _is_about(before: str, word: str, more: str) -> bool:
    """Say whether a name only says something about a secret, or its telling word is the beginning of another word."""
    goes_on = _RUN.match(more) if more[:1].isalpha() and word[-1].islower() == more[0].islower() else None
    run = goes_on[0].lower() if goes_on else ""
    if run not in ("", "s"):
        if len(word) <= 4 or run.endswith((*_LONG_ABOUT, *_ENDINGS)):
            return True
        more = more[len(run) :]
    if word.lower() in _LAST and more.strip("_-0123456789").lower() not in ("", "config"):
        return True
    return not _ABOUT.isdisjoint(_said(more)) or not _PUBLIC.isdisjoint(_said(before))


def _said(part: str) -> list[str]:
    return [word.lower() for word in _WORDS.findall(part)]
