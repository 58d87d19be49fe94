# Makefile -- the build; `make help` lists all targets.
#
# tools/install.mk installs, tests/tests.mk and tests/fuzz/fuzz.mk test, perf/perf.mk measures.

#= B             the folder for everything that is made (build)
#= TOPO          the topology: a name in topologies/ or a path (cube8)
#= C             the file of a component, for check-component
#= SET           keys to override, separated by blanks: SET="cube.hbm.bw_gbs=512 cube.xbar.pe_gbs=512"
#= NAME          the name of such a variant, and of its folder
#= PREFIX        the folder to install into (/usr/local)
#= CC            the compiler (gcc)
#= CFLAGS        its flags, besides those for warnings (-O2 -g1); with -O0 or -Og, assertions are on
#= CLI_LIBS      for --sqlite, diff of JSON, --trace: SQLite, jansson, protobuf-c; CLI_LIBS= builds without
#= RUNNER        runs a simulator of another architecture, for install (qemu-aarch64)
#= JOBS          how many jobs check runs at a time (as many as there are processors)
#= V             V=1 shows the commands; make -s shows no steps
#= FUZZ_SECONDS  how long each target of fuzz runs (60)
#= KILLS         how many kills check-kill makes (1000)
#= CELLS         which cells matrix runs, a pattern like gcc-O2 (all)
#= KB_SEEDS      the number of machines, or programs, that each test by chance draws (as many as check takes; check-seeds: 1000)
B ?= build
TOPO ?= cube8
PREFIX ?= /usr/local
ifeq ($(origin CC),default)
CC := gcc
endif
CFLAGS ?= -O2 -g1
SAN ?=

# BLIS, serial and static, by its path; BLIS=no: plain loops, for targets that lack it.
BLIS ?= yes
BLIS_LIB := $(if $(filter no,$(BLIS)),,$(firstword $(wildcard /usr/lib/*/blis-serial/libblis.a)))
# libyaml, static if it can be; YAML=no: without it, and without kb_topology_load().
YAML ?= yes
YAML_LIB := $(if $(filter no,$(YAML)),,$(or $(firstword $(wildcard /usr/lib/*/libyaml.a)),-lyaml))
# libmd, SHA-256, the same; MD=no: without it, and without what is kept by such hashes.
MD ?= $(YAML)
MD_LIB := $(if $(filter no,$(MD)),,$(or $(firstword $(wildcard /usr/lib/*/libmd.a)),-lmd))
LIBS := $(BLIS_LIB) $(YAML_LIB) $(MD_LIB) -lm -lpthread

# The command line needs these for --sqlite, diff of JSON and --trace; without one it says so.
CLI_LIBS ?= $(foreach l,sqlite3 jansson protobuf-c,$(or $(firstword $(wildcard /usr/lib/*/lib$l.a)),-l$l))
CLI_LACKS := $(if $(findstring sqlite3,$(CLI_LIBS)),,-DKB_NO_SQLITE) $(if $(findstring jansson,$(CLI_LIBS)),,-DKB_NO_JANSSON) $(if $(findstring protobuf-c,$(CLI_LIBS)),,-DKB_NO_PROTOBUF)

# $(call odd,NAME): what is in it that make, or its shell, takes for something else
HASH := \#
ODD := ' " & ; : \ [ ] ? < > | ` ! ( ) { } * , ~ % = ^ $$ $(HASH)
odd = $(strip $(if $(filter-out 1,$(words $(1))),a blank) $(foreach c,$(ODD),$(findstring $c,$(1))))
ifneq ($(call odd,$(B)),)
$(error B is '$(B)', and make cannot take $(call odd,$(B)) in it: use letters, digits and . _ + - /)
endif

# To run make here is to run what is here: components of the tree need no further word.
export KB_TRUST := $(CURDIR)$(if $(KB_TRUST),:$(KB_TRUST))

# $(call quoted,TEXT): as one word of the shell
quoted = '$(subst ','\'',$(1))'

