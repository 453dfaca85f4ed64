"""Python methods on texts, lists, paths and files, and calls on things that are only half known."""

from __future__ import annotations

import ast
import re

from ..events import Glob, Redirect, Value, literal
from ..values import join, unknown
from .python_calls import EFFECTS
from .python_files import emit, read_file, standard_input
from .python_runs import shell_code
from .python_shells import run_text
from .python_values import Bound, Opened, PathText, is_items, join_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .python_walk import Walker

    Args = list[object]


def method(walker: Walker, target: Bound, node: ast.Call, args: Args, named: dict[str, object]) -> object:
    """A method of a known thing."""
    owner, name = target.owner, target.name
    done = _by_method(walker, owner, name, args, named)
    if done is not NotImplemented:
        return done
    if isinstance(owner, PathText):
        given = [named[key] for key in ("target", "target_dir", "data", "mode") if key in named]
        return _path_method(walker, owner, name, node, [*args, *given])
    if isinstance(owner, Opened):
        return _file_method(walker, owner, name, node, args)
    if is_items(owner):
        return _list_method(walker, owner, name, args)
    if isinstance(owner, Value):
        return _text_method(walker, owner, name, node, args)
    return loose(walker, f"?.{name}", node, args, named)


def _by_method(walker: Walker, owner: object, name: str, args: Args, named: dict[str, object]) -> object:
    """What a method's name tells by itself; NotImplemented if it tells nothing."""
    if name == "extractall" and (args or "path" in named):
        emit(walker, "tar", literal("-x"), literal("-C"), walker.evaluator.text(named.get("path", *args[:1])))
        return None
    if name in _SENDS and _may_send(owner) and (name != "put" or len(args) + len(named) > 1):
        return EFFECTS["requests.delete" if name == "delete" else "requests.post"](walker, args, named)
    return NotImplemented


def _may_send(owner: object) -> bool:
    """Tell whether this may be a session, a socket, a mail server: it is not known, or what a request gave."""
    return isinstance(owner, Opened) or (isinstance(owner, Value) and owner.text is None)


_SENDS = frozenset(
    "post put patch delete request send sendall sendto sendmail send_message storbinary storlines upload_file"
    " upload_fileobj put_object upload publish send_file send_document".split()
)
"""Methods of something unknown that send what they are given: sessions, sockets, mail, storage."""

_CUTS = frozenset("split splitlines rsplit lstrip rstrip".split())


def expand_user(walker: Walker, value: Value) -> Value:
    """`~` at the start of a text."""
    home = walker.m.places.home
    if value.prefix == "~" or value.prefix.startswith("~/"):
        first = value.parts[0]
        return Value((home + first[1:] if isinstance(first, str) else home, *value.parts[1:]))
    return value


def _path_method(walker: Walker, owner: PathText, name: str, node: ast.Call, args: Args) -> object:
    path = owner.value
    follow = _PATH_METHODS.get(name)
    if follow is not None:
        return follow(walker, path, name, args)
    return _path_value(walker, path, name, node, args)


def _path_delete(walker: Walker, path: Value, name: str, args: Args) -> object:
    del args
    if name == "rmdir":
        return emit(walker, "rmdir", path) and None
    flags = (literal("-r"), literal("-f")) if "rmtree" in name else (literal("-f"),)
    emit(walker, "rm", *flags, path)
    return None


def _path_write(walker: Walker, path: Value, name: str, args: Args) -> object:
    del name
    emit(walker, ":", redirect=Redirect(">", 1, path))
    content = walker.evaluator.text(args[0]) if args else None
    walker.m.write(path, content, walker.m.trace[-1])
    if content is not None and content.text:
        from ..redirects import put_file

        put_file(walker.m, walker.st, path, content)
    return None


def _path_read(walker: Walker, path: Value, name: str, args: Args) -> object:
    del name, args
    return read_file(walker, path)


def _path_effect(effect: str) -> Callable[[Walker, Value, str, Args], object]:
    return lambda walker, path, _name, args: EFFECTS[effect](walker, [path, *args], {})


def _path_move(walker: Walker, path: Value, name: str, args: Args) -> object:
    """Move or copy; the result is the new path."""
    EFFECTS["shutil.copytree" if name.startswith("copy") else "shutil.move"](walker, [path, *args[:1]], {})
    return PathText(walker.evaluator.text(args[0])) if args else None


def _path_link(walker: Walker, path: Value, name: str, args: Args) -> object:
    return EFFECTS["os.link" if name.startswith("hard") else "os.symlink"](walker, [*args[:1], path], {})


_PATH_METHODS: dict[str, Callable[[Walker, Value, str, Args], object]] = {
    **dict.fromkeys(("unlink", "rmdir", "rmtree", "remove", "removedirs", "rmtree_p"), _path_delete),
    **dict.fromkeys(("write_text", "write_bytes", "touch"), _path_write),
    **dict.fromkeys(("read_text", "read_bytes"), _path_read),
    "open": _path_effect("open"),
    **dict.fromkeys(("chmod", "lchmod"), _path_effect("os.chmod")),
    **dict.fromkeys(("rename", "replace", "move", "move_into", "copy", "copy_into"), _path_move),
    **dict.fromkeys(("symlink_to", "hardlink_to"), _path_link),
}


