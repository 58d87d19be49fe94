# python.mk -- the Python package: what its extension is linked with, and its tests.

PYTHON_PACKAGES := python3 python3-cffi python3-numpy python3-pandas python3-pip python3-venv python3-wheel python3-setuptools python3-pytest python3-dev python3-matplotlib python3-nbconvert python3-ipykernel
# Debian's python3: its packages are not those of another one that PATH may have first.
PYTHON ?= /usr/bin/python3
PY := $(B)/_python

# The commands, for programs that run them: cli/query/query.h. libkernbench.so has the rest.
QUERY_LIB := $(PY)/libquery.a
$(QUERY_LIB): $(CLI_OBJ) $(patsubst %.c,$(O)/%.o,$(filter-out $(BASE_OF_CLI),$(wildcard runtime/base/*.c)))
	$(archive)

# What python/setup.py asks for. Debian's archives are not for shared objects: the wheel carries the
# shared libraries of the command line beside ours.
.PHONY: python-parts
python-parts: $(QUERY_LIB) $(SHARED) $(PY)/libs
$(PY)/libs: FORCE
	$(call keep,$(patsubst lib%.a,-l%,$(notdir $(CLI_LIBS))) $(YAML_LIB) $(MD_LIB))

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
