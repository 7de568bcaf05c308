# Every target works on a fresh clone: the first one to run creates .venv from pyproject.toml and constraints.txt.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Without bytecode on disk, every process that a test starts would compile the whole package again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test check-long launchers check-bounds check-debian fuzz serve lint bench notebooks docs
.DEFAULT_GOAL := help

help:
	@echo "make demo       map two problems, a circuit and a network through the service"
	@echo "make test       run the quick tests"
	@echo "make check-long run the tests that are too long for .ci/run, and the checks of the next three lines"
	@echo "make launchers  install the launchers of MPI that tests of make check-long start"
	@echo "make check-bounds"
	@echo "                run the quick tests of all that runs kernels, every index of an array checked"
	@echo "make fuzz       look for broken laws in tens of thousands of new cases, for an hour"
	@echo "make check-debian"
	@echo "                run the demo and the quick tests on bare systems of Debian; as root, with debootstrap"
	@echo "make serve      run the REST service on port 8000"
	@echo "make lint       format, and check style and types"
	@echo "make bench      measure every table of the documentation again"
	@echo "make notebooks  execute the notebooks"
	@echo "make docs       build the site of the documentation into build/site"

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "make: TIGER needs Python 3.11 or newer; name one with PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null \
		|| { echo "make: $(PYTHON) has no venv module; on Debian: apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	@# It takes seconds where pip takes minutes; pip itself knows settings of pip, such as another index.
	$(BIN)/uv pip install --quiet --python $(BIN)/python -e ".[dev]" -c constraints.txt \
		|| $(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]" -c constraints.txt
	@touch $@

demo: $(STAMP)
	$(BIN)/tiger warm assign layout
	$(BIN)/python examples/demo.py

# The quick tests; .ci/run asks for their coverage by PYTEST_ARGS, and for the slow ones by SELECT.
SELECT ?= not slow and not long
# In the order of tests/conftest.py, which begins with the longest files.
PYTEST := $(BIN)/python -m pytest -n auto --no-loadscope-reorder

# Warm first: workers that start without kernels would compile most of them twice, and under coverage.
WARM := $(or $(NUMBA_CACHE_DIR),$(VENV))/.warm
$(WARM): $(STAMP) $(shell find tiger solvers partition -name '*.py')
	$(BIN)/tiger warm
	@mkdir -p $(@D)
	@touch $@

test: $(WARM)
	$(PYTEST) --dist loadfile -m "$(SELECT)" $(PYTEST_ARGS)

check-long: $(WARM)
	$(MAKE) launchers
	$(PYTEST) --dist loadfile -m "slow and not long" tests/launchers
	$(PYTEST) --dist loadfile -m long
	$(MAKE) check-bounds
	$(MAKE) fuzz
	$(MAKE) check-debian

# Launchers beside that of .ci/run, which keeps to 900 s: in build/launchers, and Slurm as root on Debian.
launchers:
	PYTHON="$(PYTHON)" .ci/launchers

# The tests of all that runs kernels. Numba's cache does not tell whether code checks indices: this has one of its own.
CHECKED ?= $(addprefix tests/,bounds circuits expert_maps feasibility formats fuzz launchers mapping model \
	objectives partition placement planning plotting qubo rebalancing routing run solvers \
	topologies training)
check-bounds: export NUMBA_BOUNDSCHECK := 1
check-bounds: export NUMBA_CACHE_DIR := $(CURDIR)/build/checked
check-bounds: $(STAMP)
	$(MAKE) test PYTEST_ARGS="$(CHECKED)"

# All properties that hypothesis draws cases of; one file at a time: make fuzz FUZZ=tests/fuzz/test_mapping.py
FUZZ ?= tests
fuzz: $(STAMP)
	TIGER_FUZZ=long $(PYTEST) --dist worksteal -m hypothesis $(FUZZ)

# One release: make check-debian DEBIAN=trixie
check-debian:
	.ci/debian $(DEBIAN)

serve: $(STAMP)
	$(BIN)/tiger serve

# .ci/run asks for a check of the format alone by FORMAT=--check.
lint: $(STAMP)
	$(BIN)/ruff format $(FORMAT)
	$(BIN)/ruff check
	$(BIN)/mypy

bench: $(STAMP)
	TIGER_QAPLIB="$(TIGER_QAPLIB)" TIGER_CIRCUITS="$(TIGER_CIRCUITS)" TIGER_PROFILES="$(TIGER_PROFILES)" \
		TIGER_GRAPHS="$(TIGER_GRAPHS)" $(BIN)/python -m benchmarks

notebooks: $(STAMP)
	$(BIN)/python -m pytest tests/test_notebooks.py

docs: $(STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
