/* tl_call.h -- what the calls of a kernel have in common: checks, messages, making a command. */
#ifndef TL_CALL_H
#define TL_CALL_H
#include "kernels/error.h"

/* One call, for its messages. */
struct call {
    struct tl_ctx *pe;
    const char *name;
    tl_here here;
};

/* Ends the run with a message, and leaves the kernel for good. */
#define BAD(call, ...)                                                                             \
    do {                                                                                           \
        kernel_error((call)->pe, (call)->name, (call)->here, __VA_ARGS__);                         \
        kernel_leave((call)->pe);                                                                  \
    } while (0)

KERNELS_RARE _Noreturn void call_no_memory(const struct call *call);
/* The kernel has used the tl_ctx of another; or another thread calls, or a large frame has jumped
 * over the stack's guard. */
KERNELS_RARE _Noreturn void call_not_its_own(struct tl_ctx *pe, const char *name, tl_here here);
KERNELS_RARE _Noreturn void call_beyond_stack(struct tl_ctx *pe, const char *name, tl_here here);

/* Every call begins with it. Inline, so that what it returns is not written and read again. */
static inline __attribute__((always_inline)) struct call begin_call(struct tl_ctx *pe,
                                                                    const char *name, tl_here here)
{
    if (pe->kernels->on != pe)
        call_not_its_own(pe, name, here);
    if ((uintptr_t)__builtin_frame_address(0) - (uintptr_t)pe->stack > pe->stack_bytes)
        call_beyond_stack(pe, name, here);
    pe->call = name;
    pe->here.file = here.file;
    pe->here.line = here.line;
    return (struct call){pe, name, here};
}

/* -- checks: each leaves the kernel if it fails ----------------------------------------------- */

/* "[32, 64]" */
struct shape_text {
    char text[96];
};

KERNELS_RARE struct shape_text shape_text(const struct dims *shape);
KERNELS_OWN const char *tensor_dtype(const struct tl_tensor *tensor);

/* The bytes of a cell: data/dtype.h. */
KERNELS_OWN uint64_t check_dtype(const struct call *call, kb_dtype dtype);
/* A shape of that type is whole cells. */
KERNELS_OWN void check_cells(const struct call *call, kb_dtype dtype, const struct dims *dims);
/* Extents as they are kept; returns the elements, at most 2^40 - 1, more than any memory has. */
KERNELS_OWN uint64_t check_shape(const struct call *call, const kb_shape *shape, struct dims *dims);
/* The bytes of a result; operands may be small and their product beyond 64 bits. */
KERNELS_OWN uint64_t result_bytes(const struct call *call, kb_dtype dtype,
                                  const struct dims *shape);

/* A tensor that was not given back; one that was waited for, or may be in flight; an operand of an
 * engine. */
KERNELS_OWN void check_live(const struct call *call, const struct tl_tensor *tensor);
KERNELS_OWN void check_waited(const struct call *call, const struct tl_tensor *tensor);
KERNELS_OWN void check_operand(const struct call *call, const struct tl_tensor *tensor);

/* A tensor that is contiguous. */
KERNELS_OWN void check_together(const struct call *call, const struct tl_tensor *tensor);
/* An axis of a shape, which may be counted from the last. */
KERNELS_OWN uint32_t check_axis(const struct call *call, const struct dims *d, int axis);

/* As ops.def has it; < 0: no operation of PE_MATH. */
KERNELS_OWN int math_group(tl_op op);
KERNELS_OWN bool math_is_elementwise(tl_op op);
KERNELS_OWN void check_types(const struct call *call, enum tl_op op, kb_dtype dtype);
KERNELS_OWN void check_condition(const struct call *call, const struct tl_tensor *tensor);
/* The type in which operands of two types are taken. They agree, or FETCH converts one. */
KERNELS_OWN kb_dtype check_pair(const struct call *call, kb_dtype a, kb_dtype b, bool of_product);
/* Does FETCH take a tensor of type `from` as one of type `to`? */
KERNELS_OWN bool fetch_converts(const struct call *call, kb_dtype to, kb_dtype from);
/* The type of the tensors among the operands, as check_pair(); a condition is not one of them. */
KERNELS_OWN kb_dtype common_type(const struct call *call, enum tl_op op,
                                 struct tl_tensor *const *operands, uint32_t n);

/* The memory of [address, address + nbytes), which is not the own TCM, aligned to `align`. */
KERNELS_OWN uint32_t check_range(const struct call *call, uint64_t address, uint64_t nbytes,
                                 uint64_t align);

/* Does a run lie in a memory that was found before, aligned to `align`? */
static inline bool lies_there(const struct found_memory *m, const struct run *run, uint64_t align)
{
    uint64_t offset = run->at - m->begin;

    return offset < m->nbytes && run->nbytes <= m->nbytes - offset && !(offset & (align - 1));
}

/* The bytes of a tensor whose version has them, aligned to its elements, until it is given back. */
KERNELS_OWN const unsigned char *tensor_bytes(const struct call *call, struct tl_tensor *tensor);

/* A view of the part of a result that begins at a byte. */
KERNELS_OWN struct tl_tensor *tensor_part(const struct call *call, struct tl_tensor *whole,
                                          kb_dtype dtype, const struct dims *shape,
                                          uint64_t offset);
/* As tl_free(). */
KERNELS_OWN void tensor_give_back(const struct call *call, struct tl_tensor *tensor);

/* -- making a command ------------------------------------------------------------------------- */

KERNELS_OWN struct tl_tensor *new_tensor(const struct call *call, enum tensor_kind kind,
                                         kb_dtype dtype, const struct dims *shape, uint64_t nbytes);
KERNELS_OWN struct command *new_command(const struct call *call, enum op_kind kind);
/* The same of a message, a composite, an acc_store or a fused one: with all fields. */
KERNELS_OWN struct command *new_whole_command(const struct call *call, enum op_kind kind);
KERNELS_OWN void add_operand(struct command *c, struct tl_tensor *tensor);
/* Several; scalars take the type of the tensors. */
KERNELS_OWN void add_operands(struct command *c, struct tl_tensor *const *operands, uint32_t n,
                              kb_dtype dtype);
/* A result in the TCM. */
KERNELS_OWN void set_result(const struct call *call, struct command *c, kb_dtype dtype,
                            const struct dims *shape);
/* A result that lies where its address says. */
KERNELS_OWN void set_place(const struct call *call, struct command *c, kb_dtype dtype,
                           const struct dims *shape, uint64_t address);
/* Issues it, and waits until it is issued, or has ended. Returns its result. */
KERNELS_OWN struct tl_tensor *do_command(struct command *c);

#endif
