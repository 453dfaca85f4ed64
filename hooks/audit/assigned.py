"""Secrets known by what they are assigned to: `PASSWORD=…`, `--token …`, `https://user:…@host`, `Bearer …`.

Patterns are text: `re` compiles and keeps them when the first text is suspicious, which in most hook programs none is.
Every repetition that something must follow is bounded, so that no text can make them slow.
"""

from __future__ import annotations

import re

from ..patterns import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

TELLING = ("pass", "pwd", "secret", "token", "key", "cred")
_PASSWORD = r"pass(?:word|wd|phrase|code)?|pwd"  # noqa: S105 - a pattern
_OTHER = r"secret(?:[_-]?key)?|token|credentials?|key"
_BEFORE_KEY = lazy(
    r"(?:api|access|account|auth|client|consumer|deploy|encryption|license|master|private|service|shared|signing|storage)[_-]?$"
)
_BEFORE_PASS = lazy(r"(?:^|[^a-z]|db|root|admin|user|ssh|pg|my)$")
_VALUE = (
    r"(?:(?P<quote>\\?[\"'`])(?P<quoted>(?:(?!(?P=quote))[^\n]){3,512}?)(?P=quote)"
    r"|(?P<bare>[^\s\"'`,;&|<>(){}\[\]\\]{4,512}))"
)
_ASSIGNED = lazy(
    rf"(?i)(?:(?P<password>{_PASSWORD})|(?P<other>{_OTHER}))(?P<more>[a-z0-9_-]{{0,40}})(?:\\?[\"'`])?"
    rf"\s{{0,4}}(?:\]\s?)?(?P<sep>=>|:=|==|=|:|\s)\s{{0,4}}{_VALUE}"
)
_WORD_AND_DIGITS = r"[A-Za-z]{3,}\d+$"
_FLAG_BEFORE = r"(?:^|[\s\"'])--?[\w-]{0,40}$"
_HARMLESS_ENDS = (
    r"(?i)(?:name|path|file|files|dir|id|ids|type|count|counts|len|length|url|uri|ref|field|label|hash|policy|manager|version|"
    r"arn|limit|budget|usage|expires|expiry|index|used|size|per|rate|class|error|errors|s?_?tokens|izer|ize|ized|"
    r"able|ed|ing|word_?hash|less|through|port|er)$"
)
_PLACEHOLDER = (
    r"(?i)^(?:[$<{%*\[@!]|\.\.\.|x{3,}$|\*+$|-+$|your[-_ ]|"
    r"(?:none|null|nil|true|false|undefined|required|optional|string|str|int|bool|bytes|text|example|placeholder|changeme|"
    r"change_me|password|passwd|secret|token|redacted|hidden|default|todo|value|auto|prompt|never|always|inherit|"
    r"self|request|await|async|return|function|lambda|import|const|disabled|enabled)$)"
)
_IDENTIFIER = r"^[A-Za-z_][A-Za-z_]*\d?(?:\.[A-Za-z_]\w*)*$"
_PATH = (
    r"^(?:~|\.{1,2})?/|^[\w.-]+(?:/[\w.-]+)+$|\.(?:py|js|ts|json|ya?ml|toml|txt|md|pem|key|go|rs|sh|env|cfg)$"
)
_DIGEST = r"(?i)^(?:sha(?:1|256|384|512)[:-]|md5:)"

