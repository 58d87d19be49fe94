/* tl.h -- what a kernel calls: memory, products, time; tl_math.h has the rest of arithmetic. */
#ifndef TL_H
#define TL_H
#include "kernbench.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * A kernel is a plain function, run once on every PE. It takes no simulated time itself; the calls
 * below do, as each says:
 *
 *   command   is issued pe_cpu + pe_scheduler overhead after the call, then does its work
 *   free      takes no time and leaves no record
 *
 * Results lie in the PE's TCM, 64-byte aligned, until tl_free(), tl_release() or the kernel's end.
 * Results of loads have data; results of arithmetic are pending: their bytes exist after Phase 2
 * only. A mistake ends the run with KB_KERNEL_ERROR: the text names kernel, PE, call and line.
 *
 * Shapes are lists of extents, KB_SHAPE(32, 64); addresses are global (kb_address()); tensors are
 * handles, which belong to the PE. Each call is a macro that adds its place: the file, and the line
 * of its name, with gcc and clang. All calls are for the kernel that was given `tl`, before it
 * returns.
 *
 * C leaves open which argument of a call is evaluated first: two commands among the arguments of a
 * third are issued in another order by another compiler. One statement, one command.
 */
typedef struct tl_tensor tl_tensor;

typedef struct tl_here {
    const char *file;
    int line;
} tl_here;

#ifdef __cplusplus
#define TL_HERE                                                                                    \
    tl_here                                                                                        \
    {                                                                                              \
        __FILE__, __LINE__                                                                         \
    }
#else
#define TL_HERE ((tl_here){__FILE__, __LINE__})
#endif

/* -- where am I (free) ---------------------------------------------------------------------- */

/* Axis 0: the PE in its cube; 1: the cube in its SIP; 2: the SIP. Other axes: an error. */
#define tl_program_id(tl, axis)   tl_program_id_at(TL_HERE, tl, axis)
#define tl_num_programs(tl, axis) tl_num_programs_at(TL_HERE, tl, axis)
int64_t tl_program_id_at(tl_here here, tl_ctx *tl, int axis);
int64_t tl_num_programs_at(tl_here here, tl_ctx *tl, int axis);

uint32_t tl_pe(const tl_ctx *tl);                 /* its number over all SIPs and cubes */
const kb_topology *tl_topology(const tl_ctx *tl); /* where it runs */
double tl_time(const tl_ctx *tl);                 /* now, in ns */

/* Operations from here on carry `name` (copied) in log and statistics; NULL: none. */
#define tl_region(tl, name) tl_region_at(TL_HERE, tl, name)
void tl_region_at(tl_here here, tl_ctx *tl, const char *name);

/* Memory of the host for the kernel's own use, zeroed, freed with the PE. */
#define tl_alloc_host(tl, nbytes) tl_alloc_host_at(TL_HERE, tl, nbytes)
void *tl_alloc_host_at(tl_here here, tl_ctx *tl, size_t nbytes);

/* -- overlap (free) -------------------------------------------------------------------------- */

/*
 * From tl_async(tl, true) on every command returns at its issue, with its result in flight; only
 * tl_barrier(), tl_atomic_add() and _cas() still block, as they give the kernel something. An
 * operand may be in flight: the command starts when the commands that make its operands have ended.
 * Only handles order: a load of an address does not wait for this PE's own store to it.
 *
 * tl_wait() then takes any tensor, any number of times, and tl_free() one that is in flight or that
 * commands under way read: its room comes back when the last FETCH of it has ended, its stores and
 * sends are done. A command, or tl_alloc(), that finds no room in the TCM waits for that. Messages
 * to one PE under one tag set out in the order of their calls.
 *
 * With tl_async(tl, false) commands block again. That is how a kernel begins.
 */
#define tl_async(tl, on) tl_async_at(TL_HERE, tl, on)
void tl_async_at(tl_here here, tl_ctx *tl, bool on);

/* -- tensors (free) ------------------------------------------------------------------------- */

