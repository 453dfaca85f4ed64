"""Secrets known by what they are assigned to: `PASSWORD=…`, `--token …`, `https://user:…@host`, `Bearer …`."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_PASSWORD = r"pass(?:word|wd|phrase|code)?|pwd"  # noqa: S105 - a pattern
_OTHER = (
    r"secret|token|(?:api|access|account|auth|client|consumer|deploy|encryption|license|master|private|secret|"
    r"service|shared|signing|storage)[_-]?key|credentials?|authkey|apikey"
)
_NAME = (
    rf"(?P<name>_*(?:[A-Za-z0-9]+[_.-])*?[A-Za-z0-9]*?(?P<word>{_PASSWORD}|{_OTHER})(?P<more>[A-Za-z0-9_-]*))"
)
_VALUE = r"(?:(?P<quote>\\?[\"'`])(?P<quoted>(?:(?!(?P=quote))[^\n]){3,512}?)(?P=quote)|(?P<bare>[^\s\"'`,;&|<>(){}\[\]\\]{4,512}))"

_ASSIGNED = re.compile(
    rf"(?<![A-Za-z0-9_.-])(?P<flag>--?)?{_NAME}(?:\\?[\"'`])?\s{{0,4}}(?:\]\s?)?(?P<sep>=>|:=|==|=|:|\s)\s{{0,4}}{_VALUE}",
    re.IGNORECASE,
)
_HARMLESS_ENDS = re.compile(
    r"(?:name|path|file|files|dir|id|ids|type|count|counts|len|length|url|uri|ref|field|label|hash|policy|manager|version|"
    r"arn|limit|budget|usage|expires|expiry|index|used|size|per|rate|class|error|errors|s?_?tokens|izer|ize|ized|"
    r"able|ed|ing|word_?hash|less|through|port|er)$",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"^(?:[$<{%*\[@!]|\.\.\.|x{3,}$|\*+$|-+$|(?:your|my|the|some|an?)[-_ ]|"
    r"(?:none|null|nil|true|false|undefined|required|optional|string|str|int|bool|bytes|text|example|placeholder|changeme|"
    r"change_me|password|passwd|secret|token|redacted|hidden|default|todo|value|auto|prompt|never|always|inherit|"
    r"self|request|await|async|return|function|lambda|import|const|disabled|enabled)$)",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(r"^[A-Za-z_][A-Za-z_]*\d?(?:\.[A-Za-z_]\w*)*$")
_PATH = re.compile(
    r"^(?:~|\.{1,2})?/|^[\w.-]+(?:/[\w.-]+)+$|\.(?:py|js|ts|json|ya?ml|toml|txt|md|pem|key|go|rs|sh|env|cfg)$"
)
_DIGEST = re.compile(r"^(?:sha(?:1|256|384|512)[:-]|md5:)", re.IGNORECASE)

_SPECIAL: tuple[tuple[str, str, re.Pattern[str]], ...] = (
    (
        "bearer",
        "bearer",
        re.compile(
            r"\bbearer\s+[\"']?(?P<value>(?=[A-Za-z_\-.~+/=]*\d)[A-Za-z0-9_\-.~+/=]{12,})", re.IGNORECASE
        ),
    ),
    (
        "authorization",
        "authorization",
        re.compile(
            r"\bauthorization[\"']?\s*[:=]\s*[\"']?(?:basic|bearer|token|digest|apikey|negotiate|aws4-hmac-sha256)\s+"
            r"(?P<value>[^\s\"']{8,})",
            re.IGNORECASE,
        ),
    ),
    (
        "cookie",
        "cookie",
        re.compile(r"\bcookie[\"']?\s*[:=]\s*[\"']?(?P<value>[^\n\"']*=[^\n\"']{8,})", re.IGNORECASE),
    ),
    ("azure-signature", "sig=", re.compile(r"[?&]sig=(?P<value>[A-Za-z0-9%+/=_-]{32,})")),
    (
        "password",
        "curl",
        re.compile(
            r"\bcurl\b[^\n|;]*?\s(?:-u|--user|--proxy-user|-U)[ =]?[\"']?[^\s:\"']+:(?P<value>[^\s\"']{3,})"
        ),
    ),
    (
        "password",
        "my",
        re.compile(r"\b(?:mysql|mysqldump|mysqladmin)\b[^\n|;&]*?\s-p[\"']?(?P<value>[^\s\"'-][^\s\"']{2,})"),
    ),
    (
        "password",
        "mariadb",
        re.compile(r"\bmariadb(?:-dump)?\b[^\n|;&]*?\s-p[\"']?(?P<value>[^\s\"'-][^\s\"']{2,})"),
    ),
    ("password", "sshpass", re.compile(r"\bsshpass\s+-p\s*[\"']?(?P<value>[^\s\"']{3,})")),
    ("password", "redis-cli", re.compile(r"\bredis-cli\b[^\n|;&]*?\s-a\s*[\"']?(?P<value>[^\s\"']{3,})")),
    ("password", "pass:", re.compile(r"\bpass:(?P<value>[^\s\"']{3,})")),
    (
        "password",
        "login",
        re.compile(
            r"\b(?:docker|podman|npm|az|oc|helm registry)\s+login\b[^\n|;&]*?\s-p[ =]?[\"']?(?P<value>[^\s\"'-][^\s\"']{2,})"
        ),
    ),
)
_URL = re.compile(r"://[^\s/:@\"'<>]*:(?P<value>[^\s/@\"'<>]{3,})@")


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
    if "://" in lowered:
        text = _URL.sub(lambda found: _swap(found, "value", mark("url-password")), text)
    for kind, needle, pattern in _SPECIAL:
        if needle in lowered:
            text = pattern.sub(lambda found, kind=kind: _swap(found, "value", mark(kind)), text)
    return _ASSIGNED.sub(lambda found: _judge_assignment(found, mark), text)


def is_secret_field(name: str, value: str) -> bool:
    """Say whether a field of structured data holds a secret, by its name and build."""
    found = _ASSIGNED.match(f'{name}="{value}"')
    return bool(found and found["quoted"] == value and _is_secret(found, value, quoted=True))


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
    return _swap(found, group, mark(kind_of_name(found["word"])))


def _is_secret(found: re.Match[str], value: str, *, quoted: bool) -> bool:
    if (
        _HARMLESS_ENDS.search(found["more"])
        or _PLACEHOLDER.match(value)
        or _DIGEST.match(value)
        or "://" in value
    ):
        return False
    spaced = found["sep"].isspace()
    if spaced and not found["flag"]:
        return False
    is_password = re.fullmatch(_PASSWORD, found["word"], re.IGNORECASE) is not None
    tight = found["flag"] or quoted or (found["sep"] == "=" and f"={value}" in found[0])
    if is_password and tight:
        return len(value) >= 4 and (" " not in value or quoted) and not (_PATH.search(value) and not quoted)
    if not quoted and _IDENTIFIER.match(value):
        return False
    return len(value) >= 8 and " " not in value and _is_mixed(value) and not _PATH.search(value)


def _is_mixed(value: str) -> bool:
    """Say whether a value is built like a token: letters with digits, or a long jumble of capitals and small letters."""
    has_digit = any(char.isdigit() for char in value)
    has_letter = any(char.isalpha() for char in value)
    jumbled = len(value) >= 20 and value.isalnum() and len(re.findall(r"[a-z][A-Z]", value)) >= 4
    return has_letter and (has_digit or jumbled)


def _swap(found: re.Match[str], group: str, new: str) -> str:
    start, end = found.span(group)
    if _PLACEHOLDER.match(found[group]):
        return found[0]
    base = found.start()
    return found[0][: start - base] + new + found[0][end - base :]
