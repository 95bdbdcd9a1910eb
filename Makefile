# Two commands do everything on a fresh Debian or Ubuntu machine:
#
#   make run        install what is missing, build, let a car change lanes and say where its report is
#   make test       install what is missing, run the suite: gcc, clang, sanitizers; a quarter of an hour on two processors
#
# and, on a machine that has the packages:
#
#   make            build/alphastep and the libraries
#   make python     a wheel of the Python package, in build
#   make test-all   the same without sharing out: every test with every case in all three; two hours
#   make lint       clang-format, equation labels, shellcheck, cppcheck, and clang-tidy (ten minutes); lint-quick: without clang-tidy
#   make fuzz       each fuzzer for FUZZ_SECONDS (60); needs clang
#   make random     SEEDS (10000) random machines from seed FIRST (1001) on, beyond those of the tests, and a hundredth as many with beams, controllers, events
#   make verify     every problem with a known solution by every method: orders, errors against tolerances; one page (some minutes)
#   make soak       fuzzers, random machines, failing memory, killed runs for SOAK_SECONDS (3600), with seeds from SEED on
#   make valgrind   the tests, without the slow ones, under valgrind
#   make portable   the tests with reference BLAS, with OpenBLAS, as on an old processor, with another libm (PASSES)
#   make other-words  readers and saved states with words of 32 bits and with the other order of bytes (ARCHITECTURES)
#   make windows  FMUs for Windows: built by mingw, run by wine
#   make abi        what the last release's binary interface and this one's differ in
#   make mutate     plants FAULTS (200) faults by SEED (1) in src/core, src/model, src/elements (PATHS), for MUTATE_SECONDS (3600)
#   make bench      times and instructions of a step, accuracy, long runs, other programs (QUICK=1: those in a minute); takes twenty minutes
#   make docs       outputs and numbers that the documentation quotes, measured again
#   make pictures   those of docs/pictures; needs Node and Chromium
#   make format     format the sources
#   make install    into PREFIX (/usr/local)
#   make clean
#
# CMakeLists.txt knows how things are built; this file only knows in which ways.

PREFIX ?= /usr/local
BUILD = build
JOBS := $(shell nproc)
FUZZ_SECONDS ?= 60
FIRST ?= 1001
FAULTS ?= 200
SEED ?= 1
MUTATE_SECONDS ?= 3600
SOAK_SECONDS ?= 3600
PATHS ?= src/core src/model src/elements
SEEDS ?= 10000
flagship = examples/car
fuzzers = $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))

CLANG_FORMAT ?= clang-format
CLANG_TIDY ?= clang-tidy
CPPCHECK ?= cppcheck

# The steps of a target run in order; each step uses all processors.
.NOTPARALLEL:
.PHONY: all build python run test test-all passes lint lint-quick fuzz random verify soak valgrind portable other-words windows abi mutate bench docs pictures format install clean

all: build

# $(call cmake,DIRECTORY,OPTIONS) configures and builds. An existing directory keeps its generator.
define cmake
	@$(call configure,$(1),$(2))
	@MAKEFLAGS= cmake --build $(1) --parallel $(JOBS)
endef
configure = \
  if [ -z "$$CMAKE_GENERATOR" ] && command -v ninja >/dev/null; then export CMAKE_GENERATOR=Ninja; fi; \
  cmake -S . -B $(1) $(2) --log-level=NOTICE >/dev/null
ctest = MAKEFLAGS= ctest --test-dir $(1) --parallel $(JOBS) --output-on-failure --no-tests=error \
  --no-label-summary

build:
	$(call cmake,$(BUILD),-DALPHASTEP_TESTS=OFF -DCMAKE_INSTALL_PREFIX=$(PREFIX))

# `pip install ./python` does the same and installs it.
python:
	@tools/bootstrap python
	@python3 python/build_backend.py $(BUILD)

run:
	@tools/bootstrap run
	$(call cmake,$(BUILD),-DALPHASTEP_TESTS=OFF -DCMAKE_INSTALL_PREFIX=$(PREFIX))
	$(BUILD)/alphastep run $(flagship)/lane_change.yaml -o $(BUILD)/results --force
	@echo "Open $(abspath $(BUILD)/results/report.html) in a browser; what there is to see: $(flagship)/README.md."
	@echo "Other machines: examples/machines/README.md."

