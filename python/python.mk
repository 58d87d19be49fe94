# python.mk -- the Python package: what its extension is linked with, and its tests.

PYTHON_PACKAGES := patchelf mypy python3 python3-cffi python3-numpy python3-pandas python3-pip python3-venv python3-wheel python3-setuptools python3-pytest python3-dev python3-matplotlib python3-nbconvert python3-ipykernel
# Debian's python3: its packages are not those of another one that PATH may have first.
PYTHON ?= /usr/bin/python3
PY := $(B)/_python

# The commands, for programs that run them: cli/query/query.h. libkernbench.so has the rest.
QUERY_LIB := $(PY)/libquery.a
$(QUERY_LIB): $(CLI_OBJ) $(patsubst %.c,$(O)/%.o,$(filter-out $(BASE_OF_CLI),$(wildcard runtime/base/*.c)))
	$(archive)

# What python/setup.py asks for. Debian's archives are not for shared objects: the wheel carries the
# shared libraries of the command line beside ours, by names of their own (libsqlite3-kernbench.so.0),
# so that a program with another copy of one of them has both.
# KB_SYSTEM=yes: a distribution's package has all of them, and ours, elsewhere, and carries none.
SHARED_OF_CLI := $(patsubst lib%.a,%,$(notdir $(filter %.a,$(CLI_LIBS)))) $(patsubst -l%,%,$(filter -l%,$(CLI_LIBS)))
CARRIED := $(if $(KB_SYSTEM),,$(SHARED_OF_CLI))
.PHONY: python-parts
python-parts: $(QUERY_LIB) $(SHARED) $(PY)/carried/done $(PY)/libs $(PY)/parts
$(PY)/carried/done: $(PY)/libs python/python.mk
	@rm -rf $(@D) && mkdir -p $(@D)
	$(Q)cd $(@D) && for l in $(CARRIED); do \
	    from=$$($(CC) -print-file-name=lib$$l.so) && so=$$(objdump -p $$from | sed -n 's/^ *SONAME *//p') && \
	    to=lib$$l-kernbench.so$${so#lib$$l.so} && cp -L $$from $$to && patchelf --set-soname $$to $$to && \
	    ln -s $$to lib$$l-kernbench.so || exit; done
	@touch $@
$(PY)/libs: FORCE
	$(call keep,$(if $(KB_SYSTEM),$(SHARED_OF_CLI:%=-l%),$(CARRIED:%=-l%-kernbench)) $(YAML_LIB) $(MD_LIB))
# Whose notices go with it: of each a name, and a file of the package that it is from.
$(PY)/parts: FORCE
	@mkdir -p $(@D)
	$(Q){ $(foreach l,blis:$(BLIS_LIB) libyaml:$(filter %.a,$(YAML_LIB)) libmd:$(filter %.a,$(MD_LIB)),$(if $(filter-out %:,$l),echo $(subst :, ,$l);)) \
	    echo xxhash $$(echo '#include <xxhash.h>' | $(CC) -E -xc - | sed -n 's/^# 1 "\(.*xxhash.h\)".*/\1/p' | head -n 1); \
	    for l in $(CARRIED); do echo $$l $$($(CC) -print-file-name=lib$$l.so); done; } > $(NEW) $(PUT)

# Installed as a user does, into an environment that sees Debian's packages.
PY_SRC := $(wildcard python/*.py python/*.toml python/*.c python/kernbench/*.py)
$(PY)/venv/done: python/python.mk $(PY_SRC) $(QUERY_LIB) $(SHARED).$(SO_VERSION) $(wildcard runtime/include/*.h topologies/*.yaml) runtime/cli/query/query.h
	@$(MAKE) python-parts
	@printf "  PIP  %s\n" $(PY)/venv
	$(Q)rm -rf $(PY)/venv && $(PYTHON) -m venv --system-site-packages $(PY)/venv && \
	    KERNBENCH_BUILD='$(abspath $(B))' $(PY)/venv/bin/pip install --quiet --no-build-isolation --no-index --no-deps ./python
	@touch $@

## python: the Python package, installed into build/_python/venv
.PHONY: python
python: setup
	@.ci/install $(PYTHON_PACKAGES)
	@$(MAKE) $(PARALLEL) $(PY)/venv/done

## check-python: tests of the Python package; the same last line
.PHONY: check-python
check-python: python
	@$(MAKE) $(PARALLEL) $(ANY)
	@B=$(B) tests/run.sh tests/python/run.sh
