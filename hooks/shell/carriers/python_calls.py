"""What Python calls do to the system, said in the words of a shell."""

from __future__ import annotations

import ast
import re

from ...frozen import replace
from ..events import ExecEvent, Glob, Redirect, Value, literal
from ..values import join, unknown
from .python_values import Bound, Opened, PathText, Ref, is_items, join_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .python_walk import Walker

    Args = list[object]
    Named = dict[str, object]
    Effect = Callable[[Walker, Args, Named], object]


def call(walker: Walker, target: object, node: ast.Call, args: Args, named: Named) -> object:
    """Carry out one call of what `target` refers to."""
    if isinstance(target, Bound):
        from .python_methods import method

        return method(walker, target, node, args, named)
    if not isinstance(target, Ref):
        return _unknown_call(walker, target, node, args)
    name = re.sub(r"^(?:builtins|__builtins__)\.", "", target.name)
    if name.startswith("def "):
        return walker.enter(walker.functions[name[4:]], args, named)
    effect = EFFECTS.get(name) or EFFECTS.get(_base_module(name))
    if effect is not None:
        return effect(walker, args, named)
    if name.startswith(("os.exec", "os.spawn", "os.posix_spawn")):
        return _exec_family(walker, name, args)
    from .python_methods import loose

    return loose(walker, name, node, args, named)


def _base_module(name: str) -> str:
    return re.sub(r"^(?:posix|nt)\.", "os.", name)


def _unknown_call(walker: Walker, target: object, node: ast.Call, args: Args) -> object:
    """A function that cannot be known, called on a telling text, cannot be checked."""
    del target
    words = walker.evaluator.text(args[0]).text if args else None
    first = (words or "").partition(" ")[0].rpartition("/")[2]
    if first in walker.m.guarded:
        why = f"an unknown Python function is called with {words!r}"
        walker.m.unchecked("code", walker.fr.segment, why, program="python")
    return walker.evaluator.unknown(node)


def emit(walker: Walker, name: str, *words: Value, redirect: Redirect | None = None) -> ExecEvent:
    """Take down an event in the shell's words."""
    from ..programs import make_event

    event = make_event(walker.m, walker.st, walker.fr, literal(name), name, list(words))
    if redirect is not None:
        event = replace(event, redirects=(*event.redirects, redirect))
    return walker.m.emit(event)


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


def shell_code(walker: Walker, args: Args, named: Named) -> object:
    """`os.system(text)`."""
    from ..evaluator import run_shell

    first = args[0] if args else named.get("cmd", named.get("command", named.get("args")))
    if is_items(first):
        return argv_run(walker, first)
    code = walker.evaluator.text(first)
    return run_shell(walker.m, walker.st, walker.fr, code, "python").out


def argv_run(walker: Walker, items: Args) -> object:
    """A list of words is run without a shell."""
    from ..programs import run_argv

    words = [walker.evaluator.text(item) for item in items]
    return run_argv(walker.m, walker.st.fork(), walker.fr, words, functions=False).out if words else None


def process(walker: Walker, args: Args, named: Named) -> object:
    """`subprocess.run` and its kin: list or text, with or without a shell, with input and folder."""
    from .python_walk import Walker as _Walker

    assert isinstance(walker, _Walker)
    first = args[0] if args else named.get("args", named.get("command", named.get("cmd")))
    saved = walker.st.cwds, walker.st.unread
    folder = named.get("cwd")
    if folder is not None:
        from ..folders import folders_named

        walker.st.cwds = folders_named(walker.m, walker.st, walker.evaluator.text(folder))
    given = named.get("input")
    frame = walker.fr
    if given is not None:
        from ..events import Stdin

        text = walker.evaluator.text(given)
        walker.st.unread = text
        walker.fr = replace(walker.fr, stdin=Stdin("text", text, text.sources))
    out = _process(walker, first, named)
    walker.fr = frame
    walker.st.cwds, walker.st.unread = saved
    text = out if isinstance(out, Value) else unknown("output of a process")
    return Opened(Value(), text)


def _process(walker: Walker, first: object, named: Named) -> object:
    if is_items(first):
        if named.get("shell") is True and first:
            return shell_code(walker, [first[0]], {})
        return argv_run(walker, first)
    if (
        isinstance(first, Value)
        and not named.get("shell")
        and first.text is not None
        and " " not in first.text
    ):
        return argv_run(walker, [first])
    return shell_code(walker, [first], {})


