/*
 * kernels.c -- engines, kernels and PEs as one unit of translation.
 *
 * A load passes through most of these files, in steps of a few instructions: compiled apart, a
 * quarter of its time goes into the calls between them. The Makefile reads this list.
 */
#define KERNELS_UNIT
#include "pe/pe_engine.c"
#include "kernels/requests.c"
#include "kernels/error.c"
#include "kernels/pool.c"
#include "kernels/flight.c"
#include "kernels/slots.c"
#include "kernels/operands.c"
#include "kernels/service.c"
#include "kernels/accesses.c"
#include "pe/pe_tcm.c"
#include "pe/pe_dma.c"
#include "pe/pe_fetch_store.c"
#include "pe/pe_gemm.c"
#include "pe/pe_math.c"
#include "kernels/compute.c"
#include "kernels/acc.c"
#include "pe/pe_scheduler.c"
#include "pe/pe_ipcq_queue.c"
#include "pe/pe_ipcq.c"
#include "kernels/barrier.c"
#include "pe/pe_cpu.c"
#include "kernels/deadlock.c"
#include "kernels/launch.c"
#include "kernels/tl_check.c"
#include "kernels/tl_program.c"
#include "kernels/tl_tensor.c"
#include "kernels/tl_value.c"
#include "kernels/tl_print.c"
#include "kernels/tl_memory.c"
#include "kernels/tl_messages.c"
#include "kernels/tl_product.c"
#include "kernels/tl_math.c"
