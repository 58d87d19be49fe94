/* error.h -- a run of kernels ends with a mistake of a kernel, or for want of memory. */
#ifndef ERROR_H
#define ERROR_H
#include "kernels/kernels.h"
#include "base/guard.h"

/*
 * Ends the run as a mistake of the kernel: "kernel gemm on c0.pe3: tl_load at file:12: ...". It
 * returns; code that runs on the kernel's stack calls kernel_leave() then.
 */
KERNELS_RARE void kernel_error(struct tl_ctx *pe, const char *call, tl_here here,
                               const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Ends the run: the kernel's stack was too small; a signal has ended the kernel. */
KERNELS_RARE void kernel_overflowed(struct tl_ctx *pe);
KERNELS_RARE void kernel_crashed(struct tl_ctx *pe, struct crash crash);
KERNELS_RARE void kernel_no_memory(struct tl_ctx *pe);
KERNELS_RARE _Noreturn void kernel_leave(struct tl_ctx *pe);

/* Writes "kernel gemm on c0.pe3: tl_load at file.c:12: "; returns its length, at most `size`. */
KERNELS_RARE size_t error_place(const struct tl_ctx *pe, const char *call, tl_here here, char *text,
                                size_t size);

#endif