/* A tensor where it lies, outside the own TCM: an operand of tl_composite(). Bound when used. */
#define tl_ref(tl, address, dtype, shape) tl_ref_at(TL_HERE, tl, address, dtype, shape)
tl_tensor *tl_ref_at(tl_here here, tl_ctx *tl, uint64_t address, kb_dtype dtype, kb_shape shape);

/* Room in the own TCM, for others to store to; what it holds is read when it is used. */
#define tl_alloc(tl, dtype, shape) tl_alloc_at(TL_HERE, tl, dtype, shape)
tl_tensor *tl_alloc_at(tl_here here, tl_ctx *tl, kb_dtype dtype, kb_shape shape);

/* Gives back a tensor and, with its last view, its room in the TCM. */
#define tl_free(tl, x) tl_free_at(TL_HERE, tl, x)
void tl_free_at(tl_here here, tl_ctx *tl, tl_tensor *x);

/* tl_release() gives back all tensors made since the mark. One that tl_keep() was called for
 * survives the next tl_release() that would give it back; tl_keep() returns it. Its views are not
 * kept. */
#define tl_mark(tl)          tl_mark_at(TL_HERE, tl)
#define tl_release(tl, mark) tl_release_at(TL_HERE, tl, mark)
#define tl_keep(tl, x)       tl_keep_at(TL_HERE, tl, x)
uint64_t tl_mark_at(tl_here here, tl_ctx *tl);
void tl_release_at(tl_here here, tl_ctx *tl, uint64_t mark);
tl_tensor *tl_keep_at(tl_here here, tl_ctx *tl, tl_tensor *x);

/*
 * Keeps a tensor for later launches on this PE, in its place in the TCM, under a name (copied),
 * until it is given back by tl_free(), or another one is kept under that name; tl_release() leaves
 * it. It was loaded or computed, is no view, and its command has ended. Returns it. In a launch
 * that does not ask for it its room stays taken; all other tensors end with their launch.
 * tl_persisted() gives the tensor of that name, or NULL if there is none.
 */
#define tl_persist(tl, name, x) tl_persist_at(TL_HERE, tl, name, x)
#define tl_persisted(tl, name)  tl_persisted_at(TL_HERE, tl, name)
tl_tensor *tl_persist_at(tl_here here, tl_ctx *tl, const char *name, tl_tensor *x);
tl_tensor *tl_persisted_at(tl_here here, tl_ctx *tl, const char *name);

/* A number that takes the type of the tensors it is used with; not for the first operand alone. */
#define tl_scalar(tl, value) tl_scalar_at(TL_HERE, tl, value)
tl_tensor *tl_scalar_at(tl_here here, tl_ctx *tl, double value);

/* The same bytes seen in another shape of as many elements: a view. */
#define tl_reshape(tl, x, shape) tl_reshape_at(TL_HERE, tl, x, shape)
tl_tensor *tl_reshape_at(tl_here here, tl_ctx *tl, tl_tensor *x, kb_shape shape);

/* Elements first to first + n - 1 along an axis, in the TCM: a view. A FETCH of it takes its runs
 * of bytes, in whole lines (cube.pe.pe_tcm.line_bytes). All commands take it but composites, and
 * tl_reshape() where the elements of each new axis lie evenly. */
#define tl_slice(tl, x, axis, first, n) tl_slice_at(TL_HERE, tl, x, axis, first, n)
tl_tensor *tl_slice_at(tl_here here, tl_ctx *tl, tl_tensor *x, int axis, int64_t first, int64_t n);

/*
 * Views of the same kind. tl_permute(): axis i is axis axes[i] of x; `axes` has each once, as
 * (const int[]){1, 0}. tl_expand(): extents of 1, and those that are missing in front, become those
 * of `shape`, as in numpy; a FETCH takes what is there several times once.
 */
#define tl_permute(tl, x, axes) tl_permute_at(TL_HERE, tl, x, axes)
#define tl_expand(tl, x, shape) tl_expand_at(TL_HERE, tl, x, shape)
tl_tensor *tl_permute_at(tl_here here, tl_ctx *tl, tl_tensor *x, const int *axes);
tl_tensor *tl_expand_at(tl_here here, tl_ctx *tl, tl_tensor *x, kb_shape shape);

