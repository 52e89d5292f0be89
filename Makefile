# Two commands do everything on a machine that has Python 3.11+ with pip:
#   make demo    runs the main job end to end on a simulated table
#   make test    lints, checks types and the wall, runs all tests: about twenty minutes on two cores
# and while you work:
#   make check   the same with the quick tests only: about four minutes

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORE := $(VENV)/.ready-core
READY := $(VENV)/.ready
READY_DOCS := $(VENV)/.ready-docs
READY_STUDIO := $(VENV)/.ready-studio

.PHONY: demo studio test check lint types wall pytest quick oldest newest bench bench-tables headlines fuzz docs docs-serve clean

demo: $(CORE)
	$(BIN)/pointillist demo

# The whole way on a page of this machine, opened on the demo's table; stop it with Ctrl-C.
studio: $(READY_STUDIO)
	$(BIN)/pointillist studio --demo $(ARGS)

test: lint types wall pytest

check: lint types wall quick

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

wall: $(READY)
	$(BIN)/lint-imports

pytest: $(READY)
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist loadgroup  # one thread each: the workers already fill the cores

quick: $(READY)
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist loadgroup -m "not slow"

# The quick tests with the oldest versions of dependencies that pyproject.toml allows, and with the newest there are: each in
# an environment of its own, made anew. Old versions of torch are not everywhere to be had, so that one stays as it is.
oldest: $(CORE)
	$(BIN)/python -m tools.versions oldest --keep torch

newest: $(CORE)
	$(BIN)/python -m tools.versions newest

# What the pass over the data costs; a few minutes. Another size: make bench ARGS="--rows 1000000"
bench: $(READY)
	$(BIN)/python -m benchmarks.embedding_pass $(ARGS)

# The headline figures of README and docs against their bands: make headlines ARGS="--data FOLDER"
headlines: $(READY)
	$(BIN)/python -m benchmarks.headlines $(ARGS)

# Ours and the rivals, side by side: make bench-tables ARGS="--datasets adult --epsilons 1 --data FOLDER"
bench-tables: $(READY)
	$(BIN)/python -m benchmarks.tables $(ARGS)

# The documentation as a site, in site/: warnings are errors. docs-serve shows it at http://127.0.0.1:8000 and follows edits.
docs: $(READY_DOCS)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

docs-serve: $(READY_DOCS)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve

# Hostile inputs: make fuzz ARGS="--count 2000 --seed 7 --only csv,arrow"
fuzz: $(READY)
	$(BIN)/python -m benchmarks.fuzz $(ARGS)

# What users install is enough for the demo: about half a minute. Tests and benchmarks add torch, linters and a browser.
$(CORE): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("Pointillist needs Python 3.11 or newer; set PYTHON=/path/to/it" if sys.version_info < (3, 11) else 0)'
	@echo "Setting up $(VENV): half a minute or so the first time."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt -e .
	@touch $(CORE)

$(READY): $(CORE)
	@echo "Adding to $(VENV) what tests need: a minute or two the first time."
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt -e '.[test]'
	@touch $(READY)

$(READY_DOCS): $(CORE)
	@echo "Adding to $(VENV) what the site needs: half a minute the first time."
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt -e '.[docs]'
	@touch $(READY_DOCS)

$(READY_STUDIO): $(CORE)
	@echo "Adding to $(VENV) what the studio needs: a few seconds the first time."
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt -e '.[studio]'
	@touch $(READY_STUDIO)

clean:
	rm -rf $(VENV) $(VENV)-oldest $(VENV)-newest demo site build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
