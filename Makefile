# `make demo` and `make test` need Python >= 3.11 and a C++20 compiler, nothing else.
#
#   demo         install for use and run the demonstration
#   test         install for development and run all quick tests, static checks included
#   statistical  the tests of the samplers with many seeds, and those too slow for `test`
#   slow         the fuzzing of the playground's API, by its description; every room compiled as one file
#   lint         the static checks alone
#   sanitize     the tests on a build with AddressSanitizer and UndefinedBehaviorSanitizer
#   sanitize-threads   the tests that use threads on a build with ThreadSanitizer
#   tsan-core    the core without Python, in several threads, under ThreadSanitizer
#   odr          a build of everything in which two types of one name are an error
#   build, stub  compile after an edit; write the type stub of the compiled module anew
#   wheel        the wheel and the source archive, tried in an empty environment without a compiler
#   release      all that must hold before a version is tagged: version, changelog, pages, wheel
#   fuzz         the readers of model files under a fuzzer, ten minutes each; needs Clang
#   fuzz-lattices  damaged lattice files for 30 minutes of the processor (SECONDS=60 for less)
#   bench, experiments, docs
#   pictures     draw the pictures of the manual anew, from models trained for the purpose
#   experiments-full  the papers at their own size, in all languages that are there; hours, can be continued
#   clean        remove what the above have made
#
# Variables: PYTHON=python3.12, WERROR=OFF (for a compiler with new warnings), UNITY=OFF (a first build in twice the
# time, faster ones after edits; the build directory remembers it), JOBS=8, ARGS="-k arpa" (to pytest).

PYTHON ?= python3
WERROR ?= ON
UNITY ?= $(or $(shell sed -n 's,^HIDDENITE_UNITY:[A-Z]*=,,p' build/cp*/CMakeCache.txt 2> /dev/null | head -n 1),ON)
JOBS ?= 2
ARGS ?=
SECONDS ?= 1800
SEEDS ?= 1 2 3 4 5 6 7 8 9 10

# Commands that the tests start would otherwise compile the package's files anew each time.
unexport PYTHONDONTWRITEBYTECODE

VENV := .venv
BIN := $(VENV)/bin
SANITIZE_VENV := .venv-sanitize
THREADS_VENV := .venv-threads
BUILD_FILES := pyproject.toml CMakeLists.txt README.md LICENSE
CPP_FILES := $(shell find cpp)# directories too: a deleted file is a change
PYTHON_FILES := $(shell find src -name '*.py' -o -name '*.pyi' -o -name py.typed)

# The development install serves the demo too; only a fresh checkout needs the user's one.
DEMO_STAMP := $(if $(wildcard $(VENV)/.stamp-dev),$(VENV)/.stamp-dev,$(VENV)/.stamp-user)

.PHONY: demo test lint statistical slow fuzz fuzz-lattices bench experiments experiments-full docs pictures sanitize sanitize-threads tsan-core odr build stub \
    wheel release clean
.DELETE_ON_ERROR:

demo: $(DEMO_STAMP)
	$(BIN)/hiddenite demo

# Each process gets a half in order, so that what a file's tests share is made once; who is done first takes of the rest.
test: $(VENV)/.stamp-dev
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal $(ARGS)

statistical: $(VENV)/.stamp-dev
	for seed in $(SEEDS); do \
	  $(BIN)/python -m pytest -q -n $(JOBS) -m "statistical or not statistical" --seed $$seed tests/statistical $(ARGS) \
	    || exit 1; \
	done

slow: $(VENV)/.stamp-dev
	$(BIN)/python -m pip install -q schemathesis
	$(BIN)/python -m pytest -n $(JOBS) -m slow $(ARGS)

lint: $(VENV)/.stamp-dev
	$(BIN)/python -m pytest -n $(JOBS) tests/unit/test_codebase.py $(ARGS)

build: $(VENV)/.stamp-dev

stub: $(VENV)/.stamp-dev
	$(BIN)/python -m nanobind.stubgen -q -m hiddenite._core -o src/hiddenite/_core.pyi

