# mpi.mk -- kernbench-mpi, the command line over the ranks of an MPI job.

MPICC ?= mpicc
MPI := $(B)/kernbench-mpi
MPI_OBJ := $(O)/runtime/mpi/kernbench_mpi.o $(O)/runtime/mpi/ranks.o
$(MPI_OBJ): INCLUDES += $(shell $(MPICC) --showme:compile 2>/dev/null)

## mpi: kernbench-mpi, for mpirun and srun: sweep, load, study and --vary over many machines; installs OpenMPI
.PHONY: mpi
mpi: setup-mpi
	+@$(MAKE) $(MPI)
setup-mpi:
	@.ci/install $(BUILD_PACKAGES) libopenmpi-dev openmpi-bin
$(MPI): $(MPI_OBJ) $(CLI) $(LIB)
	$(call link,$(shell $(MPICC) --showme:link))

## check-mpi: tests of kernbench-mpi: on 1, 2 and 5 ranks the bytes of one process
.PHONY: check-mpi
check-mpi: mpi $(ANY)
	@B=$(B) tests/run.sh tests/mpi/mpi.sh
