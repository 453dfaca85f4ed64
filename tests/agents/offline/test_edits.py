"""Plans become edits that the real edit tool takes, whatever the text looks like."""

from __future__ import annotations

import io
import re
import tokenize
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from decurion.agents.offline.edits import edits_of
from decurion.agents.offline.plans import Plan, Span, plan_of
from decurion.agents.offline.rename import KINDS, Facts, kinds_in, plan_rename
from decurion.agents.offline.source import Unreadable, read_source
from decurion.agents.offline.wording import Change, Order
from decurion.agents.tools.edits import replaced

LINES = st.lists(
    st.sampled_from(["load", "", "a load b", "x", "load load", "loader", "\tload", "load\r"]), max_size=12
)


@st.composite
def texts_and_plans(draw: st.DrawFn) -> tuple[str, Plan]:
    text = "\n".join(draw(LINES)) + draw(st.sampled_from(["", "\n"]))
    places = sorted(draw(st.sets(st.integers(0, len(text)), max_size=8)))
    spans = [Span(a, b, draw(st.sampled_from(["read", "", "\n", "x\ny"]))) for a, b in pairwise(places)][::2]
    return text, plan_of(spans, ())


def edited(text: str, plan: Plan) -> str:
    """Apply the edits one after the other as the tool would; it refuses what is not found exactly once."""
    for edit in edits_of(text, plan):
        if edit.old == edit.new:
            continue
        text = replaced(text, edit.old, edit.new, everywhere=edit.everywhere).text
    return text


@given(texts_and_plans())
def test_the_edits_do_what_the_plan_says(case: tuple[str, Plan]) -> None:
    text, plan = case
    text = text.replace("\r", "")
    plan = plan_of([s for s in plan.spans if s.end <= len(text) and text[s.start : s.end] != s.new], ())
    if text:
        assert edited(text, plan) == plan.apply(text)


def test_one_edit_for_all_only_where_no_longer_word_is_hit() -> None:
    def spans(text: str) -> list[bool]:
        plan = plan_of([Span(0, 4, "read"), Span(5, 9, "read")], ())
        return [edit.everywhere for edit in edits_of(text, plan)]

    assert spans("load load\n") == [True]
    assert spans("load load\nloader\n") == [False]


def test_equal_lines_far_apart_get_context_until_they_are_unique() -> None:
    text = "".join(f"def f{n}():\n    x = loader\n    return load\n\n\n" for n in range(4))
    places = [place for place in range(len(text)) if text.startswith("load\n", place)]
    plan = plan_of([Span(place, place + 4, "read") for place in places], ())
    assert edited(text, plan) == plan.apply(text)
    assert len(list(edits_of(text, plan))) == 4


# ---- whole programs ----

NAMES = ("load", "load_all", "value", "item")
SNIPPETS = (
    "def {a}({b}=1):\n    return {b} + 1\n",
    "{a} = 3\n",
    "class C{i}:\n    {a} = 4\n    def {b}(self, {c}=2):\n        self.{a} = {c}\n        return self.{a}\n",
    "out.append(C0().{a})\n",
    "out.append(C0.{a})\n",
    "out.append({a})\n",
    "out.append({a}({b}=5))\n",
    "out.append({a}())\n",
    "out.append([{a} for {a} in range(3)])\n",
    "out.append(f'{a} {{{b}!r:>{{4}}}} {{{c}}}')\n",
    "'{a}'  # {b}\n",
    "def outer{i}():\n    {a} = 1\n    def {b}():\n        nonlocal {a}\n        {a} = 2\n        return {a}\n    return {b}()\nout.append(outer{i}())\n",
    "def setter{i}():\n    global {a}\n    {a} = 7\nsetter{i}()\n",
    "out.append((lambda {a}, {b}=2: {a} + {b})(1))\n",
    "for {a} in range(2):\n\tout.append({a})\n",
    "def g{i}():\n    import json as {a}\n    from json import dumps as {b}\n    return {a}.dumps({b}({{}}))\nout.append(g{i}())\n",
    "import json as {a}\nout.append({a}.dumps({{'{b}': 1}}, indent=2))\n",
    "if ({a} := 5) > 3:\n    out.append({a})\n",
    "try:\n    raise ValueError\nexcept ValueError as {a}:\n    pass\n",
    "match 3:\n    case {a}:\n        out.append({a})\n",
    "out.append(sorted([3, 1], key=lambda {a}: -{a}))\n",
    "def d{i}({a}, *, {b}: 'int' = 3) -> '{a}':\n    return {a}, {b}\nout.append(d{i}(1, {b}=2))\n",
)


@st.composite
def programs(draw: st.DrawFn) -> str:
    parts: list[str] = []
    for index in range(draw(st.integers(1, 7))):
        snippet = draw(st.sampled_from(SNIPPETS))
        a, b, c = draw(st.permutations(NAMES))[:3]
        parts.append(snippet.format(a=a, b=b, c=c, i=index))
    return "\n".join(parts)


def outcome(text: str) -> list[str]:
    """Run a program; give what it put out, without names and addresses of functions, and the error it ended with."""
    out: list[object] = []
    try:
        exec(compile(text, "program", "exec"), {"out": out})
    except (NameError, TypeError, AttributeError, ValueError) as error:
        out.append(type(error).__name__)
    return [re.sub(r"<(?:function|bound method|class) [^>]*>+", "<callable>", str(one)) for one in out]


def tokens(text: str, kinds: tuple[int, ...]) -> list[str]:
    return [t.string for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.type in kinds]


KIND_WORDS = st.sampled_from(["function", "method", "variable", "parameter", "symbol", ""])


@given(programs(), st.sampled_from(NAMES), KIND_WORDS)
def test_a_renamed_program_does_the_same(text: str, old: str, kind: str) -> None:
    try:
        source = read_source(text)
    except Unreadable:
        return  # a snippet that makes a name global and local at once
    change, order = Change("rename", old, "fresh_name", kind), Order(())
    plan = plan_rename(source, change, order, Facts(frozenset(kinds_in(source, old)), frozenset({"app"})))
    after = edited(text, plan)
    assert after == plan.apply(text)
    assert outcome(after) == outcome(text)


@given(programs(), st.sampled_from(NAMES))
def test_strings_and_comments_are_never_touched_and_only_whole_names_change(text: str, old: str) -> None:
    try:
        source = read_source(text)
    except Unreadable:
        return
    plan = plan_rename(
        source, Change("rename", old, "fresh_name"), Order(()), Facts(frozenset(KINDS), frozenset())
    )
    after = plan.apply(text)
    read_source(after)
    plain = (tokenize.COMMENT, tokenize.NUMBER, tokenize.OP)
    assert tokens(after, plain) == tokens(text, plain)
    before_names, after_names = tokens(text, (tokenize.NAME,)), tokens(after, (tokenize.NAME,))
    assert all(
        b in (a, "fresh_name" if a == old else a) for a, b in zip(before_names, after_names, strict=True)
    )
    texts = [piece.text for piece in source.pieces if piece.kind == "string"]
    assert [piece.text for piece in read_source(after).pieces if piece.kind == "string"] == texts
