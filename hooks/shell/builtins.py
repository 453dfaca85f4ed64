"""Builtins that change what later commands mean, or run their arguments."""

from __future__ import annotations

from .arith import text_number
from .conditions import test_words
from .events import ExecEvent, Value, literal
from .lookup import expand_name
from .machine import DONE, FALSE, TRUE, Frame, Machine, Outcome, State
from .params import read
from .state import UNSET
from .values import EMPTY, join, unknown


def _through(fr: Frame, event: ExecEvent) -> Frame:
    return fr.within(event.name or "")


def eval_(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome:
    """`eval`: its words joined are code in this very shell."""
    from .code import run_code

    args = event.argv[1:] if event.argv and event.argv[0].text == "--" else event.argv
    return run_code(m, st, _through(fr, event), join(args, " "), "eval")


def exec_(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome:
    """`exec`, also with `-a name`, `-c`, `-l`."""
    from .options import skip
    from .programs import run_argv

    at = skip(event.argv, "a")
    rest = list(event.argv[at:])
    return run_argv(m, st, _through(fr, event), rest, functions=False) if rest else DONE


def command(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome:
    """`command` and `builtin`: no functions; `-v` and `-V` only look."""
    from .programs import run_argv

    words = list(event.argv)
    while words and (words[0].text or "").startswith("-"):
        option = words.pop(0).text or ""
        if "v" in option.lower() and event.name == "command":
            return _found(words)
        if option == "--":
            break
    return run_argv(m, st, _through(fr, event), words, functions=False) if words else DONE


def _found(words: list[Value]) -> Outcome:
    return Outcome(join((*(_place(word) for word in words), EMPTY), "\n"))


def _place(word: Value) -> Value:
    text = word.text
    return word if text is None or "/" in text else literal(f"/usr/bin/{text}")


def locate(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome:
    """`which`, `type -P`: the path of a program."""
    del m, st, fr
    words = [word for word in event.argv if not (word.text or "").startswith("-")]
    return _found(words)


def set_(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`set`: options and positional parameters."""
    del m, fr
    words = list(event.argv)
    if not words:
        return Outcome(unknown("output of set", (event,)))
    while words:
        text = words[0].text
        if text == "--" or text is None or not text.startswith(("-", "+")):
            break
        words.pop(0)
        name = ""
        if text.endswith("o") and words:
            name = words.pop(0).text or ""
        _option(st, text, name)
    else:
        return DONE
    if words and words[0].text in {"--", "-"}:
        words.pop(0)
    st.positional = tuple(words)
    return DONE


def _option(st: State, text: str, name: str) -> None:
    wanted: set[str] = {name} if name else set()
    if "e" in text[1:]:
        wanted.add("errexit")
    st.options = st.options | wanted if text.startswith("-") else st.options - wanted


def shift(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome:
    """`shift`."""
    del m, fr
    text = event.argv[0].text if event.argv else "1"
    st.positional = st.positional[int(text) :] if text and text.isdigit() else ()
    return DONE


def unset(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome:
    """`unset` of variables and functions."""
    functions = any(value.text == "-f" for value in event.argv)
    for value in event.argv:
        name = value.text or ""
        if functions or (name in st.functions and name not in st.vars):
            st.functions.pop(name, None)
        elif "[" in name:
            text_number(m, st, fr, literal(name.partition("[")[2].rstrip("]")))
        elif not name.startswith("-"):
            st.vars[name] = (UNSET,)
            st.attributes.pop(name, None)
    return TRUE


def alias(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome:
    """`alias name=text`."""
    del fr
    for value in event.argv:
        name, equals, text = m.hide(value).partition("=")
        if equals:
            st.aliases[name] = m.value(text)
    return TRUE


def unalias(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome:
    """`unalias`."""
    del m, fr
    for value in event.argv:
        st.aliases.pop(value.text or "", None)
        if value.text == "-a":
            st.aliases.clear()
    return TRUE


def trap(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome:
    """`trap code SIGNAL`: the code runs later, so it is judged at the shell's end."""
    from .code import note_unknown_code

    words = [value for value in event.argv if value.text not in {"--", "-p", "-l", "-P"}]
    if len(words) > 1 and words[0].text not in {"", "-"}:
        if words[0].is_opaque:
            note_unknown_code(m, fr, words[0], "trap")
        else:
            st.traps = (*st.traps, m.hide(words[0]))
    return TRUE


def hash_(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome:
    """`hash -p path name`."""
    del fr
    words = [value.text or "" for value in event.argv]
    if "-p" in words and len(words) > words.index("-p") + 2:
        at = words.index("-p")
        st.hashed[words[at + 2]] = m.places.join(st.cwds[0] if st.cwds else "/", words[at + 1])
    return TRUE


def enable(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome:
    """`enable -f file name` loads code."""
    del st
    if any((value.text or "").startswith("-f") for value in event.argv):
        m.unchecked(
            "environment", fr.segment, "enable -f loads code into the shell", program="enable", event=event
        )
    return TRUE


def shopt(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome:
    """`shopt`: remembered."""
    del m, fr
    st.options |= frozenset(value.text or "" for value in event.argv)
    return TRUE


def leave(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome:
    """`exit`, `return`, `break`, `continue`: this branch goes no further."""
    del m, fr
    if event.name in {"exit", "return"}:
        st.dead = True
    return DONE


def true(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome:
    """`true` and `:`."""
    del m, st, fr, event
    return TRUE


def false(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome:
    """`false`."""
    del m, st, fr, event
    return FALSE


def none(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome:
    """Nothing that matters here."""
    del m, st, fr, event
    return DONE


def let(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome:
    """`let`: its words are arithmetic."""
    for value in event.argv:
        _arith_text(m, st, fr, value)
    return DONE


def _arith_text(m: Machine, st: State, fr: Frame, value: Value) -> None:
    from .code import expand_text

    text = value.text
    if text is None or "$" in text or "`" in text:
        expand_text(m, st, fr, value)
        return
    name, equals, rest = text.partition("=")
    if equals and name.isidentifier():
        result = text_number(m, st, fr, literal(rest))
        st.put(name, literal(str(result)) if result is not None else expand_name(name))


def test(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome:
    """`test` and `[`: numbers and `-v` are arithmetic texts."""
    words = list(event.argv)
    if event.name == "[" and words and words[-1].text == "]":
        words.pop()
    return Outcome(EMPTY, test_words(m, st, fr, words))


def declare(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome:
    """`declare` and its kin where they were not syntax (`command export X=1`, `$e X=1`)."""
    from .simple import declare_words

    return declare_words(m, st, fr, event)


def compgen(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome:
    """`compgen -C command`, `complete -C`, `-W` expansions."""
    from .code import expand_text, run_shell

    words = event.argv
    for index, value in enumerate(words[:-1]):
        if value.text in {"-C", "-F"}:
            run_shell(m, st, _through(fr, event), words[index + 1], event.name or "")
        elif value.text == "-W":
            expand_text(m, st.fork(), _through(fr, event), words[index + 1])
    return DONE


def bind(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome:
    """`bind -x '"key": code'`."""
    from .code import run_shell

    words = event.argv
    for index, value in enumerate(words[:-1]):
        if value.text == "-x":
            _key, _colon, code = m.hide(words[index + 1]).partition(":")
            run_shell(m, st, _through(fr, event), m.value(code.strip()), "bind")
    return DONE


__all__ = ("read",)
