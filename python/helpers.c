/* helpers.c -- loops that Python would be slow in; part of the module kernbench._native. */

/*
 * Numbers what `n` pointers point to: out[i] is the number of the first pointer that equals
 * pointers[i], and first[number] where that stands. Returns how many there are; 0: more than
 * `most`. `slots`, n_slots of them (a power of two, more than 2 * most), are all 0.
 */
static uint32_t kernbench_number_pointers(const uintptr_t *pointers, size_t n, uint32_t *out,
                                          uint64_t *first, uint32_t most, uint32_t *slots,
                                          size_t n_slots)
{
    uint32_t count = 0;

    for (size_t i = 0; i < n; i++) {
        size_t at = (size_t)((uint64_t)pointers[i] * 0x9e3779b97f4a7c15 >> 32) & (n_slots - 1);

        while (slots[at] && pointers[first[slots[at] - 1]] != pointers[i])
            at = (at + 1) & (n_slots - 1);
        if (!slots[at]) {
            if (count == most)
                return 0;
            first[count++] = i;
            slots[at] = count;
        }
        out[i] = slots[at] - 1;
    }
    return count;
}

/* Rounds what a reference has computed to what a type holds: the nearest, ties to even. */
static void kernbench_round(kb_dtype dtype, double *values, size_t n)
{
    uint64_t bits;

    for (size_t i = 0; i < n; i++) {
        kb_element_set(dtype, &bits, 0, values[i]);
        values[i] = kb_element(dtype, &bits, 0);
    }
}
