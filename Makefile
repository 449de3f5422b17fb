# Two commands for a new user: `make demo` and `make test`. CMake does the building (presets release, debug, asan).
JOBS ?= $(shell nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
# Ninja if it is installed, which scripts/setup.sh may have done just before: the shell looks, since make expands a recipe before it
# runs the first line. A folder that is already configured keeps its generator. Errors and warnings go to standard error.
generator = $$(test -f build/$(1)/CMakeCache.txt || { command -v ninja >/dev/null && echo Ninja; } || echo Unix Makefiles)
configure = generator="$(generator)"; cmake --preset $(1) $${generator:+-G "$$generator"} $(2) -Wno-dev --log-level=NOTICE >/dev/null

# The Python module, where scripts/setup.sh could make its environment; looked for by the shell, once that has run.
python = $$(test ! -f build/python/ready || echo -DSMELT_PYTHON=ON -DPython_EXECUTABLE=$(CURDIR)/build/python/bin/python)

.DEFAULT_GOAL := help
.PHONY: help demo test bench gallery build debug asan tsan coverage tidy fuzz package wheel docs format check clean

help: ## this list
	@echo "smelt: fuses array programs into few kernels"
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/    make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

demo: ## installs what is missing, builds, fuses and benchmarks the three examples on this machine
	@bash scripts/setup.sh demo
	@$(call configure,release,$(if $(wildcard build/release/CMakeCache.txt),,-DSMELT_TESTS=OFF))
	@bash scripts/build.sh build/release $(JOBS) smelt
	@bash scripts/demo.sh build/release/smelt

test: ## installs what is missing, builds, runs every test; TORCH=1: those of torch.compile too (fetches torch, 5.4 GB on disk)
	@bash scripts/setup.sh test
	$(if $(TORCH),@bash scripts/torch.sh build/python)
	@$(call configure,release,-DSMELT_TESTS=ON $(python))
	@bash scripts/build.sh build/release $(JOBS)
	@ctest --preset release -j $(JOBS)

bench: ## compares smelt with numba, Halide, JAX and numexpr on this CPU; BENCH="--only softmax" for a part, PYTHON=python3.12
	@bash scripts/setup.sh demo
	@bash bench/cpu/environment.sh build/bench-python $(or $(PYTHON),python3)
	@$(call configure,release,-DSMELT_BENCH=ON $(if $(wildcard build/release/CMakeCache.txt),,-DSMELT_TESTS=OFF))
	@bash scripts/build.sh build/release $(JOBS) smelt smelt_bench
	@build/bench-python/bin/python bench/run.py cpu --library build/release/bench/libsmelt_bench.so --out build/bench $(BENCH)

gallery: ## reports of twelve examples as a small static site, in docs/gallery; GALLERY="--device cuda": options of smelt report
	@bash scripts/setup.sh demo
	@$(call configure,release,$(if $(wildcard build/release/CMakeCache.txt),,-DSMELT_TESTS=OFF))
	@bash scripts/build.sh build/release $(JOBS) smelt
	@python3 scripts/gallery.py build/release/smelt docs/gallery $(GALLERY)

build: ## the release build, in build/release
	@$(call configure,release)
	@bash scripts/build.sh build/release $(JOBS)

debug: ## a build for the debugger, and its tests, in build/debug
	@$(call configure,debug)
	@bash scripts/build.sh build/debug $(JOBS)
	@ctest --preset debug -j $(JOBS)

asan: ## the tests under the address and undefined-behaviour sanitizers, in build/asan
	@$(call configure,asan)
	@bash scripts/build.sh build/asan $(JOBS)
	@ctest --preset asan -j $(JOBS)

tsan: ## the tests of the runtime, of calls and caches under the thread sanitizer, in build/tsan
	@$(call configure,tsan)
	@bash scripts/build.sh build/tsan $(JOBS) test_base test_runtime test_api test_compile
	@ctest --preset tsan -j $(JOBS) -L '^(base|runtime|api|compile)$$' -E '^(All/CompilesForGpu|Programs/Golden|All/Standalone)'

coverage: ## which lines the tests run, in build/coverage/coverage.txt; takes gcovr
	@bash scripts/setup.sh coverage
	@$(call configure,coverage)
	@bash scripts/build.sh build/coverage $(JOBS)
	@ctest --preset coverage -j $(JOBS) -E '^(on_|package|demo|bench|check)'
	@gcovr -r . build/coverage --filter src/ --filter include/ --filter tools/ --sort-percentage -o build/coverage/coverage.txt
	@tail -n 4 build/coverage/coverage.txt

tidy: ## clang-tidy over the sources, as .clang-tidy says, a dozen files at a time; minutes; takes clang
	@bash scripts/setup.sh tidy
	@$(call configure,tidy)
	@sed -n 's/^ *"file": "\(.*\)",*$$/\1/p' build/tidy/compile_commands.json | xargs -P $(JOBS) -n 1 clang-tidy -p build/tidy --quiet --checks=-bugprone-suspicious-include

fuzz: ## feeds the language, the .npy reader and the loader of object code for 30 s each, by clang; SECONDS=300: for longer
	@bash scripts/setup.sh fuzz
	@bash scripts/fuzz.sh $(or $(SECONDS),30)

package: ## a .deb of the library, its headers and the command line, in build/release
	@bash scripts/setup.sh demo
	@$(call configure,release,$(if $(wildcard build/release/CMakeCache.txt),,-DSMELT_TESTS=OFF))
	@bash scripts/build.sh build/release $(JOBS) smelt smelt_static smelt_shared
	@cd build/release && cpack

wheel: ## a wheel of the Python package for this machine's kind, in build/wheels
	@bash scripts/setup.sh test
	@bash scripts/wheel.sh $(or $(PYTHON),build/python/bin/python)

docs: ## the reference of the C++ library in build/docs/html, by Doxygen; fails when something public is not described
	@bash scripts/setup.sh docs
	@bash scripts/check_docs.sh build/docs

format: ## lays out every C++ file with clang-format
	@bash scripts/check_format.sh --fix

check: ## the checks that need no build: layout, includes, words, pages, tests; lists what has grown too large
	@bash scripts/check_format.sh
	@python3 scripts/check_comments.py
	@python3 scripts/check_includes.py
	@bash scripts/check_words.sh
	@python3 scripts/check_quotes.py
	@python3 scripts/check_pages.py
	@python3 scripts/check_results.py
	@python3 scripts/check_tests.py
	@python3 scripts/list_sizes.py

clean: ## removes everything built
	@rm -rf build
