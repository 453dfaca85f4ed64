# Each target does all of its own set-up in .venv (scripts/venv) and starts at once when that is in place.

PY := .venv/bin/python
# The tests start hundreds of programs; without compiled files they take twice as long.
unexport PYTHONDONTWRITEBYTECODE

# A .venv whose Python went, or became another version, as by an upgrade of the system, is set up anew.
VERSION := $(shell $(PY) -ISc 'import sys; print("python%d.%d" % sys.version_info[:2])' 2>/dev/null)
ifneq ($(wildcard .venv/*.stamp),)
ifeq ($(wildcard .venv/lib/$(or $(VERSION),none)/site-packages),)
$(shell rm -rf .venv)
endif
endif

.DEFAULT_GOAL := help
.PHONY: help demo test check format wheel bench bench-guard bench-audit bench-git bench-hook bench-wire bench-crash bench-interruptions bench-peers lock clean

help: ## Show these targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-20s %s\n", $$1, $$2 }'

demo: .venv/run.stamp ## The main job on a sample project, offline (a scripted model, not an AI)
	@.venv/bin/decurion demo

test: .venv/test.stamp ## All tests (COVERAGE=1 measures what they reach, THOROUGH=1 tries far more cases)
	@$(PY) -m pytest --numprocesses auto --dist worksteal $(if $(COVERAGE),--cov --cov-branch --cov-report=term:skip-covered)

check: .venv/dev.stamp ## Lint, format, two type checkers, import rules
	@scripts/check

format: .venv/dev.stamp ## Put the code in shape
	@.venv/bin/ruff check --fix --quiet . || true
	@.venv/bin/ruff format .

wheel: .venv/dev.stamp ## Build the wheel, install it elsewhere, test it there with branch coverage as a gate
	@scripts/wheel

bench: bench-guard bench-audit bench-git bench-hook bench-wire bench-crash bench-interruptions ## All benchmarks

bench-guard: .venv/test.stamp ## The law: verdicts on the corpus, time a call
	@$(PY) -P bench/guard.py

bench-audit: .venv/test.stamp ## The log: records a second, time to verify
	@$(PY) -P bench/audit.py

bench-peers: .venv/run.stamp ## Other guards beside the law, by name and version (downloads them; FILE=… for other cases)
	@$(PY) -P bench/peers.py $(FILE)

bench-crash: .venv/test.stamp ## Whole sessions killed at 20 moments (RUNS=200), each proven and resumed
	@$(PY) -P bench/crash.py --runs $(or $(RUNS),20)
	@$(PY) -P bench/crash.py --agents 50 --turns 2 --runs $(or $(RUNS_OF_50),3)
	@$(PY) -P bench/crash.py --engine pipe --runs $(or $(RUNS_OF_WORKERS),5)

bench-git: .venv/test.stamp ## Worktrees: time to make, merge and remove
	@$(PY) -P bench/git.py

bench-hook: .venv/test.stamp ## The hook program: cold time a call against a bare interpreter
	@$(PY) -P bench/hook.py

bench-wire: .venv/test.stamp ## Sessions against a plain SDK loop: CPU, cost, fan-out, start
	@$(PY) -P bench/wire.py

bench-interruptions: .venv/test.stamp ## Isolation killed at many moments: bytes of the user's that are lost
	@$(PY) -P bench/git_interruptions.py 300
	@$(PY) -P bench/git_interruptions.py 50 session campaign

lock: ## Compile requirements/*.txt again (needs uv; EXTRA=--upgrade takes newer releases)
	@EXTRA="$(EXTRA)" scripts/lock

clean: ## Remove what the targets made, .venv included
	@rm -rf .venv .coverage .coverage.* .hypothesis .pytest_cache .ruff_cache .import_linter_cache build dist
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# run.txt: the package alone; test.txt: with what the tests need; dev.txt: with the checkers too.
.venv/%.stamp: requirements/%.txt pyproject.toml scripts/venv
	@echo "Setting up .venv for this target ($<) …"
	@scripts/venv $<
	@touch $@
