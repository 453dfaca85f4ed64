"""git's settings that it runs or obeys with every later command: which they are, and where they are kept."""

from __future__ import annotations

import re

from ...frozen import replace
from ...patterns import lazy
from ..events import Redirect, Value, literal
from ..machine import Frame, Machine, State
from ..options import has, values_of
from ..programs import make_event

CODE_KEYS = lazy(
    r"core\.(?:pager|editor|sshcommand|askpass|fsmonitor|gitproxy|alternaterefscommand)|pager\..+|sequence\.editor"
    r"|diff\.external|diff\..+\.(?:textconv|command)|merge\..+\.driver|filter\..+\.(?:clean|smudge|process)"
    r"|(?:diff|merge)tool\..+\.cmd|gpg\.(?:.+\.)?program|credential\.(?:.+\.)?helper|web\.browser|browser\..+\.cmd"
    r"|sendemail\.(?:.*cmd|smtpserver)|uploadpack\.packobjectshook|remote\..+\.(?:uploadpack|receivepack|proxy)"
    r"|interactive\.difffilter|man\..+\.cmd|instaweb\.httpd|init\.templatedir|trailer\..+\.(?:command|cmd)|submodule\..+\.update"
    r"|protocol\.ext\.allow|core\.hookspath",
    re.IGNORECASE,
)
"""Settings whose value git runs (git-config manual)."""
NOT_CODE = lazy(r"core\.hookspath|init\.templatedir|protocol\..*", re.IGNORECASE)
_OBEYED = lazy(
    r"core\.hookspath|init\.templatedir|include\.path|includeif\..+\.path|protocol\..+\.allow", re.IGNORECASE
)
"""Settings that name hooks, further settings or transports, whatever their value."""
_CUT = lazy(r"[;|&]+")
_ORDINARY = frozenset(
    "true false 0 1 yes no on off cat less more vi vim nvim nano emacs emacsclient code subl meld vimdiff nvimdiff kdiff3"
    " difft delta bat diff-so-fancy diff-highlight cache store osxkeychain manager manager-core libsecret wincred gh glab"
    " ssh gpg gpg2 gpgsm ssh-keygen git-lfs git-crypt nbstripout nbdime never user checkout merge rebase none".split()
)
"""Values and programs that people set here every day, by bare name: what they mean is known."""
KEPT_HERE = ".git/config"
_TRACKED_HOOKS = frozenset({".husky", ".husky/_", ".githooks"})
"""Where projects keep hooks among their files, to be seen in every diff; `npm install` with husky sets the same."""
_ONLY_LOOKS = ("get", "get-all", "get-regexp", "get-urlmatch", "unset", "unset-all", "list", "remove-section")


def keep_setting(m: Machine, st: State, fr: Frame, words: tuple[Value, ...], key: str, value: Value) -> None:
    """Take down that `git config` writes git's settings, where git would run or obey what it writes.

    Other settings (`user.name`) are no future code, so writing them writes no protected file.
    """
    if has(words, "l", *_ONLY_LOOKS) or not _runs_later(key, value):
        return
    target = _kept_in(m, words)
    if target.text == KEPT_HERE and key.lower() == "core.hookspath" and value.text in _TRACKED_HOOKS:
        return
    event = make_event(m, st, fr, literal(":"), ":", [])
    event = m.emit(replace(event, redirects=(*event.redirects, Redirect(">", 1, target))))
    m.write(target, None, event)


def _runs_later(key: str, value: Value) -> bool:
    if key.lower().startswith("alias."):
        return value.prefix.startswith("!") or (value.text is None and not value.prefix)
    if _OBEYED.fullmatch(key):
        return value.text != "never"
    return CODE_KEYS.fullmatch(key) is not None and not _is_ordinary(value)


def _is_ordinary(value: Value) -> bool:
    text = value.prefix.removeprefix("!")
    if "`" in text or "$(" in text or (value.text is None and not text):
        return False
    return all((stage.split() or ["true"])[0] in _ORDINARY for stage in _CUT.split(text))


def _kept_in(m: Machine, words: tuple[Value, ...]) -> Value:
    for named in values_of(words, "f", "file"):
        return named
    if has(words, "", "global"):
        return literal(f"{m.places.home}/.gitconfig")
    return literal("/etc/gitconfig" if has(words, "", "system") else KEPT_HERE)
