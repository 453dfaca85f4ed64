"""git: aliases, `-c` settings, hooks, `rebase --exec`, `bisect run`, and everything else it hands to a shell."""

from __future__ import annotations

import posixpath
import re

from ..code import run_code, run_shell
from ..events import ExecEvent, Value, literal
from ..folders import folders_named
from ..machine import Frame, Machine, Outcome, State
from ..options import after, operands, skip, values_of
from ..programs import make_event, run_argv
from ..redirects import put_file
from ..unpacked import clone
from ..values import join, of, unknown
from .git_settings import CODE_KEYS, NOT_CODE, keep_setting

GLOBAL_VALUED = "Cc"
GLOBAL_LONG = frozenset(
    {"git-dir", "work-tree", "namespace", "super-prefix", "config-env", "exec-path", "attr-source"}
)
OPTION_CODE: dict[str, tuple[str, tuple[str, ...]]] = {
    "rebase": ("x", ("exec",)),
    "difftool": ("x", ("extcmd",)),
    "filter-branch": (
        "",
        (
            "tree-filter",
            "index-filter",
            "env-filter",
            "msg-filter",
            "commit-filter",
            "tag-name-filter",
            "parent-filter",
            "setup",
        ),
    ),
    "clone": ("u", ("upload-pack",)),
    "fetch": ("", ("upload-pack",)),
    "pull": ("", ("upload-pack",)),
    "ls-remote": ("", ("upload-pack", "exec")),
    "push": ("", ("receive-pack", "exec")),
    "archive": ("", ("exec",)),
    "grep": ("O", ("open-files-in-pager",)),
    "send-email": ("", ("sendmail-cmd", "to-cmd", "cc-cmd")),
    "fast-import": ("", ()),
    "bundle": ("", ()),
    "svn": ("", ()),
    "upload-pack": ("", ()),
}


def _top(m: Machine, st: State) -> Outcome | None:
    """The root of the working tree: the workspace, for whoever is inside it."""
    root = m.places.workspace
    if st.cwds and all(cwd == root or cwd.startswith(f"{root}/") for cwd in st.cwds):
        return Outcome(literal(root + "\n"))
    return None


