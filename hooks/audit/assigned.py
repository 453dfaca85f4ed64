"""Secrets known by what they are assigned to: `PASSWORD=…`, `--token …`, `https://user:…@host`, `Bearer …`.

Patterns are compiled when the first text is suspicious, which in most hook programs none is.
Every repetition that something must follow is bounded, so that no text can make them slow.
"""

from __future__ import annotations

import re

from ..patterns import lazy
from .names import OTHER, PASSWORD, names_secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Hints = tuple[list[int], list[tuple[str, str]]]
    """Where names may begin, in order; kind and pattern of the rest."""

TELLING = ("pass", "pwd", "pw", "secret", "token", "key", "cred", "auth", "pat")
_LONGEST = 512
"""No quoted value that is a secret has more characters; keys that do are found otherwise."""
_VALUE = (
    rf"(?:(?P<quote>\\?[\"'`])(?P<quoted>(?:(?!(?P=quote))[^\n]){{3,{_LONGEST}}}?)(?P=quote)"
    r"|(?P<bare>[^\s\"'`,;&|<>(){}\[\]\\]{4,512}))"
)
_ASSIGNED = lazy(
    rf"(?i)(?:(?P<password>{PASSWORD})|(?P<other>{OTHER}))(?P<more>[a-z0-9_-]{{0,40}}+)(?:\\?[\"'`])?"
    rf"\s{{0,4}}(?:\]\s?)?(?P<sep>=>|:=|==|=|:|\s)\s{{0,4}}{_VALUE}"
)
_LONG = 16
_WORD_AND_DIGITS = lazy(r"[A-Za-z]{3,}\d+$")
_BEFORE = lazy(r"[\w-]*$")
_NUMBER = lazy(r"(?:(?P<other>0[xX][0-9a-fA-F]+|\d+\.\d+%?|\d+%)|\d+)$")
_LOGIN = lazy(r"[^:]{2,}:[^:]{4,}$|[A-Za-z0-9+/=]{16,}$")
_FLAG_BEFORE = lazy(r"(?:^|[\s\"'])--?[\w-]{0,40}$")
_PLACEHOLDER = lazy(
    r"(?i)^(?:[$<{%*\[@!]|\.\.\.|x{3,}$|\*+$|-+$|your[-_ ]|"
    r"(?:none|null|nil|true|false|undefined|required|optional|string|str|int|bool|bytes|text|example|placeholder|changeme|"
    r"change_me|password|passwd|secret|token|redacted|hidden|default|todo|value|auto|prompt|never|always|inherit|"
    r"self|request|await|async|return|function|lambda|import|const|disabled|enabled)$)"
)
_IDENTIFIER = lazy(r"^[A-Za-z_][A-Za-z_]*\d?(?:\.[A-Za-z_]\w*)*$")
_PATH = lazy(
    r"^(?:~|\.{1,2})?/|^[\w.-]+(?:/[\w.-]+)+$|\.(?:py|js|ts|json|ya?ml|toml|txt|md|pem|key|go|rs|sh|env|cfg)$"
)
_IN_MARK = lazy(r"\[redacted:[^\]\s]*$")
"""A mark names a kind of secret, but tells of none beside it."""
_DIGEST = lazy(r"(?i)^(?:sha(?:1|256|384|512)[:-]|md5:)")

HEADERS = (
    # kind, what the lower-case text must hold, what is looked for first (one of two characters), pattern
    (
        "bearer",
        "bearer",
        "b",
        r"(?i)\bbearer\s+[\"']?(?P<value>(?=[A-Za-z_\-.~+/=]{0,200}\d)[A-Za-z0-9_\-.~+/=]{12,})",
    ),
    (
        "authorization",
        "authorization",
        "z",
        (
            r"(?i)\bauthorization[\"']?\s*[:=]\s*[\"']?(?:basic|bearer|token|digest|apikey|negotiate|aws4-hmac-sha256)\s+"
            r"(?P<value>[^\s\"']{8,})"
        ),
    ),
    ("cookie", "cookie", "k", r"(?i)\bcookie[\"']?\s*[:=]\s*[\"']?(?P<value>[^\n\"'=]{1,200}=[^\n\"']{8,})"),
    ("azure-signature", "sig=", "?&", r"[?&]sig=(?P<value>[A-Za-z0-9%+/=_-]{32,})"),
)
COMMANDS = (
    # the same, for what a command takes after an option
    (
        "password",
        "curl",
        "u",
        r"\bcurl\b[^\n|;]{0,400}?\s(?:-u|--user|--proxy-user|-U)[ =]?[\"']?[^\s:\"']{1,200}:(?P<value>[^\s\"']{3,})",
    ),
    (
        "password",
        "mysql",
        "q",
        r"\bmysql(?:dump|admin)?\b[^\n|;&]{0,400}?\s-p[\"']?(?P<value>[^\s\"'-][^\s\"']{2,})",
    ),
    (
        "password",
        "mariadb",
        "b",
        r"\bmariadb(?:-dump)?\b[^\n|;&]{0,400}?\s-p[\"']?(?P<value>[^\s\"'-][^\s\"']{2,})",
    ),
    ("password", "sshpass", "h", r"\bsshpass\s+-p\s*[\"']?(?P<value>[^\s\"']{3,})"),
    ("password", "redis-cli", "-", r"\bredis-cli\b[^\n|;&]{0,400}?\s-a\s*[\"']?(?P<value>[^\s\"']{3,})"),
    (
        "password",
        " login",
        "g",
        r"\b(?:docker|podman|npm|az|oc|registry)\s+login\b[^\n|;&]{0,400}?\s-p[ =]?[\"']?(?P<value>[^\s\"'-][^\s\"']{2,})",
    ),
)
PASS = r"\bpass:(?P<value>[^\s\"']{3,})"  # noqa: S105 - a pattern
URL = r"://[^\s/:@\"'<>]*:(?P<value>[^\s/@\"'<>]{3,})@"