SPECIAL: tuple[tuple[str, str, str], ...] = (
    # kind, what the lower-case text must hold, pattern
    (
        "bearer",
        "bearer",
        r"(?i)\bbearer\s+[\"']?(?P<value>(?=[A-Za-z_\-.~+/=]{0,200}\d)[A-Za-z0-9_\-.~+/=]{12,})",
    ),
    (
        "authorization",
        "authorization",
        (
            r"(?i)\bauthorization[\"']?\s*[:=]\s*[\"']?(?:basic|bearer|token|digest|apikey|negotiate|aws4-hmac-sha256)\s+"
            r"(?P<value>[^\s\"']{8,})"
        ),
    ),
    ("cookie", "cookie", r"(?i)\bcookie[\"']?\s*[:=]\s*[\"']?(?P<value>[^\n\"'=]{1,200}=[^\n\"']{8,})"),
    ("azure-signature", "sig=", r"[?&]sig=(?P<value>[A-Za-z0-9%+/=_-]{32,})"),
    (
        "password",
        "curl",
        r"\bcurl\b[^\n|;]{0,400}?\s(?:-u|--user|--proxy-user|-U)[ =]?[\"']?[^\s:\"']{1,200}:(?P<value>[^\s\"']{3,})",
    ),
    (
        "password",
        "mysql",
        r"\bmysql(?:dump|admin)?\b[^\n|;&]{0,400}?\s-p[\"']?(?P<value>[^\s\"'-][^\s\"']{2,})",
    ),
    (
        "password",
        "mariadb",
        r"\bmariadb(?:-dump)?\b[^\n|;&]{0,400}?\s-p[\"']?(?P<value>[^\s\"'-][^\s\"']{2,})",
    ),
    ("password", "sshpass", r"\bsshpass\s+-p\s*[\"']?(?P<value>[^\s\"']{3,})"),
    ("password", "redis-cli", r"\bredis-cli\b[^\n|;&]{0,400}?\s-a\s*[\"']?(?P<value>[^\s\"']{3,})"),
    ("password", "pass:", r"\bpass:(?P<value>[^\s\"']{3,})"),
    (
        "password",
        " login",
        r"\b(?:docker|podman|npm|az|oc|registry)\s+login\b[^\n|;&]{0,400}?\s-p[ =]?[\"']?(?P<value>[^\s\"'-][^\s\"']{2,})",
    ),
)
_URL = r"://[^\s/:@\"'<>]*:(?P<value>[^\s/@\"'<>]{3,})@"


HINTS = (
    # A pattern that begins with one letter runs through a text as fast as looking for that letter alone, fifty times
    # faster than an alternation; where it finds nothing, none of the words beside it stands in the text.
    (lazy("k(?=ey|en|ie)"), ("key", "token", "cookie")),
    (lazy("c(?=ret|red|url)"), ("secret", "cred", "curl")),
    (lazy("w(?=d)"), ("pwd",)),
    (lazy("s(?=s)(?<=pas)"), ("pass", "pass:", "sshpass")),
    (lazy("g(?:(?<=sig)(?==)|(?<= log)(?=in))"), ("sig=", " login")),
    (lazy("z(?=ation)"), ("authorization",)),
    (lazy("q(?=l)"), ("mysql",)),
    (lazy("b(?=ea)"), ("bearer",)),
    (lazy("mariadb"), ("mariadb",)),
    (lazy("redis-cli"), ("redis-cli",)),
    (lazy("@"), ("://",)),
)

_SHORT = 1000
"""In a text of fewer characters all words are looked for faster than the hints' patterns are compiled."""


def may_hold(lowered: str) -> bool:
    """Say whether lower-case text may hold an assigned secret too short to be noticed as a long word."""
    return (
        "key" in lowered
        or "pass" in lowered
        or "token" in lowered
        or "secret" in lowered
        or "pwd" in lowered
        or "curl" in lowered
        or "mysql" in lowered
        or "mariadb" in lowered
        or "redis-cli" in lowered
        or " login" in lowered
        or ("://" in lowered and "@" in lowered)
    )


def replace(text: str, lowered: str, mark: Callable[[str], str]) -> str:
    """Replace every assigned secret in a text by the mark of its kind."""
    needles = _needles(lowered)
    if "://" in needles:
        text = re.sub(_URL, lambda found: _swap(found, "value", mark("url-password")), text)
    for kind, needle, pattern in SPECIAL:
        if needle in needles:
            text = re.sub(pattern, lambda found, kind=kind: _swap(found, "value", mark(kind)), text)
    pieces: list[str] = []
    done = 0
    for found in _assignments(text, [word for word in TELLING if word in needles]):
        if found.start() >= done:
            pieces += [text[done : found.start()], _judge_assignment(found, mark)]
            done = found.end()
    return "".join([*pieces, text[done:]]) if pieces else text


