"""The report, opened and driven in a real browser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from decurion.hooks.audit import AuditLog, Redactor
from decurion.orchestrator.audit.report import render
from tests.effort import effort
from tests.hooks.audit.samples import LEAD, SESSION, call, child, open_log, refuse, request, write_session
from tests.hooks.audit.secrets import planted

from .browser import Page, browser, find_browser

EVIL = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"


@pytest.fixture(scope="module")
def shared_page() -> Iterator[Page]:
    program = find_browser()
    if program is None:
        pytest.skip("no Chromium on this machine; .ci/run installs one")
    with browser(program) as opened:
        yield opened


@pytest.fixture
def page(shared_page: Page) -> Iterator[Page]:
    shared_page.send(
        "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}]
    )
    yield shared_page
    assert shared_page.errors == []


def save(path: Path, log: Path) -> Path:
    path.write_text(render(log), encoding="utf-8")
    return path


@pytest.fixture
def report(tmp_path: Path) -> Path:
    return save(tmp_path / "report.html", write_session(tmp_path / "audit.jsonl", agents=11, calls=6))


def count(page: Page) -> str:
    return page.value("document.getElementById('count').textContent")


def choose(page: Page, field: str, label: str) -> None:
    page.value(
        f"(() => {{ const s = document.getElementById({field!r});"
        f" s.value = [...s.options].find((o) => o.text === {label!r}).value;"
        " s.dispatchEvent(new Event('change')); })()"
    )


def test_it_shows_the_session_and_that_it_is_proven(page: Page, report: Path) -> None:
    page.open(report)
    assert page.value("document.querySelector('h1').textContent") == SESSION
    assert (
        page.value("document.querySelector('#proof b').textContent")
        == "Verified: nothing altered, nothing missing"
    )
    figures = page.value(
        "Object.fromEntries([...document.querySelectorAll('.fig')].map((f) => [f.children[0].textContent, f.children[1].textContent]))"
    )
    assert (figures["Agents"], figures["Calls that ran"], figures["Refused"]) == ("12", "66", "11")
    assert figures["Cost"].startswith("$")
    assert count(page) == "77 calls"


def test_it_loads_nothing_from_anywhere(page: Page, report: Path) -> None:
    page.open(report)
    assert [url for url in page.requests if not url.startswith("file://")] == []
    assert len(page.requests) <= 1
    assert "default-src 'none'" in report.read_text(encoding="utf-8")
    blocked = page.value("fetch('http://127.0.0.1:9/').then(() => 'open', () => 'blocked')")
    assert blocked == "blocked"


def test_filters_by_agent_tool_decision_and_text(page: Page, report: Path) -> None:
    page.open(report)
    choose(page, "agent", "agent-3")
    assert count(page) == "7 of 77 calls"
    choose(page, "decision", "refused")
    assert count(page) == "1 of 77 calls"
    page.key("Escape")
    assert count(page) == "77 calls"
    page.value(
        "(() => { const t = document.getElementById('text'); t.value = 'CASE 4'; t.dispatchEvent(new Event('input')); })()"
    )
    page.wait("document.getElementById('count').textContent === '11 of 77 calls'")


def test_the_keyboard_moves_selects_filters_and_zooms(page: Page, report: Path) -> None:
    page.open(report)
    page.key("j")
    page.key("j")
    assert page.value("document.querySelectorAll('[aria-selected=true]').length") == 1
    assert "toolu_" in page.value("document.getElementById('detail').textContent")
    page.key("r")
    assert count(page) == "11 of 77 calls"
    page.key("r")
    page.key("/")
    assert page.value("document.activeElement.id") == "text"
    page.key("Escape")
    page.key("?")
    assert page.value("document.getElementById('keys').open") is True


def test_the_timeline_is_drawn_and_a_click_selects_a_call(page: Page, report: Path) -> None:
    page.open(report)
    drawn = page.value(
        "(() => { const c = document.querySelector('canvas'); const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
        " const seen = new Set(); for (let i = 0; i < d.length; i += 16) seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]); return seen.size; })()"
    )
    assert drawn > 10
    box = page.value(
        "(({ x, y, width }) => ({ x, y, width }))(document.querySelector('canvas').getBoundingClientRect())"
    )
    for offset in range(200, int(box["width"]) - 20, 3):
        page.click(box["x"] + offset, box["y"] + 26 + 30 * 1.5)
        if page.value("document.querySelector('#detail dl') !== null"):
            break
    assert "agent-" in page.value("document.getElementById('detail').textContent")


def test_refused_calls_stand_by_rule_with_their_reason(page: Page, report: Path) -> None:
    page.open(report)
    text = page.value("document.getElementById('refusals').textContent")
    assert "no-root-wipe" in text
    assert "removes everything; name the folder you mean" in text
    page.value("document.querySelector('#refusals button').click()")
    assert count(page) == "11 of 77 calls"


def test_cost_and_tokens_stand_per_agent(page: Page, report: Path) -> None:
    page.open(report)
    assert page.value("document.querySelectorAll('#chart .agent').length") == 12
    page.value("document.getElementById('bytokens').click()")
    assert "36.5 k" in page.value("document.getElementById('chart').textContent")


def test_it_is_dark_where_dark_is_preferred_and_on_demand(page: Page, report: Path) -> None:
    page.open(report)
    light = page.value("getComputedStyle(document.documentElement).backgroundColor")
    page.key("d")
    assert page.value("getComputedStyle(document.documentElement).backgroundColor") != light
    page.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    page.open(report)
    assert page.value("getComputedStyle(document.documentElement).backgroundColor") == "rgb(20, 23, 27)"


def test_damage_is_said_aloud(page: Page, tmp_path: Path) -> None:
    log = write_session(tmp_path / "audit.jsonl")
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:5] + lines[6:]))
    page.open(save(tmp_path / "report.html", log))
    assert (
        page.value("document.querySelector('#proof b').textContent") == "Not verified: this log was damaged"
    )
    assert "removed at record 6" in page.value("document.getElementById('damage').textContent")


def test_nothing_a_model_wrote_is_run(page: Page, tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    with open_log(log) as writer:
        writer.write(LEAD, "session_start", source="startup", model=EVIL, cwd=EVIL)
        writer.write(child(1), "agent_start", reason=EVIL)
        call(writer, child(1), EVIL, EVIL)
        writer.write(
            LEAD, "refused", tool_name=EVIL, tool_use_id="t", rule=EVIL, reason=EVIL, input={"command": EVIL}
        )
    page.open(save(tmp_path / "report.html", log))
    page.key("j")
    assert page.value("document.title") == f"decurion audit {SESSION}"
    assert page.value("document.images.length") == 0
    assert "</script><script>document" in page.value("document.getElementById('detail').textContent")


def test_no_planted_secret_reaches_it(tmp_path: Path) -> None:
    secrets = planted(seed=5, rounds=4)
    with open_log(tmp_path / "audit.jsonl", redactor=Redactor({})) as log:
        for number, secret in enumerate(secrets):
            call(log, child(1), f"t{number}", secret.text, output=secret.text)
    page_text = render(tmp_path / "audit.jsonl")
    assert [secret for secret in secrets if secret.core in page_text] == []


def test_an_empty_session_is_a_page_too(page: Page, tmp_path: Path) -> None:
    with open_log(tmp_path / "audit.jsonl") as log:
        log.write(LEAD, "session_start", source="startup")
    page.open(save(tmp_path / "report.html", tmp_path / "audit.jsonl"))
    assert "No call was made in this session." in page.value("document.getElementById('list').textContent")


@pytest.mark.slow
@pytest.mark.unmeasured
def test_it_is_usable_at_many_records(page: Page, tmp_path: Path) -> None:
    log, records = tmp_path / "audit.jsonl", effort(10_000, 100_000)
    with open_log(log, redactor=Quick({})) as writer:
        _write_many(writer, records)
    page.open(save(tmp_path / "report.html", log))
    assert count(page) == f"{records // 2 - 1:,} calls"
    assert page.value("document.querySelectorAll('.row').length") < 60
    milliseconds = page.value(
        "(() => { const b = performance.now(); document.getElementById('decision').value = '1';"
        " document.getElementById('decision').dispatchEvent(new Event('change'));"
        " document.getElementById('decision').value = ''; document.getElementById('decision').dispatchEvent(new Event('change'));"
        " return performance.now() - b; })()"
    )
    assert milliseconds < 2000
    page.value("(() => { const l = document.getElementById('list'); l.scrollTop = l.scrollHeight; })()")
    page.wait(
        f"[...document.querySelectorAll('.row')].some((r) => r.textContent.includes('case {records // 2 - 2}'))"
    )


class Quick(Redactor):
    """There is nothing to remove from generated commands; looking would only take time here."""

    def suspects(self, text: str) -> bool:
        return False


def _write_many(log: AuditLog, count_of_records: int) -> None:
    log.write(LEAD, "session_start", source="startup")
    for number in range(count_of_records // 2 - 1):
        ref = child(number % 12)
        if number % 50 == 0:
            refuse(log, ref, f"t{number}", f"rm -rf / # case {number}")
        else:
            call(log, ref, f"t{number}", f"pytest -k 'case {number}'")
    request(log, child(1), "msg_1")


def test_the_data_is_plain_json_that_no_tag_can_end(tmp_path: Path) -> None:
    page = render(write_session(tmp_path / "audit.jsonl"))
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    assert len(data["calls"]) == len(data["columns"])
    assert "<" not in found[1]
