"""Claims without evidence are found; honest reports are left alone."""

from __future__ import annotations

import pytest

from decurion.agents.evidence import Run, not_borne_out

CHANGED = ("src/app/config.py", "tests/test_config.py", "old.py")
RUNS = (
    Run("grep -rn load src", 0),
    Run("pytest -q", 1),
    Run("python -m pytest -q tests", 0),
    Run("ruff check .", 1),
)


@pytest.mark.parametrize(
    "report",
    [
        "Renamed `load` in `src/app/config.py` and updated tests/test_config.py. All tests pass.",
        "Changed files:\n- src/app/config.py\n- `tests/test_config.py`: two places\n\nI read src/app/main.py.",
        "I did not change src/app/main.py, and src/app/other.py was already converted.",
        "Removed old.py. `python -m pytest -q tests` passed.",
        "If the tests passed, one could have changed src/x.py.",
        "Updated the folder src/app.",
        "Edited /home/me/project/src/app/config.py (version 1.2.3, e.g. os.path).",
        "`ruff check .` fails. The tests could not be run.",
        "The parser in src/app/main.py reads a file.",
        "",
    ],
)
def test_what_is_borne_out_is_not_named(report: str) -> None:
    assert not_borne_out(report, CHANGED, RUNS) == ()


@pytest.mark.parametrize(
    ("report", "claims"),
    [
        ("I updated src/app/main.py.", ("`src/app/main.py` is said to be changed, but it is not",)),
        (
            "Changed:\n\n1. src/app/config.py\n2. `src/nope.py`",
            ("`src/nope.py` is said to be changed, but it is not",),
        ),
        ("Created `docs/new.md`; renamed old.py.", ("`docs/new.md` is said to be changed, but it is not",)),
        (
            "`ruff check .` passed.",
            ("`ruff check .` is said to have passed, but its last run ended with status 1",),
        ),
        ("`mypy src` is clean.", ("`mypy src` is said to have passed, but it was not run",)),
    ],
)
def test_what_has_no_evidence_is_named(report: str, claims: tuple[str, ...]) -> None:
    assert not_borne_out(report, CHANGED, RUNS) == claims


@pytest.mark.parametrize(
    ("runs", "claim"),
    [
        ((), "tests are said to pass, but no command that tests was run"),
        (
            (Run("pytest -q", 0), Run("pytest -q x", 2)),
            "tests are said to pass, but `pytest -q x` ended with status 2",
        ),
    ],
)
def test_tests_said_to_pass_need_a_run_that_passed(runs: tuple[Run, ...], claim: str) -> None:
    assert not_borne_out("All tests pass.", (), runs) == (claim,)