bench: $(VENV)/.stamp-dev
	@test -f benchmarks/run.py || { echo "make bench: there is no benchmarks/run.py"; exit 1; }
	$(BIN)/python -m pip install -q --no-build-isolation -e '.[test,demo,bench]'
	$(BIN)/python benchmarks/run.py

experiments: $(VENV)/.stamp-dev
	@test -f experiments/run_all.py || { echo "make experiments: there is no experiments/run_all.py"; exit 1; }
	$(BIN)/python -m pip install -q --no-build-isolation -e '.[test,demo,plot,fit,neural]'
	$(BIN)/python experiments/run_all.py

# Hours to days; every piece and every cell is kept as it ends, and the same command goes on.
experiments-full: $(VENV)/.stamp-dev
	$(BIN)/python -m pip install -q --no-build-isolation -e '.[test,demo,plot,fit,neural]'
	$(BIN)/python experiments/languages.py
	$(BIN)/python experiments/lexicon_drift.py
	$(BIN)/python experiments/run_all.py --size full

docs: $(VENV)/.stamp-dev
	$(BIN)/python -m pip install -q --no-build-isolation -e '.[test,demo,docs]'
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs site

pictures: $(VENV)/.stamp-dev
	for script in first_screen proof theory tutorials; do $(BIN)/python docs/pictures/$$script.py || exit 1; done

# libstdc++ is loaded beside libasan because the interpreter is C: without it the sanitizer finds no
# function that throws and dies at the first exception. Leaks are the interpreter's own habit.
# --capture=sys leaves the file descriptors alone, so that a report is seen. What jax compiles is not ours.
sanitize: $(SANITIZE_VENV)/.stamp
	LD_PRELOAD="$$($${CXX:-g++} -print-file-name=libasan.so) $$($${CXX:-g++} -print-file-name=libstdc++.so)" \
	ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 UBSAN_OPTIONS=print_stacktrace=1 \
	$(SANITIZE_VENV)/bin/python -m pytest -n $(JOBS) --capture=sys --ignore tests/unit/test_codebase.py \
	    --ignore tests/unit/test_hmmlm_neural.py --ignore tests/e2e/test_hmmlm_neural.py \
	    --ignore tests/e2e/test_experiments.py $(ARGS)

# What is not instrumented (the interpreter, NumPy) is not asked about.
sanitize-threads: $(THREADS_VENV)/.stamp
	LD_PRELOAD="$$($${CXX:-g++} -print-file-name=libtsan.so)" \
	TSAN_OPTIONS=ignore_noninstrumented_modules=1:halt_on_error=1:exitcode=66:history_size=4 \
	$(THREADS_VENV)/bin/python -m pytest --capture=sys $(THREAD_TESTS) $(ARGS)

# Both need CMake and Ninja, which the development environment has; neither needs Python's headers or nanobind.
tsan-core: $(VENV)/.stamp-tools
	PATH="$(CURDIR)/$(BIN):$$PATH" cmake -G Ninja -B build/tsan-core -DCMAKE_BUILD_TYPE=Release -DHIDDENITE_CORE_ONLY=ON \
	    -DHIDDENITE_SANITIZE=thread -DHIDDENITE_WERROR=$(WERROR) > /dev/null
	PATH="$(CURDIR)/$(BIN):$$PATH" cmake --build build/tsan-core --parallel $(JOBS)
	TSAN_OPTIONS=halt_on_error=1 build/tsan-core/core_test

odr: $(VENV)/.stamp-tools
	PATH="$(CURDIR)/$(BIN):$$PATH" cmake -G Ninja -B build/odr -DCMAKE_BUILD_TYPE=Release -DHIDDENITE_ODR=ON \
	    -DHIDDENITE_FAULTS=ON -DPython_EXECUTABLE="$(CURDIR)/$(BIN)/python" > /dev/null
	PATH="$(CURDIR)/$(BIN):$$PATH" cmake --build build/odr --parallel $(JOBS)

