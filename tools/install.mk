# install.mk -- `make install` and `make uninstall`: what is put under PREFIX, and taken away.

## install: simulator, kernbench, kbgen, manual pages, completions, libraries, headers and pkg-config files of TOPO under PREFIX (default /usr/local)
IN = '$(subst ','\'',$(DESTDIR)$(PREFIX))/
pc = LC_ALL=C m4 -P -E -E -Dgen_prefix=$(call quoted,[[$(PREFIX)]]) -Dgen_private='$(if $(YAML_LIB),-lyaml)$(if $(filter -l%,$(MD_LIB)), -lmd)' -Dgen_version='$(VERSION)' -Dgen_name='$(N)' templates/base.m4
# Manual page and completions of a program, which prints them itself: PROGRAM, its name
define put_pages
	install -d $(IN)share/man/man1' $(IN)share/bash-completion/completions' $(IN)share/zsh/site-functions' $(IN)share/fish/vendor_completions.d'
	$(1) --man > $(IN)share/man/man1/$(2).1'
	$(1) --completion bash > $(IN)share/bash-completion/completions/$(2)'
	$(1) --completion zsh > $(IN)share/zsh/site-functions/_$(2)'
	$(1) --completion fish > $(IN)share/fish/vendor_completions.d/$(2).fish'
endef
.PHONY: install
install: topology $(ANY) $(PUBLIC_LIB)
	@CC='$(CC)' tools/taken.sh '$(N)' $(call quoted,$(DESTDIR)$(PREFIX))
	install -d $(IN)bin' $(IN)include' $(IN)lib/pkgconfig'
	install -m 755 $(KBGEN) $(ANY) $(T)/$(N) $(IN)bin'
	install -m 644 runtime/include/kernbench.h runtime/include/component.h runtime/include/tl.h runtime/include/tl_math.h runtime/include/tl_clang.h runtime/include/kb_coll.h $(T)/$(N).h $(IN)include'
	install -m 644 $(PUBLIC_LIB) $(T)/lib$(N).a $(SHARED).$(SO_VERSION) $(T)/lib$(N).so.$(SO_VERSION) $(IN)lib'
	cp -P $(SHARED) $(SHARED).$(SO) $(T)/lib$(N).so $(T)/lib$(N).so.$(SO) $(IN)lib'
	$(call put_pages,$(KBGEN),kbgen)
	$(call put_pages,$(RUNNER) $(T)/$(N),$(N))
	$(call put_pages,$(RUNNER) $(ANY),kernbench)
	$(pc) templates/kernbench.pc.m4 > $(IN)lib/pkgconfig/kernbench.pc'
	$(pc) templates/topo.pc.m4 > $(IN)lib/pkgconfig/$(N).pc'
	install -d $(IN)share/kernbench/topologies' $(IN)share/kernbench/machines' $(IN)share/doc/kernbench/docs/pictures' $(IN)share/doc/kernbench/docs/tutorial'
	install -m 644 topologies/*.yaml $(IN)share/kernbench/topologies'
	install -m 644 docs/pictures/*.svg docs/pictures/*.png $(IN)share/doc/kernbench/docs/pictures'
	install -m 644 docs/*.md $(IN)share/doc/kernbench/docs'
	install -m 644 docs/tutorial/*.md $(IN)share/doc/kernbench/docs/tutorial'
	install -m 644 README.md CHANGELOG.md LICENSE $(IN)share/doc/kernbench'
	install -m 644 tools/gdb.py $(IN)share/kernbench'
	printf '%s\n' $(OF_MACHINE) > $(IN)share/kernbench/machines/$(N)'

# Files of one machine, and of all of them, below PREFIX.
pages_of = share/man/man1/$(1).1 share/bash-completion/completions/$(1) share/zsh/site-functions/_$(1) share/fish/vendor_completions.d/$(1).fish
libs_of = $(addprefix lib/lib$(1),.a .so .so.$(SO) .so.$(SO_VERSION)) lib/pkgconfig/$(1).pc
OF_MACHINE = bin/$(N) include/$(N).h $(call libs_of,$(N)) $(call pages_of,$(N)) share/kernbench/machines/$(N)
OF_ALL = bin/kbgen bin/kernbench $(patsubst runtime/%,%,$(wildcard runtime/include/*.h)) $(call libs_of,kernbench) \
    $(call pages_of,kbgen) $(call pages_of,kernbench)

## uninstall: takes away what install has put under PREFIX for TOPO, and with the last machine all the rest
.PHONY: uninstall
uninstall:
	@test -f $(IN)share/kernbench/machines/$(N)' || { echo "make: no machine '$(N)' is installed in" $(IN)' >&2; exit 2; }
	cd $(IN)' && rm -f $(OF_MACHINE)
	cd $(IN)' && { rmdir share/kernbench/machines 2>/dev/null || exit 0; \
	    rm -rf $(OF_ALL) share/kernbench share/doc/kernbench; \
	    rmdir -p --ignore-fail-on-non-empty bin include lib/pkgconfig share/doc share/man/man1 share/bash-completion/completions \
	        share/zsh/site-functions share/fish/vendor_completions.d 2>/dev/null; true; }
