/* co_aarch64.S -- the switch of co.c on AArch64. */
#if defined(__aarch64__) && defined(__LP64__)

#define FRAME_BYTES 160 /* registers 72 to 79 of its description are d8 to d15 */

        .text

/*
 * enum co_state co_switch(void **save_sp, void *load_sp, enum co_state why)
 *
 * Keeps what a call keeps, and returns on the other stack, with `why`.
 *
 * Leaves by `br`, not `ret`, which would be predicted to go to this call's own caller. Both
 * stacks look alike here, so the frame description holds before and after the exchange.
 */
        .globl  co_switch
        .hidden co_switch
        .type   co_switch, %function
        .p2align 4
co_switch:
        .cfi_startproc
        stp     x29, x30, [sp, #-FRAME_BYTES]!
        .cfi_def_cfa_offset FRAME_BYTES
        .cfi_rel_offset x29, 0
        .cfi_rel_offset x30, 8
        stp     x19, x20, [sp, #16]
        .cfi_rel_offset x19, 16
        .cfi_rel_offset x20, 24
        stp     x21, x22, [sp, #32]
        .cfi_rel_offset x21, 32
        .cfi_rel_offset x22, 40
        stp     x23, x24, [sp, #48]
        .cfi_rel_offset x23, 48
        .cfi_rel_offset x24, 56
        stp     x25, x26, [sp, #64]
        .cfi_rel_offset x25, 64
        .cfi_rel_offset x26, 72
        stp     x27, x28, [sp, #80]
        .cfi_rel_offset x27, 80
        .cfi_rel_offset x28, 88
        stp     d8, d9, [sp, #96]
        .cfi_rel_offset 72, 96
        .cfi_rel_offset 73, 104
        stp     d10, d11, [sp, #112]
        .cfi_rel_offset 74, 112
        .cfi_rel_offset 75, 120
        stp     d12, d13, [sp, #128]
        .cfi_rel_offset 76, 128
        .cfi_rel_offset 77, 136
        stp     d14, d15, [sp, #144]
        .cfi_rel_offset 78, 144
        .cfi_rel_offset 79, 152
        mov     x9, sp
        str     x9, [x0]

/* Where a signal handler continues, too: load_sp in x1, `why` in w2, all else is lost. */
        .globl  co_land
        .hidden co_land
co_land:
        mov     sp, x1
        mov     w0, w2
        ldp     d14, d15, [sp, #144]
        ldp     d12, d13, [sp, #128]
        ldp     d10, d11, [sp, #112]
        ldp     d8, d9, [sp, #96]
        ldp     x27, x28, [sp, #80]
        ldp     x25, x26, [sp, #64]
        ldp     x23, x24, [sp, #48]
        ldp     x21, x22, [sp, #32]
        ldp     x19, x20, [sp, #16]
        ldp     x29, x30, [sp], #FRAME_BYTES
        .cfi_def_cfa_offset 0
        .cfi_restore x19
        .cfi_restore x20
        .cfi_restore x21
        .cfi_restore x22
        .cfi_restore x23
        .cfi_restore x24
        .cfi_restore x25
        .cfi_restore x26
        .cfi_restore x27
        .cfi_restore x28
        .cfi_restore x29
        .cfi_restore x30
        .cfi_restore 72
        .cfi_restore 73
        .cfi_restore 74
        .cfi_restore 75
        .cfi_restore 76
        .cfi_restore 77
        .cfi_restore 78
        .cfi_restore 79
        br      x30
        .cfi_endproc
        .size   co_switch, . - co_switch

/* The outermost frame of a coroutine: calls x20 with x19, which does not return. */
        .globl  co_start
        .hidden co_start
        .type   co_start, %function
        .p2align 4
co_start:
        .cfi_startproc
        .cfi_undefined x30
        mov     x0, x19
        blr     x20
        brk     #1
        .cfi_endproc
        .size   co_start, . - co_start
#endif

#ifdef __ELF__
        .section .note.GNU-stack, "", %progbits
#endif
