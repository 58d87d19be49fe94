/* co_x86_64.S -- the switch of co.c on x86-64. */
#if defined(__x86_64__) && defined(__LP64__)

#if defined(__CET__) && (__CET__ & 1)
#define LANDING endbr64
#else
#define LANDING
#endif

        .text

/*
 * enum co_state co_switch(void **save_sp, void *load_sp, enum co_state why)
 *
 * Keeps what a call keeps, and returns on the other stack, with `why`.
 *
 * Leaves through a register: a `ret` would be predicted to go to this call's own caller, which
 * is never right, and costs 7 ns more. Both stacks look alike here, so the frame description
 * holds before and after the exchange.
 */
        .globl  co_switch
        .hidden co_switch
        .type   co_switch, @function
        .p2align 4
co_switch:
        .cfi_startproc
        LANDING
        pushq   %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbp, 0
        pushq   %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbx, 0
        pushq   %r12
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %r12, 0
        pushq   %r13
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %r13, 0
        pushq   %r14
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %r14, 0
        pushq   %r15
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %r15, 0
        movq    %rsp, (%rdi)

/* Where a signal handler continues, too: load_sp in %rsi, `why` in %edx, all else is lost. */
        .globl  co_land
        .hidden co_land
co_land:
        movq    %rsi, %rsp
        movl    %edx, %eax
        popq    %r15
        .cfi_adjust_cfa_offset -8
        .cfi_restore %r15
        popq    %r14
        .cfi_adjust_cfa_offset -8
        .cfi_restore %r14
        popq    %r13
        .cfi_adjust_cfa_offset -8
        .cfi_restore %r13
        popq    %r12
        .cfi_adjust_cfa_offset -8
        .cfi_restore %r12
        popq    %rbx
        .cfi_adjust_cfa_offset -8
        .cfi_restore %rbx
        popq    %rbp
        .cfi_adjust_cfa_offset -8
        .cfi_restore %rbp
        popq    %rcx
        .cfi_adjust_cfa_offset -8
        .cfi_register %rip, %rcx
        notrack jmp *%rcx
        .cfi_endproc
        .size   co_switch, . - co_switch

/* The outermost frame of a coroutine: calls %r12 with %rbx, which does not return. */
        .globl  co_start
        .hidden co_start
        .type   co_start, @function
        .p2align 4
co_start:
        .cfi_startproc
        .cfi_undefined %rip
        LANDING
        movq    %rbx, %rdi
        callq   *%r12
        ud2
        .cfi_endproc
        .size   co_start, . - co_start

/*
 * Indirect branches are tracked (IBT) if all else is; a shadow stack would have to be switched
 * as well, so there is no mark for it, and a program with this in it runs without one.
 */
#if defined(__CET__) && (__CET__ & 1)
        .section .note.gnu.property, "a", @note
        .p2align 3
        .long   4, 16, 5
        .asciz  "GNU"
        .long   0xc0000002, 4, 1, 0
#endif
#endif

#ifdef __ELF__
        .section .note.GNU-stack, "", %progbits
#endif
