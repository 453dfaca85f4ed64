"""The environment that commands run in: the person's, without secrets, without start-up code, without a keyboard."""

from __future__ import annotations

import re
from collections.abc import Mapping

DROPPED = re.compile(
    r"ANTHROPIC_.*|CLAUDE.*|DECURION_.*"  # ours, and other agents' inside which we may run
    r"|BASH_ENV|ENV|PROMPT_COMMAND|SHELLOPTS|BASHOPTS|BASH_FUNC_.*|PS[0-4]|BASH_XTRACEFD|CDPATH|GLOBIGNORE|IFS"
    r"|LD_.*|DYLD_.*"  # code that every program would load
    r"|GIT_(?:DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|OBJECT_DIRECTORY|NAMESPACE|CONFIG_(?:COUNT|KEY_.*|VALUE_.*|PARAMETERS))"
    r"|GIT_ALTERNATE_OBJECT_DIRECTORIES|GIT_PREFIX|GIT_EXEC_PATH|GIT_EXTERNAL_DIFF|GIT_PROXY_COMMAND"
    r"|PYTHONSTARTUP|LESSOPEN|LESSCLOSE|OLDPWD|HISTFILE|COLUMNS|LINES|TERMCAP|GPG_TTY"
)
SECRET = re.compile(
    r".*(?:API_?KEY|ACCESS_?KEY|SECRET|TOKEN(?!IZERS)|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|PRIVATE_?KEY).*"
    r"|.*_(?:KEY|PASS|AUTH)|PGPASS",
    re.IGNORECASE,
)
"""Names of variables that hold secrets. Commands come from a model, and whatever they see may leave the machine."""
LOGIN = re.compile(r"\w+://[^\s/:@]*:[^\s/@]+@")
"""A password inside an address, as databases have them. Proxies keep theirs, or there would be no network."""

NO_EDITOR = (
    "echo 'There is no editor here: give the text on the command line, as git commit -m does.' >&2; false"
)
QUIET: Mapping[str, str] = {
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "EDITOR": NO_EDITOR,
    "VISUAL": NO_EDITOR,
    "GIT_EDITOR": NO_EDITOR,
    "GIT_SEQUENCE_EDITOR": NO_EDITOR,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "false",
    "SSH_ASKPASS": "false",
    "SSH_ASKPASS_REQUIRE": "never",
    "SUDO_ASKPASS": "false",
    "GCM_INTERACTIVE": "never",
    "DEBIAN_FRONTEND": "noninteractive",
    "PIP_NO_INPUT": "1",
    "POETRY_NO_INTERACTION": "1",
    "NPM_CONFIG_YES": "true",
    "HISTFILE": "/dev/null",
}


def command_environment(inherited: Mapping[str, str], added: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a command; what is `added` on purpose stands, whatever its name."""
    kept = {name: value for name, value in inherited.items() if _harmless(name, value)}
    kept.setdefault("GIT_SSH_COMMAND", "ssh -oBatchMode=yes")
    return {**kept, **QUIET, **added}


def _harmless(name: str, value: str) -> bool:
    if DROPPED.fullmatch(name) or SECRET.fullmatch(name):
        return False
    return name.upper().endswith("_PROXY") or not LOGIN.search(value)
