"""Python packages that stand for the shell (`sh`, `plumbum`), and calls that change who the process is."""

from __future__ import annotations

from ..events import Value, literal
from .python_files import emit
from .python_runs import argv_run, code_run, shell_code
from .python_values import Ref, is_items

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .python_walk import Walker

    Args = list[object]
    Named = dict[str, object]

_COMMANDS = ("sh.", "plumbum.cmd.", "plumbum.local.cmd.")
_IDENTITIES = ("os.setuid", "os.seteuid", "os.setreuid", "os.setresuid", "os.setgid", "os.setegid", "os.setregid",
               "os.setresgid", "os.setgroups", "os.initgroups")  # fmt: skip
RUNNERS = frozenset(
    {"run", "sudo", "local", "exec_command", "execute", "cmd", "shell", "sh", "runcmd", "run_cmd"}
)
"""Methods of clients and task runners that take a command line, where it looks like one."""


def as_shell(walker: Walker, name: str, args: Args, named: Named) -> object:
    """Carry out `sh.rm("-rf", x)` and `os.setuid(0)`; `NotImplemented` where the name is none of these."""
    if name in _IDENTITIES:
        return _become(walker, args)
    if name == "sh.Command" and args:
        return Ref(f"sh.{walker.evaluator.text(args[0]).text}")
    if name.startswith(_COMMANDS):
        return command(walker, name, args, named)
    return NotImplemented


def _become(walker: Walker, args: Args) -> object:
    given = args[0] if args and is_items(args[0]) else args
    if 0 in [item for item in given if isinstance(item, int)]:
        emit(walker, "setpriv", literal("--reuid=0"))
    return None


def command(walker: Walker, name: str, args: Args, named: Named) -> object:
    """A function named after a program runs it; `contrib.sudo` stands before it."""
    path = name.split(".")
    words: Args = [literal("sudo")] if "sudo" in path[1:-1] else []
    words.append(literal(path[-1].replace("_", "-")))
    for key, value in named.items():
        if not key.startswith("_") and value is True:
            words.append(literal(f"-{key}" if len(key) == 1 else f"--{key}"))
    return argv_run(walker, [*words, *(_word(item) for item in args)])


def _word(item: object) -> object:
    """A program handed to another one, as in `sudo[rm]`, is its name."""
    return literal(item.name.rpartition(".")[2]) if isinstance(item, Ref) else item


def subscript(walker: Walker, owner: Ref, index: object) -> object:
    """`local["rm"]` is a program, `rm["-rf", x]` one with its arguments, which is built to be run."""
    if owner.name in {"plumbum.local", "plumbum.machines.local"}:
        text = walker.evaluator.text(index).text
        return Ref(f"plumbum.cmd.{text}") if text else None
    if owner.name.startswith("plumbum.cmd."):
        return command(walker, owner.name, index if is_items(index) else [index], {})
    return None


def timed(walker: Walker, args: Args, named: Named) -> object:
    """`timeit.timeit(code, setup)`."""
    setup = named.get("setup", args[1] if len(args) > 1 else None)
    for code in (setup, args[0] if args else named.get("stmt")):
        if isinstance(code, Value):
            code_run(walker, [code], {})
    return None


def run_text(walker: Walker, name: str, args: Args) -> None:
    """Run a text given to a method such as `connection.run`, if it starts with a program that rules speak of."""
    text = walker.evaluator.text(args[0]).text if args else None
    first = (text or "").strip().partition(" ")[0].rpartition("/")[2]
    if name in RUNNERS and first in walker.m.guarded:
        if len(args) > 1 and " " not in (text or ""):
            argv_run(walker, [item for item in args if isinstance(item, Value)])
        else:
            shell_code(walker, [literal(f"sudo {text}") if name == "sudo" else args[0]], {})
