# make demo | test | test-kernels | lint | docs | dist | bench | reproduce | clean — each sets up .venv by itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
# One BLAS thread per process: two on small matrices are slower than one.
export OPENBLAS_NUM_THREADS ?= 1
export OMP_NUM_THREADS ?= 1
# Without it scikit-learn's check of array API input would be skipped.
test test-kernels: export SCIPY_ARRAY_API = 1

# Kernels of OpenBLAS that every 64-bit PC can run.
KERNELS := Haswell Zen Prescott Sandybridge

.PHONY: demo test test-kernels lint docs dist bench reproduce clean setup
.PHONY: test-generic $(KERNELS:%=test-%)
.DELETE_ON_ERROR:

setup: $(STAMP)

# Stale when the requirements changed, or when .venv came from another folder.
$(STAMP): pyproject.toml
	@command -v $(PYTHON) >/dev/null 2>&1 || { echo "lrisk needs Python 3.11 or newer: '$(PYTHON)' was not found (set PYTHON=/path/to/python3)"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "lrisk needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1)"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "lrisk needs Python's venv and pip modules (Debian: apt-get install python3-venv)"; exit 1; }
	@echo "Setting up $(VENV) (first run or changed requirements) ..."
	@$(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(STAMP)

demo: $(STAMP)
	@$(BIN)/python -m lrisk demo

test: $(STAMP)
	$(BIN)/python -m pytest -n 2 --dist worksteal

# What rounding could change, with the rounding of other processors. Two at a time, each
# in one process: workers would cost as much as the tests, and so would the import of all
# files that have none of them.
NUMERICS = $(shell grep -rl --include='test_*.py' numerics tests)
test-kernels: $(STAMP)
	@$(MAKE) --no-print-directory -j 2 $(if $(filter output-sync,$(.FEATURES)),-O) \
	  test-generic $(KERNELS:%=test-%)

test-generic:
	NUMBA_CPU_NAME=generic $(BIN)/python -m pytest $(NUMERICS) -q -m numerics

$(KERNELS:%=test-%): test-%:
	OPENBLAS_CORETYPE=$* $(BIN)/python -m pytest $(NUMERICS) -q -m numerics

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/docstrings.py

# The site, in docs/_build/html; LRISK_DOCS_PLOT=0 leaves the examples unrun.
docs: $(VENV)/.docs
	$(BIN)/python tools/docstrings.py
	$(BIN)/python -m sphinx -b html -W --keep-going -q docs docs/_build/html

# The packages, in dist/, tried in clean environments of each Python that is found.
dist: $(VENV)/.dist
	$(BIN)/python tools/dist.py

$(VENV)/.docs $(VENV)/.dist: $(VENV)/.%: $(STAMP)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	@touch $@

bench: $(STAMP)
	$(BIN)/python -m benchmarks

# LRISK_DATA names the folder of data sets; QUICK=1 takes minutes instead of hours.
reproduce: $(STAMP)
	$(BIN)/python -m experiments all $(if $(QUICK),--quick)

clean:
	rm -rf docs/_build docs/gallery docs/api/generated
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache lrisk-demo
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
