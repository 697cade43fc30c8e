# make demo | test | lint | bench | reproduce | clean — each sets up .venv by itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
# One BLAS thread per process: two on small matrices are slower than one.
export OPENBLAS_NUM_THREADS ?= 1
export OMP_NUM_THREADS ?= 1
# Without it scikit-learn's check of array API input would be skipped.
test: export SCIPY_ARRAY_API = 1

.PHONY: demo test lint bench reproduce clean setup
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

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP)
	$(BIN)/python -m benchmarks

# LRISK_DATA names the folder of data sets; QUICK=1 takes minutes instead of hours.
reproduce: $(STAMP)
	$(BIN)/python -m experiments all $(if $(QUICK),--quick)

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache lrisk-demo
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