# A value of an enum that a switch forgets ends the build: tests/house/switches.sh.
# So does a call of a function that nothing declares, which this gcc would take for one of int.
WARN := -Wall -Wextra -Werror=switch -Werror=implicit-function-declaration -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes
# One object serves archive and shared library; only public headers make names visible.
PIC := -fPIC -fvisibility=hidden -fno-semantic-interposition
ALL_CFLAGS := -std=c11 -D_GNU_SOURCE $(PIC) -ffp-contract=off -fopenmp-simd -ffile-prefix-map=$(call quoted,$(CURDIR)=.) $(if $(filter /%,$(B)),-ffile-prefix-map='$(B)=build') $(WARN) $(if $(filter no,$(BLIS)),-DKB_NO_BLIS) $(if $(filter no,$(YAML)),-DKB_NO_YAML) $(if $(filter no,$(MD)),-DKB_NO_MD) $(if $(filter -static,$(CFLAGS)),-DKB_STATIC) $(strip $(CLI_LACKS)) $(CFLAGS) $(SAN)
INCLUDES := -Iruntime/include -Iruntime -I.
VERSION := $(shell sed -n 's/.*KB_VERSION *"\(.*\)"/\1/p' runtime/include/kernbench.h)

# One line a step; V=1 shows the commands, make -s nothing.
Q := $(if $(V),,@)
say = $(if $(V)$(findstring s,$(firstword -$(MAKEFLAGS))),,@printf '  %-4s %s\n' $(1) '$@')
# The plain topology $(1), whatever SET and NAME are; for lines that begin with +
make_topology = $(MAKE) topology TOPO=$(1) SET= NAME=
# Machines of version 1 of the keys, on which the tests were worked out and speed is measured.
M := $(B)/_m
make_machine = $(call make_topology,$(if $(findstring /,$(1)),$(1),tests/machines/$(1).yaml)) PLACE='$(M)'

# All that is made is written to $(NEW), a name of this shell's own, and moved into place when it is
# whole: a make that is killed, at any moment, leaves nothing half-made under the name of a target.
NEW = $@.new$$$$
PUT = && mv -f $(NEW) $@ || { rm -rf $(NEW) $(NEW)d; exit 1; }
# The recipes of the build. $(call compile,FLAGS), $(call link,LIBRARIES), $(archive)
define compile
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(INCLUDES) $(ALL_CFLAGS) $(1) $(COMPILED)
endef
COMPILED = -MMD -MP -MT $@ -MF $(NEW)d -c -o $(NEW) $< && mv -f $(NEW)d $(@:.o=.d) $(PUT)
# Objects, the archives of topologies, then the command line, if it is needed, and the library.
# A command line has the whole library, and shows it to benches of shared objects.
INPUTS = $(filter %.o,$^) $(filter-out $(CLI) $(LIB),$(filter %.a,$^)) $(if $(filter $(CLI),$^),$(CLI) $(call whole,$(LIB)),$(filter $(LIB),$^))
whole = -Wl,--whole-archive $(1) -Wl,--no-whole-archive -Wl,--export-dynamic-symbol='kb_*' -Wl,--export-dynamic-symbol='tl_*'
define link
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) -o $(NEW) $(INPUTS) $(1) $(if $(filter $(CLI),$^),$(CLI_LIBS)) $(LIBS) $(PUT)
endef
# q appends, so that objects of the same name from different folders are all kept.
define archive
	@mkdir -p $(@D)
	$(call say,AR)
	$(Q)rm -f $(NEW); $(AR) qcD $(NEW) $(filter %.o,$^) $(PUT)
endef
# $(call keep,TEXT): writes it to the target if it says something else now
keep = @mkdir -p $(@D); printf '%s\n' $(quoted) | cmp -s - $@ || { printf '%s\n' $(quoted) >$(NEW) $(PUT); }

.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:
MAKEFLAGS += --no-builtin-rules --no-print-directory