# Each pass does what the others do not: tests/CMakeLists.txt says which labels are for which, tests/kit/share.h how cases are shared out. The
# page of reports is built and looked at in the first.
test: passes
test: not_with_clang = once|python
test: not_sanitized = tree|once|numbers
test-all: passes
test-all: not_with_clang = browser
test-all: not_sanitized = tree
test-all: export ALPHASTEP_ALL_CASES = 1

passes:
	@tools/bootstrap test
	@echo "== gcc"
	$(call cmake,$(BUILD)/gcc,-DCMAKE_C_COMPILER=gcc -DALPHASTEP_WERROR=ON -DALPHASTEP_BENCH=ON)
	@$(call ctest,$(BUILD)/gcc)
	@echo "== clang"
	$(call cmake,$(BUILD)/clang,-DCMAKE_C_COMPILER=clang -DALPHASTEP_WERROR=ON -DALPHASTEP_WEB=OFF -DALPHASTEP_FMU_WINDOWS=OFF)
	@$(call ctest,$(BUILD)/clang) --label-exclude '$(not_with_clang)'
	@echo "== gcc, address and undefined behaviour sanitizers"
	$(call cmake,$(BUILD)/sanitize,-DCMAKE_C_COMPILER=gcc -DALPHASTEP_SANITIZE=ON -DALPHASTEP_WEB=OFF)
	@$(call ctest,$(BUILD)/sanitize) --label-exclude '$(not_sanitized)'

valgrind:
	@tools/bootstrap valgrind
	$(call cmake,$(BUILD)/valgrind,-DCMAKE_C_COMPILER=gcc "-DALPHASTEP_TEST_LAUNCHER=valgrind;--quiet;--leak-check=full;--error-exitcode=99")
	@$(call ctest,$(BUILD)/valgrind) --label-regex unit --label-exclude 'slow|long-double'

# As other machines would run them: tools/portable says what is different in each pass. PASSES=openblas is one of them.
portable:
	@tools/bootstrap test
	$(call cmake,$(BUILD)/gcc,-DCMAKE_C_COMPILER=gcc -DALPHASTEP_WERROR=ON -DALPHASTEP_BENCH=ON)
	@MAKEFLAGS= tools/portable $(BUILD)/gcc $(PASSES)

# On other processors: tools/other-words says how. ARCHITECTURES=s390x is one of them.
other-words:
	@tools/bootstrap other-words
	$(call cmake,$(BUILD)/gcc,-DCMAKE_C_COMPILER=gcc -DALPHASTEP_WERROR=ON -DALPHASTEP_BENCH=ON)
	@MAKEFLAGS= tools/other-words $(BUILD)/gcc $(ARCHITECTURES)

# 700 MB of packages, which `make test` does without; its builds take mingw where it is there.
windows:
	@tools/bootstrap windows
	$(call cmake,$(BUILD)/gcc,-DCMAKE_C_COMPILER=gcc -DALPHASTEP_WERROR=ON -DALPHASTEP_BENCH=ON)
	@$(call ctest,$(BUILD)/gcc) -R fmu_windows

# `tools/abi write` describes the interface of a release.
abi:
	@tools/bootstrap abi
	@tools/abi check

# Says which faults no test sees. The sources are copied to build/mutate; the tree is not touched.
mutate:
	@tools/bootstrap test
	@tools/mutate $(BUILD)/mutate --seed $(SEED) --count $(FAULTS) --seconds $(MUTATE_SECONDS) $(PATHS)

