"""What a rename changes in one file and what it leaves, case by case."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import pytest

from decurion.agents.offline.imports import project_names
from decurion.agents.offline.plans import Plan
from decurion.agents.offline.rename import Facts, kinds_in, plan_rename
from decurion.agents.offline.source import read_source
from decurion.agents.offline.wording import Order, read_order

PROJECT = frozenset({"app", "tests"})


def plan(text: str, task: str, kinds: Sequence[str] = ("module",)) -> Plan:
    order = read_order(task)
    assert isinstance(order, Order)
    return plan_rename(read_source(text), order.changes[0], order, Facts(frozenset(kinds), PROJECT))


def renamed(text: str, task: str = "rename function load to read", kinds: Sequence[str] = ("module",)) -> str:
    after = plan(text, task, kinds).apply(text)
    compile(after, "after", "exec")
    return after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def load(): pass\nload()\n", "def read(): pass\nread()\n"),
        ("from app.config import load\nload()\n", "from app.config import read\nread()\n"),
        ("from .config import load as ld\nld()\n", "from .config import read as ld\nld()\n"),
        ("from . import (\n    load,  # load\n    load_all,\n)\n", "from . import (\n    read,  # load\n    load_all,\n)\n"),
        ("import app.config\napp.config.load()\n", "import app.config\napp.config.read()\n"),
        ("import app.config as c\nc.load()\n", "import app.config as c\nc.read()\n"),
        ("from app import config\nconfig.load()\n", "from app import config\nconfig.read()\n"),
        ("from app.config import *\nload()\n", "from app.config import *\nread()\n"),
        ("def load(): pass\n@load\ndef f(x=load): return load\n", "def read(): pass\n@read\ndef f(x=read): return read\n"),
        ("def load(): pass\nx = f'load {load()!r:>{load}}'\n", "def read(): pass\nx = f'load {read()!r:>{read}}'\n"),
        ("def load(): pass\n__all__ = ['load', \"loads\"]\n", "def read(): pass\n__all__ = ['read', \"loads\"]\n"),
        ("def load(): pass\n__all__ = []\n__all__ += ['load']\n", "def read(): pass\n__all__ = []\n__all__ += ['read']\n"),
        ("load = 1\ndef f():\n    global load\n    load = 2\n", "read = 1\ndef f():\n    global read\n    read = 2\n"),
        ("def f():\n    from app.config import load\n    return load()\n", "def f():\n    from app.config import read\n    return read()\n"),
        ("def load(): pass\ndef f():\n    import json as load\n    return load.x\n", "def read(): pass\ndef f():\n    import json as load\n    return load.x\n"),
        ("def load(): pass\nfrom json import load\nload()\n", "def read(): pass\nfrom json import load as read\nread()\n"),
        ("def load(): pass\nx = [load for _ in load()]\n", "def read(): pass\nx = [read for _ in read()]\n"),
        (
            "try:\n    from yaml import load\nexcept ImportError:\n    from app.y import load\nload()\n",
            "try:\n    from yaml import load as read\nexcept ImportError:\n    from app.y import read\nread()\n",
        ),
    ],
)  # fmt: skip
def test_every_use_of_the_projects_symbol_is_renamed(before: str, after: str) -> None:
    assert renamed(before) == after


@pytest.mark.parametrize(
    "text",
    [
        "import json\njson.load(1)\n",
        "from json import load\nload(1)\n",
        "from yaml import load as other\n",
        "import os.path as load_path, sys\nsys.load = 1\n",
        "def load_all(): load_2 = 'load'  # load\n",
        "x.load()\n",
        "def f(load): return load\n",
        "print(load=1)\n",
        "load()\n",
        "class A:\n    load = 1\n    def f(self): return self.load\n",
        "[load for load in ()]\n",
        "from app.load import other\nimport app.load\n",
        "try: pass\nexcept E as e: pass\nlambda load: load\n",
    ],
)
def test_what_belongs_to_something_else_is_left(text: str) -> None:
    assert renamed(text) == text


def test_a_parameter_that_hides_the_function_stays_and_the_rest_changes() -> None:
    before = "def load(): pass\ndef f(load, g=load):\n    return load\ndef h():\n    return load\n"
    assert (
        renamed(before)
        == "def read(): pass\ndef f(load, g=read):\n    return load\ndef h():\n    return read\n"
    )


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters came with Python 3.12")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "load = 1\ndef f[load: int](x: load) -> load: return [load]\nload\n",
            "read = 1\ndef f[load: int](x: load) -> load: return [load]\nread\n",
        ),
        (
            "load = int\ndef f[*A, T: load](x: load = load) -> load: return load\n",
            "read = int\ndef f[*A, T: read](x: read = read) -> read: return read\n",
        ),
        (
            "load = 1\nclass A[**load](B[load]):\n    def f(self): return load\nload\n",
            "read = 1\nclass A[**load](B[load]):\n    def f(self): return load\nread\n",
        ),
        (
            "load = 1\nclass A:\n    load = 2\n    def f[T](self, x: load): return load\n    type X[T] = load\n",
            "read = 1\nclass A:\n    load = 2\n    def f[T](self, x: load): return read\n    type X[T] = load\n",
        ),
        (
            "load = 1\ndef f[T]():\n    try: pass\n    except E as load: pass\n",
            "read = 1\ndef f[T]():\n    try: pass\n    except E as load: pass\n",
        ),
        ("type load[*load] = list[load]\nload\n", "type read[*load] = list[load]\nread\n"),
    ],
)
def test_type_parameters_have_a_scope_of_their_own(before: str, after: str) -> None:
    assert renamed(before) == after


def test_a_method_is_renamed_where_it_is_meant_and_the_function_is_not() -> None:
    before = "def load(): pass\nclass A:\n    def load(self): return load()\na = A()\na.load()\n"
    after = "def load(): pass\nclass A:\n    def read(self): return load()\na = A()\na.read()\n"
    assert renamed(before, "rename method load to read", ("module", "member")) == after


def test_a_symbol_is_function_and_member_alike() -> None:
    before = "def load(): pass\nclass A:\n    def load(self): return load()\nA().load()\n"
    assert "load" not in renamed(before, "rename symbol load to read", ("module", "member"))


def test_a_parameter_takes_its_keyword_arguments_along_but_not_those_of_strangers() -> None:
    before = "import json\ndef f(key=1): return key\nf(key=2)\nsorted([], key=f)\njson.dumps(1, key=2)\n"
    after = "import json\ndef f(by=1): return by\nf(by=2)\nsorted([], key=f)\njson.dumps(1, key=2)\n"
    assert renamed(before, "rename parameter key to by", ("local",)) == after


def test_a_field_takes_the_keyword_arguments_of_its_class_along() -> None:
    before = "class P:\n    name: str = ''\nP(name=1).name\nmatch p:\n    case P(name=0): pass\n"
    after = "class P:\n    title: str = ''\nP(title=1).title\nmatch p:\n    case P(title=0): pass\n"
    assert renamed(before, "rename field name to title", ("field",)) == after


def test_strings_and_comments_change_when_asked_as_whole_words() -> None:
    before = "def load(): 'load loads r\"load\"'  # load, loader\n"
    after = "def read(): 'read loads r\"read\"'  # read, loader\n"
    assert renamed(before, "rename load to read, also in strings and comments") == after


def test_what_is_left_is_counted_with_its_lines() -> None:
    left = plan("def load(): 'load'\n# load\nx.load\n", "rename function load to read").left
    assert [(one.why, one.line) for one in left] == [
        ("as an attribute of some object", 3),
        ("in comments", 2),
        ("in strings", 1),
    ]


def test_a_type_comment_is_a_comment() -> None:
    before = "class Load: pass\nx = None  # type: Load\n"
    assert renamed(before, "rename class Load to Read") == "class Read: pass\nx = None  # type: Load\n"


def test_annotations_written_as_strings_are_told_apart() -> None:
    text = "class Load: pass\ndef f(x: 'Load') -> 'list[Load]':\n    y: 'Load' = cast('Load', 'Load')\n"
    left = plan(text, "rename class Load to Read").left
    assert [(one.why, one.line) for one in left] == [
        *[("in quoted annotations", line) for line in (2, 2, 3, 3)],
        ("in strings", 3),
    ]


def test_a_new_name_that_is_taken_is_pointed_out() -> None:
    notes = plan("def load(): pass\nread = 1\n", "rename load to read").notes
    assert notes == ("`read` was already a name there (line 2): look whether both mean the same",)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("def load(): pass\n", "module"),
        ("class A:\n    def load(self): pass\n", "member"),
        ("class A:\n    load: int\n", "field"),
        ("self.load = 1\n", "member"),
        ("def f(load): pass\n", "local"),
        ("from x import y as load\n", "alias"),
        ("from x import load\nload()\n", ""),
        ("load()\n", ""),
        ("if x:\n    load = 1\n", "module"),
        ("for load in x: pass\n", "module"),
        ("def f():\n    global load\n    load = 1\n", "module"),
        ("try: pass\nexcept E as load: pass\n", "module"),
        ("match x:\n    case [load, *_]: pass\n", "module"),
        ("[load for load in x]\n", "local"),
        ("[(load := y) for y in x]\n", "module"),
    ],
)
def test_what_a_name_is_in_a_file(text: str, kinds: str) -> None:
    assert " ".join(kinds_in(read_source(text), "load")) == kinds


def test_a_file_named_like_a_standard_module_hides_it_only_at_the_top() -> None:
    assert "json" not in project_names(["src/app/json.py"])
    assert "json" in project_names(["src/json.py"])
    assert "json" in project_names(["json.py"])
    assert {"src", "app", "users"} <= project_names(["src/app/users.py"])
