# `make demo` and `make test` do all the set-up they need on a fresh machine (README).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready

.PHONY: setup demo test test-core test-processes lint prove crash bench wheel clean

setup: $(STAMP)

$(STAMP): uv.lock pyproject.toml scripts/setup.sh
	bash scripts/setup.sh $(PYTHON) $(VENV)
	touch $(STAMP)

demo: setup
	$(BIN)/mqconform demo

# In parallel: tests of processes mostly wait, the others and the proof compute.
test: setup lint
	$(MAKE) --no-print-directory --jobs 2 --output-sync=target test-processes test-core

test-core: setup
	$(BIN)/pytest -q --ignore tests/process --ignore tests/browser
	$(BIN)/mqconform prove --jobs 2

test-processes: setup
	$(BIN)/pytest -q tests/process tests/browser

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

prove: setup
	$(BIN)/mqconform prove --jobs 2

# The kill test of `make test`, with 200 kills for each kind of message instead of 6: about a quarter of an hour.
crash: setup
	MQ_KILLS=200 $(BIN)/pytest -q tests/process/test_durability.py -k kill_9_at_any_instant

bench: setup
	$(BIN)/python -m benchmarks

wheel: setup
	rm -rf dist
	$(BIN)/python -m build --wheel --no-isolation --outdir dist .

clean:
	rm -rf $(VENV) out dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
