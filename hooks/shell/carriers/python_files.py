"""Python calls on files, processes and the network, said in the words of a shell."""

from __future__ import annotations

import re

from ...frozen import replace
from ..events import ExecEvent, Redirect, Value, literal
from ..values import unknown
from .python_values import Opened, Ref, is_items

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .python_walk import Walker

    Args = list[object]
    Named = dict[str, object]
    Effect = Callable[[Walker, Args, Named], object]


def emit(walker: Walker, name: str, *words: Value, redirect: Redirect | None = None) -> ExecEvent:
    """Take down an event in the shell's words."""
    from ..programs import make_event

    event = make_event(walker.m, walker.st, walker.fr, literal(name), name, list(words))
    if redirect is not None:
        event = replace(event, redirects=(*event.redirects, redirect))
    return walker.m.emit(event)


def files_effect(name: str, *flags: str) -> Effect:
    """An effect with two paths: `mv`, `cp`, `ln`."""

    def effect(walker: Walker, args: Args, named: Named) -> object:
        words = [
            walker.evaluator.text(item) for item in (*args[:2], *named.values()) if not isinstance(item, bool)
        ]
        from ..programs import run_argv

        argv = [literal(name), *(literal(flag) for flag in flags), *words]
        run_argv(walker.m, walker.st, walker.fr, argv, functions=False)
        return None

    return effect


def file_effect(name: str, *flags: str) -> Effect:
    """An effect with one path: `rm`, `rmdir`."""
    effect = files_effect(name, *flags)
    return lambda walker, args, named: effect(walker, args[:1] or list(named.values())[:1], {})


def mode_effect(name: str) -> Effect:
    """An effect with a path and a mode or owner: `chmod`, `chown`."""

    def effect(walker: Walker, args: Args, named: Named) -> object:
        del named
        path = walker.evaluator.text(args[0]) if args else Value()
        mode = args[1] if len(args) > 1 else 0
        shown = (
            literal(f"{mode:o}") if isinstance(mode, int) and name == "chmod" else walker.evaluator.text(mode)
        )
        if path.has_glob and path.prefix.count("/") > 1:
            # Whatever is found in a folder, one by one, is the folder with all that is in it.
            emit(walker, name, literal("-R"), shown, literal(path.prefix.rstrip("/")))
        emit(walker, name, shown, path)
        return None

    return effect


def kill(walker: Walker, args: Args, named: Named) -> object:
    """`os.kill`."""
    del named
    signal = args[1] if len(args) > 1 else 15
    shown = f"-{signal}" if isinstance(signal, int) else "-9"
    emit(walker, "kill", literal(shown), *(walker.evaluator.text(item) for item in args[:1]))
    return None


def fork(walker: Walker, args: Args, named: Named) -> object:
    """`os.fork`: in a loop, a process bomb."""
    del args, named
    if walker.loops:
        walker.m.fork_bomb = walker.m.fork_bomb or walker.fr.segment or "os.fork in a loop"
    return 0


def open_file(walker: Walker, args: Args, named: Named) -> object:
    """`open(path, mode)`: writing is a redirection, reading is `cat`."""
    path = walker.evaluator.text(args[0]) if args else Value()
    mode = named.get("mode", args[1] if len(args) > 1 else Value(("r",)))
    text = mode.text or "" if isinstance(mode, Value) else "r"
    if isinstance(mode, Ref) and not mode.name.endswith("O_RDONLY"):
        text = "w"
    if (
        isinstance(mode, Value)
        and mode.text is None
        and re.search(r"O_(?:WRONLY|RDWR|TRUNC|CREAT|APPEND)", mode.show())
    ):
        text = "a" if "O_APPEND" in mode.show() else "w"
    if any(letter in text for letter in "wax+"):
        emit(walker, ":", redirect=Redirect(">>" if "a" in text else ">", 1, path))
        from ..redirects import note_write

        note_write(walker.m, walker.st, path, append="a" in text)
        return Opened(path, Value())
    return Opened(path, read_file(walker, path))


def read_file(walker: Walker, path: Value) -> Value:
    """The content of a file that is read."""
    from ..redirects import content_of

    if path.text in {"0", "/dev/stdin"}:
        return standard_input(walker)
    found = content_of(walker.m, walker.st, path)
    event = emit(walker, "cat", path)
    return found if found is not None else unknown(f"the content of {path.show()}", (event,))


def standard_input(walker: Walker) -> Value:
    """What `sys.stdin` holds."""
    text = walker.st.unread if walker.st.unread is not None else walker.fr.stdin.text
    return text if text is not None else unknown("standard input", walker.fr.stdin.upstream)


def retrieve(walker: Walker, args: Args, named: Named) -> object:
    """`urlretrieve(address, path)`: the file holds what is fetched."""
    from ..redirects import put_file

    fetched = fetch(walker, args[:1], {})
    path = args[1] if len(args) > 1 else named.get("filename", named.get("out"))
    if path is not None and isinstance(fetched, Opened):
        put_file(walker.m, walker.st, walker.evaluator.text(path), fetched.content)
    return fetched


def remove(walker: Walker, args: Args, named: Named) -> object:
    """`requests.delete(address)`."""
    return fetch(walker, [literal("-X"), literal("DELETE"), *args], named)


_HEADERS = frozenset({"headers", "auth", "cert", "verify", "proxies"})
"""Where a secret belongs in a request."""


def fetch(walker: Walker, args: Args, named: Named) -> object:
    """A request over the network is `curl`, with all that it sends."""
    given = [*args, *(item for name, item in named.items() if name not in _HEADERS)]
    words = [walker.evaluator.text(item) for item in (*args, *named.values())]
    inside = [one for item in given if is_items(item) for one in item if isinstance(one, Value)]
    event = emit(walker, "curl", *words, *(one for one in inside if one.holes))
    return Opened(Value(), unknown("what is fetched", (event,)))
