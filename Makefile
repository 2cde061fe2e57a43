# `make demo` and `make test` do all the set-up they need on a fresh machine (README).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready

SYSTEMS := $(foreach name,anybody slow topology workers,tests/process/test_mqconform_$(name).py)
MADE_OF_RUNS := $(foreach name,certificate controls plugin preflight profile,tests/process/test_mqconform_$(name).py)
HOSTILE := tests/process/test_mqconform_hostile.py
TESTER := tests/unit/harness tests/property
STRANGERS := tests/process/test_mqconform_what_was_meant.py
ROOTS := tests/process/test_mqconform_roots.py

# Those that wait most first, since they take the longest; those that only compute fill what is left of the processors.
TRACKS := test-roots test-processes test-systems test-made-of-runs test-hostile test-lake test-runs test-tester \
	test-strangers test-core prove-changed lint
COSTS := out/test-costs
# A folder of its own for each track: one that starts deletes what others in the same folder have left.
SCRATCH = $${TMPDIR:-/tmp}/mq-$@
PYTEST = mkdir -p $(SCRATCH) && MQ_COSTS=$(COSTS)/$@.json PYTEST_DEBUG_TEMPROOT=$(SCRATCH) $(BIN)/pytest -q
MEASURED = $(BIN)/python scripts/test_costs.py run $(COSTS)/$@.json --

# The tests start some hundred processes: without bytecode each would compile all that it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup demo test test-core test-tester test-runs test-made-of-runs test-systems test-hostile test-strangers test-roots test-processes test-lake lint prove prove-changed mutants crash bench bench-compare bench-keep tags wheel clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1@\2/p' $(MAKEFILE_LIST) | awk -F@ '{printf "%-24s%s\n", $$1, $$2}'

setup: $(STAMP) ## the virtual environment and what is needed of the system

$(STAMP): uv.lock pyproject.toml scripts/setup.sh
	bash scripts/setup.sh $(PYTHON) $(VENV)
	touch $(STAMP)

demo: setup ## three systems are tested, a matrix and a site are made
	$(BIN)/mqconform demo

# More tracks at a time than processors: about half of them wait for processes while others compute.
test: setup ## everything that CI runs; at its end, what it cost
	@rm -rf $(COSTS)
	@$(MAKE) --no-print-directory --keep-going --jobs 8 --output-sync=target $(TRACKS); \
		ended=$$?; $(BIN)/python scripts/test_costs.py $(COSTS); exit $$ended

test-core: setup ## of it: unit tests but those of the tester
	$(PYTEST) --ignore tests/process --ignore tests/browser --ignore tests/reports $(addprefix --ignore ,$(TESTER))

test-tester: setup ## of it: unit tests of the tester, and property tests
	$(PYTEST) $(TESTER)

test-lake: setup ## of it: the lake, its tables and pages
	$(PYTEST) tests/reports

prove-changed: setup ## of it: show of what a change of the suites touched that every check can fail
	$(MEASURED) $(BIN)/mqconform prove --jobs 2 --changed

test-runs: setup ## of it: whole runs of mqconform
	$(PYTEST) $(filter-out $(SYSTEMS) $(STRANGERS) $(ROOTS) $(HOSTILE) $(MADE_OF_RUNS),$(wildcard tests/process/test_mqconform_*.py))

test-made-of-runs: setup ## what runs print, and what is made of them
	$(PYTEST) $(MADE_OF_RUNS)

test-systems: setup ## of it: runs against systems that are shared, limited, slow, or three
	$(PYTEST) $(SYSTEMS)

test-strangers: setup ## of it: runs against systems that are not the one that was meant
	$(PYTEST) $(STRANGERS)

test-roots: setup ## of it: runs against systems that lack what all verdicts rest on
	$(PYTEST) $(ROOTS)

test-hostile: setup ## of it: runs against systems that are hostile
	$(PYTEST) $(HOSTILE)

test-processes: setup ## of it: queue managers as processes, and the site in a browser
	$(PYTEST) $(filter-out tests/process/test_mqconform_%,$(wildcard tests/process/test_*.py)) tests/browser

lint: setup ## ruff, its formatter, mypy and the prose linter
	$(MEASURED) sh -c "$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/python -m scripts.prose"

prove: setup ## show that every check can fail
	$(BIN)/mqconform prove --jobs 2

# What was run already is not run again: out/mutants holds the results. From nothing, it takes about two hours.
mutants: setup ## change the reference in 3,000 places, show which changes no check finds
	nice $(BIN)/mqconform mutants --jobs 2

# The kill test of `make test`, with 200 kills for each kind of message instead of 6: about a quarter of an hour.
crash: setup ## kill the store 200 times for each kind of message
	MQ_KILLS=200 $(BIN)/pytest -q tests/process/test_durability.py -k kill_9_at_any_instant

# The cost of `make test` counts where each of its tracks has written one.
bench bench-compare bench-keep: export MQ_TRACKS := $(TRACKS)

bench: setup ## figures, as ratios measured in one run
	$(BIN)/python -m benchmarks

bench-compare: setup ## what became worse by a fifth against the kept figures; BENCH=short: in half a minute
	$(BIN)/python -m benchmarks.commands $(addprefix --,$(BENCH))

tags: setup ## let an editor look up the ids of rules: their rows and sentences
	$(BIN)/python scripts/tags.py

bench-keep: setup ## measure the figures that bench-compare compares with, and keep them
	$(BIN)/python -m benchmarks.commands --keep $(addprefix --,$(BENCH))

wheel: setup ## build dist/*.whl
	rm -rf dist
	$(BIN)/python -m build --wheel --no-isolation --outdir dist .

clean: ## remove what was made
	rm -rf $(VENV) out dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
