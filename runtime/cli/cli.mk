# cli.mk -- the command line: its sources, the files made for it, and how they are compiled.

BENCH_SRC := $(wildcard benches/*.c)
LLM_SRC := $(wildcard benches/llm/*.c)
CLI_SRC := $(BASE_OF_CLI) $(filter-out runtime/cli/kernbench.c,$(wildcard runtime/cli/*.c runtime/cli/*/*.c)) $(BENCH_SRC) $(LLM_SRC)
# The build makes the table of benches, a report's style and script, messages of timelines.
CLI_MADE := $(O)/benches.c $(O)/model_files.c $(O)/report_files.c $(if $(findstring protobuf-c,$(CLI_LIBS)),$(O)/perfetto.pb-c.c $(O)/chakra.pb-c.c)
CLI_OBJ := $(CLI_SRC:%.c=$(O)/%.o) $(CLI_MADE:%.c=%.o)

$(CLI): $(CLI_OBJ)
	$(archive)

# The command lines compile faster with -Og, and take no longer for what they do;
# except where rows pass by the million: they are read, simulated, printed, traced and compared at -O2;
# and so are references of benches computed.
ROWS_SRC := $(wildcard runtime/cli/in/*.c runtime/cli/out/*.c runtime/cli/trace/*.c runtime/cli/diff/*.c) $(patsubst %,runtime/cli/%.c,cmd_load cmd_replay cmd_sweep rows/endpoint_names) runtime/base/parallel.c $(BENCH_SRC) $(LLM_SRC)
SELDOM_OBJ := $(KBGEN_SRC:%.c=$(O)/%.o) $(patsubst %.c,$(O)/%.o,$(filter-out $(ROWS_SRC),$(CLI_SRC))) $(CLI_MADE:%.c=%.o)
$(SELDOM_OBJ): ALL_CFLAGS += $(if $(filter -O2,$(CFLAGS)),-Og)

$(O)/runtime/cli/cmd_info.o: ALL_CFLAGS += -DKB_BUILD_FLAGS='"$(strip $(CFLAGS) $(SAN))"'

# A frame that is larger than the guard below a stack does not jump over it.
KERNEL_CFLAGS := -fstack-clash-protection
$(O)/benches/%.o $(O)/benches/llm/%.o: ALL_CFLAGS += $(KERNEL_CFLAGS)

# The table of benches: a file benches/NAME.c defines bench_NAME.
BENCHES := $(sort $(BENCH_SRC:benches/%.c=%))
$(O)/benches.c: $(O)/benches.names
	$(Q){ echo '/* Generated from the names in benches/. */'; echo '#include "cli/benches.h"'; echo; \
	    printf 'extern const kb_bench bench_%s;\n' $(BENCHES); echo; \
	    echo 'const kb_bench *const benches[] = {'; printf '    &bench_%s,\n' $(BENCHES); echo '};'; \
	    echo 'const size_t n_benches = sizeof benches / sizeof *benches;'; } > $(NEW) $(PUT)
$(O)/benches.names: FORCE
	$(call keep,$(BENCHES))

# The shipped models.
MODELS := $(sort $(wildcard share/models/*.json))
$(O)/model_files.c: $(MODELS)
	@mkdir -p $(@D)
	$(Q){ echo '/* Generated from share/models. */'; echo '#include "cli/llm/model.h"'; echo '#include <stddef.h>'; echo; \
	    echo 'const struct model_file model_files[] = {'; for f in $(MODELS); do \
	    echo "    {\"$$(basename $$f .json)\","; sed 's/"/\\"/g; s/.*/     "&\\n"/' $$f; echo '    },'; done; \
	    echo '    {NULL, NULL},'; echo '};'; } > $(NEW) $(PUT)

# Styles and script of pictures and of a report's page, as C strings; without indentation, and lines of comments.
REPORT_FILES := runtime/cli/view/svg.css runtime/cli/report/report.css runtime/cli/report/report_plots.js runtime/cli/report/report_keys.js runtime/cli/report/report_tables.js runtime/cli/report/report_sections.js runtime/cli/report/report.js
$(O)/report_files.c: $(REPORT_FILES)
	@mkdir -p $(@D)
	$(Q){ echo '/* Generated from $(REPORT_FILES). */'; echo '#include "cli/report/report_parts.h"'; echo '#include "cli/view/svg.h"'; \
	    $(foreach f,$(REPORT_FILES),echo; $(call c_string,$(f),sed "s|^ *||; /^\/\//d");) } > $(NEW) $(PUT)

# Timelines and traces: our parts of the schemas of Perfetto and Chakra, compiled by protobuf-c.
$(O)/perfetto.pb-c.c: runtime/cli/trace/perfetto.proto
$(O)/chakra.pb-c.c: runtime/cli/llm/chakra.proto
$(O)/%.pb-c.c:
	@mkdir -p $(@D)
	$(call say,GEN)
	$(Q)mkdir -p $(NEW)d && protoc-c --proto_path=$(<D) --c_out=$(NEW)d $< && \
	    mv -f $(NEW)d/$*.pb-c.h $(@D) && mv $(NEW)d/$(@F) $(NEW) && rmdir $(NEW)d $(PUT)
$(O)/%.pb-c.h: $(O)/%.pb-c.c ;
SCHEMA_OBJ := $(O)/runtime/cli/trace/trace_perfetto.o $(O)/runtime/cli/llm/chakra_read.o $(O)/runtime/cli/llm/chakra_write.o
$(SCHEMA_OBJ): $(filter %.pb-c.c,$(CLI_MADE))
$(SCHEMA_OBJ): INCLUDES += -I$(O)

$(filter %.pb-c.o,$(CLI_MADE:%.c=%.o)): ALL_CFLAGS += -w
$(CLI_MADE:%.c=%.o): %.o: %.c $(O)/flags
	$(call compile)