_NAMES = (
    # A pattern that begins with one letter runs through a text as fast as looking for that letter alone, fifty times
    # faster than an alternation. Where a group matched, the name begins two letters before.
    lazy("k(?=e(?:y(?<=[a-z_-]key)|(?<=toke)(n)))"),  # `key` alone names no secret, `api_key` does
    lazy("p(?:(?=[aw][sd])|(?<=[_-]p)(?=(?:at|w)(?![a-z])))"),
    lazy("a(?=uth(?![a-z]))(?<![a-z]a)"),
    lazy("c(?=re(?:d|(?<=secre)(t)))"),
)
_OPTION = lazy(r"-(?=[apu]|-(?:user|proxy))(?<=\s-)")


def may_hold(lowered: str) -> bool:
    """Say whether lower-case text may hold an assigned secret too short to be noticed as a long word."""
    return (
        "key" in lowered
        or "pass" in lowered
        or "token" in lowered
        or "secret" in lowered
        or "pwd" in lowered
        or "cred" in lowered
        or "auth" in lowered
        or "_pat" in lowered
        or "_pw" in lowered
        or "cookie" in lowered
        or "bearer" in lowered
        or "curl" in lowered
        or "mysql" in lowered
        or "mariadb" in lowered
        or "redis-cli" in lowered
        or " login" in lowered
        or ("@" in lowered and "://" in lowered)
    )


def lower(text: str) -> str:
    """Lower the ASCII letters of a text, and only them: some others change its length, and all of them take long."""
    if text.isascii():
        return text.lower()
    return text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")


def hints(lowered: str) -> Hints | None:
    """Give where telling names may begin in a lower-case text, and what else of this module may match there.

    None, as for most texts, where nothing can. This is all that most texts of some length cost.
    """
    names: list[int] = []
    for name in _NAMES:
        names += [found.start() - (2 if found.lastindex else 0) for found in name.finditer(lowered)]
    tables = (HEADERS, COMMANDS) if _OPTION.search(lowered) else (HEADERS,)
    patterns = [("url-password", URL)] if "@" in lowered and "://" in lowered else []
    patterns += [("password", PASS)] if names and "pass:" in lowered else []
    for table in tables:
        for kind, needle, rare, pattern in table:
            if (rare[0] in lowered or rare[-1] in lowered) and needle in lowered:
                patterns.append((kind, pattern))
    return (sorted(names), patterns) if names or patterns else None


def replace(text: str, hinted: Hints, mark: Callable[[str], str]) -> str:
    """Replace every assigned secret in a text by the mark of its kind; `hinted` is what `hints` gave for this text."""
    names, patterns = hinted
    replaced = text
    for kind, pattern in patterns:
        replaced = re.sub(pattern, lambda found, kind=kind: _swap(found, "value", mark(kind)), replaced)
    if replaced != text and names:  # they have moved
        names = (hints(lower(replaced)) or hinted)[0]
    pieces: list[str] = []
    done = 0
    for found in _assignments(replaced, names):
        judged = _judge_assignment(found, mark) if found.start() >= done else found[0]
        if judged != found[0]:
            pieces += [replaced[done : found.start()], judged]
            done = found.end()
    return "".join([*pieces, replaced[done:]]) if pieces else replaced


def is_secret_field(name: str, value: str) -> bool:
    """Say whether a field of structured data holds a secret, by its name and build."""
    text = f'{name}="{value}"'
    if len(value) > _LONGEST or not (hinted := hints(lower(text))):
        return False
    assignments = _assignments(text, hinted[0])
    return any(found["quoted"] == value and _is_secret(found, value, quoted=True) for found in assignments)


