# Everything starts from nothing: each target makes .venv and installs what it needs, once.

# The first interpreter that is new enough; `make PYTHON=…` chooses another one.
PYTHON ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	"$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& { echo "$$name"; break; }; done)
UV := $(shell command -v uv 2>/dev/null)
BIN := .venv/bin
INSTALL := $(if $(UV),uv pip install --quiet --python $(BIN)/python,$(BIN)/python -m pip install --quiet)

.PHONY: help demo test coverage check format bench crash samples examples clean
.DEFAULT_GOAL := help

help: ## Show what can be made.
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: .venv/installed ## Open the console with sample sessions in it.
	@$(BIN)/handoff demo

test: .venv/installed-dev ## Run all tests.
# In the order of their names the files that take longest come first, and both cores end together.
	@$(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder -rs $(ARGS)

# Nearly twice the time: every line that runs is counted.
coverage: .venv/installed-dev ## Run all tests, with the coverage floor.
	@$(MAKE) --no-print-directory test ARGS='--cov --cov-report=term $(ARGS)'

check: .venv/installed-dev .view/handoff_console ## Check format, lint, types and import rules.
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

format: .venv/installed-dev ## Format the code and fix what the linter can.
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format .

bench: .venv/installed-dev ## Run the benchmarks, one at a time.
	@$(BIN)/pytest -m benchmark -s $(ARGS)

crash: .venv/installed-dev ## Kill every sample at each of its moments, go on, and count what differs.
	@$(BIN)/python tests/support/killing.py --sum $(ARGS)

samples: .venv/installed ## Record the sample sessions again.
	@$(BIN)/python -m handoff_console.sample_runs.make

examples: .venv/installed-dev ## Put what the documents' commands print now into them.
	@PYTHONPATH=tests $(BIN)/python tests/support/shown.py

clean: ## Remove everything that was made here.
	rm -rf .venv .view build dist *.egg-info .coverage .coverage.* htmlcov
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find runtime store console sample_runs tests -name __pycache__ -prune -exec rm -rf {} +

$(BIN)/python:
ifeq ($(UV)$(PYTHON),)
	$(error Python 3.11 or newer is needed and was not found. Install it, or name it: make PYTHON=/path/to/python3)
endif
	@echo "Making .venv"
# Half a .venv would look finished to the next run.
	@$(if $(UV),uv venv --quiet --python $(or $(PYTHON),'>=3.11') .venv,$(PYTHON) -m venv .venv) \
	|| { rm -rf .venv; exit 1; }

# Installed anew only when these change; the code itself is used from where it is.
.venv/installed: pyproject.toml setup.py | $(BIN)/python
	@echo "Installing handoff-console (a minute, once)"
	@$(INSTALL) --editable .
	@touch $@

.venv/installed-dev: pyproject.toml setup.py | $(BIN)/python
	@echo "Installing handoff-console and what its tests need (a minute, once)"
	@$(INSTALL) --editable '.[dev]'
	@touch .venv/installed $@

# mypy finds handoff_console.* through this link.
.view/handoff_console:
	@mkdir -p .view && ln -sfn .. $@
