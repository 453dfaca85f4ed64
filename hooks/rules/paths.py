"""Where a word points: path predicates over `Value`s, decided from text alone.

A word becomes one or more spots: absolute paths as components, where a component is text or a `Value` with globs and
holes in it, or None where it could be anywhere. Nothing is looked up on disk, except through `Places.resolve` where a live command is judged. An unknown
piece counts as one unknown name and as nothing at all, so `"$DIR"/` is also `/`; a word that starts unknown could
point anywhere.
"""

from __future__ import annotations

from ..shell.events import ANYWHERE, Glob, Hole, Value
from .defaults import joined, with_defaults
from .glob import STRANGE_NAME
from .listed import listed_by

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ..shell.events import ExecEvent, Places
    from .pathset import PathSet

    Component = str | Value
    Path = tuple[Component, ...]
    Spot = Path | None
    PathSets = Mapping[str, PathSet]

NEW_CONTAINER = "container new "
"""How `ExecEvent.remote` starts for what runs in a container made for it: its files are its own, but for mounts."""

BUILT_IN = (
    "outside",
    "elsewhere",
    "root-of-all",
    "workspace-root",
    "workspace-git",
    "home",
    "temp-root",
    "device",
    "any",
)
"""Predicates over places. `outside` holds also where a word could point anywhere, `elsewhere` only where it surely
points outside the workspace and scratch folders. Sets of paths under other names are made in TOML (`[paths]`)."""


def spots(value: Value, event: ExecEvent, places: Places) -> tuple[Spot, ...]:
    """Give every place that a word may point to, seen from the event's working folders."""
    value = _own_process(with_defaults(value))
    text = value.text
    if text is not None:
        return tuple(dict.fromkeys(_literal_spots(text, event, places)))
    found: list[Spot] = []
    listed = listed_by(value)
    for source, word in listed:
        found.extend(spots(word, source, places))
    for parts, known in () if listed else _variants(value):
        if not known:
            found.append(None)
        elif parts:
            found.extend(_spots(Value(parts), event, places))
    return tuple(dict.fromkeys(found))


def _own_process(value: Value) -> Value:
    """Read `/proc/$$/x` as `/proc/self/x`."""
    parts = value.parts
    if len(parts) > 2 and parts[0] == "/proc/" and isinstance(parts[1], Hole) and parts[1].digits:
        return Value(joined(("/proc/", "self", *parts[2:])))
    return value


def _literal_spots(text: str, event: ExecEvent, places: Places) -> Iterable[Spot]:
    for base in _bases(text, event, places):
        if base is None:
            yield None
            continue
        path = places.join(base, text) if text else base
        host = _on_host(path, event)
        if host is None:
            continue
        yield _components(host)
        if places.resolve is not None:
            real = places.resolve(host)
            if real != host:
                yield _components(real)


def _bases(text: str, event: ExecEvent, places: Places) -> Iterable[str | None]:
    if text.startswith("/") and not text.startswith(_THROUGH):
        return ("/",)
    if not event.cwds:
        return (places.cwd,)
    return tuple(None if cwd == ANYWHERE else cwd for cwd in sorted(event.cwds))


_THROUGH = ("/proc/self/cwd", "/proc/thread-self/cwd")
"""Links to the folder that a program runs in."""


def _on_host(path: str, event: ExecEvent) -> str | None:
    """Give the host's path of a path inside a container; None where it never leaves the container."""
    for inside, outside in event.mounts:
        mount = inside.rstrip("/")
        if path in {inside, mount} or path.startswith(f"{mount}/"):
            rest = path[len(mount) :].lstrip("/")
            return f"{outside.rstrip('/')}/{rest}" if rest else outside or "/"
    return None if event.mounts or event.remote.startswith(NEW_CONTAINER) else path


def _components(path: str) -> Path:
    found = _split.get(path)
    if found is None:
        if len(_split) >= _KEPT:
            _split.clear()
        found = _split[path] = tuple([piece for piece in path.split("/") if piece])
    return found


_split: dict[str, Path] = {}
_KEPT = 4096


def is_ordinary(places: Places) -> bool:
    """Tell whether a plain name in the workspace is nothing but a file of the workspace.

    It may be more where the workspace is `/` or `/dev`, or holds the home or a scratch folder.
    """
    key = (places.workspace, places.home, places.temp)
    found = _ordinary.get(key)
    if found is None:
        if len(_ordinary) >= _KEPT:
            _ordinary.clear()
        top = _components(places.workspace)
        special = (places.home, *places.temp)
        deep = len(top) > 1 and top[0] not in _NEVER_ORDINARY
        found = _ordinary[key] = deep and not any(
            _under(_components(folder)[:-1], places.workspace) for folder in special
        )
    return found


_ordinary: dict[tuple[str, str, tuple[str, ...]], bool] = {}
_NEVER_ORDINARY = frozenset({"dev", "proc", "sys"})


def _variants(value: Value) -> list[tuple[tuple[str | Glob | Hole, ...], bool]]:
    """Give the readings of a word with holes: each kept as a name, and each left out."""
    parts = value.parts
    if not value.holes:
        return [(parts, True)]
    starts_unknown = isinstance(parts[0], Hole) and not parts[0].digits
    without = joined(part for part in parts if not isinstance(part, Hole) or part.digits)
    kept = [] if starts_unknown else [(parts, True)]
    return [*([((), False)] if starts_unknown else []), *kept, (without, True)]