## all: the simulator of TOPO (default cube8), its library and header, kernbench and kbgen
.PHONY: all
all: topology

# -- parts of the build ------------------------------------------------------------------------

O := $(B)/_o
GEN_SRC := $(wildcard gen/*.c)
# What only kbgen has: it prints what the rest makes.
KBGEN_SRC := gen/main.c gen/options.c gen/emit.c gen/emit_fields.c gen/emit_parts.c gen/emit_ways.c gen/limits.c
# kernels.c includes these: one unit, for speed.
INCLUDED := $(shell sed -n 's|^\#include "\(.*\.c\)"|runtime/\1|p' runtime/kernels/kernels.c)
LIB_FOLDERS := base machine engine network data record pe kernels phase2 explain sim
# The library neither prints nor starts threads or processes of a command: these are of command lines.
BASE_OF_CLI := $(wildcard runtime/base/help*.c runtime/base/parallel.c runtime/base/workers.c runtime/base/watch.c)
LIB_SRC := $(filter-out $(INCLUDED) $(BASE_OF_CLI),$(wildcard $(LIB_FOLDERS:%=runtime/%/*.c))) $(if $(filter no,$(YAML)),,$(filter-out $(KBGEN_SRC),$(GEN_SRC)))
LIB_ASM := $(wildcard runtime/kernels/*.S) # each empty except on its own architecture
GEN_OBJ := $(GEN_SRC:%.c=$(O)/%.o)
LIB_OBJ := $(LIB_SRC:%.c=$(O)/%.o) $(LIB_ASM:%.S=$(O)/%.o) $(O)/component_h.o
KBGEN ?= $(B)/kbgen
LIB := $(B)/libkernbench.a
CLI := $(B)/libkernbench-cli.a

# A value that is added to an enum is asked for at each switch of the library, as none has a default for it.
$(LIB_OBJ) $(GEN_OBJ): private ALL_CFLAGS += -Werror=switch-enum
$(O)/%.o: %.c $(O)/flags
	$(call compile)

# Without -g: clang's assembler would name the folder. Unwinding needs only what the files say.
$(O)/%.o: %.S $(O)/flags
	@mkdir -p $(@D)
	$(call say,AS)
	$(Q)$(CC) $(filter-out -ffp-contract=% -W% -g%,$(ALL_CFLAGS)) $(COMPILED)

# Segments are copied field by field: two at once would be read before they are written (flits +7 %).
$(O)/runtime/network/network_router.o: ALL_CFLAGS += -fno-tree-slp-vectorize

# A change of compiler or flags rebuilds everything.
FLAGS_TEXT := $(CC) $(ALL_CFLAGS)
$(O)/flags: FORCE
	$(call keep,$(FLAGS_TEXT))

# assert() ends the program and prints, which a library does not do: it is for finding bugs.
DEBUGGED := $(SAN)$(filter -O0 -Og,$(CFLAGS))
$(O)/runtime/%.o $(O)/gen/%.o: ALL_CFLAGS += $(if $(DEBUGGED),,-DNDEBUG)

include runtime/cli/cli.mk

# kbgen shares with the simulators: texts, and all that is made of a table of options.
$(B)/kbgen: $(GEN_OBJ) $(patsubst %.c,$(O)/%.o,runtime/base/text.c runtime/base/compiler.c runtime/base/watch.c $(wildcard runtime/base/help*.c)) $(O)/component_h.o
	$(call link,$(if $(YAML_LIB),,-lyaml))

# The text of component.h, which is compiled with components at run time.
c_string = printf 'const char %s[] = {\n' $(subst .,_,$(notdir $(1))); \
    $(or $(2),cat) $(1) | od -An -v -tu1 | sed 's/ *\([0-9]\{1,\}\)/\1,/g'; echo '0};'
$(O)/component_h.c: runtime/include/component.h
	@mkdir -p $(@D)
	$(Q){ echo '/* Generated from $<. */'; echo '#include "gen/component_build.h"'; $(call c_string,$<); } > $(NEW) $(PUT)
$(O)/component_h.o: $(O)/component_h.c $(O)/flags
	$(call compile)

# A file that goes, or moves to the other library, leaves nothing newer behind: the lists are what tells.
$(O)/objects: FORCE
	$(call keep,$(LIB_OBJ) of the library; $(CLI_OBJ) of command lines)
$(LIB) $(CLI): $(O)/objects

$(LIB): $(LIB_OBJ)
	$(archive)

# The simulator without a machine of its own.
ANY := $(B)/kernbench
all: $(ANY)
$(ANY): $(O)/runtime/cli/kernbench.o $(CLI) $(LIB)
	$(link)

.PHONY: FORCE
FORCE:

# -- libraries for others ----------------------------------------------------------------------

# libNAME.so is a link to libNAME.so.SO, the soname, and that one to libNAME.so.SO.VERSION. SO is
# raised when programs that were linked would no longer run: HACKING.md, "The soname".
SO := $(shell sed -n 's/.*KB_ABI *\([0-9]*\).*/\1/p' runtime/include/kernbench.h)
SO_VERSION := $(SO).$(VERSION)
SHARED := $(B)/libkernbench.so
# Clang's sanitizers are in the program, and a library does not find them.
LINK_SHARED = $(CC) $(filter-out -static,$(ALL_CFLAGS)) -shared $(if $(SAN),,-Wl,-z,defs) \
    -Wl,-soname,$(notdir $(@:.$(SO_VERSION)=.$(SO)))

%.so: %.so.$(SO)
	@ln -sf $(<F) $@
%.so.$(SO): %.so.$(SO_VERSION)
	@ln -sf $(<F) $@

# Never unloaded: kb_catch_overflow() leaves signal handlers behind.
$(SHARED).$(SO_VERSION): $(LIB_OBJ) $(O)/objects $(O)/libkernbench.map
	$(call say,LD)
	$(Q)$(LINK_SHARED) -Wl,-z,nodelete -Wl,--version-script=$(O)/libkernbench.map -o $(NEW) $(LIB_OBJ) $(LIBS) $(PUT)

$(O)/libkernbench.map: runtime/libkernbench.map runtime/include/kernbench.h
	@mkdir -p $(@D)
	@sed 's/@VERSION@/$(VERSION)/' $< > $(NEW) $(PUT)

# The archive that is installed: one object, BLIS included, in which only public names are global,
# and, for programs that load benches or components, those that call dlopen().
OBJCOPY = $(shell $(CC) -print-prog-name=objcopy)
PUBLIC_LIB := $(B)/_public/libkernbench.a
LOADER_SRC := runtime/sim/bench_file runtime/sim/component_open \
    $(addprefix runtime/base/,cache compiler compiler_identity digest provenance) $(addprefix gen/component_,build object text)
LOADER_OBJ := $(filter $(LIB_OBJ),$(LOADER_SRC:%=$(O)/%.o) $(O)/component_h.o)
$(PUBLIC_LIB): $(LIB_OBJ) $(O)/objects
	@mkdir -p $(@D)
	$(call say,AR)
	$(Q)mkdir -p $(NEW)d && $(CC) $(CFLAGS) -r -nostdlib -o $(NEW)d/kernbench.o $(filter-out $(LOADER_OBJ),$(LIB_OBJ)) $(BLIS_LIB) && \
	    $(CC) $(CFLAGS) -r -nostdlib -o $(NEW)d/loader.o $(LOADER_OBJ) $(filter %.a,$(MD_LIB)) && \
	    for o in kernbench loader; do $(OBJCOPY) -w --keep-global-symbol='kb_*' --keep-global-symbol='tl_*' $(NEW)d/$$o.o || exit; done && \
	    $(AR) qcD $(NEW) $(NEW)d/kernbench.o $(NEW)d/loader.o && rm -r $(NEW)d $(PUT)

# -- one topology ------------------------------------------------------------------------------

# TOPO is a name in topologies/ or a path; SET="key=value ..." and NAME make a variant of it.
ifneq ($(call odd,$(TOPO)),)
$(error TOPO is '$(TOPO)', and make cannot take $(call odd,$(TOPO)) in it: use letters, digits and . _ + - /)
endif
TOPO_FILE := $(if $(findstring /,$(TOPO))$(filter %.yaml,$(TOPO)),$(TOPO),topologies/$(TOPO).yaml)
KBGEN_ARGS := $(foreach s,$(SET),--set '$(s)') $(if $(NAME),--set 'name=$(NAME)') '$(TOPO_FILE)'

# The name in the YAML names folder and binary: kbgen writes it to this file, which make then reads.
TOPO_GOALS := all topology install uninstall
ifneq ($(filter $(TOPO_GOALS),$(or $(MAKECMDGOALS),all)),)
ifneq ($(and $(SET),$(if $(NAME)$(MAKE_RESTARTS),,yes)),)
$(info make: SET without NAME: the variant takes the name and the place of $(TOPO); NAME=... gives it its own)
endif
TOPO_MK := $(B)/_topo/$(subst /,_,$(TOPO))$(if $(NAME),+$(NAME)).mk
$(TOPO_MK): $(KBGEN) $(TOPO_FILE) $(TOPO_MK:.mk=.args)
	@name=$$($(KBGEN) --name $(KBGEN_ARGS)) && files=$$($(KBGEN) --components $(KBGEN_ARGS)) && \
	    for f in $$files; do case $$f in *.c | *.csv) ;; *) echo "make: a component is in '$$files', and make" \
	        "cannot take a blank in it: use letters, digits and . _ + - /" >&2; exit 2 ;; esac; done && \
	    printf 'N := %s\nCOMPONENTS := %s\n$(TOPO_MK): %s\n' "$$name" "$$files" "$$files" > $(NEW) $(PUT)
