# tests.mk -- what tests: programs, machines for them, sanitizers, checks of the sources.

CHECK_PACKAGES := libcmocka-dev jq python3-numpy protobuf-compiler g++ pkg-config clang locales
WEB_PACKAGES := chromium chromium-driver python3-selenium python3-html5lib fonts-dejavu-core
CLANG_PACKAGES := clang libclang-rt-dev
VALGRIND_PACKAGES := valgrind
AARCH64_PACKAGES := gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
FMT_PACKAGES := clang-format
LINT_PACKAGES := clang cppcheck $(FMT_PACKAGES)

TEST_SRC := $(wildcard tests/unit/*/test_*.c)
TESTS := $(patsubst %.c,$(B)/_t/%,$(notdir $(TEST_SRC)))
JUDGE := $(B)/_t/libjudge.a
GENLIB := $(B)/_t/libgen.a
JUDGE_OBJ := $(patsubst %.c,$(O)/%.o,$(filter-out tests/judge/main.c,$(wildcard tests/judge/*.c)))
FUZZ_TARGETS := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
CORPORA := $(FUZZ_TARGETS:%=$(B)/_t/corpus_%)
TEST_TOPOLOGIES := cube8 tray32
VECTOR_TOPOLOGIES := $(filter-out %/cube8.yaml,$(wildcard tests/vectors/*.yaml))

$(O)/tests/%.o: INCLUDES += -Itests $(TEST_TOPOLOGIES:%=-I$(M)/%)
# They run once or twice: to compile them well takes longer than it saves, but where they compute.
$(patsubst %.c,$(O)/%.o,$(filter-out tests/unit/phase2/%,$(TEST_SRC))): ALL_CFLAGS += $(if $(filter -O2,$(CFLAGS)),-Og)
$(JUDGE): $(JUDGE_OBJ)
$(GENLIB): $(O)/gen/emit.o $(O)/gen/emit_fields.o $(O)/gen/emit_parts.o $(O)/gen/emit_ways.o $(O)/tests/support/any_topology.o
$(JUDGE) $(GENLIB):
	$(archive)

# A test may name more for its link in a line "link: ..." of its heading.
$(foreach s,$(TEST_SRC),$(eval $(B)/_t/$(basename $(notdir $s)): $(s:%.c=$(O)/%.o)))
$(TESTS): $(B)/_t/%: $(JUDGE) $(GENLIB) $(LIB) $(foreach t,$(TEST_TOPOLOGIES),$(M)/$(t)/lib$(t).a)
	$(call link,$$(sed -n 's/^ \* link: //p' tests/unit/*/$*.c) -lcmocka)

$(B)/_t/test_lists: $(patsubst %,$(O)/runtime/cli/%.o,in/in_lists out/memory out/say out/session out/stop) $(O)/runtime/base/parallel.o $(O)/runtime/base/workers.o
# They need all of the command line, with its benches.
$(B)/_t/test_trace $(B)/_t/test_collectives $(B)/_t/test_product $(B)/_t/test_bound $(B)/_t/test_llm $(B)/_t/test_llm_repeat $(B)/_t/test_llm_work $(B)/_t/test_llm_best $(B)/_t/test_llm_values $(B)/_t/test_llm_stages $(B)/_t/test_llm_latents $(B)/_t/test_llm_batches: $(CLI)
$(B)/_t/test_guard: $(patsubst %,$(O)/runtime/cli/%.o,rows/warn out/memory out/say out/session out/stop) $(O)/runtime/base/parallel.o $(O)/runtime/base/workers.o

# test_co_arch without what cannot be had for another architecture.
$(B)/_t/co_arch: $(O)/tests/unit/kernels/test_co_arch.o $(LIB)
	$(link)

$(B)/_t/judge: $(O)/tests/judge/main.o $(JUDGE)
	$(call link)

$(B)/_t/campaign: $(O)/tests/campaign/campaign.o $(JUDGE) $(GENLIB) $(LIB)
	$(call link,-lyaml -lxxhash -lcmocka)

# What a simulator is linked with, for scripts that compile machines.
$(B)/_t/libs: FORCE
	$(call keep,$(CLI_LIBS) $(LIBS))