kb_shape tl_shape(const tl_tensor *x);
kb_dtype tl_dtype(const tl_tensor *x);
uint64_t tl_address(const tl_tensor *x); /* global */

/*
 * The bytes of a loaded tensor, row-major, aligned to its type, until it is given back; element i
 * of it as a double. Of tl_alloc(): what it holds now, until the next such call.
 * Errors: a pending tensor, a load not yet waited for, one not in the TCM, an index out of range.
 */
#define tl_data(tl, x)   tl_data_at(TL_HERE, tl, x)
#define tl_get(tl, x, i) tl_get_at(TL_HERE, tl, x, i)
const void *tl_data_at(tl_here here, tl_ctx *tl, tl_tensor *x);
double tl_get_at(tl_here here, tl_ctx *tl, tl_tensor *x, int64_t i);

/*
 * Element i, in C order, of any tensor in the TCM as a double, or all of it row-major, until it is
 * given back: commands. What is pending is computed, so a kernel may branch on it; that needs
 * option `values` of the simulation, which `run` sets by itself. Integers above 2^53: tl_values().
 *
 * time    the wait for x, then FETCH of the element, or of all
 * errors  a pending value without the option, a tensor not in the TCM, a scalar, an index out of
 *         range
 */
#define tl_value(tl, x, i) tl_value_at(TL_HERE, tl, x, i)
#define tl_values(tl, x)   tl_values_at(TL_HERE, tl, x)
double tl_value_at(tl_here here, tl_ctx *tl, tl_tensor *x, int64_t i);
const void *tl_values_at(tl_here here, tl_ctx *tl, tl_tensor *x);

/*
 * For debugging: type, shape and values of a tensor, at most 64 of them, as a line on stderr with
 * kernel, PE and place. What is not known now is said in their place: a result is "pending", that
 * of a command under way "in flight". Free of time, and computes nothing.
 */
#define tl_print(tl, x) tl_print_at(TL_HERE, tl, x)
void tl_print_at(tl_here here, tl_ctx *tl, tl_tensor *x);

/* -- memory (commands) ---------------------------------------------------------------------- */

/*
 * Loads from any HBM, SRAM or another PE's TCM. The tensor holds what the memory held when the
 * last byte was read; if some of that was pending, so is the tensor. tl_load_async() returns when
 * the command is issued; its tensor may be used after tl_wait().
 * With strides (bytes from 0 on, one per axis, as numpy has them) elements are gathered into a
 * contiguous tensor, by one transaction of its bytes at its first element.
 *
 * time    a read on a DMA read channel
 * errors  bytes never written, a range over two slices, the own TCM, misaligned, TCM exhausted
 */
#define tl_load(tl, address, dtype, shape)                                                         \
    tl_load_at(TL_HERE, tl, address, dtype, shape, NULL, false)
#define tl_load_async(tl, address, dtype, shape)                                                   \
    tl_load_at(TL_HERE, tl, address, dtype, shape, NULL, true)
#define tl_load_strided(tl, address, dtype, shape, strides)                                        \
    tl_load_at(TL_HERE, tl, address, dtype, shape, strides, false)
#define tl_load_strided_async(tl, address, dtype, shape, strides)                                  \
    tl_load_at(TL_HERE, tl, address, dtype, shape, strides, true)
tl_tensor *tl_load_at(tl_here here, tl_ctx *tl, uint64_t address, kb_dtype dtype, kb_shape shape,
                      const int64_t *strides, bool async);

/*
 * Stores `x`, which may be pending. Readers see it from the issue of the command on.
 * tl_store_async() returns when the command is issued, with the tensor where it now lies, to be
 * waited for.
 */
#define tl_store(tl, address, x)       (void)tl_store_at(TL_HERE, tl, address, x, NULL, false)
#define tl_store_async(tl, address, x) tl_store_at(TL_HERE, tl, address, x, NULL, true)
#define tl_store_strided(tl, address, x, strides)                                                  \
    (void)tl_store_at(TL_HERE, tl, address, x, strides, false)
