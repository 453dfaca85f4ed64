"""find, xargs, parallel, fd, rg: programs run on names that were found or read."""

from __future__ import annotations

import re

from ...frozen import replace
from ..code import run_shell
from ..events import ExecEvent, Glob, Hole, Redirect, Stdin, Value, literal
from ..loops import note_endless_input
from ..machine import DONE, Frame, Machine, Outcome, State
from ..options import has, skip, values_of
from ..programs import run_argv
from ..quotes import backslash
from ..redirects import content_of, put_file
from ..rows import to_try
from ..values import fields, join, lines, of, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_ITEMS = 40
"""Input items that are run a few at a time; more are given to one call."""


def _inner(fr: Frame, event: ExecEvent) -> Frame:
    return replace(fr, via=(*fr.via, event.name or ""), depth=fr.depth + 1, redirects=())


def find(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`find`: `-exec`, `-execdir`, `-ok`, `-okdir`, `-delete`, `-fprint` on what is found beneath its roots."""
    words = event.argv
    roots = _roots(words)
    inner = _inner(fr, event)
    index = 0
    while index < len(words):
        text = words[index].text or ""
        if text in {"-exec", "-execdir", "-ok", "-okdir"}:
            end = _end_of_exec(words, index)
            _exec(m, st, inner, list(words[index + 1 : end]), roots, text.endswith("dir"))
            index = end
        elif text == "-delete":
            _delete(m, st, inner, words, roots)
        elif text in {"-fprint", "-fprint0", "-fls", "-fprintf"} and index + 1 < len(words):
            _printed(m, st, event, text, words[index + 1 : index + 3])
        index += 1
    return None


def _printed(m: Machine, st: State, event: ExecEvent, how: str, words: Sequence[Value]) -> None:
    """`-fprintf FILE FORMAT` leaves a text, the others what is found."""
    content = words[1].text if how == "-fprintf" and len(words) > 1 else None
    known = content is not None and "%" not in content
    text = literal(backslash(content)) if known and content else unknown("what find prints", (event,))
    put_file(m, st, words[0], text)
    if words[0].prefix.startswith("/dev/"):
        m.emit(replace(event, redirects=(*event.redirects, Redirect(">", 1, words[0]))))


def _roots(words: tuple[Value, ...]) -> list[Value]:
    roots: list[Value] = []
    index = 0
    while index < len(words):
        text = words[index].text
        if text in {"-H", "-L", "-P"} or re.fullmatch(r"-O\d", text or ""):
            index += 1
            continue
        if text == "-D":
            index += 2
            continue
        if text in {"(", "!", ","} or (words[index].prefix.startswith("-") and len(words[index].prefix) > 1):
            break
        roots.append(words[index])
        index += 1
    return roots or [literal(".")]


def _end_of_exec(words: tuple[Value, ...], start: int) -> int:
    for index in range(start + 1, len(words)):
        text = words[index].text
        if text == ";" or (text == "+" and words[index - 1].text == "{}"):
            return index
    return len(words)


def found_beneath(root: Value, words: tuple[Value, ...]) -> Value:
    """What `{}` may stand for: the root itself, or something beneath it that matches the name tests."""
    text = root.text or ""
    name = next(values_of(words, "", "name", "iname"), None)
    if name is not None and name.text and not has(words, "", "o", "or"):
        from ..globs import pieces

        return of((*root.parts, "" if text.endswith("/") else "/", Glob("**"), *pieces(name.text)))
    return root


def _exec(m: Machine, st: State, fr: Frame, argv: list[Value], roots: list[Value], in_folder: bool) -> None:  # noqa: FBT001
    words = m.trace[-1].argv if m.trace else ()
    spares = any(value.text in {"!", "-not"} for value in words) and any(
        value.text == "-maxdepth" for value in words
    )
    for root in roots:
        target = of((*root.parts, "/", Glob("*"))) if spares else found_beneath(root, words)
        if in_folder and root.text and root.base().text not in {".", ".."}:
            _at_its_folder(m, st, fr, argv, root)
        inside = st.fork()
        if in_folder and root.text:
            inside.cwds = tuple(m.places.join(cwd, root.text) for cwd in st.cwds)
            target = Value(("./", Glob("*"))) if target == root else target
        run_argv(m, inside, fr, [substituted(value, "{}", target) for value in argv])
        st.take_files(inside)


def _at_its_folder(m: Machine, st: State, fr: Frame, argv: list[Value], root: Value) -> None:
    """What is found at the start itself is run in the folder that holds it."""
    inside = st.fork()
    starts = [m.places.join(cwd, root.text or "") for cwd in st.cwds]
    inside.cwds = tuple(start.rpartition("/")[0] or "/" for start in starts)
    here = literal("./" + starts[0].rpartition("/")[2])
    run_argv(m, inside, fr, [substituted(value, "{}", here) for value in argv])
    st.take_files(inside)


def substituted(value: Value, mark: str, target: Value) -> Value:
    """Replace a mark such as `{}` inside a word."""
    if not any(isinstance(part, str) and mark in part for part in value.parts):
        return value
    out: list[str | Glob | Hole] = []
    for part in value.parts:
        if not isinstance(part, str):
            out.append(part)
            continue
        first, *rest = part.split(mark)
        out.append(first)
        for text in rest:
            out.extend(target.parts)
            out.append(text)
    return of(out)


NARROW = frozenset({"-name", "-iname", "-path", "-ipath", "-regex", "-iregex", "-newer", "-mtime", "-mmin", "-size", "-empty",
                    "-user", "-group", "-perm", "-inum", "-atime", "-ctime", "-wholename", "-lname", "-samefile"})  # fmt: skip


def _narrowing(words: tuple[Value, ...]) -> tuple[list[str], list[str | None]]:
    """The tests that narrow what is found, and the patterns of those over names; what is spared narrows nothing."""
    tests: list[str] = []
    names: list[str | None] = []
    for index, value in enumerate(words):
        text = value.text or ""
        if text in NARROW and not (index and words[index - 1].text in {"!", "-not"}):
            tests.append(text)
            if text in {"-name", "-path", "-iname"} and index + 1 < len(words):
                names.append(words[index + 1].text)
    return tests, names


def _delete(m: Machine, st: State, fr: Frame, words: tuple[Value, ...], roots: list[Value]) -> None:
    """`-delete` is `rm -r` of the roots, or of the matching names beneath them."""
    from ..programs import make_event

    for root in roots:
        tests, names = _narrowing(words)
        everything = not tests or (
            all(name in {"*", None, "./*", "."} for name in names) and len(tests) == len(names)
        )
        target = root if everything else of((*root.parts, "/", Glob("**")))
        if not everything and any(value.text in {"-name", "-iname"} for value in words):
            target = found_beneath(root, words)
        flag = "-r" if everything else "-f"
        m.emit(make_event(m, st, fr, literal("rm"), "rm", [literal(flag), target]))


def _fd_filters(options: tuple[Value, ...], places: list[Value]) -> bool:
    """True if a pattern or an extension chooses among the files."""
    pattern = places[0].text if places else ""
    return has(options, "e", "extension") or (pattern or "") not in {"", ".", "*", ".*"}


def fd(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`fd -x program`, `-X program`."""
    words = event.argv
    for index, value in enumerate(words):
        if value.text in {"-x", "-X", "--exec", "--exec-batch"}:
            before = words[:index]
            at = skip(before, "eEtdcSjog")
            places = [word for word in before[at:] if not (word.text or "").startswith("-")]
            roots = [*places[1:], *values_of(before, "", "base-directory", "search-path")] or [literal(".")]
            argv = [word for word in words[index + 1 :] if word.text != ";"]
            if _fd_filters(before[:at], places):
                roots = [Value((f"{root.text or '.'}/", Glob("**"), "x")) for root in roots]
            for root in roots:
                marked = [substituted(word, "{}", root) for word in argv]
                run_argv(m, st, _inner(fr, event), marked if marked != argv else [*argv, root])
            break
    return None


def rg(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`rg --pre program`, `--hostname-bin program`."""
    for value in values_of(event.argv, "", "pre", "hostname-bin"):
        run_argv(m, st, _inner(fr, event), [value])
    return None


_XARGS_LONG = frozenset({
    "arg-file", "delimiter", "eof", "max-args", "max-chars", "max-lines", "max-procs", "process-slot-var", "replace-str",
})  # fmt: skip


def xargs(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`xargs program …`: the words of its input become arguments."""
    words = event.argv
    at = skip(words, "aEdInLPsJRS", _XARGS_LONG)
    argv = list(words[at:]) or [literal("echo")]
    options = words[:at]
    mark = next(values_of(options, "I"), None) or next(values_of(options, "J"), None)
    if mark is None and any(value.text in {"-i", "--replace"} for value in options):
        mark = literal("{}")
    text = _xargs_input(m, st, fr, options)
    note_endless_input(m, fr, options, argv)
    items = _items(text, options, one_line=mark is not None)
    inner = replace(_inner(fr, event), stdin=Stdin("null"))
    inside = st.fork()
    inside.unread = None
    calls = _calls(argv, items, mark.text if mark is not None else None, options)
    out = [run_argv(m, inside, inner, call, functions=False).out for call in calls]
    st.take_files(inside)
    return Outcome(join(out))


def _xargs_input(m: Machine, st: State, fr: Frame, options: tuple[Value, ...]) -> Value:
    file = next(values_of(options, "a", "arg-file"), None)
    if file is not None:
        found = content_of(m, st, file)
        return found if found is not None else unknown(f"the content of {file.show()}")
    text = st.unread if st.unread is not None else fr.stdin.text
    if text is None:
        return unknown("a word of the input", fr.stdin.upstream)
    if text.is_opaque and not text.sources:
        return unknown(text.show().strip("<>"), fr.stdin.upstream)
    return text


def _items(text: Value, options: tuple[Value, ...], *, one_line: bool) -> list[Value]:
    delimiter = next((value.text for value in values_of(options, "d", "delimiter")), None)
    if has(options, "0", "null"):
        return [item for item in _split(text, "\0") if item.parts]
    if delimiter:
        from ..quotes import backslash

        return [item for item in _split(text, backslash(delimiter)) if item.parts]
    if one_line:
        return [_unquoted(item) for item in lines(text) if item.parts]
    return [_unquoted(item) for item in fields(text)]


def _split(text: Value, separator: str) -> list[Value]:
    whole = lines(
        of(
            part.replace("\n", "\x1f").replace(separator, "\n") if isinstance(part, str) else part
            for part in text.parts
        )
    )
    back = [
        of(part.replace("\x1f", "\n") if isinstance(part, str) else part for part in item.parts)
        for item in whole
    ]
    return [of(part.rstrip("\n") if isinstance(part, str) else part for part in item.parts) for item in back]


def _unquoted(item: Value) -> Value:
    """Xargs takes quotes and backslashes in its input away."""
    text = item.text
    if text is None or not any(mark in text for mark in "'\"\\"):
        return item
    return literal(
        re.sub(r"'([^']*)'|\"([^\"]*)\"|\\(.)", lambda found: found[1] or found[2] or found[3] or "", text)
    )


def _calls(
    argv: list[Value], items: list[Value], mark: str | None, options: tuple[Value, ...]
) -> list[list[Value]]:
    if mark:
        return [[substituted(word, mark, item) for word in argv] for item in to_try(items)]
    one = next((value.text for value in values_of(options, "n", "max-args")), None) or next(
        (value.text for value in values_of(options, "L", "max-lines")), None
    )
    if one and one.isdigit() and int(one) and len(items) <= MAX_ITEMS:
        size = int(one)
        return [[*argv, *items[index : index + size]] for index in range(0, len(items), size)]
    return [[*argv, *items]]


def parallel(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """GNU parallel: `parallel program ::: items`, items from input, or whole commands from input."""
    words = event.argv
    at = skip(words, "jnNaSIXDdELsCPU", frozenset({"jobs", "max-args", "arg-file", "colsep", "delay", "timeout", "joblog",
                                               "results", "tmpdir", "workdir", "wd", "retries", "halt", "sshlogin", "env",
                                               "basefile", "return", "load", "memfree", "nice", "tagstring"}))  # fmt: skip
    rest = list(words[at:])
    argv, items = _parallel_items(m, st, rest)
    inner = _inner(fr, event)
    if items is None:
        note_endless_input(m, fr, words[:at], argv)
        items = lines(_xargs_input(m, st, fr, words[:at]))
    if not argv:
        for item in items:
            run_shell(m, st, inner, item, "parallel")
        return DONE
    for item in to_try(items):
        _parallel_call(m, st, inner, argv, item)
    return None


def _parallel_call(m: Machine, st: State, fr: Frame, argv: list[Value], item: Value) -> None:
    """The words are joined and read by a shell, as parallel does."""
    marked = [substituted(word, "{}", item) for word in argv]
    call = marked if marked != argv else [*argv, item]
    run_argv(m, st.fork(), fr, call, functions=False)
    code = join(call[:-1] if marked == argv else call, " ")
    if code.text is not None and any(mark in code.text for mark in " ;|&$`"):
        run_shell(m, st, fr, join(call, " "), "parallel")


def _parallel_items(m: Machine, st: State, rest: list[Value]) -> tuple[list[Value], list[Value] | None]:
    """Take the command off the items: words behind `:::`, lines of files behind `::::`."""
    marks = [index for index, value in enumerate(rest) if (value.text or "").startswith(":::")]
    if not marks:
        return rest, None
    items: list[Value] = []
    for start, end in zip(marks, (*marks[1:], len(rest)), strict=True):
        given = rest[start + 1 : end]
        items += (
            [line for file in given for line in _lines_in(m, st, file)]
            if rest[start].text == "::::"
            else given
        )
    return rest[: marks[0]], items


def _lines_in(m: Machine, st: State, file: Value) -> list[Value]:
    text = content_of(m, st, file)
    return lines(text) if text is not None else [unknown(f"a line of {file.show()}")]