# A simulator with benches of its own, which are wrong, and with operations that it spoils.
$(B)/_t/broken: private ALL_CFLAGS += -Wl,--wrap=math_run
$(O)/tests/support/broken.o: ALL_CFLAGS += $(KERNEL_CFLAGS)
$(B)/_t/broken: $(O)/tests/support/broken.o $(M)/cube8/libcube8.a $(CLI) $(LIB)
	$(link)

ifneq ($(findstring --coverage,$(SAN)),)
$(B)/_t/broken: $(O)/tests/support/gcov_exit.o
endif

# One whose benches have names full of signs.
$(B)/_t/hostile: $(O)/tests/support/hostile.o $(M)/cube8/libcube8.a $(CLI) $(LIB)
	$(link)

# One whose benches send, receive, and wait for each other; some deadlock.
$(B)/_t/talking: $(O)/tests/support/talking.o $(M)/cube8/libcube8.a $(CLI) $(LIB)
	$(link)

# One of any machine, by its YAML.
$(B)/_t/any_simulator: $(O)/tests/support/any_simulator.o $(CLI) $(LIB)
	$(link)

# The simulator with its kernels compiled by the other compiler, which takes longest to compile them well.
# Sanitizers do not mix.
OTHER_CC := $(if $(findstring clang,$(CC)),gcc,clang)
OTHER_BENCHES := $(BENCH_SRC:benches/%.c=$(B)/_t/other/%.o)
$(OTHER_BENCHES): $(B)/_t/other/%.o: benches/%.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(OTHER_CC) $(INCLUDES) $(ALL_CFLAGS) $(if $(filter -O2,$(CFLAGS)),-O0) $(KERNEL_CFLAGS) $(COMPILED)
-include $(OTHER_BENCHES:.o=.d)
$(B)/_t/other/cube8: $(OTHER_BENCHES) $(M)/cube8/main.o $(M)/cube8/libcube8.a $(CLI) $(LIB)
	$(link)

# What crosses much with much, makes machines or programs, computes for long, and is rarely what a change breaks: check-slow.
SLOW := $(patsubst %,tests/e2e/%.sh,bykey chains chakra collectives component_rules components cost docs ends energy failures install large limits lines machine numpy pairs search stale stops validate waits)
SLOW_TESTS := $(patsubst %,$(B)/_t/test_%,collectives component_object llm_repeat)
# Tests that draw what they test: check has a part of their seeds, check-slow the rest.
DRAWN := $(patsubst %.c,$(B)/_t/%,$(notdir $(shell grep -l '^.include "support/seeds.h"' $(TEST_SRC))))

.PHONY: tests slow-tests
tests: $(ANY) $(filter-out $(SLOW_TESTS),$(TESTS)) $(CORPORA) $(patsubst %,$(B)/_t/%,judge libs broken hostile talking any_simulator)
slow-tests: $(ANY) $(DRAWN) $(SLOW_TESTS) $(patsubst %,$(B)/_t/%,judge libs broken any_simulator campaign) $(B)/_p/collectives $(if $(SAN),,$(B)/_t/other/cube8)