#define tl_store_strided_async(tl, address, x, strides)                                            \
    tl_store_at(TL_HERE, tl, address, x, strides, true)
tl_tensor *tl_store_at(tl_here here, tl_ctx *tl, uint64_t address, tl_tensor *x,
                       const int64_t *strides, bool async);

/*
 * The same of bytes that lie anywhere in slices and SRAMs, one piece behind the other in the
 * tensor: one transaction, whose parts go to all memories at once. What a list of loads names twice
 * is read twice; the pieces of a store must not overlap. The list is read by the call, and under
 * tl_async() these calls return at the issue.
 *
 * errors  no pieces, or more than 2^20; their bytes are not those of the tensor; a piece in a TCM
 */
typedef struct tl_run {
    uint64_t address, nbytes;
} tl_run;
#define tl_load_list(tl, runs, n, dtype, shape) tl_load_list_at(TL_HERE, tl, runs, n, dtype, shape)
#define tl_store_list(tl, runs, n, x)           (void)tl_store_list_at(TL_HERE, tl, runs, n, x)
tl_tensor *tl_load_list_at(tl_here here, tl_ctx *tl, const tl_run *runs, uint32_t n, kb_dtype dtype,
                           kb_shape shape);
tl_tensor *tl_store_list_at(tl_here here, tl_ctx *tl, const tl_run *runs, uint32_t n, tl_tensor *x);

/*
 * Stores `x` to `n` addresses at once, 2 to KB_TARGETS_MAX, each in another memory, all of one
 * kind: a multicast. Links that their ways share carry its bytes once. tl_store_all_async() returns
 * when the command is issued, with the tensor where it now lies at the first address, to be waited
 * for.
 *
 * errors  as tl_store(); a target in several slices; contention.links: router
 */
#define tl_store_all(tl, addresses, n, x)       (void)tl_store_all_at(TL_HERE, tl, addresses, n, x, false)
#define tl_store_all_async(tl, addresses, n, x) tl_store_all_at(TL_HERE, tl, addresses, n, x, true)
tl_tensor *tl_store_all_at(tl_here here, tl_ctx *tl, const uint64_t *addresses, uint32_t n,
                           tl_tensor *x, bool async);

/*
 * Loads the sum of the tensors at `n` addresses, as tl_store_all() has them: their data join on
 * their way. They are added in the order of the addresses, floats smaller than f32 in f32, and
 * rounded once; integers wrap. The sum is pending if one of them is.
 */
#define tl_load_sum(tl, addresses, n, dtype, shape)                                                \
    tl_load_sum_at(TL_HERE, tl, addresses, n, dtype, shape)
tl_tensor *tl_load_sum_at(tl_here here, tl_ctx *tl, const uint64_t *addresses, uint32_t n,
                          kb_dtype dtype, kb_shape shape);

/*
 * Rows of a table by their numbers, [n, row...]: row i lies at base + index[i] * stride, in bytes.
 * One list of n runs.
 */
#define tl_load_rows(tl, base, dtype, row, stride, index, n)                                       \
    tl_load_rows_at(TL_HERE, tl, base, dtype, row, stride, index, n)
tl_tensor *tl_load_rows_at(tl_here here, tl_ctx *tl, uint64_t base, kb_dtype dtype, kb_shape row,
                           int64_t stride, const int64_t *index, uint32_t n);

/*
 * Waits until the command that made `x` has ended: an asynchronous load or store, or a composite.
 * Once for each. It makes nothing ready that is pending.
 */
#define tl_wait(tl, x) tl_wait_at(TL_HERE, tl, x)
void tl_wait_at(tl_here here, tl_ctx *tl, tl_tensor *x);

/*
 * Waits until the commands that were called before under tl_async(true), and read from where `x`
 * lies in the own TCM, have fetched it; stores and sends until they have ended. Then another PE may
 * be told that it may write there. Takes no time of its own.
 */