# The wheel is made from the source archive, so that the archive is complete; no compiler is in the path of what tries it.
wheel: $(VENV)/.stamp-venv
	rm -rf dist build/wheel-venv
	$(BIN)/python -m pip install -q build
	$(BIN)/python -m build --outdir dist .
	$(PYTHON) -m venv build/wheel-venv
	build/wheel-venv/bin/python -m pip install -q "$$(ls $(CURDIR)/dist/*.whl)[english]"
	cd build && PATH="$(CURDIR)/build/wheel-venv/bin" wheel-venv/bin/python $(CURDIR)/tests/wheel_check.py

release: $(VENV)/.stamp-dev
	$(BIN)/python -m pytest -q -m "slow or not slow" tests/unit/test_release.py
	$(MAKE) docs wheel
	git diff --quiet HEAD || { echo "make release: commit what has changed first"; exit 1; }
	@echo "ready: git tag v$$($(BIN)/python -c 'from hiddenite.version import VERSION; print(VERSION)')"

fuzz:
	$(MAKE) -C fuzz run

fuzz-lattices: $(VENV)/.stamp-dev
	$(BIN)/python -m tests.lattice_damage --seconds $(SECONDS)

clean:
	rm -rf build dist site $(VENV) $(SANITIZE_VENV) $(THREADS_VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests -name __pycache__ -prune -exec rm -rf {} +

$(VENV)/.stamp-venv $(SANITIZE_VENV)/.stamp-venv $(THREADS_VENV)/.stamp-venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "hiddenite needs Python 3.11 or newer: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(@D)
	touch $@

# Files that are never imported need not be compiled: the texts' packages are a hundred megabytes of Python.
$(VENV)/.stamp-user: $(VENV)/.stamp-venv $(BUILD_FILES) $(CPP_FILES) $(PYTHON_FILES)
	$(BIN)/python -m pip install --no-compile '.[demo,english]'
	touch $@

# What is needed to build without isolation, so that a rebuild compiles only what changed: the declared
# requirements first, then what the backend finds missing here (cmake, ninja).
%/.stamp-tools: %/.stamp-venv pyproject.toml
	$*/bin/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' > $*/tools.txt
	$*/bin/python -m pip install -q -r $*/tools.txt
	$*/bin/python -c 'from scikit_build_core.build import get_requires_for_build_wheel as missing; print(*missing(), sep="\n")' > $*/tools.txt
	$*/bin/python -m pip install -q -r $*/tools.txt
	touch $@

# Editable: Python files are used where they lie, and only a change of C++ or of the build files installs again.
$(VENV)/.stamp-dev: $(VENV)/.stamp-tools $(BUILD_FILES) $(CPP_FILES)
	$(BIN)/python -m pip install --no-compile --no-build-isolation --config-settings=cmake.define.HIDDENITE_WERROR=$(WERROR) \
	    --config-settings=cmake.define.HIDDENITE_UNITY=$(UNITY) \
	    --config-settings=cmake.define.HIDDENITE_FAULTS=ON -e '.[test-all,demo,english]'
	touch $@

# Not editable: the sanitized suite also proves that the installed files are complete.
$(SANITIZE_VENV)/.stamp: $(SANITIZE_VENV)/.stamp-tools $(BUILD_FILES) $(CPP_FILES) $(PYTHON_FILES)
	$(SANITIZE_VENV)/bin/python -m pip install --no-build-isolation --config-settings=build-dir=build/sanitize \
	    --config-settings=cmake.define.HIDDENITE_SANITIZE=address --config-settings=cmake.define.HIDDENITE_WERROR=$(WERROR) \
	    --config-settings=cmake.define.HIDDENITE_FAULTS=ON \
	    --config-settings=install.strip=false '.[test,demo,english]'
	touch $@

$(THREADS_VENV)/.stamp: $(THREADS_VENV)/.stamp-tools $(BUILD_FILES) $(CPP_FILES) $(PYTHON_FILES)
	$(THREADS_VENV)/bin/python -m pip install --no-build-isolation --config-settings=build-dir=build/sanitize-threads \
	    --config-settings=cmake.define.HIDDENITE_SANITIZE=thread --config-settings=cmake.define.HIDDENITE_WERROR=$(WERROR) \
	    --config-settings=cmake.define.HIDDENITE_FAULTS=ON --config-settings=install.strip=false '.[test,demo,english]'
	touch $@