def _spots(value: Value, event: ExecEvent, places: Places) -> Iterable[Spot]:
    text = value.text
    if text is not None:
        yield from _literal_spots(text, event, places)
        return
    for base in _bases(value.prefix, event, places):
        if base is None:
            yield None
            continue
        pieces = _pieces(value)
        start: list[Component] = [] if value.prefix.startswith("/") else list(_components(base))
        path = _walk(start, pieces)
        if event.mounts or event.remote.startswith(NEW_CONTAINER):
            path = _mapped(path, event)
        if path is not None:
            yield path


def _mapped(path: Path, event: ExecEvent) -> Path | None:
    known: list[str] = []
    for piece in path:
        if not isinstance(piece, str):
            break
        known.append(piece)
    host = _on_host("/" + "/".join(known), event)
    return None if host is None else (*_components(host), *path[len(known) :])


def _walk(start: list[Component], pieces: Iterable[Component]) -> Path:
    for piece in pieces:
        if piece == "..":
            if start:
                start.pop()
        elif piece != ".":
            start.append(piece)
    return tuple(start)


def _pieces(value: Value) -> list[Component]:
    """Split a word at its literal slashes into components."""
    pieces: list[list[str | Glob | Hole]] = [[]]
    for part in value.parts:
        if isinstance(part, Glob) and part.pattern == "**":  # some folder, and what follows is a name in it
            pieces.append([STRANGE_NAME])
            pieces.append([])
            continue
        if not isinstance(part, str):
            pieces[-1].append(part)
            continue
        first, *rest = part.split("/")
        if first:
            pieces[-1].append(first)
        pieces.extend([text] if text else [] for text in rest)
    return [_component(piece) for piece in pieces if piece]


def _component(parts: list[str | Glob | Hole]) -> Component:
    value = Value(tuple(parts))
    return value if value.text is None else value.text


def holds(predicate: str, spot: Spot, places: Places, sets: PathSets) -> bool:
    """Tell whether a place may satisfy one named predicate.

    Raises:
        KeyError: there is no such predicate or path set.
    """
    if predicate == "any":
        return True
    if spot is None:
        return predicate == "outside"
    test = _TESTS.get(predicate)
    if test is not None:
        return test(spot, places)
    return sets[predicate].holds(spot, places)


def _under(path: Path, folder: str) -> bool:
    """Tell whether a path is surely the folder or below it."""
    top = _components(folder)
    return path[: len(top)] == top


def _whole_of(path: Path, folder: str) -> bool:
    """Tell whether a path is a folder, or everything directly in it (`folder/*`)."""
    top = _components(folder)
    if path == top:
        return True
    return len(path) == len(top) + 1 and path[:-1] == top and _fits_all(path[-1])


def _fits_all(piece: Component) -> bool:
    return not isinstance(piece, str) and piece.has_glob and piece.could_be(STRANGE_NAME)


def is_outside(path: Path, places: Places) -> bool:
    """Tell whether a path may lie neither in the workspace nor in a scratch folder."""
    workspace = _components(places.workspace)
    if path[: len(workspace)] == workspace:
        return False
    # Where workspace and home themselves lie in a scratch folder, what holds them, and the home, are still no scratch.
    if workspace[: len(path)] == path or _under(path, places.home):
        return True
    return not any(_under(path, temp) and path != _components(temp) for temp in places.temp)


def _is_temp_root(path: Path, places: Places) -> bool:
    return any(_whole_of(path, temp) for temp in places.temp)


def _is_workspace_root(path: Path, places: Places) -> bool:
    return _whole_of(path, places.workspace)


def _is_workspace_git(path: Path, places: Places) -> bool:
    """Tell whether a path may be a `.git` inside the workspace, or something below one."""
    if not _under(path, places.workspace):
        return False
    rest = path[len(_components(places.workspace)) :]
    return any(_could_be_git(piece) for piece in rest)


def _could_be_git(piece: Component) -> bool:
    if isinstance(piece, str):
        return piece == ".git"
    first = piece.parts[0]
    if not isinstance(
        first, str
    ):  # a pattern does not match a leading dot, and a hole is taken for a plain name
        return isinstance(first, Glob) and first.pattern.startswith("[") and piece.could_be(".git")
    return first.startswith(".") and piece.could_be(".git")


def _is_home(path: Path, places: Places) -> bool:
    return (
        _whole_of(path, places.home) or _whole_of(path, "/root") or (path[:1] == ("home",) and len(path) == 2)
    )


def _is_root(path: Path, places: Places) -> bool:  # noqa: ARG001 - all tests look alike
    return not path or (len(path) == 1 and _fits_all(path[0]))


SAFE_DEVICES = frozenset(
    {
        *(
            "null",
            "zero",
            "full",
            "random",
            "urandom",
            "tty",
            "stdin",
            "stdout",
            "stderr",
            "fd",
            "pts",
            "ptmx",
            "shm",
        ),
        *("console", "tcp", "udp", "kmsg", "log", "mqueue", "dri", "snd", "input", "net", "kvm", "fuse"),
    }
)
"""What stands in `/dev` and is no disk; everything else there counts as one."""


def _is_device(path: Path, places: Places) -> bool:  # noqa: ARG001 - all tests look alike
    if len(path) < 2 or path[0] != "dev":
        return False
    name = path[1]
    if isinstance(name, str):
        return name not in SAFE_DEVICES and not (name.startswith("tty") and len(name) > 3)
    return any(
        name.could_start(disk) for disk in ("sd", "nvme", "vd", "hd", "xvd", "mmcblk", "disk", "dm-", "md")
    )


_TESTS: dict[str, Callable[[Path, Places], bool]] = {
    "outside": is_outside,
    "elsewhere": is_outside,
    "root-of-all": _is_root,
    "workspace-root": _is_workspace_root,
    "workspace-git": _is_workspace_git,
    "home": _is_home,
    "temp-root": _is_temp_root,
    "device": _is_device,
}
