# Scale Right: every command of the README is a target here; `make help` lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
  --custom-compile-command "make lock"
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

# Else each process of a build, and each run of the tests, compiles the library and the tests anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help book pdf test nightly cold quick lint units format notebooks check size bench lock clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

book: $(VENV)/.scaleright ## build the site into _build/html (runs only the chapters that changed)
	@$(BIN)/scaleright book

pdf: book ## print the whole book as one PDF, _build/scale-right.pdf (needs Chromium)
	@$(BIN)/scaleright pdf

test: $(VENV)/.scaleright $(VENV)/peers $(VENV)/html-validate ## run the tests: units, doctests, data, stored notebooks, the site in Chromium
	@$(BIN)/python -m pytest --nbval --nbval-current-env -n auto $(ARGS)

# Without the suite's conftest and settings: nbval's own kernels, on this processor.
cold: $(VENV)/.scaleright ## run the stored notebooks as anyone's nbval does, with nothing of the suite (for a nightly job)
	@$(BIN)/python -m pytest --nbval --nbval-current-env --noconftest -c /dev/null --rootdir . -p no:cacheprovider \
	  -n logical --dist loadfile notebooks $(ARGS)

nightly: ## run every test and what a pull request need not wait for: all settings, processors and keyboards, cold kernels, the PDF
	@SCALERIGHT_NIGHTLY=1 $(MAKE) --no-print-directory --keep-going test cold pdf

quick: $(VENV)/.scaleright ## what to run before each commit: format, lint, types, units and doctests of what changed (ALL=1: of all)
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target lint units

lint: $(VENV)/.scaleright
	@$(BIN)/ruff format --check --quiet --diff
	@$(BIN)/python .ci/chapters.py --check
	@$(BIN)/ruff check --quiet
	@$(BIN)/pyrefly check --threads 2 --output-format min-text --summary=none --progress-bar=no

units: $(VENV)/.scaleright
	@$(BIN)/python -m pytest -m "not processes and not long" --ignore tests/pages --ignore notebooks -n logical --quiet \
	  $(if $(ALL),,--changed) $(ARGS) || [ $$? = 5 ]  # nothing has changed

format: $(VENV)/.scaleright ## format the library, the tests and the code of the chapters
	@$(BIN)/ruff format --quiet
	@$(BIN)/python .ci/chapters.py
	@$(BIN)/ruff check --fix --quiet

notebooks: $(VENV)/.scaleright ## run changed chapters and store them, with outputs, in notebooks/
	@$(BIN)/python -m refresh.ledger
	@$(BIN)/scaleright notebooks
	@$(BIN)/python -m refresh.accuracy
	@$(BIN)/python -m refresh.headlines

check: $(VENV)/.scaleright ## check every table of data/ against its data package
	@$(BIN)/scaleright data check

size: ## count the code lines of the library and of the tests, by room
	@$(PYTHON) .ci/sizes.py

bench: $(VENV)/.scaleright $(VENV)/peers ## measure the speeds the book promises, beside other estimators
	@for script in speed search serving_speed load_of_a_day peers calibrate_chip; do \
	  echo "benchmarks/$$script.py"; $(BIN)/python -m benchmarks.$$script || exit 1; done

lock: $(VENV)/.scaleright ## write the lock files anew after a pin of requirements.txt or peers.txt changed
	@$(LOCK) --output-file requirements.lock requirements.txt
	@$(LOCK) --no-deps --output-file benchmarks/peers.lock benchmarks/peers.txt

clean: ## delete what was built (the environment in .venv stays)
	rm -rf _build .pytest_cache .hypothesis .import_linter_cache .ruff_cache .mypy_cache

# The environment is made anew when a pin changes, the package is installed again when its metadata changes.
$(VENV)/.packages: requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Scale Right needs Python 3.11 or newer, and '$(PYTHON)' is $$($(PYTHON) -V 2>&1)." >&2; \
	  echo "Name another one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@echo "Installing the pinned environment into $(VENV) (once, a minute or two) ..."
	@$(PYTHON) -m venv --clear $(VENV)
	@$(PIP) install --require-hashes --only-binary :all: --requirement requirements.lock
	@touch $@

# Other estimators lie apart: they are measured beside the book's library and never part of it.
$(VENV)/peers: benchmarks/peers.lock $(VENV)/.packages
	@rm -rf $@
	@$(PIP) install --no-deps --require-hashes --target $@ --requirement benchmarks/peers.lock
	@touch $@

# The HTML validator is npm's, run by the Node that Playwright brings; without npm its tests are skipped.
$(VENV)/html-validate: tests/pages/package-lock.json $(VENV)/.packages
	@rm -rf $@
	@if command -v npm >/dev/null; then mkdir $@ && cp tests/pages/package.json $< $@ && \
	  npm ci --prefix $@ --ignore-scripts --no-audit --no-fund --silent; fi

# Where the library lies, told from where the file lies: Python reads it in the locale's encoding, and
# would not start with LC_ALL=C from a folder whose name is not ASCII.
EDITABLE := _editable_impl_scaleright.pth
$(VENV)/.scaleright: $(VENV)/.packages pyproject.toml
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@for site in $(VENV)/lib/python*/site-packages; do echo ../../../../lib > $$site/$(EDITABLE); done
	@touch $@