def _path_value(walker: Walker, path: Value, name: str, node: ast.Call, args: Args) -> object:
    if name == "expanduser":
        return PathText(expand_user(walker, path))
    if name in {"resolve", "absolute", "as_posix", "with_suffix"}:
        return PathText(path)
    if name in {"iterdir", "glob", "rglob"}:
        return [PathText(Value((*path.parts, "/", Glob("**"))))]
    if name == "joinpath":
        return PathText(join_path([path, *(walker.evaluator.text(item) for item in args)]))
    return walker.evaluator.unknown(node)


def _file_method(walker: Walker, owner: Opened, name: str, node: ast.Call, args: Args) -> object:
    if name in {"read", "readlines", "readline", "communicate", "json", "decode", "strip"}:
        return owner.content
    if name in _CUTS and owner.content.is_opaque:
        return owner.content
    if name in {"write", "writelines"} and args:
        walker.m.write(
            owner.path, walker.evaluator.text(args[0]), walker.m.trace[-1] if walker.m.trace else None
        )
        from ..redirects import put_file

        if owner.path.parts:
            put_file(walker.m, walker.st, owner.path, walker.evaluator.text(args[0]))
        return None
    return walker.evaluator.unknown(node)


def _list_method(walker: Walker, owner: Args, name: str, args: Args) -> object:
    if name == "append" and args:
        owner.append(args[0])
    elif name == "extend" and args and is_items(args[0]):
        owner.extend(args[0])
    elif name == "pop" and owner:
        return owner[-1]
    elif name in {"items", "values", "keys", "copy"}:
        return list(owner)
    del walker
    return None


_PLAIN: dict[str, Callable[..., object]] = {
    "replace": str.replace, "upper": str.upper, "lower": str.lower, "strip": str.strip, "lstrip": str.lstrip,
    "rstrip": str.rstrip, "swapcase": str.swapcase, "title": str.title, "removeprefix": str.removeprefix,
    "removesuffix": str.removesuffix, "capitalize": str.capitalize, "casefold": str.casefold,
}  # fmt: skip


def _text_method(walker: Walker, owner: Value, name: str, node: ast.Call, args: Args) -> object:
    if name == "join" and args:
        items = args[0] if is_items(args[0]) else []
        return join([walker.evaluator.text(item) for item in items], owner.text or "")
    if name == "format":
        return _format(walker, owner, args)
    if owner.text is None and args and _SHELLISH.search(name):
        return shell_code(walker, args, {})
    if owner.text is None and args and name in {"runsource", "runcode", "push", "run_cell"}:
        return EFFECTS["exec"](walker, args, {})
    if name in {"encode", "decode", "tobytes"} or owner.text is None:
        run_text(walker, name, args)
        return owner
    found = _known_text_method(owner.text, name, [walker.evaluator.text(item).text for item in args])
    return walker.evaluator.unknown(node) if found is None else found


def _known_text_method(known: str, name: str, texts: list[str | None]) -> object:
    if name in _PLAIN and all(text is not None for text in texts):
        found = _PLAIN[name](known, *texts)
        return literal(found) if isinstance(found, str) else None
    if name in {"split", "splitlines", "rsplit"}:
        pieces = known.splitlines() if name == "splitlines" else known.split(next(iter(texts), None) or None)
        return [literal(piece) for piece in pieces]
    return literal(known.encode().hex()) if name == "hex" else None


def _format(walker: Walker, owner: Value, args: Args) -> Value:
    text = owner.text
    if text is None:
        return owner
    out: list[Value] = []
    index = 0
    for piece in re.split(r"(\{\d*(?::[^}]*)?\})", text):
        if piece.startswith("{") and piece.endswith("}"):
            number = re.match(r"\{(\d+)", piece)
            at = int(number[1]) if number else index
            index += 1
            out.append(walker.evaluator.text(args[at]) if at < len(args) else unknown("a formatted value"))
        else:
            out.append(literal(piece.replace("{{", "{").replace("}}", "}")))
    return join(out)


_SHELLISH = re.compile(
    r"(?:^|\.)(?:system|popen|Popen|check_output|check_call|getoutput|run_command|spawn|execute_command)$"
)
_DELETES = re.compile(r"(?:^|\.)(?:rmtree|remove_tree|rm_rf)$")


def loose(walker: Walker, name: str, node: ast.Call, args: Args, named: dict[str, object]) -> object:
    """A call by a name whose module is not known: the name alone tells."""
    if name.startswith("sys.stdin") or name == "input":
        return standard_input(walker)
    if name.startswith(("pathlib.Path.home", "pathlib.Path.cwd")):
        here = walker.st.cwds[0] if walker.st.cwds else "/"
        return PathText(literal(walker.m.places.home if name.startswith("pathlib.Path.home") else here))
    run_text(walker, name.rpartition(".")[2], args)
    effect = _by_name(name, args)
    if effect is not None:
        return effect(walker, args, named)
    if name in _SAME and args:
        return args[0] if is_items(args[0]) else walker.evaluator.text(args[0])
    if name.startswith("os.environ"):
        from .python_texts import environment_value

        return environment_value(walker)
    return walker.evaluator.unknown(node)


_SAME = frozenset({"dict", "list", "tuple", "sorted", "reversed", "set", "json.dumps", "repr", "ascii"})


def _by_name(name: str, args: Args) -> Callable[[Walker, Args, dict[str, object]], object] | None:
    if _SHELLISH.search(name) and args and (isinstance(args[0], Value) or is_items(args[0])):
        return shell_code
    if _DELETES.search(name):
        return EFFECTS["shutil.rmtree"]
    if name.endswith(
        (".post", ".put", ".urlopen", ".sendall", ".sendmail", ".send_message", ".connect", ".retrieve")
    ):
        return EFFECTS["requests.post"]
    return None
