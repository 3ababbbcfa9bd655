# Every target sets itself up: a virtual environment in .venv, made once and again when pyproject.toml changes.
#   make demo            bitblas against SuiteSparse:GraphBLAS on a shipped road network
#   make test            the test-suite (no GPU needed; the kernels run in an emulator, which needs g++)
#   make test-all        the slow tests too, and more random examples
#   make test-gpu        the test-suite on a GPU (CUDA=12 or 13)
#   make fuzz            random programs on bitblas and on SuiteSparse:GraphBLAS for MINUTES=5 (SEED=1, DEVICE=cpu), what
#                        differs as short programs; ONE=372 is that one again, ARGS="--width 2" and others: --help
#   make every-kernel    programs that reach each kernel on small operands, in the emulator (DEVICE=cuda: on a GPU)
#   make races           the same under a race detector, without a GPU (JOBS=2 processes; an hour of one core)
#   make sanitize        the same on a GPU under compute-sanitizer (memcheck, racecheck), which CUDA's toolkit has
#   make coverage        the same as make test, and how many lines it ran: at least 90 of 100, or it fails
#   make variants        the compiled kernels that the last test run used, one a line
#   make list            the kernel variants that the last make every-kernel ran, one a line, and how many there are
#   make bench           the benchmarks
#   make kernels         compile these variants for sm_80 or sm_90, and one of each kernel for both (EVERY=1: all of them;
#                        no GPU needed)
#   make lint types      ruff and clang-format; mypy
#   make site            the pages of docs/ as a site, in site/; warnings are errors; in an environment of its own
#   make kernels-gpu     compile the GPU kernels of the README, the tour and all algorithms for the GPU of this machine
#   make cubins          a wheel of GPU kernels compiled ahead of time, in dist/ (no GPU needed)
#   make variants-gpu    how many GPU kernels each algorithm has, and which (ARGS="bfs pagerank"); records them first
#   make release         everything up to the upload: make dist cubins, checks of both wheels and the sdist, and the demo
#                        from the wheel and from the sdist on every Python 3.10 to 3.14 that is found
#   make dist            sdist and wheel in dist/, and the wheel installed in an environment of its own, where the demo runs
#   make clean           remove what these targets made
# PYTHON=python3.12 chooses the interpreter; PY=/path/to/python uses an installed environment as it is, with no set-up.

PYTHON ?= python3
VENV ?= .venv
CUDA ?= 13
JOBS ?= 2
DEVICE ?= emulator
MINUTES ?= 5
SEED ?= 1
CACHE := $(CURDIR)/.cache/bitblas
VARIANTS := .cache/variants.txt
KERNELS := .cache/kernels-emulator.pickle
RECORDED := .cache/variants.pickle
RUN_ENV := $(VENV)/.stamp-warm
DEV_ENV := $(VENV)/.stamp-dev
GPU_ENV := $(VENV)/.stamp-cuda$(CUDA)
SITE_VENV := .cache/site
SITE_ENV := $(SITE_VENV)/.stamp-site
SITE_PY := $(SITE_VENV)/bin/python
ifeq ($(origin PY),undefined)
PY := $(VENV)/bin/python
else
RUN_ENV :=
DEV_ENV :=
GPU_ENV :=
SITE_ENV :=
SITE_PY := $(PY)
endif
# pip would compile bytecode on one processor, which is half of its time, and that of tests of other packages, a third. A
# fifth of the rest is of packages of which nothing here imports much.
PIP := $(PY) -m pip --disable-pip-version-check install --quiet --no-compile
BYTECODE := $(PY) -m compileall -qq -j 0 -x 'site-packages/(.*/tests|fontTools|mypyc?|pygments)/' $(VENV)/lib || true

# Test workers share the cores: SuiteSparse gets one thread each and must not spin while it waits. Compiling is most of
# the time: the CPU's kernels are not optimised (a little, where slow tests run), which changes how fast they are and
# nothing else. Tests start Python some hundred times: without bytecode each start takes four times as long.
OPT := 1
TEST_VARS = PYTHONDONTWRITEBYTECODE= NUMBA_OPT=$${NUMBA_OPT:-$(OPT)} NUMBA_LOOP_VECTORIZE=$${NUMBA_LOOP_VECTORIZE:-0} NUMBA_NUM_THREADS=$${NUMBA_NUM_THREADS:-2} OMP_NUM_THREADS=$${OMP_NUM_THREADS:-1} OMP_WAIT_POLICY=passive BITBLAS_VARIANTS=$(VARIANTS)
PYTEST = $(TEST_VARS) $(PY) -m pytest -n $(JOBS)
NO_CXX = command -v g++ >/dev/null || echo "NOTE: there is no g++, so the tests that run CUDA kernels in the emulator did NOT run."

.PHONY: demo test test-all test-gpu fuzz every-kernel races sanitize coverage variants bench kernels list lint types site dist kernels-gpu variants-gpu cubins release clean
.DELETE_ON_ERROR:

demo: $(RUN_ENV)
	$(PY) -m bitblas demo

test coverage: OPT := 0

test: $(DEV_ENV)
	$(PYTEST) -m "not slow and not gpu" $(ARGS)
	@$(NO_CXX)

test-all: $(DEV_ENV)
	$(PYTEST) -m "not gpu" --all $(ARGS)
	@$(NO_CXX)

test-gpu: $(GPU_ENV)
	$(PY) -m pytest --device cuda $(ARGS)

