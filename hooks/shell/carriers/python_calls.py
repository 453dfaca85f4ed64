"""What Python calls do to the system: dotted names to effects."""

from __future__ import annotations

import ast
import re

from .python_files import (
    fetch,
    file_effect,
    files_effect,
    fork,
    kill,
    mode_effect,
    open_file,
    remove,
    retrieve,
)
from .python_runs import code_run, exec_family, many_words, process, run_path, shell_code
from .python_shells import as_shell, timed
from .python_texts import (
    bytes_,
    chdir,
    chr_,
    codecs,
    decoder_effect,
    expanduser,
    folder,
    getattr_,
    getenv,
    glob_,
    globals_,
    import_,
    input_lines,
    int_,
    joined_path,
    listdir,
    made,
    make_path,
    map_,
    range_,
    same_text,
    scandir,
    scratch,
    shell_split,
    temporary,
    temporary_file,
    walk,
)
from .python_values import Bound, Ref, is_items

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .python_walk import Walker

    Args = list[object]
    Named = dict[str, object]
    Effect = Callable[[Walker, Args, Named], object]


def call(walker: Walker, target: object, node: ast.Call, args: Args, named: Named) -> object:
    """Carry out one call of what `target` refers to."""
    _note_secrets(walker, node, args)
    if not isinstance(target, Ref):
        for callback in args:
            _call_back(walker, callback, args, named)
    if isinstance(target, Bound):
        from .python_methods import method

        return method(walker, target, node, args, named)
    if not isinstance(target, Ref):
        return unknown_call(walker, target, node, args)
    name = re.sub(r"^(?:(?:builtins|__builtins__)\.)+", "", target.name)
    if name in walker.functions:
        return walker.enter(walker.functions[name], args, named)
    effect = EFFECTS.get(name) or EFFECTS.get(base_module(name))
    if effect is not None:
        return effect(walker, args, named)
    return _by_prefix(walker, name, node, args, named)


def _by_prefix(walker: Walker, name: str, node: ast.Call, args: Args, named: Named) -> object:
    if name.startswith(("os.exec", "os.spawn", "os.posix_spawn")):
        return exec_family(walker, name, args)
    found = as_shell(walker, name, args, named)
    if found is not NotImplemented:
        return found
    for callback in (*args, *named.values()):
        _call_back(walker, callback, args, named)
    from .python_methods import loose

    return loose(walker, name, node, args, named)


_READERS = frozenset(
    {
        "read",
        "netrc",
        "load",
        "parse",
        "safe_load",
        "read_file",
        "from_file",
        "load_config",
        "read_csv",
        "FileInput",
        "input",
    }
)
_SECRET_FILES = re.compile(
    r"/\.(?:ssh/(?!config$|known_hosts|.*\.pub$)|aws/cred|netrc|kube/config|npmrc|pypirc|gnupg/|docker/config|git-cred|pgpass|my\.cnf)"
)