def _needles(lowered: str) -> set[str]:
    """Give the words of all hints that stand in a text."""
    if len(lowered) < _SHORT:
        return {word for _, words in HINTS for word in words if word in lowered}
    return {word for hint, words in HINTS if hint.search(lowered) for word in words if word in lowered}


def is_secret_field(name: str, value: str) -> bool:
    """Say whether a field of structured data holds a secret, by its name and build."""
    if not any(word in name.lower() for word in TELLING):
        return False
    assignments = _assignments(f'{name}="{value}"')
    return any(found["quoted"] == value and _is_secret(found, value, quoted=True) for found in assignments)


def _assignments(text: str, words: Sequence[str] = TELLING) -> Iterator[re.Match[str]]:
    """Give what looks like a value assigned to a telling name, in order.

    The names are looked for as plain text, and the pattern is tried only where one stands: fifty times faster than to
    let the pattern look for itself.
    """
    if not words:
        return
    lowered = _lower(text)
    places = sorted(place for word in words for place in _places(lowered, word))
    for place in places:
        found = _ASSIGNED.match(text, place)
        if found and _is_name(found, lowered[max(0, place - 14) : place]):
            yield found


def _places(lowered: str, word: str) -> Iterator[int]:
    place = lowered.find(word)
    while place >= 0:
        yield place
        place = lowered.find(word, place + len(word))


def _lower(text: str) -> str:
    """Lower ASCII letters only, for some others change the length of a text."""
    return text.lower() if text.isascii() else "".join(c.lower() if c.isascii() else c for c in text)


def _is_name(found: re.Match[str], before: str) -> bool:
    """Say whether the word found names a secret: `api_key` does and `key` does not, `db_pass` and not `compass`."""
    word = (found["password"] or found["other"]).lower()
    if word == "key":
        return _BEFORE_KEY.search(before) is not None
    return word != "pass" or _BEFORE_PASS.search(before) is not None


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
    if re.search(_HARMLESS_ENDS, found["more"]) or re.match(_PLACEHOLDER, value):
        return False
    if re.match(_DIGEST, value) or "://" in value:
        return False
    flag = re.search(_FLAG_BEFORE, found.string[max(0, found.start() - 44) : found.start()]) is not None
    if found["sep"].isspace() and not flag:
        return False
    if found["password"] and (flag or quoted or found["sep"] == "="):
        return _is_password(found, value, quoted=quoted)
    return _is_token(value, quoted=quoted or flag) or bool(
        found["password"] and re.match(_WORD_AND_DIGITS, value)
    )


def _is_token(value: str, *, quoted: bool) -> bool:
    if len(value) < 8 or " " in value or (not quoted and re.match(_IDENTIFIER, value)):
        return False
    return _is_mixed(value) and not _is_path(value)


def _is_password(found: re.Match[str], value: str, *, quoted: bool) -> bool:
    """A password may be any word, but `password = form.value` in source text is none."""
    if quoted:
        return len(value) >= 4
    tight = f"={value}" in found[0] or not found["sep"].strip()
    return len(value) >= 4 and (tight or not re.match(_IDENTIFIER, value)) and not _is_path(value)


def _is_path(value: str) -> bool:
    """Say whether a value names a file; long Base64 may hold slashes too."""
    jumble = len(value) >= 40 and len(re.findall(r"[0-9]", value)) >= 4 and "." not in value
    return re.search(_PATH, value) is not None and not jumble


def _is_mixed(value: str) -> bool:
    """Say whether a value is built like a token: letters with digits, or a long jumble of capitals and small letters."""
    has_digit = any(char.isdigit() for char in value)
    has_letter = any(char.isalpha() for char in value)
    jumbled = len(value) >= 20 and value.isalnum() and len(re.findall(r"[a-z][A-Z]", value)) >= 4
    return has_letter and (has_digit or jumbled)


def _swap(found: re.Match[str], group: str, new: str) -> str:
    start, end = found.span(group)
    if re.match(_PLACEHOLDER, found[group]):
        return found[0]
    base = found.start()
    return found[0][: start - base] + new + found[0][end - base :]
