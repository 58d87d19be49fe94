# Makefile -- the whole build; `make help` lists what it does.

#= B             the folder of all that is made (build)
#= TOPO          the topology: a name in topologies/ or a path (cube8)
#= SET           keys to override, cut at blanks: SET="cube.hbm.bw_gbs=512 cube.xbar.pe_gbs=512"
#= NAME          the name of such a variant, and of its folder
#= STUDY         the file of a study, like benches/hbm.study
#= PREFIX        where install puts things (/usr/local)
#= CC            the compiler (gcc)
#= CFLAGS        its flags, besides those for warnings (-O2 -g)
#= CLI_LIBS      for --sqlite, diff of JSON, --trace: SQLite, jansson, protobuf-c; CLI_LIBS= goes without
#= RUNNER        what runs a simulator of another architecture, for install (qemu-aarch64)
#= V             V=1 shows the commands; make -s shows no steps
#= FUZZ_SECONDS  how long each target of fuzz runs (60)
#= KB_SEEDS      the machines that test_random draws (1000)
B ?= build
TOPO ?= cube8
PREFIX ?= /usr/local
ifeq ($(origin CC),default)
CC := gcc
endif
CFLAGS ?= -O2 -g
SAN ?=

# BLIS, serial and static, by its path; BLIS=no: plain loops, for targets that lack it.
BLIS ?= yes
BLIS_LIB := $(if $(filter no,$(BLIS)),,$(firstword $(wildcard /usr/lib/*/blis-serial/libblis.a)))
LIBS := $(BLIS_LIB) -lm -lpthread

# What the command line needs besides: --sqlite, diff of JSON, --trace. Without one it says so.
CLI_LIBS ?= $(foreach l,sqlite3 jansson protobuf-c,$(or $(firstword $(wildcard /usr/lib/*/lib$l.a)),-l$l))
CLI_LACKS := $(if $(findstring sqlite3,$(CLI_LIBS)),,-DKB_NO_SQLITE) $(if $(findstring jansson,$(CLI_LIBS)),,-DKB_NO_JANSSON) $(if $(findstring protobuf-c,$(CLI_LIBS)),,-DKB_NO_PROTOBUF)

WARN := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes
# One object serves archive and shared library; public headers alone make names visible.
PIC := -fPIC -fvisibility=hidden -fno-semantic-interposition
ALL_CFLAGS := -std=c11 -D_GNU_SOURCE $(PIC) -ffp-contract=off -fopenmp-simd -ffile-prefix-map='$(CURDIR)=.' $(if $(filter /%,$(B)),-ffile-prefix-map='$(B)=build') $(WARN) $(if $(filter no,$(BLIS)),-DKB_NO_BLIS) $(strip $(CLI_LACKS)) $(CFLAGS) $(SAN)
# Without -g: clang's assembler would name the folder. Unwinding needs but what the files say.
ASM_CFLAGS = $(filter-out -ffp-contract=% -W% -g%,$(ALL_CFLAGS))
INCLUDES := -Iruntime/include -Iruntime
VERSION := $(shell sed -n 's/.*KB_VERSION *"\(.*\)"/\1/p' runtime/include/kernbench.h)

# One line a step; V=1 shows the commands, make -s nothing.
Q := $(if $(V),,@)
say = $(if $(V)$(findstring s,$(firstword -$(MAKEFLAGS))),,@printf '  %-4s %s\n' $(1) '$@')

.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:
MAKEFLAGS += --no-builtin-rules

## all: the simulator of TOPO (default cube8), its library and header, and kbgen
.PHONY: all
all: topology

# -- what the build is made of -----------------------------------------------------------------

O := $(B)/_o
GEN_SRC := $(wildcard gen/*.c)
# Included by kernels.c.
INCLUDED := $(patsubst %,runtime/%.c,kernels/engine kernels/pool kernels/record pe/pe pe/pe_ipcq kernels/deadlock kernels/launch kernels/tl kernels/accesses)
LIB_FOLDERS := base machine engine network data record pe kernels phase2 explain sim
# The library neither prints nor starts threads of a command: these are of command lines.
BASE_OF_CLI := $(wildcard runtime/base/help*.c runtime/base/parallel.c)
LIB_SRC := $(filter-out $(INCLUDED) $(BASE_OF_CLI),$(wildcard $(LIB_FOLDERS:%=runtime/%/*.c)))
LIB_ASM := $(wildcard runtime/kernels/*.S) # each empty but on its own architecture
BENCH_SRC := $(wildcard benches/*.c)
CLI_SRC := $(BASE_OF_CLI) $(wildcard runtime/cli/*.c runtime/cli/*/*.c) $(BENCH_SRC)
GEN_OBJ := $(GEN_SRC:%.c=$(O)/%.o)
LIB_OBJ := $(LIB_SRC:%.c=$(O)/%.o) $(LIB_ASM:%.S=$(O)/%.o)
# What the build makes for it: the table of benches, a report's style and script, messages of
# timelines.
CLI_MADE := $(O)/benches.c $(O)/report_files.c $(if $(findstring protobuf-c,$(CLI_LIBS)),$(O)/perfetto.pb-c.c)
CLI_OBJ := $(CLI_SRC:%.c=$(O)/%.o) $(CLI_MADE:%.c=%.o)
KBGEN ?= $(B)/kbgen
LIB := $(B)/libkernbench.a
CLI := $(B)/libkernbench-cli.a

