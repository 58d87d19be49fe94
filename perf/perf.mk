# perf.mk -- what measures: `make bench` and its relatives.

# Machines are of version 1 of the keys, so that speeds can be compared with earlier ones; bench_v2 and
# its variants are what is shipped.
P := $(B)/_p
PERF := $(patsubst %,$(P)/%,txn spawn rows parts empty co mm1 kernel oplog phase2 many machines banks router windows)
ROUTERS := bench_router_packets bench_router_flits
BENCH_TOPOLOGIES := cube8 mesh1024 bench_c4 bench_c64 bench_fifo bench_fifo_c4 bench_fifo_c64 bench_v2 bench_v2_c4 bench_v2_c64 bench_slots bench_banks $(ROUTERS)
# variant: TOPOLOGY, NAME, SET
variant = $(MAKE) topology TOPO=tests/machines/$(1).yaml NAME=$(2) SET='$(3)' PLACE='$(M)'
channels = cube.pe.pe_dma.read_channels=$(1) cube.pe.pe_dma.write_channels=$(1)
fifo := contention.links=fifo

$(O)/perf/%.o: INCLUDES += $(BENCH_TOPOLOGIES:%=-I$(M)/%)
$(PERF): $(P)/%: $(O)/perf/%.o $(CLI) $(LIB)
	$(link)
$(P)/txn: $(O)/perf/hold.o $(foreach t,$(filter-out bench_slots bench_banks $(ROUTERS),$(BENCH_TOPOLOGIES)),$(M)/$(t)/lib$(t).a)
$(P)/parts $(P)/oplog $(P)/phase2 $(P)/many: $(M)/cube8/libcube8.a
$(P)/router: $(foreach t,$(ROUTERS),$(M)/$(t)/lib$(t).a)
$(P)/banks: $(M)/bench_banks/libbench_banks.a
$(P)/kernel: $(M)/cube8/libcube8.a $(M)/mesh1024/libmesh1024.a $(M)/bench_slots/libbench_slots.a

$(P)/collectives: $(O)/perf/collectives.o $(O)/perf/svg_axis.o $(CLI) $(LIB)
	$(link)

## collectives: times of all collectives by size, links fifo and ideal, beside their bounds, into collectives.csv and .svg under build/; how often auto is not the fastest
.PHONY: collectives
collectives: setup $(P)/collectives
	$(P)/collectives $(B)/collectives.csv $(B)/collectives.svg

# A simulator whose llm says what it spends its time for.
$(P)/llm_parts: private ALL_CFLAGS += $(foreach f,search_tiles run_alone run_each causes_alone causes_of,-Wl,--wrap=$(f))
$(P)/llm_parts: $(O)/perf/llm_parts.o $(CLI) $(LIB)
	$(link)

## bench-llm: processor seconds of all shipped models, a prompt and a token, on machines of up to 64 ranks; MODELS='llama-3.2-1b', MACHINES=FILES takes some; hours
.PHONY: bench-llm
bench-llm: setup $(P)/llm_parts
	@B=$(B) perf/llm_table.sh $(MODELS)

# bench_variant: NAME, SET; shipped_variant: the same of topologies/cube8.yaml
bench_variant = $(call variant,cube8,$(1),$(2))
shipped_variant = $(MAKE) topology TOPO=topologies/cube8.yaml NAME=$(1) SET='$(2)' PLACE='$(M)'

.PHONY: perf
perf: $(PERF)

# Machines of other shapes, links fifo, to compare with bench_fifo.
one_way := [{name: a, dirs: [E, S], order: xy}, {name: b, dirs: [N, W], order: yx}]

# router_variant: NAME, SET
router_variant = $(MAKE) topology TOPO=perf/router.yaml NAME=$(1) SET='$(2)' PLACE='$(M)'

.PHONY: bench-routers
bench-routers:
	+@$(call router_variant,bench_router_packets,)
	+@$(call router_variant,bench_router_flits,contention.segment_bytes=16 contention.packet_bytes=0 contention.buffer_bytes=128)

.PHONY: bench-topologies
bench-topologies: bench-routers
	+@for t in cube8 tray32 mesh1024; do \
	    $(call make_machine,$$t) || exit; done
	+@$(call bench_variant,bench_c4,$(call channels,4))
	+@$(call bench_variant,bench_c64,$(call channels,64))
	+@$(call bench_variant,bench_fifo,$(fifo))
	+@$(call bench_variant,bench_fifo_c4,$(fifo) $(call channels,4))
	+@$(call bench_variant,bench_fifo_c64,$(fifo) $(call channels,64))
	+@$(call shipped_variant,bench_v2,)
	+@$(call shipped_variant,bench_v2_c4,$(call channels,4))
	+@$(call shipped_variant,bench_v2_c64,$(call channels,64))
	+@$(call bench_variant,bench_early,$(fifo) cube.hbm.hold=own)
	+@$(call bench_variant,bench_ring,$(fifo) sip.cube_mesh.wrap=x)
	+@$(call bench_variant,bench_missing,$(fifo) missing=[c5] broken=[c2-c3])
	+@printf 'sip: {cube_mesh: {w: 4, h: 2, wrap: xy}, planes: %s}\nkernbench: 1\nname: planes\ncontention: {links: fifo}\n' \
	    '$(one_way)' >$(B)/planes.yaml
	+@$(MAKE) topology TOPO=$(B)/planes.yaml NAME=bench_planes PLACE='$(M)'
	+@$(call bench_variant,bench_banks,cube.hbm.model=banks $(call channels,64))
	+@$(call bench_variant,bench_slots,cube.pe.pe_ipcq.slots=4096 cube.pe.pe_ipcq.slot_bytes=64)