def may_name_secret(name: str) -> bool:
    """Say whether a field of this name may hold a secret; quick, and wrong only on the safe side."""
    lowered = name.lower()
    return any(word in lowered for word in TELLING)


def _assignments(text: str, places: Iterable[int]) -> Iterator[re.Match[str]]:
    """Give what looks like a value assigned to a telling name, of the places where one may begin."""
    marked = "[redacted:" in text
    for place in places:
        found = _ASSIGNED.match(text, place)
        if not found or not _is_name(found):
            continue
        if not marked or not _IN_MARK.search(text, max(0, place - 80), place):
            yield found


def _before(found: re.Match[str]) -> str:
    """Give what of the name stands before the telling word."""
    before = _BEFORE.search(found.string, max(0, found.start() - 40), found.start())
    return before[0] if before else ""


def _is_name(found: re.Match[str]) -> bool:
    """Say whether the word found names a secret. Of a variable, `MAILGUN_KEY=…`, any long value may be one."""
    said, word = _before(found), found["password"] or found["other"]
    wide = word == "KEY" and said.isupper() and len(found["quoted"] or found["bare"]) >= _LONG
    return names_secret(said, word, found["more"], wide=wide)


def kind_of_name(name: str) -> str:
    """Name the kind of secret that a field of this name holds."""
    lowered = name.lower()
    return next((kind for kind in ("password", "token", "secret") if kind[:4] in lowered), "key")


def _judge_assignment(found: re.Match[str], mark: Callable[[str], str]) -> str:
    group = "quoted" if found["quoted"] is not None else "bare"
    follows = found.string[found.end() : found.end() + 1]
    if group == "bare" and follows and follows in "([":
        return found[0]
    if not _is_secret(found, found[group], quoted=group == "quoted"):
        return found[0]
    return _swap(found, group, mark(kind_of_name(found["password"] or found["other"])))


def _is_secret(found: re.Match[str], value: str, *, quoted: bool) -> bool:
    if _PLACEHOLDER.match(value) or _DIGEST.match(value) or "://" in value:
        return False
    flag = _FLAG_BEFORE.search(found.string[max(0, found.start() - 44) : found.start()]) is not None
    if found["sep"].isspace() and not flag:
        return False
    if found["password"] and (flag or quoted or found["sep"] == "="):
        return _is_password(found, value, quoted=quoted) and (flag or not _is_count(found, value))
    if (found["other"] or "").lower() in ("auth", "pat"):
        return _is_token(value, quoted=False) and _LOGIN.match(value) is not None
    return _is_token(value, quoted=quoted or flag) or bool(
        found["password"] and _WORD_AND_DIGITS.match(value)
    )


def _is_token(value: str, *, quoted: bool) -> bool:
    if len(value) < 8 or " " in value or (not quoted and _IDENTIFIER.match(value)):
        return False
    return _is_mixed(value) and not _is_path(value)


def _is_password(found: re.Match[str], value: str, *, quoted: bool) -> bool:
    """A password may be any word, but `password = form.value` in source text is none."""
    if quoted:
        return len(value) >= 4
    tight = f"={value}" in found[0] or not found["sep"].strip()
    return len(value) >= 4 and (tight or not _IDENTIFIER.match(value)) and not _is_path(value)


def _is_count(found: re.Match[str], value: str) -> bool:
    """Say whether a number tells how many passed, or which share or flag: `pass=12 fail=0`, `first_pass=99.5`."""
    if found["password"].lower() != "pass" or not (number := _NUMBER.match(value)):
        return False
    return bool(number["other"]) or not _before(found)


def _is_path(value: str) -> bool:
    """Say whether a value names a file; long Base64 may hold slashes too."""
    jumble = len(value) >= 40 and len(re.findall(r"[0-9]", value)) >= 4 and "." not in value
    return _PATH.search(value) is not None and not jumble


def _is_mixed(value: str) -> bool:
    """Say whether a value is built like a token: letters with digits, or a long jumble of either."""
    has_digit = any(char.isdigit() for char in value)
    has_letter = any(char.isalpha() for char in value)
    jumbled = len(value) >= 20 and value.isalnum() and len(re.findall(r"[a-z][A-Z]", value)) >= 4
    return (has_letter and (has_digit or jumbled)) or (has_digit and len(value) >= 20)


def _swap(found: re.Match[str], group: str, new: str) -> str:
    start, end = found.span(group)
    if _PLACEHOLDER.match(found[group]):
        return found[0]
    base = found.start()
    return found[0][: start - base] + new + found[0][end - base :]