# A fuzzer begins with the inputs that it writes itself, with its corpus in tests/fuzz/corpus and with what earlier runs
# have found. What fails is left in build/fuzz: run the fuzzer with that file, mend what it finds and put the file into
# the corpus, which the tests replay.
fuzz:
	@tools/bootstrap test
	$(call cmake,$(BUILD)/fuzz,-DCMAKE_C_COMPILER=clang -DALPHASTEP_FUZZ=ON -DALPHASTEP_EXAMPLES=OFF -DALPHASTEP_CLI=OFF)
	@for fuzzer in $(fuzzers); do \
	  echo "== $$fuzzer"; \
	  mkdir -p $(BUILD)/fuzz/$$fuzzer && \
	  $(BUILD)/fuzz/tests/fuzz/$$fuzzer --seeds=$(BUILD)/fuzz/$$fuzzer && \
	  OPENBLAS_NUM_THREADS=1 $(BUILD)/fuzz/tests/fuzz/$$fuzzer -max_total_time=$(FUZZ_SECONDS) -timeout=20 \
	    -max_len=65536 -print_final_stats=1 -verbosity=0 -artifact_prefix=$(BUILD)/fuzz/ $(BUILD)/fuzz/$$fuzzer \
	    $$(find tests/fuzz/corpus -name $$fuzzer) || exit 1; \
	done

# What fails is named by its seed; `test_random_machines SEED` writes that machine as a model file.
random:
	@tools/bootstrap test
	@$(call configure,$(BUILD)/sanitize,-DCMAKE_C_COMPILER=gcc -DALPHASTEP_SANITIZE=ON -DALPHASTEP_WEB=OFF)
	@MAKEFLAGS= cmake --build $(BUILD)/sanitize --parallel $(JOBS) --target test_random_machines test_twins alphastep_cli
	@OPENBLAS_NUM_THREADS=1 $(BUILD)/sanitize/tests/test_random_machines $(FIRST) $(SEEDS)
	@OPENBLAS_NUM_THREADS=1 $(BUILD)/sanitize/tests/test_twins $(FIRST) $(SEEDS)
	@OPENBLAS_NUM_THREADS=1 tests/cli/mixed_machines.py $(BUILD)/sanitize/alphastep $(FIRST) $(shell expr $(SEEDS) / 100)

# A row that falls short ends it with status 1.
verify:
	@tools/bootstrap bench
	$(call cmake,$(BUILD)/bench,-DCMAKE_C_COMPILER=gcc -DALPHASTEP_TESTS=OFF -DALPHASTEP_BENCH=ON)
	@OPENBLAS_NUM_THREADS=1 $(BUILD)/bench/bench/verify --page $(BUILD)/verification.html --csv $(BUILD)/verification.csv
	@echo "Open $(abspath $(BUILD)/verification.html) in a browser."

soak:
	@tools/bootstrap test
	$(call cmake,$(BUILD)/fuzz,-DCMAKE_C_COMPILER=clang -DALPHASTEP_FUZZ=ON -DALPHASTEP_EXAMPLES=OFF -DALPHASTEP_CLI=OFF)
	$(call cmake,$(BUILD)/sanitize,-DCMAKE_C_COMPILER=gcc -DALPHASTEP_SANITIZE=ON -DALPHASTEP_WEB=OFF)
	@MAKEFLAGS= tools/soak $(BUILD) $(SOAK_SECONDS) $(SEED)