#define tl_wait_read(tl, x) tl_wait_read_at(TL_HERE, tl, x)
void tl_wait_read_at(tl_here here, tl_ctx *tl, tl_tensor *x);

/* Waits until all commands of this PE have ended, sends among them. Takes no time of its own. */
#define tl_wait_all(tl) tl_wait_all_at(TL_HERE, tl)
void tl_wait_all_at(tl_here here, tl_ctx *tl);

/* -- other PEs (commands) ------------------------------------------------------------------- */

enum { TL_TAGS = 16 };

/*
 * From a PE to another there is a queue for each tag 0..15: a ring of slots in the receiver's
 * memory (cube.pe.pe_ipcq). tl_send() cuts the bytes of `x`, which may be pending, into pieces of a
 * slot (whole elements), and returns when the last is under way; without a free slot it waits.
 * tl_recv() takes them, in order, into a tensor of its own, which is pending if any of it is.
 *
 * time    send: a write to each slot; recv: a FETCH from each (a read of an SRAM or slice), then
 *         the slot is free again for the sender, wires and overheads later
 * errors  bytes that are not those of one send, a PE that does not exist or is oneself, TCM
 *         exhausted
 */
#define tl_send(tl, pe, tag, x)            tl_send_at(TL_HERE, tl, pe, tag, x)
#define tl_recv(tl, pe, tag, dtype, shape) tl_recv_at(TL_HERE, tl, pe, tag, dtype, shape, false)
/* Returns when it is issued; its tensor may be used after tl_wait(). */
#define tl_recv_async(tl, pe, tag, dtype, shape)                                                   \
    tl_recv_at(TL_HERE, tl, pe, tag, dtype, shape, true)
void tl_send_at(tl_here here, tl_ctx *tl, uint32_t pe, int tag, tl_tensor *x);
tl_tensor *tl_recv_at(tl_here here, tl_ctx *tl, uint32_t pe, int tag, kb_dtype dtype,
                      kb_shape shape, bool async);

/* PEs by their numbers over all SIPs and cubes: a list, or with pes NULL `n` from `first` on. */
typedef struct tl_group {
    const uint32_t *pes; /* in any order, each once */
    uint32_t first;
    size_t n;
} tl_group;

tl_group tl_cube(const tl_ctx *tl); /* of the own cube */
tl_group tl_sip(const tl_ctx *tl);  /* of the own SIP */
tl_group tl_all(const tl_ctx *tl);

/*
 * Returns when all of the group have called it as often: each tells the one with the lowest number,
 * and that one all others, over wires and overheads of the routes.
 */
#define tl_barrier(tl, ...) tl_barrier_at(TL_HERE, tl, __VA_ARGS__) /* group */
void tl_barrier_at(tl_here here, tl_ctx *tl, tl_group group);

/*
 * Adds to an integer in a slice or an SRAM and returns what it was before, as one step: a write of
 * the element, done when it has been served.
 */
#define tl_atomic_add(tl, address, dtype, value)                                                   \
    tl_atomic_add_at(TL_HERE, tl, address, dtype, value)
int64_t tl_atomic_add_at(tl_here here, tl_ctx *tl, uint64_t address, kb_dtype dtype, int64_t value);
/* The same, but it becomes `value` if it is `expected`, else it stays. */
#define tl_atomic_cas(tl, address, dtype, expected, value)                                         \
    tl_atomic_cas_at(TL_HERE, tl, address, dtype, expected, value)
int64_t tl_atomic_cas_at(tl_here here, tl_ctx *tl, uint64_t address, kb_dtype dtype,
                         int64_t expected, int64_t value);

/*
 * Combines a tensor with what lies at `address` in a slice or an SRAM, as one step: a write of its
 * bytes, whose effect is there when they have been served. Returns at the issue: with `old` what
 * was there before, of one element, to be waited for as a load; else a place, as tl_store_async().
 * x may be a result, of any type; AND and OR are of integers and bool, ADD not of bool.
 */