def _many_words(walker: Walker, args: Args, named: Named) -> object:
    del named
    return argv_run(walker, args)


def _exec_family(walker: Walker, name: str, args: Args) -> object:
    """`os.execvp(file, [args])`, `os.execl(path, arg0, …)`, `os.spawnlp(mode, file, arg0, …)`."""
    rest = args[1:] if ".spawn" in name and ".posix_spawn" not in name else args
    if not rest:
        return None
    if len(rest) > 1 and is_items(rest[1]):
        return argv_run(walker, [rest[0], *rest[1][1:]])
    words = [item for item in rest[1:] if isinstance(item, Value)]
    return argv_run(walker, [rest[0], *words[1:]])


def code_run(walker: Walker, args: Args, named: Named) -> object:
    """`exec`, `eval`, `compile`: code inside code. Text that had to be decoded first counts as unchecked."""
    del named
    first = args[0] if args else None
    code = walker.evaluator.text(first)
    if code.text is None:
        from ..evaluator import note_unknown_code

        walker.m.unchecked(
            "code", walker.fr.segment, f"Python would run unknown code: {code.show()}", program="python",
            sources=code.sources,
        )  # fmt: skip
        del note_unknown_code
        return None
    if walker.names.get("__decoded__") == code:
        walker.m.unchecked(
            "code", walker.fr.segment, "Python would run code that it decodes first", program="python"
        )
    try:
        tree = ast.parse(code.text.strip())
    except (SyntaxError, ValueError):
        return None
    depth = walker.calls
    walker.calls += 1
    if depth < 20:
        walker.body(tree.body)
        if len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr):
            return walker.value(tree.body[0].value)
    return code


def _files(name: str, *flags: str) -> Effect:
    def effect(walker: Walker, args: Args, named: Named) -> object:
        words = [
            walker.evaluator.text(item) for item in (*args[:2], *named.values()) if not isinstance(item, bool)
        ]
        from ..programs import run_argv

        argv = [literal(name), *(literal(flag) for flag in flags), *words]
        run_argv(walker.m, walker.st, walker.fr, argv, functions=False)
        return None

    return effect


def _one_file(name: str, *flags: str) -> Effect:
    effect = _files(name, *flags)
    return lambda walker, args, named: effect(walker, args[:1] or list(named.values())[:1], {})


def _mode(name: str) -> Effect:
    def effect(walker: Walker, args: Args, named: Named) -> object:
        del named
        path = walker.evaluator.text(args[0]) if args else Value()
        mode = args[1] if len(args) > 1 else 0
        shown = (
            literal(f"{mode:o}") if isinstance(mode, int) and name == "chmod" else walker.evaluator.text(mode)
        )
        emit(walker, name, shown, path)
        return None

    return effect


def _kill(walker: Walker, args: Args, named: Named) -> object:
    del named
    signal = args[1] if len(args) > 1 else 15
    shown = f"-{signal}" if isinstance(signal, int) else "-9"
    emit(walker, "kill", literal(shown), *(walker.evaluator.text(item) for item in args[:1]))
    return None


def _fork(walker: Walker, args: Args, named: Named) -> object:
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
    if any(letter in text for letter in "wax+"):
        emit(walker, ":", redirect=Redirect(">>" if "a" in text else ">", 1, path))
        walker.m.write(path, None, walker.m.trace[-1], append="a" in text)
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


def fetch(walker: Walker, args: Args, named: Named) -> object:
    """A request over the network is `curl`, with all that it sends."""
    words = [walker.evaluator.text(item) for item in (*args, *named.values())]
    event = emit(walker, "curl", *words)
    return Opened(Value(), unknown("what is fetched", (event,)))


def _import(walker: Walker, args: Args, named: Named) -> object:
    del named
    name = walker.evaluator.text(args[0]).text if args else None
    return Ref(name or "?")


def _getattr(walker: Walker, args: Args, named: Named) -> object:
    del named
    name = walker.evaluator.text(args[1]).text if len(args) > 1 else None
    if name is None:
        return walker.evaluator.unknown(ast.Constant("getattr"))
    return walker.evaluator.attribute(args[0], name, ast.Constant(name))


