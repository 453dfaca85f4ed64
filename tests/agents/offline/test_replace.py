"""What replacing a module or calls changes in one file: the uses and their imports, case by case."""

from __future__ import annotations

import pytest

from decurion.agents.offline.plans import Plan
from decurion.agents.offline.replace import plan_replace
from decurion.agents.offline.source import read_source
from decurion.agents.offline.wording import Order, read_order


def plan(task: str, text: str, path: str = "src/app/main.py") -> Plan:
    order = read_order(task)
    assert isinstance(order, Order)
    return plan_replace(read_source(text), order.changes[0], order, path)


def replaced(task: str, text: str) -> str:
    after = plan(task, text).apply(text)
    compile(after, "after", "exec")
    return after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import json\njson.loads(json)\n", "import vendor.fast\nvendor.fast.loads(vendor.fast)\n"),
        ("import json as j\nj.loads()\n", "import vendor.fast as j\nj.loads()\n"),
        ("import os, json\nos.x; json.y\n", "import os, vendor.fast\nos.x; vendor.fast.y\n"),
        ("from json import loads, dumps as d\nloads(d)\n", "from vendor.fast import loads, dumps as d\nloads(d)\n"),
        ("from json import *\nloads()\n", "from vendor.fast import *\nloads()\n"),
        ("from json.decoder import X\n", "from vendor.fast.decoder import X\n"),
        ("import json.decoder as jd\njd.X\n", "import vendor.fast.decoder as jd\njd.X\n"),
        ("def f():\n    import json\n    return json.x\n", "def f():\n    import vendor.fast\n    return vendor.fast.x\n"),
        ("import json\nf'json {json.x!r}'\n", "import vendor.fast\nf'json {vendor.fast.x!r}'\n"),
        ("import json\ndef f(json): return json.x\njson.y\n", "import vendor.fast\ndef f(json): return json.x\nvendor.fast.y\n"),
        ("import json\nx.json; g(json=1)\njson.y\n", "import vendor.fast\nx.json; g(json=1)\nvendor.fast.y\n"),
        ("import jsonlib\n# json\n'json'\njsonlib.x\n", "import jsonlib\n# json\n'json'\njsonlib.x\n"),
    ],
)  # fmt: skip
def test_a_module(before: str, after: str) -> None:
    assert replaced("replace module json by vendor.fast", before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import req\nreq.get(1)\n", "import http.client\nhttp.client.fetch(1)\n"),
        ("import req\nreq.get(req.x)\n", "import req\nimport http.client\nhttp.client.fetch(req.x)\n"),
        ("import req as r\nr.get(1)\n", "import http.client\nhttp.client.fetch(1)\n"),
        ("from req import get\nget(1)\n", "from http.client import fetch\nfetch(1)\n"),
        ("from req import get as g\ng(1)\n", "from http.client import fetch as g\ng(1)\n"),
        ("from req import get, post\nget(post)\n", "from req import post\nfrom http.client import fetch\nfetch(post)\n"),
        (
            "from req import (\n    get,  # the call\n    post,\n)\nget(post)\n",
            "from http.client import fetch\nfrom req import (\n    # the call\n    post,\n)\nfetch(post)\n",
        ),
        ("if 1:\n    from req import get\nget()\n", "if 1:\n    from http.client import fetch\nfetch()\n"),
        ("'''doc'''\nimport req\n\nx = req.get\n", "'''doc'''\nimport http.client\n\nx = http.client.fetch\n"),
        ("from req import post\nget = post.get\nget()\n", "from req import post\nget = post.get\nget()\n"),
        ("import req\nreq.getter; req.x.get\n", "import req\nreq.getter; req.x.get\n"),
        ("import other\nother.get()\n", "import other\nother.get()\n"),
    ],
)  # fmt: skip
def test_the_calls_of_a_modules_function(before: str, after: str) -> None:
    assert replaced("replace call req.get by http.client.fetch", before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from req import get\nget(1)\n", "fetch(1)\n"),
        ("import req\nreq.get(req.x)\n", "import req\nfetch(req.x)\n"),
        ("def f():\n    from req import get\n", "def f():\n    pass\n"),
        ("import os; import req\nreq.get()\n", "import os; pass\nfetch()\n"),
    ],
)
def test_by_a_plain_name_that_needs_no_import(before: str, after: str) -> None:
    assert replaced("replace call req.get by fetch", before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from .m import old\nold()\n", "from .m import new\nnew()\n"),
        ("def old(): pass\nold(); x.old; f(old=old)\n", "def old(): pass\nnew(); x.old; f(old=new)\n"),
        ("def f(old): return old\nold()\n", "def f(old): return old\nnew()\n"),
        ("f'{old()} old'\n", "f'{new()} old'\n"),
        ("old_2(); 'old'  # old\n", "old_2(); 'old'  # old\n"),
    ],
)
def test_a_plain_function_by_another(before: str, after: str) -> None:
    assert replaced("replace function old by new", before) == after


def test_a_plain_function_by_one_of_a_module_brings_the_import_in() -> None:
    before = '"""Doc."""\n\n\ndef old(): pass\nold()\n'
    assert (
        replaced("replace function old by lib.new", before)
        == '"""Doc."""\n\nimport lib\n\n\ndef old(): pass\nlib.new()\n'
    )
    assert (
        replaced("replace function old by lib.new", "import os\nold()\n")
        == "import os\nimport lib\nlib.new()\n"
    )
    assert replaced("replace function old by lib.new", "old()\n") == "import lib\nlib.new()\n"


def test_a_chain_that_no_import_explains_is_compared_as_written() -> None:
    before = "def f(client):\n    return client.get(1), my.client.get(2)\n"
    after = "def f(client):\n    return client.fetch(1), my.client.get(2)\n"
    assert replaced("replace call client.get by client.fetch", before) == after


def test_relative_imports_are_read_from_the_files_place() -> None:
    before = "from .config import load\nfrom . import config\nload(config.load)\n"
    after = "from app.settings import read\nimport app.settings\nread(app.settings.read)\n"
    assert replaced("replace call app.config.load by app.settings.read", before) == after


def test_a_module_named_shortly_stays_relative() -> None:
    before = "from .utils import a\nfrom . import utils\nutils.b(a)\n"
    after = "from .helpers import a\nfrom . import helpers\nhelpers.b(a)\n"
    assert replaced("replace module utils by helpers", before) == after


def test_a_name_now_taken_from_the_same_module_is_pointed_out() -> None:
    assert plan("replace function old by new", "from m import old\n").notes == (
        "`new` is now imported from `m`, where `old` came from",
    )


def test_what_is_no_use_is_left_with_its_line() -> None:
    left = plan("replace function old by new", "def old(): pass\n'old'\n").left
    assert [(one.why, one.line) for one in left] == [
        ("as a definition or a variable of its own", 1),
        ("in strings", 2),
    ]
