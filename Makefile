# make quick      lint and a small test of each room: after each edit
# make test       lint, then every test on the compiled build and, on the pure one, those that may differ; compares with PyTorch
# make test-core  the same without PyTorch
# make demo       train a small classifier and write one step of it as a page: build/digits.html
# make docs       build the documentation as a site: build/site/index.html, to be opened as a file
# make ecosystem   compare programs of other libraries with PyTorch: docs/programs.md
# make bench      the speed budgets, on the compiled build
# make generate   regenerate files made from other files: what rules read, stubs, forms, name lists, deviations (needs PyTorch)
# make instructions   count the instructions of small works with valgrind, beside a baseline
# make sanitize   run the tests of kernels and plans, and calls with bad arguments, under the C compiler's sanitizers
#
# .venv           the checkout, editable: the pure build
# .venv-demo      what a user installs
# .venv-compiled  the wheel, compiled; it sees the tools of .venv but not the checkout
#
# PYTHON=...      the Python for .venv (default: the newest found)
# ARGS=...        more arguments for pytest, the demo or the benchmarks
# WORKERS=...     processes that run tests in parallel (default: one per processor, at most 4)

SHELL := /bin/bash
MAKEFLAGS += --no-print-directory
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:

PURE := .venv/bin/python
COMPILED := .venv-compiled/bin/python
PIP := $(PURE) -m pip --disable-pip-version-check
# Python compiles what is imported, a third of it, when that is first done.
TOOLS := $(PIP) install -qq --no-compile
ARGS :=
ONLY :=
WORKERS := auto
# Workers take tests from each other, with a thread each; a run of a few is quicker without them.
PYTEST := -m pytest $(if $(ARGS),,-n $(WORKERS) --maxprocesses 4 --dist worksteal)

# Whatever the environment says: a process that compiles the sources again takes a second longer to start.
unexport PYTHONDONTWRITEBYTECODE

# A stamp is named after the contents that it stands for: second calls are quick, any edit, removal or checkout is seen.
sum = $(shell find $(1) -type f \( -name '*.py' -o -name '*.toml' -o -name '*.[ch]' -o -name '*.typed' -o -name '*.html' -o -name '*.pyi' \) \
	| LC_ALL=C sort | xargs cksum | cksum | cut -d' ' -f1)
PACKAGES := $(call sum,pyproject.toml)
CORE := .venv/.core-$(PACKAGES)
ORACLE := .venv/.oracle-$(PACKAGES)
# What is compiled names the wheel; the rest of the package is laid over it, in less than a second.
COMPILED_FILES := $(shell sed -n '/^COMPILED = (/,/^)/s/^ *"\(.*\)",/\1/p' setup.py)
COMPILES := pyproject.toml setup.py tools src/retrograd/_kernels $(wildcard $(addprefix src/retrograd/,$(COMPILED_FILES)))
BUILT := .venv-compiled/.built-$(call sum,$(COMPILES))
WHEEL := .venv-compiled/.laid-$(call sum,pyproject.toml setup.py src)

DEMO := .venv-demo/.built-$(RETROGRAD_PURE)-$(call sum,pyproject.toml setup.py src)

.PHONY: help quick generate test test-core test-pure test-compiled core-pure core-compiled lint demo docs ecosystem bench instructions sanitize clean

help:
	@sed -n '/^#/!q;s/^# \{0,1\}//p' Makefile

# The wheel is compiled while PyTorch is installed, and beside lint and the tests of the pure build; the compiled build's take all
# processors, whatever -j says.  tests/conftest.py says what is run once; test-pure and core-pure by themselves run all.
test:
	@$(MAKE) -j3 $(WHEEL) lint test-pure ONLY=--both-builds
	@$(MAKE) test-compiled

test-core:
	@$(MAKE) $(CORE)
	@$(MAKE) -j2 $(WHEEL) lint core-pure ONLY=--both-builds
	@$(MAKE) core-compiled

quick: lint
	RETROGRAD_BUILD=pure OMP_NUM_THREADS=1 $(PURE) -m pytest -q tests/test_rooms.py tests/test_layers.py

test-pure: $(ORACLE)
	RETROGRAD_BUILD=pure OMP_NUM_THREADS=1 $(PURE) $(PYTEST) $(ONLY) $(ARGS)

test-compiled: $(ORACLE) $(WHEEL)
	RETROGRAD_BUILD=compiled OMP_NUM_THREADS=1 $(COMPILED) $(PYTEST) $(ARGS)

core-pure: $(CORE)
	RETROGRAD_BUILD=pure OMP_NUM_THREADS=1 $(PURE) $(PYTEST) -m 'not oracle' $(ONLY) $(ARGS)

core-compiled: $(WHEEL)
	RETROGRAD_BUILD=compiled OMP_NUM_THREADS=1 $(COMPILED) $(PYTEST) -m 'not oracle' $(ARGS)

lint: $(CORE)
	$(PURE) -m ruff check .
	$(PURE) -m mypy

generate: $(ORACLE)
	$(PURE) -m tools.generate