def _decode(walker: Walker, args: Args, named: Named, how: Callable[[bytes], bytes]) -> object:
    del named
    text = walker.evaluator.text(args[0]).text if args else None
    if text is None:
        return unknown("a decoded text", walker.evaluator.text(args[0]).sources if args else ())
    try:
        found = literal(how(text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape"))
    except (ValueError, EOFError, OSError):
        return unknown("a decoded text")
    walker.names["__decoded__"] = found
    return found


def _decoder(module: str, function: str) -> Effect:
    def effect(walker: Walker, args: Args, named: Named) -> object:
        from importlib import import_module

        how = getattr(import_module(module), function)
        return _decode(walker, args, named, how)

    return effect


def _codecs(walker: Walker, args: Args, named: Named) -> object:
    import codecs

    kind = walker.evaluator.text(args[1]).text if len(args) > 1 else "utf-8"
    rotated = kind in {"rot13", "rot_13"}
    return _decode(
        walker, args, named,
        lambda data: codecs.decode(data.decode(), "rot13").encode() if rotated else codecs.decode(data, kind or "utf-8"),  # type: ignore[return-value]
    )  # fmt: skip


def _path(walker: Walker, args: Args, named: Named) -> object:
    del named
    return PathText(join_path([walker.evaluator.text(item) for item in args]) if args else literal("."))


def _joined(walker: Walker, args: Args, named: Named) -> object:
    del named
    return join_path([walker.evaluator.text(item) for item in args])


def _expanduser(walker: Walker, args: Args, named: Named) -> object:
    del named
    from .python_methods import expand_user

    return expand_user(walker, walker.evaluator.text(args[0])) if args else Value()


def _same(walker: Walker, args: Args, named: Named) -> object:
    del named
    return walker.evaluator.text(args[0]) if args else Value()


def _getenv(walker: Walker, args: Args, named: Named) -> object:
    del named
    return variable(walker, walker.evaluator.text(args[0])) if args else Value()


def _cwd(walker: Walker, args: Args, named: Named) -> object:
    del args, named
    return literal(walker.st.cwds[0] if walker.st.cwds else "/")


def _chdir(walker: Walker, args: Args, named: Named) -> object:
    del named
    from ..folders import folders_named

    if args:
        walker.st.cwds = folders_named(walker.m, walker.st, walker.evaluator.text(args[0]))
    return None


def _chr(walker: Walker, args: Args, named: Named) -> object:
    del named
    code = args[0] if args else None
    return (
        literal(chr(code))
        if isinstance(code, int) and 0 < code < 0xD800
        else unknown("a character")
        if walker
        else None
    )


def _glob(walker: Walker, args: Args, named: Named) -> object:
    del named
    from ..globs import pieces

    text = walker.evaluator.text(args[0]).text if args else None
    return [Value(tuple(pieces(text)))] if text else [unknown("a found name")]


def _listdir(walker: Walker, args: Args, named: Named) -> object:
    del named
    del walker, args
    return [Value((Glob("*"),))]


def _bytes(walker: Walker, args: Args, named: Named) -> object:
    del named
    first = args[0] if args else None
    if is_items(first) and all(isinstance(item, int) and 0 <= item < 256 for item in first):
        return literal(
            bytes(item for item in first if isinstance(item, int)).decode("utf-8", "surrogateescape")
        )
    return walker.evaluator.text(first)


def _map(walker: Walker, args: Args, named: Named) -> object:
    del named
    if len(args) > 1 and isinstance(args[0], Ref) and is_items(args[1]):
        return [
            call(walker, args[0], ast.Call(ast.Name("f", ast.Load()), [], []), [item], {})
            for item in args[1][:200]
        ]
    return [unknown("a mapped value")]


def _split(walker: Walker, args: Args, named: Named) -> object:
    del named
    import shlex

    text = walker.evaluator.text(args[0]).text if args else None
    try:
        return [literal(word) for word in shlex.split(text)] if text is not None else unknown("words")
    except ValueError:
        return unknown("words")


def _globals(walker: Walker, args: Args, named: Named) -> object:
    del walker, args, named
    return Ref("builtins.__dict__")


def _run_path(walker: Walker, args: Args, named: Named) -> object:
    del named
    path = walker.evaluator.text(args[0]) if args else Value()
    return code_run(walker, [read_file(walker, path)], {}) if path.text is None else None


EFFECTS: dict[str, Effect] = {
    **dict.fromkeys(("os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput", "commands.getoutput",
                     "asyncio.create_subprocess_shell", "pty.spawn", "sh.bash", "anyio.run_process", "anyio.open_process",
                     "trio.run_process", "pexpect.spawn", "pexpect.run", "fabric.local", "invoke.run"), shell_code),
    **dict.fromkeys(("subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output",
                     "subprocess.Popen", "_posixsubprocess.fork_exec", "os.startfile"), process),
    "asyncio.create_subprocess_exec": _many_words,
    **dict.fromkeys(("exec", "eval", "compile", "code.interact"), code_run),
    "runpy.run_path": _run_path, "execfile": _run_path,
    **dict.fromkeys(("os.remove", "os.unlink"), _one_file("rm", "-f")),
    "os.rmdir": _one_file("rmdir"), "os.removedirs": _one_file("rmdir", "-p"),
    **dict.fromkeys(("shutil.rmtree", "distutils.dir_util.remove_tree", "setuptools.distutils.dir_util.remove_tree",
                     "send2trash.send2trash"), _one_file("rm", "-r", "-f")),
    **dict.fromkeys(("shutil.move", "os.rename", "os.replace", "os.renames"), _files("mv")),
    **dict.fromkeys(("shutil.copy", "shutil.copy2", "shutil.copyfile", "shutil.copytree"), _files("cp", "-r")),
    "os.symlink": _files("ln", "-s"), "os.link": _files("ln"), "os.truncate": _one_file("truncate"),
    "os.chmod": _mode("chmod"), "os.chown": _mode("chown"), "shutil.chown": _mode("chown"), "os.mkfifo": _one_file("mkfifo"),
    "os.kill": _kill, "os.killpg": _kill, "os.fork": _fork, "os.forkpty": _fork,
    **dict.fromkeys(("open", "io.open", "codecs.open", "os.open", "os.fdopen", "gzip.open"), open_file),
    **dict.fromkeys(("urllib.request.urlopen", "urllib.request.urlretrieve", "urllib.request.Request", "urllib.urlopen",
                     "urllib2.urlopen", "requests.get", "requests.post", "requests.put", "requests.request", "requests.patch",
                     "httpx.get", "httpx.post", "httpx.put", "httpx.request", "socket.create_connection", "wget.download",
                     "http.client.HTTPSConnection", "http.client.HTTPConnection"), fetch),
    "__import__": _import, "importlib.import_module": _import, "importlib.__import__": _import, "getattr": _getattr,
    "base64.b64decode": _decoder("base64", "b64decode"), "base64.decodebytes": _decoder("base64", "decodebytes"),
    "base64.standard_b64decode": _decoder("base64", "b64decode"), "base64.urlsafe_b64decode": _decoder("base64", "urlsafe_b64decode"),
    "base64.b32decode": _decoder("base64", "b32decode"), "base64.b16decode": _decoder("base64", "b16decode"),
    "base64.b85decode": _decoder("base64", "b85decode"), "base64.a85decode": _decoder("base64", "a85decode"),
    "binascii.unhexlify": _decoder("binascii", "unhexlify"), "binascii.a2b_base64": _decoder("binascii", "a2b_base64"),
    "zlib.decompress": _decoder("zlib", "decompress"), "gzip.decompress": _decoder("gzip", "decompress"),
    "bytes.fromhex": _decoder("binascii", "unhexlify"), "bytearray.fromhex": _decoder("binascii", "unhexlify"),
    "codecs.decode": _codecs, "marshal.loads": _decoder("base64", "b16decode"),
    **dict.fromkeys(("pathlib.Path", "pathlib.PosixPath", "pathlib.PurePath"), _path), "os.path.join": _joined,
    "os.path.expanduser": _expanduser, "os.path.expandvars": _same, "os.path.abspath": _same, "os.path.realpath": _same,
    "os.path.normpath": _same, "os.fspath": _same, "str": _same, "bytearray": _bytes, "bytes": _bytes, "shlex.quote": _same,
    "os.fsencode": _same, "os.fsdecode": _same, "memoryview": _same,
    "os.getenv": _getenv, "os.environ.get": _getenv, "os.environ.pop": _getenv, "os.getcwd": _cwd, "os.chdir": _chdir,
    "chr": _chr, "glob.glob": _glob, "glob.iglob": _glob, "os.listdir": _listdir, "os.scandir": _listdir, "map": _map,
    "shlex.split": _split, "globals": _globals, "locals": _globals, "vars": _globals,
}  # fmt: skip
"""Dotted name to what a call of it does."""

__all__ = ("EFFECTS", "call", "emit", "join")
