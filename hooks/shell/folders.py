"""Where commands run: cd, pushd, popd as changes to a set of possible folders."""

from __future__ import annotations

import posixpath

from .events import ANYWHERE, ExecEvent, Glob, Value, literal
from .lookup import lookup
from .machine import DONE, Frame, Machine, Outcome, State
from .state import union
from .values import join


def change(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome:
    """`cd`: the folder it leads to; the one before stays possible, should it fail."""
    del fr
    args = [value for value in event.argv if value.text not in {"-L", "-P", "-e", "-@", "--"}]
    before = st.cwds
    if args and args[0].text == "-":
        target = st.oldpwd or (ANYWHERE,)
        out = literal("\n")
    else:
        value = args[0] if args else literal(m.places.home) if "HOME" not in st.vars else _home(m, st)
        target, out = folders_named(m, st, value), Value()
    if not target:
        return DONE
    _go(m, st, target)
    st.oldpwd = before
    return Outcome(out)


def _home(m: Machine, st: State) -> Value:
    found = lookup(m, st, "HOME")
    return found if isinstance(found, Value) else literal(m.places.home)


def _go(m: Machine, st: State, target: tuple[str, ...]) -> None:
    before = st.cwds
    certain = "errexit" in st.options or all(_exists(m, st, path) for path in target)
    st.cwds = target
    st.fallback = () if certain else tuple(cwd for cwd in before if cwd not in target)
    st.vars.pop("PWD", None)


def _exists(m: Machine, st: State, path: str) -> bool:
    """True for folders that are certainly there."""
    places = m.places
    sure = {
        "/",
        "/tmp",  # noqa: S108  the shell's folder, not ours
        "/etc",
        "/usr",
        "/var",
        "/home",
        "/bin",
        places.home,
        places.workspace,
        places.cwd,
        *places.temp,
    }
    return path in sure or places.workspace.startswith(path + "/") or path in st.files


def folders_named(m: Machine, st: State, value: Value) -> tuple[str, ...]:
    """The absolute folders a word may lead to."""
    text = value.text
    if text == "":
        return st.cwds
    if text is None:
        return _half_known(m, st, value)
    found: list[str] = []
    for cwd in st.cwds:
        if cwd == ANYWHERE and not text.startswith("/"):
            found.append(ANYWHERE)
        else:
            found.append(_followed(m, st, m.places.join(cwd, text)))
    if not text.startswith(("/", "./", "../")) and text not in {".", ".."}:
        found.extend(_cdpath(m, st, text))
    return tuple(dict.fromkeys(found))


def _cdpath(m: Machine, st: State, text: str) -> list[str]:
    if "CDPATH" not in st.vars:
        return []
    value = lookup(m, st, "CDPATH")
    known = value.text if isinstance(value, Value) else ""
    return [
        m.places.join(cwd, posixpath.join(folder, text))
        for folder in (known or "").split(":")
        if folder
        for cwd in st.cwds
    ]


def _followed(m: Machine, st: State, path: str) -> str:
    file = st.files.get(path)
    if file is not None and file.link and file.target:
        return file.target
    return m.places.resolve(path) if m.places.resolve else path


def _half_known(m: Machine, st: State, value: Value) -> tuple[str, ...]:
    """A folder with unknown parts: what is certain is the folder before them, kept as `FOLDER/*` would be."""
    if all(isinstance(part, (str, Glob)) for part in value.parts):
        text = value.show()
        return tuple(
            m.places.join(cwd, text) for cwd in st.cwds if cwd != ANYWHERE or text.startswith("/")
        ) or (ANYWHERE,)
    return (ANYWHERE,)


def push(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome:
    """`pushd`."""
    del fr
    args = [value for value in event.argv if value.text not in {"-n", "--"}]
    if not args:
        if st.stack:
            st.stack, target = (st.cwds, *st.stack[1:]), st.stack[0]
            st.oldpwd = st.cwds
            _go(m, st, target)
        return DONE
    target = folders_named(m, st, args[0])
    st.stack = (st.cwds, *st.stack)
    st.oldpwd = st.cwds
    _go(m, st, target)
    return Outcome(join((args[0], literal("\n"))))


def pop(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome:
    """`popd`."""
    del fr, event
    if st.stack:
        st.oldpwd = st.cwds
        _go(m, st, st.stack[0])
        st.fallback = ()
        st.stack = st.stack[1:]
    return DONE


def where(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome:
    """`pwd`."""
    del fr, event
    options = union(st.cwds, st.fallback)
    cwd = m.pick(("pwd", options), options)
    return Outcome(literal(cwd + "\n") if cwd != ANYWHERE else Value())


__all__ = ("change", "folders_named", "pop", "push", "where")