bench:
	@tools/bootstrap bench
	$(call cmake,$(BUILD)/bench,-DCMAKE_C_COMPILER=gcc -DALPHASTEP_TESTS=OFF -DALPHASTEP_BENCH=ON)
	@echo "== time: step, and one factorization and solve of its matrix; Newton iterations and factorizations per step"
	@OPENBLAS_NUM_THREADS=1 $(BUILD)/bench/bench/steps table --csv $(BUILD)/bench/steps.csv
	@echo "== a large chain"
	@$(BUILD)/bench/bench/steps large
	@echo "== a motion that dies out"
	@$(BUILD)/bench/bench/steps decay
	@echo "== machines: to the same error as IDA, parts of a step, 100000 links"
	@OPENBLAS_NUM_THREADS=1 $(BUILD)/bench/bench/machines compare
	@OPENBLAS_NUM_THREADS=1 $(BUILD)/bench/bench/machines parts
	@OPENBLAS_NUM_THREADS=1 $(BUILD)/bench/bench/machines large
	@OPENBLAS_NUM_THREADS=1 bench/machine_file.sh $(BUILD)/bench/alphastep
	@echo "== the command, automatic steps, small machines: ratios"
	@bench/ratios.sh $(BUILD)/bench/alphastep $(BUILD)/bench/bench/ratios $(BUILD)/bench/bench/samples command start report large same small
	@echo "== instructions"
	@bench/instructions.sh $(BUILD)/bench/bench/steps $(BUILD)/bench/instructions.csv
	@if [ -d $(BUILD)/bench/python ]; then PYTHONPATH=$(BUILD)/bench/python /usr/bin/python3 bench/python.py $(BUILD)/bench/bench/instance; fi
	@bench/examples.sh $(BUILD)/bench/alphastep
	@bench/flexible.sh $(BUILD)/bench/bench/flexible
	@echo "== beside other programs"
	@OPENBLAS_NUM_THREADS=1 $(BUILD)/bench/bench/peers $(if $(QUICK),--quick) --csv $(BUILD)/peers.csv --page $(BUILD)/peers.html
	@echo "== estimated errors against true ones"
	@OPENBLAS_NUM_THREADS=1 $(BUILD)/bench/bench/estimates examples/machines/*/model.yaml || true
	@echo "== accuracy of automatic steps"
	@OPENBLAS_NUM_THREADS=1 $(BUILD)/bench/bench/accuracy --csv $(BUILD)/bench/accuracy.csv \
	  --fixed-csv $(BUILD)/bench/fixed.csv --plot $(BUILD)/bench
	@OPENBLAS_NUM_THREADS=1 $(BUILD)/bench/bench/examples_accuracy examples/machines/*/model.yaml \
	  examples/machines/landing-gear/extension.yaml
	@echo "== a million steps"
	@OPENBLAS_NUM_THREADS=1 $(BUILD)/bench/bench/long
	@tools/performance-tables $(BUILD)/bench --check
	@echo "tables: steps.csv, instructions.csv, accuracy.csv, fixed.csv; pictures: *.svg; in $(BUILD)/bench; other programs: $(BUILD)/peers.html"

docs:
	@tools/bootstrap test
	$(call cmake,$(BUILD)/gcc,-DCMAKE_C_COMPILER=gcc -DALPHASTEP_WERROR=ON -DALPHASTEP_BENCH=ON)
	@tools/update-docs $(BUILD)/gcc

# Reports of examples as a browser shows them, and how errors fall with the step.
pictures: build
	@$(BUILD)/alphastep papers abc-top --plot $(BUILD)/pictures >/dev/null
	@cp $(BUILD)/pictures/abc-top.svg docs/pictures/convergence.svg
	@tools/pictures.mjs $(BUILD)/alphastep

# ---- sources ---------------------------------------------------------------------------------------

sources = $(shell find include src cli validation tests examples bench python -name '*.[ch]' 2>/dev/null | sort)
# These are projects of their own, not part of the build that clang-tidy looks at.
units = $(filter-out src/base/windows/% tests/fmi/windows_importer.c tests/tree/install/% examples/own-element/% examples/plugin-damper/%,$(filter %.c,$(sources)))
scripts = tools/abi tools/bootstrap tools/other-words tools/portable tools/soak tools/update-docs .ci/run $(wildcard tests/*.sh tests/*/*.sh tests/*/*/*.sh bench/*.sh)

lint-quick:
	@tools/bootstrap lint
	@echo "== clang-format"
	@$(CLANG_FORMAT) --dry-run -Werror $(sources)
	@echo "== labels"
	@tools/check-labels
	@tools/check-includes
	@echo "== shellcheck"
	@shellcheck $(scripts)
	@echo "== cppcheck"
	@$(CPPCHECK) --quiet --std=c11 --enable=warning,performance,portability --inline-suppr \
	  --error-exitcode=1 --suppress=missingIncludeSystem -j $(JOBS) -Iinclude -Isrc -Itests -Itests/kit $(filter src/% cli/% validation/%,$(units))

lint: lint-quick
	@echo "== clang-tidy"
	@$(call configure,$(BUILD)/lint,-DCMAKE_C_COMPILER=clang -DALPHASTEP_TESTS=ON -DALPHASTEP_FUZZ=ON -DALPHASTEP_BENCH=ON)
	@printf '%s\n' $(units) | xargs -P $(JOBS) -n 1 $(CLANG_TIDY) --quiet -p $(BUILD)/lint

format:
	@$(CLANG_FORMAT) -i $(sources)

install: build
	@cmake --install $(BUILD)

clean:
	rm -rf $(BUILD)
