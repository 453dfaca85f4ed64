"""Links that the command itself makes: the same event with its operands and redirections led through them."""

from __future__ import annotations

from ..frozen import replace
from .events import ANYWHERE, ExecEvent, Value
from .machine import Machine, State
from .options import after

KEEPS_LINK = frozenset({"rm", "unlink", "mv", "ls", "stat", "readlink", "test", "[", "ln", "lchown"})
"""Programs that act on a link itself where it is named without a slash behind it."""


def _through_links(m: Machine, st: State, event: ExecEvent) -> ExecEvent | None:
    """The event as it acts on what the links point to; None if none is touched."""
    links = {path: file.target for path, file in st.files.items() if file.link and file.target}
    argv = tuple(_followed(m, st, links, value, event.name) for value in event.argv)
    redirects = tuple(
        replace(item, target=_followed(m, st, links, item.target, None)) for item in event.redirects
    )
    if argv == event.argv and redirects == event.redirects:
        return None
    return replace(event, argv=argv, redirects=redirects)


def note_followed(m: Machine, st: State, event: ExecEvent) -> None:
    """Take an event down as it acts on what links lead to, if there is any."""
    if st.files and any(file.link and file.target for file in st.files.values()):
        followed = _through_links(m, st, event)
        if followed is not None:
            m.emit(followed)


def _followed(m: Machine, st: State, links: dict[str, str], value: Value, name: str | None) -> Value:
    prefix = value.prefix
    if not prefix or prefix.startswith("-"):
        return value
    key, equals, _rest = prefix.partition("=")
    if equals and key.isalpha():
        behind = after(value, len(key) + 1)
        found = _followed(m, st, links, behind, name)
        return value if found == behind else Value((f"{key}={found.prefix}", *found.parts[1:]))
    for cwd in (*st.cwds, *st.fallback):
        if cwd == ANYWHERE and not prefix.startswith("/"):
            continue
        path = m.places.join(cwd, prefix)
        whole = path + ("/" if prefix.endswith("/") and path != "/" else "")
        for link, target in links.items():
            if whole == link and (name in KEEPS_LINK or value.text is None):
                continue
            if whole == link or whole.startswith(link + "/"):
                return Value((target.rstrip("/") + whole[len(link) :] or "/", *value.parts[1:]))
    return value