$(TOPO_MK:.mk=.args): FORCE
	$(call keep,$(KBGEN_ARGS))
$(TOPO_FILE):
	@echo "make: there is no topology '$@'; TOPO is a name in topologies/ or a path" >&2; exit 2
# A component that is gone is looked for again, or kbgen says so.
$(shell for f in $$(sed -n 's/^COMPONENTS := //p' '$(TOPO_MK)' 2>&1); do [ -e "$$f" ] || rm -f '$(TOPO_MK)'; done)
-include $(TOPO_MK)
$(COMPONENTS):
endif

# Simulators are made in $(B); those of the tests and measurements in a folder of their own.
PLACE ?= $(B)
T := $(PLACE)/$(N)
M4 := LC_ALL=C m4 -P -E -E templates/base.m4

## topology: the same as all, for TOPO=cube16, TOPO=path/to.yaml, SET="cube.hbm.bw_gbs=512" NAME=fast
.PHONY: topology
ifdef N
# The units that take longest are compiled first, so that no processor waits for them at the end.
topology: $(patsubst %,$(O)/runtime/%.o,kernels/kernels engine/engine phase2/math)
topology: $(T)/$(N) $(T)/lib$(N).a $(T)/lib$(N).so $(T)/$(N).h

# MACHINE_CFLAGS are flags of its own, for tests.
$(T)/.args: FORCE
	$(call keep,$(KBGEN_ARGS)$(if $(MACHINE_CFLAGS), $(MACHINE_CFLAGS)))

