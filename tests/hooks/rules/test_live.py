"""Commands that would run here and now: what stands in files of the project counts where it is certain."""

from __future__ import annotations

from pathlib import Path

import pytest

from decurion.hooks import Verdict
from decurion.hooks.rules import Law, live_places

FILES = {
    "bad.sh": "rm -rf /srv/data\n",
    "given.sh": 'rm -rf "$1" "$BUILD"\neval "$CODE"\n"$TOOL" x\n',
    "foreign.sh": "x=${(%):-%x}\n",
    "settings.sh": "D=/srv/data\n",
    "long.sh": "echo a; ls b\n" * 3000,
    "bad.py": 'import shutil\nshutil.rmtree("/srv/data")\n',
    "given.py": "import shutil, sys\nshutil.rmtree(sys.argv[1])\nexec(sys.argv[2])\n",
    "Makefile": 'all:\n\trm -rf /srv/data\nok:\n\t@printf "(" (\n',
}
REFUSED = (
    "bash bad.sh",
    "bash < bad.sh",
    "cat bad.sh | sh",
    "python3 bad.py",
    "make",
    'source settings.sh; rm -rf "$D"',
    'source foreign.sh; rm -rf "$D"/',
    "sh -c 'bash given.sh; rm -rf \"$D\"'",
    r'find . -exec bash given.sh {} \; -exec rm -rf "$D" \;',
    "bash given.sh; rm -rf $(cat list)",
)
ALLOWED = (
    "bash given.sh build",
    "source foreign.sh && pytest",
    "bash long.sh",
    "xargs bash given.sh < list",
    "python3 given.py build x",
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "app"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text, "utf-8")
    return folder


def _verdict(law: Law, command: str, project: Path) -> Verdict:
    return law.judge_command(command, live_places(str(project), home=str(project.parent / "home"))).verdict


@pytest.mark.parametrize("command", REFUSED)
def test_what_is_certain_in_a_file_of_the_project_is_refused(law: Law, project: Path, command: str) -> None:
    assert _verdict(law, command, project) is Verdict.DENY


@pytest.mark.parametrize("command", ALLOWED)
def test_what_is_not_known_in_a_file_of_the_project_is_not(law: Law, project: Path, command: str) -> None:
    assert _verdict(law, command, project) is Verdict.ALLOW


def test_recipes_that_cannot_be_read_say_nothing_against_make(law: Law, project: Path) -> None:
    (project / "Makefile").write_text('ok:\n\t@printf "(" (\n', "utf-8")
    assert _verdict(law, "make ok", project) is Verdict.ALLOW


TARGETS = """all: test
.PHONY: test publish
test: build
	pytest
build:
	python -m build
publish: build
	twine upload dist/*
clean:
	rm -rf /srv/data
deep:
	$(MAKE) clean
"""
SCRIPTS = (
    '{"scripts": {"test": "jest", "release": "npm publish", "pretest": "tsc", "deploy": "terraform destroy"}}'
)


@pytest.mark.parametrize(
    ("command", "verdict"),
    [
        ("make", Verdict.ALLOW),
        ("make test -j4", Verdict.ALLOW),
        ("make -C . build V=1", Verdict.ALLOW),
        ("make publish", Verdict.DENY),
        ("make build clean", Verdict.DENY),
        ("make deep", Verdict.DENY),
        ("just test", Verdict.ALLOW),
        ("just publish", Verdict.DENY),
        ("npm test", Verdict.ALLOW),
        ("npm ci", Verdict.ALLOW),
        ("npm run release", Verdict.DENY),
        ("yarn deploy", Verdict.DENY),
    ],
)
def test_only_what_is_asked_for_is_made(law: Law, project: Path, command: str, verdict: Verdict) -> None:
    (project / "Makefile").write_text(TARGETS, "utf-8")
    (project / "justfile").write_text(TARGETS.replace(".PHONY: test publish\n", ""), "utf-8")
    (project / "package.json").write_text(SCRIPTS, "utf-8")
    assert _verdict(law, command, project) is verdict


def test_a_home_of_root_is_a_home(law: Law) -> None:
    places = live_places("/root/app", home="/root")
    assert law.judge_command("mkdir -p /root/x && touch /root/x/y", places).verdict is Verdict.ALLOW
    assert law.judge_command(": > /root/notes.txt", places).verdict is Verdict.DENY
    assert law.judge_command("touch /usr/x", places).verdict is Verdict.DENY
