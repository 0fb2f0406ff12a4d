# Everything from a bare machine: Python 3.11 or newer, pip and make. Each target makes the environment that it needs;
# the second time it is there already. Arguments go on as ARGS: make demo ARGS="--duration 5 --rate 1000"

VENV ?= .venv
ARGS ?=
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip --disable-pip-version-check

# Where the environment forbids bytecode, each of the many processes would compile every module again.
unexport PYTHONDONTWRITEBYTECODE

# The first Python that is new enough and can make an environment.
FITS = import sys, importlib.util as u; sys.exit(not (sys.version_info >= (3, 11) and any(map(u.find_spec, ("ensurepip", "pip", "virtualenv")))))
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3 python; do \
	if command -v $$p >/dev/null 2>&1 && $$p -c '$(FITS)' >/dev/null 2>&1; then echo $$p; break; fi; done)

# What Qt needs of the system, what its tests need for a virtual screen, the window managers under which the app is tried
# with real mouse and keys, and a C compiler: rig/runtime/system_packages.toml says which, and of what no library loads.
SYSTEM = $(BIN)/python -I rig/runtime/system_packages.py
QT_PACKAGES = $$($(SYSTEM) packages app screen virtual-screen)
DESK_PACKAGES = $$($(SYSTEM) packages desk compiler)

.PHONY: help install headless demo gui test explore mutants lint texts reference bench pictures clean
ifeq ($(filter test-%,$(MAKECMDGOALS)),)
.NOTPARALLEL:
endif

help:
	@echo "make install   the command rig and the desktop app, in $(VENV)"
	@echo "make headless  the command rig alone, for a computer without a screen"
	@echo "make demo      the virtual rig: drives, trajectory, recording and report"
	@echo "make gui       the desktop app, on the virtual rig or on CONFIG: make gui ARGS=my-rig.toml"
	@echo "make test      every test"
	@echo "make explore   the tests that draw their cases, long: hours, of which whole rigs take EXPLORE_MINUTES=30;"
	@echo "               EXPLORE_SEED=N begins with that seed"
	@echo "make mutants   guards, checks and reactions taken out one at a time: does a test fail?"
	@echo "make lint      style, types, who may import whom"
	@echo "make texts     the catalogue of the app's texts, and the translations of it"
	@echo "make reference the pages of all keys and all commands, from schema and help, and the papers' verdicts"
	@echo "make bench     the speeds, beside those of other engines"
	@echo "make pictures  the user guide's pictures, taken from the running app"
	@echo "make clean     remove what was made here; recordings stay"

install: $(VENV)/.installed-gui
	@echo "Ready: $(BIN)/rig --help"

headless: $(VENV)/.installed
	@echo "Ready: $(BIN)/rig --help"

demo: $(VENV)/.installed
	$(BIN)/rig demo $(ARGS)

gui: $(VENV)/.installed-gui $(VENV)/.system
	$(BIN)/rig gui $(ARGS)

# A virtual screen, its number the first free one from $(1) on.
XVFB = xvfb-run -n $(1) -a -s '-screen 0 1920x1080x24'

# What shows windows gets a virtual screen where there is none of its own.
SCREEN = if [ -n "$${DISPLAY:-}" ]; then screen=; else screen="$(call XVFB,99)"; fi; eval $$screen

PYTEST = $(BIN)/python -m pytest

# In groups, so many of them at once that every processor is busy while two wait. Those that compile the kernels of
# several others come first, the rig's beside the models' and what needs none: whoever needs them finds them, and few are
# compiled twice. Then those that wait most of their time, live rigs as processes and apps under window managers, beside
# all others, the longest first, so that none is left alone at the end. With ARGS: one pytest, given them.
KERNELS = $(addprefix tests/rig/,test_warm_up.py test_closed_loop.py test_engine_parts.py)
MODELS = $(wildcard tests/test_*.py) tests/kinematics tests/dynamics
LIVE = $(shell grep -l live_bench tests/integration/test_*.py)
EARLIER = $(filter-out $(KERNELS),$(wildcard tests/rig/test_[a-l]*.py))
LATER = $(filter-out $(KERNELS),$(wildcard tests/rig/test_[m-z]*.py))
APPS = tests/gui/test_app_killed.py $(wildcard tests/gui/test_*_under_window_managers.py)
PANELS = $(filter-out $(APPS),$(wildcard tests/gui/test_[a-m]*.py))
OTHERS = tests $(patsubst %,--ignore=%,tests/benchmarks tests/gui tests/integration tests/rig $(MODELS))
FIRST = $(addprefix test-,kernels models)
GROUPS = $(addprefix test-,live apps views later panels whole others earlier)
AT_ONCE = $(shell expr $$(getconf _NPROCESSORS_ONLN) + 2)

test: $(VENV)/.installed-test $(VENV)/.system $(VENV)/.desk
ifneq ($(strip $(ARGS)),)
	@$(SCREEN) $(PYTEST) tests --ignore=tests/benchmarks $(ARGS)
else
	@log=$$(mktemp); trap 'rm -f "$$log"' EXIT; \
	{ echo "$(words $(FIRST) $(GROUPS)) groups of tests, each shown when it has ended" && \
	$(MAKE) --no-print-directory --keep-going --jobs=2 --output-sync=target $(FIRST) && \
	$(MAKE) --no-print-directory --keep-going --jobs=$(AT_ONCE) --output-sync=target $(GROUPS) && \
	echo "Every test has passed"; } 2>&1 | tee "$$log"; \
	if [ "$$(tail -n 1 "$$log")" != "Every test has passed" ]; then \
	echo "What failed, of all of them:"; grep -E '^(FAILED|ERROR|make: \*\*\*) ' "$$log"; exit 1; fi