$(O)/%.o: %.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(INCLUDES) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(O)/%.o: %.S $(O)/flags
	@mkdir -p $(@D)
	$(call say,AS)
	$(Q)$(CC) $(ASM_CFLAGS) -MMD -MP -c -o $@ $<

# A change of compiler or flags rebuilds everything.
FLAGS_TEXT := $(CC) $(ALL_CFLAGS)
$(O)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(FLAGS_TEXT))' | cmp -s - $@ || echo '$(subst ','\'',$(FLAGS_TEXT))' > $@

# assert() ends the program and prints, which a library does not: it is for those who look for bugs.
$(O)/runtime/%.o: ALL_CFLAGS += $(if $(SAN),,-DNDEBUG)

$(O)/runtime/cli/cmd_info.o: ALL_CFLAGS += -DKB_BUILD_FLAGS='"$(strip $(CFLAGS) $(SAN))"'

# The table of benches: a file benches/NAME.c defines bench_NAME.
BENCHES := $(sort $(BENCH_SRC:benches/%.c=%))
$(O)/benches.c: $(O)/benches.names
	$(Q){ echo '/* Generated from the names in benches/. */'; echo '#include "cli/benches.h"'; echo; \
	    printf 'extern const kb_bench bench_%s;\n' $(BENCHES); echo; \
	    echo 'const kb_bench *const benches[] = {'; printf '    &bench_%s,\n' $(BENCHES); echo '};'; \
	    echo 'const size_t n_benches = sizeof benches / sizeof *benches;'; } > $@
$(O)/benches.names: FORCE
	@mkdir -p $(@D)
	@echo '$(BENCHES)' | cmp -s - $@ || echo '$(BENCHES)' > $@
$(O)/benches.o: $(O)/benches.c $(O)/flags
	$(call say,CC)
	$(Q)$(CC) $(INCLUDES) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# Style and script of a report's page, as C strings.
REPORT_FILES := runtime/cli/report/report.css runtime/cli/report/report.js
c_string = printf 'const char %s[] = {\n' $(subst .,_,$(notdir $(1))); \
    od -An -v -tu1 $(1) | sed 's/ *\([0-9]\{1,\}\)/\1,/g'; echo '0};'
$(O)/report_files.c: $(REPORT_FILES)
	@mkdir -p $(@D)
	$(Q){ echo '/* Generated from $(REPORT_FILES). */'; echo '#include "cli/report/report_parts.h"'; \
	    $(foreach f,$(REPORT_FILES),echo; $(call c_string,$(f));) } > $@
$(O)/report_files.o: $(O)/report_files.c $(O)/flags
	$(call say,CC)
	$(Q)$(CC) $(INCLUDES) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# Timelines: our part of Perfetto's schema, compiled by protobuf-c.
$(O)/perfetto.pb-c.c: runtime/cli/trace/perfetto.proto
	@mkdir -p $(@D)
	$(call say,GEN)
	$(Q)protoc-c --proto_path=$(<D) --c_out=$(@D) $<
$(O)/perfetto.pb-c.h: $(O)/perfetto.pb-c.c ;
$(O)/perfetto.pb-c.o: $(O)/perfetto.pb-c.c $(O)/flags
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) -w -MMD -MP -c -o $@ $<
$(O)/runtime/cli/trace/trace_perfetto.o: $(filter %.pb-c.c,$(CLI_MADE))
$(O)/runtime/cli/trace/trace_perfetto.o: INCLUDES += -I$(O)

# What kbgen has of the simulators: texts, and what is made of a table of options.
GEN_ALSO := runtime/base/text.c $(wildcard runtime/base/help*.c)
$(B)/kbgen: $(GEN_OBJ) $(GEN_ALSO:%.c=$(O)/%.o)
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ -lyaml -lxxhash -lm

$(LIB): $(LIB_OBJ)
	$(call say,AR)
	@rm -f $@
	$(Q)$(AR) rcD $@ $^

$(CLI): $(CLI_OBJ)
	$(call say,AR)
	@rm -f $@
	$(Q)$(AR) rcD $@ $^

.PHONY: FORCE
FORCE:

# -- libraries for others ----------------------------------------------------------------------

# libNAME.so is a link to libNAME.so.SO, the soname, and that one to libNAME.so.SO.VERSION. SO is
# raised when programs that were linked would no longer run: HACKING.md, "The soname".
SO := 0
SO_VERSION := $(SO).$(VERSION)
SHARED := $(B)/libkernbench.so
# Clang's sanitizers are in the program, and a library does not find them.
LINK_SHARED = $(CC) $(filter-out -static,$(ALL_CFLAGS)) -shared $(if $(SAN),,-Wl,-z,defs) \
    -Wl,-soname,$(notdir $(@:.$(SO_VERSION)=.$(SO)))

