"""Python calls that only make values: decoders, paths, the environment, ways to a name."""

from __future__ import annotations

import ast

from ..events import Glob, Value, literal
from ..rows import counted
from ..values import unknown
from .python_files import emit
from .python_values import Opened, PathText, Ref, is_items, join_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .python_walk import Walker

    Args = list[object]
    Named = dict[str, object]
    Effect = Callable[[Walker, Args, Named], object]


def variable(walker: Walker, name: Value) -> Value:
    """`os.environ[name]`."""
    from ..params import read

    if name.text is None:
        return environment_value(walker)
    found = read(walker.m, walker.st, name.text)
    return found if isinstance(found, Value) else Value()


def environment_value(walker: Walker) -> Value:
    """The whole environment as a text, coming from `printenv`."""
    return unknown("the environment", (emit(walker, "printenv"),))


def import_(walker: Walker, args: Args, named: Named) -> object:
    """`__import__` and its kin give a module."""
    del named
    name = walker.evaluator.text(args[0]).text if args else None
    return Ref(name or "?")


def getattr_(walker: Walker, args: Args, named: Named) -> object:
    """`getattr(module, name)` with a name that is known is that name."""
    del named
    name = walker.evaluator.text(args[1]).text if len(args) > 1 else None
    if name is None:
        return walker.evaluator.unknown(ast.Constant("getattr"))
    return walker.evaluator.attribute(args[0], name, ast.Constant(name))


def decode(walker: Walker, args: Args, named: Named, how: Callable[[bytes], bytes | str]) -> object:
    """Decode a known text; remember that it had to be decoded."""
    del named
    text = walker.evaluator.text(args[0]).text if args else None
    if text is None:
        return unknown("a decoded text", walker.evaluator.text(args[0]).sources if args else ())
    try:
        decoded = how(text.encode("utf-8", "surrogateescape"))
        found = literal(decoded if isinstance(decoded, str) else decoded.decode("utf-8", "surrogateescape"))
    except (ValueError, EOFError, OSError):
        return unknown("a decoded text")
    walker.names["__decoded__"] = found
    return found


def decoder_effect(module: str, function: str) -> Effect:
    """An effect that decodes by a function of the standard library."""

    def effect(walker: Walker, args: Args, named: Named) -> object:
        from importlib import import_module

        how = getattr(import_module(module), function)
        return decode(walker, args, named, how)

    return effect


def codecs(walker: Walker, args: Args, named: Named) -> object:
    """`codecs.decode`."""
    import codecs

    kind = walker.evaluator.text(args[1]).text if len(args) > 1 else "utf-8"
    rotated = kind in {"rot13", "rot_13"}
    return decode(
        walker, args, named,
        lambda data: codecs.decode(data.decode(), "rot13").encode() if rotated else codecs.decode(data, kind or "utf-8"),
    )  # fmt: skip


def make_path(walker: Walker, args: Args, named: Named) -> object:
    """A `pathlib` path."""
    del named
    return PathText(join_path([walker.evaluator.text(item) for item in args]) if args else literal("."))


def joined_path(walker: Walker, args: Args, named: Named) -> object:
    """`os.path.join`."""
    del named
    return join_path([walker.evaluator.text(item) for item in args])


def expanduser(walker: Walker, args: Args, named: Named) -> object:
    """`os.path.expanduser`."""
    del named
    from .python_methods import expand_user

    return expand_user(walker, walker.evaluator.text(args[0])) if args else Value()


def same_text(walker: Walker, args: Args, named: Named) -> object:
    """A function that leaves a text as it is, as far as it matters here."""
    del named
    return walker.evaluator.text(args[0]) if args else Value()


def int_(walker: Walker, args: Args, named: Named) -> object:
    """`int(text)`: what is not known stays what it came from."""
    del named
    text = walker.evaluator.text(args[0]) if args else Value()
    return int(text.text) if text.text and text.text.strip().isdecimal() else text


def getenv(walker: Walker, args: Args, named: Named) -> object:
    """`os.getenv`."""
    del named
    return variable(walker, walker.evaluator.text(args[0])) if args else Value()


def folder(walker: Walker, args: Args, named: Named) -> object:
    """`os.getcwd`."""
    del args, named
    return literal(walker.st.cwds[0] if walker.st.cwds else "/")


def chdir(walker: Walker, args: Args, named: Named) -> object:
    """`os.chdir`."""
    del named
    from ..folders import folders_named

    if args:
        walker.st.cwds = folders_named(walker.m, walker.st, walker.evaluator.text(args[0]))
    return None