$(T)/defs.m4: $(TOPO_FILE) $(COMPONENTS) $(KBGEN) $(T)/.args
	$(call say,GEN)
	$(Q)$(KBGEN) $(KBGEN_ARGS) > $(NEW) $(PUT)

# The rows of tables, of which a large machine has millions, are for topo.c alone: m4 need not read them four times.
$(T)/names.m4: $(T)/defs.m4
	$(Q)sed '/^$$1(.*)m4_dnl$$/d' $< > $(NEW) $(PUT)

$(T)/topo.c: templates/topo.c.m4 $(T)/defs.m4
$(T)/topo.h $(T)/main.c: $(T)/%: templates/%.m4 $(T)/names.m4
$(T)/$(N).h: templates/api.h.m4 $(T)/names.m4
$(T)/topo.h $(T)/topo.c $(T)/main.c $(T)/$(N).h: templates/base.m4
	$(call say,M4)
	$(Q)$(M4) $(filter-out %/base.m4 templates/%,$^) $(filter-out %/base.m4,$(filter templates/%,$^)) > $(NEW) $(PUT)

$(T)/topo.o: $(T)/topo.h
$(T)/main.o: $(T)/$(N).h
# Components are compiled by themselves first, and looked at: what keeps the rules is in topo.c.
ifneq ($(COMPONENTS),)
$(T)/topo.o: $(T)/components.i
$(T)/components.i: $(TOPO_FILE) $(COMPONENTS) $(KBGEN) $(T)/.args $(O)/flags
	$(call say,GEN)
	$(Q)CC='$(CC)' TMPDIR='$(abspath $(@D))' $(KBGEN) --component-code $(KBGEN_ARGS) > $(NEW) $(PUT)