%.so: %.so.$(SO)
	@ln -sf $(<F) $@
%.so.$(SO): %.so.$(SO_VERSION)
	@ln -sf $(<F) $@

# Never unloaded: kb_catch_overflow() leaves a handler of signals behind.
$(SHARED).$(SO_VERSION): $(LIB_OBJ) $(O)/libkernbench.map
	$(call say,LD)
	$(Q)$(LINK_SHARED) -Wl,-z,nodelete -Wl,--version-script=$(O)/libkernbench.map -o $@ $(LIB_OBJ) $(LIBS)

$(O)/libkernbench.map: runtime/libkernbench.map runtime/include/kernbench.h
	@mkdir -p $(@D)
	@sed 's/@VERSION@/$(VERSION)/' $< > $@

# The archive that is installed: one object, BLIS included, in which only public names are global.
OBJCOPY = $(shell $(CC) -print-prog-name=objcopy)
PUBLIC_LIB := $(B)/_public/libkernbench.a
$(PUBLIC_LIB): $(LIB_OBJ)
	@mkdir -p $(@D)
	$(call say,AR)
	@rm -f $@
	$(Q)$(CC) $(CFLAGS) -r -nostdlib -o $(@D)/kernbench.o $^ $(BLIS_LIB)
	$(Q)$(OBJCOPY) -w --keep-global-symbol='kb_*' --keep-global-symbol='tl_*' $(@D)/kernbench.o
	$(Q)$(AR) rcD $@ $(@D)/kernbench.o

# -- one topology ------------------------------------------------------------------------------

# TOPO is a name in topologies/ or a path; SET="key=value ..." and NAME make a variant of it.
ODD := ' " & ; : \ [ ] ? < > | ` ! ( ) * , ~
ifneq ($(strip $(words $(TOPO)) $(foreach c,$(ODD),$(findstring $c,$(TOPO)))),1)
$(error TOPO is '$(TOPO)', a name that make cannot take: use letters, digits and . _ + - /)
endif
TOPO_FILE := $(if $(findstring /,$(TOPO))$(filter %.yaml,$(TOPO)),$(TOPO),topologies/$(TOPO).yaml)
KBGEN_ARGS := $(foreach s,$(SET),--set '$(s)') $(if $(NAME),--set 'name=$(NAME)') '$(TOPO_FILE)'

# The YAML's name names folder and binary: kbgen tells it to this file, which make then reads.
TOPO_GOALS := all topology install
ifneq ($(filter $(TOPO_GOALS),$(or $(MAKECMDGOALS),all)),)
ifneq ($(and $(SET),$(if $(NAME)$(MAKE_RESTARTS),,yes)),)
$(info make: SET without NAME: the variant takes the name and the place of $(TOPO); NAME=... gives it its own)
endif
TOPO_MK := $(B)/_topo/$(subst /,_,$(TOPO))$(if $(NAME),+$(NAME)).mk
$(TOPO_MK): $(KBGEN) $(TOPO_FILE) FORCE
	@mkdir -p $(@D)
	@name=$$($(KBGEN) --name $(KBGEN_ARGS)) && echo "N := $$name" > $@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@
$(TOPO_FILE):
	@echo "make: there is no topology '$@'; TOPO is a name in topologies/ or a path" >&2; exit 2
-include $(TOPO_MK)
endif

T := $(B)/$(N)
M4 := LC_ALL=C m4 -P -E -E templates/base.m4

## topology: the same as all, for TOPO=cube16, TOPO=path/to.yaml, SET="cube.hbm.bw_gbs=512" NAME=fast
.PHONY: topology
ifdef N
topology: $(T)/$(N) $(T)/lib$(N).a $(T)/lib$(N).so $(T)/$(N).h

$(T)/.args: FORCE
	@mkdir -p $(@D)
	@echo "$(KBGEN_ARGS)" | cmp -s - $@ || echo "$(KBGEN_ARGS)" > $@

$(T)/defs.m4: $(TOPO_FILE) $(KBGEN) $(T)/.args
	$(call say,GEN)
	$(Q)$(KBGEN) $(KBGEN_ARGS) > $@

$(T)/topo.h $(T)/topo.c $(T)/main.c: $(T)/%: templates/%.m4 templates/base.m4 $(T)/defs.m4
	$(call say,M4)
	$(Q)$(M4) $(T)/defs.m4 $< > $@

$(T)/$(N).h: templates/api.h.m4 templates/base.m4 $(T)/defs.m4
	$(call say,M4)
	$(Q)$(M4) $(T)/defs.m4 $< > $@

$(T)/topo.o: $(T)/topo.c $(T)/topo.h $(O)/flags
	$(call say,CC)
	$(Q)$(CC) -iquote $(T) $(INCLUDES) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(T)/main.o: $(T)/main.c $(T)/$(N).h $(O)/flags
	$(call say,CC)
	$(Q)$(CC) -iquote $(T) $(INCLUDES) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(T)/lib$(N).a: $(T)/topo.o
	$(call say,AR)
	@rm -f $@
	$(Q)$(AR) rcD $@ $^

