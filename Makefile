# `make` installs everything into .venv and runs the workflow; `make test` runs the tests. `make help` lists the rest.
.DEFAULT_GOAL := results
.SUFFIXES:
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEV := $(VENV)/.dev
OLDEST := .venv-oldest
CORES ?= all
# Whoever starts Python a few times only, as .ci/installations does, sets this to nothing: to compile all packages takes
# ten times as long as to install them.
BYTECODE ?= --compile-bytecode
# How many examples a property is tested with (tests/conftest.py): same, or thorough, twelve times as many.
PROFILE ?= same

# Snakemake does not start without a home: whom the system does not know, and who names none, gets the environment's folder.
ifeq ($(HOME)$(shell id -un >/dev/null 2>&1 && echo known),)
export HOME := $(CURDIR)/$(VENV)
endif

# Whoever has set this would make each of some two hundred processes compile the library anew, and pytest the tests: a
# third of the time of `make test`.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help results install cluster adopt sums literature test test-oldest test-slow test-all test-cluster test-browser api site lint format lock clean

help:  ## list these targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 16

install: $(STAMP)  ## create or update .venv from the lock file

# Python before 3.13 reads the path of an editable project by the locale, and under LC_ALL=C does not start where the path
# has an umlaut. A path relative to the file has none, and stays right when the checkout is moved; so do the commands of an
# environment that is marked as relocatable.
PTH := lib/python*/site-packages/*rankadjust.pth
RELATIVE := $(PYTHON) -c 'import os, sys; open(sys.argv[1], "w").write(os.path.relpath(".", os.path.dirname(sys.argv[1])))'

# Packages first, the project after them: one pip command cannot mix hashed requirements with an editable project.
# The stamp also says which lock was installed: a second `uv pip sync` would uninstall the project.
$(STAMP): requirements.lock bootstrap.lock pyproject.toml Makefile
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "error: rankadjust needs Python 3.11 or newer; name one with 'make PYTHON=python3.12'" >&2; exit 1; }
	@$(PYTHON) -c 'import venv' 2>/dev/null \
	  || { echo "error: $(PYTHON) has no venv module; install it (Debian and Ubuntu: apt install python3-venv)" >&2; exit 1; }
	@rm -f $@
	@echo "1 of 3: the environment $(VENV)"
	@if $(PYTHON) -c 'import ensurepip' 2>/dev/null; then $(PYTHON) -m venv $(VENV); else \
	  $(PYTHON) -m venv --without-pip $(VENV) && $(PYTHON) -m pip --version >/dev/null 2>&1 \
	  || { echo "error: $(PYTHON) has neither ensurepip nor pip; install one (Debian and Ubuntu: apt install python3-venv)" >&2; exit 1; }; fi
	@grep -q relocatable $(VENV)/pyvenv.cfg || echo "relocatable = true" >> $(VENV)/pyvenv.cfg
	@if [ -x $(BIN)/pip ]; then installer="$(BIN)/python -m pip"; else installer="$(PYTHON) -m pip --python $(BIN)/python"; fi; \
	  $$installer install --quiet --disable-pip-version-check --require-hashes -r bootstrap.lock
	@echo "2 of 3: $$(grep -c == requirements.lock) packages"
	@VIRTUAL_ENV=$(VENV) $(BIN)/uv pip sync $(BYTECODE) --require-hashes requirements.lock
	@echo "3 of 3: rankadjust itself"
	@VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install --quiet --no-deps --no-build-isolation --editable .
	@$(RELATIVE) $(VENV)/$(PTH)
	@touch $@

# What neither a run nor `make test` needs: Slurm's plugin, a browser's driver, the site, formatters, the type checker.
$(DEV): requirements-dev.lock $(STAMP)
	@VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install --quiet --require-hashes -r requirements-dev.lock
	@touch $@

cluster: $(DEV)  ## install what a run on Slurm needs, and the formatters, the site and the browser's driver

results: $(STAMP)  ## run the workflow with the default configuration
	@$(BIN)/python -c 'import tempfile; tempfile.gettempdir()' 2>/dev/null || { echo "error: there is no folder for" \
	  "temporary files: $${TMPDIR:-/tmp}, /var/tmp and $$PWD cannot be written; allow one, or name another: make TMPDIR=/folder" >&2; exit 1; }
	@$(BIN)/python -m snakemake --cores $(CORES)
	@cat results/README.md

# The release is made by `snakemake release --configfile config/full.yaml`; no rule of a run writes to resources/.
ADOPTED := results/release/adjustments.parquet results/release/adjustments.csv.gz results/release/baselines.parquet results/release/candidates.parquet results/release/metric_adjustments.tsv.gz
adopt:  ## copy the tables of results/release/ to resources/database/, to be committed
	@cp $(ADOPTED) results/database/datasets.tsv resources/database/
	@$(BIN)/python -m rankadjust.base.shipped_sums

sums: $(STAMP)  ## renew the sums of the tables in resources/, after a change that was meant
	@$(BIN)/python -m rankadjust.base.shipped_sums

# Whoever proposes a table sees what a reviewer will ask for: contradictions in it, and every number of the documents that it moves.
NEW := git ls-files --modified --others --exclude-standard -- ':(glob)resources/published/*.csv'
literature: $(STAMP)  ## read resources/published/raw anew, check and re-score what is new, show what changes (CONTRIBUTING.md)
	@$(BIN)/python -m tests.transcription
	@$(BIN)/python -m rankadjust.base.shipped_sums
	@for table in $$($(NEW)); do $(BIN)/python -m rankadjust check "$$table"; $(BIN)/python -m rankadjust rescore "$$table" | tail -n 1; done
	@$(BIN)/python -m tests.findings
	@git diff --stat -- resources/published docs README.md

# Two at a time, each file by one of the two: its tests share what they made. The order of tests/conftest.py is kept: a
# file with few tests, however long they take, would come last, and alone. The last lines say which tests were skipped, and why.
TWO := -n 2 --dist loadfile --no-loadscope-reorder -rs

test: $(STAMP)  ## run the tests that take seconds each
	@$(BIN)/python -m pytest $(TWO) -m 'not shared and not slow' --hypothesis-profile=$(PROFILE)

test-oldest: $(OLDEST)/.installed  ## run the same tests with the oldest versions that pyproject.toml allows
	@$(OLDEST)/bin/python -m pytest $(TWO) -m 'not shared and not slow'

# Compiled here: some old packages warn while they are compiled, and in a test a warning is an error.
$(OLDEST)/.installed: requirements-oldest.lock $(STAMP)
	@rm -rf $(OLDEST) && $(BIN)/uv venv --quiet --python $(BIN)/python $(OLDEST)
	@VIRTUAL_ENV=$(OLDEST) $(BIN)/uv pip sync --quiet --compile-bytecode --require-hashes requirements-oldest.lock
	@VIRTUAL_ENV=$(OLDEST) $(BIN)/uv pip install --quiet --no-deps --no-build-isolation --editable .
	@$(RELATIVE) $(OLDEST)/$(PTH)
	@touch $@

test-slow: $(STAMP)  ## run the others: many runs of the workflow, all of the literature, the development data where it is
	@$(BIN)/python -m pytest $(TWO) -m 'slow or shared'

# In one go, so that both share what they make: browser and Slurm come beside it in .ci/run.
test-all: $(STAMP)  ## run the tests of `make test` and of `make test-slow`
	@$(BIN)/python -m pytest $(TWO) -m 'not browser and not cluster' --hypothesis-profile=$(PROFILE)

test-cluster: $(DEV)  ## run the workflow on a Slurm that is brought up for it (as root; docs/cluster.md)
	@$(BIN)/python -m pytest -m cluster -rs tests/cluster

test-browser: $(DEV)  ## open the report in a headless Chromium, without network
	@$(BIN)/python -m pytest $(TWO) -m browser tests/browser

api: $(DEV)  ## write anew what docs/ has of docstrings and registries: api, datasets, commands, columns, the table of metrics.md, and what notebooks print
	@$(BIN)/python -m harness.api_page > docs/api.md.new && mv docs/api.md.new docs/api.md
	@for made in datasets_page commands_page columns_page metrics_table notebooks; do $(BIN)/python -m harness.$$made || exit 1; done

site: $(DEV)  ## make the web site in site/, without network, and check its links: docs, a page for each data set and source
	@$(BIN)/python -m harness.site

lint: $(DEV)  ## ruff, snakefmt, mypy, phrases that are hard to read (harness/prose.toml)
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/snakefmt --check Snakefile workflow && $(BIN)/mypy && $(BIN)/python -m harness.prose

format: $(DEV)  ## let the formatters decide style
	@$(BIN)/ruff check --fix . ; $(BIN)/ruff format . && $(BIN)/snakefmt Snakefile workflow

# --universal: one lock for every platform. No index address is written, so that a mirror of the index works.
COMPILE := $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-annotate --no-header --python-version 3.11
lock: $(STAMP)  ## pin the newest versions that pyproject.toml allows, and the oldest for test-oldest
	@$(COMPILE) --upgrade --extra test pyproject.toml --output-file requirements.lock
	@$(COMPILE) --upgrade --all-extras --constraints requirements.lock pyproject.toml --output-file requirements-dev.lock
	@$(COMPILE) --upgrade --resolution lowest-direct --extra test pyproject.toml --output-file requirements-oldest.lock
	@printf 'pip\nuv\n' | $(COMPILE) --constraints requirements.lock - --output-file bootstrap.lock

clean:  ## remove what was produced, keep what was downloaded
	@rm -rf results/* .snakemake && git checkout --quiet results/README.md
