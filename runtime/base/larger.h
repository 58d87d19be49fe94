/*
 * larger.h -- the larger and the smaller of two numbers.
 *
 * larger() and smaller() take the type that the sum of both has, as C's arithmetic does, and each
 * argument is evaluated once. A sum of a signed and an unsigned number is unsigned: the warnings
 * about conversions name a call that mixes them.
 */
#ifndef LARGER_H
#define LARGER_H

#define LARGER_OF_TYPE(type, name)                                                                 \
    static inline type larger_##name(type a, type b)                                               \
    {                                                                                              \
        return a > b ? a : b;                                                                      \
    }                                                                                              \
    static inline type smaller_##name(type a, type b)                                              \
    {                                                                                              \
        return a < b ? a : b;                                                                      \
    }

LARGER_OF_TYPE(int, int)
LARGER_OF_TYPE(unsigned, unsigned)
LARGER_OF_TYPE(long, long)
LARGER_OF_TYPE(unsigned long, unsigned_long)
LARGER_OF_TYPE(double, double)

#undef LARGER_OF_TYPE

#define BY_TYPE_OF_SUM(name, a, b)                                                                 \
    _Generic((a) + (b), int                                                                        \
             : name##_int, unsigned                                                                \
             : name##_unsigned, long                                                               \
             : name##_long, unsigned long                                                          \
             : name##_unsigned_long, double                                                        \
             : name##_double)(a, b)

#define larger(a, b)  BY_TYPE_OF_SUM(larger, a, b)
#define smaller(a, b) BY_TYPE_OF_SUM(smaller, a, b)

#endif