# Two programs once more without what is counted for kb_sim_utilization(), to see what that costs.
NO_STATS := B='$(B)/_nostats' CFLAGS='$(CFLAGS) -DKB_NO_STATS'
.PHONY: bench-built
bench-built: setup
	@$(MAKE) bench-topologies
	@$(MAKE) perf
	@$(MAKE) $(NO_STATS) bench-topologies
	@$(MAKE) $(NO_STATS) $(B)/_nostats/_p/txn $(B)/_nostats/_p/kernel

## bench: measures engines, event core, kernels, Phase 2, replay, starting and building against their aims; a few minutes
.PHONY: bench
bench: bench-built
	@B=$(B) CC='$(CC)' perf/run.sh

## bench-python: what a call costs in a kernel in Python; instructions of a closed loop by Simulation, at most 1.1 times those in C
.PHONY: bench-python
bench-python: python $(P)/windows
	@.ci/install $(VALGRIND_PACKAGES)
	$(PY)/venv/bin/python perf/python_call.py 5
	@B=$(B) PY=$(PY)/venv/bin/python perf/windows.sh

## bench-against: the rows of perf/txn.c and some commands by this tree and by the commit BEFORE, in turns; WORDS='fused fifo' takes some rows
.PHONY: bench-against
bench-against: setup
	+@B=$(B) perf/against.sh '$(BEFORE)' $(WORDS)

## bench-large: replays ten million rows, for the memory that a row takes; a timeline of ten million events; a copy by 131072 PEs
.PHONY: bench-large
bench-large: bench-built
	+@$(call variant,mesh1024,bench_128x128,sip.cube_mesh.w=128 sip.cube_mesh.h=128)
	@B=$(B) CC='$(CC)' perf/run.sh large

SIZE_MACHINES := size_1 size_8 size_32 size_256 sips_256 size_1024 sips_2048 size_16384
# size_variant: NAME, SIPs, columns and rows of cubes
size_variant = $(call bench_variant,$(1),sips=$(2) sip.cube_mesh.w=$(3) sip.cube_mesh.h=$(4))

## bench-size: commands and traffic on machines of 1 to 16384 cubes: time, memory, how they grow
.PHONY: bench-size
bench-size: setup
	+@$(call size_variant,size_1,1,1,1)
	+@$(call size_variant,size_8,1,4,2)
	+@$(call size_variant,size_32,1,8,4)
	+@$(call size_variant,size_256,1,16,16)
	+@$(call size_variant,sips_256,256,1,1)
	+@$(call size_variant,size_1024,1,32,32)
	+@$(call size_variant,sips_2048,256,4,2)
	+@$(call size_variant,size_16384,1,128,128)
	@$(MAKE) $(P)/spawn
	@B=$(B) CC='$(CC)' SIZE_MACHINES='$(SIZE_MACHINES)' perf/run.sh size

# -- beside others -----------------------------------------------------------------------------

# The same transactions by simulators of others; a peer that cannot be built is reported as missing.
PEER_PACKAGES := libsystemc-dev libsimgrid-dev python3-simpy3 g++
CXX := $(if $(filter default,$(origin CXX)),g++,$(CXX))
CXX_FLAGS := -std=c++17 $(filter-out $(PIC) -std=% -Wstrict-prototypes -Wmissing-prototypes -Werror=implicit-function-declaration -Wshadow -Wconversion,$(ALL_CFLAGS))

PEER_TOPOLOGIES := cube8 bench_c160 bench_v2 bench_v2_c160
$(O)/perf/peers/%.o: INCLUDES += $(PEER_TOPOLOGIES:%=-I$(M)/%)
$(P)/export: $(O)/perf/peers/export.o $(foreach t,$(PEER_TOPOLOGIES),$(M)/$(t)/lib$(t).a) $(LIB)
	$(link)

$(P)/systemc $(P)/systemc_fifo: LIBS_OF_PEER := -lsystemc
$(P)/simgrid: LIBS_OF_PEER := -lsimgrid
$(P)/systemc $(P)/systemc_fifo $(P)/simgrid: $(P)/%: perf/peers/%.cpp perf/peers/peer.h $(O)/flags
	@mkdir -p $(@D)
	$(call say,C++)
	$(Q)$(CXX) $(CXX_FLAGS) -o $(NEW) $< $(LIBS_OF_PEER) $(PUT)

.PHONY: peers
peers: $(P)/export
	@-$(MAKE) $(P)/systemc
	@-$(MAKE) $(P)/systemc_fifo
	@-$(MAKE) $(P)/simgrid

## bench-peers: the same transactions by SystemC, SimGrid and SimPy, times and results compared
.PHONY: bench-peers
bench-peers: setup
	@-for p in $(PEER_PACKAGES); do .ci/install $$p; done
	+@$(call make_machine,cube8)
	+@$(call bench_variant,bench_c160,$(call channels,160))
	+@$(call shipped_variant,bench_v2,)
	+@$(call shipped_variant,bench_v2_c160,$(call channels,160))
	@$(MAKE) peers
	@B=$(B) CC='$(CC)' perf/peers/run.sh