# Machines of the tests, each by a make of its own, in parallel once the parts that they share are built.
MACHINES := $(TEST_TOPOLOGIES) cube1 tests/support/interleaved.yaml $(wildcard tests/support/shapes/*.yaml) $(VECTOR_TOPOLOGIES)
SLOW_MACHINES := tests/support/odd.yaml $(patsubst %,tests/machines/%.yaml,server8 components queues some)
# Those that few tests run are compiled by a third as much work; make gcc has all of them at -O2.
QUICK := $(if $(filter -O2,$(CFLAGS)),-Og)
BRIEFLY := $(filter-out %/interleaved.yaml %/cube8_fifo.yaml,$(filter cube1 tests/%,$(MACHINES) $(SLOW_MACHINES)))
# What is shipped, and variants of cube8 that the documents build.
SHIPPED := cube8 wormhole
set_of_ideal := contention.links=ideal
set_of_late := cube.hbm.latency_ns=20
set_of_interleaved := addressing.granule=4096
set_of_hashed := addressing.granule=4096 addressing.hash=xor
VARIANTS := ideal late interleaved hashed
.PHONY: $(VARIANTS:%=variant-%)
$(VARIANTS:%=variant-%): variant-%: $(KBGEN) $(CLI) $(LIB) $(SHARED)
	+@$(MAKE) topology TOPO=cube8 NAME=cube8_$* SET='$(set_of_$*)' MACHINE_CFLAGS='$(QUICK)'

.PHONY: vector-machines
vector-machines: $(VECTOR_TOPOLOGIES:%=machine-%)
.PHONY: machines slow-machines $(MACHINES:%=machine-%) $(SLOW_MACHINES:%=machine-%) $(SHIPPED:%=shipped-%)
machines: $(MACHINES:%=machine-%) shipped-cube8 variant-ideal
slow-machines: $(MACHINES:%=machine-%) $(SLOW_MACHINES:%=machine-%) $(SHIPPED:%=shipped-%) $(VARIANTS:%=variant-%)
$(MACHINES:%=machine-%) $(SLOW_MACHINES:%=machine-%): machine-%: $(KBGEN) $(CLI) $(LIB) $(SHARED)
	+@$(call make_machine,$*) MACHINE_CFLAGS='$(if $(filter $*,$(BRIEFLY)),$(QUICK))'
$(SHIPPED:%=shipped-%): shipped-%: $(KBGEN) $(CLI) $(LIB) $(SHARED)
	+@$(call make_topology,$*)

# Without -j, as many jobs at a time as JOBS says.
JOBS ?= $(shell nproc)
PARALLEL = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(JOBS))

# Each source by itself, for tests/house/calls.sh: those that kernels.c includes, too.
.PHONY: alone
alone: $(patsubst %.c,$(O)/%.o,$(GEN_SRC) $(LIB_SRC) $(INCLUDED) $(CLI_SRC))

## sizes: lines of the engine, and places that ask for a mode; COMMITS='A B' beside those commits
.PHONY: sizes
sizes:
	@tools/sizes.sh $(COMMITS)

# The build that tests/house looks at. What a warning makes fail is made again there, and reported.
.PHONY: house
house:
	+@$(MAKE) B=$(B)/house CC=clang CFLAGS='-O0 -g1 -Werror' SAN= SET= NAME= TOPO=cube8 KBGEN=$(B)/house/kbgen topology alone

## tests-built: the test programs and all that they need, without running them
.PHONY: tests-built
tests-built:
	@$(MAKE) $(PARALLEL) slow-machines
	@$(MAKE) $(PARALLEL) tests slow-tests

# The rules of the folders do not depend on how tests are built, nor do builds in two folders.
HOUSE := $(if $(SAN),,$(wildcard tests/house/*.sh))
FOLDERS := tests/e2e/folders.sh
# Scripts that run longest come first, so that none is left running alone at the end.
LONG := $(patsubst %,tests/e2e/%.sh,llm plan trace terminal)
# What kills programs, and make, takes minutes: check-kill.
KILLERS := tests/e2e/kill.sh tests/e2e/killed_make.sh
SCRIPTS := $(filter-out $(LONG) $(FOLDERS) $(KILLERS) $(SLOW),$(wildcard tests/e2e/*.sh))
# Commands and tensors are rows that are not cleared: their tests have no memory of zeroes.
PERTURBED := $(notdir $(basename $(wildcard tests/unit/kernels/*.c tests/unit/pe/*.c)))
run_tests = PERTURBED='$(PERTURBED)' B=$(B) CC=$(CC) KBGEN=$(KBGEN) SIM=$(M)/cube8/cube8 SIM_FIFO=$(M)/cube8_fifo/cube8_fifo JOBS=$(JOBS) KB_PART=$(1) tests/run.sh

## check: installs what is missing, builds, runs the tests that every change must pass, in five minutes; ends in "N passed, N failed"
.PHONY: check
check: setup
	@.ci/install $(CHECK_PACKAGES)
	@$(MAKE) $(PARALLEL) machines
	@$(MAKE) $(PARALLEL) tests
	@$(call run_tests,few) $(LONG) $(filter-out $(SLOW_TESTS),$(TESTS)) $(CORPORA) $(SCRIPTS)

## check-slow: the tests that check leaves out, as they take long; the same last line
.PHONY: check-slow
check-slow: setup
	@.ci/install $(CHECK_PACKAGES)
	@$(MAKE) $(PARALLEL) slow-machines
	@$(MAKE) $(PARALLEL) slow-tests
	@$(call run_tests,rest) $(SLOW) $(SLOW_TESTS) $(if $(KB_SEEDS),,$(DRAWN))

## check-house: the rules of the sources, tests/house/, and that builds in two folders are equal; the same last line
.PHONY: check-house
check-house: setup
	@.ci/install $(CHECK_PACKAGES)
	+@$(call make_topology,cube8)
	@$(MAKE) $(PARALLEL) -s -k house >/dev/null 2>&1 || true
	@B=$(B) CC=$(CC) KBGEN=$(KBGEN) JOBS=$(JOBS) tests/run.sh $(FOLDERS) $(HOUSE)

## validate: run times of real chips in the folder that KB_VALIDATE names beside those of kernbench: the tables of docs/validation.md
.PHONY: validate
validate: setup validate-dram validate-ccl validate-gemm validate-llm validate-gpu validate-published validate-graphs
	@.ci/install python3
	+@if [ -e "$$KB_VALIDATE/silicon.csv" ]; then $(call make_topology,wormhole); fi
	@tests/validate/silicon.py '$(B)/wormhole/wormhole replay --quiet'
	@tests/validate/latencies.py wormhole_b0 '$(B)/wormhole/wormhole replay --quiet'
	+@if [ -e "$$KB_VALIDATE/booksim.csv" ]; then $(MAKE) $(ANY); fi
	@tests/validate/booksim.py $(ANY) docs/pictures/booksim

## validate-dram: bandwidths and latencies of dram.csv in the folder that KB_VALIDATE names beside those of banks: tables of docs/validation.md
.PHONY: validate-dram
validate-dram: setup $(ANY)
	@.ci/install python3
	@tests/validate/dram.py '$(ANY) --machine MACHINE replay --quiet'

## validate-ccl: times of collectives of ccl.csv in the folder that KB_VALIDATE names beside those of kb_coll.h: a table of docs/validation.md
.PHONY: validate-ccl
validate-ccl: setup $(ANY)
	@.ci/install python3
	@tests/validate/ccl.py $(ANY)

## validate-gemm: times of products of gemm.csv in the folder that KB_VALIDATE names beside those of gemm: a table of docs/validation.md
.PHONY: validate-gemm
validate-gemm: setup $(ANY)
	@.ci/install python3
	@tests/validate/gemm.py $(ANY)

## validate-llm: tokens per second of tokens.csv in the folder that KB_VALIDATE names beside those of llm: a table of docs/validation.md
.PHONY: validate-llm
validate-llm: setup $(ANY)
	@.ci/install python3
	@tests/validate/llm.py $(ANY)

## validate-gpu: times of operations on GPUs in the folder that KB_VALIDATE names beside those of llm: tables of docs/validation.md; minutes
.PHONY: validate-gpu
validate-gpu: setup $(ANY)
	@.ci/install python3
	@tests/validate/gpu.py $(ANY)

## validate-published: figures that others published, tests/validate/published.csv, beside those of kernbench: tables of docs/validation.md
.PHONY: validate-published
validate-published: setup $(ANY)
	@.ci/install python3
	@tests/validate/published.py $(ANY)

## validate-graphs: an irregular network, a dragonfly and fat trees, tests/validate/graphs.csv, beside those of kernbench: a table of docs/validation.md; minutes
.PHONY: validate-graphs
validate-graphs: setup $(ANY)
	@.ci/install python3
	@tests/validate/graphs.py $(ANY)

## validate-fit: the same chip with other constants and links; minutes
.PHONY: validate-fit
validate-fit: setup $(ANY)
	@.ci/install python3
	@tests/validate/variants.py '$(ANY) --machine topologies/wormhole.yaml replay --quiet'

## check-folders: two whole builds in two folders, with the compiler and the flags of B
.PHONY: check-folders
check-folders: setup
	@.ci/install $(CHECK_PACKAGES)
	+@$(call make_topology,cube8)
	@B=$(B) FIRST=$(B) tests/run.sh $(FOLDERS)

# Tests of machines, loads and programs that are drawn by chance.
BY_CHANCE := random kernel_random watch watch_kernel race_random
## check-seeds: a thousand machines or programs in each test by chance, or KB_SEEDS; ten minutes
.PHONY: check-seeds
check-seeds: export KB_SEEDS ?= 1000
check-seeds: setup
	@.ci/install $(CHECK_PACKAGES)
	@$(MAKE) $(PARALLEL) $(TEST_TOPOLOGIES:%=machine-%)
	@$(MAKE) $(PARALLEL) $(BY_CHANCE:%=$(B)/_t/test_%)
	@JOBS=$(JOBS) tests/run.sh $(BY_CHANCE:%=$(B)/_t/test_%)

## llm-search: 200 products on machines by chance, or KB_SEEDS: how near the best of all tiles the search of llm comes; minutes
.PHONY: llm-search
llm-search: export KB_SEEDS ?= 200
llm-search: setup
	@.ci/install $(CHECK_PACKAGES)
	@$(MAKE) $(B)/_t/test_llm_best
	@$(B)/_t/test_llm_best

## check-failures: every call of the system that fails, over all commands; half an hour
.PHONY: check-failures
check-failures: setup
	@.ci/install $(CHECK_PACKAGES)
	+@$(call make_machine,cube8)
	@B=$(B) CC=$(CC) KBGEN=$(KBGEN) SIM=$(M)/cube8/cube8 JOBS=$(JOBS) SAMPLE=all tests/run.sh tests/e2e/failures.sh

## check-plan: a study of RUNS=100000 GEMM variants of which 1 % crash, killed KILLS=10 times and resumed; and its share of two cores
.PHONY: check-plan
check-plan: tests-built
	@B=$(B) SIM=$(M)/cube8/cube8 RUNS=$(or $(RUNS),100000) KILLS=$(or $(KILLS),10) bash tests/plan/plan.sh

## check-large: each command with 100,000 rows through each door, Python too, in 1 GB of memory; half an hour
.PHONY: check-large
check-large: python
	@.ci/install $(CHECK_PACKAGES)
	@B=$(B) ROWS=100000 MACHINES=100000 VARIANTS=10000 PY=$(abspath $(PY)/venv/bin/python) tests/run.sh tests/e2e/large.sh

## check-debug: the test programs in the build of `debug`: no optimisation, assertions; the same last line
.PHONY: check-debug
check-debug: setup
	@.ci/install $(CHECK_PACKAGES)
	@$(MAKE) B=$(B)/debug CFLAGS='-O0 -g' units

.PHONY: units
units:
	@$(MAKE) tests-built
	@B=$(B) CC=$(CC) KBGEN=$(KBGEN) SIM=$(M)/cube8/cube8 JOBS=$(JOBS) tests/run.sh $(TESTS)

## check-cost: 2000 small inputs (SEEDS=1-2000) with a command each: at most a second and 256 MB, or a word; an hour
.PHONY: check-cost
check-cost: setup $(ANY) $(KBGEN)
	@.ci/install python3
	@B=$(B) KBGEN=$(KBGEN) SEEDS=$(or $(SEEDS),1-2000) tests/run.sh tests/e2e/cost.sh

## check-cache: hits of examples/components/tags.c beside those of a plain cache, ACCESSES=10000000; a few minutes
.PHONY: check-cache
check-cache: setup $(ANY)
	@B=$(B) ACCESSES=$(or $(ACCESSES),10000000) tests/run.sh tests/e2e/chains.sh

## check-kill: kills simulators at 1000 random moments (KILLS), and make at each of its steps, and judges what is left
.PHONY: check-kill
check-kill: KILLS ?= 1000
check-kill: setup
	@$(MAKE) $(PARALLEL) machine-cube8 shipped-cube8
	@B=$(B) CC=$(CC) KBGEN=$(KBGEN) KILLS=$(KILLS) tests/run.sh $(KILLERS)

MATRIX_PACKAGES := locales $(CLANG_PACKAGES) $(AARCH64_PACKAGES)
## matrix: the same bytes by two compilers, at four levels, with sanitizers, any -j, locales and on AArch64; an hour, goes on where it was ended
.PHONY: matrix
matrix: setup
	@.ci/install $(MATRIX_PACKAGES)
	@B=$(B) JOBS=$(JOBS) tests/matrix.sh "$(CELLS)"

## check-web: opens pages of report in a browser, wide and narrow, light and dark; the same last line
.PHONY: check-web
check-web: setup
	@.ci/install $(WEB_PACKAGES)
	@$(MAKE) $(PARALLEL) $(TEST_TOPOLOGIES:%=machine-%)
	@B=$(B) tests/run.sh tests/web/pages.py

## break: breaks the engine on purpose, one way at a time, and tells which test catches it
.PHONY: break
break: setup
	@.ci/install $(CHECK_PACKAGES)
	@tests/break.sh -j$(JOBS)

## mutate: small mistakes by chance (MUTANTS=300, SEED=1), one at a time, and which no test notices; hours
.PHONY: mutate
mutate: MUTANTS ?= 300
mutate: SEED ?= 1
mutate: setup
	@.ci/install $(CHECK_PACKAGES)
	@tests/mutation/mutate.py -n $(MUTANTS) --seed $(SEED) --tree $(B)/mutate --log $(B)/mutate.log --map $(B)/coverage/reach.json

## pictures: redraws docs/pictures, after view or what it draws has changed
.PHONY: pictures
pictures: setup
	+@$(call make_topology,cube8) && $(MAKE) $(ANY)
	docs/pictures/draw.sh $(B)/cube8/cube8 docs/pictures
	docs/pictures/back_pressure.py $(ANY) docs/pictures/back_pressure.svg
	command -v chromium >/dev/null && docs/pictures/report.py $(B)/cube8/cube8 docs/pictures/report.png || echo "report.png stays: no chromium"

## golden: rewrites tests/golden, after a template or the generator has changed on purpose
.PHONY: golden
golden: setup
	@$(MAKE) topology TOPO=tests/golden/two_cubes.yaml SET= NAME=
	cp $(B)/two_cubes/topo.h $(B)/two_cubes/topo.c $(B)/two_cubes/two_cubes.h tests/golden/
	+@$(call make_machine,cube8)
	for b in $(basename $(notdir $(wildcard benches/*.c))); do \
	    echo "$$b $$($(M)/cube8/cube8 run $$b --fingerprint --quiet 2>&1 >/dev/null | cut -d ' ' -f 2)"; \
	done >tests/golden/benches.txt
	$(M)/cube8/cube8 $(shell head -n 1 tests/golden/load.txt) >tests/golden/load.csv

# -- the tests again, otherwise ----------------------------------------------------------------

## asan: the tests under AddressSanitizer and UndefinedBehaviorSanitizer
.PHONY: asan ubsan tsan
asan:
	$(MAKE) B=$(B)/asan SAN='-fsanitize=address,undefined -fno-sanitize-recover=all' check check-slow

## ubsan: the tests under clang's UndefinedBehaviorSanitizer, integers included
ubsan:
	@.ci/install $(CLANG_PACKAGES)
	$(MAKE) B=$(B)/ubsan CC=clang SAN='-fsanitize=undefined,float-divide-by-zero -fno-sanitize-recover=all' check check-slow

## tsan: the tests under ThreadSanitizer
tsan:
	$(MAKE) B=$(B)/tsan SAN='-fsanitize=thread' KB_SEEDS=150 check check-slow

## clang: the tests built by clang, every warning an error
.PHONY: clang
clang:
	@.ci/install $(CLANG_PACKAGES)
	$(MAKE) B=$(B)/clang CC=clang CFLAGS='$(CFLAGS) -Werror' check check-slow

## gcc: the tests built by gcc, every warning an error
.PHONY: gcc
gcc:
	$(MAKE) B=$(B)/gcc CC=gcc CFLAGS='$(CFLAGS) -Werror' QUICK= check check-slow

## valgrind: the test programs and the vectors under valgrind
VALGRIND := valgrind -q --error-exitcode=99 --leak-check=full
.PHONY: valgrind
valgrind: setup
	@.ci/install $(CHECK_PACKAGES) $(VALGRIND_PACKAGES)
	@$(MAKE) tests-built
	@B=$(B) KB_SEEDS=20 RUNNER='$(VALGRIND)' tests/run.sh \
	    $(filter-out %/test_memory %/test_bench_crash %/test_no_memory %/test_kernel_no_memory %/test_flow,$(TESTS)) tests/e2e/vectors.sh

## aarch64: under qemu, simulators for AArch64 print the vectors' bytes, and coroutines switch
ARM_CC := aarch64-linux-gnu-gcc
.PHONY: aarch64
aarch64: setup
	@.ci/install $(AARCH64_PACKAGES)
	@$(MAKE) $(KBGEN)
	@for t in tests/machines/cube8.yaml $(VECTOR_TOPOLOGIES); do \
	    $(MAKE) B=$(B)/aarch64 KBGEN=$(KBGEN) CC=$(ARM_CC) AR=aarch64-linux-gnu-ar \
	        SAN=-static BLIS=no YAML=no CLI_LIBS= topology TOPO=$$t SET= NAME= PLACE=$(B)/aarch64/_m || exit; done
	@$(MAKE) B=$(B)/aarch64 CC=$(ARM_CC) AR=aarch64-linux-gnu-ar SAN=-static BLIS=no YAML=no CLI_LIBS= \
	    $(B)/aarch64/_t/co_arch
	@B=$(B)/aarch64 RUNNER=qemu-aarch64 tests/run.sh $(B)/aarch64/_t/co_arch \
	    tests/e2e/vectors.sh tests/e2e/benches.sh

## floats: narrows every f32 there is to f16 and bf16; half a minute
.PHONY: floats
floats: tests-built
	KB_ALL_FLOATS=1 $(B)/_t/test_convert

## check-random: random machines under random loads, against the judge: KINDS='plain any banks caches plain_split any_split banks_split' SEEDS=1-1000 LOADS=0-3000; a day, goes on where it was ended
.PHONY: check-random
check-random: setup $(B)/_t/campaign
	@KINDS='$(KINDS)' SEEDS='$(SEEDS)' LOADS='$(LOADS)' bash tests/campaign/campaign.sh $(B)/_t/campaign $(B)/random

## check-machines: random machines SEEDS=1-1000, compiled and by kernbench --machine: the same bytes of every command; an hour, goes on where it was ended
.PHONY: check-machines
check-machines: setup $(B)/_t/judge $(B)/_t/libs $(ANY) $(KBGEN)
	@SEEDS='$(SEEDS)' JOBS=$(JOBS) bash tests/campaign/machines.sh $(B) $(B)/machines

## check-ends: every bench with SETS=200 random arguments on random machines SEEDS=1-50 ends, or is refused by name; an hour, goes on where it was ended
.PHONY: check-ends
check-ends: setup $(B)/_t/judge $(ANY)
	@.ci/install python3
	@JOBS=$(JOBS) tests/campaign/ends.py $(B) $(B)/ends $(or $(SEEDS),1-50) $(or $(SETS),200)

## check-models: llm on random models and machines, SEEDS=1-1000, with leaps, without, by hop, with its tiles and from its operations: the same times; minutes, goes on where it was ended
.PHONY: check-models
check-models: setup $(ANY)
	@.ci/install python3
	@JOBS=$(JOBS) tests/campaign/models.py $(B) $(B)/models $(or $(SEEDS),1-1000)

## steady: how often the confidence interval of load holds the known mean of a queue; two minutes
.PHONY: steady
steady: tests-built
	KB_STEADY_RUNS=200 KB_STEADY_TXNS=100000 $(B)/_t/test_steady

## check-all: check, and all of it again by clang, sanitizers, valgrind and on AArch64, and break
.PHONY: check-all
check-all:
	$(MAKE) check
	$(MAKE) check-slow
	$(MAKE) gcc
	$(MAKE) clang
	$(MAKE) asan
	$(MAKE) ubsan
	$(MAKE) tsan
	$(MAKE) valgrind
	$(MAKE) aarch64
	$(MAKE) floats
	$(MAKE) steady
	$(MAKE) check-seeds
	$(MAKE) check-folders
	$(MAKE) check-failures
	$(MAKE) check-kill
	$(MAKE) lint
	$(MAKE) break

# All our C and C++; goldens look as the templates made them.
OUR_C = $$(git ls-files '*.c' '*.h' '*.cpp' | grep -v '^tests/\(golden\|bad\)/')

# cppcheck takes a mistake of a kernel for something that returns.
NORETURN := $(patsubst %,--suppress=%:runtime/kernels/tl_*.c,nullPointerRedundantCheck nullPointerArithmeticRedundantCheck)

## lint: cppcheck, clang's warnings as errors, the layout that fmt makes, and the rules of the folders
.PHONY: lint
lint: setup
	@.ci/install $(LINT_PACKAGES)
	cppcheck --quiet --error-exitcode=1 --std=c11 -U__clang__ --enable=warning,portability,performance \
	    --inline-suppr --suppress=missingIncludeSystem $(NORETURN) $(INCLUDES) $(GEN_SRC) $(LIB_SRC) $(CLI_SRC)
	$(MAKE) B=$(B)/lint CC=clang CFLAGS='-O1 -Werror' topology TOPO=cube8 SET= NAME=
	clang-format --dry-run -Werror $(OUR_C)
	$(MAKE) check-house

## fmt: clang-format over all our C
.PHONY: fmt
fmt:
	@.ci/install $(FMT_PACKAGES)
	clang-format -i $(OUR_C)

# What runs the core and the generator: all unit tests, files that fuzzers keep, and the scripts that reach what they do not. What is
# inlined in many places would count in each of them.
COVERING := kbgen_bad generated components component_rules shard banks bykey shapes run inspect race deadlock talking knockout why load sweep split stats hostile shells cli vectors results benches stall routers
# What tests only the judge, or repeats one load a hundred times, runs nothing that others do not.
NOT_COVERING := $(filter %/test_steady %/test_co_arch,$(TESTS)) $(patsubst tests/unit/judge/%.c,$(B)/_t/%,$(wildcard tests/unit/judge/*.c))

## coverage: lines and branches that the tests run, file by file, by gcov; fails if what is left is not in tests/coverage/left.txt
.PHONY: coverage covered
coverage: setup
	@.ci/install $(CHECK_PACKAGES)
	@find $(B)/coverage -name '*.gcda' -delete 2>/dev/null || true
	@$(MAKE) B=$(B)/coverage CFLAGS='-O0 -g -DNDEBUG -Dalways_inline=noinline' SAN=--coverage covered
	@tests/coverage/reach.py $(B)/coverage/counts $(B)/coverage/reach.json
	@bash tests/coverage/merge.sh $(B)/coverage/counts
	@tests/coverage/coverage.py $(B)/coverage tests/coverage/left.txt

covered:
	@$(MAKE) tests-built
	@JOBS=$(JOBS) CC=$(CC) bash tests/coverage/failures.sh $(B)
	-@rm -rf $(B)/counts; B=$(B) CC=$(CC) KBGEN=$(KBGEN) SIM=$(M)/cube8/cube8 SIM_FIFO=$(M)/cube8_fifo/cube8_fifo JOBS=$(JOBS) KB_SEEDS=40 \
	    COUNTS=$(abspath $(B))/counts \
	    tests/run.sh $(CORPORA) $(filter-out $(NOT_COVERING),$(TESTS)) $(COVERING:%=tests/e2e/%.sh)

## check-container: the image of the Dockerfile, made step by step in chroots; root, network, some minutes
.PHONY: check-container
check-container:
	@.ci/install debootstrap
	@B=$(B) tests/run.sh tests/container/container.sh