typedef enum tl_atomic_op {
    TL_ATOMIC_ADD,
    TL_ATOMIC_MAX,
    TL_ATOMIC_MIN,
    TL_ATOMIC_AND,
    TL_ATOMIC_OR,
    TL_ATOMIC_XCHG
} tl_atomic_op;
#define tl_atomic(tl, op, address, x, old) tl_atomic_at(TL_HERE, tl, op, address, x, old)
tl_tensor *tl_atomic_at(tl_here here, tl_ctx *tl, tl_atomic_op op, uint64_t address, tl_tensor *x,
                        bool old);

/* -- matrices (commands) -------------------------------------------------------------------- */

typedef enum tl_layout { TL_ROW_MAJOR, TL_COL_MAJOR } tl_layout;

/* How a product is to be done; what is left out is the default. */
typedef struct tl_dot_options {
    bool transpose_a, transpose_b;            /* operands are stored [K,M], [N,K] */
    tl_layout layout_a, layout_b, layout_out; /* how the stored shape lies */
    kb_dtype dtype_acc;                       /* default: f32; f64 of f64; integers dtype_out */
    kb_dtype dtype_out; /* default: that of a, or the wider one; i32 of i8, i16, u8, u16 */
} tl_dot_options;

/*
 * a[M,K] x b[K,N], both in the TCM, of one type: tl_dot(tl, a, b, .transpose_b = true). Of two
 * types where cube.pe.pe_fetch_store.convert is true. A batch of products, [B,M,K] x [B,K,N], is
 * one command; an operand of two axes is that of all of them. A batch is row-major.
 *
 * time    FETCH both, ceil(M/mac0)*ceil(K/mac1)*ceil(N/mac2) cycles of pe_gemm (B times as many
 *         for a batch), STORE
 * errors  shapes that do not fit, types that differ, an operand not waited for, TCM exhausted
 */
#define tl_dot(tl, a, b, ...) tl_dot_at(TL_HERE, tl, a, b, TL_DOT_OPTIONS(__VA_ARGS__))
#ifdef __cplusplus
#define TL_DOT_OPTIONS(...)                                                                        \
    tl_dot_options                                                                                 \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#else
#define TL_DOT_OPTIONS(...) (__extension__(tl_dot_options){__VA_ARGS__})
#endif
tl_tensor *tl_dot_at(tl_here here, tl_ctx *tl, tl_tensor *a, tl_tensor *b, tl_dot_options options);

/* Operations: those of a composite, and names of what is logged (ops.def). */
typedef enum tl_op {
    TL_GEMM,
    TL_ADD,
    TL_SUB,
    TL_MUL,
    TL_DIV,
    TL_NEG,
    TL_ABS,
    TL_MAXIMUM,
    TL_MINIMUM,
    TL_FMA,
    TL_CLAMP,
    TL_WHERE,
    TL_LT,
    TL_LE,
    TL_GT,
    TL_GE,
    TL_EQ,
    TL_NE,
    TL_EXP,
    TL_LOG,
    TL_SQRT,
    TL_RSQRT,
    TL_TANH,
    TL_SIGMOID,
    TL_ERF,
    TL_CAST,
    TL_SUM,
    TL_MAX,
    TL_MIN,
    TL_MEAN,
    TL_ARGMAX,
    TL_SOFTMAX,
    TL_TRANSPOSE,
    TL_ARANGE,
    TL_FULL,
    TL_AND,
    TL_OR,
    TL_XOR,
    TL_NOT,
    TL_SHL,
    TL_SHR,
    TL_MOD,
    TL_FLOOR,
    TL_CEIL,
    TL_ROUND,
    TL_ISNAN,
    TL_EXP2,
    TL_LOG2,
    TL_SIN,
    TL_COS,
    TL_ARGMIN,
    TL_TOPK,
    TL_POW,
    TL_CUMSUM,
    TL_SORT,
    TL_TAKE,
    TL_RANDOM,
    TL_FUSED,
    TL_UPDATE,
} tl_op;

enum { TL_EPILOGUES_MAX = 4, TL_OPERANDS_MAX = 3 };

