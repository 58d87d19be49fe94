# install.mk -- `make install`: what is put under PREFIX.

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
	install -m 644 runtime/include/kernbench.h runtime/include/component.h runtime/include/tl.h runtime/include/tl_clang.h $(T)/$(N).h $(IN)include'
	install -m 644 $(PUBLIC_LIB) $(T)/lib$(N).a $(SHARED).$(SO_VERSION) $(T)/lib$(N).so.$(SO_VERSION) $(IN)lib'
	cp -P $(SHARED) $(SHARED).$(SO) $(T)/lib$(N).so $(T)/lib$(N).so.$(SO) $(IN)lib'
	$(call put_pages,$(KBGEN),kbgen)
	$(call put_pages,$(RUNNER) $(T)/$(N),$(N))
	$(call put_pages,$(RUNNER) $(ANY),kernbench)
	$(pc) templates/kernbench.pc.m4 > $(IN)lib/pkgconfig/kernbench.pc'
	$(pc) templates/topo.pc.m4 > $(IN)lib/pkgconfig/$(N).pc'