def chr_(walker: Walker, args: Args, named: Named) -> object:
    """`chr`."""
    del named
    code = args[0] if args else None
    return (
        literal(chr(code))
        if isinstance(code, int) and 0 < code < 0xD800
        else unknown("a character")
        if walker
        else None
    )


def glob_(walker: Walker, args: Args, named: Named) -> object:
    """`glob.glob`."""
    del named
    from ..globs import pieces

    text = walker.evaluator.text(args[0]).text if args else None
    return [Value(tuple(pieces(text)))] if text else [unknown("a found name")]


FRESH = "/tmp"  # noqa: S108 - how names of fresh files start, not a folder


def made(walker: Walker, args: Args, named: Named) -> object:
    """`tempfile.mkstemp()`: a descriptor and a path."""
    return [walker.evaluator.unknown(ast.Constant("a descriptor")), temporary(walker, args, named)]


def temporary(walker: Walker, args: Args, named: Named) -> object:
    """`tempfile`: a fresh name in the scratch folder."""
    del args, named
    folder_ = walker.m.places.temp[0] if walker.m.places.temp else "/tmp"  # noqa: S108
    return Value((folder_ + FRESH, Glob("*")))


def scratch(walker: Walker, args: Args, named: Named) -> object:
    """`tempfile.gettempdir()`: the scratch folder itself."""
    del args, named
    return literal(walker.m.places.temp[0] if walker.m.places.temp else "/tmp")  # noqa: S108


def temporary_file(walker: Walker, args: Args, named: Named) -> object:
    """`tempfile.NamedTemporaryFile` and its kin: an open file with such a name."""
    path = temporary(walker, args, named)
    return Opened(path, Value()) if isinstance(path, Value) else None


def walk(walker: Walker, args: Args, named: Named) -> object:
    """`os.walk`: some folder beneath the first, with some names in it."""
    del named
    root = walker.evaluator.text(args[0]) if args else literal(".")
    names: list[object] = [Value((Glob("*"),))]
    return [[Value((*root.parts, Glob("**"))), names, names]]


def listdir(walker: Walker, args: Args, named: Named) -> object:
    """`os.listdir`: some name."""
    del named
    del walker, args
    return [Value((Glob("*"),))]


def scandir(walker: Walker, args: Args, named: Named) -> object:
    """`os.scandir`: something in the folder."""
    del named
    root = walker.evaluator.text(args[0]) if args else literal(".")
    return [PathText(Value((*root.parts, "/", Glob("*"))))]


def input_lines(walker: Walker, args: Args, named: Named) -> object:
    """`fileinput.input()`: a line of standard input."""
    from .python_files import standard_input

    del args, named
    return [standard_input(walker)]


def bytes_(walker: Walker, args: Args, named: Named) -> object:
    """`bytes` of numbers or a text."""
    del named
    first = args[0] if args else None
    if is_items(first) and all(isinstance(item, int) and 0 <= item < 256 for item in first):
        return literal(
            bytes(item for item in first if isinstance(item, int)).decode("utf-8", "surrogateescape")
        )
    return walker.evaluator.text(first)


def map_(walker: Walker, args: Args, named: Named) -> object:
    """`map` of a known function over known items."""
    del named
    if len(args) > 1 and isinstance(args[0], Ref) and is_items(args[1]):
        from .python_calls import call

        return [
            call(walker, args[0], ast.Call(ast.Name("f", ast.Load()), [], []), [item], {}) for item in args[1]
        ]
    return [unknown("a mapped value")]


def range_(walker: Walker, args: Args, named: Named) -> object:
    """`range`: some number."""
    del walker, args, named
    return [counted("")]


def shell_split(walker: Walker, args: Args, named: Named) -> object:
    """`shlex.split`."""
    del named
    import shlex

    text = walker.evaluator.text(args[0]).text if args else None
    try:
        return [literal(word) for word in shlex.split(text)] if text is not None else unknown("words")
    except ValueError:
        return unknown("words")


def globals_(walker: Walker, args: Args, named: Named) -> object:
    """`globals()`: names looked up in it are builtins."""
    del walker, args, named
    return Ref("builtins.__dict__")


CONSTANTS = {
    "sys.executable": "python3", "os.sep": "/", "os.path.sep": "/", "os.devnull": "/dev/null", "os.curdir": ".", "os.pardir": "..",
    "os.linesep": "\n", "os.pathsep": ":",
}  # fmt: skip
"""Names of modules that stand for one text."""


def named_text(walker: Walker, name: str) -> Value:
    """The text that a name of a module stands for."""
    if name == "os.environ":
        return environment_value(walker)
    return literal(CONSTANTS[name]) if name in CONSTANTS else unknown("a Python value")
