# fuzz.mk -- targets of libFuzzer, on all that is read; what they have found before is run by check, too.
#
# tests/fuzz/fuzz_NAME.c is a target, tests/fuzz/corpus/NAME its corpus: small files, each of which
# reaches code that no other reaches.

# A target may name more for its link in a line "link: ..." of its heading.
FUZZ_LINKS = $$(sed -n 's/^ \* link: //p' tests/fuzz/fuzz_$*.c)
FUZZ_OBJ := $(GENLIB) $(M)/cube8/libcube8.a $(CLI) $(LIB)
$(CORPORA): $(B)/_t/corpus_%: $(O)/tests/fuzz/fuzz_%.o $(O)/tests/fuzz/corpus.o $(FUZZ_OBJ)
	$(call link,$(FUZZ_LINKS))
FUZZERS := $(FUZZ_TARGETS:%=$(B)/_t/fuzz_%)
$(FUZZERS): private ALL_CFLAGS += -fsanitize=fuzzer
$(FUZZERS): $(B)/_t/fuzz_%: $(O)/tests/fuzz/fuzz_%.o $(FUZZ_OBJ)
	$(call link,$(FUZZ_LINKS))

# Words for the mutations: keys of the YAML, and commands, options and what they take.
DICTIONARIES := $(B)/_t/keys.dict $(B)/_t/opts.dict
$(B)/_t/keys.dict: gen/keys.def
$(B)/_t/opts.dict: runtime/cli/options/opts.def
$(DICTIONARIES):
	@mkdir -p $(@D)
	@sed -n '/^[A-Z_0-9]*(/{s/^COMMAND([A-Z_]*, \([a-z]*\),.*/"\1"/; s/^OPTION([A-Z_]*, "/"--/; p}' $< | \
	    grep -o '"[^"\]*"' | tr -d '"' | tr ' .' '\n\n' | sort -u | sed -n 's/..*/"&"/p' > $(NEW) $(PUT)

# All of them share their objects, in a build of their own. Of an engine that is inlined whole clang takes minutes
# to instrument each branch, and without optimisation its frame is larger than the stack of a kernel.
$(patsubst %,$(O)/runtime/%.o,engine/engine kernels/kernels) $(if $(N),$(T)/topo.o): ALL_CFLAGS += $(if $(findstring fuzzer,$(SAN)),-Dalways_inline=noinline)
.PHONY: fuzz fuzz-built fuzzers
fuzzers: $(FUZZERS) $(DICTIONARIES)
FUZZ_BUILD := B=$(B)/fuzz CC=clang CFLAGS='-O1 -g1' KBGEN=$(KBGEN) \
    SAN='-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all'
fuzz-built: setup
	@.ci/install $(CLANG_PACKAGES)
	@$(MAKE) $(KBGEN)
	@$(MAKE) $(PARALLEL) $(FUZZ_BUILD) machine-cube8
	@$(MAKE) $(PARALLEL) $(FUZZ_BUILD) fuzzers

## fuzz: a minute of libFuzzer each on all that is read: YAML, command lines, replay, .npy, results, lists, matrices
FUZZ_SECONDS ?= 60
fuzz: fuzz-built $(FUZZ_TARGETS:%=fuzz-%)

# What is found is kept in build/fuzz/found/NAME; FUZZ_SECONDS=0 only runs what is there.
fuzz_dict = $(if $(filter yaml,$(1)),keys,opts)
.PHONY: $(FUZZ_TARGETS:%=fuzz-%)
$(FUZZ_TARGETS:%=fuzz-%): fuzz-%: fuzz-built
	@mkdir -p $(B)/fuzz/found/$*
	$(B)/fuzz/_t/fuzz_$* -max_total_time=$(FUZZ_SECONDS) -timeout=20 -rss_limit_mb=4096 -close_fd_mask=1 -print_final_stats=1 \
	    -dict=$(B)/fuzz/_t/$(call fuzz_dict,$*).dict -artifact_prefix=$(B)/fuzz/$*- $(B)/fuzz/found/$* tests/fuzz/corpus/$*

## fuzz-corpus: keeps in tests/fuzz/corpus the smallest files that reach all that was reached
.PHONY: fuzz-corpus
fuzz-corpus: fuzz-built
	@for t in $(FUZZ_TARGETS); do \
	    rm -rf $(B)/fuzz/merged && mkdir -p $(B)/fuzz/merged $(B)/fuzz/found/$$t && \
	    $(B)/fuzz/_t/fuzz_$$t -merge=1 -close_fd_mask=3 $(B)/fuzz/merged tests/fuzz/corpus/$$t $(B)/fuzz/found/$$t || exit; \
	    find $(B)/fuzz/merged -size +4k -delete; \
	    rm -rf tests/fuzz/corpus/$$t && mv $(B)/fuzz/merged tests/fuzz/corpus/$$t; done
