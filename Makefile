# Everything sets itself up: a virtual environment in .venv, installed again only when pyproject.toml has changed.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
DEMO   ?= .demo

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_ROOT_USER_ACTION := ignore
export PIP_NO_INPUT := 1

.PHONY: help setup demo test lint unit processes model bench clean

help:
	@echo "make demo   install, fetch the local model, run one request on a sample table"
	@echo "make test   lint, types, import rules and all tests (fetches a small model once)"
	@echo "make lint   style, format, types, import rules"
	@echo "make bench  measurements"

setup: $(STAMP)

# A Python without its own pip in the box (some distributions) gets one from the pip outside.
$(STAMP): pyproject.toml
	@echo "Setting up $(VENV) (a few minutes the first time) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) >/dev/null 2>&1 || \
	  { $(PYTHON) -m venv --clear --without-pip $(VENV) && $(PYTHON) -m pip --python $(BIN)/python install -q pip; }
	@$(BIN)/python -m pip install -q --upgrade 'pip>=25'
	@PYTHONWARNINGS=ignore $(BIN)/python -m pip install -q -e '.[local,dev]'
	@touch $(STAMP)
	@echo "Ready."

demo: $(STAMP)
	@rm -rf $(DEMO)/result
	@$(BIN)/oneday models fetch qwen2.5-coder-1.5b
	@$(BIN)/oneday run "Add up the amount for each region and save the totals as totals.csv with the columns region and amount." \
	  --attach assets/samples/orders.csv --out $(DEMO)/result --yes || { code=$$?; test $$code -eq 3; }
	@test -s $(DEMO)/result/totals.csv && echo && echo "$(DEMO)/result/totals.csv:" && cat $(DEMO)/result/totals.csv

lint: $(STAMP)
	@$(BIN)/ruff check -q .
	@$(BIN)/ruff format -q --check .
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/lint-imports --no-logo
	@echo "Lint: clean."

test: lint unit processes model

unit: $(STAMP)
	@$(BIN)/python -m pytest -q -m "not processes and not model and not slow" tests

processes: $(STAMP)
	@$(BIN)/python -m pytest -q -m "processes and not model and not slow" tests

model: $(STAMP)
	@$(BIN)/oneday models fetch qwen2.5-coder-0.5b
	@$(BIN)/python -m pytest -q -m "model and not slow" tests

bench: $(STAMP)
	@for name in start_up journal_bench step_overhead kill_runs; do \
	  echo "== $$name"; $(BIN)/python tests/bench/$$name.py || exit 1; done

clean:
	rm -rf $(VENV) $(DEMO) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