fuzz: DEVICE = cpu
fuzz: $(if $(filter cuda,$(DEVICE)),$(GPU_ENV),$(DEV_ENV))
	$(TEST_VARS) BITBLAS_CACHE=$${BITBLAS_CACHE:-$(CACHE)} PYTHONPATH=tests:$$PYTHONPATH $(PY) -m fuzz --seed $(SEED) \
		$(if $(ONE),--one $(ONE),--minutes $(MINUTES)) --device $(DEVICE) $(ARGS)

every-kernel: $(if $(filter cuda,$(DEVICE)),$(GPU_ENV),$(DEV_ENV))
	BITBLAS_CACHE=$(CACHE) $(PY) tests/every_kernel.py --device $(DEVICE) \
		--jobs $(if $(filter cuda,$(DEVICE)),1,$(JOBS)) --ran .cache/kernels-$(DEVICE).pickle

races: $(DEV_ENV)
	PY=$(PY) BITBLAS_CACHE=$(CACHE) PARTS=$(JOBS) tests/races.sh

sanitize: $(GPU_ENV)
	PY=$(PY) BITBLAS_CACHE=$(CACHE) tests/sanitize.sh

coverage: $(DEV_ENV)
	$(PY) -m coverage erase
	$(TEST_VARS) $(PY) -m coverage run -m pytest -n $(JOBS) -m "not slow and not gpu" $(ARGS)
	@$(NO_CXX)
	$(PY) -m coverage combine --quiet
	$(PY) -m coverage report

variants: $(VARIANTS)
	@cat $<

$(VARIANTS):
	@$(MAKE) --no-print-directory test >&2

bench: $(RUN_ENV)
	$(PY) -m benchmarks $(ARGS)

kernels: $(DEV_ENV) $(KERNELS)
	$(PY) -m bitblas.registry.check $(KERNELS) -j $(JOBS) $(if $(filter 1,$(EVERY)),,--in-turn)

list: $(DEV_ENV) $(KERNELS)
	@$(PY) -m bitblas.registry.check $(KERNELS) --list

$(KERNELS):
	@$(MAKE) --no-print-directory every-kernel DEVICE=emulator >&2

lint: $(DEV_ENV)
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	git ls-files '*.cu' '*.cuh' | xargs $(PY) -c 'import clang_format; clang_format.clang_format()' --dry-run -Werror

types: $(DEV_ENV)
	$(PY) -m mypy

site: $(SITE_ENV)
	NO_MKDOCS_2_WARNING=1 BITBLAS_CACHE=$${BITBLAS_CACHE:-$(CACHE)} $(SITE_PY) -m mkdocs build --quiet

# KERNELS=0 builds without compiled kernels, in seconds.
dist: | $(VENV)/.stamp-venv
	rm -rf dist .cache/dist
	$(PIP) build
	BITBLAS_OBJECTS=$(if $(filter 0,$(KERNELS)),0,all) $(PY) -m build --outdir dist
	$(PYTHON) -m venv .cache/dist
	.cache/dist/bin/python -m pip install --quiet "$$(ls $(CURDIR)/dist/*.whl)[compare]"
	cd .cache/dist && BITBLAS_CACHE=cache bin/bitblas demo

kernels-gpu: $(GPU_ENV)
	$(PY) -m bitblas warm --device cuda --all README.md examples/first_graph.py

variants-gpu: $(DEV_ENV) $(RECORDED)
	@$(PY) tests/record_variants.py --list $(RECORDED) $(ARGS)

$(RECORDED):
	BITBLAS_CACHE=$(CACHE) NUMBA_OPT=0 $(PY) tests/record_variants.py $@ README.md examples/first_graph.py >&2

cubins: $(DEV_ENV)
	rm -rf .cache/cubins $(RECORDED)
	@$(MAKE) --no-print-directory $(RECORDED)
	$(PY) -m bitblas.registry.cubins .cache/cubins $(RECORDED)
	$(PIP) build
	$(PY) -m build --wheel --outdir dist .cache/cubins

release: dist cubins
	$(PIP) twine
	$(PY) -m twine check --strict dist/*
	$(PY) .ci/try_dist.py dist

$(VENV)/.stamp-venv:
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.stamp-run: pyproject.toml | $(VENV)/.stamp-venv
	$(PIP) -e '.[compare]'
	@$(BYTECODE)
	@touch $@

# Kernels that the README, the algorithms and the demo need, compiled by all processors at once; what is missing later is
# compiled when it is needed.
$(VENV)/.stamp-warm: $(VENV)/.stamp-run
	$(PY) -m bitblas warm README.md examples/first_graph.py
	@touch $@

$(VENV)/.stamp-dev: pyproject.toml | $(VENV)/.stamp-venv
	$(PIP) -e '.[dev]'
	@$(BYTECODE)
	@touch $@ $(VENV)/.stamp-run

$(SITE_VENV)/.stamp-site: pyproject.toml
	$(PYTHON) -m venv $(SITE_VENV)
	$(SITE_PY) -m pip --disable-pip-version-check install --quiet -e '.[site]'
	@touch $@

$(VENV)/.stamp-cuda$(CUDA): $(VENV)/.stamp-dev
	$(PIP) -e '.[dev]' && $(PIP) -e '.[cuda$(CUDA)]'
	@$(BYTECODE)
	@touch $@

clean:
	rm -rf $(VENV) build dist site *.egg-info .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find bitblas semirings tests benchmarks examples -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true