/*
 * One step on the accumulator of a composite, in dtype_acc: acc = op(acc, y, z). An elementwise
 * operation that keeps the type; at most one of y and z is a tensor, in the TCM, of the operands'
 * type or dtype_acc, broadcast to [M,N]; the others are scalars.
 */
typedef struct tl_epilogue {
    tl_op op; /* TL_GEMM, 0: no more steps */
    tl_tensor *y, *z;
} tl_epilogue;

typedef struct tl_composite_args {
    tl_op op;             /* TL_GEMM, or an elementwise operation on equal shapes and scalars */
    tl_tensor *a, *b, *c; /* operands: tl_ref() or in the TCM; math: as many as op takes */
    uint64_t out;         /* global address, not in the own TCM */
    tl_dot_options dot;   /* GEMM */
    tl_epilogue epilogue[TL_EPILOGUES_MAX]; /* GEMM */
} tl_composite_args;

/*
 * A GEMM or an elementwise operation on whole tensors, cut into tiles that pass DMA, FETCH, engine,
 * STORE and DMA as a pipeline. Returns when issued, with the result where it will lie: pending, but
 * visible to all from now on; to be waited for.
 *
 *     tl_tensor *c = tl_composite(tl, .a = a, .b = b, .out = address,
 *                                 .epilogue = {{TL_ADD, bias}, {TL_SIGMOID}});
 */
#ifdef __cplusplus
#define tl_composite(tl, ...) tl_composite_at(TL_HERE, tl, tl_composite_args{__VA_ARGS__})
#else
#define tl_composite(tl, ...) tl_composite_at(TL_HERE, tl, (tl_composite_args){__VA_ARGS__})
#endif
tl_tensor *tl_composite_at(tl_here here, tl_ctx *tl, tl_composite_args args);

/* -- accumulators (commands) ----------------------------------------------------------------- */

/* A matrix in pe_gemm, to which products are added up without their way through the TCM. */
typedef struct tl_acc tl_acc;

/*
 * An accumulator [m, n] of f32 or f64 for floats, of i32 or i64 for integers. Free of time; it
 * takes room in the engine (cube.pe.pe_gemm.acc_kb) until its tl_acc_store() has ended, and waits
 * for such room if it must.
 */
#define tl_acc_new(tl, dtype, m, n) tl_acc_new_at(TL_HERE, tl, dtype, m, n)
tl_acc *tl_acc_new_at(tl_here here, tl_ctx *tl, kb_dtype dtype, int64_t m, int64_t n);

/*
 * The first product sets the accumulator, others are added: acc = round(acc + product), each
 * product as tl_dot() gives it in the accumulator's type. tl_acc_scale() multiplies it by a scalar,
 * or by what is broadcast to [m, n], of the accumulator's type or that of the products' operands.
 * tl_acc_store() gives it, after up to four steps as of a composite, as a tensor of `dtype` in the
 * TCM; the accumulator is used up: tl_acc_store(tl, acc, KB_F16, {TL_ADD, bias}, {TL_TANH}).
 *
 * time    tl_dot_acc: FETCH both, GEMM as of tl_dot(); tl_acc_scale: FETCH v, MATH; tl_acc_store:
 *         of each step FETCH and MATH, then STORE. Engines in the order of the calls
 * errors  shapes and types that do not fit, accumulators without room, one that is not set or was
 *         stored
 */
#define tl_dot_acc(tl, acc, a, b, ...)                                                             \
    tl_dot_acc_at(TL_HERE, tl, acc, a, b, TL_DOT_OPTIONS(__VA_ARGS__))
#define tl_acc_scale(tl, acc, v) tl_acc_scale_at(TL_HERE, tl, acc, v)
#define tl_acc_store(tl, acc, dtype, ...)                                                          \
    tl_acc_store_at(TL_HERE, tl, acc, dtype, TL_EPILOGUES(__VA_ARGS__))
