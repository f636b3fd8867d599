# Everything a newcomer needs: `make demo` and `make test`. Both set up .venv first, and again only when the
# project's requirements change.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: .venv demo test lint format bench browser clean

.venv: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@

demo: $(STAMP)
	$(BIN)/countergraph demo

test: lint browser
	$(BIN)/python -m pytest --numprocesses auto

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Pages are tested in Debian's chromium; where it cannot be installed those tests skip and say so.
browser:
	command -v chromium >/dev/null || (apt-get -qq update && apt-get -qq install -y chromium >/dev/null) || true

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP)
	$(BIN)/python -m bench

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis countergraph-demo