$(T)/$(N): $(T)/main.o $(T)/lib$(N).a $(CLI) $(LIB)
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ $(CLI_LIBS) $(LIBS)

$(T)/lib$(N).so.$(SO_VERSION): $(T)/topo.o $(SHARED)
	$(call say,LD)
	$(Q)$(LINK_SHARED) -o $@ $^

-include $(wildcard $(T)/*.d)
else
topology: # there is no such topology, or it has mistakes: kbgen has said so
	@exit 2
endif

-include $(wildcard $(O)/*.d $(O)/*/*.d $(O)/*/*/*.d $(O)/*/*/*/*.d)

## study: builds the variants that STUDY=FILE names, runs its command on each, prints one table
.PHONY: study
export STUDY
study:
	@$(if $(SET)$(NAME),echo 'make: a study has its own SET and NAME' >&2; exit 2)
	+@B='$(B)' TOPO='$(TOPO)' TOPO_FILE='$(TOPO_FILE)' KBGEN='$(KBGEN)' MAKE='$(MAKE)' tools/study.sh "$$STUDY"

# -- set-up ------------------------------------------------------------------------------------

# Debian packages; those of a target are installed by it, and by nothing else.
BUILD_PACKAGES := gcc libc6-dev m4 libyaml-dev libxxhash-dev libblis-serial-dev libsqlite3-dev libjansson-dev libprotobuf-c-dev protobuf-c-compiler
CHECK_PACKAGES := libcmocka-dev jq python3-numpy protobuf-compiler g++ pkg-config
WEB_PACKAGES := chromium chromium-driver python3-selenium python3-html5lib fonts-dejavu-core
CLANG_PACKAGES := clang libclang-rt-dev
VALGRIND_PACKAGES := valgrind
AARCH64_PACKAGES := gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
FMT_PACKAGES := clang-format
LINT_PACKAGES := clang cppcheck $(FMT_PACKAGES)

.PHONY: setup
setup:
	@.ci/install $(BUILD_PACKAGES)

## demo: installs what is missing, builds cube8, shows a probe, a contended replay and a verified GEMM
.PHONY: demo
demo: setup
	@$(MAKE) --no-print-directory topology TOPO=cube8 SET= NAME=
	@echo; echo '$$ $(B)/cube8/cube8 probe'
	@$(B)/cube8/cube8 probe
	@echo; echo '$$ $(B)/cube8/cube8 replay benches/one_slice.csv --format table'
	@$(B)/cube8/cube8 replay benches/one_slice.csv --format table
	@echo; echo '$$ $(B)/cube8/cube8 run gemm M=512 N=512 K=512 dtype=f16 --verify'
	@$(B)/cube8/cube8 run gemm M=512 N=512 K=512 dtype=f16 --verify

# -- tests -------------------------------------------------------------------------------------

TEST_SRC := $(wildcard tests/unit/*/test_*.c)
TESTS := $(patsubst %.c,$(B)/_t/%,$(notdir $(TEST_SRC)))
JUDGE := $(B)/_t/libjudge.a
GENLIB := $(B)/_t/libgen.a
JUDGE_OBJ := $(patsubst %.c,$(O)/%.o,$(filter-out tests/judge/main.c,$(wildcard tests/judge/*.c)))
TEST_TOPOLOGIES := cube8 tray32
VECTOR_TOPOLOGIES := $(filter-out %/cube8.yaml,$(wildcard tests/vectors/*.yaml))

$(O)/tests/%.o: INCLUDES += -Itests -I. $(TEST_TOPOLOGIES:%=-I$(B)/%)
$(JUDGE): $(JUDGE_OBJ)
$(GENLIB): $(filter-out $(O)/gen/main.o $(O)/gen/options.o,$(GEN_OBJ)) $(O)/tests/support/any_topology.o
$(JUDGE) $(GENLIB):
	@mkdir -p $(@D)
	$(call say,AR)
	@rm -f $@
	$(Q)$(AR) rcD $@ $^

# A test may name more for its link in a line "link: ..." of its heading.
$(foreach s,$(TEST_SRC),$(eval $(B)/_t/$(basename $(notdir $s)): $(s:%.c=$(O)/%.o)))
$(TESTS): $(B)/_t/%: $(JUDGE) $(GENLIB) $(LIB) $(foreach t,$(TEST_TOPOLOGIES),$(B)/$(t)/lib$(t).a)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIB) $$(sed -n 's/^ \* link: //p' tests/unit/*/$*.c) -lyaml -lxxhash -lcmocka $(LIBS)

$(B)/_t/test_lists: $(O)/runtime/cli/in/lists.o
# They need all of the command line, with its benches.
$(B)/_t/test_trace $(B)/_t/test_collectives: $(CLI)
$(B)/_t/test_trace $(B)/_t/test_collectives: LIBS := $(CLI_LIBS) $(LIBS)
$(B)/_t/test_guard: $(O)/runtime/cli/rows/warn.o

# test_co_arch without what cannot be had for another architecture.
$(B)/_t/co_arch: $(O)/tests/unit/kernels/test_co_arch.o $(LIB)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^

$(B)/_t/judge: $(O)/tests/judge/main.o $(JUDGE)
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ -lyaml $(LIBS)

# A simulator with benches of its own, which are wrong, and with operations that it spoils.
$(B)/_t/broken: $(O)/tests/support/broken.o $(B)/cube8/libcube8.a $(CLI) $(LIB)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) -Wl,--wrap=math_run -o $@ $^ $(CLI_LIBS) $(LIBS)

# One whose benches send, receive, and wait for each other: some for ever.
$(B)/_t/talking: $(O)/tests/support/talking.o $(B)/cube8/libcube8.a $(CLI) $(LIB)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ $(CLI_LIBS) $(LIBS)

.PHONY: tests
tests: $(TESTS) $(B)/_t/judge $(B)/_t/broken $(B)/_t/talking

## tests-built: the test programs and all that they need, without running them
.PHONY: tests-built
tests-built:
	@for t in $(TEST_TOPOLOGIES) cube1 tests/support/odd.yaml $(VECTOR_TOPOLOGIES); do \
	    $(MAKE) --no-print-directory topology TOPO=$$t SET= NAME= || exit; done
	@$(MAKE) --no-print-directory tests

## check: installs what is missing, builds, runs every test; ends in "N passed, N failed"
.PHONY: check
check: setup
	@.ci/install $(CHECK_PACKAGES)
	@$(MAKE) --no-print-directory tests-built
	@B=$(B) CC=$(CC) KBGEN=$(KBGEN) SIM=$(B)/cube8/cube8 \
	    SIM_FIFO=$(B)/cube8_fifo/cube8_fifo tests/run.sh $(TESTS) $(wildcard tests/e2e/*.sh)

## check-web: opens pages of report in a browser, wide and narrow, light and dark; the same last line
.PHONY: check-web
check-web: setup
	@.ci/install $(WEB_PACKAGES)
	@for t in $(TEST_TOPOLOGIES); do \
	    $(MAKE) --no-print-directory topology TOPO=$$t SET= NAME= || exit; done
	@B=$(B) tests/run.sh tests/web/pages.py

## break: breaks the engine on purpose, one way at a time, and tells which test catches it
.PHONY: break
break: setup
	@.ci/install $(CHECK_PACKAGES)
	@tests/break.sh

## pictures: draws docs/pictures anew, after view or what it draws has changed
.PHONY: pictures
pictures: setup
	@$(MAKE) --no-print-directory topology TOPO=cube8 SET= NAME=
	docs/pictures/draw.sh $(B)/cube8/cube8 docs/pictures

## golden: writes tests/golden anew, after a template or the generator has changed on purpose
.PHONY: golden
golden: setup
	@$(MAKE) --no-print-directory topology TOPO=tests/golden/two_cubes.yaml SET= NAME=
	cp $(B)/two_cubes/topo.h $(B)/two_cubes/topo.c $(B)/two_cubes/two_cubes.h tests/golden/
	@$(MAKE) --no-print-directory topology TOPO=cube8 SET= NAME=
	for b in $(basename $(notdir $(wildcard benches/*.c))); do \
	    echo "$$b $$($(B)/cube8/cube8 run $$b --fingerprint --quiet 2>&1 >/dev/null | cut -d ' ' -f 2)"; \
	done >tests/golden/benches.txt
	$(B)/cube8/cube8 $(shell head -n 1 tests/golden/load.txt) >tests/golden/load.csv

# -- the tests again, otherwise ----------------------------------------------------------------

## asan: the tests under AddressSanitizer and UndefinedBehaviorSanitizer
.PHONY: asan ubsan tsan
asan:
	$(MAKE) B=$(B)/asan SAN='-fsanitize=address,undefined -fno-sanitize-recover=all' check

## ubsan: the tests under clang's UndefinedBehaviorSanitizer, integers included
ubsan:
	@.ci/install $(CLANG_PACKAGES)
	$(MAKE) B=$(B)/ubsan CC=clang SAN='-fsanitize=undefined,float-divide-by-zero -fno-sanitize-recover=all' check

## tsan: the tests under ThreadSanitizer
tsan:
	$(MAKE) B=$(B)/tsan SAN='-fsanitize=thread' KB_SEEDS=150 check

## clang: the tests built by clang, every warning an error
.PHONY: clang
clang:
	@.ci/install $(CLANG_PACKAGES)
	$(MAKE) B=$(B)/clang CC=clang CFLAGS='$(CFLAGS) -Werror' check

## gcc: the tests built by gcc, every warning an error
.PHONY: gcc
gcc:
	$(MAKE) B=$(B)/gcc CC=gcc CFLAGS='$(CFLAGS) -Werror' check

## valgrind: the test programs and the vectors under valgrind
VALGRIND := valgrind -q --error-exitcode=99 --leak-check=full
.PHONY: valgrind
valgrind: setup
	@.ci/install $(CHECK_PACKAGES) $(VALGRIND_PACKAGES)
	@$(MAKE) --no-print-directory tests-built
	@B=$(B) KB_SEEDS=20 RUNNER='$(VALGRIND)' tests/run.sh \
	    $(filter-out %/test_memory %/test_no_memory %/test_kernel_no_memory %/test_flow,$(TESTS)) tests/e2e/vectors.sh

## aarch64: under qemu, simulators for AArch64 print the vectors' bytes, and coroutines switch
ARM_CC := aarch64-linux-gnu-gcc
.PHONY: aarch64
aarch64: setup
	@.ci/install $(AARCH64_PACKAGES)
	@$(MAKE) --no-print-directory $(KBGEN)
	@for t in cube8 $(VECTOR_TOPOLOGIES); do \
	    $(MAKE) --no-print-directory B=$(B)/aarch64 KBGEN=$(KBGEN) CC=$(ARM_CC) AR=aarch64-linux-gnu-ar \
	        SAN=-static BLIS=no CLI_LIBS= topology TOPO=$$t SET= NAME= || exit; done
	@$(MAKE) --no-print-directory B=$(B)/aarch64 CC=$(ARM_CC) AR=aarch64-linux-gnu-ar SAN=-static BLIS=no CLI_LIBS= \
	    $(B)/aarch64/_t/co_arch
	@B=$(B)/aarch64 RUNNER=qemu-aarch64 tests/run.sh $(B)/aarch64/_t/co_arch \
	    tests/e2e/vectors.sh tests/e2e/benches.sh

## floats: narrows every f32 there is to f16 and bf16; half a minute
.PHONY: floats
floats: tests-built
	KB_ALL_FLOATS=1 $(B)/_t/test_convert

## check-all: check, and all of it again by clang, sanitizers, valgrind and on AArch64, and break
.PHONY: check-all
check-all:
	$(MAKE) check
	$(MAKE) gcc
	$(MAKE) clang
	$(MAKE) asan
	$(MAKE) ubsan
	$(MAKE) tsan
	$(MAKE) valgrind
	$(MAKE) aarch64
	$(MAKE) floats
	$(MAKE) lint
	$(MAKE) break

# All our C and C++; goldens look as the templates made them.
OUR_C = $$(git ls-files '*.c' '*.h' '*.cpp' | grep -v '^tests/golden/')

# cppcheck takes a mistake of a kernel for something that returns.
NORETURN := $(patsubst %,--suppress=%:runtime/kernels/tl.c,nullPointerRedundantCheck nullPointerArithmeticRedundantCheck)

## lint: cppcheck, clang's warnings as errors, and the layout that fmt makes
.PHONY: lint
lint: setup
	@.ci/install $(LINT_PACKAGES)
	cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,portability,performance \
	    --inline-suppr --suppress=missingIncludeSystem $(NORETURN) $(INCLUDES) $(GEN_SRC) $(LIB_SRC) $(CLI_SRC)
	$(MAKE) B=$(B)/lint CC=clang CFLAGS='-O1 -Werror' topology TOPO=cube8 SET= NAME=
	clang-format --dry-run -Werror $(OUR_C)

## fmt: clang-format over all our C
.PHONY: fmt
fmt:
	@.ci/install $(FMT_PACKAGES)
	clang-format -i $(OUR_C)

## fuzz: a minute of libFuzzer each on all that is read: YAML, replay, .npy, results, lists, matrices
FUZZ_SECONDS ?= 60
FUZZ_CC := clang $(INCLUDES) -I$(O) -iquote $(B)/cube8 $(filter-out -ffile%,$(ALL_CFLAGS)) -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all
FUZZ_RUN := -max_total_time=$(FUZZ_SECONDS) -timeout=5 -artifact_prefix=$(B)/fuzz/
.PHONY: fuzz
fuzz: setup
	@.ci/install $(CLANG_PACKAGES)
	@$(MAKE) --no-print-directory topology TOPO=cube8 SET= NAME=
	@mkdir -p $(B)/fuzz/yaml $(B)/fuzz/csv $(B)/fuzz/npy $(B)/fuzz/diff $(B)/fuzz/words
	cp topologies/*.yaml tests/bad/*.yaml $(B)/fuzz/yaml
	cp tests/bad/*.csv tests/fuzz/*.csv benches/*.csv $(B)/fuzz/csv
	cp tests/fuzz/*.npy $(B)/fuzz/npy
	cp tests/fuzz/words/* $(B)/fuzz/words
	for f in csv json jsonl; do $(B)/cube8/cube8 probe --case h2d --format $$f -o $(B)/fuzz/diff/$$f; done
	$(FUZZ_CC) -o $(B)/fuzz/fuzz_yaml tests/fuzz/fuzz_yaml.c $(filter-out gen/main.c gen/options.c,$(GEN_SRC)) \
	    runtime/base/text.c -lyaml -lxxhash -lm
	for t in replay diff words; do \
	    $(FUZZ_CC) -o $(B)/fuzz/fuzz_$$t tests/fuzz/fuzz_$$t.c $(B)/cube8/topo.c $(LIB_SRC) $(LIB_ASM) \
	        $(CLI_SRC) $(CLI_MADE) $(CLI_LIBS) $(LIBS) || exit; done
	$(FUZZ_CC) -o $(B)/fuzz/fuzz_npy tests/fuzz/fuzz_npy.c runtime/data/npy.c runtime/data/dtype.c \
	    runtime/data/convert.c runtime/machine/endpoint.c runtime/machine/endpoint_text.c runtime/base/text.c -lm
	$(B)/fuzz/fuzz_yaml $(FUZZ_RUN) $(B)/fuzz/yaml
	$(B)/fuzz/fuzz_replay $(FUZZ_RUN) $(B)/fuzz/csv
	$(B)/fuzz/fuzz_npy $(FUZZ_RUN) $(B)/fuzz/npy
	$(B)/fuzz/fuzz_diff $(FUZZ_RUN) $(B)/fuzz/diff
	$(B)/fuzz/fuzz_words $(FUZZ_RUN) $(B)/fuzz/words

## coverage: which lines the tests run, by gcov; also when some of them fail
.PHONY: coverage
coverage:
	-$(MAKE) B=$(B)/coverage CFLAGS='-O1 -g' SAN=--coverage check
	@cd $(B)/coverage && gcov -n $$(find _o/gen _o/runtime -name '*.gcda') 2>/dev/null | \
	    sed -n "/^File '\(gen\|runtime\)/{N;s/File '\(.*\)'\nLines executed:\(.*\) of \(.*\)/\2 of \3 lines  \1/p}" | sort -n

# -- installation ------------------------------------------------------------------------------

## install: simulator, kbgen, manual pages, completions, libraries, headers and pkg-config files of TOPO under PREFIX (default /usr/local)
IN = '$(DESTDIR)$(PREFIX)/
pc = LC_ALL=C m4 -P -E -E -Dgen_prefix='[[$(PREFIX)]]' -Dgen_version='$(VERSION)' -Dgen_name='$(N)' templates/base.m4
# Manual page and completions of a program, which prints them itself: PROGRAM, its name
define put_pages
	install -d $(IN)share/man/man1' $(IN)share/bash-completion/completions' $(IN)share/zsh/site-functions' $(IN)share/fish/vendor_completions.d'
	$(1) --man > $(IN)share/man/man1/$(2).1'
	$(1) --completion bash > $(IN)share/bash-completion/completions/$(2)'
	$(1) --completion zsh > $(IN)share/zsh/site-functions/_$(2)'
	$(1) --completion fish > $(IN)share/fish/vendor_completions.d/$(2).fish'
endef
.PHONY: install
install: topology $(PUBLIC_LIB)
	install -d $(IN)bin' $(IN)include' $(IN)lib/pkgconfig'
	install -m 755 $(KBGEN) $(T)/$(N) $(IN)bin'
	install -m 644 runtime/include/kernbench.h runtime/include/tl.h $(T)/$(N).h $(IN)include'
	install -m 644 $(PUBLIC_LIB) $(T)/lib$(N).a $(SHARED).$(SO_VERSION) $(T)/lib$(N).so.$(SO_VERSION) $(IN)lib'
	cp -P $(SHARED) $(SHARED).$(SO) $(T)/lib$(N).so $(T)/lib$(N).so.$(SO) $(IN)lib'
	$(call put_pages,$(KBGEN),kbgen)
	$(call put_pages,$(RUNNER) $(T)/$(N),$(N))
	$(pc) templates/kernbench.pc.m4 > $(IN)lib/pkgconfig/kernbench.pc'
	$(pc) templates/topo.pc.m4 > $(IN)lib/pkgconfig/$(N).pc'

# -- benches -----------------------------------------------------------------------------------

P := $(B)/_p
PERF := $(patsubst %,$(P)/%,txn spawn rows parts empty co mm1 kernel oplog phase2 many)
BENCH_TOPOLOGIES := cube8 mesh1024 bench_c4 bench_c64 bench_fifo bench_fifo_c4 bench_fifo_c64 bench_slots
channels = cube.pe.pe_dma.read_channels=$(1) cube.pe.pe_dma.write_channels=$(1)
fifo := contention.links=fifo

$(O)/perf/%.o: INCLUDES += $(BENCH_TOPOLOGIES:%=-I$(B)/%)
$(PERF): $(P)/%: $(O)/perf/%.o $(CLI) $(LIB)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $(filter-out $(CLI) $(LIB),$^) $(CLI) $(LIB) $(CLI_LIBS) $(LIBS)
$(P)/txn: $(O)/perf/hold.o $(foreach t,$(filter-out bench_slots,$(BENCH_TOPOLOGIES)),$(B)/$(t)/lib$(t).a)
$(P)/parts $(P)/oplog $(P)/phase2 $(P)/many: $(B)/cube8/libcube8.a
$(P)/kernel: $(B)/cube8/libcube8.a $(B)/mesh1024/libmesh1024.a $(B)/bench_slots/libbench_slots.a

COLLECTIVE_MACHINES := cube8 cube16 tray32
COLLECTIVE_TOPOLOGIES := $(COLLECTIVE_MACHINES) $(COLLECTIVE_MACHINES:%=collectives_%)
$(O)/perf/collectives.o: INCLUDES += $(COLLECTIVE_TOPOLOGIES:%=-I$(B)/%)
$(P)/collectives: $(O)/perf/collectives.o $(foreach t,$(COLLECTIVE_TOPOLOGIES),$(B)/$(t)/lib$(t).a) $(CLI) $(LIB)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $(filter-out $(CLI) $(LIB),$^) $(CLI) $(LIB) $(CLI_LIBS) $(LIBS)

## collectives: times of all collectives by size, links fifo and ideal, beside their bounds, into collectives.csv and .svg under build/
.PHONY: collectives
collectives: setup
	@for t in $(COLLECTIVE_MACHINES); do \
	    $(MAKE) --no-print-directory topology TOPO=$$t SET= NAME= && \
	    $(MAKE) --no-print-directory topology TOPO=$$t NAME=collectives_$$t SET='$(fifo)' || exit; done
	@$(MAKE) --no-print-directory $(P)/collectives
	$(P)/collectives $(B)/collectives.csv $(B)/collectives.svg

# bench_variant: NAME, SET
bench_variant = $(MAKE) --no-print-directory topology TOPO=cube8 NAME=$(1) SET='$(2)'

.PHONY: perf
perf: $(PERF)

.PHONY: bench-topologies
bench-topologies:
	@for t in cube8 tray32 mesh1024; do \
	    $(MAKE) --no-print-directory topology TOPO=$$t SET= NAME= || exit; done
	@$(call bench_variant,bench_c4,$(call channels,4))
	@$(call bench_variant,bench_c64,$(call channels,64))
	@$(call bench_variant,bench_fifo,$(fifo))
	@$(call bench_variant,bench_fifo_c4,$(fifo) $(call channels,4))
	@$(call bench_variant,bench_fifo_c64,$(fifo) $(call channels,64))
	@$(call bench_variant,bench_slots,cube.pe.pe_ipcq.slots=4096 cube.pe.pe_ipcq.slot_bytes=64)

# Two programs once more without what is counted for kb_sim_utilization(), to see what that costs.
NO_STATS := B='$(B)/_nostats' CFLAGS='$(CFLAGS) -DKB_NO_STATS'
.PHONY: bench-built
bench-built: setup
	@$(MAKE) --no-print-directory bench-topologies
	@$(MAKE) --no-print-directory perf
	@$(MAKE) --no-print-directory $(NO_STATS) bench-topologies
	@$(MAKE) --no-print-directory $(NO_STATS) $(B)/_nostats/_p/txn $(B)/_nostats/_p/kernel

## bench: measures engines, event core, kernels, Phase 2, replay, starting and building against their aims; a few minutes
.PHONY: bench
bench: bench-built
	@B=$(B) CC='$(CC)' perf/run.sh

## bench-large: replays ten million rows, for the memory that a row takes; a timeline of ten million events
.PHONY: bench-large
bench-large: bench-built
	@B=$(B) CC='$(CC)' perf/run.sh large

# -- beside others -----------------------------------------------------------------------------

# The same transactions by simulators of others; a peer that cannot be built is reported as missing.
PEER_PACKAGES := libsystemc-dev libsimgrid-dev python3-simpy3 g++
CXX := $(if $(filter default,$(origin CXX)),g++,$(CXX))
CXX_FLAGS := -std=c++17 $(filter-out $(PIC) -std=% -Wstrict-prototypes -Wmissing-prototypes -Wshadow -Wconversion,$(ALL_CFLAGS))

$(O)/perf/peers/%.o: INCLUDES += -I$(B)/cube8 -I$(B)/bench_c160
$(P)/export: $(O)/perf/peers/export.o $(B)/cube8/libcube8.a $(B)/bench_c160/libbench_c160.a $(LIB)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ $(LIBS)

$(P)/systemc $(P)/simgrid: $(P)/%: perf/peers/%.cpp perf/peers/peer.h $(O)/flags
	@mkdir -p $(@D)
	$(call say,C++)
	$(Q)$(CXX) $(CXX_FLAGS) -o $@ $< -l$*

.PHONY: peers
peers: $(P)/export
	@-$(MAKE) --no-print-directory $(P)/systemc
	@-$(MAKE) --no-print-directory $(P)/simgrid

## bench-peers: the same transactions by SystemC, SimGrid and SimPy, times and results compared
.PHONY: bench-peers
bench-peers: setup
	@-for p in $(PEER_PACKAGES); do .ci/install $$p; done
	@$(MAKE) --no-print-directory topology TOPO=cube8 SET= NAME=
	@$(call bench_variant,bench_c160,$(call channels,160))
	@$(MAKE) --no-print-directory peers
	@B=$(B) CC='$(CC)' perf/peers/run.sh

# -- house -------------------------------------------------------------------------------------

## clean: removes all that is made
.PHONY: clean
clean:
	rm -rf $(B)

## help: lists what there is to make
.PHONY: help
help:
	@sed -n 's/^## //p' Makefile
	@sed -n 's/^#= //p' Makefile | (echo; echo 'Variables:'; cat)
