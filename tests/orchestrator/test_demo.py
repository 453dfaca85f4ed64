"""`decurion demo`: what a person sees of a whole delegation, and that all of it is true."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from decurion.hooks import UsageError
from decurion.orchestrator.demo import DemoOptions, run_demo, sample_project
from decurion.orchestrator.demo.show import CHECK, FORBIDDEN
from tests.program import decurion, started


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[subprocess.CompletedProcess[str], Path, Path]:
    """Run the demo once as a person would: the process, the project it left, its state folder."""
    home = tmp_path_factory.mktemp("demo")
    env = {
        "HOME": str(home),
        "DECURION_STATE_DIR": str(home / "state"),
        "DECURION_CONFIG_DIR": str(home / "config"),
    }
    done = decurion(home, "demo", "--fast", "--keep", str(home / "shop"), env=env)
    return done, home / "shop", home / "state"


Shown = tuple[subprocess.CompletedProcess[str], Path, Path]


@pytest.mark.slow
def test_it_ends_well_without_key_and_says_that_the_model_is_no_ai(shown: Shown) -> None:
    done, _, _ = shown
    assert done.returncode == 0, done.stderr
    assert "not an AI" in " ".join(done.stderr.split())  # wrapped to the width of the screen
    assert "not an AI" in done.stdout


def test_the_plan_is_seen_before_the_work_and_three_subagents_side_by_side(shown: Shown) -> None:
    lines = shown[0].stderr.splitlines()
    plan = next(n for n, line in enumerate(lines) if line.startswith("plan:"))
    started = [n for n, line in enumerate(lines) if line.startswith("[refactorer") and " started: " in line]
    ended = [n for n, line in enumerate(lines) if line.startswith("[refactorer") and " completed " in line]
    assert len(started) >= 3
    assert plan < started[0]
    assert max(started) < min(ended)


def test_a_subagent_is_refused_before_anything_runs(shown: Shown) -> None:
    done, _, state = shown
    assert f"REFUSED bash {FORBIDDEN}" in done.stderr
    assert f"Refused: `{FORBIDDEN}`" in done.stdout
    [log] = state.rglob("audit.jsonl")
    records = [json.loads(line) for line in log.read_text().splitlines()]
    about = [record for record in records if FORBIDDEN in json.dumps(record.get("input"))]
    assert [(record["event"], record["depth"], record["rule"]) for record in about] == [
        ("refused", 1, "git-push-force")
    ]


def test_every_call_that_ran_is_in_the_log_twice(shown: Shown) -> None:
    [log] = shown[2].rglob("audit.jsonl")
    records = [json.loads(line) for line in log.read_text().splitlines()]
    planned = [record["tool_use_id"] for record in records if record["event"] == "planned"]
    done = [record["tool_use_id"] for record in records if record["event"] == "done"]
    assert sorted(planned) == sorted(done)
    assert len(set(planned)) == len(planned) > 20


def test_the_project_is_changed_and_its_tests_pass(shown: Shown) -> None:
    done, shop, _ = shown
    assert "Ran 12 tests" in done.stdout
    assert "    OK" in done.stdout
    assert "def price_of(sku, quantity=1):" in (shop / "shop/prices.py").read_text()
    assert "def get_price_list():" in (shop / "shop/prices.py").read_text()
    assert (
        "def set_price(percent=80, get_price=price_source.price_of):" in (shop / "shop/offers.py").read_text()
    )
    assert '"get_price: there is no {sku}"' in (shop / "shop/cli.py").read_text()


def test_the_lines_to_look_further_name_the_session(shown: Shown) -> None:
    done, shop, state = shown
    [log] = state.rglob("audit.jsonl")
    for command in ("show", "tree", "verify", "report"):
        assert f"decurion audit {command} {log.parent.name}" in done.stdout
    assert f"git -C {shop.resolve()} diff" in done.stdout


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="not an empty folder"):
        run_demo(DemoOptions(fast=True, keep=tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_the_sample_passes_its_own_tests_with_the_standard_library_alone(tmp_path: Path) -> None:
    sample_project(tmp_path)
    done = subprocess.run(
        [sys.executable, "-I", "-B", "-m", "unittest", *CHECK.split("unittest ")[1].split()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not [path for path in tmp_path.rglob("*") if path.suffix == ".txt"]


@pytest.mark.slow
def test_an_interrupted_demo_points_to_no_folder_that_is_gone(tmp_path: Path) -> None:
    with started(tmp_path, "demo", env={"TMPDIR": str(tmp_path)}) as demo:
        deadline = time.monotonic() + 60
        while "\nplan:" not in demo.errors and time.monotonic() < deadline:
            time.sleep(0.02)
        demo.send(signal.SIGINT)
        done = demo.ended(30)
    assert done.returncode == 130
    assert "Interrupted." in done.stdout
    assert "resume" not in done.stdout
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("decurion-demo")] == []