def _note_secrets(walker: Walker, node: ast.Call, args: Args) -> None:
    """Parsers that open a file by themselves: `netrc.netrc(path)`, `ConfigParser().read(path)`."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    for item in args if name in _READERS else ():
        if _SECRET_FILES.search(walker.evaluator.text(item).show()):
            open_file(walker, [item], {})


def _call_back(walker: Walker, callback: object, args: Args, named: Named) -> None:
    """`Thread(target=f, args=(…))`, `pool.submit(f, …)`: the function will be called."""
    if not isinstance(callback, Ref):
        return
    given = named.get("args")
    passed = list(given) if is_items(given) else [item for item in args if item is not callback]
    if callback.name in EFFECTS:
        EFFECTS[callback.name](walker, passed, {})
    elif callback.name in walker.functions:
        walker.enter(walker.functions[callback.name], passed, {})


def base_module(name: str) -> str:
    return re.sub(r"^(?:posix|nt)\.", "os.", name)


def unknown_call(walker: Walker, target: object, node: ast.Call, args: Args) -> object:
    """A function that cannot be known, called on a telling text, cannot be checked."""
    del target
    words = walker.evaluator.text(args[0]).text if args else None
    first = (words or "").partition(" ")[0].rpartition("/")[2]
    if first in walker.m.guarded:
        why = f"an unknown Python function is called with {words!r}"
        walker.m.unchecked("code", walker.fr.segment, why, program="python")
    return walker.evaluator.unknown(node)


EFFECTS: dict[str, Effect] = {
    **dict.fromkeys(("os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput", "commands.getoutput",
                     "asyncio.create_subprocess_shell", "pty.spawn", "webbrowser.get", "anyio.run_process", "anyio.open_process",
                     "trio.run_process", "pexpect.spawn", "pexpect.run", "fabric.local", "invoke.run"), shell_code),
    **dict.fromkeys(("subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output",
                     "subprocess.Popen", "_posixsubprocess.fork_exec", "os.startfile"), process),
    "asyncio.create_subprocess_exec": many_words,
    **dict.fromkeys(("exec", "eval", "compile", "pickle.loads", "marshal.loads", "dill.loads", "code.interact"), code_run),
    **dict.fromkeys(("timeit.timeit", "timeit.repeat"), timed), "runpy.run_path": run_path, "execfile": run_path,
    **dict.fromkeys(("os.remove", "os.unlink"), file_effect("rm", "-f")),
    "os.rmdir": file_effect("rmdir"), "os.removedirs": file_effect("rmdir", "-p"),
    **dict.fromkeys(("shutil.rmtree", "distutils.dir_util.remove_tree", "setuptools.distutils.dir_util.remove_tree",
                     "send2trash.send2trash"), file_effect("rm", "-r", "-f")),
    **dict.fromkeys(("shutil.move", "os.rename", "os.replace", "os.renames"), files_effect("mv")),
    **dict.fromkeys(("shutil.copy", "shutil.copy2", "shutil.copyfile", "shutil.copytree"), files_effect("cp", "-r")),
    "os.symlink": files_effect("ln", "-s"), "os.link": files_effect("ln"), "os.truncate": file_effect("truncate"),
    "os.chmod": mode_effect("chmod"), "os.chown": mode_effect("chown"), "shutil.chown": mode_effect("chown"), "os.mkfifo": file_effect("mkfifo"),
    "os.kill": kill, "os.killpg": kill, "os.fork": fork, "os.forkpty": fork,
    **dict.fromkeys(("open", "io.open", "codecs.open", "os.open", "os.fdopen", "gzip.open", "dotenv.dotenv_values",
                     "linecache.getlines", "linecache.getline"), open_file),
    **dict.fromkeys(("urllib.request.urlopen", "urllib.request.Request", "urllib.urlopen",
                     "urllib2.urlopen", "requests.get", "requests.post", "requests.put", "requests.request", "requests.patch",
                     "httpx.get", "httpx.post", "httpx.put", "httpx.request", "socket.create_connection",
                     "http.client.HTTPSConnection", "http.client.HTTPConnection"), fetch),
    **dict.fromkeys(("requests.delete", "httpx.delete"), remove),
    **dict.fromkeys(("urllib.request.urlretrieve", "urllib.urlretrieve", "wget.download"), retrieve),
    "__import__": import_, "importlib.import_module": import_, "importlib.__import__": import_, "getattr": getattr_,
    "base64.b64decode": decoder_effect("base64", "b64decode"), "base64.decodebytes": decoder_effect("base64", "decodebytes"),
    "base64.standard_b64decode": decoder_effect("base64", "b64decode"), "base64.urlsafe_b64decode": decoder_effect("base64", "urlsafe_b64decode"),
    "base64.b32decode": decoder_effect("base64", "b32decode"), "base64.b16decode": decoder_effect("base64", "b16decode"),
    "base64.b85decode": decoder_effect("base64", "b85decode"), "base64.a85decode": decoder_effect("base64", "a85decode"),
    "binascii.unhexlify": decoder_effect("binascii", "unhexlify"), "binascii.a2b_base64": decoder_effect("binascii", "a2b_base64"),
    "zlib.decompress": decoder_effect("zlib", "decompress"), "gzip.decompress": decoder_effect("gzip", "decompress"),
    "bytes.fromhex": decoder_effect("binascii", "unhexlify"), "bytearray.fromhex": decoder_effect("binascii", "unhexlify"),
    "codecs.decode": codecs,
    **dict.fromkeys(("pathlib.Path", "pathlib.PosixPath", "pathlib.PurePath"), make_path), "os.path.join": joined_path,
    "os.path.expanduser": expanduser, "os.path.expandvars": same_text, "os.path.abspath": same_text, "os.path.realpath": same_text,
    "os.path.normpath": same_text, "os.fspath": same_text, "str": same_text, "bytearray": bytes_, "bytes": bytes_, "shlex.quote": same_text,
    "os.fsencode": same_text, "os.fsdecode": same_text, "memoryview": same_text,
    "os.getenv": getenv, "os.environ.get": getenv, "os.environ.pop": getenv, "os.getcwd": folder, "os.chdir": chdir,
    "chr": chr_, "glob.glob": glob_, "glob.iglob": glob_, "os.listdir": listdir, "tempfile.mkdtemp": temporary, "tempfile.mktemp": temporary, "tempfile.mkstemp": made, "tempfile.gettempdir": scratch,
    "tempfile.NamedTemporaryFile": temporary_file, "tempfile.TemporaryFile": temporary_file,
    "tempfile.TemporaryDirectory": temporary, "os.walk": walk, "os.fwalk": walk, "os.scandir": scandir, "fileinput.input": input_lines, "map": map_, "range": range_, "int": int_, "itertools.count": range_,
    "shlex.split": shell_split, "globals": globals_, "locals": globals_, "vars": globals_,
}  # fmt: skip
"""Dotted name to what a call of it does."""

__all__ = ("EFFECTS", "call")