def git(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """Follow what one git command hands on."""
    words = event.argv
    at = skip(words, GLOBAL_VALUED, GLOBAL_LONG)
    inner = fr.within("git")
    here = st.fork()
    _enter(m, here, words[:at])
    aliases = _settings(m, here, inner, words[:at], event)
    if at >= len(words):
        return None
    sub, rest = words[at], words[at + 1 :]
    name = sub.text or ""
    if name == "rev-parse" and at == 0 and [value.text for value in rest] == ["--show-toplevel"]:
        return _top(m, here)
    if aliases.get(name.lower()) is not None:
        return _alias(m, here, inner, event, aliases[name.lower()], rest)
    follow = _SUBCOMMANDS.get(name)
    if follow is not None:
        follow(m, here, inner, rest)
    short, long = OPTION_CODE.get(name, ("", ()))
    for code in values_of(rest, short, *long):
        run_shell(m, here, inner, code, f"git {name}")
    for value in rest:
        if value.prefix.startswith("ext::"):
            run_shell(
                m, here, inner, literal((value.text or value.prefix)[5:].replace("% ", "\\ ")), "git ext::"
            )
    if name == "clone":
        _cloned(m, here, event, rest)
        st.unpacked = here.unpacked
    if name in {"config", "bisect", "submodule"}:
        st.vars.update({key: value for key, value in here.vars.items() if key.startswith("git alias ")})
    return None


def _enter(m: Machine, st: State, words: tuple[Value, ...]) -> None:
    index = 0
    while index < len(words):
        if words[index].text == "-C" and index + 1 < len(words):
            st.cwds, st.fallback = folders_named(m, st, words[index + 1]), ()
            index += 1
        elif words[index].text == "-c":
            index += 1
        index += 1


def _settings(
    m: Machine, st: State, fr: Frame, words: tuple[Value, ...], event: ExecEvent
) -> dict[str, Value]:
    """Aliases in force; code in other settings runs."""
    aliases = {
        key.removeprefix("git alias "): options[0]
        for key, options in st.vars.items()
        if key.startswith("git alias ") and isinstance(options[0], Value)
    }
    given = [words[index + 1] for index, value in enumerate(words[:-1]) if value.text == "-c"]
    given.extend(
        after(value, 2)
        for value in words
        if value.prefix.startswith("-c") and len(value.prefix) > 2 and "=" in value.prefix
    )
    for value in given:
        key, equals, _rest = value.prefix.partition("=")
        if equals:
            _setting(m, st, fr, key, after(value, len(key) + 1), aliases)
    for key, value in _from_environment(st, event, words):
        _setting(m, st, fr, key, value, aliases)
    return aliases


def _from_environment(st: State, event: ExecEvent, words: tuple[Value, ...]) -> list[tuple[str, Value]]:
    env = dict(event.env)
    found: list[tuple[str, Value]] = []
    for name, key in env.items():
        if name.startswith("GIT_CONFIG_KEY_") and key.text:
            found.append((key.text, env.get(name.replace("_KEY_", "_VALUE_"), Value())))
    parameters = env.get("GIT_CONFIG_PARAMETERS")
    if parameters is not None and parameters.text:
        for item in re.findall(r"'([^']*)'(?:=('[^']*'))?", parameters.text):
            key, _, text = item[0].partition("=")
            found.append((key, literal(item[1].strip("'") or text)))
    for value in words:
        if value.prefix.startswith("--config-env="):
            key, _, variable = value.prefix.removeprefix("--config-env=").partition("=")
            options = st.vars.get(variable, ())
            found.extend((key, option) for option in options if isinstance(option, Value))
    return found


def _setting(m: Machine, st: State, fr: Frame, key: str, value: Value, aliases: dict[str, Value]) -> None:
    lowered = key.lower()
    if lowered.startswith("alias."):
        aliases[lowered.removeprefix("alias.")] = value
    elif NOT_CODE.fullmatch(key) or not CODE_KEYS.fullmatch(key):
        return
    elif lowered.startswith("credential."):
        if value.prefix.startswith(("!", "/")):
            run_shell(m, st, fr, _without_mark(value), f"git {key}")
    elif value.text not in {"true", "false", "", "cat"}:
        run_shell(m, st, fr, _without_mark(value), f"git {key}")


def _without_mark(value: Value) -> Value:
    return after(value, 1) if value.prefix.startswith("!") else value


def _alias(
    m: Machine, st: State, fr: Frame, event: ExecEvent, text: Value, rest: tuple[Value, ...]
) -> Outcome | None:
    from ..simple import requoted

    if len([name for name in fr.via if name == "git"]) > 6:
        return None
    code = join((text, *(requoted(value) for value in rest)), " ")
    if text.prefix.startswith("!"):
        inside = st.fork()
        return run_code(m, inside, fr, after(code, 1), "git alias")
    return run_shell(
        m,
        st,
        fr,
        of((event.program.show() if event.program.text == "git" else "git", " ", *code.parts)),
        "git alias",
    )


def _config(m: Machine, st: State, fr: Frame, rest: tuple[Value, ...]) -> None:
    """`git config key value`: aliases are remembered, code in other settings runs later, so it counts now."""
    at = skip(rest, "f", frozenset({"file", "blob", "type", "default", "comment", "value"}))
    words = [value for value in rest[at:] if not (value.text or "").startswith("--")]
    if words and words[0].text in {"set", "add"}:
        words.pop(0)
    if len(words) < 2 or not words[0].text:
        return
    aliases: dict[str, Value] = {}
    _setting(m, st, fr, words[0].text, words[1], aliases)
    keep_setting(m, st, fr, rest, words[0].text, words[1])
    for name, value in aliases.items():
        st.vars[f"git alias {name}"] = (value,)
        if value.prefix.startswith("!"):
            run_shell(m, st, fr, after(value, 1), "git alias")


def _bisect(m: Machine, st: State, fr: Frame, rest: tuple[Value, ...]) -> None:
    if rest and rest[0].text == "run":
        run_argv(m, st.fork(), fr, list(rest[1:]), functions=False)


def _submodule(m: Machine, st: State, fr: Frame, rest: tuple[Value, ...]) -> None:
    at = skip(rest)
    if at < len(rest) and rest[at].text == "foreach":
        words = list(rest[at + 1 :])
        while words and (words[0].text or "").startswith("-"):
            words.pop(0)
        if len(words) == 1:
            run_shell(m, st, fr, words[0], "git submodule foreach")
        elif words:
            run_argv(m, st.fork(), fr, words, functions=False)


def _worktree_hooks(m: Machine, st: State, fr: Frame, rest: tuple[Value, ...]) -> None:
    """`git hook run`, `git init --template`: hooks the command itself wrote run with the next git command."""
    del rest
    for path, file in list(st.files.items()):
        if file.contents and ("/hooks/" in path or posixpath.basename(path) in HOOKS):
            run_shell(m, st, fr, file.contents[-1], posixpath.basename(path))


HOOKS = frozenset(
    "pre-commit prepare-commit-msg commit-msg post-commit pre-push pre-rebase post-checkout post-merge post-rewrite"
    " pre-merge-commit applypatch-msg pre-applypatch post-applypatch reference-transaction pre-auto-gc sendemail-validate"
    " post-index-change fsmonitor-watchman".split()
)


def _clone_config(m: Machine, st: State, fr: Frame, rest: tuple[Value, ...]) -> None:
    for value in values_of(rest, "c", "config"):
        key, equals, _text = value.prefix.partition("=")
        if equals:
            _setting(m, st, fr, key, after(value, len(key) + 1), {})


def _cloned(m: Machine, st: State, event: ExecEvent, rest: tuple[Value, ...]) -> None:
    """The folder that a clone makes holds code of another machine."""
    words = operands(rest, "bojucO", CLONE_LONG)
    address = words[0].suffix if words else ""
    if words and ("://" in words[0].prefix or "@" in words[0].prefix or ":" in words[0].prefix):
        named = literal(posixpath.basename(address.rstrip("/")).rpartition(":")[2].removesuffix(".git"))
        clone(m, st, event, words[1] if len(words) > 1 else named)


def gh(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`gh repo clone OWNER/NAME`, `gh release download -p NAME`: code of another machine, and files of it."""
    del fr
    words = [value.text or "" for value in event.argv[:2]]
    if words in (["repo", "clone"], ["gist", "clone"]) and len(event.argv) > 2:
        repository, *folder = operands(event.argv[2:], "u", frozenset({"upstream-remote-name"}))
        clone(m, st, event, folder[0] if folder else literal(posixpath.basename(repository.suffix)))
    if words == ["release", "download"]:
        for name in values_of(event.argv, "p", "pattern", "output"):
            put_file(m, st, name, unknown("what gh fetches", (event,)))
    return None


CLONE_LONG = frozenset(
    "branch origin depth jobs upload-pack reference reference-if-able separate-git-dir config filter template"
    " shallow-since shallow-exclude server-option bundle-uri".split()
)


_SUBCOMMANDS = {
    "config": _config,
    "bisect": _bisect,
    "submodule": _submodule,
    "hook": _worktree_hooks,
    **dict.fromkeys(
        ("commit", "push", "checkout", "switch", "merge", "rebase", "pull", "am", "gc"), _worktree_hooks
    ),
    "clone": _clone_config,
}

__all__ = ("git", "make_event")
