/* reference_parts.h -- what the files of the reference implementation share. */
#ifndef PHASE2_REFERENCE_PARTS_H
#define PHASE2_REFERENCE_PARTS_H
#include "phase2/reference.h"

/* An element: a float as f64, an integer modulo 2^64, sign-extended by its type. */
struct number {
    bool is_float;
    double f;
    uint64_t i;
};

/* The right value of an element, and how far a float may be from it. */
struct wanted {
    struct number value;
    double scale; /* of its terms: reference.h */
    double slack; /* further tolerance */
    bool exact;
};

struct number reference_of_float(double f);

struct number reference_of_integer(uint64_t i);

struct number reference_of_tensor(const struct op_tensor *t, uint64_t i);

/*
 * As an element of `dtype`; a float stays unrounded. Integers of a narrower type wrap: 200 as i8
 * is -56, and as a number it is 2^64 - 56, sign-extended.
 */
struct number reference_as(kb_dtype dtype, struct number n, bool is_signed);

/* Element `index` of the result; `t`: of floats. */
bool reference_agrees(const struct op *op, const unsigned char *out, uint64_t index, double t,
                      const struct wanted *w, struct reference_difference *d);

/* One element, in `dtype`. */
struct number reference_value_of(enum tl_op math, kb_dtype dtype, const struct number x[3]);

/* The index of the operand's element that is broadcast to element `index` of the result. */
uint64_t reference_place_in(const struct dims *shape, const struct dims *to, uint64_t index);

struct wanted reference_element_of(const struct op *op, uint64_t index);

bool reference_reduce_same(const struct op *op, const unsigned char *out, double t,
                           struct reference_difference *d);

bool reference_softmax_same(const struct op *op, const unsigned char *out, double t,
                            struct reference_difference *d);

bool reference_scan_same(const struct op *op, const unsigned char *out, double t,
                         struct reference_difference *d);

bool reference_sort_same(const struct op *op, const unsigned char *out,
                         struct reference_difference *d);

bool reference_fused_same(const struct op *op, const unsigned char *out,
                          struct reference_difference *d);

struct wanted reference_random(const struct op *op, uint64_t index);

bool reference_topk_same(const struct op *op, const unsigned char *out,
                         struct reference_difference *d);

#endif
