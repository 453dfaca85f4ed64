"""Python calls that run programs or code."""

from __future__ import annotations

import ast

from ...frozen import replace
from ..events import Value
from ..values import unknown
from .python_files import read_file
from .python_values import Opened, is_items

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .python_walk import Walker

    Args = list[object]
    Named = dict[str, object]
    Effect = Callable[[Walker, Args, Named], object]


def shell_code(walker: Walker, args: Args, named: Named) -> object:
    """`os.system(text)`."""
    from ..code import run_shell

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
    out = run_process(walker, first, named)
    walker.fr = frame
    walker.st.cwds, walker.st.unread = saved
    text = out if isinstance(out, Value) else unknown("output of a process")
    return Opened(Value(), text)


def run_process(walker: Walker, first: object, named: Named) -> object:
    """Run the words or the text of one process."""
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


def many_words(walker: Walker, args: Args, named: Named) -> object:
    """A function that takes the words one by one."""
    del named
    return argv_run(walker, args)


def exec_family(walker: Walker, name: str, args: Args) -> object:
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
        from ..code import note_unknown_code

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


def run_path(walker: Walker, args: Args, named: Named) -> object:
    """`runpy.run_path`."""
    del named
    path = walker.evaluator.text(args[0]) if args else Value()
    content = read_file(walker, path)
    return code_run(walker, [content], {}) if path.text is None or content.text is not None else None