demo: $(DEMO)
	@.venv-demo/bin/python examples/digits.py $(ARGS)
	@mkdir -p build
	@.venv-demo/bin/python examples/trace_digits.py build/digits.html

docs: $(CORE)
	$(PIP) install -qq "$$($(PURE) -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["docs"])')"
	NO_MKDOCS_2_WARNING=1 $(PURE) -m mkdocs build --quiet --strict $(ARGS)
	@echo "retrograd: open build/site/index.html"

# Libraries by their pinned versions, in an environment of their own: some 2 GB.
ecosystem: $(CORE)
	[ -e .venv-ecosystem ] || $(PURE) -m venv .venv-ecosystem
	.venv-ecosystem/bin/python -m pip install -qq -r tests/ecosystem/requirements.txt
	RETROGRAD_PURE=1 .venv-ecosystem/bin/python -m pip install -qq --editable .
	.venv-ecosystem/bin/python tests/ecosystem/run.py $(ARGS)

bench: $(WHEEL)
	$(COMPILED) -m benchmarks.budgets $(ARGS)

instructions: $(WHEEL)
	$(COMPILED) -m benchmarks.instructions $(ARGS)

# under(sanitizers, the name of their runtime, folder, what Python runs): kernels compiled with them, the rest of Python as it is
define under
	@[ -e "$$($(CC) -print-file-name=$(2).so)" ] || { echo "retrograd: $(CC) has no $(2); Debian: libgcc-*-dev of its version" >&2; exit 1; }
	RETROGRAD_REQUIRE_COMPILED=1 RETROGRAD_SANITIZE=$(1) $(PURE) setup.py -q build --build-base build/$(3) --build-lib build/$(3)/lib
	LD_PRELOAD="$$($(CC) -print-file-name=$(2).so) $$($(CC) -print-file-name=libstdc++.so)" PYTHONPATH=build/$(3)/lib PYTHONMALLOC=malloc OMP_NUM_THREADS=1 RETROGRAD_BUILD=pure \
	    ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=4096 \
	    UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 TSAN_OPTIONS=halt_on_error=1 $(PURE) $(4)
endef
comma := ,

sanitize: $(CORE)
	$(call under,address$(comma)undefined,libasan,asan,-m pytest -m 'not oracle' $(addprefix tests/kernels/,test_kernels*.py test_fast_kernels.py test_blocks.py) tests/compile $(ARGS))
	$(call under,address$(comma)undefined,libasan,asan,tests/kernels/hostile_kernels.py arguments 1000)
	$(call under,address$(comma)undefined,libasan,asan,tests/kernels/hostile_kernels.py threads 100)
	$(call under,thread,libtsan,tsan,tests/kernels/hostile_kernels.py threads 20)

clean:
	rm -rf .venv .venv-compiled .venv-demo build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis src/retrograd.egg-info

# Some of these names may be shims that fail, hence the trial.
$(PURE):
	@for python in $(PYTHON) python3.14 python3.13 python3.12 python3.11 python3; do \
	    if $$python -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	        echo "retrograd: making .venv with $$($$python --version)"; \
	        $$python -m venv --clear .venv; \
	        exit 0; \
	    fi; \
	done; \
	echo "retrograd: found no Python 3.11 or newer with venv; name one: make PYTHON=/path/to/python" >&2; \
	exit 1

# What a user installs, and not the tools of the tests.
$(DEMO): | $(PURE)
	@rm -rf .venv-demo
	@$(PURE) -m venv --without-pip .venv-demo
	@echo "retrograd: installing into .venv-demo; with a C compiler this takes some minutes (RETROGRAD_PURE=1 make demo: seconds)"
	@$(PIP) --python .venv-demo/bin/python install '.[demo]'
	@touch $@

$(CORE): | $(PURE)
	rm -f .venv/.core-*
	$(PURE) -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' \
	    > .venv/build-requires.txt
	$(TOOLS) -r .venv/build-requires.txt
	RETROGRAD_PURE=1 $(TOOLS) --no-build-isolation --editable '.[dev]'
	touch $@

$(ORACLE): $(CORE)
	rm -f .venv/.oracle-*
	$(PURE) -c 'import tomllib; extras = tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]; \
	    print(*extras["oracle"], *extras["docs"], sep="\n")' > .venv/oracle-requires.txt
	$(TOOLS) -r .venv/oracle-requires.txt
	touch $@

$(BUILT): $(CORE)
	rm -rf .venv-compiled build/wheel
	RETROGRAD_REQUIRE_COMPILED=1 $(PIP) wheel -qq --no-deps --no-build-isolation --wheel-dir build/wheel .
	$(PURE) -m venv --without-pip .venv-compiled
	$(PIP) --python $(COMPILED) install -qq --no-deps build/wheel/retrograd-*.whl
	site='import sysconfig; print(sysconfig.get_path("purelib"))'; \
	    $(PURE) -c "$$site" > "$$($(COMPILED) -c "$$site")/tools.pth"
	touch $@

$(WHEEL): $(BUILT)
	rm -f .venv-compiled/.laid-*
	$(PURE) tools/lay.py "$$($(COMPILED) -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
	touch $@