endif
$(T)/topo.o $(T)/main.o: %.o: %.c $(O)/flags
	$(call compile,-iquote $(T) $(MACHINE_CFLAGS))

$(T)/lib$(N).a: $(T)/topo.o
	$(archive)

$(T)/$(N): $(T)/main.o $(T)/lib$(N).a $(CLI) $(LIB)
	$(link)

$(T)/lib$(N).so.$(SO_VERSION): $(T)/topo.o $(SHARED)
	$(call say,LD)
	$(Q)$(LINK_SHARED) -o $(NEW) $^ $(PUT)

-include $(wildcard $(T)/*.d)
else
topology: # there is no such topology, or it has mistakes: kbgen has said so
	@exit 2
endif

-include $(wildcard $(O)/*.d $(O)/*/*.d $(O)/*/*/*.d $(O)/*/*/*/*.d)

## check-component: runs the component C=path/to/NAME.c through what every component must hold
.PHONY: check-component
check-component: $(KBGEN) $(ANY)
	$(if $(C),,$(error C names the file of a component: make check-component C=path/to/NAME.c))
	+@B='$(B)' CC='$(CC)' MAKE='$(MAKE)' tools/check_component.sh '$(C)'

## debug: cube8 (or TOPO) without optimisation and with assertions, for a debugger, in build/debug
.PHONY: debug
debug:
	$(MAKE) B=$(B)/debug CFLAGS='-O0 -g' topology

# -- set-up ------------------------------------------------------------------------------------

# Debian packages; the packages of a target are installed by it only.
BUILD_PACKAGES := gcc libc6-dev m4 libyaml-dev libmd-dev libxxhash-dev libblis-serial-dev libsqlite3-dev libjansson-dev libprotobuf-c-dev protobuf-c-compiler

.PHONY: setup
setup:
	@.ci/install $(BUILD_PACKAGES)

## demo: installs what is missing, builds cube8 and kernbench, shows a probe, a contended replay and a verified GEMM
.PHONY: demo
demo: setup
	@echo 'building the simulator of topologies/cube8.yaml, and kernbench: about a minute the first time'
	+@$(MAKE) all TOPO=cube8 SET= NAME= $(PARALLEL) -s >/dev/null
	@tools/demo.sh $(B)

-include tools/install.mk tests/tests.mk python/python.mk tests/fuzz/fuzz.mk perf/perf.mk

# -- house -------------------------------------------------------------------------------------

## clean: removes all that is made
.PHONY: clean
clean:
	rm -rf $(B)

## help: lists all targets and variables
.PHONY: help
help:
	@sed -n 's/^## //p' $(wildcard Makefile tools/install.mk tests/tests.mk python/python.mk tests/fuzz/fuzz.mk perf/perf.mk)
	@sed -n 's/^#= //p' Makefile | (echo; echo 'Variables:'; cat)