typedef struct tl_epilogues {
    tl_epilogue step[TL_EPILOGUES_MAX];
} tl_epilogues;
#ifdef __cplusplus
#define TL_EPILOGUES(...)                                                                          \
    tl_epilogues                                                                                   \
    {                                                                                              \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#else
#define TL_EPILOGUES(...) (__extension__(tl_epilogues){.step = {__VA_ARGS__}})
#endif
void tl_dot_acc_at(tl_here here, tl_ctx *tl, tl_acc *acc, tl_tensor *a, tl_tensor *b,
                   tl_dot_options options);
void tl_acc_scale_at(tl_here here, tl_ctx *tl, tl_acc *acc, tl_tensor *v);
tl_tensor *tl_acc_store_at(tl_here here, tl_ctx *tl, tl_acc *acc, kb_dtype dtype,
                           tl_epilogues epilogues);

/*
 * The kernel waits for a cost of software, the machine's key software.launch_ns, call_ns or
 * step_ns: 0 where it has none. It issues nothing, and what is under way goes on. A library of
 * collectives pays `call` at its entry and `step` before the sends of each step; every kernel has
 * paid one `launch` when it begins. The breakdown counts `launch` as a cause of its own, the others
 * as dispatch of the next command.
 */
typedef enum tl_cost { TL_COST_LAUNCH, TL_COST_CALL, TL_COST_STEP } tl_cost;

#define tl_pay(tl, cost) tl_pay_at(TL_HERE, tl, cost)
void tl_pay_at(tl_here here, tl_ctx *tl, tl_cost cost);

/* The kernel waits `fs` femtoseconds, for what it knows and has not simulated. The breakdown counts
 * it as tl_pay() of a call. */
#define tl_idle(tl, fs) tl_idle_at(TL_HERE, tl, fs)
void tl_idle_at(tl_here here, tl_ctx *tl, int64_t fs);

/* No message that has come since its last tl_idle() began has been at its ports before; INT64_MAX:
 * none has come. */
int64_t tl_met_fs(const tl_ctx *tl);
/* When bytes have come to its TCM last, or a command other than a store has ended. */
int64_t tl_filled_fs(const tl_ctx *tl);
/* Behind the reads, and the writes, that have set out from its DMA, the next ones set out no
 * earlier: issue_ns after the last. The later of both. */
int64_t tl_paced_fs(const tl_ctx *tl);

/* Bytes of its TCM that slots of queues to it have taken in this launch. */
uint64_t tl_slot_bytes(const tl_ctx *tl);
/*
 * From now on no tensor is placed in the last `nbytes` of its TCM, so that slots of queues to it
 * find room there whenever the first message comes, and tensors have as much room before as after.
 * Until the end of the launch, or the next call.
 */
#define tl_hold_for_slots(tl, nbytes) tl_hold_for_slots_at(TL_HERE, tl, nbytes)
void tl_hold_for_slots_at(tl_here here, tl_ctx *tl, uint64_t nbytes);

/*
 * The ids of commands that the kernel knows and does not simulate are left free, so that those that
 * are simulated have the ids that they would have: it is by ids that transactions take one of
 * several ways (sip.paths). `draws` are in order of (at_fs, pes[index]), none is earlier than now
 * once later_fs is added, and list and `pes` last as long as the launch.
 */
typedef struct tl_draw {
    int64_t at_fs;     /* of the issue of the command */
    uint32_t index, n; /* of its PE in `pes`; ids that it and its stages take */
} tl_draw;

#define tl_skip(tl, draws, n, later_fs, pes) tl_skip_at(TL_HERE, tl, draws, n, later_fs, pes)
void tl_skip_at(tl_here here, tl_ctx *tl, const tl_draw *draws, size_t n, int64_t later_fs,
                const uint32_t *pes);

/* Ends the run as a mistake of the kernel, with a text of its own. Does not return. */
#define tl_fail(tl, text) tl_fail_at(TL_HERE, tl, text)
void tl_fail_at(tl_here here, tl_ctx *tl, const char *text);
/* The same as a mistake of `call`, which messages name, for kernels in another language. */
void tl_fail_of_at(tl_here here, tl_ctx *tl, const char *call, const char *text);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#include "tl_math.h"
#ifdef __clang__
#include "tl_clang.h" /* the macros above, so that a call has the line that it has with gcc */
#endif
#endif
