/* reference_product.h -- the product of matrices that references of benches are made of. */
#ifndef REFERENCE_PRODUCT_H
#define REFERENCE_PRODUCT_H
#include <stdint.h>

/* c += a b for row-major a[m,k], b[k,n], c[m,n]. All borrowed; c overlaps neither a nor b. */
struct reference_product {
    const double *a, *b;
    double *c;
    int64_t m, n, k;
};

/*
 * Computes it in at most `threads` threads, with vectors of at most `vector_bytes`, so far as the
 * processor has them. The result depends on neither.
 */
void reference_product(const struct reference_product *product, unsigned threads,
                       unsigned vector_bytes);

#endif
