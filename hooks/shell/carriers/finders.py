"""find, fd, rg: programs run on names that were found."""

from __future__ import annotations

import re

from ...frozen import replace
from ..events import ExecEvent, Glob, Hole, Redirect, Value, literal
from ..machine import Frame, Machine, Outcome, State
from ..options import has, skip, values_of
from ..programs import run_argv
from ..quotes import backslash
from ..redirects import put_file
from ..values import of, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def inside_of(fr: Frame, event: ExecEvent) -> Frame:
    """Give the frame of what a program runs: one level deeper, with none of its own redirections."""
    return replace(fr, via=(*fr.via, event.name or ""), depth=fr.depth + 1, redirects=())


def find(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`find`: `-exec`, `-execdir`, `-ok`, `-okdir`, `-delete`, `-fprint` on what is found beneath its roots."""
    words = event.argv
    roots = _roots(words)
    inner = inside_of(fr, event)
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
    name = next((pattern for test, pattern in _required(words) if test in {"-name", "-iname"}), None)
    pattern = _pattern(name) if name is not None else None
    if pattern and not has(words, "", "o", "or"):
        from ..globs import pieces

        return of((*root.parts, "" if text.endswith("/") else "/", Glob("**"), *pieces(pattern)))
    return root


def _pattern(word: Value) -> str | None:
    """Give the pattern of a name test. Without quotes the shell may put names in its place, which fit it too."""
    return word.text if word.text is not None or word.holes else word.show()


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


def _required(words: Sequence[Value]) -> Iterator[tuple[str, Value | None]]:
    """The tests that narrow what is found, each with the word behind it; what is spared by `!` narrows nothing."""
    for before, test, pattern in zip((None, *words), words, (*words[1:], None), strict=False):
        if test.text in NARROW and not (before is not None and before.text in {"!", "-not"}):
            yield test.text or "", pattern


def _narrowing(words: Sequence[Value]) -> tuple[list[str], list[str | None]]:
    """The tests that narrow what is found, and the patterns of those over names."""
    required = list(_required(words))
    names = [
        _pattern(pattern)
        for test, pattern in required
        if test in {"-name", "-path", "-iname"} and pattern is not None
    ]
    return [test for test, _pattern in required], names


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
                run_argv(m, st, inside_of(fr, event), marked if marked != argv else [*argv, root])
            break
    return None


def rg(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`rg --pre program`, `--hostname-bin program`."""
    for value in values_of(event.argv, "", "pre", "hostname-bin"):
        run_argv(m, st, inside_of(fr, event), [value])
    return None
