# `make demo` and `make test` also carry out the set-up on a fresh machine (README).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready

SYSTEMS := $(foreach name,anybody slow topology workers,tests/process/test_mqconform_$(name).py)
MADE_OF_RUNS := $(foreach name,certificate controls plugin preflight profile,tests/process/test_mqconform_$(name).py)
HOSTILE := tests/process/test_mqconform_hostile.py
TESTER := tests/unit/harness tests/property
STRANGERS := tests/process/test_mqconform_intended_system.py
ROOTS := tests/process/test_mqconform_roots.py

# Tracks that wait most come first, because they take longest; tracks that only compute use the remaining processor time.
TRACKS := test-roots test-processes test-systems test-made-of-runs test-hostile test-lake test-runs test-tester \
	test-strangers test-core prove-changed lint
COSTS := out/test-costs
# Each track has a separate folder, because a track that starts deletes the files of other tracks in its folder.
SCRATCH = $${TMPDIR:-/tmp}/mq-$@
PYTEST = mkdir -p $(SCRATCH) && MQ_COSTS=$(COSTS)/$@.json PYTEST_DEBUG_TEMPROOT=$(SCRATCH) $(BIN)/pytest -q
MEASURED = $(BIN)/python scripts/test_costs.py run $(COSTS)/$@.json --

# The tests start some hundred processes: without bytecode, each process would compile all its imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup demo test test-core test-tester test-runs test-made-of-runs test-systems test-hostile test-strangers test-roots test-processes test-lake lint prove prove-changed mutants crash bench bench-compare bench-keep tags wheel clean

help: ## print this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1@\2/p' $(MAKEFILE_LIST) | awk -F@ '{printf "%-26s%s\n", $$1, $$2}'

setup: $(STAMP) ## create the virtual environment and install the required system packages

$(STAMP): uv.lock pyproject.toml scripts/setup.sh
	bash scripts/setup.sh $(PYTHON) $(VENV)
	touch $(STAMP)

demo: setup ## test three systems, and make a matrix and a site of their results
	$(BIN)/mqconform demo

# More tracks run at a time than the machine has processors: about half of the tracks wait for processes.
test: setup ## run all tests, `make lint` and `make prove-changed`, and print the cost of each track
	@rm -rf $(COSTS)
	@$(MAKE) --no-print-directory --keep-going --jobs 8 --output-sync=target $(TRACKS); \
		ended=$$?; $(BIN)/python scripts/test_costs.py $(COSTS); exit $$ended

test-core: setup ## part of `make test`: unit tests except those of the tester
	$(PYTEST) --ignore tests/process --ignore tests/browser --ignore tests/reports $(addprefix --ignore ,$(TESTER))

test-tester: setup ## part of `make test`: unit tests of the tester, and property tests
	$(PYTEST) $(TESTER)

test-lake: setup ## part of `make test`: the lake, its tables and pages
	$(PYTEST) tests/reports

prove-changed: setup ## part of `make test`: prove that every check in the changed part of the suites can fail
	$(MEASURED) $(BIN)/mqconform prove --jobs 2 --changed

test-runs: setup ## part of `make test`: complete runs of mqconform
	$(PYTEST) $(filter-out $(SYSTEMS) $(STRANGERS) $(ROOTS) $(HOSTILE) $(MADE_OF_RUNS),$(wildcard tests/process/test_mqconform_*.py))

test-made-of-runs: setup ## part of `make test`: certificates, negative controls, the pytest plugin, preflight and profiles
	$(PYTEST) $(MADE_OF_RUNS)

test-systems: setup ## part of `make test`: runs against shared, limited and slow systems, and against three systems
	$(PYTEST) $(SYSTEMS)

test-strangers: setup ## part of `make test`: runs against a system other than the intended one
	$(PYTEST) $(STRANGERS)

test-roots: setup ## part of `make test`: runs against systems without a prerequisite of all verdicts
	$(PYTEST) $(ROOTS)

test-hostile: setup ## part of `make test`: runs against hostile systems
	$(PYTEST) $(HOSTILE)

test-processes: setup ## part of `make test`: queue managers as processes, and the site in a browser
	$(PYTEST) $(filter-out tests/process/test_mqconform_%,$(wildcard tests/process/test_*.py)) tests/browser

lint: setup ## part of `make test`: run ruff, its formatter, mypy and the prose linter
	$(MEASURED) sh -c "$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/python -m scripts.prose"

prove: setup ## prove that every check can fail
	$(BIN)/mqconform prove --jobs 2

# A mutant whose result is in out/mutants is not run again. Without earlier results, the target takes about two hours.
mutants: setup ## make 3,000 changes of the reference, and print the changes that no check finds
	nice $(BIN)/mqconform mutants --jobs 2

# The kill test of `make test`, with 200 kills for each kind of message instead of 6; it takes about 15 minutes.
crash: setup ## kill the process of the store 200 times for each kind of message
	MQ_KILLS=200 $(BIN)/pytest -q tests/process/test_durability.py -k kill_9_at_any_instant

# The cost of `make test` is compared only if each track has written its cost.
bench bench-compare bench-keep: export MQ_TRACKS := $(TRACKS)

bench: setup ## measure speed, as ratios within one run
	$(BIN)/python -m benchmarks

bench-compare: setup ## print the costs that grew by more than a fifth since bench-keep; BENCH=short takes half a minute
	$(BIN)/python -m benchmarks.commands $(addprefix --,$(BENCH))

tags: setup ## write a tags file, with which an editor finds the row and the sentence of a rule id
	$(BIN)/python scripts/tags.py

bench-keep: setup ## measure the costs with which bench-compare compares, and write them to benchmarks/kept.toml
	$(BIN)/python -m benchmarks.commands --keep $(addprefix --,$(BENCH))

wheel: setup ## build dist/*.whl
	rm -rf dist
	$(BIN)/python -m build --wheel --no-isolation --outdir dist .

clean: ## remove the virtual environment and all generated files
	rm -rf $(VENV) out dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