endif

test-kernels:; $(PYTEST) $(KERNELS)
test-models:; $(PYTEST) $(MODELS)
test-apps:; $(call XVFB,200) $(PYTEST) $(APPS)
test-panels:; $(call XVFB,300) $(PYTEST) $(PANELS)
test-live:; $(PYTEST) $(LIVE)
test-views:; $(call XVFB,400) $(PYTEST) tests/gui $(patsubst %,--ignore=%,$(APPS) $(PANELS))
test-others:; $(PYTEST) $(OTHERS)
test-whole:; $(PYTEST) tests/integration $(patsubst %,--ignore=%,$(LIVE))
test-earlier:; $(PYTEST) $(EARLIER)
test-later:; $(PYTEST) $(LATER)

# Those of their tests that know a long profile, tests/exploration.py.
EXPLORING = $$(grep -rl "^from exploration import" tests --include="test_*.py")

explore: $(VENV)/.installed-test $(VENV)/.system
	@EXPLORE=1 $(PYTEST) -s --timeout=0 $(EXPLORING) $(ARGS)

# Guards and reactions taken out one at a time: a test must fail for each. ARGS chooses some by name or module.
mutants: $(VENV)/.installed-test
	@$(BIN)/python tests/mutants/run.py $(ARGS)

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

texts: $(VENV)/.installed-test
	@PYTHONPATH=. $(BIN)/python tests/gui/catalogue.py

reference: $(VENV)/.installed-test
	@PYTHONPATH=. $(BIN)/python tests/guides/reference.py
	@PYTHONPATH=. $(BIN)/python tests/papers/document.py

bench: $(VENV)/.installed-test $(VENV)/.system $(VENV)/.desk
	@$(SCREEN) $(BIN)/python -m pytest tests/benchmarks -s $(ARGS)

PICTURES = start armed jog jog-drag motion-template motion-refused fault engine-died live-forces live-terms live-models dashboards platform recording-curves setup-drives

pictures: $(VENV)/.installed-gui $(VENV)/.system
	@$(SCREEN) env LANGUAGE=C $(BIN)/python -m gui.tour -o docs/images --size 1280x800 --theme light $(PICTURES:%=--only %)

clean:
	rm -rf $(VENV) $(VENV)-bootstrap build *.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache \
		.benchmarks .hypothesis
	find . -name __pycache__ -not -path './.git/*' -prune -exec rm -rf {} +

# A Python without ensurepip (Debian's, without python3-venv) gets its environment from virtualenv.
$(BIN)/python:
	@if [ -z "$(PYTHON)" ]; then \
		echo "No Python 3.11 or newer with pip was found. Install one (Debian: sudo apt-get install python3 python3-pip)," >&2; \
		echo "or name it: make PYTHON=/path/to/python3" >&2; exit 1; fi
	@echo "Environment $(VENV) from $$($(PYTHON) --version)"
	@if $(PYTHON) -c 'import ensurepip, venv' >/dev/null 2>&1; then $(PYTHON) -m venv $(VENV); else \
		$(PYTHON) -m pip install --quiet --disable-pip-version-check --target $(VENV)-bootstrap virtualenv && \
		PYTHONPATH=$(VENV)-bootstrap $(PYTHON) -m virtualenv --quiet $(VENV); fi

$(VENV)/.installed: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing the rig"
	@$(PIP) install --quiet -c constraints.txt -e .
	@touch $@

$(VENV)/.installed-gui: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing the rig and its desktop app"
	@$(PIP) install --quiet -c constraints.txt -e '.[gui]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-test: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing the rig and its test tools"
	@$(PIP) install --quiet -c constraints.txt -e '.[test]'
	@touch $@ $(VENV)/.installed $(VENV)/.installed-gui

$(VENV)/.system: | $(BIN)/python
	@if command -v xvfb-run >/dev/null && missing=$$($(SYSTEM) missing app screen) && [ -z "$$missing" ]; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing the system libraries of Qt"; \
		export DEBIAN_FRONTEND=noninteractive; \
		apt-get -qq update && apt-get -qq install -y --no-install-recommends $(QT_PACKAGES) >/dev/null; \
	else \
		echo "System libraries of Qt are missing. On Debian or Ubuntu type:" >&2; \
		echo "  sudo apt-get install $(QT_PACKAGES)" >&2; \
		echo "and then try again." >&2; exit 1; \
	fi
	@touch $@

$(VENV)/.desk: | $(BIN)/python
	@if command -v openbox >/dev/null && command -v metacity >/dev/null && command -v xdotool >/dev/null \
		&& command -v cc >/dev/null && command -v objdump >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing the window managers and the C compiler of the tests"; \
		export DEBIAN_FRONTEND=noninteractive; \
		apt-get -qq update && apt-get -qq install -y --no-install-recommends $(DESK_PACKAGES) >/dev/null; \
	else \
		echo "Window managers that STOP is tried under, or a C compiler, are missing. On Debian or Ubuntu type:" >&2; \
		echo "  sudo apt-get install --no-install-recommends $(DESK_PACKAGES)" >&2; \
		echo "and then try again." >&2; exit 1; \
	fi
	@touch $@
