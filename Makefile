# `make demo` and `make test` do everything on a new machine. Both install the requirements into .venv first, and again
# only when pyproject.toml or constraints.txt change.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: .venv demo test lint format bench clean

.venv: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@

demo: $(STAMP)
	$(BIN)/countergraph demo

# Tests of pages need chromium; without it they are skipped with a reason.
test: lint
	$(BIN)/python -m pytest --numprocesses auto

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP)
	$(BIN)/python -m bench

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis countergraph-demo
